"""The test harness with `--format json` (unstable): one event a line, a suite for each test binary.

The room's rules:

- A suite starts with the number of its tests and ends with its counts; between them each test starts, and ends once.
- A test's end holds what it printed, so the line is the failure's whole region.
- With --nocapture what tests print stands between the events, and may forge one: an end of a test that has not started,
  or has ended, or counts that do not agree, are in doubt.
- A line is an event only if it is strict JSON without a repeated key and with a known type and event.
"""

import re
from collections import Counter

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.json_lines import json_object, well_formed
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.machine import Bookkeeper, Dialect

# The first event of a suite. The harness puts a blank inside the braces.
OPENS = re.compile(rb'\{ "type": "suite", "event": "started", "test_count": [0-9]++')
EVENT = re.compile(rb'\{ "type": "(?:suite|test|bench|report)", ')
# Tests that start, and tests that pass or are ignored without a word; with several threads they take turns.
GREEN = re.compile(
    rb'(?:\{ "type": "test", (?:"event": "started", "name": "[^"\\\x00-\x1f]++"'
    rb'|"name": "[^"\\\x00-\x1f]++", "event": "(?:ok|ignored)"(?:, "exec_time": [0-9]++\.[0-9]++)?+) \}\n)++'
)
# The name in such a line, and a comma if it has ended.
NAMED = re.compile(r'"name": "([^"]++)"(,?)')
GREEN_IGNORED = b'", "event": "ignored"'
# No suite has more tests.
MOST = 10**9
ENDS = {"ok": "passed", "failed": "failed", "timeout": "", "ignored": "ignored"}


def event_of(text: bytes) -> dict[str, object] | None:
    """The event that a line is, or None."""
    if not EVENT.match(text):
        return None
    event = json_object(text)
    return event if event is not None and isinstance(event.get("event", ""), str) else None


def _count(event: dict[str, object], key: str) -> int:
    value = event.get(key, 0)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else -1


class CargoEvents(Bookkeeper):
    """Reads the suites of one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._expected: int | None = None
        self._running: dict[str, None] = {}
        self._counts: Counter[str] = Counter()
        self._tally = Tally()
        self._failures: list[Failure] = []
        self._unclassified: list[Line] = []
        self._doubts: set[Doubt] = set()
        self._suites = 0
        self._cut = False

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Tests that start, pass, or are ignored."""
        return None if self._expected is None else GREEN

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Take a run of such events, if each test in it starts before it ends, and neither twice."""
        try:
            events = NAMED.findall(block[start:stop].decode("utf-8"))
        except UnicodeDecodeError:
            return 0
        running = dict(self._running)
        for name, comma in events:
            if (name in running) != bool(comma):
                return 0
            if comma:
                del running[name]
            else:
                running[name] = None
        ended = (len(self._running) + len(events) - len(running)) // 2
        ignored = block.count(GREEN_IGNORED, start, stop)
        self._running = running
        self._counts["passed"] += ended - ignored
        self._counts["ignored"] += ignored
        self._suppressed.add_many(Kind.STRUCTURE, len(events) - ended)
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, ended - ignored)
        self._suppressed.add_many(Kind.SKIPPED_TEST, ignored)
        return len(events)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """Take a line, unless the run is over and the line is no event."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        event = event_of(bare)
        if event is None or not self._event(event, line):
            if self.complete:
                return False
            if bare.strip():
                self._unclassified.append(line)
            else:
                self._suppressed.add(Kind.BLANK, number)
            return not bare.strip()
        return True

    def _event(self, event: dict[str, object], line: Line) -> bool:
        what = event.get("event")
        if event.get("type") == "suite":
            return self._suite_starts(event, line) if what == "started" else self._suite_ends(event, line)
        if event.get("type") == "report":
            self._suppressed.add(Kind.DURATION_SOURCE, line.number)
            return True
        name = event.get("name")
        if not isinstance(name, str) or self._expected is None:
            return False
        if event.get("type") == "bench":
            self._counts["passed"] += 1
            self._running.pop(name, None)
            self._suppressed.add(Kind.SUCCESSFUL_TEST, line.number)
            return True
        return self._starts(name, line) if what == "started" else self._ends(name, event, line)

    def _suite_starts(self, event: dict[str, object], line: Line) -> bool:
        if self._expected is not None:
            self._break_off()
        self._expected = _count(event, "test_count")
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def _suite_ends(self, event: dict[str, object], line: Line) -> bool:
        if self._expected is None or event.get("event") not in ("ok", "failed"):
            return False
        stated = {key: _count(event, key) for key in ("passed", "failed", "ignored", "measured")}
        passed = stated["passed"] + stated["measured"]
        sums = (passed, stated["failed"], stated["ignored"])
        if self._running or sums != tuple(self._counts[key] for key in ("passed", "failed", "ignored")):
            self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if sum(sums) != self._expected or (event["event"] == "ok") != (not stated["failed"]) or min(sums) < 0:
            self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        ended = [max(0, number) for number in sums]
        self._tally += Tally(ended[0], ended[1], ended[2], 0, sum(ended))
        self._suppressed.add(Kind.AGGREGATE_SOURCE, line.number)
        self._suites += 1
        self._expected = None
        self._counts.clear()
        self._running.clear()
        return True

    def _starts(self, name: str, line: Line) -> bool:
        if name in self._running:
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        self._running[name] = None
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def _ends(self, name: str, event: dict[str, object], line: Line) -> bool:
        what = event.get("event")
        if not isinstance(what, str) or what not in ENDS:
            return False
        if what == "timeout":
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if name not in self._running:
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        self._running.pop(name, None)
        self._counts[ENDS[what]] += 1
        if what == "failed":
            self._failures.append(Failure(well_formed(name), line.as_kind(Kind.FAILED_TEST)))
        else:
            self._suppressed.add(Kind.SKIPPED_TEST if what == "ignored" else Kind.SUCCESSFUL_TEST, line.number)
        return True

    def _break_off(self) -> None:
        """A suite has no end."""
        counts = self._counts
        self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        three = (counts["passed"], counts["failed"], counts["ignored"])
        self._tally += Tally(*three, 0, sum(three))
        self._expected = None
        counts.clear()

    def cut(self) -> None:
        """The last line has no newline; the harness ends every event with one."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """Between suites, after at least one."""
        return self._expected is None and self._suites > 0

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        current = well_formed(next(iter(self._running), "")) if self._expected is not None else ""
        if self._expected is not None:
            self._break_off()
        doubts = self._doubts
        if self._cut:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if self._unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        whole = Doubt.COMPLETENESS_UNCONFIRMED not in doubts
        return Reading(
            tally=self._tally,
            failures=tuple(self._failures),
            unclassified=tuple(self._unclassified),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(self._suites or self._tally.total),
            standing=(2 if doubts else 3) if whole and self._suites else 0,
            current_test=current,
        )


DIALECT = Dialect(
    name="cargo-json",
    title="cargo test -- --format json",
    checked="cargo 1.95",
    streams=frozenset({"stdout", "stderr"}),
    opening=OPENS,
    begin=CargoEvents,
)
