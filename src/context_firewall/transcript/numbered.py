"""Accounts of failures in a numbered list, as several runners print them behind their results."""

from collections.abc import Callable
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded


@dataclass(slots=True)
class Entry:
    """One of the list: who, the line that says so, and all lines below it."""

    name: bytes
    header: Line
    body: list[Line] = field(default_factory=list)

    def lines(self) -> list[Line]:
        """Header, then body."""
        return [self.header, *self.body]

    def texts(self) -> list[bytes]:
        """The body's bare lines."""
        return [bare(line.raw) for line in self.body]

    def suppress_body(self, suppressed: Account) -> None:
        """Account for what is told about a test that has not failed, but for the header."""
        for line in self.body:
            suppressed.add(Kind.TEST_DETAIL if bare(line.raw).strip() else Kind.BLANK, line.number)

    def failure(self, suppressed: Account, kind_of: Callable[[bytes], Kind]) -> Failure:
        """The failure that it tells of. Blank lines at its end are not kept, those inside are context."""
        end = len(self.body)
        while end and not bare(self.body[end - 1].raw).strip():
            end -= 1
        suppressed.add_lines(Kind.BLANK, self.body[end:])
        details = []
        for line in self.body[:end]:
            text = bare(line.raw)
            details.append(line.as_kind(kind_of(text) if text.strip() else Kind.FAILURE_CONTEXT))
        return Failure(decoded(self.name), self.header.as_kind(Kind.FAILED_TEST), tuple(details))
