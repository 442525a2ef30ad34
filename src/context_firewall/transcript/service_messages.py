"""TeamCity's service messages: what a test runner tells a build server, a line each, among whatever else is printed.

The grammar, from TeamCity's documentation ("Service Messages"):

    ##teamcity[messageName 'value']
    ##teamcity[messageName name1='value1' name2='value2']

A value escapes what would end it: `|'`, `|n`, `|r`, `||`, `|[`, `|]`, `|0xNNNN`; older ones `|x` (U+0085), `|l`, `|p`
(U+2028, U+2029). What a program printed without a line end stands before a message on its line.

- Suites hold suites and tests, a test ends before the next begins: each in its flow. A flow may have a parent, whose
  open suites are its own, too. What starts has to finish, in order; messages that do not fit deny the account.
- A test that was neither failed nor ignored when it finished has passed. So the account of a run that broke off says
  nothing about the test that was running.
- What is printed while one test runs, and only one, is that test's.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from context_firewall.transcript.account import Account
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.json_lines import well_formed
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.markers import SERVICE_MESSAGE
from context_firewall.transcript.service_message_lane import passed_lane

DEEPEST = 100
"""Suites, one in another, that a test is named by."""
_VALUE = rb"'(?:[^'|]++|\|[^\n])*+'"
_MESSAGE = re.compile(
    rb"##teamcity\[(?P<name>[A-Za-z][A-Za-z0-9_.-]*+)"
    rb"(?P<values> ++%b|(?: ++[A-Za-z_][A-Za-z0-9_.-]*+ *+= *+%b)*+) *+\]" % (_VALUE, _VALUE)
)
_PAIR = re.compile(rb"(?<![A-Za-z0-9_.-])(?P<key>[A-Za-z_][A-Za-z0-9_.-]*+) *+= *+'(?P<value>(?:[^'|]++|\|[^\n])*+)'")
_ESCAPE = re.compile(r"\|(?:0x([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "x": "\x85", "l": "\u2028", "p": "\u2029"}
_COUNT = re.compile(r"[0-9]{1,9}+")
# PHPUnit and its kin say where a test stands: `php_qn:///srv/CartTest.php::\Shop\CartTest::testTotal`.
_QUALIFIED = re.compile(r"php_qn://.*?::\\(?P<name>[^:]++::.++)", re.DOTALL)


class Message(NamedTuple):
    """A service message: its name, and its values as they are meant."""

    name: str
    values: Mapping[str, str]

    def value(self, key: str) -> str:
        """A value; empty if there is none."""
        return self.values.get(key, "")


class Found(NamedTuple):
    """What a line with the mark of a message holds."""

    message: Message | None
    """None: it is torn, or is none."""
    before: bytes
    """What stands before it."""


def found_in(bare: bytes) -> Found | None:
    """The message that a bare line ends with; None if it has no mark of one."""
    at = bare.rfind(SERVICE_MESSAGE)
    if at < 0:
        return None
    match = _MESSAGE.fullmatch(bare, at)
    return Found(None if match is None else _message(match), bare[:at])


def text_before_message(bare: bytes) -> bytes | None:
    """What stands before the message that a line ends with; None if it ends with none."""
    found = found_in(bare)
    return None if found is None or found.message is None else found.before


def goes_on(bare: bytes) -> bool:
    """Whether a line behind a run has a message of the same run: another one begins with its number of tests."""
    return _OF_TESTS.search(bare) is not None and not bare.startswith(SERVICE_MESSAGE + b"testCount ")


def _message(match: "re.Match[bytes]") -> Message | None:
    pairs = [(one["key"].decode(), _meant(one["value"])) for one in _PAIR.finditer(match["values"])]
    values = dict(pairs)
    return Message(match["name"].decode(), values) if len(values) == len(pairs) else None


def _meant(value: bytes) -> str:
    """A value without its escapes."""
    text = decoded(value)
    return well_formed(_ESCAPE.sub(_char, text)) if "|" in text else text


def _char(match: "re.Match[str]") -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])


@dataclass(slots=True)
class Test:
    """A test that runs, or has run."""

    name: str
    identity: str
    lines: list[Line] = field(default_factory=list)
    """Its messages, and what was printed meanwhile."""
    header: Line | None = None
    """The message that says that it failed."""
    told: Message | None = None
    """The same, as it is meant."""
    ignored: bool = False
    finished: bool = False

    def failure(self) -> Failure:
        """The failure that it is."""
        details = (line for line in self.lines if line is not self.header)
        return Failure(self.identity, self.header, tuple(_as_detail(line) for line in details))


def _as_detail(line: Line) -> Line:
    return line.as_kind(Kind.FAILURE_DETAIL) if line.kind is Kind.UNCLASSIFIED else line


class Tests:
    """The account that the messages of a run give."""

    def __init__(self, suppressed: Account, *, flow: str | None = None) -> None:
        self._suppressed = suppressed
        self.flow = flow
        """The flow of the runner's messages, if it has only one: those of others are text."""
        self.counted: list[int] = []
        """How many tests there are, as often as it was said."""
        self.passed = 0
        self.skipped = 0
        self.failed: list[Test] = []
        """In the order in which they failed."""
        self.outside: list[Test] = []
        """What failed without having started: hooks."""
        self.problems: list[Line] = []
        """What the messages say of the build as a whole that is wrong with it."""
        self.remarks: list[Line] = []
        """Messages of a build's log about errors and warnings."""
        self.torn: list[Line] = []
        """Lines with a message that is cut, or that does not belong there."""
        self.contested = False
        """Messages were switched off for a while, a test may be run again, or two messages stand in a line."""
        self._suites: dict[str, list[str]] = {}
        """The suites that are open, by flow."""
        self._parents: dict[str, str] = {}
        self._running: dict[str, Test] = {}
        """The test that runs in each flow."""
        self._skipping: tuple[str, str] | None = None
        """Flow and name of a test that was ignored without having started: some say that it finishes, too."""
        self._tops = 0
        """How often a suite has begun while none was open."""
        self._bare = False
        """A test has run outside of every suite."""

    # -- lines

    def take(self, bare: bytes, line: Line) -> bool:
        """Take a line that ends with a message; says whether it is one."""
        found = found_in(bare)
        if found is None:
            return False
        message = found.message
        if message is None:
            if _OF_TESTS.search(bare) is None:
                return False
            self.torn.append(line)
            return True
        if self.flow is not None and message.value("flowId") != self.flow:
            return False
        deed = _DEEDS.get(message.name)
        if deed is not None:
            # Before it stands half of another, or a whole one: the line says only one thing.
            self.contested |= _OF_TESTS.search(found.before) is not None
            deed(self, message, line)
        elif found.before:
            return False
        else:
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        return True

    def lane(self) -> re.Pattern[bytes] | None:
        """Tests that pass, and suites of them, while none runs and a suite is open; for who reads all flows."""
        return passed_lane() if self._suites and not self._running else None

    def run(self, block: bytes, start: int, stop: int) -> int:
        """Take such tests; returns how many lines they are, 0 if no suite of their flow is open."""
        first = _MESSAGE.match(block, start)
        message = first and _message(first)
        if message is None or not self._path(message.value("flowId")):
            return 0
        lines, tests = block.count(b"\n", start, stop), block.count(b"\n##teamcity[testFinished ", start, stop)
        self._suppressed.add_many(Kind.STRUCTURE, lines - tests)
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, tests)
        self.passed += tests
        if tests:
            self._skipping = None
        return lines

    def printed(self, line: Line) -> bool:
        """Take text as the output of the test that runs, if only one does."""
        if len(self._running) != 1:
            return False
        next(iter(self._running.values())).lines.append(line)
        return True

    # -- what messages do

    def _count(self, message: Message, line: Line) -> None:
        count = message.value("count")
        if not _COUNT.fullmatch(count):
            self.torn.append(line)
            return
        self.counted.append(int(count))
        self._suppressed.add(Kind.STRUCTURE, line.number)

    def _start_flow(self, message: Message, line: Line) -> None:
        if message.value("parent"):
            self._parents[message.value("flowId")] = message.value("parent")
        self._suppressed.add(Kind.STRUCTURE, line.number)

    def _finish_flow(self, message: Message, line: Line) -> None:
        self._parents.pop(message.value("flowId"), None)
        self._suppressed.add(Kind.STRUCTURE, line.number)

    def _path(self, flow: str) -> list[str]:
        """The suites that are open in a flow and above it, the outermost first; of very many the innermost."""
        path: list[str] = []
        for _ in range(DEEPEST):
            path = self._suites.get(flow, [])[-DEEPEST:] + path
            if flow not in self._parents:
                break
            flow = self._parents[flow]
        return path[-DEEPEST:]

    def _start_suite(self, message: Message, line: Line) -> None:
        self._tops += not self._suites
        self._suites.setdefault(message.value("flowId"), []).append(message.value("name"))
        self._suppressed.add(Kind.STRUCTURE, line.number)

    def _finish_suite(self, message: Message, line: Line) -> None:
        flow = message.value("flowId")
        suites = self._suites.get(flow, [])
        if flow in self._running or not suites or suites[-1] != message.value("name"):
            self.torn.append(line)
            return
        suites.pop()
        if not suites:
            del self._suites[flow]
        self._suppressed.add(Kind.STRUCTURE, line.number)

    def _start(self, message: Message, line: Line) -> None:
        flow, name = message.value("flowId"), message.value("name")
        if flow in self._running:
            self.torn.append(line)
            return
        path = self._path(flow)
        self._bare |= not path
        qualified = _QUALIFIED.fullmatch(message.value("locationHint"))
        identity = qualified["name"] if qualified is not None else " > ".join([*path, name])
        self._running[flow] = Test(name, identity, [line.as_kind(Kind.STRUCTURE)])

    def _test(self, message: Message) -> Test | None:
        test = self._running.get(message.value("flowId"))
        return test if test is not None and test.name == message.value("name") else None

    def _fail(self, message: Message, line: Line) -> None:
        test = self._test(message)
        if test is None:
            name = message.value("name")
            test = Test(name, " > ".join([*self._path(message.value("flowId")), name]))
            self.outside.append(test)
        elif test.header is None:
            self.failed.append(test)
        first = test.header is None
        kept = line.as_kind(Kind.FAILED_TEST if first else Kind.FAILURE_MESSAGE)
        if first:
            test.header, test.told = kept, message
        test.lines.append(kept)

    def _ignore(self, message: Message, line: Line) -> None:
        test = self._test(message)
        if test is None:
            # Some say only that, of a test that has not run.
            self.skipped += 1
            self._skipping = message.value("flowId"), message.value("name")
            self._suppressed.add(Kind.SKIPPED_TEST, line.number)
            return
        test.ignored = True
        test.lines.append(line.as_kind(Kind.SKIPPED_TEST))

    def _print(self, message: Message, line: Line) -> None:
        test = self._test(message)
        if test is None:
            self._suppressed.add(Kind.PROGRAM_OUTPUT, line.number)
        else:
            test.lines.append(line.as_kind(Kind.PROGRAM_OUTPUT))

    def _finish(self, message: Message, line: Line) -> None:
        test, skipping = self._test(message), self._skipping
        self._skipping = None
        if test is None and skipping == (message.value("flowId"), message.value("name")):
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return
        if test is None:
            self.torn.append(line)
            return
        del self._running[message.value("flowId")]
        test.finished = True
        if test.header is not None:
            self._suppressed.add(Kind.STRUCTURE, line.number)
            test.lines = [one for one in test.lines if one.kind is not Kind.STRUCTURE or self._drop(one)]
            return
        self.skipped += test.ignored
        self.passed += not test.ignored
        self._suppressed.add(Kind.STRUCTURE if test.ignored else Kind.SUCCESSFUL_TEST, line.number)
        for one in test.lines:
            kind = Kind.PROGRAM_OUTPUT if one.kind is Kind.UNCLASSIFIED else one.kind
            self._suppressed.add(kind, one.number)

    def _drop(self, line: Line) -> bool:
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return False

    def _problem(self, message: Message, line: Line) -> None:
        if message.name == "buildStatus" and message.value("status") not in ("FAILURE", "ERROR"):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        else:
            self.problems.append(line)

    def _remark(self, message: Message, line: Line) -> None:
        if message.value("status") in ("WARNING", "FAILURE", "ERROR"):
            self.remarks.append(line)
        else:
            self._suppressed.add(Kind.INFORMATIONAL, line.number)

    def _contest(self, message: Message, line: Line) -> None:
        self.contested = True
        self._suppressed.add(Kind.INFORMATIONAL, line.number)

    # -- what they amount to

    @property
    def ended(self) -> int:
        """How many tests have ended."""
        return self.passed + self.skipped + sum(test.finished for test in self.failed)

    @property
    def closed(self) -> bool:
        """Whether all that has started has finished, and every message fits."""
        return not (self._running or self._suites or self.torn)

    @property
    def whole(self) -> bool:
        """Whether the run has come to its end: one suite holds as many tests as were announced."""
        one_suite = self._tops == 1 and not self._bare
        return one_suite and self.closed and not self.contested and self.counted == [self.ended]

    @property
    def current(self) -> str:
        """The test that was running when the messages broke off."""
        return next((test.identity for test in reversed(self._running.values())), "")

    def unfinished(self) -> list[Line]:
        """What was printed in tests that neither failed nor finished; their messages are accounted for."""
        kept: list[Line] = []
        for test in self._running.values():
            if test.header is None:
                kept += (line for line in test.lines if line.kind is Kind.UNCLASSIFIED)
                for line in test.lines:
                    if line.kind is not Kind.UNCLASSIFIED:
                        self._suppressed.add(line.kind, line.number)
            else:
                test.lines = [one for one in test.lines if one.kind is not Kind.STRUCTURE or self._drop(one)]
        return kept


_DEEDS = {
    "testCount": Tests._count,
    "flowStarted": Tests._start_flow,
    "flowFinished": Tests._finish_flow,
    "testSuiteStarted": Tests._start_suite,
    "testSuiteFinished": Tests._finish_suite,
    "testStarted": Tests._start,
    "testFailed": Tests._fail,
    "testIgnored": Tests._ignore,
    "testStdOut": Tests._print,
    "testStdErr": Tests._print,
    "testFinished": Tests._finish,
    "buildProblem": Tests._problem,
    "buildStatus": Tests._problem,
    "message": Tests._remark,
    "disableServiceMessages": Tests._contest,
    "enableServiceMessages": Tests._contest,
    "testRetrySupport": Tests._contest,
}
# The beginning of a message that matters here.
_OF_TESTS = re.compile(rb"##teamcity\[(?:test|flow|build)[A-Z]")
