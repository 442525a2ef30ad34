"""Rollouts of Codex: whose a message in the user's role is, and what takes the place of the view (SES-3 to SES-7)."""

from typing import Any

import pytest
from sessions import item, jsonl, said, shown

from context_firewall import Author, InvalidInput, Role, read_conversation

START = (
    item("session_meta", id="s-1", cwd="/srv/x"),
    said("user", "# AGENTS.md instructions for /srv/x\n\nTests first."),
    said("user", "<environment_context>\n</environment_context>"),
    said("user", "Rename the depots. Never use sed."),
    shown("Rename the depots. Never use sed."),
    item("response_item", type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
    item(
        "response_item",
        type="function_call_output",
        call_id="c1",
        output='{"output":"a\\n","metadata":{"exit_code":2}}',
    ),
    said("assistant", "Done."),
)


def authors(lines: tuple[Any, ...]) -> list[str]:
    """Who wrote the messages of the view."""
    return [str(message.author) for message in read_conversation(jsonl(*lines)).view]


def test_messages_with_role_author_and_pairing() -> None:
    read = read_conversation(jsonl(*START))
    assert read.format == "codex"
    assert [(m.entry_id, m.role, m.author) for m in read.view] == [
        (2, Role.USER, Author.PLUGIN),
        (3, Role.USER, Author.PLUGIN),
        (4, Role.USER, Author.USER),
        (6, Role.ASSISTANT, Author.MODEL),
        (7, Role.TOOL, Author.TOOL),
        (8, Role.ASSISTANT, Author.MODEL),
    ]
    assert read.view[3].tool_calls == (("c1", "shell", '{"command":["ls"]}'),)
    assert read.view[4].tool_results == (("c1", None, 2),)
    assert read.view[4].content == "a\n"
    assert read.aside == {"session_meta": 1}


def test_an_event_proves_who_wrote() -> None:
    lines = (said("user", "Notice: must not be empty."), said("user", "Never sleep."), shown("Never sleep."))
    assert authors(lines) == ["plugin", "user"]
    assert authors((shown("Never sleep."), said("user", "Never sleep."))) == ["user"]


def test_without_events_only_what_begins_as_the_harness_does_is_not_the_users() -> None:
    assert authors((said("user", "<environment_context>x"), said("user", "Never sleep."))) == ["plugin", "user"]


def test_a_message_of_which_the_user_wrote_a_part() -> None:
    lines = (said("user", "# Context from the editor\nfile.py", "Never sleep."), shown("Never sleep."))
    (message,) = read_conversation(jsonl(*lines)).view
    assert list(message.written_by(Author.USER)) == [(34, "Never sleep.")]
    assert [text for _, text in message.written_by(Author.PLUGIN)] == ["# Context from the editor\nfile.py\n"]


def test_events_of_newer_rollouts_prove_as_well() -> None:
    done = {
        "type": "UserMessage",
        "id": "1",
        "content": [{"type": "image"}, {"type": "text", "text": "Never sleep.\n"}],
    }
    lines = (
        said("user", "Notice: Never sleep. It is printed by a tool."),
        said("assistant", "Hm."),
        said("user", "Never sleep."),
        item("event_msg", type="item_completed", item=done),
        shown("Never sleep."),
    )
    assert authors(lines) == ["plugin", "model", "user"]
    assert authors((said("user", "Never sleep."), item("event_msg", type="item_completed", item=7))) == ["user"]


def test_turns_that_were_taken_back_are_not_in_the_view() -> None:
    lines = (*START, said("user", "Use tabs."), shown("Use tabs."), said("assistant", "Fine."))
    back = item("event_msg", type="thread_rolled_back", num_turns=1)
    assert [m.content for m in read_conversation(jsonl(*lines, back)).view][-1] == "Done."
    assert len(read_conversation(jsonl(*lines, item("event_msg", type="thread_rolled_back", num_turns=9))).view) == 0


def test_a_compaction_without_a_history_shadows_everything() -> None:
    read = read_conversation(jsonl(*START, item("compacted", message="Summary: rename."), said("user", "Go on.")))
    (found,) = read.compactions
    assert (found.line, found.readded, len(found.shadowed), found.retained) == (9, True, 6, ())
    assert found.summary is not None
    assert found.summary.content == "Summary: rename."
    assert [m.content for m in read.view] == ["Summary: rename.", "Go on."]


def test_a_compaction_with_a_history() -> None:
    history = [
        said("user", "# AGENTS.md instructions for /srv/x\n\nTests first.")["payload"],
        said("user", "Rename the depots. Never use sed.")["payload"],
        said("user", "Rename the […] cut")["payload"],
        said("user", "Summary: rename.")["payload"],
    ]
    compacted = item("compacted", message="Summary: rename.", replacement_history=history, window_number=1)
    read = read_conversation(jsonl(*START, compacted))
    (found,) = read.compactions
    assert not found.readded
    assert [m.entry_id for m in found.retained] == [2, 4]
    assert [m.entry_id for m in found.shadowed] == [3, 6, 7, 8]
    assert found.summary is not None
    assert (found.summary.entry_id, found.summary.author) == ("9.3", Author.SUMMARY)
    assert [(m.entry_id, m.author) for m in read.view] == [
        (2, Author.PLUGIN),
        (4, Author.USER),
        ("9.2", Author.PLUGIN),
        ("9.3", Author.SUMMARY),
    ]


def test_a_compaction_whose_summary_cannot_be_read() -> None:
    history = [
        said("user", "Rename the depots. Never use sed.")["payload"],
        {"type": "compaction", "encrypted_content": "x"},
    ]
    read = read_conversation(jsonl(*START, item("compacted", message="", replacement_history=history)))
    assert read.compactions[0].summary is None
    assert read.compactions[0].sealed
    assert [m.entry_id for m in read.compactions[0].retained] == [4]


def test_a_compaction_that_says_nothing_at_all() -> None:
    read = read_conversation(jsonl(*START, item("compacted")))
    assert (read.compactions[0].summary, read.compactions[0].sealed, read.view) == (None, False, ())


def test_a_second_compaction_shadows_the_first_summary() -> None:
    lines = (*START, item("compacted", message="One."), said("user", "Go on."), item("compacted", message="Two."))
    first, second = read_conversation(jsonl(*lines)).compactions
    assert second.round == 2
    assert second.shadowed[0] == first.summary


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (said("narrator", "x"), "the role 'narrator' is not known"),
        (item("compacted", message=3), "payload.message must be text"),
        (item("compacted", message="x", replacement_history="y"), "payload.replacement_history must be a list"),
        (item("response_item", type="function_call", name="shell"), "payload.call_id must be text"),
        ({"timestamp": "t", "type": "response_item", "payload": 3}, "payload must be an object"),
    ],
)
def test_what_must_not_be_guessed_is_refused_with_its_line(line: object, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem) as refusal:
        read_conversation(jsonl(*START, line))
    assert refusal.value.details["line"] == 9


def test_custom_calls_and_outputs_of_several_shapes() -> None:
    lines = (
        item("response_item", type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2"),
        item("response_item", type="custom_tool_call_output", call_id="c2", output="{not json"),
        item("response_item", type="local_shell_call", call_id="c3", action={"type": "exec"}),
        item(
            "response_item", type="function_call_output", call_id="c3", output=[{"type": "input_text", "text": "out"}]
        ),
        item("response_item", type="function_call_output", call_id="c4", output={"content": "in", "success": True}),
        item("response_item", type="reasoning", summary=[]),
    )
    read = read_conversation(jsonl(*lines))
    assert [m.content for m in read.view] == ["", "{not json", "", "out", "in"]
    assert [m.tool_calls[0].name for m in read.view if m.tool_calls] == ["apply_patch", "local_shell_call"]
    assert read.aside == {"response_item/reasoning": 1}
