"""The explanation document: every line once, canonical bytes, counts that agree with the packet's receipt."""

import json
from itertools import pairwise

import pytest
from explained_runs import HOSTILE, PLAIN, explained

from context_firewall.canonical import canonical_bytes
from context_firewall.documents.explanation import FATES, PROTOCOL, line_counts, serialize_explanation

RUNS = {
    "plain": (PLAIN, None),
    "with standard error": (PLAIN, b"a warning\nanother\n"),
    "hostile": (HOSTILE, b"\x1b[2J\n"),
    "empty": (b"", None),
    "without a last newline": (b"TAP version 13\n1..1\nnot ok 1 - cut", None),
    "blank lines only": (b"\n\n\n", b""),
}


@pytest.mark.parametrize("name", RUNS)
def test_spans_cover_every_line_once_in_order(name: str) -> None:
    """EXP-1."""
    stdout, stderr = RUNS[name]
    explanation = explained(stdout, stderr)
    assert explanation["protocol_version"] == PROTOCOL
    given = {"stdout": stdout} | ({} if stderr is None else {"stderr": stderr})
    assert [stream["name"] for stream in explanation["streams"]] == list(given)
    for stream in explanation["streams"]:
        data = given[stream["name"]]
        assert stream["byte_count"] == len(data)
        assert stream["line_count"] == data.count(b"\n") + bool(data and not data.endswith(b"\n"))
        next_line = 1
        for span in stream["spans"]:
            assert span["first"] == next_line
            assert span["last"] >= span["first"]
            assert span["fate"] in FATES
            next_line = span["last"] + 1
        assert next_line == stream["line_count"] + 1


@pytest.mark.parametrize("name", RUNS)
def test_adjacent_spans_differ(name: str) -> None:
    """EXP-1: lines that share kind, fate and rule are one span."""
    for stream in explained(*RUNS[name])["streams"]:
        alike = [
            {key: value for key, value in span.items() if key not in ("first", "last")} for span in stream["spans"]
        ]
        assert all(one != other for one, other in pairwise(alike))


@pytest.mark.parametrize("ceiling", [None, 3200])
@pytest.mark.parametrize("name", RUNS)
def test_counts_agree_with_the_receipt(name: str, ceiling: int | None) -> None:
    """EXP-2 and EXP-3."""
    stdout, stderr = RUNS[name]
    explanation = explained(stdout, stderr, max_output_bytes=None if name == "hostile" else ceiling)
    counts = line_counts(explanation)
    receipt = explanation["packet"]["receipt"]
    assert sum(counts.values()) == receipt["measurements"]["original_event_count"]
    kept = sum(count for (_, fate), count in counts.items() if fate == "kept")
    if ceiling is None:
        assert kept <= receipt["measurements"]["retained_evidence_count"]
    suppressed = {kind: count for (kind, fate), count in counts.items() if fate == "suppressed"}
    named = receipt["suppressed"]["categories"]
    assert all(named.get(kind, 0) >= count for kind, count in suppressed.items())
    assert list(counts) == sorted(counts)


def test_its_bytes_are_canonical_and_end_with_a_newline() -> None:
    """DOC-1 and EXP-1: one document, the same bytes for the same run."""
    data = serialize_explanation(explained(HOSTILE))
    assert data == serialize_explanation(explained(HOSTILE))
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert canonical_bytes(json.loads(data)) + b"\n" == data


def test_failures_are_named_by_their_place_in_the_packet() -> None:
    """EXP-3."""
    explanation = explained(PLAIN)
    failures = explanation["packet"]["decision_evidence"]["failures"]
    owned = {
        (span["failure"], number)
        for stream in explanation["streams"]
        for span in stream["spans"]
        if "failure" in span
        for number in range(span["first"], span["last"] + 1)
    }
    for place, failure in enumerate(failures):
        assert (place, failure["header"]["line"]) in owned
        assert all((place, line["line"]) in owned for line in failure["details"])
