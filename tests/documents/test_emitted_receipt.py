"""Value receipts and indicators of what was emitted instead of the packet."""

import hashlib
import json
from typing import Any

import pytest

from context_firewall import (
    Emitted,
    format_indicator,
    model_evidence_for_packet,
    reduce_test_run,
    render_brief,
    serialize_model_evidence,
    serialize_value_receipt,
    value_receipt_for_packet,
)
from context_firewall.documents.evidence_packet import EvidencePacket

OUTPUT = "TAP version 13\nnot ok 1 - 計る\n  ---\n  message: 'no'\n  ...\n1..1\n# tests 1\n# pass 0\n# fail 1\n"


def packet() -> EvidencePacket:
    """A red run's packet."""
    return reduce_test_run(
        {
            "protocol_version": "opsle.context-firewall.test-run-input/v1",
            "operation_id": "op",
            "source": {"id": "s", "run_id": "r", "raw_evidence_ref": "ref:1"},
            "process": {"exit_code": 1, "duration_ms": None, "interrupted": False},
            "streams": [{"name": "stdout", "data": OUTPUT}],
        }
    )


def emissions() -> list[Emitted]:
    """Both projections of it."""
    made = packet()
    return [
        Emitted("brief", render_brief(made).encode(), 4_000),
        Emitted("model evidence", serialize_model_evidence(model_evidence_for_packet(made))),
    ]


@pytest.mark.parametrize("emitted", emissions(), ids=lambda emitted: emitted.name)
def test_what_is_measured_is_what_was_emitted(emitted: Emitted) -> None:
    receipt = value_receipt_for_packet(packet(), emitted=emitted)
    found: dict[str, Any] = {one["id"]: one for one in receipt["measurements"]}
    raw, visible = len(OUTPUT.encode()), len(emitted.data)
    assert found["raw_bytes"]["result"] == raw
    assert found["initial_model_visible_bytes"]["result"] == visible
    assert found["initial_model_visible_bytes"]["delta"] == visible - raw
    assert found["bytes_initially_avoided"]["baseline"] == visible
    assert found["bytes_initially_avoided"]["delta"] == raw - visible
    assert found["initial_reduction_ratio"]["result"] == f"{raw - visible}/{raw}"
    assert found["payload_ceiling_bytes"]["result"] == emitted.ceiling
    assert emitted.name in found["initial_model_visible_bytes"]["limitations"][0]
    pointers = {one["id"]: one for one in receipt["evidence"]}
    assert pointers[emitted.reference]["locator"] == "sha256:" + hashlib.sha256(emitted.data).hexdigest()
    for one in receipt["measurements"]:
        assert set(one["evidence_refs"]) <= set(pointers)
    assert serialize_value_receipt(receipt) == serialize_value_receipt(
        value_receipt_for_packet(packet(), emitted=emitted)
    )


@pytest.mark.parametrize("emitted", emissions(), ids=lambda emitted: emitted.name)
def test_the_indicator_speaks_of_what_was_emitted(emitted: Emitted) -> None:
    assert f"{len(OUTPUT.encode()):,} B -> {len(emitted.data):,} B |" in format_indicator(packet(), emitted=emitted)


def test_a_brief_that_was_cut_asks_for_the_raw_evidence_although_its_packet_suffices() -> None:
    made = packet()
    whole = render_brief(made)
    grown = json.loads(json.dumps(made))
    grown["decision_evidence"]["failures"][0]["details"][1]["text"] = "  message: " + "no " * 90
    cut = render_brief(grown, max_bytes=len(whole) + 120)
    for text, escalates in ((whole, False), (cut, True)):
        emitted = Emitted("brief", text.encode(), 400)
        found = {one["id"]: one["result"] for one in value_receipt_for_packet(made, emitted=emitted)["measurements"]}
        assert found["escalation_required"] is escalates
        assert format_indicator(made, emitted=emitted).endswith("escalation: yes" if escalates else "escalation: no")


def test_what_is_the_same_for_every_emission() -> None:
    plain = value_receipt_for_packet(packet())
    for emitted in emissions():
        receipt = value_receipt_for_packet(packet(), emitted=emitted)
        assert [one["id"] for one in receipt["measurements"]] == [one["id"] for one in plain["measurements"]]
        for key in ("mechanism", "operation", "run", "schema", "limitations"):
            assert receipt[key] == plain[key]
