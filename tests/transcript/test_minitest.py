"""minitest's reporters: every form they take, and what must not be taken for them."""

import pytest
from reports import chunked, damaged, judged, linear, names, read, region, sufficient, tally, texts

from context_firewall.transcript.dialects.minitest_grammar import Totals, named, totals
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import trace_streams

HEAD = "Run options: --seed 42\n\n# Running:\n\n"
HEAD_NAMED = "Run options: --seed 42 -v\n\n# Running:\n\n"
FINISHED = "\nFinished in 0.008066s, 1239.7036 runs/s, 867.7925 assertions/s.\n"
HIDDEN = "\nYou have skipped tests. Run with --verbose for details.\n"


def account(number: int, name: str, message: str = "Expected: 220\n  Actual: 180", flavour: str = "Failure") -> str:
    place = f" [test/test_oven.rb:{number}]" if flavour == "Failure" else ""
    return f"\n{number:3}) {flavour}:\n{name}{place}:\n{message}\n"


def closing(runs: int, failures: int = 0, errors: int = 0, skips: int = 0) -> str:
    return f"\n{runs} runs, {runs} assertions, {failures} failures, {errors} errors, {skips} skips\n"


FRAMES = "    lib/oven.rb:9:in `bake'\n    /var/lib/gems/3.1.0/gems/minitest-5.17.0/x.rb:1:in `run'"
RAISED = "RuntimeError: too hot\nto bake\n" + FRAMES
ACCOUNTS = account(1, "OvenTest#test_heat") + account(2, "OvenTest#test_bake", RAISED, "Error")
GREEN = HEAD + "...\n" + FINISHED + closing(3)
GREEN_SKIP = HEAD + ".S.\n" + FINISHED + closing(3, skips=1) + HIDDEN
RED = HEAD + ".F.E\n" + FINISHED + ACCOUNTS + closing(4, 1, 1)
SKIPPED = "\n  1) Skipped:\nOvenTest#test_hum [test/test_oven.rb:30]:\nno hum here\n"
GREEN_NAMED = (
    HEAD_NAMED
    + "OvenTest#test_door = 0.00 s = .\nOvenTest#test_hum = 0.01 s = S\nOvenTest#test_0001_opens wide = 0.00 s = .\n"
    + FINISHED
    + SKIPPED
    + closing(3, skips=1)
)
RED_NAMED = (
    HEAD_NAMED
    + "OvenTest#test_door = 0.00 s = .\nOvenTest#test_heat = warming\n0.00 s = F\nOvenTest#test_bake = 0.00 s = E\n"
    + "OvenTest#test_cool = fan on\n0.02 s = .\n"
    + FINISHED
    + ACCOUNTS
    + closing(4, 1, 1)
)


# -- the grammar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("4 runs, 9 assertions, 1 failures, 1 errors, 1 skips", Totals(4, 1, 1, 1)),
        ("1 runs, 0 assertions, 1 failures, 1 errors, 0 skips", None),
        ("4 runs, 9 assertions, 1 failures, 1 errors", None),
        (" 4 runs, 9 assertions, 0 failures, 0 errors, 0 skips", None),
    ],
)
def test_totals(line: str, stated: Totals | None) -> None:
    assert totals(line.encode()) == stated


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"OvenTest#test_heat [test/test_oven.rb:9]:", b"OvenTest#test_heat"),
        (b"OvenTest#test_heat:", b"OvenTest#test_heat"),
        (b"a oven::inner#test_0001_says [x] [C:/t/oven.rb:9]:", b"a oven::inner#test_0001_says [x]"),
        (b"OvenTest#test_0001_says [x]:", b"OvenTest#test_0001_says [x]"),
        (b"OvenTest#test_heat", None),
        (b"RuntimeError:", None),
    ],
)
def test_names(line: bytes, name: bytes | None) -> None:
    assert named(line) == name


# -- what it reads ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "exit_code", "counts"),
    [
        (GREEN, 0, (3, 0, 0, 0)),
        (GREEN_SKIP, 0, (2, 0, 1, 0)),
        (GREEN_NAMED, 0, (2, 0, 1, 0)),
        (RED, 1, (2, 2, 0, 0)),
        (RED_NAMED, 1, (2, 2, 0, 0)),
    ],
)
def test_a_whole_run(text: str, exit_code: int, counts: tuple[int, ...]) -> None:
    """MT-1, MT-2."""
    found = read(text, exit_code)
    assert tally(found) == counts
    assert names(found) == ["OvenTest#test_heat", "OvenTest#test_bake"][: 2 * exit_code]
    assert sufficient(text, exit_code) == ("failed" if exit_code else "passed")


def test_the_region_is_the_account() -> None:
    """MT-2."""
    found = read(RED, 1)
    assert region(found) == account(1, "OvenTest#test_heat").strip("\n").splitlines()
    kinds = {line.text.strip(): line.kind for line in found.failures[1].details}
    assert kinds["lib/oven.rb:9:in `bake'"] is Kind.STACK_TRACE
    assert kinds["/var/lib/gems/3.1.0/gems/minitest-5.17.0/x.rb:1:in `run'"] is Kind.FAILURE_CONTEXT


def test_a_teardown_that_fails_too_is_of_the_same_account() -> None:
    second = "Error:\nOvenTest#test_heat:\nIOError: stuck\n    test/test_oven.rb:41:in `teardown'"
    both = "Expected: 220\n  Actual: 180\n\n" + second
    text = HEAD + "F\n" + FINISHED + account(1, "OvenTest#test_heat", both) + closing(1, 1)
    found = read(text, 1)
    assert names(found) == ["OvenTest#test_heat"]
    assert "IOError: stuck" in region(found)
    assert sufficient(text, 1) == "failed"


def test_what_a_failing_test_prints_is_in_its_region() -> None:
    """MT-4: -v says whose it is."""
    found = read(RED_NAMED, 1)
    assert region(found)[:3] == ["  1) Failure:", "OvenTest#test_heat = warming", "0.00 s = F"]
    assert found.unclassified == ()
    assert found.suppressed[Kind.PROGRAM_OUTPUT] == 2


def test_colours_and_carriage_returns_change_nothing() -> None:
    assert sufficient(RED.replace("F", "\x1b[31mF\x1b[0m").replace("\n", "\r\n"), 1) == "failed"


def test_rails_says_more_and_counts_right_below_the_time() -> None:
    text = "Running 3 tests in a single process (parallelization threshold is 50)\n" + GREEN.replace(
        "\n\n3 runs", "\n3 runs"
    )
    assert sufficient(text) == "passed"
    inline = "F\n\nFailure:\nOvenTest#test_heat [test/oven_test.rb:9]:\ncold\n\n\nbin/rails test test/oven_test.rb:8\n"
    verdict = judged(HEAD + "." + inline + ".\n" + FINISHED + closing(3, 1).lstrip("\n"), 1)
    assert Doubt.AGGREGATE_CONTRADICTION in verdict.reasons


def test_no_test_is_no_pass() -> None:
    """MT-5."""
    assert sufficient(HEAD + "\n" + FINISHED + closing(0)) == Doubt.NO_TEST_EVIDENCE


def test_standard_error_is_the_programs() -> None:
    assert sufficient(GREEN, 0, "  1) Failure:\nok 1\n") == "passed"


# -- what tests print -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("printed", ["warm\n", "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n", "Finished\n"])
def test_what_is_printed_among_letters_is_the_programs(printed: str) -> None:
    """MT-4."""
    assert sufficient(HEAD + "." + printed + "..\n" + FINISHED + closing(3)) == "passed"
    red = HEAD + ".F" + printed + ".E\n" + FINISHED + ACCOUNTS + closing(4, 1, 1)
    assert sufficient(red, 1) == "failed"
    assert texts(read(red, 1).unclassified) == [(".F" + printed).strip()]
    assert {line.kind for line in read(red, 1).unclassified} == {Kind.PROGRAM_OUTPUT}


def test_a_strict_marker_keeps_its_meaning() -> None:
    assert texts(read(HEAD + ".\nWARNING: hot\n..\n" + FINISHED + closing(3)).warnings) == ["WARNING: hot"]


@pytest.mark.parametrize(
    "said",
    [
        "Coverage report generated for RSpec to /srv/bakery/coverage. 10 / 12 LOC (83.33%) covered.\n",
        "Coverage report generated for Unit Tests to /srv/bakery/coverage.\nLine Coverage: 83.33% (10 / 12)\n",
    ],
)
def test_a_coverage_report_may_follow(said: str) -> None:
    assert sufficient(GREEN_SKIP + said) == "passed"


# -- what must not be taken for a report ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "exit_code", "doubt"),
    [
        (HEAD + "...\n", 0, Doubt.COMPLETENESS_UNCONFIRMED),
        (RED.rpartition("\n4 runs")[0], 1, Doubt.COMPLETENESS_UNCONFIRMED),
        (HEAD + "..\n" + FINISHED + closing(3), 0, Doubt.AGGREGATE_CONTRADICTION),
        (HEAD + ".F.\n" + FINISHED + closing(3), 0, Doubt.AGGREGATE_CONTRADICTION),
        (RED.replace("  2) Error", "  3) Error"), 1, Doubt.AGGREGATE_CONTRADICTION),
        (RED.replace("  2) Error", "  2) Failure"), 1, Doubt.AGGREGATE_CONTRADICTION),
        (HEAD + ".F.E\n" + FINISHED + account(1, "OvenTest#test_heat") + closing(4, 1, 1), 1,
         Doubt.AGGREGATE_CONTRADICTION),
        (RED_NAMED.replace("test_bake = ", "test_cake = "), 1, Doubt.RECAP_CONTRADICTION),
        (GREEN + "and then\n", 0, Doubt.UNCLASSIFIED_EVIDENCE),
        (GREEN.replace(FINISHED, FINISHED + "and then\n"), 0, Doubt.AGGREGATE_CONTRADICTION),
        ("bundle exec rake\n" + GREEN, 0, Doubt.UNCLASSIFIED_EVIDENCE),
        (HEAD_NAMED + "OvenTest#test_door = 0.00 s = .\nOvenTest#test_bake = \n" + FINISHED + closing(1), 0,
         Doubt.COMPLETENESS_UNCONFIRMED),
        (RED_NAMED.partition("OvenTest#test_cool")[0] + "OvenTest#test_cool = fan on\n", 1,
         Doubt.COMPLETENESS_UNCONFIRMED),
    ],
)  # fmt: skip
def test_what_is_not_whole_does_not_suffice(text: str, exit_code: int, doubt: Doubt) -> None:
    """MT-1, MT-3."""
    verdict = judged(text, exit_code)
    assert doubt in verdict.reasons
    assert str(verdict.status) == ("failed" if exit_code else "indeterminate")


def test_a_red_report_with_a_masked_exit_code_is_no_pass() -> None:
    assert sufficient(RED, 0) == "ZERO_EXIT_WITH_FAILURES"


@pytest.mark.parametrize("number", [1, 2, 3, 9])
def test_a_list_that_a_message_quotes_is_doubted(number: int) -> None:
    """MT-3: nothing says which header is the runner's."""
    quoted = "quotes:\n" + account(number, "FakeTest#test_x")
    accounts = account(1, "OvenTest#test_heat", quoted) + account(2, "OvenTest#test_bake", RAISED, "Error")
    verdict = judged(HEAD + ".F.E\n" + FINISHED + accounts + closing(4, 1, 1), 1)
    assert Doubt.CONTESTED_RESULTS in verdict.reasons


def test_totals_that_a_message_quotes_close_nothing() -> None:
    quoted = "quotes:\n" + closing(1, 1)
    text = HEAD + "F.\n" + FINISHED + account(1, "OvenTest#test_heat", quoted) + closing(2, 1)
    assert sufficient(text, 1) == "failed"
    assert tally(read(text, 1)) == (1, 1, 0, 0)


def test_a_second_end_of_the_results_that_a_message_quotes_ends_nothing() -> None:
    """MT-3."""
    text = HEAD + "F.\n" + FINISHED + account(1, "OvenTest#test_heat", "quotes:\n" + FINISHED + "x") + closing(2, 1)
    assert sufficient(text, 1) == "failed"


def test_a_report_that_a_test_prints_is_contested() -> None:
    """MT-3: its accounts stay visible, the runner's own are read."""
    forged = "\n" + FINISHED + account(1, "FakeTest#test_x") + closing(9, 1)
    text = HEAD + "." + forged + "F.E\n" + FINISHED + ACCOUNTS + closing(4, 1, 1)
    found = read(text, 1)
    assert names(found) == ["OvenTest#test_heat", "OvenTest#test_bake"]
    assert Doubt.CONTESTED_RESULTS in found.doubts
    assert [line.text for line in found.unclassified if line.kind is Kind.CONTESTED_TEST] == ["  1) Failure:"]


def test_a_run_that_says_nothing_before_the_next_is_missed() -> None:
    """MT-5."""
    assert Doubt.COMPLETENESS_UNCONFIRMED in judged(HEAD + GREEN).reasons


def test_two_runs_in_one_stream_are_added_up() -> None:
    found = read(GREEN + RED, 1)
    assert (tally(found), names(found)) == ((5, 2, 0, 0), ["OvenTest#test_heat", "OvenTest#test_bake"])
    assert sufficient(GREEN + RED, 1) == "failed"


def test_a_run_that_breaks_off() -> None:
    """MT-2."""
    found = read(HEAD + ".F.E", 7)
    assert (names(found), tally(found)) == (["2 failing tests, not named"], (2, 2, 0, 0))
    found = read(RED_NAMED.partition("OvenTest#test_cool")[0], 7)
    assert names(found) == ["OvenTest#test_heat", "OvenTest#test_bake"]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_run_that_was_stopped_is_not_the_suites(stream: str) -> None:
    """MT-5."""
    words = "Interrupted. Exiting...\n"
    text = HEAD + ".F.E" + ("\n" + words if stream == "stdout" else "\n") + FINISHED + ACCOUNTS + closing(4, 1, 1)
    assert Doubt.COMPLETENESS_UNCONFIRMED in judged(text, 1, words if stream == "stderr" else "").reasons


# -- bytes ------------------------------------------------------------------------------------------------------------

SHAPES = [GREEN, GREEN_SKIP, GREEN_NAMED, RED, RED_NAMED, HEAD + "." + FINISHED + ACCOUNTS + closing(9) + RED]


@pytest.mark.parametrize("text", SHAPES)
def test_chunks_make_no_difference(text: str) -> None:
    chunked(text, "minitest")


def test_every_line_has_one_fate_under_damage() -> None:
    """P3."""
    damaged(SHAPES, "minitest", ["  1) Failure:", "OvenTest#test_x = ", "0.00 s = F", FINISHED.strip(), "WARNING: hot"])


def test_a_run_of_named_tests_is_read_like_its_lines() -> None:
    many = "".join(f"OvenTest#test_{n} = 0.00 s = .\n" for n in range(400))
    text = HEAD_NAMED + many + FINISHED + closing(400)
    found, _ = trace_streams([("stdout", [text.encode()]), ("stderr", [])], exit_code=0)
    assert read(text) == found
    assert tally(found) == (400, 0, 0, 0)


@pytest.mark.parametrize(
    "unit",
    [".", "F ", " = ", "a#b = ", "a#b", "0.00 s = F", "[a:1", "]:", "\n  1) Failure:\na#b:\n", FINISHED, closing(1),
     FINISHED + closing(1), "\na#b = x\n0.00 s = .", "\nx"],
)  # fmt: skip
def test_time_grows_with_the_text(unit: str) -> None:
    """P7."""
    linear(HEAD_NAMED, unit, FINISHED + ACCOUNTS + closing(2, 1, 1), "minitest")


def test_the_line_is_kept_as_it_stands() -> None:
    header = read(RED, 1).failures[0].header
    assert header == Line("stdout", 9, Kind.FAILED_TEST, b"  1) Failure:")


def test_pride_ends_in_its_own_words() -> None:
    fabulous = "\nFabulous run in 0.008066s, 1239.7036 runs/s, 867.7925 assertions/s.\n"
    for run, verdict in ((GREEN, "passed"), (RED, "failed")):
        assert sufficient(run.replace(FINISHED, fabulous), int(verdict == "failed")) == verdict


def test_results_of_tests_side_by_side_are_nobodys() -> None:
    """MT-2: -v prints the name when a test starts, and the result when any of them ends."""
    lines = "OvenTest#test_door = OvenTest#test_heat = 0.00 s = .\nOvenTest#test_bake = 0.01 s = F\n0.02 s = E\n"
    run = HEAD_NAMED + lines + FINISHED + ACCOUNTS + closing(3, 1, 1)
    assert sufficient(run, 1) == "failed"
    assert names(read(run, 1)) == ["OvenTest#test_heat", "OvenTest#test_bake"]
    assert not read(run, 1).unclassified
    broken_off = read(HEAD_NAMED + lines)
    assert names(broken_off) == ["2 failing tests, not named"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in broken_off.doubts
    assert len(broken_off.unclassified) == 3


def test_a_name_may_hold_what_stands_behind_names() -> None:
    """MT-2"""
    lines = "OvenTest#test_: heat = 0.01 s = F = 0.00 s = F\nOvenTest#test_door = 0.00 s = .\n"
    run = HEAD_NAMED + lines + FINISHED + account(1, "OvenTest#test_: heat = 0.01 s = F") + closing(2, 1)
    assert sufficient(run, 1) == "failed"
    assert names(read(run, 1)) == ["OvenTest#test_: heat = 0.01 s = F"]
    assert len(region(read(run, 1))) == 4


@pytest.mark.parametrize("count", [9, 10, 12, 101])
def test_numbers_are_three_columns_wide(count: int) -> None:
    """MT-2"""
    accounts = "".join(account(n, f"OvenTest#test_{n}") for n in range(1, count + 1))
    run = HEAD + "F" * count + "\n" + FINISHED + accounts + closing(count, count)
    assert sufficient(run, 1) == "failed"
    assert names(read(run, 1)) == [f"OvenTest#test_{n}" for n in range(1, count + 1)]


def test_rubys_own_warnings_are_warnings() -> None:
    """RSPEC-7: where standard error is merged."""
    warning = "lib/oven.rb:9: warning: method redefined; discarding old bake\n"
    assert sufficient(warning + GREEN) == "passed"
    assert texts(read(warning + GREEN).warnings) == [warning.rstrip("\n")]
    assert sufficient("lib/oven.rb: warning: cold\n" + GREEN) != "passed"
