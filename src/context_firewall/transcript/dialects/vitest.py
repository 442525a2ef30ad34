"""Vitest's reporters for people: default, verbose, dot, tree, agent, and GitHub's annotations.

The room's rules:

- A run opens with its head. Results follow as files and tests end; what tests print stands among them in blocks of
  its own. Then come the accounts of failures (on the other stream, unless the streams are merged), then the summary.
- The summary is five lines and more in one order, the duration last. Only a whole one that nothing of the report
  follows is the run's; any other is text of whatever it stands in.
- A block of output holds text up to an empty line. What follows up to the next line of the runner's belongs to it by
  its place only, as text with empty lines in it does.
- How many tests and files there were, and how many failed, must agree between results and summary, as far as the
  reporter prints results.
- Which result belongs to which account is settled in `transcript/spread.py`, when both streams have been read.
"""

import re
from enum import Enum, auto

from context_firewall.transcript.dialects import vitest_grammar as grammar
from context_firewall.transcript.dialects.vitest_accounts import Accounts
from context_firewall.transcript.dialects.vitest_outputs import Outputs
from context_firewall.transcript.dialects.vitest_results import Results
from context_firewall.transcript.dialects.vitest_summary import Summary
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, ResultLine, Spread, Tally, Totals
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind
from context_firewall.transcript.spread import ERRORS_OUTSIDE, SEPARATOR, settled, told_twice

_SIGNS = (b"\xc2", b"x", b"-", b"*")
_OUTPUT_BEGINS = (b"s", *_SIGNS)


class _At(Enum):
    """What a line belongs to that is none of the runner's."""

    NOTHING = auto()
    HEAD = auto()
    OUTPUT = auto()
    """A block of output, before its first empty line."""
    LOOSE = auto()
    """Behind that line."""
    RESULT = auto()
    """Under the line of a failing test."""
    NOTED = auto()
    """Under what a test notes about itself."""
    LEAKS = auto()
    """In the section on what leaks: warnings."""
    SNAPSHOTS = auto()
    NO_FILES = auto()


class Vitest(Bookkeeper):
    """Reads one report, or what of it stands on one stream."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._at = _At.NOTHING
        self._headed = False
        self._begun = False
        """The line that opened the stretch was read; it is taken whatever it is."""
        self._doubts: set[Doubt] = set()
        self._unclassified: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}
        self._accounts = Accounts(self._suppressed, self._doubts, self._unclassified)
        self._results = Results(self._suppressed)
        self._summary: Summary | None = None
        self._outputs = Outputs()
        self._repeats: list[ResultLine] = []
        self._failures: list[Failure] = []
        self._no_files: int | None = None

    # -- what the reader asks -------------------------------------------------------------------------------------

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of passing tests."""
        if self._summary is not None or self._accounts.open or self._at is not _At.NOTHING:
            return None
        return self._results.lane(holding=self._outputs.any)

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of passing tests."""
        return self._results.run(block, start, stop)

    def cut(self) -> None:
        """The last line has no newline; vitest ends each line of its own with one."""
        self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)

    @property
    def complete(self) -> bool:
        """The summary is whole; or the stream has no results and nothing is open on it."""
        if self._summary is not None:
            return self._summary.whole
        return not self._headed and not self._accounts.open and self._at in (_At.NOTHING, _At.NO_FILES)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._summary is not None:
            known = self._in_summary(self._summary, bare, line)
            if known is not None:
                return known
        if self._accounts.open:
            if self._begins_summary(bare, line):
                return True
            if self._accounts.take(bare, line):
                return True
        if self._at is _At.OUTPUT:
            return self._in_output(bare, line)
        known = self._runner(bare, line) or self._other(bare, line)
        self._begun = True
        return known

    def adopt(self, bare: bytes, line: Line) -> bool:
        """What vitest says before it comes to the point: notes, and how it has looked for files."""
        if not grammar.REMARK.fullmatch(bare) and not grammar.FILTER.fullmatch(bare):
            return False
        self._suppressed.add(Kind.INFORMATIONAL, line.number)
        return True

    # -- the summary ----------------------------------------------------------------------------------------------

    def _begins_summary(self, bare: bytes, line: Line) -> bool:
        if not bare.startswith(b" Test Files  "):
            return False
        summary = Summary.begin(bare, line)
        if summary is None or (self._accounts.open and not self._accounts.may_end):
            return False
        self._summary = summary
        return True

    def _in_summary(self, summary: Summary, bare: bytes, line: Line) -> bool | None:
        """A line within or behind a summary; None when the summary turns out to be text."""
        if not summary.whole:
            if summary.take(bare, line):
                if summary.whole:
                    self._accounts.leave()
                return True
            self._withdraw(summary)
            return None
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        kind = summary.behind(bare)
        if kind is not None:
            self._suppressed.add(kind, line.number)
            return True
        if self._annotation(bare, line):
            return True
        below = grammar.BELOW_THRESHOLD.fullmatch(bare)
        if below is not None:
            self._failures.append(Failure(decoded(below["what"]), line.as_kind(Kind.FAILED_TEST)))
            return True
        if self._goes_on(bare):
            self._withdraw(summary)
            return None
        return False

    def _goes_on(self, bare: bytes) -> bool:
        """Whether a line shows that the report was not over."""
        if grammar.OUTPUT.fullmatch(bare) or grammar.FILE.fullmatch(bare) or bare.startswith(b" Test Files  "):
            return True
        ruler = grammar.TITLED.fullmatch(bare)
        return ruler is not None and grammar.width(bare) >= grammar.NARROWEST

    def _withdraw(self, summary: Summary) -> None:
        """What looked like the summary was text: it goes where other text would have gone."""
        self._summary = None
        for line in summary.lines:
            text = bared(line.raw)
            if self._accounts.open and self._accounts.take(text, line):
                continue
            self._other(text, line, keep=True)

    # -- output ---------------------------------------------------------------------------------------------------

    def _in_output(self, bare: bytes, line: Line) -> bool:
        """A line of a block of output; the runner says nothing before its empty line."""
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
            self._at = _At.LOOSE
            return True
        self._hold(line, loose=False)
        return True

    def _hold(self, line: Line, *, loose: bool) -> None:
        if not self._outputs.hold(line, loose=loose):
            self._suppressed.add(Kind.PROGRAM_OUTPUT, line.number)

    # -- lines of the runner's ------------------------------------------------------------------------------------

    def _runner(self, bare: bytes, line: Line) -> bool:
        """Whether the line is one of the runner's own."""
        first = bare[:1]
        if first == b" ":
            return self._indented(bare, line)
        if first == b"\xe2" and self._accounts.opens(bare, line):
            self._at = _At.NOTHING
            return True
        if first == b"\xe2" and self._leaks(bare, line):
            return True
        if first in _OUTPUT_BEGINS and (output := grammar.OUTPUT.fullmatch(bare)) is not None:
            self._results.dots(output["signs"])
            self._outputs.open(decoded(output["test"]))
            self._suppress(Kind.STRUCTURE, line, _At.OUTPUT)
            return True
        if first == b":" and self._annotation(bare, line):
            return True
        if first == b"E" and (below := grammar.BELOW_THRESHOLD.fullmatch(bare)) is not None:
            self._failures.append(Failure(decoded(below["what"]), line.as_kind(Kind.FAILED_TEST)))
            return True
        if first == b"N" and (none := grammar.NO_FILES.fullmatch(bare)) is not None:
            self._no_files = int(none["code"])
            self._at = _At.NO_FILES
            if self._no_files:
                self._marked[Kind.FATAL_ERROR].append(line.as_kind(Kind.FATAL_ERROR))
            else:
                self._suppressed.add(Kind.AGGREGATE_SOURCE, line.number)
            return True
        if first in _SIGNS and grammar.DOTS.fullmatch(bare) and self._dots_may_stand(bare):
            self._results.dots(bare)
            self._suppress(Kind.PROGRESS, line, _At.NOTHING)
            return True
        return False

    def _leaks(self, bare: bytes, line: Line) -> bool:
        """The ruler above what leaks."""
        ruler = grammar.TITLED.fullmatch(bare)
        wide = ruler is not None and grammar.width(bare) >= grammar.NARROWEST
        if ruler is None or not wide or not grammar.LEAKS.fullmatch(ruler["title"]):
            return False
        self._at = _At.LEAKS
        self._marked[Kind.ABNORMAL_WARNING].append(line.as_kind(Kind.ABNORMAL_WARNING))
        return True

    def _dots_may_stand(self, bare: bytes) -> bool:
        """Whether a row of signs may be the dot reporter's."""
        return self._results.signs_only and (self._at is _At.NOTHING or grammar.PENDING in bare)

    def _suppress(self, kind: Kind, line: Line, at: _At) -> None:
        self._suppressed.add(kind, line.number)
        self._at = at

    def _indented(self, bare: bytes, line: Line) -> bool:
        """A line of the runner's that begins with a blank."""
        if self._begins_summary(bare, line):
            return True
        if not self._headed and (head := grammar.HEAD.fullmatch(bare)) is not None:
            self._headed = True
            self._results.version(int(head["major"]))
            self._suppress(Kind.STRUCTURE, line, _At.HEAD)
            return True
        if self._at is _At.HEAD and grammar.HEAD_NOTE.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if grammar.SNAPSHOTS.fullmatch(bare):
            self._suppress(Kind.AGGREGATE_SOURCE, line, _At.SNAPSHOTS)
            return True
        if self._at is _At.SNAPSHOTS and grammar.SNAPSHOT_NOTE.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        noted = self._at is _At.NOTED and grammar.NOTED_TEXT.fullmatch(bare)
        if noted or (self._results.verbose and grammar.NOTED_AT.fullmatch(bare)):
            self._suppress(Kind.PROGRAM_OUTPUT, line, _At.NOTED)
            return True
        file = grammar.FILE.fullmatch(bare)
        if file is not None and b" > " not in file["path"] + b" " and grammar.FILE_REST.fullmatch(file["rest"]):
            failing = self._results.file(file, line)
            self._at = _At.NOTHING
            if not failing:
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._outputs.forget_file(decoded(file["path"])))
            return True
        test = grammar.TEST.fullmatch(bare)
        if test is not None and self._results.expects(test):
            passing = self._results.test(test, line)
            self._at = _At.RESULT if passing is None else _At.NOTHING
            for name in passing or ():
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._outputs.forget(name))
            return True
        return False

    def _annotation(self, bare: bytes, line: Line) -> bool:
        """A workflow command of GitHub's."""
        note = grammar.ANNOTATION.fullmatch(bare)
        if note is None and self._headed and grammar.NOTED.fullmatch(bare):
            self._suppressed.add(Kind.PROGRAM_OUTPUT, line.number)
            return True
        if note is None:
            return False
        title = _unescaped(note["title"])
        if title == grammar.UNHANDLED:
            title = SEPARATOR.join((ERRORS_OUTSIDE, _unescaped(note["text"])))
        self._repeats.append(ResultLine(title, "", (title,), (line,)))
        return True

    # -- any other line -------------------------------------------------------------------------------------------

    def _other(self, bare: bytes, line: Line, *, keep: bool = False) -> bool:
        """A line that is none of the runner's. `keep`: it is taken in any case."""
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
            if self._at in (_At.HEAD, _At.SNAPSHOTS):
                self._at = _At.NOTHING
            return True
        if self._at is _At.RESULT and self._results.more(bare, line):
            return True
        if self._results.continues(bare, line):
            return True
        if self._at is _At.NO_FILES and grammar.FILTER.fullmatch(bare):
            if self._no_files:
                self._marked[Kind.FATAL_ERROR].append(line.as_kind(Kind.FATAL_ERROR))
            else:
                self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        kind = marker_kind(bare)
        if kind is not None:
            self._marked[kind].append(line.as_kind(kind))
            return True
        if self._at is _At.LOOSE:
            self._hold(line, loose=True)
            return True
        if self._at is _At.LEAKS:
            self._marked[Kind.ABNORMAL_WARNING].append(line.as_kind(Kind.ABNORMAL_WARNING))
            return True
        if self.complete and self._begun and not keep:
            return False
        self._unclassified.append(line)
        return False

    # -- the account ----------------------------------------------------------------------------------------------

    def close(self, exit_code: int | None) -> Reading:
        """State what this stream tells; the rest is settled with the other one."""
        self._accounts.end()
        summary = self._summary
        tally = Tally()
        totals = None
        standing = 0
        if summary is not None and not summary.whole:
            self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if summary is not None and summary.tests is not None:
            tally = summary.tally()
            totals = Totals(tally.failed, summary.failed_files, summary.errors, summary.errors_line)
            agrees = self._results.agree(summary)
            if not agrees:
                self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
            if summary.unknown:
                self._doubts |= {Doubt.AGGREGATE_CONTRADICTION, Doubt.COUNTS_UNCONFIRMED}
            if summary.whole:
                standing = 3 if agrees else 2
            if self._at is _At.LOOSE and not self._results.any:
                # Behind output, and with no result that bears it out, it may be output as well.
                self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        elif self._headed and self._no_files is None:
            tally = self._results.tally()
        elif self._repeats and not self._headed:
            # Annotations alone: they do not tell tests from suites, and leave out errors without a place.
            told = len({repeat.identity for repeat in self._repeats})
            tally = Tally(failed=told, total=told)
            self._doubts.add(Doubt.COUNTS_UNCONFIRMED)
        if summary is not None:
            self._suppressed.add_lines(Kind.AGGREGATE_SOURCE, summary.plain_lines())
        if totals is None and self._no_files is not None:
            totals = Totals(0, 0, 0)
        if totals is not None and not tally.total and not exit_code:
            self._doubts.add(Doubt.NO_TEST_EVIDENCE)
        if self._unclassified:
            self._doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        failures = (*self._accounts.failures, *self._failures)
        return Reading(
            tally=tally,
            failures=failures,
            fatal_errors=tuple(self._marked[Kind.FATAL_ERROR]),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(self._unclassified),
            todo=tuple(self._results.todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(self._doubts),
            has_results=bool(tally.total or failures or self._results.failing or self._no_files is not None),
            standing=standing,
            spread=Spread(
                results=tuple(self._results.failing_lines()),
                repeats=tuple(self._repeats),
                outputs=self._outputs.held(),
                outputs_lost=self._outputs.lost,
                totals=totals,
                needs_totals=self._headed,
                tests=self._accounts.tests,
                files=frozenset(self._accounts.files),
                outside=self._accounts.outside,
                nothing_to_run=self._no_files is not None,
                exit_code=exit_code,
            ),
        )


def _unescaped(title: bytes) -> str:
    """A property of a workflow command: percent, line ends, colon and comma are written as %XX."""
    text = decoded(title)
    for code, sign in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, sign)
    return text.partition("\n")[0]


def _settle(readings: list[Reading]) -> list[Reading]:
    """One run on two streams; and what another reporter has told of it once more."""
    return told_twice(settled(readings), "vitest")


DIALECT = Dialect(
    name="vitest",
    title="Vitest",
    checked="Vitest 1.6, 2.1, 3.2, 4.1, 5.1",
    streams=frozenset({"stdout", "stderr"}),
    opening=grammar.OPENING,
    begin=Vitest,
    settle=_settle,
)
