"""A packet as workflow commands of GitHub Actions, which show failures beside the source.

    ::error file=tests/test_a.py,line=12,title=tests/test_a.py::test_b::what it says

A pure function of the packet. The runner takes a line for a command if it begins with `::`; then properties up to the
next `::`, and data to the line's end. In data `%`, CR and LF are escaped, in properties `:` and `,` as well: so what a
test prints stays what it is, data within one command. Of one kind a step shows the first ten. SPEC.md, section "Reports
for other systems".
"""

from collections.abc import Iterator, Mapping
from typing import Any

from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.failure_places import Known, place_of_failure
from context_firewall.documents.failure_text import failure_message, failure_text
from context_firewall.documents.printable import safe
from context_firewall.documents.reasons import ADVICE

# What GitHub shows of one step; more would be dropped without a word.
ERRORS_AT_MOST = 10
# The runner cuts a message after 4096 characters.
LONGEST_MESSAGE = 4000
LONGEST_TITLE = 200


def github_annotations(packet: EvidencePacket, *, known: Known) -> str:
    """The commands, one a line, each with its newline; empty for a run that passed without doubt.

    `known` says which paths are files of the project. A failure without a place in it is shown at the step.
    """
    return "".join(f"{line}\n" for line in _commands(packet, known))


def _commands(packet: EvidencePacket, known: Known) -> Iterator[str]:
    evidence = packet["decision_evidence"]
    failures = evidence["failures"]
    for failure in failures[:ERRORS_AT_MOST]:
        place = place_of_failure(failure, known)
        where = {} if place is None else {"file": place.file, "line": place.line}
        yield _command("error", where | {"title": _cut(safe(failure["identity"]), LONGEST_TITLE)}, _message(failure))
    omitted = evidence.get("omitted_failures")
    more = sum(1 + len(failure.get("also", ())) for failure in failures[ERRORS_AT_MOST:])
    more += 0 if omitted is None else omitted["count"]
    if more:
        yield _command("notice", {"title": "more failures"}, f"{more} more failed; read the brief")
    if evidence["disposition"] != "SUFFICIENT" or (evidence["status"] != "passed" and not failures):
        reasons = [f"{code}: {ADVICE.get(code, 'see the specification')}" for code in evidence["reason_codes"]]
        enough = "" if evidence["disposition"] == "SUFFICIENT" else ", and the evidence does not suffice"
        yield _command("warning", {"title": evidence["status"] + enough}, "\n".join(reasons) or "read the brief")


def _message(failure: Mapping[str, Any]) -> str:
    """What a failure says, the reason first; and who else says the same."""
    text, reason = failure_text(failure) or "failed", failure_message(failure)
    said = text if text.startswith(reason) else f"{reason}\n{text}"
    also = [f"also {safe(one['identity'])}" for one in failure.get("also", ())]
    return _cut("\n".join([said, *also]), LONGEST_MESSAGE)


def _command(name: str, properties: Mapping[str, str | int | None], message: str) -> str:
    given = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    return f"::{name} {given}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
