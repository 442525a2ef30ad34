"""What jest's reporter for GitHub prints beside the others: an annotation an error, and groups.

The room's rules:

- It may stand before or behind any other reporter of jest's, or alone. So what it says is held until the report is
  over: beside accounts it is a second print of them, else it is the account.
- `::group::Errors thrown in lib/a.test.js` holds the text that the default reporter prints below a file's line, byte
  for byte. These groups come last of all, if no file was skipped.
- With `silent: false` each file has a tree: in a group if everything passed, else below a `FAIL` two blanks in. A file
  that does not load is said to have passed; so nothing is believed of a file, only of tests.
- Jest 30 prints in each group of errors the console text of the last file. The same text is kept once.
"""

import re
from collections import Counter
from enum import Enum, auto

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import jest_grammar as grammar
from context_firewall.transcript.dialects.jest_block import Block, Console
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare

_STEP = 2
# In how many ways an annotation is divided into title and text.
_DIVISIONS = 16


class _Open(Enum):
    """What lines are read as."""

    NOTHING = auto()
    ERRORS = auto()
    TREE = auto()
    """In a group."""
    FAILED_TREE = auto()
    """Below a file in which something failed."""


class Actions:
    """All that this reporter says in one run."""

    def __init__(self, suppressed: Account) -> None:
        self._suppressed = suppressed
        self.annotations: list[tuple[bytes, bytes, Line]] = []
        """File, title with all that follows, and line of each error."""
        self.blocks: list[Block] = []
        """What stands in the groups of errors."""
        self.files: set[bytes] = set()
        """The files that these groups name."""
        self.signs: Counter[str] = Counter()
        """How many tests of which outcome the trees show."""
        self.failed_trees = 0
        self.failed_signs: list[Line] = []
        self.todo: list[Line] = []
        self.loose: list[Line] = []
        """Lines that looked like a suite's title, with nothing below."""
        self.broken = False
        """A group was not closed, or holds no error."""
        self._open = _Open.NOTHING
        self._beneath = False
        """The group stands in a tree of a file that failed."""
        self._file = b""
        self._block: Block | None = None
        self._console: Console | None = None
        self._last = b""
        """The last console text."""
        self.consoles: list[Console] = []
        self._title: tuple[int, Line] | None = None
        self._name_open = False

    @property
    def open(self) -> bool:
        """Whether a group or a tree goes on."""
        return self._open is not _Open.NOTHING

    @property
    def anything(self) -> bool:
        """Whether it has said something."""
        return bool(self.annotations or self.files or self.signs)

    @property
    def titles(self) -> set[bytes]:
        """What annotations call the tests that failed."""
        return {_titles(rest)[0] for _, rest, _ in self.annotations}

    def end(self) -> None:
        """Something else follows: what is open was not closed."""
        self.broken |= self._open in (_Open.ERRORS, _Open.TREE)
        self._close()
        self._open = _Open.NOTHING

    def begins(self, text: bytes, line: Line) -> bool:
        """The first line of a group or a tree."""
        if not text.startswith((grammar.GROUP, grammar.FAIL)):
            return False
        errors = grammar.ERRORS_THROWN.fullmatch(text)
        if errors is not None:
            self.end()
            self._open, self._file = _Open.ERRORS, errors["file"]
            self.files.add(self._file)
        elif grammar.PASSED_TREE.fullmatch(text):
            self.end()
            self._open, self._beneath = _Open.TREE, False
        elif grammar.FAILED_TREE.fullmatch(text):
            self.end()
            self._open = _Open.FAILED_TREE
            self.failed_trees += 1
        elif self._open is _Open.FAILED_TREE and grammar.PASSED_SUITE.fullmatch(text):
            self._close()
            self._open, self._beneath = _Open.TREE, True
        else:
            return False
        self._suppressed.add(Kind.STRUCTURE, line.number)
        return True

    def takes(self, text: bytes, line: Line) -> bool:
        """A line of the open group or tree."""
        if self._open is _Open.NOTHING or text.startswith(grammar.GROUP):
            return False
        if text == grammar.END_OF_GROUP and self._open is not _Open.FAILED_TREE:
            self._close()
            # A group of errors holds one at least.
            self.broken |= self._open is _Open.ERRORS and (not self.blocks or self.blocks[-1].file != self._file)
            self._open = _Open.FAILED_TREE if self._open is _Open.TREE and self._beneath else _Open.NOTHING
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        return self._error(text, line) if self._open is _Open.ERRORS else self._in_tree(text, line)

    def _close(self) -> None:
        """No more of the open error, console text or suite."""
        if self._block is not None:
            self.blocks.append(self._block)
            self._block = None
        if self._console is not None:
            printed = b"\n".join(line.raw for line in self._console.lines)
            if self._open is not _Open.ERRORS:
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._console.lines)
            elif printed == self._last:
                self._suppressed.add_lines(Kind.RECAP, self._console.lines)
            else:
                self.consoles.append(self._console)
            self._last, self._console = printed, None
        if self._title is not None:
            self.loose.append(self._title[1])
            self._title = None
        self._name_open = False

    # -- groups of errors

    def _error(self, text: bytes, line: Line) -> bool:
        if text.startswith(grammar.BULLET):
            self._close()
            self._block = Block(self._file, text[len(grammar.BULLET) :], line)
        elif self._block is not None and (text.startswith(grammar.INSIDE) or not text.strip()):
            self._block.take(text, line)
        elif self._block is not None and not self._block.titled:
            # A test's name may hold line ends.
            self._block.title += b" " + text.strip()
            self._block.details.append(line.as_kind(Kind.FAILURE_DETAIL))
        else:
            return self._printed(text, line, {self._file})
        return True

    def _printed(self, text: bytes, line: Line, files: set[bytes]) -> bool:
        """A line of console text, which stands before errors and trees."""
        if self._console is None and grammar.CONSOLE_TITLE.fullmatch(text) and text.startswith(grammar.INSIDE):
            self._console = Console(files=set(files))
        if self._console is None:
            if text.strip():
                return False
            self._suppressed.add(Kind.BLANK, line.number)
            return True
        if text.strip() and not text.startswith(grammar.INSIDE):
            return False
        self._console.lines.append(line)
        return True

    # -- trees

    def _in_tree(self, text: bytes, line: Line) -> bool:
        if self._name_open:
            self._name_open = grammar.DURATION.search(text[-40:]) is None
            self._suppressed.add(Kind.STRUCTURE, line.number)
            return True
        if self._open is _Open.TREE and self._printed(text, line, set()):
            return True
        indent = len(text) - len(text.lstrip(b" "))
        result = grammar.RESULT.fullmatch(text)
        shallowest = 2 * _STEP if self._open is _Open.FAILED_TREE or self._beneath else _STEP
        if not text.strip() or indent < shallowest or (result is None and indent % _STEP):
            self.end() if self._open is _Open.FAILED_TREE else None
            return False
        self._below(indent)
        if result is None:
            self._title = (indent, line)
        else:
            self._result(result, line)
        return True

    def _below(self, indent: int) -> None:
        """A suite's title has something below it, one step in; else it was none."""
        title, self._title = self._title, None
        if title is not None and title[0] + _STEP == indent:
            self._suppressed.add(Kind.STRUCTURE, title[1].number)
        elif title is not None:
            self.loose.append(title[1])
        if self._console is not None:
            self._close()

    def _result(self, result: "re.Match[bytes]", line: Line) -> None:
        name = grammar.SIGNS[result["sign"]]
        self.signs[name] += 1
        self._name_open = grammar.DURATION.search(result["name"][-40:]) is None
        if name == "failed":
            self.failed_signs.append(line)
        elif name == "todo":
            self.todo.append(line)
        else:
            self._suppressed.add(Kind.SUCCESSFUL_TEST if name == "passed" else Kind.SKIPPED_TEST, line.number)

    # -- the account

    def repeats(self, blocks: list[Block]) -> tuple[list[Block], bool]:
        """Settle the groups of errors against the accounts of other reporters: what is left over, whether all agree.

        What is left over is told apart by its text, and has the file of the account of its title.
        """
        told = Counter(map(_text, blocks))
        files = {block.title: block.file for block in blocks}
        over = []
        for block in self.blocks:
            text = _text(block)
            if told[text]:
                told[text] -= 1
                self._suppressed.add_lines(Kind.RECAP, (block.header, *block.details, *block.blanks))
            else:
                block.file = files.get(block.title, block.file)
                over.append(block)
        missing = bool(self.files) and any(count for count in told.values())
        return over, not over and not missing

    def annotated(self, blocks: list[Block]) -> list[tuple[bytes, bytes, Line]]:
        """The annotations of which the accounts know nothing, with their titles; the others repeat them."""
        told = Counter(block.title for block in blocks)
        unknown = []
        for file, rest, line in self.annotations:
            titles = _titles(rest)
            known = next((title for title in titles if told[title]), None)
            if known is None:
                unknown.append((file, titles[0], line))
            else:
                told[known] -= 1
                self._suppressed.add(Kind.RECAP, line.number)
        return unknown


def _text(block: Block) -> tuple[bytes, ...]:
    """All that an error says."""
    return (block.title, *(bare(line.raw) for line in block.details if line.raw.strip()))


def _titles(rest: bytes) -> list[bytes]:
    """What an annotation's title may be, the shortest first: neither title nor text escapes the sign between them."""
    parts = rest.split(b"::", _DIVISIONS)
    return [b"::".join(parts[: at + 1]) for at in range(max(1, len(parts) - 1))]
