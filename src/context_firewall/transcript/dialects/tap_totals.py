"""Reconciling a TAP document: plan, numbers, points, trailer and exit status must tell one story.

Producers count differently. Each convention below says what its producer's trailer holds when the points read are all
there are; a trailer that no convention explains is a contradiction, and then the trailer wins (it is the runner's own
statement) while the packet asks for the raw evidence.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from context_firewall.transcript.facts import Tally

Totals = Mapping[str, int]


class Observed(NamedTuple):
    """Statuses of the points read, as their producer counts them."""

    passed: int
    failed: int
    skipped: int
    todo: int
    suites: int = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped + self.todo

    def tally(self) -> Tally:
        return Tally(self.passed, self.failed, self.skipped, self.todo, self.total)

    def without_directives(self, refused: int) -> "Observed":
        """The same points when directives are part of their names, `refused` of them on `not ok`."""
        excused = self.skipped + self.todo
        return Observed(self.passed + excused - refused, self.failed + refused, 0, 0, self.suites)


# producer -> what its trailer holds, from the points. Keys that a producer does not print are left out.
CONVENTIONS: tuple[tuple[str, Callable[[Observed], Totals]], ...] = (
    (
        "node, and the flat subset: every key its own statuses",
        lambda o: {
            "tests": o.total,
            "suites": o.suites,
            "pass": o.passed,
            "fail": o.failed,
            "skipped": o.skipped,
            "skip": o.skipped,
            "todo": o.todo,
            "total": o.total,
        },
    ),
    (
        "tape: what is skipped or to do has passed",
        lambda o: {"tests": o.total, "pass": o.passed + o.skipped + o.todo, "fail": o.failed},
    ),
    (
        "ava: what is to do has failed, and is no test",
        lambda o: {
            "tests": o.passed + o.failed + o.skipped,
            "pass": o.passed,
            "skip": o.skipped,
            "fail": o.failed + o.todo,
        },
    ),
    (
        "mocha: what is pending is no test",
        lambda o: {"tests": o.passed + o.failed, "pass": o.passed, "fail": o.failed},
    ),
)


def agrees(stated: Totals, observed: Observed) -> bool:
    """Whether one convention explains every total that the trailer states. Node's `cancelled` tests have failed."""
    folded = dict(stated)
    cancelled = folded.pop("cancelled", 0)
    if cancelled:
        folded["fail"] = folded.get("fail", 0) + cancelled
    return any(all(table(observed).get(key) == n for key, n in folded.items()) for _, table in CONVENTIONS)


def stated_tally(stated: Totals) -> Tally:
    """The tally that a trailer states by itself."""
    passed = stated.get("pass", 0)
    failed = stated.get("fail", 0) + stated.get("cancelled", 0)
    skipped = stated.get("skipped", stated.get("skip", 0))
    todo = stated.get("todo", 0)
    return Tally(passed, failed, skipped, todo, stated.get("tests", stated.get("total", passed + failed + skipped)))
