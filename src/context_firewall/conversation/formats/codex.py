"""Codex: `rollout-*.jsonl`, one `{timestamp, type, payload}` a line.

    response_item   what the model sees: message, function_call and its output, custom_tool_call and its output, …
    event_msg       what the terminal showed: user_message among it; thread_rolled_back takes turns back
    compacted       {message, replacement_history?}: the view becomes the history; without one, it begins anew with the
                    message, and the client puts recent messages of the user before it
    session_meta, turn_context, …   left aside

A message in the user's role may be the harness's (project files, the environment). The user's own are those that an
event repeats: `user_message`, or in newer rollouts `item_completed` with a `UserMessage`. In a rollout without such
events a message counts as the user's unless it begins as the harness's own do.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from context_firewall.conversation.compactions import FoundCompaction, in_order, standing_for
from context_firewall.conversation.items import Item
from context_firewall.conversation.messages import Author, EntryId, Message, Passage, Role, ToolCall, ToolResult
from context_firewall.conversation.parts import Parts, Reader, iso_time, json_text

NAME = "codex"

HARNESS_OPENINGS = (
    "# AGENTS.md instructions for ",
    "<INSTRUCTIONS>",
    "<environment_context>",
    "<permissions instructions>",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
)

_ROLES = {
    "user": (Role.USER, Author.USER),
    "assistant": (Role.ASSISTANT, Author.MODEL),
    "developer": (Role.SYSTEM, Author.SYSTEM),
    "system": (Role.SYSTEM, Author.SYSTEM),
}
# Where the arguments of each kind of call stand.
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "local_shell_call": "action"}
_SEALED = frozenset({"compaction", "compaction_summary", "context_compaction"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})


def opens(value: Mapping[str, Any]) -> bool:
    """Whether a line can only be one of a rollout's."""
    return "payload" in value and ("timestamp" in value or value.get("type") == "session_meta")


class Codex(Reader):
    """Reads the lines of one rollout."""

    name = NAME

    def __init__(self, authors: Collection[Author] | None) -> None:
        super().__init__(authors)
        self._view: list[Message] = []
        self._said = _UserEvents()

    def take(self, item: Item) -> Iterator[FoundCompaction]:
        kind = item.text(item.value.get("type"), "type")
        payload = item.mapping(item.value.get("payload"), "payload")
        if kind == "compacted":
            yield self._compacted(item, payload)
        elif kind == "response_item":
            self._add(self._message(item, payload, item.line))
        elif kind == "event_msg" and (said := _said_by_the_user(item, payload)) is not None:
            self._said.take(said, self._view)
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            self._roll_back(item.number(payload.get("num_turns"), "payload.num_turns"))
        else:
            self.aside[_called(kind, payload)] += 1

    def view(self) -> tuple[Message, ...]:
        attributed = (self._said.attributed(message) for message in self._view)
        return tuple(message for message in attributed if self.keeps(message))

    def _add(self, message: Message | None) -> None:
        """Whether a message in the user's role is the user's shows later, so all of those are kept until then."""
        if message is None:
            return
        if message.author is Author.USER:
            self._said.meet(message)
        elif not self.keeps(message):
            return
        self._view.append(message)

    def _roll_back(self, turns: int) -> None:
        """The user took turns back: the view ends before the first of them."""
        places = [index for index, message in enumerate(self._view) if self._said.owns(message)]
        if turns:
            del self._view[places[-turns] if turns <= len(places) else 0 :]

    # -- messages -----------------------------------------------------------------------------------------------------

    def _message(self, item: Item, payload: dict[str, Any], entry_id: EntryId) -> Message | None:
        kind = payload.get("type", "message" if "role" in payload else None)
        time = iso_time(item.value.get("timestamp"))
        parts = Parts(item, self.aside)
        if kind == "message":
            if payload.get("role") not in _ROLES:
                raise item.refusal(f"the role {payload.get('role')!r} is not known", "payload.role")
            role, author = _ROLES[payload["role"]]
            parts.blocks(payload.get("content"), author, "payload.content")
            return parts.message(role, author, entry_id, timestamp=time)
        if kind in _CALLS:
            call_id = item.text(payload.get("call_id") or payload.get("id"), "payload.call_id")
            parts.calls.append(
                ToolCall(call_id, str(payload.get("name") or kind), json_text(payload.get(_CALLS[kind])))
            )
            return parts.message(Role.ASSISTANT, Author.MODEL, entry_id, timestamp=time)
        if kind in _RESULTS:
            call_id = item.text(payload.get("call_id"), "payload.call_id")
            output, exit_code = _output(payload.get("output"))
            parts.results.append(ToolResult(call_id, None, exit_code))
            parts.blocks(output, Author.TOOL, "payload.output")
            return parts.message(Role.TOOL, Author.TOOL, entry_id, timestamp=time)
        self.aside[_called("response_item", payload)] += 1
        return None

    # -- compactions --------------------------------------------------------------------------------------------------

    def _compacted(self, item: Item, payload: dict[str, Any]) -> FoundCompaction:
        text = item.text(payload.get("message", ""), "payload.message")
        history = payload.get("replacement_history")
        before = self.view()
        summary: Message | None = None
        new = list[Message]()
        if history is None and text:
            parts = Parts(item, self.aside)
            parts.add((Author.SUMMARY, text))
            time = iso_time(item.value.get("timestamp"))
            summary = parts.message(Role.USER, Author.SUMMARY, item.line, timestamp=time)
            new = [summary]
        elif isinstance(history, list):
            summary, new = self._replaced(item, history, text, before)
        elif history is not None:
            raise item.refusal("payload.replacement_history must be a list", "payload.replacement_history")
        kept = {message.entry_id for message in new}
        shadowed = tuple(message for message in before if message.entry_id not in kept)
        if summary is not None:
            marked = standing_for(summary, shadowed)
            new = [marked if message is summary else message for message in new]
            summary = marked
        self._view = new
        return FoundCompaction(
            round=self.next_round(),
            line=item.line,
            shadowed=shadowed,
            retained=tuple(message for message in before if message.entry_id in kept),
            summary=summary,
            entry_id=item.line,
            readded=history is None,
            sealed=summary is None and _holds_sealed(history),
        )

    def _replaced(
        self, item: Item, history: list[Any], text: str, before: tuple[Message, ...]
    ) -> tuple[Message | None, list[Message]]:
        """The summary in a replacement history, if it can be told, and the whole view that the history is.

        An item that is an earlier one word for word, in order, is that one. The summary is the one that holds the
        compaction's own message.
        """
        items = [self._message(item, payload, f"{item.line}.{place}") for place, payload in self._items(item, history)]
        messages = [message for message in items if message is not None]
        place = _summary_place(messages, text)
        earlier = in_order(before, messages)
        summary = None
        new = list[Message]()
        for index, message in enumerate(messages):
            if index == place:
                summary = replace(message, author=Author.SUMMARY)
                new.append(summary)
            elif index in earlier:
                new.append(before[earlier[index]])
            elif self.keeps(message):
                new.append(replace(message, author=Author.PLUGIN) if message.author is Author.USER else message)
        return summary, new

    def _items(self, item: Item, history: list[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        for place, entry in enumerate(history):
            yield place, item.mapping(entry, f"payload.replacement_history.{place}")


def _summary_place(messages: list[Message], text: str) -> int:
    """Which message is the summary: the last one that is the compaction's message, or else that contains it; or -1."""
    places = [index for index, message in enumerate(messages) if text and message.role is Role.USER]
    equal = [index for index in places if messages[index].content == text]
    holding = equal or [index for index in places if text in messages[index].content]
    return holding[-1] if holding else -1


class _UserEvents:
    """Which messages in the user's role the user wrote: those that an event repeats, wholly or in a part."""

    # How far back an event may look for the message that it repeats.
    REACH = 32

    def __init__(self) -> None:
        self._any = False
        self._announced = Counter[str]()
        self._proven = dict[EntryId | None, str]()

    def take(self, text: str, view: list[Message]) -> None:
        """An event: it proves the newest message that is this text, or one since the model spoke that holds it.

        One that repeats what was proven proves nothing more; one that fits no message may announce one that is to come.
        """
        self._any = True
        recent = view[-self.REACH :]
        found = next((message for message in reversed(recent) if _is_users(message) and message.content == text), None)
        if found is None:
            since = takewhile(lambda message: message.role is Role.USER, reversed(recent))
            found = next((message for message in since if _is_users(message) and text in message.content), None)
        if found is None or not text:
            self._announced[text] += 1
        else:
            self._proven.setdefault(found.entry_id, text)

    def meet(self, message: Message) -> None:
        """A message, which an event may have announced."""
        text = message.content.strip()
        if text and self._announced[text] > 0:
            self._announced[text] -= 1
            self._proven[message.entry_id] = text

    def owns(self, message: Message) -> bool:
        """Whether the user wrote it, or a part of it."""
        if message.author is not Author.USER:
            return False
        if self._any:
            return message.entry_id in self._proven
        return not message.content.startswith(HARNESS_OPENINGS)

    def attributed(self, message: Message) -> Message:
        """The message with its authors."""
        if message.author is not Author.USER or message.passages:
            return message
        if not self.owns(message):
            return replace(message, author=Author.PLUGIN)
        text = self._proven.get(message.entry_id, message.content)
        if text == message.content:
            return message
        start = message.content.index(text)
        pieces = (0, start, Author.PLUGIN), (start, start + len(text), Author.USER)
        end = (start + len(text), len(message.content), Author.PLUGIN)
        passages = tuple(Passage(author, first, last) for first, last, author in (*pieces, end) if first < last)
        return replace(message, passages=passages)


def _is_users(message: Message) -> bool:
    return message.author is Author.USER


def _said_by_the_user(item: Item, payload: Mapping[str, Any]) -> str | None:
    """What an event says that the user wrote: `user_message`, or in newer rollouts `item_completed`."""
    if payload.get("type") == "user_message":
        return item.text(payload.get("message"), "payload.message").strip()
    done = payload.get("item")
    if payload.get("type") != "item_completed" or not isinstance(done, dict) or done.get("type") != "UserMessage":
        return None
    blocks = done.get("content")
    texts = [block["text"] for block in blocks if "text" in block] if isinstance(blocks, list) else []
    return "\n".join(item.text(text, "payload.item.content") for text in texts).strip()


def _holds_sealed(history: object) -> bool:
    """Whether a history has a summary that only its maker can read."""
    kinds = (
        {entry.get("type") for entry in history if "encrypted_content" in entry} if isinstance(history, list) else ()
    )
    return any(kind in _SEALED for kind in kinds)


def _output(value: object) -> tuple[object, int | None]:
    """What a call printed, and its exit code where the harness wrote both as JSON into the output."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            inner = json.loads(value)
        except (ValueError, RecursionError):
            return value, None
        if isinstance(inner, dict) and isinstance(inner.get("output"), str):
            metadata = inner.get("metadata")
            code = metadata.get("exit_code") if isinstance(metadata, dict) else None
            return inner["output"], code if isinstance(code, int) and not isinstance(code, bool) else None
    if isinstance(value, dict) and ("content" in value or "content_items" in value):
        return value.get("content_items") or value.get("content"), None
    return value, None


def _called(kind: str, payload: Mapping[str, Any]) -> str:
    inner = payload.get("type")
    return f"{kind}/{inner}" if isinstance(inner, str) else kind
