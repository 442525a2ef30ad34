"""Properties of the store and of excerpts: whatever goes in comes out, whole or by line."""

import io
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored import in_folder

from context_firewall.canonical import sha256
from context_firewall.cli.excerpt import LineCount, LineRange, LineRanges, lines_with, merged, numbered, pieces_of
from context_firewall.documents.evidence_manifest import (
    evidence_manifest,
    parse_evidence_manifest,
    serialize_evidence_manifest,
)
from context_firewall.errors import EvidenceDamaged
from context_firewall.store.drafts import Deflating, inflated

TEXT = st.lists(
    st.sampled_from([b"a", b"ab", b"\n", b"\r\n", b"ba", b"\xff", b" ", b"\n\n", b"\x85"]), max_size=60
).map(b"".join)
RANGES = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 10)), max_size=6).map(
    lambda pairs: [LineRange(first, first + more) for first, more in pairs]
)


def split(data: bytes, seed: int) -> list[bytes]:
    """The bytes in chunks of any size, empty ones too."""
    chance = random.Random(seed)  # noqa: S311  any chunks will do
    found, at = [], 0
    while at < len(data):
        end = at + chance.randrange(4)
        found.append(data[at:end])
        at = end
    return found


def lines_of(data: bytes) -> list[bytes]:
    """Lines with their newlines; the rest after the last one is one."""
    return [line for line in data.replace(b"\n", b"\n\0").split(b"\0") if line]


@given(TEXT, RANGES, st.integers(0, 3), st.integers())
def test_an_excerpt_is_those_lines_and_nothing_else(
    data: bytes, asked: list[LineRange], context: int, seed: int
) -> None:
    """RAW-2."""
    if b"\0" in data:
        return
    lines = lines_of(data)
    ranges = LineRanges(merged(sorted(asked), context=context, last=len(lines)))
    wanted = {
        number
        for first, last in asked
        for number in range(max(1, first - context), last + context + 1)
        if number <= len(lines)
    }
    pieces = list(pieces_of(split(data, seed), ranges))
    assert b"".join(piece.data for piece in pieces) == b"".join(lines[number - 1] for number in sorted(wanted))
    shown = b"".join(numbered(pieces, "stdout"))
    assert shown == b"".join(b"stdout:%d: %b" % (number, lines[number - 1]) for number in sorted(wanted))


@given(TEXT, st.sampled_from([b"a", b"ab", b"aba", b"\xff", b"\r", b"b a"]), st.integers())
def test_a_text_is_found_in_the_lines_that_hold_it(data: bytes, literal: bytes, seed: int) -> None:
    """RAW-4."""
    count = LineCount()
    ranges = list(lines_with(count.counted(split(data, seed)), literal))
    lines = lines_of(data)
    assert count.lines == len(lines)
    found = [number for first, last in ranges for number in range(first, last + 1)]
    assert found == [number for number, line in enumerate(lines, 1) if literal in line]


@given(st.binary(max_size=2000), st.integers())
def test_what_is_deflated_is_inflated_in_any_pieces(data: bytes, seed: int) -> None:
    """STORE-3."""
    file = io.BytesIO()
    deflating = Deflating(file)
    for chunk in split(data, seed):
        deflating.write(chunk)
    digest, byte_count = deflating.finish()
    assert (digest, byte_count) == (sha256(data), len(data))
    packed = file.getvalue()
    assert b"".join(inflated(iter(split(packed, seed)), "x", digest, byte_count)) == data
    at = seed % len(packed)
    broken = packed[:at] + bytes([packed[at] ^ (1 << seed % 8)]) + packed[at + 1 :]
    try:
        read = b"".join(inflated(iter([broken]), "x", digest, byte_count))
    except EvidenceDamaged:
        return
    assert read == data  # a bit of the header that says nothing of the bytes


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(st.binary(max_size=400), st.binary(max_size=40), st.integers())
def test_a_store_gives_back_what_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: bytes, err: bytes, seed: int
) -> None:
    """STORE-1 and STORE-2."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    store = in_folder(tmp_path)
    with store.writer() as one, store.writer() as other:
        for chunk in split(out, seed):
            one.write(chunk)
        other.write(err)
        manifest = evidence_manifest([one.finish().stream("stdout"), other.finish().stream("stderr")])
    held = store.manifest(store.put_manifest(manifest))
    assert held == manifest
    assert [b"".join(store.chunks(stream["sha256"], stream["byte_count"])) for stream in held["streams"]] == [out, err]


@given(
    st.none() | st.lists(st.text(max_size=9), min_size=1, max_size=4),
    st.none() | st.integers(0, 255),
    st.none() | st.floats(0, 1e12) | st.integers(0, 2**53 - 1),
    st.booleans(),
    st.none() | st.integers(1, 127),
)
def test_manifests_survive_their_bytes(
    command: list[str] | None, code: int | None, duration: float | None, flag: bool, signal: int | None
) -> None:
    """MAN-2."""
    stream = {"byte_count": 0, "complete": flag, "name": "stderr", "sha256": sha256(b"")}
    manifest = evidence_manifest(
        [stream],  # type: ignore[list-item]
        command=command,
        exit_code=code,
        duration_ms=duration,
        interrupted=flag,
        signal=signal,
        timed_out=flag,
    )
    data = serialize_evidence_manifest(manifest)
    assert parse_evidence_manifest(data) == manifest
    assert serialize_evidence_manifest(parse_evidence_manifest(data)) == data
