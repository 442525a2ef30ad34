"""A store in an object store: in memory, and over real HTTP with a server and a network that fail."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from s3_server import BUCKET, Faults, s3_server
from stored import AT, GREEN, RED, compacted, made, store_compaction, store_run

from context_firewall import restored_view
from context_firewall.documents.evidence_manifest import evidence_manifest
from context_firewall.errors import (
    EvidenceDamaged,
    EvidenceNotFound,
    InvalidInput,
    StoreNotWritten,
    StoreUnavailable,
)
from context_firewall.store.bucket import WHOLE_BYTES, Bucket, open_bucket
from context_firewall.store.compactions import find_compaction, kept_record, originals_kept
from context_firewall.store.evidence import EvidenceStore, object_name
from context_firewall.store.places import open_store
from context_firewall.store.pruning import Limits, carry_out, plan

obstore = pytest.importorskip("obstore", reason="the extra [cloud] is not installed")

FOLDERS = ("objects", "manifests", "runs", "compactions")
FAR = float("inf")
LATER = "2027-01-01T00:00:00.000Z"


def in_memory() -> EvidenceStore:
    """A store in this process's memory."""
    return open_store("memory:///", folder="/")


def names(store: EvidenceStore) -> set[str]:
    """All names in a store."""
    return {entry.name for folder in FOLDERS for entry in store.shelf.list(folder)}


def test_a_run_comes_back_as_it_went_in_and_goes() -> None:
    """BUCKET-1: the same code as for a folder."""
    store = in_memory()
    first = store_run(store, RED, b"careful\n")
    second = store_run(store, GREEN, exit_code=0, at="2026-11-30T10:00:00.001Z")
    assert store.runs() == [second, first]
    streams = store.manifest(first.reference)["streams"]
    assert [b"".join(store.chunks(one["sha256"], one["byte_count"])) for one in streams] == [RED, b"careful\n"]
    assert store.find_run(first.evidence[:6]) == first
    with pytest.raises(EvidenceNotFound):
        store.find_evidence("abcdef00")
    planned = plan(store, Limits(last=1), young_from=LATER, kept_before=FAR)
    assert [one.name for one in planned.pruned] == [first]
    carry_out(store, planned, kept_before=time.time() - 60)
    assert store.runs() == [second]  # its objects are young, and stay until the next time
    left = plan(store, Limits(), young_from=LATER, kept_before=FAR)
    assert carry_out(store, left, kept_before=FAR) == left.leftover_files
    assert store.document(store.record(second), "brief")
    carry_out(store, plan(store, Limits(last=0), young_from=LATER, kept_before=FAR), kept_before=FAR)
    assert names(store) == set()


def test_a_compaction_comes_back_as_it_went_in_and_goes() -> None:
    """BUCKET-1 and STORE-12."""
    store = in_memory()
    name = store_compaction(store)
    record = kept_record(store, find_compaction(store, "latest"))
    assert restored_view(record, originals_kept(store, record).get) == [
        message.original() for message in compacted().original_context
    ]
    assert names(store) == set(name.files)
    carry_out(store, plan(store, Limits(last=0), young_from=LATER, kept_before=FAR), kept_before=FAR)
    assert names(store) == set()


def test_a_damaged_object_is_found_and_mended() -> None:
    """STORE-3."""
    store = in_memory()
    stored = store.put(RED)
    assert isinstance(store.shelf, Bucket)
    obstore.put(store.shelf.place, object_name(stored.sha256), b"other bytes")
    with pytest.raises(EvidenceDamaged):
        store.check(*stored)
    store.put(RED)
    store.check(*stored)


def test_urls_that_are_none() -> None:
    for url in ("https://example.org/x", "ftp://host/x", "s3://", "nothing://x"):
        with pytest.raises(InvalidInput):
            open_store(url, folder="/")


def test_without_the_extra_there_is_a_sentence_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """BUCKET-4."""
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    with pytest.raises(StoreUnavailable, match=r"context-firewall\[cloud\]"):
        open_store("s3://bucket/x", folder="/")


# -- over HTTP --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Faults]:
    """An S3 server whose environment is this process's while the tests of this file run."""
    pytest.importorskip("moto.server", reason="moto's server is not installed")
    with s3_server() as (environment, faults):
        before = dict(os.environ)
        os.environ.update(environment)
        yield faults
        os.environ.clear()
        os.environ.update(before)


def team_store(folder: str, *, retries: int = 3) -> EvidenceStore:
    """A store on the server."""
    return EvidenceStore(open_bucket(f"s3://{BUCKET}/{folder}", retries=retries, retry_seconds=20.0))


def test_the_round_trip_over_http(server: Faults) -> None:
    """BUCKET-1 and BUCKET-2."""
    store = team_store("round")
    run = store_run(store)
    assert {(method, fault) for method, _, fault in server.seen} <= {("PUT", None), ("GET", None), ("HEAD", None)}
    assert all(path.startswith(f"/{BUCKET}") for _, path, _ in server.seen)
    other = team_store("round")
    assert other.runs() == [run]
    assert other.document(other.record(run), "brief").startswith(b"FAILED")
    assert team_store("elsewhere").runs() == []
    before = names(store)
    store_run(team_store("round"))
    assert names(store) == before
    carry_out(store, plan(store, Limits(last=0), young_from=LATER, kept_before=FAR), kept_before=FAR)
    assert names(store) == set()


@pytest.mark.parametrize("fault", ["500", "cut-request", "cut-answer"])
def test_one_fault_at_each_request_is_survived(server: Faults, fault: str) -> None:
    """BUCKET-3."""
    store = team_store(f"one-{fault}")
    server.plan(fault)
    stored = store.put(RED)
    server.plan(fault)
    reference = store.put_manifest(evidence_manifest([stored.stream("stdout")]))
    server.plan(fault)
    store.check(*stored)
    if fault != "cut-answer":  # that one is of a few bytes, and not asked for again
        server.plan(fault)
        assert store.manifest(reference)["streams"][0]["sha256"] == stored.sha256
    assert {entry.name for entry in store.shelf.list("objects")} == {object_name(stored.sha256)}


@pytest.mark.parametrize("fault", ["500", "cut-request", "cut-answer"])
def test_a_server_that_always_fails_is_a_typed_error(server: Faults, fault: str) -> None:
    """BUCKET-3."""
    store = team_store(f"always-{fault}", retries=1)
    stored = store.put(GREEN)
    server.always = fault
    try:
        for deed in (lambda: store.check(*stored), store.runs):
            with pytest.raises(StoreUnavailable) as caught:
                deed()
            assert caught.value.details["store"] == store.location
        if fault != "cut-answer":  # the answer to what is put has no body to be cut
            with pytest.raises(StoreNotWritten) as refused:
                store.put(RED)
            assert refused.value.details["store"] == store.location
    finally:
        server.always = None
    store.check(*stored)


@pytest.mark.usefixtures("server")
def test_a_bucket_that_is_not_there_is_a_typed_error() -> None:
    store = EvidenceStore(open_bucket("s3://nowhere/x", retries=0, retry_seconds=3.0))
    with pytest.raises(StoreNotWritten):
        store.put(RED)
    with pytest.raises(StoreUnavailable):
        store.runs()


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """BUCKET-3."""
    settings = {"ENDPOINT_URL": "http://127.0.0.1:9", "ALLOW_HTTP": "true", "REGION": "x"}
    for name, text in {**settings, "ACCESS_KEY_ID": "k", "SECRET_ACCESS_KEY": "s"}.items():
        monkeypatch.setenv(f"AWS_{name}", text)
    store = EvidenceStore(open_bucket("s3://bucket/x", retries=1, retry_seconds=2.0))
    with pytest.raises(StoreNotWritten):
        store.put(RED)
    with pytest.raises(StoreUnavailable):
        store.runs()


@pytest.mark.soak
def test_a_slow_server_and_a_large_object(server: Faults) -> None:
    """BUCKET-2: what is larger goes up in parts, of which some fail."""
    store = team_store("large")
    noise = os.urandom(3 * WHOLE_BYTES + 12_345)
    server.plan("slow", "500", "slow", "503", "slow")
    with store.writer() as writer:
        writer.write(noise)
        stored = writer.finish()
    server.plan("slow", "cut-answer")
    assert b"".join(store.chunks(*stored)) == noise


@pytest.mark.soak
@pytest.mark.usefixtures("server")
def test_writers_at_once_over_http() -> None:
    """BUCKET-2."""
    from concurrent.futures import ThreadPoolExecutor

    def write(number: int) -> None:
        store = team_store("crowd")
        run = made(RED, duration_ms=number % 4)
        store.put(RED)
        store.put(b"")
        store.put_manifest(run.manifest)
        store.put_run(*run, recorded_at=AT.replace("00.000Z", f"00.{number:03}Z"))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, range(64)))
    store = team_store("crowd")
    assert len(store.runs()) == 64
    for run in store.runs():
        store.document(store.record(run), "packet")


@pytest.mark.usefixtures("server")
def test_the_command_line_over_http(tmp_path: Path) -> None:
    """BUCKET-1."""
    from cli_process import COMMAND, ENVIRONMENT

    store_run(team_store("shared"))
    aws = {name: text for name, text in os.environ.items() if name.startswith("AWS_")}
    done = subprocess.run(
        [*COMMAND, "raw", "latest", "--store", f"s3://{BUCKET}/shared"],
        capture_output=True,
        env={**ENVIRONMENT, **aws},
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, RED), done.stderr
