"""The corpus' runs, and what may become of a report: torn, out of order, or with a piece of another runner's inside."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from context_firewall.conformance.runner import ENVELOPE, OPTIONS, STREAM_FILES, find_fixtures
from context_firewall.documents.test_run_input import parse_test_run_input
from context_firewall.errors import ContextFirewallError
from context_firewall.reduction.verdict import Circumstances, Verdict, judge_v3
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.reader import read_streams

CORPUS = Path(__file__).resolve().parents[2] / "conformance" / "v3"
NEAR_THE_END = 80
"""Bytes before the end at each of which a stream is cut."""
LOST = (1, 2, 4)
"""Lines that go missing together."""

Streams = tuple[tuple[str, bytes], ...]


class Run(NamedTuple):
    """A fixture's input, without a ceiling, a declaration of noise or a dialect's name."""

    name: str
    streams: Streams
    exit_code: int | None
    interrupted: bool

    def with_stream(self, at: int, data: bytes) -> "Run":
        """The same run, another text on one of its streams."""
        name = self.streams[at][0]
        return self._replace(streams=(*self.streams[:at], (name, data), *self.streams[at + 1 :]))


class Told(NamedTuple):
    """What the product says of a run."""

    verdict: Verdict
    transcript: Transcript

    @property
    def green(self) -> bool:
        return str(self.verdict.status) == "passed"

    @property
    def sufficient(self) -> bool:
        return not self.verdict.reasons

    @property
    def counts(self) -> tuple[int, int, int, int]:
        tally = self.transcript.tally
        return tally.passed, tally.failed, tally.skipped, tally.todo


def told(run: Run, exit_code: int | None) -> Told:
    """Read a run and judge it; everything but its text and its exit code is as it should be."""
    transcript = read_streams([(name, [data]) for name, data in run.streams], exit_code=exit_code)
    known = Circumstances("op", "suite", "run", "ref", exit_code, None, run.interrupted)
    return Told(judge_v3(transcript, known), transcript)


def lines_of(data: bytes) -> Iterator[bytes]:
    """Lines, each with its newline; the last one may have none."""
    *whole, rest = data.split(b"\n")
    yield from (line + b"\n" for line in whole)
    if rest:
        yield rest


def damages(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Cut behind each line and at each byte near the end, beheaded, lines lost, doubled and swapped."""
    lines = [*lines_of(data)]
    for at in range(len(lines)):
        yield f"cut behind line {at}", b"".join(lines[:at])
        yield f"without a head of {at + 1} lines", b"".join(lines[at + 1 :])
        yield f"line {at + 1} twice", b"".join([*lines[: at + 1], *lines[at:]])
        yield f"line {at + 1} behind the next", b"".join([*lines[:at], *lines[at : at + 2][::-1], *lines[at + 2 :]])
        for count in LOST:
            yield f"without {count} lines from {at + 1}", b"".join([*lines[:at], *lines[at + count :]])
    for at in range(max(0, len(data) - NEAR_THE_END), len(data)):
        yield f"cut at byte {at}", data[:at]


def pieces(data: bytes) -> Iterator[bytes]:
    """What may be printed of a report: all of it, its beginning, its end, and every line."""
    lines = [line.removesuffix(b"\n") + b"\n" for line in lines_of(data)]
    yield from {b"".join(lines), b"".join(lines[:3]), b"".join(lines[-5:]), *(line for line in lines if line.strip())}


def with_piece(data: bytes, piece: bytes, at: int, *, glued: bool) -> bytes:
    """A report with a piece behind its first `at` lines, or `glued` to the last of them."""
    lines = [*lines_of(data)]
    before = b"".join(lines[:at])
    return (before.removesuffix(b"\n") if glued else before) + piece + b"".join(lines[at:])


@cache
def runs() -> tuple[Run, ...]:
    """The runs of the corpus, by name."""
    return tuple(run for fixture in find_fixtures(CORPUS) if (run := _run(fixture.name, fixture.folder)) is not None)


def _run(name: str, folder: Path) -> Run | None:
    options = json.loads((folder / OPTIONS).read_bytes()) if (folder / OPTIONS).exists() else {}
    if options.keys() & {"noise", "max_output_bytes", "dialect"}:
        return None
    if (folder / ENVELOPE).exists():
        try:
            found = parse_test_run_input((folder / ENVELOPE).read_bytes())
        except ContextFirewallError:
            return None
        streams = tuple((stream.name, stream.data) for stream in found.streams)
        return Run(name, streams, found.process.exit_code, found.process.interrupted)
    printed = ((stream, folder / file) for stream, files in STREAM_FILES.items() for file in files)
    streams = tuple((stream, path.read_bytes()) for stream, path in printed if path.exists())
    return Run(name, streams, options.get("exit_code"), bool(options.get("interrupted") or options.get("timed_out")))
