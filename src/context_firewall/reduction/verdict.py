"""From facts to a verdict: status, disposition, and the reasons for every doubt.

A verdict never looks at a ceiling. What a ceiling costs is the retention plan's to say: it adds a reason to a verdict
(`Verdict.with_reason`), so that the packet no longer suffices; how the run ended stays what it was.
"""

from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import NamedTuple

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind


class Status(StrEnum):
    """How the run ended, as far as its evidence goes."""

    PASSED = "passed"
    FAILED = "failed"
    INDETERMINATE = "indeterminate"


class Disposition(StrEnum):
    """Whether the packet is enough to decide on."""

    SUFFICIENT = "SUFFICIENT"
    NEEDS_RAW_EVIDENCE = "NEEDS_RAW_EVIDENCE"


class Reason(StrEnum):
    """Reason codes that do not come out of the transcript itself (those are `Doubt`s)."""

    INTERRUPTED_OUTPUT = "INTERRUPTED_OUTPUT"
    TIMEOUT = "TIMEOUT"
    """The run was interrupted because its time was up."""
    EXIT_STATUS_MISSING = "EXIT_STATUS_MISSING"
    NONZERO_EXIT_WITHOUT_RECOGNIZED_FAILURE = "NONZERO_EXIT_WITHOUT_RECOGNIZED_FAILURE"
    ZERO_EXIT_WITH_FAILURES = "ZERO_EXIT_WITH_FAILURES"
    """The run failed by its own account, yet the process reports success."""
    OPERATION_ID_MISSING = "OPERATION_ID_MISSING"
    SOURCE_IDENTITY_MISSING = "SOURCE_IDENTITY_MISSING"
    RAW_EVIDENCE_REFERENCE_MISSING = "RAW_EVIDENCE_REFERENCE_MISSING"
    PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT = "PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT"
    """The ceiling turned warnings or unclassified lines into references."""
    PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED = "PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED"
    """The ceiling leaves room for the identities of failures only."""
    PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED = "PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED"
    """The ceiling leaves room for some failure regions; the others are there by identity, place and reference."""
    PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED = "PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED"
    """The ceiling leaves no room for the name of every failure; the others are counted and hashed."""


_NOT_ABOUT_THE_OUTCOME: frozenset[str] = frozenset(
    {
        Doubt.COUNTS_UNCONFIRMED,
        Reason.RAW_EVIDENCE_REFERENCE_MISSING,
        Reason.PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT,
        Reason.PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED,
        Reason.PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED,
        Reason.PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED,
    }
)


class Circumstances(NamedTuple):
    """What is known of a run besides its output. `duration_ms` is in milliseconds; None is unknown."""

    operation_id: str | None = None
    source_id: str | None = None
    run_id: str | None = None
    raw_evidence_ref: str | None = None
    exit_code: int | None = None
    duration_ms: int | float | None = None
    interrupted: bool = False
    timed_out: bool = False
    """Whether it was interrupted because its time was up."""


class Verdict(NamedTuple):
    """The outcome and everything that speaks against relying on the packet alone."""

    failed: bool
    reasons: frozenset[str]

    @property
    def status(self) -> Status:
        """Failed beats doubt, doubt beats passed. Some reasons are no doubt about the outcome."""
        if self.failed:
            return Status.FAILED
        if self.reasons - _NOT_ABOUT_THE_OUTCOME:
            return Status.INDETERMINATE
        return Status.PASSED

    @property
    def disposition(self) -> Disposition:
        """Sufficient exactly when there is no reason against it."""
        return Disposition.NEEDS_RAW_EVIDENCE if self.reasons else Disposition.SUFFICIENT

    @property
    def reason_codes(self) -> list[str]:
        """The reasons, sorted."""
        return sorted(str(reason) for reason in self.reasons)

    def with_reason(self, reason: Reason | None) -> "Verdict":
        """The same verdict with one more reason."""
        return self if reason is None else self._replace(reasons=self.reasons | {reason})


def judge_v2(transcript: Transcript, circumstances: Circumstances) -> Verdict:
    """The verdict of policy v2."""
    code = circumstances.exit_code
    recognised = _failure_recognised(transcript)
    reasons: set[str] = set(transcript.doubts)
    if any(line.kind is not Kind.PROGRAM_OUTPUT for line in transcript.unclassified):
        reasons.add(Doubt.UNCLASSIFIED_EVIDENCE)
    if circumstances.interrupted:
        reasons.add(Reason.INTERRUPTED_OUTPUT)
    if code is None:
        reasons.add(Reason.EXIT_STATUS_MISSING)
    elif code != 0 and not recognised:
        reasons.add(Reason.NONZERO_EXIT_WITHOUT_RECOGNIZED_FAILURE)
    reasons |= _provenance_gaps(circumstances)
    return Verdict(failed=recognised or bool(code), reasons=frozenset(reasons))


def judge_v3(transcript: Transcript, circumstances: Circumstances) -> Verdict:
    """The verdict of policy v3: v2's, and three ways in which a green exit code proves nothing.

    A fatal marker that a successful process survived is no failure by itself, nor is a failing result in a stretch that
    does not close: any test may print either.
    """
    verdict = judge_v2(transcript, circumstances)
    reasons = set(verdict.reasons)
    failed = verdict.failed
    if circumstances.timed_out:
        reasons.add(Reason.TIMEOUT)
    if failed and circumstances.exit_code == 0:
        reasons.add(Reason.ZERO_EXIT_WITH_FAILURES)
        failed = transcript.conclusive and (bool(transcript.failures) or transcript.tally.failed > 0)
    derived = transcript.suppressed.get(Kind.DERIVED_FAILURE, 0)
    if transcript.tally.failed > len(transcript.failures) + derived:
        reasons.add(Doubt.FAILURES_UNNAMED)
    if not transcript.has_results and not _failure_recognised(transcript):
        reasons.add(Doubt.NO_TEST_EVIDENCE)
    return Verdict(failed=failed, reasons=frozenset(reasons))


def _failure_recognised(transcript: Transcript) -> bool:
    return bool(transcript.failures or transcript.fatal_errors or transcript.timeouts or transcript.tally.failed > 0)


def _provenance_gaps(circumstances: Circumstances) -> AbstractSet[str]:
    gaps: set[str] = set()
    if circumstances.operation_id is None:
        gaps.add(Reason.OPERATION_ID_MISSING)
    if circumstances.source_id is None:
        gaps.add(Reason.SOURCE_IDENTITY_MISSING)
    if circumstances.raw_evidence_ref is None:
        gaps.add(Reason.RAW_EVIDENCE_REFERENCE_MISSING)
    return gaps
