"""The text of go test: every form it takes, and what must not be taken for it."""

import random
import time

import pytest

from context_firewall.transcript.dialects.go import DIALECT
from context_firewall.transcript.dialects.go_grammar import BUILD, FAILED_PACKAGE, PASSED_PACKAGE, RESULT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import StreamReader, read_streams

P = "example.org/quay/berths"


def begin(name: str) -> str:
    return f"=== RUN   {name}\n"


def end(name: str, word: str = "PASS", depth: int = 0) -> str:
    return f"{'    ' * depth}--- {word}: {name} (0.00s)\n"


def one(name: str, word: str = "PASS", *prints: str) -> str:
    """One test with -v and what it prints."""
    return begin(name) + "".join(f"{line}\n" for line in prints) + end(name, word)


def ok(package: str = P, *, mark: bool = True, rest: str = "") -> str:
    return ("PASS\n" if mark else "") + f"ok  \t{package}\t0.003s{rest}\n"


def bad(package: str = P, *, mark: bool = True) -> str:
    return ("FAIL\n" if mark else "") + f"FAIL\t{package}\t0.003s\n"


def read(text: str | bytes, exit_code: int | None = 0, stderr: str = "") -> Transcript:
    data = text.encode() if isinstance(text, str) else text
    streams = [("stdout", [data])]
    if stderr:
        streams.append(("stderr", [stderr.encode()]))
    return read_streams(streams, exit_code=exit_code)


def counts(transcript: Transcript) -> tuple[int, int, int]:
    return transcript.tally.passed, transcript.tally.failed, transcript.tally.skipped


def identities(transcript: Transcript) -> list[str]:
    return [failure.identity for failure in transcript.failures]


def region(transcript: Transcript, at: int = 0) -> list[str]:
    return [line.text for line in transcript.failures[at].details]


# -- forms of lines


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"--- PASS: TestA (0.00s)", b"TestA"),
        (b"    --- FAIL: TestA/b#01 (12.30s)", b"TestA/b#01"),
        ('--- SKIP: TestA/ключ_"x" (0.00s)'.encode(), 'TestA/ключ_"x"'.encode()),
        (b"   --- PASS: TestA (0.00s)", None),
        (b"--- PASS: TestA (0.00s) and more", None),
        (b"--- PASS: TestA b (0.00s)", None),
        (b"--- pass: TestA (0.00s)", None),
    ],
)
def test_results(line: bytes, name: bytes | None) -> None:
    found = RESULT.fullmatch(line)
    assert (found["name"] if found else None) == name


@pytest.mark.parametrize(
    "line",
    [
        b"ok  \tp\t0.1s",
        b"ok  \tp\t(cached)",
        b"ok  \tp\t0.1s\tcoverage: 81.0% of statements",
        b"ok  \tp\t0.1s\tcoverage: 81.0% of statements in ./...",
        b"ok  \tp\t0.1s\tcoverage: [no statements]",
        b"ok  \tp\t0.1s [no tests to run]",
        b"ok  \tp\t0.1s\tcoverage: 0.0% of statements [no tests to run]",
    ],
)
def test_lines_of_passed_packages(line: bytes) -> None:
    assert PASSED_PACKAGE.fullmatch(line)


@pytest.mark.parametrize(
    "line", [b"ok p\t0.1s", b"ok  \tp", b"ok 1 - p", b"ok  \tp\t0.1s and more", b"ok  \tp q\t0.1s"]
)
def test_lines_that_are_not(line: bytes) -> None:
    assert not PASSED_PACKAGE.fullmatch(line)


def test_lines_of_failed_packages() -> None:
    assert FAILED_PACKAGE.fullmatch(b"FAIL\tp\t0.1s")
    assert FAILED_PACKAGE.fullmatch(b"FAIL\tp [build failed]")
    assert not FAILED_PACKAGE.fullmatch(b"FAIL p")
    assert BUILD.fullmatch(b"# example.org/a [example.org/a.test]")
    assert not BUILD.fullmatch(b"# two words")


@pytest.mark.parametrize(
    "line",
    [
        "ok 1 - a",
        "# tests 5",
        "FAIL src/a.test.js",
        "PASS",
        "FAIL",
        "--- a/file.go",
        "=== 3 passed in 0.1s ===",
        "1..3",
    ],
)
def test_other_runners_do_not_open_it(line: str) -> None:
    assert not DIALECT.opening.match(line.encode())


# -- whole runs


def test_green() -> None:
    run = read(
        one("TestA") + one("TestB", "SKIP", "    a_test.go:1: 3 failed") + one("TestC", "PASS", "FAIL", "x") + ok()
    )
    assert counts(run) == (2, 0, 1)
    assert not run.doubts
    assert run.suppressed[Kind.SUCCESSFUL_TEST] == 2


def test_failures_and_derived_parents() -> None:
    text = (
        begin("TestT")
        + begin("TestT/a")
        + "    t_test.go:9: alpha\n"
        + begin("TestT/b")
        + end("TestT", "FAIL")
        + end("TestT/a", "FAIL", 1)
        + end("TestT/b", "PASS", 1)
        + bad()
        + "FAIL\n"
    )
    run = read(text, 1)
    assert counts(run) == (1, 2, 0)
    assert identities(run) == [f"{P} TestT/a"]
    assert region(run) == ["    t_test.go:9: alpha"]
    assert run.suppressed[Kind.DERIVED_FAILURE] == 1
    assert not run.doubts


def test_a_parent_with_words_of_its_own_is_kept() -> None:
    text = begin("TestT") + "    t_test.go:1: setting up\n" + begin("TestT/a") + end("TestT", "FAIL")
    run = read(text + end("TestT/a", "FAIL", 1) + bad() + "FAIL\n", 1)
    assert identities(run) == [f"{P} TestT", f"{P} TestT/a"]


def test_several_packages_add_up() -> None:
    run = read(
        one("TestA") + ok() + one("TestA", "FAIL", "boom") + bad("example.org/b") + one("TestB") + ok("c") + "FAIL\n", 1
    )
    assert counts(run) == (2, 1, 0)
    assert identities(run) == ["example.org/b TestA"]
    assert not run.doubts


def test_quiet_run() -> None:
    text = ok("a", mark=False) + end("TestA", "FAIL") + "    a_test.go:1: one\n\n" + bad() + "FAIL\n"
    run = read(text, 1)
    assert identities(run) == [f"{P} TestA"]
    assert run.doubts == {Doubt.COUNTS_UNCONFIRMED}


def test_quiet_logs_that_look_like_results_stay_logs() -> None:
    text = (
        end("TestA", "FAIL")
        + "    a_test.go:1: one\n        --- FAIL: TestB (0.00s)\n        FAIL\n"
        + bad()
        + "FAIL\n"
    )
    run = read(text, 1)
    assert identities(run) == [f"{P} TestA"]
    assert len(region(run)) == 3


def test_nothing_to_run_counts_as_zero() -> None:
    run = read(f"?   \t{P}\t[no test files]\n" + ok("b", mark=False, rest=" [no tests to run]"))
    assert counts(run) == (0, 0, 0)
    assert run.has_results
    assert not run.doubts


def test_example_without_verbose() -> None:
    run = read(end("ExampleA", "FAIL") + "got:\nx\nwant:\ny\n" + end("TestB", "FAIL") + bad() + "FAIL\n", 1)
    assert region(run, 0) == ["got:", "x", "want:", "y"]
    assert region(run, 1) == []


def test_benchmarks() -> None:
    text = "goos: linux\ngoarch: amd64\npkg: example.org/a\nBenchmarkA-8 \t 100\t 12 ns/op\n" + ok()
    run = read(text)
    assert not run.failures
    assert Doubt.UNCLASSIFIED_EVIDENCE not in run.doubts


def test_fuzz_failure() -> None:
    text = (
        end("FuzzA", "FAIL")
        + end("FuzzA", "FAIL", 1)
        + "        a_test.go:4: reversed twice\n    \n    Failing input written to testdata/fuzz/FuzzA/1\n"
        + bad()
        + "FAIL\n"
    )
    run = read(text, 1)
    assert identities(run) == [f"{P} FuzzA"]
    assert "        a_test.go:4: reversed twice" in region(run)


# -- what belongs to no test

PANIC = "panic: no rope{tail}\n\ngoroutine 7 [running]:\nmain.x()\n\t/a.go:1 +0x1\n"


def test_panic_goes_to_its_test() -> None:
    text = one("TestA", "FAIL", "    a_test.go:1: x") + begin("TestB") + end("TestB", "FAIL")
    run = read(text + PANIC.format(tail=" [recovered]\n\tpanic: no rope") + bad(mark=False) + "FAIL\n", 1)
    assert identities(run) == [f"{P} TestA", f"{P} TestB"]
    assert region(run, 1)[0].startswith("panic: no rope")
    assert not run.doubts


def test_panic_of_a_goroutine_is_a_failure_of_the_package() -> None:
    run = read(one("TestA", "FAIL") + begin("TestB") + PANIC.format(tail="") + bad(mark=False) + "FAIL\n", 1)
    assert identities(run) == [f"{P} TestA", P]
    assert region(run, 1)[0] == "=== RUN   TestB"
    assert not run.doubts


def test_a_panic_that_says_recovered_without_its_test() -> None:
    run = read(begin("TestB") + PANIC.format(tail=" [recovered]") + bad(mark=False) + "FAIL\n", 1)
    assert Doubt.STRUCTURE_CONTRADICTION in run.doubts


TIMED = "panic: test timed out after 2s\n"
STACK = "\ngoroutine 7 [sleep]:\nexample.org/a.TestB(0x0?)\n\t/a.go:1 +0x1\ntesting.tRunner(0x1, 0x2)\n\t/t.go:1 +0x1\n"


@pytest.mark.parametrize(
    "text",
    [
        begin("TestB") + TIMED + "\trunning tests:\n\t\tTestB (2s)\n" + STACK,
        begin("TestB") + TIMED + STACK,
        TIMED + STACK,
    ],
)
def test_timeouts_name_the_test(text: str) -> None:
    run = read(text + bad(mark=False) + "FAIL\n", 1)
    assert identities(run) == [f"{P} TestB"]


def test_exit_inside_a_test() -> None:
    run = read(one("TestA") + begin("TestB") + bad(mark=False) + "FAIL\n", 1)
    assert identities(run) == [P]
    assert counts(run) == (1, 0, 0)


def test_what_stands_before_the_first_line_goes_with_a_package_that_broke_off() -> None:
    run = read("cannot reach the gauge\n" + bad(mark=False) + "FAIL\n", 1)
    assert region(run) == ["cannot reach the gauge"]


def test_what_stands_before_a_good_package_is_unclassified() -> None:
    assert [line.text for line in read("cd quay\n" + one("TestA") + ok()).unclassified] == ["cd quay"]


def test_stopped_from_the_keyboard() -> None:
    run = read(one("TestA", "FAIL") + begin("TestB") + "signal: interrupt\n" + bad(mark=False), 1)
    assert identities(run) == [f"{P} TestA"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in run.doubts


MESSAGES = "# example.org/c [example.org/c.test]\nc/c_test.go:1:2: undefined: rope\n"


def test_build_failure_on_two_streams() -> None:
    run = read("FAIL\texample.org/c [build failed]\n" + one("TestA") + ok() + "FAIL\n", 1, MESSAGES)
    assert identities(run) == ["example.org/c"]
    assert region(run) == MESSAGES.splitlines()
    assert not run.doubts


def test_build_failure_on_one_stream() -> None:
    run = read(MESSAGES + one("TestA") + ok() + "FAIL\texample.org/c [build failed]\nFAIL\n", 1)
    assert identities(run) == ["example.org/c"]
    assert region(run) == MESSAGES.splitlines()


def test_messages_of_a_build_that_went_well_are_no_failure() -> None:
    run = read(one("TestA") + ok(), 0, "# example.org/c [example.org/c.test]\nld: warning: old\n")
    assert not run.failures
    assert Doubt.UNCLASSIFIED_EVIDENCE in run.doubts


def test_race_report_goes_to_its_test() -> None:
    race = "==================\nWARNING: DATA RACE\nWrite at 0x0 by goroutine 7:\n==================\n"
    log = "    testing.go:1490: race detected during execution of test\n"
    run = read(end("TestA", "FAIL") + race + end("TestB", "FAIL") + log + bad() + "FAIL\n", 1)
    assert "WARNING: DATA RACE" in region(run, 1)
    assert not run.warnings


# -- parallel tests


def test_logs_follow_the_test_that_is_named() -> None:
    text = (
        "=== RUN   TestN\n=== PAUSE TestN\n=== RUN   TestS\n=== PAUSE TestS\n=== CONT  TestN\n    n: 1\n"
        "=== CONT  TestS\n    s: 1\n=== NAME  TestN\n    n: 2\n=== CONT  TestS\n    s: 2\n"
    )
    run = read(text + end("TestS") + end("TestN", "FAIL") + bad() + "FAIL\n", 1)
    assert region(run) == ["    n: 1", "    n: 2"]


# -- forgeries

FORGED = [
    "--- FAIL: TestX (0.00s)",
    "FAIL",
    "FAIL\tx\t0.1s",
    "PASS",
    "ok  \tx\t0.1s",
    "=== RUN   TestX",
    "--- PASS: TestX (0.00s)",
]


def test_a_test_that_prints_what_the_runner_prints() -> None:
    run = read(one("TestA") + one("TestB", "PASS", *FORGED, "panic: x") + one("TestC") + ok())
    assert counts(run) == (3, 0, 0)
    assert not run.failures
    assert Doubt.CONTESTED_RESULTS in run.doubts
    assert {line.kind for line in run.unclassified} == {Kind.CONTESTED_TEST}


def test_a_failing_test_that_prints_its_own_success() -> None:
    run = read(
        one("TestA", "PASS", "--- PASS: TestA (0.00s)", "PASS", "ok  \tx\t0.1s")
        .replace("PASS: TestA (0.00s)\n", "FAIL: TestA (0.00s)\n")
        .replace("--- FAIL: TestA (0.00s)\nPASS", "--- PASS: TestA (0.00s)\nPASS")
        + bad()
        + "FAIL\n",
        1,
    )
    assert identities(run) == [f"{P} TestA"]
    assert counts(run) == (0, 1, 0)
    assert Doubt.CONTESTED_RESULTS in run.doubts


def test_logs_that_hold_banners_and_results_count_nothing() -> None:
    logs = ("    a: === RUN   TestX", "    a: --- PASS: TestX (0.00s)")
    parent = begin("TestT") + begin("TestT/a") + "".join(f"{line}\n" for line in logs) + end("TestT")
    run = read(one("TestA") + parent + end("TestT/a", depth=1) + one("TestB") + one("TestC") + ok())
    assert counts(run) == (5, 0, 0)
    assert not run.doubts


def test_a_result_glued_to_a_print() -> None:
    run = read(begin("TestA") + "no newline--- PASS: TestA (0.00s)\n" + one("TestB") + ok())
    assert counts(run) == (2, 0, 0)
    assert not run.doubts


def test_a_quiet_package_that_prints_success_before_it_fails() -> None:
    text = end("TestA", "FAIL") + "    a: 1\n" + ok("x") + end("TestB", "FAIL") + bad() + "FAIL\n"
    run = read(text, 1)
    assert identities(run) == [f"{P} TestA", f"{P} TestB"]


def test_quiet_results_in_a_package_that_is_ok_are_contested() -> None:
    run = read(end("TestX", "FAIL") + "    x: 1\nPASS\n" + ok(mark=False))
    assert not run.failures
    assert Doubt.CONTESTED_RESULTS in run.doubts


def test_other_runners_lines_inside_a_test() -> None:
    run = read(one("TestA", "PASS", "ok 1 - tap", "1..1", "=== 9 passed in 0.1s ===") + ok())
    assert counts(run) == (1, 0, 0)
    assert not run.doubts


# -- damage


@pytest.mark.parametrize(
    "text",
    [
        one("TestA") + begin("TestB"),
        one("TestA") + "PASS\n",
        one("TestA") + begin("TestB") + ok(),
        end("TestA") + one("TestB") + ok(),
        one("TestA") + end("TestA") + ok(),
        one("TestA") + ok(mark=False),
        one("TestA") + ok() + ok(),
        one("TestA") + ok() + f"ok  \t{P}\t0.1s\n",
        begin("TestA") + one("TestA") + ok(),
        one("TestA", "FAIL", "boom") + ok(),
        "=== CONT  TestZ\n" + one("TestA") + ok(),
    ],
)
def test_damage_is_never_a_quiet_pass(text: str) -> None:
    run = read(text)
    assert run.doubts or run.failures


def test_a_failing_run_without_its_last_word() -> None:
    run = read(one("TestA", "FAIL") + bad(), 1)
    assert Doubt.COMPLETENESS_UNCONFIRMED in run.doubts


def test_a_failing_package_in_its_own_directory_has_none() -> None:
    run = read(one("TestA", "FAIL") + f"FAIL\nexit status 1\nFAIL\t{P}\t0.1s\n", 1)
    assert not run.doubts


def test_no_newline_at_the_end() -> None:
    assert Doubt.COMPLETENESS_UNCONFIRMED in read((one("TestA") + ok()).rstrip()).doubts


def test_crlf_and_colours() -> None:
    text = (one("TestA") + ok()).replace("\n", "\r\n").replace("PASS", "\x1b[32mPASS\x1b[0m")
    assert counts(read(text)) == (1, 0, 0)


STORY = (
    one("TestA", "PASS", "    a: 1")
    + begin("TestT")
    + begin("TestT/a")
    + "    t: 1\n"
    + begin("TestT/b")
    + end("TestT", "FAIL")
    + end("TestT/a", "FAIL", 1)
    + end("TestT/b", "SKIP", 1)
    + bad()
    + "".join(one(f"TestG{i}", "PASS", "    g: 1") for i in range(40))
    + ok("example.org/g")
    + MESSAGES
    + "FAIL\texample.org/c [build failed]\nFAIL\n"
)


def test_chunks_do_not_matter() -> None:
    whole = read(STORY, 1)
    data = STORY.encode()
    chance = random.Random(7)  # noqa: S311 - a repeatable choice, no secret
    for _ in range(40):
        reader = StreamReader("stdout", (DIALECT,))
        at = 0
        while at < len(data):
            step = chance.randint(1, 400)
            reader.feed(data[at : at + step])
            at += step
        run = combined(reader.close(1))
        assert (run.tally, run.failures, run.suppressed, run.doubts) == (
            whole.tally,
            whole.failures,
            whole.suppressed,
            whole.doubts,
        )


def test_every_line_once_whatever_is_lost() -> None:
    lines = STORY.encode().split(b"\n")
    chance = random.Random(11)  # noqa: S311 - a repeatable choice, no secret
    for _ in range(200):
        i, j = sorted(chance.sample(range(len(lines)), 2))
        kept = lines[:i] + lines[j:] if chance.random() < 0.5 else [*lines[:j], *lines[i:]]
        data = b"\n".join(kept)
        expected = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        assert read(data, chance.choice([0, 1, None])).event_count == expected


def test_traced_lines_are_the_suppressed_ones() -> None:
    reader = StreamReader("stdout", (DIALECT,), trace=True)
    reader.feed(STORY.encode())
    readings = reader.close(1)
    fates = {number for part in readings for number in (part.fates or {})}
    kept = {line.number for part in readings for line in part.kept_lines()}
    assert fates.isdisjoint(kept)
    assert fates | kept == set(range(1, STORY.count("\n") + 1))


@pytest.mark.parametrize(
    "line",
    [
        b"=== RUN   " + b"A" * 1_000_000,
        b" " * 1_000_000 + b"--- FAIL: a (0.00s)",
        b"--- FAIL: " * 100_000,
        b"ok  \t" + b"a" * 1_000_000 + b"\tcoverage: ",
        b"# " + b"a.b" * 300_000 + b" [",
        b"goroutine 1 " + b"[" * 1_000_000,
        b"panic: " + b" [recovered" * 90_000,
        b"BenchmarkA" + b" " * 1_000_000,
    ],
)
def test_hostile_lines_take_linear_time(line: bytes) -> None:
    text = (
        b"=== RUN   TestA\n" + line + b"\n--- FAIL: TestA (0.00s)\n" + line + b"\nFAIL\nFAIL\tp\t0.1s\n" + line + b"\n"
    )
    began = time.process_time()
    read(text, 1)
    assert time.process_time() - began < 2


def test_with_v_a_result_needs_a_beginning() -> None:
    """GO-2: the head of the report is missing."""
    torn = end("TestTides", "FAIL") + one("TestRadio") + bad() + "FAIL\n"
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(torn, 1).doubts
    assert Doubt.COMPLETENESS_UNCONFIRMED not in read(begin("TestTides") + torn, 1).doubts


def test_a_failure_without_v_in_a_run_with_v() -> None:
    """GO-2: a result above the first package that a program may have printed."""
    run = end("TestTides", "FAIL") + "FAIL\nFAIL\texample.org/quay/tides\t0.1s\n"
    assert Doubt.STRUCTURE_CONTRADICTION not in read(run + "FAIL\n", 1).doubts
    assert Doubt.STRUCTURE_CONTRADICTION in read(run + one("TestRadio") + ok() + "FAIL\n", 1).doubts


def test_a_stack_needs_a_beginning() -> None:
    """GO-5: frames before the first line of the runner's belong to a crash that is not there."""
    frame = "berths.Moor(0x1)\n\t/home/dock/berths.go:9 +0x1b\n"
    end_of_run = "FAIL\texample.org/quay/berths\t0.1s\nFAIL\n"
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(frame + end_of_run, 1).doubts
    crash = "panic: adrift\n\ngoroutine 8 [running]:\n" + frame + end_of_run
    assert Doubt.COMPLETENESS_UNCONFIRMED not in read(crash, 1).doubts
