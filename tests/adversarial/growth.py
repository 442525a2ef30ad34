"""How the time that a pattern takes grows with the line, and what lines are made of to find out."""

import re
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

LONGEST = 1 << 20
SHORTEST = 1 << 12
STEP = 4
BOUND = 3.5**2
"""3.5 for each doubling; a line four times as long costs a square sixteen times as much."""
NOISE = 0.003
"""Seconds below which a ratio says nothing."""
NEXT_TO_NOTHING = 20e-6
"""Seconds in which no line of this length can have been looked at: the pattern gave up where the line starts."""

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
)


Pattern = re.Pattern[Any]
"""Of bytes or of text."""


def patterns(module: ModuleType) -> Iterator[tuple[str, Pattern]]:
    """The compiled patterns of a module, also those in tuples; one that it only imports counts where it is made."""
    for name, value in vars(module).items():
        yield from _inside(name, value)


def _inside(name: str, value: object) -> Iterator[tuple[str, Pattern]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from _inside(f"{name}[{place}]", part)


def seconds(deed: Callable[[bytes], object], line: bytes, tries: int = 1) -> float:
    """Processor time of the best of some tries; what else the machine does is not in it."""
    best = float("inf")
    for _ in range(tries):
        started = time.thread_time()
        deed(line)
        best = min(best, time.thread_time() - started)
    return best


def grows_too_fast(deed: Callable[[bytes], object], line: Callable[[int], bytes], longest: int = LONGEST) -> bool:
    """Whether time grows much faster than length somewhere on the way from a short line to a long one."""
    length, before = SHORTEST, seconds(deed, line(SHORTEST), 2)
    while length < longest:
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
