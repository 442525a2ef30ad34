"""A JSON document in a stream, and where its parts stand.

It is read strictly: one object, no key twice, no NaN. Its parts are the objects and arrays in it that are not empty. As
JSON.stringify, Python's json and jq indent it, each part opens at the end of a line and closes at the start of one, and
nothing else does. Where each does, they open in the order in which they are met from the root, and close in that in
which they are left. Where one does not, all stand in all lines: so on one line.
"""

import gc
import re
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from context_firewall.transcript.json_lines import json_object

# A larger document is not read. No runner's report of a run that anybody looks at is as large.
LARGEST = 1 << 26

_PARTS = (dict, list)
# Of a line only the ends count: brackets of one sort, and no blanks.
_ALIKE = bytes.maketrans(b"[]", b"{}")
_BLANKS = b" \t\r"
# An empty object or array in several lines, which is no part though it has the ends of one. The first is quicker found.
_HOLLOW, _HOLLOW_WITH_BLANK_LINES = b"{\n}", re.compile(rb"\{\n++\}")


class Span(NamedTuple):
    """Lines of a document, counted from 0; both belong to it."""

    first: int
    last: int


class Places(NamedTuple):
    """Where parts of a document stand."""

    whole: Span
    parts: dict[int, Span] | None
    """By their identity; None if all stand in all lines."""

    def of(self, part: object) -> Span:
        """Where one of the parts stands; the whole document for another."""
        return self.whole if self.parts is None else self.parts.get(id(part), self.whole)

    def item(self, values: list[Any], index: int) -> Span:
        """Where one of a list of strings stands: with indentation each has a line."""
        first, last = self.of(values)
        if self.parts is None or last - first != len(values) + 1:
            return Span(first, last)
        return Span(first + 1 + index, first + 1 + index)


@dataclass(frozen=True, slots=True)
class Document:
    """A document."""

    root: dict[str, Any]
    text: bytes
    """Its lines, each with its newline."""
    above: int
    """How many of the first lines are none of the stream's."""

    def places(self, parts: Iterable[object]) -> Places:
        """Where some objects and arrays of the document stand."""
        whole = Span(0, self.text.count(b"\n") - 1 - self.above)
        if not whole.last:
            return Places(whole, None)
        text = self.text.translate(_ALIKE, _BLANKS)
        if _HOLLOW in text or (b"\n\n" in text and _HOLLOW_WITH_BLANK_LINES.search(text)):
            return Places(whole, None)
        opening, closing = _Marks(text, b"{\n", 0), _Marks(text, b"\n}", 1)
        count, opened, closed = _numbers(self.root, set(map(id, parts)))
        if not opening.count == closing.count == count:
            return Places(whole, None)
        first, last = opening.lines(opened.values()), closing.lines(closed.values())
        above = self.above
        spans = {part: Span(max(0, first[opened[part]] - above), last[closed[part]] - above) for part in opened}
        return Places(whole, spans)


def document(text: bytes, *, above: int = 0) -> Document | None:
    """The document that lines are, each with its newline, or None. The first `above` are no lines of the stream."""
    if len(text) > LARGEST and len(text) - text.count(b"\n") > LARGEST:
        return None
    root = json_object(text)
    return Document(root, text, above) if root else None


@contextmanager
def garbage_left_alone() -> Iterator[None]:
    """Look for no garbage meanwhile: a document is many objects at once, and all are in use until none is."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _numbers(root: dict[str, Any], wanted: Set[int]) -> tuple[int, dict[int, int], dict[int, int]]:
    """How many objects and arrays are not empty; how many open before each of the `wanted` does, and close before it.

    All are known by their identity.
    """
    count, opened, closed = 0, dict[int, int](), dict[int, int]()
    waiting: list[tuple[int, Iterator[Any]]] = [(0, iter((root,)))]
    while waiting:
        around, parts = waiting[-1]
        for part in parts:
            name, inside = id(part), part.values() if type(part) is dict else part
            if name in wanted:
                opened[name] = count
            count += 1
            for value in inside:
                if value and type(value) in _PARTS:
                    further = [value for value in inside if value and type(value) in _PARTS]
                    waiting.append((name, iter(further)))
                    break
            else:
                # All that have opened have closed before it, save those around it.
                if name in wanted:
                    closed[name] = count - len(waiting)
                continue
            break
        else:
            waiting.pop()
            if around in wanted:
                closed[around] = count - len(waiting)
    return count, opened, closed


class _Marks:
    """Where a mark stands in a text: a newline with a bracket before or behind it."""

    def __init__(self, text: bytes, mark: bytes, below: int) -> None:
        """`below`: 1 if it marks the line that the newline begins, 0 if that which it ends."""
        parts = text.split(mark)
        self._text = text
        self._below = below
        self._ends = list(accumulate(map(len, parts)))
        self.count = len(parts) - 1

    def lines(self, numbers: Iterable[int]) -> dict[int, int]:
        """The lines, counted from 0, that some of the marks stand for, by how many marks stand before each."""
        at, line, lines = 0, 0, dict[int, int]()
        for number in sorted(numbers):
            # What stands before it, and the marks there, two bytes each.
            stop = self._ends[number] + 2 * number + self._below
            line += self._text.count(b"\n", at, stop)
            at, lines[number] = stop, line
        return lines
