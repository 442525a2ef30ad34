"""One run of cargo's told in two streams: reports on standard output, on standard error what stands around them.

Standard error names the binaries that were started and tells which failed; without capture it has the panics, too.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Sequence

from context_firewall.transcript.dialects import cargo_grammar as grammar
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Failure, Reading, Segments
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import bare

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
    spoke = {part.current_test for part in own if part.current_test}
    gone = [failure for part in own for failure in part.failures if _broke_off(failure)]
    own = [part for part in settled if part.dialect == NAME]
    whole = not missing and all(not part.doubts and (part.standing == STANDS or not part.has_results) for part in own)
    claimed = whole and all(failure.details for part in own for failure in part.failures)
    settled = [_rest(part, waiting, claimed=claimed) for part in settled]
    if len(spoke) != 1 or len(gone) != 1:
        return settled
    return [part._replace(failures=tuple(_named(one, gone[0], *spoke) for one in part.failures)) for part in settled]


def _broke_off(failure: Failure) -> bool:
    """Whether cargo says there that a binary's process is gone."""
    return failure.header is not None and grammar.TOLD.fullmatch(bare(failure.header.raw)) is not None


def _named(failure: Failure, gone: Failure, test: str) -> Failure:
    """The process that is gone goes by the test that had the word, too."""
    return failure._replace(identity=f"{failure.identity} {test}") if failure == gone else failure


def _sum(parts: Sequence[Segments | None]) -> Segments:
    some = [part for part in parts if part is not None]
    return Segments(sum(part.count for part in some), sum(part.failed for part in some))


def _settled(part: Reading, waiting: dict[str, deque[Failure]], *, missing: bool) -> Reading:
    failures = tuple(_told(failure, waiting) for failure in part.failures)
    if missing and part.closed is not None:
        doubts = part.doubts | {Doubt.COMPLETENESS_UNCONFIRMED}
        part = part._replace(doubts=doubts, standing=min(part.standing, 2))
    return part._replace(failures=failures, announced=None, closed=None)


def _told(failure: Failure, waiting: dict[str, deque[Failure]]) -> Failure:
    accounts = waiting.get(failure.identity)
    if failure.details or not accounts:
        return failure
    account = accounts.popleft()
    lines = tuple(line.as_kind(Kind.FAILURE_DETAIL) if line is account.header else line for line in account.lines())
    return failure._replace(details=lines)


def _rest(part: Reading, waiting: dict[str, deque[Failure]], *, claimed: bool) -> Reading:
    """Panics that no failing test has claimed: of tests that were meant to panic, if each failing one has its own."""
    if not part.accounts:
        return part
    left = {id(account) for accounts in waiting.values() for account in accounts}
    lines = [line for account in part.accounts if id(account) in left for line in account.lines()]
    part = part._replace(accounts=())
    if not lines:
        return part
    if claimed:
        suppressed = Counter(part.suppressed)
        suppressed[Kind.PROGRAM_OUTPUT] += len(lines)
        fates = part.fates
        if fates is not None:
            fates = {**fates, **{line.number: Kind.PROGRAM_OUTPUT for line in lines}}
        return part._replace(suppressed=suppressed, fates=fates)
    text = tuple(line.as_kind(Kind.UNCLASSIFIED) for line in lines)
    return part._replace(unclassified=(*part.unclassified, *text), doubts=part.doubts | {Doubt.UNCLASSIFIED_EVIDENCE})
