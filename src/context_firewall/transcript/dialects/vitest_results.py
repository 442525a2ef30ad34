"""Vitest's results as they come in: files with their tests, tests alone, or signs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import vitest_grammar as grammar
from context_firewall.transcript.dialects.vitest_summary import Summary
from context_firewall.transcript.facts import ResultLine, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import ANSI, Line, bare, decoded

_PAINT = rb"(?:\x1b\[[0-9;]*+m)*+"
# A name with a parenthesis may be a file's result or a suite's, so such lines are looked at one by one; so are names
# with other sequences than colours.
_PASSED = rb"\xe2\x9c\x93" + _PAINT + rb" (?:[^\n(\x1b]++|\x1b\[[0-9;]*+m)++\n"
# One blank stands before a test with its whole path, three and more before a test under its file.
VERBOSE_LANE = re.compile(rb"(?:" + _PAINT + rb" " + _PAINT + _PASSED + rb")++")
# A line of a run that names its file and its test, as all do that stand alone.
_WITH_PATH = re.compile(rb"\n[^\n]*? > ")
_UNDER_FILE = _PAINT + rb"   " + _PAINT + rb" *+" + _PAINT + _PASSED
_GREEN_FILE = _PAINT.join(
    (
        rb" ",
        rb"\xe2\x9c\x93",
        rb" (?!TS  )[^\n(\x1b]++(?<= )",
        rb"\(",
        rb"[0-9]++ tests?",
        rb"(?: \| " + _PAINT + rb"[0-9]++ (?:skipped|todo)" + _PAINT + rb")*+\)",
        rb"(?: [0-9.]++" + _PAINT + rb"m?s)?+",
        rb"\n",
    )
)
# Files that passed, and tests that passed under a file.
FILE_LANE = re.compile(rb"(?:" + _PAINT + rb"(?:" + _GREEN_FILE + rb"|" + _UNDER_FILE + rb"))++")
# In such a run only a file's line has a parenthesis.
_TESTS_IN_LANE = re.compile(rb"\(" + _PAINT + rb"([0-9]++) tests?")
_PATH_IN_LANE = re.compile(rb"\xe2\x9c\x93" + _PAINT + rb" ([^\n(\x1b]++)" + _PAINT + rb"\(")
_ALONE = 1
_UNDER = 3
_TIMED_SINCE = 3


@dataclass(slots=True)
class _Failing:
    """The lines of a failing test."""

    file: str
    names: tuple[bytes, ...]
    lines: list[Line] = field(default_factory=list)
    loose: list[Line] = field(default_factory=list)
    """Further lines of its errors' messages, or what somebody printed there."""
    arrows: bool = False


class Results:
    """The results of one run."""

    def __init__(self, suppressed: Account) -> None:
        self._suppressed = suppressed
        self.todo: list[Line] = []
        self.failing: list[_Failing] = []
        self._file = ""
        self._files = 0
        self._green_files = 0
        self._file_tests = 0
        self._file_failures = 0
        self._alone: dict[bytes, int] = dict.fromkeys((grammar.PASSED, grammar.SKIPPED, grammar.TODO), 0)
        self._alone_failed = 0
        self._any_alone = False
        self._under: dict[bytes, int] = dict.fromkeys((grammar.PASSED, grammar.SKIPPED, grammar.TODO), 0)
        self._dots = {b"\xc2\xb7": 0, b"x": 0, b"-": 0, b"*": 0}
        self._unfinished = False
        """The line of a passed test may have been the first of a name with newlines."""
        self._timed = False

    def lane(self, *, holding: bool) -> re.Pattern[bytes] | None:
        """Runs of passing tests; while output is held, each may let go of some."""
        if self._any_alone:
            return None if holding else VERBOSE_LANE
        return None if holding else FILE_LANE

    def run(self, block: bytes, start: int, stop: int) -> int:
        """Count a run of passing tests."""
        count = block.count(b"\n", start, stop)
        if self._any_alone:
            if len(_WITH_PATH.findall(b"\n" + ANSI.sub(b"", block[start:stop]))) < count:
                return 0
            self._alone[grammar.PASSED] += count
        else:
            if not self._file and block.find(b"(", start, block.index(b"\n", start)) < 0:
                return 0  # a test under no file
            files = _TESTS_IN_LANE.findall(block, start, stop)
            if files:
                self._file = _last_path(block, start, stop)
                self._files += len(files)
                self._green_files += len(files)
                self._file_tests += sum(map(int, files))
            self._under[grammar.PASSED] += count - len(files)
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count)
        last = block[block.rfind(b"\n", start, stop - 1) + 1 if count > 1 else start : stop - 1]
        self._unfinished = self._timed and not grammar.has_duration(bare(last))
        return count

    def dots(self, signs: bytes) -> None:
        """A row of signs."""
        for sign in self._dots:
            self._dots[sign] += signs.count(sign)

    def file(self, match: "re.Match[bytes]", line: Line) -> bool:
        """The result of a file; whether something in it failed."""
        self._files += 1
        self._file = decoded(match["path"])
        self._file_tests += int(match["tests"])
        self._file_failures += int(match["failed"] or 0)
        failing = match["mark"] in (grammar.SUITE, grammar.FAILED)
        if failing:
            self._suppressed.add(Kind.DERIVED_FAILURE, line.number)
        else:
            self._green_files += 1
            kind = Kind.SKIPPED_TEST if match["mark"] == grammar.SKIPPED else Kind.SUCCESSFUL_TEST
            self._suppressed.add(kind, line.number)
        self._unfinished = False
        return failing

    def version(self, major: int) -> None:
        """From 3.0 on, the line of each test that ran ends with a duration."""
        self._timed = major >= _TIMED_SINCE

    @property
    def any(self) -> bool:
        """Whether there was a result."""
        return bool(self._files or self._any_alone or any(self._dots.values()))

    @property
    def verbose(self) -> bool:
        """Whether tests stand with their whole path, one blank in."""
        return self._any_alone

    @property
    def signs_only(self) -> bool:
        """Whether no file and no test has been named yet."""
        return not self._files and not self._any_alone

    def expects(self, match: "re.Match[bytes]") -> bool:
        """Whether a line with a test's form can stand here: a test with its whole path, or under its file."""
        mark, indent = match["mark"], len(match["indent"])
        if indent == _ALONE:
            return mark not in (grammar.SUITE, grammar.PENDING) and b" > " in match["name"]
        return indent >= _UNDER and bool(self._file)

    def test(self, match: "re.Match[bytes]", line: Line) -> tuple[str, ...] | None:
        """The line of a test or suite: names of one that did not fail, or None for one that did."""
        mark, name = match["mark"], match["name"]
        alone = len(match["indent"]) == _ALONE
        names = grammar.names_of(name)
        self._any_alone |= alone
        self._unfinished = False
        if mark == grammar.SUITE and name.endswith(b")"):
            self._suppressed.add(Kind.DERIVED_FAILURE, line.number)
            return ()
        if mark in (grammar.FAILED, grammar.SUITE):
            self.failing.append(_Failing("" if alone else self._file, names, [line]))
            self._alone_failed += alone
            return None
        counter = self._alone if alone else self._under
        if mark in counter:
            counter[mark] += 1
        if mark == grammar.TODO:
            self.todo.append(line.as_kind(Kind.TODO_TEST))
        elif mark == grammar.PASSED:
            self._suppressed.add(Kind.SUCCESSFUL_TEST, line.number)
            self._unfinished = self._timed and len(names) == 1
        else:
            self._suppressed.add(Kind.SKIPPED_TEST, line.number)
        return tuple(decoded(one) for one in names) if alone else ()

    def more(self, text: bytes, line: Line) -> bool:
        """Whether a line under a failing test's belongs to it: the rest of its name, or its errors."""
        failing = self.failing[-1]
        if grammar.ARROW.fullmatch(text):
            failing.arrows = True
            failing.lines.append(line)
        elif failing.arrows:
            failing.loose.append(line)
        elif len(failing.names) == 1 and len(failing.lines) == 1:
            failing.lines.append(line)
        else:
            return False
        return True

    def continues(self, text: bytes, line: Line) -> bool:
        """Whether a line is the rest of a name with newlines: it ends as the lines of tests do."""
        if not self._unfinished or not grammar.has_duration(text):
            return False
        self._unfinished = False
        self._suppressed.add(Kind.SUCCESSFUL_TEST, line.number)
        return True

    def failing_lines(self) -> Iterator[ResultLine]:
        """The failing tests' lines."""
        for one in self.failing:
            names = tuple(decoded(name) for name in one.names)
            identity = f"{one.file} > {names[0]}" if one.file and not names[0].startswith(one.file) else names[0]
            header, *rest = one.lines
            lines = (header.as_kind(Kind.FAILED_TEST), *(line.as_kind(Kind.FAILURE_MESSAGE) for line in rest))
            loose = tuple(line.as_kind(Kind.FAILURE_MESSAGE) for line in one.loose)
            yield ResultLine(identity, one.file, names, lines, loose)

    def tally(self) -> Tally:
        """What was read, for a run without a summary."""
        passed = self._alone[grammar.PASSED] + self._under[grammar.PASSED] + self._dots[b"\xc2\xb7"]
        failed = max(len(self.failing), self._dots[b"x"])
        skipped = self._alone[grammar.SKIPPED] + self._under[grammar.SKIPPED] + self._dots[b"-"]
        todo = len(self.todo)
        return Tally(passed, failed, skipped, todo, passed + failed + skipped + todo)

    def agree(self, summary: Summary) -> bool:
        """Whether results and summary count alike, as far as the reporter prints results."""
        tests = summary.tests
        if tests is None:
            return False
        tally = summary.tally()
        early = tally.total < tests.total
        """Whether the run ended before all tests had run."""
        if tally.total > tests.total:
            return False
        expected = tests.of(b"expected fail")
        if any(self._dots.values()):
            quiet = self._dots[b"-"] + self._dots[b"*"]
            waiting = tests.total - tally.total
            if self._dots[b"\xc2\xb7"] != tally.passed + expected or self._dots[b"x"] != tally.failed:
                return False
            if not tally.skipped <= quiet <= tally.skipped + tally.todo - expected + waiting:
                return False
        if self._any_alone:
            return (
                self._alone[grammar.PASSED] == tally.passed + expected
                and self._alone_failed == tally.failed
                and self._alone[grammar.SKIPPED] + self._alone[grammar.TODO] <= tally.skipped + tally.todo
            )
        if not self._files:
            return True
        if self._file_failures != tally.failed:
            return False
        if self._green_files and not early:
            # 3.x prints no line for a file that does not load.
            unloaded = summary.files.total - self._files
            return self._file_tests == tests.total and 0 <= unloaded <= summary.failed_files
        return self._file_tests <= tests.total


def _last_path(block: bytes, start: int, stop: int) -> str:
    """The file that stands last in a run with files."""
    line = block.rfind(b"\n", start, block.rfind(b"(", start, stop)) + 1 or start
    found = _PATH_IN_LANE.search(block, line, stop)
    return "" if found is None else decoded(found[1].rstrip(b" "))
