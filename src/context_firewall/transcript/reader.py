"""Bytes to facts: splits a stream into lines, decides which dialect reads each stretch, and accounts for the rest.

A stretch begins where a line opens a dialect and ends where its machine is complete and a line is not its own. A line
that another dialect claims while a stretch is not complete makes the stream ambiguous: from there on both read, and the
one that closes better keeps the stretch. Lines outside every stretch are strict markers, npm's own lines, blank, or
unclassified.
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from context_firewall.errors import InvalidInput
from context_firewall.transcript.dialects import REGISTRY, Entry
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading, Transcript, combined
from context_firewall.transcript.idle import Idle
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.machine import Adopts, Dialect, Machine, Row
from context_firewall.transcript.misled import EVERYWHERE, Held, Openings, unmisled
from context_firewall.transcript.noise import NoiseRule
from context_firewall.transcript.runs import BLOCK_BYTES, Runs
from context_firewall.transcript.settlement import settled

if TYPE_CHECKING:
    from context_firewall.transcript.hints import Hints

AUTO = "auto"

# After so many lines of which any may open a dialect, a pattern for all of them has paid for itself.
MANY_LINES = 500


def dialects_named(name: str) -> tuple[Row, ...]:
    """The rows that may read: all of the registry for "auto", else the one of that name.

    Raises InvalidInput for a name that no row has.
    """
    if name == AUTO:
        return REGISTRY
    rows: tuple[Row, ...] = tuple(row for row in REGISTRY if row.name == name)
    if not rows:
        known = ", ".join([AUTO, *(row.name for row in REGISTRY)])
        raise InvalidInput(f"unknown dialect {name!r}; known are {known}", key="dialect")
    return rows


@dataclass(slots=True)
class Stretch:
    """One candidate's account of a stretch: what came before it, as others read it, and its machine."""

    dialect: Dialect
    machine: Machine
    before: tuple[Reading, ...] = ()
    refused: list[Line] | None = None
    """Lines that are not its own, from when it was complete while others read."""
    held: list[Line] | None = None
    """All its lines, as long as a tentative dialect has read nothing that bears its opening out."""
    idle: Idle | None = None
    """What stood outside before a tentative opening."""
    opened: int = 0
    """The number of its first line."""


class StreamReader:
    """Reads one stream, chunk by chunk. Where the chunks end makes no difference."""

    def __init__(
        self, stream: str, dialects: Sequence[Row], *, trace: bool = False, ignored: Openings = frozenset()
    ) -> None:
        self._stream = stream
        self._trace = trace
        self._ignored = ignored
        self._dialects = tuple(row for row in dialects if stream in row.streams)
        self._claimed = 0
        self._hints: Hints | None = None
        """What all dialects' hints say; made when there are many lines to ask about."""
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._enough = BLOCK_BYTES
        self._number = 0
        self._stretches: list[Stretch] = []
        self._idle = Idle(stream, trace)
        self._done: list[Reading | list[Stretch]] = []
        self._malformed = False
        self._ambiguous = False
        self._cut = False
        """The line that is read now is the stream's last and has no newline."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        for start in range(0, len(chunk), BLOCK_BYTES):
            part = chunk[start : start + BLOCK_BYTES]
            self._held.append(part)
            self._held_bytes += len(part)
            if self._held_bytes >= self._enough:
                self._read_held()

    def _read_held(self) -> None:
        """Read the whole lines of what is held."""
        held = b"".join(self._held)
        end = held.rfind(b"\n") + 1
        # A line longer than a block is looked at again when it has doubled, so that its length costs once.
        self._enough = BLOCK_BYTES if end else 2 * len(held)
        self._held = [held[end:]]
        self._held_bytes = len(held) - end
        self._block(held[:end])

    def close(self, exit_code: int | None) -> list[Reading]:
        """No more bytes come. Returns the readings of the stream's stretches in order."""
        self._read_held()
        rest = b"".join(self._held)
        if rest:
            self._cut = True
            for stretch in self._stretches:
                stretch.machine.cut()
            self._block(rest + b"\n")
        self._end_stretch()
        readings: list[Reading] = []
        for part in self._done:
            readings += [part] if isinstance(part, Reading) else self._decide(part, exit_code)
        doubts = set()
        if self._malformed:
            doubts.add(Doubt.MALFORMED_UTF8)
        if self._ambiguous:
            doubts.add(Doubt.AMBIGUOUS_DIALECT)
        return [*readings, Reading(doubts=frozenset(doubts), cut=self._cut)]

    # -- lines ----------------------------------------------------------------------------------------------------

    def _block(self, block: bytes) -> None:
        """Read whole lines."""
        if not self._malformed and not block.isascii():
            try:
                block.decode("utf-8")
            except UnicodeDecodeError:
                self._malformed = True
        position, end = 0, len(block)
        runs = Runs(block, closed=self._trace)
        while position < end:
            taken, stop = 0, position
            if len(self._stretches) == 1:
                stretch = self._stretches[0]
                # A tentative opening has to be borne out by a line.
                if stretch.held is None:
                    taken, stop = runs.take(stretch.machine, position, self._number + 1)
            elif self._hints is not None and not self._stretches and not self._trace:
                text = self._hints.colourless_text if runs.coloured else self._hints.text
                match = text.match(block, position)
                if match is not None:
                    stop = match.end()
                    taken = self._idle.run(match[0], self._number + 1)
            if taken:
                self._number += taken
                position = stop
                continue
            newline = block.index(b"\n", position)
            raw = block[position:newline]
            self._number += 1
            self._line(bare(raw), raw)
            position = newline + 1

    def _line(self, text: bytes, raw: bytes) -> None:
        number = self._number
        if not self._stretches:
            self._outside(text, raw)
            return
        if len(self._stretches) > 1:
            taken = [self._give(stretch, text, raw, number) for stretch in self._stretches]
            present = [stretch.dialect for stretch in self._stretches]
            claims = [] if all(taken) else self._claims(text)
            further = [row for row in claims if row not in present and row.opens_anywhere(text)]
            if further and not self._stretches[0].machine.complete:
                self._contest(self._stretches[0], further, text, raw)
            return
        stretch = self._stretches[0]
        known = stretch.machine.line(text, raw, number)
        if stretch.held is not None:
            stretch.held.append(Line(self._stream, number, Kind.UNCLASSIFIED, raw))
            if known and text.strip():
                stretch.held = None
        if known:
            return
        if stretch.machine.complete:
            self._end_stretch()
            self._outside(text, raw)
            return
        rivals = [row for row in self._claims(text) if row is not stretch.dialect and row.opens_anywhere(text)]
        if not rivals:
            return
        if stretch.held is None:
            self._contest(stretch, rivals, text, raw)
            return
        # Nothing bears the tentative opening out: what it has read is text before the other's opening.
        self._stretches = []
        if stretch.idle is not None:
            self._idle = stretch.idle
            self._done.pop()
        for line in stretch.held[:-1]:
            self._idle.line(bare(line.raw), line.raw, line.number)
        self._outside(text, raw)

    def _give(self, stretch: Stretch, text: bytes, raw: bytes, number: int) -> bool:
        """Give a line to one of several candidates; one that is complete does not decide what follows it.

        Says whether the candidate knows the line.
        """
        known = stretch.machine.line(text, raw, number)
        if not known and stretch.machine.complete:
            self._ambiguous = True
            if stretch.refused is None:
                stretch.refused = []
            stretch.refused.append(Line(self._stream, number, Kind.UNCLASSIFIED, raw))
        return known

    def _claims(self, text: bytes) -> list[Dialect]:
        self._claimed += 1
        if self._claimed == MANY_LINES:
            entries = [row for row in self._dialects if isinstance(row, Entry)]
            if len(entries) == len(self._dialects):
                # Most runs have no use for it, and start faster without.
                from context_firewall.transcript.hints import together

                self._hints = together(tuple(hint for entry in entries for hint in entry.hint))
        if self._hints is not None and not self._hints.opening.match(text):
            return []
        claims = [row for row in self._dialects if row.opens(text)]
        if self._ignored:
            claims = [row for row in claims if not self._ignored & {(row.name, self._number), (row.name, EVERYWHERE)}]
        return [row.dialect for row in claims]

    def _placed(self, claims: list[Dialect], text: bytes, raw: bytes) -> list[Dialect]:
        """Those of the claims whose opening stands where it has to; else those that may stand anywhere."""
        if not claims:
            return claims
        line = Line(self._stream, self._number, Kind.UNCLASSIFIED, raw)
        above = self._idle.unclassified() if any(row.below for row in claims) else ()
        placed = [row for row in claims if row.opens_below(text, line, above, self._idle.since)]
        return placed or [row for row in claims if row.opens_anywhere(text)]

    def _outside(self, text: bytes, raw: bytes) -> None:
        """A line outside every stretch: it may open one."""
        claims = self._placed(self._claims(text), text, raw)
        if not claims:
            self._idle.line(text, raw, self._number)
            return
        idle, self._idle = self._idle, Idle(self._stream, self._trace, since=self._number)
        if len(claims) > 1:
            self._ambiguous = True
        for row in claims:
            self._begin(row, (), text, raw, idle if len(claims) == 1 else None)
        self._stretches[0].idle = idle
        self._done.append(idle.reading())

    def _begin(
        self, row: Dialect, before: tuple[Reading, ...], text: bytes, raw: bytes, idle: Idle | None = None
    ) -> None:
        """A dialect's machine, with its first line, and with those before it that it asks `idle` for."""
        machine = row.begin(self._stream)
        if self._trace:
            machine.trace()
        if self._cut:
            machine.cut()
        adopted: list[Line] = []
        if idle is not None and isinstance(machine, Adopts):
            adopted = idle.hand_over(machine)
        elif idle is not None and row.adopts_text:
            idle.hand_over_text(machine)
        known = machine.line(text, raw, self._number)
        opening = Line(self._stream, self._number, Kind.UNCLASSIFIED, raw)
        held = [*adopted, opening] if row.tentative and not before else None
        # A machine that is complete from the start takes what it knows, and leaves the rest.
        refused = [opening] if not known and machine.complete else None
        self._stretches.append(Stretch(row, machine, before, refused=refused, held=held, opened=self._number))

    def _contest(self, first: Stretch, rivals: Sequence[Dialect], text: bytes, raw: bytes) -> None:
        """A line that the open machine does not know opens other dialects: from here on all of them read."""
        self._ambiguous = True
        so_far = copy.deepcopy(first.machine).close(None)
        noise = so_far.as_text()
        before = noise._replace(unclassified=tuple(one for one in noise.unclassified if one.number != self._number))
        for row in rivals:
            self._begin(row, (before._replace(dialect=first.dialect.name, opened=first.opened),), text, raw)

    def _end_stretch(self) -> None:
        if self._stretches:
            self._done.append(self._stretches)
            self._stretches = []
        self._done.append(self._idle.reading())
        self._idle = Idle(self._stream, self._trace, since=self._number - 1)

    def _decide(self, stretches: Sequence[Stretch], exit_code: int | None) -> list[Reading]:
        """The candidate that closes best keeps the stretch; on equal standing, the one that came first."""
        readings = [stretch.machine.close(exit_code) for stretch in stretches]
        best = max(range(len(readings)), key=lambda i: (readings[i].standing, -i))
        refused = [Reading(unclassified=tuple(stretches[best].refused or ()))]
        stretch = stretches[best]
        return [*stretch.before, *refused, readings[best]._replace(dialect=stretch.dialect.name, opened=stretch.opened)]


def read_streams(
    streams: Sequence[tuple[str, Iterable[bytes]]],
    *,
    exit_code: int | None,
    dialect: str = AUTO,
    noise: Sequence[NoiseRule] = (),
) -> Transcript:
    """Read a run's streams, stdout before stderr, in chunks of any size.

    `exit_code` is the process' own, or None when unknown; `noise` is what the project declares. Raises InvalidInput
    for an unknown dialect.
    """
    return combined(_readings(streams, exit_code, dialect, noise, trace=False))


class Trace(NamedTuple):
    """What one source line was found to be, and by which dialect; empty for lines outside every stretch."""

    kind: Kind
    dialect: str


def trace_streams(
    streams: Sequence[tuple[str, Iterable[bytes]]],
    *,
    exit_code: int | None,
    dialect: str = AUTO,
    noise: Sequence[NoiseRule] = (),
) -> tuple[Transcript, dict[tuple[str, int], Trace]]:
    """The same transcript, and what every line is, by stream and number. Takes no lane, and memory for every line."""
    traces: dict[tuple[str, int], Trace] = {}
    readings = _readings(streams, exit_code, dialect, noise, trace=True)
    for reading in readings:
        kept = {(line.stream, line.number): Trace(line.kind, reading.dialect) for line in reading.kept_lines()}
        fates = (reading.fates or {}).items()
        traces |= kept | {(reading.stream, number): Trace(kind, reading.dialect) for number, kind in fates}
    return combined(readings), traces


def _readings(
    streams: Sequence[tuple[str, Iterable[bytes]]],
    exit_code: int | None,
    dialect: str,
    noise: Sequence[NoiseRule],
    *,
    trace: bool,
) -> list[Reading]:
    rows = dialects_named(dialect)
    readings: list[Reading] = []
    disputed: set[str] = set()
    for name, chunks in streams:
        closed = _stream(name, chunks, rows, exit_code, trace=trace)
        readings += closed
        if any(Doubt.AMBIGUOUS_DIALECT in part.doubts for part in closed):
            disputed.add(name)
    return settled(readings, _that_read(readings, rows), exit_code, noise, disputed)


def _stream(
    name: str, chunks: Iterable[bytes], rows: Sequence[Row], exit_code: int | None, *, trace: bool
) -> list[Reading]:
    """The readings of one stream."""

    def attempt(parts: Iterable[bytes], ignored: Openings = frozenset(), code: int | None = exit_code) -> list[Reading]:
        reader = StreamReader(name, rows, trace=trace, ignored=ignored)
        for part in parts:
            reader.feed(part)
        return [part._replace(stream=name) for part in reader.close(code)]

    def one_of_several(text: bytes) -> list[Reading]:
        # If the process failed, it may have been another run that did.
        code = 0 if exit_code == 0 else None
        parts = attempt([text], code=code)
        return settled(parts, _that_read(parts, rows), code, (), frozenset())

    held = Held(chunks)
    readings = unmisled(attempt(held.once()), held, attempt, exit_code)
    whole = held.again()
    if whole is None or not any(part.unclassified for part in readings):
        return readings
    # Most runs have nothing there, and start faster without.
    from context_firewall.transcript.apart import announces, read_apart

    if not announces(readings):
        return readings
    apart = read_apart(name, b"".join(whole), one_of_several, lambda text: attempt([text]))
    return readings if apart is None else apart


def _that_read(readings: Iterable[Reading], rows: Sequence[Row]) -> list[Dialect]:
    """The dialects that have read something."""
    read = {part.dialect for part in readings}
    return [row.dialect for row in rows if row.name in read]
