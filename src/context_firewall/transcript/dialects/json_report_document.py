"""A JSON document in a stream, and where its parts stand.

It is read strictly: one object, no key twice, no NaN. Printed on one line, all of it stands on that line. Printed with
indentation, an object or array begins on the line that ends with its bracket and ends on the line that begins with the
other, as JSON.stringify, Python's json and jq print it; empty ones stand within a line.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from context_firewall.transcript.json_lines import json_object

# A larger document is not read. No runner's report of a run that anybody looks at is as large.
LARGEST = 1 << 26


_OPENING = (b"{", b"[")
_CLOSING = (b"}", b"]")


class Span(NamedTuple):
    """Lines of a document, counted from 0; both belong to it."""

    first: int
    last: int


class Document(NamedTuple):
    """A document, and the spans of the objects and arrays in it by their identity."""

    root: dict[str, Any]
    spans: dict[int, Span]

    def span(self, part: object) -> Span:
        """Where an object or array of the document stands; the whole of it, if it is empty."""
        return self.spans.get(id(part), self.spans[id(self.root)])

    def item(self, values: list[Any], index: int) -> Span:
        """Where one of a list of strings stands: with indentation each has a line."""
        first, last = self.span(values)
        return Span(first, last) if first == last else Span(first + 1 + index, first + 1 + index)


def document(lines: Sequence[bytes], *, above: int = 0) -> Document | None:
    """The document that these lines are, or None. The first `above` of them are no lines of the stream."""
    if sum(map(len, lines)) > LARGEST:
        return None
    root = json_object(b"\n".join(lines))
    if not root:
        return None
    parts = list(map(id, _parts(root)))
    spans = _spans(lines, above)
    if len(lines) == 1 or len(parts) != len(spans):
        spans = [Span(0, len(lines) - 1 - above)] * len(parts)
    return Document(root, dict(zip(parts, spans, strict=True)))


def _parts(root: object) -> Iterator[object]:
    """Objects and arrays that are not empty, in the order in which they open."""
    waiting = [root]
    while waiting:
        part = waiting.pop()
        yield part
        values = list(part.values()) if isinstance(part, dict) else part
        if isinstance(values, list):
            waiting += [value for value in reversed(values) if value and type(value) in (dict, list)]


def _spans(lines: Sequence[bytes], above: int) -> list[Span]:
    """Spans by indentation, in the order in which they open."""
    firsts: list[int] = []
    lasts: dict[int, int] = {}
    opened: list[int] = []
    for at, text in enumerate(map(bytes.strip, lines), -above):
        if text.startswith(_CLOSING) and opened:
            lasts[opened.pop()] = at
        if text.endswith(_OPENING):
            opened.append(len(firsts))
            firsts.append(at)
    return [Span(max(0, first), lasts.get(place, first)) for place, first in enumerate(firsts)]
