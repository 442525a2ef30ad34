"""The report of an RSpec run: sections in their order, and the totals below the last heading.

An example can print all of this. What it cannot do is to keep the runner silent: where results follow, or a section
comes again, what stood before was printed.
"""

from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import rspec_grammar as grammar
from context_firewall.transcript.dialects.rspec_grammar import Heading, Totals
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.numbered import Entry
from context_firewall.transcript.ruby import WARNING


@dataclass(slots=True)
class Section:
    """A heading and what stands below it."""

    heading: Heading
    structure: list[Line]
    entries: list[Entry] = field(default_factory=list)
    blanks: list[Line] = field(default_factory=list)
    strays: list[Line] = field(default_factory=list)
    """Lines that no section of this sort has."""
    warnings: list[Line] = field(default_factory=list)
    """Ruby's own, where standard error is merged."""

    def lines(self) -> list[Line]:
        """All its lines."""
        entries = (line for one in self.entries for line in one.lines())
        return [*self.structure, *self.blanks, *self.strays, *self.warnings, *entries]


@dataclass(slots=True)
class Report:
    """Sections that have been read, and whether they are over."""

    sections: list[Section] = field(default_factory=list)
    totals: Totals | None = None
    aggregate: list[Line] = field(default_factory=list)
    recaps: list[bytes] = field(default_factory=list)
    recap_lines: list[Line] = field(default_factory=list)
    ended: bool = False
    """The deprecation warnings have been counted."""

    def withdrawn(self, heading: Heading) -> list[Section]:
        """Take back what cannot stand before such a section: sections that come later, or that it would repeat."""
        again = heading is Heading.SLOWEST
        kept = [one for one in self.sections if one.heading < heading or (again and one.heading is heading)]
        gone, self.sections = self.sections[len(kept) :], kept
        if gone and gone[-1].heading is Heading.FINISHED:
            gone[-1].structure += [*self.aggregate, *self.recap_lines]
            self.aggregate, self.recap_lines, self.recaps, self.totals = [], [], [], None
        return gone

    def begin(self, heading: Heading, line: Line) -> None:
        """A section begins."""
        self.sections.append(Section(heading, [line]))
        self.ended = False

    def entries(self, heading: Heading) -> list[Entry]:
        """The accounts in the section of that heading."""
        return [entry for section in self.sections if section.heading is heading for entry in section.entries]

    def strays(self) -> list[Line]:
        """Lines that fit nowhere."""
        return [line for section in self.sections for line in section.strays]

    def blank(self, line: Line) -> None:
        """An empty line."""
        section = self.sections[-1]
        (section.entries[-1].body if section.entries else section.blanks).append(line)

    def take(self, bare: bytes, line: Line) -> bool:
        """A line that is neither blank nor a heading; says whether it fits."""
        section = self.sections[-1]
        match section.heading:
            case Heading.PENDING | Heading.FAILURES:
                fits = self._account(section, bare, line)
            case Heading.SLOWEST:
                fits = bare.startswith(b"  ")
                if fits:
                    section.structure.append(line)
            case Heading.DEPRECATIONS:
                fits = not self.ended
                if fits:
                    section.structure.append(line)
                    self.ended = grammar.DEPRECATIONS_END.fullmatch(bare) is not None
            case _:
                fits = self._closing(section, bare, line)
        if not fits and WARNING.fullmatch(bare):
            section.warnings.append(line)
            return True
        if not fits:
            section.strays.append(line)
        return fits

    def _account(self, section: Section, bare: bytes, line: Line) -> bool:
        header = grammar.HEADER.fullmatch(bare)
        if header is not None and int(header["number"]) == len(section.entries) + 1:
            section.entries.append(Entry(header["name"], line))
            return True
        if not section.entries or not bare.startswith(grammar.BODY):
            return False
        section.entries[-1].body.append(line)
        return True

    def _closing(self, section: Section, bare: bytes, line: Line) -> bool:
        if self.totals is None:
            if line.number != section.structure[0].number + 1:
                return False
            self.totals = grammar.totals(bare)
            if self.totals is not None:
                self.aggregate.append(line)
            return self.totals is not None
        recap = grammar.RECAP.fullmatch(bare)
        if bare == grammar.RECAP_HEADING and not self.recap_lines and self.totals.failures:
            self.recap_lines.append(line)
            return True
        if recap is None or not self.recap_lines or len(self.recaps) == self.totals.failures:
            return False
        self.recaps.append(recap["name"])
        self.recap_lines.append(line)
        return True

    def uncounted(self) -> list[Section]:
        """Take back sections that the totals deny, with those before them."""
        totals = self.totals
        if totals is None:
            return []
        counted = {Heading.PENDING: totals.pending, Heading.FAILURES: totals.failures}
        denied = [i for i, section in enumerate(self.sections) if counted.get(section.heading) == 0]
        cut = denied[-1] + 1 if denied else 0
        gone, self.sections = self.sections[:cut], self.sections[cut:]
        return gone

    def agrees(self) -> bool:
        """Whether the sections hold as many accounts as the totals count."""
        totals = self.totals
        return (
            totals is not None
            and len(self.entries(Heading.PENDING)) == totals.pending
            and len(self.entries(Heading.FAILURES)) == totals.failures
            and not self.strays()
        )

    @property
    def recapped(self) -> bool:
        """Whether every failed example has been listed again."""
        return self.totals is not None and len(self.recaps) == self.totals.failures

    def suppress(self, suppressed: Account) -> list[Line]:
        """Account for all lines but the accounts' and those that fit nowhere; returns warnings, which are kept."""
        warnings: list[Line] = []
        for section in self.sections:
            warnings += (line.as_kind(Kind.ABNORMAL_WARNING) for line in section.warnings)
            heading, *rest = section.structure
            suppressed.add_lines(Kind.BLANK, section.blanks)
            if section.heading is Heading.DEPRECATIONS:
                warnings += (line.as_kind(Kind.ABNORMAL_WARNING) for line in section.structure)
            elif section.heading is Heading.FINISHED:
                suppressed.add(Kind.DURATION_SOURCE, heading.number)
            else:
                suppressed.add(Kind.STRUCTURE, heading.number)
                suppressed.add_lines(Kind.DURATION_SOURCE, rest)
        suppressed.add_lines(Kind.AGGREGATE_SOURCE, self.aggregate)
        suppressed.add_lines(Kind.RECAP, self.recap_lines)
        return warnings
