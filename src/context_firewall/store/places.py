"""Which store is meant: a path, a URL, or the folder `.context-firewall` of the repository."""

import os
import re

from context_firewall.errors import InvalidInput
from context_firewall.store.evidence import EvidenceStore
from context_firewall.store.folder import Folder
from context_firewall.store.shelf import Shelf

FOLDER = ".context-firewall"
REPOSITORY = ".git"
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def open_store(location: str | None, *, folder: str) -> EvidenceStore:
    """The store at a path or URL, or without one the store that belongs to a folder (an absolute path).

    Nothing is read or made by this. URLs are `s3://`, `gs://`, `az://` and `memory://`, which need the extra `[cloud]`,
    and `file://`. Raises InvalidInput for a location that cannot be one, StoreUnavailable without the extra.
    """
    return EvidenceStore(_shelf(location, folder))


def _shelf(location: str | None, folder: str) -> Shelf:
    if location is None:
        return Folder(store_folder(folder))
    if not location or "\0" in location:
        raise InvalidInput("a store must be a path or a URL", key="store")
    url = _URL.match(location)
    if url is None:
        return Folder(os.path.abspath(os.path.join(folder, location)))
    if url[1].lower() == "file":
        from urllib.parse import unquote

        path = unquote(location[len("file://") :])
        if not path.startswith("/"):
            raise InvalidInput("a file:// URL must have an absolute path and no host", key="store")
        return Folder(os.path.abspath(path))
    from context_firewall.store.bucket import open_bucket

    return open_bucket(location)


def store_folder(folder: str) -> str:
    """The store of a folder: that of the repository around it; without one, the nearest that exists; else its own."""
    nearest = None
    above = folder
    while True:
        if nearest is None and os.path.isdir(os.path.join(above, FOLDER)):
            nearest = above
        if os.path.exists(os.path.join(above, REPOSITORY)):
            return os.path.join(above, FOLDER)
        parent = os.path.dirname(above)
        if parent == above:
            return os.path.join(nearest or folder, FOLDER)
        above = parent
