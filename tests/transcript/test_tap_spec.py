"""tap-spec's list of tests and assertions, and what must not be taken for it."""

import pytest
from run_story import assert_chunks_make_no_difference, assert_every_line_once, judged, names, texts

from context_firewall.transcript.dialects.tap_spec import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams


def title(name: str) -> str:
    return f"\n  {name}\n\n"


def passed(*names: str) -> str:
    return "".join(f"    ✔ {name}\n" for name in names)


def failed(name: str, *account: str) -> str:
    lines = ("    operator: equal", "    expected: 220", "Error: " + name, *account)
    body = "".join(f"  {line}\n" for line in lines)
    return f"\n    ✖ {name}\n    {'-' * (len(name) + 3)}\n{body}\n"


def listed(*tests: tuple[str, ...]) -> str:
    count = sum(len(names) for _, *names in tests)
    heading = f"\n  Failed Tests: There {'was' if count == 1 else 'were'} {count} failure{'s' * (count != 1)}\n"
    parts = (f"\n    {name}\n\n{''.join(f'      ✖ {one}' + chr(10) for one in names)}\n" for name, *names in tests)
    return f"{heading}{''.join(parts)}\n"


def totals(passing: int, failing: int = 0) -> str:
    lines = [f"total:     {passing + failing}", f"passing:   {passing}"]
    lines += [f"failing:   {failing}"] * bool(failing) + ["duration:  204ms"]
    return "\n\n" + "".join(f"  {line}\n" for line in lines) + "\n\n"


GREEN = title("lock fills") + passed("opens", "shuts") + title("lock drains") + passed("opens") + totals(3)
RED = (
    title("lock fills")
    + passed("opens")
    + title("lock holds")
    + failed("width")
    + failed("plan")
    + passed("floats")
    + "\n"
    + listed(("lock holds", "width", "plan"))
    + totals(2, 2).removeprefix("\n\n")
)


def read(text: str, exit_code: int | None = 1, stderr: str = "") -> Transcript:
    return read_streams([("stdout", [text.encode()]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def verdict(text: str, exit_code: int = 0) -> tuple[str, list[str]]:
    return judged(exit_code, stdout=text)


def tally(transcript: Transcript) -> tuple[int, int, int, int]:
    found = transcript.tally
    return found.passed, found.failed, found.skipped, found.todo


# -- the opening


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        (title("lock") + passed("opens"), True),
        (title("lock") + failed("width"), True),
        (title("lock") + "    a line of the TAP\n    another\n" + passed("opens"), True),
        (title("SKIP lock") + totals(0), True),
        ("\n  lock\n" + passed("opens"), False),
        ("\nlock\n\n" + passed("opens"), False),
        (passed("opens"), False),
        ("\n  lock\n    text\n" + passed("opens"), False),
        (title("lock") + "\n" + "    x\n" * 200 + passed("opens"), False),
        (title("lock") + "text\n" + passed("opens"), False),
    ],
)
def test_it_opens_below_a_title(text: str, opens: bool) -> None:
    """TSP-1 and READ-17."""
    _, traces = trace_streams([("stdout", [text.encode()])], exit_code=0)
    assert ("tap-spec" in {trace.dialect for trace in traces.values()}) is opens


MOCHA = (
    "\n\n  lock\n    ✔ opens\n    ✔ shuts\n    1) holds\n\n\n  2 passing (8ms)\n  1 failing\n\n"
    "  1) lock\n       holds:\n     Error: width\n      at x (a.js:1:2)\n\n\n\n"
)


def test_mochas_tree_stays_mochas() -> None:
    """READ-17: its titles stand right above tests. Where a test printed an empty line between, nothing is green."""
    assert names(read(MOCHA)) == ["lock holds"]
    assert judged(1, stdout=MOCHA)[1] == []
    printed = MOCHA.replace("  lock\n    ✔", "  lock\n\n    ✔", 1)
    assert verdict(printed)[0] != "passed"
    green = "\n\n  lock\n\n    ✔ opens\n\n\n  1 passing (8ms)\n\n"
    assert Doubt.AMBIGUOUS_DIALECT in read(green, 0).doubts


# -- whole runs


def test_a_whole_run() -> None:
    """TSP-2."""
    assert verdict(GREEN) == ("passed", [])
    assert tally(read(GREEN, 0)) == (3, 0, 0, 0)
    assert verdict(RED, 1) == ("failed", [])
    assert names(read(RED)) == ["lock holds > width", "lock holds > plan"]
    assert tally(read(RED)) == (2, 2, 0, 0)


def test_a_region() -> None:
    """TSP-3: all up to the empty line, but for the ruler; a line of it has two blanks even where it is empty."""
    text = title("lock") + failed("width", "", "✔ forged", "", "  total:     9", "passing:   9", "duration:  1ms", "  ")
    text += "\n" + listed(("lock", "width")) + totals(0, 1).removeprefix("\n\n")
    transcript = read(text)
    assert verdict(text, 1) == ("failed", [])
    region = texts(transcript.failures[0].lines())
    assert region[0] == "    ✖ width"
    assert region[-2:] == ["  duration:  1ms", "    "]
    assert not any(set(line.strip()) == {"-"} for line in region)


def test_skipped_and_unfinished_assertions() -> None:
    """TSP-4: a failed one is a failure, as tap-spec counts it."""
    lines = passed("opens", "is painted # TODO", "hums # todo later", "is odd # TODOX", "lifts # skip no wind")
    text = title("lock") + lines + "    - drains\n" + totals(6)
    transcript = read(text, 0)
    assert tally(transcript) == (2, 0, 2, 2)
    assert texts(transcript.todo) == ["    ✔ is painted # TODO", "    ✔ hums # todo later"]
    assert verdict(text) == ("passed", [])
    red = title("TODO lock") + failed("is lit # TODO") + "\n" + listed(("TODO lock", "is lit # TODO"))
    assert names(read(red + totals(0, 1).removeprefix("\n\n"))) == ["TODO lock > is lit # TODO"]


def test_a_failure_that_only_the_list_has() -> None:
    """TSP-3: TAP that says nothing about it."""
    text = title("lock") + passed("opens") + "\n" + listed(("lock", "width")) + totals(1, 1).removeprefix("\n\n")
    transcript = read(text)
    assert names(transcript) == ["lock > width"]
    assert verdict(text, 1) == ("failed", [])


def test_a_list_without_a_title_is_none() -> None:
    """TSP-3."""
    told = listed(("lock", "width")).replace("    lock\n\n", "")
    text = title("lock") + passed("opens") + "\n" + told + totals(1, 1).removeprefix("\n\n")
    assert Doubt.RECAP_CONTRADICTION in read(text).doubts


def test_a_failed_assertion_without_a_ruler_has_no_account() -> None:
    """TSP-3."""
    text = title("lock") + passed("opens") + "\n    ✖ width\n" + passed("shuts") + "\n" + listed(("lock", "width"))
    transcript = read(text + totals(2, 1).removeprefix("\n\n"))
    assert tally(transcript) == (2, 1, 0, 0)
    assert not transcript.doubts


def test_a_title_stands_alone() -> None:
    """TSP-1: a line right below an assertion is none."""
    text = RED.replace("    ✔ floats\n", "    ✔ floats\n  stray\n")
    assert texts(read(text).unclassified) == ["  stray"]


def test_two_failures_of_one_name() -> None:
    text = title("lock") + failed("width") * 2 + "\n" + listed(("lock", "width", "width"))
    transcript = read(text + totals(0, 2).removeprefix("\n\n"))
    assert names(transcript) == ["lock > width"] * 2
    assert not transcript.doubts


def test_lines_that_are_no_tap() -> None:
    """TSP-5: what tests print is the program's in a run that proves to be whole, and shown where something failed."""
    text = GREEN.replace("    ✔ shuts\n", "    creaking\n    ✔ shuts\n      total:     9\n")
    transcript = read("    before all\n" + text, 0)
    assert not transcript.unclassified
    assert transcript.suppressed[Kind.PROGRAM_OUTPUT] == 3
    shown = read(RED.replace("    ✔ opens\n", "    creaking\n    ✔ opens\n")).unclassified
    assert [(line.text, line.kind) for line in shown] == [("    creaking", Kind.PROGRAM_OUTPUT)]


def test_two_runs() -> None:
    transcript = read(GREEN + "\n> weir@1.0.0 test\n> tape weir.js | tap-spec\n\n" + RED)
    assert tally(transcript) == (5, 2, 0, 0)
    assert not transcript.doubts


@pytest.mark.parametrize("duration", ["9ms", "1.2s", "2m 3.4s", "1h 2m 3s"])
def test_durations(duration: str) -> None:
    assert verdict(GREEN.replace("204ms", duration)) == ("passed", [])


def test_colours() -> None:
    """As on a terminal, where a region and the empty lines behind it are one colour."""
    text = RED.replace("    operator", "\x1b[36m    operator").replace("Error: plan\n\n", "Error: plan\n\n\x1b[39m")
    text = text.replace("    ✔ opens", "    \x1b[32m✔\x1b[39m \x1b[2mopens\x1b[22m").replace("\n", "\r\n")
    assert verdict(text, 1) == ("failed", [])


# -- what is not whole, or denies itself


@pytest.mark.parametrize(
    ("old", "new", "doubt"),
    [
        ("  duration:  204ms\n", "", Doubt.COMPLETENESS_UNCONFIRMED),
        ("  failing:   2\n", "", Doubt.AGGREGATE_CONTRADICTION),
        ("  failing:   2\n", "  failing:   3\n", Doubt.AGGREGATE_CONTRADICTION),
        ("  passing:   2\n", "  passing:   1\n", Doubt.AGGREGATE_CONTRADICTION),
        ("  total:     4\n", "  total:     5\n", Doubt.AGGREGATE_CONTRADICTION),
        ("    ✔ floats\n", "", Doubt.AGGREGATE_CONTRADICTION),
        ("    ✔ floats\n", "    ✔ floats\n    - printed\n", Doubt.AGGREGATE_CONTRADICTION),
        ("      ✖ width\n", "", Doubt.RECAP_CONTRADICTION),
        ("      ✖ width\n", "      ✖ breadth\n", Doubt.RECAP_CONTRADICTION),
        ("There were 2 failures", "There were 3 failures", Doubt.RECAP_CONTRADICTION),
        ("  lock holds\n\n\n", "  lock breaks\n\n\n", Doubt.RECAP_CONTRADICTION),
        (listed(("lock holds", "width", "plan")), "", Doubt.RECAP_CONTRADICTION),
        ("      ✖ plan\n", "      ✖ plan\n    printed\n", Doubt.RECAP_CONTRADICTION),
    ],
)
def test_a_run_that_denies_itself(old: str, new: str, doubt: Doubt) -> None:
    """TSP-2 and P1."""
    assert old in RED
    text = RED.replace(old, new)
    assert doubt in read(text).doubts
    assert verdict(text)[0] != "passed"
    assert {"lock holds > width", "lock holds > plan"} <= {*names(read(text))} or "breaks" in text


def test_no_damaged_run_is_green() -> None:
    """P1: cut at whichever byte, without a line, or with one twice."""
    end = GREEN.index("204ms") + len("204ms")
    assert not [at for at in range(end - 1) if verdict(GREEN[:at])[0] == "passed"]
    lines = RED.splitlines(keepends=True)
    made = ["".join(lines[:at] + lines[at + count :]) for at in range(len(lines)) for count in (1, 2, 4)]
    made += ["".join(lines[: at + 1] + lines[at:]) for at in range(len(lines))]
    made += [RED[:at] for at in range(0, len(RED), 3)]
    assert not [text for text in made if verdict(text)[0] == "passed"]


@pytest.mark.parametrize(
    "forged",
    [
        title("Failed Tests: There was 1 failure") + "    lock holds\n      ✖ width\n",
        title("total:     9"),
        "    ✖ forged\n",
        "      total:     9\n      passing:   9\n",
    ],
)
def test_what_a_test_prints_ends_nothing(forged: str) -> None:
    """TSP-5: TAP that a test prints becomes titles and text, with tap-spec's blanks."""
    text = RED.replace("    ✔ floats\n", "    ✔ floats\n" + forged)
    transcript = read(text)
    assert names(transcript) == ["lock holds > width", "lock holds > plan"]
    assert verdict(text, 1) == ("failed", [])


def test_the_test_that_was_running() -> None:
    """TSP-2: an exception that nobody catches ends the TAP without a plan, and tap-spec prints no totals."""
    stderr = "/srv/lock.js:3\n  throw x\n  ^\n\nError: boom\n    at Timeout._onTimeout (/srv/lock.js:3:9)\n"
    transcript = read(title("lock") + passed("opens") + title("weir") + "\n\n", 1, stderr)
    assert names(transcript) == ["weir > /srv/lock.js:3 Error: boom"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in transcript.doubts


def test_a_run_without_an_assertion() -> None:
    """TSP-2."""
    assert Doubt.NO_TEST_EVIDENCE in read(title("SKIP lock") + totals(0), 0).doubts


@pytest.mark.parametrize("text", [GREEN, RED, RED[:300], RED + "x\n", RED.replace("  failing:   2\n", "") + "    x\n"])
def test_every_line_is_accounted_for_once(text: str) -> None:
    """P3."""
    assert_every_line_once(stdout=text)
    assert_chunks_make_no_difference(text)


def test_runs_of_passed_assertions() -> None:
    """A lane gives what single lines give."""
    text = title("lock") + passed(*(f"boat {n}" for n in range(3000)), "last # TODO") + totals(3001)
    assert tally(read(text, 0)) == (3000, 0, 0, 1)
    assert_every_line_once(stdout=text)


def test_it_reads_standard_output_alone() -> None:
    assert DIALECT.streams == {"stdout"}
