"""What the judge knows of a language: a few tables, each to be read beside a grammar of that language.

A `Lexicon` names the words and phrases that carry the force of a rule (operators), the words that mean the same in a
rule, and the words that say nothing by themselves. No table holds a rule of any project. English and Chinese are
written in full; of the others there is what short rules need: negation, duty, permission, condition, order.

A phrase is written in folded form (see `guard/folding.py`). In a table, each line is `operator: phrase | phrase`.
"""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from context_firewall.guard.folding import fold


class Op(Enum):
    """What a word does to the rule that it stands in."""

    # polarity
    NEG = "neg"  # the clause forbids: never, must not, 禁止
    CONTRAST = "contrast"  # what follows is ruled out: not X, instead of X, 而不是
    DOUBLE = "double"  # two negations that make a duty: do not forget to
    LIFT = "lift"  # no duty: need not, no need to, 不用
    # force
    MUST = "must"
    SHOULD = "should"
    MAY = "may"
    # markers; the words that follow one (in some languages, precede it) are its segment
    IF = "if"
    UNLESS = "unless"
    UNTIL = "until"
    WITHOUT = "without"
    EXCEPT = "except"
    DURING = "during"
    ONLYIF = "onlyif"  # the one way to be allowed: only after, only with
    REQUIRE = "require"  # X requires Y
    BECAUSE = "because"  # a reason binds nobody
    BEFORE = "before"
    AFTER = "after"
    POST_IF = "post_if"  # these stand after their segment: …之前, …때
    POST_BEFORE = "post_before"
    POST_AFTER = "post_after"
    POST_EXCEPT = "post_except"
    POST_UNTIL = "post_until"
    POST_DURING = "post_during"
    # sequence
    THEN = "then"
    END = "end"  # ends a condition: 就
    SEQUENCE = "sequence"  # in that order
    # number and extent
    ALL = "all"
    SOME = "some"
    ONLY = "only"
    ATMOST = "atmost"
    ATLEAST = "atleast"
    # status of the whole sentence
    REVOKED = "revoked"
    HEDGE = "hedge"
    HEARSAY = "hearsay"
    PAST = "past"
    # persons
    USER = "user"  # whoever gives the rules
    AGENT = "agent"  # whoever keeps them
    CLAUSE = "clause"  # and, but: what follows is a clause of its own where it can be
    LIGHT = "light"  # says nothing by itself


class Lexicon(NamedTuple):
    """One language. `spaced` says whether words stand apart; `stemmer` is a Snowball algorithm's name, or None."""

    name: str
    spaced: bool
    stemmer: str | None
    operators: Mapping[str, Op]
    synonyms: Mapping[str, str]
    """A word's stem to the stem that stands for its whole class."""
    verbs: frozenset[str]
    """Words that begin an order, as they stand there."""
    words: frozenset[str]
    """Of a language without spaces: words that are taken whole."""
    aliases: Mapping[str, str] = MappingProxyType({})
    """Phrases that are one word in other words: `check with` is `ask`."""
    implied: Mapping[str, str] = MappingProxyType({})
    """Operators that name an act with their force: what is off limits must not be modified."""


NAMES = ("english", "chinese", "japanese", "korean", "german", "spanish", "portuguese", "french", "russian")


def table(text: str) -> dict[str, Op]:
    """The operators of a table: lines of `operator: phrase | phrase`, an indented line continues the one above."""
    found: dict[str, Op] = {}
    operator = None
    for line in text.splitlines():
        if not line.strip():
            continue
        name, colon, phrases = line.partition(":")
        if not line[0].isspace() and colon:
            operator = Op(name)
        else:
            phrases = line
        assert operator is not None  # noqa: S101  a table begins with an operator
        for phrase in phrases.split("|"):
            if phrase.strip():
                found[fold(phrase.strip()).text] = operator
    return found


def classes(text: str) -> dict[str, str]:
    """Words of one meaning, a class a line, its first word standing for all."""
    found = {}
    for line in text.splitlines():
        words = fold(line).text.split()
        for word in words:
            found[word] = words[0]
    return found


@cache
def lexicon(name: str) -> Lexicon:
    """The lexicon of a language, by its name in `NAMES`."""
    loaded: Lexicon = import_module(f"{__name__}.{name}").LEXICON
    return loaded
