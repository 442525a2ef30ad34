"""The terminal that we were started from, lent to a child's process group when the child asks for it.

A process that reads from a terminal, or changes its settings, while another group has the foreground is stopped by the
kernel. That is how we learn that the child wants it. Where there is no terminal, nothing here does anything.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Foreground:
    """The foreground of the controlling terminal, if there is one."""

    def __init__(self) -> None:
        self.lent = False
        """Whether the child's group has the foreground."""

    def lend(self, group: int) -> bool:
        """Put a process group into the foreground; False where it is not ours to give."""
        self.lent = self.lent or self._hand_over(os.getpgrp(), group)
        return self.lent

    def take_back(self) -> None:
        """Have the foreground again, if it was lent."""
        if self.lent:
            self.lent = False
            self._hand_over(None, os.getpgrp())

    @contextmanager
    def at_rest(self, group: int) -> Iterator[None]:
        """While the body runs, the terminal is back where it came from; then the group has again what it had."""
        was_lent = self.lent
        self.take_back()
        yield
        if was_lent:
            self.lend(group)

    def _hand_over(self, holder: int | None, group: int) -> bool:
        """Put a group into the foreground, if `holder` has it now; None: whoever has it."""
        try:
            terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            return False
        # Who is in the background may hand the terminal over only while the signal against that is blocked.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
        try:
            if holder is not None and os.tcgetpgrp(terminal) != holder:
                return False
            with suppress(OSError):
                os.tcsetpgrp(terminal, group)
                return True
            return False
        except OSError:
            return False
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(terminal)
