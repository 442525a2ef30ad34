"""Sessions and messages that are made to be slow: twice as much may cost at most 3.5 times the processor time (P7)."""

import json
import time
from collections.abc import Callable

import pytest

from context_firewall import (
    Compactor,
    Context,
    Message,
    Role,
    ToolCall,
    ToolResult,
    parse_compaction_record,
    read_conversation,
    restored_history,
    selection,
    serialize_compaction_record,
)
from context_firewall.compaction.selection import recent, repeated_results
from context_firewall.compaction.structural import FILES, HEAD, SAID, StructuralSummarizer
from context_firewall.compaction.triggers import always
from context_firewall.conversation.messages import SUMMARY_HEAD

BOUND = 3.5


def growth(work: Callable[[int], Callable[[], object]], count: int) -> float:
    """How many times as long twice as much takes; the smallest of four measurements."""

    def seconds(size: int) -> float:
        task = work(size)
        begun = time.thread_time()
        task()
        return time.thread_time() - begun

    found = []
    for _ in range(4):
        found.append(seconds(2 * count) / seconds(count))
        if found[-1] < 2.6:
            break
    return min(found)


def line(number: int, **keys: object) -> str:
    """A line of a Claude Code session that follows the one before it."""
    parent = f"u{number - 1}" if number else None
    return json.dumps({"parentUuid": parent, "sessionId": "s", "type": "user", "uuid": f"u{number}", **keys})


def user(number: int, content: object, **keys: object) -> str:
    """A message of the user's."""
    return line(number, message={"role": "user", "content": content}, **keys)


def codex(kind: str, **payload: object) -> str:
    """A line of a rollout."""
    return json.dumps({"timestamp": "t", "type": kind, "payload": payload})


def spoken(text: str) -> dict[str, object]:
    """A message of a rollout."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


SESSIONS: dict[str, tuple[Callable[[int], str], int]] = {
    "lines": (lambda n: "\n".join(user(i, "x") for i in range(n)), 1000),
    "blank lines": (lambda n: user(0, "x") + "\n" * n, 200_000),
    "elements that open and never close": (lambda n: user(0, "<system-reminder>" * n), 20_000),
    "elements that close at once": (lambda n: user(0, "<bash-input></bash-input>" * n), 5_000),
    "angle brackets": (lambda n: user(0, "<" * n), 200_000),
    "prompts taken back": (lambda n: "\n".join(user(i, "x", parentUuid="u0" if i else None) for i in range(n)), 1000),
    "one long branch left behind": (
        lambda n: "\n".join([*(user(i, "x") for i in range(n)), user(n, "y", parentUuid="u0")]),
        1000,
    ),
    "boundaries": (
        lambda n: "\n".join(
            line(i, type="system", subtype="compact_boundary", compactMetadata={}) if i % 2 else user(i, "x")
            for i in range(n)
        ),
        1000,
    ),
    "events that nothing answers": (
        lambda n: "\n".join(codex("event_msg", type="user_message", message=f"m{i}") for i in range(n)),
        1000,
    ),
    "a history that repeats one message": (
        lambda n: "\n".join(
            [
                *(codex("response_item", **spoken("x")) for _ in range(n)),
                codex("compacted", message="s", replacement_history=[spoken("x"), spoken("y")] * n),
            ]
        ),
        500,
    ),
    "a list of messages": (lambda n: "[" + ",\n".join(['{"role": "user", "content": "x"}'] * n) + "]", 2000),
    "blanks in a list": (lambda n: "[" + " \n" * n + "]", 200_000),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_sessions(name: str) -> None:
    session, count = SESSIONS[name]

    def work(size: int) -> Callable[[], object]:
        data = session(size).encode()
        return lambda: read_conversation(data)

    assert growth(work, count) <= BOUND


def called(arguments: str) -> list[Message]:
    """A call with those arguments."""
    return [Message(Role.ASSISTANT, "", tool_calls=(ToolCall("c", "run", arguments),))]


def answered(count: int) -> list[Message]:
    """Calls that are all answered, one after the other."""
    calls = (Message(Role.ASSISTANT, "", tool_calls=(ToolCall(f"c{i}", "run", "{}"),)) for i in range(count))
    return [
        message
        for i, call in enumerate(calls)
        for message in (call, Message(Role.TOOL, "x", tool_results=(ToolResult(f"c{i}"),)))
    ]


TALK: dict[str, tuple[Callable[[int], list[Message]], int]] = {
    "patches without a name": (lambda n: called("*** Update File: " * n), 20_000),
    "patches": (lambda n: called("*** Update File: a\n" * n), 10_000),
    "arguments that nest": (lambda n: called("[" * n), 200_000),
    "blanks before a decision": (lambda n: [Message(Role.ASSISTANT, " \t>*#-" * n + "Decision")], 50_000),
    "decisions": (lambda n: [Message(Role.ASSISTANT, "Decision: x\n" * n)], 10_000),
    "an earlier summary of brackets": (
        lambda n: [Message(Role.USER, f"{HEAD}\n{FILES}\n- {' (' * n}", compaction_status="summarized")],
        20_000,
    ),
    "an earlier summary of counts": (
        lambda n: [Message(Role.USER, f"{HEAD}\nTools: {'1 ' * n}", compaction_status="summarized")],
        20_000,
    ),
    "an earlier summary with long quotations": (
        lambda n: [Message(Role.USER, f"{HEAD}\n{SAID}\n- x" + "\n  y" * n, compaction_status="summarized")],
        5_000,
    ),
    "heads of summaries": (lambda n: [Message(Role.USER, SUMMARY_HEAD * n)], 20_000),
    "calls one after the other": (answered, 500),
    "calls that nothing answers": (lambda n: called("{}") * n, 1000),
    "calls around everything": (
        lambda n: [
            *called("{}"),
            *(Message(Role.TOOL, "x", tool_results=(ToolResult("c"),)) for _ in range(n)),
        ],
        1000,
    ),
}


@pytest.mark.parametrize("name", TALK)
def test_compactions(name: str) -> None:
    talk, count = TALK[name]

    def work(size: int) -> Callable[[], object]:
        ctx = Context([*talk(size), Message(Role.USER, "x")])
        policy = selection(recent(1), drop=[repeated_results()])
        return lambda: Compactor(always(), policy, StructuralSummarizer()).maybe_compact(ctx)

    assert growth(work, count) <= BOUND


@pytest.mark.soak
def test_records_of_many_messages() -> None:
    def work(size: int) -> Callable[[], object]:
        ctx = Context(answered(size))
        compactor = Compactor(always(), selection(recent(size)), StructuralSummarizer())

        def task() -> None:
            record = compactor.maybe_compact(ctx)
            assert record is not None
            assert record.verify_non_destructive()
            document = parse_compaction_record(serialize_compaction_record(record.as_document(originals=True)))
            restored_history([document])
            compactor.full_history(ctx)

        return task

    assert growth(work, 2000) <= BOUND
