"""Folded text to tokens: operators, words, anchors, quantities, persons, points.

An anchor is compared exactly: a path, a flag, an identifier, a version, whatever stands in a code span. A word is
compared by its stem, or by the class of words that means the same. One scan with one pattern a language; every
alternative is linear.
"""

import re
from bisect import bisect_left
from enum import Enum
from functools import cache, lru_cache
from itertools import takewhile
from typing import NamedTuple

from context_firewall.guard import quantities
from context_firewall.guard.folding import Folded
from context_firewall.guard.lexicon import Op, lexicon


class Sort(Enum):
    """What a token is."""

    OPERATOR = "operator"
    WORD = "word"
    ANCHOR = "anchor"
    QUANTITY = "quantity"
    POINT = "point"


class Token(NamedTuple):
    """`key` is what is compared; `start` and `end` are places in the folded text."""

    sort: Sort
    key: str
    text: str
    op: Op | None
    start: int
    end: int


# Patterns in the order in which they are tried. Folded text has no capitals.
_NAME = r"[\w.@*+~{}-]{1,120}+"
# Each is bounded: a longer one is read as words and points, and no text is walked through twice.
_ANCHORS = (
    r"[a-z][a-z0-9+.-]{1,15}+://[^\s\"<>,;]{1,300}+",
    r"[\w.+-]{1,64}+@[\w-]{1,64}+(?:\.[\w-]{1,64}+){1,6}+",
    rf"(?:\.{{1,2}}|~|\$\w{{1,40}}+)?+(?:/{_NAME}){{1,40}}+/?+",  # /abs/path, ./path, $home/x
    rf"{_NAME}(?:/{_NAME}){{1,40}}+/?+",  # a/b
    r"[\w.@+~-]{1,120}+/(?![\w/])",  # vendor/
    r"--?[a-z][\w-]{0,60}+(?:=[^\s,;\"]{1,120}+)?+",  # a flag, after something that is no word
    r"\.[a-z][\w.-]{0,60}+",  # .env
    r"\*\.[a-z0-9]{1,8}+",  # *.py
    r"v?[0-9]{1,12}+(?:\.[0-9]{1,12}+){1,8}+(?:[a-z-][\w.]{0,20}+)?+\+?+|v[0-9]{1,12}+(?![\w])",  # a version
    r"[a-z][\w-]{0,60}+(?:\.[a-z][a-z0-9_-]{0,60}+){1,8}+(?:\(\))?+",  # a.py, module.name
    r"@[a-z][\w/-]{0,60}+",
    r"#[0-9]{1,12}+",
    r"[a-z0-9]{1,60}+(?:_[a-z0-9]{1,60}+){1,12}+(?:\(\))?+|_{1,2}+[a-z0-9_]{1,60}+",  # snake_case
    r"[a-z]{1,20}+[0-9][a-z0-9]{0,60}+|[0-9]{1,20}+[a-z][0-9a-z]{0,60}+",  # p95, 3d
)
_LETTER = r"[^\W\d_]"
_CLOSED_SCRIPT = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af々〇]"
_POINT = r"[.,;:!?。()\[\]{}\"|>=<-]|…"


def _alternatives(phrases: list[str]) -> str:
    return "|".join(
        re.escape(phrase).replace(r"\ ", " ") for phrase in sorted(phrases, key=lambda one: (-len(one), one))
    )


@cache
def _scanner(language: str) -> re.Pattern[str]:
    """The one pattern of a language. A phrase of a language without spaces may stand inside a run of letters."""
    known = lexicon(language)
    plain = [phrase for phrase in {**known.operators, **known.aliases} if phrase.isascii() or known.spaced]
    inside = [phrase for phrase in known.operators if phrase not in set(plain)]
    parts = [
        r"(?P<date>(?<![\w-])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![\w-]))",
        rf"(?P<quantity>(?<![a-z0-9_./-])(?:{quantities.PATTERN}))",
        rf"(?P<anchor>(?<![a-z0-9_/-])(?:{'|'.join(_ANCHORS)}))",
    ]
    if plain:
        parts.append(rf"(?P<phrase>(?<![^\W_])(?:{_alternatives(plain)})(?![^\W_]))")
    if inside:
        whole = _alternatives([*inside, *(word for word in known.words)])
        parts.append(rf"(?P<inside>{whole})")
    if not known.spaced:
        parts.append(rf"(?P<sign>{_CLOSED_SCRIPT})")
    parts.append(
        r"(?P<word>(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])"
        + _LETTER
        + r"|['’](?="
        + _LETTER
        + r")|[0-9])++)"
    )
    parts.append(rf"(?P<point>{_POINT})")
    return re.compile("|".join(parts))


@cache
def _stemmer(algorithm: str):  # type: ignore[no-untyped-def]  # the library has no types
    import snowballstemmer

    return snowballstemmer.stemmer(algorithm)


@lru_cache(maxsize=8192)
def word_key(word: str, language: str) -> str:
    """The stem of a folded word, or the stem that stands for its class."""
    known = lexicon(language)
    word = word.removesuffix("'s").removesuffix("'")
    if language in _ELIDING:
        word = word.rpartition("'")[2]  # n'utilise, l'option
    if word in known.synonyms:
        word = known.synonyms[word]
        return _stem(word, known.stemmer)
    stem = _stem(word, known.stemmer)
    return _class_of_stem(language).get(stem, stem)


_ELIDING = frozenset({"french"})
_BRITISH = re.compile(r"(?<=[a-z]{2}[adglmnrt])is(e|ed|es|er|ing|ation|ations)$|(?<=[a-z]{3})our(|s|ed|ing|al)$")


def _stem(word: str, algorithm: str | None) -> str:
    """The stem of a word; an English one in American spelling, a German participle or noun in -ung as its verb."""
    if algorithm is None or len(word) > 64 or not word.isalpha():
        return word
    if algorithm == "english":
        word = _BRITISH.sub(lambda found: f"iz{found[1]}" if found[1] else f"or{found[2]}", word)
    stem: str = _stemmer(algorithm).stemWord(word)
    if algorithm == "german":
        return _GERMAN_NOUN.sub("", _GERMAN_PARTICIPLE.sub(r"\1\2", stem))
    return stem


# Of a stem: änder(ung), ge-änder-t, ein-ge-bau-t.
_GERMAN_NOUN = re.compile(r"(?<=\w{3})ung$")
_GERMAN_PARTICIPLE = re.compile(r"^(ab|an|auf|aus|bei|ein|hinzu|mit|nach|vor|weg|zu|zusammen|)ge(\w{3,60})t$")


@cache
def _class_of_stem(language: str) -> dict[str, str]:
    known = lexicon(language)
    return {_stem(word, known.stemmer): _stem(first, known.stemmer) for word, first in known.synonyms.items()}


def anchor_key(text: str) -> str:
    """How an anchor is compared: without `./` before it and without what only says that it is a folder."""
    key = text.removeprefix("./").rstrip("?!,;:")
    for ending in ("/**", "/*", "/", "()"):
        key = key.removesuffix(ending)
    return key.rstrip(".") or text


_MOST_SPANS = 1000  # code spans of one sentence that are taken as such


def tokens(folded: Folded, start: int, end: int, language: str) -> list[Token]:
    """The tokens of a stretch of folded text."""
    known = lexicon(language)
    found: list[Token] = []
    # Code spans stand in order and apart: those from the last that begins before the stretch on.
    near = max(0, bisect_left(folded.code, (start, 0)) - 1)
    spans = [
        (first, last)
        for first, last in takewhile(lambda span: span[0] < end, folded.code[near : near + _MOST_SPANS])
        if last > start
    ]
    place = start
    for first, last in [*spans, (end, end)]:
        found += _scan(folded.text, place, min(first, end), language, known.operators)
        if first < end:
            found += _code(folded.text, max(first, start), min(last, end))
            place = last
    return found


def _code(text: str, start: int, end: int) -> list[Token]:
    found = []
    for match in re.compile(r"[^\s,;]++").finditer(text, start, end):
        key = match[0] if match[0].startswith("-") else anchor_key(match[0])
        found.append(Token(Sort.ANCHOR, key, match[0], None, match.start(), match.end()))
    return found


def _scan(text: str, start: int, end: int, language: str, operators: object) -> list[Token]:
    known = lexicon(language)
    found = []
    for match in _scanner(language).finditer(text, start, end):
        group, piece = match.lastgroup, match[0]
        first, last = match.span()
        if group == "quantity" and piece in known.operators:
            group = "phrase"  # `one` is hardly ever a number
        if group == "date":
            found.append(Token(Sort.ANCHOR, piece, piece, None, first, last))
        elif group == "anchor" and piece in ("and/or", "e.g", "i.e", "e.g.", "i.e."):
            continue
        elif group == "anchor" and piece in known.operators:
            found.append(Token(Sort.OPERATOR, piece, piece, known.operators[piece], first, last))
        elif group == "anchor":
            trimmed = piece.rstrip(".") if piece not in (".", "..") else piece
            found.append(Token(Sort.ANCHOR, anchor_key(trimmed), trimmed, None, first, first + len(trimmed)))
        elif group == "quantity":
            read = quantities.quantity(piece)
            found.append(Token(Sort.QUANTITY, f"{read.dimension}:{read.value}", piece, None, first, last))
        elif group in ("phrase", "inside") and piece in known.operators:
            found.append(Token(Sort.OPERATOR, piece, piece, known.operators[piece], first, last))
        elif group in ("phrase", "inside") and piece in known.aliases:
            found.append(Token(Sort.WORD, word_key(known.aliases[piece], language), piece, None, first, last))
        elif group == "point":
            found.append(Token(Sort.POINT, piece, piece, None, first, last))
        else:
            found.append(Token(Sort.WORD, word_key(piece, language), piece, None, first, last))
    return found


def language_of(text: str, prefer: str = "english") -> str:
    """The language of a folded stretch: by its script, then by the operators that its words hit.

    `prefer` wins among the languages in Latin letters when nothing much speaks for another.
    """
    if re.search(r"[\u3041-\u309f\u30a1-\u30fa]", text):
        return "japanese"
    if re.search(r"[\uac00-\ud7af]", text):
        return "korean"
    if re.search(r"[\u3400-\u4dbf\u4e00-\u9fff]", text):
        return "chinese"
    if re.search(r"[\u0430-\u044f]", text):
        return "russian"
    words = re.findall(r"[^\W\d_]++(?:'[^\W\d_]++)?+", text[:2000])
    if prefer not in _LATIN:
        prefer = "english"
    scores = {name: _hits(words, name) for name in _LATIN}
    return max(_LATIN, key=lambda name: (scores[name] + (0.35 if name == prefer else 0), name == prefer))


def _hits(words: list[str], language: str) -> float:
    known = lexicon(language)
    accented = 0.0 if language == "english" else 0.6 * sum(not word.isascii() for word in words)
    return accented + sum(_shares(language).get(word, 0.0) + 0.3 * (word in known.verbs) for word in words)


@cache
def _shares(language: str) -> dict[str, float]:
    """What a word speaks for a language: less, the more languages have it."""
    return {word: 1 / sum(word in _single_words(name) for name in _LATIN) for word in _single_words(language)}


_LATIN = ("english", "german", "spanish", "portuguese", "french")


@cache
def _single_words(language: str) -> frozenset[str]:
    return frozenset(phrase for phrase in lexicon(language).operators if " " not in phrase)
