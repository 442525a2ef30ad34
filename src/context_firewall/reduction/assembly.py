"""Transcript, verdict and plan become a packet. Nothing is decided here; everything is counted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from context_firewall.canonical import RunningHash, canonical_bytes, canonical_pieces, canonical_sha256
from context_firewall.documents.evidence_packet import (
    PROTOCOL,
    RECEIPT_VERSION,
    DecisionEvidence,
    Evidence,
    EvidencePacket,
    FailureEvidence,
    OmittedFailures,
    Receipt,
    SharedRegion,
    block_reference,
    line_evidence,
    line_reference,
)
from context_firewall.documents.test_run_input import PROTOCOL as INPUT_PROTOCOL
from context_firewall.reduction.retention import RetentionPlan, Show, smallest_fixed_point
from context_firewall.reduction.verdict import Circumstances, Disposition, Verdict
from context_firewall.transcript.facts import Failure, Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.noise import NoiseRule, declared_keys
from context_firewall.version import REDUCER_NAME, __version__

# Looked up for each line that is shown; asking an enumeration takes four times as long.
_CATEGORY = {kind: kind.value for kind in Kind}

# Evidence that every packet carries in fields of its own, whatever lines it shows.
ALWAYS_RETAINED = ("aggregate_counts", "process_status", "run_verdict", "stream_provenance")


class StreamMeasure(NamedTuple):
    """A stream that was read, and its length in bytes."""

    name: str
    byte_count: int


class Configuration(NamedTuple):
    """What was asked for: it goes into the configuration identity."""

    policy_revision: str
    max_output_bytes: int | None
    dialect: str
    noise: tuple[NoiseRule, ...] = ()
    """In canonical form (`parse_noise`)."""

    @property
    def identity(self) -> str:
        """Digest of the configuration; an option that is at its default does not enter it."""
        configured: dict[str, Any] = {
            "max_output_bytes": self.max_output_bytes,
            "policy_revision": self.policy_revision,
            "reducer_version": __version__,
        }
        if self.dialect != "auto":
            configured["dialect"] = self.dialect
        if self.noise:
            configured["noise"] = declared_keys(self.noise)
        return canonical_sha256(configured)


class Reduction(NamedTuple):
    """All that a packet is made of, save verdict and plan, which the ladder varies."""

    transcript: Transcript
    circumstances: Circumstances
    configuration: Configuration
    streams: tuple[StreamMeasure, ...]
    input_hash: str


def assemble(reduction: Reduction, verdict: Verdict, plan: RetentionPlan) -> EvidencePacket:
    """The packet of one plan, with its own length in it."""
    evidence = decision_evidence(reduction, verdict, plan)
    digest = RunningHash()
    for piece in canonical_pieces(evidence):
        digest.update(piece)
    shown, hidden = (
        Counter(map(attrgetter("kind"), lines(reduction.transcript))) for lines in (plan.shown_lines, plan.hidden_lines)
    )
    affected = not plan.shows_everything
    receipt = receipt_for(reduction, verdict, shown, hidden, affected=affected, semantic_hash=digest.digest())
    # The evidence is by far the largest part and was written already, so only the rest is serialised for its length.
    base = length_around_evidence(reduction, receipt) + digest.byte_count
    receipt["measurements"]["reduced_bytes"] = smallest_fixed_point(base)
    return {
        "decision_evidence": evidence,
        "operation_id": reduction.circumstances.operation_id,
        "protocol_version": PROTOCOL,
        "receipt": receipt,
    }


def length_around_evidence(reduction: Reduction, receipt: Receipt) -> int:
    """The length of a packet with its final newline, less its evidence and the digits of its own length."""
    around = {
        "decision_evidence": None,
        "operation_id": reduction.circumstances.operation_id,
        "protocol_version": PROTOCOL,
        "receipt": {**receipt, "measurements": {**receipt["measurements"], "reduced_bytes": 0}},
    }
    return len(canonical_bytes(around)) - len("null") - len("0") + len("\n")


def decision_evidence(reduction: Reduction, verdict: Verdict, plan: RetentionPlan) -> DecisionEvidence:
    transcript, circumstances = reduction.transcript, reduction.circumstances
    tally = transcript.tally
    evidence: DecisionEvidence = {
        "counts": {
            "failed": tally.failed,
            "passed": tally.passed,
            "skipped": tally.skipped,
            "total": tally.total,
        },
        "disposition": verdict.disposition.value,
        "failures": _failures(transcript, plan),
        "fatal_errors": evidence_of(transcript.fatal_errors, plan.stops),
        "process": {
            "duration_ms": circumstances.duration_ms,
            "exit_code": circumstances.exit_code,
            "interrupted": circumstances.interrupted,
        },
        "reason_codes": verdict.reason_codes,
        "source": {"id": circumstances.source_id, "run_id": circumstances.run_id},
        "status": verdict.status.value,
        "timeouts": evidence_of(transcript.timeouts, plan.stops),
        "unclassified_evidence": unclassified_evidence(transcript.unclassified, plan),
        "warnings": evidence_of(transcript.warnings, plan.remarks),
    }
    # Keys that seed packets do not have appear only where they say something.
    if tally.todo:
        evidence["counts"]["todo"] = tally.todo
    todo = evidence_of(transcript.todo, plan.todo_form)
    if todo:
        evidence["todo"] = todo
    if plan.named is not None and plan.named < len(transcript.failures):
        evidence["omitted_failures"] = omitted_failures(transcript.failures[plan.named :])
    return evidence


def _failures(transcript: Transcript, plan: RetentionPlan) -> list[FailureEvidence]:
    entries: dict[int, FailureEvidence] = {}
    for index, failure in enumerate(transcript.failures[: plan.named]):
        twin = plan.twin(index)
        if twin is None:
            entries[index] = failure_entry(failure, plan.form_of_failure(index))
        else:
            entries[twin].setdefault("also", []).append(shared_region(failure))
    return list(entries.values())


def failure_entry(failure: Failure, form: Show) -> FailureEvidence:
    """A failure with a region of its own."""
    entry: FailureEvidence = {"identity": failure.identity}
    if form is Show.BLOCKS:
        lines = list(failure.lines())
        if lines:
            entry["region"] = _together([line for line in lines if line.stream == lines[0].stream], lines[0].kind)
        elsewhere = [line for line in lines if line.stream != lines[0].stream]
        if elsewhere:
            entry["elsewhere"] = _together(elsewhere, lines[0].kind)
    elif form is not Show.NOTHING:
        if failure.header is not None:
            entry["header"] = _line(failure.header, form)
        entry["details"] = evidence_of(failure.details, form)
    return entry


def shared_region(failure: Failure) -> SharedRegion:
    """A failure whose region another one shows."""
    if failure.header is None:
        raise ValueError("a failure without a header has no place of its own, so it shares no region")
    return {"identity": failure.identity, "line": failure.header.number}


def omitted_failures(failures: Sequence[Failure]) -> OmittedFailures:
    """Failures that a ceiling left unnamed, by count and digest."""
    numbers = [line.number for failure in failures for line in failure.lines()]
    accounts = [[failure.identity, *(line.sha256 for line in failure.lines())] for failure in failures]
    return {
        "count": len(failures),
        "first_line": min(numbers, default=0),
        "last_line": max(numbers, default=0),
        "sha256": canonical_sha256(accounts),
    }


def unclassified_evidence(lines: Sequence[Line], plan: RetentionPlan) -> list[Evidence]:
    """Unclassified lines in the form of a plan, which may keep the text of the first and the last."""
    head, middle, tail = plan.edged(lines)
    return [
        *evidence_of(head, Show.TEXT),
        *evidence_of(middle, plan.remarks),
        *evidence_of(tail, Show.TEXT),
    ]


def evidence_of(lines: Sequence[Line], form: Show) -> list[Evidence]:
    """A list of evidence in the form that a plan gives it."""
    match form:
        case Show.NOTHING:
            return []
        case Show.TEXT:  # most lines come this way
            return [line_evidence(_CATEGORY[line.kind], line.stream, line.number, line.text) for line in lines]
        case Show.REFERENCE:
            return [_line(line, form) for line in lines]
        case Show.BLOCKS:
            return [_block(block, adjacent=True) for block in _adjacent(lines)]
        case Show.DIGEST:
            groups: dict[tuple[str, Kind], list[Line]] = {}
            for line in lines:
                groups.setdefault((line.stream, line.kind), []).append(line)
            return [_block(group, adjacent=_is_adjacent(group)) for group in groups.values()]


def _line(line: Line, form: Show) -> Evidence:
    build = line_evidence if form is Show.TEXT else line_reference
    return build(_CATEGORY[line.kind], line.stream, line.number, line.text)


def _block(lines: Sequence[Line], *, adjacent: bool, kind: Kind | None = None) -> Evidence:
    """One reference to all the lines; `kind` is what they are together, where that is not the first one's kind."""
    first = lines[0] if kind is None else lines[0].as_kind(kind)
    if len(lines) == 1:
        return _line(first, Show.REFERENCE)
    texts = ((line.number, line.text) for line in lines)
    return block_reference(first.kind.value, first.stream, texts, adjacent=adjacent)


def _together(lines: Iterable[Line], kind: Kind) -> Evidence:
    """One reference to those lines of a failure that stand in one stream."""
    region = sorted(lines, key=lambda line: line.number)
    return _block(region, adjacent=_is_adjacent(region), kind=kind)


def _adjacent(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Blocks of lines of one kind that follow one another in one stream."""
    block: list[Line] = []
    for line in lines:
        if block and not _follows(block[-1], line):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _follows(earlier: Line, later: Line) -> bool:
    same = (earlier.stream, earlier.kind) == (later.stream, later.kind)
    return same and later.number == earlier.number + 1


def _is_adjacent(lines: Sequence[Line]) -> bool:
    return all(later.number == earlier.number + 1 for earlier, later in pairwise(lines))


def receipt_for(
    reduction: Reduction,
    verdict: Verdict,
    shown: Mapping[Kind, int],
    hidden: Mapping[Kind, int],
    *,
    affected: bool,
    semantic_hash: str,
) -> Receipt:
    """The receipt for showing some of the kept lines and hiding the others, both counted by kind; its length is 0."""
    transcript, circumstances, configuration = reduction.transcript, reduction.circumstances, reduction.configuration
    suppressed: Counter[Kind] = Counter(transcript.suppressed)
    suppressed.update(hidden)
    retained_count, suppressed_count = sum(shown.values()), suppressed.total()
    sufficient = verdict.disposition is Disposition.SUFFICIENT
    reference = circumstances.raw_evidence_ref
    return {
        "configuration": {
            "identity": configuration.identity,
            "max_output_bytes": configuration.max_output_bytes,
            "policy_revision": configuration.policy_revision,
        },
        "input_hash": reduction.input_hash,
        "measurements": {
            "original_bytes": sum(stream.byte_count for stream in reduction.streams),
            "original_event_count": transcript.event_count,
            "reduced_bytes": 0,
            "retained_evidence_count": retained_count,
            "suppressed_evidence_count": suppressed_count,
        },
        "payload_limit": {
            "affected": affected,
            "honored": True,
            "requested_bytes": configuration.max_output_bytes,
        },
        "raw_evidence": {
            "destroyed_by_reducer": False,
            "escalation_available": reference is not None,
            "escalation_required": not sufficient,
            "reference": reference,
            "source_evidence_disposition": "PRESERVATION_UNCONFIRMED"
            if reference is None
            else "CALLER_REFERENCE_SUPPLIED",
            "suppressed_from_model_context": suppressed_count > 0,
        },
        "receipt_version": RECEIPT_VERSION,
        "reducer": {"name": REDUCER_NAME, "version": __version__},
        "reduction_complete": sufficient,
        "retained": {
            "categories": sorted({*ALWAYS_RETAINED, *(kind.value for kind, count in shown.items() if count)}),
            "event_count": retained_count,
        },
        "semantic_payload_hash": semantic_hash,
        "source": {
            "id": circumstances.source_id,
            "protocol_version": INPUT_PROTOCOL,
            "run_id": circumstances.run_id,
            "streams": [{"byte_count": stream.byte_count, "name": stream.name} for stream in reduction.streams],
        },
        "suppressed": {
            "categories": {kind.value: count for kind, count in sorted(suppressed.items()) if count},
            "event_count": suppressed_count,
        },
        "unclassified_evidence_present": bool(transcript.unclassified),
    }
