"""What each coding agent must be told to know of us: its file, the entries in it, and how they go in and out.

One row an agent. Only what the agent's own documentation describes is written, and as little of it as will do; the
pages under docs/how-to name what each was checked against. Everything here is text in, text out; `cli.init` has the
disk.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from context_firewall.cli.agents.json_text import Path, put, read_object, taken

NAME = "context-firewall"
SERVER = {"command": NAME, "args": ["mcp"]}

HOOK = f"{NAME} hook claude-code"
OUR_HOOK = re.compile(r"(?:\S*/)?context-firewall hook claude-code(?: .*)?")
# The events of Claude Code that we answer: what each is asked for, and how long it may take, in seconds.
HOOK_EVENTS = {"PreToolUse": ("Bash", 10), "PostCompact": ("manual|auto", 60), "SessionStart": ("compact", 60)}


class Refused(ValueError):
    """A configuration that is not edited, and why."""


class Agent(NamedTuple):
    """One agent: its option, its files, and the edit."""

    option: str
    title: str
    project: str
    """Its file, from the project's root."""
    user: str
    """Its file, from the home folder."""
    moved_by: tuple[str, str] | None
    """A variable that names another place, and for which folder it stands."""
    added: Callable[[str | None], str]
    """The file's text with our entries; None is a file that is not there. Raises Refused."""
    removed: Callable[[str, str | None], str]
    """The text without them; what they brought with them goes too, unless the text before had it. Raises Refused."""
    by_hand: str
    """What to add by hand where the file is not edited."""


def _object(text: str) -> dict[str, Any]:
    try:
        return read_object(text)
    except RecursionError:
        raise Refused("it is nested too deeply") from None
    except ValueError as problem:
        raise Refused(f"it is not plain JSON ({problem})") from None


def _put(text: str, path: Path, value: Any) -> str:
    try:
        return put(text, path, value)
    except ValueError as problem:
        raise Refused(str(problem)) from None


def _at(settings: Any, path: Path) -> Any:
    """What stands at a path; None if nothing does."""
    for key in path:
        if not isinstance(settings, dict if isinstance(key, str) else list):
            return None
        try:
            settings = settings[key]  # type: ignore[index]  # a key for an object, an index for a list
        except (KeyError, IndexError):
            return None
    return settings


def _pruned(text: str, path: Path, before: str | None) -> str:
    """The text without the objects and lists on the way to a path that are empty now and were not there before."""
    original = None if before is None else _object(before)
    while path and _at(_object(text), path) in ({}, []) and _at(original, path) is None:
        text = taken(text, path)
        path = path[:-1]
    return text


# -- Claude Code: hooks in settings.json ------------------------------------------------------------------------------


def _group(event: str) -> dict[str, Any]:
    matcher, seconds = HOOK_EVENTS[event]
    return {"matcher": matcher, "hooks": [{"type": "command", "command": HOOK, "timeout": seconds}]}


def _our_handlers(settings: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """The places of our handlers: event, group and handler; the last ones first, so that they can be taken in turn."""
    hooks = settings.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for place, group in reversed(list(enumerate(groups if isinstance(groups, list) else ()))):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for index, handler in reversed(list(enumerate(handlers if isinstance(handlers, list) else ()))):
                command = handler.get("command") if isinstance(handler, dict) else None
                if isinstance(command, str) and OUR_HOOK.fullmatch(command):
                    yield event, place, index


def _hooks_added(text: str | None) -> str:
    text = "{}\n" if text is None else text
    present = {event for event, _, _ in _our_handlers(_object(text))}
    for event in HOOK_EVENTS:
        if event not in present:
            groups = _at(_object(text), ("hooks", event))
            if groups is not None and not isinstance(groups, list):
                raise Refused(f"hooks.{event} is no list")
            text = _put(text, ("hooks", event, len(groups or [])), _group(event))
    return text


def _hooks_removed(text: str, before: str | None) -> str:
    places = list(_our_handlers(_object(text)))
    for event, group, index in places:
        handlers = ("hooks", event, group, "hooks")
        text = taken(text, (*handlers, index))
        if not _at(_object(text), handlers):
            text = taken(text, handlers[:-1])
    for event in dict.fromkeys(event for event, _, _ in places):
        text = _pruned(text, ("hooks", event), before)
    return text


# -- the others: our MCP server ---------------------------------------------------------------------------------------


def _entry_at(place: Callable[[Mapping[str, Any]], Path], entry: Callable[[Path], Any]) -> dict[str, Any]:
    """How one entry goes into a JSON file and out of it."""

    def added(text: str | None) -> str:
        text = "{}\n" if text is None else text
        path = place(_object(text))
        return text if _at(_object(text), path) is not None else _put(text, path, entry(path))

    def removed(text: str, before: str | None) -> str:
        path = place(_object(text))
        if _at(_object(text), path) is None:
            return text
        return _pruned(taken(text, path), path[:-1], before)

    return {"added": added, "removed": removed, "by_hand": json.dumps(_nested(place({}), entry(place({}))))}


def _nested(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _mcp_servers(_settings: Mapping[str, Any]) -> Path:
    return ("mcpServers", NAME)


def _opencode_servers(settings: Mapping[str, Any]) -> Path:
    """Version 2 has its servers one object deeper and goes on reading the form of version 1; a file keeps its form."""
    deeper = _at(settings, ("mcp", "servers"))
    return ("mcp", "servers", NAME) if isinstance(deeper, dict) and "type" not in deeper else ("mcp", NAME)


def _opencode_server(path: Path) -> Any:
    server = {"type": "local", "command": [NAME, "mcp"]}
    return server if len(path) > 2 else {**server, "enabled": True}


CODEX_BLOCK = f"""[mcp_servers.{NAME}]
command = "{NAME}"
args = ["mcp"]
"""


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Refused("it is nested too deeply") from None
    except tomllib.TOMLDecodeError as problem:
        raise Refused(f"it is not TOML ({problem})") from None


def _codex_added(text: str | None) -> str:
    text = text or ""
    settings = _toml(text)
    if _at(settings, ("mcp_servers", NAME)) is not None:
        return text
    break_ = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else break_ if text.endswith("\n") else break_ * 2
    result = text + gap + CODEX_BLOCK.replace("\n", break_)
    servers = settings.get("mcp_servers", {})
    # A table that was written in line takes no further entry; then the two readings differ, or there is none.
    try:
        same = isinstance(servers, dict) and tomllib.loads(result) == {
            **settings,
            "mcp_servers": {**servers, NAME: SERVER},
        }
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise Refused("mcp_servers is written so that no table can be added to it")
    return result


def _codex_removed(text: str, _before: str | None) -> str:
    if _at(_toml(text), ("mcp_servers", NAME)) is None:
        return text
    for break_ in ("\n", "\r\n"):
        block = CODEX_BLOCK.replace("\n", break_)
        for found in (break_ + block, block):
            if text.count(found) == 1:
                rest = text.replace(found, "")
                settings = _toml(rest)
                if _at(settings, ("mcp_servers", NAME)) is None:
                    return rest
    raise Refused(f"the table mcp_servers.{NAME} was changed; take it out by hand")


def _snippet() -> str:
    return json.dumps({"hooks": {event: [_group(event)] for event in HOOK_EVENTS}})


AGENTS = (
    Agent(
        "claude-code",
        "Claude Code",
        ".claude/settings.json",
        ".claude/settings.json",
        ("CLAUDE_CONFIG_DIR", ".claude"),
        _hooks_added,
        _hooks_removed,
        _snippet(),
    ),
    Agent(
        "codex",
        "Codex",
        ".codex/config.toml",
        ".codex/config.toml",
        ("CODEX_HOME", ".codex"),
        _codex_added,
        _codex_removed,
        CODEX_BLOCK,
    ),
    Agent(
        "cursor",
        "Cursor",
        ".cursor/mcp.json",
        ".cursor/mcp.json",
        None,
        **_entry_at(_mcp_servers, lambda _path: SERVER),
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        ".gemini/settings.json",
        ".gemini/settings.json",
        None,
        **_entry_at(_mcp_servers, lambda _path: SERVER),
    ),
    Agent(
        "opencode",
        "opencode",
        "opencode.json",
        ".config/opencode/opencode.json",
        None,
        **_entry_at(_opencode_servers, _opencode_server),
    ),
)
