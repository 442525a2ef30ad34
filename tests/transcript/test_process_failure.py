"""Standard error as a failure of its own (PROC-1 to PROC-3, PROC-5, PROC-6)."""

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


BROKEN_OFF = {
    "mocha": (
        "\n Exception during run: /srv/tea/cup.test.js:2\npour(;\n     ^\n\nSyntaxError: Unexpected token ';'\n"
        "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n"
        "    at async exports.loadFilesAsync (/srv/tea/node_modules/mocha/lib/nodejs/esm-utils.js:103:20)\n",
        1,
    ),
    "an error with members": (
        "\n Exception during run: Error: Cannot find module './pot'\nRequire stack:\n- /srv/tea/cup.test.js\n"
        "    at exports.handleRequires (/srv/tea/node_modules/mocha/lib/cli/run-helpers.js:94:7) {\n"
        "  code: 'MODULE_NOT_FOUND',\n}\n",
        1,
    ),
    "deno": ("error: Module not found\n    at file:///srv/tea/cup_test.ts:1:15\n", 1),
    "deno's types": (
        "TS2322 [ERROR]: Type 'string' is not a number.\n    at file:///srv/tea/cup_test.ts:3:7\n\n"
        "error: Type checking failed.\n\n  hint: Re-run with --no-check to skip type-checking.\n",
        1,
    ),
    "PHPUnit": (
        "PHP Fatal error:  Uncaught ParseError: unexpected token in /srv/tea/CupTest.php:5\nStack trace:\n"
        "#0 /srv/tea/vendor/PHPUnit/Util/FileLoader.php(49): PHPUnit\\Util\\FileLoader::load()\n#1 {main}\n"
        "  thrown in /srv/tea/vendor/PHPUnit/TextUI/Command.php on line 99\n",
        255,
    ),
    "unittest": (
        'Traceback (most recent call last):\n  File "/usr/lib/python3.11/unittest/main.py", line 157, in createTests\n'
        "    self.test = loader.discover(start)\nImportError: Start directory is not importable: 'tea'\n",
        1,
    ),
    "Perl": (
        'syntax error at t/cup.t line 3, near "= ;"\nExecution of t/cup.t aborted due to compilation errors.\n',
        255,
    ),
    "prove": (
        "Cannot detect source of 't/cup.t'! at /usr/share/perl/5.36/TAP/Parser/IteratorFactory.pm line 256.\n"
        "\tTAP::Harness::runtests(TAP::Harness=HASH(0x5)) called at /usr/share/perl/5.36/App/Prove.pm line 5\n"
        "\tApp::Prove::run(App::Prove=HASH(0x5)) called at /usr/bin/prove line 13\n",
        2,
    ),
    "go": ("stat /srv/tea/cups: directory not found\n", 1),
    "go's options": (
        "flag provided but not defined: -sugar\nusage: go test [build/test flags] [packages]\n"
        "Run 'go help test' and 'go help testflag' for details.\n",
        2,
    ),
    "bats": ('Error: Test file "/srv/tea/cup.bats" does not exist\n', 1),
    "pytest": ("ERROR: file or directory not found: cup.py\n", 4),
    "pytest's conftest": (
        "ImportError while loading conftest '/srv/tea/conftest.py'.\nconftest.py:1: in <module>\n    import pot\n"
        "E   ModuleNotFoundError: No module named 'pot'\n",
        4,
    ),
}


@pytest.mark.parametrize(("text", "code"), BROKEN_OFF.values(), ids=BROKEN_OFF)
def test_a_run_that_broke_off_before_its_first_test(text: str, code: int) -> None:
    """PROC-6."""
    story = told("", code, stderr=text)
    assert (story.verdict, story.doubts, len(story.failures)) == ("failed", set(), 1)
    assert story.transcript.tally.total == 0
    for stdout, stderr in (
        (TAP, text),
        ("brewing\n", text),
        ("", text.removesuffix("\n")),
        ("", f"brewing\n{text}"),
        ("", text.replace("\n", "", 1).partition("\n")[2]),
    ):
        assert told(stdout, code, stderr=stderr).verdict == "failed?"


@pytest.mark.parametrize("name", ["mocha", "PHPUnit", "unittest", "deno's types"])
def test_without_the_line_that_proves_it(name: str) -> None:
    """PROC-6."""
    text, code = BROKEN_OFF[name]
    kept = [
        line
        for line in text.splitlines()
        if not any(word in line for word in ("loadFiles", "FileLoader", "createTests", "checking failed"))
    ]
    assert told("", code, stderr="\n".join(kept) + "\n").doubts == {"FAILURE_OUTSIDE_TESTS"}


@pytest.mark.parametrize("word", ["Uncaught (in promise) Error: cold", "Test failed", "(in promise) Error: cold"])
def test_what_deno_says_of_modules_that_run(word: str) -> None:
    """PROC-6."""
    story = told("", 1, stderr=f"error: {word}\n    at file:///srv/tea/cup_test.ts:1:15\n")
    assert story.verdict == "failed?"


def test_prove_says_that_there_are_no_tests() -> None:
    """PROC-6."""
    text, code = BROKEN_OFF["prove"]
    said = "Files=0, Tests=0,  0 wallclock secs ( 0.01 usr +  0.01 sys =  0.02 CPU)\nResult: NOTESTS\n"
    story = told(said, code, stderr=text)
    assert (story.verdict, story.doubts, len(story.failures)) == ("failed", set(), 1)
    assert told(said, code, stderr=f"brewing\n{text}").verdict == "failed?"


def test_a_program_that_exits_with_a_code_of_its_own() -> None:
    """PROC-6: Test::More counts the tests before it."""
    said = "# Looks like your test exited with 3 just after 1.\n"
    story = told(TAP, 3, stderr=said)
    assert (story.verdict, story.doubts, len(story.failures)) == ("failed", set(), 1)
    for stdout, code, stderr in (
        (TAP, 2, said),
        ("1..2\nok 1\nok 2\n", 3, said),
        ("ok 1 - tea\n", 3, said),
        (TAP, 3, f"{said}more\n"),
        (f"brewing\n{TAP}", 3, said),
    ):
        assert told(stdout, code, stderr=stderr).verdict == "failed?"


def test_pytests_exit_code_of_wrong_usage() -> None:
    """PROC-6."""
    text, _ = BROKEN_OFF["pytest"]
    assert told("", 1, stderr=text).doubts == {"FAILURE_OUTSIDE_TESTS"}
    session = f"{' test session starts ':=^60}\ncollected 0 items\n\n{' no tests ran in 0.01s ':=^60}\n"
    assert told(session, 4, stderr=text).verdict == "failed"
    assert told(session, 1, stderr=text).verdict == "failed?"
    expression = "ERROR: Wrong expression passed to '-k': (: at column 2: expected identifier\n"
    collected = session.replace("collected 0 items", "collected 3 items")
    assert told(collected, 4, stderr=expression).verdict == "failed"
    assert told(collected, 4).doubts == {"NO_TEST_EVIDENCE"}
    assert told(collected, 5, stderr=expression).verdict == "failed?"


def test_letters_name_no_failure() -> None:
    """PROC-5."""
    story = told("", 7, stderr="F..s\nE")
    assert (story.failures, story.unclassified) == ([], ["F..s", "E"])
    assert story.verdict == "failed?"


def test_a_marker_on_standard_error() -> None:
    story = told(TAP, 1, stderr="FATAL: no water\n")
    assert [line.text for line in story.transcript.fatal_errors] == ["FATAL: no water"]
