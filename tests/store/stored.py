"""Runs to put into a store, and what must hold of every store."""

import gzip
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from context_firewall import (
    CompactionRecord,
    Compactor,
    Context,
    Emitted,
    Message,
    Role,
    SourceStream,
    reduce_streams,
    render_brief,
    restored_view,
    selection,
    serialize_packet,
    serialize_value_receipt,
    stub_summarizer,
    value_receipt_for_packet,
)
from context_firewall.canonical import sha256
from context_firewall.compaction.selection import recent
from context_firewall.compaction.triggers import always
from context_firewall.documents.evidence_manifest import (
    EvidenceManifest,
    evidence_manifest,
    evidence_reference,
    parse_evidence_manifest,
)
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.run_record import parse_run_record
from context_firewall.store.compactions import (
    CompactionName,
    compactions,
    keep_compaction,
    kept_record,
    originals_kept,
)
from context_firewall.store.evidence import EvidenceStore, RunName, StoredObject, object_name
from context_firewall.store.folder import Folder

AT = "2026-11-30T10:00:00.000Z"


def tap(count: int, failing: Sequence[int] = (), word: str = "weighs") -> bytes:
    """A TAP document in which some points fail."""
    lines = ["TAP version 13"]
    for number in range(1, count + 1):
        if number in failing:
            detail = f"  ---\n  message: 'parcel {number} {word} too much'\n  duration_ms: 0.{number}\n  ..."
            lines.append(f"not ok {number} - {word} parcel {number}\n{detail}")
        else:
            lines.append(f"ok {number} - {word} parcel {number}")
    lines.append(f"1..{count}\n# tests {count}\n# pass {count - len(failing)}\n# fail {len(failing)}\n# skipped 0")
    return "\n".join(lines).encode() + b"\n"


GREEN, RED = tap(12), tap(12, [4, 9])


class Made(NamedTuple):
    """What `put_run` takes of a run."""

    manifest: EvidenceManifest
    packet: EvidencePacket
    documents: dict[str, bytes]


def made(
    stdout: bytes = RED,
    stderr: bytes = b"",
    *,
    exit_code: int = 1,
    command: Sequence[str] | None = ("sh", "run-tests"),
    duration_ms: int = 12,
    named: bool = True,
    keep_brief: bool = True,
) -> Made:
    """What `context-firewall run` makes of a run; without `named` its evidence does not suffice."""
    manifest = evidence_manifest(
        [StoredObject(sha256(data), len(data)).stream(name) for name, data in (("stderr", stderr), ("stdout", stdout))],
        command=command,
        exit_code=exit_code,
        duration_ms=duration_ms,
    )
    packet = reduce_streams(
        [SourceStream("stdout", len(stdout), (stdout,)), SourceStream("stderr", len(stderr), (stderr,))],
        operation_id="parcels" if named else None,
        source_id="rates",
        raw_evidence_ref=evidence_reference(manifest),
        exit_code=exit_code,
        duration_ms=duration_ms,
    )
    brief = render_brief(packet).encode()
    receipt = value_receipt_for_packet(packet, emitted=Emitted("brief", brief))
    documents = {"packet": serialize_packet(packet), "value_receipt": serialize_value_receipt(receipt)}
    return Made(manifest, packet, {**documents, "brief": brief} if keep_brief else documents)


def store_run(store: EvidenceStore, stdout: bytes = RED, stderr: bytes = b"", *, at: str = AT, **said: Any) -> RunName:
    """Store a run as `context-firewall run` does it."""
    with store.writer() as out, store.writer() as err:
        out.write(stdout)
        err.write(stderr)
        out.finish()
        err.finish()
    run = made(stdout, stderr, **said)
    reference = store.put_manifest(run.manifest)
    store.put_run(*run, recorded_at=at)
    return store.find_run(reference)


def compacted(text: str = "Weigh the parcels.") -> CompactionRecord:
    """A compaction of four messages, of which the first says that."""
    ctx = Context([Message(Role.USER, text), *(Message(Role.ASSISTANT, f"Weighed {n}.") for n in range(3))])
    record = Compactor(always(), selection(recent(1)), stub_summarizer).maybe_compact(ctx)
    assert record is not None
    return record


def store_compaction(store: EvidenceStore, text: str = "Weigh the parcels.", *, at: str = AT) -> CompactionName:
    """Keep a compaction as `context-firewall compact` does it."""
    record = compacted(text)
    originals = [message.original() for message in record.original_context]
    return keep_compaction(store, record.as_document(), originals, recorded_at=at)


def in_folder(path: Path) -> EvidenceStore:
    """The store in a folder."""
    return EvidenceStore(Folder(str(path)))


def files(path: Path) -> set[str]:
    """The names of a store's files, without the lock and what hides it from git."""
    found = {one.relative_to(path).as_posix() for one in path.rglob("*") if one.is_file()}
    return found - {"lock", ".gitignore"}


def check_store(path: Path) -> int:
    """Hold the promise that a name is never there without the whole of what it names; how many runs there are."""
    store = in_folder(path)
    names = files(path)
    for name in sorted(names):
        data = (path / name).read_bytes()
        if re.match("objects/", name):
            digest = "sha256:" + name.rpartition("/")[2].removesuffix(".gz")
            assert sha256(gzip.decompress(data)) == digest, name
        elif re.match("manifests/", name):
            assert sha256(data) == "sha256:" + name.rpartition("/")[2].removesuffix(".json"), name
            for stream in parse_evidence_manifest(data)["streams"]:
                store.check(stream["sha256"], stream["byte_count"])
        elif re.match("runs/", name):
            record = parse_run_record(data)
            store.manifest(record["evidence"])
            for bound in record["documents"].values():
                assert object_name(bound["sha256"]) in names
        elif re.match("compactions/", name):
            (kept,) = [one for one in compactions(store) if one.path == name]
            document = kept_record(store, kept)
            restored_view(document, originals_kept(store, document).get)
        else:
            assert name.startswith("drafts/"), name
    return len(store.runs())
