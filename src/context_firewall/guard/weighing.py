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
_SEPARATING = frozenset("but however 但 但是 不过 然而 aber sondern pero mas mais но а".split())
_ALTERNATIVE = frozenset("or 或 或者 oder o ou или".split())
_BOUNDS = frozenset({Op.ATMOST, Op.ATLEAST})
_MOVING = frozenset("fall falls drop drops sink sinks dip dips grow grows rise rises get gets climb climbs".split())
_EXCEEDING = frozenset("exceed exceeds exceeded exceeding surpass surpasses beyond over above 超过 超出 über".split())
_PLACES = frozenset("in on at for from with by to into 在 auf bei mit".split())
_NEAR = 3  # words between a negation and the bound that it turns round
_WHOLLY = frozenset("entirely completely totally altogether fully outright wholly".split())
_FALLS_SHORT = re.compile(r"(?:never|do not|don't|not|no|must|may|shall|should|cannot|can't)(?: |$)")
_FINITE = frozenset(
    "is are has have was were isn't aren't hasn't haven't wasn't weren't be ist sind hat haben wird werden".split()
)
_STATING = frozenset({Op.MUST, Op.NEG, Op.SHOULD, Op.MAY, Op.PAST, Op.LIFT})
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
    if token.op is Op.MAY and before is not None and token.text in _ASSENT:
        if before.text in _BEFORE_A_NOUN or before.op is Op.USER:
            return None  # `my OK`, 用户许可
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
    return found[max(0, place - _LOOK_BACK) : place]


def _is_preferred(found: list[Token], place: int, verbs: frozenset[str]) -> bool:
    """Whether a `to` compares: `preferred to`, `prefers early returns to nested ifs`."""
    if place and found[place - 1].text in _PREFERRED:
        return True
    after = found[place + 1] if place + 1 < len(found) else None
    said = [other.text for other in found[max(0, place - _LOOK_BACK) : max(0, place - 1)]]
    return bool(_PREFERRING & {*said}) and after is not None and after.op is None and after.text not in verbs


def bounded(found: list[Token]) -> list[Token]:
    """A clause in which `not more than 5` and `must not exceed 5` are `at most 5`, and `not below 5` is `at least 5`."""
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
        if words > _NEAR or token.sort is Sort.POINT or token.op in _MARKERS or token.text in _PLACES:
            break
    return found


def is_break(found: list[Token], index: int, verbs: frozenset[str]) -> bool:
    """Whether a clause ends here: at a point, at `but`, at `and` where a verb or an operator follows."""
    token = found[index]
    if token.op is Op.BECAUSE and _is_wish(found[index + 1 : index + 4]):
        return True
    if token.sort is Sort.POINT:
        if token.text == "," and _is_listed(found, index, verbs):
            return False
        return token.text not in "-\"'" and not _is_inserted(found, index)
    if token.op is not Op.CLAUSE or index + 1 == len(found):
        return False
    following = found[index + 1]
    if token.text in _SEPARATING or following.op in _OPENING:
        return True
    if token.text in _ALTERNATIVE:
        return False  # `never delete or move it`
    before = _back(found, index)
    if _is_stated(found[index + 1 : index + 1 + _SUBJECT]) and _is_stated(before):
        return True
    if following.text.removesuffix("s") in verbs and any(one.text in _FINITE for one in before):
        return True  # `is short and contains`
    return following.sort is Sort.WORD and following.text in verbs and not _in_list(found, index)


def _is_wish(found: list[Token]) -> bool:
    """Whether it is the user's rule that is given as a reason: `because the user must be asked`."""
    user = next((place for place, token in enumerate(found) if token.op is Op.USER), None)
    return user is not None and found[user].text in _THE_USER and any(one.op in _STATING for one in found[user + 1 :])


_THE_USER = frozenset({"the user", "user", "用户"})
_SUBJECT = 10  # tokens of a subject, and the verb behind it


def _back(found: list[Token], index: int) -> list[Token]:
    """What stands between the last point and here."""
    before = found[max(0, index - _LOOK_BACK) : index]
    points = [place for place, token in enumerate(before) if token.sort is Sort.POINT]
    return before[points[-1] + 1 :] if points else before


def _is_stated(found: list[Token]) -> bool:
    """Whether a subject and its verb stand there: `the file is`, `logs must`. No marker and no `and` comes before it."""
    subject = False
    for token in found:
        if (token.sort is Sort.POINT and token.text != "-") or token.op is Op.CLAUSE or token.op in _MARKERS:
            return False
        if token.text in _FINITE or token.op in _STATING:
            return subject
        subject = subject or token.op in (None, Op.USER, Op.AGENT, Op.HEDGE)
    return False


def _is_listed(found: list[Token], index: int, verbs: frozenset[str]) -> bool:
    """Whether a comma stands in a list that something is said of: `a, b and c are forbidden`."""
    first = _back(found, index)
    if not first or not all(_names(token) for token in first):
        return False
    if any(token.text in verbs for token in first[1:]):
        return False  # `log lines carry an id, …`
    for place in range(index + 1, min(index + _LOOK_BACK, len(found))):
        token = found[place]
        if token.op is Op.CLAUSE and token.text not in _SEPARATING:
            return any(one.text in _FINITE or one.op in _STATING for one in _front(found, place))
        if not (_names(token) or token.text == ","):
            return False
    return False


_INSERTED = 4  # tokens of an insertion that does not interrupt: `the version of Node (20.11) must not change`


def _is_inserted(found: list[Token], index: int) -> bool:
    """Whether a bracket opens or closes a few names in the middle of a clause."""
    if found[index].text == "(":
        inside = found[index + 1 : index + 2 + _INSERTED]
        ends = [place for place, token in enumerate(inside) if token.text == ")"]
        if not ends or not all(_names(token) for token in inside[: ends[0]]):
            return False
        after = index + 2 + ends[0]
        return after < len(found) and found[after].sort is not Sort.POINT
    if found[index].text == ")":
        opened = [place for place in range(max(0, index - 1 - _INSERTED), index) if found[place].text == "("]
        return bool(opened) and _is_inserted(found, opened[-1])
    return False


def _names(token: Token) -> bool:
    """Whether a token can stand in a name: no verb that states, no operator, no point."""
    return token.op in _NAMING and token.sort is not Sort.POINT and token.text not in _FINITE


_NAMING = frozenset({None, Op.LIGHT, Op.ALL})


def _front(found: list[Token], index: int) -> list[Token]:
    """The next few tokens, to the first point or `and`."""
    rest = found[index + 1 : index + 1 + _SUBJECT]
    ends = [place for place, token in enumerate(rest) if token.sort is Sort.POINT or token.op is Op.CLAUSE]
    return rest[: ends[0]] if ends else rest


def _in_list(found: list[Token], index: int) -> bool:
    """Whether a marker's list goes on here: between the last marker and here, no point."""
    for token in reversed(found[max(0, index - _LOOK_BACK) : index]):
        if token.sort is Sort.POINT:
            return False
        if token.op in _MARKERS:
            return True
    return False
