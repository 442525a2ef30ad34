"""`context-firewall init`: a coding agent told of us, in its own configuration, and untold again.

The order of deeds: every file is read and its new text made, or refused, before any is written; then the difference is
printed; then the files change. What a file was before stands beside it as long as our entries are in it.
"""

import difflib
import os
import re
import stat
from contextlib import suppress
from typing import Any, NamedTuple

import click

from context_firewall.cli.agents.configurations import AGENTS, NAME, Agent, Refused
from context_firewall.cli.channels import deliver, indicate, shown_path
from context_firewall.cli.configuration import REPOSITORY
from context_firewall.cli.outputs import Target, targets, written
from context_firewall.documents.printable import safe
from context_firewall.errors import InvalidInput, OutputNotWritten
from context_firewall.version import MECHANISM_NAME

BACKUP = ".before-context-firewall"
LARGEST = 10_000_000

EPILOG = """\b
What is written, and where:
  --claude-code  hooks           .claude/settings.json  ~/.claude/settings.json
  --codex        MCP server      .codex/config.toml     ~/.codex/config.toml
  --cursor       MCP server      .cursor/mcp.json       ~/.cursor/mcp.json
  --gemini       MCP server      .gemini/settings.json  ~/.gemini/settings.json
  --opencode     MCP server      opencode.json          ~/.config/opencode/opencode.json

\b
Exit status:
  0  the agents are told (or untold), or there was nothing to change
  1  a file could not be written
  2  wrong usage, or a file that cannot be edited safely; then no file was touched

\b
Standard output carries the difference alone, in the form of `diff -u`. Standard error says what was done.
"""


class _Edit(NamedTuple):
    """What is to become of one file."""

    agent: Agent
    path: str
    before: bytes | None
    after: bytes | None
    """None: the file goes."""
    backup: bytes | None
    """What is kept of it, where that changes."""
    backup_goes: bool = False


def _agent_options(command: Any) -> Any:
    for agent in reversed(AGENTS):
        help_text = f"Edit the configuration of {agent.title}."
        command = click.option(f"--{agent.option}", is_flag=True, help=help_text)(command)
    return command


@click.command(epilog=EPILOG, short_help="Tell a coding agent of context-firewall, or untell it.")
@_agent_options
@click.option("--user", "for_user", is_flag=True, help="Edit your own configuration, for all projects.")
@click.option("--project", "for_project", is_flag=True, help="Edit that of the project you are in. The default.")
@click.option("--dry-run", is_flag=True, help="Show the difference and change nothing.")
@click.option("--remove", is_flag=True, help="Take everything back that was written.")
def init(*, for_user: bool, for_project: bool, dry_run: bool, remove: bool, **chosen: bool) -> int:
    """Tell a coding agent of context-firewall, in the agent's own configuration.

    The smallest configuration that does it is added to the file that the agent reads; nothing else in the file changes,
    down to the byte. The difference is shown, and the file as it was stays beside it, under the same name with
    `.before-context-firewall` behind it. Said twice, it changes nothing the second time. --remove undoes it: a file
    that nobody edited since gets its bytes back, one that was not there goes, and from any other only our entries go. A
    file that is not plain JSON or TOML (comments, for one) is never touched; the error says what to add by hand.

    \b
    context-firewall init --claude-code --dry-run
    context-firewall init --claude-code
    context-firewall init --claude-code --remove
    context-firewall init --cursor --gemini --user
    """
    agents = [agent for agent in AGENTS if chosen[agent.option.replace("-", "_")]]
    if not agents:
        known = ", ".join(f"--{agent.option}" for agent in AGENTS)
        raise InvalidInput(f"name an agent: {known}", option="--claude-code")
    if for_user and for_project:
        raise InvalidInput("give --user or --project, not both", option="--user")
    root = os.path.expanduser("~") if for_user else _project_root()
    edits = [_planned(agent, _place(agent, root, for_user), remove) for agent in agents]
    changed = [edit for edit in edits if edit.before != edit.after]
    deliver("".join(_difference(edit, root) for edit in changed).encode("utf-8", "replace"))
    if not dry_run:
        _carry_out(changed, root)
    for edit in edits:
        indicate(f"[{MECHANISM_NAME}] {safe(_said(edit, dry_run, remove))}")
    if not remove and not _on_the_path():
        indicate(f"[{MECHANISM_NAME}] {NAME} is not on the PATH: agents that start it by that name will not find it")
    return 0


def _on_the_path() -> bool:
    from shutil import which

    return which(NAME) is not None


def _project_root() -> str:
    """The folder of the repository around the working directory; without one, the working directory."""
    try:
        folder = here = os.getcwd()
    except OSError as problem:
        raise InvalidInput(f"the working directory cannot be read: {problem.strerror}", option="--project") from problem
    while not os.path.exists(os.path.join(folder, REPOSITORY)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return here
        folder = parent
    return folder


def _place(agent: Agent, root: str, for_user: bool) -> str:
    """The agent's file. A link is followed: the file that it leads to is the one that changes."""
    relative = agent.user if for_user else agent.project
    if for_user and agent.moved_by is not None:
        variable, folder = agent.moved_by
        moved = os.environ.get(variable)
        if moved:
            return os.path.realpath(os.path.join(moved, os.path.relpath(relative, folder)))
    return os.path.realpath(os.path.join(root, relative))


# -- what is to change ------------------------------------------------------------------------------------------------


def _planned(agent: Agent, path: str, remove: bool) -> _Edit:
    """The edit of one agent's file. Raises InvalidInput for a file that is not edited."""
    before, kept = _read(agent, path), _read(agent, path + BACKUP)
    try:
        text = _decoded(before)
        if remove:
            return _removal(agent, path, before, kept)
        after = agent.added(text).encode()
        if before is None:
            _refuse_sibling(path)
        # Where some of our entries are in it already, what is kept of it is older, and stays.
        fresh = text is not None and after != before and agent.removed(text, None) == text
        return _Edit(agent, path, before, after, before if fresh else None)
    except Refused as refusal:
        shown = shown_path(path)
        advice = "" if remove else f"; nothing was changed. Add by hand: {agent.by_hand.strip()}"
        raise InvalidInput(
            f"{shown} is not edited: {refusal}{advice}", option=f"--{agent.option}", path=shown
        ) from None


def _removal(agent: Agent, path: str, before: bytes | None, kept: bytes | None) -> _Edit:
    if before is None:
        return _Edit(agent, path, None, None, None)
    text = before.decode()
    try:
        original = None if kept is None else kept.decode()
        untouched = agent.added(original) == text
    except (Refused, UnicodeDecodeError):  # what is kept was spoilt: it helps no more
        original, untouched = None, False
    if untouched:
        return _Edit(agent, path, before, kept, None, backup_goes=kept is not None)
    return _Edit(agent, path, before, agent.removed(text, original).encode(), None)


def _read(agent: Agent, path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InvalidInput(f"{shown_path(path)} is not a regular file", option=f"--{agent.option}")
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as problem:
        shown = shown_path(path)
        raise InvalidInput(
            f"{shown} cannot be read: {problem.strerror}", option=f"--{agent.option}", path=shown
        ) from problem
    if len(data) > LARGEST:
        raise InvalidInput(f"{shown_path(path)} is no configuration: it is too large", option=f"--{agent.option}")
    return data


def _decoded(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8") from None


def _refuse_sibling(path: str) -> None:
    """A file that does not exist is not made beside one that the agent would read in its place."""
    commented = f"{path}c"
    if path.endswith(".json") and os.path.lexists(commented):
        raise Refused(f"there is {os.path.basename(commented)}, which may hold comments")


# -- what is shown and done -------------------------------------------------------------------------------------------


def _difference(edit: _Edit, root: str) -> str:
    """As `diff -u` shows it; paths are from the root on, where they are below it."""
    relative = os.path.relpath(edit.path, os.path.realpath(root))
    shown = safe(shown_path(edit.path if relative.startswith(os.pardir) else f"/{relative}"))
    old = "/dev/null" if edit.before is None else f"a{shown}"
    new = "/dev/null" if edit.after is None else f"b{shown}"
    rows = difflib.unified_diff(_lines(edit.before), _lines(edit.after), old, new)
    return "".join(
        safe(row.rstrip("\n")) + "\n" if row.endswith("\n") else safe(row) + "\n\\ No newline at end of file\n"
        for row in rows
    )


def _lines(data: bytes | None) -> list[str]:
    """Lines as `diff` has them: they end with a newline and nothing else."""
    return re.findall(r"[^\n]*+\n|[^\n]++", (data or b"").decode("utf-8", "replace"))


def _carry_out(edits: list[_Edit], root: str) -> None:
    """Write what is to be written, all of it or nothing, and then take away what is to go."""
    contents: list[tuple[Target, bytes]] = []
    for edit in edits:
        option = f"--{edit.agent.option}"
        if _read(edit.agent, edit.path) != edit.before:
            raise _not_written(edit, "it was changed meanwhile")
        if edit.after is None:
            continue
        try:
            os.makedirs(os.path.dirname(edit.path), exist_ok=True)
        except OSError as problem:
            raise _not_written(edit, problem.strerror) from problem
        mode = _mode(edit.path)
        contents += [(target._replace(mode=mode), edit.after) for target in targets({option: edit.path})]
        if edit.backup is not None:
            contents += [(t._replace(mode=mode), edit.backup) for t in targets({option: edit.path + BACKUP})]
    with written(contents):
        pass
    for edit in edits:
        try:
            if edit.after is None:
                os.unlink(edit.path)
            if edit.backup_goes:
                os.unlink(edit.path + BACKUP)
        except OSError as problem:
            raise _not_written(edit, problem.strerror) from problem
        if edit.after is None:
            _leave(os.path.dirname(edit.path), os.path.realpath(root))


def _leave(folder: str, root: str) -> None:
    """Take away a folder that is empty now, and those above it up to the root; one elsewhere goes alone."""
    with suppress(OSError):  # something else is in it
        while folder.startswith(os.path.join(root, "")):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
        if folder != root:
            os.rmdir(folder)


def _mode(path: str) -> int:
    """The mode that a file has; for a new one, what everybody's files get here."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _not_written(edit: _Edit, reason: str | None) -> OutputNotWritten:
    shown = shown_path(edit.path)
    return OutputNotWritten(f"{shown} cannot be written: {reason}", option=f"--{edit.agent.option}", path=shown)


def _said(edit: _Edit, dry_run: bool, remove: bool) -> str:
    shown = shown_path(edit.path)
    if edit.before == edit.after:
        return f"{shown}: nothing to {'take out' if remove else 'add'}"
    would = "would be " if dry_run else ""
    if edit.after is None:
        return f"{shown}: {would}taken away; it was made by init"
    if remove:
        how = "as it was before" if edit.backup_goes else "without our entries; the rest is as it stands"
        return f"{shown}: {would}{how}"
    kept = "" if edit.backup is None else f"; as it was: {shown_path(edit.path + BACKUP)}"
    return f"{shown}: {would}{'made' if edit.before is None else 'edited'}{kept}"
