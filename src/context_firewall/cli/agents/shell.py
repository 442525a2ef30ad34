"""A shell command line, taken apart as far as it is plain: simple commands and what joins them.

The grammar is that of POSIX.1-2024, "Shell Command Language": quoting (2.2), tokens (2.3), simple commands, pipelines
and lists (2.9). Whatever goes beyond them (substitutions, groups, loops, here-documents, background jobs) makes the
whole line none of ours: `simple_commands` gives None, and whoever asked leaves the line alone.
"""

import re
from typing import NamedTuple


class Word(NamedTuple):
    """A word, with the quotes taken off, and where it stands in the line (character offsets)."""

    text: str
    start: int
    end: int
    literal: bool
    """Whether the shell takes it as it is: nothing in it is expanded."""
    bare: bool
    """Whether no character of it is quoted."""


class Redirection(NamedTuple):
    """`2>&1`: the number before the operator (-1: none), the operator, and the word behind it."""

    number: int
    operator: str
    target: Word


class Simple(NamedTuple):
    """A simple command: assignments, words, redirections, and the operator that follows it (`""`: the line ends)."""

    assignments: tuple[Word, ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]
    followed_by: str


# Words that are no commands where a command may begin (2.4, and those of bash).
RESERVED = frozenset(
    {
        "!",
        "{",
        "}",
        "[[",
        "]]",
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "function",
        "if",
        "in",
        "select",
        "then",
        "time",
        "until",
        "while",
    }
)
JOINS = ("&&", "||", "|&", ";", "|", "\n")
# The longest first. A here-document, a here-string and a process substitution are not among them.
REDIRECTS = ("&>>", "&>", ">>", ">&", ">|", "<>", "<&", ">", "<")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+\+?=")
PARAMETER = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*+|[0-9?#@*!$-]|\{[A-Za-z_][A-Za-z0-9_]*+\})")
BLANK = " \t"
ENDS_A_WORD = BLANK + "\n;|&<>()"
EXPANDED = "*?[~{}"
ESCAPED_IN_DOUBLE_QUOTES = '$`"\\'


class _Unclear(Exception):
    """The line goes beyond simple commands: how the tokenizer gives up. It never leaves this file."""


def simple_commands(line: str) -> tuple[Simple, ...] | None:
    """The simple commands of a line, in order; None if the line holds anything else. Takes linear time."""
    try:
        return tuple(_Tokens(line).commands())
    except _Unclear:
        return None


class _Tokens:
    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0

    def commands(self) -> list[Simple]:
        """Everything there is."""
        found: list[Simple] = []
        while True:
            command = self._command()
            if command is not None:
                found.append(command)
            if self._at >= len(self._line):
                if found and found[-1].followed_by in ("&&", "||", "|", "|&"):
                    raise _Unclear
                return found

    def _command(self) -> Simple | None:
        """The next command; None where two separators follow one another, or the line ends."""
        assignments: list[Word] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            self._blanks()
            join = self._taken(JOINS)
            if join is not None or self._at >= len(self._line):
                if not (assignments or words or redirections):
                    if join not in (None, "\n"):
                        raise _Unclear
                    return None
                return Simple(tuple(assignments), tuple(words), tuple(redirections), join or "")
            redirection = self._redirection()
            if redirection is not None:
                redirections.append(redirection)
                continue
            word = self._word()
            if not words and ASSIGNMENT.match(self._line, word.start):
                assignments.append(word)
            elif not words and word.bare and word.text in RESERVED:
                raise _Unclear
            else:
                words.append(word)

    def _blanks(self) -> None:
        """Blanks, continued lines, and a comment up to the end of its line."""
        line = self._line
        while self._at < len(line):
            if line[self._at] in BLANK:
                self._at += 1
            elif line.startswith("\\\n", self._at):
                self._at += 2
            elif line[self._at] == "#":
                end = line.find("\n", self._at)
                self._at = len(line) if end < 0 else end
            else:
                return

    def _taken(self, operators: tuple[str, ...]) -> str | None:
        for operator in operators:
            if self._line.startswith(operator, self._at):
                if operator == ";" and self._line.startswith(";;", self._at):
                    raise _Unclear
                self._at += len(operator)
                return operator
        return None

    def _redirection(self) -> Redirection | None:
        start = self._at
        digits = re.compile(r"[0-9]*+").match(self._line, start)
        number = digits[0] if digits else ""
        at = start + len(number)
        operator = next((one for one in REDIRECTS if self._line.startswith(one, at)), None)
        if operator is None or (number and operator.startswith("&")):
            return None
        if self._line.startswith(("<<", "<(", ">("), at):
            raise _Unclear
        self._at = at + len(operator)
        self._blanks()
        return Redirection(int(number) if number else -1, operator, self._word())

    def _word(self) -> Word:
        """The word that begins here; a character that begins none is beyond this grammar."""
        start, literal, bare = self._at, True, True
        parts: list[str] = []
        line = self._line
        while self._at < len(line) and line[self._at] not in ENDS_A_WORD:
            char = line[self._at]
            if line.startswith("\\\n", self._at):
                self._at += 2
            elif char == "\\":
                parts.append(self._escaped())
                bare = False
            elif char == "'":
                parts.append(self._single())
                bare = False
            elif char == '"':
                text, whole = self._double()
                parts.append(text)
                literal, bare = literal and whole, False
            elif char in "$`":
                parts.append(self._parameter())
                literal = False
            else:
                literal = literal and char not in EXPANDED
                parts.append(char)
                self._at += 1
        if self._at == start:
            raise _Unclear
        return Word("".join(parts), start, self._at, literal, bare)

    def _escaped(self) -> str:
        if self._at + 1 >= len(self._line):
            raise _Unclear
        self._at += 2
        return self._line[self._at - 1]

    def _single(self) -> str:
        end = self._line.find("'", self._at + 1)
        if end < 0:
            raise _Unclear
        text = self._line[self._at + 1 : end]
        self._at = end + 1
        return text

    def _double(self) -> tuple[str, bool]:
        """The text between double quotes, and whether nothing in it is expanded."""
        parts: list[str] = []
        whole = True
        self._at += 1
        while self._at < len(self._line):
            char = self._line[self._at]
            if char == '"':
                self._at += 1
                return "".join(parts), whole
            if self._line.startswith("\\\n", self._at):
                self._at += 2
            elif char == "\\" and self._line[self._at + 1 : self._at + 2] in ESCAPED_IN_DOUBLE_QUOTES:
                parts.append(self._escaped())
            elif char in "$`":
                parts.append(self._parameter())
                whole = False
            else:
                parts.append(char)
                self._at += 1
        raise _Unclear

    def _parameter(self) -> str:
        """A plain parameter, `$NAME` or `${NAME}`. Any other substitution runs something or rewrites text."""
        found = PARAMETER.match(self._line, self._at)
        if found is None:
            raise _Unclear
        self._at = found.end()
        return found[0]
