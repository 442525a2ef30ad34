"""`context-firewall.store-statistics/v1`: what became of the bytes of many runs, added up from their value receipts.

Bytes are added; a ratio is the quotient of two sums and never a mean of ratios. A run whose evidence did not suffice
avoided nothing: its raw bytes have to be fetched. Its bytes stand apart, and no share counts them as saved.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from context_firewall.canonical import canonical_bytes
from context_firewall.documents.evidence_manifest import byte_count
from context_firewall.documents.evidence_packet import Status
from context_firewall.documents.test_run_input import flag

PROTOCOL = "context-firewall.store-statistics/v1"

_COUNTS = ("raw_bytes", "initial_model_visible_bytes")


class ByteTotals(TypedDict):
    """Runs, the bytes that they printed, and the bytes that were shown in their place."""

    raw_bytes: int
    runs: int
    visible_bytes: int


class Totals(TypedDict):
    """A group of runs.

    `sufficient` and `escalated` part the runs by whether what was shown sufficed. `bytes_avoided` is raw minus visible
    bytes of the sufficient ones, negative where they grew; `reduction_ratio` is that over their raw bytes as an exact
    fraction, not in lowest terms, or null when they printed nothing. `verdicts` counts runs by status.
    """

    bytes_avoided: int
    escalated: ByteTotals
    reduction_ratio: str | None
    runs: int
    sufficient: ByteTotals
    verdicts: dict[str, int]


class CommandTotals(TypedDict):
    """The runs of one command; null where it is not known."""

    command: list[str] | None
    totals: Totals


class DayTotals(TypedDict):
    """The runs of one day in UTC, such as `2026-11-30`."""

    day: str
    totals: Totals


class StoreStatistics(TypedDict):
    """The whole document; `damaged` are the names in the store of what could not be read and is not counted."""

    commands: list[CommandTotals]
    damaged: list[str]
    days: list[DayTotals]
    protocol_version: str
    totals: Totals


class MeasuredRun(NamedTuple):
    """One run: when, what, how it ended, and what its value receipt measured."""

    recorded_at: str
    command: tuple[str, ...] | None
    status: Status
    escalated: bool
    raw_bytes: int
    visible_bytes: int


def measured(receipt: Any) -> tuple[bool, int, int]:
    """Of a value receipt: whether it escalated, raw bytes, visible bytes. Raises InvalidInput where it lacks them."""
    rows = receipt.get("measurements") if isinstance(receipt, Mapping) else None
    found = {
        row.get("id"): row.get("result") for row in (rows if isinstance(rows, list) else ()) if isinstance(row, Mapping)
    }
    escalated = flag(found.get("escalation_required"), "measurements.escalation_required")
    raw, visible = (byte_count(found.get(name), f"measurements.{name}") for name in _COUNTS)
    return escalated, raw, visible


def store_statistics(runs: Sequence[MeasuredRun], *, damaged: Sequence[str] = ()) -> StoreStatistics:
    """Add up runs: all of them, by command (most raw bytes first) and by day (in order)."""
    commands: dict[tuple[str, ...] | None, list[MeasuredRun]] = {}
    days: dict[str, list[MeasuredRun]] = {}
    for run in runs:
        commands.setdefault(run.command, []).append(run)
        days.setdefault(run.recorded_at[:10], []).append(run)
    by_command = sorted(commands.items(), key=lambda item: (-sum(run.raw_bytes for run in item[1]), item[0] or ()))
    return {
        "commands": [
            {"command": None if command is None else list(command), "totals": _totals(group)}
            for command, group in by_command
        ],
        "damaged": list(damaged),
        "days": [{"day": day, "totals": _totals(group)} for day, group in sorted(days.items())],
        "protocol_version": PROTOCOL,
        "totals": _totals(runs),
    }


def serialize_store_statistics(statistics: StoreStatistics) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(statistics) + b"\n"


def share(totals: Totals) -> str:
    """The reduction of a group's sufficient runs in hundredths of a percent, ties away from zero; "-" for none."""
    raw = totals["sufficient"]["raw_bytes"]
    if not raw:
        return "-"
    avoided = totals["bytes_avoided"]
    # In integers, so that no binary fraction decides a tie.
    hundredths = (20_000 * abs(avoided) + raw) // (2 * raw)
    return f"{'-' if avoided < 0 else ''}{hundredths // 100}.{hundredths % 100:02d}%"


def _totals(runs: Iterable[MeasuredRun]) -> Totals:
    held = list(runs)
    sufficient = _bytes([run for run in held if not run.escalated])
    avoided = sufficient["raw_bytes"] - sufficient["visible_bytes"]
    verdicts = {status: sum(run.status == status for run in held) for status in ("failed", "indeterminate", "passed")}
    return {
        "bytes_avoided": avoided,
        "escalated": _bytes([run for run in held if run.escalated]),
        "reduction_ratio": f"{avoided}/{sufficient['raw_bytes']}" if sufficient["raw_bytes"] else None,
        "runs": len(held),
        "sufficient": sufficient,
        "verdicts": verdicts,
    }


def _bytes(runs: Sequence[MeasuredRun]) -> ByteTotals:
    return {
        "raw_bytes": sum(run.raw_bytes for run in runs),
        "runs": len(runs),
        "visible_bytes": sum(run.visible_bytes for run in runs),
    }
