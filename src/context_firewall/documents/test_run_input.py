"""`opsle.context-firewall.test-run-input/v1`: the envelope in which a finished test run is handed over.

Parsing is strict wherever leniency could hide something: a shape that the protocol does not allow is `InvalidInput`,
and its `details["key"]` names the place as a dotted path (`streams.0.data`). Absent, null or empty identities are not
errors; they become None, and the verdict says so. Keys that the protocol does not know are ignored.
"""

import binascii
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NotRequired, TypedDict

from context_firewall.errors import InvalidInput

PROTOCOL = "opsle.context-firewall.test-run-input/v1"

STREAM_NAMES = ("stdout", "stderr")
"""The streams of a process, in the order in which they are read and hashed."""

LARGEST_INTEGER = 2**53 - 1
"""Beyond it a JSON number means different things to different readers."""

DEEPEST_NESTING = 100
"""Containers within containers, the document itself included."""

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+")


class SourceKeys(TypedDict):
    """Where the run came from."""

    id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    raw_evidence_ref: NotRequired[str | None]


class ProcessKeys(TypedDict):
    """How the process ended. `duration_ms` is in milliseconds."""

    exit_code: NotRequired[int | None]
    duration_ms: NotRequired[float | None]
    interrupted: NotRequired[bool]
    timed_out: NotRequired[bool]


class StreamKeys(TypedDict):
    """What one stream printed; `encoding` is `utf8` (default) or `base64`."""

    name: str
    encoding: NotRequired[str]
    data: str


class InvocationKeys(TypedDict):
    """The envelope as JSON."""

    protocol_version: str
    operation_id: NotRequired[str | None]
    source: NotRequired[SourceKeys | None]
    process: ProcessKeys
    streams: Sequence[StreamKeys]


class Process(NamedTuple):
    """How the process ended: exit code 0..255, duration in milliseconds, None where unknown."""

    exit_code: int | None
    duration_ms: int | float | None
    interrupted: bool
    timed_out: bool
    """Whether it was interrupted because its time was up."""


class Stream(NamedTuple):
    """The exact bytes of one stream."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class TestRunInput:
    """A parsed envelope; standard output comes before standard error whatever the order given."""

    __test__ = False  # the name starts with what pytest collects

    operation_id: str | None
    source_id: str | None
    run_id: str | None
    raw_evidence_ref: str | None
    process: Process
    streams: tuple[Stream, ...]


def parse_test_run_input(envelope: Mapping[str, Any] | str | bytes) -> TestRunInput:
    """Read an envelope: JSON text, its UTF-8 bytes, or a mapping that was parsed already.

    Raises InvalidInput when it does not have the protocol's shape.
    """
    document = _parsed(envelope) if isinstance(envelope, str | bytes) else envelope
    if not isinstance(document, Mapping):
        raise InvalidInput("the envelope must be a JSON object", key="")
    _refuse_ambiguous(document)
    if document.get("protocol_version") != PROTOCOL:
        raise InvalidInput(f"protocol_version must be {PROTOCOL}", key="protocol_version")
    source = document.get("source")
    if source is None:
        source = {}
    elif not isinstance(source, Mapping):
        raise InvalidInput("source must be an object", key="source")
    return TestRunInput(
        operation_id=identity(document.get("operation_id"), "operation_id"),
        source_id=identity(source.get("id"), "source.id"),
        run_id=identity(source.get("run_id"), "source.run_id"),
        raw_evidence_ref=identity(source.get("raw_evidence_ref"), "source.raw_evidence_ref"),
        process=_process(document.get("process")),
        streams=_streams(document.get("streams")),
    )


def identity(value: object, key: str) -> str | None:
    """A name as given; None for an absent or empty one. Raises InvalidInput for anything but text."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"{key} must be a string", key=key)
    return _sound_text(value, key)


def exit_code(value: object, key: str) -> int | None:
    """An exit code 0..255, or None. Raises InvalidInput for anything else."""
    if value is None:
        return None
    number = whole_number(value, key)
    if not 0 <= number <= 255:
        raise InvalidInput(f"{key} must be an integer from 0 to 255, or null", key=key)
    return number


def duration_ms(value: object, key: str) -> int | float | None:
    """A finite duration of zero or more milliseconds, or None. Raises InvalidInput for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise InvalidInput(f"{key} must be a finite number of zero or more, or null", key=key)
    if isinstance(value, int) and value > LARGEST_INTEGER:
        raise InvalidInput(f"{key} is an integer beyond 2^53-1", key=key)
    return value


def whole_number(value: object, key: str) -> int:
    """An integer as JSON has it: 1.0 is one, true is not. Raises InvalidInput for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{key} must be an integer", key=key)
    if abs(value) > LARGEST_INTEGER:
        raise InvalidInput(f"{key} is an integer beyond 2^53-1", key=key)
    return value


def flag(value: object, key: str) -> bool:
    """True or false. Raises InvalidInput for anything else."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{key} must be true or false", key=key)
    return value


def stream_name(value: object, key: str) -> str:
    """`stdout` or `stderr`. Raises InvalidInput for anything else."""
    if not isinstance(value, str) or value not in STREAM_NAMES:
        raise InvalidInput(f"{key} must be stdout or stderr", key=key)
    return value


def _process(value: object) -> Process:
    if not isinstance(value, Mapping):
        raise InvalidInput("process must be an object", key="process")
    timed_out = flag(value.get("timed_out", False), "process.timed_out")
    return Process(
        exit_code=exit_code(value.get("exit_code"), "process.exit_code"),
        duration_ms=duration_ms(value.get("duration_ms"), "process.duration_ms"),
        interrupted=flag(value.get("interrupted", False), "process.interrupted") or timed_out,
        timed_out=timed_out,
    )


def _streams(value: object) -> tuple[Stream, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence) or not 1 <= len(value) <= len(STREAM_NAMES):
        raise InvalidInput("streams must be an array of one or two streams", key="streams")
    found: dict[str, Stream] = {}
    for index, entry in enumerate(value):
        key = f"streams.{index}"
        if not isinstance(entry, Mapping):
            raise InvalidInput(f"{key} must be an object", key=key)
        name = stream_name(entry.get("name"), f"{key}.name")
        if name in found:
            raise InvalidInput(f"{name} is given twice", key=f"{key}.name")
        found[name] = Stream(name, _stream_bytes(entry, key))
    return tuple(found[name] for name in STREAM_NAMES if name in found)


def _stream_bytes(entry: Mapping[str, Any], key: str) -> bytes:
    data = entry.get("data")
    if not isinstance(data, str):
        raise InvalidInput(f"{key}.data must be a string", key=f"{key}.data")
    encoding = entry.get("encoding", "utf8")
    if encoding == "utf8":
        return _sound_text(data, f"{key}.data").encode()
    if encoding != "base64":
        raise InvalidInput(f"{key}.encoding must be utf8 or base64", key=f"{key}.encoding")
    if _BASE64.fullmatch(data) is None:
        raise InvalidInput(f"{key}.data is not base64 with its padding", key=f"{key}.data")
    return binascii.a2b_base64(data)


def _sound_text(value: str, key: str) -> str:
    """The text itself, if UTF-8 can hold it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{key} holds a lone surrogate", key=key) from None
    return value


class _Repeated(dict[str, Any]):
    """An object in which a key stood twice; which of the two counts would be anyone's guess."""

    repeated = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    marked = _Repeated(found)
    marked.repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return marked


def _integer(digits: str) -> int:
    """Reads no more digits than it takes to see that a number is too large."""
    return int(digits) if len(digits) <= 20 else 2**64


def _parsed(text: str | bytes) -> object:
    """JSON text as Python values; ambiguities are left in place for `_refuse_ambiguous` to name."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"the envelope is not UTF-8: bad byte at offset {error.start}", key="") from None
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except RecursionError:
        raise InvalidInput("the envelope is nested too deeply", key="") from None
    except ValueError as error:
        raise InvalidInput(f"the envelope is not JSON: {error}", key="") from None


def _refuse_ambiguous(document: Mapping[str, Any]) -> None:
    """Refuse what two readers could read differently, wherever in the document it stands."""
    waiting: list[tuple[str, object, int]] = [("", document, 1)]
    while waiting:
        path, value, depth = waiting.pop()
        if isinstance(value, str):
            if not value.isascii():
                _sound_text(value, path)
        elif isinstance(value, bool):
            continue
        elif isinstance(value, int):
            if abs(value) > LARGEST_INTEGER:
                raise InvalidInput(f"{path} is an integer beyond 2^53-1", key=path)
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise InvalidInput(f"{path} is not a finite number", key=path)
        elif isinstance(value, Mapping | list | tuple):
            if depth > DEEPEST_NESTING:
                raise InvalidInput(f"nested more than {DEEPEST_NESTING} deep", key=path)
            waiting.extend((inner, item, depth + 1) for inner, item in _items(path, value))


def _items(path: str, value: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> list[tuple[str, object]]:
    """The values inside a container, with their paths."""
    prefix = f"{path}." if path else ""
    if not isinstance(value, Mapping):
        return [(f"{prefix}{index}", item) for index, item in enumerate(value)]
    if isinstance(value, _Repeated):
        raise InvalidInput(f"{prefix}{value.repeated} is given twice", key=f"{prefix}{value.repeated}")
    for key in value:
        if not isinstance(key, str):
            raise InvalidInput(f"a key of {path or 'the envelope'} is not a string", key=path)
        if not key.isascii():
            try:
                key.encode()
            except UnicodeEncodeError:
                raise InvalidInput(f"a key of {path or 'the envelope'} holds a lone surrogate", key=path) from None
    return [(f"{prefix}{key}", item) for key, item in value.items()]
