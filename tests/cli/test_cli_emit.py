"""`reduce --emit`: what standard output holds, and what the sidecars say of it."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cli_process import IDENTITY, RED, Ended, call

from context_firewall import render_brief, serialize_packet

NOISY = RED.replace(b"not ok", b"".join(b"the kettle sings, verse %d\n" % n for n in range(40)) + b"not ok", 1)


def emitted(emit: str, *options: str | Path, given: bytes = RED) -> Ended:
    """A run with an emission."""
    return call("reduce", *IDENTITY, "--exit-code", "1", "--emit", emit, *options, given=given)


def measured(receipt: Path) -> dict[str, Any]:
    """A receipt's results by name."""
    return {one["id"]: one["result"] for one in json.loads(receipt.read_bytes())["measurements"]}


@pytest.mark.parametrize("emit", ["packet", "model-evidence", "brief"])
@pytest.mark.parametrize("given", [RED, NOISY])
def test_the_receipt_measures_the_bytes_on_standard_output(emit: str, given: bytes, tmp_path: Path) -> None:
    ended = emitted(emit, "--value-receipt", tmp_path / "receipt.json", given=given)
    assert ended.status == 0
    found = measured(tmp_path / "receipt.json")
    assert found["initial_model_visible_bytes"] == len(ended.stdout)
    assert found["raw_bytes"] == len(given)
    assert f"{len(given):,} B -> {len(ended.stdout):,} B".encode() in ended.stderr
    pointers = {one["id"]: one["locator"] for one in json.loads((tmp_path / "receipt.json").read_bytes())["evidence"]}
    if emit != "packet":
        digest = "sha256:" + hashlib.sha256(ended.stdout).hexdigest()
        assert pointers[f"emitted_{emit.replace('-', '_')}"] == digest


def test_the_packet_beside_a_brief_is_the_packet(tmp_path: Path) -> None:
    ended = emitted("brief", "--packet", tmp_path / "packet.json")
    plain = emitted("packet")
    assert (tmp_path / "packet.json").read_bytes() == plain.stdout
    packet = json.loads(plain.stdout)
    assert ended.stdout == render_brief(packet).encode()
    assert packet["receipt"]["semantic_payload_hash"].encode() in ended.stdout
    assert serialize_packet(packet) == plain.stdout


def test_model_evidence_on_standard_output_is_the_sidecars(tmp_path: Path) -> None:
    ended = emitted("model-evidence", "--model-evidence", tmp_path / "evidence.json")
    assert (tmp_path / "evidence.json").read_bytes() == ended.stdout


def test_a_ceiling_is_the_briefs_and_the_packet_then_has_none(tmp_path: Path) -> None:
    ceiling = 800
    whole = emitted("brief", given=NOISY)
    cut = emitted(
        "brief",
        "--max-bytes",
        str(ceiling),
        "--packet",
        tmp_path / "packet.json",
        "--value-receipt",
        tmp_path / "receipt.json",
        given=NOISY,
    )
    assert len(cut.stdout) <= ceiling < len(whole.stdout)
    assert b"NOT SUFFICIENT" in cut.stdout.split(b"\n")[0]
    assert b"! PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT: " in cut.stdout
    assert json.loads((tmp_path / "packet.json").read_bytes())["receipt"]["payload_limit"]["requested_bytes"] is None
    assert measured(tmp_path / "receipt.json")["payload_ceiling_bytes"] == ceiling


def test_a_ceiling_too_small_for_a_brief_is_a_typed_error(tmp_path: Path) -> None:
    error = emitted("brief", "--max-bytes", "10", "--packet", tmp_path / "packet.json").error()
    assert error["code"] == "PAYLOAD_CEILING_TOO_SMALL"
    assert not (tmp_path / "packet.json").exists()
    smallest = error["minimum_safe_packet_bytes"]
    assert len(emitted("brief", "--max-bytes", str(smallest)).stdout) == smallest
    assert emitted("brief", "--max-bytes", str(smallest - 1)).error()["minimum_safe_packet_bytes"] == smallest


def test_model_evidence_needs_an_operation_id() -> None:
    error = call("reduce", "--emit", "model-evidence", "--exit-code", "1", given=RED).error()
    assert error["code"] == "INVALID_INPUT"
