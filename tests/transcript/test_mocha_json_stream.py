"""mocha's json-stream: its events, and what must not be taken for them."""

import json

import pytest

from context_firewall import SourceStream, reduce_streams, serialize_packet
from context_firewall.transcript.dialects.mocha_json_stream import PASSED, event_of
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.reader import read_streams, trace_streams


def event(word: str, **told: object) -> str:
    return json.dumps([word, told], separators=(",", ":"), ensure_ascii=False) + "\n"


def passed(name: str) -> str:
    told = {"title": name, "fullTitle": f"pond {name}", "file": "/srv/pond.test.js"}
    return event("pass", **told, duration=0, currentRetry=0, speed="fast")


def failed(name: str) -> str:
    return event(
        "fail", title=name, fullTitle=f"pond {name}", err="too cold", stack="Error: too cold\n    at pond.js:4"
    )


def end(passes: int, failures: int = 0, pending: int = 0) -> str:
    tests = passes + failures
    return event("end", suites=1, tests=tests, passes=passes, pending=pending, failures=failures)


START = event("start", total=3)
GREEN = START + passed("ripples") + passed("freezes") + end(2, 0, 1)
RED = START + passed("ripples") + failed("warms") + end(1, 1)


def read(text: str, exit_code: int | None = 0) -> Transcript:
    return read_streams([("stdout", [text.encode()])], exit_code=exit_code)


def counts(transcript: Transcript) -> tuple[int, int, int]:
    tally = transcript.tally
    return tally.passed, tally.failed, tally.skipped


def test_a_green_run() -> None:
    """MOCHA-7."""
    transcript = read(GREEN)
    assert counts(transcript) == (2, 0, 1)
    assert not transcript.doubts


def test_a_red_run() -> None:
    """MOCHA-7: the line is the region."""
    transcript = read(RED, 1)
    assert [failure.identity for failure in transcript.failures] == ["pond warms"]
    assert counts(transcript) == (1, 1, 0)
    assert not transcript.doubts


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '["pass"]',
        '["pass",{}]',
        '["pass",{"fullTitle":1}]',
        '["pass",{"fullTitle":"a","fullTitle":"b"}]',
        '["end",{"passes":1,"failures":0}]',
        '["end",{"passes":true,"failures":0,"pending":0}]',
        '["pass",{"fullTitle":"a"},1]',
        '["start",{"total":-1}]',
        ' ["start",{"total":1}]',
    ],
)
def test_what_is_no_event(text: str) -> None:
    assert event_of(text.encode()) is None


@pytest.mark.parametrize("text", [GREEN, RED])
def test_a_run_that_is_cut_never_passes(text: str) -> None:
    """P1."""
    data = text.encode()
    for stop in range(len(data) - 1):
        transcript = read_streams([("stdout", [data[:stop]])], exit_code=0)
        assert transcript.doubts or transcript.unclassified or not transcript.has_results


@pytest.mark.parametrize(
    "text",
    [
        START + passed("ripples") + end(2),
        START + passed("ripples") + failed("warms") + end(2),
        START + passed("ripples") + passed("printed") + end(1),
        START + passed("ripples") + end(1) + passed("freezes") + end(2),
        START + passed("ripples") + end(9) + passed("freezes") + end(2),
        START + "printed\n" + passed("ripples") + end(1),
        START + START + passed("ripples") + end(1),
    ],
)
def test_what_does_not_agree_is_in_doubt(text: str) -> None:
    """MOCHA-7 and P1."""
    transcript = read(text)
    assert transcript.doubts
    assert transcript.doubts & {Doubt.AGGREGATE_CONTRADICTION, Doubt.UNCLASSIFIED_EVIDENCE}


def test_two_runs() -> None:
    transcript = read(RED + GREEN, 1)
    assert counts(transcript) == (3, 1, 1)
    assert not transcript.doubts


def test_no_tests() -> None:
    assert Doubt.NO_TEST_EVIDENCE in read(event("start", total=0) + end(0)).doubts


def test_the_lane_takes_what_mocha_prints() -> None:
    assert PASSED.fullmatch((passed("ripples") * 3).encode())
    assert not PASSED.fullmatch(passed('a "b"').encode())


@pytest.mark.parametrize("text", [GREEN, RED, RED + "x\n\n" + GREEN])
def test_every_line_is_accounted_for_once(text: str) -> None:
    """P3; and lanes make no difference."""
    transcript, traces = trace_streams([("stdout", [text.encode()])], exit_code=1)
    assert transcript.event_count == text.count("\n") == len(traces)
    assert transcript == read(text, 1)


@pytest.mark.parametrize("text", [START + '["fail",{"fullTitle":"\\ud800"}]\n' + end(0, 1), START + end(10**30)])
def test_what_no_document_can_hold(text: str) -> None:
    """P7: half a surrogate pair, and a number that is no count."""
    serialize_packet(reduce_streams([SourceStream("stdout", len(text), [text.encode()])], exit_code=1))
