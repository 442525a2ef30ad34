"""What verification says, and how it reads a document that it must not trust.

A finding names a place (a dotted path from the document's root, list items by their index; "" is the document itself)
and says in one sentence what does not hold there. Values that are quoted come from the document, so they are escaped
and cut short: a finding is one printable line whatever was found.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypedDict

from context_firewall.canonical import canonical_bytes
from context_firewall.documents.test_run_input import LARGEST_INTEGER
from context_firewall.errors import InvalidInput

_QUOTED = 60
"""How much of a value a finding quotes, in characters."""

_DEEPEST = 100
"""Containers within containers; no document of ours comes near it."""


class Finding(TypedDict):
    """One thing that does not hold: where, and what."""

    field: str
    problem: str


class Findings:
    """Collects findings in the order in which they are made; the same one is made once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], None] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, field: str, problem: str) -> None:
        """Something does not hold."""
        self._found[printable(field), problem] = None

    def expect(self, field: str, actual: object, expected: object, why: str) -> None:
        """A value that follows from others, whose `why` completes the sentence "is X; Y …"."""
        if not same(actual, expected):
            self.add(field, f"is {quoted(actual)}; {quoted(expected)} {why}")

    def agree(self, what: str, witnesses: Iterable[tuple[str, int]]) -> None:
        """Numbers that must be one, each at its place: those that most others contradict are named, or else all."""
        said = list(witnesses)
        votes: dict[int, int] = {}
        for _, number in said:
            votes[number] = votes.get(number, 0) + 1
        if len(votes) < 2:
            return
        most = max(votes.values())
        leaders = [number for number, count in votes.items() if count == most]
        trusted = leaders[0] if len(leaders) == 1 and most > 1 else None
        for field, number in said:
            if number != trusted:
                others = ", ".join(f"{other} ({place})" for place, other in said if other != number)
                self.add(field, f"gives {what} as {number}; elsewhere it is {others}")

    def as_list(self) -> list[Finding]:
        """All findings."""
        return [{"field": field, "problem": problem} for field, problem in self._found]


def at(path: str, key: str | int) -> str:
    """The path of what a container at `path` holds under `key`."""
    return f"{path}.{key}" if path else str(key)


def printable(text: str) -> str:
    """The text with whatever does not print as an escape."""
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def quoted(value: object) -> str:
    """A value as JSON, in printable ASCII and not too long."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, str) and len(value) > 2 * _QUOTED:
        value = value[: 2 * _QUOTED]
    text = json.dumps(value, default=lambda other: type(other).__name__)
    return text if len(text) <= _QUOTED + 20 else text[:_QUOTED] + "…"


def same(one: object, other: object) -> bool:
    """Equal as JSON has it: `true` is not 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


@dataclass(frozen=True, slots=True)
class Read:
    """A document as it was handed over: the value, and the bytes if it came as bytes or text."""

    value: Any
    raw: bytes | None


def read_document(document: Mapping[str, Any] | str | bytes, name: str) -> Read:
    """JSON text or bytes as a value; a mapping as it is.

    Raises InvalidInput, whose details name the offset of the offending byte, when it is no JSON at all.
    """
    if isinstance(document, Mapping):
        return Read(document, None)
    if isinstance(document, str):
        try:
            raw = document.encode()
        except UnicodeEncodeError as error:
            place = len(document[: error.start].encode())
            raise InvalidInput(f"{name} holds a lone surrogate at offset {place}", key="", offset=place) from None
    elif isinstance(document, bytes):
        raw = document
    else:
        raise InvalidInput(f"{name} must be an object, JSON text, or bytes", key="")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        place = error.start
        raise InvalidInput(f"{name} is not UTF-8 at offset {place}", key="", offset=place) from None
    try:
        value = json.loads(text, parse_int=_integer, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        place = len(text[: error.pos].encode())
        raise InvalidInput(f"{name} is not JSON at offset {place}: {error.msg}", key="", offset=place) from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} is not JSON: {error}", key="", offset=0) from None
    return Read(value, raw)


def _integer(digits: str) -> int | float:
    """A whole number; one that not every reader holds exactly is a double, as canonical JSON writes doubles."""
    if len(digits) <= 17 and abs(int(digits)) <= LARGEST_INTEGER:
        return int(digits)
    return float(digits)


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def check_canonical(findings: Findings, read: Read, name: str) -> bytes | None:
    """The bytes must be canonical JSON and one newline. A key given twice, or a number written otherwise, is not.

    Returns the canonical bytes, or None where there are none. Raises InvalidInput for a document nested too deeply.
    """
    if _deeper_than(read.value, _DEEPEST):
        raise InvalidInput(f"{name} is nested more than {_DEEPEST} deep", key="", offset=0)
    try:
        canonical = canonical_bytes(read.value) + b"\n"
    except (ValueError, TypeError) as error:
        findings.add("", f"has no canonical form: {printable(str(error))}")
        return None
    if read.raw is not None and read.raw != canonical:
        place = first_difference(read.raw, canonical)
        problem = f"is not canonical JSON: the first byte that differs is at offset {place}"
        findings.add(path_at(read.value, place), problem)
    return canonical


def path_at(value: Any, offset: int) -> str:
    """The path of the innermost value in whose canonical bytes the offset lies, from its key to what follows it."""
    path, begin = "", 0
    while True:
        begin += 1  # its bracket
        for key, member in _members(value):
            start = begin + (len(canonical_bytes(key)) + 1 if isinstance(key, str) else 0)
            end = start + len(canonical_bytes(member))
            if begin <= offset <= end:
                break
            begin = end + 1
        else:
            return path
        path = at(path, key)
        if offset <= start:
            return path
        value, begin = member, start


def _members(value: Any) -> list[tuple[str | int, Any]]:
    """What a container holds, in canonical order; a value that is none holds nothing."""
    if isinstance(value, Mapping):
        return sorted(value.items(), key=lambda item: canonical_order(item[0]))
    return list(enumerate(value)) if isinstance(value, list | tuple) else []


def canonical_order(key: object) -> bytes:
    """What keys are sorted by in canonical JSON."""
    return str(key).encode("utf-16-be", "surrogatepass")


def _deeper_than(value: object, limit: int) -> bool:
    """Whether containers stand more than `limit` deep; level by level, because recursion would end too early."""
    level: list[object] = [value]
    for _ in range(limit + 1):
        level = [
            item
            for held in level
            if isinstance(held, dict | list | tuple | Mapping)
            for item in (held if isinstance(held, list | tuple) else held.values())
        ]
        if not level:
            return False
    return any(isinstance(held, Mapping | list | tuple) for held in level)


def first_difference(one: bytes, other: bytes) -> int:
    """The offset of the first byte in which two byte strings differ; the shorter one's length if it is a beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # halves of what is still equal, compared by the interpreter
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def differences(actual: object, expected: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Where two JSON-shaped values differ, in the order of canonical JSON: the path, and the difference in words."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        for key in sorted({*actual, *expected}, key=canonical_order):
            place = at(path, key)
            if key not in expected:
                yield place, "should not be there"
            elif key not in actual:
                yield place, "is missing"
            else:
                yield from differences(actual[key], expected[key], place)
    elif isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        for index, (one, other) in enumerate(zip(actual, expected, strict=False)):
            yield from differences(one, other, at(path, index))
        if len(actual) != len(expected):
            yield path, f"has {len(actual)} items; it should have {len(expected)}"
    elif not same(actual, expected):
        yield path, f"is {quoted(actual)}; it should be {quoted(expected)}"
