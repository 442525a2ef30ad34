"""JSON reports of mocha, jest, Vitest, pytest, RSpec, node-tap: indented or on one line, alone or beside another."""

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_firewall import SourceStream, reduce_streams, serialize_packet
from context_firewall.transcript.dialects.json_report import DIALECT
from context_firewall.transcript.dialects.json_report_document import Span, document
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams

Report = dict[str, Any]


def mocha() -> Report:
    stack = "Error: dry\n    at Context.<anonymous> (test/well.test.js:4:9)"
    full = {"title": "fills", "fullTitle": "well fills", "file": "/srv/well.test.js", "duration": 1, "err": {}}
    dry = full | {"title": "is deep", "fullTitle": "well is deep", "err": {"stack": stack, "message": "dry"}}
    later = full | {"title": "is lit", "fullTitle": "well is lit"}
    stats = {"suites": 1, "tests": 3, "passes": 1, "pending": 1, "failures": 1}
    return {"stats": stats, "tests": [full, dry, later], "pending": [later], "failures": [dry], "passes": [full]}


def jest_test(title: str, status: str, *messages: str) -> Report:
    return {"ancestorTitles": ["well"], "fullName": f"well {title}", "status": status, "title": title} | {
        "failureMessages": list(messages)
    }


def jest() -> Report:
    tests = [jest_test("fills", "passed"), jest_test("is deep", "failed", "Error: dry\n    at well.test.js:4:9")]
    tests += [jest_test("is lit", "pending"), jest_test("sings", "todo")]
    return {
        "numFailedTestSuites": 1,
        "numFailedTests": 1,
        "numPassedTests": 1,
        "numPendingTestSuites": 0,
        "numPendingTests": 1,
        "numRuntimeErrorTestSuites": 0,
        "numTodoTests": 1,
        "numTotalTestSuites": 1,
        "numTotalTests": 4,
        "success": False,
        "testResults": [{"assertionResults": tests, "message": "x", "name": "/srv/well.test.js", "status": "failed"}],
        "wasInterrupted": False,
    }


def vitest() -> Report:
    kept = {key: value for key, value in jest().items() if key not in ("numRuntimeErrorTestSuites", "wasInterrupted")}
    # It counts the suite in the file as well.
    return {"numTotalTestSuites": 2} | kept | {"numFailedTestSuites": 2}


def green(report: Report) -> Report:
    """A report of jest's form in which nothing failed."""
    tests = [jest_test("fills", "passed")]
    results = [{"assertionResults": tests, "message": "", "name": "/srv/well.test.js", "status": "passed"}]
    counts = {
        "numFailedTestSuites": 0,
        "numFailedTests": 0,
        "numPendingTests": 0,
        "numTodoTests": 0,
        "numTotalTests": 1,
    }
    return report | counts | {"success": True, "testResults": results}


def pytest_report() -> Report:
    tests = [
        {"nodeid": "test_well.py::test_fills", "outcome": "passed", "call": {"outcome": "passed"}},
        {"nodeid": "test_well.py::test_deep", "outcome": "failed", "call": {"longrepr": "E   assert 3 == 4"}},
        {"nodeid": "test_well.py::test_lit", "outcome": "skipped", "setup": {"outcome": "skipped"}},
        {"nodeid": "test_well.py::test_sings", "outcome": "xfailed", "call": {"outcome": "skipped"}},
    ]
    summary = {"passed": 1, "failed": 1, "skipped": 1, "xfailed": 1, "total": 4, "collected": 4}
    return {"created": 1.5, "duration": 0.1, "exitcode": 1, "root": "/srv", "summary": summary, "tests": tests}


def example(name: str, status: str, **more: object) -> Report:
    known = {"id": "./spec/well_spec.rb[1:1]", "description": name, "full_description": f"well {name}"}
    return known | {"status": status, "run_time": 0.001, "pending_message": None} | more


OUTSIDE = (
    "\nAn error occurred while loading ./spec/rope_spec.rb. - Did you mean?\n    rspec ./spec/well_spec.rb\n\n"
    'Failure/Error: require "knots"\n\nLoadError:\n  cannot load such file -- knots\n'
)
HOOK = (
    "\nAn error occurred in an `after(:context)` hook.\nFailure/Error: pump.stop\n\nRuntimeError:\n  it runs on\n"
    "# ./spec/well_spec.rb:3:in 'block'\n"
)


def rspec() -> Report:
    frames = ["/opt/gems/rspec-core-3.12.0/lib/rspec/core/example.rb:263:in 'run'", "/srv/spec/well_spec.rb:4:in 'x'"]
    error = {"class": "RuntimeError", "message": "dry", "backtrace": frames}
    examples = [example("fills", "passed"), example("is deep", "failed", exception=error)]
    counts = {"example_count": 2, "failure_count": 1, "pending_count": 0, "errors_outside_of_examples_count": 0}
    head = {"version": "3.12.0", "messages": ["Run options: include {:wet=>true}"], "seed": 7}
    totals = {"summary": {"duration": 0.1} | counts, "summary_line": "2 examples, 1 failure"}
    return head | {"examples": examples} | totals


def counting(report: Report, line: str, **counts: int) -> Report:
    return report | {"summary": report["summary"] | counts, "summary_line": line}


def suite(name: str, *cases: Report, ok: bool = True, suites: list[Report] | None = None, **more: object) -> Report:
    """A suite of node-tap's, and what it counts."""
    inside = suites or []
    unproven = sum(not case["ok"] or "skip" in case or "todo" in case for case in cases)
    return {
        "name": name,
        "ok": ok,
        **more,
        "fullname": name,
        "plan": {"start": 1, "end": len(cases) + len(inside)},
        "failures": unproven + sum(one["failures"] for one in inside),
        "assertions": len(cases) + sum(one["assertions"] for one in inside),
        "suites": inside,
        "cases": list(cases),
    }


def point(name: str, *, ok: bool = True, **more: object) -> Report:
    return {"ok": ok, "name": name, "id": 1, **more, "fullname": f"well.test.js > {name}"}


def node_tap(*files: Report) -> Report:
    points = [point("fills"), point("is deep", ok=False, diag={"found": "dry"})]
    points += [point("is lit", skip=True), point("sings", ok=False, todo="later")]
    root = suite("TAP Tests", suites=list(files) or [suite("well.test.js", *points, ok=False)])
    counts = {key: root[key] for key in ("failures", "assertions", "suites")}
    return {"name": "TAP Tests", "level": 0, "plan": root["plan"], "tests": 5, "skipped": 2} | counts


REPORTS = {
    "mocha": mocha,
    "jest": jest,
    "vitest": vitest,
    "pytest": pytest_report,
    "rspec": rspec,
    "node-tap": node_tap,
}
NAMES = {
    "mocha": "well is deep",
    "jest": "/srv/well.test.js › well › is deep",
    "vitest": "/srv/well.test.js > well > is deep",
    "pytest": "test_well.py::test_deep",
    "rspec": "well is deep",
    "node-tap": "well.test.js > is deep",
}


def printed(report: Report, indent: int | None = 2) -> str:
    separators = (",", ":") if indent is None else None
    return json.dumps(report, indent=indent, separators=separators, ensure_ascii=False) + "\n"


def read(stdout: str, exit_code: int | None = 1, stderr: str = "") -> Transcript:
    return read_streams([("stdout", [stdout.encode()]), ("stderr", [stderr.encode()])], exit_code=exit_code)


def identities(transcript: Transcript) -> list[str]:
    return [failure.identity for failure in transcript.failures]


# -- where a document's parts stand


def test_places_in_an_indented_document() -> None:
    report = {"a": 1, "b": [{"c": "ends with {"}, {}], "d": {"e": [2]}}
    found = document(printed(report).encode())
    assert found is not None
    root = found.root
    parts = [root, root["b"], root["b"][0], root["d"]["e"]]
    places = found.places(parts)
    assert list(map(places.of, parts)) == [Span(0, 13), Span(2, 7), Span(3, 5), Span(9, 11)]


@pytest.mark.parametrize(
    "text",
    [
        '{"a":[{"b":[1]}]}',
        # A part that opens or closes within a line, or an empty one that has several, though as many lines do.
        '{\n"a": [\n{ "b": 1 }\n]\n}',
        '{\n"a": [\n1],\n"b": [\n],\n"c": [2\n]\n}',
        '{\n"a": [\n1],\n"b": [\n \n],\n"c": [2\n]\n}',
        '{\n"a": [\n1 ],\n"b": "}"\n}',
    ],
)
def test_places_where_not_each_part_has_its_lines(text: str) -> None:
    found = document(f"{text}\n".encode())
    assert found is not None
    assert found.places([found.root["a"]]).of(found.root["a"]) == Span(0, text.count("\n"))


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, 7, "a", "ends with {", "]", "{}", "\n", {}, []]),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inside, max_size=4),
    max_leaves=12,
)


class Printer:
    """Prints a value and notes where its parts stand; asked each time whether brackets have lines of their own."""

    def __init__(self, breaks: Callable[[], bool]) -> None:
        self.breaks = breaks
        self.text = ""
        self.spans: list[tuple[object, Span]] = []

    def value(self, value: Any) -> None:
        if not isinstance(value, dict | list):
            self.text += json.dumps(value)
            return
        first = self.text.count("\n")
        brackets = "{}" if isinstance(value, dict) else "[]"
        self.text += brackets[0] + "\n " * self.breaks()
        for number, key in enumerate(value):
            self.text += ("," + "\n  " * self.breaks()) * bool(number)
            self.text += f'"{key}": ' if isinstance(value, dict) else ""
            self.value(value[key] if isinstance(value, dict) else key)
        self.text += " \n " * self.breaks() + brackets[1]
        if value:
            self.spans.append((value, Span(first, self.text.count("\n"))))


@given(
    root=st.dictionaries(st.sampled_from("abcd"), VALUES, min_size=1), seed=st.integers(), percent=st.integers(0, 100)
)
def test_places_are_right_or_the_whole(root: Report, seed: int, percent: int) -> None:
    """JSON-3 and P3, however a document is laid out: with lines for its brackets, some of them, or none."""
    rng = random.Random(seed)  # noqa: S311 - the same each time
    shown = Printer(lambda: rng.randrange(100) < percent)
    shown.value(root)
    found = document(f"{shown.text}\n".encode())
    assert found is not None
    again = Printer(lambda: False)
    again.value(found.root)
    parts = [part for part, _ in again.spans]
    places = found.places(parts)
    whole = Span(0, shown.text.count("\n"))
    assert [places.of(part) for part in parts] in ([span for _, span in shown.spans], [whole] * len(parts))


@given(root=st.dictionaries(st.sampled_from("abcd"), VALUES, min_size=1), indent=st.sampled_from([0, 1, 2, "\t"]))
def test_places_of_what_is_indented_are_exact(root: Report, indent: int | str) -> None:
    """JSON-3."""
    found = document(f"{json.dumps(root, indent=indent)}\n".encode())
    assert found is not None
    shown = Printer(lambda: False)
    shown.value(found.root)
    places = found.places(part for part, _ in shown.spans)
    lines = json.dumps(root, indent=indent).split("\n")
    for part, _ in shown.spans:
        first, last = places.of(part)
        inside = "\n".join(lines[first : last + 1]).strip().removesuffix(",")
        value = inside if inside[0] in "{[" else inside.partition(": ")[2]
        assert json.loads(value) == part


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", "1", '{"a":1,"a":2}', '{"a":NaN}', '{"a":1} x', '{"a":' + "[" * 100_000, '{"a":"\udc80"}']
)
def test_what_is_no_document(text: str) -> None:
    assert document(text.encode("utf-8", "surrogateescape") + b"\n") is None


# -- whole reports


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report(name: str, indent: int | None) -> None:
    """JSON-1 to JSON-3."""
    transcript = read(printed(REPORTS[name](), indent))
    tally = transcript.tally
    skipped, todo = int(name != "rspec"), int(name not in ("mocha", "rspec"))
    assert (tally.passed, tally.failed, tally.skipped, tally.todo) == (1, 1, skipped, todo)
    assert tally.total == 2 + skipped + todo
    assert identities(transcript) == [NAMES[name]]
    assert not transcript.doubts
    assert not transcript.unclassified
    text = "\n".join(line.text for line in transcript.failures[0].lines())
    assert ("dry" if name != "pytest" else "assert 3 == 4") in text


@pytest.mark.parametrize("name", REPORTS)
def test_an_indented_report_keeps_the_failing_object(name: str) -> None:
    """JSON-3: and a test that is to do."""
    transcript = read(printed(REPORTS[name]()))
    failure = transcript.failures[0]
    assert failure.header is not None
    assert "deep" in failure.header.text
    assert not any("fills" in line.text for line in failure.lines())
    assert len(transcript.todo) == (0 if name in ("mocha", "rspec") else 1)


def test_failures_on_one_line_are_all_named() -> None:
    """JSON-3: the line is shown once."""
    report = mocha()
    hook = {"title": "hook", "fullTitle": 'well "after all" hook', "err": {"stack": "Error: mud"}}
    report["failures"].append(hook)
    report["stats"]["failures"] = 2
    transcript = read(printed(report, None))
    assert identities(transcript) == ["well is deep", 'well "after all" hook']
    assert [failure.header is None for failure in transcript.failures] == [False, True]
    assert not transcript.doubts


def test_mocha_in_parallel_names_the_sort_of_an_error_in_one_list_only() -> None:
    """JSON-2."""
    report = mocha()
    dry = report["failures"][0]
    report["failures"] = [dry | {"err": dry["err"] | {"__type": "Error"}}]
    assert not read(printed(report)).doubts


def test_a_file_that_does_not_load() -> None:
    """JSON-2: a failure that is no test."""
    report = jest()
    broken = {"assertionResults": [], "message": "  ● Test suite failed to run\n", "name": "b.js", "status": "failed"}
    report["testResults"].append(broken)
    report |= {"numFailedTestSuites": 2, "numTotalTestSuites": 2, "numRuntimeErrorTestSuites": 1}
    transcript = read(printed(report))
    assert identities(transcript) == [NAMES["jest"], "b.js"]
    assert transcript.tally.failed == 1
    assert not transcript.doubts


@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_that_fails_besides_tests_that_passed(indent: int | None) -> None:
    """JSON-2, JSON-3 and P2: what it says of that is shown."""
    report = green(jest())
    report["testResults"][0] |= {"status": "failed", "message": "  ● Test suite failed to run\n    dry\n"}
    report |= {"numFailedTestSuites": 1, "numRuntimeErrorTestSuites": 1, "success": False}
    transcript = read(printed(report, indent))
    assert identities(transcript) == ["/srv/well.test.js"]
    assert "dry" in "".join(line.text for line in transcript.failures[0].lines())
    assert not transcript.doubts


def test_a_module_that_pytest_cannot_collect() -> None:
    collector = {"nodeid": "test_b.py", "outcome": "failed", "result": [], "longrepr": "E   ImportError"}
    report = pytest_report() | {"exitcode": 2, "tests": [], "collectors": [collector], "summary": {"total": 0}}
    transcript = read(printed(report), 2)
    assert identities(transcript) == ["test_b.py"]
    assert transcript.tally.failed == 1
    assert not transcript.doubts


def test_a_brace_behind_a_print() -> None:
    """The runner's first brace may stand behind a print without a line end; that line is kept."""
    transcript = read("half a line" + printed(mocha()))
    assert identities(transcript) == ["well is deep"]
    assert [line.text for line in transcript.unclassified] == ["half a line{"]


# -- what is not whole, or denies itself


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_that_is_cut_says_nothing(name: str, indent: int | None) -> None:
    """P1 and JSON-1."""
    data = printed(REPORTS[name](), indent).rstrip("\n")
    for end in range(1, len(data) - 1, 3):
        transcript = read(data[:end], 0)
        assert not transcript.has_results
        assert transcript.unclassified


@pytest.mark.parametrize("indent", [None, 2])
def test_a_report_that_was_begun(indent: int | None) -> None:
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(printed(jest(), indent)[:200], 0).doubts or indent is None


def changed(report: Report, **values: object) -> Report:
    return report | values


@pytest.mark.parametrize(
    ("report", "doubt"),
    [
        (changed(mocha(), passes=[]), Doubt.AGGREGATE_CONTRADICTION),
        (changed(mocha(), failures=[]), Doubt.AGGREGATE_CONTRADICTION),
        (changed(mocha(), tests=[]), Doubt.RECAP_CONTRADICTION),
        (changed(mocha(), failures=[mocha()["failures"][0] | {"err": {}}]), Doubt.RECAP_CONTRADICTION),
        (changed(jest(), numTotalTests=5), Doubt.AGGREGATE_CONTRADICTION),
        (changed(jest(), numPassedTests=2), Doubt.AGGREGATE_CONTRADICTION),
        (changed(jest(), success=True), Doubt.RECAP_CONTRADICTION),
        (changed(jest(), numFailedTestSuites=2), Doubt.RECAP_CONTRADICTION),
        (changed(jest(), numRuntimeErrorTestSuites=1), Doubt.RECAP_CONTRADICTION),
        (changed(jest(), wasInterrupted=True), Doubt.COMPLETENESS_UNCONFIRMED),
        (changed(vitest(), numFailedTestSuites=3), Doubt.ERRORS_UNREPORTABLE),
        (green(vitest()), Doubt.ERRORS_UNREPORTABLE),
        (changed(pytest_report(), exitcode=0), Doubt.RECAP_CONTRADICTION),
        (changed(pytest_report(), exitcode=2), Doubt.COMPLETENESS_UNCONFIRMED),
        (changed(pytest_report(), tests=[]), Doubt.AGGREGATE_CONTRADICTION),
        (changed(rspec(), examples=rspec()["examples"][1:]), Doubt.AGGREGATE_CONTRADICTION),
        (changed(rspec(), summary_line="2 examples, 0 failures"), Doubt.RECAP_CONTRADICTION),
        (changed(rspec(), examples=[example("fills", "failed"), *rspec()["examples"][1:]]), Doubt.RECAP_CONTRADICTION),
        (changed(rspec(), messages=[OUTSIDE]), Doubt.ERRORS_UNREPORTABLE),
        (changed(node_tap(), assertions=5), Doubt.AGGREGATE_CONTRADICTION),
        (changed(node_tap(), failures=2), Doubt.AGGREGATE_CONTRADICTION),
        (changed(node_tap(), plan={"start": 1, "end": 2}), Doubt.COMPLETENESS_UNCONFIRMED),
        (node_tap(suite("a.test.js", point("is deep", ok=False))), Doubt.RECAP_CONTRADICTION),
        (node_tap(changed(suite("a.test.js", point("fills")), assertions=2)), Doubt.RECAP_CONTRADICTION),
        (
            counting(
                rspec(),
                "2 examples, 1 failure, 1 error occurred outside of examples",
                errors_outside_of_examples_count=1,
            ),
            Doubt.ERRORS_UNREPORTABLE,
        ),
    ],
)
def test_a_report_that_denies_itself(report: Report, doubt: Doubt) -> None:
    """JSON-2."""
    assert doubt in read(printed(report)).doubts


@pytest.mark.parametrize("indent", [None, 2])
def test_errors_outside_of_examples(indent: int | None) -> None:
    """JSON-6: each message is a failure, and no test."""
    line = "2 examples, 1 failure, 2 errors occurred outside of examples"
    report = counting(rspec(), line, errors_outside_of_examples_count=2) | {"messages": ["Run options", OUTSIDE, HOOK]}
    transcript = read(printed(report, indent))
    names = ["well is deep", "./spec/rope_spec.rb", "`after(:context)` hook: RuntimeError: it runs on"]
    assert sorted(identities(transcript)) == sorted(names)
    assert transcript.tally.failed == 1
    assert not transcript.doubts
    if indent:
        texts = {failure.identity: [line.text for line in failure.lines()] for failure in transcript.failures}
        assert len(texts[names[1]]) == len(texts[names[2]]) == 1
        assert "knots" in texts[names[1]][0]
        assert "it runs on" in texts[names[2]][0]


def test_messages_that_share_a_line_are_shown_together() -> None:
    """JSON-6: no other line is taken for one of them."""
    line = "2 examples, 1 failure, 2 errors occurred outside of examples"
    report = counting(rspec(), line, errors_outside_of_examples_count=2) | {"messages": ["Run options", OUTSIDE, HOOK]}
    before, _, behind = printed(report).partition("occurred in an")
    text = ",".join(before.rsplit(",\n", 1)) + "occurred in an" + behind
    outside = [failure for failure in read(text).failures if failure.identity != "well is deep"]
    assert len(outside) == 2
    text = "".join(line.text for line in outside[0].lines())
    assert "knots" in text
    assert "it runs on" in text
    assert outside[1].header is None


@pytest.mark.parametrize("error", ["dry", ["dry"], None, {"stack": ["dry"], "message": "dry"}])
def test_an_error_of_another_form_is_shown_as_it_is(error: object) -> None:
    """JSON-3 and P7."""
    failing = {"fullTitle": "well is deep", "message": "dry", "err": error}
    stats = {"suites": 1, "tests": 1, "passes": 0, "pending": 0, "failures": 1}
    report: Report = {"stats": stats, "tests": [failing], "pending": [], "failures": [failing], "passes": []}
    transcript = read(printed(report))
    assert identities(transcript) == ["well is deep"]
    assert '"message": "dry"' in "".join(line.text for line in transcript.failures[0].lines())


@pytest.mark.parametrize("diag", ["dry", ["dry"], {}, 3])
def test_a_suite_that_fails_with_a_diagnosis_of_another_form(diag: object) -> None:
    """JSON-7 and P7: the suite's own lines tell of it."""
    exits = suite("exits.test.js", point("fills"), ok=False, message="dry", diag=diag)
    transcript = read(printed(node_tap(exits)))
    assert identities(transcript) == ["exits.test.js"]
    text = "\n".join(line.text for line in transcript.failures[0].lines())
    assert '"message": "dry"' in text
    assert "fills" not in text


def test_frames_of_installed_gems_only_orient() -> None:
    """JSON-3."""
    details = read(printed(rspec())).failures[0].details
    kinds = {line.text.strip().strip('",'): line.kind for line in details}
    assert kinds["/srv/spec/well_spec.rb:4:in 'x'"] is Kind.STACK_TRACE
    assert kinds["/opt/gems/rspec-core-3.12.0/lib/rspec/core/example.rb:263:in 'run'"] is Kind.FAILURE_CONTEXT


@pytest.mark.parametrize("indent", [None, 2])
def test_an_example_that_ends_the_process(indent: int | None) -> None:
    """JSON-6 and P1: RSpec reports what it has, counts it as passed, and exits 0."""
    examples = [example("fills", "passed"), example("is deep", "")]
    line = "2 examples, 0 failures"
    report = counting(rspec(), line, example_count=2, failure_count=0, pending_count=0) | {"examples": examples}
    doubts = read(printed(report, indent), 0).doubts
    assert doubts == {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.AGGREGATE_CONTRADICTION}


@pytest.mark.parametrize(("reason", "skipped", "todo"), [("no lamp", 1, 0), ("Not yet implemented", 0, 1)])
def test_a_reason_does_not_say_how_an_example_that_is_pending_counts(reason: str, skipped: int, todo: int) -> None:
    """JSON-6."""
    examples = [*rspec()["examples"], example("is lit", "pending", pending_message=reason)]
    line = "3 examples, 1 failure, 1 pending"
    transcript = read(printed(counting(rspec(), line, example_count=3, pending_count=1) | {"examples": examples}))
    assert (transcript.tally.skipped, transcript.tally.todo) == (skipped, todo)
    assert len(transcript.todo) == todo
    assert transcript.doubts == {Doubt.COUNTS_UNCONFIRMED}


def test_rspec_was_told_to_stop() -> None:
    """JSON-6: it says so on standard error, and reports what ran until then."""
    words = "RSpec is shutting down and will print the summary report... Interrupt again to force quit.\n"
    assert Doubt.COMPLETENESS_UNCONFIRMED in read(printed(rspec()), 1, words).doubts


@pytest.mark.parametrize("above", ["", '{\n  "name": "well",\n', '{\n  "version": 3,\n', '  "version": "3.12.0",\n'])
def test_examples_without_rspecs_first_key_open_nothing(above: str) -> None:
    """JSON-1 and P4."""
    text = f'{above}  "examples": [\n  ]\n}}\nok 1 - tap\n1..1\n'
    transcript = read(text, 0)
    assert transcript.tally.passed == 1
    assert transcript.doubts <= {Doubt.UNCLASSIFIED_EVIDENCE}
    assert len(transcript.unclassified) == text.count("\n") - 2


def test_examples_that_open_nothing_take_nothing() -> None:
    """JSON-1."""
    transcript = read('  "examples": [\nok 1 - tap\n1..1\n', 0)
    assert transcript.tally.passed == 1


def test_a_failure_without_a_message() -> None:
    """JSON-2 and P2: no such test fails without one."""
    report = jest()
    report["testResults"][0]["assertionResults"][1]["failureMessages"] = []
    assert Doubt.RECAP_CONTRADICTION in read(printed(report)).doubts


def test_a_suite_that_fails_without_a_failing_point() -> None:
    """JSON-7: a file that exits, and a test that is reported as a point as well."""
    exits = suite("exits.test.js", point("fills"), ok=False, diag={"exitCode": 3})
    transcript = read(printed(node_tap(exits)))
    assert (transcript.tally.failed, transcript.tally.passed) == (0, 1)
    assert identities(transcript) == ["exits.test.js"]
    assert "exitCode" in "".join(line.text for line in transcript.failures[0].lines())
    late = changed(suite("times out", point("fills"), ok=False), fullname="well.test.js > times out")
    whole = suite("well.test.js", point("times out", ok=False), ok=False, suites=[late])
    assert identities(read(printed(node_tap(whole)))) == ["well.test.js > times out"]
    later = changed(suite("later", ok=False), todo="some day")
    assert identities(read(printed(node_tap(later)), 0)) == []


def test_a_run_without_tests() -> None:
    stats = dict.fromkeys(("suites", "tests", "passes", "pending", "failures"), 0)
    empty: Report = {"stats": stats, "tests": [], "pending": [], "failures": [], "passes": []}
    assert Doubt.NO_TEST_EVIDENCE in read(printed(empty), 0).doubts


@pytest.mark.parametrize(
    "report",
    [
        mocha() | {"stats": {"suites": 1, "tests": "three"}},
        mocha() | {"passes": {}},
        jest() | {"testResults": [1]},
        jest() | {"testResults": [{"name": "a", "status": "failed", "message": "", "assertionResults": [{}]}]},
        {"numTotalTestSuites": 1, "note": "another tool's"},
    ],
)
def test_what_only_looks_like_a_report(report: Report) -> None:
    """JSON-1 and P4."""
    transcript = read(printed(report), 0)
    assert not transcript.has_results
    assert len(transcript.unclassified) == len(printed(report).splitlines())


# -- beside the report for people

JEST_TEXT = (
    "FAIL well.test.js\n  ● well › is deep\n\n    dry\n\n      at well (well.test.js:4:9)\n\n\n"
    "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 1 todo, 1 passed, 4 total\n"
    "Snapshots:   0 total\nTime:        0.4 s\nRan all test suites.\n"
)


def test_a_second_print() -> None:
    """JSON-4: counted once."""
    transcript = read(printed(jest()), 1, JEST_TEXT)
    assert transcript.tally.total == 4
    assert identities(transcript) == ["well.test.js › well › is deep"]
    assert not transcript.doubts


def test_a_second_print_that_says_otherwise() -> None:
    """JSON-4."""
    report = changed(jest(), numPassedTests=0, numTotalTests=3)
    report["testResults"][0]["assertionResults"].pop(0)
    transcript = read(printed(report), 1, JEST_TEXT)
    assert transcript.tally.total == 4
    assert Doubt.RECAP_CONTRADICTION in transcript.doubts
    assert sorted(identities(transcript)) == [NAMES["jest"], "well.test.js › well › is deep"]


@pytest.mark.parametrize(("name", "failures"), [("well is shallow", 1), ("well is deep", 2)])
def test_a_report_that_a_test_has_printed_hides_nothing(name: str, failures: int) -> None:
    """JSON-4 and P2: RSpec's tests print where its JSON stands."""
    accounts = "".join(f"  {n}) {name}\n     Failure/Error: x\n\n" for n in range(1, failures + 1))
    text = f"Failures:\n\n{accounts}Finished in 0.1 seconds (files took 0.1 seconds to load)\n"
    text += f"2 examples, {failures} failure{'s' * (failures > 1)}\n\nFailed examples:\n\n"
    text += f"rspec ./spec/well_spec.rb:3 # {name}\n" * failures
    transcript = read(f"\n{text}\n{printed(rspec(), None)}", 0)
    assert "well is deep" in identities(transcript)
    assert transcript.doubts


def test_a_report_on_standard_error_stays_unread() -> None:
    assert DIALECT.streams == {"stdout"}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", REPORTS)
def test_every_line_is_accounted_for_once(name: str, indent: int | None) -> None:
    """P3."""
    text = "noise\n{\n" + printed(REPORTS[name](), indent) + "\nmore\n"
    transcript, traces = trace_streams([("stdout", [text.encode()])], exit_code=1)
    assert transcript.event_count == text.count("\n") == len(traces)
    if indent:
        assert Kind.AGGREGATE_SOURCE in {trace.kind for trace in traces.values()}


def disturbed(text: str, rng: random.Random) -> str:
    """The same document, as long as it is one, in other lines."""
    lines = text.splitlines()
    at = rng.randrange(1, len(lines) - 1)
    line = lines[at]
    lines[at : at + 1] = {
        0: [line.replace("[]", "[\n]").replace("{}", "{\n\n}")],
        1: ["", line + " "],
        2: [line.rstrip("[{"), line.strip()[-1]] if line.endswith(("[", "{")) else [line],
        3: [],
    }[rng.randrange(4)]
    if len(lines) < len(text.splitlines()):
        lines[at - 1] += line
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", REPORTS)
def test_lines_that_are_only_counted_are_those_that_are_found(name: str) -> None:
    """P3: what passed is counted, and looked for where somebody asks; both say the same, however lines are broken."""
    rng = random.Random(name)  # noqa: S311 - the same each time
    whole = printed(REPORTS[name]())
    for _ in range(60):
        text = disturbed(disturbed(whole, rng), rng)
        counted = read(text)
        found, traces = trace_streams([("stdout", [text.encode()])], exit_code=1)
        assert counted.suppressed == found.suppressed
        assert (counted.failures, counted.todo, counted.unclassified) == (
            found.failures,
            found.todo,
            found.unclassified,
        )
        kinds = Counter(trace.kind for trace in traces.values())
        assert all(kinds[kind] >= count for kind, count in counted.suppressed.items())
        assert kinds.total() == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        printed(mocha()).replace("is deep", "\\\\ud800"),
        printed(changed(jest(), numPassedTests=10**30), None),
        printed(mocha(), None).replace('"err":{}', '"err":' + "[" * 900 + "]" * 900),
    ],
)
def test_what_no_document_can_hold(text: str) -> None:
    """P7: half a surrogate pair, a number that is no count, a depth that nobody prints."""
    serialize_packet(reduce_streams([SourceStream("stdout", len(text), [text.encode()])], exit_code=1))


@pytest.mark.parametrize("name", REPORTS)
def test_two_documents(name: str) -> None:
    """JSON-5: a test may have printed one of them."""
    line = printed(REPORTS[name](), None)
    assert Doubt.COUNTS_UNCONFIRMED in read(line + line).doubts
    forged = line.replace("is deep", "is shallow")
    assert Doubt.COUNTS_UNCONFIRMED in read(forged + line).doubts
