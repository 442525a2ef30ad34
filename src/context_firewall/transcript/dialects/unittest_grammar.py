"""What unittest's text runner prints, pattern by pattern. Bare bytes in, names and marks out.

A run has three parts: the results (a letter each, or with -v a line each), a block for every failure, and the closing
lines. The runner prints all of it to standard error. Every pattern here is possessive or looks at each byte a bounded
number of times.
"""

import re
from dataclasses import dataclass

# `separator1` and `separator2`: 70 signs each, whatever the terminal's width.
RULER = b"=" * 70
THIN_RULER = b"-" * 70

# -- the results ------------------------------------------------------------------------------------------------------

# Without -v: passed, failure, error, skipped, expected failure, unexpected success. They stand in one line, however
# long; what a test prints to the same stream is glued to them.
LETTERS = re.compile(rb"[.FEsxu]++")
STATUS_OF_LETTER = (
    (b".", b"ok"),
    (b"F", b"FAIL"),
    (b"E", b"ERROR"),
    (b"s", b"skipped"),
    (b"x", b"expected failure"),
    (b"u", b"unexpected success"),
)

# With -v: `DESCRIPTION ... STATUS`. A description is `str(test)`, `name (module.Class.name)` (before 3.11
# `name (module.Class)`), for a failing subtest with its message and values behind it. The first line of a docstring
# follows on a line of its own, and the status stands there: `Pays twice. ... ok`.
_NAME = rb"[^\s()\x1b]++ \([^\s()\x1b]++\)"
TEST = re.compile(_NAME)
FIXTURE = re.compile(rb"(?:setUp|tearDown)(?:Class|Module) \([^\s()\x1b]++\)")
# `  test_sub (…) [message] (i=1, name='x')`: two blanks deeper since 3.11; earlier versions print no line.
SUBTEST = re.compile(rb"(?:  )?+(?P<test>" + _NAME + rb")(?P<values> (?:\[|\()[^\n]*+)")
DOTS = b" ... "
# `skipped {reason!r}`: the reason is a Python string.
STATUS = re.compile(
    rb"(?P<status>ok|FAIL|ERROR|expected failure|unexpected success|skipped)"
    rb"(?:(?<=skipped) (?:'[^\n]*'|\"[^\n]*\"|None))?+"
)

# Runs of passed tests with -v, with or without a docstring. A docstring that has ` ... ` in it is left to `line`.
_WORD = rb"[!-'*-~\x80-\xff]++"
_PASSED_TEST = rb"(" + _WORD + rb" \(" + _WORD + rb"\))(?:(\n)(?:[^\n\r\x1b ]| (?!\.\.\. ))++)?+ \.\.\. ok\n"
PASSED_LANE = re.compile(rb"(?:" + _PASSED_TEST + rb")++")
# The tests of such a run: name, and whether a description follows in a line of its own.
PASSED_TESTS = re.compile(rb"(?<![^\n])" + _PASSED_TEST)
PASSED = b" ... ok"

# -b prints what a failing test wrote once more, right when it has failed: an empty line, a title, the text.
MIRRORS = (b"Stdout:", b"Stderr:")

# -- the blocks -------------------------------------------------------------------------------------------------------

# Between RULER and THIN_RULER: `FLAVOUR: DESCRIPTION`, and perhaps a docstring's first line. Errors stand before
# failures. Unexpected successes come last (since 3.11), one line each under a single ruler, without a body.
FAILURE = b"FAIL"
ERROR = b"ERROR"
UNEXPECTED = b"UNEXPECTED SUCCESS"
HEADER = re.compile(rb"(?P<flavour>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<description>\S[^\n]*+)")
MOST_DESCRIPTION_LINES = 4

# What each traceback opens with; an exception group has a margin.
TRACEBACK = b"Traceback (most recent call last):"
TRACEBACKS = (TRACEBACK, b"  + Exception Group Traceback (most recent call last):")
FRAME = re.compile(rb"(?: ++\| )?+  File \"(?P<file>[^\"\n]++)\", line [0-9]++(?P<name>, in [^\n]*+)?+")
RUNNERS_OWN = re.compile(rb"[^\n]*?(?:[/\\]unittest[/\\][a-z_]++\.py|[/\\]importlib[/\\]__init__\.py)|<frozen [^\n]++>")
UNDERLINE = re.compile(rb"(?: ++\| )?+ ++[~^]++ *+")
# `KeyError: 'x'`, `shop.errors.Closed`, `AssertionError`: at the margin, a dotted name.
EXCEPTION = re.compile(rb"[A-Za-z_][A-Za-z0-9_.]*+(?::[^\n]*+)?+")

# -- the end ----------------------------------------------------------------------------------------------------------

# --durations (3.12 on): a table between blocks and closing lines.
DURATIONS = b"Slowest test durations"
DURATION = re.compile(rb"[0-9]++\.[0-9]{3}s ++\S[^\n]*+")
DURATIONS_HIDDEN = re.compile(rb"\(durations < 0\.001s were hidden; use -v to show these durations\)")

# THIN_RULER, `Ran N tests in S.SSSs`, an empty line, then the verdict with the counts that are not zero.
RAN = re.compile(rb"Ran (?P<ran>[0-9]{1,12}+) tests? in [0-9]++\.[0-9]{3}s")
_COUNT = rb"[1-9][0-9]{0,11}+"
VERDICT = re.compile(
    rb"(?P<word>OK|FAILED|NO TESTS RAN)(?: \((?=[a-z])"
    rb"(?:failures=(?P<failures>%b)(?:, (?=[a-z])|(?=\))))?+"
    rb"(?:errors=(?P<errors>%b)(?:, (?=[a-z])|(?=\))))?+"
    rb"(?:skipped=(?P<skipped>%b)(?:, (?=[a-z])|(?=\))))?+"
    rb"(?:expected failures=(?P<expected>%b)(?:, (?=[a-z])|(?=\))))?+"
    rb"(?:unexpected successes=(?P<unexpected>%b))?+\))?+" % ((_COUNT,) * 5)
)
# 3.12 on: what a run without any test says, and exits with.
NO_TESTS = b"NO TESTS RAN"
NO_TESTS_EXIT = 5

# -- among all of that ------------------------------------------------------------------------------------------------

# CPython's fault handler.
FATAL = b"Fatal Python error: "
INTERRUPT = b"KeyboardInterrupt"

# -- the opening ------------------------------------------------------------------------------------------------------

# A result with its status; a test whose id ends with its own name (3.11 on), or that is called test…, without one; a
# block's header; the first of the closing lines. Letters alone prove nothing: many runners print them.
_ID = rb"\([A-Za-z_][^\s().\x1b]*+(?:\.[^\s().\x1b]++)*+\)"
OPENING = re.compile(
    rb"[^\s()\x1b]++ "
    + _ID
    + rb" \.\.\. (?:ok|FAIL|ERROR|expected failure|unexpected success|skipped ['\"][^\n]*['\"])\Z"
    rb"|(?P<name>[^\s().\x1b]++) \((?:[^\s().\x1b]++\.)++(?P=name)\)(?:\Z| \.\.\. )"
    rb"|test[^\s()\x1b]*+ \([^\s().\x1b]++(?:\.[^\s().\x1b]++)++\) \.\.\. "
    rb"|(?:FAIL|ERROR|UNEXPECTED SUCCESS): [^\s()\x1b]++ " + _ID + rb"(?:\Z| [(\[])"
    rb"|Ran [0-9]{1,12}+ tests? in [0-9]++\.[0-9]{3}s\Z"
)


@dataclass(frozen=True, slots=True)
class Counts:
    """The closing lines' statement."""

    ran: int
    failures: int
    errors: int
    skipped: int
    expected: int
    unexpected: int

    @property
    def failed(self) -> int:
        """Everything that fails the run."""
        return self.failures + self.errors + self.unexpected


def counts(ran: bytes, verdict: bytes) -> Counts | None:
    """The counts that the two closing lines state; None if they are not such lines, or deny one another."""
    first, last = RAN.fullmatch(ran), VERDICT.fullmatch(verdict)
    if first is None or last is None:
        return None
    stated = {key: int(last[key] or 0) for key in ("failures", "errors", "skipped", "expected", "unexpected")}
    found = Counts(int(first["ran"]), **stated)
    if (last["word"] == b"FAILED") != (found.failed > 0):
        return None
    return None if last["word"] == NO_TESTS and found.ran else found


def ended(text: bytes) -> bytes | None:
    """The status at the end of a line, behind the last dots that have one behind them; None if there is none."""
    place = text.rfind(DOTS)
    if place < 0:
        return None
    found = STATUS.fullmatch(text, place + len(DOTS))
    if found is None:
        # A skip's reason may hold dots of its own.
        place = text.find(b" ... skipped ")
        found = STATUS.fullmatch(text, place + len(DOTS)) if place >= 0 else None
    return None if found is None else found["status"]


def following_test(description: bytes, text: bytes) -> int:
    """Where the next test's line begins in the docstring line of a test whose subtests failed; 0 if it is not glued.

    Before 3.11 such a test gets no status. Since then every test has one, and a description ends with the method's
    name: `name (module.Class.name)`.
    """
    name = description.partition(b" (")[0]
    if description.endswith(b".%b)" % name):
        return 0
    place = text.find(DOTS)
    while place >= 0:
        place += len(DOTS)
        found = TEST.match(text, place)
        if found and (found.end() == len(text) or text.startswith(DOTS, found.end())):
            return place
        place = text.find(DOTS, place - 1)
    return 0


def test_of(description: bytes) -> bytes | None:
    """The test that a description is of, subtests under their test; None for a fixture of a class or module."""
    if FIXTURE.fullmatch(description):
        return None
    found = TEST.match(description)
    return description if found is None else found[0]


def is_subtest(description: bytes) -> bool:
    """Whether a description is of a subtest."""
    return SUBTEST.fullmatch(description) is not None


def is_test(description: bytes) -> bool:
    """Whether a description is of a whole test, which the runner counts as run."""
    return not is_subtest(description) and test_of(description) is not None


def is_result(text: bytes) -> bool:
    """Whether a line holds a result and nothing else."""
    if LETTERS.fullmatch(text) or STATUS.fullmatch(text):
        return True
    return TEST.match(text) is not None and ended(text) is not None
