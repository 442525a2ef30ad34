"""mocha's `doc` reporter: suites as sections, tests as terms with their code, failures with their message, in HTML.

The room's rules:

- What a title, a file, a test's code or a message holds is escaped down to plain ASCII, so markup in it is not mocha's.
  Line ends are not escaped: an element goes on until its own end.
- A suite and a test are made of parts that follow one another, as far in as there are suites around them. A part that
  is not due was printed by a test, or something was lost.
- A test may print without a line end; mocha's next line stands behind that.
- A failure is known by its name and its file. What is torn before is nobody's.
- How far in a test stands says how many suites are around it, if their sections are lost.
- Nothing sums a run up and nothing ends it, and pending tests are not told.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.printed import Printed

# What escaping leaves of a line of text; now and then also NUL, CR and the characters from U+0080 to U+009F.
TEXT = rb"(?:[ !#-%(-;=?-_a-~]++|&#x[0-9A-F]{1,6};)*+"
ESCAPED = re.compile(TEXT + rb"(?:(?:[\0\r]|\xc2[\x80-\x9f])" + TEXT + rb")*+")
REFERENCE = re.compile(rb"&#x([0-9A-F]{1,6});")
MARGIN = 4
"""Blanks before a test outside of suites, and more of them for each suite."""


class Part(NamedTuple):
    """One element: how it begins, how it ends, and how much further in it stands than a test would."""

    begin: bytes
    end: bytes = b""
    """Empty if the element holds no text."""
    further: int = 0


# `<section class="suite">`, `<h1>TITLE</h1>`, `<dl>`; behind what is in it `</dl>`, `</section>`.
SUITE = (Part(b'<section class="suite">'), Part(b"<h1>", b"</h1>", 2), Part(b"<dl>", further=2))
SUITE_END = (Part(b"</dl>", further=-2), Part(b"</section>", further=-4))
# `<dt>TITLE</dt>`, `<dt>FILE</dt>`, `<dd><pre><code>CODE</code></pre></dd>`.
PASSED = (Part(b"<dt>", b"</dt>"), Part(b"<dt>", b"</dt>"), Part(b"<dd><pre><code>", b"</code></pre></dd>"))
# The same with a class, and `<dd class="error">MESSAGE</dd>`.
FAILED = (
    Part(b'<dt class="error">', b"</dt>"),
    Part(b'<dt class="error">', b"</dt>"),
    Part(b'<dd class="error"><pre><code>', b"</code></pre></dd>"),
    Part(b'<dd class="error">', b"</dd>"),
)
FORMS = (PASSED, FAILED, SUITE, SUITE_END)
# A failure's name and file.
KNOWN = 2
# Deeper than this nobody nests suites.
DEEPEST = 100

# Runs of passed tests of one suite.
_TEST = rb"<dt>%b</dt>\n(?P=indent)<dt>%b</dt>\n(?P=indent)<dd><pre><code>(?:%b\n)*?%b</code></pre></dd>\n" % (
    (TEXT,) * 4
)
LANE = re.compile(rb"(?P<indent>(?: {4})++)" + _TEST + rb"(?:(?P=indent)" + _TEST + rb")*+")

# A suite; and where none has begun, the code of a test, right below its file.
OPENING = re.compile(rb'    <section class="suite">\Z')
CODE = re.compile(rb'    <dd(?: class="error")?><pre><code>' + TEXT + rb"(?:</code></pre></dd>)?\Z")
FILE = re.compile(rb'    <dt(?: class="error")?>' + TEXT + rb"</dt>\Z")


def _unescaped(text: bytes) -> bytes:
    """Text as it was; references to what is no character stay."""

    def meant(found: re.Match[bytes]) -> bytes:
        code = int(found[1], 16)
        return chr(code).encode() if code < 0xD800 or 0xDFFF < code < 0x110000 else found[0]

    return REFERENCE.sub(meant, text)


class _Element(NamedTuple):
    """A part that has been read, as far as it has come."""

    texts: list[bytes]
    """Still escaped, line by line."""
    lines: list[Line]

    @property
    def text(self) -> bytes:
        """As it was, on one line."""
        return b" ".join(_unescaped(text) for text in self.texts)


class MochaDoc(Bookkeeper):
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._suites: list[bytes] = []
        self._form: Sequence[Part] = ()
        """What has begun."""
        self._read: list[_Element] = []
        """Its parts so far."""
        self._within = False
        """The last of them has not ended."""
        self._indent = 0
        """How far in it stands."""
        self._glued = False
        """Something stands before it on its line, which is a test's."""
        self._passed = 0
        self._failures: list[Failure] = []
        self._printed = Printed()
        self._torn = False

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passed tests of one suite."""
        return None if self._form else LANE

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed tests, if they stand as far in as is due."""
        if block.index(b"<", start) - start != self._due:
            return 0
        lines = block.count(b"\n", start, stop)
        self._passed += block.count(PASSED[-1].end, start, stop)
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, lines)
        return lines

    def cut(self) -> None:
        """The last line has no newline. An element has its end, or it has not."""

    @property
    def complete(self) -> bool:
        """Never: another suite may follow."""
        return False

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Take the name and the file that stand before the first code."""
        return self._takes(bare, line)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line: a part that is due, or text of a test's."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        if self._takes(bare, line):
            return True
        if not bare.strip():
            self._suppressed.add(Kind.BLANK, number)
            return True
        self._printed.take(bare, line)
        return False

    # -- parts

    @property
    def _due(self) -> int:
        return MARGIN * (1 + len(self._suites))

    def _takes(self, text: bytes, line: Line) -> bool:
        """Whether a line goes on with what has begun, or begins something."""
        if self._form:
            part = self._form[len(self._read) - self._within]
            rest = text if self._within else self._inside(part, text)
            if rest is not None and self._part(part, rest, line):
                return True
            self._torn = True
            if self._shifts(text, line):
                return True
            self._tear()
        return any(self._opens(form, text, line) for form in FORMS)

    def _shifts(self, text: bytes, line: Line) -> bool:
        """Whether a third term follows two: then the first is no name, and the others are name and file."""
        if self._form not in (PASSED, FAILED) or self._within or len(self._read) != KNOWN:
            return False
        part, first = self._form[KNOWN - 1], self._read.pop(0)
        rest = self._inside(part, text)
        if rest is None or not self._part(part, rest, line):
            self._read.insert(0, first)
            return False
        self._printed.lines += first.lines
        self._glued = False
        return True

    def _inside(self, part: Part, text: bytes) -> bytes | None:
        """What stands behind the begin of a part that is due; None if the line does not begin with it."""
        at = self._indent + part.further - self._form[0].further
        begin = b" " * at + part.begin
        return text[len(begin) :] if text.startswith(begin) else None

    def _opens(self, form: Sequence[Part], text: bytes, line: Line) -> bool:
        """Whether a line begins a form: where it is due, behind what a test printed, or further in or out."""
        first = form[0]
        at, due = text.rfind(first.begin), self._due + first.further
        if at < 0:
            return False
        glued = bool(text[:at].strip(b" "))
        if glued and not text[:at].endswith(b" " * due):
            return False
        if form is SUITE_END and not (self._suites and (glued or at == due)):
            return False
        if not glued and at != due and (at % MARGIN or not MARGIN <= at <= MARGIN * DEEPEST):
            return False
        self._form, self._indent, self._glued = form, due if glued else at, glued
        if self._part(first, text[at + len(first.begin) :], line):
            return True
        self._form = ()
        return False

    def _part(self, part: Part, text: bytes, line: Line) -> bool:
        """Take a line of a part, if all that follows there is its text, and perhaps its end."""
        found = ESCAPED.match(text) if part.end else None
        inner = b"" if found is None else found[0]
        rest = text[len(inner) :]
        if rest not in ((b"", part.end) if part.end else (b"",)):
            return False
        if not self._within:
            self._read.append(_Element([], []))
        self._read[-1].texts.append(inner)
        self._read[-1].lines.append(line)
        self._within = rest != part.end
        if not self._within and len(self._read) == len(self._form):
            self._end()
        return True

    # -- what has been read

    def _end(self) -> None:
        """All parts have come."""
        form, read = self._form, self._read
        if form is not SUITE_END:
            self._step(self._indent // MARGIN - 1)
        lines = [line for element in read for line in element.lines]
        if form is FAILED:
            self._fail()
        else:
            if self._glued:
                self._printed.lines.append(lines.pop(0))
            self._suppressed.add_lines(Kind.SUCCESSFUL_TEST if form is PASSED else Kind.STRUCTURE, lines)
        if form is PASSED:
            self._passed += 1
        elif form is SUITE:
            self._suites.append(read[1].text)
        elif form is SUITE_END and self._suites:
            self._suites.pop()
        self._form, self._read = (), []

    def _tear(self) -> None:
        """What has begun does not go on. A failure that is known stays one."""
        if self._form is FAILED and len(self._read) - self._within >= KNOWN:
            self._step(self._indent // MARGIN - 1)
            self._fail()
        else:
            self._printed.lines += (line for element in self._read for line in element.lines)
        self._form, self._read, self._within = (), [], False

    def _step(self, depth: int) -> None:
        """Go where a test or a suite stands. Where that is not due, sections or their ends are missing."""
        if depth != len(self._suites):
            self._torn = True
            self._suites[depth:] = [b""] * (depth - len(self._suites))

    def _fail(self) -> None:
        name, file, *rest = self._read
        header, *details = [line.as_kind(Kind.FAILURE_CONTEXT) for line in name.lines]
        details += [line.as_kind(Kind.FAILURE_DETAIL) for line in file.lines]
        details += [line.as_kind(Kind.FAILURE_CONTEXT) for code in rest[:1] for line in code.lines]
        for message in rest[1:]:
            kinds = [Kind.FAILURE_MESSAGE, *(classify_detail(_unescaped(text)) for text in message.texts[1:])]
            details += [line.as_kind(kind) for line, kind in zip(message.lines, kinds, strict=True)]
        identity = decoded(b" ".join(title for title in (*self._suites, name.text) if title))
        self._failures.append(Failure(identity, header.as_kind(Kind.FAILED_TEST), tuple(details)))

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account. Whether more should have come, nothing says."""
        self._tear()
        total = self._passed + len(self._failures)
        doubts = {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.COUNTS_UNCONFIRMED} if total else {Doubt.NO_TEST_EVIDENCE}
        if self._torn:
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if self._printed.lines:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=Tally(self._passed, len(self._failures), 0, 0, total),
            failures=tuple(self._failures),
            fatal_errors=self._printed.of_kind(Kind.FATAL_ERROR),
            timeouts=self._printed.of_kind(Kind.TIMEOUT),
            warnings=self._printed.of_kind(Kind.ABNORMAL_WARNING),
            unclassified=tuple(self._printed.settled(self._suppressed, proven=False, failed=False)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=bool(total),
        )


def _below_a_file(opening: Line, above: Sequence[Line], since: int) -> bool:
    """Whether a test's file stands right above its code."""
    return bool(above) and above[-1].number == opening.number - 1 and FILE.match(bare(above[-1].raw)) is not None


DIALECT = Dialect(
    name="mocha-doc",
    title="mocha's doc reporter",
    checked="mocha 8.4, 9.2, 10.8, 11.8, 12.0",
    streams=frozenset({"stdout"}),
    opening=OPENING,
    begin=MochaDoc,
    below=_below_a_file,
    placed=CODE,
    # mocha itself speaks there only when it cannot run.
    program_streams=frozenset({"stderr"}),
)
