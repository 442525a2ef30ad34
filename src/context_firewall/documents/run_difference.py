"""`context-firewall.run-difference/v1`: which failures of two runs are new, fixed, or still there.

A failure is recognised by its identity; several of one identity are paired by the text of their regions first, then in
their order. A packet names the tests that failed and no others. So a failure of the earlier run that the later one does
not name is *fixed* only where nothing speaks against it: the same command, no fewer tests, and a later packet that
suffices. Else it is *unseen*, and `doubts` say why.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NotRequired, TypedDict

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.line_places import lines_of, spans_of
from context_firewall.documents.run_record import RecordedVerdict, RunRecord

PROTOCOL = "context-firewall.run-difference/v1"

COMMANDS_DIFFER = "COMMANDS_DIFFER"
EARLIER_NOT_SUFFICIENT = "EARLIER_NOT_SUFFICIENT"
FEWER_TESTS = "FEWER_TESTS"
LATER_NOT_SUFFICIENT = "LATER_NOT_SUFFICIENT"

# How long a test took is in TAP's YAML blocks, and differs from run to run.
_DURATION = re.compile(r"\s*+duration_ms: [0-9.]++\r?")


class Place(TypedDict):
    """Lines of a stream, both included, from 1."""

    first: int
    last: int
    stream: str


class ComparedFailure(TypedDict):
    """A failure: its identity, where it stands in its run, and the digest of its region's details.

    The digest is null where the packet does not show them. Of a failure that is still there, the place is the later
    one, and `text_changed` says whether the digests differ, null where one is missing.
    """

    identity: str
    places: list[Place]
    region_sha256: str | None
    text_changed: NotRequired[bool | None]


class ComparedRun(TypedDict):
    """One of the two runs."""

    command: list[str] | None
    evidence: str
    recorded_at: str
    verdict: RecordedVerdict


class RunDifference(TypedDict):
    """The whole document; `doubts` are codes that say why something may be otherwise than it looks."""

    doubts: list[str]
    earlier: ComparedRun
    fixed: list[ComparedFailure]
    later: ComparedRun
    new: list[ComparedFailure]
    protocol_version: str
    still: list[ComparedFailure]
    unseen: list[ComparedFailure]


class _Failure(NamedTuple):
    identity: str
    region: str | None
    places: tuple[Place, ...]

    def document(self) -> ComparedFailure:
        return {"identity": self.identity, "places": list(self.places), "region_sha256": self.region}


def run_difference(
    earlier: RunRecord, earlier_packet: EvidencePacket, later: RunRecord, later_packet: EvidencePacket
) -> RunDifference:
    """Compare two runs by their records and packets."""
    doubts = []
    if earlier["command"] != later["command"]:
        doubts.append(COMMANDS_DIFFER)
    if later["verdict"]["counts"]["total"] < earlier["verdict"]["counts"]["total"]:
        doubts.append(FEWER_TESTS)
    for code, record in ((EARLIER_NOT_SUFFICIENT, earlier), (LATER_NOT_SUFFICIENT, later)):
        if record["verdict"]["disposition"] != "SUFFICIENT":
            doubts.append(code)
    gone, new, both = _paired(_failures(earlier_packet), _failures(later_packet))
    proven = set(doubts) <= {EARLIER_NOT_SUFFICIENT}
    gone_documents = [failure.document() for failure in gone]
    return {
        "doubts": doubts,
        "earlier": _compared(earlier),
        "fixed": gone_documents if proven else [],
        "later": _compared(later),
        "new": [failure.document() for failure in new],
        "protocol_version": PROTOCOL,
        "still": [_still(before, after) for before, after in both],
        "unseen": [] if proven else gone_documents,
    }


def serialize_run_difference(difference: RunDifference) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(difference) + b"\n"


def _compared(record: RunRecord) -> ComparedRun:
    return {
        "command": record["command"],
        "evidence": record["evidence"],
        "recorded_at": record["recorded_at"],
        "verdict": record["verdict"],
    }


def _still(before: _Failure, after: _Failure) -> ComparedFailure:
    known = before.region is not None and after.region is not None
    return {**after.document(), "text_changed": before.region != after.region if known else None}


def _paired(
    earlier: Sequence[_Failure], later: Sequence[_Failure]
) -> tuple[list[_Failure], list[_Failure], list[tuple[_Failure, _Failure]]]:
    """What only the earlier run has, what only the later one has, and the pairs; each in the order of its run."""
    partner: dict[int, int] = {}
    taken: set[int] = set()
    # First those whose region reads the same, then those that only share the name.
    for key in (lambda one: (one.identity, one.region), lambda one: one.identity):
        waiting: dict[Any, list[int]] = {}
        for at, failure in enumerate(earlier):
            if at not in taken:
                waiting.setdefault(key(failure), []).append(at)
        for at, failure in enumerate(later):
            if at not in partner and waiting.get(key(failure)):
                partner[at] = waiting[key(failure)].pop(0)
                taken.add(partner[at])
    gone = [failure for at, failure in enumerate(earlier) if at not in taken]
    new = [failure for at, failure in enumerate(later) if at not in partner]
    return gone, new, [(earlier[partner[at]], failure) for at, failure in enumerate(later) if at in partner]


def _failures(packet: EvidencePacket) -> list[_Failure]:
    """The failures that a packet names, those that share a region each for itself."""
    found = []
    for failure in packet["decision_evidence"]["failures"]:
        region = _region(failure)
        found.append(_Failure(failure["identity"], region, tuple(_places(lines_of(failure)))))
        for other in failure.get("also", ()):
            stream = failure["header"]["stream"] if "header" in failure else ""
            place: Place = {"first": other["line"], "last": other["line"], "stream": stream}
            found.append(_Failure(other["identity"], region, (place,)))
    return found


def _region(failure: Mapping[str, Any]) -> str | None:
    """The digest of a failure's details, joined by newlines, without lines that only say how long it took."""
    details = failure.get("details")
    if details is None or any("text" not in line for line in details):
        return None
    texts = (line["text"] for line in details)
    return sha256("\n".join(text for text in texts if not _DURATION.fullmatch(text)).encode())


def _places(lines: Iterable[Mapping[str, Any]]) -> list[Place]:
    return [{"first": span["line"], "last": span["last_line"], "stream": span["stream"]} for span in spans_of(lines)]
