"""The default judge, `survival/v1`: one rule against a whole summary. THEORY.md says what it can and cannot know.

The summary is read in windows: each sentence, and neighbouring ones together, never the whole. A window that holds less
than `LEAST_COVERAGE` of the rule has nothing to do with it; when there is no other, the rule is lost. Of the others,
one
that no check objects to keeps the rule, unless the summary takes it back or plans the opposite elsewhere; else the rule
is altered, and the first objection in the fullest window says how.
"""

from typing import NamedTuple

from context_firewall.documents.survival_report import Verdict
from context_firewall.guard.alignment import Alignment, align, dimension
from context_firewall.guard.clauses import read
from context_firewall.guard.comparison import objection
from context_firewall.guard.folding import Folded, fold
from context_firewall.guard.lexicon import Op
from context_firewall.guard.lexicon.bilingual import translations
from context_firewall.guard.reading import Reading, Segment
from context_firewall.guard.sentences import Sentence, sentences
from context_firewall.guard.tokens import Sort, tokens

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


class Page:
    """A summary, read once for all rules of a language."""

    def __init__(self, folded: Folded, language: str) -> None:
        self.folded = folded
        self.sentences: list[Sentence] = sentences(folded, language)
        self._readings: dict[tuple[int, int], Reading] = {}
        self._keys: dict[int, frozenset[str]] = {}

    def reading(self, first: int, width: int) -> Reading:
        """What the `width` sentences from `first` on say."""
        key = (first, width)
        if key not in self._readings:
            self._readings[key] = read(self.folded, self.sentences[first : first + width])
        return self._readings[key]

    def speaks(self, language: str) -> bool:
        """Whether a sentence of at least two words is in this language."""
        return any(
            sentence.language == language and len(self.reading(place, 1).items) > 1
            for place, sentence in enumerate(self.sentences)
        )

    def keys(self, sentence: int) -> frozenset[str]:
        """The words of a sentence, as they are compared."""
        if sentence not in self._keys:
            items = self.reading(sentence, 1).items
            self._keys[sentence] = frozenset(key for item in items for key in (item.key, item.text))
        return self._keys[sentence]

    def span(self, first: int, width: int) -> tuple[int, int]:
        """Where they stand in the summary, in characters."""
        return self.folded.span(self.sentences[first].start, self.sentences[first + width - 1].end)


class Summary:
    """A summary, read at most once for each language that rules are given in."""

    def __init__(self, text: str) -> None:
        self._folded = fold(text)
        self._pages: dict[str, Page] = {}

    def page(self, language: str) -> Page:
        """The summary, read in this language where it may be in several."""
        if language not in self._pages:
            self._pages[language] = Page(self._folded, language)
        return self._pages[language]


class Rule:
    """A constraint, read once for all summaries."""

    def __init__(self, text: str) -> None:
        folded = fold(text)
        found = sentences(folded)
        self.reading = _consenting(read(folded, found))
        self.width = len(found)
        self.texts = _texts(folded, found)
        self.language = found[0].language if found else "english"

    def translated(self, language: str) -> tuple[Reading, bool]:
        """The rule with each word's keys in another language, and whether every word has one."""
        items, complete = [], True
        for item in self.reading.items:
            also = translations(item.key, self.language, language) if item.sort is Sort.WORD else ()
            complete = complete and (
                bool(also) or item.sort is not Sort.WORD or item.text.isascii() != (self.language == "english")
            )
            items.append(item._replace(also=also))
        return self.reading._replace(items=tuple(items)), complete


# Whom the user wants to be asked gives consent: `ask me before X` is kept by `X only with the user's consent`.
_CONSENT = {"ask": ("permiss",), "问": ("同意",), "frag": ("freigab", "rucksprach")}


def _consenting(reading: Reading) -> Reading:
    items = [
        item._replace(also=_CONSENT[item.key]) if item.key in _CONSENT and item.segment in reading.users else item
        for item in reading.items
    ]
    return reading._replace(items=tuple(items))


def _texts(folded: Folded, found: list[Sentence]) -> list[str]:
    return [
        token.text
        for sentence in found
        for token in tokens(folded, sentence.start, sentence.end, sentence.language)
        if token.sort is not Sort.POINT
    ]


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


_FEW, _MOST = 4, 40


def _widths(sentences: int) -> list[int]:
    """How many sentences the windows have: one, two, and up to one more than the rule's; of a long rule, as many."""
    widths = [*range(1, max(2, min(sentences, _FEW) + 1) + 1)]
    return widths if sentences < _FEW or sentences > _MOST else [*widths, *{sentences, sentences + 1} - {*widths}]


def _judge(rule: Rule, wanted: Reading, page: Page, least: float) -> Outcome:
    best: Outcome | None = None
    keys = {key for item in wanted.items for key in (item.key, item.text, *item.also)}
    for width in _widths(rule.width):
        for first in range(len(page.sentences) - width + 1):
            if wanted.items and not keys & page.keys(first):
                continue
            reading = page.reading(first, width)
            alignment = align(wanted, reading)
            if not wanted.items and _texts(page.folded, page.sentences[first : first + width]) != rule.texts:
                continue
            coverage = alignment.coverage if wanted.items else 1.0
            if wanted.items and not _spans(reading, alignment, width):
                continue
            if coverage < least:
                if best is None or (best.verdict == "lost" and coverage > best.coverage):
                    best = Outcome("lost", "absent", "", *page.span(first, width), coverage)
                continue
            objected = (
                objection(wanted, reading, alignment)
                or _under_label(page, first)
                or _taken_back(page, first, width)
                or _contradicted(wanted, page, first, width)
            )
            ruling = frozenset(operator.op for clause in alignment.touched for operator in clause.operators)
            if objected is None:
                return Outcome("kept", "whole", "", *page.span(first, width), coverage, ruling)
            if best is None or best.verdict == "lost" or coverage > best.coverage:
                best = Outcome("altered", *objected, *page.span(first, width), coverage, ruling)
    if best is None or (best.verdict == "lost" and not best.coverage):
        return Outcome("lost", "absent", "", 0, 0, 0.0)
    return best


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


def _contradicted(rule: Reading, page: Page, kept: int, width: int) -> tuple[str, str] | None:
    """Another sentence orders, plans or allows the opposite."""
    for place in range(len(page.sentences)):
        if kept <= place < kept + width or page.sentences[place].asks:
            continue
        reading = page.reading(place, 1)
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
