"""Plans, and the order of numbers (TAP-10, TAP-11, TAP-13)."""

import pytest
from tap_story import told


@pytest.mark.parametrize(
    "stream",
    [
        "1..2\nok 1\nok 2\n",
        "ok 1\nok 2\n1..2\n",
        "1..2\nok\nok\n",
        "1..3\nok 3\nok 1\nok 2\n",
        "1..3\nok 3\nok 2\nok 1\n",
        "1..2\nok 01\nok 02\n",
        "1..0 # SKIP no tea\n",
        "1..0 # no tea\n",
        "1..0\n",
        "TAP version 13\n# a remark\n1..1\n# another\nok 1\n# a third\n",
    ],
)
def test_what_adds_up(stream: str) -> None:
    assert told(stream).verdict == "passed"


@pytest.mark.parametrize(
    ("stream", "doubt"),
    [
        ("ok 1\nok 2\n", "COMPLETENESS_UNCONFIRMED"),
        ("ok 1\nok 2\n# pass 2\n", "COMPLETENESS_UNCONFIRMED"),
        ("ok 1\nok 2\n# fail 0\n", "COMPLETENESS_UNCONFIRMED"),
        ("1..5\nok 1\nok 2\nok 3\n", "PLAN_CONTRADICTION"),
        ("1..1\nok 1\nok 2\n", "PLAN_CONTRADICTION"),
        ("1..3\nok 1\nok 2\nok 2\n", "PLAN_CONTRADICTION"),
        ("1..2\nok 1\nok 1\n", "PLAN_CONTRADICTION"),
        ("1..2\nok 1\nok 3\n", "PLAN_CONTRADICTION"),
        ("1..2\nok 0\nok 1\n", "PLAN_CONTRADICTION"),
        ("ok 2\n1..1\n# tests 1\n# pass 1\n", "PLAN_CONTRADICTION"),
        ("not ok 2 # TODO\n# fail 1\n1..1\n", "PLAN_CONTRADICTION"),
        ("1..1\nok 99999999999999999999999\n", "PLAN_CONTRADICTION"),
        ("ok 1\n1..2\nok 2\n", "PLAN_CONTRADICTION"),
        ("1..2\nok 1\n1..2\nok 2\n", "PLAN_CONTRADICTION"),
        ("2..3\nok 2\nok 3\n", "PLAN_CONTRADICTION"),
        ("1..2 # SKIP no tea\nok 1\nok 2\n", "PLAN_CONTRADICTION"),
        ("1..0\nok 1\n", "PLAN_CONTRADICTION"),
        ("1..1\nTAP version 13\nok 1\n", "STRUCTURE_CONTRADICTION"),
        ("TAP version 12\n1..1\nok 1\n", "STRUCTURE_CONTRADICTION"),
        ("TAP version 15\n1..1\nok 1\n", "STRUCTURE_CONTRADICTION"),
        ("TAP version 13\nTAP version 13\n1..1\nok 1\n", "STRUCTURE_CONTRADICTION"),
    ],
)
def test_what_does_not_add_up(stream: str, doubt: str) -> None:
    story = told(stream)
    assert doubt in story.doubts
    assert story.verdict == "indeterminate?"


@pytest.mark.parametrize(
    "stream",
    [
        "ok 1\nok 2\n1..2\nnot ok 3 - late\n",
        "ok 1\nok 2\n1..2\nnot ok - late\n",
        "1..2\nok 1\nok 2\nnot ok 3 - late\n",
        "1..3\nok 3\nok 1\nnot ok 2 - late\n",
        "1..2\nok 1\nok 2\nnot ok 2 - late\n",
        "1..2\nnot ok 1 - late\nok 1\nok 2\n",
        "not ok 1 - late\n",
        "1..1\nnot ok 99999999999999999999999 - late\n",
    ],
)
def test_a_refusal_counts_wherever_it_stands(stream: str) -> None:
    """P2."""
    story = told(stream, 1)
    assert (story.failures, story.counts[1]) == (["late"], 1)


@pytest.mark.parametrize(
    "stream",
    [
        "1..2\nok 1\nnot ok 7 - forged\nok 2\n",
        "1..2\nok 1\nok 2\nnot ok 1 - forged\n",
        "ok 1\nok 2\n1..2\nnot ok 1 - forged\n",
        "1..0\nnot ok 1 - forged\n",
        "1..2\nok 1\nok 2\nnot ok 2 - forged\n",
    ],
)
def test_what_a_success_denies_is_contested_and_kept(stream: str) -> None:
    """TAP-13."""
    story = told(stream)
    assert "CONTESTED_RESULTS" in story.doubts
    assert any("forged" in line for line in story.unclassified)
    assert story.verdict == "indeterminate?"


def test_a_plan_that_no_run_can_meet_is_not_known() -> None:
    story = told("1..99999999999999999999\nok 1\n")
    assert story.unclassified == ["1..99999999999999999999"]


def test_alternating_numbers_are_read() -> None:
    """A thousand here; how the time grows is the business of the adversarial tests."""
    story = told("1..3\n" + "ok 1 - a\nok 2 - b\n" * 500)
    assert story.verdict == "indeterminate?"


@pytest.mark.parametrize("end", ["1..12\n", ""])
def test_a_line_that_is_cut_is_no_pass(end: str) -> None:
    """TAP-17."""
    points = "".join(f"ok {i} - cup\n" for i in range(1, 12))
    assert told((end or "1..12\n") + points + "ok 12 - cu").verdict == "indeterminate?"
    assert told(points + "ok 12 - cup\n1..1").verdict == "indeterminate?"
    assert told(points + "ok 12 - cup\n1..12").verdict in ("passed", "indeterminate?")
