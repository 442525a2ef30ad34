"""deno test's reporters pretty and dot: every form they take, and what must not be taken for it."""

import random

import pytest

from context_firewall.transcript.dialects.deno_grammar import Totals, totals
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams


def entry(title: str, message: str = "Error: no bread") -> str:
    return f"{title}\nerror: {message}\n    at file:///srv/oven_test.ts:9:11\n\n"


def ending(*titles: str, message: str = "Error: no bread") -> str:
    listed = "".join(f"{title}\n" for title in titles)
    return "\n ERRORS \n\n" + "".join(entry(title, message) for title in titles) + f" FAILURES \n\n{listed}"


COLD = "is cold => ./oven_test.ts:9:6"
STEP = "bakes ... rises => ./oven_test.ts:14:11"
GREEN = (
    "running 3 tests from ./oven_test.ts\nheats ... ok (412µs)\nbakes ...\n  rises ... ok (0ms)\nbakes ... ok (2ms)\n"
    "cools ... ignored (0ms)\n\nok | 2 passed (1 step) | 0 failed | 1 ignored (9ms)\n\n"
)
RESULTS = (
    "running 4 tests from ./oven_test.ts\nheats ... ok (412µs)\nis cold ...\n------- output -------\nok 1 - printed\n"
    "----- output end -----\nis cold ... FAILED (1ms)\nbakes ...\n  mixes ... ok (0ms)\n  rises ... FAILED (1ms)\n"
    "bakes ... FAILED (due to 1 failed step) (3ms)\ncools ... ignored (0ms)\n"
)
TOTALS = "\nFAILED | 1 passed (1 step) | 2 failed (1 step) | 1 ignored (12ms)\n\n"
RED = RESULTS + ending(COLD, STEP) + TOTALS
DOT = ".\n!\n.\n!\n!\n,\n" + ending(COLD, STEP) + TOTALS
PARALLEL = (
    "./oven_test.ts => heats ... ok (1ms)\n./oven_test.ts => bakes ... rises ... ok (0ms)\n"
    "./oven_test.ts => bakes ... ok (2ms)\n\nok | 2 passed (1 step) | 0 failed (9ms)\n\n"
)
UNCAUGHT = (
    "running 1 test from ./oven_test.ts\nheats ... ok (1ms)\nUncaught error from ./door_test.ts FAILED\n"
    + ending("./door_test.ts (uncaught error)")
    + "\nFAILED | 1 passed | 1 failed (3ms)\n\n"
)
REPORTS = {"green": GREEN, "red": RED, "dot": DOT, "parallel": PARALLEL, "uncaught": UNCAUGHT}


def read(stdout: str | bytes, exit_code: int | None = 0, stderr: str = "") -> Transcript:
    data = stdout.encode() if isinstance(stdout, str) else stdout
    return read_streams([("stdout", [data]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def counts(transcript: Transcript) -> tuple[int, int, int]:
    tally = transcript.tally
    return tally.passed, tally.failed, tally.skipped


def identities(transcript: Transcript) -> list[str]:
    return [failure.identity for failure in transcript.failures]


# -- forms


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("ok | 1 passed | 0 failed (9ms)", Totals(1, 0, 0, (0, 0, 0))),
        ("ok | 4 passed (3 steps) | 0 failed | 1 ignored (1 step) (1m2s)", Totals(4, 0, 1, (3, 0, 1))),
        ("FAILED | 0 passed | 2 failed (1 step) | 3 filtered out (12µs)", Totals(0, 2, 0, (0, 1, 0))),
        ("ok | 1 passed | 1 failed (9ms)", None),
        ("FAILED | 1 passed | 0 failed (9ms)", None),
        ("ok | 1 passed | 0 failed", None),
        ("OK | 1 passed | 0 failed (9ms)", None),
    ],
)
def test_totals(line: str, stated: Totals | None) -> None:
    assert totals(line.encode()) == stated


@pytest.mark.parametrize("name", ["green", "parallel"])
def test_a_green_run(name: str) -> None:
    """DENO-1."""
    transcript = read(REPORTS[name])
    assert counts(transcript) == (2, 0, 1 if name == "green" else 0)
    assert not transcript.doubts
    assert not transcript.unclassified


@pytest.mark.parametrize("name", ["red", "dot"])
def test_a_red_run(name: str) -> None:
    """DENO-1 and DENO-2: a test that fails by its steps is none of its own."""
    transcript = read(REPORTS[name], 1, "error: Test failed\n")
    assert counts(transcript) == (1, 2, 1)
    assert identities(transcript) == ["is cold", "bakes > rises"]
    assert not transcript.doubts
    assert not transcript.unclassified
    assert transcript.suppressed[Kind.INFORMATIONAL] == 1


def test_output_goes_to_the_test_that_failed() -> None:
    """DENO-3."""
    details = [line.text for line in read(RED, 1).failures[0].details]
    assert "ok 1 - printed" in details
    assert "ok 1 - printed" not in "".join(line.text for line in read(GREEN).unclassified)


def test_output_of_a_file_stays_visible_in_a_failing_run() -> None:
    """DENO-3."""
    before = "------- pre-test output -------\nwarm\n----- pre-test output end -----\n"
    transcript = read(before + RED, 1)
    assert [(line.text, line.kind) for line in transcript.unclassified] == [("warm", Kind.PROGRAM_OUTPUT)]
    assert not transcript.doubts
    assert not read(before + GREEN).unclassified


def test_an_uncaught_error_is_a_failure_of_its_file() -> None:
    transcript = read(UNCAUGHT, 1)
    assert identities(transcript) == ["./door_test.ts"]
    assert counts(transcript) == (1, 1, 0)
    assert not transcript.doubts


def test_output_without_a_line_end() -> None:
    text = GREEN.replace(
        "cools ... ignored", "cools ...\n------- output -------\nhalf----- output end -----\ncools ... ignored"
    )
    transcript = read(text)
    assert not transcript.doubts
    assert transcript.suppressed[Kind.PROGRAM_OUTPUT] == 1


# -- what is not whole, or does not agree


@pytest.mark.parametrize("name", REPORTS)
def test_a_run_that_is_cut_never_passes(name: str) -> None:
    """P1 and DENO-1."""
    data = REPORTS[name].encode()
    for end in range(len(data) - 1):
        transcript = read(data[:end], 0)
        assert transcript.doubts or transcript.unclassified or not transcript.has_results, data[:end]


def test_failures_are_named_before_the_errors() -> None:
    """P2."""
    transcript = read(RESULTS, 130)
    assert identities(transcript) == ["is cold", "bakes > rises"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


def test_accounts_are_read_without_the_list() -> None:
    """P2: of `dot` that breaks off."""
    transcript = read(DOT[: DOT.index(" FAILURES ")], 1)
    assert identities(transcript) == ["is cold", "bakes > rises"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


@pytest.mark.parametrize(
    "text",
    [
        GREEN.replace("2 passed", "3 passed"),
        GREEN.replace("1 step", "2 steps"),
        GREEN.replace("heats ... ok (412µs)\n", ""),
        RED.replace("is cold ... FAILED (1ms)\n", ""),
        RED.replace(f"{COLD}\nerror", "x\nerror"),
        RED.replace(f"\n\n{COLD}\n{STEP}\n\nFAILED", f"\n\n{STEP}\n\nFAILED"),
        DOT.replace(".\n", "", 1),
        UNCAUGHT.replace("Uncaught error from ./door_test.ts FAILED\n", ""),
    ],
)
def test_what_does_not_agree_is_in_doubt(text: str) -> None:
    """DENO-1 and DENO-2."""
    doubts = read(text, 1).doubts
    assert doubts & {Doubt.AGGREGATE_CONTRADICTION, Doubt.RECAP_CONTRADICTION, Doubt.UNCLASSIFIED_EVIDENCE}


def test_a_title_without_an_account_is_still_a_failure() -> None:
    """P2."""
    text = RED.replace(entry(STEP), "")
    transcript = read(text, 1)
    assert sorted(identities(transcript)) == ["bakes > rises", "is cold"]
    assert Doubt.RECAP_CONTRADICTION in transcript.doubts


def test_a_message_that_holds_a_whole_ending() -> None:
    """DENO-1 and DENO-2: only what stands last is the run's."""
    forged = "Error: x\n" + ending("fake => ./x.ts:1:1") + "\nok | 9 passed | 0 failed (1ms)\n"
    transcript = read(RESULTS + ending(COLD, STEP, message=forged) + TOTALS, 1)
    assert identities(transcript) == ["is cold", "bakes > rises"]
    assert counts(transcript) == (1, 2, 1)
    assert not transcript.doubts
    assert "ok | 9 passed | 0 failed (1ms)" in [line.text for line in transcript.failures[0].details]


@pytest.mark.parametrize("closing", ["ok | 1 passed | 0 failed (1ms)", "ok | 9 passed | 0 failed (1ms)"])
def test_totals_that_a_test_prints(closing: str) -> None:
    """P1: as output they are text; outside of it what follows denies them."""
    inside = f"heats ...\n------- output -------\n\n{closing}\n\n----- output end -----\nheats ... ok"
    assert not read(GREEN.replace("heats ... ok", inside)).doubts
    outside = GREEN.replace("bakes ...\n  rises", f"\n{closing}\n\nbakes ...\n  rises")
    transcript = read(outside)
    assert transcript.doubts or transcript.unclassified


def test_output_that_ends_itself() -> None:
    """P1."""
    begins, ends = "------- output -------\n", "----- output end -----\n"
    forged = f"heats ...\n{begins}{ends}fake ... ok (1ms)\n{ends}heats ... ok"
    assert read(GREEN.replace("heats ... ok", forged)).doubts


def test_no_tests() -> None:
    assert Doubt.NO_TEST_EVIDENCE in read("\nok | 0 passed | 0 failed (1ms)\n\n").doubts


def test_two_runs() -> None:
    transcript = read(RED + GREEN, 1)
    assert counts(transcript) == (3, 2, 2)
    assert not transcript.doubts


def test_colours_change_nothing() -> None:
    coloured = RED.replace(" ERRORS ", "\x1b[0m\x1b[1m\x1b[37m\x1b[41m ERRORS \x1b[0m").replace(
        "ok", "\x1b[32mok\x1b[0m"
    )
    assert identities(read(coloured, 1)) == identities(read(RED, 1))
    assert not read(coloured, 1).doubts


# -- accounts of lines


@pytest.mark.parametrize("name", REPORTS)
def test_every_line_is_accounted_for_once(name: str) -> None:
    """P3."""
    text = REPORTS[name] + "more\n"
    transcript, traces = trace_streams([("stdout", [text.encode()])], exit_code=1)
    assert transcript.event_count == text.count("\n") == len(traces)


def test_lanes_and_chunks_make_no_difference() -> None:
    rng = random.Random(5)  # noqa: S311 - a repeatable choice, no secret
    pieces = [
        "a ... ok (1ms)\n",
        "a  ... ok (1ms)\n",
        "a ... ok (b) ... ok (1ms)\n",
        "b c ... ok (3µs)\n",
        "d ...\n",
        "  e ... ok (0ms)\n",
        "f ... FAILED (1ms)\n",
        "\n",
        "x\n",
    ]
    for _ in range(150):
        text = "running 9 tests from ./a.ts\n" + "".join(rng.choices(pieces, weights=[9, 1, 1, 9, 2, 2, 1, 1, 1], k=40))
        text += f"\nok | {rng.randrange(30)} passed | 0 failed (1ms)\n\n"
        data = text.encode()
        one_by_one = read_streams([("stdout", [data[i : i + 1] for i in range(len(data))])], exit_code=0)
        traced, _ = trace_streams([("stdout", [data])], exit_code=0)
        assert read(data) == one_by_one == traced
