"""What the hints of many dialects say together: to tell at one look the lines that open none.

Most lines of a long text open nothing, and to ask each of them of each dialect costs more than to read a report. Hints
are patterns for how a line begins, so they are sorted by what they begin with themselves, as words are in a dictionary.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property

from context_firewall.transcript.markers import MARKERS

# What a pattern begins with: a byte or a class, which may be repeated.
_FIRST = re.compile(
    rb"(?P<one>\\x[0-9a-f]{2}|\\[^\w\s]|\\[rt]|[^\\\[(.^$|])(?:\+\+)?+(?![*?{+])|\[(?:\\.|[^\\\]])++\]\+\+"
)


def any_of(hints: Iterable[bytes]) -> bytes:
    """A pattern that matches where one of the hints does.

    Those that begin alike are one branch, and those that begin with a byte are tried only where such a byte stands.
    """
    branches: dict[bytes, list[bytes]] = {}
    firsts: dict[bytes, bytes] = {}
    for hint in hints:
        found = _FIRST.match(hint)
        begin = found[0] if found else b""
        branches.setdefault(begin, []).append(hint[len(begin) :])
        if found and found["one"]:
            firsts[begin] = found["one"]
    patterns = {begin: _branch(begin, rests) for begin, rests in branches.items()}
    blank = [patterns.pop(begin) for begin, one in firsts.items() if one == b" "]
    others = [patterns.pop(begin) for begin, one in firsts.items() if one != b" "]
    stand = dict.fromkeys(one for one in firsts.values() if one != b" ")
    guard = b"".join(re.escape(one) if len(one) == 1 else one for one in stand)
    return b"|".join([*blank, *_guarded(guard, others), *patterns.values()])


def _branch(begin: bytes, rests: Sequence[bytes]) -> bytes:
    if not begin:
        return b"|".join(rests)
    return begin if b"" in rests else begin + rests[0] if len(rests) == 1 else b"%b(?:%b)" % (begin, any_of(rests))


def _guarded(guard: bytes, branches: Sequence[bytes]) -> Sequence[bytes]:
    return branches if len(branches) < 4 else (b"(?=[%b])(?:%b)" % (guard, b"|".join(branches)),)


class Hints:
    """The hints of several dialects; each pattern is made when it is asked for."""

    def __init__(self, hints: Iterable[bytes]) -> None:
        self._hints = tuple(hints)

    @cached_property
    def opening(self) -> re.Pattern[bytes]:
        """How a bare line begins that may open a dialect."""
        return re.compile(any_of(self._hints))

    @cached_property
    def text(self) -> re.Pattern[bytes]:
        """Runs of whole lines that are blank or text: no markers, not npm's, and they open nothing."""
        return self._text(b".*+")

    @cached_property
    def colourless_text(self) -> re.Pattern[bytes]:
        """The same without lines that hold an escape sequence: hints see bare lines."""
        return self._text(rb"[^\n\x1b]*+")

    def _text(self, line: bytes) -> re.Pattern[bytes]:
        markers = (re.escape(prefix) for prefixes, _ in MARKERS for prefix in prefixes)
        # Blank lines are told first, as a hint that skips blanks would be tried at each.
        return re.compile(rb"(?:[ \t\r\x0b\x0c]*+\n|(?!%b)%b\n)++" % (any_of([*self._hints, *markers, b"> "]), line))


@cache
def together(hints: tuple[bytes, ...]) -> Hints:
    """Those hints, made once."""
    return Hints(hints)
