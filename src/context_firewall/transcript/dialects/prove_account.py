"""What a run under prove comes to: its files' lines, its summary, and what Test::More says on either stream.

The summary says how many tests of which file failed. A block of Test::More's belongs to the file that its place names,
if tests of that file have failed, else to the first file in order that lacks an account. A failing point that -v shows
and a block of the same name are one failure. What is left is a failure that only its numbers name; a file that failed
without a failing test is a failure of its own, and what the summary says beyond the failing tests belongs to the last.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import prove_grammar as grammar
from context_firewall.transcript.dialects.prove_closing import Closing
from context_firewall.transcript.dialects.prove_section import FAILED, Section
from context_firewall.transcript.dialects.test_more_diagnostics import Node, diagnosed
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Failure, Reading, Spread, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded


@dataclass(frozen=True, slots=True)
class Told(Spread):
    """What one stream tells of a run, until the other has been read."""

    sections: tuple[Section, ...] = ()
    closing: Closing | None = None
    blocks: tuple[Node, ...] = ()
    """Blocks of no file in particular."""
    notes: tuple[Line, ...] = ()
    comments: tuple[Line, ...] = ()
    """What tests say on standard error that is about no failure, where the streams are merged."""
    bailed: tuple[Line, ...] = ()
    suppressed: Account = field(default_factory=Account)

    def lines(self) -> Iterator[Line]:
        """Every line that is held."""
        for section in self.sections:
            yield from section.lines()
            yield from section.todo
        if self.closing is not None:
            yield from self.closing.every_line()
        for block in self.blocks:
            yield from block.every_line()
        yield from self.notes
        yield from self.comments
        yield from self.bailed


@dataclass(slots=True)
class _File:
    """A file with something to tell."""

    name: bytes
    row: grammar.Row | None
    section: Section | None
    blocks: list[Node] = field(default_factory=list)

    @property
    def failed(self) -> int | None:
        """How many tests of it failed; None if nothing says so."""
        if self.row is not None:
            return self.row.failed
        points = self.section.failing if self.section is not None else []
        return len(points) or None

    @property
    def lacks(self) -> bool:
        """Whether a failing test has no block yet."""
        return self.failed is None or len(self.blocks) < self.failed


def settle(readings: list[Reading]) -> list[Reading]:
    """Make failures of what the streams tell."""
    told = [i for i, part in enumerate(readings) if isinstance(part.spread, Told)]
    if not told:
        return readings
    result = list(readings)
    errors = {
        i: diagnosed(part.unclassified)
        for i, part in enumerate(readings)
        if not part.dialect and part.stream == "stderr" and part.unclassified
    }
    blocks = [block for said in errors.values() for block in said.blocks]
    for i in told:
        result[i], blocks = _Settlement(result[i], blocks).reading()
    unused = {line for block in blocks for line in block.every_line()}
    whole = all(_accounts_for_exit(readings[i], result[i]) for i in told)
    bailed = any(_bailed(readings[i]) for i in told)
    failing = any(result[i].failures for i in told)
    doubts = set()
    for i, said in errors.items():
        part, gone = result[i], dict(said.recaps)
        stopped = [line for line in said.rest if grammar.STOPPED.fullmatch(bare(line.raw))]
        left = (unused | set(said.rest)) - set(stopped)
        rest = [line for line in part.unclassified if line in left]
        failures = [Failure(decoded(bare(line.raw)), line.as_kind(Kind.FAILED_TEST)) for line in stopped]
        if bailed:
            gone |= dict.fromkeys(stopped, Kind.RECAP)
            failures = []
        elif failures:
            doubts.add(Doubt.RECAP_CONTRADICTION)
        if not whole and rest:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        elif failing:
            rest = [line.as_kind(Kind.PROGRAM_OUTPUT) for line in rest]
        else:
            gone |= dict.fromkeys(rest, Kind.PROGRAM_OUTPUT)
            rest = []
        kept = part._replace(failures=(*part.failures, *failures), unclassified=tuple(rest))
        result[i] = kept.with_suppressed(gone)
    result[told[-1]] = result[told[-1]]._replace(doubts=result[told[-1]].doubts | doubts)
    for i in told:
        spread = readings[i].spread
        if isinstance(spread, Told) and spread.comments:
            result[i] = _with_comments(result[i], spread.comments, whole=whole, failing=failing)
    return result


def _with_comments(part: Reading, comments: Iterable[Line], *, whole: bool, failing: bool) -> Reading:
    """Comments outside of files are the tests' if the report is whole: counted, or shown beside failures."""
    if whole and not failing:
        return part.with_suppressed(dict.fromkeys(comments, Kind.PROGRAM_OUTPUT))
    kept = [line.as_kind(Kind.PROGRAM_OUTPUT) if whole else line for line in comments]
    doubts = part.doubts if whole else part.doubts | {Doubt.UNCLASSIFIED_EVIDENCE}
    unclassified = sorted((*part.unclassified, *kept), key=lambda line: line.number)
    return part._replace(unclassified=tuple(unclassified), doubts=doubts)


def _bailed(part: Reading) -> bool:
    return isinstance(part.spread, Told) and bool(part.spread.bailed)


def _accounts_for_exit(told: Reading, settled: Reading) -> bool:
    """Whether a report is whole and says why the process ended so: what else stands on standard error is of tests.

    That a file's outcome hides how many of its tests were skipped takes nothing from that.
    """
    spread = told.spread
    if not isinstance(spread, Told) or spread.closing is None or spread.exit_code is None:
        return False
    ran = spread.closing.files > 0
    return ran and settled.standing == STANDS and bool(spread.exit_code) == bool(settled.failures)


class _Settlement:
    """One report, settled."""

    def __init__(self, part: Reading, blocks: Iterable[Node]) -> None:
        spread = part.spread
        assert isinstance(spread, Told)  # noqa: S101
        self._part = part
        self._told = spread
        self._closing = spread.closing
        self._over = self._closing is not None and bool(self._closing.result)
        self._doubts = set(part.doubts)
        self._failures: list[Failure] = []
        self._unclassified = list(part.unclassified)
        self._left: list[Node] = []
        self._files = self._those_that_failed()
        self._lacking = deque(self._files)
        self._named = {file.name: file for file in reversed(self._files)}
        for block in (*spread.blocks, *blocks):
            self._give(block)

    def _those_that_failed(self) -> list[_File]:
        """Rows in order, then files without a row."""
        by_name = {one.name: one for one in reversed(self._told.sections)}
        bad = self._closing.bad if self._closing is not None else []
        files = [_File(row.name, row, by_name.pop(row.name, None)) for row in bad]
        taken = {id(file.section) for file in files}
        sections = [one for one in self._told.sections if id(one) not in taken]
        files += (_File(one.name, None, one) for one in sections if one.outcome == FAILED or one.failing)
        files += (_File(one.name, None, one) for one in sections if not one.outcome and one.blocks and not one.failing)
        for file in files:
            if file.section is not None:
                file.blocks = file.section.blocks
                file.section.blocks = []
        return files

    def _give(self, block: Node) -> None:
        """Find the file that a block belongs to."""
        while self._lacking and not self._lacking[0].lacks:
            self._lacking.popleft()
        named = self._named.get(block.place)
        if named is None or not named.lacks:
            named = self._lacking[0] if self._lacking else None
        if named is not None:
            named.blocks.append(block)
        elif self._over:
            self._left.append(block)
        else:
            self._failures += block.failures()

    def reading(self) -> tuple[Reading, list[Node]]:
        """The reading, and the blocks that belong to no failing test."""
        told, account = self._told, self._told.suppressed
        tally = self._tally()
        for file in self._files:
            self._failures += self._of_file(file)
        for line in told.bailed:
            self._failures.append(Failure(decoded(bare(line.raw)), line.as_kind(Kind.FAILED_TEST)))
        self._close()
        todo = []
        for section in told.sections:
            todo += section.todo
            if section.contested:
                self._doubts |= {Doubt.TREE_CONTRADICTION, Doubt.UNCLASSIFIED_EVIDENCE}
                self._unclassified += section.contested
            quoted = (line for block in section.blocks for line in block.every_line())
            account.add_lines(Kind.PROGRAM_OUTPUT, (*section.words, *section.notes, *quoted))
        own = {id(block) for block in told.blocks}
        for block in self._left:
            if id(block) in own:
                self._doubts |= {Doubt.CONTESTED_RESULTS, Doubt.UNCLASSIFIED_EVIDENCE}
                self._unclassified += block.every_line()
        self._unclassified += (line.as_kind(Kind.PROGRAM_OUTPUT) for line in told.notes)
        part = self._part._replace(
            tally=tally,
            failures=tuple(self._failures),
            unclassified=tuple(sorted(self._unclassified, key=lambda line: line.number)),
            todo=tuple(todo),
            suppressed=account.totals(),
            fates=account.fates,
            doubts=frozenset(self._doubts),
            spread=None,
        )
        return part, [block for block in self._left if id(block) not in own]

    # -- counts

    def _tally(self) -> Tally:
        """Points, where all are shown; else what the totals leave."""
        sections = self._told.sections
        passed = sum(section.points.passed for section in sections)
        failed = sum(section.points.failed for section in sections)
        skipped = sum(section.points.skipped for section in sections)
        todo = sum(section.points.todo for section in sections)
        shown = passed + failed + skipped + todo
        if self._closing is None or not self._over:
            failed = max(failed, sum(len(file.blocks) for file in self._files) + len(self._failures))
            return Tally(passed, failed, skipped, todo, passed + failed + skipped + todo)
        stated = sum(row.failed for row in self._closing.bad)
        if shown == self._closing.tests:
            if stated != failed:
                self._doubts.add(Doubt.AGGREGATE_CONTRADICTION)
            return Tally(passed, failed, skipped, todo, shown)
        skipped = sum(max(section.points.skipped, *(section.reported or (0,))[:1]) for section in sections)
        rest = max(0, self._closing.tests - stated - skipped - todo)
        if rest:
            # Skipped and unfinished tests are among those that prove calls ok.
            self._doubts.add(Doubt.COUNTS_UNCONFIRMED)
        return Tally(rest, stated, skipped, todo, self._closing.tests)

    # -- failures

    def _of_file(self, file: _File) -> list[Failure]:
        """The failing tests of a file, or the file."""
        name = decoded(file.name)
        tests, shown = self._tests(file, name)
        missing = (file.failed or 0) - shown
        extra: list[Line] = []
        section, row = file.section, file.row
        if section is not None:
            extra += (*section.notes, *section.words)
            section.notes.clear()
            section.words.clear()
        if row is None and section is not None:
            extra[:0] = section.results
        elif section is not None:
            self._told.suppressed.add_lines(Kind.RECAP, section.results)
        if row is not None:
            if missing <= 0 and tests and row.explained:
                header, *details = row.lines
                self._told.suppressed.add(Kind.AGGREGATE_SOURCE, header.number)
                self._told.suppressed.add_lines(Kind.RECAP, details)
            else:
                extra[:0] = row.lines
        if missing > 0:
            # Nothing but numbers is known of them.
            self._doubts.add(Doubt.RECAP_CONTRADICTION if tests else Doubt.COMPLETENESS_UNCONFIRMED)
            numbers = decoded(row.numbers) if row is not None else ""
            name += f" > {missing} of tests {numbers}" if tests else f" > tests {numbers}"
        if missing > 0 or not tests:
            return [*tests, *_own(name, extra)]
        tests[-1] = _with(tests[-1], extra)
        return tests

    def _tests(self, file: _File, name: str) -> tuple[list[Failure], int]:
        """Its failing tests, and how many they are at the outermost level."""
        points = self._points(file)
        if not points:
            return [failure for block in file.blocks for failure in block.failures(name)], len(file.blocks)
        by_key: dict[bytes, list[Node]] = {}
        for block in reversed(file.blocks):
            by_key.setdefault(block.key, []).append(block)
        tests: list[Failure] = []
        for point in points:
            found = by_key.get(point.key)
            if not found:
                tests += point.failures(name)
                continue
            tests += found.pop().failures(name)
            header, *region = point.lines
            self._told.suppressed.add(Kind.RECAP, header.number)
            for child in point.children:
                self._told.suppressed.add_lines(Kind.RECAP, child.every_line())
            tests[-1] = _with(tests[-1], region)
        strange = [line for blocks in by_key.values() for block in blocks for line in block.every_line()]
        if strange:
            self._doubts |= {Doubt.CONTESTED_RESULTS, Doubt.UNCLASSIFIED_EVIDENCE}
            self._unclassified += strange
        return tests, len(points)

    def _points(self, file: _File) -> list[Node]:
        """Its failing points; where there are more than the summary counts, those that it numbers."""
        points = file.section.failing if file.section is not None else []
        if file.row is None or len(points) <= file.row.failed:
            return points
        ranges = grammar.ranges(file.row.numbers)
        counted = [point for point in points if any(first <= point.number <= last for first, last in ranges)]
        kept = {id(point) for point in counted}
        denied = [line for point in points if id(point) not in kept for line in point.every_line()]
        if denied:
            self._doubts |= {Doubt.CONTESTED_RESULTS, Doubt.UNCLASSIFIED_EVIDENCE}
            self._unclassified += (line.as_kind(Kind.CONTESTED_TEST) for line in denied)
        return counted

    def _close(self) -> None:
        """The lines of the end."""
        closing, account = self._closing, self._told.suppressed
        if closing is None:
            return
        if self._over and not closing.files:
            self._doubts.add(Doubt.NO_TEST_EVIDENCE)
        for row in closing.rows:
            if not row.bad:
                account.add(Kind.AGGREGATE_SOURCE, row.lines[0].number)
                account.add_lines(Kind.RECAP, row.lines[1:])
        for line, kind in closing.lines:
            if line is closing.last and closing.result == b"FAIL" and not self._failures:
                self._failures.append(Failure(decoded(bare(line.raw)), line.as_kind(Kind.FAILED_TEST)))
            else:
                account.add(kind, line.number)


def _own(name: str, lines: list[Line]) -> list[Failure]:
    """A failure of the file itself."""
    if not lines:
        return []
    return [_with(Failure(name, lines[0].as_kind(Kind.FAILED_TEST)), lines[1:])]


def _with(failure: Failure, lines: Iterable[Line]) -> Failure:
    """More lines for a failure."""
    more = tuple(line.as_kind(classify_detail(line.raw)) for line in lines)
    return failure._replace(details=(*failure.details, *more))
