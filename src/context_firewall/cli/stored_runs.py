"""A run as it was stored: its packet, and whether record, manifest and packet speak of the same run."""

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.printable import safe
from context_firewall.documents.run_record import RunRecord
from context_firewall.errors import EvidenceDamaged, InvalidInput

if TYPE_CHECKING:
    from context_firewall.store.evidence import EvidenceStore

SHORT = 12
"""How many digits of a reference are shown where people read it."""


def stored_packet(store: "EvidenceStore", record: RunRecord) -> EvidencePacket:
    """The packet that a record binds, proven and of the packet's shape.

    Raises EvidenceDamaged when it is no packet, or speaks of another run than record and manifest do.
    """
    from context_firewall.documents.verification import Findings, read_packet, verify_run_record
    from context_firewall.documents.verification.shape import check_shape

    data = store.document(record, "packet")
    name = f"the packet of {short(record['evidence'])}"
    try:
        read = read_packet(data)
        findings = Findings()
        sound = check_shape(findings, read.value)
    except InvalidInput as problem:
        raise EvidenceDamaged(f"{name} is none: {problem}", name=record["documents"]["packet"]["sha256"]) from problem
    if not sound:
        first = findings.as_list()[0]
        raise EvidenceDamaged(f"{name} is none: {first['field']} {first['problem']}", name="packet")
    packet = cast(EvidencePacket, json.loads(data))
    for finding in verify_run_record(record, store.manifest(record["evidence"]), packet):
        what = f"{finding['field']} {finding['problem']}"
        raise EvidenceDamaged(f"{name} does not belong to its record and manifest: {what}", name="packet")
    return packet


def short(reference: str) -> str:
    """The first digits of a raw reference."""
    return reference.rpartition("/")[2][:SHORT]


def short_digest(digest: str) -> str:
    """A digest as `restore` takes it, with its first digits only."""
    return digest[: len("sha256:") + SHORT]


def shown_command(command: Sequence[str] | None) -> str:
    """A command as one would type it, printable."""
    return "(unknown)" if command is None else safe(shlex.join(command))


def shown_time(recorded_at: str) -> str:
    """A record's time to the second, still UTC."""
    return recorded_at[:19].replace("T", " ")
