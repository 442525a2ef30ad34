"""What reading a run yields: immutable facts, before any verdict.

A `Reading` is one dialect's account of one stretch of one stream. Readings add up to a `Transcript`. In both, every
source line is either kept (it is in exactly one of the tuples of lines) or suppressed (it is counted under its kind).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line

CLOSED = 2
"""The standing of a reading from which on it closes."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many tests ended how. `total` is stated by the runner or the sum of the others."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    todo: int = 0
    total: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.todo + other.todo,
            self.total + other.total,
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """One failing test, or a failing file, hook or suite: who, and its whole region in source order."""

    identity: str
    header: Line | None
    details: tuple[Line, ...] = ()

    def lines(self) -> Iterator[Line]:
        """Header, then details."""
        if self.header is not None:
            yield self.header
        yield from self.details


@dataclass(frozen=True, slots=True)
class Segments:
    """Parts of a run that each have totals of their own: how many, and how many of them failed."""

    count: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """One dialect's account of a stretch of a stream."""

    tally: Tally = Tally()
    failures: tuple[Failure, ...] = ()
    fatal_errors: tuple[Line, ...] = ()
    timeouts: tuple[Line, ...] = ()
    warnings: tuple[Line, ...] = ()
    unclassified: tuple[Line, ...] = ()
    todo: tuple[Line, ...] = ()
    suppressed: Mapping[Kind, int] = field(default_factory=dict)
    doubts: frozenset[Doubt] = frozenset()
    has_results: bool = False
    """Whether at least one test result, or a runner's statement that there are none, was read."""
    standing: int = 0
    """How well the stretch closes: 3 with the runner's own totals in their place and met, 2 with a plan that is met or
    totals that stand last, 1 with totals that are disputed, else 0."""
    current_test: str = ""
    """The test that was running when an unfinished stretch broke off, where the runner names it before its result."""

    fates: Mapping[int, Kind] | None = None
    """Which lines were suppressed, by number, in a traced reading."""
    accounts: tuple[Failure, ...] = ()
    """Accounts of failures that another stream may tell of; until it is settled whose they are."""
    announced: Segments | None = None
    """Segments whose totals stand in another stream."""
    closed: Segments | None = None
    """Segments whose totals were read, announced in another stream."""
    stream: str = ""
    dialect: str = ""
    """The name of the dialect that read it; empty for lines outside every stretch."""

    def kept_lines(self) -> Iterator[Line]:
        """Every kept line, failures first, then in the order of the fields."""
        for failure in (*self.failures, *self.accounts):
            yield from failure.lines()
        for lines in (self.fatal_errors, self.timeouts, self.warnings, self.unclassified, self.todo):
            yield from lines


@dataclass(frozen=True, slots=True)
class Transcript:
    """The facts of a whole run: what every stream held, line by line accounted for."""

    tally: Tally
    failures: tuple[Failure, ...]
    fatal_errors: tuple[Line, ...]
    timeouts: tuple[Line, ...]
    warnings: tuple[Line, ...]
    unclassified: tuple[Line, ...]
    todo: tuple[Line, ...]
    suppressed: Mapping[Kind, int]
    doubts: frozenset[Doubt]
    has_results: bool
    event_count: int
    """Lines in all streams; equals kept plus suppressed."""
    conclusive: bool = True
    """Whether failures, if there are any, were read in a stretch that closes: with a plan that is met, or totals."""


def combined(readings: Iterable[Reading]) -> Transcript:
    """Add readings up. Streams stay in the order given; within one, lines and failures are in source order."""
    parts = tuple(readings)
    ranks: dict[str, int] = {}
    for part in parts:
        for line in part.kept_lines():
            ranks.setdefault(line.stream, len(ranks))

    def place(line: Line) -> tuple[int, int]:
        return ranks[line.stream], line.number

    def in_order(lines: Iterable[Line]) -> tuple[Line, ...]:
        return tuple(sorted(lines, key=place))

    failures = [failure for part in parts for failure in part.failures]
    failures.sort(key=lambda failure: place(failure.header) if failure.header is not None else (len(ranks), 0))
    suppressed: Counter[Kind] = Counter()
    for part in parts:
        suppressed.update(part.suppressed)
    kept = sum(1 for part in parts for _ in part.kept_lines())
    return Transcript(
        tally=sum((part.tally for part in parts), Tally()),
        failures=tuple(failures),
        fatal_errors=in_order(line for part in parts for line in part.fatal_errors),
        timeouts=in_order(line for part in parts for line in part.timeouts),
        warnings=in_order(line for part in parts for line in part.warnings),
        unclassified=in_order(line for part in parts for line in part.unclassified),
        todo=in_order(line for part in parts for line in part.todo),
        suppressed=dict(suppressed),
        doubts=frozenset(doubt for part in parts for doubt in part.doubts),
        has_results=any(part.has_results for part in parts),
        conclusive=any((part.failures or part.tally.failed) and part.standing >= CLOSED for part in parts),
        event_count=kept + sum(suppressed.values()),
    )
