"""Part 1, the trigger predicate: a declared condition that says when compaction takes place.

A predicate is any function from a view to true or false. Those that are made here also say what they measured, so
that a record can.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from context_firewall.conversation.messages import Context
from context_firewall.errors import InvalidInput

TriggerPredicate = Callable[[Context], bool]


class Reading(NamedTuple):
    """What a predicate said of a view: its name and parameters, what it measured (or None), and whether it fires."""

    name: str
    parameters: Mapping[str, Any]
    measured: Any
    fired: bool


@dataclass(frozen=True, slots=True)
class Trigger:
    """A predicate that can be read: by its name, by its parameters, and by what it measures."""

    name: str
    parameters: Mapping[str, Any]
    measure: Callable[[Context], Any] = field(repr=False)
    """A JSON-shaped value."""
    fires: Callable[[Any], bool] = field(repr=False)

    def __call__(self, ctx: Context) -> bool:
        """Whether the condition holds for a view."""
        return self.fires(self.measure(ctx))

    def read(self, ctx: Context) -> Reading:
        """The same, with what was measured."""
        measured = self.measure(ctx)
        return Reading(self.name, self.parameters, measured, self.fires(measured))


def token_threshold_predicate(threshold: int) -> Trigger:
    """Fires when a view has more than `threshold` tokens, by the view's own counter."""
    _refuse(threshold < 0, "threshold must be zero or more", "threshold")
    return Trigger("token_threshold", {"threshold": threshold}, _tokens, lambda tokens: bool(tokens > threshold))


def message_count_predicate(count: int) -> Trigger:
    """Fires when a view has more than `count` messages."""
    _refuse(count < 0, "count must be zero or more", "count")
    return Trigger("message_count", {"count": count}, lambda ctx: len(ctx.messages), lambda found: bool(found > count))


def window_fraction_predicate(window: int, fraction: float) -> Trigger:
    """Fires when a view fills more than a fraction (0 to 1) of a window of that many tokens."""
    _refuse(window < 1, "window must be one or more", "window")
    _refuse(not 0 <= fraction <= 1, "fraction must be from 0 to 1", "fraction")
    parameters = {"fraction": fraction, "window": window}
    return Trigger("window_fraction", parameters, _tokens, lambda tokens: bool(tokens > fraction * window))


def any_of(*predicates: TriggerPredicate) -> Trigger:
    """Fires when one of the predicates does."""
    return _combined("any_of", predicates, any)


def all_of(*predicates: TriggerPredicate) -> Trigger:
    """Fires when every one of the predicates does."""
    return _combined("all_of", predicates, all)


def always() -> Trigger:
    """Fires whenever there is a message."""
    return Trigger("always", {}, lambda ctx: len(ctx.messages), lambda found: bool(found))


def read_trigger(predicate: TriggerPredicate, ctx: Context) -> Reading:
    """What any predicate says of a view; a plain function measures nothing that a record could name."""
    if isinstance(predicate, Trigger):
        return predicate.read(ctx)
    name = str(getattr(predicate, "__qualname__", type(predicate).__qualname__))
    return Reading(name, {}, None, bool(predicate(ctx)))


def _combined(name: str, predicates: tuple[TriggerPredicate, ...], fires: Callable[[list[bool]], bool]) -> Trigger:
    _refuse(not predicates, f"{name} needs a predicate", "predicates")

    def measure(ctx: Context) -> list[dict[str, Any]]:
        readings = [read_trigger(predicate, ctx) for predicate in predicates]
        return [{**reading._asdict(), "parameters": dict(reading.parameters)} for reading in readings]

    return Trigger(name, {}, measure, lambda readings: fires([reading["fired"] for reading in readings]))


def _tokens(ctx: Context) -> int:
    return ctx.total_tokens()


def _refuse(wrong: bool, problem: str, key: str) -> None:
    if wrong:
        raise InvalidInput(problem, key=key)
