"""Vitest's closing summary: lines in one order, whose last says how long the run took."""

from dataclasses import dataclass, field
from enum import IntEnum

from context_firewall.transcript.dialects import vitest_grammar as grammar
from context_firewall.transcript.dialects.vitest_grammar import Counts
from context_firewall.transcript.facts import Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line


class _Step(IntEnum):
    """The lines in their order."""

    FILES = 1
    TESTS = 2
    TYPES = 3
    ERRORS = 4
    LEAKS = 5
    STARTED = 6
    DURATION = 7


@dataclass(slots=True)
class Summary:
    """A summary while it is read."""

    files: Counts
    lines: list[Line]
    tests: Counts | None = None
    errors: int = 0
    errors_line: Line | None = None
    _step: _Step = _Step.FILES
    _table: bool = field(default=False)

    @classmethod
    def begin(cls, bare: bytes, line: Line) -> "Summary | None":
        """A summary that begins with this line, ` Test Files  …`."""
        match = grammar.FILES_TOTAL.fullmatch(bare)
        counts = None if match is None else grammar.counts(match["counts"])
        return None if counts is None else cls(counts, [line])

    @property
    def whole(self) -> bool:
        """Whether its last line was read."""
        return self._step is _Step.DURATION

    @property
    def failed_files(self) -> int:
        """How many files failed."""
        return self.files.of(b"failed")

    @property
    def unknown(self) -> bool:
        """Whether it counts what this grammar does not know."""
        return self.files.unknown or (self.tests is not None and self.tests.unknown)

    def take(self, bare: bytes, line: Line) -> bool:
        """Whether the line is the next of a summary."""
        if self._step is _Step.FILES:
            match = grammar.TESTS_TOTAL.fullmatch(bare)
            counts = None if match is None else grammar.counts(match["counts"])
            if counts is None:
                return False
            self.tests = counts
            step = _Step.TESTS
        elif self._step < _Step.TYPES and grammar.TYPES_TOTAL.fullmatch(bare):
            step = _Step.TYPES
        elif self._step < _Step.ERRORS and (errors := grammar.ERRORS_TOTAL.fullmatch(bare)) is not None:
            self.errors = 0 if errors["count"] == b"no" else int(errors["count"])
            self.errors_line = line
            step = _Step.ERRORS
        elif self._step < _Step.LEAKS and grammar.LEAKS_TOTAL.fullmatch(bare):
            step = _Step.LEAKS
        elif self._step < _Step.STARTED and grammar.STARTED.fullmatch(bare):
            step = _Step.STARTED
        elif self._step is _Step.STARTED and grammar.DURATION_TOTAL.fullmatch(bare):
            step = _Step.DURATION
        else:
            return False
        self._step = step
        self.lines.append(line)
        return True

    def behind(self, bare: bytes) -> Kind | None:
        """Kind of a line of the runner's behind its summary: coverage, reports that were written, watch mode."""
        if grammar.COVERAGE.fullmatch(bare):
            self._table = True
            return Kind.INFORMATIONAL
        if self._table and (grammar.TABLE.fullmatch(bare) or grammar.COVERAGE_SUMMARY.fullmatch(bare)):
            return Kind.INFORMATIONAL
        return Kind.INFORMATIONAL if grammar.REMARK.fullmatch(bare) else None

    def plain_lines(self) -> list[Line]:
        """Its lines, but for the one that counts errors."""
        return [line for line in self.lines if line is not self.errors_line]

    def tally(self) -> Tally:
        """The tests as it counts them. A test that was expected to fail, and did, is still to do."""
        counts = self.tests
        if counts is None:
            return Tally()
        passed, failed, skipped = counts.of(b"passed"), counts.of(b"failed"), counts.of(b"skipped")
        todo = counts.of(b"todo", b"expected fail")
        return Tally(passed, failed, skipped, todo, passed + failed + skipped + todo)
