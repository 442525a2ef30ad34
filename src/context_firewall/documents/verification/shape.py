"""The shape of a packet: every key, its type, and for closed sets every value.

A shape is a check, made of smaller ones; the tables at the end read like the document. A key that no shape names is a
finding, and so is one that is missing. Nothing here compares one value with another: that is `account`.

The closed sets stand here a second time on purpose. What verifies a packet does not ask what made it; a test keeps
the sets in step.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from context_firewall.documents.evidence_packet import PROTOCOL, RECEIPT_VERSION
from context_firewall.documents.test_run_input import LARGEST_INTEGER, STREAM_NAMES
from context_firewall.documents.test_run_input import PROTOCOL as INPUT_PROTOCOL
from context_firewall.documents.verification.findings import Findings, at, quoted

V2 = "test-output-policy/v2"
V3 = "test-output-policy/v3"
POLICIES = (V2, V3)

REDUCERS = ("@opsle/context-firewall/test-output", "context-firewall/test-output")
"""Who makes packets under these policies."""

ALWAYS_RETAINED = ("aggregate_counts", "process_status", "run_verdict", "stream_provenance")

_KINDS_V2 = frozenset(
    {
        "abnormal_warning",
        "aggregate_source",
        "assertion",
        "blank",
        "duration_source",
        "failed_test",
        "failure_detail",
        "failure_message",
        "fatal_error",
        "informational",
        "progress",
        "skipped_test",
        "stack_trace",
        "structure",
        "successful_test",
        "timeout",
        "unclassified",
        "unclassified_binary",
    }
)

KINDS: Mapping[str, frozenset[str]] = {
    V2: _KINDS_V2,
    V3: _KINDS_V2
    | {
        "contested_test",
        "declared_noise",
        "derived_failure",
        "failure_context",
        "process_failure",
        "program_output",
        "recap",
        "test_detail",
        "todo_test",
    },
}
"""The categories of each policy."""

LIMIT_REASONS: Mapping[str, tuple[str, ...]] = {
    V2: ("PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED", "PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT"),
    V3: (
        "PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED",
        "PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED",
        "PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED",
        "PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT",
    ),
}
"""What a ceiling may cost: a packet has one of these at most."""

_REASONS_V2 = frozenset(
    {
        "AGGREGATE_CONTRADICTION",
        "EXIT_STATUS_MISSING",
        "INTERRUPTED_OUTPUT",
        "MALFORMED_UTF8",
        "NONZERO_EXIT_WITHOUT_RECOGNIZED_FAILURE",
        "OPERATION_ID_MISSING",
        "RAW_EVIDENCE_REFERENCE_MISSING",
        "SOURCE_IDENTITY_MISSING",
        "UNCLASSIFIED_EVIDENCE",
        *LIMIT_REASONS[V2],
    }
)

REASONS: Mapping[str, frozenset[str]] = {
    V2: _REASONS_V2,
    V3: _REASONS_V2
    | {
        "AMBIGUOUS_DIALECT",
        "COMPLETENESS_UNCONFIRMED",
        "CONTESTED_RESULTS",
        "COUNTS_UNCONFIRMED",
        "ERRORS_UNREPORTABLE",
        "FAILURES_UNNAMED",
        "FAILURE_OUTSIDE_TESTS",
        "NO_TEST_EVIDENCE",
        "PLAN_CONTRADICTION",
        "RECAP_CONTRADICTION",
        "STRUCTURE_CONTRADICTION",
        "TIMEOUT",
        "TREE_CONTRADICTION",
        "ZERO_EXIT_WITH_FAILURES",
        *LIMIT_REASONS[V3],
    },
}
"""The reason codes of each policy."""

Check = Callable[[Findings, str, Any], None]

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def integer(least: int = 0, most: int = LARGEST_INTEGER) -> Check:
    """A whole number in a range."""

    def check(findings: Findings, path: str, value: Any) -> None:
        if not _is_integer(value) or not least <= value <= most:
            findings.add(path, f"is {quoted(value)}, not a whole number from {least} to {most}")

    return check


def duration(findings: Findings, path: str, value: Any) -> None:
    """A finite number, zero or more."""
    number = _is_integer(value) or isinstance(value, float)
    if not number or not math.isfinite(value) or value < 0 or (_is_integer(value) and value > LARGEST_INTEGER):
        findings.add(path, f"is {quoted(value)}, not a finite number of zero or more")


def flag(findings: Findings, path: str, value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool):
        findings.add(path, f"is {quoted(value)}, not true or false")


def text(findings: Findings, path: str, value: Any) -> None:
    """Text that UTF-8 can hold."""
    if not isinstance(value, str):
        findings.add(path, f"is {quoted(value)}, not text")
    elif not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            findings.add(path, "holds a lone surrogate")


def name(findings: Findings, path: str, value: Any) -> None:
    """Text that is not empty: what is empty is recorded as null."""
    text(findings, path, value)
    if value == "":
        findings.add(path, "is empty; an absent name is null")


def line_text(findings: Findings, path: str, value: Any) -> None:
    """Text of one line."""
    text(findings, path, value)
    if isinstance(value, str) and "\n" in value:
        findings.add(path, "holds a newline, and is the text of one line")


def digest(findings: Findings, path: str, value: Any) -> None:
    """A digest as this package writes it."""
    if not isinstance(value, str) or _DIGEST.fullmatch(value) is None:
        findings.add(path, f"is {quoted(value)}, not sha256: and 64 lowercase hexadecimal digits")


def exactly(expected: str | int | bool) -> Check:
    """One value only."""
    return one_of((expected,))


def one_of(allowed: Sequence[str | int | bool]) -> Check:
    """A closed set."""
    known = {(type(one), one) for one in allowed}
    said = quoted(allowed[0]) if len(allowed) == 1 else "one that is known here"

    def check(findings: Findings, path: str, value: Any) -> None:
        if not isinstance(value, str | int | bool) or (type(value), value) not in known:
            findings.add(path, f"is {quoted(value)}, not {said}")

    return check


def nullable(inner: Check) -> Check:
    """The same, or null."""

    def check(findings: Findings, path: str, value: Any) -> None:
        if value is not None:
            inner(findings, path, value)

    return check


def list_of(inner: Check, least: int = 0) -> Check:
    """A list."""

    def check(findings: Findings, path: str, value: Any) -> None:
        if not isinstance(value, list | tuple):
            findings.add(path, f"is {quoted(value)}, not a list")
            return
        if len(value) < least:
            findings.add(path, f"has {len(value)} items; it has at least {least} where it is there at all")
        for index, item in enumerate(value):
            inner(findings, at(path, index), item)

    return check


def sorted_set(inner: Check) -> Check:
    """A list of texts in order, each once."""

    def check(findings: Findings, path: str, value: Any) -> None:
        list_of(inner)(findings, path, value)
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            if list(value) != sorted(value):
                findings.add(path, "is not sorted")
            if len(set(value)) != len(value):
                findings.add(path, "holds the same value twice")

    return check


def object_of(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these keys and no others."""
    checks = {**required, **(optional or {})}

    def check(findings: Findings, path: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            findings.add(path, f"is {quoted(value)}, not an object")
            return
        for key in required:
            if key not in value:
                findings.add(at(path, key), "is missing")
        for key, item in value.items():
            inner = checks.get(key)
            if inner is None:
                findings.add(at(path, key), "is a key that this document does not have")
            else:
                inner(findings, at(path, key), item)

    return check


def table_of(keys: Collection[str], inner: Check) -> Check:
    """An object whose keys are from a closed set."""

    def check(findings: Findings, path: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            findings.add(path, f"is {quoted(value)}, not an object")
            return
        for key, item in value.items():
            if key not in keys:
                findings.add(at(path, key), "is not one that is known here")
            inner(findings, at(path, key), item)

    return check


def evidence(kinds: Collection[str], *, blocks: bool) -> Check:
    """A line with its text, a line by reference, or several lines by reference."""
    place = {
        "category": one_of(sorted(kinds)),
        "line": integer(1),
        "sha256": digest,
        "stream": one_of(STREAM_NAMES),
    }
    line = object_of({**place, "text": line_text})
    reference = object_of({**place, "byte_count": integer()})
    block = object_of(
        {**place, "byte_count": integer(), "line_count": integer(2)},
        {"last_line": integer(1)},
    )

    def check(findings: Findings, path: str, value: Any) -> None:
        held = value if isinstance(value, Mapping) else {}
        if "text" in held:
            line(findings, path, value)
        elif blocks and ("line_count" in held or "last_line" in held):
            block(findings, path, value)
        else:
            reference(findings, path, value)

    return check


def _packet(policy: str) -> Check:
    grown = policy != V2
    kinds = KINDS[policy]

    def lines(*allowed: str, least: int = 0) -> Check:
        return list_of(evidence(allowed, blocks=grown), least)

    any_line = evidence(kinds, blocks=grown)
    shared = object_of({"identity": text, "line": integer(1)})
    failure = object_of(
        {"identity": text},
        {
            "header": any_line,
            "details": list_of(any_line),
            **({"also": list_of(shared, 1), "region": any_line, "elsewhere": any_line} if grown else {}),
        },
    )
    omitted = object_of({"count": integer(1), "first_line": integer(), "last_line": integer(), "sha256": digest})
    counts = {key: integer() for key in ("failed", "passed", "skipped", "total")}
    decision_evidence = object_of(
        {
            "counts": object_of(counts, {"todo": integer(1)} if grown else {}),
            "disposition": one_of(("NEEDS_RAW_EVIDENCE", "SUFFICIENT")),
            "failures": list_of(failure),
            "fatal_errors": lines("fatal_error"),
            "process": object_of(
                {
                    "duration_ms": nullable(duration),
                    "exit_code": nullable(integer(0, 255)),
                    "interrupted": flag,
                }
            ),
            "reason_codes": sorted_set(one_of(sorted(REASONS[policy]))),
            "source": object_of({"id": nullable(name), "run_id": nullable(name)}),
            "status": one_of(("failed", "indeterminate", "passed")),
            "timeouts": lines("timeout"),
            # A line that a contradiction turned into evidence keeps the kind that it had.
            "unclassified_evidence": list_of(any_line),
            "warnings": lines("abnormal_warning"),
        },
        {"omitted_failures": omitted, "todo": lines("todo_test", "skipped_test", least=1)} if grown else {},
    )
    receipt = object_of(
        {
            "configuration": object_of(
                {"identity": digest, "max_output_bytes": nullable(integer()), "policy_revision": exactly(policy)}
            ),
            "input_hash": digest,
            "measurements": object_of(
                {
                    "original_bytes": integer(),
                    "original_event_count": integer(),
                    "reduced_bytes": integer(),
                    "retained_evidence_count": integer(),
                    "suppressed_evidence_count": integer(),
                }
            ),
            "payload_limit": object_of(
                {"affected": flag, "honored": exactly(True), "requested_bytes": nullable(integer())}
            ),
            "raw_evidence": object_of(
                {
                    "destroyed_by_reducer": exactly(False),
                    "escalation_available": flag,
                    "escalation_required": flag,
                    "reference": nullable(name),
                    "source_evidence_disposition": one_of(("CALLER_REFERENCE_SUPPLIED", "PRESERVATION_UNCONFIRMED")),
                    "suppressed_from_model_context": flag,
                }
            ),
            "receipt_version": exactly(RECEIPT_VERSION),
            "reducer": object_of({"name": one_of(REDUCERS), "version": name}),
            "reduction_complete": flag,
            "retained": object_of(
                {"categories": sorted_set(one_of(sorted({*ALWAYS_RETAINED, *kinds}))), "event_count": integer()}
            ),
            "semantic_payload_hash": digest,
            "source": object_of(
                {
                    "id": nullable(name),
                    "protocol_version": exactly(INPUT_PROTOCOL),
                    "run_id": nullable(name),
                    "streams": list_of(object_of({"byte_count": integer(), "name": one_of(STREAM_NAMES)}), 1),
                }
            ),
            "suppressed": object_of({"categories": table_of(kinds, integer(1)), "event_count": integer()}),
            "unclassified_evidence_present": flag,
        }
    )
    return object_of(
        {
            "decision_evidence": decision_evidence,
            "operation_id": nullable(name),
            "protocol_version": exactly(PROTOCOL),
            "receipt": receipt,
        }
    )


_SHAPES = {policy: _packet(policy) for policy in POLICIES}


def check_shape(findings: Findings, packet: Any) -> bool:
    """Check the shape under the policy that the packet names; whether it holds, so that values can be compared."""
    before = len(findings)
    policy = _policy_of(packet)
    if policy is None:
        _SHAPES[V3](findings, "", packet)
        return False
    _SHAPES[policy](findings, "", packet)
    return len(findings) == before


def _policy_of(packet: Any) -> str | None:
    value = packet
    for key in ("receipt", "configuration", "policy_revision"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) and value in POLICIES else None
