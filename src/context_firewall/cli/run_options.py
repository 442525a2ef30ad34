"""A finished run as the command line hands it over: the options that every command on a run has, and what they name.

The options stand in two groups, because a command's own stand between them in its help: `source_options` say where the
bytes are, `run_options` how to read them and what the bytes do not say. A command takes both as `**run` and makes an
`AskedRun` of them.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from context_firewall import DEFAULT_POLICY, InvalidInput, SourceStream
from context_firewall.cli.configuration import ProjectConfiguration, preferred
from context_firewall.cli.recognition import meant_as_envelope
from context_firewall.cli.sources import Source, open_source
from context_firewall.documents.test_run_input import parse_test_run_input
from context_firewall.reduction.pipeline import POLICIES, RunOptions
from context_firewall.transcript import dialects

if TYPE_CHECKING:
    from context_firewall.cli.outputs import Target

# Options that say what an envelope says itself, as click names their parameters.
DESCRIBING_OPTIONS = {
    "stderr_path": "--stderr",
    "operation_id": "--operation-id",
    "source_id": "--source-id",
    "run_id": "--run-id",
    "raw_ref": "--raw-ref",
    "exit_code": "--exit-code",
    "duration_ms": "--duration-ms",
    "interrupted": "--interrupted",
    "timed_out": "--timed-out",
}

# 15 digits stay below 2^53, where every reader of JSON agrees on an integer.
_WHOLE = re.compile(r"[0-9]{1,15}")
_EXIT_CODE = re.compile(r"(128\+)?([0-9]{1,3})")
_DURATION = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?")

Command = TypeVar("Command", bound=Callable[..., Any])


def _exit_code(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """An exit code 0 to 255; `128+n` is how shells say: ended by signal n."""
    if text is None:
        return None
    match = _EXIT_CODE.fullmatch(text)
    number = int(match[2]) + (128 if match[1] else 0) if match else 256
    if number > 255:
        raise click.BadParameter("must be an integer from 0 to 255, or 128+n for a run that signal n ended")
    return number


def _duration(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | float | None:
    """Milliseconds, zero or more; an integer where it is written as one."""
    if text is None:
        return None
    if not _DURATION.fullmatch(text):
        raise click.BadParameter("must be a number of milliseconds, zero or more, such as 12.5")
    return int(text) if text.isdecimal() else float(text)


def byte_ceiling(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """A number of bytes."""
    if text is None:
        return None
    if not _WHOLE.fullmatch(text):
        raise click.BadParameter("must be a whole number of bytes")
    return int(text)


def whole_option(_ctx: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """A whole number, zero or more."""
    if text is None:
        return None
    if not _WHOLE.fullmatch(text):
        raise click.BadParameter("must be a whole number")
    return int(text)


def text_option(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Text that canonical JSON can hold: argument bytes that are not UTF-8 arrive as lone surrogates."""
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        raise click.BadParameter("is not UTF-8") from None
    return text


_SOURCE_OPTIONS = (
    click.option(
        "--input",
        "input_path",
        metavar="PATH|-",
        default="-",
        show_default=True,
        help="The run: an envelope or the bytes that the run printed on standard output. - is standard input.",
    ),
    click.option("--stderr", "stderr_path", metavar="PATH", help="What a raw run printed on standard error."),
    click.option(
        "--format",
        "form",
        type=click.Choice(["auto", "envelope", "raw"]),
        default="auto",
        show_default=True,
        help="What the input is. auto: an envelope is one JSON object with the protocol string, all else is raw; "
        "a damaged envelope is an error.",
    ),
)

_READING_OPTIONS = (
    click.option(
        "--policy",
        type=click.Choice([row.revision for row in POLICIES]),
        default=DEFAULT_POLICY,
        show_default=True,
        help="The set of classification rules.",
    ),
    click.option(
        "--dialect",
        type=click.Choice(["auto", *(row.name for row in dialects.REGISTRY)]),
        default="auto",
        show_default=True,
        help="The grammar to read the output by. auto: as the output itself declares.",
    ),
)

_DESCRIBING_OPTIONS = (
    click.option(
        "--operation-id", callback=text_option, help="Raw runs: name of the operation that this run belongs to."
    ),
    click.option("--source-id", callback=text_option, help="Raw runs: name of the suite."),
    click.option("--run-id", callback=text_option, help="Raw runs: name of this run."),
    click.option(
        "--raw-ref", callback=text_option, help="Raw runs: where the raw bytes are kept; recorded, not verified."
    ),
    click.option(
        "--exit-code",
        callback=_exit_code,
        metavar="N",
        help="Raw runs: the test command's exit code, 0 to 255 (or 128+n).",
    ),
    click.option(
        "--duration-ms", callback=_duration, metavar="N", help="Raw runs: how long the run took, in milliseconds."
    ),
    click.option("--interrupted", is_flag=True, help="Raw runs: the run was stopped before it ended."),
    click.option("--timed-out", is_flag=True, help="Raw runs: it was stopped because its time was up."),
)


def source_options(command: Command) -> Command:
    """Where the run is: `input_path`, `stderr_path`, `form`."""
    return declared(command, _SOURCE_OPTIONS)


def reading_options(command: Command) -> Command:
    """How to read it: `policy`, `dialect`."""
    return declared(command, _READING_OPTIONS)


def run_options(command: Command) -> Command:
    """How to read it, and what its bytes do not say."""
    return declared(command, (*_READING_OPTIONS, *_DESCRIBING_OPTIONS))


def declared(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    """The command with options that stand in its help in this order."""
    for option in reversed(options):
        command = option(command)
    return command


class OpenRun(NamedTuple):
    """A run whose bytes can be read, and what is said of it."""

    streams: list[SourceStream]
    options: RunOptions


class AskedRun:
    """The run that a command is asked for; InvalidInput where its options contradict one another."""

    def __init__(self, ctx: click.Context, run: Mapping[str, Any]) -> None:
        self._ctx = ctx
        self._run = run
        if run["form"] == "envelope":
            self._refuse_description()

    @contextmanager
    def opened(
        self, project: ProjectConfiguration, max_output_bytes: int | None, wanted: tuple["Target", ...]
    ) -> Iterator[OpenRun]:
        """The run, open while the body runs; `wanted` are the files to write, which must be others."""
        with ExitStack() as open_sources:
            main_source, stderr_source = _opened(self._run["input_path"], self._run["stderr_path"], open_sources)
            used = {"--input": main_source.identity}
            if stderr_source is not None:
                used["--stderr"] = stderr_source.identity
            refuse_overlap(wanted, used)
            reading: RunOptions = {
                "max_output_bytes": max_output_bytes,
                "policy": self._preferred("policy", project.policy),
                "dialect": self._preferred("dialect", project.dialect),
                "noise": project.noise,
            }
            form = self._run["form"]
            if form == "envelope" or (form == "auto" and meant_as_envelope(main_source.chunks())):
                self._refuse_description()
                yield _enveloped(main_source, reading)
                return
            streams = [SourceStream("stdout", main_source.byte_count, main_source.chunks())]
            if stderr_source is not None:
                streams.append(SourceStream("stderr", stderr_source.byte_count, stderr_source.chunks()))
            said: RunOptions = {
                "operation_id": self._preferred("operation_id", project.operation_id),
                "source_id": self._preferred("source_id", project.source_id),
                "run_id": self._preferred("run_id", project.run_id),
                "raw_evidence_ref": self._preferred("raw_ref", project.raw_ref),
                "exit_code": self._run["exit_code"],
                "duration_ms": self._run["duration_ms"],
                "interrupted": self._run["interrupted"],
                "timed_out": self._run["timed_out"],
            }
            yield OpenRun(streams, {**said, **reading})

    def _preferred(self, name: str, configured: str | None) -> Any:
        return preferred(self._ctx, name, self._run[name], configured)

    def _refuse_description(self) -> None:
        """An envelope describes its run itself; an option that does so too would silently win or lose."""
        for name, option in DESCRIBING_OPTIONS.items():
            if self._ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise InvalidInput(
                    f"{option} describes a raw run, and the input is an envelope, which does so", option=option
                )


def _opened(input_path: str, stderr_path: str | None, open_sources: ExitStack) -> tuple[Source, Source | None]:
    """Both sources, which must be two: the same bytes read as two streams would count everything twice."""
    if stderr_path is not None and _is_one_path(input_path, stderr_path):
        raise InvalidInput("--input and --stderr are the same file", option="--stderr")
    main_source = open_source("--input", input_path)
    open_sources.callback(main_source.close)
    if stderr_path is None:
        return main_source, None
    stderr_source = open_source("--stderr", stderr_path)
    open_sources.callback(stderr_source.close)
    one, other = main_source.identity, stderr_source.identity
    if one is not None and other is not None and os.path.samestat(one, other):
        raise InvalidInput("--input and --stderr are the same file", option="--stderr")
    return main_source, stderr_source


def _is_one_path(one: str, other: str) -> bool:
    """Whether two paths are one, asked before opening: a pipe that is opened twice waits for ever."""
    if "-" in (one, other) or "\0" in one + other:
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)


def checked_targets(paths: Mapping[str, str | None]) -> tuple["Target", ...]:
    """The files that options ask for, refused early where they cannot be."""
    if not any(path is not None for path in paths.values()):
        return ()
    from context_firewall.cli import outputs  # most runs have no sidecar and start faster without it

    return outputs.targets(paths)


def refuse_overlap(wanted: tuple["Target", ...], used: Mapping[str, os.stat_result | None]) -> None:
    """No sidecar is a file in use, each under the words that name it, or the one that standard output goes to."""
    if not wanted:
        return
    from context_firewall.cli import outputs

    in_use = dict(used)
    with suppress(OSError, ValueError):
        if sys.stdout is not None:
            in_use["standard output"] = os.fstat(sys.stdout.fileno())
    outputs.refuse_overlap(wanted, in_use)


def _enveloped(source: Source, reading: RunOptions) -> OpenRun:
    try:
        run = parse_test_run_input(source.read())
    except InvalidInput as error:
        raise InvalidInput(f"the input is an envelope and not a valid one: {error}", **error.details) from error
    said: RunOptions = {
        "operation_id": run.operation_id,
        "source_id": run.source_id,
        "run_id": run.run_id,
        "raw_evidence_ref": run.raw_evidence_ref,
        "exit_code": run.process.exit_code,
        "duration_ms": run.process.duration_ms,
        "interrupted": run.process.interrupted,
        "timed_out": run.process.timed_out,
    }
    streams = [SourceStream(stream.name, len(stream.data), (stream.data,)) for stream in run.streams]
    return OpenRun(streams, {**said, **reading})
