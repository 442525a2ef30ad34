"""`context-firewall diff`: which failures are new, fixed or still there, between two stored runs."""

from collections.abc import Iterator, Sequence

import click

from context_firewall.cli.channels import deliver
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.stored_runs import short, shown_command, shown_time, stored_packet
from context_firewall.cli.stores import store_in_force, store_option
from context_firewall.cli.terminal import BOLD, DIM, GREEN, RED, STATUS_COLOURS, YELLOW, Terminal
from context_firewall.documents.printable import safe
from context_firewall.documents.run_difference import (
    COMMANDS_DIFFER,
    EARLIER_NOT_SUFFICIENT,
    FEWER_TESTS,
    LATER_NOT_SUFFICIENT,
    ComparedFailure,
    ComparedRun,
    RunDifference,
    run_difference,
    serialize_run_difference,
)

DOUBTS = {
    COMMANDS_DIFFER: "the commands differ, so the later run may not have run the same tests",
    FEWER_TESTS: "the later run had fewer tests, so those that failed may not have run",
    EARLIER_NOT_SUFFICIENT: "the earlier run's evidence does not suffice, so what looks new may be older",
    LATER_NOT_SUFFICIENT: "the later run's evidence does not suffice, so nothing counts as fixed",
}
GROUPS = (
    ("new", "+", RED, "new"),
    ("fixed", "-", GREEN, "fixed"),
    ("unseen", "?", YELLOW, "not seen in the later run, not proven fixed"),
    ("still", "=", DIM, "still there"),
)

EPILOG = """\b
Exit status:
  0  no failure is new
  1  a failure is new; or there is no such run, it is damaged, or the store cannot be read
     (then nothing is on standard output)
  2  wrong usage, or a reference that could mean several runs

\b
Standard output carries the difference: a list to read, or with --json one canonical JSON document. Places are lines of
the later run, those of what is fixed or not seen lines of the earlier one.
"""


@click.command(epilog=EPILOG, short_help="Say which failures are new, fixed or still there between two runs.")
@click.argument("earlier", metavar="[EARLIER]", default="latest~1")
@click.argument("later", metavar="[LATER]", default="latest")
@click.option("--json", "as_json", is_flag=True, help="Print the difference as one canonical JSON document.")
@store_option
@configuration_options
def diff(
    *,
    earlier: str,
    later: str,
    as_json: bool,
    store_place: str | None,
    config_path: str | None,
    no_config: bool,
) -> int:
    """Say which failures are new, fixed or still there between two stored runs.

    EARLIER and LATER are references: the first digits of a run's hash, or latest and latest~1, which are the defaults.
    A failure is recognised by its name, and by its text where several have one name.

    \b
    context-firewall diff
    context-firewall diff 55c934f3 8a01be77
    context-firewall diff latest~3 --json
    """
    store = store_in_force(store_place, configuration_in_force(config_path, no_config))
    records = [store.record(store.find_run(reference)) for reference in (earlier, later)]
    packets = [stored_packet(store, record) for record in records]
    difference = run_difference(records[0], packets[0], records[1], packets[1])
    if as_json:
        deliver(serialize_run_difference(difference))
    else:
        deliver("".join(f"{line}\n" for line in _readable(difference, Terminal.of_stdout())).encode())
    return 1 if difference["new"] else 0


def _readable(difference: RunDifference, terminal: Terminal) -> Iterator[str]:
    for name, run in (("earlier", difference["earlier"]), ("later", difference["later"])):
        yield terminal.line(_run(name, run), BOLD, STATUS_COLOURS[run["verdict"]["status"]])
    for doubt in difference["doubts"]:
        yield terminal.line(f"! {doubt}: {DOUBTS[doubt]}", YELLOW)
    groups: dict[str, Sequence[ComparedFailure]] = {
        "new": difference["new"],
        "fixed": difference["fixed"],
        "unseen": difference["unseen"],
        "still": difference["still"],
    }
    for key, sign, colour, title in GROUPS:
        failures = groups[key]
        if not failures and key == "unseen":
            continue
        yield ""
        yield terminal.line(f"{title}: {len(failures) or 'none'}", BOLD)
        for failure in failures:
            changed = ", with other text" if failure.get("text_changed") else ""
            yield terminal.line(f"{sign} {safe(failure['identity'])}{_place(failure)}{changed}", colour)


def _run(name: str, run: ComparedRun) -> str:
    verdict = run["verdict"]
    counts = verdict["counts"]
    enough = "" if verdict["disposition"] == "SUFFICIENT" else ", NOT SUFFICIENT"
    return (
        f"{name:<7}  {short(run['evidence'])}  {shown_time(run['recorded_at'])}  {verdict['status']}{enough}: "
        f"{counts['failed']} of {counts['total']} failed  {shown_command(run['command'])}"
    )


def _place(failure: ComparedFailure) -> str:
    streams: dict[str, list[str]] = {}
    for place in failure["places"]:
        first, last = place["first"], place["last"]
        streams.setdefault(place["stream"], []).append(str(first) if first == last else f"{first}-{last}")
    shown = " ".join(f"{stream}:{','.join(ranges)}" for stream, ranges in streams.items())
    return f" [{shown}]" if shown else ""
