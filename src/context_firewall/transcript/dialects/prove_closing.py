"""How prove's report ends: the summary of files with something to tell, the totals, the result.

`All tests successful.` (only if so), `Test Summary Report` with a row a file (only if there is one), then always
`Files=…` and `Result: …`. Together they must tell one story, and the files' own lines the same.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from context_firewall.transcript.dialects import prove_grammar as grammar
from context_firewall.transcript.dialects.prove_section import FAILED, Section
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line


@dataclass(slots=True)
class Closing:
    """The lines of the end, as far as they have been read."""

    rows: list[grammar.Row] = field(default_factory=list)
    files: int = 0
    tests: int = 0
    result: bytes = b""
    successful: bool = False
    summary: bool = False
    last: Line | None = None
    """The result's line."""
    lines: list[tuple[Line, Kind]] = field(default_factory=list)
    """All lines but the rows'."""
    _ruled: bool = False
    _totalled: bool = False

    def take(self, text: bytes, line: Line) -> bool:
        """Take a line, if it is one that may come next."""
        if self.result:
            return False
        kind = Kind.STRUCTURE
        if self._totalled:
            found = grammar.RESULT.fullmatch(text)
            if found is None:
                return False
            self.result, self.last, kind = found[1], line, Kind.AGGREGATE_SOURCE
        elif totals := grammar.TOTALS.fullmatch(text):
            self.files, self.tests, self._totalled, kind = int(totals[1]), int(totals[2]), True, Kind.AGGREGATE_SOURCE
        elif text == grammar.SUCCESSFUL and not self.successful and not self.summary:
            self.successful = True
        elif text == grammar.SUMMARY and not self.summary:
            self.summary = True
        elif text == grammar.RULER and self.summary and not self._ruled:
            self._ruled = True
        else:
            return self._ruled and self._row(text, line)
        self.lines.append((line, kind))
        return True

    def _row(self, text: bytes, line: Line) -> bool:
        row = grammar.row(text, line)
        if row is not None:
            self.rows.append(row)
            return True
        return bool(self.rows) and self.rows[-1].take(text, line)

    def every_line(self) -> list[Line]:
        """All lines in order."""
        rows = (line for row in self.rows for line in row.lines)
        return sorted([*(line for line, _ in self.lines), *rows], key=lambda line: line.number)

    @property
    def bad(self) -> list[grammar.Row]:
        """The rows of files that failed."""
        return [row for row in self.rows if row.bad]

    def doubts(self, sections: Sequence[Section]) -> set[Doubt]:
        """What does not add up."""
        doubts = set()
        shown = sum(section.points.total for section in sections)
        passed = self.result == b"PASS" or (self.result == b"NOTESTS" and not self.tests)
        stated = sum(row.tests for row in self.rows)
        if (
            passed != (not self.bad)
            or self.successful != (self.result == b"PASS")
            or not all(row.agrees for row in self.rows)
            or max(shown, stated) > self.tests
            or (self.rows and len(self.rows) > self.files)
        ):
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if sections:
            # With -Q and -QQ no file has a line.
            if len(sections) != self.files or not all(section.outcome for section in sections):
                doubts.add(Doubt.AGGREGATE_CONTRADICTION)
            failed = Counter(section.name for section in sections if section.outcome == FAILED)
            if failed != Counter(row.name for row in self.bad):
                doubts.add(Doubt.RECAP_CONTRADICTION)
        most = {row.name: row.tests for row in self.rows}
        if any(section.points.total > most.get(section.name, self.tests) for section in sections):
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if any(grammar.OUT_OF_SEQUENCE in error for row in self.rows for error in row.details.get(b"Parse errors", [])):
            # Some of the points may be prints that look like points.
            doubts.add(Doubt.CONTESTED_RESULTS)
        return doubts
