"""Does a summary keep these constraints? The library's door to the judges, for one summary and its rules."""

import re
from collections.abc import Callable, Iterable
from typing import TypedDict

from context_firewall.documents.survival_report import Evidence, Verdict
from context_firewall.errors import InvalidInput
from context_firewall.guard import judge as default
from context_firewall.guard import seed_coverage
from context_firewall.guard.judge import Outcome
from context_firewall.guard.pages import Rule, Summary
from context_firewall.guard.reinjection import without_blocks

DEFAULT_JUDGE = "survival/v1"

_SURROGATE = re.compile("[\ud800-\udfff]")


class Survival(TypedDict):
    """What became of one constraint; the keys are those of a finding in a survival report."""

    constraint: str
    coverage_permille: int
    evidence: Evidence | None
    reason: str
    rule: str
    verdict: Verdict


Judging = Callable[[str], Outcome]
"""A judge that has read a summary: it takes a constraint."""


def _survival(summary: str) -> Judging:
    read = Summary(summary)
    return lambda constraint: default.judge(Rule(constraint), read)


def _coverage(summary: str) -> Judging:
    return lambda constraint: seed_coverage.judge_coverage(constraint, summary)


# One row a judge: its name, and what reads a summary for it. Parameters are given in thousandths.
JUDGES: dict[str, tuple[Callable[[str], Judging], dict[str, int]]] = {
    DEFAULT_JUDGE: (_survival, {"least_coverage": round(1000 * default.LEAST_COVERAGE)}),
    seed_coverage.NAME: (_coverage, {"coverage": round(1000 * seed_coverage.COVERAGE)}),
}


def judge_named(name: str) -> tuple[Callable[[str], Judging], dict[str, int]]:
    """A judge and its parameters. Raises InvalidInput for a name that no judge has."""
    if name not in JUDGES:
        raise InvalidInput(f"there is no judge {name!r}; there are {', '.join(JUDGES)}", key="judge")
    return JUDGES[name]


def check_survival(constraints: Iterable[str], summary: str, *, judge: str = DEFAULT_JUDGE) -> list[Survival]:
    """The verdict on each constraint, in order: kept, altered, lost or unverifiable, by whom and on what evidence.

    A constraint is judged by its own words. Whole re-injected blocks in the summary are not looked at.
    Raises InvalidInput for an unknown judge.
    """
    judging = judge_named(judge)[0](without_blocks(summary))
    return [survival_of(constraint, judging(constraint), summary) for constraint in constraints]


def survival_of(constraint: str, outcome: Outcome, summary: str) -> Survival:
    """An outcome as JSON-shaped keys, with the evidence's text."""
    return {
        "constraint": constraint,
        "coverage_permille": round(1000 * outcome.coverage),
        "evidence": evidence_at(summary, outcome.start, outcome.end) if outcome.end > outcome.start else None,
        "reason": outcome.said,
        "rule": outcome.rule,
        "verdict": outcome.verdict,
    }


def evidence_at(text: str, start: int, end: int) -> Evidence:
    """A stretch of a text."""
    return {"end": end, "start": start, "text": written(text[start:end])}


def written(text: str) -> str:
    """Text as a document can hold it: a lone surrogate becomes U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)
