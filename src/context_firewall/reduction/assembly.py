"""Transcript, verdict and plan become a packet. Nothing is decided here; everything is counted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from context_firewall.canonical import canonical_bytes, canonical_sha256, sha256
from context_firewall.documents.evidence_packet import (
    PROTOCOL,
    RECEIPT_VERSION,
    DecisionEvidence,
    Evidence,
    EvidencePacket,
    FailureEvidence,
    Receipt,
    line_evidence,
    line_reference,
)
from context_firewall.documents.test_run_input import PROTOCOL as INPUT_PROTOCOL
from context_firewall.reduction.retention import RetentionPlan, Show, smallest_fixed_point
from context_firewall.reduction.verdict import Circumstances, Disposition, Verdict
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.version import REDUCER_NAME, __version__

# Evidence that every packet carries in fields of its own, whatever lines it shows.
ALWAYS_RETAINED = ("aggregate_counts", "process_status", "run_verdict", "stream_provenance")


@dataclass(frozen=True, slots=True)
class StreamMeasure:
    """A stream that was read, and its length in bytes."""

    name: str
    byte_count: int


@dataclass(frozen=True, slots=True)
class Configuration:
    """What was asked for: it goes into the configuration identity."""

    policy_revision: str
    max_output_bytes: int | None
    dialect: str

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
        return canonical_sha256(configured)


@dataclass(frozen=True, slots=True)
class Reduction:
    """All that a packet is made of, save verdict and plan, which the ladder varies."""

    transcript: Transcript
    circumstances: Circumstances
    configuration: Configuration
    streams: tuple[StreamMeasure, ...]
    input_hash: str


def assemble(reduction: Reduction, verdict: Verdict, plan: RetentionPlan) -> EvidencePacket:
    """The packet of one plan, with its own length in it."""
    evidence = _decision_evidence(reduction, verdict, plan)
    evidence_bytes = canonical_bytes(evidence)
    receipt = _receipt(reduction, verdict, plan, sha256(evidence_bytes))
    packet: EvidencePacket = {
        "decision_evidence": evidence,
        "operation_id": reduction.circumstances.operation_id,
        "protocol_version": PROTOCOL,
        "receipt": receipt,
    }
    # The evidence is by far the largest part and is bytes already, so only the rest is serialised for its length:
    # here with null for the evidence and 0 for the length, whose places the real ones take, and a final newline.
    rest = canonical_bytes({**packet, "decision_evidence": None})
    base = len(rest) - len("null") + len(evidence_bytes) - len("0") + len("\n")
    receipt["measurements"]["reduced_bytes"] = smallest_fixed_point(base)
    return packet


def _decision_evidence(reduction: Reduction, verdict: Verdict, plan: RetentionPlan) -> DecisionEvidence:
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
        "fatal_errors": _lines(transcript.fatal_errors, plan.stops),
        "process": {
            "duration_ms": circumstances.duration_ms,
            "exit_code": circumstances.exit_code,
            "interrupted": circumstances.interrupted,
        },
        "reason_codes": verdict.reason_codes,
        "source": {"id": circumstances.source_id, "run_id": circumstances.run_id},
        "status": verdict.status.value,
        "timeouts": _lines(transcript.timeouts, plan.stops),
        "unclassified_evidence": _lines(transcript.unclassified, plan.remarks),
        "warnings": _lines(transcript.warnings, plan.remarks),
    }
    # Keys that seed packets do not have appear only where they say something.
    if tally.todo:
        evidence["counts"]["todo"] = tally.todo
    todo = _lines(transcript.todo, plan.remarks)
    if todo:
        evidence["todo"] = todo
    return evidence


def _failures(transcript: Transcript, plan: RetentionPlan) -> list[FailureEvidence]:
    found: list[FailureEvidence] = []
    for index, failure in enumerate(transcript.failures):
        entry: FailureEvidence = {"identity": failure.identity}
        form = plan.form_of_failure(index)
        if form is not Show.NOTHING:
            if failure.header is not None:
                entry["header"] = _line(failure.header, form)
            entry["details"] = _lines(failure.details, form)
        found.append(entry)
    return found


def _lines(lines: Sequence[Line], form: Show) -> list[Evidence]:
    return [] if form is Show.NOTHING else [_line(line, form) for line in lines]


def _line(line: Line, form: Show) -> Evidence:
    build = line_evidence if form is Show.TEXT else line_reference
    return build(line.kind.value, line.stream, line.number, line.text)


def _receipt(reduction: Reduction, verdict: Verdict, plan: RetentionPlan, semantic_hash: str) -> Receipt:
    transcript, circumstances, configuration = reduction.transcript, reduction.circumstances, reduction.configuration
    shown = Counter(line.kind for line in plan.shown_lines(transcript))
    suppressed: Counter[Kind] = Counter(transcript.suppressed)
    suppressed.update(line.kind for line in plan.hidden_lines(transcript))
    retained_count, suppressed_count = shown.total(), suppressed.total()
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
            "affected": not _shows_everything(plan),
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
            "categories": sorted({*ALWAYS_RETAINED, *(kind.value for kind in shown)}),
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


def _shows_everything(plan: RetentionPlan) -> bool:
    forms = {plan.stops, plan.remarks, *(plan.failure_forms or (plan.failures,))}
    return forms == {Show.TEXT}
