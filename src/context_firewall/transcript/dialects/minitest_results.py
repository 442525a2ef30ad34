"""The results of a minitest run: letters, or with -v a line for each test, and what tests print among them."""

import re

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import minitest_grammar as grammar
from context_firewall.transcript.dialects.minitest_grammar import Totals
from context_firewall.transcript.facts import ResultLine
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.letters import Letters
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.printed import Printed

_KINDS = {grammar.PASSED: Kind.SUCCESSFUL_TEST, grammar.SKIPPED: Kind.SKIPPED_TEST}


class Results:
    """What was read before the report."""

    def __init__(self, suppressed: Account) -> None:
        self._suppressed = suppressed
        self.printed = Printed()
        self.letters = Letters(grammar.LETTERS)
        self.failed: list[ResultLine] = []
        """What -v says of failing tests, with what they printed."""
        self.outputs: list[Line] = []
        """What tests printed that -v says have not failed."""
        self.current = b""
        """With -v, the test that is running."""
        self.unsure: list[Line] = []
        """Results of tests that run side by side (`parallelize_me!`): of which of them, nothing says."""
        self._beside = 0
        """How many more tests have started than ended, where they run side by side."""
        self._parallel = False
        self._output: list[Line] = []
        """What it has printed."""

    def lane(self) -> "re.Pattern[bytes] | None":
        """Runs of passed tests with -v."""
        return None if self.current else grammar.PASSED_LANE

    def run(self, count: int) -> None:
        """A run of passed tests."""
        self.letters.sure[grammar.PASSED] += count
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count)

    def take(self, bare: bytes, line: Line) -> bool:
        """One line that is not blank; says whether it is known."""
        start = grammar.START.match(bare)
        if start is not None:
            self.abandon()
            self.current = start["name"]
            bare = bare[start.end() :]
            while (beside := grammar.START.match(bare)) is not None:
                self._parallel = True
                self._beside += 1
                bare = bare[beside.end() :]
            if not bare:
                self._output.append(line)
                return True
        if self.current:
            self._of_test(bare, line, whole=start is not None)
            return True
        if self._beside and grammar.END.fullmatch(bare):
            self._beside -= 1
            self._of_test(bare, line, whole=False)
            return True
        if self.letters.take(bare):
            self._suppressed.add(Kind.PROGRESS, line.number)
            return True
        self.letters.glued(bare)
        self.printed.take(bare, line)
        return False

    def abandon(self) -> None:
        """The running test has no result: its output is nobody's."""
        for line in self._output:
            self.printed.lines.append(line)
        self._output = []
        self.current = b""

    def agrees(self, totals: Totals) -> bool:
        """Whether what was read is what the totals count."""
        return self.letters.agree(
            {
                grammar.PASSED: totals.passed,
                grammar.FAILURE: totals.failures,
                grammar.ERROR: totals.errors,
                grammar.SKIPPED: totals.skips,
            }
        )

    def _of_test(self, bare: bytes, line: Line, *, whole: bool) -> None:
        """A line between the start of a test and its result."""
        end = grammar.END.search(bare)
        self._output.append(line)
        if end is None:
            return
        letter = end["letter"][0]
        self.letters.sure[letter] += 1
        lines, self._output = tuple(self._output), []
        if self._parallel:
            self.unsure += lines
        elif letter not in _KINDS:
            name = decoded(self.current)
            self.failed.append(ResultLine(name, "", (name,), lines))
        elif whole and end.start() == 0:
            self._suppressed.add(_KINDS[letter], line.number)
        else:
            self.outputs += lines
        self.current = b""
