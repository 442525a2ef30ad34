"""JUnit XML, as pytest, Node, Vitest, jest-junit, surefire, ctest, PHPUnit, bats and many others write it.

The room's rules:

- Elements may span lines and lines may hold many elements. Each line belongs to the first failing test that has a part
  in it; else it is what stands in it: a test that passed, text of a test, a suite and its counts, brackets.
- A test's lines are held until it ends, as only then it is known how it ended.
- What is not well-formed, an element that is unknown, and text where there may be none are in doubt, and reading goes
  on behind them.
- A document ends with its root. Another may begin right behind it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import junit_grammar as grammar
from context_firewall.transcript.dialects.junit_account import Document
from context_firewall.transcript.dialects.junit_case import DERIVED, FAILED, PASSED, SKIPPED, TODO, Case
from context_firewall.transcript.dialects.junit_scan import Judge, Scanner, Token, What, unescaped
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.pytest_traceback import Traceback

NAME = "junit"
DEPTH = 100
"""The deepest nesting that is read."""
OUT_OF_PLACE = "!"
"""Before the name of an element that may not stand where it stands."""
HELD_BYTES = 8 << 20
"""How much of a test that has not failed is held."""
LINE_BYTES = 64
"""What a held line costs beside its text."""

_OUTCOMES = {
    PASSED: Kind.SUCCESSFUL_TEST,
    SKIPPED: Kind.SKIPPED_TEST,
    TODO: Kind.TODO_TEST,
    FAILED: Kind.FAILED_TEST,
    DERIVED: Kind.DERIVED_FAILURE,
}
# What a line is by what it holds; the first that it has decides.
_ORDER = (
    Kind.SUCCESSFUL_TEST,
    Kind.SKIPPED_TEST,
    Kind.TODO_TEST,
    Kind.DERIVED_FAILURE,
    Kind.PROGRAM_OUTPUT,
    Kind.TEST_DETAIL,
    Kind.AGGREGATE_SOURCE,
    Kind.DURATION_SOURCE,
    Kind.INFORMATIONAL,
    Kind.STRUCTURE,
)
_PRINTED = frozenset({Kind.PROGRAM_OUTPUT, Kind.BLANK})
# In a failing test's region: what is there for the format's sake.
_CONTEXT = frozenset({Kind.STRUCTURE, Kind.INFORMATIONAL, Kind.BLANK})


class JUnit(Bookkeeper):
    """Reads one document, or several in a row."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._failures: list[tuple[Case, Document]] = []
        self._todo: list[Line] = []
        self._unclassified: list[Line] = []
        self._doubts: set[Doubt] = set()
        self._documents: list[Document] = []
        self._document: Document | None = None
        self._declaration: Line | None = None
        """An XML declaration that waits for a root."""
        self._scanner = Scanner()
        self._judge = Judge()
        self._stack: list[str] = []
        """The open elements."""
        self._deeper = 0
        """How many more are open below the deepest that is read."""
        self._case: Case | None = None
        self._opening: list[tuple[Line, Kind | None]] = []
        """Lines of a tag that is not over, outside of tests: it may open one."""
        # What stands in the line that is read now.
        self._number = 0
        self._failed: Case | None = None
        """The first failing test that ends in it."""
        self._over = 0
        """How many tests end in it."""
        self._begun: set[Kind] = set()
        """What the tests are that begin and end in it."""
        self._kinds: set[Kind] = set()
        """What else it holds."""
        self._odd = False
        """Something stands where it may not."""

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of passed tests, each in lines of its own, and of lines of text without markup."""
        document = self._document
        if document is None or self._deeper or self._scanner.inside:
            return None
        if self._top in grammar.TEXTS:
            return grammar.TEXT if self._scanner.between else grammar.LITERAL
        plain = not (document.producer.steps or document.producer.parents)
        return grammar.PASSED if plain and self._scanner.between and self._in_suite() else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of passed tests, or hold a run of text."""
        document = self._document
        if document is None:
            return 0
        self._judge.read(block[start:stop])
        if self._top in grammar.TEXTS:
            return self._texts(block[start : stop - 1].split(b"\n"), number)
        lines = block.count(b"\n", start, stop)
        tests = block.count(grammar.CASE, start, stop)
        document.passed(tests, number, number + lines - 1)
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, tests)
        if block.find(grammar.PRINTS, start, stop) < 0:
            self._suppressed.add_many(Kind.STRUCTURE, lines - tests)
            return lines
        closing = len(grammar.CLOSING.findall(block, start, stop))
        blank = len(grammar.EMPTY.findall(block, start, stop))
        self._suppressed.add_many(Kind.STRUCTURE, closing)
        self._suppressed.add_many(Kind.BLANK, blank)
        self._suppressed.add_many(Kind.PROGRAM_OUTPUT, lines - tests - closing - blank)
        return lines

    def _texts(self, lines: list[bytes], number: int) -> int:
        """Lines of text that a test, or a suite, has printed or that say what went wrong."""
        kind = grammar.TEXTS[self._top]
        case = self._case
        if case is None or (kind is Kind.PROGRAM_OUTPUT and self._is_too_much(case)):
            blank = sum(not raw.strip() for raw in lines)
            self._suppressed.add_many(kind, len(lines) - blank)
            self._suppressed.add_many(Kind.BLANK, blank)
            return len(lines)
        for at, raw in enumerate(lines, number):
            case.reads(raw)
            self._hold(case, Line(self._stream, at, Kind.UNCLASSIFIED, raw), kind if raw.strip() else Kind.BLANK)
        return len(lines)

    def cut(self) -> None:
        """The last line has no newline. Many producers write none; what counts is whether the root is closed."""

    @property
    def complete(self) -> bool:
        """The root is closed: nothing more belongs to the document."""
        return self._document is None and bool(self._documents)

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take an XML declaration that stands before the root."""
        return self._declares(bare, line)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self.complete and not bare.strip():
            # Another document may follow.
            self._suppressed.add(Kind.BLANK, number)
            return True
        if self.complete and not grammar.OPENING.match(raw):
            return self._declares(bare, line)
        self._number = number
        self._read(line)
        # What stands behind the root's end in its own line has been taken with it.
        return not self._odd or self.complete

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        self._undeclared()
        current = "" if self._document is None else self._break_off(self._document)
        tally = sum((document.tally(exit_code) for document in self._documents), Tally())
        doubts = self._doubts.union(*(document.doubts for document in self._documents))
        if self._unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        if len(self._documents) > 1 and self._in_excess():
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
        whole = all(document.closed for document in self._documents)
        has_results = bool(self._failures) or any(document.has_results for document in self._documents)
        return Reading(
            tally=tally,
            failures=tuple(failure for case in self._failures for failure in _failures_of(*case)),
            unclassified=tuple(sorted(self._unclassified, key=lambda line: line.number)),
            todo=tuple(self._todo),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=has_results,
            standing=(2 if doubts else 3) if whole and has_results else 0,
            current_test=current,
        )

    # -- documents

    def _in_excess(self) -> bool:
        """Whether one of several documents may be none of the run's: it stands there twice, or a test has printed it.

        mocha lets its tests print where it prints.
        """
        openings = {tuple(document.opening) for document in self._documents}
        by_mocha = any(document.producer is grammar.MOCHA for document in self._documents)
        return by_mocha or len(openings) < len(self._documents)

    def _declares(self, bare: bytes, line: Line) -> bool:
        """Whether a line is an XML declaration. It waits for the root, which must stand in the next line."""
        if not grammar.DECLARATION.fullmatch(bare):
            return False
        self._undeclared()
        self._declaration = line
        return True

    def _undeclared(self) -> None:
        """The declaration that waits was none of a document: no root has followed it."""
        if self._declaration is not None:
            self._unclassified.append(self._declaration)
            self._declaration = None

    def _begin(self) -> Document:
        """A document begins in this line."""
        if self._declaration is not None and self._declaration.number == self._number - 1:
            self._suppressed.add(Kind.STRUCTURE, self._declaration.number)
            self._declaration = None
        self._undeclared()
        self._judge = Judge()
        self._scanner = Scanner()
        self._stack.clear()
        document = self._document = Document()
        self._documents.append(document)
        return document

    def _end(self) -> None:
        """The root is closed."""
        self._judge.end()
        if self._judge.refuses:
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        self._document = None

    def _break_off(self, document: Document) -> str:
        """The stream ends within a document. Returns the test that was open, if it has not failed."""
        case, self._case = self._case, None
        self._unclassified += (line for line, _ in self._opening)
        self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if self._judge.refuses:
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if case is None:
            return ""
        if case.outcome == FAILED:
            document.add(case, self._number)
            self._settle(case, document)
            return ""
        self._unclassified += (line for line, _ in case.lines)
        return case.identity(document.producer, by_node=document.by_node)

    # -- lines

    def _read(self, line: Line) -> None:
        """A line of a document, or of several."""
        self._failed, self._over, self._odd = None, 0, False
        self._begun, self._kinds = set(), set()
        data, position = line.raw + b"\n", 0
        while position < len(data):
            document = self._document
            if document is None:
                found = grammar.OPENING.match(data, position)
                if position and found is None:
                    self._odd = not grammar.REST.fullmatch(data, position)
                    break
                position = found.start("document") if position and found is not None else 0
                document = self._begin()
            position = self._take(data, position, document)
        self._place(line)

    def _take(self, data: bytes, position: int, document: Document) -> int:
        """Read a line from an offset on, and say where the document ends, or the line."""
        for token in self._scanner.tokens(data, position):
            self._token(token, document)
            if document.closed:
                self._judge.read(data[position : token.end])
                self._end()
                return token.end
        self._judge.read(data[position:], unfinished=self._scanner.inside)
        if self._scanner.inside and not self._scanner.in_tag:
            self._kinds.add(Kind.PROGRAM_OUTPUT)  # a comment that goes on
        return len(data)

    def _place(self, line: Line) -> None:
        """Say whose the line is, and what, now that all that stands in it has been read."""
        kind = self._kind(line)
        if self._odd:
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if self._failed is not None:
            self._failed.lines.append((line, kind))
        elif self._case is not None and not self._odd:
            self._hold(self._case, line, kind)
        elif self._scanner.in_tag and not self._odd and self._document is not None:
            self._opening.append((line, kind))
        elif kind is Kind.TODO_TEST and self._over == 1:
            self._todo.append(line.as_kind(kind))
        else:
            self._account(line, kind)

    def _kind(self, line: Line) -> Kind | None:
        """What the line is by what stands in it; None if a test begins in it that is not over, and nothing else."""
        if self._odd:
            return Kind.UNCLASSIFIED
        if self._case is not None and self._case.first == self._number and not self._begun:
            return None
        found = next((kind for kind in _ORDER if kind in self._begun or kind in self._kinds), None)
        return found or (Kind.STRUCTURE if line.raw.strip() else Kind.BLANK)

    def _account(self, line: Line, kind: Kind | None) -> None:
        """A line that no failing test owns."""
        if kind is Kind.UNCLASSIFIED:
            self._unclassified.append(line)
        else:
            self._suppressed.add(Kind.SKIPPED_TEST if kind in (None, Kind.TODO_TEST) else kind, line.number)

    def _hold(self, case: Case, line: Line, kind: Kind | None) -> None:
        """A line of a test that is not over. One that prints without end keeps what it says about itself."""
        if kind in _PRINTED and self._is_too_much(case):
            self._account(line, kind)
            return
        case.size += len(line.raw) + LINE_BYTES
        case.lines.append((line, kind))

    @staticmethod
    def _is_too_much(case: Case) -> bool:
        """Whether a test that may yet pass has printed too much to hold more of it."""
        if case.size <= HELD_BYTES or case.outcome == FAILED:
            return False
        case.lost = True
        return True

    def _settle(self, case: Case, document: Document) -> None:
        """A test is over, and its lines are known."""
        outcome = case.outcome
        if outcome == FAILED:
            self._failures.append((case, document))
            if case.lost:
                self._doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            return
        for line, kind in case.lines:
            if outcome == DERIVED:
                self._account(line, Kind.DERIVED_FAILURE)
            elif kind is None and outcome == TODO:
                self._todo.append(line.as_kind(Kind.TODO_TEST))
            else:
                self._account(line, _OUTCOMES[outcome] if kind is None else kind)
        case.lines.clear()

    # -- elements

    @property
    def _top(self) -> str:
        """The innermost open element; empty outside the root."""
        return self._stack[-1] if self._stack else ""

    def _in_suite(self) -> bool:
        return self._top in (grammar.SUITES, grammar.SUITE)

    def _token(self, token: Token, document: Document) -> None:
        """One piece of the line."""
        match token.what:
            case What.TEXT:
                # A tag that turned out to be none.
                self._unclassified += (line for line, _ in self._opening)
                self._opening.clear()
                self._text(token.body, document)
            case What.COMMENT:
                self._kinds.add(document.comment(token.body) if self._in_suite() else Kind.INFORMATIONAL)
            case What.EMPTY if self._is_plain(token, document):
                document.passed(1, self._number, self._number)
                self._over += 1
                self._begun.add(Kind.SUCCESSFUL_TEST)
            case What.OPEN | What.EMPTY:
                self._open(token.name, token.attributes, document)
                if token.what is What.EMPTY:
                    self._close(token.name, document)
            case What.CLOSE:
                self._opened()
                self._close(token.name, document)
            case What.OTHER:
                self._kinds.add(Kind.STRUCTURE)

    def _is_plain(self, token: Token, document: Document) -> bool:
        """Whether an element is a test that passed without a word more: most are, and a line may hold thousands."""
        special = document.producer.steps or document.producer.parents or self._opening or self._deeper
        return not special and self._in_suite() and grammar.PLAIN.fullmatch(token.body) is not None

    def _text(self, text: bytes, document: Document) -> None:
        if not text.strip():
            return
        kind = None if self._deeper else grammar.TEXTS.get(self._top)
        if kind is None:
            self._odd = True
        else:
            self._kinds.add(kind)
            if self._case is not None:
                self._case.reads(text)

    def _open(self, name: str, attributes: dict[str, str], document: Document) -> None:
        """An element begins."""
        document.goes_on()
        if len(self._stack) == DEPTH:
            self._deeper += 1
            self._odd = True
            return
        parent = self._top
        if name not in grammar.CHILDREN.get(parent, grammar.NOTHING):
            self._odd = True
            name = OUT_OF_PLACE + name
        elif name in (grammar.SUITES, grammar.SUITE):
            document.open(name, attributes)
            self._kinds.add(Kind.AGGREGATE_SOURCE)
        elif name == grammar.TEST or (parent == grammar.SUITE and name in grammar.PROBLEMS):
            self._case = self._begins(Case(attributes, self._number, name == grammar.TEST, path=tuple(document.path)))
        self._opened()
        self._stack.append(name)
        if self._case is not None:
            self._case.says(name, attributes)
        self._kinds.add(grammar.TEXTS.get(name, Kind.STRUCTURE))

    def _begins(self, case: Case) -> Case:
        """A test begins, perhaps in an earlier line: its first line is its own, others hold the rest of its tag."""
        if self._opening:
            case.first = self._opening[0][0].number
            (line, kind), *rest = self._opening
            case.lines = [(line, None if kind is Kind.STRUCTURE else kind), *rest]
            self._opening = []
        return case

    def _opened(self) -> None:
        """The lines of a tag opened no test."""
        for line, kind in self._opening:
            self._account(line, Kind.STRUCTURE if kind is None else kind)
        self._opening.clear()

    def _close(self, name: str, document: Document) -> None:
        """An element ends, and with it those in it that have no end of their own."""
        if self._deeper:
            self._deeper -= 1
            return
        at = next(
            (at for at in reversed(range(len(self._stack))) if self._stack[at].lstrip(OUT_OF_PLACE) == name), None
        )
        if at is None:
            self._odd = True
            return
        self._odd |= at < len(self._stack) - 1
        while len(self._stack) > at:
            top = self._stack.pop()
            case = self._case
            if case is not None and (top == grammar.TEST or (top in grammar.PROBLEMS and not case.test)):
                self._ends(case, document)
            elif top in (grammar.SUITES, grammar.SUITE):
                document.close()

    def _ends(self, case: Case, document: Document) -> None:
        """A test is over."""
        self._case = None
        if case.test:
            document.add(case, self._number)
        self._over += 1
        outcome = case.outcome
        if outcome == FAILED:
            self._failed = self._failed or case
        elif case.first == self._number:
            self._begun.add(_OUTCOMES[outcome])
        self._settle(case, document)


def _failures_of(case: Case, document: Document) -> Iterator[Failure]:
    """A failing test with its region. To pytest each thing that went wrong in it is a failure of its own."""
    by_pytest = document.producer is grammar.PYTEST
    bounds = [0, *(case.parts if by_pytest else ()), len(case.lines)]
    identity = case.identity(document.producer, by_node=document.by_node)
    for first, last in pairwise(bounds):
        yield _failure(identity, case.lines[first:last], Traceback() if by_pytest else None)


def _failure(identity: str, lines: Sequence[tuple[Line, Kind | None]], traceback: Traceback | None) -> Failure:
    """A failure. One whose lines all belong to a failure before it has none of its own."""
    if not lines:
        return Failure(identity, None)
    (header, _), *rest = lines
    details = tuple(line.as_kind(_detail(line, kind, traceback)) for line, kind in rest)
    return Failure(identity, header.as_kind(Kind.FAILED_TEST), details)


def _detail(line: Line, kind: Kind | None, traceback: Traceback | None) -> Kind:
    """What a line of the region is. One with markup in it may say what another test is called: it is never context."""
    if kind in _CONTEXT:
        return Kind.FAILURE_CONTEXT
    text = bared(line.raw)
    if traceback is None:
        return classify_detail(text)
    found = traceback.kind(unescaped(text))
    return classify_detail(text) if b"<" in text and found is Kind.FAILURE_CONTEXT else found


def _beside(readings: list[Reading]) -> list[Reading]:
    """A document beside another runner's report may tell of the same tests once more."""
    if not any(part.has_results and part.dialect != NAME for part in readings):
        return readings
    told_twice = frozenset({Doubt.COUNTS_UNCONFIRMED})

    def settled(part: Reading) -> Reading:
        own = part.dialect == NAME and part.has_results
        return part._replace(doubts=part.doubts | told_twice) if own else part

    return [settled(part) for part in readings]


DIALECT = Dialect(
    name=NAME,
    title="JUnit XML",
    checked="pytest 9.2, Node 20 to 26, mocha 12, Vitest 4.1, Deno 2.9, PHPUnit 9.6, bats 1.8 and 1.13, node-tap 18.8",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=JUnit,
    settle=_beside,
    tentative=True,
)
