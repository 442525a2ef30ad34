"""Node's dot reporter (`node --test --test-reporter=dot`): a symbol a result, then the failures.

The room's rules:

- A row is dots and X, as wide as the terminal and at least 20 (`max(columns ?? 20, 20)`); only the last is shorter.
- After an empty line comes `Failed tests:`, another empty line, and each failing result in order: title, then its error
  two blanks deeper, nothing between. Todos and parents that failed through a child are among them; each has its X.
- The symbols are of tests and suites alike, and nothing closes the list. So counts and completeness are never
  confirmed: a dot stream alone does not prove a pass.
"""

import re
from dataclasses import dataclass, field
from functools import cache

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects.node_grammar import FAIL, RESULT, SKIP, Title, identity, titled
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind

_ROW = re.compile(rb"[.X]++")
# The cursor goes up, or a line is erased: Node only ever prints on, others draw a growing row again and again.
_REDRAWN = re.compile(rb"[^\n]*?\x1b\[[0-9]*+[AK]")
_LIST_OPENS = b"Failed tests:"
# `'${n} subtest${n > 1 ? 's' : ''} failed'`: the whole error of a parent that fails only through its children.
_THROUGH_CHILDREN = re.compile(rb" *+'[0-9]++ subtests? failed'")
_LONGEST_NAME = 8
_WIDEST_LANE = 1000


@cache
def _lane(width: int) -> re.Pattern[bytes]:
    """Full rows of passes."""
    return re.compile(rb"(?:\.{%d}\n)++" % width)


@dataclass(slots=True)
class _Entry:
    """A listed result and the error under it."""

    glyph: bytes
    text: bytes
    header: list[Line]
    region: list[Line] = field(default_factory=list)
    blanks: list[Line] = field(default_factory=list)

    @property
    def title(self) -> Title:
        """The title, taken apart."""
        return titled(self.glyph, self.text)


class NodeDot(Bookkeeper):
    """Reads one dot report."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._width = 0
        self._rows_over = False
        self._listing = False
        self._passes = 0
        self._failures = 0
        self._entries: list[_Entry] = []
        self._doubts = {Doubt.COUNTS_UNCONFIRMED, Doubt.COMPLETENESS_UNCONFIRMED}
        self._unclassified: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Further full rows of passes."""
        if self._rows_over or not 0 < self._width <= _WIDEST_LANE:
            return None
        return _lane(self._width)

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count full rows of passes."""
        count = (stop - start) // (self._width + 1)
        self._passes += count * self._width
        self._suppressed.add_many(Kind.PROGRESS, count)
        return count

    @property
    def complete(self) -> bool:
        """Never: nothing says that the report is over."""
        return False

    def cut(self) -> None:
        """Nothing to note: a dot report is never known to be whole."""

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """A row, the list's opening, a listed result, or a line of its error."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._listing and self._listed(bare, line):
            return True
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, number)
            self._rows_over = True
            return True
        kind = marker_kind(bare)
        if kind is not None:
            self._marked[kind].append(line.as_kind(kind))
            return True
        if _ROW.fullmatch(bare) and not _REDRAWN.match(raw):
            self._row(bare, number)
            return True
        if bare == _LIST_OPENS and self._rows_over and not self._listing:
            self._listing = True
            self._suppressed.add(Kind.STRUCTURE, number)
            return True
        self._unclassified.append(line)
        return False

    def _row(self, bare: bytes, number: int) -> None:
        """Every row but the last is as wide as the first; none follows the list."""
        if self._rows_over or (self._width and len(bare) > self._width):
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        self._width = self._width or len(bare)
        self._rows_over = self._rows_over or len(bare) < self._width
        failures = bare.count(b"X")
        self._failures += failures
        self._passes += len(bare) - failures
        self._suppressed.add(Kind.PROGRESS, number)

    def _listed(self, bare: bytes, line: Line) -> bool:
        """Whether the line belongs to the list of failures."""
        result = RESULT.fullmatch(bare)
        if result is not None and not result["indent"]:
            self._entries.append(_Entry(result["glyph"], result["title"], [line]))
            return True
        if not self._entries:
            return False
        entry = self._entries[-1]
        if not bare.strip():
            entry.blanks.append(line)
            return True
        if bare.startswith(b"  "):
            entry.region += (blank.as_kind(Kind.FAILURE_DETAIL) for blank in entry.blanks)
            entry.blanks.clear()
            entry.region.append(line.as_kind(classify_detail(bare)))
            return True
        if not entry.region and not entry.blanks and not entry.title.timed and len(entry.header) <= _LONGEST_NAME:
            # A name with newlines: its duration is yet to come.
            entry.text += b"\n" + bare
            entry.header.append(line)
            return True
        return False

    def close(self, exit_code: int | None) -> Reading:
        """Tell failures from todos and from parents that failed through a child."""
        failures: list[Failure] = []
        todo: list[Line] = []
        skipped = 0
        todos = 0
        unlisted = max(0, self._failures - len(self._entries))
        if self._failures != len(self._entries):
            self._doubts.add(Doubt.RECAP_CONTRADICTION)
        if unlisted:
            self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        for entry in self._entries:
            self._suppressed.add_lines(Kind.BLANK, entry.blanks)
            title = entry.title
            if entry.glyph != FAIL or title.reason is not None:
                if entry.glyph == SKIP:
                    skipped += 1
                    self._suppressed.add_lines(Kind.SKIPPED_TEST, entry.header)
                else:
                    todos += 1
                    todo += (line.as_kind(Kind.TODO_TEST) for line in entry.header)
                self._suppressed.add_lines(Kind.TEST_DETAIL, entry.region)
            elif len(entry.region) == 1 and _THROUGH_CHILDREN.fullmatch(bare(entry.region[0].raw)):
                self._suppressed.add_lines(Kind.DERIVED_FAILURE, (*entry.header, *entry.region))
            else:
                header, *rest = (line.as_kind(Kind.FAILED_TEST) for line in entry.header)
                failures.append(Failure(identity((title.name,)), header, (*rest, *entry.region)))
        failed = len(failures) + unlisted
        return Reading(
            tally=Tally(self._passes, failed, skipped, todos, self._passes + failed + skipped + todos),
            failures=tuple(failures),
            fatal_errors=tuple(self._marked[Kind.FATAL_ERROR]),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(self._unclassified),
            todo=tuple(todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(self._doubts),
            has_results=bool(self._width or self._entries),
        )


DIALECT = Dialect(
    name="node-dot",
    title="Node.js test runner, dot reporter",
    checked="Node 20, 22, 24",
    streams=frozenset({"stdout"}),
    # One dot alone is a full stop as well as a result.
    opening=re.compile(rb"[.X]{2,}+\Z"),
    begin=NodeDot,
    # Many runners print a dot a test.
    tentative=True,
)
