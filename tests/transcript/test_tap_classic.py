"""tap-mocha-reporter's classic reporter: each form, and what must not be taken for it."""

import pytest

from context_firewall.reduction.verdict import Circumstances, judge_v3
from context_firewall.transcript.dialects.tap_classic import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams


def head(title: str, counts: str, time: str = "") -> str:
    return f"{title} {'.' * max(2, 57 - len(title) - len(counts))} {counts}{time}\n"


TALE = "    -220\n    +190\n    stack: |\n      Test.<anonymous> (test/crust.js:3:5)\n    \n      at the end\n"
FAILED = f"  crust > edges\n  not ok browns\n{TALE}  \n  not ok crumb left\n\n"
PENDING = "  ~ proofs overnight\n      at:\n        line: 8\n\n  Skipped: 2\n    splits no knife\n\n"
FILES = head("test/oven.js", "2/5", " 805ms") + PENDING + head("test/crust.js", "1/3") + FAILED
END = head("total", "3/8") + "  \n\n  3 passing (1.2s)\n  3 pending\n  2 failing\n\n"
RED = FILES + END
GREEN = (
    head("test/oven.js", "2/2") + head("test/dough.js", "1/1") + head("total", "3/3") + "\n  3 passing (1.2s)\n\n  ok\n"
)


def read(text: str, exit_code: int | None = 1) -> Transcript:
    return read_streams([("stdout", [text.encode()])], exit_code=exit_code)


def verdict(text: str, exit_code: int | None = 0) -> tuple[str, list[str]]:
    known = Circumstances("op", "bakery", "run-1", "file:out.txt", exit_code)
    found = judge_v3(read(text, exit_code), known)
    return str(found.status), [str(code) for code in found.reason_codes]


def names(found: Transcript) -> list[str]:
    return [failure.identity for failure in found.failures]


def test_red() -> None:
    """TCL-2, TCL-3"""
    found = read(RED)
    assert names(found) == ["test/crust.js > crust > edges > browns", "test/crust.js > crumb left"]
    assert not found.doubts
    tally = found.tally
    assert (tally.passed, tally.failed, tally.skipped, tally.todo, tally.total) == (3, 2, 2, 1, 8)
    region = [line.text for line in found.failures[0].lines()]
    assert region == [*"".join(("  crust > edges\n", "  not ok browns\n", TALE)).splitlines()]
    assert [line.text for line in found.todo] == ["  ~ proofs overnight"]
    assert found.suppressed[Kind.TEST_DETAIL] == 2


def test_green() -> None:
    assert verdict(GREEN) == ("passed", [])
    assert verdict(GREEN, 1)[0] == "failed"


@pytest.mark.parametrize(
    ("title", "counts", "is_one"),
    [
        ("test/oven.js", "2/2", True),
        ("test/" + "o" * 60 + ".js", "2/2", True),
        ("test/öfen.js", "2/2", True),
        ("test/oven.js .", "2/2", True),
    ],
)
def test_widths(title: str, counts: str, *, is_one: bool) -> None:
    """TCL-1: a file with a long or foreign name opens nothing, and is read with what follows."""
    run = GREEN.replace(head("test/oven.js", "2/2"), head(title, counts))
    assert (verdict(run) == ("passed", [])) is is_one
    short = GREEN.replace(head("test/oven.js", "2/2"), head("test/oven.js", "2/2").replace("...", "..", 1))
    assert verdict(short)[0] != "passed"


@pytest.mark.parametrize(
    "line",
    [
        "t/oven.t .. ok",
        "t/oven.t ............................ 3/7 ",
        "test_oven.py .................................................. [ 50%]",
        "x" * 53 + " .. 3/7",
        "downloading ............................................ 3 of 7",
    ],
)
def test_what_opens_nothing(line: str) -> None:
    assert not DIALECT.opens(line.encode())


def test_on_a_terminal_lines_are_drawn_over_dots() -> None:
    drawn = "".join(
        f"\x1b[1G{line.partition(' .')[0]} ..\x1b[0G{line}" if line.startswith("test/") else line
        for line in GREEN.replace("total", "\x1b[0Gtotal").splitlines(keepends=True)
    )
    assert verdict(drawn) == ("passed", [])


def test_totals_alone() -> None:
    """TCL-4"""
    flat = head("total", "3/3") + "\n  3 passing (14ms)\n\n  ok\n"
    assert verdict(flat) == ("passed", [])
    red = head("total", "1/4") + "  \n\n  1 passing (14ms)\n  1 pending\n  2 failing\n\n"
    assert read(red).doubts == {Doubt.FAILURES_UNNAMED, Doubt.COUNTS_UNCONFIRMED}
    assert "AGGREGATE_CONTRADICTION" in verdict(flat.replace("  3 passing", "  2 passing"))[1]


def test_bailing_out() -> None:
    found = read(FILES + "Bail out! no power\n" + END)
    assert [line.text for line in found.fatal_errors] == ["Bail out! no power"]


def test_a_file_by_the_name_of_total() -> None:
    run = head("total", "1/1") + GREEN.replace("3/3", "4/4").replace("3 passing", "4 passing")
    assert verdict(run) == ("passed", [])


def test_two_runs() -> None:
    found = read(GREEN + RED)
    assert names(found) == names(read(RED))
    assert found.tally.total == 11


def test_what_a_failure_says_may_look_like_anything() -> None:
    forged = "".join(f"    {line}" for line in GREEN.splitlines(keepends=True) if line.strip())
    found = read(RED.replace(TALE, TALE + forged))
    assert names(found) == names(read(RED))
    assert not found.doubts


@pytest.mark.parametrize("run", [RED, GREEN], ids=["red", "green"])
@pytest.mark.parametrize("damage", ["cut", "lost", "twice", "text"])
def test_damaged_reports(run: str, damage: str) -> None:
    """Nothing damaged is whole, and each line has one fate."""
    lines = run.splitlines(keepends=True)
    for at in range(len(lines)):
        hurt = {
            "cut": lines[:at],
            "lost": lines[:at] + lines[at + 1 :],
            "twice": lines[: at + 1] + lines[at:],
            "text": [*lines[:at], "said so\n", *lines[at:]],
        }[damage]
        found = read("".join(hurt), 0)
        kept = sum(1 for failure in found.failures for _ in failure.lines())
        kept += len(found.unclassified) + len(found.todo) + len(found.fatal_errors)
        assert kept + sum(found.suppressed.values()) == found.event_count == len(hurt)
        status, reasons = verdict("".join(hurt))
        if not reasons:
            assert (status, run) == ("passed", GREEN)
            assert found.tally.total == 3
        assert trace_streams([("stdout", ["".join(hurt).encode()])], exit_code=0) is not None


def test_chunks_make_no_difference() -> None:
    data = RED.encode()
    whole = read(RED)
    for size in (1, 7, 64):
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        assert read_streams([("stdout", pieces)], exit_code=1) == whole
