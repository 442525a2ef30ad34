"""What tests print, held until it is known whether a failure needs it."""

from dataclasses import dataclass, field

from context_firewall.transcript.facts import Output
from context_firewall.transcript.lines import Line
from context_firewall.transcript.spread import SEPARATOR, without_project

HELD_BYTES = 8 << 20
"""How much output of tests whose result is not known yet is held."""
_LINE_BYTES = 64
"""What a held line costs beside its text."""


@dataclass(slots=True)
class _Block:
    """A block of output."""

    test: str
    place: int
    lines: list[Line] = field(default_factory=list)
    loose: list[Line] = field(default_factory=list)
    size: int = 0


class Outputs:
    """The blocks of output that are held, by test."""

    def __init__(self) -> None:
        self._by_test: dict[str, list[_Block]] = {}
        self._tests_of: dict[str, dict[str, None]] = {}
        self._block = _Block("", 0)
        self._held = 0
        self._place = 0
        self.lost = False
        """Some was too much to hold."""

    @property
    def any(self) -> bool:
        """Whether a block is held."""
        return bool(self._by_test)

    def open(self, test: str) -> None:
        """A block begins."""
        self._place += 1
        self._block = _Block(test, self._place)
        self._by_test.setdefault(test, []).append(self._block)
        self._tests_of.setdefault(test.partition(SEPARATOR)[0], {})[test] = None

    def hold(self, line: Line, *, loose: bool) -> bool:
        """Whether there is room for a line of the block that was opened last."""
        size = len(line.raw) + _LINE_BYTES
        if self._held + size > HELD_BYTES:
            self.lost = True
            return False
        self._held += size
        self._block.size += size
        (self._block.loose if loose else self._block.lines).append(line)
        return True

    def forget(self, test: str) -> list[Line]:
        """The lines of a test that has not failed; they are not held any more. Loose ones stay."""
        blocks = self._by_test.get(test)
        if blocks is None:
            return []
        lines: list[Line] = []
        stay: list[_Block] = []
        for block in blocks:
            lines += block.lines
            self._held -= sum(len(line.raw) + _LINE_BYTES for line in block.lines)
            block.lines = []
            if block.loose:
                stay.append(block)
        if stay:
            self._by_test[test] = stay
        else:
            del self._by_test[test]
        return lines

    def forget_file(self, path: str) -> list[Line]:
        """The lines of all tests of a file that has not failed."""
        tests = self._tests_of.pop(without_project(path), {})
        return [line for test in tests for line in self.forget(test)]

    def held(self) -> tuple[Output, ...]:
        """What is still held, in the order in which it was printed."""
        blocks = sorted((block for blocks in self._by_test.values() for block in blocks), key=lambda one: one.place)
        return tuple(Output(one.test, tuple(one.lines), tuple(one.loose)) for one in blocks)
