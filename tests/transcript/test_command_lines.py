"""The command that started a run, shown above its report (READ-21)."""

import pytest

from context_firewall.transcript.command_lines import COMMANDS, command_of
from context_firewall.transcript.dialects import REGISTRY
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams

GREEN = "1..1\nok 1 - pours\n"
PYTEST = f"{' test session starts ':=^60}\ncollected 1 item\n\ntea.py .   [100%]\n\n{' 1 passed in 0.01s ':=^60}\n"


def read(stdout: str, stderr: str = "", code: int = 0) -> Transcript:
    return read_streams([("stdout", [stdout.encode()]), ("stderr", [stderr.encode()])], exit_code=code)


@pytest.mark.parametrize(
    ("line", "dialect"),
    [
        ("pytest -q", "pytest"),
        ("+ pytest -q tests", "pytest"),
        ("$ vitest run", "vitest"),
        ("task: [test] go test ./...", "go"),
        ("cd web && npx jest --ci", "jest"),
        ("PYTHONPATH=src TZ=UTC .venv/bin/python3.12 -m pytest", "pytest"),
        ("python -m unittest discover -v", "unittest"),
        ("coverage run -m pytest -q", "pytest"),
        ("uv run pytest", "pytest"),
        ("./node_modules/.bin/mocha --reporter spec", "mocha"),
        ("npx --yes c8 mocha", "mocha"),
        ("node --import tsx --test test/", "node-spec"),
        ("node --test", "node-spec"),
        ("deno test -A", "deno"),
        ("go test -v ./...", "go"),
        ("cargo +nightly test --workspace", "cargo"),
        ("cargo nextest run", "nextest"),
        ("bundle exec rspec", "rspec"),
        ("php vendor/bin/phpunit", "phpunit"),
        ("prove -lr t", "prove"),
        ("bundle exec rake test:unit", "minitest"),
    ],
)
def test_commands(line: str, dialect: str) -> None:
    command = command_of(line.encode())
    assert command is not None
    assert dialect in command.dialects


@pytest.mark.parametrize("line", ["npm test", "pnpm run test:unit", "yarn test --ci", "bun test"])
def test_scripts_may_start_any_runner(line: str) -> None:
    command = command_of(line.encode())
    assert command is not None
    assert not command.dialects


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q | tee log",
        "pytest -q || true",
        "pytest -q; echo done",
        "pytest -q > log",
        "pytest -q 2>&1",
        "pytest -q &",
        "pytesting",
        "run pytest",
        "we call pytest here",
        "cargo build",
        "go vet ./...",
        "node test.js",
        "python tea.py",
        "npm install",
        "jest: failed",
        "pytest-9.0",
        "cd a; pytest",
        "pytest " + "x" * 2000,
    ],
)
def test_what_is_no_command_of_a_runner(line: str) -> None:
    assert command_of(line.encode()) is None


def test_dialects_are_those_of_the_registry() -> None:
    assert {name for command in COMMANDS for name in command.dialects} <= {row.name for row in REGISTRY}


@pytest.mark.parametrize(
    ("stdout", "stderr"),
    [(f"pytest -q\n{PYTEST}", ""), (PYTEST, "pytest -q\n"), (f"node --test\n{GREEN}", ""), (f"npm test\n{PYTEST}", "")],
)
def test_a_command_above_its_report_is_counted(stdout: str, stderr: str) -> None:
    """READ-21."""
    run = read(stdout, stderr)
    assert not run.unclassified
    assert not run.doubts
    assert run.suppressed[Kind.INFORMATIONAL] >= 1
    assert run.event_count == (stdout + stderr).count("\n")


@pytest.mark.parametrize(
    ("stdout", "stderr", "left"),
    [
        (f"go test ./...\n{PYTEST}", "", ["go test ./..."]),
        (f"{PYTEST}pytest -q\n", "", ["pytest -q"]),
        (f"pytest -q\npytest -q more\n{PYTEST}", "", ["pytest -q more"]),
        (PYTEST, "pytest -q\nnode --test\n", ["node --test"]),
        ("pytest -q\n", "", ["pytest -q"]),
        (f"pytest -q || true\n{PYTEST}", "", ["pytest -q || true"]),
    ],
)
def test_a_command_without_its_report_stays_in_doubt(stdout: str, stderr: str, left: list[str]) -> None:
    """P1: a report that is not there may be the one that failed."""
    assert [line.text for line in read(stdout, stderr).unclassified] == left


def test_several_commands_with_a_report_each() -> None:
    """READ-21."""
    run = read(f"pytest -q\n{PYTEST}node --test\n{GREEN}")
    assert not run.unclassified
    assert not run.doubts
    assert run.tally.passed == 2
