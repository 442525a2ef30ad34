"""Warnings of runtimes among lines that no rule knows (READ-18)."""

import pytest
from tap_story import told

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.noise import NoiseRule
from context_firewall.transcript.reader import read_streams

GREEN = b"1..1\nok 1 - pours\n"

PYTHON = "/srv/tea/pot.py:7: DeprecationWarning: lid() is deprecated\n  pot.lid()\n"
SPOKEN = (
    "/srv/tea/pot.py:7: brew.LeafWarning: no leaves.\nThey will be oolong.\n\n  warnings.warn(LeafWarning(UNSET))\n"
)
NODE = (
    "(node:4711) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.\n"
    "(Use `node --trace-deprecation ...` to show where the warning was created)\n"
)
TRACED = (
    "(node:7) ExperimentalWarning: tea is experimental\n    at brew (/srv/tea/pot.js:3:1)\n    at node:internal:1:2\n"
)
BATS = (
    "\nThe following warnings were encountered during tests:\nBW02: Using flags on `run` is new.\n"
    "      (from function `run' in file run.bash, line 2,\n       in test file tea.bats, line 7)\n"
)
WARNINGS = [
    PYTHON,
    PYTHON.splitlines()[0],
    "/srv/tea/pot.py:7: RemovedInTea60Warning: lid\n",
    "sys:1: ResourceWarning: unclosed pot\nResourceWarning: Enable tracemalloc to get the object's traceback\n",
    SPOKEN,
    NODE,
    TRACED,
    "/srv/tea/pot.rb:7: warning: method redefined; discarding old lid\n",
    "PHP Deprecated:  lid() is deprecated in /srv/tea/pot.php on line 7\n",
    "PHP Warning:  cold in tea in /srv/pot.php on line 7\n",
    BATS,
    'Could not load "spec" reporter. Displaying raw TAP.\n',
    'npm warn Unknown env config "tea".\nnpm WARN old lockfile\n',
    "warning package.json: No license field\nwarning ../package.json: No license field\n",
    PYTHON + NODE + SPOKEN + TRACED,
]


def read(stdout: bytes, stderr: str, code: int = 0, *rules: NoiseRule) -> Transcript:
    """A run whose standard error is `stderr`."""
    return read_streams([("stdout", [stdout]), ("stderr", [stderr.encode()])], exit_code=code, noise=rules)


@pytest.mark.parametrize("text", WARNINGS)
def test_what_is_a_warning(text: str) -> None:
    transcript = read(GREEN, text)
    said = [line for line in text.splitlines() if line]
    assert [line.raw.decode() for line in transcript.warnings] == said
    assert not transcript.unclassified
    assert not transcript.doubts


@pytest.mark.parametrize("text", WARNINGS)
@pytest.mark.parametrize(
    ("plain", "printed"),
    [("\n", "\r\n"), ("arning", "arn\x1b[1ming"), ("npm ", "\x1b[35mnpm \x1b[0m"), ("PHP", "P\x1b[1mHP")],
)
def test_in_colour_and_with_carriage_returns(text: str, plain: str, printed: str) -> None:
    transcript = read(GREEN, text.replace(plain, printed))
    assert len(transcript.warnings) == len([line for line in text.splitlines() if line])
    assert not transcript.unclassified


@pytest.mark.parametrize("text", [PYTHON, "PHP Warning:  cold in tea in /srv/pot.php on line 7\n"])
@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_behind_much_text(text: str, count: int) -> None:
    transcript = read(GREEN, "tea\n" * count + text)
    assert len(transcript.warnings) == len(text.splitlines())
    assert len(transcript.unclassified) == count


@pytest.mark.parametrize("text", WARNINGS)
def test_beside_other_text_and_among_it(text: str) -> None:
    transcript = read(GREEN, f"before\n{text}\nafter\n")
    assert [line.raw for line in transcript.unclassified] == [b"before", b"after"]
    story = told(GREEN.decode() + text)
    assert story.verdict == "passed"
    assert not story.unclassified


@pytest.mark.parametrize(
    "text",
    [
        "DeprecationWarning: lid() is deprecated\n",
        "pot.py: DeprecationWarning: lid\n",
        "pot.py:7: Warnings: lid\n",
        "pot.py:7: warning: lid\n",
        "pot.c:7:2: warning: unused variable\n",
        "pot.py:7: ValueError: lid\n",
        "(node:x) Warning: lid\n",
        "(node:1) Warning lid\n",
        " (node:1) Warning: lid\n",
        "(Use `node --trace-warnings ...` to show where the warning was created)\n",
        "    at brew (/srv/tea/pot.js:3:1)\n",
        "PHP Fatal error:  Uncaught Error in /srv/pot.php on line 7\n",
        "PHP Warning:  cold in /srv/pot.php on line\n",
        "BW02: Using flags on `run` is new.\n",
        "npm warns\n",
        "warning: package.json is old\n",
        "warning package.json\n",
    ],
)
def test_what_is_none(text: str) -> None:
    transcript = read(GREEN, text)
    assert [line.raw.decode() for line in transcript.unclassified] == text.splitlines()
    assert not transcript.warnings


@pytest.mark.parametrize(
    ("between", "last"),
    [
        ("one\n", "  not the call\n"),
        ("one\n" * 12, "  warnings.warn(x)\n"),
        ("one\n\n\n", "  warnings.warn(x)\n"),
        ("", " warn()\n"),
        ("", "  1 test failed (x)\n"),
        ("", "  failing: 1\n"),
        ("", "  py311: FAIL code 1 (0.1 seconds)\n"),
        ("", "  not ok 1 - warns\n"),
        ("", "  1) warns\n"),
        ("", "  \u2717 warns\n"),
    ],
)
def test_where_a_message_of_pythons_is_not_over(between: str, last: str) -> None:
    """Only the first line is one then: what follows may be anything."""
    transcript = read(GREEN, PYTHON.splitlines()[0] + "\n" + between + last)
    assert len(transcript.warnings) == 1
    assert len(transcript.unclassified) == between.count("one") + 1


def test_contested_results_keep_theirs() -> None:
    story = told(f"1..2\nok 1\nnot ok 7\nok 2\n{NODE}", 0)
    assert NODE.splitlines()[0] in story.unclassified


def test_a_warning_fails_no_process_and_stands_in_the_account_of_what_did() -> None:
    alone = read(b"", PYTHON, 1)
    assert not alone.failures
    assert len(alone.warnings) == 2
    failure = read(b"", PYTHON + "boom\n", 1).failures[0]
    assert [line.raw for line in failure.lines()] == [*PYTHON.encode().splitlines(), b"boom"]
    assert Doubt.FAILURE_OUTSIDE_TESTS in read(b"", PYTHON + "boom\n", 1).doubts


@pytest.mark.parametrize("text", WARNINGS)
def test_no_declared_noise_takes_a_warning_or_a_part_of_it(text: str) -> None:
    """READ-11."""
    rules = [NoiseRule(prefix=line) for line in text.splitlines() if line]
    for declared in (rules, rules[:1], rules[-1:]):
        assert read(GREEN, text, 0, *declared) == read(GREEN, text)
