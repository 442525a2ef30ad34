"""How long `context-firewall reduce` takes on a small run, over a bare interpreter's start, and a hook's answer in all.

python benchmarks/startup.py [--rounds N] [--imports] [--json]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_MS = 80
HOOK_LIMIT_MS = 150
SMALL = b"TAP version 13\nok 1 - adds\nnot ok 2 - rounds\n  ---\n  message: off by one\n  ...\n1..2\n"
# As installed: with compiled modules beside the sources, which the first start writes.
ENVIRONMENT = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT["PYTHONPATH"] = str(Path(__file__).resolve().parents[1] / "src")
# A directory of no project, so that no configuration is read.
NOWHERE = tempfile.gettempdir()
REDUCE = ["-m", "context_firewall", "reduce", "--exit-code", "1"]
HOOK = ["-m", "context_firewall", "hook", "claude-code"]
EVENT = (
    b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/",'
    b' "tool_input": {"command": "cd web && npm test 2>&1", "timeout": 120000}}'
)


def milliseconds(arguments: list[str], given: bytes = SMALL) -> float:
    """One start of the interpreter, with the small run, or what is given, on its standard input."""
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], input=given, capture_output=True, check=True, env=ENVIRONMENT, cwd=NOWHERE
    )
    return (time.perf_counter() - begun) * 1000


def slowest_imports(count: int) -> list[tuple[float, str]]:
    """The modules that take longest to import, without what they import themselves; in milliseconds."""
    command = [sys.executable, "-X", "importtime", *REDUCE]
    run = subprocess.run(command, input=SMALL, capture_output=True, check=True, env=ENVIRONMENT, cwd=NOWHERE)
    found = []
    for line in run.stderr.decode().splitlines():
        parts = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and parts[0].strip().isdigit():
            found.append((int(parts[0]) / 1000, parts[2].strip()))
    return sorted(found, reverse=True)[:count]


def main() -> None:
    """Measure in turns, so that all see the same machine, and print."""
    options = argparse.ArgumentParser(description="Start-up of reduce on a small run.")
    options.add_argument("--rounds", type=int, default=20, help="starts of each, of which the median counts")
    options.add_argument("--imports", action="store_true", help="also print the slowest imports")
    options.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = options.parse_args()
    milliseconds(REDUCE)
    bare, ours, hooks = [], [], []
    for _ in range(given.rounds):
        bare.append(milliseconds(["-c", "pass"]))
        ours.append(milliseconds(REDUCE))
        hooks.append(milliseconds(HOOK, EVENT))
    one, other, hook = map(statistics.median, (bare, ours, hooks))
    imports = slowest_imports(15) if given.imports or given.json else []
    if given.json:
        figures = {"bare_ms": one, "reduce_ms": other, "over_ms": other - one, "hook_ms": hook}
        print(json.dumps({**figures, "imports_ms": imports}, indent=1))
        return
    missed = "  MISSED" if other - one > LIMIT_MS else ""
    print(f"bare {one:.1f} ms, reduce {other:.1f} ms, {other - one:.1f} ms over (reach: {LIMIT_MS}){missed}")
    print(f"hook {hook:.1f} ms in all, slowest {max(hooks):.1f} ms (reach: {HOOK_LIMIT_MS})")
    for took, name in imports:
        print(f"{took:8.2f} ms  {name}")


if __name__ == "__main__":
    main()
