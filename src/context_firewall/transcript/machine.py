"""What a dialect is to the reader: a row that says how its output opens, and a machine that reads it.

The reader gives a machine complete lines in order, each exactly once: one by one through `line`, or many at once
through `run` where the machine has offered a `lane` for them.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from context_firewall.transcript.account import Account
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.lines import Line

MARKS = (b"#", b"\\", b"{", b"\x1b")
"""Bytes that may change what a line means: a directive, an escape, a brace, an ANSI sequence."""


class Machine(Protocol):
    """Reads one stretch of one stream."""

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """A pattern for runs of whole lines (each with its newline) that are suppressible just now, or None.

        It must be linear (possessive) and match at a line's start only. `plain`: the lines that it will see hold none
        of MARKS, so it need not exclude them.
        """

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Take the lines of block[start:stop], which `lane` matched; the first has line number `number`.

        Returns how many lines were taken: all of them, or 0 to have them given one by one.
        """

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """Take one line: `bare` for the rules (no ANSI, no trailing CR), `raw` as it stands. Neither has the newline.

        False says that the grammar does not know this line here; the machine has accounted for it as unclassified
        all the same, unless `complete` is true: then it has not taken the line, and the reader decides whose it is.
        """

    def trace(self) -> None:
        """Remember, for the reading's `fates`, which lines are suppressed. Called before the first line or never."""

    def cut(self) -> None:
        """The line that comes now is the stream's last and has no newline: it may have been cut."""

    @property
    def complete(self) -> bool:
        """Whether everything opened so far is closed and reconciled, so that something else may follow."""

    def close(self, exit_code: int | None) -> Reading:
        """No more lines come. The process' exit code is a witness for contested results."""


class Bookkeeper:
    """What most machines begin with: the stream they read, an account of what they suppress, and no lane."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._suppressed = Account()

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """None: each line is read as such."""
        return None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Nothing, as there is no lane."""
        return 0

    def trace(self) -> None:
        """Remember which lines are suppressed."""
        self._suppressed.trace()


@runtime_checkable
class Adopts(Protocol):
    """A machine whose runner may have let its program speak before it said the first word of its own."""

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Whether a line before the opening, unclassified or a marker, is taken; called in order, before any other."""


class Row(Protocol):
    """A dialect, loaded or not yet."""

    @property
    def name(self) -> str:
        """As given to `--dialect`."""

    @property
    def streams(self) -> frozenset[str]:
        """Where the runner prints."""

    @property
    def dialect(self) -> "Dialect":
        """The dialect itself."""

    def opens(self, bare: bytes) -> bool:
        """Whether a bare line opens it."""


class Dialect(NamedTuple):
    """The row of one runner's output in the registry."""

    name: str
    """As given to `--dialect`."""
    title: str
    """For people."""
    checked: str
    """The versions of the runner on whose real output the rules were checked."""
    streams: frozenset[str]
    """Where the runner prints; the other stream is never read by this dialect."""
    opening: re.Pattern[bytes]
    """A bare line that proves this dialect begins here; matched from the line's start."""
    begin: Callable[[str], Machine]
    """A fresh machine for the stream of that name."""
    program_streams: frozenset[str] = frozenset()
    """Streams on which the runner itself never prints: what stands there is the program's own output."""
    settle: "Callable[[list[Reading]], list[Reading]] | None" = None
    """What the readings of all streams mean together, where the runner tells one run's story in two of them."""
    below: "Callable[[Line, Sequence[Line], int], bool] | None" = None
    """Whether an opening, that line, stands where it may, given the unclassified lines before it, which no dialect
    reads, and the number of the last line that one has read. Such an opening says more than one that may stand
    anywhere, and goes before it."""
    placed: re.Pattern[bytes] | None = None
    """The opening that `below` is asked about, where `opening` may stand anywhere; None if it is asked about that."""
    tentative: bool = False
    """Whether the opening alone proves little: until more bears it out, another dialect's opening takes its lines."""
    adopts_text: bool = False
    """Whether all that stands before the opening is its machine's to read, but for strict markers. It is not tentative
    then."""

    @property
    def dialect(self) -> "Dialect":
        """Itself: a dialect is a row that is loaded already."""
        return self

    def opens(self, bare: bytes) -> bool:
        """Whether a bare line opens it, perhaps only where it stands in its place."""
        return self.opening.match(bare) is not None or (self.placed is not None and self.placed.match(bare) is not None)

    def opens_anywhere(self, bare: bytes) -> bool:
        """Whether a bare line opens it wherever it stands."""
        return (self.below is None or self.placed is not None) and self.opening.match(bare) is not None

    def opens_below(self, bare: bytes, line: Line, above: Sequence[Line], since: int) -> bool:
        """Whether a line opens it because of its place: below the lines `above`, behind line number `since`."""
        opening = self.placed or self.opening
        return self.below is not None and opening.match(bare) is not None and self.below(line, above, since)
