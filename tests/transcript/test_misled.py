"""One line that opens a dialect above the report of another runner (READ-20)."""

import pytest

from context_firewall.transcript import misled
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.reader import read_streams, trace_streams

UNITTEST = (
    "F.\n"
    + "=" * 70
    + "\nFAIL: test_pours (tea.Kettle.test_pours)\n"
    + "-" * 70
    + '\nTraceback (most recent call last):\n  File "/srv/tea.py", line 3, in test_pours\n'
    "AssertionError: 'cold' != 'hot'\n\n" + "-" * 70 + "\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n"
)
RSPEC = (
    "F.\n\nFailures:\n\n  1) Kettle pours\n     Failure/Error: expect(tea).to be\n\n       expected hot\n"
    "     # ./spec/kettle_spec.rb:3:in `block'\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n"
    "2 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/kettle_spec.rb:2 # Kettle pours\n\n"
)
TAP = "TAP version 13\nok 1 - boils\nnot ok 2 - pours\n1..2\n"
REPORTS = {"tea.Kettle": UNITTEST, "Kettle pours": RSPEC, "pours": TAP}
OPENINGS = (
    "running 3 tests",
    "=== RUN   TestKettle",
    "--- FAIL: TestKettle (0.00s)",
    "============================= test session starts ==============================",
    "Test project /srv/kettle",
    " RUN  v1.6.0 /srv/kettle",
    "▶ kettle",
)


def read(text: str, exit_code: int = 1, size: int = 1 << 16) -> Transcript:
    data = text.encode()
    return read_streams([("stdout", [data[at : at + size] for at in range(0, len(data), size)])], exit_code=exit_code)


def names(run: Transcript) -> str:
    return " ".join(failure.identity for failure in run.failures)


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("name", REPORTS)
def test_a_line_above_a_report_hides_no_failure(name: str, opening: str) -> None:
    """READ-20."""
    text = f"{opening}\n{REPORTS[name]}"
    run = read(text)
    assert name in names(run)
    assert run.doubts
    assert run.event_count == text.count("\n")
    assert read(text, size=7) == run
    traced, traces = trace_streams([("stdout", [text.encode()])], exit_code=1)
    assert traced == run
    assert len(traces) == run.event_count


def test_several_lines_that_open_something() -> None:
    """READ-20."""
    run = read("\n".join(OPENINGS[:4]) + "\nFAIL src/cup.test.js\n" + UNITTEST)
    assert "tea.Kettle" in names(run)
    assert Doubt.AMBIGUOUS_DIALECT in run.doubts


def test_a_green_report_below_such_a_line_proves_nothing() -> None:
    """P1."""
    assert read(f"{OPENINGS[0]}\n{TAP.replace('not ok', 'ok')}", 0).doubts


def test_a_run_that_broke_off_keeps_its_failures() -> None:
    """READ-20: what a test prints, and be it a whole report, is not the run's."""
    begun = "TAP version 13\nnot ok 1 - boils\nnot ok 2 - pours\n"
    run = read(f"{begun}{UNITTEST}")
    assert "boils" in names(run)
    assert "pours" in names(run)


def test_a_report_without_its_first_line_is_no_other_report() -> None:
    """READ-20."""
    run = read("1..5\n" + TAP.replace("TAP version 13\n", ""))
    assert Doubt.AMBIGUOUS_DIALECT not in run.doubts
    assert Doubt.PLAN_CONTRADICTION in run.doubts


def test_a_long_stream_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{OPENINGS[0]}\n{UNITTEST}"
    monkeypatch.setattr(misled, "AGAIN_AT_MOST", len(text) - 1)
    once = read(text)
    assert "tea.Kettle" not in names(once)
    assert read(text, size=7) == once
    monkeypatch.setattr(misled, "AGAIN_AT_MOST", len(text))
    assert "tea.Kettle" in names(read(text, size=7))
