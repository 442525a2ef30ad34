"""The classic reporter of tap-mocha-reporter: node-tap's own up to 16 (`tap -R classic`), or at the end of a pipe.

The room's rules:

- A file has one line with its counts, drawn to a fixed width. Below it, two blanks in, stand its failures, what is to
  do, and what was skipped; all that they say stands four blanks in at least. Nothing that a test prints gets here.
- A last such line by the name of `total` and the epilogue below it close the report. Each is the sum of all files', and
  of each file the failures, those to do and those skipped are as many as its counts leave over.
- Of TAP without files, as tape's, there is nothing but the totals: what failed has no name.
- So a line that is lost from a list is missed, and a line of another's is not one of these.
- On a terminal a file's line is drawn over dots: what counts stands behind the last move to the line's beginning.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect

NAME = "tap-classic"

# "test/oven.js ...................................... 3/7 805ms": passed and all; the time only of what is slow.
HEADING = re.compile(
    rb"(?P<body>(?P<title>[^\n]+?) (?P<dots>\.{2,}+) (?P<passed>[0-9]{1,9}+)/(?P<all>[0-9]{1,9}+))"
    rb"(?: [0-9.]++[a-z]++)?+"
)
_WIDTH = 59
_FEWEST = 2
TOTAL = b"total"
REDRAWN = b"\x1b[0G"

# "  not ok browns", above it, if there are any, the tests around it: "  crust > edges".
FAILED = re.compile(rb"  not ok (?P<name>[^\n]*+)")
PARENTS = re.compile(rb"  (?P<name>[^ \n~][^\n]*+)")
# "  ~ proofs overnight - one day", its details six blanks in.
TODO = re.compile(rb"  ~ [^\n]*+")
# "  Skipped: 2", then the names of those that no filter has left out.
SKIPPED = re.compile(rb"  Skipped: (?P<count>[0-9]{1,9}+)")
INSIDE = b"    "
BAILOUT = re.compile(rb"Bail out![^\n]*+")
_TIME = rb" \([0-9.]++[a-z]++\)"
EPILOGUE = (
    ("passing", re.compile(rb"  ([0-9]{1,9}+) passing" + _TIME)),
    ("pending", re.compile(rb"  ([0-9]{1,9}+) pending")),
    ("failing", re.compile(rb"  ([0-9]{1,9}+) failing")),
)
OK = b"  ok"
_FLAT = (("passing", "passed"), ("failing", "failed"), ("pending", "skipped"))
"""What the epilogue counts as what, where no file has a line."""

# Runs of files, each with whom it skipped. A title has no blanks. A name has no slash, so it is no file's line.
_N = rb"[0-9]{1,9}+"
_LINE_END = rb"(?: [0-9.]++[a-z]++)?+\n"
LANE = re.compile(
    # As wide as it has to be, or for the title alone wider than that with the fewest dots.
    rb"(?:(?:(?=[ -~]{58}[0-9]%b)|(?=[!-~]{53,}+ \.\. ))(?!total )[!-~]++ \.{2,}+ %b/%b%b"
    rb"(?:  Skipped: %b\n(?:    [^\s/\x1b][^\n/\x1b]*+\n)*+)?+\n*+)++" % (_LINE_END, _N, _N, _LINE_END, _N)
)
COUNTS = re.compile(rb" (%b)/(%b)%b(?:  Skipped: (%b)\n((?:    [^\n]++\n)*+))?+" % (_N, _N, _LINE_END, _N))
"""What such a file counts, how many it skipped, and their names."""

_ASSERTION = re.compile(rb" {4}(?:[-+@]|(?:found|wanted|compare|pattern): )[^\n]*+")


@dataclass(slots=True)
class _File:
    """What one file's line counts, and what is told of it."""

    title: bytes
    passed: int
    total: int
    told: int = 0
    """Failures, those to do, those skipped."""
    names: int = 0
    """Of skipped tests that are named."""
    skipped: int = 0

    @property
    def agrees(self) -> bool:
        """Whether as many are told of as are counted."""
        return self.passed + self.told == self.total and self.names <= self.skipped


@dataclass(slots=True)
class _Failed:
    parents: Line | None
    header: Line
    identity: str
    details: list[Line] = field(default_factory=list)


class TapClassic(Bookkeeper):
    """Reads one report."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._file: _File | None = None
        self._agree = True
        """Each file that is over told of as many as it counted."""
        self._counts: Counter[str] = Counter()
        self._any_file = False
        self._total: _File | None = None
        self._epilogue: dict[str, int] = {}
        self._ends: list[Line] = []
        """The lines since the last that is a file's."""
        self._parents: Line | None = None
        self._failed: list[_Failed] = []
        self._open: list[Line] | None = None
        """Where the next details go; those of what is to do go nowhere."""
        self._skips = False
        self._blanks: list[Line] = []
        self._todo: list[Line] = []
        self._fatal: list[Line] = []
        self._unclassified: list[Line] = []

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Files that tell of none but whom they skipped. Below a total there are none, as that may be a file's."""
        return LANE if self._total is None else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count files. The last stays open, so its lines are read as such; its counts have the last slash."""
        last = max(start, block.rfind(b"\n", start, block.rfind(b"/", start, stop)) + 1)
        if last > start:
            self._count(block, start, last)
        over = block.count(b"\n", start, last)
        lines = block[last : stop - 1].split(b"\n")
        for at, raw in enumerate(lines, number + over):
            self.line(raw, raw, at)
        return over + len(lines)

    def cut(self) -> None:
        """Totals must agree, each with its newline or without."""

    @property
    def complete(self) -> bool:
        """Totals and epilogue have been read, and everything agrees."""
        return self._total is not None and "passing" in self._epilogue and self._agrees

    @property
    def _agrees(self) -> bool:
        total, counts = self._total, self._counts
        if total is not None and not self._any_file:
            return (total.passed, total.total) == (self._epilogue.get("passing"), sum(self._epilogue.values()))
        return (
            total is not None
            and self._agree
            and (total.passed, total.total) == (counts["passed"], counts["total"])
            and self._epilogue.get("passing", 0) == counts["passed"]
            and self._epilogue.get("pending", 0) == counts["pending"]
            and self._epilogue.get("failing", 0) == counts["failed"]
        )

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if REDRAWN in raw:
            bare = bared(raw.rpartition(REDRAWN)[2])
        if not bare.strip():
            self._blanks.append(line)
            return True
        file = _heading(bare)
        if self._total is not None and self._in_epilogue(bare, line):
            return True
        if self.complete:
            return False
        if file is not None:
            self._begins(file, line)
        elif not self._told(bare, line):
            self._unclassified.append(line)
            return False
        return True

    # -- files

    def _begins(self, file: _File, line: Line) -> None:
        if self._total is not None:
            # That was a file by the name of total, or the run goes on.
            self._counts["passed"] += self._total.passed
            self._counts["total"] += self._total.total
            self._agree &= self._total.agrees and not self._epilogue
            self._epilogue.clear()
        self._over()
        if file.title == TOTAL:
            self._total, self._file = file, None
        else:
            self._total, self._file = None, file
            self._any_file = True
            self._counts["passed"] += file.passed
            self._counts["total"] += file.total
        self._suppressed.add_lines(Kind.AGGREGATE_SOURCE, self._ends)
        self._ends = [line]

    def _count(self, block: bytes, start: int, stop: int) -> None:
        """Count whole files, and check each. What was open before them is closed with the next."""
        passed = total = skipped = names = stated = 0
        # Many say the same, so each saying is looked at once.
        for said, files in Counter(COUNTS.findall(block, start, stop)).items():
            passes, tests, skips, named = int(said[0]), int(said[1]), int(said[2] or 0), said[3].count(b"\n")
            self._agree &= passes + skips == tests and named <= skips
            passed += files * passes
            total += files * tests
            skipped += files * skips
            names += files * named
            stated += files * (2 if said[2] else 1)
        self._counts.update(passed=passed, total=total, skipped=skipped, pending=skipped)
        self._suppressed.add_many(Kind.AGGREGATE_SOURCE, stated)
        self._suppressed.add_many(Kind.SKIPPED_TEST, names)
        self._suppressed.add_many(Kind.BLANK, block.count(b"\n", start, stop) - stated - names)

    def _over(self) -> None:
        """Nothing more is told of the file."""
        self._close()
        if self._file is not None:
            self._agree &= self._file.agrees

    def _close(self) -> None:
        """Nothing more belongs to what is open."""
        self._open, self._skips = None, False
        self._suppressed.add_lines(Kind.BLANK, self._blanks)
        self._blanks = []
        if self._parents is not None:
            self._unclassified.append(self._parents)
            self._parents = None

    def _told(self, bare: bytes, line: Line) -> bool:
        """A line below a file's."""
        if BAILOUT.fullmatch(bare):
            self._close()
            self._fatal.append(line.as_kind(Kind.FATAL_ERROR))
            return True
        file = self._file
        if file is None:
            return False
        if bare.startswith(INSIDE):
            return self._inside(file, line)
        if (failed := FAILED.fullmatch(bare)) is not None:
            self._fails(file, failed["name"], line)
        elif TODO.fullmatch(bare):
            self._close()
            self._todo.append(line.as_kind(Kind.TODO_TEST))
            self._counts["todo"] += 1
            self._pends(file, 1)
            self._open = []
        elif (skipped := SKIPPED.fullmatch(bare)) is not None:
            self._close()
            file.skipped = int(skipped["count"])
            self._counts["skipped"] += file.skipped
            self._pends(file, file.skipped)
            self._suppressed.add(Kind.AGGREGATE_SOURCE, line.number)
            self._skips = True
        elif PARENTS.fullmatch(bare):
            self._close()
            self._parents = line
        else:
            return False
        return True

    def _pends(self, file: _File, count: int) -> None:
        file.told += count
        self._counts["pending"] += count

    def _fails(self, file: _File, name: bytes, line: Line) -> None:
        parents, self._parents = self._parents, None
        self._close()
        above = bared(parents.raw).strip() if parents is not None else b""
        identity = " > ".join(decoded(part) for part in (file.title, above, name) if part)
        self._failed.append(_Failed(parents, line, identity))
        self._open = self._failed[-1].details
        self._counts["failed"] += 1
        file.told += 1

    def _inside(self, file: _File, line: Line) -> bool:
        """A line of what is open: a failure, something to do, names that were skipped."""
        if self._skips:
            file.names += 1
            self._suppressed.add(Kind.SKIPPED_TEST, line.number)
            return True
        if self._open is None:
            return False
        if self._failed and self._open is self._failed[-1].details:
            self._open += (blank.as_kind(Kind.FAILURE_CONTEXT) for blank in self._blanks)
            self._open.append(line)
        else:
            self._suppressed.add_lines(Kind.BLANK, self._blanks)
            self._suppressed.add(Kind.TEST_DETAIL, line.number)
        self._blanks = []
        return True

    # -- the end

    def _in_epilogue(self, bare: bytes, line: Line) -> bool:
        for name, rule in EPILOGUE:
            found = rule.fullmatch(bare)
            if found is not None and name not in self._epilogue and (name == "passing" or "passing" in self._epilogue):
                self._epilogue[name] = int(found[1])
                self._ends.append(line)
                return True
        if bare == OK and self.complete:
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        return False

    def close(self, exit_code: int | None) -> Reading:
        """Settle files, totals and epilogue."""
        self._over()
        counts, total = self._counts, self._total
        doubts: set[Doubt] = set()
        ended = total is not None and "passing" in self._epilogue
        if total is not None and not self._any_file:
            told = {name: self._epilogue.get(word, 0) for word, name in _FLAT}
            counts.update(told, total=total.total)
            if told["failed"]:
                doubts.add(Doubt.FAILURES_UNNAMED)
            if told["skipped"]:
                doubts.add(Doubt.COUNTS_UNCONFIRMED)  # or to do
        if not ended:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        elif not self._agrees:
            doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if not counts["total"]:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        if self._unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        self._suppressed.add_lines(Kind.AGGREGATE_SOURCE, self._ends)
        four = (counts["passed"], counts["failed"], counts["skipped"], counts["todo"])
        return Reading(
            tally=Tally(*four, counts["total"]),
            failures=tuple(map(_failure, self._failed)),
            fatal_errors=tuple(self._fatal),
            unclassified=tuple(sorted(self._unclassified, key=lambda line: line.number)),
            todo=tuple(self._todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(counts["total"] or self._failed),
            standing=0 if not ended else 3 if self._agrees and not self._unclassified else 1,
        )


def _heading(bare: bytes) -> _File | None:
    """A file's line, or the totals'. Its dots fill it to a fixed width, two of them at least."""
    if not bare[-1:].isalnum() or b" .." not in bare:
        return None
    found = HEADING.fullmatch(bare)
    if found is None:
        return None
    width, dots = len(found["body"]), len(found["dots"])
    # Other letters than ASCII's may be of any width.
    fits = width == _WIDTH or (dots == _FEWEST and width > _WIDTH) or not found["title"].isascii()
    return _File(found["title"], int(found["passed"]), int(found["all"])) if fits else None


def _failure(failed: _Failed) -> Failure:
    details = [failed.header.as_kind(Kind.FAILURE_DETAIL)] if failed.parents is not None else []
    for line in failed.details:
        if line.kind is Kind.FAILURE_CONTEXT:
            details.append(line)
        else:
            text = bared(line.raw)
            details.append(line.as_kind(Kind.ASSERTION if _ASSERTION.fullmatch(text) else classify_detail(text)))
    header = failed.parents if failed.parents is not None else failed.header
    return Failure(failed.identity, header.as_kind(Kind.FAILED_TEST), tuple(details))


DIALECT = Dialect(
    name=NAME,
    title="tap-mocha-reporter, classic",
    checked="tap 16.3, tape 5.10 piped to tap-mocha-reporter 5.0",
    streams=frozenset({"stdout"}),
    # A file's line, or the totals': sixty columns but one.
    opening=re.compile(rb"(?=[ -~]{59}(?: [0-9.]++[a-z]++)?+\Z)[^\n]+? \.{3,}+ [0-9]++/[0-9]++(?: |\Z)"),
    begin=TapClassic,
    adopts_text=True,
)
