"""The default judge on labelled pairs: the first and the fifth set were written while it was tuned, the others before.

`benchmarks/survival.py` measures the same, and cross-validates the word lists.
"""

import json
from pathlib import Path
from typing import Any

from context_firewall import check_survival

PAIRS = Path(__file__).parent / "pairs"
# Kept rules that the judge calls altered: a condition as an adjective, an object named, an order over two sentences,
# two Chinese words that begin alike, ways to say one thing. To call them kept, it would have to guess.
FALSE_ALARMS = {
    *("a019", "b012", "b030", "b056", "d005", "d026", "f084", "f087"),
    *("g078", "g103", "g140", "g226", "g309", "g325", "g328"),
    *("h037", "h078", "h079", "h157", "h158", "h162", "h167", "h173", "h181", "h183", "h200", "h202", "h208", "h213"),
    *("h218", "h228", "h231", "h232", "h234", "h237", "h238", "h245", "h277", "h278", "h279", "h287", "h288", "h304"),
    *("h317", "h322", "h331", "h335"),
}


def pairs() -> list[dict[str, Any]]:
    """All of them."""
    return [pair for path in sorted(PAIRS.glob("*.json")) for pair in json.loads(path.read_text(encoding="utf-8"))]


def verdict(pair: dict[str, Any], summary: str) -> str:
    """The default judge's."""
    return check_survival([pair["directive"]], summary)[0]["verdict"]


def test_no_rule_that_was_altered_or_lost_is_called_kept() -> None:
    others = [pair for pair in pairs() if pair["label"] != "kept"]
    assert len(others) > 200
    assert [pair for pair in others if verdict(pair, pair["summary"]) == "kept"] == []


def test_kept_rules_are_called_kept_but_for_a_few_that_are_known() -> None:
    kept = [pair for pair in pairs() if pair["label"] == "kept"]
    assert len(kept) > 150
    assert {pair["id"] for pair in kept if verdict(pair, pair["summary"]) != "kept"} == FALSE_ALARMS


def test_three_thousand_words_around_a_summary_rescue_nothing() -> None:
    words = (Path(__file__).parents[2] / "THEORY.md").read_text(encoding="utf-8").split(" ")
    padding = " ".join((words * 9)[:1500])
    lost = [pair for pair in pairs() if pair["label"] == "lost"]
    assert len(lost) > 15
    summary = "\n\n".join([padding, *(pair["summary"] for pair in lost), padding])
    found = check_survival([pair["directive"] for pair in lost], summary)
    assert [one["constraint"] for one in found if one["verdict"] == "kept"] == []
