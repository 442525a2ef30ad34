"""The third level of verification: the same bytes give the same packet."""

import json
from typing import Any

import pytest

from context_firewall import reduce_test_run, serialize_packet, verify_packet
from context_firewall.canonical import canonical_bytes, canonical_sha256
from context_firewall.conformance import runner
from context_firewall.documents.test_run_input import parse_test_run_input
from context_firewall.reduction.replay import examine

RED = "TAP version 13\nok 1 - opens\nnot ok 2 - shuts\n  ---\n  message: 'no'\n  ...\n1..2\n"


def envelope(output: str = RED, **changes: Any) -> dict[str, Any]:
    """A failed run."""
    return {
        "protocol_version": "opsle.context-firewall.test-run-input/v1",
        "operation_id": "op",
        "source": {"id": "suite", "run_id": "run", "raw_evidence_ref": "ref:1"},
        "process": {"exit_code": 1, "duration_ms": 10, "interrupted": False},
        "streams": [{"name": "stdout", "data": output}],
        **changes,
    }


def sealed(packet: dict[str, Any]) -> dict[str, Any]:
    """A changed packet with digest and length made right."""
    packet["receipt"]["semantic_payload_hash"] = canonical_sha256(packet["decision_evidence"])
    for _ in range(3):
        packet["receipt"]["measurements"]["reduced_bytes"] = len(canonical_bytes(packet)) + 1
    return packet


def changed() -> dict[str, Any]:
    """A packet to be changed."""
    packet: dict[str, Any] = json.loads(serialize_packet(reduce_test_run(envelope())))
    return packet


@pytest.mark.parametrize("fixture", runner.find_fixtures(runner.packaged_corpus()), ids=lambda fixture: fixture.name)
def test_every_packet_of_the_corpus_is_verified(fixture: runner.Fixture) -> None:
    expected = json.loads((fixture.folder / runner.EXPECTED).read_bytes())
    if "error" in expected:
        pytest.skip("no packet")
    options_file = fixture.folder / runner.OPTIONS
    options = json.loads(options_file.read_bytes()) if options_file.exists() else {}
    given: dict[str, Any] = {"noise": options.get("noise", ())}
    run = fixture.folder / runner.ENVELOPE
    if run.exists():
        given["envelope"] = run.read_bytes()
    else:
        given["streams"] = {
            name: (fixture.folder / file).read_bytes()
            for name, files in runner.STREAM_FILES.items()
            for file in files
            if (fixture.folder / file).exists()
        }
    examination = examine(canonical_bytes(expected) + b"\n", **given)
    assert examination.findings == ()
    assert examination.levels[-1] == "replay"


def test_a_consistent_forgery_is_found_and_named() -> None:
    packet = changed()
    packet["decision_evidence"]["counts"].update(passed=5, total=6)
    run = envelope()
    assert verify_packet(sealed(packet)) == []
    streams = {"stdout": RED.encode()}
    assert [finding["field"] for finding in verify_packet(packet, streams=streams)] == [
        "decision_evidence.counts.passed"
    ]
    assert verify_packet(packet, envelope=run)[0]["problem"].startswith("is 5; it should be 1, as reducing")


def test_a_timeout_is_replayed_and_held_against_the_envelope() -> None:
    """REASON-27 and VFY-3."""
    process = {"exit_code": 143, "duration_ms": 10, "interrupted": True}
    run = envelope(process={**process, "timed_out": True})
    packet: dict[str, Any] = json.loads(serialize_packet(reduce_test_run(run)))
    assert "TIMEOUT" in packet["decision_evidence"]["reason_codes"]
    assert verify_packet(packet, streams={"stdout": RED.encode()}) == []
    assert verify_packet(packet, envelope=run) == []
    silent = envelope(process=process)
    fields = [finding["field"] for finding in verify_packet(packet, envelope=silent)]
    assert fields == ["decision_evidence.reason_codes"]
    packet = json.loads(serialize_packet(reduce_test_run(silent)))
    assert [finding["field"] for finding in verify_packet(packet, envelope=run)] == ["decision_evidence.reason_codes"]
    old = reduce_test_run(run, policy="test-output-policy/v2")
    assert verify_packet(json.loads(serialize_packet(old)), envelope=run) == []


def test_a_hidden_failure_is_found() -> None:
    run = envelope(RED.replace("not ok", "ok"), process={"exit_code": 0, "duration_ms": 10, "interrupted": False})
    green: dict[str, Any] = json.loads(serialize_packet(reduce_test_run(run)))
    raw = RED.encode()
    green["receipt"]["input_hash"] = changed()["receipt"]["input_hash"]
    green["receipt"]["measurements"]["original_bytes"] = len(raw)
    green["receipt"]["source"]["streams"][0]["byte_count"] = len(raw)
    assert verify_packet(sealed(green)) == []
    assert verify_packet(green, streams={"stdout": raw})[0]["field"] == "decision_evidence.counts.failed"


def test_scattered_lines_and_omitted_failures_need_the_replay() -> None:
    output = (
        "TAP version 13\n" + "".join(f"not ok {n} - {'long ' * 30}{n}\n  at: {n}\n" for n in range(1, 9)) + "1..8\n"
    )
    run = envelope(
        output, streams=[{"name": "stdout", "data": output}, {"name": "stderr", "data": "a b c d\n\ne f\n" * 9}]
    )
    ceiling = 2700
    packet: dict[str, Any] = json.loads(serialize_packet(reduce_test_run(run, max_output_bytes=ceiling)))
    evidence = packet["decision_evidence"]
    assert "omitted_failures" in evidence
    assert "last_line" in evidence["unclassified_evidence"][0]
    assert verify_packet(packet, envelope=run) == []
    for holder in (evidence["omitted_failures"], evidence["unclassified_evidence"][0]):
        kept, holder["sha256"] = holder["sha256"], "sha256:" + "0" * 64
        assert verify_packet(sealed(packet)) == []
        assert [finding["field"].rpartition(".")[2] for finding in verify_packet(packet, envelope=run)] == ["sha256"]
        holder["sha256"] = kept


def test_a_ceiling_that_nothing_fits_below() -> None:
    packet = changed()
    configuration = packet["receipt"]["configuration"]
    configuration["max_output_bytes"] = packet["receipt"]["payload_limit"]["requested_bytes"] = 100
    found = verify_packet(sealed(packet), envelope=envelope())
    assert any("does not allow this reduction" in finding["problem"] for finding in found)


def test_declared_noise_has_to_be_declared_again() -> None:
    run = envelope(streams=[{"name": "stdout", "data": RED}, {"name": "stderr", "data": "listening on 8080\n"}])
    packet = serialize_packet(reduce_test_run(run, noise=["listening on "]))
    assert verify_packet(packet, envelope=run, noise=["listening on "]) == []
    assert "receipt.configuration.identity" in [finding["field"] for finding in verify_packet(packet, envelope=run)]


def test_how_far_an_examination_got() -> None:
    packet = changed()
    run = envelope()
    streams = {stream.name: stream.data for stream in parse_test_run_input(run).streams}
    alone = examine(packet)
    assert alone.levels == ("packet",)
    assert alone.unvouched == ("operation_id", "receipt.input_hash", "receipt.raw_evidence.reference")
    beside = examine(packet, streams=streams)
    assert beside.levels == ("packet", "raw_bytes", "replay")
    assert beside.unvouched == ("operation_id", "receipt.raw_evidence.reference")
    told = examine(packet, envelope=run)
    assert told.levels == ("packet", "raw_bytes", "envelope", "replay")
    assert told.unvouched == ()
    assert examine(packet, streams={"stderr": b""}).levels == ("packet", "raw_bytes")
    del packet["operation_id"]
    assert examine(packet, envelope=run).levels == ("packet",)
