"""`context-firewall raw`: the exact bytes that a stored run printed, whole or by line.

Every stream that is shown is read to its end and hashed before its first byte goes out; what is too large to hold is
then read a second time. What goes to standard output is bytes of the run and nothing else, unless it is a terminal.
"""

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from context_firewall.cli.channels import Delivery, indicate
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.excerpt import (
    UNBOUNDED,
    LineCount,
    LineRange,
    Piece,
    lines_with,
    merged,
    numbered,
    parse_places,
    pieces_of,
)
from context_firewall.cli.run_options import byte_ceiling, whole_option
from context_firewall.cli.stores import reference_argument, store_in_force, store_option
from context_firewall.errors import EvidenceNotFound, InvalidInput
from context_firewall.version import MECHANISM_NAME

if TYPE_CHECKING:
    from context_firewall.documents.evidence_manifest import StoredStream
    from context_firewall.store.evidence import EvidenceStore

# A stream up to this size is held in memory between hashing and showing.
HELD_BYTES = 8 << 20
# How many ranges are named before the rest is counted.
RANGES_AT_MOST = 6
CONTEXT_OF_A_FAILURE = 3

Ranges = dict[str, list[LineRange]]

EPILOG = """\b
Exit status:
  0  the bytes were written
  1  no line holds the text of --grep; or the evidence is missing or damaged, or the store cannot be read
  2  wrong usage, or a reference that could mean several runs

\b
Standard output carries bytes of the run and nothing else. Standard error says in one line for each stream which lines
they are and what was left out. To a terminal, control characters are spelled out; a pipe or a file gets them as they
were. The digest of each stream is checked before anything is written.
"""


def _places(
    _ctx: click.Context, _option: click.Parameter, texts: Sequence[str]
) -> list[tuple[str | None, LineRange]] | None:
    """All that was named, or None where nothing was."""
    try:
        return [place for text in texts for place in parse_places(text)] or None
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


@click.command(epilog=EPILOG, short_help="Print the exact bytes of a stored run, whole or by line.")
@reference_argument
@click.option("--stream", type=click.Choice(["stdout", "stderr"]), help="This stream only.")
@click.option(
    "--lines",
    "places",
    multiple=True,
    callback=_places,
    metavar="A:B",
    help="Lines A to B, as 3:9, 3-9, 3: or 3, or as a brief prints them: stdout:3-9,20. May be repeated.",
)
@click.option("--failure", callback=whole_option, metavar="N", help="The lines of the Nth failure of the brief.")
@click.option("--grep", metavar="TEXT", help="Lines that hold this text, literally.")
@click.option(
    "--context",
    callback=whole_option,
    metavar="N",
    help=f"So many lines more on both sides. Default: {CONTEXT_OF_A_FAILURE} with --failure, else none.",
)
@click.option("--number", "-n", is_flag=True, help="Begin each line with its stream and number.")
@click.option("--max-bytes", callback=byte_ceiling, metavar="N", help="Write no more than N bytes; cut after a line.")
@store_option
@configuration_options
def raw(
    *,
    reference: str,
    stream: str | None,
    places: list[tuple[str | None, LineRange]] | None,
    failure: int | None,
    grep: str | None,
    context: int | None,
    number: bool,
    max_bytes: int | None,
    store_place: str | None,
    config_path: str | None,
    no_config: bool,
) -> int:
    """Print the exact bytes of a stored run.

    REFERENCE is the raw reference of a packet or brief, the first digits of its hash, or latest (latest~1 is the run
    before). Without further options all that the run printed is written, standard output before standard error.

    \b
    context-firewall raw latest
    context-firewall raw 55c934f3 --lines stdout:387-398
    context-firewall raw latest --failure 1
    context-firewall raw latest --grep 'expected 7500' --context 5
    """
    given = [name for name, value in (("--lines", places), ("--failure", failure), ("--grep", grep)) if value]
    if failure == 0:
        raise InvalidInput("--failure counts from 1", option="--failure")
    if len(given) > 1:
        raise InvalidInput(f"{given[0]} and {given[1]} both choose lines; give one", option=given[1])
    if grep is not None and (not grep or "\n" in grep):
        raise InvalidInput("--grep must be a text of one line", option="--grep")
    if context and not given:
        raise InvalidInput("--context widens what --lines, --failure or --grep choose", option="--context")
    project = configuration_in_force(config_path, no_config)
    store = store_in_force(store_place, project)
    evidence = store.find_evidence(reference)
    streams = store.manifest(evidence)["streams"]
    if stream is not None:
        streams = [one for one in streams if one["name"] == stream]
        if not streams:
            raise EvidenceNotFound(f"{evidence} has no {stream}", reference=evidence, option="--stream")
    if failure is not None:
        chosen: Ranges | None = _failure_ranges(store, evidence, failure)
        context = CONTEXT_OF_A_FAILURE if context is None else context
    else:
        chosen = None if places is None else _named_ranges(places, streams)
    printed = [_Printed(store, one) for one in streams if chosen is None or one["name"] in chosen]
    needle = None if grep is None else grep.encode("utf-8", "surrogateescape")
    selections = [_selection(one, chosen, needle, context or 0) for one in printed]
    if chosen is not None and not any(selection.ranges for selection in selections):
        raise _nothing_there(selections)
    if needle is not None and not any(selection.ranges for selection in selections):
        indicate(f"[{MECHANISM_NAME}] no line holds that text")
        return 1
    _write([one for one in selections if one.ranges or needle is None], number, max_bytes)
    return 0


class _Printed:
    """A stream of the run, hashed when this is made: its bytes, in memory if they are few, and its number of lines."""

    def __init__(self, store: "EvidenceStore", stream: "StoredStream") -> None:
        self.name = stream["name"]
        self.byte_count = stream["byte_count"]
        self._read: Callable[[], Iterator[bytes]] = lambda: store.chunks(stream["sha256"], stream["byte_count"])
        count = LineCount()
        passing = count.counted(self._read())
        self._held = b"".join(passing) if self.byte_count <= HELD_BYTES else None
        for _ in passing:
            pass
        self.lines = count.lines

    def chunks(self) -> Iterable[bytes]:
        """All bytes once more."""
        return self._read() if self._held is None else (self._held,)


class _Selection(NamedTuple):
    """The lines of a stream that are shown, within those that it has."""

    printed: _Printed
    ranges: list[LineRange]


def _selection(printed: _Printed, chosen: Ranges | None, needle: bytes | None, context: int) -> _Selection:
    if chosen is not None:
        found: Iterable[LineRange] = chosen[printed.name]
    elif needle is not None:
        found = lines_with(printed.chunks(), needle)
    else:
        found = [LineRange(1, UNBOUNDED)]
    last = printed.lines
    return _Selection(
        printed,
        [LineRange(one.first, min(one.last, last)) for one in merged(found, context=context) if one.first <= last],
    )


def _named_ranges(places: Sequence[tuple[str | None, LineRange]], streams: Sequence["StoredStream"]) -> Ranges:
    """The ranges by stream. Without a name they mean the only stream that has any bytes, else standard output."""
    speaking = [stream["name"] for stream in streams if stream["byte_count"]]
    usual = speaking[0] if len(speaking) == 1 else streams[0]["name"]
    chosen: Ranges = {}
    for name, lines in places:
        if name is not None and all(name != stream["name"] for stream in streams):
            raise InvalidInput(f"--lines names {name}, which is not among what is printed", option="--lines")
        chosen.setdefault(name or usual, []).append(lines)
    return chosen


def _failure_ranges(store: "EvidenceStore", evidence: str, number: int) -> Ranges:
    """Where the Nth failure of the run's packet stands."""
    from context_firewall.cli.stored_runs import stored_packet
    from context_firewall.documents.brief import lines_of, safe, spans_of

    failures = stored_packet(store, store.record(store.find_run(evidence)))["decision_evidence"]["failures"]
    if number > len(failures):
        count = "1 failure" if len(failures) == 1 else f"{len(failures)} failures"
        raise InvalidInput(f"the packet of this run names {count}", option="--failure")
    chosen: Ranges = {}
    for span in spans_of(lines_of(failures[number - 1])):
        chosen.setdefault(span["stream"], []).append(LineRange(span["line"], span["last_line"]))
    if not chosen:
        identity = safe(failures[number - 1]["identity"])
        raise InvalidInput(
            f"the packet names the failure {identity} without its lines; --grep finds them", option="--failure"
        )
    return chosen


def _nothing_there(selections: Sequence[_Selection]) -> InvalidInput:
    sizes = ", ".join(f"{one.printed.name} has {one.printed.lines:,} lines" for one in selections)
    return InvalidInput(f"--lines names lines that are not there: {sizes or 'the stream is empty'}", option="--lines")


def _write(selections: Sequence[_Selection], number: bool, max_bytes: int | None) -> None:
    """All selections to standard output, then for each what it was and what it was not."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    room = max_bytes
    said = []
    with Delivery() as delivery:
        for selection in selections:
            budget, shown = _Budget(room), _Sum()
            pieces = shown.counted(pieces_of(selection.printed.chunks(), selection.ranges))
            data = numbered(pieces, selection.printed.name) if number else (piece.data for piece in pieces)
            kept = budget.within(data)
            for part in _spelled(kept) if terminal else kept:
                delivery.write(part)
            room = budget.room
            said.append(_account(selection, shown.byte_count, budget))
    for line in said:
        indicate(f"[{MECHANISM_NAME}] {line}")
    if terminal:
        indicate(f"[{MECHANISM_NAME}] control characters are spelled out for the terminal; a pipe gets the exact bytes")


class _Sum:
    """Adds up the bytes of the run that pass."""

    def __init__(self) -> None:
        self.byte_count = 0

    def counted(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces unchanged."""
        for piece in pieces:
            self.byte_count += len(piece.data)
            yield piece


class _Budget:
    """Lets no more bytes pass than there is room for: whole lines, or the beginning of a first one that is too long."""

    def __init__(self, room: int | None) -> None:
        self.room = room
        self.passed = 0
        self.cut = 0

    def within(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """What fits; the rest is only counted."""
        if self.room is None:
            yield from parts
            return
        waiting = b""
        for part in parts:
            if self.cut:
                self.cut += len(part)
                continue
            waiting += part
            fits = waiting[: self.room]
            end = fits.rfind(b"\n") + 1
            kept = fits[:end]
            if len(waiting) > self.room:
                kept = kept if end or self.passed else fits
                self.cut = len(waiting) - len(kept)
                waiting = kept
            yield self._counted(kept)
            waiting = waiting[len(kept) :]
        yield self._counted(waiting)
        if self.cut:
            self.room = 0

    def _counted(self, part: bytes) -> bytes:
        self.passed += len(part)
        self.room = (self.room or 0) - len(part)
        return part


def _spelled(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The text with all that a terminal could take for a command spelled out; newlines and tabs stay."""
    from context_firewall.documents.brief import UNSAFE, spelled

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for part in parts:
        text = decoder.decode(part)
        yield UNSAFE.sub(lambda found: found[0] if found[0] == "\n" else spelled(found), text).encode()
    yield decoder.decode(b"", final=True).encode()


def _account(selection: _Selection, byte_count: int, budget: _Budget) -> str:
    """What was chosen of a stream, what was left out, and what the budget cost, in one line."""
    printed, ranges = selection
    whole = ranges == [LineRange(1, printed.lines)]
    size = f"{printed.byte_count:,} B"
    words = f"{printed.name}: "
    if not printed.lines:
        return f"{words}empty"
    if whole:
        words += f"{_lines(printed.lines)}, {size}, all of it"
    else:
        words += f"{_word(ranges)} {_listed(ranges)} of {printed.lines:,}, {byte_count:,} B of {size}"
        left_out = _between(ranges, printed.lines)
        words += f"; left out: {_word(left_out)} {_listed(left_out)}"
    if budget.cut:
        words += f"; cut by --max-bytes after {budget.passed:,} B, {budget.cut:,} B are missing"
    return f"{words}; digest checked"


def _between(ranges: Sequence[LineRange], lines: int) -> list[LineRange]:
    """The ranges that the others leave out."""
    begins = [1, *(one.last + 1 for one in ranges)]
    ends = [*(one.first - 1 for one in ranges), lines]
    return [LineRange(first, last) for first, last in zip(begins, ends, strict=True) if first <= last]


def _word(ranges: Sequence[LineRange]) -> str:
    return "line" if len(ranges) == 1 and ranges[0].first == ranges[0].last else "lines"


def _listed(ranges: Sequence[LineRange]) -> str:
    named = [f"{first}-{last}" if last > first else str(first) for first, last in ranges[:RANGES_AT_MOST]]
    rest = len(ranges) - len(named)
    return ",".join(named) + (f" and {rest} more ranges" if rest else "")


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
