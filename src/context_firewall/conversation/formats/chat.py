"""Chat messages as JSON: a list of `{role, content, tool_calls?, tool_call_id?}`, or an object with a list `messages`.

The roles are those of Chat Completions; content may be text or blocks, those of the Messages format included. A call
is answered by the message that names its id; the older `function_call` by the next message of the role `function`. The
format has no marker for a compaction: two views are compared (`compaction_between`). Only a summary that this package
wrote is known again, by its first line.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from context_firewall.canonical import canonical_bytes
from context_firewall.conversation.compactions import FoundCompaction
from context_firewall.conversation.items import Item
from context_firewall.conversation.messages import SUMMARY_HEAD, Author, Message, Role, Status, ToolCall, ToolResult
from context_firewall.conversation.parts import Parts, Reader, json_text

NAME = "chat"

_ROLES = {
    "system": (Role.SYSTEM, Author.SYSTEM),
    "developer": (Role.SYSTEM, Author.SYSTEM),
    "user": (Role.USER, Author.USER),
    "assistant": (Role.ASSISTANT, Author.MODEL),
    "tool": (Role.TOOL, Author.TOOL),
    "function": (Role.TOOL, Author.TOOL),
}


def opens(value: Mapping[str, Any]) -> bool:
    """Whether a line can only be a chat message."""
    return value.get("role") in _ROLES and ("content" in value or "tool_calls" in value) and "type" not in value


class Chat(Reader):
    """Reads the messages of one list, or one message a line."""

    name = NAME

    def __init__(self, authors: Collection[Author] | None) -> None:
        super().__init__(authors)
        self._view: list[Message] = []
        self._next = 0
        self._function: str | None = None

    def take(self, item: Item) -> Iterator[FoundCompaction]:
        message = self._message(item, self._next)
        self._next += 1
        if self.keeps(message):
            self._view.append(message)
        return iter(())

    def view(self) -> tuple[Message, ...]:
        return tuple(self._view)

    def _message(self, item: Item, place: int) -> Message:
        value = item.value
        if value.get("role") not in _ROLES:
            raise item.refusal(f"message {place} has the role {value.get('role')!r}, which is not known", "role")
        role, author = _ROLES[value["role"]]
        parts = Parts(item, self.aside)
        self._results(item, parts, place)
        parts.blocks(value.get("content"), author, "content")
        self._calls(item, parts, place)
        if role is Role.USER and parts.results:
            role, author = Role.TOOL, Author.TOOL
        message = parts.message(role, author, place)
        if role is Role.USER and message.content.startswith(SUMMARY_HEAD):
            return replace(message, author=Author.SUMMARY, compaction_status=Status.SUMMARIZED, passages=())
        return message

    def _calls(self, item: Item, parts: Parts, place: int) -> None:
        calls = item.value.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            raise item.refusal("tool_calls must be a list", "tool_calls")
        for index, call in enumerate(calls or ()):
            key = f"tool_calls.{index}"
            call = item.mapping(call, key)
            inner = item.mapping(call.get("function") or call.get("custom"), f"{key}.function")
            call_id, name = item.text(call.get("id"), f"{key}.id"), item.text(inner.get("name"), f"{key}.function.name")
            parts.calls.append(ToolCall(call_id, name, json_text(inner.get("arguments", inner.get("input")))))
        if isinstance(item.value.get("function_call"), dict):
            inner = item.value["function_call"]
            self._function = f"function:{place}"
            name = item.text(inner.get("name"), "function_call.name")
            parts.calls.append(ToolCall(self._function, name, json_text(inner.get("arguments"))))

    def _results(self, item: Item, parts: Parts, place: int) -> None:
        if item.value["role"] == "tool":
            parts.results.append(ToolResult(item.text(item.value.get("tool_call_id"), "tool_call_id")))
        elif item.value["role"] == "function":
            parts.results.append(ToolResult(self._function or f"function:{place}"))


# -- writing ----------------------------------------------------------------------------------------------------------


def written(messages: Iterable[Message], *, verbatim: bool = False) -> bytes:
    """A view as a list of chat messages in the form of Chat Completions, one a line, with a final newline.

    With `verbatim`, a message that came from such a list stands there as it was, with all that it held.
    """
    lines = [line for message in messages for line in _lines(message, verbatim)]
    return b"[\n" + b",\n".join(lines) + b"\n]\n" if lines else b"[]\n"


def _lines(message: Message, verbatim: bool) -> list[bytes]:
    if verbatim and message.source:
        return [message.source]
    if message.tool_results:
        return [canonical_bytes(keys) for keys in _result_keys(message)]
    keys: dict[str, Any] = {"content": message.content, "role": str(message.role)}
    if message.tool_calls:
        keys["content"] = message.content or None
        keys["tool_calls"] = [
            {"function": {"arguments": arguments, "name": name}, "id": call_id, "type": "function"}
            for call_id, name, arguments in message.tool_calls
        ]
    return [canonical_bytes(keys)]


def _result_keys(message: Message) -> Iterator[dict[str, Any]]:
    """One message a result, and one for what the user or the harness said beside it."""
    said = [message.content[start:end] for author, start, end in message.passages if author is not Author.TOOL]
    results = [message.content[start:end] for author, start, end in message.passages if author is Author.TOOL]
    content = "\n".join(results) if message.passages else message.content
    for result in message.tool_results:
        yield {"content": content, "role": "tool", "tool_call_id": result.call_id}
        content = ""  # several results in one item are not told apart: the first has them all
    if said:
        yield {"content": "\n".join(said), "role": "user"}
