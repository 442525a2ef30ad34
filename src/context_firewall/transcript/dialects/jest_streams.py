"""One run of jest's told in two streams: its report on standard error, and on standard output what it says besides.

With --verbose that is the console text of the tests, in blocks that name places; with --json a document; with coverage
a table; and everything that tests write there themselves. Nothing of it decides about a result.
"""

from collections.abc import Iterator

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import jest_grammar as grammar
from context_firewall.transcript.dialects.jest_block import Console
from context_firewall.transcript.dialects.jest_report import attach
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare

NAME = "jest"


def settle(readings: list[Reading]) -> list[Reading]:
    """Give console blocks on standard output to the failures of their files; the rest there is the program's.

    Only where the report on standard error stands without a doubt, and no other runner's results are there.
    """
    home = [part for part in readings if part.stream == "stderr" and part.dialect == NAME and part.standing == STANDS]
    if home and not any(part.doubts for part in home):
        readings = [_as_text(part) if part.stream == "stdout" and part.has_results else part for part in readings]
    if (
        not home
        or any(part.doubts for part in readings)
        or any(part.has_results for part in readings if part not in home)
    ):
        return readings
    failures = {id(part): list(part.failures) for part in home}
    settled = [_beside(part, failures) if part.stream == "stdout" else part for part in readings]
    return [part._replace(failures=tuple(failures[id(part)])) if id(part) in failures else part for part in settled]


def _as_text(part: Reading) -> Reading:
    """What reads like another report on standard output and has no end is no report: kept, in doubt, not counted."""
    if part.standing:
        return part
    lines = [line for failure in part.failures for line in failure.lines()]
    lines += (*part.unclassified, *part.todo)
    return part._replace(
        tally=Tally(),
        failures=(),
        unclassified=tuple(sorted((line.as_kind(Kind.UNCLASSIFIED) for line in lines), key=lambda line: line.number)),
        todo=(),
        has_results=False,
        doubts=frozenset({Doubt.UNCLASSIFIED_EVIDENCE}),
        current_test="",
    )


def _beside(part: Reading, failures: dict[int, list[Failure]]) -> Reading:
    """A reading of standard output: what belongs to a failing file goes there, the rest is the program's."""
    account = Account()
    if part.fates is not None:
        account.trace()
    for console in _blocks(part.unclassified):
        if not any(attach(console, group) for group in failures.values()):
            account.add_lines(Kind.PROGRAM_OUTPUT, console.lines)
    suppressed = dict(part.suppressed)
    for kind, count in account.totals().items():
        suppressed[kind] = suppressed.get(kind, 0) + count
    fates = part.fates if part.fates is None else {**part.fates, **(account.fates or {})}
    return part._replace(unclassified=(), suppressed=suppressed, fates=fates)


def _blocks(lines: tuple[Line, ...]) -> Iterator[Console]:
    """Console blocks, and the lines between them by themselves."""
    console: Console | None = None
    for line in lines:
        text = bare(line.raw)
        if grammar.CONSOLE_TITLE.fullmatch(text):
            if console is not None:
                yield console
            console = Console()
        elif text.strip() and not text.startswith(grammar.INSIDE):
            if console is not None:
                yield console
            console = None
        if console is None:
            yield Console([line])
        else:
            console.take(text, line)
    if console is not None:
        yield console
