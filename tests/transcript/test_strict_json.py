"""JSON that is read strictly."""

import pytest

from context_firewall.transcript.strict_json import strict_json, well_formed


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b'{"a":1,"a":1}', b'{"a":NaN}', b"[Infinity]", b"[" * 200_000, b'"\xff"', b"1 2", b"9" * 10_000],
)
def test_what_is_none(text: bytes) -> None:
    assert strict_json(text) is None


def test_what_is_some() -> None:
    assert strict_json(b'{"a":{"a":[1,null]}}') == {"a": {"a": [1, None]}}


@pytest.mark.parametrize(
    ("text", "shown"), [("a\ud800b", "a\ufffdb"), ("\udc00", "\ufffd"), ("\U0001f6d2", "\U0001f6d2")]
)
def test_half_surrogate_pairs_are_replaced(text: str, shown: str) -> None:
    assert well_formed(text) == shown
