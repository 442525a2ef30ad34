"""`guard` as users call it."""

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_process import Ended
from cli_process import run as run_process

from context_firewall import verify_survival_report
from context_firewall.cli import main
from context_firewall.cli.channels import status_of
from context_firewall.guard.reinjection import whole_blocks

ASKED = "Draw the charts. Never deploy on a Friday. Wait 90 seconds between requests. Use tabs."
KEPT = "Charts drawn. Never deploy on a Friday. Wait 90 s between requests. Tabs are used."
LOST = "Charts drawn. Wait 9 seconds between requests. Tabs are used."


def session(*summaries: str, asked: str = ASKED) -> bytes:
    """A Claude Code session with a compaction for each summary."""
    lines: list[dict[str, Any]] = [{"type": "user", "message": {"role": "user", "content": asked}}]
    for summary in summaries:
        lines.append({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "manual"}})
        lines.append({"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": summary}})
    written = []
    for number, line in enumerate(lines):
        parent = None if not number or "subtype" in line else f"u{number - 1}"
        written.append({"uuid": f"u{number}", "parentUuid": parent, "sessionId": "s", **line})
    return "".join(json.dumps(line) + "\n" for line in written).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with sessions and views; a repository, so that no configuration above it counts."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "kept.jsonl").write_bytes(session(KEPT))
    (tmp_path / "lost.jsonl").write_bytes(session(KEPT, LOST))
    (tmp_path / "unknown.jsonl").write_bytes(session("Charts drawn.", asked="千万别惊动客户。"))
    return tmp_path


Run = Callable[..., Ended]


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line, in the folder and in this process: starting one for each case would take most of the time."""

    def called(*arguments: str) -> Ended:
        monkeypatch.chdir(folder)
        status = status_of(lambda: main(list(arguments), standalone_mode=False))
        return Ended(status, *capsysbinary.readouterr())

    return called


@pytest.mark.parametrize(("name", "status"), [("kept", 0), ("lost", 1), ("unknown", 3)])
def test_the_exit_status_says_whether_anything_was_lost(run: Run, folder: Path, name: str, status: int) -> None:
    ended = run("guard", f"{name}.jsonl")
    assert (ended.status, ended.stderr) == (status, b"")


def test_the_table_has_each_rule_its_verdict_and_the_words_that_decided(run: Run, folder: Path) -> None:
    text = run("guard", "lost.jsonl").stdout.decode()
    assert "lost.jsonl (claude-code): 2 compactions, judge survival/v1" in text
    assert re.search(r"round 2, manual, line 4\n  lost     Never deploy on a Friday\.\n", text)
    assert (
        "  altered  Wait 90 seconds between requests.\n           quantity: 9 seconds instead of 90 seconds\n" in text
    )
    assert "           | Wait 9 seconds between requests.\n" in text
    assert text.endswith("\nnot every rule survived: 4 kept, 1 altered, 1 lost\n")


def test_a_report_is_one_canonical_document(run: Run, folder: Path) -> None:
    ended = run("guard", "lost.jsonl", "--json")
    assert verify_survival_report(ended.stdout) == []
    assert json.loads(ended.stdout)["source"]["format"] == "claude-code"


def test_it_reads_standard_input(folder: Path) -> None:
    assert run_process("guard", "-", given=session(KEPT), folder=folder).status == 0


def test_any_agent_can_be_audited_by_two_files(run: Run, folder: Path) -> None:
    chat = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": "Drawn."}]
    after = [{"role": "user", "content": KEPT}, chat[1]]
    (folder / "before.json").write_text(json.dumps(chat))
    (folder / "after.json").write_text(json.dumps(after))
    (folder / "rules.txt").write_text(ASKED)
    (folder / "summary.txt").write_text(LOST)
    for before, summary, status in [
        ("before.json", "after.json", 0),
        ("before.json", "summary.txt", 1),
        ("rules.txt", "summary.txt", 1),
        ("lost.jsonl", "summary.txt", 0),  # its view holds no rule any more
    ]:
        ended = run("guard", "--before", before, "--summary", summary)
        assert (ended.status, ended.stderr) == (status, b""), before


def test_pinned_rules_come_from_the_command_and_the_configuration(run: Run, folder: Path) -> None:
    (folder / "context-firewall.toml").write_text('pinned = ["Never force-push."]\n')
    text = run("guard", "kept.jsonl", "--pinned", "Be brief.").stdout.decode()
    assert "lost  Never force-push. (pinned)" in text
    assert "lost  Be brief. (pinned)" in text
    assert run("guard", "kept.jsonl", "--no-config").status == 0


@pytest.mark.parametrize("pinned", ['"Be brief."', "[1]", '[""]'])
def test_pinned_rules_that_are_none_are_refused(run: Run, folder: Path, pinned: str) -> None:
    (folder / "context-firewall.toml").write_text(f"pinned = {pinned}\n")
    assert run("guard", "kept.jsonl").error()["code"] == "INVALID_INPUT"


def test_the_other_judge_can_be_asked(run: Run, folder: Path) -> None:
    report = json.loads(run("guard", "lost.jsonl", "--judge", "seed-coverage/v1", "--json").stdout)
    assert report["judge"] == {"name": "seed-coverage/v1", "parameters": {"coverage": 600}}
    verdicts = [finding["verdict"] for finding in report["rounds"][1]["findings"]]
    assert verdicts == ["lost", "kept", "kept"]  # 90 became 9, and it does not see it


def test_reinject_prints_what_the_last_compaction_did_not_keep(run: Run, folder: Path) -> None:
    ended = run("guard", "reinject", "lost.jsonl")
    text = ended.stdout.decode()
    assert ended.status == 0
    assert whole_blocks(text) == ((0, len(text) - 1),)
    assert text.splitlines()[1:-1] == ["- Never deploy on a Friday.", "- Wait 90 seconds between requests."]
    nothing = run("guard", "reinject", "kept.jsonl")
    assert (nothing.status, nothing.stdout) == (0, b"")
    assert b"nothing to put back" in nothing.stderr


def test_a_ledger_only_grows(run: Run, folder: Path) -> None:
    ledger = folder / "ledger.jsonl"
    for count in (1, 2):
        run("guard", "lost.jsonl", "--ledger", "ledger.jsonl")
        assert len(ledger.read_bytes().splitlines()) == 6 * count
    entries = [json.loads(line) for line in ledger.read_bytes().splitlines()]
    assert [one["verdict"] for one in entries[3:6]] == ["lost", "altered", "kept"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", one["recorded_at"]) for one in entries)
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600


def test_a_torn_line_of_a_ledger_stays_and_the_next_begins_anew(run: Run, folder: Path) -> None:
    (folder / "ledger.jsonl").write_bytes(b'{"torn')
    run("guard", "kept.jsonl", "--ledger", "ledger.jsonl")
    lines = (folder / "ledger.jsonl").read_bytes().splitlines()
    assert lines[0] == b'{"torn'
    assert all(json.loads(line) for line in lines[1:])


def test_a_ledger_that_cannot_be_written_is_an_error_and_no_report(run: Run, folder: Path) -> None:
    os.symlink(folder / "kept.jsonl", folder / "link.jsonl")
    for name, code in [
        ("link.jsonl", "OUTPUT_NOT_WRITTEN"),
        (".", "OUTPUT_NOT_WRITTEN"),
        ("/dev/null", "INVALID_INPUT"),
    ]:
        assert run("guard", "kept.jsonl", "--ledger", name).error()["code"] == code
    assert (folder / "kept.jsonl").read_bytes() == session(KEPT)


def test_a_ledger_never_grows_into_a_file_that_is_read(run: Run, folder: Path) -> None:
    """SRV-5: neither under its own name nor under another."""
    os.link(folder / "lost.jsonl", folder / "same.jsonl")
    (folder / "summary.txt").write_text("Charts drawn.")
    for arguments in (
        ("lost.jsonl", "--ledger", "lost.jsonl"),
        ("lost.jsonl", "--ledger", "same.jsonl"),
        ("--before", "kept.jsonl", "--summary", "summary.txt", "--ledger", "summary.txt"),
    ):
        error = run("guard", *arguments).error()
        assert (error["code"], error["option"]) == ("INVALID_INPUT", "--ledger")
    assert (folder / "lost.jsonl").read_bytes() == session(KEPT, LOST)
    assert (folder / "summary.txt").read_text() == "Charts drawn."


def test_a_session_behind_a_byte_order_mark_is_no_plain_text(run: Run, folder: Path) -> None:
    """GRD-1: as plain text it would be one message without a rule, and nothing would ever be lost."""
    (folder / "chat.json").write_bytes(b'\xef\xbb\xbf [{"role": "user", "content": "Never deploy on a Friday."}]')
    (folder / "summary.txt").write_text("Charts drawn.")
    ended = run("guard", "--before", "chat.json", "--summary", "summary.txt", "--json")
    assert (ended.status, json.loads(ended.stdout)["source"]["format"]) == (1, "chat")


def test_an_empty_rule_is_not_pinned(run: Run) -> None:
    assert run("guard", "kept.jsonl", "--pinned", " ").error()["option"] == "--pinned"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ((), "TRANSCRIPT"),
        (("reinject",), "TRANSCRIPT"),
        (("a", "b"), "TRANSCRIPT"),
        (("kept.jsonl", "--summary", "s"), "TRANSCRIPT"),
        (("--before", "kept.jsonl"), "--summary"),
        (("--summary", "kept.jsonl"), "--before"),
        (("--before", "-", "--summary", "-"), "--summary"),
        (("reinject", "kept.jsonl", "--json"), "--json"),
        (("missing.jsonl",), "TRANSCRIPT"),
        (("kept.jsonl", "--judge", "oracle"), "--judge"),
    ],
)
def test_wrong_usage_names_the_option(run: Run, folder: Path, arguments: tuple[str, ...], option: str) -> None:
    error = run("guard", *arguments).error()
    assert (error["code"], error["option"]) == ("INVALID_INPUT", option)


def test_a_summary_that_is_no_text_is_refused(run: Run, folder: Path) -> None:
    (folder / "summary.txt").write_bytes(b"\xff\xfe")
    error = run("guard", "--before", "kept.jsonl", "--summary", "summary.txt").error()
    assert error["option"] == "--summary"


def test_text_of_a_session_reaches_the_terminal_as_text(run: Run, folder: Path) -> None:
    asked = "Never use \x1b[31mred\x1b[0m text\x07."
    (folder / "hostile.jsonl").write_bytes(session("Use \x1b[2Jred text.", asked=asked))
    out = run("guard", "hostile.jsonl").stdout
    assert b"\x1b" not in out
    assert b"\x07" not in out
    assert b"\x1b" not in run("guard", "reinject", "hostile.jsonl").stdout
