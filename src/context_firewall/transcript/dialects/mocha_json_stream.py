"""mocha's `json-stream` reporter: one event a line, each a list of a word and an object.

The room's rules:

- `start` says how many tests there are, `pass` and `fail` name one each, `end` counts. Pending tests are only counted.
- A line is an event only if it is strict JSON: no key twice, a known word, an object with what the word needs.
- Counts that the events deny, and that more events follow, were printed by a test.
- The line of a failure is its whole region.
"""

import re
from typing import Any

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.json_lines import json_value, well_formed
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind

OPENING = re.compile(rb"\[\"start\",\{\"total\":[0-9]{1,9}+\}\]")
EVENT = re.compile(rb"\[\"(?:start|pass|fail|end)\",\{")
PASSED = re.compile(
    rb"(?:\[\"pass\",\{\"title\":\"[^\"\\\n\x1b]*+\",\"fullTitle\":\"[^\"\\\n\x1b]*+\","
    rb"(?:\"file\":\"[^\"\\\n\x1b]*+\",)?+\"duration\":[0-9]{1,9}+,\"currentRetry\":[0-9]{1,3}+"
    rb"(?:,\"speed\":\"[a-z]++\")?+\}\]\n)++"
)
# No run has more tests.
MOST = 10**9
COUNTS = ("passes", "failures", "pending")


def event_of(text: bytes) -> tuple[str, dict[str, Any]] | None:
    """The word and the object of an event, or None if the line is none."""
    if not EVENT.match(text):
        return None
    event = json_value(text)
    if not isinstance(event, list) or len(event) != 2 or not isinstance(event[1], dict):
        return None
    word, told = event
    if word in ("pass", "fail"):
        return (word, told) if isinstance(told.get("fullTitle"), str) else None
    keys = COUNTS if word == "end" else ("total",)
    return (word, told) if all(type(told.get(key)) is int and 0 <= told[key] <= MOST for key in keys) else None


class MochaEvents(Bookkeeper):
    """Reads the events of one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._started = False
        self._passed = 0
        self._failures: list[Failure] = []
        self._end: tuple[dict[str, Any], Line] | None = None
        self._unclassified: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passed tests."""
        return PASSED if self._started and self._end is None else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed tests."""
        lines = block.count(b"\n", start, stop)
        self._passed += lines
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, lines)
        return lines

    def cut(self) -> None:
        """The last line has no newline. Some versions print none behind the last event, which is read whole or not."""

    @property
    def complete(self) -> bool:
        """The counts have come and are met."""
        return self._end is not None and self._counted(self._end[0])

    def _counted(self, counts: dict[str, Any]) -> bool:
        return (counts["passes"], counts["failures"]) == (self._passed, len(self._failures))

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One event, or a line of nobody's."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, number)
            return True
        event = event_of(bare)
        if event is None or (event[0] == "start" and self.complete):
            return False if self.complete else self._text(bare, line)
        word, told = event
        if self._end is not None:
            # More events: what counted them was printed by a test.
            self._unclassified.append(self._end[1])
            self._end = None
        if word == "start" and self._started:
            return self._text(bare, line)
        if word == "start":
            self._started = True
            self._suppressed.add(Kind.STRUCTURE, number)
        elif word == "pass":
            self._passed += 1
            self._suppressed.add(Kind.SUCCESSFUL_TEST, number)
        elif word == "fail":
            self._failures.append(Failure(well_formed(told["fullTitle"]), line.as_kind(Kind.FAILED_TEST)))
        else:
            self._end = (told, line)
        return True

    def _text(self, bare: bytes, line: Line) -> bool:
        kind = marker_kind(bare)
        if kind is None:
            self._unclassified.append(line)
            return False
        self._marked[kind].append(line.as_kind(kind))
        return True

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        passed, failed, pending = self._passed, len(self._failures), 0
        doubts = set()
        standing = 0
        if self._end is None:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        else:
            counts, line = self._end
            self._suppressed.add(Kind.AGGREGATE_SOURCE, line.number)
            standing = 3 if self._counted(counts) else 1
            if standing == 1:
                doubts.add(Doubt.AGGREGATE_CONTRADICTION)
            passed, failed, pending = (counts[key] for key in COUNTS)
            if not passed + failed + pending:
                doubts.add(Doubt.NO_TEST_EVIDENCE)
        if self._unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=Tally(passed, failed, pending, 0, passed + failed + pending),
            failures=tuple(self._failures),
            fatal_errors=tuple(self._marked[Kind.FATAL_ERROR]),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(self._unclassified),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=True,
            standing=standing,
        )


DIALECT = Dialect(
    name="mocha-json-stream",
    title="mocha's json-stream reporter",
    checked="mocha 8.4, 10.8, 11.8, 12.0",
    streams=frozenset({"stdout"}),
    opening=OPENING,
    begin=MochaEvents,
    program_streams=frozenset({"stderr"}),
)
