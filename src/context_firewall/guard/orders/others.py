"""The other languages: what their cases show. A sentence that only might be a rule is none."""

import re

from context_firewall.guard.lexicon import Op, lexicon
from context_firewall.guard.orders import BOUNDS, RELEASE, Found, Kind, has_quantity, operators_of
from context_firewall.guard.tokens import Token

# Verbs in the past, by their endings, and sentences that guess.
_REPORTS = {
    "russian": re.compile(r"[\u0430-\u044f]{2,}(?:л|ла|ло|ли|лся|лась|лось|лись)"),
    **dict.fromkeys(
        ("spanish", "portuguese", "french"),
        re.compile(r"[^\W\d_]{2,}(?:ó|ió|aron|ieron|aba|aban|ía|ou|eu|iu|ava|avam|ait|aient|é|és|ée)"),
    ),
}
_GUESSES = {"german": re.compile(r"\b(?:das|es|er|da) (?:muss|müsste|sollte|kann) .{0,120}\bsein\b")}
# Negations that only forbid where the sentence begins with them, or with its verb.
_PLAIN = frozenset("nicht no não ne pas не kein keine keinen nada nichts ни n' rien nem tampoco".split())
_STRONG_SIGNS = frozenset("禁止 厳禁 不可 금지".split())
_PLEASE = frozenset("bitte por favor s'il vous plaît te plait".split())
# `Antworte auf Deutsch`: the language that is to be spoken from now on.
_SAYING = frozenset(
    """antworte antworten schreib schreibe schreiben réponds répondez écris écrivez responde responded contesta escribe
    responda responder escreva отвечай отвечайте пиши пишите rispondi scrivi""".split()
)
_A_LANGUAGE = re.compile(
    r"\bauf (?:deutsch|[a-zäöü]+isch)\b|\bпо-[а-я]+ски\b|\bна [а-я]+ском\b"
    r"|\b(?:en|em|in) (?:fran[cç]ais|anglais|allemand|espagnol|español|inglés|francés|alemán|português|inglês|alemão"
    r"|italiano|inglese|tedesco)\b"
)
_GERMAN_SUBJECTS = frozenset("der die das es er sie ich wir".split())
_MARKS = frozenset({Op.BEFORE, Op.AFTER, Op.ALL, Op.IF, Op.WITHOUT, Op.UNTIL, Op.EXCEPT, Op.CONTRAST})


def judged(words: str, parts: list[Token], language: str) -> Found | str | None:
    """What a sentence is."""
    operators = operators_of(parts)
    while parts and parts[0].op is Op.LIGHT and parts[0].text in _PLEASE:
        parts = parts[1:]
    if not parts or operators & {Op.PAST, Op.HEDGE, Op.HEARSAY}:
        return None
    if parts[0].op is not Op.NEG and _reports(words, parts, language):
        return None
    if operators & {Op.LIFT, Op.REVOKED}:
        return RELEASE
    verbs = lexicon(language).verbs
    orders = any(token.text in verbs for token in parts[:3])
    if operators & {Op.NEG, Op.DOUBLE}:
        return (Kind.PROHIBITION, "prohibition") if _forbids(parts, language, orders) else None
    if Op.MUST in operators:
        return Kind.OBLIGATION, "duty"
    if parts[0].text in _SAYING and _A_LANGUAGE.search(words):
        return Kind.OBLIGATION, "language"
    if Op.SHOULD in operators:
        return Kind.PREFERENCE, "preference"
    if operators & BOUNDS and has_quantity(parts):
        return Kind.LIMIT, "bound"
    if orders and Op.ONLY in operators:
        return Kind.LIMIT, "only"
    return (Kind.OBLIGATION, "order with a condition or an extent") if orders and operators & _MARKS else None


def _reports(words: str, parts: list[Token], language: str) -> bool:
    guess, past = _GUESSES.get(language), _REPORTS.get(language)
    if guess is not None and guess.search(words):
        return True
    if past is None:
        return False
    plain = [token.text for token in parts if token.op is None]
    return any(past.fullmatch(word) for word in (plain if language == "russian" else plain[:3]))


def _forbids(parts: list[Token], language: str, orders: bool) -> bool:
    negations = [token.text for token in parts if token.op in (Op.NEG, Op.DOUBLE)]
    if language in ("japanese", "korean"):
        return any(len(text) > 2 or text in _STRONG_SIGNS for text in negations)
    if language == "german" and parts[0].text in _GERMAN_SUBJECTS:
        return any(token.text.startswith(("darf", "dürf", "soll", "muss")) for token in parts)
    return orders or parts[0].op is Op.NEG or any(text not in _PLAIN for text in negations)
