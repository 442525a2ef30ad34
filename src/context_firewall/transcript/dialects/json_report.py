"""A test runner's report as one JSON document: mocha's, jest's, Vitest's, pytest's, RSpec's.

The room's rules:

- A document opens with a line that begins such a report, or, where it is indented, with the first line inside its
  brace; it ends with the brace at the margin. Only what can be read whole and strictly is a report.
- The report counts its tests and lists them; both must agree, and lists that say the same must say the same.
- A failing test's region is its object. Of a document on one line that is the line, so it is shown once, with the
  first failure, and the others are named.
- Where the same runner's report for people stands in the run as well, the document is a second print of it.
- Tests print where most of these reports stand. So of several documents nobody knows which a test has printed.
"""

import re
from collections.abc import Sequence
from itertools import repeat

from context_firewall.transcript.dialects import json_report_formats as formats
from context_firewall.transcript.dialects.json_report_document import document, garbage_left_alone
from context_firewall.transcript.dialects.json_report_layout import Layout
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Failure, Reading, Tally
from context_firewall.transcript.interrupts import stopped_by
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, lines_from
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.recaps import are_named
from context_firewall.transcript.ruby import INTERRUPTED

NAME = "json-report"

# The first key of a report, on the line of the brace or on the next.
ON_ONE_LINE = re.compile(
    rb"\{ ?+(?:\"num(?:Total|Failed)TestSuites\": ?+[0-9]++, ?+\"|\"stats\": ?+\{ ?+\"suites\": ?+[0-9]++, ?+\""
    rb"|\"created\": ?+[0-9.]++, ?+\"duration\": ?+[0-9.]++, ?+\"exitcode\""
    rb"|\"version\": ?+\"[0-9][^\"\n]*+\", ?+\"(?:messages|seed|examples)\":"
    rb"|\"name\": ?+\"TAP Tests\", ?+\"level\": ?+0,)"
)
INDENTED = re.compile(
    rb"[ \t]++(?:\"num(?:Total|Failed)TestSuites\": ?+[0-9]++,|\"stats\": ?+\{|\"created\": ?+[0-9.]++,"
    rb"|\"name\": \"TAP Tests\",|\"examples\": \[(?:\],)?+)\Z"
)
# RSpec's first key says little, so its report is known by a later one, if the first stands below the brace.
VERSION = re.compile(rb"[ \t]++\"version\": \"[0-9][^\"\n]*+\",")
EXAMPLES = re.compile(rb"[ \t]++\"examples\":")
OPENING = re.compile(rb"(?:%b|%b)" % (ON_ONE_LINE.pattern, INDENTED.pattern))
OPENED, CLOSED = b"{", b"}"
ENDS = (b"}\n", b"}\r\n")
# Lines of any sort; which of them ends a document is quicker to look for.
INSIDE = re.compile(rb"(?s:.*)\n")


class JsonReport(Bookkeeper):
    """Reads one document."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._first = 0
        """The number of the document's first line."""
        self._raws: list[bytes] = []
        """Its lines, each with its newline, in pieces."""
        self._above: list[Line] = []
        """A brace on a line of its own before the opening, and RSpec's first keys below it."""
        self._opened = False
        self._read = False
        self._loose: list[Line] = []

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Lines inside the document."""
        return INSIDE if self._opened and not self._read else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Hold a run of them, if none ends the document, or is coloured and may do so."""
        raws = block[start:stop]
        if raws.startswith(ENDS) or b"\n}\n" in raws or b"\x1b" in raws or (b"\r" in raws and b"\n}\r\n" in raws):
            return 0
        self._raws.append(raws)
        return raws.count(b"\n")

    def cut(self) -> None:
        """The last line has no newline: a document needs none."""

    @property
    def complete(self) -> bool:
        """The document has ended."""
        return self._read

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take the brace that stands before the first key, and what RSpec says before its examples."""
        above = self._above
        if bare == OPENED:
            self._loose += above
            self._above = [line]
            return True
        if not above or line.number != above[-1].number + 1 or not (above[1:] or VERSION.fullmatch(bare)):
            return False
        above.append(line)
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line of the document."""
        if self._read:
            if bare.strip():
                return False
            self._suppressed.add(Kind.BLANK, number)
            return True
        opens = not self._opened
        if opens and not self._begin(bare, number):
            return False
        self._raws.append(raw + b"\n")
        self._read = bare == CLOSED or (opens and bare.startswith(OPENED))
        return True

    def _begin(self, bare: bytes, number: int) -> bool:
        """Take what stands right above the opening; says whether the line does open a document."""
        above, self._above = self._above, []
        joined = bool(above) and above[-1].number == number - 1
        self._opened = not EXAMPLES.match(bare) or (joined and len(above) > 1)
        if joined and self._opened:
            self._first = above[0].number
            self._raws += (line.raw + b"\n" for line in above)
        else:
            self._first = number
            self._loose += above
        # What only looks like an opening is left to others.
        self._read = not self._opened
        return self._opened

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        raw = b"".join(self._raws)
        with garbage_left_alone():
            reading = self._told(raw) if self._opened and self._read else None
        if reading is not None:
            return reading
        lines = lines_from(self._stream, self._first, repeat(Kind.UNCLASSIFIED), raw.split(b"\n")[:-1])
        # A report that was cut or torn; what only looks like one says nothing.
        doubts = {Doubt.COMPLETENESS_UNCONFIRMED} if self._opened and not self._read else set[Doubt]()
        return self._reading(Tally(), (), tuple(sorted((*self._loose, *lines), key=_number)), doubts)

    def _told(self, raw: bytes) -> Reading | None:
        """What a document that has ended tells; None if it is no report."""
        text = b"\n".join(map(bare, raw.split(b"\n"))) if b"\r" in raw or b"\x1b" in raw else raw
        above = 0 if text.startswith(OPENED) else 1
        if above:
            # The brace was read as text, or stands behind something that was printed without a line end.
            text = OPENED + b"\n" + text
        read = document(text, above=above)
        told = formats.story(read.root) if read is not None else None
        if read is None or told is None:
            return None
        row, story = told
        doubts = set()
        if not story.counts():
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if not story.sound:
            doubts.add(Doubt.RECAP_CONTRADICTION)
        if not story.told:
            doubts.add(Doubt.ERRORS_UNREPORTABLE)
        if not story.ended:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if not story.divided:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        if not story.tally.total and not story.outside:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        laid = Layout(read, row, story, raw, self._stream, self._first, each=self._suppressed.fates is not None)
        laid.suppress(self._suppressed)
        reading = self._reading(story.tally, tuple(laid.failures), tuple(self._loose), doubts)
        return reading._replace(todo=tuple(laid.todo), has_results=True, standing=2 if doubts else STANDS)

    def _reading(
        self, tally: Tally, failures: tuple[Failure, ...], unclassified: tuple[Line, ...], doubts: set[Doubt]
    ) -> Reading:
        if unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=tally,
            failures=failures,
            unclassified=unclassified,
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
        )


def settle(readings: list[Reading]) -> list[Reading]:
    """A document beside the runner's report for people says the same again, and is in doubt if it does not.

    So are several documents: which of them are a test's, nobody knows.
    """
    readings = stopped_by(INTERRUPTED)(readings)
    if sum(part.dialect == NAME and part.has_results for part in readings) > 1:
        readings = [_unsure(part) if part.dialect == NAME else part for part in readings]
    told = [part for part in readings if part.has_results and part.dialect in _RUNNERS]
    if not told:
        return readings
    return [_recap(part, told) if part.dialect == NAME and part.has_results else part for part in readings]


_RUNNERS = frozenset(row.runner for row in formats.FORMATS)


def _unsure(part: Reading) -> Reading:
    return part._replace(doubts=part.doubts | {Doubt.COUNTS_UNCONFIRMED})


def _recap(part: Reading, told: Sequence[Reading]) -> Reading:
    tally = sum((one.tally for one in told), Tally())
    if part.tally != tally or not are_named((one.identity for one in part.failures), told):
        # A test may have printed the other report: what either names is kept, and counted is what people see.
        return part._replace(tally=Tally(), doubts=part.doubts | {Doubt.RECAP_CONTRADICTION})
    kept = sorted((*(line for failure in part.failures for line in failure.lines()), *part.todo), key=_number)
    empty = part._replace(tally=Tally(), failures=(), todo=(), has_results=False, standing=0)
    suppressed = dict(part.suppressed)
    suppressed[Kind.RECAP] = suppressed.get(Kind.RECAP, 0) + len(kept)
    fates = part.fates if part.fates is None else {**part.fates, **{line.number: Kind.RECAP for line in kept}}
    return empty._replace(suppressed={kind: n for kind, n in suppressed.items() if n}, fates=fates)


def _number(line: Line) -> int:
    return line.number


DIALECT = Dialect(
    name=NAME,
    title="JSON reports of mocha, jest, Vitest, pytest, RSpec and node-tap",
    checked="mocha 8.4-12.0, jest 29.7, 30.5, Vitest 4.1, pytest-json-report 1.5, RSpec 3.12, node-tap 18.8, 21.1",
    streams=frozenset({"stdout"}),
    opening=OPENING,
    begin=JsonReport,
    settle=settle,
)
