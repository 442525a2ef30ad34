"""Reports made to lie: nothing torn, forged or out of order comes out green (P1), and nothing is lost (P2, P3).

What stays open is written down: a report that ends, byte for byte, as a shorter whole one would (KNOWN).
"""

import random
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest
from damaged import Run, Told, damages, lines_of, pieces, runs, told, with_piece

from context_firewall import SourceStream, reduce_streams, serialize_packet, verify_packet
from context_firewall.reduction.explanation import explain_streams
from context_firewall.reduction.pipeline import RunOptions

SAMPLE = 2
"""Damages of each run in the default suite."""
FORGERIES = 40
"""Forged reports of each run in the soak tests."""

SEGMENTS = "whole segments or tests are gone (docs/decisions/0014)"
WITNESS = "the only line that says so is gone"
FORGED = "the report ends as a test has forged it"
SHORTER = "what is left is a shorter report that is whole"
CLAIMED = "a recap that another dialect claims is counted twice; the packet asks for the raw output"
STDERR = "with exit code 0 standard error is the program's"
KNOWN = {
    "cargo-green-merged": SEGMENTS,
    "edge-child-fails-and-parent-passes": SHORTER,
    "edge-orphan-subtest": SHORTER,
    "failure-after-a-trailing-plan": SHORTER,
    "failure-tape-skip-is-part-of-the-name": SHORTER,
    "failure-two-documents": SEGMENTS,
    "go-forged-end-of-a-failing-test": FORGED,
    "go-json-build-failure": SEGMENTS,
    "go-json-green": SEGMENTS,
    "go-verbose-green": SEGMENTS,
    "gotestsum-standard-verbose": SEGMENTS,
    "jest-coverage-too-low": WITNESS,
    "junit-files-in-a-row": SEGMENTS,
    "mocha-json-stream-forged-end": FORGED,
    "mocha-uncaught-after-the-report": STDERR,
    "normal-two-documents": SEGMENTS,
    "phpunit-failures-testdox": CLAIMED,
    "pytest-coverage-too-low": WITNESS,
    "unittest-forged-verdict": WITNESS,
    "vitest-coverage-too-low": WITNESS,
    "vitest-unhandled-error-account-lost": WITNESS,
}
RUNS = [run for run in runs() if run.streams]
IDS = [run.name for run in RUNS]


def damaged(run: Run) -> Iterator[tuple[str, Run]]:
    """A run with each damage to each of its streams."""
    for at, (name, data) in enumerate(run.streams):
        for what, text in damages(data):
            yield f"{run.name}, {name}: {what}", run.with_stream(at, text)


def lies(whole: Told, made: Iterable[tuple[str, Run]], *, exit_code: int | None) -> list[str]:
    """Each damage that turns a failing run green, or a green one into a sufficient one with other counts."""
    found = []
    for what, run in made:
        now = told(run, exit_code)
        assert now.transcript.event_count == sum(len([*lines_of(data)]) for _, data in run.streams), what
        if now.green and (not whole.green or (now.sufficient and now.counts != whole.counts)):
            found.append(what)
    return found


def sampled(run: Run) -> list[tuple[str, Run]]:
    """A few damages, the same each time."""
    every = [*damaged(run)]
    chance = random.Random(run.name)  # noqa: S311 - the same damage every time
    return chance.sample(every, min(SAMPLE, len(every)))


def is_told(whole: Told) -> bool:
    """Whether a run says how it ended: green and sufficient, or failed."""
    return str(whole.verdict.status) == "failed" or (whole.green and whole.sufficient)


def test_a_damaged_report_is_not_green() -> None:
    """P1, P3; the exit code is lost in the same breath."""
    told_runs = [(run, told(run, run.exit_code)) for run in RUNS if run.name not in KNOWN]
    assert [lie for run, whole in told_runs if is_told(whole) for lie in lies(whole, sampled(run), exit_code=0)] == []


@pytest.mark.soak
@pytest.mark.parametrize("run", RUNS, ids=IDS)
def test_no_damage_makes_a_report_green(run: Run) -> None:
    """P1, P3"""
    whole = told(run, run.exit_code)
    if is_told(whole):
        assert bool(lies(whole, damaged(run), exit_code=0)) <= (run.name in KNOWN)


def forged(run: Run, count: int) -> Iterator[tuple[str, Run]]:
    """A run with a piece of another's report in one of its streams: before, inside, behind, or at a line's end."""
    chance = random.Random(run.name)  # noqa: S311 - the same forgery every time
    for _ in range(count):
        other = chance.choice(RUNS)
        piece = chance.choice(sorted(pieces(chance.choice(other.streams)[1])) or [b"\n"])
        at = chance.randrange(len(run.streams))
        data = run.streams[at][1]
        place, glued = chance.randint(0, len([*lines_of(data)])), chance.random() < 0.3
        what = f"{run.name}, {run.streams[at][0]}: {piece!r} of {other.name} behind line {place}, glued: {glued}"
        yield what, run.with_stream(at, with_piece(data, piece, place, glued=glued))


def hidden(whole: Told, made: Iterable[tuple[str, Run]], exit_code: int | None) -> list[str]:
    """Each forgery under which a sufficient packet has fewer failures than there are."""
    found = []
    for what, run in made:
        now = told(run, exit_code)
        fewer = len(now.transcript.failures) < len(whole.transcript.failures)
        if now.sufficient and (fewer or now.transcript.tally.failed < whole.transcript.tally.failed):
            found.append(what)
    return found


def failing(run: Run) -> Told | None:
    """What is told of a run, if that is that it failed, in full."""
    whole = told(run, run.exit_code)
    return whole if run.exit_code and whole.sufficient and whole.transcript.failures else None


def test_a_forged_piece_hides_no_failure() -> None:
    """P1, P2"""
    red = [(run, whole) for run in RUNS if run.name not in KNOWN and (whole := failing(run)) is not None]
    assert [lie for run, whole in red for lie in hidden(whole, forged(run, 1), run.exit_code)] == []
    assert [lie for run, whole in red for lie in lies(whole, islice(forged(run, 2), 1, None), exit_code=0)] == []


@pytest.mark.soak
@pytest.mark.parametrize("run", RUNS, ids=IDS)
def test_no_forged_piece_hides_a_failure(run: Run) -> None:
    """P1, P2"""
    whole = failing(run)
    if whole is not None and run.name not in KNOWN:
        assert hidden(whole, forged(run, FORGERIES), run.exit_code) == []
        assert lies(whole, forged(run, FORGERIES), exit_code=0) == []


def assert_one_packet(run: Run, sizes: Iterable[int]) -> None:
    """Chunks make no difference (READ-3), the bytes bear the packet out, and each line is explained once (P3)."""
    options: RunOptions = {"exit_code": run.exit_code, "interrupted": run.interrupted, "raw_evidence_ref": "ref"}

    def streams(size: int) -> list[SourceStream]:
        parts = [(n, d, [d[i : i + size] for i in range(0, len(d), size)]) for n, d in run.streams]
        return [SourceStream(name, len(data), chunks) for name, data, chunks in parts]

    packet = serialize_packet(reduce_streams(streams(1 << 20), **options))
    for size in sizes:
        assert serialize_packet(reduce_streams(streams(size), **options)) == packet
    assert verify_packet(packet, streams=dict(run.streams)) == []
    for stream in explain_streams(streams(1 << 20), **options)["streams"]:
        told_lines = [n for span in stream["spans"] for n in range(span["first"], span["last"] + 1)]
        assert told_lines == [*range(1, len([*lines_of(dict(run.streams)[stream["name"]])]) + 1)]


def test_a_run_has_one_packet() -> None:
    for run in RUNS[::12]:
        assert_one_packet(run, (7,))


@pytest.mark.soak
@pytest.mark.parametrize("run", RUNS, ids=IDS)
def test_every_run_has_one_packet(run: Run) -> None:
    assert_one_packet(run, (1, 7, 64))
