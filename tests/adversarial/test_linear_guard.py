"""Summaries and messages that are made to be slow: twice as much may cost at most 3.5 times the processor time (P7)."""

import time
from collections.abc import Callable

import pytest

from context_firewall import check_survival, extract_directives

BOUND = 3.5
LENGTH = 6000
RULE = "Never use the file `x` unless the tests pass, and wait 30 seconds."
PIECES = [
    "a+", "a.", "a/", "a_", "--a", "@a", "a@a.", "http://", "1,111,", "1.", "one ", "error:", "x" * 50,
    "一", "三", "今", "不", "之前", "所有", "。", "and use ", "and wait ", "limit ", "only if ", "never ", "if ",
    "at most ", "unless a ", "file `x` ", "not x, ", "`", "*", "_a_", "........x", "(", '"',
    "if a x must ", "never entirely ", "no a and b ", "a, ", "(a) ", "any job that ", "neither a nor b ", "要先 ", "时",
    "没有 a 时 ", "nothing outside a must ", "because the user must ", "prefers a to b to ", "16:00 ",
    "the tests pass ", "Use `x`. ", "\n- ", "\n\n", "\u0301", "\u200b",
]  # fmt: skip


def growth(work: Callable[[str], object], piece: str) -> float:
    """How many times as long twice as much takes; the smallest of four measurements."""

    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        begun = time.thread_time()
        work(text)
        return time.thread_time() - begun

    found = []
    for _ in range(4):
        found.append(seconds(2 * LENGTH) / max(seconds(LENGTH), 0.002))
        if found[-1] < 2.6:
            break
    return min(found)


@pytest.mark.soak
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_summary_is_judged_in_linear_time(piece: str) -> None:
    assert growth(lambda text: check_survival([RULE], text), piece) < BOUND


@pytest.mark.soak
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_message_is_searched_in_linear_time(piece: str) -> None:
    assert growth(extract_directives, piece) < BOUND


@pytest.mark.soak
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_rule_is_judged_in_linear_time(piece: str) -> None:
    assert growth(lambda text: check_survival([text], f"- {RULE}\n- {text[:2000]}"), piece) < BOUND


@pytest.mark.soak
@pytest.mark.parametrize(
    "piece", ["Never use `x`. ", "Never. ", "Wait at most 30 seconds. ", "If a, never b unless c. ", "一定要先跑测试。"]
)
def test_a_rule_and_a_summary_that_both_are_long_are_judged_in_linear_time(piece: str) -> None:
    """GRD-17: a rule of hundreds of sentences, which the summary has twice."""
    assert growth(lambda text: check_survival([text], f"{text} {text}"), piece) < BOUND
