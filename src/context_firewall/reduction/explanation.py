"""Why a packet is what it is: the same reduction, with the fate of every line written down."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Unpack

from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.explanation import PROTOCOL, ExplainedStream, Explanation, Fate, Span
from context_firewall.errors import InvalidInput
from context_firewall.reduction.assembly import Configuration
from context_firewall.reduction.pipeline import (
    DEFAULT_POLICY,
    RunOptions,
    SourceStream,
    Streams,
    descend,
    policy_named,
    reduction_of,
)
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import Trace, trace_streams

# What decides that a line is of a kind, in words; the dialect that read it stands before.
RULES: Mapping[Kind, str] = {
    Kind.SUCCESSFUL_TEST: "a result that passed",
    Kind.SKIPPED_TEST: "a result that was skipped",
    Kind.FAILED_TEST: "a result that failed",
    Kind.TODO_TEST: "a result that is expected to fail or still to do",
    Kind.ASSERTION: "in a failure's region: what was expected and what was found",
    Kind.STACK_TRACE: "in a failure's region: an error's name or a place in the code",
    Kind.FAILURE_MESSAGE: "in a failure's region: its message",
    Kind.FAILURE_DETAIL: "in a failure's region",
    Kind.FAILURE_CONTEXT: "in a failure's region: source or values around what says why",
    Kind.AGGREGATE_SOURCE: "a total, in the summary's place",
    Kind.DURATION_SOURCE: "a duration, in the summary's place",
    Kind.STRUCTURE: "the format's own frame: a version, plan, heading or bracket",
    Kind.INFORMATIONAL: "what the runner says about itself",
    Kind.PROGRESS: "progress signs",
    Kind.BLANK: "an empty line outside every region",
    Kind.FATAL_ERROR: "a fatal marker, or the runner giving up",
    Kind.TIMEOUT: "a timeout marker",
    Kind.ABNORMAL_WARNING: "a warning marker",
    Kind.UNCLASSIFIED: "no rule knows this line here",
    Kind.UNCLASSIFIED_BINARY: "not UTF-8",
    Kind.CONTESTED_TEST: "shaped like a result, and denied by plan, totals or exit code",
    Kind.DERIVED_FAILURE: "a parent that fails only through its children",
    Kind.PROGRAM_OUTPUT: "output that the runner attributes to the program",
    Kind.RECAP: "a second print of something already read",
    Kind.PROCESS_FAILURE: "standard error of a process that failed outside any test",
    Kind.TEST_DETAIL: "details of a test that did not fail",
    Kind.DECLARED_NOISE: "declared as noise by the project",
}


def explain_streams(streams: Sequence[SourceStream], **options: Unpack[RunOptions]) -> Explanation:
    """Reduce a run and say of every line what it is, why, and what became of it.

    Takes the options of `reduce_streams` and raises the same errors; holds a note of every line in memory. Policy v2
    is not traced: InvalidInput.
    """
    row = policy_named(options.get("policy", DEFAULT_POLICY))
    if not row.dialects:
        raise InvalidInput(f"{row.revision} is not traced; explain with {DEFAULT_POLICY}", key="policy")
    traces: dict[tuple[str, int], Trace] = {}

    def read(handed: Streams, exit_code: int | None, configuration: Configuration) -> Transcript:
        transcript, found = trace_streams(
            handed, exit_code=exit_code, dialect=configuration.dialect, noise=configuration.noise
        )
        traces.update(found)
        return transcript

    reduction = reduction_of(streams, read, row, options)
    packet = descend(row, reduction)
    shown = set(_lines_with_text(packet["decision_evidence"]))
    kept = {(line.stream, line.number) for line in _kept(reduction.transcript)}
    owners = _owners(reduction.transcript, packet)
    spans: dict[str, list[tuple[int, Span]]] = {stream.name: [] for stream in reduction.streams}
    for (name, number), trace in sorted(traces.items()):
        fate: Fate = "suppressed"
        if (name, number) in kept:
            fate = "kept" if (name, number) in shown else "referenced"
        span: Span = {
            "dialect": trace.dialect,
            "fate": fate,
            "first": number,
            "kind": trace.kind.value,
            "last": number,
            "rule": f"{trace.dialect or 'outside every dialect'}: {RULES[trace.kind]}",
        }
        if (name, number) in owners:
            span["failure"] = owners[name, number]
        spans[name].append((number, span))
    explained: list[ExplainedStream] = [
        {
            "byte_count": stream.byte_count,
            "line_count": len(spans[stream.name]),
            "name": stream.name,
            "spans": list(_folded(spans[stream.name])),
        }
        for stream in reduction.streams
    ]
    return {"packet": packet, "protocol_version": PROTOCOL, "streams": explained}


def _folded(lines: Sequence[tuple[int, Span]]) -> Iterator[Span]:
    """Adjacent lines that differ in nothing but their number, as one span."""
    for _, group in groupby(enumerate(lines), lambda pair: (pair[1][0] - pair[0], _sameness(pair[1][1]))):
        members = [span for _, (_, span) in group]
        yield {**members[0], "last": members[-1]["last"]}


def _sameness(span: Span) -> tuple[Any, ...]:
    return span["dialect"], span["fate"], span["kind"], span["rule"], span.get("failure")


def _lines_with_text(evidence: Any) -> Iterator[tuple[str, int]]:
    """Places of all lines whose text stands somewhere in a part of the packet."""
    if isinstance(evidence, dict):
        if "text" in evidence:
            yield evidence["stream"], evidence["line"]
        for value in evidence.values():
            yield from _lines_with_text(value)
    elif isinstance(evidence, list):
        for value in evidence:
            yield from _lines_with_text(value)


def _kept(transcript: Transcript) -> Iterator[Any]:
    for failure in transcript.failures:
        yield from failure.lines()
    for lines in (
        transcript.fatal_errors,
        transcript.timeouts,
        transcript.warnings,
        transcript.unclassified,
        transcript.todo,
    ):
        yield from lines


def _owners(transcript: Transcript, packet: EvidencePacket) -> dict[tuple[str, int], int]:
    """For the lines of failures, the place of the failure in the packet's list."""
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(packet["decision_evidence"]["failures"]):
        for identity in (entry["identity"], *(other["identity"] for other in entry.get("also", ()))):
            places.setdefault(identity, []).append(place)
    owners: dict[tuple[str, int], int] = {}
    for failure in transcript.failures:
        known = places.get(failure.identity)
        if known:
            place = known.pop(0) if len(known) > 1 else known[0]
            owners.update(((line.stream, line.number), place) for line in failure.lines())
    return owners
