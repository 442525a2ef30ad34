"""The tests of a CTest run, one by one: started, printed, ended; and the failures that come of it."""

from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import ctest_grammar as grammar
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared


@dataclass(slots=True)
class Test:
    """One test that has started."""

    name: bytes
    output: list[Line] = field(default_factory=list)
    """With -V, what it printed."""
    notes: list[Line] = field(default_factory=list)
    """What else stands before its result, such as why it did not run."""

    def lines(self) -> list[Line]:
        """All of it in source order."""
        return sorted((*self.output, *self.notes), key=lambda line: line.number)


@dataclass(slots=True)
class Ended:
    """A failing test: its result, which may take several lines, and what belongs to it."""

    number: int
    name: bytes
    header: Line
    more: list[Line] = field(default_factory=list)
    output: list[Line] = field(default_factory=list)
    before: list[Line] = field(default_factory=list)

    def failure(self, suppressed: Account, listed: Line | None) -> Failure:
        """The failure; the list's line is part of it where it says more than the result."""
        end = len(self.output)
        while end and not bared(self.output[end - 1].raw).strip():
            end -= 1
        suppressed.add_lines(Kind.BLANK, self.output[end:])
        details = [line.as_kind(_kind(bared(line.raw))) for line in self.before]
        details += (line.as_kind(Kind.FAILURE_DETAIL) for line in self.more)
        details += (line.as_kind(grammar.detail_kind(bared(line.raw))) for line in self.output[:end])
        if listed is not None:
            reason = bared(listed.raw).rpartition(b"(")[2].rpartition(b")")[0]
            if reason in bared(self.header.raw):
                suppressed.add(Kind.RECAP, listed.number)
            else:
                details.append(listed.as_kind(Kind.FAILURE_DETAIL))
        return Failure(decoded(self.name), self.header.as_kind(Kind.FAILED_TEST), tuple(details))


def _kind(bare: bytes) -> Kind:
    """Kind of a line before a result: the places where a program is not are all of one sort."""
    if grammar.OUTPUT.fullmatch(bare) or grammar.MISSING.fullmatch(bare) or b": " in bare:
        return grammar.detail_kind(bare)
    return Kind.FAILURE_CONTEXT


class Tests:
    """All tests of a run."""

    def __init__(self, suppressed: Account) -> None:
        self._suppressed = suppressed
        self.running: dict[int, Test] = {}
        self.started: set[int] = set()
        self.place = 0
        """The count of the last counted result."""
        self.all = 0
        """How many tests the counted results announce."""
        self.passed = 0
        self.skipped: set[int] = set()
        self.disabled: set[int] = set()
        self.failed: dict[int, Ended] = {}
        """By the line of their results."""
        self.failures: dict[int, Ended] = {}
        """The last failure of each test, by the test's number."""
        self.attempts: dict[int, list[Ended]] = {}
        """Failed attempts of tests that have started again."""
        self._uncounted: dict[int, bytes] = {}
        """How tests have ended whose result has no count: --repeat prints one only once."""
        self.warnings: list[Line] = []
        """Failed attempts of tests that passed in the end."""
        self.odd = False
        """A test has started twice, or ended without having started, or a result is missing."""
        self.loose: list[Line] = []
        """Lines before results that are no failures, which nothing attributes; of a test that starts twice, all."""

    @property
    def done(self) -> int:
        """How many tests have ended."""
        return self.passed + len(self.failed) + len(self.skipped) + len(self.disabled)

    def start(self, number: int, name: bytes, line: Line) -> None:
        """A test starts, or starts again."""
        self.odd |= number in self.started and not self._starts_again(number)
        self.started.add(number)
        if number in self.running:
            self.odd = True
            self.loose += self.running[number].lines()
        self.running[number] = Test(name)
        self._suppressed.add(Kind.STRUCTURE, line.number)

    def counts(self, place: int, of: int, number: int) -> bool:
        """Whether a counted result is the runner's: the next, or a later one of a test that has started."""
        if place > of or self.all not in (0, of):
            return False
        if place != self.done + 1:
            if place <= self.place or (self.all and number not in self.running):
                return False
            self.odd = True
        self.place, self.all = place, of
        return True

    def end(self, number: int, name: bytes, ending: bytes, line: Line, *, counted: bool = True) -> Ended | None:
        """A result, which is final unless the test starts again; returns what is open for more lines."""
        test = self._take(number, name)
        if not counted:
            self._uncounted[number] = ending
        if ending.startswith(grammar.PASSED):
            self.passed += 1
            self._settle(number, test, Kind.SUCCESSFUL_TEST, line)
            return None
        if grammar.DISABLED in ending or grammar.SKIPPED in ending:
            (self.disabled if grammar.DISABLED in ending else self.skipped).add(number)
            self._settle(number, test, Kind.SKIPPED_TEST, line)
            return None
        ended = Ended(number, name, line, before=test.lines())
        for attempt in self.attempts.pop(number, ()):
            ended.before += [*attempt.before, attempt.header, *attempt.more, *attempt.output]
        self.failed[line.number] = self.failures[number] = ended
        return ended

    def _starts_again(self, number: int) -> bool:
        """Whether a test may be repeated, as it failed or its result has no count: then it has not ended."""
        ending = self._uncounted.pop(number, None)
        failure = self.failures.pop(number, None)
        if failure is not None:
            self.attempts.setdefault(number, []).append(self.failed.pop(failure.header.number))
            return True
        if ending is None:
            return False
        self.passed -= ending.startswith(grammar.PASSED)
        self.skipped.discard(number)
        self.disabled.discard(number)
        return True

    def run(self, count: int, numbers: set[int], of: int) -> None:
        """A run of tests that passed."""
        self.started |= numbers
        self.passed += count
        self.place = self.done
        self.all = of
        self._suppressed.add_many(Kind.STRUCTURE, count)
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count)

    def agrees(self, totals: grammar.Totals) -> bool:
        """Whether the results are those that the closing line counts."""
        return (
            not self.odd
            and not self.running
            and len(self.failed) == totals.failed
            and self.passed + len(self.failed) + len(self.skipped) == totals.all
        )

    def _take(self, number: int, name: bytes) -> Test:
        test = self.running.pop(number, None)
        if test is None:
            self.odd = True
            self.started.add(number)
            return Test(name)
        return test

    def _settle(self, number: int, test: Test, kind: Kind, line: Line) -> None:
        """A test that has not failed: its output is the program's; that it failed before is worth a warning."""
        self._suppressed.add(kind, line.number)
        outputs = list(test.output)
        self.loose += test.notes
        for attempt in self.attempts.pop(number, ()):
            self.warnings.append(attempt.header.as_kind(Kind.ABNORMAL_WARNING))
            outputs += [*attempt.before, *attempt.more, *attempt.output]
        for one in outputs:
            self._suppressed.add(Kind.PROGRAM_OUTPUT if bared(one.raw).strip() else Kind.BLANK, one.number)
