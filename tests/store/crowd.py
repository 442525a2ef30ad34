"""Many processes store runs in one folder at once.

    python crowd.py FOLDER WRITERS RUNS [prune]

Prints how many runs are there in the end. With `prune`, another process gives up nothing, over and over, and sweeps.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stored import RED, check_store, in_folder, store_run, tap

from context_firewall.store import pruning


def write(folder: Path, writer: int, runs: int) -> None:
    """Runs of which every second one is like that of all others."""
    for number in range(runs):
        own = tap(5, [writer % 5 + 1], f"lifts{writer}") if number % 2 else RED
        at = f"2026-11-30T10:00:{number:02}.{writer:03}Z"
        store_run(in_folder(folder), own, b"%d\n" % number, at=at, duration_ms=writer)


def prune(folder: Path) -> None:
    """Prune with limits that nothing is beyond, as fast as it goes."""
    store = in_folder(folder)
    while True:
        before = time.time() - 600
        planned = pruning.plan(
            store, pruning.Limits(last=10_000), young_from="2026-01-01T00:00:00.000Z", kept_before=before
        )
        pruning.carry_out(store, planned, kept_before=before)


def child_that(deed: Callable[..., None], *arguments: Any) -> int:
    """A child that does this and ends well only if it did."""
    child = os.fork()
    if not child:
        status = 1
        try:
            deed(*arguments)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return child


def main(folder: Path, writers: int, runs: int, pruned: bool) -> None:
    """Start all, wait for all."""
    pruner = child_that(prune, folder) if pruned else 0
    try:
        children = [child_that(write, folder, writer, runs) for writer in range(writers)]
        failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
        assert not failed, f"{failed} writers failed"
        assert not pruner or os.waitpid(pruner, os.WNOHANG) == (0, 0), "the pruner died"
    finally:
        if pruner:
            os.kill(pruner, signal.SIGKILL)
            os.waitpid(pruner, 0)
    print(check_store(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), "prune" in sys.argv)
