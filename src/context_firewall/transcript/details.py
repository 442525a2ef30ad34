"""What a line inside a failure region is. Both policies agree on it.

The patterns see bare lines (no ANSI, no trailing CR). Each is possessive or has one way only to match, so a line of
n bytes costs O(n). The first that matches decides.
"""

import re

from context_firewall.transcript.kinds import Kind

# What counts as space in a pattern of the flat subset: the set of ECMAScript's \s, as UTF-8.
SPACE = (
    rb"(?:[\t\n\x0b\x0c\r ]|\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]"
    rb"|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf)"
)

# How a line begins that says what was compared, what threw or where, or what went wrong. Most spaces are blanks, which
# are taken at one go.
_BEGINNING = re.compile(
    rb" *+"
    + SPACE
    + rb"*+(?:(?P<assertion>(?:operator|expected|actual|diff|code):)|(?P<frame>at"
    + SPACE
    + rb"|[A-Za-z]*Error:)|(?P<message>(?:error|message|cause):))"
)
# A place in parentheses, `(file.js:1:2)`, anywhere in the line. An inner colon is taken only where no place follows,
# and a failed attempt stops at a parenthesis, so no byte is looked at more than a few times.
_PLACE = re.compile(rb"\((?:[^():]++|:(?![0-9]++:[0-9]++\)))*+:[0-9]++:[0-9]++\)")


def classify_detail(bare: bytes) -> Kind:
    """Kind of one bare line of a failure region, other than its header."""
    found = _BEGINNING.match(bare)
    begins = found.lastgroup if found is not None else None
    if begins == "assertion":
        return Kind.ASSERTION
    if begins == "frame" or (b"(" in bare and _PLACE.search(bare)):
        return Kind.STACK_TRACE
    return Kind.FAILURE_DETAIL if begins is None else Kind.FAILURE_MESSAGE
