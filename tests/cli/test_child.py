"""Children: what they print arrives exactly, they end whole, and they are told apart by how they ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from cli_process import ENVIRONMENT

from context_firewall.cli.child import CommandNotStarted, Ending, run_child

PYTHON = sys.executable


class Taken(dict[str, bytes]):
    """What a child printed, by stream."""

    def take(self, name: str, chunk: bytes) -> None:
        self[name] = self.get(name, b"") + chunk


def ended(*command: str, **options: object) -> tuple[Ending, Taken]:
    """Run a command to its end."""
    taken = Taken()
    return run_child(command, taken.take, **options), taken  # type: ignore[arg-type]


def alive(pid: int) -> bool:
    """Whether a process runs; one that is only waiting to be reaped does not."""
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.parent.parent.joinpath("self").exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def soon(holds: Callable[[], bool]) -> bool:
    """Whether it comes true; for what the kernel does a moment later."""
    for _ in range(200):
        if holds():
            return True
        time.sleep(0.02)
    return False


# -- statuses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 2, 77, 255])
def test_the_exit_code_is_the_commands(code: int) -> None:
    """RUN-4."""
    ending, _ = ended("sh", "-c", f"exit {code}")
    assert (ending.exit_code, ending.signal, ending.interrupted) == (code, None, False)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_signal_is_128_and_its_number(number: int) -> None:
    """RUN-4 and RUN-8."""
    ending, _ = ended("sh", "-c", f"kill -{number:d} $$")
    assert (ending.exit_code, ending.signal, ending.interrupted) == (128 + number, number, True)


def test_what_cannot_be_started_is_127_or_126(tmp_path: Path) -> None:
    """RUN-4."""
    (tmp_path / "plain").write_text("no program\n")
    broken = tmp_path / "broken"
    broken.write_text("no program\n")
    broken.chmod(0o755)
    for command, status in (("no-such-program", 127), ("", 127), (str(tmp_path / "plain"), 126), (str(tmp_path), 126)):
        with pytest.raises(CommandNotStarted) as refusal:
            ended(command)
        assert refusal.value.exit_status == status
    with pytest.raises(CommandNotStarted) as refusal:
        ended(str(broken))
    assert refusal.value.as_document() == {
        "code": "COMMAND_NOT_STARTED",
        "command": str(broken),
        "exit_code": 126,
        "message": f"{broken} cannot be started: Exec format error",
    }


# -- bytes ------------------------------------------------------------------------------------------------------------


def test_arguments_reach_the_command_as_they_are() -> None:
    """RUN-1: no shell reads them."""
    words = ("$HOME", "*", "a b", "'", '"', "\\", ";", "", "`id`", "é", "\udcff")
    _, taken = ended(PYTHON, "-c", "import os, sys; [print(ascii(word)) for word in sys.argv[1:]]", *words)
    assert taken["stdout"].decode().splitlines() == [ascii(word) for word in words]


def test_bytes_arrive_exactly_and_apart() -> None:
    """RUN-2."""
    program = (
        "import sys; every = bytes(range(256))\n"
        "sys.stdout.buffer.write(every * 300); sys.stderr.buffer.write(every[::-1])"
    )
    _, taken = ended(PYTHON, "-c", program)
    assert taken == {"stdout": bytes(range(256)) * 300, "stderr": bytes(range(256))[::-1]}


def test_neither_pipe_waits_for_the_other() -> None:
    """RUN-2: more than a pipe holds, in turns, on both."""
    program = (
        "import os\n"
        "for turn in range(8):\n"
        "    for one in (1, 2):\n"
        "        left = bytes([65 + turn]) * 150_000\n"
        "        while left: left = left[os.write(one, left):]\n"
    )
    _, taken = ended(PYTHON, "-c", program)
    expected = b"".join(bytes([65 + turn]) * 150_000 for turn in range(8))
    assert taken == {"stdout": expected, "stderr": expected}


def test_merged_streams_keep_their_order() -> None:
    """RUN-3."""
    lines = [f"{number} on {1 + number % 2}" for number in range(200)]
    program = "import os\nfor n in range(200): os.write(1 + n % 2, f'{n} on {1 + n % 2}\\n'.encode())"
    _, taken = ended(PYTHON, "-c", program, merge_streams=True)
    assert taken["stdout"].decode().splitlines() == lines
    assert list(taken) == ["stdout"]


def test_a_child_finds_signals_as_it_would_without_us() -> None:
    """RUN-1: Python ignores SIGPIPE for itself; `yes` would complain in its `head`'s place."""
    ending, taken = ended("sh", "-c", "yes | head -n 1; exit 0")
    assert (ending.exit_code, taken) == (0, {"stdout": b"y\n"})


def test_descriptors_stay_apart_where_the_standard_ones_are_closed() -> None:
    """RUN-2."""
    program = (
        "import os, sys\n"
        "from context_firewall.cli.child import run_child\n"
        "for one in (0, 1, 2): os.close(one)\n"
        "got = {}\n"
        "def take(name, chunk): got[name] = got.get(name, b'') + chunk\n"
        "run_child(['sh', '-c', 'echo out; echo err >&2'], take)\n"
        "os._exit(0 if got == {'stdout': b'out\\n', 'stderr': b'err\\n'} else 9)\n"
    )
    assert subprocess.run([PYTHON, "-c", program], env=ENVIRONMENT, timeout=60, check=False).returncode == 0


# -- time -------------------------------------------------------------------------------------------------------------


def test_when_time_is_up_the_command_is_asked_to_end() -> None:
    """RUN-5: and what it printed is there, also its last words."""
    words = "trap 'echo last; exit 0' TERM; echo first; while :; do sleep 0.05; done"
    ending, taken = ended("sh", "-c", words, timeout=0.8, grace=30)
    assert (ending.exit_code, ending.timed_out, ending.interrupted) == (0, True, True)
    assert taken["stdout"] == b"first\nlast\n"


def test_what_does_not_end_in_its_grace_is_killed() -> None:
    """RUN-5."""
    ending, taken = ended("sh", "-c", "trap '' TERM; echo first; while :; do sleep 0.05; done", timeout=0.8, grace=0.2)
    assert (ending.exit_code, ending.signal, ending.timed_out) == (137, signal.SIGKILL, True)
    assert taken["stdout"] == b"first\n"


def test_a_timeout_ends_the_whole_group() -> None:
    """RUN-5: also a grandchild that ignores SIGTERM and outlives the command."""
    words = "(trap '' TERM; exec sleep 60) & echo $!; trap 'exit 3' TERM; while :; do sleep 0.05; done"
    ending, taken = ended("sh", "-c", words, timeout=0.8, grace=0.2)
    assert (ending.exit_code, ending.timed_out, ending.held_open) == (3, True, ())
    assert soon(lambda: not alive(int(taken["stdout"])))


def test_time_enough_is_no_timeout() -> None:
    ending, _ = ended("true", timeout=60)
    assert (ending.exit_code, ending.timed_out, ending.interrupted) == (0, False, False)


def test_a_command_that_stands_still_hears_the_timeout() -> None:
    """RUN-5: a stopped process takes no SIGTERM."""
    ending, _ = ended("sh", "-c", "kill -STOP $$; sleep 60", timeout=0.3, grace=30)
    assert (ending.signal, ending.timed_out) == (signal.SIGTERM, True)


# -- what is left behind ----------------------------------------------------------------------------------------------


def test_a_process_left_behind_does_not_hold_us_for_ever() -> None:
    """RUN-7: it is not ended either; what it printed before we went is there."""
    ending, taken = ended("sh", "-c", "(echo early; exec sleep 60) & echo $! >&2; exit 4", grace=0.3)
    assert (ending.exit_code, ending.held_open, ending.interrupted) == (4, ("stdout", "stderr"), False)
    assert ending.duration_ms < 10_000
    assert taken["stdout"] == b"early\n"
    left_behind = int(taken["stderr"])
    assert alive(left_behind)
    os.kill(left_behind, signal.SIGKILL)


def test_what_a_process_left_behind_prints_in_time_is_captured() -> None:
    """RUN-7."""
    ending, taken = ended("sh", "-c", "(sleep 0.2; echo late) & exit 0", grace=30)
    assert (ending.held_open, taken["stdout"]) == ((), b"late\n")


def test_a_process_left_behind_that_never_rests_is_left_too() -> None:
    """RUN-7: it could fill a pipe for ever."""
    ending, taken = ended("sh", "-c", "yes & exit 0", grace=0.1)
    assert (ending.exit_code, ending.held_open) == (0, ("stdout", "stderr"))
    assert taken["stdout"].startswith(b"y\ny\n")


def test_a_failure_of_ours_leaves_no_process() -> None:
    pids: list[int] = []

    def take(_name: str, chunk: bytes) -> None:
        pids.append(int(chunk))
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        run_child(["sh", "-c", "echo $$; sleep 60"], take)
    assert not alive(pids[0])


def test_ticks_come_while_nothing_else_does() -> None:
    ticks: list[float] = []
    run_child(["sleep", "0.7"], lambda _name, _chunk: None, tick=ticks.append)
    assert ticks == sorted(ticks)
    assert len(ticks) >= 1
