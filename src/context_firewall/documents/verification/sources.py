"""The packet beside the bytes that the run printed: every digest, every text and every reference at its place."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from context_firewall.canonical import FramedHash, sha256
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.test_run_input import STREAM_NAMES, TestRunInput
from context_firewall.documents.verification.account import Listed, listed
from context_firewall.documents.verification.findings import Findings, at, quoted
from context_firewall.documents.verification.shape import V2

_STEP = 1 << 16
_MARK = b"\xef\xbb\xbf"


class SourceText:
    """One stream's bytes, and its lines by number."""

    def __init__(self, name: str, raw: bytes) -> None:
        self.name = name
        self.raw = raw
        self.line_count = raw.count(b"\n") + (not raw.endswith(b"\n") if raw else 0)
        self.sound = _is_utf8(raw)
        self._line = 1
        self._position = 0

    def lines(self, first: int, count: int) -> Iterator[bytes]:
        """Texts of adjacent lines, as a packet has them. Calls must go forward; there must be as many lines."""
        self._go_to(first)
        for number in range(first, first + count):
            yield text_of(number, self._next())

    def _go_to(self, line: int) -> None:
        while self._line < line:
            step = self.raw.count(b"\n", self._position, self._position + _STEP)
            if self._line + step < line:
                self._line += step
                self._position += _STEP
            else:
                self._next()

    def _next(self) -> bytes:
        end = self.raw.find(b"\n", self._position)
        if end < 0:
            end = len(self.raw)
        line = self.raw[self._position : end]
        self._position = end + 1
        self._line += 1
        return line


def text_of(number: int, raw: bytes) -> bytes:
    """A line as a packet shows it: no byte order mark before line 1, U+FFFD for what is not UTF-8."""
    if number == 1:
        raw = raw.removeprefix(_MARK)
    return raw if raw.isascii() else raw.decode("utf-8", "replace").encode()


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def check_sources(findings: Findings, packet: EvidencePacket, streams: Mapping[str, bytes]) -> None:
    """A packet whose shape holds, beside the streams that were read."""
    receipt = packet["receipt"]
    recorded = {stream["name"]: index for index, stream in enumerate(receipt["source"]["streams"])}
    if set(recorded) != set(streams):
        findings.add(
            "receipt.source.streams", f"has {' and '.join(recorded)}; the bytes are those of {' and '.join(streams)}"
        )
    texts = {name: SourceText(name, raw) for name, raw in streams.items()}
    for name, index in recorded.items():
        if name in streams:
            count = receipt["source"]["streams"][index]["byte_count"]
            field = f"receipt.source.streams.{index}.byte_count"
            findings.expect(field, count, len(streams[name]), "bytes are there")
    v2 = receipt["configuration"]["policy_revision"] == V2
    if set(recorded) == set(streams):
        _check_whole(findings, packet, texts, v2=v2)
    by_stream: dict[str, list[Listed]] = {name: [] for name in streams}
    for line in listed(packet["decision_evidence"]):
        if line.stream in by_stream:
            by_stream[line.stream].append(line)
    for name, lines in by_stream.items():
        text = texts[name]
        if v2 and not text.sound:
            _check_marker(findings, text, lines)
        else:
            _check_lines(findings, text, lines)
    _check_shared(findings, packet, texts)


def _check_whole(findings: Findings, packet: EvidencePacket, texts: Mapping[str, SourceText], *, v2: bool) -> None:
    receipt = packet["receipt"]
    hashing = FramedHash()
    for name in STREAM_NAMES:
        if name in texts:
            for _ in hashing.pass_through(name, len(texts[name].raw), (texts[name].raw,)):
                pass
    findings.expect("receipt.input_hash", receipt["input_hash"], hashing.digest(), "is the digest of the bytes")
    measured = receipt["measurements"]
    held = sum(len(text.raw) for text in texts.values())
    findings.expect("receipt.measurements.original_bytes", measured["original_bytes"], held, "bytes are there")
    # Under v2 a stream that is not UTF-8 is one event.
    events = sum(1 if v2 and not text.sound else text.line_count for text in texts.values())
    field = "receipt.measurements.original_event_count"
    findings.expect(field, measured["original_event_count"], events, "lines are there")
    malformed = not all(text.sound for text in texts.values())
    reasons = packet["decision_evidence"]["reason_codes"]
    if ("MALFORMED_UTF8" in reasons) is not malformed:
        problem = "lacks MALFORMED_UTF8" if malformed else "has MALFORMED_UTF8, and the bytes are UTF-8"
        findings.add("decision_evidence.reason_codes", problem)


def _check_marker(findings: Findings, text: SourceText, lines: Sequence[Listed]) -> None:
    """The one event of a stream that v2 does not read."""
    marker = f"[non-UTF-8 {len(text.raw)} bytes; {sha256(text.raw)}]".encode()
    for line in lines:
        if line.category != "unclassified_binary" or line.first != 1:
            findings.add(line.path, f"is a line of {text.name}, which is not UTF-8 and was not read")
        else:
            _check_text(findings, line, [marker])


def _check_lines(findings: Findings, text: SourceText, lines: Sequence[Listed]) -> None:
    reached = 0
    for line in sorted(lines, key=lambda one: (one.first, one.last)):
        if line.last > text.line_count:
            field = at(line.path, "last_line" if line.scattered else "line")
            findings.add(field, f"reaches to line {line.last}; {text.name} has {text.line_count} lines")
        elif line.scattered:
            # Which lines stand between the ends is known only to who reads them again.
            continue
        elif line.first <= reached:
            continue  # the same line in two places was found already
        else:
            reached = line.last
            _check_text(findings, line, text.lines(line.first, line.line_count))


def _check_text(findings: Findings, line: Listed, texts: Iterator[bytes] | Sequence[bytes]) -> None:
    """One piece of evidence against the texts of its lines."""
    if line.has_text:
        shown, there = str(line.evidence["text"]), b"".join(texts)
        if shown.encode() != there:
            where = f"which line {line.first} of {line.stream} holds"
            findings.expect(at(line.path, "text"), shown, there.decode("utf-8", "replace"), where)
            if shown.encode() != there and quoted(shown) == quoted(there.decode("utf-8", "replace")):
                findings.add(at(line.path, "text"), f"differs from line {line.first} of {line.stream}")
        findings.expect(
            at(line.path, "sha256"), line.evidence["sha256"], sha256(there), "is the digest of the line there"
        )
        return
    hashing, length = hashlib.sha256(), -1
    for number, there in enumerate(texts):
        part = there if number == 0 else b"\n" + there
        hashing.update(part)
        length += len(there) + 1
    what = "line" if line.line_count == 1 else "lines"
    findings.expect(at(line.path, "byte_count"), line.evidence["byte_count"], length, f"bytes are in the {what} there")
    digest = "sha256:" + hashing.hexdigest()
    findings.expect(at(line.path, "sha256"), line.evidence["sha256"], digest, f"is the digest of the {what} there")


def _check_shared(findings: Findings, packet: EvidencePacket, texts: Mapping[str, SourceText]) -> None:
    """A region that several failures share must stand in the streams at least as often."""
    sharing: list[tuple[str, Mapping[str, Any]]] = [
        (f"decision_evidence.failures.{index}", failure)
        for index, failure in enumerate(packet["decision_evidence"]["failures"])
        if "also" in failure
    ]
    if not sharing:
        return
    seen = {line["text"]: 0 for _, failure in sharing for line in failure.get("details", ()) if "text" in line}
    for text in texts.values():
        for number, raw in enumerate(text.raw.split(b"\n"), start=1):
            shown = text_of(number, raw).decode()
            if shown in seen:
                seen[shown] += 1
    longest = max(text.line_count for text in texts.values())
    for path, failure in sharing:
        for number, shared in enumerate(failure["also"]):
            if shared["line"] > longest:
                findings.add(f"{path}.also.{number}.line", f"is {shared['line']}; no stream has so many lines")
        for number, line in enumerate(failure.get("details", ())):
            there = seen.get(line.get("text"), 0)
            if there <= len(failure["also"]):
                findings.add(f"{path}.also", f"shares detail {number}, which stands {there} times in the streams")
                break


def check_envelope(findings: Findings, packet: EvidencePacket, run: TestRunInput) -> None:
    """What an envelope says of a run besides its output, which no hash in the packet is over."""
    evidence, receipt = packet["decision_evidence"], packet["receipt"]
    process = evidence["process"]
    rows: tuple[tuple[str, object, object], ...] = (
        ("operation_id", packet["operation_id"], run.operation_id),
        ("decision_evidence.source.id", evidence["source"]["id"], run.source_id),
        ("decision_evidence.source.run_id", evidence["source"]["run_id"], run.run_id),
        ("receipt.raw_evidence.reference", receipt["raw_evidence"]["reference"], run.raw_evidence_ref),
        ("decision_evidence.process.exit_code", process["exit_code"], run.process.exit_code),
        ("decision_evidence.process.duration_ms", process["duration_ms"], run.process.duration_ms),
        ("decision_evidence.process.interrupted", process["interrupted"], run.process.interrupted),
    )
    for field, actual, expected in rows:
        findings.expect(field, actual, expected, "is what the envelope says")
    timed_out = run.process.timed_out and receipt["configuration"]["policy_revision"] != V2
    if ("TIMEOUT" in evidence["reason_codes"]) is not timed_out:
        says = "says that time was up" if timed_out else "does not say that time was up"
        findings.add(
            "decision_evidence.reason_codes", f"{'lacks' if timed_out else 'has'} TIMEOUT; the envelope {says}"
        )
