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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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

# Elements that the harness puts around what the user typed: only the tags are the harness's.
TYPED_ELEMENTS = ("command-args", "user-memory-input")

_ELEMENT = re.compile(f"<(?:({'|'.join(HARNESS_ELEMENTS)})|/?+(?:{'|'.join(TYPED_ELEMENTS)}))>")

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
    if value.get("type") in ("user", "assistant") and isinstance(value.get("message"), dict):
        return True
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
            self._stretch.stand_in(item)
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
        return tuple(entry.message for entry in self._stretch.entries(None))

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
        entries = self._stretch.entries(leaf if isinstance(leaf, str) else None)
        preserved = self._preserved(item)
        kept = [entry for entry in entries if entry.message.entry_id in preserved]
        retained = tuple(entry.message for entry in kept)
        shadowed = tuple(entry.message for entry in entries if entry.message.entry_id not in preserved)
        self._stretch = _Stretch.behind(item.value.get("uuid"), self._stretch.in_order(preserved), kept)
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
            self._stretch.summary = summary
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


class _Entry(NamedTuple):
    """A message that is kept: the number of its line in its stretch, and the model's answer that it is a part of."""

    number: int
    message: Message
    batch: str | None


class _Stretch:
    """What stands between two boundaries: a tree of lines, and the messages that are kept of it.

    Behind a boundary the tree begins with the lines that were preserved, each hanging on the one before. What hangs on
    the boundary or on its summary hangs on the last of them.
    """

    def __init__(self) -> None:
        self.summary: Message | None = None
        self._index: dict[str, int] = {}
        self._parents = array("q")
        self._straight = True
        self._entries: list[_Entry] = []
        self._leaf = _NO_PARENT

    @classmethod
    def behind(cls, boundary: str | None, preserved: Sequence[str], kept: Sequence[_Entry]) -> "_Stretch":
        """The stretch that a boundary begins, with the lines and messages that were preserved."""
        stretch = cls()
        stretch._parents.extend(range(_NO_PARENT, len(preserved)))
        stretch._index = {uuid: number for number, uuid in enumerate(preserved, 1)}
        stretch._entries = [entry._replace(number=stretch._index[str(entry.message.entry_id)]) for entry in kept]
        stretch._leaf = len(preserved)
        if isinstance(boundary, str):
            stretch._index[boundary] = stretch._leaf
        return stretch

    def knows(self, uuid: str) -> bool:
        return uuid in self._index

    def in_order(self, uuids: Iterable[str]) -> list[str]:
        """Lines that are known, as they stand in the view: the summary, then by their place in the file."""
        summary = None if self.summary is None else self.summary.entry_id
        return sorted(uuids, key=lambda uuid: (uuid != summary, self._index[uuid]))

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

    def stand_in(self, item: Item) -> None:
        """A summary: what hangs on it hangs on what it hangs on."""
        uuid, parent = item.value.get("uuid"), item.value.get("parentUuid")
        if isinstance(uuid, str):
            self._index[uuid] = self._index.get(parent, self._leaf) if isinstance(parent, str) else self._leaf

    def link(self, item: Item) -> None:
        """Note a line's place in the tree. One that says nothing of a parent follows the line before it."""
        number = len(self._parents)
        parent = item.value.get("parentUuid")
        if number and "parentUuid" not in item.value:
            above = number - 1
        elif parent is None:
            above = _NO_PARENT
        else:
            above = self._index.get(item.text(parent, "parentUuid"), _UNKNOWN_PARENT)
        self._straight = self._straight and above == number - 1
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
            self._entries.append(_Entry(self._leaf, message, batch))

    def entries(self, leaf: str | None) -> list[_Entry]:
        """The summary, and the messages of the chain that ends in that line, or in the newest message."""
        first = [] if self.summary is None else [_Entry(0, self.summary, None)]
        end = self._index.get(leaf, self._leaf) if leaf is not None else self._leaf
        if self._straight and end >= self._leaf:
            return [*first, *self._entries]
        states = self._states(end)
        batches = {entry.batch for entry in self._entries if states[entry.number] != _LEFT and entry.batch is not None}
        together = [entry for entry in self._entries if states[entry.number] != _LEFT or entry.batch in batches]
        calls = {call.call_id for entry in together for call in entry.message.tool_calls}
        return [
            *first,
            *(
                entry
                for entry in self._entries
                if states[entry.number] != _LEFT or entry.batch in batches or _answers(entry.message, calls)
            ),
        ]

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
        name, start, end = opening[1], opening.start(), opening.end()
        if start < at or name in unclosed:
            continue
        if name is not None:
            close = text.find(f"</{name}>", start)
            if close < 0:
                unclosed.add(name)
                continue
            end = close + len(name) + 3
        yield Author.USER, text[at:start]
        yield Author.PLUGIN, text[start:end]
        at = end
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
