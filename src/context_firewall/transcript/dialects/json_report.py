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
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import json_report_formats as formats
from context_firewall.transcript.dialects.json_report_document import (
    Document,
    Places,
    Span,
    document,
    garbage_left_alone,
)
from context_firewall.transcript.dialects.json_report_formats import Format, Part, Story
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Failure, Reading, Tally
from context_firewall.transcript.interrupts import stopped_by
from context_firewall.transcript.json_lines import well_formed
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, lines_from
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
ENDS = (b"}\n", b"}\r\n")
# Lines of any sort; which of them ends a document is quicker to look for.
INSIDE = re.compile(rb"(?s:.*)\n")

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

# What is not kept of a test; of one that failed or is to do a line at least is.
ENDED = {formats.PASSED: Kind.SUCCESSFUL_TEST, formats.SKIPPED: Kind.SKIPPED_TEST}


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
        laid = _Layout(read, row, story, raw, self._stream, self._first, each=self._suppressed.fates is not None)
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


class _Layout:
    """What each line of a report is."""

    def __init__(
        self, document: Document, row: Format, story: Story, raw: bytes, stream: str, first: int, *, each: bool
    ) -> None:
        """`raw` is the report as it stands in the stream, from line `first` on. `each`: the lines that name what passed
        are looked for as well, though to count them does.
        """
        self._document = document
        self._raw = raw
        self._stream = stream
        self._first = first
        self._key = b'"%b":' % row.name_key.encode()
        self._places = _places(document, story, each=each)
        self._apart = self._places.parts is not None
        """Objects stand in lines of their own."""
        self._marks: dict[int, Kind] = {}
        """What is known of some lines."""
        self._counts: Counter[Kind] = Counter()
        """Lines of which no more is known than how many there are."""
        self._taken: set[int] = set()
        self.failures: list[Failure] = []
        self.todo: list[Line] = []
        for part in (document.root, *story.totals):
            self._marks.update(dict.fromkeys(self._own(part), Kind.AGGREGATE_SOURCE))
        self._named(story, each=each)
        for one in story.shown:
            if one.ended == formats.FAILED:
                self._failure(one)
            else:
                self._todo(one)
        for one in story.outside:
            self._failure(one)

    @cached_property
    def _raws(self) -> list[bytes]:
        """The report's lines, of which one without a failure needs none."""
        return self._raw.split(b"\n")

    @cached_property
    def _texts(self) -> list[bytes]:
        """The same as rules see them."""
        text = self._document.text
        return self._raws if text is self._raw else text.split(b"\n")[self._document.above :]

    def _line(self, at: int, kind: Kind) -> Line:
        return Line(self._stream, self._first + at, kind, self._raws[at])

    def suppress(self, account: Account) -> None:
        """Account for the lines that are not kept."""
        first = self._first
        marks = {at: kind for at, kind in self._marks.items() if at not in self._taken}
        for at, kind in marks.items():
            account.add(kind, first + at)
        for kind, count in self._counts.items():
            account.add_many(kind, count)
        size = self._places.whole.last + 1
        if account.fates is None:
            account.add_many(Kind.STRUCTURE, size - len(marks) - len(self._taken) - self._counts.total())
        else:
            rest = (at for at in range(size) if at not in marks and at not in self._taken)
            account.add(Kind.STRUCTURE, *(first + at for at in rest))

    def _named(self, story: Story, *, each: bool) -> None:
        """Say of the lines that name tests how those ended, or that they name them again."""
        if self._apart and not each:
            for ended, kind in ENDED.items():
                self._counts[kind] += story.ends.count(ended)
            self._counts[Kind.RECAP] += len(story.repeated)
            return
        named = [(test, Kind.RECAP) for test in story.repeated]
        if self._places.whole.last:
            tests = zip(story.tests, story.ends, strict=True)
            named += ((test, ENDED[ended]) for test, ended in tests if ended in ENDED)
        # Where all stand in all lines the last has the word.
        for test, kind in named if self._apart else named[-1:]:
            self._marks[self._title(self._places.of(test))] = kind

    def _title(self, span: Span) -> int:
        """The line of an object that names it."""
        return self._first_title if span == self._places.whole else self._title_in(span)

    @cached_property
    def _first_title(self) -> int:
        return self._title_in(self._places.whole)

    def _title_in(self, span: Span) -> int:
        for at in range(span.first, span.last + 1):
            if self._texts[at].lstrip().startswith(self._key):
                return at
        return span.first

    def _own(self, node: object) -> Iterator[int]:
        """The lines of an object that are not those of objects or arrays inside."""
        at, last = self._places.of(node)
        for inside in sorted(map(self._places.of, _inside(node))):
            yield from range(at, inside.first)
            at = max(at, inside.last + 1)
        yield from range(at, last + 1)

    def _todo(self, part: Part) -> None:
        if not self._places.whole.last:
            return
        at = self._title(self._places.of(part.node))
        if at not in self._taken:
            self._taken.add(at)
            self.todo.append(self._line(at, Kind.TODO_TEST))

    def _failure(self, part: Part) -> None:
        identity = well_formed(part.identity)
        span = self._places.of(part.node)
        if part.item is not None:
            span = self._places.item(part.node["messages"], part.item)
        places = self._own(part.node) if part.own_lines and self._apart else range(span.first, span.last + 1)
        is_left = len(self._taken) <= self._places.whole.last
        free = [at for at in places if at not in self._taken] if is_left else []
        if not free:
            # All of it stands on a line that an earlier failure shows.
            self.failures.append(Failure(identity, None))
            return
        title = self._title(span)
        header = title if title in free else free[0]
        self._taken.update(free)
        details = tuple(self._detail(part, at) for at in free if at != header)
        self.failures.append(Failure(identity, self._line(header, Kind.FAILED_TEST), details))

    def _detail(self, part: Part, at: int) -> Line:
        return self._line(at, _detail_kind(part.node, self._texts[at]))


def _detail_kind(node: dict[str, Any], text: bytes) -> Kind:
    """What a line of a failing test's object is, other than the one that names it."""
    key = KEY.match(text)
    if text.strip() in BRACKETS or text.endswith((b"{", b"[")) or (key is not None and key["key"] in BOOKS):
        return Kind.FAILURE_CONTEXT
    if key is not None and key["key"] == b"message" and _is_in_stack(node):
        return Kind.FAILURE_CONTEXT
    if frame := FRAME.fullmatch(text):
        return frame_kind(frame[1])
    return classify_detail(text)


def _places(document: Document, story: Story, *, each: bool) -> Places:
    """Where the parts stand that matter; `each`: all tests do."""
    counting = [document.root, *story.totals]
    shown = [*story.shown, *story.outside]
    owners = [*counting, *(part.node for part in shown if part.own_lines)]
    inside = chain.from_iterable(map(_inside, owners))
    return document.places(
        chain(owners, inside, (part.node for part in shown), *([story.tests, story.repeated] * each))
    )


def _inside(node: object) -> Iterator[object]:
    """Objects and arrays right inside an object."""
    values = node.values() if isinstance(node, dict) else ()
    return (value for value in values if value and isinstance(value, dict | list))


def _is_in_stack(node: dict[str, Any]) -> bool:
    """Whether mocha's error has its message in its stack, as V8 puts it there."""
    error = node.get("err")
    message, stack = (error.get("message"), error.get("stack")) if isinstance(error, dict) else (None, None)
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
