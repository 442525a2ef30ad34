"""The registry: one row a dialect. Adding one is a module, a row here, its fixtures and its page in the docs.

A row says where the dialect lives and how a line begins that may open it; its module is loaded when such a line comes.
So a run pays for the dialects that might read it, not for all.
"""

import re
from functools import cache
from importlib import import_module
from typing import NamedTuple

from context_firewall.transcript.machine import Dialect

BOTH = frozenset({"stdout", "stderr"})
STDOUT = frozenset({"stdout"})


class Entry(NamedTuple):
    """A row of the registry."""

    name: str
    """As given to `--dialect`; with underscores, the name of its module, whose `DIALECT` is the dialect itself."""
    streams: frozenset[str]
    """Those of the dialect."""
    hint: tuple[bytes, ...]
    """How every line begins that its opening matches; others may begin so. Patterns of which one has to match, each of
    one piece. They see bare lines, and blocks of raw ones: a CR at a line's end hides nothing, and no line is left."""

    @property
    def dialect(self) -> Dialect:
        """The dialect itself."""
        dialect: Dialect = import_module(f"{__name__}.{self.name.replace('-', '_')}").DIALECT
        return dialect

    def opens(self, bare: bytes) -> bool:
        """Whether a bare line opens the dialect."""
        return _compiled(self.hint).match(bare) is not None and self.dialect.opens(bare)


@cache
def _compiled(hint: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(hint))


def _indented(*hints: bytes) -> tuple[bytes, ...]:
    return tuple(b" ++" + hint for hint in hints)


# A line's first word: what has neither a blank nor a line end in it. Said as ranges, it is found in half the time.
_WORD = rb"[\x00-\x09\x0b-\x1f!-\xff]++"
_SPACE = rb"[ \t\r\x0b\x0c]*+"
_XML = rb"<(?:\?xml|testsuite)"
_JSON_KEY = rb'"(?:num|stats|created|version|examples|name)'
_JEST = (
    b"Determining",
    b"Test Suites: ",
    b"No tests",
    b"Usage: jest",
    b"Summary of",
    rb"\xe2\x97\x8f",
    b"::(?:error|group|warn)",
    *_indented(b"PASS ", b"FAIL ", rb"console\.", b"LOGGING", rb"\xe2\x97\x8f"),
)

REGISTRY: tuple[Entry, ...] = (
    Entry(
        "tap",
        STDOUT,
        (
            rb"\xef\xbb\xbf",
            b"TAP ",
            rb"[0-9]++\.\.",
            b"ok",
            b"not ok",
            b"Bail out!",
            b"pragma",
            b"#",
            *_indented(b"ok 1", b"not ok 1", rb"1\.\.", b"# Sub"),
        ),
    ),
    # ▶ ✔ ✖ ⚠ ℹ, and ﹣
    Entry("node-spec", STDOUT, (rb"\xe2[\x96\x9c\x9a\x84]", rb"\xef\xb9\xa3")),
    Entry("node-dot", STDOUT, (rb"\.[.X]", b"X[.X]")),
    Entry(
        "cargo",
        BOTH,
        (
            b"running ",
            b"test result: ",
            b"error",
            b"--> ",
            *_indented(b"--> ", b"Compiling ", b"Finished ", b"Running ", b"Doc-tests ", b"Fresh ", b"Blocking "),
        ),
    ),
    Entry("cargo-json", BOTH, (rb"\{",)),
    Entry(
        "ctest",
        BOTH,
        (
            b"Test project ",
            b"UpdateCTest",
            b"[0-9]++[/%]",
            *_indented(b"Start ", b"[0-9]++/"),
            b"Errors while",
            b"No tests were",
            b"Unable to find ",
        ),
    ),
    Entry(
        "go",
        BOTH,
        (
            b"=== ",
            b"--- ",
            rb"ok  \t",
            rb"FAIL\t",
            rb"\?   \t",
            b"goos: ",
            b"-test",
            b"testing: ",
            b"panic: ",
            b"go: ",
            b"# ",
        ),
    ),
    Entry(
        "nextest",
        BOTH,
        (
            b"Nextest",
            b"Starting",
            rb"Summary \[",
            *_indented(b"Nextest", b"Starting", b"Summary", b"PASS", b"FAIL", b"SLOW", b"TIMEOUT", b"TRY [0-9]"),
        ),
    ),
    Entry(
        "gotestsum", STDOUT, (rb"\xe2[\x9c\x88]", b"PASS ", b"FAIL ", b"SKIP ", b"EMPTY ", b"=== [SFE]", b"DONE [0-9]")
    ),
    Entry("go-json", STDOUT, (rb"\{",)),
    # Before the runners whose reports these repeat.
    Entry(
        "json-report",
        STDOUT,
        (rb"\{ ?+" + _JSON_KEY, rb"\t[ \t]*+" + _JSON_KEY, *_indented(_JSON_KEY, rb"\t[ \t]*+" + _JSON_KEY)),
    ),
    Entry("teamcity", STDOUT, (rb"##teamcity\[(?:test|flowS)",)),
    Entry("jest", BOTH, (b"PASS ", b"FAIL ", *_JEST, rb"\r++(?:PASS |FAIL |%b)" % b"|".join(_JEST))),
    # Totals, a first failure, a tick (✓ ✔ √), or a test that is announced
    Entry("mocha", STDOUT, (*_indented(b"[0-9]++ passing", rb"1\) ", rb"\xe2[\x88\x9c]"), rb"    .*\r(?!\n|\Z)")),
    Entry("tap-spec", STDOUT, _indented(rb"\xe2[\x88\x9c]", rb"\xc3\x97", b"total: ")),
    # The end of a file's line, which has a width of its own: counts, perhaps a time behind them
    Entry("tap-classic", STDOUT, (rb".{58}[0-9](?:[ \r\n]|\Z)",)),
    Entry("mocha-doc", STDOUT, _indented(b"<section class", b"<dd")),
    Entry("mocha-markdown", STDOUT, (b"# TOC",)),
    Entry("mocha-json-stream", STDOUT, (rb"\[\"start",)),
    Entry(
        "deno",
        STDOUT,
        (
            b"running [0-9]++ tests? from",
            b"------- pre",
            b" ERRORS",
            b"Uncaught error",
            rb"\./",
            rb"ok \| ",
            rb"FAILED \| ",
        ),
    ),
    Entry("junit", STDOUT, (_XML, rb"\xef\xbb\xbf", *_indented(_SPACE + _XML), rb"[\t\r\x0b\x0c]" + _SPACE + _XML)),
    Entry("minitest", STDOUT, (b"Run options: ", b"# Running:", b"Running ", b"Finished in ", b"Fabulous run in ")),
    Entry("phpunit", STDOUT, (b"PHPUnit ",)),
    Entry("ava", STDOUT, _indented(rb"\xe2", rb"- \[", b"Randomized", b"Uncaught", b"Unhandled")),
    Entry("node-tap", STDOUT, (b"Asserts: ", *_indented(b"FAIL  ", b"TODO  ", b"SKIP  "))),
    Entry("bats-pretty", STDOUT, (b"   .*/[0-9]", rb" \xe2\x9c\x97 ", _WORD + rb"(?:(?<=\.bats)|(?<=\.bats\r))")),
    Entry(
        "prove",
        STDOUT,
        (
            _WORD + rb" \.\.",
            rb"\[[0-9:]++\] " + _WORD + rb" \.\.",
            b"All tests successful",
            b"Test Summary Report",
            b"Files=",
            b"Bailout called",
            b"#   Failed",
        ),
    ),
    Entry(
        "pytest",
        STDOUT,
        (
            b"=",
            rb"[^ \n\[].*+(?:(?<=[%0-9]\])|(?<=[%0-9]\]\r))",
            b"no tests ran",
            b"INTERNALERROR>",
            b"bringing up",
            b"Test session",
        ),
    ),
    # A mark's bracket is closed at the line's end.
    Entry(
        "rspec",
        STDOUT,
        (
            *_indented(b"Failure/Error: "),
            rb"  (?=.*+(?:(?<=\))|(?<=\)\r))).*\((?:FAILED - |PENDING: )",
            b"Finished in ",
            b"Pending: ",
            b"Randomized ",
            b"Run options: (?:in|ex)clude",
            b"An error occurred ",
        ),
    ),
    Entry("rspec-html", STDOUT, (b"  <title>RSpec",)),
    Entry("unittest", BOTH, (_WORD + rb" \(", b"FAIL: ", b"ERROR: ", b"UNEXPECTED", b"Ran [0-9]")),
    Entry(
        "vitest",
        BOTH,
        (
            *_indented(b"RUN  v", b"DEV  v"),
            rb"stdout \|",
            rb"stderr \|",
            rb"\xe2\x8e\xaf",
            b"No test files",
            b"::error",
            b"ERROR: ",
        ),
    ),
)
