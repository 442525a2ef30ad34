"""Standard error as a failure of its own (PROC-1 to PROC-3)."""

import pytest
from tap_story import told

from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.process_failure import LINES_AT_MOST, is_uncaught, process_failure

TAP = "1..1\nok 1 - tea\n"
UNCAUGHT = "/srv/tea/cup.js:5\nthrow new Error('spilt');\n^\n\nError: spilt\n    at pour (/srv/tea/cup.js:5:7)\n"
MISSING = (
    "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module './pot'\n"
    "Require stack:\n- /srv/tea/cup.test.js\n    at load (node:internal/modules/cjs/loader:1140:15)\n"
)
FRAMES = "TypeError: cold\n    at run (node:internal/x:1:2)\n    at pour (/srv/tea/cup.js:9:2)\n"


def lines(text: str) -> list[Line]:
    """Unclassified lines of standard error."""
    return [Line("stderr", n, Kind.UNCLASSIFIED, raw) for n, raw in enumerate(text.encode().splitlines(), 1)]


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        (UNCAUGHT, "/srv/tea/cup.js:5 Error: spilt"),
        (UNCAUGHT.replace("/srv", "file:///srv"), "file:///srv/tea/cup.js:5 Error: spilt"),
        (MISSING, "/srv/tea/cup.test.js Error: Cannot find module './pot'"),
        (FRAMES, "/srv/tea/cup.js:9:2 TypeError: cold"),
        ("cup.c: In function 'pour':\ncup.c:9:2: error: expected ';'\n", "cup.c:9:2 error: expected ';'"),
        ("cup.c:9: fatal error: no pot\ncup.c:9:2: error: no tea\n", "cup.c:9 fatal error: no pot"),
        (
            "1..1\nnot ok 1 bats-gather-tests\n# /srv/cup.bats: line 3: odd\n",
            "bats-gather-tests: /srv/cup.bats: line 3: odd",
        ),
        ("not ok 1 bats-gather-tests", "not ok 1 bats-gather-tests"),
        ("no tests here\n", "no tests here"),
        ("\n\n# no tests here\n", "no tests here"),
    ],
)
def test_identities(text: str, identity: str) -> None:
    """PROC-2."""
    found = process_failure(lines(text), "", alone=True)
    assert found is not None
    assert found.identity == identity
    assert len(list(found.lines())) == len(lines(text))
    beside = process_failure(lines(text), "", alone=False)
    assert (beside is None) is (identity in ("no tests here", "not ok 1 bats-gather-tests"))


def test_what_ran_comes_first() -> None:
    found = process_failure(lines(UNCAUGHT), "pours", alone=True)
    assert found is not None
    assert found.identity.startswith("pours > ")
    assert process_failure(lines("half a cup\n"), "pours", alone=False) is not None


@pytest.mark.parametrize("text", ["", "\n \n", "log\n" * (LINES_AT_MOST + 1)])
def test_what_is_no_account(text: str) -> None:
    assert process_failure(lines(text), "", alone=True) is None


@pytest.mark.parametrize("where", ["/srv/node_modules/tape/lib/x.js:3", "/opt/deno/std/x.js:3"])
def test_the_runner_itself(where: str) -> None:
    assert process_failure(lines(f"{where}\nthrow x\n^\n"), "", alone=True) is None


def test_uncaught() -> None:
    assert is_uncaught(lines(UNCAUGHT))
    assert not is_uncaught(lines(FRAMES))
    assert not is_uncaught(lines("/srv/tea/cup.js:5\nthrow x\n"))


@pytest.mark.parametrize(
    ("stream", "exit_code", "stderr", "failures"),
    [
        (TAP, 1, UNCAUGHT, ["/srv/tea/cup.js:5 Error: spilt"]),
        ("", 1, MISSING, ["/srv/tea/cup.test.js Error: Cannot find module './pot'"]),
        ("./spec/cup_spec.rb:9:pours\n", 1, "no sugar\n", []),
        ("", 1, "no sugar\n", ["no sugar"]),
        (TAP, 0, UNCAUGHT, []),
        (TAP, None, UNCAUGHT, []),
        ("1..1\nnot ok 1 - cup\n", 1, UNCAUGHT, ["cup"]),
        ("not ok 1 - cup\n", 1, UNCAUGHT, ["cup", "/srv/tea/cup.js:5 Error: spilt"]),
        ("not ok 1 - cup\n", 1, FRAMES, ["cup"]),
        (TAP + "Bail out!\n", 1, UNCAUGHT, []),
    ],
)
def test_when_it_counts(stream: str, exit_code: int | None, stderr: str, failures: list[str]) -> None:
    story = told(stream, exit_code, stderr=stderr)
    assert story.failures == failures
    assert story.verdict.endswith("?")
    own = len(failures) - ("cup" in failures)
    assert ("FAILURE_OUTSIDE_TESTS" in story.doubts) is bool(own)
    assert story.transcript.tally.failed == len(failures) - own


@pytest.mark.parametrize(
    "word",
    ['Error: No test files found: "tea/*.test.js"', "No test files found!", "error: No test modules found"],
)
def test_nothing_to_run(word: str) -> None:
    """PROC-5."""
    story = told("", 1, stderr=f"{word}\n")
    assert (story.verdict, story.failures, story.doubts) == ("failed", [], set())
    assert [line.raw.decode() for line in story.transcript.fatal_errors] == [word]
    assert told("", 0, stderr=f"{word}\n").verdict == "indeterminate?"
    for stdout, stderr in ((TAP, ""), ("brewing\n", ""), ("", "brewing\n"), ("", f"{word}\n")):
        story = told(stdout, 1, stderr=f"{word}\n{stderr}")
        assert story.verdict == "failed?"
        assert not story.transcript.fatal_errors


def test_letters_name_no_failure() -> None:
    """PROC-5."""
    story = told("", 7, stderr="F..s\nE")
    assert (story.failures, story.unclassified) == ([], ["F..s", "E"])
    assert story.verdict == "failed?"


def test_a_marker_on_standard_error() -> None:
    story = told(TAP, 1, stderr="FATAL: no water\n")
    assert [line.text for line in story.transcript.fatal_errors] == ["FATAL: no water"]
