"""A JSON text edited in place: an entry put in or taken out, and every other byte as it was.

The text is JSON and an object, as `read_object` has found; a place in it is a path of keys and indexes from there. What
is put in is laid out as its neighbours are.
"""

import json
import re
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # what the decoder itself reads strings with
from typing import Any, NamedTuple

Path = Sequence[str | int]

SPACE = re.compile(r"[ \t\r\n]*+")
INDENT = re.compile(r"\n([ \t]++)\S")
DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    """A member of an object, or an item of a list: where it begins, where its value does, where it ends."""

    key: str | int
    start: int
    value: int
    end: int


def read_object(text: str) -> dict[str, Any]:
    """The object that a text is. Raises ValueError for anything else, and for a key that stands there twice."""
    value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    if not isinstance(value, dict):
        raise ValueError("it is no object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {json.dumps(key)} stands there twice")
        found[key] = value
    return found


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def put(text: str, path: Path, value: Any) -> str:
    """The text with a value at a path whose last key is new; objects on the way that are missing come with it.

    An index as the last key adds to the end of a list. Raises ValueError where something else stands on the way.
    """
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        if text[at] != ("{" if isinstance(key, str) else "["):
            raise ValueError(f"{dotted(path[:depth])} is no {'object' if isinstance(key, str) else 'list'}")
        found = _member(text, at, key)
        if found is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value} if isinstance(inner, str) else [value]
            return _inserted(text, at, key, value)
        at = found.value
    raise ValueError(f"{dotted(path)} is taken")


def taken(text: str, path: Path) -> str:
    """The text without what stands at a path, and without the comma that went with it."""
    at = _skip(text, 0)
    for key in path[:-1]:
        found = _member(text, at, key)
        if found is None:
            raise KeyError(dotted(path))
        at = found.value
    members, close = _members(text, at)
    place = next(index for index, member in enumerate(members) if member.key == path[-1])
    if len(members) == 1:
        return text[: at + 1] + text[close:]
    if place:
        return text[: members[place - 1].end] + text[members[place].end :]
    return text[: members[0].start] + text[members[1].start :]


def dotted(path: Path) -> str:
    """A path as a message names it."""
    return ".".join(map(str, path)) or "it"


def _inserted(text: str, at: int, key: str | int, value: Any) -> str:
    members, close = _members(text, at)
    break_ = "\r\n" if "\r\n" in text else "\n"
    unit = (INDENT.search(text) or ("", "  "))[1]
    name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    if members and "\n" not in text[at : members[0].start]:
        return f"{text[: members[-1].end]}, {name}{json.dumps(value, ensure_ascii=False)}{text[members[-1].end :]}"
    outer = _indent_of_line(text, at)
    inner = _indent_of_line(text, members[0].start) if members else outer + unit
    laid_out = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", break_ + inner)
    if members:
        return f"{text[: members[-1].end]},{break_}{inner}{name}{laid_out}{text[members[-1].end :]}"
    return f"{text[: at + 1]}{break_}{inner}{name}{laid_out}{break_}{outer}{text[close:]}"


def _indent_of_line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _member(text: str, at: int, key: str | int) -> _Member | None:
    return next((member for member in _members(text, at)[0] if member.key == key), None)


def _members(text: str, at: int) -> tuple[list[_Member], int]:
    """What the object or list that begins at a place holds, and the place of its closing bracket."""
    named = text[at] == "{"
    members: list[_Member] = []
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        start = value = at
        key: str | int = len(members)
        if named:
            key, after = scanstring(text, at + 1)
            value = _skip(text, _skip(text, after) + 1)
        end = DECODER.raw_decode(text, value)[1]
        members.append(_Member(key, start, value, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return members, at


def _skip(text: str, at: int) -> int:
    space = SPACE.match(text, at)
    return space.end() if space else at
