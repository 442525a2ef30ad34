"""What single points come to: outcome, name, region."""

import pytest
from tap_story import told

from context_firewall.transcript.kinds import Kind


@pytest.mark.parametrize(
    ("point", "exit_code", "counts", "verdict"),
    [
        ("ok 1 - tea", 0, (1, 0, 0, 0), "passed"),
        ("ok 1", 0, (1, 0, 0, 0), "passed"),
        ("ok", 0, (1, 0, 0, 0), "passed"),
        ("ok 1 - tea # SKIP cold", 0, (0, 0, 1, 0), "passed"),
        ("ok 1 - tea # TODO pour", 0, (0, 0, 0, 1), "passed"),
        ("not ok 1 - tea", 1, (0, 1, 0, 0), "failed"),
        ("not ok 1 - tea", 0, (0, 1, 0, 0), "failed?"),
        ("not ok 1 - tea # SKIP cold", 0, (0, 0, 1, 0), "passed"),
        ("not ok 1 - tea # TODO pour", 0, (0, 0, 0, 1), "passed"),
        ("not ok 1 - tea #skip", 1, (0, 1, 0, 0), "failed"),
        ("not ok 1 - tea # TODO: pour", 1, (0, 1, 0, 0), "failed"),
        ("not ok 1 - tea # SKIPPED", 1, (0, 1, 0, 0), "failed"),
        ("not ok 1 - tea \\# SKIP", 1, (0, 1, 0, 0), "failed"),
        ("not ok 1 - tea # milk # SKIP", 1, (0, 1, 0, 0), "failed"),
        ("ok 1 - tea", 1, (1, 0, 0, 0), "failed?"),
        ("ok 1 - tea", None, (1, 0, 0, 0), "indeterminate?"),
    ],
)
def test_outcomes(point: str, exit_code: int | None, counts: tuple[int, int, int, int], verdict: str) -> None:
    """TAP-1, TAP-2."""
    story = told(f"1..1\n{point}\n", exit_code)
    assert (story.counts, story.verdict) == (counts, verdict)


@pytest.mark.parametrize("word", ["SKIP", "TODO"])
def test_an_excused_refusal_stays_visible(word: str) -> None:
    """TAP-4."""
    story = told(f"1..1\nnot ok 1 - tea # {word}\n  ---\n  message: cold\n  ...\n")
    assert [line.text for line in story.transcript.todo] == [f"not ok 1 - tea # {word}"]
    assert story.suppressed(Kind.TEST_DETAIL) == 3


@pytest.mark.parametrize(
    ("point", "name"),
    [
        ("not ok 1 - FAILED tests 3", "FAILED tests 3"),
        ("not ok 1 - tea \\# 2", "tea # 2"),
        ("not ok 1 - 1..3", "1..3"),
        ("not ok 1 - ok 2 - cup", "ok 2 - cup"),
        ("not ok 1 - ключ", "ключ"),
        ("not ok 1", "(unnamed test)"),
        ("\x1b[31mnot ok 1 - red\x1b[0m", "red"),
        ("not ok 1 - carriage\r", "carriage"),
        ("not ok 1 - a\rb", "a\rb"),
        ("not ok 1 - a\u2028b", "a\u2028b"),
        ("not ok 1 - a\0b", "a\0b"),
    ],
)
def test_names(point: str, name: str) -> None:
    """TAP-3, READ-1, READ-2."""
    assert told(f"1..1\n{point}\n", 1).failures == [name]


def test_a_bad_byte_spoils_its_own_line_only() -> None:
    """READ-8."""
    story = told(b"1..2\nok 1 - caf\xe9\nnot ok 2 - tea\n", 1)
    assert (story.counts, story.failures, story.doubts) == ((1, 1, 0, 0), ["tea"], {"MALFORMED_UTF8"})


def test_all_lines_below_a_failure_are_its_region() -> None:
    """TAP-6."""
    story = told("1..2\nnot ok 1 - tea\n  spilled\nplain text\n# a remark\n\n  more\nok 2 - cup\n", 1)
    assert story.details == [["  spilled", "plain text", "# a remark", "", "  more"]]
    assert story.verdict == "failed"


@pytest.mark.parametrize(
    ("line", "place"),
    [("FATAL: fire", "fatal_errors"), ("TIMEOUT: late", "timeouts"), ("WARNING: hot", "warnings")],
)
def test_markers_after_a_failure_are_no_details(line: str, place: str) -> None:
    """READ-7."""
    story = told(f"1..1\nnot ok 1 - tea\n{line}\n", 1)
    assert [kept.text for kept in getattr(story.transcript, place)] == [line]
    assert story.details == [[]]


def test_a_bail_out_after_a_failure_is_fatal() -> None:
    """TAP-14."""
    story = told("1..2\nnot ok 1 - tea\nBail out! no cups\n", 1)
    assert [line.text for line in story.transcript.fatal_errors] == ["Bail out! no cups"]
    assert story.failures == ["tea"]


@pytest.mark.parametrize("line", ["okay then", "ok: fine", "PASS", "ERROR: no", "not okay", "NOT OK 2", "\tnot ok 2"])
def test_words_in_prose_are_no_points(line: str) -> None:
    """P4."""
    story = told(f"1..1\nok 1 - tea\n{line}\n")
    assert (story.counts, story.unclassified, story.verdict) == ((1, 0, 0, 0), [line], "indeterminate?")


def test_text_glued_to_a_point_is_not_a_pass() -> None:
    story = told("1..2\nok 1 - tea\nno newlineok 2 - cup\n")
    assert (story.unclassified, story.verdict) == (["no newlineok 2 - cup"], "indeterminate?")


def test_a_lone_carriage_return_hides_no_refusal() -> None:
    assert told("1..2\nok 1 - tea\nok 2 - cup\rnot ok 2 - cup\n").verdict != "passed"


def test_output_above_a_point_that_passed_is_counted_whatever_its_block_says() -> None:
    """P3: a block with an exit code is one of Node's for a file that failed; below `ok` it is somebody else's."""
    stream = (
        "TAP version 13\n# kettle\nok 1 - holds\n  ---\n  failureType: 'testCodeFailure'\n  exitCode: 1\n  ...\n1..1\n"
    )
    assert told(stream, 1).transcript.event_count == stream.count("\n")
