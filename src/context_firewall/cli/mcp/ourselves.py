"""Our own commands as processes of their own: what a tool does is what the command line does, to the byte.

A run needs the signals and the one thread of a process; and a call that the client gives up is ended by ending its
process, which passes that on to the tests and keeps what they had printed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

import anyio
from anyio.abc import ByteReceiveStream, Process

from context_firewall.errors import InvalidInput

# Never a module of the folder that is worked in, whatever its name.
OURSELVES = (sys.executable, "-P", "-m", "context_firewall")
# How much of a process's error stream is held: remarks and one error are less.
ERRORS_AT_MOST = 1 << 16

_running: set[Process] = set()

Follow = Callable[[dict[str, Any]], Awaitable[None]]


class Ended(NamedTuple):
    """How a command of ours ended, and what it wrote."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def remarks(self) -> list[str]:
        """What it says besides its document, without the error that it may end with."""
        return [line for line in self.stderr.splitlines() if not line.startswith("{")]

    @property
    def error(self) -> str | None:
        """The error that it ended with, as code and message."""
        last = self.stderr.rstrip("\n").rpartition("\n")[2]
        if not last.startswith("{"):
            return None
        with suppress(ValueError):
            document = json.loads(last)
            return f"{document['code']}: {document['message']}" if "message" in document else last
        return last


async def call(arguments: Sequence[str], *, given: bytes = b"", follow: Follow | None = None) -> Ended:
    """Run a command of ours to its end.

    `follow` gets what `run --progress-fd` tells, as it comes. If the caller is cancelled, the command is asked to end
    and waited for.
    """
    reading, writing = os.pipe() if follow is not None else (-1, -1)
    told = [] if follow is None else [f"--progress-fd={writing}"]
    with ExitStack() as ours:
        if follow is not None:
            ours.callback(os.close, reading)
        try:
            process = await anyio.open_process(
                [*OURSELVES, arguments[0], *told, *arguments[1:]],
                stdin=subprocess.PIPE if given else subprocess.DEVNULL,
                pass_fds=[writing] if follow is not None else [],
            )
        except (OSError, ValueError) as problem:  # words that no process can get: too long, a NUL, half a character
            return Ended(2, b"", json.dumps({"code": InvalidInput.code, "message": f"{arguments[0]}: {problem}"}))
        finally:
            if follow is not None:
                os.close(writing)
        return await _ended(process, given, reading, follow)


async def _ended(process: Process, given: bytes, reading: int, follow: Follow | None) -> Ended:
    """See a process that was started to its end."""
    _running.add(process)
    out, err = bytearray(), bytearray()
    try:
        async with anyio.create_task_group() as tasks:
            assert process.stdout is not None  # noqa: S101  pipes were asked for
            assert process.stderr is not None  # noqa: S101
            tasks.start_soon(_collect, process.stdout, out, None)
            tasks.start_soon(_collect, process.stderr, err, ERRORS_AT_MOST)
            if follow is not None:
                tasks.start_soon(_follow, reading, follow)
            if process.stdin is not None:
                with suppress(anyio.BrokenResourceError):
                    await process.stdin.send(given)
                await process.stdin.aclose()
            await process.wait()
    finally:
        await _end(process)
    return Ended(await process.wait(), bytes(out), err.decode("utf-8", "replace"))


async def end_all() -> None:
    """Ask all that runs to end, and wait for it."""
    for process in list(_running):
        with suppress(ProcessLookupError):
            process.terminate()
    while _running:
        await anyio.sleep(0.02)


async def _end(process: Process) -> None:
    """See a process to its end; one that still runs is asked to end, and nobody listens to it any more."""
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                await stream.aclose()
        await process.wait()
    _running.discard(process)


async def _collect(stream: ByteReceiveStream, held: bytearray, most: int | None) -> None:
    """Read a stream to its end; hold its beginning, or all of it."""
    async for chunk in stream:
        held += chunk if most is None else chunk[: max(0, most - len(held))]


async def _follow(reading: int, follow: Follow) -> None:
    """Hand on each line that is told, until nobody can tell more."""
    rest = b""
    while True:
        await anyio.wait_readable(reading)
        chunk = os.read(reading, 4096)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            with suppress(ValueError):
                await follow(json.loads(line))
