"""What comes in: a file or a pipe, of known size, readable in chunks and more than once.

The hash of a run frames each stream's length before its bytes, so the length must be known first. A regular file has
one. A pipe is read to its end: into memory while it is small, else into an unlinked temporary file.
"""

import io
import os
import stat
import sys
from collections.abc import Iterator
from typing import BinaryIO

from context_firewall.cli.channels import shown_path
from context_firewall.errors import InvalidInput, OutputNotWritten

# Large enough that the calls do not count, small enough to stay in the processor's cache between hash and reader.
CHUNK_BYTES = 1 << 18
# What a pipe may hold in memory before a temporary file is worth its cost.
SPOOL_BYTES = 1 << 20


class Source:
    """The bytes that one option names."""

    def __init__(
        self, option: str, path: str, file: BinaryIO, byte_count: int, identity: os.stat_result | None, spooled: bool
    ) -> None:
        self.option = option
        self.byte_count = byte_count
        self.identity = identity
        """What the operating system knows of a regular file; None for a pipe."""
        self._path = path
        self._file = file
        self._start = 0 if spooled else file.tell()
        self._spooled = spooled

    def chunks(self) -> Iterator[bytes]:
        """All bytes, from the start, in chunks; InvalidInput when the file has changed its size meanwhile."""
        try:
            self._file.seek(self._start)
            remaining = self.byte_count
            while remaining:
                chunk = self._file.read(min(CHUNK_BYTES, remaining))
                if not chunk:
                    raise self._refusal("became shorter while it was read")
                remaining -= len(chunk)
                yield chunk
            if not self._spooled and self._file.read(1):
                # A run that is still being written is not complete; reading its first part would hide the rest.
                raise self._refusal("grew while it was read: the run has not ended")
        except OSError as problem:
            raise self._refusal(f"cannot be read: {problem.strerror}") from problem

    def read(self) -> bytes:
        """All bytes at once, for what has to be parsed as a whole."""
        return b"".join(self.chunks())

    def close(self) -> None:
        """Give the file back; a temporary one is gone with that."""
        self._file.close()

    def _refusal(self, what: str) -> InvalidInput:
        return InvalidInput(f"{self.option} {what}", option=self.option, path=shown_path(self._path))


def open_source(option: str, path: str) -> Source:
    """Open what an option names; `-` is standard input."""
    try:
        file = _standard_input(option) if path == "-" else open(path, "rb")  # noqa: SIM115  the Source closes it
        identity = _identity(file)
        # Files that the kernel makes up (/proc) claim to have 0 bytes: no size is taken from them.
        if identity is not None and identity.st_size:
            size = max(identity.st_size - file.tell(), 0)
            return Source(option, path, file, size, identity, spooled=False)
        try:
            spool, byte_count = _spooled(option, file)
        finally:
            if path != "-":
                file.close()
        return Source(option, path, spool, byte_count, identity, spooled=True)
    except (OSError, ValueError) as problem:
        # ValueError: a path with a NUL character.
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise InvalidInput(f"{option} cannot be read: {reason}", option=option, path=shown_path(path)) from problem


def _standard_input(option: str) -> BinaryIO:
    if sys.stdin is None:
        raise InvalidInput(f"{option} is standard input, which is closed", option=option, path="-")
    return sys.stdin.buffer


def _identity(file: BinaryIO) -> os.stat_result | None:
    """What the operating system knows of a regular file; None for a pipe, a device, or what is no file at all."""
    try:
        status = os.fstat(file.fileno())
    except io.UnsupportedOperation:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


class Spool:
    """Bytes that arrive in pieces: few are kept in memory, many on disk in a file without a name.

    `words` say in an error what could not be kept; `option` names the option that it came from, if one did.
    """

    def __init__(self, words: str, **details: str) -> None:
        self._words = words
        self._details = details
        self.file: BinaryIO = io.BytesIO()
        self.byte_count = 0

    def write(self, chunk: bytes) -> None:
        """Keep the next piece; OutputNotWritten when there is no room for it."""
        try:
            if self.byte_count <= SPOOL_BYTES < self.byte_count + len(chunk):
                self._move_to_disk()
            self.file.write(chunk)
        except OSError as problem:
            reason = f"{self._words} cannot be spooled to a temporary file: {problem.strerror}"
            raise OutputNotWritten(reason, **self._details) from problem
        self.byte_count += len(chunk)

    def _move_to_disk(self) -> None:
        from tempfile import TemporaryFile  # 10 ms that a small input does not pay

        disk: BinaryIO = TemporaryFile(prefix="context-firewall-")  # noqa: SIM115
        self.file.seek(0)
        while piece := self.file.read(CHUNK_BYTES):
            disk.write(piece)
        self.file = disk

    def chunks(self) -> Iterator[bytes]:
        """All bytes, from the start, in chunks."""
        self.file.seek(0)
        while chunk := self.file.read(CHUNK_BYTES):
            yield chunk

    def close(self) -> None:
        """Forget the bytes."""
        self.file.close()


def _spooled(option: str, file: BinaryIO) -> tuple[BinaryIO, int]:
    """Read to the end and keep the bytes; and how many they are."""
    spool = Spool(option, option=option)
    while chunk := file.read(CHUNK_BYTES):
        spool.write(chunk)
    return spool.file, spool.byte_count
