"""The test harness' events."""

import pytest

from context_firewall import SourceStream, reduce_streams, serialize_packet
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.reader import read_streams

STARTS = '{ "type": "suite", "event": "started", "test_count": 3 }\n'


def begins(name: str) -> str:
    return f'{{ "type": "test", "event": "started", "name": "{name}" }}\n'


def ends(name: str, word: str = "ok", rest: str = "") -> str:
    return f'{{ "type": "test", "name": "{name}", "event": "{word}"{rest} }}\n'


def suite(passed: int, failed: int, ignored: int) -> str:
    word = "failed" if failed else "ok"
    counts = f'"passed": {passed}, "failed": {failed}, "ignored": {ignored}, "measured": 0, "filtered_out": 0'
    return f'{{ "type": "suite", "event": "{word}", {counts}, "exec_time": 0.01 }}\n'


RUN = (
    STARTS + begins("a") + ends("a") + begins("b") + begins("c") + ends("c", "ignored", ', "message": "later"')
    + ends("b", "failed", ', "stdout": "cold\\n"') + suite(1, 1, 1)
)  # fmt: skip


def read(text: str, exit_code: int | None = 101) -> Transcript:
    return read_streams([("stdout", [text.encode()])], exit_code=exit_code)


def test_a_failing_tests_event_is_its_region() -> None:
    transcript = read(RUN)
    assert (transcript.tally.passed, transcript.tally.failed, transcript.tally.skipped) == (1, 1, 1)
    assert [failure.identity for failure in transcript.failures] == ["b"]
    assert not transcript.doubts


def test_suites_add_up() -> None:
    green = STARTS.replace("3", "1") + begins("z") + ends("z") + suite(1, 0, 0)
    assert read(RUN + green).tally.passed == 2


@pytest.mark.parametrize("lost", RUN.splitlines(keepends=True)[1:])
def test_a_lost_event_is_missed(lost: str) -> None:
    assert read(RUN.replace(lost, "", 1)).doubts


def test_a_suite_without_its_end_is_not_whole() -> None:
    transcript = read(STARTS + begins("a") + ends("a") + begins("b"), 0)
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


@pytest.mark.parametrize(
    "line",
    [
        ends("forged"), ends("a"), begins("b") + begins("b"), '{ "type": "test", "event": "ok", "event": "failed" }\n',
        '{ "type": "test", "name": 3, "event": "ok" }\n', '{ "type": "test", [}\n', "plain text\n", STARTS,
    ],
)  # fmt: skip
def test_what_does_not_belong_is_in_doubt(line: str) -> None:
    assert read(RUN.replace(suite(1, 1, 1), line + suite(1, 1, 1))).doubts


def test_counts_that_are_no_counts() -> None:
    assert read(RUN.replace('"passed": 1', '"passed": true')).doubts


def test_lanes_read_what_lines_read() -> None:
    names = [f"case_{n}" for n in range(400)]
    text = (
        STARTS.replace("3", "401")
        + "".join(begins(name) + ends(name) for name in names)
        + begins("x")
        + ends("x", "ignored")
    )
    transcript = read(text + suite(400, 0, 1), 0)
    assert (transcript.tally.passed, transcript.tally.skipped) == (400, 1)
    assert not transcript.doubts


@pytest.mark.parametrize(
    "text",
    [
        STARTS + begins("\\ud800") + ends("\\ud800", "failed") + suite(0, 1, 0),
        STARTS + begins("a") + ends("a") + suite(10**30, 0, 0),
    ],
)
def test_what_no_document_can_hold(text: str) -> None:
    """P7: half a surrogate pair, and a number that is no count."""
    serialize_packet(reduce_streams([SourceStream("stdout", len(text), [text.encode()])], exit_code=101))
