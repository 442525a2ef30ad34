"""Is this packet what it says it is? Checked by reading documents, not by asking what made them.

Two of the three levels live here; the third, reducing the bytes again, is `context_firewall.reduction.replay`.

1. **The packet alone** (`shape`, `account`). Canonical bytes; every key typed and known; every digest that is over
   something in the packet; every number that follows from others; the verdict from the facts; the form of the evidence
   from the reason that a ceiling added.
2. **With the raw bytes** (`sources`). The input hash, byte and line counts, every text, line digest and reference at
   its place. With an envelope also the names and the process state, which no hash is over.

The count rules, where policy v3 departs from the published ones:

- `counts.failed` equals the number of failures under v2 (unless AGGREGATE_CONTRADICTION is a reason: then the runner's
  totals stand). Under v3 the two are different things: a suite, a hook, a file or a process that fails is a failure and
  no test, and a failing parent of a failing test is counted and not listed. What must hold instead: whenever either is
  not zero, the status is `failed`; and where failed tests are counted, at least one failure is accounted for, or a
  reason code that doubts the outcome is there.
- Failures accounted for are those listed, those in `also`, and `omitted_failures.count`.
- `counts.total` is the sum of failed, passed, skipped and todo, unless AGGREGATE_CONTRADICTION is a reason.
- A reference to several lines counts as many suppressed lines as its `line_count`. A failure's `region` holds lines of
  several kinds, so its category says nothing about `suppressed.categories`.
- Of a reference with `last_line` only both ends are known to be its own. Which lines stand between, and so its digest,
  only a replay can tell; the same holds for `omitted_failures`, and for which failures share a region.

What a packet alone cannot vouch for, even against a single changed byte: `operation_id`, `receipt.input_hash` and
`receipt.raw_evidence.reference` (that they are there or not is checked; what they say is not). The input hash is found
with the raw bytes, the other two with the envelope, the model evidence (operation_id) or the value receipt (both).
Nothing here is a signature: who changes a value and recomputes every number and digest over it makes another valid
packet, which only the raw bytes tell from the first; and names, reference, exit code, duration and interruption are the
caller's word, which only the envelope tells from another word.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from context_firewall.documents import model_evidence as model_evidence_document
from context_firewall.documents import value_receipt as value_receipt_document
from context_firewall.documents.evidence_manifest import EvidenceManifest, evidence_reference
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.run_record import RunRecord, verdict_of
from context_firewall.documents.test_run_input import TestRunInput
from context_firewall.documents.verification.account import check_account, check_digests
from context_firewall.documents.verification.findings import (
    Finding,
    Findings,
    Read,
    at,
    check_canonical,
    differences,
    read_document,
)
from context_firewall.documents.verification.shape import check_shape
from context_firewall.documents.verification.sources import check_envelope, check_sources
from context_firewall.errors import ContextFirewallError, InvalidInput, PayloadCeilingTooSmall

__all__ = [
    "FREE_FIELDS",
    "Finding",
    "Findings",
    "check_packet",
    "read_packet",
    "verify_brief",
    "verify_evidence_manifest",
    "verify_model_evidence",
    "verify_run_record",
    "verify_value_receipt",
]

FREE_FIELDS = ("operation_id", "receipt.input_hash", "receipt.raw_evidence.reference")
"""What the packet alone cannot vouch for."""

Document = Mapping[str, Any] | str | bytes


def read_packet(packet: Document) -> Read:
    """A packet as a value. Raises InvalidInput when it is not even a JSON object."""
    read = read_document(packet, "the packet")
    if not isinstance(read.value, Mapping):
        raise InvalidInput("the packet must be a JSON object", key="", offset=0)
    return read


def check_packet(
    findings: Findings,
    read: Read,
    *,
    streams: Mapping[str, bytes] | None = None,
    envelope: TestRunInput | None = None,
    configurations: Sequence[Mapping[str, Any]] = ({},),
) -> bool:
    """Levels 1 and 2. Returns whether the packet has the shape that its values can be compared in.

    `configurations` are the sets of further options, each a part of the configuration identity, that may have been in
    force. Raises InvalidInput for a packet that cannot be read at all.
    """
    canonical = check_canonical(findings, read, "the packet")
    sound = check_shape(findings, read.value)
    check_digests(findings, read.value, configurations)
    if not sound or canonical is None:
        return False
    packet = cast(EvidencePacket, read.value)
    check_account(findings, packet, len(canonical))
    if streams is not None:
        check_sources(findings, packet, streams)
    if envelope is not None:
        check_envelope(findings, packet, envelope)
    return True


def verify_value_receipt(receipt: Document, packet: Document) -> list[Finding]:
    """Check a value receipt against the packet that it was derived from, by deriving it again.

    Every field follows from the packet, but for `mechanism.revision`, the word of whoever asked for the receipt, and,
    where a brief was shown in the packet's place, its ceiling, as far as another gives the same brief. The packet
    itself is verified only in its shape. Raises InvalidInput when either document cannot be read at all.
    """
    findings = Findings()
    read = read_document(receipt, "the value receipt")
    check_canonical(findings, read, "the value receipt")
    made_for = _sound_packet(findings, packet)
    if made_for is not None:
        mechanism = read.value.get("mechanism") if isinstance(read.value, Mapping) else None
        revision = mechanism.get("revision") if isinstance(mechanism, Mapping) else None
        if revision is not None and (not isinstance(revision, str) or not revision):
            findings.add("mechanism.revision", "is not text, or empty; where there is none it is null")
            revision = None
        try:
            expected = value_receipt_document.value_receipt_for_packet(
                made_for, mechanism_revision=revision, emitted=_emitted(read.value, made_for)
            )
        except ContextFirewallError as error:
            findings.add("", f"cannot be a receipt of this packet: {error}")
        else:
            for field, problem in differences(read.value, expected):
                findings.add(field, problem)
    return findings.as_list()


def _emitted(receipt: Any, packet: EvidencePacket) -> value_receipt_document.Emitted | None:
    """What a receipt says was shown in the packet's place, made again from the packet."""
    rows: dict[str, list[Any]] = {"evidence": [], "measurements": []}
    for key in rows if isinstance(receipt, Mapping) else ():
        held = receipt.get(key)
        rows[key] = [row for row in held if isinstance(row, Mapping)] if isinstance(held, list | tuple) else []
    names = {row.get("id") for row in rows["evidence"] if isinstance(row.get("id"), str)}
    if "emitted_model_evidence" in names:
        evidence = model_evidence_document.serialize_model_evidence(
            model_evidence_document.model_evidence_for_packet(packet)
        )
        ceiling = packet["receipt"]["payload_limit"]["requested_bytes"]
        return value_receipt_document.Emitted("model evidence", evidence, ceiling)
    if "emitted_brief" in names:
        from context_firewall.documents.brief import render_brief

        stated = (row.get("result") for row in rows["measurements"] if row.get("id") == "payload_ceiling_bytes")
        ceiling = next((n for n in stated if isinstance(n, int) and not isinstance(n, bool)), None)
        return value_receipt_document.Emitted("brief", render_brief(packet, max_bytes=ceiling).encode(), ceiling)
    return None


def verify_model_evidence(document: Document, packet: Document) -> list[Finding]:
    """Check model evidence against its packet: the same decision evidence, the same operation, nothing else.

    The packet itself is verified only in its shape. Raises InvalidInput when either cannot be read at all.
    """
    findings = Findings()
    read = read_document(document, "the model evidence")
    check_canonical(findings, read, "the model evidence")
    made_for = _sound_packet(findings, packet)
    if made_for is not None:
        if made_for["operation_id"] is None:
            findings.add("operation_id", "is missing from the packet, which can have no model evidence")
        expected = {
            "decision_evidence": made_for["decision_evidence"],
            "operation_id": made_for["operation_id"],
            "protocol_version": model_evidence_document.PROTOCOL,
        }
        for field, problem in differences(read.value, expected):
            findings.add(field, problem)
    return findings.as_list()


def verify_brief(brief: str | bytes, packet: Document) -> list[Finding]:
    """Check a brief against its packet by rendering it again; a finding's field is `line N`.

    The packet itself is verified only in its shape. Raises InvalidInput when the packet cannot be read at all.
    """
    findings = Findings()
    made_for = _sound_packet(findings, packet)
    if made_for is not None:
        given = brief.encode("utf-8", "surrogatepass") if isinstance(brief, str) else brief
        expected = _brief_like(given, made_for)
        if given != expected:
            one, other = given.split(b"\n"), expected.split(b"\n")
            number = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
            if number is None:
                number = min(len(one), len(other)) - 1
            findings.add(f"line {number + 1}", "is not what the packet's brief has there")
    return findings.as_list()


def _brief_like(given: bytes, packet: EvidencePacket) -> bytes:
    """The brief of a packet that a given one is, or comes closest to."""
    from context_firewall.documents.brief import briefs_of_head_and_tail, render_brief

    expected = render_brief(packet).encode()
    if given != expected:
        # A brief made under a ceiling is the one that its own length as a ceiling gives.
        with suppress(PayloadCeilingTooSmall):
            expected = render_brief(packet, max_bytes=len(given)).encode()
    if given != expected:
        fenced = sum(line.startswith(b"|") for line in given.split(b"\n"))
        like = [text.encode() for text in briefs_of_head_and_tail(packet, fenced)]
        expected = given if given in like else next(iter(like), expected)
    return expected


def verify_evidence_manifest(document: EvidenceManifest, packet: EvidencePacket) -> list[Finding]:
    """Check that a manifest is that of a packet: its digest is the raw reference, and both speak of the same run."""
    findings = Findings()
    evidence, process = packet["decision_evidence"]["process"], document["process"]
    findings.expect(
        "receipt.raw_evidence.reference",
        packet["receipt"]["raw_evidence"]["reference"],
        evidence_reference(document),
        "is the reference that the manifest's digest gives",
    )
    streams = [{"byte_count": one["byte_count"], "name": one["name"]} for one in document["streams"]]
    if packet["receipt"]["source"]["streams"] != streams:
        findings.add("receipt.source.streams", "are not the streams of the manifest")
    for key in ("duration_ms", "exit_code", "interrupted"):
        findings.expect(f"decision_evidence.process.{key}", evidence.get(key), process.get(key), "is in the manifest")
    return findings.as_list()


def verify_run_record(document: RunRecord, manifest: EvidenceManifest, packet: EvidencePacket) -> list[Finding]:
    """Check that a record, a manifest and a packet belong together."""
    findings = Findings()
    findings.expect("evidence", document["evidence"], evidence_reference(manifest), "is the manifest's reference")
    if document["command"] != manifest["command"]:
        findings.add("command", "is not that of the manifest")
    if document["verdict"] != verdict_of(packet):
        findings.add("verdict", "is not that of the packet")
    return [*findings.as_list(), *verify_evidence_manifest(manifest, packet)]


def _sound_packet(findings: Findings, packet: Document) -> EvidencePacket | None:
    """A packet of the right shape, or findings below `packet`."""
    read = read_packet(packet)
    shape = Findings()
    canonical = check_canonical(shape, read, "the packet")
    sound = check_shape(shape, read.value)
    for finding in shape.as_list():
        findings.add(at("packet", finding["field"]) if finding["field"] else "packet", finding["problem"])
    return cast(EvidencePacket, read.value) if sound and canonical is not None else None
