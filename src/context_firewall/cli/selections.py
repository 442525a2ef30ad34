"""Lines of a stored run on their way to standard output: hashed before they are shown, and accounted for after.

Every stream is read to its end, and so checked, when its `Printed` is made; what is too large to hold is read a second
time to be shown.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from context_firewall.cli.channels import Delivery, indicate
from context_firewall.cli.excerpt import LineCount, LineRange, LineRanges, Piece, numbered, pieces_of
from context_firewall.cli.terminal import spelled_out
from context_firewall.version import MECHANISM_NAME

if TYPE_CHECKING:
    from context_firewall.documents.evidence_manifest import StoredStream
    from context_firewall.store.evidence import EvidenceStore

# A stream up to this size is held in memory between hashing and showing.
HELD_BYTES = 8 << 20
# How many ranges are named before the rest is counted.
RANGES_AT_MOST = 6


class Printed:
    """A stream of the run, hashed when this is made: its bytes, in memory if they are few, and its number of lines."""

    def __init__(self, store: "EvidenceStore", stream: "StoredStream") -> None:
        self.name = stream["name"]
        self.byte_count = stream["byte_count"]
        self._read: Callable[[], Iterator[bytes]] = lambda: store.chunks(stream["sha256"], stream["byte_count"])
        count = LineCount()
        passing = count.counted(self._read())
        self._held = b"".join(passing) if self.byte_count <= HELD_BYTES else None
        for _ in passing:
            pass
        self.lines = count.lines

    def chunks(self) -> Iterable[bytes]:
        """All bytes once more."""
        return self._read() if self._held is None else (self._held,)


class Selection(NamedTuple):
    """The lines of a stream that are shown, within those that it has."""

    printed: Printed
    ranges: LineRanges


def write_selections(selections: Sequence[Selection], number: bool, max_bytes: int | None) -> None:
    """All selections to standard output, then for each what it was and what it was not."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    room = max_bytes
    said = []
    with Delivery() as delivery:
        for selection in selections:
            budget, shown = _Budget(room), _Sum()
            pieces = shown.counted(pieces_of(selection.printed.chunks(), selection.ranges))
            data = numbered(pieces, selection.printed.name) if number else (piece.data for piece in pieces)
            kept = budget.within(data)
            for part in spelled_out(kept) if terminal else kept:
                delivery.write(part)
            room = budget.room
            said.append(_account(selection, shown.byte_count, budget))
    for line in said:
        indicate(f"[{MECHANISM_NAME}] {line}")
    if terminal:
        indicate(f"[{MECHANISM_NAME}] control characters are spelled out for the terminal; a pipe gets the exact bytes")


class _Sum:
    """Adds up the bytes of the run that pass."""

    def __init__(self) -> None:
        self.byte_count = 0

    def counted(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces unchanged."""
        for piece in pieces:
            self.byte_count += len(piece.data)
            yield piece


class _Budget:
    """Lets no more bytes pass than there is room for: whole lines, or the beginning of a first one that is too long."""

    def __init__(self, room: int | None) -> None:
        self.room = room
        self.passed = 0
        self.cut = 0

    def within(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """What fits; the rest is only counted."""
        if self.room is None:
            yield from parts
            return
        waiting = b""
        for part in parts:
            if self.cut:
                self.cut += len(part)
                continue
            waiting += part
            fits = waiting[: self.room]
            end = fits.rfind(b"\n") + 1
            kept = fits[:end]
            if len(waiting) > self.room:
                kept = kept if end or self.passed else fits
                self.cut = len(waiting) - len(kept)
                waiting = kept
            yield self._counted(kept)
            waiting = waiting[len(kept) :]
        yield self._counted(waiting)
        if self.cut:
            self.room = 0

    def _counted(self, part: bytes) -> bytes:
        self.passed += len(part)
        self.room = (self.room or 0) - len(part)
        return part


def _account(selection: Selection, byte_count: int, budget: _Budget) -> str:
    """What was chosen of a stream, what was left out, and what the budget cost, in one line."""
    printed, ranges = selection
    size = f"{printed.byte_count:,} B"
    words = f"{printed.name}: "
    if not printed.lines:
        return f"{words}empty"
    if ranges[0] == (1, printed.lines):
        words += f"{_lines(printed.lines)}, {size}, all of it"
    else:
        words += f"{_listed(ranges)} of {printed.lines:,}, {byte_count:,} B of {size}"
        words += f"; left out: {_listed(_between(ranges, printed.lines))}"
    if budget.cut:
        words += f"; cut by --max-bytes after {budget.passed:,} B, {budget.cut:,} B are missing"
    return f"{words}; digest checked"


def _between(ranges: Iterable[LineRange], lines: int) -> Iterator[LineRange]:
    """The ranges that the others leave out."""
    first = 1
    for one in ranges:
        if first < one.first:
            yield LineRange(first, one.first - 1)
        first = one.last + 1
    if first <= lines:
        yield LineRange(first, lines)


def _listed(ranges: Iterable[LineRange]) -> str:
    """The first ranges by name, the rest by number."""
    coming = iter(ranges)
    named = list(islice(coming, RANGES_AT_MOST))
    rest = sum(1 for _ in coming)
    word = "line" if len(named) == 1 and named[0].first == named[0].last else "lines"
    texts = (str(one.first) if one.first == one.last else f"{one.first}-{one.last}" for one in named)
    return f"{word} {','.join(texts)}" + (f" and {rest:,} more ranges" if rest else "")


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
