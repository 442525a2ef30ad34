"""A session's compactions, one after another: each rule of the user, judged by its own words after every one.

- A rule comes from text that the user wrote and that was in the view before the compaction, or it is pinned.
- It is judged by its original text in every round, not by what the last summary made of it; the first round whose
  summary lost or altered it is reported.
- A rule whose message is still in the view, word for word, is in the retained tail.
- A rule that the user took back, contradicted or replaced later is revoked from then on.
- A rule that the summary states and nobody gave is invented.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from context_firewall.canonical import sha256
from context_firewall.conversation.compactions import FoundCompaction
from context_firewall.conversation.messages import Author, EntryId, Message
from context_firewall.documents.survival_report import (
    PROTOCOL,
    ConstraintKeys,
    Evidence,
    RoundKeys,
    SurvivalFinding,
    SurvivalReport,
    counts_of,
    outcome_of,
)
from context_firewall.guard.directives import Directive, Release, find_statements
from context_firewall.guard.judge import Outcome, judge, takes_back
from context_firewall.guard.orders import Kind
from context_firewall.guard.pages import Rule, Summary
from context_firewall.guard.reinjection import without_blocks
from context_firewall.guard.survival import DEFAULT_JUDGE, Judging, evidence_at, judge_named, written

AUTHORS = frozenset({Author.USER, Author.SUMMARY, Author.PLUGIN, Author.SYSTEM})
"""Whose text an audit looks at: the user's for rules, the summaries, and what may support a rule that a summary has."""

_SUPPORTING = (Author.USER, Author.PLUGIN, Author.SYSTEM)
# What a summary may state without being asked to: its plans read like orders. Only these are looked up.
_FIRM = frozenset({"prohibition", "forbidden", "duty", "no such thing", "avoid", "bound", "only", "double negation"})
_UNSUPPORTED = 400  # thousandths: below, nobody's text has anything to do with the rule


@dataclass(slots=True)
class _Constraint:
    """A rule on its way through the rounds."""

    text: str
    origin: Literal["user", "pinned"]
    kind: str
    language: str
    rule: Rule
    entry_id: EntryId | None = None
    start: int = 0
    end: int = 0
    messages: set[tuple[int, EntryId | None]] = field(default_factory=set)
    """The messages that give it: the first, and those that repeat it."""
    taken_back: str = ""
    """The user's words that took it back."""
    first_lost_round: int | None = None


class Audit:
    """Takes compactions in order; afterwards, `report` has what was found."""

    def __init__(self, *, pinned: Sequence[str] = (), judge: str = DEFAULT_JUDGE) -> None:
        self._judge = judge
        self._read, self._parameters = judge_named(judge)
        self._constraints: list[_Constraint] = []
        self._rounds: list[RoundKeys] = []
        self._seen: set[tuple[int, EntryId | None]] = set()
        self._support: dict[str, None] = {}
        for text in dict.fromkeys(pinned):
            rule = Rule(text)
            self._constraints.append(_Constraint(text, "pinned", "", rule.language, rule))

    def add(self, compaction: FoundCompaction) -> None:
        """Audit the next compaction."""
        before = sorted((*compaction.shadowed, *compaction.retained), key=_place)
        for message in before:
            if _name(message) not in self._seen:
                self._seen.add(_name(message))
                self._take(message)
        retained = {_name(message) for message in compaction.retained}
        summary = compaction.summary.content if compaction.summary is not None else None
        judging = self._read(without_blocks(summary)) if summary is not None else None
        findings = []
        for index, constraint in enumerate(self._constraints):
            finding = _finding(index, constraint, retained, summary, judging)
            if finding["verdict"] in ("lost", "altered") and constraint.first_lost_round is None:
                constraint.first_lost_round = compaction.round
            findings.append(finding)
        self._rounds.append(
            {
                "entry_id": compaction.entry_id,
                "findings": findings,
                "invented": self._invented(summary, findings) if summary is not None else [],
                "line": compaction.line,
                "readded": compaction.readded,
                "round": compaction.round,
                "summary_sha256": None if summary is None else sha256(written(summary).encode()),
                "trigger": compaction.trigger,
            }
        )

    def report(self, *, format: str, source_sha256: str | None = None) -> SurvivalReport:
        """The document. `format` names what was read; `source_sha256` is the digest of its bytes, where known."""
        counts = counts_of(self._rounds)
        return {
            "constraints": [_keys(constraint) for constraint in self._constraints],
            "counts": counts,
            "judge": {"name": self._judge, "parameters": self._parameters},
            "outcome": outcome_of(counts),
            "protocol_version": PROTOCOL,
            "rounds": self._rounds,
            "source": {"format": format, "sha256": source_sha256},
        }

    def _take(self, message: Message) -> None:
        """Learn what a message gives, repeats and takes back."""
        for author in _SUPPORTING:
            for offset, text in message.written_by(author):
                self._support[text] = None
                if author is Author.USER:
                    for statement in find_statements(without_blocks(text)):
                        self._learn(statement, offset, message)

    def _learn(self, statement: Directive | Release, offset: int, message: Message) -> None:
        said = Rule(statement.text)
        for constraint in self._constraints:
            if not constraint.taken_back and takes_back(said, constraint.rule):
                constraint.taken_back = statement.text
        if isinstance(statement, Release):
            return
        for constraint in self._constraints:
            if constraint.rule.texts == said.texts and constraint.origin == "user":
                constraint.messages.add(_name(message))
                constraint.taken_back = ""  # given once more
                return
        self._constraints.append(
            _Constraint(
                statement.text,
                "user",
                statement.kind.value,
                statement.language,
                said,
                message.entry_id,
                offset + statement.start,
                offset + statement.end,
                {_name(message)},
            )
        )

    def _invented(self, summary: str, findings: Collection[SurvivalFinding]) -> list[Evidence]:
        """Rules of the summary that nobody's text has anything to do with."""
        explained = [
            finding["evidence"]
            for finding in findings
            if finding["evidence"] is not None and finding["verdict"] != "lost"
        ]
        support: Summary | None = None
        found = []
        for statement in find_statements(without_blocks(summary)):
            if isinstance(statement, Release) or statement.rule not in _FIRM or statement.kind is Kind.PREFERENCE:
                continue
            if any(one["start"] < statement.end and statement.start < one["end"] for one in explained):
                continue
            support = support or Summary("\n\n".join((*self._support, *(one.text for one in self._constraints))))
            outcome = judge(Rule(statement.text), support)
            if outcome.verdict == "lost" and 1000 * outcome.coverage < _UNSUPPORTED:
                found.append(evidence_at(summary, statement.start, statement.end))
        return found


def audit_compactions(
    compactions: Iterable[FoundCompaction],
    *,
    pinned: Sequence[str] = (),
    judge: str = DEFAULT_JUDGE,
    format: str = "views",
    source_sha256: str | None = None,
) -> SurvivalReport:
    """The report on compactions in order. Raises InvalidInput for an unknown judge."""
    audit = Audit(pinned=pinned, judge=judge)
    for compaction in compactions:
        audit.add(compaction)
    return audit.report(format=format, source_sha256=source_sha256)


def _place(message: Message) -> tuple[int, int]:
    return message.line, message.entry_id if isinstance(message.entry_id, int) else 0


def _name(message: Message) -> tuple[int, EntryId | None]:
    return message.line, message.entry_id


def _finding(
    index: int,
    constraint: _Constraint,
    retained: set[tuple[int, EntryId | None]],
    summary: str | None,
    judging: Judging | None,
) -> SurvivalFinding:
    if constraint.taken_back:
        outcome = Outcome("revoked", "taken back", f"the user: {constraint.taken_back}", 0, 0, 0.0)
    elif constraint.messages & retained:
        outcome = Outcome("retained_tail", "retained", "its message is still in the view, word for word", 0, 0, 1.0)
    elif summary is None or judging is None:
        outcome = Outcome("unverifiable", "no summary", "the session has no readable summary", 0, 0, 0.0)
    else:
        outcome = judging(constraint.text)
    return {
        "constraint": index,
        "coverage_permille": round(1000 * outcome.coverage),
        "evidence": evidence_at(summary, outcome.start, outcome.end)
        if summary and outcome.end > outcome.start
        else None,
        "reason": written(outcome.said),
        "rule": outcome.rule,
        "verdict": outcome.verdict,
    }


def _keys(constraint: _Constraint) -> ConstraintKeys:
    return {
        "end": constraint.end,
        "entry_id": constraint.entry_id,
        "first_lost_round": constraint.first_lost_round,
        "kind": constraint.kind,
        "language": constraint.language,
        "origin": constraint.origin,
        "start": constraint.start,
        "text": written(constraint.text),
    }
