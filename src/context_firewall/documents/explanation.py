"""`context-firewall.explanation/v1`: what became of every source line, and by which rule.

For people who ask why a run escalates, and for authors of a dialect. The packet that it explains is part of it.
"""

from typing import Literal, NotRequired, TypedDict

from context_firewall.canonical import canonical_bytes
from context_firewall.documents.evidence_packet import EvidencePacket

PROTOCOL = "context-firewall.explanation/v1"

Fate = Literal["kept", "referenced", "suppressed"]
FATES: tuple[Fate, ...] = ("kept", "referenced", "suppressed")


class Span(TypedDict):
    """Adjacent lines of one stream that share kind, fate and rule; `first` and `last` are 1-based line numbers."""

    dialect: str
    """The name of the dialect that read them, or empty for lines outside every stretch."""
    failure: NotRequired[int]
    """The place in the packet's list of failures of the one that these lines belong to, from 0."""
    fate: Fate
    first: int
    kind: str
    last: int
    rule: str
    """The rule that decided, in words."""


class ExplainedStream(TypedDict):
    """One stream: its name, size, number of lines, and spans that cover every line once, in order."""

    byte_count: int
    line_count: int
    name: str
    spans: list[Span]


class Explanation(TypedDict):
    """The whole document."""

    packet: EvidencePacket
    protocol_version: str
    streams: list[ExplainedStream]


def serialize_explanation(explanation: Explanation) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(explanation) + b"\n"


def line_counts(explanation: Explanation) -> dict[tuple[str, Fate], int]:
    """How many lines of each kind met each fate, kinds in alphabetical order, without those that no line has."""
    counts: dict[tuple[str, Fate], int] = {}
    for stream in explanation["streams"]:
        for span in stream["spans"]:
            key = (span["kind"], span["fate"])
            counts[key] = counts.get(key, 0) + span["last"] - span["first"] + 1
    return dict(sorted(counts.items()))
