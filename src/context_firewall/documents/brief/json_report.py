"""A test runner's JSON report on one line, as a brief shows it: for each failure what the report says of it.

Such a line is the region of every failure in it, so the packet shows it with the first and only names the others. A
brief shows of each the strings that say what went wrong, decoded, and counts the rest of the line. If one failure
cannot be found, all of the line is shown as it stands.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Members that say what went wrong, wherever they stand in a failing test's object: mocha's, jest's and Vitest's,
# pytest-json-report's, RSpec's.
TELLING = frozenset(
    {"failureMessages", "message", "err", "stack", "actual", "expected", "longrepr", "stdout", "stderr"}
    | {"class", "backtrace"}
)
# Said again by those.
REPEATING = frozenset({"failureDetails", "crash", "traceback", "assertionResults"})
SEPARATORS = (" › ", " > ")
# Among so many of the longest strings a string is looked for.
MOST_HOLDERS = 8

Failures = Sequence[Mapping[str, Any]]


def told(failures: Failures) -> dict[int, list[str]]:
    """What JSON lines say of the failures in them, by position; a line that cannot be taken apart is left out."""
    found: dict[int, list[str]] = {}
    for first, failure in enumerate(failures):
        header = failure.get("header", {}).get("text", "")
        if not header.startswith(("{", "[")) or failure.get("details"):
            continue
        last = first + 1
        while last < len(failures) and "header" not in failures[last] and not failures[last].get("details"):
            last += 1
        parts = _parts(header, [one["identity"] for one in failures[first:last]])
        if parts is not None:
            found.update(enumerate(parts, first))
    return found


def _parts(text: str, identities: Sequence[str]) -> list[list[str]] | None:
    """The lines for each failure, or None. Failures of one name take what is said under it in turn, if it is enough."""
    wanted = Counter(identities)
    said: dict[str, list[list[str]]] = {name: [] for name in wanted}
    try:
        root = json.loads(text)
        for name, node in _named(root, ""):
            strings = list(_said(node)) if name in wanted else []
            if strings and strings not in said[name]:
                said[name].append(strings)
    except (ValueError, RecursionError):
        return None
    for name, strings in _outside(root, [name for name in wanted if not said[name]]):
        said[name].append(strings)
    if any(len(said[name]) not in (1, count) for name, count in wanted.items()):
        return None
    return [_once(said[name].pop(0) if len(said[name]) > 1 else said[name][0]) for name in identities]


def _named(node: Any, file: str) -> Iterator[tuple[str, Any]]:
    """Every object that may be about a test or a file, under the names that it may have."""
    if isinstance(node, list):
        for value in node:
            yield from _named(value, file)
    if not isinstance(node, dict):
        return
    if "assertionResults" in node:
        file = str(node.get("name"))
        yield file, node
    for key in ("fullTitle", "nodeid", "full_description"):
        if key in node:
            yield str(node[key]), node
    titles = node.get("ancestorTitles")
    if isinstance(titles, list):
        for separator in SEPARATORS:
            yield separator.join(map(str, [file, *titles, node.get("title")])), node
    for value in node.values():
        yield from _named(value, file)


def _outside(root: Any, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """RSpec's messages about errors outside of examples, under the names that they begin with: a file, or a hook.

    Behind a hook's name stands what it raised.
    """
    messages = root.get("messages") if isinstance(root, dict) else None
    texts = [text.strip("\n") for text in messages if isinstance(text, str)] if isinstance(messages, list) else []
    for name in names:
        place, *raised = name.split(": ")
        begins = tuple(f"An error occurred {where} {place}" for where in ("while loading", "in a", "in an"))
        yield from ((name, [text]) for text in texts if text.startswith(begins) and all(one in text for one in raised))


def _said(node: Any, *, telling: bool = False) -> Iterator[str]:
    """The strings of an object that say what went wrong."""
    if isinstance(node, str) and telling:
        yield node
    elif isinstance(node, list):
        for value in node:
            yield from _said(value, telling=telling)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key not in REPEATING:
                yield from _said(value, telling=key in TELLING)


def _once(strings: Sequence[str]) -> list[str]:
    """The lines of strings, without those strings that a longer one holds."""
    longest = sorted(strings, key=len, reverse=True)[:MOST_HOLDERS]
    kept = [one for one in strings if not any(len(other) > len(one) and one in other for other in longest)]
    return [line for one in kept for line in one.split("\n")]
