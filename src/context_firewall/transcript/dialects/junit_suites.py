"""Suites of JUnit XML: what they state, and the ways in which producers count.

Producers count differently; each way is a function that says whether a suite's counts are met. A document agrees if one
way explains every suite in it.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from context_firewall.transcript.dialects import junit_grammar as grammar
from context_firewall.transcript.dialects.junit_case import PASSED


@dataclass(slots=True)
class Suite:
    """An element that holds tests: what it states, and what was read in it and below."""

    element: str
    name: str
    stated: dict[str, int]
    took: int
    """How long it says it took, in picoseconds."""
    within: int = 0
    """How long those in it say they took."""
    seen: Counter[str] = field(default_factory=Counter)
    direct: Counter[str] = field(default_factory=Counter)
    """Children of its own, suites among them."""
    held: dict[str, bool] = field(default_factory=dict)
    """Suites in it that are over, by name, and whether a test in them failed."""

    @property
    def counts(self) -> bool:
        """Whether it states how many tests it holds, and how many failed."""
        return "tests" in self.stated and "failures" in self.stated


def _left_out(suite: Suite) -> bool:
    """Skipped and disabled tests together: producers use one attribute, the other, or both."""
    stated = [suite.stated[word] for word in ("skipped", "disabled") if word in suite.stated]
    return not stated or sum(stated) == suite.seen["skipped tests"] + suite.seen["disabled tests"]


def picoseconds(text: str) -> int:
    """A time in seconds as a whole number, so that it can be added up exactly."""
    if not grammar.SECONDS.fullmatch(text):
        return 0
    whole, _, part = text.partition(".")
    return int(whole + part.ljust(12, "0"))


def by_tests(suite: Suite) -> bool:
    """The convention of most: every test below is counted, once for each way in which it ended."""
    stated, seen = suite.stated, suite.seen
    failed = "failing tests" if "errors" not in stated else "failed tests"
    return (
        stated.get("tests", seen["tests"]) == seen["tests"]
        and stated.get("failures", seen[failed]) == seen[failed]
        and stated.get("errors", seen["broken tests"]) == seen["broken tests"]
        and _left_out(suite)
    )


def by_children(suite: Suite) -> bool:
    """Node's: a suite counts its own children, tests and suites alike."""
    stated, own = suite.stated, suite.direct
    return (
        stated.get("tests", own["children"]) == own["children"]
        and stated.get("failures", own["failing"]) == own["failing"]
        and stated.get("errors", 0) == 0
        and stated.get("skipped", own["skipping"]) == own["skipping"]
    )


def hidden(suite: Suite) -> int:
    """pytest's: passes that are counted and have no element; below zero if there are not even those that have one.

    It counts what was reported, elements rather than tests; a test that failed before its teardown did is counted once.
    """
    elements = suite.seen["failures"] + suite.seen["errors"] + suite.seen["skips"]
    return suite.stated.get("tests", -1) + suite.seen["doubles"] - elements - suite.seen[PASSED]


def by_elements(suite: Suite) -> bool:
    """pytest's: see `hidden`."""
    stated, seen = suite.stated, suite.seen
    return not stated or (
        stated.get("failures") == seen["failures"]
        and stated.get("errors") == seen["errors"]
        and stated.get("skipped", seen["skips"]) == seen["skips"]
        and hidden(suite) >= seen["teardowns"]
    )


def by_points(suite: Suite) -> bool:
    """node-tap's: it counts TAP's points, and a suite is one more, for itself and for each suite below."""
    stated, seen = suite.stated, suite.seen
    failing = seen["failing tests"] + seen["failing suites"] + bool(seen["failing tests"])
    return not stated or (
        stated.get("tests") == seen["tests"] + seen["suites"] + 1
        and stated.get("failures") == failing
        and stated.get("skipped", seen["skipped tests"]) == seen["skipped tests"]
    )


def by_events(suite: Suite) -> bool:
    """mocha's: it counts what happened. A test that passed and then failed after all stands there twice, as failed.

    Hooks that failed are among the errors, not among the tests; `skipped` is what is left when both are taken off.
    """
    stated, seen = suite.stated, suite.seen
    if not stated:
        return True
    if stated.get("failures") or not {"tests", "errors", "skipped"} <= stated.keys():
        return False
    again = seen["failing tests"] - stated["errors"]
    passed = stated["tests"] - stated["errors"] - stated["skipped"]
    tests = stated["tests"] + seen["hooks"] + again
    return 0 <= again <= seen["repeats"] and passed == seen[PASSED] + again and tests == seen["tests"]


CONVENTIONS: Mapping[grammar.Producer, Callable[[Suite], bool]] = {
    grammar.PYTEST: by_elements,
    grammar.NODE_TAP: by_points,
    grammar.MOCHA: by_events,
}
"""Of producers that do not count by tests, or not always."""
