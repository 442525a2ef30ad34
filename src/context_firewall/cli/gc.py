"""`context-firewall gc`: give up old runs and compactions of a store. Without --delete it only says which, and why."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import click

from context_firewall.cli.channels import deliver
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.run_options import whole_option
from context_firewall.cli.stored_runs import short, short_digest, shown_command, shown_time
from context_firewall.cli.stores import moment, store_in_force, store_option
from context_firewall.cli.terminal import BOLD, Terminal, columns_of
from context_firewall.documents.prune_plan import PROTOCOL, PrunePlan, serialize_prune_plan
from context_firewall.errors import InvalidInput

if TYPE_CHECKING:
    from context_firewall.store.pruning import Plan

YOUNG_MINUTES = 60

_AGE = re.compile(r"([0-9]{1,6})([dhm])")
_SIZE = re.compile(r"([0-9]{1,15})(k|M|G)?")
_MINUTES = {"m": 1, "h": 60, "d": 24 * 60}
_BYTES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}

WORDS = {
    "BEYOND_LAST": "beyond --keep-last",
    "TOO_OLD": "older than --max-age",
    "OVER_SIZE": "beyond --max-size",
}

EPILOG = """\b
Exit status:
  0  the plan was written, and with --delete carried out
  1  a record or manifest is damaged (then nothing is removed), or the store cannot be read or written
  2  wrong usage

\b
Standard output carries the plan: a table to read, or with --json one canonical JSON document. What another run or
compaction still names stays; so does what is younger than --min-age. A compaction that is given up can be undone only
by whoever has its originals elsewhere: in the session, or in the record itself.
"""


def _age(_ctx: click.Context, _option: click.Parameter, text: str | None) -> timedelta | None:
    """Days, hours or minutes."""
    if text is None:
        return None
    match = _AGE.fullmatch(text)
    if match is None:
        raise click.BadParameter("must be an age such as 30d, 12h or 90m")
    return timedelta(minutes=int(match[1]) * _MINUTES[match[2]])


def _size(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """Bytes, or thousands, millions, milliards of them."""
    if text is None:
        return None
    match = _SIZE.fullmatch(text)
    if match is None:
        raise click.BadParameter("must be a size in bytes such as 500000, 500k, 200M or 2G")
    return int(match[1]) * _BYTES[match[2] or ""]


@click.command(epilog=EPILOG, short_help="Give up old runs and compactions of the store; a dry run without --delete.")
@click.option(
    "--keep-last",
    callback=whole_option,
    metavar="N",
    help="Keep the N newest runs and the N newest compactions, no more.",
)
@click.option("--max-age", callback=_age, metavar="AGE", help="Keep nothing that is older: 30d, 12h, 90m.")
@click.option("--max-size", callback=_size, metavar="SIZE", help="Keep no more bytes than this: 200M, 2G.")
@click.option("--delete", is_flag=True, help="Do it. Without this, nothing is removed.")
@click.option(
    "--min-age",
    callback=_age,
    metavar="AGE",
    default=f"{YOUNG_MINUTES}m",
    show_default=True,
    help="Leave alone what is younger, for the sake of runs that are just being stored.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as one canonical JSON document.")
@store_option
@configuration_options
def gc(
    *,
    keep_last: int | None,
    max_age: timedelta | None,
    max_size: int | None,
    delete: bool,
    min_age: timedelta,
    as_json: bool,
    store_place: str | None,
    config_path: str | None,
    no_config: bool,
) -> None:
    """Give up the runs and compactions of the store that are beyond a limit, and what nothing names any more.

    Without --delete this is a dry run: it says what would go, which limit it is beyond, and how many bytes that would
    free.

    \b
    context-firewall gc --keep-last 100
    context-firewall gc --max-age 30d --max-size 2G --delete
    """
    if keep_last is None and max_age is None and max_size is None:
        raise InvalidInput("give at least one limit: --keep-last, --max-age or --max-size", option="--keep-last")
    from context_firewall.store.pruning import Limits, carry_out, plan

    store = store_in_force(store_place, configuration_in_force(config_path, no_config))
    now = datetime.now(UTC)
    young = now - min_age
    limits = Limits(keep_last, None if max_age is None else moment(now - max_age), max_size)
    planned = plan(store, limits, young_from=moment(young), kept_before=young.timestamp())
    if delete:
        carry_out(store, planned, kept_before=young.timestamp())
    document = _document(planned, done=delete)
    if as_json:
        deliver(serialize_prune_plan(document))
    else:
        deliver("".join(f"{line}\n" for line in _readable(document, Terminal.of_stdout())).encode())


def _document(planned: "Plan", *, done: bool) -> PrunePlan:
    from context_firewall.store.compactions import CompactionName

    return cast(
        PrunePlan,
        {
            "compactions": [
                {
                    "record": one.name.reference,
                    "recorded_at": one.name.recorded_at,
                    "view": f"sha256:{one.name.view}",
                    "why": str(one.why),
                }
                for one in planned.pruned
                if isinstance(one.name, CompactionName)
            ],
            "done": done,
            "files": len(planned.records) + len(planned.manifests) + len(planned.objects),
            "freed_bytes": planned.freed_bytes,
            "kept_bytes": planned.kept_bytes,
            "kept_compactions": planned.kept_compactions,
            "kept_runs": planned.kept_runs,
            "leftover_files": planned.leftover_files,
            "protocol_version": PROTOCOL,
            "pruned": [
                {
                    "command": one.record["command"],
                    "evidence": one.record["evidence"],
                    "recorded_at": one.record["recorded_at"],
                    "verdict": one.record["verdict"],
                    "why": str(one.why),
                }
                for one in planned.pruned
                if one.record is not None
            ],
            "young_compactions": planned.young_compactions,
            "young_runs": planned.young_runs,
        },
    )


def _readable(plan: PrunePlan, terminal: Terminal) -> Iterator[str]:
    runs = [
        (
            short(one["evidence"]),
            shown_time(one["recorded_at"]),
            one["verdict"]["status"],
            WORDS[one["why"]],
            shown_command(one["command"]),
        )
        for one in plan["pruned"]
    ]
    compactions = [
        (short_digest(one["record"]), shown_time(one["recorded_at"]), WORDS[one["why"]]) for one in plan["compactions"]
    ]
    yield from _table(("run", "time (UTC)", "verdict", "why", "command"), runs, terminal)
    yield from _table(("compaction", "time (UTC)", "why"), compactions, terminal)
    leftover = f", {plan['leftover_files']} of them named by nothing" if plan["leftover_files"] else ""
    gone = _counted(len(runs), len(compactions))
    verb = "removed" if plan["done"] else "would remove"
    yield f"{verb} {gone}: {_count(plan['files'], 'file')}{leftover}, {plan['freed_bytes']:,} B"
    young = _counted(plan["young_runs"], plan["young_compactions"])
    beyond = f"; {young} beyond a limit, but younger than --min-age" if young != _counted(0, 0) else ""
    verb = "kept" if plan["done"] else "would keep"
    yield f"{verb} {_counted(plan['kept_runs'], plan['kept_compactions'])}: {plan['kept_bytes']:,} B{beyond}"
    if not plan["done"] and plan["files"]:
        yield "nothing was removed: this was a dry run; --delete removes"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], terminal: Terminal) -> Iterator[str]:
    if rows:
        lines = columns_of([head, *rows])
        yield terminal.line(next(lines), BOLD)
        yield from map(terminal.line, lines)
        yield ""


def _counted(runs: int, compactions: int) -> str:
    """Both kinds in words; compactions only where there are some, for most stores have none."""
    return _count(runs, "run") + (f" and {_count(compactions, 'compaction')}" if compactions else "")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number:,} {word}s"
