"""The brief: a packet as plain text for a model to read. A pure function of the packet.

A line of the run starts with `| ` (or is `|` alone, if it is blank); every other line is one of ours:

    STATUS: 1 failed, 2 passed, 3 in all; exit code 1; evidence sufficient       the first line; STATUS in capitals
    1) identity [stdout:3-9,20]                                                  a failure and where it stands
       also identity [line 40]                                                   another with the same region
       same text as 1)                                                           its region reads like an earlier one
       not shown: 3 lines, 120 bytes [stdout:5-7]                                what the packet only refers to
    ~ 4 runner frames                                                            stack frames of runner and platform
    ~ 30 lines of context, not shown                                             source lines around the failing ones
    ~ a JSON report on one line, 900 bytes, not shown                            but for what it says of the failures
    ~ 2 regions of JUnit XML, decoded                                            what they say, not as it stands
    + 2 more failures are not named here [stdout:50-70]
    warning [stdout:2]                                                           or fatal, timeout, todo, unclassified
    warning, not shown: 3 lines, 120 bytes [stdout:5-7]
    ! REASON: what it means and what to do
    > more: context-firewall raw 0123456789ab --lines stdout:A-B                 how to fetch lines, if they are stored
    receipt sha256:…; raw REFERENCE                                              the last line

So nothing that a test prints can look like a verdict, a count, another failure or an instruction: it is data behind a
fence or between a sign of ours and a place, with control characters made visible. The place in brackets is always the
last one on its line, and `[-]` where no line is known. SPEC.md, section "Brief".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from context_firewall.documents.brief_commands import command_lines
from context_firewall.documents.brief_json import told
from context_firewall.documents.brief_xml import xml_told
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.reasons import ADVICE
from context_firewall.documents.runner_frames import frame
from context_firewall.errors import PayloadCeilingTooSmall

# Lines of a region that a runner repeats for orientation: counted, not shown.
CONTEXT = "failure_context"
# A title between two rulers of one sign, as pytest prints the header of a failure: `____ test_price ____`.
_RULED = re.compile(r"(?P<sign>[_=―])(?P=sign)*+ (\S(?:.*\S)?) (?P=sign)++")

FENCE = "| "

# A raw reference that the evidence store gives; so many digits are enough to find the run by.
STORED = re.compile(r"evidence://sha256/([0-9a-f]{12})[0-9a-f]{52}")

# Lines this close belong to one range; more ranges than this are given as one.
GAP = 2
RANGES_AT_MOST = 4

# What a terminal or a reader could take for something else: C0 and C1 controls, line and paragraph separators,
# directional, annotating and invisible formatting, and the plane of invisible tags. A tab is text.
UNSAFE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>])")

# What a header says besides the name: result word, number, glyph; duration.
_BEFORE_NAME = re.compile(r"(?:not ok\b(?: [0-9]++)?+(?: -(?= ))?+|✖|⚠|^[0-9]{1,9}+\)(?= ))\s*+")
_AFTER_NAME = re.compile(r"(?<!\s)\s*+(?:\([0-9.]++m?s\)|# time=[0-9.]++m?s)?+(?: \{)?+$")
# A member of an indented JSON report: `"fullTitle": "lends books",`.
_MEMBER = re.compile(r'"[A-Za-z]++": "(?P<name>.*)",?')
_ESCAPED = re.compile(r"\\(?=[#\\])")

# pytest's error line, and the start of its line that says where: `E   boom`, then `lib/price.py:7: boom`.
_ERROR = re.compile(r"E ++(\S.*)")
_WHERE = re.compile(r"\S.*:[0-9]++: ")


class Shape(NamedTuple):
    """How much of a packet a brief shows."""

    stops: bool = True
    """Fatal errors and timeouts with their text."""
    remarks: bool = True
    """Warnings, todo and unclassified lines with their text."""
    whole: int | None = None
    """How many failures are shown with their region, from the first on. None: all."""
    named: int | None = None
    """How many failures are named, from the first on. None: all."""
    edges: int = 0
    """How many unclassified lines keep their text though remarks do not: from the first on and from the last back."""

    def costs(self, packet: EvidencePacket) -> list[str]:
        """The reason codes for what this shape leaves out of that packet."""
        evidence = packet["decision_evidence"]
        failures = evidence["failures"]
        remarks = [*evidence["warnings"], *evidence.get("todo", []), *evidence["unclassified_evidence"]]
        left_out = (
            ("PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT", not self.remarks and any("text" in line for line in remarks)),
            ("PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED", self.whole is not None and self.whole < len(failures)),
            (
                "PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED",
                not self.stops and any("text" in line for line in (*evidence["fatal_errors"], *evidence["timeouts"])),
            ),
            ("PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED", self.named is not None and self.named < len(failures)),
        )
        return [code for code, is_so in left_out if is_so]


def render_brief(packet: EvidencePacket, *, max_bytes: int | None = None) -> str:
    """The brief of a packet, as text that ends with a newline.

    `max_bytes` is a ceiling on its UTF-8 bytes. Under it, remarks give way first, then failure regions from the last
    on, then names; what is left out is counted, with the lines where it stands. Raises PayloadCeilingTooSmall when not
    even the counts fit; its details name the smallest ceiling that would do.
    """
    draft = _Draft(packet)
    sizes: list[int] = []
    for rung in RUNGS:
        text = draft.text(rung(draft, max_bytes))
        sizes.append(len(text.encode()))
        if max_bytes is None or sizes[-1] <= max_bytes:
            return text
    smallest = min(sizes)
    raise PayloadCeilingTooSmall(
        f"the smallest brief has {smallest} bytes",
        max_output_bytes=max_bytes,
        minimum_safe_packet_bytes=smallest,
        reason=PayloadCeilingTooSmall.code,
    )


class _Draft:
    """A packet's brief in all its shapes: what is the same in several of them is rendered once."""

    def __init__(self, packet: EvidencePacket) -> None:
        self._packet = packet
        self._evidence = packet["decision_evidence"]
        self.failures = len(self._evidence["failures"])
        self._names = [_name(number, failure) for number, failure in enumerate(self._evidence["failures"], 1)]
        self._in_xml = xml_told(self._evidence["failures"], CONTEXT)
        self._regions = list(_regions(self._evidence["failures"], self._in_xml))
        self._context = [_context(failure) for failure in self._evidence["failures"]]
        self._spoken = [_spoken(failure) is not None for failure in self._evidence["failures"]]
        self._spans = [spans_of(lines_of(failure)) for failure in self._evidence["failures"]]
        self._sections: dict[tuple[str, bool], list[str]] = {}

    def text(self, shape: Shape) -> str:
        """The brief in one shape."""
        evidence = self._evidence
        costs = shape.costs(self._packet)
        lines = [_verdict(self._packet, sufficient=not costs)]
        named = self.failures if shape.named is None else shape.named
        whole = named if shape.whole is None else min(named, shape.whole)
        for index in range(named):
            lines.append(self._names[index])
            if index < whole:
                lines += self._regions[index]
        context = sum(self._context[:whole])
        if context:
            lines.append(f"~ {context} {'line' if context == 1 else 'lines'} of context, not shown")
        in_xml = sum(1 for index in self._in_xml if index < whole)
        for count, what in ((sum(self._spoken[:whole]), "commands to a CI system"), (in_xml, "JUnit XML")):
            if count:
                lines.append(f"~ {count} {'region' if count == 1 else 'regions'} of {what}, decoded")
        if named < self.failures:
            rest = [span for spans in self._spans[named:] for span in spans]
            lines.append(f"+ {self.failures - named} more failures are not named here{place_of(rest)}")
        omitted = evidence.get("omitted_failures")
        if omitted is not None:
            place = f"[{omitted['first_line']}-{omitted['last_line']}]"
            lines.append(f"+ {omitted['count']} more failures are not named here {place}")
        lines += self._section("fatal", evidence["fatal_errors"], shown=shape.stops)
        lines += self._section("timeout", evidence["timeouts"], shown=shape.stops)
        lines += self._section("warning", evidence["warnings"], shown=shape.remarks)
        lines += self._section("todo", evidence.get("todo", []), shown=shape.remarks)
        lines += self._unclassified(shape)
        lines += _reasons([*evidence["reason_codes"], *costs])
        lines += _way_back(self._packet, sufficient=not costs)
        lines.append(_receipt(self._packet))
        return "\n".join(lines) + "\n"

    def _section(self, word: str, lines: Sequence[Mapping[str, Any]], *, shown: bool) -> list[str]:
        key = (word, shown)
        if key not in self._sections:
            self._sections[key] = list(_section(word, lines, shown=shown))
        return self._sections[key]

    def _unclassified(self, shape: Shape) -> list[str]:
        unclassified = self._evidence["unclassified_evidence"]
        if shape.remarks or not shape.edges:
            return self._section("unclassified", unclassified, shown=shape.remarks)
        head, tail = (shape.edges + 1) // 2, len(unclassified) - shape.edges // 2
        shown = [*_section("unclassified", unclassified[:head], shown=True)]
        hidden = _section("unclassified", unclassified[head:tail], shown=False)
        return [*shown, *hidden, *_section("unclassified", unclassified[tail:], shown=True)]

    def edges(self, ceiling: int) -> int:
        """How many unclassified lines of a run without a test fit, though not all.

        The line of a block's place counts as long as it can be, so that a lower ceiling never shows another line.
        """
        lines = self._evidence["unclassified_evidence"]
        if self._evidence["counts"]["total"] or not lines:
            return 0
        size = len(self.text(Shape(remarks=False)).encode())
        last = max(line["line"] for line in lines)
        before: dict[int, Mapping[str, Any]] = {}
        for n in range(1, len(lines)):
            at_head = n % 2
            line = lines[n // 2] if at_head else lines[-n // 2]
            size += len("\n".join(_section("unclassified", [line], shown=True)).encode()) + 1
            pair = [before[at_head], line] if at_head in before else []
            if len(list(_blocks(pair if at_head else pair[::-1]))) == 1:
                size -= len(f"unclassified{place_of([line])}\n")
            else:
                size += 2 * len(str(last))
            before[at_head] = line
            if size > ceiling:
                return n - 1
        return len(lines) - 1

    def most(self, ceiling: int | None, limit: int, shape: Callable[[int], Shape]) -> int:
        """The largest n in 0..limit whose shape fits, found by halving: a larger n never makes a shorter brief."""
        low, high = 0, limit
        while low < high:
            middle = (low + high + 1) // 2
            if ceiling is None or len(self.text(shape(middle)).encode()) <= ceiling:
                low = middle
            else:
                high = middle - 1
        return low


def _all(draft: _Draft, ceiling: int | None) -> Shape:
    return Shape()


def _head_and_tail(draft: _Draft, ceiling: int | None) -> Shape:
    return Shape(remarks=False, edges=0 if ceiling is None else draft.edges(ceiling))


def _no_remarks(draft: _Draft, ceiling: int | None) -> Shape:
    return Shape(remarks=False)


def _some_regions(draft: _Draft, ceiling: int | None) -> Shape:
    limit = max(0, draft.failures - 1)
    return Shape(remarks=False, whole=draft.most(ceiling, limit, lambda n: Shape(remarks=False, whole=n)))


def _no_text(draft: _Draft, ceiling: int | None) -> Shape:
    return Shape(stops=False, remarks=False, whole=0)


def _some_names(draft: _Draft, ceiling: int | None) -> Shape:
    limit = max(0, draft.failures - 1)
    return Shape(False, False, 0, draft.most(ceiling, limit, lambda n: Shape(False, False, 0, n)))


RUNGS: tuple[Callable[[_Draft, int | None], Shape], ...] = (
    _all,
    _head_and_tail,
    _no_remarks,
    _some_regions,
    _no_text,
    _some_names,
)


def _verdict(packet: EvidencePacket, *, sufficient: bool) -> str:
    evidence = packet["decision_evidence"]
    counts, process = evidence["counts"], evidence["process"]
    tests = [f"{counts['failed']} failed", f"{counts['passed']} passed"]
    tests += [f"{n} {word}" for word, n in (("skipped", counts["skipped"]), ("todo", counts.get("todo", 0))) if n]
    code = process["exit_code"]
    exit_code = "exit code unknown" if code is None else f"exit code {code}"
    if process["interrupted"]:
        exit_code += ", timed out" if "TIMEOUT" in evidence["reason_codes"] else ", interrupted"
    enough = "sufficient" if sufficient and evidence["disposition"] == "SUFFICIENT" else "NOT SUFFICIENT, see reasons"
    return f"{evidence['status'].upper()}: {', '.join(tests)}, {counts['total']} in all; {exit_code}; evidence {enough}"


# -- failures ---------------------------------------------------------------------------------------------------------


def _name(number: int, failure: Mapping[str, Any]) -> str:
    """The line of a failure, and those of the failures that share its region."""
    others = "".join(f"\n   also {safe(one['identity'])} [line {one['line']}]" for one in failure.get("also", ()))
    return f"{number}) {safe(failure['identity'])}{place_of(lines_of(failure)) or ' [-]'}{others}"


def _regions(failures: Sequence[Mapping[str, Any]], in_xml: Mapping[int, Sequence[str]]) -> Iterator[list[str]]:
    """The lines of each failure's region; one that reads like an earlier one only says so."""
    seen: dict[tuple[str, ...], int] = {}
    decoded = told(failures)
    for number, failure in enumerate(failures, 1):
        at = number - 1
        region = tuple(_told(failure, decoded[at]) if at in decoded else _region(failure, in_xml.get(at)))
        earlier = seen.setdefault(region, number) if len(region) > 1 else number
        yield list(region) if earlier == number else [f"   same text as {earlier})"]


def lines_of(failure: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All lines and references of a failure."""
    single = [failure[key] for key in ("header", "region", "elsewhere") if key in failure]
    return [*single, *failure.get("details", ())]


def _context(failure: Mapping[str, Any]) -> int:
    """How many lines of a region are there for orientation only."""
    return sum(1 for line in failure.get("details", ()) if "text" in line and line["category"] == CONTEXT)


def _region(failure: Mapping[str, Any], said: Sequence[str] | None) -> Iterator[str]:
    """The lines of a region; `said` is what it says, if it is told in another way than as it stands."""
    texts = [line["text"] for line in failure.get("details", ()) if "text" in line and line["category"] != CONTEXT]
    header, spoken = failure.get("header"), _spoken(failure) if said is None else said
    lines = dedented([line_text(text) for text in (texts if spoken is None else spoken)])
    if header is not None and "text" in header and spoken is None:
        text, name = header["text"], failure["identity"]
        if not says_only_the_name(text, name) and not _sums_up(line_text(text).strip(), safe(name), lines):
            yield FENCE + _unruled(line_text(text).strip())
    yield from _folded(list(_said_once(lines)))
    hidden = [line for line in lines_of(failure) if "text" not in line]
    if hidden:
        yield f"   not shown: {_amount(hidden)}{place_of(hidden)}"


def _spoken(failure: Mapping[str, Any]) -> list[str] | None:
    """What a region says that begins with a command to a CI system; None for any other."""
    identity = failure["identity"]
    first = command_lines(failure.get("header", {}).get("text", ""), identity)
    if first is None:
        return None
    for line in failure.get("details", ()):
        text = line.get("text", "")
        said = command_lines(text, identity)
        first += [text] if said is None else said
    return first


def _told(failure: Mapping[str, Any], texts: Sequence[str]) -> Iterator[str]:
    """What a JSON report on one line says of a failure; where the line stands, how much of it there is."""
    yield from _folded(dedented([line_text(text) for text in texts]))
    header = failure.get("header")
    if header is not None:
        yield f"~ a JSON report on one line, {len(header['text'].encode())} bytes, not shown"


def says_only_the_name(header: str, identity: str) -> bool:
    """Whether a header holds nothing that its failure's identity does not say, save result, number and duration.

    It may be one end of the identity, as the first of several titles is.
    """
    ruled = _unruled(line_text(header).strip())
    text = _AFTER_NAME.sub("", _BEFORE_NAME.sub("", ruled, count=1))
    member = _MEMBER.fullmatch(text)
    text = text if member is None else member["name"]
    words, name = " ".join(_ESCAPED.sub("", text).split()), " ".join(safe(identity).split())
    if bool(words) and (name == words or name.endswith(f" > {words}")):
        return True
    if name == ruled or name.startswith(f"{words} ") or name == words.removesuffix(":"):
        return True
    return ruled != header.strip() and f".{name.replace('::', '.')}".endswith(f".{words.replace('::', '.')}")


def _sums_up(header: str, name: str, lines: Sequence[str]) -> bool:
    """Whether a header is pytest's summary of what the region says in full: `FAILED name - message`, perhaps cut."""
    summary = f"FAILED {name}"
    if not header.startswith(f"{summary} - "):
        return header == summary
    message = header.removeprefix(f"{summary} - ").removesuffix("...")
    return bool(message) and any(message in line for line in lines)


def _said_once(lines: Sequence[str]) -> Iterator[str]:
    """Lines without those whose message the next one gives whole, after the place."""
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        error = _ERROR.fullmatch(line)
        place = following.removesuffix(f" {error[1]}") if error else following
        if place == following or not _WHERE.fullmatch(f"{place} "):
            yield line


def _unruled(text: str) -> str:
    """A title without the ruler on both sides of it."""
    found = _RULED.fullmatch(text)
    return text if found is None else found[2]


def dedented(texts: Sequence[str]) -> list[str]:
    """Lines without what all of them start with for the format's sake: indentation, and TAP's comment sign.

    A YAML block's own `---` and `...` around all the rest go too. Test::More's comments keep their sign: it stands
    inside the values that they quote.
    """
    texts = _without_margin(texts)
    if len(texts) > 2 and texts[0] == "---" and texts[-1] == "...":
        texts = _without_margin(texts[1:-1])
    comments = all(text.startswith("# ") or text in ("", "#") for text in texts)
    if texts and comments and not texts[0].startswith("#   Failed"):
        texts = _without_margin([text[1:] for text in texts])
    return texts


def _without_margin(texts: Sequence[str]) -> list[str]:
    margin = min((len(text) - len(text.lstrip(" ")) for text in texts if text.strip()), default=0)
    return [text[margin:] if text.strip() else "" for text in texts]


def _folded(texts: Sequence[str]) -> Iterator[str]:
    """Fenced lines; a row of the runner's own frames becomes one counted line of ours."""
    frames = place = 0
    while place < len(texts):
        taken = frame(texts, place)
        if taken:
            frames += 1
            place += taken
            continue
        if frames:
            yield _counted(frames)
            frames = 0
        yield _fenced(texts[place])
        place += 1
    if frames:
        yield _counted(frames)


def _fenced(text: str) -> str:
    return FENCE + text if text.strip() else FENCE.rstrip()


def _counted(frames: int) -> str:
    return f"~ {frames} runner {'frame' if frames == 1 else 'frames'}"


# -- everything else --------------------------------------------------------------------------------------------------


def _section(word: str, lines: Sequence[Mapping[str, Any]], *, shown: bool) -> Iterator[str]:
    """Lines of one list, block by block; those without text, or not to be shown, by amount and place."""
    texts = [line for line in lines if "text" in line] if shown else []
    for block in _blocks(texts):
        yield f"{word}{place_of(block)}"
        for line in block:
            yield _fenced(line_text(line["text"]))
    hidden = [line for line in lines if "text" not in line] if shown else list(lines)
    if hidden:
        yield f"{word}, not shown: {_amount(hidden)}{place_of(hidden)}"


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


def place_of(lines: Sequence[Mapping[str, Any]]) -> str:
    """Where lines stand: " [stdout:3-9,20]", with gaps of a line or two left out; empty for no lines."""
    spans: dict[str, list[str]] = {}
    found = spans_of(lines)
    for stream in dict.fromkeys(span["stream"] for span in found):
        own = [(span["line"], span["last_line"]) for span in found if span["stream"] == stream]
        if len(own) > RANGES_AT_MOST:
            own = [(own[0][0], own[-1][1])]
        spans[stream] = [str(a) if a == b else f"{a}-{b}" for a, b in own]
    streams = (f"{stream}:{','.join(ranges)}" for stream, ranges in spans.items())
    return f" [{' '.join(streams)}]" if spans else ""


def spans_of(lines: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Lines and references, or spans of them, as spans of adjacent lines; those of one stream in order."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for line in sorted(lines, key=lambda line: line["line"]):
        first = line["line"]
        last = line.get("last_line", first + line.get("line_count", 1) - 1)
        known = spans.setdefault(line["stream"], [])
        if known and first <= known[-1][1] + GAP:
            known[-1] = (known[-1][0], max(known[-1][1], last))
        else:
            known.append((first, last))
    return [
        {"stream": stream, "line": first, "last_line": last} for stream, known in spans.items() for first, last in known
    ]


def _reasons(codes: Iterable[str]) -> Iterator[str]:
    for code in dict.fromkeys(codes):
        yield f"! {safe(code)}: {ADVICE.get(code, 'see the specification')}"


def _way_back(packet: EvidencePacket, *, sufficient: bool) -> Iterator[str]:
    """How to fetch what is not shown, where the store has it; a run that passed leaves nothing to look for."""
    evidence, reference = packet["decision_evidence"], packet["receipt"]["raw_evidence"]["reference"]
    stored = STORED.fullmatch(reference or "")
    settled = sufficient and (evidence["status"], evidence["disposition"]) == ("passed", "SUFFICIENT")
    if stored and not settled:
        stream = packet["receipt"]["source"]["streams"][0]["name"]
        yield f"> more: context-firewall raw {stored[1]} --lines {stream}:A-B"


def _receipt(packet: EvidencePacket) -> str:
    receipt = packet["receipt"]
    reference = receipt["raw_evidence"]["reference"]
    raw = "no raw reference" if reference is None else f"raw {safe(reference)}"
    return f"receipt {receipt['semantic_payload_hash']}; {raw}"


def safe(text: str) -> str:
    """Text without ANSI sequences, and with every control, separator and invisible character spelled out."""
    return UNSAFE.sub(spelled, ANSI.sub("", text))


def line_text(text: str) -> str:
    """The same of a source line, without the CR of a line that ends with CRLF."""
    return safe(ANSI.sub("", text).removesuffix("\r"))


def spelled(match: re.Match[str]) -> str:
    """A match of UNSAFE as an escape that can be read."""
    known = {"\n": "\\n", "\r": "\\r"}
    code = ord(match[0])
    return known.get(match[0]) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )
