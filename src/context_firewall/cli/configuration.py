"""What a project has configured: `context-firewall.toml`, or the table `[tool.context-firewall]` of `pyproject.toml`.

The nearest folder that has one of the two, from the working directory up, is the project's; the folder that holds the
repository (`.git`) is the last one that is looked at. A folder that has both is an error: neither could win without
surprise. An option on the command line wins over the file.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from context_firewall.cli.channels import shown_path
from context_firewall.errors import InvalidInput
from context_firewall.reduction.pipeline import POLICIES
from context_firewall.transcript import dialects
from context_firewall.transcript.noise import NoiseRule, parse_noise

if TYPE_CHECKING:
    from context_firewall.cli.allowed_commands import AllowedCommand

OWN_FILE = "context-firewall.toml"
SHARED_FILE = "pyproject.toml"
TABLE = "context-firewall"
REPOSITORY = ".git"
# 15 digits, as on the command line.
LARGEST = 10**15 - 1

Value = TypeVar("Value")
Command = TypeVar("Command", bound=Callable[..., Any])


class ProjectConfiguration(NamedTuple):
    """The keys of the file, in its order of names; None is not configured."""

    max_bytes: int | None = None
    dialect: str | None = None
    policy: str | None = None
    operation_id: str | None = None
    source_id: str | None = None
    run_id: str | None = None
    raw_ref: str | None = None
    store: str | None = None
    """A URL, or a path from the file's folder."""
    noise: tuple[NoiseRule, ...] = ()
    commands: "tuple[AllowedCommand, ...]" = ()
    """What `mcp` may run; nothing of a packet depends on it."""
    pinned: tuple[str, ...] = ()
    """Rules that `guard` verifies on every compaction."""
    reinject: bool = False
    """Whether hooks put lost rules back."""
    path: str | None = None
    """The file, or None where a project has none."""


def configuration_options(command: Command) -> Command:
    """The two options of a command that heeds the project's configuration: `config_path` and `no_config`."""
    command = click.option("--no-config", is_flag=True, help="Read no configuration.")(command)
    return click.option(
        "--config",
        "config_path",
        metavar="PATH",
        help="Configuration to use instead of the project's: a context-firewall.toml, whatever its name, or a "
        "pyproject.toml with [tool.context-firewall].",
    )(command)


def configuration_in_force(config_path: str | None, no_config: bool) -> ProjectConfiguration:
    """The configuration that the two options ask for: the named one, none, or the project's."""
    if no_config:
        if config_path is not None:
            raise InvalidInput("--config names a configuration, and --no-config refuses any", option="--no-config")
        return ProjectConfiguration()
    if config_path is not None:
        return read_configuration(config_path, required=True)
    try:
        folder = os.getcwd()
    except OSError as problem:
        raise InvalidInput(f"the working directory cannot be read: {problem.strerror}", option="--config") from problem
    return find_configuration(folder)


def preferred(ctx: click.Context, name: str, given: Value, configured: Value | None) -> Value:
    """The value of an option: as given on the command line, else as configured, else its default."""
    if configured is None or ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
        return given
    return configured


def find_configuration(folder: str) -> ProjectConfiguration:
    """The configuration of the nearest folder that has one, from this one up to the repository's."""
    while True:
        own, shared = os.path.join(folder, OWN_FILE), os.path.join(folder, SHARED_FILE)
        found = read_configuration(shared) if os.path.isfile(shared) else ProjectConfiguration()
        if os.path.isfile(own):
            if found.path is not None:
                both = f"{shown_path(own)} and [tool.{TABLE}] of {shown_path(shared)}"
                raise InvalidInput(f"there are two configurations in one folder: {both}", path=shown_path(own))
            return read_configuration(own)
        parent = os.path.dirname(folder)
        if found.path is not None or parent == folder or os.path.exists(os.path.join(folder, REPOSITORY)):
            return found
        folder = parent


def read_configuration(path: str, *, required: bool = False) -> ProjectConfiguration:
    """The configuration in a file; a `pyproject.toml` without the table has none, which `required` refuses."""
    shared = os.path.basename(path) == SHARED_FILE
    shown = shown_path(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise InvalidInput(f"{shown} cannot be read: {reason}", path=shown) from problem
    if not shared:
        return _checked(_parsed(data, shown), "", path)
    # A file that never names us is none of our business, even if it is broken.
    if TABLE.encode() in data:
        tools = _parsed(data, shown).get("tool")
        if isinstance(tools, Mapping) and TABLE in tools:
            return _checked(tools[TABLE], f"tool.{TABLE}.", path)
    if required:
        raise InvalidInput(f"{shown} has no table [tool.{TABLE}]", path=shown, key=f"tool.{TABLE}")
    return ProjectConfiguration()


def _parsed(data: bytes, shown: str) -> dict[str, Any]:
    import tomllib  # most runs have no configuration and start faster without it

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        raise InvalidInput(f"{shown} is not UTF-8", path=shown) from None
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        reason = "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        raise InvalidInput(f"{shown} is not TOML: {reason}", path=shown) from problem


def _checked(table: object, prefix: str, path: str) -> ProjectConfiguration:
    """The table's values, each of its type; `prefix` stands before the keys that errors name."""
    try:
        if not isinstance(table, Mapping):
            raise InvalidInput(f"{prefix.rstrip('.')} must be a table", key=prefix.rstrip("."))
        for key in table:
            if key not in _READERS:
                known = ", ".join(_READERS)
                raise InvalidInput(f"{prefix}{key} is an unknown key; known are {known}", key=f"{prefix}{key}")
        values = {key.replace("-", "_"): _READERS[key](value, f"{prefix}{key}") for key, value in table.items()}
    except InvalidInput as refusal:
        shown = shown_path(path)
        raise InvalidInput(f"{shown}: {refusal}", **{**refusal.details, "path": shown}) from None
    return ProjectConfiguration(path=path, **values)


def _byte_count(value: object, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise InvalidInput(f"{key} must be a whole number of bytes", key=key)
    return value


def _text(value: object, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{key} must be a string that is not empty", key=key)
    return value


def _texts(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidInput(f"{key} must be a list of strings", key=key)
    return tuple(_text(item, f"{key}[{index}]") for index, item in enumerate(value))


def _policy(value: object, key: str) -> str:
    return _one_of(value, key, [row.revision for row in POLICIES])


def _dialect(value: object, key: str) -> str:
    return _one_of(value, key, ["auto", *(row.name for row in dialects.REGISTRY)])


def _flag(value: object, key: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{key} must be true or false", key=key)
    return value


def _commands(value: object, key: str) -> "tuple[AllowedCommand, ...]":
    from context_firewall.cli.allowed_commands import parse_commands  # most projects list none and start faster without

    return parse_commands(value, key)


def _one_of(value: object, key: str, known: list[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise InvalidInput(f"{key} must be one of {', '.join(known)}", key=key)
    return value


# One row a key: how its value is read.
_READERS: Mapping[str, Callable[[object, str], Any]] = {
    "max-bytes": _byte_count,
    "dialect": _dialect,
    "policy": _policy,
    "operation-id": _text,
    "source-id": _text,
    "run-id": _text,
    "raw-ref": _text,
    "store": _text,
    "noise": parse_noise,
    "commands": _commands,
    "pinned": _texts,
    "reinject": _flag,
}
