"""JSON, as runners print it for other programs: a line, or a document."""

import json


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    known = dict(pairs)
    if len(known) != len(pairs):
        raise ValueError("a repeated key")
    return known


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def json_value(text: bytes) -> object:
    """The value that a text is: strict JSON in UTF-8, without a repeated key or NaN; None if it is none."""
    try:
        value: object = json.loads(text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value


def json_object(text: bytes) -> dict[str, object] | None:
    """The same of an object; None if it is none."""
    value = json_value(text)
    return value if isinstance(value, dict) else None


def well_formed(text: str) -> str:
    """A name out of a JSON string: escapes may leave half a surrogate pair, which no document can hold."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
