"""`context-firewall.compaction-record/v1`: what a compaction did to a view, and by which digests it can be undone."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from context_firewall.canonical import canonical_bytes, sha256
from context_firewall.documents.verification.findings import Finding, Findings, Read, check_canonical, read_document
from context_firewall.documents.verification.shape import (
    Check,
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

PROTOCOL = "context-firewall.compaction-record/v1"

DECISIONS = ("preserve", "summarize", "drop", "reduce")


class EntryKeys(TypedDict):
    """A message by its id, and the length and the digest of its original bytes."""

    byte_count: int
    entry_id: int | str | None
    sha256: str


class ViewKeys(TypedDict):
    """A view: its messages in order, the digest of their bytes with a newline behind each, its tokens."""

    entries: list[EntryKeys]
    sha256: str
    tokens: int


class DecisionKeys(TypedDict):
    """What became of one message of the view before, and why."""

    decision: str
    entry_id: int | str | None
    reason: str


class ReductionKeys(TypedDict):
    """One tool result in a shorter form."""

    entry_id: int | str | None
    made_entry_id: int | str | None
    receipt: Mapping[str, Any]
    reducer: str


class SummarizationKeys(TypedDict):
    """The summary: who made it, of what, and the digests of both."""

    entry_id: int | str | None
    input_sha256: str
    name: str
    output_sha256: str
    replaces_entry_ids: list[int | str | None]
    version: str


class CompactionRecordKeys(TypedDict):
    """The whole document."""

    compacted: ViewKeys
    decisions: list[DecisionKeys]
    made: list[dict[str, Any]]
    original: ViewKeys
    originals: NotRequired[Mapping[str, str]]
    previous_sha256: str | None
    protocol_version: str
    reductions: list[ReductionKeys]
    round: int
    selection: Mapping[str, Any]
    source_format: str | None
    summarization: SummarizationKeys | None
    timestamp: float
    token_counter: str
    trigger: Mapping[str, Any] | None


def serialize_compaction_record(record: CompactionRecordKeys) -> bytes:
    """Canonical bytes and one newline."""
    return canonical_bytes(record) + b"\n"


def parse_compaction_record(document: Mapping[str, Any] | str | bytes) -> CompactionRecordKeys:
    """A record whose shape and digests hold. Raises InvalidInput that names the first place where they do not."""
    read = read_document(document, "compaction record")
    if _protocol(read.value) != PROTOCOL:
        raise InvalidInput(
            f"this is no compaction record: its protocol_version is not {PROTOCOL}", key="protocol_version"
        )
    findings = _examined(read.value, read)
    if findings:
        first = findings[0]
        raise InvalidInput(
            f"the compaction record: {first['field'] or 'document'} {first['problem']}", key=first["field"]
        )
    record: CompactionRecordKeys = read.value
    return record


def _protocol(value: object) -> object:
    return value.get("protocol_version") if isinstance(value, Mapping) else None


def verify_compaction_record(document: Mapping[str, Any] | str | bytes) -> list[Finding]:
    """What in a record does not hold: its bytes, its shape, and whatever follows from the rest of it."""
    read = read_document(document, "compaction record")
    return _examined(read.value, read)


# -- shape ------------------------------------------------------------------------------------------------------------


def _entry_id(findings: Findings, path: str, value: Any) -> None:
    if value is None or isinstance(value, bool) or not isinstance(value, int | str):
        findings.add(path, "is no entry's id: neither text nor a whole number")


def _number(findings: Findings, path: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        findings.add(path, "is not a number")


def _any(findings: Findings, path: str, value: Any) -> None:
    """Whatever the maker wrote: parameters, measurements, receipts."""


def _mapping(findings: Findings, path: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        findings.add(path, "is not an object")


def _row(*items: Check) -> Check:
    def check(findings: Findings, path: str, value: Any) -> None:
        if not isinstance(value, list | tuple) or len(value) != len(items):
            findings.add(path, f"is not a list of {len(items)} items")
            return
        for index, (item, inner) in enumerate(zip(value, items, strict=True)):
            inner(findings, f"{path}.{index}", item)

    return check


_flag = one_of((True, False))

_VIEW = object_of(
    {
        "entries": list_of(object_of({"byte_count": integer(), "entry_id": _entry_id, "sha256": digest})),
        "sha256": digest,
        "tokens": integer(),
    }
)

_MESSAGE = object_of(
    {
        "author": one_of(("system", "user", "tool", "model", "plugin", "summary")),
        "compaction_status": one_of(("original", "summarized", "reduced", "dropped")),
        "content": text,
        "entry_id": _entry_id,
        "passages": list_of(_row(text, integer(), integer())),
        "replaces_entry_ids": list_of(_entry_id),
        "role": one_of(("system", "user", "assistant", "tool")),
        "timestamp": _number,
        "tool_calls": list_of(_row(text, text, text)),
        "tool_results": list_of(_row(text, nullable(_flag), nullable(integer(-(1 << 31), 1 << 32)))),
    }
)

_RECORD = object_of(
    {
        "compacted": _VIEW,
        "decisions": list_of(object_of({"decision": one_of(DECISIONS), "entry_id": _entry_id, "reason": text})),
        "made": list_of(_MESSAGE),
        "original": _VIEW,
        "previous_sha256": nullable(digest),
        "protocol_version": exactly(PROTOCOL),
        "reductions": list_of(
            object_of({"entry_id": _entry_id, "made_entry_id": _entry_id, "receipt": _mapping, "reducer": text})
        ),
        "round": integer(1),
        "selection": object_of({"name": text, "parameters": _mapping}),
        "source_format": nullable(text),
        "summarization": nullable(
            object_of(
                {
                    "entry_id": _entry_id,
                    "input_sha256": digest,
                    "name": text,
                    "output_sha256": digest,
                    "replaces_entry_ids": list_of(_entry_id, least=1),
                    "version": text,
                }
            )
        ),
        "timestamp": _number,
        "token_counter": text,
        "trigger": nullable(object_of({"measured": _any, "name": text, "parameters": _mapping})),
    },
    {"originals": _mapping},
)


# -- what follows from the rest ---------------------------------------------------------------------------------------


def _examined(record: Any, read: Read) -> list[Finding]:
    findings = Findings()
    check_canonical(findings, read, "the compaction record")
    _RECORD(findings, "", record)
    if not len(findings):
        _check_views(findings, record)
        _check_summary(findings, record)
        _check_reductions(findings, record)
        _check_originals(findings, record)
    return findings.as_list()


def _check_views(findings: Findings, record: CompactionRecordKeys) -> None:
    """Every entry of the view before has one decision; the view after is what was kept, in order, and what was made."""
    before, after = record["original"]["entries"], record["compacted"]["entries"]
    for path, entries in (("original.entries", before), ("compacted.entries", after)):
        if len({entry["entry_id"] for entry in entries}) != len(entries):
            findings.add(path, "names an entry twice")
    decided = [decision["entry_id"] for decision in record["decisions"]]
    if decided != [entry["entry_id"] for entry in before]:
        findings.add("decisions", "are not about the entries of the original, each once, in order")
    kept = {decision["entry_id"] for decision in record["decisions"] if decision["decision"] == "preserve"}
    made = {message["entry_id"]: sha256(canonical_bytes(message)) for message in record["made"]}
    if made.keys() & set(decided):
        findings.add("made", "has the id of an entry of the original")
    expected = [entry for entry in before if entry["entry_id"] in kept]
    if [entry for entry in after if entry["entry_id"] not in made] != expected:
        findings.add("compacted.entries", "without what was made are not the entries that were preserved")
    if {entry["entry_id"]: entry["sha256"] for entry in after if entry["entry_id"] in made} != made:
        findings.add("compacted.entries", "do not hold what was made, by its digests")


def _check_summary(findings: Findings, record: CompactionRecordKeys) -> None:
    replaced = _decided(record, "summarize")
    summary = record["summarization"]
    if summary is None:
        if replaced:
            findings.add("summarization", "is null, yet entries were summarised")
        return
    if summary["replaces_entry_ids"] != replaced:
        findings.add("summarization.replaces_entry_ids", "are not the entries that were summarised")
    message = next((message for message in record["made"] if message["entry_id"] == summary["entry_id"]), None)
    if message is None:
        findings.add("summarization.entry_id", "names nothing that was made")
        return
    if message["replaces_entry_ids"] != replaced:
        findings.add("made", "has a summary that names other entries than were summarised")
    found = sha256(message["content"].encode())
    findings.expect("summarization.output_sha256", summary["output_sha256"], found, "is the digest of its content")


def _check_reductions(findings: Findings, record: CompactionRecordKeys) -> None:
    reductions = record["reductions"]
    if [reduction["entry_id"] for reduction in reductions] != _decided(record, "reduce"):
        findings.add("reductions", "are not those of the entries that were reduced")
    summary = record["summarization"]
    made = {message["entry_id"]: message["replaces_entry_ids"] for message in record["made"]}
    for index, reduction in enumerate(reductions):
        if made.pop(reduction["made_entry_id"], None) != [reduction["entry_id"]]:
            findings.add(f"reductions.{index}", "does not name a message that was made of it")
    if made.keys() - ({summary["entry_id"]} if summary is not None else set()):
        findings.add("made", "holds a message that is neither the summary nor a reduced result")


def _check_originals(findings: Findings, record: CompactionRecordKeys) -> None:
    named = {entry["sha256"] for entry in record["original"]["entries"]}
    for held, original in record.get("originals", {}).items():
        if held not in named:
            findings.add("originals", f"holds {held}, which no entry of the original has")
        elif not isinstance(original, str) or sha256(original.encode()) != held:
            findings.add("originals", f"holds under {held} what does not have that digest")


def _decided(record: CompactionRecordKeys, decision: str) -> list[int | str | None]:
    return [entry["entry_id"] for entry in record["decisions"] if entry["decision"] == decision]
