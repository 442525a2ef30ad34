"""`context-firewall verify`: is a packet what it says it is, and do its companions belong to it?"""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import click

from context_firewall.cli.channels import deliver, shown_path
from context_firewall.cli.configuration import ProjectConfiguration, configuration_in_force, configuration_options
from context_firewall.cli.sources import open_source
from context_firewall.cli.stores import store_in_force, store_option
from context_firewall.errors import InvalidInput

if TYPE_CHECKING:
    from context_firewall import Finding
    from context_firewall.documents.evidence_manifest import EvidenceManifest

REPORT = "context-firewall.verification-report/v1"

LEVELS = {
    "packet": "the packet by itself",
    "raw_bytes": "against the raw bytes",
    "envelope": "against what the envelope says",
    "replay": "by reducing the bytes again",
    "stored": "against the stored evidence that it names",
}

EPILOG = """\b
Exit status:
  0  everything that could be checked holds
  1  something does not; the report says where and what
  2  a file cannot be read or is no JSON at all; wrong usage

\b
Standard output carries the report: a list to read, or with --json one canonical JSON document.
A packet is not signed. Without the raw bytes, what is verified is that it agrees with itself.
"""


class DocumentReport(TypedDict):
    """What was found in one document."""

    document: str
    findings: "list[Finding]"
    path: str


class Report(TypedDict):
    """The whole JSON report."""

    documents: list[DocumentReport]
    levels: list[str]
    protocol_version: str
    unvouched: list[str]
    verified: bool


@click.command(epilog=EPILOG, short_help="Check a packet, alone or against the bytes that it was made of.")
@click.argument("packet", metavar="PACKET|-")
@click.option("--raw", metavar="PATH", help="What the run printed on standard output: check every line and digest.")
@click.option("--stderr", metavar="PATH", help="What the run printed on standard error.")
@click.option("--envelope", metavar="PATH", help="The envelope that was reduced: check names and process state, too.")
@click.option("--value-receipt", metavar="PATH", help="Check that this value receipt belongs to the packet.")
@click.option("--model-evidence", metavar="PATH", help="Check that this model evidence belongs to the packet.")
@click.option("--brief", metavar="PATH", help="Check that this brief belongs to the packet.")
@click.option("--stored", is_flag=True, help="Check against the evidence that the packet names, in the store.")
@store_option
@configuration_options
@click.option("--json", "as_json", is_flag=True, help="Print a canonical JSON report.")
def verify(
    *,
    packet: str,
    raw: str | None,
    stderr: str | None,
    envelope: str | None,
    value_receipt: str | None,
    model_evidence: str | None,
    brief: str | None,
    stored: bool,
    store_place: str | None,
    config_path: str | None,
    no_config: bool,
    as_json: bool,
) -> int:
    """Check that a packet is what it says it is.

    Alone, the packet is checked against itself: canonical bytes, shape, every digest and count that follows from the
    rest, the verdict from the facts. With the raw bytes, every line it shows or refers to is looked up, and the bytes
    are reduced once more under the recorded policy and ceiling: the outcome must be the same, byte for byte. With the
    envelope, so must be what the caller said of the run. Of a packet that was made with declared noise, the project's
    configuration says which. With --stored, the bytes are those that its raw reference names in the evidence store, and
    exit code, duration and interruption must be those of the evidence manifest there.

    \b
    context-firewall verify packet.json
    context-firewall verify packet.json --raw out.txt --stderr err.txt
    context-firewall verify packet.json --envelope run.json --value-receipt receipt.json --json
    context-firewall verify packet.json --stored
    """
    paths = {
        "PACKET": packet,
        "--raw": raw,
        "--stderr": stderr,
        "--envelope": envelope,
        "--value-receipt": value_receipt,
        "--model-evidence": model_evidence,
        "--brief": brief,
    }
    if envelope is not None and (raw is not None or stderr is not None):
        option = "--raw" if raw is not None else "--stderr"
        raise InvalidInput(f"{option} is part of the envelope; give one or the other", option=option)
    others = [option for option in ("--raw", "--stderr", "--envelope") if paths[option] is not None]
    if stored and others:
        raise InvalidInput(f"{others[0]} gives bytes, and --stored takes those of the store", option="--stored")
    if sum(path == "-" for path in paths.values()) > 1:
        raise InvalidInput("standard input can be one file only", option="PACKET")
    held = {option: _read(option, path) for option, path in paths.items() if path is not None}
    project = configuration_in_force(config_path, no_config)
    kept = _stored(held["PACKET"], store_place, project) if stored else None
    report = _report(held, paths, project.noise, kept)
    deliver(_serialized(report) if as_json else _readable(report))
    return 0 if report["verified"] else 1


def _read(option: str, path: str) -> bytes:
    with closing(open_source(option, path)) as source:
        return source.read()


class Kept(NamedTuple):
    """The evidence that a packet names: its reference, manifest and bytes."""

    reference: str
    manifest: "EvidenceManifest"
    streams: dict[str, bytes]


def _stored(packet: bytes, store_place: str | None, project: ProjectConfiguration) -> Kept:
    """The evidence in the store that the packet's raw reference names."""
    from context_firewall.documents.evidence_manifest import SCHEME, referenced_hex
    from context_firewall.documents.verification import read_packet

    value: Any = read_packet(packet).value
    for key in ("receipt", "raw_evidence", "reference"):
        value = value.get(key) if isinstance(value, Mapping) else None
    reference = SCHEME + referenced_hex(value, "receipt.raw_evidence.reference")
    store = store_in_force(store_place, project)
    manifest = store.manifest(reference)
    streams = {one["name"]: b"".join(store.chunks(one["sha256"], one["byte_count"])) for one in manifest["streams"]}
    return Kept(reference, manifest, streams)


def _report(held: dict[str, bytes], paths: dict[str, str | None], noise: Sequence[Any], kept: Kept | None) -> Report:
    from context_firewall import verify_brief, verify_model_evidence, verify_value_receipt
    from context_firewall.documents.test_run_input import STREAM_NAMES
    from context_firewall.documents.verification import verify_evidence_manifest
    from context_firewall.reduction.replay import examine

    packet = held["PACKET"]
    names = dict(zip(("--raw", "--stderr"), STREAM_NAMES, strict=True))
    given = {name: held[option] for option, name in names.items() if option in held}
    streams = given if kept is None else kept.streams
    examination = examine(packet, streams=streams or None, envelope=held.get("--envelope"), noise=noise)

    def about(option: str, document: str, findings: "list[Finding]") -> DocumentReport:
        return {"document": document, "findings": findings, "path": shown_path(paths[option] or "")}

    documents = [about("PACKET", "packet", list(examination.findings))]
    levels, unvouched = list(examination.levels), list(examination.unvouched)
    if kept is not None and "raw_bytes" in levels:
        # The packet has its shape, so that it can be compared.
        findings = verify_evidence_manifest(kept.manifest, json.loads(packet))
        documents.append({"document": "evidence manifest", "findings": findings, "path": kept.reference})
        levels.append("stored")
        unvouched.remove("receipt.raw_evidence.reference")
    checks: tuple[tuple[str, str, Any], ...] = (
        ("--value-receipt", "value receipt", verify_value_receipt),
        ("--model-evidence", "model evidence", verify_model_evidence),
        ("--brief", "brief", verify_brief),
    )
    for option, document, check in checks:
        if option in held:
            documents.append(about(option, document, check(held[option], packet)))
    return {
        "documents": documents,
        "levels": levels,
        "protocol_version": REPORT,
        "unvouched": unvouched,
        "verified": not any(document["findings"] for document in documents),
    }


def _serialized(report: Report) -> bytes:
    from context_firewall.canonical import canonical_bytes

    return canonical_bytes(report) + b"\n"


def _readable(report: Report) -> bytes:
    """A list for people. Findings are printable already; paths are made so."""
    from context_firewall.documents.verification.findings import printable

    lines = []
    for document in report["documents"]:
        findings = document["findings"]
        count = len(findings)
        outcome = "verified" if not count else "1 finding" if count == 1 else f"{count} findings"
        lines.append(f"{document['document']} {printable(document['path'])}: {outcome}")
        lines += (f"  {finding['field'] or '(the document)'}: {finding['problem']}" for finding in findings)
    lines.append("checked: " + "; ".join(LEVELS[level] for level in report["levels"]))
    if report["unvouched"]:
        lines.append("nothing here vouches for: " + ", ".join(report["unvouched"]))
    return ("\n".join(lines) + "\n").encode()
