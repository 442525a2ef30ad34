"""Runs of several packages in one stream, each line behind the name of its run (READ-22)."""

import pytest

from context_firewall.transcript.apart import RUNS_AT_MOST
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams

GREEN = "TAP version 13\nok 1 - boils\n1..1\n"
RED = "TAP version 13\nnot ok 1 - pours\n  ---\n  error: cold\n  ...\nok 2 - cools\n1..2\n"


def behind(name: str, text: str) -> list[str]:
    return [f"{name}: {line}" for line in text.splitlines()]


def interleaved(*parts: list[str]) -> list[str]:
    """Line by line in turns."""
    longest = max(map(len, parts))
    return [part[at] for at in range(longest) for part in parts if at < len(part)]


def pnpm(cups: str, pots: str, ends: tuple[str, str] = ("Done", "Done")) -> str:
    runs = behind("cups test", cups + f"{ends[0]}\n"), behind("tea/pots test", pots + f"{ends[1]}\n")
    head = ["Scope: 2 of 3 workspace projects", "cups test$ node --test", "tea/pots test$ node --test"]
    return "\n".join([*head, *interleaved(*runs), ""])


def turbo(cups: str, pots: str, word: str = "miss, executing") -> str:
    head = ["   \u2022 Packages in scope: cups, pots", f"cups:test: cache {word} 2dc1087b8fb51bf4"]
    runs = (
        behind("cups:test", f"\n{cups}"),
        ["pots:test: cache bypass, force executing 07d9", *behind("pots:test", pots)],
    )
    tail = ["", " Tasks:    2 successful, 2 total", "Cached:    0 cached, 2 total", "  Time:    476ms ", ""]
    return "\n".join([*head, *interleaved(*runs), *tail])


def read(text: str, code: int | None = 0, size: int = 1 << 16) -> Transcript:
    data = text.encode()
    return read_streams([("stdout", [data[at : at + size] for at in range(0, len(data), size)])], exit_code=code)


@pytest.mark.parametrize("text", [pnpm(GREEN, GREEN), turbo(GREEN, GREEN), turbo(GREEN, GREEN, "hit, replaying logs")])
def test_green_runs(text: str) -> None:
    """READ-22."""
    run = read(text)
    assert (run.tally.passed, run.tally.total) == (2, 2)
    assert not run.unclassified
    assert not run.doubts
    assert run.event_count == text.count("\n")
    assert read(text, size=5) == run
    traced, traces = trace_streams([("stdout", [text.encode()])], exit_code=0)
    assert traced == run
    assert len(traces) == run.event_count


@pytest.mark.parametrize("text", [pnpm(GREEN, RED, ("Done", "Failed")), turbo(GREEN, RED)])
def test_a_failure_goes_by_its_run_and_keeps_its_lines(text: str) -> None:
    """READ-22, P3."""
    run = read(text, 1)
    (failure,) = run.failures
    assert failure.identity in ("tea/pots test > pours", "pots:test > pours")
    raws = text.encode().split(b"\n")
    assert [raws[line.number - 1] for line in failure.lines()] == [line.raw for line in failure.lines()]
    assert [line.text.partition(": ")[2] for line in failure.lines()] == RED.splitlines()[1:5]
    assert (run.tally.passed, run.tally.failed) == (2, 1)
    assert run.event_count == text.count("\n")
    assert not run.unclassified
    assert not run.doubts


def test_pnpm_says_last_that_a_run_failed() -> None:
    """READ-22: a warning where a test of it did, else the only witness."""
    assert [line.text for line in read(pnpm(GREEN, RED, ("Done", "Failed")), 1).warnings] == ["tea/pots test: Failed"]
    for code in (0, 1, None):
        said = read(pnpm(GREEN, GREEN, ("Failed", "Done")), code)
        assert [line.text for line in said.unclassified] == ["cups test: Failed"]


@pytest.mark.parametrize(
    "text",
    [
        pnpm(GREEN, "TAP version 13\nok 1 - boils\n"),
        pnpm(GREEN, "brewing\n"),
        pnpm(GREEN, ""),
        pnpm(GREEN, GREEN).replace("tea/pots test$ node --test\n", ""),
        pnpm(GREEN, GREEN) + "spilt\n",
        pnpm(GREEN, GREEN).replace("cups test: Done\n", ""),
        turbo(GREEN, GREEN).partition("\n Tasks")[0] + "\n",
        turbo(GREEN, GREEN).replace("2 successful, 2 total", "3 successful, 3 total"),
        turbo(GREEN, GREEN).replace("2 successful", "1 successful"),
        turbo(GREEN, GREEN, "hit, suppressing logs"),
        turbo(GREEN, GREEN).replace("cups:test: 1..1\n", ""),
        turbo(GREEN, ""),
    ],
)
def test_what_is_missing_or_foreign_leaves_a_doubt(text: str) -> None:
    """P1."""
    run = read(text)
    assert run.doubts or run.unclassified
    assert run.event_count == text.count("\n")


@pytest.mark.parametrize("at", range(2, len(pnpm(GREEN, RED).splitlines())))
def test_cut_anywhere(at: int) -> None:
    """P1: also with the exit code lost."""
    text = "\n".join(pnpm(GREEN, RED).splitlines()[:at]) + "\n"
    run = read(text)
    assert run.failures or run.doubts or run.unclassified
    assert run.event_count == at


def test_a_last_line_without_its_end() -> None:
    text = "cups test$ node --test\n" + "\n".join(behind("cups test", "TAP version 13\nok 1 - boils\n1..1"))
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(text).doubts


def test_a_run_of_its_own_that_prints_such_lines_stays_one() -> None:
    """READ-22: else a test could add runs."""
    forged = "\n".join(["cups test$ node --test", *behind("cups test", GREEN)])
    run = read(f"TAP version 13\nok 1 - boils\n{forged}\nnot ok 2 - pours\n1..2\n", 1)
    assert [failure.identity for failure in run.failures] == ["pours"]
    assert run.tally.passed == 1
    assert Doubt.UNCLASSIFIED_EVIDENCE in run.doubts or run.unclassified


def test_more_runs_than_there_can_be() -> None:
    """P7: a stream of announcements alone costs no reading for each."""
    text = "".join(f"cup{n} test$ x\n" for n in range(RUNS_AT_MOST))
    tested = "pot test$ y\n" + "\n".join(behind("pot test", f"{GREEN}Done\n")) + "\n"
    assert read(tested + text.replace("cup0 test$ x\n", "")).tally.passed == 1
    assert read(tested + text).tally.passed == 0


def test_runs_of_different_runners() -> None:
    """READ-22."""
    session = f"{' test session starts ':=^60}\ncollected 1 item\n\ntea.py .   [100%]\n\n{' 1 passed in 0.01s ':=^60}\n"
    run = read(pnpm(session, RED), 1)
    assert (run.tally.passed, run.tally.failed) == (2, 1)
    assert Doubt.AMBIGUOUS_DIALECT not in run.doubts
    assert all(line.kind is not Kind.UNCLASSIFIED for line in run.unclassified)
