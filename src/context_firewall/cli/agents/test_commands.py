"""Which commands run tests, and how such a command line is rewritten so that the agent sees a brief.

Told by the command's structure alone: the program, its subcommand, and options that make it something else (watching,
listing, help, a debugger, a report for another program). Anything unclear is left alone.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from context_firewall.cli.agents.shell import Redirection, Simple, simple_commands

PREFIX = "context-firewall run -- "
OPT_OUT = "CONTEXT_FIREWALL=off"
"""As an assignment before a command, it leaves that command alone."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Options with which no program here runs tests to the end and says so to a person.
NEVER = _words(
    "--help -h --version --watch --watchAll --watch-all --ui --pdb --inspect --inspect-brk --inspect-wait --debug-brk"
    " --list --listTests --list-tests --dry-run --init"
)
NEVER_BEGINS = ("--inspect=", "--inspect-brk=", "--watch=")
# Builtins after which a name or a stream of the same line may be another than it looks.
SHELL_CHANGES = _words("alias enable eval exec hash unalias")


class Program(NamedTuple):
    """A program that runs tests: by itself, or with one of these subcommands first."""

    subcommands: frozenset[tuple[str, ...]] = frozenset()
    """Without any, every argument is about the tests."""
    never: frozenset[str] = frozenset()
    """Further arguments with which it does something else."""


PROGRAMS: dict[str, Program] = {
    "pytest": Program(
        never=_words(
            "--trace --collect-only --co -V --fixtures --markers --cache-show --setup-plan --setup-only -f --looponfail"
        )
    ),
    "py.test": Program(never=_words("--trace --collect-only --co")),
    "jest": Program(never=_words("-v --json --showConfig --clearCache --outputFile")),
    "vitest": Program(never=_words("-w -v watch dev bench list init typecheck --standalone")),
    "mocha": Program(never=_words("-w -V inspect --list-files --list-reporters --list-interfaces init")),
    "ava": Program(never=_words("-w debug reset-cache")),
    "tape": Program(),
    "tap": Program(never=_words("repl list config dump-config versions plugin report build -w")),
    "node": Program(),
    "go": Program(frozenset({("test",)}), _words("-c -list -fuzz -exec -n")),
    "cargo": Program(frozenset({("test",), ("t",), ("nextest", "run")}), _words("--no-run")),
    "deno": Program(frozenset({("test",)}), _words("--no-run")),
    "gotestsum": Program(never=_words("tool")),
    "rspec": Program(never=_words("-v")),
    "phpunit": Program(never=_words("--list-groups --list-suites --list-tests-xml --generate-configuration")),
    "ctest": Program(never=_words("-N --show-only -D -M -T --dashboard -S")),
    "prove": Program(never=_words("-D -H -V")),
    "bats": Program(never=_words("-c --count")),
    "coverage": Program(),
    "npm": Program(),
    "pnpm": Program(),
    "yarn": Program(),
    "make": Program(),
    "gmake": Program(),
    "just": Program(never=_words("-l -e --edit --choose --show --summary --evaluate")),
    "turbo": Program(never=_words("--graph")),
    "nx": Program(never=_words("--graph")),
    "lerna": Program(),
}

# Options of node with a value that is a word of its own.
NODE_OPTIONS = _words("-r --require --import --loader --experimental-loader -C --conditions")

PYTHON = re.compile(r"python(?:[0-9]+(?:\.[0-9]+)?)?")
PYTHON_FLAGS = _words("-B -u -I -E -s -b -bb -O -OO -q -P")
PYTHON_OPTIONS = _words("-W -X")
PYTHON_MODULES = _words("pytest unittest")

# Programs that start another one in the project's environment, and what stands before it.
LAUNCHERS: dict[str, frozenset[tuple[str, ...]]] = {
    "npx": frozenset({(), ("--no-install",), ("--no",), ("-y",), ("--yes",)}),
    "bundle": frozenset({("exec",)}),
    "poetry": frozenset({("run",)}),
    "pipenv": frozenset({("run",)}),
    "pdm": frozenset({("run",)}),
    "rye": frozenset({("run",)}),
    "uv": frozenset({("run",)}),
    "pnpm": frozenset({("exec",)}),
    "yarn": frozenset({(), ("exec",), ("run",)}),
}

SCRIPT = re.compile(r"test(?::[\w.-]+)*")
SCRIPT_NEVER = _words("watch ui debug open dev serve update coverage:open")
# Options of the package managers that may stand before the subcommand: with a value of their own, and without.
MANAGER_OPTIONS = _words("--prefix -C --dir -w --workspace --filter -F --cwd")
MANAGER_FLAGS = _words("-s --silent --workspaces -ws --if-present -r --recursive --quiet -q")
MANAGER_TEST = {"npm": _words("test t tst"), "pnpm": _words("test t"), "yarn": _words("test")}
MANAGER_RUN = {"npm": _words("run run-script"), "pnpm": _words("run"), "yarn": _words("run")}

MAKE_TARGETS = _words("test tests check")
MAKE_OPTIONS = _words("-C --directory -f --file --makefile")
MAKE_FLAGS = re.compile(r"-[skBj][0-9]*|--silent|--keep-going|--no-print-directory|--jobs=[0-9]+|-C\S+")


def rewritten(line: str, prefix: str = PREFIX) -> str | None:
    """The command line with `prefix` before every command that runs tests; None if there is none, or it is unclear.

    The exit status stays what it was: the prefix stands for a program that ends as its command does.
    """
    commands = test_commands(line)
    return prefixed(line, commands, prefix) if commands else None


def prefixed(line: str, commands: Sequence[Simple], prefix: str = PREFIX) -> str:
    """The line with `prefix` before the first word of each of these commands of it."""
    places = [command.words[0].start for command in commands]
    pieces = [line[start:end] for start, end in zip([0, *places], [*places, len(line)], strict=True)]
    return prefix.join(pieces)


def test_commands(line: str) -> tuple[Simple, ...]:
    """The commands of a line that run tests, in order; none if the line is unclear.

    A command whose standard output goes into a pipe or a file is not among them, since somebody else reads it.
    """
    commands = simple_commands(line)
    if commands is None or any(_changes_the_shell(command) for command in commands):
        return ()
    found = []
    for before, command in zip([None, *commands], commands, strict=False):
        piped = command.followed_by in ("|", "|&") or (before is not None and before.followed_by in ("|", "|&"))
        if not piped and _is_ours(command):
            found.append(command)
    return tuple(found)


def _changes_the_shell(command: Simple) -> bool:
    """Whether a command may change what later ones mean: where programs are looked for, or where output goes."""
    if command.words and command.words[0].text in SHELL_CHANGES:
        return True
    return any(word.text.startswith(("PATH=", "PATH+=")) for word in (*command.assignments, *command.words))


def _is_ours(command: Simple) -> bool:
    if not command.words or any(word.text == OPT_OUT for word in command.assignments):
        return False
    if not all(_harmless(redirection) for redirection in command.redirections):
        return False
    # What the shell expands may be anything, so it must not decide what the command is.
    words = [word.text if word.literal else "" for word in command.words]
    return runs_tests(words)


def _harmless(redirection: Redirection) -> bool:
    """Whether nobody else reads what is redirected: input, standard error to standard output or to nowhere."""
    if redirection.operator == "<":
        return redirection.target.literal
    to = (redirection.number, redirection.operator, redirection.target.text)
    return to in ((2, ">&", "1"), (2, ">", "/dev/null"))


def runs_tests(words: Sequence[str]) -> bool:
    """Whether a command of these words runs tests; a word that is not known is empty."""
    if not words or any(word in NEVER or word.startswith(NEVER_BEGINS) for word in words[1:]):
        return False
    name, rest = words[0].rpartition("/")[2], list(words[1:])
    if PYTHON.fullmatch(name):
        return _python(rest)
    if name in LAUNCHERS and _launched(name, rest):
        return True
    program = PROGRAMS.get(name)
    if program is None or any(word in program.never for word in rest):
        return False
    special = SPECIAL.get(name)
    if special is not None:
        return special(name, rest)
    if not program.subcommands:
        return True
    if name == "cargo" and rest and rest[0].startswith("+"):
        rest = rest[1:]
    return any(tuple(rest[: len(first)]) == first for first in program.subcommands)


def _launched(name: str, rest: list[str]) -> bool:
    """Whether a launcher starts a program that runs tests by itself."""
    for first in LAUNCHERS[name]:
        inner = rest[len(first) :]
        if tuple(rest[: len(first)]) != first or not inner:
            continue
        started = inner[0].rpartition("/")[2]
        if ((started in PROGRAMS and started not in LAUNCHERS) or PYTHON.fullmatch(started)) and runs_tests(inner):
            return True
    return False


def _python(rest: list[str]) -> bool:
    at = 0
    while at < len(rest) and (rest[at] in PYTHON_FLAGS or rest[at] in PYTHON_OPTIONS):
        at += 2 if rest[at] in PYTHON_OPTIONS else 1
    module = rest[at + 1] if at + 1 < len(rest) and rest[at] == "-m" else ""
    arguments = rest[at + 2 :]
    if module == "coverage":
        return _coverage("coverage", arguments)
    if module == "pytest":
        return not any(word in PROGRAMS["pytest"].never for word in arguments)
    return module in PYTHON_MODULES


def _coverage(_name: str, rest: list[str]) -> bool:
    """`coverage run [--options] -m pytest`."""
    run = [word for word in rest if not word.startswith("--")]
    return run[:2] == ["run", "-m"] and run[2:3] != [] and run[2] in PYTHON_MODULES


def _node(_name: str, rest: list[str]) -> bool:
    """`node [options] --test [files]`: the option stands before any file."""
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        if rest[at] == "--test":
            return True
        at += 2 if rest[at] in NODE_OPTIONS else 1
    return False


def _manager(name: str, rest: list[str]) -> bool:
    """`npm test`, `npm run test:unit`, with the options that may stand before."""
    at = 0
    while at < len(rest) and (rest[at] in MANAGER_OPTIONS or rest[at] in MANAGER_FLAGS or _valued(rest[at])):
        at += 2 if rest[at] in MANAGER_OPTIONS else 1
    if at >= len(rest):
        return False
    if rest[at] in MANAGER_TEST[name]:
        return True
    if rest[at] not in MANAGER_RUN[name]:
        return False
    at += 1
    while at < len(rest) and rest[at] in MANAGER_FLAGS:
        at += 1
    return at < len(rest) and _is_test_script(rest[at])


def _valued(word: str) -> bool:
    return word.partition("=")[0] in MANAGER_OPTIONS and "=" in word


def _make(_name: str, rest: list[str]) -> bool:
    """`make test`: no target but those of tests."""
    targets = []
    at = 0
    while at < len(rest):
        word = rest[at]
        # A number is of `-j 4`.
        if word not in MAKE_OPTIONS and not MAKE_FLAGS.fullmatch(word) and "=" not in word and not word.isdecimal():
            targets.append(word)
        at += 2 if word in MAKE_OPTIONS else 1
    return bool(targets) and all(target in MAKE_TARGETS for target in targets)


def _tasks(_name: str, rest: list[str]) -> bool:
    """`turbo run test`, `turbo test:unit`, `lerna run test`, `just test`: no task but those of tests."""
    tasks = [word for word in rest if not word.startswith("-")]
    if tasks[:1] == ["run"]:
        del tasks[0]
    return bool(tasks) and all(_is_test_script(task) for task in tasks)


def _nx(_name: str, rest: list[str]) -> bool:
    """`nx test cups`, `nx run cups:test`, `nx run-many -t test`, `nx affected --target=test`."""
    if rest[:1] == ["run"]:
        return len(rest) > 1 and _is_test_script(rest[1].partition(":")[2])
    if rest[:1] not in (["run-many"], ["affected"]):
        return bool(rest) and _is_test_script(rest[0])
    targets = [word.partition("=")[2] for word in rest if word.startswith(("--target=", "--targets=", "-t="))]
    targets += [after for word, after in pairwise(rest) if word in ("-t", "--target", "--targets")]
    return bool(targets) and all(_is_test_script(one) for target in targets for one in target.split(","))


def _is_test_script(name: str) -> bool:
    return SCRIPT.fullmatch(name) is not None and not SCRIPT_NEVER.intersection(name.split(":"))


SPECIAL: dict[str, Callable[[str, list[str]], bool]] = {
    "coverage": _coverage,
    "node": _node,
    "npm": _manager,
    "pnpm": _manager,
    "yarn": _manager,
    "make": _make,
    "gmake": _make,
    "just": _tasks,
    "turbo": _tasks,
    "lerna": _tasks,
    "nx": _nx,
}
"""Programs whose command line needs more than a subcommand."""
