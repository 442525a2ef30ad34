"""Lines of a stream, as bytes. Only b"\\n" ends a line; a lone CR, NEL or U+2028 neither ends nor hides one."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count, repeat
from typing import NamedTuple

from context_firewall.canonical import sha256
from context_firewall.transcript.kinds import Kind

# ECMA-48 control sequences (CSI … final byte), OSC strings ended by BEL or ST, charset selections and keypad modes.
# Each alternative starts with ESC and consumes distinct classes, so the pattern is linear.
ANSI = re.compile(rb"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>])")


def bare(raw: bytes) -> bytes:
    """A line as rules see it: without ANSI sequences and without one trailing CR. The kept text has both."""
    if b"\x1b" in raw:
        raw = ANSI.sub(b"", raw)
    return raw.removesuffix(b"\r")


def decoded(raw: bytes) -> str:
    """Text of a line for a document: UTF-8, each malformed sequence shown as U+FFFD."""
    return raw.decode("utf-8", "replace")


class Line(NamedTuple):
    """One source line that a packet may show: its stream, 1-based number, kind, and exact bytes without newline."""

    stream: str
    number: int
    kind: Kind
    raw: bytes

    @property
    def text(self) -> str:
        """The line as text; a byte order mark before the first line of a stream is dropped."""
        raw = self.raw
        if self.number == 1 and raw.startswith(b"\xef\xbb\xbf"):
            raw = raw[3:]
        return decoded(raw)

    @property
    def sha256(self) -> str:
        """Digest of the text's bytes (the raw bytes, unless they are malformed or start with a byte order mark)."""
        return sha256(self.text.encode())

    def as_kind(self, kind: Kind) -> "Line":
        """The same line under another kind."""
        return Line(self.stream, self.number, kind, self.raw)


def bares(lines: Iterable[Line]) -> list[bytes]:
    """Lines as rules see them. There may be many, and most have nothing to take off."""
    raws = [line.raw for line in lines]
    return [bare(raw) if b"\x1b" in raw or b"\r" in raw else raw for raw in raws]


# As Line._make, which is written in Python.
_line: Callable[[tuple[str, int, Kind, bytes]], Line] = partial(tuple.__new__, Line)


def lines_from(stream: str, number: int, kinds: Iterable[Kind], raws: Iterable[bytes]) -> list[Line]:
    """Lines that follow one another, the first of them with that number. There are many, so no loop makes them."""
    return list(map(_line, zip(repeat(stream), count(number), kinds, raws, strict=False)))
