"""Whole streams that are made to be slow: twice the lines may cost at most 3.5 times the processor time (P7)."""

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from context_firewall import SourceStream, reduce_streams
from context_firewall.transcript.dialects.tap_grammar import first_hash

BOUND = 3.5

Stream = Callable[[int], str]


def seconds(text: str, exit_code: int) -> float:
    """Processor time of one reduction; what other tests left in memory is not looked through meanwhile."""
    data = text.encode()
    gc.collect()
    gc.disable()
    try:
        started = time.thread_time()
        reduce_streams([SourceStream("stdout", len(data), [data])], exit_code=exit_code)
        return time.thread_time() - started
    finally:
        gc.enable()


def growth(stream: Stream, count: int, exit_code: int = 0) -> float:
    """How many times as long twice the lines take; the smallest of three measurements."""
    found = []
    for _ in range(3):
        found.append(seconds(stream(2 * count), exit_code) / seconds(stream(count), exit_code))
        if found[-1] < 2.6:
            break
    return min(found)


def nested(line: str, *, closing: str = "") -> Stream:
    """One line a level, deeper and deeper; then perhaps back out."""

    def made(count: int) -> str:
        down = "".join("    " * level + line + "\n" for level in range(count))
        up = "".join("    " * level + closing + "\n" for level in range(count - 1, -1, -1)) if closing else ""
        return down + up

    return made


def node_points(number: Callable[[int], int]) -> Stream:
    """Node's passing points, numbered by a rule."""
    unit = "# Subtest: a\nok {} - a\n  ---\n  duration_ms: 1\n  ...\n"
    return lambda count: "TAP version 13\n" + "".join(unit.format(number(i)) for i in range(count))


SPEC_TOTALS = (
    "ℹ tests {n}\nℹ suites 0\nℹ pass 0\nℹ fail {n}\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 1\n\n"
    "✖ failing tests:\n\n"
)
RSPEC_REPORT = """\
Failures:

  1) a
     b

Finished in 1 second (files took 1 second to load)
1 example, 1 failure

"""
MINITEST_REPORT = """
Finished in 1s, 1 runs/s, 1 assertions/s.

  1) Error:
A#b:
c

1 runs, 1 assertions, 0 failures, 1 errors, 0 skips
"""
PHPUNIT_REPORT = """
Time: 1, Memory: 4.00 MB

There was 1 error:

1) A::b
c

ERRORS!
Tests: 1, Assertions: 1, Errors: 1.
"""
XML = "<testsuite name='a' tests='1' failures='1'>\n"
PROVE_ROW = "t/a.t (Wstat: 256 (exited 1) Tests: 1 Failed: 1)\n  Failed test:  1\n"
PROVE_END = "Files=1, Tests=1,  0 wallclock secs ( 0.00 usr +  0.00 sys =  0.00 CPU)\nResult: FAIL\n"
TAP_SPEC = "\n  a\n\n    ✔ a\n"
TEAMCITY_GREEN = "##teamcity[testStarted name='a']\n##teamcity[testFinished name='a']\n"
TEAMCITY_RED = "##teamcity[testStarted name='a']\n##teamcity[testFailed name='a']\n##teamcity[testFinished name='a']\n"
NEXTEST_END = "     Summary [   0.1s] 2 tests run: 0 passed, 2 failed, 0 skipped\n"
NTAP_FRAME = (
    "\x1b[2K\x1b[1A\x1b[2K\x1b[G\nAsserts:  1 pass  0 fail  1 of 1 complete\n"
    "Suites:   1 pass  0 fail  1 of 1 complete\n"
)
NTAP_RED = " FAIL  a.js 1 failed of 1\n"
DOC_TEST = "    <dt>a</dt>\n    <dt>a.js</dt>\n    <dd><pre><code>a()</code></pre></dd>\n"
MARKDOWN = '# TOC\n<a name=""></a>\n \n'
XML_TEST = '<testsuites>\n<testsuite name="a" tests="1" failures="0">\n<testcase name="a">\n'
LINEAR: dict[str, tuple[Stream, int]] = {
    "empty lines behind much text": (lambda n: "text\n" * 600 + "\n" * n, 40000),
    "empty lines in a test's output": (
        lambda n: f"{XML_TEST}<system-out>{chr(10) * n}a</system-out>\n</testcase>\n</testsuite>\n</testsuites>\n",
        40000,
    ),
    "comments": (lambda n: "1..1\n" + "# note\n" * n + "ok 1 - a\n", 6000),
    "totals": (lambda n: "1..1\nok 1\n" + "# tests 1\n" * n, 6000),
    "plans": (lambda n: "1..1\n" * n, 6000),
    "bail-outs": (lambda n: "Bail out!\n" * n, 3000),
    "documents": (lambda n: "TAP version 13\n1..1\nok 1 - a\n" * n, 1000),
    "documents without versions": (lambda n: "ok 1 - a\n1..1\n" * n, 1000),
    "a block of many lines": (lambda n: "1..1\nnot ok 1 - a\n  ---\n" + "  x: 1\n" * n + "  ...\n", 4000),
    "an open block": (lambda n: "1..1\nok 1 - a\n  ---\n" + "ok 7 - x\n" * n, 4000),
    "foreign lines": (lambda n: "1..1\n" + "log line\n" * n + "ok 1 - a\n", 3000),
    "repeated failures": (lambda n: "1..3\n" + "not ok 1 - a\n" * n, 2000),
    "spec failures": (lambda n: "✖ a (1ms)\n  'x'\n" * n, 2000),
    "spec failures repeated in the recap": (
        lambda n: "✖ a (1ms)\n" * n + SPEC_TOTALS.format(n=n) + "test at a.js:1:1\n✖ a (1ms)\n  'x'\n\n" * n,
        1000,
    ),
    "spec parents that never close": (lambda n: "▶ a\n  ✔ x (1ms)\n" * n, 2000),
    "rows of dots": (lambda n: "....................\n" * n, 6000),
    "dots and points by turns": (lambda n: "....\nok 1 - x\n" * n, 1000),
    "mocha's totals again and again": (lambda n: "\n  1 passing (1ms)\n  9 failing\n\n  9) x:\n\n\n\n\n" * n, 1000),
    "mocha's totals that nothing closes": (lambda n: "\n  1 passing (1ms)\n  9 failing\n" * n, 2000),
    "mocha's results and totals by turns": (lambda n: "  ✔ a\n  1) b\n\n  7 passing (1ms)\n  1 failing\n\n" * n, 1000),
    "mocha's first failures, below ticks": (lambda n: "\n\nx\n" + "  ✔ a (5ms)\n  ✔ a\n  1) b\n" * n, 2000),
    "mocha's ticks, and no failure": (lambda n: "\n\n" + "  ✔ a (5ms)\n" * n + "  1) b\n" * n, 3000),
    "mocha's HTML, a term again and again": (lambda n: DOC_TEST + '    <dt class="error">a</dt>\n' * n, 3000),
    "mocha's HTML, code that does not end": (lambda n: DOC_TEST * 2 + f"{DOC_TEST[:-22]}\n" + "a\n" * n, 4000),
    "mocha's HTML, begun again and again": (lambda n: DOC_TEST + f"{DOC_TEST[:-22]}\n" * n, 1000),
    "mocha's HTML, deeper and deeper": (
        lambda n: "".join(f"{' ' * 4 * (i % 90 + 1)}{DOC_TEST.strip()}\n" for i in range(n)),
        1000,
    ),
    "mocha's Markdown, code that does not end": (lambda n: f"{MARKDOWN}a.\n\n```js\n" + "```\n" * n, 4000),
    "mocha's Markdown, names again and again": (lambda n: MARKDOWN + "a.\n" * n + "\n```js\n", 4000),
    "mocha's Markdown, contents without a suite": (lambda n: "# TOC\n" + "   - [a](#a)\n" * n, 4000),
    "mocha's titles that hold nothing": (lambda n: "  ✔ a\n" + "  a\n    b\n      c\n" * n, 2000),
    "mocha's suites, deeper and deeper": (
        lambda n: "  ✔ a\n" + "".join("  " * i + "a\n" for i in range(1, n)) + "  1) a\n",
        400,
    ),
    "mocha's accounts with one number": (
        lambda n: "  1) b\n  ✔ a\n\n  1 passing (1ms)\n  1 failing\n" + "\n  1) b:\n     Error: x\n" * n + "\n\n\n",
        1000,
    ),
    "mocha's events and ends by turns": (
        lambda n: (
            '["start",{"total":1}]\n'
            + '["pass",{"fullTitle":"a"}]\n["end",{"passes":1,"failures":0,"pending":0}]\n' * n
        ),
        1000,
    ),
    "deno's endings again and again": (
        lambda n: (
            "a ... FAILED (1ms)\n"
            + "\n ERRORS \n\na => ./a:1:1\nerror: x\n\n FAILURES \n\na => ./a:1:1\n" * n
            + "\nFAILED | 0 passed | 1 failed (1ms)\n\n"
        ),
        1000,
    ),
    "deno's failures and totals by turns": (
        lambda n: "running 1 test from ./a\n" + "a ... FAILED (1ms)\n\nok | 1 passed | 0 failed (1ms)\n\n" * n,
        1000,
    ),
    "deno's joints in a name": (lambda n: "running 1 test from ./a\n" + "a ... FAILED (due to " * n + "\n", 20_000),
    "deno's places in a title": (
        lambda n: (
            "running 1 test from ./a\n\n ERRORS \n\n"
            + "a => ./a:1:1" * n
            + "\nerror: x\n\n FAILURES \n\n"
            + "a => :1" * n
        ),
        20_000,
    ),
    "deno's steps, deeper and deeper": (
        lambda n: "running 1 test from ./a\n" + "".join("  " * i + "a ...\n" for i in range(n)),
        700,
    ),
    "deno's output of many failing tests": (
        lambda n: (
            "running 1 test from ./a\n"
            + "".join(
                f"t{i} ...\n------- output -------\nx\n----- output end -----\nt{i} ... FAILED (1ms)\n"
                for i in range(n)
            )
        ),
        700,
    ),
    "a JSON report's braces": (lambda n: "{\n" * n + '  "stats": {\n' * n + "}\n" * n, 2000),
    "JSON reports that are none": (lambda n: '{\n  "stats": {\n}\n' * n, 1000),
    "a JSON report of failures": (
        lambda n: (
            '{\n"stats": {"suites": 1},\n"numTotalTestSuites": 1,\n"testResults": [\n'
            + ",\n".join('{\n"name": "a"\n}' for _ in range(n))
            + "\n]\n}\n"
        ),
        2000,
    ),
    "a JSON report of failures, a line each": (
        lambda n: (
            f'{{\n  "stats": {{\n"suites": 1, "tests": {n}, "passes": 0, "pending": 0, "failures": {n}}},\n'
            + ",\n".join(
                f'"{name}": [\n' + ",\n".join(f'{{"fullTitle": "a{i}"}}' for i in range(count)) + "\n]"
                for name, count in (("tests", n), ("failures", n), ("passes", 0))
            )
            + "\n}\n"
        ),
        1000,
    ),
    "forged RSpec reports": (lambda n: "\n" + RSPEC_REPORT * n, 300),
    "RSpec pages": (
        lambda n: (
            "  <title>RSpec results</title>\n"
            + "\nAn error occurred in an `after(:context)` hook.\nx\n" * n
            + '    <dd class="example failed">\n      <span class="failed_spec_name">x</span>\n' * n
        ),
        1500,
    ),
    "RSpec accounts": (lambda n: "\nFailures:\n" + "".join(f"\n  {i}) a\n     b\n" for i in range(1, n)), 1500),
    "forged minitest reports": (lambda n: "# Running:\n" + MINITEST_REPORT * n, 300),
    "forged PHPUnit reports": (
        lambda n: "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n" + PHPUNIT_REPORT * n,
        300,
    ),
    "CTest tests that start and never end": (
        lambda n: "Test project /a\n" + "".join(f"    Start {i}: a\nb\n" for i in range(1, n)),
        1500,
    ),
    "CTest attempts": (lambda n: "    Start 1: a\n    Test #1: a ..***Failed  0.1 sec\nb\n\n" * n, 800),
    "CTest failures": (
        lambda n: (
            "".join(f"    Start {i}: a\n{i}/{n} Test #{i}: a ..***Failed  0.1 sec\n" for i in range(1, n + 1))
            + f"\n0% tests passed, {n} tests failed out of {n}\n\nTotal Test time (real) = 1.0 sec\n\n"
            + "The following tests FAILED:\n"
            + "".join(f"\t{i} - a (Failed)\n" for i in range(1, n + 1))
        ),
        400,
    ),
    "hashes in a name": (lambda n: "1..1\nok 1 - " + "#a" * n + "\n", 100_000),
    "backslashes in a name": (lambda n: "1..1\nok 1 - " + "\\" * n + "#\n", 100_000),
    "prove, files": (lambda n: "t/a.t .. ok\n" * n, 4000),
    "prove, failing points": (lambda n: "t/a.t .. \nok 1\n" + "not ok 1 - a\n" * n, 1500),
    "prove, children without a parent": (lambda n: "t/a.t .. \nok 1\n" + "    not ok 1 - a\n" * n, 1500),
    "prove, files that failed": (
        lambda n: (
            "t/a.t .. \nFailed 1/1 subtests \n" * n + "\nTest Summary Report\n-------------------\n" + PROVE_ROW * n
        ),
        800,
    ),
    "prove, rows": (lambda n: "Test Summary Report\n-------------------\n" + PROVE_ROW * n + PROVE_END, 1000),
    "prove, words of Test::More": (
        lambda n: "t/a.t .. ok\n" + "\n#   Failed test 'a'\n#   at t/a.t line 1.\n" * n,
        1000,
    ),
    "ava, failing results": (lambda n: "\n" + "  ✘ [fail]: a › b\n" * n + "  ─\n\n" + "  a › b\n\n\n\n" * n, 800),
    "ava, failing results of other names": (
        lambda n: "\n" + "  ✘ [fail]: a › b\n" * n + "  ─\n\n" + "  a › c\n\n\n\n" * n,
        800,
    ),
    "ava, ends that are none": (lambda n: "\n  ✘ [fail]: a › b\n  ─\n\n  a › b\n" + "\n  ─\n\n  x\n" * n, 800),
    "node-tap, results": (
        lambda n: "Asserts:  0 pass  0 fail  0 of 0 complete\n" + NTAP_RED + " ✖ a\n    b\n\n" * n,
        800,
    ),
    "node-tap, frames": (lambda n: NTAP_FRAME * n, 800),
    "node-tap, screens that are cleared": (lambda n: (NTAP_FRAME + NTAP_RED + "\x1b[2J\x1b[3J\x1b[H") * n, 500),
    "node-tap, files in the log": (lambda n: (NTAP_FRAME + NTAP_RED + " ✖ a\n  b\n") * n, 500),
    "node-tap, ends": (lambda n: (NTAP_FRAME + "# { total: 1, pass: 1 }\n# time=1ms\nx\n") * n, 500),
    "node-tap, a name over many lines": (lambda n: NTAP_FRAME + NTAP_RED + " ✖ a\n" + "   b\n" * n, 1500),
    "bats, tests that only begin": (
        lambda n: "a.bats\n" + "\x1b[1G   a\x1b[K\x1b[77G1/9\x1b[2G\n" * n + "\x1b[1G ✓ b\x1b[K\n" * n,
        500,
    ),
    "gotestsum, failing results": (
        lambda n: "FAIL a.TestA (0.00s)\n" * n + "=== Failed\n" + "=== FAIL: a TestA (1s)\n" * n,
        500,
    ),
    "gotestsum, last lines": (lambda n: "=== Failed\n" + "DONE 1 tests in 1s\nx\n" * n, 800),
    "tap-classic, files": (lambda n: f"a {'.' * 53} 1/1\n" * n, 800),
    "tap-classic, whom files skipped": (
        lambda n: f"a {'.' * 53} 1/1\n" + "  Skipped: 2\n" + "    b\n" * n + f"a {'.' * 53} 1/1\n  Skipped: 1\n" * n,
        2000,
    ),
    "tap-classic, failures": (lambda n: f"a {'.' * 53} 1/1\n" + "  b\n  not ok c\n    d\n\n" * n, 500),
    "tap-classic, dots": (lambda n: f"a {'.' * 53} 1/1\n" + "a .. " * n + "1/1\n", 1500),
    "tap-spec, failures": (
        lambda n: TAP_SPEC + "\n    ✖ a\n    -----\n  b\n\n" * n + "  Failed Tests: There were 2 failures\n\n    a\n\n",
        500,
    ),
    "tap-spec, lists": (
        lambda n: TAP_SPEC + ("\n  Failed Tests: There were 2 failures\n\n    a\n\n" + "      ✖ a\n" * 3) * n,
        300,
    ),
    "tap-spec, totals": (
        lambda n: TAP_SPEC + "\n  total:     9\n  passing:   9\n  duration:  1ms\n\n" * n,
        500,
    ),
    "tap-spec, openings that are none": (lambda n: "    ✖ a\n" * n, 1500),
    "TAP, service messages": (lambda n: "1..1\nok 1\n" + "##teamcity[x]\n" * n, 1500),
    "TeamCity, suites in suites": (
        lambda n: "".join(f"##teamcity[testSuiteStarted name='{i}']\n" for i in range(n)) + TEAMCITY_RED * n,
        500,
    ),
    "TeamCity, suites that do not end": (
        lambda n: "".join(f"##teamcity[testSuiteStarted name='{i}']\n" + TEAMCITY_GREEN * 3 for i in range(n)),
        500,
    ),
    "TeamCity, a flow in a name": (
        lambda n: "##teamcity[testSuiteStarted name='a']\n" + TEAMCITY_GREEN.replace("a'", "a flowId=" * n + "'") * 3,
        3000,
    ),
    "TeamCity, flows in flows": (
        lambda n: (
            "".join(f"##teamcity[flowStarted flowId='{i + 1}' parent='{i}']\n" for i in range(n))
            + TEAMCITY_RED.replace("name='a'", f"name='a' flowId='{n}'") * n
        ),
        500,
    ),
    "TeamCity, tests that do not end": (
        lambda n: "".join(f"##teamcity[testStarted name='a' flowId='{i}']\nx\n" for i in range(n)),
        1500,
    ),
    "TeamCity, failures of one test": (
        lambda n: "##teamcity[testStarted name='a']\n" + "##teamcity[testFailed name='a']\nx\n" * n,
        1500,
    ),
    "TeamCity, messages in a line": (
        lambda n: "##teamcity[testStarted name='a']\n" + "##teamcity[testFailed name='a']" * n + "\n",
        5000,
    ),
    "TeamCity, escapes": (lambda n: "##teamcity[testStarted name='" + "|'|0x2028" * n + "']\n", 20_000),
    "TeamCity, values": (
        lambda n: "##teamcity[testStarted" + "".join(f" a{i}='b'" for i in range(n)) + "\n",
        5000,
    ),
    "nextest, failing tests": (
        lambda n: "".join(f"        FAIL [   0.1s] a b{i}\n" for i in range(n)) + "────────────\n" + NEXTEST_END,
        800,
    ),
    "nextest, summaries": (
        lambda n: "        FAIL [   0.1s] a b\n" + ("────────────\n" + NEXTEST_END + "x\n") * n,
        500,
    ),
    "deno, totals": (lambda n: "running 1 test from a\n" + "ok | 1 passed | 1 failed (1ms)\nx\n" * n, 800),
    "deno, accounts": (lambda n: " ERRORS \n\n" + "a => b:1:1\nerror: c\n\n" * n + " FAILURES \n\n", 800),
    "NUL bytes": (lambda n: "1..1\nok 1 - " + "\0" * n + "\n", 200_000),
    "lone carriage returns": (lambda n: "1..1\nok 1 - " + "a\r" * n + "\n", 200_000),
    "line separators": (lambda n: "1..1\nok 1 - " + "\u2028" * n + "\n", 100_000),
    "unfinished control sequences": (lambda n: "1..1\nok 1 - " + "\x1b[" * n + "\n", 100_000),
    "a number of a megabyte": (lambda n: "1..1\nok " + "9" * n + " - a\n", 200_000),
    "XML, open elements": (lambda n: XML + "<testsuite name='a' tests='1' failures='0'>\n" * n, 1000),
    "XML, a tag without an end": (lambda n: XML + "<testcase name='" + "x\n" * n, 4000),
    "XML, a comment without an end": (lambda n: XML + "<!--" + "x\n" * n, 6000),
    "XML, quotation marks": (lambda n: XML + "<a '\"" * n, 20_000),
    "XML, tests in one line": (lambda n: XML + "<testcase name='a'/>" * n, 2000),
    "XML, failing tests in one line": (lambda n: XML + "<testcase name='a'><failure/></testcase>" * n, 1000),
    "XML, a failing test without an end": (lambda n: XML + "<testcase name='a'><failure>" + "x\n" * n, 3000),
    "XML, references": (lambda n: XML + "<testcase name='" + "&#38;" * n + "'><failure/></testcase>", 20_000),
    "XML, documents": (lambda n: "<testsuite tests='0' failures='0'/>\n" * n, 1000),
    "XML, documents in one line": (lambda n: "<testsuite tests='0' failures='0'/>" * n, 1000),
    "XML, totals": (lambda n: "<testsuites>\n" + "<!-- tests 1 -->\n<!-- suites 1 -->\n" * n, 2000),
    "XML, sections": (lambda n: XML + "<testcase><system-out>" + "<![CDATA[]" * n, 20_000),
    "a plan of a megabyte": (lambda n: "1.." + "9" * n + "\nok 1\n", 200_000),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", LINEAR)
def test_twice_as_much_costs_twice_as_much(name: str) -> None:
    stream, count = LINEAR[name]
    assert growth(stream, count, 1) <= BOUND


NUMBERS: dict[str, tuple[Stream, int]] = {
    "one number again and again": (lambda n: "1..3\n" + "ok 1 - a\n" * n, 500),
    "descending numbers": (lambda n: f"1..{n}\n" + "".join(f"ok {i} - a\n" for i in range(n, 0, -1)), 500),
    "odd numbers": (lambda n: f"1..{n}\n" + "".join(f"ok {i} - a\n" for i in range(1, 2 * n, 2)), 500),
    "Node, one number again and again": (node_points(lambda i: 7), 250),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_cost_no_square(name: str) -> None:
    stream, count = NUMBERS[name]
    assert growth(stream, count) <= BOUND


def steps(text: str) -> int:
    """How many calls and resumed generators one reduction takes: the same on every machine."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    data = text.encode()
    sys.setprofile(counted)
    try:
        reduce_streams([SourceStream("stdout", len(data), [data])], exit_code=0)
    finally:
        sys.setprofile(None)
    return count


TURNS: dict[str, tuple[Stream, int]] = {
    "alternating numbers": (lambda n: "1..3\n" + "ok 1 - a\nok 2 - b\n" * n, 400),
    "jumping numbers": (lambda n: "".join(f"ok {i} - x\nok {10**6 + i * 7} - y\n" for i in range(1, n)), 400),
    "failures in descending order": (
        lambda n: f"1..{n}\n" + "".join(f"not ok {i} - a\n" for i in range(n, 0, -1)),
        400,
    ),
    "two dialects by turns": (lambda n: "1..3\nok 1 - a\n✔ x (1ms)\nℹ tests 1\n" * n, 200),
}


@pytest.mark.parametrize("name", TURNS)
def test_steps_grow_with_the_stream(name: str) -> None:
    stream, count = TURNS[name]
    assert steps(stream(2 * count)) <= 2.5 * steps(stream(count))


class Copied(bytes):
    """Bytes that count what is copied out of them."""

    copied = 0

    def __getitem__(self, key: Any) -> Any:
        piece = super().__getitem__(key)
        if isinstance(piece, bytes):
            Copied.copied += len(piece)
        return piece


def test_escaped_signs_cost_no_square() -> None:
    Copied.copied = 0
    first_hash(Copied(b"\\#" * 1000))
    assert Copied.copied <= 10 * 2000


def test_comments_left_of_a_deep_line() -> None:
    """The bound is nearer to two than elsewhere, so that this tells reliably when it is mended."""
    assert growth(lambda n: "1..1\n" + "    " * n + "1..2\n" + "  # x\n" * n, 2500) <= 2.8


def test_a_deep_line_costs_no_more_memory_than_it_is_long() -> None:
    data = b"1..1\n" + b" " * 20_000 + b"1..2\n"
    tracemalloc.start()
    try:
        reduce_streams([SourceStream("stdout", len(data), [data])], exit_code=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 64 * len(data)


DEEP: dict[str, Stream] = {
    "announced": nested("# Subtest: x"),
    "points": nested("ok 1 - x"),
    "in braces": nested("ok 1 - x {"),
    "failing on the way out": nested("# Subtest: x", closing="not ok 1 - x"),
    "plans": nested("1..1"),
    "spec parents": lambda n: "".join("  " * level + "▶ a\n" for level in range(n)),
}


@pytest.mark.parametrize("name", DEEP)
def test_a_thousand_levels_are_read(name: str) -> None:
    """The text alone grows with the square of the depth, so the time is not measured."""
    data = DEEP[name](1000).encode()
    packet = reduce_streams([SourceStream("stdout", len(data), [data])], exit_code=0)
    assert packet["decision_evidence"]["disposition"] == "NEEDS_RAW_EVIDENCE"
    assert packet["receipt"]["measurements"]["original_event_count"] == data.count(b"\n")


def test_a_line_indented_by_thousands_of_levels_is_read() -> None:
    data = b"1..1\n" + b" " * 40_000 + b"1..2\nok 1 - a\n"
    packet = reduce_streams([SourceStream("stdout", len(data), [data])], exit_code=0)
    assert packet["receipt"]["measurements"]["original_event_count"] == 3


@pytest.mark.parametrize(
    "character", [b"\0", b"\r", b"\x1b", b"\x85", b"\xe2\x80\xa8", b"\x0b", b"\x0c", b"\x7f", b"\xff"]
)
def test_no_character_ends_or_hides_a_line(character: bytes) -> None:
    data = b"1..2\nok 1 - a" + character + b"b\n" + b"not ok 2 - c" + character + b"d\n"
    evidence = reduce_streams([SourceStream("stdout", len(data), [data])], exit_code=1)["decision_evidence"]
    assert (evidence["counts"]["passed"], evidence["counts"]["failed"]) == (1, 1)
    assert evidence["status"] == "failed"
