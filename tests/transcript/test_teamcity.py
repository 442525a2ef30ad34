"""TeamCity's service messages: their grammar, the tests that they tell of, and what must not be taken for them."""

import pytest
from run_story import assert_chunks_make_no_difference, assert_every_line_once, judged, names, texts

from context_firewall.transcript.dialects.teamcity import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams
from context_firewall.transcript.service_messages import found_in, text_before_message


def message(name: str, test: str = "", **values: object) -> str:
    pairs = ({"name": test} if test else {}) | values
    told = "".join(f" {key}='{value}'" for key, value in pairs.items())
    return f"##teamcity[{name}{told}]\n"


def passed(name: str, **values: object) -> str:
    return message("testStarted", name, **values) + message("testFinished", name, duration=3, **values)


def failed(name: str, text: str = "gate is stuck", printed: str = "", **values: object) -> str:
    body = printed + message("testFailed", name, message=text, details="at lock.py:3", **values)
    return message("testStarted", name, **values) + body + message("testFinished", name, **values)


def suite(name: str, *parts: str, **values: object) -> str:
    return message("testSuiteStarted", name, **values) + "".join(parts) + message("testSuiteFinished", name, **values)


def counted(count: int, *parts: str) -> str:
    return message("testCount", count=count) + suite("canal", *parts)


GREEN = counted(3, suite("lock", passed("fills"), passed("drains")), passed("hums"))
RED = counted(3, suite("lock", passed("fills"), failed("holds")), passed("hums"))


def read(text: str, exit_code: int | None = 1, stderr: str = "") -> Transcript:
    return read_streams([("stdout", [text.encode()]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def verdict(text: str, exit_code: int = 0, stderr: str = "") -> tuple[str, list[str]]:
    return judged(exit_code, stdout=text, stderr=stderr)


def tally(transcript: Transcript) -> tuple[int, int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped, found.todo


# -- the messages


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("##teamcity[testStarted name='a']", {"name": "a"}),
        ("##teamcity[testStarted  name = 'a'  flowId='7' ]", {"name": "a", "flowId": "7"}),
        ("##teamcity[progressMessage 'half']", {}),
        ("##teamcity[enteredTheMatrix]", {}),
        (
            "##teamcity[testFailed name='|'q|' |[x|] ||p' message='a|nb|rc']",
            {"name": "'q' [x] |p", "message": "a\nb\rc"},
        ),
        ("##teamcity[a name='|0x2153 |x|l|p']", {"name": "⅓ \x85\u2028\u2029"}),
        ("##teamcity[a name='|0xD83D|0xDEA2 |0xD800']", {"name": "🚢 \ufffd"}),
        ("##teamcity[a name='[as it is]']", {"name": "[as it is]"}),
        ("printed ##teamcity[a name='b']", {"name": "b"}),
    ],
)
def test_a_message(line: str, values: dict[str, str]) -> None:
    """TC-1."""
    found = found_in(line.encode())
    assert found is not None
    assert found.message is not None
    assert found.message.values == values
    assert bool(found.before) is line.startswith("printed")


@pytest.mark.parametrize(
    "line",
    [
        "##teamcity[testStarted name='a'",
        "##teamcity[testStarted name='a]",
        "##teamcity[testStarted name='a|']",
        "##teamcity[testStarted name='a' name='b']",
        "##teamcity[testStarted name=a]",
        "##teamcity[testStarted name='a'] and more",
        "##teamcity[]",
        "##teamcity[testFailed name='see ##teamcity[x']",
    ],
)
def test_what_is_no_message(line: str) -> None:
    """TC-1."""
    found = found_in(line.encode())
    assert found is not None
    assert found.message is None
    assert text_before_message(line.encode()) is None


@pytest.mark.parametrize("line", ["", "ok 1", "#teamcity[testStarted name='a']", "## teamcity[a]"])
def test_what_has_no_mark(line: str) -> None:
    assert found_in(line.encode()) is None


def test_what_opens_it() -> None:
    assert DIALECT.opens(b"##teamcity[testCount count='3' flowId='1']")
    assert not DIALECT.opens(b"##teamcity[buildNumber '3']")
    assert not DIALECT.opens(b"##teamcity[testStarted name='a'")
    assert not DIALECT.opens(b"x ##teamcity[testStarted name='a']")


# -- whole runs


def test_a_whole_run() -> None:
    """TC-2 and P1: nothing sums it up."""
    assert verdict(GREEN) == ("indeterminate", ["COMPLETENESS_UNCONFIRMED"])
    assert verdict(RED, 1) == ("failed", ["COMPLETENESS_UNCONFIRMED"])
    assert names(read(RED)) == ["canal > lock > holds"]
    assert tally(read(RED)) == (2, 1, 0, 0)


def test_a_region() -> None:
    """TC-4: what was printed meanwhile belongs to it; the other messages do not."""
    printed = "creaking\n" + message("testStdErr", "holds", out="crack|n")
    transcript = read(counted(2, passed("fills"), failed("holds", printed=printed)))
    lines = [*transcript.failures[0].lines()]
    assert [line.kind for line in lines] == [Kind.FAILED_TEST, Kind.FAILURE_DETAIL, Kind.PROGRAM_OUTPUT]
    assert "gate is stuck" in lines[0].text
    assert lines[1].text == "creaking"


def test_a_test_may_fail_several_times() -> None:
    """TC-4: that is one failure."""
    parts = [message("testStarted", "holds")]
    parts += (message("testFailed", "holds", message=text) for text in ("one", "two"))
    transcript = read(counted(1, *parts, message("testFinished", "holds")))
    assert tally(transcript) == (0, 1, 0, 0)
    assert [line.kind for line in transcript.failures[0].lines()] == [Kind.FAILED_TEST, Kind.FAILURE_MESSAGE]


@pytest.mark.parametrize("printed", ["filling\n", "PASSED\n", "ok 1 - x\n1..1\n", "hello ##teamcity[x]\n"])
def test_what_a_passing_test_prints_is_its_own(printed: str) -> None:
    """TC-4."""
    text = counted(1, message("testStarted", "fills"), printed, message("testFinished", "fills"))
    transcript = read(text, 0)
    assert not transcript.unclassified
    assert transcript.suppressed[Kind.PROGRAM_OUTPUT] == printed.count("\n")


def test_a_marker_is_nobodys_output() -> None:
    text = counted(1, message("testStarted", "fills"), "FATAL: no water\n", message("testFinished", "fills"))
    assert texts(read(text, 0).fatal_errors) == ["FATAL: no water"]


def test_flows_keep_tests_apart() -> None:
    """TC-3: of what is printed while two tests run, nobody knows whose it is."""
    parts = [message("flowStarted", flowId=flow, parent="main") for flow in "ab"]
    parts += [message("testStarted", "fills", flowId="a"), message("testStarted", "holds", flowId="b"), "whose?\n"]
    parts += [message("testFailed", "holds", message="m", flowId="b"), message("testFinished", "fills", flowId="a")]
    parts += [message("testFinished", "holds", flowId="b"), message("flowFinished", flowId="a")]
    text = message("testCount", count=2) + suite("canal", *parts, flowId="main")
    transcript = read(text)
    assert names(transcript) == ["canal > holds"]
    assert tally(transcript) == (1, 1, 0, 0)
    assert [line.kind for line in transcript.unclassified] == [Kind.PROGRAM_OUTPUT]
    assert transcript.doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_a_qualified_name() -> None:
    """TC-5."""
    hint = r"php_qn:///srv/LockTest.php::\Canal\LockTest::testHolds with data set |'odd :: |[x|]|'"
    parts = [message("testStarted", "testHolds", locationHint=hint), message("testFailed", "testHolds", message="m")]
    transcript = read(counted(1, *parts, message("testFinished", "testHolds")))
    assert names(transcript) == [r"Canal\LockTest::testHolds with data set 'odd :: [x]'"]


def test_ignored_tests_may_be_to_do() -> None:
    """TC-2."""
    ignored = message("testStarted", "waits") + message("testIgnored", "waits", message="fog")
    transcript = read(counted(2, passed("fills"), ignored, message("testFinished", "waits")), 0)
    assert tally(transcript) == (1, 0, 1, 0)
    assert transcript.doubts == {Doubt.COUNTS_UNCONFIRMED, Doubt.COMPLETENESS_UNCONFIRMED}


def test_a_test_that_is_ignored_without_having_started() -> None:
    """TC-3: mocha's reporter says that it finishes, too."""
    ignored = message("testIgnored", "waits", message="waits")
    for parts in ((ignored,), (ignored, message("testFinished", "waits"))):
        transcript = read(suite("canal", passed("fills"), *parts), 0)
        assert tally(transcript) == (1, 0, 1, 0)
        assert Doubt.STRUCTURE_CONTRADICTION not in transcript.doubts


def test_what_fails_without_having_started() -> None:
    """TC-4: a hook, or a test that has finished already. It is a failure and no test."""
    text = suite("canal", passed("fills"), message("testFailed", '"after all" hook', message="m", flowId="h"))
    transcript = read(text)
    assert names(transcript) == ['"after all" hook']
    assert tally(transcript) == (1, 0, 0, 0)
    assert verdict(text, 1)[0] == "failed"


def test_a_build_problem_is_fatal() -> None:
    """TC-6."""
    problem = message("buildProblem", description="out of memory")
    assert verdict(counted(1, passed("fills"), problem))[0] == "indeterminate"
    assert len(read(counted(1, passed("fills"), problem), 0).fatal_errors) == 1
    fine = message("buildStatus", status="SUCCESS") + message("blockOpened", "x")
    assert not read(counted(1, passed("fills"), fine), 0).fatal_errors
    assert len(read(counted(1, passed("fills"), message("message", text="t", status="ERROR")), 0).warnings) == 1


def test_two_runs() -> None:
    """TC-2: the second begins with its own number of tests, and the first has come to its end."""
    transcript = read(GREEN + "\nbetween\n" + RED)
    assert tally(transcript) == (5, 1, 0, 0)
    assert texts(transcript.unclassified) == ["between"]
    assert transcript.doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


# -- what is not whole


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (suite("canal", passed("fills")), Doubt.COMPLETENESS_UNCONFIRMED),
        (message("testCount", count=1) + passed("fills"), Doubt.COMPLETENESS_UNCONFIRMED),
        (
            message("testCount", count=2) + suite("a", passed("x")) + suite("b", passed("y")),
            Doubt.COMPLETENESS_UNCONFIRMED,
        ),
        (counted(2, passed("fills")), Doubt.PLAN_CONTRADICTION),
        (counted(1, passed("fills"), passed("drains")), Doubt.COMPLETENESS_UNCONFIRMED),
        (counted(1, passed("fills"), message("testCount", count=1)), Doubt.PLAN_CONTRADICTION),
        (message("testCount", count="many") + suite("canal", passed("fills")), Doubt.STRUCTURE_CONTRADICTION),
        (counted(1, message("testStarted", "fills")), Doubt.STRUCTURE_CONTRADICTION),
        (counted(1, passed("fills"), message("testSuiteFinished", "lock")), Doubt.STRUCTURE_CONTRADICTION),
        (counted(1, passed("fills"), message("testFinished", "fills")), Doubt.STRUCTURE_CONTRADICTION),
        (counted(1, message("testStarted", "fills"), message("testFinished", "drains")), Doubt.STRUCTURE_CONTRADICTION),
        (
            counted(1, message("testSuiteStarted", "lock"), passed("fills"), message("testSuiteFinished", "weir")),
            Doubt.STRUCTURE_CONTRADICTION,
        ),
        (counted(1, message("testStarted", "fills"), passed("fills")), Doubt.STRUCTURE_CONTRADICTION),
        (counted(1, passed("fills"), "##teamcity[testFailed name='x\n"), Doubt.STRUCTURE_CONTRADICTION),
        (counted(1, passed("fills"), message("disableServiceMessages")), Doubt.CONTESTED_RESULTS),
        (counted(1, passed("fills"), message("testRetrySupport", enabled="true")), Doubt.CONTESTED_RESULTS),
        (counted(0), Doubt.NO_TEST_EVIDENCE),
    ],
)
def test_a_run_that_proves_nothing(text: str, doubt: Doubt) -> None:
    """TC-2, TC-3, TC-6 and P1."""
    assert doubt in read(text, 0).doubts
    assert verdict(text)[0] != "passed"


TOTALS = "\n\nRan {ran} in 0.002s\n\n{word}\n"
OK = TOTALS.format(ran="3 tests", word="OK")
FAILED = TOTALS.format(ran="3 tests", word="FAILED (failures=1)")


def test_no_damaged_run_is_green() -> None:
    """P1: cut at whichever byte, without a line, or with one twice, whatever the totals say."""
    lines = GREEN.splitlines(keepends=True)
    made = [GREEN[:at] for at in range(GREEN.rindex("##teamcity[testSuiteFinished") - 1)]
    made += ["".join(lines[:at] + lines[at + 1 :]) for at in range(len(lines)) if "test" in lines[at][:16]]
    made += ["".join(lines[: at + 1] + lines[at:]) for at in range(1, len(lines))]
    assert verdict(GREEN, 0, OK) == ("passed", [])
    assert not [text for text in made if verdict(text)[0] == "passed"]
    # The number of tests and the suites are not among unittest's totals, so their loss changes nothing there.
    tests = [text for text in made if text.count("##teamcity[testFinished") != GREEN.count("##teamcity[testFinished")]
    assert len(tests) > len(lines)
    assert not [text for text in tests if verdict(text, 0, OK)[0] == "passed"]


def test_a_failure_that_is_lost_is_missed() -> None:
    """TC-7 and P1: a test of which nothing is said has passed, but the totals count it as failed."""
    text = "".join(line for line in RED.splitlines(keepends=True) if "testFailed" not in line)
    assert verdict(RED, 1, FAILED) == ("failed", [])
    assert verdict(text, 0, FAILED)[0] != "passed"
    assert verdict(text)[0] == "indeterminate"


def test_the_test_that_was_running() -> None:
    """TC-3: what it printed last is shown."""
    text = message("testCount", count=2) + message("testSuiteStarted", "canal") + message("testStarted", "fills")
    transcript = read(text + "water is ris", 1, "Error: no more water\n")
    assert texts(transcript.unclassified) == ["water is ris"]
    assert names(transcript) == ["canal > fills > Error: no more water"]


# -- what tests may print


@pytest.mark.parametrize(
    "forged",
    [
        GREEN,
        message("testFinished", "holds"),
        message("testIgnored", "holds"),
        message("testSuiteFinished", "canal"),
        message("testFinished", "holds") + message("testSuiteFinished", "canal"),
        message("testCount", count=3),
        message("testStarted", "x"),
        "no line end",
        "##teamcity[",
        "##teamcity[testFailed name='x'",
    ],
)
def test_a_forged_message_hides_no_failure(forged: str) -> None:
    """TC-3 and P1."""
    text = counted(2, passed("fills"), failed("holds", printed=forged))
    assert any("holds" in name for name in names(read(text)))
    assert verdict(text, 1)[0] == "failed"
    assert verdict(text, 0)[0] != "passed"


@pytest.mark.parametrize(
    "parts",
    [
        (suite("lock", passed("fills")), suite("weir", passed("hums"))),
        (passed("fills"), passed("hums")),
        (passed("fills"), suite("weir", passed("hums"))),
    ],
)
def test_text_outside_of_one_suite_is_nobodys(parts: tuple[str, str]) -> None:
    """TC-2."""
    transcript = read(message("testCount", count=2) + "between\n".join(parts), 0)
    assert [(line.text, line.kind) for line in transcript.unclassified] == [("between", Kind.UNCLASSIFIED)]


def test_two_messages_in_a_line() -> None:
    """TC-1 and P1: one of them is lost, and so is the proof."""
    line = message("testFailed", "holds", message="m").rstrip("\n") + message("testFinished", "holds")
    transcript = read(counted(1, message("testStarted", "holds"), line), 0)
    assert transcript.doubts >= {Doubt.CONTESTED_RESULTS, Doubt.COMPLETENESS_UNCONFIRMED}


def test_a_message_behind_a_whole_run_takes_it_back() -> None:
    """TC-2."""
    forged = message("testFinished", "holds") + message("testSuiteFinished", "canal") + "no line end"
    text = counted(1, message("testStarted", "holds"), forged, message("testFailed", "holds", message="m"))
    assert names(read(text, 0)) == ["holds"]
    assert verdict(text, 1)[0] == "failed"
    assert verdict(text)[0] != "passed"


# -- beside other reports


@pytest.mark.parametrize(
    ("text", "ran", "word", "exit_code", "counts"),
    [
        (passed("a") + passed("b"), "2 tests", "OK", 0, (2, 0, 0, 0)),
        (passed("a"), "1 test", "OK", 0, (1, 0, 0, 0)),
        (passed("a") + failed("b"), "2 tests", "FAILED (failures=1)", 1, (1, 1, 0, 0)),
        (passed("a") + failed("b"), "2 tests", "FAILED (unexpected successes=1)", 1, (1, 1, 0, 0)),
    ],
)
def test_unittest_ends_the_messages(
    text: str, ran: str, word: str, exit_code: int, counts: tuple[int, int, int, int]
) -> None:
    """TC-7."""
    text = message("testCount", count=sum(counts)) + text
    totals = TOTALS.format(ran=ran, word=word)
    assert verdict(text, exit_code, totals) == ("failed" if exit_code else "passed", [])
    assert tally(read(text, exit_code, totals)) == counts


def test_unittest_tells_expected_failures_from_skipped_tests() -> None:
    """TC-7."""
    parts = [
        message("testStarted", name) + message("testIgnored", name) + message("testFinished", name) for name in "ab"
    ]
    totals = TOTALS.format(ran="3 tests", word="OK (skipped=1, expected failures=1)")
    transcript = read(passed("c") + "".join(parts), 0, totals)
    assert tally(transcript) == (1, 0, 1, 1)
    assert not transcript.doubts


@pytest.mark.parametrize(
    ("ran", "word"),
    [
        ("3 tests", "OK"),
        ("2 tests", "FAILED (failures=1)"),
        ("2 tests", "OK (skipped=1)"),
        ("2 tests", "OK (odd=1"),
        ("2 tests", "DONE"),
    ],
)
def test_totals_of_other_tests_end_nothing(ran: str, word: str) -> None:
    """TC-7 and P1."""
    text = passed("a") + passed("b")
    assert verdict(text, 0, TOTALS.format(ran=ran, word=word))[0] == "indeterminate"


def test_totals_do_not_make_up_for_tests_that_were_announced() -> None:
    text = message("testCount", count=3) + passed("a") + passed("b")
    assert verdict(text, 0, TOTALS.format(ran="2 tests", word="OK"))[0] == "indeterminate"


JEST = (
    "FAIL ./lock.test.js\n  ● lock › holds\n\n    gate is stuck\n\n      at holds (lock.test.js:4:9)\n\n\n"
    "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 todo, 1 passed, 3 total\n"
    "Snapshots:   0 total\nTime:        0.4 s\nRan all test suites.\n"
)


def test_another_report_counts() -> None:
    """TC-7: jest's reporter tells of a test to do as if it had passed."""
    text = suite("lock.test.js", suite("lock", passed("fills"), failed("holds"), passed("is painted")))
    transcript = read(text, 1, JEST)
    assert names(transcript) == ["./lock.test.js › lock › holds"]
    assert tally(transcript) == (1, 1, 0, 1)
    assert verdict(text, 1, JEST) == ("failed", [])


def test_another_report_counts_a_file_that_does_not_load() -> None:
    """TC-7: jest's reporter makes a test of it."""
    text = suite("lock.test.js", failed("Jest failed to execute suite"))
    told = JEST.replace("lock › holds", "Test suite failed to run").replace("1 failed, 1 todo, 1 passed, 3", "0")
    transcript = read(text, 1, told)
    assert names(transcript) == ["./lock.test.js › Test suite failed to run"]
    assert not transcript.doubts & {Doubt.RECAP_CONTRADICTION, Doubt.UNCLASSIFIED_EVIDENCE}


@pytest.mark.parametrize("cut", [1, 3])
def test_another_report_of_another_run(cut: int) -> None:
    """TC-7 and P1: messages that break off are no recap of a run that passed."""
    jest = (
        "PASS ./lock.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nSnapshots:   0 total\n"
    )
    jest += "Time:        0.4 s\nRan all test suites.\n"
    whole = suite("lock.test.js", passed("fills"), passed("drains"))
    assert verdict(whole, 0, jest) == ("passed", [])
    begun = "".join(whole.splitlines(keepends=True)[:-cut])
    assert verdict(begun, 0, jest) != ("passed", []) or cut == 1
    assert verdict(suite("a.js", passed("x")) + message("testStarted", "y"), 0, jest)[1]
    assert verdict("1..1\nok 1 - tap\n" + begun)[1]


def test_another_report_of_as_many_other_failures() -> None:
    """TC-7 and P2."""
    text = suite("lock.test.js", failed("drains"))
    assert "drains" in str(read(text, 1, JEST).unclassified)
    assert verdict(text, 1, JEST)[1]


def test_another_report_of_other_failures() -> None:
    """TC-7: what only the messages name is shown, and in doubt."""
    text = suite("lock.test.js", failed("holds"), failed("drains"))
    transcript = read(text, 1, JEST)
    assert names(transcript) == ["./lock.test.js › lock › holds"]
    assert tally(transcript) == (1, 1, 0, 1)
    assert [text.partition("'")[2].partition("'")[0] for text in texts(transcript.unclassified)] == ["holds", "drains"]


# -- every run


@pytest.mark.parametrize("text", [GREEN, RED, RED + "x\n##teamcity[testStarted name='a'\n", GREEN[:200]])
def test_every_line_is_accounted_for_once(text: str) -> None:
    """P3."""
    assert_every_line_once(stdout=text)
    assert_chunks_make_no_difference(text)


def test_suites_in_very_many_others_are_cut_from_a_name() -> None:
    """P7."""
    deep = "".join(message("testSuiteStarted", f"s{n}") for n in range(300))
    assert names(read(deep + failed("x")))[0].count(" > ") == 100


def test_flows_in_a_ring() -> None:
    """P7."""
    ring = message("flowStarted", flowId="a", parent="b") + message("flowStarted", flowId="b", parent="a")
    assert names(read(ring + suite("canal", failed("x", flowId="a"), flowId="b")))[0].endswith("canal > x")
