"""prove (TAP::Harness): a line a file, with -v the TAP of each, the summary of what failed, totals and result.

The room's rules:

- A file's line ends with its outcome, or the outcome follows in lines of its own. With -v (and with --directives,
  --comments, --failures, in part) between the two stands what the file printed on standard output: all of it is the
  file's, whatever it looks like, until its outcome.
- The report is over with `Result: …` behind the totals. What prove says there counts: that a file broke its plan, died
  or was killed is a failure of the file.
- Names and reasons of failing tests are Test::More's, on standard error, unless people merge the streams or -v shows
  the points. The summary knows numbers. `prove_account` settles what belongs to what.
- Without -v nothing tells which tests were skipped or unfinished in a file that passed: counts are unconfirmed.
"""

import re

from context_firewall.transcript.dialects import prove_grammar as grammar
from context_firewall.transcript.dialects import tap_grammar as tap
from context_firewall.transcript.dialects.prove_account import Told, settle
from context_firewall.transcript.dialects.prove_closing import Closing
from context_firewall.transcript.dialects.prove_section import PASSED, SKIPPED, Section
from context_firewall.transcript.dialects.test_more_diagnostics import HEADER, Diagnostics
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect

# Points that passed, each numbered and named, without a mark that may change what it means.
_LANE = re.compile(rb"(?:ok [0-9]++ - [^\n#\\\x1b\r]*+\n)++")

MOST_HELD = 1000
"""How many lines wait for what shows whose they are."""


class Prove(Bookkeeper):
    """Reads one report."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._sections: list[Section] = []
        self._outside = Diagnostics()
        self._held: list[Line] = []
        """A bare `ok`, and what stands behind it: a file's outcome, or a point without number and name."""
        self._closing: Closing | None = None
        self._comments: list[Line] = []
        """Comments outside of files that are no block's, as Test::More's diag prints them where streams are merged."""
        self._unclassified: list[Line] = []
        self._bailed: list[Line] = []
        self._cut = False
        self._harnessed = False
        """Empty lines stand before what Test::More says, as it prints them under a harness only."""
        self._empty = False

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Runs of points that passed."""
        section = self._current
        return _LANE if section is not None and section.quiet and not self._held and not self._closing else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count a run of points."""
        count = block.count(b"\n", start, stop)
        self._sections[-1].run(count)
        return count

    def cut(self) -> None:
        """The last line has no newline, and prove ends each of its own with one."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """The result has been read, and everything agrees with it."""
        closing = self._closing
        return closing is not None and bool(closing.result) and not closing.doubts(self._sections) - _HARMLESS

    @property
    def _current(self) -> Section | None:
        """The file that has begun and has no outcome."""
        return self._sections[-1] if self._sections and not self._sections[-1].outcome else None

    def adopt(self, bare: bytes, line: Line) -> bool:
        """What Test::More said before the first file's line, where the streams are merged."""
        return line.kind is Kind.UNCLASSIFIED and self._said(bare, line)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        text = bare.rpartition(b"\r")[2]
        if not self._sections and self._closing is None:
            return self._ahead(text, bare, line)
        if self._closing is not None:
            return self._behind(text, bare, line)
        return self._read(text, bare, line)

    def close(self, exit_code: int | None) -> Reading:
        """What was read; `settle` makes failures of it when the other stream has been read, too."""
        self._decide_held(outcome=True)
        for section in self._sections:
            section.end()
        doubts = set()
        closing = self._closing
        if closing is not None and (self._cut and closing.last is None):
            closing.result = b""
        if closing is None or not closing.result:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            standing = 0
        else:
            doubts |= closing.doubts(self._sections)
            standing = 1 if doubts - _HARMLESS else 3
        blocks = self._outside.end()
        if self._unclassified or any(section.contested for section in self._sections):
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        told = Told(
            sections=tuple(self._sections),
            closing=closing,
            blocks=tuple(blocks),
            notes=tuple(self._outside.notes),
            comments=tuple(self._comments),
            bailed=tuple(self._bailed),
            suppressed=self._suppressed,
            exit_code=exit_code,
        )
        return Reading(
            unclassified=tuple(self._unclassified),
            doubts=frozenset(doubts),
            has_results=bool(self._sections) or closing is not None,
            standing=standing,
            spread=told,
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
        )

    # -- lines

    def _read(self, text: bytes, bare: bytes, line: Line) -> bool:
        section = self._current
        if self._held and self._goes_on(text, bare, line):
            return True
        section = self._current
        if section is None or not section.verbose:
            if self._begins(text, bare, line) or self._closes(text, line):
                return True
            if grammar.BAILED.fullmatch(text):
                self._bailed.append(line)
                return True
        if self._sections and self._sections[-1].result(text, line):
            return True
        if section is None and self._resumes(text):
            section = self._current
        if not text.strip():
            self._blank(line)
            return True
        if section is not None and grammar.PASSED.fullmatch(text):
            self._held = [line]
            return True
        if section is not None and self._body(section, bare, line):
            return True
        if section is None and self._said(bare, line):
            return True
        self._unclassified.append(line)
        return False

    def _ahead(self, text: bytes, bare: bytes, line: Line) -> bool:
        """A line before the first file's: until it is sure that a harness runs, it may be the document of one test."""
        empty, self._empty = self._empty, not text.strip()
        self._harnessed |= empty and HEADER.match(bare) is not None and bool(self._outside.nodes)
        known = self._read(text, bare, line)
        if self._sections or self._closing is not None or self._bailed:
            return True
        return self._harnessed or (known and not bare.lstrip(b" ").startswith(b"#"))

    def _body(self, section: Section, bare: bytes, line: Line) -> bool:
        """A line of a file; a comment is its own even where its TAP is not shown."""
        if section.body(bare, line):
            return True
        if bare.startswith(b"#"):
            section.words.append(line)
            return True
        return False

    def _said(self, bare: bytes, line: Line) -> bool:
        """What Test::More says where no file is open."""
        taken = self._outside.take(bare, line)
        if taken is not None and taken.kind is not None:
            self._suppressed.add(taken.kind, line.number)
        if taken is None and bare.startswith(b"#"):
            self._comments.append(line)
            return True
        return taken is not None

    def _blank(self, line: Line) -> None:
        self._suppressed.add(Kind.BLANK, line.number)
        (self._sections[-1].diagnostics if self._sections else self._outside).pause()

    def _resumes(self, text: bytes) -> bool:
        """Whether TAP shows that a file whose TAP is shown goes on: what looked like its outcome is its own print."""
        last = self._sections[-1] if self._sections else None
        if last is None or not last.verbose or not last.results:
            return False
        if not (tap.POINT.fullmatch(text) or tap.PLAN.fullmatch(text)):
            return False
        last.reopen()
        return True

    # -- files

    def _begins(self, text: bytes, bare: bytes, line: Line) -> bool:
        """A file's line."""
        header = grammar.header(text)
        if header is None:
            return False
        terminal = b"\r" in bare
        known = grammar.outcome(header.rest)
        section = self._current
        if section is None or section.name != header.name or not terminal:
            if not (known or terminal):
                return False
            section = Section(header.name, line, self._suppressed)
            self._sections.append(section)
        rest = header.rest
        if grammar.PASSED.fullmatch(rest) or grammar.SKIPPED.fullmatch(rest):
            section.outcome = SKIPPED if rest.startswith(SKIPPED) else PASSED
            section.end()
        elif section.result(rest, line):
            return True
        else:
            progress = grammar.PROGRESS.match(rest)
            rest = rest if progress is None else rest[progress.end() :]
            if rest and not self._body(section, rest, line):
                self._unclassified.append(line)
                return True
            if rest:
                return True
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def _goes_on(self, text: bytes, bare: bytes, line: Line) -> bool:
        """What a line makes of the `ok` before it. True if it waits with it."""
        header = grammar.header(text)
        begins = header is not None and grammar.outcome(header.rest)
        outcome = begins or Closing().take(text, line)
        if not outcome and len(self._held) < MOST_HELD and not (tap.POINT.fullmatch(text) or tap.PLAN.fullmatch(text)):
            # With merged streams what the next file says on standard error may come before its line.
            self._held.append(line)
            return True
        self._decide_held(outcome=outcome)
        return False

    def _decide_held(self, *, outcome: bool) -> None:
        held, self._held = self._held, []
        if not held:
            return
        section = self._sections[-1]
        if outcome:
            section.outcome = PASSED
            section.end()
            self._suppressed.add(Kind.STRUCTURE, held[0].number)
        else:
            section.body(bared(held[0].raw), held[0])
        for line in held[1:]:
            text = bared(line.raw)
            if not text.strip():
                self._blank(line)
            elif grammar.STAMP.fullmatch(text):
                self._suppressed.add(Kind.STRUCTURE, line.number)
            elif not (self._said(text, line) if outcome else self._body(section, text, line)):
                self._unclassified.append(line)

    # -- the end

    def _closes(self, text: bytes, line: Line) -> bool:
        """The first line of the end."""
        if grammar.STAMP.fullmatch(text):
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        closing = Closing()
        if not closing.take(text, line):
            return False
        self._closing = closing
        return True

    def _behind(self, text: bytes, bare: bytes, line: Line) -> bool:
        """A line after the end has begun: it goes on, or what was read was none."""
        closing = self._closing
        if closing is None:
            return self._read(text, bare, line)
        if closing.take(text, line):
            return True
        if not text.strip():
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        if self.complete:
            return False
        if not Closing().take(text, line) and not self._begins_anew(text):
            if self._said(bare, line):
                return True
            self._unclassified.append(line)
            return False
        self._closing = None
        self._unclassified += closing.every_line()
        return self._read(text, bare, line)

    def _begins_anew(self, text: bytes) -> bool:
        header = grammar.header(text)
        return header is not None and grammar.outcome(header.rest)


_HARMLESS = frozenset({Doubt.CONTESTED_RESULTS})
"""prove itself says what it makes of them."""


DIALECT = Dialect(
    name="prove",
    title="prove, the harness of Perl's tests",
    checked="prove of TAP::Harness 3.44, Perl 5.36",
    streams=frozenset({"stdout"}),
    opening=grammar.OPENING,
    begin=Prove,
    program_streams=frozenset({"stderr"}),
    settle=settle,
    # A name with dots behind it may be prose.
    tentative=True,
)
