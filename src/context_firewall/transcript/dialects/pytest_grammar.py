"""What pytest's terminal reporter prints, pattern by pattern. Bare bytes in, names and marks out.

The reporter writes rulers across the whole width of its terminal (80 columns where there is none), so all rulers of a
run have one width in characters; only a title that leaves no room makes a ruler wider. That width tells the reporter's
rulers from most of what a test prints. Every pattern here is possessive or looks at each byte a bounded number of
times.
"""

import re
from dataclasses import dataclass

# `write_sep(char, title)`: the fill on both sides as long as it fits, at least one; one more on the right if room is
# left.
RULER_SIGNS = b"=_-!+"


@dataclass(frozen=True, slots=True)
class Ruler:
    """One ruler: its sign, its title, its width in characters, and how many signs stand before the title."""

    sign: bytes
    title: bytes
    width: int
    fill: int

    def fits(self, width: int | None) -> bool:
        """Whether the reporter prints this ruler on a terminal of that width (None: not known yet)."""
        if width is None:
            return self.fill > 2
        return self.width == width or (self.fill == 1 and self.width > width)


def ruler(bare: bytes) -> Ruler | None:
    """A line as a ruler with a title, of any width; None if it is none."""
    sign = bare[:1]
    if not sign or sign not in RULER_SIGNS or bare[-1:] != sign:
        return None
    left = len(bare) - len(bare.lstrip(sign))
    right = len(bare) - len(bare.rstrip(sign))
    title = bare[left + 1 : -right - 1]
    if not left <= right <= left + 1 or left + right + 3 > len(bare) or title.strip() != title:
        return None
    if bare[left : left + 1] != b" " or bare[-right - 1 : -right] != b" " or not title.strip(b"%b " % sign):
        return None
    return Ruler(sign, title, width(bare), left)


def width(bare: bytes) -> int:
    """How many characters a line has."""
    return len(bare) if bare.isascii() else len(bare.decode("utf-8", "replace"))


# -- the head ---------------------------------------------------------------------------------------------------------

SESSION_STARTS = b"test session starts"
# The head names the plugin that sends service messages.
SENDS_MESSAGES = re.compile(rb"plugins: (?:[^\n]*?, )?teamcity-messages-[0-9]")
# `platform linux -- Python 3.12.1, pytest-8.0.0, …`, `rootdir: …`, `plugins: …`, and what plugins add.
ROOT = b"rootdir: "
HEADER_ROW = re.compile(rb"platform [^\n]++|[a-z][A-Za-z0-9_ -]*+: [^\n]*+|Using [^\n]++")
# `collected 7 items / 2 errors / 1 skipped`; on a terminal, behind what it overwrites.
COLLECTED = re.compile(
    rb"(?:collecting [^\n\r]*+\r){0,64}+(?:collecting \.\.\. )?+collected (?P<items>[0-9]{1,12}+) items?"
    rb"(?P<rest>(?: / [0-9]{1,12}+ [a-z]++)*+) *+"
)
COLLECTED_PART = re.compile(rb"(?<![0-9])([0-9]{1,12}+) ([a-z]++)")
# xdist's account of its workers.
WORKERS = re.compile(
    rb"(?:created|initialized|ready): [0-9]++/[0-9]++ workers?|[0-9]++ workers? \[(?P<items>[0-9]{1,12}+) items?\]"
    rb"|bringing up nodes\.\.\.|scheduling tests via [A-Za-z]++"
    rb"|gw[0-9]++ (?:\[[0-9]++\]|[CIok]++)(?: / gw[0-9]++ [^ ]++)*+"
    rb"|\[gw[0-9]++\] (?:node down: [^\n]*+|[a-z0-9]++ Python [^\n]++)|replacing crashed worker gw[0-9]++"
    rb"|collecting \.\.\. *+"
)
# `--collect-only` lists what it found as a tree.
LISTED = re.compile(rb" *+<[A-Z][A-Za-z]++ [^\n]*>")
NODE_DOWN = re.compile(rb"\[gw[0-9]++\] node down: ")

# -- progress ---------------------------------------------------------------------------------------------------------

# One letter a result: passed, failed, error, skipped, xfailed, xpassed, rerun; subtests failed, passed, skipped.
LETTERS = b".FEsxXRu,-"
# With -x or --maxfail a row without a margin ends with a failure, or with the error of that test's end.
CUT_SHORT = re.compile(rb"(?:[.sxXRu,-]*+[FE])++")
# At the right margin: share, count (`console_output_style = count`) or time (`times`).
MARGIN = re.compile(rb" *+\[ *+[0-9]++(?:%|/[0-9]++)\]\Z")
TIME = re.compile(rb"[0-9]++(?:\.[0-9]++)?+(?:us|ms|s|m|h)")
TIME_ENDS = (b"s", b"m", b"h")
# A test file as the reporter prints it before its letters when nothing stands behind them.
FILE = re.compile(rb"[^\s\[]+\.[A-Za-z0-9]++")


@dataclass(frozen=True, slots=True)
class Progress:
    """A line of progress letters, the file they belong to (empty: not named), and whether it has its right margin."""

    file: bytes
    letters: bytes
    margin: bool


def without_margin(bare: bytes) -> tuple[bytes, bool]:
    """A line without the share, count or time at its right margin, and whether it had one."""
    text = bare.rstrip(b" ")
    if text.endswith(TIME_ENDS):
        row, blank, time = text.rpartition(b" ")
        return (row.rstrip(b" "), True) if blank and TIME.fullmatch(time) else (text, False)
    opens = text.rfind(b"[")
    if text.endswith(b"]") and opens >= 0 and MARGIN.match(text, opens):
        return text[:opens].rstrip(b" "), True
    return text, False


def progress(bare: bytes) -> Progress | None:
    """A line of progress letters; None if it is none."""
    text, margin = without_margin(bare)
    file, _, letters = text.rpartition(b" ")
    if letters.translate(None, LETTERS) or not (letters or (margin and bare[:1] == b" ")):
        return None
    if file and (file[:1].isspace() or not (b"." in file if margin else FILE.fullmatch(file))):
        return None
    return Progress(file, letters, margin)


# Runs of progress lines in which every test passed: `tests/test_a.py .....   [ 12%]`, `.....   [ 25%]`.
LETTER_LANE = re.compile(rb"(?:(?:[^\s:.\[]++\.py )?+\.++ ++\[ *+[0-9]++%\]\r?+\n)++")

# -- progress with -v -------------------------------------------------------------------------------------------------

WORDS = rb"PASSED|FAILED|ERROR|RERUN|SKIPPED|XFAIL|XPASS"
SUBTESTS = rb"SUBPASS(?:ED)?|SUBFAIL(?:ED)?|SUBSKIP(?:PED)?"
# `nodeid WORD`: these words have nothing behind them but the margin.
ENDS_WITH_WORD = re.compile(rb" (" + WORDS + rb"|" + SUBTESTS + rb")\Z")
# `nodeid SKIPPED (reason)`; the reason may be cut, or go on in the next line.
WORD_AND_REASON = re.compile(rb" (SKIPPED|XFAIL|XPASS) \(")
# `nodeid SUBFAILED[message] (i=1)`.
SUBTEST_RESULT = re.compile(rb" (" + SUBTESTS + rb")(?=[\[( ])")
# xdist: `[gw0] [ 50%] PASSED nodeid`.
FROM_WORKER = re.compile(
    rb"\[gw[0-9]++\](?: \[ *+[0-9]++(?:%|/[0-9]++)\])?+ (?P<word>"
    + WORDS
    + rb"|"
    + SUBTESTS
    + rb")(?P<rest>[\[( ][^\n]*+)"
)
PLUGIN_WORKER = re.compile(
    rb"\[gw[0-9]++\](?: \[ *+[0-9]++(?:%|/[0-9]++)\])?+ (?P<description>[\[(][^\n]*?)"
    rb" (?P<word>SUBFAIL|SUBPASS|SUBSKIP) (?P<id>[^\n]++)"
)
# A result whose test was named in a line before: `PASSED   [ 50%]`.
LONE_WORD = re.compile(rb"(" + WORDS + rb")(?: \([^\n]*\))?+\Z")
# The name of the test that runs now, with nothing behind it yet.
ANNOUNCED = re.compile(rb"(?P<id>[^\s:][^\s:]*+::\S(?:[^\n]*\]|[^\s\[]*+)) *+")
ANNOUNCED_AND_MORE = re.compile(rb"(?P<id>[^\s:][^\s:]*+::[^\s\[]++(?:\[[^\]\n]*+\])?+) ")

_NODE_ID = rb"[^\s:\[\]\x1b]++(?:::[^\s:\[\]\x1b]++)++(?:\[[^\n\[\]\x1b]*+\])?+"
# Runs of passed tests with -v; xdist announces each test, and names the worker before the result.
VERBOSE_LANE = re.compile(rb"(?:" + _NODE_ID + rb" PASSED ++\[ *+[0-9]++%\]\r?+\n)++")
WORKERS_LANE = re.compile(
    rb"(?:" + _NODE_ID + rb" \r?+\n|\[gw[0-9]++\] \[ *+[0-9]++%\] PASSED " + _NODE_ID + rb" \r?+\n)++"
)
FROM_WORKER_PASSED = b"%] PASSED "


@dataclass(frozen=True, slots=True)
class Result:
    """One result with its name, as -v prints it."""

    id: bytes
    word: bytes
    margin: bool = False
    """It stands in one line, up to the right margin."""
    reason: bool = False
    """A reason has begun."""
    description: bytes = b""
    """What tells a subtest from the others of its test."""


def result(bare: bytes) -> Result | None:
    """A named result; None if the line is none."""
    if b"::" not in bare or bare[:1].isspace():
        return None
    plugin = PLUGIN_WORKER.match(bare)
    if plugin is not None:
        return _named(plugin["id"].rstrip(b" "), plugin["word"], description=plugin["description"])
    worker = FROM_WORKER.match(bare)
    if worker is not None:
        description, name = described(worker["rest"])
        return _named(name.rstrip(b" "), worker["word"], description=description)
    text, margin = without_margin(bare)
    found = ENDS_WITH_WORD.search(text, max(0, len(text) - 12))
    if found is not None:
        return _named(text[: found.start()], found[1], margin=margin)
    found = WORD_AND_REASON.search(text)
    if found is not None:
        return _named(text[: found.start()], found[1], reason=True, margin=margin)
    found = SUBTEST_RESULT.search(text)
    if found is not None:
        return _named(text[: found.start()], found[1], margin=margin, description=text[found.end() :].strip())
    return None


def _named(
    name: bytes, word: bytes, *, margin: bool = False, reason: bool = False, description: bytes = b""
) -> Result | None:
    if b"::" not in name or name[:1] in (b":", b" "):
        return None
    return Result(name, word, margin, reason, description)


def described(text: bytes) -> tuple[bytes, bytes]:
    """A subtest's description (`[message] (i=1)`, or nothing), and the node id behind it."""
    if text[:1] == b" ":
        return b"", text[1:]
    colons = text.find(b"::")
    end = max(text.rfind(b"] ", 0, max(colons, 0)), text.rfind(b") ", 0, max(colons, 0)))
    return (text[: end + 1], text[end + 2 :]) if end >= 0 else (b"", b"")


# -- sections ---------------------------------------------------------------------------------------------------------

ERRORS = b"ERRORS"
FAILURES = b"FAILURES"
# Reports of tests that did not fail (-rP, -rx, -rX).
QUIET_REPORTS = (b"PASSES", b"XFAILURES", b"XPASSES")
WARNINGS = re.compile(rb"warnings summary(?: \(final\))?+")
RECAP = b"short test summary info"
# Rulers of dashes that end the reports of tests; any other stands inside one (`Captured stdout call`).
NOTICE = re.compile(
    rb"generated [a-z]++ file: [^\n]++|coverage: [^\n]++|benchmark[: ][^\n]++|Generated [a-z]++ report: [^\n]++"
)
# Sections of plugins, by the titles that end the reports of tests; with others, a test may have printed the ruler.
TABLE = re.compile(
    rb"slowest [0-9]*+ ?(?:test )?durations|tests coverage|coverage: [^\n]++|Hypothesis Statistics"
    rb"|rerun test summary info|[a-z-]++ report summary|inline-snapshot|flaky test report|benchmark[^\n]*+"
)
# Why a run was stopped.
STOPPED = re.compile(
    rb"Interrupted: |stopping after |KeyboardInterrupt|xdist\.|_pytest\.outcomes\.Exit: |[A-Za-z_.]++: "
)
LIVE_LOG = re.compile(rb"live log [a-z]++")
# `____ ERROR at setup of test_a ____`, `____ ERROR collecting tests/test_a.py ____`.
ERROR_TITLE = re.compile(rb"ERROR (?:at (?P<phase>setup|teardown) of|(?P<collecting>collecting)) (?P<name>[^\n]++)")
# Exceptions that belong to no test are reported as warnings: in threads, in finalizers, in coroutines.
UNHANDLED = re.compile(rb"[^\n]*?: Pytest(?:Unhandled|Unraisable)")
# A frame of a stack dump.
FRAME = re.compile(rb"  File \"(?P<file>[^\"\n]++)\", line [0-9]++, in (?P<name>[^\n]++)")
# pytest-cov's own failure of the run.
COVERAGE_SHORT = re.compile(
    rb"(?:FAIL|ERROR:?|Coverage failure:?) ?+(?:Required test coverage of|Coverage failure:)[^\n]++"
)

# `FAILED nodeid - message`: the message is cut to the width, the node id never.
ENTRY = re.compile(rb"(?P<word>FAILED|ERROR|SUBFAIL(?:ED)?+)(?P<rest>[\[( ][^\n]++)")
# The subtests plugin, before pytest 9 had subtests of its own: `[message] (i=1) SUBFAIL nodeid - message`.
PLUGIN_SUBTEST = re.compile(rb" (?P<word>SUBFAIL|SUBPASS|SUBSKIP) ")


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry about a failure: what kind of failure, and what stands behind the word (and a subtest's description)."""

    error: bool
    subtest: bool
    description: bytes
    text: bytes


def entry(bare: bytes) -> Listed | None:
    """An entry of the short summary about a failure; None if the line is none."""
    found = ENTRY.match(bare)
    if found is not None:
        description, text = described(found["rest"])
        return Listed(found["word"] == b"ERROR", found["word"].startswith(b"SUB"), description, text)
    plugin = PLUGIN_SUBTEST.search(bare) if bare[:1] in (b"[", b"(") else None
    if plugin is None or plugin["word"] != b"SUBFAIL":
        return None
    return Listed(False, True, bare[: plugin.start()], bare[plugin.end() :])


def silent_entry(bare: bytes) -> bool:
    """An entry about a test that did not fail."""
    plugin = PLUGIN_SUBTEST.search(bare) if bare[:1] in (b"[", b"(") else None
    return SILENT_ENTRY.fullmatch(bare) is not None or (plugin is not None and plugin["word"] != b"SUBFAIL")


# Entries about tests that did not fail (-rp, -rs, -rR, -rx, -rX).
SILENT_ENTRY = re.compile(rb"(?:PASSED|RERUN|SKIPPED|XFAIL|XPASS|SUBPASS(?:ED)?+|SUBSKIP(?:PED)?+)[\[( ][^\n]++")
REASONED = re.compile(rb"SKIPPED |XFAIL |XPASS |SUBSKIP")
TODO_ENTRY = re.compile(rb"(?:XFAIL|XPASS) [^\n]++")

# -- the end ----------------------------------------------------------------------------------------------------------

INTERNAL_ERROR = b"INTERNALERROR>"
KEYBOARD = re.compile(
    rb"[^\n]*:[0-9]++: KeyboardInterrupt|\(to show a full traceback on KeyboardInterrupt use --full-?trace\)"
)
# The reporter's closing line; -q prints it without its ruler, -qq not at all.
_COUNT = rb"[0-9]++ [a-z]++(?: (?!in )[a-z]++)*+"
CLOSING = re.compile(
    rb"(?P<counts>no tests ran|(?:no tests|[0-9]++(?:/[0-9]++)?+ tests?) collected(?: \([0-9]++ deselected\))?+(?:, "
    + _COUNT
    + rb")*+|"
    + _COUNT
    + rb"(?:, "
    + _COUNT
    + rb")*+) in [0-9]++\.[0-9]++s(?: \([0-9:a-z, ]++\))?+"
)
# pytest.ExitCode.NO_TESTS_COLLECTED: none were found, or none were selected.
NO_TESTS_EXIT = 5
# pytest.ExitCode.USAGE_ERROR: perhaps of an option that is looked at when the tests have been collected.
USAGE_EXIT = 4
COUNT = re.compile(rb"([0-9]{1,12}+)(?:/[0-9]++)? ([a-z]+(?: [a-z]+)*)")
COUNTED = {
    b"failed": "failed",
    b"subtests failed": "failed",
    b"subtest failed": "failed",
    b"passed": "passed",
    b"skipped": "skipped",
    b"error": "errors",
    b"errors": "errors",
    b"xfailed": "xfailed",
    b"xpassed": "xpassed",
}
NOT_COUNTED = (
    b"deselected", b"warning", b"warnings", b"rerun", b"reruns", b"subtests passed", b"subtest passed",
    b"subtests skipped", b"subtest skipped", b"no tests ran",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Counts:
    """The closing line's counts."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    xfailed: int = 0
    xpassed: int = 0
    unknown: bool = False
    """It counts something that this grammar does not know."""
    ran: bool = True
    """It counts tests that ran, not tests that were collected."""

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.errors + self.skipped + self.xfailed + self.xpassed


def closing(text: bytes) -> Counts | None:
    """The counts of a closing line, given without its ruler; None if it is none."""
    found = CLOSING.fullmatch(text)
    if found is None:
        return None
    counts: dict[str, int] = {}
    unknown = False
    for number, word in COUNT.findall(found["counts"]):
        field = COUNTED.get(word)
        if field is not None:
            if field in counts and word not in (b"subtests failed", b"subtest failed"):
                return None
            counts[field] = counts.get(field, 0) + int(number)
        elif word not in NOT_COUNTED and not word.endswith(b" collected"):
            unknown = True
    return Counts(**counts, unknown=unknown, ran=b" collected" not in text)
