"""Compactions in a store: kept with their originals, found, proven, and given up like runs."""

import gzip
import os
import time
from pathlib import Path

import pytest
from stored import AT, check_store, compacted, files, in_folder, store_compaction, store_run

from context_firewall import parse_compaction_record, restored_view, serialize_compaction_record
from context_firewall.canonical import sha256
from context_firewall.errors import EvidenceDamaged, EvidenceNotFound, InvalidInput
from context_firewall.store.compactions import (
    CompactionName,
    compactions,
    find_compaction,
    keep_compaction,
    kept_record,
    originals_kept,
)
from context_firewall.store.evidence import EvidenceStore, RunName, object_name
from context_firewall.store.pruning import Limits, Plan, Why, carry_out, plan

FAR = float("inf")
LATER = "2027-01-01T00:00:00.000Z"


@pytest.fixture(autouse=True)
def _no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here is about crashes of the machine, and syncing takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def at(hour: int) -> str:
    """A moment."""
    return f"2026-11-30T{hour:02}:00:00.000Z"


# -- keeping and finding ----------------------------------------------------------------------------------------------


def test_a_record_and_the_originals_that_it_needs_are_two_files(tmp_path: Path) -> None:
    """STORE-12: both are named by what they hold, and the record by what it needs, too."""
    store = in_folder(tmp_path)
    record = compacted()
    originals = [message.original() for message in record.original_context]
    name = keep_compaction(store, record.as_document(originals=True), originals, recorded_at=AT)
    assert files(tmp_path) == set(name.files)
    plain = (tmp_path / name.path).read_bytes()
    assert plain == serialize_compaction_record(record.as_document())  # the originals stand beside it, not in it
    assert sha256(plain) == name.reference
    view = gzip.decompress((tmp_path / object_name(record.original_sha256)).read_bytes())
    assert view == b"".join(original + b"\n" for original in originals)
    document = kept_record(store, name)
    assert restored_view(document, originals_kept(store, document).get) == originals
    assert check_store(tmp_path) == 0


def test_references(tmp_path: Path) -> None:
    """STORE-12: as those of runs (STORE-7)."""
    store = in_folder(tmp_path)
    first, second = (store_compaction(store, f"Weigh {hour}.", at=at(hour)) for hour in (9, 10))
    again = store_compaction(store, "Weigh 9.", at=at(11))
    assert compactions(store) == [again, second, first]
    assert again.files - first.files == {again.path}
    assert find_compaction(store, "latest") == again
    assert find_compaction(store, "latest~1") == second
    assert find_compaction(store, second.reference) == find_compaction(store, second.own[:9]) == second
    assert find_compaction(store, f"sha256:{first.own[:9]}") == again
    for reference, error in (
        ("latest~3", EvidenceNotFound),
        ("sha256:0000000000", EvidenceNotFound),
        ("sha256:1f0", InvalidInput),
        ("earliest", InvalidInput),
    ):
        with pytest.raises(error):
            find_compaction(store, reference)


def test_originals_of_another_view_are_refused(tmp_path: Path) -> None:
    """STORE-12."""
    store = in_folder(tmp_path)
    record = compacted()
    originals = [message.original() for message in record.original_context]
    with pytest.raises(InvalidInput, match="not those of the record's view"):
        keep_compaction(store, record.as_document(), originals[1:], recorded_at=AT)
    assert files(tmp_path) == set()
    assert originals_kept(store, record.as_document()) == {}


def test_what_is_damaged_is_never_handed_out(tmp_path: Path) -> None:
    """STORE-3."""
    store = in_folder(tmp_path)
    name = store_compaction(store)
    document = kept_record(store, name)
    other = store_compaction(in_folder(tmp_path / "other"), "Weigh the letters.")
    for path, damage in (
        (tmp_path / object_name(name.view), (tmp_path / "other" / object_name(other.view)).read_bytes()),
        (tmp_path / object_name(name.view), b"no gzip"),
    ):
        whole = path.read_bytes()
        path.write_bytes(damage)
        with pytest.raises(EvidenceDamaged):
            originals_kept(store, document)
        path.write_bytes(whole)
    (tmp_path / name.path).write_bytes(b"{}\n")
    with pytest.raises(EvidenceDamaged):
        kept_record(store, name)
    misnamed = CompactionName(AT, other.view, name.own)
    (tmp_path / misnamed.path).write_bytes(serialize_compaction_record(document))
    with pytest.raises(EvidenceDamaged, match="another view's record"):
        kept_record(store, misnamed)
    keep_compaction(store, document, [m.original() for m in compacted().original_context], recorded_at=AT)
    assert parse_compaction_record((tmp_path / name.path).read_bytes()) == document  # mended by keeping it again


# -- giving up --------------------------------------------------------------------------------------------------------


def planned(store: EvidenceStore, **limits: int | str) -> Plan:
    """A plan in which nothing is young."""
    return plan(store, Limits(**limits), young_from=LATER, kept_before=FAR)  # type: ignore[arg-type]


def pruned(store: EvidenceStore, **limits: int | str) -> list[tuple[RunName | CompactionName, Why]]:
    """What goes, and why."""
    return [(one.name, one.why) for one in planned(store, **limits).pruned]


def test_limits_count_runs_and_compactions(tmp_path: Path) -> None:
    """PRUNE-1 and PRUNE-6: the last ones of each kind, one age and one size for both."""
    store = in_folder(tmp_path)
    run = store_run(store, at=at(8))
    older, newer = (store_compaction(store, f"Weigh {hour}.", at=at(hour)) for hour in (7, 9))
    assert pruned(store, last=1) == [(older, Why.BEYOND_LAST)]
    assert pruned(store, last=0) == [(newer, Why.BEYOND_LAST), (run, Why.BEYOND_LAST), (older, Why.BEYOND_LAST)]
    assert pruned(store, recorded_from=at(9)) == [(run, Why.TOO_OLD), (older, Why.TOO_OLD)]
    sizes = {name: (tmp_path / name).stat().st_size for name in files(tmp_path)}
    assert planned(store).kept_bytes == sum(sizes.values())
    assert pruned(store, byte_count=sum(sizes.values())) == []
    assert pruned(store, byte_count=sum(sizes.values()) - 1) == [(older, Why.OVER_SIZE)]
    assert pruned(store, byte_count=sum(sizes[name] for name in newer.files)) == [
        (run, Why.OVER_SIZE),
        (older, Why.OVER_SIZE),
    ]
    counted = planned(store, last=1)
    assert (counted.kept_runs, counted.kept_compactions, counted.freed_bytes) == (
        1,
        1,
        sum(sizes[name] for name in older.files),
    )


def test_what_a_kept_compaction_needs_stays(tmp_path: Path) -> None:
    """PRUNE-3 and PRUNE-6: two records of one view need the same object, and pruning the older leaves it."""
    store = in_folder(tmp_path)
    older, newer = (store_compaction(store, at=at(hour)) for hour in (7, 9))
    carry_out(store, planned(store, last=1), kept_before=FAR)
    assert files(tmp_path) == set(newer.files)
    assert object_name(older.view) in newer.files
    assert check_store(tmp_path) == 0
    carry_out(store, planned(store, last=0), kept_before=FAR)
    assert files(tmp_path) == set()


def test_a_record_that_is_damaged_still_names_what_it_needs(tmp_path: Path) -> None:
    """PRUNE-6: by its name."""
    store = in_folder(tmp_path)
    name = store_compaction(store)
    (tmp_path / name.path).write_bytes(b"damaged")
    carry_out(store, planned(store, last=1), kept_before=FAR)
    assert files(tmp_path) == set(name.files)


def test_what_is_young_stays(tmp_path: Path) -> None:
    """PRUNE-4: the originals of a compaction whose record is still to come, too."""
    store = in_folder(tmp_path)
    store_compaction(store, at=at(9))
    lone = store.put(b"a view whose record is not there yet\n")
    young = plan(store, Limits(last=0), young_from=at(8), kept_before=time.time() - 60)
    assert (young.pruned, young.young_compactions, young.kept_compactions, young.objects) == ((), 1, 1, ())
    assert object_name(lone.sha256) in planned(store, last=1).objects
