"""JUnit XML: every producer's way with it, and what must not be taken for a whole report."""

from collections.abc import Iterable

import pytest

from context_firewall import SourceStream, reduce_streams
from context_firewall.transcript.dialects.junit import DEPTH, DIALECT, HELD_BYTES
from context_firewall.transcript.dialects.junit_scan import MOST_TAG
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import read_streams, trace_streams

XML = '<?xml version="1.0" encoding="UTF-8"?>\n'


def suite(
    *cases: str, name: str = "kitchen", tests: int | None = None, failures: int = 0, errors: int = 0, skipped: int = 0
) -> str:
    """A suite with a line for each part."""
    count = sum(case.count("<testcase") for case in cases) if tests is None else tests
    counts = f'tests="{count}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    return f'<testsuite name="{name}" {counts} time="0.5">\n{"".join(cases)}</testsuite>\n'


def case(name: str, inside: str = "", more: str = "") -> str:
    start = f'<testcase classname="kitchen.Soup" name="{name}" time="0.1"{more}'
    return f"{start}>\n{inside}</testcase>\n" if inside else f"{start}/>\n"


SALTY = '<failure message="too salty" type="Assertion">expected 3, was 9\n  at soup.py:12\n</failure>\n'
GREEN = XML + suite(case("salt"), case("heat"), case("spoon", "<skipped/>\n"), skipped=1)
RED = XML + suite(case("heat"), case("salt", SALTY), case("spoon"), failures=1)


def read(text: str | bytes, exit_code: int | None = 1, dialect: str = "junit") -> Transcript:
    data = text if isinstance(text, bytes) else text.encode()
    return read_streams([("stdout", [data])], exit_code=exit_code, dialect=dialect)


def names(transcript: Transcript) -> list[str]:
    return [found.identity for found in transcript.failures]


def texts(lines: Iterable[Line]) -> list[str]:
    return [line.text for line in lines]


def tally(transcript: Transcript) -> tuple[int, int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped, found.todo


def kinds(text: str, exit_code: int = 1) -> list[Kind]:
    """What each line is."""
    _, traces = trace_streams([("stdout", [text.encode()])], exit_code=exit_code, dialect="junit")
    return [traces["stdout", number].kind for number in sorted(number for _, number in traces)]


def whole(text: str, exit_code: int) -> tuple[str, list[str]]:
    """Status and reasons of the packet."""
    data = text.encode()
    packet = reduce_streams(
        [SourceStream("stdout", len(data), [data])],
        exit_code=exit_code,
        operation_id="o",
        source_id="s",
        raw_evidence_ref="r",
    )
    evidence = packet["decision_evidence"]
    return evidence["status"], evidence["reason_codes"]


# -- a report ---------------------------------------------------------------------------------------------------------


def test_a_green_report() -> None:
    """JUNIT-1."""
    transcript = read(GREEN, 0)
    assert tally(transcript) == (2, 0, 1, 0)
    assert not transcript.doubts
    assert not transcript.unclassified
    assert whole(GREEN, 0) == ("passed", [])


def test_a_failing_tests_lines_are_its_region() -> None:
    """JUNIT-4 and P2."""
    transcript = read(RED)
    assert tally(transcript) == (2, 1, 0, 0)
    [failure] = transcript.failures
    assert failure.identity == "kitchen.Soup > salt"
    assert texts(failure.lines()) == [
        '<testcase classname="kitchen.Soup" name="salt" time="0.1">',
        '<failure message="too salty" type="Assertion">expected 3, was 9',
        "  at soup.py:12",
        "</failure>",
        "</testcase>",
    ]
    assert whole(RED, 1) == ("failed", [])


def test_each_line_has_a_kind() -> None:
    """P3."""
    inside = "<properties>\n<property name='a' value='b'/>\n</properties>\n<system-out>hot\n\n</system-out>\n"
    assert kinds(XML + suite(case("heat", inside))) == [
        Kind.STRUCTURE,
        Kind.AGGREGATE_SOURCE,
        Kind.SUCCESSFUL_TEST,
        Kind.STRUCTURE,
        Kind.INFORMATIONAL,
        Kind.STRUCTURE,
        Kind.PROGRAM_OUTPUT,
        Kind.BLANK,
        Kind.STRUCTURE,
        Kind.STRUCTURE,
        Kind.STRUCTURE,
    ]


def test_output_belongs_to_the_test_that_failed() -> None:
    """JUNIT-4, whether it stands before the failure or behind it."""
    before, behind = "<system-err>stirring\n</system-err>\n", "<system-out>ok 7 - not a point\n</system-out>\n"
    transcript = read(XML + suite(case("salt", before + SALTY + behind), case("heat", behind), failures=1))
    [failure] = transcript.failures
    assert "<system-err>stirring" in texts(failure.details)
    assert texts(failure.details).count("<system-out>ok 7 - not a point") == 1
    assert not transcript.unclassified
    assert transcript.suppressed[Kind.PROGRAM_OUTPUT] == 1


def test_elements_and_tags_may_span_lines() -> None:
    """JUNIT-3."""
    long = case("salt", SALTY).replace('name="salt"', '\n  name="sal\nt"\n ')
    transcript = read(XML + suite(long, failures=1))
    assert names(transcript) == ["kitchen.Soup > sal t"]
    assert len(list(transcript.failures[0].lines())) == 8
    assert not transcript.doubts


def test_a_line_belongs_to_the_first_failing_test_in_it() -> None:
    """JUNIT-4: the tests whose lines are another's are named all the same."""
    dense = RED.replace("\n<", "<")
    transcript = read(dense.replace("</testsuite>", case("stir", SALTY) + "</testsuite>").replace("\n<", "<"))
    assert names(transcript) == ["kitchen.Soup > salt", "kitchen.Soup > stir"]
    first, second = transcript.failures
    assert texts(first.lines())[0].endswith("expected 3, was 9")
    assert '</failure></testcase><testcase classname="kitchen.Soup" name="spoon"' in texts(first.lines())[-1]
    assert texts(second.lines()) == ["  at soup.py:12</failure></testcase></testsuite>"]


def test_a_report_in_one_line() -> None:
    """JUNIT-4: a failure that has no line of its own has an identity, and its text is in the packet."""
    failing = (case("heat"), case("salt", '<failure message="m"/>'), case("stir", '<error message="n"/>'))
    transcript = read((XML + suite(*failing, failures=1, errors=1)).replace("\n", ""))
    assert names(transcript) == ["kitchen.Soup > salt", "kitchen.Soup > stir"]
    assert [failure.header is None for failure in transcript.failures] == [False, True]
    assert transcript.event_count == 1
    assert not transcript.doubts
    assert whole(GREEN.replace("\n", ""), 0) == ("passed", [])


def test_names_are_decoded() -> None:
    transcript = read(XML + suite(case("a &quot;b&quot; &lt;&#233;&#x20AC;&gt;", SALTY), failures=1))
    assert names(transcript) == ['kitchen.Soup > a "b" <é€>']


@pytest.mark.parametrize(
    ("attributes", "identity"),
    [
        ('classname="soup" name="salt"', "soup > salt"),
        ('class="Soup" name="salt"', "Soup > salt"),
        ('name="salt"', "kitchen > salt"),
        ('classname="" name="salt"', "salt"),
        ('classname="soup" name="soup salt"', "soup salt"),
        ('classname="soup" name=""', "soup > (unnamed test)"),
        ('classname="soup"', "soup > (unnamed test)"),
    ],
)
def test_a_test_is_named_by_class_and_name(attributes: str, identity: str) -> None:
    """JUNIT-8."""
    assert names(read(XML + suite(f"<testcase {attributes}>\n{SALTY}</testcase>\n", failures=1))) == [identity]


def test_what_a_suite_itself_says_went_wrong_is_no_test() -> None:
    """JUNIT-5."""
    transcript = read(XML + suite(case("heat"), '<error message="no stove">no gas\n</error>\n'))
    assert names(transcript) == ["kitchen"]
    assert texts(transcript.failures[0].lines()) == ['<error message="no stove">no gas', "</error>"]
    assert tally(transcript) == (1, 0, 0, 0)


def test_a_lists_root_counts_for_all() -> None:
    inner = suite(case("heat"), tests=1) + suite(case("salt", SALTY), name="table", failures=1)
    transcript = read(f'{XML}<testsuites tests="2" failures="1" errors="0">\n{inner}</testsuites>\n')
    assert not transcript.doubts
    assert tally(transcript) == (1, 1, 0, 0)


# -- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "more", "counted", "doubts"),
    [
        ("", "", (1, 0, 0, 0), set()),
        ("<skipped/>\n", "", (0, 0, 1, 0), set()),
        ('<skipped type="pytest.xfail" message="x"/>\n', "", (0, 0, 0, 1), set()),
        ("", ' status="run"', (1, 0, 0, 0), set()),
        ("", ' status="passed"', (1, 0, 0, 0), set()),
        (SALTY, ' status="run"', (0, 1, 0, 0), set()),
        (SALTY, ' status="failed"', (0, 1, 0, 0), set()),
        (SALTY, ' status="passed"', (0, 1, 0, 0), {Doubt.STRUCTURE_CONTRADICTION}),
        ("", ' status="failed"', (0, 1, 0, 0), {Doubt.STRUCTURE_CONTRADICTION, Doubt.AGGREGATE_CONTRADICTION}),
        ("", ' result="broken"', (1, 0, 0, 0), {Doubt.STRUCTURE_CONTRADICTION}),
        ('<flakyFailure message="m">hm\n</flakyFailure>\n', "", (1, 0, 0, 0), set()),
        ('<rerunFailure message="m">hm\n</rerunFailure>\n', "", (1, 0, 0, 0), {Doubt.STRUCTURE_CONTRADICTION}),
        (SALTY + '<rerunFailure message="m">hm\n</rerunFailure>\n', "", (0, 1, 0, 0), set()),
        ('<skipped type="pytest.xfail"/>\n' + SALTY, "", (0, 1, 0, 0), set()),
        ('<skipped type="todo"/>\n' + SALTY, ' failure="too salty"', (0, 0, 0, 1), set()),
    ],
)
def test_how_a_test_ended(inside: str, more: str, counted: tuple[int, int, int, int], doubts: set[Doubt]) -> None:
    """JUNIT-5."""
    failures, skipped = inside.count("<failure"), inside.count("<skipped")
    if doubts >= {Doubt.AGGREGATE_CONTRADICTION}:
        failures = 1
    transcript = read(XML + suite(case("salt", inside, more), failures=failures, skipped=skipped))
    assert tally(transcript) == counted
    assert transcript.doubts == doubts


def test_a_test_that_is_disabled_is_skipped() -> None:
    text = suite(case("heat"), case("salt", more=' status="disabled"')).replace('skipped="0"', 'disabled="1"')
    transcript = read(XML + text)
    assert tally(transcript) == (1, 0, 1, 0)
    assert not transcript.doubts


def test_what_is_unfinished_is_shown() -> None:
    """JUNIT-5: where its line holds no other test."""
    xfail = case("salt", '<skipped type="pytest.xfail" message="known"/>\n')
    transcript = read(XML + suite(xfail, case("heat"), skipped=1), 0)
    assert texts(transcript.todo) == ['<testcase classname="kitchen.Soup" name="salt" time="0.1">']
    dense = read((XML + suite(xfail, case("heat"), skipped=1)).replace("\n", ""), 0)
    assert not dense.todo
    assert dense.tally.todo == 1


@pytest.mark.parametrize(
    ("message", "outcome"),
    [("SKIP_RETURN_CODE=77", "skipped"), ("Disabled", "skipped"), ("Unable to find executable", "failed")],
)
def test_ctest_lists_what_it_could_not_run_as_skipped(message: str, outcome: str) -> None:
    """JUNIT-5."""
    test = f'<testcase name="salt" classname="salt" status="notrun">\n<skipped message="{message}"/>\n</testcase>\n'
    transcript = read(XML + suite(test, skipped=1))
    assert getattr(transcript.tally, outcome) == 1
    assert names(transcript) == (["salt"] if outcome == "failed" else [])
    assert not transcript.doubts


def phpunit(*cases: str, skipped: int = 0, errors: int = 0) -> str:
    counts = f'tests="{len(cases)}" assertions="2" errors="{errors}" failures="0" skipped="{skipped}"'
    return f"{XML}<testsuites>\n<testsuite name='Soup' {counts}>\n{''.join(cases)}</testsuite>\n</testsuites>\n"


def test_phpunits_risky_tests_are_no_failures() -> None:
    """JUNIT-5."""
    risky = '<error type="PHPUnit\\Framework\\RiskyTestError">nothing checked\n</error>\n'
    own = '<error type="RuntimeException">boom\n</error>\n'
    cases = (case("salt", risky, ' assertions="0"'), case("heat", own, ' assertions="1"'))
    transcript = read(phpunit(*cases, errors=2))
    assert names(transcript) == ["kitchen.Soup::heat"]
    assert tally(transcript) == (0, 1, 0, 1)
    assert names(read(XML + suite(case("salt", risky), errors=1))) == ["kitchen.Soup > salt"]


def test_some_producers_write_what_is_unfinished_like_what_is_skipped() -> None:
    """JUNIT-7."""
    assert not read(phpunit(case("salt")), 0).doubts
    assert read(phpunit(case("salt", "<skipped/>\n"), skipped=1), 0).doubts == {Doubt.COUNTS_UNCONFIRMED}
    text = GREEN.replace("kitchen", "jest tests", 1)
    assert read(text, 0).doubts == {Doubt.COUNTS_UNCONFIRMED}


def test_vitest_tells_no_error_outside_of_all_tests() -> None:
    """JUNIT-7: what a failing report shows is enough, whatever else went wrong."""
    green = f'{XML}<testsuites name="vitest tests" tests="1" failures="0">\n{suite(case("salt"))}</testsuites>\n'
    assert read(green, 0).doubts == {Doubt.ERRORS_UNREPORTABLE}
    red = green.replace('failures="0"', 'failures="1"').replace("/>", "><failure>cold</failure></testcase>")
    assert read(red, 1).tally.failed == 1
    assert Doubt.ERRORS_UNREPORTABLE not in read(red, 1).doubts


# -- what is stated ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stated", ['tests="4" failures="1"', 'tests="3" failures="2"', 'tests="3" failures="1" errors="1"', 'skipped="1"']
)
def test_counts_that_are_not_met(stated: str) -> None:
    """JUNIT-6."""
    counts = stated if "tests" in stated else f'tests="3" failures="1" {stated}'
    text = f"{XML}<testsuite {counts}>\n{case('heat')}{case('salt', SALTY)}{case('spoon')}</testsuite>\n"
    assert read(text).doubts == {Doubt.AGGREGATE_CONTRADICTION}
    assert names(read(text)) == ["kitchen.Soup > salt"]


def test_a_count_that_is_no_number() -> None:
    assert read(GREEN.replace('tests="3"', 'tests="three"'), 0).doubts >= {Doubt.AGGREGATE_CONTRADICTION}


def test_tests_that_no_suite_counts() -> None:
    """JUNIT-6: nothing says that there were no others."""
    bare = GREEN.replace(' tests="3"', "")
    assert read(bare, 0).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}
    assert whole(bare, 0)[0] == "indeterminate"


def bats(total: str, *suites: str) -> str:
    return f'{XML}<testsuites time="{total}">\n{"".join(suites)}</testsuites>\n'


def test_a_list_of_suites_that_counts_nothing() -> None:
    """JUNIT-6: each suite counts for itself, and where the list states a time, their times add up to it."""
    both = suite(case("heat")), suite(case("salt"), name="table")
    assert not read(bats("1.0", *both), 0).doubts
    assert not read(bats("", *both), 0).doubts
    assert read(bats("1.0", both[0]), 0).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}
    assert read(bats("1.0", *both, suite(case("stir"), tests=2)), 0).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_pytests_list_has_one_suite() -> None:
    """JUNIT-6."""
    none = f'{XML}<testsuites name="pytest tests">\n</testsuites>\n'
    assert whole(none, 0)[0] == "indeterminate"
    two = pytest_report(1, case("heat")).replace("</testsuites>", suite(case("salt")) + "</testsuites>")
    assert read(two, 0).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_pytests_test_that_failed_twice() -> None:
    """JUNIT-4: each of its failures has its own lines."""
    second = SALTY.replace("salty", "hot").replace("was 9", "was 7")
    text = pytest_report(2, case("salt", (SALTY + second).replace("</failure>\n<", "</failure><")), failures=2)
    transcript = read(text)
    assert names(transcript) == ["kitchen.Soup::salt"] * 2
    assert texts(transcript.failures[1].lines()) == ["  at soup.py:12", "</failure>", "</testcase>"]
    assert tally(transcript) == (0, 2, 0, 0)
    assert names(read(text.replace("pytest", "soup"))) == ["kitchen.Soup > salt"]


def test_a_run_without_tests() -> None:
    """VER-7: counts of zero are a result, a report that states nothing is none."""
    empty = read(f'{XML}<testsuites tests="0" failures="0"/>\n', 0)
    assert (empty.has_results, empty.doubts) == (True, frozenset())
    assert not read(f"{XML}<testsuites/>\n", 0).has_results
    assert whole(f"{XML}<testsuites></testsuites>\n", 0) == ("indeterminate", ["NO_TEST_EVIDENCE"])


def pytest_report(tests: int, *cases: str, failures: int = 0, errors: int = 0, skipped: int = 0) -> str:
    text = suite(*cases, name="pytest", tests=tests, failures=failures, errors=errors, skipped=skipped)
    return f'{XML}<testsuites name="pytest tests">\n{text}</testsuites>\n'


TEARDOWN = '<error message="failed on teardown with &quot;x&quot;">boom\n</error>\n'


def test_pytest_counts_reports_rather_than_tests() -> None:
    """JUNIT-6."""
    passed_then_broke = read(pytest_report(3, case("heat"), case("salt", TEARDOWN), errors=1))
    assert tally(passed_then_broke) == (2, 1, 0, 0)
    assert not passed_then_broke.doubts
    twice = case("heat"), case("salt", SALTY), case("salt", TEARDOWN)
    failed_then_broke = read(pytest_report(2, *twice, failures=1, errors=1))
    assert tally(failed_then_broke) == (1, 2, 0, 0)
    assert names(failed_then_broke) == ["kitchen.Soup::salt", "kitchen.Soup::salt"]
    assert not failed_then_broke.doubts
    lost = read(pytest_report(1, *twice, failures=1, errors=1))
    assert lost.doubts == {Doubt.AGGREGATE_CONTRADICTION}


def test_pytest_counts_subtests_that_are_not_listed() -> None:
    """JUNIT-6: passes without an element could be lost tests, unless all tests stand in one line."""
    report = pytest_report(5, case("heat"), case("salt"))
    assert read(report, 0).doubts == {Doubt.COUNTS_UNCONFIRMED}
    assert not read(report.replace("\n<", "<"), 0).doubts
    assert read(pytest_report(1, case("heat"), case("salt")), 0).doubts == {Doubt.AGGREGATE_CONTRADICTION}


def test_pytest_names_a_file_that_it_could_not_collect_like_a_module() -> None:
    """JUNIT-8."""
    error = '<error message="collection failure">tests/test_soup.py:2: in &lt;module&gt;\nE   KeyError\n</error>\n'
    test = f'<testcase classname="" name="tests.test_soup">\n{error}</testcase>\n'
    transcript = read(pytest_report(1, test, errors=1))
    assert names(transcript) == ["tests/test_soup.py"]
    assert not transcript.doubts
    without = read(pytest_report(1, test.replace("tests/test_soup.py:2", "x"), errors=1))
    assert names(without) == ["tests.test_soup"]
    assert without.doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_pytests_source_is_context() -> None:
    """As in its own report; a line with markup in it never is, since it may name the next test."""
    body = (
        '<failure message="m">bowl = 3\n\n    def test_salt(bowl):\n        stir()\n&gt;       assert bowl == 9\n'
        "E       assert 3 == 9\n\ntests/test_soup.py:4: AssertionError</failure>\n"
    )
    [failure] = read(pytest_report(1, case("salt", body), failures=1)).failures
    context = [line.text for line in failure.details if line.kind is Kind.FAILURE_CONTEXT]
    assert context == ["", "    def test_salt(bowl):", "        stir()", "", "</testcase>"]


def mocha(*cases: str, tests: int, errors: int, skipped: int) -> str:
    counts = f'tests="{tests}" failures="0" errors="{errors}" skipped="{skipped}"'
    return f'<testsuite name="Mocha Tests" {counts} time="1">\n{"".join(cases)}</testsuite>\n'


HOOK = case("&quot;before all&quot; hook for &quot;salt&quot;", SALTY)


def test_mocha_counts_what_happened() -> None:
    """JUNIT-6: a hook that failed is among the errors and not among the tests."""
    pending = case("spoon", "<skipped/>\n")
    hook = read(mocha(case("heat"), pending, HOOK, tests=2, errors=1, skipped=0))
    assert tally(hook) == (1, 1, 1, 0)
    assert not hook.doubts
    lost = read(mocha(case("heat"), HOOK, tests=2, errors=1, skipped=0))
    assert lost.doubts == {Doubt.AGGREGATE_CONTRADICTION}


def test_mochas_test_that_passed_and_then_failed() -> None:
    """JUNIT-6: it stands there twice as failed, and counts once as passed and once as failed."""
    cases = case("heat"), case("salt", SALTY), case("salt", SALTY)
    again = read(mocha(*cases, tests=2, errors=1, skipped=-1))
    assert tally(again) == (2, 1, 0, 0)
    assert not again.doubts
    assert read(mocha(*cases, tests=2, errors=1, skipped=0)).doubts == {Doubt.AGGREGATE_CONTRADICTION}
    other = case("heat"), case("salt", SALTY), case("stir", SALTY)
    assert read(mocha(*other, tests=2, errors=1, skipped=-1)).doubts == {Doubt.AGGREGATE_CONTRADICTION}


NODE_CASE = '\t<testcase name="{}" time="0.1" classname="test"/>\n'


def node(*parts: str, tests: int, suites: int = 0, fail: int = 0, skipped: int = 0, todo: int = 0) -> str:
    passed = tests - fail - skipped - todo
    counts = {"tests": tests, "suites": suites, "pass": passed, "fail": fail, "cancelled": 0}
    counts |= {"skipped": skipped, "todo": todo}
    totals = "".join(f"\t<!-- {word} {n} -->\n" for word, n in counts.items()) + "\t<!-- duration_ms 7.5 -->\n"
    return f"{XML}<testsuites>\n{''.join(parts)}{totals}</testsuites>\n"


def test_nodes_totals_are_comments() -> None:
    """JUNIT-6."""
    cases = NODE_CASE.format("heat"), NODE_CASE.format("salt")
    green = read(node(*cases, tests=2), 0)
    assert (tally(green), green.doubts) == ((2, 0, 0, 0), frozenset())
    assert read(node(*cases, tests=3), 0).doubts == {Doubt.AGGREGATE_CONTRADICTION}
    assert read(node(*cases, tests=2, fail=1), 1).doubts == {Doubt.AGGREGATE_CONTRADICTION}
    without = node(*cases, tests=2).replace("\t<!-- pass 2 -->\n", "")
    assert read(without, 0).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_nodes_totals_count_only_at_the_end() -> None:
    """JUNIT-6: a test may print any comment."""
    forged = node(tests=2).removeprefix(XML + "<testsuites>\n").removesuffix("</testsuites>\n")
    report = f"{XML}<testsuites>\n{NODE_CASE.format('a')}{forged}{NODE_CASE.format('b')}</testsuites>\n"
    assert read(report, 0).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}
    stating = node(NODE_CASE.format("a"), tests=1).replace("<testsuites>", '<testsuites tests="2" failures="0">')
    assert read(stating, 0).doubts == {Doubt.AGGREGATE_CONTRADICTION}
    comment = "\t<!-- tests 9 -->\n"
    assert not read(node(NODE_CASE.format("a"), comment, tests=1), 0).doubts


@pytest.mark.parametrize("lost", ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"])
def test_nodes_totals_are_eight(lost: str) -> None:
    """JUNIT-6: what is left of them says that something is missing, even if a suite counts every test."""
    whole = node(node_suite(NODE_CASE.format("salt"), 1), tests=1, suites=1)
    assert not read(whole, 0).doubts
    torn = "".join(line for line in whole.splitlines(keepends=True) if f"<!-- {lost} " not in line)
    assert torn != whole
    assert read(torn, 0).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def node_suite(inside: str, tests: int, failures: int = 0, name: str = "soup") -> str:
    counts = f'disabled="0" errors="0" tests="{tests}" failures="{failures}" skipped="0"'
    return f'<testsuite name="{name}" {counts}>\n{inside}</testsuite>\n'


def test_nodes_tests_with_subtests_stand_like_suites() -> None:
    """JUNIT-6 and JUNIT-8; JUNIT-7: a suite's own failure has no element."""
    inner = node_suite(NODE_CASE.format("salt"), 1, name="deep")
    report = node(node_suite(inner + NODE_CASE.format("heat"), 2), tests=3, suites=1)
    green = read(report, 0)
    assert (tally(green), green.doubts) == ((3, 0, 0, 0), frozenset())
    failing = NODE_CASE.format("a &amp;quot;b&amp;quot;").replace("/>", f">\n{SALTY}</testcase>")
    red = read(node(node_suite(failing, 1, 1), tests=1, suites=1, fail=1))
    assert names(red) == ['soup > a "b"']
    assert red.doubts == {Doubt.ERRORS_UNREPORTABLE}


def test_denos_steps_are_no_tests() -> None:
    """JUNIT-7."""
    cases = (case("heat"), case("soup"), case("soup &gt; salt"), case("soup &gt; salt &gt; pinch"))
    transcript = read(XML + f'<testsuites name="deno test" tests="4" failures="0">\n{suite(*cases)}</testsuites>\n', 0)
    assert tally(transcript) == (2, 0, 0, 0)
    assert not transcript.doubts


def test_node_taps_suites_stand_twice() -> None:
    """JUNIT-6 and JUNIT-7: a parent that failed because of a child is no failure of its own."""
    inner = suite(case("salt", SALTY), name="soup", tests=2, failures=2)
    parent = '<testcase name="soup" classname="a.js">\n<failure>at: 3\n</failure>\n</testcase>\n'
    outer = suite(inner, parent, case("heat"), name="a.js", tests=5, failures=4)
    text = f'{XML}<testsuites name="TAP Tests" tests="6" failures="5">\n{outer}</testsuites>\n'
    transcript = read(text)
    assert names(transcript) == ["kitchen.Soup > salt"]
    assert tally(transcript) == (1, 1, 0, 0)
    assert not transcript.doubts
    assert transcript.suppressed[Kind.DERIVED_FAILURE] == 3


# -- what is no whole report ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [GREEN, RED, GREEN.replace("\n", ""), node(NODE_CASE.format("a"), tests=1)])
@pytest.mark.parametrize("exit_code", [0, 1])
def test_no_beginning_of_a_report_is_one(text: str, exit_code: int) -> None:
    """P1 and JUNIT-1: whatever is cut off, the packet asks for the raw output."""
    for end in range(len(text.rstrip())):
        status, reasons = whole(text[:end], exit_code)
        assert status != "passed"
        assert reasons, text[:end]


@pytest.mark.parametrize("text", [GREEN, RED])
def test_no_report_without_one_of_its_lines_passes(text: str) -> None:
    """P1, save for a line that says nothing about a test."""
    lines = text.splitlines(keepends=True)
    for gone in range(1, len(lines)):
        status, reasons = whole("".join(lines[:gone] + lines[gone + 1 :]), 0)
        assert (status, bool(reasons)) != ("passed", False), lines[gone]


def test_a_cut_keeps_the_failure_that_was_read_and_the_test_that_was_open() -> None:
    red = read(RED[: RED.index("  at soup")])
    assert names(red) == ["kitchen.Soup > salt"]
    assert red.doubts == {Doubt.COMPLETENESS_UNCONFIRMED}
    opened = read(
        XML + suite(case("heat"), case("salt", "<system-out>stirring\n"))[: -len("</testcase>\n</testsuite>\n")]
    )
    assert names(opened) == []
    assert texts(opened.unclassified)[-1] == "<system-out>stirring"


@pytest.mark.parametrize(
    "fault",
    ["]]>", "\x1b[31m", "&nbsp;", "&", "<b", "</b>", "<!-- -- -->", "\x00"],
)
def test_what_is_not_well_formed_is_in_doubt_and_read_on(fault: str) -> None:
    """JUNIT-2."""
    broken = RED.replace("was 9", f"was {fault} 9").replace("</testsuite>", case("stir", SALTY) + "</testsuite>")
    transcript = read(broken)
    assert names(transcript) == ["kitchen.Soup > salt", "kitchen.Soup > stir"]
    assert Doubt.STRUCTURE_CONTRADICTION in transcript.doubts


def test_a_bad_byte() -> None:
    """READ-8 and JUNIT-2."""
    data = RED.encode().replace(b"was 9", b"was \xff 9")
    transcript = read(data)
    assert names(transcript) == ["kitchen.Soup > salt"]
    assert transcript.doubts == {Doubt.MALFORMED_UTF8, Doubt.STRUCTURE_CONTRADICTION}


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE testsuite [\n<!ENTITY a "lol">\n<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">\n]>\n'
    '<testsuite name="&b;" tests="1" failures="0">\n<testcase name="&b;"/>\n</testsuite>\n'
)


def test_a_document_type_is_refused_and_no_entity_is_known() -> None:
    """JUNIT-2."""
    for text in (BOMB, GREEN.replace("heat", "&b;")):
        status, reasons = whole(text, 0)
        assert status == "indeterminate"
        assert reasons
    inside = read(f'<testsuite name="a" tests="1" failures="1">\n<!DOCTYPE x>\n{case("&b;", SALTY)}</testsuite>\n')
    assert names(inside) == ["kitchen.Soup > &b;"]
    assert Doubt.STRUCTURE_CONTRADICTION in inside.doubts


def test_an_element_that_nobody_knows() -> None:
    """P4 and JUNIT-3."""
    transcript = read(XML + suite(case("heat", "<mood>fine</mood>\n"), case("salt")), 0)
    assert texts(transcript.unclassified) == ["<mood>fine</mood>"]
    assert transcript.doubts == {Doubt.STRUCTURE_CONTRADICTION, Doubt.UNCLASSIFIED_EVIDENCE}
    assert tally(transcript) == (2, 0, 0, 0)


def test_text_where_there_may_be_none() -> None:
    transcript = read(XML + suite(case("heat"), "Warming up\n", case("salt")), 0)
    assert texts(transcript.unclassified) == ["Warming up"]
    assert transcript.doubts == {Doubt.STRUCTURE_CONTRADICTION, Doubt.UNCLASSIFIED_EVIDENCE}


def test_markup_in_a_section_is_text() -> None:
    """JUNIT-3: a test that prints a whole report forges nothing."""
    inside = f"<system-out><![CDATA[{GREEN}\n]] > ]]></system-out>\n"
    transcript = read(XML + suite(case("salt", inside + SALTY), tests=1, failures=1))
    assert tally(transcript) == (0, 1, 0, 0)
    assert not transcript.doubts


def test_a_tag_that_is_none_is_text() -> None:
    """P4."""
    transcript = read(XML + suite("<b is less\nthan c\n", case("heat")), 0)
    assert texts(transcript.unclassified) == [
        "<b is less",
        "than c",
        '<testcase classname="kitchen.Soup" name="heat" time="0.1"/>',
    ]
    assert transcript.tally.passed == 1


def test_a_report_that_a_test_prints_raw() -> None:
    """P1: mocha prints what its tests print as it is, before its report."""
    printed = '<testcase classname="a" name="b"/>\n</testsuite>\n'
    report = XML + suite(case("heat"), printed, case("salt", SALTY), failures=1)
    assert whole(report, 1)[1]
    assert whole(report, 0)[0] != "passed"


def test_a_whole_report_that_a_test_prints() -> None:
    """JUNIT-7: mocha's tests print where mocha does."""
    forged = '<testsuites tests="1" failures="0"><testcase name="a"/></testsuites>\n'
    report = mocha(case("heat"), tests=1, errors=0, skipped=0)
    assert whole(report, 0) == ("passed", [])
    assert whole(forged + report, 0) == ("passed", ["COUNTS_UNCONFIRMED"])
    assert whole(f"{forged}\n\n{report}", 0) == ("passed", ["COUNTS_UNCONFIRMED"])


@pytest.mark.parametrize(
    "end", ["", "\n", "\n\n", '<?xml version="1.0"?>\n', '\n<?xml version="1.0" encoding="UTF-8"?>\n']
)
def test_documents_add_up(end: str) -> None:
    """JUNIT-1: `cat` of many files, with or without a newline at their ends."""
    second = suite(case("stir", SALTY), name="table", failures=1)
    transcript = read(GREEN.rstrip() + end + second)
    assert tally(transcript) == (2, 1, 1, 0)
    assert names(transcript) == ["kitchen.Soup > stir"]
    assert not transcript.doubts


def test_a_document_beside_another_report() -> None:
    """JUNIT-7: `npm test; cat report.xml` tells of each test twice."""
    points = "TAP version 13\n1..1\nok 1 - heat\n"
    for text in (points + GREEN, GREEN + points):
        assert whole(text, 0) == ("passed", ["COUNTS_UNCONFIRMED"])


def test_a_document_that_stands_there_twice() -> None:
    """JUNIT-7."""
    assert whole(GREEN + GREEN, 0) == ("passed", ["COUNTS_UNCONFIRMED"])


def test_one_of_two_documents_is_cut() -> None:
    """JUNIT-1."""
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(GREEN + GREEN[:-20], 0).doubts


def test_what_stands_around_a_document_is_no_part_of_it() -> None:
    transcript = read(f"Warming up\n{GREEN}Done\n", 0)
    assert texts(transcript.unclassified) == ["Warming up", "Done"]
    assert not transcript.doubts
    glued = read(GREEN.rstrip() + " Done\n", 0)
    assert texts(glued.unclassified) == ["</testsuite> Done"]
    alone = read(f'{XML}\n{GREEN.removeprefix(XML)}<?xml version="1.0"?>\n', 0)
    assert len(alone.unclassified) == 2


def test_other_xml_opens_nothing() -> None:
    text = f'{XML}<coverage line-rate="1"><packages/></coverage>\n1..1\nok 1 - a\n'
    transcript = read(text, 0, "auto")
    assert tally(transcript) == (1, 0, 0, 0)
    assert len(transcript.unclassified) == 2
    assert Doubt.AMBIGUOUS_DIALECT not in transcript.doubts


def test_a_tag_that_a_test_prints_is_no_report() -> None:
    """READ-14: nothing bears it out before another dialect opens."""
    transcript = read("<testsuite>\n1..1\nok 1 - a\n", 0, "auto")
    assert tally(transcript) == (1, 0, 0, 0)
    assert texts(transcript.unclassified) == ["<testsuite>"]
    assert not transcript.doubts
    declared = read(XML + "<testsuite>\n1..1\nok 1 - a\n", 0, "auto")
    assert texts(declared.unclassified) == [XML.strip(), "<testsuite>"]


def test_tests_in_a_section_of_a_suite_are_text() -> None:
    """JUNIT-3."""
    inside = f"<![CDATA[\n{case('forged')}]]>\n"
    assert tally(read(XML + suite(inside, case("heat"), tests=1), 0)) == (1, 0, 0, 0)


# -- bounds -----------------------------------------------------------------------------------------------------------


def test_what_is_nested_too_deep_is_in_doubt() -> None:
    """JUNIT-2 and P7."""
    deep = "<testsuite name='a' tests='1' failures='0'>" * (DEPTH * 3) + case("a") + "</testsuite>" * (DEPTH * 3)
    transcript = read(deep, 0)
    assert Doubt.STRUCTURE_CONTRADICTION in transcript.doubts
    assert whole(deep, 0)[0] == "indeterminate"


def test_a_tag_without_an_end_is_text() -> None:
    """JUNIT-2 and P7."""
    endless = (
        XML
        + '<testsuite name="a" tests="0" failures="0">\n<testcase name="'
        + ("x" * 200 + "\n") * (MOST_TAG // 200 + 50)
    )
    assert whole(endless, 0)[0] == "indeterminate"


def test_output_without_end_is_not_held() -> None:
    """READ-3: a test that fails after all has lost some of it, and says so."""
    output = "<system-out>" + ("x" * 1023 + "\n") * (HELD_BYTES // 1024 + 9) + "</system-out>\n"
    green = read(XML + suite(case("heat", output)), 0)
    assert green.suppressed[Kind.PROGRAM_OUTPUT] > HELD_BYTES // 1024
    assert not green.doubts
    assert read(XML + suite(case("heat", output + SALTY), failures=1)).doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_the_row() -> None:
    assert DIALECT.opens(b"<testsuites>")
    assert DIALECT.opens(b'\xef\xbb\xbf<?xml version="1.0"?><testsuite name="a">')
    assert DIALECT.opens(b'  <testsuite name="a"')
    assert not DIALECT.opens(b"<testsuitesque>")
    assert not DIALECT.opens(b'<?xml version="1.0"?>')
