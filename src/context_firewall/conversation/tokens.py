"""How many tokens a text has. Nobody but the model's tokenizer knows; a counter says by which rule it counts."""

import re
from collections.abc import Callable
from dataclasses import dataclass

# Scripts without spaces between words, of which a tokenizer makes about one token a character: CJK with its
# punctuation and full-width forms, kana, Hangul.
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3100-\u318f\u31a0-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff00-\uffef\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way to count, and the name under which records say that it was used."""

    name: str
    count: Callable[[str], int]

    def __call__(self, text: str) -> int:
        """The number of tokens of a text, by this way to count."""
        return self.count(text)


def _by_characters(text: str) -> int:
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return max(1, wide + (len(text) - wide) // 4)


CHARACTERS = TokenCounter("characters/v1", _by_characters)
"""A CJK character is a token, four other characters are one; at least 1. An estimate, and the same everywhere."""


def token_counter(count: Callable[[str], int], name: str | None = None) -> TokenCounter:
    """A counter of one's own, such as a model's tokenizer. `name` goes into records; else the function's own does."""
    if isinstance(count, TokenCounter):
        return count
    return TokenCounter(name or str(getattr(count, "__qualname__", type(count).__qualname__)), count)
