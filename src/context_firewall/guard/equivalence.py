"""What a rule and a window say in different shapes, and what looks alike and is not. SPEC.md, GRD-18 to GRD-24.

Each function looks at the words that stand for each other: which of them may differ in negation, segment or joining
because another word makes up for it, and which have changed places.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from math import inf
from typing import NamedTuple

from context_firewall.guard.alignment import PLACING, Alignment, operators_in
from context_firewall.guard.clauses import PRONOUNS, RELATIVE
from context_firewall.guard.lexicon import Op
from context_firewall.guard.reading import Clause, Item, Reading, Segment


class Comparison(NamedTuple):
    """What the checks look at."""

    rule: Reading
    window: Reading
    alignment: Alignment


def same_bound(it: Comparison) -> bool:
    """`nothing but X` for `only X`: a prohibition with an exception, and a bounded permission, that name the same."""
    for one, other, index in ((it.rule, it.window, 0), (it.window, it.rule, 1)):
        excepted = [pair for pair in it.alignment.pairs if pair[index].segment is Segment.EXCEPT]
        rest = [pair for pair in it.alignment.pairs if pair[index].segment is not Segment.EXCEPT]
        forbids = any(item.negative for item in one.items)
        bounded = any(clause.has(Op.ONLY) for clause in other.clauses)
        allowed = excepted and not any(pair[1 - index].negative for pair in excepted)
        excepts = any(item.segment is Segment.EXCEPT for item in other.items)
        if forbids and bounded and allowed and not excepts and rest:
            return True
    return False


def same_elsewhere(it: Comparison) -> bool:
    """Whether both sides say the same with their negations and conditions in different places."""
    return same_gate(it) or _same_need(it)


def same_gate(it: Comparison) -> bool:
    """`never X without Y` for `Y before X`, or the other way round."""
    for index in (0, 1):
        clauses = {pair[index].clause for pair in it.alignment.pairs if pair[index].segment is Segment.BEFORE}
        found = {
            (pair[index].segment, pair[index].negative, pair[1 - index].segment, pair[1 - index].negative)
            for pair in it.alignment.pairs
            if pair[index].clause in clauses or not _is_plain(pair)
        }
        if found == {
            (Segment.MAIN, False, Segment.GATE, False),
            (Segment.BEFORE, False, Segment.MAIN, True),
        }:
            return True
    return False


def _is_plain(pair: tuple[Item, Item]) -> bool:
    """Whether both sides order the same thing in their main clause."""
    return all(item.segment is Segment.MAIN for item in pair) and pair[0].negative == pair[1].negative


def _same_need(it: Comparison) -> bool:
    """`X needs Y` for `X must have Y`, or the other way round: a requirement, and a duty without a verb of its own."""
    for one, other, index in ((it.rule.clauses, it.alignment.touched, 0), (it.alignment.touched, it.rule.clauses, 1)):
        found = {
            (pair[index].segment, pair[index].negative, pair[1 - index].segment, pair[1 - index].negative)
            for pair in it.alignment.pairs
        }
        needs = Op.REQUIRE in operators_in(one) and Op.NEG not in operators_in(one)
        if needs and Op.MUST in operators_in(other) and found == {
            (Segment.MAIN, True, Segment.MAIN, False),
            (Segment.GATE, False, Segment.MAIN, False),
        }:  # fmt: skip
            return True
    return False


def same_case(it: Comparison) -> set[Item]:
    """The rule's condition that the window tells of its subject: `if a job hangs, …` is `any job that hangs must …`."""
    condition = [(item, other) for item, other in it.alignment.pairs if item.segment is Segment.IF]
    places = {other.clause for _, other in condition}
    if not condition or len(places) != 1 or any(other.segment is not Segment.MAIN for _, other in condition):
        return set()
    clause = it.window.clauses[places.pop()]
    every = [one.start for one in clause.operators if one.op is Op.ALL]
    which = [one.start for one in clause.operators if one.text in RELATIVE]
    ruling = [one.start for one in clause.operators if one.op in (Op.MUST, Op.NEG)]
    starts = [other.start for _, other in condition]
    if not (every and which and ruling and every[0] < which[0] < ruling[0]):
        return set()
    told = every[0] < min(starts) < which[0] < max(starts) < ruling[0]
    rest = [other for item, other in it.alignment.pairs if item.segment is Segment.MAIN]
    return {item for item, _ in condition} if told and rest and min(one.start for one in rest) > ruling[0] else set()


def same_object(it: Comparison) -> set[Item]:
    """What `it` stands for in `don't mock the clock; inject it`, kept by `the clock is injected, not mocked`.

    So for `no floats for money; use cents` and `for money, cents, not floats`. What is forbidden stays forbidden, and
    what it was said of stands beside what is ordered.
    """
    stands_for = dict(it.alignment.pairs)
    for number, clause in enumerate(it.rule.clauses[1:], start=1):
        ordered = [item for item in it.rule.items if item.clause == number]
        denied = [item for item in it.rule.items if item.clause == number - 1]
        pronoun = any(one.text in PRONOUNS for one in clause.operators) and len(ordered) == 1
        verb, new_verb = (stands_for.get(items[0]) if items else None for items in (denied, ordered))
        if verb is None or new_verb is None or not verb.negative or new_verb.negative or ordered[0].negative:
            continue
        if pronoun or it.window.clauses[verb.clause].has(Op.CONTRAST):
            return {one for one in denied[1:] if one.negative and _beside(stands_for.get(one), new_verb, it.window)}
    return set()


def _beside(one: Item | None, other: Item, window: Reading) -> bool:
    """Whether a word stands in another's clause, or in what opens it: `for money, …`."""
    if one is None or one.segment is not other.segment:
        return False
    return one.clause == other.clause or (
        one.clause == other.clause - 1 and window.clauses[one.clause].opening in PLACING
    )


def same_denial(it: Comparison, item: Item, other: Item) -> bool:
    """`not a or b` is `a and b are forbidden`."""
    if not (item.negative and other.negative):
        return False
    for one, reading in ((item, it.rule), (other, it.window)):
        if one.joined == "and":
            return one.start < _spread(reading.clauses[one.clause])
    return False


def _spread(clause: Clause) -> float:
    """Up to where what forbids is said of each that `and` joins: `a and b are forbidden`, `free of a and b`."""
    denials = [one for one in clause.operators if one.op is Op.NEG]
    if any(one.text.endswith(_EACH) for one in denials):
        return inf
    return denials[-1].start if denials else -1


_EACH = (" of", " from")


def other_objects(it: Comparison) -> set[Item]:
    """Other things that are forbidden beside what the rule forbids: `neither a nor b`, `a and b are forbidden`.

    Each is what stands before `or`, `and` or a comma, or behind it, with the words directly beside it; after a
    preposition, it is no thing.
    """
    held = {other for _, other in it.alignment.pairs}
    spread = {number: _spread(clause) for number, clause in enumerate(it.window.clauses)}
    found: set[Item] = set()
    for run, follows in _runs(it.window.items):
        first = run[0]
        joined = first if first.joined else follows
        denied = first.negative and first.segment is Segment.MAIN
        each = joined is not None and (joined.joined == "or" or joined.start < spread[joined.clause])
        if denied and each and not held & {*run}:
            found.update(run)
    return found


def _runs(items: tuple[Item, ...]) -> list[tuple[list[Item], Item | None]]:
    """The first words of each clause and those joined to them; with each the next word, if that is joined to it."""
    found: list[tuple[list[Item], Item | None]] = []
    run: list[Item] = []
    clause = -1
    for item, after in pairwise((*items, None)):
        assert item is not None  # noqa: S101  only the last is
        opens = item.joined or item.clause != clause
        run = [item] if opens else [*run, item] if run else []
        clause = item.clause
        ends = after is None or after.clause != item.clause
        if run and (ends or (after is not None and (after.joined or after.start - item.end > 1))):
            found.append((run, after if after is not None and after.joined and not ends else None))
            run = []
    return found


def swapped(it: Comparison) -> list[Item]:
    """What stands under the condition of something else: `if a, x; if b, y` is not `if b, x; if a, y`."""
    if sum(item.segment is Segment.IF for item in it.rule.items) < 2:  # one condition has no other
        return []
    had, has = _governing(it.rule.items), _governing(it.window.items)
    stands_for = dict(it.alignment.pairs)
    moved = []
    for item, other in it.alignment.pairs:
        wanted = {stands_for[one] for one in had.get(item, ()) if one in stands_for}
        strange = {stands_for[one] for one in stands_for if one.segment is Segment.IF} - wanted
        if wanted - has.get(other, set()) and strange & has.get(other, set()):
            moved.append(other)
    return moved


def _governing(items: Iterable[Item]) -> dict[Item, set[Item]]:
    """Under which words of a condition each item of a main clause stands: of its clause, or of the one before it."""
    conditions: dict[int, set[Item]] = {}
    mains: dict[int, list[Item]] = {}
    for item in items:
        if item.segment is Segment.IF:
            conditions.setdefault(item.clause, set()).add(item)
        elif item.segment is Segment.MAIN:
            mains.setdefault(item.clause, []).append(item)
    found = {}
    for clause, held in mains.items():
        before = conditions.get(clause - 1, set()) if clause - 1 not in mains else set()
        found.update(dict.fromkeys(held, conditions.get(clause) or before))
    return found


def crossed(it: Comparison) -> bool:
    """`comments in Chinese, names in English` is not `comments in English, names in Chinese`."""
    told: dict[int, set[int]] = {}
    often = Counter(item.key for item in it.rule.items)
    had, has = _parts(it.rule.items), _parts(it.window.items)
    for item, other in it.alignment.pairs:
        if often[item.key] == 1:  # else it does not tell which of them stands where
            told.setdefault(had[item.start], set()).add(has[other.start])
    split = [frozenset(parts) for parts in told.values() if len(parts) > 1]
    return len(split) != len(set(split))


def _parts(items: Iterable[Item]) -> dict[int, int]:
    """In which part each item stands, by its place: a clause, or what `and` divides one into."""
    found: dict[int, int] = {}
    part, clause = 0, -1
    for item in sorted(items, key=lambda item: item.start):
        part += item.clause != clause or item.joined == "and"
        clause = item.clause
        found[item.start] = part
    return found
