"""One file of prove's: its line, with -v the TAP that it printed, its outcome.

prove counts the points at column 0, whatever the plan says, and tells in its summary what it makes of the rest. So
here points are counted as prove does, and subtests are read for the names of the tests that failed in them.
"""

import re
from collections import deque
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import prove_grammar as grammar
from context_firewall.transcript.dialects import tap_grammar as tap
from context_firewall.transcript.dialects.test_more_diagnostics import HELD, Diagnostics, Family, Node
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line

LAST_WORDS = 200
"""How many lines of a file are held behind its last point, in case the file fails."""
PASSED, FAILED, SKIPPED = b"ok", b"failed", b"skipped"


@dataclass(slots=True)
class Points:
    """The points of one file, or of all."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    todo: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.skipped + self.todo


@dataclass(slots=True)
class Section:
    """What is read of one file."""

    name: bytes
    header: Line
    suppressed: Account
    outcome: bytes = b""
    results: list[Line] = field(default_factory=list)
    """The lines of a failing outcome."""
    reported: tuple[int, int] | None = None
    """Skipped and okay tests that a failing outcome counts."""
    verbose: bool = False
    """Its TAP is shown."""
    points: Points = field(default_factory=Points)
    failing: list[Node] = field(default_factory=list)
    """Failing points."""
    blocks: list[Node] = field(default_factory=list)
    """What Test::More says about failing tests, where it stands in the same stream."""
    notes: list[Line] = field(default_factory=list)
    todo: list[Line] = field(default_factory=list)
    contested: list[Line] = field(default_factory=list)
    """Subtests that failed below a point that passed."""
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    _family: Family = field(default_factory=Family)
    _open: Node | None = None
    _nested: bool = False
    """A subtest has been announced."""
    words: deque[Line] = field(default_factory=deque)
    """The last lines that are of no test."""

    # -- TAP

    @property
    def quiet(self) -> bool:
        """Whether nothing is open that another line may belong to."""
        return self.verbose and not self.outcome and self._open is None

    def run(self, count: int) -> None:
        """Passed points."""
        self.points.passed += count
        self._mute()
        self._drop_children()
        self.diagnostics.pause()
        self.suppressed.add_many(Kind.SUCCESSFUL_TEST, count)

    def body(self, bare: bytes, line: Line) -> bool:
        """A line of the file; False if nothing says that the file printed it."""
        taken = self.diagnostics.take(bare, line)
        if taken is HELD:
            return True
        if taken is not None and taken.kind is not None:
            self.suppressed.add(taken.kind, line.number)
            return True
        text = bare.lstrip(b" ")
        indent = len(bare) - len(text)
        point = tap.POINT.fullmatch(text)
        if point is not None and (not indent or self.verbose or self._nested):
            self.verbose = True
            self._point(point, indent, line)
            return True
        if tap.PLAN.fullmatch(text) or (not indent and tap.VERSION.fullmatch(text)):
            self.verbose = self.verbose or not indent
            self._over(indent)
            self.suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if tap.SUBTEST.fullmatch(text):
            # --comments shows it without the points.
            self._nested = True
            self._over(indent)
            self.suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if self._open is not None:
            self._open.lines.append(line)
            return True
        if not self.verbose:
            return False
        self.words.append(line)
        if len(self.words) > LAST_WORDS:
            self.suppressed.add_lines(Kind.PROGRAM_OUTPUT, [self.words.popleft()])
        return True

    def _point(self, rule: re.Match[bytes], indent: int, line: Line) -> None:
        refusal, number, rest = rule.groups()
        ok = refusal is None
        description = tap.described(rest or b"", ok=ok)
        self._over(indent)
        if description.directive == "todo" or (ok and description.directive):
            self._excused(description.directive, indent, line)
        elif ok:
            self.points.passed += not indent
            if not indent:
                self._drop_children()
            self.suppressed.add(Kind.SUCCESSFUL_TEST, line.number)
        else:
            self.points.failed += not indent
            node = Node(indent, description.name or b"(unnamed test)", [line], key=description.name)
            node.number = int(number[-18:]) if number else self.points.total
            self._open = node
            if self._family.add(node):
                self.failing.append(node)
        if not indent:
            self._mute()

    def _excused(self, directive: str, indent: int, line: Line) -> None:
        """A skipped or unfinished test; what failed in it is excused with it."""
        if indent:
            self.suppressed.add(Kind.TEST_DETAIL, line.number)
            return
        for child in self._family.orphans():
            self.suppressed.add_lines(Kind.TEST_DETAIL, child.every_line())
        if directive == "skip":
            self.points.skipped += 1
            self.suppressed.add(Kind.SKIPPED_TEST, line.number)
        else:
            self.points.todo += 1
            self.todo.append(line.as_kind(Kind.TODO_TEST))

    def _over(self, indent: int) -> None:
        """A line of TAP ends what the failing point above it may have printed."""
        self._open = None

    def _mute(self) -> None:
        self.suppressed.add_lines(Kind.PROGRAM_OUTPUT, self.words)
        self.words.clear()

    def _drop_children(self) -> None:
        for child in self._family.orphans():
            self.contested += child.every_line()

    # -- the outcome

    def result(self, text: bytes, line: Line) -> bool:
        """A line of the outcome, if it is the next one."""
        if grammar.DUBIOUS.fullmatch(text):
            if self.outcome:
                return False
        elif (subtests := grammar.SUBTESTS.fullmatch(text)) is not None:
            if self.reported is not None:
                return False
            failed, total, all_of_them = (int(n) if n and len(n) < 16 else 0 for n in subtests.groups())
            self.reported = (0, all_of_them or max(0, total - failed))
        elif (less := grammar.LESS.fullmatch(text)) is not None and self.reported is not None:
            self.reported = (int(less[1][-15:]), int(less[2][-15:]))
        elif not (grammar.TODO_PASSED.fullmatch(text) and self.reported is not None):
            return False
        self.end()
        self.outcome = FAILED
        self.results.append(line)
        return True

    def reopen(self) -> None:
        """The file goes on: what looked like its outcome is its own print."""
        self.words += self.results
        self.outcome, self.results, self.reported = b"", [], None

    def end(self) -> None:
        """The file is over."""
        self._open = None
        self.blocks += self.diagnostics.end()
        self.notes += self.diagnostics.notes
        self.diagnostics.notes = []
        self.failing += self._family.orphans()

    def lines(self) -> list[Line]:
        """What is held."""
        nodes = (line for node in (*self.failing, *self.blocks) for line in node.every_line())
        return [*self.results, *nodes, *self.notes, *self.contested, *self.words]
