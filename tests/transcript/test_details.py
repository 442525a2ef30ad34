"""The kind of a line inside a failure region."""

import time

import pytest

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.kinds import Kind

CASES = [
    ("  operator: deepEqual", Kind.ASSERTION),
    ("expected: 1", Kind.ASSERTION),
    ("\u00a0actual: 2", Kind.ASSERTION),
    ("\tdiff: -1 +2", Kind.ASSERTION),
    ("  code: ERR_ASSERTION", Kind.ASSERTION),
    ("  RangeError: out of it", Kind.STACK_TRACE),
    ("Error: plain", Kind.STACK_TRACE),
    ("    at run (lib/a.js:10:2)", Kind.STACK_TRACE),
    ("at top", Kind.STACK_TRACE),
    ("  see (lib/a.js:10:2) for more", Kind.STACK_TRACE),
    ("  error: it broke", Kind.FAILURE_MESSAGE),
    ("message: it broke", Kind.FAILURE_MESSAGE),
    ("cause: something", Kind.FAILURE_MESSAGE),
    ("  stack: |", Kind.FAILURE_DETAIL),
    ("  ---", Kind.FAILURE_DETAIL),
    ("attention", Kind.FAILURE_DETAIL),
    ("  Expected: 1", Kind.FAILURE_DETAIL),
    ("(a.js:10)", Kind.FAILURE_DETAIL),
    ("a.js:10:2)", Kind.FAILURE_DETAIL),
    ("", Kind.FAILURE_DETAIL),
]


@pytest.mark.parametrize(("text", "kind"), CASES)
def test_kinds(text: str, kind: Kind) -> None:
    assert classify_detail(text.encode()) is kind


@pytest.mark.parametrize("piece", [b"(", b":1", b"(:1:", b"(::", b"(1:1", b" ", b"\xc2\xa0", b"A", b"\xe3", b"at"])
def test_time_is_linear(piece: bytes) -> None:
    def seconds(count: int) -> float:
        line = b"(" + piece * count + b"x"
        started = time.thread_time()
        classify_detail(line)
        return time.thread_time() - started

    assert seconds(400_000) < 1.0
