"""Settling the account of a pytest run: what was read of each failure, put together and held against the closing line.

A failure may be printed up to three times: as a result (a letter, or a named line with -v), as a section with its
traceback, and in the short summary. The section is the failure's region; the other prints name it and are
cross-checks. How they come together:

1. Sections and entries of the short summary stand in the same order, errors and failures each. A section's title is
   the node id behind its file, with dots between its parts, so an entry says whether it belongs to a section.
2. Where the short summary has exactly the failures that the closing line counts, a section that it does not have is
   text that a test printed: it goes back to the section before it.
3. With `--tb=line` the section has no titles: its parts end with a place each, in the order of the entries.
4. What only an entry, a named result or a letter says is a failure without a region; that line is its header.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects.pytest_grammar import Counts
from context_firewall.transcript.dialects.pytest_section import Section
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.pytest_traceback import MESSAGE, PLACE

# A section is looked for this far ahead in the short summary.
LOOK_AHEAD = 64


def detail_kind(text: bytes) -> Kind:
    """Kind of a line about a failure outside its section: a message, a place, or any other detail."""
    if MESSAGE.match(text):
        return Kind.FAILURE_MESSAGE
    if PLACE.match(text):
        return Kind.STACK_TRACE
    return classify_detail(text)


@dataclass(frozen=True, slots=True)
class Entry:
    """A failure in the short summary: what stands behind its word."""

    text: bytes
    line: Line
    error: bool
    description: bytes = b""
    subtest: bool = False
    more: list[Line] = field(default_factory=list)
    """Further lines: with -vv a message stands in full."""


@dataclass(slots=True)
class Named:
    """A failing result that -v printed with its name, and the live log before it."""

    id: bytes
    line: Line
    error: bool
    description: bytes = b""
    output: list[Line] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Lettered:
    """A progress line with letters of failures."""

    file: bytes
    count: int
    line: Line


@dataclass(slots=True)
class Tallied:
    """How many results of each kind were read: letters, and named lines."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    xfailed: int = 0
    xpassed: int = 0
    subtests_failed: int = 0

    def add(self, name: str, count: int) -> None:
        """So many more of the kind of that name."""
        if count:
            setattr(self, name, getattr(self, name) + count)

    @property
    def any(self) -> bool:
        return any((self.passed, self.failed, self.errors, self.skipped, self.xfailed, self.xpassed))


@dataclass(slots=True)
class Report:
    """Everything that was read of one run."""

    tallied: Tallied = field(default_factory=Tallied)
    sections: list[Section] = field(default_factory=list)
    sections_of: Counter[bool] = field(default_factory=Counter)
    """How many sections were read, by whether they are errors."""
    collecting: int = 0
    """How many of them are about collecting."""
    loose: list[Line] = field(default_factory=list)
    """Lines of the failures' part that stand in no section."""
    entries: list[Entry] = field(default_factory=list)
    entries_of: Counter[bool] = field(default_factory=Counter)
    named: list[Named] = field(default_factory=list)
    lettered: list[Lettered] = field(default_factory=list)
    noisy: bool = False
    """Lines of others stood among the results: letters may be glued to them."""
    collection_errors: int | None = None
    """As the head states them."""
    items: int = 0
    """How many tests the head announces; 0 if it does not."""
    stopped: bool = False
    """The reporter says that the run was stopped before its end."""

    def agrees(self, counts: Counts) -> bool:
        """Whether the closing line can be about what was read."""
        whole = self.stopped or not counts.ran or counts.total >= self.items
        return whole and self._results_agree(counts) and self._sections_agree(counts)

    def _results_agree(self, counts: Counts) -> bool:
        seen = self.tallied
        if self.noisy:
            return seen.passed <= counts.passed and seen.failed <= counts.failed and seen.errors <= counts.errors
        before = self.collection_errors if self.collection_errors is not None else self.collecting
        return (
            seen.passed == counts.passed
            and seen.xfailed == counts.xfailed
            and seen.xpassed == counts.xpassed
            and seen.skipped <= counts.skipped
            and seen.failed <= counts.failed
            and (seen.failed == counts.failed or self._subtests >= counts.failed - seen.failed)
            and seen.errors <= counts.errors <= seen.errors + max(before, self.collecting)
        )

    @property
    def _subtests(self) -> int:
        """At most how many failures may have no letter: failing subtests, whose letters are often captured."""
        stated = sum(1 for entry in self.entries if entry.subtest)
        titled = sum(1 for section in self.sections if not section.error and section.name.endswith((b")", b"]")))
        return max(stated, titled, self.tallied.subtests_failed)

    def _sections_agree(self, counts: Counts) -> bool:
        for error, stated in ((False, counts.failed), (True, counts.errors)):
            sections, entries = self.sections_of[error], self.entries_of[error]
            if entries not in (0, stated):
                return False
            if sections not in (0, stated) and not (entries == stated and sections > stated):
                return False
        return True


@dataclass(slots=True)
class Settlement:
    """What the account comes to."""

    suppressed: Account
    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)
    tally: Tally = Tally()


def settled(report: Report, counts: Counts | None, suppressed: Account) -> Settlement:
    """Put the failures together; `counts` are the closing line's, None if there is none."""
    settlement = Settlement(suppressed)
    for error in (True, False):
        _one_kind(report, counts, error, settlement)
    _from_results(report, counts, settlement)
    for section in report.sections:
        suppressed.add_lines(Kind.BLANK, section.blanks)
    if counts is None:
        settlement.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    elif not report.agrees(counts):
        settlement.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
    settlement.tally = _tally(report, counts, len(settlement.failures))
    return settlement


def _one_kind(report: Report, counts: Counts | None, error: bool, settlement: Settlement) -> None:
    """Errors, or failures: sections against entries."""
    entries = [entry for entry in report.entries if entry.error == error]
    sections = [section for section in report.sections if section.error == error]
    stated = None if counts is None else counts.errors if error else counts.failed
    pairs, spare = _paired(sections, entries)
    if entries and len(entries) == stated and len(sections) > stated:
        sections, pairs = _without_forged(sections, pairs)
        report.sections = [kept for kept in report.sections if kept.error != error] + sections
    for section, entry in zip(sections, pairs, strict=True):
        if entry is not None:
            settlement.suppressed.add(Kind.RECAP, entry.line.number)
            _once_more(section, entry, settlement)
        failure = Failure(identity(section, entry, report), section.header, tuple(section.details))
        settlement.failures.append(failure)
        if entries and entry is None:
            settlement.doubts.add(Doubt.RECAP_CONTRADICTION)
    if sections and spare:
        settlement.doubts.add(Doubt.RECAP_CONTRADICTION)
    parts = [] if error or sections else _parts(report.loose, spare)
    if report.loose and not error and not parts:
        settlement.unclassified += report.loose
        settlement.doubts.add(Doubt.RECAP_CONTRADICTION)
    for i, entry in enumerate(spare):
        header = entry.line.as_kind(Kind.FAILED_TEST)
        more = [line.as_kind(detail_kind(bare(line.raw))) for line in entry.more]
        details = [*(parts[i] if parts else ()), *more]
        settlement.failures.append(Failure(entry_identity(entry), header, tuple(details)))


def _once_more(section: Section, entry: Entry, settlement: Settlement) -> None:
    """The further lines of an entry repeat the section's message; any other line is somebody else's."""
    if not entry.more:
        return
    said = {bare(line.raw).removeprefix(b"E").strip() for line in section.details} | {b""}
    for line in entry.more:
        if bare(line.raw).strip() in said:
            settlement.suppressed.add(Kind.RECAP, line.number)
        else:
            settlement.unclassified.append(line)


def _paired(sections: Sequence[Section], entries: Sequence[Entry]) -> tuple[list[Entry | None], list[Entry]]:
    """Each section's entry, and the entries that no section has. Both stand in one order."""
    pairs: list[Entry | None] = []
    used = [False] * len(entries)
    first = 0
    for section in sections:
        while first < len(entries) and used[first]:
            first += 1
        ahead = range(first, min(len(entries), first + LOOK_AHEAD))
        at = next((i for i in ahead if not used[i] and belongs(section, entries[i])), None)
        if at is not None:
            used[at] = True
        pairs.append(None if at is None else entries[at])
    return pairs, [entry for entry, taken in zip(entries, used, strict=True) if not taken]


def _without_forged(
    sections: Sequence[Section], pairs: Sequence[Entry | None]
) -> tuple[list[Section], list[Entry | None]]:
    """Sections that the short summary has; each other goes back to the one before it."""
    kept: list[Section] = []
    entries: list[Entry | None] = []
    for section, entry in zip(sections, pairs, strict=True):
        if entry is None and kept:
            kept[-1].absorb(section)
        else:
            kept.append(section)
            entries.append(entry)
    return kept, entries


def _parts(loose: Sequence[Line], entries: Sequence[Entry]) -> list[list[Line]]:
    """The parts of a failures' section without titles, one an entry; empty if they do not come out even."""
    parts: list[list[Line]] = []
    part: list[Line] = []
    first = b""
    for line in loose:
        text = bare(line.raw)
        repeats = bool(part) and text == first[:50]
        if not part:
            first = text
        part.append(line.as_kind(detail_kind(text)))
        if repeats or (text and PLACE.match(text)):
            parts.append(part)
            part = []
    if part:
        parts.append(part)
    return parts if len(parts) == len(entries) else []


# -- identities -------------------------------------------------------------------------------------------------------


def belongs(section: Section, entry: Entry) -> bool:
    """Whether an entry is about a section."""
    if section.collecting:
        return entry.text == section.name or entry.text.startswith(section.name + b" - ")
    if section.node:
        return entry.text == section.node or entry.text.startswith(section.node + b" - ")
    return _node_id(section, entry) is not None


def _node_id(section: Section, entry: Entry) -> bytes | None:
    """The node id in an entry's text, if the section's title is its dotted form."""
    name = section.name.removeprefix(b"[doctest] ")
    if entry.subtest:
        described = b" " + entry.description.strip()
        if not name.endswith(described):
            return None
        name = name[: -len(described)]
    path, colons, rest = entry.text.partition(b"::")
    if not colons:
        return None
    length = _length(rest, name)
    if length is None:
        return None
    behind = rest[length:]
    return path + colons + rest[:length] if not behind or behind.startswith(b" - ") else None


def _length(rest: bytes, name: bytes) -> int | None:
    """How many bytes of `A::b[x] - message` are the title `A.b[x]`; None if it does not begin with it."""
    if rest.startswith(name):
        return len(name)
    at = 0
    parts = name.split(b".")
    for i, part in enumerate(parts):
        if not rest.startswith(part, at):
            return None
        at += len(part)
        if i + 1 < len(parts):
            step = 2 if rest.startswith(b"::", at) else 1 if rest.startswith(b".", at) else 0
            if not step:
                return None
            at += step
    return at


def entry_identity(entry: Entry) -> str:
    """The node id of an entry that no section names: its text up to the message."""
    text, dash, _ = entry.text.partition(b" - ")
    if dash and b"[" in text and b"]" not in text:
        # The dash stands in a parameter: the name ends at the bracket that closes it.
        end = entry.text.find(b"] - ")
        text = entry.text[: end + 1] if end >= 0 else entry.text
    if entry.subtest and entry.description:
        text += b" " + entry.description.strip()
    return decoded(text)


def identity(section: Section, entry: Entry | None, report: Report) -> str:
    """The node id of a section, as far as it can be known."""
    if section.collecting:
        return decoded(section.name)
    if section.node:
        return decoded(section.node)
    if entry is not None:
        node = _node_id(section, entry)
        if node is not None:
            more = b" " + entry.description.strip() if entry.subtest and entry.description else b""
            return decoded(node + more)
    for named in report.named:
        if named.error == section.error and _length(named.id.partition(b"::")[2], section.name) == len(
            named.id.partition(b"::")[2]
        ):
            return decoded(named.id)
    if section.traceback.place and not section.name.startswith(b"["):
        title, bracket, parameters = section.name.partition(b"[")
        return decoded(section.traceback.place + b"::" + title.replace(b".", b"::") + bracket + parameters)
    return decoded(section.name)


# -- results without regions ------------------------------------------------------------------------------------------


def _from_results(report: Report, counts: Counts | None, settlement: Settlement) -> None:
    """Failing results that nothing else tells of: failures, or contested where the closing line denies them."""
    known = Counter(failure.identity for failure in settlement.failures)
    stated = None if counts is None else counts.failed + counts.errors
    by_identity: dict[str, int] = defaultdict(int)
    for i, failure in enumerate(settlement.failures):
        by_identity.setdefault(failure.identity, i)
    for named in report.named:
        name = decoded(named.id)
        full = f"{name} {decoded(named.description)}" if named.description else name
        found = full if known[full] else name
        if known[found]:
            known[found] -= 1
            settlement.suppressed.add(Kind.RECAP, named.line.number)
            if named.output:
                _prepend(settlement.failures, by_identity[found], named.output)
        elif stated is not None and len(settlement.failures) >= stated:
            settlement.unclassified += (line.as_kind(Kind.UNCLASSIFIED) for line in named.output)
            settlement.unclassified.append(named.line.as_kind(Kind.CONTESTED_TEST))
            settlement.doubts.add(Doubt.CONTESTED_RESULTS)
        else:
            details = tuple(line.as_kind(Kind.FAILURE_DETAIL) for line in named.output)
            settlement.failures.append(Failure(full, named.line.as_kind(Kind.FAILED_TEST), details))
    if not report.lettered:
        return
    if settlement.failures:
        settlement.suppressed.add_lines(Kind.PROGRESS, (lettered.line for lettered in report.lettered))
    elif stated == 0:
        settlement.unclassified += (lettered.line.as_kind(Kind.CONTESTED_TEST) for lettered in report.lettered)
        settlement.doubts.add(Doubt.CONTESTED_RESULTS)
    else:
        settlement.doubts.add(Doubt.FAILURES_UNNAMED)
        for lettered in report.lettered:
            tests = "test" if lettered.count == 1 else "tests"
            name = f"{decoded(lettered.file)}: " if lettered.file else ""
            identity_ = f"{name}{lettered.count} failing {tests}, not named"
            settlement.failures.append(Failure(identity_, lettered.line.as_kind(Kind.FAILED_TEST)))


def _prepend(failures: list[Failure], at: int, output: Sequence[Line]) -> None:
    failure = failures[at]
    lines = tuple(line.as_kind(Kind.FAILURE_DETAIL) for line in output)
    failures[at] = Failure(failure.identity, failure.header, (*lines, *failure.details))


def _tally(report: Report, counts: Counts | None, failures: int) -> Tally:
    """As the closing line counts, else as read. Expected failures and their unexpected passes are still to do."""
    if counts is not None:
        todo = counts.xfailed + counts.xpassed
        return Tally(counts.passed, counts.failed + counts.errors, counts.skipped, todo, counts.total)
    seen = report.tallied
    failed = max(seen.failed + seen.errors + seen.subtests_failed, failures)
    todo = seen.xfailed + seen.xpassed
    return Tally(seen.passed, failed, seen.skipped, todo, seen.passed + failed + seen.skipped + todo)
