"""Hints: none hides an opening, and together they say what each says by itself."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from context_firewall.transcript.dialects import REGISTRY, Entry
from context_firewall.transcript.hints import Hints, any_of
from context_firewall.transcript.lines import bare

CORPUS = Path(__file__).resolve().parents[2] / "conformance" / "v3"
OUTPUTS = (path.read_bytes() for path in CORPUS.glob("*/stdout.*") if path.stat().st_size < 1 << 15)
LINES = sorted({bare(line) for output in OUTPUTS for line in output.split(b"\n")})
HINTS = Hints(hint for row in REGISTRY for hint in row.hint)


@pytest.mark.parametrize("row", REGISTRY, ids=lambda row: row.name)
def test_a_hint_hides_no_opening(row: Entry) -> None:
    """READ-16: not of a bare line, and not in a block of raw ones."""
    openings = [pattern for pattern in (row.dialect.opening, row.dialect.placed) if pattern is not None]
    own = re.compile(b"|".join(row.hint))

    @settings(max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of([st.from_regex(opening) for opening in openings]))
    def hidden(text: bytes) -> None:
        line = text.partition(b"\n")[0]
        if not row.dialect.opens(line):
            return
        assert own.match(line)
        assert HINTS.opening.match(line)
        for end in (b"\n", b"\r\n"):
            for pattern in (HINTS.text, HINTS.colourless_text):
                found = pattern.match(b"text\n" + line + end)
                assert found is not None
                assert found[0] == b"text\n"

    hidden()
    for line in LINES:
        assert own.match(line) or not row.dialect.opens(line), line


@pytest.mark.parametrize(
    "hints",
    [
        [b"ok", b"ok 1", b"o"],
        [b"ab", b"ac", b"b", b"c", b"-", b"]", rb"\]", rb"\\", rb"\xe2", b"d"],
        [rb"[a-c]++d", rb"[a-c]++e", b"(?:a|b) c", b"a*b", b"a+b", b"a{2}b", b"a++b", b"a?+c", b" ++a", b" b", b"^b"],
        [b"a"],
        [b"(?:a)", b"b"],
    ],
)
def test_together_hints_say_what_each_says(hints: list[bytes]) -> None:
    each = [re.compile(hint) for hint in hints]
    together = re.compile(any_of(hints))
    pieces = [b"a", b"b", b"c", b"d", b"e", b" ", b"-", b"]", b"\\", b"\xe2", b"o", b"k", b"1", b"^"]
    texts = [b"", *pieces, *(a + b for a in pieces for b in pieces)]
    texts += [a + b for a in texts for b in pieces]
    for text in texts:
        assert bool(together.match(text)) is any(one.match(text) for one in each), text


@pytest.mark.parametrize(
    "line", ["", " \t", "a", "a\r", "Pending", "  adds up (twice)", "> a", "WARNING: a", "ok", "\x1b[1ma"]
)
def test_text_is_what_opens_nothing_and_is_no_marker(line: str) -> None:
    """READ-6."""
    block = f"{line}\n".encode()
    text = line not in ("> a", "WARNING: a", "ok")
    assert bool(HINTS.colourless_text.match(block)) is (text and "\x1b" not in line)
    assert bool(HINTS.text.match(block)) is text


def test_text_ends_with_whole_lines() -> None:
    found = HINTS.text.match(b"a\n\n \nb\nok 1\nc\n")
    assert found is not None
    assert found[0] == b"a\n\n \nb\n"
    assert not HINTS.text.match(b"a")


@pytest.mark.parametrize("row", REGISTRY, ids=lambda row: row.name)
def test_who_adopts_text_is_not_tentative(row: Entry) -> None:
    assert not (row.dialect.adopts_text and row.dialect.tentative)
