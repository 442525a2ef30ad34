"""Which of the user's rules may be about a command, and where they are looked for."""

import json
from pathlib import Path

import pytest

from context_firewall.cli.agents.permissions import may_concern, rules_before_the_prompt, settings_files
from context_firewall.cli.agents.shell import simple_commands

# A rule, a command, whether it may be about it.
RULES = [
    ("Bash", "npm test", True),
    ("Bash(*)", "npm test", True),
    ("*", "npm test", True),
    ("B*", "npm test", True),
    ("Bash(npm test)", "npm test", True),
    ("Bash(npm test)", "npm test -- --grep x", True),
    ("Bash(npm test:*)", "npm test", True),
    ("Bash(npm:*)", "npm test", True),
    ("Bash(npm *)", "npm test", True),
    ("Bash(np*)", "npm test", True),
    ("Bash(npm t*)", "npm test", True),
    ("Bash(* --force)", "npm test", True),
    ("Bash(npm * --force)", "npm test", True),
    ("Bash(npm test --force)", "npm test", True),
    ("Bash(CI=1 npm test)", "npm test", True),
    ('Bash("npm" test)', "npm test", True),
    ("Bash(npm $WHAT)", "npm test", True),
    ("Bash(cd web && npm test)", "npm test", True),
    ("Bash(git pull; *)", "npm test", True),
    ("Bash()", "npm test", True),
    ("Bash(npm test", "npm test", True),
    ("Bash(pytest tests/slow*)", "pytest $FILES", True),
    ("Bash(npm publish:*)", "npm test", False),
    ("Bash(npm run deploy)", "npm run test", False),
    ("Bash(npm p*)", "npm test", False),
    ("Bash(git push *)", "npm test", False),
    ("Bash(yarn:*)", "npm test", False),
    ("Bash(rm -rf *)", "pytest -q", False),
    ("Read(./.env)", "npm test", False),
    ("WebFetch", "npm test", False),
    ("mcp__files__*", "npm test", False),
    ("BashOutput", "npm test", False),
]


@pytest.mark.parametrize(("rule", "line", "concerned"), RULES)
def test_a_rule_concerns_a_command_unless_a_word_shows_that_it_does_not(rule: str, line: str, concerned: bool) -> None:
    """HOOK-4."""
    commands = simple_commands(line)
    assert commands is not None
    assert may_concern(rule, commands[0]) is concerned


def test_rules_come_from_the_users_the_projects_and_the_local_settings(tmp_path: Path) -> None:
    for folder, name, rules in (
        ("home", "settings.json", {"deny": ["A"], "allow": ["B"]}),
        ("project/.claude", "settings.json", {"ask": ["C", 7]}),
        ("project/.claude", "settings.local.json", {"deny": ["D"], "ask": "E"}),
    ):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_text(json.dumps({"permissions": rules}))
    files = settings_files(str(tmp_path / "project"), {"CLAUDE_CONFIG_DIR": str(tmp_path / "home")}, "linux")
    assert rules_before_the_prompt(path for path in files if path.startswith(str(tmp_path))) == ("A", "C", "D")


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_managed_settings_are_read_first(platform: str) -> None:
    assert next(settings_files("/project", {}, platform)).endswith("managed-settings.json")


@pytest.mark.parametrize("text", ["[]", "{}", '{"permissions": []}', '{"permissions": {"deny": {}}}', "null"])
def test_settings_without_rules_have_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    assert rules_before_the_prompt(iter([str(path), str(tmp_path / "none.json")])) == ()
