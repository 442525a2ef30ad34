"""One rule against one window of a summary: is all of it there, and nothing else?

Each check is a row of `CHECKS`: its name is the deciding rule of the verdict, its docstring says what it looks for.
The first that objects decides. A window that no check objects to keeps the rule.
"""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise

from context_firewall.guard.alignment import Alignment, dimension, operators_in
from context_firewall.guard.clauses import OPPOSITES
from context_firewall.guard.equivalence import (
    Comparison,
    crossed,
    other_objects,
    same_bound,
    same_case,
    same_denial,
    same_elsewhere,
    same_gate,
    same_object,
    swapped,
)
from context_firewall.guard.lexicon import Op
from context_firewall.guard.reading import Clause, Item, Reading, Segment
from context_firewall.guard.tokens import Sort


def _texts(items: tuple[Item, ...] | list[Item]) -> str:
    return ", ".join(dict.fromkeys(item.text for item in items))


def _quantity(it: Comparison) -> str | None:
    """A number, an amount or its unit is another one."""
    gone = [item for item in it.alignment.missing if item.sort is Sort.QUANTITY]
    new = [item for item in it.alignment.added if item.sort is Sort.QUANTITY]
    if gone:
        return f"{_texts(new)} instead of {_texts(gone)}" if new else f"{_texts(gone)} is missing"
    return None


def _anchor(it: Comparison) -> str | None:
    """A path, flag, identifier or version is another one, or missing."""
    gone = [item for item in it.alignment.missing if item.sort is Sort.ANCHOR]
    new = [item for item in it.alignment.added if item.sort is Sort.ANCHOR]
    if gone:
        return f"{_texts(new)} instead of {_texts(gone)}" if new else f"{_texts(gone)} is missing"
    return None


def _status(op: Op, words: str) -> Callable[[Comparison], str | None]:
    def check(it: Comparison) -> str | None:
        known = {operator.key for clause in it.rule.clauses for operator in clause.operators}
        known |= {item.key for item in it.rule.items}
        said = [
            operator.text
            for clause in (*it.alignment.touched, *(it.alignment.labels if op is not Op.PAST else ()))
            for operator in clause.operators
            if operator.op is op
            and operator.key not in known
            and (op is not Op.PAST or (operator.segment is Segment.MAIN and not same_case(it)))
        ]
        return f"{words}: {said[0]}" if said else None

    check.__doc__ = f"The summary only says that the rule is {words}."
    return check


def _question(it: Comparison) -> str | None:
    """The rule became a question."""
    return "it is a question" if it.window.asks and not it.rule.asks else None


def _polarity(it: Comparison) -> str | None:
    """What was forbidden is ordered or allowed, or the other way round."""
    if same_bound(it) or same_elsewhere(it):
        return None
    case, object_of = same_case(it), same_object(it)
    turned = [
        other
        for item, other in it.alignment.pairs
        if item.negative != other.negative and item not in case and item not in object_of
    ]
    return f"turned round: {_texts(turned)}" if turned else None


def _lifted(it: Comparison) -> str | None:
    """The summary says that the rule need not be kept, or no longer says so of what need not be done."""
    if Op.LIFT in operators_in(it.rule.clauses) - operators_in(it.window.clauses):
        says_without = any(item.negative for item in it.alignment.added)
        return None if says_without else "it no longer says that there is no need"
    if Op.LIFT in operators_in(it.alignment.touched) - operators_in(it.rule.clauses):
        return "it says that there is no need"
    if _needless(it.alignment.touched) and not _needless(it.rule.clauses):
        return "it says that there is no need"
    return None


def _needless(clauses: tuple[Clause, ...]) -> bool:
    """`no endpoint needs a test`."""
    for clause in clauses:
        needs = [one.start for one in clause.operators if one.op is Op.REQUIRE]
        if needs and any(one.op is Op.NEG and one.start < needs[0] for one in clause.operators):
            return True
    return False


# What may be done without, may be done: `may be free of`, `may stay as it is`; not so `may not`, `no … may`.
_DOING_WITHOUT = re.compile(r"(?:free|be|stays?|remains?|left|kept|keeps?|do without|go without|get by|come|out) ?")


def _permits(clauses: tuple[Clause, ...]) -> bool:
    return any(
        clause.has(Op.MAY)
        and not clause.has(Op.ONLY, Op.ATMOST, Op.LIFT)
        and all(_DOING_WITHOUT.match(one.text) for one in clause.operators if one.op is Op.NEG)
        and Segment.GATE not in clause.segments
        for clause in clauses
    )


def _permitted(it: Comparison) -> str | None:
    """A duty became a permission, or a permission a duty."""
    if (
        _permits(it.alignment.touched)
        and not _permits(it.rule.clauses)
        and not operators_in(it.rule.clauses) & {Op.LIFT}
    ):
        return "it only permits"
    if (
        _permits(it.rule.clauses)
        and not _permits(it.alignment.touched)
        and not operators_in(it.rule.clauses) & {Op.LIFT}
    ):
        return "a permission became a duty"
    return None


def _weaker(it: Comparison) -> str | None:
    """A duty became a wish."""
    if Op.SHOULD in operators_in(it.alignment.touched) - operators_in(it.rule.clauses):
        words = [token.text for clause in it.alignment.touched for token in clause.operators if token.op is Op.SHOULD]
        return f"weaker: {words[0]}"
    return None


_NAMES = {
    Segment.IF: "condition",
    Segment.GATE: "condition",
    Segment.UNLESS: "exception",
    Segment.UNTIL: "end",
    Segment.WITHOUT: "manner",
    Segment.EXCEPT: "exception",
    Segment.DURING: "limit in time",
    Segment.BEFORE: "order",
    Segment.AFTER: "order",
}


def _segments(clauses: tuple[Clause, ...]) -> set[Segment]:
    return {segment for clause in clauses for segment in clause.segments} - {Segment.MAIN, Segment.BECAUSE}


def _bare_order(items: tuple[Item, ...], clauses: tuple[Clause, ...]) -> set[Segment]:
    """`before` and `after` whose words say nothing."""
    held = {item.segment for item in items}
    return {segment for clause in clauses for segment in clause.segments} & {Segment.BEFORE, Segment.AFTER} - held


_LIMITS = frozenset({Segment.IF, Segment.UNLESS, Segment.EXCEPT, Segment.DURING})
"""Segments that no other telling of the same gate or case has."""


def _condition(it: Comparison) -> str | None:
    """A condition, an exception or a limit in time is gone, new, or another one."""
    had, has = _segments(it.rule.clauses), _segments(it.alignment.touched)
    if same_bound(it):
        had, has = had - {Segment.EXCEPT}, has - {Segment.EXCEPT}
    if same_elsewhere(it) or same_case(it):
        limits = sorted((has - had) & _LIMITS, key=str)
        return f"a {_NAMES[limits[0]]} is new" if limits else None
    order = {Segment.BEFORE, Segment.AFTER}
    gone, new = sorted((had - has - order), key=str), sorted((has - had - order), key=str)
    if gone:
        return f"its {_NAMES[gone[0]]} is gone"
    if new:
        return f"a {_NAMES[new[0]]} is new"
    moved = [
        other
        for item, other in it.alignment.pairs
        if item.segment is not other.segment
        and not {item.segment, other.segment} <= order | {Segment.MAIN}
        and not (Segment.EXCEPT in (item.segment, other.segment) and same_bound(it))
    ]
    moved = moved or swapped(it)
    return f"under another condition: {_texts(moved)}" if moved else None


def _order(it: Comparison) -> str | None:
    """What comes first is another, or the order is gone."""
    ranks: dict[int, list[int]] = {}
    for item, other in it.alignment.pairs:
        ranks.setdefault(item.rank, []).append(other.rank)
    if same_gate(it):
        return None
    if _bare_order(it.rule.items, it.rule.clauses) != _bare_order(it.window.items, it.alignment.touched):
        return "before or after another thing"
    turned = {Segment.BEFORE, Segment.AFTER}
    if any({item.segment, other.segment} == turned for item, other in it.alignment.pairs):
        return "before became after, or after before"
    ordered = sorted(ranks)
    for before, after in pairwise(ordered):
        if max(ranks[before]) >= min(ranks[after]):
            return "the order is another" if max(ranks[before]) > min(ranks[after]) else "the order is gone"
    if len(ordered) == 1 and it.alignment.pairs:
        if len({other.rank >= 500 or (-1 if other.rank <= -500 else 0) for _, other in it.alignment.pairs}) > 1:
            return "an order is new"
        held = {other for _, other in it.alignment.pairs}
        touched = {other.clause for other in held}
        extra = [
            item
            for item in it.window.items
            if item.segment in (Segment.BEFORE, Segment.AFTER) and item.clause in touched and item not in held
        ]
        if extra:
            return f"an order is new: {_texts(extra)}"
    return None


def _extent(it: Comparison) -> str | None:
    """How many, or how much, is bounded otherwise: only, at most, at least, some."""
    had, has = operators_in(it.rule.clauses), operators_in(it.alignment.touched)
    if same_bound(it):
        had, has = had - {Op.ONLY}, has - {Op.ONLY}
    for op in (Op.ONLY, Op.ATMOST, Op.ATLEAST):
        if op in had - has:
            return f"{op.value} is gone"
        if op in has - had:
            return f"{op.value} is new"
    if Op.SOME in has - had:
        return "it holds for some only"
    if Op.ALL in had - has and any(one.text == "one" for clause in it.alignment.touched for one in clause.operators):
        return "it holds for one only"
    return None


# Verbs that say no more than that something is done, and those for touching a thing at all.
_GENERIC = frozenset(
    """run write implement follow respect happen handl 跑 写 contain appear includ carri exist 出现 包含 enthalt
    ersche""".split()
)
_STATIVE = frozenset("contain appear includ carri exist 出现 包含 enthalt ersche".split())
# Verbs for putting a thing somewhere: where there must be none of it, they are implied.
_PUTTING = frozenset("add put send place insert paste emb includ leav creat hinzufug 新建 放".split())
# What a quantity measures, where nothing but the name of that is missing: `p95 under 250 ms`.
_MEASURES = {
    "time": frozenset("latenc durat time finish last 时间 dau zeit".split()),
    "bytes": frozenset("size 大小 groß".split()),
    "usd": frozenset("cost budget price 费用 预算".split()),
    "eur": frozenset("cost budget price kost".split()),
}
_TOUCHING = frozenset({"modifi", "修改", "other", "其他"})


_PERMISSION = frozenset({"permiss", "同意"})
_ASKING = frozenset({"ask", "问", "征求"})
# What only says which sort of thing a name names: the file `x`, the `x` package, the main branch.
_SORTS_OF_THINGS = frozenset(
    """pattern scheme templat file folder librari branch modul command function flag option environ key
    文件 目录 分支 依赖 模块 命令 函数 接口 datei ordner archiv carpet arquiv past fichi dossi файл папк 파일 폴더
    ファイル フォルダ""".split()
)
_NAMES_OF_PLACES = frozenset({"main", "master", "develop", "stage", "product", "dev", "prod", "trunk"})


def _without_appositions(some: Iterable[Item], items: tuple[Item, ...], held: Iterable[Item]) -> list[Item]:
    """Those of some items that say more than what sort of thing the held name beside them names."""
    names = {item.start for item in held if item.sort is Sort.ANCHOR or item.key in _NAMES_OF_PLACES}
    beside: set[int] = set()
    for before, after in pairwise(items):
        if before.start in names:
            beside.add(after.start)
        if after.start in names:
            beside.add(before.start)
    return [item for item in some if not (item.key in _SORTS_OF_THINGS and item.start in beside)]


def _joined_items(items: tuple[Item, ...]) -> set[Item]:
    """The items on both sides of `and` and `or`: each says something of its own."""
    return {one for before, after in pairwise(items) if after.joined for one in (before, after)}


def _measured(it: Comparison) -> frozenset[str]:
    """The names of what the amounts measure that stand on both sides."""
    held = {dimension(item) for item, _ in it.alignment.pairs if item.sort is Sort.QUANTITY}
    return frozenset[str]().union(*(_MEASURES.get(one, frozenset()) for one in held))


def _word(it: Comparison) -> str | None:
    """A word of the rule is missing."""
    gone = [item for item in it.alignment.missing if item.sort is Sort.WORD]
    held = [item for item, _ in it.alignment.pairs]
    gone = _without_appositions(gone, it.rule.items, held)
    if any(item.key in _PERMISSION for item in held):
        gone = [item for item in gone if item.key not in _ASKING]
    joined = _joined_items(it.rule.items)
    if any(item.negative and other.negative for item, other in it.alignment.pairs):
        gone = [item for item in gone if not (item.negative and item.key in _PUTTING and item not in joined)]
    gone = [item for item in gone if item in joined or item.key not in _measured(it)]
    added = [item for item in it.alignment.added if item.key not in _STATIVE]
    if len(held) >= 2 and not added and all(item.key in _GENERIC and item not in joined for item in gone):
        return None
    return f"missing: {_texts(gone)}" if gone else None


_MINE = frozenset({"i", "my", "mine", "myself", "我", "我的"})
_BY_THE_USER = frozenset({"let me", "i will", "i'll", "leave it to me", "由我", "让我来", "我来", "我自己"})


def _actor(it: Comparison) -> str | None:
    """Whose permission or review it takes is another's, or nobody's."""
    said = [operator for clause in it.rule.clauses for operator in clause.operators]
    has = operators_in(it.alignment.touched)
    wish = {operator.op for operator in said} & {Op.MUST, Op.SHOULD}
    mine = any(operator.text in _MINE and operator.segment is Segment.MAIN for operator in said)
    if mine and Op.USER not in has and (Op.AGENT in has or not wish):
        return "the user is no longer the one whom it names"
    bound = it.rule.users & {
        Segment.BEFORE,
        Segment.AFTER,
        Segment.GATE,
        Segment.UNLESS,
        Segment.UNTIL,
        Segment.WITHOUT,
        Segment.IF,
    }
    if any(operator.text in _BY_THE_USER for clause in it.rule.clauses for operator in clause.operators):
        doing = {operator.op for clause in it.alignment.touched for operator in clause.operators} & {Op.USER, Op.AGENT}
        if Op.USER not in doing:
            return "the user is no longer the one who does it"
    consents = any(item.key in _ASKING and other.key in _PERMISSION for item, other in it.alignment.pairs)
    if consents and not it.window.users:
        return "the user is no longer the one who is asked"
    lost = bound - it.window.users if not (same_gate(it) and it.window.users) else set()
    return "the user is no longer named where the rule names them" if lost else None


def _added(it: Comparison) -> str | None:
    """Words stand in the rule's clauses that the rule does not have: it may hold for less, or for more."""
    others = other_objects(it)
    measured = _measured(it)
    added = [
        item
        for item in it.alignment.added
        if item.key not in _GENERIC and item.key not in measured and item not in others
    ]
    if any(item.negative and other.negative for item, other in it.alignment.pairs):
        added = [item for item in added if not (item.negative and item.key in _PUTTING)]
    added = _without_appositions(added, it.window.items, (other for _, other in it.alignment.pairs))
    if any(item.key in _PERMISSION for _, item in it.alignment.pairs):
        added = [item for item in added if item.key not in _ASKING]
    if same_bound(it):
        added = [item for item in added if item.key not in _TOUCHING]
    return f"added: {_texts(added)}" if added else None


_INABILITY = frozenset({"can't", "cannot", "can not", "can't be", "cannot be", "can not be", "无法", "不能"})


def _reported(it: Comparison) -> str | None:
    """The rule became a report of what was done, or cannot be done for a reason."""
    for clause in it.alignment.touched:
        unable = {operator.text for operator in clause.operators} & _INABILITY
        if unable and clause.has(Op.BECAUSE) and not any(one.has(Op.BECAUSE) for one in it.rule.clauses):
            return f"a report: {min(unable)}"
    for item, other in it.alignment.pairs:
        if other.segment is Segment.MAIN and other.reports and not item.reports and item.text != other.text:
            return f"a report: {other.text}"
    return None


def _joined(it: Comparison) -> str | None:
    """`and` became `or`, `from` became `to`, or two names changed places."""
    roles = 0
    had = {operator.text for clause in it.rule.clauses for operator in clause.operators}
    has = {operator.text for clause in it.alignment.touched for operator in clause.operators}
    for pair in OPPOSITES:
        for one, other_one in (pair, pair[::-1]):
            if one in had - has and other_one in has - had:
                return f"{one} became {other_one}"
    for item, other in it.alignment.pairs:
        if (
            item.joined != other.joined
            and {item.joined, other.joined} == {"and", "or"}
            and not same_denial(it, item, other)
        ):
            return f"{item.joined} became {other.joined}: {other.text}"
        if (item.role == "not") != (other.role == "not"):
            return f"turned round: {other.text}"
        if {item.role, other.role} == {"from", "to"}:
            return f"{item.role} became {other.role}: {other.text}"
        roles += item.sort is Sort.ANCHOR and item.role != other.role
    if roles > 1 or crossed(it):
        return "two names changed places"
    pairs = sorted(it.alignment.pairs, key=lambda pair: pair[0].start)
    words = [other.start for item, other in pairs if item.sort is Sort.WORD]
    if words != sorted(words):
        return None
    last: tuple[int, int] | None = None
    for place, (item, other) in enumerate(pairs):
        if item.sort is Sort.WORD:
            continue
        if last is not None and last[1] > other.start and place - last[0] > 1:
            return "two names changed places"
        last = place, other.start
    return None


CHECKS: tuple[tuple[str, Callable[[Comparison], str | None]], ...] = (
    ("question", _question),
    ("quantity", _quantity),
    ("anchor", _anchor),
    ("revoked", _status(Op.REVOKED, "taken back")),
    ("lifted", _lifted),
    ("polarity", _polarity),
    ("hedged", _status(Op.HEDGE, "uncertain")),
    ("hearsay", _status(Op.HEARSAY, "said by another")),
    ("reported", _status(Op.PAST, "a report")),
    ("permitted", _permitted),
    ("weaker", _weaker),
    ("condition", _condition),
    ("order", _order),
    ("extent", _extent),
    ("joined", _joined),
    ("word", _word),
    ("actor", _actor),
    ("added", _added),
    ("reported", _reported),
)


def objection(rule: Reading, window: Reading, alignment: Alignment) -> tuple[str, str] | None:
    """The first check that objects, with what it says; None when the window keeps the rule."""
    comparison = Comparison(rule, window, alignment)
    for name, check in CHECKS:
        said = check(comparison)
        if said is not None:
            return name, said
    return None
