"""RSpec's progress and documentation formatters, on standard output.

The room's rules:

- First the results, then the report: sections with accounts of what is pending and of what failed, `Finished in …`, the
  totals, and the list of failed examples. The report closes when all of it agrees.
- Nothing marks the beginning, and letters prove no dialect. The machine opens at a line that does, and takes what
  stands before it as results.
- A report that results follow, or that begins anew, was printed by an example: its lines are read again as results.
"""

import re
from collections.abc import Sequence

from context_firewall.transcript.dialects import rspec_grammar as grammar
from context_firewall.transcript.dialects.rspec_grammar import Heading, Totals
from context_firewall.transcript.dialects.rspec_report import Report, Section
from context_firewall.transcript.dialects.rspec_results import Results
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.numbered import Entry
from context_firewall.transcript.ruby import COVERAGE, INTERRUPTED, error_name, settled_by


class Rspec(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._results = Results(self._suppressed)
        self._report: Report | None = None
        self._last = 0
        """The number of the last line that was not blank."""
        self._contested: list[Line] = []
        """Headers of accounts that the totals deny."""
        self._closed = False

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of an outline."""
        return self._results.lane(plain=plain) if self._report is None else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Take a run of an outline."""
        taken = self._results.run(block[start:stop], self._stream, number, apart=number > self._last + 1)
        if taken:
            self._last = number + taken - 1
        return taken

    def cut(self) -> None:
        """Nothing: totals that have lost their end do not agree with the sections."""

    @property
    def complete(self) -> bool:
        """The totals agree with all that was read, and every failure has been listed again."""
        return self._closed and self._report is not None and self._report.recapped

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if not bare.strip():
            self._blank(line)
            return True
        apart, self._last = number > self._last + 1, number
        if self.complete:
            if grammar.INFORMATION.fullmatch(bare) or COVERAGE.fullmatch(bare):
                self._suppressed.add(Kind.INFORMATIONAL, number)
                return True
            return False
        heading = grammar.heading(bare) if apart else None
        if heading is not None:
            self._begin(heading, line)
            return True
        report = self._report
        if report is None:
            return self._results.take(bare, line, apart=apart)
        fits = report.take(bare, line)
        if fits and report.aggregate and report.aggregate[-1] is line:
            self._settle(report)
        return fits

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        self._results.end()
        report = self._report if self._report is not None else Report()
        totals = report.totals
        doubts: set[Doubt] = set()
        if totals is None or self._results.stopped or (totals.failures and not report.recap_lines):
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if totals is not None and not self._closed:
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        failures = self._failures(report, doubts)
        pending = self._pending(report, doubts)
        tally = self._tally(totals, failures, pending)
        if not tally.total and not failures:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        if self._contested:
            doubts.add(Doubt.CONTESTED_RESULTS)
        unclassified = [*self._contested, *(line.as_kind(Kind.UNCLASSIFIED) for line in report.strays())]
        unclassified += self._results.printed.settled(
            self._suppressed,
            proven=self._closed and not doubts and not unclassified,
            failed=bool(failures),
            since=self._results.first,
        )
        warnings = report.suppress(self._suppressed)
        printed = self._results.printed
        return Reading(
            tally=tally,
            failures=tuple(failures),
            fatal_errors=printed.of_kind(Kind.FATAL_ERROR),
            timeouts=printed.of_kind(Kind.TIMEOUT),
            warnings=(*printed.of_kind(Kind.ABNORMAL_WARNING), *warnings),
            unclassified=tuple(sorted(unclassified, key=lambda line: line.number)),
            todo=tuple(entry.header.as_kind(Kind.TODO_TEST) for entry in pending[0]),
            suppressed=self._suppressed.totals(),
            doubts=frozenset(doubts),
            has_results=totals is not None or bool(failures) or tally.total > 0,
            standing=(3 if self._closed and not doubts else 1) if totals is not None else 0,
            fates=self._suppressed.fates,
        )

    # -- the report begins, ends, or was none

    def _blank(self, line: Line) -> None:
        if self._report is None or self.complete:
            self._results.blank(line)
        else:
            self._report.blank(line)

    def _begin(self, heading: Heading, line: Line) -> None:
        if self._report is None:
            self._report = Report()
        self._withdraw(self._report.withdrawn(heading))
        self._report.begin(heading, line)

    def _settle(self, report: Report) -> None:
        """The totals have been read."""
        totals = report.totals
        self._withdraw(report.uncounted())
        self._results.end()
        self._closed = totals is not None and report.agrees() and self._results.agrees(totals)

    def _withdraw(self, sections: Sequence[Section]) -> None:
        """What looked like sections was printed. Where nothing but their place says so, their failures stay visible."""
        proven = any(section.strays for section in sections)
        failures = [one for section in sections if section.heading is Heading.FAILURES for one in section.entries]
        headers = set() if proven else {entry.header.number for entry in failures}
        last = 0
        for line in sorted((line for section in sections for line in section.lines()), key=lambda line: line.number):
            text = bared(line.raw)
            if not text.strip():
                self._results.blank(line)
                continue
            if line.number in headers:
                self._contested.append(line.as_kind(Kind.CONTESTED_TEST))
            else:
                self._results.take(text, line, apart=line.number > last + 1)
            last = line.number

    # -- what it amounts to

    def _failures(self, report: Report, doubts: set[Doubt]) -> list[Failure]:
        results = self._results
        failures = []
        names = []
        for entry in report.entries(Heading.FAILURES):
            texts = entry.texts()
            if entry.name.endswith(grammar.FIXED) and texts and texts[0].lstrip().startswith(b"Expected pending "):
                entry.name = entry.name.removesuffix(grammar.FIXED)
            names.append(entry.name)
            failures.append(entry.failure(self._suppressed, grammar.detail_kind))
        if report.recapped and sorted(names) != sorted(report.recaps):
            doubts.add(Doubt.RECAP_CONTRADICTION)
        for error in results.errors:
            told = error.failure(self._suppressed, grammar.detail_kind)
            name, whole = error_name(error.name, error.texts())
            if not whole:
                doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            failures.append(Failure(name, told.header, told.details))
        for number, mark in results.failed.items():
            if number <= len(names):
                self._suppressed.add(Kind.RECAP, mark.line.number)
            else:
                failures.append(Failure(decoded(mark.name), mark.line.as_kind(Kind.FAILED_TEST)))
        missing = results.letters.sure[grammar.FAILED] - len(names)
        if report.totals is None and missing > 0:
            doubts.add(Doubt.FAILURES_UNNAMED)
            tests = "example" if missing == 1 else "examples"
            failures.append(Failure(f"{missing} failing {tests}, not named", None))
        return failures

    def _pending(self, report: Report, doubts: set[Doubt]) -> tuple[list[Entry], list[Entry]]:
        """Examples that are not finished or expected to fail, and those that were skipped."""
        todo: list[Entry] = []
        skipped: list[Entry] = []
        for entry in report.entries(Heading.PENDING):
            texts = [text.strip() for text in entry.texts() if text.strip()]
            reason, place = (texts[0], texts[-1]) if len(texts) > 1 else (b"", b"")
            if not reason.startswith(b"# ") or not grammar.PLACE.match(place):
                doubts.add(Doubt.COUNTS_UNCONFIRMED)
            ran = grammar.CALLED.search(place) is not None
            bodiless = not ran and reason == grammar.NOT_YET
            # RSpec skips an example without a body; others call one todo. Its word for both is pending.
            if ran is (len(texts) == 2) or bodiless:
                doubts.add(Doubt.COUNTS_UNCONFIRMED)
            unfinished = ran or bodiless
            (todo if unfinished else skipped).append(entry)
            if not unfinished:
                self._suppressed.add(Kind.SKIPPED_TEST, entry.header.number)
            entry.suppress_body(self._suppressed)
        self._suppressed.add_lines(Kind.RECAP if todo or skipped else Kind.SKIPPED_TEST, self._results.pending)
        return todo, skipped

    def _tally(
        self, totals: Totals | None, failures: Sequence[Failure], pending: tuple[list[Entry], list[Entry]]
    ) -> Tally:
        todo, skipped = (len(entries) for entries in pending)
        if totals is not None:
            told = todo + skipped == totals.pending
            return Tally(
                totals.passed,
                totals.failures,
                skipped if told else totals.pending,
                todo if told else 0,
                totals.examples,
            )
        results = self._results
        passed = results.letters.sure[grammar.PASSED] + results.leaves
        failed = max(results.letters.sure[grammar.FAILED], len(results.failed), len(failures) - len(results.errors))
        skipped = max(skipped, results.letters.sure[grammar.PENDING] + len(results.pending) - todo)
        return Tally(passed, failed, skipped, todo, passed + failed + skipped + todo)


DIALECT = Dialect(
    name="rspec",
    title="RSpec",
    checked="RSpec 3.12",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=Rspec,
    adopts_text=True,
    # Merged streams are read as standard output, of course.
    program_streams=frozenset({"stderr"}),
    settle=settled_by("rspec", INTERRUPTED),
)
