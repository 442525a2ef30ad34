"""What is seen of a run while it goes on: a copy of its output (`--tee`), or how far it is, for a person or a program.

All of it is a courtesy: that it cannot be written stops neither the run nor its evidence. Copy and status line go to
standard error. On a terminal the copy is made printable, as everything of a run is; into a file or a pipe it is exact.
"""

import codecs
import os
import re
import sys
from contextlib import suppress

# A status line is for runs that somebody waits for.
QUIET_SECONDS = 2.0
# A line longer than this is no result.
LONGEST_RESULT = 4096

# A light count, for the eye only: the packet's counts are read by the dialects. Lines as the runners print them:
# TAP, glyphs of Node, jest, vitest and mocha, go, cargo, unittest -v, pytest -v; then pytest's and others' dots.
_RESULT = re.compile(
    rb"^[ \t]*+(?:(?P<passed>ok\b|[^\S\n]*+(?:\xe2\x9c\x94|\xe2\x9c\x93|\xe2\x88\x9a) |--- PASS: )"
    rb"|(?P<failed>not ok\b|(?:\xe2\x9c\x96|\xe2\x9c\x97|\xe2\x9c\x95|\xc3\x97) |--- FAIL: )"
    rb"|(?:test )?+\S[^\n]*? \.\.\. (?:(?P<said_passed>ok)|(?P<said_failed>FAIL(?:ED)?+|ERROR))$"
    rb"|[^\s:]++::[^\n]*? (?:(?P<named_passed>PASSED)|(?P<named_failed>FAILED|ERROR))\b"
    rb"|(?:\S+?\.py )?+(?P<dots>[.FEsxX]++)(?: *+\[ *+[0-9]++%\])?+$)",
    re.MULTILINE,
)
_UNFINISHED_ESCAPE = re.compile(r"(?:\x1b(?:\[[0-?]{0,64}[ -/]{0,8}|\][^\x07\x1b\n]{0,256}|[()])?|\r)\Z")


class Copy:
    """`--tee`: what the run prints, on standard error, while it prints it."""

    def __init__(self) -> None:
        self._file = None if sys.stderr is None else sys.stderr.buffer
        # One for each stream: a character or an escape sequence may be cut between two chunks.
        self._printable = {name: _Printable() for name in ("stdout", "stderr")} if on_terminal() else None
        self._within_line = False

    def show(self, name: str, chunk: bytes) -> None:
        """Copy a chunk of a stream."""
        if self._file is None:
            return
        copied = chunk if self._printable is None else self._printable[name].of(chunk)
        try:
            self._file.write(copied)
            self._file.flush()
        except (OSError, ValueError):
            self._file = None
        self._within_line = not copied.endswith(b"\n")

    def tick(self, seconds: float) -> None:
        """Nothing: the output itself shows that the run goes on."""

    def clear(self) -> None:
        """Let what follows begin on a line of its own."""
        if self._within_line and self._file is not None:
            with suppress(OSError, ValueError):
                self._file.write(b"\n")


class StatusLine:
    """On a terminal, after a while: how long the run has lasted, and about how many tests and failures were seen."""

    def __init__(self) -> None:
        self._rest = {"stdout": b"", "stderr": b""}
        self._shown = False
        self.tests = 0
        self.failures = 0

    def show(self, name: str, chunk: bytes) -> None:
        """Count the results in a chunk of a stream."""
        lines, newline, rest = (self._rest[name] + chunk).rpartition(b"\n")
        self._rest[name] = rest[-LONGEST_RESULT:]
        for match in _RESULT.finditer(lines + newline):
            dots = match["dots"]
            if dots is not None:
                self.tests += len(dots)
                self.failures += dots.count(b"F") + dots.count(b"E")
            else:
                self.tests += 1
                self.failures += any(match[group] for group in ("failed", "said_failed", "named_failed"))

    def tick(self, seconds: float) -> None:
        """Say how far the run is."""
        if seconds >= QUIET_SECONDS:
            self._write(f"\r\x1b[2K{_duration(seconds)}, about {self.tests} tests, {self.failures} failed so far")
            self._shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        if sys.stderr is not None:
            with suppress(OSError, ValueError):
                sys.stderr.buffer.write(text.encode())
                sys.stderr.buffer.flush()


class ProgressLines(StatusLine):
    """For a program that waits (`--progress-fd`): `{"failures":1,"seconds":12.5,"tests":340}`, one such line a tick.

    Raises OSError when the descriptor is not open.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        os.set_inheritable(descriptor, False)  # what the command prints there would be taken for ours
        os.set_blocking(descriptor, False)  # a program that does not read must not hold the run up

    def tick(self, seconds: float) -> None:
        """Say how far the run is."""
        line = f'{{"failures":{self.failures},"seconds":{seconds:.1f},"tests":{self.tests}}}\n'
        with suppress(OSError):
            os.write(self._descriptor, line.encode())

    def clear(self) -> None:
        """Nothing: a line that was written stays."""


class _Printable:
    """A stream's text with nothing in it that a terminal would obey; its newlines stay."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def of(self, chunk: bytes) -> bytes:
        from context_firewall.documents.printable import line_text

        text = self._held + self._decoder.decode(chunk)
        unfinished = _UNFINISHED_ESCAPE.search(text)
        end = len(text) if unfinished is None else unfinished.start()
        self._held = text[end:]
        return "\n".join(line_text(line) for line in text[:end].split("\n")).encode()


def on_terminal() -> bool:
    """Whether standard error is a terminal."""
    with suppress(ValueError):
        return sys.stderr is not None and sys.stderr.isatty()
    return False


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
