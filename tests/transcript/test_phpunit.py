"""PHPUnit's default and testdox printers: every form they take, and what must not be taken for them."""

import pytest
import run_story
from reports import chunked, damaged, judged, linear, names, read, region, sufficient, tally, texts

from context_firewall.transcript.dialects.phpunit_grammar import Ending, section, totals
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import trace_streams

HEAD = "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n"
TIME = "\nTime: 00:00.004, Memory: 4.00 MB\n\n"


def row(letters: str, done: int | None = None) -> str:
    done = len(letters) if done is None else done
    return f"{letters}{' ' * (65 - len(letters))}{done} / {done} (100%)\n"


def account(number: int, name: str, message: str = "Failed asserting that 180 is identical to 220.") -> str:
    return f"{number}) {name}\n{message}\n\n/srv/bakery/tests/OvenTest.php:{10 + number}\n"


def part(sort: str, *accounts: str) -> str:
    is_are = f"was 1 {sort}" if len(accounts) == 1 else f"were {len(accounts)} {sort}s"
    return f"There {is_are}:\n\n" + "\n".join(accounts)


def verdict(word: str, tests: int, **counts: int) -> str:
    told = "".join(f", {key}: {value}" for key, value in counts.items())
    return f"\n{word}\nTests: {tests}, Assertions: {tests}{told}.\n"


GREEN = HEAD + row("...") + TIME + "OK (3 tests, 3 assertions)\n"
SKIPS = "OK, but incomplete, skipped, or risky tests!"
GREEN_SKIP = HEAD + row(".SI.") + TIME.rstrip("\n") + "\n" + verdict(SKIPS, 4, Skipped=1, Incomplete=1)
GREEN_VERBOSE = (
    HEAD
    + "Runtime:       PHP 8.2.36\nConfiguration: /srv/bakery/phpunit.xml\n\n"
    + row(".SIR")
    + TIME
    + part("risky test", account(1, "OvenTest::testDoor", "This test did not perform any assertions"))
    + "\n--\n\n"
    + part("incomplete test", account(1, "OvenTest::testGlow", "write me"))
    + "\n--\n\n"
    + part("skipped test", account(1, "OvenTest::testHum", "no hum here"))
    + verdict(SKIPS, 4, Skipped=1, Incomplete=1, Risky=1)
)
ERROR = account(1, "OvenTest::testBake", "RuntimeException: too hot\nto bake")
FAILURES = account(1, "OvenTest::testHeat"), account(2, 'OvenTest::testRows with data set "a "b" # c" (1, 2)')
SECTIONS = part("error", ERROR) + "\n--\n\n" + part("failure", *FAILURES)
RED_END = TIME + SECTIONS + verdict("ERRORS!", 5, Errors=1, Failures=2)
RED = HEAD + row(".F.FE") + RED_END
NAMES = ["OvenTest::testBake", "OvenTest::testHeat", 'OvenTest::testRows with data set "a "b" # c" (1, 2)']
BOX = "   │\n   │ Failed asserting that 180 is identical to 220.\n   │\n   │ /srv/bakery/tests/OvenTest.php:12\n   │\n"
OUTLINE = f"Oven\n ✔ Door opens\n ✘ Heat\n{BOX}\n ↩ Hum\n ∅ Glow\n\nShelf\n ✔ Holds\n"
TESTDOX_VERDICT = verdict("FAILURES!", 5, Failures=1, Skipped=1, Incomplete=1)
TESTDOX = HEAD + OUTLINE + TIME + TESTDOX_VERDICT
RECAP = f"Summary of non-successful tests:\n\nOven\n ✘ Heat\n{BOX}"
TESTDOX_RECAP = HEAD + OUTLINE + TIME + RECAP + TESTDOX_VERDICT
DEBUG = (
    HEAD
    + "Test 'OvenTest::testDoor' started\nTest 'OvenTest::testDoor' ended\n\n"
    + TIME
    + "OK (1 test, 1 assertion)\n"
)


# -- the grammar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "counts", "failed"),
    [
        ("OK (3 tests, 3 assertions)", "", 0),
        ("OK (1 test, 1 assertion)", "", 0),
        ("FAILURES!", "Tests: 5, Assertions: 3, Failures: 2, Risky: 1.", 2),
        ("ERRORS!", "Tests: 5, Assertions: 3, Errors: 1, Failures: 2.", 3),
        ("WARNINGS!", "Tests: 5, Assertions: 3, Warnings: 1.", 1),
        (SKIPS, "Tests: 5, Assertions: 3, Skipped: 1.", 0),
        (SKIPS, "Tests: 5, Assertions: 3, Failures: 1.", None),
        ("FAILURES!", "Tests: 5, Assertions: 3.", None),
        ("FAILURES!", "Tests: 1, Assertions: 3, Failures: 2.", None),
        ("FAILURES!", "Tests: 5, Assertions: 3, Failures: 2", None),
        ("OK (3 tests)", "", None),
        ("FAILURES!", "", None),
    ],
)
def test_verdicts(word: str, counts: str, failed: int | None) -> None:
    found = totals(word.encode(), counts.encode())
    assert (None if found is None else found.failed) == failed


@pytest.mark.parametrize(
    ("line", "announced"),
    [
        ("There was 1 error:", (Ending.ERROR, 1)),
        ("There were 12 risky tests:", (Ending.RISKY, 12)),
        ("There were 1 errors:", (Ending.ERROR, 1)),
        ("There was 1 errors:", None),
        ("There were 2 failure:", None),
        ("There were 2 sheep:", None),
    ],
)
def test_sections(line: str, announced: tuple[Ending, int] | None) -> None:
    assert section(line.encode()) == announced


# -- what it reads ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "exit_code", "counts", "failed"),
    [
        (GREEN, 0, (3, 0, 0, 0), []),
        (GREEN_SKIP, 0, (2, 0, 1, 1), []),
        (GREEN_VERBOSE, 0, (1, 0, 1, 2), []),
        (DEBUG, 0, (1, 0, 0, 0), []),
        (RED, 2, (2, 3, 0, 0), NAMES),
        (TESTDOX, 1, (2, 1, 1, 1), ["Oven > Heat"]),
        (TESTDOX_RECAP, 1, (2, 1, 1, 1), ["Oven > Heat"]),
    ],
)
def test_a_whole_run(text: str, exit_code: int, counts: tuple[int, ...], failed: list[str]) -> None:
    """PU-1, PU-2."""
    found = read(text, exit_code)
    assert (tally(found), names(found)) == (counts, failed)
    assert sufficient(text, exit_code) == ("failed" if failed else "passed")


def test_the_region_is_the_account() -> None:
    """PU-2."""
    found = read(RED, 2)
    assert region(found) == ERROR.splitlines()
    assert region(read(TESTDOX, 1)) == [" ✘ Heat", *BOX.splitlines()]
    kinds = {
        line.text: line.kind
        for line in read(RED.replace("tests/OvenTest.php:12", "vendor/a/B.php:1"), 2).failures[2].details
    }
    assert kinds["/srv/bakery/vendor/a/B.php:1"] is Kind.FAILURE_CONTEXT


def test_risky_and_incomplete_tests_stay_visible() -> None:
    """PU-5."""
    assert texts(read(GREEN_VERBOSE).todo) == ["1) OvenTest::testDoor", "1) OvenTest::testGlow"]
    assert texts(read(TESTDOX, 1).todo) == [" ∅ Glow"]


def test_warnings_fail_a_test() -> None:
    """PU-5."""
    text = (
        HEAD + row(".W") + TIME + part("warning", account(1, "OvenTest::testOld")) + verdict("WARNINGS!", 2, Warnings=1)
    )
    assert (names(read(text, 1)), sufficient(text, 1)) == (["OvenTest::testOld"], "failed")


def test_colours_and_carriage_returns_change_nothing() -> None:
    coloured = RED.replace("F.F", "\x1b[41;37mF\x1b[0m.\x1b[41;37mF\x1b[0m").replace(
        "ERRORS!", "\x1b[37;41mERRORS!\x1b[0m"
    )
    assert sufficient(coloured.replace("\n", "\r\n"), 2) == "failed"


def test_no_test_is_no_pass() -> None:
    """PU-6."""
    assert sufficient(HEAD + "No tests executed!\n") == Doubt.NO_TEST_EVIDENCE


def test_coverage_reports_may_follow() -> None:
    written = "\nGenerating code coverage report in Clover XML format ... done [00:00.024]\n"
    assert sufficient(GREEN + written) == "passed"


LOG = '<?xml version="1.0"?>\n<testsuites>\n  <testcase name="a">\n\nOK (9 tests, 9 assertions)\n</testsuites>\n'


def test_a_log_for_machines_behind_the_last_row_is_a_recap() -> None:
    text = HEAD + row("...").rstrip("\n") + LOG + "\n" + TIME + "OK (3 tests, 3 assertions)\n"
    assert sufficient(text) == "passed"
    assert read(text).suppressed[Kind.RECAP] == 4
    torn = judged(text.replace("</testsuites>", "</testsuite>"))
    assert Doubt.COMPLETENESS_UNCONFIRMED in torn.reasons


def test_standard_error_is_the_programs() -> None:
    assert sufficient(GREEN, 0, "FAILURES!\nTests: 9, Assertions: 9, Failures: 3.\n") == "passed"


HEAD_LATER = "PHPUnit 11.5.2 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.3.1\n\n"
ISSUES = "OK, but there were issues!"
RUNNER = "There was 1 PHPUnit test runner deprecation:\n\n1) The configuration is of an old version\n"
TRIGGERED = (
    "1 test triggered 2 deprecations:\n\n1) /srv/bakery/src/Oven.php:29\nold oven\n\nTriggered by:\n\n"
    "* OvenTest::testDoor\n  /srv/bakery/tests/OvenTest.php:21\n\n2) /srv/bakery/src/Oven.php:31\nold door\n"
)


def test_issues_of_later_versions_are_no_tests() -> None:
    """PU-5: the counts of issues are told apart by their names, and warnings by the version."""
    text = HEAD_LATER + row(".WDN.") + TIME + RUNNER + "\n--\n\n" + TRIGGERED
    text += f"\n{ISSUES}\nTests: 5, Assertions: 5, Warnings: 1, PHPUnit Deprecations: 1, Deprecations: 2.\n"
    found = read(text)
    assert (tally(found), sufficient(text)) == ((5, 0, 0, 0), "passed")
    assert "old oven" in texts(found.warnings)
    assert sufficient(text.replace("11.5.2", "9.6.7")) != "passed"


def test_a_failure_behind_an_issue() -> None:
    later = HEAD_LATER + row("F.") + TIME + RUNNER + "\n--\n\n" + part("failure", FAILURES[0])
    text = later + "\nFAILURES!\nTests: 2, Assertions: 2, Failures: 1, PHPUnit Deprecations: 1.\n"
    assert (names(read(text, 1)), sufficient(text, 1)) == (["OvenTest::testHeat"], "failed")


def test_the_outline_of_later_versions_stands_behind_the_rows() -> None:
    text = (
        HEAD_LATER + row(".FSID") + TIME + f"Oven (Bakery\\Oven)\n ✔ Opens\n ✘ Heat\n{BOX}\n ↩ Hum\n ∅ Glow\n ⚠ Old\n"
    )
    text += "\nFAILURES!\nTests: 5, Assertions: 3, Failures: 1, Deprecations: 1, Skipped: 1, Incomplete: 1.\n"
    found = read(text, 1)
    assert (names(found), tally(found)) == (["Oven (Bakery\\Oven) > Heat"], (2, 1, 1, 1))
    assert sufficient(text, 1) == "failed"
    assert sufficient(text.replace("\nFAILURES", "\nwhat is this\n\nFAILURES"), 1) != "failed"


# -- what tests print -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "printed", ["warm\n", "OK (9 tests, 9 assertions)\n", "There was 1 failure:\n\n1) A::b\nx\n", "E E\n"]
)
def test_what_is_printed_among_rows_is_the_programs(printed: str) -> None:
    """PU-4."""
    assert sufficient(HEAD + "." + printed + row("..", 3) + TIME + "OK (3 tests, 3 assertions)\n") == "passed"
    red = HEAD + ".F" + printed + row(".FE", 5) + RED_END
    assert sufficient(red, 2) == "failed"
    assert {line.kind for line in read(red, 2).unclassified} == {Kind.PROGRAM_OUTPUT}


@pytest.mark.parametrize("printed", ["warm\n", "OK (9 tests, 9 assertions)\n", ".F.E\n", "\nwarm\nwarmer\n"])
def test_what_is_printed_among_the_outline_is_the_programs(printed: str) -> None:
    """PU-4."""
    text = TESTDOX.replace(" ✘ Heat", printed + " ✘ Heat").replace(" ∅ Glow", printed + " ∅ Glow")
    assert sufficient(text, 1) == "failed"


def test_what_follows_the_last_row_is_printed() -> None:
    text = HEAD + row("...").rstrip("\n") + "warm\n\n" + TIME + "OK (3 tests, 3 assertions)\n"
    assert sufficient(text) == "passed"


# -- what must not be taken for a report ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "exit_code", "doubt"),
    [
        (HEAD + row("..."), 0, Doubt.COMPLETENESS_UNCONFIRMED),
        (RED.rpartition("\nERRORS!")[0], 2, Doubt.COMPLETENESS_UNCONFIRMED),
        (RED.rpartition("Tests: ")[0], 2, Doubt.COMPLETENESS_UNCONFIRMED),
        (HEAD + row("..") + TIME + "OK (3 tests, 3 assertions)\n", 0, Doubt.AGGREGATE_CONTRADICTION),
        (HEAD + row(".F.") + TIME + "OK (3 tests, 3 assertions)\n", 0, Doubt.AGGREGATE_CONTRADICTION),
        (HEAD + "...   3 / 9 ( 33%)\n" + TIME + "OK (3 tests, 3 assertions)\n", 0, Doubt.COMPLETENESS_UNCONFIRMED),
        (RED.replace("There was 1 error:", "There were 2 errors:"), 2, Doubt.AGGREGATE_CONTRADICTION),
        (HEAD + row(".F.FE") + TIME + verdict("ERRORS!", 5, Errors=1, Failures=2), 2, Doubt.RECAP_CONTRADICTION),
        (RED.replace("\n2) OvenTest", "\n3) OvenTest"), 2, Doubt.CONTESTED_RESULTS),
        (TESTDOX.replace(" ✔ Holds\n", ""), 1, Doubt.AGGREGATE_CONTRADICTION),
        (TESTDOX_RECAP.replace(RECAP, RECAP.replace("Heat", "Cold")), 1, Doubt.RECAP_CONTRADICTION),
        (TESTDOX_RECAP.replace(RECAP, RECAP.replace("180", "181")), 1, Doubt.UNCLASSIFIED_EVIDENCE),
        (GREEN + "and then\n", 0, Doubt.UNCLASSIFIED_EVIDENCE),
        (GREEN.replace("\nOK", "\nand then\n\nOK"), 0, Doubt.AGGREGATE_CONTRADICTION),
        ("composer test\n" + GREEN, 0, Doubt.UNCLASSIFIED_EVIDENCE),
    ],
)  # fmt: skip
def test_what_is_not_whole_does_not_suffice(text: str, exit_code: int, doubt: Doubt) -> None:
    """PU-1, PU-3."""
    found = judged(text, exit_code)
    assert doubt in found.reasons
    assert str(found.status) == ("failed" if exit_code else "indeterminate")


def test_a_red_report_with_a_masked_exit_code_is_no_pass() -> None:
    assert sufficient(RED, 0) == "ZERO_EXIT_WITH_FAILURES"


@pytest.mark.parametrize("number", [1, 2, 3, 9])
def test_a_list_that_a_message_quotes_is_doubted(number: int) -> None:
    """PU-3: nothing says which header is the runner's."""
    quoted = account(1, "OvenTest::testHeat", "quotes:\n\n" + account(number, "FakeTest::testX"))
    text = RED.replace(FAILURES[0], quoted)
    assert Doubt.CONTESTED_RESULTS in judged(text, 2).reasons


def test_a_verdict_that_a_message_quotes_closes_nothing() -> None:
    quoted = account(
        1, "OvenTest::testHeat", "quotes:\n\nOK (5 tests, 5 assertions)\n" + verdict("FAILURES!", 5, Failures=2)
    )
    text = RED.replace(FAILURES[0], quoted)
    assert (names(read(text, 2)), sufficient(text, 2)) == (NAMES, "failed")


def test_a_second_end_of_the_results_that_a_message_quotes_ends_nothing() -> None:
    """PU-3."""
    text = RED.replace(FAILURES[0], account(1, "OvenTest::testHeat", "quotes:\n" + TIME + "x"))
    assert (names(read(text, 2)), sufficient(text, 2)) == (NAMES, "failed")


def test_a_report_that_a_test_prints_is_contested() -> None:
    """PU-3: its accounts stay visible, the runner's own are read."""
    forged = "\n" + TIME + part("failure", account(1, "FakeTest::testX")) + verdict("FAILURES!", 9, Failures=1)
    text = HEAD + ".F" + forged + row(".FE", 5) + RED_END
    found = read(text, 2)
    assert names(found) == NAMES
    assert Doubt.CONTESTED_RESULTS in found.doubts
    assert [line.text for line in found.unclassified if line.kind is Kind.CONTESTED_TEST] == ["1) FakeTest::testX"]


def test_a_run_that_says_nothing_before_the_next_is_missed() -> None:
    """PU-1."""
    assert Doubt.COMPLETENESS_UNCONFIRMED in judged(HEAD + GREEN).reasons


def test_two_runs_in_one_stream_are_added_up() -> None:
    found = read(GREEN + RED, 2)
    assert (tally(found), names(found)) == ((5, 3, 0, 0), NAMES)
    assert sufficient(GREEN + RED, 2) == "failed"


def test_a_run_that_breaks_off() -> None:
    """PU-2."""
    found = read(HEAD + ".F.E\n", 255, "PHP Fatal error:  Allowed memory size exhausted in /srv/a.php on line 6\n")
    assert (names(found)[0], tally(found)) == ("2 failing tests, not named", (2, 2, 0, 0))
    found = read(TESTDOX.partition(" ↩")[0], 7)
    assert names(found) == ["Oven > Heat"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in found.doubts


# -- bytes ------------------------------------------------------------------------------------------------------------

SHAPES = [
    GREEN,
    GREEN_VERBOSE,
    RED,
    TESTDOX,
    TESTDOX_RECAP,
    DEBUG,
    HEAD + "." + RED_END + row(".F.FE") + RED_END,
    HEAD_LATER + row("F.") + TIME + RUNNER + "\n--\n\n" + TRIGGERED + "\n--\n\n" + part("failure", FAILURES[0]),
    HEAD_LATER + row(".F") + TIME + f"Oven\n ✔ Opens\n ✘ Heat\n{BOX}" + verdict("FAILURES!", 2, Failures=1),
]


@pytest.mark.parametrize("text", SHAPES)
def test_chunks_make_no_difference(text: str) -> None:
    chunked(text, "phpunit")


def test_every_line_has_one_fate_under_damage() -> None:
    """P3."""
    damaged(
        SHAPES, "phpunit", ["1) A::b", "--", "There was 1 error:", TIME.strip(), " ✘ x", "OK (1 test, 1 assertion)"]
    )


@pytest.mark.parametrize("testdox", [False, True])
def test_a_run_of_passed_tests_is_read_like_its_lines(testdox: bool) -> None:
    lines = (
        " ✔ Holds\n" * 400
        if testdox
        else "".join(f"{'.' * 60} {60 * n} / 24000 ({n // 4:3}%)\n" for n in range(1, 401))
    )
    tests = 400 if testdox else 24000
    text = HEAD + ("Oven\n" if testdox else "") + lines + TIME + f"OK ({tests} tests, {tests} assertions)\n"
    found, _ = trace_streams([("stdout", [text.encode()]), ("stderr", [])], exit_code=0)
    assert read(text) == found
    assert tally(found) == (tests, 0, 0, 0)


@pytest.mark.parametrize(
    "unit",
    [".", "F ", " 1 / 2 ( 50%)", "There were ", "1) ", "Test '", "' ended", " ✘ ", "   │ ", "\n ✘ x\n   │ y",
     "\n\n1) A::b\nx", TIME, "\n\n--\n\nThere was 1 error:\n\n1) A::b\n", TIME + "OK (1 test, 1 assertion)\n", "\n\na"],
)  # fmt: skip
def test_time_grows_with_the_text(unit: str) -> None:
    """P7."""
    linear(HEAD, unit, RED_END, "phpunit")
    linear(HEAD + "." + TIME + part("failure", account(1, "A::b")), unit, RED_END, "phpunit")


def class_error(number: int, name: str) -> str:
    frame = "/usr/share/php/PHPUnit/Framework/TestSuite.php(628): OvenTest::setUpBeforeClass()"
    place = "/srv/bakery/tests/OvenTest.php:7"
    return f"{number}) {name}\nRuntimeException: no gas in {place}\nStack trace:\n#0 {frame}\n#1 {{main}}\n"


def test_the_exception_of_a_whole_class_ends_without_an_empty_line() -> None:
    """A header, dashes or the verdict stand right below it."""
    accounts = [class_error(1, "OvenTest::testBake"), account(2, "TinTest::testHold", "LogicException: bent")]
    errors = "There were 2 errors:\n\n" + "".join(accounts)
    last = "There was 1 failure:\n\n" + account(1, "JarTest::testLid")
    run = (
        HEAD + row("ESEF.") + TIME + errors + "\n--\n\n" + last + verdict("ERRORS!", 5, Errors=2, Failures=1, Skipped=1)
    )
    assert sufficient(run, 2) == "failed"
    assert names(read(run)) == ["OvenTest::testBake", "TinTest::testHold", "JarTest::testLid"]
    only = HEAD + row("ES") + TIME + "There was 1 error:\n\n" + class_error(1, "OvenTest::testBake")
    with_dashes = only + "--\n\nThere was 1 skipped test:\n\n" + account(1, "OvenTest::testHum", "error in hook")
    end = verdict("ERRORS!", 2, Errors=1, Skipped=1)
    for run in (only + end.removeprefix("\n"), with_dashes + end):
        assert sufficient(run, 2) == "failed"
        assert names(read(run)) == ["OvenTest::testBake"]


def test_what_fails_when_a_class_is_over_stands_behind_its_row() -> None:
    report = "There was 1 failure:\n\n" + account(1, "OvenTest::tearDownAfterClass", "Exception in it")
    end = TIME + report + verdict("FAILURES!", 4, Failures=1)
    run = HEAD + row("...").rstrip("\n") + "F\n" + end
    assert sufficient(run, 1) == "failed"
    assert names(read(run)) == ["OvenTest::tearDownAfterClass"]
    assert sufficient(HEAD + row("...") + end, 1) == "AGGREGATE_CONTRADICTION"


@pytest.mark.parametrize("last", [" ↩ Hum\n", " ∅ Glow\n", " ✘ Heat\n"])
def test_a_verdict_right_below_a_summary(last: str) -> None:
    """PU-1: below a sign alone stands no empty line."""
    summary = f"Summary of non-successful tests:\n\nOven\n{last}"
    told = {" ↩ Hum\n": {"Skipped": 1}, " ∅ Glow\n": {"Incomplete": 1}, " ✘ Heat\n": {"Failures": 1}}[last]
    word = "FAILURES!" if "Failures" in told else SKIPS
    run = HEAD + f"Oven\n ✔ Door opens\n{last}" + TIME + summary + verdict(word, 2, **told).removeprefix("\n")
    assert sufficient(run, "Failures" in told) == ("failed" if "Failures" in told else "passed")


# -- --teamcity


def outcome(text: str, exit_code: int = 0) -> tuple[str, list[str]]:
    """Status and reasons."""
    return run_story.judged(exit_code, stdout=text)


def sent(name: str, test: str, **values: str) -> str:
    told = "".join(f" {key}='{value}'" for key, value in ({"name": test} | values | {"flowId": "42"}).items())
    return f"\n##teamcity[{name}{told}]\n"


def ran(test: str, *between: str) -> str:
    hint = rf"php_qn:///srv/OvenTest.php::\OvenTest::{test}"
    body = "".join(between)
    return sent("testStarted", test, locationHint=hint) + body + sent("testFinished", test, duration="0")


def fails(test: str, message: str = "too hot", details: str = " /srv/OvenTest.php:9|n ", printed: str = "") -> str:
    return ran(test, sent("testFailed", test, message=message, details=details), printed)


def messages(count: int, *tests: str) -> str:
    inner = sent("testSuiteStarted", "OvenTest") + "".join(tests) + sent("testSuiteFinished", "OvenTest")
    return f"\n##teamcity[testCount count='{count}' flowId='42']\n{inner}"


RISKY = "This test did not perform any assertions|n|n/srv/OvenTest.php:3"
SENT_GREEN = HEAD + messages(2, ran("testDoor"), ran("testGlow", "hum\n")) + TIME + "OK (2 tests, 2 assertions)\n"
SENT_TESTS = (
    ran("testDoor"),
    fails("testHeat", printed="OK (9 tests, 9 assertions)\n##teamcity[testFinished name='testHeat']\n"),
    fails("testRisky", RISKY, " "),
    ran("testHum", sent("testIgnored", "testHum", message="later", details=" ")),
)
SENT_END = TIME.rstrip("\n") + "\n" + verdict("FAILURES!", 4, Failures=1, Skipped=1, Risky=1)
SENT = HEAD + "Runtime:       PHP 8.2.36\n\n" + messages(4, *SENT_TESTS) + SENT_END


def test_service_messages() -> None:
    """PU-8: what they name as failed and the verdict as risky is the risky test."""
    assert outcome(SENT_GREEN) == ("passed", [])
    assert outcome(SENT, 1) == ("failed", [])
    transcript = read(SENT)
    assert names(transcript) == ["OvenTest::testHeat"]
    assert tally(transcript) == (1, 1, 1, 1)
    assert "testRisky" in transcript.todo[0].text
    assert not transcript.unclassified
    assert [line.kind for line in transcript.failures[0].lines()] == [Kind.FAILED_TEST, *[Kind.FAILURE_DETAIL] * 2]


@pytest.mark.parametrize("message", [RISKY, "This test printed output: x", "Test method is annotated with @todo"])
def test_which_test_is_risky_has_to_be_told(message: str) -> None:
    """PU-8: a failing test with the same words leaves it open; none is lost."""
    told = messages(2, fails("testA", message, " "), fails("testB", message, " "))
    text = HEAD + told + TIME.rstrip("\n") + "\n" + verdict("FAILURES!", 2, Failures=1, Risky=1)
    transcript = read(text)
    assert names(transcript) == ["OvenTest::testA", "OvenTest::testB"]
    assert Doubt.RECAP_CONTRADICTION in transcript.doubts


def test_a_test_with_a_warning_has_no_message() -> None:
    """PU-8: of PHPUnit 9; the verdict counts it as failed."""
    told = messages(2, ran("testA"), ran("Warning", 'No tests found in class "EmptyTest".\n'))
    text = HEAD + told + TIME.rstrip("\n") + "\n" + verdict("WARNINGS!", 2, Warnings=1)
    transcript = read(text)
    assert names(transcript) == ["1 failing test, not named"]
    assert transcript.doubts == {Doubt.FAILURES_UNNAMED}


def test_accounts_behind_service_messages() -> None:
    """PU-8: PHPUnit 10 and later tell it all once more; then the messages are a recap."""
    told = messages(
        3, ran("testDoor"), fails("testHeat"), fails("testRisky", "This test did not perform any assertions", "")
    )
    sections = part("failure", account(1, "OvenTest::testHeat")) + "\n--\n\n"
    sections += part("risky test", account(1, "OvenTest::testRisky", "This test did not perform any assertions"))
    text = HEAD.replace("9.6.7", "11.2.0") + told + TIME + sections + verdict("FAILURES!", 3, Failures=1, Risky=1)
    assert outcome(text, 1) == ("failed", [])
    transcript = read(text)
    assert names(transcript) == ["OvenTest::testHeat"]
    assert tally(transcript) == (1, 1, 0, 1)
    assert transcript.suppressed[Kind.RECAP] == 2
    fewer = text.replace(fails("testHeat"), fails("testHeat") + fails("testMore") + fails("testMost"))
    assert Doubt.RECAP_CONTRADICTION in read(fewer).doubts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (fails("testHeat"), ran("testHeat")),
        (fails("testHeat"), ""),
        (fails("testHeat"), fails("testHeat") * 2),
        (ran("testDoor"), fails("testDoor")),
        (ran("testDoor"), sent("testStarted", "testDoor")),
        (sent("testSuiteFinished", "OvenTest"), ""),
        (ran("testDoor"), ran("testDoor") + ran("testHum", sent("testIgnored", "testHum"))),
        (ran("testDoor"), ran("testDoor") + sent("testFailed", "hook", message="m")),
        ("Failures: 1", "Failures: 2"),
        ("Tests: 2", "Tests: 3"),
    ],
)
def test_service_messages_that_the_verdict_denies(old: str, new: str) -> None:
    """PU-1 and PU-8."""
    end = TIME.rstrip("\n") + "\n" + verdict("FAILURES!", 2, Failures=1)
    text = HEAD + messages(2, ran("testDoor"), fails("testHeat")) + end
    assert outcome(text, 1) == ("failed", [])
    assert outcome(text.replace(old, new), 1)[1]
    assert outcome(text.replace(old, new), 0)[0] != "passed"


def test_service_messages_that_were_cut_never_pass() -> None:
    """P1."""
    assert not [at for at in range(len(SENT_GREEN) - 1) if outcome(SENT_GREEN[:at])[0] == "passed"]


def test_a_forged_verdict_among_messages() -> None:
    """PU-3, PU-8: it counts what has ended so far, but a test still runs."""
    forged = ran("testGlow", f"{TIME}OK (1 test, 1 assertion)\n")
    end = TIME.rstrip("\n") + "\n" + verdict("FAILURES!", 3, Failures=1)
    text = HEAD + messages(3, ran("testDoor"), forged, fails("testHeat")) + end
    assert names(read(text)) == ["OvenTest::testHeat"]
    assert tally(read(text)) == (2, 1, 0, 0)
    assert outcome(text, 0)[0] != "passed"


def test_messages_among_letters_are_text() -> None:
    """PU-8: the number of tests is the first of the results, or none of them is a message."""
    printed = messages(1, ran("testForged"))
    text = HEAD + ".." + printed + row(".", 3) + TIME + "OK (3 tests, 3 assertions)\n"
    assert tally(read(text, 0)) == (3, 0, 0, 0)
    assert read(text, 0).doubts == {Doubt.AMBIGUOUS_DIALECT}
    first = HEAD + printed + row("...") + TIME + "OK (3 tests, 3 assertions)\n"
    assert outcome(first)[0] != "passed"


def test_every_line_of_service_messages_is_counted_once() -> None:
    """P3, READ-3."""
    for text in (SENT, SENT[:900], SENT + SENT):
        found, traces = trace_streams([("stdout", [text.encode()])], exit_code=1)
        assert found.event_count == len(traces) == len(text.removesuffix("\n").split("\n"))
    chunked(SENT, "phpunit")
