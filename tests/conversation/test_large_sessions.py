"""Sessions of hundreds of megabytes in bounded memory: what is held is the view, or what was asked for (SES-9)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MEGABYTES = 500
LIMIT_MIB = 120

READ = r"""
import re, sys
from context_firewall import Author, stream_conversation
def chunks(path):
    with open(path, "rb") as file:
        while chunk := file.read(1 << 18):
            yield chunk
authors = {Author.USER, Author.SUMMARY} if sys.argv[2] == "lean" else None
stream, found = stream_conversation(chunks(sys.argv[1]), authors=authors), 0
while True:
    try:
        next(stream)
        found += 1
    except StopIteration as end:
        # What this process alone held: the kernel's count for resource usage is inherited from whoever started it.
        peak = re.search(r"VmHWM:\s+([0-9]+) kB", open("/proc/self/status").read())[1]
        print(found, len(end.value.view), peak)
        break
"""


def lines(megabytes: int, every: int | None) -> Iterator[bytes]:
    """A session with long tool results; with `every`, a compaction each time so many lines were written."""
    written, number, parent = 0, 0, None
    while written < megabytes * 1_000_000:
        number += 1
        uuid = f"u{number}"
        keys: dict[str, Any] = {
            "parentUuid": parent,
            "isSidechain": False,
            "sessionId": "s",
            "uuid": uuid,
            "type": "user",
        }
        if every and number % every == 0:
            keys |= {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}
        elif every and number % every == 1 and number > 1:
            keys |= {"isCompactSummary": True, "message": {"role": "user", "content": "Summary: never deploy."}}
        elif number % 40 == 2:
            keys["message"] = {"role": "user", "content": f"Never deploy {number}."}
        elif number % 2:
            call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": "ls"}}
            keys |= {"type": "assistant", "message": {"role": "assistant", "content": [call]}}
        else:
            result = {"type": "tool_result", "tool_use_id": f"c{number - 1}", "content": "line\n" * 600}
            keys |= {"message": {"role": "user", "content": [result]}, "toolUseResult": {"stdout": "line\n" * 400}}
        line = json.dumps(keys).encode() + b"\n"
        written += len(line)
        parent = uuid
        yield line


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="a process' peak is read from /proc")
@pytest.mark.parametrize(("every", "how"), [(None, "lean"), (1000, "lean"), (1000, "whole")])
def test_a_large_session_in_bounded_memory(tmp_path: Path, every: int | None, how: str) -> None:
    path = tmp_path / "session.jsonl"
    with path.open("wb") as file:
        file.writelines(lines(MEGABYTES, every))
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), how], capture_output=True, text=True, check=True, timeout=300
    )
    found, shown, peak = map(int, done.stdout.split())
    assert found > 100 if every else found == 0
    assert shown > 0
    assert peak < LIMIT_MIB * 1024, f"{peak / 1024:.0f} MiB"
