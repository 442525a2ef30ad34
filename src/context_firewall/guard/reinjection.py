"""Rules put back after a compaction: their own words, in a block that says what it is and proves that it is whole.

    [context-firewall constraints v1 characters=64 sha256=<64 hex>]
    - Never commit directly to main.
    - Keep the request timeout at 30 seconds.
    [end of context-firewall constraints]

The head gives the length, in characters, and the digest of what stands between the two lines, so no text of a rule can
end the block early. A whole block says nothing of what a summary kept: the judge does not see it. A block that was
changed is text like any other.
"""

import re
from collections.abc import Iterable

from context_firewall.canonical import sha256

_HEAD = re.compile(r"\[context-firewall constraints v1 characters=([0-9]{1,9}) sha256=([0-9a-f]{64})\]\n")
_TAIL = "[end of context-firewall constraints]"


def reinject_block(constraints: Iterable[str]) -> str:
    """The block for these rules, in order, each once; it ends with a newline. Empty when there are none.

    A rule of several lines goes on under its first, two spaces in.
    """
    rules = dict.fromkeys(constraints)
    body = "".join("- " + rule.replace("\n", "\n  ") + "\n" for rule in rules)
    if not body:
        return ""
    return f"[context-firewall constraints v1 characters={len(body)} sha256={_digest(body)}]\n{body}{_TAIL}\n"


def whole_blocks(text: str) -> tuple[tuple[int, int], ...]:
    """Where whole, unchanged blocks stand, as half-open ranges of characters."""
    found = []
    place = 0
    while (head := _HEAD.search(text, place)) is not None:
        end = head.end() + int(head[1])
        place = head.end()
        if text.startswith(_TAIL, end) and _digest(text[head.end() : end]) == head[2]:
            place = end + len(_TAIL)
            found.append((head.start(), place))
    return tuple(found)


def without_blocks(text: str) -> str:
    """The text with whole blocks blanked out, character for character, so that offsets stay."""
    for start, end in whole_blocks(text):
        blank = re.sub(r"[^\n]", " ", text[start:end])
        text = text[:start] + blank + text[end:]
    return text


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).removeprefix("sha256:")
