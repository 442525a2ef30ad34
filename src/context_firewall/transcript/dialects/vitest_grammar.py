"""What vitest's reporters for people print, pattern by pattern.

Bare lines in (no ANSI, no trailing CR). Every pattern is possessive or has one way only to match. Marks are UTF-8:
✓ passed, × failed, ❯ a file or suite with failures, ↓ skipped, □ to do, · not run.
"""

import re
from dataclasses import dataclass

PASSED, FAILED, SUITE, SKIPPED, TODO, PENDING = (mark.encode() for mark in "✓×❯↓□·")
_MARK = rb"(?P<mark>\xe2\x9c\x93|\xc3\x97|\xe2\x9d\xaf|\xe2\x86\x93|\xe2\x96\xa1|\xc2\xb7)"

# ` RUN  v4.1.12 /srv/app`: the head; DEV in watch mode.
HEAD = re.compile(rb" (?:RUN|DEV)  v(?P<major>[0-9]++)\.[0-9]++\.[0-9][^ ]*+ [^\n]++")
# What the head adds: coverage, seed, inspector, each under the path.
HEAD_NOTE = re.compile(rb"      [A-Z][^\n]*+")

# ` ✓ src/a.test.ts (12 tests | 1 failed | 2 skipped) 34ms`: the result of a file. A project stands before the path,
# `|unit|`, and ` TS ` for a check of types; 1.x has two blanks before the parenthesis.
FILE = re.compile(
    rb" (?P<mark>\xe2\x9c\x93|\xe2\x9d\xaf|\xe2\x86\x93|\xc3\x97) (?: TS  )?+(?P<path>[^\n]*?) {1,2}+\("
    rb"(?P<tests>[0-9]++) tests?"
    rb"(?: \| (?P<failed>[0-9]++) failed)?+(?: \| [0-9]++ [a-z]++(?: [a-z]++)*+)*+\)(?P<rest>[^\n]*+)"
)
# A file's result ends with its duration, and what is known of retries and memory.
FILE_REST = re.compile(rb"(?: [0-9.]++m?s)?+(?: \([a-z0-9, ]++\))?+(?: [0-9]++ MB heap used)?+ *+")
# A test: one blank and its whole path (verbose), or deeper with its name (default, tree).
TEST = re.compile(rb"(?P<indent> ++)" + _MARK + rb" (?P<name>[^\n]*+)")
# What follows a test's name. Looked for from the end of the line, in steps.
NOTE = re.compile(rb" \[[^\n\]]*+\]\Z")
_AGAIN = re.compile(rb" \((?:retry|repeat) x[0-9]++(?:, (?:retry|repeat) x[0-9]++)?+\)\Z")
_HEAP = re.compile(rb" [0-9]++ MB heap used\Z")
DURATION = re.compile(rb" [0-9]++(?:\.[0-9]++)?+m?s\Z")
# From 5 on, the name above an account says in which tries the error came: ` (initial run, 1st retry)`, ` (2 times)`.
_NTH = rb"[0-9]++(?:st|nd|rd|th) "
_TRY = rb"(?:initial run|" + _NTH + rb"(?:retry(?: of " + _NTH + rb"repeat)?+|repeat))"
_TRIES = rb"(?:[0-9]++ times(?: in " + _TRY + rb")?+|" + _TRY + rb")"
TRIES = re.compile(rb" \(" + _TRIES + rb"(?:, " + _TRIES + rb")*+\)\Z")
_BEHIND = (NOTE, _HEAP, _AGAIN, DURATION)
_LONGEST_TAIL = 256

# The first lines of a failing test's errors, under its line.
ARROW = re.compile(rb" ++\xe2\x86\x92 ?[^\n]*+")
# The dot reporter: a sign a test.
DOTS = re.compile(rb"(?:\xc2\xb7|[x*-])++")

# What a test printed: `stdout | src/a.test.ts > suite > name`, then the text, then an empty line.
# Signs of the dot reporter stand before it without a newline.
OUTPUT = re.compile(rb"(?P<signs>(?:\xc2\xb7|[x*-])*+)(?:stdout|stderr) \| (?P<test>[^\n]++)")

_RULE = rb"\xe2\x8e\xaf"
# Rulers are as wide as the terminal, or 30 signs: a title in the middle, a place in the count of errors at the end,
# or neither.
TITLED = re.compile(
    rb"(?P<left>(?:" + _RULE + rb")++) (?P<title>[A-Z][^ \n\xe2]*+(?: [^ \n\xe2]++)*+) (?P<right>(?:" + _RULE + rb")++)"
)
NUMBERED = re.compile(rb"(?P<left>(?:" + _RULE + rb")++)\[(?P<number>[0-9]++)/(?P<of>[0-9]++)\]" + _RULE)
PLAIN = re.compile(rb"(?:" + _RULE + rb")++")
_SIGN = 3
NARROWEST = 30
SECTION = re.compile(rb"Failed (?P<what>Suites|Tests|Benchmarks|Typechecks) (?P<count>[0-9]++)")
LEAKS = re.compile(rb"Async Leaks [0-9]++")
ERROR_SECTIONS = (b"Unhandled Errors", b"Unhandled Source Errors")
ERROR_TITLES = (
    b"Unhandled Rejection",
    b"Unhandled Error",
    b"Uncaught Exception",
    b"Test Run Error",
    b"Typecheck Error",
    b"Startup Error",
    b"Error during close",
)
CAUGHT = re.compile(rb"Vitest (?:caught|found) (?P<count>[0-9]++) [^\n]++")
# Below an error outside of tests: what its place in the run may mean, in general.
ADVICE = re.compile(
    rb"- The error was thrown, while Vitest was running this test\."
    rb"|- If the error occurred after the test had been completed, this was the last documented test[^\n]*+"
)
MAY_MISLEAD = b"This might cause false positive tests."

# ` FAIL  src/a.test.ts > suite > name`, or ` FAIL  src/a.test.ts [ src/a.test.ts ]` for a file.
FAIL = re.compile(rb" FAIL  (?P<name>[^\n]++)")
_FILE_AGAIN = b" [ "
# An error's first line: `TypeError: …`, `Unknown Error: …`, `Error`.
MESSAGE = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$.]*+(?: [A-Z][A-Za-z]*+)*+(?:: |:\Z)|[A-Za-z]*Error\Z")
# Source lines around the failing one: `     12| code`, and `       |   ^` under it.
SOURCE = re.compile(rb" ++(?:[0-9]++)?+ ?\|(?P<code>[^\n]*+)")
CARET = re.compile(rb" ++\| ++\^ *+")
# A place in a stack: ` ❯ name file:12:3`.
FRAME = re.compile(rb" \xe2\x9d\xaf [^\n]*?:[0-9]++:[0-9]++\Z")
RUNNER_FRAME = re.compile(rb"[^\n]*node_modules/(?:vitest|@vitest|vite|tinypool)/|[^\n]* node:[a-z_/]++:[0-9]")

# The closing summary, line by line in this order; the words end in the same column.
SNAPSHOTS = re.compile(rb"  Snapshots  [^\n]++")
SNAPSHOT_NOTE = re.compile(rb"             [^\n]++")
FILES_TOTAL = re.compile(rb" Test Files  (?P<counts>[^\n]++)")
TESTS_TOTAL = re.compile(rb"      Tests  (?P<counts>[^\n]++)")
TYPES_TOTAL = re.compile(rb"Type Errors  (?:[0-9]++ (?:failed|errors?)|no errors)")
ERRORS_TOTAL = re.compile(rb"     Errors  (?P<count>[0-9]++|no) errors?")
# With --detect-async-leaks; what leaks fails no run.
LEAKS_TOTAL = re.compile(rb"      Leaks  [0-9]++ leaks?")
STARTED = re.compile(rb"   Start at  [0-9:]++[^\n]*+")
DURATION_TOTAL = re.compile(rb"   Duration  [0-9.]++m?s[^\n]*+")
_COUNT = re.compile(rb"(?P<count>[0-9]++) (?P<word>[a-z ]++)")
NONE = b"no tests"

# Behind the summary: a coverage table, reports that were written, watch mode.
COVERAGE = re.compile(rb" % Coverage report from [a-z0-9]++")
TABLE = re.compile(rb"[^\n|]++(?:\|[^\n|]*+)+|-++(?:\|-++)+")
COVERAGE_SUMMARY = re.compile(rb"(?:Statements|Branches|Functions|Lines) ++: [^\n]++|={20,}[^\n]*+")
# From 5 on, also what would make the next run faster, in the columns of the summary.
REMARK = re.compile(
    rb"(?:Environment|     Import|  Transform|    Isolate|   Per blob)  [^\n]++| {13}[^ \n][^\n]*+|"
    rb"(?:JUNIT|JSON|HTML|BLOB) ++report[^\n]*+| PASS  Waiting for file changes[^\n]*+"
    rb"| FAIL  Tests failed\. Watching[^\n]*+"
    rb"|       press [^\n]++|(?:Testing types with tsc|Breaking changes might not follow SemVer)[^\n]*+"
)
BELOW_THRESHOLD = re.compile(rb"ERROR: (?P<what>Coverage for [^\n]++)")
# A workflow command of GitHub: a second print of an account. Errors outside of tests have a title of their own.
ANNOTATION = re.compile(
    rb"::error file=[^\n,]*+,title=(?P<title>[^\n]*?),line=[0-9]++,column=[0-9]++::(?P<text>[^\n]*+)"
)
UNHANDLED = "Unhandled error"
# What a test notes about itself (`annotate`), whatever it calls it: for GitHub, where the title stands last; and in the
# verbose reporter, below the test.
NOTED = re.compile(
    rb"::(?:notice|warning|error) file=[^\n,]*+,line=[0-9]++,column=[0-9]++(?:,title=[^\n:]*+)?+::[^\n]*+"
)
NOTED_AT = re.compile(rb"   \xe2\x9d\xaf [^\n]*?:[0-9]++:[0-9]++ [^ \n]++\Z")
NOTED_TEXT = re.compile(rb"     \xe2\x86\xb3 [^\n]*+")

NO_FILES = re.compile(rb"No test files found, exiting with code (?P<code>[0-9]++)")
FILTER = re.compile(rb"(?:filter|include|exclude|watch exclude|typecheck include|typecheck exclude|projects): [^\n]*+")

_RULER = rb"(?:" + _RULE + rb"){4,}+ (?:"
OPENING = re.compile(
    rb" (?:RUN|DEV)  v[0-9]++\.[0-9]++\.[0-9][^ ]*+ [^\n]++\Z"
    rb"|(?:stdout|stderr) \| [^\n]*?\.[cm]?[jt]sx?(?: > |:[0-9]|\Z)|(?:stdout|stderr) \| unknown test\Z|"
    + _RULER
    + rb"Failed (?:Suites|Tests) [0-9]++|"
    + rb"|".join(re.escape(title) for title in (*ERROR_SECTIONS, *ERROR_TITLES))
    + rb") (?:"
    + _RULE
    + rb"){4,}+\Z|No test files found, exiting with code [0-9]++\Z|"
    rb"::error file=[^\n,]*+,title=[^\n]*?,line=[0-9]++,column=[0-9]++::|ERROR: Coverage for [a-z]++ \([0-9.]++%\) does"
)


def width(bare: bytes) -> int:
    """How many columns a ruler has: its signs take three bytes each."""
    signs = bare.count(b"\xe2\x8e\xaf")
    return len(bare) - (_SIGN - 1) * signs


@dataclass(frozen=True, slots=True)
class Counts:
    """What one line of the summary counts."""

    by_word: dict[bytes, int]
    total: int

    def of(self, *words: bytes) -> int:
        """How many under these words."""
        return sum(self.by_word.get(word, 0) for word in words)

    @property
    def unknown(self) -> bool:
        """Whether a word is none that this grammar knows."""
        return bool(self.by_word.keys() - {b"failed", b"passed", b"skipped", b"todo", b"expected fail"})


def counts(text: bytes) -> Counts | None:
    """`2 failed | 1 passed (3)`, or `no tests`."""
    if text == NONE:
        return Counts({}, 0)
    body, parenthesis, total = text.rpartition(b" (")
    if not parenthesis or not total.endswith(b")") or not total[:-1].isdigit():
        return None
    found: dict[bytes, int] = {}
    for part in body.split(b" | "):
        match = _COUNT.fullmatch(part)
        if match is None or match["word"] in found:
            return None
        found[match["word"]] = int(match["count"])
    return Counts(found, int(total[:-1]))


def whole_file(name: bytes) -> bytes | None:
    """The file, where a ` FAIL ` line names one as a whole: `src/a.test.ts [ src/a.test.ts ]`."""
    file, again, rest = name.rpartition(_FILE_AGAIN)
    return file if again and rest.endswith(b" ]") else None


def names_of(text: bytes) -> tuple[bytes, ...]:
    """What a test may be called by its line: without duration and remarks, and, as a name may end like them, with."""
    return _without(text, (*_BEHIND, TRIES))


def _without(text: bytes, patterns: tuple[re.Pattern[bytes], ...]) -> tuple[bytes, ...]:
    """A text without the ends that these patterns match, one by one; the shortest first."""
    names = [text]
    head, tail = text[:-_LONGEST_TAIL], text[-_LONGEST_TAIL:]
    for pattern in patterns:
        match = pattern.search(tail)
        if match is not None:
            tail = tail[: match.start()]
            names += [head + tail, (head + tail).rstrip(b" ")]
    names.reverse()
    return tuple(dict.fromkeys(names))


def without_tries(name: bytes) -> bytes:
    """A test's name, as an account has it, without the tries in which its error came."""
    return _without(name, (TRIES,))[0]


def has_duration(text: bytes) -> bool:
    """Whether a test's line is whole: it ends with a duration, or with what stands behind one."""
    return len(_without(text, _BEHIND)) > 1
