"""What a packet shows, and the ladder down which it goes when a ceiling leaves no room.

A rung is a row: a name, the reason code that it adds to the verdict, and a function that makes its plan. A plan is
data; assembly carries it out. Rungs are tried in order and the first whose packet fits is taken. A rung that has
nothing to offer for a transcript makes no plan. `fits` tells a rung whether the packet of some plan, with the rung's
reason, would fit; a rung that has only one plan to offer need not ask.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from context_firewall.reduction.verdict import Reason
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.lines import Line


class Show(Enum):
    """In what form lines reach the packet."""

    TEXT = "text"
    REFERENCE = "reference"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """The form of each kind of evidence. A failure's identity is shown in any case."""

    failures: Show
    """Headers and details of failures."""
    stops: Show
    """Fatal errors and timeouts."""
    remarks: Show
    """Warnings, unclassified lines and unfinished tests."""
    failure_forms: tuple[Show, ...] | None = None
    """One form for each failure, in source order, where they differ; it takes the place of `failures`."""

    def form_of_failure(self, index: int) -> Show:
        """The form of the failure at that place of the transcript."""
        return self.failures if self.failure_forms is None else self.failure_forms[index]

    def shown_lines(self, transcript: Transcript) -> list[Line]:
        """The lines whose text the packet will hold."""
        return self._lines(transcript, shown=True)

    def hidden_lines(self, transcript: Transcript) -> list[Line]:
        """The kept lines of the transcript whose text the packet will not hold: they count as suppressed."""
        return self._lines(transcript, shown=False)

    def _lines(self, transcript: Transcript, *, shown: bool) -> list[Line]:
        found: list[Line] = []
        for index, failure in enumerate(transcript.failures):
            if (self.form_of_failure(index) is Show.TEXT) is shown:
                found.extend(failure.lines())
        if (self.stops is Show.TEXT) is shown:
            found += [*transcript.fatal_errors, *transcript.timeouts]
        if (self.remarks is Show.TEXT) is shown:
            found += [*transcript.warnings, *transcript.unclassified, *transcript.todo]
        return found


Fits = Callable[[RetentionPlan], bool]


@dataclass(frozen=True, slots=True)
class Rung:
    """One row of a ladder."""

    name: str
    reason: Reason | None
    plan: Callable[[Transcript, Fits], RetentionPlan | None]


def everything(transcript: Transcript, fits: Fits) -> RetentionPlan:
    """All kept lines with their text."""
    return RetentionPlan(failures=Show.TEXT, stops=Show.TEXT, remarks=Show.TEXT)


def remarks_referenced(transcript: Transcript, fits: Fits) -> RetentionPlan | None:
    """What is not critical by place and digest; nothing to offer where there is none of it."""
    if not (transcript.warnings or transcript.unclassified or transcript.todo):
        return None
    return RetentionPlan(failures=Show.TEXT, stops=Show.TEXT, remarks=Show.REFERENCE)


def identities_only(transcript: Transcript, fits: Fits) -> RetentionPlan:
    """Who failed, what is not critical by place and digest, and no line of text."""
    return RetentionPlan(failures=Show.NOTHING, stops=Show.NOTHING, remarks=Show.REFERENCE)


FULL = Rung("full", None, everything)
REFERENCES = Rung("references", Reason.PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT, remarks_referenced)
COMPACT = Rung("compact", Reason.PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED, identities_only)

SEED_LADDER = (FULL, REFERENCES, COMPACT)
"""The rungs of published packets. Where none fits, the reduction ends in PayloadCeilingTooSmall."""


def smallest_fixed_point(base: int) -> int:
    """The smallest n that equals `base` plus the number of its own decimal digits."""
    digits = 1
    while len(str(base + digits)) != digits:
        digits += 1
    return base + digits


def smallest_ceiling(reduced_bytes: int, ceiling: int) -> int:
    """The smallest ceiling below which a plan fits whose packet has `reduced_bytes` bytes under `ceiling`.

    A packet holds its ceiling twice (configuration and payload limit), so a ceiling with more digits makes it longer.
    """
    base = reduced_bytes - len(str(reduced_bytes)) - 2 * len(str(ceiling))
    digits = 1
    while True:
        smallest = max(smallest_fixed_point(base + 2 * digits), int(10 ** (digits - 1)))
        if len(str(smallest)) == digits:
            return smallest
        digits += 1
