"""ava's default reporter: results as they come, a line, an account of every failure, a line, totals.

The room's rules:

- A failing result's line holds title and message without a mark between them. The accounts come in the order of the
  results, each below its title alone: an account begins behind three empty lines (the first behind the line) with a
  title that begins the text of a failing result whose turn has come. Anything else in an account is text.
- Totals are printed only where they are not zero, and how many tests passed only where nothing failed. So the passed
  tests of a failing run are counted by their lines alone, and nothing confirms them (`COUNTS_UNCONFIRMED`).
- Before ava 5 marks are missing: the line of a result does not say whether a test is skipped or to do, nor whether one
  that passed is known to fail. The totals do, and the lines must add up to them.
- Files that break, exceptions outside of tests and tests that hang have lines of their own among the results.
- What tests print goes to standard error.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import ava_grammar as grammar
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind

_RESULTS, _ACCOUNTS, _TOTALS = range(3)
_BETWEEN = 3
"""Empty lines between two accounts."""


@dataclass(slots=True)
class _Told:
    """A failing result, or something that failed beside the tests, and its account."""

    name: bytes
    lines: list[Line]
    """Of a result: its line, and what may be further lines of its message or logs."""
    account: list[Line] = field(default_factory=list)


class Ava(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._phase = _RESULTS
        self._counts: Counter[str] = Counter()
        self._results: list[_Told] = []
        self._told = 0
        """How many results have their account."""
        self._beside: dict[bytes, _Told] = {}
        """What failed beside the tests, by file, or by what was said of the run."""
        self._open: _Told | None = None
        """What the next line may belong to."""
        self._logs = False
        """The line above is a result, or a log of it."""
        self._ends: list[Line] = []
        """Line, and totals, as far as they have been read."""
        self._totals: dict[str, int] = {}
        self._blanks: list[Line] = []
        self._todo: list[Line] = []
        self._warnings: list[Line] = []
        self._fatal: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}
        self._unclassified: list[Line] = []
        self._hanging = False
        self._nothing = False
        self._marked_results = False
        """A result had a mark in brackets, as all have that have not simply passed, from ava 5 on."""
        self._unselected: list[Line] = []
        """Tests that are skipped or to do, without a mark."""

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of passed tests."""
        return grammar.LANE if self._phase == _RESULTS and self._open is None else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed tests."""
        count = block.count(b"\n", start, stop)
        self._counts["passed"] += count
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count)
        self._logs = True
        return count

    def cut(self) -> None:
        """Totals must agree, each with its newline or without."""

    @property
    def complete(self) -> bool:
        """The totals are those of the results, and as many accounts as failing results have been read."""
        return self._phase == _TOTALS and self._agrees

    @property
    def _agrees(self) -> bool:
        t, c = self._totals, self._counts
        failed = t.get("failed", 0) + t.get("hooks", 0)
        known, skipped, todo = (t.get(name, 0) for name in ("known", "skipped", "todo"))
        if self._marked_results:
            passed = c["passed"]
            selected = (known, skipped, todo) == (c["known"], c["skipped"], c["todo"])
        else:
            passed = c["passed"] - known
            selected = skipped + todo == len(self._unselected)
        return (
            failed == len(self._results) == self._told
            and selected
            and (t.get("passed", 0) == passed if not failed else "passed" not in t and passed >= 0)
            and t.get("rejections", 0) + t.get("exceptions", 0) == c["outside"]
            and t.get("pending", 0) == c["pending"]
        )

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Passed tests of the only file stand before the line that proves the dialect."""
        forms = (grammar.PASSED, grammar.LOG, grammar.UNMARKED_FAILED, grammar.UNMARKED_SELECTED)
        if line.kind is not Kind.UNCLASSIFIED or not any(form.fullmatch(bare) for form in forms):
            return False
        self.line(bare, line.raw, line.number)
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._phase == _TOTALS:
            return self._total(bare, line)
        if self._phase == _ACCOUNTS:
            return self._account(bare, line)
        return self._result(bare, line)

    # -- results

    def _result(self, bare: bytes, line: Line) -> bool:
        logs, self._logs = self._logs, False
        if not bare.strip():
            self._blank(line)
            return True
        if bare == grammar.LINE:
            self._over()
            self._ends = [line]
            self._phase = _ACCOUNTS if self._results else _TOTALS
            return True
        if self._tested(bare, line) or self._failed_beside(bare, line) or self._unmarked(bare, line):
            return True
        if logs and self._log(bare, line):
            return True
        if self._open is not None and bare.startswith(b"  "):
            self._spread(self._open.lines)
            self._open.lines.append(line)
            return True
        self._open = None
        kind = marker_kind(bare)
        if kind is not None:
            self._marked[kind].append(line.as_kind(kind))
            return True
        if grammar.SEED.fullmatch(bare) or grammar.NOTHING.fullmatch(bare):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            self._nothing |= grammar.NOTHING.fullmatch(bare) is not None
            return True
        self._unclassified.append(line)
        return False

    def _blank(self, line: Line) -> None:
        """An empty line: of an open account, if more of it follows."""
        if self._open is not None:
            self._blanks.append(line)
        else:
            self._suppressed.add(Kind.BLANK, line.number)

    def _spread(self, lines: list[Line]) -> None:
        """Empty lines between two lines of an account are its own."""
        lines += self._blanks
        self._blanks = []

    def _over(self) -> None:
        """Another result: nothing more belongs to the one above."""
        self._open = None
        self._suppressed.add_lines(Kind.BLANK, self._blanks)
        self._blanks = []

    def _tested(self, bare: bytes, line: Line) -> bool:
        """A test's result."""
        if (passed := grammar.PASSED.fullmatch(bare)) is not None:
            self._over()
            self._marked_results |= passed[1] is not None
            if passed[1]:
                self._counts["known"] += 1
                self._todo.append(line.as_kind(Kind.TODO_TEST))
            else:
                self._counts["passed"] += 1
                self._suppressed.add(Kind.SUCCESSFUL_TEST, line.number)
        elif (failed := grammar.FAILED.fullmatch(bare)) is not None:
            self._over()
            self._marked_results = True
            self._open = _Told(failed[1], [line])
            self._results.append(self._open)
        elif (selected := grammar.SELECTED.fullmatch(bare)) is not None:
            self._over()
            self._marked_results = True
            if selected[1] == b"todo":
                self._counts["todo"] += 1
                self._todo.append(line.as_kind(Kind.TODO_TEST))
            else:
                self._counts["skipped"] += 1
                self._suppressed.add(Kind.SKIPPED_TEST, line.number)
        else:
            return False
        self._logs = True
        return True

    def _unmarked(self, bare: bytes, line: Line) -> bool:
        """A test's result, before ava 5."""
        if self._marked_results:
            return False
        if (failed := grammar.UNMARKED_FAILED.fullmatch(bare)) is not None:
            self._over()
            self._open = _Told(failed[1], [line])
            self._results.append(self._open)
        elif grammar.UNMARKED_SELECTED.fullmatch(bare):
            self._over()
            self._unselected.append(line)
        else:
            return False
        self._logs = True
        return True

    def _log(self, bare: bytes, line: Line) -> bool:
        """A log of the test above."""
        if not grammar.LOG.fullmatch(bare):
            return False
        self._logs = True
        if self._open is not None:
            self._open.lines.append(line)
        else:
            self._suppressed.add(Kind.PROGRAM_OUTPUT, line.number)
        return True

    def _failed_beside(self, bare: bytes, line: Line) -> bool:
        """What ava says of a file or of the run."""
        outside = grammar.OUTSIDE.fullmatch(bare)
        file = outside or grammar.FILE_FAILED.fullmatch(bare)
        pending = grammar.PENDING.fullmatch(bare)
        if file is not None:
            self._counts["outside"] += outside is not None
            self._beside_of(next(name for name in file.groups() if name), line)
        elif (run := grammar.RUN_FAILED.fullmatch(bare)) is not None:
            self._beside_of(run[1], line)
        elif pending is not None:
            self._over()
            if self._hanging:
                self._counts["pending"] += 1
                self._beside_of(pending[1], line)
            else:
                self._suppressed.add(Kind.INFORMATIONAL, line.number)
        elif grammar.TIMED_OUT.fullmatch(bare):
            self._over()
            self._hanging = True
            self._marked[Kind.TIMEOUT].append(line.as_kind(Kind.TIMEOUT))
        elif grammar.INTERRUPTED.fullmatch(bare):
            self._over()
            self._fatal.append(line.as_kind(Kind.FATAL_ERROR))
        elif any(rule.fullmatch(bare) for rule in (grammar.REMAINING, grammar.PENDING_IN, grammar.WARNED)):
            self._over()
            self._warnings.append(line.as_kind(Kind.ABNORMAL_WARNING))
        else:
            return False
        return True

    def _beside_of(self, name: bytes, line: Line) -> None:
        self._over()
        told = self._beside.setdefault(name, _Told(name, []))
        told.lines.append(line)
        self._open = told

    # -- accounts

    def _account(self, bare: bytes, line: Line) -> bool:
        if not bare.strip():
            self._blanks.append(line)
            return True
        if self._begins(bare, line):
            return True
        if bare == grammar.LINE and self._blanks:
            self._ends.append(line)
            self._phase = _TOTALS
            return True
        self._text(line)
        return True

    def _begins(self, bare: bytes, line: Line) -> bool:
        """The title of the next result whose turn has come."""
        if (self._open is not None and len(self._blanks) < _BETWEEN) or not bare.startswith(b"  ") or bare[2:3] == b" ":
            return False
        title = bare[2:].rstrip()
        for at in range(self._told, len(self._results)):
            result = self._results[at]
            if not result.account and (result.name.rstrip() == title or result.name.startswith(title + b" ")):
                break
            if at > self._told + 8:
                return False
        else:
            return False
        self._results.insert(self._told, self._results.pop(at))
        self._told += 1
        self._over()
        result.account.append(line)
        self._open = result
        return True

    def _text(self, line: Line) -> None:
        """A line of the open account."""
        if self._open is None:
            self._unclassified += self._blanks
            self._unclassified.append(line)
        else:
            self._spread(self._open.account)
            self._open.account.append(line)
        self._blanks = []

    # -- totals

    def _total(self, bare: bytes, line: Line) -> bool:
        if not bare.strip():
            self._ends.append(line)
            return True
        for name, rule in grammar.TOTALS:
            found = rule.fullmatch(bare)
            if found is not None and name not in self._totals:
                self._totals[name] = int(found[1])
                self._ends.append(line)
                return True
        if grammar.PARALLEL.fullmatch(bare):
            self._ends.append(line)
            return True
        if grammar.FAIL_FAST.fullmatch(bare):
            self._warnings.append(line.as_kind(Kind.ABNORMAL_WARNING))
            return True
        if self.complete:
            return False
        return self._resumes(bare, line)

    def _resumes(self, bare: bytes, line: Line) -> bool:
        """The report goes on: what looked like its end is text of an account, or none of the report's."""
        held, self._ends = self._ends, []
        self._totals.clear()
        if self._results and len(held) > 1 and self._told:
            # The line before the accounts stays what it was.
            self._suppressed.add(Kind.STRUCTURE, held[0].number)
            self._phase = _ACCOUNTS
            for one in held[1:]:
                self._account_text(one)
            return self._account(bare, line)
        self._phase = _RESULTS
        self._unclassified += held
        return self._result(bare, line)

    def _account_text(self, line: Line) -> None:
        if line.raw.strip():
            self._text(line)
        else:
            self._blanks.append(line)

    # -- the account of the run

    def close(self, exit_code: int | None) -> Reading:
        """Settle results, accounts and totals."""
        doubts: set[Doubt] = set()
        ended = self._phase == _TOTALS
        if not ended:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        elif not self._agrees:
            missing = not self._totals and (self._counts["passed"] or self._results)
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED if missing else Doubt.AGGREGATE_CONTRADICTION)
        failures = self._failures(doubts, ended=ended)
        stated = self._totals.get("failed", 0) + self._totals.get("hooks", 0)
        tests = stated if ended and stated else sum(1 for told in self._results if told.lines) if failures else 0
        passed, skipped, todo = self._divided()
        if tests or (passed and "passed" not in self._totals):
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        if exit_code == 0 and ended and self._agrees:
            self._forgive(failures)
        if self._nothing or not (passed or tests or skipped or todo or failures):
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        if self._unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        self._suppressed.add_lines(Kind.BLANK, self._blanks)
        for line in self._ends:
            text = bare(line.raw)
            kind = Kind.BLANK if not text.strip() else Kind.STRUCTURE if text == grammar.LINE else Kind.AGGREGATE_SOURCE
            self._suppressed.add(kind, line.number)
        standing = 0 if not ended else 3 if not doubts - {Doubt.COUNTS_UNCONFIRMED} else 1
        return Reading(
            tally=Tally(passed, tests, skipped, todo, passed + tests + skipped + todo),
            failures=tuple(failures),
            fatal_errors=(*self._marked[Kind.FATAL_ERROR], *self._fatal),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=(*self._marked[Kind.ABNORMAL_WARNING], *self._warnings),
            unclassified=tuple(sorted(self._unclassified, key=lambda line: line.number)),
            todo=tuple(self._todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(passed or tests or skipped or todo or failures or self._nothing),
            standing=standing,
        )

    def _divided(self) -> tuple[int, int, int]:
        """How many tests passed, were skipped, are to do or known to fail; and the fate of lines that do not say."""
        passed, skipped = self._counts["passed"], self._counts["skipped"]
        todo = self._counts["todo"] + self._counts["known"]
        if self._marked_results:
            return passed, skipped, todo
        known, to_do = self._totals.get("known", 0), self._totals.get("todo", 0)
        known, to_do = min(known, passed), min(to_do, len(self._unselected))
        if to_do:
            self._todo += (line.as_kind(Kind.TODO_TEST) for line in self._unselected)
        else:
            self._suppressed.add_lines(Kind.SKIPPED_TEST, self._unselected)
        return passed - known, len(self._unselected) - to_do, known + to_do

    def _forgive(self, failures: list[Failure]) -> None:
        """A file without tests fails no run that has tests elsewhere."""
        for failure in list(failures):
            header = failure.header
            if header is not None and not failure.details and grammar.NO_TESTS.fullmatch(bare(header.raw)):
                failures.remove(failure)
                self._warnings.append(header.as_kind(Kind.ABNORMAL_WARNING))

    def _failures(self, doubts: set[Doubt], *, ended: bool) -> list[Failure]:
        """Accounts, with their results as recaps; results without one; what failed beside the tests."""
        failures = []
        stated = self._totals.get("failed", 0) + self._totals.get("hooks", 0)
        for told in self._results:
            if told.account:
                failures.append(self._with_account(told, doubts))
            elif ended and self._told == stated:
                doubts.add(Doubt.CONTESTED_RESULTS)
                self._unclassified += (told.lines[0].as_kind(Kind.CONTESTED_TEST), *told.lines[1:])
            else:
                doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
                failures.append(_failure(told.name, told.lines))
        failures += (_failure(told.name, told.lines) for told in self._beside.values())
        return failures

    def _with_account(self, told: _Told, doubts: set[Doubt]) -> Failure:
        header, *more = told.lines
        self._suppressed.add(Kind.RECAP, header.number)
        known = {bare(line.raw).strip() for line in told.account}
        own: list[Line] = []
        for line in more:
            text = bare(line.raw)
            if text.strip() in known:
                self._suppressed.add(Kind.RECAP, line.number)
            elif grammar.LOG.fullmatch(text):
                own.append(line.as_kind(Kind.FAILURE_DETAIL))
            else:
                self._unclassified.append(line)
        failure = _failure(bare(told.account[0].raw).strip(), told.account)
        return Failure(failure.identity, failure.header, (*own, *failure.details))


def _failure(name: bytes, lines: list[Line]) -> Failure:
    header, *details = lines
    source = b""
    kept = []
    for line in details:
        text = bare(line.raw)
        if not source and (place := grammar.SOURCE.fullmatch(text)) is not None:
            source = place[1]
        excerpt = grammar.EXCERPT.fullmatch(text)
        around = excerpt is not None and source and excerpt[1] != source
        if not text.strip() or around or grammar.OWN_FRAME.fullmatch(text):
            kept.append(line.as_kind(Kind.FAILURE_CONTEXT))
        else:
            kept.append(line.as_kind(classify_detail(text)))
    return Failure(decoded(name.strip()), header.as_kind(Kind.FAILED_TEST), tuple(kept))


DIALECT = Dialect(
    name="ava",
    title="ava, default reporter",
    checked="ava 3.15, 4.3, 5.3, 6.4, 7.0",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=Ava,
    program_streams=frozenset({"stderr"}),
)
