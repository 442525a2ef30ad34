"""Pruning: what goes, why, and what never does."""

import os
import time
from pathlib import Path

import pytest
from stored import GREEN, RED, check_store, files, in_folder, store_run, tap

from context_firewall.documents.evidence_manifest import evidence_manifest
from context_firewall.errors import EvidenceDamaged
from context_firewall.store.compactions import CompactionName
from context_firewall.store.evidence import EvidenceStore, RunName, manifest_name, object_name
from context_firewall.store.pruning import Limits, Plan, Why, carry_out, plan

FAR = float("inf")
LATER = "2027-01-01T00:00:00.000Z"


@pytest.fixture(autouse=True)
def _no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here is about crashes of the machine, and syncing takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def four(store: EvidenceStore) -> list[RunName]:
    """Four runs, oldest first; the first and the third printed the same on standard output."""
    outs = [RED, GREEN, RED, tap(30, [3])]
    return [
        store_run(store, out, at=f"2026-11-2{day}T10:00:00.000Z", exit_code=int(out != GREEN), duration_ms=day)
        for day, out in enumerate(outs)
    ]


def planned(store: EvidenceStore, **limits: int | str) -> Plan:
    """A plan in which nothing is young."""
    return plan(store, Limits(**limits), young_from=LATER, kept_before=FAR)  # type: ignore[arg-type]


def pruned(store: EvidenceStore, **limits: int | str) -> list[tuple[RunName | CompactionName, Why]]:
    """Which runs go, and why."""
    return [(one.name, one.why) for one in planned(store, **limits).pruned]


def test_each_limit_says_why(tmp_path: Path) -> None:
    """PRUNE-1."""
    store = in_folder(tmp_path)
    first, second, third, fourth = four(store)
    assert pruned(store) == []
    assert pruned(store, last=4) == []
    assert pruned(store, last=2) == [(second, Why.BEYOND_LAST), (first, Why.BEYOND_LAST)]
    assert pruned(store, recorded_from="2026-11-21T10:00:00.000Z") == [(first, Why.TOO_OLD)]
    assert pruned(store, byte_count=0) == [(run, Why.OVER_SIZE) for run in (fourth, third, second, first)]
    assert pruned(store, last=3, recorded_from="2026-11-22T00:00:00.000Z") == [
        (second, Why.TOO_OLD),
        (first, Why.BEYOND_LAST),
    ]


def test_a_size_is_that_of_the_newest_runs_together_and_counts_shared_files_once(tmp_path: Path) -> None:
    """PRUNE-1."""
    store = in_folder(tmp_path)
    four(store)
    sizes = {name: (tmp_path / name).stat().st_size for name in files(tmp_path)}
    everything = planned(store)
    assert everything.kept_bytes == sum(sizes.values())
    assert (everything.kept_runs, everything.freed_bytes) == (4, 0)
    assert pruned(store, byte_count=sum(sizes.values())) == []
    assert len(pruned(store, byte_count=sum(sizes.values()) - 1)) == 1


def test_a_plan_removes_nothing(tmp_path: Path) -> None:
    """PRUNE-2."""
    store = in_folder(tmp_path)
    four(store)
    before = files(tmp_path)
    planned(store, last=0)
    assert files(tmp_path) == before


def test_what_a_kept_run_names_stays(tmp_path: Path) -> None:
    """PRUNE-3."""
    store = in_folder(tmp_path)
    *_, third, fourth = four(store)
    before = {name: (tmp_path / name).stat().st_size for name in files(tmp_path)}
    two = planned(store, last=2)
    assert carry_out(store, two, kept_before=FAR) == len(before) - len(files(tmp_path))
    assert sum(before.values()) - two.freed_bytes == sum((tmp_path / name).stat().st_size for name in files(tmp_path))
    assert store.runs() == [fourth, third]
    assert check_store(tmp_path) == 2  # the third run's output was the first one's, too
    carry_out(store, planned(store, last=0), kept_before=FAR)
    assert files(tmp_path) == set()


def test_leftovers_go_and_evidence_that_is_just_being_stored_stays(tmp_path: Path) -> None:
    """PRUNE-4."""
    store = in_folder(tmp_path)
    kept = store_run(store)
    lone = store.put(b"a stream whose run was killed\n")
    reference = store.put_manifest(evidence_manifest([store.put(GREEN).stream("stdout")]))
    young = plan(store, Limits(last=5), young_from="2026-01-01T00:00:00.000Z", kept_before=time.time() - 60)
    assert young.objects == young.manifests == ()
    old = planned(store, last=5)
    assert set(old.objects) == {
        object_name(lone.sha256),
        object_name(store.manifest(reference)["streams"][0]["sha256"]),
    }
    assert old.manifests == (manifest_name(reference[-64:]),)
    assert old.leftover_files == 3
    # A manifest that is young keeps its objects, however old those are.
    day = time.time() - 86_400
    for name in old.objects:
        os.utime(tmp_path / name, (day, day))
    assert set(plan(store, Limits(), young_from=LATER, kept_before=time.time() - 60).objects) == {
        object_name(lone.sha256)
    }
    carry_out(store, old, kept_before=FAR)
    assert store.runs() == [kept]
    assert check_store(tmp_path) == 1


def test_a_run_that_is_young_stays_whatever_the_limits(tmp_path: Path) -> None:
    """PRUNE-4."""
    store = in_folder(tmp_path)
    four(store)
    spared = plan(store, Limits(last=1), young_from="2026-11-22T00:00:00.000Z", kept_before=FAR)
    assert (len(spared.pruned), spared.young_runs, spared.kept_runs) == (2, 1, 2)


def test_what_was_kept_again_since_the_plan_stays(tmp_path: Path) -> None:
    """STORE-10."""
    store = in_folder(tmp_path)
    four(store)
    day = time.time() - 86_400
    for name in files(tmp_path):
        os.utime(tmp_path / name, (day, day))
    hour_ago = time.time() - 3600
    everything = plan(store, Limits(last=0), young_from=LATER, kept_before=hour_ago)
    run = store_run(store, at="2026-11-30T10:00:00.000Z")
    carry_out(store, everything, kept_before=hour_ago)
    assert store.runs() == [run]
    assert check_store(tmp_path) == 1


def test_nothing_goes_while_a_manifest_or_record_cannot_be_read(tmp_path: Path) -> None:
    """PRUNE-3: what it names is not known."""
    store = in_folder(tmp_path)
    run = four(store)[3]
    for name in (manifest_name(run.evidence), run.path):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(b"{}\n")
        with pytest.raises(EvidenceDamaged, match=name):
            planned(store, last=1)
        (tmp_path / name).write_bytes(whole)
    assert len(pruned(store, last=1)) == 3


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    store = in_folder(tmp_path)
    four(store)
    others = {"objects/notes.txt", "manifests/x.json", "runs/x.json", "objects/old/y.gz", "readme"}
    for name in others:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    carry_out(store, planned(store, last=0), kept_before=FAR)
    assert files(tmp_path) == others


def test_a_run_whose_manifest_is_gone_does_not_stand_in_the_way(tmp_path: Path) -> None:
    store = in_folder(tmp_path)
    run = four(store)[0]
    (tmp_path / manifest_name(run.evidence)).unlink()
    assert pruned(store, last=3) == [(run, Why.BEYOND_LAST)]
