"""Results that are one letter each, in lines that may be as long as the run.

What a test prints to the same stream is glued to them. A line of nothing but letters is taken for results. Of a line
with other text in it nobody can say which of the letters at its ends are results and which are text.
"""

import re
from collections import Counter
from collections.abc import Mapping


class Letters:
    """The letters of one run."""

    def __init__(self, alphabet: bytes) -> None:
        """`alphabet`: all letters that stand for a result; none of them means anything in a class of a pattern."""
        self.sure: Counter[int] = Counter()
        """From lines that hold nothing else."""
        self.loose: Counter[int] = Counter()
        """From the ends of lines that hold text too."""
        self._whole = re.compile(rb"[%b]++" % alphabet)
        self._last = re.compile(rb"(?<![%b])[%b]++\Z" % (alphabet, alphabet))

    def take(self, bare: bytes) -> bool:
        """Count a line of nothing but letters; says whether it is one."""
        if not self._whole.fullmatch(bare):
            return False
        self.sure.update(bare)
        return True

    def glued(self, bare: bytes) -> bool:
        """Look for letters at the ends of a line with text; says whether there are any."""
        found = [match[0] for match in (self._whole.match(bare), self._last.search(bare)) if match is not None]
        for letters in found:
            self.loose.update(letters)
        return bool(found)

    def agree(self, stated: Mapping[int, int]) -> bool:
        """Whether each letter has been read as often as it should, as far as text lets see."""
        counts = Counter(stated)
        return self.sure <= counts <= self.sure + self.loose
