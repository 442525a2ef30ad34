"""Sentences to a reading: which words a rule is made of, and what stands over each of them. The rules:

- A clause ends at a point, and at `and` or `but` when a verb or an operator follows.
- A negation rules its clause's segment; a second one rules from where it stands; `not X` after a comma or a verb, and
  `instead of X`, rule only what follows. A fragment without a verb or an operator goes on as the clause before it.
- What follows a marker is its segment, to the clause's end. Of markers that stand behind (Chinese 之前, Japanese 前に)
  it is what precedes them.
- `without` in a clause that orders rules out what follows it.
- A forbidden clause with `until`, `unless`, `before` or `without` and an allowed one with `only after` say the same:
  a gate.
- A verb in the past without an auxiliary reports.
"""

import re

from context_firewall.guard.breaks import is_break
from context_firewall.guard.folding import Folded
from context_firewall.guard.lexicon import Lexicon, Op, lexicon
from context_firewall.guard.reading import Clause, Item, Operator, Reading, Segment
from context_firewall.guard.sentences import Sentence
from context_firewall.guard.tokens import Sort, Token, tokens, word_key
from context_firewall.guard.weighing import CONDITIONS, bounded, weighed

MARKERS = {
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
_BEHIND = {
    Op.POST_IF: Segment.IF,
    Op.POST_BEFORE: Segment.BEFORE,
    Op.POST_AFTER: Segment.AFTER,
    Op.POST_EXCEPT: Segment.EXCEPT,
    Op.POST_UNTIL: Segment.UNTIL,
    Op.POST_DURING: Segment.DURING,
}
_GATES = frozenset({Segment.UNTIL, Segment.UNLESS, Segment.WITHOUT, Segment.BEFORE})
_RULING = frozenset({Op.NEG, Op.MUST, Op.SHOULD, Op.MAY, Op.CONTRAST, Op.LIFT, Op.DOUBLE})
_SILENT = frozenset({Op.LIGHT, Op.CLAUSE, Op.AGENT})
_STATUS = frozenset({Op.REVOKED, Op.HEDGE, Op.HEARSAY})  # also acts: a rule may forbid to drop something

ORDERED = 1000
"""How far `before` and `after` stand from the main clause in rank."""
_SHIFTS = {Segment.BEFORE: ORDERED, Segment.AFTER: -ORDERED}
_WEIGHTS = {Sort.WORD: 1.0, Sort.ANCHOR: 2.0, Sort.QUANTITY: 2.0, Sort.OPERATOR: 1.0}
_SIGN_WEIGHT = 0.5

_JOINING = {
    ",": ",",
    **dict.fromkeys("and 和 与 及 以及 并 并且 und y e et и".split(), "and"),
    **dict.fromkeys("or nor 或 或者 oder o ou или".split(), "or"),
}
_ROLES = {"from": "from", "to": "to", "into": "to", "onto": "to", "out of": "from", "从": "from", "到": "to"}
OPPOSITES = (
    *(("up", "down"), ("on", "off"), ("in", "out"), ("above", "below"), ("over", "under"), ("inside", "outside")),
    *(("first", "second"), ("first", "third"), ("second", "third"), ("上", "下"), ("里", "外"), ("内", "外")),
)
PARTICLES = frozenset(word for pair in OPPOSITES for word in pair)
_INVERTED = frozenset("should sollte sollten".split())  # `should it fail, stop`
_BUT = frozenset("but sondern sino mais 而是".split())
_NOTHING = frozenset({"no", "nothing", "none", "nobody", "kein", "keine", "nichts", "niemand"})
_ARTICLES = frozenset("the a an its all each every any".split())
RELATIVE = frozenset({"that", "which", "who"})
PRONOUNS = frozenset({"it", "them"})
_TOLD = RELATIVE | PRONOUNS | {"one"}  # light words that the comparison asks for
_NEAR = 40  # tokens in which a subject stands before its verb
_NEEDED = frozenset({"needed", "required", "is required", "necessary", "is needed", "is necessary"})
_WANTING = frozenset("要 需要 需 想 想要".split())  # 要升级先问我: who wants to upgrade asks first
_ONLY_THEN = frozenset("才 才能 才可以 才可 方可 后才能 之后才".split())
_PREPOSITIONS = frozenset("for in on at from with when within during für para por pour для".split())
# Negations that describe rather than order; inside a condition they belong to it.
_DESCRIBING = frozenset(
    {"is not", "isn't", "are not", "aren't", "does not", "doesn't", "cannot", "can't", "no", "none", "nothing"}
    | {"没有", "不", "未", "不能", "不会", "无", "不是"}
)
_WAITING = frozenset({"wait", "await", "wart", "等"})
_FORBIDDING = re.compile(
    r"^(?:must|may|shall) |forbidden|prohibited|banned|ruled out|allowed|permitted|^nicht$|verboten"
)
_RESUMING = frozenset({"it", "they", "it's", "they're", "them", "它", "它们"})
_STATES = frozenset(Op) - {Op.LIGHT, Op.CLAUSE, Op.ALL, Op.USER}
_AUXILIARY = frozenset({"be", "is", "are", "been", "being", "to", "gets", "get"})
_PAST = re.compile(
    r"[a-z]{3,60}ed|ran|wrote|broke|chose|began|saw|knew|threw|drew|hid|overwrote|rewrote|sent|built|made"
)
_ORDERING = frozenset({Op.NEG, Op.MUST, Op.SHOULD, Op.MAY, Op.LIFT, Op.DOUBLE})


def read(folded: Folded, window: list[Sentence]) -> Reading:
    """Read neighbouring sentences as one."""
    items: list[Item] = []
    clauses: list[Clause] = []
    users: set[Segment] = set()
    rank = 0
    for number, sentence in enumerate(window):
        found = tokens(folded, sentence.start, sentence.end, sentence.language)
        rank = _read_sentence(found, lexicon(sentence.language), number, rank, items, clauses, users)
    asks = any(sentence.asks for sentence in window)
    return Reading(tuple(items), tuple(clauses), frozenset(users), asks)


def _read_sentence(
    found: list[Token],
    known: Lexicon,
    number: int,
    rank: int,
    items: list[Item],
    clauses: list[Clause],
    users: set[Segment],
) -> int:
    """Read clause after clause, and add what they hold.

    `rank` is where a sequence stands that the sentence before began; returned is where it goes on.
    """
    sequence = rank > 0 or any(token.op in (Op.THEN, Op.SEQUENCE) for token in found)
    begun = 0
    carried: tuple[Segment, bool] | None = None
    opening: int | None = None  # where the items of a condition begin that is a clause of its own: `Without X, never Y`
    for index in range(len(found) + 1):
        at_end = index == len(found)
        if not at_end and not is_break(found, index, known.verbs):
            continue
        if index > begun:
            ending = "" if at_end else found[index].text
            clause = _Clause(bounded(found[begun:index]), known, len(clauses), rank, sequence, ending, carried)
            clause.denied = bool(items) and items[-1].negative
            if carried is not None and (found[begun].op is Op.NEG or found[begun - 1].text in _BUT):
                clause.tells = clause.tells and not _orders(clauses[-1])  # `must be injected, never mocked`
            clause.read()
            if opening is not None and any(item.segment is Segment.MAIN and item.negative for item in clause.items):
                _gate(items, clauses, users, opening)
            only_gates = clause.items and all(item.segment in _GATES for item in clause.items)
            opening = len(items) if only_gates else None
            items += clause.items
            users |= clause.users
            clauses.append(clause.result(number))
            carried, rank = clause.carried, clause.rank + 1
            if not at_end and found[index].text in _BUT:
                carried = (carried[0], False)  # `never guess, but ask`
        begun = index + 1
    return rank if sequence else 0


def _orders(clause: Clause) -> bool:
    """Whether an auxiliary orders something in a clause: `must`, `must never`, `do not`, and not `never` alone."""
    return any(one.op is Op.MUST or (one.op is Op.NEG and " " in one.text) for one in clause.operators)


def _gate(items: list[Item], clauses: list[Clause], users: set[Segment], begun: int) -> None:
    """A condition before the comma is a gate when what follows is forbidden."""
    if users & _GATES:
        users -= _GATES
        users.add(Segment.GATE)
    items[begun:] = [
        item._replace(segment=Segment.GATE, rank=item.rank - _SHIFTS.get(item.segment, 0)) for item in items[begun:]
    ]
    clauses[-1] = clauses[-1]._replace(segments=frozenset({Segment.GATE}))


class _Clause:
    """One clause while it is read: where in it we are, and what rules that place."""

    def __init__(
        self,
        found: list[Token],
        known: Lexicon,
        number: int,
        rank: int,
        sequence: bool,
        ending: str,
        carried: tuple[Segment, bool] | None,
    ) -> None:
        self.found, self.known = found, known
        self.number, self.rank, self.sequence, self.ending = number, rank, sequence, ending
        self.label = ending == ":"
        self.denied = False  # whether what precedes the clause is forbidden
        self.items: list[Item] = []
        self.users: set[Segment] = set()
        self.operators: list[Operator] = []
        goes_on = carried is not None and _goes_on(found, known.verbs, carried[1])
        self.segment, self.negative = carried if goes_on and carried is not None else (Segment.MAIN, False)
        if any(token.op is Op.ONLY for token in found):
            self.negative = False  # `no new features, bug fixes only`
        self.boundary = 0  # where the present segment began
        self.ruled = False  # whether a negation stands over it already
        self.initial = True  # whether nothing stood before
        self.conditional = False  # whether the clause began with a condition
        self.denial = ""  # the last negation
        self.nothing = False  # whether it says of nothing what it says
        self.only = False  # whether it allows only what comes
        self.contrast: bool | None = None  # what held before `not X`, once X is there
        self.pending: bool | None = None
        self.joined = self.role = ""
        texts = {token.text for token in found}
        blocked = any(token.op in _ORDERING and token.text not in ("never", "always") for token in found)
        self.tells = known.name == "english" and not self.label and not blocked and not texts & _AUXILIARY

    @property
    def carried(self) -> tuple[Segment, bool]:
        """How a fragment behind this clause goes on."""
        return (Segment.MAIN if self.conditional else self.segment), self.negative

    def read(self) -> None:
        """Read token after token, then settle what only the whole clause tells."""
        soft = any(token.op is Op.SHOULD for token in self.found)
        numbered = any(token.sort is Sort.QUANTITY for token in self.found)
        for place, token in enumerate(self.found):
            if self.contrast is not None and token.text in _PREPOSITIONS:
                self.negative, self.contrast = self.contrast, None
            op = weighed(self.found, place, numbered=numbered, soft=soft, verbs=self.known.verbs)
            op = self._in_place(op, token, place)
            self._apply(op, token, place)
            self.joined = _JOINING.get(token.text, self.joined)
            self.role = _ROLES.get(token.text, self.role)
            if op not in (None, Op.LIGHT) or token.text in PARTICLES or token.text in _TOLD:
                key = word_key(token.text, self.known.name)
                self.operators.append(Operator(op or Op.LIGHT, key, token.text, self.segment, token.start))
            if token.text in self.known.implied:
                self._add(token, word_key(self.known.implied[token.text], self.known.name), 0.0)
            if op not in _SILENT and op is not Op.THEN and token.sort is not Sort.POINT:
                self.initial = False
        self._settle_gates()
        if self.denied and self._gives_reason():
            self.items = [item._replace(segment=Segment.BECAUSE) for item in self.items]

    def _gives_reason(self) -> bool:
        """`never run it; it books flights`: a statement of what the rule is about, without a name or a number."""
        if self.found[0].text not in _RESUMING or any(one.op in _STATES for one in self.found):
            return False
        return all(item.segment is Segment.MAIN and item.sort is Sort.WORD for item in self.items)

    def _in_place(self, op: Op | None, token: Token, place: int) -> Op | None:
        """What an operator is where the clause stands now."""
        if op is Op.THEN and self.conditional and self.segment in CONDITIONS:
            return Op.END
        if op is Op.REQUIRE and self.segment is Segment.IF and self.conditional:
            return Op.LIGHT  # `if you need a secret`
        if token.text in _NEEDED and self.segment is Segment.IF and self.conditional:
            return Op.LIGHT
        if token.text == "last" and self.sequence and place + 1 == len(self.found) and self.items:
            return Op.LIGHT  # `testing last`
        if self.initial and token.text in _INVERTED and self.ending == ",":
            return Op.IF
        if (
            self.initial
            and token.text in _WANTING
            and any(other.op is Op.END or other.text == "先" for other in self.found[place + 2 :])
        ):
            return Op.IF
        if op is Op.SEQUENCE and token.text == "先" and self.conditional and self.segment is Segment.IF:
            return Op.END
        if op is Op.BECAUSE and token.text in ("否则", "otherwise") and self.segment in (Segment.UNLESS, Segment.GATE):
            return Op.END
        if self.only and (op in (Op.IF, Op.AFTER) or token.text in ("with", "upon", "mit", "con", "com", "avec")):
            self.only = False
            self.operators = [one for one in self.operators if one.op not in (Op.ONLY, Op.MAY)]
            return Op.ONLYIF
        beside = [self.found[index].op for index in (place - 1, place + 1) if 0 <= index < len(self.found)]
        if token.text in ("should", "should be") and self.nothing:
            return Op.MUST  # `nothing should be guessed`, as `should not`
        if op is Op.REQUIRE and not token.text.isascii() and len(self.items) == self.boundary:
            return Op.MUST  # 删除之前必须得到同意: what it takes is said before
        if op is Op.NEG and self._describes(place):
            self.role = "not"
            return Op.LIGHT  # `files that you do not change`, `never edit files you do not own`
        if op is Op.ONLY and (self.initial or Op.MAY in beside):
            self.only = True
        return op

    def _describes(self, place: int) -> bool:
        """Whether a negation stands in a relative clause, beside a word that it describes."""
        before = self.found[max(0, place - 2) : place]
        named = bool(before) and before[-1].op in (Op.USER, Op.AGENT)
        before = before[:-1] if named else before
        if not before or not self.items:
            return False
        return before[-1].text in RELATIVE or (named and self.ruled and before[-1].sort is Sort.WORD)

    def _apply(self, op: Op | None, token: Token, place: int) -> None:
        """Let a token do what it does."""
        if op in (Op.NEG, Op.MUST, Op.MAY) and self._ends_condition(op, token):
            subject = self._subject(place)
            self._begin(Segment.MAIN)
            if subject:
                self.boundary -= subject
                self.items[self.boundary :] = [
                    item._replace(segment=Segment.MAIN, rank=self.rank if self.sequence else 0)
                    for item in self.items[self.boundary :]
                ]
        if op in (Op.MUST, Op.MAY) and self.segment is Segment.EXCEPT and self.nothing:
            self._begin(Segment.MAIN)
            self.negative = self.ruled = True  # `nothing outside x may be touched`
        if op is Op.NEG and self._forbids_all(token):
            self._begin(Segment.MAIN)
            self.items = [item._replace(negative=item.segment is Segment.MAIN or item.negative) for item in self.items]
        if op is Op.REQUIRE and self.initial:
            return
        if op in MARKERS:
            if op in (Op.REQUIRE, Op.ONLYIF):
                self._rule_segment()
            self._begin(MARKERS[op])
            self.conditional = self.conditional or self.initial
        elif op in _BEHIND:
            if op is Op.POST_EXCEPT:
                self._drop_only()
            self._move_segment(_BEHIND[op])
            self._begin(Segment.MAIN)
        elif op is Op.END:
            gated = self.segment is Segment.GATE
            self._begin(Segment.MAIN)
            self.negative = self.ruled = gated  # 只有 X 才 Y: without X, no Y
        elif op is Op.THEN and token.text in _ONLY_THEN and any(item.segment is Segment.AFTER for item in self.items):
            self.items = [
                item._replace(segment=Segment.GATE, rank=item.rank + ORDERED) if item.segment is Segment.AFTER else item
                for item in self.items
            ]
            self._begin(Segment.MAIN)
            self.negative = self.ruled = True
        elif op is Op.THEN:
            self.segment = self.segment if self.segment is Segment.BECAUSE else Segment.MAIN
            self.rank += 1
            self.boundary = len(self.items)
        elif op is Op.NEG:
            if not self.ruled:
                self._rule_segment()
            self.denial = token.text
            self.nothing = self.nothing or token.text in _NOTHING
            contrasted = self.pending is not None or self.contrast is not None
            self.negative, self.ruled = not contrasted, True  # `instead of never X`
        elif op is Op.CONTRAST:
            self.pending, self.contrast = self.negative, None
            self.negative, self.ruled = True, True
        elif op is Op.DOUBLE:
            self.negative, self.ruled = False, True
        elif op is Op.USER:
            self.users.add(self.segment)
        elif op in _STATUS or (op is None and token.sort is not Sort.POINT):
            self._word(token)

    def _begin(self, segment: Segment) -> None:
        self.segment, self.negative, self.boundary, self.ruled = segment, False, len(self.items), False

    def _ends_condition(self, op: Op, token: Token) -> bool:
        """Whether an operator ends the condition that opened the clause."""
        if not self.conditional or self.segment is Segment.MAIN:
            return False
        if len(self.items) == self.boundary and self.segment is not Segment.DURING:
            return False
        return not (self.segment is Segment.IF and op is Op.NEG and token.text in _DESCRIBING)

    def _subject(self, place: int) -> int:
        """How many items before an operator are its subject, not the condition's: `before a run the file must …`."""
        near = self.found[max(0, place - _NEAR) : place]
        begins = [one.start for one in near if one.text in _ARTICLES]
        held = self.items[max(self.boundary, len(self.items) - _NEAR) :]
        if not begins or not held or begins[-1] < held[0].start:
            return 0
        return sum(item.start > begins[-1] for item in held)

    def _forbids_all(self, token: Token) -> bool:
        """`deploying after six is forbidden`: what stands before the time is, and not the time."""
        between = self.segment in (Segment.AFTER, Segment.DURING, Segment.WITHOUT, Segment.UNTIL)
        if not between or self.conditional or len(self.items) == self.boundary:
            return False
        return _FORBIDDING.search(token.text) is not None and any(item.segment is Segment.MAIN for item in self.items)

    def _word(self, token: Token) -> None:
        """A word, an anchor or a quantity; a Japanese ending is none."""
        weight = _WEIGHTS[token.sort]
        if token.sort is not Sort.ANCHOR and len(token.text) == 1 and not token.text.isascii():
            if "\u3041" <= token.text <= "\u309f":
                return
            weight = _SIGN_WEIGHT
        self._add(token, word_key(token.text, self.known.name) if token.op is not None else token.key, weight)
        if self.pending is not None:
            self.contrast, self.pending = self.pending, None

    def _add(self, token: Token, key: str, weight: float) -> None:
        rank = (self.rank if self.sequence else 0) + _SHIFTS.get(self.segment, 0)
        self.items.append(
            Item(
                Sort.WORD if token.sort is Sort.OPERATOR else token.sort,
                key,
                token.text,
                self.number,
                self.segment,
                self.negative,
                rank,
                token.start,
                token.end,
                weight,
                self.joined,
                self.role,
                self.tells and _PAST.fullmatch(token.text) is not None,
            )
        )
        self.joined = self.role = ""

    def _rule_segment(self) -> None:
        self.items[self.boundary :] = [item._replace(negative=True) for item in self.items[self.boundary :]]

    def _move_segment(self, segment: Segment) -> None:
        shift = _SHIFTS.get(segment, 0)
        moved = self.items[self.boundary :]
        absent = segment is Segment.IF and self.denial in _DESCRIBING  # 没有冲突时
        self.items[self.boundary :] = [
            item._replace(segment=segment, rank=item.rank + shift, negative=absent and item.negative) for item in moved
        ]
        if moved and Segment.MAIN in self.users:
            self.users.add(segment)

    def _drop_only(self) -> None:
        """`only X is exempt`: that no other is, the rule says."""
        only = {Op.ONLY, Op.ONLYIF} & {one.op for one in self.operators}
        self.operators = [one for one in self.operators if one.op not in (Op.ONLY, Op.ONLYIF, Op.MAY)]
        self.boundary = 0 if only else self.boundary

    def _settle_gates(self) -> None:
        """`never X without Y`, `no X until Y`: Y is a gate. `stop without retrying`: do not retry."""
        self._settle_waiting()
        if any(item.segment is Segment.MAIN and item.negative for item in self.items):
            self.items = [
                item._replace(segment=Segment.GATE, rank=item.rank - _SHIFTS.get(item.segment, 0))
                if item.segment in _GATES
                else item
                for item in self.items
            ]
            if self.users & _GATES:
                self.users = (self.users - _GATES) | {Segment.GATE}
        elif any(item.segment is Segment.MAIN for item in self.items):
            self.items = [
                item._replace(segment=Segment.MAIN, negative=True) if item.segment is Segment.WITHOUT else item
                for item in self.items
            ]

    def _settle_waiting(self) -> None:
        """`wait for X before Y`: no Y without X."""
        first = next((item for item in self.items if item.segment is Segment.MAIN), None)
        held = {item.segment for item in self.items}
        if first is None or first.key not in _WAITING or first.negative or Segment.BEFORE not in held:
            return
        permitted = any(one.op is Op.MAY for one in self.operators)
        if permitted or not held <= {Segment.MAIN, Segment.BEFORE, Segment.AFTER}:
            return
        self.items = [
            item._replace(segment=Segment.MAIN, negative=True, rank=item.rank - ORDERED)
            if item.segment is Segment.BEFORE
            else item._replace(segment=Segment.GATE, weight=0.0 if item is first else item.weight)
            for item in self.items
        ]
        if Segment.MAIN in self.users:
            self.users = (self.users - {Segment.MAIN}) | {Segment.GATE}

    def result(self, sentence: int) -> Clause:
        """The clause, read."""
        held = {item.segment for item in self.items}
        marked = {MARKERS[one.op] for one in self.operators if one.op in MARKERS and one.op is not Op.REQUIRE}
        segments = held | marked
        if not held & {Segment.WITHOUT, Segment.GATE}:
            segments.discard(Segment.WITHOUT)
        if Segment.GATE in held:
            segments = {Segment.GATE if segment in _GATES else segment for segment in segments}
        leading = next((token.op for token in self.found if token.op not in _SILENT), None)
        return Clause(
            sentence, tuple(self.operators), frozenset(segments), leading, self.found[0].text, self.label,
            bool(self.items), self.found[0].start, self.found[-1].end,
        )  # fmt: skip


_LISTED = 4  # tokens in which the last of a list is named: `never edit, move or delete it`


def _goes_on(found: list[Token], verbs: frozenset[str], denied: bool) -> bool:
    """Whether a clause is a fragment that goes on as the one before: no operator that rules it, no verb before it.

    In what is denied, a verb goes on, too, that `or` joins to the next.
    """
    meant = [
        token for token in found if token.op not in _SILENT and token.op is not Op.ALL and token.sort is not Sort.POINT
    ]
    if not meant or meant[0].op is not None:
        return False
    if meant[0].text in verbs and not (denied and any(token.text in ("or", "nor") for token in found[:_LISTED])):
        return False
    return not any(token.op in _RULING for token in meant)
