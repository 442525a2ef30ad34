"""Runs of several packages in one stream, each line behind the name of its run: `pnpm -r test`, `turbo run test`.

The room's rules:

- A run is announced before its first line: `packages/cups test$ node --test` (pnpm), `cups:test: cache miss, executing
  07d9…` (turbo). From there on a line that begins with its name (`packages/cups test: `, `cups:test: `) is its own,
  without the name; any other line stands outside of all runs.
- pnpm ends a run with `Done` or `Failed`, behind its name like any line; these are the last words of pnpm.
- Each run is read by itself, and its failures go by its name. What is kept of it are the source's own lines, names and
  all, at their places.
- The runs are whole if each of pnpm's has that word, and turbo's are as many as its closing lines count.
- A run in which no test was read proves nothing; its announcement stays unclassified.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded

# "packages/cups test$ node --test", "cups:test: cache miss, executing 07d9e0a5d3ba2ab4"
ANNOUNCED = re.compile(
    rb"(?P<pnpm>[^\s$:]++ [^\s$:]++)\$ \S[^\n]*+"
    rb"|(?P<turbo>[^\s:]++:[^\s:]++): cache (?:hit, replaying logs|(?:miss|bypass), (?:force )?executing) [0-9a-f]++\r?"
)
RUNS_AT_MOST = 1000
"""A stream that announces more is no run of packages."""
# turbo says last how many tasks there were: " Tasks:    2 successful, 2 total".
TASKS = re.compile(rb" Tasks: {4}[0-9]++ successful, (?P<total>[0-9]{1,9}+) total\r?")
_ENDED = {b"Done": Kind.INFORMATIONAL, b"Failed": Kind.ABNORMAL_WARNING}
"""What pnpm says last of a run."""


@dataclass(slots=True)
class _Run:
    """One run's lines without its name; without a name, those outside of all runs."""

    prefix: bytes = b""
    lines: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Where each stands in the stream."""
    own: list[Line] = field(default_factory=list)
    """Its announcement, and pnpm's last word."""

    @property
    def name(self) -> str:
        return decoded(self.prefix.removesuffix(b": "))

    @property
    def of_pnpm(self) -> bool:
        """pnpm's names have a blank between folder and script."""
        return b" " in self.prefix[:-2]

    def add(self, number: int, line: bytes) -> None:
        self.numbers.append(number)
        self.lines.append(line)

    def place(self, line: Line) -> Line:
        """A line that was read of the run, as the stream has it."""
        return Line(line.stream, self.numbers[line.number - 1], line.kind, self.prefix + line.raw)

    def text(self, last: int) -> bytes:
        """All of it; `last` is the number of a last line that has no newline."""
        text = b"".join(line + b"\n" for line in self.lines)
        return text[:-1] if self.numbers and self.numbers[-1] == last else text


def announces(readings: Iterable[Reading]) -> bool:
    """Whether an unclassified line announces a run."""
    raws = (line.raw for part in readings for line in part.unclassified)
    return any(ANNOUNCED.fullmatch(raw) for raw in raws if b"$ " in raw or b": cache " in raw)


def read_apart(
    stream: str, data: bytes, read: Callable[[bytes], list[Reading]], read_rest: Callable[[bytes], list[Reading]]
) -> list[Reading] | None:
    """The readings of a stream's runs; None if no test was read in any of them, or one outside, or they are too many.

    `read` gives the readings of a run by itself; `read_rest` those of what stands outside of all runs.
    """
    outside, runs, last = _sorted(stream, data)
    if len(runs) > RUNS_AT_MOST:
        return None
    readings: list[Reading] = []
    for run in runs:
        told = read(run.text(last))
        if any(part.spread is not None for part in told):
            return None
        readings += (_placed(part, run) for part in told)
        readings.append(_said(run, told))
    rest = [_placed(part, outside) for part in read_rest(outside.text(last))]
    if not _are_all(runs, outside):
        rest.append(Reading(stream=stream, doubts=frozenset({Doubt.COMPLETENESS_UNCONFIRMED})))
    # Who runs several packages runs no test by itself: then something else has printed the announcements.
    if any(part.has_results for part in rest) or not any(part.has_results for part in readings):
        return None
    return [*rest, *readings]


def _are_all(runs: Sequence[_Run], outside: _Run) -> bool:
    """Whether each run of pnpm's has its last word, and turbo's are as many as it says in the end."""
    tasks = [int(found["total"]) for line in outside.lines if (found := TASKS.fullmatch(line))]
    of_turbo = sum(not run.of_pnpm for run in runs)
    return all(len(run.own) > 1 for run in runs if run.of_pnpm) and tasks == ([of_turbo] if of_turbo else [])


def _sorted(stream: str, data: bytes) -> tuple[_Run, list[_Run], int]:
    """What stands outside of all runs, the runs, and the number of a last line that has no newline, or 0."""
    outside, runs = _Run(), dict[bytes, _Run]()
    lines = data.split(b"\n")
    last = len(lines) if lines[-1] else 0
    if not last:
        lines.pop()
    for number, line in enumerate(lines, 1):
        name, colon, rest = line.partition(b": ")
        announced = ANNOUNCED.fullmatch(line)
        if announced is not None and (prefix := (announced["pnpm"] or announced["turbo"]) + b": ") not in runs:
            runs[prefix] = _Run(prefix, own=[Line(stream, number, Kind.INFORMATIONAL, line)])
        elif colon and (run := runs.get(name + colon)) is not None:
            run.add(number, rest)
        else:
            outside.add(number, line)
    for run in runs.values():
        word = _ENDED.get(run.lines[-1].rstrip(b"\r")) if run.lines and run.of_pnpm else None
        if word is not None:
            number, line = run.numbers.pop(), run.lines.pop()
            run.own.append(Line(stream, number, word, run.prefix + line))
    return outside, list(runs.values()), last


def _placed(part: Reading, run: _Run) -> Reading:
    """A reading of a run as one of the stream."""

    def lines(held: Iterable[Line]) -> tuple[Line, ...]:
        return tuple(map(run.place, held))

    def failures(held: Iterable[Failure]) -> tuple[Failure, ...]:
        return tuple(
            Failure(
                f"{run.name} > {one.identity}" if run.prefix else one.identity,
                None if one.header is None else run.place(one.header),
                lines(one.details),
            )
            for one in held
        )

    return part._replace(
        failures=failures(part.failures),
        accounts=failures(part.accounts),
        fatal_errors=lines(part.fatal_errors),
        timeouts=lines(part.timeouts),
        warnings=lines(part.warnings),
        unclassified=lines(part.unclassified),
        todo=lines(part.todo),
        fates=None if part.fates is None else {run.numbers[n - 1]: kind for n, kind in part.fates.items()},
        opened=run.numbers[part.opened - 1] if part.opened else 0,
    )


def _said(run: _Run, told: Sequence[Reading]) -> Reading:
    """What is said of a run: unclassified where its tests do not bear it out."""
    tested = any(part.has_results for part in told)
    failed = any(part.failures or part.tally.failed for part in told)
    warnings = [line for line in run.own if line.kind is Kind.ABNORMAL_WARNING]
    known = [line for line in run.own if line.kind is Kind.INFORMATIONAL] if tested else []
    known += warnings if failed else []
    left = tuple(line.as_kind(Kind.UNCLASSIFIED) for line in run.own if line not in known)
    counted = {line: line.kind for line in known if line.kind is Kind.INFORMATIONAL}
    kept = tuple(line for line in known if line.kind is Kind.ABNORMAL_WARNING)
    traced = any(part.fates is not None for part in told)
    return Reading(
        stream=run.own[0].stream, warnings=kept, unclassified=left, fates={} if traced else None
    ).with_suppressed(counted)
