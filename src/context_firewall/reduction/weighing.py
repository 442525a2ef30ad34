"""How long the packet of a plan would be, to the byte, without making it.

Every piece of evidence is serialised once in each form in which a plan shows it; after that, plans are weighed by
adding up. So a rung may ask about as many plans as it likes.

A weight is the length of a packet but for the digits of that length and of its ceiling, which depend on one another:
`retention.length_under` and `retention.least_ceiling` add them.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.reduction.assembly import (
    Reduction,
    decision_evidence,
    evidence_of,
    failure_entry,
    length_around_evidence,
    omitted_failures,
    receipt_for,
    shared_region,
    unclassified_evidence,
)
from context_firewall.reduction.retention import RetentionPlan, Show
from context_firewall.reduction.verdict import Verdict
from context_firewall.transcript.kinds import Kind

# What stands around pieces in canonical JSON.
_COMMA = len(",")
_LIST = len("[]")
_ALSO = len('"also":[],')
_TODO = len('"todo":,')
_OMITTED = len('"omitted_failures":,')

_KIND = attrgetter("kind")
_ANY_DIGEST = sha256(b"")


@dataclass(slots=True)
class _Load:
    """What a plan makes of the failures: how many entries, their bytes, and the shown lines by kind."""

    entries: int = 0
    size: int = 0
    shown: Counter[Kind] = field(default_factory=Counter)


class Scale:
    """Weighs plans for one reduction and verdict."""

    def __init__(self, reduction: Reduction) -> None:
        transcript = reduction.transcript
        self._reduction = reduction
        self._failures = transcript.failures
        self._lists = {
            "fatal_errors": transcript.fatal_errors,
            "timeouts": transcript.timeouts,
            "todo": transcript.todo,
            "unclassified": transcript.unclassified,
            "warnings": transcript.warnings,
        }
        empty = transcript._replace(failures=(), fatal_errors=(), timeouts=(), todo=(), unclassified=(), warnings=())
        self._frame = reduction._replace(transcript=empty)
        self._sizes: dict[Any, int] = {}

    # Where there is no ceiling nothing is weighed, and none of this is counted.

    @cached_property
    def _kinds(self) -> list[Counter[Kind]]:
        """The kinds of each failure's lines."""
        return [Counter(map(_KIND, failure.lines())) for failure in self._failures]

    @cached_property
    def _kinds_of_lists(self) -> dict[str, Counter[Kind]]:
        return {name: Counter(map(_KIND, lines)) for name, lines in self._lists.items()}

    @cached_property
    def _kept(self) -> Counter[Kind]:
        kept: Counter[Kind] = Counter()
        for kinds in (*self._kinds, *self._kinds_of_lists.values()):
            kept.update(kinds)
        return kept

    def weigh(self, verdict: Verdict, plan: RetentionPlan) -> int:
        """The weight of one plan's packet."""
        omitted = 0
        if plan.named is not None and plan.named < len(self._failures):
            omitted = len(canonical_bytes(omitted_failures(self._failures[plan.named :])))
        return self._total(verdict, plan, self._load(plan), omitted, affected=not plan.shows_everything)

    def exceeds(self, plan: RetentionPlan, ceiling: int) -> bool:
        """Whether a plan's packet is longer than that for certain: the lines that it shows alone are.

        In JSON no line is shorter than its bytes, so much text need not be weighed.
        """
        if plan.remarks is not Show.TEXT:
            return False
        size = 0
        for line in chain(self._lists["unclassified"], self._lists["warnings"]):
            size += len(line.raw)
            if size > ceiling:
                return True
        return False

    def weigh_whole(self, verdict: Verdict, plan_for: Callable[[int], RetentionPlan]) -> Iterator[int]:
        """The weights of `plan_for(0)`, `plan_for(1)` and so on, which show that many failures whole.

        The others are in blocks, or with the earlier failure that shows the same region if that one is whole.
        """
        twins = plan_for(len(self._failures)).shown_by
        followers: dict[int, list[int]] = {}
        for index, twin in enumerate(twins or ()):
            if twin is not None:
                followers.setdefault(twin, []).append(index)
        plan = plan_for(0)
        load = self._load(plan)
        yield self._total(verdict, plan, load, 0, affected=True)
        for index in range(len(self._failures)):
            if twins is None or twins[index] is None:
                load.size += self._entry(index, Show.TEXT) - self._entry(index, Show.BLOCKS)
                load.shown.update(self._kinds[index])
                for follower in followers.get(index, ()):
                    load.entries -= 1
                    load.size += self._shared(follower) - self._entry(follower, Show.BLOCKS)
                if index in followers:
                    load.size += _ALSO + _COMMA * (len(followers[index]) - 1)
            yield self._total(verdict, plan, load, 0, affected=True)

    def weigh_named(self, verdict: Verdict, plan: RetentionPlan) -> Iterator[tuple[int, int]]:
        """Weights of a plan that names the first n failures, from all but one down to none, each with its n."""
        named = plan._replace(named=len(self._failures))
        load = self._load(named)
        first, last = 0, 0
        for index in reversed(range(len(self._failures))):
            load.entries -= 1
            load.size -= self._entry(index, named.form_of_failure(index))
            numbers = [line.number for line in self._failures[index].lines()]
            if numbers:
                first = min(first or numbers[0], *numbers)
                last = max(last, *numbers)
            count = len(self._failures) - index
            account = {"count": count, "first_line": first, "last_line": last, "sha256": _ANY_DIGEST}
            yield index, self._total(verdict, named, load, len(canonical_bytes(account)), affected=True)

    def weigh_edges(self, verdict: Verdict, plan: RetentionPlan, limit: int) -> Iterator[tuple[int, int]]:
        """For n = 1, 2, ... up to the limit, n and a weight that the plan with n edges does not exceed.

        Each is at least as large as the one before: the digest of what is not shown counts as long as it can be.
        """
        lines = self._lists["unclassified"]
        longest = sum(
            len(canonical_bytes(evidence)) + len(',"last_line":') + len(str(evidence["line"]))
            for evidence in evidence_of(lines, Show.DIGEST)
        )
        size = self._list("unclassified", plan.remarks)
        around = self._total(verdict, plan, self._load(plan), 0, affected=True) - size
        # Counts of lines, bytes and kinds, and where lines stand, may have more digits than with no edges.
        spare = len(str(len(lines))) * 8 + len(canonical_bytes(sorted({line.kind.value for line in lines}))) + 64
        text = 0
        for n in range(1, limit + 1):
            line = lines[n // 2] if n % 2 else lines[-n // 2]
            text += len(canonical_bytes(evidence_of([line], Show.TEXT))) - len("[]") + _COMMA
            yield n, around + spare + longest + text

    def _edged(self, plan: RetentionPlan) -> int:
        """The length of the unclassified lines where some keep their text."""
        return len(canonical_bytes(unclassified_evidence(self._lists["unclassified"], plan)))

    def _load(self, plan: RetentionPlan) -> _Load:
        load = _Load()
        sharing: set[int] = set()
        for index in range(len(self._failures[: plan.named])):
            twin = plan.twin(index)
            form = plan.form_of_failure(index)
            if twin is None:
                load.entries += 1
                load.size += self._entry(index, form)
                if form is Show.TEXT:
                    load.shown.update(self._kinds[index])
            else:
                load.size += self._shared(index) + (_COMMA if twin in sharing else _ALSO)
                sharing.add(twin)
        return load

    def _total(self, verdict: Verdict, plan: RetentionPlan, load: _Load, omitted: int, *, affected: bool) -> int:
        forms = {
            "fatal_errors": plan.stops,
            "timeouts": plan.stops,
            "todo": plan.todo_form,
            "unclassified": plan.remarks,
            "warnings": plan.remarks,
        }
        lists = 0
        shown = Counter(load.shown)
        for name, form in forms.items():
            size = self._edged(plan) if plan.edges and name == "unclassified" else self._list(name, form)
            lists += size - _LIST
            if name == "todo" and size > _LIST:
                lists += _TODO + _LIST
            if form is Show.TEXT:
                shown.update(self._kinds_of_lists[name])
        if plan.edges:
            head, _, tail = plan.edged(self._lists["unclassified"])
            shown.update(line.kind for line in (*head, *tail))
        failures = load.size + _COMMA * max(0, load.entries - 1)
        around = self._around(verdict, shown, affected=affected)
        return self._bare(verdict) + lists + failures + (_OMITTED + omitted if omitted else 0) + around

    # -- pieces, each measured once ----------------------------------------------------------------------------------

    def _entry(self, index: int, form: Show) -> int:
        key = (index, form)
        if key not in self._sizes:
            self._sizes[key] = len(canonical_bytes(failure_entry(self._failures[index], form)))
        return self._sizes[key]

    def _shared(self, index: int) -> int:
        key = (index, "shared")
        if key not in self._sizes:
            self._sizes[key] = len(canonical_bytes(shared_region(self._failures[index])))
        return self._sizes[key]

    def _list(self, name: str, form: Show) -> int:
        key = (name, form)
        if key not in self._sizes:
            self._sizes[key] = len(canonical_bytes(evidence_of(self._lists[name], form)))
        return self._sizes[key]

    def _bare(self, verdict: Verdict) -> int:
        """The decision evidence when it shows no line and no failure."""
        key = ("bare", verdict.reasons)
        if key not in self._sizes:
            nothing = RetentionPlan(Show.NOTHING, Show.NOTHING, Show.NOTHING)
            self._sizes[key] = len(canonical_bytes(decision_evidence(self._frame, verdict, nothing)))
        return self._sizes[key]

    def _around(self, verdict: Verdict, shown: Counter[Kind], *, affected: bool) -> int:
        """All but the evidence; it varies with the digits of some counts and with the kinds that are shown."""
        hidden = {kind: count - shown[kind] for kind, count in self._kept.items()}
        suppressed = [(kind, len(str(self._suppressed(kind) + n))) for kind, n in hidden.items() if n]
        retained, lost = shown.total(), sum(hidden.values())
        total = sum(self._reduction.transcript.suppressed.values()) + lost
        key = (
            verdict.reasons,
            affected,
            frozenset(kind for kind, count in shown.items() if count),
            tuple(suppressed),
            len(str(retained)),
            len(str(total)),
            total == 0,
        )
        if key not in self._sizes:
            receipt = receipt_for(self._reduction, verdict, shown, hidden, affected=affected, semantic_hash=_ANY_DIGEST)
            ceiling = self._reduction.configuration.max_output_bytes
            digits = 2 * len("null" if ceiling is None else str(ceiling))
            self._sizes[key] = length_around_evidence(self._reduction, receipt) - digits
        return self._sizes[key]

    def _suppressed(self, kind: Kind) -> int:
        return self._reduction.transcript.suppressed.get(kind, 0)
