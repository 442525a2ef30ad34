"""One run of cargo's told in two streams: reports on standard output, on standard error what stands around them.

Standard error names the binaries that were started and tells which failed; without capture it has the panics, too.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import replace

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Segments
from context_firewall.transcript.kinds import Kind

NAME = "cargo"


def announced_more(announced: Segments | None, closed: Segments | None) -> bool:
    """Whether reports are missing that cargo has announced or calls failed, or its word about those that failed."""
    told, read = announced or Segments(), closed or Segments()
    if told.count and read.failed and not told.failed:
        return True
    return told.count > read.count or told.failed > read.failed


def settle(readings: list[Reading]) -> list[Reading]:
    """Hold the streams against each other, and give each panic to the failing test of its name."""
    own = [part for part in readings if part.dialect == NAME]
    announced = _sum([part.announced for part in own])
    closed = _sum([part.closed for part in own])
    read = any(part.closed is not None for part in own)
    missing = read and announced_more(announced, closed)
    waiting: dict[str, deque[Failure]] = defaultdict(deque)
    for part in own:
        for account in part.accounts:
            waiting[account.identity].append(account)
    settled = [_settled(part, waiting, missing=missing) if part.dialect == NAME else part for part in readings]
    return [_rest(part, waiting) for part in settled]


def _sum(parts: Sequence[Segments | None]) -> Segments:
    some = [part for part in parts if part is not None]
    return Segments(sum(part.count for part in some), sum(part.failed for part in some))


def _settled(part: Reading, waiting: dict[str, deque[Failure]], *, missing: bool) -> Reading:
    failures = tuple(_told(failure, waiting) for failure in part.failures)
    if missing and part.closed is not None:
        doubts = part.doubts | {Doubt.COMPLETENESS_UNCONFIRMED}
        part = replace(part, doubts=doubts, standing=min(part.standing, 2))
    return replace(part, failures=failures, announced=None, closed=None)


def _told(failure: Failure, waiting: dict[str, deque[Failure]]) -> Failure:
    accounts = waiting.get(failure.identity)
    if failure.details or not accounts:
        return failure
    account = accounts.popleft()
    lines = tuple(line.as_kind(Kind.FAILURE_DETAIL) if line is account.header else line for line in account.lines())
    return replace(failure, details=lines)


def _rest(part: Reading, waiting: dict[str, deque[Failure]]) -> Reading:
    """Panics that no failing test has claimed are text."""
    if not part.accounts:
        return part
    left = {id(account) for accounts in waiting.values() for account in accounts}
    text = [account for account in part.accounts if id(account) in left]
    lines = [line.as_kind(Kind.UNCLASSIFIED) for account in text for line in account.lines()]
    doubts = part.doubts | {Doubt.UNCLASSIFIED_EVIDENCE} if lines else part.doubts
    return replace(part, accounts=(), unclassified=(*part.unclassified, *lines), doubts=doubts)
