"""Lines of a stream by number, taken from its bytes as they pass: exact, and in memory that does not grow with them.

A line ends with a newline byte and with nothing else; its number counts from 1, as in packets and briefs.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, overload

# The last line of a range that has no end.
UNBOUNDED = 10**15

_RANGE = re.compile(r"([0-9]{1,15})|([0-9]{1,15})?[:-]([0-9]{1,15})?")
_PLACE = re.compile(r"(?:(stdout|stderr):)?(.*)", re.DOTALL)


class LineRange(NamedTuple):
    """Lines by their numbers, both included."""

    first: int
    last: int


class Piece(NamedTuple):
    """Bytes of a stream, the number of the line that they begin in, and whether they begin at its beginning."""

    line: int
    begins: bool
    data: bytes


def parse_places(text: str) -> list[tuple[str | None, LineRange]]:
    """What `--lines` names, as a brief prints places: `stdout:3-9,20 stderr:2`, `3:9`, `3:`, `:9`, `3`.

    A stream's name stands for all ranges up to the next space. Raises ValueError for anything else.
    """
    found = []
    for place in text.split():
        match = _PLACE.fullmatch(place)
        stream, ranges = (match[1], match[2]) if match else (None, "")
        found += [(stream, _range(one)) for one in ranges.split(",")]
    if not found:
        raise ValueError("names no lines")
    return found


def _range(text: str) -> LineRange:
    match = _RANGE.fullmatch(text)
    if match is None or text in (":", "-"):
        raise ValueError(f"{text!a} is no range of lines, such as 10:20, 10-20, 10: or 10")
    first, last = int(match[1] or match[2] or 1), int(match[1] or match[3] or UNBOUNDED)
    if not 1 <= first <= last:
        raise ValueError(f"{text!a} must begin at line 1 or later, and not end before it begins")
    return LineRange(first, last)


def merged(ranges: Iterable[LineRange], *, context: int = 0, last: int = UNBOUNDED) -> Iterator[LineRange]:
    """Ranges that come in order, wider by so many lines on both sides, those that meet as one, up to the last line."""
    held: LineRange | None = None
    for one in ranges:
        wide = LineRange(max(1, one.first - context), min(one.last + context, last))
        if wide.first > last:
            break
        if held is None or wide.first > held.last + 1:
            if held is not None:
                yield held
            held = wide
        elif wide.last > held.last:
            held = LineRange(held.first, wide.last)
    if held is not None:
        yield held


class LineRanges(Sequence[LineRange]):
    """Ranges in 16 bytes each: a text may stand on every second line of a large stream."""

    def __init__(self, ranges: Iterable[LineRange]) -> None:
        self._numbers = array("Q", (number for one in ranges for number in one))

    def __len__(self) -> int:
        return len(self._numbers) // 2

    @overload
    def __getitem__(self, at: int) -> LineRange: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[LineRange]: ...
    def __getitem__(self, at: int | slice) -> LineRange | Sequence[LineRange]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        one = range(len(self))[at]
        return LineRange(self._numbers[2 * one], self._numbers[2 * one + 1])


class LineCount:
    """Counts the lines of a stream that passes through."""

    def __init__(self) -> None:
        self._newlines = 0
        self._open = False

    @property
    def lines(self) -> int:
        """How many lines have passed; the rest after the last newline is one."""
        return self._newlines + self._open

    def counted(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The chunks unchanged."""
        for chunk in chunks:
            if chunk:
                self._newlines += chunk.count(b"\n")
                self._open = not chunk.endswith(b"\n")
            yield chunk


def lines_with(chunks: Iterable[bytes], literal: bytes) -> Iterator[LineRange]:
    """The lines that hold a text, as ranges in order; the text has no newline in it."""
    number, first, last = 1, 0, -1
    tail = b""
    for chunk in chunks:
        # What is left of a line that has not ended may be the beginning of the text.
        window, at = tail + chunk, 0
        while (hit := window.find(literal, at)) >= 0:
            number += window.count(b"\n", at, hit)
            if number > last + 1:
                if first:
                    yield LineRange(first, last)
                first = number
            last = number
            end = window.find(b"\n", hit)
            if end < 0:
                at = len(window)
                break
            number, at = number + 1, end + 1
        number += window.count(b"\n", at)
        begin = max(window.rfind(b"\n") + 1, len(window) - len(literal) + 1)
        tail = window[begin:]
    if first:
        yield LineRange(first, last)


def pieces_of(chunks: Iterable[bytes], ranges: Iterable[LineRange]) -> Iterator[Piece]:
    """The bytes of the lines in the ranges, which are in order and do not meet; newlines included."""
    waiting = iter(ranges)
    wanted = next(waiting, None)
    number, begins = 1, True
    for chunk in chunks:
        if wanted is None:
            continue  # read on: what comes is hashed, and the digest is known at the end only
        at, ends_in = 0, number + chunk.count(b"\n")
        while wanted is not None and at < len(chunk):
            inside = number >= wanted.first
            goal = wanted.last + 1 if inside else wanted.first
            if goal > ends_in:
                end, after, whole = len(chunk), ends_in, chunk.endswith(b"\n")
            else:
                end, after, whole = _beginning(chunk, at, goal - number), goal, True
            if inside:
                yield Piece(number, begins, chunk[at:end])
            at, number, begins = end, after, whole
            if number > wanted.last:
                wanted = next(waiting, None)


def _beginning(chunk: bytes, at: int, lines: int) -> int:
    """Where a chunk's line begins that comes so many lines after the one at a place."""
    for _ in range(lines):
        at = chunk.index(b"\n", at) + 1
    return at


def numbered(pieces: Iterable[Piece], stream: str) -> Iterator[bytes]:
    """The pieces with `stream:number: ` before each line."""
    for line, begins, data in pieces:
        for offset, text in enumerate(_lines(data)):
            if offset or begins:
                yield b"%b:%d: " % (stream.encode(), line + offset)
            yield text


def _lines(data: bytes) -> Iterator[bytes]:
    """Each line with its newline; the last one may have none."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end
