"""The command that started a run, where a program shows it above the report: make, just, bun, `sh -x`.

Such a line has no mark that is always there, so its form is that of the command itself: a test runner's name in the
place of one, behind what prepares or launches it. It is taken for one only if the report that the command leads to
stands in the run, a report of its own for each. A command with a pipe, a list or a redirection is never taken: its exit
code may be another's, or its output may be elsewhere.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare


class Command(NamedTuple):
    """How a runner is called, and the dialects that its reports may be in; none if it may be any."""

    words: bytes
    dialects: frozenset[str]


# Formats that many runners can be told to print.
_COMMON = frozenset({"tap", "junit", "teamcity", "json-report"})


def _command(words: bytes, *dialects: str) -> Command:
    return Command(words, _COMMON | frozenset(dialects))


COMMANDS = (
    _command(rb"(?:pytest|py\.test)", "pytest"),
    _command(rb"unittest", "unittest"),
    _command(rb"jest", "jest"),
    _command(rb"vitest", "vitest"),
    _command(rb"mocha", "mocha", "mocha-json-stream", "mocha-doc", "mocha-markdown"),
    _command(rb"ava", "ava"),
    _command(rb"tap", "node-tap", "tap-classic"),
    _command(rb"tape", "tap-spec"),
    _command(rb"node (?:--?[a-z][^ ]*+ (?:[^- ][^ ]*+ )?)*?--test(?:=[^ ]*+)?", "node-spec", "node-dot"),
    _command(rb"deno test", "deno"),
    _command(rb"go test", "go", "go-json"),
    _command(rb"gotestsum", "gotestsum", "go"),
    _command(rb"cargo (?:\+[^ ]++ )?(?:test|t)", "cargo", "cargo-json"),
    _command(rb"cargo (?:\+[^ ]++ )?nextest run", "nextest"),
    _command(rb"rspec", "rspec", "rspec-html"),
    _command(rb"(?:phpunit|pest)", "phpunit"),
    _command(rb"ctest", "ctest"),
    _command(rb"bats", "bats-pretty"),
    _command(rb"prove", "prove"),
    _command(rb"(?:rake|rails) test[^ |;&<>]*+", "minitest"),
    Command(rb"(?:npm|pnpm|yarn|bun) (?:run )?test[^ |;&<>]*+", frozenset()),
)
# A sign before it (`sh -x`, bun; go-task's name), a change of folder, variables, what launches a runner, its folder.
_BEFORE = (
    rb"(?:[+$] |task: \[[^\]\n]++\] )?(?:cd [^ |;&<>]++ && )?(?:[A-Z_][A-Z0-9_]*+=[^ |;&<>]*+ )*+"
    rb"(?:(?:npx|bunx|c8|nyc|time|env|(?:pnpm|npm) exec|pnpm|yarn|(?:uv|poetry|pipenv|coverage|bun) run|bundle exec|php"
    rb"|(?:[^ |;&<>]*/)?python[0-9.]*+) (?:--?[A-Za-z][^ |;&<>]*+ )*+)*(?:[^ |;&<>]*/)?"
)
_ARGUMENTS = rb"(?: [^|;&<>\n]*+)?+"
_ANY = re.compile(_BEFORE + rb"(?:" + b"|".join(b"(%b)" % command.words for command in COMMANDS) + rb")" + _ARGUMENTS)


# A longer line is no command that a person reads.
_LONGEST = 2000


def command_of(text: bytes) -> Command | None:
    """The command of a runner that a bare line is, or None."""
    found = _ANY.fullmatch(text) if len(text) <= _LONGEST else None
    return None if found is None or found.lastindex is None else COMMANDS[found.lastindex - 1]


def without_command_lines(readings: list[Reading]) -> list[Reading]:
    """The readings with the unclassified lines that started their reports counted as informational."""
    reports = [part for part in readings if part.has_results]
    if not reports:
        return readings
    taken: dict[int, list[Line]] = {}
    for place, part in enumerate(readings):
        for line in part.unclassified:
            command = command_of(bare(line.raw)) if line.kind is Kind.UNCLASSIFIED else None
            report = None if command is None else _started(command, line, reports)
            if report is not None:
                reports = [one for one in reports if one is not report]
                taken.setdefault(place, []).append(line)
    return [_without(part, taken[place]) if place in taken else part for place, part in enumerate(readings)]


def _started(command: Command, line: Line, reports: Sequence[Reading]) -> Reading | None:
    """The first report that the command may have started: one below its line, or in the other stream."""
    below = (part for part in reports if part.stream != line.stream or part.opened > line.number)
    return next((part for part in below if not command.dialects or part.dialect in command.dialects), None)


def _without(part: Reading, lines: Sequence[Line]) -> Reading:
    left = tuple(line for line in part.unclassified if line not in lines)
    # A dialect may have said so too; the verdict says it again of the lines that are left.
    known = part._replace(unclassified=left, doubts=part.doubts - {Doubt.UNCLASSIFIED_EVIDENCE})
    return known.with_suppressed(dict.fromkeys(lines, Kind.INFORMATIONAL))
