"""What a store needs of the place it is in."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol


class Entry(NamedTuple):
    """A file on a shelf: its name, its size in bytes there, and when it was kept last, in seconds since 1970."""

    name: str
    byte_count: int
    kept_at: float


class Draft(Protocol):
    """A file that has no name on the shelf yet. Closing it before it is kept leaves nothing."""

    @property
    def file(self) -> BinaryIO:
        """Readable, writable, seekable."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class Shelf(Protocol):
    """Whole files by name. Names are relative, with slashes.

    What cannot be read raises StoreUnavailable, what cannot be written StoreNotWritten, what is not there
    EvidenceNotFound.
    """

    @property
    def location(self) -> str:
        """What people call this place: a path or a URL."""
        ...

    @property
    def at_once(self) -> int:
        """How many files to ask for at once: one where asking takes no time, more where it is a matter of waiting."""
        ...

    def draft(self) -> Draft:
        """A new draft."""
        ...

    def keep(self, draft: Draft, name: str) -> None:
        """Give a draft its name, whole or not at all. A file that has the name already is as good as new."""
        ...

    def open(self, name: str) -> Iterator[bytes]:
        """The bytes of a file, in pieces."""
        ...

    def find(self, name: str) -> Entry | None:
        """What is known of a file, or None if it is not there."""
        ...

    def list(self, folder: str) -> Iterator[Entry]:
        """All files in a folder and below, in any order."""
        ...

    def remove(self, name: str, *, kept_before: float) -> bool:
        """Remove a file, unless it was kept at that time or later; whether it is gone by this."""
        ...

    def settle(self) -> None:
        """Make what was kept and removed so far outlast a crash of the machine."""
        ...

    def sweep(self, *, kept_before: float) -> int:
        """Remove what drafts left behind whose process is gone; how many bytes that was."""
        ...
