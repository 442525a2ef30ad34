"""Every pattern of the reading rooms against long hostile lines: the time doubles when the line does.

Lengths go from a few kilobytes to a megabyte. A pattern fails when a step costs more than it may: one that looks at
every byte again for every byte does, and is caught while the line is still short.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from growth import PIECES, Pattern, grows_too_fast, patterns
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

import context_firewall
from context_firewall.transcript import broken_off, command_lines, details, idle, lines, markers, process_failure
from context_firewall.transcript.dialects import REGISTRY, node_grammar, tap_grammar
from context_firewall.transcript.hints import Hints

MODULES = (tap_grammar, node_grammar, details, process_failure, broken_off, command_lines, lines, markers, idle)
# Patterns that are tried at every offset of a line; the others are anchored where the line starts.
SEARCHED = {"ESCAPED", "OBJECT_PAIR", "ANSI", "POSITION", "LATER_DIRECTIVE", "DURATION", "_PLACE", "GREEN_ID"}

BEGINNINGS = {
    "tap_grammar": (b"", b"ok 1 - ", b"# Subtest: ", b"# { "),
    "node_grammar": (b"", "✔ ".encode(), b"test at "),
    "process_failure": (b"", b"    at "),
    "command_lines": (b"", b"node ", b"npx ", b"python -", b"A=1 ", b"cd a && "),
    "broken_off": (b"", b"    at https://", b"    at loadFiles (", b"PHP Fatal error:  ", b"#1 ", b"  thrown in "),
}
"""What a line starts with, so that a pattern gets past its own start; else nothing."""

CASES = [
    pytest.param(room, name, pattern, id=f"{room}-{name}")
    for module in MODULES
    for room in [module.__name__.rpartition(".")[2]]
    for name, pattern in patterns(module)
]


def anchored(pattern: Pattern) -> Callable[[bytes], object]:
    """Tried where the line starts, and the whole of it."""
    if isinstance(pattern.pattern, bytes):
        return pattern.fullmatch
    return lambda line: pattern.fullmatch(line.decode("utf-8", "replace"))


def everywhere(pattern: Pattern) -> Callable[[bytes], object]:
    """Tried at every offset."""
    if isinstance(pattern.pattern, bytes):
        return lambda line: pattern.sub(b"", line)
    return lambda line: pattern.sub("", line.decode("utf-8", "replace"))


@pytest.mark.soak
@pytest.mark.parametrize(("room", "name", "pattern"), CASES)
def test_time_grows_with_the_line(room: str, name: str, pattern: Pattern) -> None:
    deed = everywhere(pattern) if name in SEARCHED else anchored(pattern)
    for beginning in BEGINNINGS.get(room, (b"",)):
        for piece in PIECES:

            def line(length: int, piece: bytes = piece, beginning: bytes = beginning) -> bytes:
                return beginning + piece * (length // len(piece)) + b"\x01"

            assert not grows_too_fast(deed, line), (name, beginning, piece)


SOURCE = Path(context_firewall.__file__).parent
ANYWHERE = re.compile(r"(\w+)(?:\[\w+\])?\.(?:search|sub|subn|finditer|findall|split)\(")
"""A pattern's name where it is tried at every offset."""
LONG_ENOUGH = 1 << 18


def every_module() -> Iterator[ModuleType]:
    """All rooms in which text of a run is read or shown."""
    for room in ("transcript", "transcript.dialects", "documents", "documents.brief"):
        package = importlib.import_module(f"context_firewall.{room}")
        for found in pkgutil.iter_modules(package.__path__):
            yield importlib.import_module(f"{package.__name__}.{found.name}")


def examples(pattern: Pattern) -> list[bytes]:
    """Some texts that a pattern matches: with their beginnings, a line gets past the pattern's own start."""
    found: list[bytes] = []

    @settings(max_examples=3, database=None, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(pattern, fullmatch=True))
    def collect(text: bytes | str) -> None:
        found.append(text if isinstance(text, bytes) else text.encode())

    try:
        collect()
    except Unsatisfiable:  # anchored in what stands around it
        return []
    return found


@pytest.mark.soak
@pytest.mark.parametrize("module", list(every_module()), ids=lambda module: module.__name__.partition(".")[2])
def test_every_pattern_there_is(module: ModuleType) -> None:
    own = module.__name__.rpartition(".")[2]
    sources = (path.read_text() for path in sorted(SOURCE.rglob("*.py")))
    users = [text for text in sources if re.search(rf"^from [^\n]*\b{own}\b", text, re.MULTILINE)]
    users.append(Path(str(module.__file__)).read_text())
    tried_anywhere = set(ANYWHERE.findall("\n".join(users)))
    for name, pattern in patterns(module):
        deed = everywhere(pattern) if name.partition("[")[0] in tried_anywhere else anchored(pattern)
        texts = examples(pattern)
        beginnings = {b"", *texts, *(text[: len(text) // 2] for text in texts), *(text[:-1] for text in texts)}
        for beginning in sorted(beginnings):
            for piece in sorted({*PIECES, *texts} - {b""}):

                def line(length: int, piece: bytes = piece, beginning: bytes = beginning) -> bytes:
                    return beginning + piece * (length // len(piece)) + b"\x01"

                assert not grows_too_fast(deed, line, LONG_ENOUGH), (name, beginning, piece)


@pytest.mark.soak
@pytest.mark.parametrize("pattern", ["opening", "text", "colourless_text"])
def test_hints_of_all_dialects_together(pattern: str) -> None:
    """On one long line, and on many lines."""
    hints: Pattern = getattr(Hints(hint for row in REGISTRY for hint in row.hint), pattern)
    for end in (b"", b"\n", b"\r\n"):
        for begin in (b"", b"  ", b"    ", b"["):
            for piece in PIECES:

                def lines(length: int, unit: bytes = begin + piece + end) -> bytes:
                    return unit * (length // len(unit)) + b"\x01\n"

                assert not grows_too_fast(hints.match, lines, LONG_ENOUGH), (begin, piece, end)


def test_every_module_has_patterns_or_none_at_all() -> None:
    without = {module.__name__.rpartition(".")[2] for module in MODULES if not list(patterns(module))}
    assert without == {"markers"}


def test_the_measure_sees_a_square() -> None:
    def seen() -> bool:
        # Noise may hide it once; it is not looked for where a square takes minutes.
        return grows_too_fast(lambda line: re.search(rb"a*c", line), lambda length: b"a" * length, 1 << 16)

    assert any(seen() for _ in range(3))
    assert not grows_too_fast(lambda line: re.search(rb"(?<!a)a*+c", line), lambda length: b"a" * length)
