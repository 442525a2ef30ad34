"""The results of a PHPUnit run: rows of letters, the outline of testdox, or service messages; and what tests print."""

import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import phpunit_grammar as grammar
from context_firewall.transcript.dialects.phpunit_grammar import FAILING, Ending, Totals
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.letters import Letters
from context_firewall.transcript.lines import Line
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.markers import SERVICE_MESSAGE, marker_kind
from context_firewall.transcript.numbered import Entry
from context_firewall.transcript.printed import Printed

if TYPE_CHECKING:
    from context_firewall.transcript.service_messages import Test, Tests

_AS_PASSED = bytes.maketrans(grammar.ISSUE_LETTERS, grammar.LETTERS[:1] * len(grammar.ISSUE_LETTERS))


class Outline:
    """Testdox: titles, results, and accounts of what failed. It comes twice where few of many tests failed."""

    def __init__(self, keep: Callable[[Kind, Line], None]) -> None:
        self._keep = keep
        """What becomes of a line that is no failure's."""
        self.endings: Counter[Ending] = Counter()
        self.failures: list[Entry] = []
        self.todo: list[Line] = []
        """Tests that are risky or incomplete."""
        self._title: Line | None = None
        """A line that is a title if a result stands right below it."""
        self.issues = False
        """Whether a warning is an issue of a test that has passed."""
        self._class = b""
        self._open: Entry | None = None

    def take(self, bare: bytes, line: Line, *, apart: bool) -> bool:
        """One line that is not blank; says whether it is known."""
        result = grammar.RESULT.fullmatch(bare)
        if result is not None:
            self._result(grammar.GLYPHS[result["glyph"]], result["name"], line, apart=apart)
            return True
        title = self.dropped()
        if title is not None:
            self._keep(Kind.UNCLASSIFIED, title)
        if self._open is not None and bare.startswith(grammar.MARGIN) and not apart:
            self._open.body.append(line)
            return True
        self._open = None
        if apart and not bare.startswith(b" "):
            self._title = line
            return True
        return False

    def dropped(self) -> Line | None:
        """The line that waited to be a title, if it was none."""
        held, self._title = self._title, None
        return held

    def _result(self, ending: Ending, name: bytes, line: Line, *, apart: bool) -> None:
        title = self.dropped()
        if title is not None:
            if apart:
                self._keep(Kind.UNCLASSIFIED, title)
            else:
                self._class = bared(title.raw)
                self._keep(Kind.STRUCTURE, title)
        self.endings[ending] += 1
        self._open = None
        if ending in FAILING and not (self.issues and ending is Ending.WARNING):
            self._open = Entry(b" > ".join(part for part in (self._class, name) if part), line)
            self.failures.append(self._open)
        elif ending in (Ending.RISKY, Ending.INCOMPLETE):
            self.todo.append(line)
        else:
            self._keep(Kind.SKIPPED_TEST if ending is Ending.SKIPPED else Kind.SUCCESSFUL_TEST, line)

    def passed(self, count: int) -> None:
        """A run of passed tests."""
        title = self.dropped()
        if title is not None:
            self._class = bared(title.raw)
            self._keep(Kind.STRUCTURE, title)
        self._open = None
        self.endings[Ending.PASSED] += count


class Results:
    """What was read before the report."""

    def __init__(self, suppressed: Account) -> None:
        self._suppressed = suppressed
        self.printed = Printed()
        self.letters = Letters(grammar.LETTERS)
        self.plan = 0
        """How many tests there are, where the rows say so."""
        self.outline = Outline(self._keep)
        self.issues = False
        """Whether a warning is an issue of a test that has passed."""
        self._ended = 0
        """Tests that --debug has seen ending."""
        self._begun = False
        self.log: list[Line] = []
        """The report for machines, which says it all once more."""
        self.logging = False
        """It has begun and has not ended."""
        self.late: list[Line] = []
        """Lines behind the results that look like a title and are none."""
        self._over = False
        self.messages: Tests | None = None
        """The account of the service messages, if the results are told so."""

    def lane(self) -> "re.Pattern[bytes]":
        """Runs of rows without a failure, or of passed tests."""
        return grammar.PASSED_LANE if self.outline.endings else grammar.ROW_LANE

    def run(self, block: bytes, start: int, stop: int, count: int) -> None:
        """A run that the lane matched."""
        if self.outline.endings:
            self.outline.passed(count)
            self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count)
            return
        self._begun = True
        for row in grammar.ROW.finditer(block, start, stop):
            self._row(row)
        self._suppressed.add_many(Kind.PROGRESS, count)

    def take(self, bare: bytes, line: Line, *, apart: bool) -> bool:
        """One line that is not blank; says whether it is known."""
        if self.logging:
            self.log.append(line)
            self.logging = bare.strip() != grammar.LOG_END
            return True
        if self.messages is None:
            self._open_messages(bare)
        if self.messages is not None:
            return self._message(self.messages, bare, line)
        row = None if self.outline.endings else grammar.ROW.match(bare)
        if row is not None and (row["all"] is not None or row.end() == len(bare)):
            self._row(row)
            self._begun = True
            self.logging = bare.startswith(grammar.LOG_START, row.end())
            if row.end() == len(bare) or self.logging:
                self._suppressed.add(Kind.PROGRESS, line.number)
                return True
            self.printed.take(bare, line)
            return False
        debug = grammar.DEBUG.fullmatch(bare)
        if debug is not None:
            self._begun = True
            self._ended += debug["ended"] is not None
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if self._setting(bare, line):
            return True
        if self.outline.take(bare, line, apart=apart):
            return self.outline.endings.total() > 0 or not apart
        self._print(bare, line)
        return False

    def _open_messages(self, bare: bytes) -> None:
        """With --teamcity the number of tests is the first result."""
        if self._begun or self.outline.endings or self.printed.lines:
            return
        if bare.startswith(SERVICE_MESSAGE):
            from context_firewall.transcript.service_messages import Tests, found_in  # few runs need it

            found = found_in(bare)
            if found is not None and found.message is not None and found.message.name == "testCount":
                self.messages = Tests(self._suppressed, flow=found.message.value("flowId"))

    def _message(self, messages: "Tests", bare: bytes, line: Line) -> bool:
        """A message, or what a test prints among them."""
        if messages.take(bare, line):
            return True
        if marker_kind(bare) is not None or not messages.printed(line):
            self.printed.take(bare, line)
        return False

    def end(self) -> None:
        """No more results come."""
        title = self.outline.dropped()
        if title is not None:
            self._keep(Kind.UNCLASSIFIED, title)
        self._over = True

    def resume(self) -> None:
        """They have not been over yet."""
        self._over = False

    def ran_all(self) -> bool:
        """Whether as many tests have ended as the rows announce."""
        if self.messages is not None:
            return self.messages.closed
        return (
            not self.plan
            or self.outline.endings.total() > 0
            or self.letters.sure.total() + self.letters.loose.total() >= self.plan
        )

    def agrees(self, totals: Totals, *, accounts: bool) -> bool:
        """Whether what was read is what the totals count. `accounts`: the report tells what failed."""
        if self.messages is not None:
            return self.messages.closed if accounts else _agree(self.messages, totals)
        if self.outline.endings:
            stated = Counter(totals.endings)
            # One sign stands for errors and failures.
            seen = Counter(self.outline.endings)
            if self.issues:
                seen[Ending.PASSED] += seen.pop(Ending.WARNING, 0)
            seen[Ending.FAILURE] += seen.pop(Ending.ERROR, 0)
            stated[Ending.FAILURE] += stated.pop(Ending.ERROR, 0)
            return seen == stated
        if self._ended:
            return self._ended == totals.tests
        return self.letters.agree({grammar.LETTER_OF_ENDING[ending]: n for ending, n in totals.endings.items()})

    def endings(self) -> Counter[Ending]:
        """How many tests have ended how, as far as it is sure."""
        if self.messages is not None:
            told = self.messages
            return Counter({Ending.PASSED: told.passed, Ending.FAILURE: len(told.failed), Ending.SKIPPED: told.skipped})
        letters = {ending: self.letters.sure[letter] for ending, letter in grammar.LETTER_OF_ENDING.items()}
        return Counter(letters) + (Counter() if self._both else self.outline.endings)

    @property
    def _both(self) -> bool:
        """Whether there are rows and an outline behind them."""
        return self.letters.sure.total() > 0

    def _row(self, row: "re.Match[bytes]") -> None:
        letters: bytes = row["letters"] + (row["behind"] or b"")
        self.letters.take(letters.translate(_AS_PASSED) if self.issues else letters)
        if row["all"] is not None:
            self.plan = int(row["all"])

    def _setting(self, bare: bytes, line: Line) -> bool:
        """Whether a line belongs to the head."""
        if self._begun or self.outline.endings:
            return False
        if grammar.SETTING.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if grammar.WARNING.fullmatch(bare):
            self.printed.marked.setdefault(Kind.ABNORMAL_WARNING, []).append(line.as_kind(Kind.ABNORMAL_WARNING))
            return True
        return False

    def _keep(self, kind: Kind, line: Line) -> None:
        if kind is Kind.UNCLASSIFIED and self._over:
            self.late.append(line)
        elif kind is Kind.UNCLASSIFIED:
            self._print(bared(line.raw), line)
        else:
            self._suppressed.add(kind, line.number)

    def _print(self, bare: bytes, line: Line) -> None:
        """Text; letters may be glued to either end of it."""
        self.letters.glued(bare.translate(_AS_PASSED) if self.issues else bare)
        self.printed.take(bare, line)


def _agree(messages: "Tests", totals: Totals) -> bool:
    """Whether messages are those of the tests that the totals count.

    A risky test is one that failed, an incomplete one is ignored, one with a warning has passed.
    """
    stated = totals.endings
    failed = stated[Ending.ERROR] + stated[Ending.FAILURE] + stated[Ending.RISKY]
    return (
        messages.closed
        and len(messages.failed) == failed
        and messages.skipped == stated[Ending.SKIPPED] + stated[Ending.INCOMPLETE]
        and messages.passed == stated[Ending.PASSED] + stated[Ending.WARNING]
    )


def risky(messages: "Tests", count: int) -> "list[Test]":
    """The tests that are only risky, if it can be told: those are as many as the totals count.

    Their messages are PHPUnit's own words, and name no place where something was thrown.
    """
    found = [test for test in messages.failed if test.told is not None and grammar.is_risky(test.told.values)]
    return found if len(found) == count else []
