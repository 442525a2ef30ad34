"""What a session tells of its compactions: which entries each took out of the view, and what stands for them."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from context_firewall.conversation.messages import Author, EntryId, Message, Status


@dataclass(frozen=True, slots=True)
class FoundCompaction:
    """One compaction that a session says took place.

    `before` is the view it worked on. Of that, `shadowed` left the view and `retained` is still in it, verbatim; both
    in the order of the view. `summary` stands for what was shadowed; None where the session has no readable one.
    """

    round: int
    """Counted from 1."""
    line: int
    """Where the session says so, counted from 1; 0 where two views were compared."""
    shadowed: tuple[Message, ...]
    retained: tuple[Message, ...]
    summary: Message | None
    trigger: str | None = None
    """The session's word for what set it off, such as `auto` or `manual`."""
    entry_id: EntryId | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    """The session's own counts."""
    readded: bool = False
    """Whether the client, when it rebuilds the view, adds recent messages of the user again that count as shadowed
    here (Codex, where a rollout has no `replacement_history`)."""
    sealed: bool = False
    """Whether there is a summary, and only its maker can read it (Codex, where it is encrypted)."""

    @property
    def replaces_entry_ids(self) -> tuple[EntryId, ...]:
        """The ids of the entries that left the view."""
        return tuple(message.entry_id for message in self.shadowed if message.entry_id is not None)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session that was read: the view at its end, and the compactions on the way."""

    format: str
    view: tuple[Message, ...]
    compactions: tuple[FoundCompaction, ...] = ()
    aside: Mapping[str, int] = field(default_factory=dict)
    """Items of the session that are no part of the view, counted by what they call themselves."""


def compaction_between(before: Sequence[Message], after: Sequence[Message], *, round: int = 1) -> FoundCompaction:
    """The compaction that leads from one view to another, for agents that keep no marker of it.

    Messages that both have (same role, content, calls and results, in the same order) were retained. What only the
    first has was shadowed; what only the second has is the summary.
    """
    kept_before, kept_after = _common(before, after)
    shadowed = tuple(message for index, message in enumerate(before) if index not in kept_before)
    retained = tuple(message for index, message in enumerate(before) if index in kept_before)
    added = [message for index, message in enumerate(after) if index not in kept_after]
    return FoundCompaction(
        round=round, line=0, shadowed=shadowed, retained=retained, summary=_as_summary(added, shadowed)
    )


def _as_summary(added: Sequence[Message], shadowed: Sequence[Message]) -> Message | None:
    if not added:
        return None
    text = "\n\n".join(message.content for message in added)
    return standing_for(replace(added[0], content=text, author=Author.SUMMARY, passages=()), shadowed)


def standing_for(summary: Message, shadowed: Sequence[Message]) -> Message:
    """The summary, marked as one, with the ids of what it stands for."""
    ids = tuple(message.entry_id for message in shadowed if message.entry_id is not None)
    return replace(summary, compaction_status=Status.SUMMARIZED, replaces_entry_ids=ids)


def _common(before: Sequence[Message], after: Sequence[Message]) -> tuple[set[int], set[int]]:
    """The places of the messages that both views have: from the start, then from the end, then in between."""
    ours, theirs = [_identity(message) for message in before], [_identity(message) for message in after]
    start = 0
    while start < min(len(ours), len(theirs)) and ours[start] == theirs[start]:
        start += 1
    end = 0
    while end < min(len(ours), len(theirs)) - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    kept_before = {*range(start), *range(len(ours) - end, len(ours))}
    kept_after = {*range(start), *range(len(theirs) - end, len(theirs))}
    middle = in_order(before[start : len(ours) - end], after[start : len(theirs) - end])
    kept_after.update(index + start for index in middle)
    kept_before.update(index + start for index in middle.values())
    return kept_before, kept_after


def in_order(before: Sequence[Message], after: Sequence[Message]) -> dict[int, int]:
    """Which messages of the second list the first one has, too: place there to place here, both ascending.

    Each takes the nearest one that is left.
    """
    places = defaultdict[tuple[object, ...], list[int]](list)
    for index, message in enumerate(before):
        places[_identity(message)].append(index)
    found = dict[int, int]()
    at = 0
    for index, message in enumerate(after):
        equal = places.get(_identity(message), [])
        nearest = bisect_left(equal, at)
        if nearest < len(equal):
            found[index] = equal[nearest]
            at = equal[nearest] + 1
    return found


def _identity(message: Message) -> tuple[object, ...]:
    return message.role, message.content, message.tool_calls, tuple(result.call_id for result in message.tool_results)
