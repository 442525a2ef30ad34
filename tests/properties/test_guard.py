"""What holds of every rule: its own words keep it, without them it is not kept, and nothing else decides."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall import check_survival, extract_directives, reinject_block
from context_firewall.guard.folding import fold
from context_firewall.guard.lexicon import NAMES, lexicon
from context_firewall.guard.reinjection import whole_blocks, without_blocks
from context_firewall.guard.sentences import sentences
from context_firewall.guard.tokens import tokens

OBJECTS = st.sampled_from(
    ["the cache", "`a/b.py`", "tables", "30 seconds", "--force", "emails in the logs", "v1.2", "curl"]
)
STARTS = st.sampled_from(
    ["Never touch", "Always check", "Do not rename", "Only edit", "Avoid", "You must not print", "Prefer"]
)
ENDS = st.sampled_from(
    [
        "",
        " before a release",
        " unless I say so",
        " if the build fails",
        " at most twice",
        ", not wget",
        " without asking me",
    ]
)
RULES = st.builds("{}{}{}.".format, STARTS, OBJECTS.map(" {}".format), ENDS)
CHINESE = st.builds(
    "{}{}{}。".format,
    st.sampled_from(["不要", "必须", "禁止", "只能", "尽量"]),
    st.sampled_from(["修改", "检查", "删除", "打印"]),
    st.sampled_from(["缓存", "`a/b.py`", "日志里的密码", "三十个文件"]),
)
NEIGHBOURS = st.sampled_from(
    ["Charts are drawn.", "进度：一半。", "Parser rewritten, 14 tests green.", "Docs come next."]
)
ANY_RULE = RULES | CHINESE


@given(rule=ANY_RULE, before=st.lists(NEIGHBOURS, max_size=3), after=st.lists(NEIGHBOURS, max_size=3))
@settings(deadline=None, max_examples=60)
def test_a_rule_word_for_word_in_a_list_is_kept(rule: str, before: list[str], after: list[str]) -> None:
    summary = "\n".join(f"- {line}" for line in [*before, rule, *after])
    (found,) = check_survival([rule], summary)
    assert found["verdict"] == "kept"
    assert found["evidence"] is not None
    assert rule in summary[found["evidence"]["start"] : found["evidence"]["end"]]


@given(rule=ANY_RULE, others=st.lists(NEIGHBOURS, max_size=6))
@settings(deadline=None, max_examples=60)
def test_a_rule_that_was_erased_is_never_kept(rule: str, others: list[str]) -> None:
    assert check_survival([rule], "\n".join(others))[0]["verdict"] != "kept"


@given(rule=RULES)
@settings(deadline=None, max_examples=60)
def test_a_rule_that_was_taken_back_is_never_kept(rule: str) -> None:
    for summary in (f"“{rule}” no longer applies.", f"Should we? {rule[:-1]}?", f"{rule} The user withdrew this rule."):
        assert check_survival([rule], summary)[0]["verdict"] != "kept"


@given(rule=st.text(max_size=60), summary=st.text(max_size=120))
@settings(deadline=None, max_examples=150)
def test_any_text_is_judged_and_evidence_is_in_the_summary(rule: str, summary: str) -> None:
    for judge in ("survival/v1", "seed-coverage/v1"):
        (found,) = check_survival([rule], summary, judge=judge)
        evidence = found["evidence"]
        assert 0 <= found["coverage_permille"] <= 1000
        if evidence is not None:
            stretch = summary[evidence["start"] : evidence["end"]]
            assert re.sub("[\ud800-\udfff]", "\ufffd", stretch) == evidence["text"] != ""


WORDS = st.sampled_from(
    [
        *(phrase for name in NAMES for phrase in list(lexicon(name).operators)[::4]),
        *("`a/b`", "30 s", "$5", "one hundred", "a minute", "三十秒", "main", "tests", "--x", "v1.2"),
        *(".", ",", ";", "?", "\n- ", '"', "(", ")", ":"),
    ]
)


@given(rule=st.lists(WORDS, max_size=12).map(" ".join), summary=st.lists(WORDS, max_size=24).map(" ".join))
@settings(deadline=None, max_examples=150)
def test_any_words_of_the_tables_are_judged(rule: str, summary: str) -> None:
    (found,) = check_survival([rule], summary)
    assert found["verdict"] in ("kept", "altered", "lost", "unverifiable")
    assert all(rule[one.start : one.end] == one.text for one in extract_directives(rule))


@given(text=st.text(max_size=200))
@settings(deadline=None, max_examples=150)
def test_directives_stand_in_the_text_in_order_and_apart(text: str) -> None:
    place = 0
    for found in extract_directives(text):
        assert place <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        place = found.end


@given(text=st.text(max_size=200))
@settings(deadline=None, max_examples=60)
def test_every_folded_character_has_its_place_and_tokens_do_not_overlap(text: str) -> None:
    folded = fold(text)
    assert len(folded.offsets) == len(folded.text) + 1
    assert folded.offsets == sorted(folded.offsets)
    place = 0
    for sentence in sentences(folded):
        assert place <= sentence.start < sentence.end
        place = sentence.end
        inside = sentence.start
        for token in tokens(folded, sentence.start, sentence.end, sentence.language):
            assert inside <= token.start < token.end <= sentence.end
            inside = token.end


@given(rules=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=4), before=st.text(max_size=40))
@settings(deadline=None, max_examples=60)
def test_a_block_is_found_whatever_its_rules_say(rules: list[str], before: str) -> None:
    block = reinject_block(rules).rstrip("\n")
    text = f"{before}\n{block}\n"
    assert whole_blocks(text)[-1] == (len(before) + 1, len(before) + 1 + len(block))
    assert len(without_blocks(text)) == len(text)
