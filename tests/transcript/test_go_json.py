"""The events of go test -json: whose they are, what must agree, and what is no event."""

import json
import random
import time

import pytest

from context_firewall.transcript.dialects.go_json import DIALECT, event_of
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import StreamReader, read_streams

P = "example.org/quay/berths"
Q = "example.org/quay/lights"


def event(action: str, package: str | None = P, **more: object) -> str:
    row: dict[str, object] = {"Time": "2026-03-14T09:26:53.589793238Z", "Action": action}
    if package is not None:
        row["Package"] = package
    return json.dumps({**row, **more}, ensure_ascii=False, separators=(",", ":")) + "\n"


def out(text: str, test: str | None = None, package: str = P) -> str:
    return event("output", package, **({"Test": test} if test else {}), Output=text + "\n")


def begin(test: str, package: str = P) -> str:
    return event("run", package, Test=test) + out(f"=== RUN   {test}", test, package)


def end(test: str, word: str = "pass", package: str = P) -> str:
    return out(f"--- {word.upper()}: {test} (0.00s)", test, package) + event(word, package, Test=test, Elapsed=0)


def one(test: str, word: str = "pass", *prints: str, package: str = P) -> str:
    return begin(test, package) + "".join(out(line, test, package) for line in prints) + end(test, word, package)


def close(word: str = "pass", package: str = P, *, mark: bool = True) -> str:
    last = f"ok  \t{package}\t0.1s" if word == "pass" else f"FAIL\t{package}\t0.1s"
    marked = out("PASS" if word == "pass" else "FAIL", None, package) if mark else ""
    return marked + out(last, None, package) + event(word, package, Elapsed=0.1)


def start(package: str = P) -> str:
    return event("start", package)


def read(text: str, exit_code: int | None = 0) -> Transcript:
    return read_streams([("stdout", [text.encode()])], exit_code=exit_code)


def counts(transcript: Transcript) -> tuple[int, int, int]:
    return transcript.tally.passed, transcript.tally.failed, transcript.tally.skipped


def identities(transcript: Transcript) -> list[str]:
    return [failure.identity for failure in transcript.failures]


@pytest.mark.parametrize(
    "line",
    [
        b'{"Action":"pass","Action":"fail"}',
        b'{"Action":"explode"}',
        b'{"Action":1}',
        b'{"Action":"pass","Test":["x"]}',
        b'["Action"]',
        b'{"Action":"pass"',
        b'{"Output":"x"}',
        b"[" * 100_000,
    ],
)
def test_no_events(line: bytes) -> None:
    assert event_of(line) is None


def test_green() -> None:
    run = read(start() + one("TestA") + one("TestB", "skip", "    b: why") + close())
    assert counts(run) == (1, 0, 1)
    assert not run.doubts
    assert run.suppressed[Kind.SUCCESSFUL_TEST] == 1


def test_a_failure_and_its_parent() -> None:
    text = start() + begin("TestT") + one("TestT/a", "fail", '    t: "x"') + end("TestT", "fail") + close("fail")
    run = read(text, 1)
    assert identities(run) == [f"{P} TestT/a"]
    assert counts(run) == (0, 2, 0)
    assert [json.loads(line.text)["Output"] for line in run.failures[0].details] == ['    t: "x"\n']
    assert not run.doubts


def test_packages_take_turns() -> None:
    text = start() + start(Q) + begin("TestA") + begin("TestA", Q) + out("    q", "TestA", Q) + out("    p", "TestA")
    run = read(text + end("TestA", "fail") + end("TestA", "pass", Q) + close("pass", Q) + close("fail"), 1)
    assert identities(run) == [f"{P} TestA"]
    assert len(run.failures[0].details) == 1
    assert not run.doubts


def test_prints_of_a_test_are_its_own() -> None:
    run = read(
        start() + one("TestA", "pass", "--- FAIL: TestX (0.00s)", f"FAIL\t{Q}\t0.1s", "=== RUN   TestX") + close()
    )
    assert counts(run) == (1, 0, 0)
    assert not run.doubts


def test_outputs_without_a_newline() -> None:
    piece = event("output", Test="TestA", Output="no newline")
    run = read(start() + begin("TestA") + piece + end("TestA") + close())
    assert counts(run) == (1, 0, 0)
    assert not run.doubts


def test_package_without_tests() -> None:
    empty = start() + out(f"?   \t{P}\t[no test files]") + event("skip", Elapsed=0)
    run = read(empty + start(Q) + one("TestA", package=Q) + close(package=Q))
    assert counts(run) == (1, 0, 0)
    assert not run.doubts


def test_timeout() -> None:
    text = start() + begin("TestA") + out("panic: test timed out after 2s", "TestA") + out("\trunning tests:", "TestA")
    run = read(text + out("\t\tTestA (2s)", "TestA") + close("fail", mark=False), 1)
    assert identities(run) == [f"{P} TestA"]
    assert not run.doubts


def test_exit_inside_a_test() -> None:
    assert identities(read(start() + begin("TestA") + close("fail", mark=False), 1)) == [P]


def test_panic_stays_with_its_test() -> None:
    text = start() + begin("TestA") + out("--- FAIL: TestA (0.00s)", "TestA") + out("panic: x [recovered]", "TestA")
    run = read(text + event("fail", Test="TestA", Elapsed=0) + close("fail", mark=False), 1)
    assert identities(run) == [f"{P} TestA"]


def test_build_events() -> None:
    variant = f"{P} [{P}.test]"
    text = event("build-output", None, ImportPath=variant, Output=f"# {variant}\n")
    text += event("build-output", None, ImportPath=variant, Output="a.go:1:2: undefined: rope\n")
    text += event("build-fail", None, ImportPath=variant) + start() + out(f"FAIL\t{P} [build failed]")
    run = read(text + event("fail", Elapsed=0, FailedBuild=variant), 1)
    assert identities(run) == [P]
    assert len(run.failures[0].details) == 2
    assert not run.doubts


def test_benchmarks_have_no_result() -> None:
    text = start() + begin("BenchmarkA") + out("BenchmarkA-8 \t 10\t 5 ns/op", "BenchmarkA")
    run = read(text + event("bench", Test="BenchmarkA") + close())
    assert not run.failures
    assert not run.doubts


# -- events made from text (Go 1.19 and earlier)


def test_text_decides_where_events_can_be_forged() -> None:
    forged = out("--- FAIL: TestX (0.00s)", "TestX") + event("fail", Test="TestX", Elapsed=0)
    run = read(begin("TestA") + forged + end("TestA") + one("TestB") + close())
    assert counts(run) == (2, 0, 0)
    assert not run.failures
    assert Doubt.CONTESTED_RESULTS in run.doubts


def test_old_events_that_agree() -> None:
    run = read(one("TestA") + one("TestB", "fail", "    b: 1") + close("fail"), 1)
    assert identities(run) == [f"{P} TestB"]
    assert not run.doubts


def test_build_failure_as_text() -> None:
    run = read(f"FAIL\t{Q} [build failed]\n" + one("TestA") + close() + "FAIL\texample.org/z [setup failed]\n", 1)
    assert identities(run) == [Q, "example.org/z"]
    assert not run.doubts


# -- damage


@pytest.mark.parametrize(
    "text",
    [
        start() + one("TestA"),
        start() + start(Q) + one("TestA") + close(),
        start() + begin("TestA") + close(),
        start() + end("TestA") + close(),
        start() + one("TestA") + end("TestA") + close(),
        start() + event("run", Test="TestA") + end("TestA") + close(),
        start() + begin("TestA") + event("pass", Test="TestA") + close(),
        start() + one("TestA") + close(mark=False),
        start() + one("TestA") + event("pass"),
        start() + one("TestA") + close() + close(),
        start() + one("TestA") + out("FAIL") + close(),
        start() + one("TestA").replace('"Action":"pass"', '"Action":"skip"') + close(),
        start() + one("TestA") + close() + start(),
        start() + "{\n" + one("TestA") + close(),
        start() + one("TestA") + one("TestA", package=Q) + close(),
        one("TestA") + event("pass", Test="TestZ") + close(),
        one("TestA") + out("PASS"),
        one("TestA") + event("pass"),
        start() + start() + one("TestA") + close(),
    ],
)
def test_damage_is_never_a_quiet_pass(text: str) -> None:
    run = read(text)
    assert run.doubts or run.failures


STORY = (
    start()
    + start(Q)
    + "".join(one(f"TestG{i}", "pass", "    g: 1") for i in range(30))
    + one("TestA", "fail", "    a: 1", "said \u2318")
    + one("TestQ", package=Q)
    + close(package=Q)
    + close("fail")
)


def test_chunks_do_not_matter() -> None:
    whole = read(STORY, 1)
    data = STORY.encode()
    chance = random.Random(5)  # noqa: S311 - a repeatable choice, no secret
    for _ in range(30):
        reader = StreamReader("stdout", (DIALECT,))
        at = 0
        while at < len(data):
            step = chance.randint(1, 3000)
            reader.feed(data[at : at + step])
            at += step
        run = combined(reader.close(1))
        assert (run.tally, run.failures, run.suppressed) == (whole.tally, whole.failures, whole.suppressed)


def test_every_line_once_whatever_is_lost() -> None:
    lines = STORY.splitlines(keepends=True)
    chance = random.Random(3)  # noqa: S311 - a repeatable choice, no secret
    for _ in range(200):
        i, j = sorted(chance.sample(range(len(lines)), 2))
        kept = lines[:i] + lines[j:] if chance.random() < 0.5 else [*lines[:j], *lines[i:]]
        assert read("".join(kept), chance.choice([0, 1, None])).event_count == len(kept)


def test_traced_lines_are_the_suppressed_ones() -> None:
    for text in (STORY, one("TestA") + one("TestB", "fail") + close("fail")):
        reader = StreamReader("stdout", (DIALECT,), trace=True)
        reader.feed(text.encode())
        readings = reader.close(1)
        fates = {number for part in readings for number in (part.fates or {})}
        kept = {line.number for part in readings for line in part.kept_lines()}
        assert fates.isdisjoint(kept)
        assert fates | kept == set(range(1, text.count("\n") + 1))


@pytest.mark.parametrize(
    "line",
    [
        '{"Time":"' + "\\" * 1_000_000,
        '{"Action":"output","Output":"' + "\\u0041" * 200_000 + '"}',
        '{"Action":"output","Output":' + "[" * 1_000_000,
        '{"Time":"","Action":"run","Package":"' + "p" * 1_000_000,
    ],
)
def test_hostile_lines_take_linear_time(line: str) -> None:
    began = time.process_time()
    read(start() + line + "\n" + one("TestA", "fail", line) + line + "\n" + close("fail"), 1)
    assert time.process_time() - began < 2


def test_a_build_that_no_package_ends_with() -> None:
    """GO-6: the report breaks off behind what the compiler said."""
    said = event("build-output", None, ImportPath=P, Output="# berths\n")
    cut = read(said, 1)
    assert identities(cut) == [P]
    assert cut.doubts == {Doubt.COMPLETENESS_UNCONFIRMED}
    whole = said + event("build-fail", None, ImportPath=P) + start() + out(f"FAIL\t{P} [build failed]")
    assert not read(whole + event("fail", P, Elapsed=0, FailedBuild=P), 1).doubts


def test_a_report_whose_head_is_missing() -> None:
    """GO-6: if one package begins with `start`, all do; versions that mark frames have it, too."""
    torn = one("TestTides") + close()
    assert not read(torn).doubts
    assert read(torn + start(Q) + one("TestLamp", package=Q) + close(package=Q)).doubts == {
        Doubt.STRUCTURE_CONTRADICTION
    }
    framed = torn.replace('"Output":"=== RUN   TestTides\\n"', '"Output":"=== RUN   TestTides\\n","OutputType":"frame"')
    assert read(framed).doubts == {Doubt.STRUCTURE_CONTRADICTION}


def test_a_package_without_a_test() -> None:
    """GO-3: text that names no test does not say that there was none."""
    assert read(close()).doubts == {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.COUNTS_UNCONFIRMED}
