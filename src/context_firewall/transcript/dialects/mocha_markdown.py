"""mocha's `markdown` reporter: the passed tests of a run, with their code.

The room's rules:

- All of it is printed when the run is over: a table of contents with every suite, then the suites, each with its own
  tests that have passed. What tests print stands before it.
- Failed and pending tests are not told, so nothing here says how a run has ended.
- Nothing is escaped: what stands in a test's code may look like another test. Its count is worth no more than that.
"""

import re
from enum import Enum, auto

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.printed import Printed

# `# TOC`, then for each suite `   - [TITLE](#SLUG)`, two blanks deeper for each suite around it.
OPENING = re.compile(rb"# TOC\Z")
ENTRY = re.compile(rb" (?:  )++- \[[^\n]*\]\(#[^\n()]*+\)")
# For each suite `<a name="SLUG"></a>` and `## TITLE`, a sign for each suite around it and one more; none for the root.
ANCHOR = re.compile(rb"<a name=\"[^\n\"<>]*+\"></a>")
# For each passed test `TITLE.`, an empty line, its code between fences, an empty line.
NAME = re.compile(rb"[^\n]*\.")
FENCE, FENCE_END = b"```js", b"```"
TEST = rb"[^\n#<`\r\x1b][^\n\r\x1b]*\.\n\n```js\n(?:(?!```\n\n)[^\n\r\x1b]*+\n)*+```\n\n"
LANE = re.compile(rb"(?:" + TEST + rb")++")


class _Part(Enum):
    """What is due."""

    CONTENTS = auto()
    HEADING = auto()
    """Of a suite, behind its anchor."""
    NAME = auto()
    """Of a test, or a suite's anchor."""
    GAP = auto()
    """An empty line behind the name."""
    FENCE = auto()
    CODE = auto()
    CLOSING = auto()
    """An empty line behind the code; without one the fence was code."""


class MochaMarkdown(Bookkeeper):
    """Reads one report."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._part = _Part.CONTENTS
        self._held: list[Line] = []
        """Of the contents, or of a test."""
        self._passed = 0
        self._printed = Printed()

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passed tests of one suite."""
        return LANE if self._part is _Part.NAME else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed tests."""
        lines = block.count(b"\n", start, stop)
        self._passed += block.count(b"\n```\n\n", start, stop)
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, lines)
        return lines

    def cut(self) -> None:
        """The last line has no newline. Where a report ends, nothing says anyhow."""

    @property
    def complete(self) -> bool:
        """Never: another test may follow."""
        return False

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line: what is due, or text."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._part is _Part.CODE or self._is_due(bare):
            self._take(bare, line)
            return True
        if self._part is not _Part.CONTENTS:
            self._drop()
            if self._is_due(bare):
                self._take(bare, line)
                return True
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, number)
            return True
        self._printed.take(bare, line)
        return False

    def _is_due(self, bare: bytes) -> bool:
        """Whether a line is what is due, outside of code."""
        if self._part is _Part.CONTENTS:
            forms = (ENTRY, ANCHOR) if self._held else (OPENING,)
            return any(form.fullmatch(bare) for form in forms)
        if self._part is _Part.HEADING:
            return bare.lstrip(b"#").startswith(b" ")
        if self._part is _Part.NAME:
            return any(form.fullmatch(bare) for form in (ANCHOR, NAME))
        return self._part is _Part.CLOSING or bare == (FENCE if self._part is _Part.FENCE else b"")

    def _take(self, bare: bytes, line: Line) -> None:
        """A line that is due, and what is due behind it."""
        part = self._part
        if part is _Part.HEADING or (part in (_Part.CONTENTS, _Part.NAME) and ANCHOR.fullmatch(bare)):
            # What is held are the contents: the first suite bears them out.
            self._suppressed.add_lines(Kind.STRUCTURE, (*self._held, line))
            self._held = []
            self._part = _Part.NAME if part is _Part.HEADING else _Part.HEADING
            return
        self._held.append(line)
        if part is _Part.CLOSING and not bare:
            self._suppressed.add_lines(Kind.SUCCESSFUL_TEST, self._held)
            self._held = []
            self._passed += 1
            self._part = _Part.NAME
        elif part is _Part.CLOSING or part is _Part.CODE:
            self._part = _Part.CLOSING if bare == FENCE_END else _Part.CODE
        elif part is not _Part.CONTENTS:
            self._part = _BEHIND[part]

    def _drop(self) -> None:
        """What has begun does not go on."""
        self._printed.lines += self._held
        self._held = []
        self._part = _Part.NAME

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account: passed tests, and no word of others."""
        self._drop()
        doubts = {Doubt.ERRORS_UNREPORTABLE, Doubt.COMPLETENESS_UNCONFIRMED, Doubt.COUNTS_UNCONFIRMED}
        if not self._passed:
            doubts = {Doubt.NO_TEST_EVIDENCE}
        if self._printed.lines:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=Tally(self._passed, total=self._passed),
            fatal_errors=self._printed.of_kind(Kind.FATAL_ERROR),
            timeouts=self._printed.of_kind(Kind.TIMEOUT),
            warnings=self._printed.of_kind(Kind.ABNORMAL_WARNING),
            unclassified=tuple(self._printed.settled(self._suppressed, proven=False, failed=False)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(self._passed),
        )


_BEHIND = {_Part.NAME: _Part.GAP, _Part.GAP: _Part.FENCE, _Part.FENCE: _Part.CODE}

DIALECT = Dialect(
    name="mocha-markdown",
    title="mocha's markdown reporter",
    checked="mocha 8.4, 9.2, 10.8, 11.8, 12.0",
    streams=frozenset({"stdout"}),
    opening=OPENING,
    begin=MochaMarkdown,
    # mocha itself speaks there only when it cannot run.
    program_streams=frozenset({"stderr"}),
    tentative=True,
)
