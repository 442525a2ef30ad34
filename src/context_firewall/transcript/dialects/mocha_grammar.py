"""What mocha's reporters for people print, pattern by pattern. Bare bytes in, names and numbers out.

All of them end with the same lines: how many passed, were pending and failed, and a numbered account of each failure.
What stands before differs: a tree (`spec`), a line for each test (`list`), signs (`dot`), or nothing (`min`). Every
pattern here is possessive or looks at each byte a bounded number of times.
"""

import re
from typing import NamedTuple

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

# Behind it nyc and c8, which run mocha, print the coverage: a table of Istanbul's, or a summary.
COVERAGE = re.compile(
    rb"-++(?:\|-++)++|File *+\| % Stmts \|[^\n]*+|[^\n|]++\|(?: *+[0-9.]++ *+\|){4}[^\n|]*+"
    rb"|=++ Coverage summary =++|={20,}+"
    rb"|(?:Statements|Branches|Functions|Lines) *+: [0-9.]++% \( [0-9]++/[0-9]++ \)[^\n]*+"
)

# -- the opening ------------------------------------------------------------------------------------------------------

# The first of the totals, or a passed test that no other runner prints so: these show durations with a fraction or a
# blank in it, and numbers behind the sign. Outside of every suite ava's results look the same, so there the sign of
# today opens nothing, and the totals do.
OPENING = re.compile(
    rb"  [0-9]{1,9}+ passing \([0-9.]++(?:ms|[smhd])\)\Z"
    rb"|(?:(?:  ){2,40}+" + TICK + rb"|  \xe2\x9c\x93) [^\s\x1b](?![^\n]*?\((?:[0-9]++\.[0-9]++m?s|[0-9.]++ m?s)\)\Z)"
    rb"|    [^\s:][^\n]*?: \r  " + TICK + rb" "
)


class Result(NamedTuple):
    """A line that says how a test ended."""

    depth: int
    """How many suites and the test itself are one in another; 1 where the reporter knows no suites."""
    title: bytes
    passed: bool = False
    number: int = 0
    """Of a failure, counted from 1."""


def result(text: bytes) -> Result | None:
    """The result that a bare line states; None if it states none."""
    found = None if b"\r" in text else RESULT.fullmatch(text)
    listed = REWRITTEN.search(text) if found is None and text.startswith(b"    ") else None
    if listed is not None:
        found = RESULT.fullmatch(text, listed.end())
    if found is None:
        return None
    depth, title = len(found["indent"]) // 2, found["title"]
    if found["tick"] is not None:
        stripped = LISTED_DURATION.sub(b"", title, count=1) if listed is not None else DURATION.sub(b"", title, count=1)
        if listed is not None and text[4 : listed.start()] != stripped:
            return None
        return Result(depth, stripped, passed=True)
    return Result(depth, title, number=int(found["number"] or 0))
