"""Vitest's reporters for people: every form, both streams, damage, and what must not be taken for a result."""

import random
import time

import pytest

from context_firewall.transcript.dialects.vitest import DIALECT
from context_firewall.transcript.dialects.vitest_grammar import OPENING, counts, has_duration, names_of, whole_file
from context_firewall.transcript.dialects.vitest_outputs import HELD_BYTES
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import StreamReader, read_streams, trace_streams

HEAD = "\n RUN  v4.1.12 /srv/ferry\n\n"
WIDTH = 30


def summary(tests: str, files: str = "1 passed (1)", *, errors: int = 0, snapshots: str = "") -> str:
    shots = f"  Snapshots  {snapshots}\n" if snapshots else ""
    outside = f"     Errors  {errors} error{'s' if errors > 1 else ''}\n" if errors else ""
    return (
        f"\n{shots} Test Files  {files}\n      Tests  {tests}\n{outside}"
        "   Start at  09:12:44\n   Duration  212ms (transform 9ms, setup 0ms, import 20ms, tests 12ms)\n\n"
    )


def ruler(title: str) -> str:
    left = (WIDTH - len(title) - 2) // 2
    return f"{'⎯' * left} {title} {'⎯' * (WIDTH - len(title) - 2 - left)}"


def end(number: int, of: int) -> str:
    mark = f"[{number}/{of}]⎯"
    return f"{'⎯' * (WIDTH - len(mark))}{mark}\n\n"


def block(name: str, message: str = "AssertionError: expected 3 to be 4", place: str = "quay.test.ts:5:12") -> str:
    source = "      4| it('x', () => {\n      5|   expect(3).toBe(4)\n       |   ^\n\n"
    return f" FAIL  {name}\n{message}\n ❯ {place}\n{source}"


def failed(*names: str, of: int | None = None) -> str:
    total = of or len(names)
    blocks = "".join(block(name) + end(i, total) for i, name in enumerate(names, 1))
    return f"\n\n{ruler(f'Failed Tests {len(names)}')}\n\n{blocks}"


def read(stdout: str | bytes, stderr: str | bytes = "", exit_code: int | None = 0) -> Transcript:
    streams = [
        (name, text.encode() if isinstance(text, str) else text)
        for name, text in (("stdout", stdout), ("stderr", stderr))
    ]
    return read_streams([(name, [data]) for name, data in streams if data], exit_code=exit_code)


def tally(run: Transcript) -> tuple[int, int, int, int]:
    return run.tally.passed, run.tally.failed, run.tally.skipped, run.tally.todo


def names(run: Transcript) -> list[str]:
    return [failure.identity for failure in run.failures]


def texts(run: Transcript, at: int = 0) -> list[str]:
    return [line.text for line in run.failures[at].details]


GREEN = (
    HEAD
    + " ✓ quay.test.ts (3 tests | 1 skipped) 7ms\n     ✓ moors  361ms\n ✓ toll.test.ts (1 test) 2ms\n"
    + summary("3 passed | 1 skipped (4)", "2 passed (2)")
)
RESULTS = HEAD + " ❯ quay.test.ts (2 tests | 1 failed) 7ms\n     ✓ moors 1ms\n     × casts off 3ms\n"
RED = RESULTS + summary("1 failed | 1 passed (2)", "1 failed (1)")
ACCOUNT = failed("quay.test.ts > pier > casts off")


def test_statements_before_the_failing_one_belong_to_the_account() -> None:
    account = ACCOUNT.replace("      4| it('x', () => {\n", "      3| it('x', () => {\n      4|   moor()\n")
    kinds = {line.text.strip(): line.kind for line in read(RED, account, 1).failures[0].details}
    assert kinds["4|   moor()"] is Kind.FAILURE_DETAIL
    assert kinds["3| it('x', () => {"] is Kind.FAILURE_CONTEXT


# -- reporters


def test_default_green() -> None:
    run = read(GREEN)
    assert tally(run) == (3, 0, 1, 0)
    assert run.doubts == frozenset()
    assert not run.unclassified
    assert not run.failures


def test_default_red() -> None:
    run = read(RED, ACCOUNT, 1)
    assert tally(run) == (1, 1, 0, 0)
    assert names(run) == ["quay.test.ts > pier > casts off"]
    assert run.doubts == frozenset()
    assert "AssertionError: expected 3 to be 4" in texts(run)
    assert run.suppressed[Kind.RECAP] == 1


def test_merged_streams() -> None:
    run = read(RESULTS + ACCOUNT + summary("1 failed | 1 passed (2)", "1 failed (1)"), "", 1)
    assert names(run) == ["quay.test.ts > pier > casts off"]
    assert run.doubts == frozenset()


def test_a_test_may_leave_out_its_suites_or_name_them() -> None:
    for line in ("     × casts off 3ms", "   × pier > casts off 3ms", "   ❯ quay.test.ts > pier > casts off"):
        out = HEAD + f" ❯ quay.test.ts (1 test | 1 failed) 7ms\n{line}\n     → expected 3 to be 4\n"
        run = read(out + summary("1 failed (1)", "1 failed (1)"), ACCOUNT, 1)
        assert names(run) == ["quay.test.ts > pier > casts off"], line
        assert run.doubts == frozenset(), line


def test_verbose() -> None:
    out = HEAD + (
        " ✓ quay.test.ts > moors 1ms\n × quay.test.ts > pier > casts off 3ms\n   → expected 3 to be 4\n"
        " ↓ quay.test.ts > at night [no lamp]\n □ quay.test.ts > in fog\n"
    )
    run = read(out + summary("1 failed | 1 passed | 1 skipped | 1 todo (4)", "1 failed (1)"), ACCOUNT, 1)
    assert tally(run) == (1, 1, 1, 1)
    assert run.doubts == frozenset()
    assert [line.text for line in run.todo] == [" □ quay.test.ts > in fog"]


def test_verbose_counts_must_agree() -> None:
    out = HEAD + " ✓ quay.test.ts > moors 1ms\n"
    assert read(out + summary("2 passed (2)")).doubts == {Doubt.AGGREGATE_CONTRADICTION}


def test_dot() -> None:
    out = HEAD + "·x-·\n" + summary("1 failed | 2 passed | 1 skipped (4)", "1 failed (1)")
    run = read(out, ACCOUNT, 1)
    assert tally(run) == (2, 1, 1, 0)
    assert run.doubts == frozenset()
    assert Doubt.AGGREGATE_CONTRADICTION in read(out.replace("·x-·", "·x-"), ACCOUNT, 1).doubts


def test_dots_before_output() -> None:
    out = HEAD + "··stdout | quay.test.ts > moors\nhello\n\n·\n" + summary("3 passed (3)")
    run = read(out)
    assert run.doubts == frozenset()
    assert run.suppressed[Kind.PROGRAM_OUTPUT] == 1


def test_tree() -> None:
    out = HEAD + (" ❯ quay.test.ts (2 tests | 1 failed) 7ms\n   ❯ pier (2)\n     ✓ moors 1ms\n     × casts off 3ms\n")
    run = read(out + summary("1 failed | 1 passed (2)", "1 failed (1)"), ACCOUNT, 1)
    assert names(run) == ["quay.test.ts > pier > casts off"]
    assert run.doubts == frozenset()


def test_agent_prints_only_what_failed() -> None:
    out = HEAD + " ❯ quay.test.ts (2 tests | 1 failed) 7ms\n     × casts off 3ms\n"
    run = read(out + summary("1 failed | 40 passed (41)", "1 failed | 8 passed (9)"), ACCOUNT, 1)
    assert tally(run) == (40, 1, 0, 0)
    assert run.doubts == frozenset()
    assert read(HEAD + "\n" + summary("40 passed (40)", "8 passed (8)")).doubts == frozenset()


def test_annotations_are_a_second_print() -> None:
    note = (
        "\n::error file=/srv/ferry/quay.test.ts,title=quay.test.ts > pier > casts off,line=5,column=12::Error: x%0A\n"
    )
    run = read(RED + note, ACCOUNT, 1)
    assert names(run) == ["quay.test.ts > pier > casts off"]
    assert run.doubts == frozenset()
    other = read(RED + note.replace("casts off", "sinks"), ACCOUNT, 1)
    assert Doubt.RECAP_CONTRADICTION in other.doubts
    assert "quay.test.ts > pier > sinks" in names(other)


def test_annotations_alone_prove_no_counts() -> None:
    note = "\n::error file=/srv/ferry/quay.test.ts,title=quay.test.ts > casts off,line=5,column=12::Error: x%0A\n"
    run = read(note * 2, "", 1)
    assert names(run) == ["quay.test.ts > casts off"]
    assert run.doubts == {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.COUNTS_UNCONFIRMED}


def test_annotations_that_the_run_denies() -> None:
    note = "\n::error file=/srv/ferry/quay.test.ts,title=quay.test.ts > sinks,line=5,column=12::Error: x%0A\n"
    for run in (read(GREEN + note), read(GREEN.replace(" Test Files", note + "\n Test Files", 1))):
        assert not run.failures
        assert Doubt.CONTESTED_RESULTS in run.doubts


def test_annotations_of_errors_outside_of_tests() -> None:
    out = HEAD + " ✓ quay.test.ts (2 tests) 1ms\n" + summary("2 passed (2)", errors=1)
    note = (
        "\n::error file=/srv/ferry/quay.test.ts,title=Unhandled error,line=9,column=3::TypeError: adrift%0A ❯ drift\n"
    )
    run = read(out + note, UNHANDLED, 1)
    assert names(run) == ["Unhandled Errors > Uncaught Exception: TypeError: adrift"]
    assert run.doubts == frozenset()
    assert Doubt.RECAP_CONTRADICTION in read(out + note * 2, UNHANDLED, 1).doubts
    assert names(read(note, "", 1)) == ["Unhandled Errors > TypeError: adrift"]


def test_what_tests_note_about_themselves() -> None:
    """A test's own `error` is none of the runner's; alone such lines prove nothing."""
    notes = "".join(f"\n::{kind} file=/srv/ferry/a.ts,line=2,column=4::tide is low\n" for kind in ("notice", "error"))
    run = read(GREEN.replace(" ✓", notes + " ✓", 1))
    assert run.doubts == frozenset()
    assert run.suppressed[Kind.PROGRAM_OUTPUT] == 2
    assert read(notes).unclassified
    verbose = " ✓ quay.test.ts > moors 1ms\n\n   ❯ quay.test.ts:2:45 notice\n     ↳ tide is low\n\n"
    run = read(HEAD + verbose + summary("1 passed (1)"))
    assert run.doubts == frozenset()
    assert run.suppressed[Kind.PROGRAM_OUTPUT] == 2


@pytest.mark.parametrize("tries", ["initial run, 1st retry", "2 times in 2nd retry of 1st repeat", "3 times"])
def test_tries_are_no_part_of_a_name(tries: str) -> None:
    """Vitest 5 says above an account in which tries its error came."""
    run = read(RED, ACCOUNT.replace("casts off", f"casts off ({tries})"), 1)
    assert names(run) == ["quay.test.ts > pier > casts off"]
    assert run.doubts == frozenset()
    named = read(
        RED.replace("casts off", f"casts off ({tries})"), ACCOUNT.replace("casts off", f"casts off ({tries})"), 1
    )
    assert named.doubts == frozenset()


def test_advice_behind_the_summary() -> None:
    advice = (
        "    Isolate  3 workers spawned · ~153ms startup each (spawn + environment, per file)\n"
        "             at least ~307ms faster with isolate: false — reuses workers across files\n"
    )
    assert read(GREEN + advice).doubts == frozenset()
    assert not read(GREEN + advice).unclassified


def test_leaks_are_counted_by_the_summary() -> None:
    run = read(GREEN.replace("   Start at", "      Leaks  1 leak\n   Start at"))
    assert run.doubts == frozenset()
    assert tally(run) == tally(read(GREEN))
    leak = f"{ruler('Async Leaks 1')}\n\nTimeout leaking in quay.test.ts\n ❯ quay.test.ts:2:21\n\n"
    told = read(GREEN, f"stderr | quay.test.ts > moors\ntide\n\n\n{leak}")
    assert [line.text for line in told.warnings] == [text for text in leak.splitlines() if text]
    assert told.doubts == frozenset()


def test_a_run_that_two_reporters_tell() -> None:
    tap = (
        "TAP version 13\n1..1\nnot ok 1 - quay.test.ts # time=3ms {\n    1..1\n    not ok 1 - casts off # time=2ms\n}\n"
    )
    result = HEAD + " ❯ quay.test.ts (1 test | 1 failed) 7ms\n     × casts off 3ms\n"
    both = result + summary("1 failed (1)", "1 failed (1)") + tap
    run = read(both, failed("quay.test.ts > casts off"), 1)
    assert Doubt.COUNTS_UNCONFIRMED in run.doubts


def test_colours() -> None:
    out = (
        "\n\x1b[1m\x1b[30m\x1b[46m RUN \x1b[49m\x1b[39m\x1b[22m \x1b[36mv4.1.12 \x1b[39m\x1b[90m/srv/ferry\x1b[39m\n\n"
        " \x1b[32m✓\x1b[39m quay.test.ts \x1b[2m(\x1b[22m"
        "\x1b[2m2 tests\x1b[22m\x1b[2m)\x1b[22m\x1b[32m 7\x1b[2mms\x1b[22m\x1b[39m\n\n"
        "\x1b[2m Test Files \x1b[22m \x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m\n"
        "\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m2 passed\x1b[39m\x1b[22m\x1b[90m (2)\x1b[39m\n"
        "\x1b[2m   Start at \x1b[22m 09:12:44\n\x1b[2m   Duration \x1b[22m 12ms\n\n"
    )
    run = read(out)
    assert tally(run) == (2, 0, 0, 0)
    assert run.doubts == frozenset()


@pytest.mark.parametrize(
    "line",
    [
        " ✓ |unit| quay.test.ts (2 tests) 1ms",
        " ✓  TS  quay.test-d.ts (2 tests)",
        " ✓ quay.test.ts  (2 tests) 1ms",
        " ✓ quay.test.ts (2 tests) 1ms (retry x2)",
        " ✓ quay (old).test.ts (2 tests) 12ms 31 MB heap used",
    ],
)
def test_forms_of_a_file(line: str) -> None:
    assert read(HEAD + line + "\n" + summary("2 passed (2)")).doubts == frozenset()


def test_projects() -> None:
    out = HEAD + (
        "stdout | quay.test.ts > casts off\nrope\n\n"
        " ❯ |deck| quay.test.ts (1 test | 1 failed) 7ms\n   × casts off 3ms\n"
    )
    run = read(out + summary("1 failed (1)", "1 failed (1)"), failed("|deck| quay.test.ts > casts off"), 1)
    assert names(run) == ["|deck| quay.test.ts > casts off"]
    assert "rope" in texts(run)


# -- failures that are no test's


def test_a_file_that_does_not_load() -> None:
    err = (
        f"\n\n{ruler('Failed Suites 1')}\n\n"
        + block("toll.test.ts [ toll.test.ts ]", "Error: no such module")
        + end(1, 1)
    )
    out = HEAD + " ❯ toll.test.ts (0 test)\n ✓ quay.test.ts (2 tests) 1ms\n"
    run = read(out + summary("2 passed (2)", "1 failed | 1 passed (2)"), err, 1)
    assert names(run) == ["toll.test.ts"]
    assert tally(run) == (2, 0, 0, 0)
    assert run.doubts == frozenset()


def test_a_hook_fails() -> None:
    err = f"\n\n{ruler('Failed Suites 1')}\n\n" + block("quay.test.ts > pier", "Error: no water") + end(1, 1)
    out = HEAD + " ❯ quay.test.ts (2 tests | 2 skipped) 1ms\n     ↓ a\n     ↓ b\n"
    run = read(out + summary("2 skipped (2)", "1 failed (1)"), err, 1)
    assert names(run) == ["quay.test.ts > pier"]
    assert run.doubts == frozenset()


UNHANDLED = (
    f"{ruler('Unhandled Errors')}\n\nVitest caught 1 unhandled error during the test run.\n"
    "This might cause false positive tests. Resolve unhandled errors to make sure your tests are not affected.\n\n"
    f"{ruler('Uncaught Exception')}\nTypeError: adrift\n ❯ drift quay.test.ts:9:3\n\n"
    'This error originated in "quay.test.ts" test file.\n' + "⎯" * WIDTH + "\n\n"
)


def test_errors_outside_of_tests() -> None:
    out = HEAD + " ✓ quay.test.ts (2 tests) 1ms\n" + summary("2 passed (2)", errors=1)
    run = read(out, UNHANDLED, 1)
    assert names(run) == ["Unhandled Errors > Uncaught Exception: TypeError: adrift"]
    assert run.doubts == frozenset()


def test_counted_errors_without_an_account_are_a_failure() -> None:
    out = HEAD + " ✓ quay.test.ts (2 tests) 1ms\n" + summary("2 passed (2)", errors=1)
    for code in (0, 1):
        run = read(out, "", code)
        assert names(run) == ["Unhandled Errors"]
        assert Doubt.COMPLETENESS_UNCONFIRMED in run.doubts


def test_startup_error() -> None:
    run = read("", f"\n{ruler('Startup Error')}\nError: bad config\n    at load (file:///srv/x.js:1:2)\n\n", 1)
    assert names(run) == ["Unhandled Errors > Startup Error: Error: bad config"]


def test_coverage_below_a_threshold() -> None:
    out = GREEN + " % Coverage report from v8\n----|----\nFile | % Stmts\n----|----\n q  |  50\n----|----\n"
    run = read(out, "ERROR: Coverage for lines (50%) does not meet global threshold (90%)\n", 1)
    assert names(run) == ["Coverage for lines (50%) does not meet global threshold (90%)"]
    assert not run.unclassified
    assert run.doubts == frozenset()


def test_no_tests() -> None:
    none = "No test files found, exiting with code 1\n\nfilter: nope/\ninclude: **/*.test.ts\n\n"
    run = read(HEAD, none, 1)
    assert next(line.text for line in run.fatal_errors) == "No test files found, exiting with code 1"
    assert not run.failures
    allowed = read(HEAD + "No test files found, exiting with code 0\n\n", "", 0)
    assert allowed.doubts == {Doubt.NO_TEST_EVIDENCE}


# -- regions


def test_a_message_may_look_like_anything() -> None:
    message = f"Error: line one\n\n FAIL  x.test.js > y\n{'⎯' * 24}[1/9]⎯\n      Tests  9 passed (9)\n\n"
    message += ruler("Failed Tests 3")
    err = (
        f"\n\n{ruler('Failed Tests 2')}\n\n"
        + block("quay.test.ts > a", message)
        + end(1, 2)
        + block("quay.test.ts > b")
        + end(2, 2)
    )
    out = HEAD + " ❯ quay.test.ts (2 tests | 2 failed) 1ms\n   × a 1ms\n   × b 1ms\n"
    run = read(out + summary("2 failed (2)", "1 failed (1)"), err, 1)
    assert names(run) == ["quay.test.ts > a", "quay.test.ts > b"]
    assert "      Tests  9 passed (9)" in texts(run)
    assert run.doubts == frozenset()


def test_one_error_of_several_tests() -> None:
    err = f"\n\n{ruler('Failed Tests 2')}\n\n FAIL  quay.test.ts > a\n" + block("quay.test.ts > b") + end(1, 2)
    out = HEAD + " ❯ quay.test.ts (2 tests | 2 failed) 1ms\n   × a 1ms\n   × b 1ms\n"
    run = read(out + summary("2 failed (2)", "1 failed (1)"), err, 1)
    assert names(run) == ["quay.test.ts > a", "quay.test.ts > b"]
    assert run.doubts == frozenset()


def test_a_message_of_several_lines_below_tests_that_share_an_account() -> None:
    account = block("quay.test.ts > b").replace("expected 3 to be 4", "too slow\nGive it more time.", 1)
    err = f"\n\n{ruler('Failed Tests 2')}\n\n FAIL  quay.test.ts > a\n" + account + end(1, 2)
    message = "     → too slow\nGive it more time.\n"
    out = HEAD + f" ❯ quay.test.ts (2 tests | 2 failed) 1ms\n   × a 1ms\n{message}   × b 1ms\n{message}"
    run = read(out + summary("2 failed (2)", "1 failed (1)"), err, 1)
    assert names(run) == ["quay.test.ts > a", "quay.test.ts > b"]
    assert run.doubts == frozenset()
    assert not run.unclassified
    other = read(out.replace("Give", "Take") + summary("2 failed (2)", "1 failed (1)"), err, 1)
    assert len(other.unclassified) == 2


def test_retries_are_one_failure() -> None:
    err = f"\n\n{ruler('Failed Tests 1')}\n\n" + " FAIL  quay.test.ts > a\n" * 2 + block("quay.test.ts > a") + end(1, 3)
    out = HEAD + " ❯ quay.test.ts (1 test | 1 failed) 1ms\n   × a 1ms (retry x2)\n"
    run = read(out + summary("1 failed (1)", "1 failed (1)"), err, 1)
    assert names(run) == ["quay.test.ts > a"]
    assert run.doubts == frozenset()


def test_several_errors_of_one_test() -> None:
    err = (
        f"\n\n{ruler('Failed Tests 1')}\n\n" + block("q.test.ts > a") + end(1, 2) + block("q.test.ts > a", "Error: 2nd")
    )
    out = HEAD + " ❯ q.test.ts (1 test | 1 failed) 1ms\n   × a 1ms\n"
    run = read(out + summary("1 failed (1)", "1 failed (1)"), err + end(2, 2), 1)
    assert names(run) == ["q.test.ts > a"]
    assert "Error: 2nd" in texts(run)
    assert run.doubts == frozenset()


def test_tests_of_one_name() -> None:
    out = HEAD + " ❯ quay.test.ts (2 tests | 2 failed) 1ms\n   × a 1ms\n   × a 1ms\n"
    out += summary("2 failed (2)", "1 failed (1)")
    run = read(out, failed("quay.test.ts > a", "quay.test.ts > a"), 1)
    assert names(run) == ["quay.test.ts > a"] * 2
    assert run.doubts == frozenset()


def test_a_name_with_a_newline() -> None:
    out = HEAD + " ❯ quay.test.ts (2 tests | 1 failed) 1ms\n   ✓ two\nlines 1ms\n   × three\nlines 1ms\n"
    out += summary("1 failed | 1 passed (2)", "1 failed (1)")
    run = read(out, failed("quay.test.ts > three\nlines"), 1)
    assert names(run) == ["quay.test.ts > three\nlines"]
    assert run.doubts == frozenset()


# -- output


def test_output_of_a_failing_test_is_kept_with_it() -> None:
    out = HEAD + "stdout | quay.test.ts > pier > casts off\nrope slips\n\n" + RESULTS.removeprefix(HEAD)
    err = "stderr | quay.test.ts > pier > casts off\nWARNING: wet\n\n" + ACCOUNT
    run = read(out + summary("1 failed | 1 passed (2)", "1 failed (1)"), err, 1)
    assert {"rope slips", "WARNING: wet"} <= set(texts(run))
    assert not run.warnings
    assert run.doubts == frozenset()


@pytest.mark.parametrize(
    "forged",
    [
        " × sinks 3ms",
        " ✓ x.test.ts (99 tests) 1ms",
        " Test Files  1 failed (1)",
        "not ok 1 - x",
        "FATAL: x",
        f"{ruler('Failed Tests 1')}",
        " FAIL  x.test.ts > y",
        "stdout | x.test.ts",
        "99 passed in 0.1s",
    ],
)
def test_output_may_look_like_anything(forged: str) -> None:
    out = HEAD + f"stdout | quay.test.ts > moors\n{forged}\n\n ✓ quay.test.ts (1 test) 1ms\n" + summary("1 passed (1)")
    err = f"stderr | quay.test.ts > moors\n{forged}\n\n"
    run = read(out, err)
    assert tally(run) == (1, 0, 0, 0)
    assert run.doubts == frozenset()
    assert not run.failures


def test_a_whole_summary_that_a_test_prints_is_text() -> None:
    forged = summary("99 passed (99)").strip("\n")
    out = HEAD + f"stdout | quay.test.ts > casts off\n{forged}\n\n" + RESULTS.removeprefix(HEAD)
    run = read(out + summary("1 failed | 1 passed (2)", "1 failed (1)"), ACCOUNT, 1)
    assert tally(run) == (1, 1, 0, 0)
    assert names(run) == ["quay.test.ts > pier > casts off"]
    assert run.suppressed[Kind.RECAP] == 1
    assert run.doubts == frozenset()


@pytest.mark.parametrize("before", ["", "first\n\n"])
def test_a_summary_that_a_test_prints_closes_nothing_when_the_run_is_cut(before: str) -> None:
    out = HEAD + f"stdout | quay.test.ts > moors\n{before}{summary('99 passed (99)').strip(chr(10))}\n\n"
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(out, "", 0).doubts
    out = HEAD + " ✓ toll.test.ts (1 test) 1ms\n" + out.removeprefix(HEAD)
    assert {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.AGGREGATE_CONTRADICTION} & read(out, "", 0).doubts


def test_text_behind_an_empty_line_stays_with_its_output() -> None:
    err = "stderr | quay.test.ts > moors\nWarning: act\n\nThis ensures that\n\n  act(() => {})\n\n"
    run = read(HEAD + " ✓ quay.test.ts (1 test) 1ms\n" + summary("1 passed (1)"), err)
    assert run.doubts == frozenset()
    assert run.suppressed[Kind.PROGRAM_OUTPUT] == 3
    # Without a run that explains its exit code, it may be anything.
    alone = read(HEAD + " ✓ quay.test.ts (1 test) 1ms\n" + summary("1 passed (1)"), err, 1)
    assert len(alone.unclassified) + sum(len(list(failure.lines())) for failure in alone.failures) == 2


def test_raw_prints_are_unclassified() -> None:
    run = read(HEAD + "printed raw\n ✓ quay.test.ts (1 test) 1ms\n" + summary("1 passed (1)"))
    assert [line.text for line in run.unclassified] == ["printed raw"]
    assert Doubt.UNCLASSIFIED_EVIDENCE in run.doubts


def test_too_much_output_is_let_go_with_a_doubt() -> None:
    line = "x" * 1000 + "\n"
    out = HEAD + "stdout | quay.test.ts > pier > casts off\n" + line * (HELD_BYTES // 1000 + 9) + "\n"
    run = read(out + RED.removeprefix(HEAD), ACCOUNT, 1)
    assert Doubt.COMPLETENESS_UNCONFIRMED in run.doubts


# -- damage


def test_cut_before_the_summary() -> None:
    run = read(RESULTS, "", None)
    assert names(run) == ["quay.test.ts > casts off"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in run.doubts
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(HEAD + " ✓ quay.test.ts (1 test) 1ms\n", "", 0).doubts


@pytest.mark.parametrize("lost", [" Test Files", "      Tests", "   Start at", "   Duration", " ✓ toll.test.ts"])
def test_a_lost_line(lost: str) -> None:
    kept = "".join(line for line in GREEN.splitlines(keepends=True) if not line.startswith(lost))
    assert read(kept).doubts


def test_accounts_lost() -> None:
    run = read(RED, "", 1)
    assert names(run) == ["quay.test.ts > casts off"]
    assert run.doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


@pytest.mark.parametrize("lines", range(1, 12))
def test_accounts_cut(lines: int) -> None:
    whole = failed("quay.test.ts > a", "quay.test.ts > b").lstrip("\n").splitlines(keepends=True)
    out = (
        HEAD
        + " ❯ quay.test.ts (2 tests | 2 failed) 1ms\n   × a 1ms\n   × b 1ms\n"
        + summary("2 failed (2)", "1 failed (1)")
    )
    run = read(out, "".join(whole[:lines]), 1)
    assert {name.rpartition(" > ")[2] for name in names(run)} == {"a", "b"}
    assert run.doubts


def test_results_that_the_run_denies() -> None:
    out = HEAD + " ✓ quay.test.ts (1 test) 1ms\n     × sinks 3ms\n" + summary("1 passed (1)")
    run = read(out)
    assert not run.failures
    assert [line.kind for line in run.unclassified] == [Kind.CONTESTED_TEST]
    assert Doubt.CONTESTED_RESULTS in run.doubts


def test_accounts_that_the_run_denies() -> None:
    run = read(GREEN, ACCOUNT)
    assert not run.failures
    assert Doubt.CONTESTED_RESULTS in run.doubts
    assert any("expected 3" in line.text for line in run.unclassified)


def test_accounts_without_a_summary() -> None:
    run = read("", ACCOUNT, 1)
    assert names(run) == ["quay.test.ts > pier > casts off"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in run.doubts


def test_more_failures_than_accounts() -> None:
    out = HEAD + "\n" + summary("2 failed | 1 passed (3)", "1 failed (1)")
    assert Doubt.RECAP_CONTRADICTION in read(out, ACCOUNT, 1).doubts


def test_two_runs_in_one_stream() -> None:
    run = read(GREEN + RED, ACCOUNT, 1)
    assert tally(run) == (4, 1, 1, 0)
    assert run.doubts == frozenset()


def test_bail_leaves_tests_out() -> None:
    out = HEAD + " ❯ quay.test.ts (9 tests | 1 failed) 7ms\n     × casts off 3ms\n     · sails\n"
    run = read(out + summary("1 failed (9)", "1 failed (4)"), ACCOUNT, 1)
    assert tally(run) == (0, 1, 0, 0)
    assert run.doubts == frozenset()


# -- the reader's demands


def test_chunks_make_no_difference() -> None:
    for name, text in (("stdout", GREEN), ("stdout", RED), ("stderr", ACCOUNT + UNHANDLED)):
        data = text.encode()
        results = []
        for size in (1, 3, 64, len(data)):
            reader = StreamReader(name, (DIALECT,))
            for start in range(0, len(data), size):
                reader.feed(data[start : start + size])
            results.append(combined(reader.close(1)))
        assert all(result == results[0] for result in results)


def test_every_line_once_on_any_bytes() -> None:
    rng = random.Random(20)  # noqa: S311 - a repeatable choice, no secret
    lines = (GREEN + RED + ACCOUNT + UNHANDLED + "stdout | quay.test.ts > moors\nx\n\n").encode().split(b"\n")
    for _ in range(300):
        data = b"\n".join(rng.choices(lines, k=rng.randrange(1, 60))) + b"\n"
        if rng.random() < 0.3:
            data = data[: rng.randrange(1, len(data))]
        count = data.count(b"\n") + (not data.endswith(b"\n"))
        for name in ("stdout", "stderr"):
            run, traces = trace_streams([(name, [data])], exit_code=rng.choice([0, 1]))
            assert run.event_count == count
            assert len(traces) == count


def test_lanes_count_as_lines_do() -> None:
    files = "".join(f" ✓ f{i}.test.ts (2 tests) {i}ms\n     ✓ slow 400ms\n" for i in range(300))
    verbose = "".join(f" ✓ quay.test.ts > t{i} {i}ms\n" for i in range(600))
    for body, count in ((files, "300 passed (300)"), (verbose, "1 passed (1)")):
        data = (HEAD + body + summary("600 passed (600)", count)).encode()
        fast = read_streams([("stdout", [data])], exit_code=0)
        slow, _ = trace_streams([("stdout", [data])], exit_code=0)
        assert fast == slow
        assert fast.doubts == frozenset()


@pytest.mark.parametrize(
    "line",
    [
        " ✓ " + "a (3 tests " * 22_500,
        " ✓ " + "(" * 250_000,
        "stdout | " + ".js" * 75_000,
        "⎯" * 75_000 + " A" * 75_000,
        "   × " + " 1ms" * 62_500,
        " FAIL  " + " [ " * 75_000,
        "::error file=a,title=" + ",line=1" * 35_000,
        "x-*" * 82_500,
        "⎯" * 82_500,
        " Test Files  " + "1 passed | " * 22_500,
        " ❯ " + "a:1:2 " * 40_000,
    ],
)
def test_long_lines_take_linear_time(line: str) -> None:
    for before in (
        HEAD,
        HEAD + " ❯ q.test.ts (1 test | 1 failed) 1ms\n",
        f"{ruler('Failed Tests 1')}\n\n FAIL  a > b\n",
    ):
        start = time.thread_time()
        read(before + line + "\n" + line + "\n", "", 1)
        assert time.thread_time() - start < 1


# -- the grammar


def test_counts() -> None:
    found = counts(b"2 failed | 11 passed | 1 expected fail (14)")
    assert found is not None
    assert (found.of(b"failed"), found.of(b"expected fail"), found.total, found.unknown) == (2, 1, 14, False)
    assert counts(b"no tests") is not None
    for text in (b"2 failed", b"2 failed (x)", b"failed (2)", b"2 failed | 2 failed (4)", b"2 failed, 1 passed (3)"):
        assert counts(text) is None
    odd = counts(b"3 floating (3)")
    assert odd is not None
    assert odd.unknown
    run = read(GREEN.replace("3 passed | 1 skipped (4)", "3 passed | 1 floating (4)"))
    assert {Doubt.AGGREGATE_CONTRADICTION, Doubt.COUNTS_UNCONFIRMED} <= run.doubts


def test_names() -> None:
    assert names_of(b"moors 3ms (retry x2)")[0] == b"moors"
    assert b"waits 3ms" in names_of(b"waits 3ms 1ms")
    assert names_of(b"moors") == (b"moors",)
    assert names_of(b"moors (2 times) 3ms")[0] == b"moors"
    assert b"moors (2 times)" in names_of(b"moors (2 times) 3ms")
    assert not has_duration(b"moors (2 times)")
    assert whole_file(b"a.test.ts [ a.test.ts ]") == b"a.test.ts"
    assert whole_file(b"a.test.ts > b") is None


@pytest.mark.parametrize(
    "line",
    [
        "ok 1 - x",
        "PASS quay.test.js",
        " PASS  quay",
        "stdout | tee",
        "⎯⎯⎯ Failed Tests 1 ⎯⎯⎯",
        "RUN v4.1",
        "1 passed",
        "::error file=a.js,line=1,title=x::y",
        "Tests:       1 passed, 1 total",
        " ✓ a.test.ts (1 test) 1ms",
    ],
)
def test_what_opens_nothing(line: str) -> None:
    assert OPENING.match(line.encode()) is None
