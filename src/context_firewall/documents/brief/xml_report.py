"""Failures of a JUnit XML report, as a brief shows them: what the report says of each, without markup.

    <testcase classname="quay" name="moors" time="0.1"><failure message="adrift">Error: adrift
        at quay.test.js:4:9</failure><system-out>wind &gt; 7</system-out></testcase>

is shown as three lines of text. Several cases may share a line, and a region is made of whole lines; so the regions are
read together, in the order of the report. If they do not hold one failing case for each failure, under its name, all of
them are shown as they stand.

Tags, CDATA sections and references are those of XML 1.0, sections 2.7, 3.1 and 4.1.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_MARKUP = re.compile(
    r"<!\[CDATA\[(?P<data>(?:[^\]<]|\](?!\]>)|<(?!testcase ))*+)(?:\]\]>)?+"
    r"|<(?P<end>/?+)(?P<name>[A-Za-z?!][A-Za-z-]*+)(?P<attributes>(?:[^<>\"']|\"[^\"]*+\"|'[^']*+')*+)>"
)
_ATTRIBUTE = re.compile(r"(?<![A-Za-z:_-])([A-Za-z:_-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6})|(lt|gt|amp|quot|apos));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_FAILING = frozenset({"failure", "error", "rerunFailure", "rerunError"})
# A second one in a case may be a failure of its own, as pytest's of a test and of its teardown are.
_OF_ITS_OWN = frozenset({"failure", "error"})
_TOLD = _FAILING | {"system-out", "system-err"}


def xml_told(failures: Sequence[Mapping[str, Any]], context: str) -> dict[int, list[str]]:
    """What a report says of the failures in it, by position; `context` is the category of lines that are not shown."""
    held = {
        at: [line for line in lines if line["category"] != context]
        for at, failure in enumerate(failures)
        if (lines := [line for line in (failure.get("header", {}), *failure.get("details", ())) if "text" in line])
    }
    if not any("<testcase" in line["text"] for lines in held.values() for line in lines[:2]):
        return {}
    text = "\n".join(line["text"].removesuffix("\r") for lines in held.values() for line in lines)
    waiting = list(range(len(failures)))
    told: dict[int, list[str]] = {}
    last = -1
    for case in _failing_cases(text):
        place = next((i for i, at in enumerate(waiting) if _is_named(failures[at]["identity"], case.name)), None)
        if place is not None:
            last = waiting.pop(place)
        elif last < 0 or not _is_named(failures[last]["identity"], case.name):
            return {}
        told.setdefault(last, []).extend(case.said)
    return told if held.keys() <= told.keys() else {}


def _is_named(identity: str, name: str) -> bool:
    """Whether a case may be a failure's; pytest calls a file by its module, Node escapes quotes twice."""
    return identity.endswith((name, unescaped(name))) or identity == f"{name.replace('.', '/')}.py"


class _Case:
    """A case while it is read: its name, what it says, and the element that is open in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.said: list[str] = []
        self.failing = False
        self._open: tuple[str, str] | None = None
        self._parts: list[str] = []

    def text(self, text: str) -> None:
        if self._open is not None:
            self._parts.append(text)

    def begin(self, element: str, message: str) -> None:
        self.failing |= element in _FAILING
        self._open, self._parts = (element, message), []

    def end(self, element: str = "") -> None:
        """The end of an element; of any that is open, if the line with its end tag is not kept."""
        if self._open is None or element not in ("", self._open[0]):
            return
        message, body = self._open[1], "".join(self._parts)
        if not all(line.strip() in body for line in _lines(message)):
            self.said += _lines(message)
        self.said += _lines(body)
        self._open = None


def _failing_cases(text: str) -> Iterator[_Case]:
    """The cases that hold a failure; one with several comes several times."""
    case, start = _Case(""), 0
    for found in _MARKUP.finditer(text):
        case.text(unescaped(text[start : found.start()]))
        start = found.end()
        if found["name"] is None:
            case.text(found["data"])
        elif found["name"] == "testcase":
            case.end()
            if case.failing:
                yield case
            case = _Case("" if found["end"] else _attributes(found["attributes"]).get("name", ""))
        elif found["end"]:
            case.end(found["name"])
        elif found["name"] in _TOLD:
            if case.failing and found["name"] in _OF_ITS_OWN:
                case.end()
                yield case
                case = _Case(case.name)
            case.begin(found["name"], _attributes(found["attributes"]).get("message", ""))
            if found["attributes"].endswith("/"):
                case.end()
    case.text(unescaped(text[start:]))
    case.end()
    if case.failing:
        yield case


def _attributes(text: str) -> dict[str, str]:
    return {key: unescaped(double or single) for key, double, single in _ATTRIBUTE.findall(text)}


def unescaped(text: str) -> str:
    """Text with the characters that its references mean."""
    return _REFERENCE.sub(_meant, text)


def _meant(found: re.Match[str]) -> str:
    """The character of a reference; one that XML has no character for stands as it is."""
    decimal, hexadecimal, named = found.groups()
    if named:
        return _NAMED[named]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else found[0]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines
