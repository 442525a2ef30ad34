"""Part 2, the selection policy: which messages stay as they are, which are summarised, which are dropped, and why.

A policy is any function from a view to a `SelectionDecision`. `selection` makes one of rules; a rule names the
messages it keeps. Whatever a policy says, calls and their results stay together (`settled`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from context_firewall.compaction.pairing import closed_cuts, groups, pending
from context_firewall.conversation.messages import Author, Context, EntryId, Message, Role
from context_firewall.conversation.tokens import TokenCounter
from context_firewall.errors import InvalidInput


@dataclass(slots=True)
class SelectionDecision:
    """What becomes of every message of a view, each in one of three lists, and the reason for it by entry id.

    The lists are the caller's own: nothing that is done to them changes the view.
    """

    preserve_verbatim: list[Message]
    to_summarize: list[Message]
    to_drop: list[Message] = field(default_factory=list)
    reasons: dict[EntryId | None, str] = field(default_factory=dict)


Selector = Callable[[Context], SelectionDecision]


class Rule(NamedTuple):
    """One reason to choose messages: its name, its parameters, and the places that it chooses in a list of messages."""

    name: str
    parameters: Mapping[str, Any]
    choose: Callable[[Sequence[Message], TokenCounter], set[int]]

    @property
    def reason(self) -> str:
        """The rule in a few words."""
        return " ".join((self.name, *(str(value) for value in self.parameters.values())))


def selection_policy(ctx: Context, preserve_recent: int = 4, preserve_system: bool = True) -> SelectionDecision:
    """Keep the system's messages and the last few; summarise the others. A summary is no message of the system's."""
    rules = (recent(preserve_recent), *((system(),) if preserve_system else ()))
    return selection(*rules)(ctx)


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy that can be read: the rules that keep messages, and those that drop what no rule keeps."""

    keep: tuple[Rule, ...]
    drop: tuple[Rule, ...] = ()
    name: str = "selection"

    @property
    def parameters(self) -> dict[str, Any]:
        """The rules as JSON."""
        return {
            what: [{"name": rule.name, "parameters": dict(rule.parameters)} for rule in rules]
            for what, rules in (("drop", self.drop), ("keep", self.keep))
        }

    def __call__(self, ctx: Context) -> SelectionDecision:
        """What becomes of a view's messages."""
        messages = ctx.snapshot()
        kept, dropped = dict[int, str](), dict[int, str]()
        for chosen, rules in ((kept, self.keep), (dropped, self.drop)):
            for rule in rules:
                for place in sorted(rule.choose(messages, ctx.counter)):
                    chosen.setdefault(place, rule.reason)
        return settled(messages, kept, dropped)


def selection(*keep: Rule, drop: Sequence[Rule] = ()) -> Policy:
    """The policy that keeps what any of the rules chooses, drops what one of `drop` does, and summarises the rest."""
    return Policy(tuple(keep), tuple(drop))


def settled(messages: Sequence[Message], kept: Mapping[int, str], dropped: Mapping[int, str]) -> SelectionDecision:
    """The decision on places that were chosen, with calls and results together: kept if one of them is.

    They are dropped together or not at all, and a call that waits for its result is kept.
    """
    kept = dict(kept)
    for place in pending(messages):
        kept.setdefault(place, "waits for its result")
    dropped = {place: reason for place, reason in dropped.items() if place not in kept}
    for places in groups(messages):
        first = next((place for place in places if place in kept), None)
        if first is not None:
            for place in places:
                kept.setdefault(place, f"belongs to {messages[first].entry_id}")
        if first is not None or not all(place in dropped for place in places):
            for place in places:
                dropped.pop(place, None)
    decision = SelectionDecision([], [], [])
    for place, message in enumerate(messages):
        if place in kept:
            target, reason = decision.preserve_verbatim, kept[place]
        elif place in dropped:
            target, reason = decision.to_drop, dropped[place]
        else:
            target, reason = decision.to_summarize, "no rule keeps it"
        target.append(message)
        decision.reasons[message.entry_id] = reason
    return decision


def checked(messages: Sequence[Message], decision: SelectionDecision) -> SelectionDecision:
    """A decision of any policy, with calls and results together.

    Raises InvalidInput when a message of the view is in none of the lists or in two, or one is in it that is not in the
    view.
    """
    places = {message.entry_id: place for place, message in enumerate(messages)}
    chosen: dict[int, tuple[int, str]] = {}
    for number, listed in enumerate((decision.preserve_verbatim, decision.to_summarize, decision.to_drop)):
        for message in listed:
            place = places.get(message.entry_id)
            if place is None or messages[place] != message:
                raise InvalidInput(f"the policy chose entry {message.entry_id!r}, which the view does not hold")
            if place in chosen:
                raise InvalidInput(f"the policy chose entry {message.entry_id!r} twice")
            default = ("kept by the policy", "", "dropped by the policy")[number]
            chosen[place] = number, decision.reasons.get(message.entry_id, default)
    if len(chosen) != len(messages):
        lost = next(message.entry_id for place, message in enumerate(messages) if place not in chosen)
        raise InvalidInput(f"the policy says nothing of entry {lost!r}")
    kept = {place: reason for place, (number, reason) in chosen.items() if number == 0}
    dropped = {place: reason for place, (number, reason) in chosen.items() if number == 2}
    return settled(messages, kept, dropped)


# -- rules ------------------------------------------------------------------------------------------------------------


def recent(count: int) -> Rule:
    """The last `count` messages, and as many before them as it takes to begin where no tool call is open."""
    _refuse(count < 0, "preserve_recent must be zero or more", "preserve_recent")

    def choose(messages: Sequence[Message], counter: TokenCounter) -> set[int]:
        start = max(0, len(messages) - count)
        return set(range(_back(closed_cuts(messages), start), len(messages)))

    return Rule("recent", {"messages": count}, choose)


def recent_tokens(tokens: int) -> Rule:
    """As many of the last messages as have no more than `tokens` tokens, beginning where no tool call is open."""
    _refuse(tokens < 0, "recent tokens must be zero or more", "tokens")

    def choose(messages: Sequence[Message], counter: TokenCounter) -> set[int]:
        start, left = len(messages), tokens
        while start and (size := messages[start - 1].token_estimate(counter)) <= left:
            start -= 1
            left -= size
        closed = closed_cuts(messages)
        forward = next((place for place in range(start, len(messages) + 1) if closed[place]), None)
        return set(range(_back(closed, start) if forward is None else forward, len(messages)))

    return Rule("recent tokens", {"tokens": tokens}, choose)


def system() -> Rule:
    """The messages in the system's role; summaries are none of them."""
    return Rule("system", {}, lambda messages, counter: _where(messages, _is_system))


def pinned(*entry_ids: EntryId) -> Rule:
    """The messages with these ids."""
    wanted = frozenset(entry_ids)
    return Rule(
        "pinned",
        {"entry_ids": list(entry_ids)},
        lambda messages, counter: _where(messages, lambda m: m.entry_id in wanted),
    )


def containing(text: str) -> Rule:
    """The messages that hold a text, whatever the case of its letters; summaries are none of them."""
    folded = text.casefold()
    _refuse(not folded, "the text to pin is empty", "containing")
    return Rule(
        "containing",
        {"text": text},
        lambda messages, counter: _where(messages, lambda m: not m.is_summary and folded in m.content.casefold()),
    )


def tool_results() -> Rule:
    """The messages that answer tool calls."""
    return Rule("tool results", {}, lambda messages, counter: _where(messages, lambda m: m.role is Role.TOOL))


def user_messages() -> Rule:
    """The messages in which the user wrote something."""
    return Rule("user", {}, lambda messages, counter: _where(messages, _has_user_text))


def repeated_results() -> Rule:
    """Calls that a later message makes again with the same arguments and the same result: the later one is enough."""

    def choose(messages: Sequence[Message], counter: TokenCounter) -> set[int]:
        last: dict[tuple[object, ...], list[int]] = {}
        chosen = set[int]()
        for places in groups(messages):
            members = [messages[place] for place in places]
            key = tuple(
                (m.role, m.content, tuple(call[1:] for call in m.tool_calls), tuple(r[1:] for r in m.tool_results))
                for m in members
            )
            chosen.update(last.get(key, ()))
            last[key] = places
        return chosen

    return Rule("repeated later", {}, choose)


def _is_system(message: Message) -> bool:
    return message.role is Role.SYSTEM and not message.is_summary


def _has_user_text(message: Message) -> bool:
    return any(text.strip() for _, text in message.written_by(Author.USER))


def _where(messages: Sequence[Message], holds: Callable[[Message], bool]) -> set[int]:
    return {place for place, message in enumerate(messages) if holds(message)}


def _back(closed: Sequence[bool], place: int) -> int:
    while not closed[place]:
        place -= 1  # nothing is open before the first message
    return place


def _refuse(wrong: bool, problem: str, key: str) -> None:
    if wrong:
        raise InvalidInput(problem, key=key)
