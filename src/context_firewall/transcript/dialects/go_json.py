"""`go test -json`: one event a line, each of a package, of a test in it, or of a build.

The room's rules:

- Up to Go 1.19 the events are made from the printed text alone, so what a test prints can forge them. There the text
  of each package is read as the text dialect reads it, and the events have to agree.
- Later versions announce each package by a `start` event and mark the runner's own lines inside, so an event belongs
  to the test that it names; the text in the outputs has to agree with it.
- An event without a test is about the package: the `fail` of a package whose tests did not fail is a failure of its own
  (a timeout, an exit, a build that failed).
- The run has no last event. It is whole when every package that started has ended.
- A line is an event only if it is strict JSON without a repeated key and with a known action.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects.go_grammar import (
    BUILD,
    EMPTY_PACKAGE,
    EVENT,
    FAIL,
    FAILED_PACKAGE,
    PASS,
    PASSED_PACKAGE,
    PREPARES,
    REMARK,
    RESULT,
    SKIP,
)
from context_firewall.transcript.dialects.go_lanes import ESCAPED, EVENTS, Green, events_run
from context_firewall.transcript.dialects.go_package import Held, Ledger, Package, Test, is_banner
from context_firewall.transcript.dialects.go_script import Script
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading
from context_firewall.transcript.json_lines import json_object
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Dialect

RESULTS = {"pass": PASS, "fail": FAIL, "skip": SKIP}
QUIET = frozenset({"pause", "cont", "bench", "attr", "artifacts"})
ACTIONS = frozenset({"start", "run", "output", "build-output", "build-fail", *RESULTS, *QUIET})
FRAMED = "OutputType"
"""A key of the versions that begin each package with `start`."""
TEXTS = ("Action", "Package", "Test", "Output", FRAMED, "ImportPath", "FailedBuild")


def event_of(text: bytes) -> dict[str, str] | None:
    """The strings of an event, or None if the line is none."""
    event = json_object(text)
    if event is None:
        return None
    texts: dict[str, str] = {}
    for key in TEXTS:
        value = event.get(key, "")
        if not isinstance(value, str):
            return None
        if key in event:
            texts[key] = value
    return texts if texts.get("Action") in ACTIONS else None


@dataclass(slots=True)
class _Told:
    """One package by its events."""

    name: bytes
    script: Script | None
    """Reads its text, where events are made from text alone."""
    package: Package = field(default_factory=lambda: Package(verbose=True, attributed=True))
    events: Counter[bytes] = field(default_factory=Counter)
    """Results of tests by their events, to compare with the text's."""
    verdict: str = ""
    """What the package's line in the text says."""
    line: Line | None = None


class GoEvents:
    """Reads the events of one run."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._ledger = Ledger(stream)
        self._open: dict[str, _Told] = {}
        self._started = False
        self._read = False
        self._builds: dict[str, list[Held]] = {}
        self._build: list[Held] | None = None
        self._cut = False

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passing tests of packages that have started."""
        return EVENTS if self._started and self._open and self._build is None else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Take a run of passing tests, if all of them belong to packages that have started."""
        green = events_run(block, start, stop)
        packages = {name: told.package for name in green if (told := self._open.get(decoded(name))) and not told.script}
        running = [test for package in packages.values() for test in package.open]
        if len(packages) < len(green) or (running and ESCAPED.search(block, start, stop)):
            return 0
        if any(block.find(b'"Test":"%b"' % test, start, stop) >= 0 for test in running):
            return 0
        for name, package in packages.items():
            _book(package, green[name])
        return sum(one.lines for one in green.values())

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """Take an event, or one of the few lines that the go command prints as text all the same."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if bare.startswith(b"{"):
            event = event_of(bare)
            if event is not None:
                self._read = True
                self._build = None
                self._event(event, line)
                return True
            if self.complete:
                return False
            self._ledger.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self._ledger.unclassified.append(line)
            return False
        return self._text((bare, line))

    def trace(self) -> None:
        """Remember which lines are suppressed."""
        self._ledger.suppressed.trace()

    def cut(self) -> None:
        """The last line has no newline; every event ends with one."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """Whether every package that started has ended."""
        return self._read and not self._open and self._build is None

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        ledger = self._ledger
        current = b""
        for told in self._open.values():
            current = self._broken_off(told) or current
        if self._builds and exit_code != 0:
            # A build that fails is told of again where a package ends.
            ledger.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        for name, messages in self._builds.items():
            if exit_code == 0:
                ledger.unclassified += (line for _, line in messages)
                continue
            header, *rest = messages
            details = tuple(line.as_kind(classify_detail(text)) for text, line in rest)
            identity = name.partition(" ")[0]
            ledger.failures.append(Failure(identity, header[1].as_kind(Kind.FAILED_TEST), details))
        doubts = set(ledger.doubts)
        if self._cut:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if ledger.silent:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
            if not ledger.broken:
                doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if ledger.unmarked:
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if ledger.unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=ledger.totals(),
            failures=tuple(sorted(ledger.failures, key=_place)),
            fatal_errors=tuple(ledger.marked[Kind.FATAL_ERROR]),
            timeouts=tuple(ledger.marked[Kind.TIMEOUT]),
            warnings=tuple(ledger.marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(sorted(ledger.unclassified, key=_number)),
            suppressed=ledger.suppressed.totals(),
            fates=ledger.suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(ledger.packages or ledger.totals().total),
            standing=(2 if doubts else 3) if ledger.packages and Doubt.COMPLETENESS_UNCONFIRMED not in doubts else 0,
            current_test=decoded(current),
        )

    # -- lines that are no events

    def _text(self, held: Held) -> bool:
        text, line = held
        failed = FAILED_PACKAGE.fullmatch(text)
        if failed is not None and failed["unbuilt"]:
            self._build = None
            self._ledger.unbuilt(failed["package"], line, self._builds.pop(decoded(failed["package"]), ()))
            return True
        build = BUILD.fullmatch(text)
        if build is not None and build["package"] and not self._open:
            self._build = self._builds.setdefault(decoded(build["package"]), [])
            self._build.append(held)
            return True
        if self._build is not None:
            self._build.append(held)
            return True
        if PREPARES.fullmatch(text):
            self._ledger.suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if self.complete:
            return False
        self._ledger.keep([held])
        return not text.strip()

    # -- events

    def _event(self, event: dict[str, str], line: Line) -> None:
        action = event["Action"]
        if action.startswith("build-"):
            if action == "build-output" and "ImportPath" in event:
                text = _text_of(event)
                self._builds.setdefault(event["ImportPath"], []).append((text, line))
            else:
                self._ledger.suppressed.add(Kind.STRUCTURE, line.number)
            return
        name = event.get("Package", "")
        told = self._open.get(name)
        if action == "start":
            if not self._started and (self._open or self._ledger.packages):
                # Where one package has this event, all have it.
                self._ledger.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self._started = True
            if told is not None:
                self._ledger.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            else:
                self._open[name] = self._begin(name, None)
            self._ledger.suppressed.add(Kind.STRUCTURE, line.number)
            return
        if told is None:
            script = None if self._started else Script(self._stream)
            if self._started:
                self._ledger.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            told = self._open[name] = self._begin(name, script)
        if told.script is not None and FRAMED in event:
            self._ledger.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if action in RESULTS and "Test" not in event:
            self._end(told, event, line)
            del self._open[name]
        elif told.script is not None:
            self._scripted(told, told.script, event, line)
        else:
            self._told(told, event, line)

    def _begin(self, name: str, script: Script | None) -> _Told:
        told = _Told(name.encode("utf-8", "replace"), script)
        if self._ledger.suppressed.fates is not None:
            told.package.suppressed.trace()
            if script is not None:
                script.trace()
        return told

    # -- events that are made from text

    def _scripted(self, told: _Told, script: Script, event: dict[str, str], line: Line) -> None:
        action = event["Action"]
        if action == "output":
            script.take(_text_of(event), line)
            return
        if action in RESULTS:
            told.events[RESULTS[action]] += 1
        self._ledger.suppressed.add(Kind.STRUCTURE, line.number)

    # -- events that name their test

    def _told(self, told: _Told, event: dict[str, str], line: Line) -> None:
        package, action = told.package, event["Action"]
        package.touched = True
        if "Test" not in event:
            self._package_output(told, (_text_of(event), line))
            return
        name = event["Test"].encode("utf-8", "replace")
        test = package.open.get(name)
        if action == "run":
            if test is not None:
                package.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
                package.suppressed.add(Kind.STRUCTURE, line.number)
                return
            package.open[name] = package.current = Test(name, [line])
        elif test is None:
            self._orphan(package, action, (_text_of(event), line))
        elif action == "output":
            self._output(package, test, (_text_of(event), line))
        elif action in RESULTS:
            self._result(package, test, RESULTS[action], line)
        else:
            test.structure.append(line)
            test.paused = action == "pause" or (test.paused and action != "cont")

    def _orphan(self, package: Package, action: str, held: Held) -> None:
        """An event of a test that has not begun, or has ended."""
        package.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if action in RESULTS:
            package.contest(held[1])
        elif action == "output":
            package.loose.append(held)
        else:
            package.suppressed.add(Kind.STRUCTURE, held[1].number)

    def _output(self, package: Package, test: Test, held: Held) -> None:
        text = held[0]
        result = RESULT.fullmatch(text) if b"--- " in text else None
        if result is not None and result["name"] == test.name:
            if test.header is not None:
                test.output.append(test.header)
            test.header = held
        elif is_banner(text) and text.endswith(test.name):
            test.structure.append(held[1])
        else:
            test.output.append(held)

    def _result(self, package: Package, test: Test, outcome: bytes, line: Line) -> None:
        """A test's result; its output has to hold the line that says so."""
        del package.open[test.name]
        if package.current is test:
            package.current = None
        said = RESULT.fullmatch(test.header[0]) if test.header is not None else None
        if test.name.startswith(b"Benchmark"):
            _drop(package, test)
            package.suppressed.add(Kind.INFORMATIONAL, line.number)
            return
        if said is None or said["outcome"] != outcome or len(test.structure) < BEGUN:
            package.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        test.outcome = outcome
        if said is None:
            test.header = (b"", line)
        else:
            package.suppressed.add(Kind.RECAP if outcome == FAIL else Kind.STRUCTURE, line.number)
        package.settle(test)

    def _package_output(self, told: _Told, held: Held) -> None:
        text, line = held
        package = told.package
        passed, failed = PASSED_PACKAGE.fullmatch(text), FAILED_PACKAGE.fullmatch(text)
        if passed or failed or EMPTY_PACKAGE.fullmatch(text):
            verdict = "pass" if passed else "fail" if failed else "empty"
            if told.verdict:
                package.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            told.verdict = verdict
            if told.line is not None:
                package.loose.append((text, told.line))
            told.line = line
        elif text in (PASS, FAIL) and package.mark is None:
            package.mark = held
        elif REMARK.fullmatch(text):
            package.suppressed.add(Kind.INFORMATIONAL, line.number)
        else:
            package.loose.append(held)

    # -- the end of a package

    def _end(self, told: _Told, event: dict[str, str], line: Line) -> None:
        action, ledger = event["Action"], self._ledger
        if told.script is not None:
            self._end_script(told, told.script, action, line)
            return
        package, said = told.package, told.verdict
        self._drop_benchmarks(package)
        expected = {"pass": ("pass", "empty"), "skip": ("empty",), "fail": ("fail",)}[action]
        if said not in expected:
            ledger.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        header = told.line
        if header is None:
            header = line
        else:
            ledger.suppressed.add(Kind.STRUCTURE, line.number)
        build = event.get("FailedBuild")
        if action == "fail" and build is not None:
            ledger.keep(package.loose)
            messages = self._builds.pop(build, [])
            ledger.unbuilt(told.name, header, messages)
        elif action == "fail":
            ledger.failed(package, told.name, header)
        elif action == "skip" or said == "empty":
            marked = package.mark is not None
            ledger.passed(package, told.name, header, nothing_ran=True, marked=marked or said == "empty")
        else:
            ledger.passed(package, told.name, header, nothing_ran=False)

    def _drop_benchmarks(self, package: Package) -> None:
        """A benchmark begins like a test and has no result."""
        for name in [name for name in package.open if name.startswith(b"Benchmark")]:
            _drop(package, package.open.pop(name))

    def _end_script(self, told: _Told, script: Script, action: str, line: Line) -> None:
        ledger = self._ledger
        script.end()
        own = script.ledger
        if told.name not in own.packages and action == "fail":
            own.failures.append(Failure(decoded(told.name), line.as_kind(Kind.FAILED_TEST)))
            own.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        else:
            ledger.suppressed.add(Kind.STRUCTURE, line.number)
        failed = own.broken > 0
        if failed != (action == "fail") or len(own.packages) != 1 or told.name not in own.packages:
            own.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if +told.events != +own.tally:
            own.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        ledger.absorb(own)

    def _broken_off(self, told: _Told) -> bytes:
        """The stream ended inside a package."""
        if told.script is not None:
            current = told.script.end()
            self._ledger.absorb(told.script.ledger)
            self._ledger.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            return current
        if told.line is not None:
            told.package.loose.append((b"", told.line))
        return self._ledger.broken_off(told.package, told.name)


def _book(package: Package, green: Green) -> None:
    """Count the tests of a run."""
    package.touched = True
    package.tally[PASS] += green.passed
    package.suppressed.add_many(Kind.SUCCESSFUL_TEST, green.passed)
    package.suppressed.add_many(Kind.STRUCTURE, green.banners + green.passed)
    package.suppressed.add_many(Kind.PROGRAM_OUTPUT, green.lines - green.banners - 2 * green.passed)


def _drop(package: Package, test: Test) -> None:
    """Nothing of a benchmark counts."""
    held = test.output if test.header is None else [*test.output, test.header]
    package.suppressed.add_lines(Kind.INFORMATIONAL, (line for _, line in held))
    package.suppressed.add_lines(Kind.INFORMATIONAL, test.structure)


BEGUN = 2
"""A test has its `run` event and the line `=== RUN` in an output."""


def _text_of(event: dict[str, str]) -> bytes:
    """The text of an output, as a line."""
    return bare(event.get("Output", "").removesuffix("\n").encode("utf-8", "replace"))


def _place(failure: Failure) -> int:
    return min((line.number for line in failure.lines()), default=0)


def _number(line: Line) -> int:
    return line.number


DIALECT = Dialect(
    name="go-json",
    title="go test -json",
    checked="Go 1.19, 1.27",
    streams=frozenset({"stdout"}),
    opening=EVENT,
    begin=GoEvents,
)
