"""A run that somebody stopped may still print its whole report: of what ran until then.

Some runners say so on standard error, where they print nothing else. Then the report's totals are not the suite's.
"""

from collections.abc import Callable

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.lines import bare


def stopped_by(words: bytes) -> Callable[[list[Reading]], list[Reading]]:
    """How readings are settled if a line with these words says that the run was stopped."""

    def settled(readings: list[Reading]) -> list[Reading]:
        return [_doubted(part) if _says(part, words) else part for part in readings]

    return settled


def _says(part: Reading, words: bytes) -> bool:
    return any(bare(line.raw) == words for line in part.unclassified)


def _doubted(part: Reading) -> Reading:
    return part._replace(doubts=part.doubts | {Doubt.COMPLETENESS_UNCONFIRMED})
