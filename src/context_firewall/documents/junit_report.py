"""A packet as JUnit XML, for systems that read nothing else. A pure function of the packet.

The format is the one that CI systems agree on: `testsuites` > `testsuite` > `testcase` with `failure`, `error` or
`skipped` inside. A packet names only the tests that failed; the others are there as one case for all that passed and
one for all that were skipped, so that the counts in the attributes are those of the cases below them. What the packet
counted stands in the properties. Where the evidence does not prove the verdict there is one `error` more, so that no
system shows such a run as green. SPEC.md, section "Reports for other systems".
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from context_firewall.documents.brief import render_brief
from context_firewall.documents.evidence_packet import Counts, EvidencePacket
from context_firewall.documents.failure_places import Known, Place, place_of_failure
from context_firewall.documents.failure_text import failure_message, failure_text
from context_firewall.documents.printable import safe, spelled
from context_firewall.version import MECHANISM_NAME

# XML 1.0, production [2] Char: nothing else may stand in a document, not even as a reference.
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Case(NamedTuple):
    """One `testcase`: its name, where it stands, and what is inside."""

    name: str
    result: str | None = None
    """`failure`, `error` or `skipped`; None for a case that passed."""
    message: str = ""
    text: str = ""
    place: Place | None = None


def junit_report(packet: EvidencePacket, *, known: Known) -> str:
    """The report of a packet, as text that ends with a newline; `known` says which paths are files of the project."""
    evidence = packet["decision_evidence"]
    cases = list(_cases(packet, known))
    suite = safe(evidence["source"]["id"] or packet["operation_id"] or MECHANISM_NAME)
    counts = {"tests": len(cases)}
    counts |= {f"{word}s": sum(case.result == word for case in cases) for word in ("failure", "error")}
    counts["skipped"] = sum(case.result == "skipped" for case in cases)
    numbers: dict[str, str] = {name: str(count) for name, count in counts.items()}
    if evidence["process"]["duration_ms"] is not None:
        numbers["time"] = f"{evidence['process']['duration_ms'] / 1000:.3f}"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites{_attributes({'name': suite, **numbers})}>",
        f"  <testsuite{_attributes({'name': suite, **numbers})}>",
        "    <properties>",
        *(f"      <property{_attributes({'name': name, 'value': value})}/>" for name, value in _properties(packet)),
        "    </properties>",
        *(line for case in cases for line in _lines(case, suite)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _cases(packet: EvidencePacket, known: Known) -> Iterator[_Case]:
    evidence = packet["decision_evidence"]
    for failure in evidence["failures"]:
        place, message, text = place_of_failure(failure, known), failure_message(failure), failure_text(failure)
        for one in (failure, *failure.get("also", ())):
            yield _Case(one["identity"], "failure", message, text, place)
    omitted = evidence.get("omitted_failures")
    if omitted is not None:
        yield _Case(f"{omitted['count']} more failures, not named", "failure", "the packet had no room for their names")
    yield from _unnamed(evidence["counts"])
    if not _settled(evidence):
        reasons = " ".join(evidence["reason_codes"]) or evidence["status"]
        yield _Case("the evidence of this run", "error", reasons, render_brief(packet))


def _unnamed(counts: Counts) -> Iterator[_Case]:
    """The tests that a packet counts and does not name; one that is marked as to do counts as skipped."""
    for word, count, result in (
        ("passed", counts["passed"], None),
        ("skipped", counts["skipped"], "skipped"),
        ("to do", counts.get("todo", 0), "skipped"),
    ):
        if count:
            yield _Case(f"{count} {'test' if count == 1 else 'tests'} {word}", result)


def _settled(evidence: Mapping[str, Any]) -> bool:
    """Whether the cases say all that there is to say of the verdict."""
    if evidence["disposition"] != "SUFFICIENT":
        return False
    if evidence["status"] == "passed":
        return True
    return evidence["status"] == "failed" and bool(evidence["failures"] or evidence.get("omitted_failures"))


def _properties(packet: EvidencePacket) -> Iterator[tuple[str, str]]:
    evidence, receipt = packet["decision_evidence"], packet["receipt"]
    yield "status", evidence["status"]
    yield "disposition", evidence["disposition"]
    yield from ((f"counts.{name}", str(count)) for name, count in sorted(evidence["counts"].items()))
    if evidence["process"]["exit_code"] is not None:
        yield "exit_code", str(evidence["process"]["exit_code"])
    if evidence["reason_codes"]:
        yield "reason_codes", " ".join(evidence["reason_codes"])
    yield "semantic_payload_hash", receipt["semantic_payload_hash"]
    if receipt["raw_evidence"]["reference"] is not None:
        yield "raw_evidence", safe(receipt["raw_evidence"]["reference"])


def _lines(case: _Case, suite: str) -> Iterator[str]:
    named: dict[str, str] = {"classname": suite, "name": safe(case.name)}
    if case.place is not None:
        named["file"] = case.place.file
        if case.place.line is not None:
            named["line"] = str(case.place.line)
    if case.result is None:
        yield f"    <testcase{_attributes(named)}/>"
        return
    yield f"    <testcase{_attributes(named)}>"
    if case.result == "skipped":
        yield "      <skipped/>"
    else:
        said = _attributes({"message": case.message, "type": case.result})
        yield f"      <{case.result}{said}>{escape(_character(case.text))}</{case.result}>"
    yield "    </testcase>"


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f" {name}={quoteattr(_character(value))}" for name, value in values.items())


def _character(text: str) -> str:
    """The text with what XML cannot hold spelled out."""
    return _NO_CHARACTER.sub(spelled, text)
