"""Deterministic evidence packets of test runs: what a model may see, and receipts for what it may not.

These are the public names. They take and return JSON-shaped mappings; options are keyword-only; what is refused
raises a `ContextFirewallError` with a code.

A name's module is imported when the name is first asked for, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from context_firewall.version import __version__

if TYPE_CHECKING:
    from context_firewall.compaction.compactor import Compactor
    from context_firewall.compaction.decision_log import DecisionLog, DecisionLogEntry
    from context_firewall.compaction.records import CompactionRecord, full_history
    from context_firewall.compaction.reducing import Reduced
    from context_firewall.compaction.restore import replayed_view, restored_history, restored_view
    from context_firewall.compaction.selection import SelectionDecision, selection, selection_policy
    from context_firewall.compaction.structural import StructuralSummarizer, structural_summarizer
    from context_firewall.compaction.summaries import (
        SummarizationLog,
        Summarizer,
        malicious_summarizer,
        stub_summarizer,
    )
    from context_firewall.compaction.triggers import (
        TriggerPredicate,
        all_of,
        any_of,
        message_count_predicate,
        token_threshold_predicate,
        window_fraction_predicate,
    )
    from context_firewall.conversation.compactions import Conversation, FoundCompaction, compaction_between
    from context_firewall.conversation.messages import Author, Context, Message, Role, ToolCall, ToolResult
    from context_firewall.conversation.reader import read_conversation, stream_conversation
    from context_firewall.conversation.tokens import TokenCounter, token_counter
    from context_firewall.documents.brief import render_brief
    from context_firewall.documents.compaction_record import (
        parse_compaction_record,
        serialize_compaction_record,
        verify_compaction_record,
    )
    from context_firewall.documents.evidence_manifest import EvidenceManifest, evidence_manifest
    from context_firewall.documents.evidence_packet import EvidencePacket, serialize_packet
    from context_firewall.documents.model_evidence import (
        ModelEvidence,
        model_evidence_for_packet,
        serialize_model_evidence,
    )
    from context_firewall.documents.survival_report import (
        SurvivalReport,
        parse_survival_report,
        serialize_survival_report,
        verify_survival_report,
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
    from context_firewall.guard.audit import audit_compactions
    from context_firewall.guard.directives import Directive, Release, extract_directives, extract_releases
    from context_firewall.guard.reinjection import reinject_block
    from context_firewall.guard.survival import Survival, check_survival
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
    "Author",
    "CompactionRecord",
    "Compactor",
    "Context",
    "ContextFirewallError",
    "Conversation",
    "DecisionLog",
    "DecisionLogEntry",
    "Directive",
    "Emitted",
    "EvidenceDamaged",
    "EvidenceManifest",
    "EvidenceNotFound",
    "EvidencePacket",
    "EvidenceStore",
    "Finding",
    "FoundCompaction",
    "InvalidInput",
    "Message",
    "ModelEvidence",
    "NoiseRule",
    "OutputNotWritten",
    "PayloadCeilingTooSmall",
    "Reduced",
    "Release",
    "Role",
    "SelectionDecision",
    "SourceStream",
    "StoreNotWritten",
    "StoreUnavailable",
    "StructuralSummarizer",
    "SummarizationLog",
    "Summarizer",
    "Survival",
    "SurvivalReport",
    "TokenCounter",
    "ToolCall",
    "ToolResult",
    "TriggerPredicate",
    "ValueReceipt",
    "__version__",
    "all_of",
    "any_of",
    "audit_compactions",
    "check_survival",
    "compaction_between",
    "configuration_identity",
    "evidence_manifest",
    "extract_directives",
    "extract_releases",
    "format_indicator",
    "full_history",
    "malicious_summarizer",
    "message_count_predicate",
    "model_evidence_for_packet",
    "open_store",
    "parse_compaction_record",
    "parse_survival_report",
    "read_conversation",
    "reduce_streams",
    "reduce_test_run",
    "reduce_with_value_receipt",
    "reinject_block",
    "render_brief",
    "replayed_view",
    "restored_history",
    "restored_view",
    "selection",
    "selection_policy",
    "serialize_compaction_record",
    "serialize_model_evidence",
    "serialize_packet",
    "serialize_survival_report",
    "serialize_value_receipt",
    "stream_conversation",
    "structural_summarizer",
    "stub_summarizer",
    "token_counter",
    "token_threshold_predicate",
    "value_receipt_for_packet",
    "verify_brief",
    "verify_compaction_record",
    "verify_evidence_manifest",
    "verify_model_evidence",
    "verify_packet",
    "verify_survival_report",
    "verify_value_receipt",
    "window_fraction_predicate",
]

_HOMES = {
    "compaction.compactor": ("Compactor",),
    "compaction.decision_log": (
        "DecisionLog",
        "DecisionLogEntry",
    ),
    "compaction.records": (
        "CompactionRecord",
        "full_history",
    ),
    "compaction.reducing": ("Reduced",),
    "compaction.restore": (
        "replayed_view",
        "restored_history",
        "restored_view",
    ),
    "compaction.selection": (
        "SelectionDecision",
        "selection",
        "selection_policy",
    ),
    "compaction.structural": (
        "StructuralSummarizer",
        "structural_summarizer",
    ),
    "compaction.summaries": (
        "SummarizationLog",
        "Summarizer",
        "malicious_summarizer",
        "stub_summarizer",
    ),
    "compaction.triggers": (
        "TriggerPredicate",
        "all_of",
        "any_of",
        "message_count_predicate",
        "token_threshold_predicate",
        "window_fraction_predicate",
    ),
    "conversation.compactions": (
        "Conversation",
        "FoundCompaction",
        "compaction_between",
    ),
    "conversation.messages": (
        "Author",
        "Context",
        "Message",
        "Role",
        "ToolCall",
        "ToolResult",
    ),
    "conversation.reader": (
        "read_conversation",
        "stream_conversation",
    ),
    "conversation.tokens": (
        "TokenCounter",
        "token_counter",
    ),
    "documents.compaction_record": (
        "parse_compaction_record",
        "serialize_compaction_record",
        "verify_compaction_record",
    ),
    "documents.brief": ("render_brief",),
    "documents.evidence_manifest": ("EvidenceManifest", "evidence_manifest"),
    "documents.evidence_packet": ("EvidencePacket", "serialize_packet"),
    "documents.model_evidence": ("ModelEvidence", "model_evidence_for_packet", "serialize_model_evidence"),
    "documents.survival_report": (
        "SurvivalReport",
        "parse_survival_report",
        "serialize_survival_report",
        "verify_survival_report",
    ),
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
    "guard.audit": ("audit_compactions",),
    "guard.directives": ("Directive", "Release", "extract_directives", "extract_releases"),
    "guard.reinjection": ("reinject_block",),
    "guard.survival": ("Survival", "check_survival"),
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
