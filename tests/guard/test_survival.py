"""What the judges decide, by which rule, and on what evidence."""

from pathlib import Path

import pytest

from context_firewall import InvalidInput, check_survival
from context_firewall.guard.comparison import CHECKS

CASES = [
    # rule, summary, verdict, deciding rule
    ("Never deploy on a Friday.", "Rules: never deploy on a Friday.", "kept", "whole"),
    ("Never deploy on a Friday.", "The charts are done.", "lost", "absent"),
    ("Never deploy on a Friday.", "Should we never deploy on a Friday?", "altered", "question"),
    ("Wait 90 seconds between requests.", "Wait 9 seconds between requests.", "altered", "quantity"),
    ("Never edit `a.toml` by hand.", "Never edit `b.toml` by hand.", "altered", "anchor"),
    ("Never deploy on a Friday.", '"Never deploy on a Friday" no longer applies.', "altered", "revoked"),
    ("Never deploy on a Friday.", "Never deploy on a Friday. The user withdrew this.", "altered", "revoked"),
    ("Sign every commit.", "## Rules that no longer apply\n- Sign every commit", "altered", "revoked"),
    ("Run the formatter on every file.", "No need to run the formatter on every file.", "altered", "lifted"),
    ("Never deploy on a Friday.", "Deploy on a Friday.", "altered", "polarity"),
    ("Never deploy on a Friday.", "Maybe never deploy on a Friday.", "altered", "hedged"),
    ("Never deploy on a Friday.", "A colleague says to never deploy on a Friday.", "altered", "hearsay"),
    ("Sign every commit.", "The agent signed every commit.", "altered", "reported"),
    ("Sign every commit.", "Every commit was signed.", "altered", "reported"),
    ("Sign every commit.", "Commits can be signed.", "altered", "permitted"),
    ("Sign every commit.", "Commits should be signed.", "altered", "weaker"),
    ("Never deploy on a Friday.", "Never deploy on a Friday unless it is urgent.", "altered", "condition"),
    ("Never drop a table.", "Never drop a table. Except temporary ones.", "altered", "condition"),
    ("Push only after I have read it.", "Push before the user has read it.", "altered", "polarity"),
    ("Run the linter first, then the tests.", "Run the tests first, then the linter.", "altered", "order"),
    ("Only edit files below `docs/`.", "Edit files below `docs/`.", "altered", "extent"),
    ("Copy the file from `a/x` to `b/y`.", "Copy the file from `b/y` to `a/x`.", "altered", "joined"),
    ("Ask for a name and a date.", "Ask for a name or a date.", "altered", "joined"),
    ("Report errors and warnings in English.", "Report errors in English.", "altered", "word"),
    ("Never merge without my review.", "Never merge without a review.", "altered", "actor"),
    ("Never log customer emails.", "Never log German customer emails.", "altered", "added"),
    ("Sign every commit.", "Sign every commit. Next: do not sign every commit.", "altered", "contradicted"),
    ("不要删除测试文件。", "Do not delete test files.", "kept", "translated"),
    ("Do not delete test files.", "不要删除测试文件。", "kept", "translated"),
    ("不要删除测试文件。", "The parser was rewritten.", "lost", "absent"),
    ("千万别惊动客户。", "Do not alarm the client.", "unverifiable", "language"),
    ("テストを削除しないでください。", "Do not delete the tests.", "unverifiable", "language"),
]


@pytest.mark.parametrize(("rule", "summary", "verdict", "decided"), CASES)
def test_a_verdict_names_the_rule_that_decided(rule: str, summary: str, verdict: str, decided: str) -> None:
    (found,) = check_survival([rule], summary)
    assert (found["verdict"], found["rule"]) == (verdict, decided)


def test_every_check_has_a_case() -> None:
    assert {name for name, _ in CHECKS} <= {decided for *_, decided in CASES}


@pytest.mark.parametrize(
    ("rule", "summary"),
    [
        ("Never merge without a test run.", "Always do a test run before merging."),
        ("Don't edit anything except `a.toml`.", "Only edit `a.toml`."),
        ("Keep it under 1,000 ms.", "Keep it under 1 s."),
        ("Allow ３０ retries.", "Allow thirty retries."),
        ("Stop without retrying.", "Stop, do not retry."),
        ("Use `_name` in `x.py`.", "_Use_ **`_name`** in ./x.py."),
        ("Sign every commit.", "## How we work\nCommits must all be signed."),  # a heading is a sentence of its own
        # GRD-18 to GRD-26; the near-misses are in pairs/fifth.json
        ("If a job hangs, kill it.", "Should a job hang, it has to be killed."),
        ("If a job hangs for an hour, kill it.", "Any job that hangs for an hour must be killed."),
        ("Requests must not take longer than 2 s.", "Requests may take 2 s at most."),
        ("Never log tokens.", "Tokens, cookies and mails are never logged."),
        ("Never use tabs or spaces.", "Tabs and spaces are forbidden."),
        ("Never restart it; it drops sessions.", "It must never be restarted."),
        ("Ask me before you publish.", "Publishing needs the user's approval."),
        ("Wait for my review before merging.", "Merge only after the user's review."),
        ("Don't edit files you don't own.", "Files that you don't own must not be edited."),
        ("Don't add emojis to the docs.", "The docs have to be free of emojis."),
        ("Comments must be capitalised.", "Comments must be capitalized."),
        ("Ne touche jamais `a.py`.", "Il est interdit de toucher `a.py`."),
        ("Deploy before 4 pm.", "Deploy before 16:00."),
    ],
)
def test_the_same_in_other_words_is_kept(rule: str, summary: str) -> None:
    assert check_survival([rule], summary)[0]["verdict"] == "kept"


def test_the_evidence_is_where_its_offsets_say() -> None:
    summary = "Ｄｏｎｅ: parser.\n\n* Never\u200b deploy on a **Friday**.\n* Docs next."
    (found,) = check_survival(["Never deploy on a Friday."], summary)
    evidence = found["evidence"]
    assert evidence is not None
    assert evidence["text"] == "Never\u200b deploy on a **Friday**."
    assert summary[evidence["start"] : evidence["end"]] == evidence["text"]


def test_an_altered_rule_says_what_became_of_it() -> None:
    (found,) = check_survival(["Wait 90 seconds."], "Wait 90 minutes.")
    assert found["reason"] == "90 minutes instead of 90 seconds"
    assert found["coverage_permille"] == 1000


def test_without_evidence_there_is_none() -> None:
    (found,) = check_survival(["Never deploy on a Friday."], "")
    assert (found["verdict"], found["evidence"], found["coverage_permille"]) == ("lost", None, 0)


@pytest.mark.parametrize(
    "rule",
    [
        "Limit yourself to the `pay` package; other packages have other owners.",
        "(Never) log tokens, (ever).",
        "), but no",
    ],
)
def test_a_rule_with_brackets_or_repeated_words_keeps_itself(rule: str) -> None:
    assert check_survival([rule], f"- Charts are drawn.\n- {rule}\n- Docs next.")[0]["verdict"] == "kept"


def test_lone_surrogates_do_no_harm() -> None:
    (found,) = check_survival(["Never use \ud800 names."], "never use \ud800 names")
    assert found["verdict"] == "kept"
    assert found["evidence"] is not None
    assert found["evidence"]["text"] == "never use \ufffd names"


@pytest.mark.parametrize(
    ("rule", "summary", "verdict"),
    [
        # what its own description says, in both directions
        ("Never commit to main.", "The rule stays:  Never commit   to main.", "kept"),
        ("run the tests", "execute the checks", "lost"),
        ("never commit to main", "commit to main", "kept"),
        ("Keep the request timeout at 30 seconds.", "Keep the request timeout at 300 seconds.", "kept"),
        ("never commit to main", "never commit to develop", "kept"),
        ("必须先跑测试", "必须先跑测试再说", "kept"),
        ("必须先跑测试", "完成了解析器", "lost"),
    ],
)
def test_the_coverage_judge_counts_words(rule: str, summary: str, verdict: str) -> None:
    (found,) = check_survival([rule], summary, judge="seed-coverage/v1")
    assert found["verdict"] == verdict


def test_a_judge_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInput, match="seed-coverage/v1"):
        check_survival(["Never."], "Never.", judge="oracle/v1")


def test_a_rule_without_words_is_kept_word_for_word_only() -> None:
    assert check_survival(["Never. Ever."], "Notes: never. Ever.")[0]["verdict"] in ("kept", "lost")
    assert check_survival(["Never. Ever."], "Always.")[0]["verdict"] == "lost"


def test_a_rule_that_is_lost_in_its_language_is_not_altered_in_a_long_sentence_of_another() -> None:
    """GRD: what is said around the summary in another language has a few of any rule's words."""
    around = (Path(__file__).parents[2] / "LICENSE").read_text(encoding="utf-8")
    summary = f"{around}\n\n会话摘要：完成了解析器，下一步写文档。\n\n{around}"
    assert check_survival(["必须先跑测试再提交。"], summary)[0]["verdict"] == "lost"


# -- rules of many sentences ------------------------------------------------------------------------------------------


def many(count: int, order: str = "Never touch") -> str:
    """A rule of so many sentences."""
    return " ".join(f"{order} `f{number}.py` of depot {number}." for number in range(count))


@pytest.mark.parametrize("count", [40, 41, 90])
def test_a_rule_of_many_sentences_is_judged_like_any_other(count: int) -> None:
    """GRD-17: where it stands sentence by sentence, also as a list, it is kept, or altered as others are."""
    rule = many(count)
    for summary in (f"Summary.\n\n{rule}\n\nNext: go on.", "Rules:\n- " + rule.replace(". Never", ".\n- Never")):
        assert check_survival([rule], summary)[0]["verdict"] == "kept"
    turned = rule.replace("Never touch `f7.py`", "Always touch `f7.py`")
    other = rule.replace("depot 7.", "depot 9000.")
    for summary, by in ((turned, "polarity"), (other, "quantity"), (f"{rule} That rule no longer applies.", "revoked")):
        found = check_survival([rule], summary)[0]
        assert (found["verdict"], found["rule"]) == ("altered", by)
    found = check_survival([rule], "All is well. The tests pass.")[0]
    assert (found["verdict"], found["rule"]) == ("lost", "absent")


def test_a_rule_of_many_sentences_that_does_not_stand_there_so_is_not_verified() -> None:
    """GRD-17: neither an alarm nor a promise; but what not even the whole summary holds is lost."""
    rule = many(60)
    for summary in (many(60, "Do not touch"), " ".join(reversed(rule.split(". "))), f"{rule[:-20]}depot 59, please."):
        found = check_survival([rule], summary)[0]
        assert (found["verdict"], found["rule"]) == ("unverifiable", "length")
        assert found["reason"].startswith("it has 60 sentences, more than 40")
    assert check_survival([rule], many(20))[0]["verdict"] == "lost"
    assert check_survival(["Never. " * 60], "Never. " * 60)[0]["verdict"] == "kept"
    assert check_survival(["Never. " * 60], "Always.")[0]["verdict"] == "unverifiable"
