"""The corpus runner and its report, on corpora made here."""

import json
from pathlib import Path
from typing import Any

import pytest

from context_firewall import InvalidInput
from context_firewall.canonical import canonical_bytes
from context_firewall.conformance.report import report_on, serialize_report, tap_report
from context_firewall.conformance.runner import bless, find_fixtures, packaged_corpus, pretty, run_fixture

GREEN = b"TAP version 13\nok 1 - opens the gate\n1..1\n# tests 1\n# pass 1\n# fail 0\n# skipped 0\n"
OPTIONS = {
    "policy": "test-output-policy/v2",
    "exit_code": 0,
    "operation_id": "op",
    "source_id": "suite",
    "run_id": "run",
    "raw_evidence_ref": "file:x",
}


def add(corpus: Path, name: str, files: dict[str, Any], blessed: bool = True) -> Path:
    """Add a fixture; bytes are written as they are, all else as JSON."""
    folder = corpus / name
    folder.mkdir(parents=True)
    for file, content in files.items():
        (folder / file).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    if blessed:
        fixture = find_fixtures(folder)[0]
        bless(fixture, run_fixture(fixture))
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus with a green run, an envelope that is refused, and a ceiling that is too small."""
    add(tmp_path, "v2/green", {"stdout.txt": GREEN, "stderr.bin": b"WARN: x\xff\n", "options.json": OPTIONS})
    add(tmp_path, "v2/refused", {"input.json": {"protocol_version": "none"}})
    add(tmp_path, "z-tight", {"stdout.txt": GREEN, "options.json": OPTIONS | {"max_output_bytes": 7}})
    return tmp_path


def test_a_blessed_corpus_passes(corpus: Path) -> None:
    outcomes = [run_fixture(fixture) for fixture in find_fixtures(corpus)]
    assert [outcome.name for outcome in outcomes] == ["v2/green", "v2/refused", "z-tight"]
    report = report_on(outcomes)
    assert report["result"] == "PASS"
    assert [fixture["verdict"]["actual"] for fixture in report["fixtures"]] == [
        "indeterminate NEEDS_RAW_EVIDENCE",
        "error INVALID_INPUT",
        "error PAYLOAD_CEILING_TOO_SMALL",
    ]
    assert report["totals"]["verdicts_preserved"] == report["totals"]["passed"] == 3
    assert report["fixtures"][0]["raw_bytes"] == len(GREEN) + 9
    assert serialize_report(report) == canonical_bytes(report) + b"\n"


def test_differences_name_their_places(corpus: Path) -> None:
    path = corpus / "v2/green/expected.json"
    expected = json.loads(path.read_bytes())
    expected["decision_evidence"]["counts"]["passed"] = 2
    expected["decision_evidence"]["reason_codes"].append("MADE_UP")
    del expected["receipt"]["input_hash"]
    expected["receipt"]["extra"] = None
    path.write_text(json.dumps(expected))
    outcome = run_fixture(find_fixtures(corpus)[0])
    assert not outcome.passed
    assert [text.partition(":")[0] for text in outcome.differences] == [
        "$.decision_evidence.counts.passed",
        "$.decision_evidence.reason_codes",
        "$.receipt.extra",
        "$.receipt.input_hash",
    ]
    report = report_on([outcome])
    assert report["result"] == report["fixtures"][0]["result"] == "FAIL"
    assert report["fixtures"][0]["verdict"]["preserved"]


def test_a_lost_verdict_is_reported_as_one(corpus: Path) -> None:
    path = corpus / "v2/refused/expected.json"
    path.write_bytes((corpus / "v2/green/expected.json").read_bytes())
    fixture = report_on([run_fixture(find_fixtures(corpus / "v2/refused")[0])])["fixtures"][0]
    assert fixture["verdict"] == {
        "expected": "indeterminate NEEDS_RAW_EVIDENCE",
        "actual": "error INVALID_INPUT",
        "preserved": False,
    }


def test_a_missing_expectation_fails_until_it_is_blessed(tmp_path: Path) -> None:
    folder = add(tmp_path, "new", {"stdout.txt": GREEN}, blessed=False)
    fixture = find_fixtures(tmp_path)[0]
    outcome = run_fixture(fixture)
    assert outcome.differences == ("expected.json is missing",)
    bless(fixture, outcome)
    assert run_fixture(fixture).passed
    assert {path.name for path in folder.iterdir()} == {"stdout.txt", "expected.json"}


def test_many_differences_are_cut(corpus: Path) -> None:
    (corpus / "v2/green/expected.json").write_text(json.dumps({str(number): 0 for number in range(100)}))
    outcome = run_fixture(find_fixtures(corpus)[0])
    assert len(outcome.differences) == 41
    assert outcome.differences[-1].startswith("and ")


@pytest.mark.parametrize(
    "files",
    [
        {"options.json": OPTIONS},
        {"stdout.txt": GREEN, "input.json": {}},
        {"stdout.txt": GREEN, "stdout.bin": GREEN},
        {"stdout.txt": GREEN, "options.json": {"exit_cod": 1}},
        {"input.json": {}, "options.json": {"exit_code": 1}},
        {"stdout.txt": GREEN, "options.json": []},
        {"stdout.txt": GREEN, "options.json": b"{"},
        {"stdout.txt": GREEN, "expected.json": b"\xff"},
        {"stdout.txt": GREEN, "expected.json": b"[" * 100_000},
    ],
)
def test_a_broken_fixture_is_refused_by_name(tmp_path: Path, files: dict[str, Any]) -> None:
    add(tmp_path, "broken", files, blessed=False)
    with pytest.raises(InvalidInput, match="broken"):
        run_fixture(find_fixtures(tmp_path)[0])


def test_no_corpus_is_no_success(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InvalidInput):
            find_fixtures(place)


def test_an_expectation_that_canonical_json_cannot_hold(tmp_path: Path) -> None:
    add(tmp_path, "odd", {"stdout.txt": GREEN, "expected.json": b'{"n": 12345678901234567890}'}, blessed=False)
    assert not run_fixture(find_fixtures(tmp_path)[0]).passed


def test_pretty_is_the_same_document_with_nothing_hidden() -> None:
    document = {"b": "✔ \u2028\x9b\u202e\U000e0041 é", "a": [1, None]}
    text = pretty(document)
    assert json.loads(text) == document
    assert "✔" in text
    assert "é" in text
    assert all(char.isprintable() or char == "\n" for char in text)


def test_tap_is_read_back_by_an_independent_parser(corpus: Path) -> None:
    from tap.parser import Parser

    add(corpus, "a # SKIP \\ b", {"stdout.txt": GREEN}, blessed=False)
    outcomes = [run_fixture(fixture) for fixture in find_fixtures(corpus)]
    text = tap_report(outcomes).decode()
    lines = list(Parser().parse_text(text))
    points = [line for line in lines if line.category == "test"]
    assert [line.category for line in lines[:2]] == ["version", "plan"]
    assert lines[1].expected_tests == len(points) == 4
    assert [point.ok for point in points] == [False, True, True, True]
    assert text.startswith(
        "TAP version 13\n1..4\nnot ok 1 - a \\# SKIP \\\\ b\n# expected.json is missing\nok 2 - v2/green"
    )


def test_the_corpus_of_a_checkout_is_found() -> None:
    assert packaged_corpus().is_dir()
