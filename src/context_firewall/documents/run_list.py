"""`context-firewall.run-list/v1`: the runs that a store holds, newest first, as their records have them."""

from collections.abc import Sequence
from typing import TypedDict

from context_firewall.canonical import canonical_bytes
from context_firewall.documents.run_record import RunRecord

PROTOCOL = "context-firewall.run-list/v1"


class RunList(TypedDict):
    """The whole document.

    `damaged` are the names in the store of records that cannot be read; `more` says that older runs were not looked at.
    """

    damaged: list[str]
    more: bool
    protocol_version: str
    runs: list[RunRecord]


def run_list(runs: Sequence[RunRecord], *, damaged: Sequence[str], more: bool) -> RunList:
    """The document of these runs."""
    return {"damaged": list(damaged), "more": more, "protocol_version": PROTOCOL, "runs": list(runs)}


def serialize_run_list(document: RunList) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(document) + b"\n"
