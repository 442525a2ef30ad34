"""Closing totals, and the conventions of those who print them (TAP-12)."""

import pytest
from tap_story import told

from context_firewall.transcript.dialects.tap_totals import CONVENTIONS, Observed, agrees, stated_tally
from context_firewall.transcript.facts import Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams

SEEN = Observed(passed=5, failed=2, skipped=3, todo=1, suites=4)


@pytest.mark.parametrize(
    ("stated", "fits"),
    [
        ({"tests": 11, "suites": 4, "pass": 5, "fail": 2, "skipped": 3, "todo": 1}, True),
        ({"tests": 11, "suites": 4, "pass": 5, "fail": 0, "cancelled": 2, "skipped": 3, "todo": 1}, True),
        ({"tests": 11, "suites": 4, "pass": 5, "fail": 1, "cancelled": 1, "skipped": 3, "todo": 1}, True),
        ({"total": 11, "pass": 5, "fail": 2, "skip": 3, "todo": 1}, True),
        ({"tests": 11, "pass": 9, "fail": 2}, True),
        ({"tests": 10, "pass": 5, "skip": 3, "fail": 3}, True),
        ({"tests": 7, "pass": 5, "fail": 2}, True),
        ({"tests": 11, "pass": 6, "fail": 2}, False),
        ({"tests": 11, "suites": 3}, False),
        ({"fail": 0}, False),
        ({"tests": 12}, False),
        ({"tests": 7, "pass": 9, "fail": 2}, False),
        ({"tests": 11, "pass": 5, "fail": 2, "cancelled": 1}, False),
    ],
)
def test_conventions(stated: dict[str, int], fits: bool) -> None:
    assert agrees(stated, SEEN) is fits


def test_every_convention_says_whose_it_is() -> None:
    assert len({name for name, _ in CONVENTIONS}) == len(CONVENTIONS)


def test_a_tally_of_totals_alone() -> None:
    stated = {"tests": 9, "pass": 5, "fail": 1, "cancelled": 1, "skip": 1, "todo": 1}
    assert stated_tally(stated) == Tally(5, 2, 1, 1, 9)
    assert stated_tally({"pass": 2, "fail": 1}) == Tally(2, 1, 0, 0, 3)


POINTS = "1..3\nok 1 - a\nok 2 - b # SKIP\n{}ok 3 - c{}\n"


@pytest.mark.parametrize(
    ("refusal", "directive", "totals", "exit_code", "verdict"),
    [
        ("", "", "# tests 3\n# pass 2\n# fail 0\n# skipped 1\n", 0, "passed"),
        ("", "", "# tests 3\n# pass  3\n\n# ok\n", 0, "passed"),
        ("not ", "", "# tests 3\n# pass 1\n# fail 1\n# skip 1\n", 1, "failed"),
        ("not ", " # TODO", "# tests 2\n# pass 1\n# skip 1\n# fail 1\n", 0, "passed"),
        ("", "", "# { total: 3, pass: 2, skip: 1 }\n", 0, "passed"),
        ("not ", "", "# { total: 3, pass: 1, fail: 1, skip: 1 }\n", 1, "failed"),
        ("", "", "# tests 4\n# pass 2\n# fail 0\n# skipped 1\n", 0, "indeterminate?"),
        ("", "", "# tests 3\n# pass 2\n# fail 1\n", 0, "indeterminate?"),
        ("not ", "", "# tests 3\n# pass 3\n# fail 0\n", 0, "indeterminate?"),
        ("not ", "", "# tests 3\n# pass 3\n# fail 0\n", 1, "failed?"),
    ],
)
def test_totals_and_points(refusal: str, directive: str, totals: str, exit_code: int, verdict: str) -> None:
    assert told(POINTS.format(refusal, directive) + totals, exit_code).verdict == verdict


def test_totals_before_a_point_are_output() -> None:
    story = told("1..2\nok 1 - a\n# tests 9\n# fail 9\nok 2 - b\n# tests 2\n# pass 2\n# fail 0\n")
    assert (story.verdict, story.suppressed(Kind.PROGRAM_OUTPUT)) == ("passed", 2)


def test_totals_that_say_two_things() -> None:
    story = told("1..1\nok 1\n# tests 1\n# pass 1\n# fail 0\n# tests 1\n# pass 0\n# fail 1\n")
    assert story.verdict == "indeterminate?"


def test_a_directive_that_is_part_of_the_name() -> None:
    """Nobody escapes for tape; its totals say what its `# SKIP` was."""
    stream = "TAP version 13\nok 1 a\nnot ok 2 b # SKIP c\n\n1..2\n# tests 2\n# pass  1\n# fail  1\n"
    story = told(stream, 1)
    assert (story.failures, story.counts, story.verdict) == (["b # SKIP c"], (1, 1, 0, 0), "failed")


@pytest.mark.parametrize("exit_code", [0, 1])
def test_node_needs_its_totals(exit_code: int) -> None:
    story = told("TAP version 13\nok 1 - a\n  ---\n  duration_ms: 1\n  ...\n1..1\n", exit_code)
    assert "COMPLETENESS_UNCONFIRMED" in story.doubts


@pytest.mark.parametrize(
    ("totals", "verdict"),
    [
        ("# tests 2\n# pass  2\n\n# ok\n", "passed"),
        ("# tests 2\n# pass  2\n", "indeterminate?"),
        ("# tests 2\n", "indeterminate?"),
        ("# tests 2\n# pass  2\n# fail  0\n", "passed"),
        ("# ok\n# tests 2\n# pass  2\n", "indeterminate?"),
    ],
)
def test_tapes_totals_end_with_a_word(totals: str, verdict: str) -> None:
    """TAP-12: without a count of failures, tape says that none failed."""
    assert told("TAP version 13\nok 1 a\nok 2 b\n\n1..2\n" + totals).verdict == verdict


def test_totals_behind_a_derived_failure_that_more_points_follow_are_accounted_for() -> None:
    child = ["    ok 1 - autumn", "    not ok 2 - winter", "    1..2", "not ok 1 - fares"]
    lines = [*child, "# fail 0", "ok 2 - piers", "1..2"]
    text = "".join(f"{line}\n" for line in lines)
    transcript = read_streams([("stdout", [text.encode()])], exit_code=1)
    assert transcript.event_count == len(lines)
