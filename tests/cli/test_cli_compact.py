"""`compact` and `restore` as users call them (CLI-10, EXIT-6)."""

import json
import os
import pty
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_process import COMMAND, ENVIRONMENT, Ended, call

from context_firewall import (
    Compactor,
    Context,
    Message,
    Role,
    StructuralSummarizer,
    open_store,
    read_conversation,
    selection,
    verify_compaction_record,
)
from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.compaction.selection import recent, system
from context_firewall.compaction.summaries import view_sha256
from context_firewall.compaction.triggers import always
from context_firewall.conversation.reader import items_of
from context_firewall.store.compactions import keep_compaction

TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief.", "name": "ops"},
    {"role": "user", "content": "Count the parcels. Never write to the table."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "pytest", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "x"},
    *({"role": "assistant", "content": f"Counted depot {number}. " * 9} for number in range(6)),
    {"role": "user", "content": "Go on."},
]
TAP_RUN = (
    "TAP version 13\n"
    + "".join(f"ok {number} - weighs parcel {number}\n" for number in range(1, 60))
    + "1..59\n# tests 59\n# pass 59\n# fail 0\n"
)


@pytest.fixture(autouse=True)
def _desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the store is, unless another is named."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A file of chat messages, of which one holds the output of a test run."""
    talk = [dict(message) for message in TALK]
    talk[3]["content"] = TAP_RUN
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(talk, indent=1), encoding="utf-8")
    return path


def here(*arguments: str | Path) -> Ended:
    """Run a command in this process, which saves the start."""
    return call(*arguments, folder=Path())


def view(ended: Ended) -> Any:
    """The view on standard output; one line must be on standard error."""
    assert ended.stderr.count(b"\n") == 1
    assert ended.stderr.startswith(b"[Context Firewall] ")
    return json.loads(ended.stdout)


def test_a_view_is_compacted_and_restored(chat: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    ended = call("compact", chat, "--record", record)
    assert ended.status == 0
    compacted = view(ended)
    assert compacted[0] == TALK[0]
    assert compacted[1]["role"] == "user"
    assert "- Count the parcels. Never write to the table." in compacted[1]["content"]
    assert compacted[2:] == TALK[-4:]
    assert b"| messages: 5 kept, 6 summarised | undo: proven" in ended.stderr
    assert verify_compaction_record(record.read_bytes()) == []

    back = call("restore", record)
    assert back.status == 0
    assert view(back) == json.loads(chat.read_text())
    assert b"view before the compaction: 11 entries, proven by sha256:" in back.stderr
    after = call("restore", record, "--after")
    assert [message["role"] for message in view(after)] == [message["role"] for message in compacted]


def test_same_input_same_bytes(chat: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert call("compact", chat, "--record", tmp_path / name, "--output", tmp_path / f"{name}-view").stdout == b""
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one-view").read_bytes() == (tmp_path / "two-view").read_bytes()
    call("compact", chat, "--record", tmp_path / "one", "--at", "12.5")
    assert json.loads((tmp_path / "one").read_bytes())["timestamp"] == 12.5


def test_a_test_run_that_stays_becomes_a_brief_with_its_receipt(chat: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    ended = call("compact", chat, "--select", "tool-results", "--record", record)
    (result,) = [message for message in view(ended) if message["role"] == "tool"]
    assert result["content"].startswith("INDETERMINATE: ") or result["content"].startswith("PASSED: ")
    assert len(result["content"]) < len(TAP_RUN) / 2
    (reduction,) = json.loads(record.read_bytes())["reductions"]
    assert reduction["reducer"] == "test-run/brief"
    assert reduction["receipt"]["reason_codes"] == ["EXIT_STATUS_MISSING"]
    assert b"1 reduced" in ended.stderr
    kept = call("compact", chat, "--select", "tool-results", "--keep-results")
    assert TAP_RUN in [message["content"] for message in view(kept)]
    assert view(call("restore", record, "--from", chat)) == json.loads(chat.read_text())


def test_a_second_round_carries_the_summary_on(chat: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "view.json", tmp_path / "record.json"
    call("compact", chat, "--output", first)
    compacted = view(call("compact", first, "--select", "recent:1", "--record", second))
    assert [message["role"] for message in compacted] == ["system", "user", "user"]
    assert compacted[1]["content"].count("- Count the parcels. Never write to the table.") == 1
    assert view(call("restore", second, "--from", first)) == json.loads(first.read_bytes())


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--trigger", "tokens:100000"), 3, "not compacted: the trigger does not fire"),
        (("--trigger", "messages:10+tokens:100000"), 3, "not compacted: the trigger does not fire"),
        (("--trigger", "tokens:100000", "--trigger", "messages:10"), 0, "proven"),
        (("--trigger", "window:1000:0.2"), 0, "proven"),
        (("--select", "recent:99", "--keep-results"), 3, "not compacted: nothing is to be summarised"),
        (
            ("--select", "recent:9", "--keep-results", "--only-if-smaller"),
            3,
            "not compacted: the view would not become smaller",
        ),
        (("--select", "user", "--select", "pinned:4", "--select", "containing:depot 5"), 0, "5 kept, 6 summarised"),
        (("--select", "recent-tokens:60", "--select", "drop-repeated"), 0, "proven"),
        (("--select", "pinned:" + "9" * 5000), 0, "1 kept, 10 summarised"),
        (("--select", "recent:9", "--keep-results"), 0, "not smaller, see --only-if-smaller"),
    ],
)
def test_when_and_what(chat: Path, tmp_path: Path, options: tuple[str, ...], status: int, said: str) -> None:
    record = tmp_path / "record.json"
    ended = call("compact", chat, *options, "--record", record)
    assert ended.status == status
    assert said in ended.stderr.decode()
    assert record.exists() == (status == 0)
    if status:
        assert view(ended) == json.loads(chat.read_text())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--trigger", "tokens:many"), "--trigger tokens:many: many is no whole number"),
        (("--trigger", "sometimes"), "--trigger sometimes is not known"),
        (("--trigger", "window:9:much"), "much is no number"),
        (("--trigger", "window:9:2"), "fraction must be from 0 to 1"),
        (("--select", "recent"), "--select recent is not known"),
        (("--select", "user:x"), "--select user:x is not known"),
        (("--select", "recent:-1"), "-1 is no whole number"),
        (("--summarizer", "oracle"), "--summarizer oracle is not known"),
        (("--summarizer", "command:'"), "--summarizer is no command"),
        (("--format", "dsh"), "a list of messages is no session of dsh"),
        (("--output", "chat.json"), "and the session are the same file"),
        (("--at", "nan"), "must be a number of seconds"),
    ],
)
def test_wrong_usage_is_explained(chat: Path, options: tuple[str, ...], said: str) -> None:
    ended = here("compact", chat.name, *options)
    assert said in ended.error()["message"]
    assert ended.status == 2


def test_a_session_that_is_not_whole_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text('{"sessionId": "s", "type": "mode"}\n{"cut')
    error = call("compact", path).error()
    assert (error["code"], error["line"]) == ("INVALID_INPUT", 2)


def test_of_a_long_text_the_summary_quotes_what_the_guard_calls_a_rule(tmp_path: Path) -> None:
    """CMP-8: so that the guard finds every rule in it again."""
    pasted = "\n".join(f"2031-04-07 09:00:{number:02} never mind depot {number}" for number in range(60))
    rules = "Never restart the printer. It began on Monday.\nKeep the timeout at 30 seconds."
    text = f"The labels are late.\n{pasted}\n{rules}"
    talk = [{"role": "user", "content": text}, *TALK[4:], {"role": "user", "content": "You may restart it at night."}]
    Path("chat.json").write_text(json.dumps(talk))
    ended = call("compact", "chat.json", "--select", "recent:1", "--output", "view.json")
    assert ended.status == 0
    summary = json.loads(Path("view.json").read_bytes())[0]["content"]
    assert "[…] Never restart the printer. […] Keep the timeout at 30 seconds." in summary
    assert len(summary) < 1500 < len(text)
    audited = json.loads(call("guard", "--before", "chat.json", "--summary", "view.json", "--json").stdout)
    assert (audited["outcome"], len(audited["constraints"])) == ("kept", 3)
    assert audited["counts"]["lost"] == audited["counts"]["altered"] == 0


def line(number: int, content: Any, **more: Any) -> str:
    """A line of a session of Claude Code: the user's or the model's, in turns."""
    role = ("user", "assistant")[number % 2]
    above = f"u{number - 1}" if number else None
    keys = {"sessionId": "s", "type": role, "uuid": f"u{number}", "parentUuid": above, "timestamp": "2031-04-07T09:00Z"}
    return json.dumps({**keys, "message": {"role": role, "content": content}, **more})


TALKED = [line(number, f"Said {number}.") for number in range(1, 8)]
ORPHAN = [{"type": "tool_result", "tool_use_id": "nobody", "content": "lost"}]


@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        ([], 1),
        (["", "  "], 1),
        ([line(0, "Fix it."), *TALKED, '{"sessionId": "s", "ty'], 9),
        ([line(0, "Fix it."), *TALKED, line(2, "again")], 9),
        ([line(0, "Fix it."), *TALKED, line(8, "x").replace("x", "\udcff")], 9),
        ([line(0, "Never push\x1b[2J\x07 it.\u202e \x9b1m \x00")], None),
        ([line(0, "Never push. " + "x" * 1_000_000)], None),
        ([line(0, "Never push. " + "Look at it. " * 5_000 + "Never merge.")], None),
        ([line(0, ORPHAN)], None),
        ([line(0, "Never push \ud800 it.")], None),
    ],
    ids=["empty", "blank", "cut", "twice", "no utf-8", "controls", "long word", "long text", "orphan", "surrogate"],
)
def test_hostile_sessions_are_refused_by_line_or_come_back_whole(
    tmp_path: Path, lines: list[str], refused: int | None
) -> None:
    """SES-7, SES-8 and CMP-12."""
    session = "".join(f"{one}\n" for one in (*lines, *(TALKED if refused is None else ()))).encode(
        "utf-8", "surrogateescape"
    )
    (tmp_path / "session.jsonl").write_bytes(session)
    ended = here("compact", "session.jsonl")
    if refused is not None:
        assert (ended.error()["code"], ended.error()["line"]) == ("INVALID_INPUT", refused)
        assert not (tmp_path / ".context-firewall").exists()
        return
    assert ended.status == 0
    assert not any(byte < 32 and byte != 10 for byte in ended.stdout)
    assert here("restore", "latest").stdout == session


def test_no_terminal_is_spoken_to(tmp_path: Path) -> None:
    """P7: JSON may hold control characters from U+007F on as they are."""
    talk = [{"role": "user", "content": "Weigh\x9b2J it.\u202e"} for _ in range(6)]
    (tmp_path / "chat.json").write_text(json.dumps(talk, ensure_ascii=False))
    for arguments in (("compact", "chat.json"), ("restore", "latest"), ("restore", "latest", "--entry", "0")):
        ours, theirs = pty.openpty()
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=theirs, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60, check=False
        )
        os.close(theirs)
        shown = os.read(ours, 65_536).decode()
        os.close(ours)
        assert done.returncode == 0
        assert "Weigh\\x9b2J it.\\u202e" in shown
        assert "\x9b" not in shown
    assert "Weigh\x9b2J it." in here("restore", "latest").stdout.decode()


# -- summaries of a command -------------------------------------------------------------------------------------------


def command(code: str) -> str:
    """A summarizer in Python."""
    return f'command:{sys.executable} -c "{code}"'


def test_a_command_makes_the_summary(chat: Path) -> None:
    code = "import json,sys; print('Seen:', len(json.load(sys.stdin)), 'Never write to the table.')"
    compacted = view(call("compact", chat, "--summarizer", command(code)))
    first, text = compacted[1]["content"].split("\n")
    assert first.startswith("[Summary of earlier messages, made by context-firewall: command ")
    assert text == "Seen: 6 Never write to the table."
    (summary,) = [m for m in read_conversation(json.dumps(compacted).encode()).view if m.is_summary]
    assert summary.content == compacted[1]["content"]


@pytest.mark.parametrize(
    ("summarizer", "said"),
    [
        (command("pass"), "printed nothing"),
        (command("raise SystemExit(7)"), "ended with status 7"),
        (command("import sys; sys.stdout.buffer.write(bytes([255]))"), "printed what is not UTF-8, at byte 0"),
        (command("import time; time.sleep(60)"), "took longer than 0.5 seconds"),
        ("command:/nowhere/summarize", "cannot be run: No such file or directory"),
    ],
)
def test_a_command_that_fails_changes_nothing(chat: Path, tmp_path: Path, summarizer: str, said: str) -> None:
    output = tmp_path / "view.json"
    ended = call("compact", chat, "--summarizer", summarizer, "--summarizer-timeout", "0.5", "--output", output)
    error = json.loads(ended.stderr.splitlines()[-1])
    assert (ended.status, error["code"], ended.stdout) == (1, "SUMMARIZER_FAILED", b"")
    assert said in error["message"]
    assert not output.exists()


# -- restore ----------------------------------------------------------------------------------------------------------


def test_lines_of_a_session_come_back_as_they_stood_there(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    lines = [
        json.dumps(
            {"sessionId": "s", "type": "user", "uuid": f"u{n}", "message": {"content": f"Say {n}."}}, indent=None
        )
        for n in range(9)
    ]
    session.write_text("\n".join(['{"sessionId": "s", "type": "mode"}', *lines]) + "\n")
    record = tmp_path / "record.json"
    call("compact", session, "--record", record, "--originals", "none")
    back = call("restore", "-", "--from", session, given=record.read_bytes())
    assert back.stdout.decode().splitlines() == lines


def test_an_original_that_is_missing_or_altered_is_named(chat: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    call("compact", chat, "--record", record, "--originals", "none")
    assert view(call("restore", record, "--from", chat)) == json.loads(chat.read_text())
    talk = json.loads(chat.read_text())
    talk[1]["content"] = "Count the parcels."
    chat.write_text(json.dumps(talk, indent=1))
    store = str(tmp_path / "store")
    error = call("restore", record, "--from", chat, "--store", store).error()
    document = json.loads(record.read_bytes())
    assert (error["code"], error["entry_id"], error["missing_count"]) == ("EVIDENCE_NOT_FOUND", 1, 1)
    assert error["missing"] == [document["original"]["entries"][1]["sha256"]]
    assert error["message"] == (
        "1 of 11 originals are not there, the first is that of entry 1; looked in the record, the sessions given, "
        f"{store}; a session that holds them can be given with --from"
    )
    assert call("restore", record, "--store", store).error()["missing_count"] == 11
    altered = json.loads(record.read_bytes())
    altered["originals"] = {one["sha256"]: "x" for one in document["original"]["entries"]}
    assert call("restore", "-", given=canonical_bytes(altered) + b"\n").error()["key"] == "originals"


# -- the store --------------------------------------------------------------------------------------------------------


def test_three_rounds_are_undone_from_record_and_store(chat: Path, tmp_path: Path) -> None:
    """CMP-7 and CMP-12: each command is a process of its own, and the views that were compacted are gone."""
    view_file, views = chat, list[bytes]()
    for number in range(3):
        views.append(view_file.read_bytes())
        record = tmp_path / f"record{number}.json"
        compacted = call("compact", view_file, "--select", "recent:3", "--keep-results", "--record", record)
        assert compacted.status == 0, compacted.stderr
        assert "originals" not in json.loads(record.read_bytes())
        view_file.unlink()
        view_file = tmp_path / f"view{number}.json"
        asked = {"role": "user", "content": f"Round {number}. Never skip depot {number}."}
        talk = [*view(compacted), asked, *TALK[4:9]]
        view_file.write_text(json.dumps(talk, indent=number), encoding="utf-8")
    for number, before in enumerate(views):
        document = json.loads((tmp_path / f"record{number}.json").read_bytes())
        restored = call("restore", tmp_path / f"record{number}.json")
        items = list(items_of([before]))
        assert [sha256(raw) for raw in items_of([restored.stdout])] == [sha256(raw) for raw in items]
        assert sha256(b"".join(raw + b"\n" for raw in items)) == document["original"]["sha256"]
        assert view(restored) == json.loads(before)
        after = call("restore", tmp_path / f"record{number}.json", "--after")
        assert sha256(b"".join(raw + b"\n" for raw in items_of([after.stdout]))) == document["compacted"]["sha256"]
        (tmp_path / f"record{number}.json").unlink()
        assert call("restore", f"latest~{2 - number}").stdout == restored.stdout
    assert call("restore", "--list").stdout.count(b"\n") == 4


REPLAY = """
import sys
from context_firewall import open_store, replayed_view, restored_history, restored_view
from context_firewall.canonical import sha256
from context_firewall.store.compactions import compactions, kept_record, originals_kept

store = open_store(sys.argv[1], folder="/")
records = [kept_record(store, name) for name in reversed(compactions(store))]
held = {digest: item for record in records for digest, item in originals_kept(store, record).items()}
for record in records:
    for rebuild in (restored_view, replayed_view):
        print(sha256(b"".join(item + b"\\n" for item in rebuild(record, originals_kept(store, record).get))))
print(sha256(b"".join(item + b"\\n" for item in restored_history(records, held.get))))
"""


def test_the_rounds_of_a_program_are_replayed_in_another_process(tmp_path: Path) -> None:
    """CMP-7, CMP-12 and CREC-5: every view, and all that was ever said."""
    store = open_store("store", folder=str(tmp_path))
    compactor = Compactor(always(), selection(system(), recent(2)), StructuralSummarizer())
    ctx, said = Context([Message(Role.SYSTEM, "Be brief.")]), list[bytes]()
    for number in range(3):
        for text in (f"Weigh parcel {number}.", f"Never open parcel {number}.", "Go on."):
            ctx.append(Message(Role.USER, text))
        assert compactor.maybe_compact(ctx) is not None
    wanted = list[str]()
    for hour, record in enumerate(compactor.records):
        originals = [message.original() for message in record.original_context]
        keep_compaction(store, record.as_document(), originals, recorded_at=f"2026-11-30T0{hour}:00:00.000Z")
        wanted += [view_sha256(record.original_context), view_sha256(record.compacted_context)]
        said = [message.original() for message in compactor.full_history(ctx)]
    replayed = subprocess.run(
        [sys.executable, "-c", REPLAY, str(tmp_path / "store")], capture_output=True, env=ENVIRONMENT, check=True
    )
    assert replayed.stdout.decode().split() == [*wanted, sha256(b"".join(item + b"\n" for item in said))]


def test_where_the_originals_are_kept_is_asked_for(chat: Path, tmp_path: Path) -> None:
    """CMP-12."""
    before = json.loads(chat.read_text())
    for where in ("record", "none"):
        ended = here("compact", chat, "--record", tmp_path / "record.json", "--originals", where)
        assert ended.stderr.endswith(b"undo: proven\n")
        assert ("originals" in json.loads((tmp_path / "record.json").read_bytes())) == (where == "record")
        assert not (tmp_path / ".context-firewall").exists()
        assert here("restore", tmp_path / "record.json").status == (0 if where == "record" else 1)
        assert not (tmp_path / ".context-firewall").exists()
    (tmp_path / "context-firewall.toml").write_text('store = "kept"\n')
    ended = here("compact", chat)
    named = ended.stderr.decode().rpartition("undo: proven, restore ")[2].strip()
    assert view(here("restore", named)) == before
    assert view(here("restore", named, "--store", "kept", "--no-config")) == before
    assert here("restore", named, "--no-config").error()["code"] == "EVIDENCE_NOT_FOUND"
    assert view(here("restore", f"{named[:11]}", "--entry", "1")) == before[1]
    assert here("restore", named, "--entry", "99").error()["entry_id"] == "99"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compact", "chat.json", "--originals", "record"), "--originals record needs --record"),
        (("compact", "chat.json", "--originals", "none", "--store", "s"), "--originals none uses none"),
        (("restore",), "give a record, or --list without one"),
        (("restore", "latest", "--list"), "give a record, or --list without one"),
        (("restore", "latest", "--after", "--entry", "1"), "--entry is of the view before"),
        (("restore", "sha256:12"), "at least 4"),
    ],
)
def test_contradictions_are_refused(chat: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = here(*arguments)
    assert said in ended.error()["message"]
    assert ended.status == 2


def test_a_store_that_takes_nothing_leaves_everything_as_it_was(chat: Path, tmp_path: Path) -> None:
    """CMP-12 and STORE-6: neither the view nor the record is handed out."""
    (tmp_path / "taken").write_text("a file")
    error = here("compact", chat, "--store", "taken", "--record", "record.json", "--output", "view.json").error()
    assert (error["code"], error["store"]) == ("STORE_NOT_WRITTEN", str(tmp_path / "taken"))
    assert "--originals record keeps them" in error["message"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chat.json", "taken"]


def test_a_full_disk_hands_out_nothing(tmp_path: Path) -> None:
    """CMP-12: no file of ours may grow beyond a few kilobytes, neither in the store nor beside it."""
    talk = [{"role": "user", "content": random.Random(7).randbytes(40_000).hex()} for _ in range(9)]  # noqa: S311
    (tmp_path / "chat.json").write_text(json.dumps(talk))
    for options in ((), ("--originals", "record", "--record", "record.json")):
        arguments = [*COMMAND, "compact", "chat.json", "--output", "view.json", *options]
        limited = ["sh", "-c", 'ulimit -f 16; exec "$@"', "sh", *arguments]
        done = subprocess.run(limited, capture_output=True, env=ENVIRONMENT, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (1, b"")
        code = json.loads(done.stderr)["code"]
        assert code == ("OUTPUT_NOT_WRITTEN" if options else "STORE_NOT_WRITTEN")
        assert not [path for path in tmp_path.iterdir() if path.name in ("view.json", "record.json")]
    assert not [path for path in (tmp_path / ".context-firewall").rglob("*") if path.suffix in (".gz", ".json")]


def test_what_is_damaged_in_the_store_is_said(chat: Path, tmp_path: Path) -> None:
    """STORE-3: and a session that was given comes first."""
    here("compact", chat, "--record", "record.json")
    (object_path,) = (tmp_path / ".context-firewall" / "objects").iterdir()
    object_path.write_bytes(b"damaged")
    assert here("restore", "record.json").error()["code"] == "EVIDENCE_DAMAGED"
    assert view(here("restore", "record.json", "--from", chat)) == json.loads(chat.read_text())
    (record_path,) = (tmp_path / ".context-firewall" / "compactions").iterdir()
    record_path.write_bytes(b"{}")
    assert here("restore", "latest").error()["code"] == "EVIDENCE_DAMAGED"
    listed = here("restore", "--list")
    assert (listed.status, listed.stdout) == (0, b"")
    assert b"damaged and left out: " in listed.stderr


def test_pruning_gives_compactions_up(chat: Path, tmp_path: Path) -> None:
    """PRUNE-6: and says so in words and as a document."""
    for select in ("recent:2", "recent:3"):
        here("compact", chat, "--select", select)
    words = here("gc", "--keep-last", "1", "--min-age", "0m").stdout.decode()
    assert "would remove 0 runs and 1 compaction: 1 file" in words  # the view is the other's, too
    plan = json.loads(here("gc", "--keep-last", "0", "--min-age", "0m", "--delete", "--json").stdout)
    assert [one["why"] for one in plan["compactions"]] == ["BEYOND_LAST", "BEYOND_LAST"]
    assert (plan["files"], plan["kept_compactions"], plan["leftover_files"]) == (3, 0, 0)
    assert b"holds no compaction" in here("restore", "--list").stderr
    assert here("runs").status == here("stats").status == 0


def test_a_record_that_does_not_hold_is_refused(chat: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    call("compact", chat, "--record", record)
    record.write_bytes(record.read_bytes().replace(b'"round":1', b'"round":0'))
    assert call("restore", record, "--from", chat).error()["key"] == "round"
    assert call("restore", chat, "--from", chat).error()["message"].startswith("this is no compaction record")
    assert call("restore", "-", "--from", "-").error()["message"] == "standard input can be one file only"
