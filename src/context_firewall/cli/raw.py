"""`context-firewall raw`: the exact bytes that a stored run printed, whole or by line.

What goes to standard output is bytes of the run and nothing else, unless it is a terminal. `excerpt` finds lines in
bytes, `selections` hashes, writes and accounts; here it is decided which lines are meant.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from context_firewall.cli.channels import indicate
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.excerpt import UNBOUNDED, LineRange, LineRanges, lines_with, merged, parse_places
from context_firewall.cli.run_options import byte_ceiling, whole_option
from context_firewall.cli.selections import Printed, Selection, write_selections
from context_firewall.cli.stores import reference_argument, store_in_force, store_option
from context_firewall.errors import EvidenceNotFound, InvalidInput
from context_firewall.version import MECHANISM_NAME

if TYPE_CHECKING:
    from context_firewall.documents.evidence_manifest import StoredStream
    from context_firewall.store.evidence import EvidenceStore

CONTEXT_OF_A_FAILURE = 3

Chosen = dict[str, list[LineRange]]

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
    _refuse_clashes(places, failure, grep, context)
    store = store_in_force(store_place, configuration_in_force(config_path, no_config))
    evidence = store.find_evidence(reference)
    streams = _streams(store, evidence, stream)
    chosen: Chosen | None = None
    if failure is not None:
        chosen = _failure_lines(store, evidence, failure)
        context = CONTEXT_OF_A_FAILURE if context is None else context
    elif places is not None:
        chosen = _named_lines(places, streams)
    needle = None if grep is None else grep.encode("utf-8", "surrogateescape")
    printed = [Printed(store, one) for one in streams if chosen is None or one["name"] in chosen]
    selections = [_selection(one, chosen, needle, context or 0) for one in printed]
    if chosen is not None or needle is not None:
        selections = [selection for selection in selections if selection.ranges]
    if not selections and needle is not None:
        indicate(f"[{MECHANISM_NAME}] no line holds that text")
        return 1
    if not selections:
        sizes = ", ".join(f"{one.name} has {one.lines:,} lines" for one in printed) or f"not on {stream}"
        raise InvalidInput(f"such lines are not there: {sizes}", option="--lines" if places else "--failure")
    write_selections(selections, number, max_bytes)
    return 0


def _refuse_clashes(places: object, failure: int | None, grep: str | None, context: int | None) -> None:
    """Options that say different things, or nothing."""
    choices = (("--lines", places), ("--failure", failure), ("--grep", grep))
    given = [option for option, value in choices if value is not None]
    if len(given) > 1:
        raise InvalidInput(f"{given[0]} and {given[1]} both choose lines; give one", option=given[1])
    if failure == 0:
        raise InvalidInput("--failure counts from 1", option="--failure")
    if grep is not None and (not grep or "\n" in grep):
        raise InvalidInput("--grep must be a text of one line", option="--grep")
    if context and not given:
        raise InvalidInput("--context widens what --lines, --failure or --grep choose", option="--context")


def _streams(store: "EvidenceStore", evidence: str, wanted: str | None) -> list["StoredStream"]:
    """The run's streams, or the one that is wanted."""
    streams = [one for one in store.manifest(evidence)["streams"] if wanted in (None, one["name"])]
    if not streams:
        raise EvidenceNotFound(f"{evidence} has no {wanted}", reference=evidence, option="--stream")
    return streams


def _selection(printed: Printed, chosen: Chosen | None, needle: bytes | None, context: int) -> Selection:
    """The lines of a stream that are chosen, or that hold the text, or else all; as far as they are there."""
    if chosen is not None:
        found: Iterable[LineRange] = sorted(chosen[printed.name])
    elif needle is not None:
        found = lines_with(printed.chunks(), needle)
    else:
        found = [LineRange(1, UNBOUNDED)]
    return Selection(printed, LineRanges(merged(found, context=context, last=printed.lines)))


def _named_lines(places: Sequence[tuple[str | None, LineRange]], streams: Sequence["StoredStream"]) -> Chosen:
    """The lines by stream. Without a name they are of the only stream that has any bytes, else of the first."""
    speaking = [stream["name"] for stream in streams if stream["byte_count"]]
    usual = speaking[0] if len(speaking) == 1 else streams[0]["name"]
    chosen: Chosen = {}
    for name, lines in places:
        if name is not None and all(name != stream["name"] for stream in streams):
            raise InvalidInput(f"--lines names {name}, which is not among what is printed", option="--lines")
        chosen.setdefault(name or usual, []).append(lines)
    return chosen


def _failure_lines(store: "EvidenceStore", evidence: str, number: int) -> Chosen:
    """Where the Nth failure of the run's packet stands."""
    from context_firewall.cli.stored_runs import stored_packet
    from context_firewall.documents.line_places import lines_of, spans_of
    from context_firewall.documents.printable import safe

    failures = stored_packet(store, store.record(store.find_run(evidence)))["decision_evidence"]["failures"]
    if number > len(failures):
        count = "1 failure" if len(failures) == 1 else f"{len(failures)} failures"
        raise InvalidInput(f"the packet of this run names {count}", option="--failure")
    chosen: Chosen = {}
    for span in spans_of(lines_of(failures[number - 1])):
        chosen.setdefault(span["stream"], []).append(LineRange(span["line"], span["last_line"]))
    if not chosen:
        name = safe(failures[number - 1]["identity"])
        raise InvalidInput(f"the packet names {name} without its lines; --grep finds them", option="--failure")
    return chosen
