"""Runs the command line: as its own process, as users do, or in this one."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from unittest import mock

from context_firewall.canonical import canonical_bytes
from context_firewall.documents.test_run_input import PROTOCOL

SOURCE_TREE = Path(__file__).resolve().parents[2] / "src"
ENVIRONMENT = {"PYTHONPATH": str(SOURCE_TREE), "PATH": os.environ.get("PATH", "")}
COMMAND = (sys.executable, "-m", "context_firewall")

GREEN = b"TAP version 13\nok 1 - opens the gate\n1..1\n# tests 1\n# pass 1\n# fail 0\n# skipped 0\n"
RED = (
    b"TAP version 13\nnot ok 1 - opens the gate\n  message: stays shut\n1..1\n"
    b"# tests 1\n# pass 0\n# fail 1\n# skipped 0\n"
)
IDENTITY = ("--operation-id", "op-1", "--source-id", "suite", "--run-id", "run-1", "--raw-ref", "file:run.tap")


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended."""

    status: int
    stdout: bytes
    stderr: bytes

    def packet(self) -> dict[str, Any]:
        """The packet of a successful run; checks what must hold for every one."""
        import json

        assert self.status in (0, 1, 3), self.stderr
        assert self.stderr.startswith(b"[Context Firewall] ")
        assert self.stderr.count(b"\n") == 1
        packet: dict[str, Any] = json.loads(self.stdout)
        assert canonical_bytes(packet) + b"\n" == self.stdout
        assert packet["receipt"]["measurements"]["reduced_bytes"] == len(self.stdout)
        return packet

    def error(self) -> dict[str, Any]:
        """The error of a failed run; checks what must hold for every one."""
        import json

        assert self.stdout == b""
        assert self.stderr.count(b"\n") == 1
        error: dict[str, Any] = json.loads(self.stderr)
        assert canonical_bytes(error) + b"\n" == self.stderr
        assert self.status == (2 if error["code"] in ("INVALID_INPUT", "PAYLOAD_CEILING_TOO_SMALL") else 1)
        return error


def run(*arguments: str | bytes | Path, given: bytes | BinaryIO = b"", folder: Path | None = None) -> Ended:
    """Run `context-firewall` with the arguments and standard input."""
    source: dict[str, Any] = {"input": given} if isinstance(given, bytes) else {"stdin": given}
    ended = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, env=ENVIRONMENT, cwd=folder, timeout=120, check=False, **source
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def call(*arguments: str | bytes | Path, given: bytes | BinaryIO = b"", folder: Path | None = None) -> Ended:
    """The same in this process, which saves the start: for all that does not need descriptors or a process of its own.

    What only a start can show (every command loads what it needs) is shown by the examples of the documentation.
    """
    from context_firewall.cli import main
    from context_firewall.cli.channels import status_of

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    words = [os.fsdecode(argument) for argument in arguments]
    with (
        io.TextIOWrapper(io.BytesIO(given) if isinstance(given, bytes) else given) as source,
        contextlib.chdir(folder or Path()),
        mock.patch.object(sys, "stdin", source),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = status_of(lambda: main.main(words, "context-firewall", standalone_mode=False))
        return Ended(status, *(channel.buffer.getvalue() for channel in (out, err)))


def envelope(data: str = GREEN.decode(), exit_code: int | None = 0, **changes: Any) -> dict[str, Any]:
    """An envelope with one stream."""
    return {
        "protocol_version": PROTOCOL,
        "operation_id": "op-1",
        "source": {"id": "suite", "run_id": "run-1", "raw_evidence_ref": "file:run.tap"},
        "process": {"exit_code": exit_code, "duration_ms": 3, "interrupted": False},
        "streams": [{"name": "stdout", "encoding": "utf8", "data": data}],
        **changes,
    }
