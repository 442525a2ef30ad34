"""`context-firewall verify` from outside."""

import json
from pathlib import Path

import pytest
from cli_process import IDENTITY, RED, call, envelope

from context_firewall.canonical import canonical_bytes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a packet and all that belongs to it."""
    (tmp_path / "out.txt").write_bytes(RED)
    (tmp_path / "err.txt").write_bytes(b"listening\n")
    made = call(
        *("reduce", "--input", "out.txt", "--stderr", "err.txt", "--exit-code", "1", *IDENTITY),
        *("--value-receipt", "receipt.json", "--model-evidence", "evidence.json"),
        folder=tmp_path,
    )
    (tmp_path / "packet.json").write_bytes(made.stdout)
    shown = call(
        *("reduce", "--input", "out.txt", "--stderr", "err.txt", "--exit-code", "1", *IDENTITY, "--emit", "brief"),
        folder=tmp_path,
    )
    (tmp_path / "brief.txt").write_bytes(shown.stdout)
    return tmp_path


COMPANIONS = ("--value-receipt", "receipt.json", "--model-evidence", "evidence.json", "--brief", "brief.txt")


def test_a_packet_alone(folder: Path) -> None:
    ended = call("verify", "packet.json", folder=folder)
    assert (ended.status, ended.stderr) == (0, b"")
    assert ended.stdout.decode().splitlines() == [
        "packet packet.json: verified",
        "checked: the packet by itself",
        "nothing here vouches for: operation_id, receipt.input_hash, receipt.raw_evidence.reference",
    ]


def test_everything_together(folder: Path) -> None:
    ended = call("verify", "packet.json", "--raw", "out.txt", "--stderr", "err.txt", *COMPANIONS, folder=folder)
    assert (ended.status, ended.stderr) == (0, b"")
    assert ended.stdout.decode().splitlines() == [
        "packet packet.json: verified",
        "value receipt receipt.json: verified",
        "model evidence evidence.json: verified",
        "brief brief.txt: verified",
        "checked: the packet by itself; against the raw bytes; by reducing the bytes again",
        "nothing here vouches for: operation_id, receipt.raw_evidence.reference",
    ]


def test_from_standard_input(folder: Path) -> None:
    packet = (folder / "packet.json").read_bytes()
    assert call("verify", "-", given=packet, folder=folder).stdout.startswith(b"packet -: verified\n")


def test_with_the_envelope(folder: Path) -> None:
    (folder / "run.json").write_text(json.dumps(envelope(RED.decode(), 1)))
    made = call("reduce", "--input", "run.json", folder=folder)
    (folder / "packet.json").write_bytes(made.stdout.replace(b'"operation_id":"op-1"', b'"operation_id":"op-2"'))
    ended = call("verify", "packet.json", "--envelope", "run.json", folder=folder)
    assert ended.status == 1
    assert b'  operation_id: is "op-2"; "op-1" is what the envelope says\n' in ended.stdout
    assert call("verify", "packet.json", folder=folder).status == 0


def test_findings_end_with_1_and_name_the_field(folder: Path) -> None:
    packet = (folder / "packet.json").read_bytes().replace(b'"failed":1', b'"failed":0', 1)
    (folder / "packet.json").write_bytes(packet)
    ended = call("verify", "packet.json", "--raw", "out.txt", "--stderr", "err.txt", *COMPANIONS, folder=folder)
    assert (ended.status, ended.stderr) == (1, b"")
    assert b"\n  receipt.semantic_payload_hash: is " in ended.stdout
    assert b"\n  decision_evidence.counts.failed: is 0; it should be 1, as reducing" in ended.stdout
    assert b"model evidence evidence.json: 1 finding\n" in ended.stdout
    assert b"brief brief.txt: 1 finding\n" in ended.stdout


def test_the_json_report(folder: Path) -> None:
    (folder / "packet.json").write_bytes((folder / "packet.json").read_bytes() + b" ")
    ended = call("verify", "packet.json", "--value-receipt", "receipt.json", "--json", folder=folder)
    report = json.loads(ended.stdout)
    assert canonical_bytes(report) + b"\n" == ended.stdout
    assert (ended.status, report["verified"]) == (1, False)
    assert report["protocol_version"] == "context-firewall.verification-report/v1"
    assert report["levels"] == ["packet"]
    packet, receipt = report["documents"]
    assert (packet["document"], packet["path"]) == ("packet", "packet.json")
    assert [finding["field"] for finding in packet["findings"]] == [""]
    assert [finding["field"] for finding in receipt["findings"]] == ["packet"]


def test_noise_is_declared_by_the_projects_configuration(folder: Path) -> None:
    (folder / "context-firewall.toml").write_text('noise = ["listening"]\n')
    made = call("reduce", "--input", "out.txt", "--stderr", "err.txt", "--exit-code", "1", folder=folder)
    (folder / "quiet.json").write_bytes(made.stdout)
    streams = ("--raw", "out.txt", "--stderr", "err.txt")
    for packet in ("packet.json", "quiet.json"):  # made without the declaration, and with it
        assert call("verify", packet, *streams, folder=folder).status == 0
    ended = call("verify", "quiet.json", *streams, "--no-config", folder=folder)
    assert ended.status == 1
    assert b"  receipt.configuration.identity: " in ended.stdout


def test_a_file_that_holds_commands_for_a_terminal(folder: Path) -> None:
    packet = json.loads((folder / "packet.json").read_bytes())
    packet["\x1b[2J\nverified"] = "\x1b[31m"
    packet["decision_evidence"]["status"] = "\x1b[2J"
    (folder / "p\x1b[31m.json").write_bytes(canonical_bytes(packet) + b"\n")
    ended = call("verify", "p\x1b[31m.json", folder=folder)
    assert ended.status == 1
    assert all(line.isprintable() for line in ended.stdout.decode().splitlines())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("absent.json",), "cannot be read"),
        (("out.txt",), "is not JSON at offset 0"),
        (("packet.json", "--envelope", "out.txt"), "is not JSON"),
        (("packet.json", "--value-receipt", "out.txt"), "is not JSON"),
        (("packet.json", "--envelope", "x.json", "--raw", "out.txt"), "part of the envelope"),
        (("-", "--raw", "-"), "one file only"),
        ((), "Missing argument"),
    ],
)
def test_what_cannot_be_used_ends_with_2(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = call("verify", *arguments, folder=folder)
    assert ended.status == 2
    assert said in ended.error()["message"]


def test_the_help_teaches(folder: Path) -> None:
    ended = call("verify", "--help", folder=folder)
    assert ended.status == 0
    for words in (b"Exit status:", b"--envelope", b"not signed", b"context-firewall verify packet.json"):
        assert words in ended.stdout
