"""Part 4, the non-destructive record: what a compaction did, and all that it takes to undo it.

A record holds the view before as it was. That nothing is lost is not said but shown: the earlier view is rebuilt from
the compacted one and the originals, and its SHA-256 must be the one that was taken before anything changed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from context_firewall.canonical import canonical_sha256, sha256
from context_firewall.compaction.reducing import ReducedResult
from context_firewall.compaction.selection import SelectionDecision
from context_firewall.compaction.summaries import SummarizationLog, view_sha256
from context_firewall.compaction.triggers import Reading
from context_firewall.conversation.compactions import FoundCompaction
from context_firewall.conversation.messages import EntryId, Message
from context_firewall.documents.compaction_record import PROTOCOL, CompactionRecordKeys, EntryKeys, ViewKeys

Verdict = TypeVar("Verdict")


@dataclass(slots=True)
class CompactionRecord:
    """One compaction: the view before, the decision, the summary, the view after, and the digests that tie them."""

    original_context: list[Message]
    selection_decision: SelectionDecision
    summarization_log: SummarizationLog | None
    """None where nothing was summarised, only dropped or reduced."""
    compacted_context: list[Message]
    pre_compaction_tokens: int
    post_compaction_tokens: int
    timestamp: float = 0.0
    round: int = 1
    token_counter: str = ""
    trigger: Reading | None = None
    selection_name: str = ""
    selection_parameters: Mapping[str, Any] = field(default_factory=dict)
    reduced_results: list[ReducedResult] = field(default_factory=list)
    source_format: str | None = None
    previous_sha256: str | None = None
    """Digest of the record before this one, as a document; None for the first."""
    entries: tuple[tuple[EntryId | None, str], ...] = ()
    """Id and digest of each message of the view before, taken when the record was made."""
    original_sha256: str = ""
    """Digest of the view before, taken when the record was made."""

    def __post_init__(self) -> None:
        if not self.entries:
            self.entries = tuple((message.entry_id, message.sha256()) for message in self.original_context)
            self.original_sha256 = view_sha256(self.original_context)

    @property
    def replaces_entry_ids(self) -> list[EntryId]:
        """The ids of the entries that left the view: summarised, dropped or reduced, in the view's order."""
        left: set[EntryId | None] = {message.entry_id for message in self.compacted_context}
        return [entry_id for entry_id, _ in self.entries if entry_id is not None and entry_id not in left]

    def verify_non_destructive(self) -> bool:
        """Whether the view before can be rebuilt, byte for byte, and the originals are what they were.

        False when a message of the original was altered, moved or lost, or when a message of it is neither in the
        compacted view nor named by something there or as dropped.
        """
        held = tuple((message.entry_id, message.sha256()) for message in self.original_context)
        return bool(held) and held == self.entries and self._accounted() and self._rebuilds()

    def _rebuilds(self) -> bool:
        try:
            return view_sha256(self.rebuild()) == self.original_sha256
        except LookupError:
            return False

    def _accounted(self) -> bool:
        after = {message.entry_id for message in self.compacted_context}
        named: set[EntryId | None] = {
            entry_id for message in self.compacted_context for entry_id in message.replaces_entry_ids
        }
        dropped = {message.entry_id for message in self.selection_decision.to_drop}
        if self.summarization_log is not None:  # a record that was put together by hand may not name what it replaces
            named |= {message.entry_id for message in self.summarization_log.summarizer_inputs}
        accounted = after | named | dropped
        return all(entry_id in accounted for entry_id, _ in self.entries)

    def rebuild(self) -> list[Message]:
        """The view before, from the compacted view and the originals of what left it, each found by its digest.

        Raises LookupError for a message that is not there.
        """
        held = (*self.compacted_context, *self.original_context)
        found = {(message.entry_id, message.sha256()): message for message in held}
        return [found[entry] for entry in self.entries]

    def did_compaction_drop(self, search_text: str) -> bool:
        """Whether a text stood in the view before and does not stand in the view after, whatever its letters' case.

        It asks about words, not about the rule behind them, of which a summary may keep the first half: `survival` asks
        about that.
        """
        wanted = search_text.lower()
        before = any(wanted in message.content.lower() for message in self.original_context)
        return before and not any(wanted in message.content.lower() for message in self.compacted_context)

    def survival(self, judge: Callable[[FoundCompaction], Verdict]) -> Verdict:
        """What a judge says of this compaction: the guard's, or one's own."""
        return judge(self.as_found())

    def as_found(self) -> FoundCompaction:
        """This compaction in the form in which sessions tell of theirs."""
        after = {message.entry_id for message in self.compacted_context}
        return FoundCompaction(
            round=self.round,
            line=0,
            shadowed=tuple(message for message in self.original_context if message.entry_id not in after),
            retained=tuple(message for message in self.original_context if message.entry_id in after),
            summary=None if self.summarization_log is None else self.summarization_log.summarizer_output,
            trigger=None if self.trigger is None else self.trigger.name,
            tokens_before=self.pre_compaction_tokens,
            tokens_after=self.post_compaction_tokens,
        )

    def made(self) -> list[Message]:
        """The messages that this compaction made, in the order of the view after."""
        before = {entry_id for entry_id, _ in self.entries}
        return [message for message in self.compacted_context if message.entry_id not in before]

    def as_document(self, *, originals: bool = False) -> CompactionRecordKeys:
        """The record as `context-firewall.compaction-record/v1`: digests of the originals, and what was made, whole.

        With `originals` it holds those, too, and needs nothing else to be undone.
        """
        decision = self.selection_decision
        kinds = (
            ("preserve", decision.preserve_verbatim),
            ("summarize", decision.to_summarize),
            ("drop", decision.to_drop),
        )
        chosen = {message.entry_id: kind for kind, messages in kinds for message in messages}
        for reduced in self.reduced_results:
            chosen[reduced.entry_id] = "reduce"
        document: CompactionRecordKeys = {
            "compacted": _view(self.compacted_context, self.post_compaction_tokens),
            "decisions": [
                {"decision": chosen[entry_id], "entry_id": entry_id, "reason": decision.reasons.get(entry_id, "")}
                for entry_id, _ in self.entries
            ],
            "made": [dict(message.as_json()) for message in self.made()],
            "original": _view(self.rebuild(), self.pre_compaction_tokens),
            "previous_sha256": self.previous_sha256,
            "protocol_version": PROTOCOL,
            "reductions": [
                {
                    "entry_id": reduced.entry_id,
                    "made_entry_id": reduced.made_entry_id,
                    "receipt": dict(reduced.receipt),
                    "reducer": reduced.reducer,
                }
                for reduced in self.reduced_results
            ],
            "round": self.round,
            "selection": {"name": self.selection_name, "parameters": dict(self.selection_parameters)},
            "source_format": self.source_format,
            "summarization": self._summarization(),
            "timestamp": self.timestamp,
            "token_counter": self.token_counter,
            "trigger": self._trigger(),
        }
        if originals:
            document["originals"] = {message.sha256(): message.original().decode() for message in self.rebuild()}
        return document

    def _summarization(self) -> Any:
        log = self.summarization_log
        if log is None:
            return None
        return {
            "entry_id": log.summarizer_output.entry_id,
            "input_sha256": log.input_sha256,
            "name": log.name,
            "output_sha256": log.output_sha256,
            "replaces_entry_ids": [message.entry_id for message in log.summarizer_inputs],
            "version": log.version,
        }

    def _trigger(self) -> Any:
        if self.trigger is None:
            return None
        reading = self.trigger
        return {"measured": reading.measured, "name": reading.name, "parameters": dict(reading.parameters)}

    def sha256(self) -> str:
        """Digest of the record as a document, by which the next one names it."""
        return canonical_sha256(self.as_document())


def _view(messages: Sequence[Message], tokens: int) -> ViewKeys:
    originals = [message.original() for message in messages]
    entries: list[EntryKeys] = [
        {"byte_count": len(original), "entry_id": message.entry_id, "sha256": sha256(original)}
        for message, original in zip(messages, originals, strict=True)
    ]
    return {
        "entries": entries,
        "sha256": sha256(b"".join(original + b"\n" for original in originals)),
        "tokens": tokens,
    }


def full_history(records: Sequence[CompactionRecord], view: Sequence[Message] = ()) -> list[Message]:
    """Every message that was ever said, in order, each once, and nothing that a compaction made.

    `records` are those of one conversation from the first on; `view` is what it is now.
    """
    made = {message.entry_id for record in records for message in record.made()}
    history: dict[EntryId | None, Message] = {}
    for messages in (*(record.rebuild() for record in records), view):
        for message in messages:
            if message.entry_id not in made:
                history.setdefault(message.entry_id, message)
    return list(history.values())
