"""Check the TAP reader against a folder of TAP cases with the votes of other parsers.

    python tests/differential/tap_suite.py DIR [-v]

DIR holds check.py, NAME.tap and NAME.expect.json. A script, not a test: the project's own tests need no such folder.
Exits 1 on any difference that ALLOWED does not argue.
"""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from context_firewall.transcript.dialects.tap import TapMachine
from context_firewall.transcript.dialects.tap_grammar import unescaped
from context_firewall.transcript.lines import bare, decoded

# case -> why the specification, or the promise never to say green, is against the voters.
ALLOWED: dict[str, str] = {}


def parse(data: bytes) -> dict[str, Any]:
    """The facts that the suite compares, from the TAP reader."""
    machine = TapMachine("stdout")
    lines = data.split(b"\n")
    rest = lines.pop()
    for number, raw in enumerate(lines, 1):
        machine.line(bare(raw), raw, number)
    if rest:
        machine.cut()
        machine.line(bare(rest), rest, len(lines) + 1)
    reading = machine.close(None)
    documents = machine.documents
    passed = failed = skipped = todo = 0
    failures = []
    for document in documents:
        harvest = document.root.harvest()
        passed, failed = passed + harvest.counts.top[0], failed + harvest.counts.top[1]
        skipped, todo = skipped + harvest.counts.top[2], todo + harvest.counts.top[3]
        failures += [{"id": draft.number, "name": draft.identity(newlines=False)} for draft in harvest.failures]
        failures += [{"id": draft.number, "name": draft.identity(newlines=False)} for draft in harvest.excused]
    plan = next((document.root.plan for document in documents if document.root.plan is not None), None)
    bailed = [line for document in documents for line in document.bailed]
    return {
        "ok": reading.has_results and not (reading.failures or reading.doubts or bailed or failed),
        "passed": passed,
        "failed": failed,
        "skip": skipped,
        "todo": todo,
        "plan": None if plan is None else [1, plan],
        "bailout": decoded(unescaped(bare(bailed[0].raw).lstrip()[len(b"Bail out!") :].strip())) if bailed else None,
        "failures": failures,
    }


def main(arguments: list[str]) -> int:
    """Run the suite in the folder that the first argument names."""
    folder = Path(arguments[0])
    spec = importlib.util.spec_from_file_location("check", folder / "check.py")
    assert spec is not None
    assert spec.loader is not None
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    bad = check.run(parse, allow=ALLOWED)
    for level, cases in bad.items():
        for name, difference in cases:
            print(f"{level:9} {name}: {difference}")
    return 1 if any(bad[level] for level in ("full", "safety", "lost", "crash")) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
