"""Reads a stream again without an opening that led to nothing.

A program may print one line that opens a dialect, above the report of another runner: a build step, the name of a
test, a piece of an example. A machine that takes whatever stands in a report then takes the report below it for such
text, and never closes. So a stream with a stretch that has not closed, and has hardly found a failure, is read again,
and the line that opened the stretch opens nothing. If what stands last then is another runner's report that closes and
explains the exit code, and more failures are told than before, it is the reading, and the stream is ambiguous; so too
if several more are told in a report that does not close. Else the first one stays.
"""

from collections.abc import Callable, Iterable, Sequence

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading

HELD_AT_MOST = 4 * 1024 * 1024
"""Bytes of a stream that are held."""
AGAIN_AT_MOST = 1024 * 1024
"""Bytes of a stream that is read again; a longer one is read once."""
READINGS_AT_MOST = 6
MISLEADING_AT_MOST = 2
"""Openings of one dialect that may lead to nothing before it is not asked any more."""
EVERYWHERE = 0

Openings = frozenset[tuple[str, int]]
"""Names of dialects with the numbers of lines that open nothing, or EVERYWHERE."""


class Held:
    """The bytes of a stream, as long as they are few enough to be read again."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._held: list[bytes] = []
        self._size = 0

    def once(self) -> Iterable[bytes]:
        """The chunks, which are held as they pass."""
        for chunk in self._chunks:
            self._size += len(chunk)
            if self._size <= HELD_AT_MOST:
                self._held.append(chunk)
            else:
                self._held.clear()
            yield chunk

    def again(self, at_most: int = HELD_AT_MOST) -> Sequence[bytes] | None:
        """All that has passed, or None if it was more than so many bytes."""
        return self._held if self._size <= at_most else None


def unmisled(
    first: list[Reading], held: Held, read: Callable[[Sequence[bytes], Openings], list[Reading]], exit_code: int | None
) -> list[Reading]:
    """The readings of a stream: the `first`, or better ones of `read` without openings that led to nothing."""
    chunks = held.again(AGAIN_AT_MOST)
    ignored: Openings = frozenset()
    readings = first
    for _ in range(READINGS_AT_MOST - 1):
        led = [(part.dialect, part.opened) for part in readings if _leads_to_nothing(part)]
        if chunks is None or not led:
            break
        often = {name for name, _ in led if sum(name == other for other, _ in ignored) >= MISLEADING_AT_MOST}
        ignored |= {*led, *((name, EVERYWHERE) for name in often)}
        readings = read(chunks, ignored)
        last = next((part.dialect for part in reversed(readings) if part.dialect), "")
        # A report without its first line is no other report.
        if last not in {name for name, _ in ignored} and _is_better(readings, first, exit_code):
            return [*readings, Reading(doubts=frozenset({Doubt.AMBIGUOUS_DIALECT}))]
    return first


def _is_better(readings: Sequence[Reading], first: Sequence[Reading], exit_code: int | None) -> bool:
    """Whether a later reading tells more of why the run failed than the first."""
    found, before = _failures(readings), _failures(first)
    if _explains(readings, exit_code):
        return found > before or (bool(found) and _standing(readings) > _standing(first))
    # Neither closes: one more failure may be a print, several are a report.
    return bool(exit_code) and found > before + 1


def _failures(readings: Sequence[Reading]) -> int:
    """How many failures were read; what the other stream has to settle may be one."""
    return sum(len(part.failures) or (part.spread is not None) for part in readings)


def _standing(readings: Sequence[Reading]) -> int:
    """How well the last stretch closes."""
    return next((part.standing for part in reversed(readings) if part.dialect), 0)


def _leads_to_nothing(part: Reading) -> bool:
    """Whether a stretch never closed and says next to nothing."""
    return bool(part.dialect) and not part.standing and len(part.failures) + len(part.accounts) <= 1


def _explains(readings: Sequence[Reading], exit_code: int | None) -> bool:
    """Whether the stream ends with a report that closes and says why the process ended as it did."""
    for part in reversed(readings):
        if part.dialect:
            failed = bool(part.failures or part.tally.failed)
            explained = exit_code is None or failed == bool(exit_code) or part.spread is not None
            return bool(part.standing) and explained
        if next(part.kept_lines(), None) is not None:
            return False
    return False
