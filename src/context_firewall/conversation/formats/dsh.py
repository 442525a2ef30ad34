"""DeepSeek Harness: a header line, then one event a line: `{type, seq, time, data, sourceEventSeqs?, surfaceOp?}`.

Checked against `@deepseek-ai/dsh-session` 0.1.1-rc.2: its known event types, its fold of the surface, its packed rows.

    surfaceOp "append"                        the event's message joins the view at its end
    surfaceOp {op: "replace", start, end}     it takes the place of the entries from start to end, as they stand there,
                                              each of which sourceEventSeqs names
    compaction/summary                        {compactionId, summary, shadowedSeqs}
    user/message of the compact plugin        the checkpoint with that compactionId: now the compaction takes place

An event of a type that is not known is refused unless it says that it is `ignorable`: it may change what others mean.
Numbers of events follow one another without a gap. `user/message` is the user's only where `source.kind` says so.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from context_firewall.conversation.compactions import FoundCompaction, standing_for
from context_firewall.conversation.items import Item
from context_firewall.conversation.messages import Author, Message, Role, Status, ToolCall, ToolResult
from context_firewall.conversation.parts import Parts, Reader

NAME = "dsh"

FORMAT_VERSION = 0

_SURFACE = frozenset({"user/message", "assistant/message", "tool/result"})

# Rows in which the storage packs a run of `assistant/chunk` events, and the list with one entry for each of them.
_PACKED = {"text-chunks": "texts", "reasoning-chunks": "texts", "tool-call-chunks": "args"}

KNOWN_TYPES = frozenset(
    [
        "agent-preset/selected",
        "agent/inbox/spliced",
        "approval/asked",
        "approval/decided",
        "approval/policy",
        "assistant/chunk",
        "assistant/message",
        "command/done",
        "command/run",
        "compaction/end",
        "compaction/prune",
        "compaction/start",
        "compaction/summary",
        "feedback/record",
        "goal/change",
        "hook/invoked",
        "hook/result",
        "llm/retry",
        "llm/retry-started",
        "permission/preset",
        "plan/mode",
        "request/context",
        "request/header",
        "sandbox/mode",
        "schedule/change",
        "session/end-seed",
        "session/title",
        "session/title-llm-request",
        "step/end",
        "step/start",
        "subagent/descriptor",
        "team/member",
        "team/message/delivered",
        "team/message/queued",
        "team/task",
        "todo/write",
        "tool-workflow/agent-end",
        "tool-workflow/agent-start",
        "tool-workflow/run-end",
        "tool-workflow/run-start",
        "tool/call",
        "tool/code-dispatch",
        "tool/code-dispatch-start",
        "tool/result",
        "turn/end",
        "turn/start",
        "user/message",
        "web/deepseek-search-llm-request",
    ]
)


def opens(value: Mapping[str, Any]) -> bool:
    """Whether a line can only be the header of a session."""
    return value.get("type") == "session" and "version" in value


class _Announced(NamedTuple):
    """A summary that was made; whether it takes effect shows later."""

    text: str
    shadowed: frozenset[int]


class Dsh(Reader):
    """Reads the lines of one session."""

    name = NAME

    def __init__(self, authors: Collection[Author] | None) -> None:
        super().__init__(authors)
        self._seq: int | None = None
        self._headed = False
        self._surface: list[int] = []
        self._messages: dict[int, Message] = {}
        self._announced: dict[str, _Announced] = {}

    def take(self, item: Item) -> Iterator[FoundCompaction]:
        kind = item.text(item.value.get("type"), "type")
        if not self._headed:
            self._head(item, kind)
            return
        if self._packed(item, kind):
            return
        self._follow(item, item.number(item.value.get("seq"), "seq"), 1)
        if kind not in KNOWN_TYPES and item.value.get("ignorable") is not True:
            raise item.refusal(f"an event of type {kind} is not known and not marked as ignorable", "type")
        data = item.value.get("data")
        if kind == "compaction/summary":
            self._announce(item, item.mapping(data, "data"))
        if kind not in _SURFACE:
            self.aside[kind] += 1
            return
        yield from self._place(item, kind, item.mapping(data, "data"))

    def view(self) -> tuple[Message, ...]:
        return tuple(self._messages[seq] for seq in self._surface if seq in self._messages)

    def _head(self, item: Item, kind: str) -> None:
        version = item.value.get("version")
        if kind != "session" or version != FORMAT_VERSION or isinstance(version, bool):
            raise item.refusal(f"must be the header of a session of version {FORMAT_VERSION}", "version")
        self._headed = True

    def _packed(self, item: Item, kind: str) -> bool:
        """Step over a row of packed chunks: of the message that they make, there is an event of its own."""
        if kind not in _PACKED:
            return False
        data = item.mapping(item.value.get("data"), "data")
        members = data.get(_PACKED[kind])
        if not isinstance(members, list) or not members:
            raise item.refusal(f"data.{_PACKED[kind]} must be a list", f"data.{_PACKED[kind]}")
        self._follow(item, item.number(item.value.get("seq0"), "seq0"), len(members))
        self.aside["assistant/chunk"] += len(members)
        return True

    def _follow(self, item: Item, seq: int, count: int) -> None:
        if self._seq is not None and seq != self._seq:
            raise item.refusal(f"event {seq} stands where {self._seq} should: the session is not whole", "seq")
        self._seq = seq + count

    # -- the surface --------------------------------------------------------------------------------------------------

    def _place(self, item: Item, kind: str, data: dict[str, Any]) -> Iterator[FoundCompaction]:
        """Put an event into the view, as its operation says."""
        seq = item.value["seq"]
        operation = item.value.get("surfaceOp")
        message = self._message(item, kind, data, seq)
        if operation == "append":
            self._surface.append(seq)
            self._keep(seq, message)
            return
        if not isinstance(operation, dict) or operation.get("op") != "replace":
            raise item.refusal("surfaceOp must be append, or replace with start and end", "surfaceOp")
        first, last = (self._position(item, operation.get(key), f"surfaceOp.{key}") for key in ("start", "end"))
        if first > last:
            raise item.refusal("surfaceOp.start stands behind surfaceOp.end", "surfaceOp")
        yield from self._replace(item, data, message, first, last)

    def _position(self, item: Item, value: object, key: str) -> int:
        seq = item.number(value, key)
        if seq not in self._surface:
            raise item.refusal(f"{key} names event {seq}, which is not in the view", key)
        return self._surface.index(seq)

    def _replace(
        self, item: Item, data: dict[str, Any], message: Message | None, first: int, last: int
    ) -> Iterator[FoundCompaction]:
        before, removed = self.view(), self._surface[first : last + 1]
        gone = frozenset(removed)
        sources = item.value.get("sourceEventSeqs")
        if not isinstance(sources, list) or not gone.issubset(item.number(seq, "sourceEventSeqs") for seq in sources):
            raise item.refusal("sourceEventSeqs does not name every entry that is replaced", "sourceEventSeqs")
        shadowed = tuple(self._messages[seq] for seq in removed if seq in self._messages)
        source = data.get("source")
        compaction = source.get("compactionId") if isinstance(source, dict) else None
        announced = self._announced.pop(compaction, None) if isinstance(compaction, str) else None
        if announced is not None and not announced.shadowed <= gone:
            raise item.refusal("the compaction's shadowedSeqs are not among the entries that it replaces", "surfaceOp")
        if message is not None:
            ids = tuple(removed)
            message = replace(message, replaces_entry_ids=ids)
            if message.role is Role.TOOL:
                message = replace(message, compaction_status=Status.REDUCED)
        self._surface[first : last + 1] = [item.value["seq"]]
        for seq in removed:
            self._messages.pop(seq, None)
        self._keep(item.value["seq"], message)
        if message is not None and message.is_summary:
            text = message.content if announced is None else announced.text
            yield FoundCompaction(
                round=self.next_round(),
                line=item.line,
                shadowed=shadowed,
                retained=tuple(entry for entry in before if entry.entry_id not in gone),
                summary=standing_for(replace(message, content=text), shadowed),
                entry_id=item.value["seq"],
            )

    def _keep(self, seq: int, message: Message | None) -> None:
        if message is not None and self.keeps(message):
            self._messages[seq] = message

    def _announce(self, item: Item, data: dict[str, Any]) -> None:
        compaction = item.text(data.get("compactionId"), "data.compactionId")
        parts = Parts(item, self.aside)
        parts.blocks(data.get("summary"), Author.SUMMARY, "data.summary")
        seqs = data.get("shadowedSeqs")
        if not isinstance(seqs, list):
            raise item.refusal("data.shadowedSeqs must be a list", "data.shadowedSeqs")
        shadowed = frozenset(item.number(seq, "data.shadowedSeqs") for seq in seqs)
        text = parts.message(Role.USER, Author.SUMMARY, compaction).content
        self._announced[compaction] = _Announced(text, shadowed)

    # -- messages -----------------------------------------------------------------------------------------------------

    def _message(self, item: Item, kind: str, data: dict[str, Any], seq: int) -> Message | None:
        """An event's message; None for an answer without content, which only reports its usage."""
        entry = data if kind == "user/message" else item.mapping(data.get("message"), "data.message")
        role, author = _PLACES[kind]
        if kind == "user/message":
            author = _user_author(item.mapping(entry.get("source"), "data.source"))
        content = entry.get("content")
        if not isinstance(content, list):
            raise item.refusal("the message's content must be a list of blocks", "data.content")
        if not content and kind == "assistant/message":
            return None
        parts = Parts(item, self.aside)
        for index, block in enumerate(content):
            self._block(item, parts, item.mapping(block, f"content.{index}"), author, f"content.{index}")
        time = item.value.get("time")
        seconds = time / 1000 if isinstance(time, int) and not isinstance(time, bool) else 0.0
        message = parts.message(role, author, seq, timestamp=seconds)
        return replace(message, compaction_status=Status.SUMMARIZED) if author is Author.SUMMARY else message

    def _block(self, item: Item, parts: Parts, block: dict[str, Any], author: Author, key: str) -> None:
        kind = block.get("type")
        if kind == "tool-call":
            call_id, name, arguments = (item.text(block.get(field), f"{key}.{field}") for field in _CALL)
            parts.calls.append(ToolCall(call_id, name, arguments))
        elif kind == "tool-result":
            error = block.get("isError")
            call_id = item.text(block.get("toolCallId"), f"{key}.toolCallId")
            parts.results.append(ToolResult(call_id, error if isinstance(error, bool) else None))
            parts.blocks(block.get("content"), Author.TOOL, f"{key}.content")
        else:
            parts.blocks([block], author, key)


_CALL = ("id", "name", "arguments")

_PLACES = {
    "user/message": (Role.USER, Author.USER),
    "assistant/message": (Role.ASSISTANT, Author.MODEL),
    "tool/result": (Role.TOOL, Author.TOOL),
}


def _user_author(source: Mapping[str, Any]) -> Author:
    if source.get("kind") == "user":
        return Author.USER
    compacts = source.get("kind") == "plugin" and source.get("plugin") == "compact" and "compactionId" in source
    return Author.SUMMARY if compacts else Author.PLUGIN
