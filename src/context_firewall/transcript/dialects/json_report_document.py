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
    parts = list(_parts(root))
    spans = list(_spans(lines))
    if len(lines) == 1 or len(parts) != len(spans):
        spans = [Span(0, len(lines) - 1)] * len(parts)
    spans = [Span(max(0, first - above), last - above) for first, last in spans]
    return Document(root, {id(part): span for part, span in zip(parts, spans, strict=True)})


def _parts(root: object) -> Iterator[object]:
    """Objects and arrays that are not empty, in the order in which they open."""
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict | list) and part:
            yield part
            waiting += reversed(list(part.values()) if isinstance(part, dict) else part)


def _spans(lines: Sequence[bytes]) -> Iterator[Span]:
    """Spans by indentation, in the order in which they open."""
    spans: list[Span] = []
    opened: list[int] = []
    for at, line in enumerate(lines):
        text = line.strip()
        if text[:1] in (b"}", b"]") and opened:
            place = opened.pop()
            spans[place] = Span(spans[place].first, at)
        if text[-1:] in (b"{", b"["):
            opened.append(len(spans))
            spans.append(Span(at, at))
    return iter(spans)
