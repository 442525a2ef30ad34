"""jest's default, verbose and summary reporters, and the one for GitHub beside them or alone.

The room's rules:

- A report is made of files: a line that says whether one passed, its tree (with --verbose, or where only one file
  runs), its console text, its failures. Totals close it; words about open handles may follow them.
- What stands in a failure or a console block is indented by four blanks at least. A line nearer to the margin that is
  none of jest's own is the program's: it is kept, and the region that it interrupts goes on after it.
- With --verbose console text is printed while the tests run, on standard output: before the file's line where the
  streams are merged, in a stream of its own where not. Its stack frames say whose it is.
- A file's line alone proves nothing, for programs print such lines too: until a result, the text of a failure, totals
  or many such lines have followed, what was read is held, and a line that is not jest's ends the stretch.
- Totals count only in their order and when nothing of a report follows them.
- What was read is settled against the totals in `jest_report`.
"""

import re
from enum import Enum, auto

from context_firewall.transcript import runtime_warnings
from context_firewall.transcript.dialects import jest_grammar as grammar
from context_firewall.transcript.dialects.jest_actions import Actions
from context_firewall.transcript.dialects.jest_block import Block, Console
from context_firewall.transcript.dialects.jest_report import Report, Totals, settled
from context_firewall.transcript.dialects.jest_streams import settle
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.lines import bare as bared
from context_firewall.transcript.machine import Bookkeeper, Dialect
from context_firewall.transcript.markers import marker_kind


class _Part(Enum):
    """Where in a report the machine is."""

    BETWEEN = auto()
    FILE = auto()
    """Behind a file's line: a tree, console text or failures may follow."""
    TREE = auto()
    CONSOLE = auto()
    """Under a file's `● Console`."""
    PRINTED = auto()
    """In a console block outside of a file's report."""
    BLOCK = auto()
    RETRY = auto()
    SNAPSHOTS = auto()
    RECAP = auto()
    TOTALS = auto()
    CLOSED = auto()
    HANDLES = auto()
    WORDS = auto()
    """A message about the configuration, or why there are no tests."""
    USAGE = auto()


# How many files' lines prove that the report is jest's, and how much is held that does not prove it.
MANY = 16
FEW = 8

_LANES = {_Part.BETWEEN: grammar.LANE, _Part.FILE: grammar.TREE_LANE, _Part.TREE: grammar.TREE_LANE}


class Jest(Bookkeeper):
    """Reads one report."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._part = _Part.BETWEEN
        self._file: grammar.FileLine | None = None
        self._treed = False
        self._terminal = False
        self._name_open = False
        """The last line of the tree may be the first of a name that holds line ends: the duration closes a name."""
        self._block: Block | None = None
        self._console: Console | None = None
        self._console_header: Line | None = None
        self._retry: Console | None = None
        self._retried: dict[bytes, Console] = {}
        self._recapped: list[bytes] | None = None
        """Titles in the list of all failing tests."""
        self._retitled = False
        """The last of them may go on."""
        self._late: list[Block] = []
        self._totals: Totals | None = None
        self._words = Kind.FATAL_ERROR
        self._proven = False
        """What was read can only be jest's."""
        self._held: list[tuple[Kind, Line]] = []
        """Lines read before that, with what they are if it is."""
        self._spoke = False
        """Jest said that there is nothing to run, or why it does not run."""
        self._promised: int | None = None
        """The exit code that it announced where it found nothing to run."""
        self._actions = Actions(self._suppressed)
        self._report = Report(self._actions)
        self._doubts: set[Doubt] = set()
        self._unclassified: list[Line] = []
        self._snapshots: list[Line] = []
        self._todo: list[Line] = []
        self._marked: dict[Kind, list[Line]] = {Kind.FATAL_ERROR: [], Kind.TIMEOUT: [], Kind.ABNORMAL_WARNING: []}

    # -- what the reader asks

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Files in which every test passed, or the rest of a tree."""
        if not self._proven or self._recapped is not None or self._retried or self._actions.open:
            return None
        return _LANES.get(self._part)

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Count passed files and tests."""
        if self._report.consoles:
            return 0
        lines = block.count(b"\n", start, stop)
        passed = block.count(grammar.PASSED_BYTE, start, stop)
        blanks = block.count(b"\n\n", start, stop)
        files = block.count(b"\nPASS ", start, stop)
        trees = sum(1 for _ in grammar.LANE_TREES.finditer(block, start, stop)) if files else 0
        if block.startswith(b"PASS ", start):
            files += 1
            trees += block.startswith(b"  ", block.index(b"\n", start) + 1, stop)
        else:
            self._enter_tree()
        if files:
            last = block.rindex(b"PASS ", start, stop) if files == 1 else block.rindex(b"\nPASS ", start, stop) + 1
            end = block.index(b"\n", last)
            self._file = grammar.FileLine(False, block[last + 5 : end])
            self._treed = block.startswith(b"  ", end + 1, stop)
        self._report.passed_files += files
        self._report.passed_trees += trees
        ended = block.endswith(b"\n\n", start, stop) and not self._terminal
        self._part = _Part.FILE if not self._treed else _Part.BETWEEN if ended else _Part.TREE
        last_line = block[max(start, block.rfind(b"\n", start, stop - 1) + 1) : stop - 1]
        self._name_open = grammar.PASSED in last_line and grammar.DURATION.search(last_line[-40:]) is None
        self._report.signs["passed"] += passed
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, passed + files)
        self._suppressed.add_many(Kind.BLANK, blanks)
        self._suppressed.add_many(Kind.STRUCTURE, lines - passed - files - blanks)
        return lines

    def cut(self) -> None:
        """The last line has no newline; totals are read whole or not at all, so nothing follows from it."""

    @property
    def complete(self) -> bool:
        """The totals agree with what was read; or nothing was read that only jest prints."""
        totals = self._totals
        if totals is not None:
            return self._part is _Part.CLOSED and totals.whole and self._report.agrees(totals)
        return not self._proven

    def adopt(self, bare: bytes, line: Line) -> bool:
        """Warnings of Node's and of jest's tools before the first word."""
        return self._warns(bare, line)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """One line: what its part makes of it, or one of the lines that may stand anywhere."""
        line = Line(self._stream, number, Kind.UNCLASSIFIED, raw)
        text = bare.lstrip(b"\r") if bare[:1] == b"\r" else bare
        if self._actions.takes(text, line):
            return True
        if not text.strip():
            self._blank(text, line)
            return True
        if self._part in (_Part.CLOSED, _Part.HANDLES):
            taken = self._after(text, line)
            if taken is not None:
                return taken
        return self._text(text, line)

    # -- lines

    def _text(self, text: bytes, line: Line) -> bool:
        if self._part is _Part.TOTALS and not text.startswith(grammar.TOTALS):
            # The totals are printed at once.
            self._withdraw()
        if self._actions.begins(text, line):
            self._end_region()
            self._prove()
            self._part = _Part.BETWEEN
            return True
        if text[:1] == b" ":
            if text.startswith(grammar.INSIDE) and self._inside(text, line):
                return True
            if text.startswith(grammar.BULLET):
                return self._bullet(text[len(grammar.BULLET) :], line)
            if self._part in (_Part.FILE, _Part.TREE) and self._in_tree(text, line):
                return True
            if grammar.CONSOLE_TITLE.fullmatch(text) and not text.startswith(grammar.INSIDE):
                return self._printed(text, line)
            if grammar.SNAPSHOT.fullmatch(text) and (self._report.anything or self._part is _Part.SNAPSHOTS):
                self._end_region()
                self._part = _Part.SNAPSHOTS
                self._snapshots.append(line)
                return True
        if grammar.STATUS.fullmatch(text) or grammar.DETERMINING.fullmatch(text):
            self._terminal = True
            self._prove()
            self._suppressed.add(Kind.PROGRESS, line.number)
            return True
        file = grammar.file_line(text)
        if file is not None:
            return self._opens_file(file, line)
        aside = text.startswith(grammar.TOTALS) or marker_kind(text) is not None
        if self._part is _Part.TREE and self._name_open and not aside:
            self._report.name_rests.append((self._file.path if self._file is not None else b"", line))
            self._name_open = grammar.DURATION.search(text[-40:]) is None
            return True
        if self._retitled and self._part is _Part.RECAP:
            self._suppressed.add(Kind.RECAP, line.number)
            return True
        block = self._block
        if block is not None and not block.titled and (self._proven or len(block.details) < FEW):
            # A test's name may hold line ends.
            block.title += b" " + text.strip()
            block.details.append(line.as_kind(Kind.FAILURE_DETAIL))
            return True
        if text.startswith(grammar.TOTALS):
            return self._total(text, line)
        return self._own_words(text, line)

    def _own_words(self, text: bytes, line: Line) -> bool:
        """Lines at the margin that only jest prints."""
        if text == grammar.SNAPSHOT_SUMMARY:
            self._end_region()
            self._part = _Part.SNAPSHOTS
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if text == grammar.RECAP and self._recapped is None:
            self._end_region()
            self._part = _Part.RECAP
            self._recapped = []
            self._file = None
            self._report.only_recap = not self._report.anything
            self._hold(Kind.RECAP, line)
            return True
        if grammar.SEED.fullmatch(text):
            self._hold(Kind.INFORMATIONAL, line)
            return True
        retry = grammar.RETRY.fullmatch(text)
        if retry is not None:
            self._end_region()
            self._prove()
            self._part = _Part.RETRY
            self._retry = self._retried.setdefault(retry["name"].strip(), Console())
            self._retry.lines.append(line)
            return True
        if self._part is _Part.RETRY and self._retry is not None:
            self._retry.lines.append(line)
            return True
        if grammar.COVERAGE_MISSED.fullmatch(text):
            self._report.outside.append(Failure(decoded(text), line.as_kind(Kind.PROCESS_FAILURE)))
            return True
        annotation = grammar.ANNOTATION.fullmatch(text)
        if annotation is not None:
            self._prove()
            self._actions.annotations.append((annotation["file"], annotation["rest"], line))
            return True
        retried = grammar.RETRIED.fullmatch(text)
        if retried is not None:
            self._prove()
            name = retried["title"].replace(grammar.ARROW.encode(), b" ")
            self._retried.setdefault(name, Console()).lines.append(line)
            return True
        return self._configuration(text, line)

    def _configuration(self, text: bytes, line: Line) -> bool:
        """Why nothing runs."""
        if (none := grammar.NO_TESTS.fullmatch(text)) and not self._report.anything:
            self._promised = int(none[1])
            self._words = Kind.ABNORMAL_WARNING if text.endswith(b" 0") else Kind.FATAL_ERROR
            return self._speaks(_Part.WORDS, line)
        said = grammar.CONFIGURATION.fullmatch(text)
        if said is not None and self._totals is None and not self._report.anything:
            self._words = Kind.ABNORMAL_WARNING if b"Warning" in said["what"] else Kind.FATAL_ERROR
            return self._speaks(_Part.WORDS, line)
        if grammar.USAGE.fullmatch(text) and not self._report.anything:
            self._prove()
            self._part, self._spoke = _Part.USAGE, True
            self._words = Kind.FATAL_ERROR
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if self._part is _Part.USAGE:
            if grammar.DOCUMENTATION.fullmatch(text):
                self._part, self._promised = _Part.WORDS, grammar.USAGE_EXIT
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if self._part is _Part.WORDS and self._spoke:
            if not grammar.LOOKED.fullmatch(text) and not grammar.MISUSED.fullmatch(text):
                self._promised = None  # somebody else may speak there
            self._marked[self._words].append(line.as_kind(self._words))
            return True
        return self._unknown(text, line)

    def _speaks(self, part: _Part, line: Line) -> bool:
        self._prove()
        self._part = part
        self._spoke |= self._words is Kind.FATAL_ERROR or part is _Part.WORDS
        self._marked[self._words].append(line.as_kind(self._words))
        return True

    def _unknown(self, text: bytes, line: Line) -> bool:
        """A line of nobody's."""
        if self._warns(text, line):
            return True
        if grammar.TABLE.fullmatch(text):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if self.complete:
            return False
        kind = marker_kind(text)
        if kind is not None:
            self._marked[kind].append(line.as_kind(kind))
            return True
        self._unclassified.append(line)
        return False

    def _warns(self, text: bytes, line: Line) -> bool:
        """Warnings of Node's, of jest's and of its tools."""
        if runtime_warnings.NODE_HINT.fullmatch(text):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if any(
            pattern.fullmatch(text) for pattern in (runtime_warnings.NODE, grammar.WORKER_STUCK, grammar.TOOL_WARNING)
        ):
            self._marked[Kind.ABNORMAL_WARNING].append(line.as_kind(Kind.ABNORMAL_WARNING))
            return True
        return False

    def _blank(self, text: bytes, line: Line) -> None:
        self._retitled = False
        if self._block is not None and self._part in (_Part.BLOCK, _Part.RECAP):
            self._block.take(text, line)
            return
        if self._part in (_Part.CONSOLE, _Part.PRINTED) and self._console is not None and self._console.lines:
            self._console.lines.append(line)
            return
        if self._part is _Part.RETRY and self._retry is not None:
            self._retry.lines.append(line)
            return
        if self._part is _Part.TREE and not self._terminal:
            self._part = _Part.BETWEEN
        self._suppressed.add(Kind.BLANK, line.number)

    def _inside(self, text: bytes, line: Line) -> bool:
        """A line four blanks deep: of the open failure, or of the open console block."""
        if self._part is _Part.CONSOLE and self._console is not None:
            if not self._console.lines and not grammar.CONSOLE_TITLE.fullmatch(text):
                # A test by the name of Console; or console text was lost, and a failure's title with it.
                header, self._console = self._console_header, None
                if header is not None:
                    self._opens_block(grammar.CONSOLE, header)
                if self._block is not None:
                    self._block.torn = True
                return self._inside(text, line)
            self._prove()
            self._console.lines.append(line)
            return True
        if self._part is _Part.PRINTED and self._console is not None:
            self._console.take(text, line)
            return True
        if self._block is not None and self._part in (_Part.BLOCK, _Part.RECAP):
            if self._block.titled:
                self._prove()
            self._block.take(text, line)
            return True
        if self._part is _Part.RECAP and self._recapped is not None:
            self._suppressed.add(Kind.RECAP, line.number)
            return True
        return False

    # -- files

    def _opens_file(self, file: grammar.FileLine, line: Line) -> bool:
        if self._part is _Part.RECAP:
            self._end_block()
            self._file = file
            self._report.recapped_files += 1
            self._hold(Kind.RECAP, line)
            return True
        self._end_region()
        self._part, self._file, self._treed = _Part.FILE, file, False
        if file.failed:
            self._report.failed_files += 1
            if file.path in self._report.failed_headers:
                self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
                self._suppressed.add(Kind.DERIVED_FAILURE, line.number)
            else:
                self._report.failed_headers[file.path] = line
            return True
        self._report.passed_files += 1
        self._hold(Kind.SUCCESSFUL_TEST, line)
        self._drop_consoles(file.path)
        return True

    def _hold(self, kind: Kind, line: Line) -> None:
        """Suppress a line once it is proven that the report is jest's."""
        self._held.append((kind, line))
        if self._proven or len(self._held) > MANY:
            self._prove()

    def _prove(self) -> None:
        self._proven = True
        for kind, line in self._held:
            self._suppressed.add(kind, line.number)
        self._held.clear()

    def _drop_consoles(self, path: bytes) -> None:
        """The file passed: what it printed is not kept."""
        kept: list[Console] = []
        for console in self._report.consoles:
            if not console.files or path in console.files:
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, console.lines)
            else:
                kept.append(console)
        self._report.consoles = kept

    def _enter_tree(self) -> None:
        self._part = _Part.TREE
        if not self._treed and self._file is not None:
            self._treed = True
            if self._file.failed:
                self._report.treed.add(self._file.path)
            else:
                self._report.passed_trees += 1

    def _in_tree(self, text: bytes, line: Line) -> bool:
        """A result or a title of a tree."""
        result = grammar.RESULT.fullmatch(text)
        passed = self._file is not None and not self._file.failed
        if result is not None:
            name = grammar.SIGNS[result["sign"]]
            if name == "failed" and passed:
                # No file passes with a failing test.
                if self._proven:
                    self._contest(line)
                return self._proven
            self._enter_tree()
            self._prove()
            self._name_open = grammar.DURATION.search(text[-40:]) is None
            self._report.signs[name] += 1
            if name == "failed":
                self._report.failed_signs.append(line)
                leaf = result["name"]
                duration = grammar.DURATION.search(leaf[-40:])
                leaf = leaf[: len(leaf) - len(duration[0])] if duration is not None else leaf
                file = self._file.path if self._file is not None else b""
                self._report.failed_names[file, leaf] += 1
            elif name == "todo":
                self._todo.append(line.as_kind(Kind.TODO_TEST))
            else:
                kind = Kind.SUCCESSFUL_TEST if name == "passed" else Kind.SKIPPED_TEST
                self._suppressed.add(kind, line.number)
            return True
        if grammar.TITLE.fullmatch(text) and not grammar.CONSOLE_TITLE.fullmatch(text):
            if not self._proven and len(self._held) > FEW:
                return False
            self._enter_tree()
            self._name_open = False
            self._hold(Kind.STRUCTURE, line)
            return True
        return False

    # -- failures and console text

    def _bullet(self, title: bytes, line: Line) -> bool:
        if self._part is _Part.RECAP:
            return self._recaps(title, line)
        if self._part is _Part.FILE and title == grammar.CONSOLE and not self._treed:
            self._part = _Part.CONSOLE
            self._console = Console()
            self._console_header = line
            if self._file is not None:
                self._console.files.add(self._file.path)
            return True
        if grammar.OUTSIDE.fullmatch(title):
            self._prove()
            self._opens_block(title, line, outside=True)
            return True
        if self._file is None or not self._file.failed:
            if not self._proven:
                return self._unknown(grammar.BULLET + title, line)
            self._doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        self._opens_block(title, line)
        return True

    def _opens_block(self, title: bytes, line: Line, *, outside: bool = False) -> None:
        self._end_region()
        self._part = _Part.BLOCK
        file = self._file.path if self._file is not None else b""
        self._block = Block(b"" if outside else file, title, line, outside=outside)

    def _recaps(self, title: bytes, line: Line) -> bool:
        """A title in the list of all failing tests: known, or a failure whose own region was lost."""
        self._end_block()
        file = self._file.path if self._file is not None else b""
        known = any(_same(block, file, title) for block in self._report.blocks)
        if self._recapped is not None:
            self._recapped.append(title)
        if known and not self._report.only_recap:
            self._suppressed.add(Kind.RECAP, line.number)
            self._retitled = True
        else:
            if not self._report.only_recap:
                self._doubts.add(Doubt.RECAP_CONTRADICTION)
            self._block = Block(file, title, line)
        return True

    def _printed(self, text: bytes, line: Line) -> bool:
        """A console block outside of a file's report."""
        if self._part is _Part.PRINTED:
            self._end_region()
        elif self._part not in (_Part.BETWEEN, _Part.SNAPSHOTS, _Part.BLOCK, _Part.CONSOLE, _Part.TREE, _Part.FILE):
            return self._own_words(text, line)
        else:
            self._end_region()
        self._part = _Part.PRINTED
        self._console = Console()
        self._console.take(text, line)
        return True

    def _end_block(self) -> None:
        block, self._block = self._block, None
        if block is None:
            return
        if block.outside and block.title.startswith(grammar.LATE_LOG):
            self._late.append(block)
            return
        self._report.blocks.append(block)

    def _end_region(self) -> None:
        """Whatever is open ends here."""
        self._end_block()
        console, self._console = self._console, None
        if self._console_header is not None:
            self._suppressed.add(Kind.STRUCTURE, self._console_header.number) if console is not None else None
            self._console_header = None
        if console is not None and console.lines:
            if self._part is _Part.CONSOLE and self._file is not None and not self._file.failed:
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, console.lines)
            else:
                self._report.consoles.append(console)
        self._retry = None
        if self._part in (_Part.BLOCK, _Part.CONSOLE, _Part.PRINTED, _Part.RETRY):
            self._part = _Part.BETWEEN

    # -- totals, and what follows them

    def _total(self, text: bytes, line: Line) -> bool:
        """A line of the closing block, in its order; elsewhere it is somebody else's."""
        totals = self._totals
        if totals is None and grammar.SUITES.fullmatch(text):
            self._end_region()
            self._actions.end()
            totals = self._totals = Totals()
            self._part = _Part.TOTALS
        if totals is not None and self._part is _Part.TOTALS and totals.take(text):
            totals.lines.append(line)
            if totals.whole:
                self._part = _Part.CLOSED
                self._prove()
            return True
        if totals is not None and grammar.SUITES.fullmatch(text):
            self._withdraw()
            return self._total(text, line)
        if self._part is _Part.TOTALS:
            self._withdraw()
        if not self._proven:
            return self._unknown(text, line)
        self._contest(line)
        return True

    def _contest(self, line: Line) -> None:
        self._unclassified.append(line.as_kind(Kind.CONTESTED_TEST))
        self._doubts.add(Doubt.CONTESTED_RESULTS)

    def _withdraw(self) -> None:
        """The report goes on: these were not its totals."""
        totals, self._totals = self._totals, None
        self._part = _Part.BETWEEN
        for line in totals.lines if totals is not None else ():
            if not self._proven:
                self._unclassified.append(line)
            elif self._terminal:
                self._suppressed.add(Kind.PROGRESS, line.number)
            else:
                self._contest(line)

    def _after(self, text: bytes, line: Line) -> bool | None:
        """A line behind the totals: jest's last words, or None if the report goes on, or false if it is another's."""
        totals = self._totals
        if totals is None:
            return None
        warning = Kind.ABNORMAL_WARNING
        if grammar.RAN.fullmatch(text) or text == grammar.INTERRUPTED:
            totals.interrupted |= text == grammar.INTERRUPTED
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if text.startswith((grammar.NO_EXIT, grammar.FORCED)) or grammar.OPEN_HANDLES.fullmatch(text):
            self._part = _Part.HANDLES if grammar.OPEN_HANDLES.fullmatch(text) else _Part.CLOSED
            self._marked[warning].append(line.as_kind(warning))
            return True
        if self._part is _Part.HANDLES and text.startswith((grammar.BULLET, grammar.INSIDE)):
            self._marked[warning].append(line.as_kind(warning))
            return True
        if text.startswith(grammar.NO_EXIT_MORE):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        if grammar.COVERAGE_MISSED.fullmatch(text):
            self._report.outside.append(Failure(decoded(text), line.as_kind(Kind.PROCESS_FAILURE)))
            return True
        if self._warns(text, line):
            return True
        if grammar.TABLE.fullmatch(text):
            self._suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        self._part = _Part.CLOSED
        if self.complete:
            return False
        if self._terminal or text.startswith(grammar.BULLET) or grammar.file_line(text) is not None:
            self._withdraw()
            return None
        if grammar.SUITES.fullmatch(text):
            return None
        return self._unknown(text, line)

    # -- the end

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        if not self._proven:
            return self._unproven()
        self._end_region()
        self._actions.end()
        totals = self._totals
        if totals is not None and not totals.whole:
            self._withdraw()
            totals = None
        if totals is not None:
            self._suppressed.add_lines(Kind.AGGREGATE_SOURCE, totals.lines)
        read = self._report.anything or totals is not None or bool(self._report.outside) or self._actions.anything
        account = settled(self._report, totals, self._suppressed, exit_code)
        self._settle_late(account.failures, exit_code)
        if self._report.signs["todo"]:
            self._suppressed.add_lines(Kind.RECAP, self._actions.todo)
        else:
            self._todo += (line.as_kind(Kind.TODO_TEST) for line in self._actions.todo)
        doubts = self._doubts | account.doubts
        if self._spoke and not read:
            doubts.discard(Doubt.COMPLETENESS_UNCONFIRMED)
            if not exit_code or self._promised != exit_code:
                doubts.add(Doubt.NO_TEST_EVIDENCE)
        if totals is not None and not totals.tests["total"] and not account.failures:
            doubts.add(Doubt.NO_TEST_EVIDENCE)
        if any(block.torn or not block.details for block in self._report.blocks):
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        told = sum(1 for block in self._report.blocks if not block.outside)
        if self._recapped is not None and len(self._recapped) != told:
            doubts.add(Doubt.RECAP_CONTRADICTION)
        unclassified = self._unclassified + account.unclassified + self._kept_snapshots(account.failures, exit_code)
        failures = self._with_retries(account.failures)
        if unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        standing = 0
        if totals is not None:
            standing = 3 if Doubt.AGGREGATE_CONTRADICTION not in doubts else 2
        return Reading(
            tally=account.tally,
            failures=tuple(failures),
            fatal_errors=tuple(self._marked[Kind.FATAL_ERROR]),
            timeouts=tuple(self._marked[Kind.TIMEOUT]),
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(sorted(unclassified, key=_place)),
            todo=tuple(self._todo),
            suppressed=self._suppressed.totals(),
            doubts=frozenset(doubts),
            has_results=totals is not None or bool(account.failures) or bool(self._report.shown.total()),
            fates=self._suppressed.fates,
            standing=standing,
        )

    def _settle_late(self, failures: list[Failure], exit_code: int | None) -> None:
        """Console calls after the end of the tests fail a run in which nothing else fails."""
        warning = Kind.ABNORMAL_WARNING
        for block in self._late:
            self._suppressed.add_lines(Kind.BLANK, block.blanks)
            if exit_code and not failures:
                failures.append(Failure(block.identity, block.header.as_kind(Kind.FAILED_TEST), tuple(block.details)))
            else:
                for one in (block.header, *block.details):
                    if bared(one.raw).strip():
                        self._marked[warning].append(one.as_kind(warning))
                    else:
                        self._suppressed.add(Kind.BLANK, one.number)

    def _unproven(self) -> Reading:
        """Lines like jest's that are nobody's, and console text whose run is told in another stream."""
        self._end_region()
        self._withdraw()
        lines = [*self._unclassified, *(line for _, line in self._held), *self._report.failed_headers.values()]
        lines += self._snapshots
        for failure in self._report.outside:
            lines += failure.lines()
        for block in self._report.blocks:
            lines += (block.header, *block.details, *block.blanks)
        for console in self._report.consoles:
            lines += console.lines
        return Reading(
            warnings=tuple(self._marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(sorted((line.as_kind(Kind.UNCLASSIFIED) for line in lines), key=_place)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
        )

    def _kept_snapshots(self, failures: list[Failure], exit_code: int | None) -> list[Line]:
        """Snapshot notes are kept where nothing else says why the run failed."""
        if exit_code and not failures:
            return self._snapshots
        self._suppressed.add_lines(Kind.INFORMATIONAL, self._snapshots)
        return []

    def _with_retries(self, failures: list[Failure]) -> list[Failure]:
        """Errors of tests that were tried again go with the test, if it failed in the end."""
        for name, retried in self._retried.items():
            for i, failure in enumerate(failures):
                parts = failure.identity.split(grammar.ARROW)
                if any(" ".join(parts[at:]) == decoded(name) for at in range(len(parts))):
                    lines = (line.as_kind(Kind.FAILURE_DETAIL) for line in retried.lines)
                    failures[i] = Failure(failure.identity, failure.header, (*failure.details, *lines))
                    break
            else:
                self._suppressed.add_lines(Kind.TEST_DETAIL, retried.lines)
        return failures


def _same(block: Block, file: bytes, title: bytes) -> bool:
    """Whether a title is a block's; the list of all failing tests names no project."""
    if block.file != file and not block.file.endswith(b" " + file):
        return False
    return block.title == title or block.title.startswith(title + b" ")


def _place(line: Line) -> int:
    return line.number


DIALECT = Dialect(
    name="jest",
    title="jest, default and verbose reporters",
    checked="jest 29.7, 30.5",
    streams=frozenset({"stdout", "stderr"}),
    opening=grammar.OPENING,
    begin=Jest,
    settle=settle,
)
