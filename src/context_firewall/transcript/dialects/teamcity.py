"""TeamCity's service messages, of whichever runner, among what its tests print.

The room's rules:

- `transcript/service_messages.py` reads them. Nothing sums them up, and a test of which nothing is said has passed: by
  themselves they prove nothing. Another report of the same run may.
- A run has come to its end if one suite holds as many tests as were announced; then another may follow.
- Text while one test runs, and only one, is that test's. Other text is the program's in a run that came to its end.
- A message behind such an end shows that it was none, unless it announces another run.
- Beside another runner's report they are a second print: what it names and counts, counts. PHPUnit's own messages stand
  inside its report and are read there.
"""

import re

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind
from context_firewall.transcript.printed import Printed
from context_firewall.transcript.recaps import are_named
from context_firewall.transcript.service_messages import Tests, goes_on

NAME = "teamcity"
_PLAN_MET, _TOTALS_MET = 2, 3


class Teamcity(Bookkeeper):
    """Reads the messages of one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._tests = Tests(self._suppressed)
        self._printed = Printed()

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Tests that passed, two messages each."""
        return self._tests.lane()

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Take a run of them."""
        return self._tests.run(block, start, stop)

    def cut(self) -> None:
        """A message that is cut has no bracket at its end."""

    @property
    def complete(self) -> bool:
        """The run has come to its end."""
        return self._tests.whole

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self.complete and bare.strip() and not goes_on(bare):
            return False
        if self._tests.take(bare, line):
            return True
        if marker_kind(bare) is None:
            if not bare.strip():
                self._suppressed.add(Kind.BLANK, number)
                return True
            if self._tests.printed(line):
                return True
        self._printed.take(bare, line)
        return False

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        tests, printed = self._tests, self._printed
        doubts = {Doubt.COMPLETENESS_UNCONFIRMED}
        if sum(tests.counted) > tests.ended:
            doubts.add(Doubt.PLAN_CONTRADICTION)
        if tests.torn:
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if tests.contested:
            doubts.add(Doubt.CONTESTED_RESULTS)
        if tests.skipped:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        unclassified = [*tests.torn, *tests.unfinished()]
        failed = [*tests.failed, *tests.outside]
        unclassified += printed.settled(self._suppressed, proven=tests.whole, failed=bool(failed or exit_code))
        passed, skipped, failing = tests.passed, tests.skipped, len(tests.failed)
        tally = Tally(passed, failing, skipped, total=passed + failing + skipped)
        if not tally.total and not failed:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        if any(line.kind is Kind.UNCLASSIFIED for line in unclassified):
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        problems = (line.as_kind(Kind.FATAL_ERROR) for line in tests.problems)
        remarks = (line.as_kind(Kind.ABNORMAL_WARNING) for line in tests.remarks)
        return Reading(
            tally=tally,
            failures=tuple(test.failure() for test in failed),
            fatal_errors=(*printed.of_kind(Kind.FATAL_ERROR), *problems),
            timeouts=printed.of_kind(Kind.TIMEOUT),
            warnings=(*printed.of_kind(Kind.ABNORMAL_WARNING), *remarks),
            unclassified=tuple(sorted(unclassified, key=lambda line: line.number)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(tally.total or failed),
            standing=_PLAN_MET if tests.whole else 0,
            current_test=tests.current,
        )


# What the runner of teamcity-messages for unittest leaves on standard error: unittest's totals, without its accounts.
_RAN = re.compile(rb"Ran ([0-9]{1,9}+) tests? in [0-9.]++s")
_VERDICT = re.compile(rb"(OK|FAILED)(?: \((?P<counts>[a-z ]++=[0-9]{1,9}+(?:, [a-z ]++=[0-9]{1,9}+)*+)\))?+")
_STATED = re.compile(r"(?<![a-z])([a-z]++(?: [a-z]++)?+)=([0-9]++)")
_FAILING = ("failures", "errors", "unexpected successes")
_XFAIL = "expected failures"
# What jest-teamcity calls a file that does not load.
_BROKEN = " > Jest failed to execute suite"


def settle(readings: list[Reading]) -> list[Reading]:
    """Take the messages for a second print of another report, or unittest's totals for the sum of the messages."""
    mine = [part for part in readings if part.dialect == NAME and part.has_results]
    others = [part for part in readings if part.dialect != NAME and part.has_results]
    if len(mine) != 1 or any(part.stream == mine[0].stream for part in others):
        return readings  # in one stream one run follows another
    if not others:
        return _ended_by_unittest(readings, mine[0])
    if _tells_the_same(mine[0], others):
        return [_recap(part) if part is mine[0] else part for part in readings]
    doubts = mine[0].doubts | {Doubt.RECAP_CONTRADICTION}
    # What either names is kept; counted is what the other report counts.
    return [part._replace(tally=Tally(), doubts=doubts) if part is mine[0] else part for part in readings]


def _tells_the_same(mine: Reading, others: list[Reading]) -> bool:
    """Whether other reports count as many tests and name the same failures; a file that failed is a test here."""
    names = [failure.identity.removesuffix(_BROKEN) for failure in mine.failures]
    tally = sum((part.tally for part in others), Tally())
    failures = sum(len(part.failures) for part in others)
    others_count = failures, tally.passed + tally.skipped + tally.todo
    return (len(names), mine.tally.passed + mine.tally.skipped) == others_count and are_named(names, others)


def _recap(part: Reading) -> Reading:
    """A reading of messages that another report has again."""
    gone = {line: Kind.RECAP for failure in part.failures for line in failure.lines()}
    structure = part.doubts & {Doubt.STRUCTURE_CONTRADICTION, Doubt.CONTESTED_RESULTS}
    rest = part._replace(tally=Tally(), failures=(), has_results=False, standing=0, doubts=structure)
    return rest.with_suppressed(gone)


def _ended_by_unittest(readings: list[Reading], mine: Reading) -> list[Reading]:
    for at, part in enumerate(readings):
        totals = [line for line in part.unclassified if line.stream == "stderr"][-2:]
        if part.stream == mine.stream or len(totals) < len(("Ran", "OK")):
            continue
        todo = _agreed(mine, *(bare(line.raw) for line in totals))
        if todo is None:
            continue
        kept = tuple(line for line in part.unclassified if line not in totals)
        doubts = part.doubts if kept else part.doubts - {Doubt.UNCLASSIFIED_EVIDENCE}
        others = part._replace(unclassified=kept, doubts=doubts)
        told = mine.tally
        whole = mine._replace(
            tally=Tally(told.passed, told.failed, told.skipped - todo, todo, told.total),
            doubts=mine.doubts - {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.COUNTS_UNCONFIRMED},
            standing=_TOTALS_MET,
        )
        settled = others.with_suppressed(dict.fromkeys(totals, Kind.AGGREGATE_SOURCE))
        return [whole if one is mine else settled if i == at else one for i, one in enumerate(readings)]
    return readings


def _agreed(mine: Reading, ran: bytes, verdict: bytes) -> int | None:
    """How many tests were expected to fail, if unittest's totals are those of the messages; else None."""
    count, word = _RAN.fullmatch(ran), _VERDICT.fullmatch(verdict)
    if count is None or word is None:
        return None
    stated = {key: int(n) for key, n in _STATED.findall((word["counts"] or b"").decode())}
    failed, todo = sum(stated.get(key, 0) for key in _FAILING), stated.get(_XFAIL, 0)
    tally = mine.tally
    counts = (int(count[1]), failed, stated.get("skipped", 0) + todo, word[1] == b"FAILED")
    return todo if counts == (tally.total, tally.failed, tally.skipped, bool(tally.failed)) else None


DIALECT = Dialect(
    name=NAME,
    title="TeamCity's service messages",
    checked="PHPUnit 9.6 (--log-teamcity), teamcity-messages 1.33, jest-teamcity 1.12, mocha-teamcity-reporter 4.2",
    streams=frozenset({"stdout"}),
    opening=re.compile(rb"##teamcity\[(?:test(?:Count|SuiteStarted|Started|Failed|Ignored)|flowStarted) [^\n]*\]\Z"),
    begin=Teamcity,
    settle=settle,
)
