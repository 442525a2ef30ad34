"""The results of a unittest run: letters in one line, or with -v one line a test, and what stands among them.

- A test's line is written when it begins, its status when it ends; what the test prints meanwhile is glued between.
- Failing results are remembered with their lines: if the run breaks off before its blocks, they are all there is.
- Text of others among the results is kept. Letters count only in a line of nothing else, or before Python's own
  warnings and strict markers.
- A traceback among the results is what a process that breaks off leaves; if results follow, a test has printed it.
"""

import re
from collections import Counter
from dataclasses import dataclass
from operator import eq

from context_firewall.transcript import runtime_warnings
from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import unittest_grammar as grammar
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.markers import marker_kind

_FAILING = (b"FAIL", b"ERROR", b"unexpected success")
_ALWAYS_OURS = (b"FAIL", b"ERROR")
"""Before 3.11 what fails beside a test (its tearDown, a fixture) leaves its bare status in a line."""
_MOST_BROKEN_LINES = 400
_PROOF = 2
"""How many results with names prove a report that has neither blocks nor closing lines."""


@dataclass(frozen=True, slots=True)
class Told:
    """A failing result of -v: the test as described, its status, and its lines."""

    description: bytes
    status: bytes
    lines: tuple[Line, ...]


class Results:
    """Reads the results."""

    def __init__(self, suppressed: Account) -> None:
        self._suppressed = suppressed
        self.seen: Counter[bytes] = Counter()
        """Results by status."""
        self.skipped_tests = 0
        """With names: how many of the skipped are tests, and not fixtures or subtests."""
        self.repeated = False
        """With names: a line stands twice in a row."""
        self._last = b""
        self.told: list[Told] = []
        self.todo: list[Line] = []
        self.unclassified: list[Line] = []
        self.mirrored: list[Line] = []
        """What -b printed right after a failing result."""
        self.marked: dict[Kind, list[Line]] = {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}
        self.noisy = False
        """Text of others stands among the results: letters may be missing, or not be letters."""
        self.current = b""
        """The test that has begun and has no status yet."""
        self._start: Line | None = None
        self._named = False
        """Results have names (-v)."""
        self._first: tuple[bytes, Line] | None = None
        """The first line of a description of two lines."""
        self._mirroring = False
        self._blank = False
        self._warned = False
        """The last line was a warning of Python's, whose source line may follow."""
        self._waiting: list[tuple[Kind, Line]] = []
        """Results that one line alone would have to prove, and letters, until more bears them out."""
        self._broken: list[Line] | None = None
        """A traceback among the results, and what follows it."""

    @property
    def names(self) -> int:
        """How many results with names have been read."""
        return self.seen.total() if self._named else 0

    @property
    def proven(self) -> bool:
        """Whether the results alone prove a report: anybody may print one line that looks like a result."""
        return self.names + bool(self.current) >= _PROOF

    def lane(self) -> re.Pattern[bytes] | None:
        """Runs of passed tests, once a result is known that they bear out."""
        if not self.names or self.current or self._first or self._mirroring or self._broken is not None:
            return None
        return grammar.PASSED_LANE

    def run(self, block: bytes, start: int, stop: int) -> int:
        """Count a run of passed tests."""
        lines = block.count(b"\n", start, stop)
        tests = grammar.PASSED_TESTS.findall(block, start, stop)
        first, last = (
            b"".join((name, b"" if described else grammar.PASSED)) for name, described in (tests[0], tests[-1])
        )
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, lines)
        self.seen[b"ok"] += len(tests)
        self.repeated |= first == self._last or True in map(eq, tests, tests[1:])
        self._last = last
        self._blank = self._warned = False
        return lines

    def take(self, bare: bytes, line: Line) -> bool:
        """One line of this part; False if nothing here knows it."""
        if self._broken is not None and self._breaks_on(bare, line):
            return True
        blank, self._blank = self._blank, not bare.strip()
        warned, self._warned = self._warned, False
        if self._first is not None and self._described(bare, line):
            return True
        if self._blank:
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        if self._result(bare, line) or self._letters(bare, line):
            self._mirroring = False
            return True
        if blank and bare in grammar.MIRRORS:
            self._mirroring = True
        if warned and runtime_warnings.PYTHON_SOURCE.fullmatch(bare):
            self.marked[Kind.ABNORMAL_WARNING].append(line.as_kind(Kind.ABNORMAL_WARNING))
            return True
        if self._mirroring:
            self.mirrored.append(line)
            return True
        return self._aside(bare, line) or self._unknown(line)

    # -- named results

    def _result(self, bare: bytes, line: Line) -> bool:
        """A test's line, or the status of the one that has begun."""
        self.repeated |= self._named and bare == self._last
        self._last = bare
        place = 2 if bare.startswith(b"  ") else 0
        while (found := grammar.TEST.match(bare, place)) is not None:
            place = found.end()
            if place < len(bare) and not bare.startswith(grammar.DOTS, place):
                return self._subtest(bare, found.start(), line)
            self._begins()
            if place == len(bare):
                self._first = (found[0], line)
                return True
            place += len(grammar.DOTS)
            status = grammar.STATUS.fullmatch(bare, place)
            if status is not None:
                self._record(found[0], status["status"], line)
                return True
            self.current = found[0]
            if place == len(bare):
                self._start = line
                return True
            # Before 3.11 a test whose subtests fail gets no status: the next one stands in its line.
            if grammar.TEST.match(bare, place) is None:
                self._glued(bare[place:], line)
                return True
        status = grammar.STATUS.fullmatch(bare) if self._named else None
        if status is None or not (self.current or bare in _ALWAYS_OURS):
            return False
        self._record(self.current, status["status"], line)
        return True

    def _subtest(self, bare: bytes, place: int, line: Line) -> bool:
        """A failing or skipped subtest's line."""
        subtest = grammar.SUBTEST.fullmatch(bare, place)
        status = None if subtest is None else grammar.ended(bare)
        if subtest is None or status is None:
            return False
        marker = b" ... skipped " if status == b"skipped" else grammar.DOTS
        self._begins()
        self._record(bare[place : bare.rfind(marker)], status, line)
        return True

    def describes(self, bare: bytes) -> bool:
        """Whether a line can be the second of the description that has begun."""
        if self._first is None:
            return False
        return grammar.ended(bare) is not None or grammar.following_test(self._first[0], bare) > 0

    def _described(self, bare: bytes, line: Line) -> bool:
        """The second line of a description, with the status at its end."""
        if self._first is None:
            return False
        (description, first), self._first = self._first, None
        following = grammar.following_test(description, bare)
        if following:
            self._suppressed.add(Kind.STRUCTURE, first.number)
            return self._result(bare[following:], line)
        status = grammar.ended(bare)
        if status is not None:
            self._start = first
            self._record(description, status, line)
            return True
        docstring, dots, rest = bare.rpartition(grammar.DOTS)
        if not dots or not docstring:
            self._unknown(first)
            return False
        self._suppressed.add(Kind.STRUCTURE, first.number)
        self.current = description
        self._named = True
        if not rest:
            self._start = line
            return True
        return self._glued(rest, line)

    def _begins(self) -> None:
        """Another test begins: the one before it has no status (its subtests failed, or text hides it)."""
        self._named = True
        self.current = b""
        if self._start is not None:
            self._suppressed.add(Kind.STRUCTURE, self._start.number)
            self._start = None

    def _record(self, description: bytes, status: bytes, line: Line) -> None:
        """A result."""
        lines = (line,) if self._start is None else (self._start, line)
        self._start = None
        self._named = True
        self.current = b""
        self.seen[status] += 1
        if status in _FAILING:
            self.told.append(Told(description, status, lines))
        elif status == b"expected failure":
            self.todo += (line.as_kind(Kind.TODO_TEST) for line in lines)
        else:
            kind = Kind.SUCCESSFUL_TEST if status == b"ok" else Kind.SKIPPED_TEST
            self.skipped_tests += kind is Kind.SKIPPED_TEST and grammar.is_test(description)
            if self.names < _PROOF:
                self._waiting += ((kind, line) for line in lines)
            else:
                self._suppressed.add_lines(kind, lines)

    # -- letters

    def _letters(self, bare: bytes, line: Line) -> bool:
        """Letters, alone or with something known behind them."""
        found = None if self._named else grammar.LETTERS.match(bare)
        if found is None:
            return False
        rest = bare[found.end() :]
        if rest and not self._aside(rest, line):
            return False
        if not rest:
            self._waiting.append((Kind.PROGRESS, line))
        for letter, status in grammar.STATUS_OF_LETTER:
            self.seen[status] += found[0].count(letter)
        return True

    # -- what others print

    def _glued(self, rest: bytes, line: Line) -> bool:
        """Text behind the dots of a test that has begun."""
        return self._aside(rest, line) or self._unknown(line)

    def _aside(self, text: bytes, line: Line) -> bool:
        """A strict marker, a warning of Python's, or the first line of a process that breaks off."""
        kind = marker_kind(text)
        if runtime_warnings.PYTHON.fullmatch(text):
            kind = Kind.ABNORMAL_WARNING
            self._warned = True
        if kind is not None:
            self.marked[kind].append(line.as_kind(kind))
            return True
        if text == grammar.TRACEBACK or text.startswith(grammar.FATAL):
            self._broken = [line]
            return True
        return False

    def knows(self, bare: bytes) -> bool:
        """Whether a line that stands before the dialect's opening may be letters, or Python's warning behind them."""
        letters = grammar.LETTERS.match(bare)
        if letters is None:
            return self._warned and runtime_warnings.PYTHON_SOURCE.fullmatch(bare) is not None
        rest = bare[letters.end() :]
        return not rest or marker_kind(rest) is not None or runtime_warnings.PYTHON.fullmatch(rest) is not None

    def mirrors(self, bare: bytes, line: Line) -> bool:
        """Whether a line before the dialect's opening may be what -b prints beside letters; its empty line is gone."""
        if grammar.LETTERS.fullmatch(bare):
            self._mirroring = False
        elif bare in grammar.MIRRORS:
            self._mirroring = True
        if self._mirroring:
            self.mirrored.append(line)
        return self._mirroring

    def warning(self, bare: bytes, line: Line) -> bool:
        """A warning that Python prints when the report is over."""
        warned, self._warned = self._warned, False
        if runtime_warnings.PYTHON.fullmatch(bare):
            self._warned = True
        elif not warned or not runtime_warnings.PYTHON_SOURCE.fullmatch(bare):
            return False
        self.marked[Kind.ABNORMAL_WARNING].append(line.as_kind(Kind.ABNORMAL_WARNING))
        return True

    def _unknown(self, line: Line) -> bool:
        self.unclassified.append(line)
        self.noisy = True
        return False

    def _breaks_on(self, bare: bytes, line: Line) -> bool:
        """Whether a line still belongs to the process' last words; a result shows that they were not its last."""
        broken = self._broken
        if broken is None:
            return False
        goes_on = grammar.ended(bare) is not None and grammar.TEST.match(bare)
        if not goes_on and not (not self._named and grammar.LETTERS.fullmatch(bare)):
            broken.append(line)
            return True
        self.resume()
        return False

    def resume(self) -> None:
        """The report goes on: what looked like the process' last words was printed by a test."""
        if self._broken is not None:
            self.unclassified += self._broken
            self.noisy = True
            self._broken = None

    def void(self) -> None:
        """There was no report: whatever was taken for a result is text."""
        self.seen.clear()
        self.unclassified += (line for told in self.told for line in told.lines)
        self.unclassified += (line for _, line in self._waiting)
        self.unclassified += self.todo
        self.unclassified = [line.as_kind(Kind.UNCLASSIFIED) for line in self.unclassified]
        self.told, self.todo, self._waiting = [], [], []

    def last_words(self) -> Failure | None:
        """The failure that the process' last words amount to, if it has spoken any."""
        broken, self._broken = self._broken, None
        if broken is None:
            return None
        texts = [line.raw.strip() for line in broken]
        said = next((text for text in reversed(texts) if text), b"")
        if said == grammar.INTERRUPT or len(broken) > _MOST_BROKEN_LINES:
            # Somebody stopped the run: nothing has failed by that.
            self.unclassified += broken
            return None
        frames = [found for line in broken if (found := _FAULT_FRAME.match(line.raw)) is not None]
        place = next((b"%b:%b in %b" % found.groups() for found in frames if not _PYTHONS_OWN.match(found[1])), b"")
        fatal = texts[0].partition(grammar.FATAL)
        headline = fatal[1] + fatal[2] if fatal[1] else said
        name = b" > ".join(part for part in (self.current, place, headline) if part)
        header, *rest = broken
        details = tuple(line.as_kind(classify_detail(line.raw)) for line in rest)
        return Failure(decoded(name), header.as_kind(Kind.PROCESS_FAILURE), details)

    def end(self) -> None:
        """Nothing more comes."""
        self.resume()
        for kind, line in self._waiting:
            self._suppressed.add(kind, line.number)
        self._waiting.clear()
        if self._first is not None:
            self._unknown(self._first[1])
            self._first = None
        if self._start is not None:
            self._suppressed.add(Kind.STRUCTURE, self._start.number)
            self._start = None


_FAULT_FRAME = re.compile(rb"  File \"([^\"\n]++)\", line ([0-9]++),? in ([^\n\r]++)")
_PYTHONS_OWN = re.compile(rb"[^\n]*?/site-packages/|[^\n]*?/lib/python|<")
