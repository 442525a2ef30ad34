"""Packets of every sort for the tests of verification: both policies, every rung, each with the run that it is of."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from context_firewall import PayloadCeilingTooSmall, reduce_test_run, serialize_packet
from context_firewall.documents.evidence_packet import EvidencePacket

V2, V3 = "test-output-policy/v2", "test-output-policy/v3"

TWIN = "  ---\n  message: 'the gate stays shut'\n  at: gate.js:4:2\n  ...\n"
V3_OUTPUT = (
    "TAP version 13\n"
    "ok 1 - opens\n"
    f"not ok 2 - shuts\n{TWIN}"
    f"not ok 3 - shuts twice\n{TWIN}"
    "a line from nowhere, and \U0001f6aa\nanother one\n"
    "ok 4 - is painted # SKIP no paint\n"
    "WARNING: the hinge is loose\n"
    "not ok 5 - rings # TODO no bell\n"
    "not ok 6 - is locked by a key that nobody has seen since the old house was sold\n"
    "  ---\n  message: 'no key'\n  ...\n"
    "1..6\n# tests 6\n# pass 1\n# fail 3\n# skip 1\n# todo 1\n"
)
V2_OUTPUT = (
    "TAP version 13\nok 1 - opens\nnot ok 2 - shuts\n  message: 'no'\n    at gate.js:4:2\n1..2\n"
    "# tests 2\n# pass 1\n# fail 1\n# skipped 0\n"
)
CROWD = "TAP version 13\n"
for number in range(1, 6):
    CROWD += f"not ok {number} - {f'gate {number} ' * 12}\n  ---\n  message: '{number}'\n  ...\n"
CROWD += "1..5\n"
NOISE = "listening on 8080\nWARNING: slow disk\nclosed\n"
GREEN = "TAP version 13\nok 1 - opens\n1..1\n# tests 1\n# pass 1\n# fail 0\n"

# A failure with lines in both streams, the first of them far before its header.
FERRY = (
    "\n RUN  v4.1.12 /srv/ferry\n\nstdout | quay.test.ts > leaks\n"
    + "".join(f"bucket {number} of thirty is full\n" for number in range(1, 31))
    + "\n ❯ quay.test.ts (2 tests | 2 failed) 7ms\n     × casts off 1ms\n     × leaks 3ms\n\n"
    " Test Files  1 failed (1)\n      Tests  2 failed (2)\n   Start at  09:12:44\n"
    "   Duration  212ms (transform 9ms, setup 0ms, import 20ms, tests 12ms)\n\n"
)
RULE = "⎯" * 7
FERRY_ERRORS = f"\n{RULE} Failed Tests 2 {RULE}\n\n" + "".join(
    f" FAIL  quay.test.ts > {name}\nAssertionError: expected {number} to be 4\n ❯ quay.test.ts:{number}:12\n\n"
    f"{'⎯' * 24}[{number}/2]⎯\n\n"
    for number, name in ((1, "casts off"), (2, "leaks"))
)


@dataclass(frozen=True, slots=True)
class Case:
    """A packet and the envelope that it was made of."""

    name: str
    envelope: dict[str, Any]
    packet: EvidencePacket

    @property
    def canonical(self) -> bytes:
        """The packet as it leaves the command line."""
        return serialize_packet(self.packet)

    @property
    def streams(self) -> dict[str, bytes]:
        """The raw bytes."""
        return {stream["name"]: stream["data"].encode() for stream in self.envelope["streams"]}

    def copy(self) -> dict[str, Any]:
        """The packet, to be changed."""
        copied: dict[str, Any] = json.loads(self.canonical)
        return copied


def envelope(stdout: str, stderr: str | None = None, exit_code: int | None = 1, **changes: Any) -> dict[str, Any]:
    """A run in its envelope."""
    streams = [{"name": "stdout", "data": stdout}]
    if stderr is not None:
        streams.append({"name": "stderr", "data": stderr})
    return {
        "protocol_version": "opsle.context-firewall.test-run-input/v1",
        "operation_id": "op-7",
        "source": {"id": "gates", "run_id": "run-9", "raw_evidence_ref": "file:gates.tap"},
        "process": {"exit_code": exit_code, "duration_ms": 12.5, "interrupted": False},
        "streams": streams,
        **changes,
    }


def rung_of(packet: EvidencePacket) -> str:
    """What tells one rung's packet from another's: the ceiling's reason, and the forms of evidence."""
    evidence = packet["decision_evidence"]
    cost = [reason for reason in evidence["reason_codes"] if reason.startswith("PAYLOAD_LIMIT")]
    forms = [
        "block" if any("line_count" in line for line in evidence["unclassified_evidence"]) else "",
        "scattered" if any("last_line" in line for line in evidence["unclassified_evidence"]) else "",
        "todo" if any("text" in line for line in evidence.get("todo", [])) else "",
        "whole" if any("details" in failure for failure in evidence["failures"]) else "",
        "also" if any("also" in failure for failure in evidence["failures"]) else "",
    ]
    return "+".join(filter(None, (*cost, *forms)))


def _every_rung(name: str, run: dict[str, Any], policy: str) -> list[Case]:
    """One packet a rung, found by lowering the ceiling."""
    found: dict[str, Case] = {}
    whole = reduce_test_run(run, policy=policy)
    found[rung_of(whole)] = Case(f"{name}-full", run, whole)
    ceiling = len(serialize_packet(whole)) + 40
    while True:
        try:
            packet = reduce_test_run(run, policy=policy, max_output_bytes=ceiling)
        except PayloadCeilingTooSmall:
            return list(found.values())
        found.setdefault(rung_of(packet), Case(f"{name}-{ceiling}", run, packet))
        ceiling = min(ceiling - 40, len(serialize_packet(packet)) - 1)


@cache
def cases() -> tuple[Case, ...]:
    """All of them."""
    nobody = envelope(GREEN, exit_code=None, operation_id=None, source=None)
    scattered = NOISE + "  at: nowhere\n" + NOISE
    ferry = _every_rung("v3-ferry", envelope(FERRY, FERRY_ERRORS), V3)
    crowd = _every_rung("v3-crowd", envelope(CROWD), V3)
    return (
        *(case for case in crowd if "CRITICAL" in rung_of(case.packet) or "NAMES" in rung_of(case.packet)),
        *(case for case in ferry if "REGIONS" in rung_of(case.packet)),
        *_every_rung("v3", envelope(V3_OUTPUT, scattered), V3),
        *_every_rung("v2", envelope(V2_OUTPUT, NOISE + "and so on " * 30), V2),
        Case("v3-green", envelope(GREEN, exit_code=0), reduce_test_run(envelope(GREEN, exit_code=0))),
        Case("v3-nobody", nobody, reduce_test_run(nobody)),
    )
