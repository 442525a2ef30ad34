"""The store: objects, manifests and run records on a shelf, and references to them.

Whoever writes a run does so in this order:

    with store.writer() as stdout: stdout.write(...); stored = stdout.finish()      as the bytes arrive
    reference = store.put_manifest(evidence_manifest([stored.stream("stdout")], ...))
    store.put_run(manifest, packet, {"packet": ..., "value_receipt": ...}, recorded_at=...)
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple, TypeVar

from context_firewall.canonical import sha256
from context_firewall.documents.evidence_manifest import (
    SCHEME,
    EvidenceManifest,
    StoredStream,
    evidence_reference,
    parse_evidence_manifest,
    serialize_evidence_manifest,
)
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.run_record import RunRecord, parse_run_record, run_record, serialize_run_record
from context_firewall.errors import EvidenceDamaged, EvidenceNotFound, InvalidInput, StoreNotWritten
from context_firewall.store.drafts import CHUNK_BYTES, Deflating, inflated
from context_firewall.store.folder import not_written
from context_firewall.store.shelf import Draft, Shelf

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Kept = TypeVar("Kept")

OBJECTS, MANIFESTS, RUNS = "objects", "manifests", "runs"

# What is larger is no document of ours: a packet of a run with 100,000 failures has some 100 MB.
LARGEST_DOCUMENT = 1 << 30
# And a manifest or a record names a command, which systems bound to a few megabytes.
LARGEST_PLAIN = 1 << 24
SHORTEST_PREFIX = 4

# A moment as the name of a file has it: a colon would not be one everywhere.
MOMENT = r"(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)"
_RUN = re.compile(rf"{RUNS}/{MOMENT}-([0-9a-f]{{64}})-([0-9a-f]{{64}})\.json")
_MANIFEST = re.compile(rf"{MANIFESTS}/([0-9a-f]{{64}})\.json")
_OBJECT = re.compile(rf"{OBJECTS}/[0-9a-f]{{64}}\.gz")
_HEX = re.compile(rf"(?:{re.escape(SCHEME)}|sha256:)?([0-9a-f]{{1,64}})")
_LATEST = re.compile(r"latest(?:~([0-9]{1,6}))?")


class StoredObject(NamedTuple):
    """Raw bytes that a store holds: their digest, `sha256:<64 hex>`, and their number."""

    sha256: str
    byte_count: int

    def stream(self, name: str, *, complete: bool = True) -> StoredStream:
        """The entry of a manifest for this object as the stream `stdout` or `stderr`."""
        return {"byte_count": self.byte_count, "complete": complete, "name": name, "sha256": self.sha256}


class RunName(NamedTuple):
    """What the name of a run record says without reading it."""

    recorded_at: str
    evidence: str
    """The 64 hexadecimal digits of the raw reference."""
    own: str
    """Those of the record's own digest."""

    @property
    def path(self) -> str:
        """Where the record stands."""
        return f"{RUNS}/{self.recorded_at.replace(':', '-')}-{self.evidence}-{self.own}.json"

    @property
    def reference(self) -> str:
        """The raw reference of the run."""
        return SCHEME + self.evidence


class ObjectWriter:
    """Takes the bytes of one object as they arrive; a context manager. Nothing is in the store before `finish`."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._draft: Draft = shelf.draft()
        self._deflating = Deflating(self._draft.file)
        self._stored: StoredObject | None = None
        self._failure: StoreNotWritten | None = None

    def write(self, data: bytes) -> None:
        """Take the next bytes. Raises StoreNotWritten, such as when the disk is full."""
        with self._failing():
            self._deflating.write(data)

    def finish(self) -> StoredObject:
        """Put the object into the store. Raises StoreNotWritten, also if a `write` did; then there is nothing."""
        if self._stored is None:
            with self._failing():
                digest, byte_count = self._deflating.finish()
            self._shelf.keep(self._draft, object_name(digest))
            self._stored = StoredObject(digest, byte_count)
        return self._stored

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What failed once has lost bytes, and is never finished."""
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except OSError as problem:
            self._failure = not_written(self._shelf.location, problem)
            raise self._failure from problem

    def chunks(self) -> Iterator[bytes]:
        """The object's bytes again, once it is finished and until it is closed, without asking the store for them."""
        if self._stored is None:
            raise ValueError("the object is not finished")
        name = object_name(self._stored.sha256)
        return inflated(_pieces(self._draft.file), name, *self._stored)

    def close(self) -> None:
        """Give the draft back. Without `finish`, nothing is left of it."""
        self._draft.close()

    def __enter__(self) -> "ObjectWriter":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(CHUNK_BYTES):
        yield piece


class EvidenceStore:
    """Evidence on a shelf.

    What cannot be written raises StoreNotWritten, what cannot be read StoreUnavailable, what is not there
    EvidenceNotFound, and what is not what its name says EvidenceDamaged.
    """

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    @property
    def location(self) -> str:
        """The store's path or URL, as text."""
        return self.shelf.location

    # -- writing ------------------------------------------------------------------------------------------------------

    def writer(self) -> ObjectWriter:
        """A writer for one object."""
        return ObjectWriter(self.shelf)

    def put(self, data: bytes) -> StoredObject:
        """Keep bytes as an object."""
        with self.writer() as writer:
            writer.write(data)
            return writer.finish()

    def put_manifest(self, manifest: EvidenceManifest) -> str:
        """Keep a manifest, whose objects must be there; its reference, `evidence://sha256/<64 hex>`."""
        for stream in manifest["streams"]:
            if self.shelf.find(object_name(stream["sha256"])) is None:
                raise self._missing(stream["sha256"])
        self.shelf.settle()
        reference = evidence_reference(manifest)
        self.keep_plain(manifest_name(reference.removeprefix(SCHEME)), serialize_evidence_manifest(manifest))
        return reference

    def put_run(
        self,
        manifest: EvidenceManifest,
        packet: EvidencePacket,
        documents: Mapping[str, bytes],
        *,
        recorded_at: str,
    ) -> RunRecord:
        """Keep what was made of a run, whose manifest must be there, and the record that binds it.

        `documents` maps `packet`, `value_receipt`, and perhaps `brief` and `model_evidence`, to their bytes;
        `recorded_at` is the time as `2026-11-30T17:56:27.123Z`. Raises InvalidInput when they don't belong together.
        """
        record = run_record(manifest, packet, documents, recorded_at=recorded_at)
        evidence = record["evidence"].removeprefix(SCHEME)
        if self.shelf.find(manifest_name(evidence)) is None:
            raise self._missing(record["evidence"])
        for data in documents.values():
            self.put(data)
        self.shelf.settle()
        data = serialize_run_record(record)
        own = sha256(data).partition(":")[2]
        self.keep_plain(RunName(recorded_at, evidence, own).path, data)
        return record

    def keep_plain(self, name: str, data: bytes) -> None:
        """Keep a document under its name, and settle. What it names must be settled before."""
        draft = self.shelf.draft()
        try:
            draft.file.write(data)
            draft.file.flush()
            self.shelf.keep(draft, name)
        except OSError as problem:
            raise not_written(self.location, problem) from problem
        finally:
            draft.close()
        self.shelf.settle()

    # -- reading ------------------------------------------------------------------------------------------------------

    def chunks(self, digest: str, byte_count: int) -> Iterator[bytes]:
        """An object's bytes, in chunks of bounded size, hashed on the way.

        EvidenceDamaged is raised at the latest after the last chunk: what came before it is not yet proven.
        """
        name = object_name(digest)
        return inflated(self.shelf.open(name), name, digest, byte_count)

    def check(self, digest: str, byte_count: int) -> None:
        """Read an object to its end and throw it away."""
        for _ in self.chunks(digest, byte_count):
            pass

    def document(self, record: RunRecord, name: str) -> bytes:
        """The bytes of a document that a record binds, proven.

        Raises EvidenceNotFound if it binds none of that name.
        """
        bound = record["documents"].get(name)
        if bound is None:
            words = name.replace("_", " ")
            raise EvidenceNotFound(f"no {words} was kept of this run", reference=record["evidence"], document=name)
        if bound["byte_count"] > LARGEST_DOCUMENT:
            raise EvidenceDamaged(
                f"a document of {bound['byte_count']} bytes is none", name=object_name(bound["sha256"])
            )
        return b"".join(self.chunks(bound["sha256"], bound["byte_count"]))

    def manifest(self, reference: str) -> EvidenceManifest:
        """The manifest of a whole raw reference, `evidence://sha256/<64 hex>`, proven."""
        name = manifest_name(reference.removeprefix(SCHEME))
        data = self.plain(name, reference.removeprefix(SCHEME))
        try:
            return parse_evidence_manifest(data)
        except InvalidInput as problem:
            raise EvidenceDamaged(f"{name} in the store is no manifest: {problem}", name=name) from problem

    def record(self, run: RunName) -> RunRecord:
        """The record of that name, proven."""
        data = self.plain(run.path, run.own)
        try:
            record = parse_run_record(data)
        except InvalidInput as problem:
            raise EvidenceDamaged(f"{run.path} in the store is no run record: {problem}", name=run.path) from problem
        if (record["evidence"], record["recorded_at"]) != (run.reference, run.recorded_at):
            raise EvidenceDamaged(f"{run.path} in the store is another run's record", name=run.path)
        return record

    def runs(self) -> list[RunName]:
        """The names of all run records, newest first. Other files are left alone."""
        found = (_RUN.fullmatch(entry.name) for entry in self.shelf.list(RUNS))
        names = [RunName(f"{m[1]}{m[2]}:{m[3]}:{m[4]}", m[5], m[6]) for m in found if m is not None]
        return sorted(names, reverse=True)

    def each(self, deed: Callable[[Asked], Answer], asked: Sequence[Asked]) -> list[Answer]:
        """What a deed makes of each, in order; several at once where the shelf is far away."""
        if self.shelf.at_once == 1 or len(asked) < 2:
            return [deed(one) for one in asked]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self.shelf.at_once) as pool:
            return list(pool.map(deed, asked))

    def find_run(self, reference: str) -> RunName:
        """The run that a reference means: the newest one recorded of that evidence.

        `latest`, `latest~N` for the Nth before it, a raw reference, or the first digits of one, at least four, if only
        one run has them. Raises InvalidInput for anything else or an ambiguous one, EvidenceNotFound for none.
        """
        runs = self.runs()
        latest = self.latest(runs, reference, "runs")
        if latest is not None:
            return latest
        prefix = first_digits(reference)
        matching = [run for run in runs if run.evidence.startswith(prefix)]
        self.one_of({run.evidence for run in matching}, reference)
        return matching[0]

    def find_evidence(self, reference: str) -> str:
        """The whole raw reference that a reference means, as in `find_run`, of a run that need not be recorded."""
        if _LATEST.fullmatch(reference):
            return self.find_run(reference).reference
        prefix = first_digits(reference)
        if len(prefix) == 64:
            return SCHEME + prefix
        found = (manifest_digits(entry.name) for entry in self.shelf.list(MANIFESTS))
        return SCHEME + self.one_of({one for one in found if one is not None and one.startswith(prefix)}, reference)

    def latest(self, kept: Sequence[Kept], reference: str, what: str) -> Kept | None:
        """What `latest` or `latest~N` means among names, newest first; None for any other reference."""
        match = _LATEST.fullmatch(reference)
        if match is None:
            return None
        back = int(match[1] or 0)
        if back >= len(kept):
            raise EvidenceNotFound(
                f"the store {self.location} holds {len(kept)} {what}", reference=reference, store=self.location
            )
        return kept[back]

    def plain(self, name: str, digits: str, largest: int = LARGEST_PLAIN) -> bytes:
        """The bytes of a document that stands under its name as it is, proven by the digits of its digest."""
        pieces, total = [], 0
        for piece in self.shelf.open(name):
            pieces.append(piece)
            total += len(piece)
            if total > largest:
                break
        data = b"".join(pieces)
        if sha256(data) != f"sha256:{digits}":
            raise EvidenceDamaged(f"{name} in the store holds bytes whose digest is {sha256(data)}", name=name)
        return data

    def one_of(self, found: set[str], reference: str) -> str:
        """The only one that a reference begins. Raises InvalidInput for several, EvidenceNotFound for none."""
        if len(found) > 1:
            shown = ", ".join(sorted(found)[:4])
            raise InvalidInput(f"{reference} begins {len(found)} references: {shown}", reference=reference)
        if not found:
            raise self._missing(reference)
        return found.pop()

    def _missing(self, reference: str) -> EvidenceNotFound:
        return EvidenceNotFound(
            f"the store {self.location} holds no {reference}", reference=reference, store=self.location
        )


def object_name(digest: str) -> str:
    """Where an object stands, by its digest."""
    return f"{OBJECTS}/{digest.removeprefix('sha256:')}.gz"


def manifest_name(digits: str) -> str:
    """Where a manifest stands, by the digits of its digest."""
    return f"{MANIFESTS}/{digits}.json"


def manifest_digits(name: str) -> str | None:
    """The digits in a manifest's name; None for a name that is no manifest's."""
    match = _MANIFEST.fullmatch(name)
    return None if match is None else match[1]


def has_digest(name: str) -> bool:
    """Whether a file is an object or a manifest by its name; others in the store are somebody else's."""
    return _OBJECT.fullmatch(name) is not None or manifest_digits(name) is not None


def first_digits(reference: str, scheme: str = SCHEME) -> str:
    """The digits of a reference, whole or its beginning. Raises InvalidInput for what is none."""
    match = _HEX.fullmatch(reference)
    if match is None or len(match[1]) < SHORTEST_PREFIX:
        raise InvalidInput(
            f"{reference!a} is no reference: latest, latest~N, {scheme} and 64 hexadecimal digits, "
            f"or the first of them, at least {SHORTEST_PREFIX}",
            reference=reference,
        )
    return match[1]
