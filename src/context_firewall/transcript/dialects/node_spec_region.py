"""The error lines under a result of a spec report: two blanks deeper, the runner's own blank lines among them."""

from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line


@dataclass(slots=True)
class Region:
    """An open region. Blank lines wait for what follows them: inner ones are details, others end it."""

    indent: bytes
    lines: list[Line] | None
    """Where its lines go; None under a result that is no failure, where they are only counted."""
    suppressed: Account
    """The account of its machine."""
    blanks: list[Line] = field(default_factory=list)
    begun: bool = False

    def take(self, bare: bytes, line: Line) -> bool:
        """Take a line that is blank or deep enough; any other is not of this region."""
        if not bare.strip():
            self.blanks.append(line)
            return True
        if not bare.startswith(self.indent):
            return False
        if not self.begun:
            # Node 20 leaves a line empty between a parent's result and its error.
            self.end()
            self.begun = True
        if self.lines is None:
            self.suppressed.add_lines(Kind.TEST_DETAIL, (*self.blanks, line))
        else:
            self.lines += (blank.as_kind(Kind.FAILURE_DETAIL) for blank in self.blanks)
            self.lines.append(line.as_kind(classify_detail(bare)))
        self.blanks.clear()
        return True

    def end(self) -> None:
        """Blank lines that nothing of the region follows are only blank."""
        if self.blanks:
            self.suppressed.add_lines(Kind.BLANK, self.blanks)
            self.blanks.clear()
