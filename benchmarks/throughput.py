"""How fast runs are reduced, as a share of SHA-256 over the same bytes in the same process.

python benchmarks/throughput.py [--mib N] [--only TEXT] [--rounds N] [--json]
"""

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from typing import TypedDict

from shapes import SHAPES, Shape

from context_firewall import SourceStream, reduce_streams

CHUNKS = {"64 KiB": 1 << 16, "256 KiB": 1 << 18, "1 MiB": 1 << 20}
MEGABYTE = 1e6


class Row(TypedDict):
    """One shape's figures; speeds in MB/s (10^6 bytes)."""

    shape: str
    bytes: int
    sha256: float
    reduce: dict[str, float]
    """By the size of the chunks."""
    share: float
    """The slowest of them over SHA-256."""
    target: float
    verdict: str


def pieces(text: bytes, size: int) -> Iterator[bytes]:
    """The text in chunks."""
    for start in range(0, len(text), size):
        yield text[start : start + size]


def best(rounds: int, deed: Callable[[], object]) -> float:
    """Processor seconds of the fastest of several rounds: what else the machine does counts for little."""
    taken = []
    for _ in range(rounds):
        begun = time.process_time()
        deed()
        taken.append(time.process_time() - begun)
    return min(taken)


def measure(shape: Shape, mib: float, rounds: int) -> Row:
    """One shape's row."""
    text = b"".join(shape.pieces(mib))
    verdict = ""

    def reduced(size: int) -> None:
        nonlocal verdict
        packet = reduce_streams(
            [SourceStream("stdout", len(text), pieces(text, size))],
            operation_id="benchmark",
            source_id="shape",
            run_id="1",
            raw_evidence_ref="benchmark:1",
            exit_code=shape.exit_code,
            duration_ms=1.0,
        )
        evidence = packet["decision_evidence"]
        verdict = f"{evidence['status']}, {evidence['disposition']}"

    hashing = best(rounds, lambda: hashlib.sha256(text).digest())
    speeds = {}
    for label, size in CHUNKS.items():
        speeds[label] = len(text) / best(rounds, lambda size=size: reduced(size)) / MEGABYTE  # type: ignore[misc]
    sha256 = len(text) / hashing / MEGABYTE
    return Row(
        shape=shape.name,
        bytes=len(text),
        sha256=sha256,
        reduce=speeds,
        share=min(speeds.values()) / sha256,
        target=shape.target,
        verdict=verdict,
    )


def table_row(row: Row) -> str:
    """A row as text; speeds in MB/s, shares as one over something."""
    speeds = " ".join(f"{speed:8.1f}" for speed in row["reduce"].values())
    target = f"1/{1 / row['target']:.0f}" if row["target"] else "-"
    missed = "  MISSED" if row["share"] < row["target"] else ""
    return (
        f"{row['shape']:24} {row['sha256']:8.0f} {speeds}   1/{1 / row['share']:<6.1f} {target:>5}  "
        f"{row['verdict']}{missed}"
    )


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description="Throughput of reducing, against SHA-256.")
    options.add_argument("--mib", type=float, default=16, help="size of each input (default: 16)")
    options.add_argument("--only", default="", help="only shapes whose name holds this text")
    options.add_argument("--rounds", type=int, default=3, help="of which the fastest counts (default: 3)")
    options.add_argument("--json", action="store_true", help="print rows as JSON")
    given = options.parse_args()
    rows = []
    if not given.json:
        print(f"{'MB/s':24} {'SHA-256':>8} " + " ".join(f"{label:>8}" for label in CHUNKS) + "   share    target")
    for shape in SHAPES:
        if given.only.lower() in shape.name.lower():
            rows.append(measure(shape, given.mib, given.rounds))
            if not given.json:
                print(table_row(rows[-1]), flush=True)
    if given.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
