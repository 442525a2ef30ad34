"""A failure's own lines as plain text, for what shows them outside of a brief."""

from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from context_firewall.documents.brief import CONTEXT, line_text, lines_of, place_of

# The category of a line that a runner marks as the reason.
MESSAGE = "failure_message"


def failure_text(failure: Mapping[str, Any]) -> str:
    """What a packet keeps of a failure, printable, without what is there for orientation only; perhaps empty.

    What the packet only refers to is named by place.
    """
    details = failure.get("details", ())
    lines = [line_text(line["text"]) for line in details if "text" in line and line["category"] != CONTEXT]
    text = dedent("\n".join(lines)).strip("\n")
    hidden = [line for line in lines_of(failure) if "text" not in line]
    if not lines and "text" in failure.get("header", ()):
        text = line_text(failure["header"]["text"]).strip()
    return "\n".join([text] * bool(text) + [f"not shown:{place_of(hidden)}"] * bool(hidden))


def failure_message(failure: Mapping[str, Any]) -> str:
    """The line that says why it failed: the first that its runner marks so (pytest: `E`), else its first line."""
    for line in failure.get("details", ()):
        if line["category"] == MESSAGE and "text" in line:
            return line_text(line["text"]).removeprefix("E ").strip()
    return failure_text(failure).partition("\n")[0].strip()
