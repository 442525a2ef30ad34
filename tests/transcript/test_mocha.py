"""mocha's reporters for people: every form they take, and what must not be taken for it."""

import random
import re

import pytest

from context_firewall.transcript.dialects.mocha import DIALECT
from context_firewall.transcript.dialects.mocha_grammar import Result, result
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import StreamReader, read_streams, trace_streams

FRAME = "      at Context.<anonymous> (test/hives.test.js:9:5)\n"


def totals(passing: int, pending: int = 0, failing: int = 0) -> str:
    text = f"\n  {passing} passing (12ms)\n"
    text += f"  {pending} pending\n" if pending else ""
    return text + (f"  {failing} failing\n\n" if failing else "\n")


def account(number: int, *titles: str, message: str = "Error: no honey") -> str:
    """One account, as it stands in the list: titles below one another, message, stack, an empty line."""
    first, *rest = titles
    head = f"  {number}) {first}" + "".join(f"\n{' ' * (5 + 2 * i)}{title}" for i, title in enumerate(rest, 1))
    return f"{head}:\n     {message}\n{FRAME}\n"


TREE = "\n\n  hives\n    ✔ hum\n    ✔ are warm (51ms)\n    - swarm\n    1) give honey\n    queen\n      ✔ lays\n\n"
ACCOUNTS = account(1, "hives", "give honey") + "\n\n"
RED = TREE + totals(3, 1, 1) + ACCOUNTS
GREEN = "\n\n  ✔ opens\n  hives\n    ✔ hum\n    queen\n      - lays\n\n  meadow\n    ✔ blooms\n\n" + totals(3, 1)
LIST = (
    "\n    hives hum: \r  ✔ hives hum: 0ms\n    hives give honey: \r  1) hives give honey\n  - hives swarm\n"
    + totals(1, 1, 1)
    + ACCOUNTS
)
DOT = "\n\n  .!,\n" + totals(1, 1, 1) + ACCOUNTS
MIN = "\x1b[2J\x1b[1;3H" + totals(1, 1, 1) + ACCOUNTS


def read(stdout: str | bytes, exit_code: int | None = 0, stderr: str = "") -> Transcript:
    data = stdout.encode() if isinstance(stdout, str) else stdout
    return read_streams([("stdout", [data]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def counts(transcript: Transcript) -> tuple[int, int, int]:
    tally = transcript.tally
    return tally.passed, tally.failed, tally.skipped


def identities(transcript: Transcript) -> list[str]:
    return [failure.identity for failure in transcript.failures]


def region(transcript: Transcript, at: int = 0) -> list[str]:
    return [line.text for line in transcript.failures[at].details]


def left(transcript: Transcript) -> list[str]:
    return [line.text for line in transcript.unclassified]


# -- forms of lines


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("  ✔ hums", Result(1, b"hums", passed=True)),
        ("      ✓ hums (51ms)", Result(3, b"hums", passed=True, timed=True)),
        ("  √ hums", Result(1, b"hums", passed=True)),
        ("    - hums", Result(2, b"hums")),
        ("    12) hums", Result(2, b"hums", number=12)),
        ("    a b: \r  ✔ a b: 3ms", Result(1, b"a b", passed=True, announced=True)),
        ("    a b:   ✔ a b: 3ms", Result(1, b"a b", passed=True, announced=True)),
        ("    - a: \r  ✔ - a: 0ms", Result(1, b"- a", passed=True, announced=True)),
        ("    a b: \r  3) a b", Result(1, b"a b", number=3, announced=True)),
        ("    a: \r  ✔ b: 3ms", None),
        (" ✔ hums", None),
        ("   ✔ hums", None),
        ("  ✔  hums", None),
        ("  ✔", None),
        ("  01) hums", None),
        ("✔ hums", None),
    ],
)
def test_results(line: str, found: Result | None) -> None:
    assert result(line.encode()) == found


@pytest.mark.parametrize(
    "line",
    [
        "  ✔ node prints a fraction (1.25ms)",
        "  ✓ jest prints a blank (5 ms)",
        "  ✓  1 playwright counts › tests (5ms)",
        " ✓ vitest has one blank",
        "  3 passing",
        "3 passing (2ms)",
        "  3 failing",
        "  1) first",
    ],
)
def test_what_opens_no_report(line: str) -> None:
    assert DIALECT.opening.match(line.encode()) is None


# -- whole reports


def test_a_green_tree() -> None:
    """MOCHA-1."""
    transcript = read(GREEN)
    assert counts(transcript) == (3, 0, 1)
    assert not transcript.doubts
    assert not list(transcript.unclassified)
    assert transcript.suppressed[Kind.SUCCESSFUL_TEST] == 3
    assert transcript.suppressed[Kind.STRUCTURE] == 3


@pytest.mark.parametrize("report", [RED, LIST, DOT, MIN], ids=["spec", "list", "dot", "min"])
def test_a_red_report(report: str) -> None:
    """MOCHA-1 and MOCHA-5: the same failure in every reporter."""
    transcript = read(report, 1)
    assert counts(transcript)[1:] == (1, 1)
    assert identities(transcript) == ["hives give honey"]
    assert region(transcript)[-2:] == ["     Error: no honey", FRAME.rstrip("\n")]
    assert not transcript.doubts
    assert not left(transcript)


def test_titles_stand_below_one_another() -> None:
    """MOCHA-5: the name is mocha's full title."""
    report = "\n\n  a\n    b:\n      1) c\n\n" + totals(0, 0, 1) + account(1, "a", "b:", "c") + "\n\n"
    transcript = read(report, 1)
    assert identities(transcript) == ["a b: c"]
    assert not transcript.doubts


def test_hooks_and_second_errors_are_failures() -> None:
    """MOCHA-5: a test that has passed may fail later."""
    hook = '"after each" hook for "hums"'
    report = f"\n\n  hives\n    ✔ hums\n    1) {hook}\n  2) done twice\n\n" + totals(1, 0, 2)
    report += account(1, "hives", hook) + account(2, "done twice") + "\n\n"
    transcript = read(report, 2)
    assert identities(transcript) == [f"hives {hook}", "done twice"]
    assert not transcript.doubts


def test_a_title_with_a_line_end() -> None:
    """MOCHA-5: the rest of a title in the results is a recap of the account's."""
    report = (
        "\n\n  ✓ one\n  1) two\nlines\n\n" + totals(1, 0, 1) + "  1) two\nlines:\n     Error: x\n" + FRAME + "\n\n\n"
    )
    transcript = read(report, 1)
    assert identities(transcript) == ["two lines"]
    assert not transcript.doubts
    assert not left(transcript)


@pytest.mark.parametrize("text", [GREEN, RED])
def test_colours_and_terminals_change_nothing(text: str) -> None:
    plain = read(text, 1)
    coloured = text.replace("✔", "\x1b[32m✔\x1b[0m").replace("\n", "\x1b[0m\r\n")
    assert (counts(plain), identities(plain)) == (counts(read(coloured, 1)), identities(read(coloured, 1)))


def test_what_stands_on_standard_error_is_the_programs() -> None:
    """READ-12."""
    transcript = read(GREEN, 0, stderr="a warning of the hives'\n")
    assert not transcript.doubts
    assert transcript.suppressed[Kind.PROGRAM_OUTPUT] == 1


@pytest.mark.parametrize("report", [GREEN, RED])
def test_coverage_behind_the_report(report: str) -> None:
    """What nyc and c8 print."""
    table = (
        "----------|---------|----------|---------|---------|-------------------\n"
        "File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s \n"
        "----------|---------|----------|---------|---------|-------------------\n"
        "All files |   91.66 |      100 |      80 |   91.66 | 7-9,12            \n"
        "----------|---------|----------|---------|---------|-------------------\n"
    )
    transcript = read(report + table, 1 if report is RED else 0)
    assert not transcript.doubts
    assert not left(transcript)
    assert transcript.suppressed[Kind.INFORMATIONAL] == 5


# -- what is not whole


@pytest.mark.parametrize("report", [GREEN, RED, LIST, DOT, MIN], ids=["green", "spec", "list", "dot", "min"])
def test_a_report_that_is_cut_never_passes(report: str) -> None:
    """P1 and MOCHA-1: at every byte but the very last."""
    data = report.encode()
    for end in range(len(data) - 1):
        transcript = read(data[:end], 0)
        assert transcript.doubts or left(transcript) or not transcript.has_results, data[:end]


def test_failures_are_named_before_the_totals() -> None:
    """P2: a run that breaks off has no accounts."""
    transcript = read(TREE, 3)
    assert identities(transcript) == ["hives give honey"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts
    assert not transcript.conclusive


def test_a_list_that_breaks_off_says_what_ran() -> None:
    readings = StreamReader("stdout", [DIALECT])
    readings.feed("\n    a: \r  ✔ a: 0ms\n    hives hum: ".encode())
    assert [part.current_test for part in readings.close(1) if part.current_test] == ["hives hum"]


def test_ticks_alone_are_text() -> None:
    """MOCHA-6."""
    transcript = read("  ✔ checked\n  ✔ sent\n")
    assert not transcript.has_results
    assert left(transcript) == ["  ✔ checked", "  ✔ sent"]


# -- a tree outside of suites that breaks off

TOP = "\n\n  ✔ opens\n  1) gives honey\n  ✔ hums\n"
NPM = "\n> hives@1.0.0 test\n> mocha\n\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (TOP, ["gives honey"]),
        (TOP.replace("✔", "✓"), ["gives honey"]),
        (TOP + "  2) swarms\nmoving out\n  - sleeps\n", ["gives honey", "swarms"]),
        ("\n\n  ✔ opens\n  1) gives honey\n", ["gives honey"]),
        ("\n\n  ✔ opens\n  - sleeps\n  ✔ hums\n  1) gives honey\nmoving out\n", ["gives honey"]),
        ("\n\n  ✔ a\n  1) b\n  2) c\n  ✔ d\n  3) e\n  ✔ f\n", ["b", "c", "e"]),
        ("\n\n  1) gives honey\n  ✔ opens (51ms)\n  ✔ hums (60ms)\n", ["gives honey"]),
        (NPM + TOP, ["gives honey"]),
        ("loading\n" + TOP, ["gives honey"]),
        ("\n    hives hum: \r  1) hives hum\n    hives opens: ", ["hives hum"]),
        (
            '\n    hives hum: \r  1) hives "before each" hook\n    hives: \r  ✔ hives: 1ms\n  - x\n',
            ['hives "before each" hook'],
        ),
    ],
)
def test_a_tree_outside_of_suites_that_breaks_off(text: str, names: list[str]) -> None:
    """MOCHA-8"""
    found = read(text, 1)
    assert identities(found) == names
    assert found.tally.passed == text.count("✔") + text.count("✓")
    assert Doubt.COMPLETENESS_UNCONFIRMED in found.doubts
    assert Doubt.AMBIGUOUS_DIALECT not in found.doubts


@pytest.mark.parametrize(
    "text",
    [
        # A list, below ticks, above them, between them.
        "\n\n  ✔ config found\n  1) choose a comb\n  2) fill it\n",
        "\n\n  1) choose a comb\n  2) fill it\n  ✔ closed\n  ✔ moved\n",
        "\n\n  ✔ config found\n  1) choose a comb\n  2) fill it\n  ✔ closed\n",
        "\n\n  ✔ config found\nnext:\n  1) choose a comb\n  ✔ closed\n",
        "\n\n  ✔ config found\n  1) choose a comb\n     or two\n  2) fill it\n     well\n",
        # Steps.
        "\n\n  1) choose\n  ✔ chosen\n  2) fill\n  ✔ filled\n",
        "\n\n  1) choose\n  ✔ chosen (51ms)\n  2) fill\n  ✔ filled (9ms)\n",
        "\n\n  1) choose\n  ✔ chosen (51ms)\n  2) fill\n  ✔ filled (9ms)\n  ✔ closed (9ms)\n",
        # One that begins as mocha does not.
        TOP[1:],
        "\n" + TOP,
        "hives:\n" + TOP[2:],
        NPM + TOP[2:],
        NPM + TOP[1:],
        # Numbers that are not due, a list with a tick in it, pending tests only.
        "\n\n  ✔ opens\n  2) gives honey\n  ✔ hums\n",
        "\n\n  - opens\n  1) gives honey\n  - hums\n",
        "\n    hives hum: \r  1) hives hums\n",
        "\n    hives hum: \r  2) hives hum\n",
        "\n    hives hum: \r  ✔ hives: 3ms\n    hives fly: \r  1) hives\n",
    ],
)
def test_a_list_beside_ticks_is_no_tree(text: str) -> None:
    """MOCHA-8"""
    for exit_code in (0, 1):
        found = read(text, exit_code)
        assert not found.has_results
        assert not found.failures
        kept = [line for line in text.split("\n") if line.strip() and not line.startswith(">")]
        assert [line.raw.decode() for line in found.unclassified] == kept


def test_results_right_behind_a_report_are_no_tree() -> None:
    """MOCHA-8: how long the report is makes no difference."""
    for size in range(1, 9):
        report = "".join(f"ok {n}\n" for n in range(1, size + 1)) + f"1..{size}\n"
        assert not read(report + TOP[2:], 1).failures
        assert identities(read(report + "x\n" + TOP, 1)) == ["gives honey"]


@pytest.mark.parametrize(
    ("lines", "opens"),
    [
        (("  ✔ opens", "  1) hums"), True),
        (("  ✔ opens", "  - rests", "  ✓ hums", "  1) hums"), True),
        (("  1) hums", "  ✔ opens (51ms)"), True),
        (("  1) hums",), False),
        (("  - rests", "  1) hums"), False),
        (("  1) hums", "  ✔ opens"), False),
        (("  ✔ hums", "  ✔ opens (51ms)"), False),
        (("x", "  ✔ opens", "  1) hums"), False),
    ],
)
def test_what_opens_a_tree_outside_of_suites(lines: tuple[str, ...], opens: bool) -> None:
    """MOCHA-8"""
    *above, opening = [Line("stdout", n, Kind.UNCLASSIFIED, line.encode()) for n, line in enumerate(lines, 3)]
    assert DIALECT.opens_below(opening.raw, opening, above, 0) is opens


@pytest.mark.parametrize("above", ["", "\n", "hives:\n", "hives:\n\n", NPM, NPM + "\n"])
def test_a_list_inside_a_heading_is_no_tree(above: str) -> None:
    """MOCHA-8: in a suite too, where mocha's start is missing."""
    steps = "  Setup\n    ✔ config found\n    1) choose\n    2) fill\n"
    found = read(above + steps, 1)
    assert not found.failures
    assert found.tally.failed == 0
    assert {"    1) choose", "    2) fill"} <= set(left(found))
    assert Doubt.UNCLASSIFIED_EVIDENCE in found.doubts
    assert not read(above + steps, 0).failures
    assert identities(read("\n\n" + steps, 1)) == ["Setup choose", "Setup fill"]
    assert identities(read(above + steps + totals(1, 0, 2), 1)) == ["Setup choose", "Setup fill"]


@pytest.mark.parametrize(
    "text",
    [
        "connecting\n  hives\n    ✔ hum\nnext:\n    1) choose\n    ✔ sting\n    2) fill\n",
        "connecting\n  hives\n    1) choose\n    ✔ hum\n",
        "connecting\n  hives\n    1) choose\n    ✔ hum (51ms)\n    2) fill\n    ✔ sting (51ms)\n    ✔ fly (51ms)\n",
    ],
)
def test_steps_in_a_suite_whose_start_is_lost(text: str) -> None:
    """MOCHA-8"""
    assert not read(text, 1).failures


@pytest.mark.parametrize(
    "text",
    [
        "connecting\n  hives\n    ✔ hum\n    1) give honey\n",
        "connecting\n  hives\n    1) give honey\n    ✔ hum (51ms)\n    ✔ sting (60ms)\n    ✔ fly\n",
        "connecting\n  meadow\n    ✔ hum\n\n  hives\n    1) give honey\n    ✔ hum (51ms)\n    ✔ sting (60ms)\n",
        "connecting\n  hives\n    ✔ hum\n    1) give honey\n    ✔ swarm\n    2) sting\n    3) fly\n",
        "connecting\n  hives\n"
        + "    ✔ hum\n" * 9
        + "    1) give honey\n"
        + "    ✔ hum\n" * 9
        + "    2) a\n    3) b\n",
    ],
)
def test_a_suite_whose_start_is_lost(text: str) -> None:
    """MOCHA-8: a failure between ticks, or a single one below a tick, is no list."""
    found = read(text, 1)
    assert found == trace_streams([("stdout", [text.encode()]), ("stderr", [b""])], exit_code=1)[0]
    assert len(found.failures) == len(re.findall("[0-9][)] ", text))
    assert identities(found)[0] == "hives give honey"
    assert found.tally.passed == text.count("✔")


def test_a_tree_that_breaks_off_lets_others_speak() -> None:
    """MOCHA-8: one that nothing proves does not take a report behind it."""
    steps = "\n\n  ✔ config found\n  1) choose\n  2) fill\n"
    found = read_streams([("stdout", [(steps + "TAP version 13\nok 1 - a\n1..1\n").encode()])], exit_code=0)
    assert counts(found) == (1, 0, 0)
    assert not found.failures
    assert found.doubts == {Doubt.AMBIGUOUS_DIALECT}
    assert left(found) == steps.strip("\n").split("\n")


def test_an_exit_code_that_the_totals_do_not_explain() -> None:
    """READ-12: what standard error says then is not the program's."""
    transcript = read(GREEN, 7, stderr="/srv/hives.js:3\nthrow x\n^\n\nError: after the end\n")
    assert Doubt.FAILURE_OUTSIDE_TESTS in transcript.doubts
    assert identities(transcript) == ["/srv/hives.js:3 Error: after the end"]


def test_no_tests() -> None:
    assert Doubt.NO_TEST_EVIDENCE in read("\n\n  0 passing (1ms)\n\n").doubts


def test_totals_without_results_are_the_only_witness() -> None:
    """MOCHA-3: of `min`, a lost `2 pending` leaves no trace."""
    assert read("\x1b[2J\x1b[1;3H" + totals(4, 2)).doubts == {Doubt.COUNTS_UNCONFIRMED}


# -- what does not agree


@pytest.mark.parametrize(
    "report",
    [
        GREEN.replace("3 passing", "4 passing"),
        GREEN.replace("1 pending", "2 pending"),
        GREEN.replace("    ✔ hum\n", ""),
        GREEN.replace("      - lays\n", ""),
        RED.replace("    1) give honey\n", ""),
        DOT.replace(".!,", ".,"),
    ],
)
def test_totals_and_results_must_agree(report: str) -> None:
    """MOCHA-1."""
    assert read(report, 1).doubts & {Doubt.AGGREGATE_CONTRADICTION, Doubt.UNCLASSIFIED_EVIDENCE}


def test_an_account_that_is_missing_leaves_the_result() -> None:
    """MOCHA-4 and P2."""
    report = "\n\n  1) a\n  2) b\n\n" + totals(0, 0, 2) + account(1, "a") + "\n\n"
    transcript = read(report, 2)
    assert sorted(identities(transcript)) == ["a", "b"]
    assert Doubt.RECAP_CONTRADICTION in transcript.doubts


def test_an_account_that_is_cut_in_its_titles_goes_by_the_result() -> None:
    """MOCHA-5."""
    transcript = read(RED[: RED.index("give honey:")], 1)
    assert identities(transcript) == ["hives give honey"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


def test_a_result_that_the_account_denies_is_contested() -> None:
    """MOCHA-5."""
    report = "\n\n  1) printed\n\n" + totals(0, 0, 1) + account(1, "real") + "\n\n"
    transcript = read(report, 1)
    assert identities(transcript) == ["real"]
    assert [line.kind for line in transcript.unclassified] == [Kind.CONTESTED_TEST]


def test_failures_with_exit_code_zero_stay() -> None:
    transcript = read(RED, 0)
    assert identities(transcript) == ["hives give honey"]
    assert transcript.conclusive


# -- what a test prints


def test_a_summary_that_a_test_prints() -> None:
    """MOCHA-2: the last totals in their place count."""
    report = GREEN.replace("  meadow\n", totals(9) + "  meadow\n")
    transcript = read(report)
    assert counts(transcript) == (3, 0, 1)
    assert "  9 passing (12ms)" in left(transcript)


def test_a_summary_with_failures_that_a_test_prints() -> None:
    """MOCHA-2."""
    report = GREEN.replace("  meadow\n", totals(9, 0, 2) + "  meadow\n")
    transcript = read(report)
    assert counts(transcript) == (3, 0, 1)
    assert not transcript.failures
    assert transcript.doubts


@pytest.mark.parametrize(
    "before", [GREEN[: GREEN.index("  meadow")], RED[: RED.index("    queen")], "\x1b[2J\x1b[1;3H"]
)
@pytest.mark.parametrize("closing", [totals(2, 1), totals(2, 1, 1), totals(2, 1, 1) + ACCOUNTS, totals(2)])
def test_a_summary_that_agrees_with_what_has_run(before: str, closing: str) -> None:
    """MOCHA-2 and P1: whatever it says, what follows is not counted as if nothing had been printed."""
    report = before + closing + "  meadow\n    ✔ blooms\n    ✔ smells\n\n" + totals(4, 1)
    transcript = read(report)
    assert transcript.doubts or left(transcript)


def test_a_summary_in_a_message() -> None:
    """MOCHA-2: text of the account, and in doubt."""
    report = (
        "\n\n  1) a\n\n" + totals(0, 0, 1) + account(1, "a", message="Error: got\n\n  5 passing (1ms)\n\n") + "\n\n"
    )
    transcript = read(report, 1)
    assert counts(transcript) == (0, 1, 0)
    assert identities(transcript) == ["a"]
    assert "  5 passing (1ms)" in region(transcript)
    assert Doubt.CONTESTED_RESULTS in transcript.doubts


def test_a_heading_in_a_message_of_another_name() -> None:
    """MOCHA-4: where results name failures, a heading of another name is text."""
    message = "Error: got\n\n  2) fake:\n     Error: y\n"
    report = "\n\n  1) a\n  2) b\n\n" + totals(0, 0, 2) + account(1, "a", message=message) + account(2, "b") + "\n\n"
    transcript = read(report, 2)
    assert identities(transcript) == ["a", "b"]
    assert "  2) fake:" in region(transcript)
    assert not transcript.doubts


def test_a_heading_in_a_message_where_nothing_names_failures() -> None:
    """MOCHA-4."""
    message = "Error: got\n\n  2) fake:\n     Error: y\n"
    report = "\n\n  !!\n" + totals(0, 0, 2) + account(1, "a", message=message) + account(2, "b") + "\n\n"
    assert Doubt.STRUCTURE_CONTRADICTION in read(report, 2).doubts


def test_a_title_whose_end_is_not_known() -> None:
    """MOCHA-4."""
    report = "\n\n  !\n" + totals(0, 0, 1) + "  1) two\nok 1 - printed\nlines:\n     Error: x\n" + FRAME + "\n\n\n"
    assert Doubt.STRUCTURE_CONTRADICTION in read(report, 1).doubts
    report = "\n\n  !\n" + totals(0, 0, 1) + "  1) two\n     Error: x\n" + FRAME + "\n\n\n"
    assert Doubt.STRUCTURE_CONTRADICTION in read(report, 1).doubts


def test_lines_of_the_program_are_kept() -> None:
    """P4: what fits nowhere is unclassified, also where it is indented as titles are."""
    report = GREEN.replace("    ✔ hum\n", "    ✔ hum\nwild\n  indented\n    deeper\n")
    transcript = read(report)
    assert left(transcript) == ["wild", "  indented", "    deeper"]
    assert counts(transcript) == (3, 0, 1)


def test_a_difference_is_no_pending_test() -> None:
    """MOCHA-1: only totals say that `- x` is one."""
    transcript = read("\n\n  hives\n    ✔ hum\n    1) sting\n  - 17\n  + 18\n", 1)
    assert left(transcript) == ["  - 17", "  + 18"]


def test_markers_between_results() -> None:
    transcript = read(GREEN.replace("    ✔ hum\n", "    ✔ hum\nWARNING: cold\n"))
    assert [line.text for line in transcript.warnings] == ["WARNING: cold"]


def test_two_runs_in_one_stream() -> None:
    """Each has its own totals; they add up."""
    transcript = read(RED + GREEN, 1)
    assert counts(transcript) == (6, 1, 2)
    assert not transcript.doubts


def test_a_second_run_that_is_cut() -> None:
    transcript = read(GREEN + TREE, 0)
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts
    assert identities(transcript) == ["hives give honey"]


# -- accounts of lines


@pytest.mark.parametrize("report", [GREEN, RED, LIST, DOT, MIN, RED + GREEN, TREE, GREEN.replace("hum", "h\n  x")])
def test_every_line_is_accounted_for_once(report: str) -> None:
    """P3."""
    transcript, traces = trace_streams([("stdout", [report.encode()])], exit_code=1)
    assert transcript.event_count == report.count("\n") == len(traces)


def test_lanes_and_chunks_make_no_difference() -> None:
    rng = random.Random(7)  # noqa: S311 - a repeatable choice, no secret
    pieces = ["  a\n", "    ✔ b\n", "    b\n", "      ✔ c (3ms)\n", "  ✔ d\n", "\n", "    - e\n", "x\n", "  1) f\n"]
    for _ in range(150):
        text = "\n\n  ✔ first\n" + "".join(rng.choices(pieces, weights=[2, 9, 2, 9, 3, 2, 1, 1, 1], k=40))
        text += totals(rng.randrange(30))
        whole = read(text)
        data = text.encode()
        one_by_one = read_streams([("stdout", [data[i : i + 1] for i in range(len(data))])], exit_code=0)
        traced, _ = trace_streams([("stdout", [data])], exit_code=0)
        assert whole == one_by_one == traced


# -- reporters that draw ----------------------------------------------------------------------------------------------

_BESIDE = f"  {'-' * 30}"
_FLIGHT = f"\x1b[57D\x1b[2A{_BESIDE}\n  ⋅⋅⋅✈⋅⋅\n{_BESIDE}\x1b[0m"
LANDING = f"\n\n\n  {_FLIGHT}{_FLIGHT}\n"
BARS = "\n\r\x1b[J  [▬▬▬....]\r\x1b[J  [▬▬▬▬▬▬▬]\n"


@pytest.mark.parametrize("drawn", [LANDING, BARS])
def test_what_is_drawn_is_no_result(drawn: str) -> None:
    """MOCHA-3"""
    red = read(drawn + totals(1, 1, 1) + ACCOUNTS, 1)
    assert identities(red) == ["hives give honey"]
    assert counts(red) == (1, 1, 1)
    assert not red.doubts
    assert not red.unclassified
    assert read(drawn + totals(2)).doubts == {Doubt.COUNTS_UNCONFIRMED}


def test_a_line_beside_no_runway_is_text() -> None:
    """MOCHA-3"""
    found = read(f"\n\n  ✔ opens\n{_BESIDE}\n  ✔ hum\n\n" + totals(2))
    assert [line.text for line in found.unclassified] == [_BESIDE]
