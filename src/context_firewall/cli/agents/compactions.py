"""What Claude Code's hooks are answered around a compaction: audited by the guard, kept in the ledger, put back.

The session file is what tells of it. `PostCompact` brings the summary itself, in case the file does not have it yet.
`SessionStart` after a compaction does not; where the file does not end with the compaction,
nobody knows what the summary kept, and every rule counts as not verified.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from context_firewall.canonical import RunningHash
from context_firewall.conversation.compactions import FoundCompaction
from context_firewall.conversation.messages import Author, Context, Message, Role, Status
from context_firewall.conversation.reader import stream_conversation
from context_firewall.errors import InvalidInput
from context_firewall.guard.audit import AUTHORS, Audit

if TYPE_CHECKING:
    from context_firewall.compaction.records import CompactionRecord
    from context_firewall.conversation.compactions import Conversation
    from context_firewall.documents.survival_report import SurvivalReport

FORMAT = "claude-code"
SPEAKERS = AUTHORS | {Author.MODEL}
CHUNK = 1 << 18


class Audited(NamedTuple):
    """What a session's compactions came to; the last is the one that an event is about."""

    report: "SurvivalReport"
    record: "CompactionRecord | None"
    """Of the last one, if it left a summary."""


def audited(event: Mapping[str, Any], pinned: Sequence[str], *, recording: bool = False) -> Audited:
    """Audit the session of an event, and with `recording` make the record of its last compaction."""
    path, summary = event.get("transcript_path"), event.get("compact_summary")
    if not isinstance(path, str) or not path:
        raise InvalidInput("the event names no session file", key="transcript_path")
    running = RunningHash()
    audit = Audit(pinned=pinned)
    last: FoundCompaction | None = None
    record: CompactionRecord | None = None

    def take(found: FoundCompaction) -> None:
        nonlocal last, record
        last = found
        audit.add(found)
        if recording:
            record = _record(found, record)

    stream = stream_conversation(_chunks(path, running), format=FORMAT, authors=None if recording else SPEAKERS)
    while True:
        try:
            take(next(stream))
        except StopIteration as end:
            conversation: Conversation = end.value
            break
    if not _is_told(last, conversation, summary):
        take(_untold(last, conversation, summary, event.get("trigger")))
    return Audited(audit.report(format=FORMAT, source_sha256=running.digest()), record)


def _record(found: FoundCompaction, before: "CompactionRecord | None") -> "CompactionRecord | None":
    """The record of a compaction that the harness made: what left the view, for what, and what stayed."""
    from context_firewall.compaction.records import CompactionRecord
    from context_firewall.compaction.selection import SelectionDecision
    from context_firewall.compaction.summaries import SummarizationLog

    if found.summary is None or not found.shadowed:
        return None
    original = sorted((*found.shadowed, *found.retained), key=lambda message: message.line)
    # The record's own message: the session's item for it comes with the harness' wrapping.
    summary = Message(
        found.summary.role,
        found.summary.content,
        compaction_status=Status.SUMMARIZED,
        entry_id=found.summary.entry_id,
        replaces_entry_ids=found.replaces_entry_ids,
    )
    return CompactionRecord(
        original,
        SelectionDecision(list(found.retained), list(found.shadowed)),
        SummarizationLog(list(found.shadowed), summary, name=FORMAT),
        [summary, *found.retained],
        found.tokens_before or 0,
        found.tokens_after or 0,
        round=found.round,
        token_counter=FORMAT,
        selection_name=FORMAT,
        source_format=FORMAT,
        previous_sha256=None if before is None else before.sha256(),
    )


def entries_of_last_round(report: "SurvivalReport", recorded_at: str) -> bytes:
    """The ledger's lines of the last round; those before it were written when they were the last."""
    from context_firewall.documents.survival_report import ledger_entries

    last = report["rounds"][-1]["round"]
    lines = ledger_entries(report, recorded_at=recorded_at).splitlines(keepends=True)
    return b"".join(line for line in lines if json.loads(line)["round"] == last)


def _chunks(path: str, running: RunningHash) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            running.update(chunk)
            yield chunk


def _is_told(last: FoundCompaction | None, conversation: "Conversation", summary: Any) -> bool:
    """Whether the last compaction that the file tells of is the one that just happened."""
    if last is None:
        return False
    if isinstance(summary, str) and last.summary is not None:
        one, other = (" ".join(text.split()) for text in (summary, last.summary.content))
        return one in other or other in one
    # The model has not spoken since.
    return not any(message.line > last.line and message.author is Author.MODEL for message in conversation.view)


def _untold(last: FoundCompaction | None, conversation: "Conversation", summary: Any, trigger: Any) -> FoundCompaction:
    said = None
    if isinstance(summary, str):
        fresh = Context(list(conversation.view)).fresh_id()
        said = Message(Role.USER, summary, compaction_status=Status.SUMMARIZED, entry_id=fresh)
    return FoundCompaction(
        round=1 if last is None else last.round + 1,
        line=0,
        shadowed=conversation.view,
        retained=(),
        summary=said,
        trigger=trigger if isinstance(trigger, str) else None,
    )
