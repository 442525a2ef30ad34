"""mocha's reporters for people that end with totals: spec, list, dot, landing, progress, min.

The room's rules:

- First the results, as a tree, a line each, signs, or not at all; then the totals behind an empty line; then a numbered
  account of each failure, and three empty lines. Without failures one empty line closes the totals.
- In a tree a title is a suite's only if what it holds follows deeper; between two suites of the top stands an empty
  line. What fits nowhere is the program's.
- Failures are numbered from 1, in the results as in the accounts. A result with another number is text.
- Totals that the results deny, and that more results follow, were printed by a test.
- A tick alone proves no dialect. Until a test in a suite, one that was announced, totals or many ticks have followed,
  what was read is held.
- Where no totals come, numbers may be a program's list. What tells them apart is how the tree begins, and how failures
  stand among ticks.
- What was read is settled in `mocha_account`.
"""

import re
from enum import Enum, auto
from typing import NamedTuple

from context_firewall.transcript.dialects import mocha_grammar as grammar
from context_firewall.transcript.dialects.mocha_account import Closing, Results, Told, settled
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind


class _Part(Enum):
    """Where in a report the machine is."""

    RESULTS = auto()
    TOTALS = auto()
    """Behind the first of the totals."""
    ACCOUNTS = auto()
    CLOSED = auto()


class _Title(NamedTuple):
    depth: int
    title: bytes
    line: Line
    gap: int
    """So many lines above it are empty, or nobody's."""


# How many ticks prove that the report is mocha's.
MANY = 64


class Mocha(Bookkeeper):
    """Reads one report."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._part = _Part.RESULTS
        self._suites: list[bytes] = []
        """Titles of the suites that are open, the outermost first."""
        self._waiting: list[_Title] = []
        """Titles that are suites' if a result follows inside the last of them."""
        self._topped = False
        """A suite of the top has been read."""
        self._last = 0
        """The number of the last line that was not blank."""
        self._runway = -1
        """The last line of a runway."""
        self._results = Results()
        self._closing: Closing | None = None
        self._held: list[Line] | None = []
        """Ticks, as long as nothing proves the dialect."""
        self._trail = grammar.Trail()
        self._begun: bool | None = None
        """The first result, or the titles around it, stand where a tree begins, or one was announced. None before."""
        self._beside = 0
        """The last line above the opening that is another's."""
        self._current = b""
        self._cut = False
        self._unclassified: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passed tests of one suite."""
        if self._part is not _Part.RESULTS or self._held is not None or self._waiting:
            return None
        return grammar.LANE

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed tests, if they are as deep as a test may be."""
        end = start
        while block.startswith(grammar.INDENT, end):
            end += len(grammar.INDENT)
        depth = (end - start) // len(grammar.INDENT)
        if depth > len(self._suites) + 1:
            return 0
        del self._suites[depth - 1 :]
        lines = block.count(b"\n", start, stop)
        self._results.passed += lines
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, lines)
        self._last = number + lines - 1
        self._trail.add_run(block, start, lines, number)
        return lines

    def cut(self) -> None:
        """The last line has no newline; a report ends with empty lines."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """The totals count exactly the results, and the report is closed. Totals alone may be text of a test."""
        closing = self._closing
        return self._part is _Part.CLOSED and closing is not None and self._counted(closing)

    def _counted(self, closing: Closing) -> bool:
        return self._results.total > 0 and closing.counts(self._results)

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take results and titles that stand before the line that proves the dialect."""
        text = bare.lstrip(b"\r")
        known = grammar.result(text) or grammar.SIGNS.fullmatch(text) or grammar.SUITE.fullmatch(text)
        if not (known or grammar.BAR.fullmatch(text) or grammar.RUNWAY.fullmatch(text)):
            self._results.noisy |= line.kind is Kind.UNCLASSIFIED
            self._beside = line.number
            return False
        self.line(bare, line.raw, line.number)
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line: what its part makes of it."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        text = bare.lstrip(b"\r")
        if not text.strip():
            self._blank(line)
            return True
        self._step_to(line)
        known = _READERS[self._part](self, text, line)
        self._last = number
        return known

    def _step_to(self, line: Line) -> None:
        """No empty line stands between a title and what it holds."""
        if line.number != self._last + 1:
            self._give_up(0)

    def _blank(self, line: Line) -> None:
        """An empty line: behind the totals it may end the report."""
        closing = self._closing
        if closing is None or self._part is _Part.CLOSED:
            self._suppressed.add(Kind.BLANK, line.number)
            return
        closing.take(line)
        self._part = _Part.CLOSED if closing.closed else _Part.ACCOUNTS

    # -- results

    def _before_totals(self, text: bytes, line: Line) -> bool:
        """A line among the results, or the first of the totals."""
        return self._totals_begin(text, line) or self._result(text, line)

    def _result(self, text: bytes, line: Line) -> bool:
        """A line among the results."""
        found = grammar.result(text)
        if found is not None:
            return self._ended(found, line)
        if grammar.SIGNS.fullmatch(text):
            self._results.add_signs(text)
            self._suppressed.add(Kind.PROGRESS, line.number)
            return True
        if self._drawn(text, line):
            self._suppressed.add(Kind.PROGRESS, line.number)
            return True
        if self._is_suite(text, line):
            return True
        announced = grammar.ANNOUNCED.fullmatch(text) if self._cut else None
        if announced is not None:
            self._current = announced["title"]
            self._suppressed.add(Kind.PROGRESS, line.number)
            return True
        return self._text(text, line)

    def _drawn(self, text: bytes, line: Line) -> bool:
        """Whether a line only shows how far the run is."""
        runway = grammar.RUNWAY.fullmatch(text) is not None
        beside = self._runway == line.number - 1 or grammar.UP in line.raw
        self._runway = line.number if runway else self._runway
        return runway or grammar.BAR.fullmatch(text) is not None or (beside and bool(grammar.BESIDE.fullmatch(text)))

    def _totals_begin(self, text: bytes, line: Line) -> bool:
        passing = grammar.PASSING.fullmatch(text)
        if passing is None or line.number == self._last + 1:
            return False
        self._prove()
        self._part = _Part.TOTALS
        self._closing = Closing([line], passed=int(passing["count"]))
        return True

    def _gap(self, line: Line) -> int:
        return line.number - 1 - max(self._last, self._beside)

    def _ended(self, found: grammar.Result, line: Line) -> bool:
        """A result, unless it stands where mocha would not print it."""
        self._give_up(found.depth)
        gap = self._waiting[0].gap if self._waiting else self._gap(line)
        self._open_suites()
        if found.depth > len(self._suites) + 1:
            return self._text(bared(line.raw), line)
        if found.number and found.number != len(self._results.told) + 1:
            return self._text(bared(line.raw), line)
        del self._suites[found.depth - 1 :]
        if found.passed:
            self._passed(line)
        elif found.number:
            self._results.told.append(Told(b" ".join((*self._suites, found.title)), line))
        else:
            self._results.pending += 1
            self._results.listed.append(line)
        if self._begun is None:
            # Behind a gap that is larger another report has ended, perhaps with empty lines.
            self._begun = grammar.is_start(gap) or gap > grammar.START + grammar.NPM_LINES
        self._begun |= found.announced
        self._trail.add(found, line.number)
        if found.depth > 1 or found.announced:
            self._prove()
        return True

    def _passed(self, line: Line) -> None:
        self._results.passed += 1
        if self._held is None:
            self._suppressed.add(Kind.SUCCESSFUL_TEST, line.number)
            return
        self._held.append(line)
        if len(self._held) >= MANY:
            self._prove()

    def _prove(self) -> None:
        if self._held is not None:
            self._suppressed.add_lines(Kind.SUCCESSFUL_TEST, self._held)
            self._held = None

    # -- suites

    def _is_suite(self, text: bytes, line: Line) -> bool:
        """Whether a line may be the title of a suite; it is one if a result follows inside."""
        found = grammar.SUITE.fullmatch(text)
        if found is None:
            return False
        depth = len(found["indent"]) // len(grammar.INDENT)
        self._give_up(depth)
        deepest = self._waiting[-1].depth if self._waiting else len(self._suites)
        glued = depth == 1 and self._topped and line.number == self._last + 1
        if depth > min(deepest + 1, grammar.DEEPEST) or glued:
            return False
        self._waiting.append(_Title(depth, found["title"], line, self._gap(line)))
        return True

    def _open_suites(self) -> None:
        """The titles around a result are suites'."""
        for title in self._waiting:
            self._suites[title.depth - 1 :] = [title.title]
            self._topped = True
            self._suppressed.add(Kind.STRUCTURE, title.line.number)
        self._waiting.clear()

    def _give_up(self, depth: int) -> None:
        """Titles that deep or deeper hold nothing: they are text. 0 is for all of them."""
        while self._waiting and self._waiting[-1].depth >= depth:
            self._text(b"", self._waiting.pop().line)

    # -- totals and accounts

    def _total(self, text: bytes, line: Line) -> bool:
        """A line right behind the first of the totals: another of them, or they were text."""
        closing = self._closing
        if closing is None:
            return False
        pending, failing = grammar.PENDING.fullmatch(text), grammar.FAILING.fullmatch(text)
        if pending is not None and len(closing.lines) == 1:
            closing.pending = int(pending["count"])
        elif failing is not None and not closing.failed:
            closing.failed = int(failing["count"])
        else:
            self._withdraw(closing)
            return self._before_totals(text, line)
        closing.lines.append(line)
        return True

    def _account(self, text: bytes, line: Line) -> bool:
        """A line of an account; behind totals that the results deny, other totals show that those were text."""
        closing = self._closing
        if closing is None:
            return False
        if grammar.PASSING.fullmatch(text) and line.number != self._last + 1:
            if self._results.total and not closing.counts(self._results):
                self._withdraw(closing)
                return self._before_totals(text, line)
            closing.disputed = True
        closing.take(line)
        return True

    def _behind(self, text: bytes, line: Line) -> bool:
        """A line behind the report. Where results deny the totals and go on, the totals were text of a test."""
        closing = self._closing
        if closing is None or self._counted(closing):
            return False
        totals = grammar.PASSING.fullmatch(text) is not None and line.number != self._last + 1
        if totals or grammar.result(text) is not None or grammar.SIGNS.fullmatch(text):
            self._withdraw(closing)
            return self._before_totals(text, line)
        return self._text(text, line)

    def _withdraw(self, closing: Closing) -> None:
        """What looked like totals, and accounts behind them, was printed by a test; results may stand among it.

        Totals may not: each line is read once more and no more often.
        """
        self._closing, self._part = None, _Part.RESULTS
        for line in closing.lines:
            self._text(b"", line)
        self._last = closing.lines[-1].number
        for line in closing.listed:
            text = bared(line.raw).lstrip(b"\r")
            if not text.strip():
                self._suppressed.add(Kind.BLANK, line.number)
                continue
            self._step_to(line)
            self._result(text, line)
            self._last = line.number

    # -- the rest

    def _text(self, text: bytes, line: Line) -> bool:
        """A line that nothing in the report accounts for."""
        kind = marker_kind(text)
        if kind is not None:
            self._marked[kind].append(line.as_kind(kind))
            return True
        self._unclassified.append(line)
        self._results.noisy = True
        return False

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        self._give_up(0)
        closing, proved = self._closing, self._trail.proves(ended=True)
        if proved:
            self._prove()
        void = self._held is not None
        if closing is None and not (proved or (self._begun and not void)):
            self._unclassified += (told.line for told in self._results.told)
            self._results.told.clear()
        if void:
            self._unclassified += (*(self._held or ()), *self._results.listed)
            self._results = Results()
        account = settled(self._results, closing, self._unclassified, self._suppressed)
        doubts = set() if void else account.doubts
        if closing is not None and not account.tally.total:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        if account.unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        standing = 0
        if closing is not None:
            standing = 3 if closing.closed and closing.admits(self._results) else 1
        return Reading(
            tally=account.tally,
            failures=tuple(account.failures),
            fatal_errors=tuple(self._marked[Kind.FATAL_ERROR]),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(sorted(account.unclassified, key=lambda line: line.number)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=not void,
            standing=standing,
            current_test=decoded(self._current),
        )


_READERS = {
    _Part.RESULTS: Mocha._before_totals,
    _Part.TOTALS: Mocha._total,
    _Part.ACCOUNTS: Mocha._account,
    _Part.CLOSED: Mocha._behind,
}

DIALECT = Dialect(
    name="mocha",
    title="mocha's spec, list, dot, landing, progress and min reporters",
    checked="mocha 8.4, 10.8, 11.8, 12.0",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=Mocha,
    below=grammar.begins_tree,
    placed=grammar.TREE_OPENING,
    # mocha itself speaks there only when it cannot run.
    program_streams=frozenset({"stderr"}),
)
