"""Node's dot reporter: made-up reports, whole and damaged."""

import pytest

from context_firewall.transcript.dialects.node_dot import DIALECT, NodeDot
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import bare

ALWAYS = {Doubt.COUNTS_UNCONFIRMED, Doubt.COMPLETENESS_UNCONFIRMED}
REPORT = (
    "..X.................\n.XXX\n\nFailed tests:\n\n"
    "✖ pours (1.5ms)\n  Error: dry\n  \n      at pour (t.js:1:2)\n"
    "✖ pot (2.5ms)\n  '1 subtest failed'\n"
    "✖ glows (0.5ms) # some day\n  Error: dark\n"
    "✖ two\nlines (0.5ms)\n  'x'\n"
)


def read(report: str, exit_code: int | None = 1) -> Reading:
    machine = NodeDot("stdout")
    lines = report.encode().split(b"\n")[:-1]
    for number, raw in enumerate(lines, 1):
        machine.line(bare(raw), raw, number)
    reading = machine.close(exit_code)
    assert len(list(reading.kept_lines())) + sum(reading.suppressed.values()) == len(lines)
    return reading


def test_a_report_with_failures() -> None:
    reading = read(REPORT)
    assert reading.doubts == ALWAYS
    assert reading.tally == Tally(20, 2, 0, 1, 23)
    assert [failure.identity for failure in reading.failures] == ["pours", "two\nlines"]
    assert [line.text for line in reading.failures[0].details] == ["  Error: dry", "  ", "      at pour (t.js:1:2)"]
    assert [line.text for line in reading.todo] == ["✖ glows (0.5ms) # some day"]
    assert reading.suppressed[Kind.DERIVED_FAILURE] == 2


def test_green_is_never_proven() -> None:
    reading = read("." * 20 + "\n...\n", 0)
    assert reading.tally.passed == 23
    assert reading.doubts == ALWAYS
    assert reading.has_results


def test_failures_that_are_not_listed_still_count() -> None:
    reading = read("..X.\n", 0)
    assert reading.tally.failed == 1
    assert Doubt.RECAP_CONTRADICTION in reading.doubts


@pytest.mark.parametrize(
    ("report", "doubt"),
    [
        (REPORT.replace(".XXX", "..XX"), Doubt.RECAP_CONTRADICTION),
        (REPORT.replace("✖ pot (2.5ms)\n", ""), Doubt.RECAP_CONTRADICTION),
        ("...\n" + "." * 20 + "\n", Doubt.STRUCTURE_CONTRADICTION),
        ("." * 20 + "\n..\n..\n", Doubt.STRUCTURE_CONTRADICTION),
        (REPORT + "....\n", Doubt.STRUCTURE_CONTRADICTION),
    ],
)
def test_what_does_not_fit_is_doubted(report: str, doubt: Doubt) -> None:
    assert doubt in read(report).doubts


def test_markers_are_never_details() -> None:
    reading = read(REPORT.replace("  Error: dark\n", "  Error: dark\nFATAL: heap\n"))
    assert [line.text for line in reading.fatal_errors] == ["FATAL: heap"]


def test_full_rows_are_read_in_runs() -> None:
    machine = NodeDot("stdout")
    row = b"." * 20 + b"\n"
    assert machine.lane() is None
    machine.line(row[:-1], row[:-1], 1)
    lane = machine.lane()
    assert lane is not None
    block = row * 50 + b"..X\n"
    match = lane.match(block)
    assert match is not None
    assert machine.run(block, 0, match.end(), 2) == 50
    machine.line(b"..X", b"..X", 52)
    assert machine.lane() is None
    assert machine.close(1).tally.passed == 20 * 51 + 2


@pytest.mark.parametrize(("line", "opens"), [("..", True), ("X.X", True), (".", False), ("...!", False), ("", False)])
def test_openings(line: str, opens: bool) -> None:
    assert bool(DIALECT.opening.match(line.encode())) is opens


def test_rows_that_are_drawn_again_are_not_nodes() -> None:
    """DOT-5"""
    rows = ".\n\x1b[2K\x1b[1A\x1b[2K\x1b[G......\n\x1b[2K\x1b[1A\x1b[2K\x1b[G.........\n"
    found = read(rows[rows.index("\n") + 1 :], 0)
    assert not found.has_results
    assert found.tally == Tally()
    assert len(found.unclassified) == 2
    assert read("\x1b[32m..\x1b[39m\n", 0).tally.passed == 2
