"""Canonical bytes and digests: the only place where JSON becomes bytes and bytes become a hash.

Canonical JSON is RFC 8785; a document that leaves the package ends with one newline. A digest is written
`sha256:` and 64 lowercase hexadecimal digits.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import rfc8785


def canonical_bytes(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON-shaped value, without a final newline."""
    return rfc8785.dumps(value)


def sha256(data: bytes) -> str:
    """Digest of bytes, as `sha256:<64 hex>`."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def canonical_sha256(value: Any) -> str:
    """Digest of a JSON-shaped value's canonical bytes."""
    return sha256(canonical_bytes(value))


class RunningHash:
    """SHA-256 of bytes that come in pieces."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.byte_count = 0
        """How many bytes were taken."""

    def update(self, data: bytes) -> None:
        """Take the next piece."""
        self._hash.update(data)
        self.byte_count += len(data)

    def digest(self) -> str:
        """The digest of what was taken so far, as `sha256:<64 hex>`."""
        return "sha256:" + self._hash.hexdigest()


class FramedHash:
    """SHA-256 over named streams: for each, name, NUL, decimal byte length, NUL, the bytes, NUL.

    The length stands before the bytes, so it must be known before the first byte is hashed.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def pass_through(self, name: str, byte_count: int, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the chunks of one stream unchanged and hash them on the way; exhaust it before the next stream.

        Raises ValueError when the chunks do not hold exactly `byte_count` bytes.
        """
        update = self._hash.update
        update(b"%b\0%d\0" % (name.encode(), byte_count))
        seen = 0
        for chunk in chunks:
            update(chunk)
            seen += len(chunk)
            yield chunk
        if seen != byte_count:
            raise ValueError(f"stream {name} was announced with {byte_count} bytes and held {seen}")
        update(b"\0")

    def digest(self) -> str:
        """The digest of what has passed through so far, as `sha256:<64 hex>`."""
        return "sha256:" + self._hash.hexdigest()
