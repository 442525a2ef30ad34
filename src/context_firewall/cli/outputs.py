"""What goes out beside standard output: files that appear whole, or not at all.

Rules of this room:
- A file is named, checked and refused before anything is read: no folder, not a regular file, a link, named twice,
  or the very file that is read.
- Every file is written under a passing name in its own folder, with mode 0600 unless its target says another, and is
  synced, before any of them gets its name; getting it is one rename. A link is refused and not followed, so the bytes
  land where the name says.
- If anything fails until the command has delivered its document, every file is as it was before.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from context_firewall.cli.channels import shown_path
from context_firewall.errors import InvalidInput, OutputNotWritten


class Target(NamedTuple):
    """A file that an option asks for: its folder without links, and its name there."""

    option: str
    folder: str
    name: str
    mode: int = 0o600

    @property
    def path(self) -> str:
        """Where the file will stand."""
        return os.path.join(self.folder, self.name)

    def refusal(self, what: str) -> InvalidInput:
        """The error for a target that cannot be one."""
        return InvalidInput(f"{self.option} {what}", option=self.option, path=shown_path(self.path))


def targets(paths: Mapping[str, str | None]) -> tuple[Target, ...]:
    """The targets of the options that were given, each checked by itself and against the others."""
    found: list[Target] = []
    for option, path in paths.items():
        if path is None:
            continue
        target = _target(option, path)
        for other in found:
            if _same_place(target, other):
                raise target.refusal(f"and {other.option} name the same file")
        found.append(target)
    return tuple(found)


def _target(option: str, path: str) -> Target:
    if "\0" in path:
        raise InvalidInput(f"{option} has a NUL character in its path", option=option)
    folder, name = os.path.split(path)
    target = Target(option, os.path.realpath(folder or os.curdir), name)
    if name in ("", os.curdir, os.pardir):
        raise target.refusal("names a folder")
    try:
        os.stat(os.path.join(target.folder, ""))  # with the slash only a folder is found
        status = os.lstat(target.path)
    except FileNotFoundError as problem:
        if os.path.isdir(target.folder):
            return target
        raise _not_written(target, problem) from problem
    except OSError as problem:
        raise _not_written(target, problem) from problem
    if stat.S_ISLNK(status.st_mode):
        raise target.refusal("is a symbolic link; name the file itself")
    if not stat.S_ISREG(status.st_mode):
        raise target.refusal("exists and is not a regular file")
    return target


def _same_place(one: Target, other: Target) -> bool:
    if one.path == other.path:
        return True
    with suppress(OSError):
        return os.path.samestat(os.lstat(one.path), os.lstat(other.path))
    return False


def refuse_overlap(wanted: Iterable[Target], used: Mapping[str, os.stat_result | None]) -> None:
    """Refuse a target that is one of the files in use, each under the words that name it."""
    for target in wanted:
        try:
            status = os.lstat(target.path)
        except OSError:
            continue
        for words, other in used.items():
            if other is not None and os.path.samestat(status, other):
                raise target.refusal(f"and {words} are the same file")


@contextmanager
def written(contents: Sequence[tuple[Target, bytes]]) -> Iterator[None]:
    """While the body runs, every file stands, whole. If the body raises, all is as it was before."""
    with ExitStack() as leftovers:
        prepared = []
        for target, content in contents:
            try:
                prepared.append((target, _prepared(target, content, leftovers)))
            except OSError as problem:
                raise _not_written(target, problem) from problem
        with ExitStack() as undo:
            for target, passing_name in prepared:
                try:
                    _put_in_place(target, passing_name, undo, leftovers)
                except OSError as problem:
                    raise _not_written(target, problem) from problem
            _refuse_overwritten(prepared)
            yield
            undo.pop_all()


def _prepared(target: Target, content: bytes, leftovers: ExitStack) -> str:
    """Write the content under a passing name in the target's folder; returns that name's path."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    path = _free_name(target, "new")
    descriptor = os.open(path, flags, 0o600)
    leftovers.callback(_remove, path)
    with open(descriptor, "wb") as file:
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, target.mode)  # whatever the umask took away
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return path


def _put_in_place(target: Target, passing_name: str, undo: ExitStack, leftovers: ExitStack) -> None:
    """Give the file its name, and note how to take that back."""
    if os.path.lexists(target.path):
        aside = _free_name(target, "old")
        try:
            os.link(target.path, aside, follow_symlinks=False)
        except OSError:  # a file system without hard links
            os.replace(target.path, aside)
        leftovers.callback(_remove, aside)
        undo.callback(os.replace, aside, target.path)
    else:
        undo.callback(_remove, target.path)
    os.replace(passing_name, target.path)


def _refuse_overwritten(prepared: Sequence[tuple[Target, str]]) -> None:
    """Two names that only differ in case are one file on some file systems: then the later took the earlier's place."""
    statuses = [os.lstat(target.path) for target, _ in prepared]
    for index, (target, _) in enumerate(prepared):
        if any(os.path.samestat(statuses[index], status) for status in statuses[:index]):
            raise target.refusal("and another output name the same file")


def _free_name(target: Target, suffix: str) -> str:
    """A passing name that is free: short, whatever the target's name, and without chance."""
    number = 0
    while True:
        path = os.path.join(target.folder, f".context-firewall-{os.getpid()}-{number}.{suffix}")
        if not os.path.lexists(path):
            return path
        number += 1


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _not_written(target: Target, problem: OSError) -> OutputNotWritten:
    return OutputNotWritten(
        f"{target.option} cannot be written: {problem.strerror}", option=target.option, path=shown_path(target.path)
    )
