"""One document of JUnit XML: its suites and tests, and whether what is stated is what was read.

The room's rules:

- A document agrees if one way of counting explains every suite in it.
- A test that no suite counts proves nothing about those that may be missing beside it.
- Where a producer counts what the document does not show, the tally is of what it shows, and says so.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from context_firewall.transcript.dialects import junit_grammar as grammar
from context_firewall.transcript.dialects.junit_case import FAILED, PASSED, SKIPPED, TODO, Case
from context_firewall.transcript.dialects.junit_suites import (
    CONVENTIONS,
    Suite,
    by_children,
    by_elements,
    by_events,
    by_tests,
    hidden,
    picoseconds,
)
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Tally
from context_firewall.transcript.kinds import Kind

ONES_OWN = 2
"""How many suites tell one document from another: the root and the first in it."""


class Document:
    """What one document says, while and after it is read."""

    def __init__(self) -> None:
        self.suites: list[Suite] = []
        """Those that are open, the root first."""
        self.path: list[str] = []
        """The names of those that are no list of suites."""
        self.doubts: set[Doubt] = set()
        self.closed = False
        self.producer = grammar.OTHER
        self.tests = 0
        self.first, self.last = 0, 0
        """The lines of its first and of its last test."""
        self.opening: list[tuple[tuple[str, str], ...]] = []
        """The attributes of its first two suites: no two documents of one run have the same."""
        self._root: Suite | None = None
        self._outer: Suite | None = None
        """The outermost suite that is no list of suites."""
        self._refuted: set[Callable[[Suite], bool]] = set()
        """The conventions that some suite does not follow."""
        self._counting = 0
        """How many of the open suites count their tests."""
        self._uncounted = False
        """There is a test that no suite counts."""
        self._stated = False
        self._outcomes: Counter[str] = Counter()
        self._elements = 0
        """Suites, but for a list of them."""
        self._known: Counter[tuple[str, str]] = Counter()
        self._names: set[str] = set()
        self._totals: list[tuple[str, int]] = []
        self._torn = False
        """The last comments are some of Node's totals and do not begin as all of them do."""

    # -- suites

    def open(self, element: str, attributes: Mapping[str, str]) -> None:
        """A suite, or a list of them."""
        name = attributes.get("name", "")
        found = {word: attributes[word] for word in grammar.STATED if word in attributes}
        stated = {word: int(text) for word, text in found.items() if grammar.NUMBER.fullmatch(text)}
        if len(stated) < len(found):
            self.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        suite = Suite(element, name, stated, picoseconds(attributes.get("time", "")))
        self._root = self._root or suite
        if len(self.opening) < ONES_OWN:
            self.opening.append(tuple(attributes.items()))
        if self.producer is grammar.OTHER:
            counts_assertions = grammar.PHPUNIT if "assertions" in attributes else grammar.OTHER
            self.producer = grammar.PRODUCERS.get(name, counts_assertions)
        if element == grammar.SUITE:
            self.path.append(name)
            self._elements += 1
            self._outer = self._outer or suite
        self._stated |= suite.counts
        self._counting += suite.counts
        self.suites.append(suite)

    def close(self) -> None:
        """The innermost one ends."""
        suite = self.suites.pop()
        self._counting -= suite.counts
        if suite.element == grammar.SUITE:
            self.path.pop()
        conventions = {by_tests, by_children, self._own_convention}
        self._refuted |= {convention for convention in conventions if not convention(suite)}
        if not self.suites:
            self.closed = True
            return
        parent = self.suites[-1]
        failing = bool(suite.seen["failing tests"])
        parent.held[suite.name] = failing
        parent.seen.update(suite.seen)
        parent.seen.update({"suites": 1, "failing suites": failing})
        parent.within += suite.took
        parent.direct["children"] += 1
        parent.direct["failing"] += bool(suite.stated.get("failures"))
        parent.direct["skipping"] += bool(suite.stated.get("skipped"))

    # -- tests

    def passed(self, count: int, first: int, last: int) -> None:
        """Tests that passed, without a word more, on these lines."""
        self.goes_on()
        self._place(first, last)
        self.tests += count
        self._outcomes[PASSED] += count
        suite = self.suites[-1]
        suite.seen[PASSED] += count
        suite.seen["tests"] += count
        suite.direct["children"] += count
        self._uncounted |= not self._counting

    def add(self, case: Case, last: int) -> None:
        """A test that has ended, on that line."""
        if case.is_plain and not (self.producer.steps or self.producer.parents):
            self.passed(1, case.first, last)
            return
        self._place(case.first, last)
        if not case.consistent:
            self.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if case.message == grammar.COLLECTING and not case.module:
            # pytest's own text about it names the file: some of it is missing.
            self.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        self.tests += 1
        suite = self.suites[-1]
        parent = self._is_parent(case, suite)
        case.derived = parent and case.outcome == FAILED and suite.held[case.key[1]]
        outcome, found = case.outcome, case.found
        if outcome == FAILED or not (parent or self._is_step(case)):
            self._outcomes[outcome] += 1
        suite.direct["children"] += 1
        suite.direct["failing"] += bool(found["failure"])
        suite.direct["skipping"] += bool(found[grammar.SKIPPED])
        failing = bool(found["failure"] or found["error"])
        teardown = not found["failure"] and case.message.startswith(grammar.TEARDOWN)
        suite.seen.update(
            {
                "tests": 1,
                outcome: 1,
                "failed tests": bool(found["failure"]),
                "broken tests": bool(found["error"]),
                "failing tests": failing,
                "skipped tests": bool(found[grammar.SKIPPED]),
                "disabled tests": outcome == SKIPPED and not found[grammar.SKIPPED],
                "failures": found["failure"],
                "errors": found["error"],
                "skips": found[grammar.SKIPPED],
                "repeats": failing and bool(self._known[case.key]),
                "doubles": teardown and bool(self._known[case.key]),
                "teardowns": teardown and not self._known[case.key],
                "hooks": failing and grammar.HOOK.search(case.key[1]) is not None,
            }
        )
        if failing:
            self._known[case.key] += 1
        self._uncounted |= not self._counting

    def _place(self, first: int, last: int) -> None:
        self.first = self.first or first
        self.last = last

    def _is_parent(self, case: Case, suite: Suite) -> bool:
        """Whether a test stands for a suite, by a producer that writes both."""
        return self.producer.parents and case.key[1] in suite.held

    def _is_step(self, case: Case) -> bool:
        """Whether a test is a step of another, by a producer that writes them alike."""
        if not self.producer.steps:
            return False
        name = case.attributes.get("name", "")
        self._names.add(name)
        return name.rpartition(" > ")[0] in self._names

    # -- totals in comments

    def comment(self, text: bytes) -> Kind:
        """What a comment between tests is."""
        found = grammar.TOTAL.fullmatch(text)
        due = grammar.TOTALS[len(self._totals) % len(grammar.TOTALS)]
        if found is None or (word := found[1].decode()) not in (due, grammar.TOTALS[0]):
            self._totals.clear()
            self._torn = found is not None
            return Kind.PROGRAM_OUTPUT
        if word != due:
            self._totals.clear()
        self._torn &= word != grammar.TOTALS[0]
        self._totals.append((word, int(found[2])))
        return Kind.DURATION_SOURCE if word == grammar.TOTALS[-1] else Kind.AGGREGATE_SOURCE

    def goes_on(self) -> None:
        """Something else than a comment stands here: comments before it are not the totals."""
        self._totals.clear()
        self._torn = False

    @property
    def by_node(self) -> bool:
        """Whether Node's totals stand at the end, in a list that states nothing else."""
        return self._is_nodes and len(self._totals) == len(grammar.TOTALS)

    @property
    def _is_nodes(self) -> bool:
        """Whether the root is one as Node writes it: a list that states nothing."""
        return self._root is not None and self._root.element == grammar.SUITES and not self._root.stated

    # -- the account

    def tally(self, exit_code: int | None) -> Tally:
        """The counts; what they cannot vouch for is added to the doubts."""
        counts = Counter(self._outcomes)
        if self.by_node:
            counts = self._by_totals(counts, exit_code)
        elif (self._is_nodes and (self._torn or self._totals)) or not self._is_whole():
            self.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        elif by_tests in self._refuted and self._own_convention in self._refuted:
            self.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        elif by_tests in self._refuted and self._outer is not None:
            counts = self._by_convention(counts, self._outer)
        if self.producer.folds and counts[SKIPPED]:
            self.doubts.add(Doubt.COUNTS_UNCONFIRMED)
        if self.producer.silent and not counts[FAILED]:
            self.doubts.add(Doubt.ERRORS_UNREPORTABLE)
        four = (counts[PASSED], counts[FAILED], counts[SKIPPED], counts[TODO])
        return Tally(*four, sum(four))

    def _is_whole(self) -> bool:
        """Whether the document has an end, and no part of it could be missing without a trace.

        A list of suites that counts nothing is whole when each suite in it is. One that states how long they took
        together could have lost none that took time.
        """
        root = self._root
        if root is None or not self.closed or (self.tests and self._uncounted):
            return False
        if root.element == grammar.SUITE or root.counts or not root.direct["children"]:
            return True
        if self.producer in grammar.ONE_SUITE and root.direct["children"] != 1:
            return False
        return root.took in (0, root.within)

    @property
    def _own_convention(self) -> Callable[[Suite], bool]:
        return CONVENTIONS.get(self.producer, by_tests)

    @property
    def has_results(self) -> bool:
        """Whether there is a test, or a count that says that there is none."""
        return bool(self.tests) or self._stated or self.by_node

    def _by_convention(self, counts: Counter[str], suite: Suite) -> Counter[str]:
        """The counts, where a producer counts what happened rather than tests."""
        if self._own_convention is by_elements:
            counts[FAILED] = suite.seen["failures"] + suite.seen["errors"]
            counts[PASSED] += suite.seen["teardowns"]
            within_a_line = not counts[FAILED] and self.first == self.last
            if hidden(suite) > suite.seen["teardowns"] and not within_a_line:
                self.doubts.add(Doubt.COUNTS_UNCONFIRMED)
        elif self._own_convention is by_events:
            again = suite.seen["failing tests"] - suite.stated["errors"]
            counts[PASSED] += again
            counts[FAILED] -= again
        return counts

    def _by_totals(self, counts: Counter[str], exit_code: int | None) -> Counter[str]:
        """Node's totals: they are the run's, and count tests with subtests, which stand here as suites."""
        told = dict(self._totals)
        totals = Counter(
            {
                PASSED: told["pass"],
                FAILED: told["fail"] + told["cancelled"],
                SKIPPED: told["skipped"],
                TODO: told["todo"],
            }
        )
        explained = (
            by_children not in self._refuted
            and told["tests"] == totals.total()
            and told["tests"] + told["suites"] == self.tests + self._elements
        )
        parents = max(0, told["tests"] - self.tests)
        more = {word: totals[word] - counts[word] for word in (FAILED, SKIPPED, TODO)}
        if not explained or more[FAILED] < 0 or any(count > parents for count in more.values()):
            self.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if self._elements and exit_code != 0:
            # A suite's own failure, of a hook, has no element.
            self.doubts.add(Doubt.ERRORS_UNREPORTABLE)
        return totals
