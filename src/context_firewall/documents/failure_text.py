"""A failure's own lines as plain text, for what shows them outside of a brief."""

import re
from collections.abc import Mapping
from typing import Any

from context_firewall.documents.brief.commands import command_lines
from context_firewall.documents.brief.regions import CONTEXT, dedented
from context_firewall.documents.line_places import lines_of, place_of
from context_firewall.documents.printable import line_text

# The category of a line that a runner marks as the reason (pytest with an `E`).
MESSAGE = "failure_message"
# The reason in a YAML block of TAP: `error: 'expected 7500, got 5000'`, or `error: |-` and the text on the next line.
_KEY = re.compile(r"(?:error|message): *+(?P<value>\S.*+)")
_BLOCK = re.compile(r"[|>][+-]?+")


def failure_text(failure: Mapping[str, Any]) -> str:
    """What a packet keeps of a failure, printable, without what is there for orientation only; perhaps empty.

    What the packet only refers to is named by place.
    """
    lines = _lines(failure)
    if not lines and "text" in failure.get("header", ()):
        header = failure["header"]["text"]
        said = command_lines(header, failure["identity"])
        lines = [line_text(header).strip()] if said is None else [line_text(line) for line in said]
    hidden = [line for line in lines_of(failure) if "text" not in line]
    return "\n".join([*lines, *[f"not shown:{place_of(hidden)}"] * bool(hidden)])


def failure_message(failure: Mapping[str, Any]) -> str:
    """The one line that says why it failed, if its runner marks any; else its first line."""
    lines = [line.strip() for line in _lines(failure)]
    marked = [one for one in failure.get("details", ()) if one["category"] == MESSAGE and "text" in one]
    reason = (
        line_text(marked[0]["text"]).removeprefix("E ").strip() if marked else next(filter(_KEY.fullmatch, lines), "")
    )
    match = _KEY.fullmatch(reason)
    if match is None:
        return reason or next(iter(lines), failure_text(failure))
    if not _BLOCK.fullmatch(match["value"]):
        return match["value"]
    below = lines[lines.index(reason) + 1 :] if reason in lines else []
    return next(filter(None, below), reason)


def _lines(failure: Mapping[str, Any]) -> list[str]:
    details = failure.get("details", ())
    texts = dedented([line_text(one["text"]) for one in details if "text" in one and one["category"] != CONTEXT])
    while texts and not texts[0].strip():
        del texts[0]
    while texts and not texts[-1].strip():
        del texts[-1]
    return texts
