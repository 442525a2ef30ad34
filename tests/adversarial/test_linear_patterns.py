"""Every pattern of the reading rooms against long hostile lines: the time doubles when the line does.

Lengths go from a few kilobytes to a megabyte. A pattern fails when a step costs more than it may: one that looks at
every byte again for every byte does, and is caught while the line is still short.
"""

import re
import time
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from context_firewall.transcript import details, lines, markers, process_failure, reader
from context_firewall.transcript.dialects import (
    ava_grammar,
    bats_pretty,
    bats_warnings,
    deno,
    gotestsum,
    nextest,
    node_grammar,
    prove_grammar,
    tap_grammar,
    test_more_diagnostics,
)

MODULES = (
    tap_grammar,
    ava_grammar,
    bats_pretty,
    bats_warnings,
    deno,
    gotestsum,
    nextest,
    node_grammar,
    prove_grammar,
    test_more_diagnostics,
    details,
    process_failure,
    lines,
    markers,
    reader,
)
LONGEST = 1 << 20
SHORTEST = 1 << 12
STEP = 4
BOUND = 3.5**2
"""3.5 for each doubling; a line four times as long costs a square sixteen times as much."""
NOISE = 0.003
"""Seconds below which a ratio says nothing."""
NEXT_TO_NOTHING = 20e-6
"""Seconds in which no line of this length can have been looked at: the pattern gave up where the line starts."""

# Patterns that are tried at every offset of a line; the others are anchored where the line starts.
SEARCHED = {"ESCAPED", "OBJECT_PAIR", "ANSI", "POSITION", "LATER_DIRECTIVE", "DURATION", "_PLACE", "GREEN_ID", "DOTS"}

BEGINNINGS = {
    "deno": (b"", b"a => ", b"a ... ok", b"ok | 1 passed"),
    "nextest": (b"", b"        PASS [   0.004s] ", b"        ", b"     Summary [   0.1s] 1 tests run: 1 passed"),
    "gotestsum": (b"", b"PASS ", b"PASS a.Test", "✓  ".encode(), b"DONE 1 tests"),
    "bats_pretty": (b"", b"\x1b[1G   ", b"\x1b[0m\x1b[1G   ", "\x1b[1G ✓ ".encode(), b"   "),
    "ava_grammar": (b"", "  ✔ ".encode(), "  ✘ ".encode(), b"  "),
    "tap_grammar": (b"", b"ok 1 - ", b"# Subtest: ", b"# { "),
    "node_grammar": (b"", "✔ ".encode(), b"test at "),
    "process_failure": (b"", b"    at "),
    "prove_grammar": (b"", b"t/a.t .. ", b"Files=1, Tests=1,  0 wallclock secs ("),
    "test_more_diagnostics": (b"", b"#   Failed test at "),
}
"""What a line starts with, so that a pattern gets past its own start; else nothing."""

PIECES = (
    b"a",
    b"A",
    b"1",
    b" ",
    b"\t",
    b"#",
    b"\\",
    b" # skip",
    b"\\# ",
    b" (",
    b" (1ms)",
    b" (1",
    b"(a:1:",
    b":1",
    b": ",
    b": Error",
    b"/",
    b" /a:1",
    b"Error [A_",
    b"pass: 1, ",
    b"\x1b[",
    b"\x1b]",
    b"\xc2\xa0",
    b"\xe3\x80",
    b".py::",
    b"ok 1 - a\n",
    b" line 1.",
    b"\x00",
    b"\r",
    b"at ",
    b" line 1",
    b" .. ",
    b"\x1b[1G   a\x1b[K\x1b[9G1/2\x1b[2G",
    b"\x1b[1A",
    b"1/1",
    b".Test",
    b" => ",
    b" ... ok",
    b" ... ok (1ms)",
    b" (1ms)",
    b" [",
    b"A [1s] ",
    "─".encode(),
    b".a",
)


def patterns(module: ModuleType) -> Iterator[tuple[str, "re.Pattern[bytes]"]]:
    """The compiled patterns of a module, also those in tuples; one that it only imports counts where it is made."""
    for name, value in vars(module).items():
        for place, pattern in enumerate(value if isinstance(value, tuple) else (value,)):
            if isinstance(pattern, re.Pattern):
                yield (f"{name}[{place}]" if isinstance(value, tuple) else name), pattern


CASES = [
    pytest.param(room, name, pattern, id=f"{room}-{name}")
    for module in MODULES
    for room in [module.__name__.rpartition(".")[2]]
    for name, pattern in patterns(module)
]


def seconds(deed: Callable[[bytes], object], line: bytes, tries: int = 1) -> float:
    """Processor time of the best of some tries; what else the machine does is not in it."""
    best = float("inf")
    for _ in range(tries):
        started = time.thread_time()
        deed(line)
        best = min(best, time.thread_time() - started)
    return best


def grows_too_fast(deed: Callable[[bytes], object], line: Callable[[int], bytes]) -> bool:
    """Whether time grows much faster than length somewhere on the way from a short line to a long one."""
    length, before = SHORTEST, seconds(deed, line(SHORTEST), 2)
    while length < LONGEST:
        length *= STEP
        text = line(length)
        now = seconds(deed, text)
        if length > SHORTEST * STEP and now < NEXT_TO_NOTHING:
            return False
        if now > NOISE and now > BOUND * max(before, NOISE / BOUND):
            # Once more, for a number that can be trusted.
            before = max(before, seconds(deed, line(length // STEP), 5))
            if min(now, seconds(deed, text, 3)) > BOUND * before:
                return True
        before = now
    return False


def anchored(pattern: "re.Pattern[bytes]") -> Callable[[bytes], object]:
    """Tried where the line starts, and the whole of it."""
    return pattern.fullmatch


def everywhere(pattern: "re.Pattern[bytes]") -> Callable[[bytes], object]:
    """Tried at every offset."""
    return lambda line: pattern.sub(b"", line)


@pytest.mark.parametrize(("room", "name", "pattern"), CASES)
def test_time_grows_with_the_line(room: str, name: str, pattern: "re.Pattern[bytes]") -> None:
    deed = everywhere(pattern) if name in SEARCHED else anchored(pattern)
    for beginning in BEGINNINGS.get(room, (b"",)):
        for piece in PIECES:

            def line(length: int, piece: bytes = piece, beginning: bytes = beginning) -> bytes:
                return beginning + piece * (length // len(piece)) + b"\x01"

            assert not grows_too_fast(deed, line), (name, beginning, piece)


def test_every_module_has_patterns_or_none_at_all() -> None:
    without = {module.__name__.rpartition(".")[2] for module in MODULES if not list(patterns(module))}
    assert without == {"markers"}


def test_the_measure_sees_a_square() -> None:
    assert grows_too_fast(lambda line: re.search(rb"a*c", line), lambda length: b"a" * length)
    assert not grows_too_fast(lambda line: re.search(rb"(?<!a)a*+c", line), lambda length: b"a" * length)
