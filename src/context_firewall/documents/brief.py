"""The brief: a packet as plain text for a model to read. A pure function of the packet.

Every line of ours starts with a word, a number or a sign of ours; every line of the run starts with `| `. So nothing
that a test prints can look like a verdict, a count, another failure or an instruction: it is data behind a fence, with
control characters made visible. SPEC.md, section "Brief".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.reasons import ADVICE
from context_firewall.errors import PayloadCeilingTooSmall

FENCE = "| "

# Lines this close belong to one range; more ranges than this are given as one.
GAP = 2
RANGES_AT_MOST = 4

# What a terminal or a reader could take for something else: C0 and C1 controls, line and paragraph separators,
# directional and invisible formatting. A tab is text.
UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>])")

# Frames of a runner or of the platform below it: "at f (node:internal/x:1:2)", "Test.run (node:…)", "at node:…", and
# files of a test runner's own package.
RUNNER_FRAME = re.compile(
    r"\s*+(?:at )?+(?:[^()\n]*+\((?:node:[^()\s]++|ext:[^()\s]++|<anonymous>)\)|(?:async )?+node:[^\s()]++"
    r"|[^\n]*?/node_modules/(?:tape|tap|@tapjs|mocha|ava|vitest|@vitest|jest[^/\s]*+|@jest|supertap|emittery)/[^\n]*+)(?: \{)?+"
)

# What a header says besides the name: result word, number, glyph, duration.
HEADER_WORDS = re.compile(
    r"(?:not ok(?: [0-9]++)?(?: -)?|✖|⚠)\s*+|\s*+\([0-9.]++m?s\)$|\s*+# time=[0-9.]++m?s(?: \{)?$|\\(?=[#\\])"
)


@dataclass(frozen=True, slots=True)
class Shape:
    """How much of a packet a brief shows."""

    remarks: bool = True
    """Warnings, todo and unclassified lines with their text."""
    whole: int | None = None
    """How many failures are shown with their region, from the first on. None: all."""
    named: int | None = None
    """How many failures are named, from the first on. None: all."""

    def costs(self, packet: EvidencePacket) -> list[str]:
        """The reason codes for what this shape leaves out of that packet."""
        evidence = packet["decision_evidence"]
        failures = evidence["failures"]
        remarks = [*evidence["warnings"], *evidence.get("todo", []), *evidence["unclassified_evidence"]]
        left_out = (
            ("PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT", not self.remarks and any("text" in line for line in remarks)),
            ("PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED", self.whole is not None and self.whole < len(failures)),
            ("PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED", self.named is not None and self.named < len(failures)),
        )
        return [code for code, is_so in left_out if is_so]


def render_brief(packet: EvidencePacket, *, max_bytes: int | None = None) -> str:
    """The brief of a packet, as text that ends with a newline.

    `max_bytes` is a ceiling on its UTF-8 bytes. Under it, remarks give way first, then failure regions from the last
    on, then names; what is left out is counted, with the lines where it stands. Raises PayloadCeilingTooSmall when not
    even the counts fit; its details name the smallest ceiling that would do.
    """
    failures = len(packet["decision_evidence"]["failures"])
    smallest = 0
    for rung in RUNGS:
        shape = rung(packet, max_bytes, failures)
        text = _text(packet, shape)
        smallest = len(text.encode())
        if max_bytes is None or smallest <= max_bytes:
            return text
    raise PayloadCeilingTooSmall(
        f"the smallest brief has {smallest} bytes",
        max_output_bytes=max_bytes,
        minimum_safe_packet_bytes=smallest,
        reason=PayloadCeilingTooSmall.code,
    )


def _all(packet: EvidencePacket, ceiling: int | None, failures: int) -> Shape:
    return Shape()


def _no_remarks(packet: EvidencePacket, ceiling: int | None, failures: int) -> Shape:
    return Shape(remarks=False)


def _some_regions(packet: EvidencePacket, ceiling: int | None, failures: int) -> Shape:
    return Shape(remarks=False, whole=_most(packet, ceiling, failures, lambda n: Shape(remarks=False, whole=n)))


def _some_names(packet: EvidencePacket, ceiling: int | None, failures: int) -> Shape:
    return Shape(False, 0, _most(packet, ceiling, failures, lambda n: Shape(False, 0, n)))


RUNGS: tuple[Callable[[EvidencePacket, int | None, int], Shape], ...] = (_all, _no_remarks, _some_regions, _some_names)


def _most(packet: EvidencePacket, ceiling: int | None, limit: int, shape: Callable[[int], Shape]) -> int:
    """The largest n in 0..limit whose brief fits, found by halving; 0 if none does."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if ceiling is None or len(_text(packet, shape(middle)).encode()) <= ceiling:
            low = middle
        else:
            high = middle - 1
    return low


def _text(packet: EvidencePacket, shape: Shape) -> str:
    evidence = packet["decision_evidence"]
    costs = shape.costs(packet)
    lines = [_verdict(packet, sufficient=not costs)]
    lines += _failures(evidence["failures"], shape)
    omitted = evidence.get("omitted_failures")
    if omitted is not None:
        lines.append(
            f"+ {omitted['count']} more failures are not named here: lines {omitted['first_line']}-{omitted['last_line']}"
        )
    lines += _section("fatal", evidence["fatal_errors"], shown=True)
    lines += _section("timeout", evidence["timeouts"], shown=True)
    lines += _section("warning", evidence["warnings"], shown=shape.remarks)
    lines += _section("todo", evidence.get("todo", []), shown=shape.remarks)
    lines += _section("unclassified", evidence["unclassified_evidence"], shown=shape.remarks)
    lines += _reasons([*evidence["reason_codes"], *costs])
    lines.append(_receipt(packet))
    return "\n".join(lines) + "\n"


def _verdict(packet: EvidencePacket, *, sufficient: bool) -> str:
    evidence = packet["decision_evidence"]
    counts, process = evidence["counts"], evidence["process"]
    tests = [f"{counts['failed']} failed", f"{counts['passed']} passed"]
    tests += [f"{n} {word}" for word, n in (("skipped", counts["skipped"]), ("todo", counts.get("todo", 0))) if n]
    code = process["exit_code"]
    exit_code = "exit code unknown" if code is None else f"exit code {code}"
    if process["interrupted"]:
        exit_code += ", interrupted"
    enough = "sufficient" if sufficient and evidence["disposition"] == "SUFFICIENT" else "NOT SUFFICIENT, see reasons"
    return f"{evidence['status'].upper()}: {', '.join(tests)}, {counts['total']} in all; {exit_code}; evidence {enough}"


# -- failures ---------------------------------------------------------------------------------------------------------


def _failures(failures: Sequence[Mapping[str, Any]], shape: Shape) -> Iterator[str]:
    seen: dict[tuple[str, ...], int] = {}
    named = len(failures) if shape.named is None else shape.named
    whole = len(failures) if shape.whole is None else shape.whole
    for number, failure in enumerate(failures[:named], 1):
        yield f"{number}) {safe(failure['identity'])}{_place(_evidence(failure))}"
        for other in failure.get("also", ()):
            yield f"   also {safe(other['identity'])} [line {other['line']}]"
        if number > whole:
            continue
        region = tuple(_region(failure))
        if len(region) > 1 and region in seen:
            yield f"   same text as {seen[region]})"
            continue
        seen.setdefault(region, number)
        yield from region
    if named < len(failures):
        rest = [line for failure in failures[named:] for line in _evidence(failure)]
        yield f"+ {len(failures) - named} more failures are not named here{_place(rest)}"


def _evidence(failure: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All lines and references of a failure."""
    single = [failure[key] for key in ("header", "region") if key in failure]
    return [*single, *failure.get("details", ())]


def _region(failure: Mapping[str, Any]) -> Iterator[str]:
    texts = [line["text"] for line in failure.get("details", ()) if "text" in line]
    header = failure.get("header")
    if header is not None and "text" in header and not _says_only_the_name(header["text"], failure["identity"]):
        yield FENCE + safe(header["text"]).strip()
    yield from _folded(_dedented([safe(text) for text in texts]))
    hidden = [line for line in _evidence(failure) if "text" not in line]
    if hidden:
        yield f"   not shown: {_amount(hidden)}{_place(hidden)}"


def _says_only_the_name(header: str, identity: str) -> bool:
    """Whether a header holds nothing that its failure's identity does not say."""
    words = " ".join(HEADER_WORDS.sub("", safe(header).strip()).split())
    return bool(words) and " ".join(safe(identity).split()).endswith(words)


def _dedented(texts: Sequence[str]) -> list[str]:
    """Lines without what all of them start with for the format's sake: indentation, and TAP's comment sign.

    A YAML block's own `---` and `...` around all the rest go too. Test::More's comments keep their sign: it stands
    inside the values that they quote.
    """
    texts = _without_margin(texts)
    if len(texts) > 2 and texts[0] == "---" and texts[-1] == "...":
        texts = _without_margin(texts[1:-1])
    if texts and all(text.startswith("#") or not text for text in texts) and not texts[0].startswith("#   Failed"):
        texts = _without_margin([text[1:] for text in texts])
    return texts


def _without_margin(texts: Sequence[str]) -> list[str]:
    margin = min((len(text) - len(text.lstrip(" ")) for text in texts if text.strip()), default=0)
    return [text[margin:].rstrip() for text in texts]


def _folded(texts: Iterable[str]) -> Iterator[str]:
    """Fenced lines; a row of the runner's own frames becomes one counted line of ours."""
    frames = 0
    for text in texts:
        if RUNNER_FRAME.fullmatch(text):
            frames += 1
            continue
        if frames:
            yield _counted(frames)
            frames = 0
        yield (FENCE + text).rstrip()
    if frames:
        yield _counted(frames)


def _counted(frames: int) -> str:
    return f"~ {frames} runner {'frame' if frames == 1 else 'frames'}"


# -- everything else --------------------------------------------------------------------------------------------------


def _section(word: str, lines: Sequence[Mapping[str, Any]], *, shown: bool) -> Iterator[str]:
    """Lines of one list, block by block; those without text, or not to be shown, by amount and place."""
    texts = [line for line in lines if "text" in line] if shown else []
    for block in _blocks(texts):
        yield f"{word}{_place(block)}"
        for line in block:
            yield (FENCE + safe(line["text"])).rstrip()
    hidden = [line for line in lines if "text" not in line] if shown else list(lines)
    if hidden:
        yield f"{word}, not shown: {_amount(hidden)}{_place(hidden)}"


def _blocks(lines: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    block: list[Mapping[str, Any]] = []
    for line in lines:
        if block and (line["stream"] != block[-1]["stream"] or line["line"] > block[-1]["line"] + GAP):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _amount(lines: Sequence[Mapping[str, Any]]) -> str:
    count = sum(line.get("line_count", 1) for line in lines)
    size = sum(line["byte_count"] if "byte_count" in line else len(line["text"].encode()) for line in lines)
    return f"{count} {'line' if count == 1 else 'lines'}, {size} bytes"


def _place(lines: Sequence[Mapping[str, Any]]) -> str:
    """Where lines stand: " [stdout:3-9,20]", with gaps of a line or two left out; empty for no lines."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for line in sorted(lines, key=lambda line: line["line"]):
        first = line["line"]
        last = line.get("last_line", first + line.get("line_count", 1) - 1)
        known = spans.setdefault(line["stream"], [])
        if known and first <= known[-1][1] + GAP:
            known[-1] = (known[-1][0], max(known[-1][1], last))
        else:
            known.append((first, last))
    if any(len(known) > RANGES_AT_MOST for known in spans.values()):
        spans = {stream: [(known[0][0], known[-1][1])] for stream, known in spans.items()}
    streams = (
        f"{stream}:" + ",".join(str(a) if a == b else f"{a}-{b}" for a, b in known) for stream, known in spans.items()
    )
    return f" [{' '.join(streams)}]" if spans else ""


def _reasons(codes: Iterable[str]) -> Iterator[str]:
    for code in dict.fromkeys(codes):
        yield f"! {code}: {ADVICE.get(code, 'see the specification')}"


def _receipt(packet: EvidencePacket) -> str:
    receipt = packet["receipt"]
    reference = receipt["raw_evidence"]["reference"]
    raw = "no raw reference" if reference is None else f"raw {safe(reference)}"
    return f"receipt {receipt['semantic_payload_hash']}; {raw}"


def safe(text: str) -> str:
    """Text without ANSI sequences, and with every control, separator and invisible character spelled out."""
    return UNSAFE.sub(_spelled, ANSI.sub("", text))


def _spelled(match: re.Match[str]) -> str:
    known = {"\n": "\\n", "\r": "\\r"}
    code = ord(match[0])
    return known.get(match[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
