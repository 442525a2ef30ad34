"""Text of a run as it may be shown: nothing in it reaches a terminal or a reader as anything but text."""

import re

# What a terminal or a reader could take for something else: C0 and C1 controls, line and paragraph separators,
# directional, annotating and invisible formatting, fillers, and the plane of invisible tags: all that Unicode calls
# Default_Ignorable_Code_Point but for the two selectors that say how an emoji is drawn. A tab is text.
UNSAFE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>])")


def safe(text: str) -> str:
    """Text without ANSI sequences, and with every control, separator and invisible character spelled out."""
    return UNSAFE.sub(spelled, ANSI.sub("", text))


def line_text(text: str) -> str:
    """The same of a source line, without the CR of a line that ends with CRLF."""
    return safe(ANSI.sub("", text).removesuffix("\r"))


def spelled(match: re.Match[str]) -> str:
    """A match of UNSAFE as an escape that can be read."""
    known = {"\n": "\\n", "\r": "\\r"}
    code = ord(match[0])
    return known.get(match[0]) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )
