"""`seed-coverage/v1`: the published rule of dsh-compaction-guard, for comparison and for those who rely on it.

A constraint is kept when the summary holds it verbatim, white space aside, or holds at least `coverage` (0.6) of its
content words anywhere. Otherwise it is lost. It knows neither negation nor order nor numbers: THEORY.md has its rates.

What a content word is, the description leaves open. Here: a word of three letters or more that is no function word, or
a pair of neighbouring signs where words are not spaced; and the summary holds it wherever its letters stand.
"""

import re

from context_firewall.guard.judge import Outcome

NAME = "seed-coverage/v1"
COVERAGE = 0.6

_WORD = re.compile(r"[a-z0-9_]++|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]++|[^\W\d_]++")
_CLOSED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EMPTY_WORDS = frozenset(
    """a an the and or but to of in on at for with from by as is are be been was were it its this that these those
    i me my you your we our they their he she him her them do does did so if then than""".split()
)


def content_words(text: str) -> frozenset[str]:
    """Words without function words; of scripts that set no spaces, each pair of neighbouring signs."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _CLOSED.match(word):
            found.update({word} if len(word) == 1 else {word[index : index + 2] for index in range(len(word) - 1)})
        elif len(word) >= 3 and word not in _EMPTY_WORDS:
            found.add(word)
    return frozenset(found)


def judge_coverage(constraint: str, summary: str, *, coverage: float = COVERAGE) -> Outcome:
    """Verbatim or enough words: kept. Otherwise lost."""
    wanted, said = " ".join(constraint.split()), " ".join(summary.split())
    words = content_words(constraint)
    text = summary.casefold()
    share = sum(word in text for word in words) / len(words) if words else 0.0
    if wanted and wanted in said:
        start = summary.find(constraint)
        span = (start, start + len(constraint)) if start >= 0 else (0, len(summary))
        return Outcome("kept", "verbatim", "", *span, 1.0)
    if words and share >= coverage:
        return Outcome("kept", "coverage", "", 0, len(summary), share)
    return Outcome("lost", "coverage", "", 0, 0, share)
