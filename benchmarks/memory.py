"""Peak memory of `context-firewall reduce`: over a large raw run, from a file and from a pipe, and over text.

    python benchmarks/memory.py [--mib N] [--noise N] [--directory DIR] [--json]

The run (green TAP) and the text (lines that no grammar knows, so that all are kept) are written on the fly and removed
afterwards. Each command is the only child of a process of its own, so that what the operating system says of children
is said of it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TypedDict

from shapes import noise, tap_green

LIMIT_MIB = 100
COMMAND = ["reduce", "--exit-code", "0", "--operation-id", "benchmark", "--source-id", "shape", "--run-id", "1"]

# Runs the command with this process' standard input, and prints what it took. ru_maxrss counts KiB, on macOS bytes.
WATCH = """
import json, resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "context_firewall", *sys.argv[1:]], stdout=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
seen = json.loads(done.stdout)["decision_evidence"]
print(json.dumps([done.returncode, peak, used.ru_utime + used.ru_stime, seen["status"], seen["counts"]["total"]]))
"""


class Row(TypedDict):
    """What one way of handing the run over took."""

    input: str
    bytes: int
    peak_mib: float
    seconds: float
    cpu_seconds: float
    verdict: str


def measure(label: str, byte_count: int, options: list[str], pieces: float | None) -> Row:
    """Run the command; `pieces` is the size of the run to write into its standard input."""
    begun = time.perf_counter()
    watched = subprocess.Popen(
        [sys.executable, "-c", WATCH, *COMMAND, "--raw-ref", "benchmark:1", *options],
        stdin=subprocess.DEVNULL if pieces is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if watched.stdin is not None and pieces is not None:
        for piece in tap_green(pieces):
            watched.stdin.write(piece)
        watched.stdin.close()
    assert watched.stdout is not None
    status, peak, cpu, verdict, total = json.loads(watched.stdout.read())
    assert watched.wait() == 0
    assert status == 0
    return Row(
        input=label,
        bytes=byte_count,
        peak_mib=peak / (1 << 20),
        seconds=time.perf_counter() - begun,
        cpu_seconds=cpu,
        verdict=f"{verdict}, {total} tests",
    )


def main() -> None:
    """Measure both ways and print."""
    options = argparse.ArgumentParser(description="Peak memory of reducing a large run.")
    options.add_argument("--mib", type=float, default=1024, help="size of the run (default: 1024)")
    options.add_argument("--noise", type=float, default=16, help="size of the text that is kept (default: 16)")
    options.add_argument("--directory", default=None, help="where the file is written (default: for temporary files)")
    options.add_argument("--json", action="store_true", help="print rows as JSON")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.directory) as folder:
        path = Path(folder, "run.tap")
        with path.open("wb") as file:
            file.writelines(tap_green(given.mib))
        size = os.path.getsize(path)
        rows = [measure("file", size, ["--input", str(path)], None)]
    rows.append(measure("pipe", size, [], given.mib))
    with tempfile.TemporaryDirectory(dir=given.directory) as folder:
        path = Path(folder, "noise.txt")
        with path.open("wb") as file:
            file.writelines(noise(given.noise))
        kept = ["--input", str(path)]
        rows.append(measure("text", os.path.getsize(path), kept, None))
        rows.append(measure("text, 6 kB", os.path.getsize(path), [*kept, "--max-bytes", "6000"], None))
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'input':10} {'MiB':>7} {'peak MiB':>9} {'seconds':>8} {'CPU s':>7}")
    for row in rows:
        # What is kept has to be somewhere; what is counted has not.
        missed = "  MISSED" if row["peak_mib"] > LIMIT_MIB and not row["input"].startswith("text") else ""
        print(
            f"{row['input']:10} {row['bytes'] / (1 << 20):7.0f} {row['peak_mib']:9.1f} {row['seconds']:8.1f} "
            f"{row['cpu_seconds']:7.1f}  {row['verdict']}{missed}"
        )


if __name__ == "__main__":
    main()
