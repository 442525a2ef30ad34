"""`context-firewall run` from outside: real suites of real runners, and everything that can happen to them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_process import COMMAND, ENVIRONMENT, GREEN, Ended, call, run
from click.testing import CliRunner

from context_firewall import reduce_streams, serialize_packet, verify_value_receipt
from context_firewall.cli import main, sources
from context_firewall.errors import StoreNotWritten, StoreUnavailable
from context_firewall.reduction.pipeline import SourceStream
from context_firewall.store.evidence import EvidenceStore, ObjectWriter
from context_firewall.store.places import open_store

PRINT_GREEN = ("sh", "-c", f"printf '{GREEN.decode()}'")
FAILING = "printf 'TAP version 13\\nok 1 - opens\\nnot ok 2 - shuts\\n  ---\\n  at: gate 7\\n  ...\\n1..2\\n'; exit 1"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder of a repository's own, so that no store above it is found."""
    (tmp_path / "gates" / ".git").mkdir(parents=True)
    return tmp_path / "gates"


def store_of(desk: Path) -> EvidenceStore:
    return open_store(None, folder=str(desk))


def kept(desk: Path) -> tuple[dict[str, Any], dict[str, bytes], dict[str, Any]]:
    """The newest run that is kept: its manifest, its streams, its packet."""
    store = store_of(desk)
    name = store.find_run("latest")
    manifest: Any = store.manifest(name.reference)
    streams = {one["name"]: b"".join(store.chunks(one["sha256"], one["byte_count"])) for one in manifest["streams"]}
    return manifest, streams, json.loads(store.document(store.record(name), "packet"))


def lines(ended: Ended) -> list[str]:
    return ended.stdout.decode().splitlines()


# -- suites -----------------------------------------------------------------------------------------------------------


def test_a_failing_pytest_suite(desk: Path) -> None:
    """RUN-1, RUN-4, RUN-9: the command's status, the brief, the way back."""
    (desk / "test_gate.py").write_text(
        "def test_opens():\n    assert True\n\ndef test_shuts():\n    assert 'ajar' == 'shut'\n"
    )
    ended = run(
        "run", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_gate.py", folder=desk
    )
    assert ended.status == 1
    brief = lines(ended)
    assert brief[0] == "FAILED: 1 failed, 1 passed, 2 in all; exit code 1; evidence sufficient"
    assert brief[1].startswith("1) test_gate.py::test_shuts [stdout:")
    manifest, streams, packet = kept(desk)
    reference = packet["receipt"]["raw_evidence"]["reference"]
    assert brief[-1].endswith(f"; raw {reference}")
    digits = reference.removeprefix("evidence://sha256/")[:12]
    assert brief[-2] == f"> more: context-firewall raw {digits} --lines stdout:A-B"
    assert b"test_shuts" in streams["stdout"]
    assert manifest["command"][1:4] == ["-m", "pytest", "-q"]
    assert ended.stderr.startswith(b"[Context Firewall] ")
    assert ended.stderr.count(b"\n") == 1


def test_a_failing_unittest_suite(desk: Path) -> None:
    (desk / "test_gate.py").write_text(
        "import unittest\n\nclass Gate(unittest.TestCase):\n"
        "    def test_opens(self): self.assertTrue(True)\n    def test_shuts(self): self.assertEqual('ajar', 'shut')\n"
    )
    ended = run("run", "--", sys.executable, "-m", "unittest", folder=desk)
    assert ended.status == 1
    assert lines(ended)[0] == "FAILED: 1 failed, 1 passed, 2 in all; exit code 1; evidence sufficient"
    assert "> more: context-firewall raw " in lines(ended)[-2]


def test_a_shell_suite(desk: Path) -> None:
    (desk / "suite.sh").write_text(f"#!/bin/sh\n{FAILING}\n")
    (desk / "suite.sh").chmod(0o755)
    ended = run("run", "./suite.sh", folder=desk)  # the two dashes are only needed before a dash
    assert ended.status == 1
    assert lines(ended)[:3] == [
        "FAILED: 1 failed, 1 passed, 2 in all; exit code 1; evidence sufficient",
        "1) shuts [stdout:3-6]",
        "| at: gate 7",
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_a_failing_node_suite(desk: Path) -> None:
    (desk / "gate.test.js").write_text(
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "test('opens', () => {});\ntest('shuts', () => { assert.strictEqual('ajar', 'shut'); });\n"
    )
    ended = run("run", "--", "node", "--test", "--test-reporter", "tap", "gate.test.js", folder=desk)
    assert ended.status == 1
    assert lines(ended)[0].startswith("FAILED: 1 failed, 1 passed, 2 in all; exit code 1; evidence ")
    assert any(line.startswith("1) shuts [stdout:") for line in lines(ended))


# -- what is made of it -----------------------------------------------------------------------------------------------


def test_the_packet_is_what_reduce_makes_of_the_kept_bytes(desk: Path) -> None:
    """RUN-10: nothing but bytes, process facts and options enters it."""
    ended = call("run", "--emit", "packet", "--run-id", "9", "--", "sh", "-c", f"echo note >&2; {FAILING}", folder=desk)
    manifest, streams, packet = kept(desk)
    assert json.loads(ended.stdout) == packet
    process = manifest["process"]
    again = reduce_streams(
        [SourceStream(name, len(data), (data,)) for name, data in streams.items()],
        operation_id=packet["operation_id"],
        source_id="gates",
        run_id="9",
        raw_evidence_ref=packet["receipt"]["raw_evidence"]["reference"],
        exit_code=1,
        duration_ms=process["duration_ms"],
        interrupted=False,
    )
    assert serialize_packet(again) == ended.stdout
    assert packet["operation_id"].startswith("sh -c 'echo note >&2; printf ")
    assert process["exit_code"] == 1
    assert streams["stderr"] == b"note\n"


def test_what_is_emitted_is_bound_by_the_record(desk: Path) -> None:
    """RUN-9."""
    for emit, name in (("brief", "brief"), ("packet", "packet"), ("model-evidence", "model_evidence")):
        ended = call("run", "--emit", emit, "--", *PRINT_GREEN, folder=desk)
        assert ended.status == 0
        store = store_of(desk)
        record = store.record(store.find_run("latest"))
        assert store.document(record, name) == ended.stdout
        assert {"packet", "value_receipt", "brief"} <= set(record["documents"])
        packet = store.document(record, "packet")
        assert verify_value_receipt(store.document(record, "value_receipt"), packet) == []


def test_sidecars_and_names(desk: Path) -> None:
    names = ("--operation-id", "ci-417", "--source-id", "gates-e2e", "--run-id", "3")
    files = ("--packet", "p.json", "--value-receipt", "v.json", "--model-evidence", "m.json")
    call("run", *names, *files, "--mechanism-revision", "4f2a", "--", *PRINT_GREEN, folder=desk)
    packet = json.loads((desk / "p.json").read_bytes())
    assert (packet["operation_id"], packet["decision_evidence"]["source"]) == (
        "ci-417",
        {"id": "gates-e2e", "run_id": "3"},
    )
    assert json.loads((desk / "v.json").read_bytes())["mechanism"]["revision"] == "4f2a"
    assert json.loads((desk / "m.json").read_bytes())["operation_id"] == "ci-417"


def test_the_projects_configuration_is_heeded(desk: Path) -> None:
    """RUN-10 and CLI-7."""
    (desk / "context-firewall.toml").write_text(
        'source-id = "configured"\noperation-id = "nightly"\nraw-ref = "file:elsewhere"\nnoise = ["gate server"]\n'
        'max-bytes = 3000\nstore = "kept"\n'
    )
    command = ("sh", "-c", f"echo gate server is up; printf '{GREEN.decode()}'")
    packet = json.loads(call("run", "--emit", "packet", "--", *command, folder=desk).stdout)
    assert (packet["operation_id"], packet["decision_evidence"]["source"]["id"]) == ("nightly", "configured")
    assert packet["decision_evidence"]["disposition"] == "SUFFICIENT"
    assert packet["receipt"]["configuration"]["max_output_bytes"] == 3000
    assert packet["receipt"]["raw_evidence"]["reference"].startswith("evidence://sha256/")
    assert (desk / "kept" / "manifests").is_dir()
    packet = json.loads(call("run", "--no-store", "--emit", "packet", "--", *command, folder=desk).stdout)
    assert packet["receipt"]["raw_evidence"]["reference"] == "file:elsewhere"
    packet = json.loads(call("run", "--no-config", "--emit", "packet", "--", *command, folder=desk).stdout)
    assert packet["decision_evidence"]["source"]["id"] == "gates"
    assert packet["decision_evidence"]["disposition"] == "NEEDS_RAW_EVIDENCE"


def test_long_and_odd_commands_have_names(desk: Path) -> None:
    """RUN-10: names are text, and of a length that can be shown; the manifest has every word."""
    call("run", "--", "sh", "-c", f"printf '{GREEN.decode()}'", b"caf\xe9", "x" * 400, folder=desk)
    manifest, _, packet = kept(desk)
    assert len(packet["operation_id"]) == 200
    assert packet["operation_id"].endswith("…")
    assert manifest["command"][3:] == ["caf\ufffd", "x" * 400]


def test_standard_input_passes_through(desk: Path) -> None:
    """RUN-1."""
    assert run("run", "--", "cat", given=GREEN, folder=desk).status == 0
    assert kept(desk)[1]["stdout"] == GREEN


def test_merged_streams_are_one(desk: Path) -> None:
    """RUN-3."""
    command = ("sh", "-c", "echo 1..2 >&2; echo ok 1; echo ok 2 >&2")
    ended = call("run", "--merge-streams", "--", *command, folder=desk)
    assert lines(ended)[0] == "PASSED: 0 failed, 2 passed, 2 in all; exit code 0; evidence sufficient"
    assert kept(desk)[1] == {"stdout": b"1..2\nok 1\nok 2\n"}


def test_binary_output_is_kept_exactly(desk: Path) -> None:
    """RUN-2 and RUN-9."""
    data = bytes(range(256)) * 50
    program = f"import sys; sys.stdout.buffer.write({data!r}); sys.stderr.buffer.write(b'\\0\\xff')"
    ended = call("run", "--", sys.executable, "-c", program, folder=desk)
    assert ended.status == 0
    assert lines(ended)[0].startswith("INDETERMINATE: ")
    assert kept(desk)[1] == {"stdout": data, "stderr": b"\0\xff"}


def test_tee_copies_what_is_printed(desk: Path) -> None:
    """RUN-11: into a pipe it is exact."""
    ended = call("run", "--tee", "--", "sh", "-c", "printf '\\033[31mred\\n'; exit 3", folder=desk)
    copied, _, indicator = ended.stderr.partition(b"[Context Firewall]")
    assert (ended.status, copied) == (3, b"\x1b[31mred\n")
    assert indicator.endswith(b"escalation: yes\n")
    cut = call("run", "--tee", "--", "sh", "-c", "printf 'no newline'", folder=desk)
    assert cut.stderr.startswith(b"no newline\n[Context Firewall] ")


def test_tee_comes_while_the_command_runs(desk: Path) -> None:
    """RUN-11."""
    with started("--tee", "--", "sh", "-c", "echo here; read wait; echo there", folder=desk) as process:
        assert process.stderr.readline() == b"here\n"
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stderr.readline() == b"there\n"


# -- ends -------------------------------------------------------------------------------------------------------------


class Started:
    """A run that is going on."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        self._process = subprocess.Popen(
            [*COMMAND, "run", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            cwd=folder,
        )
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        self.stdin = self._process.stdin
        self.stderr = self._process.stderr

    def __enter__(self) -> "Started":
        return self

    def __exit__(self, *_exception: object) -> None:
        self._process.kill()
        self._process.communicate()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def ended(self) -> Ended:
        stdout, stderr = self._process.communicate(timeout=60)
        return Ended(self._process.returncode, stdout, stderr)


def started(*arguments: str, folder: Path) -> Started:
    return Started(*arguments, folder=folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_reaches_the_command_and_what_there_is_is_reduced(number: signal.Signals, desk: Path) -> None:
    """RUN-6."""
    command = ("sh", "-c", "echo 1..2; echo ok 1 - opens; echo ready >&2; exec sleep 60")
    with started("--tee", "--", *command, folder=desk) as process:
        while process.stderr.readline() != b"ready\n":
            pass
        process.signal(number)
        ended = process.ended()
    assert ended.status == 128 + number
    assert f"exit code {128 + number:d}, interrupted" in lines(ended)[0]
    assert f"[Context Firewall] {number.name} came and was passed on".encode() in ended.stderr
    manifest, streams, packet = kept(desk)
    assert streams["stdout"] == b"1..2\nok 1 - opens\n"
    assert manifest["process"]["signal"] == number
    assert packet["decision_evidence"]["counts"]["passed"] == 1
    assert {"INTERRUPTED_OUTPUT", "PLAN_CONTRADICTION"} & set(packet["decision_evidence"]["reason_codes"])


def test_a_command_may_end_by_itself_after_a_signal(desk: Path) -> None:
    """RUN-6 and RUN-8: it is interrupted all the same."""
    command = ("sh", "-c", "trap 'echo ok 1; echo 1..1; exit 0' INT; echo ready >&2; while :; do sleep 0.05; done")
    with started("--tee", "--", *command, folder=desk) as process:
        process.stderr.readline()
        process.signal(signal.SIGINT)
        ended = process.ended()
    assert ended.status == 0
    assert lines(ended)[0].startswith("INDETERMINATE: 0 failed, 1 passed, 1 in all; exit code 0, interrupted; ")


def test_a_command_that_ignores_sigterm_is_killed_after_its_grace(desk: Path) -> None:
    """RUN-6: whoever sent it will not wait for ever."""
    command = ("sh", "-c", "trap '' TERM; echo ready >&2; while :; do sleep 0.05; done")
    with started("--tee", "--grace", "0.3", "--", *command, folder=desk) as process:
        process.stderr.readline()
        process.signal(signal.SIGTERM)
        ended = process.ended()
    assert ended.status == 137
    assert kept(desk)[1]["stderr"] == b"ready\n"


def test_a_timeout_says_so_everywhere(desk: Path) -> None:
    """RUN-5 and REASON-27."""
    command = ("sh", "-c", "echo 1..2; echo ok 1 - opens; exec sleep 60")
    ended = call("run", "--timeout", "0.5", "--", *command, folder=desk)
    assert ended.status == 143
    assert "exit code 143, timed out; evidence NOT SUFFICIENT" in lines(ended)[0]
    assert any(line.startswith("! TIMEOUT: ") for line in lines(ended))
    assert b"[Context Firewall] time was up after " in ended.stderr
    manifest, streams, packet = kept(desk)
    assert streams["stdout"] == b"1..2\nok 1 - opens\n"
    assert manifest["process"]["timed_out"]
    evidence = packet["decision_evidence"]
    assert evidence["process"]["interrupted"]
    assert {"TIMEOUT", "INTERRUPTED_OUTPUT"} <= set(evidence["reason_codes"])


def test_a_timeout_is_never_a_success(desk: Path) -> None:
    """RUN-5: although the command itself says 0."""
    command = ("sh", "-c", "trap 'echo ok 1; echo 1..1; exit 0' TERM; while :; do sleep 0.05; done")
    ended = call("run", "--timeout", "0.8", "--", *command, folder=desk)
    assert ended.status == 124
    assert lines(ended)[0].startswith("INDETERMINATE: 0 failed, 1 passed, 1 in all; exit code 0, timed out; ")


def test_a_process_left_behind_is_said(desk: Path) -> None:
    """RUN-7."""
    ended = call("run", "--grace", "0.2", "--", "sh", "-c", "sleep 2 & echo 1..1; echo ok 1", folder=desk)
    assert ended.status == 0
    assert b"processes left behind hold standard output and standard error open" in ended.stderr
    assert [stream["complete"] for stream in kept(desk)[0]["streams"]] == [False, False]


def test_a_command_that_cannot_be_started_leaves_nothing(desk: Path) -> None:
    """RUN-4."""
    ended = call("run", "--", "no-such-program", "--flag", folder=desk)
    assert (ended.status, ended.stdout) == (127, b"")
    assert json.loads(ended.stderr)["code"] == "COMMAND_NOT_STARTED"
    assert store_of(desk).runs() == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "command"),
        (("--timeout", "-1", "true"), "--timeout"),
        (("--grace", "nan", "true"), "--grace"),
        (("--no-store", "--store", "x", "true"), "--no-store"),
        (("--store", "gopher://x", "true"), "--store"),
        (("--packet", ".", "true"), "--packet"),
        (("--packet", "p", "--value-receipt", "p", "true"), "--packet"),
    ],
)
def test_wrong_usage_runs_nothing(arguments: tuple[str, ...], named: str, desk: Path) -> None:
    ended = call("run", *arguments, folder=desk)
    assert ended.error()["option"] == named
    assert ended.status == 2
    assert not (desk / ".context-firewall").exists()


def test_options_that_clash_run_nothing(desk: Path) -> None:
    arguments = ("--policy", "test-output-policy/v2", "--dialect", "tap")
    ended = call("run", *arguments, "--", "sh", "-c", "echo ran >ran", folder=desk)
    assert ended.error()["key"] == "dialect"
    assert not (desk / "ran").exists()


def test_no_sidecar_is_where_standard_output_goes(desk: Path) -> None:
    with (desk / "out").open("wb") as out:
        program = [*COMMAND, "run", "--packet", "out", "--", "sh", "-c", "echo ran >ran"]
        done = subprocess.run(program, stdout=out, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd=desk, check=False)
    assert done.returncode == 2
    assert json.loads(done.stderr)["option"] == "--packet"
    assert not (desk / "ran").exists()


# -- what can go wrong ------------------------------------------------------------------------------------------------


def test_a_ceiling_too_small_hides_neither_status_nor_evidence(desk: Path) -> None:
    """RUN-12."""
    for emit in ("packet", "brief"):
        for command, status in ((PRINT_GREEN, 125), (("sh", "-c", FAILING), 1)):
            ended = call("run", "--emit", emit, "--max-bytes", "10", "--", *command, folder=desk)
            assert (ended.status, ended.stdout) == (status, b"")
            said, error = ended.stderr.decode().splitlines()
            assert said.startswith("[Context Firewall] the output is kept as evidence://sha256/")
            assert json.loads(error)["code"] == "PAYLOAD_CEILING_TOO_SMALL"
            assert store_of(desk).manifest(said.rpartition(" ")[2])["process"]["exit_code"] == (status == 1)


@pytest.mark.parametrize(("command", "status"), [(PRINT_GREEN, 125), (("sh", "-c", FAILING), 1)])
def test_a_reader_that_goes_away_hides_neither(command: tuple[str, ...], status: int, desk: Path) -> None:
    """RUN-12."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "run", "--", *command],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        cwd=desk,
        check=False,
    )
    os.close(writing)
    assert done.returncode == status
    assert json.loads(done.stderr)["code"] == "OUTPUT_NOT_WRITTEN"
    assert len(store_of(desk).runs()) == 1


def test_a_store_that_cannot_be_made_hides_nothing(desk: Path) -> None:
    """RUN-12: a file stands where the folder would be."""
    (desk / "taken\x1b[31m\n").write_text("")
    ended = call("run", "--store", "taken\x1b[31m\n", "--", "sh", "-c", FAILING, folder=desk)
    assert ended.status == 1
    assert lines(ended)[0] == "FAILED: 1 failed, 1 passed, 2 in all; exit code 1; evidence NOT SUFFICIENT, see reasons"
    assert lines(ended)[-1].endswith("; no raw reference")
    first, _ = ended.stderr.decode().splitlines()
    assert first.startswith("[Context Firewall] evidence not kept: the evidence store ")
    assert "taken\\n cannot be written" in first


def _refuse(*_arguments: object, **_options: object) -> Any:
    raise StoreNotWritten("the disk is full", store="here", reason="ENOSPC")


def _unavailable(*_arguments: object, **_options: object) -> Any:
    raise StoreUnavailable("the extra is missing", store="s3://x")


BREAKS = [
    pytest.param("context_firewall.cli.run.store_in_force", _unavailable, "evidence", id="open"),
    pytest.param("context_firewall.store.evidence.EvidenceStore.writer", _refuse, "evidence", id="writer"),
    pytest.param("context_firewall.store.evidence.ObjectWriter.write", _refuse, "evidence", id="write"),
    pytest.param("context_firewall.store.evidence.ObjectWriter.finish", _refuse, "evidence", id="finish"),
    pytest.param("context_firewall.store.evidence.EvidenceStore.put_manifest", _refuse, "evidence", id="manifest"),
    pytest.param("context_firewall.store.evidence.EvidenceStore.put_run", _refuse, "record of the run", id="record"),
]


@pytest.fixture
def inside(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs the command in this process, where things can be made to fail."""
    monkeypatch.chdir(desk)

    def inside(*arguments: str) -> Ended:
        result = CliRunner().invoke(main, ["run", *arguments], standalone_mode=True)
        return Ended(result.exit_code, result.stdout_bytes, result.stderr_bytes)

    return inside


@pytest.mark.parametrize(("place", "failing", "what"), BREAKS)
def test_wherever_the_store_fails_the_verdict_comes_out(
    place: str, failing: Any, what: str, inside: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """RUN-12."""
    monkeypatch.setattr(place, failing)
    ended = inside("--", "sh", "-c", FAILING)
    assert ended.status == 1
    assert lines(ended)[0].startswith("FAILED: 1 failed, 1 passed, 2 in all; exit code 1; ")
    assert f"[Context Firewall] {what} not kept: " in ended.stderr.decode()
    assert lines(ended)[-1].endswith("no raw reference") is (what == "evidence")


def _no_disk(*_arguments: object, **_options: object) -> Any:
    raise OSError(28, "No space left on device")


def test_without_room_for_a_spool_the_store_is_read(
    inside: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, desk: Path
) -> None:
    """RUN-12."""
    monkeypatch.setattr(sources, "SPOOL_BYTES", 4)
    monkeypatch.setattr("tempfile.TemporaryFile", _no_disk)
    ended = inside("--", "sh", "-c", f"echo some noise >&2; sleep 0.1; {FAILING}")
    assert ended.status == 1
    assert lines(ended)[0].startswith("FAILED: 1 failed, 1 passed, 2 in all; exit code 1; ")
    assert kept(desk)[1]["stderr"] == b"some noise\n"


@pytest.mark.parametrize(("exit_code", "status"), [(0, 125), (3, 3)])
def test_without_any_room_the_status_is_still_the_commands(
    exit_code: int, status: int, inside: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    """RUN-12."""
    monkeypatch.setattr(sources, "SPOOL_BYTES", 4)
    monkeypatch.setattr("tempfile.TemporaryFile", _no_disk)
    ended = inside("--no-store", "--", "sh", "-c", f"echo more than four; exit {exit_code}")
    assert (ended.status, ended.stdout) == (status, b"")
    error = json.loads(ended.stderr.decode().splitlines()[-1])
    assert (error["code"], error["stream"]) == ("OUTPUT_NOT_WRITTEN", "stdout")


@pytest.mark.parametrize(
    ("came", "status"), [(["SIGTERM", "SIGHUP", "SIGTERM", "SIGINT"], 0), (["SIGINT", "SIGINT"], 125)]
)
def test_signals_after_the_commands_end(
    came: list[str], status: int, inside: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, desk: Path
) -> None:
    """RUN-6."""
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    finish = ObjectWriter.finish

    def interrupted(writer: ObjectWriter) -> Any:
        while came:
            os.kill(os.getpid(), signal.Signals[came.pop(0)])
        return finish(writer)

    monkeypatch.setattr(ObjectWriter, "finish", interrupted)
    ended = inside("--", *PRINT_GREEN)
    assert ended.status == status
    if status:
        assert json.loads(ended.stderr.decode().splitlines()[-1])["code"] == "INTERRUPTED"
    else:
        assert kept(desk)[1]["stdout"] == GREEN
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)] == before


def test_a_full_disk_hides_nothing(desk: Path) -> None:
    """RUN-12: no file of ours may grow beyond a few kilobytes."""
    program = "import random; print('1..1'); print('ok 1'); print('#', random.randbytes(200_000).hex())"
    limited = ["sh", "-c", 'ulimit -f 16; exec "$@"', "sh", *COMMAND, "run", "--", sys.executable, "-c", program]
    done = subprocess.run(limited, capture_output=True, env=ENVIRONMENT, cwd=desk, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith(b"PASSED: 0 failed, 1 passed, 1 in all; exit code 0; evidence NOT SUFFICIENT")
    assert b"[Context Firewall] evidence not kept: " in done.stderr
    assert b"File too large" in done.stderr
    assert store_of(desk).runs() == []


def test_our_sudden_end_leaves_no_half_evidence(desk: Path) -> None:
    """RUN-9: and nothing that the next run could stumble over."""
    with started("--tee", "--", "sh", "-c", "echo ready; exec sleep 5", folder=desk) as process:
        process.stderr.readline()
        process.signal(signal.SIGKILL)
    store = store_of(desk)
    assert [*store.shelf.list("objects"), *store.shelf.list("manifests"), *store.shelf.list("runs")] == []
    assert run("run", "--", *PRINT_GREEN, folder=desk).status == 0
    assert kept(desk)[1]["stdout"] == GREEN


# -- on a terminal ----------------------------------------------------------------------------------------------------


class OnTerminal:
    """A run whose three standard descriptors are a terminal of its own."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        import pty

        program = [*COMMAND, "run", *arguments]
        self.pid, self.terminal = pty.fork()
        if not self.pid:  # pragma: no cover  the child
            os.chdir(folder)
            os.execve(program[0], program, ENVIRONMENT)  # noqa: S606
        self.shown = b""

    def until(self, words: bytes) -> None:
        """Read what is shown until the words have come."""
        deadline = time.monotonic() + 30
        while words not in self.shown:
            assert time.monotonic() < deadline, self.shown
            self._read()

    def type(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    def ended(self) -> tuple[int, str]:
        """The exit status, and all that was shown."""
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status), self.shown.decode().replace("\r\n", "\n")

    def _read(self) -> bool:
        try:
            data = os.read(self.terminal, 4096)
        except OSError:  # Linux says so when the last process is gone
            return False
        self.shown += data
        return bool(data)


def test_the_terminal_is_lent_to_a_command_that_reads_from_it(desk: Path) -> None:
    """RUN-1."""
    run = OnTerminal("--tee", "--", "sh", "-c", "echo 1..1; read answer; echo ok 1 - $answer", folder=desk)
    run.until(b"1..1")
    run.type(b"yes\n")
    status, shown = run.ended()
    assert status == 0
    assert "ok 1 - yes\n" in shown
    assert "PASSED: 0 failed, 1 passed, 1 in all; exit code 0; evidence sufficient\n" in shown


@pytest.mark.parametrize("lent", [False, True])
def test_ctrl_c_interrupts_the_run(lent: bool, desk: Path) -> None:
    """RUN-6: whoever has the terminal."""
    words = "read answer; " if lent else ""
    run = OnTerminal("--tee", "--", "sh", "-c", f"{words}echo ready; exec sleep 60", folder=desk)
    if lent:
        time.sleep(0.1)
        run.type(b"go\n")
    run.until(b"ready")
    run.type(b"\x03")
    status, shown = run.ended()
    assert status == 130
    assert "exit code 130, interrupted; " in shown


def test_a_copy_on_a_terminal_obeys_nothing(desk: Path) -> None:
    """RUN-11."""
    run = OnTerminal("--tee", "--", "sh", "-c", "printf '\\033[31mred\\033]0;title\\007\\n'", folder=desk)
    _, shown = run.ended()
    assert shown.startswith("red\n")
    assert "\x1b" not in shown


# -- much -------------------------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_soak_two_hundred_megabytes_in_bounded_memory(desk: Path) -> None:
    """RUN-2: memory depends on what is kept, not on what is printed."""
    (desk / "print.py").write_text(
        "import os\n"
        "for start in range(1, 5_000_001, 10_000):\n"
        "    left = b''.join(b'ok %d - parcel of %d g has a price\\n' % (n, n) for n in range(start, start + 10_000))\n"
        "    while left: left = left[os.write(1, left):]\n"
        "os.write(1, b'not ok 5000001 - the last\\n1..5000001\\n')\n"
        "os.write(2, b'note: done\\n' * 2)\n"
    )
    measured = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode, done.stdout.decode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", measured, *COMMAND, "run", "--", sys.executable, "print.py"],
        capture_output=True,
        env=ENVIRONMENT,
        cwd=desk,
        timeout=300,
        check=True,
    )
    peak, _, brief = done.stdout.decode().partition(" ")
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(peak) * unit < 80 << 20, peak
    assert "1) the last [stdout:" in brief
    store = store_of(desk)
    streams = store.manifest(store.find_run("latest").reference)["streams"]
    assert sum(stream["byte_count"] for stream in streams) > 200_000_000


@pytest.mark.soak
def test_soak_sixty_four_runs_at_once(desk: Path) -> None:
    """RUN-9: one store, and no run disturbs another."""
    programs = [f"echo 1..1; echo ok 1 - run {number}; exit {number % 3}" for number in range(64)]
    running = [started("--", "sh", "-c", program, folder=desk) for program in programs]
    assert [one.ended().status for one in running] == [number % 3 for number in range(64)]
    store = store_of(desk)
    printed = set()
    for name in store.runs():
        manifest = store.manifest(name.reference)
        assert json.loads(store.document(store.record(name), "packet"))
        printed.add(b"".join(store.chunks(manifest["streams"][0]["sha256"], manifest["streams"][0]["byte_count"])))
    assert printed == {f"1..1\nok 1 - run {number}\n".encode() for number in range(64)}


def test_a_brief_has_a_ceiling_that_nobody_named(desk: Path) -> None:
    """RUN-10: also where a tool that nobody knows prints without end."""
    shout = "for n in range(30_000): print(f'[{n}] kiln: shelf {n} is warm')"
    ended = call("run", "--", sys.executable, "-c", shout, folder=desk)
    assert len(ended.stdout) <= 24_000
    assert "| [0] kiln: shelf 0 is warm" in lines(ended)
    assert "| [29999] kiln: shelf 29999 is warm" in lines(ended)
    assert len(json.dumps(kept(desk)[2])) < 1_100_000
