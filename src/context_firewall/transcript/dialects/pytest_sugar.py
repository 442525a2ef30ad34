"""What pytest-sugar prints in place of pytest's own report, pattern by pattern.

It names no width, overwrites its rows of marks (each row holds the marks so far of a file, between carriage returns),
reports a failure as soon as it happens under a ruler of its own sign, and ends with a list of counts.
"""

import re

from context_firewall.transcript.dialects.pytest_grammar import COUNTED, Counts

STARTS = re.compile(rb"Test session starts \(platform: [^\n]*\)")
RULER = "―".encode()
# ` tests/test_a.py ✓✓⨯   43% ████▍`: the last row between carriage returns is the one that stands.
ROW = re.compile(
    rb" ?(?P<file>[^\s]++) (?P<marks>[^\s]++) ++[0-9]++% (?:\xe2\x96[\x80-\xbf]| )*+",
)
MARKS = (
    ("✓".encode(), "passed"),
    ("⨯".encode(), "failed"),
    ("✗".encode(), "failed"),
    (b"s", "skipped"),
    (b"x", "xfailed"),
    (b"X", "xpassed"),
    (b"E", "errors"),
)
CLOSES = re.compile(rb"Results \([0-9.]++s(?: \([0-9:]++\))?+\):")
COUNT = re.compile(rb" ++(?P<number>[0-9]{1,12}+) (?P<word>[a-z]++)")
LISTED = re.compile(rb" ++- [^\n]++")


def title(bare: bytes) -> bytes | None:
    """The title of a failure's ruler; None if the line is none."""
    if not bare.startswith(RULER) or not bare.endswith(RULER):
        return None
    text = bare.strip(RULER)
    return text.strip(b" ") if text[:1] == b" " == text[-1:] and text.strip() else None


def row(bare: bytes) -> re.Match[bytes] | None:
    """The row of marks that stands at the end of a line."""
    return ROW.fullmatch(bare.rpartition(b"\r")[2])


def counted(counts: Counts, bare: bytes) -> Counts | None:
    """The counts with one more line of the closing list; None if the line is not of it."""
    found = COUNT.fullmatch(bare)
    if found is None:
        return counts if LISTED.fullmatch(bare) else None
    name = COUNTED.get(found["word"])
    if name is None:
        return counts
    values = {
        field: getattr(counts, field) for field in ("passed", "failed", "errors", "skipped", "xfailed", "xpassed")
    }
    values[name] += int(found["number"])
    return Counts(**values, unknown=counts.unknown)
