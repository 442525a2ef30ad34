"""Many lines at once: the runs of a block that a machine's lane takes."""

from context_firewall.transcript.machine import MARKS, Machine

# Lines are read in blocks of about this size, whatever the chunks: large enough that few runs are cut at an end, small
# enough that a block, and what a run in it is checked with, stays in the processor's cache.
BLOCK_BYTES = 1 << 18
# A run that a machine refuses is tried again at a quarter of its length, down to this; then one line is read as such.
SHORTEST_RUN = 1 << 9
# A lane for lines without marks is asked for where so many bytes have none; in a block in which they are found near
# so often in a row, no more.
PLAIN_REACH = 1 << 10
PATIENCE = 16


class Runs:
    """The runs of a block that a machine takes at once."""

    def __init__(self, block: bytes, *, closed: bool = False) -> None:
        """`closed`: none at all; each line is read as such."""
        self._block = block
        self._closed = closed
        self.coloured = b"\x1b" in block
        self._patience = PATIENCE
        self._marks = dict.fromkeys(MARKS, -1)
        """Where each next stands, as far as it was looked for."""
        self._plain_to = -1
        """Where the first of them stands, or the block ends."""
        self._span = len(block)
        """How far a run may reach: what is wrong with one that is refused stands somewhere in it."""

    def take(self, machine: Machine, position: int, number: int) -> tuple[int, int]:
        """Offer the machine the run at a position, a shorter one if it refuses; `number` is that of its first line.

        Returns how many lines were taken, 0 where one has to be read as such, and where they end.
        """
        if self._closed:
            return 0, position
        end = self._plain_part(position)
        lane = machine.lane(plain=end > 0)
        end = end or len(self._block)
        while lane is not None:
            limit = min(end, position + self._span)
            match = lane.match(self._block, position, limit)
            if match is None:
                if limit < end:
                    self._span *= 2
                break
            taken = machine.run(self._block, position, match.end(), number)
            if taken:
                self._span *= 2
                return taken, match.end()
            self._span = (match.end() - position) // 4
            if self._span <= SHORTEST_RUN:
                self._span = SHORTEST_RUN
                break
        return 0, position

    def _plain_part(self, position: int) -> int:
        """Where the lines without marks end that stand at a position; 0 if there are few, or seem to be."""
        if not self._patience:
            return 0
        if self._plain_to < position:
            for mark, at in self._marks.items():
                if at < position:
                    found = self._block.find(mark, position)
                    self._marks[mark] = found if found >= 0 else len(self._block)
            self._plain_to = min(self._marks.values())
        if self._plain_to - position < PLAIN_REACH:
            self._patience -= 1
            return 0
        self._patience = PATIENCE
        return self._plain_to
