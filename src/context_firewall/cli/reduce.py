"""`context-firewall reduce`: a finished test run in, its evidence packet out.

The order of deeds is the promise that a failed run leaves nothing: options and output names are checked, then the
input is read and reduced, then the sidecars are written and stand, then the packet goes to standard output, and last
the indicator says so. What fails on the way undoes what came before it.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import click

from context_firewall import (
    DEFAULT_POLICY,
    Emitted,
    EvidencePacket,
    InvalidInput,
    SourceStream,
    format_indicator,
    model_evidence_for_packet,
    reduce_streams,
    render_brief,
    serialize_model_evidence,
    serialize_packet,
    serialize_value_receipt,
    value_receipt_for_packet,
)
from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.configuration import configuration_in_force, configuration_options, preferred
from context_firewall.cli.recognition import meant_as_envelope
from context_firewall.cli.sources import Source, open_source
from context_firewall.documents.test_run_input import parse_test_run_input
from context_firewall.reduction.pipeline import POLICIES
from context_firewall.transcript import dialects

if TYPE_CHECKING:
    from context_firewall.cli.outputs import Target

# Options that say what an envelope says itself, as click names their parameters.
DESCRIBING_OPTIONS = {
    "stderr_path": "--stderr",
    "operation_id": "--operation-id",
    "source_id": "--source-id",
    "run_id": "--run-id",
    "raw_ref": "--raw-ref",
    "exit_code": "--exit-code",
    "duration_ms": "--duration-ms",
    "interrupted": "--interrupted",
}

# 15 digits stay below 2^53, where every reader of JSON agrees on an integer.
_WHOLE = re.compile(r"[0-9]{1,15}")
_EXIT_CODE = re.compile(r"(128\+)?([0-9]{1,3})")
_DURATION = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?")

EPILOG = """\b
Exit status:
  0  a valid packet was written (with --exit-status: the run passed, and the packet suffices)
  1  something else went wrong, such as a file that cannot be written
     (with --exit-status also: the run failed)
  2  bad input, wrong usage, or a ceiling too small for any truthful packet
  3  only with --exit-status: not sure; read the packet's reason codes

\b
Standard output carries the packet alone, in canonical JSON (or what --emit names). Standard error
carries one indicator, or one canonical JSON error; then nothing is on standard output and no
sidecar is left behind.
"""


def _exit_code(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """An exit code 0 to 255; `128+n` is how shells say: ended by signal n."""
    if text is None:
        return None
    match = _EXIT_CODE.fullmatch(text)
    number = int(match[2]) + (128 if match[1] else 0) if match else 256
    if number > 255:
        raise click.BadParameter("must be an integer from 0 to 255, or 128+n for a run that signal n ended")
    return number


def _duration(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | float | None:
    """Milliseconds, zero or more; an integer where it is written as one."""
    if text is None:
        return None
    if not _DURATION.fullmatch(text):
        raise click.BadParameter("must be a number of milliseconds, zero or more, such as 12.5")
    return int(text) if text.isdecimal() else float(text)


def _ceiling(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """A number of bytes."""
    if text is None:
        return None
    if not _WHOLE.fullmatch(text):
        raise click.BadParameter("must be a whole number of bytes")
    return int(text)


def _text(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Text that canonical JSON can hold: argument bytes that are not UTF-8 arrive as lone surrogates."""
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        raise click.BadParameter("is not UTF-8") from None
    return text


@click.command(epilog=EPILOG, short_help="Reduce a finished test run to its evidence packet.")
@click.option(
    "--input",
    "input_path",
    metavar="PATH|-",
    default="-",
    show_default=True,
    help="The run: an envelope or the bytes that the run printed on standard output. - is standard input.",
)
@click.option("--stderr", "stderr_path", metavar="PATH", help="What a raw run printed on standard error.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["auto", "envelope", "raw"]),
    default="auto",
    show_default=True,
    help="What the input is. auto: an envelope is one JSON object with the protocol string, all else is raw; "
    "a damaged envelope is an error.",
)
@click.option(
    "--emit",
    type=click.Choice(["packet", "model-evidence", "brief"]),
    default="packet",
    show_default=True,
    help="What goes to standard output: the packet, its decision evidence alone, or the brief (plain text).",
)
@click.option(
    "--max-bytes",
    callback=_ceiling,
    metavar="N",
    help="Ceiling in bytes of the packet, or of the brief if that is emitted; honoured exactly.",
)
@click.option(
    "--policy",
    type=click.Choice([row.revision for row in POLICIES]),
    default=DEFAULT_POLICY,
    show_default=True,
    help="The set of classification rules.",
)
@click.option(
    "--dialect",
    type=click.Choice(["auto", *(row.name for row in dialects.REGISTRY)]),
    default="auto",
    show_default=True,
    help="The grammar to read the output by. auto: as the output itself declares.",
)
@click.option("--operation-id", callback=_text, help="Raw runs: name of the operation that this run belongs to.")
@click.option("--source-id", callback=_text, help="Raw runs: name of the suite.")
@click.option("--run-id", callback=_text, help="Raw runs: name of this run.")
@click.option("--raw-ref", callback=_text, help="Raw runs: where the raw bytes are kept; recorded, not verified.")
@click.option(
    "--exit-code", callback=_exit_code, metavar="N", help="Raw runs: the test command's exit code, 0 to 255 (or 128+n)."
)
@click.option(
    "--duration-ms", callback=_duration, metavar="N", help="Raw runs: how long the run took, in milliseconds."
)
@click.option("--interrupted", is_flag=True, help="Raw runs: the run was stopped before it ended.")
@click.option(
    "--value-receipt", metavar="PATH", help="Also write the value receipt (bytes and counts, no other claim) here."
)
@click.option(
    "--mechanism-revision",
    callback=_text,
    metavar="REV",
    help="Recorded in the value receipt as given; affects nothing else.",
)
@click.option("--packet", metavar="PATH", help="Also write the packet here, for the audit of what was emitted.")
@click.option(
    "--model-evidence",
    metavar="PATH",
    help="Also write the model evidence (the decision evidence without the receipt) here; needs an operation id.",
)
@configuration_options
@click.option("--exit-status", is_flag=True, help="Let this command's exit status follow the verdict (see below).")
@click.pass_context
def reduce(
    ctx: click.Context,
    *,
    input_path: str,
    stderr_path: str | None,
    form: str,
    emit: str,
    max_bytes: int | None,
    policy: str,
    dialect: str,
    operation_id: str | None,
    source_id: str | None,
    run_id: str | None,
    raw_ref: str | None,
    exit_code: int | None,
    duration_ms: int | float | None,
    interrupted: bool,
    value_receipt: str | None,
    mechanism_revision: str | None,
    packet: str | None,
    model_evidence: str | None,
    config_path: str | None,
    no_config: bool,
    exit_status: bool,
) -> int:
    """Reduce a finished test run to its evidence packet.

    A packet holds the verdict, the counts, every failure's text, what nothing recognised, and a receipt for all that
    was left out. Where the output does not prove the verdict, the packet says so and asks for the raw evidence.

    What the bytes do not say (exit code, names, where the raw bytes are kept) comes from options; what is not given
    is missing, and the packet's reason codes say so. What a project always says can stand in its context-firewall.toml
    or in [tool.context-firewall] of its pyproject.toml, with the lines that it declares to be noise.

    \b
    npm test >out.txt 2>err.txt; code=$?
    context-firewall reduce --input out.txt --stderr err.txt --exit-code $code \\
      --operation-id ci-417 --source-id web --run-id 9 --raw-ref artifact://ci/417

    \b
    context-firewall reduce --input envelope.json --value-receipt receipt.json
    context-firewall reduce --max-bytes 4096 --exit-status <envelope.json
    """
    given = [
        option
        for name, option in DESCRIBING_OPTIONS.items()
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if form == "envelope":
        _refuse_description(given)
    wanted = _checked_targets(
        {"--value-receipt": value_receipt, "--packet": packet, "--model-evidence": model_evidence}
    )
    project = configuration_in_force(config_path, no_config)
    max_bytes = preferred(ctx, "max_bytes", max_bytes, project.max_bytes)
    # A brief has a ceiling of its own; the packet that it is made from then has none.
    ceiling = None if emit == "brief" else max_bytes
    configuration: dict[str, Any] = {
        "max_output_bytes": ceiling,
        "policy": preferred(ctx, "policy", policy, project.policy),
        "dialect": preferred(ctx, "dialect", dialect, project.dialect),
        "noise": project.noise,
    }

    with ExitStack() as open_sources:
        main_source, stderr_source = _opened(input_path, stderr_path, open_sources)
        if wanted:
            _refuse_overlap(wanted, main_source, stderr_source)
        if form == "envelope" or (form == "auto" and meant_as_envelope(main_source.chunks())):
            _refuse_description(given)
            reduced = _reduced_envelope(main_source, configuration)
        else:
            streams = [SourceStream("stdout", main_source.byte_count, main_source.chunks())]
            if stderr_source is not None:
                streams.append(SourceStream("stderr", stderr_source.byte_count, stderr_source.chunks()))
            reduced = reduce_streams(
                streams,
                operation_id=preferred(ctx, "operation_id", operation_id, project.operation_id),
                source_id=preferred(ctx, "source_id", source_id, project.source_id),
                run_id=preferred(ctx, "run_id", run_id, project.run_id),
                raw_evidence_ref=preferred(ctx, "raw_ref", raw_ref, project.raw_ref),
                exit_code=exit_code,
                duration_ms=duration_ms,
                interrupted=interrupted,
                **configuration,
            )
    _hand_out(reduced, _emitted(reduced, emit, max_bytes), wanted, mechanism_revision)
    return _verdict_status(reduced) if exit_status else 0


def _refuse_description(given: Iterable[str]) -> None:
    """An envelope describes its run itself; an option that does so too would silently win or lose."""
    for option in given:
        raise InvalidInput(f"{option} describes a raw run, and the input is an envelope, which does so", option=option)


def _opened(input_path: str, stderr_path: str | None, open_sources: ExitStack) -> tuple[Source, Source | None]:
    """Both sources, which must be two: the same bytes read as two streams would count everything twice."""
    if stderr_path is not None and _is_one_path(input_path, stderr_path):
        raise InvalidInput("--input and --stderr are the same file", option="--stderr")
    main_source = open_source("--input", input_path)
    open_sources.callback(main_source.close)
    if stderr_path is None:
        return main_source, None
    stderr_source = open_source("--stderr", stderr_path)
    open_sources.callback(stderr_source.close)
    one, other = main_source.identity, stderr_source.identity
    if one is not None and other is not None and os.path.samestat(one, other):
        raise InvalidInput("--input and --stderr are the same file", option="--stderr")
    return main_source, stderr_source


def _is_one_path(one: str, other: str) -> bool:
    """Whether two paths are one, asked before opening: a pipe that is opened twice waits for ever."""
    if "-" in (one, other) or "\0" in one + other:
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)


def _checked_targets(paths: Mapping[str, str | None]) -> tuple["Target", ...]:
    """The sidecars that are asked for, refused early where they cannot be."""
    if not any(path is not None for path in paths.values()):
        return ()
    from context_firewall.cli import outputs  # most runs have no sidecar and start faster without it

    return outputs.targets(paths)


def _refuse_overlap(wanted: tuple["Target", ...], main_source: Source, stderr_source: Source | None) -> None:
    """No sidecar is a file that is read, or the one that standard output goes to."""
    from context_firewall.cli import outputs

    used = {"--input": main_source.identity}
    if stderr_source is not None:
        used["--stderr"] = stderr_source.identity
    with suppress(OSError, ValueError):
        if sys.stdout is not None:
            used["standard output"] = os.fstat(sys.stdout.fileno())
    outputs.refuse_overlap(wanted, used)


def _reduced_envelope(source: Source, configuration: Mapping[str, Any]) -> EvidencePacket:
    try:
        run = parse_test_run_input(source.read())
    except InvalidInput as error:
        raise InvalidInput(f"the input is an envelope and not a valid one: {error}", **error.details) from error
    return reduce_streams(
        [SourceStream(stream.name, len(stream.data), (stream.data,)) for stream in run.streams],
        operation_id=run.operation_id,
        source_id=run.source_id,
        run_id=run.run_id,
        raw_evidence_ref=run.raw_evidence_ref,
        exit_code=run.process.exit_code,
        duration_ms=run.process.duration_ms,
        interrupted=run.process.interrupted,
        **configuration,
    )


def _emitted(packet: EvidencePacket, emit: str, max_bytes: int | None) -> Emitted | None:
    """The projection that standard output gets instead of the packet, if any."""
    if emit == "brief":
        return Emitted("brief", render_brief(packet, max_bytes=max_bytes).encode(), max_bytes)
    if emit == "model-evidence":
        return Emitted("model evidence", serialize_model_evidence(model_evidence_for_packet(packet)), max_bytes)
    return None


def _hand_out(
    packet: EvidencePacket, emitted: Emitted | None, wanted: tuple["Target", ...], mechanism_revision: str | None
) -> None:
    """Write sidecars, the packet or its projection, and the indicator."""
    document = serialize_packet(packet) if emitted is None else emitted.data
    contents = [(target, _sidecar(target.option, packet, emitted, mechanism_revision)) for target in wanted]
    if contents:
        from context_firewall.cli import outputs

        with outputs.written(contents):
            deliver(document)
    else:
        deliver(document)
    indicate(format_indicator(packet, emitted=emitted))


def _sidecar(option: str, packet: EvidencePacket, emitted: Emitted | None, mechanism_revision: str | None) -> bytes:
    """The bytes of the sidecar that an option asks for."""
    if option == "--packet":
        return serialize_packet(packet)
    if option == "--model-evidence":
        return serialize_model_evidence(model_evidence_for_packet(packet))
    receipt = value_receipt_for_packet(packet, mechanism_revision=mechanism_revision, emitted=emitted)
    return serialize_value_receipt(receipt)


def _verdict_status(packet: EvidencePacket) -> int:
    """The exit status that follows the verdict."""
    evidence = packet["decision_evidence"]
    if evidence["status"] == "failed":
        return 1
    return 0 if evidence["status"] == "passed" and evidence["disposition"] == "SUFFICIENT" else 3
