"""`context-firewall show`: what was made of a stored run, again."""

from typing import TYPE_CHECKING, Any

import click

from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.configuration import ProjectConfiguration, configuration_in_force, configuration_options
from context_firewall.cli.reports import FORMATS, report
from context_firewall.cli.stored_runs import short, shown_command, shown_time, stored_packet
from context_firewall.cli.stores import reference_argument, store_in_force, store_option
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.run_record import RunRecord
from context_firewall.errors import InvalidInput
from context_firewall.version import MECHANISM_NAME

if TYPE_CHECKING:
    from context_firewall.store.evidence import EvidenceStore

EPILOG = """\b
Exit status:
  0  the document was written
  1  there is no such run or document, it is damaged, or the store cannot be read
  2  wrong usage, or a reference that could mean several runs

\b
Standard output carries the document or report; packet, receipts, manifest and record come byte for byte as they were
stored. Standard error says which run it is of.
"""


@click.command(epilog=EPILOG, short_help="Show the brief, packet or explanation of a stored run again.")
@reference_argument
@click.option(
    "--emit",
    type=click.Choice(["brief", "packet", "model-evidence", "value-receipt", "manifest", "record", "explanation"]),
    default="brief",
    show_default=True,
    help="Which document. explanation: the table of `explain`, made from the stored bytes.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="A report for other systems instead, made of the packet: JUnit XML, or the annotations of GitHub Actions.",
)
@store_option
@configuration_options
@click.pass_context
def show(
    ctx: click.Context,
    /,
    *,
    reference: str,
    emit: str,
    form: str | None,
    store_place: str | None,
    config_path: str | None,
    no_config: bool,
) -> None:
    """Show what was made of a stored run.

    REFERENCE is the raw reference of a packet or brief, the first digits of its hash, or latest (latest~1 is the run
    before). Of evidence that was reduced more than once, the newest is shown.

    \b
    context-firewall show latest
    context-firewall show 55c934f3 --emit packet
    context-firewall show latest --emit explanation
    context-firewall show latest --format junit >report.xml
    """
    if form is not None and ctx.get_parameter_source("emit") is click.core.ParameterSource.COMMANDLINE:
        raise InvalidInput("--emit and --format both say what to print; give one", option="--format")
    project = configuration_in_force(config_path, no_config)
    store = store_in_force(store_place, project)
    record = store.record(store.find_run(reference))
    packet = stored_packet(store, record)
    deliver(_document(store, record, packet, emit, project) if form is None else report(packet, form))
    indicate(
        f"[{MECHANISM_NAME}] run {short(record['evidence'])} of {shown_time(record['recorded_at'])} UTC: "
        f"{shown_command(record['command'])}"
    )


def _document(
    store: "EvidenceStore", record: RunRecord, packet: EvidencePacket, emit: str, project: ProjectConfiguration
) -> bytes:
    from context_firewall.documents.evidence_manifest import serialize_evidence_manifest
    from context_firewall.documents.run_record import serialize_run_record

    if emit == "manifest":
        return serialize_evidence_manifest(store.manifest(record["evidence"]))
    if emit == "record":
        return serialize_run_record(record)
    if emit == "explanation":
        return _explained(store, record, packet, project)
    name = emit.replace("-", "_")
    if name in record["documents"]:
        return store.document(record, name)
    # What was not kept follows from the packet.
    if emit == "brief":
        from context_firewall.documents.brief import render_brief

        return render_brief(packet).encode()
    from context_firewall.documents.model_evidence import model_evidence_for_packet, serialize_model_evidence

    return serialize_model_evidence(model_evidence_for_packet(packet))


def _explained(
    store: "EvidenceStore", record: RunRecord, packet: EvidencePacket, project: ProjectConfiguration
) -> bytes:
    """The table of `explain` for the stored bytes, read as the packet records it."""
    from context_firewall.cli.explain import Choice, explained_table
    from context_firewall.cli.terminal import Terminal
    from context_firewall.reduction.explanation import explain_streams
    from context_firewall.reduction.pipeline import SourceStream
    from context_firewall.reduction.replay import known_options, recorded_options

    streams = {
        stream["name"]: b"".join(store.chunks(stream["sha256"], stream["byte_count"]))
        for stream in store.manifest(record["evidence"])["streams"]
    }
    options: Any = recorded_options(packet, known_options(project.noise))
    sources = [SourceStream(name, len(data), (data,)) for name, data in streams.items()]
    explanation = explain_streams(sources, **options)
    if explanation["packet"] != packet:
        indicate(
            f"[{MECHANISM_NAME}] reducing the stored bytes now gives another packet than the stored one: "
            "the version, or the declared noise, is another"
        )
    everything = Choice(frozenset(), frozenset(), None, False)
    return explained_table(explanation, streams, everything, Terminal.of_stdout())
