"""Deterministic evidence packets of test runs: what a model may see, and receipts for what it may not.

These are the public names. They take and return JSON-shaped mappings; options are keyword-only; what is refused
raises a `ContextFirewallError` with a code.

A name's module is imported when the name is first asked for, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from context_firewall.version import __version__

if TYPE_CHECKING:
    from context_firewall.documents.brief import render_brief
    from context_firewall.documents.evidence_manifest import EvidenceManifest, evidence_manifest
    from context_firewall.documents.evidence_packet import EvidencePacket, serialize_packet
    from context_firewall.documents.model_evidence import (
        ModelEvidence,
        model_evidence_for_packet,
        serialize_model_evidence,
    )
    from context_firewall.documents.value_receipt import (
        Emitted,
        ValueReceipt,
        format_indicator,
        serialize_value_receipt,
        value_receipt_for_packet,
    )
    from context_firewall.documents.verification import (
        Finding,
        verify_brief,
        verify_evidence_manifest,
        verify_model_evidence,
        verify_value_receipt,
    )
    from context_firewall.errors import (
        ContextFirewallError,
        EvidenceDamaged,
        EvidenceNotFound,
        InvalidInput,
        OutputNotWritten,
        PayloadCeilingTooSmall,
        StoreNotWritten,
        StoreUnavailable,
    )
    from context_firewall.reduction.pipeline import (
        DEFAULT_POLICY,
        SourceStream,
        configuration_identity,
        reduce_streams,
        reduce_test_run,
        reduce_with_value_receipt,
    )
    from context_firewall.reduction.replay import verify_packet
    from context_firewall.store.evidence import EvidenceStore
    from context_firewall.store.places import open_store
    from context_firewall.transcript.noise import NoiseRule

__all__ = [
    "DEFAULT_POLICY",
    "ContextFirewallError",
    "Emitted",
    "EvidenceDamaged",
    "EvidenceManifest",
    "EvidenceNotFound",
    "EvidencePacket",
    "EvidenceStore",
    "Finding",
    "InvalidInput",
    "ModelEvidence",
    "NoiseRule",
    "OutputNotWritten",
    "PayloadCeilingTooSmall",
    "SourceStream",
    "StoreNotWritten",
    "StoreUnavailable",
    "ValueReceipt",
    "__version__",
    "configuration_identity",
    "evidence_manifest",
    "format_indicator",
    "model_evidence_for_packet",
    "open_store",
    "reduce_streams",
    "reduce_test_run",
    "reduce_with_value_receipt",
    "render_brief",
    "serialize_model_evidence",
    "serialize_packet",
    "serialize_value_receipt",
    "value_receipt_for_packet",
    "verify_brief",
    "verify_evidence_manifest",
    "verify_model_evidence",
    "verify_packet",
    "verify_value_receipt",
]

_HOMES = {
    "documents.brief": ("render_brief",),
    "documents.evidence_manifest": ("EvidenceManifest", "evidence_manifest"),
    "documents.evidence_packet": ("EvidencePacket", "serialize_packet"),
    "documents.model_evidence": ("ModelEvidence", "model_evidence_for_packet", "serialize_model_evidence"),
    "documents.value_receipt": (
        "Emitted",
        "ValueReceipt",
        "format_indicator",
        "serialize_value_receipt",
        "value_receipt_for_packet",
    ),
    "documents.verification": (
        "Finding",
        "verify_brief",
        "verify_evidence_manifest",
        "verify_model_evidence",
        "verify_value_receipt",
    ),
    "errors": (
        "ContextFirewallError",
        "EvidenceDamaged",
        "EvidenceNotFound",
        "InvalidInput",
        "OutputNotWritten",
        "PayloadCeilingTooSmall",
        "StoreNotWritten",
        "StoreUnavailable",
    ),
    "reduction.pipeline": (
        "DEFAULT_POLICY",
        "SourceStream",
        "configuration_identity",
        "reduce_streams",
        "reduce_test_run",
        "reduce_with_value_receipt",
    ),
    "reduction.replay": ("verify_packet",),
    "store.evidence": ("EvidenceStore",),
    "store.places": ("open_store",),
    "transcript.noise": ("NoiseRule",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
