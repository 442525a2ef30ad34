"""What tests of a dialect ask of a run: its verdict, its failures' names, and what holds for every run."""

from collections.abc import Iterable

from context_firewall import SourceStream, reduce_streams
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import read_streams, trace_streams


def judged(exit_code: int, *, stdout: str = "", stderr: str = "") -> tuple[str, list[str]]:
    """Status and reasons."""
    streams = [SourceStream(n, len(d), [d]) for n, d in (("stdout", stdout.encode()), ("stderr", stderr.encode()))]
    packet = reduce_streams(
        streams, exit_code=exit_code, operation_id="op", source_id="suite", run_id="1", raw_evidence_ref="r"
    )
    evidence = packet["decision_evidence"]
    return evidence["status"], evidence["reason_codes"]


def names(transcript: Transcript) -> list[str]:
    """The failures by name."""
    return [found.identity for found in transcript.failures]


def texts(lines: Iterable[Line]) -> list[str]:
    """The lines' texts."""
    return [line.text for line in lines]


def assert_every_line_once(**streams: str) -> None:
    """Every line of the streams has one kind (P3)."""
    data = [(name, [text.encode()]) for name, text in streams.items()]
    found, traces = trace_streams(data, exit_code=1)
    lines = {
        (name, n) for name, text in streams.items() for n in range(1, len(text.removesuffix("\n").split("\n")) + 1)
    }
    assert set(traces) == lines
    assert found.event_count == len(lines)


def assert_chunks_make_no_difference(text: str, stream: str = "stdout") -> None:
    """Wherever the chunks end, the transcript is the same (READ-3)."""
    data = text.encode()
    whole = read_streams([(stream, [data])], exit_code=1)
    for size in (1, 7, 64):
        parts = [data[i : i + size] for i in range(0, len(data), size)]
        assert read_streams([(stream, parts)], exit_code=1) == whole
