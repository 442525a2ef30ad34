"""Where a failure stands: read from the lines of every runner, and true only of files that the project has."""

from typing import Any

import pytest

from context_firewall.documents.failure_places import Place, place_of_failure
from context_firewall.documents.failure_text import failure_message, failure_text


def failure(*lines: str | tuple[str, str], identity: str = "a test") -> dict[str, Any]:
    """A failure whose details are these lines, each perhaps with its category."""
    pairs = [("failure_detail", line) if isinstance(line, str) else line for line in lines]
    details = [
        {"category": category, "line": n, "stream": "stdout", "sha256": "", "text": text}
        for n, (category, text) in enumerate(pairs, 1)
    ]
    return {"identity": identity, "details": details}


def known(*files: str) -> Any:
    return lambda path: path.removeprefix("/srv/") if path.removeprefix("/srv/") in files else None


def frame(text: str) -> tuple[str, str]:
    return "stack_trace", text


@pytest.mark.parametrize(
    ("lines", "file", "line"),
    [
        # pytest, long and short; the innermost frame is the last.
        ([frame("tests/test_a.py:5: "), frame("lib/price.py:7: ValueError")], "lib/price.py", 7),
        (
            [frame("tests/test_a.py:5: in test_a"), frame("/usr/lib/python3.11/ast.py:50: in parse")],
            "tests/test_a.py",
            5,
        ),
        # Python's own.
        ([frame('  File "/srv/tests/test a.py", line 12, in test_a')], "tests/test a.py", 12),
        # Node: TAP, its stack first, then the test's own place; spec.
        (
            ["  location: '/srv/a.test.mjs:4:1'", frame("    Context.<anonymous> (file:///srv/a.test.mjs:9:28)")],
            "a.test.mjs",
            9,
        ),
        (["  location: '/srv/a.test.mjs:4:1'"], "a.test.mjs", 4),
        ([frame("test at a.test.js:2:1")], "a.test.js", 2),
        # jest, vitest, tape, ava.
        (
            [frame("    at Object.toBe (lines/a.test.js:31:11)"), frame("    at b (lines/b.js:3:1)")],
            "lines/a.test.js",
            31,
        ),
        ([frame(" ❯ a.test.ts:5:12")], "a.test.ts", 5),
        (['    at: "/srv/a.test.js:8:32"'], "a.test.js", 8),
        # Go, with the package's folder; a panic's stack.
        (["    fee_test.go:21: got 40, want 45"], "berths/fee_test.go", 21),
        (["charts/chart_test.go:4:2: no required module"], "charts/chart_test.go", 4),
        (["\t/usr/local/go/src/testing/testing.go:1734 +0x21c", "\t/srv/cranes/crane.go:12"], "cranes/crane.go", 12),
        # Rust.
        (["thread 'a' (4711) panicked at src/tables.rs:31:9:"], "src/tables.rs", 31),
        (["  --> src/tables.rs:14:20"], "src/tables.rs", 14),
        # bats, Perl, C++, Ruby, PHP.
        (["# (in test file test/tea.bats, line 12)"], "test/tea.bats", 12),
        (["#   at t/tea.t line 5."], "t/tea.t", 5),
        (["press.cpp:77: no cork"], "press.cpp", 77),
        (["# ./spec/tea_spec.rb:9:in `block'"], "./spec/tea_spec.rb", 9),
        (["/srv/tests/TeaTest.php:14"], "tests/TeaTest.php", 14),
    ],
)
def test_every_runners_places(lines: list[Any], file: str, line: int) -> None:
    """REPORT-2."""
    found = place_of_failure(failure(*lines, identity="example.org/quay/berths TestFee"), known(file))
    assert found == Place(file, line)


@pytest.mark.parametrize(
    ("identity", "file"),
    [
        ("tests/test_a.py::test_b", "tests/test_a.py"),
        ("a.test.ts > pier > casts off", "a.test.ts"),
        ("lines/a.test.js › fares", "lines/a.test.js"),
        ("src/tables.rs:14:20: mismatched types", "src/tables.rs"),
    ],
)
def test_a_name_may_say_the_file(identity: str, file: str) -> None:
    assert place_of_failure(failure("no place", identity=identity), known(file)) == Place(file, None)


@pytest.mark.parametrize(
    "line",
    ["see README.md:3", "10.0.0.9:4001", "https://example.org:80/a.py", "a.py:0: x", "a.py:12ms", "a.py:1234567890: x"],
)
def test_what_is_no_place_of_a_known_file_is_none(line: str) -> None:
    assert place_of_failure(failure(line), known("a.py")) is None


def test_one_long_line_is_read_once() -> None:
    """P7: hostile text costs no more than its length, and not every line is asked for."""
    asked: list[str] = []
    place_of_failure(failure("x" * 2_000_000, "at " * 300_000, "a:1 " * 300_000), asked.append)
    assert len(asked) <= 401


def test_text_is_printable_and_names_what_is_hidden() -> None:
    """REPORT-1."""
    one = failure(
        ("failure_context", "    def test_a():"),
        "    \x1b[31mred\x1b[0m\a",
        "",
        "      deeper\r",
        ("failure_message", "    E"),
    )
    assert failure_text(one) == "red\\x07\n\n  deeper\nE"
    hidden = {"identity": "a", "region": {"byte_count": 9, "line": 3, "line_count": 2, "stream": "stdout"}}
    assert failure_text(hidden) == "not shown: [stdout:3-4]"
    header = {"identity": "a", "header": {"category": "failed_test", "line": 1, "stream": "stdout", "text": " boom "}}
    assert failure_text(header) == "boom"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a first line", ("failure_message", "E       AssertionError: boom")], "AssertionError: boom"),
        (["  ---", "  duration_ms: 1", "  error: 'expected 7'", "  stack: a", "  ..."], "'expected 7'"),
        (["  ---", "  error: |-", "    expected 7", "    got 5", "  ..."], "expected 7"),
        (["# message: boom"], "boom"),
        ([("failure_message", "  error: |-"), "", "    got 5"], "got 5"),
        ([("failure_message", "E  error: |-")], "error: |-"),
        (["", "    fee_test.go:21: got 40"], "fee_test.go:21: got 40"),
        ([], ""),
    ],
)
def test_one_line_says_why(lines: list[Any], message: str) -> None:
    assert failure_message(failure(*lines)) == message
