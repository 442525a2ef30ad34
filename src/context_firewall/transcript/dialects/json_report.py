"""A test runner's report as one JSON document: mocha's, jest's, Vitest's, pytest's.

The room's rules:

- A document opens with a line that begins such a report, or, where it is indented, with the first line inside its
  brace; it ends with the brace at the margin. Only what can be read whole and strictly is a report.
- The report counts its tests and lists them; both must agree, and lists that say the same must say the same.
- A failing test's region is its object. Of a document on one line that is the line, so it is shown once, with the
  first failure, and the others are named.
- Where the same runner's report for people stands in the run as well, the document is a second print of it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import json_report_formats as formats
from context_firewall.transcript.dialects.json_report_document import Document, Span, document
from context_firewall.transcript.dialects.json_report_formats import Format, Part, Story
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.json_lines import well_formed
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.machine import Dialect

NAME = "json-report"
STANDS = 3

# The first key of a report, on the line of the brace or on the next.
ON_ONE_LINE = re.compile(
    rb"\{ ?+(?:\"num(?:Total|Failed)TestSuites\": ?+[0-9]++, ?+\"|\"stats\": ?+\{ ?+\"suites\": ?+[0-9]++, ?+\""
    rb"|\"created\": ?+[0-9.]++, ?+\"duration\": ?+[0-9.]++, ?+\"exitcode\")"
)
INDENTED = re.compile(
    rb"[ \t]++(?:\"num(?:Total|Failed)TestSuites\": ?+[0-9]++,|\"stats\": ?+\{|\"created\": ?+[0-9.]++,)\Z"
)
OPENING = re.compile(rb"(?:%b|%b)" % (ON_ONE_LINE.pattern, INDENTED.pattern))
OPENED, CLOSED = b"{", b"}"
# Lines that do not end a document.
INSIDE = re.compile(rb"(?:(?!\}\r?+\n)[^\n\x1b]*+\n)++")

# What keeps an object's place or its books: shown as context.
BRACKETS = frozenset({b"{", b"}", b"},", b"[", b"]", b"],"})
KEY = re.compile(rb"\s*+\"(?P<key>[A-Za-z]++)\": ?+")
BOOKS = frozenset(
    b"title ancestorTitles duration currentRetry speed generatedMessage showDiff invocations location startAt startTime"
    b" endTime numPassingAsserts retryMessages retryReasons failing meta tags keywords lineno status outcome".split()
)

ENDED = {formats.PASSED: Kind.SUCCESSFUL_TEST, formats.SKIPPED: Kind.SKIPPED_TEST, formats.TODO: Kind.TODO_TEST}


class JsonReport:
    """Reads one document."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._suppressed = Account()
        self._first = 0
        """The number of the document's first line."""
        self._raws: list[bytes] = []
        """Its lines, one below the other."""
        self._brace: Line | None = None
        """A brace on a line of its own before the opening."""
        self._read = False
        self._twice = False
        """The same document, on one line, stands behind it."""
        self._report: tuple[Document, Format, Story] | None = None
        self._loose: list[Line] = []

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Lines inside the document."""
        return INSIDE if self._raws and not self._read else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Hold a run of them."""
        raws = block[start : stop - 1].split(b"\n")
        self._raws += raws
        return len(raws)

    def trace(self) -> None:
        """Remember which lines are suppressed."""
        self._suppressed.trace()

    def cut(self) -> None:
        """The last line has no newline: a document needs none."""

    @property
    def complete(self) -> bool:
        """The document has ended."""
        return self._read

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take the brace that stands before the first key."""
        if bare != OPENED:
            return False
        if self._brace is not None:
            self._loose.append(self._brace)
        self._brace = line
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line of the document."""
        if self._read:
            if bare.strip():
                self._twice |= [raw] == self._raws
                return False
            self._suppressed.add(Kind.BLANK, number)
            return True
        if not self._raws:
            self._first = number
            self._take_brace()
        first = not self._raws
        self._raws.append(raw)
        if bare == CLOSED or (first and bare.startswith(OPENED)):
            self._end()
        return True

    def _take_brace(self) -> None:
        """The document's first line may be the brace above the opening."""
        if self._brace is not None and self._brace.number == self._first - 1:
            self._first = self._brace.number
            self._raws.append(self._brace.raw)
        elif self._brace is not None:
            self._loose.append(self._brace)

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
            began = any(ON_ONE_LINE.match(bare(raw)) or INDENTED.match(bare(raw)) for raw in self._raws[:2])
            doubts = {Doubt.COMPLETENESS_UNCONFIRMED} if began and not self._read else set[Doubt]()
            return self._reading(Tally(), (), lines, doubts)
        document, row, story = report
        doubts = set()
        if self._twice:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        if not story.counts():
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if not story.sound:
            doubts.add(Doubt.RECAP_CONTRADICTION)
        if not story.told:
            doubts.add(Doubt.ERRORS_UNREPORTABLE)
        if not story.ended:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
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
            else:
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
        return line.as_kind(classify_detail(text))


def _is_in_stack(node: dict[str, Any]) -> bool:
    """Whether mocha's error has its message in its stack, as V8 puts it there."""
    error = node.get("err", {})
    message, stack = error.get("message"), error.get("stack")
    return isinstance(message, str) and isinstance(stack, str) and message in stack


def settle(readings: list[Reading]) -> list[Reading]:
    """A document beside the runner's report for people says the same again, and is in doubt if it does not."""
    told = [part for part in readings if part.has_results and part.dialect in _RUNNERS]
    if not told:
        return readings
    tally = sum((part.tally for part in told), Tally())
    return [_recap(part, tally) if part.dialect == NAME and part.has_results else part for part in readings]


_RUNNERS = frozenset(row.runner for row in formats.FORMATS)


def _recap(part: Reading, tally: Tally) -> Reading:
    kept = sorted((*(line for failure in part.failures for line in failure.lines()), *part.todo), key=_number)
    empty = part._replace(tally=Tally(), failures=(), todo=(), has_results=False, standing=0)
    if part.tally != tally:
        lines = tuple(sorted((*part.unclassified, *(line.as_kind(Kind.UNCLASSIFIED) for line in kept)), key=_number))
        return empty._replace(unclassified=lines, doubts=part.doubts | {Doubt.RECAP_CONTRADICTION})
    suppressed = dict(part.suppressed)
    suppressed[Kind.RECAP] = suppressed.get(Kind.RECAP, 0) + len(kept)
    fates = part.fates if part.fates is None else {**part.fates, **{line.number: Kind.RECAP for line in kept}}
    return empty._replace(suppressed={kind: n for kind, n in suppressed.items() if n}, fates=fates)


def _number(line: Line) -> int:
    return line.number


DIALECT = Dialect(
    name=NAME,
    title="JSON reports of mocha, jest, Vitest and pytest",
    checked="mocha 8.4-12.0, jest 29.7, 30.5, Vitest 4.1, pytest-json-report 1.5",
    streams=frozenset({"stdout"}),
    opening=OPENING,
    begin=JsonReport,
    settle=settle,
)
