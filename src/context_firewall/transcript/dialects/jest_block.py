"""Stretches of a jest report that hang together: an error with its title, and a block of console text."""

from dataclasses import dataclass, field

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import jest_grammar as grammar
from context_firewall.transcript.excerpts import lead_up
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded

# An excerpt of jest's has two rows above the failing one, or three.
_ROWS_ABOVE = 3


@dataclass(slots=True)
class Block:
    """One title with its text: an error of a test, of a file, or of neither."""

    file: bytes
    title: bytes
    header: Line
    details: list[Line] = field(default_factory=list)
    blanks: list[Line] = field(default_factory=list)
    titled: bool = False
    """A blank line has ended the title."""
    outside: bool = False
    """It belongs to no test and no file's report."""
    place: bytes = b""
    """The file of the first stack frame outside of packages."""
    torn: bool = False
    """Source lines do not follow one another as an excerpt's do: what stood between them is lost."""
    _marked: bool = False
    """The line just before is the failing one: a caret stands below it."""
    _row: int = 0
    """The number of the source line just before, 0 if that was none."""

    @property
    def of_file(self) -> bool:
        """Whether the file failed rather than a test in it."""
        return self.outside or self.title == grammar.SUITE_FAILED

    @property
    def identity(self) -> str:
        """File, suites and test, joined as jest joins names."""
        file = self.file if not self.outside else self.place
        return grammar.ARROW.join(decoded(part) for part in (file, self.title.strip()) if part)

    def take(self, text: bytes, line: Line) -> None:
        """A line of the text."""
        marked = grammar.FAILING_SOURCE.fullmatch(text) is not None
        self.torn |= self._marked and not marked and not grammar.CARET.fullmatch(text)
        self._marked = marked
        if not text.strip():
            self.titled = True
            self.blanks.append(line)
            return
        if not grammar.CARET.fullmatch(text):
            row = grammar.source_row(text)
            self.torn |= bool(row and self._row) and (bool(self.blanks) or row != self._row + 1)
            self._row = row
        self.details += (blank.as_kind(Kind.FAILURE_CONTEXT) for blank in self.blanks)
        self.blanks.clear()
        if marked:
            self._keep_lead_up(text)
        if not self.place and (found := grammar.frame(text)) is not None and b"node_modules/" not in found:
            self.place = found
        self.details.append(line.as_kind(detail_kind(text)))

    def _keep_lead_up(self, failing: bytes) -> None:
        """The rows of source that lead up to a failing one."""
        above = self.details[-_ROWS_ABOVE:]
        count = lead_up([bare(line.raw) for line in above], failing)
        for at in range(len(self.details) - count, len(self.details)):
            self.details[at] = self.details[at].as_kind(Kind.FAILURE_DETAIL)


def detail_kind(text: bytes) -> Kind:
    """What a line inside a failure is; source lines and the runner's own frames are for orientation."""
    if grammar.SOURCE.fullmatch(text) or grammar.RUNNERS_OWN.fullmatch(text):
        return Kind.FAILURE_CONTEXT
    if grammar.FAILING_SOURCE.fullmatch(text):
        return Kind.FAILURE_DETAIL
    return classify_detail(text)


@dataclass(slots=True)
class Console:
    """One console block, or all that a file's report holds."""

    lines: list[Line] = field(default_factory=list)
    files: set[bytes] = field(default_factory=set)
    """Files that its stack frames name, or the file in whose report it stands."""

    def take(self, text: bytes, line: Line) -> None:
        """A line of the block."""
        self.lines.append(line)
        if (found := grammar.frame(text)) is not None:
            self.files.add(found)
