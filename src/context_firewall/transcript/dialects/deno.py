"""`deno test` with its reporters pretty and dot.

The room's rules:

- Results, errors, the list of what failed, totals, in this order. The totals count tests and steps; all of them must be
  among the results.
- The list says which titles under the errors are the runner's; a title in a message is text unless the list has it.
- Totals are the run's if nothing of it follows and they count what was read. A message may hold everything else.
- What stands in a block of output is the test's that it interrupts: of one that failed it is part of the region.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import deno_grammar as grammar
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind

NAME = "deno"
SEPARATOR = " > "

# What a result or a sign counts as.
COUNTED = {
    b"ok": "passed",
    b"ignored": "ignored",
    b"FAILED": "failed",
    b"INCOMPLETE": "failed",
    b"cancelled": "failed",
    b".": "passed",
    b",": "ignored",
    b"!": "failed",
}
KINDS = {"passed": Kind.SUCCESSFUL_TEST, "ignored": Kind.SKIPPED_TEST}


def identity(name: bytes) -> str:
    """A test and its steps."""
    return SEPARATOR.join(decoded(part) for part in name.split(grammar.JOINT))


class _Told(NamedTuple):
    """A result that says that a test or a step failed."""

    name: str
    line: Line
    derived: bool
    """It fails by its steps, or has not come to its end: it has no account."""


class _Output(NamedTuple):
    test: str
    lines: list[Line]


@dataclass(slots=True)
class _Closing:
    """Totals that stand last so far."""

    totals: grammar.Totals
    line: Line
    closed: bool = False


@dataclass(slots=True)
class _Settlement:
    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)


class Deno(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._open: list[bytes] = []
        """Names of the test and the steps that wait for their result."""
        self._block: _Output | None = None
        self._outputs: list[_Output] = []
        self._counts: Counter[str] = Counter()
        """Tests and steps."""
        self._steps: Counter[str] = Counter()
        self._told: list[_Told] = []
        self._uncaught: list[Line] = []
        self._errors: list[Line] | None = None
        """Everything behind the heading of the errors."""
        self._closing: _Closing | None = None
        self._last = 0
        """The number of the last line that was not blank."""
        self._unclassified: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passed tests."""
        idle = self._block is None and self._errors is None and self._closing is None
        return grammar.LANE if idle and not self._open else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed tests."""
        lines = block.count(b"\n", start, stop)
        self._counts["passed"] += lines
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, lines)
        self._last = number + lines - 1
        return lines

    def cut(self) -> None:
        """The last line has no newline; an empty line ends a run."""

    @property
    def complete(self) -> bool:
        """The totals stand last and count what was read."""
        closing = self._closing
        return closing is not None and closing.closed and self._counted(closing.totals)

    def _counted(self, totals: grammar.Totals) -> bool:
        passed, failed, ignored = (count + steps for count, steps in zip(totals[:3], totals.steps, strict=True))
        seen = self._counts
        return (passed, failed, ignored) == (seen["passed"], seen["failed"] + len(self._uncaught), seen["ignored"])

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take signs that stand before the line that proves the dialect."""
        if not grammar.SIGNS.fullmatch(bare):
            return False
        self.line(bare, line.raw, line.number)
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._block is not None:
            return self._printed(self._block, bare, line)
        if not bare.strip():
            self._blank(line)
            return True
        if self.complete:
            return False
        apart, self._last = number != self._last + 1, number
        self._reopen()
        totals = grammar.totals(bare) if apart else None
        if totals is not None:
            self._closing = _Closing(totals, line)
            return True
        if self._errors is not None:
            self._errors.append(line)
            return True
        if bare == grammar.ERRORS and apart:
            self._errors = []
            self._suppressed.add(Kind.STRUCTURE, number)
            return True
        return self._result(bare, line)

    def _blank(self, line: Line) -> None:
        if self._closing is not None:
            self._closing.closed = True
            self._suppressed.add(Kind.BLANK, line.number)
        elif self._errors is not None:
            self._errors.append(line)
        else:
            self._suppressed.add(Kind.BLANK, line.number)

    def _reopen(self) -> None:
        """More follows: what looked like the totals is text."""
        if self._closing is not None:
            (self._unclassified if self._errors is None else self._errors).append(self._closing.line)
            self._closing = None

    # -- results

    def _result(self, text: bytes, line: Line) -> bool:
        """A line among the results."""
        found = grammar.RESULT.fullmatch(text)
        if found is not None:
            self._ended(found, line)
            return True
        if grammar.RUNNING.fullmatch(text):
            self._open.clear()
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if grammar.OUTPUT.fullmatch(text):
            self._block = _Output(identity(grammar.JOINT.join(self._open)) if self._open else "", [])
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if grammar.UNCAUGHT.fullmatch(text):
            self._uncaught.append(line)
            return True
        if grammar.SIGNS.fullmatch(text):
            self._counts.update(COUNTED[text[i : i + 1]] for i in range(len(text)))
            self._suppressed.add(Kind.PROGRESS, line.number)
            return True
        waiting = grammar.WAITING.fullmatch(text)
        if waiting is not None:
            self._place(waiting["indent"], waiting["name"])
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        return self._unknown(text, line)

    def _place(self, indent: bytes, name: bytes) -> bytes:
        """The full name of what has that indentation; from now on it is the innermost that is open."""
        depth = min(len(indent) // len(grammar.INDENT), len(self._open))
        self._open[depth:] = [name]
        return grammar.JOINT.join(self._open)

    def _ended(self, found: re.Match[bytes], line: Line) -> None:
        name = self._place(found["indent"], found["name"])
        self._open.pop()
        counted = COUNTED[found["status"]]
        self._counts[counted] += 1
        # With --parallel the names of a step stand in one line.
        if found["indent"] or (found["file"] is not None and grammar.JOINT in found["name"]):
            self._steps[counted] += 1
        if counted == "failed":
            derived = found["why"] is not None or found["status"] != b"FAILED"
            self._told.append(_Told(identity(name), line, derived))
        else:
            self._suppressed.add(KINDS[counted], line.number)

    def _printed(self, block: _Output, text: bytes, line: Line) -> bool:
        """A line of a block of output, or its end."""
        self._last = line.number
        if not grammar.OUTPUT_ENDS.search(text):
            block.lines.append(line)
            return True
        if text.startswith(b"-----"):
            self._suppressed.add(Kind.STRUCTURE, line.number)
        else:
            block.lines.append(line)
        self._outputs.append(block)
        self._block = None
        return True

    def _unknown(self, text: bytes, line: Line) -> bool:
        kind = marker_kind(text)
        if kind is not None:
            self._marked[kind].append(line.as_kind(kind))
            return True
        self._unclassified.append(line)
        return False

    # -- settling

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        settlement = _Settlement(unclassified=self._unclassified)
        closing = self._closing
        if self._block is not None:
            settlement.unclassified += self._block.lines
            settlement.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if closing is None or not closing.closed:
            settlement.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if closing is not None:
            self._suppressed.add(Kind.AGGREGATE_SOURCE, closing.line.number)
            if not self._counted(closing.totals):
                settlement.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        self._accounts(settlement)
        self._results(settlement)
        self._print(settlement)
        tally = self._tally()
        if closing is not None and not tally.total:
            settlement.doubts.add(Doubt.NO_TEST_EVIDENCE)
        if any(line.kind is not Kind.PROGRAM_OUTPUT for line in settlement.unclassified):
            settlement.doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        standing = 0
        if closing is not None:
            standing = STANDS if closing.closed and self._counted(closing.totals) else 1
        return Reading(
            tally=tally,
            failures=tuple(settlement.failures),
            fatal_errors=tuple(self._marked[Kind.FATAL_ERROR]),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(sorted(settlement.unclassified, key=lambda line: line.number)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(settlement.doubts),
            has_results=True,
            standing=standing,
            current_test=identity(grammar.JOINT.join(self._open)) if self._open and closing is None else "",
        )

    def _tally(self) -> Tally:
        if self._closing is not None:
            totals = self._closing.totals
            passed, failed, ignored = totals.passed, totals.failed, totals.ignored
        else:
            seen = self._counts - self._steps
            passed, failed, ignored = seen["passed"], seen["failed"] + len(self._uncaught), seen["ignored"]
        return Tally(passed, failed, ignored, 0, passed + failed + ignored)

    def _accounts(self, settlement: _Settlement) -> None:
        """The accounts under the errors, by the list of titles."""
        lines = self._errors or []
        at, titles = self._list(lines)
        body = lines[:at]
        starts = list(_starts(body, titles if self._closing is not None else None))
        ends = [*(start for start, _ in starts[1:]), len(body)] if starts else []
        before = body[: starts[0][0]] if starts else body
        settlement.unclassified += (line for line in before if bare(line.raw).strip())
        self._suppressed.add_lines(Kind.BLANK, (line for line in before if not bare(line.raw).strip()))
        for (start, title), end in zip(starts, ends, strict=True):
            settlement.failures.append(self._account(title, body[start:end]))
        known = Counter(title for _, title in starts)
        for title, line in titles:
            if known[title]:
                known[title] -= 1
                self._suppressed.add(Kind.RECAP, line.number)
            else:
                settlement.failures.append(Failure(_titled(title), line.as_kind(Kind.FAILED_TEST)))
                settlement.doubts.add(Doubt.RECAP_CONTRADICTION)

    def _list(self, lines: list[Line]) -> tuple[int, list[tuple[bytes, Line]]]:
        """Where the last list of failures begins, and its titles; the end if there is none."""
        texts = [bare(line.raw) for line in lines]
        end = len(lines)
        while end and not texts[end - 1].strip():
            end -= 1
        at = end
        while at and grammar.TITLE.fullmatch(texts[at - 1]):
            at -= 1
        listed = at >= 2 and at < end and not texts[at - 1] and texts[at - 2] == grammar.FAILURES
        if not listed:
            return len(lines), []
        self._suppressed.add(Kind.STRUCTURE, lines[at - 2].number)
        self._suppressed.add_lines(Kind.BLANK, [lines[at - 1], *lines[end:]])
        return at - 2, list(zip(texts[at:end], lines[at:end], strict=True))

    def _account(self, title: bytes, lines: Sequence[Line]) -> Failure:
        end = len(lines)
        while not bare(lines[end - 1].raw).strip():
            end -= 1
        self._suppressed.add_lines(Kind.BLANK, lines[end:])
        details = (line.as_kind(_kind(bare(line.raw))) for line in lines[1:end])
        return Failure(_titled(title), lines[0].as_kind(Kind.FAILED_TEST), tuple(details))

    def _results(self, settlement: _Settlement) -> None:
        """Failing results: accounts tell them, or their steps', or they are all there is."""
        names = Counter(failure.identity for failure in settlement.failures)
        failed = {name.rpartition(SEPARATOR)[0] for name in names}
        failed |= {one.name.rpartition(SEPARATOR)[0] for one in self._told}
        for told in self._told:
            if names[told.name]:
                names[told.name] -= 1
                self._suppressed.add(Kind.RECAP, told.line.number)
            elif told.derived and told.name in failed:
                self._suppressed.add(Kind.DERIVED_FAILURE, told.line.number)
            else:
                settlement.failures.append(Failure(told.name, told.line.as_kind(Kind.FAILED_TEST)))
                if not told.derived and self._closing is not None:
                    settlement.doubts.add(Doubt.RECAP_CONTRADICTION)
        if self._closing is not None and not self._are_all(settlement.failures, names, self._closing.totals):
            settlement.doubts.add(Doubt.RECAP_CONTRADICTION)
        for line in self._uncaught:
            found = grammar.UNCAUGHT.fullmatch(bare(line.raw))
            file = decoded(found["file"]) if found is not None else ""
            if names[file]:
                self._suppressed.add(Kind.RECAP, line.number)
            else:
                settlement.failures.append(Failure(file, line.as_kind(Kind.FAILED_TEST)))

    def _are_all(self, failures: Sequence[Failure], left: Counter[str], totals: grammar.Totals) -> bool:
        """Whether accounts are those of what failed; `left` are the names that no failing result has."""
        if self._told:
            return left.total() <= len(self._uncaught)
        # Signs have no names: a failed test has an account itself, or a step of it has.
        steps = sum(SEPARATOR in failure.identity for failure in failures)
        return len(failures) - steps <= totals.failed <= len(failures) and steps <= totals.steps[1]

    def _print(self, settlement: _Settlement) -> None:
        """Output of failing tests goes to their failures; of other tests it is the program's."""
        homes: dict[str, int] = {}
        for i, failure in enumerate(settlement.failures):
            homes.setdefault(failure.identity, i)
        for i, failure in enumerate(settlement.failures):
            homes.setdefault(failure.identity.partition(SEPARATOR)[0], i)
        for output in self._outputs:
            owner = homes.get(output.test, homes.get(output.test.partition(SEPARATOR)[0]))
            if not output.test and settlement.failures:
                # A file has printed it; it may say why something failed.
                settlement.unclassified += (line.as_kind(Kind.PROGRAM_OUTPUT) for line in output.lines)
            elif owner is None or not output.test:
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, output.lines)
            else:
                failure = settlement.failures[owner]
                lines = tuple(line.as_kind(Kind.FAILURE_DETAIL) for line in output.lines)
                settlement.failures[owner] = failure._replace(details=(*failure.details, *lines))


def _titled(title: bytes) -> str:
    """What a title names: a test, perhaps with its steps, or a file."""
    found = grammar.TITLE.fullmatch(title)
    if found is None:
        return decoded(title)
    return identity(found["name"]) if found["name"] is not None else decoded(found["file"])


def _kind(text: bytes) -> Kind:
    return classify_detail(text) if text.strip() else Kind.FAILURE_CONTEXT


def _starts(body: Sequence[Line], titles: Sequence[tuple[bytes, Line]] | None) -> Iterator[tuple[int, bytes]]:
    """Where accounts begin: at the titles of the list, in its order; without a list at everything that may be one."""
    due = iter(() if titles is None else [title for title, _ in titles])
    title = next(due, None)
    blank = True
    texts = [bare(line.raw) for line in body]
    for at, text in enumerate(texts[:-1]):
        if blank and texts[at + 1].startswith(grammar.ERROR):
            if titles is None and grammar.TITLE.fullmatch(text):
                yield at, text
            elif titles is not None and text == title:
                yield at, text
                title = next(due, None)
        blank = not text.strip()


def settle(readings: list[Reading]) -> list[Reading]:
    """What the command itself says on standard error, beside a run that was read, says nothing more."""
    told = any(part.dialect == NAME and part.has_results for part in readings)
    return [_without_command(part) if told and part.stream == "stderr" else part for part in readings]


def _without_command(part: Reading) -> Reading:
    own = [line for line in part.unclassified if grammar.COMMANDS_OWN.fullmatch(bare(line.raw))]
    account = Account()
    account.counts.update(part.suppressed)
    account.fates = None if part.fates is None else dict(part.fates)
    account.add_lines(Kind.INFORMATIONAL, own)
    rest = tuple(line for line in part.unclassified if not grammar.COMMANDS_OWN.fullmatch(bare(line.raw)))
    return part._replace(unclassified=rest, suppressed=account.totals(), fates=account.fates)


DIALECT = Dialect(
    name=NAME,
    title="deno test's pretty and dot reporters",
    checked="Deno 2.9",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=Deno,
    settle=settle,
)
