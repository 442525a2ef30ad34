"""cargo-nextest's report for people, and what must not be taken for it."""

import pytest
from run_story import assert_chunks_make_no_difference, assert_every_line_once, judged, names, texts

from context_firewall.transcript.dialects.nextest import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.reader import read_streams, trace_streams

RULER = "────────────\n"
BUILD = "   Compiling tile v0.1.0 (/srv/tile)\n    Finished `test` profile [unoptimized] target(s) in 0.31s\n"
HEAD = (
    BUILD
    + RULER
    + " Nextest run ID 0c7e9d35-94b1 with nextest profile: default\n"
    + "    Starting 3 tests across 1 binary (1 test skipped)\n"
)
OUTPUT = (
    "  stdout ───\n\n    running 1 test\n            PASS [   0.001s] (2/3) tile fires\n    ────────────\n"
    "         Summary [   0.001s] 3 tests run: 3 passed, 0 skipped\n\n  stderr ───\n\n"
    "    thread 'fires' panicked at src/lib.rs:9:5:\n    it cracked\n\n"
)
FIRES = "        FAIL [   0.005s] (2/3) tile fires\n"
PASSES = "        PASS [   0.004s] (1/3) tile glazes\n", "        PASS [   0.104s] (3/3) tile::kiln cools\n"
RED = (
    f"{HEAD}{PASSES[0]}{FIRES}{OUTPUT}  Cancelling due to test failure: 1 test still running\n{PASSES[1]}{RULER}"
    f"     Summary [   0.110s] 3 tests run: 2 passed, 1 failed, 1 skipped\n{FIRES}error: test run failed\n"
)
GREEN = (
    f"{HEAD}{PASSES[0]}        PASS [   0.005s] (2/3) tile fires\n{PASSES[1]}{RULER}"
    "     Summary [   0.110s] 3 tests run: 3 passed, 1 skipped\n"
)


def read(text: str, exit_code: int | None = 100, stdout: str = "") -> Transcript:
    return read_streams([("stdout", [stdout.encode()]), ("stderr", [text.encode()])], exit_code=exit_code)


def verdict(text: str, exit_code: int = 0, stdout: str = "") -> tuple[str, list[str]]:
    """Status and reasons."""
    return judged(exit_code, stdout=stdout, stderr=text)


def tally(transcript: Transcript) -> tuple[int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("    Starting 3 tests across 1 binary", True),
        (" Nextest run ID 0c7e-94 with nextest profile: ci", True),
        ("        PASS [   0.004s] tile glazes", True),
        ("        PASS [   0.004s] (1/3) tile glazes", True),
        ("  TRY 1 FAIL [   0.004s] tile glazes", True),
        ("     Summary [   0.110s] 3 tests run: 3 passed, 1 skipped", True),
        ("PASS [   0.004s] tile glazes", False),
        ("────────────", False),
        ("    Starting server", False),
    ],
)
def test_openings(line: str, opens: bool) -> None:
    assert DIALECT.opens(line.encode()) is opens


def test_green() -> None:
    """NXT-1"""
    assert tally(read(GREEN, 0)) == (3, 0, 1)
    assert verdict(GREEN) == ("passed", [])


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_either_stream(stream: str) -> None:
    found = read_streams([(stream, [RED.encode()])], exit_code=100)
    assert names(found) == ["tile fires"]
    assert not found.doubts


def test_region() -> None:
    """NXT-2"""
    found = read(RED)
    assert names(found) == ["tile fires"]
    assert texts(found.failures[0].lines()) == (FIRES + OUTPUT).rstrip("\n").split("\n")
    assert texts(found.warnings) == ["  Cancelling due to test failure: 1 test still running"]
    assert verdict(RED, 100) == ("failed", [])


def test_output_below_the_summary() -> None:
    """NXT-2"""
    late = RED.replace(OUTPUT, "").replace(f"{FIRES}error", f"{FIRES}{OUTPUT}error")
    assert "    it cracked" in texts(read(late).failures[0].details)
    quiet = late.replace(f"{FIRES}  Cancelling", "  Cancelling")
    assert names(read(quiet)) == ["tile fires"]
    assert not read(quiet).doubts


@pytest.mark.parametrize("word", ["     TIMEOUT", "     SIGSEGV", "       ABORT", "   LEAK-FAIL", "       XFAIL"])
def test_ways_to_fail(word: str) -> None:
    assert names(read(RED.replace("        FAIL", word))) == ["tile fires"]


def test_tries() -> None:
    """NXT-3"""
    again = f"  TRY 1 FAIL [   0.1s] tile fires\n{OUTPUT}"
    run = f"{HEAD}{PASSES[0]}{again}  TRY 2 PASS [   0.1s] tile fires\n{PASSES[1]}{RULER}"
    run += "     Summary [   0.110s] 3 tests run: 3 passed (1 flaky), 1 skipped\n   FLAKY 2/2 [   0.1s] tile fires\n"
    assert tally(read(run, 0)) == (3, 0, 1)
    assert verdict(run) == ("passed", [])
    failing = RED.replace(FIRES + OUTPUT, f"{again}  TRY 2 FAIL [   0.1s] tile fires\n")
    assert names(read(failing)) == ["tile fires"]
    assert not read(failing).doubts


def test_tests_that_did_not_run() -> None:
    """NXT-1"""
    run = GREEN.replace("3 tests run: 3 passed", "2/3 tests run: 2 passed").replace(PASSES[1], "")
    assert verdict(run)[0] == "indeterminate"
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(run, 0).doubts


def test_no_tests() -> None:
    """NXT-1"""
    run = f"{BUILD}{RULER}    Starting 0 tests across 0 binaries\n{RULER}"
    run += "     Summary [   0.000s] 0 tests run: 0 passed, 0 skipped\nerror: no tests to run\n"
    assert Doubt.NO_TEST_EVIDENCE in read(run, 4).doubts


def test_standard_output_is_the_programs() -> None:
    """NXT-4"""
    assert verdict(GREEN, 0, "baked\n") == ("passed", [])


# -- what would make it lie -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(1, len(GREEN) - 3, 5))
def test_no_cut_is_green(cut: int) -> None:
    """NXT-1"""
    assert verdict(GREEN[:cut])[0] != "passed"


@pytest.mark.parametrize("gone", range(len(RED.split("\n")) - 1))
def test_no_lost_line_makes_a_failure_pass(gone: int) -> None:
    """NXT-1"""
    lines = RED.split("\n")
    status, reasons = verdict("\n".join(lines[:gone] + lines[gone + 1 :]))
    assert status != "passed"
    assert reasons


@pytest.mark.parametrize(
    ("old", "new", "doubt"),
    [
        ("2 passed, 1 failed", "2 passed, 2 failed", Doubt.AGGREGATE_CONTRADICTION),
        ("2 passed, 1 failed", "3 passed", Doubt.AGGREGATE_CONTRADICTION),
        ("Starting 3", "Starting 4", Doubt.AGGREGATE_CONTRADICTION),
        (f"{FIRES}error", "error", None),
        (f"{FIRES}error", f"{FIRES}{FIRES}error", Doubt.RECAP_CONTRADICTION),
        (f"{FIRES}error", f"{FIRES.replace('fires', 'dries')}error", Doubt.RECAP_CONTRADICTION),
        (PASSES[0], "", Doubt.AGGREGATE_CONTRADICTION),
    ],
)
def test_contradictions(old: str, new: str, doubt: Doubt | None) -> None:
    """NXT-1"""
    found = read(RED.replace(old, new)).doubts
    assert doubt in found if doubt is not None else not found


def test_a_summary_that_a_test_prints_without_indentation() -> None:
    """NXT-1: older versions do not indent what a test prints."""
    run = RED.replace("    ────────────\n     ", "────────────\n")
    found = read(run)
    assert tally(found) == (2, 1, 1)
    assert verdict(run[: run.index("\n\n  stderr")])[0] != "passed"


def test_two_runs_in_one_stream() -> None:
    assert verdict(GREEN + GREEN) == ("passed", [])
    assert tally(read(GREEN + RED)) == (5, 1, 2)


@pytest.mark.parametrize("run", [GREEN, RED, RED + "more\n", RED[:300], RULER + GREEN])
def test_every_line_once(run: str) -> None:
    """P3"""
    assert_every_line_once(stderr=run)


def test_chunks_make_no_difference() -> None:
    """READ-3"""
    assert_chunks_make_no_difference(GREEN + RED, "stderr")


def test_a_lane_counts_what_lines_would() -> None:
    run = "".join(f"        PASS [   0.004s] tile glaze::n{n}\n" for n in range(3000))
    run += f"{RULER}     Summary [   0.110s] 3000 tests run: 3000 passed, 0 skipped\n"
    assert tally(read(run, 0)) == (3000, 0, 0)
    assert trace_streams([("stderr", [run.encode()])], exit_code=0)[0] == read_streams(
        [("stderr", [run.encode()])], exit_code=0
    )
