"""Compactions in a store: the record of each, and the originals that it takes to undo it.

    keep_compaction(store, record, originals, recorded_at=...)      the originals first, then the record that needs them
    held = originals_kept(store, record); held.get(digest)          for whoever rebuilds the view before

The originals of a view are one object: each is followed by a newline, so that the object's digest is the one that the
record has of the view before (CREC-2). Whoever has a record, from wherever, finds them by it. And the name of a record
in the store says which object it needs, so that pruning has to read none.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from context_firewall.canonical import sha256
from context_firewall.documents.compaction_record import (
    CompactionRecordKeys,
    parse_compaction_record,
    serialize_compaction_record,
)
from context_firewall.errors import EvidenceDamaged, EvidenceNotFound, InvalidInput
from context_firewall.store.evidence import LARGEST_DOCUMENT, MOMENT, EvidenceStore, first_digits, object_name

COMPACTIONS = "compactions"
SCHEME = "sha256:"

_COMPACTION = re.compile(rf"{COMPACTIONS}/{MOMENT}-([0-9a-f]{{64}})-([0-9a-f]{{64}})\.json")


class CompactionName(NamedTuple):
    """What the name of a kept compaction says without reading it."""

    recorded_at: str
    view: str
    """The 64 hexadecimal digits of the digest of the view before, under which its originals are kept."""
    own: str
    """Those of the record's own digest."""

    @property
    def path(self) -> str:
        """Where the record stands."""
        return f"{COMPACTIONS}/{self.recorded_at.replace(':', '-')}-{self.view}-{self.own}.json"

    @property
    def reference(self) -> str:
        """The record's digest, `sha256:<64 hex>`: what names the compaction."""
        return SCHEME + self.own

    @property
    def files(self) -> frozenset[str]:
        """All that it takes to undo the compaction."""
        return frozenset({self.path, object_name(self.view)})


def keep_compaction(
    store: EvidenceStore, record: CompactionRecordKeys, originals: Iterable[bytes], *, recorded_at: str
) -> CompactionName:
    """Keep the originals of the view before, in its order, and the record, which needs none in itself then.

    `recorded_at` is the time as `2026-11-30T17:56:27.123Z`. Raises InvalidInput when the originals are not those of the
    record; what cannot be written raises StoreNotWritten, and then no record is there.
    """
    view = b"".join(original + b"\n" for original in originals)
    if sha256(view) != record["original"]["sha256"]:
        raise InvalidInput("the originals are not those of the record's view", key="original.sha256")
    data = serialize_compaction_record(_without_originals(record))
    stored = store.put(view)
    store.shelf.settle()
    name = CompactionName(recorded_at, stored.sha256.removeprefix(SCHEME), sha256(data).removeprefix(SCHEME))
    store.keep_plain(name.path, data)
    return name


def compactions(store: EvidenceStore) -> list[CompactionName]:
    """The names of all compaction records, newest first. Other files are left alone."""
    found = (_COMPACTION.fullmatch(entry.name) for entry in store.shelf.list(COMPACTIONS))
    names = [CompactionName(f"{m[1]}{m[2]}:{m[3]}:{m[4]}", m[5], m[6]) for m in found if m is not None]
    return sorted(names, reverse=True)


def find_compaction(store: EvidenceStore, reference: str) -> CompactionName:
    """The compaction that a reference means; of a record that was kept several times, the newest.

    `latest`, `latest~N` for the Nth before it, a record's digest, or the first digits of it, at least four, if only one
    has them. Raises InvalidInput for anything else or an ambiguous one, EvidenceNotFound for none.
    """
    names = compactions(store)
    latest = store.latest(names, reference, "compactions")
    if latest is not None:
        return latest
    digits = first_digits(reference, SCHEME)
    matching = [name for name in names if name.own.startswith(digits)]
    store.one_of({name.own for name in matching}, reference)
    return matching[0]


def kept_record(store: EvidenceStore, name: CompactionName) -> CompactionRecordKeys:
    """The record of that name, proven."""
    data = store.plain(name.path, name.own, LARGEST_DOCUMENT)
    try:
        record = parse_compaction_record(data)
    except InvalidInput as problem:
        raise EvidenceDamaged(f"{name.path} in the store is no such record: {problem}", name=name.path) from problem
    if record["original"]["sha256"] != SCHEME + name.view:
        raise EvidenceDamaged(f"{name.path} in the store is another view's record", name=name.path)
    return record


def originals_kept(store: EvidenceStore, record: CompactionRecordKeys) -> Mapping[str, bytes]:
    """The originals of a record's view before that the store holds, by digest: all of them, or none.

    Raises EvidenceDamaged when what it holds is not that view.
    """
    entries = record["original"]["entries"]
    byte_count = sum(entry["byte_count"] + 1 for entry in entries)
    try:
        view = b"".join(store.chunks(record["original"]["sha256"], byte_count))
    except EvidenceNotFound:
        return {}
    found: dict[str, bytes] = {}
    at = 0
    for entry in entries:
        found[entry["sha256"]] = view[at : at + entry["byte_count"]]
        at += entry["byte_count"] + 1
    return found


def _without_originals(record: CompactionRecordKeys) -> CompactionRecordKeys:
    bare = record.copy()
    bare.pop("originals", None)
    return bare
