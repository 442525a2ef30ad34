"""Start reading here: the bytes of a session go in, its view and its compactions come out.

    chunks of bytes -> items -> messages -> the view, and each compaction that changed it

A format is one module in `formats` and one row of `FORMATS`. Which one reads a session is said, or found: some line
must be one that only this format has. Two that claim the same line, or none, are refused; nothing is guessed.
"""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

from context_firewall.conversation.compactions import Conversation, FoundCompaction
from context_firewall.conversation.items import Item, bare, item_of, items_of_list, lines_of
from context_firewall.conversation.messages import Author
from context_firewall.conversation.parts import Reader
from context_firewall.errors import InvalidInput

# Lines that may stand before one that says which format it is.
OPENING_LINES = 200

FORMATS = {
    "claude-code": "context_firewall.conversation.formats.claude_code:ClaudeCode",
    "codex": "context_firewall.conversation.formats.codex:Codex",
    "dsh": "context_firewall.conversation.formats.dsh:Dsh",
    "chat": "context_firewall.conversation.formats.chat:Chat",
}
"""One row a format: its name, and the class that reads it. The module's `opens` knows a line that only it has."""


class _Format(NamedTuple):
    name: str
    opens: Callable[[Mapping[str, Any]], bool]
    reader: Callable[[Collection[Author] | None], Reader]


def read_conversation(
    source: bytes | Iterable[bytes], *, format: str = "auto", authors: Collection[Author] | None = None
) -> Conversation:
    """Read a session: its bytes, or chunks of them, perhaps in Zstandard frames.

    `format` is a name of `FORMATS`, or `auto`. With `authors`, only messages in which one of them wrote are kept, which
    is what a large session needs. Raises InvalidInput, with the line, for what is not as the format says.
    """
    compactions = list[FoundCompaction]()
    stream = stream_conversation(source, format=format, authors=authors)
    while True:
        try:
            compactions.append(next(stream))
        except StopIteration as end:
            read: Conversation = end.value
            return replace(read, compactions=tuple(compactions))


def stream_conversation(
    source: bytes | Iterable[bytes], *, format: str = "auto", authors: Collection[Author] | None = None
) -> Generator[FoundCompaction, None, Conversation]:
    """`read_conversation` that hands over each compaction when it is found and then forgets it.

    What is held at a time is the view, and no more of what it has shadowed.
    """
    row, items = _items((source,) if isinstance(source, bytes) else source, format)
    reader = row.reader(authors)
    for item in items:
        yield from reader.take(item)
    yield from reader.finish()
    return Conversation(row.name, reader.view(), aside=dict(sorted(reader.aside.items())))


def items_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The items of a session as they stand there, of whatever format: its lines, or the members of its list.

    Lines are handed over without being read as JSON, so that an item is found whatever stands beside it.
    """
    lines = lines_of(chunks)
    first = next(lines, None)
    if first is None:
        return
    if _is_document(first[1]):
        yield from (item.raw for item in items_of_list(_text(chain((first,), lines))))
    else:
        yield from (bare(raw) for _, raw in chain((first,), lines))


def _items(chunks: Iterable[bytes], format: str) -> tuple[_Format, Iterator[Item]]:
    """The format and the items; the first lines are looked at and handed on."""
    if format != "auto" and format not in FORMATS:
        raise InvalidInput(f"format must be auto, {', '.join(FORMATS)}", key="format")
    lines = lines_of(chunks)
    first = next(lines, None)
    if first is None:
        raise InvalidInput("the session is empty", line=1)
    if _is_document(first[1]):
        if format not in ("auto", "chat"):
            raise InvalidInput(f"a list of messages is no session of {format}", line=first[0])
        return _row("chat"), items_of_list(_text(chain((first,), lines)))
    items = (item_of(number, raw) for number, raw in chain((first,), lines))
    return (_row(format), items) if format != "auto" else _recognized(items)


def _is_document(first: bytes) -> bool:
    """Whether the first line begins a document of several lines, or is one that holds a list of messages."""
    if first.lstrip(b" \t\r").startswith(b"["):
        return True
    try:
        return "messages" in item_of(1, first).value
    except InvalidInput:
        return first.strip() == b"{" or first.strip().endswith((b",", b"[", b"{"))


def _text(lines: Iterable[tuple[int, bytes]]) -> str:
    """The document's text, with its blank lines, so that lines keep their numbers."""
    parts, at = list[bytes](), 1
    for number, raw in lines:
        parts.append(b"\n" * (number - at) + raw)
        at = number
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError as error:
        line = b"".join(parts).count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"line {line}: not UTF-8", line=line) from None


def _recognized(items: Iterator[Item]) -> tuple[_Format, Iterator[Item]]:
    rows = [_row(name) for name in FORMATS]
    seen = list[Item]()
    for item in items:
        seen.append(item)
        claims = [row for row in rows if row.opens(item.value)]
        if len(claims) == 1:
            return claims[0], chain(seen, items)
        if claims or len(seen) == OPENING_LINES:
            break
    names = ", ".join(FORMATS)
    raise InvalidInput(f"line {seen[-1].line}: no format is recognised; say which it is: {names}", line=seen[-1].line)


def _row(name: str) -> _Format:
    place, _, attribute = FORMATS[name].partition(":")
    module = import_module(place)
    return _Format(name, module.opens, getattr(module, attribute))
