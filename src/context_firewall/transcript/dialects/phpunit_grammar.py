"""What PHPUnit's default and testdox printers print, pattern by pattern. Bare bytes in.

A run has a head, the results, a line with time and memory, perhaps sections with numbered accounts, and a verdict.
Every pattern is possessive or looks at each byte a bounded number of times.
"""

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.kinds import Kind

# -- the head ---------------------------------------------------------------------------------------------------------

HEAD = re.compile(rb"PHPUnit (?P<major>[0-9]{1,9}+)\.\S++ by Sebastian Bergmann and contributors\.")
# From this version on, a test that triggers a warning, a deprecation or a notice has passed; these are counted apart.
ISSUES_SINCE = 10
SETTING = re.compile(rb"(?:Runtime|Configuration|Random [Ss]eed): ++\S[^\n]*+")
WARNING = re.compile(rb"Warning: ++\S[^\n]*+")


class Ending(IntEnum):
    """How a test ends; also the order in which the sections stand."""

    ERROR = 1
    WARNING = 2
    FAILURE = 3
    RISKY = 4
    INCOMPLETE = 5
    SKIPPED = 6
    PASSED = 7


FAILING = frozenset({Ending.ERROR, Ending.WARNING, Ending.FAILURE})

# -- the results ------------------------------------------------------------------------------------------------------

# A row of letters; a full one, and the last, ends with how many tests of how many have ended. Behind that stands what
# goes wrong when a class is over.
LETTERS = b".FEWRIS"
ISSUE_LETTERS = b"WDN"
LETTER_OF_ENDING = {
    Ending.PASSED: LETTERS[0],
    Ending.FAILURE: LETTERS[1],
    Ending.ERROR: LETTERS[2],
    Ending.WARNING: LETTERS[3],
    Ending.RISKY: LETTERS[4],
    Ending.INCOMPLETE: LETTERS[5],
    Ending.SKIPPED: LETTERS[6],
}
ROW = re.compile(
    rb"(?P<letters>[.FEWRISDN]++)(?: ++[0-9]{1,9}+ / (?P<all>[0-9]{1,9}+) \( {0,2}+[0-9]{1,3}+%\)(?P<behind>[FE]*+))?+"
)
ROW_LANE = re.compile(rb"(?:\.++ ++[0-9]{1,9}+ / [0-9]{1,9}+ \( {0,2}+[0-9]{1,3}+%\)\n)++")

# --log-junit php://stdout: the report for machines, glued to the last row.
LOG_START = b"<?xml "
LOG_END = b"</testsuites>"

# --debug: a line when a test begins and one when it ends.
DEBUG = re.compile(rb"Test '[^\n]*+(?:(?<=' started)|(?P<ended>(?<=' ended)))")

# Testdox: below the title of a class a sign and a name for each test, and the account of one that failed.
GLYPHS = {
    "✔".encode(): Ending.PASSED,
    "✘".encode(): Ending.FAILURE,
    "↩".encode(): Ending.SKIPPED,
    "∅".encode(): Ending.INCOMPLETE,
    "☢".encode(): Ending.RISKY,
    "⚠".encode(): Ending.WARNING,
}
RESULT = re.compile(rb" (?P<glyph>%b) (?P<name>\S[^\n]*+)" % b"|".join(GLYPHS))
MARGIN = tuple(f"   {sign}".encode() for sign in "│┊┐├┴")
PASSED_LANE = re.compile(rb"(?: %b [^\s\x1b][^\n\r\x1b]*+\n)++" % "✔".encode())

# --teamcity: service messages. A risky test is told as one that failed, with these words and without a trace.
_RISKY = re.compile(
    r"This test did not perform any assertions(?:\n\n.++)?+|This test printed output: .*+"
    r"|This test is annotated with \"@doesNotPerformAssertions\" but performed [0-9]++ assertions"
    r"|Test (?:code or tested )?+code did not (?:\(only\) )?+close its own output buffers"
    r"|Test method is annotated with @todo",
    re.DOTALL,
)


def is_risky(values: Mapping[str, str]) -> bool:
    """Whether the values of a message about a failed test are those of one that is only risky."""
    return not values.get("details", "").strip() and _RISKY.fullmatch(values.get("message", "")) is not None


# -- the report -------------------------------------------------------------------------------------------------------

TIME = re.compile(rb"Time: [0-9][^\n,]*+, Memory: [0-9.]++ ?[KMG]?+B")
SUMMARY = b"Summary of non-successful tests:"

# Issues: the same shape, but what is numbered are no tests.
ISSUES = re.compile(
    rb"There (?:was 1|were (?P<many>[0-9]{1,9}+)) PHPUnit test runner (?:warning|deprecation|notice)s?+:"
    rb"|[0-9]{1,9}+ tests? triggered (?P<triggered>[0-9]{1,9}+) (?:PHP |PHPUnit )?+(?:warning|deprecation|notice)s?+:"
)

# `There were 5 errors:`, then accounts that are numbered from 1; two dashes stand between sections.
_SORTS = {
    b"error": Ending.ERROR,
    b"warning": Ending.WARNING,
    b"failure": Ending.FAILURE,
    b"risky test": Ending.RISKY,
    b"incomplete test": Ending.INCOMPLETE,
    b"skipped test": Ending.SKIPPED,
}
SECTION = re.compile(
    rb"There (?:was (?P<one>1)|were (?P<many>[0-9]{1,9}+)) (?P<sort>%b)(?P<s>s)?+:" % b"|".join(_SORTS)
)
DASHES = b"--"
# The last line of an exception that hit a whole class. No empty line follows it.
TRACE_END = re.compile(rb"#[0-9]++ \{main\}")
HEADER = re.compile(rb"(?P<number>[1-9][0-9]{0,8}+)\) (?P<name>\S[^\n]*+)")
QUALIFIED = re.compile(rb"[A-Za-z_\\\x80-\xff][A-Za-z0-9_\\\x80-\xff]*+::\S")

# The verdict: one line, or two.
_N = rb"[0-9]{1,9}+"
OK = re.compile(rb"OK \((?P<tests>%b) tests?, %b assertions?\)" % (_N, _N))
NOTHING = b"No tests executed!"
WORDS = {
    b"OK, but incomplete, skipped, or risky tests!": False,
    b"OK, but some tests were skipped!": False,
    b"OK, but there were issues!": False,
    b"FAILURES!": True,
    b"ERRORS!": True,
    b"WARNINGS!": True,
}
"""The first of two lines, and whether the run has failed."""
_COUNTED = (
    ("Errors", Ending.ERROR),
    ("Failures", Ending.FAILURE),
    ("Warnings", Ending.WARNING),
    ("Skipped", Ending.SKIPPED),
    ("Incomplete", Ending.INCOMPLETE),
    ("Risky", Ending.RISKY),
)
COUNTS = re.compile(rb"Tests: (?P<tests>%b), Assertions: %b(?P<more>(?:, [A-Za-z ]++: %b)*+)\." % ((_N,) * 3))
COUNT = re.compile(rb", (?P<key>[A-Za-z ]++): (?P<count>[0-9]++)")
_OF_ISSUES = frozenset({"Deprecations", "PHPUnit Deprecations", "Notices", "PHPUnit Notices", "PHPUnit Warnings"})

COVERAGE = re.compile(rb"Generating code coverage report in [^\n]+? format \.\.\. done \[[0-9:.]++\]")

OPENING = re.compile(rb"PHPUnit [0-9]{1,9}+\.\S++ by Sebastian Bergmann and contributors\.\Z")


class Totals(NamedTuple):
    """What the verdict states."""

    tests: int
    endings: dict[Ending, int]
    """How many tests ended how; those that passed are what is left."""

    @property
    def failed(self) -> int:
        """Errors, failures and warnings."""
        return sum(self.endings[ending] for ending in FAILING)


def totals(word: bytes, counts: bytes, *, issues: bool = False) -> Totals | None:
    """What the lines of a verdict state; None if they are none, or deny one another.

    `counts` may be empty. `issues` says that warnings are counted among issues, which are no tests.
    """
    if not counts:
        ok = OK.fullmatch(word)
        return None if ok is None else _totals(int(ok["tests"]), {})
    found = COUNTS.fullmatch(counts)
    if found is None or word not in WORDS:
        return None
    pairs = [(one["key"].decode(), int(one["count"])) for one in COUNT.finditer(found["more"])]
    stated = dict(pairs)
    known = {key for key, _ in _COUNTED} | _OF_ISSUES
    if len(stated) != len(pairs) or not stated.keys() <= known or (not issues and stated.keys() & _OF_ISSUES):
        return None
    if issues:
        stated.pop("Warnings", None)
    result = _totals(int(found["tests"]), stated)
    return result if result is not None and bool(result.failed) is WORDS[word] else None


def _totals(tests: int, stated: dict[str, int]) -> Totals | None:
    endings = {ending: stated.get(key, 0) for key, ending in _COUNTED}
    endings[Ending.PASSED] = tests - sum(endings.values())
    return Totals(tests, endings) if endings[Ending.PASSED] >= 0 else None


def issues(bare: bytes) -> int:
    """How many issues a heading announces; 0 if it is none of such a section."""
    found = ISSUES.fullmatch(bare)
    return 0 if found is None else int(found["many"] or found["triggered"] or 1)


def section(bare: bytes) -> tuple[Ending, int] | None:
    """What the heading of a section announces: how its tests ended, and how many there are."""
    found = SECTION.fullmatch(bare)
    if found is None or (found["one"] is None) != (found["s"] is not None):
        return None
    return _SORTS[found["sort"]], int(found["one"] or found["many"])


def detail_kind(bare: bytes) -> Kind:
    """Kind of a line in an account: frames of installed libraries only orient."""
    text = next((bare[len(margin) :] for margin in MARGIN if bare.startswith(margin)), bare).strip()
    if not text:
        return Kind.FAILURE_CONTEXT
    if text.startswith(b"/") and FRAME.fullmatch(text):
        return Kind.FAILURE_CONTEXT if b"/vendor/" in text or b"/PHPUnit/" in text else Kind.STACK_TRACE
    return classify_detail(text)


FRAME = re.compile(rb"/[^\n:]*+:[0-9]++")
