"""What CTest prints, pattern by pattern. Bare bytes in.

A run has a head, two lines for each test (it starts, it has a result), and closing lines with lists. The output of a
test stands below its result (--output-on-failure), or before it with the test's number in front of each line (-V).
Every pattern is possessive or looks at each byte a bounded number of times.
"""

import re
from typing import NamedTuple

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.kinds import Kind

_N = rb"[0-9]{1,9}+"

# -- the head ---------------------------------------------------------------------------------------------------------

PROJECT = re.compile(rb"Test project \S[^\n]*+")
# With -V.
STEP = re.compile(
    rb"UpdateCTestConfiguration ++from :[^\n]++|Parse Config file:[^\n]++"
    rb"|Internal ctest changing into directory: [^\n]++|(?:Done c|C)onstructing a list of tests"
    rb"|Updating test list for fixtures"
    rb"|Added %b tests to meet fixture requirements|Checking test dependency graph(?: end|\.\.\.)|test %b" % (_N, _N)
)

# -- the tests --------------------------------------------------------------------------------------------------------

START = re.compile(rb" ++Start ++(?P<number>%b): (?P<name>\S[^\n]*+)" % _N)
# ` 3/17 Test  #3: NAME ....   Passed    0.00 sec`. Dots fill the line up to the widest name, three at least. Without
# `3/17` it is an attempt that --repeat does not count.
RESULT = re.compile(rb"(?: *+(?P<place>%b)/(?P<all>%b)|   ) Test ++#(?P<number>%b): (?P<rest>\S[^\n]*+)" % (_N, _N, _N))
# What stands behind the name: dots, then how it ended. The reason of a failure may go on in further lines; the time
# ends it.
ENDING = re.compile(rb" ?+\.\.++(?P<ending>(?:   (?=Passed))?+[^\n.]?[^\n]*+)")
NAMED = re.compile(rb"(?P<name>[^\n]*?)(?= \.\.++(?:   Passed |[^\n.]*?\*\*\*))")
TIME = re.compile(rb"(?<! ) ++[0-9]++\.[0-9]++ sec\Z")
PASSED = b"   Passed"
SKIPPED = b"***Skipped"
DISABLED = b"***Not Run (Disabled)"
FAILED = b"***"

# Why a test did not run: between the two lines.
MISSING = re.compile(rb"(?:Could|Unable to) (?:not )?+find executable:? (?P<path>[^\n]++)")
# On standard error only, and without the test's name.
NO_FILE = re.compile(rb"Unable to find required file: [^\n]++")
LOOKED = b"Looked in the following places:"

# With -V: the number, then what the test prints or CTest says of it.
OUTPUT = re.compile(rb"(?P<number>%b): ?+(?P<text>[^\n]*+)" % _N)
ABOUT = re.compile(rb"(?:Test command:|Working Directory:|Test timeout computed to be:|Environment variables:)[^\n]*+")

PASSED_LANE = re.compile(
    rb"(?: ++Start ++[0-9]{1,9}+: [^\n\r\x1b]++\n *+[0-9]{1,9}+/[0-9]{1,9}+ Test ++#[0-9]{1,9}+: "
    rb"[^\n\r\x1b.]*+(?:\.(?!\.)[^\n\r\x1b.]*+)*+\.\.++   Passed ++[0-9]++\.[0-9]++ sec\n)++"
)
PAIR = re.compile(
    rb"(?<! ) ++Start ++(?P<number>[0-9]++): (?P<name>[^\n]++)\n"
    rb" *+(?P<place>[0-9]++)/(?P<all>[0-9]++) Test ++#(?P<same>[0-9]++): (?P<rest>[^\n]++)\n"
)

# -- the end ----------------------------------------------------------------------------------------------------------

# `50% tests passed, 8 tests failed out of 16`: skipped tests count as passed, disabled ones not at all.
TOTALS = re.compile(rb"[0-9]{1,3}+%% tests passed, (?P<failed>%b) tests? failed out of (?P<all>%b)" % (_N, _N))
TOTAL_TIME = re.compile(rb"Total Test time \(real\) = ++[0-9.]++ sec")
LABELS = re.compile(rb"(?:Label|Subproject) Time Summary:|[^\n]*? = ++[0-9.]++ sec\*proc \(%b tests?\)" % _N)
PASSED_LIST = b"The following tests passed:"
IDLE_LIST = b"The following tests did not run:"
FAILED_LIST = b"The following tests FAILED:"
LISTED = re.compile(rb"\t *+(?P<number>%b) - (?P<rest>[^\n]++)" % _N)

# On standard error.
REMARKS = re.compile(
    rb"Errors while running CTest|No tests were found!!!|Output from these tests are in: [^\n]++"
    rb"|Use \"--rerun-failed --output-on-failure\" to re-run the failed cases verbosely\."
)

OPENING = re.compile(
    rb"Test project /\S|Test project [A-Za-z]:[/\\]"
    rb"| {4} *+Start ++[0-9]{1,9}+: \S"
    rb"| *+[0-9]{1,9}+/[0-9]{1,9}+ Test ++#[0-9]{1,9}+: \S"
    rb"|[0-9]{1,3}+% tests passed, [0-9]{1,9}+ tests? failed out of [0-9]{1,9}+\Z"
    rb"|UpdateCTestConfiguration ++from :"
    rb"|Errors while running CTest\Z|No tests were found!!!\Z|Unable to find (?:executable|required file): \S"
)


class Totals(NamedTuple):
    """The closing line's counts."""

    failed: int
    all: int


def totals(bare: bytes) -> Totals | None:
    """What a closing line states; None if it is none."""
    found = TOTALS.fullmatch(bare)
    return None if found is None else Totals(int(found["failed"]), int(found["all"]))


def split(rest: bytes, name: bytes | None) -> tuple[bytes, bytes] | None:
    """A result's name, and how it ended; `name` is the one that started, if it is known. None if it is no result."""
    if name is None:
        found = NAMED.match(rest)
        if found is None:
            return None
        name = found["name"]
    if not rest.startswith(name):
        return None
    ending = ENDING.fullmatch(rest, len(name))
    if ending is None:
        return None
    how = ending["ending"]
    return (name, how) if how.startswith(PASSED) or FAILED in how else None


def detail_kind(bare: bytes) -> Kind:
    """Kind of a line of a failing test's output."""
    found = OUTPUT.fullmatch(bare)
    text = bare if found is None else found["text"]
    if found is not None and ABOUT.fullmatch(text):
        return Kind.FAILURE_CONTEXT
    return classify_detail(text) if text.strip() else Kind.FAILURE_CONTEXT
