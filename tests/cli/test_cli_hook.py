"""`context-firewall hook claude-code`, driven as Claude Code drives it: a process, an event, an answer."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from cli_process import COMMAND, SOURCE_TREE, Ended, call
from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall.cli.agents.claude_code import before_tool_use
from context_firewall.cli.hook import _obstacle

EVENT: dict[str, Any] = {
    "session_id": "5b1c7a3e",
    "transcript_path": "/home/me/.claude/projects/-work/5b1c7a3e.jsonl",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "cd web && npm test 2>&1", "description": "Run the tests", "timeout": 120000},
    "tool_use_id": "toolu_01",
}


class Desk:
    """A project, a home, and a PATH on which the command is."""

    def __init__(self, folder: Path) -> None:
        self.project, self.home, self.programs = (folder / name for name in ("project", "home", "bin"))
        for made in (self.project, self.home, self.programs):
            made.mkdir()
        program = self.programs / "context-firewall"
        program.write_text(f"#!/bin/sh\nPYTHONPATH='{SOURCE_TREE}' exec '{COMMAND[0]}' -m context_firewall \"$@\"\n")
        program.chmod(0o755)

    def asked(self, given: bytes, *words: str, **variables: str) -> Ended:
        environment = {
            "PYTHONPATH": str(SOURCE_TREE),
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            **variables,
        }
        with mock.patch.dict(os.environ, environment, clear=True):
            return call("hook", *(words or ("claude-code",)), given=given, folder=self.project)

    def answer(self, event: dict[str, Any], **variables: str) -> Any:
        """The answer to an event of this project; None for none. Nothing is said beside it."""
        ended = self.asked(json.dumps({"cwd": str(self.project), **event}).encode(), **variables)
        assert (ended.status, ended.stderr) == (0, b"")
        return json.loads(ended.stdout) if ended.stdout else None

    def permissions(self, where: Path, **rules: list[str]) -> None:
        path = where / ".claude" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"permissions": rules}))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_test_command_is_rewritten_and_everything_else_of_the_call_comes_back(desk: Desk) -> None:
    """HOOK-1 and HOOK-3."""
    assert desk.answer(EVENT) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "updatedInput": {
                "command": "cd web && context-firewall run -- npm test 2>&1",
                "description": "Run the tests",
                "timeout": 120000,
            },
        }
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"tool_input": {"command": "npm run build"}},
        {"tool_input": {"command": "npm test | tail"}},
        {"tool_input": {"command": "CONTEXT_FIREWALL=off npm test"}},
        {"tool_input": {"command": "npm test", "run_in_background": True}},
        {"tool_input": {"command": ["npm", "test"]}},
        {"tool_input": {}},
        {"tool_input": "npm test"},
        {"tool_name": "Read", "tool_input": {"file_path": "npm test"}},
        {"tool_name": "mcp__shell__run"},
    ],
)
def test_everything_else_is_left_alone(changes: dict[str, Any]) -> None:
    """HOOK-1 and HOOK-5."""
    assert before_tool_use({**EVENT, **changes}, lambda: ()) is None


@pytest.mark.parametrize("name", ["PostToolUse", None])
def test_other_events_get_no_answer(desk: Desk, name: str | None) -> None:
    assert desk.answer({**EVENT, "hook_event_name": name}) is None


def test_what_is_rewritten_stays_so(desk: Desk) -> None:
    once = desk.answer(EVENT)["hookSpecificOutput"]["updatedInput"]
    assert desk.answer({**EVENT, "tool_input": once}) is None


@pytest.mark.parametrize("place", ["project", "home"])
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_a_command_that_a_rule_may_be_about_is_left_alone(desk: Desk, place: str, kind: str) -> None:
    """HOOK-4: the rule is to meet the command as it was."""
    desk.permissions(getattr(desk, place), **{kind: ["Bash(npm test:*)"]})
    assert desk.answer(EVENT) is None


def test_other_rules_are_no_reason(desk: Desk) -> None:
    """HOOK-3: no decision is in the answer, whatever the user allowed."""
    desk.permissions(desk.project, deny=["Bash(npm publish:*)"], allow=["Bash(npm test:*)"])
    assert set(desk.answer(EVENT)["hookSpecificOutput"]) == {"hookEventName", "updatedInput"}


def test_the_whole_hook_can_be_switched_off(desk: Desk) -> None:
    """HOOK-5."""
    assert desk.answer(EVENT, CONTEXT_FIREWALL="off") is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"", ()),
        (b"no JSON", ()),
        (b"[]", ()),
        (b"\xff", ()),
        (b"[" * 100_000, ()),
        (json.dumps(EVENT).encode(), ("codex",)),
        (json.dumps(EVENT).encode(), ("claude-code", "--fast")),
        (json.dumps(EVENT).encode(), ("--fast",)),
    ],
)
def test_a_hook_that_fails_lets_the_agent_go_on(desk: Desk, given: bytes, words: tuple[str, ...]) -> None:
    """HOOK-6."""
    ended = desk.asked(given, *words)
    assert (ended.status, ended.stdout) == (0, b"")
    assert ended.stderr.startswith(b"[Context Firewall] hook: ")
    assert ended.stderr.count(b"\n") == 1


def test_rules_that_cannot_be_read_are_a_failure(desk: Desk) -> None:
    """HOOK-6: nobody knows what they forbid."""
    (desk.project / ".claude").mkdir()
    (desk.project / ".claude" / "settings.json").write_text("{ // comment\n}")
    ended = desk.asked(json.dumps({**EVENT, "cwd": str(desk.project)}).encode())
    assert (ended.status, ended.stdout) == (0, b"")
    assert b"the agent goes on" in ended.stderr


def test_a_command_that_would_not_be_found_is_not_written_into_a_line(desk: Desk) -> None:
    """HOOK-6."""
    ended = desk.asked(json.dumps(EVENT).encode(), PATH=str(desk.home))
    assert (ended.status, ended.stdout) == (0, b"")
    assert b"not on the PATH" in ended.stderr


def test_where_run_cannot_work_nothing_is_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """HOOK-6."""
    monkeypatch.setattr(sys, "platform", "win32")
    assert "POSIX" in str(_obstacle())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["Bash", "npm test", "npm test; \ud800", "cd x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["command", "timeout", "x"]), inner),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.dictionaries(st.sampled_from(["tool_name", "tool_input", "cwd"]), VALUES))
def test_whatever_an_event_holds_only_a_command_ever_changes(event: dict[str, Any]) -> None:
    """HOOK-3."""
    answer = before_tool_use({"tool_name": "Bash", **event}, lambda: ())
    if answer is not None:
        given, updated = event["tool_input"], answer["hookSpecificOutput"]["updatedInput"]
        assert {**updated, "command": None} == {**given, "command": None}
        assert updated["command"].replace("context-firewall run -- ", "") == given["command"]
        assert list(updated) == list(given)


def test_the_rewritten_line_runs_and_ends_as_the_tests_do(desk: Desk) -> None:
    """HOOK-2: from the event to what the agent reads."""
    (desk.project / "web").mkdir()
    (desk.project / "web" / "test_price.py").write_text(
        "import unittest\n\n\nclass Price(unittest.TestCase):\n"
        "    def test_tax(self):\n        self.assertEqual(7, 19)\n"
    )
    event = {**EVENT, "tool_input": {"command": "cd web && python3 -m unittest -v; echo status $?"}}
    line = desk.answer(event)["hookSpecificOutput"]["updatedInput"]["command"]
    ended = subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        env={"PATH": f"{desk.programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(desk.home)},
        cwd=desk.project,
        timeout=60,
        check=False,
    )
    assert ended.stdout.startswith(b"FAILED: 1 failed")
    assert b"AssertionError: 7 != 19" in ended.stdout
    assert ended.stdout.endswith(b"status 1\n")


# -- compactions ------------------------------------------------------------------------------------------------------


def lines(*entries: dict[str, Any]) -> bytes:
    """A session file of Claude Code: each entry hangs on the one before, a boundary on none."""
    written, above = [], None
    for number, entry in enumerate(entries):
        named = {"uuid": f"0-{number}", "timestamp": "2031-04-07T09:00:00.000Z", "sessionId": "5b1c", **entry}
        written.append(json.dumps({"parentUuid": None if entry["type"] == "system" else above, **named}))
        above = named["uuid"]
    return "".join(f"{line}\n" for line in written).encode()


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": text}, **more}


ASKED = said("user", "Add express rates. Never write to the live tariff table. Only edit `rates/express.py`.")
ANSWERED = said("assistant", "I will read the tariff code first.")
BOUNDARY = {
    "type": "system",
    "subtype": "compact_boundary",
    "content": "Conversation compacted",
    "compactMetadata": {"trigger": "auto", "preTokens": 150000},
}
SUMMARY = "The task is to add express rates. Edits are limited to rates/express.py."
SUMMARISED = said("user", SUMMARY, isCompactSummary=True, isVisibleInTranscriptOnly=True)


class Session:
    """A session file, and the events that come around its compaction."""

    def __init__(self, desk: Desk, *entries: dict[str, Any]) -> None:
        self.desk, self.path = desk, desk.home / "5b1c.jsonl"
        self.path.write_bytes(lines(*entries))

    def event(self, name: str, **more: Any) -> Any:
        return self.desk.answer({"hook_event_name": name, "transcript_path": str(self.path), **more})

    def ledger(self) -> list[tuple[int, str, str]]:
        path = self.desk.project / ".context-firewall" / "ledger.jsonl"
        found = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
        return [(entry["round"], entry["verdict"], entry["constraint"]) for entry in found]


LOST = [
    (1, "lost", "Never write to the live tariff table."),
    (1, "kept", "Only edit `rates/express.py`."),
]


@pytest.mark.parametrize("told", [True, False])
def test_a_compaction_is_audited_whether_or_not_the_session_file_has_it_yet(desk: Desk, told: bool) -> None:
    """HOOK-7."""
    session = Session(desk, ASKED, ANSWERED, *((BOUNDARY, SUMMARISED) if told else ()))
    assert session.event("PostCompact", trigger="auto", compact_summary=SUMMARY) is None
    assert session.ledger() == LOST
    session.path.unlink()
    restored = call("restore", "latest", folder=desk.project)
    assert restored.status == 0, restored.stderr
    assert restored.stdout == lines(ASKED, ANSWERED)


def test_a_compaction_is_kept_in_the_configured_store(desk: Desk) -> None:
    """HOOK-7."""
    (desk.project / "context-firewall.toml").write_text("store = 'evidence'\n")
    session = Session(desk, ASKED, ANSWERED, BOUNDARY, SUMMARISED)
    assert session.event("PostCompact", trigger="auto", compact_summary=SUMMARY) is None
    assert session.ledger() == LOST
    assert call("restore", "latest", "--store", "evidence", folder=desk.project).stdout == lines(ASKED, ANSWERED)


def test_each_compaction_adds_its_own_findings(desk: Desk) -> None:
    """HOOK-7."""
    session = Session(desk, ASKED, ANSWERED, BOUNDARY, SUMMARISED, ANSWERED)
    again = "We add express rates."
    assert session.event("PostCompact", trigger="manual", compact_summary=again) is None
    assert [(number, verdict) for number, verdict, _ in session.ledger()] == [(2, "lost"), (2, "lost")]


def test_nothing_is_put_back_unless_the_project_wants_it(desk: Desk) -> None:
    """HOOK-8."""
    session = Session(desk, ASKED, ANSWERED, BOUNDARY, SUMMARISED)
    assert session.event("SessionStart", source="compact") is None
    assert session.ledger() == []


def test_what_was_lost_is_put_back_if_the_project_wants_it(desk: Desk) -> None:
    """HOOK-8."""
    (desk.project / "context-firewall.toml").write_text("reinject = true\npinned = ['Never force-push.']\n")
    session = Session(desk, ASKED, ANSWERED, BOUNDARY, SUMMARISED)
    answer = session.event("SessionStart", source="compact")["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    assert [line for line in answer["additionalContext"].splitlines() if line.startswith("- ")] == [
        "- Never force-push.",
        "- Never write to the live tariff table.",
    ]
    assert session.event("SessionStart", source="startup") is None


def test_every_rule_is_put_back_if_nobody_knows_the_summary(desk: Desk) -> None:
    """HOOK-8: the file does not have the compaction yet."""
    (desk.project / "context-firewall.toml").write_text("reinject = true\n")
    answer = Session(desk, ASKED, ANSWERED).event("SessionStart", source="compact")
    assert answer["hookSpecificOutput"]["additionalContext"].count("\n- ") == 2


@pytest.mark.parametrize("changes", [{"transcript_path": "/nowhere.jsonl"}, {"transcript_path": None}, {}])
def test_a_session_that_cannot_be_read_stops_nobody(desk: Desk, changes: dict[str, Any]) -> None:
    """HOOK-6."""
    broken = desk.home / "broken.jsonl"
    broken.write_bytes(b"no session\n")
    event = {"hook_event_name": "PostCompact", "cwd": str(desk.project), "transcript_path": str(broken), **changes}
    ended = desk.asked(json.dumps(event).encode())
    assert (ended.status, ended.stdout) == (0, b"")
    assert ended.stderr.startswith(b"[Context Firewall] hook: ")
    assert not (desk.project / ".context-firewall").exists()
