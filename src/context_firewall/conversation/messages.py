"""What a conversation is made of: messages, who wrote which part of them, and which tool result answers which call.

A message is what one item of a session shows to the model. It never changes: where something replaces it, the
replacement is a message of its own that names what it stands for. `Context` is the view that a model has at a moment.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, TypedDict, TypeVar

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.conversation.tokens import CHARACTERS, TokenCounter
from context_firewall.errors import InvalidInput

EntryId = int | str
"""How an entry is called: the session's own name for it, or a number that a `Context` gave."""


SUMMARY_HEAD = "[Summary of earlier messages, made by context-firewall"
"""How a summary of ours begins, so that it is known again in a view that says nothing of who wrote what."""


class Role(StrEnum):
    """In whose place a message stands in the view."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Author(StrEnum):
    """Who wrote a text, which is not always the role that it stands in."""

    SYSTEM = "system"
    """Whoever configured the agent."""
    USER = "user"
    TOOL = "tool"
    MODEL = "model"
    PLUGIN = "plugin"
    """The harness or an extension of it: notices, reminders, the environment, project files that it adds."""
    SUMMARY = "summary"
    """A compaction."""


class Status(StrEnum):
    """What compaction did to a message."""

    ORIGINAL = "original"
    SUMMARIZED = "summarized"
    """A summary: it stands for the entries that it names."""
    REDUCED = "reduced"
    """A tool result in a shorter form: it stands for the one entry that it names."""
    DROPPED = "dropped"


_AUTHORS = {
    Role.SYSTEM: Author.SYSTEM,
    Role.USER: Author.USER,
    Role.ASSISTANT: Author.MODEL,
    Role.TOOL: Author.TOOL,
}


class ToolCall(NamedTuple):
    """A call that a message makes; `arguments` is the text that the model wrote."""

    call_id: str
    name: str
    arguments: str


class ToolResult(NamedTuple):
    """A call that a message answers; None where the session does not say how it ended."""

    call_id: str
    is_error: bool | None = None
    exit_code: int | None = None


class Passage(NamedTuple):
    """A part of a message's content: who wrote it, and its first and one-past-last character."""

    author: Author
    start: int
    end: int


class MessageKeys(TypedDict):
    """A message as JSON."""

    author: str
    compaction_status: str
    content: str
    entry_id: EntryId | None
    passages: list[list[Any]]
    replaces_entry_ids: list[EntryId]
    role: str
    timestamp: float
    tool_calls: list[list[str]]
    tool_results: list[list[Any]]


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation.

    `author` follows from the role, or from the status of a summary, unless it is given. `passages` cover the content
    where its parts have different authors; without them all of it is the author's. `source` is the item as the session
    has it (a line without its newline, or a message object), and `line` its line there, counted from 1. Raises
    InvalidInput for a role or a status that does not exist, and for a content that is no text.
    """

    role: Role
    content: str
    timestamp: float = 0.0
    """Seconds since 1970; 0 where nobody says."""
    compaction_status: str = Status.ORIGINAL
    entry_id: EntryId | None = None
    author: Author = None  # type: ignore[assignment]  # follows from the role, so it is never None once made
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    replaces_entry_ids: tuple[EntryId, ...] = ()
    passages: tuple[Passage, ...] = ()
    line: int = 0
    source: bytes = field(default=b"", repr=False)
    _digest: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "role", _member(Role, self.role, "role"))
        put(self, "compaction_status", _member(Status, self.compaction_status, "compaction_status"))
        if not isinstance(self.content, str):
            raise InvalidInput("a message's content must be text", key="content")
        if self.author is None:
            summary = self.compaction_status is Status.SUMMARIZED
            put(self, "author", Author.SUMMARY if summary else _AUTHORS[self.role])

    @property
    def is_summary(self) -> bool:
        """Whether a compaction wrote it."""
        return self.author is Author.SUMMARY or self.compaction_status == Status.SUMMARIZED

    def written_by(self, author: Author) -> Iterator[tuple[int, str]]:
        """The parts of the content that this author wrote, each with its offset in characters."""
        if not self.passages:
            if self.author is author:
                yield 0, self.content
            return
        for passage in self.passages:
            if passage.author is author:
                yield passage.start, self.content[passage.start : passage.end]

    def token_estimate(self, counter: TokenCounter = CHARACTERS) -> int:
        """How many tokens the content and the calls have, by that counter."""
        text = self.content
        if self.tool_calls:
            text = "\n".join((text, *(f"{call.name} {call.arguments}" for call in self.tool_calls)))
        return counter(text)

    def as_json(self) -> MessageKeys:
        """The message as JSON, without its place in a session."""
        return {
            "author": str(self.author),
            "compaction_status": str(self.compaction_status),
            "content": self.content,
            "entry_id": self.entry_id,
            "passages": [[str(author), start, end] for author, start, end in self.passages],
            "replaces_entry_ids": list(self.replaces_entry_ids),
            "role": str(self.role),
            "timestamp": self.timestamp,
            "tool_calls": [list(call) for call in self.tool_calls],
            "tool_results": [list(result) for result in self.tool_results],
        }

    @classmethod
    def from_json(cls, keys: Mapping[str, Any]) -> "Message":
        """The message of which `as_json` wrote those keys."""
        return cls(
            role=Role(keys["role"]),
            content=keys["content"],
            timestamp=keys["timestamp"],
            compaction_status=keys["compaction_status"],
            entry_id=keys["entry_id"],
            author=Author(keys["author"]),
            tool_calls=tuple(ToolCall(*call) for call in keys["tool_calls"]),
            tool_results=tuple(ToolResult(*result) for result in keys["tool_results"]),
            replaces_entry_ids=tuple(keys["replaces_entry_ids"]),
            passages=tuple(Passage(Author(author), start, end) for author, start, end in keys["passages"]),
        )

    def original(self) -> bytes:
        """The bytes that stand for this message: the session's own item, or else its canonical JSON.

        Raises InvalidInput where there is no canonical JSON: for a lone surrogate, or a number that JSON has not.
        """
        try:
            return self.source or canonical_bytes(self.as_json())
        except ValueError as problem:
            raise InvalidInput(f"entry {self.entry_id!r} has no canonical form: {problem}", key="content") from None

    def sha256(self) -> str:
        """Digest of `original()`."""
        if not self._digest:
            object.__setattr__(self, "_digest", sha256(self.original()))
        return self._digest


Member = TypeVar("Member", bound=StrEnum)


def _member(kind: type[Member], value: str, key: str) -> Member:
    try:
        return kind(value)
    except ValueError:
        raise InvalidInput(f"{key} must be one of {', '.join(kind)}", key=key) from None


@dataclass(slots=True)
class Context:
    """The view that a model has: messages in order, each with an id of its own.

    A message that comes without an id gets the next free number, from 0 on.
    """

    messages: list[Message] = field(default_factory=list)
    counter: TokenCounter = CHARACTERS
    next_id: int = 0

    def __post_init__(self) -> None:
        self.identify()

    def append(self, message: Message) -> None:
        """Add a message at the end."""
        if message.entry_id is None:
            message = replace(message, entry_id=self.fresh_id())
        elif isinstance(message.entry_id, int):
            self.next_id = max(self.next_id, message.entry_id + 1)
        self.messages.append(message)

    def fresh_id(self) -> int:
        """A number that no message of this view had before."""
        self.next_id += 1
        return self.next_id - 1

    def total_tokens(self) -> int:
        """The messages' tokens, by this view's counter."""
        return sum(message.token_estimate(self.counter) for message in self.messages)

    def snapshot(self) -> list[Message]:
        """The messages in a list of its own; they themselves never change."""
        self.identify()
        return list(self.messages)

    def identify(self) -> None:
        """Give ids to messages that were put in without one; InvalidInput when two have the same."""
        numbers = [message.entry_id for message in self.messages if isinstance(message.entry_id, int)]
        self.next_id = max([self.next_id, *(number + 1 for number in numbers)])
        for index, message in enumerate(self.messages):
            if message.entry_id is None:
                self.messages[index] = replace(message, entry_id=self.fresh_id())
        refuse_repeated_ids(self.messages)


def refuse_repeated_ids(messages: Iterable[Message]) -> None:
    """InvalidInput when two messages have the same id: a record could not say which of them it means."""
    seen: set[EntryId] = set()
    for message in messages:
        if message.entry_id is not None and message.entry_id in seen:
            raise InvalidInput(f"two entries have the id {message.entry_id!r}", key="entry_id")
        if message.entry_id is not None:
            seen.add(message.entry_id)
