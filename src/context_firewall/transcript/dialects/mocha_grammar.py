"""What mocha's reporters for people print, pattern by pattern. Bare bytes in, names and numbers out.

All of them end with the same lines: how many passed, were pending and failed, and a numbered account of each failure.
What stands before differs: a tree (`spec`), a line for each test (`list`), signs (`dot`), or nothing (`min`). Every
pattern here is possessive or looks at each byte a bounded number of times.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from context_firewall.transcript.lines import Line, bare

# -- the results ------------------------------------------------------------------------------------------------------

# `symbols.ok`: ✔ since 9.2, ✓ before, √ on Windows.
TICK = rb"(?:\xe2\x9c[\x93\x94]|\xe2\x88\x9a)"
INDENT = b"  "
# Deeper than this nobody nests suites; what is indented further is text.
DEEPEST = 40

# `spec`: two blanks for every suite that is open, then `  ✔ TITLE`, with ` (51ms)` if it was not fast; `  - TITLE` if
# pending; `  3) TITLE` for the third failure. A suite's own line is its title, two blanks deep at least.
# `list` knows no depth: `  ✔ FULL TITLE: 51ms`, `  - FULL TITLE`, `  3) FULL TITLE`. It announces a test first,
# `    FULL TITLE: `, and goes back to the start of the line with a CR, or on a terminal with a control sequence.
RESULT = re.compile(
    rb"(?P<indent>(?:  )++)(?:(?P<tick>"
    + TICK
    + rb")|(?P<pending>-)|(?P<number>[1-9][0-9]{0,8})\)) (?P<title>\S[^\n]*+)"
)
DURATION = re.compile(rb" \([0-9]++ms\)\Z")
LISTED_DURATION = re.compile(rb": [0-9]++ms\Z")
ANNOUNCED = re.compile(rb"    (?P<title>\S[^\n]*): ")
# Where a result follows its announcement on the same line.
REWRITTEN = re.compile(rb": \r?+(?=  (?:" + TICK + rb"|-|[1-9][0-9]{0,8}\)) )")
SUITE = re.compile(rb"(?P<indent>(?:  )++)(?P<title>\S[^\n]*+)")

# Runs of passed tests of one suite.
LANE = re.compile(
    rb"(?P<indent>(?:  )++)"
    + TICK
    + rb" [^\s\x1b][^\n\x1b\r]*+\n(?:(?P=indent)"
    + TICK
    + rb" [^\s\x1b][^\n\x1b\r]*+\n)*+"
)

# `dot`: passed, pending, failed. ․ before 11. Rows are as wide as three quarters of the terminal, or of 75 columns.
SIGNS = re.compile(rb"  (?:[.,!]|\xe2\x80\xa4)++")

# `landing`: a plane on its way down a runway between two lines, `progress`: a bar. They are drawn again and again, and
# say no more than that tests end. A line beside the runway stands below it, or where the cursor has gone up to draw.
RUNWAY = re.compile(rb"  (?:\xe2\x8b\x85|\xe2\x9c\x88)++")
BESIDE = re.compile(rb"(?: {2,4}-++)++")
UP = b"\x1b[2A"
BAR = re.compile(rb"  \[(?:\xe2\x96\xac|\xe2\x80\xa4|[.=])++\](?:\r?+  \[(?:\xe2\x96\xac|\xe2\x80\xa4|[.=])++\])*+")

# -- the end ----------------------------------------------------------------------------------------------------------

# An empty line, then these in this order, the second and third only if there are any.
PASSING = re.compile(rb"  (?P<count>[0-9]{1,9}+) passing \([0-9.]++(?:ms|[smhd])\)")
PENDING = re.compile(rb"  (?P<count>[1-9][0-9]{0,8}+) pending")
FAILING = re.compile(rb"  (?P<count>[1-9][0-9]{0,8}+) failing")
# The accounts: an empty line before each; the titles of suites and test one below the other, each two blanks deeper
# than the last and the first behind the number; a colon; the message, five or six blanks deep where it has no line
# ends; the stack. An empty line ends each, and two more the report.
ACCOUNT = re.compile(rb"  (?P<number>[1-9][0-9]{0,8})\) (?P<title>\S[^\n]*+)")
TITLES_MARGIN = 5
LAST_BLANKS = 3

# -- the opening ------------------------------------------------------------------------------------------------------

# The first of the totals, or a passed test that no other runner prints so: these show durations with a fraction or a
# blank in it, and numbers behind the sign. Outside of every suite ava's results look the same, so there a tick opens
# nothing, and the totals do. The first failure of `list`, if it was announced.
OPENING = re.compile(
    rb"  [0-9]{1,9}+ passing \([0-9.]++(?:ms|[smhd])\)\Z"
    rb"|(?:  ){2,40}+" + TICK + rb" [^\s\x1b](?![^\n]*?\((?:[0-9]++\.[0-9]++m?s|[0-9.]++ m?s)\)\Z)"
    rb"|    [^\s:][^\n]*?: \r  " + TICK + rb" "
    rb"|    (?P<announced>[^\s:][^\n\r]*?): \r  1\) (?P=announced)\Z"
)
# Outside of every suite, and in a place of its own: the first failure, or a tick with a duration below it.
TREE_OPENING = re.compile(rb"  (?:1\) \S|" + TICK + rb" [^\n]* \([0-9]++ms\)\Z)")
TOP = re.compile(rb"  (?:" + TICK + rb"|-) \S")
TICKED = re.compile(rb"  " + TICK + rb" \S")
FIRST = re.compile(rb"  1\) \S")
# Among the signs of results, a failure between two ticks.
BETWEEN = re.compile("[td]f[td]")
# Above a tree stand two empty lines. npm's own lines above these take four more, two of which are empty.
START, NPM_LINES = 2, 4


class Result(NamedTuple):
    """A line that says how a test ended."""

    depth: int
    """How many suites and the test itself are one in another; 1 where the reporter knows no suites."""
    title: bytes
    passed: bool = False
    number: int = 0
    """Of a failure, counted from 1."""
    announced: bool = False
    """The line has named the test before it said how it ended."""
    timed: bool = False
    """A passed test of a tree, with its duration."""

    @property
    def sign(self) -> str:
        """As a trail has it."""
        if self.passed:
            return "d" if self.timed else "t"
        return "f" if self.number else "p"


def result(text: bytes) -> Result | None:
    """The result that a bare line states; None if it states none."""
    found = None if b"\r" in text else RESULT.fullmatch(text)
    listed = REWRITTEN.search(text) if found is None and text.startswith(b"    ") else None
    if listed is not None:
        found = RESULT.fullmatch(text, listed.end())
    if found is None:
        return None
    depth, title = len(found["indent"]) // 2, found["title"]
    named = text[4 : listed.start()] if listed is not None else None
    if found["tick"] is not None:
        stripped = (DURATION if named is None else LISTED_DURATION).sub(b"", title, count=1)
        if named not in (None, stripped):
            return None
        timed = named is None and stripped != title
        return Result(depth, stripped, passed=True, announced=named is not None, timed=timed)
    return Result(depth, title, number=int(found["number"] or 0), announced=named == title)


class Trail:
    """How results follow one another, and whether that can be a program's list or its steps.

    A list stands in one piece. Steps are told before what they did. So a failure below a tick, and above another or
    alone, is mocha's; and so is one alone above ticks with durations.
    """

    def __init__(self) -> None:
        self._signs = ""
        """Of the last three lines, without a gap: `t`ick, `d` with a duration, `f`ailure, `p`ending."""
        self._last = 0
        self._failed = 0
        self._below_tick = False
        """The first failure stands right below a tick."""
        self._proved = False

    def add(self, found: Result, number: int) -> None:
        """A result, and the number of its line."""
        sign = found.sign
        self._signs = ((self._signs if self._last == number - 1 else "") + sign)[-3:]
        self._last = number
        if sign == "f":
            self._failed += 1
            self._below_tick |= self._failed == 1 and self._signs[-2:-1] in ("t", "d")
        between = self._below_tick and BETWEEN.fullmatch(self._signs) is not None
        self._proved |= between or (self._failed == 1 and self._signs == "fdd")

    def add_run(self, block: bytes, start: int, lines: int, number: int) -> None:
        """So many lines of passed tests in a block, from there on, the first of them with that number."""
        if self._failed and not self._proved:
            # No more than two ticks below a failure matter.
            for at in range(min(lines, 2)):
                stop = block.index(b"\n", start)
                if (found := result(block[start:stop])) is not None:
                    self.add(found, number + at)
                start = stop + 1
        else:
            self._signs = "t"
        self._last = number + lines - 1

    def proves(self, *, ended: bool = False) -> bool:
        """Whether they are mocha's. `ended`: no more follow."""
        return self._proved or (ended and self._below_tick and self._failed == 1)


def is_start(gap: int) -> bool:
    """Whether so many lines, empty or npm's own, above its first line begin a tree."""
    return gap % NPM_LINES == START


def begins_tree(opening: Line, above: Sequence[Line], since: int) -> bool:
    """Whether results outside of suites, up to that line, begin as mocha's tree does: below two empty lines.

    The line is the first failure, right below a tick, or a tick right below the first failure.
    """
    number, at = opening.number, len(above)

    def over(form: re.Pattern[bytes]) -> bool:
        return at > 0 and above[at - 1].number == number - 1 and form.match(bare(above[at - 1].raw)) is not None

    first = FIRST.match(bare(opening.raw)) is not None
    if not over(TICKED if first else FIRST):
        return False
    number, at = number - 1, at - 1
    while first and over(TOP):
        number, at = number - 1, at - 1
    return is_start(number - 1 - (above[at - 1].number if at else since))
