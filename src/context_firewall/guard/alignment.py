"""Which words of a rule stand for which words of a window.

An item is found by its key, by how it is written, or by what another language calls it. The clause that holds most of
the rule is asked first, and a word that is forbidden, ordered or conditioned as the rule's is taken before others.
"""

from itertools import islice
from typing import NamedTuple

from context_firewall.guard.lexicon import Op
from context_firewall.guard.reading import Clause, Item, Reading, Segment
from context_firewall.guard.tokens import Sort

_FOREIGN = frozenset({Segment.BECAUSE})


class Alignment(NamedTuple):
    """Which item of the rule stands for which of the window, and what is left over on either side."""

    pairs: tuple[tuple[Item, Item], ...]
    missing: tuple[Item, ...]
    added: tuple[Item, ...]
    touched: tuple[Clause, ...]
    """The window's clauses that hold a part of the rule, and those that qualify them."""
    labels: tuple[Clause, ...]
    """What stands before the colon that introduces them."""
    coverage: float
    """The share of the rule's weight that the window holds, from 0 to 1."""


def wanted(rule: Reading) -> list[Item]:
    """The items of a rule that a summary must hold: all but its reasons, unless there is nothing else."""
    return [item for item in rule.items if item.segment not in _FOREIGN] or list(rule.items)


def _agrees(one: Item, other: Item) -> bool:
    return one.negative == other.negative and one.segment is other.segment


_CANDIDATES = 64  # of a word that a window repeats, so many are weighed against each other


def _candidates(places: dict[str, dict[int, None]], item: Item) -> list[int]:
    """Where the window has an item's word and nothing of the rule stands for it yet, in order."""
    keys = dict.fromkeys((item.key, item.text, *item.also))
    return sorted({index for key in keys for index in islice(places.get(key, ()), _CANDIDATES)})


def align(rule: Reading, window: Reading) -> Alignment:
    """Find each item of the rule in the window: in the clause that holds most of the rule first."""
    items = wanted(rule)
    places: dict[str, dict[int, None]] = {}
    for index, item in enumerate(window.items):
        for key in {item.key, item.text}:
            places.setdefault(key, {})[index] = None
    weight = [0.0] * len(window.clauses)
    for item in items:
        shares: dict[int, float] = {}
        for index in _candidates(places, item):
            other = window.items[index]
            share = item.weight * (1.0 if _agrees(item, other) else 0.5)
            shares[other.clause] = max(share, shares.get(other.clause, 0.0))
        for clause, share in shares.items():
            weight[clause] += share
    taken: set[int] = set()
    pairs, missing = [], []
    for item in sorted(items, key=lambda one: -one.weight):
        best = max(
            _candidates(places, item),
            key=lambda index: (_agrees(item, window.items[index]), weight[window.items[index].clause], -index),
            default=None,
        )
        if best is None:
            if item.weight:
                missing.append(item)
        else:
            taken.add(best)
            pairs.append((item, window.items[best]))
            for key in {window.items[best].key, window.items[best].text}:
                places[key].pop(best, None)
    held = {window.items[index].clause for index in taken}
    touched = _touched(window, held)
    added = tuple(
        item
        for index, item in enumerate(window.items)
        if index not in taken and item.clause in touched and item.segment not in _FOREIGN and item.weight
    )
    repeated = {item.key for item in items}
    added = tuple(item for item in added if item.key not in repeated or item.sort is not Sort.WORD)
    total, found = _weights(rule, window, items, pairs, missing, added)
    clauses = tuple(window.clauses[index] for index in sorted(touched))
    labels = tuple(
        window.clauses[index - 1]
        for index in sorted(touched)
        if index and window.clauses[index - 1].label and index - 1 not in touched
    )
    return Alignment(tuple(pairs), tuple(missing), added, clauses, labels, found / total if total else 0.0)


def dimension(item: Item) -> str:
    """What a quantity measures; empty for a bare number."""
    return item.key.partition(":")[0]


def _weights(
    rule: Reading,
    window: Reading,
    items: list[Item],
    pairs: list[tuple[Item, Item]],
    missing: list[Item],
    added: tuple[Item, ...],
) -> tuple[float, float]:
    """What the rule weighs, and how much of that the window holds.

    Another number for a number, or another path for a path, counts half; another amount of the same, in full. A
    bound or a prohibition weighs as a word does.
    """
    total = sum(item.weight for item in items)
    found = sum(item.weight for item, _ in pairs)
    anchors = sum(item.sort is Sort.ANCHOR for item in added)
    found += sum(item.weight / 2 for item in [item for item in missing if item.sort is Sort.ANCHOR][:anchors])
    dimensions = {dimension(item) for item in added if item.sort is Sort.QUANTITY}
    for item in missing:
        if item.sort is Sort.QUANTITY and dimensions:
            found += item.weight * (1.0 if dimension(item) and dimension(item) in dimensions else 0.5)
    bounds = {Op.ONLY, Op.ATMOST, Op.ATLEAST}
    had, has = operators_in(rule.clauses), operators_in(window.clauses)
    total += len(had & bounds)
    if had & bounds:
        found += len(had & bounds & has) or (0.5 if has & bounds else 0)
    if any(item.negative for item in items):
        total += 1
        found += any(item.negative and other.negative for item, other in pairs)
    return total, found


PLACING = frozenset(
    """on in for at within under among inside outside per with as by throughout 在 对 auf in im bei en para sur
    dans""".split()
)
_QUALIFYING = frozenset(
    {Op.HEARSAY, Op.IF, Op.UNLESS, Op.EXCEPT, Op.UNTIL, Op.WITHOUT, Op.DURING, Op.ONLYIF, Op.LIFT, Op.REVOKED, Op.HEDGE}
)


# What goes on about the rule in a clause of its own: `and this holds for staging only`.
_POINTING = frozenset("it this that they these those which 这 此 它 das dies dieses".split())
_LIMITING = (*_QUALIFYING, Op.ONLY, Op.SOME, Op.SHOULD, Op.PAST, Op.ATMOST, Op.ATLEAST)


def _touched(window: Reading, held: set[int]) -> set[int]:
    """The clauses that hold the rule, and those beside them that begin with a condition or take it back."""
    touched = set(held)
    amounts = {item.clause for item in window.items if item.sort is Sort.QUANTITY}
    for index in held:
        for neighbour in (index - 1, index + 1):
            if 0 <= neighbour < len(window.clauses):
                clause = window.clauses[neighbour]
                bare = not clause.filled and not clause.label
                placed = neighbour < index and clause.opening in PLACING and not clause.label
                limits = clause.opening in _POINTING and clause.has(*_LIMITING)
                limits = limits or (neighbour > index and _limits(clause, neighbour in amounts))
                together = clause.sentence == window.clauses[index].sentence
                if bare or (together and (clause.opens_with in _QUALIFYING or placed or limits)):
                    touched.add(neighbour)
    return touched


def _limits(clause: Clause, amount: bool) -> bool:
    """Whether a clause behind the rule limits it: `…, and only in x`, `…, x excepted`, `…, at least on weekends`."""
    opens = clause.opens_with is Op.ONLY or (clause.opens_with is Op.ATLEAST and not amount)
    return opens or clause.has(Op.POST_EXCEPT)


def operators_in(clauses: tuple[Clause, ...]) -> set[Op]:
    """The operators of some clauses."""
    return {operator.op for clause in clauses for operator in clause.operators}
