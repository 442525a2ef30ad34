"""Which runs a store gives up, and why: first the plan, which is a value, then the deed.

Three limits, each optional: so many runs, none older than that, no more bytes than that. What is younger than
`young_from` stays in any case: a run that is being stored keeps its objects before the manifest that names them. A
run's files go in the order opposite to that in which they came: record, manifest, objects. So nothing that is left
ever names what is gone, wherever this is stopped.
"""

from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from context_firewall.documents.evidence_manifest import SCHEME, EvidenceManifest
from context_firewall.documents.run_record import RunRecord
from context_firewall.errors import EvidenceDamaged, EvidenceNotFound
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


class Why(StrEnum):
    """The limit that a run is beyond."""

    BEYOND_LAST = "BEYOND_LAST"
    TOO_OLD = "TOO_OLD"
    OVER_SIZE = "OVER_SIZE"


class Limits(NamedTuple):
    """What a store may hold; None is no limit."""

    last: int | None = None
    """So many runs, the newest."""
    recorded_from: str | None = None
    """Runs of that moment or later, as in a run record."""
    byte_count: int | None = None
    """So many bytes at rest, of all files of its runs together."""


class Pruned(NamedTuple):
    """A run that goes."""

    run: RunName
    record: RunRecord
    why: Why


class Plan(NamedTuple):
    """What goes: the files in the order of their removal."""

    pruned: tuple[Pruned, ...]
    records: tuple[str, ...]
    manifests: tuple[str, ...]
    objects: tuple[str, ...]
    freed_bytes: int
    kept_runs: int
    kept_bytes: int
    young_runs: int
    """Runs beyond a limit that stay because they are young."""
    leftover_files: int
    """Of the files that go, those that no run names: of runs that were killed, or pruned and not wholly removed."""


class _Run(NamedTuple):
    name: RunName
    record: RunRecord
    files: frozenset[str]


def plan(store: EvidenceStore, limits: Limits, *, young_from: str, kept_before: float) -> Plan:
    """What would go. `young_from` is a moment as in a run record, `kept_before` the same in seconds since 1970.

    Raises EvidenceDamaged when a record or manifest can't be read: what it names must be known before anything goes.
    """
    sizes = {entry.name: entry for folder in (RUNS, MANIFESTS, OBJECTS) for entry in store.shelf.list(folder)}
    kept: set[str] = set()
    kept_bytes = kept_runs = young = 0
    pruned: list[Pruned] = []
    named_by_pruned: set[str] = set()
    full = False
    for at, run in enumerate(_runs(store)):
        added = sum(sizes[name].byte_count for name in run.files - kept if name in sizes)
        full = full or (limits.byte_count is not None and kept_bytes + added > limits.byte_count)
        why = _why(run.name, at, limits, full)
        if why is not None and run.name.recorded_at < young_from:
            pruned.append(Pruned(run.name, run.record, why))
            named_by_pruned |= run.files
            continue
        young += why is not None
        kept |= run.files
        kept_bytes += added
        kept_runs += 1
    for name, entry in sizes.items():
        digits = manifest_digits(name)
        if digits is not None and name not in kept and entry.kept_at >= kept_before:
            kept |= _named_by(_manifest(store, SCHEME + digits)) | {name}
    gone_records = {one.run.path for one in pruned}
    gone = [
        name
        for name, entry in sizes.items()
        if name in gone_records or (has_digest(name) and name not in kept and entry.kept_at < kept_before)
    ]
    return Plan(
        pruned=tuple(pruned),
        records=_below(RUNS, gone),
        manifests=_below(MANIFESTS, gone),
        objects=_below(OBJECTS, gone),
        freed_bytes=sum(sizes[name].byte_count for name in gone),
        kept_runs=kept_runs,
        kept_bytes=kept_bytes,
        young_runs=young,
        leftover_files=len(set(gone) - named_by_pruned),
    )


def carry_out(store: EvidenceStore, plan: Plan, *, kept_before: float) -> int:
    """Remove what a plan names, save what was kept again meanwhile; how many files are gone."""
    removed = 0
    for names, before in ((plan.records, float("inf")), (plan.manifests, kept_before), (plan.objects, kept_before)):
        removed += sum(store.each(partial(store.shelf.remove, kept_before=before), names))
        store.shelf.settle()
    store.shelf.sweep(kept_before=kept_before)
    return removed


def _why(run: RunName, at: int, limits: Limits, full: bool) -> Why | None:
    if limits.last is not None and at >= limits.last:
        return Why.BEYOND_LAST
    if limits.recorded_from is not None and run.recorded_at < limits.recorded_from:
        return Why.TOO_OLD
    return Why.OVER_SIZE if full else None


def _runs(store: EvidenceStore) -> Iterable[_Run]:
    """All runs with what they name, newest first; without those that another process has just pruned."""
    return [run for run in store.each(partial(_run, store), store.runs()) if run is not None]


def _run(store: EvidenceStore, name: RunName) -> _Run | None:
    try:
        record = store.record(name)
    except EvidenceNotFound:
        return None
    objects = {object_name(bound["sha256"]) for bound in record["documents"].values()}
    own = {name.path, manifest_name(name.evidence)}
    return _Run(name, record, frozenset(own | objects | _named_by(_manifest(store, name.reference))))


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


def _below(folder: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if name.startswith(f"{folder}/")))
