"""What a command gives of a packet: one document on standard output, others as files, the indicator.

The order of deeds is the promise that a failed run leaves nothing: output names are checked before anything is read
(`checked_targets`); then the sidecars are written and stand, then the document goes to standard output, and last the
indicator says so. What fails on the way undoes what came before it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from context_firewall import (
    Emitted,
    EvidencePacket,
    format_indicator,
    model_evidence_for_packet,
    serialize_model_evidence,
    serialize_packet,
    serialize_value_receipt,
    value_receipt_for_packet,
)
from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.run_options import Command, byte_ceiling, declared, text_option

if TYPE_CHECKING:
    from context_firewall.cli.outputs import Target

FORMS = ("packet", "model-evidence", "brief")

_SIDECAR_OPTIONS = (
    click.option(
        "--value-receipt", metavar="PATH", help="Also write the value receipt (bytes and counts, no other claim) here."
    ),
    click.option(
        "--mechanism-revision",
        callback=text_option,
        metavar="REV",
        help="Recorded in the value receipt as given; affects nothing else.",
    ),
    click.option("--packet", metavar="PATH", help="Also write the packet here, for the audit of what was emitted."),
    click.option(
        "--model-evidence",
        metavar="PATH",
        help="Also write the model evidence (the decision evidence without the receipt) here; needs an operation id.",
    ),
)


def emit_options(default: str) -> Callable[[Command], Command]:
    """What standard output gets, and its ceiling: `emit`, `max_bytes`."""

    def with_options(command: Command) -> Command:
        return declared(
            command,
            (
                click.option(
                    "--emit",
                    type=click.Choice(FORMS),
                    default=default,
                    show_default=True,
                    help="What goes to standard output: the packet, its decision evidence alone, or the brief (plain "
                    "text).",
                ),
                click.option(
                    "--max-bytes",
                    callback=byte_ceiling,
                    metavar="N",
                    help="Ceiling in bytes of the packet, or of the brief if that is emitted; honoured exactly.",
                ),
            ),
        )

    return with_options


def sidecar_options(command: Command) -> Command:
    """The files beside it: `value_receipt`, `mechanism_revision`, `packet`, `model_evidence`."""
    return declared(command, _SIDECAR_OPTIONS)


def packet_ceiling(emit: str, max_bytes: int | None) -> int | None:
    """The ceiling of the packet: a brief has one of its own, and the packet that it is made from then has none."""
    return None if emit == "brief" else max_bytes


def projection(packet: EvidencePacket, emit: str, max_bytes: int | None) -> Emitted | None:
    """What standard output gets instead of the packet, if anything."""
    if emit == "brief":
        from context_firewall.documents.brief import render_brief  # most runs emit the packet and start faster without

        return Emitted("brief", render_brief(packet, max_bytes=max_bytes).encode(), max_bytes)
    if emit == "model-evidence":
        return Emitted("model evidence", serialize_model_evidence(model_evidence_for_packet(packet)), max_bytes)
    return None


def hand_out(
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
    return receipt_bytes(packet, emitted, mechanism_revision)


def receipt_bytes(packet: EvidencePacket, emitted: Emitted | None, mechanism_revision: str | None) -> bytes:
    """The value receipt of what was emitted, serialised."""
    return serialize_value_receipt(
        value_receipt_for_packet(packet, mechanism_revision=mechanism_revision, emitted=emitted)
    )
