"""What a word is where it stands: the same one may bound something, name it, or say nothing."""

from context_firewall.guard.lexicon import Op
from context_firewall.guard.reading import Segment
from context_firewall.guard.tokens import Sort, Token

CONDITIONS = frozenset({Segment.IF, Segment.GATE, Segment.BEFORE})
"""Segments that `then` ends when they open a clause."""

# Bounds only where a number stands beside them; elsewhere `under` and `within` are places, and a limit is a thing.
_LOOSE = frozenset(
    """below under within above from over tops 以下 以上 以内 之内 最大 最小 低于 高于 超过 unter über bis maximal
    máximo mínimo moins menos больше меньше более 이하 이상 まで""".split()
)
_NOUNS = frozenset("limit limits max maximum cap minimum ceiling 限制 上限 下限 限制为".split())
# Light words that are the name of a program behind a verb: `pipe make output`.
_PROGRAMS = frozenset({"make", "go", "set", "get", "put"})
_OUTPUTS = frozenset({"output", "target", "targets"})
_SEPARATING = frozenset("but however 但 但是 不过 然而 aber sondern pero mas mais но а".split())
_ALTERNATIVE = frozenset("or 或 或者 oder o ou или".split())
_OPENING = frozenset({Op.NEG, Op.DOUBLE, Op.LIFT, Op.MUST, Op.SHOULD, Op.MAY, Op.CONTRAST, Op.ONLYIF, Op.ONLY})
_MARKERS = frozenset(
    {Op.IF, Op.UNLESS, Op.UNTIL, Op.WITHOUT, Op.EXCEPT, Op.DURING, Op.ONLYIF, Op.REQUIRE, Op.BECAUSE, Op.BEFORE}
    | {Op.AFTER}
)
_LOOK_BACK = 40  # tokens; a longer list is taken for clauses of its own


def weighed(found: list[Token], place: int, *, numbered: bool, soft: bool, verbs: frozenset[str]) -> Op | None:
    """What the operator at a place of a clause is; None for a word.

    `numbered` says whether the clause has a quantity, `soft` whether it states a preference.
    """
    token = found[place]
    after = found[place + 1] if place + 1 < len(found) else None
    before = found[place - 1] if place else None
    if token.text == "make" and after is not None and after.text in _OUTPUTS:
        return None
    if token.text in _PROGRAMS and before is not None and before.op is None and before.text in verbs:
        return None
    if token.text == "about" and after is not None and after.sort is Sort.QUANTITY:
        return Op.HEDGE
    if token.text == "over" and token.op is Op.CONTRAST and not soft:
        return Op.LIGHT
    if token.text in ("不用", "可不") and after is not None and after.text.isascii():
        return Op.NEG  # 不用 curl: not curl; before a verb it is: no need
    if token.op not in (Op.ATMOST, Op.ATLEAST, Op.ONLY):
        return token.op
    following = next((other for other in found[place + 1 :] if other.op is not Op.LIGHT), None)
    bounds = following is not None and following.sort is Sort.QUANTITY
    if token.op is Op.ONLY:
        return Op.ATMOST if bounds and "ed to" in token.text else Op.ONLY
    if bounds or (before is not None and before.sort is Sort.QUANTITY):
        return token.op
    if token.text in _NOUNS:
        return token.op if numbered else None
    if token.text in _LOOSE:
        return Op.LIGHT if token.text.isascii() else None
    return token.op


def is_break(found: list[Token], index: int, verbs: frozenset[str]) -> bool:
    """Whether a clause ends here: at a point, at `but`, at `and` where a verb or an operator follows."""
    token = found[index]
    if token.sort is Sort.POINT:
        return token.text not in "-\"'"
    if token.op is not Op.CLAUSE or index + 1 == len(found):
        return False
    following = found[index + 1]
    if token.text in _SEPARATING or following.op in _OPENING:
        return True
    if token.text in _ALTERNATIVE:
        return False  # `never delete or move it`
    return following.sort is Sort.WORD and following.text in verbs and not _in_list(found, index)


def _in_list(found: list[Token], index: int) -> bool:
    """Whether a marker's list goes on here: between the last marker and here, no point."""
    for token in reversed(found[max(0, index - _LOOK_BACK) : index]):
        if token.sort is Sort.POINT:
            return False
        if token.op in _MARKERS:
            return True
    return False
