"""Chat messages as JSON, what is written of a view, and the compaction between two views (SES-1, SES-6, CLI-10)."""

import json
from typing import Any

import pytest
from sessions import call, jsonl, text

from context_firewall import Author, InvalidInput, Role, compaction_between, read_conversation, structural_summarizer
from context_firewall.conversation.formats.chat import written


def asked(*call_ids: str) -> dict[str, Any]:
    """A message with calls."""
    calls = [{"id": name, "type": "function", "function": {"name": "sql", "arguments": "{}"}} for name in call_ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Count the parcels. Never write to the table.", "name": "ana"},
    asked("c1", "c2"),
    {"role": "tool", "tool_call_id": "c1", "content": "12"},
    {"role": "tool", "tool_call_id": "c2", "content": "30"},
    {"role": "assistant", "content": "12 and 30."},
]


def test_messages_with_role_author_and_pairing() -> None:
    read = read_conversation(json.dumps(TALK).encode())
    assert read.format == "chat"
    assert [(m.entry_id, m.role, m.author) for m in read.view] == [
        (0, Role.SYSTEM, Author.SYSTEM),
        (1, Role.USER, Author.USER),
        (2, Role.ASSISTANT, Author.MODEL),
        (3, Role.TOOL, Author.TOOL),
        (4, Role.TOOL, Author.TOOL),
        (5, Role.ASSISTANT, Author.MODEL),
    ]
    assert [made.call_id for made in read.view[2].tool_calls] == ["c1", "c2"]
    assert json.loads(read.view[1].source) == TALK[1]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(TALK, indent=1).encode(),
        json.dumps({"model": "m", "messages": TALK}).encode(),
        json.dumps({"messages": TALK, "n": [1]}, indent=2).encode(),
        b"\xef\xbb\xbf\n" + json.dumps(TALK).encode(),
        jsonl(*TALK),
    ],
    ids=["indented", "object", "indented object", "byte order mark", "lines"],
)
def test_the_shapes_in_which_a_list_comes(data: bytes) -> None:
    assert [m.content for m in read_conversation(data).view] == [m["content"] or "" for m in TALK]
    assert [json.loads(m.source) for m in read_conversation(data).view] == TALK


def test_blocks_and_the_older_function_calls() -> None:
    talk = [
        {"role": "user", "content": [text("Look."), {"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "assistant", "content": [text("I do."), call("t1")]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "seen"}]},
        {"role": "assistant", "content": None, "function_call": {"name": "sql", "arguments": "{}"}},
        {"role": "function", "name": "sql", "content": "7"},
    ]
    read = read_conversation(json.dumps(talk).encode())
    assert [m.role for m in read.view] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.TOOL]
    assert read.view[3].tool_calls[0].call_id == read.view[4].tool_results[0].call_id
    assert read.aside == {"block image_url": 1}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"[", "line 1: not JSON at character 2"),
        (b'[{"role": "user", "content": "a"},\n {"role": "narrator"}]', "line 2: message 1 has the role 'narrator'"),
        (b'[{"role": "user", "content": "a"}\n{"role": "user"}]', "line 2: a comma or the list's end is missing"),
        (b'[{"role": "user", "content": "a"}] x', "line 1: something follows"),
        (b"[3]", "line 1: message 0 must be an object"),
        (b'[{"role": "user", "role": "system", "content": "a"}]', "the key 'role' is given twice"),
        (b'[{"role": "user", "content": NaN}]', "NaN is no number"),
        (b'{"messages": [], "messages": []}', "the key 'messages' is given twice"),
        (b'{\n"model": "m"\n}', "has no list called messages"),
        (b'[{"role": "user", "content": "\xff"}]', "line 1: not UTF-8"),
        (b'[{"role": "tool", "content": "x"}]', "tool_call_id must be text"),
        (b'[{"role": "assistant", "tool_calls": {}, "content": "x"}]', "tool_calls must be a list"),
        (b"[" * 100_000, "line 1: nested too deeply"),
    ],
)
def test_what_must_not_be_guessed_is_refused_with_its_line(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_conversation(data)


def test_a_view_is_written_as_it_was_and_read_again() -> None:
    view = read_conversation(json.dumps(TALK).encode()).view
    assert json.loads(written(view, verbatim=True)) == TALK
    again = read_conversation(written(view)).view
    assert [(m.role, m.content, m.tool_calls, m.tool_results) for m in again] == [
        (m.role, m.content, m.tool_calls, m.tool_results) for m in view
    ]
    assert written(()) == b"[]\n"


def test_a_summary_of_ours_is_known_again() -> None:
    view = read_conversation(json.dumps(TALK).encode()).view
    (message,) = read_conversation(written([structural_summarizer(list(view))])).view
    assert (message.role, message.author) == (Role.USER, Author.SUMMARY)
    assert message.is_summary


def test_a_result_beside_text_of_the_users_becomes_two_messages() -> None:
    talk = [
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}, text("Never retry.")],
        }
    ]
    view = read_conversation(json.dumps(talk).encode()).view
    assert json.loads(written(view)) == [
        {"content": "ok", "role": "tool", "tool_call_id": "t"},
        {"content": "Never retry.", "role": "user"},
    ]


# -- two views --------------------------------------------------------------------------------------------------------


def between(before: list[Any], after: list[Any]) -> Any:
    """The compaction between two lists."""
    views = [read_conversation(json.dumps(talk).encode()).view for talk in (before, after)]
    return compaction_between(*views)


def test_what_both_views_have_was_retained() -> None:
    found = between(TALK, [TALK[0], {"role": "user", "content": "Summary: 12 and 30."}, TALK[5]])
    assert [m.entry_id for m in found.shadowed] == [1, 2, 3, 4]
    assert [m.entry_id for m in found.retained] == [0, 5]
    assert found.summary.content == "Summary: 12 and 30."
    assert found.summary.is_summary


def test_a_message_in_the_middle_that_stays() -> None:
    found = between(
        TALK, [TALK[0], {"role": "user", "content": "Summary."}, TALK[1], {"role": "user", "content": "More."}]
    )
    assert [m.entry_id for m in found.retained] == [0, 1]
    assert found.summary.content == "Summary.\n\nMore."


def test_a_view_that_was_only_cut_has_no_summary() -> None:
    assert between(TALK, TALK[-1:]).summary is None
    assert between(TALK, TALK).shadowed == ()
