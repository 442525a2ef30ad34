"""`opsle.context-firewall.evidence-packet/v1`: what a model may see of a test run, and the receipt for the rest."""

from collections.abc import Iterable
from typing import Literal, NotRequired, TypedDict

from context_firewall.canonical import RunningHash, canonical_pieces, sha256

PROTOCOL = "opsle.context-firewall.evidence-packet/v1"
RECEIPT_VERSION = 1

Status = Literal["passed", "failed", "indeterminate"]
Disposition = Literal["SUFFICIENT", "NEEDS_RAW_EVIDENCE"]


class Counts(TypedDict):
    """How many tests ended how; `todo` is there only when it is not zero."""

    failed: int
    passed: int
    skipped: int
    todo: NotRequired[int]
    total: int


class LineEvidence(TypedDict):
    """One source line: 1-based number, SHA-256 of its text without the newline, and the text itself."""

    category: str
    line: int
    sha256: str
    stream: str
    text: str


class LineReference(TypedDict):
    """One source line by place and digest: `byte_count` stands where the text would."""

    byte_count: int
    category: str
    line: int
    sha256: str
    stream: str


class BlockReference(TypedDict):
    """Several source lines of one kind by place and digest: their texts, joined by newlines, have `byte_count` bytes.

    Without `last_line` they are adjacent; with it, other lines may stand between the first and the last.
    """

    byte_count: int
    category: str
    last_line: NotRequired[int]
    line: int
    line_count: int
    sha256: str
    stream: str


Evidence = LineEvidence | LineReference | BlockReference


class SharedRegion(TypedDict):
    """Another failure whose details are byte for byte the same: its identity and its header's line."""

    identity: str
    line: int


class OmittedFailures(TypedDict):
    """Failures that a ceiling left unnamed: how many, where, and the digest of their identities and lines.

    `sha256` is over the canonical JSON of an array with one array a failure: its identity, then the digests of its
    header and of its details, in source order.
    """

    count: int
    first_line: int
    last_line: int
    sha256: str


class FailureEvidence(TypedDict):
    """One failing test; header and details are absent when only its identity is kept.

    Under a ceiling `region` may stand for both: a reference to all lines of the failure, under its header's category.
    What a failure has on the other stream is in `elsewhere`.
    """

    also: NotRequired[list[SharedRegion]]
    identity: str
    header: NotRequired[Evidence]
    details: NotRequired[list[Evidence]]
    region: NotRequired[Evidence]
    elsewhere: NotRequired[Evidence]


class ProcessState(TypedDict):
    """How the process ended; `duration_ms` is in milliseconds."""

    duration_ms: float | None
    exit_code: int | None
    interrupted: bool


class SourceIdentity(TypedDict):
    """Which suite, which run."""

    id: str | None
    run_id: str | None


class DecisionEvidence(TypedDict):
    """All that a decision may rest on; `todo` is there only when a test is marked so."""

    counts: Counts
    disposition: Disposition
    failures: list[FailureEvidence]
    fatal_errors: list[Evidence]
    omitted_failures: NotRequired[OmittedFailures]
    process: ProcessState
    reason_codes: list[str]
    source: SourceIdentity
    status: Status
    timeouts: list[Evidence]
    todo: NotRequired[list[Evidence]]
    unclassified_evidence: list[Evidence]
    warnings: list[Evidence]


class ConfigurationKeys(TypedDict):
    """`identity` is the digest of everything that was configured."""

    identity: str
    max_output_bytes: int | None
    policy_revision: str


class Measurements(TypedDict):
    """Bytes and source lines; `reduced_bytes` is the length of the serialised packet."""

    original_bytes: int
    original_event_count: int
    reduced_bytes: int
    retained_evidence_count: int
    suppressed_evidence_count: int


class PayloadLimit(TypedDict):
    """Whether a ceiling was asked for and whether it cost anything."""

    affected: bool
    honored: Literal[True]
    requested_bytes: int | None


class RawEvidence(TypedDict):
    """The way back to the original bytes."""

    destroyed_by_reducer: Literal[False]
    escalation_available: bool
    escalation_required: bool
    reference: str | None
    source_evidence_disposition: Literal["CALLER_REFERENCE_SUPPLIED", "PRESERVATION_UNCONFIRMED"]
    suppressed_from_model_context: bool


class ReducerKeys(TypedDict):
    """Who reduced."""

    name: str
    version: str


class Retained(TypedDict):
    """What kinds of evidence the packet shows, and how many source lines."""

    categories: list[str]
    event_count: int


class StreamKeys(TypedDict):
    """One stream that was read."""

    byte_count: int
    name: str


class ReceiptSource(TypedDict):
    """What was read."""

    id: str | None
    protocol_version: str
    run_id: str | None
    streams: list[StreamKeys]


class Suppressed(TypedDict):
    """How many source lines of each kind the packet does not show."""

    categories: dict[str, int]
    event_count: int


class Receipt(TypedDict):
    """What was done to the run, in numbers and digests."""

    configuration: ConfigurationKeys
    input_hash: str
    measurements: Measurements
    payload_limit: PayloadLimit
    raw_evidence: RawEvidence
    receipt_version: int
    reducer: ReducerKeys
    reduction_complete: bool
    retained: Retained
    semantic_payload_hash: str
    source: ReceiptSource
    suppressed: Suppressed
    unclassified_evidence_present: bool


class EvidencePacket(TypedDict):
    """The whole document."""

    decision_evidence: DecisionEvidence
    operation_id: str | None
    protocol_version: str
    receipt: Receipt


def line_evidence(category: str, stream: str, line: int, text: str) -> LineEvidence:
    """A source line with its text; `line` counts from 1."""
    return {"category": category, "line": line, "sha256": sha256(text.encode()), "stream": stream, "text": text}


def line_reference(category: str, stream: str, line: int, text: str) -> LineReference:
    """A source line by its place, the length in bytes of its text, and the text's digest."""
    data = text.encode()
    return {"byte_count": len(data), "category": category, "line": line, "sha256": sha256(data), "stream": stream}


def block_reference(category: str, stream: str, lines: Iterable[tuple[int, str]], *, adjacent: bool) -> BlockReference:
    """Several source lines, given as numbers and texts, by place, total length and digest. They may be many."""
    digest = RunningHash()
    first = last = count = 0
    for count, (last, text) in enumerate(lines, 1):
        digest.update(text.encode() if count == 1 else b"\n" + text.encode())
        first = first or last
    reference: BlockReference = {
        "byte_count": digest.byte_count,
        "category": category,
        "line": first,
        "line_count": count,
        "sha256": digest.digest(),
        "stream": stream,
    }
    if not adjacent:
        reference["last_line"] = last
    return reference


def serialize_packet(packet: EvidencePacket) -> bytes:
    """The packet's canonical bytes and one newline, `receipt.measurements.reduced_bytes` long."""
    return b"".join((*canonical_pieces(packet), b"\n"))
