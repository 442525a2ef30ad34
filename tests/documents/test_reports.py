"""A packet as JUnit XML and as annotations: well-formed, true, and closed to whatever a test prints."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_firewall import EvidencePacket, reduce_streams
from context_firewall.documents.github_annotations import ERRORS_AT_MOST, github_annotations
from context_firewall.documents.junit_report import junit_report
from context_firewall.reduction.pipeline import SourceStream


def packet_of(text: str, exit_code: int | None = 1, **options: object) -> EvidencePacket:
    data = text.encode("utf-8", "surrogatepass")
    given: dict[str, object] = {"operation_id": "op", "source_id": "suite", "run_id": "1", "raw_evidence_ref": "x:y"}
    streams = [SourceStream("stdout", len(data), (data,))]
    return reduce_streams(streams, exit_code=exit_code, **{**given, **options})  # type: ignore[arg-type]


def tap(*points: str) -> str:
    return "".join(f"{line}\n" for line in ("TAP version 13", *points, f"1..{sum('ok ' in one for one in points)}"))


RED = tap("ok 1 - opens", "not ok 2 - shuts", "  ---", "  at: gate.js:7:1", "  ...", "ok 3 - rests # SKIP later")


def known(path: str) -> str | None:
    return path if path == "gate.js" else None


def suite(packet: EvidencePacket) -> ElementTree.Element:
    """The one suite of a report; checks that the attributes count what is there."""
    root = ElementTree.fromstring(junit_report(packet, known=known).encode())  # noqa: S314  ours
    (found,) = root
    cases = found.findall("testcase")
    for element in (root, found):
        assert int(element.attrib["tests"]) == len(cases)
        for word, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(element.attrib[name]) == len(found.findall(f"testcase/{word}"))
    return found


def test_a_failing_run_as_junit() -> None:
    """REPORT-1, REPORT-2 and REPORT-3."""
    found = suite(packet_of(RED, duration_ms=1500))
    assert found.attrib["time"] == "1.500"
    failed, passed, skipped = found.findall("testcase")
    assert failed.attrib == {"classname": "suite", "name": "shuts", "file": "gate.js", "line": "7"}
    (said,) = failed
    assert (said.tag, said.text) == ("failure", "at: gate.js:7:1")
    assert (passed.attrib["name"], list(passed)) == ("1 test passed", [])
    assert (skipped.attrib["name"], skipped[0].tag) == ("1 test skipped", "skipped")
    properties = {one.attrib["name"]: one.attrib["value"] for one in found.iter("property")}
    assert properties["counts.total"] == "3"
    assert properties["status"] == "failed"


def test_a_passing_run_as_junit() -> None:
    (only,) = suite(packet_of(tap("ok 1 - opens", "ok 2 - shuts"), 0)).findall("testcase")
    assert (only.attrib["name"], list(only)) == ("2 tests passed", [])


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [(tap("ok 1 - opens"), 1), (tap("ok 1 - opens"), None), ("", 0), ("ok 1 - opens\n", 0), ("nothing known\n", 0)],
)
def test_what_is_not_proven_is_never_green(text: str, exit_code: int | None) -> None:
    """P1 and REPORT-4."""
    packet = packet_of(text, exit_code)
    (error,) = suite(packet).findall("testcase/error")
    assert error.attrib["message"]
    assert github_annotations(packet, known=known).startswith("::warning ")


def test_failures_that_share_a_region_and_those_without_a_name_are_all_there() -> None:
    """P2."""
    many = [f"not ok {n} - gate {n}\n  ---\n  at: gate {'seven' * 40}\n  ..." for n in range(1, 41)]
    for ceiling in (None, 9000, 4000, 2500):
        packet = packet_of(tap(*many), max_output_bytes=ceiling)
        found = suite(packet)
        named = [case for case in found.findall("testcase") if case.find("failure") is not None]
        omitted = packet["decision_evidence"].get("omitted_failures")
        assert len(named) - (omitted is not None) + (0 if omitted is None else omitted["count"]) == 40


def test_annotations_of_a_failing_run() -> None:
    """REPORT-5."""
    assert github_annotations(packet_of(RED), known=known) == (
        "::error file=gate.js,line=7,title=shuts::at: gate.js:7:1\n"
    )
    assert github_annotations(packet_of(RED), known=lambda _path: None).startswith("::error title=shuts::at: ")
    assert github_annotations(packet_of(tap("ok 1 - opens"), 0), known=known) == ""


def test_lines_that_look_like_commands_stay_within_one() -> None:
    """REPORT-5: a name and lines that the runner would obey."""
    text = tap("not ok 1 - 5 %, ::error::a", "  ---", "  error: |-", "    50 %0A off", "    ::error::b", "  ...")
    assert github_annotations(packet_of(text), known=known) == (
        "::error title=5 %25%2C %3A%3Aerror%3A%3Aa::50 %250A off%0Aerror: |-%0A  50 %250A off%0A  ::error::b\n"
    )


def test_no_more_annotations_than_are_shown() -> None:
    many = packet_of(tap(*(f"not ok {n} - gate {n}\n  ---\n  at: {n}\n  ..." for n in range(1, 15))))
    lines = github_annotations(many, known=known).splitlines()
    assert [line.split()[0] for line in lines] == ["::error"] * ERRORS_AT_MOST + ["::notice"]
    assert lines[-1] == "::notice title=more failures::4 more failed; read the brief"


hostile = st.lists(
    st.one_of(
        st.sampled_from(
            ["::error::x", "::set-output name=a::b", "%0A::error::x", "##[error]x", "]]>", "<a b='c'>", "&lt;"]
        ),
        st.sampled_from(["\r", "\x00", "\x1b[2J", "\x85", "\u2028", "\ufffe", "\uffff", "\ud800", "--", ":", ",", "%"]),
        st.text(max_size=8),
    ),
    max_size=6,
).map("".join)


@given(name=hostile, detail=hostile)
def test_nothing_that_a_test_prints_is_more_than_data(name: str, detail: str) -> None:
    """P7, REPORT-1 and REPORT-5: one command for one failure, whatever its name and text; XML that parses."""
    name, detail = (text.replace("\n", " ") for text in (name, detail))
    packet = packet_of(tap(f"not ok 1 - a{name}", "  ---", f"  at: b{detail}", f"  {detail}", "  ..."))
    suite(packet)
    expected = [*["error"] * len(packet["decision_evidence"]["failures"])]
    if packet["decision_evidence"]["disposition"] != "SUFFICIENT":
        expected.append("warning")
    printed = github_annotations(packet, known=known)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", printed.replace("\t", ""))
    commands = [re.fullmatch(r"::(\w+) (?:[a-z]+=[^:,\n]*,?)*::[^\n]*", line) for line in printed.split("\n")[:-1]]
    assert [command and command[1] for command in commands] == expected


@given(detail=hostile)
def test_our_own_reader_takes_the_report_for_what_it_is(detail: str) -> None:
    """A report that is reduced again gives the same failure, and no doubt."""
    packet = packet_of(tap("ok 1 - opens", "not ok 2 - shuts", "  ---", f"  at: b{detail}".replace("\n", " "), "  ..."))
    if packet["decision_evidence"]["disposition"] == "SUFFICIENT":
        again = packet_of(junit_report(packet, known=known))["decision_evidence"]
        assert again["counts"] == packet["decision_evidence"]["counts"]
        assert [one["identity"] for one in again["failures"]] == ["suite > shuts"]
        assert again["disposition"] == "SUFFICIENT"
