"""The documentation is true: its examples run, its links lead somewhere, and every command and option is in it.

How examples are written:

- ```console   lines that begin with `$ ` are a command, lines with `> ` below one continue it; what follows is all that
               it prints, on both channels. `[…]` stands for any text.
- ```python    runs; if a block marked ```output follows it, that is what it prints.
- ```json      is JSON.
- ```sh        is not run here: it installs something. Only the two commands of README.md are written so.
- ```text      shows something that is no example.

The examples of one page run in order, in one folder that holds copies of `examples/`, `conformance/` and `benchmarks/`.
"""

import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import click
import pytest

from context_firewall.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "conformance").glob("*.md")])
CLI_PAGE = ROOT / "docs" / "reference" / "cli.md"
KNOWN_FENCES = frozenset({"console", "python", "output", "json", "sh", "text"})
ELLIPSIS = "[…]"

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str


def named(page: Path) -> str:
    """How a page is called in a test's id."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(match[1], match[2]) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]


def pages_with(*languages: str) -> list[object]:
    """The pages that hold such blocks, as parameters."""
    return [
        pytest.param(page, id=named(page))
        for page in PAGES
        if any(block.language in languages for block in blocks(page))
    ]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it should print."""
    command: list[str] = []
    expected: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield "\n".join(command), "\n".join(expected)
            command, expected = [line[2:]], []
        elif (line == ">" or line.startswith("> ")) and not expected:
            command.append(line[2:])
        else:
            expected.append(line)
    yield "\n".join(command), "\n".join(expected)


def matches(expected: str, printed: str) -> bool:
    """Whether the text was printed, `[…]` standing for anything."""
    parts = (re.escape(part) for part in expected.strip("\n").split(ELLIPSIS))
    return re.fullmatch(".*?".join(parts), printed.strip("\n"), re.DOTALL) is not None


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Path]:
    """A folder as a reader has it in a checkout, with the command on the path."""
    for name in ("examples", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / "desk" / name)
    # A thousand files, which no example writes to.
    (tmp_path / "desk" / "conformance").symlink_to(ROOT / "conformance", target_is_directory=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("context-firewall", '-m context_firewall "$@"'), ("python3", '"$@"')):
        program = programs / name
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' {words}\n")
        program.chmod(0o755)
    before = Path.cwd()
    os.chdir(tmp_path / "desk")
    yield tmp_path / "desk"
    os.chdir(before)


def environment(desk: Path) -> dict[str, str]:
    """What an example's commands find around them."""
    return {
        "PATH": f"{desk.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(desk),
        "LC_ALL": "C.UTF-8",
    }


@pytest.mark.parametrize("page", pages_with("console", "python"))
def test_examples_run(page: Path, desk: Path) -> None:
    names: dict[str, object] = {"__name__": "example"}
    found = blocks(page)
    for block, after in zip(found, [*found[1:], Block("", "")], strict=True):
        if block.language == "console":
            for command, expected in commands(block.text):
                done = subprocess.run(
                    ["sh", "-c", command],
                    env=environment(desk),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    timeout=60,
                    check=False,
                )
                printed = done.stdout.decode()
                assert matches(expected, printed), f"{command}\n--- expected\n{expected}\n--- printed\n{printed}"
        elif block.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.text, named(page), "exec"), names)  # noqa: S102 - our own documentation
            if after.language == "output":
                assert matches(after.text, out.getvalue()), out.getvalue()


@pytest.mark.parametrize("page", [pytest.param(page, id=named(page)) for page in PAGES])
def test_fences_are_known_and_json_is_json(page: Path) -> None:
    assert page.read_text(encoding="utf-8").count("\n```") % 2 == 0
    for block in blocks(page):
        assert block.language in KNOWN_FENCES, block.text
        if block.language == "json":
            json.loads(block.text)
        if block.language == "sh":
            assert page == ROOT / "README.md"


def anchors(page: Path) -> set[str]:
    """The places of a page that a link can name."""
    headings = HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [pytest.param(page, id=named(page)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = [link.partition("#")[0] for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))]
        waiting += [(page.parent / path).resolve() for path in links if path and not path.startswith("http")]
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} <= reached


def reference_builder() -> ModuleType:
    """docs/build_cli_reference.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("build_cli_reference", ROOT / "docs" / "build_cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_reference_is_up_to_date() -> None:
    # Words only: releases of click differ in where they break lines.
    assert CLI_PAGE.read_text(encoding="utf-8").split() == reference_builder().page().split(), (
        "run: python docs/build_cli_reference.py"
    )


def test_every_command_and_option_is_in_the_reference() -> None:
    text = CLI_PAGE.read_text(encoding="utf-8")
    with click.Context(main) as ctx:
        for name in main.list_commands(ctx):
            command = main.get_command(ctx, name)
            assert command is not None
            section = text.partition(f"\n## context-firewall {name}\n")[2].partition("\n## ")[0]
            assert section, name
            for parameter in command.params:
                if isinstance(parameter, click.Option) and not parameter.hidden:
                    assert all(re.search(rf"(?m)^ .*{re.escape(o)}\b", section) for o in parameter.opts), parameter


def test_the_readmes_two_commands_are_whole() -> None:
    setup, test = (block.text.strip() for block in blocks(ROOT / "README.md") if block.language == "sh")
    start = "python3 -m venv .venv && .venv/bin/python -m pip install --quiet --disable-pip-version-check -e "
    assert setup.startswith(start)
    assert test == f"{start}'.[dev]' && .venv/bin/python -m pytest"
    assert f"\n{test}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readmes_main_command_runs_on_its_example(desk: Path) -> None:
    setup = next(block.text for block in blocks(ROOT / "README.md") if block.language == "sh")
    command = setup.strip().rpartition(" && .venv/bin/")[2]
    done = subprocess.run(["sh", "-c", command], env=environment(desk), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["decision_evidence"]["status"] == "failed"
