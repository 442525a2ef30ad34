"""The results of an RSpec run: letters or an outline, errors outside of examples, and what is printed among them.

An outline is of one piece: below a group stand its examples and groups, two blanks deeper. Only groups at the margin
have an empty line above them, so any other name below an empty line is doubtful: an example may have printed it.
"""

import re
from operator import sub
from typing import NamedTuple

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import rspec_grammar as grammar
from context_firewall.transcript.dialects.rspec_grammar import Totals
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.letters import Letters
from context_firewall.transcript.lines import Line
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.numbered import Entry
from context_firewall.transcript.printed import Printed
from context_firewall.transcript.ruby import INTERRUPTED, error_place


class Marked(NamedTuple):
    """A failed example of the outline: its full name, and its line."""

    name: bytes
    line: Line


class Results:
    """What was read before the report."""

    def __init__(self, suppressed: Account) -> None:
        self._suppressed = suppressed
        self.printed = Printed()
        self.letters = Letters(grammar.LETTERS)
        self.failed: dict[int, Marked] = {}
        self.pending: list[Line] = []
        self.leaves = 0
        """Names in the outline with nothing below them, and without a mark."""
        self.doubtful = 0
        self.repeated = False
        """Two failed examples have one number."""
        self.errors: list[Entry] = []
        self._seeded = False
        self.stopped = False
        """The runner says that it was told to stop, or another run has begun."""
        self.first = 0
        """The number of the first line of a result, or 0."""
        self._error: Entry | None = None
        self._framed = False
        """The open error has reached its frames."""
        self._path: list[bytes] = []
        self._group: Line | None = None
        """A line at the margin that is a group if an outline follows."""
        self._leaf: tuple[int, Line] | None = None
        """The last name and its depth, until it is known whether something stands below it."""

    def lane(self) -> "re.Pattern[bytes] | None":
        """Runs of names without marks, where an outline may go on."""
        return grammar.UNMARKED if self._path and self._error is None else None

    def run(self, block: bytes, start: int, stop: int, stream: str, number: int) -> int:
        """Take a run of names, none of them below an empty line; 0 if one stands too deep below the name before it."""
        first = block[start : block.index(b"\n", start)]
        found = grammar.INDENTS.findall(block, start, stop)
        outline = grammar.OUTLINE.fullmatch(bared(first))
        if outline is None or len(outline["indent"]) > 2 * len(self._path):
            return 0
        indent, groups = len(outline["indent"]), 0
        if set(found) <= {b" " * indent}:  # mostly they stand side by side
            names, indents = [block[block.rfind(b"\n", start, stop - 1) + 1 : stop - 1]], [indent]
        else:
            names, indents = block[start : stop - 1].split(b"\n"), [indent, *map(len, found)]
            steps = list(map(sub, indents[1:], indents))
            if max(steps) > 2:
                return 0
            groups = steps.count(2)
        self._outlined(outline, Line(stream, number, Kind.UNCLASSIFIED, first), apart=False)
        if found:
            self._suppressed.add_many(Kind.STRUCTURE, groups)
            self._suppressed.add_many(Kind.SUCCESSFUL_TEST, len(found) - groups)
            self.leaves += len(found) - groups
            self._descend(names, indents)
            last = Line(stream, number + len(found), Kind.UNCLASSIFIED, names[-1])
            self._leaf = len(self._path) - 1, last
        return len(found) + 1

    def _descend(self, names: list[bytes], indents: list[int]) -> None:
        """The path to the last of these names. Above it stands the last name of each smaller depth."""
        places = dict(zip(indents, range(len(indents)), strict=True))
        above, last = min(places), indents[-1]
        self._path[above // 2 :] = [bared(names[places[indent]]).lstrip(b" ") for indent in range(above, last + 1, 2)]

    def take(self, bare: bytes, line: Line, *, apart: bool) -> bool:
        """One line that is not blank; `apart` says that an empty line stands above it. Says whether it is known."""
        if self._error is not None and self._belongs(self._error, bare, line):
            return True
        place = error_place(bare)
        if place is not None:
            self._end_name()
            self._start(line)
            self._error = Entry(place, line)
            self._framed = False
            self.errors.append(self._error)
            return True
        # A second seed is another run's: this one has broken off before its end.
        seed = bare.startswith(grammar.SEED)
        self.stopped |= bare == INTERRUPTED or (seed and self._seeded)
        self._seeded |= seed
        if grammar.INFORMATION.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            self._start(line)
            return True
        if self.letters.take(bare):
            self._suppressed.add(Kind.PROGRESS, line.number)
            self._start(line)
            return True
        outline = grammar.OUTLINE.fullmatch(bare)
        if outline is not None and self._outlined(outline, line, apart=apart):
            return True
        if outline is None and apart:
            self._end_name()
            self._group, self._path = line, [bare]
            return True
        self._print(bare, line)
        return False

    def blank(self, line: Line) -> None:
        """An empty line."""
        if self._error is not None and not self._framed:
            self._error.body.append(line)
        else:
            self._error = None
            self._suppressed.add(Kind.BLANK, line.number)

    def end(self) -> None:
        """No more results come."""
        self._end_name()
        self._error = None

    def agrees(self, totals: Totals) -> bool:
        """Whether what was read is what the totals count."""
        if len(self.errors) != totals.errors:
            return False
        if not totals.examples:
            return not self.letters.sure and not self.failed and not self.pending
        if self.failed or self.pending or self.leaves:
            return (
                not self.repeated
                and set(self.failed) == set(range(1, totals.failures + 1))
                and len(self.pending) == totals.pending
                and totals.passed in (self.leaves, self.leaves + self.doubtful)
            )
        return self.letters.agree(
            {grammar.PASSED: totals.passed, grammar.FAILED: totals.failures, grammar.PENDING: totals.pending}
        )

    # -- the outline

    def _outlined(self, outline: "re.Match[bytes]", line: Line, *, apart: bool) -> bool:
        depth = len(outline["indent"]) // 2
        name, number, pending = grammar.marked(outline["name"])
        if depth > len(self._path) or not self._path:
            return False
        if self._group is not None:
            if apart:
                self._end_name()
                self._path = []
                return False
            self._suppressed.add(Kind.STRUCTURE, self._group.number)
            self._start(self._group)
            self._group = None
        above = self._leaf
        if above is not None and above[0] < depth:
            self._suppressed.add(Kind.STRUCTURE, above[1].number)
            self._leaf = None
        self._end_name()
        del self._path[depth:]
        self._start(line)
        if number is not None:
            if number in self.failed:
                self.repeated = True
                self.printed.take(name, line)
            else:
                self.failed[number] = Marked(_joined([*self._path, name]), line)
        elif pending:
            self.pending.append(line)
        elif apart:
            self.doubtful += 1
            self.printed.take(name, line)
        else:
            self._path.append(name)
            self._leaf = depth, line
        return True

    def _end_name(self) -> None:
        """What follows does not stand below the last name."""
        if self._group is not None:
            self._print(bared(self._group.raw), self._group)
            self._group = None
        if self._leaf is not None:
            self.leaves += 1
            self._suppressed.add(Kind.SUCCESSFUL_TEST, self._leaf[1].number)
            self._leaf = None

    # -- everything else

    def _belongs(self, error: Entry, bare: bytes, line: Line) -> bool:
        """Whether a line is the open error's: all up to the frames, then the frames."""
        frame = bare.startswith((grammar.FRAME, b"# ")) or bare == b"#"
        if frame or not self._framed:
            self._framed |= frame
            error.body.append(line)
            return True
        self._error = None
        return False

    def _start(self, line: Line) -> None:
        if not self.first:
            self.first = line.number

    def _print(self, bare: bytes, line: Line) -> None:
        """Text; letters may be glued to either end of it."""
        if self.letters.glued(bare):
            self._start(line)
        self.printed.take(bare, line)


def _joined(path: list[bytes]) -> bytes:
    """An example's full name: words apart, but for methods (`.new`, `#price`), which follow their class."""
    full = path[0]
    for name in path[1:]:
        full += name if name.startswith((b".", b"#")) else b" " + name
    return full
