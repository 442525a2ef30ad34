"""Which runs and compactions a store gives up, and why: first the plan, which is a value, then the deed.

Three limits, each optional: so many runs and so many compactions, none older than that, no more bytes than that. What
is younger than `young_from` stays in any case: a run that is being stored keeps its objects before the manifest that
names them. Files go in the order opposite to that in which they came: record, manifest, objects. So nothing that is
left ever names what is gone, wherever this is stopped.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from context_firewall.documents.evidence_manifest import SCHEME, EvidenceManifest
from context_firewall.documents.run_record import RunRecord
from context_firewall.errors import EvidenceDamaged, EvidenceNotFound
from context_firewall.store.compactions import COMPACTIONS, CompactionName, compactions
from context_firewall.store.evidence import (
    MANIFESTS,
    OBJECTS,
    RUNS,
    EvidenceStore,
    RunName,
    has_digest,
    manifest_digits,
    manifest_name,
    object_name,
)
from context_firewall.store.shelf import Entry


class Why(StrEnum):
    """The limit that a run or a compaction is beyond."""

    BEYOND_LAST = "BEYOND_LAST"
    TOO_OLD = "TOO_OLD"
    OVER_SIZE = "OVER_SIZE"


class Limits(NamedTuple):
    """What a store may hold; None is no limit."""

    last: int | None = None
    """So many runs, the newest, and so many compactions."""
    recorded_from: str | None = None
    """Those of that moment or later, as in a run record."""
    byte_count: int | None = None
    """So many bytes at rest, of all their files together."""


class Pruned(NamedTuple):
    """A run or a compaction that goes."""

    name: RunName | CompactionName
    record: RunRecord | None
    """The run's; None for a compaction, of which the name says enough."""
    why: Why


class Plan(NamedTuple):
    """What goes: the files in the order of their removal."""

    pruned: tuple[Pruned, ...]
    records: tuple[str, ...]
    manifests: tuple[str, ...]
    objects: tuple[str, ...]
    freed_bytes: int
    kept_runs: int
    kept_compactions: int
    kept_bytes: int
    young_runs: int
    """Runs beyond a limit that stay because they are young."""
    young_compactions: int
    leftover_files: int
    """Of the files that go, those that nothing names: of runs that were killed, or pruned and not wholly removed."""


class _Entry(NamedTuple):
    """A run or a compaction, and all that it takes to have it."""

    name: RunName | CompactionName
    record: RunRecord | None
    files: frozenset[str]


class _Judged(NamedTuple):
    """An entry, the limit that it is beyond, and whether it stays nevertheless because it is young."""

    entry: _Entry
    why: Why | None
    young: bool


def plan(store: EvidenceStore, limits: Limits, *, young_from: str, kept_before: float) -> Plan:
    """What would go. `young_from` is a moment as in a run record, `kept_before` the same in seconds since 1970.

    Raises EvidenceDamaged when a record or manifest can't be read: what it names must be known before anything goes.
    """
    folders = (RUNS, COMPACTIONS, MANIFESTS, OBJECTS)
    sizes = {entry.name: entry for folder in folders for entry in store.shelf.list(folder)}
    judged, kept, kept_bytes = _judged(store, limits, young_from, sizes)
    for name, entry in sizes.items():
        digits = manifest_digits(name)
        if digits is not None and name not in kept and entry.kept_at >= kept_before:
            kept |= _named_by(_manifest(store, SCHEME + digits)) | {name}
    pruned = [(one.entry, one.why) for one in judged if one.why is not None and not one.young]
    gone_records = {entry.name.path for entry, _ in pruned}
    gone = [
        name
        for name, entry in sizes.items()
        if name in gone_records or (has_digest(name) and name not in kept and entry.kept_at < kept_before)
    ]
    runs, compacted = ([one for one in judged if (one.entry.record is None) is other] for other in (False, True))
    return Plan(
        pruned=tuple(Pruned(entry.name, entry.record, why) for entry, why in pruned),
        records=_below((RUNS, COMPACTIONS), gone),
        manifests=_below((MANIFESTS,), gone),
        objects=_below((OBJECTS,), gone),
        freed_bytes=sum(sizes[name].byte_count for name in gone),
        kept_runs=sum(one.why is None or one.young for one in runs),
        kept_compactions=sum(one.why is None or one.young for one in compacted),
        kept_bytes=kept_bytes,
        young_runs=sum(one.young for one in runs),
        young_compactions=sum(one.young for one in compacted),
        leftover_files=len(set(gone).difference(*(entry.files for entry, _ in pruned))),
    )


def _judged(
    store: EvidenceStore, limits: Limits, young_from: str, sizes: Mapping[str, Entry]
) -> tuple[list[_Judged], set[str], int]:
    """All runs and compactions, newest first, each with its limit; the files of those that stay, and their bytes.

    The limit of bytes is for both together; the last ones are counted of each by itself.
    """
    entries = [*_runs(store), *(_Entry(name, None, name.files) for name in compactions(store))]
    judged, places = list[_Judged](), Counter[bool]()
    kept, kept_bytes, full = set[str](), 0, False
    for entry in sorted(entries, key=lambda one: one.name.recorded_at, reverse=True):
        added = sum(sizes[name].byte_count for name in entry.files - kept if name in sizes)
        full = full or (limits.byte_count is not None and kept_bytes + added > limits.byte_count)
        why = _why(entry.name.recorded_at, places[entry.record is None], limits, full)
        young = why is not None and entry.name.recorded_at >= young_from
        places[entry.record is None] += 1
        judged.append(_Judged(entry, why, young))
        if why is None or young:
            kept |= entry.files
            kept_bytes += added
    return judged, kept, kept_bytes


def carry_out(store: EvidenceStore, plan: Plan, *, kept_before: float) -> int:
    """Remove what a plan names, save what was kept again meanwhile; how many files are gone."""
    removed = 0
    for names, before in ((plan.records, float("inf")), (plan.manifests, kept_before), (plan.objects, kept_before)):
        removed += sum(store.each(partial(store.shelf.remove, kept_before=before), names))
        store.shelf.settle()
    store.shelf.sweep(kept_before=kept_before)
    return removed


def _why(recorded_at: str, place: int, limits: Limits, full: bool) -> Why | None:
    if limits.last is not None and place >= limits.last:
        return Why.BEYOND_LAST
    if limits.recorded_from is not None and recorded_at < limits.recorded_from:
        return Why.TOO_OLD
    return Why.OVER_SIZE if full else None


def _runs(store: EvidenceStore) -> Iterable[_Entry]:
    """All runs with what they name, newest first; without those that another process has just pruned."""
    return [run for run in store.each(partial(_run, store), store.runs()) if run is not None]


def _run(store: EvidenceStore, name: RunName) -> _Entry | None:
    try:
        record = store.record(name)
    except EvidenceNotFound:
        return None
    objects = {object_name(bound["sha256"]) for bound in record["documents"].values()}
    own = {name.path, manifest_name(name.evidence)}
    return _Entry(name, record, frozenset(own | objects | _named_by(_manifest(store, name.reference))))


def _manifest(store: EvidenceStore, reference: str) -> EvidenceManifest | None:
    try:
        return store.manifest(reference)
    except EvidenceNotFound:
        return None
    except EvidenceDamaged as problem:
        raise EvidenceDamaged(
            f"{problem}; what it names is not known, so nothing is removed before it is", **problem.details
        ) from problem


def _named_by(manifest: EvidenceManifest | None) -> set[str]:
    return set() if manifest is None else {object_name(stream["sha256"]) for stream in manifest["streams"]}


def _below(folders: tuple[str, ...], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if name.partition("/")[0] in folders))
