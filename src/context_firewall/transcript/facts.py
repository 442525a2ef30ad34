"""What reading a run yields: immutable facts, before any verdict.

A `Reading` is one dialect's account of one stretch of one stream. Readings add up to a `Transcript`. In both, every
source line is either kept (it is in exactly one of the tuples of lines) or suppressed (it is counted under its kind).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

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


class Failure(NamedTuple):
    """One failing test, or a failing file, hook or suite: who, and its whole region in source order."""

    identity: str
    header: Line | None
    details: tuple[Line, ...] = ()

    def lines(self) -> Iterator[Line]:
        """Header, then details."""
        if self.header is not None:
            yield self.header
        yield from self.details


class ResultLine(NamedTuple):
    """A line that says that a test failed, where the account of the failure stands elsewhere."""

    identity: str
    """As much of the test's identity as the line tells."""
    scope: str
    """The file that it stands under, or none."""
    names: tuple[str, ...]
    """What the line may call the test: the end of its identity, or all of it."""
    lines: tuple[Line, ...]
    loose: tuple[Line, ...] = ()
    """Lines below that are the account's too, or are none of it."""


class Output(NamedTuple):
    """What the runner says that a test printed."""

    test: str
    lines: tuple[Line, ...]
    loose: tuple[Line, ...] = ()
    """Lines that follow, of which only their place says that they belong there."""


class Totals(NamedTuple):
    """How many failures of each sort a runner's closing totals demand an account of."""

    failed: int
    files: int
    errors: int
    errors_line: Line | None = None
    """The line that counts the errors; whoever settles the totals keeps or suppresses it."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What one stream leaves open of a run that is told on two: settled in `transcript/spread.py`."""

    results: tuple[ResultLine, ...] = ()
    repeats: tuple[ResultLine, ...] = ()
    """Second prints of accounts."""
    outputs: tuple[Output, ...] = ()
    outputs_lost: bool = False
    """Output of tests whose result is unknown was too much to hold."""
    totals: Totals | None = None
    needs_totals: bool = False
    """The stream has begun a run that ends with totals."""
    nothing_to_run: bool = False
    """The runner says that it has found no tests."""
    tests: int = 0
    """Failed tests with an account here."""
    files: frozenset[str] = frozenset()
    """Files of which an account here says that something failed."""
    outside: int = 0
    """Accounts of errors outside of tests."""
    exit_code: int | None = None

    def lines(self) -> Iterator[Line]:
        """Every line that is held."""
        for result in (*self.results, *self.repeats):
            yield from result.lines
            yield from result.loose
        for output in self.outputs:
            yield from output.lines
            yield from output.loose
        if self.totals is not None and self.totals.errors_line is not None:
            yield self.totals.errors_line


@dataclass(frozen=True, slots=True)
class Segments:
    """Parts of a run that each have totals of their own: how many, and how many of them failed."""

    count: int = 0
    failed: int = 0


STANDS = 3
"""The standing of a reading that the runner's own totals close, in their place and in agreement."""


class Reading(NamedTuple):
    """One dialect's account of a stretch of a stream."""

    tally: Tally = Tally()
    failures: tuple[Failure, ...] = ()
    fatal_errors: tuple[Line, ...] = ()
    timeouts: tuple[Line, ...] = ()
    warnings: tuple[Line, ...] = ()
    unclassified: tuple[Line, ...] = ()
    todo: tuple[Line, ...] = ()
    suppressed: Mapping[Kind, int] = MappingProxyType({})
    doubts: frozenset[Doubt] = frozenset()
    has_results: bool = False
    """Whether at least one test result, or a runner's statement that there are none, was read."""
    standing: int = 0
    """How well the stretch closes: STANDS with the runner's own totals in their place and met, 2 with a plan that is
    met or totals that stand last, 1 with totals that are disputed, else 0."""
    current_test: str = ""
    """The test that was running when an unfinished stretch broke off, where the runner names it before its result."""

    fates: Mapping[int, Kind] | None = None
    """Which lines were suppressed, by number, in a traced reading."""
    spread: Spread | None = None
    """What the other stream has to settle; None once it has."""
    accounts: tuple[Failure, ...] = ()
    """Accounts of failures that another stream may tell of; until it is settled whose they are."""
    announced: Segments | None = None
    """Segments whose totals stand in another stream."""
    closed: Segments | None = None
    """Segments whose totals were read, announced in another stream."""
    stream: str = ""
    dialect: str = ""
    """The name of the dialect that read it; empty for lines outside every stretch."""
    opened: int = 0
    """The number of the line that opened the dialect."""
    cut: bool = False
    """The stream's last line has no newline."""

    def with_suppressed(self, lines: Mapping[Line, Kind]) -> "Reading":
        """The same reading with more lines suppressed, each under its kind; they are kept nowhere any more."""
        account = Counter(self.suppressed) + Counter(lines.values())
        fates = self.fates
        if fates is not None:
            fates = {**fates, **{line.number: kind for line, kind in lines.items()}}
        return self._replace(suppressed={kind: n for kind, n in account.items() if n}, fates=fates)

    def as_text(self) -> "Reading":
        """The same where its results turn out not to be the runner's: what it kept is unclassified evidence."""
        kept = sorted(self.kept_lines(), key=lambda line: line.number)
        lines = tuple(line.as_kind(Kind.UNCLASSIFIED) for line in kept)
        return Reading(unclassified=lines, suppressed=self.suppressed, fates=self.fates)

    def kept_lines(self) -> Iterator[Line]:
        """Every kept line, failures first, then in the order of the fields."""
        for failure in (*self.failures, *self.accounts):
            yield from failure.lines()
        for lines in (self.fatal_errors, self.timeouts, self.warnings, self.unclassified, self.todo):
            yield from lines
        if self.spread is not None:
            yield from self.spread.lines()


class Transcript(NamedTuple):
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
    kept = [line for part in parts for line in part.kept_lines()]
    ranks = {stream: rank for rank, stream in enumerate(dict.fromkeys(map(attrgetter("stream"), kept)))}

    def place(line: Line) -> tuple[int, int]:
        return ranks[line.stream], line.number

    # Of one stream the numbers alone are the order, and quicker to ask for.
    key = place if len(ranks) > 1 else attrgetter("number")

    def in_order(lines: Iterable[Line]) -> tuple[Line, ...]:
        return tuple(sorted(lines, key=key))

    failures = [f._replace(details=in_order(f.details)) for part in parts for f in part.failures]
    failures.sort(key=lambda failure: place(failure.header) if failure.header is not None else (len(ranks), 0))
    suppressed: Counter[Kind] = Counter()
    for part in parts:
        suppressed.update(part.suppressed)
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
        event_count=len(kept) + sum(suppressed.values()),
    )
