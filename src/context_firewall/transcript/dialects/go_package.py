"""The account of one package of `go test`, and the ledger in which the packages of a run add up.

A test stays open from its `=== RUN` to its result and holds what it prints; once it has passed only numbers remain.
A package's own line says whether the whole of it failed: a failing package whose binary did not end with a bare
`FAIL` broke off, and then what it printed last is a failure of its own.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects.go_grammar import (
    BANNER,
    BENCHMARK,
    CRASH,
    EXIT_STATUS,
    FAIL,
    FAILED_PACKAGE,
    GOROUTINE,
    INTERRUPTED,
    PASS,
    PASSED_PACKAGE,
    RACE,
    RECOVERED,
    RESULT,
    RULER,
    RUNNING,
    RUNNING_LIST,
    SKIP,
    TEST_CALL,
    TEST_RUNNER,
    TIMED_OUT,
)
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.markers import marker_kind

Held = tuple[bytes, Line]
"""A line as the rules see it, and as it stands."""

_KINDS = {PASS: Kind.SUCCESSFUL_TEST, SKIP: Kind.SKIPPED_TEST}


def take_over(account: Account, other: Account) -> None:
    """Add what another account has suppressed."""
    account.counts.update(other.counts)
    if account.fates is not None and other.fates is not None:
        account.fates.update(other.fates)


def result_shaped(text: bytes) -> bool:
    """Whether a line at the margin has the form of a result of a test or package."""
    return text.startswith((b"--- ", b"FAIL\t", b"ok  \t")) and any(
        pattern.fullmatch(text) for pattern in (RESULT, BENCHMARK, FAILED_PACKAGE, PASSED_PACKAGE)
    )


@dataclass(slots=True)
class Test:
    """One test: open, or with its result."""

    name: bytes
    structure: list[Line] = field(default_factory=list)
    """Its `=== RUN` and other lines that name it."""
    output: list[Held] = field(default_factory=list)
    paused: bool = False
    outcome: bytes = b""
    header: Held | None = None

    @property
    def outermost(self) -> bool:
        return b"/" not in self.name


@dataclass(slots=True)
class Package:
    """What has been read of a package whose own line has not come yet."""

    verbose: bool = False
    attributed: bool = False
    """Whether the runner itself says whose output a line is, so that no line of a test can be taken for its own."""
    open: dict[bytes, Test] = field(default_factory=dict)
    current: Test | None = None
    last: Test | None = None
    """The outermost test that ended last; it is settled when the next one begins."""
    path: list[bytes] = field(default_factory=list)
    """The names of the results that enclose the next one, outermost first."""
    failed: list[Test] = field(default_factory=list)
    loose: list[Held] = field(default_factory=list)
    """Lines that stand outside every test."""
    strange: list[Held] = field(default_factory=list)
    """Lines before the runner's first one: another program's, or of this package."""
    since: int = 0
    """Where in `loose` the lines behind the last result begin."""
    orphans: list[Held] = field(default_factory=list)
    """Results of tests that never began."""
    pending: Held | None = None
    """A line that says ok after a test has failed: right only if nothing follows."""
    mark: Held | None = None
    """The bare PASS or FAIL."""
    tally: Counter[bytes] = field(default_factory=Counter)
    suppressed: Account = field(default_factory=Account)
    contested: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)
    touched: bool = False
    """Whether any line of it has been read."""

    def contest(self, line: Line) -> None:
        self.contested.append(line.as_kind(Kind.CONTESTED_TEST))
        self.doubts.add(Doubt.CONTESTED_RESULTS)

    def settle(self, test: Test) -> None:
        """Book a test that has its result."""
        self.tally[test.outcome] += 1
        self.suppressed.add_lines(Kind.STRUCTURE, test.structure)
        if test.outcome == FAIL:
            self.failed.append(test)
            return
        assert test.header is not None  # noqa: S101 - for the type checker; a result has its line
        self.suppressed.add(_KINDS[test.outcome], test.header[1].number)
        self.mute(test.output)

    def mute(self, output: Iterable[Held]) -> None:
        """Suppress program output, but for what looks like a result."""
        for text, line in output:
            if not self.attributed and result_shaped(text):
                self.contest(line)
            else:
                self.suppressed.add(Kind.PROGRAM_OUTPUT, line.number)

    def settle_last(self) -> None:
        if self.last is not None:
            self.settle(self.last)
            self.last = None
        self.since = len(self.loose)

    def adopt_orphans(self) -> None:
        """The binary says that a test failed: the results of tests that never began are all there is to say which.

        What stands below such a result, indented, is its region, as without -v.
        """
        for held in self.orphans:
            result = RESULT.fullmatch(held[0])
            if result is None or result["outcome"] != FAIL:
                continue
            test = Test(result["name"], outcome=FAIL, header=held)
            number = held[1].number + 1
            for text, line in self.loose:
                if line.number == number and text.startswith(b"    "):
                    test.output.append((text, line))
                    number += 1
            taken = {line.number for _, line in test.output}
            self.loose = [other for other in self.loose if other[1].number not in taken]
            self.failed.append(test)
            self.tally[FAIL] += 1
        self.orphans = [held for held in self.orphans if not any(test.header is held for test in self.failed)]

    def running(self) -> Test | None:
        """An outermost test that has begun, is not paused and has no result."""
        return next((test for test in self.open.values() if test.outermost and not test.paused), None)


@dataclass(slots=True)
class Ledger:
    """What the closed packages of a stretch amount to."""

    stream: str
    tally: Counter[bytes] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    marked: dict[Kind, list[Line]] = field(
        default_factory=lambda: {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}
    )
    suppressed: Account = field(default_factory=Account)
    doubts: set[Doubt] = field(default_factory=set)
    packages: set[bytes] = field(default_factory=set)
    broken: int = 0
    """How many packages failed."""
    silent: bool = False
    """Whether a package ran without a word about its passing tests."""
    unmarked: bool = False
    """Whether a package passed without its bare PASS."""
    verbose: bool = False
    streamed: bool = False
    """Whether a failing package was run in its own directory: such a run has no last word."""
    packages_run: int = 0
    """How many packages ran a binary."""

    def totals(self) -> Tally:
        passed, failed, skipped = self.tally[PASS], self.tally[FAIL], self.tally[SKIP]
        return Tally(passed, failed, skipped, 0, passed + failed + skipped)

    def keep(self, held: Iterable[Held]) -> None:
        """Lines that nothing attributes: strict markers, blank, or unclassified."""
        for text, line in held:
            kind = marker_kind(text)
            if kind is not None:
                self.marked[kind].append(line.as_kind(kind))
            elif not text.strip():
                self.suppressed.add(Kind.BLANK, line.number)
            else:
                self.unclassified.append(line)

    def meet(self, name: bytes) -> None:
        """A package has its line; it has only one."""
        if name in self.packages:
            self.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        self.packages.add(name)

    # -- closing a package

    def _take(self, package: Package) -> None:
        """What every end of a package adds."""
        self.keep(package.strange)
        package.settle_last()
        for _, line in package.orphans:
            package.contest(line)
        if package.mark is not None:
            package.suppressed.add(Kind.STRUCTURE, package.mark[1].number)
        self.tally.update(package.tally)
        take_over(self.suppressed, package.suppressed)
        self.unclassified += package.contested
        self.doubts |= package.doubts
        self.verbose |= package.verbose
        self.packages_run += 1

    def passed(self, package: Package, name: bytes, header: Line, *, nothing_ran: bool, marked: bool = False) -> None:
        """The package's line says ok."""
        self.meet(name)
        package.settle_last()
        unfinished = list(package.open.values())
        if not package.verbose and package.failed:
            # Without -v anything may print a result, and this package has none that failed.
            for test in package.failed:
                package.tally[FAIL] -= 1
                for _, line in (*_header(test), *test.output):
                    package.contest(line)
            package.failed = []
        if unfinished:
            self.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if package.failed or (package.mark and package.mark[0] == FAIL):
            self.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        for text, line in package.loose:
            if marker_kind(text):
                self.keep([(text, line)])
            else:
                package.mute([(text, line)])
        self._take(package)
        self._add_failures(package, name)
        self._leave(unfinished)
        self.silent |= not package.verbose and not nothing_ran
        self.unmarked |= package.mark is None and not marked
        self.suppressed.add(Kind.AGGREGATE_SOURCE, header.number)

    def failed(self, package: Package, name: bytes, header: Line) -> None:
        """The package's line says that it failed."""
        self.meet(name)
        self.broken += 1
        package.settle_last()
        self.silent |= not package.verbose
        ended = package.mark is not None and package.mark[0] == FAIL
        if ended and not package.failed:
            package.adopt_orphans()
        unfinished = list(package.open.values())
        if ended and package.failed:
            if unfinished:
                self.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self._leave(unfinished)
            if package.loose and EXIT_STATUS.fullmatch(package.loose[-1][0]):
                # Only where the binary prints straight to the terminal does the go command add this.
                self.suppressed.add(Kind.INFORMATIONAL, package.loose.pop()[1].number)
                self.streamed = True
            self._give_races(package)
            self.keep(package.loose)
            self.suppressed.add(Kind.AGGREGATE_SOURCE, header.number)
        else:
            if ended:
                self.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
            last_words = self._last_words(package, unfinished)
            if any(text == INTERRUPTED for text, _ in last_words):
                # Stopped from outside: nobody failed by that.
                self.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
                self.keep(last_words)
                self.suppressed.add(Kind.AGGREGATE_SOURCE, header.number)
                self._take(package)
                self._add_failures(package, name)
                return
            victim = _victim(package, last_words)
            if victim is not None and victim.header is not None:
                died = victim.header[1].number
                self.keep(held for held in last_words if held[1].number < died)
                victim.output += (held for held in last_words if held[1].number > died)
                self.suppressed.add(Kind.AGGREGATE_SOURCE, header.number)
            else:
                if _torn(last_words):
                    self.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
                names = _timed_out(last_words, unfinished)
                identity = name + b" " + b", ".join(names) if names else name
                details = tuple(line.as_kind(classify_detail(text)) for text, line in last_words)
                self._take(package)
                self._add_failures(package, name)
                failure = Failure(decoded(identity), header.as_kind(Kind.FAILED_TEST), details)
                self.failures.append(failure)
                return
        self._take(package)
        self._add_failures(package, name)

    def _last_words(self, package: Package, unfinished: Sequence[Test]) -> list[Held]:
        """What a package that broke off printed and no finished test has, in source order."""
        held = [*package.strange, *package.loose]
        package.strange = []
        for test in unfinished:
            held += ((b"=== RUN", begun) for begun in test.structure[:1])
            self.suppressed.add_lines(Kind.STRUCTURE, test.structure[1:])
            held += (*_header(test), *test.output)
        return sorted(held, key=lambda pair: pair[1].number)

    def unbuilt(self, name: bytes, header: Line, messages: Sequence[Held]) -> None:
        """A package that could not be built or set up."""
        self.meet(name)
        self.broken += 1
        details = tuple(line.as_kind(classify_detail(text)) for text, line in messages)
        self.failures.append(Failure(decoded(name), header.as_kind(Kind.FAILED_TEST), details))

    def absorb(self, other: "Ledger") -> None:
        """Add the account of a package that was read apart."""
        for name in other.packages:
            self.meet(name)
        self.tally.update(other.tally)
        self.failures += other.failures
        self.unclassified += other.unclassified
        for kind, lines in other.marked.items():
            self.marked[kind] += lines
        take_over(self.suppressed, other.suppressed)
        self.doubts |= other.doubts
        self.broken += other.broken
        self.silent |= other.silent
        self.unmarked |= other.unmarked
        self.verbose |= other.verbose
        self.packages_run += other.packages_run
        self.streamed |= other.streamed

    def broken_off(self, package: Package, name: bytes = b"") -> bytes:
        """The stream ended before the package's line. Returns the test that ran."""
        package.settle_last()
        self.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        self.silent |= not package.verbose and bool(package.failed)
        current = package.current
        running = current.name if current is not None and current.name in package.open else b""
        self._leave(package.open.values())
        self._give_races(package)
        self.keep(package.loose)
        self._take(package)
        self._add_failures(package, name)
        return running

    def _leave(self, unfinished: Iterable[Test]) -> None:
        """Tests without a result: what they printed is all that is known."""
        for test in unfinished:
            self.unclassified += test.structure[:1]
            self.suppressed.add_lines(Kind.STRUCTURE, test.structure[1:])
            self.keep((*_header(test), *test.output))

    def _give_races(self, package: Package) -> None:
        """Without -v a report of the race detector stands before the result of the test that it fails."""
        racing = [test for test in package.failed if any(RACE in text for text, _ in test.output)]
        if not racing:
            return
        rest: list[Held] = []
        report: list[Held] | None = None
        for text, line in (*package.strange, *package.loose):
            if report is None and text == RULER:
                report = [(text, line)]
            elif report is None:
                rest.append((text, line))
            else:
                report.append((text, line))
                if text == RULER:
                    owner = _next_after(racing, line.number)
                    (owner.output if owner is not None else rest).extend(report)
                    report = None
        package.strange = []
        package.loose = rest + (report or [])

    def _add_failures(self, package: Package, name: bytes) -> None:
        parents: set[bytes] = set()
        for test in package.failed:
            at = test.name.rfind(b"/")
            while at > 0:
                parents.add(test.name[:at])
                at = test.name.rfind(b"/", 0, at)
        for test in package.failed:
            if test.name in parents and not test.output:
                self.suppressed.add_lines(Kind.DERIVED_FAILURE, (line for _, line in _header(test)))
                continue
            identity = name + b" " + test.name if name else test.name
            details = sorted(test.output, key=lambda pair: pair[1].number)
            header = test.header[1].as_kind(Kind.FAILED_TEST) if test.header else None
            lines = tuple(line.as_kind(classify_detail(text)) for text, line in details)
            self.failures.append(Failure(decoded(identity), header, lines))


def _header(test: Test) -> list[Held]:
    return [test.header] if test.header is not None else []


def _header_number(test: Test) -> int:
    return test.header[1].number if test.header is not None else 0


def _next_after(tests: Sequence[Test], number: int) -> Test | None:
    return next((test for test in tests if test.header and test.header[1].number > number), None)


def _victim(package: Package, last_words: Sequence[Held]) -> Test | None:
    """The failed test whose panic ended the binary.

    The test's own goroutine lets the runner report the failure and panics again, which its message says.
    """
    if not package.failed:
        return None
    for test in package.failed if package.attributed else ():
        if _panicked_again(test.output):
            return test
    # A parent's result stands before those of its children: the last one printed is of the innermost test.
    test = max(package.failed, key=_header_number)
    after = [(text, line) for text, line in last_words if test.header and line.number > test.header[1].number]
    return test if after and CRASH.match(after[0][0]) and _panicked_again(after) else None


def _torn(last_words: Sequence[Held]) -> bool:
    """Whether the last words of a package that broke off are not whole.

    The runner reports the failure of a test before it lets it panic again; a goroutine is dumped only after a crash;
    and a binary that has said how it ended does not break off.
    """
    texts = [text for text, _ in last_words]
    crashed = any(CRASH.match(text) for text in texts)
    dumped = any(GOROUTINE.match(text) for text in texts)
    ended = bool(texts) and texts[-1] in (PASS, FAIL)
    return _panicked_again(last_words) or (dumped and not crashed) or ended


def _panicked_again(held: Sequence[Held]) -> bool:
    """Whether a crash says that the runner recovered before."""
    texts = iter(text for text, _ in held)
    for text in texts:
        if CRASH.match(text):
            if RECOVERED in text:
                return True
            break
    for text in texts:
        if GOROUTINE.match(text):
            return False
        if RECOVERED in text:
            return True
    return False


def _timed_out(last_words: Sequence[Held], unfinished: Sequence[Test]) -> list[bytes]:
    """The tests that ran when the time was up: as listed, else as begun, else as the goroutines' calls say."""
    texts = [text for text, _ in last_words]
    start = next((i for i, text in enumerate(texts) if TIMED_OUT.match(text)), None)
    if start is None:
        return []
    names: list[bytes] = []
    if texts[start + 1 : start + 2] == [RUNNING_LIST]:
        for text in texts[start + 2 :]:
            running = RUNNING.fullmatch(text)
            if running is None:
                break
            names.append(running["name"])
    if not names:
        begun = [test.name for test in unfinished if not test.paused]
        names = [name for name in begun if not any(other.startswith(name + b"/") for other in begun)]
    if not names:
        call = b""
        for text in texts[start:]:
            found = TEST_CALL.fullmatch(text)
            if found:
                call = found["name"]
            elif GOROUTINE.match(text):
                call = b""
            elif call and TEST_RUNNER.match(text) and call not in names:
                names.append(call)
    return names


def is_banner(text: bytes) -> bool:
    """Whether a line names a test."""
    return text.startswith(b"=== ") and BANNER.fullmatch(text) is not None
