"""unittest's text runner (`python -m unittest`), on standard error, with letters, -v, -q, -b, --locals, --durations.

The room's rules:

- First the results, then a block for every failure, then the closing lines: a thin ruler, `Ran N tests in Ss`, an empty
  line, the verdict. All four lines together are the closing lines, and only if the report does not go on behind them.
- A block is a ruler, a header that names flavour and test, perhaps a docstring, a thin ruler, and the body. A ruler
  without such a header is text; so is everything else in a body, whatever it looks like.
- Which blocks are the runner's is settled in `unittest_account` when the counts are known.
- Letters alone prove no dialect, as many runners print them. The machine opens at a line that does, and takes the
  letters before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from context_firewall.transcript.dialects import unittest_grammar as grammar
from context_firewall.transcript.dialects.unittest_account import (
    Block,
    Tallied,
    agrees,
    settled,
)
from context_firewall.transcript.dialects.unittest_grammar import Counts
from context_firewall.transcript.dialects.unittest_results import Results
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect

_RAN, _EMPTY, _VERDICT = 1, 2, 3
"""Which of the closing lines comes next, by how many have been read."""


@dataclass(slots=True)
class _Closing:
    """Closing lines that wait for what follows them."""

    counts: Counts
    lines: list[Line]
    agrees: bool
    after: list[Line] = field(default_factory=list)


class Unittest(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._results = Results(self._suppressed)
        self._blocks: list[Block] = []
        self._tallied = Tallied()
        self._ruler: Line | None = None
        """A ruler that waits for a header."""
        self._tail: list[Line] = []
        """The closing lines as far as they have been read."""
        self._table: list[Line] = []
        """The lines of --durations."""
        self._closing: _Closing | None = None
        self._cut = False

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of passed tests with -v."""
        if self._blocks or self._ruler or self._tail or self._table or self._closing:
            return None
        return self._results.lane()

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of passed tests."""
        return self._results.run(block, start, stop)

    def cut(self) -> None:
        """The last line has no newline: a verdict may go on with counts."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """The closing lines agree with what was read, and nothing of the report has followed them."""
        return self._closing is not None and self._closing.agrees

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take letters, rulers and descriptions of two lines that stand before the line that proves the dialect."""
        ruler = bare in (grammar.RULER, grammar.THIN_RULER)
        known = ruler or grammar.TEST.fullmatch(bare) or self._results.describes(bare)
        if not known and line.kind is Kind.UNCLASSIFIED and self._results.mirrors(bare, line):
            return True
        if not known and not self._results.knows(bare):
            # A strict marker hides no letters.
            self._results.noisy |= line.kind is Kind.UNCLASSIFIED
            return False
        self.line(bare, line.raw, line.number)
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        closing = self._closing
        if closing is not None:
            if not self._resumes(closing, bare):
                return self._behind(closing, bare, line)
            self._withdraw(closing)
        return self._read(bare, line)

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        for held in self._unfinished():
            self._text(held)
        closing = self._closing
        counts = None if closing is None else closing.counts
        words = self._results.last_words() if closing is None else None
        self._results.resume()
        void = closing is None and not self._blocks and not self._results.proven and words is None
        if void:
            self._results.void()
        verdict = closing.lines[-1] if closing is not None else None
        account = settled(self._results, self._blocks, counts, verdict, self._suppressed, self._replay)
        self._results.end()
        doubts = set() if void else set(account.doubts)
        failures = account.failures
        if words is not None:
            failures.append(words)
            doubts.add(Doubt.FAILURE_OUTSIDE_TESTS)
        unclassified = [*account.unclassified, *self._results.unclassified]
        marked = self._results.marked
        nothing = not account.tally.total and not failures and not void
        if closing is not None:
            kept = failures[-1].header if failures else None
            verdict = closing.lines[-1]
            if nothing and exit_code == grammar.NO_TESTS_EXIT and bared(verdict.raw) == grammar.NO_TESTS:
                kept = verdict.as_kind(Kind.FATAL_ERROR)
                marked[Kind.FATAL_ERROR].append(kept)
                nothing = False
            self._account_closing(closing, kept)
            unclassified += (line for line in closing.after if bared(line.raw).strip())
            self._suppressed.add_lines(Kind.BLANK, (line for line in closing.after if not bared(line.raw).strip()))
            if self._cut_short(closing):
                doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        if nothing:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        standing = 0
        if counts is not None:
            standing = 2 if Doubt.AGGREGATE_CONTRADICTION in doubts else 3
        return Reading(
            tally=account.tally,
            failures=tuple(failures),
            fatal_errors=tuple(marked[Kind.FATAL_ERROR]),
            timeouts=tuple(marked[Kind.TIMEOUT]),
            warnings=tuple(marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(sorted(unclassified, key=lambda line: line.number)),
            todo=tuple(self._results.todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=counts is not None or bool(self._results.seen) or bool(failures),
            standing=standing,
            current_test=self._results.current.decode("utf-8", "replace") if counts is None else "",
        )

    # -- the closing lines

    def _closes(self, line: Line) -> bool:
        """Whether the closing lines are complete with this one."""
        _, ran, _, verdict = self._tail
        counts = grammar.counts(bared(ran.raw), bared(verdict.raw))
        if counts is None:
            return False
        self._closing = _Closing(counts, self._tail, agrees(self._results, self._tallied, counts))
        self._tail = []
        return True

    def _resumes(self, closing: _Closing, bare: bytes) -> bool:
        """Whether a line shows that the report goes on behind closing lines: they were text.

        In a message an empty line follows, as the runner ends a body with one; behind its own verdict it says nothing.
        """
        ruled = bare in (grammar.RULER, grammar.THIN_RULER)
        if closing.agrees:
            return ruled and bool(self._blocks) and bool(closing.after)
        return ruled or not self._blocks

    def _behind(self, closing: _Closing, bare: bytes, line: Line) -> bool:
        """A line behind the closing lines."""
        if not bare.strip():
            closing.after.append(line)
            return True
        if self._results.warning(bare, line):
            return True
        if not closing.agrees:
            closing.after.append(line)
        return False

    def _withdraw(self, closing: _Closing) -> None:
        """The report goes on: what looked like its closing lines is text of a message or of a test."""
        self._closing = None
        table, self._table = self._table, []
        for held in (*table, *closing.lines, *closing.after):
            self._text(held)

    def _cut_short(self, closing: _Closing) -> bool:
        """Whether the verdict may have lost the counts at its end."""
        return self._cut and not closing.after and not self._results.seen.total()

    def _account_closing(self, closing: _Closing, kept: Line | None) -> None:
        thin, ran, empty, verdict = closing.lines
        self._suppressed.add(Kind.STRUCTURE, thin.number)
        self._suppressed.add(Kind.AGGREGATE_SOURCE, ran.number)
        self._suppressed.add(Kind.BLANK, empty.number)
        if kept is None or kept.number != verdict.number:
            self._suppressed.add(Kind.AGGREGATE_SOURCE, verdict.number)
        for held in self._table:
            self._suppressed.add(self._in_table(bared(held.raw)) or Kind.BLANK, held.number)

    # -- every other line

    def _read(self, bare: bytes, line: Line) -> bool:
        """A line of the report, or text."""
        if self._ruler is not None:
            header = grammar.HEADER.fullmatch(bare)
            if header is not None:
                self._begin(header, line)
                return True
            self._text(self._ruler)
            self._ruler = None
        if self._tail and self._ends(bare, line):
            return True
        if self._table and self._tabled(bare, line):
            return True
        if bare == grammar.RULER:
            self._ruler = line
            return True
        if bare == grammar.THIN_RULER and not self._awaits_thin_ruler():
            self._tail = [line]
            return True
        if bare == grammar.DURATIONS:
            self._table = [line]
            return True
        return self._place(bare, line)

    def _ends(self, bare: bytes, line: Line) -> bool:
        """Whether a line is the next of the closing lines; if not, those before it are text."""
        read = len(self._tail)
        if line.number == self._tail[-1].number + 1:
            self._tail.append(line)
            if read == _RAN and grammar.RAN.fullmatch(bare):
                return True
            if read == _EMPTY and not bare:
                return True
            if read == _VERDICT and self._closes(line):
                return True
            self._tail.pop()
        held, self._tail = self._tail, []
        for one in held:
            self._text(one)
        return False

    def _in_table(self, bare: bytes) -> Kind | None:
        if bare in (grammar.DURATIONS, grammar.THIN_RULER):
            return Kind.STRUCTURE
        if grammar.DURATION.fullmatch(bare):
            return Kind.DURATION_SOURCE
        if grammar.DURATIONS_HIDDEN.fullmatch(bare):
            return Kind.INFORMATIONAL
        return None if bare.strip() else Kind.BLANK

    def _tabled(self, bare: bytes, line: Line) -> bool:
        """Whether a line belongs to the table of durations; one that does not shows that it was text."""
        kind = self._in_table(bare)
        if kind is None or (kind is Kind.STRUCTURE) != (len(self._table) == 1):
            if bare == grammar.THIN_RULER:
                return False
            held, self._table = self._table, []
            for one in held:
                self._text(one)
            return False
        self._table.append(line)
        return True

    def _begin(self, header: re.Match[bytes], line: Line) -> None:
        """A block begins under the ruler that was read, or an unexpected success under another."""
        rulers = [] if self._ruler is None else [self._ruler]
        self._ruler = None
        if self._awaits_thin_ruler():
            self._dissolve()
        block = Block(header["flavour"], header["description"], line, rulers)
        self._blocks.append(block)
        self._tallied.add(block)

    def _awaits_thin_ruler(self) -> bool:
        if not self._blocks or self._blocks[-1].open:
            return False
        return self._blocks[-1].flavour != grammar.UNEXPECTED

    def _text(self, line: Line) -> None:
        self._place(bared(line.raw), line)

    def _place(self, bare: bytes, line: Line, *, begins: bool = True) -> bool:
        """Text: of the open block, or among the results. `begins`: it may begin a block."""
        if not self._blocks:
            return self._results.take(bare, line)
        block = self._blocks[-1]
        if block.open:
            block.body.append(line)
            return True
        if block.flavour == grammar.UNEXPECTED:
            header = grammar.HEADER.fullmatch(bare) if begins else None
            if header is not None and header["flavour"] == grammar.UNEXPECTED:
                self._begin(header, line)
                return True
        elif bare == grammar.THIN_RULER:
            block.rulers.append(line)
            block.open = True
            return True
        if len(block.more) + 1 < grammar.MOST_DESCRIPTION_LINES:
            block.more.append(line)
            return True
        # No description is as long.
        self._dissolve()
        return self._place(bare, line)

    def _dissolve(self) -> None:
        """There was no block: what looked like one is text of the one before, or of a test."""
        block = self._blocks.pop()
        self._tallied.add(block, -1)
        for held in block.lines():
            self._place(bared(held.raw), held, begins=False)

    def _unfinished(self) -> list[Line]:
        """Lines that waited for others when the stream ended."""
        held = [*self._table, *self._tail] if self._closing is None else [*self._tail]
        if self._closing is None:
            self._table = []
        self._tail = []
        if self._ruler is not None:
            held.append(self._ruler)
            self._ruler = None
        return sorted(held, key=lambda line: line.number)

    def _replay(self, lines: Sequence[Line]) -> None:
        """Read lines once more, as lines among the results."""
        for held in lines:
            self._results.take(bared(held.raw), held)


DIALECT = Dialect(
    name="unittest",
    title="Python's unittest",
    checked="Python 3.8, 3.11, 3.12, 3.13",
    streams=frozenset({"stdout", "stderr"}),
    opening=grammar.OPENING,
    begin=Unittest,
    # Where both streams are kept apart, standard output is the program's. People merge them, though.
    program_streams=frozenset({"stdout"}),
)
