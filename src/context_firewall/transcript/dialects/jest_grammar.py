"""What jest's default, verbose, summary and github-actions reporters print, pattern by pattern.

Bare bytes in, names and counts out. Two rules carry the reader. Jest writes file lines and totals at the margin,
failures' titles behind two blanks, and everything inside a failure or a console block behind at least four: text that
a test prints through them can't reach the margin. And on a terminal jest repaints its status with cursor movements,
which leave lone carriage returns before a line: they are taken off first. Every pattern is possessive or looks at each
byte a bounded number of times.
"""

import re
from dataclasses import dataclass

# -- files ------------------------------------------------------------------------------------------------------------

# `PASS lib/a.test.js`, `FAIL ./a.spec.ts (5.1 s)`; with colours the words stand between blanks
# (` FAIL  lib/a.test.js`), and so does a project's name (`PASS web lib/a.test.js`).
_EXTENSION = rb"\.(?:[cm]?[jt]sx?|vue|svelte|coffee|es6|mdx?|feature|graphql|json)"
_DETAIL = rb"(?: \((?:[0-9.]++ m?s|[0-9.]++ MB heap size|, )++\))?+"
_HEADER_TAIL = re.compile(_EXTENSION + _DETAIL + rb"\Z")
_DETAILS = re.compile(_DETAIL + rb"\Z")
# Vitest writes `FAIL  a.test.ts > suite > test`, and `FAIL  a.test.ts [ a.test.ts ]`.
_NOT_JEST = (b" > ", b" [ ")


@dataclass(frozen=True, slots=True)
class FileLine:
    """The first line of a test file's report."""

    failed: bool
    path: bytes
    """With the project's name before it, if it has one."""


def file_line(bare: bytes) -> FileLine | None:
    """A line as a file's header; None if it is none."""
    if bare[:4] not in (b"PASS", b"FAIL", b" PAS", b" FAI") or _HEADER_TAIL.search(bare[-120:]) is None:
        return None
    if any(mark in bare for mark in _NOT_JEST):
        return None
    words = bare.strip().split(b" ", 1)
    if len(words) != 2 or words[0] not in (b"PASS", b"FAIL"):
        return None
    rest = words[1].strip()
    detail = rest.rfind(b" (")
    if detail >= 0 and _DETAILS.fullmatch(rest[detail:]):
        rest = rest[:detail]
    # A project's name is followed by one blank, or with colours by two; with the path it makes one label.
    label = b" ".join(part for part in rest.split(b" ") if part)
    return FileLine(words[0] == b"FAIL", label)


# -- the tree of --verbose, or of a run of one file -------------------------------------------------------------------

PASSED = "✓".encode()
FAILED = "✕".encode()
SKIPPED = "○".encode()
TODO = "✎".encode()
# Windows has other signs for the first two.
SIGNS = {PASSED: "passed", "√".encode(): "passed", FAILED: "failed", "×".encode(): "failed"} | {
    SKIPPED: "skipped",
    TODO: "todo",
}
# `  ✓ name (3 ms)`: two blanks a level; a describe's title is a line of its own at its level.
RESULT = re.compile(rb"(?P<indent>(?:  )++)(?P<sign>" + b"|".join(SIGNS) + rb") (?P<name>[^\n]*+)")
TITLE = re.compile(rb"(?:  )++[^\n]*+")
DURATION = re.compile(rb" \([0-9.]++ m?s\)\Z")

# -- failures ---------------------------------------------------------------------------------------------------------

BULLET = "  ● ".encode()
# Names of nested suites are joined by this sign.
ARROW = " › "
CONSOLE = b"Console"
SUITE_FAILED = b"Test suite failed to run"
INSIDE = b"    "
# Jest's own words about what happened outside of any test; the bullet is followed by two blanks.
OUTSIDE = re.compile(rb" process\.exit called with \"[^\n]*+| Cannot log after tests are done\.[^\n]*+")
LATE_LOG = b" Cannot log after tests are done."
# The title of one console block. Under `● Console` it stands four blanks deep, elsewhere (--verbose) two.
CONSOLE_TITLE = re.compile(
    rb"(?P<indent>  (?:  )?+)console\.(?:assert|count|debug|dir|dirxml|error|group|groupCollapsed|info|log|time|warn)"
)
# A place in a stack: `at Object.toBe (lib/a.test.js:3:9)`, `at lib/a.test.js:3:9`.
FRAME = re.compile(rb" ++at (?:[^\n(]*+\()?+(?P<file>[^\n():]++):[0-9]++:[0-9]++\)?+")
_FRAME_PLAIN = re.compile(rb" ++at (?P<file>[^\s():]++):[0-9]++:[0-9]++")
# Frames of the runner and of Node are there for orientation.
RUNNERS_OWN = re.compile(rb" ++at [^\n]*?(?:node_modules/(?:jest|@jest|expect)[^\n]*+|<anonymous>\)?+|node:[^\n]*+)\Z")
# The source around the failing line: `  12 |   code`, `> 13 |   code` and a caret below.
SOURCE = re.compile(rb" {4,}+[0-9]++ \|(?: [^\n]*+)?+|     ++\| ++\^++ *+")
FAILING_SOURCE = re.compile(rb" {4,}+> ++[0-9]++ \|[^\n]*+")
CARET = re.compile(rb" {5,}+\| ++\^++ *+")
_ROW = re.compile(rb" {4,}+(?:> ++)?+([0-9]{1,9}+) \|")


def source_row(bare: bytes) -> int:
    """The number of a line of source, 0 for any other line."""
    found = _ROW.match(bare) if b"|" in bare else None
    return int(found[1]) if found is not None else 0


def frame(bare: bytes) -> bytes | None:
    """The file of a stack frame."""
    if b" at " not in bare or b":" not in bare:
        return None
    found = _FRAME_PLAIN.fullmatch(bare) or FRAME.fullmatch(bare)
    return found["file"] if found is not None else None


# -- snapshots, retries, status ---------------------------------------------------------------------------------------

SNAPSHOT = re.compile(
    " › [0-9]++ snapshots?+ (?:files? )?(?:written|updated|failed|obsolete|removed)[^\n]*+"
    "| › [0-9]++ snapshot files? (?:obsolete|removed)[^\n]*+"
    "| {3}(?:•|↳) [^\n]*+| {7}• [^\n]*+".encode()
)
SNAPSHOT_SUMMARY = b"Snapshot Summary"
RETRY = re.compile(rb" ?LOGGING RETRY ERRORS ++(?P<name>[^\n]*+)")
RECAP = b"Summary of all failing tests"
# What a terminal shows while files run.
STATUS = re.compile(rb" ?RUNS {1,2}[^\n]*+|[\xe2\x96\x88\xe2\x96\x91]++ *+")
DETERMINING = re.compile(rb"Determining test suites to run\.\.\.[^\n]*+")

# -- totals -----------------------------------------------------------------------------------------------------------

_NUMBER = rb"[0-9]{1,12}+"
SUITES = re.compile(
    rb"Test Suites: (?:(?P<failed>" + _NUMBER + rb") failed, )?+(?:(?P<skipped>" + _NUMBER + rb") skipped, )?+"
    rb"(?:(?P<passed>" + _NUMBER + rb") passed, )?+(?:(?P<ran>" + _NUMBER + rb") of )?+"
    rb"(?P<total>" + _NUMBER + rb") total"
)  # fmt: skip
TESTS = re.compile(
    rb"Tests: {7}(?:(?P<failed>" + _NUMBER + rb") failed, )?+(?:(?P<skipped>" + _NUMBER + rb") skipped, )?+"
    rb"(?:(?P<todo>" + _NUMBER + rb") todo, )?+(?:(?P<passed>" + _NUMBER + rb") passed, )?+"
    rb"(?P<total>" + _NUMBER + rb") total"
)  # fmt: skip
SNAPSHOTS = re.compile(rb"Snapshots: {3}(?:[0-9]++ [a-z ]++, )*+[0-9]++ total")
TIME = re.compile(rb"Time: {8}[0-9.]++ [a-z]++(?:, estimated [0-9.]++ [a-z]++)?+")
SEED = re.compile(rb"Seed: {8}-?[0-9]++")
RAN = re.compile(rb"Ran all test suites(?:\.| [^\n]*+)")
INTERRUPTED = b"Test run was interrupted."
# Lines that only a summary has, whatever they hold.
TOTALS = (b"Test Suites:", b"Tests:  ", b"Snapshots:  ", b"Time:    ")

# -- words of jest's own outside of reports ---------------------------------------------------------------------------

NO_TESTS = re.compile(rb"No tests found, exiting with code ([01])")
# What jest says below: where it looked, and how many files each pattern matches.
LOOKED = re.compile(
    rb"Run with `--passWithNoTests` to exit with code 0|In /[^\n]*+|  [0-9]++ files? checked(?: across [^\n]++)?\."
    rb"|(?:  [A-Za-z]++|Pattern): [^\n]* - [0-9]++ match(?:es)?"
)
USAGE = re.compile(rb"Usage: jest \[--config=<pathToConfigFile>\] \[TestPathPatterns?+\]")
DOCUMENTATION = re.compile(rb"Documentation: https://jestjs\.io/[^\n]*+")
# What is wrong with the options stands below; jest ends with this code then.
MISUSED = re.compile(rb"The --[A-Za-z]++ option requires [^\n]++|Example usage: jest [^\n]++")
USAGE_EXIT = 1
# `● Validation Error:` at the margin, then indented text.
CONFIGURATION = re.compile("● (?P<what>[^\n]++)".encode())
COVERAGE_MISSED = re.compile(rb"(?:Jest|jest): [^\n]*(?:threshold|Coverage data)[^\n]*+")
WORKER_STUCK = re.compile(rb"A worker process has failed to exit gracefully and has been force exited\.[^\n]*+")
NO_EXIT = b"Jest did not exit "
NO_EXIT_MORE = b"'This usually means "
FORCED = b"Force exiting Jest"
OPEN_HANDLES = re.compile(
    rb"Jest has detected the following [0-9]++ open handles? potentially keeping Jest from exiting:"
)
# Tools that jest runs.
TOOL_WARNING = re.compile(rb"ts-jest\[[^\]\n]++\] \(WARN\) [^\n]*+|jest-haste-map: [^\n]*+")
# The coverage table, and the list of `text-summary`.
TABLE = re.compile(
    rb"-++(?:\|-++)+|[^\n|]*+\| *+(?:% Stmts|[0-9.]+) *+\|[^\n]*+"
    rb"|=++ Coverage summary =++|={20,}+"
    rb"|(?:Statements|Branches|Functions|Lines) *+: [0-9.]++% \( [0-9]++/[0-9]++ \)[^\n]*+"
)
# GitHub's annotations: `::error file=lib/a.test.js,line=3,title=suite › test::message%0Amore`. Without a place in the
# stack both are `undefined`. A title may hold `::` too.
_LINE = rb",line=(?:[0-9]++|undefined),title="
ANNOTATION = re.compile(rb"::error file=(?P<file>[^\n,]++)" + _LINE + rb"(?P<rest>[^\n]*?::[^\n]*+)")
# The error of a try before the last.
RETRIED = re.compile(rb"::warning file=[^\n,]++" + _LINE + rb"RETRY [0-9]++: (?P<title>[^\n]*?)::[^\n]*+")
# Its groups: `::group::Errors thrown in lib/a.test.js`, `::group::PASS lib/a.test.js (12 ms)`. Where something
# in a file failed, `  FAIL lib/a.test.js (12 ms)` without a group; in its tree are groups of suites: `::group::  roof`.
GROUP, END_OF_GROUP, FAIL = b"::group::", b"::endgroup::", b"  FAIL "
_TIMED = _EXTENSION + rb" \([0-9]++ ms\)"
ERRORS_THROWN = re.compile(rb"::group::Errors thrown in (?P<file>[^\n]*?" + _EXTENSION + rb")\Z")
PASSED_TREE = re.compile(rb"::group::PASS [^\n]*?" + _TIMED + rb"\Z")
FAILED_TREE = re.compile(rb"  FAIL [^\n]*?" + _TIMED + rb"\Z")
PASSED_SUITE = re.compile(rb"::group::(?:  )++[^ \n][^\n]*+")

# -- the opening, and long green runs ---------------------------------------------------------------------------------

OPENING = re.compile(
    rb"\r*+(?: ?(?:PASS|FAIL) (?![^\n]* [>\[] )[^\n]*?" + _EXTENSION + _DETAIL + rb"\r*+\Z"
    rb"|Determining test suites to run\.\.\."
    rb"|Test Suites: (?:[0-9]++ (?:failed|skipped|passed), )*+(?:[0-9]++ of )?+[0-9]++ total\Z"
    rb"|  console\.(?:assert|count|debug|dir|dirxml|error|group|groupCollapsed|info|log|time|warn)\Z"
    rb"|No tests found, exiting with code [01]\Z"
    rb"|Usage: jest \[--config"
    rb"|\xe2\x97\x8f (?:Validation (?:Error|Warning)|Deprecation Warning|Multiple configs found)"
    rb"|Summary of all failing tests\Z| LOGGING RETRY ERRORS  |  \xe2\x97\x8f  process\.exit called with \""
    rb"|::error file=[^\n,]++" + _LINE + rb"[^\n]*?::|::warning file=[^\n,]++" + _LINE + rb"RETRY [0-9]++: "
    rb"|::group::(?:Errors thrown in [^\n]*?" + _EXTENSION + rb"|PASS [^\n]*?" + _EXTENSION + rb" \([0-9]++ ms\))\Z)"
)  # fmt: skip

_LANE_EXTENSION = b"|".join(
    rb"(?<=\." + word + rb")" for word in (b"js", b"ts", b"jsx", b"tsx", b"mjs", b"mts", b"cjs")
)
_PASS_LINE = rb"PASS [^\s\x1b]++(?:" + _LANE_EXTENSION + rb")\n"
# The last byte of the sign of a passed test stands nowhere else in these lines: counting it counts tests.
PASSED_BYTE = b"\x93"
_TREE_LINE = (
    rb"(?:  )++(?:\xe2\x9c\x93 )?+(?!\xe2\x9c[\x95\x8e]|\xe2\x97[\x8b\x8f]|\xc3\x97|\xe2\x88\x9a|console\.|FAIL )"
    rb"[^\s\x1b\x93][^\n\r\x1b\x93]*+\n"
)
# Whole files in which everything passed, with or without their trees; or the rest of a tree, and such files behind it.
_FILES = rb"(?:" + _PASS_LINE + rb"(?:" + _TREE_LINE + rb")*+\n?+)"
LANE = re.compile(_FILES + rb"++")
TREE_LANE = re.compile(rb"(?:" + _TREE_LINE + rb")++\n?+" + _FILES + rb"*+|" + _FILES + rb"++")
LANE_TREES = re.compile(rb"\nPASS [^\n]++(?=\n  )")
