"""Policy v3's ladder, rung by rung, against the raw text and to the byte."""

import hashlib
import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from context_firewall import PayloadCeilingTooSmall, SourceStream, reduce_streams, serialize_packet, verify_packet
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.reduction.retention import shared_regions
from context_firewall.transcript.facts import Failure, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line

NONCRITICAL = "PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT"
REGIONS = "PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED"
CRITICAL = "PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED"
NAMES = "PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED"


def failing(number: int, *, words: str = "", size: int = 4) -> list[str]:
    """A failing point with a YAML block; `words` make its region its own."""
    pairs = [f"  key{i}: value {words}" for i in range(size)]
    return [f"not ok {number} - bakes loaf {number}", "  ---", *pairs, "  ..."]


def document(points: Sequence[list[str]], *, noise: Sequence[str] = (), failed: int | None = None) -> str:
    """A complete TAP document; the noise stands before the points."""
    lines = ["TAP version 13", *noise, *(line for point in points for line in point), f"1..{len(points)}"]
    bad = len(points) if failed is None else failed
    lines += [f"# tests {len(points)}", f"# pass {len(points) - bad}", f"# fail {bad}"]
    return "\n".join(lines) + "\n"


def reduced(text: str, ceiling: int | None = None, *, exit_code: int = 1) -> EvidencePacket:
    """Its packet, which must survive its own verification and honour its ceiling."""
    raw = text.encode()
    packet = reduce_streams(
        [SourceStream("stdout", len(raw), (raw,))],
        operation_id="bakery",
        source_id="oven",
        run_id="7",
        raw_evidence_ref="shelf:7",
        exit_code=exit_code,
        max_output_bytes=ceiling,
    )
    size = len(serialize_packet(packet))
    assert packet["receipt"]["measurements"]["reduced_bytes"] == size
    assert ceiling is None or size <= ceiling
    return packet


def size_of(text: str, ceiling: int | None = None) -> int:
    """How long its packet is."""
    return reduced(text, ceiling)["receipt"]["measurements"]["reduced_bytes"]


def limits(packet: EvidencePacket) -> list[str]:
    """What the ceiling cost, by reason code."""
    return [code for code in packet["decision_evidence"]["reason_codes"] if code.startswith("PAYLOAD_LIMIT")]


def evidence(packet: EvidencePacket) -> list[dict[str, Any]]:
    """Every line and reference of a packet."""
    found: list[dict[str, Any]] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if "stream" in value and "sha256" in value:
                found.append(value)
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(packet["decision_evidence"])
    return found


def check_against(text: str, packet: EvidencePacket, scattered: Sequence[int] = ()) -> None:
    """Recompute every reference from the raw text; `scattered` are the lines (from 1) of a reference with gaps."""
    lines = text.split("\n")
    for item in evidence(packet):
        first = item["line"]
        if "last_line" in item:
            numbers = list(scattered)
            assert (numbers[0], numbers[-1]) == (first, item["last_line"])
        else:
            numbers = list(range(first, first + item.get("line_count", 1)))
        joined = "\n".join(lines[number - 1] for number in numbers).encode()
        assert item["sha256"] == "sha256:" + hashlib.sha256(joined).hexdigest()
        assert item.get("line_count", 1) == len(numbers)
        if "text" in item:
            assert item["text"].encode() == joined
        else:
            assert item["byte_count"] == len(joined)
    measured = packet["receipt"]["measurements"]
    shown = sum("text" in item for item in evidence(packet))
    assert measured["retained_evidence_count"] == shown
    assert measured["original_event_count"] == len(lines) - 1 == shown + measured["suppressed_evidence_count"]
    suppressed = packet["receipt"]["suppressed"]["categories"]
    assert sum(suppressed.values()) == measured["suppressed_evidence_count"]
    assert verify_packet(packet, streams={"stdout": text.encode()}) == []


# -- each rung ---------------------------------------------------------------------------------------------------------

LOG = [f"oven {n}: door closed" for n in range(40)]
NOISY = document([failing(1, words="burnt"), failing(2, words="raw")], noise=LOG)


def test_without_a_ceiling_everything_is_there() -> None:
    packet = reduced(NOISY)
    assert limits(packet) == []
    assert packet["receipt"]["payload_limit"] == {"affected": False, "honored": True, "requested_bytes": None}
    check_against(NOISY, packet)


def test_references_are_blocks_of_adjacent_lines() -> None:
    packet = reduced(NOISY, size_of(NOISY) - 1)
    assert limits(packet) == [NONCRITICAL]
    (block,) = packet["decision_evidence"]["unclassified_evidence"]
    assert (block["line"], block.get("line_count")) == (2, 40)
    assert len(packet["decision_evidence"]["failures"][1].get("details", [])) == 6
    assert packet["receipt"]["payload_limit"]["affected"]
    assert packet["receipt"]["suppressed"]["categories"]["unclassified"] == 40
    check_against(NOISY, packet)


def spread(count: int) -> tuple[str, list[int]]:
    """One failure among foreign lines, no two of them adjacent; and the numbers of the foreign ones."""
    points = [failing(1, words="burnt"), *([f"ok {n} - rests", f"log {n}"] for n in range(2, count + 2))]
    text = document(points, failed=1)
    return text, [n for n, line in enumerate(text.split("\n"), 1) if line.startswith("log ")]


def test_digests_are_one_reference_for_scattered_lines() -> None:
    text, scattered = spread(65)
    packet = reduced(text, 6_000)
    assert limits(packet) == [NONCRITICAL]
    assert len(packet["decision_evidence"]["unclassified_evidence"]) == 1
    check_against(text, packet, scattered)


def test_unfinished_tests_are_digested_before_a_failure_is() -> None:
    points = [failing(1, words="burnt"), *([f"not ok {n} - plaits {n} # TODO later"] for n in range(2, 60))]
    text = document(points, failed=1)
    assert len(reduced(text)["decision_evidence"]["todo"]) == 58
    packet = reduced(text, 4_000)
    assert limits(packet) == [NONCRITICAL]
    assert len(packet["decision_evidence"]["failures"][0].get("details", [])) == 6
    (todo,) = packet["decision_evidence"]["todo"]
    assert todo.get("line_count") == 58
    check_against(text, packet)


MANY = document([failing(n, words=f"no {n}") for n in range(1, 41)], noise=LOG)


def test_graded_shows_the_first_failures_whole_and_refers_to_the_others() -> None:
    packet = reduced(MANY, 25_000)
    assert limits(packet) == [REGIONS]
    failures = packet["decision_evidence"]["failures"]
    whole = ["header" in failure for failure in failures]
    assert len(failures) == 40
    assert 0 < sum(whole) < 40
    assert whole == sorted(whole, reverse=True)
    assert all(("region" in failure) is not is_whole for failure, is_whole in zip(failures, whole, strict=True))
    region = failures[-1]["region"]
    assert (region["category"], region.get("line_count")) == ("failed_test", 7)
    check_against(MANY, packet)


def test_as_many_failures_as_fit_are_whole() -> None:
    wholes = []
    for ceiling in range(20_000, 26_000, 500):
        packet = reduced(MANY, ceiling)
        wholes.append(sum("header" in failure for failure in packet["decision_evidence"]["failures"]))
        # What is left over would not hold one more: text instead of a reference takes some 1,300 bytes here.
        assert ceiling - len(serialize_packet(packet)) < 1_400
    assert wholes == sorted(wholes)
    assert wholes[0] < wholes[-1]


def test_compact_names_every_failure_and_shows_no_text() -> None:
    packet = reduced(MANY, 4_500)
    assert limits(packet) == [CRITICAL]
    failures = packet["decision_evidence"]["failures"]
    assert [failure["identity"] for failure in failures] == [f"bakes loaf {n}" for n in range(1, 41)]
    assert not any("text" in item for item in evidence(packet))
    check_against(MANY, packet)


def test_counted_names_what_fits_and_accounts_for_the_rest() -> None:
    packet = reduced(MANY, 2_800)
    assert limits(packet) == [NAMES]
    named = len(packet["decision_evidence"]["failures"])
    assert 0 < named < 40
    check_omitted(MANY, packet, named, 40)
    check_against(MANY, packet)


def check_omitted(text: str, packet: EvidencePacket, named: int, count: int) -> None:
    """Recompute the account of the failures that are not named from the raw text."""

    def digest(line: str) -> str:
        return "sha256:" + hashlib.sha256(line.encode()).hexdigest()

    lines = text.split("\n")
    heads = [n for n, line in enumerate(lines) if line.startswith("not ok")]
    ends = [n for n, line in enumerate(lines) if line == "  ..."]
    assert len(heads) == count
    account = [
        [lines[head].partition(" - ")[2], *map(digest, lines[head : end + 1])]
        for head, end in list(zip(heads, ends, strict=True))[named:]
    ]
    canonical = json.dumps(account, separators=(",", ":"), ensure_ascii=False).encode()
    assert packet["decision_evidence"]["omitted_failures"] == {
        "count": count - named,
        "first_line": heads[named] + 1,
        "last_line": ends[-1] + 1,
        "sha256": "sha256:" + hashlib.sha256(canonical).hexdigest(),
    }


def test_fatal_errors_that_do_not_fit_are_digested_where_nothing_failed() -> None:
    points = [[f"ok {n} - rests", f"FATAL: oven {n} is out"] for n in range(1, 200)]
    text = document(points, failed=0)
    kept = len(reduced(text)["decision_evidence"]["fatal_errors"])
    assert kept == 199
    packet = reduced(text, 3_000)
    assert limits(packet) == [CRITICAL]
    assert len(packet["decision_evidence"]["fatal_errors"]) == 1
    check_against(text, packet, range(3, 401, 2))


# -- to the byte -------------------------------------------------------------------------------------------------------


def shape(text: str, ceiling: int) -> tuple[str, ...]:
    """What a ceiling leaves: the reason, how many are whole, how many named; `refused` if nothing."""
    try:
        packet = reduced(text, ceiling)
    except PayloadCeilingTooSmall:
        return ("refused",)
    failures = packet["decision_evidence"]["failures"]
    return (*limits(packet), str(sum("header" in f for f in failures)), str(len(failures)))


def test_every_boundary_between_two_shapes_is_exact() -> None:
    text = document([failing(n, words=f"no {n}", size=1) for n in range(1, 8)], noise=LOG[:30])
    highest = size_of(text) + 10
    boundaries = []
    low = 1_000
    shapes = {low: shape(text, low), highest: shape(text, highest)}

    def narrow(first: int, last: int) -> None:
        if shapes[first] == shapes[last]:
            return
        if last - first == 1:
            boundaries.append(last)
            return
        middle = (first + last) // 2
        shapes[middle] = shape(text, middle)
        narrow(first, middle)
        narrow(middle, last)

    narrow(low, highest)
    assert {shapes[b][0] for b in boundaries} == {NONCRITICAL, REGIONS, CRITICAL, NAMES, "7"}
    for boundary in boundaries:
        # At a boundary the packet fills its ceiling, save for the three bytes that a longer ceiling may take.
        assert boundary - size_of(text, boundary) <= (3 if str(boundary).startswith("1000") else 0)
    with pytest.raises(PayloadCeilingTooSmall) as refusal:
        reduced(text, min(boundaries) - 1)
    assert refusal.value.details["minimum_safe_packet_bytes"] == min(boundaries)


@pytest.mark.parametrize("ceiling", [0, 9, 10, 99, 100, 999, 1000])
@pytest.mark.parametrize("text", [NOISY, MANY, document([["ok 1 - a"]], failed=0), "", "hello\n"])
def test_a_refusal_names_the_smallest_ceiling(text: str, ceiling: int) -> None:
    with pytest.raises(PayloadCeilingTooSmall) as refusal:
        reduced(text, ceiling)
    smallest = refusal.value.details["minimum_safe_packet_bytes"]
    reduced(text, smallest)
    with pytest.raises(PayloadCeilingTooSmall) as again:
        reduced(text, smallest - 1)
    assert again.value.details["minimum_safe_packet_bytes"] == smallest


def test_a_ceiling_with_more_digits_never_shows_less() -> None:
    """A packet holds its ceiling: one of 9,999 bytes below 9,999 would have 10,002 below 10,000."""

    def padded(length: int) -> str:
        point = failing(1, words="burnt")
        point[2] += "z" * length
        return document([point])

    missing = 9_990 - size_of(padded(0), 9_999)
    for size in range(9_988, 10_002):
        text = padded(missing + size - 9_990)
        fitting = [limits(reduced(text, ceiling)) == [] for ceiling in range(9_985, 10_020)]
        assert fitting == sorted(fitting)
        assert {True, False} == set(fitting)


# -- promises ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [65, 700, pytest.param(70_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("together", [True, False])
def test_noise_never_pushes_out_a_failure(count: int, together: bool) -> None:
    if together:
        text = document([failing(1, words="burnt")], noise=[f"log {n}: steam" for n in range(count)])
    else:
        text, _ = spread(count)
    (failure,) = reduced(text, 12_000)["decision_evidence"]["failures"]
    lines = text.split("\n")
    first = lines.index("not ok 1 - bakes loaf 1")
    shown = [failure["header"], *failure["details"]]
    assert [dict(line)["text"] for line in shown] == lines[first : first + 7]


def test_a_thousand_failures_are_all_accounted_for() -> None:
    text = document([failing(n, words=f"no {n}") for n in range(1, 1_001)])
    started = time.thread_time()
    whole = reduced(text)
    one = time.thread_time() - started
    for ceiling in (12_000, 330_000, 660_000):
        started = time.thread_time()
        packet = reduced(text, ceiling)
        assert time.thread_time() - started < 6 * one + 0.5
        evidence_of_run = packet["decision_evidence"]
        named = len(evidence_of_run["failures"])
        if ceiling == 12_000:
            assert limits(packet) == [NAMES]
            assert named > 300
            check_omitted(text, packet, named, 1_000)
        else:
            assert limits(packet) == [REGIONS]
            assert named == 1_000
            assert len(serialize_packet(packet)) > ceiling - 1_500
        assert evidence_of_run["counts"] == whole["decision_evidence"]["counts"]
        assert evidence_of_run["counts"]["failed"] == 1_000


# -- shared regions ----------------------------------------------------------------------------------------------------


def test_a_shared_region_is_shown_once_and_suffices() -> None:
    text = document([failing(n, words="burnt" if n % 2 else "raw") for n in range(1, 7)])
    packet = reduced(text)
    assert packet["decision_evidence"]["disposition"] == "SUFFICIENT"
    failures = packet["decision_evidence"]["failures"]
    assert [failure["identity"] for failure in failures] == ["bakes loaf 1", "bakes loaf 2"]
    lines = text.split("\n")
    rebuilt: dict[str, list[str]] = {}
    for failure in failures:
        details = [str(dict(line)["text"]) for line in failure["details"]]
        rebuilt[failure["identity"]] = details
        for other in failure["also"]:
            assert lines[other["line"] - 1].endswith(f" - {other['identity']}")
            assert lines[other["line"] : other["line"] + len(details)] == details
            rebuilt[other["identity"]] = details
    assert sorted(rebuilt) == [f"bakes loaf {n}" for n in range(1, 7)]
    assert packet["receipt"]["suppressed"]["categories"]["failed_test"] == 4
    check_against(text, packet)


@pytest.mark.parametrize(
    ("header", "shared"),
    [
        ("not ok 2 - b", True),
        ("not ok 2 - b # time=3.5ms", True),
        ("    ✖ b (0.5ms)", True),
        ("\x1b[31m✖ b\x1b[39m", True),
        ("not ok 2 - b # SKIP the flour is gone", False),
        ("not ok 2 - b: the oven is cold", False),
        ("not ok 2 - xb", False),
        ("not ok 2", False),
    ],
)
def test_a_header_that_says_more_than_a_name_is_never_hidden(header: str, shared: bool) -> None:
    def line(number: int, kind: Kind, text: str) -> Line:
        return Line("stdout", number, kind, text.encode())

    failures = (
        Failure("a", line(1, Kind.FAILED_TEST, "not ok 1 - a"), (line(2, Kind.ASSERTION, "  same"),)),
        Failure("suite > b", line(3, Kind.FAILED_TEST, header), (line(4, Kind.ASSERTION, "  same"),)),
    )
    assert shared_regions(combined([])._replace(failures=failures)) == ((None, 0) if shared else None)


def test_a_graded_packet_is_found_although_sharing_makes_it_shorter() -> None:
    """With one region whole, the 200 failures that share it need no reference: no smaller number would fit."""
    points = [failing(n, words="burnt") for n in range(1, 201)]
    points += [failing(n, words=f"no {n}", size=30) for n in range(201, 231)]
    text = document(points)
    packet = reduced(text, 40_000)
    assert limits(packet) == [REGIONS]
    failures = packet["decision_evidence"]["failures"]
    assert len(failures[0]["also"]) == 199
    assert 40_000 - len(serialize_packet(packet)) < 7_000
    check_against(text, packet)


def unknown(count: int, ceiling: int | None) -> EvidencePacket:
    """The packet of a run in which nothing is recognised."""
    text = "".join(f"[{n}] kiln {n % 4}: shelf {n} is {'warm' if n % 3 else 'cold'}\n" for n in range(1, count + 1))
    return reduced(text, ceiling, exit_code=2)


def edges(packet: EvidencePacket) -> tuple[list[int], list[int]]:
    """The numbers of the unclassified lines with text, before and behind the reference."""
    evidence = packet["decision_evidence"]["unclassified_evidence"]
    at = [place for place, line in enumerate(evidence) if "text" not in line]
    assert len(at) == 1
    return [line["line"] for line in evidence[: at[0]]], [line["line"] for line in evidence[at[0] + 1 :]]


@pytest.mark.parametrize("ceiling", [2600, 4000, 9999, 10_000, 30_000])
def test_of_an_unknown_run_head_and_tail_keep_their_text(ceiling: int) -> None:
    packet = unknown(3000, ceiling)
    head, tail = edges(packet)
    assert head == list(range(1, len(head) + 1))
    assert tail == list(range(3001 - len(tail), 3001))
    assert len(head) - len(tail) in (0, 1)
    size = packet["receipt"]["measurements"]["reduced_bytes"]
    assert ceiling - 700 < size <= ceiling
    assert not verify_packet(packet)
    rest = packet["decision_evidence"]["unclassified_evidence"][len(head)]
    assert dict(rest)["line_count"] == 3000 - len(head) - len(tail)


def test_a_lower_ceiling_shows_no_other_line_of_an_unknown_run() -> None:
    shown: set[int] = set()
    for ceiling in range(2100, 12_000, 97):
        evidence = unknown(200, ceiling)["decision_evidence"]["unclassified_evidence"]
        now = {line["line"] for line in evidence if "text" in line}
        assert shown <= now
        shown = now


def test_a_run_with_a_test_gives_up_all_its_remarks_at_once() -> None:
    text = "1..1\nok 1 - a\n" + "stray line of a tool\n" * 90
    packet = reduced(text, 3000, exit_code=0)
    assert all("text" not in line for line in packet["decision_evidence"]["unclassified_evidence"])
