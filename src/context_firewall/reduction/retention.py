"""What a packet shows, and the ladder down which it goes when a ceiling leaves no room.

A rung is a row: a name, the reason code that it adds to the verdict, and a function that makes its plan. A plan is
data; assembly carries it out. Rungs are tried in order and the first whose packet fits is taken. A rung that has
nothing to offer for a transcript makes no plan. A rung that could show more or less asks the `Room` that it is given
how much would fit, with the rung's reason; a rung that has only one plan to offer need not ask.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from context_firewall.reduction.verdict import Reason
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.lines import Line


class Show(Enum):
    """In what form lines reach the packet."""

    TEXT = "text"
    REFERENCE = "reference"
    """One reference a line."""
    BLOCKS = "blocks"
    """One reference for each block of adjacent lines of one kind."""
    DIGEST = "digest"
    """One reference for all lines of one kind in one stream, wherever they stand."""
    NOTHING = "nothing"


class RetentionPlan(NamedTuple):
    """The form of each kind of evidence. A failure's identity is shown in any case."""

    failures: Show
    """Headers and details of failures."""
    stops: Show
    """Fatal errors and timeouts."""
    remarks: Show
    """Warnings and unclassified lines, and unfinished tests unless `todo` says otherwise."""
    todo: Show | None = None
    """Unfinished tests, where their form is not that of the remarks."""
    failure_forms: tuple[Show, ...] | None = None
    """One form for each failure, in source order, where they differ; it takes the place of `failures`."""
    shown_by: tuple[int | None, ...] | None = None
    """For each failure, the earlier one that shows the very same region for both; None where it shows its own."""
    named: int | None = None
    """How many failures are named, in source order; the others are counted and hashed. None: all."""
    edges: int = 0
    """How many unclassified lines keep their text although remarks do not: from the first on and from the last back."""

    @property
    def todo_form(self) -> Show:
        """The form of unfinished tests."""
        return self.remarks if self.todo is None else self.todo

    @property
    def shows_everything(self) -> bool:
        """Whether no ceiling cost anything: all text is there, once."""
        forms = {self.stops, self.remarks, self.todo_form, *(self.failure_forms or (self.failures,))}
        return forms == {Show.TEXT} and self.named is None

    def twin(self, index: int) -> int | None:
        """The failure that shows this one's region, or None."""
        return None if self.shown_by is None else self.shown_by[index]

    def form_of_failure(self, index: int) -> Show:
        """The form of the failure at that place of the transcript."""
        return self.failures if self.failure_forms is None else self.failure_forms[index]

    def edged(self, lines: Sequence[Line]) -> tuple[Sequence[Line], Sequence[Line], Sequence[Line]]:
        """Unclassified lines that keep their text at the head, those that do not, and those at the tail."""
        if self.remarks is Show.TEXT:
            return lines, (), ()
        head, tail = (self.edges + 1) // 2, len(lines) - self.edges // 2
        return lines[:head], lines[head:tail], lines[tail:]

    def shown_lines(self, transcript: Transcript) -> list[Line]:
        """The lines whose text the packet will hold."""
        return self._lines(transcript, shown=True)

    def hidden_lines(self, transcript: Transcript) -> list[Line]:
        """The kept lines of the transcript whose text the packet will not hold: they count as suppressed."""
        return self._lines(transcript, shown=False)

    def _lines(self, transcript: Transcript, *, shown: bool) -> list[Line]:
        found: list[Line] = []
        for index, failure in enumerate(transcript.failures):
            own = self.form_of_failure(index) is Show.TEXT and self.twin(index) is None
            if own is shown:
                found.extend(failure.lines())
        if (self.stops is Show.TEXT) is shown:
            found += [*transcript.fatal_errors, *transcript.timeouts]
        if (self.remarks is Show.TEXT) is shown:
            found += transcript.warnings
        head, middle, tail = self.edged(transcript.unclassified)
        found += (*head, *tail) if shown else middle
        if (self.todo_form is Show.TEXT) is shown:
            found += transcript.todo
        return found


class Room(Protocol):
    """How much fits below the ceiling, to the byte."""

    def for_whole(self, plan_for: Callable[[int], RetentionPlan], limit: int) -> int | None:
        """The largest n up to the limit for which `plan_for(n)`, which shows n failures whole, fits; None if none."""

    def for_edges(self, plan: RetentionPlan, limit: int) -> int:
        """The largest n up to the limit for which the plan with that many edges fits; 0 if none does."""

    def for_named(self, plan: RetentionPlan) -> int:
        """How many failures, though not all, the plan can name; 0 even if that does not fit."""


class Rung(NamedTuple):
    """One row of a ladder."""

    name: str
    reason: Reason | None
    plan: Callable[[Transcript, Room], RetentionPlan | None]


def everything(transcript: Transcript, room: Room) -> RetentionPlan:
    """All kept lines with their text."""
    return RetentionPlan(failures=Show.TEXT, stops=Show.TEXT, remarks=Show.TEXT)


def remarks_referenced(transcript: Transcript, room: Room) -> RetentionPlan | None:
    """What is not critical by place and digest; nothing to offer where there is none of it."""
    if not (transcript.warnings or transcript.unclassified or transcript.todo):
        return None
    return RetentionPlan(failures=Show.TEXT, stops=Show.TEXT, remarks=Show.REFERENCE)


def identities_only(transcript: Transcript, room: Room) -> RetentionPlan:
    """Who failed, what is not critical by place and digest, and no line of text."""
    return RetentionPlan(failures=Show.NOTHING, stops=Show.NOTHING, remarks=Show.REFERENCE)


def shared_regions(transcript: Transcript) -> tuple[int | None, ...] | None:
    """Which failures' details are byte for byte those of an earlier one; None when none are.

    A failure whose header says more than its name (a directive, a message) shows it, so it is nobody's twin.
    """
    first: dict[tuple[bytes, ...], int] = {}
    twins: list[int | None] = []
    for index, failure in enumerate(transcript.failures):
        region = tuple(line.raw for line in failure.details)
        shown = index
        if region and failure.header is not None:
            shown = first.setdefault(region, index)
            if shown != index and _header_says_more(failure.header.text, failure.identity):
                shown = index
        twins.append(None if shown == index else shown)
    return tuple(twins) if any(twin is not None for twin in twins) else None


def _header_says_more(header: str, identity: str) -> bool:
    # Most runs have no twins, and start faster without.
    from context_firewall.documents.brief.regions import says_only_the_name

    return not says_only_the_name(header, identity)


def everything_once(transcript: Transcript, room: Room) -> RetentionPlan:
    """All kept lines with their text; a region that several failures share stands once."""
    return everything(transcript, room)._replace(shown_by=shared_regions(transcript))


def head_and_tail(transcript: Transcript, room: Room) -> RetentionPlan | None:
    """Of a run without a test, the first and the last lines as many as fit; all else of it in one reference each.

    Where nothing was recognised the beginning says what was run and the end how it came out.
    """
    if transcript.tally.total or not transcript.unclassified:
        return None
    plan = everything_once(transcript, room)._replace(remarks=Show.DIGEST, todo=Show.TEXT)
    edges = room.for_edges(plan, len(transcript.unclassified) - 1)
    return plan._replace(edges=edges) if edges else None


def remarks_in_blocks(transcript: Transcript, room: Room) -> RetentionPlan | None:
    """Warnings and unclassified lines as references to blocks; what is unfinished keeps its text."""
    if not (transcript.warnings or transcript.unclassified):
        return None
    return everything_once(transcript, room)._replace(remarks=Show.BLOCKS, todo=Show.TEXT)


def remarks_digested(transcript: Transcript, room: Room) -> RetentionPlan | None:
    """The same with one reference a kind and stream, so that scattered noise never pushes out a failure."""
    plan = remarks_in_blocks(transcript, room)
    return None if plan is None else plan._replace(remarks=Show.DIGEST)


def todo_digested(transcript: Transcript, room: Room) -> RetentionPlan | None:
    """And what is unfinished likewise."""
    if not transcript.todo:
        return None
    return everything_once(transcript, room)._replace(remarks=Show.DIGEST)


def whole_regions_first(transcript: Transcript, room: Room) -> RetentionPlan | None:
    """As many whole failure regions as fit, from the first on; the others by identity, place and reference.

    The whole ones are always the first n: so a lower ceiling shows a part of what a higher one shows, never more.
    """
    count = len(transcript.failures)
    if not count:
        return None

    twins = shared_regions(transcript)

    def first(whole: int) -> RetentionPlan:
        forms = (Show.TEXT,) * whole + (Show.BLOCKS,) * (count - whole)
        plan = RetentionPlan(
            failures=Show.BLOCKS, stops=Show.TEXT, remarks=Show.DIGEST, todo=Show.DIGEST, failure_forms=forms
        )
        if twins is None:
            return plan
        # A region is shared only with a failure that shows it.
        return plan._replace(shown_by=tuple(t if t is not None and t < whole else None for t in twins))

    whole = room.for_whole(first, count - 1)
    return None if whole is None else first(whole)


def names_only(transcript: Transcript, room: Room) -> RetentionPlan:
    """Who failed; everything else by place, length and digest."""
    return RetentionPlan(failures=Show.NOTHING, stops=Show.DIGEST, remarks=Show.DIGEST)


def as_many_names_as_fit(transcript: Transcript, room: Room) -> RetentionPlan | None:
    """The first failures by name, the others by count and digest."""
    if not transcript.failures:
        return None
    plan = names_only(transcript, room)
    return plan._replace(named=room.for_named(plan))


FULL = Rung("full", None, everything)
REFERENCES = Rung("references", Reason.PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT, remarks_referenced)
COMPACT = Rung("compact", Reason.PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED, identities_only)

SEED_LADDER = (FULL, REFERENCES, COMPACT)
"""The rungs of published packets. Where none fits, the reduction ends in PayloadCeilingTooSmall."""

LADDER = (
    Rung("full", None, everything_once),
    Rung("head and tail", Reason.PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT, head_and_tail),
    Rung("references", Reason.PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT, remarks_in_blocks),
    Rung("digests", Reason.PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT, remarks_digested),
    Rung("todo digests", Reason.PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT, todo_digested),
    Rung("graded", Reason.PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED, whole_regions_first),
    Rung("compact", Reason.PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED, names_only),
    Rung("counted", Reason.PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED, as_many_names_as_fit),
)
"""The rungs of policy v3."""


def smallest_fixed_point(base: int) -> int:
    """The smallest n that equals `base` plus the number of its own decimal digits."""
    digits = 1
    while len(str(base + digits)) != digits:
        digits += 1
    return base + digits


def length_under(ceiling: int | None, weight: int) -> int:
    """The length of a packet under a ceiling, which stands in it twice; `weight` is all but these digits."""
    return smallest_fixed_point(weight + 2 * len("null" if ceiling is None else str(ceiling)))


def least_ceiling(weight: int) -> int:
    """The smallest ceiling from which on a packet of that weight fits.

    A ceiling with more digits makes the packet longer. So one that fits 9,999 bytes to the byte is too long for 10,000;
    it does not count as fitting, lest a lower ceiling show more than a higher one.
    """
    digits = 1
    while length_under(int(10**digits), weight) > int(10**digits):
        digits += 1
    # From the first ceiling with one digit more on it always fits; how much earlier?
    lowest, highest = int(10 ** (digits - 1)), int(10**digits)
    return min(max(lowest, length_under(lowest, weight)), highest)
