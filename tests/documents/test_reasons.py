"""Every reason code has advice, and nothing else has."""

from context_firewall.documents.reasons import ADVICE
from context_firewall.reduction.verdict import Reason
from context_firewall.transcript.doubts import Doubt


def test_every_reason_has_advice_and_nothing_else_has() -> None:
    assert set(ADVICE) == {*map(str, Doubt), *map(str, Reason)}


def test_advice_is_one_line_of_plain_words() -> None:
    for code, advice in ADVICE.items():
        assert advice == advice.strip(), code
        assert "\n" not in advice, code
        assert len(advice) <= 110, code
        assert not advice.endswith("."), code
