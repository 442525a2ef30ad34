"""`context-firewall compact`: a session's view in, a smaller view and the record of what was done to it out."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click

from context_firewall.cli import outputs
from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.sources import Source, open_source
from context_firewall.errors import InvalidInput

if TYPE_CHECKING:
    from context_firewall.compaction.compactor import Compactor
    from context_firewall.compaction.records import CompactionRecord
    from context_firewall.compaction.selection import Policy, Rule
    from context_firewall.compaction.summaries import Summarizer
    from context_firewall.compaction.triggers import Trigger
    from context_firewall.conversation.compactions import Conversation

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
  structural        who did what, files, test runs, decisions, the user's own words (the default)
  command:COMMAND   what COMMAND prints; it gets the messages as a JSON list on standard input

\b
Exit status:
  0  the view was compacted
  1  something else went wrong, such as a summarizer that fails; nothing was written
  2  bad input or wrong usage; a session that is not as its format says
  3  not compacted: the trigger does not fire, or there is nothing to do; the view is as it was

\b
Tokens are counted by characters/v1: a CJK character is one, four other characters are one. Models differ.
"""


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
@click.option("--at", "timestamp", type=float, default=0.0, metavar="SECONDS", help="The time to record (since 1970).")
@click.option("--record", metavar="PATH", help="Write the compaction record here.")
@click.option(
    "--without-originals",
    is_flag=True,
    help="Leave the originals out of the record; to undo it takes the session, then.",
)
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
    without_originals: bool,
    output: str | None,
    log: str | None,
) -> int:
    """Compact the view that a session has at its end.

    What is selected stays word for word; of the rest a summary is made, which stands behind the system's messages. The
    session itself is never changed. The compacted view is a JSON list of chat messages; one that came from such a list
    keeps every key. The record says what became of each entry and why, and holds the originals with their digests: from
    it alone, `restore` rebuilds the earlier view and proves it.

    \b
    context-firewall compact session.jsonl --record record.json >view.json
    context-firewall compact chat.json --trigger tokens:20000 --select recent-tokens:4000
    context-firewall compact session.jsonl --summarizer 'command:my-model --summarize' --output view.json
    """
    from context_firewall.cli.summarizers import reducers
    from context_firewall.compaction.compactor import Compactor

    compactor = Compactor(
        _trigger(triggers),
        _policy(selects or DEFAULT_SELECT),
        _summarizer(summarizer, summarizer_timeout),
        reducers=() if keep_results else reducers(),
        clock=lambda: timestamp,
        only_if_smaller=only_if_smaller,
    )
    wanted = outputs.targets({"--record": record, "--output": output, "--log": log})
    with closing(open_source("TRANSCRIPT", transcript)) as source:
        outputs.refuse_overlap(wanted, {"the session": source.identity})
        conversation = _read(source, session_format)
    return _compacted(compactor, conversation, wanted, not without_originals)


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
    compactor: "Compactor", conversation: "Conversation", wanted: Sequence[outputs.Target], originals: bool
) -> int:
    from context_firewall.conversation.formats.chat import written
    from context_firewall.conversation.messages import Context

    ctx = Context(list(conversation.view))
    compactor.source_format = conversation.format
    made = compactor.maybe_compact(ctx)
    view = written(ctx.messages, verbatim=conversation.format == "chat")
    contents = [
        (target, _sidecar(target.option, view, made, compactor, originals))
        for target in wanted
        if made is not None or target.option != "--record"
    ]
    to_stdout = all(target.option != "--output" for target in wanted)
    with outputs.written(contents):
        if to_stdout:
            deliver(view)
    indicate(_indicator(made, compactor))
    return 0 if made is not None else NOT_COMPACTED


def _sidecar(
    option: str, view: bytes, made: "CompactionRecord | None", compactor: "Compactor", originals: bool
) -> bytes:
    if option == "--log":
        return compactor.decision_log.to_machine_readable().encode() + b"\n"
    if option == "--record" and made is not None:
        from context_firewall.documents.compaction_record import serialize_compaction_record

        return serialize_compaction_record(made.as_document(originals=originals))
    return view


def _indicator(made: "CompactionRecord | None", compactor: "Compactor") -> str:
    if made is None:
        reason = compactor.decision_log.entries[-1].output["reason"]
        return f"[Context Firewall] not compacted: {reason}"
    decision = made.selection_decision
    counts = [
        (len(decision.preserve_verbatim) - len(made.reduced_results), "kept"),
        (len(made.reduced_results), "reduced"),
        (len(decision.to_summarize), "summarised"),
        (len(decision.to_drop), "dropped"),
    ]
    said = ", ".join(f"{count} {what}" for count, what in counts if count)
    return (
        f"[Context Firewall] {made.pre_compaction_tokens:,} -> {made.post_compaction_tokens:,} tokens "
        f"({made.token_counter}) | messages: {said} | undo: {'proven' if made.verify_non_destructive() else 'LOST'}"
    )


# -- options ----------------------------------------------------------------------------------------------------------


def _trigger(asked: Sequence[str]) -> "Trigger":
    from context_firewall.compaction import triggers

    found = []
    for text in asked or ("always",):
        parts = [_one_trigger(part) for part in text.split("+")]
        found.append(parts[0] if len(parts) == 1 else triggers.all_of(*parts))
    return found[0] if len(found) == 1 else triggers.any_of(*found)


def _one_trigger(text: str) -> "Trigger":
    from context_firewall.compaction import triggers

    name, _, value = text.partition(":")
    if text == "always":
        return triggers.always()
    if name == "tokens":
        return triggers.token_threshold_predicate(_whole("--trigger", text, value))
    if name == "messages":
        return triggers.message_count_predicate(_whole("--trigger", text, value))
    if name == "window":
        window, _, share = value.partition(":")
        return triggers.window_fraction_predicate(_whole("--trigger", text, window), _share(text, share))
    raise _unknown("--trigger", text, "always, tokens:N, messages:N or window:N:SHARE")


def _policy(asked: Sequence[str]) -> "Policy":
    from context_firewall.compaction import selection

    rules: dict[str, Callable[[str, str], Rule]] = {
        "containing": lambda text, value: selection.containing(value),
        "pinned": lambda text, value: selection.pinned(int(value) if value.isascii() and value.isdigit() else value),
        "recent": lambda text, value: selection.recent(_whole("--select", text, value)),
        "recent-tokens": lambda text, value: selection.recent_tokens(_whole("--select", text, value)),
        "tool-results": lambda text, value: selection.tool_results(),
        "user": lambda text, value: selection.user_messages(),
    }
    keep = [selection.system()]
    for text in asked:
        name, _, value = text.partition(":")
        if text == "drop-repeated":
            continue
        takes = name in ("containing", "pinned", "recent", "recent-tokens")
        if name not in rules or takes != bool(value):
            raise _unknown("--select", text, "recent:N, recent-tokens:N, user, tool-results, pinned:ID, …")
        keep.append(rules[name](text, value))
    drop = [selection.repeated_results()] if "drop-repeated" in asked else []
    return selection.selection(*keep, drop=drop)


def _summarizer(asked: str, timeout: float) -> "Summarizer":
    from context_firewall.cli.summarizers import CommandSummarizer, reducers
    from context_firewall.compaction.structural import StructuralSummarizer

    if asked == "structural":
        return StructuralSummarizer(reducers=reducers())
    name, _, command = asked.partition(":")
    if name == "command" and command:
        return CommandSummarizer(command, timeout)
    raise _unknown("--summarizer", asked, "structural or command:COMMAND")


def _whole(option: str, text: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 15):
        raise InvalidInput(f"{option} {text}: {value or 'nothing'} is no whole number", option=option)
    return int(value)


def _share(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InvalidInput(f"--trigger {text}: {value or 'nothing'} is no number", option="--trigger") from None


def _unknown(option: str, text: str, known: str) -> InvalidInput:
    return InvalidInput(f"{option} {text} is not known; it is {known}", option=option, help="compact --help")
