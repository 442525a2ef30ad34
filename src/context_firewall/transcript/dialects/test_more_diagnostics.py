"""What Test::More says about failing tests, line by line: blocks of comments, children before their parents.

The room's rules:

- A block begins with `#   Failed test 'NAME'`, or `#   Failed test at FILE line N.` where a test has no name; a name
  with newlines goes on in `# ` lines until its quote. Below it stand the place and what differs, each line a comment
  with the block's own indentation. Anything else ends it, and so does an empty line.
- A subtest's blocks are indented by four blanks more and stand before the block of the test that they make fail. A
  block without children below it is a failing test of its own; one with children only says that they failed, and its
  lines go to the last of them.
- `# Looks like …` is said when a file, or a subtest, is over: below column 0 it belongs to the block that follows.
- `#   Failed (TODO) test` is no failure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded

# "#   Failed test 'NAME'", "#   Failed test at FILE line N.", "#   Failed (TODO) test …"; the quote may close later.
HEADER = re.compile(rb"( *+)#   (Failed (\(TODO\) )?test(?: '(.*+)| (at .+ line [0-9]++\.)))")
# "#   at FILE line N."
PLACE = re.compile(rb" *+#   at (.+) line [0-9]++\.")
# "Looks like you failed 1 test of 3.", "Looks like you planned 4 tests but ran 2.", "Looks like your test exited …"
CLOSING = re.compile(rb"( *+)# (?:Looks like you|Tests were run but no plan was declared)")
COUNTED = re.compile(rb" *+# Looks like you failed [0-9]++ tests? of [0-9]++(?: run)?\.")
COMMENT = re.compile(rb"( *+)#")
SUBTEST = re.compile(rb" *+# Subtest: ")
QUOTE = b"'"
LONGEST_NAME = 8
"""Lines that a name may take."""


@dataclass(slots=True)
class Node:
    """A failing test: a block of diagnostics, or a point."""

    depth: int
    name: bytes
    lines: list[Line]
    """Header first."""
    children: list["Node"] = field(default_factory=list)
    place: bytes = b""
    """The file that its place names."""
    key: bytes = b""
    """What the point of the same test is called: its name's first line, or nothing."""
    number: int = 0
    """Of a point."""

    def leaves(self, path: tuple[bytes, ...] = ()) -> Iterator[tuple[tuple[bytes, ...], list[Line]]]:
        """The tests that fail by themselves, with the names above them; a parent's lines go to its last child."""
        path = (*path, self.name)
        if not self.children:
            yield path, self.lines
            return
        for child in self.children[:-1]:
            yield from child.leaves(path)
        *others, (names, lines) = self.children[-1].leaves(path)
        yield from others
        yield names, [*lines, *map(_of_parent, self.lines)]

    def every_line(self) -> Iterator[Line]:
        """All lines of it and below it."""
        for child in self.children:
            yield from child.every_line()
        yield from self.lines

    def failures(self, *above: str) -> list[Failure]:
        """A failure for each leaf; `above` stands before its names."""
        return [_failure(" > ".join((*above, *map(decoded, path))), lines) for path, lines in self.leaves()]


def _of_parent(line: Line) -> Line:
    """A line of a test that failed through its children: where it stands is told, the rest says that they failed."""
    return line.as_kind(Kind.STACK_TRACE if PLACE.fullmatch(bare(line.raw)) else Kind.FAILURE_CONTEXT)


def _failure(identity: str, lines: list[Line]) -> Failure:
    header, *details = lines
    of_parents = (Kind.FAILURE_CONTEXT, Kind.STACK_TRACE)
    kinds = (line if line.kind in of_parents else line.as_kind(classify_detail(line.raw)) for line in details)
    return Failure(identity, header.as_kind(Kind.FAILED_TEST), tuple(kinds))


class Family:
    """Nodes as they come, children before parents."""

    def __init__(self) -> None:
        self._waiting: list[Node] = []

    def add(self, node: Node) -> bool:
        """Take a node, with the deeper ones before it as its children. Says whether it is outermost."""
        start = len(self._waiting)
        while start and self._waiting[start - 1].depth > node.depth:
            start -= 1
        node.children = self._waiting[start:]
        del self._waiting[start:]
        if node.depth:
            self._waiting.append(node)
        return not node.depth

    def orphans(self) -> list[Node]:
        """Those whose parent never came."""
        orphans, self._waiting = self._waiting, []
        return orphans


class Taken(NamedTuple):
    """A line that belongs to the diagnostics."""

    kind: Kind | None = None
    """What it is if it is not kept by a node."""


HELD = Taken()


class Diagnostics:
    """Reads blocks."""

    def __init__(self) -> None:
        self._family = Family()
        self._open: Node | None = None
        self._indent = b""
        self._todo = False
        self._naming = False
        """The name's quote has not come yet."""
        self._preface: list[Line] = []
        self.nodes: list[Node] = []
        """Blocks of outermost tests, in order."""
        self.notes: list[Line] = []
        """What is said when a file is over, other than how many tests of it failed."""

    def take(self, bare: bytes, line: Line) -> Taken | None:
        """Take a line, or None if it is not of the diagnostics."""
        header = HEADER.fullmatch(bare)
        if header is not None:
            return self._begin(header, line)
        if self._naming and self._open is not None:
            return self._named(bare, line)
        closing = CLOSING.match(bare)
        if closing is not None:
            return self._closing(closing[1], bare, line)
        comment = COMMENT.match(bare)
        if comment is None or not (self._todo or self._open) or comment[1] != self._indent or SUBTEST.match(bare):
            self.pause()
            return None
        if self._open is None:
            return Taken(Kind.TEST_DETAIL)
        if not self._open.place and len(self._open.lines) <= LONGEST_NAME and (place := PLACE.fullmatch(bare)):
            self._open.place = place[1]
        self._open.lines.append(line)
        return HELD

    def pause(self) -> None:
        """The open block is over."""
        self._open, self._todo, self._naming = None, False, False

    def end(self) -> list[Node]:
        """The file is over: the blocks of its outermost tests. What is left of a subtest counts for itself."""
        self.pause()
        nodes, self.nodes = [*self.nodes, *self._family.orphans()], []
        self.notes += self._preface
        self._preface = []
        return nodes

    def _begin(self, header: re.Match[bytes], line: Line) -> Taken:
        self.pause()
        self._indent, text, todo, name, place = header.groups()
        if todo:
            self._todo = True
            return Taken(Kind.TEST_DETAIL)
        self._naming = name is not None and not name.endswith(QUOTE)
        name = name.removesuffix(QUOTE) if name is not None else None
        node = Node(len(self._indent), text if name is None else name, [line], key=(name or b"").strip())
        if place is not None:
            node.place = place[3:].rpartition(b" line ")[0]
        if self._family.add(node):
            self.nodes.append(node)
        node.lines += self._preface
        self._preface = []
        self._open = node
        return HELD

    def _named(self, bare: bytes, line: Line) -> Taken | None:
        """A further line of a name."""
        node = self._open
        start = self._indent + b"# "
        if node is None or not bare.startswith(start) or len(node.lines) > LONGEST_NAME:
            self.pause()
            return None
        self._naming = not bare.endswith(QUOTE)
        node.name += b" " + bare[len(start) :].removesuffix(QUOTE)
        node.lines.append(line)
        return HELD

    def _closing(self, indent: bytes, bare: bytes, line: Line) -> Taken:
        self.pause()
        if indent:
            self._preface.append(line)
        elif COUNTED.fullmatch(bare):
            return Taken(Kind.RECAP)
        else:
            self.notes.append(line)
        return HELD


class Said(NamedTuple):
    """What Test::More says in the lines of a stream that no dialect reads."""

    blocks: list[Node]
    recaps: list[tuple[Line, Kind]]
    """Lines that say nothing new."""
    rest: list[Line]
    """All others, in order."""


def diagnosed(lines: Sequence[Line]) -> Said:
    """Take the blocks out of standard error's unclassified lines; where a number is missing, an empty line stood."""
    reader, rest, recaps, before = Diagnostics(), list[Line](), list[tuple[Line, Kind]](), 0
    for line in lines:
        if line.number != before + 1:
            reader.pause()
        before = line.number
        taken = reader.take(bare(line.raw), line)
        if taken is None:
            rest.append(line)
        elif taken.kind is not None:
            recaps.append((line, taken.kind))
    blocks = reader.end()
    return Said(blocks, recaps, sorted([*rest, *reader.notes], key=lambda line: line.number))
