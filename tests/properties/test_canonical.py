"""Canonical bytes are those of RFC 8785's reference in Python, however a value is taken apart to be written."""

from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall.canonical import SAFE_INTEGER, canonical_bytes, canonical_pieces

NUMBERS = st.integers(-SAFE_INTEGER, SAFE_INTEGER) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(VALUES)
def test_any_value(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(VALUES, st.integers(0, 2500), st.sampled_from([0, 1, 999, 1000, 1001, 2500]))
def test_a_long_array_in_pieces(value: Any, place: int, length: int) -> None:
    array: list[Any] = [{"line": n, "text": "ok"} for n in range(length)]
    array.insert(place, value)
    document: Any = {"z": {"b": array, "a": 1.0}, "y": []}
    assert b"".join(canonical_pieces(document)) == rfc8785.dumps(document)


@pytest.mark.parametrize("value", [{"a": "\ud800"}, {1: 2}, [1 << 60], {"a": [float("nan")]}])
def test_what_json_cannot_say(value: Any) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_bytes(value)
