"""Kills a process at every line that it runs in the store, and looks at what is left.

    python killed.py FOLDER write|prune|compact EVERY

Forks a child for each step (each EVERY-th, to be quick), which kills itself there with SIGKILL; after each death the
promise of the store is checked. Prints how many children died and how many came to their end.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from stored import GREEN, RED, check_store, in_folder, made, store_compaction, store_run

from context_firewall import parse_compaction_record, restored_view
from context_firewall.cli import main as command
from context_firewall.cli import outputs
from context_firewall.store import pruning
from context_firewall.store.compactions import compactions, originals_kept

ROOMS = (os.path.dirname(pruning.__file__), outputs.__file__)
SECOND = made(GREEN, b"careful\n", exit_code=0)
# A killed process leaves what it has written to the system; syncing is for when the machine dies.
os.fsync = lambda fd: None


def dies(deed: Callable[[], None], step: int) -> bool:
    """Run a deed in a child that kills itself at that line of the store; whether it got so far."""
    child = os.fork()
    if not child:
        left = step

        def count(_frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal left
            if event == "line":
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
            return count

        def trace(frame: FrameType, _event: str, _argument: Any) -> Any:
            return count if frame.f_code.co_filename.startswith(ROOMS) else None

        sys.settrace(trace)
        deed()
        sys.settrace(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert (os.WIFEXITED(status) and not os.WEXITSTATUS(status)) or os.WTERMSIG(status) == signal.SIGKILL, status
    return os.WIFSIGNALED(status)


def write(folder: Path) -> Callable[[], None]:
    """Store a run and a compaction."""

    def deed() -> None:
        store = in_folder(folder)
        with store.writer() as out:
            for at in range(0, len(GREEN), 50):
                out.write(GREEN[at : at + 50])
            out.finish()
        store.put(b"careful\n")
        store.put_manifest(SECOND.manifest)
        store.put_run(*SECOND, recorded_at="2026-11-30T10:00:01.000Z")
        store_compaction(store)

    return deed


def prune(folder: Path) -> Callable[[], None]:
    """Give up all runs and compactions but the newest."""

    def deed() -> None:
        store = in_folder(folder)
        planned = pruning.plan(
            store, pruning.Limits(last=1), young_from="2027-01-01T00:00:00.000Z", kept_before=float("inf")
        )
        pruning.carry_out(store, planned, kept_before=float("inf"))

    return deed


def compact(folder: Path) -> Callable[[], None]:
    """Compact a view as the command does it."""
    view = [{"role": "user", "content": f"Weigh parcel {number}."} for number in range(9)]
    folder.with_name("chat.json").write_text(json.dumps(view))
    names = ("chat.json", "--store", folder.name, "--output", "view.json", "--record", "record.json")
    return lambda: command.main(["compact", *names], standalone_mode=False)


def check_compacted(folder: Path) -> bool:
    """Hold the promise that a file is never there without what it takes to undo it; whether both are there."""
    record, view = folder.with_name("record.json"), folder.with_name("view.json")
    if record.exists():
        document = parse_compaction_record(record.read_bytes())
        assert len(restored_view(document, originals_kept(in_folder(folder), document).get)) == 9
    if view.exists():
        assert len(json.loads(view.read_bytes())) == 5
        assert compactions(in_folder(folder))
    return record.exists() and view.exists()


DEEDS = {"write": write, "prune": prune, "compact": compact}


def main(folder: Path, what: str, every: int) -> None:
    """Kill at each step and check."""
    died, step = 0, 1
    os.chdir(folder.parent)
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("view.json", "record.json"):
            Path(name).unlink(missing_ok=True)
        if what == "prune":
            store_run(in_folder(folder), RED, at="2026-11-30T09:00:00.000Z", duration_ms=1)
            store_run(in_folder(folder), RED, b"x\n", at="2026-11-30T10:00:00.000Z")
            for hour in (7, 8):
                store_compaction(in_folder(folder), f"Weigh {hour}.", at=f"2026-11-30T0{hour}:00:00.000Z")
        deed = DEEDS[what](folder)
        killed = dies(deed, step)
        runs, whole = check_store(folder), check_compacted(folder)
        # What was interrupted can be done again, over whatever was left.
        deed()
        if what == "compact":
            assert check_store(folder) == 0
            assert check_compacted(folder)
        else:
            assert check_store(folder) == len(compactions(in_folder(folder))) == 1
        if not killed:
            assert whole if what == "compact" else runs == 1
            break
        died += 1
        step += every
    print(died)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
