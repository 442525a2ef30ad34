"""The JSON reports of test runners: what each says of a run. A row a format; adding one is a function and a row.

mocha: `--reporter json`. `stats` counts `tests`, `passes`, `pending` and `failures`; each has a list of that name, and
what stands in the last three stands in `tests` too, save hooks, which are no tests.

jest: `--json`; Vitest: `--reporter=json`, made after it. `num…Tests` count the `assertionResults` of all
`testResults`, which are files. A file may fail without a test of it, or besides: then its `message` says so. Vitest's
`num…TestSuites` count files and the suites in them.

pytest: the plugin pytest-json-report. `summary` counts the outcomes of `tests`; `collectors` that failed are files that
did not load.

RSpec: `--format json`. `summary` counts `examples`, and the errors outside of examples that `messages` tell of;
`summary_line` says it again. An example that ends the process has no status.

node-tap: `--reporter=json`. Files and tests are `suites` of a root, their own points `cases`. Each suite counts the
points in it, as `assertions`; those that failed, were skipped or are to do, as `failures`. A suite that failed with no
point in it that did says so alone.
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, NamedTuple

from context_firewall.transcript.facts import Tally
from context_firewall.transcript.ruby import error_name, error_place

# No run has more tests.
MOST = 10**9

PASSED, FAILED, SKIPPED, TODO = "passed", "failed", "skipped", "todo"

JEST_STATUS = {
    "passed": PASSED,
    "failed": FAILED,
    "skipped": SKIPPED,
    "pending": SKIPPED,
    "disabled": SKIPPED,
    "todo": TODO,
}
PYTEST_OUTCOME = {
    "passed": PASSED,
    "failed": FAILED,
    "error": FAILED,
    "skipped": SKIPPED,
    "xfailed": TODO,
    "xpassed": TODO,
}
# pytest's exit codes of a run that came to its end: all passed, some failed, nothing collected.
PYTEST_ENDED = (0, 1, 5)
# An object as text, by which two that say the same are told.
_SORTED = json.JSONEncoder(sort_keys=True).encode
RUNTIME_ERROR = "● Test suite failed to run"
RSPEC_STATUS = {"passed": PASSED, "failed": FAILED, "pending": SKIPPED}
# RSpec's own reason for an example that has no body. Another may be that of a skipped one, or of one that was run and
# failed as it was to.
NOT_YET = "Not yet implemented"
NUMBER = re.compile(r"[0-9]++")
NODE_TAP = "TAP Tests"


class Part(NamedTuple):
    """An object of the report about one test, file or hook that is shown."""

    identity: str
    ended: str
    node: dict[str, Any]
    own_lines: bool = False
    """Only the lines of the object itself are about it, not those of the objects inside."""
    item: int | None = None
    """Which of the object's `messages` is about it, if only that one is."""


@dataclass(slots=True)
class Story:
    """What a report says."""

    tally: Tally
    """As the report counts."""
    tests: list[dict[str, Any]] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    """How each of them ended; empty for one that did not."""
    shown: list[Part] = field(default_factory=list)
    """Those of them that failed or are to do."""
    outside: list[Part] = field(default_factory=list)
    """Failures that are no tests."""
    repeated: list[dict[str, Any]] = field(default_factory=list)
    """Objects that say again what `tests` say."""
    totals: list[object] = field(default_factory=list)
    """Objects that count."""
    sound: bool = True
    """The report does not deny itself."""
    ended: bool = True
    """The run came to its end."""
    told: bool = True
    """Every failure that the report counts is in it."""
    divided: bool = True
    """It tells the tests that were skipped from those to do."""

    def add(self, tests: Sequence[dict[str, Any]], ends: Sequence[str], name: Callable[[int], str]) -> None:
        """Take tests, and how each ended. Most have passed; of the others `name` tells the names, counted from 0."""
        self.tests += tests
        self.ends += ends
        if FAILED in ends or TODO in ends:
            shown = (at for at, ended in enumerate(ends) if ended in (FAILED, TODO))
            self.shown += (Part(name(at), ends[at], tests[at]) for at in shown)

    def counts(self) -> bool:
        """Whether the tests are as many as the report counts."""
        found = Counter(self.ends)
        four = (found[PASSED], found[FAILED], found[SKIPPED], found[TODO])
        tally = self.tally
        return four == (tally.passed, tally.failed, tally.skipped, tally.todo) and tally.total == sum(four)


class Format(NamedTuple):
    """One runner's report."""

    runner: str
    """The dialect that reads the same runner's report for people."""
    keys: frozenset[str]
    """Keys of the root that prove it."""
    read: Callable[[dict[str, Any]], Story]
    """Raises KeyError, TypeError or ValueError for what is not such a report."""
    name_key: str
    """The key of a test's name."""


def _count(values: Mapping[str, Any], key: str, *, default: int | None = None) -> int:
    value = values[key] if default is None else values.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
        raise ValueError(key)
    return value


def _objects(values: object) -> list[dict[str, Any]]:
    if not isinstance(values, list) or not set(map(type, values)) <= {dict}:
        raise TypeError
    return values


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values[key]
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def _texts(objects: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    """The same of many objects."""
    values = list(map(itemgetter(key), objects))
    if not set(map(type, values)) <= {str}:
        raise TypeError(key)
    return values


def _mocha(root: dict[str, Any]) -> Story:
    stats = root["stats"]
    lists = {
        PASSED: _objects(root["passes"]),
        FAILED: _objects(root["failures"]),
        SKIPPED: _objects(root.get("pending", [])),
    }
    tests = _objects(root["tests"])
    passed, failed, skipped = (_count(stats, key) for key in ("passes", "failures", "pending"))
    story = Story(Tally(passed, failed, skipped, 0, passed + failed + skipped), repeated=tests, totals=[stats])
    _texts(tests, "fullTitle")
    strays: list[dict[str, Any]] = []
    for ended, parts in lists.items():
        story.add(parts, [ended] * len(parts), _texts(parts, "fullTitle").__getitem__)
        # Mostly they stand in the same words and order among all tests: each is found behind the one before it.
        rest = iter(tests)
        strays += (part for part in parts if part not in rest)
    story.sound &= _are_told(strays, tests)
    story.sound &= len(tests) == _count(stats, "tests")
    return story


def _are_told(parts: Sequence[dict[str, Any]], tests: Sequence[dict[str, Any]]) -> bool:
    """Whether what has the name of a test says the same as that test, or one of that name. Hooks are no tests."""
    names = {part["fullTitle"] for part in parts}
    known: dict[str, set[str]] = {}
    for test in tests if parts else ():
        if test["fullTitle"] in names:
            known.setdefault(test["fullTitle"], set()).add(_canonical(test))
    return all(_canonical(part) in known[part["fullTitle"]] for part in parts if part["fullTitle"] in known)


def _canonical(part: dict[str, Any]) -> str:
    """A test in one form. With --parallel only the list of failures names the sort of an error."""
    error = part.get("err")
    if isinstance(error, dict):
        part = {**part, "err": {key: value for key, value in error.items() if key != "__type"}}
    return _SORTED(part)


def _jest(root: dict[str, Any]) -> Story:
    story = _of_files(root, " › ")
    files = _objects(root["testResults"])
    broken = sum(file["status"] == "failed" for file in files)
    story.ended = not root.get("wasInterrupted", False)
    story.sound &= _count(root, "numTotalTestSuites") - _count(root, "numPendingTestSuites") <= len(files)
    story.sound &= _count(root, "numFailedTestSuites") == broken
    story.sound &= _count(root, "numRuntimeErrorTestSuites") == len(story.outside)
    return story


def _vitest(root: dict[str, Any]) -> Story:
    story = _of_files(root, " > ")
    failed: set[tuple[str, ...]] = set()
    for file in root["testResults"]:
        name, tests = file["name"], file["assertionResults"]
        titles = list(map(itemgetter("ancestorTitles"), tests))
        if file["status"] == "failed":
            failed.add((name,))
        for test, above in zip(tests, titles, strict=True):
            if test["status"] == "failed":
                suites = (name, *above)
                failed |= {suites[:depth] for depth in range(1, len(suites) + 1)}
    # A suite whose hook failed is counted, and nothing else is said of it; an error outside of all files is not told.
    story.told = bool(failed) and _count(root, "numFailedTestSuites") == len(failed)
    return story


def _of_files(root: dict[str, Any], separator: str) -> Story:
    passed, failed, skipped, todo, total = (
        _count(root, f"num{word}Tests") for word in ("Passed", "Failed", "Pending", "Todo", "Total")
    )
    story = Story(Tally(passed, failed, skipped, todo, total))
    files = _objects(root["testResults"])
    lists = [_objects(file["assertionResults"]) for file in files]
    starts = list(accumulate(map(len, lists), initial=0))
    tests = list(chain.from_iterable(lists))
    ends = [JEST_STATUS[status] for status in _texts(tests, "status")]
    homes, titles = _texts(files, "name"), _texts(tests, "title")
    if not set(map(type, chain.from_iterable(test.get("ancestorTitles", ()) for test in tests))) <= {str}:
        raise TypeError("ancestorTitles")

    def name(at: int) -> str:
        file = homes[bisect_right(starts, at) - 1]
        return separator.join([file, *tests[at].get("ancestorTitles", ()), titles[at]])

    story.add(tests, ends, name)
    for number, status in enumerate(_texts(files, "status")):
        if status == "failed":
            any_failed = FAILED in ends[starts[number] : starts[number + 1]]
            if not any_failed or RUNTIME_ERROR in _text(files[number], "message"):
                story.outside.append(Part(homes[number], FAILED, files[number], own_lines=True))
    story.sound &= all(part.node["failureMessages"] for part in story.shown if part.ended == FAILED)
    story.sound &= bool(root["success"]) == (not failed and not story.outside)
    return story


def _pytest(root: dict[str, Any]) -> Story:
    summary, code = root["summary"], _count(root, "exitcode")
    counts = {key: _count(summary, key, default=0) for key in PYTEST_OUTCOME}
    # As in pytest's own summary, a file that does not load is an error, and errors count.
    broken = [one for one in _objects(root.get("collectors", [])) if _text(one, "outcome") == "failed"]
    failed = counts["failed"] + counts["error"] + len(broken)
    todo, total = counts["xfailed"] + counts["xpassed"], _count(summary, "total") + len(broken)
    story = Story(Tally(counts["passed"], failed, counts["skipped"], todo, total), totals=[summary])
    tests = _objects(root.get("tests", []))
    story.add(tests, [PYTEST_OUTCOME[how] for how in _texts(tests, "outcome")], _texts(tests, "nodeid").__getitem__)
    story.add(broken, [FAILED] * len(broken), _texts(broken, "nodeid").__getitem__)
    story.ended = code in PYTEST_ENDED or bool(broken)
    story.sound = (code == 0) == (not failed and total > 0) or code not in PYTEST_ENDED
    story.sound &= code != PYTEST_ENDED[-1] or not total
    return story


def _rspec(root: dict[str, Any]) -> Story:
    summary, messages = root["summary"], root.get("messages", [])
    keys = ("example_count", "failure_count", "pending_count", "errors_outside_of_examples_count")
    total, failed, pending, errors = (_count(summary, key) for key in keys)
    examples = _objects(root["examples"])
    slowest = [example for example in _objects(root.get("profile", {}).get("examples", [])) if example]
    story = Story(Tally(), repeated=slowest, totals=[summary])
    # A process that a test ends has time to report, and leaves the test without a status.
    ends = [RSPEC_STATUS.get(status, "") for status in _texts(examples, "status")]
    story.divided = SKIPPED not in ends
    story.ended = "" not in ends
    story.sound = [ended == FAILED for ended in ends] == ["exception" in example for example in examples]
    if not story.divided:
        ends = [
            TODO if ended == SKIPPED and example["pending_message"] == NOT_YET else ended
            for example, ended in zip(examples, ends, strict=True)
        ]
    todo = ends.count(TODO)
    story.add(examples, ends, _texts(examples, "full_description").__getitem__)
    for at, message in enumerate(messages):
        head, *texts = message.encode("utf-8", "replace").strip(b"\n").split(b"\n")
        place = error_place(head)
        if place is not None:
            story.outside.append(Part(error_name(place, texts)[0], FAILED, root, item=at))
    story.tally = Tally(total - failed - pending, failed, pending - todo, todo, total)
    story.told = len(story.outside) == errors
    again = [int(number) for number in NUMBER.findall(_text(root, "summary_line"))]
    story.sound &= again == [total, failed, *(count for count in (pending, errors) if count)]
    return story


def _node_tap(root: dict[str, Any]) -> Story:
    if root["name"] != NODE_TAP or root["level"] != 0:
        raise ValueError(root["name"])
    story = Story(Tally())
    points, ends = _points(root, story)
    story.add(points, ends, _texts(points, "fullname").__getitem__)
    skipped, todo = ends.count(SKIPPED), ends.count(TODO)
    total = _count(root, "assertions")
    unproven = _count(root, "failures")
    story.tally = Tally(total - unproven, unproven - skipped - todo, skipped, todo, total)
    plan = root["plan"]
    story.ended = _count(plan, "end") == len(root.get("suites", [])) + len(root.get("cases", []))
    return story


def _points(suite: dict[str, Any], story: Story) -> tuple[list[dict[str, Any]], list[str]]:
    """The points of a suite and of those in it, and how they ended; what each suite counts is compared on the way."""
    cases = _objects(suite.get("cases", []))
    _texts(cases, "fullname")
    points = cases.copy()
    ends = list(map(_ended, cases))
    failing = {case["fullname"] for case in cases if case["ok"] is False}
    for one in _objects(suite.get("suites", [])):
        inside, ended = _points(one, story)
        failed = FAILED in ended
        named = bool(failing) and _text(one, "fullname") in failing
        ok = one["ok"]
        story.sound &= ok is False or (ok is True and not failed)
        if ok is False and not failed and not named and "todo" not in one:
            diag = one.get("diag")
            said = diag if diag and isinstance(diag, dict) else one
            story.outside.append(Part(_text(one, "fullname"), FAILED, said, own_lines=said is one))
        points += inside
        ends += ended
    unproven = len(ends) - ends.count(PASSED)
    story.sound &= len(points) == _count(suite, "assertions") and unproven == _count(suite, "failures")
    return points, ends


def _ended(case: dict[str, Any]) -> str:
    if not isinstance(case["ok"], bool):
        raise TypeError("ok")
    return SKIPPED if "skip" in case else TODO if "todo" in case else PASSED if case["ok"] else FAILED


FORMATS = (
    Format("mocha", frozenset({"stats", "tests", "passes", "failures"}), _mocha, "fullTitle"),
    Format("jest", frozenset({"numTotalTests", "numRuntimeErrorTestSuites", "testResults"}), _jest, "fullName"),
    Format("vitest", frozenset({"numTotalTests", "numTotalTestSuites", "testResults"}), _vitest, "fullName"),
    Format("pytest", frozenset({"created", "exitcode", "summary"}), _pytest, "nodeid"),
    Format("rspec", frozenset({"version", "examples", "summary", "summary_line"}), _rspec, "full_description"),
    Format("node-tap", frozenset({"name", "level", "plan", "tests", "failures", "assertions"}), _node_tap, "name"),
)


def story(root: dict[str, Any]) -> tuple[Format, Story] | None:
    """The format that a document is of, and what it says; None if it is no report."""
    for row in FORMATS:
        if row.keys <= root.keys():
            try:
                return row, row.read(root)
            except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
                continue
    return None
