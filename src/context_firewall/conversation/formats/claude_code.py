"""Claude Code: `~/.claude/projects/*/*.jsonl`, one JSON object a line, appended only.

    user, assistant          {uuid, parentUuid, timestamp, message: {role, content}}; content as in the Messages format
    attachment               {attachment: {type: "queued_command", prompt}}: what the user wrote while the model worked
    system/compact_boundary  {parentUuid: null, logicalParentUuid, compactMetadata: {trigger, preTokens, postTokens?,
                             preservedMessages?: {anchorUuid, uuids, allUuids}, preservedSegment?: {headUuid,
                             anchorUuid, tailUuid}}}; a line with isCompactSummary follows

Lines form a tree by `parentUuid`. The view is the chain from its newest leaf; a prompt that the user went back behind
is no part of it. Parallel calls and their results are branches, too: what belongs to a call of the chain is kept. The
order of the view is the file's, except that a compaction puts its summary before the messages that it preserved. Lines
of sub-agents (`isSidechain`) have a view of their own and are left aside, like every type of line not named above.
"""

import re
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from context_firewall.conversation.compactions import FoundCompaction, standing_for
from context_firewall.conversation.items import Item
from context_firewall.conversation.messages import Author, EntryId, Message, Role, Status
from context_firewall.conversation.parts import Parts, Reader, iso_time

NAME = "claude-code"

# Elements that the harness puts into the user's messages; what stands in them is not the user's.
HARNESS_ELEMENTS = (
    "system-reminder",
    "command-name",
    "command-message",
    "command-contents",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "user-prompt-submit-hook",
)

# Where a boundary says what was preserved: by name, or in older versions by the two ends of a stretch of the chain.
PRESERVED = ("preservedMessages", "preservedSegment")

_ELEMENT = re.compile(f"<({'|'.join(HARNESS_ELEMENTS)})>")

_NO_PARENT = -1
_UNKNOWN_PARENT = -2

# What a line is to the chain: left behind, on it, or neither of the two for certain.
_LEFT, _CHAIN, _DETACHED = range(3)


def opens(value: Mapping[str, Any]) -> bool:
    """Whether a line can only be one of Claude Code's."""
    if value.get("type") == "summary":
        return "leafUuid" in value
    if value.get("type") == "file-history-snapshot":
        return "snapshot" in value
    return "sessionId" in value and isinstance(value.get("type"), str) and "payload" not in value


class ClaudeCode(Reader):
    """Reads the lines of one session."""

    name = NAME

    def __init__(self, authors: Collection[Author] | None) -> None:
        super().__init__(authors)
        self._stretch = _Stretch()
        self._boundary: tuple[Item, tuple[Message, ...], tuple[Message, ...]] | None = None

    def take(self, item: Item) -> Iterator[FoundCompaction]:
        value, kind = item.value, item.value.get("type")
        if value.get("isSidechain") is True:
            self.aside["sidechain"] += 1
            return
        if kind == "system" and value.get("subtype") == "compact_boundary":
            yield from self.finish()
            self._begin(item)
            return
        if "snipMetadata" in value:
            raise item.refusal(
                "snipMetadata is not known, so what it took out of the view is not known", "snipMetadata"
            )
        message = self._message(item)
        if message is None:
            self.aside[_called(value)] += 1
            if "uuid" in value:
                self._stretch.link(item)
        elif message.is_summary and self._boundary is not None:
            yield self._completed(message)
        else:
            if kind != "attachment":  # attachments may stand between a boundary and its summary
                yield from self.finish()
            self._stretch.link(item)
            self._stretch.add(message, _batch(value), kept=self.keeps(message))

    def finish(self) -> Iterator[FoundCompaction]:
        if self._boundary is not None:
            yield self._completed(None)

    def view(self) -> tuple[Message, ...]:
        return self._stretch.view(None)

    # -- messages -----------------------------------------------------------------------------------------------------

    def _message(self, item: Item) -> Message | None:
        value, kind = item.value, item.value.get("type")
        if kind == "attachment":
            return self._queued(item)
        if kind not in ("user", "assistant"):
            return None
        entry = item.mapping(value.get("message"), "message")
        parts = Parts(item, self.aside)
        entry_id = _entry_id(item)
        time = iso_time(value.get("timestamp"))
        if kind == "assistant":
            parts.blocks(entry.get("content"), Author.MODEL, "message.content")
            return parts.message(Role.ASSISTANT, Author.MODEL, entry_id, timestamp=time)
        author = _user_author(value)
        parts.blocks(
            entry.get("content"), author, "message.content", split=_authored if author is Author.USER else None
        )
        if parts.results:
            return parts.message(Role.TOOL, Author.TOOL, entry_id, timestamp=time)
        message = parts.message(Role.USER, author, entry_id, timestamp=time)
        return replace(message, compaction_status=Status.SUMMARIZED) if author is Author.SUMMARY else message

    def _queued(self, item: Item) -> Message | None:
        attachment = item.value.get("attachment")
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return None
        typed = attachment.get("commandMode", "prompt") == "prompt" and _from_a_person(attachment)
        author = Author.USER if typed else Author.PLUGIN
        parts = Parts(item, self.aside)
        parts.blocks(attachment.get("prompt"), author, "attachment.prompt", split=_authored)
        return parts.message(Role.USER, author, _entry_id(item), timestamp=iso_time(item.value.get("timestamp")))

    # -- compactions --------------------------------------------------------------------------------------------------

    def _begin(self, item: Item) -> None:
        """A boundary: the stretch before it ends, and what it preserved begins the next one."""
        leaf = item.value.get("logicalParentUuid")
        before = self._stretch.view(leaf if isinstance(leaf, str) else None)
        preserved = self._preserved(item)
        retained = tuple(message for message in before if message.entry_id in preserved)
        shadowed = tuple(message for message in before if message.entry_id not in preserved)
        self._stretch = _Stretch(retained)
        self._stretch.link(item, root=True)
        self._boundary = (item, shadowed, retained)

    def _preserved(self, item: Item) -> frozenset[str]:
        """The uuids of what a compaction kept in the view."""
        metadata = item.mapping(item.value.get("compactMetadata", {}), "compactMetadata")
        unknown = [key for key in metadata if key.startswith("preserved") and key not in PRESERVED]
        if unknown:
            key = f"compactMetadata.{unknown[0]}"
            raise item.refusal(f"{key} is not known, so what this compaction preserved is not known", key)
        for key in PRESERVED:
            if metadata.get(key) is not None:
                return self._named(
                    item, item.mapping(metadata[key], f"compactMetadata.{key}"), f"compactMetadata.{key}"
                )
        return frozenset()

    def _named(self, item: Item, kept: dict[str, Any], key: str) -> frozenset[str]:
        uuids = [*_list(kept.get("uuids")), *_list(kept.get("allUuids"))]
        ends = [item.text(kept[end], f"{key}.{end}") for end in ("headUuid", "tailUuid") if end in kept]
        for uuid in (*uuids, *ends):
            if not self._stretch.knows(item.text(uuid, key)):
                raise item.refusal(f"{key} names {uuid}, which is not in this session's view", key)
        if not ends:
            return frozenset(uuids)
        segment = self._stretch.between(ends[0], ends[-1])
        if segment is None:
            raise item.refusal(f"{key} names two ends of which one does not lead to the other", key)
        return segment

    def _completed(self, summary: Message | None) -> FoundCompaction:
        if self._boundary is None:
            raise LookupError("no boundary is open")
        item, shadowed, retained = self._boundary
        self._boundary = None
        if summary is not None:
            summary = standing_for(summary, shadowed)
            self._stretch.put_first(summary)
        metadata = item.value.get("compactMetadata", {})
        return FoundCompaction(
            round=self.next_round(),
            line=item.line,
            shadowed=shadowed,
            retained=retained,
            summary=summary,
            trigger=_text_or_none(metadata.get("trigger")),
            entry_id=_text_or_none(item.value.get("uuid")),
            tokens_before=_count_or_none(metadata.get("preTokens")),
            tokens_after=_count_or_none(metadata.get("postTokens")),
        )


class _Stretch:
    """What stands between two boundaries: a tree of lines, and the messages that are kept of it."""

    def __init__(self, first: tuple[Message, ...] = ()) -> None:
        self._first = list(first)
        self._index: dict[str, int] = {}
        self._parents = array("q")
        self._straight = True
        self._messages: list[tuple[int, Message, str | None]] = []
        self._leaf = _NO_PARENT
        for message in first:
            self._index[str(message.entry_id)] = len(self._parents)
            self._parents.append(_NO_PARENT)

    def knows(self, uuid: str) -> bool:
        return uuid in self._index

    def between(self, head: str, tail: str) -> frozenset[str] | None:
        """The lines of the chain from one up to another; None if the chain of the second does not hold the first."""
        names = {number: uuid for uuid, number in self._index.items()}
        number, found = self._index[tail], list[str]()
        while number >= 0:
            found.append(names.get(number, ""))
            if number == self._index[head]:
                return frozenset(found)
            number = self._parents[number]
        return None

    def link(self, item: Item, *, root: bool = False) -> None:
        """Note a line's place in the tree. One that says nothing of a parent follows the line before it."""
        number = len(self._parents)
        parent = item.value.get("parentUuid")
        if not root and number and "parentUuid" not in item.value:
            above = number - 1
        elif root or parent is None:
            above = _NO_PARENT
        else:
            above = self._index.get(item.text(parent, "parentUuid"), _UNKNOWN_PARENT)
        self._straight = self._straight and (above == number - 1 or number == len(self._first))
        self._parents.append(above)
        uuid = item.value.get("uuid")
        if uuid is None:
            return
        if item.text(uuid, "uuid") in self._index:
            raise item.refusal(f"the uuid {uuid} is given twice", "uuid")
        self._index[uuid] = number

    def add(self, message: Message, batch: str | None, *, kept: bool) -> None:
        """Keep a message whose line was linked just now."""
        self._leaf = len(self._parents) - 1
        if kept:
            self._messages.append((self._leaf, message, batch))

    def put_first(self, summary: Message) -> None:
        """A summary stands before what was preserved."""
        self._index[str(summary.entry_id)] = len(self._parents)
        self._parents.append(_NO_PARENT)
        self._first.insert(0, summary)
        self._straight = False

    def view(self, leaf: str | None) -> tuple[Message, ...]:
        """The messages of the chain that ends in that line, or in the newest message."""
        end = self._index.get(leaf, self._leaf) if leaf is not None else self._leaf
        if self._straight and end >= self._leaf:
            return (*self._first, *(message for _, message, _ in self._messages))
        states = self._states(end)
        chain = [entry for entry in self._messages if states[entry[0]] != _LEFT]
        batches = {batch for _, _, batch in chain if batch is not None}
        together = [entry for entry in self._messages if states[entry[0]] != _LEFT or entry[2] in batches]
        calls = {call.call_id for _, message, _ in together for call in message.tool_calls}
        return (
            *self._first,
            *(
                message
                for number, message, batch in self._messages
                if states[number] != _LEFT or batch in batches or _answers(message, calls)
            ),
        )

    def _states(self, end: int) -> bytearray:
        """Of every line: whether it is on the chain, was left behind, or hangs on nothing that is known.

        A line's parent is an earlier line, so one pass is enough.
        """
        states = bytearray([_LEFT]) * len(self._parents)
        while end >= 0:
            states[end] = _CHAIN
            end = self._parents[end]
        broken = end == _UNKNOWN_PARENT
        for number, parent in enumerate(self._parents):
            if states[number] == _CHAIN:
                continue
            unknown = parent == _UNKNOWN_PARENT or (parent == _NO_PARENT and broken)
            if unknown or (parent >= 0 and states[parent] == _DETACHED):
                states[number] = _DETACHED
        return states


def _answers(message: Message, calls: set[str]) -> bool:
    return any(result.call_id in calls for result in message.tool_results)


def _entry_id(item: Item) -> EntryId:
    """A line's own name, or else its number."""
    uuid = item.value.get("uuid")
    return item.line if uuid is None else item.text(uuid, "uuid")


def _user_author(value: Mapping[str, Any]) -> Author:
    if value.get("isCompactSummary") is True:
        return Author.SUMMARY
    return Author.PLUGIN if value.get("isMeta") is True or not _from_a_person(value) else Author.USER


def _from_a_person(value: Mapping[str, Any]) -> bool:
    """Whether a line that says where it comes from names a person; one that says nothing of it is taken for one."""
    origin = value.get("origin")
    return not isinstance(origin, dict) or origin.get("kind", "human") == "human"


def _authored(text: str) -> Iterator[tuple[Author, str]]:
    """A text of a user's line, cut where elements of the harness begin and end."""
    at = 0
    unclosed = set[str]()
    for opening in _ELEMENT.finditer(text):
        name, start = opening[1], opening.start()
        if start < at or name in unclosed:
            continue
        close = text.find(f"</{name}>", start)
        if close < 0:
            unclosed.add(name)
            continue
        yield Author.USER, text[at:start]
        at = close + len(name) + 3
        yield Author.PLUGIN, text[start:at]
    yield Author.USER, text[at:]


def _batch(value: Mapping[str, Any]) -> str | None:
    """The answer of the model that a line is a part of."""
    message = value.get("message")
    return _text_or_none(message.get("id")) if isinstance(message, dict) else None


def _called(value: Mapping[str, Any]) -> str:
    """What a line calls itself."""
    return "/".join(str(value[key]) for key in ("type", "subtype") if isinstance(value.get(key), str)) or "no type"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count_or_none(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
