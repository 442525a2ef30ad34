"""Several documents in one stream (TAP-15)."""

import pytest
from tap_story import told

FIRST = "TAP version 13\n1..1\nok 1 - cup\n"


@pytest.mark.parametrize(
    ("stream", "passed"),
    [
        (FIRST * 3, 3),
        ("1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n", 3),
        ("ok 1 - a\n1..1\nok 1 - b\nok 2 - c\n1..2\n", 3),
        (FIRST + "TAP version 13\n1..0 # SKIP no tea\n", 1),
    ],
)
def test_documents_add_up(stream: str, passed: int) -> None:
    story = told(stream)
    assert (story.counts, story.verdict) == ((passed, 0, 0, 0), "passed")


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_failure_in_the_second_one(exit_code: int) -> None:
    story = told(FIRST + "TAP version 13\n1..2\nok 1 - plate\nnot ok 2 - bowl\n", exit_code)
    assert (story.failures, story.counts) == (["bowl"], (2, 1, 0, 0))
    assert story.verdict == ("failed" if exit_code else "failed?")


@pytest.mark.parametrize(
    "second",
    [
        "TAP version 13\n1..3\nok 1 - plate\n",
        "TAP version 13\nok 1 - plate\n",
        "TAP version 13\n1..2\nnot ok 1 - plate\n",
        "TAP version 13\n1..5\nBail out! no plates\n",
        "TAP version 13\n1..2\n# Subtest: plate\n    ok 1 - rim\n",
        "TAP versi",
        "TAP version 13\n1..1\nok 1 - pla",
    ],
)
def test_a_second_one_that_is_not_whole(second: str) -> None:
    assert told(FIRST + second).verdict == "indeterminate?"


@pytest.mark.parametrize(
    "second",
    [
        "1..50\n",
        "TAP version 13\n1..50\n",
        "TAP version 13\n",
        "TAP version 13\n# Subtest: plate\n",
        "TAP version 13\n1..50\n# tests 50\n# pass 45\n# fail 5\n",
    ],
)
def test_a_second_one_that_only_begins(second: str) -> None:
    """P1: planned and never run is not passed."""
    assert told(FIRST + second).verdict != "passed"


def test_a_point_between_plan_and_totals_is_no_document() -> None:
    stream = "TAP version 13\nok 1 cup\n\n1..1\nok 1 printed by the program\n# tests 1\n# pass  1\n\n# ok\n"
    assert told(stream).verdict != "passed"
