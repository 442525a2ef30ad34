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

NO_NEWLINE = "the last line has no newline: cut inside a name or a directive, it would read the same"
BONUS = "a TODO point that passes is a bonus, not a failure (TAP 13 and 14); it stays visible"
EXCUSED = "14: a failing point marked SKIP or TODO must not be a failure; its line stays visible"
NO_SUBTESTS = "a voter that knows no subtests, or no comments before a version or beside a plan; the others agree"
COMMENT = "comments and blank lines may stand anywhere; only a voter that knows fewer places objects"

# case -> why the specification, or the promise never to say green, is against the voters.
ALLOWED: dict[str, str] = {
    "meson-one-test-early-plan": NO_NEWLINE,
    "meson-unexpected": NO_NEWLINE,
    "tap4j-consumer-two-tr": NO_NEWLINE,
    "tp-mismatched-child-assert": "14: the closing point must carry the subtest's name; here it does not, so we ask",
    "tp-subtest-confusing": "a name that ends in a brace over a subtest: two readings fit, so we ask",
    "tp-subtest-mixing": "braces inside a subtest that is named by an indented comment: no producer prints it; we ask",
    "tp-subtest-unfinished": "a subtest without its closing point: what it was part of never ended",
    "tp-subtest-buffer-diags-time": "`# time=` on plain points is vitest's form, which cannot show every error",
    "meson-diagnostics-2": COMMENT,
    "meson-diagnostics-3": COMMENT,
    "node-checker-06": COMMENT,
    "node-checker-08": "1..0 with a comment skips everything, whatever the comment says (14)",
    "node-checker-09": COMMENT,
    "tappy-errors-with-version-not-on-first-line": COMMENT,
    "tp-implicit-counter": COMMENT,
    "tp-junk_before_plan": COMMENT,
    "tp-not-ok-todo": COMMENT,
    "tp-ok": COMMENT,
    "tp-skipall_v13": "1..0 with a comment skips everything, whatever the comment says (14)",
    "perl-todo-inline": BONUS,
    "perlt-aggregator-02": BONUS,
    "perlt-parse-06": BONUS,
    "tp-todo_inline": BONUS,
    "spec14-14-escaping-examples": BONUS,
    "spec14-05-test-point-id": "14: numbers may come in any order as long as each is within the plan",
    "tp-skip-one-fail": EXCUSED,
    "tap4j-ext-junit-runjunittestwithlistener-org-tap4j-ext-junit-runjunittestwithlistener-failingtest": EXCUSED,
    "tap13go-edge-cases-tap13": "text before the version is unclassified: the packet escalates, the points are all ok",
    "tp-pragma-mid-yaml": "a YAML block ends at its own indentation; a pragma's text inside it is content",
    "real-node20-only-tests": NO_SUBTESTS,
    "tp-subtest-buffer": NO_SUBTESTS,
    "tp-subtest-comment-mixed-indent": NO_SUBTESTS,
    "tp-subtest-comment-noindent": NO_SUBTESTS,
    "tp-subtest-stream-comment": NO_SUBTESTS,
}


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
