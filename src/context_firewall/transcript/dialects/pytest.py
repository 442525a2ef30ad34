"""pytest's terminal reporter: default, -q, -v, with any traceback style, with or without xdist.

The room's rules:

- A report has parts: the head, the results (letters, or named lines with -v), then sections under rulers: errors,
  failures, output of passed tests, warnings, plugins' tables, the short summary; then the closing line.
- Rulers count only at the report's own width. Inside the region of a failing test only the reporter's own titles end
  the region; a nested report (a test that runs pytest) belongs to the test up to its own closing line.
- The closing line closes the report if nothing of the report follows it. One that stands elsewhere is text.
- A run that prints without capture (-s) glues text and letters together: such lines are kept, their letters are not
  counted.
- The plugin teamcity-messages writes service messages between and behind the results: they say nothing new.
- What was read is settled against short summary and closing line in `pytest_account`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from context_firewall.transcript.dialects import pytest_grammar as grammar
from context_firewall.transcript.dialects import pytest_sugar as sugar
from context_firewall.transcript.dialects.pytest_account import (
    Entry,
    Report,
    settled,
)
from context_firewall.transcript.dialects.pytest_grammar import Counts, Ruler
from context_firewall.transcript.dialects.pytest_outside import Outside
from context_firewall.transcript.dialects.pytest_results import Results
from context_firewall.transcript.dialects.pytest_section import Section
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind

_MOST_REASON_LINES = 16
"""Lines that a reason with newlines may have in the short summary."""


class _Part(Enum):
    """Where in a report the machine is."""

    RESULTS = auto()
    """The head, and the results."""
    REPORTS = auto()
    """Sections of errors or failures."""
    QUIET = auto()
    """Sections of tests that did not fail."""
    WARNINGS = auto()
    TABLES = auto()
    """What plugins report: durations, coverage, benchmarks."""
    RECAP = auto()
    STOPPED = auto()
    """Behind the ruler that says why the run was stopped."""


@dataclass(slots=True)
class _Closing:
    """A closing line that waits for what follows it."""

    counts: Counts
    line: Line
    agrees: bool


class Pytest(Bookkeeper):
    """Reads one report."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._width: int | None = None
        self._part = _Part.RESULTS
        self._titled = False
        """The session's ruler was read: the closing line has one too."""
        self._sugar = False
        """pytest-sugar writes the report."""
        self._error = False
        """The open section is about errors."""
        self._section: Section | None = None
        self._nested = False
        self._goes_on: list[Line] | None = None
        """Where the further lines of the short summary's last entry go."""
        self._reason_lines = _MOST_REASON_LINES
        """How many further lines the reason of a skip has had."""
        self._closing: _Closing | None = None
        self._messages = False
        """A plugin tells a build server of every result, too."""
        self._report = Report()
        self._seen_unhandled = False
        self._doubts: set[Doubt] = set()
        self._unclassified: list[Line] = []
        self._todo: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {
            Kind.FATAL_ERROR: [],
            Kind.TIMEOUT: [],
            Kind.ABNORMAL_WARNING: [],
        }
        self._outside = Outside()
        self._results = Results(self._report, self._suppressed, self._todo, self._outside, self._aside)
        self._readers: dict[_Part, Callable[[bytes, Line], bool]] = {
            _Part.RESULTS: self._results.take,
            _Part.REPORTS: self._in_reports,
            _Part.QUIET: self._in_quiet,
            _Part.WARNINGS: self._in_warnings,
            _Part.TABLES: self._in_tables,
            _Part.RECAP: self._in_recap,
            _Part.STOPPED: self._in_stopped,
        }

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of results in which every test passed."""
        if self._part is not _Part.RESULTS or self._closing or self._outside.open:
            return None
        return self._results.lane()

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of passed tests."""
        return self._results.run(block, start, stop)

    def cut(self) -> None:
        """The last line has no newline; what the reporter writes before a test has none, so nothing follows from it."""

    @property
    def complete(self) -> bool:
        """The closing line agrees with what was read, and nothing has followed it."""
        return self._closing is not None and self._closing.agrees

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take a row of letters that a failure cut short: with -q, nothing else stands before the first section."""
        return grammar.CUT_SHORT.fullmatch(bare) is not None and self._results.take(bare, line)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line: a closing line, a ruler, or what its part makes of it."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._part is _Part.RESULTS:
            self._messages |= grammar.SENDS_MESSAGES.match(bare) is not None
            text = _before_message(bare) if self._messages else None
            if text is not None and not text.strip():
                self._suppressed.add(Kind.RECAP, number)
                return True
            bare = bare if text is None else text
        if self._closing is not None:
            if not bare.strip():
                self._suppressed.add(Kind.BLANK, number)
                return True
            if self._sugar and self._counts_more(bare, line):
                return True
            if self._closing.agrees and not self._resumes(bare):
                return self._usage_error(bare, line)
            self._withdraw()
        counts = self._closes(bare)
        if counts is not None:
            self._closing = _Closing(counts, line, self._report.agrees(counts))
            return True
        return self._text(bare, line)

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        self._results.end_log(failed=False)
        self._outside.end()
        counts = None if self._closing is None else self._closing.counts
        account = settled(self._report, counts, self._suppressed)
        doubts = self._doubts | account.doubts
        nothing = not account.tally.total and not account.failures
        if self._closing is not None:
            line = self._closing.line
            if nothing and exit_code == grammar.NO_TESTS_EXIT:
                self._marked[Kind.FATAL_ERROR].append(line.as_kind(Kind.FATAL_ERROR))
                nothing = False
            else:
                self._suppressed.add(Kind.AGGREGATE_SOURCE, line.number)
        unclassified = sorted((*self._unclassified, *account.unclassified), key=_place)
        if unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        if counts is not None and counts.unknown:
            doubts |= {Doubt.AGGREGATE_CONTRADICTION, Doubt.COUNTS_UNCONFIRMED}
        has_results = counts is not None or self._report.tallied.any or bool(account.failures)
        if nothing:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
            if exit_code == grammar.USAGE_EXIT:
                # What was collected was not run.
                doubts.discard(Doubt.AGGREGATE_CONTRADICTION)
        if self._outside.failures:
            doubts.add(Doubt.FAILURE_OUTSIDE_TESTS)
        standing = 0
        if counts is not None:
            standing = 3 if Doubt.AGGREGATE_CONTRADICTION not in doubts else 2
        return Reading(
            tally=account.tally,
            failures=(*account.failures, *self._outside.failures),
            fatal_errors=tuple(self._marked[Kind.FATAL_ERROR]),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(unclassified),
            todo=tuple(self._todo),
            suppressed=self._suppressed.totals(),
            doubts=frozenset(doubts),
            has_results=has_results,
            fates=self._suppressed.fates,
            standing=standing,
            current_test=decoded(self._results.current) if counts is None else "",
        )

    # -- the closing line

    def _closes(self, bare: bytes) -> Counts | None:
        """The counts of a line that has the closing line's form in this report."""
        if self._nested or bare[-1:] not in b"=s):":
            return None
        if self._sugar:
            return Counts() if sugar.CLOSES.fullmatch(bare) else None
        if (not self._titled and bare[:1].isdigit()) or bare.startswith(b"no tests "):
            return grammar.closing(bare)
        ruler = grammar.ruler(bare) if bare[:1] == b"=" else None
        return grammar.closing(ruler.title) if ruler is not None and ruler.fits(self._width) else None

    def _counts_more(self, bare: bytes, line: Line) -> bool:
        """A line of pytest-sugar's closing list."""
        closing = self._closing
        counts = None if closing is None else sugar.counted(closing.counts, bare)
        if closing is None or counts is None:
            return False
        self._closing = _Closing(counts, closing.line, self._report.agrees(counts))
        self._suppressed.add(Kind.RECAP if counts is closing.counts else Kind.AGGREGATE_SOURCE, line.number)
        return True

    def _resumes(self, bare: bytes) -> bool:
        """Whether a line shows that the report goes on: the closing line before it was text."""
        ruler = grammar.ruler(bare) if bare[:1] in grammar.RULER_SIGNS else None
        if ruler is not None and ruler.fits(self._width):
            return ruler.title != grammar.SESSION_STARTS
        progress = grammar.progress(bare)
        if progress is not None and progress.margin:
            return True
        return grammar.ENTRY.match(bare) is not None and b"::" in bare

    def _withdraw(self) -> None:
        """The report goes on: what looked like its closing line was printed by somebody else."""
        closing = self._closing
        if closing is None:
            return
        self._closing = None
        if self._part is _Part.REPORTS and self._section is not None:
            self._section.take(bared(closing.line.raw), closing.line)
        elif self._part is _Part.REPORTS and self._report.loose:
            self._report.loose.append(closing.line)
        elif self._part is _Part.QUIET:
            self._suppressed.add(Kind.PROGRAM_OUTPUT, closing.line.number)
        else:
            self._contest(closing.line)
            self._report.noisy |= self._part is _Part.RESULTS

    def _usage_error(self, bare: bytes, line: Line) -> bool:
        """A word of pytest's own behind a run without tests; any other line is not of this report."""
        if not bare.startswith(b"ERROR: ") or self._closing is None or self._closing.counts.total:
            return False
        self._outside.usage_error(bare, line)
        return True

    # -- lines by their part

    def _text(self, bare: bytes, line: Line) -> bool:
        """Any other line."""
        if self._nested:
            self._in_nested(bare, line)
            return True
        if self._sugared(bare, line):
            return True
        if bare[:1] in grammar.RULER_SIGNS and bare:
            ruler = grammar.ruler(bare)
            if ruler is not None and ruler.fits(self._width) and self._under(ruler, bare, line):
                return True
        if bare.startswith(grammar.INTERNAL_ERROR):
            self._outside.internal_error(bare, line)
            self._report.stopped = True
            return True
        if self._outside.open and self._outside.take(bare, line, self._results.file):
            return True
        return self._readers[self._part](bare, line)

    def _sugared(self, bare: bytes, line: Line) -> bool:
        """pytest-sugar's own lines: its start, its rows of marks, and rulers of failures among them."""
        if not self._sugar:
            if not sugar.STARTS.fullmatch(bare) or self._titled or self._report.tallied.any:
                return False
            self._sugar = self._titled = self._results.head = True
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if self._part not in (_Part.RESULTS, _Part.REPORTS):
            return False
        title = sugar.title(bare)
        if title is not None:
            self._enter(_Part.REPORTS)
            self._error = title.startswith(b"ERROR ")
            return self._heads(Ruler(b"_", title, 0, 0), line)
        row = sugar.row(bare)
        if row is None:
            return False
        self._enter(_Part.RESULTS)
        for mark, name in sugar.MARKS:
            self._report.tallied.add(name, row["marks"].count(mark))
        self._suppressed.add(Kind.PROGRESS, line.number)
        return True

    def _under(self, ruler: Ruler, bare: bytes, line: Line) -> bool:
        """A ruler of the report's width: whether it opens, ends or belongs to something here."""
        if ruler.sign == b"=":
            return self._opens(ruler, line)
        if ruler.sign == b"_":
            return self._heads(ruler, line)
        if ruler.sign == b"!":
            return self._stops(ruler, line)
        if ruler.sign == b"-":
            if self._part is _Part.RESULTS and grammar.LIVE_LOG.fullmatch(ruler.title):
                self._results.open_log(line)
                return True
            if grammar.NOTICE.fullmatch(ruler.title):
                self._enter(_Part.TABLES)
                self._suppressed.add(Kind.INFORMATIONAL, line.number)
                return True
        return False

    def _opens(self, ruler: Ruler, line: Line) -> bool:
        """A section's ruler."""
        title = ruler.title
        if title == grammar.SESSION_STARTS:
            return self._session(ruler, line)
        if self._width is None:
            self._width = ruler.width
        part = _Part.TABLES
        if title in (grammar.ERRORS, grammar.FAILURES):
            part = _Part.REPORTS
            self._error = title == grammar.ERRORS
        elif title in grammar.QUIET_REPORTS:
            part = _Part.QUIET
        elif grammar.WARNINGS.fullmatch(title):
            part = _Part.WARNINGS
        elif title == grammar.RECAP:
            part = _Part.RECAP
        elif self._part in (_Part.REPORTS, _Part.QUIET) and not grammar.TABLE.fullmatch(title):
            return False
        self._enter(part)
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def _session(self, ruler: Ruler, line: Line) -> bool:
        """The session's own ruler, or that of a report which a test has printed."""
        if self._part is _Part.REPORTS and self._section is not None:
            self._nested = True
            self._section.take(bared(line.raw), line)
            return True
        if self._titled or self._part is not _Part.RESULTS or self._report.tallied.any:
            return False
        self._titled = self._results.head = True
        self._width = ruler.width
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def _enter(self, part: _Part) -> None:
        self._results.end_log(failed=False)
        self._outside.end()
        self._section = None
        self._results.head = False
        self._part = part

    def _heads(self, ruler: Ruler, line: Line) -> bool:
        """The header of one failure's section."""
        if self._part is _Part.QUIET:
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if self._part is not _Part.REPORTS:
            return False
        name, collecting = ruler.title, False
        title = grammar.ERROR_TITLE.fullmatch(name)
        if title is not None and self._error:
            name, collecting = title["name"], title["collecting"] is not None
        self._section = Section(name, line.as_kind(Kind.FAILED_TEST), self._error, collecting)
        self._report.sections.append(self._section)
        self._report.sections_of[self._error] += 1
        self._report.collecting += collecting
        return True

    def _stops(self, ruler: Ruler, line: Line) -> bool:
        """The ruler that says why the run was stopped."""
        if self._part is _Part.REPORTS and not grammar.STOPPED.match(ruler.title):
            return False
        self._enter(_Part.STOPPED)
        self._report.stopped = True
        self._suppressed.add(Kind.INFORMATIONAL, line.number)
        return True

    def _in_nested(self, bare: bytes, line: Line) -> None:
        """A line of a report that a test has printed; its closing line ends it."""
        if self._section is not None:
            self._section.take(bare, line)
        ruler = grammar.ruler(bare) if bare[:1] == b"=" else None
        self._nested = ruler is None or grammar.closing(ruler.title) is None

    def _in_reports(self, bare: bytes, line: Line) -> bool:
        if self._section is not None:
            self._section.take(bare, line)
        elif not bare.strip() and not self._report.loose:
            self._suppressed.add(Kind.BLANK, line.number)
        elif self._error:
            return self._unknown(line)
        else:
            self._report.loose.append(line)
        return True

    def _in_quiet(self, bare: bytes, line: Line) -> bool:
        self._suppressed.add(Kind.PROGRAM_OUTPUT if bare.strip() else Kind.BLANK, line.number)
        return True

    def _in_warnings(self, bare: bytes, line: Line) -> bool:
        """Warnings are counted, but for exceptions that nobody caught: they have no other place."""
        if not bare.strip():
            self._seen_unhandled = False
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        if self._seen_unhandled or (bare[:1] == b" " and grammar.UNHANDLED.match(bare)):
            self._seen_unhandled = True
            self._marked[Kind.ABNORMAL_WARNING].append(line.as_kind(Kind.ABNORMAL_WARNING))
        else:
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        return True

    def _in_tables(self, bare: bytes, line: Line) -> bool:
        if grammar.COVERAGE_SHORT.fullmatch(bare):
            self._marked[Kind.FATAL_ERROR].append(line.as_kind(Kind.FATAL_ERROR))
        else:
            self._suppressed.add(Kind.INFORMATIONAL if bare.strip() else Kind.BLANK, line.number)
        return True

    def _in_stopped(self, bare: bytes, line: Line) -> bool:
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
        elif grammar.KEYBOARD.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        else:
            return self._aside(bare, line)
        return True

    def _in_recap(self, bare: bytes, line: Line) -> bool:
        """An entry of the short summary. Reasons of skips may go on in further lines."""
        entry = grammar.entry(bare)
        if entry is not None:
            self._report.entries.append(Entry(entry.text, line, entry.error, entry.description, entry.subtest))
            self._report.entries_of[entry.error] += 1
            self._goes_on = self._report.entries[-1].more
        elif grammar.TODO_ENTRY.fullmatch(bare) and not self._results.named:
            self._todo.append(line.as_kind(Kind.TODO_TEST))
            self._goes_on = self._todo
        elif grammar.silent_entry(bare):
            self._suppressed.add(Kind.RECAP, line.number)
            self._goes_on = None
            self._reason_lines = 0 if grammar.REASONED.match(bare) else _MOST_REASON_LINES
        elif self._goes_on is None and self._reason_lines < _MOST_REASON_LINES and marker_kind(bare) is None:
            self._reason_lines += 1
            self._suppressed.add(Kind.RECAP, line.number)
        elif not bare.strip() and not self._goes_on:
            self._suppressed.add(Kind.BLANK, line.number)
        elif self._goes_on is not None and marker_kind(bare) is None:
            # With -vv a message stands in full; so does a reason that holds newlines.
            self._goes_on.append(line.as_kind(Kind.TODO_TEST) if self._goes_on is self._todo else line)
        else:
            return self._aside(bare, line)
        return True

    # -- small accounts

    def _aside(self, bare: bytes, line: Line) -> bool:
        """A marker of any program, or a line that nothing knows."""
        kind = Kind.FATAL_ERROR if grammar.COVERAGE_SHORT.fullmatch(bare) else marker_kind(bare)
        if kind is None:
            return self._unknown(line)
        self._marked[kind].append(line.as_kind(kind))
        return True

    def _unknown(self, line: Line) -> bool:
        self._unclassified.append(line)
        return False

    def _contest(self, line: Line) -> None:
        """Keep a line that has the shape of a result but no place here."""
        self._unclassified.append(line.as_kind(Kind.CONTESTED_TEST))
        self._doubts.add(Doubt.CONTESTED_RESULTS)


def _place(line: Line) -> int:
    return line.number


def _before_message(bare: bytes) -> bytes | None:
    from context_firewall.transcript.service_messages import text_before_message  # few runs need it

    return text_before_message(bare)


DIALECT = Dialect(
    name="pytest",
    title="pytest, terminal reporter",
    checked="pytest 6.2, 7.4, 9.2; xdist 3.8, timeout 2.4, cov 7.1, rerunfailures 16.7, sugar 1.1",
    streams=frozenset({"stdout"}),
    # The session's ruler; with -q the first line of letters, or the ruler of the first section; or a run without tests.
    opening=re.compile(
        rb"=++ test session starts =++\Z"
        rb"|(?:[^\s\[][^\n]*? )??[.FEsxXRu,-]++ ++\[ *+(?:[0-9]++%|[0-9]++/[0-9]++)\]\Z"
        rb"|={10,}+ (?:ERRORS|FAILURES) ={10,}+\Z"
        rb"|no tests ran in [0-9.]++s\Z"
        rb"|INTERNALERROR> |bringing up nodes\.\.\. *+\Z"
        rb"|Test session starts \(platform: (?:[^\n,]|,(?! pytest-sugar ))*+, pytest-sugar [^\n)]*+\)\Z"
    ),
    begin=Pytest,
)
