"""action.yml: its steps run as a script, their log read as the runner of GitHub Actions reads it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from context_firewall.store.places import open_store

ROOT = Path(__file__).resolve().parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]

SUITE = """\
def test_opens():
    assert True

def test_shuts():
    print("::error::forged")
    print("  ::set-output name=reference::forged")
    print("##[error]forged, and ##[add-mask]forged")
    print("::stop-commands::forged")
    assert "ajar" == "shut"
"""
TESTS = f"{sys.executable} -m pytest -q -p no:cacheprovider"


@dataclass(frozen=True, slots=True)
class Job:
    """What a step leaves behind."""

    status: int
    log: str
    summary: str
    outputs: dict[str, str]

    @property
    def commands(self) -> list[str]:
        """The lines that the runner obeys, unless told not to: `::name` where a line begins, `##[name]` anywhere."""
        found, token = [], None
        for line in self.log.splitlines():
            stopped = re.match(r"\s*::stop-commands::(\S+)", line)
            if token is not None:
                token = None if line.strip() == f"::{token}::" else token
            elif stopped:
                token = stopped[1]
            elif line.lstrip().startswith("::") or re.search(r"##\[\w+[^\]]*\]", line):
                found.append(line)
        assert token is None
        return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A checkout with a failing suite, and an installation as the first step makes it."""
    checkout = tmp_path / "work space"
    (checkout / ".git").mkdir(parents=True)
    (checkout / "tests").mkdir()
    (checkout / "tests" / "test_gate.py").write_text(SUITE)
    programs = tmp_path / "temp" / "context-firewall" / "bin"
    programs.mkdir(parents=True)
    for name, words in (("context-firewall", ' -P -m context_firewall "$@"'), ("python", ' "$@"')):
        (programs / name).write_text(f"#!/bin/sh\nexec '{sys.executable}'{words}\n")
        (programs / name).chmod(0o755)
    return checkout


def inputs(**given: str) -> dict[str, str]:
    """The action's inputs, and their defaults."""
    chosen = {name.replace("_", "-"): text for name, text in given.items()}
    assert set(chosen) <= set(ACTION["inputs"])
    return {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | chosen


def process(step: dict[str, Any], workspace: Path, given: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a step as the runner does: its expressions replaced in its environment alone."""
    assert "${{" not in step["run"], "an input must not become part of a script"

    def filled(text: str) -> str:
        values = {f"inputs.{name}": value for name, value in given.items()} | {"github.action_path": str(ROOT)}
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: values[match[1]], text)

    temp = workspace.parent / "temp"
    for name in ("output", "summary"):
        (temp / name).touch()
    (temp / "step.sh").write_text(step["run"])
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(temp),
        "RUNNER_TEMP": str(temp),
        "GITHUB_OUTPUT": str(temp / "output"),
        "GITHUB_STEP_SUMMARY": str(temp / "summary"),
        "GITHUB_WORKFLOW": "ci",
        "GITHUB_JOB": "test",
        "GITHUB_RUN_ID": "417",
        "GITHUB_RUN_ATTEMPT": "1",
        **{name: filled(text) for name, text in step.get("env", {}).items()},
    }
    return subprocess.Popen(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(temp / "step.sh")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=workspace / filled(step.get("working-directory", ".")),
    )


def ended(started: subprocess.Popen[bytes], workspace: Path) -> Job:
    log = started.communicate(timeout=120)[0].decode()
    temp = workspace.parent / "temp"
    lines = (temp / "output").read_text().splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    return Job(started.returncode, log, (temp / "summary").read_text(), outputs)


def job(workspace: Path, **given: str) -> Job:
    """Run the step that runs the command."""
    return ended(process(STEPS[1], workspace, inputs(**given)), workspace)


def test_a_failing_suite(workspace: Path) -> None:
    """CI-1 to CI-4: its status, brief in log and summary, annotation, evidence; no forged command is obeyed."""
    done = job(workspace, command=TESTS)
    assert done.status == 1
    brief = done.summary.removeprefix("```text\n").removesuffix("```\n")
    assert brief.startswith("FAILED: 1 failed, 1 passed, 2 in all; exit code 1; evidence sufficient\n")
    assert brief in done.log
    assert "| ##[error]forged" in brief
    (annotation,) = done.commands
    assert annotation.startswith("::error file=tests/test_gate.py,line=9,title=tests/test_gate.py%3A%3Atest_shuts::")
    evidence = Path(done.outputs.pop("evidence"))
    reference = done.outputs["reference"]
    assert done.outputs == {
        "exit-code": "1",
        "status": "failed",
        "disposition": "SUFFICIENT",
        "reference": reference,
    }
    assert open_store(str(evidence), folder="/").find_run("latest").reference == reference
    assert not (workspace / ".context-firewall").exists()


def test_a_passing_suite(workspace: Path) -> None:
    (workspace / "tests" / "test_gate.py").write_text("def test_opens():\n    pass\n")
    done = job(workspace, command=TESTS)
    assert (done.status, done.commands, done.outputs["status"]) == (0, [], "passed")


def test_the_command_is_one_of_bash(workspace: Path) -> None:
    """Several lines, quotes, and a pipe whose first part fails; what is live in the log is not obeyed either."""
    command = f"cd tests\nA='a b'\n{TESTS} | cat\necho \"never $A\""
    done = job(workspace, command=command, tee="true", annotations="false")
    assert done.status == 1
    assert done.commands == []
    assert "\n::error::forged\n" in done.log
    assert "never" not in done.log


@pytest.mark.parametrize(("command", "status"), [("exit 7", 7), ("no-such-program", 127), ("kill -KILL $$", 137)])
def test_every_status_is_the_commands_own(workspace: Path, command: str, status: int) -> None:
    done = job(workspace, command=command)
    assert (done.status, done.outputs["exit-code"]) == (status, str(status))
    assert done.outputs["disposition"] == "NEEDS_RAW_EVIDENCE"
    assert done.commands[-1].startswith("::warning title=")


def test_a_brief_that_cannot_be_made_still_ends_as_the_command(workspace: Path) -> None:
    done = job(workspace, command=TESTS, max_bytes="10")
    assert (done.status, done.summary, done.commands) == (1, "", [])
    assert "PAYLOAD_CEILING_TOO_SMALL" in done.log
    assert "reference" not in done.outputs


@pytest.mark.soak
def test_a_shared_store_takes_the_place_of_the_artifact(workspace: Path) -> None:
    shared = workspace.parent / "shared"
    done = job(workspace, command=TESTS, store=str(shared))
    assert shared.is_dir()
    assert "evidence" not in done.outputs
    assert done.commands[0].startswith("::error file=tests/test_gate.py,line=9,")


@pytest.mark.soak
def test_time_runs_out(workspace: Path) -> None:
    done = job(workspace, command="echo ok 1; sleep 60", timeout="0.5")
    assert done.status == 143
    assert "! TIMEOUT" in done.summary


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_job_that_is_cancelled_keeps_what_was_printed(workspace: Path, number: signal.Signals) -> None:
    """CI-5."""
    started = process(STEPS[1], workspace, inputs(command="echo ok 1; echo not ok 2; touch started; sleep 60"))
    until = time.monotonic() + 30
    while not (workspace / "started").exists() and time.monotonic() < until:
        time.sleep(0.02)
    started.send_signal(number)
    done = ended(started, workspace)
    assert done.status == 143
    assert "! INTERRUPTED_OUTPUT" in done.summary
    assert done.outputs["status"] == "failed"


def test_the_artifact_is_the_evidence_and_comes_after_a_failure() -> None:
    upload = STEPS[2]
    assert upload["uses"].startswith("actions/upload-artifact@")
    assert "always()" in upload["if"]
    assert upload["with"]["path"] == "${{ steps.run.outputs.evidence }}"
    for output in ACTION["outputs"].values():
        (name,) = re.findall(r"steps\.run\.outputs\.([\w-]+)", output["value"])
        assert f"{name}=" in STEPS[1]["run"]


@pytest.mark.soak
def test_all_steps_from_the_installation_on(workspace: Path) -> None:
    shutil.rmtree(workspace.parent / "temp" / "context-firewall")
    given = inputs(command=TESTS, python=sys.executable)
    installed = ended(process(STEPS[0], workspace, given), workspace)
    assert installed.status == 0, installed.log
    done = ended(process(STEPS[1], workspace, given), workspace)
    assert (done.status, len(done.commands)) == (1, 1)
