"""`context-firewall run`: a test command run as it is, its evidence kept, its brief on standard output.

The order of deeds: options, output names and store are looked at while nothing has happened yet; then the command
runs, and what it prints is captured; then manifest, reduction, run record, document and indicator. What goes wrong once
the command has started is said on standard error and never hides how the command ended.
"""

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from context_firewall import Emitted, EvidencePacket, configuration_identity, reduce_streams, serialize_packet
from context_firewall.cli.capture import WORDS, Capture
from context_firewall.cli.channels import indicate, shown_path, status_of
from context_firewall.cli.configuration import (
    ProjectConfiguration,
    configuration_in_force,
    configuration_options,
    preferred,
)
from context_firewall.cli.handing_out import (
    emit_options,
    hand_out,
    projection,
    receipt_bytes,
    sidecar_options,
)
from context_firewall.cli.live import Copy, ProgressLines, StatusLine, on_terminal
from context_firewall.cli.run_options import checked_targets, reading_options, refuse_overlap, text_option
from context_firewall.cli.stores import now, store_in_force, store_option
from context_firewall.documents.evidence_manifest import EvidenceManifest, evidence_manifest, evidence_reference
from context_firewall.errors import ContextFirewallError, InvalidInput, StoreUnavailable
from context_firewall.reduction.pipeline import RunOptions
from context_firewall.version import MECHANISM_NAME

if TYPE_CHECKING:
    from types import ModuleType

    from context_firewall.cli.child import Ending
    from context_firewall.cli.outputs import Target
    from context_firewall.store.evidence import EvidenceStore, StoredObject

# As timeout(1) has them: time was up although the command says 0; the command says 0 and we failed ourselves.
TIMED_OUT = 124
OWN_FAILURE = 125
# What a run is called by when nobody names it; a command line may be longer than anybody reads.
LONGEST_NAME = 200
# A brief goes into somebody's context, so it has a ceiling also when nobody names one. So has the packet behind it,
# which is kept: a tool that prints without end makes no packet without end.
BRIEF_BYTES = 24_000
PACKET_BYTES = 1_000_000

EPILOG = """\b
Exit status: the command's own, and
  128+n     signal n ended the command
  127, 126  the command was not found, or cannot be executed
  125       the command says 0, but what was asked for could not be made or written
  124       time was up, although the command says 0
  2         wrong usage; nothing was run

\b
Standard output carries the brief alone (or what --emit names). Standard error carries the
indicator, and what there is to say about the run: a timeout, evidence that was not kept, an error.
"""


def _seconds(_ctx: click.Context, _option: click.Parameter, seconds: float | None) -> float | None:
    """A length of time that a clock can have."""
    if seconds is not None and not 0 <= seconds <= 10**9:
        raise click.BadParameter("must be a number of seconds, zero or more")
    return seconds


@click.command(
    epilog=EPILOG,
    short_help="Run a test command, keep its output, print its brief.",
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS] [--]",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND...")
@emit_options("brief")
@click.option("--timeout", type=float, callback=_seconds, metavar="SECONDS", help="End the command when time is up.")
@click.option(
    "--grace",
    type=float,
    callback=_seconds,
    metavar="SECONDS",
    default=5.0,
    show_default=True,
    help="How long the command has to end by itself before it is killed, once time is up or SIGTERM came; and how long "
    "processes that it leaves behind are waited for.",
)
@click.option("--tee", is_flag=True, help="Also show the command's output on standard error, as it comes.")
@click.option(
    "--merge-streams",
    is_flag=True,
    help="Give the command one pipe for both streams: for tools whose report is spread over them.",
)
@click.option(
    "--annotations",
    type=click.Choice(["github"]),
    help="Also print failures on standard error as GitHub Actions reads them, to show them at file and line.",
)
@click.option(
    "--progress-fd",
    type=click.IntRange(min=3),
    metavar="N",
    help="Tell how far the run is, in a JSON line twice a second, on this open file descriptor.",
)
@store_option
@click.option("--no-store", is_flag=True, help="Keep nothing of the run; the packet then has no way back.")
@reading_options
@click.option(
    "--operation-id",
    callback=text_option,
    help="Name of the operation that this run belongs to. Default: the configured one, else the command.",
)
@click.option(
    "--source-id",
    callback=text_option,
    help="Name of the suite. Default: the configured one, else the name of the repository's folder.",
)
@click.option("--run-id", callback=text_option, help="Name of this run.")
@sidecar_options
@configuration_options
@click.pass_context
def run(ctx: click.Context, /, *, command: tuple[str, ...], **options: Any) -> int:
    """Run a test command, keep what it prints, and print its brief.

    The command is started directly, without a shell, with your standard input and environment; for pipes and variables
    name a shell yourself: -- sh -c '...'. Its output goes into the evidence store, byte for byte, and is reduced; the
    brief says what failed and how to fetch more of the output, so that nothing has to run twice. The exit status is the
    command's own, so this can stand in front of any test command.

    A signal that ends this program is passed on to the command and all that it started; what was printed until then is
    kept and reduced.

    Unless --max-bytes says otherwise, the brief has 24,000 bytes at most, and the packet that is kept a million.

    \b
    context-firewall run -- pytest -q
    context-firewall run --timeout 600 --tee -- npm test
    context-firewall run --emit packet --store s3://ci-evidence/web -- go test -json ./...
    """
    project = configuration_in_force(options["config_path"], options["no_config"])
    asked = _Asked(command, ctx, project, options)
    described = asked.description()
    wanted = checked_targets(
        {f"--{name.replace('_', '-')}": options[name] for name in ("value_receipt", "packet", "model_evidence")}
    )
    refuse_overlap(wanted, {})
    child = _child_processes()
    store, store_failure = _opened_store(project, options)
    names = ("stdout",) if options["merge_streams"] else ("stdout", "stderr")
    view = _view(options)
    with child.requests_to_stop_deferred(), Capture(names, store, None if view is None else view.show) as capture:
        capture.not_kept = capture.not_kept or store_failure
        ending: Ending = child.run_child(
            command,
            capture.take,
            merge_streams=options["merge_streams"],
            timeout=options["timeout"],
            grace=options["grace"],
            tick=None if view is None else view.tick,
        )
        if view is not None:
            view.clear()
        failure = status_of(lambda: _conclude(asked, described, ending, capture, wanted))
    return ending.exit_code or (TIMED_OUT if ending.timed_out else OWN_FAILURE if failure else 0)


def _view(options: dict[str, Any]) -> Copy | StatusLine | None:
    """What is to be seen of the run while it goes on."""
    descriptor = options["progress_fd"]
    if descriptor is None:
        return Copy() if options["tee"] else StatusLine() if on_terminal() else None
    if options["tee"]:
        raise InvalidInput("--tee and --progress-fd both follow the run; give one", option="--progress-fd")
    try:
        return ProgressLines(descriptor)
    except OSError as problem:
        reason = f"file descriptor {descriptor} cannot be used: {problem.strerror}"
        raise InvalidInput(reason, option="--progress-fd") from problem


def _child_processes() -> "ModuleType":
    """The room of child processes, which needs POSIX: process groups, signals, pipes that can be waited for."""
    try:
        from context_firewall.cli import child
    except ImportError:
        raise InvalidInput(
            "run needs a POSIX system; elsewhere, run the command and hand its output to reduce"
        ) from None
    return child


class _Asked(NamedTuple):
    """The options, and the project's configuration where they leave something open."""

    command: tuple[str, ...]
    ctx: click.Context
    project: ProjectConfiguration
    options: dict[str, Any]

    def preferred(self, name: str) -> Any:
        """An option as given, else as configured, else its default."""
        return preferred(self.ctx, name, self.options[name], getattr(self.project, name))

    @property
    def emit(self) -> str:
        return str(self.options["emit"])

    @property
    def max_bytes(self) -> int | None:
        """The ceiling of what is emitted."""
        given: int | None = self.preferred("max_bytes")
        return BRIEF_BYTES if given is None and self.emit == "brief" else given

    @property
    def shown_command(self) -> list[str]:
        """The command as text that a document can hold."""
        return [shown_path(word) for word in self.command]

    def description(self) -> RunOptions:
        """How to reduce the run, but for what only its end tells. Raises InvalidInput for options that clash."""
        reading: dict[str, Any] = {
            "max_output_bytes": PACKET_BYTES if self.emit == "brief" else self.max_bytes,
            "policy": self.preferred("policy"),
            "dialect": self.preferred("dialect"),
            "noise": self.project.noise,
        }
        configuration_identity(**reading)
        return {
            "operation_id": self.preferred("operation_id") or _cut(shlex.join(self.shown_command)),
            "source_id": self.preferred("source_id") or _project_name(),
            "run_id": self.preferred("run_id"),
            **cast(RunOptions, reading),
        }


def _opened_store(
    project: ProjectConfiguration, options: dict[str, Any]
) -> tuple["EvidenceStore | None", StoreUnavailable | None]:
    """The store that is in force, if any; one that cannot be had is no reason not to run the command."""
    if options["no_store"]:
        if options["store_place"] is not None:
            raise InvalidInput("--store names a store, and --no-store refuses any", option="--no-store")
        return None, None
    try:
        return store_in_force(options["store_place"], project), None
    except StoreUnavailable as problem:
        return None, problem


def _conclude(
    asked: _Asked, described: RunOptions, ending: "Ending", capture: Capture, wanted: tuple["Target", ...]
) -> None:
    """Everything after the command's end: keep, reduce, record, hand out."""
    for remark in _remarks(ending):
        _say(remark)
    manifest = capture.put(lambda stored: _manifest(asked.shown_command, ending, stored))
    if capture.not_kept is not None:
        _say(f"evidence not kept: {capture.not_kept}")
    reference = asked.project.raw_ref if manifest is None else evidence_reference(manifest)
    described = {
        **described,
        "exit_code": ending.exit_code,
        "duration_ms": ending.duration_ms,
        "interrupted": ending.interrupted,
        "timed_out": ending.timed_out,
        "raw_evidence_ref": reference,
    }
    revision = asked.options["mechanism_revision"]
    try:
        packet = reduce_streams(capture.streams(), **described)
        emitted = projection(packet, asked.emit, asked.max_bytes)
    except ContextFirewallError:
        if manifest is not None:
            _say(f"the output is kept as {reference}")
        raise
    if manifest is not None:
        _record(manifest, packet, emitted, revision, capture)
        if capture.not_kept is not None:
            _say(f"record of the run not kept: {capture.not_kept}")
    if asked.options["annotations"]:
        from context_firewall.cli.reports import report

        for line in report(packet, asked.options["annotations"]).decode().splitlines():
            indicate(line)
    hand_out(packet, emitted, wanted, revision)


def _say(text: str) -> None:
    """Write a remark; names and a server's words may hold what no terminal should get."""
    from context_firewall.documents.printable import safe

    indicate(f"[{MECHANISM_NAME}] {safe(text)}")


def _remarks(ending: "Ending") -> list[str]:
    """What a person should know of the run besides its verdict."""
    from context_firewall.cli.child import signal_name

    remarks = []
    if ending.timed_out:
        how = "it ended" if ending.signal is None else f"{signal_name(ending.signal)} ended it"
        remarks.append(f"time was up after {ending.duration_ms / 1000:.1f} s: {how}")
    elif ending.passed_on:
        names = ", ".join(dict.fromkeys(map(signal_name, ending.passed_on)))
        remarks.append(f"{names} came and was passed on to the command")
    if ending.held_open:
        streams = " and ".join(WORDS[name] for name in ending.held_open)
        remarks.append(f"processes left behind hold {streams} open; what they print from now on is not captured")
    return remarks


def _manifest(command: Sequence[str], ending: "Ending", stored: "dict[str, StoredObject]") -> EvidenceManifest:
    return evidence_manifest(
        [kept.stream(name, complete=name not in ending.held_open) for name, kept in stored.items()],
        command=command,
        exit_code=ending.exit_code,
        duration_ms=ending.duration_ms,
        interrupted=ending.interrupted,
        signal=ending.signal,
        timed_out=ending.timed_out,
    )


def _record(
    manifest: EvidenceManifest, packet: EvidencePacket, emitted: Emitted | None, revision: str | None, capture: Capture
) -> None:
    """Put what was made of the run into the store."""
    from context_firewall.documents.brief import render_brief

    documents = {"packet": serialize_packet(packet), "value_receipt": receipt_bytes(packet, emitted, revision)}
    if emitted is not None:
        documents[emitted.name.replace(" ", "_")] = emitted.data
    if "brief" not in documents:
        documents["brief"] = render_brief(packet).encode()
    with capture.storing() as kept:
        if kept is not None:
            kept.put_run(manifest, packet, documents, recorded_at=now())


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _project_name() -> str | None:
    """The name of the folder that holds the repository, or of the working directory without one."""
    from context_firewall.store.places import store_folder

    try:
        folder = os.path.dirname(store_folder(os.getcwd()))
    except OSError:  # it was removed: there is nothing to be named for
        return None
    return shown_path(os.path.basename(folder) or folder)
