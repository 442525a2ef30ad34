"""The list of commands that an agent may have run."""

from pathlib import Path

import pytest

from context_firewall.cli.allowed_commands import command_words, parse_commands
from context_firewall.cli.configuration import read_configuration
from context_firewall.errors import InvalidInput

LIST = ["npm test", "python -m pytest ...", ["node", "--test", "tests/a b.js"], ["go", "test", "..."]]


@pytest.mark.parametrize(
    "command",
    [
        ["npm", "test"],
        "npm test",
        "  npm   test ",
        "python -m pytest",
        "python -m pytest tests/test_a.py::test_b -q --maxfail=1",
        ["python", "-m", "pytest", "tests/test_a.py::test_b[x y]", "; ls"],
        ["node", "--test", "tests/a b.js"],
        ["go", "test", "./..."],
    ],
)
def test_what_is_allowed(command: object) -> None:
    """MCP-2."""
    words = command_words(command, "command")
    assert any(allowed.allows(words) for allowed in parse_commands(LIST, "commands"))


@pytest.mark.parametrize(
    "command",
    [
        "npm",
        "npm test2",
        "npm test --silent",
        ["npm test"],
        ["npm", "test", ""],
        ["", "npm", "test"][1:2],
        "/usr/bin/npm test",
        "python -m",
        "python -c pytest",
        ["python", "-m pytest"],
        ["python", "-m", "pytestx"],
        ["node", "--test", "tests/a", "b.js"],
        ["NPM", "test"],
        "sh -c ls",
    ],
)
def test_what_is_not(command: object) -> None:
    words = command_words(command, "command")
    assert not any(allowed.allows(words) for allowed in parse_commands(LIST, "commands"))


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        *(
            f"npm test{end}"
            for end in (";ls", " && ls", "|cat", ">x", " $HOME", " `ls`", " a*", " ~", " 'a'", ' "', "\\")
        ),
        *(f"npm{blank}test" for blank in ("\n", "\t", "\0", "\u00a0", "\r")),
        "npm test # no",
        "npm {a,b}",
        "npm test é",
    ],
)
def test_a_line_that_a_shell_would_read_is_none(line: str) -> None:
    """MCP-2: a string is never guessed at."""
    with pytest.raises(InvalidInput, match="list of words"):
        command_words(line, "command")


@pytest.mark.parametrize("value", [[], [1], None, {"a": 1}, [""], ["a", None], ["a", "b\0c"], 5, True])
def test_what_is_no_command(value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        command_words(value, "commands[0]")
    assert refused.value.details["key"] == "commands[0]"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('commands = "npm test"', "commands"),
        ('commands = ["npm test", "a; b"]', "commands[1]"),
        ('commands = ["..."]', "commands[0]"),
        ('commands = [["..."]]', "commands[0]"),
        ("commands = [[]]", "commands[0]"),
    ],
)
def test_a_configuration_that_lists_none_is_refused(tmp_path: Path, text: str, key: str) -> None:
    (tmp_path / "context-firewall.toml").write_text(text)
    with pytest.raises(InvalidInput) as refused:
        read_configuration(str(tmp_path / "context-firewall.toml"))
    assert refused.value.details["key"] == key


def test_a_list_says_itself() -> None:
    assert [str(one) for one in parse_commands(LIST, "commands")] == [
        "npm test",
        "python -m pytest ...",
        "node --test 'tests/a b.js'",
        "go test ...",
    ]
