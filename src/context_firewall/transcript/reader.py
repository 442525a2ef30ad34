"""Bytes to facts: splits a stream into lines, decides which dialect reads each stretch, and accounts for the rest.

A stretch begins where a line opens a dialect and ends where its machine is complete and a line is not its own. A line
that another dialect claims while a stretch is not complete makes the stream ambiguous: from there on both read, and the
one that closes better keeps the stretch. Lines outside every stretch are strict markers, npm's own lines, blank, or
unclassified.
"""

import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from context_firewall.errors import InvalidInput
from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import REGISTRY, Entry
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading, Tally, Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, lines_from
from context_firewall.transcript.machine import MARKS, Adopts, Dialect, Machine, Row
from context_firewall.transcript.markers import marker_kind
from context_firewall.transcript.noise import NoiseRule, without_noise
from context_firewall.transcript.two_streams import joined

if TYPE_CHECKING:
    from context_firewall.transcript.hints import Hints

AUTO = "auto"

# Lines are read in blocks of about this size, whatever the chunks: large enough that few runs are cut at an end, small
# enough that a block, and what a run in it is checked with, stays in the processor's cache.
BLOCK_BYTES = 1 << 18
# A run that a machine refuses is tried again at a quarter of its length, down to this; then one line is read as such.
SHORTEST_RUN = 1 << 9
# A lane for lines without marks is asked for where so many bytes have none; in a block in which they are found near
# so often in a row, no more.
PLAIN_REACH = 1 << 10
PATIENCE = 16
# After so many lines of which any may open a dialect, a pattern for all of them has paid for itself.
MANY_LINES = 500

# The standing of a reading that the runner's own totals close, in their place and in agreement.
STANDS = 3

# Doubts that leave room for a process that broke off.
OPEN_ENDED = frozenset({Doubt.COMPLETENESS_UNCONFIRMED, Doubt.PLAN_CONTRADICTION})

# A blank line below another.
BLANK = re.compile(rb"\n[ \t\r\x0b\x0c]*+\n")
# npm prints package, version and script before it runs one, then the command: "> shop@1.0.0 test", "> node --test".
NPM_SCRIPT = re.compile(rb"> (?:@[^\s/@]++/)?[^\s@]++@[0-9][^\s]*+ [^\n]++")
NPM_COMMAND = re.compile(rb"> [^\n]++")


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
    idle: "_Idle | None" = None
    """What stood outside before a tentative opening."""


class StreamReader:
    """Reads one stream, chunk by chunk. Where the chunks end makes no difference."""

    def __init__(self, stream: str, dialects: Sequence[Row], *, trace: bool = False) -> None:
        self._stream = stream
        self._trace = trace
        self._dialects = tuple(row for row in dialects if stream in row.streams)
        self._claimed = 0
        self._hints: Hints | None = None
        """What all dialects' hints say; made when there are many lines to ask about."""
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._enough = BLOCK_BYTES
        self._number = 0
        self._stretches: list[Stretch] = []
        self._idle = _Idle(stream, trace)
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
        return [*readings, Reading(doubts=frozenset(doubts))]

    # -- lines ----------------------------------------------------------------------------------------------------

    def _block(self, block: bytes) -> None:
        """Read whole lines."""
        if not self._malformed and not block.isascii():
            try:
                block.decode("utf-8")
            except UnicodeDecodeError:
                self._malformed = True
        position, end = 0, len(block)
        runs = _Runs(block, closed=self._trace)
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
        return [row.dialect for row in self._dialects if row.opens(text)]

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
        idle, self._idle = self._idle, _Idle(self._stream, self._trace, since=self._number)
        if len(claims) > 1:
            self._ambiguous = True
        for row in claims:
            self._begin(row, (), text, raw, idle if len(claims) == 1 else None)
        self._stretches[0].idle = idle
        self._done.append(idle.reading())

    def _begin(
        self, row: Dialect, before: tuple[Reading, ...], text: bytes, raw: bytes, idle: "_Idle | None" = None
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
        self._stretches.append(Stretch(row, machine, before, held=held, refused=refused))

    def _contest(self, first: Stretch, rivals: Sequence[Dialect], text: bytes, raw: bytes) -> None:
        """A line that the open machine does not know opens other dialects: from here on all of them read."""
        self._ambiguous = True
        so_far = copy.deepcopy(first.machine).close(None)
        noise = _as_noise(so_far)
        before = noise._replace(unclassified=tuple(one for one in noise.unclassified if one.number != self._number))
        for row in rivals:
            self._begin(row, (before._replace(dialect=first.dialect.name),), text, raw)

    def _end_stretch(self) -> None:
        if self._stretches:
            self._done.append(self._stretches)
            self._stretches = []
        self._done.append(self._idle.reading())
        self._idle = _Idle(self._stream, self._trace, since=self._number - 1)

    def _decide(self, stretches: Sequence[Stretch], exit_code: int | None) -> list[Reading]:
        """The candidate that closes best keeps the stretch; on equal standing, the one that came first."""
        readings = [stretch.machine.close(exit_code) for stretch in stretches]
        best = max(range(len(readings)), key=lambda i: (readings[i].standing, -i))
        refused = [Reading(unclassified=tuple(stretches[best].refused or ()))]
        return [*stretches[best].before, *refused, readings[best]._replace(dialect=stretches[best].dialect.name)]


def _as_noise(reading: Reading) -> Reading:
    """A reading whose results turned out not to be the runner's: what it kept is unclassified evidence."""
    kept = sorted(reading.kept_lines(), key=lambda line: line.number)
    return Reading(
        unclassified=tuple(line.as_kind(Kind.UNCLASSIFIED) for line in kept),
        suppressed=reading.suppressed,
        fates=reading.fates,
        tally=Tally(),
    )


class _Runs:
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


class _Idle:
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
            runs = _Runs(text, closed=self._trace)
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
        reader = StreamReader(name, rows, trace=trace)
        for chunk in chunks:
            reader.feed(chunk)
        closed = reader.close(exit_code)
        readings += (part._replace(stream=name) for part in closed)
        if any(Doubt.AMBIGUOUS_DIALECT in part.doubts for part in closed):
            disputed.add(name)
    read = {part.dialect for part in readings}
    dialects = [row.dialect for row in rows if row.name in read]
    for each in dialects:
        if each.settle is not None:
            readings = each.settle(readings)
    readings = _with_process_failure(
        _with_program_output(joined(_without_echoes(readings, dialects, exit_code)), dialects, exit_code), exit_code
    )
    if noise:
        # The only account of a failed process is kept whole; where noise has buried it, it is looked for again.
        readings = without_noise(readings, noise, disputed)
        if not any(Doubt.FAILURE_OUTSIDE_TESTS in part.doubts for part in readings):
            readings = _with_process_failure(readings, exit_code)
    return _sorted_out(readings, exit_code)


def _sorted_out(readings: list[Reading], exit_code: int | None) -> list[Reading]:
    """The readings, with what is known of unclassified lines wherever they stand. Most runs have none."""
    if not any(part.unclassified for part in readings):
        return readings
    from context_firewall.transcript.runtime_warnings import with_runtime_warnings
    from context_firewall.transcript.surroundings import without_surroundings

    return with_runtime_warnings(without_surroundings(readings, exit_code))


def _without_echoes(readings: list[Reading], rows: Sequence[Dialect], exit_code: int | None) -> list[Reading]:
    """Take what a program printed for text, where its runner's own report stands in another stream.

    What reads like the same runner's report is text. So is what reads like a piece of another's, if the runner's own
    report is whole and accounts for the exit code; but that stays in doubt.
    """
    own = {row.name: row.program_streams for row in rows if row.program_streams}
    home = [part for part in readings if part.has_results and part.stream not in own.get(part.dialect, (part.stream,))]
    if len({part.dialect for part in home}) != 1 or home[0].dialect not in own:
        return readings
    name = home[0].dialect
    whole = all(part.standing == STANDS for part in home)
    explained = whole and exit_code is not None and bool(exit_code) == any(part.tally.failed for part in home)

    def is_echo(part: Reading) -> bool:
        return not part.dialect or part.dialect == name or (explained and not part.standing)

    streams = own[name] - {part.stream for part in readings if not is_echo(part)}
    return [_as_text(part, name) if part.stream in streams else part for part in readings]


def _as_text(reading: Reading, runner: str) -> Reading:
    """A reading as text; that two dialects claimed it no longer matters."""
    if not reading.dialect:
        return reading._replace(doubts=reading.doubts - {Doubt.AMBIGUOUS_DIALECT})
    doubts = frozenset[Doubt]() if reading.dialect == runner else frozenset({Doubt.UNCLASSIFIED_EVIDENCE})
    return _as_noise(reading)._replace(stream=reading.stream, doubts=doubts)


def _with_program_output(readings: list[Reading], rows: Sequence[Dialect], exit_code: int | None) -> list[Reading]:
    """Attribute to the program what stands where its runner never prints, if the runner's own account is whole.

    Not if the process failed and the runner does not say why: then that may stand there.

    In a run that failed it may be what a failing test printed: there it stays visible, as what it is, unless the
    failures show all of it.
    """
    own = {row.name: row.program_streams for row in rows if row.program_streams}
    runners = {part.dialect for part in readings if part.has_results}
    explained = not exit_code or any(part.failures or part.tally.failed for part in readings)
    if len(runners) != 1 or not explained or any(part.doubts for part in readings):
        return readings
    streams = own.get(runners.pop(), frozenset())
    printed = {line.raw for part in readings if part.stream in streams for line in part.unclassified}
    failures = [failure for part in readings for failure in part.failures]
    if failures and not printed <= {line.raw for failure in failures for line in failure.details}:
        return [_as_visible_output(part) if part.stream in streams else part for part in readings]
    return [_as_program_output(part) if part.stream in streams else part for part in readings]


def _as_visible_output(reading: Reading) -> Reading:
    """A reading whose unclassified lines are the program's own, and shown."""
    return reading._replace(unclassified=tuple(line.as_kind(Kind.PROGRAM_OUTPUT) for line in reading.unclassified))


def _as_program_output(reading: Reading) -> Reading:
    """A reading whose unclassified lines are the program's own."""
    account = Counter(reading.suppressed)
    account[Kind.PROGRAM_OUTPUT] += len(reading.unclassified)
    fates = reading.fates
    if fates is not None:
        fates = {**fates, **{line.number: Kind.PROGRAM_OUTPUT for line in reading.unclassified}}
    return reading._replace(unclassified=(), suppressed={k: n for k, n in account.items() if n}, fates=fates)


def _with_process_failure(readings: list[Reading], exit_code: int | None) -> list[Reading]:
    """Turn standard error into a failure of its own where the process failed and no test accounts for it."""
    if not exit_code:
        return readings
    recognised = any(part.failures or part.fatal_errors or part.timeouts or part.tally.failed for part in readings)
    open_ended = any(OPEN_ENDED & part.doubts for part in readings)
    alone = not any(line.stream == "stdout" for part in readings for line in part.unclassified)
    for i, part in enumerate(readings):
        lines = part.unclassified
        if not lines or lines[0].stream != "stderr":
            continue
        # Most runs have nothing there, and start faster without.
        from context_firewall.transcript.process_failure import is_uncaught, process_failure

        if recognised and not (open_ended and is_uncaught(lines)):
            continue
        if not _sorted_out([part], exit_code)[0].unclassified:
            continue  # nothing there says why
        current = next((other.current_test for other in reversed(readings) if other.current_test), "")
        failure = process_failure(lines, current, alone=alone)
        if failure is not None:
            doubts = part.doubts | {Doubt.FAILURE_OUTSIDE_TESTS}
            readings[i] = part._replace(failures=(*part.failures, failure), unclassified=(), doubts=doubts)
            break
    return readings
