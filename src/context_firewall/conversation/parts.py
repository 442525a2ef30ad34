"""The parts of one item, gathered into one message: texts with their authors, calls, results.

A format hands over what it finds; where the parts have different authors, the message says which is whose.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from context_firewall.conversation.compactions import FoundCompaction
from context_firewall.conversation.items import Item
from context_firewall.conversation.messages import Author, EntryId, Message, Passage, Role, ToolCall, ToolResult

Split = Callable[[str], Iterable[tuple[Author, str]]]


class Parts:
    """What one item holds, in its order."""

    def __init__(self, item: Item, aside: Counter[str]) -> None:
        self._item = item
        self._aside = aside
        self._texts: list[str] = []
        self._passages: list[Passage] = []
        self._length = 0
        self.calls: list[ToolCall] = []
        self.results: list[ToolResult] = []

    @property
    def authors(self) -> set[Author]:
        """Who wrote any of the texts."""
        return {passage.author for passage in self._passages}

    def add(self, *pieces: tuple[Author, str]) -> None:
        """Add one text, whose pieces stand without anything between them; texts are separated by a newline."""
        if self._texts:
            self._texts.append("\n")
            self._length += 1
        for author, text in pieces:
            end = self._length + len(text)
            if text and self._passages and self._passages[-1].author is author and not self._gap():
                self._passages[-1] = self._passages[-1]._replace(end=end)
            elif text:
                self._passages.append(Passage(author, self._length, end))
            self._texts.append(text)
            self._length = end

    def _gap(self) -> bool:
        return self._passages[-1].end != self._length

    def blocks(self, value: object, author: Author, key: str, *, split: Split | None = None) -> None:
        """Take a content: text, or a list of blocks as the Messages and Chat Completions formats have them.

        `split` says who wrote which part of a text of that author. What is no text is counted as left aside.
        """
        if isinstance(value, str):
            self._text(value, author, split)
            return
        if value is None:
            return
        if not isinstance(value, list):
            raise self._item.refusal(f"{key} must be text or a list of blocks", key)
        for index, block in enumerate(value):
            self._block(self._item.mapping(block, f"{key}.{index}"), author, f"{key}.{index}", split)

    def _block(self, block: dict[str, Any], author: Author, key: str, split: Split | None) -> None:
        kind = block.get("type")
        if kind in ("text", "input_text", "output_text", "refusal"):
            field = "refusal" if kind == "refusal" else "text"
            self._text(self._item.text(block.get(field), f"{key}.{field}"), author, split)
        elif kind == "tool_use":
            self._call(block, key)
        elif kind == "tool_result":
            self._result(block, key)
        else:
            self._aside[f"block {kind}"] += 1

    def _text(self, text: str, author: Author, split: Split | None) -> None:
        text = self._item.text(text, "content")
        self.add(*((author, text),) if split is None else split(text))

    def _call(self, block: dict[str, Any], key: str) -> None:
        call_id = self._item.text(block.get("id"), f"{key}.id")
        name = self._item.text(block.get("name"), f"{key}.name")
        self.calls.append(ToolCall(call_id, name, json_text(block.get("input"))))

    def _result(self, block: dict[str, Any], key: str) -> None:
        call_id = self._item.text(block.get("tool_use_id"), f"{key}.tool_use_id")
        error = block.get("is_error")
        self.results.append(ToolResult(call_id, error if isinstance(error, bool) else None))
        self.blocks(block.get("content"), Author.TOOL, f"{key}.content")

    def message(self, role: Role, author: Author, entry_id: EntryId, *, timestamp: float = 0.0) -> Message:
        """All of it as one message of that role and author."""
        plain = self.authors <= {author}
        return Message(
            role=role,
            content="".join(self._texts),
            timestamp=timestamp,
            entry_id=entry_id,
            author=author,
            tool_calls=tuple(self.calls),
            tool_results=tuple(self.results),
            passages=() if plain else tuple(self._passages),
            line=self._item.line,
            source=self._item.raw,
        )


def json_text(value: object) -> str:
    """A call's arguments as text: as they are, or as JSON where the session holds them parsed."""
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()


def iso_time(value: object) -> float:
    """Seconds since 1970 of a time as ISO 8601 writes it, with its zone; 0 where there is none."""
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return 0.0
    return moment.timestamp() if moment is not None and moment.tzinfo is not None else 0.0


class Reader:
    """What every format's reader has: who is kept, what was left aside, how many compactions were found.

    A format's reader takes items in order with `take`, which yields the compactions that an item completes, and gives
    the view with `finish`, once.
    """

    name = ""

    def __init__(self, authors: Collection[Author] | None) -> None:
        self._authors = authors
        self._found = 0
        self.aside: Counter[str] = Counter()

    def take(self, item: Item) -> Iterator[FoundCompaction]:
        """Read the next item."""
        raise NotImplementedError

    def finish(self) -> Iterator[FoundCompaction]:
        """What was waiting for an item that does not come."""
        return iter(())

    def view(self) -> tuple[Message, ...]:
        """The view at the end."""
        raise NotImplementedError

    def keeps(self, message: Message) -> bool:
        """Whether anybody wrote in it whose messages are asked for."""
        if self._authors is None or message.author in self._authors:
            return True
        return any(passage.author in self._authors for passage in message.passages)

    def next_round(self) -> int:
        """The number of the compaction that was just found."""
        self._found += 1
        return self._found
