"""Records as documents: views and history rebuilt from them, and what is refused (CREC-1 to CREC-8)."""

import json
from typing import Any

import pytest

from context_firewall import (
    Compactor,
    Context,
    EvidenceNotFound,
    InvalidInput,
    Message,
    Role,
    ToolResult,
    parse_compaction_record,
    replayed_view,
    restored_history,
    restored_view,
    selection,
    serialize_compaction_record,
    stub_summarizer,
    verify_compaction_record,
)
from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.compaction.reducing import Reduced
from context_firewall.compaction.restore import originals_of, restored_original
from context_firewall.compaction.selection import pinned, recent, system
from context_firewall.compaction.triggers import always
from context_firewall.conversation.messages import Status


def shorter(output: str, exit_code: int | None) -> Reduced | None:
    """Knows long outputs."""
    return Reduced(output[:8], {"exit_code": exit_code}) if output.startswith("long") else None


def three_rounds() -> tuple[Compactor, Context, list[Message]]:
    """A conversation of three rounds, with something kept, summarised, dropped and reduced; and all that was said."""
    ctx = Context([Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Never deploy."), Message(Role.USER, "echo")])
    policy = selection(system(), recent(2), drop=[pinned(2)])
    compactor = Compactor(always(), policy, stub_summarizer, reducers=[shorter])
    said = ctx.snapshot()
    for number in range(3):
        for message in (
            Message(Role.ASSISTANT, f"round {number}"),
            Message(Role.TOOL, f"long {number}" * 20, tool_results=(ToolResult(f"c{number}", None, number),)),
            Message(Role.ASSISTANT, f"done {number}"),
        ):
            ctx.append(message)
            said.append(ctx.messages[-1])
        assert compactor.maybe_compact(ctx) is not None
    return compactor, ctx, said


def documents() -> list[Any]:
    """The three records, as JSON."""
    return [json.loads(serialize_compaction_record(record.as_document())) for record in three_rounds()[0].records]


def test_every_round_is_rebuilt_byte_for_byte() -> None:
    compactor, _, said = three_rounds()
    kept = originals_of(said)
    made: dict[str, bytes] = {}
    for record in compactor.records:
        document = record.as_document()
        originals = {**kept, **made}.get
        assert restored_view(document, originals) == [message.original() for message in record.original_context]
        assert replayed_view(document, originals) == [message.original() for message in record.compacted_context]
        made |= originals_of(record.made())


def test_all_that_was_said_is_rebuilt_from_the_chain() -> None:
    compactor, ctx, said = three_rounds()
    records = [record.as_document() for record in compactor.records]
    assert restored_history(records, originals_of(said).get) == [message.original() for message in said]
    assert compactor.full_history(ctx) == said


def test_messages_come_back_from_their_originals() -> None:
    compactor, _, said = three_rounds()
    for original in restored_view(compactor.records[0].as_document(), originals_of(said).get):
        assert Message.from_json(json.loads(original)).original() == original


def test_reduced_results_have_their_receipt_and_their_place() -> None:
    compactor, _, _ = three_rounds()
    record = compactor.records[0]
    document = record.as_document()
    (reduction,) = document["reductions"]
    assert reduction == {"entry_id": 4, "made_entry_id": 6, "receipt": {"exit_code": 0}, "reducer": "shorter"}
    assert [decision["decision"] for decision in document["decisions"]] == [
        "preserve",
        "summarize",
        "drop",
        "summarize",
        "reduce",
        "preserve",
    ]
    (short,) = [message for message in record.compacted_context if message.compaction_status == Status.REDUCED]
    assert (short.content, short.replaces_entry_ids, short.tool_results) == ("long 0lo", (4,), (("c0", None, 0),))


def test_a_reducer_that_saves_nothing_changes_nothing() -> None:
    ctx = Context([Message(Role.TOOL, "long", tool_results=(ToolResult("c"),)), Message(Role.TOOL, "other")])
    compactor = Compactor(
        always(), selection(recent(2)), stub_summarizer, reducers=[lambda output, code: Reduced(output * 9, {})]
    )
    assert compactor.maybe_compact(ctx) is None


def test_a_record_that_holds_its_originals_suffices() -> None:
    compactor, _, said = three_rounds()
    records = [
        parse_compaction_record(serialize_compaction_record(r.as_document(originals=True))) for r in compactor.records
    ]
    for record, document in zip(compactor.records, records, strict=True):
        assert restored_view(document) == [message.original() for message in record.original_context]
        assert replayed_view(document) == [message.original() for message in record.compacted_context]
    digest = said[1].sha256()
    for originals in ({digest: "Always deploy."}, {"sha256:" + "0" * 64: "x"}, {digest: 3}):
        records[0]["originals"] = originals  # type: ignore[typeddict-item]
        assert [finding["field"] for finding in verify_compaction_record(records[0])] == ["originals"]


def test_missing_and_altered_originals_are_named() -> None:
    compactor, _, said = three_rounds()
    document = compactor.records[0].as_document()
    kept = dict(originals_of(said))
    digest = said[1].sha256()
    with pytest.raises(InvalidInput, match="the original of entry 1 was altered"):
        restored_view(document, {**kept, digest: b"Always deploy."}.get)
    del kept[digest]
    with pytest.raises(
        EvidenceNotFound, match="1 of 6 originals are not there, the first is that of entry 1"
    ) as refusal:
        restored_view(document, kept.get)
    assert refusal.value.details == {"entry_id": 1, "missing": [digest], "missing_count": 1}
    assert restored_original(document, 2, kept.get) == said[2].original()
    with pytest.raises(EvidenceNotFound):
        restored_original(document, 1, kept.get)
    with pytest.raises(InvalidInput, match="no entry 99"):
        restored_original(document, 99, kept.get)


def test_of_many_that_are_missing_some_are_named_and_all_counted() -> None:
    """CREC-4."""
    ctx = Context([Message(Role.USER, f"Parcel {number}.") for number in range(50)])
    record = Compactor(always(), selection(recent(1)), stub_summarizer).maybe_compact(ctx)
    assert record is not None
    with pytest.raises(EvidenceNotFound, match="50 of 50 originals") as refusal:
        restored_view(record.as_document())
    assert len(refusal.value.details["missing"]) == 20
    assert refusal.value.details["missing_count"] == 50


def test_a_record_with_another_order_has_another_digest() -> None:
    compactor, _, said = three_rounds()
    document = compactor.records[0].as_document()
    document["original"]["entries"].reverse()
    with pytest.raises(InvalidInput, match="does not have the record's digest"):
        restored_view(document, originals_of(said).get)


def test_records_of_different_conversations_make_no_history() -> None:
    first, second, third = documents()
    with pytest.raises(InvalidInput, match="record 3 does not follow record 1"):
        restored_history([first, third], lambda digest: None)
    second["round"] = 7
    with pytest.raises(InvalidInput, match="record 3 does not follow record 7"):
        restored_history([second, third], lambda digest: None)


# -- the document -----------------------------------------------------------------------------------------------------


def test_a_record_survives_its_bytes() -> None:
    for record in three_rounds()[0].records:
        document = record.as_document()
        data = serialize_compaction_record(document)
        assert data == canonical_bytes(document) + b"\n"
        assert verify_compaction_record(data) == []
        assert serialize_compaction_record(parse_compaction_record(data)) == data


def test_a_record_that_is_no_document_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not JSON at offset 0"):
        parse_compaction_record(b"hello")
    for other in (b'{"protocol_version":"x"}\n', b"[]\n"):
        with pytest.raises(InvalidInput, match="this is no compaction record"):
            parse_compaction_record(other)
    with pytest.raises(InvalidInput, match="compacted is missing"):
        parse_compaction_record({"protocol_version": "context-firewall.compaction-record/v1"})
    data = serialize_compaction_record(documents()[0])
    assert verify_compaction_record(b" " + data)[0]["problem"].startswith("is not canonical JSON")


def changed(path: str, value: Any) -> list[str]:
    """Where findings are when the first record has another value at a place."""
    record = documents()[0]
    holder: Any = record
    *steps, last = path.split(".")
    for step in steps:
        holder = holder[int(step)] if isinstance(holder, list) else holder[step]
    holder[int(last) if isinstance(holder, list) else last] = value
    return [finding["field"] for finding in verify_compaction_record(record)]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("protocol_version", "context-firewall.compaction-record/v2", "protocol_version"),
        ("round", 0, "round"),
        ("extra", 1, "extra"),
        ("timestamp", "now", "timestamp"),
        ("selection", [], "selection"),
        ("decisions.0.decision", "keep", "decisions.0.decision"),
        ("decisions.0.decision", "drop", "compacted.entries"),
        ("decisions.0.entry_id", 1, "decisions"),
        ("decisions.0.entry_id", None, "decisions.0.entry_id"),
        ("decisions.1.decision", "drop", "summarization.replaces_entry_ids"),
        ("original.entries.0.sha256", "sha256:" + "0" * 64, "compacted.entries"),
        ("original.entries.0.entry_id", 1, "original.entries"),
        ("compacted.entries.0.sha256", "sha256:zz", "compacted.entries.0.sha256"),
        ("made.0.content", "another summary", "compacted.entries"),
        ("made.0.role", "narrator", "made.0.role"),
        ("made.0.tool_results", [["c", 1, None]], "made.0.tool_results.0.1"),
        ("made.0.passages", [["user", 0]], "made.0.passages.0"),
        ("made.0.entry_id", 0, "made"),
        ("summarization", None, "summarization"),
        ("summarization.entry_id", 77, "summarization.entry_id"),
        ("summarization.output_sha256", "sha256:" + "0" * 64, "summarization.output_sha256"),
        ("summarization.replaces_entry_ids", [1], "summarization.replaces_entry_ids"),
        ("reductions", [], "reductions"),
        ("reductions.0.made_entry_id", 77, "reductions.0"),
    ],
)
def test_tampering_shows(path: str, value: Any, field: str) -> None:
    assert field in changed(path, value)


def test_the_digests_are_of_the_originals() -> None:
    first = documents()[0]
    entry = first["original"]["entries"][1]
    original = three_rounds()[2][1].original()
    assert entry == {"byte_count": len(original), "entry_id": 1, "sha256": sha256(original)}
