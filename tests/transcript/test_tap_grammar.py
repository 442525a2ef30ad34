"""The forms of single TAP lines."""

import pytest

from context_firewall.transcript.dialects import tap_grammar as grammar
from context_firewall.transcript.dialects.tap_grammar import described, first_hash, unescaped

POINTS: list[tuple[str, tuple[bool, str | None, str | None] | None]] = [
    ("ok", (True, None, None)),
    ("not ok", (False, None, None)),
    ("ok 1", (True, "1", None)),
    ("ok 1 - tea", (True, "1", "tea")),
    ("ok 1 tea", (True, "1", "tea")),
    ("ok - tea", (True, None, "tea")),
    ("ok tea", (True, None, "tea")),
    ("not ok 12 - tea # SKIP cold", (False, "12", "tea # SKIP cold")),
    ("ok 1x", (True, None, "1x")),
    ("ok 1 -tea", (True, "1", "-tea")),
    ("okay", None),
    ("ok1", None),
    ("ok: tea", None),
    ("Ok 1", None),
    ("NOT OK 1", None),
    ("not  ok 1", None),
    ("notok 1", None),
    (" ok 1", None),
]


@pytest.mark.parametrize(("text", "parts"), POINTS)
def test_points(text: str, parts: tuple[bool, str | None, str | None] | None) -> None:
    """TAP-1."""
    found = grammar.POINT.fullmatch(text.encode())
    if parts is None:
        assert found is None
        return
    assert found is not None
    refusal, number, rest = found.groups()
    assert (refusal is None, number and number.decode(), (rest or b"").decode() or None) == parts


@pytest.mark.parametrize("text", ["1..5", "1..0", "1..0 # SKIP no tea", "1..3 # three", "01..03", "1..3  "])
def test_plans(text: str) -> None:
    assert grammar.PLAN.fullmatch(text.encode())


@pytest.mark.parametrize(
    "text", ["1...5", "1..", "..5", "1..5 tea", "-1..5", "1..5..6", "1 .. 5", "1..1000000000000000000"]
)
def test_what_is_no_plan(text: str) -> None:
    assert not grammar.PLAN.fullmatch(text.encode())


@pytest.mark.parametrize(
    ("text", "name", "directive", "exact"),
    [
        ("tea", "tea", "", False),
        ("tea # SKIP cold", "tea", "skip", True),
        ("tea # skip", "tea", "skip", True),
        ("tea # ToDo pour", "tea", "todo", True),
        ("# SKIP", "", "skip", True),
        ("tea # SKIPPED: cold", "tea", "skip", False),
        ("tea # TODO: pour", "tea", "todo", False),
        ("tea #skip", "tea", "skip", False),
        ("tea#skip", "tea#skip", "", False),
        ("http://h/p#skip it", "http://h/p#skip it", "", False),
        ("tea \\# SKIP", "tea # SKIP", "", False),
        ("tea \\\\# SKIP", "tea \\", "skip", True),
        ("tea \\\\\\# SKIP", "tea \\# SKIP", "", False),
        ("tea # milk # TODO", "tea # milk # TODO", "", False),
        ("tea # a skip", "tea # a skip", "", False),
        ("c:\\new", "c:\\new", "", False),
        ("tea # \u017fkip", "tea # \u017fkip", "", False),
    ],
)
def test_descriptions(text: str, name: str, directive: str, exact: bool) -> None:
    """TAP-2, TAP-3."""
    found = described(text.encode())
    assert (found.name.decode(), found.directive, found.exact) == (name, directive, exact)


def test_an_unescaped_sign_before_a_directive_hides_nothing_on_ok() -> None:
    found = described(b"tea # milk # TODO", ok=True)
    assert (found.name, found.directive) == (b"tea # milk", "todo")


@pytest.mark.parametrize(
    ("text", "at"),
    [("", -1), ("a", -1), ("#", 0), ("a #", 2), ("a#", -1), ("\\#", -1), ("a \\\\#", 4), ("a# #", 3), ("a\t#", 2)],
)
def test_the_first_sign(text: str, at: int) -> None:
    assert first_hash(text.encode()) == at


@pytest.mark.parametrize(
    ("written", "meant"),
    [("\\#", "#"), ("\\\\", "\\"), ("\\\\#", "\\#"), ("\\\\\\#", "\\#"), ("\\n", "\\n"), ("\\", "\\")],
)
def test_escapes_are_undone_in_pairs(written: str, meant: str) -> None:
    assert unescaped(written.encode()) == meant.encode()


@pytest.mark.parametrize(
    ("text", "timed", "buffered"),
    [
        ("tea # time=3ms", True, False),
        ("tea # time=3.5ms {", True, True),
        ("tea {", False, True),
        ("tea", False, False),
    ],
)
def test_durations_and_braces(text: str, timed: bool, buffered: bool) -> None:
    found = described(text.encode())
    assert (found.timed, found.buffered, found.name) == (timed, buffered, b"tea")


@pytest.mark.parametrize("text", ["Bail out!", "bail OUT! now", "Bail out! "])
def test_bail_outs(text: str) -> None:
    """TAP-14."""
    assert grammar.BAIL_OUT.fullmatch(text.encode())


@pytest.mark.parametrize(
    "text", ["TAP version", "TAP Version 13", "TAP version 13a", "tap version 13", "TAP version -1"]
)
def test_what_is_no_version(text: str) -> None:
    assert not grammar.VERSION.fullmatch(text.encode())
