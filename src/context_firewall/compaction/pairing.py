"""Which messages belong together because a tool call and its results must not be separated.

A model's interface refuses a result without its call, and a call without its result. A call is open from the message
that makes it to the last one that answers it; a call that nothing but results follow still waits for its own.
"""

from collections.abc import Sequence

from context_firewall.conversation.messages import Message, Role


def groups(messages: Sequence[Message]) -> list[list[int]]:
    """The places of the messages that belong together, as lists of more than one, in the order of their first."""
    leader = list(range(len(messages)))

    def lead(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    for call, result in _pairs(messages):
        first, second = sorted((lead(call), lead(result)))
        leader[second] = first
    found: dict[int, list[int]] = {}
    for place in range(len(messages)):
        found.setdefault(lead(place), []).append(place)
    return [places for places in found.values() if len(places) > 1]


def closed_cuts(messages: Sequence[Message]) -> list[bool]:
    """For each place, and for the end: whether no tool call is open between the message before it and that one."""
    opened = [0] * (len(messages) + 2)
    for call, result in _pairs(messages):
        opened[call + 1] += 1
        opened[result + 1] -= 1
    for call in pending(messages):
        opened[call + 1] += 1
    closed = list[bool]()
    depth = 0
    for place in range(len(messages) + 1):
        depth += opened[place]
        closed.append(depth == 0)
    return closed


def pending(messages: Sequence[Message]) -> list[int]:
    """The messages whose calls wait for a result: some call is not answered, and only results follow."""
    last = len(messages) - 1
    while last >= 0 and messages[last].role is Role.TOOL:
        last -= 1
    if last < 0:
        return []
    answered = {result.call_id for message in messages[last + 1 :] for result in message.tool_results}
    first = last
    while first > 0 and messages[first - 1].tool_calls and messages[first - 1].role is Role.ASSISTANT:
        first -= 1  # a session may hold parallel calls as messages of their own
    return [
        place
        for place in range(first, last + 1)
        if any(call.call_id not in answered for call in messages[place].tool_calls)
    ]


def _pairs(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Each message that answers a call, with the one that made it: of several with that id, the last one before."""
    made: dict[str, int] = {}
    found = []
    for place, message in enumerate(messages):
        found += [(made[result.call_id], place) for result in message.tool_results if result.call_id in made]
        made.update((call.call_id, place) for call in message.tool_calls)
    return found
