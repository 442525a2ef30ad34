"""The linear subset of regular expressions: what it means, what it refuses, and what it costs."""

import contextlib
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall.transcript.linear_regex import MOST_STATES, LinearRegex, PatternError


@pytest.mark.parametrize(
    ("pattern", "covered", "not_covered"),
    [
        ("abc", ["abc"], ["", "ab", "abcd", "xabc"]),
        (r"\[debug\] .* took \d+ms", ["[debug] a took b took 12ms"], ["[debug] took 1ms", "[debug] a took ms"]),
        ("(a|aa)*b", ["b", "aaab"], ["aaa", "ba"]),
        ("a{2}b{1,3}c{2,}", ["aabcc", "aabbbcccc"], ["abcc", "aabbbbcc", "aabc"]),
        ("x(?:y|z)?", ["x", "xy", "xz"], ["xyz"]),
        ("[a-c_-]x", ["ax", "_x", "-x"], ["dx"]),
        ("[]x]y", ["]y", "xy"], ["y"]),
        ("[^]x]y", ["ay", "äy"], ["]y", "xy"]),
        ("[ä✓] .{2}", ["✓ éé", "ä ab"], ["✓ é", "ö ab", "✓ éab"]),
        (r"\x1f\t\.\ \-", ["\x1f\t. -"], ["\x1f\tx -"]),
        (r"\D\W\S\w\s", ["a-é9 "], ["1-é9 ", "aaé9 ", "a- 9 "]),
        ("a}]b", ["a}]b"], ["ab"]),
    ],
)
def test_meanings(pattern: str, covered: list[str], not_covered: list[str]) -> None:
    compiled = LinearRegex(pattern)
    assert [line for line in covered + not_covered if compiled.fullmatch(line.encode())] == covered


def test_malformed_bytes_are_no_character() -> None:
    assert not LinearRegex("a.*").fullmatch(b"a\xff")
    assert not LinearRegex("a.").fullmatch(b"a\xc3")
    assert not LinearRegex("[^b]").fullmatch(b"\x80")


@pytest.mark.parametrize(
    ("pattern", "reason", "position"),
    [
        ("", "empty", None),
        ("a**", "repeated", 2),
        ("a*?", "lazy", 2),
        ("a*+", "possessive", 2),
        ("a(?=b)", "lookaround", 2),
        ("(?<!a)b", "lookaround", 1),
        ("(?P<n>a)", "named group", 1),
        ("(?>a)", "atomic", 1),
        ("(?i)a", "flag", 1),
        (r"(a)\1", "back-reference", 4),
        (r"a\b", "outside", 2),
        (r"\xzz", "hexadecimal", 1),
        (r"\xe4", "ASCII", 1),
        ("a\\", "ends", 2),
        ("^a", "anchors", 1),
        ("a$", "anchors", 2),
        ("*a", "nothing before", 1),
        ("{3}", "nothing before", 1),
        ("a{", "no count", 2),
        ("a{,3}", "no count", 2),
        ("a{x}", "no count", 2),
        ("a{300}", "larger", 2),
        ("a{5,2}", "allows nothing", 2),
        ("a{0}", "allows nothing", 2),
        ("(a", "not closed", 1),
        ("a)", "closes nothing", 2),
        ("a(", "empty branch", 3),
        ("a|", "empty branch", 3),
        ("()", "empty branch", 2),
        ("[a", "not closed", 1),
        ("[b-a]", "backwards", 2),
        ("[ä-ö]", "ASCII", 2),
        (r"[a-\d]", "ASCII", 2),
        ("[[:alpha:]]", "inside a set", 2),
        ("[^ä]", "negated", 1),
        (r"[^\W\w]", "allows nothing", 1),
        ("a\nb", "newline", 2),
        ("a\ud800", "surrogate", 2),
        ("(" * 40 + "a" + ")" * 40, "nested", 31),
        ("a" * 1001, "more than 1000", None),
        ("(((a{255}){255}){255}){255}", "written out", None),
        (".*a.{15}", "states", None),
        ("a?", "empty line", None),
        ("(a*b?)*", "empty line", None),
        (".+", "every line", None),
        ("(?:[a-z]|[^a-z])+", "every line", None),
    ],
)
def test_refusals_say_what_and_where(pattern: str, reason: str, position: int | None) -> None:
    with pytest.raises(PatternError, match=re.escape(reason)) as caught:
        LinearRegex(pattern)
    found = re.match(r"character ([0-9]+): ", str(caught.value))
    assert (int(found[1]) if found else None) == position


ATOMS = st.sampled_from(["a", "b", "0", "é", ".", r"\d", r"\w", r"\s", r"\D", "[ab]", "[^a]", "[a-z0]", r"\.", "[é0]"])
COUNTS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("".join, st.lists(st.builds(str.__add__, inner, COUNTS), min_size=1, max_size=3)),
        st.builds("({}|{})".format, inner, inner),
        st.builds("(?:{})".format, inner),
    ),
    max_leaves=6,
)
LINES = st.lists(st.sampled_from(["a", "b", "0", "é", ".", " ", "✓", "z"]), max_size=8).map("".join)


@settings(max_examples=400, deadline=None)
@given(pattern=PATTERNS, lines=st.lists(LINES, max_size=12))
def test_it_means_what_it_means_in_python(pattern: str, lines: list[str]) -> None:
    try:
        python = re.compile(pattern, re.ASCII)
    except re.error:
        return  # two counts behind one another
    try:
        ours = LinearRegex(pattern)
    except PatternError:
        return
    for line in lines:
        assert ours.fullmatch(line.encode()) == (python.fullmatch(line) is not None)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a*)*b",
        "(a|a)*b",
        "(a|aa)+b",
        "a*a*a*a*a*b",
        "(.*a){3}b",
        ".*.*.*=.*",
        "(a?){50}a{50}b",
        r"(\w+\s?)*b",
        ".*a.{6}b",
    ],
)
def test_a_megabyte_takes_a_moment(pattern: str) -> None:
    compiled = LinearRegex(pattern)
    assert len(compiled._accepts) <= MOST_STATES
    started = time.thread_time()
    for line in (b"a" * 1_000_000, b"a " * 500_000, b"a=" * 500_000):
        compiled.fullmatch(line)
    assert time.thread_time() - started < 3


def test_the_largest_patterns_are_compiled_or_refused_in_a_moment() -> None:
    started = time.thread_time()
    for pattern in (
        ".{255}" * 3 + "x",
        "(?:a|b)*a(?:a|b){12}",
        "(?:" + "|".join("abcdefgh") * 60 + ")x",
        "[^x]{200}y" * 4,
    ):
        with contextlib.suppress(PatternError):
            LinearRegex(pattern)
    assert time.thread_time() - started < 5
