"""What makes a sentence a rule, in each language: one module a language that has a grammar of its own here.

A module has `judged(words, parts)`: the folded sentence and its tokens in; a kind with the name of the rule that found
it, `RELEASE` for a sentence that takes a rule back or allows something, or None out. SPEC.md lists the rules by name.
"""

from enum import StrEnum

from context_firewall.guard.lexicon import Op
from context_firewall.guard.tokens import Sort, Token


class Kind(StrEnum):
    """What a rule does."""

    PROHIBITION = "prohibition"
    OBLIGATION = "obligation"
    LIMIT = "limit"
    PREFERENCE = "preference"
    PERMISSION = "permission"


Found = tuple[Kind, str]
RELEASE = "release"
BOUNDS = frozenset({Op.ATMOST, Op.ATLEAST})


def operators_of(parts: list[Token]) -> frozenset[Op]:
    """The operators that are there."""
    return frozenset(token.op for token in parts if token.op is not None)


def has_quantity(parts: list[Token]) -> bool:
    """Whether a number or an amount is there."""
    return any(token.sort is Sort.QUANTITY for token in parts)
