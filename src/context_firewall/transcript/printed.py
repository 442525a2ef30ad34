"""What tests print on the stream where their runner prints its results.

The runner says where the results begin and where they are over; what stands between them and is no result was printed
by a test, as nobody else prints there. Which test it was, nothing says. So it is the program's if the report is whole
and nothing is in doubt: of a run that passed counted, of one that failed shown. Else nobody knows what it is.
"""

from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.markers import marker_kind


@dataclass(slots=True)
class Printed:
    """Lines among the results that are none, until the report is settled."""

    lines: list[Line] = field(default_factory=list)
    marked: dict[Kind, list[Line]] = field(default_factory=dict)

    def take(self, bare: bytes, line: Line) -> None:
        """One line; a strict marker means the same here as elsewhere."""
        kind = marker_kind(bare)
        if kind is None:
            self.lines.append(line)
        else:
            self.marked.setdefault(kind, []).append(line.as_kind(kind))

    def of_kind(self, kind: Kind) -> tuple[Line, ...]:
        """The markers of a kind."""
        return tuple(sorted(self.marked.get(kind, ()), key=lambda line: line.number))

    def settled(self, suppressed: Account, *, proven: bool, failed: bool, since: int = 0) -> list[Line]:
        """What stays visible. `proven`: the report is whole. Lines before number `since` are no test's."""
        kept: list[Line] = []
        for line in sorted(self.lines, key=lambda line: line.number):
            if not proven or line.number < since:
                kept.append(line.as_kind(Kind.UNCLASSIFIED))
            elif failed:
                kept.append(line.as_kind(Kind.PROGRAM_OUTPUT))
            else:
                suppressed.add(Kind.PROGRAM_OUTPUT, line.number)
        return kept
