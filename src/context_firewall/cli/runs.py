"""`context-firewall runs`: the runs that a store holds, newest first."""

from collections.abc import Iterator, Sequence

import click

from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.run_options import whole_option
from context_firewall.cli.stored_runs import short, shown_command, shown_time
from context_firewall.cli.stores import store_in_force, store_option
from context_firewall.cli.terminal import BOLD, STATUS_COLOURS, YELLOW, Terminal, columns_of
from context_firewall.documents.run_list import run_list, serialize_run_list
from context_firewall.documents.run_record import RunRecord
from context_firewall.errors import EvidenceDamaged
from context_firewall.version import MECHANISM_NAME

LIMIT = 20
HEAD = ("run", "time (UTC)", "verdict", "failed", "command")
NUMBERS = frozenset({3})

EPILOG = """\b
Exit status:
  0  the list was written, also an empty one
  1  the store cannot be read
  2  wrong usage

\b
Standard output carries the list: a table to read, or with --json one canonical JSON document. A record that is damaged
is named on standard error and left out.
"""


@click.command(epilog=EPILOG, short_help="List the stored runs, newest first.")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(["passed", "failed", "indeterminate"]),
    help="Runs with this verdict only; may be repeated.",
)
@click.option("--insufficient", is_flag=True, help="Runs whose packet did not suffice only.")
@click.option(
    "--limit", callback=whole_option, metavar="N", default=str(LIMIT), show_default=True, help="At most so many runs."
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as one canonical JSON document.")
@store_option
@configuration_options
def runs(
    *,
    statuses: tuple[str, ...],
    insufficient: bool,
    limit: int,
    as_json: bool,
    store_place: str | None,
    config_path: str | None,
    no_config: bool,
) -> None:
    """List the stored runs, newest first.

    The first column is what other commands take as a reference.

    \b
    context-firewall runs
    context-firewall runs --status failed --limit 5
    context-firewall runs --json
    """
    store = store_in_force(store_place, configuration_in_force(config_path, no_config))
    found: list[RunRecord] = []
    damaged: list[str] = []
    more = False
    for run in store.runs():
        try:
            record = store.record(run)
        except EvidenceDamaged:
            damaged.append(run.path)
            continue
        verdict = record["verdict"]
        if (statuses and verdict["status"] not in statuses) or (
            insufficient and verdict["disposition"] == "SUFFICIENT"
        ):
            continue
        if len(found) == limit:
            more = True
            break
        found.append(record)
    if as_json:
        deliver(serialize_run_list(run_list(found, damaged=damaged, more=more)))
        return
    deliver("".join(f"{line}\n" for line in _table(found, Terminal.of_stdout())).encode())
    for name in damaged:
        indicate(f"[{MECHANISM_NAME}] damaged and left out: {name}")
    if not found:
        indicate(f"[{MECHANISM_NAME}] the store {store.location} holds no such run")
    if more:
        indicate(f"[{MECHANISM_NAME}] there are more; --limit shows them")


def _table(found: Sequence[RunRecord], terminal: Terminal) -> Iterator[str]:
    if not found:
        return
    lines = columns_of([HEAD, *map(_row, found)], right=NUMBERS)
    yield terminal.line(next(lines), BOLD)
    for record, line in zip(found, lines, strict=True):
        verdict = record["verdict"]
        doubtful = verdict["disposition"] != "SUFFICIENT" and verdict["status"] == "passed"
        yield terminal.line(line, YELLOW if doubtful else STATUS_COLOURS[verdict["status"]])


def _row(record: RunRecord) -> tuple[str, ...]:
    verdict = record["verdict"]
    enough = "" if verdict["disposition"] == "SUFFICIENT" else ", NOT SUFFICIENT"
    return (
        short(record["evidence"]),
        shown_time(record["recorded_at"]),
        verdict["status"] + enough,
        f"{verdict['counts']['failed']:,} of {verdict['counts']['total']:,}",
        shown_command(record["command"]),
    )
