"""ava's default reporter: every form it takes, and what must not be taken for it."""

import pytest
from run_story import assert_chunks_make_no_difference, assert_every_line_once, judged, names, texts

from context_firewall.transcript.dialects.ava import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams


def account(title: str, *lines: str) -> str:
    return f"  {title}\n\n" + "".join(f"  {line}\n" if line else "\n" for line in lines) + "\n"


PROOFS = account("rye › proofs", "test/rye.test.js:9", "", "  8: {", "  9:   t.is(1, 2);", " 10: }", "", "- 1", "+ 2")
SPLITS = account("rye › splits", "Error thrown in test:", "", "'at the seam'")
RESULTS = (
    "\n  ✔ rye › is mixed (3s)\n  ✘ [fail]: rye › proofs\n  ✘ [fail]: rye › splits Error thrown in test\n"
    "  ✔ rye › rests\n"
)
RED = f"{RESULTS}  ─\n\n{PROOFS}\n\n{SPLITS}  ─\n\n  2 tests failed\n"
GREEN = (
    "\n  - [skip] rye › keeps\n  - [todo] rye › sells\n  ✔ rye › is mixed\n    ℹ sour\n      and wet\n"
    "  ✔ [expected fail] rye › floats\n  ─\n\n  1 test passed\n  1 known failure\n  1 test skipped\n  1 test todo\n"
)


def read(stdout: str, exit_code: int | None = 1, stderr: str = "") -> Transcript:
    return read_streams([("stdout", [stdout.encode()]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def verdict(stdout: str, exit_code: int = 0, stderr: str = "") -> tuple[str, list[str]]:
    """Status and reasons."""
    return judged(exit_code, stdout=stdout, stderr=stderr)


def tally(transcript: Transcript) -> tuple[int, int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped, found.todo


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("  ✔ rye › proofs", True),
        ("  ✘ [fail]: proofs", True),
        ("  ✖ [fail]: proofs", True),
        ("  ✔ [expected fail] proofs", True),
        ("  - [skip] proofs", True),
        ("  ─", True),
        ("  ✘ No tests found in rye.test.js", True),
        ("  ✔ proofs", False),
        ("✔ rye › proofs", False),
        ("  ✘ proofs", False),
        ("  ──", False),
    ],
)
def test_openings(line: str, opens: bool) -> None:
    assert DIALECT.opens(line.encode()) is opens


def test_green() -> None:
    """AVA-1"""
    found = read(GREEN, 0)
    assert tally(found) == (1, 0, 1, 2)
    assert texts(found.todo) == ["  - [todo] rye › sells", "  ✔ [expected fail] rye › floats"]
    assert verdict(GREEN) == ("passed", [])


def test_the_only_file_has_no_name() -> None:
    assert verdict("\n  ✔ is mixed\n  ✔ rests\n  ─\n\n  2 tests passed\n") == ("passed", [])


def test_accounts_are_the_regions() -> None:
    """AVA-2"""
    found = read(RED)
    assert names(found) == ["rye › proofs", "rye › splits"]
    assert texts(found.failures[0].lines()) == PROOFS.rstrip("\n").split("\n")
    assert tally(found) == (2, 2, 0, 0)


def test_passed_tests_of_a_failing_run_are_not_confirmed() -> None:
    """AVA-1"""
    assert read(RED).doubts == {Doubt.COUNTS_UNCONFIRMED}
    only = RED.replace("  ✔ rye › is mixed (3s)\n", "").replace("  ✔ rye › rests\n", "")
    assert read(only).doubts == {Doubt.COUNTS_UNCONFIRMED}  # the only line of one that passed may be lost


def test_context() -> None:
    """KIND: source lines around the failing one, empty lines, frames of ava and of Node."""
    frames = "    at file:///srv/rye.test.js:3:1", "    at Test.run (file:///srv/node_modules/ava/lib/test.js:1:1)"
    run = RED.replace("  'at the seam'\n", "".join(f"  {frame}\n" for frame in frames))
    kinds = {line.text.strip(): line.kind for failure in read(run).failures for line in failure.details}
    assert kinds["8: {"] is Kind.FAILURE_CONTEXT
    assert kinds["9:   t.is(1, 2);"] is Kind.FAILURE_DETAIL
    assert kinds[frames[1].strip()] is Kind.FAILURE_CONTEXT
    assert kinds[frames[0].strip()] is Kind.STACK_TRACE


def test_a_message_of_several_lines() -> None:
    """AVA-2: the result's further lines are recaps if the account has them."""
    run = RED.replace("Error thrown in test\n", "Error thrown in test\n  'at the seam'\n", 1)
    assert not read(run).unclassified
    assert texts(read(run.replace("'at the seam'\n", "'elsewhere'\n", 1)).unclassified) == ["  'elsewhere'"]


def test_logs_of_a_failing_test() -> None:
    run = RED.replace("rye › proofs\n", "rye › proofs\n    ℹ sour\n", 1)
    assert "    ℹ sour" in texts(read(run).failures[0].details)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("  ✘ No tests found in test/salt.test.js", "test/salt.test.js"),
        (
            '  ✘ No tests found in test/salt.test.js, make sure to import "ava" at the top of your test file',
            "test/salt.test.js",
        ),
        ("  ✘ test/salt.test.js exited with a non-zero exit code: 3", "test/salt.test.js"),
        ("  ✘ test/salt.test.js exited due to SIGKILL", "test/salt.test.js"),
        ("  ✘ Exiting due to process.exit() when running test/salt.test.js", "test/salt.test.js"),
        ("  ✘ Internal error when running test/salt.test.js", "test/salt.test.js"),
    ],
)
def test_files_that_break(line: str, name: str) -> None:
    """AVA-3"""
    run = f"\n  ✔ rye › is mixed\n{line}\n  ─\n\n  1 test passed\n"
    assert names(read(run)) == [name]
    assert verdict(run, 1) == ("failed", [])
    assert (verdict(run)[0] == "failed") is not line.endswith("in test/salt.test.js")


def test_a_file_without_tests_fails_no_run_that_has_others() -> None:
    """AVA-3: ava's own exit status is 0 then; but not for a file that does not import it."""
    line = "  ✘ No tests found in test/salt.test.js"
    found = read(f"\n  ✔ rye › is mixed\n{line}\n  ─\n\n  1 test passed\n", 0)
    assert texts(found.warnings) == [line]
    assert not found.failures
    assert not found.doubts


OLD = """
  ✖ rye › proofs Error thrown in test
    ℹ sour
  - rye › is sliced
  - rye › sells
  ✔ rye › is mixed
  ✔ rye › floats
  ─

  rye › proofs

  rye.test.js:9

   9:   t.is(1, 2);

  Difference:

  - 1
  + 2

  › rye.test.js:9:5

  ─

  1 test failed
  1 known failure
  1 test skipped
  1 test todo
"""
OLD_GREEN = """
  - is sliced
  - sells
  ✔ is mixed
  ✔ floats
  ─

  1 test passed
  1 known failure
  1 test skipped
  1 test todo
"""


def test_results_without_marks() -> None:
    """AVA-5: before ava 5 the totals alone divide them."""
    found = read(OLD)
    assert names(found) == ["rye › proofs"]
    assert tally(found) == (1, 1, 1, 2)
    assert found.doubts == {Doubt.COUNTS_UNCONFIRMED}
    assert texts(found.todo) == ["  - rye › is sliced", "  - rye › sells"]
    green = read(OLD_GREEN, 0)
    assert tally(green) == (1, 0, 1, 2)
    assert verdict(OLD_GREEN) == ("passed", [])
    skipped = read(OLD_GREEN.replace("1 test skipped\n  1 test todo", "2 tests skipped"), 0)
    assert tally(skipped) == (1, 0, 2, 1)
    assert not skipped.todo


@pytest.mark.parametrize("run", [OLD, OLD_GREEN], ids=["red", "green"])
def test_lines_lost_from_results_without_marks(run: str) -> None:
    lines = run.splitlines(keepends=True)
    for gone in range(len(lines)):
        if lines[gone].strip():
            status, reasons = verdict("".join(lines[:gone] + lines[gone + 1 :]))
            assert status != "passed" or reasons
    for at in range(len(lines)):
        status, reasons = verdict("".join(lines[:at]))
        assert status != "passed" or reasons


def test_lines_without_marks_among_marked_ones_are_text() -> None:
    found = read(RED.replace("  ─\n", "  - a list of somebody's\n  ✖ a cross\n  ─\n", 1))
    assert names(found) == ["rye › proofs", "rye › splits"]
    assert texts(found.unclassified) == ["  - a list of somebody's", "  ✖ a cross"]


def test_an_error_outside_of_the_tests_of_one_file() -> None:
    """AVA-3: what stands before the line that ends the results is read with it."""
    error = "  Unhandled rejection in rye.test.js\n\n  Error: nobody\n\n"
    run = f"\n  ✔ leaves\n\n{error}  ─\n\n  1 test passed\n  1 unhandled rejection\n"
    found = read(run)
    assert names(found) == ["rye.test.js"]
    assert "  Error: nobody" in texts(found.failures[0].details)
    assert not found.doubts


def test_an_exception_and_the_end_of_its_file_are_one_failure() -> None:
    """AVA-3"""
    run = (
        "\n  ✔ rye › is mixed\n\n  Uncaught exception in test/salt.test.js\n\n  Error: spilt\n\n"
        "  ✘ test/salt.test.js exited with a non-zero exit code: 1\n  ─\n\n  1 test passed\n  1 uncaught exception\n"
    )
    found = read(run)
    assert names(found) == ["test/salt.test.js"]
    assert len(list(found.failures[0].lines())) == 4
    assert not found.doubts


def test_tests_that_hang() -> None:
    """AVA-3"""
    run = (
        "\n  ✔ rye › is mixed\n\n  ✘ Timed out while running tests\n\n  2 tests were pending in rye.test.js\n\n"
        "  ◌ rye › rests\n  ◌ rye › cools\n\n  ─\n\n  1 test passed\n  2 tests remained pending after a timeout\n"
    )
    assert names(read(run)) == ["rye › rests", "rye › cools"]
    assert len(read(run).timeouts) == 1
    lost = run.replace("  ◌ rye › cools\n", "")
    assert Doubt.AGGREGATE_CONTRADICTION in read(lost).doubts


def test_an_interrupt_fails_nothing_that_was_pending() -> None:
    run = RESULTS + "\n  ✘ Exiting due to SIGINT\n\n  2 tests were pending in rye.test.js\n\n  ◌ rye › cools\n\n"
    found = read(f"{run}  ─\n\n{PROOFS}\n\n{SPLITS}  ─\n\n  2 tests failed\n")
    assert names(found) == ["rye › proofs", "rye › splits"]
    assert texts(found.fatal_errors) == ["  ✘ Exiting due to SIGINT"]


@pytest.mark.parametrize(
    "text", ["\n  ✘ Couldn’t find any files to test\n\n", "\n  ✘ No tests found in a.test.js\n  ─\n\n"]
)
def test_nothing_to_run(text: str) -> None:
    """AVA-3"""
    assert verdict(text, 1)[0] == "failed"
    assert len(read(text).failures) == 1


# -- what would make it lie -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(1, len(GREEN) - 1))
def test_no_cut_is_green(cut: int) -> None:
    """AVA-1"""
    assert verdict(GREEN[:cut])[0] != "passed"


@pytest.mark.parametrize("gone", range(1, len(RED.split("\n")) - 1))
def test_no_lost_line_makes_a_failure_pass(gone: int) -> None:
    """AVA-1"""
    lines = RED.split("\n")
    status, reasons = verdict("\n".join(lines[:gone] + lines[gone + 1 :]))
    assert status != "passed"
    assert reasons


def test_totals_in_a_message() -> None:
    """AVA-2: what stands in an account is text."""
    run = RED.replace("  'at the seam'\n", "  'at the seam'\n\n  ─\n\n  9 tests passed\n  and more\n")
    found = read(run)
    assert names(found) == ["rye › proofs", "rye › splits"]
    assert "  9 tests passed" in texts(found.failures[1].details)
    assert found.doubts == {Doubt.COUNTS_UNCONFIRMED}


def test_a_title_in_a_message() -> None:
    run = RED.replace("  + 2\n", "  + 2\n\n  rye › splits\n")
    assert "  rye › splits" in texts(read(run).failures[0].details)


def test_a_printed_failure_is_contested() -> None:
    """AVA-2"""
    found = read(RED.replace("  ✔ rye › rests\n", "  ✔ rye › rests\n  ✘ [fail]: rye › burns\n"))
    assert names(found) == ["rye › proofs", "rye › splits"]
    assert {Doubt.CONTESTED_RESULTS, Doubt.AGGREGATE_CONTRADICTION} <= found.doubts


def test_printed_totals_before_the_end() -> None:
    run = GREEN.replace("  ✔ [expected", "  ─\n\n  1 test passed\n  ✔ [expected")
    assert verdict(run)[0] == "indeterminate"


def test_printed_totals_and_a_cut() -> None:
    run = "\n  ✔ rye › is mixed\n  ✔ rye › rests\n  ─\n\n  1 test passed\n"
    assert verdict(run) == ("indeterminate", ["AGGREGATE_CONTRADICTION"])


@pytest.mark.parametrize("line", ["  1 test skipped\n", "  1 test todo\n", "  1 known failure\n", "  1 test passed\n"])
def test_contradictory_totals(line: str) -> None:
    """AVA-1"""
    assert verdict(GREEN.replace(line, line.replace("1", "2")))[1] == ["AGGREGATE_CONTRADICTION"]
    assert verdict(GREEN.replace(line, ""))[0] == "indeterminate"


def test_accounts_cut_off() -> None:
    """AVA-2"""
    found = read(RED[: RED.index("  rye › splits\n\n")])
    assert names(found) == ["rye › splits Error thrown in test", "rye › proofs"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in found.doubts


def test_two_runs_in_one_stream() -> None:
    assert verdict(GREEN + GREEN) == ("passed", [])
    assert names(read(GREEN + RED)) == ["rye › proofs", "rye › splits"]


def test_standard_error_is_the_programs() -> None:
    """AVA-4"""
    assert verdict(GREEN, 0, "listening\nnot ok 1\n") == ("passed", [])


HUNG = (
    "\n  ✔ a › b\n\n  ✘ Timed out while running tests\n\n  1 tests were pending in a.js\n\n  ◌ a › c\n\n"
    "  ─\n\n  1 test passed\n"
)


@pytest.mark.parametrize(
    "run",
    [
        GREEN,
        RED,
        RESULTS,
        RED + "more\n",
        GREEN.replace("  ─", "x\n  ─"),
        HUNG,
        "      x\n  ✘ No tests found in a.js\n  ─\n",
    ],
)
def test_every_line_once(run: str) -> None:
    """P3"""
    assert_every_line_once(stdout=run)


def test_chunks_make_no_difference() -> None:
    """READ-3"""
    assert_chunks_make_no_difference(GREEN + RED)


def test_a_lane_counts_what_lines_would() -> None:
    run = "\n" + "".join(f"  ✔ rye › {n}\n" for n in range(3000)) + "  ─\n\n  3000 tests passed\n"
    assert tally(read(run, 0)) == (3000, 0, 0, 0)
    assert trace_streams([("stdout", [run.encode()])], exit_code=0)[0] == read(run, 0)
