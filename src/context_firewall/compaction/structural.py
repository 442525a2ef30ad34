"""The structural summary: who did what, which files were touched, what was decided, and the user's words as they were.

It is made of the session's structure alone: authors, calls and their arguments, results. No sentence is rewritten.
What is quoted stands behind `- `, its further lines behind two spaces; every other line is one of ours, so that
nothing which was said can look like a heading or another quotation. A summary of this kind that is summarised again
is read back and carried on, so that the user's words stay through any number of rounds.

    [Summary of earlier messages, made by context-firewall: structural/v1. …]
    messages: 4 user, 9 model, 8 tool
    The user said, word for word:
    - Never commit to main.
    Tools: Bash 6 (1 failed), Edit 2
    Files:
    - src/routes.py (Edit 2)
    Test runs:
    - FAILED: 2 failed, 68 passed, 70 in all; …
    Decided:
    - Decision: the timeout stays at 30 seconds.
    Last reports of the model:
    - Routes live in src/routes.py.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from context_firewall.compaction.reducing import Reducer, exit_code
from context_firewall.conversation.items import sound
from context_firewall.conversation.messages import SUMMARY_HEAD, Author, Message, Role, Status
from context_firewall.documents.printable import ANSI, UNSAFE

Directives = Callable[[str], Sequence[tuple[int, int]]]
"""A text of the user to where the rules in it stand, and what takes one back: half-open ranges of characters, in order.
Ranges and not texts, so that what is quoted is the user's in any case."""

NAME, VERSION = "structural", "structural/v1"

HEAD = f"{SUMMARY_HEAD}: {VERSION}. Behind dashes: quoted.]"

SAID = "The user said, word for word:"
FILES = "Files:"
RUNS = "Test runs:"
DECIDED = "Decided:"
REPORTS = "Last reports of the model:"
SYSTEM = "The system said, word for word:"
NOTICES = "Last notices of the harness:"
EARLIER = "From an earlier summary:"
_LISTS = (SYSTEM, SAID, EARLIER, NOTICES, FILES, RUNS, DECIDED, REPORTS)

LONGEST_HEAD = 400
"""Characters of which a quotation's head has no more, where not all of a text is quoted. Of a text of the user, all is
quoted that its rules need; and all of it where nobody can say where they are."""

LEFT_OUT = " […] "

MOST_REPORTS, MOST_NOTICES, MOST_RUNS, MOST_FILES = 12, 6, 12, 200

# Arguments of tools that hold a path, in the order in which they are looked for.
_PATHS = ("file_path", "notebook_path", "path", "filename", "target_file")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S[^\n]*+)$", re.MULTILINE)
_DECISION = re.compile(r"[ \t>*#-]*+\**+(?:Decision|Decided|We decided|决定|決定)\**+ ?[:：][^\n]*+")
# Between words, and within them, what is not there for who reads them: the line ends of other systems, soft hyphens.
_BLANK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]++")
_UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u2060\ufeff]++")
_COUNT = re.compile(r"([0-9]++) ([a-z]++)")
_TOOL = re.compile(r"(.*?) ([0-9]++)(?: \(([0-9]++) failed\))?+")
_FILE = re.compile(r"(.*) \(([^()]*+)\)", re.DOTALL)


@dataclass(slots=True)
class Account:
    """What a summary of this kind says, before it is a text."""

    authors: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)
    system: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)
    files: dict[str, Counter[str]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)

    def add(self, other: "Account") -> None:
        """Carry on what another account says."""
        for mine, theirs in ((self.authors, other.authors), (self.calls, other.calls), (self.failed, other.failed)):
            mine.update(theirs)
        for path, tools in other.files.items():
            self.touch(path, tools)
        for held, new in (
            (self.said, other.said),
            (self.system, other.system),
            (self.notices, other.notices),
            (self.earlier, other.earlier),
            (self.runs, other.runs),
            (self.decided, other.decided),
            (self.reports, other.reports),
        ):
            held.extend(new)

    def touch(self, path: str, tools: Iterable[str] | Counter[str]) -> None:
        """A file was named in calls of these tools; the one that was touched last stands last."""
        counted = self.files.pop(path, Counter[str]())
        counted.update(tools)
        self.files[path] = counted


class StructuralSummarizer:
    """Makes structural summaries. Deterministic: the same messages give the same text.

    `directives` finds the rules in what the user said: of a long text, they and its head are then quoted. `reducers`
    recognise test runs among the results, of which the first line of their shorter form is noted.
    """

    name, version = NAME, VERSION

    def __init__(self, *, directives: Directives | None = None, reducers: Sequence[Reducer] = ()) -> None:
        self._directives = directives
        self._reducers = tuple(reducers)

    def __call__(self, messages: list[Message]) -> Message:
        """The summary of those messages."""
        account = Account()
        names: dict[str, str] = {}
        for place, message in enumerate(messages):
            if message.is_summary:
                self._carry_on(account, message)
                continue
            account.authors[str(message.author)] += 1
            self._calls(account, message, names)
            self._results(account, message, names)
            account.system += _texts(message, Author.SYSTEM)
            account.notices += [_head(text) for text in _texts(message, Author.PLUGIN)]
            account.said += [self._said(text) for text in _texts(message, Author.USER)]
            ends_turn = place + 1 == len(messages) or messages[place + 1].author is Author.USER
            self._report(account, message, ends_turn)
        return Message(Role.USER, render(account), compaction_status=Status.SUMMARIZED)

    def _carry_on(self, account: Account, message: Message) -> None:
        earlier = parse(message.content)
        if earlier is not None:
            account.add(earlier)
        else:
            account.earlier.append(message.content)

    def _calls(self, account: Account, message: Message, names: dict[str, str]) -> None:
        for call in message.tool_calls:
            names[call.call_id] = name = _word(call.name)
            account.calls[name] += 1
            for path in _paths(call.arguments):
                account.touch(path, (name,))

    def _results(self, account: Account, message: Message, names: dict[str, str]) -> None:
        for result in message.tool_results:
            if result.is_error or result.exit_code:
                name = names.get(result.call_id, "unknown")
                account.calls[name] += 0  # the call itself may have been summarised before
                account.failed[name] += 1
        if message.role is not Role.TOOL:
            return
        for reducer in self._reducers:
            reduced = reducer(message.content, exit_code(message))
            if reduced is not None:
                account.runs.append(reduced.text.partition("\n")[0])
                break

    def _said(self, text: str) -> str:
        """A text of the user, or of a long one its head and every rule in it."""
        if self._directives is None or len(text) <= LONGEST_HEAD:
            return text
        pieces, begun, end = list[str](), 0, LONGEST_HEAD
        for start, stop in self._directives(text):
            if start > end and text[end:start].strip():
                pieces.append(text[begun:end].strip())
                begun = start
            end = max(end, stop)
        pieces.append(text[begun:end].strip())
        return LEFT_OUT.join(pieces) + (LEFT_OUT.rstrip() if text[end:].strip() else "")

    def _report(self, account: Account, message: Message, ends_turn: bool) -> None:
        if message.author is not Author.MODEL:
            return
        lines = message.content.split("\n")
        account.decided += [line.strip() for line in lines if _DECISION.fullmatch(line)]
        text = "\n".join(line for line in lines if not _DECISION.fullmatch(line)).strip()
        if ends_turn and text:
            account.reports.append(_head(text))


def structural_summarizer(messages: list[Message]) -> Message:
    """The structural summary of some messages, with nothing handed in."""
    return StructuralSummarizer()(messages)


# -- to text and back -------------------------------------------------------------------------------------------------


def render(account: Account) -> str:
    """An account as text."""
    lines = [HEAD]
    if account.authors:
        lines.append("messages: " + ", ".join(f"{n} {author}" for author, n in account.authors.items()))
    if account.calls:
        lines.append("Tools: " + ", ".join(_tool(account, name) for name in account.calls))
    files = [f"{path} ({_uses(tools)})" for path, tools in list(account.files.items())[-MOST_FILES:]]
    for title, items in (
        (SYSTEM, _once(account.system)),
        (SAID, _once(account.said)),
        (EARLIER, account.earlier),
        (NOTICES, account.notices[-MOST_NOTICES:]),
        (FILES, files),
        (RUNS, account.runs[-MOST_RUNS:]),
        (DECIDED, _once(account.decided)),
        (REPORTS, account.reports[-MOST_REPORTS:]),
    ):
        if items:
            lines.append(title)
            lines += [_quoted(item) for item in items]
    return "\n".join(lines)


def parse(text: str) -> Account | None:
    """The account of which `render` made that text; None for any other text."""
    first, *rest = text.split("\n")
    if first != HEAD:
        return None
    account = Account()
    lists: dict[str, list[str]] = {title: [] for title in _LISTS}
    current: list[str] | None = None
    for line in rest:
        if line in lists:
            current = lists[line]
        elif line.startswith("- ") and current is not None:
            current.append(line[2:])
        elif line.startswith("  ") and current:
            current[-1] += "\n" + line[2:]
        elif not _parse_counts(account, line):
            return None
    account.system, account.said, account.earlier = lists[SYSTEM], lists[SAID], lists[EARLIER]
    account.notices, account.runs, account.decided = lists[NOTICES], lists[RUNS], lists[DECIDED]
    account.reports = lists[REPORTS]
    for item in lists[FILES]:
        match = _FILE.fullmatch(item)
        if match is None:
            return None
        account.touch(match[1], Counter({name: int(n) for name, n in _pairs(match[2])}))
    return account


def _parse_counts(account: Account, line: str) -> bool:
    if line.startswith("messages: "):
        account.authors.update({author: int(n) for n, author in _COUNT.findall(line)})
        return True
    if not line.startswith("Tools: "):
        return False
    for part in line.removeprefix("Tools: ").split(", "):
        match = _TOOL.fullmatch(part)
        if match is None:
            return False
        account.calls[match[1]] += int(match[2])
        if match[3]:
            account.failed[match[1]] += int(match[3])
    return True


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(", "):
        name, _, n = part.rpartition(" ")
        if name and n.isascii() and n.isdigit():
            yield name, n


def _tool(account: Account, name: str) -> str:
    failed = account.failed[name]
    return f"{name} {account.calls[name]}" + (f" ({failed} failed)" if failed else "")


def _uses(tools: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in tools.items())


def _quoted(text: str) -> str:
    """A text as an item of a list."""
    return "- " + _visible(text).replace("\n", "\n  ")


def _visible(text: str) -> str:
    """A text as it reads, line by line: blanks for controls and separators, and without what shows nothing.

    What a reader could take for something else nevertheless, such as text that is turned round, is spelled out.
    """
    lines = (_UNSEEN.sub("", _BLANK.sub(" ", ANSI.sub("", line))).rstrip() for line in text.split("\n"))
    return "\n".join(UNSAFE.sub(_spelled, line) for line in lines)


def _spelled(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _texts(message: Message, author: Author) -> list[str]:
    return [text.strip() for _, text in message.written_by(author) if text.strip()]


def _head(text: str) -> str:
    return f"{text[:LONGEST_HEAD]} […]" if len(text) > LONGEST_HEAD else text


def _once(texts: Iterable[str]) -> list[str]:
    """Each text once, as it reads; those that show nothing are none."""
    return list(dict.fromkeys(shown for text in texts if (shown := _visible(text).strip())))


def _word(name: str) -> str:
    """A tool's name as one word, so that a list of names stays one."""
    return re.sub(r"[^\w.:/-]", "_", name)[:80] or "_"


def _paths(arguments: str) -> list[str]:
    """The files that a call's arguments name: under a key that holds a path, or in the head of a patch."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = arguments
    if isinstance(value, dict):
        named = [value[key] for key in _PATHS if isinstance(value.get(key), str) and value[key]]
        texts = [text for text in value.values() if isinstance(text, str)]
        return [_one_line(path) for path in (named[:1] or _patched(texts))]
    return [_one_line(path) for path in _patched([value])] if isinstance(value, str) else []


def _patched(texts: Iterable[Any]) -> list[str]:
    return [path for text in texts if "*** " in text for path in _PATCHED.findall(text)]


def _one_line(path: str) -> str:
    return UNSAFE.sub(_spelled, sound(path))[:400]
