"""jest's reporters: every form they take, and what must not be taken for it."""

import random
import time

import pytest

from context_firewall.transcript.dialects.jest import DIALECT
from context_firewall.transcript.dialects.jest_grammar import file_line, frame
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import StreamReader, read_streams, trace_streams

ROOF = "roof/tiles.test.js"
WALL = "wall/bricks.test.js"


def totals(suites: str, tests: str, ran: str = "Ran all test suites.\n") -> str:
    return f"Test Suites: {suites}\nTests:       {tests}\nSnapshots:   0 total\nTime:        0.4 s\n{ran}"


def block(title: str, message: str = "tile is loose", place: str = f"{ROOF}:4:9") -> str:
    source = "      3 |\n    > 4 |   lay();\n        |   ^\n      5 |\n"
    return f"  ● {title}\n\n    {message}\n\n{source}\n      at lay ({place})\n\n"


RED = f"FAIL {ROOF}\n{block('roof › keeps dry')}PASS {WALL}\n\n" + totals(
    "1 failed, 1 passed, 2 total", "1 failed, 4 passed, 5 total"
)
TREE = f"PASS {ROOF}\n  ✓ flat (3 ms)\n  roof\n    ✓ steep\n    ○ skipped thatch\n    ✎ todo slate\n\n"
GREEN = TREE + totals("1 passed, 1 total", "1 skipped, 1 todo, 2 passed, 4 total")


def read(stderr: str | bytes, exit_code: int | None = 0, stdout: str = "") -> Transcript:
    data = stderr.encode() if isinstance(stderr, str) else stderr
    return read_streams([("stdout", [stdout.encode()]), ("stderr", [data])], exit_code=exit_code)


def counts(transcript: Transcript) -> tuple[int, int, int, int]:
    tally = transcript.tally
    return tally.passed, tally.failed, tally.skipped, tally.todo


def identities(transcript: Transcript) -> list[str]:
    return [failure.identity for failure in transcript.failures]


def region(transcript: Transcript, at: int = 0) -> list[str]:
    return [line.text for line in transcript.failures[at].details]


# -- forms of lines


@pytest.mark.parametrize(
    ("line", "failed", "path"),
    [
        ("PASS roof/tiles.test.js", False, ROOF),
        (" FAIL  roof/tiles.test.js", True, ROOF),
        ("PASS ./tiles.spec.tsx (5.124 s)", False, "./tiles.spec.tsx"),
        ("PASS a.test.js (6.2 s, 41 MB heap size)", False, "a.test.js"),
        ("FAIL attic roof/tiles.test.js", True, "attic roof/tiles.test.js"),
        (" FAIL   attic  roof/tiles.test.js", True, "attic roof/tiles.test.js"),
    ],
)
def test_file_lines(line: str, failed: bool, path: str) -> None:
    found = file_line(line.encode())
    assert found is not None
    assert (found.failed, found.path.decode()) == (failed, path)


@pytest.mark.parametrize(
    "line",
    [
        "PASS",
        "FAIL\texample.org/roof\t0.1s",
        "FAIL  roof/tiles.test.ts > roof > keeps dry",
        "FAIL  roof/tiles.test.ts [ roof/tiles.test.ts ]",
        "PASS everything",
        "  PASS roof/tiles.test.js",
        "PASSED roof/tiles.test.js",
    ],
)
def test_what_is_no_file_line(line: str) -> None:
    assert file_line(line.encode()) is None
    assert DIALECT.opening.match(line.encode()) is None


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("      at Object.toBe (roof/tiles.test.js:4:9)", ROOF),
        ("      at roof/tiles.test.js:4:9", ROOF),
        ("      at Object.<anonymous> (roof/tiles.test.js:4:9)", ROOF),
        ("    meet at noon: roof", None),
    ],
)
def test_frames(line: str, file: str | None) -> None:
    found = frame(line.encode())
    assert (found.decode() if found else None) == file


# -- whole reports


def test_a_green_report_keeps_only_what_is_to_do() -> None:
    transcript = read(GREEN)
    assert counts(transcript) == (2, 0, 1, 1)
    assert not transcript.doubts
    assert [line.text for line in transcript.todo] == ["    ✎ todo slate"]
    assert transcript.suppressed[Kind.SUCCESSFUL_TEST] == 3


def test_a_red_report() -> None:
    transcript = read(RED, 1)
    assert counts(transcript) == (4, 1, 0, 0)
    assert identities(transcript) == [f"{ROOF} › roof › keeps dry"]
    assert region(transcript)[1] == "    tile is loose"
    assert not transcript.doubts


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_either_stream_and_any_chunks(stream: str) -> None:
    data = RED.encode()
    whole = read_streams([(stream, [data])], exit_code=1)
    for size in (1, 3, 17, 64):
        pieces = [data[i : i + size] for i in range(0, len(data), size)]
        assert read_streams([(stream, pieces)], exit_code=1) == whole


def test_colours_and_a_terminal() -> None:
    painted = RED.replace("FAIL ", "\x1b[7m\x1b[31m FAIL \x1b[39m\x1b[27m ").replace("\n", "\r\n")
    status = "\r\x1b[K\x1b[1A\r\n\x1b[33m RUNS \x1b[39m ...\r\n"
    transcript = read(status + "\r\x1b[K" + painted, 1)
    assert identities(transcript) == [f"{ROOF} › roof › keeps dry"]
    assert not transcript.doubts


def test_several_errors_of_one_test_are_one_failure() -> None:
    text = f"FAIL {ROOF}\n{block('leaks')}{block('leaks', 'gutter is full')}"
    transcript = read(text + totals("1 failed, 1 total", "1 failed, 1 total"), 1)
    assert identities(transcript) == [f"{ROOF} › leaks"]
    assert "    gutter is full" in region(transcript)


def test_statements_before_the_failing_one_belong_to_the_account() -> None:
    run = RED.replace("      3 |\n", "      2 | it('x', () => {\n      3 |   nail();\n")
    kinds = {line.text.strip(): line.kind for line in read(run, 1).failures[0].details}
    assert kinds["3 |   nail();"] is Kind.FAILURE_DETAIL
    assert kinds["2 | it('x', () => {"] is kinds["5 |"] is Kind.FAILURE_CONTEXT


def test_tests_that_share_a_name_are_several() -> None:
    tree = "  ✕ leaks\n  ✕ leaks (1 ms)\n  ✕ bends\n\n"
    blocks = block("bends") + block("bends", "twice") + block("leaks") + block("leaks", "again")
    transcript = read(f"FAIL {ROOF}\n{tree}{blocks}{totals('1 failed, 1 total', '3 failed, 3 total')}", 1)
    assert identities(transcript) == [f"{ROOF} › bends", f"{ROOF} › leaks", f"{ROOF} › leaks"]
    assert not transcript.doubts


def test_a_file_that_fails_as_a_whole() -> None:
    text = f"FAIL {ROOF}\n{block('Test suite failed to run')}{totals('1 failed, 1 total', '0 total')}"
    transcript = read(text, 1)
    assert identities(transcript) == [f"{ROOF} › Test suite failed to run"]
    assert counts(transcript) == (0, 0, 0, 0)


def test_a_name_with_line_ends() -> None:
    tree = "  ✕ two\nlines (2 ms)\n  ✓ one\n\n"
    text = f"FAIL {ROOF}\n{tree}{block('two' + chr(10) + 'lines')}"
    transcript = read(text + totals("1 failed, 1 total", "1 failed, 1 passed, 2 total"), 1)
    assert identities(transcript) == [f"{ROOF} › two lines"]
    assert not transcript.doubts


def test_a_test_by_the_name_of_console() -> None:
    transcript = read(f"FAIL {ROOF}\n{block('Console')}{totals('1 failed, 1 total', '1 failed, 1 total')}", 1)
    assert identities(transcript) == [f"{ROOF} › Console"]


def test_console_text_goes_with_a_failing_file() -> None:
    console = f"  ● Console\n\n    console.log\n      PASS fake.test.js\n\n      at log ({ROOF}:2:3)\n\n"
    red = RED.replace(f"FAIL {ROOF}\n", f"FAIL {ROOF}\n{console}")
    assert "      PASS fake.test.js" in region(read(red, 1))
    green = f"PASS {ROOF}\n{console}\n{totals('1 passed, 1 total', '1 passed, 1 total')}"
    assert read(green).suppressed[Kind.PROGRAM_OUTPUT] == 6


def test_console_text_in_the_other_stream() -> None:
    wet, dry = (
        f"  console.log\n    {word}\n\n      at log ({at}:2:3)\n\n" for word, at in (("wet", ROOF), ("dry", WALL))
    )
    stdout = f"{wet}{dry}raw\n"
    transcript = read(RED, 1, stdout)
    assert "    wet" in region(transcript)
    assert "    dry" not in region(transcript)
    assert not transcript.unclassified
    assert not transcript.doubts
    _, traces = trace_streams([("stdout", [stdout.encode()]), ("stderr", [RED.encode()])], exit_code=1)
    assert len(traces) == transcript.event_count


def test_a_piece_of_another_report_beside_it_is_not_counted() -> None:
    transcript = read(GREEN, 0, "ok 1 - printed\nnot ok 2 - printed\n")
    assert counts(transcript) == (2, 0, 1, 1)
    assert Doubt.UNCLASSIFIED_EVIDENCE in transcript.doubts
    whole = read(GREEN, 1, "TAP version 13\nok 1 - a\nnot ok 2 - b\n1..2\n# tests 2\n# pass 1\n# fail 1\n")
    assert identities(whole) == ["b"]


def test_a_recap_is_not_counted_again() -> None:
    recap = f"Summary of all failing tests\nFAIL {ROOF}\n{block('roof › keeps dry')}\n"
    transcript = read(RED.replace("\nTest Suites", f"\n{recap}Test Suites"), 1)
    assert identities(transcript) == [f"{ROOF} › roof › keeps dry"]
    assert not transcript.doubts
    other = recap.replace("keeps dry", "keeps warm")
    assert Doubt.RECAP_CONTRADICTION in read(RED.replace("\nTest Suites", f"\n{other}Test Suites"), 1).doubts


def test_a_recap_may_be_the_only_account() -> None:
    text = f"Summary of all failing tests\nFAIL {ROOF}\n{block('leaks')}\n"
    transcript = read(text + totals("1 failed, 24 passed, 25 total", "1 failed, 30 passed, 31 total"), 1)
    assert identities(transcript) == [f"{ROOF} › leaks"]
    assert not transcript.doubts


def test_errors_before_another_try() -> None:
    retry = " LOGGING RETRY ERRORS  roof keeps dry\n RETRY 1 \n\n    first leak\n\n      at lay (a.js:4:9)\n\n"
    assert "    first leak" in region(read(retry + RED, 1))
    flaky = retry + GREEN
    assert read(flaky).suppressed[Kind.TEST_DETAIL] == 7


@pytest.mark.parametrize(
    "line",
    [
        'Jest: "global" coverage threshold for lines (90%) not met: 12%',
        'Jest: Coverage for lines (12%) does not meet "global" threshold (90%)',
    ],
)
def test_coverage_that_is_too_low_is_a_failure(line: str) -> None:
    transcript = read(GREEN.replace("Test Suites", f"{line}\nTest Suites"), 1)
    assert identities(transcript) == [line]


def test_a_console_call_after_the_end_fails_the_run() -> None:
    late = block(" Cannot log after tests are done. Did you forget to wait for something async in your test?")
    assert len(identities(read(GREEN.replace("Test Suites", f"{late}Test Suites"), 1))) == 1
    assert read(GREEN.replace("Test Suites", f"{late}Test Suites"), 0).failures == ()


def test_a_process_that_exits_in_a_test() -> None:
    text = block(' process.exit called with "3"', place=f"{WALL}:2:1")
    transcript = read(text, 3)
    assert identities(transcript) == [f'{WALL} › process.exit called with "3"']
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


def test_warnings_of_the_runner() -> None:
    hint = "(Use `node --trace-warnings ...` to show where the warning was created)\n"
    node = f"(node:77) ExperimentalWarning: VM Modules\n{hint}"
    stuck = "A worker process has failed to exit gracefully and has been force exited. More words.\n"
    after = (
        "Jest has detected the following 1 open handle potentially keeping Jest from exiting:\n\n  ●  TCPSERVERWRAP\n\n"
    )
    transcript = read(node + GREEN.replace("\nTest Suites", f"\n{stuck}Test Suites") + after)
    assert [line.text[:8] for line in transcript.warnings] == ["(node:77", "A worker", "Jest has", "  ●  TCP"]
    assert not transcript.doubts


def test_annotations_are_the_only_account_of_that_reporter() -> None:
    lines = "".join(f"\n::error file=/srv/{ROOF},line={n},title=leaks::drop {n}%0Aat noon\n" for n in (3, 4))
    assert identities(read(lines, 1)) == [f"/srv/{ROOF} › leaks"]
    assert identities(read(lines + RED.replace("roof › keeps dry", "leaks"), 1)) == [f"{ROOF} › leaks"]


@pytest.mark.parametrize(("said", "code"), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)])
def test_no_tests(said: int, code: int) -> None:
    """JEST-7."""
    transcript = read("", code, f"No tests found, exiting with code {said}\n")
    assert (Doubt.NO_TEST_EVIDENCE in transcript.doubts) is not (said == code == 1)
    looked = "Run with `--passWithNoTests` to exit with code 0\nIn /srv/a\n  1 file checked.\nPattern: b - 0 matches\n"
    for more, own in ((looked, True), (f"{looked}hammers\n", False), ('{"numFailedTests":1}\n', False)):
        transcript = read("", code, f"No tests found, exiting with code {said}\n{more}")
        assert (Doubt.NO_TEST_EVIDENCE in transcript.doubts) is not (said == code == 1 and own)
    assert bool(transcript.fatal_errors) == bool(said)


def test_a_configuration_error() -> None:
    usage = (
        "Usage: jest [--config=<pathToConfigFile>] [TestPathPatterns]\n\nOptions:\n  --all  Everything  [boolean]\n\n"
    )
    text = f"{usage}Documentation: https://jestjs.io/docs/cli\n\nThe --config option requires a JSON string literal.\n"
    transcript = read(text, 1)
    assert [line.text for line in transcript.fatal_errors] == ["The --config option requires a JSON string literal."]
    assert not transcript.doubts
    for more, code in (("", 0), ("", 2), ("hammers\n", 1), ("FAIL wall/bricks.test.js\n", 1), ("not ok 1 - b\n", 1)):
        assert read(text + more, code).doubts, more
    assert read(usage, 1).doubts


def test_two_runs_add_up() -> None:
    transcript = read(GREEN + GREEN.replace(ROOF, WALL))
    assert counts(transcript) == (4, 0, 2, 2)
    assert not transcript.doubts


# -- what must not be believed


@pytest.mark.parametrize("at", range(RED.count("\n")))
def test_a_cut_run_is_never_green(at: int) -> None:
    lines = RED.splitlines(keepends=True)[: at + 1]
    transcript = read("".join(lines), 0)
    assert transcript.doubts or transcript.failures or not transcript.has_results


@pytest.mark.parametrize("at", range(GREEN.count("\n") - 1))
def test_a_green_run_with_a_line_lost_or_repeated(at: int) -> None:
    lines = GREEN.splitlines(keepends=True)
    for hurt in (lines[:at] + lines[at + 1 :], lines[: at + 1] + lines[at:]):
        transcript = read("".join(hurt))
        if lines[at].strip() not in ("", "roof"):
            assert transcript.doubts or transcript.unclassified
        assert counts(transcript)[1] == 0


@pytest.mark.parametrize(
    "line", ["Tests:       99 passed, 99 total", "Test Suites: 1 passed, 1 total", f"PASS {ROOF}", "ok 1 - x", "plain"]
)
def test_a_forged_line_leaves_a_doubt(line: str) -> None:
    lines = GREEN.splitlines(keepends=True)
    for at in range(1, len(lines) - 5):
        transcript = read("".join([*lines[:at], f"{line}\n", *lines[at:]]))
        assert transcript.doubts or transcript.unclassified


def test_a_file_line_alone_proves_nothing() -> None:
    for line in (f"PASS {ROOF}\n", f"FAIL {ROOF}\n", f"PASS {ROOF}\n  ✕ fake (1 ms)\n  ● fake › failure\n"):
        transcript = read(line, 0)
        assert not transcript.has_results
        assert transcript.failures == ()
        assert transcript.unclassified


def test_failures_that_totals_and_exit_code_deny_are_contested() -> None:
    text = RED.replace("1 failed, 1 passed, 2", "2 passed, 2").replace("1 failed, 4 passed, 5", "5 passed, 5")
    transcript = read(text, 0)
    assert transcript.failures == ()
    assert Doubt.CONTESTED_RESULTS in transcript.doubts


def test_a_failure_that_lost_its_text() -> None:
    lost = RED.replace(
        "    tile is loose\n\n      3 |\n    > 4 |   lay();\n        |   ^\n      5 |\n\n      at lay", "\n@"
    )
    torn = RED.replace("      5 |\n", "      5 |\n      9 |\n")
    for text in (lost.replace(f"@ ({ROOF}:4:9)\n", ""), torn):
        assert Doubt.STRUCTURE_CONTRADICTION in read(text, 1).doubts


def test_an_interrupted_run() -> None:
    text = GREEN.replace("Ran all test suites.", "Test run was interrupted.")
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(text).doubts


def test_totals_that_do_not_add_up() -> None:
    assert Doubt.AGGREGATE_CONTRADICTION in read(GREEN.replace("2 passed, 4 total", "2 passed, 5 total")).doubts


@pytest.mark.parametrize("seed", range(40))
def test_any_bytes_count_once(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    lines = (RED + GREEN + "  console.log\n    x\n\nraw\n(node:1) Warning: x\n").encode().splitlines(keepends=True)
    hurt = b"".join(rng.choices(lines, k=60))[: rng.randrange(1, 4000)]
    for code in (0, 1, None):
        transcript = read(hurt, code)
        assert transcript.event_count == hurt.count(b"\n") + (not hurt.endswith(b"\n"))
        traced, traces = trace_streams([("stderr", [hurt])], exit_code=code)
        assert len(traces) == transcript.event_count
        assert traced.failures == transcript.failures


# -- size


def test_a_long_green_run_is_taken_in_runs() -> None:
    tests = "".join(f"    ✓ tile {n} (1 ms)\n" for n in range(40_000))
    files = "".join(f"PASS roof/t{n}.test.js\n  ✓ one\n\n" for n in range(500))
    text = f"PASS {ROOF}\n  roof\n{tests}\n{files}{totals('501 passed, 501 total', '40500 passed, 40500 total')}"
    transcript = read(text)
    assert counts(transcript) == (40_500, 0, 0, 0)
    assert not transcript.doubts


@pytest.mark.parametrize(
    "piece",
    [
        "  ✓",
        "PASS ",
        "  ● ",
        " › ",
        "at (",
        "Tests:       1 passed, ",
        " (1 ms)",
        "::error file=",
        "    > 1 |",
        "\x1b[",
    ],
)
def test_a_line_of_a_megabyte_costs_little(piece: str) -> None:
    line = (piece * (1_000_000 // len(piece))).encode()
    began = time.thread_time()
    for before in (b"", TREE.encode(), f"FAIL {ROOF}\n  ● x\n\n".encode()):
        reader = StreamReader("stderr", [DIALECT])
        reader.feed(before + line + b"\n")
        reader.close(0)
    assert time.thread_time() - began < 3
