"""Streams to stretches: which dialect reads what, and what becomes of the rest."""

import pytest
from tap_story import texts, told

from context_firewall.errors import InvalidInput
from context_firewall.transcript.dialects import REGISTRY
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import dialects_named

TAP = "1..1\nok 1 - tea\n"
COUNTS = "ℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 1\n"
SPEC = "✔ tea (1ms)\n" + COUNTS
DOTS = "....\n"


def test_names_of_dialects() -> None:
    """READ-10."""
    assert dialects_named("auto") == REGISTRY
    for row in REGISTRY:
        assert dialects_named(row.name) == (row,)
    with pytest.raises(InvalidInput) as refusal:
        dialects_named("klingon")
    assert refusal.value.details["key"] == "dialect"


def test_a_named_dialect_reads_alone() -> None:
    assert told(TAP, dialect="tap").verdict == "passed"
    assert told(TAP, dialect="node-dot").unclassified == ["1..1", "ok 1 - tea"]
    assert told(SPEC, dialect="node-spec").verdict == "passed"
    assert told(SPEC, dialect="tap").doubts >= set()
    assert told(SPEC, dialect="tap").verdict == "indeterminate?"


@pytest.mark.parametrize("stream", ["", "\n", "\n\n   \n", "> shop@1.0.0 test\n> node --test\n\n"])
def test_nothing_is_no_evidence(stream: str) -> None:
    story = told(stream)
    assert (story.verdict, story.counts) == ("indeterminate?", (0, 0, 0, 0))


def test_lines_around_a_stretch_are_kept() -> None:
    """READ-6, P4."""
    story = told("building\n" + TAP + "done\n")
    assert (story.unclassified, story.verdict) == (["building", "done"], "indeterminate?")


def test_npm_and_blank_lines_are_quiet() -> None:
    story = told("\n> shop@1.0.0 test\n> node --test\n\n" + TAP + "\n")
    assert (story.verdict, story.suppressed(Kind.INFORMATIONAL), story.suppressed(Kind.BLANK)) == ("passed", 2, 3)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("FATAL: fire", "fatal_errors"),
        ("RUNNER CRASH: x", "fatal_errors"),
        ("UNCAUGHT: x", "fatal_errors"),
        ("TIMEOUT: x", "timeouts"),
    ],
)
def test_markers_outside(line: str, place: str) -> None:
    """READ-7, VER-2."""
    for stream in (line + "\n" + TAP, TAP + line + "\n"):
        story = told(stream)
        assert texts(getattr(story.transcript, place)) == [line]
        assert story.verdict == "indeterminate?"


def test_warnings_are_kept_and_change_nothing() -> None:
    """VER-5."""
    story = told("WARNING: hot\n" + TAP)
    assert (texts(story.transcript.warnings), story.verdict) == (["WARNING: hot"], "passed")


@pytest.mark.parametrize("line", [" FATAL: x", "FATAL x", "fatal: x", "# FATAL: x", "the FATAL: x"])
def test_what_is_no_marker(line: str) -> None:
    assert told(TAP + line + "\n").transcript.fatal_errors == ()


@pytest.mark.parametrize(("first", "second"), [(TAP, SPEC), (SPEC, TAP), (SPEC, SPEC), (TAP, TAP)])
def test_one_report_after_another(first: str, second: str) -> None:
    """READ-4."""
    story = told(first + second)
    assert story.transcript.tally.passed == 2 or story.verdict == "indeterminate?"


@pytest.mark.parametrize("stream", ["ok 1 - tea\n" + SPEC, "✔ tea (1ms)\n" + TAP, "ok 1 - a\n" + DOTS])
def test_two_claims_are_ambiguous(stream: str) -> None:
    """READ-5."""
    story = told(stream)
    assert "AMBIGUOUS_DIALECT" in story.doubts
    assert story.verdict == "indeterminate?"


def test_the_one_that_closes_better_keeps_the_stretch() -> None:
    story = told("ok 1 - printed by the program\n" + SPEC)
    assert story.counts == (1, 0, 0, 0)


def test_a_report_that_one_of_several_candidates_takes_for_a_detail() -> None:
    """READ-5: it joins all the same, as others do not know the line."""
    printed = "Finished in 0.1 seconds (files took 0.1 seconds to load)\n9 examples, 0 failures\nprinted\nnot ok 2\n"
    error = '{"class":"E","message":"dry","backtrace":[]}'
    example = f'{{"full_description":"well is deep","status":"failed","pending_message":null,"exception":{error}}}'
    counts = '"example_count":1,"failure_count":1,"pending_count":0,"errors_outside_of_examples_count":0'
    line = f'{{"version":"3.12.0","examples":[{example}],"summary":{{{counts}}},"summary_line":"1 example, 1 failure"}}'
    story = told(printed + line, exit_code=1)
    assert story.failures == ["well is deep"]
    assert story.counts == (0, 1, 0, 0)
    assert "AMBIGUOUS_DIALECT" in story.doubts


def test_each_line_goes_once_to_each_candidate() -> None:
    told("ok 1 - a\n..\n1..1\nTAP version 13\n")


def test_a_failure_in_either_report_is_kept() -> None:
    """P2."""
    failing = SPEC.replace("✔", "✖").replace("pass 1", "pass 0").replace("fail 0", "fail 1")
    story = told("1..1\nnot ok 1 - cup\n" + failing, 1)
    assert {"cup"} <= set(story.failures) | {line.partition(" - ")[2] for line in story.unclassified}
    assert story.verdict.startswith("failed")


def test_standard_error_is_never_read_as_tap() -> None:
    """READ-9."""
    story = told(TAP, stderr="not ok 2 - printed on standard error\n1..9\n")
    assert (story.counts, len(story.unclassified), story.verdict) == ((1, 0, 0, 0), 2, "indeterminate?")


def test_a_byte_order_mark_is_no_text() -> None:
    assert told(b"\xef\xbb\xbfTAP version 13\n" + TAP.encode()).verdict == "passed"
    assert told(b"\xef\xbb\xbf" + TAP.encode()).verdict == "passed"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_chunks(size: int) -> None:
    """READ-3."""
    stream = "noise\n" + TAP + SPEC + "é\u2028\n" + "1..2\nok 1\nnot ok 2 - a\n  ---\n  x: 1\n  ...\n"
    assert told(stream, 1, size=size) == told(stream, 1)


@pytest.mark.parametrize("line", ["> not ok 2 - cup", "> FATAL: fire", "> 3 failing"])
def test_only_a_banner_is_a_banner(line: str) -> None:
    assert told(TAP + line + "\n").verdict != "passed"


def test_a_last_line_that_opens_a_stretch_may_be_cut() -> None:
    """P1: the machine that it opens hears of it, too."""
    cut = "error: no test target named `oven` in default-run pack"
    assert told("", stderr=cut, exit_code=101).verdict == "failed?"
    assert told("", stderr=cut + "ages\n", exit_code=101).verdict == "failed"


def test_another_report_behind_a_failing_last_point() -> None:
    """TAP-6, READ-5: it is no detail of that point."""
    story = told("1..1\nnot ok 1 - tea\n" + SPEC, exit_code=1)
    assert (story.verdict, "AMBIGUOUS_DIALECT" in story.doubts) == ("failed?", True)
    assert story.transcript.event_count == 2 + SPEC.count("\n")


def test_an_opening_that_has_its_place_goes_first() -> None:
    """READ-17: a tick below a title and an empty line is tap-spec's, any other is mocha's."""
    totals = "\n  total:     1\n  passing:   1\n  duration:  1ms\n\n"
    assert told("\n  tea\n\n    ✔ pours\n" + totals).verdict == "passed"
    assert "AMBIGUOUS_DIALECT" not in told("\n  tea\n\n    ✔ pours\n" + totals).doubts
    assert told("\n  tea\n    ✔ pours\n" + totals).verdict != "passed"


def test_an_opening_with_a_place_joins_no_stretch() -> None:
    """READ-17."""
    story = told("1..2\nok 1 - a\n\n  tea\n\n  total:     1\nok 2 - b\n")
    assert "AMBIGUOUS_DIALECT" not in story.doubts
    assert story.counts == (2, 0, 0, 0)


def test_an_opening_that_its_own_machine_leaves_is_kept() -> None:
    """P3: CTest prints no result on standard error."""
    story = told(TAP, stderr="Test project /srv/tea\n")
    assert story.unclassified == ["Test project /srv/tea"]
