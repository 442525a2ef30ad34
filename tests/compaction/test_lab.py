"""The lab of auto-compaction as a four-part mechanism: its checkpoints, key assertions and stretch goals."""

import json

from context_firewall import (
    CompactionRecord,
    Compactor,
    Context,
    DecisionLog,
    Message,
    Role,
    SelectionDecision,
    SummarizationLog,
    malicious_summarizer,
    message_count_predicate,
    selection_policy,
    stub_summarizer,
    token_threshold_predicate,
)

RULE = "security-critical instruction: never call delete"


def conversation(count: int = 15, words: int = 40) -> Context:
    """A system message, a rule of the user's, and talk."""
    ctx = Context()
    ctx.append(Message(role=Role.SYSTEM, content="You are a careful assistant."))
    ctx.append(Message(role=Role.USER, content=RULE))
    for number in range(count - 2):
        role = (Role.USER, Role.ASSISTANT, Role.TOOL)[number % 3]
        ctx.append(Message(role=role, content=f"message {number} " + "word " * words))
    return ctx


# -- the checkpoints --------------------------------------------------------------------------------------------------


def test_phase_1_a_context_counts_its_tokens() -> None:
    ctx = Context()
    for number in range(10):
        ctx.append(Message(role=Role.USER, content=f"message {number}"))
    assert ctx.total_tokens() > 0
    assert [message.token_estimate() for message in ctx.snapshot()] == [2] * 10


def test_phase_2_the_policy_keeps_the_system_and_the_last_four() -> None:
    ctx = Context(messages=[Message(Role.SYSTEM, "system")])
    for number in range(8):
        ctx.append(Message((Role.USER, Role.ASSISTANT)[number % 2], f"talk {number}"))
    for number in range(3):
        ctx.append(Message(Role.TOOL, f"result {number}"))
    decision = selection_policy(ctx)
    assert [message.content for message in decision.preserve_verbatim] == [
        "system",
        "talk 7",
        "result 0",
        "result 1",
        "result 2",
    ]
    assert [message.content for message in decision.to_summarize] == [f"talk {number}" for number in range(7)]
    assert decision.to_drop == []


def test_phase_3_a_summarizer_can_lose_a_rule() -> None:
    decision = selection_policy(conversation())
    assert "security-critical" in stub_summarizer(decision.to_summarize).content
    assert "security-critical" not in malicious_summarizer(decision.to_summarize).content


def test_phase_4_a_record_that_is_put_together_by_hand() -> None:
    ctx = conversation()
    decision = selection_policy(ctx)
    summary = malicious_summarizer(decision.to_summarize)
    compacted = [summary, *decision.preserve_verbatim]
    record = CompactionRecord(
        original_context=ctx.snapshot(),
        selection_decision=decision,
        summarization_log=SummarizationLog(summarizer_inputs=decision.to_summarize, summarizer_output=summary),
        compacted_context=compacted,
        pre_compaction_tokens=ctx.total_tokens(),
        post_compaction_tokens=sum(message.token_estimate() for message in compacted),
    )
    assert record.verify_non_destructive() is True
    assert record.did_compaction_drop("security-critical") is True


def test_phase_5_the_compactor_swaps_the_view_and_keeps_the_original() -> None:
    ctx = conversation()
    before = ctx.total_tokens()
    assert before > 500
    record = Compactor(token_threshold_predicate(500), selection_policy, stub_summarizer).maybe_compact(ctx)
    assert record is not None
    assert ctx.total_tokens() < before
    assert len(record.original_context) == 15
    assert record.verify_non_destructive() is True


def test_phase_5_nothing_happens_where_the_trigger_does_not_fire() -> None:
    ctx = conversation()
    before = ctx.snapshot()
    assert Compactor(token_threshold_predicate(50_000), selection_policy, stub_summarizer).maybe_compact(ctx) is None
    assert ctx.messages == before


# -- the solution key -------------------------------------------------------------------------------------------------


def test_the_solution_key() -> None:
    decision_log = DecisionLog()
    ctx = conversation()
    compactor = Compactor(token_threshold_predicate(500), selection_policy, stub_summarizer, decision_log=decision_log)
    record = compactor.maybe_compact(ctx)
    assert record is not None
    assert record.verify_non_destructive() is True
    assert len(record.original_context) == 15
    assert ctx.total_tokens() < record.pre_compaction_tokens

    ctx = conversation()
    compactor = Compactor(
        token_threshold_predicate(500), selection_policy, malicious_summarizer, decision_log=decision_log
    )
    record = compactor.maybe_compact(ctx)
    assert record is not None
    assert record.did_compaction_drop("security-critical") is True

    assert len(decision_log.entries) >= 2
    assert "compaction" in decision_log.to_human_readable()
    assert decision_log.to_machine_readable().startswith("[")
    assert [entry["output"]["compacted"] for entry in json.loads(decision_log.to_machine_readable())] == [True, True]


# -- the stretch goals ------------------------------------------------------------------------------------------------


def test_stretch_1_a_predicate_on_the_number_of_messages() -> None:
    for predicate in (message_count_predicate(14), token_threshold_predicate(500), lambda ctx: len(ctx.messages) > 14):
        record = Compactor(predicate, selection_policy, stub_summarizer).maybe_compact(conversation())
        assert record is not None
    assert (
        Compactor(message_count_predicate(15), selection_policy, stub_summarizer).maybe_compact(conversation()) is None
    )


def keep_tool_results(ctx: Context) -> SelectionDecision:
    """A policy of one's own: tool results and the last four stay."""
    recent = {message.entry_id for message in ctx.messages[-4:]}
    kept = [message for message in ctx.messages if message.role is Role.TOOL or message.entry_id in recent]
    return SelectionDecision(
        preserve_verbatim=kept, to_summarize=[message for message in ctx.messages if message not in kept], to_drop=[]
    )


def test_stretch_2_a_policy_that_keeps_tool_results() -> None:
    ctx = conversation()
    ctx.messages.insert(4, Message(Role.TOOL, "security-critical finding: the token is in the log"))
    record = Compactor(token_threshold_predicate(500), keep_tool_results, malicious_summarizer).maybe_compact(ctx)
    assert record is not None
    assert not record.did_compaction_drop("security-critical finding")  # a tool said it: kept
    assert record.did_compaction_drop("never call delete")  # the user said it: this policy does not help


def test_stretch_3_a_second_round_summarises_the_first_summary() -> None:
    ctx = conversation()
    compactor = Compactor(token_threshold_predicate(500), selection_policy, stub_summarizer)
    first = compactor.maybe_compact(ctx)
    assert first is not None
    for number in range(12):
        ctx.append(Message(Role.ASSISTANT, f"later {number} " + "word " * 60))
    second = compactor.maybe_compact(ctx)
    assert second is not None
    assert len(compactor.records) == 2
    assert first.summarization_log is not None
    assert second.summarization_log is not None
    summary = first.summarization_log.summarizer_output
    assert summary in second.summarization_log.summarizer_inputs
    assert summary.entry_id in second.replaces_entry_ids
    assert [record.verify_non_destructive() for record in compactor.records] == [True, True]
    assert second.original_context[0].role is Role.SYSTEM
    assert summary in second.original_context


def test_stretch_4_the_original_is_rebuilt_from_the_chain_of_replacements() -> None:
    ctx = conversation()
    said = ctx.snapshot()
    compactor = Compactor(token_threshold_predicate(500), selection_policy, stub_summarizer)
    for _ in range(3):
        assert compactor.maybe_compact(ctx) is not None
        for number in range(12):
            ctx.append(Message(Role.USER, f"later {number} " + "word " * 60))
            said.append(ctx.messages[-1])
    summary = ctx.messages[1]
    assert summary.replaces_entry_ids
    assert all(isinstance(entry_id, int) for entry_id in summary.replaces_entry_ids)
    assert set(summary.replaces_entry_ids) <= set(compactor.records[-1].replaces_entry_ids)
    assert compactor.full_history(ctx) == said
