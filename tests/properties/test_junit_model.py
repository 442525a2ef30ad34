"""Properties of JUnit XML: a model is read exactly, however it is laid out; damage never tells another story."""

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall import SourceStream, reduce_streams, verify_packet
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.transcript.reader import trace_streams

NAMES = st.sampled_from(["fills", "a & b", '"quoted"', "<every>", "tart, sweet", "ключ", "]]>", "ok 1 - x"])
OUTCOMES = st.sampled_from(["passed", "passed", "passed", "failure", "error", "skipped", "pytest.xfail"])
PRINTS = st.sampled_from(["", "", "ok 1 - printed\nFAILED\n", "</testcase>\n", "a\n\nb", "]] > &"])


class Case(NamedTuple):
    """A test of the model."""

    name: str
    outcome: str
    prints: str


class Layout(NamedTuple):
    """How the model is written."""

    gap: str
    literal: bool
    declared: bool


CASES = st.builds(Case, NAMES, OUTCOMES, PRINTS)
SUITES = st.lists(st.lists(CASES, max_size=4), min_size=1, max_size=3)
LAYOUTS = st.builds(Layout, st.sampled_from(["", "\n", "\n\t"]), st.booleans(), st.booleans())
DAMAGE = st.tuples(st.sampled_from(["drop", "cut", "repeat", "swap"]), st.integers(0, 400))


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def written(suites: list[list[Case]], layout: Layout) -> str:
    """The report of a model."""
    gap = layout.gap

    def text(value: str) -> str:
        return f"<![CDATA[{value.replace(']]>', ']]]]><![CDATA[>')}]]>" if layout.literal else escaped(value)

    def case(number: int, one: Case) -> str:
        start = f'<testcase classname="soup.{number}" name="{escaped(one.name)}" time="0.1"'
        inside = f"{gap}<system-out>{text(one.prints)}</system-out>" if one.prints else ""
        if one.outcome in ("failure", "error"):
            inside += f'{gap}<{one.outcome} message="m">{text("boom: <3" + chr(10) + "  at a.js:1:2")}</{one.outcome}>'
        elif one.outcome != "passed":
            inside += f'{gap}<skipped type="{one.outcome}"/>'
        return f"{gap}{start}>{inside}{gap}</testcase>" if inside else f"{gap}{start}/>"

    def counts(cases: list[Case]) -> str:
        ended = [one.outcome for one in cases]
        skipped = ended.count("skipped") + ended.count("pytest.xfail")
        return (
            f'tests="{len(cases)}" failures="{ended.count("failure")}" errors="{ended.count("error")}"'
            f' skipped="{skipped}"'
        )

    def suite(number: int, cases: list[Case]) -> str:
        inside = "".join(case(number, one) for one in cases)
        return f'{gap}<testsuite name="s{number}" {counts(cases)}>{inside}{gap}</testsuite>'

    body = "".join(suite(number, cases) for number, cases in enumerate(suites))
    declaration = f'<?xml version="1.0" encoding="UTF-8"?>{gap.strip(chr(9))}' if layout.declared else ""
    return f"{declaration}<testsuites {counts([one for cases in suites for one in cases])}>{body}{gap}</testsuites>\n"


def packet_of(data: bytes, exit_code: int, cuts: int = 0) -> EvidencePacket:
    step = cuts or max(1, len(data))
    chunks = [data[i : i + step] for i in range(0, len(data), step)]
    return reduce_streams(
        [SourceStream("stdout", len(data), chunks)],
        exit_code=exit_code,
        operation_id="o",
        source_id="s",
        raw_evidence_ref="r",
    )


def truth(suites: list[list[Case]]) -> tuple[dict[str, int], list[str]]:
    cases = [(number, one) for number, suite in enumerate(suites) for one in suite]
    ended = [one.outcome for _, one in cases]
    failing = [f"soup.{number} > {one.name}" for number, one in cases if one.outcome in ("failure", "error")]
    counts = {"passed": ended.count("passed"), "failed": len(failing), "skipped": ended.count("skipped")}
    return {**counts, "todo": ended.count("pytest.xfail")}, sorted(failing)


def told(packet: EvidencePacket) -> tuple[dict[str, int], list[str]]:
    evidence = packet["decision_evidence"]
    found = evidence["counts"]
    counts = {"passed": found["passed"], "failed": found["failed"], "skipped": found["skipped"]}
    counts["todo"] = found.get("todo", 0)
    named = [one["identity"] for failure in evidence["failures"] for one in (failure, *failure.get("also", []))]
    return counts, sorted(named)


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(SUITES, LAYOUTS, st.integers(0, 60))
def test_a_model_is_read_exactly(suites: list[list[Case]], layout: Layout, cuts: int) -> None:
    """JUNIT-1, JUNIT-3, JUNIT-4 and P3."""
    data = written(suites, layout).encode()
    expected = truth(suites)
    packet = packet_of(data, int(bool(expected[1])), cuts)
    assert told(packet) == expected
    assert packet["decision_evidence"]["reason_codes"] == []
    measured = packet["receipt"]["measurements"]
    assert measured["retained_evidence_count"] + measured["suppressed_evidence_count"] == data.count(b"\n")
    assert verify_packet(packet, streams={"stdout": data}) == []
    _, traces = trace_streams([("stdout", [data])], exit_code=0)
    assert sorted(number for _, number in traces) == list(range(1, data.count(b"\n") + 1))


def damaged(data: bytes, injury: tuple[str, int]) -> bytes:
    lines = data.split(b"\n")
    deed, at = injury
    at %= len(lines)
    if deed == "cut":
        return data[: injury[1] * len(data) // 400]
    if deed == "drop":
        return b"\n".join(lines[:at] + lines[at + 1 :])
    if deed == "repeat":
        return b"\n".join(lines[: at + 1] + lines[at:])
    other = min(at + 1, len(lines) - 1)
    lines[at], lines[other] = lines[other], lines[at]
    return b"\n".join(lines)


@settings(max_examples=70, deadline=None, derandomize=True, database=None)
@given(SUITES, LAYOUTS, DAMAGE)
def test_damage_never_suffices_for_another_story(
    suites: list[list[Case]], layout: Layout, injury: tuple[str, int]
) -> None:
    """P1, with the exit code lost."""
    data = damaged(written(suites, layout).encode(), injury)
    expected = truth(suites)
    for exit_code in {0, int(bool(expected[1]))}:
        packet = packet_of(data, exit_code)
        evidence = packet["decision_evidence"]
        assert evidence["disposition"] != "SUFFICIENT" or told(packet) == expected
        assert not (evidence["status"] == "passed" and expected[1])
        assert verify_packet(packet, streams={"stdout": data}) == []


MARKUP = (
    "<",
    ">",
    '"',
    "</testcase>",
    '<testcase name="x">',
    "<failure>",
    "</failure>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
)
ROOTS = ('<?xml version="1.0"?>', '<testsuite tests="1" failures="0">', "</testsuite>", "</testsuites>", "<!DOCTYPE a>")
OTHERS = ("\n", "\r\n", "&", "ok 1 - a\n", "1..1\n", "\x1b[0m")
TOKENS = st.sampled_from((*MARKUP, *ROOTS, *OTHERS))
EDITS = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 40), TOKENS), min_size=1, max_size=5)


def edited(text: str, edits: list[tuple[int, int, str]]) -> bytes:
    for at, gone, token in edits:
        at %= len(text) + 1
        text = text[:at] + token + text[at + gone :]
    return text.encode()


def check_edited(suites: list[list[Case]], layout: Layout, edits: list[tuple[int, int, str]], exit_code: int) -> None:
    data = edited(written(suites, layout), edits)
    packet = packet_of(data, exit_code)
    assert packet_of(data, exit_code, 7) == packet
    assert verify_packet(packet, streams={"stdout": data}) == []
    _, traces = trace_streams([("stdout", [data])], exit_code=exit_code)
    count = packet["receipt"]["measurements"]["original_event_count"]
    assert sorted(number for _, number in traces) == list(range(1, count + 1))


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(SUITES, LAYOUTS, EDITS, st.sampled_from([0, 1]))
def test_whatever_stands_in_a_report_each_line_is_counted_once(
    suites: list[list[Case]], layout: Layout, edits: list[tuple[int, int, str]], exit_code: int
) -> None:
    """P3, READ-3 and P7."""
    check_edited(suites, layout, edits, exit_code)


@pytest.mark.soak
@settings(max_examples=3000, deadline=None, database=None)
@given(SUITES, LAYOUTS, EDITS, st.sampled_from([0, 1]))
def test_soak_edits(
    suites: list[list[Case]], layout: Layout, edits: list[tuple[int, int, str]], exit_code: int
) -> None:
    check_edited(suites, layout, edits, exit_code)
