"""`context-firewall stats`: what became of the bytes of all stored runs, by command and by day."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.run_options import checked_targets
from context_firewall.cli.stored_runs import shown_command
from context_firewall.cli.stores import store_in_force, store_option
from context_firewall.cli.terminal import BOLD, Terminal, columns_of, cut
from context_firewall.documents.store_statistics import (
    MeasuredRun,
    StoreStatistics,
    Totals,
    measured,
    serialize_store_statistics,
    share,
    store_statistics,
)
from context_firewall.errors import EvidenceDamaged, EvidenceNotFound, InvalidInput
from context_firewall.version import MECHANISM_NAME

if TYPE_CHECKING:
    from context_firewall.cli.outputs import Target
    from context_firewall.store.evidence import EvidenceStore, RunName

HEAD = ("runs", "passed", "failed", "unsure", "printed", "shown", "avoided", "escalated", "to fetch")
NUMBERS = frozenset(range(1, len(HEAD) + 1))
# A command that is longer is cut in the tables; the JSON document has it whole.
NAME_COLUMNS = 40

EPILOG = """\b
Exit status:
  0  the statistics were written
  1  the store cannot be read, or a file cannot be written
  2  wrong usage

\b
Standard output carries the statistics: tables to read, or with --json one canonical JSON document. Bytes are added up
from the value receipts; a share is computed from those sums. The runs whose evidence did not suffice are those that
escalated: they avoided nothing, what they printed is still to fetch, and the other byte columns are without them.
"""


@click.command(epilog=EPILOG, short_help="Add up the bytes of the stored runs, by command and by day.")
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as one canonical JSON document.")
@click.option("--chart", metavar="PATH", help="Also draw the bytes by day here: a picture (.svg) or a page (.html).")
@store_option
@configuration_options
def stats(
    *, as_json: bool, chart: str | None, store_place: str | None, config_path: str | None, no_config: bool
) -> None:
    """Add up what the stored runs printed and what was shown in its place.

    \b
    context-firewall stats
    context-firewall stats --chart bytes.svg
    context-firewall stats --json
    """
    if chart is not None and not chart.endswith((".svg", ".html")):
        raise InvalidInput("--chart must end with .svg or .html", option="--chart")
    wanted = checked_targets({"--chart": chart})
    store = store_in_force(store_place, configuration_in_force(config_path, no_config))
    statistics = _statistics(store)
    if as_json:
        document = serialize_store_statistics(statistics)
    else:
        document = "".join(f"{line}\n" for line in _readable(statistics, Terminal.of_stdout())).encode()
    _hand_out(document, statistics, wanted)
    if not as_json:
        for name in statistics["damaged"]:
            indicate(f"[{MECHANISM_NAME}] damaged and not counted: {name}")


def _hand_out(document: bytes, statistics: StoreStatistics, wanted: tuple["Target", ...]) -> None:
    if not wanted:
        deliver(document)
        return
    from context_firewall.cli import outputs
    from context_firewall.documents.statistics_chart import chart_page, chart_svg

    drawn = {target: chart_page if target.name.endswith(".html") else chart_svg for target in wanted}
    with outputs.written([(target, draw(statistics).encode()) for target, draw in drawn.items()]):
        deliver(document)


def _statistics(store: "EvidenceStore") -> StoreStatistics:
    names = store.runs()
    found = store.each(lambda name: _measured_or_none(store, name), names)
    damaged = [name.path for name, run in zip(names, found, strict=True) if run is None]
    return store_statistics([run for run in found if run is not None], damaged=damaged)


def _measured_or_none(store: "EvidenceStore", name: "RunName") -> MeasuredRun | None:
    try:
        return _measured(store, name)
    except (EvidenceDamaged, EvidenceNotFound):
        return None


def _measured(store: "EvidenceStore", name: "RunName") -> MeasuredRun:
    record = store.record(name)
    data = store.document(record, "value_receipt")
    try:
        escalated, raw, visible = measured(json.loads(data))
    except (ValueError, InvalidInput) as problem:
        raise EvidenceDamaged(f"the value receipt of {name.reference} is none: {problem}", name=name.path) from problem
    command = None if record["command"] is None else tuple(record["command"])
    return MeasuredRun(record["recorded_at"], command, record["verdict"]["status"], escalated, raw, visible)


def _readable(statistics: StoreStatistics, terminal: Terminal) -> Iterator[str]:
    days = [(one["day"], one["totals"]) for one in statistics["days"]]
    commands = [(shown_command(one["command"]), one["totals"]) for one in statistics["commands"]]
    everything = [("all runs", statistics["totals"])]
    tables: tuple[tuple[str, Sequence[tuple[str, Totals]]], ...] = (
        ("day (UTC)", [*days, *everything]),
        ("command", commands),
    )
    for title, groups in tables:
        if not groups:
            continue
        if title != tables[0][0]:
            yield ""
        lines = columns_of([(title, *HEAD), *(_row(name, totals) for name, totals in groups)], right=NUMBERS)
        yield terminal.line(next(lines), BOLD)
        yield from map(terminal.line, lines)
    yield ""
    yield "printed, shown, avoided: of the runs whose evidence sufficed; those that escalated avoided nothing"


def _row(name: str, totals: Totals) -> tuple[str, ...]:
    verdicts, sufficient, escalated = totals["verdicts"], totals["sufficient"], totals["escalated"]
    return (
        cut(name, NAME_COLUMNS),
        f"{totals['runs']:,}",
        *(f"{verdicts[status]:,}" for status in ("passed", "failed", "indeterminate")),
        f"{sufficient['raw_bytes']:,}",
        f"{sufficient['visible_bytes']:,}",
        share(totals),
        f"{escalated['runs']:,}",
        f"{escalated['raw_bytes']:,}",
    )
