"""`context-firewall init`: what it writes, that it writes nothing else, and that it takes it back to the byte."""

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_process import Ended, call

FILES = {
    "claude-code": (".claude/settings.json", ".claude/settings.json"),
    "codex": (".codex/config.toml", ".codex/config.toml"),
    "cursor": (".cursor/mcp.json", ".cursor/mcp.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "opencode": ("opencode.json", ".config/opencode/opencode.json"),
}
BACKUP = ".before-context-firewall"
SERVER = {"command": "context-firewall", "args": ["mcp"]}
HOOK = {"type": "command", "command": "context-firewall hook claude-code"}


def group(matcher: str, seconds: int) -> dict[str, Any]:
    """A hook of ours, as Claude Code has them."""
    return {"matcher": matcher, "hooks": [{**HOOK, "timeout": seconds}]}


HOOKS = {
    "PreToolUse": [group("Bash", 10)],
    "PostCompact": [group("manual|auto", 60)],
    "SessionStart": [group("compact", 60)],
}

# What each agent's file holds when nothing else is in it.
ENTRIES: dict[str, dict[str, Any]] = {
    "claude-code": {"hooks": HOOKS},
    "codex": {"mcp_servers": {"context-firewall": SERVER}},
    "cursor": {"mcpServers": {"context-firewall": SERVER}},
    "gemini": {"mcpServers": {"context-firewall": SERVER}},
    "opencode": {
        "mcp": {"context-firewall": {"type": "local", "command": ["context-firewall", "mcp"], "enabled": True}}
    },
}


def laid_out(value: Any, indent: int) -> str:
    """JSON as it stands in a line that is indented so."""
    return json.dumps(value, indent=2).replace("\n", "\n" + " " * indent)


# Configurations as people have them: of which agent, the text before, and the one after.
EDITED = [
    (
        "claude-code",
        '{\n  "model": "opus",\n  "hooks": {\n    "PreToolUse": [\n      {"matcher": "Bash", "hooks": []}\n'
        "    ]\n  }\n}\n",
        '{\n  "model": "opus",\n  "hooks": {\n    "PreToolUse": [\n      {"matcher": "Bash", "hooks": []},\n      '
        + laid_out(HOOKS["PreToolUse"][0], 6)
        + '\n    ],\n    "PostCompact": '
        + laid_out(HOOKS["PostCompact"], 4)
        + ',\n    "SessionStart": '
        + laid_out(HOOKS["SessionStart"], 4)
        + "\n  }\n}\n",
    ),
    (
        "claude-code",
        '{"permissions":{"allow":["Bash(ls:*)"]},"hooks":{"Stop":[]}}',
        '{"permissions":{"allow":["Bash(ls:*)"]},"hooks":{"Stop":[], ' + json.dumps(HOOKS)[1:-1] + "}}",
    ),
    (
        "codex",
        '# mine\nmodel = "o5"\n\n[mcp_servers.docs]\ncommand = "docs" # a remark',
        '# mine\nmodel = "o5"\n\n[mcp_servers.docs]\ncommand = "docs" # a remark\n\n'
        '[mcp_servers.context-firewall]\ncommand = "context-firewall"\nargs = ["mcp"]\n',
    ),
    (
        "codex",
        'model = "o5"\r\n',
        'model = "o5"\r\n\r\n[mcp_servers.context-firewall]\r\ncommand = "context-firewall"\r\nargs = ["mcp"]\r\n',
    ),
    (
        "cursor",
        '{\n\t"mcpServers": {\n\t\t"docs": { "url": "https://docs.example/mcp" }\n\t}\n}',
        '{\n\t"mcpServers": {\n\t\t"docs": { "url": "https://docs.example/mcp" },\n\t\t"context-firewall": {\n'
        '\t\t\t"command": "context-firewall",\n\t\t\t"args": [\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t}\n\t}\n}',
    ),
    (
        "gemini",
        '{\r\n    "theme": "größe",\r\n    "mcpServers": {}\r\n}\r\n',
        '{\r\n    "theme": "größe",\r\n    "mcpServers": {\r\n        "context-firewall": {\r\n'
        '            "command": "context-firewall",\r\n            "args": [\r\n                "mcp"\r\n'
        "            ]\r\n        }\r\n    }\r\n}\r\n",
    ),
    (
        "opencode",
        '{"$schema": "https://opencode.ai/config.json", "mcp": {"servers": {"docs": {"type": "local"}}}}\n',
        '{"$schema": "https://opencode.ai/config.json", "mcp": {"servers": {"docs": {"type": "local"}, '
        '"context-firewall": {"type": "local", "command": ["context-firewall", "mcp"]}}}}\n',
    ),
]

# What is not edited, and why.
REFUSED = [
    ("claude-code", b'{\n  // mine\n  "hooks": {}\n}\n', "not plain JSON"),
    ("claude-code", b'{"hooks": {}, "hooks": {}}', "stands there twice"),
    ("claude-code", b'{"hooks": []}', "hooks is no object"),
    ("claude-code", b'{"hooks": {"PreToolUse": {}}}', "hooks.PreToolUse is no list"),
    ("claude-code", b'{"hooks": null}', "hooks is no object"),
    ("claude-code", b"[]", "no object"),
    ("claude-code", b"", "not plain JSON"),
    ("claude-code", b'{"a": "\xff"}', "not UTF-8"),
    ("claude-code", b"\xef\xbb\xbf{}", "not plain JSON"),
    ("claude-code", b'{"a": ' + b"[" * 100_000, "not"),
    ("cursor", b'{"mcpServers": {},}', "not plain JSON"),
    ("cursor", b'{"mcpServers": "none"}', "mcpServers is no object"),
    ("gemini", b"{ /* mine */ }", "not plain JSON"),
    ("opencode", b'{"mcp": []}', "mcp is no object"),
    ("codex", b"model = \n", "not TOML"),
    ("codex", b'mcp_servers = { docs = { command = "docs" } }\n', "no table can be added"),
    ("codex", b"mcp_servers = 1\n", "no table can be added"),
]


Init = Callable[..., Ended]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository, from whose subfolder the command runs."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "src").mkdir()
    return tmp_path / "project"


@pytest.fixture
def init(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Init:
    (tmp_path / "home").mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "context-firewall").touch(mode=0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Ended:
        return call("init", *arguments, folder=project / "src")

    return run


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder below one."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if ".git" not in path.parts
    }


def read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


@pytest.mark.parametrize("scope", ["--project", "--user"])
@pytest.mark.parametrize("agent", FILES)
def test_a_file_that_is_not_there_is_made_and_goes_again(init: Init, tmp_path: Path, agent: str, scope: str) -> None:
    """INIT-1 and INIT-4."""
    root = tmp_path / ("home" if scope == "--user" else "project")
    path = root / FILES[agent][scope == "--user"]
    before = snapshot(tmp_path)
    made = init(f"--{agent}", scope)
    assert made.status == 0
    assert made.stdout.startswith(b"--- /dev/null\n+++ b/")
    assert read(path) == ENTRIES[agent]
    assert init(f"--{agent}", scope, "--remove").status == 0
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("agent", "before", "after"), EDITED)
def test_a_file_is_edited_and_gets_its_bytes_back(
    init: Init, project: Path, agent: str, before: str, after: str
) -> None:
    """INIT-2, INIT-3 and INIT-4."""
    path = project / FILES[agent][0]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(before.encode())
    path.chmod(0o640)
    untouched = snapshot(project)
    assert init(f"--{agent}").status == 0
    assert path.read_bytes() == after.encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.with_name(path.name + BACKUP).read_bytes() == before.encode()
    told = snapshot(project)
    again = init(f"--{agent}")
    assert (again.status, again.stdout) == (0, b"")
    assert b"nothing to add" in again.stderr
    assert snapshot(project) == told
    assert init(f"--{agent}", "--remove").status == 0
    assert snapshot(project) == untouched


@pytest.mark.parametrize(("agent", "before", "_after"), EDITED)
def test_of_a_file_that_was_edited_since_only_our_entries_go(
    init: Init, project: Path, agent: str, before: str, _after: str
) -> None:
    """INIT-4."""
    path = project / FILES[agent][0]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(before.encode())
    original = read(path)
    init(f"--{agent}")
    told = path.read_bytes().decode()
    if path.suffix == ".toml":
        path.write_bytes(f"since = 1\n{told}".encode())
    else:
        path.write_bytes(told.replace("{", '{"since": 1, ', 1).encode())
    assert init(f"--{agent}", "--remove").status == 0
    assert read(path) == {"since": 1, **original}
    assert path.with_name(path.name + BACKUP).read_bytes() == before.encode()
    assert b"nothing to take out" in init(f"--{agent}", "--remove").stderr


def test_what_came_with_our_entry_goes_with_it(init: Init, project: Path) -> None:
    """INIT-4."""
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"model": "opus"}')
    init("--claude-code")
    path.write_text(path.read_text().replace("opus", "haiku"))
    init("--claude-code", "--remove")
    assert path.read_text() == '{"model": "haiku"}'


def test_a_hook_beside_ours_stays(init: Init, project: Path) -> None:
    """INIT-4."""
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    other = {"type": "command", "command": "lint --fast"}
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [other, HOOK]}]}}))
    init("--claude-code")
    assert [len(groups) for groups in read(path)["hooks"].values()] == [1, 1, 1]
    init("--claude-code", "--remove")
    assert read(path) == {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [other]}]}}


@pytest.mark.parametrize("remove", [False, True])
def test_a_dry_run_shows_the_difference_and_changes_nothing(init: Init, tmp_path: Path, remove: bool) -> None:
    """INIT-3."""
    options = ["--remove"] if remove else []
    if remove:
        init("--claude-code", "--codex")
    before = snapshot(tmp_path)
    shown = init("--claude-code", "--codex", "--dry-run", *options)
    assert shown.status == 0
    assert shown.stdout.count(b"context-firewall hook claude-code") == 3
    assert shown.stdout.count(b"mcp_servers.context-firewall") == 1
    assert snapshot(tmp_path) == before
    assert init("--claude-code", "--codex", *options).stdout == shown.stdout


@pytest.mark.parametrize(("agent", "content", "reason"), REFUSED)
def test_a_file_that_cannot_be_edited_safely_is_not_touched(
    init: Init, project: Path, tmp_path: Path, agent: str, content: bytes, reason: str
) -> None:
    """INIT-5: and neither are those of the other agents; the error says what to add by hand."""
    path = project / FILES[agent][0]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    before = snapshot(tmp_path)
    error = init(*(f"--{name}" for name in FILES)).error()
    assert error["code"] == "INVALID_INPUT"
    assert reason in error["message"]
    assert "context-firewall" in error["message"].partition("Add by hand: ")[2]
    assert snapshot(tmp_path) == before


def test_no_file_is_made_beside_one_with_comments(init: Init, project: Path) -> None:
    """INIT-5."""
    (project / "opencode.jsonc").write_text("{} // mine\n")
    assert "opencode.jsonc" in init("--opencode").error()["message"]
    assert not (project / "opencode.json").exists()


def test_a_table_that_was_changed_is_left_to_its_owner(init: Init, project: Path) -> None:
    """INIT-5."""
    init("--codex")
    path = project / ".codex" / "config.toml"
    before = path.read_text().replace('args = ["mcp"]', 'args = ["mcp", "--fast"]')
    path.write_text(before)
    assert "take it out by hand" in init("--codex", "--remove").error()["message"]
    assert path.read_text() == before


def test_a_link_is_followed_and_stays(init: Init, project: Path, tmp_path: Path) -> None:
    """INIT-2."""
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    (project / ".cursor").mkdir()
    (project / ".cursor" / "mcp.json").symlink_to(real)
    assert init("--cursor").status == 0
    assert (project / ".cursor" / "mcp.json").is_symlink()
    assert read(real) == ENTRIES["cursor"]


def test_folders_that_were_moved_are_heeded(
    init: Init, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INIT-1."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    init("--claude-code", "--codex", "--user")
    assert read(tmp_path / "claude" / "settings.json") == ENTRIES["claude-code"]
    assert read(tmp_path / "codex" / "config.toml") == ENTRIES["codex"]
    assert snapshot(tmp_path / "home") == {}


def test_a_spoilt_copy_does_no_harm(init: Init, project: Path) -> None:
    path = project / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {}}')
    init("--cursor")
    path.with_name(path.name + BACKUP).write_bytes(b"\xff")
    assert init("--cursor", "--remove").status == 0
    assert read(path) == {}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((), "name an agent"), (("--claude-code", "--user", "--project"), "not both"), (("--vim",), "--vim")],
)
def test_wrong_usage_says_what_to_do(init: Init, arguments: tuple[str, ...], words: str) -> None:
    assert words in init(*arguments).error()["message"]


def test_a_folder_in_the_files_place_is_refused(init: Init, project: Path) -> None:
    (project / ".cursor" / "mcp.json").mkdir(parents=True)
    assert init("--cursor").error()["code"] == "INVALID_INPUT"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_takes_nothing_is_an_error(init: Init, project: Path) -> None:
    project.chmod(0o555)
    assert init("--cursor").status == 1
    project.chmod(0o755)


def test_who_is_not_on_the_path_is_told(init: Init, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "home"))
    assert b"not on the PATH" in init("--cursor").stderr
