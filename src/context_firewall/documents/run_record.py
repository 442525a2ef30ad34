"""`context-firewall.run-record/v1`: what was made of a run's evidence, and when.

It binds the raw reference to the packet, the value receipt and what else was derived, each by digest and length, and
repeats what a list of runs shows: the command, the verdict and the counts. The time is the caller's.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, cast

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.documents.canonical_document import members, parse_canonical, text
from context_firewall.documents.evidence_manifest import (
    EvidenceManifest,
    byte_count,
    command_words,
    digest,
    evidence_reference,
    referenced_hex,
)
from context_firewall.documents.evidence_packet import Counts, Disposition, EvidencePacket, Status
from context_firewall.documents.test_run_input import whole_number
from context_firewall.errors import InvalidInput

PROTOCOL = "context-firewall.run-record/v1"

DOCUMENTS = ("packet", "value_receipt", "brief", "model_evidence")
"""What a record may bind; the first two are always there."""
_NEEDED = DOCUMENTS[:2]
_STATUSES = ("passed", "failed", "indeterminate")
_DISPOSITIONS = ("SUFFICIENT", "NEEDS_RAW_EVIDENCE")
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


class BoundDocument(TypedDict):
    """A document by the digest and number of its bytes."""

    byte_count: int
    sha256: str


class RecordedVerdict(TypedDict):
    """The packet's verdict."""

    counts: Counts
    disposition: Disposition
    status: Status


class RunRecord(TypedDict):
    """The whole document.

    `documents` maps `packet`, `value_receipt` and perhaps `brief` and `model_evidence` to what they are bound by;
    `evidence` is the raw reference; `recorded_at` is an instant in UTC, to the millisecond.
    """

    command: list[str] | None
    documents: dict[str, BoundDocument]
    evidence: str
    protocol_version: str
    recorded_at: str
    verdict: RecordedVerdict


def run_record(
    manifest: EvidenceManifest, packet: EvidencePacket, documents: Mapping[str, bytes], *, recorded_at: str
) -> RunRecord:
    """The record of a run: its manifest, its packet, and the bytes of all documents that were made, by name.

    `documents` holds `packet`, `value_receipt`, and perhaps `brief` and `model_evidence`. Raises InvalidInput when the
    packet's raw reference is not the manifest's, when something is missing, or when the time is not of the form
    `2026-11-30T17:56:27.123Z`.
    """
    reference = evidence_reference(manifest)
    if packet["receipt"]["raw_evidence"]["reference"] != reference:
        raise InvalidInput("the packet's raw reference is not that of the manifest", key="evidence")
    return _checked(
        {
            "command": manifest["command"],
            "documents": {name: {"byte_count": len(data), "sha256": sha256(data)} for name, data in documents.items()},
            "evidence": reference,
            "protocol_version": PROTOCOL,
            "recorded_at": recorded_at,
            "verdict": verdict_of(packet),
        }
    )


def verdict_of(packet: EvidencePacket) -> RecordedVerdict:
    """What a record repeats of a packet's verdict."""
    evidence = packet["decision_evidence"]
    return {"counts": evidence["counts"], "disposition": evidence["disposition"], "status": evidence["status"]}


def parse_run_record(data: bytes) -> RunRecord:
    """Read a record's canonical bytes. Raises InvalidInput, whose `key` names the place."""
    return _checked(parse_canonical(data, "the run record"))


def serialize_run_record(record: RunRecord) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(record) + b"\n"


def instant(value: object, key: str) -> str:
    """A moment in UTC to the millisecond, such as `2026-11-30T17:56:27.123Z`. Raises InvalidInput for anything else."""
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            pass
        else:
            return value
    raise InvalidInput(f"{key} must be a moment in UTC such as 2026-11-30T17:56:27.123Z", key=key)


def _checked(document: object) -> RunRecord:
    names = ("command", "documents", "evidence", "protocol_version", "recorded_at", "verdict")
    held = members(document, "", names)
    if held["protocol_version"] != PROTOCOL:
        raise InvalidInput(f"protocol_version must be {PROTOCOL}", key="protocol_version")
    referenced_hex(held["evidence"], "evidence")
    bound = members(held["documents"], "documents", _NEEDED, DOCUMENTS)
    return {
        "command": command_words(held["command"], "command"),
        "documents": {name: _bound(value, f"documents.{name}") for name, value in bound.items()},
        "evidence": held["evidence"],
        "protocol_version": PROTOCOL,
        "recorded_at": instant(held["recorded_at"], "recorded_at"),
        "verdict": _verdict(held["verdict"]),
    }


def _bound(value: object, key: str) -> BoundDocument:
    held = members(value, key, ("byte_count", "sha256"))
    return {
        "byte_count": byte_count(held["byte_count"], f"{key}.byte_count"),
        "sha256": digest(held["sha256"], f"{key}.sha256"),
    }


def _verdict(value: object) -> RecordedVerdict:
    held = members(value, "verdict", ("counts", "disposition", "status"))
    key = "verdict.counts"
    counts = members(held["counts"], key, ("failed", "passed", "skipped", "total"), ("todo",))
    return {
        "counts": cast(Counts, {name: whole_number(count, f"{key}.{name}") for name, count in counts.items()}),
        "disposition": _one_of(held["disposition"], "verdict.disposition", _DISPOSITIONS),
        "status": _one_of(held["status"], "verdict.status", _STATUSES),
    }


def _one_of(value: object, key: str, known: tuple[str, ...]) -> Any:
    if text(value, key) not in known:
        raise InvalidInput(f"{key} must be one of {', '.join(known)}", key=key)
    return value
