"""`context-firewall reduce`: a finished test run in, its evidence packet out."""

from typing import Any

import click

from context_firewall import EvidencePacket, reduce_streams
from context_firewall.cli.configuration import configuration_in_force, configuration_options, preferred
from context_firewall.cli.handing_out import emit_options, hand_out, packet_ceiling, projection, sidecar_options
from context_firewall.cli.run_options import AskedRun, checked_targets, run_options, source_options

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
@emit_options("packet")
@run_options
@sidecar_options
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
    with asked.opened(project, packet_ceiling(emit, max_bytes), wanted) as source:
        reduced = reduce_streams(source.streams, **source.options)
    hand_out(reduced, projection(reduced, emit, max_bytes), wanted, mechanism_revision)
    return _verdict_status(reduced) if exit_status else 0


def _verdict_status(packet: EvidencePacket) -> int:
    """The exit status that follows the verdict."""
    evidence = packet["decision_evidence"]
    if evidence["status"] == "failed":
        return 1
    return 0 if evidence["status"] == "passed" and evidence["disposition"] == "SUFFICIENT" else 3
