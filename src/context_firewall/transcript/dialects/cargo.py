"""`cargo test`: the reports of its test binaries, and what cargo and the compiler print around them.

Cargo and the compiler print on standard error, the binaries' harness on standard output; people merge the two. Each
binary's report is a segment (`cargo_block`), cargo's text stands around them (`cargo_build`). The room's rules:

- A report that begins inside another one is a test's print, unless the first one never closes and the second does.
- Cargo names each binary that it starts: as many reports must have closed. Where the streams are apart, the reader
  compares them.
- A passing run has no last word: only its exit status says that no binary is missing.
"""

import re

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import cargo_grammar as grammar
from context_firewall.transcript.dialects.cargo_block import Block, Held, Ledger
from context_firewall.transcript.dialects.cargo_build import Build
from context_firewall.transcript.dialects.cargo_streams import announced_more, settle
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Segments
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.machine import Dialect

# How many results a report may have read more than the one around it promises, before it is taken for another report.
JOURNAL = 4096


class Cargo:
    """Reads one run on one stream."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._ledger = Ledger(Account())
        self._build = Build(self._ledger)
        self._block: Block | None = None
        self._outer: Block | None = None
        """The report inside which another one seems to have begun."""
        self._journal: list[Held] = []
        """What has come since then."""
        self._between: list[Block] = []
        """Reports that have begun since then, too, before the one that is read."""
        self._broken: list[Held] = []
        """Cargo's word that the binary failed, while its report is open, and the blank line after it."""
        self._adopted: list[Held] = []
        self._begun = False
        self._cut = False
        self._current = b""
        self._started = False
        """Whether cargo has just started a binary."""
        self._handed_over = False

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passing tests."""
        ready = self._block is not None and self._outer is None and not self._broken and self._block.in_step
        return grammar.GREEN if ready else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Take a run of passing tests."""
        assert self._block is not None  # noqa: S101 - for the type checker; a lane was offered
        lines = block.count(b"\n", start, stop)
        ignored = sum(block.count(mark, start, stop) for mark in grammar.GREEN_IGNORED)
        self._block.green(lines - ignored, ignored)
        return lines

    def adopt(self, bare: bytes, line: Line) -> bool:
        """What stands before the first line that proves the dialect may be its beginning without its head."""
        self._adopted.append((bare, line))
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """Take a line, unless the run is over and the line opens nothing of it."""
        held = (bare, Line(self._stream, number, Kind.UNCLASSIFIED, raw))
        if not self._begun:
            self._begun = True
            self._take_adopted(bare)
        if self._broken and self._goes_on_broken(held):
            return True
        if self._block is None and grammar.NEXTEST.match(bare):
            # The build is over, and another harness takes the tests.
            self._handed_over = True
            return False
        return self._take(held)

    def _take_adopted(self, opening: bytes) -> None:
        """Lines before the opening: of a report whose first line is missing, of the compiler, or of nobody."""
        adopted, self._adopted = self._adopted, []
        if grammar.SUMMARY.match(opening):
            self._block = Block(None, None, traced=self._traced)
        for text, line in adopted:
            if self._block is not None:
                self._block.take(text, line)
            elif not self._build.take(text, line):
                self._ledger.keep([(text, line)])
        if self._block is not None:
            self._block.skip_blanks()

    def _take(self, held: Held) -> bool:
        text, line = held
        block = self._block
        running = grammar.RUNNING.fullmatch(text)
        started, self._started = self._started, self._build.started and not text
        if running is not None and (self._stream == "stdout" or block is not None or started):
            self._report(int(running["tests"]), held)
            return True
        if block is None:
            return self._outside(held)
        told = grammar.TOLD.search(text) if b"error: " in text else None
        at = None if told is None or told.end() != len(text) or block.ends else told.start()
        if at == 0 or (at is not None and text[:at].endswith(grammar.RESULT_DOTS)):
            self._broken = [held]
            return True
        if block.take(text, line):
            self._within(held)
            return True
        self._settle_block()
        return self._outside(held)

    def _outside(self, held: Held) -> bool:
        text, line = held
        if self._build.take(text, line):
            return True
        if not self.complete:
            self._ledger.keep([held])
        return False

    # -- reports

    def _report(self, tests: int, held: Held) -> None:
        """A report begins, or a test prints that one does."""
        block = self._block
        fresh = Block(tests, held[1], traced=self._traced)
        if block is not None and block.closes:
            self._settle_block()
        elif block is not None and self._outer is None:
            self._outer = block
            self._journal = [held]
        elif block is not None:
            self._journal.append(held)
            self._between.append(block)
        self._block = fresh

    def _within(self, held: Held) -> None:
        """Inside a report that may be a test's print: whose is the summary?"""
        outer, block = self._outer, self._block
        if outer is None or block is None:
            return
        self._journal.append(held)
        if block.summary is None or block.summary.total != outer.expected:
            if outer.expected is not None and block.read > outer.expected + JOURNAL:
                self._forget_outer()
            return
        if block.fits:
            return
        self._absorb()

    def _absorb(self) -> None:
        """The report inside was a print."""
        outer, journal = self._outer, self._journal
        assert outer is not None  # noqa: S101 - for the type checker; the caller has asked
        self._block, self._outer, self._between, self._journal = outer, None, [], []
        for held in journal:
            if self._block is None or not self._block.take(*held):
                self._settle_block()
                self._take(held)

    def _forget_outer(self) -> None:
        """The first report broke off, and another one began."""
        if self._outer is not None:
            for block in (self._outer, *self._between):
                block.settle(self._ledger)
            self._outer, self._between, self._journal = None, [], []

    def _settle_block(self) -> None:
        self._forget_outer()
        if self._block is not None:
            self._current = self._block.settle(self._ledger)
            self._block = None

    def _goes_on_broken(self, held: Held) -> bool:
        """After cargo's word that the binary failed although its report is open: it broke off if the cause follows."""
        text, _ = held
        if not text and len(self._broken) == 1:
            self._broken.append(held)
            return True
        lines, self._broken = self._broken, []
        if text != grammar.CAUSED or len(lines) == 1:
            self._give_back(lines)
            return False
        (first, line), *blanks = lines
        told = grammar.TOLD.search(first)
        assert told is not None and self._block is not None  # noqa: S101, PT018 - for the type checker
        test = b""
        if told.start():
            name = first[: told.start()].removeprefix(grammar.RESULT_BEGINS).removesuffix(grammar.RESULT_DOTS)
            test = grammar.plain(name)
        name, words = self._block.last_words()
        self._settle_block()
        self._build.tell(told["target"], test or name, [*words, (first, line)])
        for other, blank in (*blanks, held):
            self._build.take(other, blank)
        return True

    def _give_back(self, lines: list[Held]) -> None:
        """A print after all."""
        for text, line in lines:
            if self._block is not None and self._block.take(text, line):
                self._within((text, line))
            else:
                self._settle_block()
                self._outside((text, line))

    # -- the end

    @property
    def _traced(self) -> bool:
        return self._ledger.suppressed.fates is not None

    def trace(self) -> None:
        """Remember which lines are suppressed."""
        self._ledger.suppressed.trace()

    def cut(self) -> None:
        """The last line has no newline; cargo and the harness end every line with one."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """Between reports, after at least one, or where another harness takes over."""
        if self._handed_over:
            return True
        block = self._block
        if self._broken or self._outer is not None or not self._build.idle:
            return False
        return block.closes if block is not None else bool(self._ledger.closed)

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        ledger, build = self._ledger, self._build
        lines, self._broken = self._broken, []
        self._give_back(lines)
        outer, block = self._outer, self._block
        if outer is not None and block is not None and not block.closes and outer.expected is not None:
            self._absorb()
        self._settle_block()
        build.close(exit_code)
        results = bool(ledger.closed or ledger.tally.total)
        doubts = ledger.doubts
        announced: Segments | None = Segments(build.ran, len(build.told))
        closed: Segments | None = Segments(ledger.closed, ledger.failing)
        if results and (build.ran or build.told):
            if announced_more(announced, closed):
                doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            announced = closed = None
        elif results:
            announced = None
        else:
            closed = None
        accounts: tuple[Failure, ...] = ()
        if results:
            ledger.keep_accounts()
        else:
            accounts = tuple(ledger.accounts)
        if self._cut:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if ledger.unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        standing = 0
        if build.uncompiled or (ledger.closed and Doubt.COMPLETENESS_UNCONFIRMED not in doubts):
            standing = 2 if doubts else 3
        return Reading(
            tally=ledger.tally,
            failures=tuple(sorted(ledger.failures, key=_place)),
            fatal_errors=tuple(ledger.marked[Kind.FATAL_ERROR]),
            timeouts=tuple(ledger.marked[Kind.TIMEOUT]),
            warnings=tuple(ledger.marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(sorted(ledger.unclassified, key=_number)),
            suppressed=ledger.suppressed.totals(),
            fates=ledger.suppressed.fates,
            doubts=frozenset(doubts),
            has_results=results,
            standing=standing,
            current_test=decoded(self._current),
            accounts=accounts,
            announced=announced,
            closed=closed,
        )


def _place(failure: Failure) -> int:
    return min((line.number for line in failure.lines()), default=0)


def _number(line: Line) -> int:
    return line.number


DIALECT = Dialect(
    name="cargo",
    title="cargo test",
    checked="cargo 1.95",
    streams=frozenset({"stdout", "stderr"}),
    opening=grammar.OPENS,
    begin=Cargo,
    settle=settle,
)
