"""The output of cargo test: every form it takes, on two streams and on one, and what must not be taken for it."""

import gc
import random
import time

import pytest

from context_firewall.transcript.dialects import cargo_grammar as grammar
from context_firewall.transcript.dialects.cargo import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import StreamReader, read_streams, trace_streams

FINISHED = "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.02s\n"
TOLD = "error: test failed, to rerun pass `--lib`\n"
DOC = "   Doc-tests kiln\n"


def runs(source: str = "unittests src/lib.rs", name: str = "kiln") -> str:
    return f"     Running {source} (target/debug/deps/{name}-00112233aabbccdd)\n"


def head(tests: int) -> str:
    return f"\nrunning {tests} test{'' if tests == 1 else 's'}\n"


def one(name: str, outcome: str = "ok") -> str:
    return f"test {name} ... {outcome}\n"


def total(passed: int, failed: int = 0, ignored: int = 0) -> str:
    word = "FAILED" if failed else "ok"
    return (
        f"\ntest result: {word}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out; "
        "finished in 0.00s\n\n"
    )


def panic(name: str, message: str = "cracked") -> str:
    return f"\nthread '{name}' (81) panicked at src/glaze.rs:9:5:\n{message}\n"


def sections(*named: tuple[str, str]) -> str:
    """What failing tests printed, and their names."""
    texts = "".join(f"---- {name} stdout ----\n{text}\n" for name, text in named)
    return f"\nfailures:\n\n{texts}\nfailures:\n" + "".join(f"    {name}\n" for name, _ in named)


GREEN = head(2) + one("glaze::dries") + one("glaze::drips", "ignored, slow") + total(1, 0, 1)
RED = (
    head(2) + one("glaze::dries") + one("glaze::cracks", "FAILED")
    + sections(("glaze::cracks", panic("glaze::cracks"))) + total(1, 1)
)  # fmt: skip


def read(stdout: str | bytes, exit_code: int | None = 0, stderr: str = "") -> Transcript:
    data = stdout.encode() if isinstance(stdout, str) else stdout
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


# -- reports


def test_a_green_run_leaves_nothing_to_show() -> None:
    transcript = read(GREEN + GREEN, 0, FINISHED + runs() + runs("tests/oven.rs", "oven"))
    assert counts(transcript) == (2, 0, 2)
    assert not transcript.doubts
    assert not list(transcript.failures)


def test_a_failing_test_keeps_its_section_without_the_lines_around_it() -> None:
    transcript = read(RED, 101, FINISHED + runs() + TOLD)
    assert counts(transcript) == (1, 1, 0)
    assert identities(transcript) == ["glaze::cracks"]
    assert region(transcript) == ["thread 'glaze::cracks' (81) panicked at src/glaze.rs:9:5:", "cracked"]
    assert not transcript.doubts


@pytest.mark.parametrize("mode", ["should panic", "compile", "compile fail"])
def test_how_a_test_is_meant_to_end_is_no_part_of_its_name(mode: str) -> None:
    text = head(1) + one(f"glaze::cracks - {mode}", "FAILED") + sections(("glaze::cracks", "note: it did not"))
    assert identities(read(text + total(0, 1), 101)) == ["glaze::cracks"]


def test_outcomes_may_carry_a_time_a_reason_or_a_measurement() -> None:
    text = (
        head(4)
        + one("a", "ok <0.001s>")
        + one("b", "ignored, no kiln ... here")
        + one("c", "bench:       1,024 ns/iter (+/- 7)")
    )
    text += one("d", "FAILED <0.010s>") + sections(("d", "cold\n"))
    text += "\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 1 measured; 3 filtered out; finished in 0.01s\n\n"
    transcript = read(text, 101)
    assert counts(transcript) == (2, 1, 1)
    assert not transcript.doubts


def test_old_summaries_state_less() -> None:
    text = head(1) + one("a") + "\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n\n"
    assert not read(text).doubts


def test_quiet_letters_count_and_failures_have_lines_of_their_own() -> None:
    text = head(5) + "..i 3/5\nglaze::cracks --- FAILED\n." + sections(("glaze::cracks", "cold\n")) + total(3, 1, 1)
    transcript = read(text, 101, TOLD)
    assert counts(transcript) == (3, 1, 1)
    assert identities(transcript) == ["glaze::cracks"]
    assert not transcript.doubts


def test_a_green_quiet_run() -> None:
    transcript = read("\nrunning 3 tests\n..i" + total(2, 0, 1))
    assert counts(transcript) == (2, 0, 1)
    assert not transcript.doubts


def test_colours_change_nothing() -> None:
    coloured = RED.replace("... ok", "... \x1b[32mok\x1b(B\x1b[m").replace(
        "... FAILED", "... \x1b[31mFAILED\x1b(B\x1b[m"
    )
    coloured = coloured.replace("result: FAILED", "result: \x1b[31mFAILED\x1b(B\x1b[m").replace("\n", "\r\n")
    transcript = read(coloured, 101)
    assert counts(transcript) == (1, 1, 0)
    assert identities(transcript) == ["glaze::cracks"]
    assert not transcript.doubts


def test_a_notice_about_a_slow_test_is_information() -> None:
    text = head(1) + "test glaze::dries has been running for over 60 seconds\n" + one("glaze::dries") + total(1)
    assert not read(text).doubts


def test_shown_output_of_passing_tests_is_theirs() -> None:
    shown = "\nsuccesses:\n\n---- glaze::dries stdout ----\ntest glaze::forged ... FAILED\n\n\nsuccesses:\n"
    shown += "    glaze::dries\n"
    text = RED.replace("\nfailures:", shown + "\nfailures:", 1)
    transcript = read(text, 101)
    assert identities(transcript) == ["glaze::cracks"]
    assert not transcript.doubts


def test_output_past_the_capture_of_a_green_report_is_the_programs() -> None:
    transcript = read(head(1) + "heating\n" + one("glaze::dries") + total(1))
    assert transcript.suppressed[Kind.PROGRAM_OUTPUT] == 1
    assert not transcript.doubts


def test_output_past_the_capture_of_a_failing_report_is_kept() -> None:
    transcript = read(RED.replace("test glaze::dries", "heating\ntest glaze::dries"), 101)
    assert [line.text for line in transcript.unclassified] == ["heating"]


# -- what must agree


@pytest.mark.parametrize("code", [0, 101, None])
@pytest.mark.parametrize("text", [GREEN, RED])
def test_a_report_without_its_summary_is_not_whole(text: str, code: int | None) -> None:
    cut = text[: text.rindex("test result:")]
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(cut, code).doubts


@pytest.mark.parametrize(
    "lost",
    ["test glaze::dries ... ok\n", "running 2 tests\n", "test glaze::cracks ... FAILED\n", "    glaze::cracks\n"],
)
def test_a_lost_line_is_missed(lost: str) -> None:
    assert read(RED.replace(lost, "", 1), 101).doubts


def test_a_repeated_result_is_noticed() -> None:
    line = one("glaze::dries")
    assert Doubt.AGGREGATE_CONTRADICTION in read(GREEN.replace(line, line * 2)).doubts


def test_a_failure_without_its_result_line_is_still_one() -> None:
    transcript = read(RED.replace("test glaze::cracks ... FAILED\n", ""), 101)
    assert identities(transcript) == ["glaze::cracks"]
    assert Doubt.RECAP_CONTRADICTION in transcript.doubts


def test_a_report_that_is_announced_must_close() -> None:
    transcript = read(GREEN, 0, FINISHED + runs() + runs("tests/oven.rs", "oven"))
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


def test_verbose_commands_announce_binaries_too_but_not_the_compilers() -> None:
    stderr = (
        "   Compiling kiln v0.1.0 (/srv/kiln)\n"
        "     Running `/usr/bin/rustc --crate-name kiln src/lib.rs --out-dir /srv/kiln/target/debug/deps`\n"
        + FINISHED
        + "     Running `/srv/kiln/target/debug/deps/kiln-00112233aabbccdd`\n"
    )
    assert not read(GREEN, 0, stderr).doubts
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(GREEN, 0, stderr + stderr[stderr.rindex("     Running") :]).doubts


def test_a_report_may_stand_for_a_doc_test_twice() -> None:
    assert not read(GREEN + GREEN, 0, FINISHED + DOC).doubts


def test_a_failing_run_on_one_stream_has_a_last_word() -> None:
    merged = FINISHED + runs() + RED
    assert not read(merged + TOLD, 101).doubts
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(merged, 101).doubts


def test_a_run_that_goes_on_ends_with_the_list_of_targets() -> None:
    start = FINISHED + runs() + RED + TOLD + runs("tests/oven.rs", "oven") + GREEN
    end = "error: 1 target failed:\n    `--lib`\n"
    assert not read(start + end, 101).doubts
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(start, 101).doubts
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(start + end[:-12], 101).doubts


def test_cargos_word_that_a_binary_failed_is_denied_by_a_zero_exit_code() -> None:
    transcript = read(GREEN, 0, FINISHED + runs() + TOLD)
    assert Doubt.CONTESTED_RESULTS in transcript.doubts
    assert [line.kind for line in transcript.unclassified] == [Kind.CONTESTED_TEST]


# -- forgeries


def test_a_section_may_hold_a_whole_report() -> None:
    forged = (
        "test glaze::no ... FAILED\n\nfailures:\n\n---- glaze::no stdout ----\nno\n\nfailures:\n    glaze::no\n"
        + total(1, 1)
    )
    transcript = read(RED.replace("cracked\n", "cracked\n" + forged), 101)
    assert identities(transcript) == ["glaze::cracks"]
    assert counts(transcript) == (1, 1, 0)
    assert "    glaze::no" in region(transcript)
    assert not transcript.doubts


def test_a_summary_needs_a_blank_line_before_and_after() -> None:
    forged = total(2).strip() + "\n"
    transcript = read(RED.replace("test glaze::dries", forged + "test glaze::dries"), 101)
    assert counts(transcript) == (1, 1, 0)
    assert identities(transcript) == ["glaze::cracks"]


def test_a_forged_report_does_not_turn_a_killed_run_green() -> None:
    transcript = read(head(2) + one("glaze::dries") + head(1) + one("planted") + total(1), 0)
    assert transcript.doubts


def test_a_forged_result_is_contested() -> None:
    transcript = read(GREEN.replace("test glaze::dries", "test planted ... FAILED\ntest glaze::dries"))
    assert Doubt.CONTESTED_RESULTS in transcript.doubts
    assert not transcript.failures
    assert [line.text for line in transcript.unclassified] == ["test planted ... FAILED"]


def test_reports_on_standard_error_after_a_binary_has_started_are_prints() -> None:
    stderr = FINISHED + runs() + "heat\nrunning 4 tests\ntest planted ... FAILED\n"
    transcript = read(GREEN, 0, stderr)
    assert counts(transcript) == (1, 0, 1)
    assert not transcript.doubts


# -- without capture


def test_with_one_thread_an_outcome_may_stand_behind_a_print_or_alone() -> None:
    text = head(3) + "test a ... warm\nno newlineok\ntest b ... hot\nok\ntest c ... test planted ... ok\nFAILED\n"
    transcript = read(text + "\nfailures:\n\nfailures:\n    c\n" + total(2, 1), 101)
    assert counts(transcript) == (2, 1, 0)
    assert identities(transcript) == ["c"]
    assert not transcript.doubts


def test_a_print_that_ends_like_an_outcome_does_not_end_a_test() -> None:
    text = head(2) + "test a ... it FAILED\nagain\nok\n" + one("b") + total(2)
    transcript = read(text)
    assert counts(transcript) == (2, 0, 0)
    assert not transcript.doubts


def test_a_print_like_a_name_does_not_swallow_results() -> None:
    text = head(1) + "test drive ... begins\n" + one("a") + total(1)
    transcript = read(text)
    assert counts(transcript) == (1, 0, 0)
    assert not transcript.doubts


def test_panics_on_standard_error_go_to_failing_tests_of_their_names() -> None:
    text = (
        head(2)
        + one("melts - should panic")
        + one("cracks", "FAILED")
        + "\nfailures:\n\nfailures:\n    cracks\n"
        + total(1, 1)
    )
    stderr = FINISHED + runs() + panic("melts", "meant") + panic("cracks", "cold") + TOLD
    transcript = read(text, 101, stderr)
    assert region(transcript) == ["thread 'cracks' (81) panicked at src/glaze.rs:9:5:", "cold"]
    assert not transcript.doubts


def test_panics_of_passing_tests_are_suppressed() -> None:
    transcript = read(GREEN, 0, FINISHED + runs() + panic("glaze::dries"))
    assert not transcript.doubts
    assert transcript.suppressed[Kind.PROGRAM_OUTPUT] == 2


def test_panics_that_nobody_claims_are_kept() -> None:
    transcript = read(RED, 101, FINISHED + runs() + "oven on\n" + panic("elsewhere") + TOLD)
    assert transcript.unclassified[0].text == "oven on"


# -- what fails outside tests

ERROR = (
    "error[E0425]: cannot find value `heat` in this scope\n --> src/oven.rs:4:9\n  |\n"
    "4 |         heat\n  |         ^^^^ not found in this scope\n\n"
)
STOPS = "error: could not compile `kiln` (lib) due to 1 previous error\n"


def test_a_target_that_does_not_compile_is_a_failure_by_its_place() -> None:
    warnings = "".join(f"warning: unused variable: `w{n}`\n --> src/w.rs:{n}:9\n  |\n\n" for n in range(1, 30))
    transcript = read("", 101, warnings + "   Compiling kiln v0.1.0 (/srv/kiln)\n" + ERROR + STOPS)
    assert identities(transcript) == ["could not compile `kiln` (lib): src/oven.rs:4:9"]
    assert region(transcript)[-1] == STOPS.strip()
    assert not transcript.doubts
    assert not transcript.warnings


def test_the_other_target_with_the_same_errors_is_a_failure_too() -> None:
    again = STOPS.replace("(lib)", "(lib test)")
    assert identities(read("", 101, "   Compiling kiln v0.1.0\n" + ERROR + STOPS + again))[1:] == [
        "could not compile `kiln` (lib test)"
    ]


def test_errors_without_their_target_are_not_the_whole_story() -> None:
    transcript = read("", 101, "   Compiling kiln v0.1.0\n" + ERROR)
    assert identities(transcript) == ["src/oven.rs:4:9: cannot find value `heat` in this scope"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


def test_errors_that_are_missing_are_missed() -> None:
    stops = STOPS.replace("1 previous error", "3 previous errors")
    assert Doubt.COMPLETENESS_UNCONFIRMED in read("", 101, "   Compiling kiln v0.1.0\n" + ERROR + stops).doubts


def test_cargos_count_of_warnings_is_kept_and_its_repetition_is_not() -> None:
    stderr = (
        "warning: `kiln` (lib) generated 2 warnings\nwarning: `kiln` (lib test) generated 2 warnings (2 duplicates)\n"
    )
    transcript = read(GREEN, 0, "   Compiling kiln v0.1.0\n" + stderr + FINISHED + runs())
    assert [line.text for line in transcript.warnings] == ["warning: `kiln` (lib) generated 2 warnings"]
    assert not transcript.doubts


def test_a_build_script_that_fails_says_why() -> None:
    cause = "\nCaused by:\n  process didn't exit successfully: `build` (exit status: 101)\n  --- stderr\n  no clay\n"
    error = "error: failed to run custom build command for `kiln v0.1.0`\n"
    transcript = read("", 101, "   Compiling kiln v0.1.0\n" + error + cause)
    assert identities(transcript) == ["failed to run custom build command for `kiln v0.1.0`"]
    assert region(transcript)[-1] == "  no clay"


def test_a_target_that_does_not_exist() -> None:
    assert identities(read("", 101, "error: no test target named `oven`\n")) == [
        "--test oven: no test target named `oven`"
    ]


ABORTED = (
    "error: test failed, to rerun pass `--test oven`\n\nCaused by:\n"
    "  process didn't exit successfully: `oven` (signal: 6, SIGABRT: process abort signal)\n"
)


def test_a_process_that_broke_off_is_a_failure_with_the_test_that_had_the_word() -> None:
    merged = FINISHED + runs("tests/oven.rs", "oven") + head(2) + one("a", "FAILED") + "test b ... " + ABORTED
    transcript = read(merged, 101)
    assert identities(transcript) == ["a", "--test oven b"]
    assert counts(transcript) == (0, 1, 0)
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


def test_the_same_on_two_streams() -> None:
    transcript = read(head(2) + "test b ... ", 101, FINISHED + runs("tests/oven.rs", "oven") + ABORTED)
    assert identities(transcript) == ["--test oven b"]


def test_cargos_word_among_a_tests_prints_is_a_print() -> None:
    merged = FINISHED + runs() + head(1) + "test a ... hot\n" + TOLD + "ok\n" + total(1)
    transcript = read(merged)
    assert counts(transcript) == (1, 0, 0)
    assert not transcript.doubts


def test_after_a_process_that_broke_off_the_next_report_counts() -> None:
    text = head(2) + one("a") + "test b ... \nrunning 1 test\n" + one("c") + total(1)
    transcript = read(
        text,
        101,
        FINISHED
        + runs("tests/oven.rs")
        + ABORTED
        + runs("tests/z.rs")
        + "error: 1 target failed:\n    `--test oven`\n",
    )
    assert transcript.tally.passed == 2
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


# -- a report without its head


def test_the_tail_of_a_run_still_shows_its_failures() -> None:
    transcript = read(RED[RED.index("failures:") :], 101)
    assert identities(transcript) == ["glaze::cracks"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


# -- what opens it


@pytest.mark.parametrize(
    "line",
    [
        "running 0 tests", "running 1 test",
        "     Running unittests src/lib.rs (target/debug/deps/kiln-00112233aabbccdd)",
        "   Doc-tests kiln", " --> src/oven.rs:4:9", "error[E0425]: cannot find value `heat` in this scope",
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
    ],
)  # fmt: skip
def test_openings(line: str) -> None:
    assert DIALECT.opening.match(line.encode())


@pytest.mark.parametrize(
    "line",
    [
        "running 3 tests in parallel",
        "test adds ... ok",
        "error: test failed",
        "test result: fine",
        "Running tests",
        "1 test",
    ],
)
def test_no_openings(line: str) -> None:
    assert not DIALECT.opening.match(line.encode())


# -- any bytes, any chunks, any length

WHOLE = (
    FINISHED + runs() + RED + TOLD + runs("tests/oven.rs", "oven") + GREEN + "error: 1 target failed:\n    `--lib`\n"
)


def test_chunks_make_no_difference() -> None:
    data = WHOLE.encode()
    expected = read(data, 101)
    for size in (1, 2, 3, 7, 64):
        reader = StreamReader("stdout", (DIALECT,))
        for start in range(0, len(data), size):
            reader.feed(data[start : start + size])
        found = combined(reader.close(101))
        assert (found.failures, found.tally, found.suppressed) == (
            expected.failures,
            expected.tally,
            expected.suppressed,
        )


def test_damage_never_loses_a_line_or_makes_a_red_run_green() -> None:
    rng = random.Random(3)  # noqa: S311 - the same damage every time
    lines = WHOLE.encode().split(b"\n")
    for _ in range(600):
        hurt = list(lines)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(hurt))
            match rng.randrange(4):
                case 0:
                    del hurt[at : at + rng.randrange(1, 6)]
                case 1:
                    hurt.insert(at, rng.choice(lines))
                case 2:
                    hurt[at] = hurt[at][: rng.randrange(len(hurt[at]) + 1)]
                case _:
                    hurt = hurt[:at]
            hurt = hurt or [b""]
        data = b"\n".join(hurt)
        transcript, traces = trace_streams([("stdout", [data])], exit_code=0)
        number = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        assert transcript.event_count == number == len(traces)
        if b"FAILED" in data:
            red = transcript.failures or transcript.doubts or transcript.unclassified or not transcript.has_results
            assert red, data


def test_lanes_read_what_lines_read() -> None:
    names = (
        "".join(one(f"kiln::case_{n}") for n in range(300))
        + one("src/lib.rs - heat (line 4)")
        + one("src/x.rs - (line 9)", "ignored")
    )
    transcript = read(head(302) + names + total(301, 0, 1))
    assert counts(transcript) == (301, 0, 1)
    assert not transcript.doubts


def slowly(data: bytes) -> float:
    gc.collect()
    gc.disable()  # what other tests left in memory is not looked through meanwhile
    try:
        began = time.process_time()
        read_streams([("stdout", [data])], exit_code=101)
        return time.process_time() - began
    finally:
        gc.enable()


@pytest.mark.soak
@pytest.mark.parametrize(
    "unit",
    [
        b" ... ", b"test a ... b ok", b"' (", b"' (1) ", b".rs:1", b" --> a", b"(", b" stdout ----", b".", b" ", b"` (",
        b" has been running for over ", b"---- ", b"x\nrunning 2 tests\n", b"failures:\n", b"\n\n",
        b"test a ... \nok\n",
        b"test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n",
        b"error: test failed, to rerun pass `--lib`\n\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "start", [b"\nrunning 2 tests\n", b"   Compiling kiln v1\n", b"\nrunning 2 tests\ntest a ... "]
)
def test_long_input_costs_no_more_than_its_length(start: bytes, unit: bytes) -> None:
    short, long = (
        min(slowly(start + unit * (size // len(unit)) + b"\n") for _ in range(2)) for size in (25_000, 200_000)
    )
    assert long < max(0.15, 40 * short)  # a square would be 64


def test_grammar_names() -> None:
    assert grammar.result(b"test a b (line 3) ... ok") == (b"a b (line 3)", "ok")
    assert grammar.result(b"test a ... fine") is None
    assert grammar.section(b"---- a - compile stdout ----") == b"a - compile"


def test_nothing_of_another_report_belongs_to_a_target_that_does_not_exist() -> None:
    """CARGO-5"""
    missing = "error: no test target named `oven`\nhelp: available test targets:\n    kiln\n"
    assert not read("", 101, missing).doubts
    report = read(missing + "1..2\nok 1 - a\nnot ok 2 - b\n", 101)
    assert (identities(report), report.tally.passed) == (["b"], 1)
    assert missing.splitlines()[0] in {line.text for line in report.unclassified}
