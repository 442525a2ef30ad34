"""Which sentences are rules, which take one back, and which are neither."""

import json
from pathlib import Path

import pytest

from context_firewall import extract_directives, extract_releases
from context_firewall.guard.orders import Kind

STATEMENTS = json.loads((Path(__file__).parent / "statements.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", STATEMENTS["rules"])
def test_a_rule_is_found_whole(text: str) -> None:
    assert [text[found.start : found.end] for found in extract_directives(text)] == [text]


@pytest.mark.parametrize("text", STATEMENTS["others"])
def test_what_binds_nobody_is_no_rule(text: str) -> None:
    assert extract_directives(text) == ()


@pytest.mark.parametrize(
    ("text", "kind", "rule"),
    [
        ("Never deploy on a Friday.", Kind.PROHIBITION, "prohibition"),
        ("No new tables.", Kind.PROHIBITION, "no such thing"),
        ("The billing tables are off limits.", Kind.PROHIBITION, "forbidden"),
        ("Avoid global state.", Kind.PROHIBITION, "avoid"),
        ("Every module must have a test.", Kind.OBLIGATION, "duty"),
        ("Don't forget to run the formatter.", Kind.OBLIGATION, "double negation"),
        ("Use tabs.", Kind.OBLIGATION, "standing order"),
        ("Show me the diff before you commit.", Kind.OBLIGATION, "order with a condition or an extent"),
        ("Spend at most 5 minutes on it.", Kind.LIMIT, "order with a bound"),
        ("The budget is $40.", Kind.LIMIT, "bound"),
        ("The mirror is read-only.", Kind.LIMIT, "read-only"),
        ("I'd like short answers.", Kind.PREFERENCE, "wish"),
        ("I want short answers.", Kind.OBLIGATION, "wish"),
        ("Ideally, answers are short.", Kind.PREFERENCE, "preference"),
        ("You may delete old branches.", Kind.PERMISSION, "permission"),
        ("You may make up to 5 requests.", Kind.LIMIT, "bounded permission"),
        ("From now on answers are short.", Kind.OBLIGATION, "from now on"),
        ("First the schema, then the code.", Kind.OBLIGATION, "order of steps"),
        ("尽量少写注释。", Kind.PREFERENCE, "preference"),
        ("最多三次。", Kind.LIMIT, "bound"),
        ("只能改测试。", Kind.LIMIT, "only"),
        ("如果测试失败就停下来。", Kind.OBLIGATION, "condition"),
    ],
)
def test_a_rule_has_a_kind_and_the_name_of_what_made_it_one(text: str, kind: Kind, rule: str) -> None:
    (found,) = extract_directives(text)
    assert (found.kind, found.rule) == (kind, rule)


def test_offsets_are_of_the_text_as_it_stands() -> None:
    text = "Ｆｉｘ the **parser**. \u200bNever use `eval`.\r\n必须先跑测试再提交。"
    assert [text[found.start : found.end] for found in extract_directives(text)] == [
        "Never use `eval`.",
        "必须先跑测试再提交。",
    ]


def test_rules_stand_in_lists_and_in_wrapped_lines() -> None:
    text = "Rules:\n- never use eval\n2. Keep it\n   short at all\n   times\n\nThe rest is up to\nyou."
    assert [found.text for found in extract_directives(text)] == [
        "never use eval",
        "Keep it\n   short at all\n   times",
    ]


def test_a_stress_belongs_to_the_rule_before_it() -> None:
    assert [found.text for found in extract_directives("No new tables. Ever. Now go on.")] == ["No new tables. Ever."]


@pytest.mark.parametrize(
    "text",
    [
        "```\nNever use eval.\n```",
        "> Never use eval.",
        "- [ ] Never use eval.",
        "error: you must give a name",
        "2031-02-03 04:05:06 never use eval",
        "    Never use eval.",
        "if (never) { return must; }",
    ],
)
def test_pasted_text_holds_no_rules(text: str) -> None:
    assert extract_directives(f"It says:\n\n{text}\n") == ()


def test_a_fence_that_is_closed_ends_what_was_pasted() -> None:
    assert [found.text for found in extract_directives("~~~\nnever a\n~~~\nNever use eval.")] == ["Never use eval."]


@pytest.mark.parametrize(
    "text",
    [
        "You no longer need to ask.",
        "There is no need to ask first.",
        "现在不用再问我。",
        "Ya no es necesario preguntar por cada archivo.",
    ],
)
def test_what_takes_a_rule_back_is_a_release(text: str) -> None:
    assert [found.text for found in extract_releases(text)] == [text]
    assert extract_directives(text) == ()
