"""The report of a PHPUnit run: sections with numbered accounts, or the failing part of the outline once more.

A message stands at the margin and can hold any line of a report. What it cannot do is to keep the numbers and the
counts of all headings right.
"""

from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import phpunit_grammar as grammar
from context_firewall.transcript.dialects.phpunit_grammar import Ending, Totals
from context_firewall.transcript.dialects.phpunit_results import Outline
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.numbered import Entry


@dataclass(slots=True)
class Section:
    """A heading and the accounts below it; of issues there are no tests, so they end in no way."""

    ending: Ending | None
    stated: int
    structure: list[Line]
    entries: list[Entry] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether it has as many accounts as it announces."""
        return len(self.entries) == self.stated


class Report:
    """What stands behind the line with time and memory."""

    def __init__(self, time: Line, *, issues: bool) -> None:
        self.time = time
        self.issues = issues
        """Whether sections about issues are known."""
        self.sections: list[Section] = []
        self.strays: list[Line] = []
        """Lines that fit nowhere."""
        self.doubtful = False
        """A header has a number that is not its turn."""
        self.recap: Outline | None = None
        self.recap_lines: list[Line] = []
        self._dashes: Line | None = None
        """Two dashes that wait for the next heading."""

    def begins(self, text: bytes) -> bool:
        """Whether a line may be the first of a report."""
        return text == grammar.SUMMARY or self._announced(text) is not None or is_verdict(text)

    def blank(self, line: Line) -> bool:
        """An empty line; says whether it was taken."""
        if self._dashes is not None or not self._entry_open():
            return False
        self.sections[-1].entries[-1].body.append(line)
        return True

    def take(self, text: bytes, line: Line, *, apart: bool) -> bool:
        """A line that is neither blank nor of a verdict; says whether it fits."""
        if self.recap is not None:
            self.recap_lines.append(line)
            return self.recap.take(text, line, apart=apart)
        if text == grammar.SUMMARY and apart and not self.sections:
            self.recap_lines.append(line)
            self.recap = Outline(lambda kind, line: None)
            return True
        announced = self._announced(text) if apart else None
        if announced is not None and self._follows(announced[0]):
            structure = [line] if self._dashes is None else [self._dashes, line]
            self._dashes = None
            self.sections.append(Section(*announced, structure))
            return True
        self.release()
        if text == grammar.DASHES and apart and self.sections and self.sections[-1].whole:
            self._dashes = line
            return True
        header = grammar.HEADER.fullmatch(text) if apart else None
        if header is not None and self.sections and not self.sections[-1].whole:
            section = self.sections[-1]
            if int(header["number"]) == len(section.entries) + 1:
                section.entries.append(Entry(header["name"], line))
                return True
        self.doubtful |= header is not None and grammar.QUALIFIED.match(header["name"]) is not None
        return self._text(line)

    def release(self) -> None:
        """Dashes that no heading follows are text."""
        if self._dashes is not None:
            held, self._dashes = self._dashes, None
            self._text(held)

    def whole(self) -> bool:
        """Whether every section has its accounts."""
        return all(section.whole for section in self.sections) and self._dashes is None

    def agrees(self, totals: Totals) -> bool:
        """Whether the sections are those that the totals count."""
        told = [(section.ending, section.stated) for section in self.sections]
        counted = all(ending is None or totals.endings[ending] == count for ending, count in told)
        return not self.strays and self.whole() and counted

    def issue_lines(self) -> list[Line]:
        """All lines about issues that are not blank."""
        return [
            line
            for section in self.sections
            if section.ending is None
            for entry in section.entries
            for line in entry.lines()
            if bare(line.raw).strip()
        ]

    def entries(self, *endings: Ending) -> list[Entry]:
        """The accounts of tests that ended so."""
        return [entry for section in self.sections if section.ending in endings for entry in section.entries]

    def lines(self) -> list[Line]:
        """All its lines but the accounts' headers."""
        held = [self.time, *self.strays, *self.recap_lines]
        for section in self.sections:
            held += section.structure
            for entry in section.entries:
                held += entry.body
        if self._dashes is not None:
            held.append(self._dashes)
        return sorted(held, key=lambda line: line.number)

    def suppress(self, suppressed: Account) -> None:
        """Account for all lines but those of the accounts."""
        suppressed.add(Kind.DURATION_SOURCE, self.time.number)
        for section in self.sections:
            suppressed.add_lines(Kind.STRUCTURE, section.structure)
            if section.ending is None:
                blanks = (line for one in section.entries for line in one.body if not bare(line.raw).strip())
                suppressed.add_lines(Kind.BLANK, blanks)

    def _announced(self, text: bytes) -> tuple[Ending | None, int] | None:
        issues = grammar.issues(text) if self.issues else 0
        return (None, issues) if issues else grammar.section(text)

    def _follows(self, ending: Ending | None) -> bool:
        if not self.sections:
            return self._dashes is None and not self.strays
        before = [section.ending for section in self.sections if section.ending is not None]
        return self._dashes is not None and (ending is None or not before or ending > before[-1])

    def _entry_open(self) -> bool:
        return bool(self.sections) and bool(self.sections[-1].entries)

    def _text(self, line: Line) -> bool:
        if self._entry_open():
            self.sections[-1].entries[-1].body.append(line)
            return True
        self.strays.append(line)
        return False


def is_verdict(text: bytes) -> bool:
    """Whether a line may be a verdict, or the first of its two lines."""
    return text in grammar.WORDS or text == grammar.NOTHING or grammar.OK.fullmatch(text) is not None


def repeats(recap: Outline, lines: list[Line], failures: list[Entry]) -> list[Line]:
    """The lines of a recap that the outline has not: what it says twice is left off."""
    told = {bare(line.raw) for entry in failures for line in entry.lines()}
    own = {line.number for entry in recap.failures for line in entry.lines()}
    return [line for line in lines if line.number in own and bare(line.raw) not in told]
