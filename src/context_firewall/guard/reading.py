"""Sentences to a reading: which words a rule is made of, and what stands over each of them.

A reading is a list of items. Each item knows its clause, its segment (the main clause, or what follows `until`,
`except`, `if` and the like), whether it is forbidden or ordered, and its rank where the text gives an order. The rules:

- A clause ends at a point, and at `and` or `but` when a verb or an operator follows.
- A negation rules its clause's segment; a second one rules from where it stands; `not X` after a comma or a verb, and
  `instead of X`, rule only what follows. A fragment without a verb or an operator goes on as the clause before it.
- What follows a marker is its segment, to the clause's end. Of markers that stand behind (Chinese 之前, Japanese 前に)
  it is what precedes them.
- `without` in a clause that orders rules out what follows it.
- A forbidden clause with `until`, `unless` or `without` and an allowed one with `only after` say the same: a gate.
"""

import re
from enum import Enum
from typing import NamedTuple

from context_firewall.guard.folding import Folded
from context_firewall.guard.lexicon import Op, lexicon
from context_firewall.guard.sentences import Sentence
from context_firewall.guard.tokens import Sort, Token, tokens, word_key


class Segment(Enum):
    """What part of a rule an item belongs to."""

    MAIN = "main"
    IF = "if"
    GATE = "gate"
    UNLESS = "unless"
    UNTIL = "until"
    WITHOUT = "without"
    EXCEPT = "except"
    DURING = "during"
    BECAUSE = "because"
    BEFORE = "before"
    AFTER = "after"


_PREFIX = {
    Op.IF: Segment.IF,
    Op.UNLESS: Segment.UNLESS,
    Op.UNTIL: Segment.UNTIL,
    Op.WITHOUT: Segment.WITHOUT,
    Op.EXCEPT: Segment.EXCEPT,
    Op.DURING: Segment.DURING,
    Op.ONLYIF: Segment.GATE,
    Op.REQUIRE: Segment.GATE,
    Op.BECAUSE: Segment.BECAUSE,
    Op.BEFORE: Segment.BEFORE,
    Op.AFTER: Segment.AFTER,
}
_POSTFIX = {
    Op.POST_IF: Segment.IF,
    Op.POST_BEFORE: Segment.BEFORE,
    Op.POST_AFTER: Segment.AFTER,
    Op.POST_EXCEPT: Segment.EXCEPT,
    Op.POST_UNTIL: Segment.UNTIL,
    Op.POST_DURING: Segment.DURING,
}
_GATES = frozenset({Segment.UNTIL, Segment.UNLESS, Segment.WITHOUT})
STATUS = frozenset({Op.REVOKED, Op.HEDGE, Op.HEARSAY, Op.PAST})
FORCE = frozenset({Op.MUST, Op.SHOULD, Op.MAY, Op.LIFT, Op.DOUBLE})
EXTENT = frozenset({Op.ONLY, Op.SOME, Op.ATMOST, Op.ATLEAST, Op.ALL})
_ORDERING = frozenset({Op.NEG, Op.MUST, Op.SHOULD, Op.MAY, Op.LIFT, Op.DOUBLE})
_AUXILIARY = frozenset({"be", "is", "are", "been", "being", "to", "gets", "get"})
_PAST = re.compile(r"[a-z]{3,}ed|ran|wrote|broke|chose|began|saw|knew|threw|drew|hid|overwrote|rewrote|sent|built|made")
_ORDERED = 1000  # how far `before` and `after` stand from the main clause in rank
# Negations that report or describe; inside a condition they belong to it.
_DESCRIBING = frozenset({"is not", "isn't", "are not", "aren't", "does not", "doesn't", "cannot", "can't", "no", "none", "nothing"})
_DESCRIBING_HAN = ("没有", "不", "未", "不能", "不会", "无", "不是")


class Item(NamedTuple):
    """One word, anchor or quantity of a rule."""

    sort: Sort
    key: str
    text: str
    clause: int
    segment: Segment
    negative: bool
    rank: int
    start: int
    end: int
    weight: float
    joined: str = ""
    """`and` or `or`, where one of them joins it to what precedes."""
    role: str = ""
    """`from` or `to`, where one of them stands before it."""
    reports: bool = False
    """Whether it is a verb in the past, as in a report."""
    also: tuple[str, ...] = ()
    """Keys of another language that say the same."""


class Operator(NamedTuple):
    """An operator, and the segment that it stands in."""

    op: Op
    key: str
    text: str
    segment: Segment
    start: int


class Clause(NamedTuple):
    """What operators a clause holds, and in which sentence of the window it stands."""

    sentence: int
    operators: tuple[Operator, ...]
    segments: frozenset[Segment]
    opens_with: Op | None
    label: bool
    """Whether it stands before a colon."""
    filled: bool
    """Whether it holds words beside its operators."""
    start: int
    end: int

    def has(self, *wanted: Op) -> bool:
        """Whether one of these operators is there."""
        return any(operator.op in wanted for operator in self.operators)


class Reading(NamedTuple):
    """What a window says."""

    items: tuple[Item, ...]
    clauses: tuple[Clause, ...]
    users: frozenset[Segment]
    """The segments in which the giver of the rules is named."""
    asks: bool
    languages: tuple[str, ...]


_WEIGHTS = {Sort.WORD: 1.0, Sort.ANCHOR: 2.0, Sort.QUANTITY: 2.0}


def read(folded: Folded, window: list[Sentence]) -> Reading:
    """Read neighbouring sentences as one."""
    items: list[Item] = []
    clauses: list[Clause] = []
    users: set[Segment] = set()
    for number, sentence in enumerate(window):
        found = tokens(folded, sentence.start, sentence.end, sentence.language)
        _Sentence(sentence.language, number, found, items, clauses, users).read()
    return Reading(
        tuple(items),
        tuple(clauses),
        frozenset(users),
        any(sentence.asks for sentence in window),
        tuple(sentence.language for sentence in window),
    )


_JOINING = {"and": "and", "or": "or", "和": "and", "与": "and", "及": "and", "以及": "and", "并": "and", "并且": "and", "或": "or", "或者": "or"} | {
    "und": "and", "oder": "or", "y": "and", "o": "or", "e": "and", "ou": "or", "et": "and", "и": "and", "или": "or"
}  # fmt: skip
_ROLES = {"from": "from", "to": "to", "into": "to", "onto": "to", "out of": "from", "从": "from", "到": "to"}
_PREPOSITIONS = frozenset({"for", "in", "on", "at", "from", "with", "when", "within", "during", "für", "in", "para", "por", "pour", "для"})
# Bounds only where a number stands in the clause; elsewhere `under` and `within` are places, and a limit is a thing.
_LOOSE = frozenset(
    """below under within above from max maximum limit limits cap minimum ceiling tops over 以下 以上 以内 之内 限制 上限 下限 限制为 最大 最小
    低于 高于 超过 unter über bis maximal máximo mínimo maximum minimum moins menos больше меньше более 이하 이상 まで""".split()
)


_TOOLS = frozenset({"make", "go", "set", "get", "put"})


def _weighed(found: list[Token], place: int, numbered: bool, verbs: frozenset[str]) -> Op | None:
    """What an operator is here: words such as `under`, `above` and `limited to` bound something only before a number."""
    token = found[place]
    if token.op is Op.LIGHT and token.text in _TOOLS and place and found[place - 1].op is None and found[place - 1].text in verbs:
        return None  # `pipe make output`: the program
    if token.text == "make" and place + 1 < len(found) and found[place + 1].text in ("output", "target", "targets"):
        return None
    if token.op not in (Op.ATMOST, Op.ATLEAST, Op.ONLY):
        return token.op
    after = next((other for other in found[place + 1 :] if other.op is not Op.LIGHT), None)
    bounded = after is not None and after.sort is Sort.QUANTITY
    if token.op is Op.ONLY:
        return Op.ATMOST if bounded and "ed to" in token.text else Op.ONLY
    if bounded or token.text not in _LOOSE or (place > 0 and found[place - 1].sort is Sort.QUANTITY):
        return token.op
    if token.text in ("limit", "limits", "max", "maximum", "cap", "minimum", "ceiling", "限制", "上限", "下限", "限制为"):
        return token.op if numbered else None
    return Op.LIGHT if token.text.isascii() else None


def _is_break(found: list[Token], index: int, verbs: frozenset[str]) -> bool:
    token = found[index]
    if token.sort is Sort.POINT:
        return token.text not in "-\"'" or token.text == "|"
    if token.op is not Op.CLAUSE:
        return False
    if token.text in ("but", "however", "yet", "但", "但是", "不过", "然而", "aber", "sondern", "pero", "mas", "mais", "но", "а"):
        return True
    following = found[index + 1] if index + 1 < len(found) else None
    if following is None:
        return False
    if following.op in (Op.NEG, Op.DOUBLE, Op.LIFT, Op.MUST, Op.SHOULD, Op.MAY, Op.CONTRAST, Op.ONLYIF, Op.ONLY):
        return True
    return following.sort is Sort.WORD and following.text in verbs and not _after_marker(found, index)


_LOOK_BACK = 40  # tokens; a longer list is taken for clauses of its own


def _after_marker(found: list[Token], index: int) -> bool:
    """Whether a list goes on here: between the last marker and here, no point."""
    for index in range(index - 1, max(-1, index - _LOOK_BACK), -1):
        if found[index].sort is Sort.POINT:
            return False
        if found[index].op in _PREFIX:
            return True
    return False


class _Sentence:
    """The state of reading one sentence: a value would have to be handed through each step."""

    def __init__(
        self,
        language: str,
        number: int,
        found: list[Token],
        items: list[Item],
        clauses: list[Clause],
        users: set[Segment],
    ) -> None:
        self.known = lexicon(language)
        self.number, self.found = number, found
        self.items, self.clauses, self.users = items, clauses, users
        self.sequence = any(token.op in (Op.THEN, Op.SEQUENCE) for token in found)
        self.rank = 0
        self.segment, self.negative = Segment.MAIN, False
        self.carried: tuple[Segment, bool] = (Segment.MAIN, False)

    def read(self) -> None:
        """Read clause after clause."""
        begun = 0
        for index in range(len(self.found) + 1):
            if index == len(self.found) or _is_break(self.found, index, self.known.verbs):
                if index > begun:
                    colon = index < len(self.found) and self.found[index].text == ":"
                    self._clause(self.found[begun:index], colon)
                    self.rank += 1
                begun = index + (index < len(self.found) and self.found[index].op is None)
                if index < len(self.found) and self.found[index].op is Op.CLAUSE:
                    begun = index + 1

    def _clause(self, found: list[Token], label: bool) -> None:
        if self._goes_on(found):
            segment, negative = self.carried
        else:
            segment, negative = Segment.MAIN, False
        first = len(self.items)
        boundary = first  # where the present segment began
        ruled = False  # whether a negation stands over the present segment already
        soft = any(token.op is Op.SHOULD for token in found)
        initial = True
        opened_first = False
        bounded = False  # whether the clause allows only what comes
        shown = False  # whether a contrast has its object already
        contrasted = False
        before = negative
        tells = self.known.name == "english" and not label and not any(
            (token.op in _ORDERING and token.text not in ("never", "always")) or token.text in _AUXILIARY for token in found
        )
        joined = role = ""
        operators: list[Operator] = []
        numbered = any(token.sort is Sort.QUANTITY for token in found)
        for place, token in enumerate(found):
            op = _weighed(found, place, numbered, self.known.verbs)
            if contrasted and shown and token.text in _PREPOSITIONS:
                negative, contrasted = before, False
            if op is Op.CONTRAST and token.text == "over" and not soft:
                op = Op.LIGHT
            if op is Op.LIFT and token.text in ("不用", "可不") and place + 1 < len(found) and found[place + 1].text.isascii():
                op = Op.NEG
            if op is Op.THEN and segment in (Segment.IF, Segment.GATE, Segment.AFTER, Segment.BEFORE) and opened_first:
                op = Op.END if segment is not Segment.AFTER else Op.THEN
            if bounded and (op in (Op.IF, Op.AFTER) or token.text in ("with", "upon", "mit", "con", "com", "avec")):
                op, bounded = Op.ONLYIF, False
                operators = [one for one in operators if one.op not in (Op.ONLY, Op.MAY)]
            bounded = bounded or (op is Op.ONLY and (initial or (place > 0 and found[place - 1].op is Op.MAY)))
            if op is Op.BECAUSE and token.text in ("否则", "otherwise") and segment in (Segment.UNLESS, Segment.GATE):
                op = Op.END
            if op in (Op.NEG, Op.MUST, Op.MAY) and segment is not Segment.MAIN and opened_first and self._ends(op, token, segment, boundary):
                segment, negative, boundary, ruled = Segment.MAIN, False, len(self.items), False
            if op in _PREFIX:
                if not (op is Op.REQUIRE and place == 0):
                    if op is Op.REQUIRE:
                        self._rule(boundary, True)
                    elif op is Op.ONLYIF:
                        self._rule(boundary, True)
                    segment, negative, boundary, ruled = _PREFIX[op], False, len(self.items), False
                    opened_first = opened_first or initial
            elif op in _POSTFIX:
                self._move(boundary, _POSTFIX[op])
                segment, negative, boundary, ruled = Segment.MAIN, False, len(self.items), False
            elif op is Op.END:
                segment, negative, boundary, ruled = Segment.MAIN, False, len(self.items), False
            elif op is Op.THEN:
                if segment is not Segment.BECAUSE:
                    segment = Segment.MAIN
                self.rank += 1
                boundary = len(self.items)
            elif op is Op.NEG:
                if not ruled:
                    self._rule(boundary, True)
                negative, ruled = True, True
            elif op is Op.CONTRAST:
                before, contrasted, shown = negative, True, False
                negative, ruled = True, True
            elif op is Op.DOUBLE:
                negative, ruled = False, True
            elif op is Op.USER:
                self.users.add(segment)
            elif (op is None and token.sort is not Sort.POINT) or op in (Op.REVOKED, Op.HEDGE, Op.HEARSAY):
                self._item(token, segment, negative)
                past = tells and _PAST.fullmatch(token.text) is not None
                self.items[-1:] = [item._replace(joined=joined, role=role, reports=past) for item in self.items[-1:]]
                joined, role, shown = "", "", True
            joined = _JOINING.get(token.text, joined)
            role = _ROLES.get(token.text, role)
            if op is not None and op not in (Op.LIGHT, Op.AGENT):
                key = word_key(token.text, self.known.name)
                operators.append(Operator(op, key, token.text, segment, token.start))
            if token.text in self.known.implied:
                self._implied(token, segment, negative)
            if op not in (Op.LIGHT, Op.CLAUSE, Op.AGENT, Op.THEN) and token.sort is not Sort.POINT:
                initial = False
        self._gates(first)
        segments = {item.segment for item in self.items[first:]} | {
            _PREFIX[operator.op] for operator in operators if operator.op in _PREFIX and operator.op is not Op.REQUIRE
        }
        if not any(item.segment in (Segment.WITHOUT, Segment.GATE) for item in self.items[first:]):
            segments.discard(Segment.WITHOUT)
        if segments & _GATES and any(item.segment is Segment.GATE for item in self.items[first:]):
            segments = {Segment.GATE if segment in _GATES else segment for segment in segments}
        leading = next((token.op for token in found if token.op not in (Op.LIGHT, Op.CLAUSE, Op.AGENT)), None)
        self.clauses.append(Clause(self.number, tuple(operators), frozenset(segments), leading, label, len(self.items) > first, found[0].start, found[-1].end))
        self.carried = (Segment.MAIN if opened_first else segment, negative)

    def _goes_on(self, found: list[Token]) -> bool:
        """Whether a clause is a fragment that goes on as the one before: no operator in it, and no verb before it."""
        if not self.clauses or self.clauses[-1].sentence != self.number:
            return False
        meant = [token for token in found if token.op not in (Op.LIGHT, Op.CLAUSE, Op.AGENT, Op.ALL) and token.sort is not Sort.POINT]
        if not meant or meant[0].op is not None or meant[0].text in self.known.verbs:
            return False
        return not any(token.op in (Op.NEG, Op.MUST, Op.SHOULD, Op.MAY, Op.CONTRAST, Op.LIFT, Op.DOUBLE) for token in meant)

    def _ends(self, op: Op, token: Token, segment: Segment, boundary: int) -> bool:
        """Whether an operator ends the condition that opened the clause."""
        if len(self.items) == boundary and segment not in (Segment.DURING,):
            return False
        if segment is Segment.IF and op is Op.NEG:
            return token.text not in _DESCRIBING and token.text not in _DESCRIBING_HAN
        return True

    def _item(self, token: Token, segment: Segment, negative: bool) -> None:
        rank = self.rank if self.sequence else 0
        rank += {Segment.BEFORE: _ORDERED, Segment.AFTER: -_ORDERED}.get(segment, 0)
        sort = Sort.WORD if token.sort is Sort.OPERATOR else token.sort
        weight = _WEIGHTS[sort]
        if sort is Sort.WORD and len(token.text) == 1 and not token.text.isascii():
            if "\u3041" <= token.text <= "\u309f":
                return  # an ending
            weight = 0.5
        key = word_key(token.text, self.known.name) if token.sort is Sort.OPERATOR else token.key
        self.items.append(
            Item(sort, key, token.text, len(self.clauses), segment, negative, rank, token.start, token.end, weight)
        )

    def _implied(self, token: Token, segment: Segment, negative: bool) -> None:
        """An operator that names its act: it weighs nothing, and may stand for the act in a rule or be left out."""
        key = word_key(self.known.implied[token.text], self.known.name)
        clause, rank = len(self.clauses), self.rank if self.sequence else 0
        self.items.append(Item(Sort.WORD, key, token.text, clause, segment, negative, rank, token.start, token.end, 0.0))

    def _rule(self, boundary: int, negative: bool) -> None:
        for index in range(boundary, len(self.items)):
            self.items[index] = self.items[index]._replace(negative=negative)

    def _move(self, boundary: int, segment: Segment) -> None:
        shift = {Segment.BEFORE: _ORDERED, Segment.AFTER: -_ORDERED}.get(segment, 0)
        for index in range(boundary, len(self.items)):
            item = self.items[index]
            self.items[index] = item._replace(segment=segment, rank=item.rank + shift, negative=False)
        if Segment.MAIN in self.users and boundary < len(self.items):
            self.users.add(segment)

    def _gates(self, first: int) -> None:
        """`never X without Y`, `no X until Y`: Y is a gate."""
        clause = self.items[first:]
        forbidden = any(item.segment is Segment.MAIN and item.negative for item in clause)
        if not forbidden:
            # `stop without retrying` is: stop, do not retry
            for index in range(first, len(self.items)):
                if self.items[index].segment is Segment.WITHOUT:
                    self.items[index] = self.items[index]._replace(segment=Segment.MAIN, negative=True)
            return
        for index in range(first, len(self.items)):
            if self.items[index].segment in _GATES:
                self.items[index] = self.items[index]._replace(segment=Segment.GATE)
        for segment in _GATES & self.users:
            self.users.add(Segment.GATE)
            self.users.discard(segment)
