"""What each line of a JSON report is.

The totals' own lines, and the document's, count. The line of a test's name says that it passed or was skipped; its
other lines are structure. A reduction is told how many of each there are, an explanation which they are. Of a test that
is to do the line of its name is kept, of a failure all lines of its object.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import json_report_formats as formats
from context_firewall.transcript.dialects.json_report_document import Document, Places, Span
from context_firewall.transcript.dialects.json_report_formats import Format, Part, Story
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.json_lines import well_formed
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.ruby import frame_kind

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


class Layout:
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
