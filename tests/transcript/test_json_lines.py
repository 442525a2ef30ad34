"""What counts as a JSON object on a line."""

import pytest

from context_firewall.transcript.json_lines import json_object, json_value, well_formed


def test_an_object() -> None:
    assert json_object('{"a": ["é", 1], "b": {}}'.encode()) == {"a": ["é", 1], "b": {}}


@pytest.mark.parametrize(
    "text",
    [
        b"[]", b'"{}"', b"{", b"{} {}", b'{"a": 1, "a": 2}', b'{"x": {"a": 1, "a": 2}}', b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": "\xff"}', '{"a": 1}'.encode("utf-16-le"), b'{"a": ' * 100_000, b'{"a": "\t"}', b"",
    ],
)  # fmt: skip
def test_no_object(text: bytes) -> None:
    assert json_object(text) is None


def test_a_value_need_not_be_an_object() -> None:
    assert json_value(b'["start", {"total": 1}]') == ["start", {"total": 1}]
    assert json_object(b"[1]") is None


@pytest.mark.parametrize(
    ("text", "shown"), [("a\ud800b", "a\ufffdb"), ("\udc00", "\ufffd"), ("\U0001f6d2", "\U0001f6d2")]
)
def test_half_surrogate_pairs_are_replaced(text: str, shown: str) -> None:
    assert well_formed(text) == shown
