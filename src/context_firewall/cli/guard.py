"""`context-firewall guard`: did the user's rules survive the compactions of a session?

Rules of this room: text of a session is data. On a terminal it stands behind `| ` or in a row's last column, and is
made printable.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

import click

from context_firewall.cli.channels import deliver, indicate, shown_path
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.sources import Source, open_source
from context_firewall.errors import InvalidInput

if TYPE_CHECKING:
    from context_firewall.conversation.messages import Message
    from context_firewall.documents.survival_report import RoundKeys, SurvivalReport

REINJECT = "reinject"
STATUSES = {"kept": 0, "lost": 1, "unverifiable": 3}

EPILOG = """\b
Verdicts:
  kept           the summary says the same
  altered        it says something else: the row tells what
  lost           it says nothing of it
  unverifiable   it may say it in words or a language that the judge cannot read
  retained_tail  the rule was not summarised: its message is still there, word for word
  revoked        the user took it back before

\b
Judges (--judge):
  survival/v1       negation, numbers, names, order, conditions, force and status, clause by clause
  seed-coverage/v1  verbatim, or 60 % of the content words anywhere in the summary

\b
Exit status:
  0  nothing was lost
  1  a rule was lost or altered
  2  bad input or wrong usage; a session that is not as its format says
  3  nothing was lost for certain, and a rule is unverifiable

\b
Standard output carries the table, with --json one canonical JSON document, and after the word `reinject` the block of
rules alone; its exit status is 0. A word-level judge knows words, not meaning: THEORY.md has its measured rates.
"""


class _Subject(NamedTuple):
    """What is audited."""

    name: str
    """As it is shown."""
    pinned: tuple[str, ...]
    judge: str


@click.command(
    epilog=EPILOG,
    short_help="Audit a session's compactions: which of the user's rules survived.",
    options_metavar="[OPTIONS]",
)
@click.argument("words", nargs=-1, metavar="[reinject] [TRANSCRIPT|-]")
@click.option("--before", metavar="PATH", help="Without a transcript: the view before, a session or plain text.")
@click.option("--summary", metavar="PATH", help="With --before: the summary, plain text or the chat messages after it.")
@click.option(
    "--format",
    "session_format",
    type=click.Choice(["auto", "claude-code", "codex", "dsh", "chat"]),
    default="auto",
    show_default=True,
    help="Whose session it is; found by its lines if not said.",
)
@click.option(
    "--pinned", multiple=True, metavar="RULE", help="A rule to verify whatever the user said; can be repeated."
)
@click.option(
    "--judge",
    type=click.Choice(["survival/v1", "seed-coverage/v1"]),
    default="survival/v1",
    show_default=True,
    help="Who judges (see below).",
)
@click.option("--ledger", metavar="PATH", help="Add each finding to this file, one line of JSON each.")
@configuration_options
@click.option("--json", "as_json", is_flag=True, help="Print the survival report as canonical JSON.")
def guard(
    *,
    words: tuple[str, ...],
    before: str | None,
    summary: str | None,
    session_format: str,
    pinned: tuple[str, ...],
    judge: str,
    ledger: str | None,
    config_path: str | None,
    no_config: bool,
    as_json: bool,
) -> int:
    """Find the rules that the user gave, and say of each what every compaction's summary made of it.

    Rules are taken from what the user wrote and nobody else; pinned ones come from --pinned and from `pinned` in the
    project's configuration. Each is judged by its own words after every compaction, and the first round that lost it is
    named. For an agent without a known session format, give the view before and the summary as two files. After the
    word `reinject`, print the rules that the last compaction did not keep, in a block that proves that it is whole.

    \b
    context-firewall guard session.jsonl
    context-firewall guard --before chat.json --summary summary.txt --json
    context-firewall guard reinject session.jsonl
    context-firewall guard session.jsonl --pinned 'Never force-push to main' --ledger ledger.jsonl
    """
    reinjecting = words[:1] == (REINJECT,)
    paths = words[1:] if reinjecting else words
    _check_usage(paths, before, summary, as_json and reinjecting)
    if not all(rule.strip() for rule in pinned):
        raise InvalidInput("a pinned rule must have words", option="--pinned")
    if ledger is not None:
        _refuse_what_is_read(ledger, [path for path in (*paths, before, summary) if path not in (None, "-")])
    configured = configuration_in_force(config_path, no_config).pinned
    name = shown_path(paths[0] if paths else before or "")
    subject = _Subject(name, (*configured, *pinned), judge)
    if paths:
        report = _audit_session(subject, paths[0], session_format)
    else:
        report = _audit_pair(subject, before or "", summary or "", session_format)
    if ledger is not None:
        _keep(ledger, report)
    if reinjecting:
        block = put_back(report)
        if not block:
            indicate("[Context Firewall] the last compaction kept every rule: nothing to put back")
        deliver(block.encode())
        return 0
    deliver(_serialized(report) if as_json else _readable(subject, report))
    return STATUSES[report["outcome"]]


def _check_usage(paths: Sequence[str], before: str | None, summary: str | None, both: bool) -> None:
    if len(paths) > 1:
        raise InvalidInput("give one transcript", option="TRANSCRIPT")
    if paths and (before is not None or summary is not None):
        raise InvalidInput("give a transcript, or --before and --summary", option="TRANSCRIPT")
    if not paths and (before is None or summary is None):
        missing = "--summary" if before is not None else "--before" if summary is not None else "TRANSCRIPT"
        raise InvalidInput("give a transcript, or --before and --summary", option=missing)
    if before == summary == "-":
        raise InvalidInput("standard input can be one file only", option="--summary")
    if both:
        raise InvalidInput("reinject prints a block and takes no format", option="--json")


def _refuse_what_is_read(ledger: str, read: Sequence[str | None]) -> None:
    """A ledger grows: one that is the session would make another session of it."""
    for path in read:
        with suppress(OSError, ValueError):
            if path is not None and os.path.samestat(os.stat(path), os.lstat(ledger)):
                raise InvalidInput(
                    "--ledger and a file that is read are the same", option="--ledger", path=shown_path(ledger)
                )


# -- what is audited --------------------------------------------------------------------------------------------------


def _audit_session(subject: _Subject, path: str, session_format: str) -> "SurvivalReport":
    """Every compaction that a session tells of; the messages of tools and of the model are read and not kept."""
    from context_firewall.canonical import RunningHash
    from context_firewall.conversation.reader import stream_conversation
    from context_firewall.guard.audit import AUTHORS, Audit

    audit = Audit(pinned=subject.pinned, judge=subject.judge)
    running = RunningHash()
    with closing(open_source("TRANSCRIPT", path)) as source:
        stream = stream_conversation(_hashed(source, running.update), format=session_format, authors=AUTHORS)
        while True:
            try:
                audit.add(next(stream))
            except StopIteration as end:
                return audit.report(format=end.value.format, source_sha256=running.digest())


def _hashed(source: Source, update: Callable[[bytes], None]) -> Iterator[bytes]:
    for chunk in source.chunks():
        update(chunk)
        yield chunk


def _audit_pair(subject: _Subject, before: str, summary: str, session_format: str) -> "SurvivalReport":
    """One compaction, given as the view before it and what came of it."""
    from context_firewall.canonical import sha256
    from context_firewall.conversation.compactions import FoundCompaction, compaction_between
    from context_firewall.conversation.messages import Message, Role, Status
    from context_firewall.guard.audit import audit_compactions

    with closing(open_source("--before", before)) as source:
        data = source.read()
    with closing(open_source("--summary", summary)) as source:
        after = source.read()
    format, view = _view("--before", data, session_format)
    if _is_chat(after):
        compaction: FoundCompaction = compaction_between(view, _view("--summary", after, "chat")[1])
    else:
        said = Message(Role.USER, _decoded("--summary", after), compaction_status=Status.SUMMARIZED)
        compaction = FoundCompaction(round=1, line=0, shadowed=tuple(view), retained=(), summary=said)
    return audit_compactions(
        [compaction], pinned=subject.pinned, judge=subject.judge, format=format, source_sha256=sha256(data)
    )


def _view(option: str, data: bytes, session_format: str) -> "tuple[str, Sequence[Message]]":
    """A session's view at its end; text that does not begin as JSON is one message of the user."""
    from context_firewall.conversation.messages import Message, Role
    from context_firewall.conversation.reader import read_conversation

    packed = data[:4] == b"\x28\xb5\x2f\xfd"  # Zstandard
    if session_format == "auto" and not packed and _opening(data) not in (b"{", b"["):
        return "text", [Message(Role.USER, _decoded(option, data), entry_id=0)]
    conversation = read_conversation(data, format=session_format)
    return conversation.format, conversation.view


def _is_chat(data: bytes) -> bool:
    """Whether it is a JSON list of messages; everything else is the text of a summary."""
    if _opening(data) != b"[":
        return False
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, list) and all(isinstance(item, dict) and "role" in item for item in value)


def _opening(data: bytes) -> bytes:
    """The first byte that is no blank, behind a byte order mark if there is one."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def _decoded(option: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"{option} is not UTF-8, at byte {problem.start}", option=option) from None


# -- what comes out ---------------------------------------------------------------------------------------------------


def _keep(ledger: str, report: "SurvivalReport") -> None:
    from datetime import UTC, datetime

    from context_firewall.cli.ledger import append_lines
    from context_firewall.documents.survival_report import ledger_entries

    recorded_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    append_lines("--ledger", ledger, ledger_entries(report, recorded_at=recorded_at))


def _serialized(report: "SurvivalReport") -> bytes:
    from context_firewall.documents.survival_report import serialize_survival_report

    return serialize_survival_report(report)


def put_back(report: "SurvivalReport") -> str:
    """The rules that the last compaction did not keep, printable and otherwise in their own words, as one block."""
    from context_firewall.documents.printable import safe
    from context_firewall.guard.reinjection import reinject_block

    last = report["rounds"][-1]["findings"] if report["rounds"] else []
    gone = [
        report["constraints"][finding["constraint"]]["text"]
        for finding in last
        if finding["verdict"] in ("lost", "altered", "unverifiable")
    ]
    return reinject_block("\n".join(safe(line) for line in rule.split("\n")) for rule in gone)


def _readable(subject: _Subject, report: "SurvivalReport") -> bytes:
    from context_firewall.cli.terminal import BOLD, GREEN, RED, YELLOW, Terminal
    from context_firewall.documents.printable import safe

    terminal = Terminal.of_stdout()
    rounds = report["rounds"]
    source = f"{safe(subject.name)} ({report['source']['format']})"
    lines = [terminal.line(f"{source}: {_counted(len(rounds), 'compaction')}, judge {report['judge']['name']}", BOLD)]
    for one in rounds:
        lines += ["", *_round(report, one, terminal)]
    counts = [f"{count} {verdict}" for verdict, count in report["counts"].items() if count]
    colour = {"kept": GREEN, "lost": RED, "unverifiable": YELLOW}[report["outcome"]]
    lines += ["", terminal.line(_conclusion(report) + (f": {', '.join(counts)}" if counts else ""), BOLD, colour)]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _conclusion(report: "SurvivalReport") -> str:
    if not report["rounds"]:
        return "no compaction, so nothing was lost"
    if not report["constraints"]:
        return "no rule was given, so none was lost"
    if report["outcome"] == "lost":
        return "not every rule survived"
    return "every rule survived" if report["outcome"] == "kept" else "not every rule can be verified"


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def _round(report: "SurvivalReport", one: "RoundKeys", terminal: "object") -> Iterator[str]:
    from context_firewall.cli.terminal import BOLD, DIM, GREEN, MAGENTA, RED, YELLOW, Terminal
    from context_firewall.documents.printable import safe

    assert isinstance(terminal, Terminal)  # noqa: S101  imported late, so not named in the signature
    colours = {"kept": GREEN, "altered": RED, "lost": RED, "unverifiable": YELLOW}
    about = [f"round {one['round']}"]
    about += [safe(one["trigger"])] if one["trigger"] else []
    about += [f"line {one['line']}"] if one["line"] else []
    yield terminal.line(", ".join(about), BOLD)
    if one["readded"]:
        yield terminal.line("  the client shows recent messages of the user again after this compaction", DIM)
    width = max((len(finding["verdict"]) for finding in one["findings"]), default=0)
    margin = " " * (width + 4)
    for finding in one["findings"]:
        constraint = report["constraints"][finding["constraint"]]
        pinned = " (pinned)" if constraint["origin"] == "pinned" else ""
        yield terminal.line(
            f"  {finding['verdict']:<{width}}  {safe(constraint['text'])}{pinned}",
            *([colours[finding["verdict"]]] if finding["verdict"] in colours else [DIM]),
        )
        first = constraint["first_lost_round"]
        since = (
            f", since round {first}"
            if first is not None and first < one["round"] and finding["verdict"] in ("lost", "altered")
            else ""
        )
        if finding["verdict"] != "kept":
            nearest = (
                "the nearest words are" if finding["verdict"] == "lost" and finding["evidence"] is not None else ""
            )
            reason = safe(finding["reason"]) or nearest
            yield terminal.line(f"{margin}{finding['rule']}{since}" + (f": {reason}" if reason else ""))
        if finding["evidence"] is not None:
            yield terminal.line(f"{margin}| {safe(finding['evidence']['text'])}")
    for evidence in one["invented"]:
        yield terminal.line("  invented: a rule in the summary that nobody gave", MAGENTA)
        yield terminal.line(f"{margin}| {safe(evidence['text'])}")
