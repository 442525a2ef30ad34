"""What a window of sentences says: its items, and what stands over each of them. `clauses.py` makes it.

An item knows its clause, its segment (the main clause, or what follows `until`, `except`, `if` and the like), whether
it is forbidden or ordered, and its rank where the text gives an order.
"""

from enum import Enum
from typing import NamedTuple

from context_firewall.guard.lexicon import Op
from context_firewall.guard.tokens import Sort


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
    opening: str
    """Its first word."""
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
