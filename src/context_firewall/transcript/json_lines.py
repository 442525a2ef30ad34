"""Lines that are JSON objects, as runners print them for other programs."""

import json


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    known = dict(pairs)
    if len(known) != len(pairs):
        raise ValueError("a repeated key")
    return known


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def json_object(text: bytes) -> dict[str, object] | None:
    """The object that a text is: strict JSON in UTF-8, without a repeated key or NaN; None if it is none."""
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
