"""What the tests of several dialects ask of a report: its names, its tally, and that no line is lost."""

import random
import time
from collections.abc import Iterable, Sequence

from context_firewall.reduction.verdict import Circumstances, Verdict, judge_v3
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import read_streams, trace_streams


def read(text: str, exit_code: int | None = 0, stderr: str = "", dialect: str = "auto") -> Transcript:
    """A run's two streams."""
    streams = [("stdout", [text.encode()]), ("stderr", [stderr.encode()])]
    return read_streams(streams, exit_code=exit_code, dialect=dialect)


def judged(text: str, exit_code: int | None = 0, stderr: str = "") -> Verdict:
    """The verdict on a run of which everything else is known."""
    known = Circumstances("op-oven", "oven", "run-7", "file:oven.txt", exit_code)
    return judge_v3(read(text, exit_code, stderr), known)


def sufficient(text: str, exit_code: int | None = 0, stderr: str = "") -> str:
    """The status of a run that its packet is enough to decide on; else its reasons."""
    verdict = judged(text, exit_code, stderr)
    return ", ".join(verdict.reason_codes) or str(verdict.status)


def names(transcript: Transcript) -> list[str]:
    """Who failed."""
    return [found.identity for found in transcript.failures]


def texts(lines: Iterable[Line]) -> list[str]:
    """What stands in some lines."""
    return [line.text for line in lines]


def region(transcript: Transcript, index: int = 0) -> list[str]:
    """All lines of one failure."""
    return texts(transcript.failures[index].lines())


def tally(transcript: Transcript) -> tuple[int, int, int, int]:
    """Passed, failed, skipped, todo."""
    found = transcript.tally
    return found.passed, found.failed, found.skipped, found.todo


def chunked(text: str, dialect: str) -> None:
    """Where chunks end makes no difference."""
    data = text.encode()
    whole = read_streams([("stdout", [data])], exit_code=1, dialect=dialect)
    for size in (1, 7, 64):
        chunks = [data[i : i + size] for i in range(0, len(data), size)]
        assert read_streams([("stdout", chunks)], exit_code=1, dialect=dialect) == whole


def damaged(shapes: Sequence[str], dialect: str, extra: Sequence[str], times: int = 150) -> None:
    """Each line of a damaged report has one fate, traced or not."""
    dice = random.Random(11)  # noqa: S311 - the same damage every time
    for _ in range(times):
        lines = dice.choice(shapes).splitlines()
        for _ in range(dice.randrange(1, 5)):
            at = dice.randrange(len(lines))
            match dice.randrange(4):
                case 0:
                    del lines[at : at + dice.randrange(1, 4)]
                case 1:
                    lines.insert(at, dice.choice([*lines, *extra, ""]))
                case 2:
                    lines[at] = lines[at][: dice.randrange(len(lines[at]) + 1)]
                case _:
                    lines[at:at] = lines[max(0, at - 6) : at]
            lines = lines or [""]
        data = "\n".join(lines).encode() + b"\n"
        found, traces = trace_streams([("stdout", [data])], exit_code=1, dialect=dialect)
        assert found.event_count == len(lines)
        assert len(traces) == len(lines)
        assert read_streams([("stdout", [data])], exit_code=1, dialect=dialect) == found


def linear(text: str, unit: str, end: str, dialect: str) -> None:
    """Four times as much text costs no more than a few times the time."""
    taken = []
    for size in (1 << 13, 1 << 15):
        data = (text + unit * (size // len(unit)) + "\n" + end).encode()
        begun = time.process_time()
        read_streams([("stdout", [data])], exit_code=0, dialect=dialect)
        taken.append(time.process_time() - begun)
    assert taken[1] < 12 * taken[0] + 0.3
