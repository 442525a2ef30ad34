"""What bats says on standard error when all tests are over: warnings about how the tests were written (`BW02: …`)."""

import re

from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare

HEADING = b"The following warnings were encountered during tests:"
_WARNING = re.compile(rb"BW[0-9]{2}: [^\n]++| {6,}+(?:\(| )?[^\n]++")


def warns(text: bytes, *, warned: bool) -> bool:
    """Whether a bare line is the heading, or a warning; `warned`: so was the line before."""
    return text == HEADING or (warned and _WARNING.fullmatch(text) is not None)


def with_warnings(readings: list[Reading]) -> list[Reading]:
    """The readings, with bats' warnings on standard error, or behind the report, taken for what they are."""
    return [part if part.dialect else _warned(part) for part in readings]


def _warned(part: Reading) -> Reading:
    warnings, others, warned = list[Line](), list[Line](), False
    for line in part.unclassified:
        warned = warns(bare(line.raw), warned=warned)
        if warned:
            warnings.append(line.as_kind(Kind.ABNORMAL_WARNING))
        else:
            others.append(line)
    return part._replace(warnings=(*part.warnings, *warnings), unclassified=tuple(others))
