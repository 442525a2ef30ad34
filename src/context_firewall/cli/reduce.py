"""`context-firewall reduce`: a finished test run in, its evidence packet out.

The order of deeds is the promise that a failed run leaves nothing: options and output names are checked, then the
input is read and reduced, then the sidecars are written and stand, then the packet goes to standard output, and last
the indicator says so. What fails on the way undoes what came before it.
"""

from typing import TYPE_CHECKING, Any

import click

from context_firewall import (
    Emitted,
    EvidencePacket,
    format_indicator,
    model_evidence_for_packet,
    reduce_streams,
    serialize_model_evidence,
    serialize_packet,
    serialize_value_receipt,
    value_receipt_for_packet,
)
from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.configuration import configuration_in_force, configuration_options, preferred
from context_firewall.cli.run_options import (
    AskedRun,
    byte_ceiling,
    checked_targets,
    run_options,
    source_options,
    text_option,
)

if TYPE_CHECKING:
    from context_firewall.cli.outputs import Target

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


@click.command(epilog=EPILOG, short_help="Reduce a finished test run to its evidence packet.")
@source_options
@click.option(
    "--emit",
    type=click.Choice(["packet", "model-evidence", "brief"]),
    default="packet",
    show_default=True,
    help="What goes to standard output: the packet, its decision evidence alone, or the brief (plain text).",
)
@click.option(
    "--max-bytes",
    callback=byte_ceiling,
    metavar="N",
    help="Ceiling in bytes of the packet, or of the brief if that is emitted; honoured exactly.",
)
@run_options
@click.option(
    "--value-receipt", metavar="PATH", help="Also write the value receipt (bytes and counts, no other claim) here."
)
@click.option(
    "--mechanism-revision",
    callback=text_option,
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
    /,
    *,
    emit: str,
    max_bytes: int | None,
    value_receipt: str | None,
    mechanism_revision: str | None,
    packet: str | None,
    model_evidence: str | None,
    config_path: str | None,
    no_config: bool,
    exit_status: bool,
    **run: Any,
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
    asked = AskedRun(ctx, run)
    wanted = checked_targets({"--value-receipt": value_receipt, "--packet": packet, "--model-evidence": model_evidence})
    project = configuration_in_force(config_path, no_config)
    max_bytes = preferred(ctx, "max_bytes", max_bytes, project.max_bytes)
    # A brief has a ceiling of its own; the packet that it is made from then has none.
    ceiling = None if emit == "brief" else max_bytes
    with asked.opened(project, ceiling, wanted) as source:
        reduced = reduce_streams(source.streams, **source.options)
    _hand_out(reduced, _emitted(reduced, emit, max_bytes), wanted, mechanism_revision)
    return _verdict_status(reduced) if exit_status else 0


def _emitted(packet: EvidencePacket, emit: str, max_bytes: int | None) -> Emitted | None:
    """The projection that standard output gets instead of the packet, if any."""
    if emit == "brief":
        from context_firewall.documents.brief import render_brief  # most runs emit the packet and start faster without

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
