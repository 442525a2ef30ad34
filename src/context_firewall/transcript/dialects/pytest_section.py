"""What pytest prints about one failure: a header, then its traceback in any style, then what was captured.

Blank lines in a traceback are there for orientation only, like the lines that `pytest_traceback` takes for context.
"""

import re
from dataclasses import dataclass, field

from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.pytest_traceback import Traceback

# xdist: a worker that died takes its test with it.
CRASHED = re.compile(rb"worker '[^']*+' crashed while running '(?P<id>[^\n]+)'")


@dataclass(slots=True)
class Section:
    """One failure's section while it is read."""

    name: bytes
    header: Line
    error: bool
    collecting: bool = False
    details: list[Line] = field(default_factory=list)
    node: bytes = b""
    """The node id, where its text states one."""
    blanks: list[Line] = field(default_factory=list)
    """Blank lines that wait for what follows them."""
    traceback: Traceback = field(default_factory=Traceback)

    def take(self, text: bytes, line: Line) -> None:
        """One more line."""
        if not text.strip():
            self.blanks.append(line)
            return
        in_traceback = not self.traceback.captured
        kind = self.traceback.kind(text)
        if in_traceback and not self.node and (crashed := CRASHED.match(text)) is not None:
            self.node = crashed["id"]
        if self.blanks:
            blank = Kind.FAILURE_DETAIL if self.traceback.captured else Kind.FAILURE_CONTEXT
            self.details += (line.as_kind(blank) for line in self.blanks)
            self.blanks.clear()
        self.details.append(line.as_kind(kind))

    def absorb(self, other: "Section") -> None:
        """Take back text that was mistaken for a section."""
        self.traceback.capture()
        for line in (other.header, *other.details, *other.blanks):
            self.take(bare(line.raw), line)
