"""A run as other systems read it: JUnit XML, and the annotations of GitHub Actions.

The texts are made of the packet alone (`documents`); here it is looked up which of the paths in it are files of the
project.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from context_firewall.documents.evidence_packet import EvidencePacket

FORMATS = ("junit", "github")
# Folders of code that others wrote, inside a project.
_FOREIGN = frozenset({"node_modules", "site-packages", "dist-packages", ".venv", ".tox", ".nox", ".git"})


def report(packet: EvidencePacket, form: str) -> bytes:
    """The report of a packet in one of the formats, for the project around the working directory."""
    known = _files_of_project()
    if form == "junit":
        from context_firewall.documents.junit_report import junit_report

        return junit_report(packet, known=known).encode()
    from context_firewall.documents.github_annotations import github_annotations

    return github_annotations(packet, known=known).encode()


def _files_of_project() -> Callable[[str], str | None]:
    """From a path as a run printed it to the file's path from the repository's root, or None if it is none there."""
    from context_firewall.store.places import store_folder

    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed: nothing is in it
        return lambda _path: None
    root = os.path.realpath(os.path.dirname(store_folder(here)))

    @lru_cache(maxsize=4096)
    def known(path: str) -> str | None:
        with suppress(OSError, ValueError):
            file = os.path.realpath(os.path.join(here, path))
            inside = os.path.relpath(file, root)
            inside.encode()  # a name that is not UTF-8 cannot be told
            parts = inside.split(os.sep)
            if parts[0] != os.pardir and _FOREIGN.isdisjoint(parts) and os.path.isfile(file):
                return "/".join(parts)
        return None

    return known
