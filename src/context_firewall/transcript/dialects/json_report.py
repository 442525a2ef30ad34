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
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import json_report_formats as formats
from context_firewall.transcript.dialects.json_report_document import Document, Span, document
from context_firewall.transcript.dialects.json_report_formats import Format, Part, Story
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Failure, Reading, Tally
from context_firewall.transcript.interrupts import stopped_by
from context_firewall.transcript.json_lines import well_formed
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.recaps import are_named
from context_firewall.transcript.ruby import INTERRUPTED, frame_kind

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
# Lines that do not end a document.
INSIDE = re.compile(rb"(?:(?!\}\r?+\n)[^\n\x1b]*+\n)++")

# What keeps an object's place or its books: shown as context.
BRACKETS = frozenset({b"{", b"}", b"},", b"[", b"]", b"],"})
KEY = re.compile(rb"\s*+\"(?P<key>[A-Za-z_]++)\": ?+")
BOOKS = frozenset(
    b"title ancestorTitles duration currentRetry speed generatedMessage showDiff invocations location startAt startTime"
    b" endTime numPassingAsserts retryMessages retryReasons failing meta tags keywords lineno status outcome"
    b" id description run_time pending_message level ok time fullname closingTestPoint plan start end"
    b" typeName methodName functionName compare".split()
)
# A frame in RSpec's list of them.
FRAME = re.compile(rb"\s*+\"(/[^\n]++)")

ENDED = {formats.PASSED: Kind.SUCCESSFUL_TEST, formats.SKIPPED: Kind.SKIPPED_TEST, formats.TODO: Kind.TODO_TEST}


class JsonReport(Bookkeeper):
    """Reads one document."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._first = 0
        """The number of the document's first line."""
        self._raws: list[bytes] = []
        """Its lines, one below the other."""
        self._above: list[Line] = []
        """A brace on a line of its own before the opening, and RSpec's first keys below it."""
        self._opened = False
        self._read = False
        self._report: tuple[Document, Format, Story] | None = None
        self._loose: list[Line] = []

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Lines inside the document."""
        return INSIDE if self._opened and not self._read else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Hold a run of them."""
        raws = block[start : stop - 1].split(b"\n")
        self._raws += raws
        return len(raws)

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
        self._raws.append(raw)
        if bare == CLOSED or (opens and bare.startswith(OPENED)):
            self._end()
        return True

    def _begin(self, bare: bytes, number: int) -> bool:
        """Take what stands right above the opening; says whether the line does open a document."""
        above, self._above = self._above, []
        joined = bool(above) and above[-1].number == number - 1
        self._opened = not EXAMPLES.match(bare) or (joined and len(above) > 1)
        if joined and self._opened:
            self._first = above[0].number
            self._raws += (line.raw for line in above)
        else:
            self._first = number
            self._loose += above
        # What only looks like an opening is left to others.
        self._read = not self._opened
        return self._opened

    def _line(self, at: int) -> Line:
        """A line of the document, counted from 0."""
        return Line(self._stream, self._first + at, Kind.UNCLASSIFIED, self._raws[at])

    def _texts(self) -> list[bytes]:
        """The document's lines as rules see them."""
        whole = b"".join(self._raws)
        return [bare(raw) for raw in self._raws] if b"\r" in whole or b"\x1b" in whole else self._raws.copy()

    def _end(self) -> None:
        """The document has ended."""
        self._read = True
        texts = self._texts()
        above = 0 if texts[0].startswith(OPENED) else 1
        if above:
            # The brace was read as text, or stands behind something that was printed without a line end.
            texts.insert(0, OPENED)
        read = document(texts, above=above)
        told = formats.story(read.root) if read is not None else None
        if read is not None and told is not None:
            self._report = (read, *told)

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        report = self._report
        if report is None:
            lines = tuple(sorted((*self._loose, *map(self._line, range(len(self._raws)))), key=_number))
            # A report that was cut or torn; what only looks like one says nothing.
            doubts = {Doubt.COMPLETENESS_UNCONFIRMED} if self._opened and not self._read else set[Doubt]()
            return self._reading(Tally(), (), lines, doubts)
        document, row, story = report
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
        laid = _Layout(document, row, story, self._texts(), self._line)
        for kind, places in laid.suppressed().items():
            self._suppressed.add(kind, *(self._first + at for at in places))
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


class _Layout:
    """What each line of a report is."""

    def __init__(
        self, document: Document, row: Format, story: Story, texts: Sequence[bytes], line: Callable[[int], Line]
    ) -> None:
        """`texts` are the report's lines, bare; `line` makes one of them, counted from 0."""
        self._document = document
        self._texts = texts
        self._line = line
        self._key = b'"%b":' % row.name_key.encode()
        self._kinds = [Kind.STRUCTURE] * len(texts)
        self._taken: set[int] = set()
        self.failures: list[Failure] = []
        self.todo: list[Line] = []
        for part in (document.root, *story.totals):
            for at in self._own(part):
                self._kinds[at] = Kind.AGGREGATE_SOURCE
        for node in story.repeated:
            self._kinds[self._title(document.span(node))] = Kind.RECAP
        for part in story.tests:
            if part.ended == formats.FAILED:
                self._failure(part)
            elif part.ended:
                self._ended(part)
        for part in story.outside:
            self._failure(part)

    def suppressed(self) -> dict[Kind, list[int]]:
        """The lines that are not kept, by their kinds."""
        places: dict[Kind, list[int]] = {kind: [] for kind in set(self._kinds)}
        for at, kind in enumerate(self._kinds):
            if at not in self._taken:
                places[kind].append(at)
        return places

    def _title(self, span: Span) -> int:
        """The line of an object that names it."""
        for at in range(span.first, span.last + 1):
            if self._texts[at].lstrip().startswith(self._key):
                return at
        return span.first

    def _own(self, node: object) -> Iterator[int]:
        """The lines of an object that are not those of objects or arrays inside."""
        span = self._document.span(node)
        values = list(node.values()) if isinstance(node, dict) else []
        inside = [self._document.spans[id(value)] for value in values if id(value) in self._document.spans]
        hidden = {at for one in inside for at in range(one.first, one.last + 1)}
        return (at for at in range(span.first, span.last + 1) if at not in hidden)

    def _ended(self, part: Part) -> None:
        if len(self._texts) == 1:
            return
        at = self._title(self._document.span(part.node))
        self._kinds[at] = ENDED[part.ended]
        if part.ended == formats.TODO and at not in self._taken:
            self._taken.add(at)
            self.todo.append(self._line(at).as_kind(Kind.TODO_TEST))

    def _failure(self, part: Part) -> None:
        identity = well_formed(part.identity)
        span = self._document.span(part.node)
        if part.item is not None:
            span = self._document.item(part.node["messages"], part.item)
        places = list(self._own(part.node)) if part.own_lines else range(span.first, span.last + 1)
        free = [at for at in places if at not in self._taken]
        if not free:
            # All of it stands on a line that an earlier failure shows.
            self.failures.append(Failure(identity, None))
            return
        title = self._title(span)
        header = title if title in free else free[0]
        self._taken.update(free)
        details = tuple(self._detail(part, at) for at in free if at != header)
        self.failures.append(Failure(identity, self._line(header).as_kind(Kind.FAILED_TEST), details))

    def _detail(self, part: Part, at: int) -> Line:
        line, text = self._line(at), self._texts[at]
        key = KEY.match(text)
        if text.strip() in BRACKETS or text.endswith((b"{", b"[")) or (key is not None and key["key"] in BOOKS):
            return line.as_kind(Kind.FAILURE_CONTEXT)
        if key is not None and key["key"] == b"message" and _is_in_stack(part.node):
            return line.as_kind(Kind.FAILURE_CONTEXT)
        if frame := FRAME.fullmatch(text):
            return line.as_kind(frame_kind(frame[1]))
        return line.as_kind(classify_detail(text))


def _is_in_stack(node: dict[str, Any]) -> bool:
    """Whether mocha's error has its message in its stack, as V8 puts it there."""
    error = node.get("err", {})
    message, stack = error.get("message"), error.get("stack")
    return isinstance(message, str) and isinstance(stack, str) and message in stack


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
