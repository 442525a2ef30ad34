"""Sessions as bytes: lines, formats, compression, and text that is not whole (SES-2, SES-8 to SES-10)."""

import json

import pytest
import zstandard
from sessions import Claude, Dsh, jsonl, said

from context_firewall import InvalidInput, read_conversation
from context_firewall.conversation.items import lines_of
from context_firewall.conversation.reader import FORMATS, items_of

SESSIONS = {
    "claude-code": Claude().user("u1", "Höre zu.").bytes(),
    "codex": jsonl(said("user", "Höre zu.")),
    "dsh": Dsh().user("Höre zu.").bytes(),
    "chat": jsonl({"role": "user", "content": "Höre zu."}),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_found_or_said(name: str) -> None:
    assert read_conversation(SESSIONS[name]).format == name
    assert read_conversation(SESSIONS[name], format=name).view[0].content == "Höre zu."


def test_lines_that_say_little_of_themselves() -> None:
    assert read_conversation(b'{"type": "user", "message": {"role": "user", "content": "x"}}\n').format == "claude-code"
    assert read_conversation(b'{"type": "session_meta", "payload": {"id": "x"}}\n').format == "codex"


@pytest.mark.parametrize("name", FORMATS)
def test_how_bytes_come_in_chunks_does_not_matter(name: str) -> None:
    whole = read_conversation(SESSIONS[name])
    for size in (1, 2, 7, 64):
        pieces = [SESSIONS[name][at : at + size] for at in range(0, len(SESSIONS[name]), size)]
        assert read_conversation(pieces) == whole


def test_other_line_ends_and_blank_lines() -> None:
    data = SESSIONS["claude-code"].replace(b"\n", b"\r\n") + b"\n  \n"
    assert read_conversation(data).view[0].content == "Höre zu."
    assert read_conversation(SESSIONS["dsh"].rstrip(b"\n")).view[0].content == "Höre zu."
    assert list(lines_of([b"a\n\n", b"b", b"\x85c\n"])) == [(1, b"a"), (3, b"b\x85c")]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the session is empty"),
        (b"\n\n", "the session is empty"),
        (b'{"hello": 1}\n', "line 1: no format is recognised; say which it is: claude-code, codex, dsh, chat"),
        (b"plain text\n", "line 1: not JSON"),
        (b'{"sessionId": "s", "type": "x"}\n{"cut', "line 2: not JSON"),
        (b'{"sessionId": "s", "type": "x", "type": "y"}\n', "line 1: not JSON .the key 'type' is given twice"),
        (b'{"sessionId": "s", "type": "x"}\n3\n', "line 2: must be a JSON object"),
        (b'{"sessionId": "s", "type": "\xff"}\n', "line 1: not UTF-8 at byte 28"),
        (b'{"a":' * 100_000 + b"\n", "line 1: nested too deeply"),
    ],
)
def test_what_is_no_session_is_refused_with_its_line(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_conversation(data)


def test_formats_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="format must be auto"):
        read_conversation(SESSIONS["chat"], format="diary")
    with pytest.raises(InvalidInput, match="a list of messages is no session of dsh"):
        read_conversation(b"[]", format="dsh")
    with pytest.raises(InvalidInput, match="line 1: must be the header"):
        read_conversation(SESSIONS["codex"], format="dsh")


def test_a_lone_surrogate_becomes_a_replacement_character_and_the_original_stays() -> None:
    data = b'{"role": "user", "content": "cut \\ud83d here \\ud83d\\ude00"}\n'
    (message,) = read_conversation(data).view
    assert message.content == "cut \ufffd here 😀"
    assert message.original() == data.strip()


def test_zstandard_frames() -> None:
    half = len(SESSIONS["dsh"]) // 2
    frames = b"".join(zstandard.compress(part) for part in (SESSIONS["dsh"][:half], SESSIONS["dsh"][half:]))
    assert read_conversation(frames) == read_conversation(SESSIONS["dsh"])
    assert read_conversation([frames[at : at + 1] for at in range(len(frames))]).format == "dsh"
    with pytest.raises(InvalidInput, match="the last Zstandard frame is cut off"):
        read_conversation(frames[:-3])
    with pytest.raises(InvalidInput, match="the Zstandard frames are damaged"):
        read_conversation(frames[:6] + b"\xff" * 40)


def test_items_as_they_stand_there() -> None:
    assert list(items_of([SESSIONS["codex"] * 2])) == [SESSIONS["codex"].rstrip(b"\n")] * 2
    talk = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    assert [json.loads(item) for item in items_of([json.dumps(talk, indent=3).encode()])] == talk
    assert list(items_of([])) == []
