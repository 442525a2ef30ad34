"""The commands that an agent may have run: the key `commands` of the project's configuration.

    commands = ["npm test", "python -m pytest ...", ["node", "--test", "tests/a b.test.js"]]

A command is a list of words; a string is one, too, if blanks part its words and no character in it means anything to a
shell. No shell reads either. The words must be the same, one by one; after a last word `...` any others may follow.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from context_firewall.errors import InvalidInput

# What follows is the agent's choice.
OPEN = "..."
# Characters that are themselves in every shell: letters, digits, and these.
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]++(?: ++[A-Za-z0-9_@%+=:,./-]++)*+")


class AllowedCommand(NamedTuple):
    """The words that a command begins with, and whether others may follow."""

    words: tuple[str, ...]
    open: bool

    def allows(self, command: Sequence[str]) -> bool:
        """Whether a command is this one."""
        given = tuple(command)
        return given[: len(self.words)] == self.words if self.open else given == self.words

    def __str__(self) -> str:
        import shlex

        return f"{shlex.join(self.words)} {OPEN}" if self.open else shlex.join(self.words)


def parse_commands(value: object, key: str) -> tuple[AllowedCommand, ...]:
    """The commands of a configuration. Raises InvalidInput, whose `key` names the place."""
    if not isinstance(value, list):
        raise InvalidInput(f"{key} must be a list of commands", key=key)
    return tuple(_allowed(command_words(entry, f"{key}[{at}]"), f"{key}[{at}]") for at, entry in enumerate(value))


def _allowed(words: list[str], key: str) -> AllowedCommand:
    last = words[-1] == OPEN
    named = tuple(words[:-1] if last else words)
    if not named:
        raise InvalidInput(f"{key} must name a program before {OPEN}", key=key)
    return AllowedCommand(named, last)


def command_words(value: object, key: str) -> list[str]:
    """A command as its words. Raises InvalidInput, whose `key` names the place, for what is none."""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value.strip(" ")) is None:
            raise InvalidInput(
                f"{key}: {value!a} holds what a shell would read, or nothing; no shell reads it here, so give a list "
                "of words",
                key=key,
            )
        return value.split()
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        raise InvalidInput(f"{key} must be a string or a list of words", key=key)
    if not value[0] or any("\0" in word for word in value):
        raise InvalidInput(f"{key} must name a program, and hold no NUL", key=key)
    return list(value)
