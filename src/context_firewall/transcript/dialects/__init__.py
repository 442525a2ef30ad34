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
    hint: re.Pattern[bytes]
    """How every line begins that its opening matches. It may match others."""

    @property
    def dialect(self) -> Dialect:
        """The dialect itself."""
        dialect: Dialect = import_module(f"{__name__}.{self.name.replace('-', '_')}").DIALECT
        return dialect

    def opens(self, bare: bytes) -> bool:
        """Whether a bare line opens the dialect."""
        return self.hint.match(bare) is not None and self.dialect.opens(bare)


REGISTRY: tuple[Entry, ...] = (
    Entry("tap", STDOUT, re.compile(rb"\xef\xbb\xbf|TAP |[0-9]++\.\.|(?:not )?ok|Bail out!|pragma|#| {4}")),
    # ▶ ✔ ✖ ⚠ ℹ, and ﹣
    Entry("node-spec", STDOUT, re.compile(rb"\xe2[\x96\x9c\x9a\x84]|\xef\xb9\xa3")),
    Entry("node-dot", STDOUT, re.compile(rb"[.X]{2}")),
    Entry("cargo", BOTH, re.compile(rb"running |test result: | {3}|error|error: | *+--> ")),
    Entry("cargo-json", BOTH, re.compile(rb"\{")),
    Entry(
        "ctest",
        BOTH,
        re.compile(rb"Test project |UpdateCTest| ++Start |[ 0-9]++[/%]|Errors while|No tests were|Unable to find "),
    ),
    Entry("go", BOTH, re.compile(rb"=== |--- |ok  \t|FAIL\t|\?   \t|goos: |-test|testing: |panic: |go: |# ")),
    Entry("nextest", BOTH, re.compile(rb" *+(?:Nextest|Starting|Summary \[|PASS|FAIL|SLOW|TIMEOUT|TRY [0-9])")),
    Entry("gotestsum", STDOUT, re.compile(rb"\xe2[\x9c\x88]|(?:PASS|FAIL|SKIP|EMPTY) |=== [SFE]|DONE [0-9]")),
    Entry("go-json", STDOUT, re.compile(rb"\{")),
    # Before the runners whose reports these repeat.
    Entry("json-report", STDOUT, re.compile(rb"(?:[ \t]++|\{ ?+)\"(?:num|stats|created|version|examples|name)")),
    Entry("teamcity", STDOUT, re.compile(rb"##teamcity\[(?:test|flowS)")),
    Entry(
        "jest",
        BOTH,
        re.compile(
            rb"\r*+ ?(?:PASS|FAIL) |\r*+(?:Determining|Test Suites: |No tests|Usage: jest|Summary of)"
            rb"|\r*+(?:  console\.|\xe2\x97\x8f| LOGGING|  \xe2\x97\x8f|::(?:error|group|warn))"
        ),
    ),
    # Totals, a first failure, a tick (✓ ✔ √), or a test that is announced
    Entry("mocha", STDOUT, re.compile(rb"  (?:[0-9]++ passing|1\) | *+\xe2[\x88\x9c]|  [^\n\r]++\r)")),
    Entry("tap-spec", STDOUT, re.compile(rb"    (?:\xe2[\x88\x9c]|\xc3\x97)|  total: ")),
    # The end of a file's line: counts behind dots
    Entry("tap-classic", STDOUT, re.compile(rb"[ -~]{40}[ -~]{0,17}[0-9]/[0-9]")),
    Entry("mocha-doc", STDOUT, re.compile(rb" {4}<(?:section class|dd)")),
    Entry("mocha-markdown", STDOUT, re.compile(rb"# TOC")),
    Entry("mocha-json-stream", STDOUT, re.compile(rb"\[\"start")),
    Entry(
        "deno",
        STDOUT,
        re.compile(rb"running [0-9]++ tests? from|------- pre| ERRORS|Uncaught error|\./|ok \| |FAILED \| "),
    ),
    Entry("junit", STDOUT, re.compile(rb"(?:\xef\xbb\xbf)?+\s*+<(?:\?xml|testsuite)")),
    Entry("minitest", STDOUT, re.compile(rb"Run options: |# Running:|Running |F(?:inished|abulous run) in ")),
    Entry("phpunit", STDOUT, re.compile(rb"PHPUnit ")),
    Entry("ava", STDOUT, re.compile(rb"  (?:\xe2|- \[|Randomized|Uncaught|Unhandled)")),
    Entry("node-tap", STDOUT, re.compile(rb"Asserts: | (?:FAIL|TODO|SKIP) {2}")),
    Entry("bats-pretty", STDOUT, re.compile(rb" {3}| \xe2\x9c\x97 |[^ \n]+\.bats")),
    Entry(
        "prove",
        STDOUT,
        re.compile(rb"[^\n]*? \.\.|All tests successful|Test Summary Report|Files=|Bailout called|#   Failed"),
    ),
    Entry("pytest", STDOUT, re.compile(rb"=|[^\n]*?\[ *+[0-9]|no tests ran|INTERNALERROR>|bringing up|Test session")),
    Entry(
        "rspec",
        STDOUT,
        re.compile(
            rb" {2}[^\n]*?(?:\(FAILED - |\(PENDING: |Failure/Error: )"
            rb"|Finished in |Pending: |Randomized |Run options: (?:in|ex)clude|An error occurred "
        ),
    ),
    Entry("unittest", BOTH, re.compile(rb"[^\n]*? \(|FAIL: |ERROR: |UNEXPECTED|Ran [0-9]")),
    Entry("vitest", BOTH, re.compile(rb" (?:RUN|DEV)  v|std(?:out|err) \||\xe2\x8e\xaf|No test files|::error|ERROR: ")),
)


@cache
def any_hint(entries: tuple[Entry, ...]) -> re.Pattern[bytes]:
    """How a line begins that may open one of several dialects: to tell at one look the lines that open none."""
    return re.compile(b"|".join(b"(?:%b)" % entry.hint.pattern for entry in entries))
