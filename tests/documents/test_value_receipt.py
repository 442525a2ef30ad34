"""The value receipt's fixed shape, and the indicator's arithmetic."""

import copy
from typing import Any

import pytest

from context_firewall import (
    InvalidInput,
    format_indicator,
    model_evidence_for_packet,
    reduce_test_run,
    serialize_model_evidence,
    serialize_value_receipt,
    value_receipt_for_packet,
)
from context_firewall.documents.evidence_packet import EvidencePacket

V2 = "test-output-policy/v2"


def packet(output: str = "ok 1 - a\n", *, ceiling: int | None = None, **source: Any) -> EvidencePacket:
    """A packet under policy v2."""
    return reduce_test_run(
        {
            "protocol_version": "opsle.context-firewall.test-run-input/v1",
            "operation_id": "op",
            "source": {"id": "s", "run_id": "r", "raw_evidence_ref": "ref:1", **source},
            "process": {"exit_code": 0, "duration_ms": None, "interrupted": False},
            "streams": [{"name": "stdout", "data": output}],
        },
        max_output_bytes=ceiling,
        policy=V2,
    )


def sized(before: int, after: int) -> EvidencePacket:
    """A packet that claims these byte counts."""
    made = copy.deepcopy(packet())
    made["receipt"]["measurements"]["original_bytes"] = before
    made["receipt"]["measurements"]["reduced_bytes"] = after
    return made


def measured(made: EvidencePacket, **options: Any) -> dict[str, Any]:
    """Results by name."""
    return {m["id"]: m["result"] for m in value_receipt_for_packet(made, **options)["measurements"]}


def test_eleven_measurements_in_order() -> None:
    assert list(measured(packet())) == [
        "raw_bytes",
        "initial_model_visible_bytes",
        "bytes_initially_avoided",
        "initial_reduction_ratio",
        "original_evidence_events",
        "retained_evidence_events",
        "suppressed_evidence_events",
        "ambiguous_evidence_events",
        "payload_ceiling_bytes",
        "escalation_required",
        "raw_locator_available",
    ]


def test_the_ratio_is_exact_and_signed() -> None:
    assert measured(sized(132, 2061))["initial_reduction_ratio"] == "-1929/132"
    assert measured(sized(4000, 1000))["initial_reduction_ratio"] == "3000/4000"
    assert measured(sized(0, 1000))["initial_reduction_ratio"] is None


def test_deltas_have_opposite_signs() -> None:
    found = {m["id"]: m for m in value_receipt_for_packet(sized(100, 30))["measurements"]}
    assert found["initial_model_visible_bytes"]["delta"] == -70
    assert found["bytes_initially_avoided"]["delta"] == 70


def test_a_missing_locator_is_said_to_be_missing() -> None:
    made = value_receipt_for_packet(packet(raw_evidence_ref=None))
    assert [e["id"] for e in made["evidence"]] == [
        "canonical_packet",
        "configuration",
        "input_bytes",
        "semantic_payload",
    ]
    assert made["limitations"][-1] == "No raw evidence locator was supplied."
    assert made["measurements"][-1]["result"] is False
    assert made["measurements"][-1]["source_verification"] == "OBSERVED"


def test_the_revision_is_the_callers_word() -> None:
    assert value_receipt_for_packet(packet())["mechanism"]["revision"] is None
    made = value_receipt_for_packet(packet(), mechanism_revision="abc123")
    assert made["mechanism"]["revision"] == "abc123"
    assert not any("not supplied" in sentence for sentence in made["limitations"])
    with pytest.raises(InvalidInput):
        value_receipt_for_packet(packet(), mechanism_revision=7)  # type: ignore[arg-type]


@pytest.mark.parametrize("ceiling", [None, 2500])
def test_ambiguous_lines_are_counted_shown_or_not(ceiling: int | None) -> None:
    made = packet("ok 1 - a\nstray text\nmore of it " + "x" * 900 + "\n", ceiling=ceiling)
    assert made["receipt"]["payload_limit"]["affected"] is (ceiling is not None)
    assert measured(made)["ambiguous_evidence_events"] == 2


def test_serialised_documents_end_with_one_newline() -> None:
    for data in (
        serialize_value_receipt(value_receipt_for_packet(packet())),
        serialize_model_evidence(model_evidence_for_packet(packet())),
    ):
        assert data.endswith(b"}\n")
        assert data.count(b"\n") == 1


def test_model_evidence_is_the_evidence_itself() -> None:
    made = packet()
    assert model_evidence_for_packet(made)["decision_evidence"] == made["decision_evidence"]
    made["operation_id"] = None
    with pytest.raises(InvalidInput) as refusal:
        model_evidence_for_packet(made)
    assert refusal.value.details["key"] == "operation_id"


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (28_981, 1_846, "28,981 B -> 1,846 B | 27,135 B initially avoided (93.63%)"),
        (1024, 992, "1,024 B -> 992 B | 32 B initially avoided (3.13%)"),
        (239, 2776, "239 B -> 2,776 B | 2,537 B expansion"),
        (10, 10, "10 B -> 10 B | 0 B initially avoided (0.00%)"),
        (200_000, 199_999, "200,000 B -> 199,999 B | 1 B initially avoided (0.00%)"),
        (20_000, 19_999, "20,000 B -> 19,999 B | 1 B initially avoided (0.01%)"),
        (0, 0, "0 B -> 0 B | 0 B initially avoided (0.00%)"),
    ],
)
def test_the_indicator(before: int, after: int, change: str) -> None:
    assert format_indicator(sized(before, after)) == f"[Context Firewall] {change} | escalation: no"


def test_the_indicator_says_when_to_escalate() -> None:
    assert format_indicator(packet(id="")).endswith("| escalation: yes")
