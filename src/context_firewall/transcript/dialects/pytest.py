"""pytest's terminal reporter: default, -q, -v, with any traceback style, with or without xdist.

The room's rules:

- A report has parts: the head, the results (letters, or named lines with -v), then sections under rulers: errors,
  failures, output of passed tests, warnings, plugins' tables, the short summary; then the closing line.
- Rulers count only at the report's own width. Inside the region of a failing test only the reporter's own titles end
  the region; a nested report (a test that runs pytest) belongs to the test up to its own closing line.
- The closing line closes the report if nothing of the report follows it. One that stands elsewhere is text.
- A run that prints without capture (-s) glues text and letters together: such lines are kept, their letters are not
  counted.
- What was read is settled against short summary and closing line in `pytest_account`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import pytest_grammar as grammar
from context_firewall.transcript.dialects.pytest_account import (
    Entry,
    Lettered,
    Named,
    Report,
    settled,
)
from context_firewall.transcript.dialects.pytest_grammar import Counts, Progress, Result, Ruler
from context_firewall.transcript.dialects.pytest_section import Section
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Dialect
from context_firewall.transcript.markers import marker_kind

_MOST_LOG_LINES = 4096
"""Live log lines of one test that are held until its result shows whether they are kept."""

# The field of `Results` that a letter or a word counts in; others (reruns, passed subtests) count nowhere.
_FIELD_OF_LETTER = (
    (b".", "passed"),
    (b"F", "failed"),
    (b"E", "errors"),
    (b"s", "skipped"),
    (b"x", "xfailed"),
    (b"X", "xpassed"),
    (b"u", "subtests_failed"),
)
_FIELD_OF_WORD = {
    b"PASSED": "passed",
    b"FAILED": "failed",
    b"ERROR": "errors",
    b"SKIPPED": "skipped",
    b"XFAIL": "xfailed",
    b"XPASS": "xpassed",
    b"SUBFAILED": "subtests_failed",
    b"SUBFAIL": "subtests_failed",
}
_KIND_OF_WORD = {
    b"PASSED": Kind.SUCCESSFUL_TEST,
    b"SKIPPED": Kind.SKIPPED_TEST,
    b"XFAIL": Kind.TODO_TEST,
    b"XPASS": Kind.TODO_TEST,
}


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


class Pytest:
    """Reads one report."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._width: int | None = None
        self._part = _Part.RESULTS
        self._head = False
        self._rooted = False
        self._titled = False
        """The session's ruler was read: the closing line has one too."""
        self._error = False
        """The open section is about errors."""
        self._section: Section | None = None
        self._nested = False
        self._file = b""
        self._current = b""
        self._logging = False
        self._log: list[Line] = []
        self._reason: Kind | None = None
        """The kind of a result whose reason goes on in the next line."""
        self._goes_on: list[Line] | None = None
        """Where the further lines of the short summary's last entry go."""
        self._closing: _Closing | None = None
        self._report = Report()
        self._outside: list[Failure] = []
        """Failures outside tests: internal and usage errors, a process stopped for its time."""
        self._region: list[Line] | None = None
        """The open region of one of them."""
        self._named_results = False
        self._workers = False
        self._seen_unhandled = False
        self._suppressed = Account()
        self._doubts: set[Doubt] = set()
        self._unclassified: list[Line] = []
        self._todo: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {
            Kind.FATAL_ERROR: [],
            Kind.TIMEOUT: [],
            Kind.ABNORMAL_WARNING: [],
        }
        self._readers: dict[_Part, Callable[[bytes, Line], bool]] = {
            _Part.RESULTS: self._in_results,
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
        if self._part is not _Part.RESULTS or self._closing or self._logging or self._reason or self._region:
            return None
        if not self._named_results:
            return grammar.LETTER_LANE
        return grammar.WORKERS_LANE if self._workers else grammar.VERBOSE_LANE

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of passed tests. A path in it has one dot, that of its extension."""
        lines = block.count(b"\n", start, stop)
        if self._named_results:
            passed = block.count(grammar.FROM_WORKER_PASSED, start, stop) if self._workers else lines
            self._suppressed.add_many(Kind.SUCCESSFUL_TEST, passed)
            self._suppressed.add_many(Kind.STRUCTURE, lines - passed)
            self._current = b""
        else:
            files = block.count(b".py ", start, stop)
            passed = block.count(b".", start, stop) - files
            if files:
                begins = block.rfind(b"\n", start, block.rfind(b".py ", start, stop)) + 1
                self._file = block[max(begins, start) :].partition(b" ")[0]
            self._suppressed.add_many(Kind.PROGRESS, lines)
        self._head = False
        self._report.results.passed += passed
        return lines

    def trace(self) -> None:
        """Remember which lines are suppressed."""
        self._suppressed.trace()

    def cut(self) -> None:
        """The last line has no newline; what the reporter writes before a test has none, so nothing follows from it."""

    @property
    def complete(self) -> bool:
        """The closing line agrees with what was read, and nothing has followed it."""
        return self._closing is not None and self._closing.agrees

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line: a closing line, a ruler, or what its part makes of it."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._closing is not None:
            if not bare.strip():
                self._suppressed.add(Kind.BLANK, number)
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
        self._end_log(failed=False)
        self._end_region()
        counts = None
        if self._closing is not None:
            counts = self._closing.counts
            self._suppressed.add(Kind.AGGREGATE_SOURCE, self._closing.line.number)
        account = settled(self._report, counts, self._suppressed)
        doubts = self._doubts | account.doubts
        unclassified = sorted((*self._unclassified, *account.unclassified), key=_place)
        if unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        if counts is not None and counts.unknown:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        has_results = counts is not None or self._report.results.any or bool(account.failures)
        if not account.tally.total and not account.failures:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        if self._outside:
            doubts.add(Doubt.FAILURE_OUTSIDE_TESTS)
        standing = 0
        if counts is not None:
            standing = 3 if Doubt.AGGREGATE_CONTRADICTION not in doubts else 2
        return Reading(
            tally=account.tally,
            failures=(*account.failures, *self._outside),
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
            current_test=decoded(self._current) if counts is None else "",
        )

    # -- the closing line

    def _closes(self, bare: bytes) -> Counts | None:
        """The counts of a line that has the closing line's form in this report."""
        if self._nested or bare[-1:] not in b"=s)":
            return None
        if (not self._titled and bare[:1].isdigit()) or bare.startswith(b"no tests "):
            return grammar.closing(bare)
        ruler = grammar.ruler(bare) if bare[:1] == b"=" else None
        return grammar.closing(ruler.title) if ruler is not None and ruler.fits(self._width) else None

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
        elif self._part is _Part.QUIET:
            self._suppressed.add(Kind.PROGRAM_OUTPUT, closing.line.number)
        else:
            self._contest(closing.line)
            self._report.noisy |= self._part is _Part.RESULTS

    def _usage_error(self, bare: bytes, line: Line) -> bool:
        """A word of pytest's own behind a run without tests; any other line is not of this report."""
        if not bare.startswith(b"ERROR: ") or self._closing is None or self._closing.counts.total:
            return False
        name = bare.rpartition(b"not found: ")[2] if b"not found: " in bare else bare
        self._outside.append(Failure(decoded(name), line.as_kind(Kind.PROCESS_FAILURE)))
        return True

    # -- lines by their part

    def _text(self, bare: bytes, line: Line) -> bool:
        """Any other line."""
        if self._nested:
            self._in_nested(bare, line)
            return True
        if bare[:1] in grammar.RULER_SIGNS and bare:
            ruler = grammar.ruler(bare)
            if ruler is not None and ruler.fits(self._width) and self._under(ruler, bare, line):
                return True
        if bare.startswith(grammar.INTERNAL_ERROR):
            self._internal_error(bare, line)
            return True
        if self._region is not None and self._in_region(bare, line):
            return True
        return self._readers[self._part](bare, line)

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
                self._logging = True
                self._log.append(line)
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
        if self._titled or self._part is not _Part.RESULTS or self._report.results.any:
            return False
        self._titled = self._head = True
        self._width = ruler.width
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def _enter(self, part: _Part) -> None:
        self._end_log(failed=False)
        self._end_region()
        self._section = None
        self._head = False
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
        entry = grammar.ENTRY.match(bare)
        if entry is not None:
            word = entry["word"]
            description, text = grammar.described(entry["rest"])
            error, subtest = word == b"ERROR", word.startswith(b"SUB")
            self._report.entries.append(Entry(text, line, error, description, subtest))
            self._report.entries_of[error] += 1
            self._goes_on = self._report.entries[-1].more
        elif grammar.TODO_ENTRY.fullmatch(bare) and not self._named_results:
            self._todo.append(line.as_kind(Kind.TODO_TEST))
            self._goes_on = self._todo
        elif grammar.SILENT_ENTRY.fullmatch(bare):
            self._suppressed.add(Kind.RECAP, line.number)
            self._goes_on = None
        elif not bare.strip() and not self._goes_on:
            self._suppressed.add(Kind.BLANK, line.number)
        elif self._goes_on is not None and marker_kind(bare) is None:
            # With -vv a message stands in full; so does a reason that holds newlines.
            self._goes_on.append(line.as_kind(Kind.TODO_TEST) if self._goes_on is self._todo else line)
        else:
            return self._aside(bare, line)
        return True

    # -- results

    def _in_results(self, bare: bytes, line: Line) -> bool:
        if not bare.strip() and not self._logging:
            self._head = False
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        if self._reason is not None:
            return self._reason_goes_on(bare, line)
        if self._logging:
            return self._in_log(bare, line)
        if self._in_head(bare, line):
            return True
        result = grammar.result(bare)
        if result is not None:
            self._named(result, line)
            return True
        return self._letters(bare, line) or self._half_a_result(bare, line) or self._other(bare, line)

    def _in_head(self, bare: bytes, line: Line) -> bool:
        """The head's own rows, and what xdist says of its workers."""
        collected = grammar.COLLECTED.fullmatch(bare)
        if collected is not None:
            self._head = self._rooted = True
            parts = {word: int(n) for n, word in grammar.COLLECTED_PART.findall(collected["rest"])}
            self._report.collection_errors = parts.get(b"error", 0) + parts.get(b"errors", 0)
        elif grammar.WORKERS.fullmatch(bare):
            self._rooted = self._workers = True
        elif not self._head:
            if not grammar.LISTED.fullmatch(bare):
                return False
        elif not self._rooted:
            # Before it names its root, the head holds nothing but what the runner and its plugins say of themselves.
            self._rooted = bare.startswith(grammar.ROOT)
        elif not grammar.HEADER_ROW.fullmatch(bare):
            return False
        self._suppressed.add(Kind.INFORMATIONAL, line.number)
        return True

    def _letters(self, bare: bytes, line: Line) -> bool:
        """A line of letters; xdist may add what befell a worker."""
        down = bare.find(b"[gw")
        lost = down > 0 and grammar.NODE_DOWN.match(bare, down) is not None
        progress = grammar.progress(bare[:down] if lost else bare)
        if progress is None:
            return False
        failing = self._count(progress)
        if failing:
            self._report.lettered.append(Lettered(self._file, failing, line))
        else:
            self._suppressed.add(Kind.PROGRESS, line.number)
        return True

    def _count(self, progress: Progress) -> int:
        """Count letters; returns how many of them are failures and errors."""
        letters = progress.letters
        for letter, name in _FIELD_OF_LETTER:
            count = letters.count(letter)
            if count:
                setattr(self._report.results, name, getattr(self._report.results, name) + count)
        if progress.file:
            self._file = progress.file
        return letters.count(b"F") + letters.count(b"E")

    def _half_a_result(self, bare: bytes, line: Line) -> bool:
        """A test that runs now, or the result of one that was named in a line before."""
        if self._current:
            text, _ = grammar.without_margin(bare)
            word = grammar.LONE_WORD.match(text)
            if word is not None:
                self._named(Result(self._current, word[1]), line)
                return True
        announced = grammar.ANNOUNCED.fullmatch(bare)
        if announced is None:
            return False
        self._current = announced["id"]
        self._named_results = True
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def _named(self, result: Result, line: Line) -> None:
        """A result with its name."""
        self._named_results = True
        self._current = b""
        name = _FIELD_OF_WORD.get(result.word)
        if name is not None:
            setattr(self._report.results, name, getattr(self._report.results, name) + 1)
        kind = _KIND_OF_WORD.get(result.word, Kind.PROGRESS)
        failed = name in ("failed", "errors", "subtests_failed")
        output = self._end_log(failed=failed)
        if failed:
            error = name == "errors"
            self._report.named.append(Named(result.id, line, error, result.description, output))
        elif kind is Kind.TODO_TEST:
            self._todo.append(line.as_kind(kind))
        else:
            self._suppressed.add(kind, line.number)
        if result.open_reason:
            self._reason = kind

    def _reason_goes_on(self, bare: bytes, line: Line) -> bool:
        """The rest of a reason that is wrapped: the line with the margin ends it."""
        kind = self._reason or Kind.PROGRESS
        _, margin = grammar.without_margin(bare)
        if not margin and (grammar.result(bare) or grammar.progress(bare)):
            self._reason = None
            return self._in_results(bare, line)
        if margin:
            self._reason = None
        if kind is Kind.TODO_TEST:
            self._todo.append(line.as_kind(kind))
        else:
            self._suppressed.add(kind, line.number)
        return True

    def _in_log(self, bare: bytes, line: Line) -> bool:
        """A line of the live log of the running test; its result ends it."""
        text, margin = grammar.without_margin(bare)
        word = grammar.LONE_WORD.match(text)
        if word is not None and (margin or not self._titled):
            self._named(Result(self._current, word[1]), line)
            return True
        announced = grammar.ANNOUNCED.fullmatch(bare)
        result = grammar.result(bare)
        if result is not None or announced is not None:
            self._end_log(failed=False)
            return self._in_results(bare, line)
        self._log.append(line)
        if len(self._log) > _MOST_LOG_LINES:
            self._suppressed.add(Kind.PROGRAM_OUTPUT, self._log.pop(0).number)
        return True

    def _end_log(self, *, failed: bool) -> list[Line]:
        """The live log of a failing test is part of its region; of any other it is only counted."""
        log, self._log = self._log, []
        self._logging = False
        if failed:
            return log
        self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, log)
        return []

    def _other(self, bare: bytes, line: Line) -> bool:
        """A line that is no result: a stack dump, a usage error, or text of somebody else among the results."""
        if bare.endswith(b"+ Timeout ++") or (b"+ Timeout +" in bare and bare.endswith(b"+")):
            self._time_out(bare, line)
            return True
        if self._head and bare.startswith(b"ERROR: "):
            name = bare.rpartition(b"not found: ")[2] if b"not found: " in bare else bare
            self._outside.append(Failure(decoded(name), line.as_kind(Kind.PROCESS_FAILURE)))
            return True
        self._report.noisy = True
        running = grammar.ANNOUNCED_AND_MORE.match(bare)
        if running is not None:
            self._current = running["id"]
        return self._aside(bare, line)

    # -- failures outside tests

    def _internal_error(self, bare: bytes, line: Line) -> None:
        """pytest itself, or a plugin, broke: one region, each line behind the same sign."""
        if self._region is None or not self._outside or self._outside[-1].identity != "INTERNALERROR":
            self._end_region()
            self._outside.append(Failure("INTERNALERROR", line.as_kind(Kind.PROCESS_FAILURE)))
            self._region = []
        else:
            self._region.append(line.as_kind(classify_detail(bare[len(grammar.INTERNAL_ERROR) :].strip())))

    def _time_out(self, bare: bytes, line: Line) -> None:
        """pytest-timeout stops the process: the stacks of its threads, between two rulers."""
        at = bare.find(b"+")
        progress = grammar.progress(bare[:at].rstrip(b" ")) if at > 0 else None
        if progress is not None:
            self._count(progress)
        running = grammar.ANNOUNCED_AND_MORE.match(bare)
        if running is not None:
            self._current = running["id"]
        self._end_region()
        self._outside.append(Failure(decoded(self._current) or "Timeout", line.as_kind(Kind.PROCESS_FAILURE)))
        self._region = []

    def _in_region(self, bare: bytes, line: Line) -> bool:
        """A line of the open region of a failure outside tests."""
        region = self._region
        if region is None:
            return False
        if self._outside[-1].identity == "INTERNALERROR":
            self._end_region()
            return False
        region.append(line.as_kind(classify_detail(bare)))
        frame = grammar.FRAME.match(bare)
        if frame is not None and self._file and frame["file"].endswith(b"/" + self._file):
            last = self._outside[-1]
            self._outside[-1] = Failure(decoded(self._file + b"::" + frame["name"]), last.header)
        return True

    def _end_region(self) -> None:
        if self._region is not None:
            last = self._outside[-1]
            self._outside[-1] = Failure(last.identity, last.header, tuple(self._region))
            self._region = None

    # -- small accounts

    def _aside(self, bare: bytes, line: Line) -> bool:
        """A marker of any program, or a line that nothing knows."""
        kind = marker_kind(bare)
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


DIALECT = Dialect(
    name="pytest",
    title="pytest, terminal reporter",
    checked="pytest 6.2, 7.4, 9.2; xdist 3.8, timeout 2.4, cov 7.1, rerunfailures 16.7",
    streams=frozenset({"stdout"}),
    # The session's ruler; with -q the first line of letters, or the ruler of the first section; or a run without tests.
    opening=re.compile(
        rb"=++ test session starts =++\Z"
        rb"|(?:[^\s\[][^\n]*? )??[.FEsxXRu,-]++ ++\[ *+(?:[0-9]++%|[0-9]++/[0-9]++)\]\Z"
        rb"|={10,}+ (?:ERRORS|FAILURES) ={10,}+\Z"
        rb"|no tests ran in [0-9.]++s\Z"
        rb"|INTERNALERROR> "
    ),
    begin=Pytest,
)
