"""Node's spec reporter: made-up reports in the shapes of several versions, whole and damaged."""

import random
import time
from collections.abc import Iterator

import pytest

from context_firewall.transcript.dialects.node_grammar import FAIL, PASS, SKIP, titled
from context_firewall.transcript.dialects.node_spec import DIALECT, NodeSpec
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import bare
from context_firewall.transcript.machine import Machine


def totals(tests: int, suites: int, passed: int, failed: int = 0, skipped: int = 0, todo: int = 0) -> str:
    return (
        f"ℹ tests {tests}\nℹ suites {suites}\nℹ pass {passed}\nℹ fail {failed}\nℹ cancelled 0\n"
        f"ℹ skipped {skipped}\nℹ todo {todo}\nℹ duration_ms 81.25\n"
    )


def read(report: str, exit_code: int | None = 0, *, lanes: bool = False) -> Reading:
    machine: Machine = NodeSpec("stdout")
    data = report.encode()
    place = number = 0
    while place < len(data):
        lane = machine.lane() if lanes else None
        match = lane.match(data, place) if lane else None
        if match:
            number += machine.run(data, place, match.end(), number + 1)
            place = match.end()
            continue
        end = data.index(b"\n", place)
        number += 1
        raw = data[place:end]
        if not machine.line(bare(raw), raw, number) and machine.complete:
            # Here a reader takes over; what is left is unclassified, or another report.
            number -= 1
            reading = machine.close(exit_code)
            doubts = reading.doubts | {Doubt.UNCLASSIFIED_EVIDENCE}
            break
        place = end + 1
    else:
        reading = machine.close(exit_code)
        doubts = reading.doubts
    assert len(list(reading.kept_lines())) + sum(reading.suppressed.values()) == number
    return reading._replace(doubts=doubts)


# Node 22 on: errors in the recap only.
LATER = (
    "▶ kettle\n  ✔ boils (3.5ms)\n  ▶ lid\n    ✖ closes (1.25ms)\n  ✖ lid (1.5ms)\n"
    "  ﹣ whistles (0.1ms) # no steam\n  ✖ glows (0.2ms) # some day\n✖ kettle (6.5ms)\n✔ toaster (0.75ms)\n"
    "✖ grill (0.5ms)\n"
    + totals(6, 2, 2, 2, 1, 1)
    + "\n✖ failing tests:\n\ntest at a/kettle.js:4:5\n✖ closes (1.25ms)\n"
    "  AssertionError: lid is open\n  \n  1 !== 2\n\n"
    "test at a/kettle.js:9:5\n✖ glows (0.2ms) # some day\n  Error: dark\n\n"
    "test at a/kettle.js:12:1\n✖ grill (0.5ms)\n  Error: no gas\n      at light (a/grill.js:2:3)\n"
)
# Node 20: errors in their place and in the recap.
EARLIER = (
    "▶ kettle\n  ✖ boils (3.5ms)\n    Error: cold\n        at heat (k.js:1:2) {\n      code: 'E'\n    }\n\n"
    "✖ kettle (4.5ms)\n▶ urn\n  ✖ never ran\n    'cancelled by parent'\n\n✖ urn (1.5ms)\n\n  Error: setup\n\n"
    + totals(2, 2, 0, 1).replace("cancelled 0", "cancelled 1")
    + "\n✖ failing tests:\n\ntest at k.js:1:1\n✖ boils (3.5ms)\n  Error: cold\n      at heat (k.js:1:2) {\n"
    "    code: 'E'\n  }\n\ntest at k.js:7:1\n✖ never ran\n  'cancelled by parent'\n\n"
    "test at k.js:6:1\n✖ urn (1.5ms)\n  Error: setup\n"
)


def test_errors_in_the_recap_belong_to_their_failures() -> None:
    reading = read(LATER, 1)
    assert not reading.doubts
    assert reading.tally == Tally(2, 2, 1, 1, 6)
    assert [failure.identity for failure in reading.failures] == ["kettle > lid > closes", "grill"]
    closes, grill = reading.failures
    assert closes.header is not None
    assert (closes.header.number, closes.header.kind) == (4, Kind.FAILED_TEST)
    assert [line.text for line in closes.details] == [
        "test at a/kettle.js:4:5",
        "  AssertionError: lid is open",
        "  ",
        "  1 !== 2",
    ]
    assert [line.kind for line in grill.details] == [Kind.STACK_TRACE] * 3
    assert [line.text for line in reading.todo] == ["  ✖ glows (0.2ms) # some day"]
    assert reading.suppressed[Kind.DERIVED_FAILURE] == 2


def test_errors_in_their_place_are_taken_once() -> None:
    reading = read(EARLIER, 1)
    assert not reading.doubts
    assert reading.tally == Tally(0, 2, 0, 0, 2)
    assert [failure.identity for failure in reading.failures] == ["kettle > boils", "urn > never ran", "urn"]
    assert [line.number for line in reading.failures[0].details] == [3, 4, 5, 6]
    assert [line.text for line in reading.failures[2].details] == ["  Error: setup"]
    assert reading.suppressed[Kind.DERIVED_FAILURE] == 1


def test_a_flat_report_keeps_kinds_and_counts() -> None:
    reading = read(
        "✔ one (1ms)\n✖ two (2.5ms)\n  error: no\n  expected: 2\n  at t (f.js:4:5)\n" + totals(2, 0, 1, 1), 1
    )
    assert not reading.doubts
    assert [line.kind for line in reading.failures[0].details] == [
        Kind.FAILURE_MESSAGE,
        Kind.ASSERTION,
        Kind.STACK_TRACE,
    ]


@pytest.mark.parametrize("report", [LATER, EARLIER])
def test_colours_and_carriage_returns_change_nothing(report: str) -> None:
    plain = read(report, 1)
    painted = read("".join(f"\x1b[31m{line}\x1b[39m\r\n" for line in report.splitlines()), 1)
    assert painted.doubts == plain.doubts
    assert painted.tally == plain.tally
    assert [failure.identity for failure in painted.failures] == [failure.identity for failure in plain.failures]


@pytest.mark.parametrize(
    ("glyph", "text", "name", "reason"),
    [
        (PASS, "a (1ms)", "a", None),
        (PASS, "a (5ms) (0.25ms)", "a (5ms)", None),
        (PASS, "a # SKIP (0.25ms)", "a # SKIP", None),
        (PASS, "a  (0.25ms) # later # perhaps", "a ", "later # perhaps"),
        (FAIL, "a (soon) (1e-7ms) # TODO", "a (soon)", "TODO"),
        (SKIP, "a (0.1ms) # takes (5ms)", "a", "takes (5ms)"),
        (FAIL, "✔ b (2ms) x (1ms)", "✔ b (2ms) x", None),
    ],
)
def test_titles(glyph: bytes, text: str, name: str, reason: str | None) -> None:
    title = titled(glyph, text.encode())
    assert title.timed
    assert title.name.decode() == name
    assert (None if title.reason is None else title.reason.decode()) == reason


def test_names_with_newlines() -> None:
    report = (
        "▶ tall\nsuite\n  ✔ two\nlines (1ms)\n✔ tall\nsuite (2ms)\n✖ three\nlong\nlines (1ms)\n"
        + totals(2, 1, 1, 1)
        + "\n✖ failing tests:\n\ntest at n.js:1:1\n✖ three\nlong\nlines (1ms)\n  Error: x\n"
    )
    reading = read(report, 1)
    assert not reading.doubts
    assert [failure.identity for failure in reading.failures] == ["three\nlong\nlines"]


@pytest.mark.parametrize("line", ["FATAL: heap", "TIMEOUT: 5 s", "WARNING: odd", "ℹ FATAL: heap"])
def test_markers_are_kept_wherever_they_stand(line: str) -> None:
    reading = read(f"✔ a (1ms)\n{line}\n" + totals(1, 0, 1))
    assert [kept.text for kept in (*reading.fatal_errors, *reading.timeouts, *reading.warnings)] == [line]
    assert not reading.doubts


def test_a_file_that_dies_explains_itself() -> None:
    late = 'ℹ Error: Test "a" at f.js:1:1 generated asynchronous activity after the test ended. It threw "late".\n'
    report = (
        f"✔ a (1ms)\n{late}✖ f.js (9ms)\n"
        + totals(2, 0, 1, 1)
        + "\n✖ failing tests:\n\n✖ f.js (9ms)\n  'test failed'\n"
    )
    reading = read(report, 1)
    assert not reading.doubts
    assert [line.number for line in reading.failures[0].details] == [2, 16]
    elsewhere = read(late + "✔ a (1ms)\n" + totals(1, 0, 1))
    assert elsewhere.suppressed[Kind.PROGRAM_OUTPUT] == 1


def test_a_file_that_dies_leaves_its_parents_open() -> None:
    report = "▶ a\n  ✔ b (1ms)\n✖ f.js (9ms)\n" + totals(2, 0, 1, 1) + "\n✖ failing tests:\n\n✖ f.js (9ms)\n  {}\n"
    assert not read(report.format("'test failed'"), 1).doubts
    assert Doubt.STRUCTURE_CONTRADICTION in read(report.format("Error: x"), 1).doubts


def test_coverage_is_information_and_its_threshold_an_error() -> None:
    report = (
        "✔ a (1ms)\n" + totals(1, 0, 1) + "ℹ Error: 41.5% line coverage does not meet threshold of 90%.\n"
        "ℹ start of coverage report\nℹ a.js | 41.5 | \nℹ end of coverage report\n"
    )
    reading = read(report, 1)
    assert reading.suppressed[Kind.INFORMATIONAL] == 3
    assert len(reading.fatal_errors) == 1


@pytest.mark.parametrize(
    ("report", "doubt"),
    [
        ("✔ a (1ms)\n", Doubt.COMPLETENESS_UNCONFIRMED),
        ("✔ a (1ms)\n✔ b (1ms)\n" + totals(1, 0, 1), Doubt.AGGREGATE_CONTRADICTION),
        ("✔ a (1ms)\nℹ pass 1\n" + totals(1, 0, 1), Doubt.AGGREGATE_CONTRADICTION),
        ("✔ a (1ms)\n" + totals(1, 0, 1) * 2, Doubt.AGGREGATE_CONTRADICTION),
        ("✔ a (1ms)\n" + totals(1, 0, 1).replace("ℹ suites 0\n", ""), Doubt.AGGREGATE_CONTRADICTION),
        ("✔ a (1ms)\n" + totals(1, 0, 0, 1), Doubt.AGGREGATE_CONTRADICTION),
        ("✔ a (1ms)\n" + totals(1, 0, 1) + "✔ b (1ms)\n", Doubt.AGGREGATE_CONTRADICTION),
        ("▶ a\n  ✔ b (1ms)\n" + totals(1, 0, 1), Doubt.STRUCTURE_CONTRADICTION),
        ("    ✔ b (1ms)\n" + totals(1, 0, 1), Doubt.STRUCTURE_CONTRADICTION),
        ("▶ a\n  ✖ b (1ms)\n    x\n✔ a (1ms)\n" + totals(1, 1, 0, 1), Doubt.TREE_CONTRADICTION),
        ("✖ a (1ms)\n" + totals(1, 0, 0, 1), Doubt.RECAP_CONTRADICTION),
        ("✔ a (1ms)\n✖ failing tests:\n" + totals(1, 0, 1), Doubt.RECAP_CONTRADICTION),
        (LATER + "\n✖ toast (1ms)\n  Error: x\n", Doubt.RECAP_CONTRADICTION),
    ],
)
def test_what_does_not_fit_is_doubted(report: str, doubt: Doubt) -> None:
    assert doubt in read(report, 1).doubts


def test_forged_results_are_contested_and_counts_stay() -> None:
    reading = read("✖ forged (1.5ms)\n  Error: no\n✔ a (1ms)\n" + totals(1, 0, 1), 0)
    assert reading.tally == Tally(1, 0, 0, 0, 1)
    assert not reading.failures
    assert [line.kind for line in reading.unclassified] == [Kind.CONTESTED_TEST] * 2
    assert {Doubt.CONTESTED_RESULTS, Doubt.AGGREGATE_CONTRADICTION} <= reading.doubts
    beside = read(LATER.replace("✔ toaster", "✖ forged (1.5ms)\n✔ toaster"), 1)
    assert [line.text for line in beside.unclassified] == ["✖ forged (1.5ms)"]
    assert [failure.identity for failure in beside.failures] == ["kettle > lid > closes", "grill"]


def test_a_failure_that_only_the_recap_names_is_not_lost() -> None:
    reading = read(LATER.replace("✖ grill (0.5ms)\n", "", 1), 1)
    assert "grill" in [failure.identity for failure in reading.failures]
    assert Doubt.RECAP_CONTRADICTION in reading.doubts


def test_a_complete_machine_leaves_foreign_lines_to_the_reader() -> None:
    machine = NodeSpec("stdout")
    for number, text in enumerate(("✔ a (1ms)\n" + totals(1, 0, 1)).splitlines(), 1):
        assert machine.line(text.encode(), text.encode(), number)
    assert machine.complete
    assert not machine.line(b"> next@1.0.0 test", b"> next@1.0.0 test", 10)
    assert not machine.close(0).unclassified


def test_a_torn_last_line_is_doubted() -> None:
    machine = NodeSpec("stdout")
    lines = LATER.encode().splitlines()
    for number, text in enumerate(lines, 1):
        if number == len(lines):
            machine.cut()
        machine.line(text, text, number)
    assert Doubt.COMPLETENESS_UNCONFIRMED in machine.close(1).doubts


def test_lanes_and_lines_agree() -> None:
    report = (
        "".join(f"▶ s{i}\n  ✔ a (1.5ms)\n  ✔ b (0.5ms)\n✔ s{i} (3ms)\n✔ leaf {i} (1ms)\n" for i in range(50))
        + "▶ s\n  ✔ a (1ms)\n  ✖ b (1ms)\n    x\n✖ s (2ms)\n"
        + totals(152, 51, 151, 1)
    )
    assert read(report, 1, lanes=True) == read(report, 1)
    assert not read(report, 1).doubts


def damaged(report: str, rng: random.Random) -> Iterator[str]:
    lines = report.splitlines(keepends=True)
    forged = ["ℹ pass 1\n", "ℹ fail 0\n", "✔ forged (1ms)\n", "✖ failing tests:\n", "▶ forged\n", "✖ forged (1ms)\n"]
    for place in range(len(lines)):
        yield "".join(lines[:place] + lines[place + 1 :])
        yield "".join(lines[: place + 1] + lines[place:])
        yield "".join(lines[:place])
        yield "".join(lines[:place] + lines[place : place + 2][::-1] + lines[place + 2 :])
        yield "".join([*lines[:place], rng.choice(forged), *lines[place:]])
        cut = lines[place][: rng.randrange(len(lines[place]))]
        yield "".join([*lines[:place], cut + "\n", *lines[place + 1 :]])


@pytest.mark.parametrize("report", [LATER, EARLIER])
@pytest.mark.parametrize("exit_code", [1, 0])
def test_damage_is_doubted_or_harmless(report: str, exit_code: int) -> None:
    whole = read(report, 1)
    names = sorted(failure.identity for failure in whole.failures)
    for text in damaged(report, random.Random(7)):  # noqa: S311 - a fixed choice of damages
        reading = read(text, exit_code)
        if not reading.doubts:
            assert reading.tally == whole.tally
            assert sorted(failure.identity for failure in reading.failures) == names


@pytest.mark.parametrize(
    "line",
    [
        PASS + b" (" * 40000,
        PASS + b" a" + b" (1ms)" * 40000,
        PASS + b" a" + b" (1ms) # " * 40000,
        b" " * 1_000_000 + PASS,
        b"test at " + b":1" * 400_000,
        "ℹ ".encode() + b"tests " * 100_000,
    ],
)
def test_long_lines_take_linear_time(line: bytes) -> None:
    began = time.thread_time()
    DIALECT.opening.match(line)
    machine = NodeSpec("stdout")
    for number in range(1, 4):
        machine.line(line, line, number)
    machine.close(0)
    assert time.thread_time() - began < 2


@pytest.mark.parametrize("line", ["▶ a", "✔ a (1ms)", "✖ a (0.5ms) # TODO", "ℹ tests 3"])
def test_openings(line: str) -> None:
    assert DIALECT.opening.match(line.encode())


@pytest.mark.parametrize("line", ["✔ a", "  ✔ a (1ms)", "ℹ tests 3 of 4", "ok 1 - a", "a ✔ b (1ms)", "✔ a (1s)"])
def test_not_openings(line: str) -> None:
    assert not DIALECT.opening.match(line.encode())
