"""Where a clause ends: at a point, at `but`, at `and` where a clause of its own follows.

A comma in a list that something is said of, and a bracket around a few names, end none.
"""

from context_firewall.guard.lexicon import Op
from context_firewall.guard.tokens import Sort, Token
from context_firewall.guard.weighing import LOOK_BACK, MARKERS

_SEPARATING = frozenset("but however 但 但是 不过 然而 aber sondern pero mas mais но а".split())
_ALTERNATIVE = frozenset("or 或 或者 oder o ou или".split())
_FINITE = frozenset(
    "is are has have was were isn't aren't hasn't haven't wasn't weren't be ist sind hat haben wird werden".split()
)
_STATING = frozenset({Op.MUST, Op.NEG, Op.SHOULD, Op.MAY, Op.PAST, Op.LIFT})
_OPENING = frozenset({Op.NEG, Op.DOUBLE, Op.LIFT, Op.MUST, Op.SHOULD, Op.MAY, Op.CONTRAST, Op.ONLYIF, Op.ONLY})
_THE_USER = frozenset({"the user", "user", "用户"})
_SUBJECT = 10  # tokens of a subject, and the verb behind it
_INSERTED = 4  # tokens of an insertion that does not interrupt: `the version of Node (20.11) must not change`
_NAMING = frozenset({None, Op.LIGHT, Op.ALL})


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


def _back(found: list[Token], index: int) -> list[Token]:
    """What stands between the last point and here."""
    before = found[max(0, index - LOOK_BACK) : index]
    points = [place for place, token in enumerate(before) if token.sort is Sort.POINT]
    return before[points[-1] + 1 :] if points else before


def _is_stated(found: list[Token]) -> bool:
    """Whether a subject and its verb stand there, without a marker before: `the file is`, `logs must`."""
    subject = False
    for token in found:
        if (token.sort is Sort.POINT and token.text != "-") or token.op is Op.CLAUSE or token.op in MARKERS:
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
    for place in range(index + 1, min(index + LOOK_BACK, len(found))):
        token = found[place]
        if token.op is Op.CLAUSE and token.text not in _SEPARATING:
            return any(one.text in _FINITE or one.op in _STATING for one in _front(found, place))
        if not (_names(token) or token.text == ","):
            return False
    return False


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


def _front(found: list[Token], index: int) -> list[Token]:
    """The next few tokens, to the first point or `and`."""
    rest = found[index + 1 : index + 1 + _SUBJECT]
    ends = [place for place, token in enumerate(rest) if token.sort is Sort.POINT or token.op is Op.CLAUSE]
    return rest[: ends[0]] if ends else rest


def _in_list(found: list[Token], index: int) -> bool:
    """Whether a marker's list goes on here: between the last marker and here, no point."""
    for token in reversed(found[max(0, index - LOOK_BACK) : index]):
        if token.sort is Sort.POINT:
            return False
        if token.op in MARKERS:
            return True
    return False
