"""Runs a corpus: every fixture's input through the reducer, and the outcome against what the fixture expects.

A corpus is data, so that any implementation can run it. A fixture is a folder at any depth; its name is its path.

    input.json                  the run as an envelope, or instead
    stdout.txt | stdout.bin     the raw bytes of standard output, and perhaps
    stderr.txt | stderr.bin     those of standard error
    options.json                policy, dialect, max_output_bytes, noise; for raw bytes also operation_id, source_id,
                                run_id, raw_evidence_ref, exit_code, duration_ms, interrupted,
                                timed_out
    expected.json               the packet, or {"error": {"code": …}} with the error document but for its `message`,
                                which is prose for people and not part of the contract

`expected.json` is printed prettily, to be read; what is compared are canonical bytes. A missing one is a difference.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from context_firewall import SourceStream, reduce_streams
from context_firewall.canonical import canonical_bytes
from context_firewall.documents.test_run_input import parse_test_run_input
from context_firewall.errors import ContextFirewallError, InvalidInput, OutputNotWritten

EXPECTED = "expected.json"
ENVELOPE = "input.json"
OPTIONS = "options.json"
STREAM_FILES = {"stdout": ("stdout.txt", "stdout.bin"), "stderr": ("stderr.txt", "stderr.bin")}
REDUCER_OPTIONS = frozenset({"policy", "dialect", "max_output_bytes", "noise"})
RUN_OPTIONS = frozenset(
    {"operation_id", "source_id", "run_id", "raw_evidence_ref", "exit_code", "duration_ms", "interrupted", "timed_out"}
)
# Enough to see what is wrong; a packet that differs everywhere would fill the report.
SHOWN_DIFFERENCES = 40


@dataclass(frozen=True, slots=True)
class Fixture:
    """One folder of a corpus."""

    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a fixture's input became, beside what it should have become. Both are JSON documents."""

    name: str
    policy: str | None
    raw_bytes: int
    reduced_bytes: int
    expected: Any
    actual: Any
    differences: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether the canonical bytes are equal."""
        return not self.differences


def packaged_corpus() -> Path:
    """The corpus that came with the package, or in a source checkout the one that will come with it."""
    here = Path(__file__).resolve().parent
    packaged = here / "corpus"
    checkout = here.parents[2]
    if not packaged.is_dir() and (checkout / "pyproject.toml").is_file():
        return checkout / "conformance"
    return packaged


def find_fixtures(corpus: Path) -> tuple[Fixture, ...]:
    """All fixtures below a folder, or the folder itself if it is one, sorted by name.

    Raises InvalidInput when the folder cannot be read or holds none.
    """
    found = []

    def refuse(problem: OSError) -> None:
        raise InvalidInput(f"the corpus cannot be read: {problem.strerror}", path=_shown(corpus)) from problem

    marks = {ENVELOPE, OPTIONS, EXPECTED, *STREAM_FILES["stdout"], *STREAM_FILES["stderr"]}
    for folder, _, files in os.walk(corpus, onerror=refuse):
        if marks.intersection(files):
            path = Path(folder)
            relative = path.relative_to(corpus).as_posix()
            found.append(Fixture(path.name if relative == "." else relative, path))
    if not found:
        raise InvalidInput("the corpus holds no fixture", path=_shown(corpus))
    return tuple(sorted(found, key=lambda fixture: fixture.name.encode("utf-8", "surrogateescape")))


def run_fixture(fixture: Fixture) -> Outcome:
    """Reduce a fixture's input and compare. Raises InvalidInput when the fixture itself is broken."""
    options = _options(fixture)
    raw_bytes, actual = _reduced(fixture, options)
    expected = _read_json(fixture, EXPECTED) if (fixture.folder / EXPECTED).exists() else None
    measurements = actual.get("receipt", {}).get("measurements", {})
    policy = actual.get("receipt", {}).get("configuration", {}).get("policy_revision", options.get("policy"))
    return Outcome(
        name=fixture.name,
        policy=policy,
        raw_bytes=raw_bytes,
        reduced_bytes=measurements.get("reduced_bytes", 0),
        expected=expected,
        actual=actual,
        differences=_compared(expected, actual),
    )


def bless(fixture: Fixture, outcome: Outcome) -> None:
    """Make what the fixture's input became what it should become."""
    target = fixture.folder / EXPECTED
    passing = fixture.folder / f".{EXPECTED}.new"
    try:
        passing.write_bytes(pretty(outcome.actual).encode())
        passing.replace(target)
    except OSError as problem:
        with suppress(OSError):
            passing.unlink()
        raise OutputNotWritten(f"{EXPECTED} cannot be written: {problem.strerror}", path=_shown(target)) from problem


def pretty(document: Any) -> str:
    """JSON to be read: indented and sorted, every character as it is but those that a reader would not see."""
    text = json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True)
    return "".join(char if char.isprintable() or char == "\n" else _escape(char) for char in text) + "\n"


def _escape(char: str) -> str:
    """A character as JSON's \\u escape, in one or two halves."""
    return json.dumps(char)[1:-1]


def _options(fixture: Fixture) -> dict[str, Any]:
    if not (fixture.folder / OPTIONS).exists():
        return {}
    options = _read_json(fixture, OPTIONS)
    if not isinstance(options, dict):
        raise _broken(fixture, f"{OPTIONS} is not an object")
    known = REDUCER_OPTIONS if (fixture.folder / ENVELOPE).exists() else REDUCER_OPTIONS | RUN_OPTIONS
    for key in sorted(options.keys() - known):
        raise _broken(fixture, f"{OPTIONS} has {key!r}, which says nothing for this kind of input")
    return options


def _reduced(fixture: Fixture, options: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """How many bytes the run printed, and the packet or error document it becomes."""
    envelope = _bytes_of(fixture, ENVELOPE)
    printed = _printed(fixture)
    if (envelope is None) == (not printed):
        raise _broken(fixture, f"needs either {ENVELOPE} or the files of raw streams")
    raw_bytes = sum(len(data) for data in printed.values())
    described = dict(options)
    try:
        if envelope is not None:
            raw_bytes = len(envelope)  # of an envelope that is refused, nothing else is known
            run = parse_test_run_input(envelope)
            printed = {stream.name: stream.data for stream in run.streams}
            raw_bytes = sum(len(data) for data in printed.values())
            described |= {
                "operation_id": run.operation_id,
                "source_id": run.source_id,
                "run_id": run.run_id,
                "raw_evidence_ref": run.raw_evidence_ref,
                "exit_code": run.process.exit_code,
                "duration_ms": run.process.duration_ms,
                "interrupted": run.process.interrupted,
                "timed_out": run.process.timed_out,
            }
        streams = [SourceStream(name, len(data), (data,)) for name, data in printed.items()]
        return raw_bytes, dict(reduce_streams(streams, **described))
    except ContextFirewallError as error:
        return raw_bytes, {"error": {key: item for key, item in error.as_document().items() if key != "message"}}


def _printed(fixture: Fixture) -> dict[str, bytes]:
    """The raw streams of a fixture, standard output first."""
    printed = {}
    for stream, names in STREAM_FILES.items():
        found = [data for name in names if (data := _bytes_of(fixture, name)) is not None]
        if len(found) > 1:
            raise _broken(fixture, f"has {' and '.join(names)}")
        if found:
            printed[stream] = found[0]
    return printed


def _bytes_of(fixture: Fixture, name: str) -> bytes | None:
    try:
        return (fixture.folder / name).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _broken(fixture, f"{name} cannot be read: {problem.strerror}") from problem


def _read_json(fixture: Fixture, name: str) -> Any:
    try:
        return json.loads(_bytes_of(fixture, name) or b"")
    except (ValueError, RecursionError) as problem:
        raise _broken(fixture, f"{name} is not JSON: {problem}") from problem


def _broken(fixture: Fixture, what: str) -> InvalidInput:
    return InvalidInput(f"fixture {_shown(fixture.name)}: {what}", fixture=_shown(fixture.name))


def _shown(path: str | Path) -> str:
    """A path as text that JSON can hold."""
    return os.fsencode(path).decode("utf-8", "replace")


def _compared(expected: Any, actual: Any) -> tuple[str, ...]:
    """The JSON paths at which two documents differ, each with both values; () when their canonical bytes are equal."""
    if expected is None:
        return (f"{EXPECTED} is missing",)
    try:
        if canonical_bytes(expected) == canonical_bytes(actual):
            return ()
    except ValueError:
        return (f"{EXPECTED} holds what canonical JSON cannot",)
    found = list(_differences("$", expected, actual))
    if len(found) > SHOWN_DIFFERENCES:
        found[SHOWN_DIFFERENCES:] = [f"and {len(found) - SHOWN_DIFFERENCES} more"]
    return tuple(found)


def _differences(path: str, expected: Any, actual: Any) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            place = f"{path}.{key}"
            if key not in actual:
                yield f"{place}: missing, expected {_brief(expected[key])}"
            elif key not in expected:
                yield f"{place}: unexpected {_brief(actual[key])}"
            else:
                yield from _differences(place, expected[key], actual[key])
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: {len(actual)} items, expected {len(expected)}"
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            yield from _differences(f"{path}[{index}]", one, other)
    elif canonical_bytes(expected) != canonical_bytes(actual):
        yield f"{path}: {_brief(actual)}, expected {_brief(expected)}"


def _brief(value: Any) -> str:
    """A value as JSON, cut where it would fill the line."""
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:120]}… ({len(text)} characters)"
