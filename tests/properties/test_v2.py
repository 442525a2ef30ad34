"""What holds for every input under policy v2."""

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from key_order import check_key_order

from context_firewall import (
    PayloadCeilingTooSmall,
    SourceStream,
    reduce_streams,
    serialize_packet,
)
from context_firewall.documents.evidence_packet import EvidencePacket

V2 = "test-output-policy/v2"

LINES = st.one_of(
    st.sampled_from(
        [
            "ok 1 - a",
            "ok 2 - b # SKIP",
            "not ok 3 - c",
            "not ok - d # TODO",
            "  message: m",
            "    at f (x.js:1:2)",
            "✔ e (1ms)",
            "✖ f",
            "﹣ g # SKIP",
            "# tests 3",
            "# pass 1",
            "# fail 1",
            "ℹ skipped 0",
            "TAP version 13",
            "1..3",
            "FATAL: x",
            "TIMEOUT: y",
            "WARNING: z",
            "# note: n",
            "..X",
            "",
            "\x1b[31mnot ok 4 - red\x1b[0m",
            "ok 5 - cr\r",
        ]
    ),
    st.text(max_size=30).filter(lambda text: "\n" not in text),
)
OUTPUTS = st.builds(
    lambda lines, end, bad: "\n".join(lines).encode() + end + bad,
    st.lists(LINES, max_size=25),
    st.sampled_from([b"", b"\n"]),
    st.sampled_from([b"", b"", b"", b"\xff"]),
)
RUNS = st.fixed_dictionaries(
    {
        "exit_code": st.sampled_from([0, 1, None]),
        "interrupted": st.booleans(),
        "operation_id": st.sampled_from(["op", None]),
        "source_id": st.sampled_from(["suite", None]),
        "raw_evidence_ref": st.sampled_from(["ref", None]),
    }
)


def reduced(out: bytes, err: bytes, run: dict[str, Any], ceiling: int | None = None, size: int = 0) -> EvidencePacket:
    """A packet; `size` is the length of the chunks, 0 for one chunk."""

    def stream(name: str, data: bytes) -> SourceStream:
        step = size or max(1, len(data))
        return SourceStream(name, len(data), [data[i : i + step] for i in range(0, len(data), step)])

    return reduce_streams(
        [stream("stdout", out), stream("stderr", err)], run_id="r", max_output_bytes=ceiling, policy=V2, **run
    )


def texts(packet: EvidencePacket) -> list[str]:
    """Every line's text in a packet."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if "text" in value:
                found.append(value["text"])
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(packet["decision_evidence"])
    return found


def line_count(data: bytes) -> int:
    """Events of a stream: its lines, or one if it is not UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return 1
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


@given(OUTPUTS, OUTPUTS, RUNS)
def test_every_line_is_counted_once(out: bytes, err: bytes, run: dict[str, Any]) -> None:
    packet = reduced(out, err, run)
    measured = packet["receipt"]["measurements"]
    assert measured["original_event_count"] == line_count(out) + line_count(err)
    assert measured["retained_evidence_count"] == len(texts(packet))
    assert (
        measured["retained_evidence_count"] + measured["suppressed_evidence_count"] == measured["original_event_count"]
    )
    suppressed = packet["receipt"]["suppressed"]
    assert sum(suppressed["categories"].values()) == suppressed["event_count"] == measured["suppressed_evidence_count"]


@given(OUTPUTS, OUTPUTS, RUNS)
def test_reduced_bytes_is_the_length(out: bytes, err: bytes, run: dict[str, Any]) -> None:
    packet = reduced(out, err, run)
    assert packet["receipt"]["measurements"]["reduced_bytes"] == len(serialize_packet(packet))


@given(OUTPUTS, OUTPUTS, RUNS)
def test_sufficient_means_no_reasons(out: bytes, err: bytes, run: dict[str, Any]) -> None:
    packet = reduced(out, err, run)
    evidence, receipt = packet["decision_evidence"], packet["receipt"]
    sufficient = evidence["disposition"] == "SUFFICIENT"
    assert sufficient is (not evidence["reason_codes"])
    assert sufficient is receipt["reduction_complete"] is (not receipt["raw_evidence"]["escalation_required"])
    if "AGGREGATE_CONTRADICTION" not in evidence["reason_codes"]:
        counts = evidence["counts"]
        assert counts["failed"] == len(evidence["failures"])
        assert counts["total"] == counts["failed"] + counts["passed"] + counts["skipped"]


@settings(max_examples=50)
@given(OUTPUTS, OUTPUTS, RUNS, st.lists(st.integers(1500, 8000), min_size=2, max_size=4))
def test_a_lower_ceiling_never_adds(out: bytes, err: bytes, run: dict[str, Any], ceilings: list[int]) -> None:
    shown: set[str] | None = None
    sufficient = True
    status = reduced(out, err, run)["decision_evidence"]["status"]
    for ceiling in [None, *sorted(ceilings, reverse=True)]:
        try:
            packet = reduced(out, err, run, ceiling)
        except PayloadCeilingTooSmall:
            shown, sufficient = set(), False
            continue
        assert ceiling is None or len(serialize_packet(packet)) <= ceiling
        now = set(texts(packet))
        assert shown is None or now <= shown
        shown = now
        assert packet["decision_evidence"]["status"] == status
        is_sufficient = packet["decision_evidence"]["disposition"] == "SUFFICIENT"
        assert sufficient or not is_sufficient
        sufficient = is_sufficient


@given(OUTPUTS, OUTPUTS, RUNS, st.integers(1, 7))
def test_chunks_do_not_matter(out: bytes, err: bytes, run: dict[str, Any], size: int) -> None:
    assert reduced(out, err, run, size=size) == reduced(out, err, run)


@given(st.lists(LINES, max_size=10), st.lists(LINES, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_keys_and_streams_does_not_matter(out: list[str], err: list[str], random: Random) -> None:
    check_key_order(out, err, random, V2)
