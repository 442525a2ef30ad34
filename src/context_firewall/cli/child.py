"""A command as a child process: started without a shell, its output taken as exact bytes, ended whole.

Rules of this room:
- The child leads a process group of its own, so that a signal or a timeout reaches all that it has started. What it
  does not say is inherited: standard input, environment, working directory, open files, ignored signals.
- One thread and one loop: pipes, signals and clocks wake it, and what a pipe holds is handed on at once. The loop never
  waits for a pipe alone, because a process that the child left behind may hold it open for ever.
- A signal that asks us to stop is passed on to the group. From SIGTERM or SIGHUP on, and when time is up, the group has
  its grace to end by itself; then it is killed. From the keyboard nothing is killed: people can ask again.
- A terminal stays ours until the child asks for it (`foreground`), so that Ctrl-C comes to us and the run is known to
  be interrupted.
"""

import errno
import fcntl
import os
import selectors
import signal
import termios
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from context_firewall.cli.channels import shown_path
from context_firewall.cli.foreground import Foreground
from context_firewall.errors import ContextFirewallError

# As much as a pipe holds on Linux.
CHUNK_BYTES = 1 << 16
# How often the end of a group is looked for that has lost its leader: no signal tells of it.
GROUP_SECONDS = 0.02
# How often a live status is renewed.
TICK_SECONDS = 0.5

NOT_FOUND = 127
NOT_EXECUTABLE = 126

# What asks us to stop; those that say so in earnest start the group's grace.
STOP_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
EARNEST = (signal.SIGTERM, signal.SIGHUP)
TERMINAL_STOPS = (signal.SIGTTIN, signal.SIGTTOU)
# Python ignores these for itself; a child is to find them as it would without us.
_PYTHON_IGNORES = tuple(getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name))

Take = Callable[[str, bytes], None]


class CommandNotStarted(ContextFirewallError):
    """The command cannot be found (status 127) or cannot be executed (126), as a shell says it."""

    code = "COMMAND_NOT_STARTED"

    def __init__(self, command: str, problem: OSError) -> None:
        self.exit_status = NOT_FOUND if isinstance(problem, FileNotFoundError) else NOT_EXECUTABLE
        shown = shown_path(command)
        super().__init__(f"{shown} cannot be started: {problem.strerror}", command=shown, exit_code=self.exit_status)


class Ending(NamedTuple):
    """How a child ended."""

    exit_code: int
    """0 to 255, as a shell gives it: 128+n for a process that signal n ended."""
    signal: int | None
    """The signal that ended it, if one did."""
    duration_ms: int
    """From the start to the end of the child itself, in milliseconds."""
    timed_out: bool
    passed_on: tuple[int, ...]
    """The signals that asked us to stop and were passed on, in order."""
    held_open: tuple[str, ...]
    """Streams that other processes still held open when we stopped waiting for them."""

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before it ended by itself."""
        return self.timed_out or self.signal is not None or bool(self.passed_on)


def run_child(
    command: Sequence[str],
    take: Take,
    *,
    merge_streams: bool = False,
    timeout: float | None = None,
    grace: float = 5.0,
    tick: Callable[[float], None] | None = None,
) -> Ending:
    """Run a command to its end and hand every chunk of `stdout` and `stderr` to `take` while it arrives.

    With `merge_streams` both are one pipe, `stdout`, in the order in which they were written. `timeout` and `grace` are
    in seconds. `tick` is called about twice a second with the seconds since the start. Raises CommandNotStarted. If
    `take` or `tick` raises, the group is killed before the exception leaves.
    """
    with _signals_heard() as woken:
        return _Run(_Child(command, merge_streams), take, timeout, grace, tick).until_over(woken)


@contextmanager
def requests_to_stop_deferred() -> Iterator[None]:
    """While the body runs, no signal ends it: what a child has printed is not to be lost after its end.

    `run_child`, inside, passes them on. Outside of it SIGTERM and SIGHUP end nothing, nor does a first SIGINT, which
    may have been meant for the child; a second is meant for us and raises KeyboardInterrupt.
    """
    interrupts = 0

    def interrupted(_number: int, _frame: object) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            raise KeyboardInterrupt

    with _handled(EARNEST), _handled([signal.SIGINT], interrupted):
        yield


@contextmanager
def _signals_heard() -> Iterator[int]:
    """A descriptor from which the number of each signal can be read that comes while the body runs."""
    reading, writing = _pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    woken_before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        with _handled((signal.SIGCHLD, signal.SIGTSTP, *STOP_SIGNALS)):
            yield reading
    finally:
        signal.set_wakeup_fd(woken_before)
        os.close(reading)
        os.close(writing)


def _noted(_number: int, _frame: object) -> None:
    """The loop reads the number from its descriptor."""


@contextmanager
def _handled(numbers: Iterable[int], handler: Callable[[int, object], None] = _noted) -> Iterator[None]:
    """While the body runs, these signals are handled so; by default they only wake whoever waits."""
    before = {}
    for number in numbers:
        known = signal.getsignal(number)
        # What we were started to ignore (nohup, a background job) stays ignored, by the child too.
        if known is not signal.SIG_IGN or number == signal.SIGCHLD:
            before[number] = known
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, signal.SIG_DFL if known is None else known)


def _pipe() -> tuple[int, int]:
    """Both ends of a pipe, clear of the three standard descriptors, of which some may be closed."""
    found = []
    for end in os.pipe():
        found.append(end if end > 2 else fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3))
        if found[-1] != end:
            os.close(end)
    return found[0], found[1]


class _Child:
    """The process and its group, and our ends of its pipes."""

    def __init__(self, command: Sequence[str], merge_streams: bool) -> None:
        reading, writing = _pipe()
        self.pipes = {reading: "stdout"}
        ends = {1: writing, 2: writing}
        if not merge_streams:
            reading, ends[2] = _pipe()
            self.pipes[reading] = "stderr"
        try:
            if not command[0]:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            self.pid = os.posix_spawnp(
                command[0],
                list(command),
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, end, number) for number, end in ends.items()],
                setpgroup=0,
                setsigdef=_PYTHON_IGNORES,
            )
        except OSError as problem:
            for reading in self.pipes:
                os.close(reading)
            raise CommandNotStarted(command[0], problem) from problem
        finally:
            for end in set(ends.values()):
                os.close(end)

    def signal_group(self, number: int) -> bool:
        """Send a signal to all of the group; whether there was anybody to get it."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        except PermissionError:  # its members are zombies (macOS), or have become somebody else's
            return number != 0
        return True

    @property
    def group_lives(self) -> bool:
        """Whether a process of the group is left, be it a zombie that nobody has waited for."""
        return self.signal_group(0)


class _Run:
    """The loop around a child: its state is what has happened so far, and when something must happen next."""

    def __init__(
        self,
        child: _Child,
        take: Take,
        timeout: float | None,
        grace: float,
        tick: Callable[[float], None] | None,
    ) -> None:
        self._child = child
        self._take = take
        self._grace = grace
        self._tick = tick
        self._foreground = Foreground()
        self._open = dict(child.pipes)
        self._started = time.monotonic()
        self._out_of_time = None if timeout is None else self._started + timeout
        self._next_tick = None if tick is None else self._started + TICK_SECONDS
        self._kill: float | None = None
        """When the group is killed, once it has been asked to end."""
        self._give_up: float | None = None
        """When pipes are no longer waited for, once the child has ended."""
        self._ended: float | None = None
        self._wait_status = 0
        self._timed_out = False
        self._passed_on: list[int] = []

    def until_over(self, woken: int) -> Ending:
        """Run the loop; `woken` is where signals are read from."""
        with selectors.DefaultSelector() as selector:
            selector.register(woken, selectors.EVENT_READ)
            for pipe in self._open:
                selector.register(pipe, selectors.EVENT_READ)
            try:
                self._look_at_child()
                while not self._is_over():
                    for key, _ in selector.select(self._patience()):
                        if key.fd == woken:
                            self._heed(os.read(woken, 512))
                        elif not self._drained(key.fd):
                            selector.unregister(key.fd)
                            self._close(key.fd)
                    self._keep_time()
                for pipe in self._open:
                    self._drain_what_is_there(pipe)
            except BaseException:
                self._child.signal_group(signal.SIGKILL)
                if self._ended is None:
                    os.waitpid(self._child.pid, 0)
                raise
            finally:
                self._foreground.take_back()
                held = tuple(self._open.values())
                for pipe in list(self._open):
                    self._close(pipe)
        return self._ending(held)

    def _ending(self, held: tuple[str, ...]) -> Ending:
        assert self._ended is not None  # noqa: S101  the loop ends no earlier
        killer = os.WTERMSIG(self._wait_status) if os.WIFSIGNALED(self._wait_status) else None
        return Ending(
            exit_code=os.WEXITSTATUS(self._wait_status) if killer is None else 128 + killer,
            signal=killer,
            duration_ms=round((self._ended - self._started) * 1000),
            timed_out=self._timed_out,
            passed_on=tuple(self._passed_on),
            held_open=held,
        )

    # -- what wakes the loop ------------------------------------------------------------------------------------------

    def _drained(self, pipe: int) -> bool:
        """Hand on what a pipe holds; False at its end."""
        chunk = os.read(pipe, CHUNK_BYTES)
        if chunk:
            self._take(self._open[pipe], chunk)
        return bool(chunk)

    def _drain_what_is_there(self, pipe: int) -> None:
        """The last of a pipe that another process keeps open, and may go on filling."""
        waiting = array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, waiting)
        while waiting[0] > 0:
            chunk = os.read(pipe, waiting[0])
            waiting[0] -= len(chunk) or waiting[0]
            self._take(self._open[pipe], chunk)

    def _close(self, pipe: int) -> None:
        del self._open[pipe]
        os.close(pipe)

    def _heed(self, numbers: bytes) -> None:
        """Act on signals that have come, each given by its number."""
        for number in numbers:
            if number == signal.SIGTSTP:
                self._child.signal_group(number)  # that it has stopped will be heard of as of any stop
            elif number in EARNEST:
                self._passed_on.append(number)
                self._ask_to_end(number)
            elif number in STOP_SIGNALS:
                self._passed_on.append(number)
                self._child.signal_group(number)
        if signal.SIGCHLD in numbers:
            self._look_at_child()

    def _look_at_child(self) -> None:
        """Learn whether the child has ended, or stands still."""
        if self._ended is not None:
            return
        pid, status = os.waitpid(self._child.pid, os.WNOHANG | os.WUNTRACED)
        if not pid:
            return
        if os.WIFSTOPPED(status):
            self._stands_still(os.WSTOPSIG(status))
            return
        self._ended, self._wait_status = time.monotonic(), status
        self._give_up = self._ended + self._grace

    def _stands_still(self, number: int) -> None:
        """A stopped child gets the terminal that it asked for, or we stop with it, as one job of the shell's."""
        if number in TERMINAL_STOPS and self._foreground.lend(self._child.pid):
            self._child.signal_group(signal.SIGCONT)
        elif number in TERMINAL_STOPS or number == signal.SIGTSTP:
            with self._foreground.at_rest(self._child.pid):
                os.kill(os.getpid(), signal.SIGSTOP)
            self._child.signal_group(signal.SIGCONT)

    # -- clocks -------------------------------------------------------------------------------------------------------

    def _keep_time(self) -> None:
        now = time.monotonic()
        if self._ended is None and self._out_of_time is not None and now >= self._out_of_time:
            self._out_of_time = None
            self._timed_out = True
            self._ask_to_end(signal.SIGTERM)
        if self._kill is not None and self._ended is not None and not self._child.group_lives:
            self._kill = None
        if self._kill is not None and now >= self._kill:
            self._kill = None
            self._child.signal_group(signal.SIGKILL)
            self._give_up = None if self._ended is None else now + self._grace
        if self._tick is not None and self._next_tick is not None and now >= self._next_tick:
            self._next_tick = now + TICK_SECONDS
            if not self._foreground.lent:
                self._tick(now - self._started)

    def _ask_to_end(self, number: int) -> None:
        """Send the group a signal that is meant, and start its grace."""
        self._child.signal_group(number)
        self._child.signal_group(signal.SIGCONT)  # a process that stands still hears nothing else
        if self._kill is None:
            self._kill = time.monotonic() + self._grace

    def _patience(self) -> float | None:
        """How many seconds may pass before a clock must be looked at; None while none runs."""
        clocks = [self._out_of_time if self._ended is None else None, self._kill, self._next_tick]
        if self._ended is not None:
            clocks.append(self._give_up)
            if self._kill is not None:
                clocks.append(time.monotonic() + GROUP_SECONDS)
        running = [clock for clock in clocks if clock is not None]
        return max(0.0, min(running) - time.monotonic()) if running else None

    def _is_over(self) -> bool:
        if self._ended is None or self._kill is not None:
            return False
        return not self._open or (self._give_up is not None and time.monotonic() >= self._give_up)


def signal_name(number: int) -> str:
    """A signal by its name, such as SIGTERM."""
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
