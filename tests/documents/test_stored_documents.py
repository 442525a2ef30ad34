"""Manifest, run record, difference and statistics: shape, digests, and what they may not claim."""

import json
from typing import Any

import pytest
from stored import AT, GREEN, RED, made, tap

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.documents.evidence_manifest import (
    evidence_manifest,
    evidence_reference,
    parse_evidence_manifest,
    referenced_hex,
    serialize_evidence_manifest,
)
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.run_difference import RunDifference, run_difference
from context_firewall.documents.run_record import (
    RunRecord,
    parse_run_record,
    run_record,
    serialize_run_record,
)
from context_firewall.documents.statistics_chart import DAYS_AT_MOST, chart_svg
from context_firewall.documents.store_statistics import MeasuredRun, measured, share, store_statistics
from context_firewall.documents.verification import Finding, verify_evidence_manifest, verify_run_record
from context_firewall.errors import InvalidInput


def record_of(stdout: bytes = RED, at: str = AT, **said: Any) -> tuple[RunRecord, EvidencePacket]:
    """A run's record and packet."""
    run = made(stdout, **said)
    return run_record(*run, recorded_at=at), run.packet


# -- manifest ---------------------------------------------------------------------------------------------------------


def test_a_manifests_digest_is_the_raw_reference() -> None:
    """MAN-1."""
    manifest = made().manifest
    data = serialize_evidence_manifest(manifest)
    assert parse_evidence_manifest(data) == manifest
    assert evidence_reference(manifest) == "evidence://sha256/" + sha256(data).removeprefix("sha256:")
    assert referenced_hex(evidence_reference(manifest), "x") == sha256(data)[7:]


def changed(document: Any, path: str, value: Any) -> bytes:
    """The canonical bytes of a document with one value replaced, or removed where the value is `...`."""
    copy = json.loads(canonical_bytes(document))
    *above, last = path.split(".")
    place = copy
    for key in above:
        place = place[int(key) if key.isdecimal() else key]
    at = int(last) if last.isdecimal() else last
    if value is ...:
        del place[at]
    else:
        place[at] = value
    return canonical_bytes(copy) + b"\n"


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ("protocol_version", "context-firewall.evidence-manifest/v2", "protocol_version"),
        ("protocol_version", ..., "protocol_version"),
        ("extra", 1, "extra"),
        ("command", [], "command"),
        ("command", "sh", "command"),
        ("command.0", 1, "command.0"),
        ("process.exit_code", 256, "process.exit_code"),
        ("process.signal", 0, "process.signal"),
        ("process.signal", 128, "process.signal"),
        ("process.timed_out", 1, "process.timed_out"),
        ("process.duration_ms", -1, "process.duration_ms"),
        ("process.user", "me", "process.user"),
        ("streams", [], "streams"),
        ("streams.0.name", "stdin", "streams.0.name"),
        ("streams.0.name", "stderr", "streams"),
        ("streams.0.sha256", "sha256:" + "A" * 64, "streams.0.sha256"),
        ("streams.0.byte_count", -1, "streams.0.byte_count"),
        ("streams.0.byte_count", 1.5, "streams.0.byte_count"),
        ("streams.0.complete", None, "streams.0.complete"),
    ],
)
def test_a_manifest_of_another_shape_is_refused(path: str, value: Any, key: str) -> None:
    """MAN-2."""
    with pytest.raises(InvalidInput) as caught:
        parse_evidence_manifest(changed(made().manifest, path, value))
    assert caught.value.details["key"] == key


def test_only_canonical_bytes_are_a_document() -> None:
    """MAN-2."""
    data = serialize_evidence_manifest(made().manifest)
    for other in (data[:-1], data + b"\n", b" " + data, data.replace(b":12,", b":12.0,"), b"\xff", b"", b"[]\n"):
        with pytest.raises(InvalidInput):
            parse_evidence_manifest(other)


def test_streams_are_ordered_and_text_must_be_text() -> None:
    out, err = made().manifest["streams"]
    assert evidence_manifest([err, out])["streams"] == [out, err]
    for wrong in ([out, out], []):
        with pytest.raises(InvalidInput):
            evidence_manifest(wrong)
    with pytest.raises(InvalidInput, match="lone surrogate"):
        evidence_manifest([out], command=["\udcff"])


# -- run record -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ("recorded_at", "2026-11-30", "recorded_at"),
        ("evidence", "evidence://sha256/1234", "evidence"),
        ("documents.packet", ..., "documents.packet"),
        ("documents.poem", {}, "documents.poem"),
        ("documents.brief.sha256", "", "documents.brief.sha256"),
        ("verdict.status", "green", "verdict.status"),
        ("verdict.disposition", "MAYBE", "verdict.disposition"),
        ("verdict.counts.failed", True, "verdict.counts.failed"),
        ("verdict.counts.flaky", 1, "verdict.counts.flaky"),
    ],
)
def test_a_record_of_another_shape_is_refused(path: str, value: Any, key: str) -> None:
    """REC-1."""
    record, _ = record_of()
    assert parse_run_record(serialize_run_record(record)) == record
    with pytest.raises(InvalidInput) as caught:
        parse_run_record(changed(record, path, value))
    assert caught.value.details["key"] == key


def fields(findings: list[Finding]) -> list[str]:
    """Where something does not hold."""
    return [finding["field"] for finding in findings]


def test_what_a_packet_says_otherwise_is_named() -> None:
    """REC-3 and VFY-17."""
    run = made()
    record = run_record(*run, recorded_at=AT)
    assert verify_run_record(record, run.manifest, run.packet) == []
    assert fields(verify_evidence_manifest(run.manifest, made(exit_code=3).packet)) == [
        "receipt.raw_evidence.reference",
        "decision_evidence.process.exit_code",
    ]
    other = made(GREEN, exit_code=0)
    found = fields(verify_run_record(record, run.manifest, other.packet))
    assert {"verdict", "receipt.source.streams", "receipt.raw_evidence.reference"} <= set(found)
    assert fields(verify_run_record(record, other.manifest, other.packet))[:2] == ["evidence", "verdict"]


# -- difference -------------------------------------------------------------------------------------------------------


def names(difference: RunDifference, key: str) -> list[str]:
    """The identities in one of the lists."""
    return [one["identity"] for one in difference[key]]  # type: ignore[literal-required]


def compared(earlier: bytes, later: bytes, **said: Any) -> RunDifference:
    """Two runs of one command compared."""
    return run_difference(*record_of(earlier), *record_of(later, **said))


def test_failures_are_new_fixed_or_still_there() -> None:
    """DIFF-1."""
    found = compared(tap(9, [1, 4, 7]), tap(9, [4, 8]))
    assert names(found, "new") == ["weighs parcel 8"]
    assert names(found, "fixed") == ["weighs parcel 1", "weighs parcel 7"]
    assert names(found, "still") == ["weighs parcel 4"]
    assert found["still"][0]["text_changed"] is False
    assert (found["unseen"], found["doubts"]) == ([], [])


def test_a_duration_alone_is_no_other_text() -> None:
    """DIFF-3."""
    slower = RED.replace(b"duration_ms: 0.4", b"duration_ms: 31.25")
    assert [one["text_changed"] for one in compared(RED, slower)["still"]] == [False, False]
    worse = RED.replace(b"parcel 4 weighs too", b"parcel 4 weighs far too")
    assert [one["text_changed"] for one in compared(RED, worse)["still"]] == [True, False]


@pytest.mark.parametrize(
    ("said", "doubt"),
    [({"named": False}, "LATER_NOT_SUFFICIENT"), ({"command": ("sh", "run-some")}, "COMMANDS_DIFFER")],
)
def test_nothing_is_fixed_that_is_not_proven(said: dict[str, Any], doubt: str) -> None:
    """DIFF-2."""
    found = compared(RED, tap(12, [9]), **said)
    assert (found["fixed"], names(found, "unseen")) == ([], ["weighs parcel 4"])
    assert found["doubts"] == [doubt]


def test_a_run_with_fewer_tests_fixes_nothing() -> None:
    """DIFF-2."""
    found = compared(tap(12, [9]), tap(8), exit_code=0)
    assert (names(found, "unseen"), found["doubts"]) == (["weighs parcel 9"], ["FEWER_TESTS"])


def test_a_run_that_was_cut_fixes_nothing() -> None:
    """DIFF-2."""
    found = compared(RED, RED[: RED.index(b"not ok 9")])
    assert names(found, "unseen") == ["weighs parcel 9"]
    assert found["fixed"] == []


def test_failures_of_one_name_are_paired_by_their_text() -> None:
    """DIFF-1."""

    def twins(*messages: str) -> bytes:
        points = "".join(
            f"not ok {at} - same name\n  ---\n  message: {message}\n  ...\n" for at, message in enumerate(messages, 1)
        )
        return f"TAP version 13\n{points}1..{len(messages)}\n".encode()

    found = compared(twins("one", "two"), twins("two", "three"))
    assert [(one["places"][0]["first"], one["text_changed"]) for one in found["still"]] == [(2, False), (6, True)]
    assert (found["new"], found["fixed"]) == ([], [])
    found = compared(
        twins("one", "one", "two"), twins("one", "three", "four").replace(b"not ok 3 - same", b"ok 3 - other")
    )
    assert len(found["fixed"]) == 1
    assert found["still"][0]["text_changed"] is False


# -- statistics -------------------------------------------------------------------------------------------------------


def run_of(raw: int, visible: int, *, escalated: bool = False, day: int = 1, command: str = "a") -> MeasuredRun:
    """A measured run."""
    return MeasuredRun(f"2026-11-{day:02}T10:00:00.000Z", (command,), "passed", escalated, raw, visible)


def test_a_share_is_computed_from_sums_and_never_averaged() -> None:
    """STATS-1."""
    totals = store_statistics([run_of(100, 90), run_of(10_000, 10)])["totals"]
    assert totals["reduction_ratio"] == "10000/10100"
    assert share(totals) == "99.01%"  # the mean of 10% and 99.9% would be 54.95%


def test_an_escalated_run_avoids_nothing() -> None:
    """STATS-2."""
    totals = store_statistics([run_of(1000, 10, escalated=True)])["totals"]
    assert (totals["bytes_avoided"], totals["reduction_ratio"], share(totals)) == (0, None, "-")
    assert totals["escalated"] == {"raw_bytes": 1000, "runs": 1, "visible_bytes": 10}


def test_growth_is_negative() -> None:
    totals = store_statistics([run_of(100, 350)])["totals"]
    assert (totals["bytes_avoided"], share(totals)) == (-250, "-250.00%")


def test_groups_add_up_to_the_whole() -> None:
    """STATS-1."""
    runs = [run_of(n * 100, n, escalated=n % 3 == 0, day=n % 4 + 1, command="ab"[n % 2]) for n in range(1, 20)]
    found = store_statistics(runs)
    for groups in (found["commands"], found["days"]):
        for key in ("runs", "bytes_avoided"):
            assert sum(group["totals"][key] for group in groups) == found["totals"][key]
    assert [one["day"] for one in found["days"]] == sorted(one["day"] for one in found["days"])
    raw = [
        one["totals"]["sufficient"]["raw_bytes"] + one["totals"]["escalated"]["raw_bytes"] for one in found["commands"]
    ]
    assert raw == sorted(raw, reverse=True)


def test_a_receipt_that_lacks_a_measurement_is_refused() -> None:
    receipt = json.loads(made().documents["value_receipt"])
    escalated, raw, visible = measured(receipt)
    assert (escalated, raw, visible) == (False, len(RED), len(made().documents["brief"]))
    others: tuple[Any, ...] = ({}, [], None, {"measurements": receipt["measurements"][1:]}, {"measurements": [1]})
    for wrong in others:
        with pytest.raises(InvalidInput):
            measured(wrong)


def test_the_chart_shows_the_last_days_and_survives_none() -> None:
    """STATS-3."""
    assert "no runs" in chart_svg(store_statistics([]))
    days = [
        MeasuredRun(f"20{year:02}-01-01T00:00:00.000Z", None, "failed", False, 10**year, 5) for year in range(1, 10)
    ] * 9
    assert chart_svg(store_statistics(days)).count("<g>") == 9
    many = [run_of(10, 5)._replace(recorded_at=f"{year}-01-01T00:00:00.000Z") for year in range(1900, 2000)]
    assert chart_svg(store_statistics(many)).count("<g>") == DAYS_AT_MOST
