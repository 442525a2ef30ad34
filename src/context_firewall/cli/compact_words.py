"""What `compact` is asked for in a few words: when, what stays, and who summarises. Raises InvalidInput for others."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from context_firewall.errors import InvalidInput

if TYPE_CHECKING:
    from context_firewall.compaction.selection import Policy, Rule
    from context_firewall.compaction.summaries import Summarizer
    from context_firewall.compaction.triggers import Trigger


def asked_trigger(asked: Sequence[str]) -> "Trigger":
    """The trigger that `--trigger` asks for; of several, one is enough, and without one it always fires."""
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


def asked_policy(asked: Sequence[str]) -> "Policy":
    """The policy that `--select` asks for, and the system's messages."""
    from context_firewall.compaction import selection

    rules: dict[str, Callable[[str, str], Rule]] = {
        "containing": lambda text, value: selection.containing(value),
        "pinned": lambda text, value: selection.pinned(int(value) if _is_whole(value) else value),
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


def asked_summarizer(asked: str, timeout: float) -> "Summarizer":
    """The summarizer that `--summarizer` asks for; `timeout` is in seconds."""
    from context_firewall.cli.summarizers import CommandSummarizer, structural

    if asked == "structural":
        return structural()
    name, _, command = asked.partition(":")
    if name == "command" and command:
        return CommandSummarizer(command, timeout)
    raise _unknown("--summarizer", asked, "structural or command:COMMAND")


def _whole(option: str, text: str, value: str) -> int:
    if not _is_whole(value):
        raise InvalidInput(f"{option} {text}: {value or 'nothing'} is no whole number", option=option)
    return int(value)


def _is_whole(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= 15


def _share(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InvalidInput(f"--trigger {text}: {value or 'nothing'} is no number", option="--trigger") from None


def _unknown(option: str, text: str, known: str) -> InvalidInput:
    return InvalidInput(f"{option} {text} is not known; it is {known}", option=option, help="compact --help")
