"""`context-firewall reduce` from outside: channels, exit statuses, options, input forms."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_process import COMMAND, ENVIRONMENT, GREEN, IDENTITY, RED, call, envelope, run

from context_firewall import reduce_test_run, serialize_packet

V2 = ("--policy", "test-output-policy/v2")


def test_an_envelope_and_the_same_raw_run_give_the_same_packet() -> None:
    raw = call("reduce", *V2, *IDENTITY, "--exit-code", "0", "--duration-ms", "3", given=GREEN)
    wrapped = call("reduce", *V2, given=json.dumps(envelope()).encode())
    assert raw.packet()["decision_evidence"]["status"] == "passed"
    assert raw.stdout == wrapped.stdout
    assert raw.stderr == wrapped.stderr


def test_the_packet_is_the_librarys() -> None:
    for policy in ("test-output-policy/v2", "test-output-policy/v3"):
        ended = call("reduce", "--policy", policy, given=json.dumps(envelope()).encode())
        assert ended.stdout == serialize_packet(reduce_test_run(envelope(), policy=policy))
    assert call("reduce", given=json.dumps(envelope()).encode()).stdout == ended.stdout  # v3 is the default


def test_file_pipe_and_redirected_file_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "run.tap").write_bytes(RED)
    by_name = run("reduce", *V2, "--input", tmp_path / "run.tap")
    by_pipe = run("reduce", *V2, given=RED)
    with (tmp_path / "run.tap").open("rb") as file:
        by_redirection = run("reduce", *V2, "--input", "-", given=file)
    assert by_name.packet()["receipt"]["source"]["streams"] == [{"byte_count": len(RED), "name": "stdout"}]
    assert by_name.stdout == by_pipe.stdout == by_redirection.stdout


def test_a_redirected_file_is_read_from_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "run.tap").write_bytes(b"first line\n" + GREEN)
    with (tmp_path / "run.tap").open("rb", buffering=0) as file:
        file.seek(11)
        assert run("reduce", *V2, given=file).stdout == run("reduce", *V2, given=GREEN).stdout


def test_standard_error_is_a_stream_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "err.txt").write_bytes(b"WARN: low on wool\n")
    packet = call("reduce", *V2, "--stderr", tmp_path / "err.txt", given=GREEN).packet()
    assert packet["receipt"]["source"]["streams"] == [
        {"byte_count": len(GREEN), "name": "stdout"},
        {"byte_count": 18, "name": "stderr"},
    ]
    assert packet["decision_evidence"]["warnings"][0]["stream"] == "stderr"


def test_what_is_not_given_is_missing_and_says_so() -> None:
    evidence = call("reduce", *V2, given=GREEN).packet()["decision_evidence"]
    assert evidence["status"] == "indeterminate"
    assert set(evidence["reason_codes"]) >= {
        "EXIT_STATUS_MISSING",
        "OPERATION_ID_MISSING",
        "RAW_EVIDENCE_REFERENCE_MISSING",
        "SOURCE_IDENTITY_MISSING",
    }


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("1", 1), ("255", 255), ("137", 137), ("128+9", 137), ("128+127", 255)]
)
def test_exit_codes(text: str, number: int) -> None:
    packet = call("reduce", *V2, "--exit-code", text, given=GREEN).packet()
    assert packet["decision_evidence"]["process"]["exit_code"] == number


@pytest.mark.parametrize(
    ("option", "text"),
    [
        *(("--exit-code", text) for text in ("256", "-1", "1.0", "+1", " 1", "", "1e1", "٣", "128+128", "128+", "0x1")),
        *(("--duration-ms", text) for text in ("-1", "nan", "inf", "", "1_0", "1e999", "٣", ".5")),
        *(("--max-bytes", text) for text in ("-1", "1.5", "", "many", "1" * 5000, "٣")),
        ("--policy", "test-output-policy/v1"),
        ("--dialect", "klingon"),
        ("--format", "xml"),
        ("--operation-id", b"\xff".decode("utf-8", "surrogateescape")),
    ],
)
def test_a_wrong_value_is_one_error_that_names_the_option(option: str, text: str) -> None:
    error = call("reduce", option, text, given=GREEN).error()
    assert error["code"] == "INVALID_INPUT"
    assert error["option"] == option


@pytest.mark.parametrize(("text", "number"), [("12.5", 12.5), ("0", 0), ("1e3", 1000)])
def test_durations(text: str, number: float) -> None:
    packet = call("reduce", *V2, "--duration-ms", text, given=GREEN).packet()
    assert packet["decision_evidence"]["process"]["duration_ms"] == number


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("reduce", "--no-such-option"),
        ("no-such-command",),
        ("reduce", "a-stray-word"),
        ("reduce", "--input"),
        ("--max-bytes", "3", "reduce"),
    ],
)
def test_wrong_usage_is_one_canonical_error(arguments: tuple[str, ...]) -> None:
    assert run(*arguments, given=GREEN).error()["code"] == "INVALID_INPUT"


@pytest.mark.parametrize("arguments", [("--help",), ("reduce", "--help"), ("conformance", "-h"), ("--version",)])
def test_help_is_an_answer_and_no_error(arguments: tuple[str, ...]) -> None:
    ended = call(*arguments)
    assert ended.status == 0
    assert ended.stdout
    assert ended.stderr == b""


def test_a_missing_input_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.tap", tmp_path):
        error = call("reduce", "--input", path).error()
        assert (error["code"], error["option"]) == ("INVALID_INPUT", "--input")
    assert call("reduce", "--stderr", tmp_path / "missing.tap", given=GREEN).error()["option"] == "--stderr"


def test_the_same_bytes_are_not_read_twice(tmp_path: Path) -> None:
    (tmp_path / "run.tap").write_bytes(GREEN)
    (tmp_path / "link").symlink_to("run.tap")
    os.mkfifo(tmp_path / "pipe")
    for one, other in (("run.tap", "run.tap"), ("run.tap", "link"), ("pipe", "pipe"), ("-", "-")):
        error = call("reduce", "--input", one, "--stderr", other, folder=tmp_path).error()
        assert error["option"] == "--stderr"
    with (tmp_path / "run.tap").open("rb") as file:
        assert call("reduce", "--stderr", tmp_path / "run.tap", given=file).error()["option"] == "--stderr"


def test_a_ceiling_that_is_too_small_is_an_error_with_the_size_that_would_do() -> None:
    error = call("reduce", *V2, *IDENTITY, "--max-bytes", "64", "--exit-code", "1", given=RED).error()
    assert error["code"] == "PAYLOAD_CEILING_TOO_SMALL"
    # The size is of the packet that names this ceiling; a larger one has more digits, and stands there twice.
    fits = str(error["minimum_safe_packet_bytes"] + 4)
    packet = call("reduce", *V2, *IDENTITY, "--max-bytes", fits, "--exit-code", "1", given=RED).packet()
    assert packet["receipt"]["measurements"]["reduced_bytes"] <= int(fits)


@pytest.mark.parametrize(
    ("given", "arguments", "status"),
    [
        (GREEN, (*IDENTITY, "--exit-code", "0"), 0),
        (RED, (*IDENTITY, "--exit-code", "1"), 1),
        (RED, (), 1),
        (GREEN, (*IDENTITY,), 3),
        (GREEN, ("--exit-code", "0"), 3),
        (b"", (*IDENTITY, "--exit-code", "0"), 3),
        (b"hello\n", (*IDENTITY, "--exit-code", "0"), 3),
    ],
)
def test_exit_status_follows_the_verdict_when_asked(given: bytes, arguments: tuple[str, ...], status: int) -> None:
    asked = call("reduce", *arguments, "--exit-status", given=given)
    asked.packet()
    assert asked.status == status
    unasked = call("reduce", *arguments, given=given)
    assert (unasked.status, unasked.stdout) == (0, asked.stdout)


@pytest.mark.parametrize("form", ["auto", "envelope"])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--operation-id", "x"),
        ("--source-id", ""),
        ("--run-id", "x"),
        ("--raw-ref", "x"),
        ("--exit-code", "0"),
        ("--duration-ms", "1"),
        ("--interrupted", None),
        ("--timed-out", None),
        ("--stderr", os.devnull),
    ],
)
def test_an_envelope_describes_its_run_itself(form: str, option: str, value: str | None) -> None:
    arguments = [option] if value is None else [option, value]
    ended = call("reduce", "--format", form, *arguments, given=json.dumps(envelope()).encode())
    assert ended.error()["option"] == option


def test_format_settles_what_the_input_is() -> None:
    text = json.dumps(envelope()).encode()
    as_raw = call("reduce", *V2, "--format", "raw", given=text).packet()
    assert as_raw["receipt"]["source"]["streams"] == [{"byte_count": len(text), "name": "stdout"}]
    assert as_raw["decision_evidence"]["disposition"] == "NEEDS_RAW_EVIDENCE"
    assert call("reduce", "--format", "envelope", given=GREEN).error()["code"] == "INVALID_INPUT"
    assert call("reduce", "--format", "envelope", given=b"").error()["code"] == "INVALID_INPUT"


def test_a_damaged_envelope_is_an_error_that_says_so(tmp_path: Path) -> None:
    error = call("reduce", given=json.dumps(envelope()).encode()[:-30]).error()
    assert "envelope" in error["message"]
    wrong_version = envelope(protocol_version="opsle.context-firewall.test-run-input/v2")
    assert call("reduce", given=json.dumps(wrong_version).encode()).error()["key"] == "protocol_version"


def test_a_broken_pipe_is_no_traceback() -> None:
    noise = b"".join(b"line %d that nothing recognises\n" % number for number in range(20_000))
    with subprocess.Popen(
        [*COMMAND, "reduce"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(noise)
        process.stdin.close()
        complaint = process.stderr.read()
    assert process.returncode == 1
    assert json.loads(complaint)["code"] == "OUTPUT_NOT_WRITTEN"
    assert complaint.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_no_traceback() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*COMMAND, "reduce"], input=GREEN, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False
        )
    assert ended.returncode == 1
    assert json.loads(ended.stderr)["code"] == "OUTPUT_NOT_WRITTEN"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_channels_are_survived(closed: str) -> None:
    command = f'printf "ok 1\\n1..1\\n" | "$@" reduce {closed}'
    ended = subprocess.run(
        ["sh", "-c", command, "sh", *COMMAND], capture_output=True, env=ENVIRONMENT, check=False, timeout=60
    )
    assert b"Traceback" not in ended.stderr
    assert ended.returncode == {"<&-": 2, ">&-": 1, "2>&-": 0}[closed]


def test_a_stop_from_the_keyboard_is_no_traceback() -> None:
    with subprocess.Popen(
        [*COMMAND, "reduce"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        # More than a pipe holds: once it is written the command is certainly reading.
        process.stdin.write(GREEN * 10_000)
        process.stdin.flush()
        # A signal that comes right before the next read waits for its end, which never comes: then it is pressed again.
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2)
        complaint = process.stderr.read()
        assert process.stdout.read() == b""
    assert process.returncode == 1
    assert json.loads(complaint)["code"] == "INTERRUPTED"


def test_nothing_depends_on_locale_hash_seed_or_terminal(tmp_path: Path) -> None:
    (tmp_path / "run.tap").write_bytes("ok 1 - Grüße ✔\n1..1\n".encode())
    seen = set()
    for extra in (
        {"LC_ALL": "C", "PYTHONHASHSEED": "1"},
        {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2", "COLUMNS": "40"},
        {"LANG": "de_DE.UTF-8", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"},
    ):
        for arguments in (["reduce", "--input", str(tmp_path / "run.tap")], ["reduce", "--help"]):
            ended = subprocess.run([*COMMAND, *arguments], capture_output=True, env=ENVIRONMENT | extra, check=True)
            seen.add((arguments[1], ended.stdout, ended.stderr))
    assert len(seen) == 2


def test_a_large_raw_run_is_reduced_in_bounded_memory(tmp_path: Path) -> None:
    """64 MiB through a pipe and from a file; the whole process stays far below that."""
    measured = (
        "import resource, subprocess, sys;"
        "p = subprocess.run(sys.argv[2:], stdin=open(sys.argv[1], 'rb'), stdout=subprocess.DEVNULL);"
        "print(p.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    lines = b"".join(b"ok %d - turns the wheel once more\n" % number for number in range(1, 1001))
    big = tmp_path / "big.tap"
    with big.open("wb") as file:
        for _ in range(64 * 1024 * 1024 // len(lines)):
            file.write(lines)
    for arguments in (["reduce", *V2, "--input", str(big)], ["reduce", *V2]):
        ended = subprocess.run(
            [sys.executable, "-c", measured, str(big), *COMMAND, *arguments],
            capture_output=True,
            env=ENVIRONMENT,
            check=True,
        )
        status, kibibytes = ended.stdout.split()
        assert int(status) == 0
        assert int(kibibytes) < 60 * 1024


def test_an_unforeseen_failure_is_one_error_too(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from context_firewall.cli.channels import status_of

    def fails() -> None:
        raise ZeroDivisionError("by \udcff")

    assert status_of(fails) == 1
    assert json.loads(capfd.readouterr().err)["code"] == "INTERNAL_ERROR"
