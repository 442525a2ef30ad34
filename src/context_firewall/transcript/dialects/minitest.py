"""minitest's reporters, with letters and with -v, on standard output.

The room's rules:

- The head opens the results; `Finished in …` below an empty line closes them; accounts in a numbered list follow, then
  the totals, which close the report if they agree with accounts and results. A message can hold any of these lines:
  such totals disagree, or something of the report follows them.
- What stands among the results and is none was printed by a test. With -v it stands between a test's name and its
  result.
- A second `Finished in …` before totals that agree: the first was printed, and its accounts stay visible.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from context_firewall.transcript.dialects import minitest_grammar as grammar
from context_firewall.transcript.dialects.minitest_grammar import Totals
from context_firewall.transcript.dialects.minitest_results import Results
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.numbered import Entry
from context_firewall.transcript.ruby import COVERAGE, settled_by


class Minitest(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._results = Results(self._suppressed)
        self._running = False
        self._finished: Line | None = None
        self._again: Line | None = None
        """A second such line that waits for what follows."""
        self._header: Line | None = None
        """A header that waits for the line that names the test."""
        self._accounts: list[tuple[bytes, Entry]] = []
        """Flavours and accounts, in their order."""
        self._doubtful = False
        """A header has a number that is not its turn."""
        self._strays: list[Line] = []
        """Lines of the report that fit nowhere."""
        self._aggregate: Line | None = None
        self._totals: Totals | None = None
        self._disputed: Totals | None = None
        """Totals that do not agree with what was read."""
        self._contested: list[Line] = []
        self._last = 0
        self._stopped = False
        self._broken_off = b""
        """The test that was running then."""

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of passed tests with -v."""
        return self._results.lane() if self._running and self._finished is None else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of passed tests."""
        count = block.count(b"\n", start, stop)
        self._results.run(count)
        self._last = number + count - 1
        return count

    def cut(self) -> None:
        """Nothing: totals that have lost their end are none."""

    @property
    def complete(self) -> bool:
        """The totals agree with all that was read."""
        return self._totals is not None

    @property
    def _stated(self) -> Totals | None:
        """The runner's own counts, whether or not they agree with what was read."""
        return self._totals or self._disputed

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if not bare.strip():
            self._blank(line)
            return True
        apart, self._last = number > self._last + 1, number
        if self.complete:
            if bare != grammar.SKIPS_HIDDEN and not COVERAGE.fullmatch(bare):
                return False
            self._suppressed.add(Kind.INFORMATIONAL, number)
            return True
        if apart and grammar.FINISHED.fullmatch(bare):
            self._hold(line)
            return True
        if self._again is not None:
            self._finish_again(bare, number)
        if self._finished is not None:
            return self._reported(bare, line, apart=apart)
        if not self._running:
            return self._head(bare, line)
        # Another run's head: this one has broken off before its end.
        self._stopped |= bare in (grammar.INTERRUPTED, grammar.RUNNING)
        return self._results.take(bare, line)

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        self._drop_header()
        self._release()
        current = decoded(self._results.current or self._broken_off)
        self._results.abandon()
        doubts: set[Doubt] = set()
        if self._disputed is not None:
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if self._stopped or self._stated is None:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if self._contested or self._doubtful:
            doubts.add(Doubt.CONTESTED_RESULTS)
        failures = self._failures(doubts)
        tally = self._tally(failures)
        if not tally.total and not failures:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        proven = not doubts and not self._strays
        unclassified = [*self._contested, *self._strays]
        unclassified += self._results.printed.settled(self._suppressed, proven=proven, failed=bool(failures))
        if proven:
            self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._results.outputs)
            self._suppressed.add_lines(Kind.RECAP, self._results.unsure)
        else:
            unclassified += (*self._results.outputs, *self._results.unsure)
        printed = self._results.printed
        return Reading(
            tally=tally,
            failures=tuple(failures),
            fatal_errors=printed.of_kind(Kind.FATAL_ERROR),
            timeouts=printed.of_kind(Kind.TIMEOUT),
            warnings=printed.of_kind(Kind.ABNORMAL_WARNING),
            unclassified=tuple(sorted(unclassified, key=lambda line: line.number)),
            suppressed=self._suppressed.totals(),
            doubts=frozenset(doubts),
            has_results=self._totals is not None or tally.total > 0,
            standing=3 if self._totals is not None else int(self._aggregate is not None),
            current_test=current,
            fates=self._suppressed.fates,
        )

    # -- the head, and the end of the results

    def _head(self, bare: bytes, line: Line) -> bool:
        self._running = bare == grammar.RUNNING
        if self._running or grammar.OPTIONS.fullmatch(bare) or grammar.IN_PROCESSES.fullmatch(bare):
            self._suppressed.add(Kind.STRUCTURE if self._running else Kind.INFORMATIONAL, line.number)
            return True
        self._results.printed.take(bare, line)
        return False

    def _hold(self, line: Line) -> None:
        """The results are over. If they were before, what comes next decides."""
        self._drop_header()
        if self._finished is None:
            # With -v a test is still running: somebody has stopped the run, or its text says that it is over.
            self._stopped |= bool(self._results.current)
            self._broken_off = self._results.current
            self._results.abandon()
            self._finished = line
        else:
            self._release()
            self._again = line

    def _finish_again(self, bare: bytes, number: int) -> None:
        """A report begins anew below a second `Finished in …`: then the first was printed; else the second is text."""
        header = grammar.HEADER.fullmatch(bare)
        begins = header is not None and int(header["number"]) == 1
        if not begins and grammar.totals(bare) is None:
            self._release()
            return
        finished, self._finished, self._again = self._finished, self._again, None
        held = [] if finished is None else [finished]
        for _, entry in self._accounts:
            self._contested.append(entry.header.as_kind(Kind.CONTESTED_TEST))
            held += entry.body
        held += self._strays if self._aggregate is None else [*self._strays, self._aggregate]
        self._accounts, self._strays, self._aggregate, self._disputed = [], [], None, None
        for one in sorted(held, key=lambda line: line.number):
            text = bared(one.raw)
            if text.strip():
                self._results.take(text, one)
            else:
                self._suppressed.add(Kind.BLANK, one.number)
        self._results.abandon()

    def _release(self) -> None:
        """What waited is text."""
        if self._again is not None:
            held, self._again = self._again, None
            self._text(held)

    def _drop_header(self) -> None:
        if self._header is not None:
            held, self._header = self._header, None
            self._text(held)

    # -- the report

    def _blank(self, line: Line) -> None:
        if self._accounts and self._header is None and not self.complete:
            self._accounts[-1][1].body.append(line)
        else:
            self._suppressed.add(Kind.BLANK, line.number)

    def _reported(self, bare: bytes, line: Line, *, apart: bool) -> bool:
        """A line behind the results."""
        if self._header is not None:
            header, self._header = self._header, None
            name = grammar.named(bare) if line.number == header.number + 1 else None
            if name is not None:
                found = grammar.HEADER.fullmatch(bared(header.raw))
                flavour = found["flavour"] if found is not None else b""
                self._accounts.append((flavour, Entry(name, header, [line])))
                return True
            self._text(header)
        header_like = grammar.HEADER.fullmatch(bare) if apart else None
        if header_like is not None and int(header_like["number"]) == len(self._accounts) + 1:
            self._header = line
            return True
        # A message that quotes a list shifts the accounts, or does not; nothing says which header is the runner's.
        self._doubtful |= header_like is not None
        below = self._finished is not None and line.number == self._finished.number + 1
        stated = grammar.totals(bare) if apart or below else None
        if stated is not None:
            if self._aggregate is not None:
                self._text(self._aggregate)
            self._aggregate = line
            if self._agrees(stated):
                self._totals, self._disputed = stated, None
            else:
                self._disputed = stated
            return True
        return self._text(line)

    def _text(self, line: Line) -> bool:
        """A line of a message, or of nothing."""
        if self._accounts:
            self._accounts[-1][1].body.append(line)
            return True
        self._strays.append(line)
        return False

    def _agrees(self, stated: Totals) -> bool:
        flavours = Counter(flavour for flavour, _ in self._accounts)
        return (
            flavours[b"Failure"] == stated.failures
            and flavours[b"Error"] == stated.errors
            and flavours[b"Skipped"] in (0, stated.skips)
            and not self._strays
            and self._results.agrees(stated)
        )

    # -- what it amounts to

    def _failures(self, doubts: set[Doubt]) -> list[Failure]:
        failures: list[Failure] = []
        for flavour, entry in self._accounts:
            if flavour == b"Skipped":
                self._suppressed.add(Kind.SKIPPED_TEST, entry.header.number)
                entry.suppress_body(self._suppressed)
                continue
            failures.append(entry.failure(self._suppressed, grammar.detail_kind))
        places: dict[str, list[int]] = defaultdict(list)
        for i, failure in enumerate(failures):
            places[failure.identity].append(i)
        for result in self._results.failed:
            text = bared(result.lines[0].raw)
            end = next((end for end in _ends_of_name(text) if places.get(decoded(text[:end]))), 0)
            if not end:
                header, *rest = result.lines
                details = tuple(line.as_kind(Kind.FAILURE_DETAIL) for line in rest)
                failures.append(Failure(result.identity, header.as_kind(Kind.FAILED_TEST), details))
                if self._stated is not None:
                    doubts.add(Doubt.RECAP_CONTRADICTION)
                continue
            at = places[decoded(text[:end])].pop(0)
            # Nothing but its name and its result.
            if len(result.lines) == 1 and grammar.END.fullmatch(text, end + len(grammar.BEHIND_NAME)):
                self._suppressed.add_lines(Kind.RECAP, result.lines)
            else:
                own = (line.as_kind(Kind.FAILURE_DETAIL) for line in result.lines)
                failures[at] = failures[at]._replace(details=(*own, *failures[at].details))
        missing = (
            self._results.letters.sure[grammar.FAILURE] + self._results.letters.sure[grammar.ERROR] - len(failures)
        )
        if self._stated is None and missing > 0:
            doubts.add(Doubt.FAILURES_UNNAMED)
            tests = "test" if missing == 1 else "tests"
            failures.append(Failure(f"{missing} failing {tests}, not named", None))
        if self._aggregate is not None:
            self._suppressed.add(Kind.AGGREGATE_SOURCE, self._aggregate.number)
        if self._finished is not None:
            self._suppressed.add(Kind.DURATION_SOURCE, self._finished.number)
        return failures

    def _tally(self, failures: list[Failure]) -> Tally:
        stated = self._stated
        if stated is not None:
            return Tally(stated.passed, stated.failed, stated.skips, 0, stated.runs)
        letters = self._results.letters.sure
        passed, skipped = letters[grammar.PASSED], letters[grammar.SKIPPED]
        failed = max(letters[grammar.FAILURE] + letters[grammar.ERROR], len(failures))
        return Tally(passed, failed, skipped, 0, passed + failed + skipped)


MOST_ENDS = 8
"""How many ends of a name are tried."""


def _ends_of_name(text: bytes) -> Iterator[int]:
    """Where the name in a line of -v may end: it may hold what stands behind it."""
    at = -1
    for _ in range(MOST_ENDS):
        at = text.find(grammar.BEHIND_NAME, at + 1)
        if at < 0:
            return
        yield at


DIALECT = Dialect(
    name="minitest",
    title="minitest",
    checked="minitest 5.17",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=Minitest,
    program_streams=frozenset({"stderr"}),
    settle=settled_by("minitest", grammar.INTERRUPTED),
)
