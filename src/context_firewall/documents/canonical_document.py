"""Reading a document of our own back: its canonical bytes, its protocol string, its exact keys.

Whoever keeps such a document knows its digest, so it is read strictly: bytes that are not the canonical form, a key
too many or one too few are InvalidInput, whose `key` names the place.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from context_firewall.canonical import canonical_bytes
from context_firewall.errors import InvalidInput


def parse_canonical(data: bytes, name: str) -> Any:
    """The value of canonical JSON with one final newline; `name` is what errors call the document."""
    try:
        value = json.loads(data, parse_constant=_not_json)
        canonical = canonical_bytes(value) + b"\n"
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(f"{name} is not canonical JSON: {problem}", key="") from None
    if canonical != data:
        raise InvalidInput(f"{name} is not canonical JSON", key="")
    return value


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def members(value: object, key: str, names: Iterable[str], optional: Iterable[str] = ()) -> Mapping[str, Any]:
    """An object with these keys, perhaps the optional ones, and no others."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{key or 'the document'} must be an object", key=key)
    needed = set(names)
    for name in sorted(needed - set(value)):
        raise InvalidInput(f"{_below(key, name)} is missing", key=_below(key, name))
    for name in sorted(set(value) - needed - set(optional)):
        raise InvalidInput(f"{_below(key, name)} is an unknown key", key=_below(key, name))
    return value


def items(value: object, key: str) -> Sequence[Any]:
    """An array."""
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{key} must be an array", key=key)
    return value


def text(value: object, key: str) -> str:
    """A string that UTF-8 can hold."""
    if not isinstance(value, str):
        raise InvalidInput(f"{key} must be a string", key=key)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{key} holds a lone surrogate", key=key) from None
    return value


def _below(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
