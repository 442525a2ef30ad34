"""deno test, the pretty and dot reporters: results as they come, accounts of the failures, their list, the totals.

The room's rules:

- Before the accounts nothing counts: tests print there what they like. The plan of each file (`running 5 tests from …`)
  must add up to the totals, though.
- An account is a title with its place, then `error: …`. The list below has the same titles in the same order. A test
  that fails only through its steps has no account of its own.
- The totals are the last line: `ok | 4 passed (3 steps) | 0 failed (8ms)`. Steps are counted apart.
"""

import re
from collections import deque
from dataclasses import dataclass, replace

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Dialect

NAME = "deno"

_RUNNING = re.compile(rb"running ([0-9]{1,9}+) tests? from [^\n]++")
# "adds ... ok (374µs)"; a test with steps or output is opened by its name alone.
_RESULT = re.compile(rb"[^\n]*? \.\.\. (ok|FAILED|ignored)(?: \([^()\n]++\))+")
_DOTS = re.compile(rb"[.,!]++")
_ERRORS, _FAILURES = b" ERRORS ", b" FAILURES "
_TITLE = re.compile(rb"[^\n]+ => [^ \n]+:[0-9]++:[0-9]++|[^\n]+ \(uncaught error\)")
_ERROR = b"error: "
_PLACE = b" => "
_STEPS = rb"(?: \([0-9]++ steps?\))?+"
_TOTALS = re.compile(
    rb"(ok|FAILED) \| ([0-9]{1,9}+) passed%b \| ([0-9]{1,9}+) failed%b(?: \| ([0-9]{1,9}+) ignored%b)?+"
    rb"(?: \| [0-9]++ measured)?+(?: \| [0-9]++ filtered out)?+ \([^()\n]++\)" % (_STEPS, _STEPS, _STEPS)
)
_LAST_WORD = b"error: Test failed"
LAST_WORDS = 200
"""Lines before the accounts that are held, in case the run breaks off."""


@dataclass(slots=True)
class _Totals:
    """The last line."""

    failed_run: bool
    passed: int
    failed: int
    ignored: int
    line: Line


class Deno:
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._suppressed = Account()
        self._planned = 0
        self._words: deque[Line] = deque()
        self._failing: list[Line] = []
        """Failing results before the accounts."""
        self._section = b""
        self._accounts: list[list[Line]] = []
        self._list: list[Line] = []
        self._totals: _Totals | None = None
        self._results = False
        self._twice = False

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """None: a name may hold anything."""
        return None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Takes nothing."""
        return 0

    def trace(self) -> None:
        """Remember which lines are suppressed."""
        self._suppressed.trace()

    def cut(self) -> None:
        """The totals end with a time in parentheses."""

    @property
    def complete(self) -> bool:
        """The totals agree with what was read."""
        return self._totals is not None and not self._contradictions(self._totals)

    def _contradictions(self, totals: _Totals) -> set[Doubt]:
        doubts = set()
        tests = totals.passed + totals.failed + totals.ignored
        failed = bool(totals.failed or self._accounts)
        if self._twice or failed != totals.failed_run or self._planned not in (0, tests):
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if bool(totals.failed) > bool(self._accounts):
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if [line.raw for line in self._list] != [account[0].raw for account in self._accounts]:
            doubts.add(Doubt.RECAP_CONTRADICTION)
        return doubts

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Dots stand before the line that proves the dialect."""
        return _DOTS.fullmatch(bare) is not None and self.line(bare, line.raw, line.number)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if not bare.strip() and not (self._section == _ERRORS and self._accounts and self._totals is None):
            self._suppressed.add(Kind.BLANK, number)
            return True
        totals = _TOTALS.fullmatch(bare)
        if self._totals is not None:
            self._twice |= totals is not None
            if self.complete:
                return False
            self._text(self._totals.line)
            self._totals = None
        if totals is not None:
            passed, failed, ignored = (int(n) if n else 0 for n in totals.groups()[1:])
            self._totals = _Totals(totals[1] == b"FAILED", passed, failed, ignored, line)
        elif bare in (_ERRORS, _FAILURES) and bare != self._section:
            self._section = bare
            self._suppressed.add(Kind.STRUCTURE, number)
        elif self._section:
            self._account(bare, line)
        else:
            self._before(bare, line)
        return True

    # -- lines

    def _before(self, bare: bytes, line: Line) -> None:
        result = _RESULT.fullmatch(bare)
        if running := _RUNNING.fullmatch(bare):
            self._planned += int(running[1])
            self._suppressed.add(Kind.STRUCTURE, line.number)
        elif result is not None and result[1] == b"FAILED":
            self._failing.append(line)
        elif result is not None:
            self._results = True
            self._suppressed.add(Kind.SUCCESSFUL_TEST if result[1] == b"ok" else Kind.SKIPPED_TEST, line.number)
        elif _DOTS.fullmatch(bare):
            self._suppressed.add(Kind.PROGRESS, line.number)
        else:
            self._words.append(line)
            if len(self._words) > LAST_WORDS:
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, [self._words.popleft()])

    def _account(self, bare_line: bytes, line: Line) -> None:
        if self._section == _FAILURES:
            self._list.append(line)
            return
        above = self._accounts[-1] if self._accounts else None
        titled = above[-1] if above else (self._words[-1] if self._words else None)
        fresh = titled is not None and line.number == titled.number + 1 and _TITLE.fullmatch(bare(titled.raw))
        if titled is not None and fresh and bare_line.startswith(_ERROR):
            if above is None:
                self._words.pop()
            else:
                above.pop()
            self._accounts.append([titled, line])
        elif above is not None:
            above.append(line)
        else:
            self._words.append(line)

    def _text(self, line: Line) -> None:
        """A line that looked like the totals."""
        if self._section:
            self._account(bare(line.raw), line)
        else:
            self._words.append(line)

    def close(self, exit_code: int | None) -> Reading:
        """Settle accounts and totals."""
        totals = self._totals
        doubts = {Doubt.COMPLETENESS_UNCONFIRMED} if totals is None else self._contradictions(totals)
        failures = [self._failure(account) for account in self._accounts]
        if failures or totals is not None:
            self._suppressed.add_lines(Kind.RECAP, self._failing)
        else:
            failures += (Failure(_name(line), line.as_kind(Kind.FAILED_TEST)) for line in self._failing)
        self._suppressed.add_lines(Kind.RECAP, self._list)
        tally, unclassified = Tally(failed=len(failures), total=len(failures)), list[Line]()
        if totals is not None:
            tests = totals.passed + totals.failed + totals.ignored
            tally = Tally(totals.passed, totals.failed, totals.ignored, total=tests)
            self._suppressed.add(Kind.AGGREGATE_SOURCE, totals.line.number)
            self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._words)
            if not tests and not failures:
                doubts.add(Doubt.NO_TEST_EVIDENCE)
        elif self._words:
            unclassified = list(self._words)
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=tally,
            failures=tuple(failures),
            unclassified=tuple(unclassified),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=totals is not None or self._results or bool(failures),
            standing=0 if totals is None else 1 if self._contradictions(totals) else 3,
        )

    def _failure(self, account: list[Line]) -> Failure:
        header, *details = account
        while details and not details[-1].raw.strip():
            self._suppressed.add(Kind.BLANK, details.pop().number)
        kinds = (line.as_kind(classify_detail(bare(line.raw))) for line in details)
        return Failure(_name(header), header.as_kind(Kind.FAILED_TEST), tuple(kinds))


def _name(line: Line) -> str:
    """A title without its place, or a result without its outcome."""
    text = bare(line.raw)
    text = text.removesuffix(b" (uncaught error)")
    name, place, _ = text.rpartition(_PLACE)
    return decoded((name if place else text.rpartition(b" ... ")[0] or text).strip())


def settle(readings: list[Reading]) -> list[Reading]:
    """Take deno's last word on standard error for what it is."""
    if not any(part.dialect == NAME and part.failures for part in readings):
        return readings
    result = []
    for part in readings:
        gone = {line: Kind.RECAP for line in part.unclassified if bare(line.raw) == _LAST_WORD}
        if gone and part.stream == "stderr" and not part.dialect:
            rest = tuple(line for line in part.unclassified if line not in gone)
            part = replace(part, unclassified=rest).with_suppressed(gone)
        result.append(part)
    return result


DIALECT = Dialect(
    name=NAME,
    title="deno test",
    checked="deno 2.9.8",
    streams=frozenset({"stdout"}),
    opening=re.compile(
        rb"running [0-9]++ tests? from [^\n]++\Z| ERRORS \Z"
        rb"|(?:ok|FAILED) \| [0-9]++ passed(?: \([0-9]++ steps?\))?+ \| [0-9]++ failed"
    ),
    begin=Deno,
    settle=settle,
)
