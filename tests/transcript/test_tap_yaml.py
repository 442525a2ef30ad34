"""YAML blocks: where they open, what they hold, where they end (TAP-5)."""

import pytest
from tap_story import told

from context_firewall.transcript.kinds import Kind


def test_a_block_under_a_failure_is_its_region() -> None:
    story = told("1..1\nnot ok 1 - tea\n  ---\n  message: cold\n\n  at: cup.js:1:2\n  ...\n", 1)
    assert story.details == [["  ---", "  message: cold", "", "  at: cup.js:1:2", "  ..."]]
    assert story.verdict == "failed"


def test_a_block_under_a_pass_is_counted_only() -> None:
    story = told("1..1\nok 1 - tea\n  ---\n  duration: 3\n  ...\n")
    assert (story.verdict, story.suppressed(Kind.TEST_DETAIL)) == ("passed", 3)


@pytest.mark.parametrize("indent", ["  ", "    ", " ", "\t", "      "])
def test_any_indentation(indent: str) -> None:
    block = f"{indent}---\n{indent}message: cold\n{indent}...\n"
    story = told(f"1..2\nnot ok 1 - tea\n{block}ok 2 - cup\n", 1)
    assert (story.counts, story.verdict) == ((1, 1, 0, 0), "failed")


@pytest.mark.parametrize("end", ["      ...", " ...", "...", "  ....", "  ..."])
def test_it_ends_at_its_own_indentation(end: str) -> None:
    story = told(f"1..1\nnot ok 1 - tea\n  ---\n  error: |-\n{end}\n  ...\n", 1)
    assert story.failures == ["tea"]
    if end == "  ...":
        assert story.details == [["  ---", "  error: |-", "  ..."]]
        assert story.unclassified == ["  ..."]
    else:
        assert story.details == [["  ---", "  error: |-", end, "  ..."]]


@pytest.mark.parametrize("line", ["not ok 9 - x", "1..7", "TAP version 13", "Bail out!", "# fail 3", "ok 2 - x"])
def test_what_looks_like_tap_inside_is_content(line: str) -> None:
    story = told(f"1..2\nnot ok 1 - tea\n  ---\n  error: |-\n    {line}\n  ...\nok 2 - cup\n", 1)
    assert (story.counts, story.failures, story.verdict) == ((1, 1, 0, 0), ["tea"], "failed")


@pytest.mark.parametrize("refusal", ["", "not "])
def test_a_block_that_never_ends_gives_way_to_the_next_point(refusal: str) -> None:
    story = told(f"1..2\n{refusal}ok 1 - tea\n  ---\n  message: cold\nnot ok 2 - cup\n", 1)
    assert "cup" in story.failures
    assert "STRUCTURE_CONTRADICTION" in story.doubts


def test_a_block_that_never_ends_at_all_is_no_pass() -> None:
    story = told("1..1\nok 1 - tea\n  ---\n  message: cold\n")
    assert story.verdict == "indeterminate?"


def test_a_refusal_at_the_margin_inside_a_block_is_asked_about() -> None:
    story = told("ok 1 - tea\n  ---\n  message: cold\nnot ok 3 - x\n  ...\nok 2 - cup\n1..2\n")
    assert (story.verdict, story.doubts) == ("indeterminate?", {"STRUCTURE_CONTRADICTION"})


def test_three_dashes_in_a_message_open_nothing() -> None:
    story = told("1..2\nnot ok 1 - tea\n  first\n  ---\n  second\nok 2 - cup\n", 1)
    assert (story.details, story.counts) == ([["  first", "  ---", "  second"]], (1, 1, 0, 0))


def test_a_comment_may_stand_before_it() -> None:
    story = told("1..1\nnot ok 1 - tea\n# a remark\n  ---\n  message: cold\n  ...\n", 1)
    assert len(story.details[0]) == 4


def test_a_second_block_is_not_known() -> None:
    story = told("1..1\nok 1 - tea\n  ---\n  a: 1\n  ...\n  ---\n  b: 2\n  ...\n")
    assert story.verdict == "indeterminate?"


def test_node_says_what_a_point_is_in_its_block() -> None:
    block = "  ---\n  duration_ms: 1\n  type: '{}'\n  ...\n"
    stream = "TAP version 13\n# Subtest: s\n    # Subtest: t\n    ok 1 - t\n"
    stream += block.format("test").replace("  -", "      -").replace("\n  ", "\n      ") + "    1..1\nok 1 - s\n"
    stream += block.format("suite") + "1..1\n# tests 1\n# suites 1\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 0\n"
    story = told(stream + "# todo 0\n# duration_ms 2\n")
    assert (story.counts, story.verdict) == ((1, 0, 0, 0), "passed")
