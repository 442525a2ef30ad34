"""What standard output can show: width and colours for a terminal, plain text for everything else."""

import codecs
import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# Select Graphic Rendition: how a terminal is told to colour.
BOLD, DIM, RED, GREEN, YELLOW, MAGENTA = "1", "2", "31", "32", "33", "35"
STATUS_COLOURS = {"failed": RED, "passed": GREEN, "indeterminate": YELLOW}


@dataclass(frozen=True, slots=True)
class Terminal:
    """What standard output can show: its width, or None if it is no terminal, and whether it has colours."""

    width: int | None
    colours: bool

    @classmethod
    def of_stdout(cls) -> "Terminal":
        """What standard output is."""
        if sys.stdout is None or not sys.stdout.isatty():
            return cls(None, False)
        colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return cls(max(20, shutil.get_terminal_size().columns), colours)

    def line(self, text: str, *colours: str) -> str:
        """A line of output, no wider than the terminal."""
        if self.width is not None:
            text = cut(text.expandtabs(), self.width)
        return f"\x1b[{';'.join(colours)}m{text}\x1b[0m" if self.colours and colours and text else text


def spelled_out(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Text with all that a terminal could take for a command spelled out; newlines and tabs stay."""
    from context_firewall.documents.printable import UNSAFE, spelled

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for part in parts:
        text = decoder.decode(part)
        yield UNSAFE.sub(lambda found: found[0] if found[0] == "\n" else spelled(found), text).encode()
    yield decoder.decode(b"", final=True).encode()


def for_stdout(document: bytes) -> bytes:
    """A text that is not ours, as it is; to a terminal, with its control characters spelled out."""
    if sys.stdout is None or not sys.stdout.isatty():
        return document
    return b"".join(spelled_out([document]))


def cut(text: str, width: int) -> str:
    """The beginning of a text that takes no more columns than that."""
    if len(text) <= width and text.isascii():
        return text
    used = 0
    for at, character in enumerate(text):
        used += _columns(character)
        if used > width:
            while at and used > width - 1:
                at -= 1
                used = sum(map(_columns, text[:at]))
            return f"{text[:at]}…"
    return text


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def columns_of(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> Iterator[str]:
    """Rows of texts as lines whose columns begin below one another; those that are named end so, as numbers do."""
    widths = [max(sum(map(_columns, row[at])) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = []
        for at, text in enumerate(row):
            space = " " * (widths[at] - sum(map(_columns, text)))
            cells.append(space + text if at in right else text + space)
        yield "  ".join(cells).rstrip()
