"""cargo-nextest's report for people, on standard error: a line a test, the output of those that fail, the summary.

The room's rules:

- A status fills twelve columns up to the time behind it. What a failing test printed follows its line; since nextest
  indents it, or in older versions did not, it may hold the shape of anything. So only the summary counts.
- The summary stands behind a ruler: how many tests ran, of how many if not of all, and how they ended. Below it each
  test that did not simply pass has its line again. Failing lines, that list and the counts must be one.
- A test that is tried again has a line for each try. The last one says how it ended.
"""

import re
from dataclasses import dataclass, field

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Bookkeeper, Dialect

_COLUMNS = 12

# "        PASS [   0.004s] (1/3) my-crate tests::adds", "  TRY 2 FAIL [   1.000s] …", "        SLOW [> 60.000s] …"
_STATUS = re.compile(
    rb" *+(?P<status>[A-Z][A-Za-z0-9+/ -]*?) \[ *+(?P<running>>? ?)[0-9.]*+s?\](?: \( *+[0-9]++/[0-9]++\))?+"
    rb"(?: \[[0-9/]++\])?+ +(?P<test>[^ \n]++ [^\n]++)"
)
_TRY = re.compile(rb"TRY [0-9]++ ")
_PASSING = frozenset({b"PASS", b"LEAK", b"SLOW", b"TIMEOUT-PASS", b"SLOW + LEAK", b"SLOW+TMPASS", b"TMPASS", b"FLAKY"})
_FAILING = frozenset(
    {b"FAIL", b"FAIL + LEAK", b"FL+LK", b"XFAIL", b"LEAK-FAIL", b"LKFAIL", b"TIMEOUT", b"TMT", b"ABORT", b"ABRT"}
)
_OTHER = frozenset({b"SKIP", b"START", b"RETRY", b"DELAY", b"TERMINATING", b"SETUP"})
_STARTING = re.compile(rb" *+Starting ([0-9]{1,9}+) tests? across [0-9]++ binar(?:y|ies)(?: \([^()\n]++\))?+")
_RULER = re.compile(rb"(?:\xe2\x94\x80){4,}+")
_RUN_ID = re.compile(rb" *+Nextest run ID [0-9a-f-]++ with nextest profile: [^\n]++")
_SUMMARY = re.compile(
    rb" *+Summary \[ *+[0-9.]++s\] ([0-9]{1,9}+)(?:/([0-9]{1,9}+))?+ tests? run: ([0-9]{1,9}+) passed"
    rb"(?: \([^()\n]++\))?+"
    rb"(?:, ([0-9]{1,9}+) failed(?: \([^()\n]++\))?+)?+(?:, ([0-9]{1,9}+) exec failed)?+(?:, ([0-9]{1,9}+) timed out)?+"
    rb", ([0-9]{1,9}+) skipped"
)
_STOPPED = re.compile(rb" *+(?:Cancell?ing|Killing)(?: due to [^\n]++)?+(?:: [^\n]++)?+")
_NOT_RUN = re.compile(rb"warning: [0-9]++/[0-9]++ tests? (?:was|were) not run[^\n]*+")
_LAST_WORD = re.compile(rb"error: (?:test run failed|no tests to run)")
_CARGO = re.compile(rb" *+(?:Finished|Compiling|Blocking|Running) [^\n]++|info: [^\n]++")
_LANE = re.compile(rb"(?:        PASS \[ *+[0-9.]++s\] (?:\( *+[0-9]++/[0-9]++\) )?+[^ \n(\[]++ [^\n\x1b\r]++\n)++")


def _status(text: bytes) -> tuple[bytes, bytes, bool] | None:
    """Word, test and whether it is still running, if a line is a status."""
    found = _STATUS.fullmatch(text)
    if found is None or found.end("status") != _COLUMNS:
        return None
    tried = _TRY.sub(b"", found["status"], count=1)
    word = b"FLAKY" if tried.startswith(b"FLAKY ") else tried
    known = word in _PASSING or word in _FAILING or word.startswith(b"SIG") or word.partition(b" ")[0] in _OTHER
    return (word, found["test"], bool(found["running"].strip())) if known else None


def _fails(word: bytes) -> bool:
    return word in _FAILING or word.startswith(b"SIG")


@dataclass(slots=True)
class _Summary:
    """The summary, and what stands below it."""

    run: int
    total: int
    passed: int
    failed: int
    skipped: int
    lines: list[Line]
    listed: list[tuple[bytes, Line]] = field(default_factory=list)
    """Failing tests, once more."""
    open: bytes = b""
    """The last of them: with `--failure-output final` its output stands here."""
    output: list[tuple[bytes, Line]] = field(default_factory=list)
    over: bool = False
    """The last word has been said."""


class Nextest(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._planned: int | None = None
        self._passed = 0
        self._failing: dict[bytes, list[list[Line]]] = {}
        """Regions of failing tests, a region for each try."""
        self._open: list[Line] | None = None
        self._ruler: Line | None = None
        self._summary: _Summary | None = None
        self._warnings: list[Line] = []
        self._unclassified: list[Line] = []

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of passed tests."""
        return None if self._open is not None or self._ruler or self._summary or self._failing else _LANE

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed tests."""
        count = block.count(b"\n", start, stop)
        self._passed += count
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count)
        return count

    def cut(self) -> None:
        """A summary that is cut has no count of skipped tests."""

    @property
    def complete(self) -> bool:
        """The summary agrees with what was read, and the last word of a failing run has been said."""
        summary = self._summary
        return summary is not None and (summary.over or not summary.failed) and not self._contradictions(summary)

    def _contradictions(self, summary: _Summary) -> set[Doubt]:
        doubts = set()
        counted = summary.passed + summary.failed
        listed = {test for test, _ in summary.listed}
        if counted != summary.run or self._planned not in (None, summary.total):
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if self._passed not in (0, summary.passed) or len(self._failing) not in (0, summary.failed):
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if listed and (len(listed) != summary.failed or len(listed) != len(summary.listed)):
            doubts.add(Doubt.RECAP_CONTRADICTION)
        if listed and self._failing and listed != set(self._failing):
            doubts.add(Doubt.RECAP_CONTRADICTION)
        if summary.failed and not listed and not self._failing:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if summary.run < summary.total and not summary.failed:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        return doubts

    def adopt(self, bare: bytes, line: Line) -> bool:
        """The first ruler, and cargo's words above it, stand before the line that proves the dialect."""
        if not _RULER.fullmatch(bare) and not _CARGO.fullmatch(bare):
            return False
        return self.line(bare, line.raw, line.number)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._summary is not None:
            taken = self._behind(self._summary, bare, line)
            if taken is not None:
                return taken
        return self._read(bare, line)

    # -- lines

    def _read(self, bare: bytes, line: Line) -> bool:
        ruler, self._ruler = self._ruler, None
        if ruler is not None:
            if self._closes(bare, ruler, line):
                return True
            self._ruled(ruler)
        if _RULER.fullmatch(bare):
            self._ruler = line
            return True
        status = _status(bare)
        if status is not None:
            self._tested(*status, line)
        elif starting := _STARTING.fullmatch(bare):
            self._planned = int(starting[1])
            self._suppressed.add(Kind.STRUCTURE, line.number)
        elif _RUN_ID.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        elif _STOPPED.fullmatch(bare):
            self._open = None
            self._warnings.append(line.as_kind(Kind.ABNORMAL_WARNING))
        elif self._open is not None:
            self._open.append(line)
        elif not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
        elif _CARGO.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        else:
            self._unclassified.append(line)
            return False
        return True

    def _ruled(self, ruler: Line) -> None:
        if self._open is not None:
            self._open.append(ruler)
        else:
            self._suppressed.add(Kind.STRUCTURE, ruler.number)

    def _tested(self, word: bytes, test: bytes, running: bool, line: Line) -> None:
        self._open = None
        if running or word.partition(b" ")[0] in _OTHER:
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        elif _fails(word):
            self._open = [line]
            self._failing.setdefault(test, []).append(self._open)
        else:
            self._passed += 1
            self._suppressed.add(Kind.SUCCESSFUL_TEST, line.number)
            for region in self._failing.pop(test, ()):
                # It passed when it was tried again.
                self._suppressed.add_lines(Kind.TEST_DETAIL, region)

    # -- the end

    def _closes(self, bare: bytes, ruler: Line, line: Line) -> bool:
        found = _SUMMARY.fullmatch(bare)
        if found is None:
            return False
        run, total, passed, failed, unstarted, late, skipped = (int(n) if n else 0 for n in found.groups())
        self._open = None
        self._summary = _Summary(run, total or run, passed, failed + unstarted + late, skipped, [ruler, line])
        return True

    def _behind(self, summary: _Summary, bare: bytes, line: Line) -> bool | None:
        """A line below the summary. None if it shows that there was none."""
        if not bare.strip():
            summary.output.append((summary.open, line))
            return True
        status = _status(bare)
        if not summary.over and status is not None and not status[2]:
            word, test, _ = status
            summary.open = test if _fails(word) else b""
            if summary.open:
                summary.listed.append((test, line))
            else:
                summary.lines.append(line)
            return True
        if _LAST_WORD.fullmatch(bare) and not summary.over:
            summary.over, summary.open = True, b""
            summary.lines.append(line)
            return True
        if _NOT_RUN.fullmatch(bare):
            self._warnings.append(line.as_kind(Kind.ABNORMAL_WARNING))
            return True
        if summary.open:
            summary.output.append((summary.open, line))
            return True
        if self.complete:
            return False
        self._summary = None
        self._unclassified += summary.lines
        self._unclassified += (held for _, held in (*summary.listed, *summary.output))
        return None

    def close(self, exit_code: int | None) -> Reading:
        """Settle results and summary."""
        summary = self._summary
        if self._ruler is not None:
            self._ruled(self._ruler)
        doubts = {Doubt.COMPLETENESS_UNCONFIRMED} if summary is None else self._contradictions(summary)
        if summary is not None:
            self._account(summary)
        failures = [self._failure(test, regions) for test, regions in self._failing.items()]
        passed, failed, skipped = self._passed, len(self._failing), 0
        if summary is not None:
            passed, failed, skipped = summary.passed, summary.failed, summary.skipped
            if not summary.run:
                doubts.add(Doubt.NO_TEST_EVIDENCE)
        if self._unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=Tally(passed, failed, skipped, total=passed + failed + skipped),
            failures=tuple(failures),
            warnings=tuple(self._warnings),
            unclassified=tuple(sorted(self._unclassified, key=lambda line: line.number)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=summary is not None or bool(passed or failed),
            standing=0 if summary is None else 1 if self._contradictions(summary) else 3,
        )

    def _account(self, summary: _Summary) -> None:
        """Lines below the summary: recaps, or the only account of a failure."""
        for line in summary.lines:
            text = bare(line.raw)
            kind = (
                Kind.AGGREGATE_SOURCE if _SUMMARY.fullmatch(text) else Kind.RECAP if _status(text) else Kind.STRUCTURE
            )
            self._suppressed.add(kind, line.number)
        told = {test: regions[-1] for test, regions in self._failing.items()}
        for test, line in summary.listed:
            if test in told:
                self._suppressed.add(Kind.RECAP, line.number)
            else:
                told[test] = [line]
                self._failing[test] = [told[test]]
        for test, line in summary.output:
            if test and line.raw.strip():
                told[test].append(line)
            else:
                self._suppressed.add(Kind.BLANK, line.number)

    def _failure(self, test: bytes, regions: list[list[Line]]) -> Failure:
        header, *details = (line for region in regions for line in region)
        while details and not details[-1].raw.strip():
            self._suppressed.add(Kind.BLANK, details.pop().number)
        kinds = (line.as_kind(classify_detail(bare(line.raw))) for line in details)
        return Failure(decoded(test.strip()), header.as_kind(Kind.FAILED_TEST), tuple(kinds))


DIALECT = Dialect(
    name="nextest",
    title="cargo-nextest",
    checked="no version yet: its forms are those that nextest's own tests record",
    streams=frozenset({"stdout", "stderr"}),
    opening=re.compile(
        rb" *+Nextest run ID [0-9a-f-]++ with nextest profile: | *+Starting [0-9]++ tests? across [0-9]++ binar"
        rb"|(?: {8}(?:PASS|FAIL|SLOW)| {5}TIMEOUT| {2}TRY [0-9] (?:PASS|FAIL)) \[ *+[0-9.]++s\] "
        rb"| *+Summary \[ *+[0-9.]++s\] [0-9]++(?:/[0-9]++)?+ tests? run: "
    ),
    begin=Nextest,
    # It captures what tests print. People merge the streams, though.
    program_streams=frozenset({"stdout"}),
)
