"""What Claude Code's hooks are answered: JSON-shaped event in, JSON-shaped answer out, as its documentation has them.

Before a tool is used: a Bash command that runs tests gets `context-firewall run -- ` in front. The answer names no
permission decision, so Claude Code decides by the user's rules as it would have, on the command that will really run.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from context_firewall.cli.agents.permissions import may_concern
from context_firewall.cli.agents.test_commands import prefixed, test_commands

PRE_TOOL_USE = "PreToolUse"
POST_COMPACT = "PostCompact"
SESSION_START = "SessionStart"


def before_tool_use(event: Mapping[str, Any], rules: Callable[[], Iterable[str]]) -> dict[str, Any] | None:
    """The answer to `PreToolUse`; None leaves the call alone. `rules` gives the deny and ask rules, if it is needed.

    A command in the background is left alone, since its output is read while it runs. All fields of the call's input
    come back, for `updatedInput` stands for the whole of it.
    """
    given = event.get("tool_input")
    if event.get("tool_name") != "Bash" or not isinstance(given, Mapping) or given.get("run_in_background"):
        return None
    line = given.get("command")
    commands = test_commands(line) if isinstance(line, str) else ()
    if not commands:
        return None
    if any(may_concern(rule, command) for rule in rules() for command in commands):
        return None
    return {
        "hookSpecificOutput": {
            "hookEventName": PRE_TOOL_USE,
            "updatedInput": {**given, "command": prefixed(str(line), commands)},
        }
    }
