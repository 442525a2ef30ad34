"""A shelf in an object store: S3, Google Cloud Storage, Azure, or the memory of this process.

The library is obstore, the extra `[cloud]`; it takes credentials and endpoint from the environment as the vendors' own
tools do, retries, and puts an object wholly or not at all. A draft is a temporary file without a name.

There is no lock here. A file is put on condition that nothing has its name; if something has, it is put again, which
makes it new: what is new is not removed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from context_firewall.errors import EvidenceNotFound, InvalidInput, StoreNotWritten, StoreUnavailable
from context_firewall.store.drafts import CHUNK_BYTES
from context_firewall.store.shelf import Draft, Entry

if TYPE_CHECKING:
    from obstore.store import ObjectStore

# Larger files go up in parts, which no condition can be put on.
WHOLE_BYTES = 8 << 20
PART_BYTES = 8 << 20
PARTS_AT_ONCE = 4
RETRIES = 6
RETRY_SECONDS = 30.0


class BucketDraft:
    """A draft in memory while it is small, then in a temporary file without a name."""

    def __init__(self) -> None:
        from tempfile import SpooledTemporaryFile

        self.file = cast(BinaryIO, SpooledTemporaryFile(max_size=1 << 20))  # noqa: SIM115  closed below

    def close(self) -> None:
        """Give it back."""
        self.file.close()


def open_bucket(url: str, *, retries: int = RETRIES, retry_seconds: float = RETRY_SECONDS) -> "Bucket":
    """The shelf at an object store's URL; nothing is asked of the server yet.

    Raises StoreUnavailable when the extra is not installed, InvalidInput when the URL means no object store.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError:
        raise StoreUnavailable(
            f"{url} is an object store, and those need the extra [cloud]: pip install 'context-firewall[cloud]'",
            store=url,
        ) from None
    if url.partition("://")[0].lower() in ("http", "https"):
        raise InvalidInput("a web address is no object store; name it s3://, gs:// or az://", key="store")
    try:
        place = from_url(url, retry_config={"max_retries": retries, "retry_timeout": timedelta(seconds=retry_seconds)})
    except (BaseError, ValueError) as problem:
        raise InvalidInput(f"{url} is no object store: {_reason(problem)}", key="store") from problem
    return Bucket(place, url)


class Bucket:
    """A shelf in an object store."""

    at_once = 16

    def __init__(self, place: "ObjectStore", location: str) -> None:
        self.place = place
        self.location = location

    def draft(self) -> BucketDraft:
        """A new draft."""
        return BucketDraft()

    def keep(self, draft: Draft, name: str) -> None:
        """Put the draft; if something has the name already, put it over that.

        The library does not send again what goes on a condition and is cut off: the answer could be about its own first
        try. The name says what the bytes are, so then they go without condition, as often as it takes.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, GenericError, NotSupportedError

        byte_count = draft.file.seek(0, 2)
        with self._asking(name, writing=True):
            if byte_count <= WHOLE_BYTES:
                draft.file.seek(0)
                content = draft.file.read()
                try:
                    obstore.put(self.place, name, content, mode="create")
                except (AlreadyExistsError, GenericError, NotSupportedError):
                    obstore.put(self.place, name, content, use_multipart=False)
            else:
                pieces = _pieces(draft.file)
                obstore.put(self.place, name, pieces, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)

    def open(self, name: str) -> Iterator[bytes]:
        """Get an object, in pieces as they come."""
        import obstore

        with self._asking(name):
            for piece in obstore.get(self.place, name).stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(piece)

    def find(self, name: str) -> Entry | None:
        """Ask for an object's head."""
        import obstore

        try:
            with self._asking(name):
                return _entry(obstore.head(self.place, name))
        except EvidenceNotFound:
            return None

    def list(self, folder: str) -> Iterator[Entry]:
        """All objects whose name begins with the folder's."""
        import obstore

        with self._asking(folder):
            for found in obstore.list(self.place, prefix=folder):
                yield from map(_entry, found)

    def remove(self, name: str, *, kept_before: float) -> bool:
        """Look once more and remove."""
        import obstore

        found = self.find(name)
        if found is None or found.kept_at >= kept_before:
            return False
        with self._asking(name, writing=True):
            obstore.delete(self.place, name)
        return True

    def settle(self) -> None:
        """What the server has answered for is so."""

    def sweep(self, *, kept_before: float) -> int:
        """Drafts leave nothing behind."""
        return 0

    @contextmanager
    def _asking(self, name: str, *, writing: bool = False) -> Iterator[None]:
        from obstore.exceptions import BaseError, NotFoundError

        try:
            yield
        except (NotFoundError, FileNotFoundError):
            if writing:  # there is no such bucket
                raise StoreNotWritten(
                    f"the evidence store {self.location} cannot be written: there is no such place",
                    reason="NotFoundError",
                    store=self.location,
                ) from None
            raise EvidenceNotFound(
                f"the store {self.location} holds no {name}", reference=name, store=self.location
            ) from None
        except (BaseError, OSError, ValueError) as problem:
            kind = type(problem).__name__
            if writing:
                raise StoreNotWritten(
                    f"the evidence store {self.location} cannot be written: {_reason(problem)}",
                    reason=kind,
                    store=self.location,
                ) from problem
            raise StoreUnavailable(
                f"{name} in the store {self.location} cannot be read: {_reason(problem)}",
                reason=kind,
                store=self.location,
            ) from problem


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(CHUNK_BYTES):
        yield piece


def _entry(found: Any) -> Entry:
    return Entry(found["path"], found["size"], found["last_modified"].timestamp())


def _reason(problem: Exception) -> str:
    """The first line of what the library says, without what it was doing inside."""
    return str(problem).strip().partition("\n")[0] or type(problem).__name__
