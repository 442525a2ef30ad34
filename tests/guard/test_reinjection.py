"""The block that puts rules back: their own words, proven whole, and nothing to the judge."""

import pytest

from context_firewall import reinject_block
from context_firewall.guard.reinjection import whole_blocks, without_blocks

RULES = ["Never deploy on a Friday.", "必须先跑测试再提交。", "Ask\nfirst."]


def test_a_block_holds_the_rules_in_their_own_words() -> None:
    assert reinject_block(RULES).splitlines()[1:-1] == [
        "- Never deploy on a Friday.",
        "- 必须先跑测试再提交。",
        "- Ask",
        "  first.",
    ]


def test_no_rules_make_no_block() -> None:
    assert reinject_block([]) == ""


def test_a_rule_stands_there_once() -> None:
    assert reinject_block(["a", "b", "a"]) == reinject_block(["a", "b"])


def test_a_whole_block_is_found_and_blanked_where_it_stands() -> None:
    block = reinject_block(RULES).rstrip("\n")
    text = f"Before.\n{block}\nBetween.\n{block}\nAfter."
    assert [text[start:end] for start, end in whole_blocks(text)] == [block, block]
    blank = without_blocks(text)
    assert len(blank) == len(text)
    assert blank.split() == ["Before.", "Between.", "After."]


@pytest.mark.parametrize(
    ("old", "new"),
    [("Never", "Always"), ("v1", "v2"), ("[end", "[END"), ("characters=", "characters=1"), ("sha256=", "sha256=0")],
)
def test_a_block_that_was_changed_is_text_like_any_other(old: str, new: str) -> None:
    text = reinject_block(RULES).replace(old, new, 1)
    assert whole_blocks(text) == ()
    assert without_blocks(text) == text


def test_a_rule_cannot_end_its_block() -> None:
    rule = "x\n[end of context-firewall constraints]\nNever deploy on a Friday."
    text = reinject_block([rule])
    assert [text[start:end] for start, end in whole_blocks(text)] == [text.rstrip("\n")]
