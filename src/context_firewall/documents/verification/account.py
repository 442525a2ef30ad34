"""The packet by itself: what each value must be because of the others.

Everything here takes a packet whose shape holds. The rules are numbered in SPEC.md, section "Verification".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from context_firewall.canonical import canonical_sha256, sha256
from context_firewall.documents.evidence_packet import DecisionEvidence, EvidencePacket
from context_firewall.documents.test_run_input import STREAM_NAMES
from context_firewall.documents.verification.findings import Findings, at, quoted
from context_firewall.documents.verification.shape import ALWAYS_RETAINED, LIMIT_REASONS, POLICIES, V2
from context_firewall.version import __version__

NOT_ABOUT_THE_OUTCOME = frozenset(
    {"RAW_EVIDENCE_REFERENCE_MISSING", "COUNTS_UNCONFIRMED", *LIMIT_REASONS["test-output-policy/v3"]}
)
"""Reasons not to rely on a packet that leave no doubt about how the run ended."""

LINE_LISTS = ("fatal_errors", "timeouts", "unclassified_evidence", "warnings", "todo")
REMARKS = ("unclassified_evidence", "warnings")
STOPS = ("fatal_errors", "timeouts")
REGION = ("region", "elsewhere")

_OF_THE_IDENTITY = "is not what receipt.configuration.identity is the digest of:"


@dataclass(frozen=True, slots=True)
class Listed:
    """One piece of evidence: where the packet has it, and what it says."""

    path: str
    place: str
    """`header`, `details`, `region`, `elsewhere`, or the name of its list."""
    evidence: Mapping[str, Any]

    @property
    def has_text(self) -> bool:
        return "text" in self.evidence

    @property
    def category(self) -> str:
        return str(self.evidence["category"])

    @property
    def stream(self) -> str:
        return str(self.evidence["stream"])

    @property
    def first(self) -> int:
        return int(self.evidence["line"])

    @property
    def line_count(self) -> int:
        return int(self.evidence.get("line_count", 1))

    @property
    def scattered(self) -> bool:
        """Whether other lines may stand between the first and the last."""
        return "last_line" in self.evidence

    @property
    def last(self) -> int:
        return int(self.evidence.get("last_line", self.first + self.line_count - 1))


def listed(evidence: Mapping[str, Any]) -> Iterator[Listed]:
    """Every piece of evidence of a packet."""
    root = "decision_evidence"
    for index, failure in enumerate(evidence["failures"]):
        path = at(at(root, "failures"), index)
        for key in ("header", *REGION):
            if key in failure:
                yield Listed(at(path, key), key, failure[key])
        details: Sequence[Mapping[str, Any]] = failure.get("details", ())
        for number, line in enumerate(details):
            yield Listed(at(at(path, "details"), number), "details", line)
    lists: Mapping[str, Any] = evidence
    for key in LINE_LISTS:
        for number, line in enumerate(lists.get(key, ())):
            yield Listed(at(at(root, key), number), key, line)


def check_account(findings: Findings, packet: EvidencePacket, length: int) -> None:
    """Everything but the digests over parts that can be said of a packet without the run.

    `length` is that of its canonical bytes with their newline.
    """
    lines = tuple(listed(packet["decision_evidence"]))
    _check_lengths(findings, packet, length)
    _check_lines(findings, packet, lines)
    _check_counts(findings, packet)
    _check_bookkeeping(findings, packet, lines)
    _check_forms(findings, packet, lines)
    _check_flags(findings, packet)
    _check_verdict(findings, packet)


def check_digests(findings: Findings, packet: Any, configurations: Sequence[Mapping[str, Any]]) -> None:
    """The digests over the decision evidence and the configuration, as far as a packet of any shape has them."""
    receipt = _held(packet, "receipt")
    configuration, reducer = _held(receipt, "configuration"), _held(receipt, "reducer")
    with suppress(ValueError, TypeError):
        if "decision_evidence" in packet and "semantic_payload_hash" in receipt:
            recorded, computed = receipt["semantic_payload_hash"], canonical_sha256(packet["decision_evidence"])
            why = "is the digest of decision_evidence"
            findings.expect("receipt.semantic_payload_hash", recorded, computed, why)
    with suppress(ValueError, TypeError, KeyError):
        always = {
            "max_output_bytes": configuration["max_output_bytes"],
            "policy_revision": configuration["policy_revision"],
            "reducer_version": reducer["version"],
        }

        def holds(**changed: str) -> bool:
            identities = (canonical_sha256({**always, **more, **changed}) for more in configurations)
            return configuration["identity"] in identities

        if holds():
            return
        # One of the two may be what is wrong: then the identity is that of what it should be.
        if holds(reducer_version=__version__):
            findings.add("receipt.reducer.version", f"{_OF_THE_IDENTITY} {__version__}")
        for policy in POLICIES:
            if holds(policy_revision=policy):
                findings.add("receipt.configuration.policy_revision", f"{_OF_THE_IDENTITY} {policy}")
        findings.add(
            "receipt.configuration.identity",
            "is not the digest of max_output_bytes, policy_revision and reducer.version, alone or with a dialect "
            "or the noise that was declared here",
        )


def _held(holder: Any, key: str) -> Mapping[str, Any]:
    value = holder.get(key) if isinstance(holder, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _check_lengths(findings: Findings, packet: EvidencePacket, length: int) -> None:
    receipt = packet["receipt"]
    ceiling = receipt["configuration"]["max_output_bytes"]
    findings.expect(
        "receipt.payload_limit.requested_bytes",
        receipt["payload_limit"]["requested_bytes"],
        ceiling,
        "is receipt.configuration.max_output_bytes",
    )
    reduced = receipt["measurements"]["reduced_bytes"]
    findings.expect("receipt.measurements.reduced_bytes", reduced, length, "is the length of this packet")
    if ceiling is not None and length > ceiling:
        findings.add("receipt.configuration.max_output_bytes", f"is {ceiling}; this packet has {length} bytes")


# -- lines ------------------------------------------------------------------------------------------------------------


def _check_lines(findings: Findings, packet: EvidencePacket, lines: Sequence[Listed]) -> None:
    """Places: in a stream that was read, within the run, each line once."""
    receipt = packet["receipt"]
    names = [stream["name"] for stream in receipt["source"]["streams"]]
    if names != [name for name in STREAM_NAMES if name in names]:
        findings.add("receipt.source.streams", "must have each stream once, standard output first")
    total = receipt["measurements"]["original_event_count"]
    for line in lines:
        if line.has_text:
            computed = sha256(str(line.evidence["text"]).encode())
            findings.expect(at(line.path, "sha256"), line.evidence["sha256"], computed, "is the digest of its text")
        if line.stream not in names:
            findings.add(at(line.path, "stream"), f"is {line.stream}, which was not read")
        shortest = line.first + line.line_count - 1
        if line.scattered and line.last <= shortest:
            findings.add(at(line.path, "last_line"), f"is {line.last}; {line.line_count} scattered lines end later")
        elif line.last > total:
            findings.add(at(line.path, "last_line" if line.scattered else "line"), _beyond(line.last, total))
        fewest = line.line_count - 1
        if "byte_count" in line.evidence and line.evidence["byte_count"] < fewest:
            findings.add(at(line.path, "byte_count"), f"has no room for the {fewest} newlines between its lines")
    reached: dict[tuple[str, str], int] = {}
    for line in lines:
        if line.place in REGION:
            continue  # what a test printed may stand far before its header
        inside = "header" if line.place == "header" else line.path.rpartition(".")[0]
        key = (inside, line.stream)
        if line.first < reached.get(key, 0):
            findings.add(at(line.path, "line"), "comes before the line that stands before it here")
        reached[key] = max(reached.get(key, 0), line.first)
    for earlier, later in overlaps(lines):
        findings.add(at(later.path, "line"), f"is a line that {earlier.path} has already")
    _check_shared(findings, packet, lines, names, total)
    omitted = packet["decision_evidence"].get("omitted_failures")
    if omitted is not None:
        path = "decision_evidence.omitted_failures"
        if omitted["last_line"] < omitted["first_line"]:
            findings.add(at(path, "last_line"), "comes before first_line")
        if omitted["last_line"] > total:
            findings.add(at(path, "last_line"), _beyond(omitted["last_line"], total))


def _beyond(line: int, total: int) -> str:
    return f"reaches to line {line}; the whole run has {total} lines"


def taken(lines: Iterable[Listed]) -> list[tuple[str, int, int, Listed]]:
    """The ranges of lines that are known to be spoken for, in order; of scattered lines only both ends are."""
    ranges: list[tuple[str, int, int, Listed]] = []
    for line in lines:
        if line.scattered:
            ranges += [(line.stream, line.first, line.first, line), (line.stream, line.last, line.last, line)]
        else:
            ranges.append((line.stream, line.first, line.last, line))
    return sorted(ranges, key=lambda one: one[:3])


def overlaps(lines: Iterable[Listed]) -> Iterator[tuple[Listed, Listed]]:
    """Pairs of pieces that claim the same line."""
    previous: tuple[str, int, int, Listed] | None = None
    for one in taken(lines):
        if previous is not None and previous[0] == one[0] and one[1] <= previous[2]:
            yield previous[3], one[3]
            if one[2] <= previous[2]:
                continue
        previous = one


def _check_shared(
    findings: Findings, packet: EvidencePacket, lines: Sequence[Listed], names: Sequence[str], total: int
) -> None:
    """Failures that share a region: each names a header line of its own."""
    claimed: set[int] = set()
    ranges = taken(lines) if any("also" in failure for failure in packet["decision_evidence"]["failures"]) else []
    for index, failure in enumerate(packet["decision_evidence"]["failures"]):
        for number, shared in enumerate(failure.get("also", ())):
            path = f"decision_evidence.failures.{index}.also.{number}.line"
            line = shared["line"]
            if line > total:
                findings.add(path, _beyond(line, total))
            # The entry does not name the stream, so only where there is one stream can its line clash with another.
            if len(names) == 1 and (line in claimed or any(first <= line <= last for _, first, last, _ in ranges)):
                findings.add(path, f"is {line}, a line that something else has already")
            claimed.add(line)


# -- counts -----------------------------------------------------------------------------------------------------------


def failures_accounted(evidence: DecisionEvidence) -> int:
    """How many failures the packet speaks of: named, sharing another's region, or omitted by count."""
    named = sum(1 + len(failure.get("also", ())) for failure in evidence["failures"])
    omitted = evidence.get("omitted_failures")
    return named + (0 if omitted is None else omitted["count"])


def _check_counts(findings: Findings, packet: EvidencePacket) -> None:
    evidence = packet["decision_evidence"]
    counts, reasons = evidence["counts"], set(evidence["reason_codes"])
    path = "decision_evidence.counts"
    accounted = failures_accounted(evidence)
    if "AGGREGATE_CONTRADICTION" not in reasons:
        parts = counts["failed"] + counts["passed"] + counts["skipped"] + counts.get("todo", 0)
        findings.expect(at(path, "total"), counts["total"], parts, "is the sum of the other counts")
        if packet["receipt"]["configuration"]["policy_revision"] == V2:
            findings.expect(at(path, "failed"), counts["failed"], accounted, "failures are accounted for")
    if counts["failed"] and not accounted and not reasons - NOT_ABOUT_THE_OUTCOME:
        findings.add(at(path, "failed"), f"is {counts['failed']}, no failure is accounted for, and no reason says why")


def _check_bookkeeping(findings: Findings, packet: EvidencePacket, lines: Sequence[Listed]) -> None:
    """Every source line is shown or suppressed, and the numbers say so everywhere alike."""
    receipt = packet["receipt"]
    measured, retained, suppressed = receipt["measurements"], receipt["retained"], receipt["suppressed"]
    shown = Counter(line.category for line in lines if line.has_text)
    for field, number in (
        ("receipt.measurements.retained_evidence_count", measured["retained_evidence_count"]),
        ("receipt.retained.event_count", retained["event_count"]),
    ):
        findings.expect(field, number, shown.total(), "lines are shown with their text")
    findings.expect(
        "receipt.retained.categories",
        list(retained["categories"]),
        sorted({*ALWAYS_RETAINED, *shown}),
        "are the kinds of evidence that are here",
    )
    if sum(suppressed["categories"].values()) > suppressed["event_count"] and not suppressed["event_count"]:
        findings.add("receipt.suppressed.event_count", "is 0, and categories are counted")
    findings.agree(
        "the number of suppressed lines",
        (
            ("receipt.suppressed.event_count", suppressed["event_count"]),
            ("receipt.suppressed.categories", sum(suppressed["categories"].values())),
            ("receipt.measurements.suppressed_evidence_count", measured["suppressed_evidence_count"]),
            ("receipt.measurements.original_event_count", measured["original_event_count"] - shown.total()),
        ),
    )
    findings.agree(
        "the number of bytes that were read",
        (
            ("receipt.measurements.original_bytes", measured["original_bytes"]),
            ("receipt.source.streams", sum(stream["byte_count"] for stream in receipt["source"]["streams"])),
        ),
    )
    hidden: Counter[str] = Counter()
    for line in lines:
        if not line.has_text and line.place not in REGION:  # a region's lines are of several kinds
            hidden[line.category] += line.line_count
    for category, number in hidden.items():
        counted = suppressed["categories"].get(category, 0)
        if counted < number:
            field = f"receipt.suppressed.categories.{category}"
            findings.add(field, f"is {counted}; {number} lines of that kind are here by reference only")
    events = measured["original_event_count"]
    if events > measured["original_bytes"]:
        findings.add("receipt.measurements.original_event_count", "is more lines than there were bytes")


# -- what a ceiling costs ---------------------------------------------------------------------------------------------


def _check_forms(findings: Findings, packet: EvidencePacket, lines: Sequence[Listed]) -> None:
    """The reason that a ceiling adds says in what form evidence is here, and nothing else changes the form."""
    evidence, limit = packet["decision_evidence"], packet["receipt"]["payload_limit"]
    policy = packet["receipt"]["configuration"]["policy_revision"]
    costs = [reason for reason in evidence["reason_codes"] if reason in LIMIT_REASONS[policy]]
    findings.expect("receipt.payload_limit.affected", limit["affected"], bool(costs), "by the reason codes")
    if len(costs) > 1:
        findings.add("decision_evidence.reason_codes", f"has {len(costs)} reasons about the ceiling; a packet has one")
        return
    if costs and limit["requested_bytes"] is None:
        findings.add("decision_evidence.reason_codes", f"has {costs[0]}, and there is no ceiling")
    cost = costs[0] if costs else None
    in_text = _places_in_text(cost)
    for line in lines:
        if line.place in REGION:
            if cost != "PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED" or line.has_text:
                findings.add(line.path, "is a reference that only PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED explains")
        elif line.place == "todo" and cost == "PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT":
            continue  # with its text or without: it gives way after the other remarks
        elif line.place == "unclassified_evidence" and _edged(evidence, policy, cost):
            continue  # of a run without a test the first and the last lines keep their text
        elif line.has_text is not (line.place in in_text):
            form = "with its text" if line.has_text else "without its text"
            findings.add(line.path, f"is here {form}, against what the reason codes say of the ceiling")
        elif line.place in ("header", "details", *STOPS) and policy == V2 and not line.has_text:
            findings.add(line.path, "is here without its text")
    todo = {line.has_text for line in lines if line.place == "todo"}
    if len(todo) > 1:
        findings.add("decision_evidence.todo", "is here partly with its text and partly without")
    for index, failure in enumerate(evidence["failures"]):
        _check_failure(findings, f"decision_evidence.failures.{index}", failure, "header" in in_text, cost)
    omits = "omitted_failures" in evidence
    if omits is not (cost == "PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED"):
        reason = "PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED"
        problem = f"is there without {reason}" if omits else f"is missing, and the reason codes have {reason}"
        findings.add("decision_evidence.omitted_failures", problem)


def _edged(evidence: DecisionEvidence, policy: str, cost: str | None) -> bool:
    """Whether unclassified lines may be here partly with their text: at the head and at the tail, where no test was."""
    if policy == V2 or cost != "PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT" or evidence["counts"]["total"]:
        return False
    shown = ["text" in line for line in evidence["unclassified_evidence"]]
    hidden = shown.count(False)
    first = shown.index(False) if hidden else 0
    return hidden > 0 and not any(shown[first : first + hidden])


def _places_in_text(cost: str | None) -> frozenset[str]:
    failures = {"header", "details"}
    match cost:
        case None:
            return frozenset({*failures, *LINE_LISTS})
        case "PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT" | "PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED":
            return frozenset({*failures, *STOPS})
        case _:
            return frozenset()


def _check_failure(findings: Findings, path: str, failure: Mapping[str, Any], in_text: bool, cost: str | None) -> None:
    whole = "header" in failure or "details" in failure
    if whole and "details" not in failure:
        findings.add(at(path, "details"), "is missing beside a header")
    if whole and "region" in failure:
        findings.add(at(path, "region"), "stands beside the lines that it refers to")
    if (
        "elsewhere" in failure
        and failure["elsewhere"]["stream"] == failure.get("region", failure["elsewhere"])["stream"]
    ):
        findings.add(at(path, "elsewhere"), "must be of another stream than the failure's region")
    if whole and not in_text:
        findings.add(at(path, "details"), "is here, and the reason codes say that no text is")
    if not whole and in_text and cost != "PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED":
        findings.add(at(path, "details"), "is missing, and no reason says why")
    if "also" in failure and not failure.get("details"):
        findings.add(at(path, "also"), "shares a region that is not shown")


# -- flags and verdict ------------------------------------------------------------------------------------------------


def _check_flags(findings: Findings, packet: EvidencePacket) -> None:
    evidence, receipt = packet["decision_evidence"], packet["receipt"]
    raw = receipt["raw_evidence"]
    located = raw["reference"] is not None
    sufficient = not evidence["reason_codes"]
    suppressed = receipt["suppressed"]["event_count"] > 0
    rows: tuple[tuple[str, object, object, str], ...] = (
        (
            "decision_evidence.disposition",
            evidence["disposition"],
            "SUFFICIENT" if sufficient else "NEEDS_RAW_EVIDENCE",
            "by the reason codes",
        ),
        ("receipt.reduction_complete", receipt["reduction_complete"], sufficient, "by the reason codes"),
        ("receipt.raw_evidence.escalation_required", raw["escalation_required"], not sufficient, "by the reason codes"),
        ("receipt.raw_evidence.escalation_available", raw["escalation_available"], located, "by reference"),
        (
            "receipt.raw_evidence.source_evidence_disposition",
            raw["source_evidence_disposition"],
            "CALLER_REFERENCE_SUPPLIED" if located else "PRESERVATION_UNCONFIRMED",
            "by reference",
        ),
        (
            "receipt.raw_evidence.suppressed_from_model_context",
            raw["suppressed_from_model_context"],
            suppressed,
            "by receipt.suppressed.event_count",
        ),
        (
            "receipt.unclassified_evidence_present",
            receipt["unclassified_evidence_present"],
            bool(evidence["unclassified_evidence"]),
            "by decision_evidence.unclassified_evidence",
        ),
        ("receipt.source.id", receipt["source"]["id"], evidence["source"]["id"], "is decision_evidence.source.id"),
        (
            "receipt.source.run_id",
            receipt["source"]["run_id"],
            evidence["source"]["run_id"],
            "is decision_evidence.source.run_id",
        ),
    )
    for field, actual, expected, why in rows:
        findings.expect(field, actual, expected, why)


def _check_verdict(findings: Findings, packet: EvidencePacket) -> None:
    """Status and reasons against the facts that the packet states."""
    evidence, receipt = packet["decision_evidence"], packet["receipt"]
    counts, code = evidence["counts"], evidence["process"]["exit_code"]
    v2 = receipt["configuration"]["policy_revision"] == V2
    reasons = set(evidence["reason_codes"])
    failing = bool(failures_accounted(evidence) or counts["failed"])
    # Under its last rung v2 shows no stops; they are then counted as suppressed, as they are nowhere else.
    hidden = receipt["suppressed"]["categories"]
    stopped = bool(evidence["fatal_errors"] or evidence["timeouts"] or "fatal_error" in hidden or "timeout" in hidden)
    recognised = failing or stopped
    bad_exit = code is not None and code != 0
    follows = {
        "EXIT_STATUS_MISSING": code is None,
        "INTERRUPTED_OUTPUT": evidence["process"]["interrupted"],
        "NONZERO_EXIT_WITHOUT_RECOGNIZED_FAILURE": bad_exit and not recognised,
        "OPERATION_ID_MISSING": packet["operation_id"] is None,
        "RAW_EVIDENCE_REFERENCE_MISSING": receipt["raw_evidence"]["reference"] is None,
        "SOURCE_IDENTITY_MISSING": evidence["source"]["id"] is None,
    }
    if not v2:
        follows["ZERO_EXIT_WITH_FAILURES"] = code == 0 and recognised
    field = "decision_evidence.reason_codes"
    if "TIMEOUT" in reasons and not evidence["process"]["interrupted"]:
        findings.add(field, "has TIMEOUT, and the run was not interrupted")
    for reason, holds in follows.items():
        if (reason in reasons) is not holds:
            findings.add(field, f"has {reason} against the facts" if reason in reasons else f"lacks {reason}")
    unknown = [line for line in evidence["unclassified_evidence"] if line["category"] != "program_output"]
    if unknown and "UNCLASSIFIED_EVIDENCE" not in reasons:
        findings.add(field, "lacks UNCLASSIFIED_EVIDENCE")
    named = failures_accounted(evidence) + hidden.get("derived_failure", 0)
    if not v2 and counts["failed"] > named and "FAILURES_UNNAMED" not in reasons:
        findings.add(field, "lacks FAILURES_UNNAMED")
    if v2 and not evidence["unclassified_evidence"] and "UNCLASSIFIED_EVIDENCE" in reasons:
        findings.add(field, "has UNCLASSIFIED_EVIDENCE against the facts")
    failed = recognised or bad_exit
    if not v2 and code == 0:
        failed = failing  # a marker that a successful process survived is no failure by itself
    status = "failed" if failed else "indeterminate" if reasons - NOT_ABOUT_THE_OUTCOME else "passed"
    # Whether failing results stand in a stretch that closes is not in the packet; exit code 0 denies those that do not.
    undecided = not v2 and code == 0 and failing and evidence["status"] == "indeterminate"
    if evidence["status"] != status and not undecided:
        why = "by exit code, counts, evidence and reason codes"
        findings.add("decision_evidence.status", f"is {quoted(evidence['status'])}; {quoted(status)} {why}")
