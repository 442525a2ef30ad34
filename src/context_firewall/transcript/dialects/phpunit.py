"""PHPUnit's default and testdox printers, and its service messages, on standard output.

The room's rules:

- The head opens the results; the line with time and memory closes them; sections with accounts follow, or the failing
  part of the outline, then the verdict. It closes the report if it agrees with sections, rows and signs.
- What stands among the results and is none was printed by a test.
- With --teamcity messages stand in the place of rows. They name what failed, and the verdict still counts it; from
  PHPUnit 10 on the sections name it once more.
- Another line with time and memory, with a report below it, shows that the one before was printed: its accounts stay
  visible.
"""

import re
from collections import Counter

from context_firewall.transcript.dialects import phpunit_grammar as grammar
from context_firewall.transcript.dialects.phpunit_grammar import FAILING, Ending, Totals
from context_firewall.transcript.dialects.phpunit_report import Report, is_verdict, repeats
from context_firewall.transcript.dialects.phpunit_results import Results, risky
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect


class Phpunit(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._results = Results(self._suppressed)
        self._head = False
        self._issues = False
        """Whether warnings are issues of tests that have passed."""
        self._report: Report | None = None
        self._again: Line | None = None
        """Another line with time and memory, which waits for what follows."""
        self._word: Line | None = None
        """The first line of a verdict, which waits for the second."""
        self._verdict: list[Line] = []
        self._totals: Totals | None = None
        self._disputed: Totals | None = None
        self._broken_off = False
        """Another run has begun before the verdict."""
        self._nothing = False
        """The runner says that it has run no tests."""
        self._contested: list[Line] = []
        self._last = 0
        self._traced = False
        """The last line ends an exception that no empty line follows."""

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of rows without a failure, or of passed tests."""
        free = self._report is None and self._head and not self._nothing and not self._results.logging
        return self._results.lane() if free else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of rows or of passed tests, unless it stands below an empty line."""
        if number > self._last + 1:
            return 0
        count = block.count(b"\n", start, stop)
        self._results.run(block, start, stop, count)
        self._last = number + count - 1
        return count

    def cut(self) -> None:
        """Nothing: a verdict that has lost its end is none."""

    @property
    def complete(self) -> bool:
        """The verdict agrees with all that was read."""
        return self._totals is not None or self._nothing

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
        apart, self._last = number > self._last + 1 or self._traced, number
        self._traced = self._report is not None and grammar.TRACE_END.fullmatch(bare) is not None
        if self.complete:
            if not grammar.COVERAGE.fullmatch(bare):
                return False
            self._suppressed.add(Kind.INFORMATIONAL, number)
            return True
        if not self._head:
            self._head = True
            head = grammar.HEAD.fullmatch(bare)
            issues = head is not None and int(head["major"]) >= grammar.ISSUES_SINCE
            self._issues = self._results.issues = self._results.outline.issues = issues
            self._suppressed.add(Kind.STRUCTURE, number)
            return True
        if self._results.logging:
            return self._results.take(bare, line, apart=apart)
        # Another run's head: this one has broken off before its end.
        self._broken_off |= grammar.HEAD.fullmatch(bare) is not None
        if apart and grammar.TIME.fullmatch(bare):
            self._time(line)
            return True
        if self._again is not None:
            self._begin_again(bare)
        if self._report is not None:
            return self._reported(self._report, bare, line, apart=apart)
        if apart and bare == grammar.NOTHING:
            self._nothing = True
            self._verdict = [line]
            return True
        return self._results.take(bare, line, apart=apart)

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        self._release()
        self._results.end()
        report = self._report
        if report is not None:
            report.release()
            self._lose_word(report)
        doubts: set[Doubt] = set()
        if self._disputed is not None:
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if (self._disputed is None and not (self.complete and self._results.ran_all())) or self._broken_off:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if self._contested or (report is not None and report.doubtful):
            doubts.add(Doubt.CONTESTED_RESULTS)
        unclassified = [*self._contested, *self._results.late, *(report.strays if report is not None else ())]
        told, risky_tests = self._from_messages(report, doubts, unclassified)
        failures = self._failures(report, told, doubts, unclassified)
        todo = [*self._todo(report), *risky_tests]
        tally = self._tally(failures)
        if not tally.total and not failures:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        printed = self._results.printed
        if doubts or unclassified or self._results.logging:
            unclassified += self._results.log
        else:
            self._suppressed.add_lines(Kind.RECAP, self._results.log)
        unclassified += printed.settled(self._suppressed, proven=not doubts and not unclassified, failed=bool(failures))
        warnings: list[Line] = []
        if report is not None:
            report.suppress(self._suppressed)
            warnings += (line.as_kind(Kind.ABNORMAL_WARNING) for line in report.issue_lines())
        self._suppressed.add_lines(Kind.AGGREGATE_SOURCE, self._verdict)
        return Reading(
            tally=tally,
            failures=tuple(failures),
            fatal_errors=printed.of_kind(Kind.FATAL_ERROR),
            timeouts=printed.of_kind(Kind.TIMEOUT),
            warnings=(*printed.of_kind(Kind.ABNORMAL_WARNING), *warnings),
            unclassified=tuple(sorted(unclassified, key=lambda line: line.number)),
            todo=tuple(line.as_kind(Kind.TODO_TEST) for line in todo),
            suppressed=self._suppressed.totals(),
            doubts=frozenset(doubts),
            has_results=self.complete or tally.total > 0,
            standing=3 if self._totals is not None else int(self._disputed is not None),
            current_test=self._results.messages.current if self._results.messages is not None else "",
            fates=self._suppressed.fates,
        )

    # -- the results are over

    def _blank(self, line: Line) -> None:
        if self.complete or self._report is None or not self._report.blank(line):
            self._suppressed.add(Kind.BLANK, line.number)

    def _time(self, line: Line) -> None:
        self._release()
        if self._report is None:
            self._results.end()
            self._report = Report(line, issues=self._issues)
        else:
            self._again = line

    def _begin_again(self, bare: bytes) -> None:
        """If a report begins below another line with time and memory, the first was printed."""
        again, report = self._again, self._report
        if again is None or report is None:
            return
        if not report.begins(bare):
            self._release()
            return
        self._again = None
        self._lose_word(report)
        for section in report.sections:
            self._contested += (entry.header.as_kind(Kind.CONTESTED_TEST) for entry in section.entries)
        held = sorted([*report.lines(), *self._verdict], key=lambda line: line.number)
        self._verdict, self._disputed = [], None
        self._results.resume()
        last = 0
        for one in held:
            text = bared(one.raw)
            if text.strip():
                self._results.take(text, one, apart=one.number > last + 1)
                last = one.number
            else:
                self._suppressed.add(Kind.BLANK, one.number)
        self._results.end()
        self._report = Report(again, issues=self._issues)

    def _release(self) -> None:
        """What waited is text."""
        if self._again is not None and self._report is not None:
            held, self._again = self._again, None
            self._report.take(bared(held.raw), held, apart=False)

    # -- the report

    def _reported(self, report: Report, bare: bytes, line: Line, *, apart: bool) -> bool:
        """A line behind the results."""
        word = self._word
        if word is not None:
            if line.number == word.number + 1 and self._concludes(report, [word, line]):
                self._word = None
                return True
            self._lose_word(report)
        # Below a summary that ends with a sign alone stands no empty line; all else of it is indented.
        if (apart or report.recap is not None) and is_verdict(bare) and report.whole():
            if bare in grammar.WORDS:
                self._word = line
                return True
            if self._concludes(report, [line]):
                return True
        # Where issues are counted, the outline stands behind the rows, after the time.
        outline = self._results.outline
        if self._issues and not report.sections and not report.begins(bare):
            if outline.take(bare, line, apart=apart):
                return True
        elif (title := outline.dropped()) is not None:
            report.strays.append(title)
        return report.take(bare, line, apart=apart)

    def _lose_word(self, report: Report) -> None:
        """What looked like a verdict's first line is text."""
        if self._word is not None:
            held, self._word = self._word, None
            report.take(bared(held.raw), held, apart=False)

    def _concludes(self, report: Report, lines: list[Line]) -> bool:
        """Whether lines are the verdict; one that does not agree is, until a better one comes."""
        texts = [bared(line.raw) for line in lines]
        stated = grammar.totals(texts[0], texts[1] if len(texts) > 1 else b"", issues=self._issues)
        if stated is None:
            return False
        for held in self._verdict:
            report.take(bared(held.raw), held, apart=False)
        self._verdict = lines
        self._results.end()
        whole = report.agrees(stated) and not self._results.late
        if whole and self._results.agrees(stated, accounts=bool(report.sections)):
            self._totals, self._disputed = stated, None
        else:
            self._disputed = stated
        return True

    # -- what it amounts to

    def _from_messages(
        self, report: Report | None, doubts: set[Doubt], unclassified: list[Line]
    ) -> tuple[list[Failure], list[Line]]:
        """The failures that service messages tell of, and the lines about tests that are only risky."""
        messages = self._results.messages
        if messages is None:
            return [], []
        unclassified += [*messages.torn, *messages.unfinished(), *messages.problems, *messages.remarks]
        if messages.torn:
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if messages.contested:
            doubts.add(Doubt.CONTESTED_RESULTS)
        tests = [*messages.failed, *messages.outside]
        if report is not None and report.sections:
            for test in tests:
                self._suppressed.add_lines(Kind.RECAP, test.lines)
            if len(tests) > len(report.entries(*FAILING, Ending.RISKY)):
                doubts.add(Doubt.RECAP_CONTRADICTION)
            return [], []
        only_risky = risky(messages, self._stated.endings[Ending.RISKY]) if self._stated is not None else []
        for test in only_risky:
            self._suppressed.add_lines(Kind.TEST_DETAIL, (line for line in test.lines if line is not test.header))
        failures = [test.failure() for test in tests if test not in only_risky]
        return failures, [test.header for test in only_risky if test.header is not None]

    def _failures(
        self, report: Report | None, told: list[Failure], doubts: set[Doubt], unclassified: list[Line]
    ) -> list[Failure]:
        outline = self._results.outline
        accounts = report.entries(*FAILING) if report is not None else []
        failures = [*told, *(entry.failure(self._suppressed, grammar.detail_kind) for entry in accounts)]
        if accounts and outline.failures:
            for entry in outline.failures:
                self._suppressed.add_lines(Kind.RECAP, entry.lines())
        else:
            failures += (entry.failure(self._suppressed, grammar.detail_kind) for entry in outline.failures)
        if report is not None and report.recap is not None:
            names = Counter(entry.name for entry in outline.failures)
            if Counter(entry.name for entry in report.recap.failures) != names:
                doubts.add(Doubt.RECAP_CONTRADICTION)
            new = repeats(report.recap, report.recap_lines, outline.failures)
            unclassified += new
            fresh = {line.number for line in new}
            self._suppressed.add_lines(Kind.RECAP, (line for line in report.recap_lines if line.number not in fresh))
        stated = self._stated
        endings = self._results.endings() if stated is None else stated.endings
        missing = sum(endings[ending] for ending in FAILING) - len(failures)
        # No message tells of a test that ended with a warning.
        untold = stated is None or (self._results.messages is not None and missing == endings[Ending.WARNING])
        if untold and missing > 0:
            doubts.add(Doubt.FAILURES_UNNAMED)
            tests = "test" if missing == 1 else "tests"
            failures.append(Failure(f"{missing} failing {tests}, not named", None))
        elif stated is not None and len(failures) != stated.failed:
            doubts.add(Doubt.RECAP_CONTRADICTION)
        return failures

    def _todo(self, report: Report | None) -> list[Line]:
        """Tests that are risky or incomplete; what the report says about them and about skipped ones is counted."""
        todo = list(self._results.outline.todo)
        if report is None:
            return todo
        accounts = report.entries(Ending.RISKY, Ending.INCOMPLETE)
        if accounts and todo:
            self._suppressed.add_lines(Kind.RECAP, todo)
            todo = []
        todo += (entry.header for entry in accounts)
        skipped = report.entries(Ending.SKIPPED)
        self._suppressed.add_lines(Kind.SKIPPED_TEST, (entry.header for entry in skipped))
        for entry in (*accounts, *skipped):
            entry.suppress_body(self._suppressed)
        return todo

    def _tally(self, failures: list[Failure]) -> Tally:
        stated = self._stated
        endings = Counter(stated.endings) if stated is not None else self._results.endings()
        failed = stated.failed if stated is not None else max(len(failures), sum(endings[one] for one in FAILING))
        passed, skipped = endings[Ending.PASSED], endings[Ending.SKIPPED]
        todo = endings[Ending.INCOMPLETE] + endings[Ending.RISKY]
        return Tally(passed, failed, skipped, todo, passed + failed + skipped + todo)


DIALECT = Dialect(
    name="phpunit",
    title="PHPUnit",
    checked="PHPUnit 9.6",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=Phpunit,
    program_streams=frozenset({"stderr"}),
)
