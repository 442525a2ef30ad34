"""Subtests in every spelling that producers use (TAP-7 to TAP-9)."""

import pytest
from tap_story import told

INNER = "    ok 1 - pours\n    {}ok 2 - stays warm\n    1..2\n"

SPELLINGS = {
    "announced": "1..1\n# Subtest: tea\n" + INNER + "{}ok 1 - tea\n",
    "announced inside": "1..1\n    # Subtest: tea\n" + INNER + "{}ok 1 - tea\n",
    "announced without a name": "1..1\n# Subtest\n" + INNER + "{}ok 1\n",
    "bare": "1..1\n" + INNER + "{}ok 1 - tea\n",
    "plan first": "1..1\n# Subtest: tea\n    1..2\n    ok 1 - pours\n    {}ok 2 - stays warm\n{}ok 1 - tea\n",
}
BRACES = "1..1\n{}ok 1 - tea {{\n    1..2\n    ok 1 - pours\n    {}ok 2 - stays warm\n}}\n"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_passing_subtest(spelling: str) -> None:
    story = told(SPELLINGS[spelling].format("", ""))
    assert (story.counts, story.verdict) == ((1, 0, 0, 0), "passed")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_failing_subtest_is_named_by_its_path(spelling: str) -> None:
    story = told(SPELLINGS[spelling].format("not ", "not "), 1)
    parent = "(unnamed test)" if "without" in spelling else "tea"
    assert (story.counts, story.verdict) == ((0, 1, 0, 0), "failed")
    assert [name.removeprefix(f"{parent} > ").removeprefix(" > ") for name in story.failures] == ["stays warm"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_parent_that_passes_over_a_failure(spelling: str) -> None:
    """TAP-8."""
    for exit_code in (0, 1):
        story = told(SPELLINGS[spelling].format("not ", ""), exit_code)
        assert "TREE_CONTRADICTION" in story.doubts
        assert len(story.failures) == 1
        assert story.verdict == "failed?"


def test_a_parent_that_fails_for_itself_is_a_failure_of_its_own() -> None:
    child = "# Subtest: tea\n    ok 1 - pours\n    1..1\n"
    story = told(f"1..1\n{child}not ok 1 - tea\n  ---\n  message: spilt\n  ...\n", 1)
    assert story.failures == ["tea"]


def test_braces() -> None:
    assert told(BRACES.format("", "")).verdict == "passed"
    assert told(BRACES.format("not ", "not "), 1).failures == ["tea > stays warm"]
    assert "TREE_CONTRADICTION" in told(BRACES.format("", "not ")).doubts


def test_deep_paths() -> None:
    down = "".join("    " * level + f"# Subtest: {level}\n" for level in range(6))
    up = "".join("    " * level + f"not ok 1 - {level}\n" + "    " * level + "1..1\n" for level in range(6, -1, -1))
    story = told(down + up, 1)
    assert story.failures == ["0 > 1 > 2 > 3 > 4 > 5 > 6"]
    assert story.verdict == "failed"


ORPHANS = {
    "at the end": "1..1\nok 1 - cup\n# Subtest: tea\n    not ok 1 - pours\n    1..1\n",
    "bare at the end": "1..1\nok 1 - cup\n    not ok 1 - pours\n    1..1\n",
    "before another": "1..1\n# Subtest: tea\n    not ok 1 - pours\n    1..1\n"
    "# Subtest: cup\n    ok 1 - a\n    1..1\nok 1 - cup\n",
    "under another name": "1..1\n# Subtest: tea\n    not ok 1 - pours\n    1..1\nnot ok 1 - cup\n",
}


@pytest.mark.parametrize("orphan", ORPHANS)
def test_orphans_keep_their_failures(orphan: str) -> None:
    """TAP-9."""
    for exit_code in (0, 1):
        story = told(ORPHANS[orphan], exit_code)
        assert any(name.endswith("pours") for name in story.failures)
        assert "STRUCTURE_CONTRADICTION" in story.doubts
        assert story.verdict == "failed?"


@pytest.mark.parametrize(
    "stream",
    [
        "1..1\n# Subtest: tea\n    ok 1 - pours\n",
        "1..1\n# Subtest: tea\n    1..3\n    ok 1 - pours\nok 1 - tea\n",
        "1..1\n# Subtest: tea\n    ok 1 - pours\nok 1 - tea\n",
        "1..1\nok 1 - tea {\n    1..2\n    ok 1 - pours\n",
        "1..1\nok 1 - tea {\n    1..2\n    ok 1 - pours\n}\n",
        "1..1\n# Subtest: tea\n    ok 1 - pours\n    1..1\nok 1 - cup\n",
        "1..1\n# Subtest: tea\n    Bail out! no water\nok 1 - tea\n",
        "1..1\nok 1 - tea\n    not ok 2 - alone\n",
        "1..1\nok 1 - tea\n  not ok 1 - indented by two\n",
    ],
)
def test_what_is_not_whole_is_no_pass(stream: str) -> None:
    assert told(stream).verdict == "indeterminate?"


def test_a_pragma_inside_does_not_leak() -> None:
    story = told("1..1\n# Subtest: tea\n    pragma +strict\n    ok 1 - a\n    1..1\nok 1 - tea\n")
    assert story.verdict == "passed"


def test_a_parent_that_names_a_place_of_its_own_stands_for_itself() -> None:
    """Test::More says at the parent where the subtest stands, which its child does not."""
    stream = (
        "1..1\n# Subtest: tea\n    not ok 1 - pours\n    #   Failed test 'pours'\n    #   at tea.t line 2.\n    1..1\n"
        "    # Looks like you failed 1 test of 1.\nnot ok 1 - tea\n#   Failed test 'tea'\n#   at tea.t line 3.\n"
        "# Looks like you failed 1 test of 1.\n"
    )
    assert told(stream, 1).failures == ["tea > pours", "tea"]


@pytest.mark.parametrize("opening", ["ok 1 - tea {", "ok 1 - tea # time=1ms {"])
def test_a_brace_that_opens_nothing_is_no_pass(opening: str) -> None:
    assert told(f"1..1\n{opening}\n").verdict == "indeterminate?"


def test_a_subtest_that_never_comes_is_no_pass() -> None:
    assert told("1..1\nok 1 - cup\n# Subtest: tea\n").verdict == "indeterminate?"


def test_a_failing_parent_does_not_excuse_a_lost_child() -> None:
    """P2: what it failed for is not in the packet, so the packet does not suffice."""
    child = "    ok 1 - pours\n    #   Failed test 'stays warm'\n    1..2\n    # Looks like you failed 1 test of 2.\n"
    stream = f"# Subtest: tea\n{child}not ok 1 - tea\n#   Failed test 'tea'\n1..1\n"
    assert told(stream, 1).verdict == "failed?"
