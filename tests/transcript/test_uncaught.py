"""Uncaught errors on standard error, given to the files that failed for them (PROC-7)."""

import pytest
from tap_story import told

TAP = "TAP version 14\nnot ok 1 - tea/cup.test.js\nok 2 - tea/pot.test.js\n1..2\n"
SYNTAX = (
    "/srv/tea/cup.test.js:3\npour(;\n     ^\n\nSyntaxError: Unexpected token ';'\n"
    "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n\nNode.js v22.1.0\n"
)
MISSING = (
    "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module './kettle'\n"
    "Require stack:\n- /srv/tea/cup.test.js\n    at load (node:internal/modules/loader:1140:15)\n\nNode.js v22.1.0\n"
)


@pytest.mark.parametrize("text", [SYNTAX, MISSING])
def test_an_uncaught_error_goes_with_its_file(text: str) -> None:
    """PROC-7."""
    story = told(TAP, 1, stderr=text)
    assert (story.verdict, story.failures, story.unclassified) == ("failed", ["tea/cup.test.js"], [])
    (failure,) = story.transcript.failures
    assert [line.text for line in failure.lines() if line.stream == "stderr"] == [
        one for one in text.split("\n") if one
    ]
    assert story.transcript.event_count == f"{TAP}{text}".count("\n")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"warming up\n{SYNTAX}", 1),
        (SYNTAX.replace("cup", "pan"), 6),
        (SYNTAX.replace("tea/cup.test.js", "cup.test.js"), 6),
        (SYNTAX.replace("\nNode.js v22.1.0\n", ""), 5),
        (SYNTAX.replace("     ^\n", ""), 5),
        (SYNTAX.removeprefix("/srv/tea/cup.test.js:3\n"), 5),
    ],
)
def test_what_is_no_block_of_a_failing_file_stays_unclassified(text: str, left: int) -> None:
    """P4."""
    story = told(TAP, 1, stderr=text)
    assert len(story.unclassified) == left
    assert story.verdict == "failed?"


def test_two_files_by_one_name() -> None:
    """P4: whose it is, nothing says."""
    both = TAP.replace("ok 2 - tea/pot.test.js", "not ok 2 - cup.test.js")
    assert len(told(both, 1, stderr=SYNTAX).unclassified) == 6
