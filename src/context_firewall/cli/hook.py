"""`context-firewall hook claude-code`: an agent's hook, its event on standard input, its answer on standard output.

Rules of this room: whatever goes wrong, the agent goes on: exit status 0, nothing on standard output, one line on
standard error. And it is quick, since the agent waits for it: what an event does not need is not imported.
"""

import json
import os
import sys
from contextlib import closing
from typing import Any

import click

from context_firewall.cli.channels import deliver, indicate
from context_firewall.version import MECHANISM_NAME

OFF = ("CONTEXT_FIREWALL", "off")
LEDGER = "ledger.jsonl"
PROGRAM = "context-firewall"

EPILOG = """\b
Exit status: 0, whatever happens. An agent takes others for a refusal of what it is about to do.

\b
Standard output carries the answer as JSON, or nothing: then the agent does what it would have done
without the hook. Standard error says what went wrong, if anything did.
"""


@click.command(
    epilog=EPILOG,
    short_help="Answer an agent's hook: called by the agent, not by people.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="claude-code")
def hook(*, words: tuple[str, ...]) -> int:
    """Answer a hook of an agent; `context-firewall init --claude-code` tells the agent to ask.

    Before Claude Code runs a Bash command that runs tests, the command gets `context-firewall run -- ` in front: the
    agent reads the brief, the exit status is the tests' own. Anything that is not plainly a test command stays as it
    is, and so does one that a deny or ask rule of yours may be about. The permission to run it is asked for as ever.

    After a compaction, its record and the originals go into the store, for `restore` to undo it, and what the guard
    finds of your rules in the summary is added to ledger.jsonl in the store's folder. With `reinject = true` in the
    project's configuration, lost rules are put back.

    With CONTEXT_FIREWALL=off in front of a command, or in the agent's environment, nothing is done.

    \b
    echo '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "npm test"}}' |
      context-firewall hook claude-code
    """
    try:
        answer = _answer(words, _event())
        if answer is not None:
            deliver(json.dumps(answer).encode() + b"\n")
    except Exception as problem:  # whatever it is, the agent goes on
        _say(f"hook: {type(problem).__name__}: {problem}; the agent goes on without it")
    return 0


def _event() -> dict[str, Any]:
    event = json.loads(sys.stdin.buffer.read())
    if not isinstance(event, dict):
        raise ValueError("the event is no JSON object")
    return event


def _answer(words: tuple[str, ...], event: dict[str, Any]) -> dict[str, Any] | None:
    if words != ("claude-code",):
        raise ValueError("name the agent: context-firewall hook claude-code")
    if os.environ.get(OFF[0]) == OFF[1]:
        return None
    from context_firewall.cli.agents.claude_code import POST_COMPACT, PRE_TOOL_USE, SESSION_START, before_tool_use

    name = event.get("hook_event_name")
    if name == PRE_TOOL_USE:
        answer = before_tool_use(event, lambda: _rules(event))
        obstacle = None if answer is None else _obstacle()
        if obstacle is not None:
            raise LookupError(f"{obstacle}, so nothing is rewritten")
        return answer
    if name == POST_COMPACT:
        _keep_findings(event)
    elif name == SESSION_START and event.get("source") == "compact":
        return _lost_rules(event)
    return None


def _keep_findings(event: dict[str, Any]) -> None:
    """Audit the compaction, add the findings to the ledger in the store's folder, and keep what it takes to undo it."""
    from context_firewall.cli.agents.compactions import audited, entries_of_last_round
    from context_firewall.cli.configuration import find_configuration
    from context_firewall.cli.ledger import append_lines
    from context_firewall.cli.stores import now, store_in_force
    from context_firewall.store.compactions import keep_compaction
    from context_firewall.store.folder import Folder
    from context_firewall.store.places import store_folder

    folder = _folder(event)
    project = find_configuration(folder)
    found = audited(event, project.pinned, recording=True)
    shelf = Folder(store_folder(folder))
    with closing(shelf.draft()):  # which makes the folder, hidden from git
        append_lines("the ledger", os.path.join(shelf.path, LEDGER), entries_of_last_round(found.report, now()))
    if found.record is not None:
        originals = [message.original() for message in found.record.rebuild()]
        keep_compaction(store_in_force(None, project, folder), found.record.as_document(), originals, recorded_at=now())


def _lost_rules(event: dict[str, Any]) -> dict[str, Any] | None:
    """If the project wants it, the rules that the compaction did not keep, as additional context."""
    from context_firewall.cli.configuration import find_configuration

    project = find_configuration(_folder(event))
    if not project.reinject:
        return None
    from context_firewall.cli.agents.compactions import audited
    from context_firewall.cli.guard import put_back

    block = put_back(audited(event, project.pinned).report)
    answer = {"hookEventName": event["hook_event_name"], "additionalContext": block}
    return {"hookSpecificOutput": answer} if block else None


def _folder(event: dict[str, Any]) -> str:
    folder = event.get("cwd")
    return folder if isinstance(folder, str) and os.path.isdir(folder) else os.getcwd()


def _rules(event: dict[str, Any]) -> tuple[str, ...]:
    from context_firewall.cli.agents.permissions import rules_before_the_prompt, settings_files

    project = os.environ.get("CLAUDE_PROJECT_DIR") or event.get("cwd") or os.getcwd()
    return rules_before_the_prompt(settings_files(str(project), os.environ, sys.platform))


def _obstacle() -> str | None:
    """Why a rewritten command would not run, if it would not. (shutil.which does more, and its import takes longer.)"""
    if sys.platform == "win32":
        return "run needs a POSIX system"
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if not any(os.access(os.path.join(folder or os.curdir, PROGRAM), os.X_OK) for folder in folders):
        return f"{PROGRAM} is not on the PATH"
    return None


def _say(text: str) -> None:
    from context_firewall.documents.printable import safe

    indicate(f"[{MECHANISM_NAME}] {safe(text)}")
