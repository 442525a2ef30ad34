"""Reads what `go test` prints, line by line, into the accounts of its packages.

Tests print into the same stream as the runner, at the same margin, so every line has to fit what is known:

- With -v (a `=== RUN` was seen) a result belongs to a test that has begun. An outermost test cannot begin while another
  one runs that was not paused, and a package cannot end while a test runs, unless the binary broke off or the line was
  printed by the test that runs.
- Which of the two it was shows later: if the running test's result comes after all, everything from the impossible line
  on was its output. So such a line makes a fork: the package as it was is set aside with all lines that follow, and
  the result of one of its tests brings it back. The same holds after a package that ended well, until the next test
  begins: a test may forge its own result and all that follows it.
- Without -v only results at their indentation and the package's lines can be recognised. What a failing test logged
  stands below its result, indented deeper.
"""

from dataclasses import dataclass

from context_firewall.transcript.dialects.go_grammar import (
    BANNER,
    BENCHMARK,
    BUILD,
    EMPTY_PACKAGE,
    FAIL,
    FAILED_PACKAGE,
    FRAME,
    FUZZING,
    GOROUTINE,
    MEASUREMENT,
    PASS,
    PASSED_PACKAGE,
    PREPARES,
    REMARK,
    RESULT,
    SKIP,
)
from context_firewall.transcript.dialects.go_lanes import Green
from context_firewall.transcript.dialects.go_package import Held, Ledger, Package, Test, is_banner, take_over
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line

JOURNAL_LINES = 20_000
"""How many lines a fork waits for the test that would prove it forged."""


@dataclass(slots=True)
class _Fork:
    """A package set aside at a line that may have been printed by its test."""

    package: Package
    at: int
    """Where in the journal the lines from the doubtful one on begin."""
    ending: tuple[str, bytes, Line, bool] | None
    """How the package ended by that line: the verdict, its name, the line, whether nothing ran. None: it did not."""
    sound: bool = False
    """Whether nothing was wrong with the ending."""


class Script:
    """The text of one run."""

    def __init__(self, stream: str) -> None:
        self.ledger = Ledger(stream)
        self._traced = False
        self.package = Package()
        self.over = False
        """Whether the bare FAIL that ends a failing run was read."""
        self.read = False
        """Whether any line of the runner's was read."""
        self.verbose = False
        """Whether the run has -v."""
        self.unbegun = False
        """Whether a test has failed whose beginning was not announced, as with -v every one is."""
        self._in_stack = False
        """A stack has begun before the first line of the runner's."""
        self._forks: list[_Fork] = []
        self._journal: list[Held] = []
        self._builds: dict[bytes, list[Held]] = {}
        self._build: list[Held] | None = None
        self._example: Test | None = None

    def trace(self) -> None:
        """Remember which lines are suppressed."""
        self._traced = True
        self.ledger.suppressed.trace()
        self.package = self._begin()

    def _begin(self, *, verbose: bool = False) -> Package:
        package = Package(verbose=verbose)
        if self._traced:
            package.suppressed.trace()
        return package

    @property
    def idle(self) -> bool:
        """Whether the line before closed a package and nothing of another has come."""
        return not self.package.touched and self._build is None

    @property
    def owes_last_word(self) -> bool:
        """Whether a package failed, so that a bare FAIL ends the run. Packages not built may be followed by events."""
        if self.over:
            return False
        ran = self.ledger.packages_run + len(self._forks)
        return bool(ran and self.ledger.broken + self._broken_forks())

    @property
    def in_step(self) -> bool:
        """Whether a run of whole tests may come, and nothing else is expected."""
        package = self.package
        if self._forks or self._build is not None or package.open or package.mark is not None:
            return False
        return package.verbose and package.touched

    def green(self, green: Green) -> None:
        """Book a run of tests that did not fail."""
        package = self.package
        package.settle_last()
        package.path = []
        package.current = self._example = None
        package.tally[PASS] += green.passed
        package.tally[SKIP] += green.skipped
        tests = green.passed + green.skipped
        suppressed = package.suppressed
        suppressed.add_many(Kind.SUCCESSFUL_TEST, green.passed)
        suppressed.add_many(Kind.SKIPPED_TEST, green.skipped)
        suppressed.add_many(Kind.STRUCTURE, green.banners)
        suppressed.add_many(Kind.PROGRAM_OUTPUT, green.lines - green.banners - tests)

    def adopt(self, text: bytes, line: Line) -> None:
        """Take a line that came before the first one of the runner's."""
        if text in (PASS, FAIL) and self.package.mark is None:
            self.package.mark = (text, line)
        else:
            if self.package.mark is not None:
                self.package.strange.append(self.package.mark)
                self.package.mark = None
            self._in_stack |= GOROUTINE.match(text) is not None
            if not self._in_stack and FRAME.fullmatch(text):
                self.package.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            self.package.strange.append((text, line))

    def take(self, text: bytes, line: Line) -> None:
        """Take one line."""
        if self._forks:
            self._journal.append((text, line))
            if len(self._journal) > JOURNAL_LINES:
                self._decide()
        self.over = False
        self._take((text, line))

    def _take(self, held: Held) -> None:
        text = held[0]
        first = text[:1]
        if first == b"=" and is_banner(text):
            self._banner(held)
            return
        if text in (PASS, FAIL):
            self._mark(held)
            return
        known = (
            (first in b"- " and b"--- " in text and self._result(held))
            or (first in (b"o", b"F", b"?", b"\t") and self._package_line(held))
            or (text.endswith(b"s)") and self._glued(held))
        )
        if not known:
            self._other(held)

    # -- lines that name a test

    def _banner(self, held: Held) -> None:
        text = held[0]
        banner = BANNER.fullmatch(text)
        assert banner is not None  # noqa: S101 - for the type checker; the caller has asked
        self._end_build()
        package = self.package
        what, name = banner["what"], banner["name"]
        if what is None:
            self._named(banner["noted"], held)
        elif (name or banner["noted"] or b"").startswith(b"Benchmark"):
            package.touched = self.read = True
            package.suppressed.add(Kind.STRUCTURE, held[1].number)
        elif what == b"RUN":
            self._run(name, held)
        elif what == b"NAME" and not name:
            package.suppressed.add(Kind.STRUCTURE, held[1].number)
        else:
            test = self._named(name, held)
            if test is not None:
                test.paused = what == b"PAUSE"
                if what == b"CONT":
                    package.current = test

    def _named(self, name: bytes, held: Held) -> Test | None:
        """An open test that a line names, or None if it is not open: then another test printed the line."""
        package = self.package
        test = package.open.get(name)
        if test is None:
            package.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self._output(held)
            return None
        test.structure.append(held[1])
        package.current = test
        return test

    def _run(self, name: bytes, held: Held) -> None:
        package = self.package
        self.verbose = self.read = True
        self._settle_forks()
        parent = name.rpartition(b"/")[0] if b"/" in name else b""
        if name in package.open or (parent and not self._has_parent(name)):
            package.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self._output(held)
            return
        if not parent:
            running = package.running()
            if running is not None:
                self._fork(held, None)
                package = self.package
        if package.mark is not None:
            # The package's line is missing, or the mark was not the runner's.
            package.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            package.loose.append(package.mark)
            package.mark = None
        if not parent:
            package.settle_last()
        if package.path and not package.verbose:
            # With -v a test begins before it has a result: the beginning is missing.
            package.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        package.touched = package.verbose = True
        package.path = []
        self._example = None
        test = Test(name, [held[1]])
        package.open[name] = test
        package.current = test

    def _has_parent(self, name: bytes) -> bool:
        test = self.package.open.get(name.partition(b"/")[0])
        return test is not None and not test.paused

    # -- results

    def _result(self, held: Held) -> bool:
        """Whether the line is a result, or has the form of one at the margin."""
        text = held[0]
        result = RESULT.fullmatch(text)
        if result is None:
            benchmark = BENCHMARK.fullmatch(text)
            if benchmark is None:
                return False
            self._benchmark(held, benchmark["outcome"], benchmark["name"])
            return True
        depth, name, outcome = len(result["indent"]) // 4, result["name"], result["outcome"]
        package = self.package
        if package.verbose or (self.verbose and not depth):
            return self._verbose_result(depth, name, outcome, held)
        if outcome != FAIL:
            # Only with -v does the runner name what did not fail.
            if depth:
                return False
            package.touched = True
            package.contest(held[1])
            return True
        # A result below another one names it first; a fuzz test's repeats its name.
        if depth:
            if depth > len(package.path):
                return False
            above = package.path[depth - 1]
            if not name.startswith(above + b"/") and name != above:
                return False
            if name == above and not name.startswith(b"Fuzz"):
                return False
        self._quiet_failure(depth, name, held)
        return True

    def _quiet_failure(self, depth: int, name: bytes, held: Held) -> None:
        package = self.package
        self._end_build()
        self._unmark()
        package.touched = self.read = True
        package.path[depth:] = [name]
        if depth and name == package.path[depth - 1]:
            # The outer line of a failing fuzz test says nothing of its own.
            if package.current is not None:
                package.current.output.append(held)
            return
        test = Test(name, outcome=FAIL, header=held)
        package.current = test
        self._example = test if name.startswith(b"Example") else None
        package.tally[FAIL] += 1
        package.since = len(package.loose)
        package.failed.append(test)
        self.unbegun = True

    def _verbose_result(self, depth: int, name: bytes, outcome: bytes, held: Held) -> bool:
        package = self.package
        test = package.open.get(name)
        if test is None and not depth:
            fork = self._fork_with(name)
            if fork is not None and not self._repeats(name):
                self._rejoin(fork, name)
                package = self.package
                test = package.open.get(name)
        if test is None and not depth and self._repeats(name):
            self._retract()
            test = package.open.get(name)
        if test is None:
            return self._orphan(depth, held)
        if depth and not (depth <= len(package.path) and name.startswith(package.path[depth - 1] + b"/")):
            return False
        self._end(test, outcome, held)
        package.path[depth:] = [name]
        return True

    def _end(self, test: Test, outcome: bytes, held: Held) -> None:
        """An open test has its result."""
        package = self.package
        if package.last is not None and not test.name.startswith(package.last.name + b"/"):
            package.settle_last()
        package.since = len(package.loose)
        del package.open[test.name]
        test.outcome, test.header = outcome, held
        if package.current is test or test.outermost:
            package.current = None
        self._example = test if outcome == FAIL and test.name.startswith(b"Example") else None
        if test.outermost:
            package.last = test
        else:
            package.settle(test)

    def _orphan(self, depth: int, held: Held) -> bool:
        """A result of no open test. Deeper than the margin it may be a line of a log."""
        package = self.package
        if depth and package.current is not None:
            return False
        package.doubts.add(Doubt.CONTESTED_RESULTS)
        if package.current is None:
            package.touched = True
            package.orphans.append(held)
        else:
            package.current.output.append(held)
        return True

    def _repeats(self, name: bytes) -> bool:
        """Whether a result is the second one of the test that ended last."""
        package = self.package
        return package.last is not None and package.last.name == name

    def _retract(self) -> None:
        """The last test's result was its own print: what followed it, too."""
        package = self.package
        test = package.last
        assert test is not None  # noqa: S101 - for the type checker; the caller has asked
        package.doubts.add(Doubt.CONTESTED_RESULTS)
        if test.header is not None:
            test.output.append(test.header)
            test.header = None
        if package.mark is not None:
            test.output.append(package.mark)
            package.mark = None
        test.output += package.loose[package.since :]
        del package.loose[package.since :]
        package.last = None
        package.open[test.name] = test

    def _benchmark(self, held: Held, outcome: bytes, name: bytes) -> None:
        """A benchmark's own result: it fails the package, or says what it logged."""
        package = self.package
        if outcome == FAIL:
            self._quiet_failure(0, name, held)
            return
        package.touched = self.read = True
        package.path = [name]
        package.current = None
        kind = Kind.SKIPPED_TEST if outcome == SKIP else Kind.INFORMATIONAL
        package.suppressed.add(kind, held[1].number)

    def _glued(self, held: Held) -> bool:
        """A result behind what the test printed without a newline."""
        text = held[0]
        at = text.rfind(b"--- ")
        if at <= 0 or not self.package.verbose:
            return False
        result = RESULT.fullmatch(text, at)
        test = self.package.current
        if result is None or test is None or test.name != result["name"] or not text[:at].strip():
            return False
        if not test.outermost or test.paused or text.startswith(b"    "):
            return False
        self._end(test, result["outcome"], held)
        self.package.path = [test.name]
        return True

    # -- marks and the lines of packages

    def _mark(self, held: Held) -> None:
        """A bare PASS or FAIL: of a binary that ended, or of the whole run."""
        package = self.package
        if package.current is not None and package.current.name in package.open and package.running() is not None:
            self._output(held)
            return
        self._end_build()
        if held[0] == FAIL and not package.touched and self.ledger.broken + self._broken_forks():
            self.over = True
            package.suppressed.add(Kind.AGGREGATE_SOURCE, held[1].number)
            return
        self._unmark()
        package.touched = True
        package.path = []
        package.current = None
        self._example = None
        package.mark = held

    def _unmark(self) -> None:
        """Something of the binary's follows the mark: it was not the runner's."""
        package = self.package
        if package.mark is not None:
            package.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            package.loose.append(package.mark)
            package.mark = None

    def _broken_forks(self) -> int:
        return sum(1 for fork in self._forks if fork.ending and fork.ending[0] == "failed")

    def _package_line(self, held: Held) -> bool:
        """Whether the line is one of the go command's about a package."""
        text, line = held
        package = self.package
        passed = PASSED_PACKAGE.fullmatch(text)
        failed = None if passed else FAILED_PACKAGE.fullmatch(text)
        if passed:
            ending = ("passed", passed["package"], line, passed["none"] is not None)
        elif failed and not failed["unbuilt"]:
            ending = ("failed", failed["package"], line, False)
        else:
            empty = None if failed else EMPTY_PACKAGE.fullmatch(text)
            if failed is None and empty is None:
                return False
            if package.running() is not None:
                self._output(held)
                return True
            self._end_build()
            self.read = True
            if failed:
                self.ledger.unbuilt(failed["package"], line, self._builds.pop(failed["package"], ()))
            elif empty:
                self.ledger.meet(empty["package"] or empty["bare"])
                package.suppressed.add(Kind.STRUCTURE, held[1].number)
            return True
        if passed and self._denied():
            # A test that failed is proof against this line, unless the stream has nothing more to say.
            package.touched = True
            package.pending = held
            self._output(held)
            return True
        self._end_build()
        self.read = True
        if self.verbose:
            self._fork(held, ending, sound=not package.open)
        else:
            self._finish(package, ending)
            self.package = self._begin()
        return True

    def _denied(self) -> bool:
        """Whether a test of the package has failed and its binary has not said so."""
        package = self.package
        failed = package.failed or (package.last is not None and package.last.outcome == FAIL)
        return bool(failed) and (package.mark is None or package.mark[0] == PASS)

    def _finish(self, package: Package, ending: tuple[str, bytes, Line, bool]) -> None:
        verdict, name, line, nothing_ran = ending
        if verdict == "passed":
            self.ledger.passed(package, name, line, nothing_ran=nothing_ran)
        else:
            self.ledger.failed(package, name, line)

    # -- forks

    def _fork(self, held: Held, ending: tuple[str, bytes, Line, bool] | None, *, sound: bool = False) -> None:
        """Set the package aside at a line that may be its test's output."""
        if not self._forks:
            self._journal = [held]
        self._forks.append(_Fork(self.package, len(self._journal) - 1, ending, sound))
        self.package = self._begin(verbose=ending is None)
        self._example = None

    def _fork_with(self, name: bytes) -> _Fork | None:
        """The latest fork whose package waits for a result of that test, or had one last."""
        for fork in reversed(self._forks):
            package = fork.package
            if name in package.open or (package.last is not None and package.last.name == name):
                return fork
        return None

    def _rejoin(self, fork: _Fork, name: bytes) -> None:
        """The result of a test of a package that was set aside: all that came since is output of that test."""
        index = next(i for i, other in enumerate(self._forks) if other is fork)
        lines = self._journal[fork.at : -1]
        del self._forks[index:]
        if not self._forks:
            self._journal = []
        self.package = package = fork.package
        package.doubts.add(Doubt.CONTESTED_RESULTS)
        if name not in package.open:
            self._retract()
        package.open[name].output += lines
        package.current = package.open[name]

    def _settle_forks(self) -> None:
        """A test begins: packages that ended well before it are closed for good."""
        while self._forks and self._forks[0].sound:
            fork = self._forks.pop(0)
            self._close_fork(fork)
        if self._forks:
            drop = self._forks[0].at
            del self._journal[:drop]
            for fork in self._forks:
                fork.at -= drop
        else:
            self._journal = []

    def _decide(self) -> None:
        """No proof has come that anything was forged."""
        for fork in self._forks:
            self._close_fork(fork)
        self._forks = []
        self._journal = []

    def _close_fork(self, fork: _Fork) -> None:
        if fork.ending is not None:
            self._finish(fork.package, fork.ending)
            return
        # A test began although another one had no result: it goes on in the same package.
        older, newer = fork.package, self._after(fork)
        older.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        older.settle_last()
        merge(older, newer)

    def _after(self, fork: _Fork) -> Package:
        """The package that goes on after a fork."""
        later = next((other for other in self._forks if other.at > fork.at), None)
        return self.package if later is None else later.package

    # -- everything else

    def _other(self, held: Held) -> None:
        text = held[0]
        package = self.package
        if package.verbose and package.current is None and (MEASUREMENT.fullmatch(text) or FUZZING.fullmatch(text)):
            package.suppressed.add(Kind.INFORMATIONAL, held[1].number)
            return
        if self._build is not None and not self._interrupts_build(text):
            self._build.append(held)
            return
        if not package.touched and text.startswith(b"# "):
            build = BUILD.fullmatch(text)
            if build is not None and build["package"]:
                self._build = self._builds.setdefault(build["package"], [])
                self._build.append(held)
                return
        if package.current is None or not package.verbose:
            if REMARK.fullmatch(text) and not text.startswith((b"Failing", b"To re-run")):
                package.touched |= not text.startswith(b"coverage")
                package.suppressed.add(Kind.INFORMATIONAL, held[1].number)
                return
            if PREPARES.fullmatch(text) or (MEASUREMENT.fullmatch(text) and b"\t" in text):
                package.suppressed.add(Kind.INFORMATIONAL, held[1].number)
                return
        if not package.verbose and self._quiet_detail(held):
            return
        self._output(held)

    def _interrupts_build(self, text: bytes) -> bool:
        """Whether a line ends the messages about a package: the header of another one's."""
        build = BUILD.fullmatch(text)
        if build is not None and build["package"]:
            self._build = None
            return True
        return False

    def _end_build(self) -> None:
        self._build = None

    def _quiet_detail(self, held: Held) -> bool:
        """Without -v: whether the line belongs to the result above it."""
        package, text = self.package, held[0]
        test = package.current
        if test is None or not package.path:
            return False
        if self._example is test or text.startswith(b"    " * len(package.path)):
            test.output.append(held)
            return True
        package.current = None
        package.path = []
        return False

    def _output(self, held: Held) -> None:
        """A line of the program under test."""
        package = self.package
        package.touched = True
        if self._example is not None and package.current is None:
            self._example.output.append(held)
        elif package.current is not None and package.current.name in package.open:
            package.current.output.append(held)
        else:
            package.loose.append(held)

    # -- the end

    def end(self) -> bytes:
        """No more lines come. Returns the test that ran when an unfinished package broke off."""
        self._decide()
        current = b""
        package = self.package
        if package.pending is not None and (package.mark is None or package.mark[0] == PASS) and not package.open:
            held = package.pending
            passed = PASSED_PACKAGE.fullmatch(held[0])
            if passed is not None and package.loose and package.loose[-1] is held:
                package.loose.pop()
                self.ledger.passed(package, passed["package"], held[1], nothing_ran=False)
                return current
        if package.touched or package.strange or package.mark:
            current = self.ledger.broken_off(package)
        else:
            take_over(self.ledger.suppressed, package.suppressed)
            self.ledger.unclassified += package.contested
            self.ledger.doubts |= package.doubts
            self.ledger.keep(package.loose)
        return current

    def messages(self) -> dict[bytes, list[Held]]:
        """What the compiler said about packages whose own line has not come."""
        return self._builds


def merge(older: Package, newer: Package) -> None:
    """Let a package that went on take over what it held before."""
    newer.open = {**older.open, **newer.open}
    newer.failed = older.failed + newer.failed
    if older.mark is not None:
        older.loose.append(older.mark)
    newer.loose = older.loose + newer.loose
    newer.since += len(older.loose)
    newer.strange = older.strange + newer.strange
    newer.orphans = older.orphans + newer.orphans
    newer.tally.update(older.tally)
    take_over(newer.suppressed, older.suppressed)
    newer.contested = older.contested + newer.contested
    newer.doubts |= older.doubts
    newer.verbose |= older.verbose
    newer.touched |= older.touched
