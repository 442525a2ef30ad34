"""Policy v2's reading, rule by rule."""

import time

import pytest

from context_firewall.transcript.dialects.flat import read_flat
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Tally, Transcript
from context_firewall.transcript.kinds import Kind


def read(text: str | bytes, err: str | bytes = b"") -> Transcript:
    """One or two streams, each in one chunk."""
    streams = [("stdout", text), ("stderr", err)]
    return read_flat([(name, (data.encode() if isinstance(data, str) else data,)) for name, data in streams])


def kind_of(line: str) -> Kind:
    """The kind of a line that stands alone."""
    found = read(line + "\n")
    kept = [kept.kind for part in (found.failures,) for failure in part for kept in failure.lines()]
    kept += [
        one.kind for lines in (found.fatal_errors, found.timeouts, found.warnings, found.unclassified) for one in lines
    ]
    kept += list(found.suppressed)
    assert len(kept) == 1
    return kept[0]


ALONE = [
    ("ok", Kind.SUCCESSFUL_TEST),
    ("ok 1", Kind.SUCCESSFUL_TEST),
    ("    ok 1 - deep", Kind.SUCCESSFUL_TEST),
    ("\u2003ok 1 - after an em space", Kind.SUCCESSFUL_TEST),
    ("ok, said the sentence", Kind.SUCCESSFUL_TEST),
    ("\x1b[32mok 1 - green\x1b[0m", Kind.SUCCESSFUL_TEST),
    ("ok 1 - windows\r", Kind.SUCCESSFUL_TEST),
    ("ok 1 - later # TODO", Kind.SUCCESSFUL_TEST),
    ("ok 1 - hash # skippy", Kind.SUCCESSFUL_TEST),
    ("ok 1 - # SKIP", Kind.SUCCESSFUL_TEST),
    ("ok 1 # SKIP", Kind.SKIPPED_TEST),
    ("ok 1 - a # skip because", Kind.SKIPPED_TEST),
    ("ok 1 - a #Skip", Kind.SKIPPED_TEST),
    ("ok 1 - a # ſkip", Kind.SUCCESSFUL_TEST),
    ("✔ a (1.25ms)", Kind.SUCCESSFUL_TEST),
    ("✔ a # b", Kind.SUCCESSFUL_TEST),
    ("﹣ a (0.1ms) # SKIP", Kind.SKIPPED_TEST),
    ("✔ ", Kind.UNCLASSIFIED),
    ("✔", Kind.UNCLASSIFIED),
    ("okay", Kind.UNCLASSIFIED),
    ("not okay", Kind.UNCLASSIFIED),
    ("not ok 1 - a # TODO later", Kind.UNCLASSIFIED),
    ("not ok 1 - a", Kind.FAILED_TEST),
    ("not ok 1 - a # SKIP", Kind.FAILED_TEST),
    ("✖ a", Kind.FAILED_TEST),
    ("# tests 0", Kind.AGGREGATE_SOURCE),
    ("ℹ fail 0", Kind.AGGREGATE_SOURCE),
    ("# passed 0", Kind.UNCLASSIFIED),
    ("TAP version 13", Kind.STRUCTURE),
    ("\ufeffTAP version 13", Kind.STRUCTURE),
    ("1..0", Kind.STRUCTURE),
    ("# Subtest: a", Kind.STRUCTURE),
    ("  ---", Kind.STRUCTURE),
    ("...", Kind.STRUCTURE),
    ("FATAL: a", Kind.FATAL_ERROR),
    ("# FATAL: a", Kind.FATAL_ERROR),
    ("RUNNER CRASH: a", Kind.FATAL_ERROR),
    ("UNCAUGHT: a", Kind.FATAL_ERROR),
    ("fatal: a", Kind.UNCLASSIFIED),
    ("TIMEOUT: a", Kind.TIMEOUT),
    ("WARNING: a", Kind.ABNORMAL_WARNING),
    ("WARN: a", Kind.ABNORMAL_WARNING),
    ("# duration_ms 1.5", Kind.DURATION_SOURCE),
    ("ℹ suites 0", Kind.INFORMATIONAL),
    ("# note: anything", Kind.INFORMATIONAL),
    ("ℹ FATAL: known misreading", Kind.INFORMATIONAL),
    ("> node --test", Kind.INFORMATIONAL),
    ("Switched to a new branch", Kind.INFORMATIONAL),
    ("..X..", Kind.PROGRESS),
    ("", Kind.BLANK),
    (" \u3000\ufeff ", Kind.BLANK),
    ("\x1b[0m", Kind.BLANK),
    ("\x85", Kind.UNCLASSIFIED),
    ("\x1c", Kind.UNCLASSIFIED),
    ("error PASS FAIL warning", Kind.UNCLASSIFIED),
    ("▶ suite", Kind.UNCLASSIFIED),
]


@pytest.mark.parametrize(("line", "kind"), ALONE)
def test_a_line_alone(line: str, kind: Kind) -> None:
    assert kind_of(line) is kind


@pytest.mark.parametrize(
    ("line", "identity"),
    [
        ("not ok", "(unnamed test)"),
        ("not ok 4 - ", "(unnamed test)"),
        ("not ok 4 - two  words ", "two  words"),
        ("not ok 4 two - words", "two - words"),
        ("not ok - 100%", "100%"),
        ("not ok 1 - \x1b[31mred\x1b[0m", "red"),
        ("not ok 1 - nbsp\u00a0\u2028", "nbsp"),
        ("✖ spec (12ms)", "spec"),
        ("✖ spec (12.5ms)", "spec"),
        ("✖ spec (12s)", "spec (12s)"),
        ("✖ spec(12ms)", "spec(12ms)"),
        ("✖  (12ms)", "(12ms)"),
        ("✖ trailing   (1.5ms)  \r", "trailing"),
    ],
)
def test_identities(line: str, identity: str) -> None:
    assert [failure.identity for failure in read(line + "\n").failures] == [identity]


def test_a_region_takes_all_but_openers() -> None:
    found = read("not ok 1 - a\nFATAL: in here\n\n  ...\n# note: x\nWARNING: y\n1..1\nFATAL: out here\n")
    assert [line.number for line in found.failures[0].details] == [2, 3, 4, 5, 6]
    assert [line.number for line in found.fatal_errors] == [8]


@pytest.mark.parametrize(
    "closing", ["ok 2", "✔ b", "# tests 2", "1..2", "TAP version 13", "# Subtest: b", "not ok 2 # TODO x"]
)
def test_what_closes_a_region(closing: str) -> None:
    found = read(f"not ok 1 - a\n  why\n{closing}\nstray\n")
    assert [line.number for line in found.failures[0].details] == [2]
    assert [line.number for line in found.unclassified][-1] == 4


def test_regions_end_with_their_stream() -> None:
    found = read("not ok 1 - a\n", "stray\n")
    assert found.failures[0].details == ()
    assert [line.stream for line in found.unclassified] == ["stderr"]


def test_aggregates_win_and_differences_are_told() -> None:
    found = read("ok 1\n# tests 3\n# pass 2\n# pass 3\n")
    assert found.tally == Tally(passed=3, failed=0, skipped=0, total=3)
    assert Doubt.AGGREGATE_CONTRADICTION in found.doubts


def test_aggregates_count_over_both_streams() -> None:
    found = read("ok 1\n# tests 2\n# pass 1\n# fail 1\n", "not ok 1 - here\n")
    assert Doubt.AGGREGATE_CONTRADICTION not in found.doubts
    assert found.tally == Tally(passed=1, failed=1, skipped=0, total=2)


def test_a_count_of_any_length_is_read_in_time() -> None:
    found = read("ok 1\n# tests " + "0" * 50_000 + "1\n# pass " + "9" * 50_000 + "\n")
    assert found.tally.total == 1
    assert found.tally.passed == 2**53 - 1


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80"])
def test_one_bad_byte_hides_a_stream(bad: bytes) -> None:
    found = read(b"not ok 1 - a\n# fail 7\n" + bad, b"ok 1\n")
    assert found.failures == ()
    assert found.tally == Tally(passed=1, total=1)
    assert [(line.kind, line.number) for line in found.unclassified] == [(Kind.UNCLASSIFIED_BINARY, 1)]
    assert found.unclassified[0].text.startswith(f"[non-UTF-8 {22 + len(bad)} bytes; sha256:")
    assert found.doubts == {Doubt.MALFORMED_UTF8}
    assert found.event_count == 2


def test_only_a_newline_ends_a_line() -> None:
    found = read("a\rb\x85c\u2028d\x0be\x0cf\nlast")
    assert [line.number for line in found.unclassified] == [1, 2]


def test_the_byte_order_mark_leaves_the_text_only() -> None:
    found = read("\ufeffnot ok 1 - a\n")
    header = found.failures[0].header
    assert header is not None
    assert header.text == "not ok 1 - a"


def test_empty_streams_hold_nothing() -> None:
    found = read("", "")
    assert (found.event_count, found.has_results) == (0, False)


@pytest.mark.parametrize(
    "line",
    [
        "✔" + " (" * 100_000,
        "✖" + " (" * 100_000,
        " " * 100_000 + "x",
        "not ok 1 x" + "\u00a0" * 50_000 + "y" + " " * 50_000,
        "ok 1 " + " #" * 100_000,
        "\x1b[" * 100_000,
        "\x1b]" * 100_000,
        "not ok 1 -" + "-" * 100_000,
        "." * 100_000 + "a",
    ],
)
def test_time_is_linear(line: str) -> None:
    started = time.thread_time()
    read(line + "\n")
    assert time.thread_time() - started < 1.0
