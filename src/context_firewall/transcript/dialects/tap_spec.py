"""tap-spec: what `tape … | tap-spec` prints, TAP drawn as a list of tests and their assertions.

The room's rules:

- Everything stands two blanks in; only the empty lines between the parts have none. A line of a failure's region has
  two blanks even if it is empty, so nothing that a test says can look like an empty line.
- A test's title stands between empty lines. Below it stand its assertions, and whatever lines of the TAP were none:
  they may look like an assertion. So the totals at the end count, and the list of failed assertions above them names.
- A failure whose TAP said nothing about it has no account; only the list has it.
- The totals, in their block below an empty line, end a run.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.printed import Printed

NAME = "tap-spec"

# `  title`
TITLE = re.compile(rb"  (?P<name>[^ \n][^\n]*+)")
# `    ✔ name`, `    ✖ name`, `    - name`; on Windows √ and ×. TAP's directive is part of the name, but for a skip's.
RESULT = re.compile(
    rb"    (?:(?P<passed>\xe2\x9c\x94|\xe2\x88\x9a)|(?P<failed>\xe2\x9c\x96|\xc3\x97)|-) (?P<name>[^\n]*+)"
)
DIRECTIVE = re.compile(rb" # (?i:(?P<todo>todo)|skip)(?![^ \n])")
# Below a failed assertion: a dash for each character of its line, and one more; then its account.
RULER = re.compile(rb"    -{3,}+")
# Any other line of the TAP.
TEXT = b"    "
# `  Failed Tests: There were 3 failures`, then for each test its title and the names of what failed.
HEADING = re.compile(rb"  Failed Tests: There (?:was|were) (?P<count>[0-9]{1,9}+) failures?")
LISTED_TITLE = re.compile(rb"    (?P<name>[^ \n][^\n]*+)")
LISTED = re.compile(rb"      (?:\xe2\x9c\x96|\xc3\x97) (?P<name>[^\n]*+)")
# The totals; the third only if something failed.
TOTALS = (
    ("total", re.compile(rb"  total:     ([0-9]{1,9}+)")),
    ("passing", re.compile(rb"  passing:   ([0-9]{1,9}+)")),
    ("failing", re.compile(rb"  failing:   ([0-9]{1,9}+)")),
    ("duration", re.compile(rb"  duration:  [0-9.]++(?:ms|[smhdy])(?: [0-9.]++(?:ms|[smhdy]))*+")),
)
# What ends mocha's report stands where a title may.
MOCHAS_END = re.compile(rb"  [0-9]++ passing \(")
# Between a title and the first assertion no more lines than this are looked through.
NEAR = 100


@dataclass(slots=True)
class _Failed:
    """A failed assertion with its account."""

    title: bytes
    name: bytes
    header: Line
    ruler: Line | None = None
    details: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class _List:
    """The failed assertions, once more."""

    heading: Line
    count: int
    title: bytes = b""
    lines: list[Line] = field(default_factory=list)
    """Titles."""
    entries: list[tuple[bytes, bytes, Line]] = field(default_factory=list)
    """Title, name and line of each."""


class TapSpec(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._title = b""
        self._waiting: Line | None = None
        """A line that is a title if an empty one follows."""
        self._open: _Failed | None = None
        self._failed: list[_Failed] = []
        self._passed = self._skipped = 0
        self._todo: list[Line] = []
        self._list: _List | None = None
        self._totals: dict[str, int] = {}
        self._block: list[Line] = []
        """The lines of the totals, as far as they have come."""
        self._over = False
        self._empty = True
        """The line above is empty."""
        self._printed = Printed()
        self._unclassified: list[Line] = []

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passed assertions of one test."""
        free = not (self._empty or self._waiting or self._open or self._list or self._block or self._over)
        return _LANE if free else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed assertions."""
        count = block.count(b"\n", start, stop)
        self._passed += count
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, count)
        return count

    def cut(self) -> None:
        """The last total has a unit, and empty lines follow it."""

    @property
    def complete(self) -> bool:
        """The totals have been read, and agree with all above them."""
        return self._over and not self._contradictions()

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take titles and text that stand before the first assertion."""
        title = TITLE.fullmatch(bare)
        if title is not None:
            self._entitle(line)
        elif bare.startswith(TEXT):
            self._body(bare, line)
        else:
            return False
        return True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._over and bare.strip():
            if self.complete:
                return False
            self._go_on()
        if not bare:
            self._suppressed.add(Kind.BLANK, number)
            self._part()
            return True
        above, self._empty = self._empty, False
        if self._open is not None:
            return self._account(self._open, bare, line)
        if self._block or self._waiting is not None:
            if self._sum_up(bare, line):
                return True
            self._text()
        if above and TITLE.fullmatch(bare) and not MOCHAS_END.match(bare):
            self._waiting = line
            return True
        return self._body(bare, line, apart=above)

    # -- parts

    def _part(self) -> None:
        """An empty line ends what is open."""
        self._empty = True
        self._open = None
        if self._block and not self._over:
            self._text()
        if self._waiting is not None:
            held, self._waiting = self._waiting, None
            self._entitle(held)

    def _entitle(self, line: Line) -> None:
        """A line is a title: of a test, or of the list of what failed."""
        self._unlist()
        text = bare(line.raw)
        heading = HEADING.fullmatch(text)
        if heading is not None:
            self._list = _List(line, int(heading["count"]))
            return
        self._title = text[2:]
        self._suppressed.add(Kind.STRUCTURE, line.number)

    def _account(self, failed: _Failed, bare: bytes, line: Line) -> bool:
        """A line below a failed assertion: the ruler, then the account."""
        if failed.ruler is None and RULER.fullmatch(bare):
            failed.ruler = line
            return True
        if failed.ruler is not None and bare.startswith(b"  "):
            failed.details.append(line)
            return True
        self._open = None
        return self._body(bare, line)

    def _body(self, bare: bytes, line: Line, *, apart: bool = False) -> bool:
        """An assertion, or another line of the TAP."""
        if self._list is not None and self._listed(self._list, bare, line, apart=apart):
            return True
        self._unlist()
        result = RESULT.fullmatch(bare)
        if result is not None and result["failed"] is not None and apart:
            self._open = _Failed(self._title, result["name"], line)
            self._failed.append(self._open)
            return True
        if result is not None and result["failed"] is None:
            self._result(result, line)
            return True
        if bare.startswith(TEXT):
            self._printed.take(bare, line)
            return True
        self._unclassified.append(line)
        return False

    def _result(self, result: "re.Match[bytes]", line: Line) -> None:
        directive = DIRECTIVE.search(result["name"])
        if result["passed"] is None or (directive is not None and directive["todo"] is None):
            self._skipped += 1
            self._suppressed.add(Kind.SKIPPED_TEST, line.number)
        elif directive is not None:
            self._todo.append(line.as_kind(Kind.TODO_TEST))
        else:
            self._passed += 1
            self._suppressed.add(Kind.SUCCESSFUL_TEST, line.number)

    # -- the list

    def _listed(self, known: _List, bare: bytes, line: Line, *, apart: bool) -> bool:
        """Whether a line belongs to the list of what failed."""
        entry = LISTED.fullmatch(bare)
        if entry is not None and known.title:
            known.entries.append((known.title, entry["name"], line))
            return True
        title = LISTED_TITLE.fullmatch(bare)
        if title is not None and apart:
            known.title = title["name"]
            known.lines.append(line)
            return True
        return False

    def _unlist(self) -> None:
        """What looked like the list is text: more follows."""
        known, self._list = self._list, None
        if known is not None:
            for line in (known.heading, *known.lines, *(entry[2] for entry in known.entries)):
                self._printed.take(bare(line.raw), line)

    # -- the totals

    def _sum_up(self, text: bytes, line: Line) -> bool:
        """Whether a line goes on with the totals; the first of them has waited like a title."""
        if self._waiting is not None:
            first = TOTALS[0][1].fullmatch(bare(self._waiting.raw))
            if first is None:
                return False
            self._totals, self._block, self._waiting = {"total": int(first[1])}, [self._waiting], None
        for key, pattern in TOTALS[len(self._block) :]:
            found = pattern.fullmatch(text)
            if found is not None:
                self._totals[key] = int(found[1]) if pattern.groups else 0
                self._block.append(line)
                self._over = key == "duration"
                return True
            if key != "failing":
                break
        return False

    def _text(self) -> None:
        """What waited, or began like the totals, is neither."""
        for line in (*self._block, *([self._waiting] if self._waiting is not None else [])):
            self._unclassified.append(line)
        self._block, self._totals, self._waiting = [], {}, None

    def _go_on(self) -> None:
        """More follows totals that do not agree."""
        self._over = False
        self._text()

    def _contradictions(self) -> set[Doubt]:
        totals = self._totals
        found = set()
        failing = totals.get("failing", 0)
        listed = [] if self._list is None else [entry[:2] for entry in self._list.entries]
        announced = 0 if self._list is None else self._list.count
        if (self._passed + self._skipped + len(self._todo), totals["total"]) != (
            totals["passing"],
            totals["passing"] + failing,
        ):
            found.add(Doubt.AGGREGATE_CONTRADICTION)
        told = Counter((failed.title, failed.name) for failed in self._failed)
        if not (len(listed) == announced == failing) or told - Counter(listed):
            found.add(Doubt.RECAP_CONTRADICTION)
        return found

    # -- the account of the run

    def close(self, exit_code: int | None) -> Reading:
        """Settle assertions, list and totals."""
        if not self._over:
            self._text()
        doubts = self._contradictions() if self._over else {Doubt.COMPLETENESS_UNCONFIRMED}
        failures = [self._failure(failed) for failed in self._failed]
        failures += self._only_listed()
        failed = max(len(failures), self._totals.get("failing", 0))
        if failed > len(failures):
            doubts.add(Doubt.FAILURES_UNNAMED)
        passed, skipped, todo = self._passed, self._skipped, len(self._todo)
        total = passed + failed + skipped + todo
        if not total:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        for line in self._block:
            kind = Kind.DURATION_SOURCE if line is self._block[-1] else Kind.AGGREGATE_SOURCE
            self._suppressed.add(kind, line.number)
        kept = self._printed.settled(self._suppressed, proven=not doubts, failed=bool(failures or exit_code))
        unclassified = sorted((*self._unclassified, *kept), key=lambda line: line.number)
        if any(line.kind is Kind.UNCLASSIFIED for line in unclassified):
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=Tally(passed, failed, skipped, todo, total),
            failures=tuple(failures),
            fatal_errors=self._printed.of_kind(Kind.FATAL_ERROR),
            timeouts=self._printed.of_kind(Kind.TIMEOUT),
            warnings=self._printed.of_kind(Kind.ABNORMAL_WARNING),
            unclassified=tuple(unclassified),
            todo=tuple(self._todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(total),
            standing=0 if not self._over else 1 if doubts else STANDS,
            current_test=decoded(self._title) if not self._over else "",
        )

    def _failure(self, failed: _Failed) -> Failure:
        if failed.ruler is not None:
            self._suppressed.add(Kind.STRUCTURE, failed.ruler.number)
        details = (line.as_kind(classify_detail(bare(line.raw))) for line in failed.details)
        return Failure(_identity(failed.title, failed.name), failed.header.as_kind(Kind.FAILED_TEST), tuple(details))

    def _only_listed(self) -> list[Failure]:
        """What the list has and no account; the rest of it is a second print."""
        known = self._list
        if known is None:
            return []
        told = Counter((failed.title, failed.name) for failed in self._failed)
        found = []
        for title, name, line in known.entries:
            if told[title, name]:
                told[title, name] -= 1
                self._suppressed.add(Kind.RECAP, line.number)
            else:
                found.append(Failure(_identity(title, name), line.as_kind(Kind.FAILED_TEST)))
        self._suppressed.add_lines(Kind.STRUCTURE, (known.heading, *known.lines))
        return found


_LANE = re.compile(rb"(?:    \xe2\x9c\x94 [^#\n\r\x1b]++\n)++")


def _identity(title: bytes, name: bytes) -> str:
    return decoded(b" > ".join(part for part in (title, name) if part))


def _below_a_title(opening: Line, above: Sequence[Line], since: int) -> bool:
    """Whether a title stands above a line, with an empty line below it and nothing but text of the TAP between."""
    number = opening.number
    for line in reversed(above[-NEAR:]):
        text = bare(line.raw)
        if not text.startswith(TEXT):
            return TITLE.fullmatch(text) is not None and line.number + 1 < number
        if line.number + 1 != number:
            return False
        number = line.number
    return False


DIALECT = Dialect(
    name=NAME,
    title="tap-spec",
    checked="tape 5.10 piped to tap-spec 5.0",
    streams=frozenset({"stdout"}),
    opening=re.compile(rb"    (?:\xe2\x9c\x94|\xe2\x88\x9a|\xe2\x9c\x96|\xc3\x97) |  total:     [0-9]++\Z"),
    begin=TapSpec,
    below=_below_a_title,
)
