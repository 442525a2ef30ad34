"""A failure's own lines as plain text, for what shows them outside of a brief."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from context_firewall.documents.brief import CONTEXT, dedented, line_text, lines_of, place_of

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
        lines = [line_text(failure["header"]["text"]).strip()]
    hidden = [line for line in lines_of(failure) if "text" not in line]
    return "\n".join([*lines, *[f"not shown:{place_of(hidden)}"] * bool(hidden)])


def failure_message(failure: Mapping[str, Any]) -> str:
    """The one line that says why it failed, if its runner marks any; else its first line."""
    for line in failure.get("details", ()):
        if line["category"] == MESSAGE and "text" in line:
            return line_text(line["text"]).removeprefix("E ").strip()
    for line, following in pairwise([*_lines(failure), ""]):
        match = _KEY.fullmatch(line)
        if match:
            return following.strip() if _BLOCK.fullmatch(match["value"]) else match["value"]
    return failure_text(failure).partition("\n")[0].strip()


def _lines(failure: Mapping[str, Any]) -> list[str]:
    details = failure.get("details", ())
    texts = dedented([line_text(one["text"]) for one in details if "text" in one and one["category"] != CONTEXT])
    while texts and not texts[0].strip():
        del texts[0]
    while texts and not texts[-1].strip():
        del texts[-1]
    return texts
