"""`context-firewall explain`: what became of every line of a run, and by which rule.

To read (a table), to process (`--json`), to look around in (`--html`), or to act on (`--suggest`). A line of the run
stands behind `| ` and is made printable, so that it can't be taken for a row of the table.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from context_firewall import InvalidInput, SourceStream
from context_firewall.cli.channels import deliver
from context_firewall.cli.configuration import (
    SHARED_FILE,
    TABLE,
    ProjectConfiguration,
    configuration_in_force,
    configuration_options,
    preferred,
)
from context_firewall.cli.run_options import AskedRun, byte_ceiling, checked_targets, run_options, source_options
from context_firewall.cli.terminal import BOLD, DIM, MAGENTA, RED, STATUS_COLOURS, YELLOW, Terminal, cut
from context_firewall.documents.brief import render_brief
from context_firewall.documents.explanation import (
    FATES,
    ExplainedStream,
    Explanation,
    Span,
    line_counts,
    serialize_explanation,
)
from context_firewall.documents.printable import line_text, safe
from context_firewall.documents.reasons import ADVICE
from context_firewall.reduction.explanation import explain_streams
from context_firewall.reduction.pipeline import RunOptions, reduce_streams
from context_firewall.transcript.kinds import Kind

if TYPE_CHECKING:
    from context_firewall.transcript.noise import NoiseRule, Proposal

_LINES = re.compile(r"([0-9]{1,9})|([0-9]{1,9})?:([0-9]{1,9})?")

DOUBTFUL = {
    kind.value for kind in (Kind.UNCLASSIFIED, Kind.UNCLASSIFIED_BINARY, Kind.CONTESTED_TEST, Kind.ABNORMAL_WARNING)
}
ENDED = {kind.value for kind in (Kind.FATAL_ERROR, Kind.TIMEOUT)}

EPILOG = """\b
Exit status:
  0  the run was explained, whatever its verdict
  1  something else went wrong, such as a file that cannot be written
  2  bad input, wrong usage, or a ceiling too small for any truthful packet

\b
Standard output carries the table: a summary of the packet, then one row for adjacent lines of one kind, fate and rule:
stream, line numbers, kind, fate, rule; kept lines stand below their row, each behind its number and a bar.
With --html alone it carries the summary only. Colours and cut lines are for terminals; NO_COLOR is respected.
"""


def _line_range(_ctx: click.Context, _option: click.Parameter, text: str | None) -> range | None:
    """Lines `A:B`, both included; `A:`, `:B` and `A` are short for what one would think."""
    if text is None:
        return None
    match = _LINES.fullmatch(text)
    if match is None or text == ":":
        raise click.BadParameter("must be lines A:B, such as 10:20, 10: or 10")
    first = int(match[1] or match[2] or 1)
    last = int(match[1] or match[3] or 10**9)
    if not 1 <= first <= last:
        raise click.BadParameter("must begin at line 1 or later, and not end before it begins")
    return range(first, last + 1)


@click.command(epilog=EPILOG, short_help="Say of every line of a run what became of it, and why.")
@source_options
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as one canonical JSON document.")
@click.option("--html", "page", metavar="PATH", help="Also write one self-contained page to look around in, here.")
@click.option(
    "--suggest", is_flag=True, help="Print rules for unclassified lines instead, as TOML for the configuration."
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in Kind]),
    metavar="KIND",
    help="Rows of this kind only; may be repeated.",
)
@click.option(
    "--fate", "fates", multiple=True, type=click.Choice(FATES), help="Rows of this fate only; may be repeated."
)
@click.option("--lines", callback=_line_range, metavar="A:B", help="Lines A to B of each stream only.")
@click.option("--no-fold", is_flag=True, help="One row a line, with its text, whatever its fate.")
@click.option(
    "--max-bytes", callback=byte_ceiling, metavar="N", help="Ceiling in bytes of the packet that is explained."
)
@run_options
@configuration_options
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    *,
    as_json: bool,
    page: str | None,
    suggest: bool,
    kinds: tuple[str, ...],
    fates: tuple[str, ...],
    lines: range | None,
    no_fold: bool,
    max_bytes: int | None,
    config_path: str | None,
    no_config: bool,
    **run: Any,
) -> None:
    """Say of every line of a run what became of it, and why.

    The run is reduced as `reduce` does it with the same options. Of each line you see its kind, the rule that decided,
    and its fate: kept in the packet with its text, referenced by its place, or suppressed and counted. For those who
    ask why a run escalates, and for authors of a dialect.

    \b
    context-firewall explain --input out.txt --stderr err.txt --exit-code 1
    context-firewall explain --input out.txt --kind unclassified --kind contested_test
    context-firewall explain --input out.txt --html run.html
    context-firewall explain --input out.txt --suggest
    """
    asked = AskedRun(ctx, run)
    choice = Choice(frozenset(kinds), frozenset(fates), lines, no_fold)
    if as_json and suggest:
        raise InvalidInput("--json and --suggest both say what to print; give one", option="--suggest")
    if choice.is_one and (as_json or suggest):
        raise InvalidInput(f"{choice.option} chooses rows of the table, which is not printed", option=choice.option)
    wanted = checked_targets({"--html": page})
    project = configuration_in_force(config_path, no_config)
    ceiling = preferred(ctx, "max_bytes", max_bytes, project.max_bytes)
    with asked.opened(project, ceiling, wanted) as source:
        streams = {stream.name: b"".join(stream.chunks) for stream in source.streams}
        options = source.options
    explanation = explain_streams(_again(streams), **options)

    if as_json:
        document = serialize_explanation(explanation)
    elif suggest:
        document = _proposals(explanation, streams, project, options).encode()
    else:
        terminal = Terminal.of_stdout()
        rows = page is None or choice.is_one
        document = explained_table(explanation, streams, choice if rows else None, terminal)
    if not wanted:
        deliver(document)
        return
    from context_firewall.cli import outputs
    from context_firewall.documents.page import render_page

    with outputs.written([(target, render_page(explanation, streams)) for target in wanted]):
        deliver(document)


def _again(streams: Mapping[str, bytes]) -> list[SourceStream]:
    return [SourceStream(name, len(data), (data,)) for name, data in streams.items()]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows of the table are asked for, and how."""

    kinds: frozenset[str]
    fates: frozenset[str]
    lines: range | None
    one_by_one: bool

    @property
    def option(self) -> str | None:
        """The first option that chooses rows."""
        given = (
            ("--kind", self.kinds),
            ("--fate", self.fates),
            ("--lines", self.lines),
            ("--no-fold", self.one_by_one),
        )
        return next((option for option, value in given if value), None)

    @property
    def is_one(self) -> bool:
        """Whether there is any such option."""
        return self.option is not None

    def spans(self, stream: ExplainedStream) -> Iterator[Span]:
        """The spans of a stream that are chosen, cut to the lines that are."""
        for span in stream["spans"]:
            if (self.kinds and span["kind"] not in self.kinds) or (self.fates and span["fate"] not in self.fates):
                continue
            first, last = span["first"], span["last"]
            if self.lines is not None:
                first, last = max(first, self.lines.start), min(last, self.lines.stop - 1)
            if self.one_by_one:
                for number in range(first, last + 1):
                    yield {**span, "first": number, "last": number}
            elif first <= last:
                yield {**span, "first": first, "last": last}


def explained_table(
    explanation: Explanation, streams: Mapping[str, bytes], choice: Choice | None, terminal: Terminal
) -> bytes:
    """The summary, and with a choice its rows below, as text to print."""
    text = list(_head(explanation, terminal))
    if choice is not None:
        text += ["", *_rows(explanation, streams, choice, terminal)]
    return "".join(f"{line}\n" for line in text).encode()


# -- the summary ------------------------------------------------------------------------------------------------------


def _head(explanation: Explanation, terminal: Terminal) -> Iterator[str]:
    """The verdict as a brief says it, the reasons and what to do about them, and how many lines met which fate."""
    packet = explanation["packet"]
    evidence = packet["decision_evidence"]
    yield terminal.line(render_brief(packet).partition("\n")[0], BOLD, STATUS_COLOURS[evidence["status"]])
    for code in evidence["reason_codes"]:
        yield terminal.line(f"! {code}: {ADVICE.get(code, 'see the specification')}", YELLOW)
    yield ""
    counts = line_counts(explanation)
    kinds = dict.fromkeys(kind for kind, _ in counts)
    table = [(kind, [counts.get((kind, fate), 0) for fate in FATES]) for kind in kinds]
    table.append(("all lines", [sum(numbers[at] for _, numbers in table) for at in range(len(FATES))]))
    yield terminal.line(f"{'kind':<20}" + "".join(f"  {fate:>10}" for fate in FATES), BOLD)
    for kind, numbers in table:
        yield terminal.line(f"{kind:<20}" + "".join(f"  {number or '-':>10}" for number in numbers))


# -- the rows ---------------------------------------------------------------------------------------------------------


def _rows(explanation: Explanation, streams: Mapping[str, bytes], choice: Choice, terminal: Terminal) -> Iterator[str]:
    chosen = [(stream, list(choice.spans(stream))) for stream in explanation["streams"]]
    spans = [span for _, found in chosen for span in found]
    if not spans:
        yield "no such line"
        return
    at = max(len(_numbers(span)) for span in spans)
    kind = max(len(span["kind"]) for span in spans)
    rule = max(len(_rule(span)) for span in spans)
    for stream, found in chosen:
        lines = streams[stream["name"]].split(b"\n")
        for span in found:
            row = f"{stream['name']}  {_numbers(span):<{at}}  {span['kind']:<{kind}}  {span['fate']:<10}  "
            if choice.one_by_one:
                text = _text(lines, span["first"])
                yield terminal.line(f"{row}{_rule(span):<{rule}}  | {text}".rstrip(), *_colours(span))
                continue
            yield terminal.line(row + _rule(span), *_colours(span))
            if span["fate"] == "kept":
                for number in range(span["first"], span["last"] + 1):
                    margin = len(stream["name"]) + 2 + at
                    yield terminal.line(f"{number:>{margin}} | {_text(lines, number)}".rstrip())


def _numbers(span: Span) -> str:
    return str(span["first"]) if span["first"] == span["last"] else f"{span['first']}-{span['last']}"


def _rule(span: Span) -> str:
    belongs = f" (failure {span['failure'] + 1})" if "failure" in span else ""
    return safe(span["rule"]) + belongs


def _text(lines: Sequence[bytes], number: int) -> str:
    return line_text(lines[number - 1].decode("utf-8", "replace"))


def _colours(span: Span) -> tuple[str, ...]:
    if span["fate"] == "suppressed":
        return (DIM,)
    if span["fate"] == "referenced":
        return (MAGENTA,)
    if "failure" in span or span["kind"] in ENDED:
        return (RED,)
    return (YELLOW,) if span["kind"] in DOUBTFUL else ()


# -- proposals --------------------------------------------------------------------------------------------------------


def _proposals(
    explanation: Explanation, streams: Mapping[str, bytes], project: ProjectConfiguration, options: RunOptions
) -> str:
    """Rules for the run's unclassified lines, with those that are declared already, as TOML."""
    from context_firewall.transcript.lines import Line
    from context_firewall.transcript.noise import suggest_noise

    unknown: list[Line] = []
    others: list[Line] = []
    for stream in explanation["streams"]:
        lines = streams[stream["name"]].split(b"\n")
        for span in stream["spans"]:
            kind = Kind(span["kind"])
            if kind is Kind.DECLARED_NOISE:
                continue
            found = (Line(stream["name"], n, kind, lines[n - 1]) for n in range(span["first"], span["last"] + 1))
            (unknown if kind is Kind.UNCLASSIFIED else others).extend(found)
    proposals = suggest_noise(unknown, others)
    if not proposals:
        return f"# nothing to propose: no three of {len(unknown)} unclassified lines begin with the same words\n"

    rules = (*project.noise, *(proposal.rule for proposal in proposals))
    declared: RunOptions = {**options, "noise": rules, "max_output_bytes": None}
    after = reduce_streams(_again(streams), **declared)["receipt"]["suppressed"]["categories"]
    before = explanation["packet"]["receipt"]["suppressed"]["categories"]
    taken = after.get(Kind.DECLARED_NOISE, 0) - before.get(Kind.DECLARED_NOISE, 0)
    text = [f"# takes {taken} of {len(unknown)} unclassified lines; read them before you declare them noise"]
    if project.path is None:
        text.append(f"# in pyproject.toml; a context-firewall.toml has no [tool.{TABLE}]")
    if project.path is None or os.path.basename(project.path) == SHARED_FILE:
        text.append(f"[tool.{TABLE}]")
    text.append("noise = [")
    if project.noise:
        text += ["  # declared already", *(f"  {_toml(rule)}," for rule in project.noise)]
    for proposal in proposals:
        text += [_comment(proposal, unknown), f"  {_toml(proposal.rule)},"]
    text.append("]")
    return "".join(f"{line}\n" for line in text)


def _comment(proposal: "Proposal", lines: Iterable[Any]) -> str:
    """How many lines a rule matches, and the first of them."""
    from context_firewall.transcript.lines import bare

    first = next(line for line in lines if proposal.rule.matches(bare(line.raw), line.stream))
    count = "1 line" if proposal.line_count == 1 else f"{proposal.line_count} lines"
    return f"  # {count}, such as: {cut(line_text(first.text).replace(chr(9), ' '), 90)}".rstrip()


def _toml(rule: "NoiseRule") -> str:
    pairs = (f"{key} = {_toml_string(str(value))}" for key, value in rule.keys().items())
    return f"{{ {', '.join(pairs)} }}"


def _toml_string(text: str) -> str:
    """A basic string of TOML, printable whatever the text."""
    short = {'"': '\\"', "\\": "\\\\", "\t": "\\t"}
    return '"' + "".join(short.get(one) or (one if safe(one) == one else _toml_escape(one)) for one in text) + '"'


def _toml_escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
