"""What pytest says of failures that belong to no test.

It broke itself, it was asked for something that is not there, or the process was stopped because a test took too long.
"""

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects.pytest_grammar import FRAME, INTERNAL_ERROR
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded

_INTERNAL = "INTERNALERROR"


class Outside:
    """The failures outside tests, the last of them perhaps with its region still open."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self._region: list[Line] | None = None

    @property
    def open(self) -> bool:
        """Whether a region is open."""
        return self._region is not None

    def usage_error(self, bare: bytes, line: Line) -> None:
        """`ERROR: file or directory not found: test_a.py`: one line, named by what it asks for."""
        _, known, name = bare.rpartition(b"not found: ")
        self.failures.append(Failure(decoded(name if known else bare), line.as_kind(Kind.PROCESS_FAILURE)))

    def internal_error(self, bare: bytes, line: Line) -> None:
        """pytest itself, or a plugin, broke: one region, each line behind the same sign."""
        if self._region is None or self.failures[-1].identity != _INTERNAL:
            self._begin(_INTERNAL, line)
        else:
            self._region.append(line.as_kind(classify_detail(bare[len(INTERNAL_ERROR) :].strip())))

    def time_out(self, current: bytes, line: Line) -> None:
        """pytest-timeout stops the process: the stacks of its threads follow, up to the end."""
        self._begin(decoded(current) or "Timeout", line)

    def take(self, bare: bytes, line: Line, file: bytes) -> bool:
        """A line of the open region. A frame in the current test file names the test."""
        region = self._region
        if region is None:
            return False
        last = self.failures[-1]
        if last.identity == _INTERNAL:
            self.end()
            return False
        region.append(line.as_kind(classify_detail(bare)))
        frame = FRAME.match(bare)
        if frame is not None and file and frame["file"].endswith(b"/" + file):
            self.failures[-1] = Failure(decoded(file + b"::" + frame["name"]), last.header)
        return True

    def end(self) -> None:
        """Nothing more belongs to the open region."""
        if self._region is not None:
            last = self.failures[-1]
            self.failures[-1] = Failure(last.identity, last.header, tuple(self._region))
            self._region = None

    def _begin(self, identity: str, line: Line) -> None:
        self.end()
        self.failures.append(Failure(identity, line.as_kind(Kind.PROCESS_FAILURE)))
        self._region = []
