"""What a word is where it stands: the same one may bound something, name it, or say nothing."""

import re

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
_PREFERRED = frozenset({"preferred", "is preferred", "are preferred", "preferable"})
_PREFERRING = frozenset({"prefer", "prefers", "would prefer", "i'd prefer"})
_ASSENT = frozenset({"ok", "okay", "许可"})
_KEEPING = frozenset("keep keeps kept keeping stay stays staying leave leaves left".split())
_BEFORE_A_NOUN = frozenset("my the an your his her their our user's given gives give get got".split()) | {"the user's"}
_TIMES = frozenset({"times", "mal", "veces", "fois", "vezes"})


_BOUNDS = frozenset({Op.ATMOST, Op.ATLEAST})
_MOVING = frozenset("fall falls drop drops sink sinks dip dips grow grows rise rises get gets climb climbs".split())
_EXCEEDING = frozenset("exceed exceeds exceeded exceeding surpass surpasses beyond over above 超过 超出 über".split())
_PLACES = frozenset("in on at for from with by to into 在 auf bei mit".split())
_NEAR = 3  # words between a negation and the bound that it turns round
_WHOLLY = frozenset("entirely completely totally altogether fully outright wholly".split())
_FALLS_SHORT = re.compile(r"(?:never|do not|don't|not|no|must|may|shall|should|cannot|can't)(?: |$)")


MARKERS = frozenset(
    {Op.IF, Op.UNLESS, Op.UNTIL, Op.WITHOUT, Op.EXCEPT, Op.DURING, Op.ONLYIF, Op.REQUIRE, Op.BECAUSE, Op.BEFORE}
    | {Op.AFTER}
)
LOOK_BACK = 40  # tokens; a longer list is taken for clauses of its own


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
    if token.text == "over" and after is not None and after.sort is Sort.QUANTITY and not after.key.startswith(":"):
        return Op.ATLEAST  # `over ten minutes`; `split over two files`
    if token.text == "over" and token.op is Op.CONTRAST and not soft:
        return Op.LIGHT
    if token.text == "to" and _is_preferred(found, place, verbs):
        return Op.CONTRAST  # `X is preferred to Y`
    if token.text == "out of" and any(one.text in _KEEPING for one in _near(found, place)):
        return Op.NEG  # `keep it out of the log`
    if token.op is Op.EXCEPT and after is None and before is not None:
        return Op.POST_EXCEPT  # `hotfixes excepted`
    if token.text == "told" and (after is None or (before is not None and before.op in (Op.MUST, Op.SHOULD))):
        return None  # `has to be told`; else `I told you` says nothing
    owned = before is not None and (before.text in _BEFORE_A_NOUN or before.op is Op.USER)
    if owned and token.op is Op.MAY and token.text in _ASSENT:
        return None  # `my OK`, 用户许可
    if token.text in ("full", "complete") and before is not None and before.text in ("is", "are", "be"):
        return None  # `the queue is full`
    if token.text in _TIMES and before is not None and before.sort is Sort.QUANTITY:
        return Op.LIGHT  # `three times`
    if token.text == "没有" and after is not None and after.op is Op.USER:
        return Op.WITHOUT  # 没有我的同意
    if token.text == "除" and after is not None and after.text == "外":
        return Op.LIGHT  # 紧急修复除外: 外 says it
    if token.text in ("不用", "可不") and after is not None and after.text.isascii():
        return Op.NEG  # 不用 curl: not curl; before a verb it is: no need
    if token.text in _WHOLLY and any(_FALLS_SHORT.match(one.text) for one in _near(found, place) if one.op is Op.NEG):
        return None  # `never delete it completely`: in part, it may be
    if token.op is Op.THEN and after is None and before is not None:
        return Op.LIGHT  # `testing last`: the clauses' own order says it
    if token.text in _MOVING and after is not None and after.op in _BOUNDS:
        return Op.LIGHT  # `fall below`, `grow beyond`
    if token.op not in (Op.ATMOST, Op.ATLEAST, Op.ONLY):
        return token.op
    following = next((other for other in found[place + 1 :] if other.op not in (Op.LIGHT, Op.ONLY)), None)
    bounds = following is not None and following.sort is Sort.QUANTITY
    if token.op is Op.ONLY:
        beside = [other for other in (before, after) if other is not None and other.op is Op.ATMOST]
        if beside and (bounds or beside[0].text not in _LOOSE):
            return Op.LIGHT  # 最多只能三次: the bound says it
        return Op.ATMOST if bounds and "ed to" in token.text else Op.ONLY
    if bounds or (before is not None and before.sort is Sort.QUANTITY):
        return token.op
    if token.text in _NOUNS:
        return token.op if numbered else None
    if token.text in _LOOSE:
        return Op.LIGHT if token.text.isascii() else None
    return token.op


def _near(found: list[Token], place: int) -> list[Token]:
    return found[max(0, place - LOOK_BACK) : place]


def _is_preferred(found: list[Token], place: int, verbs: frozenset[str]) -> bool:
    """Whether a `to` compares: `preferred to`, `prefers early returns to nested ifs`."""
    if place and found[place - 1].text in _PREFERRED:
        return True
    after = found[place + 1] if place + 1 < len(found) else None
    said = [other.text for other in found[max(0, place - LOOK_BACK) : max(0, place - 1)]]
    return bool(_PREFERRING & {*said}) and after is not None and after.op is None and after.text not in verbs


def bounded(found: list[Token]) -> list[Token]:
    """A clause in which `not more than 5` and `must not exceed 5` are `at most 5`, `not below 5` is `at least 5`."""
    denied = [place for place, token in enumerate(found) if token.op is Op.NEG]
    if len(denied) != 1:
        return found
    words = 0
    for place in range(denied[0] + 1, len(found) - 1):
        token, after = found[place], found[place + 1]
        more = token.text in _EXCEEDING or token.op is Op.ATLEAST
        if (more or token.op is Op.ATMOST) and after.sort is Sort.QUANTITY:
            turned = token._replace(sort=Sort.OPERATOR, op=Op.ATMOST if more else Op.ATLEAST)
            ordered = found[denied[0]]._replace(op=Op.MUST)
            return [*found[: denied[0]], ordered, *found[denied[0] + 1 : place], turned, *found[place + 1 :]]
        words += token.op is None and token.text not in _MOVING
        if words > _NEAR or token.sort is Sort.POINT or token.op in MARKERS or token.text in _PLACES:
            break
    return found
