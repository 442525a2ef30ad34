"""bats' pretty formatter: the cursor's moves, what stands between them, and what must not be taken for a result."""

from collections.abc import Iterable

import pytest
from run_story import assert_chunks_make_no_difference, assert_every_line_once, judged, names

from context_firewall.transcript.dialects.bats_pretty import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.reader import read_streams, trace_streams

RESET = "\x1b[0m"


def begin(name: str, number: int, of: int) -> str:
    return f"\x1b[1G   {name}\x1b[K\x1b[77G{number}/{of}\x1b[2G"


def passed(name: str) -> str:
    return f"\x1b[1G ✓ {name}\x1b[K\n{RESET}"


def failed(name: str, *said: str) -> str:
    return f"\x1b[31;1m\x1b[1G ✗ {name}\x1b[K\n{RESET}" + "".join(text(line) for line in said)


def skipped(name: str, reason: str = "") -> str:
    return f"\x1b[1G - {name} (skipped{reason and f': {reason}'})\x1b[K\n{RESET}"


def text(line: str) -> str:
    return f"\x1b[31;22m   {line}\n{RESET}"


def file(name: str) -> str:
    return f"\x1b[34;1m{name}\n{RESET}"


def summary(counts: str) -> str:
    return f"\x1b[{32 if ' 0 failures' in counts else 31};1m\n{counts}\n{RESET}"


GREEN = (
    file("nets.bats")
    + begin("mends", 1, 3)
    + passed("mends")
    + begin("dries # twice", 2, 3)
    + skipped("dries # twice", "rain (skipped)")
    + begin("sorts", 3, 3)
    + passed("sorts")
    + summary("3 tests, 0 failures, 1 skipped")
)
RED = (
    file("nets.bats")
    + begin("mends", 1, 2)
    + failed("mends", "(in test file nets.bats, line 4)", "  `[ 1 -eq 2 ]' failed", "2 tests, 0 failures", " ✓ mends")
    + begin("sorts", 2, 2)
    + passed("sorts")
    + summary("2 tests, 1 failure")
)
WARNED = (
    "\nThe following warnings were encountered during tests:\nBW01: `run`'s command …\n      (from function `run'\n"
)


def read(stdout: str, exit_code: int | None = 1, stderr: str = "") -> Transcript:
    return read_streams([("stdout", [stdout.encode()]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def verdict(stdout: str, exit_code: int = 0, stderr: str = "") -> tuple[str, list[str]]:
    """Status and reasons."""
    return judged(exit_code, stdout=stdout, stderr=stderr)


def bares(lines: Iterable[Line]) -> list[str]:
    return [bare(line.raw).decode() for line in lines]


def tally(transcript: Transcript) -> tuple[int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("nets.bats", True),
        ("   mends1/2 ✓ mends", True),
        ("   mends 1/12 ✗ mends", True),
        ("   mends 1/12 in 3 sec ✓ mends [12]", True),
        ("   mends1/2", True),
        (" ✗ setup_file failed", True),
        (" ✓ mends", False),
        ("   mends", False),
        ("test/nets.bats", True),
        ("bats nets.bats", False),
    ],
)
def test_openings(line: str, opens: bool) -> None:
    assert DIALECT.opens(line.encode()) is opens


def test_green() -> None:
    """BATS-3"""
    assert tally(read(GREEN, 0)) == (2, 0, 1)
    assert verdict(GREEN) == ("passed", [])


def test_region() -> None:
    """BATS-1: what a failing test prints can not look like a result or a summary."""
    found = read(RED)
    assert names(found) == ["mends"]
    assert bares(found.failures[0].details)[-2:] == ["   2 tests, 0 failures", "    ✓ mends"]
    assert tally(found) == (1, 1, 0)
    assert not found.doubts


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_times_and_long_names(ending: str) -> None:
    run = (
        "\x1b[1G   mends the n...\x1b[K\x1b[60G1/1 in 0 sec\x1b[2G\x1b[1G ✓ mends the nets\x1b[32;22m [12]\x1b[K\n"
        + RESET
        + summary("1 test, 0 failures in 1 seconds")
    )
    assert verdict(run.replace("\n", ending)) == ("passed", [])


def test_the_number_before_a_name_behind_a_failed_file() -> None:
    run = RED.replace("   sorts", "   begin 2 sorts")
    assert tally(read(run)) == (1, 1, 0)


def test_a_file_hook() -> None:
    """BATS-4"""
    run = file("race.bats") + failed("setup_file failed", "(in file race.bats, line 2)", "  `open' failed")
    run += f"{RESET}   bats warning: Executed 1 instead of expected 2 tests\n" + summary(
        "2 tests, 1 failure, 1 not run"
    )
    found = read(run)
    assert names(found) == ["setup_file failed: (in file race.bats, line 2)"]
    assert bares(found.warnings) == ["   bats warning: Executed 1 instead of expected 2 tests"]
    assert tally(found) == (0, 1, 0)
    assert verdict(run, 1) == ("failed", [])


def test_a_test_without_a_result() -> None:
    """BATS-4"""
    run = begin("mends", 1, 2) + begin("sorts", 2, 2) + passed("sorts")
    run += f"{RESET}   bats warning: Executed 1 instead of expected 2 tests\n" + summary(
        "2 tests, 0 failures, 1 not run"
    )
    found = read(run)
    assert names(found) == ["bats warning: Executed 1 instead of expected 2 tests"]
    assert tally(found) == (1, 0, 0)


def test_what_a_test_prints_past_bats() -> None:
    """BATS-2"""
    printed = "\n   4 knots\n2 tests, 0 failures\n\x1b[3A"
    assert verdict(GREEN.replace(passed("mends"), printed + passed("mends") + "\x1b[2B")) == ("passed", [])
    found = read(RED.replace("\x1b[31;1m\x1b[1G ✗ mends", printed + "\x1b[31;1m\x1b[1G ✗ mends"))
    assert bares(found.failures[0].details)[:2] == ["   4 knots", "2 tests, 0 failures"]


@pytest.mark.parametrize("forged", [failed("- sinks"), passed("- floats"), failed("setup_file failed")])
def test_a_result_that_a_test_prints(forged: str) -> None:
    """BATS-2"""
    run = GREEN.replace(passed("sorts"), forged + passed("sorts"))
    status, reasons = verdict(run)
    assert status == "indeterminate"
    assert "CONTESTED_RESULTS" in reasons


def test_an_interrupt() -> None:
    run = RED.replace("\x1b[31;1m\n2 tests", f"\n{text('Received SIGINT, aborting ...')}\x1b[31;1m\n2 tests")
    assert bares(read(run).fatal_errors) == ["   Received SIGINT, aborting ..."]


def test_warnings_about_tests() -> None:
    """BATS-5"""
    assert verdict(GREEN, 0, WARNED) == ("passed", [])
    assert verdict(GREEN + WARNED) == ("passed", [])
    assert len(read(GREEN, 0, WARNED).warnings) == 3
    assert verdict(GREEN, 0, "spilt\n" + WARNED)[0] == "indeterminate"
    assert len(read("1..1\nok 1 mends\n", 0, WARNED).warnings) == 3
    assert verdict("1..1\nok 1 mends\n\n" + WARNED) == ("passed", [])
    assert len(read("1..1\nok 1 mends\n\n" + WARNED).warnings) == 3


def test_tap_that_bats_counts_otherwise() -> None:
    """TAP-22"""
    warning = "# bats warning: Executed 3 instead of expected 2 tests\n"
    assert verdict("1..2\nok 1 mends\nok 2 sorts\n" + warning)[1] == ["PLAN_CONTRADICTION"]
    block = "  ---\n  message: |\n    bats warning: Executed 3 instead of expected 2 tests\n  ...\n"
    assert verdict("TAP version 13\n1..2\nok 1 mends\nok 2 sorts\n" + block)[1] == ["PLAN_CONTRADICTION"]


@pytest.mark.parametrize("mark", ["TODO", "SKIP it", "skip"])
def test_a_name_that_ends_like_a_directive(mark: str) -> None:
    """TAP-24"""
    point = f"1..2\nok 1 mends\nnot ok 2 sorts # {mark}\n"
    place = "# (in test file nets.bats, line 4)\n#   `false' failed\n"
    found = read(point + place, 1)
    assert names(found) == [f"sorts # {mark}"]
    assert tally(found) == (1, 1, 0)
    assert verdict(point + place, 1) == ("failed", [])
    block = "  ---\n  message: |\n    (in test file nets.bats, line 4)\n      `false' failed\n  ...\n"
    assert names(read("TAP version 13\n" + point + block, 1)) == [f"sorts # {mark}"]
    assert names(read(point + "# why not\n")) == []


def test_tap_hook_without_a_reason() -> None:
    """TAP-20"""
    assert verdict("1..2\nok 1 mends\nnot ok 2 setup_file failed\n", 1)[1] == ["COMPLETENESS_UNCONFIRMED"]


# -- what would make it lie -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(1, len(GREEN) - len(RESET) - 1, 3))
def test_no_cut_is_green(cut: int) -> None:
    """BATS-3"""
    assert verdict(GREEN[:cut])[0] != "passed"


@pytest.mark.parametrize("gone", range(len(RED.split("\n")) - 1))
def test_no_lost_line_makes_a_failure_pass(gone: int) -> None:
    """BATS-3"""
    lines = RED.split("\n")
    status, reasons = verdict("\n".join(lines[:gone] + lines[gone + 1 :]))
    assert status != "passed"
    assert reasons


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2 tests, 1 failure", "3 tests, 1 failure"),
        ("2 tests, 1 failure", "2 tests, 0 failures"),
        ("1 failure\n", "x\n"),
    ],
)
def test_summaries_that_do_not_agree(old: str, new: str) -> None:
    """BATS-3"""
    found = read(RED.replace(f"\n{old}", f"\n{new}") if "tests" in old else RED.replace(old, new))
    assert {Doubt.AGGREGATE_CONTRADICTION, Doubt.COMPLETENESS_UNCONFIRMED} & found.doubts


def test_an_early_summary() -> None:
    run = GREEN.replace(begin("sorts", 3, 3), summary("2 tests, 0 failures") + begin("sorts", 3, 3))
    assert verdict(run)[0] == "indeterminate"


def test_two_runs_in_one_stream() -> None:
    assert verdict(GREEN + GREEN) == ("passed", [])
    assert names(read(GREEN + RED)) == ["mends"]


@pytest.mark.parametrize("run", [GREEN, RED, GREEN + WARNED, RED + "more\n", RED.replace("✓ sorts", "✓ floats")])
def test_every_line_once(run: str) -> None:
    """P3"""
    assert_every_line_once(stdout=run)


def test_chunks_make_no_difference() -> None:
    """READ-3"""
    assert_chunks_make_no_difference(GREEN + RED)


def test_a_lane_counts_what_lines_would() -> None:
    run = file("nets.bats") + "".join(begin(f"net {n}", n, 3000) + passed(f"net {n}") for n in range(1, 3001))
    run += summary("3000 tests, 0 failures")
    assert tally(read(run, 0)) == (3000, 0, 0)
    assert trace_streams([("stdout", [run.encode()])], exit_code=0)[0] == read(run, 0)
    assert Kind.SUCCESSFUL_TEST in read(run, 0).suppressed


@pytest.mark.parametrize("trailer", [" # skip", " # skip no rope"])
def test_a_skipped_test_whose_teardown_fails(trailer: str) -> None:
    """BATS-2: bats writes the skip behind its name."""
    run = file("nets.bats") + begin("mends", 1, 1) + failed("mends" + trailer, "(from function `teardown'")
    run += summary("1 test, 1 failure")
    assert verdict(run, 1) == ("failed", [])
    assert names(read(run)) == ["mends"]
    other = run.replace("   mends", "   sorts")
    assert "CONTESTED_RESULTS" in verdict(other, 1)[1]


def test_output_of_tests_that_passed_is_the_programs() -> None:
    """BATS-2: --show-output-of-passing-tests."""
    shown = f"\x1b[0m   hauling\n{RESET}"
    run = GREEN.replace(passed("mends"), passed("mends") + shown + shown).replace(
        passed("sorts"), passed("sorts") + shown
    )
    assert verdict(run) == ("passed", [])
    beside = GREEN.replace(passed("mends"), passed("mends") + "   hauling\n")
    assert verdict(beside) == ("indeterminate", ["UNCLASSIFIED_EVIDENCE"])
