"""The survival report as a document, and the lines of a ledger that are made of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from context_firewall import (
    FoundCompaction,
    InvalidInput,
    Message,
    Role,
    SurvivalReport,
    audit_compactions,
    parse_survival_report,
    serialize_survival_report,
    verify_survival_report,
)
from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.conversation.messages import Status
from context_firewall.documents.survival_report import ledger_entries

KEPT = "Never deploy on a Friday. Charts must be blue."


@pytest.fixture
def report() -> SurvivalReport:
    """A report on two rounds: one rule kept and lost, one in another language, one invented."""
    talk = (Message(Role.USER, "Never deploy on a Friday. 千万别惊动客户。", entry_id="u1", line=1),)
    first = Message(Role.USER, KEPT, compaction_status=Status.SUMMARIZED)
    second = Message(Role.USER, "Charts done.")
    rounds = [FoundCompaction(1, 5, talk, (), first, "auto"), FoundCompaction(2, 9, (first,), (), second)]
    return audit_compactions(rounds, pinned=["Be brief."], format="claude-code", source_sha256=sha256(b""))


def test_it_survives_being_written_and_read(report: SurvivalReport) -> None:
    data = serialize_survival_report(report)
    assert data == canonical_bytes(json.loads(data)) + b"\n"
    assert parse_survival_report(data) == report
    assert verify_survival_report(data) == []


def test_it_says_what_became_of_each_rule(report: SurvivalReport) -> None:
    assert report["outcome"] == "lost"
    assert [one["first_lost_round"] for one in report["constraints"]] == [1, 2, None]
    assert [len(one["invented"]) for one in report["rounds"]] == [1, 0]
    assert sum(report["counts"].values()) == 6


CHANGES: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("counts.kept", lambda it: it["counts"].update(kept=7)),
    ("outcome", lambda it: it.update(outcome="kept")),
    ("constraints.1.first_lost_round", lambda it: it["constraints"][1].update(first_lost_round=1)),
    ("rounds.0.findings.0.constraint", lambda it: it["rounds"][0]["findings"][0].update(constraint=9)),
    ("rounds.0.findings.1.evidence", lambda it: it["rounds"][0]["findings"][1]["evidence"].update(end=99)),
    ("rounds.0.invented.0", lambda it: it["rounds"][0]["invented"][0].update(text="")),
    ("rounds.0.findings.0.verdict", lambda it: it["rounds"][0]["findings"][0].update(verdict="fine")),
    ("judge.parameters.x", lambda it: it["judge"].update(parameters={"x": "y"})),
    ("judge.parameters", lambda it: it["judge"].update(parameters=[])),
    ("constraints.0.entry_id", lambda it: it["constraints"][0].update(entry_id=True)),
    ("source.sha256", lambda it: it["source"].update(sha256="none")),
    ("protocol_version", lambda it: it.update(protocol_version="x")),
]


@pytest.mark.parametrize(("place", "change"), CHANGES, ids=[place for place, _ in CHANGES])
def test_what_does_not_hold_is_named(
    report: SurvivalReport, place: str, change: Callable[[dict[str, Any]], object]
) -> None:
    changed = json.loads(serialize_survival_report(report))
    change(changed)
    assert place in [finding["field"] for finding in verify_survival_report(changed)]
    with pytest.raises(InvalidInput):
        parse_survival_report(changed)


def test_bytes_that_are_not_canonical_are_named(report: SurvivalReport) -> None:
    assert verify_survival_report(json.dumps(report, indent=1))


def test_a_ledger_has_one_line_a_finding_that_stands_for_itself(report: SurvivalReport) -> None:
    lines = ledger_entries(report, recorded_at="2031-02-03T04:05:06Z").splitlines(keepends=True)
    entries = [json.loads(line) for line in lines]
    assert all(line == canonical_bytes(entry) + b"\n" for line, entry in zip(lines, entries, strict=True))
    assert [(one["round"], one["constraint"], one["verdict"]) for one in entries][:2] == [
        (1, "Be brief.", "lost"),
        (1, "Never deploy on a Friday.", "kept"),
    ]
    assert {one["report_sha256"] for one in entries} == {sha256(serialize_survival_report(report))}
    assert {one["recorded_at"] for one in entries} == {"2031-02-03T04:05:06Z"}
