"""CTest: every form its output takes, and what must not be taken for it."""

import pytest
from reports import chunked, damaged, judged, linear, names, read, region, sufficient, tally, texts

from context_firewall.transcript.dialects.ctest_grammar import Totals, split, totals
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import trace_streams

HEAD = "Test project /srv/bakery/build\n"
REMARKS = (
    "Errors while running CTest\n"
    "Output from these tests are in: /srv/bakery/build/Testing/Temporary/LastTest.log\n"
    'Use "--rerun-failed --output-on-failure" to re-run the failed cases verbosely.\n'
)


def start(number: int, name: str) -> str:
    return f"    Start {number}: {name}\n"


def result(number: int, name: str, of: int, ending: str = "   Passed") -> str:
    return f"{number}/{of} Test #{number}: {name} {'.' * (20 - len(name))}{ending}    0.02 sec\n"


def ran(number: int, name: str, of: int, ending: str = "   Passed", output: str = "") -> str:
    return start(number, name) + result(number, name, of, ending) + output


def verbose(number: int, name: str, of: int, ending: str = "   Passed", output: str = "") -> str:
    about = "Test command: /srv/bakery/bake", "Working Directory: /srv/bakery", "Test timeout computed to be: 1500"
    said = "".join(f"{number}: {line}\n" for line in (*about, *output.splitlines()))
    return f"test {number}\n" + start(number, name) + "\n" + said + result(number, name, of, ending)


def closing(failed: int, of: int, lists: str = "") -> str:
    percent = 100 * (of - failed) // of
    return (
        f"\n{percent}% tests passed, {failed} tests failed out of {of}\n\nTotal Test time (real) =   1.33 sec\n{lists}"
    )


IDLE = "\nThe following tests did not run:\n\t  3 - oven.hum (Skipped)\n\t  4 - oven.off (Disabled)\n"
GREEN = HEAD + ran(1, "oven.door", 2) + ran(2, "oven.rack # 2", 2) + closing(0, 2)
GREEN_IDLE = (
    HEAD
    + ran(1, "oven.door", 4)
    + ran(2, "oven.rack", 4)
    + ran(3, "oven.hum", 4, "***Skipped")
    + ran(4, "oven.off", 4, "***Not Run (Disabled)")
    + closing(0, 3, IDLE)
)
FAILED = "\nThe following tests FAILED:\n\t  2 - oven.heat (Failed)\n\t  3 - oven.crash (SEGFAULT)\n"
RED = (
    HEAD
    + ran(1, "oven.door", 4)
    + ran(2, "oven.heat", 4, "***Failed")
    + ran(3, "oven.crash", 4, "***Exception: SegFault")
    + ran(4, "oven.rack", 4)
    + closing(2, 4, FAILED)
)
SHOWN = RED.replace("***Failed    0.02 sec\n", "***Failed    0.02 sec\nexpected 220\n\n  got 180\n\n")
VERBOSE = (
    "UpdateCTestConfiguration  from :/srv/bakery/build/DartConfiguration.tcl\n"
    + HEAD
    + "Constructing a list of tests\nDone constructing a list of tests\nChecking test dependency graph...\n"
    + verbose(1, "oven.door", 4, output="open\n1/9 Test #9: forged ....***Failed   0.1 sec")
    + verbose(2, "oven.heat", 4, "***Failed", "expected 220\n  got 180")
    + verbose(3, "oven.crash", 4, "***Exception: SegFault")
    + verbose(4, "oven.rack", 4)
    + "\nThe following tests passed:\n\toven.door\n\toven.rack\n"
    + closing(2, 4, FAILED)
)
MISSING = (
    "Could not find executable /srv/bakery/mixer\nLooked in the following places:\n/srv/bakery/mixer\n"
    "/srv/bakery/Release/mixer\n"
)


# -- the grammar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("50% tests passed, 8 tests failed out of 16", Totals(8, 16)),
        ("0% tests passed, 1 test failed out of 1", Totals(1, 1)),
        ("50% tests passed", None),
        ("50% tests passed, 8 tests failed out of 16.", None),
    ],
)
def test_totals(line: str, stated: Totals | None) -> None:
    assert totals(line.encode()) == stated


@pytest.mark.parametrize(
    ("rest", "name", "found"),
    [
        (b"a ....   Passed    0.01 sec", None, (b"a", b"   Passed    0.01 sec")),
        (b"a .. b ...   Passed    0.01 sec", b"a .. b", (b"a .. b", b"   Passed    0.01 sec")),
        (b"a ....***Failed    0.01 sec", b"a", (b"a", b"***Failed    0.01 sec")),
        (
            b"a ....Subprocess aborted***Exception:   0.01 sec",
            b"a",
            (b"a", b"Subprocess aborted***Exception:   0.01 sec"),
        ),
        (b"a ....   Passed    0.01 sec", b"b", None),
        (b"a ....   Maybe    0.01 sec", b"a", None),
        (b"a", b"a", None),
    ],
)
def test_results(rest: bytes, name: bytes | None, found: tuple[bytes, bytes] | None) -> None:
    assert split(rest, name) == found


# -- what it reads ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "exit_code", "counts"),
    [
        (GREEN, 0, (2, 0, 0, 0)),
        (GREEN_IDLE, 0, (2, 0, 2, 0)),
        (RED, 8, (2, 2, 0, 0)),
        (SHOWN, 8, (2, 2, 0, 0)),
        (VERBOSE, 8, (2, 2, 0, 0)),
    ],
)
def test_a_whole_run(text: str, exit_code: int, counts: tuple[int, ...]) -> None:
    """CT-1, CT-2."""
    found = read(text, exit_code)
    assert tally(found) == counts
    assert names(found) == (["oven.heat", "oven.crash"] if exit_code else [])
    assert sufficient(text, exit_code, REMARKS if exit_code else "") == ("failed" if exit_code else "passed")


def test_the_region_is_the_result_and_the_output_below_it() -> None:
    """CT-2."""
    assert region(read(SHOWN, 8)) == [
        "2/4 Test #2: oven.heat ...........***Failed    0.02 sec", "expected 220", "", "  got 180",
    ]  # fmt: skip


def test_the_region_is_the_result_and_the_numbered_lines_before_it() -> None:
    """CT-2."""
    found = read(VERBOSE, 8)
    assert region(found)[-2:] == ["2: expected 220", "2:   got 180"]
    kinds = {line.text: line.kind for line in found.failures[0].details}
    assert kinds["2: Working Directory: /srv/bakery"] is Kind.FAILURE_CONTEXT


def test_the_list_is_kept_where_it_says_more() -> None:
    """CT-3."""
    found = read(RED, 8)
    assert region(found, 1)[-1] == "\t  3 - oven.crash (SEGFAULT)"
    assert len(region(found, 0)) == 1


def test_a_program_that_is_missing() -> None:
    """CT-2: standard error names it too."""
    mixed = start(1, "oven.mix") + MISSING + result(1, "oven.mix", 1, "***Not Run")
    text = HEAD + mixed + closing(1, 1, "\nThe following tests FAILED:\n\t  1 - oven.mix (Not Run)\n")
    remark = "Unable to find executable: /srv/bakery/mixer\n"
    found = read(text, 8, remark + REMARKS)
    assert remark.strip() in region(found)
    assert sufficient(text, 8, remark + REMARKS) == "failed"
    assert sufficient(GREEN, 0, remark) == Doubt.UNCLASSIFIED_EVIDENCE


def test_a_reason_may_take_several_lines() -> None:
    ending = "***Failed  Required regular expression not found. Regex=[warm\n]"
    text = (
        HEAD
        + ran(1, "oven.heat", 1, ending, "cold\n\n")
        + closing(1, 1, FAILED.partition("\t  3")[0].replace("2 -", "1 -"))
    )
    assert region(read(text, 8))[1:] == ["]    0.02 sec", "cold"]
    assert sufficient(text, 8) == "failed"


def test_remarks_on_merged_streams() -> None:
    assert sufficient(RED + REMARKS, 8) == "failed"


def test_tests_that_run_side_by_side() -> None:
    """CT-2: a result belongs to the test of its number."""
    text = (
        HEAD + start(2, "oven.heat") + start(1, "oven.door")
        + "1/2 Test #2: oven.heat ........***Failed    0.02 sec\ngot 180\n\n"
        + "2/2 Test #1: oven.door ........   Passed    0.02 sec\n"
        + closing(1, 2, "\nThe following tests FAILED:\n\t  2 - oven.heat (Failed)\n")
    )  # fmt: skip
    assert (names(read(text, 8)), sufficient(text, 8)) == (["oven.heat"], "failed")


def test_repeated_tests() -> None:
    """CT-5: only the counted result counts; an attempt that failed stays visible."""
    attempt = "    Test #1: oven.door ...........{}    0.02 sec\n"
    twice = start(1, "oven.door") + attempt.format("   Passed") + ran(1, "oven.door", 1)
    assert sufficient(HEAD + twice + closing(0, 1)) == "passed"
    flaky = start(1, "oven.door") + attempt.format("***Failed") + "stuck\n\n" + ran(1, "oven.door", 1)
    found = read(HEAD + flaky + closing(0, 1))
    assert (tally(found), len(found.warnings)) == ((1, 0, 0, 0), 1)
    lost = start(1, "oven.door") + attempt.format("***Failed") + "stuck\n\n" + ran(1, "oven.door", 1, "***Failed")
    listed = "\nThe following tests FAILED:\n\t  1 - oven.door (Failed)\n"
    assert "stuck" in region(read(HEAD + lost + closing(1, 1, listed), 8))


REPEATED = "    Test #{}: {} .............{}    0.02 sec\n"


def test_a_counted_failure_may_be_repeated() -> None:
    """CT-5: until-pass counts the first result of a test, and no other."""
    first = HEAD + ran(1, "oven.door", 3, "***Failed") + start(1, "oven.door")
    rest = ran(2, "oven.rack", 3) + ran(3, "oven.heat", 3)
    flaky = first + REPEATED.format(1, "oven.door", "   Passed") + rest + closing(0, 3)
    assert sufficient(flaky) == "passed"
    assert len(read(flaky).warnings) == 1
    lists = "\nThe following tests FAILED:\n\t  1 - oven.door (Failed)\n"
    red = first + REPEATED.format(1, "oven.door", "***Failed") + rest + closing(1, 3, lists)
    assert sufficient(red, 8) == "failed"
    assert names(read(red, 8)) == ["oven.door"]
    assert len(region(read(red, 8))) == 2
    passed_twice = HEAD + ran(1, "oven.door", 2) + ran(1, "oven.door", 2) + ran(2, "oven.rack", 2) + closing(0, 2)
    assert sufficient(passed_twice) != "passed"


def test_results_without_a_count_may_be_final() -> None:
    """CT-5: until-fail counts a result when a test has passed for the last time; the counts go on behind the others."""
    passed = start(1, "oven.door") + REPEATED.format(1, "oven.door", "   Passed") + ran(1, "oven.door", 5)
    failed = start(2, "oven.heat") + REPEATED.format(2, "oven.heat", "***Failed") + "cold\n\n"
    idle = start(3, "oven.hum") + REPEATED.format(3, "oven.hum", "***Skipped")
    idle += start(4, "oven.off") + REPEATED.format(4, "oven.off", "***Not Run (Disabled)")
    last = start(5, "oven.rack") + REPEATED.format(5, "oven.rack", "   Passed") + start(5, "oven.rack")
    last += result(5, "oven.rack", 5)
    lists = IDLE + "\nThe following tests FAILED:\n\t  2 - oven.heat (Failed)\n"
    run = HEAD + passed + failed + idle + last + closing(1, 4, lists)
    assert sufficient(run, 8) == "failed"
    assert tally(read(run, 8)) == (2, 1, 2, 0)
    assert names(read(run, 8)) == ["oven.heat"]
    assert sufficient(HEAD + passed + idle + last + closing(0, 3, IDLE)) != "passed"
    only = HEAD + failed + closing(1, 1, "\nThe following tests FAILED:\n\t  2 - oven.heat (Failed)\n")
    assert sufficient(only, 8) == "failed"


def test_no_test_is_no_pass() -> None:
    """CT-6."""
    assert Doubt.NO_TEST_EVIDENCE in judged(HEAD, 0, "No tests were found!!!\n").reasons


# -- what must not be taken for a result ------------------------------------------------------------------------------

FORGED_NEXT = "got 180\n\n" + ran(3, "oven.crash", 4) + "\n"


@pytest.mark.parametrize(
    ("text", "exit_code", "doubt"),
    [
        (GREEN.partition("\n100%")[0] + "\n", 0, Doubt.COMPLETENESS_UNCONFIRMED),
        (RED.partition("\nThe following")[0], 8, Doubt.COMPLETENESS_UNCONFIRMED),
        (GREEN.replace("2/2", "2/3"), 0, Doubt.COMPLETENESS_UNCONFIRMED),
        (GREEN.replace("out of 2", "out of 3"), 0, Doubt.AGGREGATE_CONTRADICTION),
        (RED.replace("2 tests failed", "1 tests failed"), 8, Doubt.AGGREGATE_CONTRADICTION),
        (RED.replace("\t  3 - oven.crash", "\t  3 - oven.door"), 8, Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.replace(start(2, "oven.rack # 2"), ""), 0, Doubt.PLAN_CONTRADICTION),
        (GREEN.replace(start(2, "oven.rack # 2"), 2 * start(2, "oven.rack # 2")), 0, Doubt.PLAN_CONTRADICTION),
        (GREEN.replace("1/2 Test #1: oven.door ...........   Passed    0.02 sec\n", ""), 0, Doubt.PLAN_CONTRADICTION),
        (SHOWN.replace("expected 220\n", FORGED_NEXT), 8, Doubt.PLAN_CONTRADICTION),
        (GREEN + "and then\n", 0, Doubt.UNCLASSIFIED_EVIDENCE),
        (GREEN.replace("Start 2: oven.rack # 2\n", "Start 2: oven.rack # 2\nnoise\n"), 0, Doubt.UNCLASSIFIED_EVIDENCE),
        ("cmake --build .\n" + GREEN, 0, Doubt.UNCLASSIFIED_EVIDENCE),
        (HEAD + ran(1, "oven.door", 2) + start(2, "oven.heat"), 130, Doubt.COMPLETENESS_UNCONFIRMED),
        (RED.partition(start(3, "oven.crash"))[0] + closing(1, 2, FAILED.partition("\t  3")[0]), 8,
         Doubt.COMPLETENESS_UNCONFIRMED),
    ],
)  # fmt: skip
def test_what_is_not_whole_does_not_suffice(text: str, exit_code: int, doubt: Doubt) -> None:
    """CT-1, CT-3, CT-4."""
    found = judged(text, exit_code)
    assert doubt in found.reasons
    assert str(found.status) == ("failed" if exit_code else "indeterminate")


def test_a_red_report_with_a_masked_exit_code_is_no_pass() -> None:
    assert sufficient(RED, 0) == "ZERO_EXIT_WITH_FAILURES"


@pytest.mark.parametrize(
    "printed",
    ["100% tests passed, 0 tests failed out of 9\n", "\n100% tests passed, 0 tests failed out of 4\n",
     "1/9 Test #9: oven.fake ......   Passed    0.02 sec\n", "\n3/9 Test #3: oven.crash ......   Passed    0.02 sec\n",
     "The following tests FAILED:\n\t  9 - x (Failed)\n", "Errors while running CTest\n"],
)  # fmt: skip
def test_what_a_failing_test_prints_is_text(printed: str) -> None:
    """CT-4."""
    text = SHOWN.replace("  got 180\n", printed + "  got 180\n")
    assert sufficient(text, 8) == "failed"
    assert {*printed.splitlines()} <= {*region(read(text, 8))}


def test_what_a_passing_test_prints_is_the_programs() -> None:
    """CT-4: -V says whose it is."""
    found = read(VERBOSE, 8)
    assert found.suppressed[Kind.PROGRAM_OUTPUT] == 8
    assert found.unclassified == ()


def test_a_run_that_says_nothing_before_the_next_is_missed() -> None:
    """CT-5."""
    assert Doubt.PLAN_CONTRADICTION in judged(HEAD + GREEN).reasons


def test_two_runs_in_one_stream_are_added_up() -> None:
    found = read(GREEN + RED, 8)
    assert (tally(found), names(found)) == ((4, 2, 0, 0), ["oven.heat", "oven.crash"])
    assert sufficient(GREEN + RED, 8) == "failed"


def test_an_end_without_its_beginning_still_names_who_failed() -> None:
    found = read(RED.partition(result(1, "oven.door", 4))[2], 8)
    assert names(found) == ["oven.heat", "oven.crash"]
    assert Doubt.PLAN_CONTRADICTION in found.doubts


# -- bytes ------------------------------------------------------------------------------------------------------------

SHAPES = [GREEN, GREEN_IDLE, RED, SHOWN, VERBOSE, GREEN + RED + REMARKS, HEAD + start(1, "oven.mix") + MISSING + RED]


@pytest.mark.parametrize("text", SHAPES)
def test_chunks_make_no_difference(text: str) -> None:
    chunked(text, "ctest")


def test_every_line_has_one_fate_under_damage() -> None:
    """P3."""
    extra = [
        "2: x",
        "    Start 2: oven.heat",
        "    Test #2: oven.heat ...***Failed  0.1 sec",
        "Errors while running CTest",
    ]
    damaged(
        SHAPES,
        "ctest",
        [*extra, "2/4 Test #2: oven.heat ...***Failed  Regex=[x", "100% tests passed, 0 tests failed out of 4"],
    )


def test_a_run_of_passed_tests_is_read_like_its_lines() -> None:
    text = HEAD + "".join(ran(n, f"oven.{n}", 400) for n in range(1, 401)) + closing(0, 400)
    found, _ = trace_streams([("stdout", [text.encode()]), ("stderr", [])], exit_code=0)
    assert read(text) == found
    assert tally(found) == (400, 0, 0, 0)
    for torn in (
        text.replace("oven.77 ", "oven.78 ", 1),
        text.replace("200/400", "201/400"),
        text.replace("#200:", "#7:"),
    ):
        found, _ = trace_streams([("stdout", [torn.encode()]), ("stderr", [])], exit_code=0)
        assert read(torn) == found
        assert judged(torn).reasons != frozenset()


@pytest.mark.parametrize(
    "unit",
    [".", " ..", "a ....", "***", " ***", "  0.1 sec", "1: ", "/1 Test #1: ", "\n1: x", "\n    Start 7: x",
     "\n1/4 Test #1: x ..   Passed   0.1 sec", "\n1/4 Test #1: x ..***Failed   0.1 sec\ny",
     closing(0, 1), closing(1, 1, FAILED),
     "\n    Test #1: x ..***Failed   0.1 sec\n"],
)  # fmt: skip
def test_time_grows_with_the_text(unit: str) -> None:
    """P7."""
    linear(HEAD + start(1, "oven.door"), unit, RED.removeprefix(HEAD), "ctest")
    linear(SHOWN.partition("expected")[0], unit, "\n" + closing(2, 4, FAILED), "ctest")


def test_failures_are_in_their_order() -> None:
    assert texts(found.header for found in read(VERBOSE, 8).failures if found.header is not None) == [
        "2/4 Test #2: oven.heat ...........***Failed    0.02 sec",
        "3/4 Test #3: oven.crash ..........***Exception: SegFault    0.02 sec",
    ]


def test_a_required_file_that_is_missing() -> None:
    """CT-2: standard error does not say whose it is."""
    lists = "\nThe following tests FAILED:\n\t  2 - oven.heat (Not Run)\n"
    run = HEAD + ran(1, "oven.door", 2) + ran(2, "oven.heat", 2, "***Not Run") + closing(1, 2, lists)
    stderr = "Unable to find required file: /srv/bakery/flour\n" + REMARKS
    assert sufficient(run, 8, stderr) == "failed"
    assert texts(read(run, 8, stderr).warnings) == ["Unable to find required file: /srv/bakery/flour"]
