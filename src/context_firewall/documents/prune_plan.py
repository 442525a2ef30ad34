"""`context-firewall.prune-plan/v1`: which runs and compactions a store gives up, and why; whether it has done so."""

from typing import Literal, TypedDict

from context_firewall.canonical import canonical_bytes
from context_firewall.documents.run_record import RecordedVerdict

PROTOCOL = "context-firewall.prune-plan/v1"


class PrunedRun(TypedDict):
    """A run that goes, and the limit that it is beyond."""

    command: list[str] | None
    evidence: str
    recorded_at: str
    verdict: RecordedVerdict
    why: Literal["BEYOND_LAST", "TOO_OLD", "OVER_SIZE"]


class PrunedCompaction(TypedDict):
    """A compaction that goes: the digests of its record and of the view before it, and the limit."""

    record: str
    recorded_at: str
    view: str
    why: Literal["BEYOND_LAST", "TOO_OLD", "OVER_SIZE"]


class PrunePlan(TypedDict):
    """The whole document. Bytes and files are those at rest.

    `done` says whether anything was removed; `files` how many go, of which nothing names `leftover_files`; `young_runs`
    and `young_compactions` are beyond a limit and stay because they are young.
    """

    compactions: list[PrunedCompaction]
    done: bool
    files: int
    freed_bytes: int
    kept_bytes: int
    kept_compactions: int
    kept_runs: int
    leftover_files: int
    protocol_version: str
    pruned: list[PrunedRun]
    young_compactions: int
    young_runs: int


def serialize_prune_plan(plan: PrunePlan) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(plan) + b"\n"
