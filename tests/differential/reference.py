"""Compare policy v2 with a folder of published packets: `python tests/differential/reference.py DIR`.

DIR holds `fixtures/*.input.json` with `.options.json`, `.packet.json` or `.error.json`, `.value-receipt.json`,
`.model-evidence.json` and `.indicator.txt` beside each, and `random.input.ndjson` with `random.expected.ndjson`. For
the comparison alone, packets are signed with the name and version of the reducer that made the published ones, so
that byte counts and digests have to be equal too. Exit status 1 says that something differs.
"""

import json
import sys
from pathlib import Path
from typing import Any

import context_firewall.reduction.assembly as assembly
from context_firewall.documents.evidence_packet import serialize_packet
from context_firewall.documents.model_evidence import model_evidence_for_packet, serialize_model_evidence
from context_firewall.documents.value_receipt import (
    format_indicator,
    serialize_value_receipt,
    value_receipt_for_packet,
)
from context_firewall.errors import ContextFirewallError
from context_firewall.reduction.pipeline import reduce_test_run

POLICY = "test-output-policy/v2"
PUBLISHED_NAME = "@opsle/context-firewall/test-output"
PUBLISHED_VERSION = "0.5.0"


def compare_fixture(stem: Path) -> list[str]:
    """What differs in one fixture."""

    def beside(suffix: str) -> Path:
        return stem.with_name(stem.name + suffix)

    ceiling = json.loads(beside(".options.json").read_bytes())["max_output_bytes"]
    envelope = beside(".input.json").read_bytes()
    try:
        packet = reduce_test_run(envelope, max_output_bytes=ceiling, policy=POLICY)
    except ContextFirewallError as error:
        expected = beside(".error.json")
        if not expected.exists():
            return [f"unexpected {error.code}"]
        return [] if json.loads(expected.read_bytes()) == error.as_document() else ["error"]
    if not beside(".packet.json").exists():
        return ["a packet where an error was expected"]
    made = {
        ".packet.json": serialize_packet(packet),
        ".value-receipt.json": serialize_value_receipt(value_receipt_for_packet(packet)),
        ".model-evidence.json": serialize_model_evidence(model_evidence_for_packet(packet)),
        ".indicator.txt": (format_indicator(packet) + "\n").encode(),
    }
    return [suffix for suffix, data in made.items() if beside(suffix).read_bytes() != data]


def compare_random(given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What differs for one input of the long list."""
    try:
        packet = reduce_test_run(given["input"], max_output_bytes=given["max_output_bytes"], policy=POLICY)
    except ContextFirewallError as error:
        return [] if expected.get("error") == error.as_document() else [f"error: {error.as_document()}"]
    if "error" in expected:
        return ["a packet where an error was expected"]
    evidence, receipt = packet["decision_evidence"], packet["receipt"]
    made = {
        "counts": evidence["counts"],
        "disposition": evidence["disposition"],
        "input_hash": receipt["input_hash"],
        "payload_affected": receipt["payload_limit"]["affected"],
        "reason_codes": evidence["reason_codes"],
        "retained": receipt["retained"],
        "semantic_payload_hash": receipt["semantic_payload_hash"],
        "status": evidence["status"],
        "suppressed": receipt["suppressed"],
    }
    return [key for key, value in made.items() if expected[key] != value]


def main(folder: Path) -> int:
    """Print what differs and how much is equal; 0 when all of it is."""
    vars(assembly).update(REDUCER_NAME=PUBLISHED_NAME, __version__=PUBLISHED_VERSION)
    outcomes: list[tuple[str, list[str]]] = []
    for path in sorted((folder / "fixtures").glob("*.input.json")):
        stem = path.with_name(path.name.removesuffix(".input.json"))
        outcomes.append((stem.name, compare_fixture(stem)))
    fixtures = len(outcomes)
    given = (folder / "random.input.ndjson").read_bytes().splitlines()
    wanted = (folder / "random.expected.ndjson").read_bytes().splitlines()
    for case, expected in zip(map(json.loads, given), map(json.loads, wanted), strict=True):
        outcomes.append((f"random {case['id']}", compare_random(case, expected)))
    for name, differences in outcomes:
        if differences:
            print(f"{name}: {', '.join(differences)}")
    equal = [not differences for _, differences in outcomes]
    print(f"fixtures: {sum(equal[:fixtures])} of {fixtures} equal")
    print(f"random: {sum(equal[fixtures:])} of {len(outcomes) - fixtures} equal")
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
