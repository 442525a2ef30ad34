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
    ~ 2 regions of mocha's HTML, decoded                                         the same
    ~ 655 lines of this region, not shown                                        between its first lines and its last
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
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from context_firewall.documents.brief.html_report import html_told
from context_firewall.documents.brief.regions import (
    CONTEXT,
    context_lines,
    fenced,
    is_decoded,
    name_lines,
    regions,
    shortened,
)
from context_firewall.documents.brief.rspec_page import page_told
from context_firewall.documents.brief.xml_report import xml_told
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.line_places import GAP, amount_of, lines_of, place_of, spans_of
from context_firewall.documents.printable import line_text, safe
from context_firewall.documents.reasons import ADVICE
from context_firewall.errors import PayloadCeilingTooSmall

# A raw reference that the evidence store gives; so many digits are enough to find the run by.
STORED = re.compile(r"evidence://sha256/([0-9a-f]{12})[0-9a-f]{52}")


# Under a ceiling that does not hold every name and every text, names take so many times the bytes of the text: a few
# failures in full say more than the rest of a list of hundreds.
NAMES_TO_TEXT = 3


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
    shortened: bool = False
    """Long regions are shown with their first lines and their last."""
    edges: int = 0
    """How many unclassified lines keep their text though remarks do not: from the first on and from the last back."""

    def costs(self, packet: EvidencePacket, *, shorter: bool) -> list[str]:
        """The reason codes for what this shape leaves out of that packet; `shorter`: a region that it shows is cut."""
        evidence = packet["decision_evidence"]
        failures = evidence["failures"]
        stops = [*evidence["fatal_errors"], *evidence["timeouts"]]
        remarks = [*evidence["warnings"], *evidence.get("todo", []), *evidence["unclassified_evidence"]]
        left_out = (
            ("PAYLOAD_LIMIT_OMITTED_NONCRITICAL_TEXT", not self.remarks and any("text" in line for line in remarks)),
            (
                "PAYLOAD_LIMIT_FAILURE_REGIONS_REFERENCED",
                shorter or (self.whole is not None and 0 < self.whole < len(failures)),
            ),
            (
                "PAYLOAD_LIMIT_CRITICAL_EVIDENCE_EXCEEDED",
                (self.whole == 0 and bool(failures)) or (not self.stops and any("text" in line for line in stops)),
            ),
            ("PAYLOAD_LIMIT_FAILURE_NAMES_OMITTED", self.named is not None and self.named < len(failures)),
        )
        return [code for code, is_so in left_out if is_so]


def render_brief(packet: EvidencePacket, *, max_bytes: int | None = None) -> str:
    """The brief of a packet, as text that ends with a newline.

    `max_bytes` is a ceiling on its UTF-8 bytes. Under it, remarks give way first, then the middle of long regions, then
    regions from the last on, and names with them; what is left out is counted, with the lines where it stands. Raises
    PayloadCeilingTooSmall when not even the counts fit; its details name the smallest ceiling that would do.
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


def briefs_of_head_and_tail(packet: EvidencePacket, fenced: int) -> Iterator[str]:
    """The briefs that show so many lines of a run without a test, of the unclassified ones the first and the last.

    Their length does not tell their ceiling: it leaves room for the longest place. Who has one can tell it so.
    """
    lines = packet["decision_evidence"]["unclassified_evidence"]
    if packet["decision_evidence"]["counts"]["total"] or not lines:
        return
    draft = _Draft(packet)
    shown = sum(line.startswith("|") for line in draft.text(Shape(remarks=False)).split("\n"))
    for n in range(1, len(lines)):
        shown += "text" in _edge(lines, n)
        if shown == fenced:
            yield draft.text(Shape(remarks=False, edges=n))


def _edge(lines: Sequence[Mapping[str, Any]], n: int) -> Mapping[str, Any]:
    """The nth line that is kept of lines' head and tail: the first, the last, the second…"""
    return lines[n // 2] if n % 2 else lines[-n // 2]


class _Draft:
    """A packet's brief in all its shapes: what is the same in several of them is rendered once."""

    def __init__(self, packet: EvidencePacket) -> None:
        self._packet = packet
        self._evidence = packet["decision_evidence"]
        self.failures = len(self._evidence["failures"])
        self._names = [name_lines(number, failure) for number, failure in enumerate(self._evidence["failures"], 1)]
        self._in_xml = xml_told(self._evidence["failures"], CONTEXT)
        self._in_html = html_told(self._evidence["failures"], CONTEXT)
        self._on_page = page_told(self._evidence["failures"], CONTEXT)
        decoded = {**self._in_xml, **self._in_html, **self._on_page}
        self._regions = list(regions(self._evidence["failures"], decoded))
        self._short = [shortened(region) for region in self._regions]
        self._context = [context_lines(failure) for failure in self._evidence["failures"]]
        self._spoken = [is_decoded(failure) for failure in self._evidence["failures"]]
        self._spans = [spans_of(lines_of(failure)) for failure in self._evidence["failures"]]
        self._sections: dict[tuple[str, bool], list[str]] = {}

    def text(self, shape: Shape) -> str:
        """The brief in one shape."""
        evidence = self._evidence
        named = self.failures if shape.named is None else shape.named
        whole = named if shape.whole is None else min(named, shape.whole)
        told = self._short if shape.shortened else self._regions
        costs = shape.costs(self._packet, shorter=told[:whole] != self._regions[:whole])
        lines = [_verdict(self._packet, sufficient=not costs)]
        for index in range(named):
            lines.append(self._names[index])
            if index < whole:
                lines += told[index]
        context = sum(self._context[:whole])
        if context:
            lines.append(f"~ {context} {'line' if context == 1 else 'lines'} of context, not shown")
        for count, what in (
            (sum(self._spoken[:whole]), "commands to a CI system"),
            (sum(index < whole for index in self._in_xml), "JUnit XML"),
            (sum(index < whole for index in self._in_html), "mocha's HTML"),
            (sum(index < whole for index in self._on_page), "RSpec's HTML"),
        ):
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
            line = _edge(lines, n)
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

    def steps(self) -> list[Shape]:
        """What ever higher ceilings show, remarks aside: the counts, and with each step one thing more.

        That is the next name, unless the texts so far and the next one take no more than a third of what the names do.
        Fatal errors and timeouts are the first text, then come the regions in order, long ones shortened.
        """
        names = [0, *accumulate(len(name.encode()) + 1 for name in self._names)]
        stops, none = (self.size(Shape(stops, False, 0, 0)) for stops in (True, False))
        texts = [stops - none, *(sum(len(line.encode()) + 1 for line in region) for region in self._short)]
        named = told = spent = 0
        steps = [Shape(False, False, 0, 0)]
        while told < len(texts):
            fits = (spent + texts[told]) * NAMES_TO_TEXT <= names[named] and told <= named
            if fits or named == self.failures:
                spent += texts[told]
                told += 1
            else:
                named += 1
            steps.append(Shape(told > 0, False, max(0, told - 1), named, shortened=True))
        return steps

    def size(self, shape: Shape) -> int:
        """The bytes of the brief in one shape."""
        return len(self.text(shape).encode())


def _all(draft: _Draft, ceiling: int | None) -> Shape:
    return Shape()


def _head_and_tail(draft: _Draft, ceiling: int | None) -> Shape:
    return Shape(remarks=False, edges=0 if ceiling is None else draft.edges(ceiling))


def _no_remarks(draft: _Draft, ceiling: int | None) -> Shape:
    return Shape(remarks=False)


def _shortened(draft: _Draft, ceiling: int | None) -> Shape:
    return Shape(remarks=False, shortened=True)


def _first_steps(draft: _Draft, ceiling: int | None) -> Shape:
    """As many steps as fit.

    Where a step makes a reason superfluous, or another one true, the brief may get shorter by it. Those are few, and
    between two of them each step makes it longer: so the first that does not fit is found by halving.
    """
    steps = draft.steps()
    if ceiling is None:
        return steps[0]
    kinds = [(step.stops, bool(step.whole), step.named == draft.failures) for step in steps]
    turns = [n for n, (one, after) in enumerate(pairwise(kinds), 1) if one != after]
    low = next((n for n in reversed(turns) if draft.size(steps[n]) <= ceiling), 0)
    high = next((n for n in turns if n > low), len(steps)) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if draft.size(steps[middle]) <= ceiling else (low, middle - 1)
    return steps[low]


RUNGS: tuple[Callable[[_Draft, int | None], Shape], ...] = (
    _all,
    _head_and_tail,
    _no_remarks,
    _shortened,
    _first_steps,
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


# -- everything else --------------------------------------------------------------------------------------------------


def _section(word: str, lines: Sequence[Mapping[str, Any]], *, shown: bool) -> Iterator[str]:
    """Lines of one list, block by block; those without text, or not to be shown, by amount and place."""
    texts = [line for line in lines if "text" in line] if shown else []
    for block in _blocks(texts):
        yield f"{word}{place_of(block)}"
        for line in block:
            yield fenced(line_text(line["text"]))
    hidden = [line for line in lines if "text" not in line] if shown else list(lines)
    if hidden:
        yield f"{word}, not shown: {amount_of(hidden)}{place_of(hidden)}"


def _blocks(lines: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    block: list[Mapping[str, Any]] = []
    for line in lines:
        if block and (line["stream"] != block[-1]["stream"] or line["line"] > block[-1]["line"] + GAP):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


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
