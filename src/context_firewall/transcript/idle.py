"""Lines outside every stretch: strict markers, npm's own lines, blank, or unclassified."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import attrgetter

from context_firewall.transcript.account import Account
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, lines_from
from context_firewall.transcript.machine import Adopts, Machine
from context_firewall.transcript.markers import marker_kind
from context_firewall.transcript.runs import BLOCK_BYTES, Runs

# A blank line below another.
BLANK = re.compile(rb"\n[ \t\r\x0b\x0c]*+\n")
# npm prints package, version and script before it runs one, then the command: "> shop@1.0.0 test", "> node --test".
NPM_SCRIPT = re.compile(rb"> (?:@[^\s/@]++/)?[^\s@]++@[0-9][^\s]*+ [^\n]++")
NPM_COMMAND = re.compile(rb"> [^\n]++")


class Idle:
    """Lines outside every stretch."""

    def __init__(self, stream: str, trace: bool, *, since: int = 0) -> None:
        self.since = since
        """The number of the line behind which they stand."""
        self._stream = stream
        self._lines: dict[Kind, list[Line]] = {}
        self._text: list[tuple[int, bytes]] = []
        """Runs of lines that are blank or unclassified, each with its first number, behind those in `_lines`."""
        self._script = -1
        """The line on which npm named a script."""
        self._suppressed = Account()
        self._trace = trace
        if trace:
            self._suppressed.trace()

    def line(self, text: bytes, raw: bytes, number: int) -> None:
        if NPM_SCRIPT.fullmatch(text) or (self._script == number - 1 and NPM_COMMAND.fullmatch(text)):
            if NPM_SCRIPT.fullmatch(text):
                self._script = number
            self._suppressed.add(Kind.INFORMATIONAL, number)
        elif (kind := marker_kind(text)) is not None:
            self._lines.setdefault(kind, []).append(Line(self._stream, number, kind, raw))
        else:
            self._text.append((number, raw + b"\n"))

    def run(self, text: bytes, number: int) -> int:
        """Keep a run of whole lines, blank or unclassified; returns how many."""
        self._text.append((number, text))
        return text.count(b"\n")

    def unclassified(self) -> Sequence[Line]:
        """The lines that nothing reads, in order."""
        kept = self._lines.setdefault(Kind.UNCLASSIFIED, [])
        told: list[list[Line]] = []
        # Each run goes when its lines are there, the last first, so that its memory can be given back at once.
        while self._text:
            number, text = self._text.pop()
            raws = text.split(b"\n")
            raws.pop()
            lines = lines_from(self._stream, number, repeat(Kind.UNCLASSIFIED), raws)
            if b"\x1b" in text or BLANK.search(b"\n" + text):
                blank = [line for line in lines if not bare(line.raw).strip()]
                self._suppressed.add_lines(Kind.BLANK, blank)
                lines = [line for line in lines if bare(line.raw).strip()]
            told.append(lines)
        while told:
            kept += told.pop()
        return kept

    def hand_over(self, machine: Adopts) -> list[Line]:
        """Let a machine take the kept lines that stand before its opening; returns those that it has taken."""
        self.unclassified()
        taken: list[Line] = []
        lines = sorted((line for kept in self._lines.values() for line in kept), key=attrgetter("number"))
        self._lines = {}
        for line in lines:
            if machine.adopt(bare(line.raw), line):
                taken.append(line)
            else:
                self._lines.setdefault(line.kind, []).append(line)
        return taken

    def hand_over_text(self, machine: Machine) -> None:
        """Give a machine all unclassified lines, and blank ones among them, many at a time where it takes runs."""
        lines = self._lines.pop(Kind.UNCLASSIFIED, [])
        parts = [*((line.number, line.raw + b"\n") for line in lines), *self._text]
        self._text = []
        for first, text in _blocks(parts):
            number, position = first, 0
            runs = Runs(text, closed=self._trace)
            while position < len(text):
                taken, stop = runs.take(machine, position, number)
                if not taken:
                    end = text.index(b"\n", position)
                    raw = text[position:end]
                    machine.line(bare(raw), raw, number)
                    taken, stop = 1, end + 1
                number += taken
                position = stop

    def reading(self) -> Reading:
        return Reading(
            fatal_errors=tuple(self._lines.get(Kind.FATAL_ERROR, ())),
            timeouts=tuple(self._lines.get(Kind.TIMEOUT, ())),
            warnings=tuple(self._lines.get(Kind.ABNORMAL_WARNING, ())),
            unclassified=tuple(self.unclassified()),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
        )


def _blocks(parts: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Texts with the numbers of their first lines; those that follow one another are made one, up to a block's size."""
    first, beyond, size, held = 0, 0, 0, list[bytes]()
    for number, text in parts:
        if number != beyond or size + len(text) > BLOCK_BYTES:
            if held:
                yield first, b"".join(held)
            first, beyond, size, held = number, number, 0, []
        held.append(text)
        size += len(text)
        beyond += text.count(b"\n")
    if held:
        yield first, b"".join(held)
