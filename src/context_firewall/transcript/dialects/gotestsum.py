"""gotestsum: go's tests under any of its formats, and the summary that they all end with.

The room's rules:

- What stands before the summary depends on the format: a line a package, or a line a test with the output of a failing
  one above it, or dots. A test prints what it likes there, so only the summary counts.
- The summary's sections repeat every skipped and failed test with its output; then, as the last line, `DONE 12 tests,
  1 skipped, 7 failures in 0.2s`. The section of failures must have as many tests as that line counts.
- A parent has a block of its own. Without output it failed through its subtests.
- A test whose time is unknown has no result of its own: its process ended while it ran. So the counts are not known.
- In go's own formats (standard-quiet, standard-verbose) go's text comes first and its dialect reads it, too: what the
  summary has again is a recap.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Bookkeeper, Dialect

NAME = "gotestsum"
GO = "go"

# pkgname: "✓  shop/cart (12ms)", "✖  …", "∅  …"; testname: "PASS shop/cart (cached)", "FAIL shop/cart", "EMPTY shop".
_TIME = rb"(?: \((?:[0-9.]++[a-z\xc2\xb5]++|cached|unknown)\))?+(?: \(coverage: [^()\n]++\))?+"
_PACKAGE = re.compile(
    rb"(?:(?:\xe2\x9c\x93|\xe2\x9c\x96|\xe2\x88\x85)  [^ \n]++"
    rb"|(?:PASS|FAIL|SKIP|EMPTY) [^ \n.]*+(?:\.[^ \n./A-Z]*+)*+)%b" % _TIME
)
# testname: "PASS shop/cart.TestAdd/two (0.00s)".
_TEST = re.compile(rb"(PASS|FAIL|SKIP) (?>[^ \n]+?\.(?:Test|Example|Fuzz|Benchmark))[^ \n]*+ \((?:[0-9.]++s|unknown)\)")
_SECTION = re.compile(rb"=== (Skipped|Failed|Errors)")
# `=== FAIL: package test (0.00s)`, with a rerun's number; without a test it is the package that failed.
_BLOCK = re.compile(rb"=== (SKIP|FAIL): ([^ \n]++) ([^ \n]*+) \(([^()\n]++)\)(?: \(re-run [0-9]++\))?+")
_DONE = re.compile(
    rb"DONE (?:([0-9]{1,9}+) runs, )?+([0-9]{1,9}+) tests?(?:, ([0-9]{1,9}+) skipped)?+(?:, ([0-9]{1,9}+) failures?)?+"
    rb"(?:, ([0-9]{1,9}+) errors?)?+ in [0-9.]++s"
)
_UNKNOWN = b"unknown"
_PASSED = "✓ ".encode()
# What go says of a package that has no tests to run is no event; gotestsum says so on standard error, twice.
UNREAD = re.compile(
    rb"(?:WARN invalid TestEvent|bad output from test2json): FAIL\t(?P<package>[^\s]++) \[(?:setup|build) failed\]"
)
_LANE = re.compile(
    rb"(?:PASS (?>[^ \n]+?\.(?:Test|Example|Fuzz|Benchmark))[^ \n]*+ \([0-9.]++s\)\n"
    rb"|\xe2\x9c\x93  [^ \n]++ \([0-9.]++m?s\)\n)++"
)
_RERUN = 2
"""Runs from which on tests were run again: each failing run of a test has a block."""
LAST_WORDS = 200
"""Lines of output above a result that are held."""
# What go prints around results: none of it says what failed or why.
_GOS_OWN = re.compile(
    rb" *+(?:=== [A-Z]++ |--- (?:PASS|SKIP|FAIL): |(?:PASS|FAIL)\Z|FAIL\t|ok  \t|\?   \t|exit status )"
)


@dataclass(slots=True)
class _Block:
    """A test in a section of the summary."""

    failed: bool
    package: bytes
    test: bytes
    unknown: bool
    lines: list[Line]

    @property
    def name(self) -> str:
        """Package and test, or the package."""
        return decoded(self.package + (b"." + self.test if self.test else b""))

    @property
    def silent(self) -> bool:
        """Whether it has no output."""
        return not any(line.raw.strip() for line in self.lines[1:])


@dataclass(slots=True)
class _Done:
    """The last line, and what it counts."""

    runs: int
    tests: int
    skipped: int
    failed: int
    errors: int
    line: Line
    after: list[Line] = field(default_factory=list)


class Gotestsum(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._words: list[Line] = []
        """Output since the last result."""
        self._shown = 0
        self._failing: list[tuple[Line, list[Line]]] = []
        """Failing results before the summary, with the output above them."""
        self._section = b""
        self._blocks: list[_Block] = []
        self._errors: list[Line] = []
        self._done: _Done | None = None
        self._twice = False
        """Two last lines, and nothing between them."""

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of tests or packages that passed."""
        return None if self._section or self._done or self._words else _LANE

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of results."""
        count = block.count(b"\n", start, stop)
        packages = block.count(b"\n" + _PASSED, start, stop) + block.startswith(_PASSED, start)
        self._shown += count
        self._suppressed.add_many(Kind.STRUCTURE, packages)
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count - packages)
        return count

    def cut(self) -> None:
        """The last line ends with a time, and is cut if its unit is missing."""

    @property
    def complete(self) -> bool:
        """The last line has been read and counts the blocks that were read."""
        return self._done is not None and not self._contradictions(self._done)

    def _contradictions(self, done: _Done) -> set[Doubt]:
        if self._twice:
            return {Doubt.STRUCTURE_CONTRADICTION}
        failed = sum(1 for block in self._blocks if block.failed)
        skipped = len(self._blocks) - failed
        # Sections can be left out, but only whole.
        if failed and failed != done.failed and done.runs < _RERUN:
            return {Doubt.RECAP_CONTRADICTION}
        if (skipped and skipped != done.skipped) or bool(self._errors) > bool(done.errors):
            return {Doubt.AGGREGATE_CONTRADICTION}
        return set()

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._done is not None:
            if not bare.strip():
                self._done.after.append(line)
                return True
            self._twice |= _DONE.fullmatch(bare) is not None
            if self.complete:
                return False
            self._withdraw(self._done)
        done = _DONE.fullmatch(bare)
        if done is not None:
            runs, tests, skipped, failed, errors = (int(n) if n else 0 for n in done.groups())
            self._done = _Done(runs, tests, skipped, failed, errors, line)
            return True
        section = _SECTION.fullmatch(bare)
        if section is not None:
            self._section = section[1]
            self._suppressed.add(Kind.STRUCTURE, number)
            return True
        if self._section:
            self._summary(bare, line)
            return True
        return self._before(bare, line)

    # -- before the summary

    def _before(self, bare: bytes, line: Line) -> bool:
        test = _TEST.fullmatch(bare)
        if test is not None and test[1] == b"FAIL":
            self._failing.append((line, self._words))
            self._words = []
        elif test is not None or _PACKAGE.fullmatch(bare):
            self._shown += 1
            kind = Kind.STRUCTURE if test is None else Kind.SUCCESSFUL_TEST if test[1] == b"PASS" else Kind.SKIPPED_TEST
            self._suppressed.add(kind, line.number)
            self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._words)
            self._words = []
        elif not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
        else:
            self._words.append(line)
            if len(self._words) > LAST_WORDS:
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, [self._words.pop(0)])
        return True

    # -- the summary

    def _summary(self, bare: bytes, line: Line) -> None:
        block = _BLOCK.fullmatch(bare)
        if block is not None:
            failed, unknown = block[1] == b"FAIL", block[4] == _UNKNOWN
            self._blocks.append(_Block(failed, block[2], block[3], unknown, [line]))
        elif self._section == b"Errors":
            self._errors.append(line)
        elif self._blocks:
            self._blocks[-1].lines.append(line)
        else:
            self._words.append(line)

    def _withdraw(self, done: _Done) -> None:
        """More follows: what looked like the last line was printed by a test."""
        self._done = None
        for line in (done.line, *done.after):
            if self._section:
                self._summary(bare(line.raw), line)
            elif line.raw.strip():
                self._words.append(line)
            else:
                self._suppressed.add(Kind.BLANK, line.number)

    def close(self, exit_code: int | None) -> Reading:
        """Settle blocks and totals."""
        done = self._done
        doubts = {Doubt.COMPLETENESS_UNCONFIRMED} if done is None else self._contradictions(done)
        failures = self._failures(doubts)
        failed = sum(1 for block in self._blocks if block.failed)
        if done is not None:
            failed = done.failed
            self._suppressed.add(Kind.AGGREGATE_SOURCE, done.line.number)
            self._suppressed.add_lines(Kind.BLANK, done.after)
        skipped = done.skipped if done is not None else sum(1 for block in self._blocks if not block.failed)
        passed = max(0, done.tests - skipped - failed) if done is not None else 0
        if any(block.unknown for block in self._blocks):
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        if done is not None and done.runs > 1:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        if done is None and self._shown:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        errors = self._errors_failure()
        failures += errors
        if errors:
            doubts.add(Doubt.FAILURE_OUTSIDE_TESTS)
        if done is not None and not done.tests and not failures:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        untold = done is not None and done.errors and not errors
        if untold or (done is not None and failed and not any(block.failed for block in self._blocks)):
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        unclassified: list[Line] = []
        if done is None:
            unclassified = self._words
        else:
            self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._words)
        if unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=Tally(passed, failed, skipped, total=passed + failed + skipped),
            failures=tuple(failures),
            unclassified=tuple(unclassified),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=done is not None or bool(self._shown or self._blocks or self._failing),
            standing=0 if done is None else 1 if self._contradictions(done) else 3,
        )

    def _failures(self, doubts: set[Doubt]) -> list[Failure]:
        """Blocks of failed tests; failing results before the summary are recaps of them, or failures without one."""
        parents = {
            (block.package, block.test.rpartition(b"/")[0]) for block in self._blocks if block.failed and block.test
        }
        above = {(package, test[:at]) for package, test in parents for at in _slashes(test)} | parents
        failures: list[Failure] = []
        known: set[bytes] = set()
        for block in self._blocks:
            if not block.failed:
                self._suppressed.add_lines(Kind.SKIPPED_TEST, block.lines[:1])
                self._suppressed.add_lines(Kind.TEST_DETAIL, block.lines[1:])
            elif block.silent and (block.package, block.test) in above:
                self._suppressed.add_lines(Kind.DERIVED_FAILURE, block.lines)
            else:
                failures.append(_failure(block.name, block.lines, self._suppressed))
            known.add(b"%b.%b" % (block.package, block.test))
        texts = {bare(line.raw).strip() for failure in failures for line in failure.lines()}
        for header, words in self._failing:
            name = bare(header.raw)[5:].rpartition(b" (")[0]
            if name not in known:
                doubts.add(Doubt.RECAP_CONTRADICTION if self._done is not None else Doubt.COMPLETENESS_UNCONFIRMED)
                failures.append(_failure(decoded(name), [header, *words], self._suppressed))
                continue
            self._suppressed.add(Kind.RECAP, header.number)
            own = [line for line in words if not _repeats(line, texts)]
            self._suppressed.add_lines(Kind.RECAP, (line for line in words if _repeats(line, texts)))
            if own:
                failures = [_with(one, own) if one.identity == decoded(name) else one for one in failures]
                if not any(one.identity == decoded(name) for one in failures):
                    self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, own)
        return failures

    def _errors_failure(self) -> list[Failure]:
        """What the compiler and go said, as one failure by its first line."""
        lines = [line for line in self._errors if line.raw.strip()]
        self._suppressed.add_lines(Kind.BLANK, (line for line in self._errors if not line.raw.strip()))
        if not lines:
            return []
        return [_failure(decoded(bare(lines[0].raw)), lines, self._suppressed)]


def _slashes(test: bytes) -> Iterable[int]:
    return (at for at, byte in enumerate(test) if byte == ord("/"))


def _repeats(line: Line, texts: set[bytes]) -> bool:
    """Whether a line says nothing that is not said in the summary."""
    text = bare(line.raw)
    return text.strip() in texts or _GOS_OWN.match(text) is not None


def _failure(name: str, lines: list[Line], suppressed: Account) -> Failure:
    header, *details = lines
    while details and not details[-1].raw.strip():
        suppressed.add(Kind.BLANK, details.pop().number)
    kinds = (line.as_kind(classify_detail(bare(line.raw))) for line in details)
    return Failure(name, header.as_kind(Kind.FAILED_TEST), tuple(kinds))


def _with(failure: Failure, lines: Iterable[Line]) -> Failure:
    more = tuple(line.as_kind(classify_detail(bare(line.raw))) for line in lines)
    return failure._replace(details=(*failure.details, *more))


def settle(readings: list[Reading]) -> list[Reading]:
    """Take go's own text before a summary for what it is: a first print of the same."""
    readings = _with_unread_lines(_without_errors_told(readings))
    mine = [part for part in readings if part.dialect == NAME and part.standing]
    streams = {part.stream for part in mine}
    dialects = {part.dialect for part in readings if part.stream in streams and part.dialect}
    if len(mine) != 1 or dialects != {NAME, GO}:
        return readings
    texts = {bare(line.raw).strip() for part in mine for failure in part.failures for line in failure.lines()}
    first = [part for part in readings if part.dialect == GO]
    more = sum(part.tally.failed for part in first) > mine[0].tally.failed
    # go says that a package has failed, for whatever reason, and the summary says that nothing has.
    lines = (line for part in first for line in part.kept_lines())
    more = more or (not mine[0].failures and any(bare(line.raw).startswith(b"FAIL\t") for line in lines))
    result = []
    for part in readings:
        if part.stream not in streams:
            result.append(part)
        elif part.dialect == NAME:
            doubts = part.doubts | ({Doubt.RECAP_CONTRADICTION} if more else set())
            result.append(part._replace(doubts=doubts))
        elif not part.dialect:
            result.append(part._replace(doubts=part.doubts - {Doubt.AMBIGUOUS_DIALECT}))
        else:
            result.append(_first_print(part, texts))
    return result


def _first_print(part: Reading, texts: set[bytes]) -> Reading:
    """A reading of go's text, with all that the summary has again suppressed, and all else shown."""
    lines = sorted(part.kept_lines(), key=lambda line: line.number)
    gone = {line: Kind.RECAP for line in lines if _repeats(line, texts)}
    rest = tuple(line.as_kind(Kind.UNCLASSIFIED) for line in lines if line not in gone)
    text = Reading(unclassified=rest, suppressed=part.suppressed, fates=part.fates, stream=part.stream)
    return text._replace(dialect=part.dialect).with_suppressed(gone)


def _without_errors_told(readings: list[Reading]) -> list[Reading]:
    """Leave off what the compiler and go said where standard error says of which packages."""
    told = [one for part in readings if part.dialect == GO and part.stream == "stderr" for one in part.failures]
    texts = {bare(line.raw).strip() for failure in told for line in failure.lines()}
    result = []
    for part in readings:
        if part.dialect == NAME and Doubt.FAILURE_OUTSIDE_TESTS in part.doubts:
            lines = tuple(part.failures[-1].lines())
            if all(bare(line.raw).strip() in texts for line in lines):
                doubts = part.doubts - {Doubt.FAILURE_OUTSIDE_TESTS}
                part = part._replace(failures=part.failures[:-1], doubts=doubts)
                part = part.with_suppressed(dict.fromkeys((line.as_kind(Kind.RECAP) for line in lines), Kind.RECAP))
        result.append(part)
    return result


def _with_unread_lines(readings: list[Reading]) -> list[Reading]:
    """Give the lines of go's that gotestsum could not read, on standard error, to the package that they name."""
    if not any(part.dialect == NAME and part.has_results for part in readings):
        return readings
    failed = {one.identity for part in readings for one in part.failures}
    unread: dict[str, list[Line]] = {}
    for line in (line for part in readings for line in part.unclassified if line.stream == "stderr"):
        found = UNREAD.fullmatch(bare(line.raw))
        if found is not None and (package := decoded(found["package"])) in failed:
            unread.setdefault(package, []).append(line)
    gone = {line for lines in unread.values() for line in lines}
    return [
        part._replace(
            failures=tuple(_with(one, unread.pop(one.identity, ())) for one in part.failures),
            unclassified=(left := tuple(line for line in part.unclassified if line not in gone)),
            doubts=part.doubts if left else part.doubts - {Doubt.UNCLASSIFIED_EVIDENCE},
        )
        for part in readings
    ]


DIALECT = Dialect(
    name=NAME,
    title="gotestsum",
    checked="gotestsum 1.8.2 with go 1.19",
    streams=frozenset({"stdout"}),
    opening=re.compile(
        rb"(?:\xe2\x9c\x93|\xe2\x9c\x96|\xe2\x88\x85)  [^ \n]++%b\Z"
        rb"|(?:PASS|FAIL|SKIP) (?>[^ \n]+?\.(?:Test|Example|Fuzz|Benchmark))[^ \n]*+ \((?:[0-9.]++s|unknown)\)\Z"
        rb"|EMPTY [^ \n]++\Z|=== (?:Skipped|Failed|Errors)\Z|DONE [0-9]++ (?:tests?|runs)[, ]" % _TIME
    ),
    begin=Gotestsum,
    settle=settle,
)
