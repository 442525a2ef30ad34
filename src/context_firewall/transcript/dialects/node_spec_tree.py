"""The open parents of a spec report: which `▶` a result closes, and what its nesting allows."""

from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects.node_grammar import FAIL, Title
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line

LONGEST_NAME = 8
"""Further lines that a name with newlines may take."""


@dataclass(slots=True)
class Parent:
    """An open `▶`."""

    level: int
    name: bytes
    opened: int
    """Its line."""
    failing: bool = False
    started_failing: bool = False
    """Whether a child failed that had begun. One that never began was cancelled for an error of its parent's own."""
    tail: list[tuple[bytes, Line]] = field(default_factory=list)
    """Unknown lines directly after it: perhaps the rest of a name with newlines."""

    def may_go_on(self, number: int) -> bool:
        """Whether a line may be a further line of its name."""
        return number == self.opened + len(self.tail) + 1 and len(self.tail) < LONGEST_NAME


class Tree:
    """Open parents, outermost first. It shares the accounts of the machine that it reads for."""

    def __init__(self, unclassified: list[Line], suppressed: Account, doubts: set[Doubt]) -> None:
        self._unclassified = unclassified
        self._suppressed = suppressed
        self._doubts = doubts
        self._stack: list[Parent] = []

    @property
    def level(self) -> int:
        """The nesting at which the next leaf stands."""
        return self._stack[-1].level + 1 if self._stack else 0

    @property
    def innermost(self) -> Parent | None:
        """The parent of the next leaf."""
        return self._stack[-1] if self._stack else None

    def path(self, name: bytes) -> tuple[bytes, ...]:
        """The names from the outermost parent to this child."""
        return (*(parent.name for parent in self._stack), name)

    def open(self, level: int, name: bytes, number: int) -> None:
        """A parent opens at its place, or gives up what was open there."""
        if level != self.level:
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self.unwind(level)
        self._suppressed.add(Kind.STRUCTURE, number)
        self._stack.append(Parent(level, name, number))

    def end(self) -> None:
        """Nothing more comes: whatever is open stays open."""
        if self._stack:
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self.unwind(0)

    def unwind(self, level: int) -> None:
        """Give up open parents at this nesting and deeper."""
        while self._stack and self._stack[-1].level >= level:
            self._unclassified += (line for _, line in self._stack.pop().tail)

    def closed(self, level: int, glyph: bytes, title: Title) -> Parent | None:
        """The parent that this result closes; None for a leaf. Leaves the result's ancestors open."""
        # From the inside out: the innermost open parent is the one that closes, unless lines are missing.
        for place in range(len(self._stack) - 1, -1, -1):
            parent = self._stack[place]
            if parent.level < level:
                break
            if parent.level == level and self._named(parent, title.name):
                if place + 1 < len(self._stack):
                    self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
                    self.unwind(level + 1)
                return self._stack.pop()
        if level != self.level:
            if level or glyph != FAIL or title.reason is not None:
                self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self.unwind(level)
        return None

    def _named(self, parent: Parent, name: bytes) -> bool:
        """Whether an open parent has this name; lines after its opening may be the rest of it."""
        if parent.name == name:
            rest = []
        elif name.startswith(parent.name + b"\n"):
            rest = name[len(parent.name) + 1 :].split(b"\n")
            if rest != [text for text, _ in parent.tail[: len(rest)]]:
                return False
        else:
            return False
        self._suppressed.add_lines(Kind.STRUCTURE, (line for _, line in parent.tail[: len(rest)]))
        self._unclassified += (line for _, line in parent.tail[len(rest) :])
        parent.tail.clear()
        return True
