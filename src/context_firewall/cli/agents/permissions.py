"""What the user of Claude Code has denied or wants to be asked about, and whether it may concern a command.

Claude Code matches such rules with the command as a hook has rewritten it (its version 2.1.162 was seen to), so a rule
that forbids `npm test` says nothing of the same behind a prefix. Therefore a command that a rule may be about is not
rewritten. A rule is `Bash`, or `Bash(COMMAND)` with `*` or a last `:*` for anything; where it is not plain, it may be
about everything.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from context_firewall.cli.agents.shell import Simple

MANAGED = {"darwin": "/Library/Application Support/ClaudeCode", "win32": "C:\\Program Files\\ClaudeCode"}
MANAGED_ELSEWHERE = "/etc/claude-code"
BEFORE_THE_PROMPT = ("deny", "ask")
OPERATORS = frozenset("&|;<>()\n")


def settings_files(project: str, environment: Mapping[str, str], platform: str) -> Iterator[str]:
    """Where Claude Code's documentation has settings: managed ones, the user's, the project's, the local ones."""
    managed = MANAGED.get(platform, MANAGED_ELSEWHERE)
    yield os.path.join(managed, "managed-settings.json")
    pieces = os.path.join(managed, "managed-settings.d")
    if os.path.isdir(pieces):
        yield from (os.path.join(pieces, name) for name in sorted(os.listdir(pieces)) if name.endswith(".json"))
    home = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    yield os.path.join(home, "settings.json")
    for name in ("settings.json", "settings.local.json"):
        yield os.path.join(project, ".claude", name)


def rules_before_the_prompt(paths: Iterator[str]) -> tuple[str, ...]:
    """The deny and ask rules in these files; one that is not there has none.

    Raises OSError for a file that cannot be read, ValueError for one that is not JSON: then nobody knows the rules.
    """
    found: list[str] = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                settings = json.loads(file.read())
        except (FileNotFoundError, NotADirectoryError):
            continue
        permissions: Any = settings.get("permissions") if isinstance(settings, dict) else None
        for kind in BEFORE_THE_PROMPT if isinstance(permissions, dict) else ():
            rules = permissions.get(kind)
            found += [rule for rule in rules if isinstance(rule, str)] if isinstance(rules, list) else []
    return tuple(found)


def may_concern(rule: str, command: Simple) -> bool:
    """Whether a rule may be about a command: no word of the two shows that it is not."""
    tool, opened, rest = rule.partition("(")
    named, star, _ = tool.strip().partition("*")
    if not ("Bash".startswith(named) if star else named == "Bash"):
        return False
    if not opened:
        return True
    pattern = rest.removesuffix(")").removesuffix(":*")
    if OPERATORS.intersection(pattern):  # it is about whole lines
        return True
    for asked, word in zip(pattern.split(), command.words, strict=False):
        before_any, star, _ = asked.partition("*")
        if not word.literal or not before_any.isascii() or any(char in before_any for char in "\\'\"$="):
            return True
        if star:
            return word.text.startswith(before_any)
        if asked != word.text:
            return False
    return True
