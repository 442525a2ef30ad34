"""Text as the judge compares it, with the way back to where it stands.

Folded text is NFKC and casefolded; quotes and dashes are plain; zero-width and emphasis marks are gone, terminal
sequences and code marks too (what stood in the latter is remembered). Each folded character knows the offset, in
characters, of the original it came from.
Nothing here depends on a locale. The time is linear: a run of combining marks is normalised sixteen at a time.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from context_firewall.documents.printable import ANSI

_MARKS_AT_ONCE = 16
_EMPHASIS = re.compile(r"(?<![\w])_[^_\s](?:[^_\n]{0,78}[^_\s])?_(?![\w])")
_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‛ʼ´`", "'"),
        **dict.fromkeys("“”„‟«»「」『』", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("，、", ","),
        "；": ";",
        "：": ":",
        "。": "。",
    }
)
# Format characters that show nothing, and variation selectors.
_UNSEEN = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f\u200e\u200f\u061c")


class Folded(NamedTuple):
    """Folded text; `offsets[i]` is where character i came from, and one more entry ends the list."""

    text: str
    offsets: list[int]
    code: list[tuple[int, int]]
    """Where code spans stand in the folded text, as half-open ranges."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The range of original characters that the folded range came from."""
        if start >= end:
            return self.offsets[start], self.offsets[start]
        return self.offsets[start], max(self.offsets[end - 1] + 1, self.offsets[end] if end < len(self.text) else 0)


@lru_cache(maxsize=4096)
def _folded_piece(piece: str) -> str:
    if all(character in _UNSEEN or unicodedata.category(character) == "Cc" for character in piece):
        return piece if piece in ("\n", "\t") else "" if piece in _UNSEEN else " "
    plain = unicodedata.normalize("NFKC", piece.translate(_SAME)).casefold()
    return unicodedata.normalize("NFKC", plain).translate(_SAME)


def _pieces(text: str) -> list[int]:
    """Where each base character begins, its combining marks with it."""
    starts = [0]
    marks = 0
    for index in range(1, len(text)):
        if text[index] > "\u02ff" and unicodedata.combining(text[index]) and marks < _MARKS_AT_ONCE:
            marks += 1
        else:
            starts.append(index)
            marks = 0
    return starts


def fold(text: str) -> Folded:
    """Fold a text of any length."""
    characters: list[str] = []
    offsets: list[int] = []
    code: list[tuple[int, int]] = []
    opened = -1
    emphasis = {place for match in _EMPHASIS.finditer(text) for place in (match.start(), match.end() - 1)}
    sequences = {place for match in ANSI.finditer(text) for place in range(*match.span())}
    starts = [*_pieces(text), len(text)] if text else [0]
    for start, end in pairwise(starts):
        piece = text[start:end]
        if start in sequences:
            continue
        if piece == "`":
            if opened >= 0:
                if len(characters) > opened:
                    code.append((opened, len(characters)))
                opened = -1
            else:
                opened = len(characters)
            continue
        if piece == "*" and (text[start - 1 : start] in ("*", "") or text[end : end + 1] == "*"):
            continue  # bold; a single asterisk may be a pattern
        if piece == "_" and opened < 0 and start in emphasis:
            continue
        if piece == "\n" and opened >= 0:
            opened = -1  # a code span ends with its line; what was opened was a quote, or nothing
        for character in _folded_piece(piece):
            characters.append(character)
            offsets.append(start)
    offsets.append(len(text))
    return Folded("".join(characters), offsets, code)
