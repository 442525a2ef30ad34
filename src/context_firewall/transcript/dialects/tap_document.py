"""One TAP document, and the reconciliation that ends it.

Plan, numbers, points, trailer and exit status must tell one story. Where they do not, the runner's own totals win over
the points, a plan wins over numbers outside it, and what they deny is kept as contested evidence.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from context_firewall.transcript.dialects.tap_grammar import EXECUTED, FILE_HOOK
from context_firewall.transcript.dialects.tap_totals import Observed, agrees, stated_tally
from context_firewall.transcript.dialects.tap_tree import Draft, Frame, Harvest, Run, contested
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded


class Executed(NamedTuple):
    """bats: how many points it has printed, and how many it had planned."""

    points: int
    plan: int


@dataclass(slots=True, eq=False, repr=False)
class Document:
    """What has been read of one document."""

    root: Frame = field(default_factory=lambda: Frame(0))
    version: bool = False
    trailer: dict[str, list[int]] = field(default_factory=dict)
    comments: deque[Line] = field(default_factory=deque)
    """Comments that nothing has claimed yet."""
    bailed: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)
    node: bool = False
    """Its points carry Node's YAML, so totals must close it and tests are counted at every level."""
    buffered: bool = False
    """It has subtests in braces: leaves are the tests (vitest, node-tap)."""
    timed_parents: bool = False
    """Closing points of subtests carry `# time=`: leaves are the tests (node-tap)."""
    announced: bool = False
    """Subtests are announced by comments, which vitest never prints."""
    timed_leaves: bool = False
    """Plain points carry `# time=`: vitest."""
    pytest: bool = False
    """Its points are named by pytest's node ids."""
    strict: bool = False
    """`pragma +strict`: a line that is not TAP is an error."""
    follows: bool = False
    """It begins with a first point behind another document's plan, and so has a plan of its own."""
    touched: bool = False
    """A point was read, at whatever level."""
    noisy: bool = False
    """Lines that the grammar does not know stood in it."""
    vouched: bool = False
    """Its totals end with tape's word that none failed."""
    executed: Executed | None = None
    """What bats says of a run that did not do as planned."""
    setups: set[int] = field(default_factory=set)
    teardowns: set[int] = field(default_factory=set)
    """Numbers of the points that say that a hook of a whole file failed (bats)."""
    looks_failed: int | None = None
    """How many of the outermost tests have failed, as Test::More says."""
    heading: bytes = b""
    """The last comment that may name the test that runs (tape)."""

    @property
    def begun(self) -> bool:
        root = self.root
        return bool(root.plans or self.touched or root.numbering.points or self.trailer or self.bailed)

    @property
    def vitest(self) -> bool:
        return self.timed_leaves and not self.announced

    @property
    def totals(self) -> bool:
        """Whether the trailer states how the whole document ended."""
        keys = self.trailer.keys()
        return "tests" in keys or "total" in keys or {"pass", "fail"} <= keys

    @property
    def torn(self) -> bool:
        """Whether its totals break off: every producer says how many failed, or as tape does that none did."""
        return "tests" in self.trailer and "fail" not in self.trailer and not self.vouched

    def unreporting(self, exit_code: int | None, *, failed: bool) -> bool:
        """Whether its producer's format cannot show an error outside a test, and nothing else rules one out.

        vitest shows no unhandled error, and its flat form no failing suite hook; pytest-tap no error in a teardown.
        """
        if self.vitest:
            return not (failed and self.buffered)
        return self.pytest and exit_code != 0

    def met(self) -> bool:
        """Whether the plan is there and as many points as it announces."""
        open_point = 1 if self.root.point is not None else 0
        return self.root.plan is not None and self.root.plan == self.root.numbering.points + open_point

    def hooked(self, name: bytes, number: int) -> None:
        """A failing point of the document itself, which may stand for a hook of bats."""
        if hook := FILE_HOOK.fullmatch(name):
            (self.setups if hook[1] == b"setup" else self.teardowns).add(number)

    def excused_by_hooks(self, points: int) -> bool:
        """Whether bats says how many points there are instead of those planned, and failed file hooks explain it."""
        plan = self.root.plan
        if plan is None or self.executed != (points, plan):
            return False
        return self.root.numbering.follows_hooks(plan, self.setups, self.teardowns)

    def stated(self) -> dict[str, int]:
        """The trailer's totals."""
        return {key: values[-1] for key, values in self.trailer.items()}

    def observed(self, harvest: Harvest) -> Observed:
        """The statuses of points as this document's producer counts them, and how many `not ok` are excused."""
        counts = harvest.counts
        view = counts.top
        if self.node:
            view = counts.tests
        elif self.buffered or self.timed_parents or self.vitest or "total" in self.trailer:
            view = counts.leaves
        passed, failed, skipped, todo = view
        if self.vitest:
            passed, failed, skipped, todo = (n - f for n, f in zip(view, counts.files, strict=True))
        return Observed(passed, failed, skipped, todo, counts.suites)


@dataclass(slots=True, eq=False, repr=False)
class Outcome:
    """What a reconciled document comes to."""

    tally: Tally = field(default_factory=Tally)
    failures: list[Failure] = field(default_factory=list)
    todo: list[Line] = field(default_factory=list)
    fatal_errors: list[Line] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    suppressed: list[tuple[Kind, list[Line]]] = field(default_factory=list)
    """Lines that need not be kept after all, kind by kind."""
    doubts: set[Doubt] = field(default_factory=set)
    standing: int = 0


class Rank(IntEnum):
    """How well a document closes."""

    OPEN = 0
    DISPUTED = 1
    """Totals stand in their place and the points do not add up to them."""
    MET = 2
    """As many points as the plan says."""
    SETTLED = 3
    """The runner's own totals are those of the points."""


class Settlement(NamedTuple):
    """Which points count, and on whose word."""

    rank: Rank
    counted: tuple[Run, ...]
    refused: tuple[Run, ...]
    """Points outside the sequence that plan or totals deny."""
    observed: Observed
    promoted: bool = False
    """Directives are part of the names: the producer escapes nothing, and its totals say so."""


ALL_TESTS = frozenset({"tests", "total"})
"""Totals that can stand for a plan. Every producer prints one; a count of one status says nothing of the others."""


def settle(document: Document) -> Settlement:
    """Find the points that plan and totals speak of: all of them, or those that stand in sequence."""
    numbering, plan, stated = document.root.numbering, document.root.plan, document.stated()
    every = tuple(numbering.stretches())
    foreign = {id(run) for run in numbering.foreign}
    outside = tuple(
        run
        for run in every
        if run.harvest.points and (id(run) in foreign or (plan is not None and not 1 <= run.first <= plan))
    )
    gone = {id(run) for run in outside}
    inside = tuple(run for run in every if id(run) not in gone)
    consistent = all(len(set(values)) == 1 for values in document.trailer.values())
    choices = ((every, ()), (inside, outside))
    # Totals alone may fit by chance; the choice that also meets the plan comes first.
    for (counted, refused), strict in ((choice, strict) for strict in (True, False) for choice in choices):
        harvest = harvest_of(counted)
        if strict and plan != harvest.points:
            continue
        observed = document.observed(harvest)
        if not stated:
            if plan is not None and plan == harvest.points:
                return Settlement(Rank.MET, counted, refused, observed)
        elif consistent and agrees(stated, observed):
            return Settlement(Rank.SETTLED, counted, refused, observed)
        elif consistent and (denied := sum(1 for draft in harvest.excused if not draft.ok)):
            honest = observed.without_directives(denied)
            if agrees(stated, honest):
                return Settlement(Rank.SETTLED, counted, refused, honest, promoted=True)
    observed = document.observed(harvest_of(inside))
    return Settlement(Rank.DISPUTED if document.totals else Rank.OPEN, inside, outside, observed)


def reconcile(document: Document, settlement: Settlement, exit_code: int | None, *, denied: bool) -> Outcome:
    """End a document. `denied`: the run succeeded, another document of it closes, and this one does not."""
    out = Outcome(doubts=document.doubts, standing=int(settlement.rank))
    counted, refused = settlement.counted, settlement.refused
    out.doubts |= _doubts(document, settlement)
    if denied:
        counted, refused = (), (*counted, *refused)
    kept = harvest_of(counted)
    failures, overruled = kept.failures, list[Draft]()
    if not denied and settlement.rank < Rank.SETTLED:
        failures, overruled = _overrule(document, kept.failures, exit_code)
    out.tally = settlement.observed.tally() if not denied else Tally()
    if settlement.rank is Rank.DISPUTED and not denied:
        out.tally = stated_tally(document.stated())
    elif overruled:
        t, n = out.tally, len(overruled)
        out.tally = Tally(t.passed, max(0, t.failed - n), t.skipped, t.todo, max(0, t.total - n))
    gone = [draft for run in refused for draft in (*run.harvest.failures, *run.harvest.excused)] + overruled
    for draft in gone:
        out.unclassified += contested(draft)
    denied_runs = {id(run) for run in refused}
    for run in document.root.numbering.stretches():
        if run.header is None:
            continue
        if id(run) in denied_runs:
            out.unclassified.append(run.header.as_kind(Kind.CONTESTED_TEST))
        else:
            out.suppressed.append((run.header.kind, [run.header]))
    if gone or any(run.harvest.points for run in refused):
        out.doubts.add(Doubt.CONTESTED_RESULTS)
    drafts = [(draft, False) for draft in failures]
    for draft in kept.excused:
        if settlement.promoted and not draft.ok:
            drafts.append((draft, True))
        else:
            out.todo.append(draft.header)
            out.suppressed.append((Kind.TEST_DETAIL, draft.details))
    for draft, promoted in sorted(drafts, key=lambda pair: pair[0].header.number):
        out.failures.append(_failure(document, draft, promoted=promoted))
    if exit_code and not out.failures:
        out.failures += _unplanned(document)
    out.fatal_errors += document.bailed
    if document.unreporting(exit_code, failed=bool(out.failures)):
        out.doubts.add(Doubt.ERRORS_UNREPORTABLE)
    return out


def _doubts(document: Document, settlement: Settlement) -> set[Doubt]:
    """Why a document does not close."""
    root, plan = document.root, document.root.plan
    points = harvest_of(tuple(root.numbering.stretches())).points
    doubts = set()
    settled = settlement.rank is Rank.SETTLED
    hooks = document.excused_by_hooks(points)
    trusted = settled and document.node  # Node's numbers and plans are those of its files put together
    if plan is None:
        if not settled or document.stated().keys().isdisjoint(ALL_TESTS):
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if document.follows:
            doubts.add(Doubt.PLAN_CONTRADICTION)
    elif not hooks and (plan != points or (document.executed is not None and document.executed.points != points)):
        doubts.add(Doubt.PLAN_CONTRADICTION)
    if document.torn or (document.node and not document.totals):
        doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    looks_failed = None if document.node or document.buffered else document.looks_failed
    if looks_failed not in (None, settlement.observed.failed):
        doubts.add(Doubt.AGGREGATE_CONTRADICTION)
    if document.trailer and not settled:
        doubts.add(Doubt.AGGREGATE_CONTRADICTION)
    if (root.plans > 1 or 0 < root.plan_after < points) and not trusted:
        doubts.add(Doubt.PLAN_CONTRADICTION)
    ordered = root.numbering.in_order or (plan == points and (trusted or root.numbering.is_permutation(points)))
    if not (ordered or hooks):
        doubts.add(Doubt.PLAN_CONTRADICTION)
    return doubts


def harvest_of(runs: tuple[Run, ...]) -> Harvest:
    """What several stretches come to together."""
    total = Harvest()
    for run in runs:
        total.add(run.harvest)
    return total


def _overrule(document: Document, failures: list[Draft], exit_code: int | None) -> tuple[list[Draft], list[Draft]]:
    """Split failing points into those that count and those that a successful run denies.

    Success denies them all where the runner's totals state no failure, and a single one where another point claims
    its number.
    """
    if exit_code != 0:
        return failures, []
    if document.totals:
        return (failures, []) if stated_tally(document.stated()).failed else ([], failures)
    repeats = document.root.numbering.repeats
    numbers = {run.first for run in repeats}
    overruled = [draft for draft in failures if draft.number in numbers]
    return [draft for draft in failures if draft.number not in numbers], overruled


def _unplanned(document: Document) -> Iterator[Failure]:
    """What bats says last of a run that it fails for its plan alone; the comment is none any more."""
    last = document.comments[-1] if document.comments else None
    if last is not None and EXECUTED.fullmatch(bare(last.raw)):
        document.comments.pop()
        yield Failure(decoded(last.raw.strip(b"# \r")), last.as_kind(Kind.FAILED_TEST))


def _failure(document: Document, draft: Draft, *, promoted: bool) -> Failure:
    header = draft.header.as_kind(Kind.FAILED_TEST)
    details = tuple(sorted(draft.details, key=lambda line: line.number))
    return Failure(draft.identity(newlines=document.node, whole=promoted), header, details)
