"""A machine that offers lanes reads the same with and without them."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall.transcript import idle, reader, runs
from context_firewall.transcript.dialects.cargo_json import CargoEvents
from context_firewall.transcript.dialects.go_json import GoEvents
from context_firewall.transcript.dialects.json_report import JsonReport
from context_firewall.transcript.dialects.junit import JUnit
from context_firewall.transcript.dialects.node_dot import NodeDot
from context_firewall.transcript.dialects.node_spec import NodeSpec
from context_firewall.transcript.dialects.node_tap import NodeTap
from context_firewall.transcript.dialects.rspec import Rspec
from context_firewall.transcript.dialects.rspec_html import RspecHtml
from context_firewall.transcript.dialects.tap import TapMachine
from context_firewall.transcript.dialects.tap_classic import TapClassic
from context_firewall.transcript.dialects.teamcity import Teamcity
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.reader import read_streams

MACHINES = (
    TapMachine,
    NodeSpec,
    NodeDot,
    GoEvents,
    CargoEvents,
    JUnit,
    Rspec,
    RspecHtml,
    JsonReport,
    NodeTap,
    TapClassic,
    Teamcity,
)


@pytest.fixture(autouse=True)
def text_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text outside every stretch is read in runs from the first line on, and lanes for plain lines are common."""
    monkeypatch.setattr(reader, "MANY_LINES", 1)
    monkeypatch.setattr(runs, "PLAIN_REACH", 20)


def unit(name: str, number: int, *, indent: str = "", kind: bool = True, refusal: str = "") -> str:
    """A leaf as Node's TAP reporter prints it."""
    lines = [f"# Subtest: {name}", f"{refusal}ok {number} - {name}", "  ---", "  duration_ms: 0.5"]
    lines += ["  type: 'test'"] * kind + ["  ..."]
    return "".join(f"{indent}{line}\n" for line in lines)


YAML = "  ---\n  at: (a.js:1:2)\n  error: |-\n    b\n\n    c\n  - d\n  code: 1\n  ...\n"


def go(action: str, package: str, **more: object) -> str:
    """An event of `go test -json`."""
    row = {"Time": "2026-03-14T09:26:53Z", "Action": action, "Package": package, **more}
    return json.dumps(row, separators=(",", ":")) + "\n"


def go_test(name: str, package: str, *, word: str = "pass", prints: str = "") -> str:
    """A test that one package runs."""
    said = [f"=== RUN   {name}\n", *([prints] if prints else []), f"--- {word.upper()}: {name} (0.00s)\n"]
    outputs = "".join(go("output", package, Test=name, Output=text) for text in said)
    return go("run", package, Test=name) + outputs + go(word, package, Test=name, Elapsed=0)


def go_packages(*packages: str, tests: str) -> str:
    """Packages that start together, and end together when their tests have run."""
    return (
        "".join(go("start", package) for package in packages)
        + tests
        + "".join(
            go("output", package, Output="PASS\n")
            + go("output", package, Output=f"ok  \t{package}\t0.1s\n")
            + go("pass", package, Elapsed=0.1)
            for package in packages
        )
    )


MESSAGE_PAIR = (
    "##teamcity[testStarted name='{0}' flowId='7']\n##teamcity[testFinished name='{0}' duration='1' flowId='7']\n"
)
SUITE = "##teamcity[testSuiteStarted name='{0}' flowId='7']\n{1}##teamcity[testSuiteFinished name='{0}' flowId='7']\n"
NAME_LAST = (
    "##teamcity[testStarted timestamp='9:26' captureStandardOutput='true' flowId='7' name='{0}']\n"
    "##teamcity[testFinished timestamp='9:27' duration='1' flowId='7' name='{0}']\n"
)


def messages(*names: str, order: str = MESSAGE_PAIR) -> str:
    """A suite of tests, as service messages."""
    return SUITE.format("press", "".join(map(order.format, names)))


def cargo(*names: str, word: str = "ok") -> str:
    """Tests that start one after another and then end, as with as many threads."""
    started = "".join(f'{{ "type": "test", "event": "started", "name": "{name}" }}\n' for name in names)
    return started + "".join(f'{{ "type": "test", "name": "{name}", "event": "{word}" }}\n' for name in names)


def cargo_suite(tests: str, passed: int, ignored: int = 0) -> str:
    """A suite of such tests."""
    counts = f'"passed": {passed}, "failed": 0, "ignored": {ignored}, "measured": 0, "filtered_out": 0'
    return (
        f'{{ "type": "suite", "event": "started", "test_count": {passed + ignored} }}\n{tests}'
        f'{{ "type": "suite", "event": "ok", {counts}, "exec_time": 0.5 }}\n'
    )


def node_tap(*passed: int, files: int = 1) -> str:
    """Frames of node-tap's base reporter, then the end of the run."""

    def frame(n: int, moves: int, running: str) -> str:
        totals = f"\nAsserts:  {n} pass  0 fail  {n} of {n} complete\nSuites:   0 pass  0 fail  0 of 1 complete\n\n"
        return "\x1b[2K\x1b[1A" * moves + "\x1b[2K\x1b[G\n" + running + totals

    running = "".join(f" RUNS  press{file}.test.js 0 OK 9ms\n" for file in range(files))
    frames = "".join(frame(n, files + 5, running) for n in passed[1:])
    last = frame(passed[-1], files + 5, "").replace("Suites:   0", "Suites:   1").replace("0 of 1", "1 of 1")
    comments = f"# {{ total: {passed[-1]}, pass: {passed[-1]} }}\n# time=9.5ms\n"
    return frame(passed[0], 0, running).removeprefix("\x1b[2K\x1b[G") + frames + last + comments


def example(percent: str, name: str) -> str:
    """A passed example on RSpec's page."""
    return (
        f"    <script type=\"text/javascript\">moveProgressBar('{percent}');</script>\n"
        f'    <dd class="example passed"><span class="passed_spec_name">{name}</span>'
        "<span class='duration'>0.1s</span></dd>\n"
    )


def page(*names: str) -> str:
    """RSpec's page of these examples, in two groups."""
    examples = [example(str(int(n / len(names) * 1000) / 10), name) for n, name in enumerate(names, 1)]
    groups = "".join(
        f'<div id="div_group_{n}" class="example_group passed">\n  <dl style="margin-left: 0px;">\n'
        f'  <dt id="example_group_{n}" class="passed">Press</dt>\n{inside}  </dl>\n</div>\n'
        for n, inside in ((1, "".join(examples[:2])), (2, "".join(examples[2:])))
    )
    totals = f"document.getElementById('totals').innerHTML = \"{len(names)} examples, 0 failures\""
    return (
        f'  <title>RSpec results</title>\n<div class="results">\n{groups}'
        f'<script type="text/javascript">{totals};</script>\n</div>\n</div>\n</body>\n</html>\n'
    )


def classic(*files: tuple[str, int, int], told: str = "", time: str = "") -> str:
    """A line for each file, below each the same, and what closes the report."""

    def head(title: str, passed: int, total: int) -> str:
        counts = f"{passed}/{total}"
        return f"{title} {'.' * max(2, 57 - len(title) - len(counts))} {counts}"

    passed, total = (sum(column) for column in list(zip(*files, strict=True))[1:])
    lines = "".join(f"{head(*file)}{time}\n{told}" for file in files)
    left = f"  {total - passed} pending\n" * (total > passed)
    return f"{lines}{head('total', passed, total)}\n\n  {passed} passing (2s)\n{left}"


def junit(*inside: str, tests: int = 2, name: str = "press") -> str:
    """A suite with these lines in it."""
    lines = (f'<testsuite name="{name}" tests="{tests}" failures="0" errors="0">', *inside, "</testsuite>")
    return "".join(f"{line}\n" for line in lines)


MOCHA_TESTS = '    {\n      "title": "dries",\n      "fullTitle": "press dries",\n      "err": {}\n    }\n'
MOCHA_DOCUMENT = (
    '{\n  "stats": {\n    "suites": 1,\n    "tests": 1,\n    "passes": 1,\n    "pending": 0,\n    "failures": 0\n  },\n'
    f'  "tests": [\n{MOCHA_TESTS}  ],\n  "failures": [],\n  "passes": [\n{MOCHA_TESTS}  ]\n}}\n'
)
GO_PAUSED = (
    "=== RUN   TestO\n--- PASS: TestO (0.00s)\n=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestA/b\n"
    "--- PASS: TestA (0.00s)\n    --- PASS: TestA/b (0.00s)\n=== RUN   TestC\n--- PASS: TestC (0.00s)\n"
    "PASS\nok  \tp\t1s\n"
)
PYTEST_HEAD = f"{'=' * 29} test session starts {'=' * 30}\nplatform linux -- Python 3.12.4, pytest-8.3.2\nrootdir: /\n"
UNITTEST_END = f"\n{'-' * 70}\nRan {{n}} tests in 0.001s\n\nOK\n"
CTEST = "    Start {n}: ink{n}\n{n}/5 Test #{n}: ink{n} .....   Passed    0.00 sec\n"
RSPEC_END = "\nFinished in 9 seconds (files took 1 second to load)\n{n} examples, 0 failures\n\n"
OUTLINE = "\nPress\n  prints\n  in two colours\n    keeps them apart\n    (and dries)\n  stops\n"
JUNIT_CASES = ('  <testcase name="a" time="1"/>', '  <testcase name="b">', "  </testcase>")
NODE_TOTALS = "1..{n}\n# tests {n}\n# suites 0\n# pass {n}\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n"
PAGE = page(*"abcde")
STEP = example("80.0", "d").splitlines(keepends=True)[0]
FILES = tuple((f"{letter}.js", 3 + n % 3, 3 + n % 3) for n, letter in enumerate("abcdegh"))
SKIPPING = tuple((title, passed, passed + 2) for title, passed, _ in FILES)
CLASSIC = classic(*FILES)
SKIPPED = classic(*SKIPPING, told="  Skipped: 2\n    a\n    b\n\n")
STREAMS = {
    "green": "1..9\n" + "".join(f"ok {i} - cup {i}\n" for i in range(1, 10)),
    "green with a gap": "1..9\n" + "".join(f"ok {i} - cup\n" for i in (1, 2, 3, 5, 6, 7, 8, 9, 4)),
    "green with repeats": "1..9\n" + "".join(f"ok {i} - cup\n" for i in (1, 2, 2, 3, 4, 4, 5, 6)),
    "green with leading noughts": "1..3\nok 01 - a\nok 02 - b\nok 03 - c\n",
    "green without numbers": "1..5\n" + "".join(f"ok - cup {i}\n" for i in range(5)),
    "green with few numbers": "1..6\nok - a\nok b\nok 3 - c\nok 4 - d\nok\nok -\n",
    "green without numbers, by pytest": "ok - test_cup.py::test_a\nok - test_cup.py::test_b\nok c > d\n1..3\n",
    "green with a refusal": "1..6\nok 1 - a\nok 2 - b\nnot ok 3 - c\n  d\nok 4 - e\nok 5 - f\nok 6 - g\n",
    "green with a directive": "1..4\nok 1 - a\nok 2 - b # SKIP\nok 3 - c\nok 4 - d\n",
    "green with a block": "1..3\nok 1 - a\nok 2 - b\n  ---\n  x: 1\n  ...\nok 3 - c\n",
    "a block with hidden TAP": "1..2\nok 1 - a\n  ---\n  x: |\n    b\rok 2\n  ...\nok 2 - c\n",
    "a block with keys": "1..2\nnot ok 1 - a\n  ---\n  at: b\n  code: |\n    c\n  'd': e\n  ....\n  ...\nok 2 - f\n",
    "whole blocks": "".join(f"not ok {n} - a\n{YAML}ok {n + 1} - b\nok {n + 2} - c\n{YAML}" for n in (1, 4, 7))
    + "1..9\n",
    "whole blocks with carriage returns": f"not ok 1 - a\n{YAML}ok 2 - b\n1..2\n".replace("\n", "\r\n"),
    "whole blocks with colours": f"not ok 1 - a\n{YAML}ok 2 - b\n1..2\n".replace("e", "\x1b[1me\x1b[0m"),
    "a whole block with a coloured line": f"not ok 1 - a\n{YAML}1..1\n".replace("    c", "    \x1b[31mError: c\x1b[0m"),
    "a whole block behind a comment": f"not ok 1 - a\n# b\n{YAML}not ok 2 - b\nc\n{YAML}d\n1..2\n",
    "a second block": f"not ok 1 - a\n{YAML}{YAML}ok 2 - b\n1..2\n",
    "a whole block of bats": f"1..1\nnot ok 1 - a\n{YAML}".replace(
        "at", "bats warning: Executed 2 instead of expected 1 tests\n  at"
    ),
    "a whole block in a subtest": "# Subtest: a\n    not ok 1 - b\n"
    + "".join(f"    {line}\n" for line in YAML.splitlines())
    + f"    1..1\nnot ok 1 - a\n{YAML}1..1\n",
    "a whole block at the margin of a subtest": f"    not ok 1 - b\n{YAML}    1..1\nnot ok 1 - a\n{YAML}1..1\n",
    "a whole block at the margin of Node's suite": "TAP version 13\n# Subtest: a\n"
    + unit("b", 1, indent="    ")
    + "    # Subtest: c\n    not ok 2 - c\n  ---\n  duration_ms: 1\n  type: 'suite'\n  ...\n    1..2\n"
    + f"not ok 1 - a\n{YAML}1..1\n",
    "a whole block whose end has another margin": f"not ok 1 - a\n{YAML}ok 2 - b\n1..2\n".replace("  ...", "   ..."),
    "a whole block that TAP breaks into": f"not ok 1 - a\n{YAML}ok 2 - b\n1..2\n".replace("  at", "ok 2 - c\n  at"),
    "a whole block of a file": "TAP version 13\n# Subtest: a.js\nnot ok 1 - a.js\n  ---\n  duration_ms: 1\n"
    "  exitCode: 1\n  failureType: 'testCodeFailure'\n  error: 'b'\n  ...\n1..1\n# tests 1\n# fail 1\n",
    "whole blocks of a suite": "TAP version 13\n# Subtest: a\n"
    + "".join(f"    {line}\n" for line in [*unit("b", 1).splitlines(), *unit("c", 2, refusal="not ").splitlines()])
    + "    1..2\nnot ok 1 - a\n  ---\n  duration_ms: 1\n  type: 'suite'\n  failureType: 'subtestsFailed'\n  ...\n"
    + unit("d", 2)
    + "1..2\n",
    "a run that a point follows": "1..7\nok 1 - a\nok 2 - b\nnot ok 3 - c\nok 4 # SKIP\nok 5 - e\nok 7 - f\nok 6 - g\n",
    "a run that ends out of order": "ok 1 - a\nok 2 - b\nok 4 - c\nnot ok 3 - d\nok 4 - e\nok 6 - f\nok 5 {\n1..6\n",
    "a run with hidden TAP": "ok 1 - a\nok 2 - b\u2028ok 3\nok 3 - c\nok 4 - d\n1..4\n",
    "a run with hidden TAP behind NEL": "ok 1 - a\nok 2 - b\x85ok 3\nok 3 - c\nok 4 - d\n1..4\n",
    "a run of Node's above what is no plan": "TAP version 13\n" + unit("a", 1) + unit("b", 2) + "1..2x\n  c\n1..2\n",
    "a plan, and points from 1 again": "1..2\nok 1 - a\nok 2 - b\nok 1 - a\nnot ok 2 - b\n",
    "a block of Node's": "TAP version 13\n# Subtest: a\nnot ok 1 - a\n  ---\n  duration_ms: 1\n  location: 'a.js:1'\n"
    "  failureType: 'testCodeFailure'\n  exitCode: 1\n  error: 'b'\n  type: 'test'\n  ...\n1..1\n",
    "green over a child": "1..3\nok 1 - a\nok 2 - b\n    ok 1 - c\n    not ok 2 - d\n    1..2\nok 3 - e\n",
    "green and cut": "1..3\nok 1 - a\nok 2 - b\nok 3 - c",
    "two documents": "1..2\nok 1 - a\nok 2 - b\n1..2\nok 1 - c\nok 2 - d\n",
    "trailing plans": "ok 1 - a\nok 2 - b\n1..2\nok 1 - c\nok 2 - d\n1..2\n",
    "comments between": "1..4\nok 1 - a\n# x\n# tests 9\nok 2 - b\nok 3 - c\nok 4 - d\n",
    "carriage returns": "1..3\r\nok 1 - a\r\nok 2 - b\r\nok 3 - c\r\n",
    "node": "TAP version 13\n" + "".join(unit("cup", i) for i in range(1, 8)) + NODE_TOTALS.format(n=7),
    "node 20": "TAP version 13\n" + "".join(unit("cup", i, kind=False) for i in range(1, 8)),
    "node with a gap": "TAP version 13\n" + "".join(unit("cup", i) for i in (1, 2, 3, 5, 6, 4, 7)),
    "node nested": "TAP version 13\n"
    + "# Subtest: s\n"
    + "".join(unit("cup", i, indent="    ") for i in range(1, 6))
    + "    1..5\nok 1 - s\n  ---\n  duration_ms: 1\n  type: 'suite'\n  ...\n1..1\n",
    "node with a refusal": "TAP version 13\n"
    + unit("a", 1)
    + unit("b", 2)
    + unit("c", 3, refusal="not ")
    + unit("d", 4)
    + unit("e", 5),
    "node with output": "TAP version 13\n" + unit("a", 1) + "# said\n" + unit("b", 2) + unit("c", 3),
    "node with another name": "TAP version 13\n" + unit("a", 1) + unit("b", 2).replace("- b", "- x") + unit("c", 3),
    "spec": "".join(f"✔ cup {i} (1.5ms)\n" for i in range(9)) + "ℹ tests 9\n",
    "spec nested": "▶ s\n  ✔ a (1ms)\n  ✔ b (1ms)\n✔ s (3ms)\n▶ t\n  ✖ c (1ms)\n✖ t (2ms)\n",
    "spec nested twice": "▶ s\n  ▶ t\n    ✔ a (1ms)\n  ✔ t (1ms)\n  ▶ s\n    ✔ s (1ms)\n  ✔ s (1ms)\n✔ s (3ms)\n" * 3,
    "spec nested thrice": "▶ s\n  ▶ t\n    ▶ u\n      ✔ a (1ms)\n    ✔ u (1ms)\n  ✔ t (1ms)\n✔ s (3ms)\n" * 3,
    "spec nested, with a parent that another closes": "▶ s\n  ▶ t\n    ✔ a (1ms)\n  ✔ u (1ms)\n✔ s (3ms)\n" * 3,
    "spec nested, with a parent that is empty": "▶ s\n  ▶ t\n  ✔ t (1ms)\n✔ s (3ms)\n" * 3,
    "spec nested, with a failure": "▶ s\n  ▶ t\n    ✔ a (1ms)\n    ✖ b (1ms)\n  ✖ t (1ms)\n✖ s (3ms)\n" * 3,
    "spec never closed": "▶ s\n  ✔ a (1ms)\n▶ t\n  ✔ b (1ms)\n✔ t (3ms)\n",
    "spec in colour": "\x1b[32m✔ a \x1b[90m(1ms)\x1b[39m\x1b[39m\n✔ b (1ms)\n",
    "go events": go_packages("a.b/c", tests=go_test("TestA", "a.b/c") + go_test("TestB", "a.b/c", prints="b\n")),
    "go events in turns": go_packages("p", "q", tests="".join(go_test(f"T{n}", "pq"[n % 2]) for n in range(9))),
    "go events of a package that never started": go_packages("p", tests=go_test("A", "p") + go_test("B", "q")),
    "go events of an open test": go_packages("p", tests=go("run", "p", Test="A") + go_test("A", "p") * 2),
    "go events with a package in an output": go_packages(
        "p", "q", tests=go_test("A", "p", prints='"Package":"q"\n') + go_test("B", "q")
    ),
    "cargo events": cargo_suite(cargo("a") + cargo("b") + cargo("c", word="ignored"), 2, 1),
    "cargo events in turns": cargo_suite(cargo("a", "b", "c", "d") + cargo("é", "f"), 6),
    "cargo events that end first": cargo_suite("".join(reversed(cargo("a", "b").splitlines(keepends=True))), 2),
    "cargo events that end twice": cargo_suite(cargo("a") + cargo("b").splitlines(keepends=True)[1] + cargo("c"), 3),
    "cargo events that start twice": cargo_suite(cargo("a", "a") + cargo("b"), 3),
    "cargo events and a cut": cargo_suite(cargo("a", "b"), 2)[:200],
    "XML": junit(*JUNIT_CASES),
    "XML that names what it does not know": junit('<testcase name="&x;"/>', '<testcase name="b" name="c"/>'),
    "XML with a word about the result": junit('<testcase name="a" status="failed"/>', '<testcase name="b"/>'),
    "XML with a failure": junit(*JUNIT_CASES[:2], "<failure>a", "", " b &lt;", "</failure>", "</testcase>"),
    "XML with output": junit(*JUNIT_CASES[:2], "<system-out>a", "", " b", "</system-out>", *JUNIT_CASES[2:]),
    "XML with a section": junit(
        *JUNIT_CASES[:2], "<system-out><![CDATA[a", "<b>", "", "]]]", "]]></system-out>", "</testcase>"
    ),
    "XML with a suite's output": junit("<system-out>a", "", "b", "</system-out>", *JUNIT_CASES),
    "XML with outputs": junit(
        '<testcase name="a">',
        "  <system-out>a",
        "",
        "  b &amp; c",
        "  </system-out>",
        "<system-err></system-err>",
        "</testcase>",
        '<testcase name="b">',
        "<system-out><![CDATA[a",
        " \r",
        "<b>]",
        "  ]]></system-out>",
        "</testcase>",
    ),
    "XML with what is no text": junit(*JUNIT_CASES[:2], "<system-out>a", "]]></system-out>", "</testcase>"),
    "XML with a test in an output": junit(
        *JUNIT_CASES[:2], "<system-out><![CDATA[", "<testcase >", "]]></system-out>", "</testcase>"
    ),
    "XML of suites that stand once more": junit(
        '<testsuite name="a">', '<testcase name="b"/>', "</testsuite>", '<testcase name="a"/>', name="TAP Tests"
    ),
    "XML with text out of place": junit("a", *JUNIT_CASES, "b"),
    "XML of pytest": junit(*JUNIT_CASES, tests=4, name="pytest"),
    "XML with steps": junit(
        '<testcase name="a"/>', '<testcase name="a > b"/>', '<testcase name="a > b > c"/>', tests=3, name="deno test"
    ),
    "XML and a cut": junit(*JUNIT_CASES)[:-30],
    "XML twice": junit(*JUNIT_CASES) * 2,
    "frames": node_tap(0, 1, 2, 3, 4, 5),
    "frames of two files": node_tap(0, 1, 2, 3, 4, 5, files=2),
    "frames that go back": node_tap(0, 1, 2, 1, 4, 5),
    "frames and a print": node_tap(0, 1, 2, 3).replace("\x1b[G\n", "\x1b[G1> press.test.js\nhot\n\n", 1),
    "a document": MOCHA_DOCUMENT,
    "a document with carriage returns": MOCHA_DOCUMENT.replace("\n", "\r\n"),
    "a document that breaks off": MOCHA_DOCUMENT.removesuffix("}\n"),
    "a document with a brace within": MOCHA_DOCUMENT.replace("  ]\n", "  ]\n}\n", 1),
    "a document twice": MOCHA_DOCUMENT * 2,
    "outline": OUTLINE + OUTLINE + RSPEC_END.format(n=8),
    "outline in random order": "\nRandomized with seed 4\n" + OUTLINE + RSPEC_END.format(n=4),
    "outline with a step too deep": "\nPress\n  prints\n      in two colours\n  stops\n" + RSPEC_END.format(n=2),
    "outline with a failure": OUTLINE + "    jams (FAILED - 1)\n  is mended\n" + OUTLINE + RSPEC_END.format(n=9),
    "outline with an empty line in it": "\nPress\n  prints\n\n  stops\n  rests\n" + RSPEC_END.format(n=3),
    "outlines of groups": "\nPress\n  prints\n\nFeeder\n  feeds (twice)\n  when empty\n    rests\n\n..F\n  stops\n" * 3
    + RSPEC_END.format(n=12),
    "outline and what stands at the margin": "".join(
        f"\n{line}\n  prints\n  stops\n"
        for line in ("Press", "F.F", "Top 3", "Failures", "Finished in time", "Run options:", "\x1b[1mPress", "Press\r")
    )
    + RSPEC_END.format(n=15),
    "outline in blocks of text": ("\nPress\n  prints\n    WARNING: a\n\n\nInk\n  dries\n> a@1.0.0 b\n> c\n" + OUTLINE)
    * 3
    + RSPEC_END.format(n=18),
    "outline with carriage returns": OUTLINE.replace("\n", "\r\n") + RSPEC_END.format(n=4),
    "pages": PAGE,
    "pages with names": page("a &amp; b", "", "\\ { # }", "ü", "moveProgressBar(&#39;9.0&#39;)", "a/b", "c"),
    "pages with a step in a name": PAGE.replace(">d<", ">moveProgressBar('1.0')<"),
    "pages with a script in a name": PAGE.replace(">d<", f">{STEP[:-1]}<"),
    "pages with a tag in a name": PAGE.replace(">d<", "><b>d</b><"),
    "pages with a test glued to a step": PAGE.replace(STEP, "hot" + STEP),
    "pages with a marker": PAGE.replace(STEP, "FATAL: a\n" + STEP),
    "pages with a result less": PAGE.replace(example("80.0", "d"), example("80.0", "d").splitlines(keepends=True)[0]),
    "pages with a step less": PAGE.replace(STEP, ""),
    "pages with steps in another order": PAGE.replace(STEP, STEP.replace("80.0", "90.0")),
    "pages with carriage returns": PAGE.replace("\n", "\r\n"),
    "pages with a colour": PAGE.replace(">d<", ">\x1b[1md<"),
    "pages with half a sequence": PAGE.replace(">d<", ">d\x1b[<"),
    "pages with an open account": PAGE.replace(
        STEP, '    <dd class="example failed">\n      <span class="failed_spec_name">jams</span>\n' + STEP
    ),
    "pages with an error": PAGE.replace(
        "  </dl>\n", "An error occurred in a `before(:context)` hook.\nhot\n" + example("99.0", "f") + "cold\n  </dl>\n"
    ),
    "pages without groups or results": "  <title>RSpec results</title>\nhot\n" + example("50.0", "a") + "cold\n",
    "pages that are closed too early": PAGE.replace(STEP, PAGE[PAGE.index("<script", -300) :] + STEP),
    "pages twice": PAGE * 2,
    "pages that are over": PAGE + example("99.0", "f"),
    "pages that go on": PAGE.replace("5 examples", "6 examples") + example("100.0", "f"),
    "pages and a cut": PAGE[: PAGE.index("80.0") + 30],
    "files": CLASSIC,
    "files in time": classic(*FILES, time=" 1.2s"),
    "files with a time of their own": CLASSIC.replace("3/3\n", "3/3 805ms\n"),
    "files, too narrow with a time": CLASSIC.replace("e.js ......", "e.js ").replace("4/4\ng", "4/4 805ms\ng"),
    "files, too narrow": CLASSIC.replace("e.js .", "e.js "),
    "files with long names": classic(*((letter * n, 3, 3) for n in range(47, 56) for letter in "ab")),
    "files with long names in time": classic(
        *((letter * n, 3, 3) for n in range(47, 56) for letter in "ab"), time=" 1s"
    ),
    "files with long names, and too many dots": classic(*(("a" * n, 3, 3) for n in (55, 56, 57))).replace(
        " .. ", " ... "
    ),
    "files that skipped": SKIPPED,
    "files that skipped, names left out": classic(*SKIPPING, told="  Skipped: 2\n"),
    "files that skipped, a name more": SKIPPED.replace("    b\n\nd", "    b\n    c\n\nd"),
    "files that skipped, a name more behind a blank": SKIPPED.replace("    b\n\nd", "    b\n\n    c\n\nd"),
    "files that skipped more": classic(*SKIPPING, told="  Skipped: 3\n    a\n"),
    "files that counted something else": CLASSIC.replace("4/4", "3/4", 1).replace("5/5", "6/5", 1),
    "files that skipped none": classic(*FILES, told="  Skipped: 0\n\n\n"),
    "files that skipped twice": classic(*SKIPPING, told="  Skipped: 1\n    a\n  Skipped: 1\n    b\n"),
    "files with names like files": classic(*SKIPPING, told=f"  Skipped: 2\n    a\n    b {'.' * 49} 3/3\n\n"),
    "files with names of blanks": classic(*SKIPPING, told="  Skipped: 2\n    a\n     \n      b\n"),
    "files with colours": CLASSIC.replace("3/3\n", "\x1b[1m3/3\x1b[0m\n", 3).replace("5/5\n", "5/5\x1b[0G\n"),
    "files with names drawn over": SKIPPED.replace("    b\n\nd", "    \x1b[0Gb\n\nd"),
    "files drawn over": CLASSIC.replace("d.js", "..\x1b[0Gd.js"),
    "files with names not in ASCII": CLASSIC.replace("d.js", "ö.js"),
    "files with blanks in their names": CLASSIC.replace("d.js", "a b.js", 1).replace("...", "..", 3),
    "files with a failure": CLASSIC.replace("e.js", "  a > b\n  not ok c\n    -1\n    +2\n\ne.js"),
    "files with one to do": CLASSIC.replace("e.js", "  ~ a\n      b\n\ne.js"),
    "files with parents alone": CLASSIC.replace("e.js", "  a > b\ne.js"),
    "files with text": CLASSIC.replace("e.js", "hot\nFATAL: a\ne.js").replace("b.js", "Bail out! a\nb.js"),
    "files with carriage returns": CLASSIC.replace("\n", "\r\n"),
    "files with a total between": CLASSIC.replace("d.js ..", "total ."),
    "files with a total that skipped": SKIPPED.replace("d.js ..", "total ."),
    "files behind the total": CLASSIC + CLASSIC,
    "files in a report that goes on": CLASSIC.replace("  21 passing", "f.js " + "." * 50 + " 3/3\n  21 passing"),
    "files and a cut": CLASSIC[:300],
    "files below text": "hot\n\n" * 3 + CLASSIC,
    "a duration without a whole number": "✔ a (0.5ms) # TODO\n✔ b (.5ms)\n✔ c (1ms)\n",
    "go, a test that is paused": GO_PAUSED,
    "go, a test that goes on": GO_PAUSED.replace("=== RUN   TestA/b\n", "=== CONT  TestA\n=== RUN   TestA/b\n", 1),
    "go, a subtest that begins twice": GO_PAUSED.replace("=== PAUSE TestA\n", "=== RUN   TestA/b\n"),
    "go, a test that begins later than it is named": GO_PAUSED.replace("=== PAUSE TestA\n", "=== CONT  TestA/b\n"),
    "go events of an open test with a quotation mark": go_packages(
        "p", tests=go("run", "p", Test='A/"') + go_test('A/"', "p") * 2 + go_test("B", "p")
    ),
    "gotestsum, packages": "✓  shop/a (1ms)\n✓  shop/b (2ms)\n✓  shop/c (3ms)\n\nDONE 3 tests in 1.000s\n",
    "pytest, an odd share": PYTEST_HEAD + "\na.py::test_a PASSED [ 50%]\na.py::test_b PASSED [5 0%]\n",
    "pytest, no line below the head": PYTEST_HEAD + "a.py::test_a PASSED [ 50%]\n" * 3 + "plugins: press-1.0\n",
    "pytest, letters before the root": PYTEST_HEAD.replace("rootdir: /", "") + "a.py ... [ 50%]\n" * 3,
    "unittest, a test twice": ("test_a (press.Test)\nPrints. ... ok\n" * 3) + UNITTEST_END.format(n=3),
    "unittest, one after another": "".join(f"test_{x} (press.Test) ... ok\n" for x in "abc") + UNITTEST_END.format(n=3),
    "PHPUnit, a title that stands alone": "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n ✘ A\n\nB\n\n ✔ C\n",
    "Vitest, a test under no file": "\n RUN  v4.1.12 /\n\n   ✓ a 2ms\n ✓ b.test.ts (1 test) 2ms\n   ✓ c 2ms\n",
    "Vitest, a tick without a blank": "\n RUN  v4.1.12 /\n\n ✓ b.test.ts (2 tests) 2ms\n   ✓ c 2ms\n   ✓d 2ms\n",
    "Vitest, a name without a path": "\n RUN  v4.1.12 /\n\n ✓ a.ts > b 2ms\n ✓ a.ts > c 2ms\n ✓ a.ts d 2ms\n",
    "jest, a tree that is askew": "PASS a.test.js\n  ✓ b (1 ms)\n   ✓ c (1 ms)\n  ✓ d (1 ms)\n\nPASS b.test.js\n",
    "jest, files alone": "".join(f"PASS {x}.test.js\n" for x in "abcdefghijklmnopqrstuvwxyz"),
    "ctest": "Test project /press\n" + "".join(CTEST.format(n=n) for n in (1, 2, 3, 4, 5)),
    "ctest, another name": "Test project /press\n"
    + "".join(CTEST.format(n=n) for n in (1, 2, 3))
    + CTEST.format(n=4).replace("#4: ink4", "#4: inkpot"),
    "messages": messages("a", "b", "c d") + messages("e"),
    "messages with a number of tests": "##teamcity[testCount count='3' flowId='7']\n" + messages("a", "b", "c") + "d\n",
    "messages of Python": messages("a", "b", "c", order=NAME_LAST),
    "messages in both orders": messages("a", "b") + messages("c", "d", order=NAME_LAST) + messages("e"),
    "messages without a flow": messages("a", "b", "c").replace(" flowId='7'", ""),
    "messages without durations": messages("a", "b", "c").replace(" duration='1'", ""),
    "messages with escapes": messages(
        "|'a|'", "||", "b|", "#", "##", "c ##teamcity[", "|##teamcity[", "a|0x0023#", "d"
    ),
    "messages that are not UTF-8": messages("a", "\x85\xff", "b"),
    "messages with carriage returns": messages("a", "b", "c").replace("\n", "\r\n") + messages("d\r", "e"),
    "messages with colours": messages("a", "b\x1b[0m", "c", "d").replace("name='c'", "name='c'\x1b[1m"),
    "messages outside of every suite": MESSAGE_PAIR.format("a") * 3 + messages("b", "c"),
    "messages in a suite of another flow": "##teamcity[testCount count='3' flowId='7']\n"
    + SUITE.replace("'7'", "'8'").format("press", "".join(map(MESSAGE_PAIR.format, "abc")) + "hm\n"),
    "messages with half a sequence": messages("a", "b\x1b[", "c"),
    "messages with a line break": messages("a", "b\nc", "d"),
    "messages of two flows": messages("a", "b", "c", "d").replace("name='b' flowId='7'", "name='b' flowId='8'"),
    "messages of a flow in a flow": messages("a", "b", "c").replace(
        "##teamcity[testSt", "##teamcity[flowStarted flowId='9' parent='7']\n##teamcity[testSt", 1
    )
    + messages("d", "e").replace("'7'", "'9'"),
    "messages that do not fit": messages("a", "b", "c", "d").replace("Finished name='b'", "Finished name='c'"),
    "messages with a key twice": messages("a", "b", "c").replace("name='b'", "name='b' name='b'"),
    "messages with a failure": messages("a", "b", "c", "d").replace(
        "##teamcity[testFinished name='b'",
        "hm\n##teamcity[testFailed name='b' flowId='7']\n##teamcity[testFinished name='b'",
    ),
    "messages of a test that is ignored": messages("a", "b", "c", "d").replace(
        "##teamcity[testStarted name='b' flowId='7']\n", "##teamcity[testIgnored name='b' flowId='7']\n"
    ),
    "messages of a test that is ignored, and later ends": messages("a", "b", "c").replace(
        "##teamcity[testStarted", "##teamcity[testIgnored name='c' flowId='7']\n##teamcity[testStarted", 1
    )
    + "##teamcity[testFinished name='c' flowId='7']\n",
    "messages of suites": SUITE.format("shop", messages(*"ab") + messages("c") + SUITE.format("d", messages("e"))),
    "messages of suites that stay open": messages("a")
    + SUITE.format("shop", messages(*"bc")) * 2
    + messages(*"de")[:-70],
    "messages of a suite that another ends": SUITE.format(
        "shop", SUITE.format("press", "").replace("press", "inks", 1) * 2
    ),
    "messages of suites without a test": SUITE.format(
        "shop", "##teamcity[testIgnored name='a' flowId='7']\n" + SUITE.format("b", "") * 3
    )
    + "##teamcity[testFinished name='a' flowId='7']\n",
    "messages and a cut": messages(*"abcdef")[:-90],
    "text": "a\nb\n\nc\n \nWARNING: d\ne\x1b[1m\n> f\ng\r\n" * 3,
    "text before a report": "a\n> b@1.0.0 test\n> c\nd\n\ne\nok 1 - f\n1..1\n",
    "dots": "....\n....\n....\n..X.\n....\n..\n",
}


def read(data: bytes, size: int, exit_code: int) -> Transcript:
    """The transcript of a stream in pieces."""
    step = size or max(1, len(data))
    return read_streams(
        [("stdout", [data[i : i + step] for i in range(0, len(data), step)])], exit_code=exit_code, dialect="auto"
    )


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A way to close all lanes."""
    return lambda: close_lanes(monkeypatch)


def close_lanes(patch: pytest.MonkeyPatch) -> None:
    """From here on each line is read as such."""

    class Closed(runs.Runs):
        def __init__(self, block: bytes, *, closed: bool = False) -> None:
            super().__init__(block, closed=True)

    patch.setattr(reader, "Runs", Closed)
    patch.setattr(idle, "Runs", Closed)
    patch.setattr(reader, "MANY_LINES", 1 << 30)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("exit_code", [0, 1])
def test_the_slow_path_reads_the_same(
    name: str, exit_code: int, slowly: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = STREAMS[name].encode()
    readings = [read(data, size, exit_code) for size in (0, 1, 13, 40)]
    # A lane for lines of any kind then sees marks too.
    monkeypatch.setattr(runs, "PLAIN_REACH", len(data) + 1)
    readings.append(read(data, 0, exit_code))
    slowly()
    slow = read(data, 0, exit_code)
    assert all(reading == slow for reading in readings)


def test_some_stream_takes_each_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: set[str] = set()
    for machine in MACHINES:
        run = machine.run

        def counted(self: object, *args: int, run: Callable[..., int] = run, name: str = machine.__name__) -> int:
            count = run(self, *args)
            if count:
                taken.add(name)
            return count

        monkeypatch.setattr(machine, "run", counted)
    for stream in STREAMS.values():
        read(stream.encode(), 0, 0)
    assert taken == {machine.__name__ for machine in MACHINES}


NUMBERS = st.integers(1, 6)
PARTS = st.one_of(
    st.sampled_from(
        [
            junit(*JUNIT_CASES),
            *(f"{line}\n" for line in JUNIT_CASES),
            "<system-out>\n",
            "</system-out>\n",
            "<system-err><![CDATA[",
            "]]></system-err>\n",
            "<failure>",
            "]]>",
            "a\n",
        ]
    ),
    st.builds(lambda n: f"ok {n} - a\n", NUMBERS),
    st.builds(lambda n: f"ok {n} - a\nok {n + 1} - b\nok {n + 2} - c\n", NUMBERS),
    st.sampled_from(["ok - a\n", "ok a\nok b\n", "ok - a\nok - b > c\nok - d\n", "ok\n"]),
    st.builds(lambda n: unit("a", n), NUMBERS),
    st.builds(lambda n: unit("a", n) + unit("b", n + 1), NUMBERS),
    st.builds(lambda n: unit("a", n, indent="    "), NUMBERS),
    st.sampled_from(
        ["\nPress\n  prints\n", "\nInk\n  dries\n    fast (soon)\n  keeps\n", " \n", "\n\n", "F\n", "Pending: 1\n"]
    ),
    st.sampled_from(["\n", "Press\n", "  prints\n", "    well\n", "  jams (FAILED - 1)\n", RSPEC_END.format(n=2)]),
    st.sampled_from([YAML, "not ok 2 - d\n" + YAML]),
    st.sampled_from(
        [example("50.0", "a") * 2, PAGE, PAGE[:60], STEP, '    <dd class="example failed">\n', "</html>\n"]
    ),
    st.sampled_from([CLASSIC, CLASSIC[:120], "  Skipped: 2\n", "    a\n", CLASSIC[CLASSIC.index("total") :]]),
    st.sampled_from(["1..3\n", "# x\n", "not ok 2 - d\n", "  ---\n", "  ...\n", "# Subtest: s\n", "    1..1\n", "\n"]),
    st.sampled_from(
        ["✔ a (1ms)\n", "  ✔ a (1ms)\n", "▶ s\n", "✔ s (1ms)\n", "✖ b (1ms)\n", "....\n", "TAP version 13\n"]
    ),
)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.lists(PARTS, max_size=12), st.sampled_from([0, 1]), st.integers(0, 30))
def test_any_stream_is_read_the_same_without_lanes(parts: list[str], exit_code: int, size: int) -> None:
    data = "".join(parts).encode()
    quick = read(data, size, exit_code)
    with pytest.MonkeyPatch.context() as patch:
        close_lanes(patch)
        assert read(data, 0, exit_code) == quick


CORPUS = Path(__file__).resolve().parents[2] / "conformance" / "v3"
OUTPUTS = [path.read_bytes() for path in sorted(CORPUS.glob("*/stdout.*")) if path.stat().st_size < 1 << 15]
FOREIGN = (
    b"",
    b"text",
    b"ok 1 - a",
    b"\x1b[1ma\x1b[0m",
    b"FATAL: a",
    b"  two",
    b"    four",
    b"(a)",
    b"a\rok 2",
    b"> a",
)


def damaged(output: bytes, chance: random.Random) -> bytes:
    """An output with lines repeated, missing, in another's place, or of another program."""
    lines = output.split(b"\n")
    for _ in range(chance.choice((1, 2, 3, 6))):
        at, end = sorted(chance.randrange(len(lines) + 1) for _ in range(2))
        end = min(end, at + 4)
        match chance.randrange(5):
            case 0 | 1:
                lines[at:end] = lines[at:end] * chance.choice((2, 3, 6))
            case 2:
                lines.insert(at, chance.choice(FOREIGN))
            case 3:
                del lines[at:end]
            case _:
                lines[at:end] = [line[: len(line) // 2] + line[len(line) // 2 + 1 :] for line in lines[at:end]]
    return b"\n".join(lines)


def compare_damaged(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read so many damaged outputs of the corpus with lanes and without."""
    chance = random.Random(count)  # noqa: S311 - the same damage every time
    monkeypatch.setattr(runs, "SHORTEST_RUN", 4)
    data = [damaged(chance.choice(OUTPUTS), chance) for _ in range(count)]
    quick = []
    for at, each in enumerate(data):
        # Where a block ends makes no difference either.
        for room in (reader, idle):
            monkeypatch.setattr(room, "BLOCK_BYTES", (1 << 18, 300, 60)[at % 3])
        quick.append(read(each, 0, 1))
    close_lanes(monkeypatch)
    for each, reading in zip(data, quick, strict=True):
        assert read(each, 0, 1) == reading, each


def test_a_damaged_output_is_read_the_same_without_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_damaged(300, monkeypatch)


@pytest.mark.soak
def test_many_damaged_outputs_are_read_the_same_without_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_damaged(6000, monkeypatch)
