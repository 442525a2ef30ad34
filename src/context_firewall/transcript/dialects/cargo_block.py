"""One test binary's report: `running N tests`, its results, what failing tests printed, `test result:`.

The room's rules:

- The report closes with the summary that a blank line follows, and then nothing, another report, or cargo. A text of
  that form elsewhere is a test's own print.
- The list of names before the summary says which tests failed; what stands between the first `failures:` that leads
  to one of these and that list are their sections. So a section may hold anything, even a whole forged report.
- With one thread and without capture a test's name comes first, then what it prints, then its outcome.
- Lines that are none of these are the program's: suppressed where every test of the report passed, else kept.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import cargo_grammar as grammar
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.markers import marker_kind

Held = tuple[bytes, Line]


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of a `test result:`."""

    ok: bool
    passed: int
    failed: int
    ignored: int
    line: Line

    @property
    def total(self) -> int:
        """Tests that ran or were ignored."""
        return self.passed + self.failed + self.ignored


def summary_of(text: bytes, line: Line) -> Summary | None:
    """What a line sums up, or None."""
    found = grammar.SUMMARY.fullmatch(text)
    if found is None:
        return None
    passed = int(found["passed"]) + int(found["measured"])
    return Summary(found["word"] == b"ok", passed, int(found["failed"]), int(found["ignored"]), line)


@dataclass(slots=True)
class Speaking:
    """A test whose name has been printed, and its outcome not yet."""

    name: bytes
    header: Held
    output: list[Held] = field(default_factory=list)
    end: Line | None = None
    """The line of its outcome, if that stands alone."""


@dataclass(slots=True)
class Failed:
    """A result that says FAILED."""

    name: bytes
    line: Line
    output: list[Held] = field(default_factory=list)


@dataclass(slots=True)
class Ledger:
    """What the reports of a stream add up to."""

    suppressed: Account
    tally: Tally = Tally()
    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)
    marked: dict[Kind, list[Line]] = field(default_factory=lambda: defaultdict(list))
    accounts: list[Failure] = field(default_factory=list)
    """Panics that stand apart from their tests."""
    closed: int = 0
    failing: int = 0
    """Reports that closed, and those of them that failed."""
    broken: int = 0

    def keep(self, lines: Iterable[Held]) -> None:
        """Lines that nothing attributes to a test."""
        for text, line in lines:
            kind = marker_kind(text)
            if not text or text.isspace():
                self.suppressed.add(Kind.BLANK, line.number)
            elif kind is not None:
                self.marked[kind].append(line.as_kind(kind))
            elif grammar.result(text) is not None or grammar.SUMMARY.fullmatch(text):
                self.unclassified.append(line.as_kind(Kind.CONTESTED_TEST))
                self.doubts.add(Doubt.CONTESTED_RESULTS)
            else:
                self.unclassified.append(line.as_kind(Kind.UNCLASSIFIED))

    def claim(self, accounts: Iterable[Failure]) -> None:
        """Give panics to the failing tests of their names; the others stay accounts."""
        places = {failure.identity: i for i, failure in enumerate(self.failures) if not failure.details}
        for account in accounts:
            at = places.get(account.identity)
            if at is None:
                self.accounts.append(account)
            else:
                failure = self.failures[at]
                told = (*failure.details, *(line.as_kind(Kind.FAILURE_DETAIL) for line in account.lines()))
                self.failures[at] = failure._replace(details=told)

    def keep_accounts(self) -> None:
        """Panics that no failing test claims are text."""
        for account in self.accounts:
            self.unclassified += (line.as_kind(Kind.UNCLASSIFIED) for line in account.lines())
        self.accounts = []

    def suppress(self, account: Account) -> None:
        """Take over what a report has suppressed."""
        self.suppressed.counts.update(account.counts)
        if self.suppressed.fates is not None and account.fates is not None:
            self.suppressed.fates.update(account.fates)


class Block:
    """Reads one report."""

    def __init__(self, expected: int | None, header: Line | None, *, traced: bool) -> None:
        self.expected = expected
        self.summary: Summary | None = None
        self.speaking: Speaking | None = None
        self._account = Account()
        if traced:
            self._account.trace()
        if header is not None:
            self._account.add(Kind.STRUCTURE, header.number)
        self._counts: Counter[str] = Counter()
        self._failed: list[Failed] = []
        self._rest: list[tuple[bytes, Line, tuple[bytes, str] | None]] = []
        """Lines that are no results; from the first `failures:` on, all lines."""
        self._held = False
        self._held_results = 0
        self._after: list[Line] = []
        """Blank lines after the summary."""
        self._glued: tuple[Speaking, str, int] | None = None
        """The test that seems to have ended behind its own print, how, and the number of other lines then."""
        self._serial = True
        """Whether a test's name may come before what it prints."""
        self._quiet: bool | None = None
        self._before = b""
        self._stray = False
        self._strange: list[Held] = []
        """Lines between the sections' heading and the first section."""

    # -- while it runs

    @property
    def in_step(self) -> bool:
        """Whether nothing but results has come lately."""
        return not (self._held or self.speaking or self.summary or self._glued or self._quiet)

    def green(self, passed: int, ignored: int) -> None:
        """Take a run of results."""
        self._counts["ok"] += passed
        self._counts["ignored"] += ignored
        self._account.add_many(Kind.SUCCESSFUL_TEST, passed)
        self._account.add_many(Kind.SKIPPED_TEST, ignored)
        self._quiet = False
        self._before = b"test"

    @property
    def read(self) -> int:
        """How many results have been read."""
        return self._counts.total() + self._held_results + (self._glued is not None)

    @property
    def fits(self) -> bool:
        """Whether the summary is the one that the report's first line promises."""
        return self.summary is not None and self.summary.total == self.expected and self.read >= self.expected

    @property
    def closes(self) -> bool:
        """Whether the report has its summary, and the blank line after it."""
        return self.fits and bool(self._after)

    @property
    def ends(self) -> bool:
        """Whether a summary and a blank line came last, fitting or not."""
        return self.summary is not None and bool(self._after)

    def take(self, text: bytes, line: Line) -> bool:
        """Take a line, unless the report is over and the line is none of it."""
        if self.summary is not None:
            if not text:
                self._after.append(line)
                return True
            if self.closes and not self._reopens(text):
                return False
            self._reopen()
        self._line(text, line)
        self._before = text
        return True

    def skip_blanks(self) -> None:
        """There may have been blank lines before the next line."""
        self._before = b""

    def _reopens(self, text: bytes) -> bool:
        return (
            text in (grammar.FAILURES, grammar.SUCCESSES)
            or text in grammar.ALONE
            or grammar.result(text) is not None
            or grammar.section(text) is not None
            or grammar.SUMMARY.fullmatch(text) is not None
        )

    def _reopen(self) -> None:
        """The summary was a print."""
        assert self.summary is not None  # noqa: S101 - for the type checker; the caller has asked
        lines = [(grammar.SUMMED, self.summary.line), *((b"", line) for line in self._after)]
        self.summary = None
        self._after = []
        if self.speaking is not None:
            self.speaking.output += lines
        else:
            self._rest += ((text, line, None) for text, line in lines)

    def _line(self, text: bytes, line: Line) -> None:
        if self.speaking is None and self._own(text, line):
            return
        summary = summary_of(text, line)
        if summary is not None and self._may_close(summary):
            self.summary = summary
        elif self.speaking is not None:
            self._spoken(text, line)
        elif text in grammar.ALONE and not self._held:
            self._retract(text, line)
        else:
            self._rest.append((text, line, None))

    def _may_close(self, summary: Summary) -> bool:
        """Whether what stands before a summary is what stands before the harness's own."""
        if self._before and not (self._quiet and grammar.LETTERS.fullmatch(self._before)):
            return False
        if self.speaking is not None:
            return summary.total == self.expected
        return not self._held or self._recap() is not None

    def _own(self, text: bytes, line: Line) -> bool:
        """Whether a line is a result, in one of its forms."""
        if text in (grammar.FAILURES, grammar.SUCCESSES):
            self._held = True
            return False
        found = grammar.result(text)
        if found is not None:
            if self._held:
                self._held_results += 1
                self._rest.append((text, line, found))
            else:
                self._quiet = False
                self._settle_glued()
                self._count(found, line)
            return True
        if self._held:
            return False
        if self._quiet is not False and self._letters(text, line):
            return True
        if grammar.SLOW.fullmatch(text):
            self._account.add(Kind.INFORMATIONAL, line.number)
            return True
        return not self._quiet and self._begins(text, line)

    def _count(self, found: tuple[bytes, str], line: Line) -> None:
        name, outcome = found
        self._counts[outcome] += 1
        if outcome == "failed":
            self._failed.append(Failed(name, line))
        else:
            self._account.add(Kind.SKIPPED_TEST if outcome == "ignored" else Kind.SUCCESSFUL_TEST, line.number)

    def _letters(self, text: bytes, line: Line) -> bool:
        """-q."""
        if text.endswith(grammar.QUIET_FAILED):
            self._quiet = True
            self._counts["failed"] += 1
            self._failed.append(Failed(grammar.plain(text.removesuffix(grammar.QUIET_FAILED)), line))
            return True
        found = grammar.LETTERS.fullmatch(text)
        if found is None or (found["all"] and int(found["all"]) != self.expected):
            return False
        letters = found["letters"]
        if found["done"] and int(found["done"]) != self.read + len(letters):
            return False
        self._quiet = True
        self._counts["ok"] += letters.count(b".") + letters.count(b"b")
        self._counts["ignored"] += letters.count(b"i")
        self._counts["failed"] += letters.count(b"F")
        self._account.add(Kind.PROGRESS, line.number)
        return True

    # -- one thread, no capture

    def _begins(self, text: bytes, line: Line) -> bool:
        """Whether a line is a test's name, perhaps with the beginning of what it prints."""
        name, dots, rest = (text + b" ").removeprefix(grammar.RESULT_BEGINS).partition(grammar.RESULT_DOTS)
        if not dots or not name or not text.startswith(grammar.RESULT_BEGINS) or not self._serial:
            return False
        self._settle_glued()
        self.speaking = Speaking(grammar.plain(name), (text, line))
        self._glue(rest[:-1])
        return True

    def _spoken(self, text: bytes, line: Line) -> None:
        """A line while a test has the word: its print, or its end."""
        speaking = self.speaking
        assert speaking is not None  # noqa: S101 - for the type checker; the caller has asked
        outcome = grammar.ALONE.get(text)
        if outcome is not None:
            self.speaking = None
            speaking.end = line
            self._end(speaking, outcome)
            return
        speaking.output.append((text, line))
        self._glue(text)

    def _glue(self, text: bytes) -> None:
        """Whether an outcome stands behind a print. What follows may show that it does not."""
        outcome = next((word for end, word in grammar.ALONE.items() if text.endswith(end)), None)
        if outcome is not None and self.speaking is not None and grammar.result(text) is None:
            self._glued = (self.speaking, outcome, len(self._rest))
            self.speaking = None

    def _settle_glued(self) -> None:
        """The test that seemed to have ended did end."""
        if self._glued is not None:
            speaking, outcome, _ = self._glued
            self._glued = None
            self._end(speaking, outcome)

    def _retract(self, text: bytes, line: Line) -> None:
        """An outcome alone: the test has not ended before, or nobody knows whose it is."""
        if self._glued is None:
            self._stray = True
            self._rest.append((text, line, None))
            return
        speaking, _, since = self._glued
        self._glued = None
        speaking.output += ((other, held) for other, held, _ in self._rest[since:])
        del self._rest[since:]
        speaking.end = line
        self._end(speaking, grammar.ALONE[text])

    def _end(self, speaking: Speaking, outcome: str) -> None:
        self._counts[outcome] += 1
        if speaking.end is not None:
            self._account.add(Kind.STRUCTURE, speaking.end.number)
        if outcome == "failed":
            self._failed.append(Failed(speaking.name, speaking.header[1], speaking.output))
        else:
            self._account.add(Kind.SUCCESSFUL_TEST, speaking.header[1].number)
            self._account.add_lines(Kind.PROGRAM_OUTPUT, (held for _, held in speaking.output))

    def _unspoken(self) -> None:
        """The report ended although a test had the word: that was a print, and what followed were results."""
        speaking, summary, after = self.speaking, self.summary, self._after
        assert speaking is not None  # noqa: S101 - for the type checker; the caller has asked
        self.speaking = self.summary = None
        self._after = []
        self._serial = False
        self._rest.append((*speaking.header, None))
        for text, line in speaking.output:
            self._line(text, line)
            self._before = text
            if self.summary is not None:
                self._reopen()
        self.summary, self._after = summary, after

    # -- the end

    def last_words(self) -> tuple[bytes, list[Held]]:
        """The test that has the word although its process is gone, and what it printed."""
        speaking, self.speaking = self.speaking, None
        return (speaking.name, [speaking.header, *speaking.output]) if speaking is not None else (b"", [])

    def settle(self, ledger: Ledger) -> bytes:
        """Close the account, whether the report has closed or broken off. Returns the test that had the word."""
        current = b""
        self._settle_glued()
        if self.speaking is not None and self.summary is not None:
            self._unspoken()
        if self.speaking is not None:
            current = self.speaking.name
            self._rest.append((*self.speaking.header, None))
            self._rest += ((text, line, None) for text, line in self.speaking.output)
        summary = self.summary
        recap = self._recap()
        at, names = recap if recap is not None else (len(self._rest), [])
        for text, line, _ in self._rest[at:]:
            self._account.add(Kind.RECAP if text else Kind.BLANK, line.number)
        start = self._sections_start(at, names)
        loose = self._before_sections(start)
        sections = self._sections(start, at, names or [failed.name for failed in self._failed])
        doubts = self._reconcile(ledger, names, sections)
        loose += self._strange
        if summary is not None:
            self._account.add(Kind.AGGREGATE_SOURCE, summary.line.number)
        self._account.add_lines(Kind.BLANK, self._after)
        if summary is not None and not summary.failed and not doubts:
            for text, line in loose:
                self._account.add(Kind.PROGRAM_OUTPUT if text else Kind.BLANK, line.number)
        else:
            accounts, others = panics(loose, self._account)
            ledger.claim(accounts)
            ledger.keep(others)
        if not self.closes:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            ledger.broken += 1
        else:
            ledger.closed += 1
            ledger.failing += bool(summary and summary.failed)
        ledger.doubts |= doubts
        ledger.suppress(self._account)
        return current

    def _recap(self) -> tuple[int, list[bytes]] | None:
        """Where the list of names before the summary begins, and the names."""
        rest = self._rest
        at = len(rest) - 1
        while at >= 0 and not rest[at][0]:
            at -= 1
        last = at
        while at >= 0 and rest[at][0].startswith(grammar.NAMED):
            at -= 1
        headings = (grammar.SUCCESSES,) if last == at else (grammar.FAILURES, grammar.SUCCESSES)
        if at < 0 or rest[at][0] not in headings:
            return None
        names = [text.removeprefix(grammar.NAMED) for text, _, _ in rest[at + 1 : last + 1]]
        return at, names if rest[at][0] == grammar.FAILURES else []

    def _sections_start(self, at: int, names: list[bytes]) -> int:
        """The `failures:` (or, with --show-output, the `successes:`) from which on lines are no results."""
        known = set(names) or {failed.name for failed in self._failed}
        start, following = at, b""
        for i in range(at - 1, -1, -1):
            text = self._rest[i][0]
            if text == grammar.SUCCESSES or (
                text == grammar.FAILURES
                and (not following or grammar.plain(grammar.section(following) or b"") in known)
            ):
                start = i
            following = text or following
        return start

    def _before_sections(self, start: int) -> list[Held]:
        """Count the results that stand before the sections; returns the other lines."""
        loose: list[Held] = []
        for text, line, found in self._rest[:start]:
            if found is not None:
                self._count(found, line)
            else:
                loose.append((text, line))
        return loose

    def _sections(self, start: int, at: int, names: list[bytes]) -> dict[bytes, list[Held]]:
        """What stands under the name of each failing test; each list begins with the line that names it."""
        waiting = set(names)
        sections: dict[bytes, list[Held]] = {}
        current: list[Held] | None = None
        showing = False
        for i, (text, line, _) in enumerate(self._rest[start:at]):
            name = grammar.section(text)
            plain = None if name is None else grammar.plain(name)
            if plain in waiting and plain is not None:
                waiting.discard(plain)
                current = sections[plain] = [(text, line)]
                showing = False
            elif current is not None:
                current.append((text, line))
            elif showing and text:
                self._account.add(Kind.PROGRAM_OUTPUT, line.number)
            else:
                showing |= text == grammar.SUCCESSES and i == 0
                own = text in (grammar.FAILURES, grammar.SUCCESSES)
                if text and not own:
                    self._strange.append((text, line))
                else:
                    self._account.add(Kind.STRUCTURE if text else Kind.BLANK, line.number)
        return sections

    def _reconcile(self, ledger: Ledger, names: list[bytes], sections: dict[bytes, list[Held]]) -> set[Doubt]:
        """Hold results, names, sections and summary against each other; keep the failures."""
        summary, counts = self.summary, self._counts
        doubts: set[Doubt] = set()
        failed, contested = self._failed, list[Failed]()
        if summary is not None and len(failed) > summary.failed:
            named = set(names)
            contested = [one for one in failed if one.name not in named]
            failed = [one for one in failed if one.name in named]
            doubts.add(Doubt.CONTESTED_RESULTS)
        for one in contested:
            ledger.unclassified.append(one.line.as_kind(Kind.CONTESTED_TEST))
            ledger.keep(one.output)
        for one in failed:
            ledger.failures.append(self._failure(one.name, one.line, one.output, sections.pop(one.name, [])))
        for name, lines in sections.items():
            doubts.add(Doubt.RECAP_CONTRADICTION)
            ledger.failures.append(self._failure(name, None, [], lines))
        if self._stray:
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        passed = counts["ok"] + counts["bench"]
        if summary is None:
            tally = (passed, len(failed), counts["ignored"])
        else:
            tally = (summary.passed, summary.failed, summary.ignored)
            if sorted(names) != sorted(one.name for one in failed):
                doubts.add(Doubt.RECAP_CONTRADICTION)
            if (passed, len(failed), counts["ignored"]) != tally or summary.total != self.expected:
                doubts.add(Doubt.AGGREGATE_CONTRADICTION)
            if summary.ok != (not summary.failed):
                doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        ledger.tally += Tally(*tally, 0, sum(tally))
        return doubts

    def _failure(self, name: bytes, header: Line | None, output: list[Held], section: list[Held]) -> Failure:
        """A failing test with all that it printed."""
        body = section
        if header is None:
            header = section[0][1]
            body = section[1:]
        elif section:
            self._account.add(Kind.STRUCTURE, section[0][1].number)
            body = section[1:]
        body = trimmed([*output, *body], self._account)
        details = tuple(line.as_kind(classify_detail(text)) for text, line in body)
        return Failure(decoded(name), header.as_kind(Kind.FAILED_TEST), details)


def trimmed(lines: list[Held], account: Account) -> list[Held]:
    """Lines without the blank ones at both ends, which are suppressed."""
    start, stop = 0, len(lines)
    while start < stop and not lines[start][0].strip():
        start += 1
    while stop > start and not lines[stop - 1][0].strip():
        stop -= 1
    account.add_lines(Kind.BLANK, (line for _, line in (*lines[:start], *lines[stop:])))
    return lines[start:stop]


def panics(lines: list[Held], account: Account) -> tuple[list[Failure], list[Held]]:
    """What threads printed when they panicked, by their names; and the other lines."""
    accounts: list[Failure] = []
    others: list[Held] = []
    current: tuple[bytes, list[Held]] | None = None

    def end() -> None:
        nonlocal current
        if current is not None:
            (_, header), *rest = current[1]
            details = tuple(line.as_kind(classify_detail(text)) for text, line in trimmed(rest, account))
            accounts.append(Failure(decoded(current[0]), header.as_kind(Kind.FAILED_TEST), details))
            current = None

    for text, line in lines:
        panic = grammar.PANIC.match(text)
        if panic is not None:
            end()
            current = (panic["thread"], [(text, line)])
        elif current is not None and line.number == current[1][-1][1].number + 1:
            current[1].append((text, line))
            if grammar.PANIC_ENDS.fullmatch(text):
                end()
        else:
            end()
            others.append((text, line))
    end()
    return accounts, others
