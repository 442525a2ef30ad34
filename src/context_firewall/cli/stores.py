"""The evidence store that a command works on, and the clock that dates what goes into it."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from context_firewall.cli.configuration import ProjectConfiguration
from context_firewall.errors import InvalidInput

if TYPE_CHECKING:
    from context_firewall.store.evidence import EvidenceStore

Command = TypeVar("Command", bound=Callable[..., Any])


def store_option(command: Command) -> Command:
    """The option that names the store: `store_place`, None where it is not given."""
    return click.option(
        "--store",
        "store_place",
        metavar="PATH|URL",
        help="The evidence store: a folder, or s3://, gs:// or az:// with the extra [cloud]. "
        "Default: the configured one, else .context-firewall at the root of the repository.",
    )(command)


def reference_argument(command: Command) -> Command:
    """The argument that names a stored run: `reference`."""
    return click.argument("reference", metavar="REFERENCE")(command)


def store_in_force(
    store_place: str | None, project: ProjectConfiguration, folder: str | None = None
) -> "EvidenceStore":
    """The store that is named on the command line, else by the project's configuration, else that of the repository.

    The repository is the one around a folder, or around the working directory. Nothing is read or made by this. Raises
    InvalidInput where it can be none, StoreUnavailable without its extra.
    """
    from context_firewall.store.places import open_store

    try:
        folder = os.getcwd() if folder is None else os.path.abspath(folder)
    except OSError as problem:
        raise InvalidInput(f"the working directory cannot be read: {problem.strerror}", option="--store") from problem
    try:
        if store_place is None and project.store is not None:
            return open_store(project.store, folder=os.path.dirname(os.path.abspath(project.path or folder)))
        return open_store(store_place, folder=folder)
    except InvalidInput as problem:
        raise InvalidInput(f"--store: {problem}", option="--store") from problem


def now() -> str:
    """This moment as documents have it: UTC, to the millisecond, such as `2026-11-30T17:56:27.123Z`."""
    return moment(datetime.now(UTC))


def moment(time: datetime) -> str:
    """A moment in UTC as documents have it."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
