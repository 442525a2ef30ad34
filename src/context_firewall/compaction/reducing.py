"""Tool results in a shorter form: what a reducer makes of an output takes its place, with the reducer's receipt.

Which outputs a reducer knows, and what it makes of them, is its own affair; the one for test runs comes from another
part of this package and is handed in. A result is replaced only where that saves tokens; its original stays in the
record.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from context_firewall.conversation.messages import Author, Context, EntryId, Message, Role, Status


class Reduced(NamedTuple):
    """What a reducer made of an output: the text that takes its place, and a JSON-shaped receipt."""

    text: str
    receipt: Mapping[str, Any]


Reducer = Callable[[str, int | None], Reduced | None]
"""An output, and its exit code if the session has it, to its shorter form; None for one that it does not know."""


class ReducedResult(NamedTuple):
    """One result that was replaced: its id, the id of what stands for it, by which reducer, with which receipt."""

    entry_id: EntryId | None
    made_entry_id: EntryId | None
    reducer: str
    receipt: Mapping[str, Any]


def reduce_results(
    messages: Sequence[Message], reducers: Sequence[Reducer], ctx: Context, timestamp: float
) -> tuple[list[Message], list[ReducedResult]]:
    """The messages, each result in the shorter form that the first reducer made which knows it."""
    made, log = list(messages), list[ReducedResult]()
    for place, message in enumerate(messages):
        if message.role is not Role.TOOL or message.author is not Author.TOOL or message.passages:
            continue
        for reducer in reducers:
            reduced = reducer(message.content, exit_code(message))
            if reduced is None:
                continue
            if ctx.counter(reduced.text) < ctx.counter(message.content):
                made[place] = _in_place_of(message, reduced.text, ctx.fresh_id(), timestamp)
                name = str(getattr(reducer, "name", getattr(reducer, "__qualname__", type(reducer).__qualname__)))
                log.append(ReducedResult(message.entry_id, made[place].entry_id, name, reduced.receipt))
            break
    return made, log


def exit_code(message: Message) -> int | None:
    """The exit code of the one call that a message answers, where the session has it."""
    return message.tool_results[0].exit_code if len(message.tool_results) == 1 else None


def _in_place_of(message: Message, text: str, entry_id: EntryId, timestamp: float) -> Message:
    return Message(
        role=message.role,
        content=text,
        timestamp=timestamp,
        compaction_status=Status.REDUCED,
        entry_id=entry_id,
        author=message.author,
        tool_results=message.tool_results,
        replaces_entry_ids=() if message.entry_id is None else (message.entry_id,),
    )
