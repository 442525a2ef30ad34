"""`context-firewall.evidence-manifest/v1`: what a store holds of one run.

It names the command, how the process ended, and each stream by its digest and length. Its own digest is the raw
reference in the run's packet, `evidence://sha256/<64 hex>`: whoever holds the packet and the manifest can check that
the one speaks of the other, and whoever holds the streams, that they are what was printed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.documents import test_run_input
from context_firewall.documents.canonical_document import items, members, parse_canonical, text
from context_firewall.documents.test_run_input import STREAM_NAMES
from context_firewall.errors import InvalidInput

PROTOCOL = "context-firewall.evidence-manifest/v1"

SCHEME = "evidence://sha256/"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_REFERENCE = re.compile(re.escape(SCHEME) + r"([0-9a-f]{64})")


class ProcessFacts(TypedDict):
    """How the process ended.

    `duration_ms` is in milliseconds; `interrupted`: it was stopped before it ended by itself; `signal`: the number of
    the signal that ended it; `timed_out`: it was stopped because its time was over.
    """

    duration_ms: float | None
    exit_code: int | None
    interrupted: bool
    signal: int | None
    timed_out: bool


class StoredStream(TypedDict):
    """One stream: the digest and the number of its raw bytes.

    `complete` says that it was read to its end: not so if some process still held the pipe when reading stopped.
    """

    byte_count: int
    complete: bool
    name: str
    sha256: str


class EvidenceManifest(TypedDict):
    """The whole document; `command` is the program and its arguments, or null where they are not known."""

    command: list[str] | None
    process: ProcessFacts
    protocol_version: str
    streams: list[StoredStream]


def evidence_manifest(
    streams: Sequence[StoredStream],
    *,
    command: Sequence[str] | None = None,
    exit_code: int | None = None,
    duration_ms: float | None = None,
    interrupted: bool = False,
    signal: int | None = None,
    timed_out: bool = False,
) -> EvidenceManifest:
    """The manifest of a run; streams in any order. Raises InvalidInput, whose `key` names what is not allowed."""
    order = {name: at for at, name in enumerate(STREAM_NAMES)}
    return _checked(
        {
            "command": None if command is None else list(command),
            "process": {
                "duration_ms": duration_ms,
                "exit_code": exit_code,
                "interrupted": interrupted,
                "signal": signal,
                "timed_out": timed_out,
            },
            "protocol_version": PROTOCOL,
            "streams": sorted(streams, key=lambda stream: order.get(stream["name"], len(order))),
        }
    )


def parse_evidence_manifest(data: bytes) -> EvidenceManifest:
    """Read a manifest's canonical bytes. Raises InvalidInput, whose `key` names the place."""
    return _checked(parse_canonical(data, "the evidence manifest"))


def serialize_evidence_manifest(manifest: EvidenceManifest) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(manifest) + b"\n"


def evidence_reference(manifest: EvidenceManifest) -> str:
    """The raw reference of a run: the digest of its manifest's bytes, as `evidence://sha256/<64 hex>`."""
    return SCHEME + sha256(serialize_evidence_manifest(manifest)).partition(":")[2]


def referenced_hex(reference: object, key: str) -> str:
    """The 64 hexadecimal digits of a raw reference. Raises InvalidInput for anything else."""
    match = _REFERENCE.fullmatch(reference) if isinstance(reference, str) else None
    if match is None:
        raise InvalidInput(f"{key} must be {SCHEME} and 64 lowercase hexadecimal digits", key=key)
    return match[1]


def digest(value: object, key: str) -> str:
    """A digest as `sha256:<64 hex>`. Raises InvalidInput for anything else."""
    if not isinstance(value, str) or _DIGEST.fullmatch(value) is None:
        raise InvalidInput(f"{key} must be sha256: and 64 lowercase hexadecimal digits", key=key)
    return value


def byte_count(value: object, key: str) -> int:
    """A number of bytes. Raises InvalidInput for anything else."""
    number = test_run_input.whole_number(value, key)
    if number < 0:
        raise InvalidInput(f"{key} must not be negative", key=key)
    return number


def command_words(value: object, key: str) -> list[str] | None:
    """A program and its arguments, or None. Raises InvalidInput for anything else."""
    if value is None:
        return None
    words = [text(word, f"{key}.{at}") for at, word in enumerate(items(value, key))]
    if not words:
        raise InvalidInput(f"{key} must name a program", key=key)
    return words


def _checked(document: object) -> EvidenceManifest:
    held = members(document, "", ("command", "process", "protocol_version", "streams"))
    if held["protocol_version"] != PROTOCOL:
        raise InvalidInput(f"protocol_version must be {PROTOCOL}", key="protocol_version")
    return {
        "command": command_words(held["command"], "command"),
        "process": _process(held["process"]),
        "protocol_version": PROTOCOL,
        "streams": _streams(held["streams"]),
    }


def _process(value: object) -> ProcessFacts:
    names = ("duration_ms", "exit_code", "interrupted", "signal", "timed_out")
    held = members(value, "process", names)
    signal = held["signal"]
    if signal is not None and not 1 <= test_run_input.whole_number(signal, "process.signal") <= 127:
        raise InvalidInput("process.signal must be an integer from 1 to 127, or null", key="process.signal")
    return {
        "duration_ms": test_run_input.duration_ms(held["duration_ms"], "process.duration_ms"),
        "exit_code": test_run_input.exit_code(held["exit_code"], "process.exit_code"),
        "interrupted": test_run_input.flag(held["interrupted"], "process.interrupted"),
        "signal": signal,
        "timed_out": test_run_input.flag(held["timed_out"], "process.timed_out"),
    }


def _streams(value: object) -> list[StoredStream]:
    found = [_stream(entry, f"streams.{at}") for at, entry in enumerate(items(value, "streams"))]
    names = [stream["name"] for stream in found]
    if not names or names != [name for name in STREAM_NAMES if name in names]:
        raise InvalidInput("streams must be stdout, stderr or both, in this order, each once", key="streams")
    return found


def _stream(value: object, key: str) -> StoredStream:
    held: Mapping[str, Any] = members(value, key, ("byte_count", "complete", "name", "sha256"))
    return {
        "byte_count": byte_count(held["byte_count"], f"{key}.byte_count"),
        "complete": test_run_input.flag(held["complete"], f"{key}.complete"),
        "name": test_run_input.stream_name(held["name"], f"{key}.name"),
        "sha256": digest(held["sha256"], f"{key}.sha256"),
    }
