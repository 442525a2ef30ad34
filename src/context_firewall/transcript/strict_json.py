"""JSON that a runner prints, read strictly: what another reader could read otherwise is no JSON here."""

import json
from typing import Any, NoReturn


class _NotStrict(ValueError):
    pass


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    known = dict(pairs)
    if len(known) != len(pairs):
        raise _NotStrict
    return known


def _no_constant(text: str) -> NoReturn:
    raise _NotStrict(text)


def strict_json(text: bytes) -> Any:
    """The value of a JSON text in UTF-8; None if it is none, repeats a key, has NaN or Infinity, or nests too deep."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def well_formed(text: str) -> str:
    """A name out of a JSON string: escapes may leave half a surrogate pair, which no document can hold."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
