"""Chinese: the force stands in the operator; 了 and 过 report, 吗 and 是否 ask."""

import re
from collections.abc import Callable
from typing import NamedTuple

from context_firewall.guard.lexicon import Op
from context_firewall.guard.orders import BOUNDS, RELEASE, Found, Kind, has_quantity, operators_of
from context_firewall.guard.tokens import Token

_NO_RULE = re.compile(
    r"[吗呢?]|为什么|为何|怎么|是不是|是否|要不要|能不能|可不可以|行不行"
    # habits and reports
    r"|(?:之前|以前|过去|曾经)(?:都|总|一直|就)|从来(?:没|不)|没有?.{0,8}过|一直(?:没|不|在)|总是(?:失败|报错|出错|挂)"
    # guesses
    r"|(?:一定|应该|肯定|必)是|(?:一定|应该|肯定)(?:在|有|能|会|已|没)|(?:是|有)(?:问题|错)"
    # hearsay
    r"|(?:文档|手册|规范|注释|教程|说明|网上|博客|报告|日志|代码|readme|他们?|同事|老板|有人|书)[^,。]{0,6}"
    r"(?:写着|写的是|说|提到|规定|要求|显示|建议)"
)
_FORBIDDING = frozenset(
    """不要 不得 不许 不准 不可 不可以 不允许 不应 不应该 不应当 禁止 严禁 切勿 请勿 勿 别 千万别 千万不要 绝不
    绝不能 绝不可 绝对不要 绝对不能 绝对不许 永远不要 永远不能 一律不 一律不得 避免 杜绝 禁用 都不许 都不要
    都不能 不能 不想 不希望""".split()
)
_ALSO_INABILITY = frozenset({"不能", "不应该", "不可以"})
_PAST = frozenset("了 过 已 已经 曾 刚 刚刚 昨天".split())
_ALSO_WISH = frozenset("要求 想要 希望 需 要 需要 一直 永远 得先".split())
_ONLY = frozenset("只能 仅限 只许 只准 只允许 仅允许 仅能 只可 仅可 限于".split())


class _Said(NamedTuple):
    """A sentence as the rules look at it."""

    words: str
    operators: frozenset[Op]
    parts: list[Token]
    past: bool

    def any_of(self, op: Op, words: frozenset[str]) -> bool:
        """Whether one of these words is there as this operator."""
        return any(token.op is op and token.text in words for token in self.parts)

    def says(self, pattern: str) -> bool:
        """Whether a pattern is found."""
        return re.search(pattern, self.words) is not None


def _duty(it: _Said) -> bool:
    return any(token.op is Op.MUST and token.text not in _ALSO_WISH for token in it.parts)


def _standing(it: _Said) -> bool:
    opens = it.says(r"^(?:以后|今后|从现在起|接下来|用|使用|保持|统一|始终|一律)")
    alike = it.says(r"(?:统一|一律)(?:使?用|设|采用|写|放|大写|小写)|^所有.{1,12}(?:大写|小写)|^每.{1,12}就")
    return (opens or alike) and not it.past and not it.says(r"吧|一下|看看")


def _please(it: _Said) -> bool:
    if it.says(r"^(?:请|你?只|仅)") and (Op.ONLY in it.operators or "请" in it.words):
        return True
    return it.says(r"请(?:用|使用|先|务必|勿|始终|保持|统一|一律|在|不|按|遵)")


def _condition(it: _Said) -> bool:
    conditions = {Op.IF, Op.POST_IF, Op.UNLESS, Op.ONLYIF}
    orders = {Op.END, Op.MUST, Op.NEG, Op.THEN, Op.SEQUENCE}
    return bool(it.operators & conditions and it.operators & orders)


# In order; the first that holds names the rule.
_RULES: tuple[tuple[Kind, str, Callable[[_Said], bool]], ...] = (
    (Kind.PREFERENCE, "preference", lambda it: Op.SHOULD in it.operators),
    (Kind.OBLIGATION, "duty", _duty),
    (Kind.LIMIT, "bound", lambda it: bool(it.operators & BOUNDS) and has_quantity(it.parts)),
    (Kind.LIMIT, "only", lambda it: it.any_of(Op.ONLY, _ONLY)),
    (Kind.OBLIGATION, "order", _please),
    (
        Kind.OBLIGATION,
        "order of steps",
        lambda it: Op.SEQUENCE in it.operators and bool(it.operators & {Op.THEN, Op.POST_BEFORE, Op.POST_AFTER}),
    ),
    (Kind.OBLIGATION, "condition", _condition),
    (
        Kind.OBLIGATION,
        "duty",
        lambda it: (
            Op.MUST in it.operators and it.says(r"(?:每次|所有|每个|任何|全部|都|一律|以后|今后|从现在起).{0,60}[要需]")
        ),
    ),
    (Kind.OBLIGATION, "standing order", _standing),
    (Kind.LIMIT, "bound", lambda it: it.says(r"保持|设为|控制在|限制在") and has_quantity(it.parts)),
    (Kind.LIMIT, "only", lambda it: "只读" in it.words or ("只用" in it.words and not it.past)),
    (Kind.OBLIGATION, "order of steps", lambda it: it.says(r"[前后],?[先要都请]")),
)


def judged(words: str, parts: list[Token]) -> Found | str | None:
    """What a sentence is."""
    operators = operators_of(parts)
    if Op.HEARSAY in operators or _NO_RULE.search(words):
        return None
    it = _Said(words, operators, parts, any(token.op is Op.PAST and token.text in _PAST for token in parts))
    if operators & {Op.LIFT, Op.REVOKED} and not it.any_of(Op.NEG, _FORBIDDING):
        return RELEASE
    unable = it.past or "我不能" in words
    if it.any_of(Op.NEG, _FORBIDDING - _ALSO_INABILITY if unable else _FORBIDDING):
        return Kind.PROHIBITION, "prohibition"
    if it.past and not it.says(r"必须|务必|一定要|如果|若|只要|一旦"):
        return None
    for kind, rule, holds in _RULES:
        if holds(it):
            return kind, rule
    return RELEASE if Op.MAY in operators and "可以" in words and "直接" in words else None
