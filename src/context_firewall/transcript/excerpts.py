"""Excerpts of source below an error, as code frames print them: `  45 |   stock.read();`, `> 46 |   expect(…)`.

Most of an excerpt is on disk and there for orientation. The statements right before the failing one lead up to it: what
they call, prepare or print is part of what happened.
"""

import re
from collections.abc import Sequence

# A row with code on it: its number, a bar, and the code with its indentation. jest marks the failing row with `>`.
_ROW = re.compile(rb" *+(?:> ++)?+[0-9]++ ?\|( *+)\S[^\n]*+")


def lead_up(above: Sequence[bytes], failing: bytes) -> int:
    """How many of the rows right `above` a `failing` one (bare lines) stand in its block: as deep, nothing between."""
    row = _ROW.fullmatch(failing)
    if row is None:
        return 0
    count = 0
    for text in reversed(above):
        before = _ROW.fullmatch(text)
        if before is None or before[1] != row[1]:
            break
        count += 1
    return count
