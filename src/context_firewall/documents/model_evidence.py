"""`opsle.context-firewall.model-evidence/v1`: a packet without its receipt, for callers that keep the packet."""

from typing import TypedDict

from context_firewall.canonical import canonical_bytes
from context_firewall.documents.evidence_packet import DecisionEvidence, EvidencePacket
from context_firewall.errors import InvalidInput

PROTOCOL = "opsle.context-firewall.model-evidence/v1"


class ModelEvidence(TypedDict):
    """The whole document."""

    decision_evidence: DecisionEvidence
    operation_id: str
    protocol_version: str


def model_evidence_for_packet(packet: EvidencePacket) -> ModelEvidence:
    """The decision evidence of a packet, unchanged. Raises InvalidInput when the packet has no operation_id."""
    operation_id = packet["operation_id"]
    if not operation_id:
        raise InvalidInput("model evidence needs an operation_id", key="operation_id")
    return {
        "decision_evidence": packet["decision_evidence"],
        "operation_id": operation_id,
        "protocol_version": PROTOCOL,
    }


def serialize_model_evidence(evidence: ModelEvidence) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(evidence) + b"\n"
