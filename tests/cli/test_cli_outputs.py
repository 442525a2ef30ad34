"""Sidecars: private, whole, all or none, and never where they were not asked for."""

import json
import os
import stat
from pathlib import Path

import pytest
from cli_process import GREEN, IDENTITY, Ended, call

from context_firewall import (
    InvalidInput,
    OutputNotWritten,
    model_evidence_for_packet,
    serialize_model_evidence,
    serialize_value_receipt,
    value_receipt_for_packet,
)
from context_firewall.cli import outputs


def reduced(folder: Path, *arguments: str, given: bytes = GREEN) -> Ended:
    """Reduce a green run in a folder."""
    return call("reduce", *IDENTITY, "--exit-code", "0", *arguments, given=given, folder=folder)


def files(folder: Path) -> set[str]:
    """All names in a folder, the hidden ones too."""
    return set(os.listdir(folder))


def test_both_sidecars_are_the_librarys_and_private(tmp_path: Path) -> None:
    arguments = ("--value-receipt", "receipt.json", "--model-evidence", "evidence.json", "--mechanism-revision", "r7")
    packet = reduced(tmp_path, *arguments).packet()
    receipt = value_receipt_for_packet(packet, mechanism_revision="r7")  # type: ignore[arg-type]
    evidence = model_evidence_for_packet(packet)  # type: ignore[arg-type]
    assert (tmp_path / "receipt.json").read_bytes() == serialize_value_receipt(receipt)
    assert (tmp_path / "evidence.json").read_bytes() == serialize_model_evidence(evidence)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in files(tmp_path)} == {0o600}
    assert files(tmp_path) == {"receipt.json", "evidence.json"}


def test_sidecars_do_not_change_the_packet(tmp_path: Path) -> None:
    assert reduced(tmp_path, "--value-receipt", "r.json").stdout == reduced(tmp_path).stdout
    assert reduced(tmp_path, "--mechanism-revision", "r7").stdout == reduced(tmp_path).stdout


def test_an_existing_file_is_replaced_and_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("old")
    (tmp_path / "r.json").chmod(0o644)
    (tmp_path / "hard-link").hardlink_to(tmp_path / "r.json")
    reduced(tmp_path, "--value-receipt", "r.json").packet()
    assert json.loads((tmp_path / "r.json").read_bytes())["schema"] == "opsle.value-receipt.v1"
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o600
    assert (tmp_path / "hard-link").read_text() == "old"


def test_a_second_sidecar_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    for second in ("missing/evidence.json", "/proc/version", "/proc/evidence.json"):
        error = reduced(tmp_path, "--value-receipt", "r.json", "--model-evidence", second).error()
        assert error["option"] == "--model-evidence"
        assert files(tmp_path) == set()


def test_a_run_that_fails_leaves_nothing(tmp_path: Path) -> None:
    asked = ("--value-receipt", "r.json", "--model-evidence", "e.json")
    assert reduced(tmp_path, *asked, "--max-bytes", "9").error()["code"] == "PAYLOAD_CEILING_TOO_SMALL"
    assert call("reduce", *asked, given=GREEN, folder=tmp_path).error()["code"] == "INVALID_INPUT"  # no operation id
    assert reduced(tmp_path, *asked, given=b'{"protocol_version":"opsle.').error()["code"] == "INVALID_INPUT"
    assert files(tmp_path) == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_packet_that_cannot_be_delivered_takes_its_sidecars_back(tmp_path: Path) -> None:
    import subprocess

    from cli_process import COMMAND, ENVIRONMENT

    (tmp_path / "r.json").write_text("old")
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*COMMAND, "reduce", *IDENTITY, "--value-receipt", "r.json", "--model-evidence", "e.json"],
            input=GREEN,
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            cwd=tmp_path,
            check=False,
        )
    assert json.loads(ended.stderr)["code"] == "OUTPUT_NOT_WRITTEN"
    assert files(tmp_path) == {"r.json"}
    assert (tmp_path / "r.json").read_text() == "old"


def test_two_names_of_one_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to("there")
    (tmp_path / "one").write_text("x")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    for one, other in (("r.json", "./r.json"), ("there/r", "here/r"), ("one", "two"), ("there/../r", "r")):
        error = reduced(tmp_path, "--value-receipt", one, "--model-evidence", other).error()
        assert error["code"] == "INVALID_INPUT"
    assert files(tmp_path / "there") == set()


def test_an_output_is_never_what_is_read(tmp_path: Path) -> None:
    for content in (GREEN, b""):
        (tmp_path / "run.tap").write_bytes(content)
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").hardlink_to(tmp_path / "run.tap")
        for name in ("run.tap", "link", "./run.tap"):
            assert reduced(tmp_path, "--input", "run.tap", "--value-receipt", name).error()["code"] == "INVALID_INPUT"
            assert reduced(tmp_path, "--stderr", "run.tap", "--value-receipt", name).error()["code"] == "INVALID_INPUT"
            with (tmp_path / "run.tap").open("rb") as file:
                ended = call("reduce", "--value-receipt", name, given=file, folder=tmp_path)
            assert ended.error()["option"] == "--value-receipt"
        assert (tmp_path / "run.tap").read_bytes() == content


def test_an_output_is_never_where_standard_output_goes(tmp_path: Path) -> None:
    import subprocess

    from cli_process import COMMAND, ENVIRONMENT

    with (tmp_path / "packet.json").open("wb") as file:
        ended = subprocess.run(
            [*COMMAND, "reduce", "--value-receipt", "packet.json"],
            input=GREEN,
            stdout=file,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            cwd=tmp_path,
            check=False,
        )
    assert json.loads(ended.stderr)["code"] == "INVALID_INPUT"


def test_links_folders_and_devices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("untouched")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dangling", "folder", "folder/", ".", "..", "", "pipe", "/dev/null", "/dev/stdout"):
        assert reduced(tmp_path, "--value-receipt", name).error()["code"] == "INVALID_INPUT"
    assert (tmp_path / "target").read_text() == "untouched"
    assert files(tmp_path) == {"target", "link", "dangling", "folder", "pipe"}


def test_a_failed_rename_restores_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").write_text("old")
    wanted = outputs.targets({"--one": str(tmp_path / "one"), "--two": str(tmp_path / "two")})
    replace = os.replace

    def fails_for_two(source: str, target: str) -> None:
        if target.endswith("two"):
            raise PermissionError(13, "no")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails_for_two)
    with (
        pytest.raises(OutputNotWritten) as caught,
        outputs.written([(target, b"new") for target in wanted]),
    ):
        pytest.fail("the body must not run")
    assert caught.value.details["option"] == "--two"
    assert (tmp_path / "one").read_text() == "old"
    assert files(tmp_path) == {"one"}


def test_a_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_arguments: object, **_options: object) -> None:
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "link", no_links)
    (tmp_path / "one").write_text("old")
    wanted = outputs.targets({"--one": str(tmp_path / "one")})
    seen = []

    def fails_midway() -> None:
        with outputs.written([(wanted[0], b"new")]):
            seen.append((tmp_path / "one").read_text())
            raise InvalidInput("the body failed")

    with pytest.raises(InvalidInput):
        fails_midway()
    assert seen == ["new"]
    assert (tmp_path / "one").read_text() == "old"
    with outputs.written([(wanted[0], b"new")]):
        pass
    assert (tmp_path / "one").read_text() == "new"
    assert files(tmp_path) == {"one"}


def test_a_file_system_that_ignores_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`A` and `a` look like two names until both are written."""
    wanted = outputs.targets({"--one": str(tmp_path / "a"), "--two": str(tmp_path / "A")})
    replace, lstat, link, unlink = os.replace, os.lstat, os.link, os.unlink

    def folded(path: str) -> str:
        return path.removesuffix("A") + "a" if path.endswith("A") else path

    monkeypatch.setattr(os, "replace", lambda source, target: replace(folded(source), folded(target)))
    monkeypatch.setattr(os, "lstat", lambda path: lstat(folded(path)))
    monkeypatch.setattr(os, "link", lambda source, target, **options: link(folded(source), target, **options))
    monkeypatch.setattr(os, "unlink", lambda path: unlink(folded(path)))
    with pytest.raises(InvalidInput), outputs.written([(target, b"new") for target in wanted]):
        pytest.fail("the body must not run")
    assert files(tmp_path) == set()


def test_a_strange_umask_does_not_matter(tmp_path: Path) -> None:
    previous = os.umask(0o777)
    try:
        reduced(tmp_path, "--value-receipt", "r.json").packet()
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o600


def test_the_longest_name_works(tmp_path: Path) -> None:
    name = "r" * 255
    reduced(tmp_path, "--value-receipt", name).packet()
    assert files(tmp_path) == {name}


def test_what_others_left_behind_is_not_touched(tmp_path: Path) -> None:
    leftover = tmp_path / f".context-firewall-{os.getpid()}-0.new"
    leftover.write_text("theirs")
    wanted = outputs.targets({"--one": str(tmp_path / "one")})
    with outputs.written([(wanted[0], b"new")]):
        pass
    assert leftover.read_text() == "theirs"
    assert (tmp_path / "one").read_text() == "new"
