"""Canonical bytes and digests: the only place where JSON becomes bytes and bytes become a hash.

Canonical JSON is RFC 8785; a document that leaves the package ends with one newline. A digest is written
`sha256:` and 64 lowercase hexadecimal digits.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

import rfc8785

# Every integer up to here is a number of its own in JSON; RFC 8785 has no larger ones.
SAFE_INTEGER = (1 << 53) - 1

# Python's own encoder, ten times as fast, writes what RFC 8785 asks for wherever `_is_plain` says so.
_PLAIN = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))


# How many levels of objects are taken apart, and how many values of a long array are written at a time: a value that is
# not plain is written slowly, and what stands beside it is not.
_LEVELS = 3
_TOGETHER = 1000


def canonical_bytes(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON-shaped value, without a final newline."""
    return b"".join(canonical_pieces(value))


def canonical_pieces(value: Any, levels: int = _LEVELS) -> Iterator[bytes]:
    """The same in pieces, where nobody has to hold all of it."""
    if levels and type(value) is dict and _has_plain_keys(value):
        before = b"{"
        for key in sorted(value):
            yield before + _PLAIN.encode(key).encode() + b":"
            yield from canonical_pieces(value[key], levels - 1)
            before = b","
        yield b"}" if value else b"{}"
    elif levels and type(value) is list and len(value) > _TOGETHER:
        for start in range(0, len(value), _TOGETHER):
            yield b"," if start else b"["
            yield _written(value[start : start + _TOGETHER])[1:-1]
        yield b"]"
    else:
        yield _written(value)


def _written(value: Any) -> bytes:
    if _is_plain(value):
        try:
            return _PLAIN.encode(value).encode()
        except UnicodeEncodeError:
            pass  # a lone surrogate, for which there is a proper error
    return rfc8785.dumps(value)


def _has_plain_keys(value: dict[Any, Any]) -> bool:
    """Whether all keys are text that sorts in Python as in RFC 8785."""
    try:
        return "".join(value).isascii()
    except TypeError:
        return False


def _is_plain(value: Any) -> bool:
    """Whether nothing in the value is written otherwise by RFC 8785 than by Python, save lone surrogates.

    Keys may sort otherwise when they aren't ASCII; numbers differ when they are large, or fractions that are whole or
    so large or small that an exponent or many zeros are needed.
    """
    kind = type(value)
    if kind is dict:
        return _has_plain_keys(value) and _are_plain(value.values())
    if kind is list or kind is tuple:
        return _are_plain(value)
    if kind is int:
        return bool(-SAFE_INTEGER <= value <= SAFE_INTEGER)
    if kind is float:
        return bool(1e-4 <= abs(value) < 1e16 and not value.is_integer())
    return kind is str or kind is bool or value is None


def _are_plain(values: Iterable[Any]) -> bool:
    for value in values:  # the hot loop: text and small numbers need no call
        kind = type(value)
        small = kind is str or (kind is int and -SAFE_INTEGER <= value <= SAFE_INTEGER)
        if not small and not _is_plain(value):
            return False
    return True


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
