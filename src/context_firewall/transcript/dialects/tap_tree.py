"""The tree of one TAP document while it is read: points, the frames that hold them, and the order of their numbers.

Numbers are evidence of their own. A point whose number continues the sequence belongs to the run; a stretch that jumps
ahead and is then left for the number that was due was printed by something else (a test that prints TAP). Such points
are kept and contested, never counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from context_firewall.transcript.dialects.tap_grammar import Description
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded

STATUSES = ("passed", "failed", "skipped", "todo")

# No plan of a real run reaches this; a longer number is out of any plan's range, whatever it says.
NUMBER_LIMIT = 10**18


@dataclass(slots=True, eq=False, repr=False)
class Draft:
    """A failing point, or a `not ok` that a directive excuses, before the document is reconciled."""

    path: list[bytes]
    header: Line
    details: list[Line]
    whole: bytes
    """The last path component with its directive left in, for a directive that turns out to be part of the name."""
    number: int
    """Its number in its own document."""
    ok: bool = False
    """It says `ok`, and is visible because it is still to do."""

    def identity(self, *, newlines: bool, whole: bool = False) -> str:
        """`suite > test`; `newlines` undoes Node's second escape of control characters."""
        path = [*self.path[:-1], self.whole] if whole else self.path
        text = " > ".join(decoded(part) or "(unnamed test)" for part in path)
        if newlines:
            for written, meant in NODE_ESCAPES:
                text = text.replace(written, meant)
        return text


NODE_ESCAPES = (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\f", "\f"), ("\\b", "\b"), ("\\v", "\v"))


@dataclass(slots=True, eq=False, repr=False)
class Counts:
    """Statuses of points in the three ways in which producers count: top-level points, leaves, tests (no suites)."""

    top: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    leaves: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    tests: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    files: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    """Top-level leaves whose name has no path: with vitest they stand for files, not for tests."""
    suites: int = 0

    def count(self, status: int, *, root: bool, leaf: bool, suite: bool = False, pathless: bool = True) -> None:
        """One point of a status."""
        self.suites += suite
        if root and leaf and pathless:
            self.files[status] += 1
        if root:
            self.top[status] += 1
        if leaf:
            self.leaves[status] += 1
        if not suite:
            self.tests[status] += 1

    def add(self, other: "Counts") -> None:
        for mine, theirs in (
            (self.top, other.top),
            (self.leaves, other.leaves),
            (self.tests, other.tests),
            (self.files, other.files),
        ):
            for i, n in enumerate(theirs):
                mine[i] += n
        self.suites += other.suites


@dataclass(slots=True, eq=False, repr=False)
class Harvest:
    """What a stretch of points amounts to."""

    points: int = 0
    counts: Counts = field(default_factory=Counts)
    failures: list[Draft] = field(default_factory=list)
    excused: list[Draft] = field(default_factory=list)

    def add(self, other: "Harvest") -> None:
        self.points += other.points
        self.counts.add(other.counts)
        self.failures += other.failures
        self.excused += other.excused


@dataclass(slots=True, eq=False, repr=False)
class Run:
    """Points whose numbers follow one another."""

    first: int
    last: int
    harvest: Harvest = field(default_factory=Harvest)
    header: Line | None = None
    """A passing first point's line, held back until it is known whether the stretch is contested."""


@dataclass(slots=True, eq=False, repr=False)
class Numbering:
    """The order of a document's numbers."""

    runs: list[Run] = field(default_factory=lambda: [Run(1, 0)])
    repeats: list[Run] = field(default_factory=list)
    foreign: list[Run] = field(default_factory=list)
    points: int = 0
    """How many points have been placed."""

    @property
    def due(self) -> int:
        return self.runs[-1].last + 1

    def continues(self, number: int) -> bool:
        """Whether a point of that number would stand where the sequence, or the sequence before a jump, goes on."""
        return number == self.due or (len(self.runs) > 1 and number == self.runs[-2].last + 1)

    def place(self, number: int | None, held: Line | None) -> tuple[Run, bool]:
        """The stretch that a point with this number extends, and whether its own line is to be held back there."""
        if number is None:
            number = self.due
        if len(self.runs) > 1 and number == self.runs[-2].last + 1 != self.due:
            self.foreign.append(self.runs.pop())
        if number == self.due:
            self.runs[-1].last = number
            return self.runs[-1], False
        stretch = Run(number, number, header=held)
        if number > self.due:
            self.runs.append(stretch)
        elif number == self.due - 1:
            # Printed twice in a row: producers do that (a hook beside its test, a crashed file).
            self.repeats.append(stretch)
        else:
            self.foreign.append(stretch)
        return stretch, held is not None

    def stretches(self) -> Iterator[Run]:
        yield from self.runs
        yield from self.repeats
        yield from self.foreign

    @property
    def in_order(self) -> bool:
        return len(self.runs) == 1 and not self.repeats and not self.foreign

    def is_permutation(self, count: int) -> bool:
        """Whether the numbers are exactly 1..count in some order (14: any order is fine)."""
        covered = 0
        for first, last in sorted((run.first, run.last) for run in self.stretches() if run.last >= run.first):
            if first != covered + 1:
                return False
            covered = last
        return covered == count

    def follows_hooks(self, plan: int, setups: set[int], teardowns: set[int]) -> bool:
        """Whether the numbers are the plan's but for what failing file hooks of bats do to them.

        A failed `setup_file` takes the number of its file's first test, and the numbers of the others are left out. A
        failed `teardown_file` takes the number that is due without using it up.
        """
        due = 1
        for run in self.runs:
            if run.first != due and due - 1 not in setups:
                return False
            due = run.last + 1
        over = {run.first for run in self.repeats} | ({due - 1} if due > plan + 1 else set())
        return (
            not self.foreign
            and over == teardowns
            and len(self.repeats) == len({run.first for run in self.repeats})
            and (due > plan or due - 1 in setups)
            and due <= plan + 2
        )


@dataclass(slots=True, eq=False, repr=False)
class Point:
    """One `ok` or `not ok`, open until the next line shows that nothing more belongs to it."""

    line: Line
    ok: bool
    number: int | None
    description: Description
    status: int
    details: list[Line] = field(default_factory=list)
    muted_from: int = 0
    muted: int = 0
    """Lines of its YAML block that are not kept: where they begin, and how many they are."""
    yaml_indent: bytes | None = None
    yaml_open: bool = False
    yaml_seen: bool = False
    yaml_suspect: bool = False
    """TAP-shaped lines at the left margin stood inside its block."""
    suite: bool = False
    failure_type: bytes = b""
    file_level: bool = False
    """Node: the point stands for a file whose process failed."""
    child: "Frame | None" = None
    before: list[Line] = field(default_factory=list)
    """Program output right before it."""
    derived: bool = False
    """It is over, and said nothing but that a child failed."""

    @property
    def keeps(self) -> bool:
        """Whether its region is kept: it fails, or only a directive says that it doesn't."""
        return not self.ok

    @property
    def takes_details(self) -> bool:
        """Whether lines that follow still belong to its region."""
        return not self.ok and not self.yaml_seen


@dataclass(slots=True, eq=False, repr=False)
class Frame:
    """One level of the document: the root, or a subtest."""

    indent: int
    name: bytes | None = None
    declared: bool = False
    """A `# Subtest` comment announced it."""
    buffered: bool = False
    """It stands in braces after its point."""
    numbering: Numbering = field(default_factory=Numbering)
    plan: int | None = None
    plans: int = 0
    plan_after: int = -1
    """How many points had been read when the plan came."""
    plan_reason: bytes = b""
    point: Point | None = None
    subtest: bytes | None = None
    subtest_line: int = 0
    finished: "Frame | None" = None
    """The child that waits for its closing point."""

    def harvest(self) -> Harvest:
        total = Harvest()
        for run in self.numbering.stretches():
            total.add(run.harvest)
        return total


def contested(draft: Draft) -> list[Line]:
    """The lines of a draft that is not counted: its header as a contested test, the rest as unclassified."""
    return [draft.header.as_kind(Kind.CONTESTED_TEST), *(line.as_kind(Kind.UNCLASSIFIED) for line in draft.details)]
