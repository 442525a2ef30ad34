"""Sessions of Claude Code: the chain that is the view, who wrote what, what a compaction took (SES-3 to SES-7)."""

import pytest
from sessions import Claude, call, jsonl, text

from context_firewall import Author, InvalidInput, Role, read_conversation


def ids(messages: object) -> list[object]:
    """What messages are called."""
    return [message.entry_id for message in messages]  # type: ignore[attr-defined]


def talk() -> Claude:
    """A request, a call, its result, an answer."""
    session = Claude().user("u1", "Sort the depots by name. Never touch stock.csv.")
    session.model("a1", text("I look."), call("c1", command="ls"))
    return session.result("r1", "c1", "depots.csv").model("a2", text("There is one file."))


def test_messages_with_role_author_and_pairing() -> None:
    read = read_conversation(talk().bytes())
    assert read.format == "claude-code"
    assert [(m.entry_id, m.role, m.author) for m in read.view] == [
        ("u1", Role.USER, Author.USER),
        ("a1", Role.ASSISTANT, Author.MODEL),
        ("r1", Role.TOOL, Author.TOOL),
        ("a2", Role.ASSISTANT, Author.MODEL),
    ]
    assert read.view[1].tool_calls == (("c1", "Bash", '{"command":"ls"}'),)
    assert read.view[2].tool_results[0].call_id == "c1"
    assert read.view[2].content == "depots.csv"
    assert read.view[0].timestamp == 1777888800.0
    assert [m.line for m in read.view] == [1, 2, 3, 4]
    assert read.view[3].source == jsonl(talk().lines[3]).rstrip(b"\n")


def test_a_compaction_shadows_what_it_does_not_preserve() -> None:
    session = talk().user("u2", "Ask before you delete.").boundary("b1", preserved=["a2", "u2"], postTokens=300)
    session.summary("s1", "Summary: sort depots.").model("a3", text("On it."))
    read = read_conversation(session.bytes())
    (found,) = read.compactions
    assert (found.round, found.line, found.trigger, found.entry_id) == (1, 6, "auto", "b1")
    assert (found.tokens_before, found.tokens_after) == (1200, 300)
    assert ids(found.shadowed) == ["u1", "a1", "r1"]
    assert ids(found.retained) == ["a2", "u2"]
    assert found.summary is not None
    assert found.summary.author is Author.SUMMARY
    assert found.summary.replaces_entry_ids == ("u1", "a1", "r1") == found.replaces_entry_ids
    assert ids(read.view) == ["s1", "a2", "u2", "a3"]


def test_a_second_compaction_shadows_the_first_summary() -> None:
    session = talk().boundary("b1").summary("s1", "Summary one.").user("u2", "Go on.", after="s1")
    session.boundary("b2", trigger="manual").summary("s2", "Summary two.")
    first, second = read_conversation(session.bytes()).compactions
    assert (first.round, second.round) == (1, 2)
    assert ids(second.shadowed) == ["s1", "u2"]
    assert second.shadowed[0].is_summary
    assert second.trigger == "manual"


def test_what_follows_preserved_messages_may_hang_on_their_last() -> None:
    session = talk().boundary("b1", preserved=["a2"]).summary("s1", "Summary.").user("u2", "Go on.", after="a2")
    assert ids(read_conversation(session.bytes()).view) == ["s1", "a2", "u2"]


def test_a_stretch_that_was_preserved_by_its_ends() -> None:
    session = talk().user("u2", "Go on.").model("a3", text("Yes."))
    session.boundary("b1", preservedSegment={"headUuid": "a2", "anchorUuid": "s1", "tailUuid": "a3"})
    (found,) = read_conversation(session.summary("s1", "Summary.").bytes()).compactions
    assert ids(found.retained) == ["a2", "u2", "a3"]
    wrong = talk().boundary("b1", preservedSegment={"headUuid": "a2", "tailUuid": "u1"})
    with pytest.raises(InvalidInput, match=r"line 5: .*names two ends of which one does not lead to the other"):
        read_conversation(wrong.bytes())


def test_a_prompt_that_goes_back_to_a_preserved_message_leaves_the_later_ones_behind() -> None:
    session = talk().user("u2", "Use tabs.").model("a3", text("Yes.")).boundary("b1", preserved=["a2", "u2", "a3"])
    session.summary("s1", "Summary.").user("u3", "Use spaces.", after="a2")
    assert ids(read_conversation(session.bytes()).view) == ["s1", "a2", "u3"]


def test_a_summary_may_be_preserved_itself() -> None:
    session = talk().boundary("b1", preserved=["a2"]).summary("s1", "One.").user("u2", "Go on.")
    session.boundary("b2", preserved=["s1", "u2"]).summary("s2", "Two.").model("a3", text("Yes."))
    read = read_conversation(session.bytes())
    assert ids(read.compactions[1].retained) == ["s1", "u2"]
    assert ids(read.view) == ["s2", "s1", "u2", "a3"]


def test_an_attachment_between_a_boundary_and_its_summary() -> None:
    session = talk().boundary("b1")
    session.add("attachment", "q1", attachment={"type": "queued_command", "prompt": "Never run npm."})
    session.add("attachment", "x1", attachment={"type": "file"})
    read = read_conversation(session.summary("s1", "Summary.").bytes())
    assert read.compactions[0].summary is not None
    assert ids(read.view) == ["s1", "q1"]


def test_lines_without_names_follow_one_another() -> None:
    session = talk()
    for line in session.lines:
        del line["uuid"], line["parentUuid"]
    assert ids(read_conversation(session.bytes()).view) == [1, 2, 3, 4]


def test_what_says_that_no_person_wrote_it_is_not_the_users() -> None:
    session = talk().user("n1", "A task ended. Never stop.", origin={"kind": "task-notification"})
    session.user("u2", "Go on.", origin={"kind": "human"})
    session.add("attachment", "q1", attachment={"type": "queued_command", "prompt": "x", "origin": {"kind": "channel"}})
    assert [m.author for m in read_conversation(session.bytes()).view[-3:]] == [
        Author.PLUGIN,
        Author.USER,
        Author.PLUGIN,
    ]


def test_a_boundary_without_a_summary() -> None:
    read = read_conversation(talk().boundary("b1").model("a3", text("Hm.")).bytes())
    assert read.compactions[0].summary is None
    assert ids(read.view) == ["a3"]
    assert read_conversation(talk().boundary("b1").bytes()).compactions[0].summary is None


def test_a_prompt_that_the_user_went_back_behind_is_not_in_the_view() -> None:
    session = (
        talk().user("u2", "Never use tabs.").model("a3", text("Fine.")).user("u3", "Never use spaces.", after="a2")
    )
    session.model("a4", text("Fine.")).boundary("b1").summary("s1", "Summary.")
    (found,) = read_conversation(session.bytes()).compactions
    assert ids(found.shadowed) == ["u1", "a1", "r1", "a2", "u3", "a4"]


def test_parallel_calls_and_their_results_stay_in_the_view() -> None:
    session = Claude().user("u1", "Look at both.")
    session.model("a1", call("c1"), answer="m1").model("a2", call("c2"), answer="m1")
    session.result("r1", "c1", "one", after="a1").result("r2", "c2", "two", after="a2").model("a3", text("Both."))
    assert ids(read_conversation(session.bytes()).view) == ["u1", "a1", "a2", "r1", "r2", "a3"]


def test_nothing_is_left_out_where_the_chain_breaks() -> None:
    session = talk().user("u2", "Go on.", after="a-line-that-is-not-here").model("a3", text("Yes."))
    assert ids(read_conversation(session.bytes()).view) == ["u1", "a1", "r1", "a2", "u2", "a3"]


def test_a_new_root_leaves_the_first_tree_behind() -> None:
    session = talk().user("u2", "Start over.", after=None).model("a3", text("Yes."))
    assert ids(read_conversation(session.bytes()).view) == ["u2", "a3"]


def test_what_the_harness_puts_into_the_users_message_is_not_the_users() -> None:
    said = "Sort it.<system-reminder>Never stop.</system-reminder> Keep the header. <b>bold</b>"
    (message,) = read_conversation(Claude().user("u1", said).bytes()).view
    assert message.content == said
    assert [text for _, text in message.written_by(Author.USER)] == ["Sort it.", " Keep the header. <b>bold</b>"]
    assert [text for _, text in message.written_by(Author.PLUGIN)] == ["<system-reminder>Never stop.</system-reminder>"]
    assert all(said[at : at + len(part)] == part for at, part in message.written_by(Author.USER))


def test_what_was_typed_behind_a_command_is_the_users() -> None:
    said = "<command-name>/review</command-name><command-args>Never touch docs.</command-args>"
    (message,) = read_conversation(Claude().user("u1", said).bytes()).view
    assert [text for _, text in message.written_by(Author.USER)] == ["Never touch docs."]


def test_an_element_that_does_not_end_is_the_users() -> None:
    said = "<system-reminder>Never stop. <bash-input>"
    (message,) = read_conversation(Claude().user("u1", said).bytes()).view
    assert [text for _, text in message.written_by(Author.USER)] == [said]


def test_text_beside_a_result_is_the_users() -> None:
    session = talk()
    blocks = [{"type": "tool_result", "tool_use_id": "c1", "content": [text("must not")]}, text("Never retry.")]
    message = read_conversation(session.user("r2", blocks).bytes()).view[-1]
    assert (message.role, message.author) == (Role.TOOL, Author.TOOL)
    assert list(message.written_by(Author.USER)) == [(9, "Never retry.")]


def test_notices_queued_prompts_and_sidechains() -> None:
    session = talk().user("m1", "Caveat: local commands follow.", isMeta=True)
    session.add("attachment", "q1", attachment={"type": "queued_command", "prompt": "Never run npm."})
    session.add("attachment", "q2", attachment={"type": "todo_reminder"})
    session.user("x1", "You are a sub-agent. Never write.", isSidechain=True)
    session.lines.append({"type": "file-history-snapshot", "snapshot": {}})
    read = read_conversation(session.bytes())
    assert [(m.entry_id, m.author) for m in read.view[-2:]] == [("m1", Author.PLUGIN), ("q1", Author.USER)]
    assert read.aside == {"attachment": 1, "file-history-snapshot": 1, "sidechain": 1}


def test_only_the_authors_asked_for_are_kept() -> None:
    session = talk().user("u2", "Go on.").boundary("b1", preserved=["u2"]).summary("s1", "Summary.")
    read = read_conversation(session.bytes(), authors={Author.USER, Author.SUMMARY})
    assert ids(read.compactions[0].shadowed) == ["u1"]
    assert ids(read.view) == ["s1", "u2"]


@pytest.mark.parametrize(
    ("session", "line", "said"),
    [
        (talk().add("user", "u2", message="text"), 5, "message must be an object"),
        (talk().add("user", "u2", message={"content": 3}), 5, "message.content must be text or a list"),
        (talk().model("a3", {"type": "tool_use", "name": "Bash"}), 5, "message.content.0.id must be text"),
        (talk().user("u1", "Again."), 5, "the uuid u1 is given twice"),
        (talk().boundary("b1", preserved=["nobody"]), 5, "which is not in this session's view"),
        (talk().add("system", "x1", snipMetadata={"removedUuids": ["u1"]}), 5, "what it took out of the view"),
        (talk().boundary("b1", preservedSomehow={}), 5, "what this compaction preserved is not known"),
    ],
)
def test_what_must_not_be_guessed_is_refused_with_its_line(session: Claude, line: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refusal:
        read_conversation(session.bytes())
    assert refusal.value.details["line"] == line
    assert str(refusal.value).startswith(f"line {line}: ")
