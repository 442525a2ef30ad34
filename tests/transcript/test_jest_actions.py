"""jest's reporter for GitHub (JEST-8): beside the others its words are a second print, alone they are the account."""

import pytest

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams

ROOF, WALL, DOOR = "roof/tiles.test.js", "wall/bricks.test.js", "door/hinge.test.js"
LEAK = f"  ● roof › keeps dry\n\n    tile is loose\n\n      at lay ({ROOF}:4:9)\n\n"
BROKEN = "  ● Test suite failed to run\n\n    Cannot find module './mortar'\n\n"
NOTE = f"\n::error file=/srv/{ROOF},line=4,title=roof › keeps dry::tile is loose%0A    at lay ({ROOF}:4:9)\n"
GROUPS = (
    f"\n::group::Errors thrown in {ROOF}\n{LEAK}::endgroup::\n::group::Errors thrown in {WALL}\n{BROKEN}::endgroup::\n"
)
OWN = f"FAIL {ROOF}\n{LEAK}{NOTE}FAIL {WALL}\n{BROKEN}"
SUMS = (
    "\nTest Suites: 2 failed, 1 passed, 3 total\nTests:       1 failed, 2 passed, 3 total\nSnapshots:   0 total\n"
    "Time:        1 s\n"
)
TREES = (
    f"{NOTE}  FAIL {ROOF} (12 ms)\n    roof\n      ✕ keeps dry (3 ms)\n::group::  eaves\n      ✓ drip (1 ms)\n"
    f"::endgroup::\n::group::PASS {WALL} (0 ms)\n::endgroup::\n::group::PASS {DOOR} (9 ms)\n"
    f"    console.log\n      squeak\n\n      at Object.log ({DOOR}:2:3)\n\n  ✓ swings (1 ms)\n::endgroup::\n"
)  # fmt: skip
NAMES = [f"{ROOF} › roof › keeps dry", f"{WALL} › Test suite failed to run"]
GOOD = f"PASS {DOOR}\n"


def read(stderr: str, exit_code: int | None = 1) -> Transcript:
    return read_streams([("stdout", [b""]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def identities(transcript: Transcript) -> list[str]:
    return [failure.identity for failure in transcript.failures]


@pytest.mark.parametrize(
    "report",
    [
        OWN + GOOD + GROUPS,
        NOTE + f"FAIL {ROOF}\n{LEAK}" + GOOD + GROUPS + f"FAIL {WALL}\n{BROKEN}",
        NOTE + GROUPS,
        TREES + GROUPS,
        TREES.replace(NOTE, f"FAIL {ROOF}\n{LEAK}{NOTE}").replace(
            "::group::PASS door", f"FAIL {WALL}\n{BROKEN}{GOOD}::group::PASS door"
        )
        + GROUPS,
    ],
    ids=["behind", "before", "with-summary", "trees", "trees-and-default"],
)
def test_each_failure_once(report: str) -> None:
    transcript = read(report + SUMS)
    assert identities(transcript) == NAMES
    assert not transcript.doubts
    assert not transcript.unclassified
    assert (transcript.tally.passed, transcript.tally.failed, transcript.tally.total) == (2, 1, 3)


def test_trees_of_a_green_run() -> None:
    tests = "    ✓ steep\nand high (1 ms)\n    ○ thatch (1 ms)\n    ✎ slate (1 ms)\n"
    tree = f"::group::PASS {ROOF} (3 ms)\n  roof\n{tests}::endgroup::\n"
    sums = SUMS.replace("2 failed, 1 passed, 3", "1 passed, 1").replace(
        "1 failed, 2 passed", "1 skipped, 1 todo, 1 passed"
    )
    transcript = read(tree + sums, 0)
    assert not transcript.doubts
    assert not transcript.unclassified
    assert [line.text for line in transcript.todo] == ["    ✎ slate (1 ms)"]
    assert read(tree.replace("    ○ thatch (1 ms)\n", "") + sums, 0).doubts == {Doubt.AGGREGATE_CONTRADICTION}
    loose = read(tree.replace("    ✎", "    said the roof\n    ✎") + sums, 0)
    assert [line.text for line in loose.unclassified] == ["    said the roof"]


def test_annotations_and_trees_where_a_file_was_skipped() -> None:
    """No groups are printed then."""
    trees = TREES.replace(f"::group::PASS {WALL} (0 ms)\n::endgroup::\n", "")
    sums = SUMS.replace("2 failed, 1 passed, 3 total", "1 failed, 1 skipped, 1 passed, 2 of 3 total")
    transcript = read(trees + sums)
    assert identities(transcript) == [f"/srv/{ROOF} › roof › keeps dry"]
    assert not transcript.doubts
    assert not transcript.unclassified
    for lost in (NOTE, f"  FAIL {ROOF} (12 ms)\n", "      ✕ keeps dry (3 ms)\n", "      ✓ drip (1 ms)\n"):
        assert Doubt.AGGREGATE_CONTRADICTION in read(trees.replace(lost, "") + sums).doubts
    more = sums.replace("1 failed, 1 skipped, 1 passed, 2", "2 failed, 1 skipped, 1 passed, 3")
    assert Doubt.AGGREGATE_CONTRADICTION in read(trees + more).doubts  # a file that does not load


def test_alone_nothing_says_that_all_was_told() -> None:
    for text, names in ((NOTE, [f"/srv/{ROOF} › roof › keeps dry"]), (NOTE + GROUPS, NAMES)):
        transcript = read(text)
        assert identities(transcript) == names
        assert transcript.doubts == {Doubt.COMPLETENESS_UNCONFIRMED}


def test_what_printed_stands_once() -> None:
    """Jest 30 prints the console text of the last file in every group of errors."""
    printed = "    console.log\n      squeak\n\n      at Object.log (door/hinge.test.js:2:3)\n\n"
    groups = GROUPS.replace(LEAK, printed + LEAK).replace(BROKEN, printed + BROKEN)
    for report in (TREES + groups, OWN + GOOD + groups):
        transcript = read(report + SUMS)
        assert not transcript.doubts
        assert not any("squeak" in line.text for failure in transcript.failures for line in failure.details)
    first, second = read(NOTE + groups + SUMS).failures
    assert [sum("squeak" in line.text for line in one.details) for one in (first, second)] == [1, 0]


def test_tries_before_the_last_go_with_the_test() -> None:
    again = f"\n::warning file=/srv/{ROOF},line=4,title=RETRY 1: roof › keeps dry::tile was loose\n"
    transcript = read(again + OWN + GOOD + GROUPS + SUMS)
    assert not transcript.doubts
    assert transcript.failures[0].details[0].text == again.strip()
    sums = SUMS.replace("2 failed, 1 passed, 3", "1 passed, 1").replace("1 failed, 2 passed, 3", "1 passed, 1")
    assert read(again + GOOD + sums, 0).suppressed[Kind.TEST_DETAIL] == 1


def test_titles_and_places_as_they_come() -> None:
    note = "\n::error file=undefined,line=undefined,title=roof::slate::keeps dry::tile is loose\n"
    leak = LEAK.replace("roof › keeps dry", "roof::slate::keeps dry")
    transcript = read((OWN + GOOD + GROUPS + SUMS).replace(LEAK, leak).replace(NOTE, note))
    assert identities(transcript)[0] == f"{ROOF} › roof::slate::keeps dry"
    assert not transcript.doubts


@pytest.mark.parametrize(
    ("old", "new", "doubt"),
    [
        (f"\n{GROUPS}", f"\n{GROUPS.replace('tile is', 'tile was')}", Doubt.RECAP_CONTRADICTION),
        (LEAK + "::endgroup::\n", "::endgroup::\n", Doubt.STRUCTURE_CONTRADICTION),
        ("::endgroup::\n::group", "::group", Doubt.STRUCTURE_CONTRADICTION),
        (f"::group::Errors thrown in {WALL}\n{BROKEN}::endgroup::\n", "", Doubt.RECAP_CONTRADICTION),
        (NOTE, NOTE + NOTE.replace("keeps dry", "leaks"), Doubt.CONTESTED_RESULTS),
    ],
    ids=["other-text", "empty-group", "open-group", "group-lost", "annotation-of-nothing"],
)
def test_what_does_not_agree(old: str, new: str, doubt: Doubt) -> None:
    report = OWN + GOOD + GROUPS + SUMS
    assert report.count(old) == 1
    transcript = read(report.replace(old, new))
    assert doubt in transcript.doubts
    assert set(identities(transcript)) == set(NAMES)


def test_forged_groups_deny_no_green_run() -> None:
    sums = SUMS.replace("2 failed, 1 passed, 3", "1 passed, 1").replace("1 failed, 2 passed, 3", "1 passed, 1")
    for forged in (NOTE, GROUPS):
        transcript = read(GOOD + forged + sums, 0)
        assert not transcript.failures
        assert Doubt.CONTESTED_RESULTS in transcript.doubts


@pytest.mark.parametrize("report", [OWN + GOOD + GROUPS, TREES + GROUPS], ids=["default", "trees"])
@pytest.mark.parametrize("damage", ["cut", "lost", "twice"])
def test_damaged_reports(report: str, damage: str) -> None:
    """No damage loses a failure silently, and each line has one fate."""
    lines = (report + SUMS).splitlines(keepends=True)
    for at in range(len(lines)):
        hurt = {"cut": lines[:at], "lost": lines[:at] + lines[at + 1 :], "twice": lines[: at + 1] + lines[at:]}[damage]
        streams = [("stdout", [b""]), ("stderr", ["".join(hurt).encode()])]
        for code in (0, 1):
            transcript = read_streams(streams, exit_code=code)
            kept = sum(1 for failure in transcript.failures for _ in failure.lines())
            kept += len(transcript.unclassified) + len(transcript.todo) + len(transcript.warnings)
            assert kept + sum(transcript.suppressed.values()) == transcript.event_count == len(hurt)
            if not transcript.doubts and transcript.has_results:
                assert identities(transcript) == NAMES
        assert trace_streams(streams, exit_code=1) is not None


@pytest.mark.parametrize("above", ["", LEAK, OWN, GOOD, SUMS, f"{OWN}{SUMS}"])
@pytest.mark.parametrize("below", ["", SUMS])
def test_console_text_in_a_group_is_counted_once(above: str, below: str) -> None:
    """P3: whatever stands around it."""
    printed = f"    console.log\n      squeak\n\n      at Object.log ({DOOR}:2:3)\n\n"
    group = f"\n::group::Errors thrown in {ROOF}\n{printed}{LEAK}::endgroup::\n"
    again = f"::group::Errors thrown in {WALL}\n{printed}{BROKEN}::endgroup::\n"
    for text in (above + group + below, above + group + again + below, group + above + again + below):
        assert read(text).event_count == text.count("\n")
