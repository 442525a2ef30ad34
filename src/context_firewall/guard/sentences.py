"""Folded text to sentences: what ends one, what a list's items are, which heading or label stands over it.

A line break ends a sentence where the next line begins a list item, a heading or a block, or where the line before is
whole; a line that was only wrapped goes on. A semicolon ends one, too: the windows of the judge join neighbours again.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from context_firewall.guard.folding import Folded
from context_firewall.guard.lexicon import Op, lexicon
from context_firewall.guard.tokens import language_of

_ITEM = re.compile(
    r"[ \t>]*+(?:[-*•+◦·–]\s++(?:\[[ x]\]\s*+)?|[0-9]{1,3}[.)]\s++|\([0-9a-z]{1,3}\)\s++|#{1,6}\s++"
    r"|[a-z][.)]\s++|[一二三四五六七八九十]{1,3}+[、.,]|[0-9]{1,3}+、)"
)
_END = re.compile(
    r"(?<![.!?…])[.!?…]++(?=[\s\"')\]]|$)[\"')\]]*+|[。！？?!]++[\"')\]]*+|;|\((?:[0-9]{1,2}|[a-z])\)(?=\s)"
)
_SHORT_FORMS = (
    "e.g",
    "i.e",
    "etc",
    "vs",
    "cf",
    "approx",
    "no",
    "z.b",
    "p.ej",
    "p.ex",
    "incl",
    "resp",
    "dr",
    "mr",
    "ms",
)
_CLOSED = re.compile(r"[.!?。:;…]\s*+$")
_HEADING = re.compile(r"[ \t]*+(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*\s*+$|[^\n]{1,80}:\s*+$)")


class Sentence(NamedTuple):
    """A stretch of folded text. `label` is the heading, or the line ending in a colon, that it stands under."""

    start: int
    end: int
    language: str
    asks: bool
    label: str


def sentences(folded: Folded, prefer: str = "english", *, semicolons: bool = True) -> list[Sentence]:
    """The sentences of a text, in order.

    `prefer` is the language to read in when in doubt; `semicolons` says whether one ends a sentence.
    """
    text = folded.text
    found: list[Sentence] = []
    label = ""
    for start, end, item in _paragraphs(text):
        piece = text[start:end]
        if _HEADING.match(piece) or (piece.rstrip().endswith(":") and len(piece) <= 80):
            label = piece.strip(" #*:\n\t")
        elif not item and start > 1 and text[start - 2 : start] == "\n\n":
            label = ""
        found += _split(text, start, end, label, prefer, semicolons)
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, int, bool]]:
    """Half-open ranges that a sentence cannot cross, each with whether it is an item of a list."""
    begun, item, place, heading = -1, False, 0, False
    previous = ""
    for line in text.split("\n"):
        opening = _ITEM.match(line)
        content = place + (opening.end() if opening else 0)
        if not line.strip():
            if begun >= 0:
                yield begun, place, item
            begun = -1
        elif begun < 0 or opening or heading or _CLOSED.search(previous[-8:]) or not _is_wrapped(previous, line):
            if begun >= 0:
                yield begun, place, item
            titled = opening is not None and "#" in opening[0]
            begun, item = (place if titled else content), bool(opening) and not titled
        heading = opening is not None and "#" in opening[0]
        previous = line
        place += len(line) + 1
    if begun >= 0:
        yield begun, len(text), item


def _is_wrapped(previous: str, line: str) -> bool:
    """Whether a line goes on in the next. Folding left no capitals: the words at the break decide."""
    known = lexicon(language_of(previous[-200:]))
    last = re.search(r"[\w']++[^\w]*+$", previous[-80:])
    first = re.match(r"\s*+([\w']++)", line[:80])
    if last is None or first is None:
        return False
    if line[:1] in " \t" and previous[:1] in " \t":
        return True
    open_ended = known.operators.get(last[0].strip())
    return (
        len(previous) >= 40
        or open_ended is not None
        or previous.rstrip().endswith(",")
        or (first[1] not in known.verbs and (known.operators.get(first[1]) not in (Op.NEG, Op.MUST, Op.ONLY)))
    )


def _split(text: str, start: int, end: int, label: str, prefer: str, semicolons: bool) -> Iterator[Sentence]:
    place = start
    for match in _END.finditer(text, start, end):
        if match[0] == ";" and not semicolons:
            continue
        if match[0] == "." and text[max(place, match.start() - 6) : match.start()].endswith(_SHORT_FORMS):
            word = re.search(r"[\w.]++$", text[max(place, match.start() - 8) : match.start()])
            if word is not None and word[0] in _SHORT_FORMS:
                continue
        stop = match.start() if match[0].startswith("(") else match.end()
        yield from _sentence(text, place, stop, label, "?" in match[0], prefer)
        place = match.end()
    yield from _sentence(text, place, end, label, False, prefer)


def _sentence(text: str, start: int, end: int, label: str, asks: bool, prefer: str) -> Iterator[Sentence]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start and re.search(r"\w", text[start:end]):
        yield Sentence(start, end, language_of(text[start:end], prefer), asks, label)
