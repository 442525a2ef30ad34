"""`opsle.value-receipt.v1`: what a reduction saved, measured and not estimated; and the one-line indicator.

The document's shape, its enumerations and its sentences are fixed: consumers refuse unknown fields and compare the
rest. It says nothing about tokens, money, time or correctness.
"""

from dataclasses import dataclass
from typing import TypedDict

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.test_run_input import identity
from context_firewall.version import MECHANISM_ID, MECHANISM_NAME

SCHEMA = "opsle.value-receipt.v1"


@dataclass(frozen=True, slots=True)
class Emitted:
    """What was shown to the model instead of the packet: a projection's name and its very bytes."""

    name: str
    """`brief` or `model evidence`."""
    data: bytes
    ceiling: int | None = None
    """The ceiling in bytes that it was made under."""

    @property
    def reference(self) -> str:
        """The id by which measurements refer to it."""
        return "emitted_" + self.name.replace(" ", "_")

    @property
    def asks_for_more(self) -> bool:
        """Whether it says itself that it does not suffice: a ceiling of its own may have cost a brief something."""
        return self.name == "brief" and self.data.partition(b"\n")[0].endswith(b"evidence NOT SUFFICIENT, see reasons")


OPERATION_NAME = "test-output-reduction"


class Aggregation(TypedDict):
    """Whether results of several receipts may be added up."""

    method: str | None
    safe: bool


Measurement = TypedDict(
    "Measurement",
    {
        "aggregation": Aggregation,
        "baseline": int | None,
        "class": str,
        "delta": int | None,
        "derivation": None,
        "direction": str,
        "evidence_refs": list[str],
        "id": str,
        "limitations": list[str],
        "operator_display": bool,
        "result": int | str | bool | None,
        "source_verification": str,
        "unit": str,
    },
)


class EvidencePointer(TypedDict):
    """What a measurement rests on, and how far it is to be trusted."""

    id: str
    kind: str
    locator: str
    trust: str


class Mechanism(TypedDict):
    """What made the saving. `revision` is the caller's word."""

    id: str
    name: str
    revision: str | None
    version: str


class Operation(TypedDict):
    """What was done, under which configuration and policy."""

    configuration_id: str
    id: str | None
    name: str
    policy_id: str


class Run(TypedDict):
    """Which run it was done to."""

    id: str | None


class ValueReceipt(TypedDict):
    """The whole document."""

    evidence: list[EvidencePointer]
    limitations: list[str]
    measurements: list[Measurement]
    mechanism: Mechanism
    operation: Operation
    run: Run
    schema: str


def value_receipt_for_packet(
    packet: EvidencePacket, *, mechanism_revision: str | None = None, emitted: Emitted | None = None
) -> ValueReceipt:
    """Derive the value receipt of a packet, or of what was emitted in its place.

    `mechanism_revision` is recorded as given (None: not supplied). With `emitted`, visible bytes and ceiling are those
    of the projection that was really shown.

    Raises InvalidInput when the revision is not text.
    """
    revision = identity(mechanism_revision, "mechanism_revision")
    receipt = packet["receipt"]
    configuration = receipt["configuration"]
    reference = receipt["raw_evidence"]["reference"]
    return {
        "evidence": _evidence(packet, emitted),
        "limitations": [
            "No token, cost, latency, correctness, or causal savings claim is made.",
            "Evidence-event counts cover source transcript events, not derived packet fields.",
            "Mechanism source revision was not supplied and is recorded as null."
            if revision is None
            else "Mechanism source revision is caller supplied and is not verified.",
            "No raw evidence locator was supplied."
            if reference is None
            else "The raw evidence locator is caller supplied; "
            "external existence, immutability, and contents are not verified.",
        ],
        "measurements": _measurements(packet, emitted),
        "mechanism": {
            "id": MECHANISM_ID,
            "name": MECHANISM_NAME,
            "revision": revision,
            "version": receipt["reducer"]["version"],
        },
        "operation": {
            "configuration_id": configuration["identity"],
            "id": packet["operation_id"],
            "name": OPERATION_NAME,
            "policy_id": configuration["policy_revision"],
        },
        "run": {"id": receipt["source"]["run_id"]},
        "schema": SCHEMA,
    }


def serialize_value_receipt(receipt: ValueReceipt) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(receipt) + b"\n"


def format_indicator(packet: EvidencePacket, *, emitted: Emitted | None = None) -> str:
    """One line for the operator, without newline: bytes before and after, the difference, and whether to escalate.

    `emitted` is what was shown instead of the packet, if it was not the packet.
    """
    before, after = packet["receipt"]["measurements"]["original_bytes"], _visible(packet, emitted)
    avoided = before - after
    if avoided < 0:
        change = f"{-avoided:,} B expansion"
    else:
        # Hundredths of a percent in integers, so that no binary fraction decides a tie; ties go up.
        share = (20_000 * avoided + before) // (2 * before) if before else 0
        change = f"{avoided:,} B initially avoided ({share // 100}.{share % 100:02d}%)"
    escalation = "yes" if _escalates(packet, emitted) else "no"
    return f"[{MECHANISM_NAME}] {before:,} B -> {after:,} B | {change} | escalation: {escalation}"


def _escalates(packet: EvidencePacket, emitted: Emitted | None) -> bool:
    """Whether what was shown does not suffice."""
    return packet["receipt"]["raw_evidence"]["escalation_required"] or (emitted is not None and emitted.asks_for_more)


def _visible(packet: EvidencePacket, emitted: Emitted | None) -> int:
    """How many bytes were shown."""
    return packet["receipt"]["measurements"]["reduced_bytes"] if emitted is None else len(emitted.data)


def _evidence(packet: EvidencePacket, emitted: Emitted | None) -> list[EvidencePointer]:
    receipt = packet["receipt"]
    found: list[EvidencePointer] = [
        {"id": "canonical_packet", "kind": "JSON_POINTER", "locator": "/", "trust": "VERIFIED"}
    ]
    if emitted is not None:
        found.append(
            {"id": emitted.reference, "kind": "CONTENT_HASH", "locator": sha256(emitted.data), "trust": "VERIFIED"}
        )
    for name, digest in (
        ("configuration", receipt["configuration"]["identity"]),
        ("input_bytes", receipt["input_hash"]),
        ("semantic_payload", receipt["semantic_payload_hash"]),
    ):
        found.append({"id": name, "kind": "CONTENT_HASH", "locator": digest, "trust": "VERIFIED"})
    reference = receipt["raw_evidence"]["reference"]
    if reference is not None:
        found.append({"id": "raw_locator", "kind": "RUN_ARTIFACT", "locator": reference, "trust": "CALLER_SUPPLIED"})
    return found


def _measurements(packet: EvidencePacket, emitted: Emitted | None) -> list[Measurement]:
    receipt = packet["receipt"]
    counted = receipt["measurements"]
    raw, visible = counted["original_bytes"], _visible(packet, emitted)
    both = ["canonical_packet" if emitted is None else emitted.reference, "input_bytes"]
    shown = "canonical evidence packet" if emitted is None else emitted.name
    ceiling = receipt["payload_limit"]["requested_bytes"] if emitted is None else emitted.ceiling
    located = receipt["raw_evidence"]["reference"] is not None
    return [
        _measurement("raw_bytes", raw, unit="byte", refs=["input_bytes"]),
        _measurement(
            "initial_model_visible_bytes",
            visible,
            unit="byte",
            refs=both,
            direction="LOWER_IS_VALUE",
            baseline=raw,
            delta=visible - raw,
            display=True,
            limits=[f"Result is the {shown} written to model-visible stdout."],
        ),
        _measurement(
            "bytes_initially_avoided",
            raw,
            unit="byte",
            refs=both,
            direction="HIGHER_IS_VALUE",
            baseline=visible,
            delta=raw - visible,
            display=True,
            limits=[
                "Signed delta is raw bytes minus initially model-visible bytes; a negative delta indicates expansion."
            ],
        ),
        _measurement(
            "initial_reduction_ratio",
            _ratio(raw - visible, raw),
            unit="ratio",
            refs=both,
            direction="HIGHER_IS_VALUE",
            summable=False,
            display=True,
            limits=[
                "Computed as (raw bytes - initially model-visible bytes) / raw bytes.",
                "Negative values indicate canonical packet expansion.",
                "Ratios are not directly summable; cumulative ratios must be recomputed from byte totals.",
            ],
        ),
        _measurement("original_evidence_events", counted["original_event_count"]),
        _measurement("retained_evidence_events", counted["retained_evidence_count"]),
        _measurement("suppressed_evidence_events", counted["suppressed_evidence_count"]),
        _measurement(
            "ambiguous_evidence_events",
            _ambiguous(packet),
            direction="PROTECTION_SIGNAL",
            limits=["Counts unclassified source events, including synthetic markers for malformed UTF-8."],
        ),
        _measurement(
            "payload_ceiling_bytes",
            ceiling,
            unit="byte",
            refs=["configuration"],
            direction="NOT_APPLICABLE",
            summable=False,
            limits=["No payload ceiling was configured."] if ceiling is None else [],
        ),
        _measurement(
            "escalation_required",
            _escalates(packet, emitted),
            unit="boolean",
            refs=["canonical_packet"] if emitted is None else ["canonical_packet", emitted.reference],
            direction="PROTECTION_SIGNAL",
            summable=False,
            display=True,
            verification="OBSERVED",
        ),
        _measurement(
            "raw_locator_available",
            located,
            unit="boolean",
            refs=["raw_locator" if located else "canonical_packet"],
            direction="PROTECTION_SIGNAL",
            summable=False,
            verification="CALLER_SUPPLIED" if located else "OBSERVED",
            limits=[
                "Availability means a caller supplied a locator; the external artifact is not verified by the reducer."
            ],
        ),
    ]


def _measurement(
    name: str,
    result: int | str | bool | None,
    *,
    unit: str = "event",
    refs: list[str] | None = None,
    direction: str = "NEUTRAL",
    baseline: int | None = None,
    delta: int | None = None,
    summable: bool = True,
    display: bool = False,
    verification: str = "VERIFIED",
    limits: list[str] | None = None,
) -> Measurement:
    return {
        "aggregation": {"method": "SUM" if summable else None, "safe": summable},
        "baseline": baseline,
        "class": "EXACT" if verification == "VERIFIED" else "OBSERVED",
        "delta": delta,
        "derivation": None,
        "direction": direction,
        "evidence_refs": ["semantic_payload"] if refs is None else refs,
        "id": name,
        "limitations": limits or [],
        "operator_display": display,
        "result": result,
        "source_verification": verification,
        "unit": unit,
    }


def _ratio(part: int, whole: int) -> str | None:
    """The share as it was counted, not in lowest terms; None when nothing was read."""
    return f"{part}/{whole}" if whole else None


def _ambiguous(packet: EvidencePacket) -> int:
    """Source lines that no rule knew: shown with their text, or suppressed (references included)."""
    shown = sum(1 for line in packet["decision_evidence"]["unclassified_evidence"] if "text" in line)
    suppressed = packet["receipt"]["suppressed"]["categories"]
    return shown + sum(count for kind, count in suppressed.items() if kind.startswith("unclassified"))
