"""The script that compares us with others: its marks, and one suite behind our own commands."""

from pathlib import Path

import peers
import pytest
from peers import RAW as RAW_TOOL
from peers import RUNNERS, SUITES, TOOLS, Desk, junit, measured, report
from reading import Failure, Says, Status, counts, marks, names, says

MANY = [Failure(f"test_entry[{n}]", frozenset({f"{1000 + n}"})) for n in range(12)]
RAW = b"".join(b"FAILED test_entry[%d] - assert %d == 0\n" % (n, 1000 + n) for n in range(12))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9 failed, 60 passed in 0.03s", Says.RED),
        ("60 passed, 1 error in 0.03s", Says.RED),
        ("FAILED (failures=4)", Says.RED),
        ("# pass 60\n# fail 6", Says.RED),
        ("ok 1 - adds\nnot ok 2 - rounds", Says.RED),
        ('{"counts":{"failed":2,"passed":68}}', Says.RED),
        ("40 passed in 0.03s\nSegmentation fault", Says.RED),
        ("test_import.py::test_import[file-5] FAILED    [ 10%]\ntest_import.py::test_import[file-6]", Says.RED),
        ("collected 60 items\n\ntest_import.py .....F......", Says.RED),
        ("Failed tests:\n\n✖ adds (1.2ms)", Says.RED),
        ("PASSED: 3 passed; evidence NOT SUFFICIENT, see reasons", Says.UNSURE),
        ("INDETERMINATE: 40 passed; exit code 0", Says.UNSURE),
        ("40 passed in 0.03s", Says.GREEN),
        ("Ran 200 tests in 0.004s\n\nOK", Says.GREEN),
        ("# pass 60\n# fail 0", Says.GREEN),
        ("PASS (0) FAIL (0)", Says.GREEN),
        ("# fail 0\n# cancelled 0", Says.GREEN),
        ("......... [ 66%]", Says.NOTHING),
        ("08:31 depot: retry 2 of 5, errors so far: 3", Says.NOTHING),
        ("", Says.NOTHING),
    ],
)
def test_what_a_text_says(text: str, expected: Says) -> None:
    assert says(text) is expected


def test_a_name_is_no_part_of_a_longer_one() -> None:
    assert names("FAILED test_a.py::test_ten_books - assert", "test_ten_books")
    assert names("test_entry[12], test_entry[1]", "test_entry[1]")
    assert not names("test_ten_books_of_200_grams", "test_ten_books")
    assert not names("", "test_ten_books")


@pytest.mark.parametrize(
    "text", ["3,000 failed", "3000 tests failed", "# fail 3000", '"failed":3000,', "(failures=3000)"]
)
def test_a_count_is_found(text: str) -> None:
    assert counts(text, 3000)
    assert not counts(text, 300)
    assert not counts(text, 0)


def test_whole_output_hides_nothing() -> None:
    found = marks(RAW, 1, MANY, RAW, 1)
    assert (found.says, found.named, found.shown, found.facts, found.status, found.hidden) == (
        *(Says.RED, 12, 12, 12),
        *(Status.KEPT, False),
    )


def test_some_failures_without_their_number_hide_the_others() -> None:
    part = RAW[: RAW.index(b"FAILED test_entry[3]")]
    assert marks(part, 1, MANY, RAW, 1).hidden
    told = marks(part + b"12 failed\n", 1, MANY, RAW, 1)
    assert (told.named, told.shown, told.hidden) == (3, 3, False)


def test_a_failed_run_that_reads_as_green_or_as_nothing_is_hidden() -> None:
    for text in (b"40 passed", b"", b"done"):
        assert marks(text, 139, [], b"40 passed", 139).hidden
        assert not marks(text, 0, [], b"40 passed", 0).hidden
    assert not marks(b"INDETERMINATE: 40 passed", 139, [], b"40 passed", 139).hidden


def test_what_becomes_of_the_exit_status() -> None:
    assert [marks(b"", status, [], b"", 139).status for status in (139, 255, 0)] == list(Status)
    assert [marks(b"", status, [], b"", 0).status for status in (0, 1)] == [Status.KEPT, Status.CHANGED]


def test_colours_are_looked_through_and_facts_are_the_runners() -> None:
    failure = Failure("test_fee", frozenset({"4400", "4401"}))
    found = marks(
        b"\x1b[31mFAILED\x1b[0m \x1b[1mtest_fee\x1b[0m 4\x1b[31m400", 0, [failure], b"FAILED test_fee 4400", 1
    )
    assert (found.says, found.named, found.shown, found.facts) == (Says.RED, 1, 1, 1)


def test_a_junit_report_names_what_failed() -> None:
    """A number in the path of the suite's own folder is no fact."""
    at = Desk(Path("/srv/4402/suite"), {})
    case = '<testcase name="{}"><{} message="{}">{}</{}></testcase>'
    cases = (
        case.format("test_fee[1]", "failure", "assert 4400 == 4401", "", "failure"),
        case.format(
            "test_tariffs", "error", "collection failure", "\nE   no SURCHARGE_2027 in /srv/4402/suite\n", "error"
        ),
        case.format("/srv/app/fees.test.mjs", "failure", "test failed", "line 1234", "failure"),
        '<testcase name="test_green"/>',
    )
    assert junit(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>", at) == [
        Failure("test_fee[1]", frozenset({"4400", "4401"})),
        Failure("test_tariffs", frozenset({"2027"})),
        Failure("fees.test.mjs", frozenset()),
    ]


def test_every_suite_has_a_runner_and_every_tool_a_command() -> None:
    assert {path.parent.name for path in SUITES.glob("*/*")} == set(RUNNERS)
    assert all("{command}" in tool.line or tool.line.startswith("node ") for tool in TOOLS)


def test_a_command_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "LIMIT_SECONDS", 0.2)
    assert peers.desk(tmp_path / "desk").run("echo begun; sleep 600 | cat") == (b"begun\n", 124)
    assert peers.desk(tmp_path / "desk").run("kill -9 $$") == (b"", 137)


def test_our_commands_hide_nothing_of_a_file_that_does_not_load(tmp_path: Path) -> None:
    ours = [tool for tool in TOOLS if tool is RAW_TOOL or tool.line.startswith("context-firewall ")]
    rows = list(measured(SUITES / "unittest" / "unloadable", tmp_path / "desk", ours))
    assert len(rows) == 3
    for row in rows:
        found = row.marks
        assert (found.says, found.named, found.failures, found.status, found.hidden) == (
            Says.RED,
            1,
            1,
            Status.KEPT,
            False,
        )
        assert found.shown == found.facts > 0
    text = "\n".join(report(rows, whole=True))
    assert "## unittest: unloadable" in text
    assert "| context-firewall, brief | " in text
