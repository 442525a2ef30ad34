"""Part 3, the summarisation step: what goes in and what comes out is written down.

A summarizer is any function from messages to one message, or to a text. A model belongs behind such a function; here
are none. If it has a `name` and a `version`, records give them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from context_firewall.canonical import sha256
from context_firewall.conversation.messages import Context, EntryId, Message, Role, Status
from context_firewall.errors import InvalidInput


class Summarizer(Protocol):
    """Messages to their summary."""

    def __call__(self, messages: list[Message], /) -> Message | str:
        """The summary of those messages, as a message or as its text."""
        ...


@dataclass(frozen=True, slots=True)
class SummarizationLog:
    """What a summarizer was shown and what it made of it, with the digests of both."""

    summarizer_inputs: list[Message]
    summarizer_output: Message
    """The summary as it stands in the view."""
    timestamp: float = 0.0
    name: str = ""
    version: str = ""

    @property
    def input_sha256(self) -> str:
        """Digest of the inputs' bytes, each followed by a newline."""
        return view_sha256(self.summarizer_inputs)

    @property
    def output_sha256(self) -> str:
        """Digest of the summary's content."""
        return sha256(self.summarizer_output.content.encode("utf-8", "surrogatepass"))


def view_bytes(messages: Sequence[Message]) -> bytes:
    """A view as bytes: the original of each message, followed by a newline."""
    return b"".join(message.original() + b"\n" for message in messages)


def view_sha256(messages: Sequence[Message]) -> str:
    """Digest of `view_bytes`."""
    return sha256(view_bytes(messages))


def summarized(summarizer: Summarizer, messages: list[Message], ctx: Context, timestamp: float) -> SummarizationLog:
    """Let a summarizer work, and mark what it made as a summary of those messages.

    The summary stands in the user's role where the summarizer says the system's: what was summarised is not all the
    system's, and a text that tools and users had a part in does not speak with the system's voice.
    """
    made = summarizer(list(messages))
    if isinstance(made, str):
        made = Message(Role.USER, made)
    if not isinstance(made, Message):
        raise InvalidInput(f"the summarizer made a {type(made).__name__}; it must make a message, or its text")
    ids: tuple[EntryId, ...] = tuple(message.entry_id for message in messages if message.entry_id is not None)
    output = Message(
        role=Role.USER if made.role is Role.SYSTEM else made.role,
        content=made.content,
        timestamp=timestamp,
        compaction_status=Status.SUMMARIZED,
        entry_id=ctx.fresh_id(),
        replaces_entry_ids=ids,
    )
    return SummarizationLog(messages, output, timestamp, _named(summarizer, "name"), _named(summarizer, "version"))


def _named(summarizer: Any, what: str) -> str:
    named = getattr(summarizer, what, None)
    if isinstance(named, str):
        return named
    return str(getattr(summarizer, "__qualname__", type(summarizer).__qualname__)) if what == "name" else ""


# -- stand-ins, to test the mechanism and not a model ------------------------------------------------------------------

_HEAD, _SHOWN = 40, 3


def stub_summarizer(messages: list[Message]) -> Message:
    """The first 40 characters of the first three messages. It loses what a summary must not lose: it is for tests."""
    heads = " | ".join(message.content[:_HEAD] for message in messages[:_SHOWN])
    text = f"Summary of {len(messages)} earlier messages: {heads}..."
    return Message(Role.SYSTEM, text, compaction_status=Status.SUMMARIZED)


def malicious_summarizer(messages: list[Message]) -> Message:
    """A summary that leaves out what is marked as security-critical: what a guard must find."""
    left = [message for message in messages if "security-critical" not in message.content.lower()]
    text = f"Summary omitting {len(messages) - len(left)} messages."
    return Message(Role.SYSTEM, text, compaction_status=Status.SUMMARIZED)
