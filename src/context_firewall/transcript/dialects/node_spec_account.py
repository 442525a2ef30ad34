"""Settling the account of a spec run: the results read against the closing counts and against the recap.

1. The counts are of tests; suites stand beside them. Every result line read is one or the other, so lines = tests +
   suites, and of each outcome there are at least as many lines as tests; what is left over are the suites.
2. The recap repeats every failing test or suite that has an error of its own, with the same title, in the same order.
   A failing parent with a failing child that is not repeated failed only through its children.
3. Where the counts deny failing lines, and the recap does not have them either, those lines are contested.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects.node_grammar import FILE_FAILED, identity
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare


@dataclass(slots=True)
class Point:
    """A failing result in its place: its lines, and what was seen of its children."""

    path: tuple[bytes, ...]
    title: bytes
    header: list[Line]
    """The header, and the further lines of a name that holds newlines."""
    parent: bool
    through_child: bool
    """Whether one of its children failed after it had begun."""
    after_death: bool = False
    """Whether parents were still open before it: only the failure of a file may follow them."""
    region: list[Line] = field(default_factory=list)
    notes: list[Line] = field(default_factory=list)
    """The runner's own errors about late activity, printed directly before this result."""
    output: list[Line] = field(default_factory=list)
    """Raw lines between the result before and this one: a file's own output, if the file is what failed."""


@dataclass(slots=True)
class Entry:
    """A failing result in the recap."""

    title: bytes
    header: list[Line]
    name: bytes
    location: Line | None
    counts: bool
    """False for a todo or a skip: repeated by the runner, but no failure."""
    region: list[Line] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Totals:
    """The closing counts as printed."""

    tests: int
    suites: int
    passed: int
    failed: int
    cancelled: int
    skipped: int
    todo: int

    @property
    def adds_up(self) -> bool:
        """Whether the outcomes sum to the tests."""
        return self.tests == self.passed + self.failed + self.cancelled + self.skipped + self.todo

    def tally(self) -> Tally:
        """As a tally; a cancelled test is a failed one."""
        return Tally(self.passed, self.failed + self.cancelled, self.skipped, self.todo, self.tests)


@dataclass(slots=True)
class Lines:
    """How many result lines of each outcome were read; suites and tests alike."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    todo: int = 0
    marked_parents: int = 0
    """Of the todo lines, passed parents with a reason: a skipped parent looks the same."""
    parents: Counter[str] = field(default_factory=Counter)

    @property
    def all(self) -> int:
        """Every result line."""
        return self.passed + self.failed + self.skipped + self.todo

    def fits(self, totals: Totals) -> bool:
        """Whether the lines can be exactly the counted tests and suites."""
        if not totals.adds_up or self.all != totals.tests + totals.suites:
            return False
        moved = min(self.marked_parents, max(0, totals.skipped - self.skipped))
        return (
            self.passed >= totals.passed
            and self.failed >= totals.failed + totals.cancelled
            and self.skipped + moved >= totals.skipped
            and self.todo - moved >= totals.todo
        )

    def leaves(self) -> Tally:
        """What was seen, where no counts say it: results without children."""
        passed, failed, skipped, todo = (
            count - self.parents[name]
            for name, count in (
                ("passed", self.passed),
                ("failed", self.failed),
                ("skipped", self.skipped),
                ("todo", self.todo),
            )
        )
        return Tally(passed, failed, skipped, todo, passed + failed + skipped + todo)


@dataclass(slots=True)
class Settlement:
    """What settling yields; the machine adds what it has accounted for on the way."""

    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    suppressed: Account = field(default_factory=Account)
    """The account of its machine."""
    doubts: set[Doubt] = field(default_factory=set)

    def suppress(self, kind: Kind, lines: Iterable[Line]) -> None:
        """Count lines that are not kept."""
        self.suppressed.add_lines(kind, lines)

    def contest(self, point: Point) -> None:
        """Keep a denied result, header and details, without counting it."""
        self.unclassified += (line.as_kind(Kind.CONTESTED_TEST) for line in (*point.header, *point.region))
        self.unclassified += point.output
        self.suppress(Kind.PROGRAM_OUTPUT, point.notes)
        self.doubts |= {Doubt.CONTESTED_RESULTS, Doubt.AGGREGATE_CONTRADICTION}

    def derive(self, point: Point) -> None:
        """Leave out a parent that failed only through its children."""
        self.suppress(Kind.DERIVED_FAILURE, (*point.header, *point.region))
        self.unclassified += point.output
        self.suppress(Kind.PROGRAM_OUTPUT, point.notes)

    def fail(self, point: Point, entry: Entry | None) -> None:
        """Add a failure; its details are taken once, from its place or else from the recap."""
        details = [*point.header[1:], *point.region]
        if entry is not None:
            where = [] if entry.location is None else [entry.location]
            if same_text(point.region, entry.region):
                self.suppress(Kind.RECAP, (*where, *entry.header, *entry.region))
            else:
                # Either nothing stands in its place (Node 22 on), or something that the runner did not repeat: raw
                # output of a child that happens to be indented. The recap has no such neighbours, so it decides.
                self.unclassified += (line.as_kind(Kind.UNCLASSIFIED) for line in point.region)
                self.suppress(Kind.RECAP, entry.header)
                details = [*point.header[1:], *where, *entry.region]
        region = point.region or (entry.region if entry is not None else [])
        if [bare(line.raw).strip() for line in region] == [FILE_FAILED]:
            # A file failed, not one of its tests: what it and the runner printed directly before says why.
            output = (line.as_kind(classify_detail(bare(line.raw))) for line in point.output)
            details = [*output, *point.notes, *details]
        else:
            if point.after_death:
                self.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self.suppress(Kind.PROGRAM_OUTPUT, point.notes)
            self.unclassified += point.output
        self.failures.append(Failure(identity(point.path), point.header[0], tuple(details)))

    def fail_from_recap(self, entry: Entry) -> None:
        """Add a failure that only the recap names."""
        where = () if entry.location is None else (entry.location,)
        header = entry.header[0].as_kind(Kind.FAILED_TEST)
        self.failures.append(Failure(identity((entry.name,)), header, (*entry.header[1:], *where, *entry.region)))
        self.doubts.add(Doubt.RECAP_CONTRADICTION)


def same_text(one: list[Line], other: list[Line]) -> bool:
    """Whether two regions are the same text, each at its own indentation."""
    return bool(one) and _dedented(one) == _dedented(other)


def _dedented(region: list[Line]) -> list[bytes]:
    texts = [bare(line.raw) for line in region]
    blanks = min((len(text) - len(text.lstrip(b" ")) for text in texts if text.strip()), default=0)
    return [text[blanks:].rstrip(b" ") for text in texts]


def settled(
    points: list[Point],
    entries: list[Entry],
    totals: Totals | None,
    lines: Lines,
    recap_read: bool,
    exit_code: int | None,
    suppressed: Account,
) -> Settlement:
    """Settle failing points against recap, counts and exit code; lines not kept go to `suppressed`."""
    account = Settlement(suppressed=suppressed)
    waiting: defaultdict[bytes, deque[int]] = defaultdict(deque)
    for index, entry in enumerate(entries):
        if entry.counts:
            waiting[entry.title].append(index)
        else:
            where = () if entry.location is None else (entry.location,)
            account.suppress(Kind.RECAP, (*where, *entry.header, *entry.region))
    matches: list[int | None] = [waiting[p.title].popleft() if waiting.get(p.title) else None for p in points]
    repeated = [place for place in matches if place is not None]
    if repeated != sorted(repeated):
        account.doubts.add(Doubt.RECAP_CONTRADICTION)
    derived = [
        place is None and point.parent and point.through_child and not point.region
        for point, place in zip(points, matches, strict=True)
    ]
    denied = totals is not None and _denied(totals, lines, len(repeated), sum(derived), recap_read, exit_code)
    for index, point in enumerate(points):
        place, through = matches[index], derived[index]
        if through:
            # In a run without failures there is nothing to derive from.
            (account.contest if denied and not repeated else account.derive)(point)
        elif place is None and denied:
            account.contest(point)
        else:
            account.fail(point, None if place is None else entries[place])
            if place is None and totals is not None and (recap_read or not point.region):
                account.doubts.add(Doubt.RECAP_CONTRADICTION)
    for places in waiting.values():
        for unread in places:
            account.fail_from_recap(entries[unread])
    if totals is None:
        account.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    elif not lines.fits(totals):
        account.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
    return account


def _denied(totals: Totals, lines: Lines, repeated: int, derived: int, recap_read: bool, exit_code: int | None) -> bool:
    """Whether failing lines that the recap does not repeat are denied by the counts.

    The counts are of tests. A parent that failed through a child and is not repeated is among them only if it is a
    test, and no more parents are tests than there are parents beyond the counted suites.
    """
    failed = totals.failed + totals.cancelled
    if failed == 0:
        return exit_code == 0
    tests = max(0, lines.parents.total() - totals.suites)
    return recap_read and repeated + min(derived, tests) >= failed
