"""JSON edited in place: what changes is what was asked for, and nothing beside it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall.cli.agents.json_text import Path, put, read_object, taken

# before, path, value, after
PUT = [
    ("{}", ("a",), 1, '{\n  "a": 1\n}'),
    ("{}\n", ("a", "b"), [1], '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'),
    ('{"a": 1}', ("b",), 2, '{"a": 1, "b": 2}'),
    ('{\n    "a": 1\n}', ("b",), {"c": 2}, '{\n    "a": 1,\n    "b": {\n        "c": 2\n    }\n}'),
    ('{\n\t"a": {}\n}', ("a", "b"), 2, '{\n\t"a": {\n\t\t"b": 2\n\t}\n}'),
    ('{\r\n  "a": 1\r\n}\r\n', ("b",), [], '{\r\n  "a": 1,\r\n  "b": []\r\n}\r\n'),
    ('{\n  "a": [\n    1\n  ]\n}', ("a", 1), 2, '{\n  "a": [\n    1,\n    2\n  ]\n}'),
    ('{\n  "a": [1]\n}', ("a", 1), {"b": "ü"}, '{\n  "a": [1, {"b": "ü"}]\n}'),
    ('{"a" : 1 , "x\\"]}" : "]}" }', ("b",), 2, '{"a" : 1 , "x\\"]}" : "]}", "b": 2 }'),
    ('{ "a": { } }', ("a", "b"), 1, '{ "a": {\n  "b": 1\n} }'),
]

# before, path, after
TAKEN = [
    ('{"a": 1}', ("a",), "{}"),
    ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
    ('{"a": 1, "b": 2}', ("b",), '{"a": 1}'),
    ('{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', ("b",), '{\n  "a": 1,\n  "c": 3\n}\n'),
    ('{"a": [1, 2, 3]}', ("a", 2), '{"a": [1, 2]}'),
    ('{"a": [{"b": [1]}]}', ("a", 0, "b", 0), '{"a": [{"b": []}]}'),
]

NO_OBJECT = ["", "[]", "1", "{", '{"a": 1,}', '{"a": 1} // why', '{"a": NaN}', '{"a": 1, "a": 2}', "\ufeff{}"]


@pytest.mark.parametrize(("before", "path", "value", "after"), PUT)
def test_a_value_is_put_in(before: str, path: Path, value: Any, after: str) -> None:
    assert put(before, path, value) == after
    json.loads(after)


@pytest.mark.parametrize(("before", "path", "after"), TAKEN)
def test_a_value_is_taken_out(before: str, path: Path, after: str) -> None:
    assert taken(before, path) == after


@pytest.mark.parametrize("text", NO_OBJECT)
def test_anything_but_a_plain_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_object(text)


@pytest.mark.parametrize("path", [("a",), ("a", "b"), ("a", 0), ("l", "b")])
def test_nothing_is_put_over_something_else(path: Path) -> None:
    with pytest.raises(ValueError, match=r"is taken|is no "):
        put('{"a": 1, "l": []}', path, 2)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=3)
LAYOUTS = st.sampled_from([None, 0, 1, 4, "\t"])


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(OBJECTS, LAYOUTS, VALUES)
def test_what_was_put_in_and_taken_out_leaves_the_text_as_it_was(
    before: dict[str, Any], layout: Any, value: Any
) -> None:
    text = json.dumps(before, indent=layout)
    changed = put(text, ("context", "a"), value) if "context" not in before else text
    assert read_object(changed) == {**before, "context": {"a": value}}
    assert taken(changed, ("context",)) == text
