"""node-tap's reporters for people: the screen, the report, and what must not be taken for either."""

import pytest
from reports import chunked, damaged, names, read, region, sufficient, tally, texts

from context_firewall.transcript.dialects.node_tap import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import trace_streams

UP = "\x1b[2K\x1b[1A"
HERE = "\x1b[2K\x1b[G"
CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def frame(passed: int, failed: int, suites: str, running: str = "") -> str:
    """What stands last on the screen while a run goes on."""
    ended = passed + failed
    head = f"\n RUNS  {running} {passed} OK 3ms\n" if running else ""
    return (
        f"{head}\nAsserts:  {passed} pass  {failed} fail  {ended} of {ended} complete\nSuites:   {suites} complete\n\n"
    )


def erased(text: str) -> str:
    """The moves that take a frame away."""
    return UP * text.count("\n") + HERE


START = frame(0, 0, "0 pass  0 fail  0 of 0")
HALF = frame(2, 2, "0 pass  1 fail  1 of 2", "test/rye.test.js")
CROWN = (
    " ✖ oven > keeps its heat > holds 220 for an hour\n    test/oven.test.js\n    7 t.test('keeps', t => {\n"
    "    8   t.equal(heat(), 220, 'holds 220 for an\n    hour')\n    ━━━━┛\n    9 })\n"
    "    --- expected\n    +++ actual\n    @@ -1,1 +1,1 @@\n    -220\n    +190\n    compare: ===\n"
    "    Test.<anonymous> (test/oven.test.js:8:5)\n"
)
RED_FILES = f" FAIL  test/oven.test.js 2 failed of 3 14ms\n{CROWN}\n ✖ crown\n    expired: crown\n"
GREEN_FILES = " TODO  test/rye.test.js 1 todo 1 skip of 4 9ms\n ~ splits no knife\n ☐ proofs overnight\n"


def end(asserts: str, suites: str, comment: str) -> str:
    """Totals and last comments."""
    totals = f"\nAsserts:  {asserts} complete\nSuites:   {suites} complete\n"
    return f"{totals}\n# No coverage generated\n# {{ {comment} }}\n# time=812.4ms\n"


BANNER = "\n\n  🌈 TEST COMPLETE 🌈\n\n\n"
RED_END = end("3 pass  2 fail  5 of 5", "1 pass  1 fail  2 of 2", "total: 5, pass: 3, fail: 2")
GREEN_END = end(
    "4 pass  0 fail  1 skip  1 todo  4 of 6",
    "2 pass  0 fail  0 skip          2 of 2",
    "total: 6, pass: 4, todo: 1, skip: 1",
)
LOG = (
    " FAIL  test/oven.test.js 2 failed of 3 12ms\n"
    " ✖ oven > keeps its heat > holds 220 for an hour test/oven.test.js:8:5\n ✖ crown\n"
)
RED = f"\n{START.lstrip()}{erased(START)}{LOG}{HALF}{erased(HALF)}{BANNER}{RED_FILES}{RED_END}"
PASSED = " PASS  test/oven.test.js 2 OK 3ms\n"
GREEN = f"\n{START.lstrip()}{erased(START)}{PASSED}{START}\x1b[?25h{erased(START)}{BANNER}{GREEN_FILES}{GREEN_END}"
TERSE = f"\n{START.lstrip()}\x1b[?25h{erased(START)}{RED_FILES}{RED_END}\n"
MIN = f"\x1b[?25h\n{RED_FILES}"
PRINTS = f"\n{START.lstrip()}{erased(START)}\n1> test/oven.test.js\nnot ok 9 - warm\n{START}{erased(START)}"


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("Asserts:  0 pass  0 fail  0 of 0 complete", True),
        ("Asserts:  7 pass  0 fail  2 skip  3 todo  7 of 12 complete", True),
        (" FAIL  test/oven.test.js 2 failed of 3 14ms", True),
        (" TODO  test/oven.test.js 1 todo 2 skip of 4", True),
        ("Asserts:  0 pass", False),
        ("Suites:   0 pass  0 fail  0 of 0 complete", False),
        (" FAIL  test/oven.test.js > rises", False),
        (" PASS  test/oven.test.js 2 OK 3ms", False),
        ("FAIL  test/oven.test.js 2 failed of 3 14ms", False),
    ],
)
def test_openings(line: str, opens: bool) -> None:
    assert DIALECT.opens(line.encode()) is opens


def test_red() -> None:
    """NTAP-1, NTAP-3"""
    for report in (RED, TERSE):
        found = read(report, 1)
        assert names(found) == [
            "test/oven.test.js > oven > keeps its heat > holds 220 for an hour",
            "test/oven.test.js > crown",
        ]
        assert region(found) == CROWN.rstrip("\n").split("\n")
        assert tally(found) == (3, 2, 0, 0)
        assert sufficient(report, 1) == "failed"


def test_green() -> None:
    """NTAP-1"""
    found = read(GREEN)
    assert tally(found) == (4, 0, 1, 1)
    assert texts(found.todo) == [" ☐ proofs overnight"]
    assert sufficient(GREEN) == "passed"
    assert "passed" not in sufficient(GREEN, 1)


def test_only_the_line_that_failed_is_no_context() -> None:
    """NTAP-3"""
    found = read(RED, 1)
    context = [line.text for line in found.failures[0].details if line.kind is Kind.FAILURE_CONTEXT]
    assert context == ["    7 t.test('keeps', t => {", "    9 })"]


def test_results_at_the_margin() -> None:
    """NTAP-3: the name goes on up to the file, and else it does not."""
    broken = RED.replace("holds 220 for an hour\n    test", "holds 220 for an\n    hour\n    test")
    flush = "\n".join(
        line[2:] if line.startswith("    ") else line[1:] if line.startswith(" ✖") else line
        for line in broken.split("\n")
    )
    found, plain = read(flush, 1), read(RED, 1)
    assert names(found) == names(plain)
    assert sufficient(flush, 1) == "failed"
    kinds = [line.kind for line in found.failures[0].details]
    assert kinds[1:] == [line.kind for line in plain.failures[0].details]
    assert sufficient(GREEN.replace(" ~", "~").replace(" ☐", "☐")) == "passed"


def test_a_name_over_two_lines() -> None:
    """NTAP-3"""
    found = read(TERSE.replace(" ✖ crown\n", " ✖ crown that is\n   golden\n"), 1)
    assert names(found)[1] == "test/oven.test.js > crown that is golden"


def test_a_file_without_a_failing_result() -> None:
    """NTAP-3"""
    broken = "\n FAIL  test/bad.test.js 0 4ms\n"
    totals = RED_END.replace("1 pass  1 fail  2 of 2", "1 pass  2 fail  3 of 3")
    text = TERSE.replace(RED_END, broken + totals)
    assert names(read(text, 1))[2] == "test/bad.test.js"
    assert sufficient(text, 1) == "failed"


def test_a_signal_is_one_failure_more() -> None:
    """NTAP-2"""
    text = TERSE.replace("    expired: crown\n", "    expired: crown\n\n ✖ SIGTERM\n")
    assert names(read(text, 1))[2] == "test/oven.test.js > SIGTERM"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3 pass  2 fail  5 of 5", "3 pass  1 fail  4 of 4"),
        ("3 pass  2 fail  5 of 5", "3 pass  2 fail  5 of 6"),
        ("1 pass  1 fail  2 of 2", "2 pass  0 fail  2 of 2"),
        ("1 pass  1 fail  2 of 2", "1 pass  1 fail  2 of 3"),
        ("total: 5, pass: 3, fail: 2", "total: 5, pass: 5"),
        ("2 failed of 3 14ms", "1 failed of 3 14ms"),
        (" ✖ crown\n    expired: crown\n", ""),
        (" ✖ crown\n", " ✖ crown\n ✖ crust\n"),
    ],
)
def test_what_does_not_agree(old: str, new: str) -> None:
    """NTAP-2"""
    assert old in TERSE
    for code in (0, 1):
        assert "AGGREGATE_CONTRADICTION" in sufficient(TERSE.replace(old, new), code)


def test_every_cut_asks_for_more() -> None:
    """NTAP-1: without the last line nothing is proven, wherever the stream ends."""
    for report, code in ((GREEN, 0), (RED, 1), (TERSE, 1)):
        whole = report.rstrip("\n")
        for at in range(1, len(whole) - 1, 7):
            assert sufficient(whole[:at], code) not in ("passed", "failed"), whole[at - 60 : at]
        assert sufficient(whole[:-1], code) not in ("passed", "failed")


def test_failures_of_the_log_where_the_report_is_missing() -> None:
    """NTAP-4"""
    cut = RED[: RED.index(BANNER)]
    found = read(cut, 1)
    assert names(found) == [
        "test/oven.test.js > oven > keeps its heat > holds 220 for an hour",
        "test/oven.test.js > crown",
    ]
    assert Doubt.COMPLETENESS_UNCONFIRMED in found.doubts


def test_a_file_of_the_log_that_the_report_has_not() -> None:
    """NTAP-4"""
    extra = LOG.replace("oven.test", "scale.test")
    found = read(RED.replace(LOG, LOG + extra), 1)
    assert Doubt.RECAP_CONTRADICTION in found.doubts
    assert "test/scale.test.js > crown" in names(found)


def test_what_a_file_prints_is_the_programs() -> None:
    """NTAP-5"""
    green = f"{PRINTS}{BANNER}{GREEN_FILES}{GREEN_END}"
    found, traces = trace_streams([("stdout", [green.encode()])], exit_code=0)
    number = green[: green.index("not ok 9")].count("\n") + 1
    assert traces["stdout", number].kind is Kind.PROGRAM_OUTPUT
    assert sufficient(green) == "passed"
    assert found.unclassified == ()
    red = read(f"{PRINTS}{BANNER}{RED_FILES}{RED_END}", 1)
    assert texts(red.unclassified) == ["not ok 9 - warm"]
    assert len(red.failures) == 2


def test_what_stands_on_standard_error_is_nobodys() -> None:
    """NTAP-5"""
    assert sufficient(GREEN, 0, "the kiln is cold\n") == "UNCLASSIFIED_EVIDENCE"


def test_a_printed_report_ends_nothing() -> None:
    """NTAP-5: neither a green one, nor one that takes the frame away."""
    fake = f"{BANNER}{GREEN_FILES}{GREEN_END}"
    for forged in (fake, erased(START) + fake, CLEAR + fake, f"{fake}\n{START}"):
        text = RED.replace(HALF, f"\n1> test/rye.test.js\n{forged}{HALF}")
        for code in (0, 1):
            assert sufficient(text, code) not in ("passed", "failed")


def test_totals_that_agree_with_each_other_alone() -> None:
    """NTAP-2: the headings count other results, or not all have ended."""
    more = end("3 pass  3 fail  6 of 6", "1 pass  1 fail  2 of 2", "total: 6, pass: 3, fail: 3")
    open_end = end("3 pass  2 fail  5 of 6", "1 pass  1 fail  2 of 2", "total: 6, pass: 3, fail: 2")
    for totals in (more, open_end):
        assert "AGGREGATE_CONTRADICTION" in sufficient(TERSE.replace(RED_END, totals), 1)
    todo = GREEN.replace("4 pass  0 fail  1 skip  1 todo", "3 pass  0 fail  1 skip  2 todo").replace("4 of 6", "3 of 6")
    todo = todo.replace("pass: 4, todo: 1", "pass: 3, todo: 2")
    assert "AGGREGATE_CONTRADICTION" in sufficient(todo)


def test_totals_never_go_back() -> None:
    """NTAP-2: neither all together, nor those of the failures alone."""
    for failed in (1, 5):
        before = frame(1, failed, "0 pass  1 fail  1 of 2")
        text = f"\n{START.lstrip()}{erased(START)}{before}{erased(before)}{GREEN_FILES}{GREEN_END}"
        for code in (0, 1):
            assert sufficient(text, code) not in ("passed", "failed")


def test_a_run_without_its_beginning() -> None:
    """NTAP-1"""
    text = RED[RED.index(LOG) :]
    assert "COMPLETENESS_UNCONFIRMED" in sufficient(text, 1)


def test_two_runs() -> None:
    """NTAP-6"""
    both = read(GREEN + RED, 1)
    assert tally(both) == (7, 2, 1, 1)
    assert sufficient(GREEN + RED, 1) == "failed"
    assert sufficient(RED + GREEN, 1) == "failed"
    assert sufficient(RED[: RED.index(BANNER)] + GREEN, 1) not in ("passed", "failed")
    assert names(read(RED[: RED.index(BANNER)] + GREEN, 0))


def test_a_screen_that_is_cleared() -> None:
    """NTAP-6: all of it is printed again, a whole report too."""
    log = f"{LOG}\n2> test/oven.test.js\nwarm\n"
    text = f"{CLEAR}\n{START}{CLEAR}{log}{HALF}{CLEAR}{log}{BANNER}{RED_FILES}{RED_END}"
    twice = f"{text}{CLEAR}{log}{BANNER}{RED_FILES}{RED_END}"
    for report in (text, twice):
        found = read(report.replace("\n", "\r\n"), 1)
        assert tally(found) == (3, 2, 0, 0)
        assert len(found.failures) == 2
        assert [each.strip() for each in texts(found.unclassified)] == ["warm"]
        assert sufficient(report, 1) == "failed"
    other = f"{text}{CLEAR}{log}{BANNER}{RED_FILES.replace('crown', 'crust')}{RED_END}"
    assert sufficient(other, 1) not in ("passed", "failed")


def test_a_screen_that_another_run_clears() -> None:
    """NTAP-6: nothing of the first run is lost."""
    both = f"{RED}{CLEAR}\n{START}{CLEAR}{BANNER}{GREEN_FILES}{GREEN_END}"
    assert sufficient(both, 0) not in ("passed", "failed")
    assert " ✖ crown" in texts(read(both, 0).unclassified)


def test_a_file_that_the_log_names_twice() -> None:
    """NTAP-4: neither account takes the other's place."""
    cut = RED[: RED.index(BANNER)]
    again = LOG.replace("crown", "crust")
    assert {"test/oven.test.js > crown", "test/oven.test.js > crust"} <= set(
        names(read(cut.replace(LOG, LOG + again), 1))
    )


def test_min_and_dot_name_what_failed_and_prove_nothing() -> None:
    """NTAP-7"""
    dots = f".\n{erased('.' + chr(10))}......\n{erased('.' + chr(10))}.........\n\n{RED_FILES}"
    for report in (MIN, dots):
        found = read(report, 1)
        assert len(found.failures) == 2
        assert {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.COUNTS_UNCONFIRMED} <= found.doubts
    assert sufficient(f"\x1b[?25h\n{GREEN_FILES}") not in ("passed", "failed")
    assert texts(read(dots, 1).unclassified)


def test_nothing_ran() -> None:
    nothing = end("0 pass  0 fail  0 of 0", "0 pass  0 fail  0 of 0", "total: 0")
    assert "NO_TEST_EVIDENCE" in sufficient(f"\n{START.lstrip()}{erased(START)}{nothing}")


def test_results_that_did_not_fail() -> None:
    """NTAP-3: passed ones, and what stands below a todo."""
    files = GREEN_FILES.replace(" ~ splits", " ✓ rises\n ~ splits") + "    - 1\n    + 2\n"
    found = read(GREEN.replace(GREEN_FILES, files))
    assert found.suppressed[Kind.SUCCESSFUL_TEST] == 1
    assert found.suppressed[Kind.TEST_DETAIL] == 2
    assert sufficient(GREEN.replace(GREEN_FILES, files)) == "passed"


def test_lines_of_a_frame_that_no_frame_has() -> None:
    """NTAP-4: they stay."""
    odd = START.replace("\nSuites", "\nsome text\nSuites")
    text = GREEN.replace(PASSED, f"{PASSED}{odd}{erased(odd)}")
    assert "some text" in texts(read(text, 1).unclassified)
    assert sufficient(text) == "passed"


def test_bailing_out_is_fatal() -> None:
    """NTAP-3"""
    text = TERSE.replace(RED_END, f"\nBailout! the oven is off\n{RED_END}")
    assert texts(read(text, 1).fatal_errors) == ["Bailout! the oven is off"]


def test_text_behind_the_end_is_not_its_own() -> None:
    """NTAP-1"""
    assert sufficient(f"{GREEN}left over\n") == "UNCLASSIFIED_EVIDENCE"


def test_a_line_that_the_report_does_not_know() -> None:
    """NTAP-3"""
    assert "UNCLASSIFIED_EVIDENCE" in sufficient(GREEN.replace(" ~ splits", "what is this\n ~ splits"))


def test_chunks_make_no_difference() -> None:
    chunked(RED, "node-tap")
    chunked(TERSE, "node-tap")


def test_each_line_has_one_fate() -> None:
    """P3, for whatever a report has been made into."""
    damaged(
        [RED, GREEN, TERSE, MIN, PRINTS + BANNER + RED_FILES + RED_END],
        "node-tap",
        ["1> a", CLEAR, "  x", " ✖ y", "Bailout!"],
    )
