"""`context-firewall conformance` from outside."""

import json
from pathlib import Path

import pytest
from cli_process import GREEN, RED, call


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two fixtures, both blessed through the command."""
    for name, data, code in (("green", GREEN, 0), ("red", RED, 1)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "stdout.txt").write_bytes(data)
        (tmp_path / name / "options.json").write_text(json.dumps({"exit_code": code}))
        ended = call("conformance", tmp_path, "--bless", name)
        assert (ended.status, ended.stderr) == (0, b"")
        assert ended.stdout == f"{name}: expected.json rewritten\n  expected.json is missing\n".encode()
    return tmp_path


def test_a_corpus_that_agrees(corpus: Path) -> None:
    ended = call("conformance", corpus)
    assert (ended.status, ended.stderr) == (0, b"")
    assert json.loads(ended.stdout)["result"] == "PASS"
    assert call("conformance", corpus, "--json").stdout == ended.stdout
    assert call("conformance", corpus, "--tap").stdout == b"TAP version 13\n1..2\nok 1 - green\nok 2 - red\n"


def test_any_difference_fails_and_blessing_shows_it(corpus: Path) -> None:
    (corpus / "red/options.json").write_text('{"exit_code": 2}')
    ended = call("conformance", corpus)
    assert ended.status == 1
    assert json.loads(ended.stdout)["totals"] | {"raw_bytes": 0, "reduced_bytes": 0} == {
        "fixtures": 2,
        "passed": 1,
        "failed": 1,
        "verdicts_preserved": 2,
        "escalations": 2,
        "raw_bytes": 0,
        "reduced_bytes": 0,
    }
    assert call("conformance", corpus, "--tap").status == 1
    untouched = (corpus / "green/expected.json").read_bytes()
    blessed = call("conformance", corpus, "--bless", "red")
    assert b"$.decision_evidence.process.exit_code: 2, expected 1\n" in blessed.stdout
    assert (corpus / "green/expected.json").read_bytes() == untouched
    assert call("conformance", corpus).status == 0
    assert call("conformance", corpus, "--bless", "red").stdout == b"red: nothing changed\n"


def test_what_cannot_be_run_is_an_error(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    empty = tmp_path_factory.mktemp("empty")
    assert call("conformance", empty).error()["code"] == "INVALID_INPUT"
    assert call("conformance", empty / "missing").error()["code"] == "INVALID_INPUT"
    assert call("conformance", corpus, "--bless", "blue").error()["option"] == "--bless"
    assert call("conformance", corpus, "--tap", "--json").error()["code"] == "INVALID_INPUT"
    assert call("conformance", corpus, "--bless", "red", "--tap").error()["code"] == "INVALID_INPUT"
    (corpus / "red/options.json").write_text("{")
    assert call("conformance", corpus).error()["fixture"] == "red"
