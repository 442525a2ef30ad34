"""Sessions of the DeepSeek Harness: the fold of the surface, and what must be refused (SES-3 to SES-7)."""

import pytest
from sessions import Dsh, text

from context_firewall import Author, InvalidInput, Role, read_conversation
from context_firewall.conversation.messages import Status


def asked(call_id: str) -> dict[str, object]:
    """A block with a call."""
    return {"type": "tool-call", "id": call_id, "name": "bash", "arguments": "{}"}


def talk() -> Dsh:
    """Events 0 to 5."""
    session = (
        Dsh().add("turn/start", {"turn": 1}).user("Export it. Never use cp.").user("A file changed.", kind="plugin")
    )
    return session.model(text("I look."), asked("c1")).result("c1", "long\nlong\nlong").model(text("Looked."))


def test_messages_with_role_author_and_pairing() -> None:
    read = read_conversation(talk().bytes())
    assert read.format == "dsh"
    assert [(m.entry_id, m.role, m.author) for m in read.view] == [
        (1, Role.USER, Author.USER),
        (2, Role.USER, Author.PLUGIN),
        (3, Role.ASSISTANT, Author.MODEL),
        (4, Role.TOOL, Author.TOOL),
        (5, Role.ASSISTANT, Author.MODEL),
    ]
    assert read.view[2].tool_calls[0].call_id == read.view[3].tool_results[0].call_id == "c1"
    assert read.view[3].timestamp == 4.0
    assert read.aside == {"turn/start": 1}


def test_a_pruned_result_takes_the_place_of_the_long_one() -> None:
    session = talk().add("compaction/prune", {"shadowedSeqs": [4]})
    session.result("c1", "long […]", place={"op": "replace", "start": 4, "end": 4})
    read = read_conversation(session.bytes())
    assert read.compactions == ()
    assert [m.entry_id for m in read.view] == [1, 2, 3, 7, 5]
    assert (read.view[3].compaction_status, read.view[3].replaces_entry_ids) == (Status.REDUCED, (4,))


def test_a_compaction_and_one_that_shadows_its_checkpoint() -> None:
    session = talk().compaction("k1", "Export, without cp.", [1, 2, 3, 4]).user("Go on.")
    session.compaction("k2", "Export.", [8, 5])
    read = read_conversation(session.bytes())
    first, second = read.compactions
    assert [m.entry_id for m in first.shadowed] == [1, 2, 3, 4]
    assert [m.entry_id for m in first.retained] == [5]
    assert first.summary is not None
    assert first.summary.content == "Export, without cp."
    assert [(m.entry_id, m.author) for m in second.shadowed] == [(8, Author.SUMMARY), (5, Author.MODEL)]
    assert [m.entry_id for m in second.retained] == [10]
    assert [m.content for m in read.view] == ["(preamble)\nExport.", "Go on."]


def test_a_summary_that_never_took_effect_is_no_compaction() -> None:
    session = talk().add("compaction/summary", {"compactionId": "k", "summary": [text("x")], "shadowedSeqs": [1]})
    assert read_conversation(session.bytes()).compactions == ()


def test_an_answer_without_content_is_no_message_and_still_a_place() -> None:
    session = talk().model().user("Go on.")
    session.compaction("k1", "All.", [1, 2, 3, 4, 5, 6])
    read = read_conversation(session.bytes())
    assert [m.content for m in read.view] == ["(preamble)\nAll.", "Go on."]


def test_packed_chunks_and_ignorable_events_are_stepped_over() -> None:
    session = talk()
    session.lines.append(
        {"type": "text-chunks", "seq0": 6, "time0": 0, "data": {"texts": ["a", "b", "c"], "dt": [1, 1]}}
    )
    session.lines.append({"type": "extra/thing", "seq": 9, "time": 0, "data": {}, "ignorable": True})
    assert read_conversation(session.bytes()).aside == {"assistant/chunk": 3, "extra/thing": 1, "turn/start": 1}


def broken(**change: object) -> Dsh:
    """A session whose last event differs from what it should be."""
    session = talk()
    session.lines[-1].update(change)
    return session


def sourceless() -> Dsh:
    """A session in which an event replaces two and names one of them."""
    session = talk().user("x", place={"op": "replace", "start": 1, "end": 2})
    session.lines[-1]["sourceEventSeqs"] = [1]
    return session


@pytest.mark.parametrize(
    ("session", "problem"),
    [
        (talk().add("extra/thing", {}), "line 8: an event of type extra/thing is not known"),
        (broken(seq=7), "line 7: event 7 stands where 5 should"),
        (broken(surfaceOp=None), "line 7: surfaceOp must be append, or replace"),
        (broken(data=3), "line 7: data must be an object"),
        (talk().user("x", place={"op": "replace", "start": 99, "end": 99}), "names event 99, which is not in the view"),
        (talk().user("x", place={"op": "replace", "start": 4, "end": 1}), "start stands behind"),
        (sourceless(), "sourceEventSeqs does not name every entry that is replaced"),
        (talk().compaction("k", "x", [1, 5, 2]), "shadowedSeqs are not among the entries"),
    ],
)
def test_what_must_not_be_guessed_is_refused_with_its_line(session: Dsh, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_conversation(session.bytes())


def test_another_version_is_refused() -> None:
    session = talk()
    session.lines[0]["version"] = 1
    with pytest.raises(InvalidInput, match="line 1: must be the header of a session of version 0"):
        read_conversation(session.bytes())
