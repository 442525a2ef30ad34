"""The store: what goes in comes out, by its hash, and nothing else does."""

import gzip
import stat
from pathlib import Path

import pytest
from stored import AT, GREEN, RED, check_store, files, in_folder, made, store_run

from context_firewall.canonical import sha256
from context_firewall.documents.evidence_manifest import evidence_manifest
from context_firewall.errors import EvidenceDamaged, EvidenceNotFound, InvalidInput
from context_firewall.store.evidence import EvidenceStore, manifest_name, object_name
from context_firewall.store.folder import Folder
from context_firewall.store.places import open_store, store_folder


def test_a_run_comes_back_as_it_went_in(tmp_path: Path) -> None:
    """STORE-1 and STORE-3."""
    store = in_folder(tmp_path / "s")
    run = store_run(store, RED, b"careful\n")
    record, manifest = store.record(run), store.manifest(run.reference)
    assert [stream["name"] for stream in manifest["streams"]] == ["stdout", "stderr"]
    streams = [b"".join(store.chunks(one["sha256"], one["byte_count"])) for one in manifest["streams"]]
    assert streams == [RED, b"careful\n"]
    assert store.document(record, "brief").startswith(b"FAILED: 2 failed, 10 passed")
    assert record["recorded_at"] == AT
    assert run.reference == record["evidence"] == f"evidence://sha256/{run.evidence}"
    assert check_store(tmp_path / "s") == 1


def test_names_are_digests_and_a_store_can_be_read_by_hand(tmp_path: Path) -> None:
    """STORE-2: gzip, named by the digest of the raw bytes."""
    stored = in_folder(tmp_path).put(RED)
    assert stored == (sha256(RED), len(RED))
    assert files(tmp_path) == {object_name(stored.sha256)}
    assert gzip.decompress((tmp_path / object_name(stored.sha256)).read_bytes()) == RED


def test_files_are_private_and_hidden_from_git(tmp_path: Path) -> None:
    """STORE-9."""
    store_run(in_folder(tmp_path / "s"))
    found = [tmp_path / "s", *(tmp_path / "s").rglob("*")]
    assert {stat.S_IMODE(one.stat().st_mode) for one in found if one.is_dir()} == {0o700}
    assert {stat.S_IMODE(one.stat().st_mode) for one in found if one.is_file()} == {0o600}
    assert (tmp_path / "s" / ".gitignore").read_text() == "*\n"


def test_nothing_is_visible_before_it_is_finished(tmp_path: Path) -> None:
    """STORE-4."""
    store = in_folder(tmp_path)
    with store.writer() as writer:
        writer.write(RED)
        assert [name for name in files(tmp_path) if not name.startswith("drafts/")] == []
    assert files(tmp_path) == set()


def test_a_writer_gives_its_bytes_again(tmp_path: Path) -> None:
    with in_folder(tmp_path).writer() as writer:
        for at in range(0, len(RED), 7):
            writer.write(RED[at : at + 7])
        with pytest.raises(ValueError, match="not finished"):
            writer.chunks()
        assert writer.finish() == writer.finish() == (sha256(RED), len(RED))
        assert b"".join(writer.chunks()) == b"".join(writer.chunks()) == RED


def test_equal_bytes_are_kept_once(tmp_path: Path) -> None:
    """STORE-2."""
    store = in_folder(tmp_path)
    store_run(store, at="2026-11-30T10:00:00.000Z")
    before = files(tmp_path)
    store_run(store, at="2026-11-30T10:00:01.000Z")
    assert len(files(tmp_path) - before) == 1  # the second record
    assert len(store.runs()) == 2


def test_a_manifest_needs_its_objects_and_a_record_its_manifest(tmp_path: Path) -> None:
    """STORE-5."""
    store, run = in_folder(tmp_path), made()
    with pytest.raises(EvidenceNotFound, match="holds no sha256:"):
        store.put_manifest(run.manifest)
    store.put(RED)
    store.put(b"")
    with pytest.raises(EvidenceNotFound, match="holds no evidence://"):
        store.put_run(*run, recorded_at=AT)
    assert store.runs() == []
    store.put_manifest(run.manifest)
    store.put_run(*run, recorded_at=AT)
    assert len(store.runs()) == 1


def test_a_record_binds_only_what_belongs_together(tmp_path: Path) -> None:
    """REC-2."""
    store = in_folder(tmp_path)
    run, other = store.record(store_run(store)), made(GREEN, exit_code=0)
    assert run["documents"].keys() == {"packet", "value_receipt", "brief"}
    mine = made()
    for packet, documents, at in (
        (other.packet, mine.documents, AT),
        (mine.packet, {"packet": b""}, AT),
        (mine.packet, {**mine.documents, "poem": b""}, AT),
        (mine.packet, mine.documents, "2026-11-30 10:00"),
        (mine.packet, mine.documents, "2026-13-30T10:00:00.000Z"),
        (mine.packet, mine.documents, "2026-11-30T10:00:00.000+01:00"),
    ):
        with pytest.raises(InvalidInput):
            store.put_run(mine.manifest, packet, documents, recorded_at=at)


# -- references -------------------------------------------------------------------------------------------------------


def test_references(tmp_path: Path) -> None:
    """STORE-7."""
    store = in_folder(tmp_path)
    first = store_run(store, RED, at="2026-11-30T10:00:00.000Z")
    second = store_run(store, GREEN, exit_code=0, at="2026-11-30T10:00:00.001Z")
    assert store.runs() == [second, first]
    assert store.find_run("latest") == second
    assert store.find_run("latest~1") == first
    for reference in (first.reference, first.evidence, f"sha256:{first.evidence}", first.evidence[:6]):
        assert store.find_run(reference) == first
        assert store.find_evidence(reference) == first.reference
    assert store.find_evidence("latest") == second.reference
    for missing in ("latest~2", "0" * 64, "evidence://sha256/" + "0" * 64):
        with pytest.raises(EvidenceNotFound):
            store.find_run(missing)
    for wrong in ("", "abc", "newest", "latest~", "latest~-1", "ABCDEF", first.evidence + "0", "file:x", "../../x"):
        with pytest.raises(InvalidInput):
            store.find_run(wrong)
        with pytest.raises(InvalidInput):
            store.find_evidence(wrong)


def test_a_prefix_of_several_runs_is_refused_and_one_of_one_run_recorded_twice_is_not(tmp_path: Path) -> None:
    """STORE-7."""
    store = in_folder(tmp_path)
    first = store_run(store, at="2026-11-30T10:00:00.000Z")
    again = store_run(store, at="2026-11-30T11:00:00.000Z")
    assert (again.evidence, again.recorded_at) == (first.evidence, "2026-11-30T11:00:00.000Z")
    assert store.find_run(first.evidence[:8]) == again
    digits = first.evidence[:4] + "0" * 60
    (tmp_path / manifest_name(digits)).write_bytes(b"{}\n")
    with pytest.raises(InvalidInput, match="begins 2 references"):
        store.find_evidence(first.evidence[:4])


def test_evidence_without_a_record_is_found_by_raw_reference_only(tmp_path: Path) -> None:
    """A run that was killed before it was reduced."""
    store = in_folder(tmp_path)
    reference = store.put_manifest(evidence_manifest([store.put(RED).stream("stdout")]))
    assert store.find_evidence(reference[-64:][:8]) == reference
    with pytest.raises(EvidenceNotFound):
        store.find_run(reference)
    with pytest.raises(EvidenceNotFound, match="holds 0 runs"):
        store.find_run("latest")


# -- damage -----------------------------------------------------------------------------------------------------------


def test_a_damaged_object_is_never_taken_for_whole(tmp_path: Path) -> None:
    """STORE-3."""
    store = in_folder(tmp_path)
    stored = store.put(RED)
    path = tmp_path / object_name(stored.sha256)
    whole = path.read_bytes()
    other = in_folder(tmp_path / "other")
    swapped = (tmp_path / "other" / object_name(other.put(GREEN).sha256)).read_bytes()
    damages = [
        b"",
        whole[:-1],
        whole[: len(whole) // 2],
        whole + b"\0",
        whole + whole,
        swapped,
        b"not gzip at all",
        gzip.compress(RED + b"x"),
        gzip.compress(RED[:-1]),
    ]
    damages += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(10, len(whole), 3)]
    for damage in damages:
        path.write_bytes(damage)
        with pytest.raises(EvidenceDamaged) as caught:
            store.check(*stored)
        assert caught.value.details["name"] == object_name(stored.sha256)
    # Keeping the same bytes again mends it.
    store.put(RED)
    store.check(*stored)


def test_a_damaged_manifest_or_record_is_named(tmp_path: Path) -> None:
    """STORE-3."""
    store = in_folder(tmp_path)
    run = store_run(store)
    for name, read in (
        (manifest_name(run.evidence), lambda: store.manifest(run.reference)),
        (run.path, lambda: store.record(run)),
    ):
        path = tmp_path / name
        path.write_bytes(path.read_bytes().replace(b"run-tests", b"run-tasts"))
        with pytest.raises(EvidenceDamaged) as caught:
            read()
        assert caught.value.details["name"] == name


def test_a_file_that_is_no_manifest_is_damaged_even_under_its_own_digest(tmp_path: Path) -> None:
    store = in_folder(tmp_path)
    store_run(store)
    for data in (b"{}\n", b"[]\n", b"\xff", b'{"a":1,"a":2}\n', b"1e999\n", b"[" * 100_000):
        digits = sha256(data).partition(":")[2]
        (tmp_path / manifest_name(digits)).write_bytes(data)
        with pytest.raises(EvidenceDamaged):
            store.manifest(f"evidence://sha256/{digits}")


def test_a_record_under_another_runs_name_is_damaged(tmp_path: Path) -> None:
    store = in_folder(tmp_path)
    run = store_run(store)
    moved = run._replace(recorded_at="2027-01-01T00:00:00.000Z")
    (tmp_path / run.path).rename(tmp_path / moved.path)
    assert store.runs() == [moved]
    with pytest.raises(EvidenceDamaged, match="another run's record"):
        store.record(moved)


def test_what_is_not_ours_in_the_folder_is_left_alone(tmp_path: Path) -> None:
    store = in_folder(tmp_path)
    run = store_run(store)
    (tmp_path / "runs" / "notes.txt").write_text("mine")
    (tmp_path / "runs" / "link.json").symlink_to("/etc/hostname")
    assert store.runs() == [run]


def test_an_object_that_is_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    import os

    from context_firewall.errors import StoreUnavailable

    store = in_folder(tmp_path)
    stored = store.put(RED)
    path = tmp_path / object_name(stored.sha256)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreUnavailable):
        store.check(*stored)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(StoreUnavailable, match="not a regular file"):
        store.check(*stored)


# -- places -----------------------------------------------------------------------------------------------------------


def test_the_default_store_is_at_the_root_of_the_repository(tmp_path: Path) -> None:
    """STORE-8."""
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    assert store_folder(str(inner)) == str(inner / ".context-firewall")
    (tmp_path / "repo" / "a" / ".context-firewall").mkdir()
    assert store_folder(str(inner)) == str(tmp_path / "repo" / "a" / ".context-firewall")
    (tmp_path / "repo" / ".git").write_text("gitdir: elsewhere\n")
    assert store_folder(str(inner)) == str(tmp_path / "repo" / ".context-firewall")
    assert open_store(None, folder=str(inner)).location == str(tmp_path / "repo" / ".context-firewall")
    assert not (tmp_path / "repo" / ".context-firewall").exists()


def test_locations(tmp_path: Path) -> None:
    """STORE-8."""
    assert open_store("kept/here", folder=str(tmp_path)).location == str(tmp_path / "kept" / "here")
    assert open_store(f"file://{tmp_path}/a%20b", folder="/").location == str(tmp_path / "a b")
    for wrong in ("", "file://host/path", "a\0b"):
        with pytest.raises(InvalidInput):
            open_store(wrong, folder=str(tmp_path))


def test_a_store_that_is_not_there_is_empty_and_is_not_made_by_reading(tmp_path: Path) -> None:
    store = in_folder(tmp_path / "none")
    assert store.runs() == []
    with pytest.raises(EvidenceNotFound):
        store.find_evidence("abcd1234")
    assert not (tmp_path / "none").exists()


def test_a_store_below_a_file_is_unavailable_or_not_written(tmp_path: Path) -> None:
    from context_firewall.errors import StoreNotWritten

    (tmp_path / "file").write_text("")
    store = EvidenceStore(Folder(str(tmp_path / "file" / "store")))
    assert store.runs() == []
    with pytest.raises(StoreNotWritten) as caught:
        store.put(RED)
    assert caught.value.details["reason"] in ("ENOTDIR", "EEXIST")
    assert caught.value.details["store"] == store.location
