"""The report on a corpus: one canonical document, or TAP for a harness.

    {"protocol_version": "context-firewall.conformance-report/v1",
     "fixtures": [{"name", "result", "policy", "raw_bytes", "reduced_bytes", "verdict": {"expected", "actual",
                   "preserved"}, "escalation_required", "differences"}],
     "totals": {"fixtures", "passed", "failed", "verdicts_preserved", "escalations", "raw_bytes", "reduced_bytes"},
     "result": "PASS" | "FAIL"}

A verdict is a status and a disposition, or the code of the error where there is no packet; then nothing is reduced
and `reduced_bytes` is 0.
"""

import io
from collections.abc import Sequence
from typing import Any, TypedDict

from context_firewall.canonical import canonical_bytes
from context_firewall.conformance.runner import Outcome

PROTOCOL = "context-firewall.conformance-report/v1"


class Verdict(TypedDict):
    """Expected and actual verdict; null where there is no document, or none with a verdict in it."""

    expected: str | None
    actual: str | None
    preserved: bool


class FixtureReport(TypedDict):
    """One fixture's outcome."""

    name: str
    result: str
    policy: str | None
    raw_bytes: int
    reduced_bytes: int
    verdict: Verdict
    escalation_required: bool
    differences: list[str]


class Totals(TypedDict):
    """The fixtures, added up."""

    fixtures: int
    passed: int
    failed: int
    verdicts_preserved: int
    escalations: int
    raw_bytes: int
    reduced_bytes: int


class ConformanceReport(TypedDict):
    """The whole document."""

    protocol_version: str
    fixtures: list[FixtureReport]
    totals: Totals
    result: str


def report_on(outcomes: Sequence[Outcome]) -> ConformanceReport:
    """The report on the outcomes of a corpus, in their order."""
    fixtures = [_fixture_report(outcome) for outcome in outcomes]
    passed = sum(outcome.passed for outcome in outcomes)
    return {
        "protocol_version": PROTOCOL,
        "fixtures": fixtures,
        "totals": {
            "fixtures": len(fixtures),
            "passed": passed,
            "failed": len(fixtures) - passed,
            "verdicts_preserved": sum(fixture["verdict"]["preserved"] for fixture in fixtures),
            "escalations": sum(fixture["escalation_required"] for fixture in fixtures),
            "raw_bytes": sum(fixture["raw_bytes"] for fixture in fixtures),
            "reduced_bytes": sum(fixture["reduced_bytes"] for fixture in fixtures),
        },
        "result": "PASS" if passed == len(fixtures) else "FAIL",
    }


def serialize_report(report: ConformanceReport) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(report) + b"\n"


def _fixture_report(outcome: Outcome) -> FixtureReport:
    expected, actual = _verdict(outcome.expected), _verdict(outcome.actual)
    return {
        "name": shown_name(outcome),
        "result": "PASS" if outcome.passed else "FAIL",
        "policy": outcome.policy,
        "raw_bytes": outcome.raw_bytes,
        "reduced_bytes": outcome.reduced_bytes,
        "verdict": {"expected": expected, "actual": actual, "preserved": expected is not None and expected == actual},
        "escalation_required": _escalates(outcome.actual),
        "differences": list(outcome.differences),
    }


def shown_name(outcome: Outcome) -> str:
    """The fixture's name as text that JSON can hold."""
    return outcome.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _verdict(document: Any) -> str | None:
    """`passed SUFFICIENT`, `error PAYLOAD_CEILING_TOO_SMALL`, or None for a document that holds neither."""
    for part, keys in (("decision_evidence", ("status", "disposition")), ("error", ("code",))):
        content = document.get(part) if isinstance(document, dict) else None
        if isinstance(content, dict) and all(isinstance(content.get(key), str) for key in keys):
            words = [content[key] for key in keys]
            return " ".join(words if part == "decision_evidence" else ["error", *words])
    return None


def _escalates(actual: Any) -> bool:
    """Whether a reader is sent to the raw evidence: the packet says so, or there is no packet."""
    if "error" in actual:
        return True
    return bool(actual["receipt"]["raw_evidence"]["escalation_required"])


def tap_report(outcomes: Sequence[Outcome]) -> bytes:
    """The same as TAP: one point a fixture, the differences as comments below it."""
    from tap.tracker import Tracker

    stream = io.StringIO()
    tracker = Tracker(streaming=True, stream=stream, header=False)
    tracker.set_plan(len(outcomes))
    for outcome in outcomes:
        # The emitter escapes nothing: a # would begin a directive.
        name = "- " + shown_name(outcome).replace("\\", "\\\\").replace("#", "\\#").replace("\n", " ")
        if outcome.passed:
            tracker.add_ok("", name)
        else:
            tracker.add_not_ok("", name, diagnostics="".join(f"# {text}\n" for text in outcome.differences))
    # It prints a version line where PyYAML happens to be installed; the report must not depend on that.
    version = "TAP version 13\n"
    return (version + stream.getvalue().removeprefix(version)).encode()
