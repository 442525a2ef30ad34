"""From a record back to the views, by digest: the earlier one, the compacted one, and all that was ever said.

A record holds what its compaction made, and the digests of what was there before; perhaps the originals, too. Else
those come from whoever keeps them, by digest: a store, or the session itself. Nothing is taken on trust: each
original must have its digest, and a view the record's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from context_firewall.canonical import canonical_bytes, canonical_sha256, sha256
from context_firewall.conversation.messages import EntryId, Message
from context_firewall.documents.compaction_record import CompactionRecordKeys, EntryKeys, ViewKeys
from context_firewall.errors import EvidenceNotFound, InvalidInput

Originals = Callable[[str], bytes | None]
"""The bytes with a digest (`sha256:…`), or None where they are not kept."""


MOST_NAMED = 20
"""Of originals that are missing, so many are named; the error counts the rest."""


def nothing(digest: str) -> bytes | None:
    """No originals but those that a record holds itself."""
    return None


def originals_of(messages: Iterable[Message]) -> Mapping[str, bytes]:
    """The originals of messages, by digest: what somebody must keep who wants them restored."""
    return {message.sha256(): message.original() for message in messages}


def made_by(records: Iterable[CompactionRecordKeys]) -> Mapping[str, bytes]:
    """What compactions made, by digest: a later round's originals may be among them."""
    found = {}
    for record in records:
        for message in record["made"]:
            original = canonical_bytes(message)
            found[sha256(original)] = original
    return found


def held_by(records: Iterable[CompactionRecordKeys]) -> Mapping[str, bytes]:
    """The originals that records hold themselves, by digest."""
    return {digest: text.encode() for record in records for digest, text in record.get("originals", {}).items()}


def restored_view(record: CompactionRecordKeys, originals: Originals = nothing) -> list[bytes]:
    """The view before the compaction: the original of each entry, in order.

    Raises EvidenceNotFound with `missing`, the digests of the originals that are nowhere, as many of them as are
    readable; and InvalidInput, with the entry, where an original is not what the record says.
    """
    return _view(record["original"], originals, held_by([record]))


def restored_original(record: CompactionRecordKeys, entry_id: EntryId | None, originals: Originals = nothing) -> bytes:
    """The original of one entry of the view before. Raises as above, and InvalidInput where there is no such entry."""
    for entry in record["original"]["entries"]:
        if entry["entry_id"] == entry_id:
            (original,) = _originals([entry], originals, held_by([record]))
            return original
    raise InvalidInput(f"the view before the compaction has no entry {entry_id!r}", entry_id=entry_id)


def replayed_view(record: CompactionRecordKeys, originals: Originals = nothing) -> list[bytes]:
    """The view after the compaction: the originals of what was preserved, and what was made. Raises as above."""
    return _view(record["compacted"], originals, {**held_by([record]), **made_by([record])})


def restored_history(records: Sequence[CompactionRecordKeys], originals: Originals = nothing) -> list[bytes]:
    """All that was in any of the views before, in order, each entry once, without what the compactions made.

    `records` are those of one conversation, from the first on; raises InvalidInput where one does not follow the other.
    """
    refuse_broken_chain(records)
    held = {**held_by(records), **made_by(records)}
    made_ids = {message["entry_id"] for record in records for message in record["made"]}
    history: dict[EntryId | None, bytes] = {}
    for record in records:
        view = _view(record["original"], originals, held)
        for entry, original in zip(record["original"]["entries"], view, strict=True):
            if entry["entry_id"] not in made_ids:
                history.setdefault(entry["entry_id"], original)
    return list(history.values())


def refuse_broken_chain(records: Sequence[CompactionRecordKeys]) -> None:
    """InvalidInput when a record does not name the one before it."""
    for before, record in pairwise(records):
        if record["previous_sha256"] != canonical_sha256(before):
            raise InvalidInput(
                f"record {record['round']} does not follow record {before['round']}", key="previous_sha256"
            )


def _view(view: ViewKeys, originals: Originals, held: Mapping[str, bytes]) -> list[bytes]:
    found = _originals(view["entries"], originals, held)
    if sha256(b"".join(original + b"\n" for original in found)) != view["sha256"]:
        raise InvalidInput("the view that was rebuilt does not have the record's digest", key="sha256")
    return found


def _originals(entries: Sequence[EntryKeys], originals: Originals, held: Mapping[str, bytes]) -> list[bytes]:
    found = list[bytes]()
    missing = list[EntryKeys]()
    for entry in entries:
        digest = entry["sha256"]
        original = held.get(digest)
        if original is None:
            original = originals(digest)
        if original is None:
            missing.append(entry)
        elif sha256(original) != digest:
            raise InvalidInput(
                f"the original of entry {entry['entry_id']!r} was altered", entry_id=entry["entry_id"], sha256=digest
            )
        else:
            found.append(original)
    if missing:
        first = missing[0]["entry_id"]
        raise EvidenceNotFound(
            f"{len(missing)} of {len(entries)} originals are not there, the first is that of entry {first!r}",
            entry_id=first,
            missing=[entry["sha256"] for entry in missing[:MOST_NAMED]],
            missing_count=len(missing),
        )
    return found
