"""CTest, on standard output, with a few remarks on standard error.

The room's rules:

- A test starts, and has a result that is counted (`3/17`). The closing line closes the run if it agrees with the
  results, and if the list of failed tests behind it names those that failed.
- The output of a failed test stands at the margin below its result and can hold any line. What ends it stands below an
  empty line and is CTest's next: a test that has not started, the next result in order, or the closing line. What is
  printed in its place is seen later, as then a test starts twice, or the count is not met.
- With -V each line of output has the number of its test in front.
"""

import re
from collections.abc import Sequence

from context_firewall.transcript.dialects import ctest_grammar as grammar
from context_firewall.transcript.dialects.ctest_grammar import Totals
from context_firewall.transcript.dialects.ctest_tests import Ended, Tests
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect, Machine
from context_firewall.transcript.printed import Printed


class Ctest(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._tests = Tests(self._suppressed)
        self._printed = Printed()
        self._open: Ended | None = None
        """The failed test to whose region further lines belong."""
        self._wrapped = False
        """The open result has not come to its end."""
        self._current = 0
        """The test that started last, if nothing has come since."""
        self._totals: Totals | None = None
        self._headed = False
        """The head has been read."""
        self._denied = False
        """A closing line does not agree with the results."""
        self._aggregate: list[Line] = []
        self._timed = False
        self._list = b""
        """The list that is being read."""
        self._listed: dict[int, Line] = {}
        self._wrong_list = False
        self._last = 0

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of tests that pass."""
        free = self._open is None and self._totals is None and not self._tests.running and not self._list
        return grammar.PASSED_LANE if free and self._tests.place else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of passed tests, if they are all in order."""
        tests = self._tests
        places, totals, numbers = (
            [int(number) for number in column]
            for column in zip(*grammar.NUMBERS.findall(block, start, stop), strict=True)
        )
        due = range(tests.done + 1, tests.done + 1 + len(places))
        started = set(numbers)
        if places != list(due) or set(totals) != {tests.all} or due[-1] > tests.all:
            return 0
        if len(started) < len(numbers) or not started.isdisjoint(tests.started):
            return 0
        tests.run(len(numbers), started, tests.all)
        self._last = number + 2 * len(numbers) - 1
        return 2 * len(numbers)

    def cut(self) -> None:
        """Nothing: a closing line that has lost its end is none."""

    @property
    def complete(self) -> bool:
        """The closing line agrees with all that was read, and each failure is in the list."""
        return self._totals is not None and self._timed and self._recapped()

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if not bare.strip():
            self._blank(line)
            return True
        apart, self._last = number > self._last + 1, number
        if self._remark(bare, line):
            return True
        if self._totals is not None:
            return self._closing(bare, line)
        if self._wrapped and self._open is not None:
            self._open.more.append(line)
            self._wrapped = grammar.TIME.search(bare) is None
            return True
        ended = self._open
        inside = ended is not None and not apart and number > ended.header.number + len(ended.more) + 1
        if not inside and self._own(bare, line):
            return True
        if ended is not None:
            ended.output.append(line)
            return True
        return self._other(bare, line)

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        tests = self._tests
        doubts: set[Doubt] = set()
        if not self.complete or tests.all not in (0, tests.done):
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if tests.odd:
            doubts.add(Doubt.PLAN_CONTRADICTION)
        if self._wrong_list or (self._denied and self._totals is None):
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        current = self._unfinished()
        self._printed.lines += tests.loose
        failures = [
            ended.failure(self._suppressed, self._listed.pop(ended.number, None)) for ended in tests.failed.values()
        ]
        if self._listed:
            doubts.add(Doubt.RECAP_CONTRADICTION)
            self._printed.lines += self._listed.values()
        skipped = len(tests.skipped) + len(tests.disabled)
        total = tests.passed + len(failures) + skipped
        if not total:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        self._suppressed.add_lines(Kind.AGGREGATE_SOURCE, self._aggregate)
        return Reading(
            tally=Tally(tests.passed, len(failures), skipped, 0, total),
            failures=tuple(failures),
            fatal_errors=self._printed.of_kind(Kind.FATAL_ERROR),
            timeouts=self._printed.of_kind(Kind.TIMEOUT),
            warnings=(*self._printed.of_kind(Kind.ABNORMAL_WARNING), *tests.warnings),
            unclassified=tuple(self._printed.settled(self._suppressed, proven=False, failed=bool(failures))),
            suppressed=self._suppressed.totals(),
            doubts=frozenset(doubts),
            has_results=total > 0,
            standing=(3 if not doubts else 1) if self._totals is not None else 0,
            current_test=current,
            fates=self._suppressed.fates,
        )

    # -- lines of the run

    def _blank(self, line: Line) -> None:
        if self._open is not None and not self._wrapped:
            self._open.output.append(line)
        elif self._open is not None:
            self._open.more.append(line)
        else:
            self._suppressed.add(Kind.BLANK, line.number)

    def _own(self, bare: bytes, line: Line) -> bool:
        """Whether a line is CTest's own: a start, a result, a step, or the closing line."""
        start = grammar.START.fullmatch(bare)
        if start is not None:
            number = int(start["number"])
            self._open, self._current = None, number
            self._tests.start(number, start["name"], line)
            return True
        result = grammar.RESULT.fullmatch(bare)
        if result is not None and self._ended(result, bare, line):
            return True
        stated = grammar.totals(bare)
        if stated is not None and self._tests.agrees(stated):
            self._open, self._totals = None, stated
            self._aggregate.append(line)
            return True
        if bare == grammar.PASSED_LIST:
            self._open, self._list = None, bare
            self._suppressed.add(Kind.RECAP, line.number)
            return True
        project = grammar.PROJECT.fullmatch(bare) is not None
        if project or grammar.STEP.fullmatch(bare):
            # Another run's head: this one has broken off before its end.
            self._tests.odd |= project and self._headed
            self._headed |= project
            self._open = None
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        return False

    def _ended(self, result: re.Match[bytes], bare: bytes, line: Line) -> bool:
        tests = self._tests
        number = int(result["number"])
        running = tests.running.get(number)
        found = grammar.split(result["rest"], None if running is None else running.name)
        if found is None:
            return False
        if result["place"] is None:
            if running is None:
                return False
            self._open = tests.end(number, *found, line, counted=False)
        else:
            if not tests.counts(int(result["place"]), int(result["all"]), number):
                return False
            self._open = tests.end(number, *found, line)
        self._current = 0
        self._wrapped = self._open is not None and grammar.TIME.search(bare) is None
        return True

    def _other(self, bare: bytes, line: Line) -> bool:
        """A line that is not CTest's own, with no failed test above it."""
        output = grammar.OUTPUT.fullmatch(bare)
        test = None if output is None else self._tests.running.get(int(output["number"]))
        if test is not None:
            test.output.append(line)
            return True
        if self._list and bare.startswith(b"\t"):
            self._suppressed.add(Kind.RECAP, line.number)
            return True
        starting = self._tests.running.get(self._current)
        if starting is not None:
            starting.notes.append(line)
            return True
        self._denied |= grammar.totals(bare) is not None
        self._printed.take(bare, line)
        return False

    def _remark(self, bare: bytes, line: Line) -> bool:
        """Whether a line belongs on standard error, if it is merged; in a failed test's output it may be anything."""
        if self._open is not None or not grammar.REMARKS.fullmatch(bare):
            return False
        self._suppressed.add(Kind.INFORMATIONAL, line.number)
        return True

    # -- the end

    def _closing(self, bare: bytes, line: Line) -> bool:
        """A line behind the closing line."""
        if not self._timed and (grammar.TOTAL_TIME.fullmatch(bare) or grammar.LABELS.fullmatch(bare)):
            self._timed = grammar.TOTAL_TIME.fullmatch(bare) is not None
            self._suppressed.add(Kind.DURATION_SOURCE, line.number)
            return True
        if self._timed and bare in (grammar.IDLE_LIST, grammar.FAILED_LIST):
            self._list = bare
            self._suppressed.add(Kind.RECAP, line.number)
            return True
        listed = grammar.LISTED.fullmatch(bare)
        if listed is not None and self._list == grammar.IDLE_LIST:
            known = self._tests.skipped | self._tests.disabled
            self._wrong_list |= int(listed["number"]) not in known
            self._suppressed.add(Kind.RECAP, line.number)
            return True
        if listed is not None and self._list == grammar.FAILED_LIST and not self._recapped():
            number = int(listed["number"])
            failure = self._tests.failures.get(number)
            fits = number not in self._listed and failure is not None and listed["rest"].startswith(failure.name)
            self._wrong_list |= not fits
            if fits:
                self._listed[number] = line
            else:
                self._printed.take(bare, line)
            return True
        if not self.complete:
            self._printed.take(bare, line)
        return False

    def _recapped(self) -> bool:
        return self._totals is not None and len(self._listed) == self._totals.failed

    def _unfinished(self) -> str:
        """The only test that was running when the output broke off; what running tests printed stays visible."""
        tests = self._tests
        for test in tests.running.values():
            self._printed.lines += test.lines()
        for attempts in tests.attempts.values():
            for one in attempts:
                self._printed.lines += [*one.before, one.header, *one.more, *one.output]
        names = [test.name for test in tests.running.values()]
        return names[0].decode("utf-8", "replace") if len(names) == 1 else ""


class Remarks(Bookkeeper):
    """Reads what CTest says on standard error."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._missing: list[Line] = []
        self._warnings: list[Line] = []

    complete = True
    """Anything may follow a remark."""

    def cut(self) -> None:
        """Nothing: no remark is counted."""

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        if grammar.MISSING.fullmatch(bare):
            self._missing.append(Line(self._stream, number, Kind.UNCLASSIFIED, raw))
            return True
        if grammar.NO_FILE.fullmatch(bare):
            self._warnings.append(Line(self._stream, number, Kind.ABNORMAL_WARNING, raw))
            return True
        if not bare.strip() or grammar.REMARKS.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL if bare.strip() else Kind.BLANK, number)
            return True
        return False

    def close(self, exit_code: int | None) -> Reading:
        """What is left is which programs and files were missing."""
        return Reading(
            unclassified=tuple(self._missing),
            warnings=tuple(self._warnings),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
        )


def _begin(stream: str) -> Machine:
    return Remarks(stream) if stream == "stderr" else Ctest(stream)


def _with_missing(readings: list[Reading]) -> list[Reading]:
    """Standard error names a program that is missing; so does the failure of the test that would have run it."""
    told: set[Line] = set()
    missing = [line for part in readings if part.dialect == "ctest" for line in part.unclassified if _path(line)]
    parts = []
    for part in readings:
        failures = tuple(_with(failure, missing, told) for failure in part.failures)
        parts.append(part._replace(failures=failures))
    return [part._replace(unclassified=tuple(line for line in part.unclassified if line not in told)) for part in parts]


def _with(failure: Failure, missing: Sequence[Line], told: set[Line]) -> Failure:
    paths = {_path(line) for line in failure.details} - {b""}
    own = [line for line in missing if line not in told and _path(line) in paths]
    told.update(own)
    return failure._replace(details=(*failure.details, *(line.as_kind(Kind.FAILURE_DETAIL) for line in own)))


def _path(line: Line) -> bytes:
    found = grammar.MISSING.fullmatch(bared(line.raw))
    return b"" if found is None else found["path"]


DIALECT = Dialect(
    name="ctest",
    title="CTest",
    checked="CTest 3.18, 3.22, 3.25, 3.27, 3.31, 4.1",
    streams=frozenset({"stdout", "stderr"}),
    opening=grammar.OPENING,
    begin=_begin,
    settle=_with_missing,
)
