"""From streams to packets."""

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from context_firewall import (
    InvalidInput,
    PayloadCeilingTooSmall,
    SourceStream,
    reduce_streams,
    reduce_test_run,
    reduce_with_value_receipt,
    serialize_packet,
)
from context_firewall.canonical import canonical_sha256
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.transcript.dialects import flat
from context_firewall.transcript.facts import combined

V2, V3 = "test-output-policy/v2", "test-output-policy/v3"
POLICIES = (V2, V3)

RED = (
    "TAP version 13\nok 1 - fine\nnot ok 2 - broken\n  ---\n  message: 'no'\n  ...\n1..2\n"
    "# tests 2\n# pass 1\n# fail 1\n"
)


def invocation(output: str = RED, exit_code: int | None = 1, **changes: Any) -> dict[str, Any]:
    """An envelope about that output."""
    return {
        "protocol_version": "opsle.context-firewall.test-run-input/v1",
        "operation_id": "op",
        "source": {"id": "suite", "run_id": "run", "raw_evidence_ref": "ref:1"},
        "process": {"exit_code": exit_code, "duration_ms": 10, "interrupted": False},
        "streams": [{"name": "stdout", "data": output}],
        **changes,
    }


def reduced(**options: Any) -> EvidencePacket:
    """The red run, under policy v2 unless another is asked for."""
    return reduce_test_run(invocation(), **{"policy": V2, **options})


@pytest.mark.parametrize("policy", POLICIES)
def test_a_failure_is_kept_whole(policy: str) -> None:
    evidence = reduced(policy=policy)["decision_evidence"]
    assert (evidence["status"], evidence["disposition"]) == ("failed", "SUFFICIENT")
    assert [failure["identity"] for failure in evidence["failures"]] == ["broken"]
    assert evidence["failures"][0]["header"] == {
        "category": "failed_test",
        "line": 3,
        "sha256": "sha256:" + hashlib.sha256(b"not ok 2 - broken").hexdigest(),
        "stream": "stdout",
        "text": "not ok 2 - broken",
    }


@pytest.mark.parametrize("policy", POLICIES)
def test_the_receipt_can_be_checked(policy: str) -> None:
    packet = reduced(policy=policy)
    receipt = packet["receipt"]
    raw = RED.encode()
    framed = b"stdout\0%d\0%b\0" % (len(raw), raw)
    assert receipt["input_hash"] == "sha256:" + hashlib.sha256(framed).hexdigest()
    assert receipt["semantic_payload_hash"] == canonical_sha256(packet["decision_evidence"])
    assert receipt["measurements"]["reduced_bytes"] == len(serialize_packet(packet))
    assert receipt["measurements"]["original_event_count"] == RED.count("\n")
    assert receipt["configuration"]["policy_revision"] == policy
    assert receipt["reducer"] == {"name": "context-firewall/test-output", "version": "0.1.0"}


def test_the_configuration_identity() -> None:
    packet = reduced(max_output_bytes=5000)
    assert packet["receipt"]["configuration"]["identity"] == canonical_sha256(
        {"max_output_bytes": 5000, "policy_revision": V2, "reducer_version": "0.1.0"}
    )
    named = reduced(policy=V3, dialect="tap")["receipt"]["configuration"]["identity"]
    assert named == canonical_sha256(
        {"dialect": "tap", "max_output_bytes": None, "policy_revision": V3, "reducer_version": "0.1.0"}
    )


def test_both_entrances_make_the_same_packet() -> None:
    raw = RED.encode()
    packet = reduce_streams(
        [SourceStream("stdout", len(raw), (raw[i : i + 5] for i in range(0, len(raw), 5)))],
        operation_id="op",
        source_id="suite",
        run_id="run",
        raw_evidence_ref="ref:1",
        exit_code=1,
        duration_ms=10,
        policy=V2,
    )
    assert packet == reduced()


def test_streams_are_read_in_order_and_once() -> None:
    taken: list[str] = []

    def chunks(name: str, data: bytes) -> Iterator[bytes]:
        taken.append(name)
        yield data

    reduce_streams(
        [SourceStream("stderr", 2, chunks("stderr", b"x\n")), SourceStream("stdout", 2, chunks("stdout", b"y\n"))],
        policy=V2,
    )
    assert taken == ["stdout", "stderr"]


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_known_is_told_reason_by_reason(policy: str) -> None:
    packet = reduce_streams([SourceStream("stdout", 0, ())], policy=policy)
    assert {
        "EXIT_STATUS_MISSING",
        "OPERATION_ID_MISSING",
        "RAW_EVIDENCE_REFERENCE_MISSING",
        "SOURCE_IDENTITY_MISSING",
    } <= set(packet["decision_evidence"]["reason_codes"])
    assert packet["decision_evidence"]["status"] == "indeterminate"


def test_the_value_receipt_comes_beside_the_packet() -> None:
    both = reduce_with_value_receipt(invocation(), policy=V2, mechanism_revision="r1")
    assert both["packet"] == reduced()
    assert both["value_receipt"]["mechanism"]["revision"] == "r1"


def test_the_rungs_of_the_ladder() -> None:
    noisy = "ok 1 - a\n" + "".join(f"stray {'x' * 400} {i}\n" for i in range(4)) + "not ok 2 - bad\n  why\n"

    def at(ceiling: int | None) -> EvidencePacket:
        return reduce_test_run(invocation(noisy), max_output_bytes=ceiling, policy=V2)

    full = at(None)
    size = full["receipt"]["measurements"]["reduced_bytes"]
    assert at(size + 8)["decision_evidence"] == full["decision_evidence"]

    referenced = at(size - 1)
    assert "PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT" in referenced["decision_evidence"]["reason_codes"]
    assert all("byte_count" in line for line in referenced["decision_evidence"]["unclassified_evidence"])
    assert referenced["decision_evidence"]["failures"] == full["decision_evidence"]["failures"]
    assert referenced["receipt"]["suppressed"]["categories"]["unclassified"] == 4

    compact = at(referenced["receipt"]["measurements"]["reduced_bytes"] - 1)
    assert compact["decision_evidence"]["failures"] == [{"identity": "bad"}]
    assert "PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED" in compact["decision_evidence"]["reason_codes"]
    assert compact["receipt"]["retained"]["event_count"] == 0

    with pytest.raises(PayloadCeilingTooSmall):
        at(100)


def test_a_refusal_says_everything() -> None:
    with pytest.raises(PayloadCeilingTooSmall) as refusal:
        reduced(max_output_bytes=64)
    document = refusal.value.as_document()
    assert set(document) == {
        "code",
        "disposition",
        "input_hash",
        "max_output_bytes",
        "minimum_safe_packet_bytes",
        "raw_evidence_ref",
        "reason",
    }
    assert document["code"] == document["reason"] == "PAYLOAD_CEILING_TOO_SMALL"
    assert document["raw_evidence_ref"] == "ref:1"


@pytest.mark.parametrize("output", [RED, "ok 1 - only\n1..1\n"])
@pytest.mark.parametrize("asked", [0, 9, 64, 999])
def test_v3_names_a_minimum_that_holds(output: str, asked: int) -> None:
    run = invocation(output, 1 if "not ok" in output else 0)
    with pytest.raises(PayloadCeilingTooSmall) as refusal:
        reduce_test_run(run, max_output_bytes=asked)
    minimum = refusal.value.details["minimum_safe_packet_bytes"]
    assert reduce_test_run(run, max_output_bytes=minimum)["receipt"]["measurements"]["reduced_bytes"] <= minimum
    with pytest.raises(PayloadCeilingTooSmall):
        reduce_test_run(run, max_output_bytes=minimum - 1)


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("policy", {"policy": "test-output-policy/v1"}),
        ("dialect", {"dialect": "tap"}),
        ("dialect", {"policy": V3, "dialect": "klingon"}),
        ("max_output_bytes", {"max_output_bytes": -1}),
        ("max_output_bytes", {"max_output_bytes": 2.5}),
        ("max_output_bytes", {"max_output_bytes": True}),
        ("max_output_bytes", {"max_output_bytes": "900"}),
        ("max_output_bytes", {"max_output_bytes": 2**53}),
    ],
)
def test_options_are_checked(key: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        reduced(**options)
    assert refusal.value.details["key"] == key


@pytest.mark.parametrize(
    ("key", "streams", "options"),
    [
        ("streams", [], {}),
        ("streams.name", [SourceStream("stdin", 0, ())], {}),
        ("streams.name", [SourceStream("stdout", 0, ()), SourceStream("stdout", 0, ())], {}),
        ("streams.stdout", [SourceStream("stdout", 3, (b"ok\n", b"ok\n"))], {}),
        ("streams.stderr", [SourceStream("stderr", 3, (b"ok",))], {}),
        ("exit_code", [SourceStream("stdout", 0, ())], {"exit_code": 300}),
        ("duration_ms", [SourceStream("stdout", 0, ())], {"duration_ms": -1}),
        ("interrupted", [SourceStream("stdout", 0, ())], {"interrupted": "no"}),
        ("run_id", [SourceStream("stdout", 0, ())], {"run_id": 4}),
    ],
)
def test_streams_are_checked(key: str, streams: list[SourceStream], options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        reduce_streams(streams, policy=V2, **options)
    assert refusal.value.details["key"] == key


def test_a_reader_that_leaves_bytes_unread_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flat, "read_flat", lambda streams: combined([]))
    with pytest.raises(AssertionError):
        reduced()


def test_keys_that_only_v3_has_stay_away_when_empty() -> None:
    evidence = reduced(policy=V3)["decision_evidence"]
    assert "todo" not in evidence
    assert "todo" not in evidence["counts"]
