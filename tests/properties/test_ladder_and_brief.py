"""What holds for every run and every ceiling: packets and briefs under policy v3."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall import (
    PayloadCeilingTooSmall,
    SourceStream,
    reduce_streams,
    render_brief,
    serialize_packet,
    verify_packet,
)
from context_firewall.documents.evidence_packet import EvidencePacket

FOREIGN = st.one_of(
    st.sampled_from(["log line", "WARNING: w", "FATAL: f", "TIMEOUT: t", "", "| x"]), st.text(max_size=20)
)
DETAILS = st.lists(st.sampled_from(["message: m", "message: n", "at: x.js:1:2", "é" * 30]), max_size=4)
POINTS = st.one_of(
    st.tuples(st.just("ok"), st.just(()), st.just("")),
    st.tuples(st.just("not ok"), DETAILS, st.sampled_from(["", "", "", " # TODO later", " # SKIP s", " # time=1ms"])),
)
STEPS = st.lists(st.tuples(POINTS, st.lists(FOREIGN, max_size=3)), min_size=1, max_size=14)


@st.composite
def runs(draw: st.DrawFn) -> bytes:
    """A TAP run, mostly complete, with foreign lines between its points."""
    lines = ["TAP version 13"]
    steps = draw(STEPS)
    for number, ((word, details, directive), foreign) in enumerate(steps, 1):
        lines.append(f"{word} {number} - test {number}{directive}")
        if details:
            lines += ["  ---", *(f"  {detail}" for detail in details), "  ..."]
        lines += [line.replace("\n", " ") for line in foreign]
    if draw(st.booleans()):
        lines.append(f"1..{len(steps)}")
    return ("\n".join(lines) + "\n").encode()


def reduced(data: bytes, ceiling: int | None, exit_code: int = 1) -> EvidencePacket | None:
    """A packet, or None for a refusal that tells the truth about the smallest ceiling."""
    try:
        return reduce_streams(
            [SourceStream("stdout", len(data), (data,))],
            operation_id="op",
            source_id="s",
            run_id="r",
            raw_evidence_ref="ref",
            exit_code=exit_code,
            max_output_bytes=ceiling,
        )
    except PayloadCeilingTooSmall:
        return None


def shown(packet: EvidencePacket) -> set[tuple[str, int]]:
    """The lines whose text a packet holds."""
    found: set[tuple[str, int]] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if "text" in value:
                found.add((value["text"], value["line"]))
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(packet["decision_evidence"])
    return found


def accounted(packet: EvidencePacket) -> int:
    """How many failures a packet speaks of."""
    evidence = packet["decision_evidence"]
    named = sum(1 + len(failure.get("also", ())) for failure in evidence["failures"])
    return named + evidence.get("omitted_failures", {"count": 0})["count"]


@settings(deadline=None, max_examples=60)
@given(runs(), st.sampled_from([0, 1]), st.lists(st.integers(1_500, 9_000), min_size=2, max_size=5))
def test_a_lower_ceiling_adds_nothing(data: bytes, exit_code: int, ceilings: list[int]) -> None:
    above = reduced(data, None, exit_code)
    assert above is not None
    failures = accounted(above)
    for ceiling in sorted(ceilings, reverse=True):
        packet = reduced(data, ceiling, exit_code)
        if packet is None:
            assert all(reduced(data, lower, exit_code) is None for lower in (ceiling - 1, ceiling // 2))
            break
        size = len(serialize_packet(packet))
        assert size == packet["receipt"]["measurements"]["reduced_bytes"] <= ceiling
        assert shown(packet) <= shown(above)
        assert accounted(packet) == failures
        assert packet["decision_evidence"]["status"] == above["decision_evidence"]["status"]
        if above["decision_evidence"]["disposition"] == "NEEDS_RAW_EVIDENCE":
            assert packet["decision_evidence"]["disposition"] == "NEEDS_RAW_EVIDENCE"
        assert verify_packet(packet, streams={"stdout": data}) == []
        above = packet


@settings(deadline=None, max_examples=40)
@given(runs())
def test_a_refusal_names_the_smallest_ceiling(data: bytes) -> None:
    try:
        reduce_streams([SourceStream("stdout", len(data), (data,))], exit_code=1, max_output_bytes=500)
    except PayloadCeilingTooSmall as refusal:
        smallest = refusal.details["minimum_safe_packet_bytes"]

    def fits(ceiling: int) -> bool:
        try:
            reduce_streams([SourceStream("stdout", len(data), (data,))], exit_code=1, max_output_bytes=ceiling)
        except PayloadCeilingTooSmall:
            return False
        return True

    assert fits(smallest)
    assert fits(smallest + 1)
    assert not fits(smallest - 1)


@settings(deadline=None, max_examples=60)
@given(runs(), st.lists(st.integers(200, 3_000), min_size=2, max_size=6))
def test_a_brief_is_pure_and_bounded(data: bytes, ceilings: list[int]) -> None:
    packet = reduced(data, None)
    assert packet is not None
    again: EvidencePacket = json.loads(serialize_packet(packet))
    above = render_brief(packet)
    assert render_brief(again) == above
    for ceiling in sorted(ceilings, reverse=True):
        try:
            brief = render_brief(again, max_bytes=ceiling)
        except PayloadCeilingTooSmall as refusal:
            smallest = refusal.details["minimum_safe_packet_bytes"]
            assert ceiling < smallest
            assert len(render_brief(packet, max_bytes=smallest).encode()) <= smallest
            break
        assert len(brief.encode()) <= ceiling
        fenced, higher = ({line for line in text.split("\n") if line.startswith("|")} for text in (brief, above))
        assert fenced <= higher
        if "NOT SUFFICIENT" in above.split("\n")[0]:
            assert "NOT SUFFICIENT" in brief.split("\n")[0]
        above = brief
