"""The project's configuration: where it is found, what it may say, and what wins."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli_process import GREEN, IDENTITY, RED, Ended, call, envelope

NOISE = 'noise = ["DEBUG "]\n'
NOISY = GREEN + b"DEBUG closing\n"


def project(folder: Path, text: str, name: str = "context-firewall.toml") -> Path:
    """A repository with a configuration; returns its folder."""
    (folder / ".git").mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def reduced(folder: Path, *arguments: str, given: bytes = NOISY) -> Ended:
    return call("reduce", "--exit-code", "0", *IDENTITY, *arguments, given=given, folder=folder)


def disposition(ended: Ended) -> Any:
    return ended.packet()["decision_evidence"]["disposition"]


def test_both_files_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    own = reduced(project(tmp_path / "a", NOISE))
    shared = reduced(project(tmp_path / "b", "[tool.context-firewall]\n" + NOISE, "pyproject.toml"))
    assert own.stdout == shared.stdout
    assert disposition(own) == "SUFFICIENT"
    assert own.packet()["receipt"]["suppressed"]["categories"]["declared_noise"] == 1


def test_it_is_found_from_below_and_not_beyond_the_repository(tmp_path: Path) -> None:
    outer = project(tmp_path, NOISE)
    deep = outer / "packages" / "web"
    deep.mkdir(parents=True)
    (deep / "pyproject.toml").write_text("[project]\nname = 'web'\n")
    assert disposition(reduced(deep)) == "SUFFICIENT"
    (outer / "packages" / ".git").mkdir()
    assert disposition(reduced(deep)) == "NEEDS_RAW_EVIDENCE"


def test_the_nearest_wins_alone(tmp_path: Path) -> None:
    outer = project(tmp_path, NOISE)
    (outer / "inner").mkdir()
    (outer / "inner" / "context-firewall.toml").write_text("max-bytes = 9000\n")
    ended = reduced(outer / "inner")
    assert disposition(ended) == "NEEDS_RAW_EVIDENCE"
    assert ended.packet()["receipt"]["configuration"]["max_output_bytes"] == 9000


def test_two_in_one_folder_are_an_error_that_names_both(tmp_path: Path) -> None:
    project(tmp_path, NOISE)
    project(tmp_path, "[project]\nname = 'context-firewall'\n", "pyproject.toml")
    assert disposition(reduced(tmp_path)) == "SUFFICIENT"  # a pyproject.toml without the table is none
    project(tmp_path, "[tool.context-firewall]\n", "pyproject.toml")
    message = reduced(tmp_path).error()["message"]
    assert "context-firewall.toml" in message
    assert "pyproject.toml" in message
    assert disposition(reduced(tmp_path, "--no-config")) == "NEEDS_RAW_EVIDENCE"


def test_options_win_over_the_file(tmp_path: Path) -> None:
    text = (
        'max-bytes = 9000\ndialect = "tap"\npolicy = "test-output-policy/v3"\noperation-id = "file-op"\n'
        'source-id = "file-suite"\nrun-id = "file-run"\nraw-ref = "file:file"\n'
    )
    folder = project(tmp_path, text)
    packet = call("reduce", "--exit-code", "0", given=GREEN, folder=folder).packet()
    assert packet["operation_id"] == "file-op"
    assert packet["decision_evidence"]["source"] == {"id": "file-suite", "run_id": "file-run"}
    assert packet["receipt"]["raw_evidence"]["reference"] == "file:file"
    assert packet["receipt"]["configuration"]["max_output_bytes"] == 9000
    named = call("reduce", "--exit-code", "0", "--dialect", "tap", "--max-bytes", "9000", "--no-config", given=GREEN)
    assert packet["receipt"]["configuration"] == named.packet()["receipt"]["configuration"]

    given = reduced(folder, "--max-bytes", "8000", "--dialect", "auto", given=GREEN).packet()
    assert given["operation_id"] == "op-1"
    assert given["decision_evidence"]["source"] == {"id": "suite", "run_id": "run-1"}
    plain = reduced(folder, "--max-bytes", "8000", "--no-config", given=GREEN).packet()
    assert given == plain


def test_an_envelope_carries_its_own_identities(tmp_path: Path) -> None:
    folder = project(tmp_path, 'operation-id = "file-op"\nsource-id = "file-suite"\n' + NOISE)
    data = json.dumps(envelope(NOISY.decode())).encode()
    packet = call("reduce", given=data, folder=folder).packet()
    assert packet["operation_id"] == "op-1"
    assert packet["decision_evidence"]["disposition"] == "SUFFICIENT"
    nameless = json.dumps(envelope(operation_id=None)).encode()
    assert call("reduce", given=nameless, folder=folder).packet()["operation_id"] is None


def test_a_named_configuration(tmp_path: Path) -> None:
    folder = project(tmp_path, "max-bytes = 9000\n")
    (tmp_path / "ci.toml").write_text(NOISE)
    ended = reduced(folder, "--config", "ci.toml")
    assert disposition(ended) == "SUFFICIENT"
    assert ended.packet()["receipt"]["configuration"]["max_output_bytes"] is None
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert reduced(folder, "--config", "pyproject.toml").error()["key"] == "tool.context-firewall"
    assert reduced(folder, "--config", "missing.toml").error()["path"] == "missing.toml"
    assert reduced(folder, "--config", str(tmp_path)).error()["code"] == "INVALID_INPUT"
    assert reduced(folder, "--config", "ci.toml", "--no-config").error()["option"] == "--no-config"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("max-byte = 1\n", "max-byte"),
        ("max-bytes = '1'\n", "max-bytes"),
        ("max-bytes = true\n", "max-bytes"),
        ("max-bytes = -1\n", "max-bytes"),
        ("max-bytes = 1.0\n", "max-bytes"),
        ("dialect = 'taps'\n", "dialect"),
        ("dialect = ['tap']\n", "dialect"),
        ("policy = 'test-output-policy/v1'\n", "policy"),
        ("operation-id = 7\n", "operation-id"),
        ("source-id = ''\n", "source-id"),
        ("run-id = 2031-01-01\n", "run-id"),
        ("raw-ref = {}\n", "raw-ref"),
        ("noise = 'DEBUG'\n", "noise"),
        ("noise = [{prefix = 'a', stream = 'out'}]\n", "noise[0].stream"),
        ("noise = ['a', {regex = 'a(?=b)'}]\n", "noise[1].regex"),
        ("[noise]\nprefix = 'a'\n", "noise"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, key: str) -> None:
    error = reduced(project(tmp_path, text)).error()
    assert error["code"] == "INVALID_INPUT"
    assert error["key"] == key
    assert error["path"] == str(tmp_path / "context-firewall.toml")
    (tmp_path / "context-firewall.toml").unlink()
    shared = text.replace("[noise]", "[tool.context-firewall.noise]")
    if shared == text:
        shared = "[tool.context-firewall]\n" + text
    assert reduced(project(tmp_path, shared, "pyproject.toml")).error()["key"] == f"tool.context-firewall.{key}"


@pytest.mark.parametrize("data", [b"max-bytes =\n", b"\xff", b"a = " + b"[" * 100_000])
def test_what_is_no_toml_is_an_error(tmp_path: Path, data: bytes) -> None:
    project(tmp_path, "")
    (tmp_path / "context-firewall.toml").write_bytes(data)
    assert reduced(tmp_path).error()["code"] == "INVALID_INPUT"
    (tmp_path / "context-firewall.toml").unlink()
    (tmp_path / "pyproject.toml").write_bytes(data)
    assert disposition(reduced(tmp_path)) == "NEEDS_RAW_EVIDENCE"  # it does not name us
    (tmp_path / "pyproject.toml").write_bytes(data + b"\n[tool.context-firewall]\n")
    assert reduced(tmp_path).error()["code"] == "INVALID_INPUT"
    (tmp_path / "pyproject.toml").write_text("tool = {context-firewall = 1}\n")
    assert reduced(tmp_path).error()["key"] == "tool.context-firewall"


def test_noise_and_v2_do_not_go_together(tmp_path: Path) -> None:
    folder = project(tmp_path, NOISE)
    assert reduced(folder, "--policy", "test-output-policy/v2").error()["key"] == "noise"
    reduced(folder, "--policy", "test-output-policy/v2", "--no-config").packet()


def test_noise_never_makes_a_failing_run_pass(tmp_path: Path) -> None:
    folder = project(tmp_path, 'noise = ["not ok", "  message", {regex = "#? ?[a-z]+ .*"}]\n')
    ended = reduced(folder, "--exit-code", "1", "--exit-status", given=RED)
    assert ended.status == 1
    assert ended.packet()["decision_evidence"]["failures"][0]["identity"] == "opens the gate"
