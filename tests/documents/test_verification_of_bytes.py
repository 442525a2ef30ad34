"""One changed byte anywhere is found, and the finding names the field.

Three fields are free as long as there is the packet alone (`FREE_FIELDS`); the test holds that they are all.
"""

import json
import re
from collections.abc import Iterable, Iterator

import pytest
from verified_packets import Case, cases

from context_firewall import InvalidInput, verify_packet
from context_firewall.documents.verification import FREE_FIELDS

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+0-9.eE]+|true|false|null|[{}\[\]:,]')
DIGESTS = (
    ("decision_evidence.", "receipt.semantic_payload_hash"),
    ("receipt.configuration.", "receipt.configuration.identity"),
    ("receipt.reducer.version", "receipt.configuration.identity"),
)


def values(canonical: bytes) -> Iterator[tuple[int, int, str]]:
    """Where each scalar value stands in canonical JSON: start, end, and its path."""
    path: list[str | int] = []
    is_key = False
    for token in TOKEN.finditer(canonical):
        mark = token[0]
        if mark in (b"{", b"["):
            path.append("" if mark == b"{" else 0)
            is_key = mark == b"{"
        elif mark in (b"}", b"]"):
            path.pop()
            is_key = False
        elif mark == b",":
            if isinstance(path[-1], int):
                path[-1] += 1
            else:
                is_key = True
        elif mark == b":":
            is_key = False
        elif is_key:
            path[-1] = json.loads(mark)
        else:
            yield token.start(), token.end(), ".".join(map(str, path))


def names(field: str, path: str) -> bool:
    """Whether a finding at `field` names the value at `path`: the value, what holds it, or a digest over it."""
    if field == path or (field and path.startswith(field + ".")):
        return True
    if path.endswith(".text") and field == path.removesuffix("text") + "sha256":
        return True
    return any(path.startswith(over) and field == digest for over, digest in DIGESTS)


def check_byte(canonical: bytes, offset: int, new: int, path: str | None) -> str | None:
    """Change one byte and verify. Returns the path if nothing was found."""
    changed = canonical[:offset] + bytes([new]) + canonical[offset + 1 :]
    try:
        findings = verify_packet(changed)
    except InvalidInput as refusal:
        return None if "offset" in refusal.details else "a refusal without a place"
    if not findings:
        return path or f"structure at {offset}"
    if path is not None and json.loads(changed) != json.loads(canonical):
        found = [finding["field"] for finding in findings]
        assert any(names(field, path) for field in found), (path, new, found)
    return None


def sweep(case: Case, flips: Iterable[int], step: int = 1, first: int = 0) -> set[str]:
    """Change every `step`th byte in each way; the paths whose change was not found."""
    canonical = case.canonical
    places: dict[int, str] = {}
    for start, end, path in values(canonical):
        places.update(dict.fromkeys(range(start, end), path))
    missed: set[str] = set()
    for offset in range(first, len(canonical), step):
        for flip in flips:
            unfound = check_byte(canonical, offset, canonical[offset] ^ flip, places.get(offset))
            if unfound is not None:
                missed.add(unfound)
    return missed


def free_in(case: Case) -> set[str]:
    """The free fields that have a value in this packet."""
    free = set(FREE_FIELDS)
    if case.packet["operation_id"] is None:
        free.discard("operation_id")
    if case.packet["receipt"]["raw_evidence"]["reference"] is None:
        free.discard("receipt.raw_evidence.reference")
    return free


CASES = cases()
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


# 1 turns a digit or a letter into its neighbour, which most often leaves a packet that can be read.
@pytest.mark.parametrize("case", CASES[:2] + CASES[-3:], ids=lambda case: case.name)
def test_a_change_of_any_byte_is_found(case: Case) -> None:
    assert sweep(case, (1,)) == free_in(case)


@EACH
def test_other_changes_are_found(case: Case) -> None:
    # 32 turns a letter into its other case, 16 a digit into a sign, 128 breaks UTF-8.
    assert sweep(case, (1, 2, 16, 32, 128), step=41, first=len(case.name)) <= free_in(case)


@pytest.mark.soak
@EACH
def test_every_change_of_every_byte_is_found(case: Case) -> None:
    assert sweep(case, (1, 2, 3, 4, 6, 8, 16, 32, 64, 128)) == free_in(case)


@EACH
def test_free_fields_are_found_with_the_envelope(case: Case) -> None:
    canonical = case.canonical
    for start, end, path in values(canonical):
        if path in FREE_FIELDS and end - start > 4:
            at = end - 2
            changed = canonical[:at] + bytes([canonical[at] ^ 1]) + canonical[at + 1 :]
            found = [finding["field"] for finding in verify_packet(changed, envelope=case.envelope)]
            assert path in found
            streams = [finding["field"] for finding in verify_packet(changed, streams=case.streams)]
            assert (path in streams) is (path == "receipt.input_hash")


def test_a_byte_more_or_less_is_found() -> None:
    case = cases()[0]
    canonical = case.canonical
    for offset in range(0, len(canonical), 7):
        for changed in (
            canonical[:offset] + canonical[offset + 1 :],
            canonical[:offset] + canonical[offset : offset + 1] + canonical[offset:],
        ):
            try:
                found = verify_packet(changed)
            except InvalidInput:
                continue
            assert found
