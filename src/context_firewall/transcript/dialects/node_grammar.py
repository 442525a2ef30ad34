"""What Node's human reporters (spec and dot) print, pattern by pattern. Bare bytes in, names and marks out.

Both reporters build a result's line in one function: the indentation of its nesting, a glyph, a title. The title is
the name, then ` (<duration>ms)` unless the test has no duration (a cancelled one), then ` # <reason>` if it was skipped
or is a todo; a reason that its author gave replaces the word. Names stand as they are: they may hold anything, also
newlines.
Every pattern here is possessive or looks at each byte once.
"""

import re
from dataclasses import dataclass
from functools import cache

PASS = "✔".encode()
FAIL = "✖".encode()
SKIP = "﹣".encode()
FAILING_TODO = "⚠".encode()
"""Node 26 on; earlier versions print a failing todo with the glyph of a failure."""
OPEN = "▶".encode()
NOTE = "ℹ".encode()

# `${indent(nesting)}${glyph} ${title}`: two blanks a level. An odd blank before the glyph is no result.
RESULT = re.compile(
    rb"(?P<indent>(?:  )*+)(?P<glyph>" + b"|".join((PASS, FAIL, SKIP, FAILING_TODO)) + rb") (?P<title>.*+)"
)
# `${indent(nesting)}▶ ${name}`: printed when the first child reports, so only what has children opens.
OPENS = re.compile(rb"(?P<indent>(?:  )*+)" + OPEN + rb" (?P<name>.*+)")
# `${indent(nesting)}ℹ ${message}`: diagnostics of tests, and the runner's own counts.
REMARK = re.compile(rb"(?P<indent>(?:  )*+)" + NOTE + rb" (?P<text>.*+)")
# A JavaScript number of milliseconds, and what may follow it: the end of the title or its reason.
DURATION = re.compile(rb" \((?:[0-9]++(?:\.[0-9]++)?+(?:e[-+]?+[0-9]++)?+)ms\)(?= # |\Z)")
# The closing counts, each once and in this order, at nesting 0 (`root.postRun`).
TOTALS = (b"tests", b"suites", b"pass", b"fail", b"cancelled", b"skipped", b"todo", b"duration_ms")
TOTAL = re.compile(rb"(?P<key>" + b"|".join(TOTALS) + rb") (?P<value>[0-9]{1,15}+)(?P<fraction>(?:\.[0-9]++)?+)")
# `${glyph}failing tests:`, after the counts; then for each failure where it stands, and its result once more.
RECAP_OPENS = FAIL + b" failing tests:"
LOCATION = re.compile(rb"test at .*[^:]:[0-9]++:[0-9]++")
COVERAGE_OPENS = b"start of coverage report"
COVERAGE_CLOSES = b"end of coverage report"
# The runner's own error about a coverage threshold: it fails the run although every test passed.
THRESHOLD = re.compile(rb"Error: [0-9.]++% [a-z]++ coverage does not meet threshold of [0-9.]++%\.")
# The runner's own error about what a test left behind: it fails the file although every test in it passed.
LATE_ACTIVITY = b" generated asynchronous activity after the test ended."
# What a file-level failure says, and nothing else: its reason stands in what the child printed before.
FILE_FAILED = b"'test failed'"
# Dots of another reporter between results.
DOTS = re.compile(rb"\.++")
# npm's banner (`> name@version script`, `> command`) and git's word about a branch: what a shell prints around a run.
BANNER = re.compile(rb"> .++|Switched to (?:a new )?+branch '[^']++'")

DEEPEST_LANE = 32
_SGR = rb"(?:\x1b\[[0-9;]*+m)*+"


_PLAIN = rb"[^\n\r#\\(\x1b]++"
_TIMED = rb"(?<= )" + _SGR + rb"\([0-9]++(?:\.[0-9]++)?+ms\)" + _SGR + rb"\r?+\n"


NESTING = 2
"""Parents inside parents that a lane reads at once."""


def _units(level: int, depth: int) -> bytes:
    indent = b"  " * level
    leaf = indent + _SGR + PASS + b" " + _PLAIN + _TIMED
    if not depth:
        return leaf
    opens = indent + OPEN + rb" (?P<name%d>[^\n\r#\\(\x1b]++)\r?+\n" % depth
    closes = indent + _SGR + PASS + rb" (?P=name%d) " % depth + _TIMED
    return leaf + b"|" + opens + b"(?:" + _units(level + 1, depth - 1) + b")++" + closes


@cache
def lane(level: int) -> re.Pattern[bytes]:
    """Runs of passed leaves at one nesting, and of parents whose children are all such.

    Names plain and the duration last; with or without colours. A parent that is anything else is left to `line`.
    """
    return re.compile(b"(?:" + _units(level, NESTING) + b")++")


UNNAMED = "(unnamed test)"
SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Title:
    """A result's title, taken apart: `name[ (duration)][ # reason]`."""

    name: bytes
    timed: bool
    reason: bytes | None


def titled(glyph: bytes, text: bytes) -> Title:
    """Take a title apart at its last duration; a skip always has a reason, so there the last one before a reason."""
    chosen: re.Match[bytes] | None = None
    for match in DURATION.finditer(text):
        if glyph == SKIP and chosen is not None and match.end() == len(text):
            break
        chosen = match
    if chosen is not None:
        rest = text[chosen.end() :]
        return Title(text[: chosen.start()], True, rest[3:] if rest else None)
    if glyph == SKIP:
        name, hash_mark, reason = text.partition(b" # ")
        return Title(name, False, reason if hash_mark else None)
    return Title(text, False, None)


def identity(names: tuple[bytes, ...]) -> str:
    """The path of a test, outermost first, as printed."""
    return SEPARATOR.join(name.decode("utf-8", "replace") or UNNAMED for name in names)
