"""Lines that are only ever added to a file: the ledger that an audit keeps and that a pipeline reads.

One write puts all lines of an audit at the file's end, and they are synced before the command goes on. Where the system
has locks, two audits at once wait for each other. A line that an interrupted write left unfinished stays as it is; the
next audit begins on a line of its own.
"""

import os
import stat

from context_firewall.cli.channels import shown_path
from context_firewall.errors import InvalidInput, OutputNotWritten


def append_lines(option: str, path: str, lines: bytes) -> None:
    """Add whole lines to the file that an option names, which is made if it is missing.

    Raises InvalidInput for what is no regular file, OutputNotWritten where it cannot be written.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with open(descriptor, "r+b", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InvalidInput(f"{option} is not a regular file", option=option, path=shown_path(path))
            _lock(descriptor)
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                lines = b"\n" + lines
            while lines:
                lines = lines[file.write(lines) :]
            os.fsync(descriptor)
    except OSError as problem:
        reason = "it is a symbolic link; name the file itself" if os.path.islink(path) else problem.strerror
        raise OutputNotWritten(
            f"{option} cannot be written: {reason}", option=option, path=shown_path(path)
        ) from problem
    except ValueError as problem:
        raise InvalidInput(f"{option}: {problem}", option=option) from problem


def _lock(descriptor: int) -> None:
    """Wait for other audits; closing the file gives the lock back."""
    try:
        import fcntl
    except ImportError:  # no locks here: one write at the file's end has to do
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
