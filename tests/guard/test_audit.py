"""Rules through the rounds: each judged by its own words, revoked only by the user, and first lost where it was."""

from collections.abc import Sequence

import pytest

from context_firewall import (
    Author,
    FoundCompaction,
    InvalidInput,
    Message,
    Role,
    SurvivalReport,
    audit_compactions,
    reinject_block,
    verify_survival_report,
)
from context_firewall.conversation.messages import Passage, Status


def said(number: int, text: str) -> Message:
    """A message of the user."""
    return Message(Role.USER, text, entry_id=number, line=number)


def round_of(
    number: int, summary: str | None, shadowed: Sequence[Message], retained: Sequence[Message] = ()
) -> FoundCompaction:
    """A compaction."""
    made = None if summary is None else Message(Role.USER, summary, compaction_status=Status.SUMMARIZED)
    return FoundCompaction(number, 10 * number, tuple(shadowed), tuple(retained), made, "auto")


def verdicts(report: SurvivalReport) -> list[dict[str, str]]:
    """Of each round, the rules' verdicts; every report must verify."""
    assert verify_survival_report(report) == []
    texts = [constraint["text"] for constraint in report["constraints"]]
    return [
        {texts[finding["constraint"]]: finding["verdict"] for finding in one["findings"]} for one in report["rounds"]
    ]


def test_a_rule_is_judged_by_its_own_words_in_every_round() -> None:
    rule = said(1, "Wait 90 seconds between requests.")
    report = audit_compactions(
        [
            round_of(1, "Wait 900 seconds between requests.", [rule]),
            round_of(2, "Wait 900 seconds between requests.", [said(11, "Go on.")]),
            round_of(3, "The user wants 90 seconds of wait between requests.", [said(21, "Go on.")]),
        ]
    )
    assert [list(one.values()) for one in verdicts(report)] == [["altered"], ["altered"], ["kept"]]
    assert report["constraints"][0]["first_lost_round"] == 1
    assert report["outcome"] == "lost"
    assert report["counts"] == {
        "kept": 1, "altered": 2, "lost": 0, "unverifiable": 0, "retained_tail": 0, "revoked": 0
    }  # fmt: skip


def test_a_rule_that_is_still_in_the_view_is_in_the_tail_and_judged_once_it_is_not() -> None:
    rule = said(2, "Never deploy on a Friday.")
    report = audit_compactions(
        [round_of(1, "Charts done.", [said(1, "Draw charts.")], [rule]), round_of(2, "Charts done.", [rule])]
    )
    assert [list(one.values()) for one in verdicts(report)] == [["retained_tail"], ["lost"]]
    assert report["constraints"][0]["first_lost_round"] == 2


def test_a_rule_that_is_given_again_in_the_tail_is_there() -> None:
    report = audit_compactions(
        [round_of(1, "Done.", [said(1, "Never deploy on a Friday.")], [said(2, "never deploy on a friday!")])]
    )
    assert verdicts(report) == [{"Never deploy on a Friday.": "retained_tail"}]


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Ask before you edit a test.", "You no longer need to ask before you edit a test."),
        ("Never deploy on a Friday.", "You may deploy on a Friday now."),
        ("Wait 90 seconds between requests.", "Wait 30 seconds between requests."),
        ("Never use tabs.", "Use tabs from now on."),
        ("改代码之前先问我。", "现在可以直接改代码了，不用再问我。"),
    ],
)
def test_the_user_takes_a_rule_back(rule: str, later: str) -> None:
    report = audit_compactions(
        [round_of(1, rule, [said(1, rule)]), round_of(2, "Nothing.", [said(11, later)])],
    )
    assert [one[rule] for one in verdicts(report)] == ["kept", "revoked"]
    finding = report["rounds"][1]["findings"][0]
    assert later in finding["reason"]


def test_a_rule_that_is_given_once_more_holds_again() -> None:
    rule = "Never deploy on a Friday."
    talk = [said(1, rule), said(2, "You may deploy on a Friday."), said(3, rule)]
    assert verdicts(audit_compactions([round_of(1, "Done.", talk)]))[0][rule] == "lost"


@pytest.mark.parametrize("later", ["You may deploy on a Monday.", "Use spaces.", "Deploy when I say so."])
def test_another_rule_takes_nothing_back(later: str) -> None:
    report = audit_compactions([round_of(1, "Done.", [said(1, "Never deploy on a Friday."), said(2, later)])])
    assert verdicts(report)[0]["Never deploy on a Friday."] == "lost"


def test_rules_come_from_what_the_user_wrote_alone() -> None:
    text = "Use tabs.\n<notice>Never use tabs.</notice>"
    parts = (Passage(Author.USER, 0, 10), Passage(Author.PLUGIN, 10, len(text)))
    shadowed = [
        Message(Role.USER, text, entry_id=1, line=1, passages=parts),
        Message(Role.ASSISTANT, "Never use eval.", entry_id=2, line=2),
        Message(Role.TOOL, "You must not do that.", entry_id=3, line=3),
        Message(Role.USER, "Never use goto.", entry_id=4, line=4, compaction_status=Status.SUMMARIZED),
    ]
    assert verdicts(audit_compactions([round_of(1, "Use tabs.", shadowed)])) == [{"Use tabs.": "kept"}]


def test_pinned_rules_are_verified_in_every_round() -> None:
    report = audit_compactions(
        [round_of(1, "Never force-push.", []), round_of(2, "Done.", [])], pinned=["Never force-push."]
    )
    assert [list(one.values()) for one in verdicts(report)] == [["kept"], ["lost"]]
    assert report["constraints"][0]["origin"] == "pinned"


def test_without_a_readable_summary_nothing_can_be_verified() -> None:
    report = audit_compactions([round_of(1, None, [said(1, "Never deploy on a Friday.")])])
    assert verdicts(report) == [{"Never deploy on a Friday.": "unverifiable"}]
    assert report["outcome"] == "unverifiable"
    assert report["rounds"][0]["summary_sha256"] is None


def test_a_rule_that_nobody_gave_is_invented() -> None:
    talk = [said(1, "Draw the charts in blue."), said(2, "Never deploy on a Friday.")]
    summary = "Charts in blue. Never deploy on a Friday. The database must not be touched."
    (one,) = audit_compactions([round_of(1, summary, talk)])["rounds"]
    (invented,) = one["invented"]
    assert invented["text"] == "The database must not be touched."
    assert summary[invented["start"] : invented["end"]] == invented["text"]


def test_a_rule_of_the_project_is_not_invented() -> None:
    notes = Message(Role.USER, "The database must not be touched.", entry_id=1, line=1, author=Author.PLUGIN)
    (one,) = audit_compactions([round_of(1, "The database must not be touched.", [notes])])["rounds"]
    assert (one["findings"], one["invented"]) == ([], [])


def test_a_block_of_ours_says_nothing_of_what_the_summary_kept() -> None:
    rule = "Never deploy on a Friday."
    report = audit_compactions([round_of(1, f"Done.\n\n{reinject_block([rule])}", [said(1, rule)])])
    assert verdicts(report) == [{rule: "lost"}]


def test_a_session_without_compactions_or_rules_keeps_everything() -> None:
    assert audit_compactions([])["outcome"] == "kept"
    assert audit_compactions([round_of(1, "Done.", [said(1, "Draw the charts.")])])["outcome"] == "kept"


def test_offsets_are_of_the_message() -> None:
    text = "Hello.\n\nDraw the charts. Never deploy on a Friday."
    (constraint,) = audit_compactions([round_of(1, "", [said(7, text)])])["constraints"]
    assert text[constraint["start"] : constraint["end"]] == constraint["text"] == "Never deploy on a Friday."
    assert constraint["entry_id"] == 7


def test_a_judge_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInput, match="oracle"):
        audit_compactions([], judge="oracle")


@pytest.mark.parametrize(
    ("rule", "later"),
    [("Never touch module 0.", "Never touch module 40."), ("Do not deploy to region 3.", "Do not deploy to region 5.")],
)
def test_another_number_of_what_is_forbidden_takes_nothing_back(rule: str, later: str) -> None:
    report = audit_compactions(
        [round_of(1, rule, [said(1, rule)]), round_of(2, "Nothing.", [said(11, later)])],
    )
    assert [one[rule] for one in verdicts(report)] == ["kept", "lost"]
