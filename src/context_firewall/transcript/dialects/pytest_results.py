"""The results of a pytest run: the head, then letters or named lines, one a test, and what stands among them.

- The head ends with the first blank line behind what was collected.
- A file's letters stand in one row or several; with -v each result has a line of its own, which xdist announces.
- Live logs stand between the name of a test and its result: they are the failing test's, or only counted.
- Text of others among the results may be glued to letters: it is kept, its letters are not counted.
"""

import re
from collections.abc import Callable

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import pytest_grammar as grammar
from context_firewall.transcript.dialects.pytest_account import Lettered, Named, Report
from context_firewall.transcript.dialects.pytest_grammar import Progress, Result
from context_firewall.transcript.dialects.pytest_outside import Outside
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.lines import bare as bared

_MOST_LOG_LINES = 4096
"""Live log lines of one test that are held until its result shows whether they are kept."""

# The field of `Results` that a letter or a word counts in; others (reruns, passed subtests) count nowhere.
_FIELD_OF_LETTER = (
    (b".", "passed"),
    (b"F", "failed"),
    (b"E", "errors"),
    (b"s", "skipped"),
    (b"x", "xfailed"),
    (b"X", "xpassed"),
    (b"u", "subtests_failed"),
)
_FIELD_OF_WORD = {
    b"PASSED": "passed",
    b"FAILED": "failed",
    b"ERROR": "errors",
    b"SKIPPED": "skipped",
    b"XFAIL": "xfailed",
    b"XPASS": "xpassed",
    b"SUBFAILED": "subtests_failed",
    b"SUBFAIL": "subtests_failed",
}
_KIND_OF_WORD = {
    b"PASSED": Kind.SUCCESSFUL_TEST,
    b"SKIPPED": Kind.SKIPPED_TEST,
    b"XFAIL": Kind.TODO_TEST,
    b"XPASS": Kind.TODO_TEST,
}


class Results:
    """Reads the head and the results."""

    def __init__(
        self,
        report: Report,
        suppressed: Account,
        todo: list[Line],
        outside: Outside,
        aside: Callable[[bytes, Line], bool],
    ) -> None:
        self._report = report
        self._suppressed = suppressed
        self._todo = todo
        self._outside = outside
        self._aside = aside
        self.head = False
        """The session's ruler was read, and nothing yet of what ends the head."""
        self._rooted = False
        """The head has said where its root is, or what was collected."""
        self.file = b""
        """The test file of the last letters."""
        self.current = b""
        """The test that runs now, where it is known."""
        self.named = False
        """Results have names (-v)."""
        self._workers = False
        self._margins = False
        """A result with its right margin was read: all results have one."""
        self._logging = False
        self._log: list[Line] = []
        self._reason: Kind | None = None
        """The kind of a result whose reason goes on in the next line."""

    def lane(self) -> re.Pattern[bytes] | None:
        """Runs of results in which every test passed."""
        if self.head or self._logging or self._reason:
            return None
        if not self.named:
            return grammar.LETTER_LANE
        return grammar.WORKERS_LANE if self._workers else grammar.VERBOSE_LANE

    def run(self, block: bytes, start: int, stop: int) -> int:
        """Count a run of passed tests. A path in it has one dot, that of its extension."""
        lines = block.count(b"\n", start, stop)
        if self.named:
            passed = block.count(grammar.FROM_WORKER_PASSED, start, stop) if self._workers else lines
            self._suppressed.add_many(Kind.SUCCESSFUL_TEST, passed)
            self._suppressed.add_many(Kind.STRUCTURE, lines - passed)
            last = bared(block[block.rfind(b"\n", start, stop - 1) + 1 if lines > 1 else start : stop - 1])
            self.current = last.rstrip(b" ") if self._workers and not last.startswith(b"[") else b""
        else:
            files = block.count(b".py ", start, stop)
            passed = block.count(b".", start, stop) - files
            if files:
                begins = block.rfind(b"\n", start, block.rfind(b".py ", start, stop)) + 1
                self.file = block[max(begins, start) :].partition(b" ")[0]
            self._suppressed.add_many(Kind.PROGRESS, lines)
        self._margins |= not (self.named and self._workers)
        self._report.tallied.passed += passed
        return lines

    def take(self, bare: bytes, line: Line) -> bool:
        if not bare.strip() and not self._logging:
            self.head = False
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        if self._reason is not None:
            return self._reason_goes_on(bare, line)
        if self._logging:
            return self._in_log(bare, line)
        if self._in_head(bare, line):
            return True
        result = grammar.result(bare)
        if result is not None:
            self._result(result, line)
            return True
        return self._letters(bare, line) or self._half_a_result(bare, line) or self._other(bare, line)

    def _in_head(self, bare: bytes, line: Line) -> bool:
        """The head's own rows, and what xdist says of its workers."""
        collected = grammar.COLLECTED.fullmatch(bare)
        if collected is not None:
            self.head = self._rooted = True
            items = int(collected["items"])
            parts = {word: int(n) for n, word in grammar.COLLECTED_PART.findall(collected["rest"])}
            self._report.collection_errors = parts.get(b"error", 0) + parts.get(b"errors", 0)
            self._report.items = parts.get(b"selected", items - parts.get(b"deselected", 0))
        elif (workers := grammar.WORKERS.fullmatch(bare)) is not None:
            self._rooted = self._workers = True
            if workers["items"] is not None:
                self._report.items = int(workers["items"])
        elif not self.head:
            if not grammar.LISTED.fullmatch(bare):
                return False
        elif not self._rooted:
            # Before it names its root, the head holds nothing but what the runner and its plugins say of themselves.
            self._rooted = bare.startswith(grammar.ROOT)
        elif not grammar.HEADER_ROW.fullmatch(bare):
            return False
        self._suppressed.add(Kind.INFORMATIONAL, line.number)
        return True

    def _letters(self, bare: bytes, line: Line) -> bool:
        """A line of letters; xdist may add what befell a worker."""
        down = bare.find(b"[gw")
        lost = down > 0 and grammar.NODE_DOWN.match(bare, down) is not None
        progress = grammar.progress(bare[:down] if lost else bare)
        if progress is None:
            return False
        self._margins |= progress.margin
        self.head = False
        failing = self._count(progress)
        if failing:
            self._report.lettered.append(Lettered(self.file, failing, line))
        else:
            self._suppressed.add(Kind.PROGRESS, line.number)
        return True

    def _count(self, progress: Progress) -> int:
        """Count letters; returns how many of them are failures and errors."""
        letters = progress.letters
        for letter, name in _FIELD_OF_LETTER:
            self._report.tallied.add(name, letters.count(letter))
        if progress.file:
            self.file = progress.file
        return letters.count(b"F") + letters.count(b"E")

    def _half_a_result(self, bare: bytes, line: Line) -> bool:
        """A test that runs now, or the result of one that was named in a line before."""
        if self.current:
            text, _ = grammar.without_margin(bare)
            word = grammar.LONE_WORD.match(text)
            if word is not None:
                self._result(Result(self.current, word[1]), line)
                return True
        announced = grammar.ANNOUNCED.fullmatch(bare)
        if announced is None:
            return False
        self.current = announced["id"]
        self.named = True
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def _result(self, result: Result, line: Line) -> None:
        """A result with its name."""
        self.named = True
        self.head = False
        self.current = b""
        self._margins |= result.margin
        name = _FIELD_OF_WORD.get(result.word)
        if name is not None:
            self._report.tallied.add(name, 1)
        kind = _KIND_OF_WORD.get(result.word, Kind.PROGRESS)
        failed = name in ("failed", "errors", "subtests_failed")
        output = self.end_log(failed=failed)
        if failed:
            error = name == "errors"
            self._report.named.append(Named(result.id, line, error, result.description, output))
        elif kind is Kind.TODO_TEST:
            self._todo.append(line.as_kind(kind))
        else:
            self._suppressed.add(kind, line.number)
        if result.reason and not result.margin and (self._margins or not line.raw.rstrip().endswith(b")")):
            self._reason = kind

    def _reason_goes_on(self, bare: bytes, line: Line) -> bool:
        """The rest of a reason that is wrapped: the line with the margin ends it."""
        kind = self._reason or Kind.PROGRESS
        _, margin = grammar.without_margin(bare)
        if not margin and (grammar.result(bare) or grammar.progress(bare)):
            self._reason = None
            return self.take(bare, line)
        if margin:
            self._reason = None
        if kind is Kind.TODO_TEST:
            self._todo.append(line.as_kind(kind))
        else:
            self._suppressed.add(kind, line.number)
        return True

    def _in_log(self, bare: bytes, line: Line) -> bool:
        """A line of the live log of the running test; its result ends it."""
        text, margin = grammar.without_margin(bare)
        word = grammar.LONE_WORD.match(text)
        if word is not None and (margin or not self._margins):
            self._result(Result(self.current, word[1]), line)
            return True
        announced = grammar.ANNOUNCED.fullmatch(bare)
        result = grammar.result(bare)
        if result is not None or announced is not None:
            self.end_log(failed=False)
            return self.take(bare, line)
        self._log.append(line)
        if len(self._log) > _MOST_LOG_LINES:
            self._suppressed.add(Kind.PROGRAM_OUTPUT, self._log.pop(0).number)
        return True

    def end_log(self, *, failed: bool) -> list[Line]:
        """The live log of a failing test is part of its region; of any other it is only counted."""
        log, self._log = self._log, []
        self._logging = False
        if failed:
            return log
        self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, log)
        return []

    def _other(self, bare: bytes, line: Line) -> bool:
        """A line that is no result: a stack dump, a usage error, or text of somebody else among the results."""
        if bare.endswith(b"+ Timeout ++") or (b"+ Timeout +" in bare and bare.endswith(b"+")):
            self._time_out(bare, line)
            return True
        if self.head and bare.startswith(b"ERROR: "):
            self._outside.usage_error(bare, line)
            return True
        self._report.noisy = True
        running = grammar.ANNOUNCED_AND_MORE.match(bare)
        if running is not None:
            self.current = running["id"]
        return self._aside(bare, line)

    def _time_out(self, bare: bytes, line: Line) -> None:
        """pytest-timeout stops the process; the ruler of its account may be glued to what stood there."""
        at = bare.find(b"+")
        progress = grammar.progress(bare[:at].rstrip(b" ")) if at > 0 else None
        if progress is not None:
            self._count(progress)
        running = grammar.ANNOUNCED_AND_MORE.match(bare)
        if running is not None:
            self.current = running["id"]
        self._outside.time_out(self.current, line)

    def open_log(self, line: Line) -> None:
        """The ruler of a live log."""
        self._logging = True
        self._log.append(line)
