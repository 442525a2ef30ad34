"""prove's report: every form it takes, what Test::More adds on the other stream, and what must not be taken for it."""

import pytest
from run_story import assert_chunks_make_no_difference, assert_every_line_once, judged, names, texts

from context_firewall.transcript.dialects import prove_grammar as grammar
from context_firewall.transcript.dialects.prove import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import read_streams, trace_streams

TIMES = "0 wallclock secs ( 0.01 usr  0.00 sys +  0.05 cusr  0.01 csys =  0.07 CPU)"


def totals(files: int, tests: int, result: str = "PASS") -> str:
    """The two last lines, and before them that all is well if it is."""
    well = "All tests successful.\n" if result == "PASS" else ""
    return f"{well}Files={files}, Tests={tests},  {TIMES}\nResult: {result}\n"


def summary(*rows: str) -> str:
    return "\nTest Summary Report\n-------------------\n" + "".join(rows)


TEA_ROW = "t/tea.t (Wstat: 256 (exited 1) Tests: 3 Failed: 1)\n  Failed test:  2\n  Non-zero exit status: 1\n"
TEA_OUTCOME = "Dubious, test returned 1 (wstat 256, 0x100)\nFailed 1/3 subtests \n"
TEA_TAP = "1..3\nok 1 - pours\nnot ok 2 - steeps\nok 3 - cools\n"
TEA_SAID = "\n#   Failed test 'steeps'\n#   at t/tea.t line 7.\n#          got: '2'\n#     expected: '3'\n"
TEA_OVER = "# Looks like you failed 1 test of 3.\n"

GREEN = "t/cup.t .. \n1..2\nok 1 - round\nok 2 - dry\nok\n" + totals(1, 2)
QUIET_GREEN = "t/cup.t .. ok\nt/tea.t .. ok\n" + totals(2, 5)
RED = f"t/tea.t .. \n{TEA_TAP}{TEA_OUTCOME}{summary(TEA_ROW)}{totals(1, 3, 'FAIL')}"
QUIET_RED = f"t/cup.t .. ok\nt/tea.t .. \n{TEA_OUTCOME}{summary(TEA_ROW)}{totals(2, 5, 'FAIL')}"


def read(stdout: str, stderr: str = "", exit_code: int | None = 0, dialect: str = "auto") -> Transcript:
    streams = [("stdout", [stdout.encode()]), ("stderr", [stderr.encode()])]
    return read_streams(streams, exit_code=exit_code, dialect=dialect)


def verdict(stdout: str, stderr: str = "", exit_code: int = 0) -> tuple[str, list[str]]:
    """Status and reasons."""
    return judged(exit_code, stdout=stdout, stderr=stderr)


def tally(transcript: Transcript) -> tuple[int, int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped, found.todo


# -- the grammar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("t/cup.t .. ", True),
        ("t/cup.t .... ok", True),
        ("[10:11:12] t/cup.t .. ok       34 ms ( 0.00 usr  0.00 sys +  0.03 cusr  0.00 csys =  0.03 CPU)", True),
        ("t/cup.t .. skipped: no water", True),
        ("t/cup.t .. \rt/cup.t .. 1/3 ", True),
        ("All tests successful.", True),
        ("Test Summary Report", True),
        ("#   Failed test 'steeps'", True),
        ("Loading .. ", False),
        ("loading t/cup.t .. ", False),
        ("t/cup.t .. okay", False),
        ("t/cup.t . ok", False),
        ("Result: PASS", False),
        ("#   Failed (TODO) test 'steeps'", False),
    ],
)
def test_openings(line: str, opens: bool) -> None:
    assert DIALECT.opens(line.encode()) is opens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t/a.t (Wstat: 0 Tests: 3 Failed: 1)", (b"t/a.t", 0, False, 3, 1)),
        ("t/a.t   (Wstat: 2816 (exited 11) Tests: 15 Failed: 11)", (b"t/a.t", 11, False, 15, 11)),
        ("t/a.t (Wstat: 9 (Signal: KILL) Tests: 1 Failed: 0)", (b"t/a.t", 0, True, 1, 0)),
        ("t/a.t (Wstat: 11 (Signal: SEGV, dumped core) Tests: 2 Failed: 1)", (b"t/a.t", 0, True, 2, 1)),
        ("t/a.t (Wstat: 256 Tests: 4 Failed: 1)", (b"t/a.t", 1, False, 4, 1)),
        ("t/a.t (Wstat: 9 Tests: 4 Failed: 1)", (b"t/a.t", 0, True, 4, 1)),
        ("t/a.t (Wstat: (none) Tests: 4 Failed: 1)", (b"t/a.t", 0, False, 4, 1)),
    ],
)
def test_rows(text: str, expected: tuple[bytes, int, bool, int, int]) -> None:
    found = grammar.row(text.encode(), Line("stdout", 1, Kind.UNCLASSIFIED, text.encode()))
    assert found is not None
    assert (found.name, found.exited, found.killed, found.tests, found.failed) == expected


def test_ranges() -> None:
    assert grammar.ranges(b"2-4, 7, 14") == [(2, 4), (7, 7), (14, 14)]


# -- green ------------------------------------------------------------------------------------------------------------


def test_green_with_points_suffices() -> None:
    """PRV-2"""
    found = read(GREEN)
    assert tally(found) == (2, 0, 0, 0)
    assert not found.doubts
    assert verdict(GREEN) == ("passed", [])


def test_without_points_counts_are_not_known() -> None:
    """PRV-2: what is skipped or unfinished in a file that passed is among its tests."""
    found = read(QUIET_GREEN)
    assert tally(found) == (5, 0, 0, 0)
    assert found.doubts == {Doubt.COUNTS_UNCONFIRMED}


def test_skips_and_todos() -> None:
    tap = "1..4\nok 1 - a\nok 2 # skip no water\nnot ok 3 - b # TODO later\nok 4 - c # TODO later\n"
    row = "t/cup.t (Wstat: 0 Tests: 4 Failed: 0)\n  TODO passed:   4\n"
    well, _, rest = totals(1, 4).partition("\n")
    found = read(f"t/cup.t .. \n{tap}ok\n{well}\n{summary(row)}{rest}")
    assert not found.doubts
    assert tally(found) == (1, 0, 1, 2)
    assert texts(found.todo) == ["not ok 3 - b # TODO later", "ok 4 - c # TODO later"]


def test_all_skipped() -> None:
    run = "t/cup.t .. skipped: no water\n" + totals(1, 0, "NOTESTS")
    assert verdict(run) == ("passed", [])


def test_no_file_at_all() -> None:
    """PRV-7"""
    assert verdict(totals(0, 0, "NOTESTS")) == ("indeterminate", ["NO_TEST_EVIDENCE"])


def test_a_bare_ok_is_an_outcome_only_if_the_report_goes_on() -> None:
    run = "t/cup.t .. \n1..3\nok 1 - a\nok\n\nok 3 - c\nok\n" + totals(1, 3)
    found = read(run)
    assert tally(found) == (3, 0, 0, 0)
    assert not found.doubts


# -- failures ---------------------------------------------------------------------------------------------------------


def test_a_block_and_its_point_are_one_failure() -> None:
    """PRV-4"""
    found = read(RED, TEA_SAID + TEA_OVER, 1)
    assert names(found) == ["t/tea.t > steeps"]
    (failure,) = found.failures
    assert texts(failure.lines()) == TEA_SAID.strip().split("\n")
    assert tally(found) == (2, 1, 0, 0)
    assert verdict(RED, TEA_SAID + TEA_OVER, 1) == ("failed", [])


def test_names_come_from_standard_error() -> None:
    """PRV-4"""
    found = read(QUIET_RED, TEA_SAID + TEA_OVER, 1)
    assert names(found) == ["t/tea.t > steeps"]
    assert found.doubts == {Doubt.COUNTS_UNCONFIRMED}


def test_points_without_blocks_are_failures_with_what_stands_below() -> None:
    tap = "1..2\nnot ok 1 - steeps\n  ---\n  got: 2\n  ...\nok 2\n"
    row = "t/tea.t (Wstat: 0 Tests: 2 Failed: 1)\n  Failed test:  1\n"
    found = read(f"t/tea.t .. \n{tap}Failed 1/2 subtests \n{summary(row)}{totals(1, 2, 'FAIL')}", "", 1)
    assert [texts(failure.lines()) for failure in found.failures] == [
        ["not ok 1 - steeps", "  ---", "  got: 2", "  ..."]
    ]


def test_nothing_but_numbers() -> None:
    """PRV-5"""
    found = read(QUIET_RED, "", 1)
    assert names(found) == ["t/tea.t > tests 2"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in found.doubts


def test_some_of_them_only_by_number() -> None:
    """PRV-5"""
    row = "t/tea.t (Wstat: 512 (exited 2) Tests: 3 Failed: 2)\n  Failed tests:  2-3\n  Non-zero exit status: 2\n"
    outcome = "Dubious, test returned 2 (wstat 512, 0x200)\nFailed 2/3 subtests \n"
    found = read(f"t/tea.t .. \n{outcome}{summary(row)}{totals(1, 3, 'FAIL')}", TEA_SAID, 1)
    assert names(found) == ["t/tea.t > steeps", "t/tea.t > 1 of tests 2-3"]
    assert Doubt.RECAP_CONTRADICTION in found.doubts


def test_subtests_name_what_failed_in_them() -> None:
    """PRV-4"""
    said = (
        "\n        #   Failed test 'spout'\n        #   at t/tea.t line 3.\n"
        "        # Looks like you failed 1 test of 1.\n\n    #   Failed test 'pot'\n    #   at t/tea.t line 4.\n"
        "\n#   Failed test 'steeps'\n#   at t/tea.t line 5.\n"
    )
    found = read(QUIET_RED, said, 1)
    assert names(found) == ["t/tea.t > steeps > pot > spout"]
    lines = list(found.failures[0].lines())
    assert len(lines) == 7
    told = [line.text.strip() for line in lines if line.kind is Kind.STACK_TRACE]
    assert told[-2:] == ["#   at t/tea.t line 4.", "#   at t/tea.t line 5."]


def test_a_name_of_two_lines() -> None:
    said = "\n#   Failed test 'steeps\n# and cools'\n#   at t/tea.t line 7.\n"
    assert names(read(RED, said, 1)) == ["t/tea.t > steeps and cools"]


def test_blocks_go_to_the_file_that_they_name_else_to_the_first_that_lacks_one() -> None:
    """PRV-5"""
    rows = TEA_ROW.replace("tea", "cup"), TEA_ROW
    files = f"t/cup.t .. \n{TEA_OUTCOME}t/tea.t .. \n{TEA_OUTCOME}"
    said = TEA_SAID + "\n#   Failed test 'is whole'\n#   at lib/Pottery.pm line 2.\n"
    found = read(f"{files}{summary(*rows)}{totals(2, 6, 'FAIL')}", said, 1)
    assert sorted(names(found)) == ["t/cup.t > is whole", "t/tea.t > steeps"]


def test_a_file_fails_without_a_failing_test() -> None:
    """PRV-3"""
    row = "t/pot.t (Wstat: 0 Tests: 1 Failed: 0)\n  Parse errors: Bad plan.  You planned 2 tests but ran 1.\n"
    found = read(f"t/pot.t .. \n1..2\nok 1 - a\nFailed 1/2 subtests \n{summary(row)}{totals(1, 1, 'FAIL')}", "", 1)
    assert names(found) == ["t/pot.t"]
    assert texts(found.failures[0].lines()) == row.strip("\n").split("\n")
    assert tally(found) == (1, 0, 0, 0)
    assert not found.doubts


def test_what_the_summary_adds_belongs_to_the_last_failing_test() -> None:
    """PRV-3"""
    row = TEA_ROW.replace("256 (exited 1)", "11 (Signal: SEGV)").replace("exit status: 1", "wait status: 11")
    found = read(f"t/tea.t .. \n{TEA_TAP}Failed 1/3 subtests \n{summary(row)}{totals(1, 3, 'FAIL')}", TEA_SAID, 1)
    assert names(found) == ["t/tea.t > steeps"]
    assert texts(found.failures[0].details)[-3:] == row.strip("\n").split("\n")


def test_last_words_of_a_file_that_fails() -> None:
    row = "t/pot.t (Wstat: 512 (exited 2) Tests: 1 Failed: 0)\n  Non-zero exit status: 2\n"
    outcome = "Dubious, test returned 2 (wstat 512, 0x200)\nAll 1 subtests passed \n"
    run = f"t/pot.t .. \n1..1\nok 1 - a\nno water at t/pot.t line 9.\n{outcome}{summary(row)}{totals(1, 1, 'FAIL')}"
    assert "no water at t/pot.t line 9." in texts(read(run, "", 1).failures[0].details)


def test_a_bail_out_is_a_failure() -> None:
    """PRV-3"""
    row = "t/pot.t (Wstat: 0 Tests: 0 Failed: 0)\n  Parse errors: No plan found in TAP output\n"
    said = "Bailout called.  Further testing stopped:  no water"
    run = f"{said}\nt/pot.t .. \nNo subtests run \n{summary(row)}{totals(1, 0, 'FAIL')}"
    assert names(read(run, "FAILED--Further testing stopped: no water\n", 255)) == [said, "t/pot.t"]
    lost = read(run.partition("\n")[2], "FAILED--Further testing stopped: no water\n", 255)
    assert "FAILED--Further testing stopped: no water" in names(lost)
    assert Doubt.RECAP_CONTRADICTION in lost.doubts


def test_merged_streams() -> None:
    """PRV-4: Test::More's words come first where prove holds its own back."""
    found = read(TEA_SAID + "\n#   Failed test 'b'\n#   at t/x.t line 1.\nnot ok 9 - a print\n" + TEA_OVER + QUIET_RED)
    assert names(found)[0] == "t/tea.t > steeps"
    assert Doubt.AMBIGUOUS_DIALECT not in found.doubts


def test_one_file_run_without_prove_stays_tap() -> None:
    run = "#   Failed test 'steeps'\n#   at t/tea.t line 7.\n" + TEA_TAP + TEA_OVER
    found = read(run, "", 1)
    assert names(found) == ["steeps"]
    assert Doubt.AMBIGUOUS_DIALECT not in found.doubts


def test_words_on_standard_error_for_a_document_of_tap() -> None:
    """TAP-21"""
    found = read(TEA_TAP + "", TEA_SAID + TEA_OVER, 1)
    assert names(found) == ["steeps"]
    assert texts(found.failures[0].details) == TEA_SAID.strip().split("\n")
    assert not found.unclassified


def test_words_that_name_no_point_stay_where_they_are() -> None:
    """TAP-21"""
    found = read(TEA_TAP, TEA_SAID + TEA_SAID.replace("steeps", "boils") + TEA_OVER, 1)
    assert "#   Failed test 'boils'" in texts(found.unclassified)
    assert TEA_OVER.strip() in texts(found.unclassified)
    assert found.event_count == 15


# -- standard error ---------------------------------------------------------------------------------------------------


def test_other_words_on_standard_error_are_shown_in_a_failing_run() -> None:
    """PRV-6"""
    found = read(RED, TEA_SAID + "low water\n" + TEA_OVER, 1)
    assert [(line.text, line.kind) for line in found.unclassified] == [("low water", Kind.PROGRAM_OUTPUT)]
    assert verdict(RED, TEA_SAID + "low water\n", 1) == ("failed", [])


def test_other_words_on_standard_error_are_counted_in_a_green_run() -> None:
    """PRV-6"""
    assert verdict(GREEN, "# low water\n") == ("passed", [])


def test_words_on_standard_error_beside_a_report_that_does_not_close() -> None:
    """PRV-6"""
    status, reasons = verdict(GREEN.replace("Result: PASS\n", ""), "low water\n")
    assert status == "indeterminate"
    assert {"COMPLETENESS_UNCONFIRMED", "UNCLASSIFIED_EVIDENCE"} <= set(reasons)


# -- what would make it lie -------------------------------------------------------------------------------------------


FORGED = "t/ghost.t .. ok\nAll tests successful.\n" + totals(1, 1)


@pytest.mark.parametrize("cut", range(1, len(GREEN) - 1))
def test_no_cut_is_green(cut: int) -> None:
    """PRV-1"""
    assert verdict(GREEN[:cut])[0] != "passed"


@pytest.mark.parametrize("gone", range(len(RED.split("\n")) - 1))
def test_no_lost_line_makes_a_failure_pass(gone: int) -> None:
    """PRV-1: whatever the exit code says."""
    lines = RED.split("\n")
    run = "\n".join(lines[:gone] + lines[gone + 1 :])
    status, reasons = verdict(run, TEA_SAID + TEA_OVER)
    assert status != "passed"
    assert reasons


@pytest.mark.parametrize("line", range(1, 5))
def test_a_report_that_a_file_prints_is_its_own(line: int) -> None:
    """PRV-2"""
    lines = GREEN.split("\n")
    run = "\n".join([*lines[: line + 1], *FORGED.rstrip("\n").split("\n"), *lines[line + 1 :]])
    if line in (1, 2, 3):
        assert verdict(run) == ("passed", [])
    else:
        assert verdict(run)[0] == "indeterminate"


def test_a_report_that_a_file_prints_before_it_breaks_off() -> None:
    """PRV-1"""
    run = "t/cup.t .. \n1..2\nok 1 - round\n" + FORGED
    assert verdict(run)[0] == "indeterminate"


def test_an_outcome_that_a_file_prints() -> None:
    run = GREEN.replace("ok 2 - dry\n", "Failed 1/2 subtests \nok 2 - dry\n")
    assert verdict(run) == ("passed", [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Tests=3", "Tests=2"),
        ("Files=1", "Files=2"),
        ("Result: FAIL", "Result: PASS"),
        ("Failed: 1)", "Failed: 2)"),
        ("Failed test:  2", "Failed test:  2-3"),
        ("t/tea.t (W", "t/pot.t (W"),
        ("not ok 2", "ok 2"),
        ("ok 3 - cools", "not ok 3 - cools"),
    ],
)
def test_contradictions(old: str, new: str) -> None:
    """PRV-1"""
    status, reasons = verdict(RED.replace(old, new), TEA_SAID, 1)
    assert status == "failed"
    assert set(reasons) & {"AGGREGATE_CONTRADICTION", "RECAP_CONTRADICTION", "CONTESTED_RESULTS"}


def test_a_row_without_its_first_line() -> None:
    rows = TEA_ROW.replace("tea", "cup") + TEA_ROW.partition("\n")[2]
    assert Doubt.AGGREGATE_CONTRADICTION in read(f"{summary(rows)}{totals(2, 6, 'FAIL')}", "", 1).doubts


def test_numbers_out_of_sequence() -> None:
    """PRV-7: a print may have been counted."""
    row = TEA_ROW + "  Parse errors: Tests out of sequence.  Found (2) but expected (3)\n"
    found = read(f"t/tea.t .. \n{TEA_OUTCOME}{summary(row)}{totals(1, 3, 'FAIL')}", TEA_SAID, 1)
    assert Doubt.CONTESTED_RESULTS in found.doubts


def test_failing_points_that_the_summary_does_not_number() -> None:
    """PRV-7"""
    found = read(RED.replace("ok 3 - cools\n", "not ok 99 - on a terminal\nok 3 - cools\n"), TEA_SAID, 1)
    assert names(found) == ["t/tea.t > steeps"]
    assert Doubt.CONTESTED_RESULTS in found.doubts


def test_a_child_that_fails_below_a_point_that_passes() -> None:
    run = GREEN.replace("ok 2 - dry", "    not ok 1 - inside\nok 2 - dry")
    assert Doubt.TREE_CONTRADICTION in read(run).doubts


def test_two_runs_in_one_stream() -> None:
    both = read(GREEN + RED, TEA_SAID, 1)
    assert tally(both) == (4, 1, 0, 0)
    assert names(both) == ["t/tea.t > steeps"]
    assert verdict(GREEN + GREEN) == ("passed", [])


def test_result_without_reason() -> None:
    """PRV-1: prove calls it failed, and nothing says what has."""
    run = GREEN.replace("All tests successful.\n", "").replace("PASS", "FAIL")
    found = read(run, "", 1)
    assert names(found) == ["Result: FAIL"]
    assert Doubt.AGGREGATE_CONTRADICTION in found.doubts


@pytest.mark.parametrize("run", [GREEN, QUIET_GREEN, RED, QUIET_RED, FORGED, TEA_SAID + QUIET_RED])
def test_every_line_once(run: str) -> None:
    """P3"""
    assert_every_line_once(stdout=run, stderr=TEA_SAID)


def test_chunks_make_no_difference() -> None:
    """READ-3"""
    assert_chunks_make_no_difference(RED + QUIET_RED)


def test_a_lane_counts_what_lines_would() -> None:
    points = "".join(f"ok {n} - sip\n" for n in range(1, 2001))
    run = f"t/cup.t .. \n1..2000\n{points}ok\n" + totals(1, 2000)
    assert tally(read(run)) == (2000, 0, 0, 0)
    assert trace_streams([("stdout", [run.encode()])], exit_code=0)[0] == read_streams(
        [("stdout", [run.encode()])], exit_code=0
    )


# -- merged streams ---------------------------------------------------------------------------------------------------

CUP = "t/cup.t .. \nok 1 - round\nok 2 - dry\n1..2\nok\n"


def test_what_is_said_before_a_files_line_is_that_files() -> None:
    """PRV-2, PRV-4: a passed file's outcome stands before it."""
    said = TEA_SAID + TEA_OVER + "# kettle is cold\n"
    run = CUP + said + f"t/tea.t .. \n{TEA_TAP}{TEA_OUTCOME}{summary(TEA_ROW)}{totals(2, 5, 'FAIL')}"
    assert verdict(run, exit_code=1) == ("failed", [])
    found = read(run, exit_code=1)
    assert names(found) == ["t/tea.t > steeps"]
    assert texts(found.failures[0].details)[-1] == "#     expected: '3'"
    assert tally(found) == (4, 1, 0, 0)


def test_a_bare_ok_that_tap_follows_is_a_point() -> None:
    """PRV-2"""
    run = "t/cup.t .. \nok\n# dry\nspilt\nok\n1..2\nok\n" + totals(1, 2)
    assert verdict(run) == ("passed", [])
    assert tally(read(run)) == (2, 0, 0, 0)


def test_comments_outside_of_files_are_the_tests() -> None:
    """PRV-6"""
    green = "# warm\nt/cup.t .. \nok 1 - round\n1..1\nok\n# cold\n" + totals(1, 1)
    assert verdict(green) == ("passed", [])
    assert not read(green).unclassified
    red = "t/cup.t .. ok\n# cold\nt/tea.t .. \n" + TEA_OUTCOME + summary(TEA_ROW) + totals(2, 5, "FAIL")
    assert [line.kind for line in read(red, exit_code=1).unclassified] == [Kind.PROGRAM_OUTPUT]
    broken_off = "# warm\nt/cup.t .. \nok 1 - round\n"
    assert verdict(broken_off) == ("indeterminate", ["COMPLETENESS_UNCONFIRMED", "UNCLASSIFIED_EVIDENCE"])


@pytest.mark.parametrize("margin", ["", "    "])
def test_a_file_may_begin_with_a_subtest(margin: str) -> None:
    """PRV-2"""
    child = f"{margin}# Subtest: rim\n    ok 1 - smooth\n    1..1\n"
    run = "t/cup.t .. \n" + child + "ok 1 - rim\nok 2 - dry\n1..2\nok\n" + totals(1, 2)
    assert verdict(run) == ("passed", [])
    assert tally(read(run)) == (2, 0, 0, 0)
    comments = "t/cup.t .. \n# Subtest: rim\nok\nt/tea.t .. \n    # Subtest: rim\nok\n" + totals(2, 2)
    assert verdict(comments)[1] == ["COUNTS_UNCONFIRMED"]
