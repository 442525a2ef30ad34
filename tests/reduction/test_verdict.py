"""Status, disposition and reasons."""

import pytest

from context_firewall.reduction.verdict import Circumstances, Disposition, Reason, Status, judge_v2, judge_v3
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally, Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line

KNOWN = Circumstances("op", "source", "run", "ref", exit_code=0, duration_ms=1)
NOTHING = combined([])
GREEN = NOTHING._replace(tally=Tally(passed=1, total=1), has_results=True)
RED = NOTHING._replace(failures=(Failure("t", None),), tally=Tally(failed=1, total=1), has_results=True)
LINE = Line("stdout", 1, Kind.UNCLASSIFIED, b"x")


@pytest.mark.parametrize(
    ("transcript", "known", "status", "reasons"),
    [
        (GREEN, KNOWN, "passed", []),
        (GREEN, KNOWN._replace(raw_evidence_ref=None), "passed", ["RAW_EVIDENCE_REFERENCE_MISSING"]),
        (GREEN, KNOWN._replace(operation_id=None), "indeterminate", ["OPERATION_ID_MISSING"]),
        (GREEN, KNOWN._replace(source_id=None), "indeterminate", ["SOURCE_IDENTITY_MISSING"]),
        (GREEN, KNOWN._replace(run_id=None), "passed", []),
        (GREEN, KNOWN._replace(exit_code=None), "indeterminate", ["EXIT_STATUS_MISSING"]),
        (GREEN, KNOWN._replace(interrupted=True), "indeterminate", ["INTERRUPTED_OUTPUT"]),
        (GREEN, KNOWN._replace(exit_code=3), "failed", ["NONZERO_EXIT_WITHOUT_RECOGNIZED_FAILURE"]),
        (RED, KNOWN._replace(exit_code=1), "failed", []),
        (GREEN._replace(unclassified=(LINE,)), KNOWN, "indeterminate", ["UNCLASSIFIED_EVIDENCE"]),
        (GREEN._replace(timeouts=(LINE,)), KNOWN._replace(exit_code=1), "failed", []),
        (GREEN._replace(fatal_errors=(LINE,)), KNOWN._replace(exit_code=1), "failed", []),
        (GREEN._replace(warnings=(LINE,)), KNOWN, "passed", []),
        (
            GREEN._replace(doubts=frozenset({Doubt.AGGREGATE_CONTRADICTION})),
            KNOWN,
            "indeterminate",
            ["AGGREGATE_CONTRADICTION"],
        ),
    ],
)
def test_both_policies_agree_on_these(
    transcript: Transcript, known: Circumstances, status: str, reasons: list[str]
) -> None:
    for judge in (judge_v2, judge_v3):
        verdict = judge(transcript, known)
        assert (verdict.status.value, verdict.reason_codes) == (status, reasons)
        assert (verdict.disposition is Disposition.SUFFICIENT) is (not reasons)


def test_a_timeout_is_an_interruption_with_a_name_in_v3() -> None:
    """REASON-27: and no verdict by itself."""
    known = KNOWN._replace(interrupted=True, timed_out=True)
    assert judge_v2(GREEN, known).reason_codes == ["INTERRUPTED_OUTPUT"]
    verdict = judge_v3(GREEN, known)
    assert (verdict.status, verdict.reason_codes) == (Status.INDETERMINATE, ["INTERRUPTED_OUTPUT", "TIMEOUT"])
    assert judge_v3(RED, known._replace(exit_code=143)).status is Status.FAILED


def test_a_failure_with_exit_zero_needs_the_raw_evidence_in_v3() -> None:
    assert judge_v2(RED, KNOWN).reason_codes == []
    assert judge_v3(RED, KNOWN).reason_codes == ["ZERO_EXIT_WITH_FAILURES"]
    assert judge_v3(RED._replace(conclusive=True), KNOWN).status is Status.FAILED


def test_a_failure_in_an_open_stretch_convicts_no_run_that_succeeded() -> None:
    """Any test may print the line; where neither plan nor totals close over it, exit code 0 stands against it."""
    assert judge_v3(RED._replace(conclusive=False), KNOWN).status is Status.INDETERMINATE
    assert judge_v3(RED._replace(conclusive=False), KNOWN._replace(exit_code=1)).status is Status.FAILED


def test_nothing_read_is_no_pass_in_v3() -> None:
    assert judge_v2(NOTHING, KNOWN).status is Status.PASSED
    assert judge_v3(NOTHING, KNOWN).reason_codes == ["NO_TEST_EVIDENCE"]
    assert judge_v3(NOTHING, KNOWN).status is Status.INDETERMINATE


def test_a_fatal_error_is_evidence_enough_not_to_miss_tests() -> None:
    crashed = NOTHING._replace(fatal_errors=(LINE,))
    assert judge_v3(crashed, KNOWN._replace(exit_code=2)).reason_codes == []


def test_every_doubt_becomes_its_reason() -> None:
    doubtful = GREEN._replace(doubts=frozenset(Doubt))
    assert set(judge_v3(doubtful, KNOWN).reason_codes) == {doubt.value for doubt in Doubt}


def test_a_ceilings_reason_leaves_the_status_alone() -> None:
    verdict = judge_v3(GREEN, KNOWN).with_reason(Reason.PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED)
    assert verdict.status is Status.PASSED
    assert verdict.disposition is Disposition.NEEDS_RAW_EVIDENCE
    assert verdict.with_reason(None) == verdict
