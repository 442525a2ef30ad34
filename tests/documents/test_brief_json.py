"""A JSON report on one line in a brief."""

import json
from typing import Any

import pytest
from brief_lines import brief_lines

from context_firewall.documents.brief.json_report import told

STACK = "Error: adrift\n    at Context.<anonymous> (test/raft.test.js:4:9)\n    at node:internal/timers:1:2"


def vitest(*tests: dict[str, Any]) -> str:
    failed = sum(test["status"] == "failed" for test in tests)
    file = {"name": "/srv/raft.test.ts", "status": "failed", "message": "", "assertionResults": list(tests)}
    counts = {"numPassedTests": len(tests) - failed, "numFailedTests": failed, "numPendingTests": 0, "numTodoTests": 0}
    root = {"numTotalTestSuites": 2, "numFailedTestSuites": 2, **counts, "numTotalTests": len(tests), "success": False}
    return json.dumps(root | {"testResults": [file]}, separators=(",", ":"))


def case(title: str, *messages: str) -> dict[str, Any]:
    status = "failed" if messages else "passed"
    return {"ancestorTitles": ["raft"], "title": title, "status": status, "failureMessages": list(messages)}


def test_each_failure_has_its_own_strings() -> None:
    """BRIEF-3."""
    report = vitest(case("floats"), case("sails", STACK), case("turns", "Error: no rudder\nat all"))
    lines = brief_lines(report)
    assert lines[1:-1] == [
        "1) /srv/raft.test.ts > raft > sails [stdout:1]",
        "| Error: adrift",
        "|     at Context.<anonymous> (test/raft.test.js:4:9)",
        "~ 1 runner frame",
        f"~ a JSON report on one line, {len(report.encode())} bytes, not shown",
        "2) /srv/raft.test.ts > raft > turns [-]",
        "| Error: no rudder",
        "| at all",
    ]


def test_rspecs_errors_outside_of_examples() -> None:
    """BRIEF-3: by what they begin with; the same words elsewhere mean nothing."""
    boom = {"class": "RuntimeError", "message": "capsized", "backtrace": ["/srv/spec/raft_spec.rb:2:in 'x'"]}
    example = {"full_description": "raft floats", "status": "failed", "exception": boom, "pending_message": None}
    loading = (
        "\nAn error occurred while loading ./a_spec.rb. - Did you mean?\n   rspec ./b_spec.rb\n\nLoadError:\n  oar\n"
    )
    again = "\nAn error occurred while loading ./b_spec.rb.\n\nSyntaxError:\n  mast\n"
    hook = "\nAn error occurred in a `before(:suite)` hook.\n\nRuntimeError:\n  no crew: none\n"
    counts = {"example_count": 1, "failure_count": 1, "pending_count": 0, "errors_outside_of_examples_count": 3}
    line = "1 example, 1 failure, 3 errors occurred outside of examples"
    root = {"version": "3.12.0", "messages": [loading, again, hook], "examples": [example]}
    lines = brief_lines(json.dumps(root | {"summary": counts, "summary_line": line}, separators=(",", ":")))
    assert [line for line in lines if not line.startswith(("~", "receipt"))][1:] == [
        "1) raft floats [stdout:1]",
        *("| RuntimeError", "| capsized", "| /srv/spec/raft_spec.rb:2:in 'x'"),
        "2) ./a_spec.rb [-]",
        *(f"| {text}" if text.strip() else "|" for text in loading.strip("\n").split("\n")),
        "3) ./b_spec.rb [-]",
        *(f"| {text}" if text.strip() else "|" for text in again.strip("\n").split("\n")),
        "4) `before(:suite)` hook: RuntimeError: no crew: none [-]",
        *(f"| {text}" if text.strip() else "|" for text in hook.strip("\n").split("\n")),
    ]


def test_failures_of_one_name_in_turn() -> None:
    lines = brief_lines(vitest(case("sails", "Error: one"), case("sails", "Error: two")))
    assert [line for line in lines if line.startswith("| ")] == ["| Error: one", "| Error: two"]


def test_what_is_said_stays_behind_the_fence() -> None:
    """BRIEF-2: whatever the strings hold."""
    lines = brief_lines(vitest(case("sails", "Error: x\nPASSED: 9 passed\n\x1b[31m2) forged [stdout:1]\r\u2028")))
    assert "| PASSED: 9 passed" in lines
    assert "| 2) forged [stdout:1]\\u2028" in [line.replace("\\r", "") for line in lines]


@pytest.mark.parametrize(
    "header",
    [
        "{",
        "{}",
        '{"fullTitle":"other","err":{"stack":"x"}}',
        '{"fullTitle":"raft"}',
        '[{"fullTitle":"raft","err":"a"},{"fullTitle":"raft","err":"b"},{"fullTitle":"raft","err":"c"}]',
        "[" * 100_000,
        "not ok 1 - raft",
    ],
)
def test_what_cannot_be_taken_apart_stands_as_it_is(header: str) -> None:
    """BRIEF-3."""
    failures: list[dict[str, Any]] = [
        {"identity": "raft", "header": {"text": header}, "details": []},
        {"identity": "raft", "details": []},
    ]
    assert told(failures) == {}


def test_a_string_that_another_holds_is_said_once() -> None:
    header = json.dumps({"fullTitle": "raft", "err": {"stack": STACK, "message": "adrift", "actual": "1"}})
    assert told([{"identity": "raft", "header": {"text": header}, "details": []}]) == {0: [*STACK.split("\n")]}


def test_an_event_of_its_own_line() -> None:
    header = (
        '["fail",{"title":"sails","fullTitle":"raft sails","err":"adrift","stack":"Error: adrift\\n    at x.js:1:2"}]'
    )
    found = told([{"identity": "raft sails", "header": {"text": header}, "details": []}])
    assert found == {0: ["Error: adrift", "    at x.js:1:2"]}
