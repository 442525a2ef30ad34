"""node-tap's reporters for people, base and terse: a screen that is drawn again and again, then a report.

The room's rules:

- The run is a screen. Its last lines, the frame, say how far the run is; before the next frame they are erased, by as
  many moves as they have lines. What stands above the frame stays: the log. On a terminal that the frame does not fit,
  everything is cleared and printed again. So the moves are grammar, and are looked for in the raw line.
- The log says which files have ended (base), and what they printed, below a line that names the file. That is the
  program's. It may look like anything, so it is never read as results. What files write to standard error is in the log
  too; so what stands on standard error itself is nobody's, and in doubt.
- Behind the last moves stand the report and the totals, then comments that repeat the totals and end with the time.
  Only they end a run: a frame looks like totals too, and what a test prints may look like all of it. So the report
  that counts is the last, its results are those that its headings count, and its headings add up to its totals.
- The totals never go back. Where they do, somebody else has printed some, or another run has begun.
- min and dot end with the same report, but without totals. What they name has failed; more is not known.
"""

import re

from context_firewall.transcript.dialects import node_tap_grammar as grammar
from context_firewall.transcript.dialects.node_tap_report import (
    Counts,
    File,
    commented,
    counted,
    frames_in_order,
    heading,
    read_files,
)
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.printed import Printed


class NodeTap(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._held: list[Line] = []
        """What stands on the screen since the last moves: log, frame, report."""
        self._first: Counts | None = None
        self._frame: Counts | None = None
        """The latest totals of assertions."""
        self._suites: Counts | None = None
        self._comment: Counts | None = None
        self._printing = False
        """What comes is what a file printed."""
        self._former: list[Line] = []
        """A whole report that was cleared away."""
        self._over = False
        self._agreed = False
        self._files: list[File] = []
        self._logged: dict[tuple[bytes, ...], list[Line]] = {}
        """Files that failed, as the log has them: heading and what stands below."""
        self._seen: set[bytes] = set()
        """What the files printed, once the screen has been cleared."""
        self._cleared = False
        self._printed = Printed()
        self._todo: list[Line] = []
        self._fatal: list[Line] = []
        self._unclassified: list[Line] = []
        self._doubts: set[Doubt] = set()

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Frames of one size, where nothing but one of that size is on the screen."""
        lines = len(self._held)
        if self._suites is None or self._over or lines > grammar.MOST_LINES or self._held[-1].raw not in (b"", b"\r"):
            return None
        return grammar.frames(lines) if lines > grammar.EMPTY_LINES + 2 else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Take a run of frames; the first erases what is on the screen, and the last stays there."""
        frame = len(self._held)
        middle = frames_in_order(block, start, stop) - 2
        if middle < 1:
            return 0
        raws = block[start : stop - 1].split(b"\n")
        for at in (*range(frame), *range(len(raws) - frame, len(raws))):
            self.line(bare(raws[at]), raws[at], number + at)
        self._suppressed.add_many(Kind.PROGRESS, middle * frame)
        return len(raws)

    def cut(self) -> None:
        """The line that ends a run is told from a piece of it by its unit."""

    @property
    def complete(self) -> bool:
        """The last comment has been read, and everything agrees."""
        return self._over and self._agreed

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if grammar.CLEARED.match(raw):
            self._clear()
        elif self._over:
            return self._after(bare, line)
        elif (erased := grammar.ERASED.match(raw)) is not None:
            self._erase(len(erased[1]) // len(grammar.ERASED_LINE))
        self._held.append(line)
        known = self._known(bare)
        if grammar.TIME.fullmatch(bare) and self._comment is not None:
            self._over = True
            self._agreed = self._agrees(read_files(self._parts()[1])[0])
        return known

    # -- the screen

    def _known(self, text: bytes) -> bool:
        """Whether a line has a place on the screen; takes note of the totals."""
        if (found := counted(text)) is not None:
            if self._first is None:
                self._first = found
            if self._frame is not None and found.behind(self._frame):
                self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self._frame, self._suites, self._comment = found, None, None
        elif (suites := counted(text, suites=True)) is not None:
            self._suites, self._comment = suites, None
        elif (comment := commented(text)) is not None:
            self._comment = comment if self._suites is not None else None
        elif grammar.PRINTED.fullmatch(text):
            self._printing = True
        elif not grammar.TIME.fullmatch(text):
            return self._printing or _is_form(text) or text == grammar.COVERAGE
        return True

    def _erase(self, count: int) -> None:
        """The last lines were a frame; what stands above them stays."""
        at = max(0, len(self._held) - count)
        log, frame = self._held[:at], self._held[at:]
        for line in frame:
            if _is_form(bare(line.raw)):
                self._suppressed.add(Kind.PROGRESS, line.number)
            else:
                self._print(line)
        self._log(log)
        self._held = []
        self._printing = False

    def _clear(self) -> None:
        """Everything will be printed again, a report too."""
        self._cleared = True
        if self._over:
            self._former += self._held
        else:
            self._log(self._held)
        self._over = self._agreed = False
        self._held = []
        self._printing = False

    def _log(self, lines: list[Line]) -> None:
        """What stays on the screen: files that have ended, and what files printed."""
        failed: list[Line] | None = None
        printing = False
        for line in lines:
            text = bare(line.raw)
            if grammar.PRINTED.fullmatch(text):
                printing, failed = True, None
                self._suppressed.add(Kind.STRUCTURE, line.number)
            elif (file := heading(text, line)) is not None:
                printing, failed = False, None
                if file.badge == b"FAIL":
                    failed = self._account_of(file)
                    failed.append(line)
                else:
                    self._suppressed.add(Kind.PROGRESS, line.number)
            elif printing and not counted(text) and text.strip() != grammar.BANNER.strip():
                self._print(line)
            elif not text.strip():
                self._suppressed.add(Kind.BLANK, line.number)
            elif failed is not None and (text.startswith(b" ") or grammar.ENTRY.fullmatch(text)):
                failed.append(line)
            elif _is_form(text):
                printing, failed = False, None
                self._suppressed.add(Kind.PROGRESS, line.number)
            else:
                self._print(line)

    def _account_of(self, file: File) -> list[Line]:
        """Where the log's account of a file that failed goes; where the screen was cleared, in place of the last."""
        account = self._logged.setdefault(file.key, [])
        if self._cleared:
            self._suppressed.add_lines(Kind.RECAP, account)
            account.clear()
        return account

    def _print(self, line: Line) -> None:
        """What a file printed; where the screen is cleared, it is printed again."""
        text = bare(line.raw)
        if not text.strip():
            self._suppressed.add(Kind.BLANK, line.number)
        elif self._cleared and text in self._seen:
            self._suppressed.add(Kind.RECAP, line.number)
        else:
            self._seen.add(text)
            self._printed.take(text, line)

    # -- the report

    def _parts(self) -> tuple[list[Line], list[Line], list[Line]]:
        """What stands on the screen: the log, the report, the totals with all that follows.

        The report begins with the last banner, else with the first heading.
        """
        texts = [bare(line.raw) for line in self._held]
        totals = next((at for at in reversed(range(len(texts))) if counted(texts[at]) is not None), len(texts))
        banner = next((at for at in reversed(range(totals)) if texts[at].rstrip() == grammar.BANNER), None)
        begins = next((at for at in range(totals) if grammar.HEADING.fullmatch(texts[at])), totals)
        begins = begins if banner is None else banner
        return self._held[:begins], self._held[begins:totals], self._held[totals:]

    def _settle(self) -> None:
        """Account for what stands on the screen."""
        log, report, closing = self._parts()
        shown = {bare(line.raw) for line in self._held}
        for line in self._former:
            if bare(line.raw) in shown:
                self._suppressed.add(Kind.RECAP, line.number)
            else:
                self._other(line)
        self._log(log)
        self._files, blanks, others = read_files(report)
        self._suppressed.add_lines(Kind.BLANK, blanks)
        for line in others:
            if bare(line.raw).rstrip() == grammar.BANNER:
                self._suppressed.add(Kind.STRUCTURE, line.number)
            else:
                self._other(line)
        for line in closing:
            self._close(line, bare(line.raw))

    def _close(self, line: Line, text: bytes) -> None:
        if counted(text) or counted(text, suites=True) or commented(text):
            self._suppressed.add(Kind.AGGREGATE_SOURCE, line.number)
        elif not text.strip():
            self._suppressed.add(Kind.BLANK, line.number)
        elif grammar.TIME.fullmatch(text):
            self._suppressed.add(Kind.DURATION_SOURCE, line.number)
        elif text == grammar.COVERAGE:
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
        else:
            self._other(line)

    def _other(self, line: Line) -> None:
        if grammar.BAILOUT.fullmatch(bare(line.raw)):
            self._fatal.append(line.as_kind(Kind.FATAL_ERROR))
        else:
            self._unclassified.append(line)

    def _agrees(self, files: list[File]) -> bool:
        """Totals with the comment, with the headings, and those with their results."""
        asserts, suites, comment = self._frame, self._suites, self._comment
        if asserts is None or suites is None or comment is None or self._doubts:
            return False
        failing = sum(1 for file in files if file.badge == b"FAIL")
        return (
            asserts.over
            and suites.over
            and asserts.tally == comment.tally
            and sum(file.failed for file in files) == asserts.failed
            and sum(file.todo for file in files) == asserts.todo
            and sum(file.skipped for file in files) <= asserts.skipped
            and failing == suites.failed
            and all(file.agrees for file in files)
        )

    def _after(self, text: bytes, line: Line) -> bool:
        """A line behind the last comment."""
        blank = not text.strip()
        if blank or not self._agreed:
            self._held.append(line)
        return blank

    # -- the account of the run

    def close(self, exit_code: int | None) -> Reading:
        """Settle log, report and totals."""
        doubts = self._doubts
        if not self._over:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        elif not self._agreed:
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        self._settle()
        failures = [failure for file in self._files for failure in file.failures()]
        failures += self._from_log(doubts)
        tally = self._tally(doubts, len(failures))
        if tally.failed > len(failures):
            doubts.add(Doubt.FAILURES_UNNAMED)
        if self._first is not None and self._first.total:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if not (tally.total or failures):
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        self._suppress_rest()
        kept = self._printed.settled(self._suppressed, proven=not doubts, failed=bool(failures or exit_code))
        self._unclassified += (line for line in kept if line.kind is Kind.UNCLASSIFIED)
        if self._unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        visible = (line for line in kept if line.kind is not Kind.UNCLASSIFIED)
        return Reading(
            tally=tally,
            failures=tuple(failures),
            fatal_errors=(*self._fatal, *self._printed.of_kind(Kind.FATAL_ERROR)),
            timeouts=self._printed.of_kind(Kind.TIMEOUT),
            warnings=self._printed.of_kind(Kind.ABNORMAL_WARNING),
            unclassified=tuple(sorted((*self._unclassified, *visible), key=lambda line: line.number)),
            todo=tuple(self._todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(tally.total or failures),
            standing=0 if not self._over else 1 if doubts else 3,
        )

    def _tally(self, doubts: set[Doubt], named: int) -> Tally:
        """The latest totals, of a broken run no less than it names; without any, what the headings count."""
        if self._frame is not None:
            tally = self._frame.tally
            missing = 0 if self._over else max(0, named - tally.failed)
            return tally + Tally(failed=missing, total=missing)
        doubts.add(Doubt.COUNTS_UNCONFIRMED)
        failed, skipped, todo = (sum(getattr(f, part) for f in self._files) for part in ("failed", "skipped", "todo"))
        total = sum(file.total for file in self._files)
        return Tally(total - failed - skipped - todo, failed, skipped, todo, total)

    def _from_log(self, doubts: set[Doubt]) -> list[Failure]:
        """What the log says of files that failed: the report says it again, or the run has broken off."""
        told = {file.key for file in self._files}
        found: list[Failure] = []
        for key, lines in self._logged.items():
            if key in told:
                self._suppressed.add_lines(Kind.RECAP, lines)
                continue
            if self._over:
                doubts.add(Doubt.RECAP_CONTRADICTION)
            files, blanks, others = read_files(lines)
            self._suppressed.add_lines(Kind.BLANK, blanks)
            self._unclassified += others
            found += (failure for file in files for failure in file.failures(places=True))
            self._files += files
        return found

    def _suppress_rest(self) -> None:
        """Headings, and results that did not fail."""
        for file in self._files:
            failed = any(entry.mark == grammar.FAILED for entry in file.entries)
            if file.badge != b"FAIL" or failed:
                self._suppressed.add(Kind.STRUCTURE, file.line.number)
            for entry in file.entries:
                if entry.mark == grammar.FAILED:
                    continue
                self._suppressed.add_lines(Kind.TEST_DETAIL, entry.details)
                if entry.mark == grammar.TODO:
                    self._todo += (line.as_kind(Kind.TODO_TEST) for line in entry.lines)
                else:
                    kind = Kind.SKIPPED_TEST if entry.mark == grammar.SKIPPED else Kind.SUCCESSFUL_TEST
                    self._suppressed.add_lines(kind, entry.lines)


def _is_form(text: bytes) -> bool:
    """Whether a line is of those that a frame is made of."""
    return (
        not text.strip()
        or grammar.HEADING.fullmatch(text) is not None
        or grammar.ENTRY.fullmatch(text) is not None
        or text.startswith(b"  ")
        or counted(text) is not None
        or counted(text, suites=True) is not None
    )


DIALECT = Dialect(
    name="node-tap",
    title="node-tap, reporters base and terse",
    checked="node-tap 18.8.0, 21.1.0",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=NodeTap,
)
