"""RSpec's HTML formatter, on standard output: a page that grows with the run.

The room's rules:

- Each result stands below a script that says how much of the run is over, in tenths of a percent. The page is whole if
  these are the steps of as many examples as its end counts, up to the last, and the page is closed.
- A name is made of the groups above it; the margin of a group says how deep it is.
- What is neither markup nor in an account is unclassified. Examples print there, but so does RSpec itself, which counts
  errors outside of examples nowhere on the page.
"""

import re

from context_firewall.transcript.dialects import rspec_html_grammar as grammar
from context_firewall.transcript.dialects.rspec_html_grammar import Totals
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.numbered import Entry
from context_firewall.transcript.printed import Printed
from context_firewall.transcript.ruby import INTERRUPTED, error_name, error_place, full_name, settled_by


class RspecHtml(Bookkeeper):
    """Reads one page."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._printed = Printed()
        self._first = 0
        """The number of the first line of the results, or 0."""
        self._groups = 0
        self._named = 0
        """Groups whose name has been read."""
        self._ended = 0
        """Groups whose end has been read; a page without any has one end."""
        self._group_line = 0
        self._depth = 0
        self._path: list[bytes] = []
        self._percents: list[bytes] = []
        self._passed = 0
        self._skipped = 0
        self._todo: list[Line] = []
        self._failed: list[Entry] = []
        self._errors: list[Entry] = []
        self._open: Entry | None = None
        """The account that is read: of a failed example, or of an error outside of examples."""
        self._outside = False
        """Which of the two: an error's has no end of its own."""
        self._ordered = True
        """Groups and failures are numbered one after another, groups are of one piece, and no account breaks off."""
        self._totals: Totals | None = None
        self._whole_line = True
        self._over = False
        """The page is closed, and nothing of it has come since."""
        self._agrees = False
        """It is over and agrees with itself."""
        self._stepped: tuple[Totals, int, bool] | None = None
        """For which totals and how many steps these were compared, and whether they agreed."""

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passed examples, where no account is read."""
        return None if self._agrees or self._open is not None else grammar.LANE

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed examples, and remember their steps."""
        steps = grammar.STEP.findall(block, start, stop)
        self._percents += steps
        self._passed += len(steps)
        self._suppressed.add_many(Kind.PROGRESS, len(steps))
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, len(steps))
        self._first = self._first or number
        self._over = False
        return 2 * len(steps)

    def cut(self) -> None:
        """The next line has no newline; the page's last has one."""
        self._whole_line = False

    @property
    def complete(self) -> bool:
        """The page is closed and agrees with itself; one that does not may have been printed inside another."""
        return self._agrees

    def adopt(self, bare: bytes, line: Line) -> bool:
        """The lines above the title."""
        if line.kind is not Kind.UNCLASSIFIED or not grammar.HEAD.fullmatch(bare):
            return False
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        if self._agrees:
            return False
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._markup(bare, line):
            return True
        if self._open is not None:
            return self._told(self._open, bare, line)
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, number)
            return True
        place = error_place(bare)
        if place is not None:
            self._open, self._outside = Entry(place, line), True
            self._errors.append(self._open)
            return True
        if not self._first:
            self._suppressed.add(Kind.STRUCTURE, number)
            return True
        self._printed.take(bare, line)
        return False

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        doubts = self._doubts()
        totals = self._totals
        failures = [self._failure(entry) for entry in self._failed]
        failures += [self._error(entry, doubts) for entry in self._errors]
        pending = self._skipped + len(self._todo)
        if pending:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        examples = self._passed + len(self._failed) + pending
        if not examples and not failures:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        return Reading(
            tally=Tally(self._passed, len(self._failed), self._skipped, len(self._todo), examples),
            failures=tuple(failures),
            fatal_errors=self._printed.of_kind(Kind.FATAL_ERROR),
            timeouts=self._printed.of_kind(Kind.TIMEOUT),
            warnings=self._printed.of_kind(Kind.ABNORMAL_WARNING),
            unclassified=tuple(self._printed.lines),
            todo=tuple(line.as_kind(Kind.TODO_TEST) for line in self._todo),
            suppressed=self._suppressed.totals(),
            doubts=frozenset(doubts),
            has_results=totals is not None or examples > 0,
            standing=(3 if self._over and not doubts - {Doubt.COUNTS_UNCONFIRMED} else 1) if totals else 0,
            fates=self._suppressed.fates,
        )

    # -- lines

    def _markup(self, bare: bytes, line: Line) -> bool:
        """Whether a line is the page's own, and none of an account's inside."""
        if bare == grammar.RESULTS:
            return self._structure(line, Kind.STRUCTURE)
        if (group := grammar.GROUP.fullmatch(bare)) is not None:
            self._groups += 1
            self._ordered &= int(group["number"]) == self._groups and self._named == self._groups - 1
            self._group_line = line.number
            return self._structure(line, Kind.STRUCTURE)
        if (margin := grammar.MARGIN.fullmatch(bare)) is not None:
            self._depth = int(margin["pixels"]) // grammar.PIXELS
            self._ordered &= line.number == self._group_line + 1
            return self._structure(line, Kind.STRUCTURE)
        if (name := grammar.GROUP_NAME.fullmatch(bare)) is not None:
            self._named += 1
            self._ordered &= line.number == self._group_line + 2 and int(name["number"]) == self._named
            self._path[self._depth :] = [grammar.plain(name["name"])]
            return self._structure(line, Kind.STRUCTURE)
        if (script := grammar.PROGRESS.fullmatch(bare) or grammar.COLOUR.fullmatch(bare)) is not None:
            return self._script(script["print"], script.groupdict().get("percent"), line)
        return self._result(bare, line) or self._end(bare, line)

    def _script(self, printed: bytes, percent: bytes | None, line: Line) -> bool:
        self._end_account()
        if percent is not None:
            self._percents.append(percent)
        if printed:
            self._printed.take(printed, line)
            return True
        return self._structure(line, Kind.PROGRESS)

    def _result(self, bare: bytes, line: Line) -> bool:
        if grammar.PASSED.fullmatch(bare):
            self._passed += 1
            return self._structure(line, Kind.SUCCESSFUL_TEST)
        if (pending := grammar.PENDING.fullmatch(bare)) is not None:
            if pending["reason"] != grammar.NOT_YET:
                self._skipped += 1
                return self._structure(line, Kind.SKIPPED_TEST)
            self._end_account()
            self._todo.append(line)
            return True
        if grammar.FAILED.fullmatch(bare):
            self._end_account()
            self._open, self._outside = Entry(full_name([*self._path, b"an example without a name"]), line), False
            self._failed.append(self._open)
            return True
        return False

    def _end(self, bare: bytes, line: Line) -> bool:
        if bare == grammar.GROUP_END:
            self._ended += 1
            return self._structure(line, Kind.STRUCTURE)
        if bare in grammar.ENDS:
            # The page's head has such lines too.
            return self._structure(line, Kind.STRUCTURE, begins=False)
        if grammar.FINISHED.fullmatch(bare):
            return self._structure(line, Kind.DURATION_SOURCE)
        if (stated := grammar.totals(bare)) is not None:
            self._totals = stated
            return self._structure(line, Kind.AGGREGATE_SOURCE)
        if bare != grammar.LAST or self._totals is None or not self._whole_line:
            return False
        self._structure(line, Kind.STRUCTURE)
        self._over = True
        self._agrees = not self._doubts()
        return True

    def _structure(self, line: Line, kind: Kind, *, begins: bool = True) -> bool:
        self._end_account()
        self._over = False
        if begins and not self._first:
            self._first = line.number
        self._suppressed.add(kind, line.number)
        return True

    def _told(self, entry: Entry, bare: bytes, line: Line) -> bool:
        """A line of the open account."""
        entry.body.append(line)
        if self._outside:
            return True
        if len(entry.body) == 1:
            name = grammar.FAILED_NAME.fullmatch(bare)
            self._ordered &= name is not None
            if name is not None:
                entry.name = full_name([*self._path, grammar.plain(name["name"])])
        if (failure := grammar.FAILURE.fullmatch(bare)) is not None:
            self._ordered &= int(failure["number"]) == len(self._failed)
        if bare == grammar.FAILED_END:
            self._open = None
        return True

    def _end_account(self) -> None:
        """What follows is not told of the failure or the error before it."""
        self._ordered &= self._open is None or self._outside
        self._open = None

    # -- what it amounts to

    def _doubts(self) -> set[Doubt]:
        """What the page does not prove, or denies."""
        doubts: set[Doubt] = set()
        totals, percents = self._totals, self._percents
        if not self._over or (totals is not None and totals.examples and percents[-1:] != [grammar.ALL]):
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if totals is not None:
            pending = self._skipped + len(self._todo)
            told = totals == Totals(totals.examples, len(self._failed), pending) and totals.passed == self._passed
            if not told or not (doubts or self._steps_agree(totals)):
                doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        whole = self._named == self._groups and self._ended == max(self._groups, 1)
        if (self._over and not whole) or not self._ordered or (self._open is not None and not self._outside):
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        return doubts

    def _steps_agree(self, totals: Totals) -> bool:
        """Whether the steps are those of so many examples. There may be many of both, so they are compared once."""
        count = len(self._percents)
        if self._stepped is None or self._stepped[:2] != (totals, count):
            agree = count == totals.examples and self._percents == grammar.percents(count)
            self._stepped = totals, count, agree
        return self._stepped[2]

    def _failure(self, entry: Entry) -> Failure:
        """A failed example. The line that names it is its header; the one above is markup."""
        if entry.body and grammar.FAILED_NAME.fullmatch(entry.texts()[0]):
            self._suppressed.add(Kind.STRUCTURE, entry.header.number)
            entry.header = entry.body.pop(0)
        return entry.failure(self._suppressed, grammar.detail_kind)

    def _error(self, entry: Entry, doubts: set[Doubt]) -> Failure:
        """An error outside of examples."""
        told = entry.failure(self._suppressed, grammar.detail_kind)
        name, whole = error_name(entry.name, entry.texts())
        if not whole:
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        return Failure(name, told.header, told.details)


DIALECT = Dialect(
    name="rspec-html",
    title="RSpec's HTML",
    checked="RSpec 3.12",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=RspecHtml,
    # Merged streams are read as standard output, of course.
    program_streams=frozenset({"stderr"}),
    settle=settled_by("rspec-html", INTERRUPTED),
)
