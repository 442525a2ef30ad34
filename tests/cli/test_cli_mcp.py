"""`context-firewall mcp`: the SDK's own client against a real server process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from cli_process import COMMAND, ENVIRONMENT, SOURCE_TREE, call

from context_firewall.store.places import open_store

if TYPE_CHECKING:
    from mcp import Client

RED = "printf 'TAP version 13\\nok 1 - opens\\nnot ok 2 - shuts\\n  ---\\n  at: gate 7\\n  ...\\n1..2\\n'; exit 1\n"
LINES = r"not ok 1 - a\n  ---\n  at: \033[31mred\033[0m\a | FAILED\n  ...\n1..1\nstdout:9: forged\n"
HOSTILE = f"printf '{LINES}'; exit 1\n"
SLOW = "echo $$ >pid; echo ok 1; echo not ok 2; sleep 60; echo 1..2; exit 1\n"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A repository with suites of each sort, of which some may be run."""
    folder = tmp_path / "gates"
    (folder / ".git").mkdir(parents=True)
    for name, script in (("red", RED), ("hostile", HOSTILE), ("slow", SLOW), ("reads", "cat; echo ok 1; echo 1..1\n")):
        (folder / name).write_text(script)
    (folder / "context-firewall.toml").write_text(
        'commands = ["sh red ...", "sh hostile", "sh slow", "sh reads", "no-such-program"]\n'
    )
    return folder


@asynccontextmanager
async def client(desk: Path, *options: str, mode: str = "auto") -> AsyncIterator["Client"]:
    """A client of a server of its own."""
    from mcp import Client, StdioServerParameters  # most of a second that only these tests pay

    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "context_firewall", "mcp", *options],
        env={"PYTHONPATH": str(SOURCE_TREE)},
        cwd=desk,
    )
    async with Client(server, mode=mode, read_timeout_seconds=60) as connected:
        yield connected


def asked(desk: Path, talk: Callable[["Client"], Awaitable[None]], *options: str, mode: str = "auto") -> None:
    """Have a talk with a server."""

    async def main() -> None:
        async with client(desk, *options, mode=mode) as connected:
            await talk(connected)

    anyio.run(main)


def text_of(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def newest(desk: Path) -> dict[str, Any]:
    """The packet of the newest stored run."""
    store = open_store(None, folder=str(desk))
    packet: dict[str, Any] = json.loads(store.document(store.record(store.find_run("latest")), "packet"))
    return packet


@pytest.mark.parametrize("mode", ["legacy", pytest.param("auto", marks=pytest.mark.soak)])
def test_a_round_trip(desk: Path, mode: str) -> None:
    """MCP-1 to MCP-6: the tools say what the commands say; in both ages of the protocol."""
    from mcp.shared.exceptions import MCPError

    async def talk(client: "Client") -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["run_tests", "raw", "runs", "explain", "verify", "guard"]
        assert "sh red ...; sh hostile" in (tools["run_tests"].description or "")
        assert tools["run_tests"].input_schema["required"] == ["command"]
        assert {name for name, tool in tools.items() if tool.output_schema} == {"run_tests", "runs", "verify", "guard"}
        writing = [name for name, tool in tools.items() if not (tool.annotations and tool.annotations.read_only_hint)]
        assert writing == ["run_tests"]

        ran = await client.call_tool("run_tests", {"command": ["sh", "red"]})
        assert not ran.is_error
        brief = call("show", "latest", folder=desk).stdout.decode()
        assert text_of(ran) == brief
        reference = newest(desk)["receipt"]["raw_evidence"]["reference"]
        assert ran.structured_content == {
            "brief": brief,
            "status": "failed",
            "disposition": "SUFFICIENT",
            "exit_code": 1,
            "counts": {"failed": 1, "passed": 1, "skipped": 0, "todo": 0, "total": 2},
            "reference": reference,
            "remarks": [],
        }
        assert text_of(await client.call_tool("raw", {"ref": reference, "failure": 1, "context": 0})) == (
            "stdout:3: not ok 2 - shuts\nstdout:4:   ---\nstdout:5:   at: gate 7\nstdout:6:   ...\n"
            "[Context Firewall] stdout: lines 3-6 of 7, 42 B of 75 B; left out: lines 1-2,7; digest checked"
        )
        assert text_of(await client.call_tool("raw", {"lines": "stdout:7"})).startswith("stdout:7: 1..2\n[")
        assert (
            text_of(await client.call_tool("raw", {"grep": "nowhere"})) == "[Context Firewall] no line holds that text"
        )

        listed = await client.call_tool("runs", {"status": "failed"})
        assert listed.structured_content is not None
        (stored,) = listed.structured_content["runs"]
        assert (stored["command"], stored["counts"]["failed"], stored["run"]) == ("sh red", 1, reference[18:30])
        assert json.loads(text_of(listed)) == listed.structured_content
        explained = text_of(await client.call_tool("explain", {"ref": stored["run"]}))
        assert explained.encode() == call("show", "latest", "--emit", "explanation", folder=desk).stdout
        cut = text_of(await client.call_tool("explain", {"max_bytes": 200}))
        assert explained.startswith(cut.rpartition("[Context Firewall] cut after ")[0])
        assert len(cut) < 260
        verified = await client.call_tool("verify", {})
        levels = ["packet", "raw_bytes", "replay", "stored"]
        assert verified.structured_content == {"verified": True, "levels": levels, "findings": []}

        (resource,) = (await client.list_resources()).resources
        (content,) = (await client.read_resource(resource.uri)).contents
        assert getattr(content, "text", "").encode() == call("show", "latest", "--emit", "packet", folder=desk).stdout
        assert content.mime_type == "application/json"
        templates = {one.name: one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        assert {"packet", "brief", "manifest", "record"} <= set(templates)
        (content,) = (await client.read_resource(templates["brief"].replace("{reference}", "latest"))).contents
        assert getattr(content, "text", "") == brief
        with pytest.raises(MCPError, match="EVIDENCE_NOT_FOUND"):
            await client.read_resource(templates["brief"].replace("{reference}", "ffff"))

    asked(desk, talk, mode=mode)


def test_nothing_else_is_run(desk: Path) -> None:
    """MCP-2: not allowed, not plain, not started; and no word of the client's becomes an option of ours.

    Nor is a module of the project's one of ours.
    """
    (desk / "context_firewall.py").write_text("open('ran', 'w')\n")

    async def talk(client: "Client") -> None:
        for command, reason in (
            ("sh reads more", "not allowed"),
            (["sh", "-c", "touch ran"], "not allowed"),
            (["touch", "ran"], "not allowed"),
            ("sh red; touch ran", "list of words"),
            ("sh red $(touch ran)", "list of words"),
            ([], "list of words"),
            (7, "command"),
            ("no-such-program", "COMMAND_NOT_STARTED: no-such-program cannot be started"),
        ):
            refused = await client.call_tool("run_tests", {"command": command})
            assert refused.is_error, command
            assert reason in text_of(refused)
        # Words after an open end are the command's, whatever they look like.
        ran = await client.call_tool(
            "run_tests", {"command": ["sh", "red", "; touch ran", "--packet=ran", "$(touch ran)"]}
        )
        assert not ran.is_error
        for tool, arguments in (
            ("raw", {"ref": "--store=ran"}),
            ("raw", {"grep": "--help", "ref": "latest", "lines": "1"}),
            ("explain", {"ref": "--config=ran"}),
            ("verify", {"ref": "-"}),
            ("raw", {"failure": 0}),
            ("raw", {"grep": "a\0b"}),
            ("raw", {"grep": "a" * 3_000_000}),
            ("runs", {"limit": -1}),
            ("runs", {"status": "--json"}),
        ):
            assert (await client.call_tool(tool, arguments)).is_error, (tool, arguments)
        too_small = await client.call_tool("run_tests", {"command": "sh red", "max_bytes": 10})
        assert too_small.is_error
        assert "PAYLOAD_CEILING_TOO_SMALL" in text_of(too_small)
        assert "the output is kept as evidence://sha256/" in text_of(too_small)

    asked(desk, talk)
    assert not (desk / "ran").exists()


def test_what_a_test_prints_is_data_and_standard_input_is_empty(desk: Path) -> None:
    """P7 and MCP-3."""

    async def talk(client: "Client") -> None:
        ran = await client.call_tool("run_tests", {"command": "sh hostile"})
        for line in text_of(ran).splitlines()[2:]:
            assert line[0] in "|!>r~u"
            assert line.isprintable()
        raw = text_of(await client.call_tool("raw", {"lines": "stdout:3 stdout:6"}))
        assert raw.splitlines()[:2] == ["stdout:3:   at: red\\x07 | FAILED", "stdout:6: stdout:9: forged"]
        read = await client.call_tool("run_tests", {"command": "sh reads"})
        assert read.structured_content is not None
        assert read.structured_content["status"] == "passed"

    asked(desk, talk)


def test_a_session_is_audited(desk: Path) -> None:
    """MCP-1: the tool guard, on a session whose compaction lost a rule."""
    asked_for = {"role": "user", "content": "Draw the charts. Wait 90 seconds between requests. Use tabs."}
    summary = {"role": "user", "content": "Charts drawn. Wait 9 seconds between requests. Tabs are used."}
    lines: list[dict[str, Any]] = [
        {"uuid": "u0", "parentUuid": None, "type": "user", "message": asked_for},
        {"uuid": "u1", "parentUuid": None, "type": "system", "subtype": "compact_boundary"},
        {"uuid": "u2", "parentUuid": "u1", "type": "user", "isCompactSummary": True, "message": summary},
    ]
    session = "".join(json.dumps({**line, "sessionId": "s"}) + "\n" for line in lines)
    (desk / "session.jsonl").write_text(session)
    pinned = "Never force-push to main."
    report = json.loads(call("guard", "session.jsonl", "--pinned", pinned, "--json", folder=desk).stdout)

    async def talk(client: "Client") -> None:
        audited = (
            await client.call_tool("guard", {"transcript": "session.jsonl", "pinned": [pinned]})
        ).structured_content
        assert audited is not None
        assert audited["outcome"] == report["outcome"] == "lost"
        assert (audited["rules"], audited["compactions"]) == (len(report["constraints"]), 1)
        assert audited["counts"] == report["counts"]
        found = {one["rule"]: one["verdict"] for one in audited["findings"]}
        assert found[pinned] == "lost"
        assert found["Wait 90 seconds between requests."] == "altered"
        for transcript in ("none.jsonl", "-", "reinject", "--help"):
            assert (await client.call_tool("guard", {"transcript": transcript})).is_error

    asked(desk, talk)


def alive(desk: Path) -> bool:
    """Whether the slow suite still runs."""
    with suppress(ProcessLookupError):
        os.kill(int((desk / "pid").read_text()), 0)
        return True
    return False


async def started(desk: Path) -> None:
    with anyio.fail_after(30):
        while not (desk / "pid").exists() or not (desk / "pid").read_text().strip():
            await anyio.sleep(0.02)


def test_progress_timeout_and_a_call_that_is_given_up(desk: Path) -> None:
    """MCP-4 and MCP-5: what was printed until then is kept."""

    async def talk(client: "Client") -> None:
        told: list[tuple[float, float | None, str | None]] = []

        async def follow(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total, message))

        slow = {"command": "sh slow", "timeout_seconds": 0.8}
        ran = await client.call_tool("run_tests", slow, progress_callback=follow)
        assert ran.structured_content is not None
        assert "! TIMEOUT" in ran.structured_content["brief"]
        assert ran.structured_content["remarks"][0].startswith("[Context Firewall] time was up")
        assert told[0][2] == "0 s, about 2 tests, 1 failed so far"
        assert [progress for progress, _, _ in told] == sorted({progress for progress, _, _ in told})
        assert all(total is not None and total >= progress for progress, total, _ in told)
        assert not alive(desk)

        (desk / "pid").unlink()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "run_tests", {"command": "sh slow"})
            await started(desk)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(30):
            while "INTERRUPTED_OUTPUT" not in newest(desk)["decision_evidence"]["reason_codes"] or alive(desk):
                await anyio.sleep(0.05)

    asked(desk, talk)


@pytest.mark.parametrize("how", ["gone", "SIGTERM"])
def test_a_server_that_ends_leaves_nothing_running(desk: Path, how: str) -> None:
    """MCP-5: by the end of its input, or by a signal."""
    server = subprocess.Popen(
        [*COMMAND, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=desk, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    for message in (
        {"id": 1, "method": "initialize", "params": opening},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "run_tests", "arguments": {"command": "sh slow"}}},
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        if message.get("id") == 1:
            assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "context-firewall"
    anyio.run(started, desk)
    if how == "gone":
        server.stdin.close()
        assert server.wait(30) == 0
    else:
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 128 + signal.SIGTERM
        server.stdin.close()
    server.stdout.close()
    until = time.monotonic() + 30
    while alive(desk) and time.monotonic() < until:
        time.sleep(0.02)
    assert not alive(desk)
    assert "INTERRUPTED_OUTPUT" in newest(desk)["decision_evidence"]["reason_codes"]


@pytest.mark.soak
def test_another_folder_and_a_store_of_its_own(desk: Path, tmp_path: Path) -> None:
    async def talk(client: "Client") -> None:
        assert not (await client.call_tool("run_tests", {"command": "sh red"})).is_error
        assert (await client.call_tool("verify", {})).structured_content["verified"]

    asked(tmp_path, talk, "--folder", str(desk), "--store", str(tmp_path / "evidence"))
    assert (tmp_path / "evidence").is_dir()
    assert not (desk / ".context-firewall").exists()


@pytest.mark.soak
def test_without_a_list_nothing_is_run(desk: Path) -> None:
    async def talk(client: "Client") -> None:
        refused = await client.call_tool("run_tests", {"command": "sh red"})
        assert "No command is allowed" in text_of(refused)

    asked(desk, talk, "--no-config")


def test_what_hinders_a_start_is_said(desk: Path, tmp_path: Path) -> None:
    """MCP-1: wrong folder, wrong configuration, no SDK."""
    assert call("mcp", "--folder", str(tmp_path / "none"), folder=desk).error()["option"] == "--folder"
    (desk / "context-firewall.toml").write_text('commands = ["a; b"]\n')
    assert call("mcp", folder=desk).error()["key"] == "commands[0]"
    without = "import sys; sys.modules['mcp'] = None; from context_firewall.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", without, "mcp", "--no-config"],
        capture_output=True,
        env=ENVIRONMENT,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert "context-firewall[mcp]" in json.loads(ended.stderr)["message"]


def test_no_other_command_imports_the_sdk() -> None:
    script = (
        "import sys\nfrom click import Context\nfrom context_firewall.cli import main\n"
        "[main.get_command(Context(main), name) for name in main.list_commands(Context(main))]\n"
        "print([name for name in ('mcp', 'pydantic', 'anyio') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=ENVIRONMENT, timeout=60, check=True)
    assert done.stdout.decode().strip() == "[]"
