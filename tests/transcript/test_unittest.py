"""unittest's text report: every form it takes, and what must not be taken for it."""

import random
import time
from collections.abc import Iterable

import pytest

from context_firewall.transcript.dialects.unittest import DIALECT
from context_firewall.transcript.dialects.unittest_grammar import Counts, counts, ended, is_subtest
from context_firewall.transcript.dialects.unittest_grammar import test_of as whole_test
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import read_streams, trace_streams

RULER = "=" * 70
THIN = "-" * 70
SALT = "test_salt (kitchen.test_soup.Soup.test_salt)"
HEAT = "test_heat (kitchen.test_soup.Soup.test_heat)"
SPOON = "test_spoon (kitchen.test_soup.Soup.test_spoon)"


def closing(ran: int, verdict: str) -> str:
    """The closing lines."""
    return f"{THIN}\nRan {ran} test{'' if ran == 1 else 's'} in 0.004s\n\n{verdict}\n"


def block(description: str, flavour: str = "FAIL", message: str = "AssertionError: 9 != 3 : too salty") -> str:
    """A failure's block."""
    return f"{RULER}\n{flavour}: {description}\n{THIN}\n{traceback(message)}\n"


def traceback(message: str) -> str:
    return (
        "Traceback (most recent call last):\n"
        '  File "/home/baker/kitchen/test_soup.py", line 12, in test_salt\n'
        "    self.assertEqual(soup.salt, 3)\n"
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f"{message}\n"
    )


GREEN = "...\n" + closing(3, "OK")
GREEN_NAMED = f"{SALT} ... ok\n{HEAT}\nHot, but not boiling. ... ok\n{SPOON} ... ok\n\n" + closing(3, "OK")
RED = ".F.\n" + block(SALT) + closing(3, "FAILED (failures=1)")
RED_NAMED = f"{HEAT} ... ok\n{SALT} ... FAIL\n{SPOON} ... ok\n\n" + block(SALT) + closing(3, "FAILED (failures=1)")


def read(text: str, exit_code: int | None = 1, stdout: str = "", dialect: str = "unittest") -> Transcript:
    """Standard error through this dialect."""
    streams = [("stdout", [stdout.encode()]), ("stderr", [text.encode()])]
    return read_streams(streams, exit_code=exit_code, dialect=dialect)


def names(transcript: Transcript) -> list[str]:
    return [found.identity for found in transcript.failures]


def texts(lines: Iterable[Line]) -> list[str]:
    return [line.text for line in lines]


def tally(transcript: Transcript) -> tuple[int, int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped, found.todo


# -- the grammar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ran", "verdict", "stated"),
    [
        ("Ran 1 test in 0.000s", "OK", Counts(1, 0, 0, 0, 0, 0)),
        ("Ran 9 tests in 12.345s", "OK (skipped=2, expected failures=1)", Counts(9, 0, 0, 2, 1, 0)),
        ("Ran 9 tests in 0.010s", "FAILED (failures=1, errors=2)", Counts(9, 1, 2, 0, 0, 0)),
        ("Ran 9 tests in 0.010s", "FAILED (unexpected successes=1)", Counts(9, 0, 0, 0, 0, 1)),
        ("Ran 0 tests in 0.000s", "NO TESTS RAN", Counts(0, 0, 0, 0, 0, 0)),
        ("Ran 4 tests in 0.010s", "FAILED", None),
        ("Ran 4 tests in 0.010s", "OK (failures=1)", None),
        ("Ran 4 tests in 0.010s", "FAILED (skipped=1)", None),
        ("Ran 4 tests in 0.010s", "NO TESTS RAN", None),
        ("Ran 4 tests in 0.010s", "OK ()", None),
        ("Ran 4 tests in 0.010s", "OK (skipped=0)", None),
        ("Ran 4 tests in 0.010s", "OK (skipped=1, )", None),
        ("Ran 4 tests in 0.010s", "OK (skipped=1, errors=1)", None),
        ("Ran 4 tests", "OK", None),
    ],
)
def test_closing_lines(ran: str, verdict: str, stated: Counts | None) -> None:
    assert counts(ran.encode(), verdict.encode()) == stated


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("Known bug ... FAIL ... expected failure", b"expected failure"),
        ("Boils ... ok", b"ok"),
        ("x ... skipped 'wait ... ok'", b"skipped"),
        ('x ... skipped "it\'s off"', b"skipped"),
        ("x ... okay", None),
        ("x ... skipped", b"skipped"),
        ("ok", None),
    ],
)
def test_a_status_stands_at_the_end(line: str, status: bytes | None) -> None:
    assert ended(line.encode()) == status


def test_descriptions() -> None:
    assert is_subtest(f"{SALT} (i=1)".encode())
    assert is_subtest(f"{SALT} [more] (i=1)".encode())
    assert not is_subtest(SALT.encode())
    assert whole_test(f"{SALT} (i=1)".encode()) == SALT.encode()
    assert whole_test(b"setUpClass (kitchen.test_soup.Soup)") is None


@pytest.mark.parametrize(
    "line",
    [
        "....F.",
        RULER,
        THIN,
        "not ok 1 - x",
        "FAIL: TestSoup (0.00s)",
        "--- FAIL: test_x (a.b)",
        "OK",
        "Ran all test suites.",
        "Ran 5 tests across 1 files. [8.00ms]",
        "warning (a.b): thing",
    ],
)
def test_what_opens_nothing(line: str) -> None:
    assert DIALECT.opening.match(line.encode()) is None


# -- whole reports ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [GREEN, GREEN_NAMED, closing(3, "OK")])
@pytest.mark.parametrize("dialect", ["unittest", "auto"])
def test_green(text: str, dialect: str) -> None:
    found = read(text, 0, dialect=dialect)
    assert tally(found) == (3, 0, 0, 0)
    assert found.doubts == frozenset()
    assert not found.unclassified


@pytest.mark.parametrize("text", [RED, RED_NAMED, block(SALT) + closing(3, "FAILED (failures=1)")])
@pytest.mark.parametrize("dialect", ["unittest", "auto"])
def test_red(text: str, dialect: str) -> None:
    found = read(text, dialect=dialect)
    assert tally(found) == (2, 1, 0, 0)
    assert names(found) == [SALT]
    assert found.doubts == frozenset()
    kinds = [line.kind for line in found.failures[0].lines()]
    assert kinds == [
        Kind.FAILED_TEST,
        Kind.FAILURE_CONTEXT,
        Kind.STACK_TRACE,
        Kind.STACK_TRACE,
        Kind.FAILURE_CONTEXT,
        Kind.FAILURE_MESSAGE,
    ]


@pytest.mark.parametrize("text", [GREEN, RED, GREEN_NAMED, RED_NAMED])
def test_merged_streams(text: str) -> None:
    found = read_streams([("stdout", [text.encode()])], exit_code=0)
    assert found.doubts == frozenset()
    assert found.tally.total == 3


def test_carriage_returns() -> None:
    found = read(RED_NAMED.replace("\n", "\r\n"))
    assert tally(found) == (2, 1, 0, 0)
    assert found.doubts == frozenset()


def test_skips_and_expected_failures() -> None:
    text = (
        f"{SALT} ... skipped 'no salt ... ok'\n{HEAT}\nToo hot. ... expected failure\n{SPOON} ... ok\n"
        "setUpClass (kitchen.test_soup.Bowl) ... skipped 'no bowls'\n\n"
    ) + closing(3, "OK (skipped=2, expected failures=1)")
    found = read(text, 0)
    assert tally(found) == (1, 0, 2, 1)
    assert texts(found.todo) == [HEAT, "Too hot. ... expected failure"]
    assert found.doubts == frozenset()


def test_python_3_12_0_counts_no_skipped_test_as_run() -> None:
    text = f"{SALT} ... skipped 'no salt'\n{HEAT} ... ok\n{SPOON} ... ok\n\n" + closing(2, "OK (skipped=1)")
    assert read(text, 0).doubts == frozenset()
    twice = text.replace(f"{HEAT} ... ok\n", f"{HEAT} ... ok\n" * 2).replace("Ran 2", "Ran 3")
    assert Doubt.AGGREGATE_CONTRADICTION in read(twice, 0).doubts
    # With -q nothing tells.
    assert Doubt.COUNTS_UNCONFIRMED in read(closing(2, "OK (skipped=1)"), 0).doubts


def test_errors_fixtures_subtests_and_unexpected_successes() -> None:
    subtest = f"{SALT} [pinch] (i=1, name='a b')"
    text = (
        f"{SALT} ... \n  {subtest} ... FAIL\n{HEAT} ... ERROR\n{SPOON} ... unexpected success\n"
        "setUpClass (kitchen.test_soup.Bowl) ... ERROR\n\n"
        + block(HEAT, "ERROR")
        + block("setUpClass (kitchen.test_soup.Bowl)", "ERROR")
        + block(subtest)
        + f"{RULER}\nUNEXPECTED SUCCESS: {SPOON}\n"
        + closing(3, "FAILED (failures=1, errors=2, unexpected successes=1)")
    )
    found = read(text)
    assert names(found) == [HEAT, "setUpClass (kitchen.test_soup.Bowl)", subtest, SPOON]
    assert tally(found) == (0, 4, 0, 0)
    assert found.doubts == frozenset()


def test_python_3_8_prints_less() -> None:
    """No line for a failing subtest, bare statuses for fixtures, no block for an unexpected success."""
    salt, heat, spoon = (f"{name} (kitchen.test_soup.Soup)" for name in ("test_salt", "test_heat", "test_spoon"))
    text = (
        f"{salt} ... {heat} ... FAIL\nERROR\n{spoon} ... unexpected success\nERROR\n\n"
        + block(heat, "ERROR")
        + block("tearDownClass (kitchen.test_soup.Soup)", "ERROR")
        + block(f"{salt} (i=1)")
        + block(heat)
        + closing(3, "FAILED (failures=2, errors=2, unexpected successes=1)")
    )
    found = read(text)
    assert names(found)[-1] == heat
    assert spoon in names(found)
    assert tally(found) == (0, 5, 0, 0)
    assert found.doubts == frozenset()


def test_letters_before_3_11_name_no_unexpected_success() -> None:
    found = read(".u\n" + closing(2, "FAILED (unexpected successes=1)"))
    assert names(found) == ["1 unexpected success, not named"]
    assert tally(found) == (1, 1, 0, 0)


def test_a_docstring_belongs_to_its_block() -> None:
    text = f".F\n{RULER}\nFAIL: {SALT}\nNever too much salt.\n{THIN}\n{traceback('AssertionError')}\n"
    found = read(text + closing(2, "FAILED (failures=1)"))
    assert names(found) == [SALT]
    assert texts(found.failures[0].details)[0] == "Never too much salt."


def test_a_module_that_does_not_load() -> None:
    lost = "kitchen.test_lost (unittest.loader._FailedTest.kitchen.test_lost)"
    body = "ImportError: Failed to import test module: kitchen.test_lost\n" + traceback("ModuleNotFoundError: No salt")
    text = f"E.\n{RULER}\nERROR: {lost}\n{THIN}\n{body}\n\n" + closing(2, "FAILED (errors=1)")
    found = read(text)
    assert names(found) == [lost]
    assert tally(found) == (1, 1, 0, 0)
    assert found.doubts == frozenset()


def test_durations() -> None:
    table = f"Slowest test durations\n{THIN}\n0.012s     {SALT}\n\n"
    hidden = "(durations < 0.001s were hidden; use -v to show these durations)\n"
    for rows in (table, table + hidden):
        found = read(RED.replace(closing(3, "FAILED (failures=1)"), rows + closing(3, "FAILED (failures=1)")))
        assert found.doubts == frozenset()
        assert tally(found) == (2, 1, 0, 0)
        assert found.suppressed[Kind.DURATION_SOURCE] == 1


def test_what_b_mirrors_is_a_recap() -> None:
    section = "\nStderr:\nWARNING: salt is low\n"
    body = block(SALT)[:-1] + section + "\n"
    text = f"{SALT} ... FAIL\n{section}{HEAT} ... ok\n\n" + body + closing(2, "FAILED (failures=1)")
    found = read(text)
    assert found.doubts == frozenset()
    assert "WARNING: salt is low" in texts(found.failures[0].details)
    assert not found.warnings


def test_locals_are_details() -> None:
    body = block(SALT).replace("AssertionError", "    soup = <Soup>\nAssertionError")
    found = read(".F\n" + body + closing(2, "FAILED (failures=1)"))
    assert "    soup = <Soup>" in texts(found.failures[0].details)


def test_python_warnings_are_warnings() -> None:
    warning = "/home/baker/soup.py:3: DeprecationWarning: FAILED (failures=9)\n  stir()\n"
    for text in (".." + warning + ".\n" + closing(3, "OK"), f"{SALT} ... {warning}ok\n\n" + closing(1, "OK")):
        found = read(text, 0)
        assert len(found.warnings) == 2
        assert found.doubts == frozenset()
    assert len(read(GREEN + "sys:1: ResourceWarning: unclosed pot\n", 0).warnings) == 1


def test_several_runs_in_one_stream() -> None:
    found = read(GREEN + RED + GREEN_NAMED)
    assert tally(found) == (8, 1, 0, 0)
    assert found.doubts == frozenset()


# -- what broke off ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", closing(0, "OK"), "\n" + closing(0, "OK"), "\n" + closing(0, "NO TESTS RAN")])
def test_no_tests(text: str) -> None:
    found = read(text, 0)
    assert not found.tally.total
    assert not text or Doubt.NO_TEST_EVIDENCE in found.doubts


def test_no_tests_and_the_exit_code_that_says_so() -> None:
    """UT-5: from 3.12 on the exit code is 5."""
    found = read("\n" + closing(0, "NO TESTS RAN"), 5)
    assert [line.raw.strip() for line in found.fatal_errors] == [b"NO TESTS RAN"]
    assert not found.doubts
    for text, code in ((closing(0, "NO TESTS RAN"), 1), (closing(0, "OK"), 5)):
        assert Doubt.NO_TEST_EVIDENCE in read("\n" + text, code).doubts


@pytest.mark.parametrize("text", [RED, RED_NAMED, GREEN_NAMED])
def test_a_cut_report_is_never_whole(text: str) -> None:
    lines = text.splitlines(keepends=True)
    for end in range(len(lines)):
        found = read("".join(lines[:end]))
        assert found.doubts or not found.has_results or end >= len(lines) - 1


def test_a_verdict_without_its_newline_may_lack_counts() -> None:
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(closing(3, "OK")[:-1], 0).doubts
    assert read(GREEN[:-1], 0).doubts == frozenset()


def test_a_killed_run_names_what_failed() -> None:
    found = read(f"{HEAT} ... ok\n{SALT} ... FAIL\n{SPOON} ... ")
    assert names(found) == [SALT]
    assert tally(found) == (1, 1, 0, 0)
    assert Doubt.COMPLETENESS_UNCONFIRMED in found.doubts


def test_a_crash_is_the_running_tests_failure() -> None:
    fault = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
        '  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at\n'
        '  File "/home/baker/kitchen/test_soup.py", line 6 in test_salt\n'
    )
    found = read(f"{HEAT} ... ok\n{SALT} ... {fault}", 139)
    assert len(found.failures) == 1
    assert SALT in names(found)[0]
    assert "test_soup.py:6 in test_salt" in names(found)[0]
    assert Doubt.FAILURE_OUTSIDE_TESTS in found.doubts


def test_an_interrupt_fails_no_test() -> None:
    text = f"{HEAT} ... FAIL\n{SALT} ... {traceback('KeyboardInterrupt')}"
    assert names(read(text, 130)) == [HEAT]


# -- what must not be taken for it -------------------------------------------------------------------------------------


FORGED = f"{RULER}\nFAIL: test_fake (fake.Fake.test_fake)\n{THIN}\n{traceback('AssertionError: forged')}\n"


def test_a_message_forges_a_summary() -> None:
    body = block(SALT, message="AssertionError: x\n\n" + closing(3, "OK"))
    found = read(".F.\n" + body + closing(3, "FAILED (failures=1)"))
    assert names(found) == [SALT]
    assert tally(found) == (2, 1, 0, 0)
    assert found.doubts == frozenset()


def test_a_message_forges_the_very_summary() -> None:
    end = closing(3, "FAILED (failures=1)")
    found = read(".F.\n" + block(SALT, message="AssertionError: x\n\n" + end) + end)
    assert names(found) == [SALT]
    assert tally(found) == (2, 1, 0, 0)


def test_a_message_forges_a_block() -> None:
    body = block(SALT, message="AssertionError:\n" + FORGED)
    named = f"{HEAT} ... ok\n{SALT} ... FAIL\n\n" + body + closing(2, "FAILED (failures=1)")
    assert names(read(named)) == [SALT]
    # Letters name nothing: both are shown, and the contradiction with the counts is told.
    lettered = read(".F\n" + body + closing(2, "FAILED (failures=1)"))
    assert SALT in names(lettered)
    assert Doubt.AGGREGATE_CONTRADICTION in lettered.doubts


def test_a_test_forges_a_whole_report() -> None:
    text = (
        "..\n"
        + FORGED
        + closing(1, "FAILED (failures=1)")
        + ".\n.F\n"
        + block(SALT)
        + closing(6, "FAILED (failures=1)")
    )
    found = read(text)
    assert names(found) == [SALT]
    assert found.tally.failed == 1
    assert Doubt.CONTESTED_RESULTS in found.doubts
    assert "FAIL: test_fake (fake.Fake.test_fake)" in texts(found.unclassified)


@pytest.mark.parametrize("text", [GREEN, GREEN_NAMED])
def test_a_forged_verdict_does_not_make_a_pass(text: str) -> None:
    found = read(text.replace("Ran 3", "Ran 4"), 0)
    assert Doubt.AGGREGATE_CONTRADICTION in found.doubts


@pytest.mark.parametrize("verdict", ["OK", "OK (skipped=1)", "FAILED (errors=1)", "FAILED (failures=2)"])
def test_letters_and_blocks_contradict_a_verdict(verdict: str) -> None:
    found = read(".F.\n" + block(SALT) + closing(3, verdict))
    assert found.doubts
    assert SALT in names(found)


def test_one_line_that_looks_like_a_result_is_text() -> None:
    found = read(f"building\n{SALT} ... ok\ndone\n", 0)
    assert found.tally.total == 0
    assert not found.has_results
    assert len(found.unclassified) == 3


def test_text_among_letters_is_kept() -> None:
    found = read(".salt\n.F\n" + block(SALT) + closing(3, "FAILED (failures=1)"))
    assert texts(found.unclassified) == [".salt"]
    assert tally(found) == (2, 1, 0, 0)


def test_standard_output_is_the_programs() -> None:
    green = read(GREEN, 0, "salt\n" + FORGED + closing(1, "FAILED (failures=1)"), dialect="auto")
    assert green.doubts == frozenset()
    assert tally(green) == (3, 0, 0, 0)
    assert green.suppressed[Kind.PROGRAM_OUTPUT]
    red = read(RED, 1, "salt\n" + FORGED, dialect="auto")
    assert names(red) == [SALT]
    assert "salt" in texts(red.unclassified)


def test_a_piece_of_another_report_on_standard_output_is_kept() -> None:
    found = read(GREEN, 0, "ok 1 - salt\nnot ok 2 - heat\n", dialect="auto")
    assert tally(found) == (3, 0, 0, 0)
    assert Doubt.UNCLASSIFIED_EVIDENCE in found.doubts
    # It counts where the runner's own report does not account for the exit code.
    assert names(read(GREEN, 1, "ok 1 - salt\nnot ok 2 - heat\n", dialect="auto")) == ["heat"]


# -- bytes ------------------------------------------------------------------------------------------------------------

SHAPES = [GREEN, GREEN_NAMED, RED, RED_NAMED, ".\n" + FORGED + ".F\n" + block(SALT) + closing(3, "FAILED (failures=1)")]


@pytest.mark.parametrize("text", SHAPES)
def test_chunks_make_no_difference(text: str) -> None:
    whole = read_streams([("stderr", [text.encode()])], exit_code=1)
    data = text.encode()
    for size in (1, 7, 64):
        chunks = [data[i : i + size] for i in range(0, len(data), size)]
        assert read_streams([("stderr", chunks)], exit_code=1) == whole


def test_every_line_has_one_fate_under_damage() -> None:
    dice = random.Random(7)  # noqa: S311
    for _ in range(400):
        lines = dice.choice(SHAPES).splitlines()
        for _ in range(dice.randrange(1, 5)):
            at = dice.randrange(len(lines))
            deed = dice.randrange(4)
            if deed == 0:
                del lines[at : at + dice.randrange(1, 4)]
            elif deed == 1:
                lines.insert(at, dice.choice([*lines, RULER, THIN, "", "Stderr:", "Slowest test durations", "."]))
            elif deed == 2:
                lines[at] = lines[at][: dice.randrange(len(lines[at]) + 1)]
            else:
                lines.append(lines[at])
            lines = lines or [""]
        data = "\n".join(lines).encode() + b"\n"
        found, traces = trace_streams([("stderr", [data])], exit_code=1, dialect="unittest")
        assert found.event_count == len(lines)
        assert len(traces) == len(lines)
        assert read_streams([("stderr", [data])], exit_code=1, dialect="unittest") == found


@pytest.mark.parametrize(
    "unit",
    [".", "a (b) ... ", "a (b) ... ok", "(", " ... ", " ... skipped '", "=", "-", "a (b.", "F. ", "\x1b[0m", "x: 1: ",
     "test_a (a.test_a) (", "Traceback ", "FAIL: a (", "\n" + RULER, f"\n{THIN}\nRan 1 test in 0.001s\n\nOK",
     f"\n{RULER}\nFAIL: a (b.c)\n{THIN}\nx", "\na (b.c) ... ok", "\na (b.a)\nc ... d"],
)  # fmt: skip
def test_long_lines_take_linear_time(unit: str) -> None:
    taken = []
    for size in (1 << 17, 1 << 19):
        text = f"{SALT} ... ok\n{HEAT} ... ok\n" + unit * (size // len(unit)) + "\n" + closing(3, "OK")
        begun = time.process_time()
        read(text, 0)
        taken.append(time.process_time() - begun)
    assert taken[1] < 12 * taken[0] + 0.3


OLD_SALT = "test_salt (kitchen.test_soup.Soup)"
OLD_HEAT = "test_heat (kitchen.test_soup.Soup)"
SALTED = block(f"{OLD_SALT} (pinch=2)")


@pytest.mark.parametrize("docstring", ["Three pinches.", "Salt ... and more", "x"])
@pytest.mark.parametrize(
    ("second", "failed", "successes"),
    [
        (f"{OLD_HEAT} ... unexpected success\n", 2, 1),
        (f"{OLD_HEAT}\nHot. ... ok\n", 1, 0),
        (f"{OLD_HEAT} ... ok\n", 1, 0),
    ],
)
def test_the_next_test_is_glued_to_the_docstring_of_one_whose_subtests_failed(
    docstring: str, second: str, failed: int, successes: int
) -> None:
    verdict = "FAILED (failures=1" + (", unexpected successes=1)" if successes else ")")
    text = f"{OLD_SALT}\n{docstring} ... {second}\n{SALTED}{closing(2, verdict)}"
    transcript = read(text)
    assert transcript.tally.failed == failed
    assert not transcript.doubts
    assert [name for name in names(transcript) if "test_heat" in name] == [OLD_HEAT] * successes


def test_since_3_11_a_test_in_a_docstring_is_text() -> None:
    text = f"{SALT}\nAs in ... {OLD_HEAT} ... FAIL\n\n" + block(SALT) + closing(1, "FAILED (failures=1)")
    assert names(read(text)) == [SALT]
    assert not read(text).doubts


def test_an_unexpected_success_that_is_text_begins_no_block_again() -> None:
    header = f"UNEXPECTED SUCCESS: {SALT}\n"
    transcript = read(f"{RULER}\n{header}{header}{THIN}\nstirred\ntwice\nFAILED (failures=1)\n")
    assert transcript.event_count == 7
    assert transcript.doubts
