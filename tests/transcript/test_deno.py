"""deno test's reporters for people, and what must not be taken for their totals."""

import pytest
from run_story import assert_chunks_make_no_difference, assert_every_line_once, judged, names, texts

from context_firewall.transcript.dialects import REGISTRY
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.reader import read_streams

DIVES = "dives => ./otter_test.ts:4:6\nerror: AssertionError: too shallow\n    at file:///srv/otter_test.ts:5:3\n\n"
FLOATS = "floats ... on its back => ./otter_test.ts:9:11\nerror: Error: it sank\n\n"
LIST = "dives => ./otter_test.ts:4:6\nfloats ... on its back => ./otter_test.ts:9:11\n"
BODY = (
    "running 4 tests from ./otter_test.ts\ndives ... FAILED (2ms)\nfloats ...\n  on its back ... FAILED (1ms)\n"
    "floats ... FAILED (due to 1 failed step) (2ms)\nswims ... ok (1ms)\nsleeps ... ignored (0ms)\n"
)
TOTALS = "FAILED | 1 passed | 2 failed (1 step) | 1 ignored (12ms)\n"
RED = f"{BODY}\n ERRORS \n\n{DIVES}{FLOATS} FAILURES \n\n{LIST}\n{TOTALS}\n"
GREEN = (
    "running 2 tests from ./otter_test.ts\nswims ... ok (1ms)\nsleeps ... ignored (0ms)\n\n"
    "ok | 1 passed | 0 failed | 1 ignored (2ms)\n\n"
)
DOTS = ".\n,\n.\n\nok | 2 passed (1 step) | 0 failed | 1 ignored (2ms)\n\n"


def read(stdout: str, exit_code: int | None = 1, stderr: str = "") -> Transcript:
    return read_streams([("stdout", [stdout.encode()]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def verdict(stdout: str, exit_code: int = 0, stderr: str = "") -> tuple[str, list[str]]:
    """Status and reasons."""
    return judged(exit_code, stdout=stdout, stderr=stderr)


def tally(transcript: Transcript) -> tuple[int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped


@pytest.mark.parametrize(
    ("line", "dialects"),
    [
        ("running 4 tests from ./otter_test.ts", ["deno"]),
        (" ERRORS ", ["deno"]),
        ("ok | 4 passed (3 steps) | 0 failed (8ms)", ["deno"]),
        ("FAILED | 1 passed | 2 failed (1 step) (12ms)", ["deno"]),
        ("running 4 tests", ["cargo"]),
        ("ok 4 passed", ["tap"]),
        ("ERRORS", []),
    ],
)
def test_openings(line: str, dialects: list[str]) -> None:
    assert [row.name for row in REGISTRY if row.opens(line.encode())] == dialects


@pytest.mark.parametrize(("run", "counts"), [(GREEN, (1, 0, 1)), (DOTS, (2, 0, 1))])
def test_green(run: str, counts: tuple[int, int, int]) -> None:
    """DENO-1"""
    assert tally(read(run, 0)) == counts
    assert verdict(run) == ("passed", [])


def test_accounts_are_the_regions() -> None:
    """DENO-2: a test that fails through its steps has none."""
    found = read(RED)
    assert names(found) == ["dives", "floats ... on its back"]
    assert texts(found.failures[0].lines()) == DIVES.rstrip("\n").split("\n")
    assert tally(found) == (1, 2, 1)
    assert verdict(RED, 1, "error: Test failed\n") == ("failed", [])


def test_an_error_outside_of_tests() -> None:
    """DENO-2"""
    title = "./mud_test.ts (uncaught error)"
    run = f"running 1 test from ./otter_test.ts\nswims ... ok (1ms)\n\n ERRORS \n\n{title}\nerror: Error: stuck\n\n"
    run += f" FAILURES \n\n{title}\n\nFAILED | 1 passed | 0 failed (2ms)\n"
    assert names(read(run)) == ["./mud_test.ts"]
    assert verdict(run, 1, "error: Test failed\n") == ("failed", [])


def test_what_tests_print() -> None:
    """DENO-1"""
    printed = "not ok 1\nok | 9 passed | 0 failed (1ms)\nrunning water\n"
    assert verdict(GREEN.replace("swims ...", printed + "swims ...")) == ("passed", [])


# -- what would make it lie -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(1, len(GREEN) - 2))
def test_no_cut_is_green(cut: int) -> None:
    """DENO-1"""
    assert verdict(GREEN[:cut])[0] != "passed"


@pytest.mark.parametrize("gone", range(len(RED.split("\n")) - 1))
def test_no_lost_line_makes_a_failure_pass(gone: int) -> None:
    """DENO-1"""
    lines = RED.split("\n")
    status, reasons = verdict("\n".join(lines[:gone] + lines[gone + 1 :]))
    assert status != "passed"
    assert reasons


@pytest.mark.parametrize(
    ("old", "new", "doubt"),
    [
        (TOTALS, TOTALS.replace("1 passed", "2 passed"), Doubt.AGGREGATE_CONTRADICTION),
        (TOTALS, TOTALS.replace("FAILED", "ok"), Doubt.AGGREGATE_CONTRADICTION),
        (TOTALS, TOTALS + TOTALS, Doubt.AGGREGATE_CONTRADICTION),
        (FLOATS, "", Doubt.RECAP_CONTRADICTION),
        (LIST, LIST.partition("\n")[2], Doubt.RECAP_CONTRADICTION),
        (f" ERRORS \n\n{DIVES}{FLOATS} FAILURES \n\n{LIST}", "", Doubt.COMPLETENESS_UNCONFIRMED),
        (TOTALS, "", Doubt.COMPLETENESS_UNCONFIRMED),
    ],
)
def test_contradictions(old: str, new: str, doubt: Doubt) -> None:
    """DENO-1"""
    assert doubt in read(RED.replace(old, new)).doubts


def test_totals_in_an_error() -> None:
    """DENO-2"""
    found = read(RED.replace("error: Error: it sank\n", "error: Error: it sank\nok | 9 passed | 0 failed (1ms)\n"))
    assert tally(found) == (1, 2, 1)
    assert "ok | 9 passed | 0 failed (1ms)" in texts(found.failures[1].details)


def test_a_run_that_breaks_off() -> None:
    found = read(BODY[: BODY.index("swims")])
    assert names(found) == ["dives", "on its back", "floats"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in found.doubts


def test_two_runs_in_one_stream() -> None:
    assert verdict(GREEN + GREEN) == ("passed", [])
    assert tally(read(GREEN + RED)) == (2, 2, 2)


@pytest.mark.parametrize("run", [GREEN, RED, DOTS, BODY, RED + "more\n"])
def test_every_line_once(run: str) -> None:
    """P3"""
    assert_every_line_once(stdout=run)


def test_chunks_make_no_difference() -> None:
    """READ-3"""
    assert_chunks_make_no_difference(GREEN + RED)
