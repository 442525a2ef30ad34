"""A run's bytes from the moment they arrive: shown, spooled for the reduction, and kept by the store.

The store is written while the run goes on, so that little is left to do at its end; the reduction reads from the spool,
which needs no store. What fails here is noted and stops nothing: the command runs on, and its verdict comes out of
what is left.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from context_firewall import SourceStream
from context_firewall.cli.sources import Spool
from context_firewall.errors import ContextFirewallError, OutputNotWritten

if TYPE_CHECKING:
    from context_firewall.documents.evidence_manifest import EvidenceManifest
    from context_firewall.store.evidence import EvidenceStore, ObjectWriter, StoredObject

WORDS = {"stdout": "standard output", "stderr": "standard error"}


class Capture:
    """The streams of one run. A context manager: what is not kept in the store is gone after it."""

    def __init__(
        self, names: Sequence[str], store: "EvidenceStore | None", show: Callable[[str, bytes], None] | None
    ) -> None:
        self.store = store
        """Where the run is kept; None without a store, and from the first failure of the store on."""
        self.not_kept: ContextFirewallError | None = None
        """Why the store has nothing of this run, or not all."""
        self._show = show
        self._spools = {name: Spool(f"the command's {WORDS[name]}", stream=name) for name in names}
        self._unspooled: dict[str, OutputNotWritten] = {}
        self._writers: dict[str, ObjectWriter] = {}
        self._stored: dict[str, StoredObject] = {}
        self._resources = ExitStack()
        for spool in self._spools.values():
            self._resources.callback(spool.close)
        with self.storing() as kept:
            if kept is not None:
                self._writers = {name: self._resources.enter_context(kept.writer()) for name in names}

    def __enter__(self) -> "Capture":
        return self

    def __exit__(self, *_exception: object) -> None:
        self._resources.close()

    @contextmanager
    def storing(self) -> "Iterator[EvidenceStore | None]":
        """The store, or None; a failure of it inside is noted, and the store is done with."""
        try:
            yield self.store
        except ContextFirewallError as problem:
            self.not_kept = problem
            self.store = None

    def take(self, name: str, chunk: bytes) -> None:
        """Take the next chunk of a stream."""
        if name not in self._unspooled:
            try:
                self._spools[name].write(chunk)
            except OutputNotWritten as problem:
                self._unspooled[name] = problem
                self._spools[name].close()
        if self.store is not None:
            with self.storing():
                self._writers[name].write(chunk)
        if self._show is not None:
            self._show(name, chunk)

    def put(self, manifest_of: "Callable[[dict[str, StoredObject]], EvidenceManifest]") -> "EvidenceManifest | None":
        """Put objects and manifest into the store; None if they are not there."""
        with self.storing() as kept:
            if kept is not None:
                self._stored = {name: writer.finish() for name, writer in self._writers.items()}
                manifest = manifest_of(self._stored)
                kept.put_manifest(manifest)
                return manifest
        return None

    def streams(self) -> list[SourceStream]:
        """What was printed, to be read once. Raises OutputNotWritten when neither spool nor store has all of it."""
        return [self._stream(name) for name in self._spools]

    def _stream(self, name: str) -> SourceStream:
        if name not in self._unspooled:
            return SourceStream(name, self._spools[name].byte_count, self._spools[name].chunks())
        if name not in self._stored:
            raise self._unspooled[name]
        return SourceStream(name, self._stored[name].byte_count, self._writers[name].chunks())
