"""What comes in: sizes are known, bytes are whole, and a file that changes meanwhile is no run that has ended."""

import os
import threading
from pathlib import Path

import pytest

from context_firewall import InvalidInput
from context_firewall.cli.sources import CHUNK_BYTES, SPOOL_BYTES, open_source


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES, CHUNK_BYTES + 1, SPOOL_BYTES, SPOOL_BYTES + 1, 3 * SPOOL_BYTES])
@pytest.mark.parametrize("piped", [False, True])
def test_all_bytes_as_often_as_wanted(tmp_path: Path, size: int, piped: bool) -> None:
    data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    path = tmp_path / "source"
    if piped:
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(data,), daemon=True).start()
    else:
        path.write_bytes(data)
    source = open_source("--input", str(path))
    assert source.byte_count == size
    assert source.read() == data
    assert b"".join(source.chunks()) == data
    assert all(len(chunk) <= CHUNK_BYTES for chunk in source.chunks())
    assert (source.identity is None) == piped
    source.close()


@pytest.mark.parametrize(("change", "words"), [(b"more", "grew"), (None, "shorter")])
def test_a_file_that_changes_is_refused(tmp_path: Path, change: bytes | None, words: str) -> None:
    path = tmp_path / "run.tap"
    path.write_bytes(b"x" * (2 * CHUNK_BYTES))
    source = open_source("--input", str(path))
    chunks = source.chunks()
    next(chunks)
    if change is None:
        os.truncate(path, CHUNK_BYTES + 1)
    else:
        with path.open("ab") as file:
            file.write(change)
    with pytest.raises(InvalidInput, match=words):
        list(chunks)
    source.close()


def test_a_file_that_the_kernel_makes_up() -> None:
    source = open_source("--input", "/proc/self/status")
    assert source.byte_count == len(source.read()) > 0
    source.close()


@pytest.mark.parametrize("path", ["", "a\0b", "missing", "/"])
def test_what_cannot_be_read(path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        open_source("--stderr", path)
    assert caught.value.details["option"] == "--stderr"
