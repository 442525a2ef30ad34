"""What a judge has before it: a summary, read once for all rules, and a rule, read once for all summaries."""

from context_firewall.guard.clauses import read
from context_firewall.guard.folding import Folded, fold
from context_firewall.guard.lexicon.bilingual import translations
from context_firewall.guard.reading import Reading
from context_firewall.guard.sentences import Sentence, sentences
from context_firewall.guard.tokens import Sort, tokens


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

    def texts(self, sentence: int) -> list[str]:
        """The words of a sentence, as they are written."""
        return texts_of(self.folded, [self.sentences[sentence]])

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
        self.sentences = [texts_of(folded, [sentence]) for sentence in found]
        self.texts = [text for sentence in self.sentences for text in sentence]
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


def texts_of(folded: Folded, found: list[Sentence]) -> list[str]:
    """The words of some sentences, as they are written."""
    return [
        token.text
        for sentence in found
        for token in tokens(folded, sentence.start, sentence.end, sentence.language)
        if token.sort is not Sort.POINT
    ]
