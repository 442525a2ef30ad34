"""A store in a folder: killed anywhere, full, read-only, and used by many at once."""

import errno
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from cli_process import ENVIRONMENT
from stored import GREEN, RED, check_store, files, in_folder, made, store_compaction, store_run, tap

from context_firewall.documents.evidence_manifest import evidence_manifest
from context_firewall.errors import StoreNotWritten
from context_firewall.store import pruning
from context_firewall.store.evidence import EvidenceStore, ObjectWriter, object_name

HERE = Path(__file__).parent
FAR = float("inf")


def helper(name: str, *arguments: str | Path) -> str:
    """Run one of the programs beside the tests; what it prints."""
    paths = os.pathsep.join([ENVIRONMENT["PYTHONPATH"], str(HERE)])
    command = [sys.executable, str(HERE / name), *map(str, arguments)]
    ended = subprocess.run(
        command, capture_output=True, text=True, env={**ENVIRONMENT, "PYTHONPATH": paths}, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks /proc for a descriptor's path")
def test_what_a_file_names_is_settled_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """STORE-5: the order in which names come and folders are synced."""
    deeds: list[str] = []
    replace, fsync = os.replace, os.fsync

    def note_replace(source: str, target: str) -> None:
        assert deeds[-1] == "file"  # synced before it has its name
        deeds.append(Path(target).parent.name)
        replace(source, target)

    def note_fsync(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        deeds.append(f"settle {path.name}" if path.is_dir() else "file")
        fsync(descriptor)

    store_run(in_folder(tmp_path / "s"), duration_ms=1)
    store_compaction(in_folder(tmp_path / "s"))
    monkeypatch.setattr(os, "replace", note_replace)
    monkeypatch.setattr(os, "fsync", note_fsync)
    store_run(in_folder(tmp_path / "s"))
    assert [deed for deed in deeds if deed != "file"] == [
        *["objects"] * 2,
        *["settle objects", "manifests", "settle manifests"],
        *["objects"] * 3,
        *["settle objects", "runs", "settle runs"],
    ]
    deeds.clear()
    store_compaction(in_folder(tmp_path / "s"))
    wanted = ["objects", "settle objects", "compactions", "settle compactions"]
    assert [deed for deed in deeds if deed != "file"] == wanted


@pytest.mark.parametrize("what", ["write", "prune", "compact"])
def test_killed_at_some_steps(tmp_path: Path, what: str) -> None:
    """STORE-4, STORE-5 and CMP-12: no half file under a final name, nothing that names what is missing."""
    assert int(helper("killed.py", tmp_path / "s", what, "97")) > 3


@pytest.mark.soak
@pytest.mark.parametrize(("what", "every"), [("write", 1), ("prune", 4), ("compact", 2)])
def test_killed_at_every_step(tmp_path: Path, what: str, every: int) -> None:
    """STORE-4 and STORE-5; pruning asks the same of many files, so every fourth step will do."""
    assert int(helper("killed.py", tmp_path / "s", what, str(every))) > 100


# -- no room, no right ------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[None]:
    """A file system of that size; the test is skipped where none can be mounted."""
    path.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount here to make a small disk with")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {done.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(path)], check=True)


def written(writer: ObjectWriter, data: bytes) -> None:
    """Write in pieces, and finish."""
    for at in range(0, len(data), 4096):
        writer.write(data[at : at + 4096])
    writer.finish()


def test_a_full_disk_is_a_typed_error_and_leaves_the_store_whole(tmp_path: Path) -> None:
    """STORE-6."""
    with small_disk(tmp_path / "disk", "160k"):
        store = in_folder(tmp_path / "disk" / "s")
        store_run(store)
        noise = os.urandom(400_000)
        with store.writer() as writer, pytest.raises(StoreNotWritten) as caught:
            written(writer, noise)
        assert caught.value.details["reason"] == "ENOSPC"
        assert check_store(tmp_path / "disk" / "s") == 1
        # Fill it to the brim, then run into the wall with every kind of file.
        filler = tmp_path / "disk" / "filler"
        room, step = 400_000, 50_000
        while step:
            try:
                with filler.open("ab") as file:
                    file.truncate(0)
                    file.write(b"\1" * room)
                break
            except OSError:
                room -= 4096
        for size in range(0, 60_000, 4096):
            with filler.open("r+b") as file:
                file.truncate(max(0, room - size))
            number = size // 4096
            with suppress(StoreNotWritten):
                store_run(store, tap(12, [number % 12 + 1], f"lifts{number}"), at=f"2026-11-30T11:00:{number:02}.000Z")
            assert check_store(tmp_path / "disk" / "s") >= 1
        assert not [name for name in files(tmp_path / "disk" / "s") if name.startswith("drafts/")]


def test_a_file_that_may_not_grow_is_a_typed_error(tmp_path: Path) -> None:
    """STORE-6: the same with a limit that every machine has."""
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = in_folder(tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(StoreNotWritten) as caught:
            store.put(os.urandom(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.details["reason"] == "EFBIG"
    assert files(tmp_path) == set()


def test_a_read_only_store_is_a_typed_error_and_can_be_read(tmp_path: Path) -> None:
    """STORE-6."""
    with small_disk(tmp_path / "disk", "1m"):
        store = in_folder(tmp_path / "disk" / "s")
        run = store_run(store)
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
        for deed in (lambda: store.put(GREEN), lambda: store.put_manifest(made().manifest), store.writer):
            with pytest.raises(StoreNotWritten) as caught:
                deed()
            assert caught.value.details["reason"] == "EROFS"
        assert store.document(store.record(run), "brief")


# -- many at once -----------------------------------------------------------------------------------------------------


def test_writers_at_once(tmp_path: Path) -> None:
    assert helper("crowd.py", tmp_path / "s", "6", "2") == "12\n"


@pytest.mark.soak
def test_64_writers_at_once_beside_one_that_prunes(tmp_path: Path) -> None:
    """STORE-10."""
    assert helper("crowd.py", tmp_path / "s", "64", "3", "prune") == "192\n"


def old(store: EvidenceStore, path: Path, data: bytes) -> str:
    """Keep an object and make it look a day old."""
    name = object_name(store.put(data).sha256)
    day = time.time() - 86_400
    os.utime(path / name, (day, day))
    return name


def test_what_is_kept_again_while_pruning_looks_at_it_stays(tmp_path: Path) -> None:
    """STORE-10: a writer that finds an old object nobody names, and one that prunes, in every order that comes."""
    store = in_folder(tmp_path)
    hour_ago = time.time() - 3600

    def prune() -> None:
        planned = pruning.plan(
            store, pruning.Limits(last=0), young_from="2026-01-01T00:00:00.000Z", kept_before=hour_ago
        )
        start.wait()
        pruning.carry_out(store, planned, kept_before=hour_ago)

    for number in range(25):
        data = b"%d\n" % number
        old(store, tmp_path, data)
        start = threading.Barrier(2)
        pruner = threading.Thread(target=prune)
        pruner.start()
        start.wait()
        store.put_manifest(evidence_manifest([store.put(data).stream("stdout")], duration_ms=number))
        pruner.join()
        check_store(tmp_path)


def test_drafts_of_the_dead_are_swept_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    """PRUNE-5."""
    store = in_folder(tmp_path)
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "99999-0").write_bytes(b"left behind")
    with store.writer() as writer:
        writer.write(RED)
        assert store.shelf.sweep(kept_before=0) == 0
        assert store.shelf.sweep(kept_before=FAR) == len(b"left behind")
        stored = writer.finish()
    store.check(*stored)
    assert files(tmp_path) == {object_name(stored.sha256)}


def test_a_folder_of_other_things_keeps_them_and_stays_visible_to_git(tmp_path: Path) -> None:
    """STORE-9: whoever names a folder that is no store's alone."""
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "my-novel.txt").write_text("It was a dark")
    (tmp_path / "src").mkdir()
    store = in_folder(tmp_path)
    store_run(store)
    store.shelf.sweep(kept_before=FAR)
    assert (tmp_path / "drafts" / "my-novel.txt").exists()
    assert not (tmp_path / ".gitignore").exists()


# -- size -------------------------------------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks /proc for the size")
def test_two_hundred_megabytes_in_bounded_memory(tmp_path: Path) -> None:
    """STORE-11: the resident size of a process that writes and reads them is that of one that does little."""
    small, large = (int(helper("large.py", tmp_path / size, size)) for size in ("1", "200"))
    assert large < small + 30_000


def test_a_writer_that_failed_once_is_never_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """STORE-6: room that comes back does not bring back the bytes."""
    store = in_folder(tmp_path)
    with store.writer() as writer:
        monkeypatch.setattr(writer._deflating, "_file", FullFile())
        with pytest.raises(StoreNotWritten):
            written(writer, os.urandom(100_000))
        monkeypatch.undo()
        for deed in (lambda: writer.write(b"more"), writer.finish):
            with pytest.raises(StoreNotWritten):
                deed()
    assert files(tmp_path) == set()


class FullFile:
    """A file on a full disk."""

    def write(self, _data: bytes) -> int:
        """Fail."""
        raise OSError(errno.ENOSPC, "No space left on device")
