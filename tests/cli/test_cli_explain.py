"""`context-firewall explain` from outside."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import tomllib
from pathlib import Path

import pytest
from cli_process import COMMAND, ENVIRONMENT, IDENTITY, call, envelope

from context_firewall.canonical import canonical_bytes

NOISY = (
    b"TAP version 13\n"
    b"ok 1 - opens\n"
    b"not ok 2 - shuts\n  ---\n  message: 'stays open'\n  ...\n"
    b"[worker 1] connected\n[worker 2] connected\n[worker 3] connected\n"
    b"\x1b[31mstdout  1  failed_test  kept\x1b[0m\n"
    b"1..2\n# tests 2\n# pass 1\n# fail 1\n"
)

TABLE = """\
FAILED: 1 failed, 1 passed, 2 in all; exit code 1; evidence NOT SUFFICIENT, see reasons
! UNCLASSIFIED_EVIDENCE: the grammar does not know some lines; they are shown, judge them yourself

kind                        kept  referenced  suppressed
aggregate_source               -           -           3
failed_test                    1           -           -
failure_detail                 2           -           -
failure_message                1           -           -
structure                      -           -           2
successful_test                -           -           1
unclassified                   4           -           -
all lines                      8           -           6

stdout  1      structure         suppressed  tap: the format's own frame: a version, plan, heading or bracket
stdout  2      successful_test   suppressed  tap: a result that passed
stdout  3      failed_test       kept        tap: a result that failed (failure 1)
            3 | not ok 2 - shuts
stdout  4      failure_detail    kept        tap: in a failure's region (failure 1)
            4 |   ---
stdout  5      failure_message   kept        tap: in a failure's region: its message (failure 1)
            5 |   message: 'stays open'
stdout  6      failure_detail    kept        tap: in a failure's region (failure 1)
            6 |   ...
stdout  7-10   unclassified      kept        tap: no rule knows this line here
            7 | [worker 1] connected
            8 | [worker 2] connected
            9 | [worker 3] connected
           10 | stdout  1  failed_test  kept
stdout  11     structure         suppressed  tap: the format's own frame: a version, plan, heading or bracket
stdout  12-14  aggregate_source  suppressed  tap: a total, in the summary's place
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a noisy run, which is no project's."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "out.txt").write_bytes(NOISY)
    (tmp_path / "err.txt").write_bytes(b"late\n")
    return tmp_path


ASKED = ("explain", "--input", "out.txt", "--exit-code", "1", *IDENTITY)


def shown(folder: Path, *arguments: str) -> list[str]:
    """The rows below the summary."""
    ended = call(*ASKED, *arguments, folder=folder)
    assert (ended.status, ended.stderr) == (0, b"")
    lines = ended.stdout.decode().splitlines()
    return lines[len(lines) - lines[::-1].index("") :]


def test_the_table(folder: Path) -> None:
    """EXP-5: the tenth line, which looks like a row, is none."""
    ended = call(*ASKED, folder=folder)
    assert (ended.status, ended.stderr) == (0, b"")
    assert ended.stdout.decode() == TABLE


def test_the_json_is_the_explanation_of_the_packet_that_reduce_makes(folder: Path) -> None:
    """EXP-1, EXP-2."""
    ended = call(*ASKED, "--stderr", "err.txt", "--json", folder=folder)
    document = json.loads(ended.stdout)
    assert canonical_bytes(document) + b"\n" == ended.stdout
    reduced = call("reduce", *ASKED[1:], "--stderr", "err.txt", folder=folder)
    assert document["packet"] == reduced.packet()
    assert [stream["name"] for stream in document["streams"]] == ["stdout", "stderr"]


def test_an_envelope_is_explained(folder: Path) -> None:
    given = canonical_bytes(envelope(NOISY.decode(), 1))
    ended = call("explain", "--json", given=given, folder=folder)
    assert json.loads(ended.stdout)["packet"] == call("reduce", given=given, folder=folder).packet()
    refused = call("explain", "--exit-code", "1", given=given, folder=folder)
    assert refused.error()["option"] == "--exit-code"


def test_a_ceiling_shows_as_references(folder: Path) -> None:
    ended = call(*ASKED, "--json", folder=folder)
    whole = json.loads(ended.stdout)["packet"]["receipt"]["measurements"]["reduced_bytes"]
    rows = shown(folder, "--max-bytes", str(whole - 100))
    assert "stdout  7-10   unclassified      referenced  tap: no rule knows this line here" in rows
    error = call(*ASKED, "--max-bytes", "10", folder=folder).error()
    assert error["code"] == "PAYLOAD_CEILING_TOO_SMALL"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--kind", "structure"), ["1", "11"]),
        (("--kind", "structure", "--kind", "successful_test"), ["1", "2", "11"]),
        (("--fate", "suppressed"), ["1", "2", "11", "12-14"]),
        (("--fate", "suppressed", "--kind", "structure"), ["1", "11"]),
        (("--lines", "10:12", "--fate", "suppressed"), ["11", "12"]),
        (("--lines", "13:", "--fate", "suppressed"), ["13-14"]),
        (("--lines", ":1"), ["1"]),
        (("--lines", "13"), ["13"]),
        (("--lines", "12:13", "--no-fold"), ["12", "13"]),
    ],
)
def test_rows_are_chosen(folder: Path, options: tuple[str, ...], expected: list[str]) -> None:
    assert [row.split()[1] for row in shown(folder, *options) if row.startswith("stdout")] == expected


def test_one_row_a_line_has_the_text_of_every_fate(folder: Path) -> None:
    rows = shown(folder, "--no-fold")
    assert len(rows) == NOISY.count(b"\n")
    assert rows[1].startswith("stdout  2   successful_test   suppressed  tap: a result that passed   ")
    assert rows[1].endswith("   | ok 1 - opens")
    assert rows[2].endswith(" | not ok 2 - shuts")


def test_nothing_chosen_is_said(folder: Path) -> None:
    assert shown(folder, "--kind", "timeout") == ["no such line"]


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (("--json", "--suggest"), "--suggest"),
        (("--json", "--kind", "blank"), "--kind"),
        (("--suggest", "--fate", "kept"), "--fate"),
        (("--json", "--no-fold"), "--no-fold"),
        (("--lines", ":"), "--lines"),
        (("--lines", "0:3"), "--lines"),
        (("--lines", "5:4"), "--lines"),
        (("--lines", "a:b"), "--lines"),
        (("--kind", "nonsense"), "--kind"),
        (("--html", "out.txt"), "--html"),
        (("--html", "."), "--html"),
        (("--format", "envelope"), "--operation-id"),
    ],
)
def test_wrong_usage(folder: Path, options: tuple[str, ...], option: str) -> None:
    error = call(*ASKED, *options, folder=folder).error()
    assert error["code"] == "INVALID_INPUT"
    assert error["option"] == option
    assert (folder / "out.txt").read_bytes() == NOISY


def test_the_flat_policy_is_not_explained(folder: Path) -> None:
    error = call(*ASKED, "--policy", "test-output-policy/v2", folder=folder).error()
    assert error["code"] == "INVALID_INPUT"


# -- the page


def test_the_page_is_written_and_the_summary_printed(folder: Path) -> None:
    ended = call(*ASKED, "--html", "run.html", folder=folder)
    assert (ended.status, ended.stderr) == (0, b"")
    assert ended.stdout.decode() == TABLE.partition("\n\nstdout")[0] + "\n"
    page = (folder / "run.html").read_bytes()
    assert page.startswith(b"<!DOCTYPE html>")
    assert (folder / "run.html").stat().st_mode & 0o777 == 0o600
    call(*ASKED, "--html", "again.html", "--json", folder=folder)
    assert (folder / "again.html").read_bytes() == page


def test_the_page_stands_beside_any_output(folder: Path) -> None:
    assert call(*ASKED, "--html", "a.html", "--kind", "structure", folder=folder).stdout.count(b"\nstdout") == 2
    assert call(*ASKED, "--html", "b.html", "--suggest", folder=folder).stdout.startswith(b"# takes 3 of 4")
    assert {path.name for path in folder.glob("*.html")} == {"a.html", "b.html"}


def test_a_run_that_cannot_be_explained_leaves_no_page(folder: Path) -> None:
    call(*ASKED, "--html", "run.html", "--max-bytes", "10", folder=folder).error()
    assert not (folder / "run.html").exists()


# -- proposals


def declared(text: bytes) -> list[dict[str, str]]:
    """The rules of a proposal, as a project's pyproject.toml would be read."""
    rules: list[dict[str, str]] = tomllib.loads(text.decode())["tool"]["context-firewall"]["noise"]
    return rules


def test_proposals_are_configuration_that_works(folder: Path) -> None:
    proposal = call(*ASKED, "--suggest", folder=folder)
    assert declared(proposal.stdout) == [{"prefix": "[worker "}]
    assert b"# 3 lines, such as: [worker 1] connected\n" in proposal.stdout
    (folder / "pyproject.toml").write_bytes(proposal.stdout)
    assert shown(folder, "--kind", "declared_noise") == [
        "stdout  7-9  declared_noise  suppressed  tap: declared as noise by the project"
    ]


def test_rules_that_are_declared_already_stay(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.context-firewall]\nnoise = [{ regex = "stdout\\\\s.*" }]\n')
    proposal = call(*ASKED, "--suggest", folder=folder)
    assert declared(proposal.stdout) == [{"regex": "stdout\\s.*"}, {"prefix": "[worker "}]
    assert b"# takes 3 of 3 unclassified lines" in proposal.stdout


def test_a_file_of_our_own_has_no_table(folder: Path) -> None:
    (folder / "context-firewall.toml").write_text("noise = []\n")
    proposal = call(*ASKED, "--suggest", folder=folder)
    assert tomllib.loads(proposal.stdout.decode()) == {"noise": [{"prefix": "[worker "}]}
    (folder / "context-firewall.toml").write_bytes(proposal.stdout)
    assert call(*ASKED, "--suggest", folder=folder).stdout.startswith(b"# nothing to propose")


@pytest.mark.parametrize(
    "words",
    ['say "so" \\n ', "tab\there ", "bell \x07 ", "turned \u202e ", "tag \U000e0041 ", "del \x7f ", "\u9023\u7dda "],
)
def test_any_text_makes_valid_toml(folder: Path, words: str) -> None:
    lines = "".join(f"{words}{n}\n" for n in range(1, 6))
    (folder / "out.txt").write_bytes(b"TAP version 13\n1..1\nok 1\n" + lines.encode())
    proposal = call(*ASKED, "--suggest", folder=folder)
    rules = declared(proposal.stdout)
    assert len(rules) == 1
    assert words.startswith(rules[0]["prefix"])
    assert proposal.stdout.decode().replace("\n", "").isprintable()


def test_what_may_not_be_taken_is_not_promised(folder: Path) -> None:
    """A stretch with contested results keeps everything."""
    contested = b"1..1\nok 1 - opens\nnot ok 7 - printed\n" + b"pool drained 1\npool drained 2\npool drained 3\n"
    (folder / "out.txt").write_bytes(b"TAP version 13\n" + contested)
    proposal = call("explain", "--input", "out.txt", "--exit-code", "0", "--suggest", folder=folder)
    assert proposal.stdout.startswith(b"# takes 0 of 3 unclassified lines")


# -- terminals


def on_terminal(folder: Path, *arguments: str, **environment: str) -> bytes:
    """What the command prints on a terminal that is 60 columns wide."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *ASKED, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**ENVIRONMENT, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # how a terminal says that nobody writes to it any more
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    assert process.communicate()[1] == b""
    assert process.returncode == 0
    return b"".join(parts).replace(b"\r\n", b"\n")


def test_a_terminal_gets_colours_and_short_lines(folder: Path) -> None:
    (folder / "out.txt").write_bytes(NOISY + "\u9023\u7dda\u6c60\u5df2\u8017\u76e1".encode() * 20 + b"\n")
    printed = on_terminal(folder)
    assert b"\x1b[1;31mFAILED: " in printed
    assert b"\x1b[31mstdout  3 " in printed
    assert b"\x1b[2mstdout  1 " in printed
    plain = on_terminal(folder, NO_COLOR="1")
    assert b"\x1b" not in plain
    lines = plain.decode().splitlines()
    wide = next(line for line in lines if "\u9023" in line)
    assert wide.endswith("…")
    assert sum(2 if ord(one) > 0x3000 else 1 for one in wide) in (59, 60)
    assert all(len(line) <= 60 for line in lines)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours(folder: Path, environment: dict[str, str]) -> None:
    assert b"\x1b" not in on_terminal(folder, **environment)


def test_a_pipe_gets_neither(folder: Path) -> None:
    (folder / "out.txt").write_bytes(NOISY + b"x" * 5000 + b"\n")
    printed = call(*ASKED, folder=folder).stdout
    assert b"\x1b" not in printed
    assert b"x" * 5000 in printed


def test_json_has_no_colours_on_a_terminal(folder: Path) -> None:
    assert b"\x1b" not in on_terminal(folder, "--json")
