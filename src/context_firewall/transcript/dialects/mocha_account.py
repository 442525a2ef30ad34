"""Settling what was read of a mocha run: results, totals and accounts must tell one story.

A message may hold anything, the heading of another account included. What decides where an account begins is its
number, the empty line before it, and, where the results name failures, the name. Where two headings claim one number
and no name decides between them, that is in doubt.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from context_firewall.transcript.account import Account as Suppressed
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import mocha_grammar as grammar
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded


class Told(NamedTuple):
    """A failure that a line of the results names."""

    title: bytes
    """As far as the line tells: the titles of the suites that were open, and the test's, up to its first line end."""
    line: Line


@dataclass(slots=True)
class Results:
    """What stands before the totals."""

    passed: int = 0
    pending: int = 0
    told: list[Told] = field(default_factory=list)
    unnamed: int = 0
    """Failures that are a sign only."""
    listed: list[Line] = field(default_factory=list)
    """Lines of pending tests: a list and a difference look the same, so only the totals say what they are."""
    noisy: bool = False
    """A program has printed between them, so signs may be lost."""

    @property
    def failed(self) -> int:
        """All failures."""
        return len(self.told) + self.unnamed

    @property
    def total(self) -> int:
        """All results."""
        return self.passed + self.pending + self.failed

    def add_signs(self, text: bytes) -> None:
        """Count a row of signs."""
        pending, failed = text.count(b","), text.count(b"!")
        self.pending += pending
        self.unnamed += failed
        self.passed += len(text.decode("utf-8").strip()) - pending - failed


@dataclass(slots=True)
class Closing:
    """The totals, and everything behind them that may belong to an account."""

    lines: list[Line]
    passed: int
    pending: int = 0
    failed: int = 0
    listed: list[Line] = field(default_factory=list)
    closed: bool = False
    """The empty lines that end the report have followed."""
    disputed: bool = False
    """Other totals stand among the accounts, and no result says that they are text."""
    _blanks: int = 0
    _at_last: bool = False
    """The last account has begun."""

    def counts(self, results: Results) -> bool:
        """Whether the totals count exactly these results."""
        return (self.passed, self.pending, self.failed) == (results.passed, results.pending, results.failed)

    def admits(self, results: Results) -> bool:
        """Whether the results are the totals', as far as they can be seen."""
        if not results.total or self.counts(results):
            return True
        fewer = results.passed <= self.passed and results.pending <= self.pending and results.failed <= self.failed
        return results.noisy and fewer

    def take(self, line: Line) -> None:
        """A line behind the totals."""
        text = bare(line.raw)
        self.listed.append(line)
        if not text.strip():
            self._blanks += 1
            self.closed = not self.failed or (self._at_last and self._blanks >= grammar.LAST_BLANKS)
            return
        if self._blanks and (found := grammar.ACCOUNT.fullmatch(text)) is not None:
            self._at_last |= int(found["number"]) == self.failed
        self._blanks = 0


# So many further lines of titles that something else may stand among them.
MOST_RESTS = 2


@dataclass(slots=True)
class Heading:
    """The titles of an account, as they stand in its first lines."""

    titles: list[bytes]
    size: int
    """How many lines they take; 0 where no colon ends them."""
    rests: list[bytes]
    """Further lines of titles that hold line ends."""
    plain: bool = True
    """Nothing else could be a title's end, and no title has more than one line end."""

    @property
    def name(self) -> bytes:
        """mocha's own full title."""
        return b" ".join(self.titles)


def heading(lines: Sequence[Line]) -> Heading:
    """The titles of an account's first lines: down to a colon behind which the message begins."""
    found = grammar.ACCOUNT.fullmatch(bare(lines[0].raw))
    first = found["title"] if found is not None else b""
    titles, rests, plain = [first], list[bytes](), True
    for at, line in enumerate(lines[1 : 2 * grammar.DEEPEST], 1):
        text = bare(line.raw)
        if (rests or titles)[-1].endswith(b":") and (not text.strip() or _is_message(text)):
            if rests and titles[-1].endswith(rests[-1]):
                rests[-1] = rests[-1][:-1]
            titles[-1] = titles[-1][:-1]
            return Heading(titles, at, rests, plain and len(rests) < MOST_RESTS)
        margin = b" " * (grammar.TITLES_MARGIN + len(grammar.INDENT) * len(titles))
        if text.startswith(margin) and not text.startswith(margin + b" "):
            titles.append(text[len(margin) :])
        else:
            plain &= not (rests or titles)[-1].endswith(b":") and grammar.RESULT.fullmatch(text) is None
            rests.append(text)
            titles[-1] += b" " + text.strip()
    return Heading([first.removesuffix(b":")], 0, [])


def _named(head: Heading, told: Sequence[Told]) -> Heading:
    """A heading that does not end goes by the name that the results told, if it begins with it."""
    if head.size or not told or not _is_of(head.titles[0], told[0]):
        return head
    return Heading([told[0].title], 0, [])


def _is_message(text: bytes) -> bool:
    margin = b" " * grammar.TITLES_MARGIN
    return text.startswith(margin) and not text.startswith(margin + b" ")


@dataclass(slots=True)
class Settlement:
    """What a run amounts to."""

    tally: Tally = Tally()
    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)


def settled(
    results: Results, closing: Closing | None, unclassified: Sequence[Line], suppressed: Suppressed
) -> Settlement:
    """Settle a report; `unclassified` are the lines among its results that nothing knows."""
    settlement = Settlement(unclassified=list(unclassified))
    if closing is None:
        settlement.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        settlement.failures = [_told_failure(told) for told in results.told]
        settlement.unclassified += results.listed
        failed = results.failed
        total = results.passed + failed + results.pending
        settlement.tally = Tally(results.passed, failed, results.pending, 0, total)
        return settlement
    if not closing.closed:
        settlement.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    if not closing.admits(results):
        settlement.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
    if not results.total and not closing.failed and closing.passed + closing.pending:
        # `min`: nothing else says how many passed and how many were pending.
        settlement.doubts.add(Doubt.COUNTS_UNCONFIRMED)
    if closing.pending == results.pending:
        suppressed.add_lines(Kind.SKIPPED_TEST, results.listed)
    else:
        settlement.unclassified += results.listed
    if closing.disputed:
        settlement.doubts.add(Doubt.CONTESTED_RESULTS)
    accounts = _accounts(closing, results, settlement, suppressed)
    headings = [_named(heading(account), results.told[at : at + 1]) for at, account in enumerate(accounts)]
    for account, head in zip(accounts, headings, strict=True):
        settlement.failures.append(_failure(account, head, suppressed))
        if not head.size or not head.plain:
            # Where the titles end, or whether all of it is titles, is not known.
            settlement.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
    _told(results, headings, closing, settlement, suppressed)
    suppressed.add_lines(Kind.AGGREGATE_SOURCE, closing.lines)
    total = closing.passed + closing.failed + closing.pending
    settlement.tally = Tally(closing.passed, closing.failed, closing.pending, 0, total)
    return settlement


def _told_failure(told: Told) -> Failure:
    return Failure(decoded(told.title), told.line.as_kind(Kind.FAILED_TEST))


def _accounts(closing: Closing, results: Results, settlement: Settlement, suppressed: Suppressed) -> list[list[Line]]:
    """The lines of each account. What stands before the first is text."""
    starts = list(_starts(closing.listed, closing.failed, results.told, settlement.doubts))
    if len(starts) < closing.failed:
        loose = list(_starts(closing.listed, closing.failed, (), settlement.doubts))
        starts = max(starts, loose, key=len)
        settlement.doubts.add(Doubt.RECAP_CONTRADICTION)
    ends = [*starts[1:], len(closing.listed)] if starts else []
    before = closing.listed[: starts[0] if starts else len(closing.listed)]
    suppressed.add_lines(Kind.BLANK, (line for line in before if not bare(line.raw).strip()))
    settlement.unclassified += (line for line in before if bare(line.raw).strip())
    return [closing.listed[start:end] for start, end in zip(starts, ends, strict=True)]


def _starts(listed: Sequence[Line], failed: int, told: Sequence[Told], doubts: set[Doubt]) -> Iterator[int]:
    """Where accounts begin: a heading with the next number, behind an empty line, of the name that was told."""
    number, blank = 1, True
    for at, line in enumerate(listed):
        text = bare(line.raw)
        found = grammar.ACCOUNT.fullmatch(text) if blank else None
        blank = not text.strip()
        if found is None:
            continue
        claimed = int(found["number"])
        if claimed > min(number, failed) or (claimed <= len(told) and not _is_of(found["title"], told[claimed - 1])):
            continue
        if claimed == number:
            yield at
            number += 1
        else:
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)


def _is_of(title: bytes, told: Told) -> bool:
    """Whether the first line of a heading may be of that failure: it holds a whole title, or the first of several."""
    name = title.removesuffix(b":")
    return told.title in (title, name) or told.title.startswith((title + b" ", name + b" "))


def _failure(account: Sequence[Line], head: Heading, suppressed: Suppressed) -> Failure:
    end = len(account)
    while not bare(account[end - 1].raw).strip():
        end -= 1
    suppressed.add_lines(Kind.BLANK, account[end:])
    body = max(1, head.size)
    details = [line.as_kind(Kind.FAILURE_CONTEXT) for line in account[1:body]]
    details += (line.as_kind(_kind(bare(line.raw))) for line in account[body:end])
    return Failure(decoded(head.name), account[0].as_kind(Kind.FAILED_TEST), tuple(details))


def _kind(text: bytes) -> Kind:
    return classify_detail(text) if text.strip() else Kind.FAILURE_CONTEXT


def _told(
    results: Results, headings: Sequence[Heading], closing: Closing, settlement: Settlement, suppressed: Suppressed
) -> None:
    """Failures that the results name: accounts tell them, or they are all there is, or the accounts deny them."""
    rests: dict[int, bytes] = {}
    for number, told in enumerate(results.told, 1):
        head = headings[number - 1] if number <= len(headings) else None
        if head is None and number <= closing.failed:
            settlement.failures.append(_told_failure(told))
        elif head is None or not (head.name == told.title or (head.rests and head.name.startswith(told.title))):
            settlement.unclassified.append(told.line.as_kind(Kind.CONTESTED_TEST))
            settlement.doubts.add(Doubt.CONTESTED_RESULTS)
        else:
            suppressed.add(Kind.RECAP, told.line.number)
            rests.update(enumerate(head.rests, told.line.number + 1))
    kept = settlement.unclassified
    suppressed.add_lines(Kind.RECAP, (line for line in kept if rests.get(line.number) == bare(line.raw)))
    settlement.unclassified = [line for line in kept if rests.get(line.number) != bare(line.raw)]
