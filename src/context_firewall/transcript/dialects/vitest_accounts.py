"""Vitest's accounts of failures: blocks under `Failed Suites` and `Failed Tests`, and errors outside of tests.

A block has a line ` FAIL  file > suite > name` (several where one error belongs to several tests or retries), the
error, its diff, its place, and ends with a ruler that has its number among all errors. Only a ruler of the section's
width with the number that is due ends a block: text of an error can look like anything else. The sum of all ` FAIL `
lines is the number of errors that each ruler repeats.

Errors outside of tests stand in a section of their own, each under a ruler with its sort; nothing but the end of the
report or of the stream ends the last one.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import vitest_grammar as grammar
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.excerpts import lead_up
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded

_MOST_NAME_LINES = 16
OUTSIDE = "Unhandled Errors"
# An excerpt of Vitest's has two rows above the failing one.
_ROWS_ABOVE = 2
_DIFF = re.compile(rb"[-+@] ?[^\n]*+")


def details(lines: list[Line]) -> tuple[Line, ...]:
    """The lines of a region under their kinds, from the error's first line on."""
    kinds: list[Kind] = []
    beyond = False
    for i, line in enumerate(lines):
        text = bare(line.raw)
        kind = classify_detail(text)
        source = grammar.SOURCE.fullmatch(text)
        if not text.strip() or grammar.PLAIN.fullmatch(text) or grammar.ADVICE.fullmatch(text):
            kind = Kind.FAILURE_CONTEXT
        elif i == 0:
            kind = Kind.FAILURE_MESSAGE
        elif grammar.FRAME.match(text):
            own = not grammar.RUNNER_FRAME.match(text)
            kind = Kind.STACK_TRACE if own or not beyond else Kind.FAILURE_CONTEXT
            beyond |= own
        elif source is not None:
            below = bare(lines[i + 1].raw) if i + 1 < len(lines) else b""
            failing = grammar.CARET.fullmatch(below) and source["code"].strip() and not grammar.CARET.fullmatch(text)
            kind = Kind.STACK_TRACE if failing else Kind.FAILURE_CONTEXT
            if failing:
                above = [bare(line.raw) for line in lines[max(i - _ROWS_ABOVE, 0) : i]]
                count = lead_up(above, text)
                kinds[i - count :] = [Kind.FAILURE_DETAIL] * count
        elif _DIFF.fullmatch(text):
            kind = Kind.ASSERTION
        kinds.append(kind)
    return tuple(line.as_kind(kind) for line, kind in zip(lines, kinds, strict=True))


@dataclass(slots=True)
class _Block:
    """One error and the tests that it belongs to."""

    headers: list[tuple[bytes, Line]]
    suites: bool
    """It stands in the section of suites, not of tests."""
    lines: list[Line] = field(default_factory=list)

    def name_lines(self) -> int:
        """How many lines of the region are the rest of a name that has newlines."""
        for i, line in enumerate(self.lines[: _MOST_NAME_LINES + 1]):
            text = bare(line.raw)
            if not text.strip():
                return 0
            if grammar.MESSAGE.match(text):
                return i
        return 0

    def failures(self) -> list[Failure]:
        """A failure for each different test; the last one has the region."""
        more = self.name_lines()
        rest = self.lines[more:]
        while rest and not rest[-1].raw.strip():
            rest.pop()
        found: list[Failure] = []
        for i, (name, header) in enumerate(self.headers):
            last = i == len(self.headers) - 1
            identity = grammar.whole_file(name) or grammar.without_tries(name)
            told: tuple[Line, ...] = ()
            if last:
                identity = b"\n".join([identity, *(bare(line.raw) for line in self.lines[:more])])
                named = (line.as_kind(Kind.FAILED_TEST) for line in self.lines[:more])
                told = (*named, *details(rest))
            text = decoded(identity)
            if found and found[-1].identity.partition("\n")[0] == text.partition("\n")[0]:
                before = found.pop()
                told = (*before.details, header.as_kind(Kind.FAILURE_CONTEXT), *told)
                found.append(Failure(text, before.header, told))
            else:
                found.append(Failure(text, header.as_kind(Kind.FAILED_TEST), told))
        return found

    def blanks(self) -> list[Line]:
        """The empty lines behind the region."""
        kept = len(self.lines)
        while kept and not self.lines[kept - 1].raw.strip():
            kept -= 1
        return self.lines[max(kept, self.name_lines()) :]


@dataclass(slots=True)
class _End:
    """A ruler that ends a block if the next line is one that may follow a block."""

    number: int
    of: int
    lines: list[Line]
    """The ruler and the empty lines behind it."""


@dataclass(slots=True)
class _Error:
    """One error outside of tests."""

    title: bytes
    header: Line | None
    lines: list[Line] = field(default_factory=list)

    def failure(self) -> Failure:
        """A failure named by the sort of error and its first line."""
        kept = len(self.lines)
        while kept and _idle(self.lines[kept - 1]):
            kept -= 1
        start = 0
        while start < kept and _idle(self.lines[start]):
            start += 1
        message = bare(self.lines[start].raw) if start < kept else b""
        name = f"{OUTSIDE} > {decoded(self.title)}" + (f": {decoded(message)}" if message else "")
        header = None if self.header is None else self.header.as_kind(Kind.FAILED_TEST)
        return Failure(name, header, details(self.lines[start:kept]))

    def spare(self) -> list[Line]:
        """The empty lines and plain rulers around the region."""
        kept = len(self.lines)
        while kept and _idle(self.lines[kept - 1]):
            kept -= 1
        start = 0
        while start < kept and _idle(self.lines[start]):
            start += 1
        return [*self.lines[:start], *self.lines[kept:]]


def _idle(line: Line) -> bool:
    text = bare(line.raw)
    return not text.strip() or grammar.PLAIN.fullmatch(text) is not None


class Accounts:
    """The accounts that stand in one stretch."""

    def __init__(self, suppressed: Account, doubts: set[Doubt], unclassified: list[Line]) -> None:
        self._suppressed = suppressed
        self._doubts = doubts
        self._unclassified = unclassified
        self._width = 0
        self._suites = False
        self._done: list[_Block] = []
        self._block: _Block | None = None
        self._end: _End | None = None
        self._number = 0
        self._of = 0
        self._headers = 0
        self._stated_suites = 0
        self._stated_tests = 0
        self._in_section = False
        self._errors: list[_Error] = []
        self._in_errors = False
        self._caught = 0
        self.failures: list[Failure] = []
        self.tests = 0
        self.files: set[str] = set()
        self.outside = 0

    @property
    def any(self) -> bool:
        """Whether there was an account."""
        return bool(self._done or self._block or self._errors or self.failures)

    @property
    def open(self) -> bool:
        """Whether a block or section is open, so that the next line belongs to it."""
        return self._in_section or self._in_errors

    @property
    def may_end(self) -> bool:
        """Whether the summary may follow: no block is open."""
        return self._block is None or self._end is not None

    # -- sections -------------------------------------------------------------------------------------------------

    def opens(self, text: bytes, line: Line) -> bool:
        """Whether the line opens a section, or an error outside of tests."""
        if not text.startswith(b"\xe2\x8e\xaf"):
            return False
        ruler = grammar.TITLED.fullmatch(text)
        if ruler is None:
            return False
        wide = grammar.width(text)
        title = ruler["title"]
        if wide < grammar.NARROWEST or (self._width and wide != self._width):
            return False
        section = grammar.SECTION.fullmatch(title)
        if section is not None:
            if self._in_section and (self._block is not None or self._in_errors):
                return False
            self._width = wide
            self._open_section(section["what"], int(section["count"]))
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if title in grammar.ERROR_SECTIONS:
            self._width = wide
            self._in_errors = True
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if title in grammar.ERROR_TITLES or self._in_errors:
            self._width = wide
            self._in_errors = True
            self._errors.append(_Error(title, line))
            return True
        return False

    def _open_section(self, what: bytes, count: int) -> None:
        if self._number and self._number == self._of == self._headers:
            self.end()  # a further run's accounts
        self._suites = what == b"Suites"
        if self._suites:
            self._stated_suites += count
        else:
            self._stated_tests += count
        self._in_section = True

    def take(self, text: bytes, line: Line) -> bool:
        """A line while something is open. False: it is none of the section's, and the section is over or broken."""
        if self._in_errors:
            if not self.opens(text, line):
                self._error_line(text, line)
            return True
        if self._block is not None:
            return self._block_line(text, line)
        fail = grammar.FAIL.fullmatch(text)
        if fail is not None:
            self._block = _Block([(fail["name"], line)], self._suites)
            return True
        if not text.strip():
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        return self.opens(text, line)

    def _block_line(self, text: bytes, line: Line) -> bool:
        block = self._block
        if block is None:
            return False
        if self._end is not None:
            return self._behind_end(self._end, block, text, line)
        if not block.lines:
            fail = grammar.FAIL.fullmatch(text)
            if fail is not None:
                block.headers.append((fail["name"], line))
                return True
        if text.startswith(b"\xe2\x8e\xaf"):
            ruler = grammar.NUMBERED.fullmatch(text)
            if ruler is not None and grammar.width(text) == self._width and self._may_end(ruler):
                self._end = _End(int(ruler["number"]), int(ruler["of"]), [line])
                if self._end.number == self._end.of:
                    self._close(self._end, block)
                return True
        block.lines.append(line)
        return True

    def _behind_end(self, end: _End, block: _Block, text: bytes, line: Line) -> bool:
        """A line behind a ruler: it proves the ruler an end, or part of the error's text."""
        if not text.strip():
            end.lines.append(line)
            return True
        ruler = grammar.TITLED.fullmatch(text)
        section = ruler is not None and grammar.width(text) == self._width
        if section or grammar.FAIL.fullmatch(text):
            self._close(end, block)
            return self.take(text, line)
        self._end = None
        block.lines += (*end.lines, line)
        return True

    def _close(self, end: _End, block: _Block) -> None:
        """The block is over."""
        if end.number != self._number + 1:
            self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        self._number, self._of = end.number, end.of
        self._headers += len(block.headers)
        self._done.append(block)
        self._block = self._end = None
        self._in_section = self._headers < end.of
        ruler, *blanks = end.lines
        self._suppressed.add(Kind.STRUCTURE, ruler.number)
        self._suppressed.add_lines(Kind.BLANK, blanks)

    def _may_end(self, ruler: "re.Match[bytes]") -> bool:
        """Whether a ruler has the number that is due, or, where one was lost, a later one."""
        number, of = int(ruler["number"]), int(ruler["of"])
        if (self._of and of != self._of) or of < self._stated_suites + self._stated_tests:
            return False
        return self._number < number <= of if self._of else number == 1

    def _error_line(self, text: bytes, line: Line) -> None:
        if self._errors:
            self._errors[-1].lines.append(line)
            return
        caught = grammar.CAUGHT.fullmatch(text)
        if caught is not None:
            self._caught += int(caught["count"])
            self._suppressed.add(Kind.AGGREGATE_SOURCE, line.number)
        elif not text.strip():
            self._suppressed.add(Kind.BLANK, line.number)
        elif text.startswith(grammar.MAY_MISLEAD) or grammar.PLAIN.fullmatch(text):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        else:
            self._errors.append(_Error(b"", None, [line]))

    def leave(self) -> None:
        """The report goes on with something else: errors outside of tests are over."""
        self._in_errors = False

    # -- the account ----------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Turn what was read into failures."""
        if self._block is not None and self._end is not None:
            self._close(self._end, self._block)
        if self._block is not None:
            self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            self._headers += len(self._block.headers)
            self._done.append(self._block)
            self._block = None
        elif self._in_section:
            self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if self._headers != self._of or self._number > self._of:
            self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        suites, tests = self._grouped(suites=True), self._grouped(suites=False)
        if len(suites) != self._stated_suites:
            self._doubts.add(Doubt.RECAP_CONTRADICTION)
        count = len(tests)
        if count < self._stated_tests and self._repeated():
            # Tests of one name: which error belongs to which is not told.
            count = self._stated_tests
            self._doubts.add(Doubt.COUNTS_UNCONFIRMED)
        elif count != self._stated_tests:
            self._doubts.add(Doubt.RECAP_CONTRADICTION)
        self.failures += (*suites, *tests)
        self.tests += count
        for failure in (*suites, *tests):
            self.files.add(failure.identity.partition(" > ")[0])
        for error in self._errors:
            self.failures.append(error.failure())
            self._suppressed.add_lines(Kind.BLANK, error.spare())
        if self._caught and self._errors and self._caught != len(self._errors):
            self._doubts.add(Doubt.RECAP_CONTRADICTION)
        self.outside += len(self._errors)
        for block in self._done:
            self._suppressed.add_lines(Kind.BLANK, block.blanks())
        self._done, self._errors = [], []
        self._number = self._of = self._headers = self._stated_suites = self._stated_tests = self._caught = 0
        self._in_section = self._in_errors = False

    def _repeated(self) -> bool:
        """Whether a test's name heads more than one block."""
        names = Counter(name for block in self._done if not block.suites for name, _ in block.headers)
        return any(count > 1 for count in names.values())

    def _grouped(self, *, suites: bool) -> list[Failure]:
        """A failure for each test; one with several errors has them all."""
        blocks = [block for block in self._done if block.suites is suites]
        single = [failure for block in blocks for failure in block.failures()]
        if not suites and len(single) == self._stated_tests:
            return single  # one error for each test, even of the same name
        merged: dict[str, Failure] = {}
        for failure in single:
            before = merged.get(failure.identity)
            if before is None:
                merged[failure.identity] = failure
            else:
                header = () if failure.header is None else (failure.header.as_kind(Kind.FAILURE_CONTEXT),)
                merged[failure.identity] = Failure(
                    before.identity, before.header, (*before.details, *header, *failure.details)
                )
        return list(merged.values())
