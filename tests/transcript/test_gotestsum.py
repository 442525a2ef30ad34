"""gotestsum's formats and the summary that they share, and what must not be taken for it."""

import pytest
from run_story import assert_chunks_make_no_difference, assert_every_line_once, judged, names, texts

from context_firewall.transcript.dialects import REGISTRY
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams

LOOM = "=== FAIL: mill/loom TestWeave (0.01s)\n    loom_test.go:9: 7 threads, want 8\n\n"
SILK = "=== FAIL: mill/loom TestWarp/silk (0.00s)\n    loom_test.go:20: it snapped\n\n"
WARP = SILK + "=== FAIL: mill/loom TestWarp (0.00s)\n\n"
FAILED = f"\n=== Failed\n{LOOM}{WARP}"
SKIPPED = "\n=== Skipped\n=== SKIP: mill/dye TestIndigo (0.00s)\n    dye_test.go:4: no vat\n\n"
RED = f"✓  mill/dye (3ms)\n✖  mill/loom (9ms)\n{FAILED}DONE 6 tests, 3 failures in 0.410s\n"
GREEN = f"✓  mill/dye (cached)\n∅  mill/shed\n{SKIPPED}DONE 5 tests, 1 skipped in 0.100s\n"


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
        ("✓  mill/dye (3ms)", ["gotestsum"]),
        ("✖  mill/loom (9ms)", ["gotestsum"]),
        ("∅  mill/shed", ["gotestsum"]),
        ("✓  mill/dye (3ms) (coverage: 80.0% of statements)", ["gotestsum"]),
        ("PASS mill/dye.TestRed/deep (0.00s)", ["gotestsum"]),
        ("EMPTY mill/shed", ["gotestsum"]),
        ("=== Failed", ["gotestsum"]),
        ("DONE 5 tests, 1 skipped in 0.100s", ["gotestsum"]),
        ("✖ weaves (9ms)", ["node-spec"]),
        ("PASS mill/dye.test.js", ["jest"]),
        ("=== RUN   TestWeave", ["go"]),
        ("DONE", []),
        ("✓ weaves", []),
    ],
)
def test_openings(line: str, dialects: list[str]) -> None:
    assert [row.name for row in REGISTRY if row.opens(line.encode())] == dialects


def test_green() -> None:
    """GTS-1"""
    assert tally(read(GREEN, 0)) == (4, 0, 1)
    assert verdict(GREEN) == ("passed", [])


def test_blocks_are_the_failures() -> None:
    """GTS-2: a parent without output failed through its subtest."""
    found = read(RED)
    assert names(found) == ["mill/loom.TestWeave", "mill/loom.TestWarp/silk"]
    assert texts(found.failures[0].lines()) == LOOM.rstrip("\n").split("\n")
    assert tally(found) == (3, 3, 0)
    assert found.suppressed[Kind.DERIVED_FAILURE] == 2
    assert verdict(RED, 1) == ("failed", [])


def test_a_parent_with_output_is_a_failure() -> None:
    """GTS-2"""
    run = RED.replace("TestWarp (0.00s)\n", "TestWarp (0.00s)\n    loom_test.go:30: no warp\n")
    assert names(read(run))[-1] == "mill/loom.TestWarp"


def test_a_package() -> None:
    run = "✖  mill/loom (9ms)\n\n=== Failed\n=== FAIL: mill/loom  (0.00s)\nno mill\n\nDONE 0 tests, 1 failure in 0.1s\n"
    assert names(read(run)) == ["mill/loom"]


def test_results_by_name_are_first_prints() -> None:
    """GTS-3"""
    named = "=== RUN   TestWeave\n    loom_test.go:9: 7 threads, want 8\n--- FAIL: TestWeave (0.01s)\n"
    named += "FAIL mill/loom.TestWeave (0.01s)\n    loom_test.go:20: it snapped\n    said elsewhere\n"
    named += "FAIL mill/loom.TestWarp/silk (0.00s)\nFAIL mill/loom.TestWarp (0.00s)\nFAIL mill/loom\n"
    found = read(f"PASS mill/dye.TestRed (0.00s)\n{named}{FAILED}DONE 6 tests, 3 failures in 0.410s\n")
    assert names(found) == ["mill/loom.TestWeave", "mill/loom.TestWarp/silk"]
    assert "    said elsewhere" in texts(found.failures[1].details)
    assert not found.doubts


def test_a_result_that_the_summary_lacks() -> None:
    """GTS-3"""
    run = f"FAIL mill/loom.TestSpin (0.00s)\n{FAILED}DONE 6 tests, 3 failures in 0.410s\n"
    assert names(read(run))[0] == "mill/loom.TestSpin"
    assert Doubt.RECAP_CONTRADICTION in read(run).doubts


GO = (
    "=== RUN   TestRed\n--- PASS: TestRed (0.00s)\nPASS\nok  \texample.org/mill/dye\t0.003s\n"
    "=== RUN   TestWeave\n    loom_test.go:9: 7 threads, want 8\n--- FAIL: TestWeave (0.01s)\nFAIL\n"
    "FAIL\texample.org/mill/loom\t0.004s\n"
)


def test_gos_own_text_is_a_first_print() -> None:
    """GTS-4"""
    run = f"{GO}\n=== Failed\n{LOOM}DONE 2 tests, 1 failure in 0.2s\n"
    found = read(run)
    assert names(found) == ["mill/loom.TestWeave"]
    assert tally(found) == (1, 1, 0)
    assert verdict(run, 1) == ("failed", [])
    green = GO[: GO.index("=== RUN   TestWeave")] + "\nDONE 1 tests in 0.2s\n"
    assert tally(read(green, 0)) == (1, 0, 0)
    assert verdict(green) == ("passed", [])


def test_what_the_summary_lacks_of_gos_text_is_shown() -> None:
    """GTS-4"""
    said = GO.replace("--- FAIL", "    loom_test.go:10: and knots\n--- FAIL")
    found = read(f"{said}\n=== Failed\n{LOOM}DONE 2 tests, 1 failure in 0.2s\n")
    assert "    loom_test.go:10: and knots" in texts(found.unclassified)


def test_a_test_that_was_running_when_its_process_ended() -> None:
    """GTS-5"""
    run = RED.replace("TestWeave (0.01s)", "TestWeave (unknown)")
    assert read(run).doubts == {Doubt.COUNTS_UNCONFIRMED}


def test_what_the_compiler_says() -> None:
    """GTS-6"""
    run = "\n=== Errors\nmill/loom/loom_test.go:7:2: undefined: weave\n\nDONE 1 tests, 1 error in 0.1s\n"
    assert names(read(run)) == ["mill/loom/loom_test.go:7:2: undefined: weave"]
    assert read(run).doubts == {Doubt.FAILURE_OUTSIDE_TESTS}
    said = "# example.org/mill/loom [example.org/mill/loom.test]\nmill/loom/loom_test.go:7:2: undefined: weave\n"
    assert names(read(run, 1, said)) == ["example.org/mill/loom"]


def test_what_gotestsum_could_not_read_belongs_to_the_package_that_it_names() -> None:
    """GTS-6"""
    run = "\n=== Errors\nmill/loom/loom_test.go:7:2: undefined: weave\n\nDONE 1 tests, 1 error in 0.1s\n"
    said = "# example.org/mill/loom [example.org/mill/loom.test]\nmill/loom/loom_test.go:7:2: undefined: weave\n"
    unread = "".join(
        f"{word}: FAIL\texample.org/mill/{{}} [build failed]\n"
        for word in ("WARN invalid TestEvent", "bad output from test2json")
    )
    found = read(run, 1, unread.format("loom", "loom") + said)
    assert [len(list(one.lines())) for one in found.failures] == [4]
    assert not found.doubts
    assert not found.unclassified
    other = read(run, 1, unread.format("kiln", "kiln") + said)
    assert len(other.unclassified) == 2


def test_reruns() -> None:
    """GTS-5"""
    again = LOOM.replace("(0.01s)", "(0.01s) (re-run 1)")
    run = f"✖  mill/loom (9ms)\n\n=== Failed\n{LOOM}{again}DONE 2 runs, 3 tests, 1 failure in 0.2s\n"
    assert names(read(run)) == ["mill/loom.TestWeave", "mill/loom.TestWeave"]
    assert Doubt.COUNTS_UNCONFIRMED in read(run).doubts


# -- what would make it lie -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(1, len(GREEN) - 2))
def test_no_cut_is_green(cut: int) -> None:
    """GTS-1"""
    assert verdict(GREEN[:cut])[0] != "passed"


@pytest.mark.parametrize("gone", range(len(RED.split("\n")) - 1))
def test_no_lost_line_makes_a_failure_pass(gone: int) -> None:
    """GTS-1"""
    lines = RED.split("\n")
    status, reasons = verdict("\n".join(lines[:gone] + lines[gone + 1 :]))
    assert status != "passed"
    assert reasons


@pytest.mark.parametrize("line", ["DONE 9 tests in 0.1s", "DONE 6 tests, 3 failures in 0.1s", "=== Failed"])
def test_a_last_line_that_a_test_prints(line: str) -> None:
    """GTS-1"""
    found = read(RED.replace("    loom_test.go:20", f"{line}\n    loom_test.go:20"))
    assert tally(found) == (3, 3, 0)


def test_two_last_lines() -> None:
    """GTS-1"""
    assert verdict(GREEN + "DONE 5 tests, 1 skipped in 0.100s\n") == ("indeterminate", ["STRUCTURE_CONTRADICTION"])


@pytest.mark.parametrize(("old", "new"), [("3 failures", "2 failures"), ("3 failures", "4 failures")])
def test_counts_that_do_not_agree(old: str, new: str) -> None:
    """GTS-1"""
    assert Doubt.RECAP_CONTRADICTION in read(RED.replace(old, new)).doubts
    assert Doubt.AGGREGATE_CONTRADICTION in read(GREEN.replace("1 skipped", "2 skipped"), 0).doubts


def test_two_runs_in_one_stream() -> None:
    assert verdict(GREEN + GREEN) == ("passed", [])
    assert tally(read(GREEN + RED)) == (7, 3, 1)


@pytest.mark.parametrize("run", [GREEN, RED, GO + FAILED + "DONE 2 tests, 3 failures in 1s\n", RED[:80], RED + "x\n"])
def test_every_line_once(run: str) -> None:
    """P3"""
    assert_every_line_once(stdout=run)


def test_chunks_make_no_difference() -> None:
    """READ-3"""
    assert_chunks_make_no_difference(GREEN + RED)


def test_a_lane_counts_what_lines_would() -> None:
    run = "".join(f"PASS mill/dye.TestRed/{n} (0.00s)\n" for n in range(3000)) + "\nDONE 3000 tests in 1.0s\n"
    assert tally(read(run, 0)) == (3000, 0, 0)
    assert trace_streams([("stdout", [run.encode()])], exit_code=0)[0] == read(run, 0)


def test_errors_that_are_counted_and_not_told() -> None:
    """GTS-6: the section may be left out, and then the run did not pass."""
    told = "✓  mill/dye (cached)\n\n=== Errors\nloom_test.go:7:2: undefined: weave\n\nDONE 4 tests, 1 error in 0.3s\n"
    assert verdict(told, 1) == ("failed", [Doubt.FAILURE_OUTSIDE_TESTS])
    assert verdict(told.replace("=== Errors\n", "")) == ("indeterminate", [Doubt.COMPLETENESS_UNCONFIRMED])


def test_a_package_that_failed_above_a_summary_without_failures_is_a_contradiction() -> None:
    text = "FAIL\texample.org/kiln\t0.1s\nDONE 1 tests in 0.1s\n"
    transcript = read_streams([("stdout", [text.encode()])], exit_code=0)
    assert transcript.doubts
