"""Numbers with their units, however they are written."""

import pytest

from context_firewall.guard.folding import fold
from context_firewall.guard.lexicon import NAMES, lexicon
from context_firewall.guard.tokens import Sort, tokens


def keys(text: str, language: str = "english") -> list[tuple[Sort, str]]:
    """The anchors and quantities of a text."""
    folded = fold(text)
    found = tokens(folded, 0, len(folded.text), language)
    return [(token.sort, token.key) for token in found if token.sort in (Sort.ANCHOR, Sort.QUANTITY)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30s", "30 seconds"),
        ("30 seconds", "thirty seconds"),
        ("1.5 s", "1500 ms"),
        ("2 minutes", "120 s"),
        ("1,000", "1000"),
        ("two hundred", "200"),
        ("twenty-five", "25"),
        ("one hundred seconds", "100 s"),
        ("a minute", "60 seconds"),
        ("one hour", "60 minutes"),
        ("three thousand two hundred", "3200"),
        ("３０", "30"),
        ("$500", "500 USD"),
        ("$2k", "2000 dollars"),
        ("25MB", "25 mb"),
        ("85%", "85 percent"),
        ("half a second", "500 ms"),
        ("half an hour", "30 minutes"),
        ("an hour and a half", "90 minutes"),
        ("a quarter of an hour", "15 minutes"),
        ("one and a half days", "36 hours"),
        ("4 pm", "16:00"),
        ("12 am", "00:00"),
        ("4:30 p.m.", "16:30"),
        ("twice", "2"),
        ("a dozen", "12"),
        ("a 30-second timeout", "a timeout of 30 s"),
    ],
)
def test_these_are_the_same(one: str, other: str) -> None:
    (first,), (second,) = keys(one), keys(other)
    assert first == second
    assert first[0] is Sort.QUANTITY


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 seconds", "30 minutes"),
        ("half a second", "half a minute"),
        ("4 am", "4 pm"),
        ("12 am", "12 pm"),
        ("16:00", "16:30"),
        ("16:00", "1600"),
        ("30", "300"),
        ("3.1", "3.10"),
        ("$500", "€500"),
        ("25 MB", "25 KB"),
        ("v1.2", "v1.3"),
        ("src/a", "src/ab"),
        ("--verify", "--no-verify"),
        ("a.py", "b.py"),
        ("vendor/", "vendor/cache/"),
        ("2031-02-03", "2031-02-04"),
    ],
)
def test_these_are_not(one: str, other: str) -> None:
    assert keys(one) != keys(other)
    assert keys(one)
    assert keys(other)


@pytest.mark.parametrize(
    ("one", "other"), [("三十秒", "30 秒"), ("两分钟", "120秒"), ("三次", "3 次"), ("一百二十行", "120 行")]
)
def test_chinese_numbers_are_read(one: str, other: str) -> None:
    assert keys(one, "chinese") == keys(other, "chinese")
    assert keys(one, "chinese")


@pytest.mark.parametrize(
    ("one", "other"), [("vendor/", "vendor/**"), ("./src/a.py", "src/a.py"), ("`a_b()`", "a_b"), ("`-rf`", "-rf")]
)
def test_names_of_the_same_thing_are_the_same(one: str, other: str) -> None:
    assert [key for _, key in keys(one)] == [key for _, key in keys(other)]


@pytest.mark.parametrize("language", NAMES)
def test_every_phrase_of_a_table_is_read_as_its_operator(language: str) -> None:
    known = lexicon(language)
    for phrase, op in known.operators.items():
        folded = fold(phrase)
        assert folded.text == phrase
        found = [token for token in tokens(folded, 0, len(phrase), language) if token.sort is not Sort.POINT]
        assert [(token.text, token.op) for token in found] == [(phrase, op)], phrase
