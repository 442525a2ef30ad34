"""raw, show, runs, diff, stats and gc: what people and agents ask of a store."""

import json
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli_process import COMMAND, ENVIRONMENT, Ended
from cli_process import call as run
from stored import GREEN, RED, check_store, in_folder, store_run, tap

from context_firewall.canonical import canonical_bytes
from context_firewall.store.evidence import EvidenceStore, manifest_name, object_name

FOLDER = ".context-firewall"
LINES = RED.splitlines(keepends=True)


@pytest.fixture(autouse=True)
def _no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here is about crashes of the machine, and syncing takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    """The default store of a folder that is the root of a repository."""
    (tmp_path / ".git").mkdir()
    return in_folder(tmp_path / FOLDER)


def raw(folder: Path, *arguments: str) -> tuple[bytes, str]:
    """The bytes that `raw` writes, and what it says of them."""
    ended = run("raw", *arguments, folder=folder)
    assert ended.status == 0, ended.stderr
    return ended.stdout, ended.stderr.decode()


def document(ended: Ended) -> dict[str, Any]:
    """A canonical document on standard output."""
    assert ended.stderr == b""
    found: dict[str, Any] = json.loads(ended.stdout)
    assert canonical_bytes(found) + b"\n" == ended.stdout
    return found


# -- raw --------------------------------------------------------------------------------------------------------------


def test_raw_gives_the_exact_bytes_back(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-1: standard output before standard error, and each alone."""
    err = b"\xff\x00 no text\r\nand no end"
    store_run(store, RED, err)
    assert raw(tmp_path, "latest")[0] == RED + err
    assert raw(tmp_path, "latest", "--stream", "stdout")[0] == RED
    data, said = raw(tmp_path, "latest", "--stream", "stderr")
    assert (data, said) == (err, "[Context Firewall] stderr: 2 lines, 22 B, all of it; digest checked\n")


def test_raw_gives_lines_as_a_brief_names_them(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-2."""
    run_name = store_run(store, RED)
    for asked, wanted in (
        (("5:9",), LINES[4:9]),
        (("5-9",), LINES[4:9]),
        (("stdout:5-9",), LINES[4:9]),
        (("stdout:5-9,12",), [*LINES[4:9], LINES[11]]),
        (("5:9", "12"), [*LINES[4:9], LINES[11]]),
        (("8:9", "5:8"), LINES[4:9]),
        ((":2",), LINES[:2]),
        (("22:",), LINES[21:]),
        (("22:9999",), LINES[21:]),
    ):
        options = [word for text in asked for word in ("--lines", text)]
        data, said = raw(tmp_path, run_name.evidence[:8], *options)
        assert data == b"".join(wanted), asked
        assert f" of {len(LINES)}, {len(data)} B of {len(RED)} B; left out: line" in said
    assert "stdout: lines 5-9,12 of 26" in raw(tmp_path, "latest", "--lines", "stdout:5-9,12")[1]
    assert "left out: lines 1-4,10-11,13-26" in raw(tmp_path, "latest", "--lines", "stdout:5-9,12")[1]


def test_raw_without_a_streams_name_means_the_one_that_printed(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-2."""
    store_run(store, b"", b"one\ntwo\n")
    assert raw(tmp_path, "latest", "--lines", "2")[0] == b"two\n"
    store_run(store, b"uno\ndue\n", b"one\ntwo\n", at="2026-11-30T11:00:00.000Z")
    assert raw(tmp_path, "latest", "--lines", "2")[0] == b"due\n"
    assert raw(tmp_path, "latest", "--lines", "stderr:2")[0] == b"two\n"
    assert raw(tmp_path, "latest", "--lines", "stderr:2 stdout:1")[0] == b"uno\ntwo\n"


def test_raw_gives_a_failure_with_context(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-3."""
    store_run(store, RED)
    assert raw(tmp_path, "latest", "--failure", "2", "--context", "0")[0] == b"".join(LINES[13:18])
    assert raw(tmp_path, "latest", "--failure", "2")[0] == b"".join(LINES[10:21])
    error = run("raw", "latest", "--failure", "3", folder=tmp_path).error()
    assert error["message"] == "the packet of this run names 2 failures"


def test_raw_finds_a_text(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-4."""
    store_run(store, RED, b"careful: parcel 4\n")
    data, said = raw(tmp_path, "latest", "--grep", "parcel 4")
    assert data == LINES[4] + LINES[6] + b"careful: parcel 4\n"
    assert said.count("\n") == 2
    assert raw(tmp_path, "latest", "--grep", "not ok 4", "-n")[0] == b"stdout:5: " + LINES[4]
    near = raw(tmp_path, "latest", "--grep", "not ok 4", "--context", "1", "--number")[0]
    assert near == b"".join(b"stdout:%d: %b" % (at + 1, LINES[at]) for at in (3, 4, 5))
    ended = run("raw", "latest", "--grep", "parcel .", folder=tmp_path)
    assert (ended.status, ended.stdout) == (1, b"")
    assert ended.stderr == b"[Context Firewall] no line holds that text\n"


def test_raw_keeps_a_ceiling_and_says_so(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-5."""
    store_run(store, RED, b"careful\n")
    for ceiling in (0, 1, 14, 15, 16, 40, len(RED) - 1):
        data, said = raw(tmp_path, "latest", "--max-bytes", str(ceiling))
        assert len(data) <= ceiling
        assert RED.startswith(data)
        assert data.endswith(b"\n") or ceiling < len(LINES[0])
        assert f"cut by --max-bytes after {len(data)} B, {len(RED) - len(data)} B are missing" in said
        assert "cut by --max-bytes after 0 B, 8 B are missing" in said  # nothing of the second stream either
    data, said = raw(tmp_path, "latest", "--max-bytes", str(len(RED) + 8))
    assert (data, "cut" in said) == (RED + b"careful\n", False)


def test_raw_refuses_what_makes_no_sense(tmp_path: Path, store: EvidenceStore) -> None:
    store_run(store, RED)
    for arguments, option in (
        (("--lines", "3", "--grep", "x"), "--grep"),
        (("--failure", "0"), "--failure"),
        (("--failure", "1", "--lines", "2"), "--failure"),
        (("--context", "2"), "--context"),
        (("--grep", ""), "--grep"),
        (("--grep", "a\nb"), "--grep"),
        (("--lines", "0"), "--lines"),
        (("--lines", "9:3"), "--lines"),
        (("--lines", ":"), "--lines"),
        (("--lines", "stdin:3"), "--lines"),
        (("--lines", "90:99"), "--lines"),
        (("--stream", "stdout", "--lines", "stderr:1"), "--lines"),
    ):
        error = run("raw", "latest", *arguments, folder=tmp_path).error()
        assert (error["code"], error["option"]) == ("INVALID_INPUT", option), arguments


def test_raw_writes_nothing_of_a_damaged_stream(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-6."""
    name = store_run(store, RED)
    stream = store.manifest(name.reference)["streams"][0]
    path = tmp_path / FOLDER / object_name(stream["sha256"])
    path.write_bytes(path.read_bytes()[:-9])
    assert run("raw", "latest", "--lines", "1", folder=tmp_path).error()["code"] == "EVIDENCE_DAMAGED"
    path.unlink()
    assert run("raw", "latest", folder=tmp_path).error()["code"] == "EVIDENCE_NOT_FOUND"


def test_raw_spells_control_characters_out_for_a_terminal(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-7 and P7."""
    store_run(store, b"\x1b]0;title\x07\x1b[31mred\x1b[0m\rback\n\xe2\x80\xaeright\n")
    ours, theirs = pty.openpty()
    command = [*COMMAND, "raw", "latest", "--stream", "stdout"]
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd=tmp_path)
    _, said = process.communicate(timeout=60)
    os.close(theirs)
    shown = os.read(ours, 65_536)
    os.close(ours)
    assert process.returncode == 0
    assert b"\\x1b]0;title\\x07\\x1b[31mred\\x1b[0m\\rback\r\n\\u202eright" in shown
    assert b"\x1b" not in shown
    assert b"spelled out" in said


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks /proc for the size")
def test_raw_takes_lines_of_a_large_object_in_bounded_memory(tmp_path: Path, store: EvidenceStore) -> None:
    """RAW-8."""
    with store.writer() as writer:
        for block in range(100):
            writer.write(b"".join(b"ok %d - weighs parcel %d\n" % (n, block) for n in range(40_000)))
        stored = writer.finish()
    from context_firewall.documents.evidence_manifest import evidence_manifest

    reference = store.put_manifest(evidence_manifest([stored.stream("stdout")]))
    code = (
        "import runpy, sys; from large import peak_kilobytes; sys.argv = sys.argv[1:]\n"
        "try: runpy.run_module('context_firewall', run_name='__main__')\n"
        "finally: print(peak_kilobytes(), file=sys.stderr)"
    )
    beside = Path(__file__).resolve().parents[1] / "store"
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}{os.pathsep}{beside}"}
    for arguments in (("--lines", "3000000:3000002"), ("--grep", "ok 39999 - weighs parcel 99"), ("--grep", "7 -")):
        words = [COMMAND[0], "-c", code, "context-firewall", "raw", reference, "--max-bytes", "500", *arguments]
        ended = subprocess.run(words, capture_output=True, env=environment, cwd=tmp_path, timeout=300, check=True)
        assert ended.stdout.count(b"\n") >= 1
        assert int(ended.stderr.split()[-1]) < 100_000


# -- show -------------------------------------------------------------------------------------------------------------


def test_show_gives_what_was_made_of_a_run(tmp_path: Path, store: EvidenceStore) -> None:
    """SHOW-1."""
    name = store_run(store, RED)
    record = store.record(name)
    for emit, wanted in (
        ("brief", store.document(record, "brief")),
        ("packet", store.document(record, "packet")),
        ("value-receipt", store.document(record, "value_receipt")),
        ("manifest", canonical_bytes(store.manifest(name.reference)) + b"\n"),
        ("record", canonical_bytes(record) + b"\n"),
    ):
        ended = run("show", name.evidence[:6], "--emit", emit, folder=tmp_path)
        assert ended.stdout == wanted
        assert (
            ended.stderr == f"[Context Firewall] run {name.evidence[:12]} of 2026-11-30 10:00:00 UTC: {NAMED}".encode()
        )
    assert run("show", "latest", folder=tmp_path).stdout == store.document(record, "brief")
    evidence = json.loads(run("show", "latest", "--emit", "model-evidence", folder=tmp_path).stdout)
    assert evidence["operation_id"] == "parcels"


NAMED = "sh run-tests\n"


def test_show_makes_what_was_not_kept(tmp_path: Path, store: EvidenceStore) -> None:
    store_run(store, RED, keep_brief=False)
    assert run("show", "latest", folder=tmp_path).stdout.startswith(b"FAILED: 2 failed, 10 passed")


def test_show_explains_the_stored_bytes(tmp_path: Path, store: EvidenceStore) -> None:
    """SHOW-2."""
    store_run(store, RED)
    (tmp_path / "out.txt").write_bytes(RED)
    shown = run("show", "latest", "--emit", "explanation", folder=tmp_path)
    assert b"     5 | not ok 4 - weighs parcel 4" in shown.stdout
    assert b"another packet" not in shown.stderr
    options = ("--operation-id", "parcels", "--source-id", "rates", "--exit-code", "1", "--raw-ref", "x")
    explained = run("explain", "--input", "out.txt", *options, folder=tmp_path)
    assert shown.stdout.partition(b"\n\n")[2] == explained.stdout.partition(b"\n\n")[2]


def test_show_refuses_a_packet_of_another_run(tmp_path: Path, store: EvidenceStore) -> None:
    """SHOW-3: each is whole, and they don't belong together."""
    from context_firewall.canonical import sha256

    name, other = store_run(store, RED), store_run(store, GREEN, exit_code=0, at="2026-11-30T11:00:00.000Z")
    record = {**store.record(name), "documents": store.record(other)["documents"]}
    data = canonical_bytes(record) + b"\n"
    forged = name._replace(recorded_at=name.recorded_at, own=sha256(data)[7:])
    (tmp_path / FOLDER / name.path).unlink()
    (tmp_path / FOLDER / forged.path).write_bytes(data)
    error = run("show", name.evidence, folder=tmp_path).error()
    assert (error["code"], "does not belong to its record" in error["message"]) == ("EVIDENCE_DAMAGED", True)


# -- runs -------------------------------------------------------------------------------------------------------------


def three(store: EvidenceStore) -> None:
    """Three runs, the newest of which is green."""
    store_run(store, RED, at="2026-11-30T10:00:00.000Z")
    store_run(store, tap(12, [4]), at="2026-11-30T11:00:00.000Z", named=False, command=("npm", "run", "a b"))
    store_run(store, GREEN, at="2026-11-30T12:00:00.000Z", exit_code=0)


def test_runs_are_listed_newest_first(tmp_path: Path, store: EvidenceStore) -> None:
    """LIST-1."""
    three(store)
    ended = run("runs", folder=tmp_path)
    head, *rows = ended.stdout.decode().splitlines()
    assert head.split() == ["run", "time", "(UTC)", "verdict", "failed", "command"]
    assert [row[14:] for row in rows] == [
        "2026-11-30 12:00:00  passed                  0 of 12  sh run-tests",
        "2026-11-30 11:00:00  failed, NOT SUFFICIENT  1 of 12  npm run 'a b'",
        "2026-11-30 10:00:00  failed                  2 of 12  sh run-tests",
    ]
    assert store.find_run(rows[1][:12]) == store.find_run("latest~1")


def test_runs_are_chosen_by_verdict(tmp_path: Path, store: EvidenceStore) -> None:
    """LIST-1."""
    three(store)

    def times(*arguments: str) -> list[str]:
        listed = document(run("runs", "--json", *arguments, folder=tmp_path))
        assert listed["protocol_version"] == "context-firewall.run-list/v1"
        return [one["recorded_at"][11:13] for one in listed["runs"]] + ["more"] * listed["more"]

    assert times() == ["12", "11", "10"]
    assert times("--status", "failed") == ["11", "10"]
    assert times("--status", "failed", "--limit", "1") == ["11", "more"]
    assert times("--status", "passed", "--status", "indeterminate") == ["12"]
    assert times("--insufficient") == ["11"]


def test_a_damaged_record_is_named_and_the_others_are_listed(tmp_path: Path, store: EvidenceStore) -> None:
    """LIST-2."""
    three(store)
    name = store.runs()[1]
    (tmp_path / FOLDER / name.path).write_bytes(b"{}")
    ended = run("runs", folder=tmp_path)
    assert ended.stdout.count(b"\n") == 3
    assert ended.stderr == f"[Context Firewall] damaged and left out: {name.path}\n".encode()
    assert document(run("runs", "--json", folder=tmp_path))["damaged"] == [name.path]


def test_an_empty_store_is_an_empty_list(tmp_path: Path, store: EvidenceStore) -> None:
    assert run("runs", folder=tmp_path).stdout == b""
    assert document(run("runs", "--json", folder=tmp_path))["runs"] == []
    assert run("show", "latest", folder=tmp_path).error()["code"] == "EVIDENCE_NOT_FOUND"
    assert not (tmp_path / FOLDER).exists()


def test_a_hostile_command_cannot_speak_to_the_terminal(tmp_path: Path, store: EvidenceStore) -> None:
    """P7."""
    store_run(store, RED, command=("sh", "\x1b[2Jnew\nline"))
    for command in (("runs",), ("show", "latest"), ("stats",), ("gc", "--keep-last", "0")):
        ended = run(*command, folder=tmp_path)
        assert b"\x1b" not in ended.stdout + ended.stderr
        assert b"new\\nline" in ended.stdout + ended.stderr


# -- diff -------------------------------------------------------------------------------------------------------------


def test_diff_says_what_is_new_fixed_and_still_there(tmp_path: Path, store: EvidenceStore) -> None:
    """DIFF-1."""
    store_run(store, RED, at="2026-11-30T10:00:00.000Z")
    store_run(store, tap(12, [2, 9]), at="2026-11-30T11:00:00.000Z")
    ended = run("diff", folder=tmp_path)
    assert ended.status == 1
    assert ended.stdout.decode().partition("\n\n")[2] == (
        "new: 1\n+ weighs parcel 2 [stdout:3-7]\n\n"
        "fixed: 1\n- weighs parcel 4 [stdout:5-9]\n\n"
        "still there: 1\n= weighs parcel 9 [stdout:14-18]\n"
    )
    found = document(run("diff", "latest~1", "latest", "--json", folder=tmp_path))
    assert [one["identity"] for one in found["new"]] == ["weighs parcel 2"]
    back = run("diff", "latest", "latest~1", folder=tmp_path)
    assert (back.status, b"+ weighs parcel 4" in back.stdout) == (1, True)
    assert run("diff", "latest", "latest", folder=tmp_path).status == 0


def test_diff_calls_nothing_fixed_that_is_not_proven(tmp_path: Path, store: EvidenceStore) -> None:
    """DIFF-2."""
    three(store)
    text = run("diff", "latest~2", "latest~1", folder=tmp_path).stdout.decode()
    assert "! COMMANDS_DIFFER: " in text
    assert "! LATER_NOT_SUFFICIENT: " in text
    assert "fixed: none" in text
    assert "not seen in the later run, not proven fixed: 1\n? weighs parcel 9" in text


# -- stats ------------------------------------------------------------------------------------------------------------


def test_stats_add_up_and_book_no_insufficient_run_as_a_saving(tmp_path: Path, store: EvidenceStore) -> None:
    """STATS-1 and STATS-2."""
    three(store)
    found = document(run("stats", "--json", folder=tmp_path))
    totals = found["totals"]
    assert (totals["runs"], totals["sufficient"]["runs"], totals["escalated"]["runs"]) == (3, 2, 1)
    assert totals["sufficient"]["raw_bytes"] == len(RED) + len(GREEN)
    assert totals["escalated"]["raw_bytes"] == len(tap(12, [4]))
    assert totals["bytes_avoided"] == totals["sufficient"]["raw_bytes"] - totals["sufficient"]["visible_bytes"]
    assert totals["reduction_ratio"] == f"{totals['bytes_avoided']}/{len(RED) + len(GREEN)}"
    text = run("stats", folder=tmp_path).stdout.decode()
    assert "of the runs whose evidence sufficed" in text
    assert next(line for line in text.splitlines() if "all runs" in line).split()[2:6] == ["3", "1", "2", "0"]


def test_stats_draw_a_picture(tmp_path: Path, store: EvidenceStore) -> None:
    """STATS-3."""
    from xml.etree import ElementTree

    three(store)
    assert run("stats", "--chart", "bytes.svg", folder=tmp_path).status == 0
    picture = (tmp_path / "bytes.svg").read_text()
    assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314  ours
    assert "1 run did not suffice" in picture
    assert run("stats", "--chart", "bytes.html", folder=tmp_path).status == 0
    assert "http" not in (tmp_path / "bytes.html").read_text().replace("http://www.w3.org/2000/svg", "").replace(
        "http-equiv", ""
    )
    assert run("stats", "--chart", "bytes.png", folder=tmp_path).error()["option"] == "--chart"


def test_stats_name_what_they_could_not_read(tmp_path: Path, store: EvidenceStore) -> None:
    three(store)
    name = store.runs()[0]
    (tmp_path / FOLDER / object_name(store.record(name)["documents"]["value_receipt"]["sha256"])).unlink()
    ended = run("stats", folder=tmp_path)
    assert f"damaged and not counted: {name.path}".encode() in ended.stderr
    assert document(run("stats", "--json", folder=tmp_path))["totals"]["runs"] == 2


# -- gc ---------------------------------------------------------------------------------------------------------------


def test_gc_is_a_dry_run_first(tmp_path: Path, store: EvidenceStore) -> None:
    """PRUNE-2."""
    three(store)
    text = run("gc", "--keep-last", "1", "--min-age", "0m", folder=tmp_path).stdout.decode()
    assert text.count("beyond --keep-last") == 2
    assert "nothing was removed: this was a dry run" in text
    assert check_store(tmp_path / FOLDER) == 3
    plan = document(run("gc", "--keep-last", "1", "--min-age", "0m", "--delete", "--json", folder=tmp_path))
    assert (plan["done"], len(plan["pruned"]), plan["kept_runs"]) == (True, 2, 1)
    assert check_store(tmp_path / FOLDER) == 1
    again = document(run("gc", "--keep-last", "1", "--min-age", "0m", "--json", folder=tmp_path))
    assert (again["files"], again["kept_bytes"]) == (0, plan["kept_bytes"])


def test_gc_takes_ages_and_sizes(tmp_path: Path, store: EvidenceStore) -> None:
    """PRUNE-1."""
    store_run(store, RED, at="2020-01-01T00:00:00.000Z")
    store_run(store, GREEN, at="2020-01-02T00:00:00.000Z", exit_code=0)
    for arguments, whys in (
        (("--max-age", "30d"), ["TOO_OLD", "TOO_OLD"]),
        (("--max-age", "90000d"), []),
        (("--max-size", "1k"), ["OVER_SIZE", "OVER_SIZE"]),
        (("--max-size", "1G"), []),
    ):
        plan = document(run("gc", *arguments, "--json", folder=tmp_path))
        assert [one["why"] for one in plan["pruned"]] == whys, arguments
    for wrong in (("--max-age", "1y"), ("--max-size", "-1"), ("--max-size", "1T"), ("--keep-last", "x"), ()):
        assert run("gc", *wrong, folder=tmp_path).error()["code"] == "INVALID_INPUT"


def test_gc_removes_nothing_when_it_cannot_know(tmp_path: Path, store: EvidenceStore) -> None:
    """PRUNE-3."""
    three(store)
    name = store.runs()[0]
    (tmp_path / FOLDER / manifest_name(name.evidence)).write_bytes(b"{}\n")
    error = run("gc", "--keep-last", "0", "--delete", folder=tmp_path).error()
    assert (error["code"], error["name"]) == ("EVIDENCE_DAMAGED", manifest_name(name.evidence))
    assert len(store.runs()) == 3


# -- which store ------------------------------------------------------------------------------------------------------


def test_the_store_is_named_on_the_command_line_or_configured(tmp_path: Path, store: EvidenceStore) -> None:
    """STORE-8."""
    three(store)
    inner = tmp_path / "inner"
    inner.mkdir()
    store_run(in_folder(inner / "kept"), RED)
    (tmp_path / "context-firewall.toml").write_text('store = "inner/kept"\n')
    assert run("runs", folder=inner).stdout.count(b"\n") == 2
    assert run("runs", "--no-config", folder=inner).stdout.count(b"\n") == 4
    assert run("runs", "--store", "../.context-firewall", folder=inner).stdout.count(b"\n") == 4
    assert run("runs", "--store", "nothing://x", folder=inner).error()["option"] == "--store"


# -- verify -----------------------------------------------------------------------------------------------------------


def test_a_packet_is_verified_against_the_evidence_that_it_names(tmp_path: Path, store: EvidenceStore) -> None:
    """VFY-17."""
    name = store_run(store, RED, b"careful\n")
    data = store.document(store.record(name), "packet")
    (tmp_path / "packet.json").write_bytes(data)
    found = document(run("verify", "packet.json", "--stored", "--json", folder=tmp_path))
    assert (found["verified"], found["unvouched"]) == (True, ["operation_id"])
    assert found["levels"] == ["packet", "raw_bytes", "replay", "stored"]
    (tmp_path / "packet.json").write_bytes(data.replace(b'"duration_ms":12', b'"duration_ms":13'))
    found = document(run("verify", "packet.json", "--stored", "--json", folder=tmp_path))
    assert [one["field"] for one in found["documents"][1]["findings"]] == ["decision_evidence.process.duration_ms"]
    error = run("verify", "packet.json", "--stored", "--raw", "packet.json", folder=tmp_path).error()
    assert error["option"] == "--stored"
    (tmp_path / "packet.json").write_bytes(data.replace(name.evidence.encode(), b"0" * 64))
    assert run("verify", "packet.json", "--stored", folder=tmp_path).error()["code"] == "EVIDENCE_NOT_FOUND"
    (tmp_path / "packet.json").write_bytes(data.replace(b"evidence://", b"elsewhere:"))
    assert run("verify", "packet.json", "--stored", folder=tmp_path).error()["code"] == "INVALID_INPUT"
    for odd in (b"{}", b'{"receipt":{"raw_evidence":[]}}'):
        (tmp_path / "packet.json").write_bytes(odd)
        assert run("verify", "packet.json", "--stored", folder=tmp_path).error()["code"] == "INVALID_INPUT"
