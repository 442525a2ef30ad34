"""Settling what was read of a unittest run: blocks, results and closing lines must tell one story.

A message, or a test that prints, can forge every line of a block. What cannot be forged is the runner's order: first
all results, then errors, then failures, then unexpected successes, and the closing lines, which say how many there are.
Where more blocks were read than those lines state, what stood before the results were over is text of a test; what
-v has not listed is text of a message; what is left over is kept and doubted.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import unittest_grammar as grammar
from context_firewall.transcript.dialects.unittest_grammar import Counts
from context_firewall.transcript.dialects.unittest_results import Results, Told
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded

STATUS_OF_FLAVOUR = {
    grammar.FAILURE: b"FAIL",
    grammar.ERROR: b"ERROR",
    grammar.UNEXPECTED: b"unexpected success",
}


@dataclass(slots=True)
class Block:
    """What stands under one ruler: a header, perhaps a docstring, a thin ruler, the body."""

    flavour: bytes
    description: bytes
    header: Line
    rulers: list[Line]
    more: list[Line] = field(default_factory=list)
    """Further lines of the description."""
    open: bool = False
    """The thin ruler has been read."""
    body: list[Line] = field(default_factory=list)

    def lines(self) -> list[Line]:
        """All its lines in source order."""
        return sorted((*self.rulers, self.header, *self.more, *self.body), key=lambda line: line.number)

    def failure(self, suppressed: Account) -> Failure:
        """The block as a failure; blank lines at its end, and rulers, are not kept."""
        end = len(self.body)
        while end and not bare(self.body[end - 1].raw).strip():
            end -= 1
        suppressed.add_lines(Kind.BLANK, self.body[end:])
        suppressed.add_lines(Kind.STRUCTURE, self.rulers)
        more = (line.as_kind(Kind.FAILURE_CONTEXT) for line in self.more)
        return Failure(
            decoded(self.description), self.header.as_kind(Kind.FAILED_TEST), (*more, *_details(self.body[:end]))
        )


@dataclass(slots=True)
class Tallied:
    """How many blocks of each flavour were read, and of how many tests; kept in step with the list of blocks."""

    flavours: Counter[bytes] = field(default_factory=Counter)
    tests: Counter[bytes] = field(default_factory=Counter)
    subtests: int = 0

    def add(self, block: Block, sign: int = 1) -> None:
        """One more block, or one less."""
        self.flavours[block.flavour] += sign
        if block.flavour == grammar.UNEXPECTED:
            return
        self.subtests += sign * grammar.is_subtest(block.description)
        test = grammar.test_of(block.description)
        if test is not None:
            self.tests[test] += sign
            if not self.tests[test]:
                del self.tests[test]

    def agrees(self, counts: Counts) -> bool:
        """Whether there are as many blocks as the closing lines state."""
        flavours = self.flavours
        unexpected = flavours[grammar.UNEXPECTED]
        return (
            flavours[grammar.FAILURE] == counts.failures
            and flavours[grammar.ERROR] == counts.errors
            # Before 3.11 unexpected successes have no block.
            and unexpected in (0, counts.unexpected)
        )


def results_agree(results: Results, tallied: Tallied, counts: Counts) -> bool:
    """Whether the letters, or the named results, are those that the closing lines count.

    A test has one result, but a failing one may have several (subtests, tearDown), a fixture has one without being a
    test, and before 3.11 a failing subtest has none. With -q there are no results at all.
    """
    seen = results.seen
    if not seen.total():
        return True
    missing = counts.failures - seen[b"FAIL"] + counts.errors - seen[b"ERROR"]
    exact = (
        seen[b"skipped"] == counts.skipped
        and seen[b"expected failure"] == counts.expected
        and seen[b"unexpected success"] == counts.unexpected
        and seen[b"FAIL"] <= counts.failures
        and seen[b"ERROR"] <= counts.errors
        and missing <= tallied.subtests
    )
    ended = seen[b"ok"] + counts.expected + counts.unexpected
    failing = tallied.tests
    if results.names and not failing and ended + results.skipped_tests != counts.ran:
        # Python 3.12.0 does not count a test as run that a decorator skips: none of them, or a result is lost.
        exact = exact and not results.repeated and counts.ran == ended
    return exact and ended + len(failing) <= counts.ran <= ended + counts.skipped + failing.total()


def results_exceed(results: Results, counts: Counts) -> bool:
    """Whether more results were read than the closing lines count; text among them can only hide some."""
    seen = results.seen
    return (
        seen[b"FAIL"] > counts.failures
        or seen[b"ERROR"] > counts.errors
        or seen[b"skipped"] > counts.skipped
        or seen[b"expected failure"] > counts.expected
        or seen[b"unexpected success"] > counts.unexpected
        or seen[b"ok"] + seen[b"expected failure"] > counts.ran
    )


def agrees(results: Results, tallied: Tallied, counts: Counts) -> bool:
    """Whether blocks and results are those that the closing lines count, as far as text among the results lets see."""
    if not tallied.agrees(counts) or results_exceed(results, counts):
        return False
    return results.noisy or results_agree(results, tallied, counts)


@dataclass(slots=True)
class Settlement:
    """What a run amounts to."""

    tally: Tally = Tally()
    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)


def settled(
    results: Results,
    blocks: list[Block],
    counts: Counts | None,
    verdict: Line | None,
    suppressed: Account,
    replay: Callable[[Sequence[Line]], None],
) -> Settlement:
    """Settle. `replay` reads lines once more as lines among the results; `verdict` is the last of the closing lines."""
    settlement = Settlement()
    tallied = Tallied()
    for block in blocks:
        tallied.add(block)
    if counts is not None:
        _drop_printed(results, blocks, tallied, counts, settlement, replay)
        _drop_quoted(results, blocks, tallied, counts)
        if not agrees(results, tallied, counts):
            settlement.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if counts.skipped and not results.seen.total():
            # -q: whether what was skipped is among what ran depends on Python's version.
            settlement.doubts.add(Doubt.COUNTS_UNCONFIRMED)
    else:
        settlement.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    settlement.failures = [block.failure(suppressed) for block in blocks]
    _told_only(results, blocks, counts, settlement, suppressed)
    _not_named(results, counts, verdict, settlement)
    _mirrored(results, blocks, settlement, suppressed)
    settlement.tally = _tally(results, tallied, counts, len(settlement.failures))
    return settlement


def _exceeds(tallied: Tallied, counts: Counts, flavour: bytes) -> bool:
    stated = {
        grammar.FAILURE: counts.failures,
        grammar.ERROR: counts.errors,
        grammar.UNEXPECTED: counts.unexpected,
    }
    return tallied.flavours[flavour] > stated[flavour]


def _drop_printed(
    results: Results,
    blocks: list[Block],
    tallied: Tallied,
    counts: Counts,
    settlement: Settlement,
    replay: Callable[[Sequence[Line]], None],
) -> None:
    """Blocks before the results were over: a test has printed them, and results stand in what follows them."""
    while blocks and _exceeds(tallied, counts, blocks[0].flavour):
        block = blocks[0]
        failing = sum(results.seen[status] for status in STATUS_OF_FLAVOUR.values())
        if failing > len(blocks) - 1 or not any(grammar.is_result(bare(line.raw)) for line in block.body):
            return
        del blocks[0]
        tallied.add(block, -1)
        settlement.unclassified.append(block.header.as_kind(Kind.CONTESTED_TEST))
        settlement.doubts.add(Doubt.CONTESTED_RESULTS)
        replay([line for line in block.lines() if line is not block.header])


def _drop_quoted(results: Results, blocks: list[Block], tallied: Tallied, counts: Counts) -> None:
    """Blocks that -v has not listed: a message has quoted them, and they belong to the block before."""
    listed = Counter(told.description for told in results.told)
    if not listed:
        return
    at = 1
    while at < len(blocks):
        block = blocks[at]
        known = listed[block.description] or grammar.is_subtest(block.description)
        if not known and _exceeds(tallied, counts, block.flavour):
            tallied.add(block, -1)
            blocks[at - 1].body += block.lines()
            del blocks[at]
        else:
            at += 1


def _told_only(
    results: Results,
    blocks: Sequence[Block],
    counts: Counts | None,
    settlement: Settlement,
    suppressed: Account,
) -> None:
    """Failing results that have no block: the run broke off before it, or the version prints none."""
    left = Counter((block.description, STATUS_OF_FLAVOUR[block.flavour]) for block in blocks)
    flavours = Counter(STATUS_OF_FLAVOUR[block.flavour] for block in blocks)
    told = Counter(result.status for result in results.told)
    complete = {status: told[status] <= flavours[status] for status in told}
    for result in results.told:
        key = (result.description, result.status)
        if left[key]:
            left[key] -= 1
            suppressed.add_lines(Kind.RECAP, result.lines)
        elif complete[result.status]:
            # Every failing result has its block, if under another name: a bare status, or a status out of turn.
            suppressed.add_lines(Kind.RECAP, result.lines)
        else:
            settlement.failures.append(_told_failure(result))
            if counts is not None and result.status != b"unexpected success":
                settlement.doubts.add(Doubt.RECAP_CONTRADICTION)


def _told_failure(told: Told) -> Failure:
    header, *rest = told.lines
    details = tuple(line.as_kind(Kind.FAILURE_DETAIL) for line in rest)
    return Failure(decoded(told.description) or "not named", header.as_kind(Kind.FAILED_TEST), details)


def _not_named(results: Results, counts: Counts | None, verdict: Line | None, settlement: Settlement) -> None:
    """Failures that nothing names: unexpected successes before 3.11, and letters of a run that broke off."""
    if counts is None:
        missing = sum(results.seen[status] for status in STATUS_OF_FLAVOUR.values()) - len(settlement.failures)
        if missing > 0:
            settlement.doubts.add(Doubt.FAILURES_UNNAMED)
            tests = "test" if missing == 1 else "tests"
            settlement.failures.append(Failure(f"{missing} failing {tests}, not named", None))
        return
    missing = counts.failed - len(settlement.failures)
    if 0 < missing <= counts.unexpected and verdict is not None:
        successes = "unexpected success" if missing == 1 else "unexpected successes"
        name = f"{missing} {successes}, not named"
        settlement.doubts.add(Doubt.FAILURES_UNNAMED)
        settlement.failures.append(Failure(name, verdict.as_kind(Kind.FAILED_TEST)))


def _mirrored(results: Results, blocks: Sequence[Block], settlement: Settlement, suppressed: Account) -> None:
    """What -b printed beside the results stands in the blocks again; if it does not, it is nobody's."""
    texts = {line.raw for block in blocks for line in block.body} if results.mirrored else set()
    for line in results.mirrored:
        if line.raw in texts:
            suppressed.add(Kind.RECAP, line.number)
        else:
            settlement.unclassified.append(line)


def _tally(results: Results, tallied: Tallied, counts: Counts | None, failures: int) -> Tally:
    """As the closing lines count. They do not count what passed: that is what ran and ended in no other way."""
    seen = results.seen
    if counts is None:
        failed = max(failures, sum(seen[status] for status in STATUS_OF_FLAVOUR.values()))
        skipped, todo = seen[b"skipped"], seen[b"expected failure"]
        return Tally(seen[b"ok"], failed, skipped, todo, seen[b"ok"] + failed + skipped + todo)
    passed = seen[b"ok"]
    if not seen.total() or not results_agree(results, tallied, counts):
        ended = len(tallied.tests) + counts.skipped + counts.expected + counts.unexpected
        passed = max(0, counts.ran - ended)
    total = passed + counts.failed + counts.skipped + counts.expected
    return Tally(passed, counts.failed, counts.skipped, counts.expected, total)


def _details(lines: Sequence[Line]) -> list[Line]:
    """A body's lines by kind: what only orients is context."""
    details: list[Line] = []
    frame: Kind | None = None
    captured = False
    for line in lines:
        text = bare(line.raw)
        if captured:
            kind = classify_detail(text)
        elif not text.strip():
            kind, frame = Kind.FAILURE_CONTEXT, None
        elif text in grammar.MIRRORS:
            captured, kind = True, Kind.FAILURE_DETAIL
        elif text in grammar.TRACEBACKS:
            kind, frame = Kind.FAILURE_CONTEXT, Kind.FAILURE_CONTEXT
        elif (found := grammar.FRAME.match(text)) is not None:
            own = found["name"] is not None and grammar.RUNNERS_OWN.match(found["file"]) is not None
            kind = frame = Kind.FAILURE_CONTEXT if own else Kind.STACK_TRACE
        elif grammar.UNDERLINE.fullmatch(text):
            kind = Kind.FAILURE_CONTEXT
        elif frame is not None and text.startswith(b"    "):
            kind = frame
        elif frame is not None and grammar.EXCEPTION.fullmatch(text):
            kind, frame = Kind.FAILURE_MESSAGE, None
        else:
            kind = classify_detail(text)
        details.append(line.as_kind(kind))
    return details
