"""pytest's terminal report: every form it takes, and what must not be taken for it."""

import random
import time
from collections.abc import Iterable

import pytest

from context_firewall.transcript.dialects.pytest import DIALECT
from context_firewall.transcript.dialects.pytest_grammar import closing, progress, result, ruler
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import StreamReader, read_streams

HEAD = "platform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0\nrootdir: /home/baker\nplugins: xdist-3.6.1\n"


def rule(title: str, sign: str = "=", columns: int = 80) -> str:
    """A ruler as the reporter makes it."""
    fill = sign * max((columns - len(title) - 2) // 2, 1)
    line = f"{fill} {title} {fill}"
    return line + sign if len(line) < columns else line


def letters(text: str, share: int, columns: int = 80) -> str:
    """A row of progress with its right margin."""
    return text + f"[{share:3}%]".rjust(columns - 1 - len(text))


def report(*body: str, collected: str = "collected 3 items", columns: int = 80) -> str:
    """A report: the head, a blank line, then the lines given."""
    return "\n".join((rule("test session starts", columns=columns), HEAD + collected, "", *body, ""))


def failure(name: str, message: str = "AssertionError: too salty", place: str = "test_soup.py:7") -> str:
    """A failure's section, as a long traceback."""
    short = name.rpartition(".")[2].partition("[")[0]
    return "\n".join(
        (
            rule(name, "_"),
            "",
            f"    def {short}():",
            "        soup = cook()",
            ">       assert soup.salt < 3",
            f"E       {message}",
            "",
            f"{place}: AssertionError",
        )
    )


def red(*before: str) -> str:
    """Three tests, one of which fails."""
    return report(
        letters("test_soup.py .F.", 100),
        "",
        rule("FAILURES"),
        failure("test_salt"),
        *before,
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt - AssertionError: too s...",
        rule("1 failed, 2 passed in 0.05s"),
    )


GREEN = report(letters("test_soup.py ...", 100), "", rule("3 passed in 0.02s"))


def read(text: str | bytes, exit_code: int | None = 1, stderr: bytes = b"") -> Transcript:
    """Standard output through this dialect alone."""
    data = text.encode() if isinstance(text, str) else text
    return read_streams([("stdout", [data]), ("stderr", [stderr])], exit_code=exit_code, dialect="pytest")


def names(transcript: Transcript) -> list[str]:
    return [found.identity for found in transcript.failures]


def texts(lines: Iterable[object]) -> list[str]:
    return [line.text for line in lines]  # type: ignore[attr-defined]


def counts(transcript: Transcript) -> tuple[int, int, int, int]:
    tally = transcript.tally
    return tally.passed, tally.failed, tally.skipped, tally.todo


# -- the grammar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "title", "fits"),
    [
        (rule("FAILURES"), b"FAILURES", True),
        (rule("x" * 90), b"x" * 90, True),
        (rule("soup", "_"), b"soup", True),
        (rule("Größe der Töpfe", "_"), "Größe der Töpfe".encode(), True),
        ("=== soup ===", b"soup", False),
        (rule("soup", columns=100), b"soup", False),
    ],
)
def test_a_ruler_is_as_wide_as_the_report(line: str, title: bytes, fits: bool) -> None:
    found = ruler(line.encode())
    assert found is not None
    assert found.title == title
    assert found.fits(80) is fits


@pytest.mark.parametrize(
    "line", ["", "=", "====", "= =", "_ _ _ _ _ _", "=== a", "a ===", "==a==", "===  a ===", "= a =="]
)
def test_what_is_no_ruler(line: str) -> None:
    found = ruler(line.encode())
    assert found is None or not found.fits(80)


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        (b"2 passed in 0.01s", (2, 0, 0, 0)),
        (b"1 failed, 2 passed, 3 skipped, 4 deselected, 1 xfailed, 1 xpassed, 2 warnings, 1 error in 99.10s (0:01:39)",
         (2, 1, 3, 1)),
        (b"3 failed, 2 errors, 1 rerun, 5 subtests passed in 1.00s", (0, 3, 0, 2)),
        (b"no tests ran in 0.00s", (0, 0, 0, 0)),
        (b"12 tests collected in 0.10s", (0, 0, 0, 0)),
        (b"3/12 tests collected (9 deselected) in 0.10s", (0, 0, 0, 0)),
    ],
)  # fmt: skip
def test_the_closing_line_counts(line: bytes, stated: tuple[int, int, int, int]) -> None:
    found = closing(line)
    assert found is not None
    assert (found.passed, found.failed, found.skipped, found.errors) == stated


@pytest.mark.parametrize(
    "line", [b"2 passed", b"passed in 0.01s", b"2 passed, 3 passed in 0.1s", b"2 passed in 3 s", b""]
)
def test_what_does_not_close(line: bytes) -> None:
    assert closing(line) is None


@pytest.mark.parametrize(
    ("line", "name", "word"),
    [
        (b"t.py::a PASSED  [ 50%]", b"t.py::a", b"PASSED"),
        (b"t.py::a[x FAILED] PASSED [ 50%]", b"t.py::a[x FAILED]", b"PASSED"),
        (b"t.py::A::b SKIPPED (port 5555) [  5%]", b"t.py::A::b", b"SKIPPED"),
        (b"t.py::a XFAIL (was FAILED before) [ 10%]", b"t.py::a", b"XFAIL"),
        (b"[gw1] [ 10%] FAILED t.py::a[b - c] ", b"t.py::a[b - c]", b"FAILED"),
        (b"t.py::a SUBFAILED[cold] (i=1) [ 10%]", b"t.py::a", b"SUBFAILED"),
    ],
)
def test_a_named_result(line: bytes, name: bytes, word: bytes) -> None:
    found = result(line)
    assert found is not None
    assert (found.id, found.word) == (name, word)


@pytest.mark.parametrize(
    "line", [b"see t.py for more", b"F is for flour", b"a.b ok", b"   ...", b"[50%]", b"t.py ..y [ 5%]"]
)
def test_what_is_no_row_of_letters(line: bytes) -> None:
    assert progress(line) is None


# -- reports ----------------------------------------------------------------------------------------------------------


def test_green() -> None:
    transcript = read(GREEN, 0)
    assert counts(transcript) == (3, 0, 0, 0)
    assert not transcript.doubts
    assert not list(transcript.unclassified)


def test_red() -> None:
    transcript = read(red())
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert counts(transcript) == (2, 1, 0, 0)
    assert not transcript.doubts
    found = transcript.failures[0]
    assert found.header is not None
    assert found.header.kind is Kind.FAILED_TEST
    assert "E       AssertionError: too salty" in texts(found.details)
    kinds = {line.text: line.kind for line in found.details}
    assert kinds["        soup = cook()"] is Kind.FAILURE_CONTEXT
    assert kinds[">       assert soup.salt < 3"] is Kind.FAILURE_DETAIL
    assert kinds["test_soup.py:7: AssertionError"] is Kind.STACK_TRACE


@pytest.mark.parametrize("columns", [40, 81, 120, 200])
def test_any_width(columns: int) -> None:
    text = report(
        letters("test_soup.py F..", 100, columns),
        "",
        rule("FAILURES", columns=columns),
        rule("test_salt", "_", columns),
        ">   assert 0",
        "E   assert 0",
        "_ " * (columns // 2),
        "test_soup.py:7: AssertionError",
        rule("short test summary info", columns=columns),
        "FAILED test_soup.py::test_salt",
        rule("1 failed, 2 passed in 0.05s", columns=columns),
        columns=columns,
    )
    transcript = read(text)
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert not transcript.doubts


def test_colours_and_carriage_returns() -> None:
    coloured = red().replace("FAILED", "\x1b[31mFAILED\x1b[0m").replace("=====", "\x1b[1m=====\x1b[0m")
    for text in (coloured, red().replace("\n", "\r\n")):
        transcript = read(text)
        assert names(transcript) == ["test_soup.py::test_salt"]
        assert not transcript.doubts


def test_quiet() -> None:
    text = "\n".join(
        (
            letters(".F.", 100),
            rule("FAILURES"),
            failure("test_salt"),
            rule("short test summary info"),
            "FAILED test_soup.py::test_salt - AssertionError: too salty",
            "1 failed, 2 passed in 0.05s",
            "",
        )
    )
    transcript = read(text)
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert counts(transcript) == (2, 1, 0, 0)
    assert not transcript.doubts
    quieter = read(text.replace("1 failed, 2 passed in 0.05s\n", ""))
    assert names(quieter) == names(transcript)
    assert counts(quieter) == counts(transcript)
    assert quieter.doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_green_without_a_closing_line_proves_nothing() -> None:
    assert read(letters("...", 100) + "\n", 0).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_verbose() -> None:
    text = report(
        letters("test_soup.py::test_stir PASSED", 33),
        letters("test_soup.py::test_salt[a - b] FAILED", 66),
        letters("test_soup.py::test_old XFAIL (was FAILED in 2019)", 80),
        letters("test_soup.py::test_port SKIPPED (port 5555", 0).replace("[  0%]", "").rstrip(),
        letters("is taken)", 100),
        "",
        rule("FAILURES"),
        failure("test_salt[a - b]"),
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt[a - b] - AssertionError: too s...",
        rule("1 failed, 1 passed, 1 skipped, 1 xfailed in 0.05s"),
    )
    transcript = read(text)
    assert names(transcript) == ["test_soup.py::test_salt[a - b]"]
    assert counts(transcript) == (1, 1, 1, 1)
    assert len(transcript.todo) == 1
    assert not transcript.doubts


def test_workers() -> None:
    text = report(
        "scheduling tests via LoadScheduling",
        "",
        "test_soup.py::test_stir ",
        "test_soup.py::test_salt ",
        "[gw1] [ 33%] PASSED test_soup.py::test_stir ",
        "[gw0] [ 66%] FAILED test_soup.py::test_salt ",
        "test_soup.py::test_boil ",
        "[gw1] [100%] PASSED test_soup.py::test_boil ",
        "",
        rule("FAILURES"),
        rule("test_salt", "_"),
        "[gw0] linux -- Python 3.12.4 /usr/bin/python",
        "E   assert 0",
        "test_soup.py:7: AssertionError",
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt - assert 0",
        rule("1 failed, 2 passed in 0.05s"),
        collected="created: 2/2 workers\n2 workers [3 items]",
    )
    transcript = read(text)
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert counts(transcript) == (2, 1, 0, 0)
    assert not transcript.doubts


def test_a_crashed_worker_takes_its_test_with_it() -> None:
    text = report(
        "..[gw1] node down: Not properly terminated",
        "F",
        "replacing crashed worker gw1",
        "",
        rule("FAILURES"),
        rule("test_pot.py", "_"),
        "[gw1] linux -- Python 3.12.4 /usr/bin/python",
        "worker 'gw1' crashed while running 'test_pot.py::test_lid'",
        rule("short test summary info"),
        "FAILED test_pot.py::test_lid - worker 'gw1' crashed while ru...",
        rule("1 failed, 2 passed in 0.48s"),
        collected="created: 2/2 workers\n2 workers [3 items]",
    )
    transcript = read(text)
    assert names(transcript) == ["test_pot.py::test_lid"]
    assert not transcript.doubts


def test_errors_of_fixtures_are_failures_too() -> None:
    text = report(
        letters("test_soup.py E.EF", 100),
        "",
        rule("ERRORS"),
        failure("ERROR at setup of TestPot.test_lid"),
        failure("ERROR at teardown of test_stir"),
        rule("FAILURES"),
        failure("test_salt"),
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt - AssertionError: too salty",
        "ERROR test_soup.py::TestPot::test_lid - AssertionError: too salty",
        "ERROR test_soup.py::test_stir - AssertionError: too salty",
        rule("1 failed, 1 passed, 2 errors in 0.05s"),
    )
    transcript = read(text)
    assert names(transcript) == [
        "test_soup.py::TestPot::test_lid",
        "test_soup.py::test_stir",
        "test_soup.py::test_salt",
    ]
    assert counts(transcript) == (1, 3, 0, 0)
    assert not transcript.doubts


def test_a_file_that_does_not_load() -> None:
    text = report(
        rule("ERRORS"),
        rule("ERROR collecting test_soup.py", "_"),
        "ImportError while importing test module '/home/baker/test_soup.py'.",
        "test_soup.py:1: in <module>",
        "    import ladle",
        "E   ModuleNotFoundError: No module named 'ladle'",
        rule("short test summary info"),
        "ERROR test_soup.py",
        rule("Interrupted: 1 error during collection", "!"),
        rule("1 error in 0.09s"),
        collected="collected 0 items / 1 error",
    )
    transcript = read(text, 2)
    assert names(transcript) == ["test_soup.py"]
    assert counts(transcript) == (0, 1, 0, 0)
    assert not transcript.doubts


def test_one_line_a_failure() -> None:
    text = report(
        letters("test_soup.py FF.", 100),
        "",
        rule("FAILURES"),
        "/home/baker/test_soup.py:7: AssertionError: too salty",
        "E   AssertionError: too cold",
        "    by ten degrees",
        "/home/baker/test_soup.py:9: AssertionError: too cold",
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt - AssertionError: too salty",
        "FAILED test_soup.py::test_heat - AssertionError: too cold",
        rule("2 failed, 1 passed in 0.05s"),
    )
    transcript = read(text)
    assert names(transcript) == ["test_soup.py::test_salt", "test_soup.py::test_heat"]
    assert [len(found.details) for found in transcript.failures] == [1, 3]
    assert not transcript.doubts


def test_no_tracebacks() -> None:
    text = report(
        letters("test_soup.py F..", 100),
        "",
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt[x - y] - AssertionError: too salty",
        rule("1 failed, 2 passed in 0.05s"),
    )
    transcript = read(text)
    assert names(transcript) == ["test_soup.py::test_salt[x - y]"]
    assert not transcript.doubts


def test_no_summary_leaves_failures_without_names() -> None:
    transcript = read(report(letters("test_soup.py F..", 100), "", rule("1 failed, 2 passed in 0.05s")))
    assert names(transcript) == ["test_soup.py: 1 failing test, not named"]
    assert transcript.doubts == {Doubt.FAILURES_UNNAMED}


def stopped(row: str) -> Transcript:
    """A quiet run that its first failure stopped, read by whichever dialect opens."""
    text = "\n".join(
        (
            row,
            rule("FAILURES"),
            failure("test_salt"),
            rule("short test summary info"),
            "FAILED test_soup.py::test_salt - AssertionError: too salty",
            rule("stopping after 1 failures", "!"),
            "1 failed, 1 passed in 0.05s",
            "",
        )
    )
    return read_streams([("stdout", [text.encode()])], exit_code=1)


def test_a_row_that_a_failure_cut_short_stands_before_the_first_section() -> None:
    transcript = stopped(".F")
    assert counts(transcript)[:2] == (1, 1)
    assert not transcript.doubts


@pytest.mark.parametrize("row", [".XFFE", "F", "sE"])
def test_a_row_of_other_results_contradicts_the_closing_line(row: str) -> None:
    assert stopped(row).doubts == {Doubt.AGGREGATE_CONTRADICTION}


def test_a_count_of_what_no_result_is() -> None:
    """PYT-2: who counts `flunked` may mean failures."""
    odd = GREEN.replace(rule("3 passed in 0.02s"), rule("3 passed, 1 flunked in 0.02s"))
    assert read(odd, 0).doubts == {Doubt.AGGREGATE_CONTRADICTION, Doubt.COUNTS_UNCONFIRMED}


@pytest.mark.parametrize("row", [".", "...x", ".F?", "F ."])
def test_any_other_line_before_the_first_section_is_nobodys(row: str) -> None:
    assert texts(stopped(row).unclassified) == [row]


def test_subtests() -> None:
    text = report(
        letters("test_soup.py F.", 100),
        "",
        rule("FAILURES"),
        failure("PotCase.test_lids (i=1)"),
        failure("PotCase.test_lids [cold] (i=3)"),
        failure("test_salt"),
        rule("short test summary info"),
        "SUBFAILED(i=1) test_soup.py::PotCase::test_lids - AssertionError: too salty",
        "SUBFAILED[cold] (i=3) test_soup.py::PotCase::test_lids - AssertionErr...",
        "FAILED test_soup.py::test_salt - AssertionError: too salty",
        rule("3 failed, 1 passed, 2 subtests passed in 0.05s"),
    )
    transcript = read(text)
    assert names(transcript) == [
        "test_soup.py::PotCase::test_lids (i=1)",
        "test_soup.py::PotCase::test_lids [cold] (i=3)",
        "test_soup.py::test_salt",
    ]
    assert counts(transcript) == (1, 3, 0, 0)
    assert not transcript.doubts


def test_a_name_without_a_summary_is_made_of_title_and_place() -> None:
    text = report(
        letters("test_soup.py F..", 100),
        "",
        rule("FAILURES"),
        failure("TestPot.test_lid[1.5]"),
        rule("1 failed, 2 passed in 0.05s"),
    )
    assert names(read(text)) == ["test_soup.py::TestPot::test_lid[1.5]"]


def test_a_run_that_was_stopped_by_hand() -> None:
    text = report(
        "test_soup.py .F",
        "",
        rule("FAILURES"),
        failure("test_salt"),
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt - AssertionError: too salty",
        rule("KeyboardInterrupt", "!"),
        "/home/baker/test_soup.py:12: KeyboardInterrupt",
        "(to show a full traceback on KeyboardInterrupt use --full-trace)",
        rule("1 failed, 1 passed in 2.01s"),
    )
    transcript = read(text, 2)
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert not transcript.doubts


def test_a_killed_run_names_the_test_that_ran() -> None:
    text = report(letters("test_soup.py::test_salt FAILED", 33), "test_soup.py::test_boil ").rstrip("\n")
    reader = StreamReader("stdout", [DIALECT])
    reader.feed(text.encode())
    (reading,) = (part for part in reader.close(137) if part.has_results)
    assert reading.current_test == "test_soup.py::test_boil"
    assert [found.identity for found in reading.failures] == ["test_soup.py::test_salt"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in reading.doubts


def test_an_internal_error() -> None:
    text = report(
        "INTERNALERROR> Traceback (most recent call last):",
        'INTERNALERROR>   File "/srv/plugin.py", line 3, in pytest_runtest_logreport',
        "INTERNALERROR> ZeroDivisionError: division by zero",
        "",
        rule("no tests ran in 0.03s"),
    )
    transcript = read(text, 3)
    assert names(transcript) == ["INTERNALERROR"]
    assert len(transcript.failures[0].details) == 2
    assert Doubt.FAILURE_OUTSIDE_TESTS in transcript.doubts


def test_a_process_stopped_for_its_time() -> None:
    text = report(
        "test_soup.py ." + "+" * 35 + " Timeout " + "+" * 36,
        "~~~~~~~~~~~~~~~~~~~~ Stack of MainThread (14021) ~~~~~~~~~~~~~~~~~~~~~",
        '  File "/home/baker/test_soup.py", line 12, in test_boil',
        "    time.sleep(30)",
        "+" * 35 + " Timeout " + "+" * 36,
    )
    transcript = read(text)
    assert names(transcript) == ["test_soup.py::test_boil"]
    assert transcript.tally.passed == 1
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


def test_no_tests_prove_nothing() -> None:
    for text in (report(rule("no tests ran in 0.01s"), collected="collected 0 items"), "no tests ran in 0.01s\n"):
        assert Doubt.NO_TEST_EVIDENCE in read(text, 0).doubts


@pytest.mark.parametrize("title", ["no tests ran", "no tests collected", "3 deselected", "1 warning"])
def test_no_tests_and_the_exit_code_that_says_so(title: str) -> None:
    """PYT-4: pytest exits with 5 where it has run none."""
    text = report(rule(f"{title} in 0.01s"), collected="collected 0 items")
    transcript = read(text, 5)
    assert [line.raw.decode().strip() for line in transcript.fatal_errors] == [rule(f"{title} in 0.01s")]
    assert not transcript.doubts
    for code in (0, 1, 4):
        assert Doubt.NO_TEST_EVIDENCE in read(text, code).doubts
    assert Doubt.NO_TEST_EVIDENCE in read(text.replace(title, "nothing"), 5).doubts


def test_what_plugins_report_is_counted() -> None:
    text = report(
        letters("test_soup.py R..", 100),
        "",
        rule("warnings summary"),
        "test_soup.py::test_stir",
        "  /home/baker/soup.py:3: DeprecationWarning: use the big spoon",
        "",
        "-- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html",
        rule("coverage: platform linux, python 3.12.4", "-"),
        "soup.py   24   24   0%   1-31",
        rule("slowest 3 durations"),
        "0.01s call     test_soup.py::test_stir",
        rule("2 passed, 1 warning, 1 rerun in 0.05s"),
        collected="collected 2 items",
    )
    transcript = read(text, 0)
    assert counts(transcript) == (2, 0, 0, 0)
    assert not transcript.doubts
    assert not transcript.warnings


def test_an_exception_that_nobody_caught_is_a_warning() -> None:
    text = report(
        letters("test_soup.py ...", 100),
        "",
        rule("warnings summary"),
        "test_soup.py::test_stir",
        "  /srv/threadexception.py:58: PytestUnhandledThreadExceptionWarning: Exception in thread Thread-1 (stir)",
        "  ValueError: no spoon",
        "",
        rule("3 passed, 1 warning in 0.05s"),
    )
    assert len(read(text, 0).warnings) == 2


def test_too_little_coverage_fails_the_run() -> None:
    text = report(
        letters("test_soup.py ...", 100),
        "",
        rule("tests coverage"),
        "FAIL Required test coverage of 90% not reached. Total coverage: 21.15%",
        rule("3 passed in 0.05s"),
    )
    assert texts(read(text, 1).fatal_errors) == [
        "FAIL Required test coverage of 90% not reached. Total coverage: 21.15%"
    ]


def test_output_of_passed_tests_is_only_counted() -> None:
    text = report(
        letters("test_soup.py ...", 100),
        "",
        rule("PASSES"),
        rule("test_stir", "_"),
        rule("Captured stdout call", "-"),
        "FATAL: the pot is empty",
        "FAILED test_soup.py::test_stir - no",
        rule("short test summary info"),
        "PASSED test_soup.py::test_stir",
        rule("3 passed in 0.05s"),
    )
    transcript = read(text, 0)
    assert not transcript.doubts
    assert not transcript.fatal_errors


def test_live_logs_belong_to_their_tests() -> None:
    log = rule("live log call", "-")
    text = report(
        "test_soup.py::test_stir ",
        log,
        "ERROR    soup:soup.py:3 FAILED test_soup.py::test_stir",
        letters("PASSED", 33),
        "test_soup.py::test_salt ",
        log,
        "WARNING  soup:soup.py:4 salt is low",
        letters("FAILED", 66),
        letters("test_soup.py::test_boil PASSED", 100),
        "",
        rule("FAILURES"),
        failure("test_salt"),
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt - AssertionError: too salty",
        rule("1 failed, 2 passed in 0.05s"),
    )
    transcript = read(text)
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert "WARNING  soup:soup.py:4 salt is low" in texts(transcript.failures[0].details)
    assert transcript.suppressed[Kind.PROGRAM_OUTPUT] == 2
    assert not transcript.doubts


def sweet(title: str, *lines: str) -> str:
    """What pytest-sugar prints about a failure as soon as it happens."""
    return "\n".join(("", f"{'―' * 30} {title} {'―' * 30}", "", *lines))


SUGAR = "\n".join(
    (
        "Test session starts (platform: linux, Python 3.12.4, pytest 8.3.2, pytest-sugar 1.1.1)",
        "rootdir: /home/baker",
        "collected 3 items",
        "\r",
        "\r test_soup.py ✓                  33% ███▍      \r test_soup.py ✓✓                 66% ██████▋   ",
        sweet("test_salt", ">       assert 3 < 2", "E       assert 3 < 2", "", "test_soup.py:7: AssertionError"),
        "\r",
        "\r test_soup.py ⨯                 100% ██████████",
        rule("short test summary info"),
        "FAILED test_soup.py::test_salt - assert 3 < 2",
        "",
        "Results (0.45s):",
        "       2 passed",
        "       1 failed",
        "         - test_soup.py:6 test_salt",
        "",
    )
)


def test_sugar() -> None:
    transcript = read(SUGAR)
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert counts(transcript) == (2, 1, 0, 0)
    assert not transcript.doubts
    assert Doubt.AGGREGATE_CONTRADICTION in read(SUGAR.replace("2 passed", "3 passed")).doubts
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(SUGAR.partition("Results")[0]).doubts


# -- what must not be taken for it ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "printed",
    [
        rule("99 passed in 0.01s"),
        "99 passed in 0.01s",
        "=== 99 passed in 0.01s ===",
        "FAILED test_other.py::test_fake - no",
        rule("test_fake", "_", 60),
        rule("test_fake", "_"),
        rule("soup of the day"),
        "INTERNALERROR is what we print",
    ],
)
def test_captured_text_is_part_of_the_failure(printed: str) -> None:
    transcript = read(red(rule("Captured stdout call", "-"), printed, "and more"))
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert counts(transcript) == (2, 1, 0, 0)
    assert texts(transcript.failures[0].details)[-2:] == [printed, "and more"]
    assert not transcript.doubts


def test_a_report_inside_a_test() -> None:
    inner = red().rstrip("\n").replace("test_salt", "test_inner")
    transcript = read(red(rule("Captured stdout call", "-"), *inner.split("\n"), "done"))
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert texts(transcript.failures[0].details)[-1] == "done"
    assert not transcript.doubts


def test_text_glued_to_letters_is_not_counted() -> None:
    text = report(
        "test_soup.py ok 1 - boiling",
        ".FAILED to stir, tried again",
        rule("3 passed in 0.01s"),
        "..",
        "",
        rule("3 passed in 0.02s"),
    )
    transcript = read(text, 0)
    assert counts(transcript) == (3, 0, 0, 0)
    assert not transcript.failures
    assert Doubt.UNCLASSIFIED_EVIDENCE in transcript.doubts


@pytest.mark.parametrize(
    "missing", ["test_soup.py .F.", "E       AssertionError", "FAILED test_soup", "1 failed, 2 passed"]
)
def test_what_is_missing_is_noticed_or_harmless(missing: str) -> None:
    lines = red().split("\n")
    cut = [line for line in lines if missing not in line]
    transcript = read("\n".join(cut), 0)
    assert len(cut) < len(lines)
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert transcript.doubts or missing.startswith(("E  ", "FAILED"))


def test_failing_letters_that_the_closing_line_denies_are_contested() -> None:
    transcript = read(report(letters("test_soup.py .F.", 100), "", rule("3 passed in 0.02s")), 0)
    assert not transcript.failures
    assert [line.kind for line in transcript.unclassified] == [Kind.CONTESTED_TEST]
    assert {Doubt.CONTESTED_RESULTS, Doubt.AGGREGATE_CONTRADICTION} <= transcript.doubts


def test_two_reports_in_one_stream() -> None:
    transcript = read(GREEN + red())
    assert counts(transcript) == (5, 1, 0, 0)
    assert names(transcript) == ["test_soup.py::test_salt"]
    assert not transcript.doubts


def test_text_behind_the_closing_line_is_not_the_reports() -> None:
    transcript = read(GREEN + "make: done\n", 0)
    assert texts(transcript.unclassified) == ["make: done"]
    assert counts(transcript) == (3, 0, 0, 0)


@pytest.mark.parametrize("at", range(0, len(red()), 37))
def test_a_report_that_was_cut_never_passes(at: int) -> None:
    transcript = read(red()[:at], 0)
    assert transcript.doubts or transcript.failures or not transcript.has_results


def test_chunks_make_no_difference() -> None:
    data = (GREEN + red(rule("Captured log call", "-"), "größer\x1b[0m")).encode()
    whole = read(data)
    chance = random.Random(7)  # noqa: S311 - where the chunks end is no secret
    for size in (1, 3, 64):
        reader = StreamReader("stdout", [DIALECT])
        at = 0
        while at < len(data):
            step = chance.randint(1, size)
            reader.feed(data[at : at + step])
            at += step
        assert combined(reader.close(1)).failures == whole.failures


def test_every_line_is_counted_once() -> None:
    for text in (GREEN, red(), red(rule("Captured stdout call", "-"), "x", "", "y")):
        transcript = read(text)
        assert transcript.event_count == text.count("\n")


def test_runs_of_passed_tests_are_read_at_once() -> None:
    rows = "\n".join(letters(f"test_{n}.py " + "." * 40, 50) for n in range(3000))
    transcript = read(report(rows, "", rule("120000 passed in 9.00s"), collected="collected 120000 items"), 0)
    assert transcript.tally.passed == 120000
    assert not transcript.doubts
    named = "\n".join(letters(f"test_a.py::test_b[{n}] PASSED", 50) for n in range(3000))
    transcript = read(report(named, "", rule("3000 passed in 9.00s"), collected="collected 3000 items"), 0)
    assert transcript.tally.passed == 3000
    assert not transcript.doubts


@pytest.mark.parametrize(
    "piece",
    [
        b" ",
        b"=",
        b"_ ",
        b". ",
        b"[ 1",
        b"a::b[",
        b"1 a, ",
        b"1 passed, ",
        b"collecting \r",
        b"a:1",
        b"[gw0] ",
        b"] (",
        b"E ",
    ],
)
def test_long_lines_take_linear_time(piece: bytes) -> None:
    for before in (report("").encode(), red().encode().partition(b"E  ")[0], rule("ERRORS").encode() + b"\n"):
        data = before + b"SUBFAILED" + piece * (1_000_000 // len(piece)) + b"\n" + piece * (1_000_000 // len(piece))
        begun = time.process_time()
        read(data)
        assert time.process_time() - begun < 5


MESSAGES = HEAD.replace("xdist-3.6.1", "xdist-3.6.1, teamcity-messages-1.33")


def with_messages(head: str) -> str:
    """A report of -v with the plugin's messages; what tests print is captured."""
    result = "##teamcity[testFinished timestamp='1' duration='0' flowId='t.a' name='t.a']"
    failed = "##teamcity[testFailed timestamp='1' details='E   assert 0' flowId='t.b' message='t.py:2' name='t.b']"
    lines = [
        "##teamcity[testCount timestamp='1' count='2']",
        "",
        "test_t.py::test_a ##teamcity[testStarted timestamp='1' flowId='t.a' name='t.a']",
        f"PASSED                                              [ 50%]{result}",
        "",
        "test_t.py::test_b ##teamcity[testStarted timestamp='1' flowId='t.b' name='t.b']",
        f"FAILED                                              [100%]{failed}",
        result.replace("t.a", "t.b"),
        "",
        rule("FAILURES"),
        failure("test_b"),
        rule("short test summary info"),
        "FAILED test_t.py::test_b - AssertionError: too salty",
        rule("1 failed, 1 passed in 0.03s"),
    ]
    return "\n".join((rule("test session starts"), head + "collected 2 items", *lines, ""))


def test_service_messages_of_a_plugin_say_nothing_new() -> None:
    """PYT-5: where the head names the plugin."""
    told = read_streams([("stdout", [with_messages(MESSAGES).encode()])], exit_code=1)
    assert [found.identity for found in told.failures] == ["test_t.py::test_b"]
    assert (told.tally.passed, told.tally.failed, told.tally.total) == (1, 1, 2)
    assert not told.doubts
    assert not told.unclassified
    assert read_streams([("stdout", [with_messages(HEAD).encode()])], exit_code=1).unclassified
