"""Which sentences of a user's text are standing rules, and which take one back.

A rule binds the agent beyond the next step: it forbids, demands, bounds, prefers or permits. A question, a report, a
guess, an idiom, what another said, pasted output and code, and a plain task are none. What a sentence is follows from
its operators and from where they stand (see `guard/orders/`). What cannot be told is not taken: a rule that is missed
can be pinned; one that nobody gave would be an alarm for ever.
"""

import re
from typing import NamedTuple

from context_firewall.guard.folding import fold
from context_firewall.guard.orders import RELEASE, Found, Kind, chinese, english, others
from context_firewall.guard.sentences import sentences
from context_firewall.guard.tokens import Sort, Token, tokens


class Directive(NamedTuple):
    """A rule in the user's words; `start` and `end` are offsets in characters of the text it was found in."""

    text: str
    start: int
    end: int
    kind: Kind
    language: str
    rule: str
    """What made it one, by name: the rules stand in SPEC.md."""


class Release(NamedTuple):
    """A sentence that takes a rule back, or allows what one forbade."""

    text: str
    start: int
    end: int


# Lines that the user pasted, as they begin in folded text.
_FENCE = re.compile(r"[ \t]*+(?:```|~~~)")
_PASTED = tuple(
    re.compile(rf"[ \t]*+(?:{pattern})")
    for pattern in (
        r">|[-*+] \[[ x]\]",  # a quotation, a checkbox
        r"\[?(?:error|warning|warn|info|debug|fatal|trace|notice|critical|exception|failed|fail|fehler|ошибка)\]?"
        r"(?:\[\w{1,40}+\])?\s?[:\]]",
        r"\[?(?:エラー|警告|报错|错误|오류)\]?\s?[:：]",
        r"[\w.]{0,60}?(?:error|exception|warning|panic):|traceback\b|npm err!|at [\w.$<>]{1,200}+\("
        r"|file \"|e   ",
        r"\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[t ]|[0-9]{2}:[0-9]{2}:[0-9]{2}|[\w./-]{1,200}+:[0-9]{1,9}+:",
        r"\w{1,40}+\[[0-9]{1,9}+\]:|\$ |>>> |assert\s|def |class |import |from [\w.]{1,100}+ import|return\b|const ",
        r"let \w{1,60}+ =|var |function |public |private |if \(|for \(|while \(|#include|@[a-z]{1,40}+$",
        r"[{}]|//|/\*|--\s|<[/a-z!]",
        r"[\w.]{1,100}+(?:\[[^\]\n]{0,100}+\])?\s?(?:=|:=|\+=)\s",
    )
)
_INDENTED = re.compile(r"(?: {4}|\t)(?=\S)(?![-*•]|[0-9]{1,3}[.)] )")
_STATEMENT_END = re.compile(r"[;{}][ \t]*+$")
_IDIOMS = re.compile(
    r"\b(?:i (?:must|have to) (?:say|admit|confess|go|run)"
    r"|must (?:not )?have (?:been|had|got|gone|made|done|lost|[a-z]{1,30}+ed)\b"
    r"|never (?:mind|heard)|no (?:worries|problem|idea|doubt|wonder)"
    r"|do(?:n't| not) (?:worry|know|think|understand|see|mind|care|remember)|don't get (?:it|me wrong)"
    r"|can't wait|i can only|you never know|should be able to|always nice|as always"
    r"|i (?:think|guess|believe|suppose)(?:$|[.,!])"
    r"|need to know|used to be|that said|to be honest|il ne faut pas s'inquiéter|pas de (?:problème|souci)"
    r"|ne t'inquiète pas|je ne sais pas"
    r"|no te preocupes|no pasa nada|no sé|sem problema|não sei|keine (?:ahnung|sorge)|kein problem"
    r"|не волнуй|не знаю|без проблем)"
    r"|我必须说|不得不说|必须承认|不得不承认|没问题|别担心|不用担心|不要紧|没关系|别客气|不客气|不知道|大丈夫|걱정"
)


def extract_directives(text: str) -> tuple[Directive, ...]:
    """The standing rules in a text that a user wrote, in order."""
    return tuple(found for found in find_statements(text) if isinstance(found, Directive))


def extract_releases(text: str) -> tuple[Release, ...]:
    """The sentences of a user's text that take a rule back, or allow something, in order."""
    return tuple(found for found in find_statements(text) if isinstance(found, Release))


def find_statements(text: str) -> list[Directive | Release]:
    """Rules and what takes them back, in the order of the text."""
    folded = fold(_own_words(text))
    found: list[Directive | Release] = []
    for sentence in sentences(folded, semicolons=False):
        start, end = folded.span(sentence.start, sentence.end)
        parts = tokens(folded, sentence.start, sentence.end, sentence.language)
        last = found[-1] if found else None
        if isinstance(last, Directive) and _only_stresses(parts) and not text[last.end : start].strip():
            found[-1] = last._replace(text=text[last.start : end], end=end)
            continue
        words = folded.text[sentence.start : sentence.end]
        verdict = None if sentence.asks else _judged(words, parts, sentence.language)
        if verdict == RELEASE:
            found.append(Release(text[start:end], start, end))
        elif isinstance(verdict, tuple):
            found.append(Directive(text[start:end], start, end, verdict[0], sentence.language, verdict[1]))
    return found


def _judged(words: str, parts: list[Token], language: str) -> Found | str | None:
    if _IDIOMS.search(words):
        return None
    if language == "english":
        return english.judged(words, parts)
    if language == "chinese":
        return chinese.judged(words, parts)
    return others.judged(words, parts, language)


def _own_words(text: str) -> str:
    """The text with what was pasted blanked out, character for character: fenced and quoted blocks, log lines, code."""
    lines = []
    fenced = False
    for line in text.split("\n"):
        fence = _FENCE.match(line) is not None
        lines.append(" " * len(line) if fence or fenced or _is_pasted(line) else line)
        fenced = fenced != fence
    return "\n".join(lines)


def _is_pasted(line: str) -> bool:
    folded = line.casefold()
    return (
        any(pattern.match(folded) for pattern in _PASTED)
        or _INDENTED.match(line) is not None
        or _STATEMENT_END.search(line[-200:]) is not None
    )


def _only_stresses(parts: list[Token]) -> bool:
    """`Ever.`, `Always.`, `No exceptions.`"""
    meant = [token for token in parts if token.sort is not Sort.POINT]
    return 0 < len(meant) <= 2 and all(token.op is not None for token in meant)
