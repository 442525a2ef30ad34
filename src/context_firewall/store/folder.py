"""A shelf in a folder: files of mode 0600 in folders of mode 0700, which git does not see.

A draft is a file in `drafts/`, locked while its process lives. Keeping it syncs the file and renames it; settling syncs
the folders in which names came or went. Renaming and removing exclude each other by a lock on `lock`, so that what was
just kept again is not removed.
"""

import errno
import os
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from context_firewall.errors import EvidenceNotFound, StoreNotWritten, StoreUnavailable
from context_firewall.store.drafts import CHUNK_BYTES
from context_firewall.store.shelf import Draft, Entry

try:
    import fcntl
except ImportError:  # no file locks of this kind: then nothing is removed either
    fcntl = None  # type: ignore[assignment]

DRAFTS = "drafts"
LOCK = "lock"
IGNORE = ".gitignore"
_OWN = frozenset({DRAFTS, LOCK, "objects", "manifests", "runs", "compactions"})
_DRAFT = re.compile(rf"{DRAFTS}/[0-9]+-[0-9]+")
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_OLD = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class FileDraft:
    """A draft in the folder of drafts."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        self.path: str | None = path
        """Where it is; None once it has been kept."""
        self.file = file

    def close(self) -> None:
        """Close it, and remove it if it was not kept."""
        with suppress(OSError):
            self.file.close()
        if self.path is not None:
            with suppress(OSError):
                os.unlink(self.path)


class Folder:
    """A shelf in a folder, which is made when something is written."""

    at_once = 1

    def __init__(self, path: str) -> None:
        self.path = path
        self.location = os.fsencode(path).decode("utf-8", "replace")
        self._unsettled: set[str] = set()
        self._settling = threading.Lock()

    def draft(self) -> FileDraft:
        """A new draft, locked, so that nobody takes it for one that was left behind."""
        with self._writing():
            self._prepare()
            return self._new_draft()

    def keep(self, draft: Draft, name: str) -> None:
        """Sync the file, rename it."""
        assert isinstance(draft, FileDraft)  # noqa: S101  a shelf keeps its own drafts
        if draft.path is None:
            raise ValueError("a draft is kept once")
        target = self._path(name)
        with self._writing():
            draft.file.flush()
            os.fsync(draft.file.fileno())
            self._make_folder(os.path.dirname(target))
            with self._locked(shared=True):
                os.utime(draft.path)  # the last byte may be old, the file's name is new
                os.replace(draft.path, target)
                draft.path = None
            self._unsettled.add(os.path.dirname(target))

    def open(self, name: str) -> Iterator[bytes]:
        """Read a regular file from its start."""
        with self._reading(name):
            descriptor = os.open(self._path(name), _OLD)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise OSError(errno.EINVAL, "it is not a regular file")
                while piece := file.read(CHUNK_BYTES):
                    yield piece

    def find(self, name: str) -> Entry | None:
        """The file's size and time."""
        with self._reading(name):
            try:
                status = os.lstat(self._path(name))
            except (FileNotFoundError, NotADirectoryError):
                return None
            return Entry(name, status.st_size, status.st_mtime)

    def list(self, folder: str) -> Iterator[Entry]:
        """All regular files below a folder; those that go meanwhile are left out."""
        waiting = [folder]
        while waiting:
            inner = waiting.pop()
            with self._reading(inner):
                try:
                    found = list(os.scandir(self._path(inner)))
                except (FileNotFoundError, NotADirectoryError):
                    continue
                for entry in found:
                    name = f"{inner}/{entry.name}"
                    with suppress(FileNotFoundError):
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(name)
                        elif entry.is_file(follow_symlinks=False):
                            status = entry.stat(follow_symlinks=False)
                            yield Entry(name, status.st_size, status.st_mtime)

    def remove(self, name: str, *, kept_before: float) -> bool:
        """Look once more and remove, while nobody can rename."""
        with self._writing():
            if fcntl is None:
                raise OSError(errno.ENOLCK, "this system has no file locks to remove files safely with")
            with self._locked(shared=False), suppress(FileNotFoundError):
                path = self._path(name)
                if os.lstat(path).st_mtime < kept_before:
                    os.unlink(path)
                    self._unsettled.add(os.path.dirname(path))
                    return True
        return False

    def settle(self) -> None:
        """Sync the folders that have changed; two threads one after the other, so that neither runs ahead."""
        with self._writing(), self._settling:
            while self._unsettled:
                _sync_folder(self._unsettled.pop())

    def sweep(self, *, kept_before: float) -> int:
        """Remove drafts that are old and that nobody has locked; other files in the folder are somebody else's."""
        freed = 0
        with self._writing():
            for entry in list(self.list(DRAFTS)):
                is_old_draft = _DRAFT.fullmatch(entry.name) is not None and entry.kept_at < kept_before
                if is_old_draft and _is_abandoned(self._path(entry.name)):
                    with suppress(FileNotFoundError):
                        os.unlink(self._path(entry.name))
                        freed += entry.byte_count
        return freed

    def _path(self, name: str) -> str:
        return os.path.join(self.path, *name.split("/"))

    def _prepare(self) -> None:
        """The folder itself, with a file that hides all of it from git, unless it is a folder of other things, too."""
        self._make_folder(os.path.join(self.path, DRAFTS))
        ignore = os.path.join(self.path, IGNORE)
        if not os.path.lexists(ignore) and _OWN.issuperset(os.listdir(self.path)):
            draft = self._new_draft()
            try:
                draft.file.write(b"*\n")
                draft.file.flush()
                os.replace(draft.path or "", ignore)
                draft.path = None
            finally:
                draft.close()

    def _new_draft(self) -> FileDraft:
        number = 0
        while True:
            path = os.path.join(self.path, DRAFTS, f"{os.getpid()}-{number}")
            try:
                descriptor = os.open(path, _NEW, 0o600)
            except FileExistsError:
                number += 1
                continue
            draft = FileDraft(path, os.fdopen(descriptor, "w+b"))
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return draft

    def _make_folder(self, path: str) -> None:
        """A folder of mode 0700 and those above it down from the store's own, each synced into the one above."""
        if os.path.isdir(path):
            return
        above = os.path.dirname(path)
        if path == self.path:
            os.makedirs(above, exist_ok=True)
        else:
            self._make_folder(above)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        _sync_folder(above)

    @contextmanager
    def _locked(self, *, shared: bool) -> Iterator[None]:
        """Many may rename at once; nobody renames while one removes."""
        if fcntl is None:
            yield
            return
        descriptor = os.open(os.path.join(self.path, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise EvidenceNotFound(
                f"the store {self.location} holds no {name}", reference=name, store=self.location
            ) from None
        except OSError as problem:
            raise StoreUnavailable(
                f"{name} in the store {self.location} cannot be read: {problem.strerror}", store=self.location
            ) from problem

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise not_written(self.location, problem) from problem


def not_written(location: str, problem: OSError) -> StoreNotWritten:
    """The error for a store that could not be written."""
    name = errno.errorcode.get(problem.errno or 0, "UNKNOWN")
    return StoreNotWritten(
        f"the evidence store {location} cannot be written: {problem.strerror}", reason=name, store=location
    )


def _sync_folder(path: str) -> None:
    """Make the names in a folder durable, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that cannot do this for folders
            raise
    finally:
        os.close(descriptor)


def _is_abandoned(path: str) -> bool:
    """Whether no living process has a draft locked."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, _OLD)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
