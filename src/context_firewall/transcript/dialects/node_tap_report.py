"""The report that a run of node-tap ends with: files of which not all passed, their results, totals, comments.

What may be anything stands four blanks in, so nothing that a test says can look like a heading or a result.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import node_tap_grammar as grammar
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded


class Counts(NamedTuple):
    """One line of totals, or the comment that repeats them."""

    passed: int
    failed: int
    skipped: int
    todo: int
    complete: int
    total: int

    @property
    def over(self) -> bool:
        """Whether nothing is left to run."""
        ended = self.passed + self.failed
        return self.total == ended + self.skipped + self.todo and self.complete in (ended, self.total)

    def behind(self, other: "Counts") -> bool:
        """Whether any of the numbers is smaller."""
        return any(mine < theirs for mine, theirs in zip(self, other, strict=True))

    @property
    def tally(self) -> Tally:
        """The same as a tally."""
        return Tally(self.passed, self.failed, self.skipped, self.todo, self.total)


def counted(text: bytes, *, suites: bool = False) -> Counts | None:
    """The totals that a bare line states."""
    found = (grammar.SUITES if suites else grammar.ASSERTS).fullmatch(text)
    return None if found is None else Counts(*(int(number or 0) for number in found.groups()))


def commented(text: bytes) -> Counts | None:
    """The totals that the last comments repeat."""
    found = grammar.COUNTED.fullmatch(text)
    if found is None:
        return None
    by = {name: int(number) for name, number in grammar.COUNT.findall(found[1])}
    passed, failed = by.get(b"pass", 0), by.get(b"fail", 0)
    return Counts(passed, failed, by.get(b"skip", 0), by.get(b"todo", 0), passed + failed, by.get(b"total", 0))


@dataclass(slots=True)
class Entry:
    """A result below its file's heading."""

    mark: bytes
    parts: list[bytes]
    """Its name, as the lines have it."""
    lines: list[Line]
    details: list[Line] = field(default_factory=list)

    @property
    def name(self) -> bytes:
        """The name in one piece: where it is broken stood a blank."""
        return b" ".join(self.parts)

    @property
    def flush(self) -> bool:
        """Whether it stands at the margin."""
        return not bare(self.lines[0].raw).startswith(b" ")

    def find_name(self, file: bytes) -> None:
        """Flush: what stands before the file's name is the rest of its own."""
        texts = [bare(line.raw).strip() for line in self.details]
        at = texts.index(file) if file in texts else 0
        if all(texts[:at]):
            self.parts += texts[:at]
            self.lines += self.details[:at]
            self.details = self.details[at:]


@dataclass(slots=True)
class File:
    """A file of which not all passed."""

    badge: bytes
    name: bytes
    line: Line
    failed: int
    todo: int
    skipped: int
    total: int
    entries: list[Entry] = field(default_factory=list)

    @property
    def key(self) -> tuple[bytes, ...]:
        """What the log says of the same file."""
        return self.badge, self.name, b"%d/%d" % (self.failed, self.total)

    @property
    def agrees(self) -> bool:
        """Whether as many results stand below the heading as it counts; a signal that ended the file is one more."""
        failed = [entry for entry in self.entries if entry.mark == grammar.FAILED]
        signals = sum(1 for entry in failed if grammar.SIGNAL.fullmatch(entry.name))
        todo = sum(1 for entry in self.entries if entry.mark == grammar.TODO)
        return len(failed) - signals <= self.failed <= len(failed) and todo == self.todo

    def failures(self, *, places: bool = False) -> Iterable[Failure]:
        """Its failing results; the file itself where it failed without one. `places`: behind the names stand places."""
        failed = [entry for entry in self.entries if entry.mark == grammar.FAILED]
        for entry in failed:
            name = entry.name
            title, _, place = name.rpartition(b" ")
            if places and title and grammar.PLACE.fullmatch(place):
                name = title.rstrip()
            header, *further = entry.lines
            rest = (line.as_kind(Kind.FAILURE_DETAIL) for line in further)
            identity = f"{decoded(self.name)} > {decoded(name)}"
            region = _region(entry.details, margin=b"  " if entry.flush else b"")
            yield Failure(identity, header.as_kind(Kind.FAILED_TEST), (*rest, *region))
        if self.badge == b"FAIL" and not failed:
            yield Failure(decoded(self.name), self.line.as_kind(Kind.FAILED_TEST))


def heading(text: bytes, line: Line) -> File | None:
    """A file's heading."""
    found = grammar.HEADING.fullmatch(text)
    if found is None:
        return None
    badge, name, failed, todo, skipped, total, passed = found.groups()
    return File(badge, name, line, int(failed or 0), int(todo or 0), int(skipped or 0), int(total or passed))


def read_files(lines: Sequence[Line]) -> tuple[list[File], list[Line], list[Line]]:
    """Headings with their results, in order; empty lines outside of details; lines that are none of it."""
    files: list[File] = []
    blanks: list[Line] = []
    others: list[Line] = []
    held: list[Line] = []
    entry: Entry | None = None
    for line in lines:
        text = bare(line.raw)
        if not text.strip():
            held.append(line)
            continue
        if entry is not None and (grammar.FLUSH_DETAIL if entry.flush else grammar.DETAIL).fullmatch(text):
            entry.details += [*held, line]
        else:
            blanks += held
            if (file := heading(text, line)) is not None:
                files.append(file)
                entry = None
            elif files and (found := grammar.ENTRY.fullmatch(text)) is not None:
                entry = Entry(found[1], [found[2].rstrip()], [line])
                files[-1].entries.append(entry)
            elif entry is not None and not entry.details and not held and grammar.FURTHER.fullmatch(text):
                entry.parts.append(text.strip())
                entry.lines.append(line)
            else:
                others.append(line)
                entry = None
        held = []
    for file in files:
        for one in file.entries:
            if one.flush:
                one.find_name(file.name)
    return files, [*blanks, *held], others


def _region(lines: Sequence[Line], *, margin: bytes) -> list[Line]:
    """Details by kind; `margin`: how far to the left they stand.

    Of the source, whose lines are numbered in order, only the one that failed is a detail.
    """
    kept: list[Line] = []
    part: list[int] = []
    """The last source line, and what may be further parts of it."""
    last = 0
    for line in lines:
        text = margin + bare(line.raw)
        numbered = grammar.SOURCE.fullmatch(text)
        kind = classify_detail(text) if text.strip() else Kind.FAILURE_CONTEXT
        if numbered is not None and (not last or int(numbered[1]) == last + 1):
            last, kind = int(numbered[1]), Kind.FAILURE_CONTEXT
            for at in part:
                kept[at] = kept[at].as_kind(kind)
            part = [len(kept)]
        elif grammar.POINTER.fullmatch(text):
            for at in part:
                kept[at] = kept[at].as_kind(Kind.FAILURE_DETAIL)
            part, kind = [], Kind.FAILURE_DETAIL
        elif last and text[4:5] not in b"+-@":
            part.append(len(kept))
        kept.append(line.as_kind(kind))
    return kept
