"""A run as other systems read it, from the commands: run --annotations, run --progress-fd, show --format."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_process import COMMAND, ENVIRONMENT, call

from context_firewall.cli.reports import report
from context_firewall.store.places import open_store

FAILING = (
    "printf 'TAP version 13\\nok 1 - opens\\nnot ok 2 - shuts\\n  ---\\n  at: %s:7\\n  ...\\n1..2\\n' \"$0\"; exit 1"
)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A repository with a file in a folder of it."""
    (tmp_path / "gates" / ".git").mkdir(parents=True)
    (tmp_path / "gates" / "north").mkdir()
    (tmp_path / "gates" / "north" / "gate.js").write_text("\n" * 9)
    (tmp_path / "outside.js").write_text("\n")
    return tmp_path / "gates"


def annotations(stderr: bytes) -> list[str]:
    return [line for line in stderr.decode().splitlines() if line.startswith("::")]


@pytest.mark.parametrize(
    ("folder", "printed", "place"),
    [
        (".", "north/gate.js", "file=north/gate.js,line=7,"),
        ("north", "gate.js", "file=north/gate.js,line=7,"),
        ("north", "../north/gate.js", "file=north/gate.js,line=7,"),
        (".", "../outside.js", ""),
        (".", "/etc/passwd", ""),
        (".", "north", ""),
        (".", "south/gate.js", ""),
    ],
)
def test_run_annotates_with_files_of_the_repository(desk: Path, folder: str, printed: str, place: str) -> None:
    """RUN-13 and REPORT-2: paths from the repository's root, of files that are there."""
    command = ("sh", "-c", FAILING, printed)
    ended = call("run", "--annotations", "github", "--", *command, folder=desk / folder)
    assert ended.status == 1
    assert ended.stdout.startswith(b"FAILED: 1 failed")
    assert annotations(ended.stderr) == [f"::error {place}title=shuts::at: {printed}:7"]
    assert ended.stderr.splitlines()[-1].startswith(b"[Context Firewall] ")


def test_absolute_paths_and_foreign_code(desk: Path) -> None:
    foreign = desk / "node_modules" / "lid"
    foreign.mkdir(parents=True)
    (foreign / "lid.js").write_text("\n")
    for printed, place in (
        (desk / "north" / "gate.js", "file=north/gate.js,line=7,"),
        (foreign / "lid.js", ""),
    ):
        command = ("sh", "-c", FAILING, str(printed))
        ended = call("run", "--annotations", "github", "--", *command, folder=desk)
        assert annotations(ended.stderr)[0].startswith(f"::error {place}title=shuts::")


def test_a_run_that_is_annotated_needs_no_standard_output(desk: Path) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [*COMMAND, "run", "--annotations", "github", "--", "sh", "-c", FAILING, "north/gate.js"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            cwd=desk,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 1
    assert len(annotations(ended.stderr)) == 1
    assert b"OUTPUT_NOT_WRITTEN" in ended.stderr


def test_show_as_junit_and_as_annotations(desk: Path) -> None:
    """SHOW-4."""
    assert call("run", "--", "sh", "-c", FAILING, "north/gate.js", folder=desk).status == 1
    shown = call("show", "latest", "--format", "junit", folder=desk)
    case = ElementTree.fromstring(shown.stdout).find("testsuite/testcase")  # noqa: S314  ours
    assert case is not None
    assert case.attrib == {"classname": "gates", "name": "shuts", "file": "north/gate.js", "line": "7"}
    assert shown.stderr.startswith(b"[Context Firewall] run ")
    assert call("show", "latest", "--format", "github", folder=desk).stdout.startswith(b"::error file=north/gate.js,")
    clash = call("show", "latest", "--format", "github", "--emit", "brief", folder=desk).error()
    assert (clash["code"], clash["option"]) == ("INVALID_INPUT", "--format")


def test_a_folder_that_is_gone_has_no_files(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call("run", "--", "sh", "-c", FAILING, "north/gate.js", folder=desk)
    store = open_store(None, folder=str(desk))
    packet = json.loads(store.document(store.record(store.find_run("latest")), "packet"))
    gone = desk / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert report(packet, "github").startswith(b"::error title=shuts::")


# -- progress ---------------------------------------------------------------------------------------------------------


def test_progress_is_told_to_whoever_waits_and_the_command_cannot_forge_it(desk: Path) -> None:
    """RUN-14."""
    reading, writing = os.pipe()
    script = f"echo ok 1; echo not ok 2; echo forged >&{writing}; sleep 1.2; echo 1..2; exit 1"
    started = subprocess.Popen(
        [*COMMAND, "run", f"--progress-fd={writing}", "--no-store", "--", "bash", "-c", script],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
        cwd=desk,
        pass_fds=[writing],
    )
    os.close(writing)
    with open(reading, "rb") as told:
        lines = [json.loads(line) for line in told]
    assert started.wait(60) == 1
    assert lines
    assert {(line["tests"], line["failures"]) for line in lines} == {(2, 1)}
    seconds = [line["seconds"] for line in lines]
    assert seconds == sorted(set(seconds))


@pytest.mark.parametrize(
    ("options", "reason"),
    [(("--progress-fd=63",), "cannot be used"), (("--progress-fd=3", "--tee"), "both"), (("--progress-fd=1",), "3")],
)
def test_progress_that_cannot_be_told_is_refused_before_anything_runs(
    desk: Path, options: tuple[str, ...], reason: str
) -> None:
    ended = call("run", *options, "--", sys.executable, "-c", "open('ran', 'w')", folder=desk)
    assert reason in ended.error()["message"]
    assert not (desk / "ran").exists()
