"""One run that its runner tells on two streams: results and totals on one, accounts of the failures on the other.

A runner may print the line of a failing test where the totals stand, and what went wrong where the errors go; what a
test printed stands on either. Each stream is read by itself, so its reading can only say what it saw: which results
it has no account of, which output belongs to which test, what the totals demand. That is a `Spread`. Here the spreads
of all streams are settled against each other:

- A result line whose account was read is a recap. One without an account is a failure that is not wholly told, or
  contested where the totals deny it.
- Output of a test that failed belongs to its failure, any other is program output.
- Totals and accounts must agree in tests, files, and errors outside of tests.

Without a spread nothing happens.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Output, Reading, ResultLine, Spread
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare

ERRORS_OUTSIDE = "Unhandled Errors"
SEPARATOR = " > "
_DOCUMENTS = frozenset({"tap", "junit", "json-report"})


def settled(readings: list[Reading]) -> list[Reading]:
    """The readings of all streams, with what their spreads leave open decided."""
    by_dialect: dict[str, list[int]] = defaultdict(list)
    for i, part in enumerate(readings):
        if part.spread is not None:
            by_dialect[part.dialect].append(i)
    result = list(readings)
    for places in by_dialect.values():
        parts = [_Part(result[i], result[i].spread or Spread()) for i in places]
        _settle(parts)
        for i, settled_part in zip(places, parts, strict=True):
            result[i] = settled_part.reading()
    return result


def told_twice(readings: list[Reading], dialect: str) -> list[Reading]:
    """Doubt the counts where a document of another form tells as many results as a report of that dialect.

    Two reporters may have told of one run, or two runs be alike; nothing in the text says which.
    """
    reports = [part for part in readings if part.dialect == dialect and part.has_results]
    for i, part in enumerate(readings):
        again = part.dialect in _DOCUMENTS and any(_alike(part, report) for report in reports)
        if again:
            readings[i] = part._replace(doubts=part.doubts | {Doubt.COUNTS_UNCONFIRMED})
    return readings


def _alike(part: Reading, other: Reading) -> bool:
    return part.tally.total > 0 and (part.tally.passed, part.tally.failed) == (other.tally.passed, other.tally.failed)


@dataclass(slots=True)
class _Part:
    """One reading while it is settled."""

    source: Reading
    spread: Spread
    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)
    suppressed: Counter[Kind] = field(default_factory=Counter)
    fates: dict[int, Kind] | None = None
    unaccounted: dict[int, ResultLine] = field(default_factory=dict)
    """Failures, by their place, of which there is no more than a result line."""

    def __post_init__(self) -> None:
        self.failures = list(self.source.failures)
        self.unclassified = list(self.source.unclassified)
        self.doubts = set(self.source.doubts)
        self.suppressed = Counter(self.source.suppressed)
        if self.source.fates is not None:
            self.fates = dict(self.source.fates)

    def suppress(self, kind: Kind, lines: Iterable[Line]) -> None:
        """Do not keep these lines."""
        for line in lines:
            self.suppressed[kind] += 1
            if self.fates is not None:
                self.fates[line.number] = kind

    def contest(self, lines: Sequence[Line]) -> None:
        """Keep lines that were not what they look like."""
        self.unclassified.append(lines[0].as_kind(Kind.CONTESTED_TEST))
        self.unclassified += (line.as_kind(Kind.UNCLASSIFIED) for line in lines[1:])
        self.doubts |= {Doubt.CONTESTED_RESULTS, Doubt.UNCLASSIFIED_EVIDENCE}

    def keep(self, lines: Iterable[Line]) -> None:
        """Keep lines that nothing accounts for."""
        before = len(self.unclassified)
        self.unclassified += (line.as_kind(Kind.UNCLASSIFIED) for line in lines)
        if len(self.unclassified) > before:
            self.doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)

    def reading(self) -> Reading:
        """The reading, without a spread."""
        return self.source._replace(
            failures=tuple(self.failures),
            unclassified=tuple(sorted(self.unclassified, key=lambda line: line.number)),
            doubts=frozenset(self.doubts),
            suppressed={kind: count for kind, count in self.suppressed.items() if count},
            fates=self.fates,
            spread=None,
        )


def _settle(parts: Sequence[_Part]) -> None:
    """Decide what each part leaves open. The last part with totals bears the doubts about them."""
    spreads = [part.spread for part in parts]
    exit_code = spreads[0].exit_code
    telling = [part for part in parts if part.spread.totals is not None]
    bearer = telling[-1] if telling else parts[-1]
    unclosed = sum(spread.needs_totals and spread.totals is None for spread in spreads)
    empty = sum(spread.nothing_to_run and not spread.needs_totals for spread in spreads)
    closed = bool(telling) and unclosed <= empty
    if not closed:
        bearer.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    failed = sum(spread.totals.failed for spread in spreads if spread.totals is not None)
    errors = sum(spread.totals.errors for spread in spreads if spread.totals is not None)
    files = sum(spread.totals.files for spread in spreads if spread.totals is not None)
    accounted = sum(spread.tests for spread in spreads)
    denied = closed and exit_code == 0 and not failed and not errors and not files
    if denied:
        for part in parts:
            for failure in part.failures:
                part.contest(tuple(failure.lines()))
            part.failures.clear()
        accounted = 0
    index = _Index(failure for part in parts for failure in part.failures)
    unaccounted = _results(parts, index, failed - accounted if closed else None)
    if closed and not denied:
        told = accounted + unaccounted
        seen = {name for spread in spreads for name in spread.files}
        if told != failed or (not unaccounted and files != len(seen)):
            bearer.doubts.add(Doubt.RECAP_CONTRADICTION)
    _errors(parts, bearer)
    outside = 0 if denied else sum(spread.outside for spread in spreads)
    for part in parts:
        alone: dict[str, int] = {}
        for repeat in part.spread.repeats:
            unhandled = repeat.identity.startswith(ERRORS_OUTSIDE + SEPARATOR)
            if outside if unhandled else index.knows(repeat):
                part.suppress(Kind.RECAP, repeat.lines)
                outside -= unhandled
            elif denied:
                part.contest(repeat.lines)
            else:
                earlier = alone.get(repeat.identity)
                if earlier is None:
                    alone[repeat.identity] = len(part.failures)
                    part.failures.append(_failure(repeat))
                else:
                    _add(part, earlier, (line.as_kind(Kind.FAILURE_DETAIL) for line in repeat.lines))
                part.doubts.add(Doubt.RECAP_CONTRADICTION if closed else Doubt.COMPLETENESS_UNCONFIRMED)
    _outputs(parts, closed, explained=exit_code == 0 or bool(failed or errors or files))


class _Index:
    """Failures by what a result line may call them."""

    def __init__(self, failures: Iterable[Failure]) -> None:
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._by_leaf: dict[str, list[str]] = defaultdict(list)
        self._lines: dict[str, set[bytes]] = defaultdict(set)
        self._told_with: dict[str, str] = {}
        beside: list[str] = []
        for failure in failures:
            name = failure.identity.partition("\n")[0]
            self._by_name[name].append(name)
            self._by_leaf[name.rpartition(SEPARATOR)[2]].append(name)
            # Tests that fail alike share one account, which stands with the last of them.
            beside.append(name)
            if failure.details:
                self._lines[name].update(bare(line.raw).strip() for line in failure.details)
                self._told_with.update(dict.fromkeys(beside, name))
                beside.clear()
        self._used: Counter[str] = Counter()

    def knows(self, result: ResultLine) -> bool:
        """Whether there is a failure of that name."""
        return bool(self._found(result))

    def tells(self, result: ResultLine, line: Line) -> bool:
        """Whether an account of the failure has that line too."""
        text = bare(line.raw).strip()
        found = self._found(result)
        return any(text in self._lines[name] or text in self._lines[self._told_with.get(name, name)] for name in found)

    def take(self, result: ResultLine) -> bool:
        """Whether there is a failure of that name; a run of failures with one name is found any number of times."""
        found = self._found(result)
        if found:
            self._used[found[0]] += 1
        return bool(found)

    def _found(self, result: ResultLine) -> list[str]:
        for text in result.names:
            for name in (text, f"{result.scope}{SEPARATOR}{text}"):
                if name in self._by_name:
                    return [name]
        for text in result.names:
            start, end = f"{result.scope}{SEPARATOR}", f"{SEPARATOR}{text}"
            candidates = self._by_leaf.get(text.rpartition(SEPARATOR)[2], [])
            found = [name for name in candidates if name.startswith(start) and name.endswith(end)]
            if found:
                return sorted(found, key=lambda name: self._used[name])
        return []


def without_project(name: str) -> str:
    """A test's name without the project that stands before it: `|unit| src/a.test.ts > adds`."""
    if name.startswith("|") and "| " in name:
        return name.partition("| ")[2]
    return name


def _failure(result: ResultLine) -> Failure:
    header, *rest = (*result.lines, *result.loose)
    return Failure(result.identity, header.as_kind(Kind.FAILED_TEST), tuple(rest))


def _results(parts: Sequence[_Part], index: _Index, missing: int | None) -> int:
    """Result lines: recaps of accounts, failures without one, or contested. `missing`: how many accounts lack."""
    unaccounted = 0
    for part in parts:
        for result in part.spread.results:
            if index.take(result):
                part.suppress(Kind.RECAP, result.lines)
                for line in result.loose:
                    if index.tells(result, line):
                        part.suppress(Kind.RECAP, [line])
                    else:
                        part.keep([line])
            elif missing is not None and unaccounted >= missing:
                part.contest((*result.lines, *result.loose))
            else:
                unaccounted += 1
                part.unaccounted[len(part.failures)] = result
                part.failures.append(_failure(result))
                part.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    return unaccounted


def _errors(parts: Sequence[_Part], bearer: _Part) -> None:
    """Errors outside of tests: as many accounts as the totals count."""
    told = sum(part.spread.outside for part in parts)
    counted = sum(part.spread.totals.errors for part in parts if part.spread.totals is not None)
    if told != counted and bearer.spread.totals is not None:
        bearer.doubts.add(Doubt.RECAP_CONTRADICTION)
    for part in parts:
        totals = part.spread.totals
        if totals is None or totals.errors_line is None:
            continue
        if totals.errors and not told:
            part.failures.append(Failure(ERRORS_OUTSIDE, totals.errors_line.as_kind(Kind.FAILED_TEST)))
            part.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        else:
            part.suppress(Kind.AGGREGATE_SOURCE, [totals.errors_line])


def _outputs(parts: Sequence[_Part], closed: bool, *, explained: bool) -> None:
    """Output of failing tests goes to their failures; of other tests it is the program's."""
    home: dict[str, tuple[_Part, int]] = {}
    by_ends: dict[tuple[str, str], tuple[_Part, int]] = {}
    for part in parts:
        for i, failure in enumerate(part.failures):
            home.setdefault(without_project(failure.identity.partition("\n")[0]), (part, i))
        for i, result in part.unaccounted.items():
            # Its line may leave out the suites between file and test.
            by_ends.setdefault((without_project(result.scope), result.names[0]), (part, i))
    for part in parts:
        last = part.spread.outputs[-1] if part.spread.outputs else None
        for output in part.spread.outputs:
            found = home.get(output.test) or by_ends.get(_ends(output.test))
            if found is not None:
                _attach(*found, output)
            elif closed or output is not last:
                part.suppress(Kind.PROGRAM_OUTPUT, output.lines)
                if closed and explained:
                    part.suppress(Kind.PROGRAM_OUTPUT, output.loose)
                else:
                    part.keep(output.loose)
            else:
                # What was printed last before the run broke off may say why.
                part.keep((*output.lines, *output.loose))
        if part.spread.outputs_lost and home:
            part.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)


def _ends(test: str) -> tuple[str, str]:
    """A test's file and its own name."""
    return test.partition(SEPARATOR)[0], test.rpartition(SEPARATOR)[2]


def _attach(part: _Part, at: int, output: Output) -> None:
    _add(part, at, (line.as_kind(Kind.FAILURE_DETAIL) for line in (*output.lines, *output.loose)))


def _add(part: _Part, at: int, lines: Iterable[Line]) -> None:
    """More lines for a failure: its own stream's first, each stream's in their order."""
    failure = part.failures[at]
    home = failure.header.stream if failure.header is not None else ""
    details = sorted((*failure.details, *lines), key=lambda line: (line.stream != home, line.stream, line.number))
    part.failures[at] = failure._replace(details=tuple(details))
