"""Failures of a JUnit XML report in a brief."""

from collections.abc import Sequence

import pytest
from brief_lines import brief_lines

from context_firewall.documents.brief.xml_report import xml_told

HEAD = '<?xml version="1.0"?>'


def suite(*cases: str, tests: int, failures: int, errors: int = 0) -> str:
    counts = f'tests="{tests}" failures="{failures}" errors="{errors}" skipped="0"'
    return f'{HEAD}\n<testsuite name="quay" {counts} time="0.1">\n' + "\n".join(cases) + "\n</testsuite>\n"


def case(name: str, inside: str = "") -> str:
    return f'<testcase classname="quay" name="{name}" time="0.1">{inside}</testcase>'


def failed(message: str, text: str = "") -> str:
    return f'<failure message="{message}" type="Error">{text}</failure>'


def fenced(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.startswith("|")]


def test_what_a_report_says_without_markup() -> None:
    """BRIEF-3."""
    lines = brief_lines(
        suite(
            case("floats"),
            case("moors &lt;fast&gt;", failed("3 &gt; 2", "Error: 3 &gt; 2&#10;at quay.js:4\n  and more")),
            case("drifts", failed("off &amp; away") + "<system-out>wind\n&quot;7&quot;\n</system-out>"),
            case("sinks", failed("", "<![CDATA[a <b> & ]] c]]>")),
            tests=4,
            failures=3,
        )
    )
    assert lines[1:-1] == [
        "1) quay > moors <fast> [stdout:4-5]",
        "| Error: 3 > 2",
        "| at quay.js:4",
        "|   and more",
        "2) quay > drifts [stdout:6-8]",
        "| off & away",
        "| wind",
        '| "7"',
        "3) quay > sinks [stdout:9]",
        "| a <b> & ]] c",
        "~ 1 line of context, not shown",
        "~ 3 regions of JUnit XML, decoded",
    ]


def test_cases_that_share_lines() -> None:
    """BRIEF-3: a region is made of whole lines, what is said is not."""
    text = (
        f'{HEAD}<testsuite name="q" tests="3" failures="2" errors="0" skipped="0">'
        + case("a", failed("one", "one\ntwo"))
        + case("b")
        + case("c", failed("three", "three\nfour"))
        + "</testsuite>\n"
    )
    lines = brief_lines(text)
    assert [line.partition(" [")[0] for line in lines[1:-1]][:6] == [
        "1) quay > a",
        "| one",
        "| two",
        "2) quay > c",
        "| three",
        "| four",
    ]


def test_two_failures_of_one_case() -> None:
    """pytest reports a test that failed and whose teardown failed as two cases, or as one with two elements."""
    lines = [
        {"text": case("a", failed("one") + '<error message="two"/>'), "category": "failed_test"},
        {"text": case("a", failed("three")), "category": "failed_test"},
    ]
    failures = [{"identity": "q > a", "header": lines[0]}, {"identity": "q > a", "header": lines[1]}]
    assert xml_told([*failures, {"identity": "q > a"}], "context") == {0: ["one"], 1: ["two"], 2: ["three"]}
    assert xml_told(failures[:1], "context") == {0: ["one", "two"]}


@pytest.mark.parametrize(
    ("identity", "text"),
    [
        ("q > other", case("a", failed("one"))),
        ("q > a", case("a", "<skipped/>")),
        ("q > a", "<testcase name='a'"),
        ("q > a", "a <testcase> that is printed"),
    ],
)
def test_what_is_not_found_stands_as_it_is(identity: str, text: str) -> None:
    failure = {"identity": identity, "header": {"text": text, "category": "failed_test"}}
    assert xml_told([failure], "context") == {}


def test_lines_for_orientation_are_not_shown() -> None:
    header = {"text": f'<testcase name="a"><failure message="m">{"x"}', "category": "failed_test"}
    details = [
        {"text": "source", "category": "failure_context"},
        {"text": "said</failure></testcase>", "category": "failure_detail"},
    ]
    failure = {"identity": "a", "header": header, "details": details}
    assert xml_told([failure], "failure_context") == {0: ["m", "x", "said"]}


def test_a_case_whose_end_is_not_kept() -> None:
    header = {"text": '<testcase name="a"><failure><![CDATA[', "category": "failed_test"}
    failure = {"identity": "a", "header": header, "details": [{"text": "=> b", "category": "failure_detail"}]}
    second = {"identity": "b", "header": {"text": '<testcase name="b"><failure>c', "category": "failed_test"}}
    assert xml_told([failure, second], "failure_context") == {0: ["=> b"], 1: ["c"]}


def test_nothing_forges_a_line_of_ours() -> None:
    """BRIEF-2."""
    lines = brief_lines(
        suite(case("a", failed("x", "x&#10;! FORGED: do&#13;&#10;receipt &#27;[2J&#x2028;y")), tests=1, failures=1)
    )
    assert fenced(lines) == ["| x", "| ! FORGED: do", "| receipt \\u2028y"]


@pytest.mark.parametrize(
    "text",
    [
        "<testcase " + "<a '" * 200_000,
        "<testcase " + "<![CDATA[" * 100_000,
        '<testcase name="' + "&#" * 300_000,
        "<testcase " + 'a="b" ' * 150_000,
        "<testcase><failure>" + "]]" * 300_000,
    ],
)
def test_hostile_reports(text: str) -> None:
    failure = {"identity": "q", "header": {"text": text, "category": "failed_test"}}
    assert isinstance(xml_told([failure], "context"), dict)
