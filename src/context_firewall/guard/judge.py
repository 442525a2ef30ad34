"""The default judge, `survival/v1`: one rule against a whole summary. THEORY.md says what it can and cannot know.

The summary is read in windows: each sentence, and neighbouring ones together, never the whole. A window that holds less
than `LEAST_COVERAGE` of the rule has nothing to do with it; when there is no other, the rule is lost. Of the others,
one that no check objects to keeps the rule, unless the summary takes it back or plans the opposite elsewhere; else the
rule is altered, and the first objection in the fullest window says how. A rule of very many sentences is looked at in
few places only, and where those do not tell, it is unverifiable.
"""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from context_firewall.documents.survival_report import Verdict
from context_firewall.guard.alignment import PLACING, Alignment, align, dimension
from context_firewall.guard.alignment import wanted as items_of
from context_firewall.guard.comparison import objection
from context_firewall.guard.folding import fold
from context_firewall.guard.lexicon import Op
from context_firewall.guard.pages import Page, Rule, Summary, texts_of
from context_firewall.guard.reading import Reading, Segment
from context_firewall.guard.tokens import Sort, Token, tokens

LEAST_COVERAGE = 0.6
CONTRADICTING_COVERAGE = 0.75


class Outcome(NamedTuple):
    """What the judge found: the verdict, the rule that decided, its words, and the evidence in the summary.

    `start` and `end` are offsets in characters of the summary; both 0 when there is no evidence.
    """

    verdict: Verdict
    rule: str
    said: str
    start: int
    end: int
    coverage: float
    ruling: frozenset[Op] = frozenset()
    """The operators of the clauses that hold the evidence."""


def judge(rule: Rule, summary: Summary, *, least: float = LEAST_COVERAGE) -> Outcome:
    """Whether the summary keeps the rule.

    What it does not say in the rule's language is looked for in the others. Where it speaks the rule's language, too, a
    rule that is not found there, nor kept in another, is lost, and not only unverifiable: some long sentence of another
    language always has a few of its words.
    """
    page = summary.page(rule.language)
    others = {sentence.language for sentence in page.sentences} - {rule.language}
    outcome = _judge(rule, rule.reading, page, least)
    if outcome.verdict != "lost" or not others:
        return outcome
    across = max((_judge_across(rule, page, language, least) for language in sorted(others)), key=_telling)
    return outcome if across.verdict != "kept" and page.speaks(rule.language) else across


def _telling(outcome: Outcome) -> tuple[int, float]:
    return ("lost", "unverifiable", "altered", "kept").index(outcome.verdict), outcome.coverage


# What two languages may word otherwise without saying anything else.
_WORDING = frozenset({"word", "added", "extent", "condition"})


def _judge_across(rule: Rule, page: Page, language: str, least: float) -> Outcome:
    """A rule in one language, a summary in another: only what every word has a translation for is judged."""
    reading, complete = rule.translated(language)
    outcome = _judge(rule, reading, page, least)
    if outcome.verdict == "kept":
        return outcome._replace(rule="translated") if complete else _unknown(outcome)
    if not complete:
        return _unknown(outcome)
    if outcome.verdict == "altered":
        ruling = {operator.op for clause in rule.reading.clauses for operator in clause.operators} & _RULING
        said = outcome.ruling & _RULING
        if outcome.rule == "word":
            return _unknown(outcome) if ruling & said else outcome._replace(verdict="lost", rule="absent", said="")
        if outcome.rule in _WORDING:
            return _unknown(outcome)
    return outcome


_RULING = frozenset({Op.NEG, Op.MUST, Op.ONLY, Op.ATMOST, Op.ATLEAST})


def _unknown(outcome: Outcome) -> Outcome:
    return outcome._replace(verdict="unverifiable", rule="language", said="it may stand there in another language")


_FEW, _MOST, _FRAMES = 4, 40, 4


def _widths(sentences: int) -> list[int]:
    """How many sentences the windows have: one, two, and up to one more than the rule's; of a long rule, as many."""
    widths = [*range(1, max(2, min(sentences, _FEW) + 1) + 1)]
    return widths if sentences < _FEW else [*widths, *{sentences, sentences + 1} - {*widths}]


def _judge(rule: Rule, wanted: Reading, page: Page, least: float) -> Outcome:
    if rule.width > _MOST:
        return _judge_long(rule, wanted, page, least)
    keys = {key for item in wanted.items for key in (item.key, item.text, *item.also)}
    windows = [
        (first, width)
        for width in _widths(rule.width)
        for first in range(len(page.sentences) - width + 1)
        if not wanted.items or keys & page.keys(first)
    ]
    return _best(rule, wanted, page, least, windows)


def _judge_long(rule: Rule, wanted: Reading, page: Page, least: float) -> Outcome:
    """A rule of so many sentences that to look at every window would take too long.

    It is lost if not even the whole summary holds enough of it. Otherwise it is looked at where its first and its last
    sentence stand as far apart as in the rule, in so many places; if that does not keep or alter it, nobody knows.
    """
    whole = align(wanted, page.reading(0, len(page.sentences)))
    if wanted.items and whole.coverage < least:
        return Outcome("lost", "absent", "", 0, 0, whole.coverage)
    ends = [rule.sentences[0], rule.sentences[-1]]
    frames = (
        (first, rule.width)
        for first in range(len(page.sentences) - rule.width + 1)
        if [page.texts(first), page.texts(first + rule.width - 1)] == ends
    )
    best = _best(rule, wanted, page, least, islice(frames, _FRAMES))
    if best.verdict in ("kept", "altered"):
        return best
    said = f"it has {rule.width} sentences, more than {_MOST}, and does not stand there sentence by sentence"
    return best._replace(verdict="unverifiable", rule="length", said=said)


def _best(rule: Rule, wanted: Reading, page: Page, least: float, windows: Iterable[tuple[int, int]]) -> Outcome:
    """What the first window says that keeps the rule, or else the one that tells most."""
    best: Outcome | None = None
    for first, width in windows:
        found = _in_window(rule, wanted, page, least, first, width)
        if found is not None and found.verdict == "kept":
            return found
        if found is not None and (best is None or _telling(found) > _telling(best)):
            best = found
    if best is None or (best.verdict == "lost" and not best.coverage):
        return Outcome("lost", "absent", "", 0, 0, 0.0)
    return best


def _in_window(rule: Rule, wanted: Reading, page: Page, least: float, first: int, width: int) -> Outcome | None:
    """What a window makes of the rule; None where a shorter one says as much, or where it has nothing to do with it."""
    reading = page.reading(first, width)
    alignment = align(wanted, reading)
    if not wanted.items and texts_of(page.folded, page.sentences[first : first + width]) != rule.texts:
        return None
    coverage = alignment.coverage if wanted.items else 1.0
    if wanted.items and not _spans(reading, alignment, width):
        return None
    if coverage < least:
        return Outcome("lost", "absent", "", *page.span(first, width), coverage)
    objected = (
        objection(wanted, reading, alignment)
        or _under_label(page, first)
        or _taken_back(page, first, width)
        or _contradicted(wanted, page, first, width)
    )
    ruling = frozenset(operator.op for clause in alignment.touched for operator in clause.operators)
    if objected is None:
        return Outcome("kept", "whole", "", *page.span(first, width), coverage, ruling)
    return Outcome("altered", *objected, *page.span(first, width), coverage, ruling)


def takes_back(said: Rule, earlier: Rule) -> bool:
    """Whether what the user said later takes a rule back: lifts it, allows the opposite, sets another value."""
    alignment = align(earlier.reading, said.reading)
    if not alignment.pairs or said.texts == earlier.texts:
        return False
    share = _plain_share(alignment)
    operators = {operator.op for clause in alignment.touched for operator in clause.operators}
    if share >= LEAST_COVERAGE and operators & {Op.REVOKED, Op.LIFT}:
        return True
    turned = sum(item.negative != other.negative for item, other in alignment.pairs) * 2 > len(alignment.pairs)
    if share >= LEAST_COVERAGE and turned and Op.MAY in operators:
        return True
    words = [item for item in alignment.missing if item.sort is not Sort.QUANTITY]
    if words or share < CONTRADICTING_COVERAGE / 2:
        return False
    conditioned = any(clause.segments - {Segment.MAIN} for clause in alignment.touched)
    replaced = len(alignment.missing) == 1 and any(
        item.sort is Sort.QUANTITY and dimension(item) == dimension(alignment.missing[0]) for item in alignment.added
    )
    # The bare number of what is forbidden says which one: another is forbidden too, and the first one still is.
    replaced = replaced and not (alignment.missing[0].negative and not dimension(alignment.missing[0]))
    return replaced or (turned and not alignment.missing and not conditioned)


def _spans(reading: Reading, alignment: Alignment, width: int) -> bool:
    """Whether a part of the rule stands in the window's first sentence and one in its last: else a shorter one does."""
    places = {reading.clauses[other.clause].sentence for _, other in alignment.pairs}
    filled = {clause.sentence for clause in reading.clauses if clause.filled}
    return width == 1 or {0, width - 1} & filled <= places


def _under_label(page: Page, first: int) -> tuple[str, str] | None:
    """The heading over the window takes it back, or doubts it."""
    label = page.sentences[first].label
    if label:
        for token in tokens(fold(label), 0, len(fold(label).text), page.sentences[first].language):
            if token.op in (Op.REVOKED, Op.LIFT):
                return "revoked", f"it stands under “{label}”"
            if token.op in (Op.HEDGE, Op.HEARSAY):
                return "hedged", f"it stands under “{label}”"
    return None


# What points back at a rule.
_POINTING = frozenset(
    """this that it they these those rule rules constraint requirement instruction 这 该 此 规则 要求 限制 约束 它
    这条 上述 esta esto regla diese regel das cette règle essa regra это правило""".split()
)


_LIMITING = frozenset({Op.ONLY, Op.IF, Op.UNLESS, Op.EXCEPT, Op.DURING, Op.UNTIL})
# What goes on from a quoted rule: “…” no longer applies, “…” was the old one.
_AFTER_A_QUOTE = frozenset({Op.REVOKED, Op.LIFT, Op.PAST})


def _taken_back(page: Page, first: int, width: int) -> tuple[str, str] | None:
    """One of the next two sentences takes back what was said, or makes an exception."""
    quoted = page.folded.text[: page.sentences[first + width - 1].end].endswith(('"', "'"))
    for place in range(first + width, min(first + width + 2, len(page.sentences))):
        sentence = page.sentences[place]
        reading = page.reading(place, 1)
        text = page.folded.text[sentence.start : sentence.end]
        found = tokens(page.folded, sentence.start, sentence.end, sentence.language)
        opening = reading.clauses[0].opens_with if reading.clauses else None
        if place == first + width and opening in (Op.EXCEPT, Op.UNLESS):
            return "condition", f"an exception follows: {text}"
        limit = _limits(page, place, found, reading) if place == first + width else None
        if limit is not None:
            return "condition", f"{limit} follows: {text}"
        points = any(token.text in _POINTING for token in found) or any(
            sign in text for sign in ("这条", "该", "此条", "上述")
        )
        backs = {operator.op for clause in reading.clauses for operator in clause.operators} & {Op.REVOKED, Op.LIFT}
        heavy = [item for item in reading.items if item.text not in _POINTING]
        if place == first + width and (opening is Op.REVOKED or (quoted and opening in _AFTER_A_QUOTE)):
            return "revoked", f"taken back after it: {text}"
        limits = {operator.op for clause in reading.clauses for operator in clause.operators} & _LIMITING
        if place == first + width and found and found[0].text in _POINTING and limits and len(heavy) <= 4:
            return "condition", f"a limit follows: {text}"
        if backs and (points or quoted) and len(heavy) <= 4:
            return "revoked", f"taken back after it: {text}"
    return None


# What says of the thing before it that the rule does not hold for it; 以外 and the like say it of what follows.
_EXEMPT = frozenset(
    """exempt exempted excepted exception 除外 例外 ausgenommen""".split()
    + "is exempt,are exempt,is excepted,are excepted,is the exception,are the exception".split(",")
)


def _limits(page: Page, place: int, found: list[Token], reading: Reading) -> str | None:
    """What kind of limit a sentence is that goes on in the same line: `hotfixes are exempt`, `only on CI, though`."""
    begun = page.sentences[place].start
    if "\n" in page.folded.text[page.sentences[place - 1].end : begun]:
        return None
    operators = [operator for clause in reading.clauses for operator in clause.operators]
    if any(one.op is Op.POST_EXCEPT and one.text in _EXEMPT for one in operators):
        return "an exception"
    ruled = {one.op for one in operators} & {Op.MUST, Op.NEG, Op.MAY}
    words = [token for token in found if token.sort is not Sort.POINT]
    opens = words[0].op if len(words) > 1 else None
    placed = opens is Op.ONLYIF or (opens is Op.ONLY and words[1].text in PLACING)
    return "a limit" if placed and not ruled and len(reading.items) <= 4 else None


def _contradicted(rule: Reading, page: Page, kept: int, width: int) -> tuple[str, str] | None:
    """Another sentence orders, plans or allows the opposite."""
    heaviest: dict[str, float] = {}
    for item in items_of(rule):
        for key in (item.key, item.text, *item.also):
            heaviest[key] = max(item.weight, heaviest.get(key, 0.0))
    least = CONTRADICTING_COVERAGE * sum(item.weight for item in items_of(rule))
    for place in range(len(page.sentences)):
        if kept <= place < kept + width or page.sentences[place].asks:
            continue
        reading = page.reading(place, 1)
        if sum(max(heaviest.get(other.key, 0.0), heaviest.get(other.text, 0.0)) for other in reading.items) < least:
            continue  # it cannot hold enough, however its words are paired: no need to pair those of a long rule
        alignment = align(rule, reading)
        if _plain_share(alignment) >= CONTRADICTING_COVERAGE and _opposes(rule, alignment):
            sentence = page.sentences[place]
            return "contradicted", f"the opposite stands elsewhere: {page.folded.text[sentence.start : sentence.end]}"
    return None


def _plain_share(alignment: Alignment) -> float:
    """How much of the rule's words, without its operators, the window holds."""
    found = sum(item.weight for item, _ in alignment.pairs)
    return found / ((found + sum(item.weight for item in alignment.missing)) or 1.0)


def _opposes(rule: Reading, alignment: Alignment) -> bool:
    main = [(item, other) for item, other in alignment.pairs if item.segment is Segment.MAIN]
    if not main or any(clause.has(Op.PAST, Op.REVOKED, Op.HEARSAY) for clause in alignment.touched):
        return False
    if any(item.segment is not Segment.MAIN for item in rule.items):
        released = {segment for clause in alignment.touched for segment in clause.segments} - {Segment.MAIN}
        if released and released != {Segment.BEFORE}:
            return False
    turned = sum(item.negative != other.negative for item, other in main)
    report = any(other.reports for _, other in main)
    return turned * 2 > len(main) and not report
