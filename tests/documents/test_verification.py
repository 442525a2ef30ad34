"""Verification of a packet: nothing true is doubted, and what is changed is found and named."""

import json
from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest
from verified_packets import V2, V2_OUTPUT, V3, Case, cases, envelope, rung_of

from context_firewall import (
    InvalidInput,
    SourceStream,
    model_evidence_for_packet,
    reduce_test_run,
    render_brief,
    serialize_model_evidence,
    serialize_packet,
    serialize_value_receipt,
    value_receipt_for_packet,
    verify_brief,
    verify_model_evidence,
    verify_packet,
    verify_value_receipt,
)
from context_firewall.canonical import canonical_bytes, canonical_sha256
from context_firewall.documents.value_receipt import Emitted
from context_firewall.documents.verification import shape
from context_firewall.documents.verification.findings import path_at
from context_firewall.reduction import pipeline
from context_firewall.reduction.verdict import Reason
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.version import REDUCER_NAME

CASES = cases()
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def fields(findings: Any) -> list[str]:
    """Where something was found."""
    return [finding["field"] for finding in findings]


def sealed(packet: dict[str, Any]) -> dict[str, Any]:
    """A changed packet with its digest of the evidence and its length made right, as a forger would."""
    packet["receipt"]["semantic_payload_hash"] = canonical_sha256(packet["decision_evidence"])
    for _ in range(3):
        packet["receipt"]["measurements"]["reduced_bytes"] = len(canonical_bytes(packet)) + 1
    return packet


def case_with(part: str) -> Case:
    """The first case whose rung has that part."""
    return next(case for case in CASES if part in rung_of(case.packet) and case.name.startswith("v3"))


# -- the tables


def test_the_closed_sets_are_those_of_the_reducer() -> None:
    assert shape.KINDS[V3] == {kind.value for kind in Kind}
    assert shape.REASONS[V3] == {reason.value for reason in (*Doubt, *Reason)}
    assert set(shape.POLICIES) == {policy.revision for policy in pipeline.POLICIES}
    assert REDUCER_NAME in shape.REDUCERS


def test_the_cases_are_of_every_sort() -> None:
    rungs = {rung_of(case.packet) for case in CASES}
    reasons = {code for case in CASES for code in case.packet["decision_evidence"]["reason_codes"]}
    assert reasons >= set(shape.LIMIT_REASONS[V3])
    for part in ("block", "scattered", "todo", "whole", "also"):
        assert any(part in rung for rung in rungs), part
    assert any("omitted_failures" in case.packet["decision_evidence"] for case in CASES)
    assert sum(case.name.startswith("v2") for case in CASES) == 3


# -- what is true


@EACH
def test_a_true_packet_is_verified(case: Case) -> None:
    assert verify_packet(case.canonical) == []
    assert verify_packet(case.canonical.decode()) == []
    assert verify_packet(case.packet) == []
    assert verify_packet(case.canonical, streams=case.streams) == []
    assert verify_packet(case.canonical, envelope=case.envelope) == []
    pieces = [SourceStream(name, len(raw), (raw[:9], raw[9:])) for name, raw in case.streams.items()]
    assert verify_packet(case.canonical, streams=pieces) == []


def test_a_dialect_that_was_named_is_found_by_its_identity() -> None:
    run = envelope(V2_OUTPUT)
    packet = reduce_test_run(run, dialect="tap")
    assert verify_packet(serialize_packet(packet), envelope=run) == []


def test_a_stream_that_v2_could_not_read() -> None:
    run = envelope(V2_OUTPUT)
    run["streams"].append({"name": "stderr", "encoding": "base64", "data": "Zm9v/wo="})
    packet = reduce_test_run(run, policy=V2)
    assert verify_packet(serialize_packet(packet), envelope=run) == []
    changed = json.loads(serialize_packet(packet))
    changed["decision_evidence"]["unclassified_evidence"][0]["line"] = 2
    assert "decision_evidence.unclassified_evidence.0" in fields(verify_packet(changed, envelope=run))


def test_a_published_reducers_packet_is_replayed() -> None:
    run = envelope(V2_OUTPUT)
    packet: dict[str, Any] = json.loads(serialize_packet(reduce_test_run(run, policy=V2)))
    packet["receipt"]["reducer"] = {"name": "@opsle/context-firewall/test-output", "version": "0.5.0"}
    packet["receipt"]["configuration"]["identity"] = canonical_sha256(
        {"max_output_bytes": None, "policy_revision": V2, "reducer_version": "0.5.0"}
    )
    assert verify_packet(sealed(packet), envelope=run) == []


@pytest.mark.parametrize(
    ("part", "key", "value"), [("reducer", "version", "9.9.9"), ("configuration", "policy_revision", V2)]
)
def test_a_configuration_that_the_identity_denies_is_named(part: str, key: str, value: str) -> None:
    run = envelope(V2_OUTPUT)
    packet: dict[str, Any] = json.loads(serialize_packet(reduce_test_run(run)))
    packet["receipt"][part][key] = value
    found = fields(verify_packet(sealed(packet)))
    assert {f"receipt.{part}.{key}", "receipt.configuration.identity"} <= set(found)
    packet["receipt"]["configuration"]["identity"] = "sha256:" + "0" * 64
    assert f"receipt.{part}.{key}" not in fields(verify_packet(sealed(packet)))


# -- what is no packet


@pytest.mark.parametrize(
    ("document", "offset"),
    [
        (b"", 0),
        (b'{"a":1', 6),
        (b'{"a":NaN}', 0),
        (b"\xff", 0),
        (b"[]", 0),
        (b"[" * 5000, 0),
        (b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", 0),
        ('{"a":"\ud800"}', 6),
    ],
)
def test_what_is_no_json_object_is_refused_with_its_place(document: bytes | str, offset: int) -> None:
    with pytest.raises(InvalidInput) as refusal:
        verify_packet(document)
    assert refusal.value.details["offset"] == offset


def test_bytes_are_given_once() -> None:
    case = CASES[0]
    with pytest.raises(InvalidInput, match="streams or an envelope"):
        verify_packet(case.packet, streams=case.streams, envelope=case.envelope)
    for streams in ({}, {"stdlog": b""}):
        with pytest.raises(InvalidInput):
            verify_packet(case.packet, streams=streams)


# -- bytes that are not canonical


def test_other_bytes_of_the_same_packet_are_found() -> None:
    canonical = CASES[0].canonical
    for changed, offset, field in (
        (canonical[:-1], len(canonical) - 1, ""),
        (canonical + b"\n", len(canonical), ""),
        (
            canonical.replace(b'"counts":', b'"counts": ', 1),
            canonical.index(b'"counts":') + 9,
            "decision_evidence.counts",
        ),
        (
            canonical.replace(b'"skipped":0', b'"skipped":-0', 1),
            canonical.index(b'"skipped":0') + 10,
            "decision_evidence.counts.skipped",
        ),
        (
            canonical.replace(b'"status":"failed"', b'"status":"f\\u0061iled"', 1),
            canonical.index(b'"status":"failed"') + 11,
            "decision_evidence.status",
        ),
        (
            canonical.replace(b'"exit_code":1', b'"exit_code":1,"exit_code":1', 1),
            canonical.index(b'"exit_code":1') + 15,
            "decision_evidence.process.interrupted",
        ),
    ):
        assert changed != canonical
        findings = verify_packet(changed)
        assert fields(findings) == [field]
        assert f"offset {offset}" in findings[0]["problem"]
    assert fields(verify_packet(json.dumps(CASES[0].packet, indent=1))) == ["decision_evidence"]
    assert (
        fields(verify_packet(canonical.replace(b'"exit_code":1', b'"exit_code":1.0', 1)))
        == ["decision_evidence.process.exit_code"] * 2
    )


def test_each_byte_of_canonical_json_is_of_a_field() -> None:
    value = {"b": [1, {"é": "x"}], "a": {"c": {}}}
    raw = canonical_bytes(value)
    held = [
        (path, bytes(byte for _, byte in run))
        for path, run in groupby(((path_at(value, at), byte) for at, byte in enumerate(raw)), key=lambda pair: pair[0])
    ]
    assert held == [
        ("", b"{"),
        ("a", b'"a":{'),
        ("a.c", b'"c":{}}'),
        ("a", b","),
        ("b", b'"b":['),
        ("b.0", b"1,"),
        ("b.1", b"{"),
        ("b.1.é", '"é":"x"}'.encode()),
        ("b.1", b"]"),
        ("b", b"}"),
    ]
    assert path_at(value, len(raw)) == ""


# -- shape


def _changed(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    *parents, last = path.split(".")

    def change(packet: dict[str, Any]) -> None:
        holder: Any = packet
        for key in parents:
            holder = holder[int(key)] if isinstance(holder, list) else holder[key]
        if isinstance(holder, list):
            holder[int(last)] = value
        else:
            holder[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("surprise", 1),
        ("operation_id", ""),
        ("protocol_version", "opsle.context-firewall.evidence-packet/v2"),
        ("decision_evidence.counts.failed", True),
        ("decision_evidence.counts.failed", 1.5),
        ("decision_evidence.counts.passed", -1),
        ("decision_evidence.counts.todo", 0),
        ("decision_evidence.failures", {}),
        ("decision_evidence.failures.0", None),
        ("decision_evidence.failures.0.identity", "\ud800"),
        ("decision_evidence.failures.0.header.text", "two\nlines"),
        ("decision_evidence.failures.0.header.line", 0),
        ("decision_evidence.failures.0.header.stream", "stdlog"),
        ("decision_evidence.failures.0.header.category", "glorious_test"),
        ("decision_evidence.process.exit_code", 256),
        ("decision_evidence.process.duration_ms", -0.5),
        ("decision_evidence.process.interrupted", 0),
        ("decision_evidence.reason_codes", ["SURE_OF_IT"]),
        ("decision_evidence.reason_codes", ["UNCLASSIFIED_EVIDENCE", "MALFORMED_UTF8"]),
        ("decision_evidence.reason_codes", ["UNCLASSIFIED_EVIDENCE", "UNCLASSIFIED_EVIDENCE"]),
        ("decision_evidence.status", "green"),
        ("decision_evidence.todo", []),
        ("receipt.configuration.policy_revision", "test-output-policy/v9"),
        ("receipt.input_hash", "sha256:ABC"),
        ("receipt.payload_limit.honored", False),
        ("receipt.payload_limit.honored", 1),
        ("receipt.raw_evidence.destroyed_by_reducer", True),
        ("receipt.receipt_version", 2),
        ("receipt.reducer.name", "somebody"),
        ("receipt.retained.categories", ["vibes"]),
        ("receipt.suppressed.categories", {"vibes": 1}),
        ("receipt.suppressed.categories", []),
    ],
)
def test_the_shape_is_checked(path: str, value: Any) -> None:
    packet = case_with("also").copy()
    _changed(path, value)(packet)
    assert any(field == path or field.startswith(path + ".") for field in fields(verify_packet(packet)))


@pytest.mark.parametrize("key", ["decision_evidence", "operation_id", "protocol_version", "receipt"])
def test_a_missing_key_is_named(key: str) -> None:
    packet = CASES[0].copy()
    del packet[key]
    assert {"field": key, "problem": "is missing"} in verify_packet(packet)


def test_v2_packets_have_no_keys_of_v3() -> None:
    packet = next(case for case in CASES if case.name == "v2-full").copy()
    packet["decision_evidence"]["failures"][0]["also"] = [{"identity": "x", "line": 9}]
    assert "decision_evidence.failures.0.also" in fields(verify_packet(packet))


def test_findings_are_one_printable_line() -> None:
    packet = CASES[0].copy()
    packet["bad\x1b[31m\nkey"] = 1
    packet["decision_evidence"]["status"] = "\x1b[2J\u202egreen" * 100
    findings = verify_packet(packet)
    assert all((finding["field"] + finding["problem"]).isprintable() for finding in findings)
    assert all(len(finding["problem"]) < 400 for finding in findings)


# -- forged, with digest and length made right


def _pop(path: str) -> Callable[[dict[str, Any]], None]:
    *parents, last = path.split(".")

    def change(packet: dict[str, Any]) -> None:
        holder: Any = packet
        for key in parents:
            holder = holder[int(key)] if isinstance(holder, list) else holder[key]
        holder.pop(int(last) if isinstance(holder, list) else last)

    return change


def _green(packet: dict[str, Any]) -> None:
    packet["decision_evidence"]["status"] = "passed"
    packet["decision_evidence"]["process"]["exit_code"] = 0


def _together(*changes: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def change(packet: dict[str, Any]) -> None:
        for one in changes:
            one(packet)

    return change


EVIDENCE = "decision_evidence."
FORGERIES: tuple[tuple[str, str, Callable[[dict[str, Any]], None], str], ...] = (
    ("green", "also", _green, "decision_evidence.status"),
    ("one failure fewer", "also", _pop("decision_evidence.failures.1"), "receipt.retained.event_count"),
    ("one detail fewer", "also", _pop("decision_evidence.failures.0.details.0"), "receipt.retained.event_count"),
    ("one reason fewer", "also", _changed(EVIDENCE + "reason_codes", []), "decision_evidence.reason_codes"),
    ("sufficient", "also", _changed(EVIDENCE + "disposition", "SUFFICIENT"), "decision_evidence.disposition"),
    ("another sum", "also", _changed(EVIDENCE + "counts.total", 7), "decision_evidence.counts.total"),
    ("another exit", "also", _changed(EVIDENCE + "process.exit_code", None), "decision_evidence.reason_codes"),
    ("out of time", "also", _changed(EVIDENCE + "reason_codes", ["TIMEOUT"]), "decision_evidence.reason_codes"),
    ("stopped", "also", _changed(EVIDENCE + "process.interrupted", True), "decision_evidence.reason_codes"),
    ("no source", "also", _changed(EVIDENCE + "source.id", None), "receipt.source.id"),
    ("another run", "also", _changed(EVIDENCE + "source.run_id", "run-8"), "receipt.source.run_id"),
    (
        "another text",
        "also",
        _changed(EVIDENCE + "failures.0.header.text", "x"),
        "decision_evidence.failures.0.header.sha256",
    ),
    (
        "a line twice",
        "also",
        _changed(EVIDENCE + "failures.0.header.line", 4),
        "decision_evidence.failures.0.details.0.line",
    ),
    (
        "out of order",
        "also",
        _changed(EVIDENCE + "failures.0.details.0.line", 7),
        "decision_evidence.failures.0.details.1.line",
    ),
    (
        "a far line",
        "also",
        _changed(EVIDENCE + "failures.0.header.line", 999),
        "decision_evidence.failures.0.header.line",
    ),
    (
        "a far twin",
        "also",
        _changed(EVIDENCE + "failures.0.also.0.line", 999),
        "decision_evidence.failures.0.also.0.line",
    ),
    ("nothing to share", "also", _changed(EVIDENCE + "failures.0.details", []), "decision_evidence.failures.0.also"),
    ("no details", "also", _pop("decision_evidence.failures.0.details"), "decision_evidence.failures.0.details"),
    ("no operation", "also", _changed("operation_id", None), "decision_evidence.reason_codes"),
    ("no reference", "also", _changed("receipt.raw_evidence.reference", None), "decision_evidence.reason_codes"),
    (
        "no ceiling",
        "block",
        _changed("receipt.payload_limit.requested_bytes", None),
        "receipt.payload_limit.requested_bytes",
    ),
    ("unaffected", "block", _changed("receipt.payload_limit.affected", False), "receipt.payload_limit.affected"),
    (
        "a short block",
        "block",
        _changed(EVIDENCE + "unclassified_evidence.0.byte_count", 0),
        "decision_evidence.unclassified_evidence.0.byte_count",
    ),
    (
        "scattered ends",
        "scattered",
        _changed(EVIDENCE + "unclassified_evidence.0.last_line", 1),
        "decision_evidence.unclassified_evidence.0.last_line",
    ),
    (
        "fewer hidden",
        "block",
        _changed("receipt.suppressed.categories.unclassified", 1),
        "receipt.suppressed.categories.unclassified",
    ),
    ("all named", "NAMES_OMITTED", _pop("decision_evidence.omitted_failures"), "decision_evidence.omitted_failures"),
    (
        "none failed",
        "NAMES_OMITTED",
        _changed(EVIDENCE + "omitted_failures.last_line", 0),
        "decision_evidence.omitted_failures.last_line",
    ),
    (
        "text after all",
        "CRITICAL",
        _changed(EVIDENCE + "failures.0.details", []),
        "decision_evidence.failures.0.details",
    ),
    (
        "two bytes more",
        "also",
        _changed("receipt.measurements.original_bytes", 9),
        "receipt.measurements.original_bytes",
    ),
    (
        "two lines more",
        "also",
        _changed("receipt.measurements.original_event_count", 99),
        "receipt.measurements.original_event_count",
    ),
    ("stderr first", "also", lambda packet: packet["receipt"]["source"]["streams"].reverse(), "receipt.source.streams"),
    ("unread stream", "also", _pop("receipt.source.streams.1"), "decision_evidence.warnings.1.stream"),
    (
        "escalation",
        "also",
        _changed("receipt.raw_evidence.escalation_required", False),
        "receipt.raw_evidence.escalation_required",
    ),
)


@pytest.mark.parametrize(("part", "change", "field"), [row[1:] for row in FORGERIES], ids=[row[0] for row in FORGERIES])
def test_a_forged_packet_is_found_by_itself(part: str, change: Callable[[dict[str, Any]], None], field: str) -> None:
    packet = case_with(part).copy()
    change(packet)
    assert field in fields(verify_packet(sealed(packet)))


def test_a_ceiling_that_was_not_honoured() -> None:
    packet = CASES[0].copy()
    packet["receipt"]["configuration"]["max_output_bytes"] = 100
    packet["receipt"]["payload_limit"]["requested_bytes"] = 100
    assert "receipt.configuration.max_output_bytes" in fields(verify_packet(sealed(packet)))


def test_v2_counts_its_failures() -> None:
    packet = next(case for case in CASES if case.name == "v2-full").copy()
    packet["decision_evidence"]["counts"].update(failed=2, passed=0)
    assert "decision_evidence.counts.failed" in fields(verify_packet(sealed(packet)))


# -- beside the bytes


@pytest.mark.parametrize(
    ("part", "path", "value"),
    [
        ("also", "failures.0.header.text", "not ok 2 - shute"),
        ("also", "failures.0.header.line", 2),
        ("also", "failures.0.header.stream", "stderr"),
        ("block", "unclassified_evidence.0.sha256", "sha256:" + "0" * 64),
        ("block", "unclassified_evidence.0.byte_count", 12),
        ("block", "unclassified_evidence.0.line_count", 3),
        ("REGIONS", "failures.0.region.sha256", "sha256:" + "0" * 64),
    ],
)
def test_evidence_is_looked_up(part: str, path: str, value: Any) -> None:
    case = next(
        c for c in CASES if part in rung_of(c.packet) and (part != "REGIONS" or "whole" not in rung_of(c.packet))
    )
    packet = case.copy()
    _changed(EVIDENCE + path, value)(packet)
    if path.endswith("text"):
        _changed(EVIDENCE + "failures.0.header.sha256", "sha256:" + "0" * 64)(packet)
    found = fields(verify_packet(sealed(packet), streams=case.streams))
    place = EVIDENCE + path.rpartition(".")[0]
    assert any(field.startswith(place + ".") for field in found)


def test_other_bytes_are_found() -> None:
    case = case_with("also")
    other = {**case.streams, "stdout": case.streams["stdout"].replace(b"opens", b"Opens")}
    assert fields(verify_packet(case.packet, streams=other)) == ["receipt.input_hash", "receipt.input_hash"]
    shorter = {**case.streams, "stdout": case.streams["stdout"][:-9]}
    assert "receipt.source.streams.0.byte_count" in fields(verify_packet(case.packet, streams=shorter))
    binary = {**case.streams, "stderr": b"\xff\n"}
    assert "decision_evidence.reason_codes" in fields(verify_packet(case.packet, streams=binary))
    alone = {"stdout": case.streams["stdout"]}
    assert fields(verify_packet(case.packet, streams=alone)) == ["receipt.source.streams"]


def test_a_region_is_shared_only_with_what_is_there() -> None:
    case = case_with("also")
    packet = case.copy()
    packet["decision_evidence"]["failures"][0]["also"].append({"identity": "ghost", "line": 40})
    found = fields(verify_packet(sealed(packet), streams=case.streams))
    assert "decision_evidence.failures.0.also" in found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("operation_id", "op-8"),
        ("receipt.raw_evidence.reference", "file:other.tap"),
        ("decision_evidence.process.duration_ms", 1),
        ("decision_evidence.process.exit_code", 2),
        ("decision_evidence.source.run_id", "run-8"),
    ],
)
def test_the_callers_word_is_checked_with_the_envelope(path: str, value: Any) -> None:
    case = CASES[0]
    packet = case.copy()
    _changed(path, value)(packet)
    assert path in fields(verify_packet(sealed(packet), envelope=case.envelope))


# -- companions


@EACH
def test_companions_belong_to_their_packet(case: Case) -> None:
    packet = case.packet
    other = CASES[1].packet if packet is CASES[0].packet else CASES[0].packet
    for revision in (None, "rev-1"):
        receipt = serialize_value_receipt(value_receipt_for_packet(packet, mechanism_revision=revision))
        assert verify_value_receipt(receipt, case.canonical) == []
        assert verify_value_receipt(receipt, other) != []
    brief = render_brief(packet)
    assert verify_brief(brief, packet) == []
    assert fields(verify_brief(brief.replace(":", ";", 1), packet)) == ["line 1"]
    assert verify_brief(brief + "more\n", packet) != []
    if packet["operation_id"] is None:
        assert "operation_id" in fields(verify_model_evidence({}, packet))
        return
    evidence = serialize_model_evidence(model_evidence_for_packet(packet))
    assert verify_model_evidence(evidence, packet) == []
    assert "operation_id" in fields(verify_model_evidence(evidence.replace(b"op-7", b"op-8"), packet))
    assert "decision_evidence.status" in fields(
        verify_model_evidence(evidence.replace(b'"status":"', b'"status":"x'), packet)
    )
    assert fields(verify_model_evidence(b" " + evidence, packet)) == [""]


def test_a_receipt_of_what_was_shown_instead() -> None:
    case = CASES[0]
    whole = render_brief(case.packet)
    for ceiling in (None, len(whole.encode()) - 1):
        brief = render_brief(case.packet, max_bytes=ceiling)
        emitted = Emitted("brief", brief.encode(), ceiling)
        receipt = serialize_value_receipt(value_receipt_for_packet(case.packet, emitted=emitted))
        assert verify_brief(brief.encode(), case.packet) == []
        assert verify_value_receipt(receipt, case.packet) == []
        changed = receipt.replace(b'"id":"emitted_brief"', b'"id":"emitted_verse"')
        assert verify_value_receipt(changed, case.packet) != []
    ceiling = case.packet["receipt"]["payload_limit"]["requested_bytes"]
    evidence = Emitted("model evidence", serialize_model_evidence(model_evidence_for_packet(case.packet)), ceiling)
    assert verify_value_receipt(value_receipt_for_packet(case.packet, emitted=evidence), case.packet) == []


@pytest.mark.parametrize("max_bytes", [None, 4_000])
def test_a_brief_of_head_and_tail_is_found_whatever_its_ceiling(max_bytes: int | None) -> None:
    """VFY-15: it is shorter than its ceiling."""
    output = "".join(f"{n * n} cups{' of tea' * (n % 3)}\n" * (n % 5 != 0) + "\n" for n in range(1, 120))
    packet = reduce_test_run(envelope(output), max_output_bytes=max_bytes)
    whole = len(render_brief(packet).encode())
    briefs = {render_brief(packet, max_bytes=ceiling) for ceiling in range(700, whole, (whole - 700) // 25)}
    assert len(briefs) > 9
    for brief in briefs:
        assert verify_brief(brief, packet) == []
    for brief in filter(lambda brief: "\n| " in brief, briefs):
        lines = brief.split("\n")
        place = next(n for n, line in reversed([*enumerate(lines)]) if line.startswith("| "))
        changed = "\n".join([*lines[:place], lines[place].replace("cups", "cup"), *lines[place + 1 :]])
        assert fields(verify_brief(changed, packet)) == [f"line {place + 1}"]
        assert verify_brief(brief.replace("| ", "", 1), packet) != []


def test_a_companion_of_something_that_is_no_packet() -> None:
    packet = CASES[0].copy()
    del packet["receipt"]
    found = fields(verify_value_receipt({}, packet))
    assert "packet.receipt" in found
    assert verify_brief("", packet) != []
    assert "mechanism.revision" in fields(verify_value_receipt({"mechanism": {"revision": 3}}, CASES[0].packet))
