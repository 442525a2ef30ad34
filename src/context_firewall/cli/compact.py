"""`context-firewall compact`: a session's view in, a smaller view and the record of what was done to it out.

The order of deeds is the promise that nothing is lost: output names are checked before anything is read; the originals
go into the store, then the record that needs them; only then the files stand, and last the view is printed.
"""

from collections.abc import Sequence
from contextlib import closing
from math import isfinite
from typing import TYPE_CHECKING

import click

from context_firewall.cli import outputs
from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.compact_words import asked_policy, asked_summarizer, asked_trigger
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.sources import Source, open_source
from context_firewall.cli.stores import now, store_in_force, store_option
from context_firewall.cli.terminal import for_stdout
from context_firewall.errors import InvalidInput, StoreNotWritten

if TYPE_CHECKING:
    from context_firewall.compaction.compactor import Compactor
    from context_firewall.compaction.records import CompactionRecord
    from context_firewall.conversation.compactions import Conversation
    from context_firewall.documents.compaction_record import CompactionRecordKeys
    from context_firewall.store.evidence import EvidenceStore

NOT_COMPACTED = 3

DEFAULT_SELECT = ("recent:4",)

EPILOG = """\b
Triggers (--trigger; of several, one is enough; joined by +, all are needed):
  always            whenever there is a message (the default)
  tokens:N          more than N tokens        messages:N   more than N messages
  window:N:SHARE    more than SHARE (0 to 1) of a window of N tokens

\b
What stays as it is (--select; several add up; recent:4 if none is given):
  recent:N          the last N messages       recent-tokens:N   the last N tokens' worth
  user              what the user wrote       tool-results      answers to tool calls
  containing:TEXT   messages with that text   pinned:ID         the entry with that id
  drop-repeated     drops calls that are made again later with the same result
The system's messages always stay. Calls and their results stay together.

\b
Summaries (--summarizer):
  structural        who did what, files, test runs, decisions, and in their own words the user's
                    rules and what stands around them (the default)
  command:COMMAND   what COMMAND prints; it gets the messages as a JSON list on standard input

\b
Exit status:
  0  the view was compacted
  1  a summarizer that fails, a store or a file that cannot be written; nothing was handed out
  2  bad input or wrong usage; a session that is not as its format says
  3  not compacted: the trigger does not fire, or there is nothing to do; the view is as it was

\b
Tokens are counted by characters/v1: a CJK character is one, four other characters are one. Models differ.
"""


def _seconds(_ctx: click.Context, _option: click.Parameter, seconds: float) -> float:
    """A moment that JSON can hold."""
    if not isfinite(seconds):
        raise click.BadParameter("must be a number of seconds since 1970")
    return seconds


@click.command(epilog=EPILOG, short_help="Compact a session's view, and record how to undo it.")
@click.argument("transcript", metavar="TRANSCRIPT|-")
@click.option(
    "--format",
    "session_format",
    type=click.Choice(["auto", "claude-code", "codex", "dsh", "chat"]),
    default="auto",
    show_default=True,
    help="Whose session it is; found by its lines if not said.",
)
@click.option("--trigger", "triggers", multiple=True, metavar="WHEN", help="When to compact (see below).")
@click.option("--select", "selects", multiple=True, metavar="WHAT", help="What stays as it is (see below).")
@click.option("--summarizer", default="structural", show_default=True, metavar="HOW", help="Who makes the summary.")
@click.option(
    "--summarizer-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a command may take.",
)
@click.option(
    "--keep-results", is_flag=True, help="Leave test runs among the tool results as they are; else they become briefs."
)
@click.option("--only-if-smaller", is_flag=True, help="Do not compact a view that would not become smaller.")
@click.option(
    "--at",
    "timestamp",
    type=float,
    callback=_seconds,
    default=0.0,
    metavar="SECONDS",
    help="The time to record (since 1970).",
)
@click.option("--record", metavar="PATH", help="Write the compaction record here.")
@click.option(
    "--originals",
    type=click.Choice(["store", "record", "none"]),
    default="store",
    show_default=True,
    help="Where to keep what it takes to undo it: in the evidence store, in the file of --record, or nowhere, and then "
    "it takes the session.",
)
@store_option
@configuration_options
@click.option("--output", metavar="PATH", help="Write the compacted view here instead of to standard output.")
@click.option("--log", metavar="PATH", help="Write the decision log here, as JSON.")
def compact(
    *,
    transcript: str,
    session_format: str,
    triggers: tuple[str, ...],
    selects: tuple[str, ...],
    summarizer: str,
    summarizer_timeout: float,
    keep_results: bool,
    only_if_smaller: bool,
    timestamp: float,
    record: str | None,
    originals: str,
    store_place: str | None,
    config_path: str | None,
    no_config: bool,
    output: str | None,
    log: str | None,
) -> int:
    """Compact the view that a session has at its end.

    What is selected stays word for word; of the rest a summary is made, which stands behind the system's messages. The
    session itself is never changed. The compacted view is a JSON list of chat messages; one that came from such a list
    keeps every key.

    The record says what became of each entry and why. It goes into the evidence store with the originals of the view,
    and the indicator names it: `restore` rebuilds the earlier view from it and proves it.

    \b
    context-firewall compact session.jsonl >view.json
    context-firewall restore latest >before.jsonl
    context-firewall compact session.jsonl --record record.json --originals record --output view.json
    context-firewall compact chat.json --trigger tokens:20000 --select recent-tokens:4000
    context-firewall compact session.jsonl --summarizer 'command:my-model --summarize' --output view.json
    """
    from context_firewall.cli.summarizers import reducers
    from context_firewall.compaction.compactor import Compactor

    compactor = Compactor(
        asked_trigger(triggers),
        asked_policy(selects or DEFAULT_SELECT),
        asked_summarizer(summarizer, summarizer_timeout),
        reducers=() if keep_results else reducers(),
        clock=lambda: timestamp,
        only_if_smaller=only_if_smaller,
    )
    if originals == "record" and record is None:
        raise InvalidInput("--originals record needs --record, the file to keep them in", option="--originals")
    if originals != "store" and store_place is not None:
        raise InvalidInput(f"--store names a store, and --originals {originals} uses none", option="--originals")
    wanted = outputs.targets({"--record": record, "--output": output, "--log": log})
    store = (
        store_in_force(store_place, configuration_in_force(config_path, no_config)) if originals == "store" else None
    )
    with closing(open_source("TRANSCRIPT", transcript)) as source:
        outputs.refuse_overlap(wanted, {"the session": source.identity})
        conversation = _read(source, session_format)
    return _compacted(compactor, conversation, wanted, store, embedded=originals == "record")


def _read(source: Source, session_format: str) -> "Conversation":
    """The view at the session's end; the compactions on the way are not kept."""
    from context_firewall.conversation.reader import stream_conversation

    stream = stream_conversation(source.chunks(), format=session_format)
    while True:
        try:
            next(stream)
        except StopIteration as end:
            read: Conversation = end.value
            return read


def _compacted(
    compactor: "Compactor",
    conversation: "Conversation",
    wanted: Sequence[outputs.Target],
    store: "EvidenceStore | None",
    *,
    embedded: bool,
) -> int:
    from context_firewall.conversation.formats.chat import written
    from context_firewall.conversation.messages import Context

    ctx = Context(list(conversation.view))
    compactor.source_format = conversation.format
    made = compactor.maybe_compact(ctx)
    record = None if made is None else made.as_document(originals=embedded)
    view = written(ctx.messages, verbatim=conversation.format == "chat")
    contents = [
        (target, _sidecar(target.option, view, record, compactor))
        for target in wanted
        if record is not None or target.option != "--record"
    ]
    to_stdout = all(target.option != "--output" for target in wanted)
    kept = _kept(store, made, record) if store is not None and made is not None and record is not None else None
    with outputs.written(contents):
        if to_stdout:
            deliver(for_stdout(view))
    indicate(_indicator(made, compactor, kept))
    return 0 if made is not None else NOT_COMPACTED


def _kept(store: "EvidenceStore", made: "CompactionRecord", record: "CompactionRecordKeys") -> str:
    """Keep the originals and the record; how `restore` calls them."""
    from context_firewall.store.compactions import keep_compaction

    originals = [message.original() for message in made.rebuild()]
    try:
        return keep_compaction(store, record, originals, recorded_at=now()).reference
    except StoreNotWritten as problem:
        raise StoreNotWritten(
            f"{problem}; nothing was compacted: without a store, --originals record keeps them in the file of --record",
            **problem.details,
        ) from problem


def _sidecar(option: str, view: bytes, record: "CompactionRecordKeys | None", compactor: "Compactor") -> bytes:
    if option == "--log":
        return compactor.decision_log.to_machine_readable().encode() + b"\n"
    if option == "--record" and record is not None:
        from context_firewall.documents.compaction_record import serialize_compaction_record

        return serialize_compaction_record(record)
    return view


def _indicator(made: "CompactionRecord | None", compactor: "Compactor", kept: str | None) -> str:
    if made is None:
        reason = compactor.decision_log.entries[-1].output["reason"]
        return f"[Context Firewall] not compacted: {reason}"
    from context_firewall.cli.stored_runs import short_digest

    decision = made.selection_decision
    counts = [
        (len(decision.preserve_verbatim) - len(made.reduced_results), "kept"),
        (len(made.reduced_results), "reduced"),
        (len(decision.to_summarize), "summarised"),
        (len(decision.to_drop), "dropped"),
    ]
    said = ", ".join(f"{count} {what}" for count, what in counts if count)
    before, after = made.pre_compaction_tokens, made.post_compaction_tokens
    counted = made.token_counter + ("; not smaller, see --only-if-smaller" if after >= before else "")
    undo = "proven" if made.verify_non_destructive() else "LOST"
    way_back = f", restore {short_digest(kept)}" if kept is not None else ""
    return f"[Context Firewall] {before:,} -> {after:,} tokens ({counted}) | messages: {said} | undo: {undo}{way_back}"
