"""For every conversation: nothing is lost or torn apart, in any number of rounds (CMP-3, CMP-7, CMP-8)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall import (
    Compactor,
    Context,
    Message,
    Role,
    StructuralSummarizer,
    ToolCall,
    ToolResult,
    parse_compaction_record,
    replayed_view,
    restored_history,
    restored_view,
    selection,
    serialize_compaction_record,
    stub_summarizer,
)
from context_firewall.cli.summarizers import rules_in, structural
from context_firewall.compaction.pairing import pending
from context_firewall.compaction.reducing import Reduced
from context_firewall.compaction.restore import originals_of
from context_firewall.compaction.selection import (
    Policy,
    pinned,
    recent,
    recent_tokens,
    repeated_results,
    system,
    tool_results,
    user_messages,
)
from context_firewall.compaction.structural import parse
from context_firewall.compaction.triggers import always

CALLS = st.sampled_from(["c1", "c2", "c3", "c4"])


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """Talk with calls: parallel, answered late or never, with ids that come again."""
    made = list[Message]()
    for _ in range(draw(st.integers(1, 12))):
        role = draw(st.sampled_from(list(Role)))
        content = draw(st.text(st.characters(codec="utf-8"), max_size=30))
        calls: tuple[ToolCall, ...] = ()
        results: tuple[ToolResult, ...] = ()
        if role is Role.ASSISTANT:
            calls = tuple(ToolCall(name, "run", "{}") for name in draw(st.lists(CALLS, max_size=3, unique=True)))
        elif role is Role.TOOL:
            results = tuple(ToolResult(name) for name in draw(st.lists(CALLS, max_size=2, unique=True)))
        made.append(Message(role, content, tool_calls=calls, tool_results=results))
    return made


policies = st.builds(
    lambda keep, drop: selection(*keep, drop=drop),
    st.lists(
        st.one_of(
            st.builds(recent, st.integers(0, 6)),
            st.builds(recent_tokens, st.integers(0, 40)),
            st.builds(pinned, st.integers(0, 20)),
            st.sampled_from([system(), tool_results(), user_messages()]),
        ),
        max_size=3,
    ),
    st.lists(st.one_of(st.builds(pinned, st.integers(0, 20)), st.just(repeated_results())), max_size=2),
)


def first_half(output: str, exit_code: int | None) -> Reduced | None:
    """Knows outputs of more than ten characters."""
    return Reduced(output[: len(output) // 2], {}) if len(output) > 10 else None


def pairs(messages: list[Message]) -> set[tuple[int, int]]:
    """Ids of the messages that make a call and that answer it."""
    made: dict[str, int] = {}
    found = set()
    for message in messages:
        assert isinstance(message.entry_id, int)
        found |= {(made[result.call_id], message.entry_id) for result in message.tool_results if result.call_id in made}
        made |= {call.call_id: message.entry_id for call in message.tool_calls}
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(turns(), min_size=1, max_size=4), policies, st.booleans())
def test_any_number_of_rounds_can_be_undone(rounds: list[list[Message]], policy: Policy, structural: bool) -> None:
    compactor = Compactor(
        always(), policy, StructuralSummarizer() if structural else stub_summarizer, reducers=[first_half]
    )
    ctx = Context()
    said = list[Message]()
    for messages in rounds:
        for message in messages:
            ctx.append(message)
            said.append(ctx.messages[-1])
        compactor.maybe_compact(ctx)
    assert [record.verify_non_destructive() for record in compactor.records] == [True] * len(compactor.records)
    assert compactor.full_history(ctx) == said

    originals = dict(originals_of(said))
    documents = []
    for record in compactor.records:
        document = parse_compaction_record(serialize_compaction_record(record.as_document()))
        assert restored_view(document, originals.get) == [message.original() for message in record.original_context]
        assert replayed_view(document, originals.get) == [message.original() for message in record.compacted_context]
        originals |= originals_of(record.made())
        documents.append(document)
    if documents:
        history = restored_history(documents, originals_of(said).get)
        assert history == [message.original() for message in said[: len(history)]]


@settings(max_examples=120, deadline=None)
@given(turns(), policies)
def test_calls_and_results_stay_together(messages: list[Message], policy: Policy) -> None:
    ctx = Context(list(messages))
    decision = policy(ctx)
    lists = (decision.preserve_verbatim, decision.to_summarize, decision.to_drop)
    where = {message.entry_id: number for number, held in enumerate(lists) for message in held}
    assert len(where) == sum(len(held) for held in lists) == len(ctx.messages)
    assert all(where[call] == where[result] for call, result in pairs(ctx.messages))
    assert all(where[ctx.messages[place].entry_id] == 0 for place in pending(ctx.messages))
    assert set(decision.reasons) == set(where)
    assert [message for message in ctx.messages if where[message.entry_id] == 0] == decision.preserve_verbatim


@settings(max_examples=60, deadline=None)
@given(turns(), st.integers(0, 6))
def test_every_word_of_the_user_is_in_a_structural_summary(messages: list[Message], count: int) -> None:
    ctx = Context(list(messages))
    said = [message.content for message in messages if message.role is Role.USER]
    Compactor(always(), selection(recent(count)), StructuralSummarizer()).maybe_compact(ctx)
    shown = "\n".join(message.content for message in ctx.messages)
    assert all(text in shown for text in said if text.isalnum())


RULES = ["Never deploy.", "不要修改 `a.toml`。", "Ask before you push.", "You may push now."]
sentences = st.sampled_from(
    [*RULES, "The labels are late.", "```", "2031-04-07 09:00:00 never", "\n", "- ", "It was " * 20]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(sentences, max_size=30).map(" ".join), min_size=1, max_size=3), st.integers(1, 3))
def test_what_the_guard_calls_a_rule_is_in_a_structural_summary_after_any_round(texts: list[str], rounds: int) -> None:
    """CMP-8: as it was, with the guard's eye for rules."""
    ctx = Context([Message(Role.USER, text) for text in texts])
    compactor = Compactor(always(), selection(recent(0)), structural())
    for number in range(rounds):
        compactor.maybe_compact(ctx)
        ctx.append(Message(Role.USER, f"Go on with depot {number}."))
    quoted = parse(ctx.messages[0].content)
    rules = [text[start:end] for text in texts for start, end in rules_in(text)]
    wanted = ["\n".join(line.rstrip() for line in rule.split("\n")) for rule in rules]
    assert all(any(rule in said for said in quoted.said) for rule in wanted) if quoted is not None else not wanted
