"""bats' pretty formatter (`bats --pretty`, and on a terminal): a line a test, with the cursor's moves in it.

The room's rules:

- The moves are the grammar, so lines are read raw. A test begins with its name and number, from column 1, and ends with
  its result written over that, from column 1 again to the end of the line; a line of text begins with a colour and
  three blanks. So nothing that a failing test prints can look like a result.
- What a test writes to file descriptor 3 goes through bats' own reader: a result there is printed as one, under a name
  that no test has begun with. It is contested.
- The report is over with the number of tests and of failures, on a line that a bold colour and an empty line announce.
  Where tests are missing, a warning stands before it.
"""

import re
from dataclasses import dataclass, field, replace

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.runtime_warnings import BATS, BATS_WARNING

_PASSED, _FAILED, _SKIPPED = "✓".encode(), "✗".encode(), b"-"

# Colours and moves that may stand before the first column: ESC [ … m, ESC [ n B, ESC [ n A.
_MOVES = rb"(?:\x1b\[[0-9;]*+[mAB])*+"
# A test that begins: column 1, three blanks and its name, the rest of the line erased, its number in the last columns,
# with -T the time so far, column 2. A name that is too long ends with "...".
_BEGINS = re.compile(
    rb"\x1b\[1G   ([^\x1b]*+)\x1b\[K\x1b\[[0-9]++G *+([0-9]{1,9}+)/([0-9]{1,9}+)(?: in [0-9]++ sec)?+\x1b\[2G"
)
# A result: column 1, the mark, the name, the rest of the line erased; with -T how long it took.
_RESULT = re.compile(rb"%b\x1b\[1G (\xe2\x9c\x93|\xe2\x9c\x97|-) ([^\n]*)\x1b\[K" % _MOVES)
# Tests that passed and printed nothing past bats.
_LANE = re.compile(
    rb"(?:\x1b\[0m\x1b\[1G   ([^\x1b\n]*+)\x1b\[K\x1b\[[0-9]++G *+[0-9]++/[0-9]++\x1b\[2G"
    rb"\x1b\[1G \xe2\x9c\x93 \1\x1b\[K\r?+\n)++"
)
_TIMED = re.compile(rb"\x1b\[[0-9;]*+m \[[0-9.]++\]\Z")
_SKIP = b" (skipped"
# Behind the name of a test that was skipped and whose teardown failed.
_SKIPPED_TOO = b" # skip"
_FILE = re.compile(rb"\x1b\[34;1m([^\x1b\n]++)")
_START = re.compile(_MOVES)
# "%d test(s), %d failure(s)[, %d skipped][, %d not run][ in %d seconds]"
_SUMMARY = re.compile(
    rb"([0-9]{1,9}+) tests?, ([0-9]{1,9}+) failures?(?:, ([0-9]{1,9}+) skipped)?+(?:, ([0-9]{1,9}+) not run)?+"
    rb"(?: in [0-9]++ seconds)?+"
)
_BOLD = (b"\x1b[32;1m", b"\x1b[31;1m")
_WARNING = re.compile(rb"   bats warning: [^\n]++")
_ABORTED = re.compile(rb"   Received SIGINT, aborting \.\.\.")
_FILE_HOOKS = frozenset({b"setup_file failed", b"teardown_file failed"})
_CUT = b"..."
# The output of a test that has not failed.
_SHOWN = b"\x1b[0m\x1b[0m   "
# Behind a setup_file that failed, bats 1.8 writes "begin 6 " before the name of a test that begins.
_NUMBERED = re.compile(rb"begin [0-9]++ ")


@dataclass(slots=True)
class _Test:
    """A failing test."""

    name: bytes
    lines: list[Line]
    file_hook: bool = False


@dataclass(slots=True)
class _Summary:
    """The last line, and what it counts."""

    tests: int
    failed: int
    skipped: int
    not_run: int
    lines: list[Line] = field(default_factory=list)

    @property
    def passed(self) -> int:
        """All that are not counted otherwise."""
        return max(0, self.tests - self.failed - self.skipped - self.not_run)


class BatsPretty(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._begun = b""
        """The name of the test that runs."""
        self._passed = self._skipped = self._odd = 0
        self._tests: list[_Test] = []
        self._open: _Test | None = None
        self._printed: list[Line] = []
        """What the running test has printed past bats."""
        self._shown = False
        """The result above is of a test that has not failed: --show-output-of-passing-tests shows what it printed."""
        self._announced: Line | None = None
        self._summary: _Summary | None = None
        self._warnings: list[Line] = []
        self._short: list[Line] = []
        """bats' warnings that it has run fewer or more tests than it meant to."""
        self._fatal: list[Line] = []
        self._contested: list[Line] = []
        self._unclassified: list[Line] = []
        self._doubts: set[Doubt] = set()
        self._warned = False
        self._cut = False

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of passed tests."""
        return None if self._begun or self._printed or self._announced or self._summary else _LANE

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed tests."""
        count = block.count(b"\n", start, stop)
        self._open, self._shown = None, True
        self._passed += count
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count)
        return count

    def cut(self) -> None:
        """The last line has no newline; after the summary bats prints no more than a colour."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """The summary has been read and counts what was read."""
        return self._summary is not None and self._agrees(self._summary)

    def _agrees(self, summary: _Summary) -> bool:
        """bats counts as not run what it has no result of; results of nobody spoil that count."""
        passed = summary.tests - summary.failed - summary.skipped - summary.not_run
        return not self._odd and (passed, summary.failed, summary.skipped) == (
            self._passed,
            len(self._tests),
            self._skipped,
        )

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        raw = raw.removesuffix(b"\r")
        if self._summary is not None:
            taken = self._behind(bare, line)
            if taken is not None:
                return taken
        return self._read(bare, raw, line)

    # -- lines

    def _read(self, bare: bytes, raw: bytes, line: Line) -> bool:
        announced, self._announced = self._announced, None
        if announced is not None:
            if self._closes(bare, announced, line):
                return True
            self._suppressed.add(Kind.BLANK, announced.number)
        if not bare and raw.endswith(_BOLD):
            self._announced = line
            return True
        start = self._begins(raw)
        result = _RESULT.fullmatch(raw, start)
        if result is not None:
            self._result(result[1], result[2], line)
        elif start:
            # A test runs, and what it prints past bats stands on the next lines.
            self._open = None
            self._text(_START.sub(b"", raw[start:], count=1), line)
        elif _FILE.fullmatch(_START.sub(b"", raw, count=1)) or (_FILE.search(raw) and not bare.startswith(b" ")):
            self._open = None
            self._suppressed.add(Kind.STRUCTURE, line.number)
        else:
            return self._loose(bare, raw, line)
        return True

    def _begins(self, raw: bytes) -> int:
        """Take note of the tests that begin on a line. Returns where the last of them ends."""
        moves = _START.match(raw)
        place = at = 0
        if moves is not None:
            at = moves.end()
        while (found := _BEGINS.match(raw, at)) is not None:
            self._begun = found[1]
            place = at = found.end()
        return place

    def _result(self, mark: bytes, text: bytes, line: Line) -> None:
        self._open = None
        self._shown = False
        name = _TIMED.sub(b"", text)
        if mark == _SKIPPED:
            name = name.partition(_SKIP)[0]
        if mark == _FAILED and self._begun and self._begun == name.rpartition(_SKIPPED_TOO)[0]:
            name = self._begun
        hook = mark == _FAILED and name in _FILE_HOOKS and not self._begun
        if not hook and not self._ends(name):
            self._odd += 1
            self._contested.append(line)
            return
        if mark == _FAILED:
            self._open = _Test(name, [line, *self._printed], hook)
            self._tests.append(self._open)
        else:
            self._passed += mark == _PASSED
            self._skipped += mark == _SKIPPED
            self._suppressed.add(Kind.SUCCESSFUL_TEST if mark == _PASSED else Kind.SKIPPED_TEST, line.number)
            self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._printed)
            self._shown = True
        self._printed = []

    def _ends(self, name: bytes) -> bool:
        """Whether the test that has begun last has that name; one that began before it has lost its result."""
        numbered = _NUMBERED.match(self._begun)
        forms = (self._begun, self._begun[numbered.end() :] if numbered is not None else self._begun)
        cut = (form.removesuffix(_CUT) for form in forms if form.endswith(_CUT))
        if name not in forms and not any(name.startswith(start) for start in cut):
            return False
        self._begun = b""
        return True

    def _text(self, text: bytes, line: Line) -> None:
        if text.strip():
            self._printed.append(line)
        else:
            self._suppressed.add(Kind.STRUCTURE, line.number)

    def _loose(self, bare: bytes, raw: bytes, line: Line) -> bool:
        """Text: of the failing test above, of the test that runs, or bats' own."""
        if _WARNING.fullmatch(bare):
            self._open = None
            self._short.append(line)
        elif _ABORTED.fullmatch(bare):
            self._open = None
            self._fatal.append(line.as_kind(Kind.FATAL_ERROR))
        elif self._open is not None and bare.startswith(b"   "):
            self._open.lines.append(line)
        elif not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
        elif self._begun:
            self._printed.append(line)
        elif self._shown and raw.startswith(_SHOWN):
            self._suppressed.add(Kind.PROGRAM_OUTPUT, line.number)
        else:
            self._unclassified.append(line)
            return False
        return True

    # -- the end

    def _closes(self, bare: bytes, announced: Line, line: Line) -> bool:
        found = _SUMMARY.fullmatch(bare)
        if found is None:
            return False
        self._open = None
        tests, failed, skipped, not_run = (int(n) if n else 0 for n in found.groups())
        self._summary = _Summary(tests, failed, skipped, not_run, [announced, line])
        return True

    def _behind(self, bare: bytes, line: Line) -> bool | None:
        """A line behind the summary. None if it shows that the summary was none."""
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        self._warned = (BATS_WARNING if self._warned else BATS).fullmatch(bare) is not None
        if self._warned:
            self._warnings.append(line.as_kind(Kind.ABNORMAL_WARNING))
            return True
        if self.complete:
            return False
        if self._summary is not None:
            self._unclassified += self._summary.lines
        self._summary = None
        return None

    def close(self, exit_code: int | None) -> Reading:
        """Settle results and summary."""
        summary, doubts = self._summary, self._doubts
        if self._announced is not None:
            self._suppressed.add(Kind.BLANK, self._announced.number)
        if summary is None:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            tally = Tally(self._passed, len(self._tests), self._skipped)
        else:
            for line in summary.lines:
                kind = Kind.AGGREGATE_SOURCE if bare(line.raw).strip() else Kind.STRUCTURE
                self._suppressed.add(kind, line.number)
            if not self._agrees(summary):
                doubts.add(Doubt.CONTESTED_RESULTS if self._odd else Doubt.AGGREGATE_CONTRADICTION)
            failed = len(self._tests) if self._odd else summary.failed
            tally = Tally(self._passed if self._odd else summary.passed, failed, summary.skipped)
        tally = replace(tally, total=tally.passed + tally.failed + tally.skipped)
        failures = [_failure(test) for test in self._tests]
        if not failures and self._short:
            header, *more = self._short
            name = decoded(bare(header.raw).strip())
            failures.append(Failure(name, header.as_kind(Kind.FAILED_TEST), tuple(more)))
        else:
            self._warnings += (line.as_kind(Kind.ABNORMAL_WARNING) for line in self._short)
        current = decoded(self._begun) if summary is None else ""
        if self._contested:
            doubts.add(Doubt.CONTESTED_RESULTS)
        self._unclassified += (line.as_kind(Kind.CONTESTED_TEST) for line in self._contested)
        self._unclassified += self._printed
        if self._unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        if summary is not None and not summary.tests and not failures:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        return Reading(
            tally=tally,
            failures=tuple(failures),
            fatal_errors=tuple(self._fatal),
            warnings=tuple(sorted(self._warnings, key=lambda line: line.number)),
            unclassified=tuple(sorted(self._unclassified, key=lambda line: line.number)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=summary is not None or bool(tally.total),
            standing=0 if summary is None else 3 if self._agrees(summary) else 1,
            current_test=current,
        )


def _failure(test: _Test) -> Failure:
    header, *details = test.lines
    name = decoded(test.name)
    if test.file_hook and details:
        name += ": " + decoded(bare(details[0].raw).strip())
    kinds = (line.as_kind(classify_detail(bare(line.raw))) for line in details)
    return Failure(name, header.as_kind(Kind.FAILED_TEST), tuple(kinds))


DIALECT = Dialect(
    name="bats-pretty",
    title="bats, pretty formatter",
    checked="bats 1.8.2, 1.13.0",
    streams=frozenset({"stdout"}),
    # With the moves taken out, a test's name and number run into its result.
    opening=re.compile(
        rb"   [^\n]*?[0-9]/[0-9]++(?: in [0-9]++ sec)?+(?:\Z| (?:\xe2\x9c[\x93\x97]|-) )"
        rb"| \xe2\x9c\x97 (?:setup|teardown)_file failed\Z|[^ \n]+\.bats\Z"
    ),
    begin=BatsPretty,
    # Any log may name a file.
    tentative=True,
)
