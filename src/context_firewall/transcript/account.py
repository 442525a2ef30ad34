"""Lines that are not kept: how many of each kind, and, when somebody asks, which.

A machine accounts for every line exactly once: it keeps it in its reading, or adds it here. Counting is all that a
reduction needs; an explanation also wants to know which lines they were, so a traced account remembers.
"""

from collections import Counter
from collections.abc import Iterable

from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line


class Account:
    """The suppressed lines of one stretch."""

    __slots__ = ("counts", "fates")

    def __init__(self) -> None:
        self.counts: Counter[Kind] = Counter()
        self.fates: dict[int, Kind] | None = None

    def trace(self) -> None:
        """Remember from now on which lines were suppressed. Nothing may have been added yet."""
        self.fates = {}

    def add(self, kind: Kind, *numbers: int) -> None:
        """Suppress the lines of these numbers."""
        self.counts[kind] += len(numbers)
        if self.fates is not None:
            for number in numbers:
                self.fates[number] = kind

    def add_lines(self, kind: Kind, lines: Iterable[Line]) -> None:
        """Suppress lines that were held until now."""
        self.add(kind, *[line.number for line in lines])

    def add_range(self, kind: Kind, first: int, count: int) -> None:
        """Suppress `count` adjacent lines from number `first` on."""
        self.counts[kind] += count
        if self.fates is not None:
            self.fates.update(dict.fromkeys(range(first, first + count), kind))

    def add_many(self, kind: Kind, count: int) -> None:
        """Suppress a run of lines that a lane took; a traced reading takes none."""
        self.counts[kind] += count

    def totals(self) -> dict[Kind, int]:
        """How many lines of each kind, kinds without lines left out."""
        return {kind: count for kind, count in self.counts.items() if count}
