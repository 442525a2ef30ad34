"""Triggers, selection, summaries and the log, each by itself (CMP-1 to CMP-5, CMP-11)."""

import json
from typing import Any

import pytest

from context_firewall import (
    Compactor,
    Context,
    DecisionLog,
    InvalidInput,
    Message,
    Role,
    SelectionDecision,
    ToolCall,
    ToolResult,
    all_of,
    any_of,
    message_count_predicate,
    selection,
    selection_policy,
    stub_summarizer,
    token_threshold_predicate,
    window_fraction_predicate,
)
from context_firewall.compaction.pairing import closed_cuts, groups, pending
from context_firewall.compaction.selection import (
    containing,
    pinned,
    recent,
    recent_tokens,
    repeated_results,
    system,
    tool_results,
    user_messages,
)
from context_firewall.compaction.triggers import always, read_trigger


def view(*contents: str, role: Role = Role.USER) -> Context:
    """Messages of one role."""
    return Context([Message(role, content) for content in contents])


def asks(*call_ids: str) -> Message:
    """A message that makes calls."""
    return Message(Role.ASSISTANT, "", tool_calls=tuple(ToolCall(name, "ls", "{}") for name in call_ids))


def answers(*call_ids: str, content: str = "ok") -> Message:
    """A message that answers calls."""
    return Message(Role.TOOL, content, tool_results=tuple(ToolResult(name) for name in call_ids))


# -- triggers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trigger", "fires", "measured"),
    [
        (token_threshold_predicate(3), True, 4),
        (token_threshold_predicate(4), False, 4),
        (message_count_predicate(1), True, 2),
        (message_count_predicate(2), False, 2),
        (window_fraction_predicate(10, 0.3), True, 4),
        (window_fraction_predicate(10, 0.4), False, 4),
        (always(), True, 2),
    ],
)
def test_a_trigger_says_what_it_measured(trigger: Any, fires: bool, measured: int) -> None:
    ctx = view("x" * 8, "y" * 8)
    assert trigger(ctx) is fires
    reading = read_trigger(trigger, ctx)
    assert (reading.fired, reading.measured) == (fires, measured)


def test_triggers_that_are_combined_say_what_each_measured() -> None:
    ctx = view("x" * 8, "y" * 8)
    few, many = message_count_predicate(5), token_threshold_predicate(1)
    assert any_of(few, many)(ctx)
    assert not all_of(few, many)(ctx)
    assert not any_of(few)(ctx)
    measured = read_trigger(all_of(few, many), ctx).measured
    assert [(part["name"], part["measured"], part["fired"]) for part in measured] == [
        ("message_count", 2, False),
        ("token_threshold", 4, True),
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: token_threshold_predicate(-1),
        lambda: message_count_predicate(-1),
        lambda: window_fraction_predicate(0, 0.5),
        lambda: window_fraction_predicate(10, 1.5),
        any_of,
        lambda: recent(-1),
        lambda: recent_tokens(-1),
        lambda: containing(""),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()


# -- pairing ----------------------------------------------------------------------------------------------------------


def test_groups_and_cuts_with_parallel_calls() -> None:
    messages = [
        Message(Role.USER, "a"),
        asks("1", "2"),
        answers("1"),
        Message(Role.USER, "b"),
        answers("2"),
        Message(Role.USER, "c"),
    ]
    assert groups(messages) == [[1, 2, 4]]
    assert closed_cuts(messages) == [True, True, False, False, False, True, True]


def test_an_id_that_is_used_again_is_a_call_of_its_own() -> None:
    messages = [asks("1"), answers("1"), asks("1"), answers("1")]
    assert groups(messages) == [[0, 1], [2, 3]]
    assert closed_cuts(messages) == [True, False, True, False, True]


def test_a_call_that_waits_for_its_result_and_one_that_was_given_up() -> None:
    waiting = [Message(Role.USER, "a"), asks("1"), asks("2", "3"), answers("2")]
    assert pending(waiting) == [1, 2]
    assert closed_cuts(waiting) == [True, True, False, False, False]
    given_up = [asks("1"), Message(Role.USER, "stop"), Message(Role.ASSISTANT, "ok")]
    assert pending(given_up) == []
    assert all(closed_cuts(given_up))
    assert pending([answers("9")]) == []


# -- selection --------------------------------------------------------------------------------------------------------


def chosen(ctx: Context, *rules: Any, drop: Any = ()) -> tuple[list[str], list[str], list[str]]:
    """The contents that are kept, summarised and dropped."""
    decision = selection(*rules, drop=drop)(ctx)
    lists = (decision.preserve_verbatim, decision.to_summarize, decision.to_drop)
    kept, summarized, dropped = ([message.content for message in messages] for messages in lists)
    return kept, summarized, dropped


def test_each_rule_keeps_what_it_says() -> None:
    ctx = Context([Message(Role.SYSTEM, "be brief"), Message(Role.USER, "PIN this"), answers("x", content="result")])
    ctx.append(Message(Role.ASSISTANT, "last words of all"))
    assert chosen(ctx, system())[0] == ["be brief"]
    assert chosen(ctx, containing("pin"))[0] == ["PIN this"]
    assert chosen(ctx, pinned(1, 3))[0] == ["PIN this", "last words of all"]
    assert chosen(ctx, tool_results())[0] == ["result"]
    assert chosen(ctx, user_messages())[0] == ["PIN this"]
    assert chosen(ctx, recent(2))[0] == ["result", "last words of all"]
    assert chosen(ctx, recent_tokens(5))[0] == ["result", "last words of all"]
    assert chosen(ctx, recent_tokens(4))[0] == ["last words of all"]
    assert chosen(ctx, recent_tokens(0))[0] == []
    assert chosen(ctx, system(), recent(1))[0] == ["be brief", "last words of all"]


def test_every_decision_has_its_reason() -> None:
    ctx = Context(
        [Message(Role.SYSTEM, "s"), asks("1"), answers("1"), Message(Role.USER, "u"), Message(Role.USER, "v")]
    )
    decision = selection(system(), pinned(2), recent(1))(ctx)
    assert decision.reasons == {
        0: "system",
        1: "belongs to 2",
        2: "pinned [2]",
        3: "no rule keeps it",
        4: "recent 1",
    }


def test_recent_tokens_begin_where_no_call_is_open_and_fit() -> None:
    ctx = Context([asks("1"), answers("1", content="x" * 40), Message(Role.USER, "u" * 8)])
    assert chosen(ctx, recent_tokens(12))[0] == ["u" * 8]
    waiting = Context([Message(Role.USER, "u"), asks("1", "2"), answers("1", content="x" * 400)])
    assert len(chosen(waiting, recent_tokens(5))[0]) == 2


def test_calls_made_again_with_the_same_result_are_dropped_with_it() -> None:
    ctx = Context([asks("1"), answers("1"), asks("2"), answers("2"), asks("3"), answers("3", content="other")])
    ctx.append(Message(Role.USER, "u"))
    decision = selection(recent(1), drop=[repeated_results()])(ctx)
    assert [message.entry_id for message in decision.to_drop] == [0, 1]
    assert decision.reasons[0] == "repeated later"
    assert selection(pinned(1), drop=[repeated_results()])(ctx).to_drop == []


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (lambda ctx: SelectionDecision([], ctx.messages[1:]), "says nothing of entry 0"),
        (lambda ctx: SelectionDecision([*ctx.messages], ctx.messages[:1]), "chose entry 0 twice"),
        (
            lambda ctx: SelectionDecision([Message(Role.USER, "new", entry_id=9)], ctx.messages),
            "entry 9, which the view",
        ),
        (
            lambda ctx: SelectionDecision([Message(Role.USER, "x", entry_id=0)], ctx.messages[1:]),
            "entry 0, which the view",
        ),
    ],
)
def test_a_policy_that_loses_or_invents_messages_is_refused(policy: Any, problem: str) -> None:
    ctx = view("a", "b", "c")
    with pytest.raises(InvalidInput, match=problem):
        Compactor(always(), policy, stub_summarizer).maybe_compact(ctx)
    assert len(ctx.messages) == 3


def test_a_policy_of_ones_own_cannot_tear_a_call_from_its_result() -> None:
    ctx = Context([Message(Role.USER, "u"), asks("1"), answers("1"), Message(Role.USER, "v")])
    record = Compactor(
        always(), lambda ctx: SelectionDecision(ctx.messages[2:3], ctx.messages[:2], ctx.messages[3:]), stub_summarizer
    ).maybe_compact(ctx)
    assert record is not None
    assert [message.entry_id for message in record.compacted_context] == [4, 1, 2]
    assert [message.entry_id for message in record.selection_decision.to_drop] == [3]


def test_two_entries_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="two entries have the id 1"):
        Context([Message(Role.USER, "a", entry_id=1), Message(Role.USER, "b", entry_id=1)])


def test_ids_are_given_once() -> None:
    ctx = Context([Message(Role.USER, "a", entry_id=5), Message(Role.USER, "b"), Message(Role.USER, "c", entry_id="x")])
    ctx.append(Message(Role.USER, "d"))
    ctx.append(Message(Role.USER, "e", entry_id=20))
    ctx.messages.append(Message(Role.USER, "f"))
    assert [message.entry_id for message in ctx.snapshot()] == [5, 6, "x", 7, 20, 21]


@pytest.mark.parametrize(
    "keys", [{"role": "narrator"}, {"content": None}, {"compaction_status": "gone"}], ids=["role", "content", "status"]
)
def test_messages_that_cannot_be_are_refused(keys: Any) -> None:
    with pytest.raises(InvalidInput):
        Message(**{"role": "user", "content": "x", **keys})


@pytest.mark.parametrize("keys", [{"content": "\ud800"}, {"timestamp": float("nan")}], ids=["surrogate", "number"])
def test_messages_that_have_no_bytes_are_refused_when_they_are_recorded(keys: Any) -> None:
    ctx = Context([Message(**{"role": "user", "content": "x", **keys}), Message(Role.USER, "y")])
    with pytest.raises(InvalidInput, match="entry 0 has no canonical form"):
        Compactor(always(), selection(recent(1)), lambda messages: "s").maybe_compact(ctx)
    assert len(ctx.messages) == 2


# -- summaries and the compactor --------------------------------------------------------------------------------------


def test_the_place_of_the_summary() -> None:
    roles = {"s": Role.SYSTEM, "u": Role.USER}
    for before, kept, after in (
        ("suuu", {0, 3}, "s*u"),
        ("uuuu", {0, 3}, "u*u"),
        ("usuu", {1, 3}, "s*u"),
        ("ssuu", {0, 1}, "ss*"),
        ("usus", {2, 3}, "*us"),
    ):
        ctx = Context([Message(roles[sign], f"{sign}{place}") for place, sign in enumerate(before)])
        Compactor(always(), selection(pinned(*kept)), stub_summarizer).maybe_compact(ctx)
        assert "".join("*" if message.is_summary else message.content[0] for message in ctx.messages) == after


def test_a_text_is_a_summary_too_and_anything_else_is_refused() -> None:
    ctx = view("a", "b")
    record = Compactor(always(), selection(recent(1)), lambda messages: f"{len(messages)} said").maybe_compact(ctx)
    assert record is not None
    assert [message.content for message in ctx.messages] == ["1 said", "b"]
    with pytest.raises(InvalidInput, match="made a int"):
        Compactor(always(), selection(recent(1)), lambda messages: 3).maybe_compact(ctx)  # type: ignore[arg-type]


def test_nothing_is_made_where_nothing_would_change_or_shrink() -> None:
    ctx = view("a", "b")
    compactor = Compactor(always(), selection(recent(9)), stub_summarizer)
    assert compactor.maybe_compact(ctx) is None
    assert compactor.decision_log.entries[-1].output == {"compacted": False, "reason": "nothing is to be summarised"}
    compactor = Compactor(always(), selection(recent(1)), stub_summarizer, only_if_smaller=True)
    assert compactor.maybe_compact(ctx) is None
    assert compactor.decision_log.entries[-1].output["reason"] == "the view would not become smaller"
    assert [message.content for message in ctx.messages] == ["a", "b"]


def test_a_round_that_only_drops_makes_no_summary() -> None:
    ctx = view("a", "b")
    policy = selection(recent(1), drop=[pinned(0)])
    record = Compactor(always(), policy, stub_summarizer).maybe_compact(ctx)
    assert record is not None
    assert record.summarization_log is None
    assert record.verify_non_destructive()
    assert record.rebuild() == record.original_context
    assert [message.content for message in ctx.messages] == ["b"]


def test_same_view_same_parts_same_clock_same_record() -> None:
    documents = []
    for _ in range(2):
        ctx = view(*"abcdefgh")
        compactor = Compactor(always(), selection_policy, stub_summarizer, clock=lambda: 12.5)
        compactor.maybe_compact(ctx)
        documents.append(compactor.records[0].as_document())
    assert documents[0] == documents[1]
    assert documents[0]["timestamp"] == 12.5


def test_the_log_is_printable_and_canonical() -> None:
    log = DecisionLog(clock=iter([1.0, 2.5]).__next__)
    log.log("compaction", {"entry": "\x1b[2J\u202e\x7f"}, {"compacted": True})
    log.log("stop_condition", {}, {"why": "done"})
    human = log.to_human_readable()
    assert human.isascii()
    assert all(line.isprintable() for line in human.split("\n"))
    assert human.startswith("[1.00] compaction: compacted=true (inputs: entry=")
    assert [entry["timestamp"] for entry in json.loads(log.to_machine_readable())] == [1, 2.5]
