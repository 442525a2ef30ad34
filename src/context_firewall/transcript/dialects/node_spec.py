"""Node's spec reporter (`node --test --test-reporter=spec`; the default on a terminal, in later versions everywhere).

The room's rules:

- Every line is one of the shapes in `node_grammar`, or a detail of the failing result above it, or unknown. Unknown
  lines are kept; Node prints a child's output raw, so they are ordinary.
- A `▶` opens a parent when its first child reports; the same name at the same indentation closes it. A result at the
  current nesting that closes nothing is a leaf.
- Node 20 prints an error under its result and once more in the recap, Node 22 on in the recap only. Error lines stand
  two blanks deeper than their result; the runner splits them itself, so none is at column 0.
- The closing counts are one block in one order, after every result. Their shape anywhere else is a contradiction.
- What was read is settled against counts and recap in `node_spec_account`.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

from context_firewall.transcript.dialects.node_grammar import (
    BANNER,
    COVERAGE_CLOSES,
    COVERAGE_OPENS,
    DEEPEST_LANE,
    DOTS,
    DURATION,
    FAIL,
    FAILING_TODO,
    LATE_ACTIVITY,
    LOCATION,
    NESTING,
    NOTE,
    OPEN,
    OPENS,
    PASS,
    RECAP_OPENS,
    REMARK,
    RESULT,
    SKIP,
    THRESHOLD,
    TOTAL,
    TOTALS,
    Title,
    lane,
    titled,
)
from context_firewall.transcript.dialects.node_spec_account import Entry, Lines, Point, Totals, settled
from context_firewall.transcript.dialects.node_spec_region import Region
from context_firewall.transcript.dialects.node_spec_tree import LONGEST_NAME, Tree
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind

_MOST_NOTES = 64
"""Errors about late activity that may stand before one file's failure; more are counted, not held."""


class _Part(Enum):
    """Where in a report the machine is."""

    RESULTS = auto()
    TOTALS = auto()
    """Inside the block of closing counts."""
    AFTER = auto()
    """Behind the counts: coverage, then the recap."""
    RECAP = auto()


@dataclass(slots=True)
class _Pending:
    """A result without a duration: cancelled, or the first line of a name with newlines."""

    level: int
    glyph: bytes
    texts: list[bytes]
    lines: list[Line]


class NodeSpec(Bookkeeper):
    """Reads one spec report."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._part = _Part.RESULTS
        self._region: Region | None = None
        self._pending: _Pending | None = None
        self._notes: list[Line] = []
        self._coverage = False
        self._location: Line | None = None
        self._cut = False
        self._last_result = 0
        self._block: list[int] = []
        self._totals: Totals | None = None
        self._recap_read = False
        self._expected = 0
        self._todo_errors = 0
        self._lines = Lines()
        self._points: list[Point] = []
        self._entries: list[Entry] = []
        self._doubts: set[Doubt] = set()
        self._unclassified: list[Line] = []
        self._tree = Tree(self._unclassified, self._suppressed, self._doubts)
        self._todo: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {
            Kind.FATAL_ERROR: [],
            Kind.TIMEOUT: [],
            Kind.ABNORMAL_WARNING: [],
        }

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passed leaves of the innermost open parent."""
        if self._part is not _Part.RESULTS or self._region or self._pending:
            return None
        level = self._tree.level
        return lane(level) if level <= DEEPEST_LANE else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of passed leaves and parents. An opening stands at a line's start, at this nesting or deeper."""
        self._release_notes()
        self._last_result = number + block.count(b"\n", start, stop) - 1
        openings = [b"  " * (self._tree.level + deeper) + OPEN + b" " for deeper in range(NESTING)]
        parents = sum(block.count(b"\n" + opening, start, stop) for opening in openings)
        parents += block.startswith(openings[0], start)
        results = block.count(b"\n", start, stop) - parents
        self._lines.passed += results
        self._lines.parents["passed"] += parents
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, results)
        self._suppressed.add_many(Kind.STRUCTURE, parents)
        return results + parents

    def cut(self) -> None:
        """The last line has no newline; the reporter ends every line with one."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """The counts fit what was read, nothing is open, and the recap holds at least what it must."""
        return (
            self._part in (_Part.AFTER, _Part.RECAP)
            and self._totals is not None
            and self._pending is None
            and not self._doubts
            and self._tree.innermost is None
            and len(self._entries) >= self._expected
            and self._lines.fits(self._totals)
        )

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Raw output before the first result: of a file that does not load, if that is what the result says."""
        if line.kind is not Kind.UNCLASSIFIED:
            return False
        self._unclassified.append(line)
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line: of the open region, of a pending name, or by its own shape."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._detail(bare, line):
            return True
        was_pending = self._pending is not None
        if was_pending and self._continues(bare, line):
            return True
        if self._shape(bare, line):
            return True
        parent = self._tree.innermost
        if parent is not None and parent.may_go_on(number):
            parent.tail.append((bare, line))
            return True
        if self.complete and not was_pending:
            return False
        self._keep(line)
        # A name that this line has just ended may have been the last thing to wait for: the line is taken all the same.
        return self.complete

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        self._end_region()
        self._end_pending()
        self._release_notes()
        self._drop_location()
        if self._part is _Part.TOTALS:
            self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        self._tree.end()
        account = settled(
            self._points, self._entries, self._totals, self._lines, self._recap_read, exit_code, self._suppressed
        )
        unclassified = sorted((*self._unclassified, *account.unclassified), key=_place)
        doubts = self._doubts | account.doubts
        # A torn last line is harmless only where the counts end: the rest of a number of milliseconds.
        if self._cut and self._part is not _Part.AFTER:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        has_results = self._totals is not None or self._lines.all > 0
        if not has_results:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        return Reading(
            tally=self._lines.leaves() if self._totals is None else self._totals.tally(),
            failures=tuple(account.failures),
            fatal_errors=tuple(self._marked[Kind.FATAL_ERROR]),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(unclassified),
            todo=tuple(self._todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=has_results,
            standing=2 if self._part in (_Part.AFTER, _Part.RECAP) else 0,
        )

    # -- error lines

    def _detail(self, bare: bytes, line: Line) -> bool:
        """Whether the line belongs to the open region; a line that does not ends it."""
        if self._region is None:
            return False
        if self._region.take(bare, line):
            return True
        self._end_region()
        return False

    def _end_region(self) -> None:
        if self._region is not None:
            self._region.end()
            self._region = None

    # -- names with newlines

    def _continues(self, bare: bytes, line: Line) -> bool:
        """Whether the line goes on with the pending name; the line that has the duration ends it."""
        pending = self._pending
        assert pending is not None  # noqa: S101 - for the type checker; `line` has asked
        indented = bare.startswith(b"  " * (pending.level + 1))
        known = not bare.strip() or RESULT.fullmatch(bare) or OPENS.fullmatch(bare) or REMARK.fullmatch(bare)
        if known or indented or marker_kind(bare) or LOCATION.fullmatch(bare) or len(pending.lines) > LONGEST_NAME:
            self._end_pending()
            return self._detail(bare, line)
        pending.texts.append(bare)
        pending.lines.append(line)
        title = titled(pending.glyph, b"\n".join(pending.texts))
        if title.timed:
            self._pending = None
            self._result(pending.level, pending.glyph, b"\n".join(pending.texts), title, pending.lines)
        return True

    def _end_pending(self) -> None:
        """No more of the name came: a failing result was cancelled and has no duration, any other must have one."""
        pending = self._pending
        if pending is None:
            return
        self._pending = None
        header, *rest = pending.lines
        if pending.glyph == FAIL:
            title = Title(pending.texts[0], False, None)
            self._result(pending.level, FAIL, pending.texts[0], title, [header])
        else:
            self._contest(header)
        for line in rest:
            self._keep(line)
        if rest:
            self._end_region()

    # -- lines by their shape

    def _shape(self, bare: bytes, line: Line) -> bool:
        """Account for a line that has a shape of the reporter's, here; False if it has none."""
        remark = REMARK.fullmatch(bare)
        total = None if remark is None or remark["indent"] else TOTAL.fullmatch(remark["text"])
        if self._part is _Part.TOTALS and total is None:
            self._break_totals()
        if total is not None:
            self._total(total, line)
            return True
        if remark is not None:
            self._remark(remark, line)
            return True
        self._coverage = False
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        return self._report(bare, line) or self._aside(bare, line)

    def _total(self, total: re.Match[bytes], line: Line) -> None:
        """One of the closing counts: in its place, or a contradiction."""
        key, value = total["key"], int(total["value"])
        if self._part is _Part.TOTALS and key != TOTALS[len(self._block)]:
            self._break_totals()
        if total["fraction"] and key != TOTALS[-1]:
            self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if self._part is not _Part.TOTALS:
            if key != TOTALS[0]:
                # A diagnostic that looks like a count, or a count torn from its block.
                self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
                self._suppressed.add(Kind.PROGRAM_OUTPUT, line.number)
                return
            if self._totals is not None:
                self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
            self._part = _Part.TOTALS
            self._block = []
        self._block.append(value)
        if key != TOTALS[-1]:
            self._suppressed.add(Kind.AGGREGATE_SOURCE, line.number)
            return
        self._suppressed.add(Kind.DURATION_SOURCE, line.number)
        self._totals = Totals(*self._block[:-1])
        self._part = _Part.AFTER
        self._tree.end()
        # Parents with a failing child may or may not be repeated.
        own = sum(1 for point in self._points if not (point.parent and point.through_child))
        self._expected = own + self._todo_errors

    def _break_totals(self) -> None:
        """The block of counts is not whole."""
        self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        self._part = _Part.RESULTS if self._totals is None else _Part.AFTER

    def _remark(self, remark: re.Match[bytes], line: Line) -> None:
        """A diagnostic: of a test, of the runner, or a row of the coverage table."""
        text = remark["text"]
        kind = marker_kind(text)
        if kind is None and self._part is _Part.AFTER and THRESHOLD.fullmatch(text):
            kind = Kind.FATAL_ERROR
        if kind is not None:
            self._marked[kind].append(line.as_kind(kind))
        elif LATE_ACTIVITY in text and not remark["indent"]:
            if self._notes and (self._notes[-1].number + 1 != line.number or len(self._notes) == _MOST_NOTES):
                self._release_notes()
            self._notes.append(line.as_kind(Kind.FAILURE_MESSAGE))
        else:
            self._coverage = (self._coverage or text == COVERAGE_OPENS) and text != COVERAGE_CLOSES
            ours = self._coverage or text == COVERAGE_CLOSES
            self._suppressed.add(Kind.INFORMATIONAL if ours else Kind.PROGRAM_OUTPUT, line.number)

    def _report(self, bare: bytes, line: Line) -> bool:
        """A parent's opening, a result, or the recap's opening."""
        opens = OPENS.fullmatch(bare)
        if opens is not None:
            self._resume()
            self._tree.open(len(opens["indent"]) // 2, opens["name"], line.number)
            return True
        if bare == RECAP_OPENS:
            if self._part is _Part.AFTER:
                self._part = _Part.RECAP
                self._recap_read = True
                self._suppressed.add(Kind.RECAP, line.number)
            else:
                self._contest(line)
                self._doubts.add(Doubt.RECAP_CONTRADICTION)
            return True
        result = RESULT.fullmatch(bare)
        if result is None:
            return False
        glyph, text, level = result["glyph"], result["title"], len(result["indent"]) // 2
        title = titled(glyph, text)
        if glyph == FAILING_TODO and title.timed and title.reason is None:
            return False
        if level or glyph == PASS:
            self._resume()
        if title.timed or title.reason is not None:
            self._result(level, glyph, text, title, [line])
        else:
            self._pending = _Pending(level, glyph, [text], [line])
        return True

    def _aside(self, bare: bytes, line: Line) -> bool:
        """Markers of any program, a place in the recap, and what stands between results without being one."""
        kind = marker_kind(bare)
        if kind is not None:
            self._marked[kind].append(line.as_kind(kind))
            return True
        if self._part is _Part.RECAP and LOCATION.fullmatch(bare):
            self._drop_location()
            self._location = line.as_kind(Kind.STACK_TRACE)
            return True
        if self._part is _Part.RESULTS:
            for pattern, quiet in ((DOTS, Kind.PROGRESS), (BANNER, Kind.INFORMATIONAL)):
                if pattern.fullmatch(bare):
                    self._suppressed.add(quiet, line.number)
                    return True
        return False

    def _resume(self) -> None:
        """A result where none may stand any more: another report follows, or a forged line."""
        if self._part in (_Part.AFTER, _Part.RECAP):
            self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
            self._drop_location()
            self._part = _Part.RESULTS

    # -- results

    def _result(self, level: int, glyph: bytes, text: bytes, title: Title, lines: list[Line]) -> None:
        """A whole result: in the recap, of a parent that closes, or a leaf."""
        if self._part in (_Part.AFTER, _Part.RECAP) and (self._part is _Part.AFTER or level or glyph == PASS):
            self._resume()
        if self._part is _Part.RECAP:
            self._entry(glyph, text, title, lines)
            return
        # A file that died leaves its parents open; its own failure is the next result, at the outermost nesting.
        # Whether this is such a failure shows in its details.
        after_death = self._tree.innermost is not None and level == 0
        closed = self._tree.closed(level, glyph, title)
        failing = glyph == FAIL and title.reason is None
        parent = self._tree.innermost
        if parent is not None and failing:
            parent.failing = True
            parent.started_failing |= title.timed
        outcome = self._outcome(glyph, title)
        setattr(self._lines, outcome, getattr(self._lines, outcome) + 1)
        if closed is not None:
            self._lines.parents[outcome] += 1
            self._lines.marked_parents += glyph == PASS and title.reason is not None
            if closed.failing and glyph == PASS and title.reason is None:
                self._doubts.add(Doubt.TREE_CONTRADICTION)
        indent = b"  " * (level + 1)
        before, self._last_result = self._last_result, lines[-1].number
        notes = self._taken_notes(lines[0]) if failing and level == 0 and closed is None else []
        self._release_notes()
        if failing:
            header = [line.as_kind(Kind.FAILED_TEST) for line in lines]
            path = self._tree.path(title.name)
            through = closed is not None and closed.started_failing
            point = Point(path, text, header, closed is not None, through, after_death and closed is None, notes=notes)
            if level == 0 and closed is None:
                point.output = self._taken_output(before)
            self._points.append(point)
            self._region = Region(indent, point.region, self._suppressed)
        elif outcome == "todo":
            self._todo += (line.as_kind(Kind.TODO_TEST) for line in lines)
        else:
            self._suppressed.add_lines(Kind.SKIPPED_TEST if outcome == "skipped" else Kind.SUCCESSFUL_TEST, lines)
        if not failing and glyph != PASS:
            self._todo_errors += outcome == "todo"
            self._region = Region(indent, None, self._suppressed)

    @staticmethod
    def _outcome(glyph: bytes, title: Title) -> str:
        """The field of `Lines` that counts this result."""
        if glyph == SKIP:
            return "skipped"
        if title.reason is not None:
            return "todo"
        return "passed" if glyph == PASS else "failed"

    def _entry(self, glyph: bytes, text: bytes, title: Title, lines: list[Line]) -> None:
        """A result in the recap."""
        counts = glyph == FAIL and title.reason is None
        entry = Entry(text, lines, title.name, self._location, counts)
        self._location = None
        self._entries.append(entry)
        self._region = Region(b"  ", entry.region, self._suppressed)

    # -- small accounts

    def _keep(self, line: Line) -> None:
        self._unclassified.append(line)

    def _contest(self, line: Line) -> None:
        """Keep a line that has the shape of a result but no place here."""
        self._unclassified.append(line.as_kind(Kind.CONTESTED_TEST))
        self._doubts.add(Doubt.CONTESTED_RESULTS)

    def _drop_location(self) -> None:
        """A place in the recap without its result."""
        if self._location is not None:
            self._suppressed.add_lines(Kind.RECAP, [self._location])
            self._location = None
            self._doubts.add(Doubt.RECAP_CONTRADICTION)

    def _taken_notes(self, header: Line) -> list[Line]:
        """The errors that stand directly before this result."""
        if not self._notes or self._notes[-1].number + 1 != header.number:
            return []
        notes, self._notes = self._notes, []
        return notes

    def _taken_output(self, after: int) -> list[Line]:
        """The unclassified lines behind the line of that number."""
        first = len(self._unclassified)
        while first and self._unclassified[first - 1].number > after:
            first -= 1
        taken = self._unclassified[first:]
        del self._unclassified[first:]
        return taken

    def _release_notes(self) -> None:
        self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._notes)
        self._notes = []


def _place(line: Line) -> int:
    return line.number


DIALECT = Dialect(
    name="node-spec",
    title="Node.js test runner, spec reporter",
    checked="Node 20, 22, 24, 26",
    streams=frozenset({"stdout"}),
    # At the outermost nesting: an opened parent, a result with its duration, or the first of the closing counts.
    opening=re.compile(
        OPEN
        + rb" .|(?:"
        + b"|".join((PASS, FAIL, SKIP, FAILING_TODO))
        # gotestsum's line of a package has two blanks.
        + rb") (?! [^ ]++ \([0-9.]++m?s\)\Z).*?"
        + DURATION.pattern
        + rb"|"
        + NOTE
        + rb" tests [0-9]++\Z"
    ),
    begin=NodeSpec,
)
