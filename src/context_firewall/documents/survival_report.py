"""`context-firewall.survival-report/v1`: which of the user's rules each compaction kept, changed or lost.

Also `context-firewall.survival-ledger-entry/v1`: one finding of a report as one line of a ledger.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, get_args

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.documents.verification.findings import Finding as Objection
from context_firewall.documents.verification.findings import Findings, Read, at, check_canonical, read_document
from context_firewall.documents.verification.shape import (
    digest,
    exactly,
    integer,
    list_of,
    nullable,
    object_of,
    one_of,
    text,
)
from context_firewall.errors import InvalidInput

PROTOCOL = "context-firewall.survival-report/v1"
LEDGER_PROTOCOL = "context-firewall.survival-ledger-entry/v1"

Verdict = Literal["kept", "altered", "lost", "unverifiable", "retained_tail", "revoked"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Outcome = Literal["kept", "lost", "unverifiable"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class Evidence(TypedDict):
    """A stretch of a summary: its text, and its first and one-past-last character there."""

    end: int
    start: int
    text: str


class SurvivalFinding(TypedDict):
    """What became of one constraint in one compaction."""

    constraint: int
    """Its place in the report's list, from 0."""
    coverage_permille: int
    """How much of its words the evidence holds."""
    evidence: Evidence | None
    reason: str
    """What the rule found, in words; empty where there is nothing to add."""
    rule: str
    """The name of the rule that decided."""
    verdict: Verdict


class ConstraintKeys(TypedDict):
    """A rule that was given: by the user in a message, or pinned by configuration."""

    end: int
    entry_id: int | str | None
    """The message that gave it; null for a pinned one."""
    first_lost_round: int | None
    """The first round whose summary lost or altered it."""
    kind: str
    language: str
    origin: Literal["user", "pinned"]
    start: int
    """Where in the message it stands, in characters."""
    text: str


class RoundKeys(TypedDict):
    """One compaction."""

    entry_id: int | str | None
    findings: list[SurvivalFinding]
    invented: list[Evidence]
    """Rules that the summary states and no text of the user or of the project supports."""
    line: int
    """Where the session tells of it; 0 where two views were compared."""
    readded: bool
    """Whether the client shows recent messages of the user again that count as shadowed."""
    round: int
    summary_sha256: str | None
    """Digest of the summary's UTF-8 bytes; null where the session has no readable summary."""
    trigger: str | None


class JudgeKeys(TypedDict):
    """Who judged, and with which parameters, in thousandths."""

    name: str
    parameters: Mapping[str, int]


class SourceKeys(TypedDict):
    """What was audited."""

    format: str
    sha256: str | None


class SurvivalReport(TypedDict):
    """The whole document."""

    constraints: list[ConstraintKeys]
    counts: Mapping[str, int]
    """How many findings, of all rounds, have each verdict."""
    judge: JudgeKeys
    outcome: Outcome
    protocol_version: str
    rounds: list[RoundKeys]
    source: SourceKeys


class LedgerEntry(TypedDict):
    """One finding, standing for itself."""

    constraint: str
    judge: str
    protocol_version: str
    reason: str
    recorded_at: str
    """The time of the audit, RFC 3339, UTC."""
    report_sha256: str
    round: int
    rule: str
    source_sha256: str | None
    verdict: Verdict


def outcome_of(counts: Mapping[str, int]) -> Outcome:
    """`lost` if anything was lost or altered, else `unverifiable` if anything is, else `kept`."""
    if counts.get("lost") or counts.get("altered"):
        return "lost"
    return "unverifiable" if counts.get("unverifiable") else "kept"


def counts_of(rounds: list[RoundKeys]) -> dict[str, int]:
    """How many findings have each verdict; every verdict is named."""
    counts = dict.fromkeys(VERDICTS, 0)
    for one in rounds:
        for finding in one["findings"]:
            counts[finding["verdict"]] += 1
    return {str(verdict): count for verdict, count in counts.items()}


def serialize_survival_report(report: SurvivalReport) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(report) + b"\n"


def ledger_entries(report: SurvivalReport, *, recorded_at: str) -> bytes:
    """The report's findings as lines of a ledger, in order: canonical JSON and a newline each."""
    digest_of_report = sha256(serialize_survival_report(report))
    lines = []
    for one in report["rounds"]:
        for finding in one["findings"]:
            entry: LedgerEntry = {
                "constraint": report["constraints"][finding["constraint"]]["text"],
                "judge": report["judge"]["name"],
                "protocol_version": LEDGER_PROTOCOL,
                "reason": finding["reason"],
                "recorded_at": recorded_at,
                "report_sha256": digest_of_report,
                "round": one["round"],
                "rule": finding["rule"],
                "source_sha256": report["source"]["sha256"],
                "verdict": finding["verdict"],
            }
            lines.append(canonical_bytes(entry) + b"\n")
    return b"".join(lines)


def parse_survival_report(document: Mapping[str, Any] | str | bytes) -> SurvivalReport:
    """A report whose shape and counts hold. Raises InvalidInput that names the first place where they do not."""
    read = read_document(document, "survival report")
    findings = _examined(read.value, read)
    if findings:
        first = findings[0]
        where = first["field"] or "document"
        raise InvalidInput(f"the survival report: {where} {first['problem']}", key=first["field"])
    report: SurvivalReport = read.value
    return report


def verify_survival_report(document: Mapping[str, Any] | str | bytes) -> list[Objection]:
    """What in a report does not hold: its bytes, its shape, and whatever follows from the rest of it."""
    read = read_document(document, "survival report")
    return _examined(read.value, read)


# -- shape ------------------------------------------------------------------------------------------------------------


def _entry_id(findings: Findings, path: str, value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | str)):
        findings.add(path, "is no entry's id: neither text nor a whole number")


def _parameters(findings: Findings, path: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        findings.add(path, "is not an object")
        return
    for key, item in value.items():
        integer(0)(findings, at(path, key), item)


_EVIDENCE = object_of({"end": integer(), "start": integer(), "text": text})

_REPORT = object_of(
    {
        "constraints": list_of(
            object_of(
                {
                    "end": integer(),
                    "entry_id": _entry_id,
                    "first_lost_round": nullable(integer(1)),
                    "kind": text,
                    "language": text,
                    "origin": one_of(("user", "pinned")),
                    "start": integer(),
                    "text": text,
                }
            )
        ),
        "counts": object_of({verdict: integer() for verdict in VERDICTS}),
        "judge": object_of({"name": text, "parameters": _parameters}),
        "outcome": one_of(OUTCOMES),
        "protocol_version": exactly(PROTOCOL),
        "rounds": list_of(
            object_of(
                {
                    "entry_id": _entry_id,
                    "findings": list_of(
                        object_of(
                            {
                                "constraint": integer(),
                                "coverage_permille": integer(0, 1000),
                                "evidence": nullable(_EVIDENCE),
                                "reason": text,
                                "rule": text,
                                "verdict": one_of(VERDICTS),
                            }
                        )
                    ),
                    "invented": list_of(_EVIDENCE),
                    "line": integer(),
                    "readded": one_of((True, False)),
                    "round": integer(1),
                    "summary_sha256": nullable(digest),
                    "trigger": nullable(text),
                }
            )
        ),
        "source": object_of({"format": text, "sha256": nullable(digest)}),
    }
)


def _examined(value: Any, read: Read) -> list[Objection]:
    findings = Findings()
    _REPORT(findings, "", value)
    if not findings:
        check_canonical(findings, read, "survival report")
        _follow(findings, value)
    return findings.as_list()


def _follow(findings: Findings, report: SurvivalReport) -> None:
    counts = counts_of(report["rounds"])
    for verdict, count in counts.items():
        findings.expect(at("counts", verdict), report["counts"][verdict], count, "findings have this verdict")
    findings.expect("outcome", report["outcome"], outcome_of(counts), "follows from the counts")
    lost: dict[int, int] = {}
    for place, one in enumerate(report["rounds"]):
        path = at("rounds", place)
        for index, finding in enumerate(one["findings"]):
            where = at(at(path, "findings"), index)
            if finding["constraint"] >= len(report["constraints"]):
                findings.add(at(where, "constraint"), "names a constraint that the report does not have")
            elif finding["verdict"] in ("lost", "altered"):
                lost.setdefault(finding["constraint"], one["round"])
            evidence = finding["evidence"]
            if evidence is not None:
                _check_evidence(findings, at(where, "evidence"), evidence)
        for index, evidence in enumerate(one["invented"]):
            _check_evidence(findings, at(at(path, "invented"), index), evidence)
    for index, constraint in enumerate(report["constraints"]):
        where = at(at("constraints", index), "first_lost_round")
        findings.expect(where, constraint["first_lost_round"], lost.get(index), "is the first round that lost it")


def _check_evidence(findings: Findings, path: str, evidence: Evidence) -> None:
    if evidence["end"] - evidence["start"] != len(evidence["text"]):
        findings.add(path, "is not as long as its offsets say")
