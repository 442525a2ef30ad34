"""Faults that compactions of this shape are known to have, one test each: none of them is here (CMP-1 to CMP-11)."""

from dataclasses import replace

import pytest

from context_firewall import (
    Author,
    Compactor,
    Context,
    Message,
    Role,
    StructuralSummarizer,
    ToolCall,
    ToolResult,
    message_count_predicate,
    selection_policy,
    stub_summarizer,
    token_counter,
)
from context_firewall.compaction.records import CompactionRecord
from context_firewall.conversation.compactions import FoundCompaction
from context_firewall.conversation.messages import Status

RULE = "security-critical instruction: never call delete"


def compacted(ctx: Context, rounds: int = 1) -> list[CompactionRecord]:
    """The records of so many rounds, with talk between them."""
    compactor = Compactor(message_count_predicate(6), selection_policy, stub_summarizer)
    for number in range(rounds):
        assert compactor.maybe_compact(ctx) is not None
        for index in range(6):
            ctx.append(Message(Role.ASSISTANT, f"round {number}, message {index}"))
    return compactor.records


def talk() -> Context:
    """A system message, the rule, six messages."""
    said = [Message(Role.SYSTEM, "Be careful."), Message(Role.USER, RULE)]
    return Context([*said, *(Message(Role.ASSISTANT, f"message {index}") for index in range(6))])


def test_a_kept_original_is_non_destructive_in_every_round() -> None:
    assert [record.verify_non_destructive() for record in compacted(talk(), rounds=4)] == [True] * 4


@pytest.mark.parametrize("alter", ["content", "order", "loss", "addition"])
def test_an_altered_original_is_found_out(alter: str) -> None:
    (record,) = compacted(talk())
    original = record.original_context
    if alter == "content":
        original[2] = replace(original[2], content="message 0, altered")
    elif alter == "order":
        original[2], original[3] = original[3], original[2]
    elif alter == "loss":
        del original[2]
    else:
        original.append(Message(Role.USER, "I never said that", entry_id=99))
    assert record.verify_non_destructive() is False


def test_a_record_whose_summary_was_taken_out_of_the_view_is_found_out() -> None:
    (record,) = compacted(talk())
    assert record.verify_non_destructive()
    record.summarization_log = None
    del record.compacted_context[1]
    assert record.verify_non_destructive() is False


def test_the_summary_stands_behind_the_system_and_is_no_system_message() -> None:
    ctx = talk()
    compacted(ctx)
    assert [message.role for message in ctx.messages[:2]] == [Role.SYSTEM, Role.USER]
    assert ctx.messages[1].compaction_status == Status.SUMMARIZED
    assert ctx.messages[1].author is Author.SUMMARY


def test_a_second_round_summarises_the_summary_and_names_it() -> None:
    ctx = talk()
    first, second = compacted(ctx, rounds=2)
    assert first.summarization_log is not None
    assert second.summarization_log is not None
    summary = first.summarization_log.summarizer_output
    assert summary.entry_id in second.replaces_entry_ids
    assert summary.entry_id in second.summarization_log.summarizer_output.replaces_entry_ids
    assert sum(message.is_summary for message in ctx.messages) == 1


def test_a_rule_that_was_cut_off_behind_its_first_words_is_not_called_kept() -> None:
    (record,) = compacted(talk())
    assert record.did_compaction_drop("security-critical") is False  # the words stand in the summary
    assert record.did_compaction_drop("never call delete") is True  # the rule behind them does not

    def whole_rules(found: FoundCompaction) -> list[str]:
        rules = [text for message in found.shadowed for _, text in message.written_by(Author.USER)]
        return [rule for rule in rules if found.summary is None or rule not in found.summary.content]

    assert record.survival(whole_rules) == [RULE]


def test_calls_and_their_results_are_not_torn_apart() -> None:
    calls = (ToolCall("c1", "ls", "{}"), ToolCall("c2", "cat", "{}"))
    ctx = Context(
        [
            Message(Role.USER, "look"),
            Message(Role.USER, "please"),
            Message(Role.ASSISTANT, "", tool_calls=calls),
            Message(Role.TOOL, "one", tool_results=(ToolResult("c1"),)),
            Message(Role.TOOL, "two", tool_results=(ToolResult("c2"),)),
            Message(Role.ASSISTANT, "both"),
            Message(Role.USER, "good"),
            Message(Role.ASSISTANT, "yes"),
        ]
    )
    for count in range(9):
        decision = selection_policy(ctx, preserve_recent=count)
        places = {message.entry_id for message in decision.preserve_verbatim} & {2, 3, 4}
        assert places in (set(), {2, 3, 4})
    assert len(selection_policy(ctx, preserve_recent=4).preserve_verbatim) == 6


def test_decision_lists_are_not_the_view() -> None:
    ctx = talk()
    decision = selection_policy(ctx)
    decision.preserve_verbatim.clear()
    decision.to_summarize.pop()
    assert len(ctx.messages) == 8
    with pytest.raises(AttributeError):
        ctx.messages[0].content = "altered"  # type: ignore[misc]
    (record,) = compacted(ctx)
    ctx.messages.clear()
    assert len(record.compacted_context) == 6
    assert record.verify_non_destructive()


def test_cjk_characters_are_counted_as_what_they_are() -> None:
    assert Message(Role.USER, "必须先跑测试再提交。").token_estimate() == 10
    assert Message(Role.USER, "テストを先に 실행").token_estimate() == 8
    assert Message(Role.USER, "x" * 400).token_estimate() == 100
    assert Message(Role.USER, "").token_estimate() == 1


def test_a_real_tokenizer_can_be_handed_in_and_is_named() -> None:
    words = token_counter(lambda text: len(text.split()), "words")
    ctx = Context(talk().messages, words)
    assert ctx.total_tokens() == 2 + 5 + 6 * 2
    (record,) = compacted(ctx)
    assert (record.pre_compaction_tokens, record.token_counter) == (19, "words")


def test_a_summarizer_that_fails_leaves_the_view_as_it_was() -> None:
    def fails(messages: list[Message]) -> Message:
        raise RuntimeError("no model today")

    ctx = talk()
    before = ctx.snapshot()
    with pytest.raises(RuntimeError):
        Compactor(message_count_predicate(6), selection_policy, fails).maybe_compact(ctx)
    assert ctx.messages == before


def test_the_users_words_stay_word_for_word_through_every_round_of_structural_summaries() -> None:
    ctx = talk()
    compactor = Compactor(message_count_predicate(6), selection_policy, StructuralSummarizer())
    for number in range(6):
        assert compactor.maybe_compact(ctx) is not None
        ctx.append(Message(Role.USER, f"rule {number}\nnever skip step {number}"))
        for index in range(6):
            ctx.append(Message(Role.ASSISTANT, f"message {index}"))
    text = ctx.messages[1].content
    assert f"- {RULE}" in text
    assert all(f"- rule {number}\n  never skip step {number}" in text for number in range(5))
