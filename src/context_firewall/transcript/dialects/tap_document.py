"""One TAP document, and the reconciliation that ends it.

Plan, numbers, points, trailer and exit status must tell one story. Where they do not, the runner's own totals win over
the points, a plan wins over numbers outside it, and what they deny is kept as contested evidence.
"""

from collections import Counter, deque
from dataclasses import dataclass, field

from context_firewall.transcript.dialects.tap_totals import Observed, agrees, stated_tally
from context_firewall.transcript.dialects.tap_tree import Draft, Frame, Harvest, Run, contested
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line


@dataclass(slots=True)
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
    timed_leaves: bool = False
    """Plain points carry `# time=`: vitest."""
    heading: bytes = b""
    """The last comment that may name the test that runs (tape)."""

    @property
    def begun(self) -> bool:
        root = self.root
        return bool(root.plans or root.numbering.points or root.point or self.trailer or self.bailed)

    @property
    def vitest(self) -> bool:
        return self.timed_leaves

    def met(self) -> bool:
        """Whether the plan is there and as many points as it announces."""
        open_point = 1 if self.root.point is not None else 0
        return self.root.plan is not None and self.root.plan == self.root.numbering.points + open_point

    def stated(self) -> dict[str, int]:
        """The trailer's totals."""
        return {key: values[-1] for key, values in self.trailer.items()}

    def observed(self, harvest: Harvest) -> Observed:
        """The statuses of points as this document's producer counts them, and how many `not ok` are excused."""
        counts = harvest.counts
        view = counts.top
        if self.node:
            view = counts.tests
        elif self.buffered or self.timed_parents or self.timed_leaves or "total" in self.trailer:
            view = counts.leaves
        passed, failed, skipped, todo = view
        if self.vitest:
            passed, failed, skipped, todo = (n - f for n, f in zip(view, counts.files, strict=True))
        return Observed(passed, failed, skipped, todo, len(harvest.excused), counts.suites)


@dataclass(slots=True)
class Outcome:
    """What a reconciled document comes to."""

    tally: Tally = Tally()
    failures: list[Failure] = field(default_factory=list)
    todo: list[Line] = field(default_factory=list)
    fatal_errors: list[Line] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    suppressed: Counter[Kind] = field(default_factory=Counter)
    doubts: set[Doubt] = field(default_factory=set)
    standing: int = 0


def reconcile(document: Document, exit_code: int | None, *, denied: bool) -> Outcome:
    """End a document. `denied`: another document of the run is whole, this one is not, and the run succeeded."""
    out = Outcome(doubts=document.doubts)
    numbering, plan = document.root.numbering, document.root.plan
    counted = [*numbering.runs, *numbering.repeats, *numbering.foreign]
    refused: list[Run] = []
    harvest = _sum(counted)
    stated = document.stated()
    totals = bool({"tests", "total"} & stated.keys()) or {"pass", "fail"} <= stated.keys()
    observed = document.observed(harvest)
    settled = bool(stated) and agrees(stated, observed)
    promoted = False
    if stated and not settled and harvest.excused:
        skipped = sum(1 for draft in harvest.excused if draft.header.kind is Kind.SKIPPED_TEST)
        honest = observed.without_excuses(skipped, len(harvest.excused) - skipped)
        if agrees(stated, honest):
            settled = promoted = True
            observed = honest
    if len({tuple(values) for values in document.trailer.values() if len(set(values)) > 1}):
        settled = False
    whole = plan is not None and plan == harvest.points
    failures, excused = harvest.failures, harvest.excused
    if denied:
        refused, counted = counted, []
    elif settled:
        if plan is not None and not whole:
            out.doubts.add(Doubt.PLAN_CONTRADICTION)
        if plan is None and not numbering.in_order:
            out.doubts.add(Doubt.PLAN_CONTRADICTION)
        if document.root.plans > 1 and not document.node:
            out.doubts.add(Doubt.PLAN_CONTRADICTION)
    else:
        if document.node and not totals:
            out.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if document.root.plans > 1:
            out.doubts.add(Doubt.PLAN_CONTRADICTION)
        if stated:
            out.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if plan is None:
            out.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if not numbering.in_order and not (whole and plan is not None and numbering.is_permutation(plan)):
            out.doubts.add(Doubt.PLAN_CONTRADICTION)
        if not whole:
            if plan is not None:
                out.doubts.add(Doubt.PLAN_CONTRADICTION)
            refused = _outside(counted, numbering.foreign, plan)
            counted = [run for run in counted if run not in refused]
    if plan is not None and 0 < document.root.plan_after < harvest.points and not (settled and document.node):
        out.doubts.add(Doubt.PLAN_CONTRADICTION)
    kept = _sum(counted)
    denied_failures = [draft for run in refused for draft in run.harvest.failures]
    failures, excused = kept.failures, kept.excused
    if not settled and not denied:
        failures, more = _deny(document, kept, stated if totals else {}, exit_code)
        denied_failures += more
    out.tally = document.observed(kept).tally()
    if settled:
        out.tally = observed.tally()
    elif totals and not denied:
        out.tally = stated_tally(stated)
    elif denied_failures:
        fewer = len(kept.failures) - len(failures)
        t = out.tally
        out.tally = Tally(t.passed, max(0, t.failed - fewer), t.skipped, t.todo, max(0, t.total - fewer))
    if denied_failures or any(run.harvest.points for run in refused):
        out.doubts.add(Doubt.CONTESTED_RESULTS)
    for draft in denied_failures:
        out.unclassified += contested(draft)
    for run in [*numbering.runs, *numbering.repeats, *numbering.foreign]:
        if run.header is not None:
            if any(run is other for other in refused) or denied:
                out.unclassified.append(run.header.as_kind(Kind.CONTESTED_TEST))
            else:
                out.suppressed[run.header.kind] += 1
    for draft in excused if not promoted else ():
        out.todo.append(draft.header)
        out.suppressed[Kind.TEST_DETAIL] += len(draft.details)
    for run in refused:
        for draft in run.harvest.excused:
            out.unclassified += contested(draft)
    drafts = [(draft, False) for draft in failures] + [(draft, True) for draft in excused if promoted]
    for draft, was_excused in sorted(drafts, key=lambda pair: pair[0].header.number):
        header = draft.header.as_kind(Kind.FAILED_TEST) if was_excused else draft.header
        details = tuple(sorted(draft.details, key=lambda line: line.number))
        out.failures.append(Failure(draft.identity(newlines=document.node, whole=was_excused), header, details))
    out.standing = 2 if settled and totals else 1 if whole else 0
    _bail_out(document, out, exit_code)
    if document.vitest and not out.failures:
        out.doubts.add(Doubt.ERRORS_UNREPORTABLE)
    return out


def _sum(runs: list[Run]) -> Harvest:
    total = Harvest()
    for run in runs:
        total.add(run.harvest)
    return total


def _outside(counted: list[Run], foreign: list[Run], plan: int | None) -> list[Run]:
    """Stretches that jumped ahead and were left again, and those that begin beyond the plan."""
    return [
        run
        for run in counted
        if run.harvest.points
        and (any(run is other for other in foreign) or (plan is not None and not 1 <= run.first <= plan))
    ]


def _deny(
    document: Document, kept: Harvest, totals: dict[str, int], exit_code: int | None
) -> tuple[list[Draft], list[Draft]]:
    """Split failing points into those that count and those that totals, repeated numbers and exit status deny."""
    failures = kept.failures
    if totals:
        stated = stated_tally(totals).failed
        if stated == 0 and exit_code == 0:
            return [], failures
        return failures, []
    if exit_code != 0:
        return failures, []
    numbers = [*document.root.numbering.runs, *document.root.numbering.repeats]
    repeated = {run.first for run in document.root.numbering.repeats}
    doubtful: set[int] = set()
    for run in numbers:
        for draft in run.harvest.failures:
            if draft.number in repeated or any(run is other for other in document.root.numbering.repeats):
                doubtful.add(id(draft))
    return [d for d in failures if id(d) not in doubtful], [d for d in failures if id(d) in doubtful]


def _bail_out(document: Document, out: Outcome, exit_code: int | None) -> None:
    """A bail-out ends the run; one that the run survives with success and its plan met was printed by a test."""
    for line in document.bailed:
        if exit_code == 0 and out.standing:
            out.unclassified.append(line.as_kind(Kind.CONTESTED_TEST))
            out.doubts.add(Doubt.CONTESTED_RESULTS)
        else:
            out.fatal_errors.append(line)
