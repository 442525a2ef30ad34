"""What RSpec's progress and documentation formatters print, pattern by pattern. Bare bytes in.

A run has two parts: the results, with what the examples print between them, and the report, which is made of sections.
A section begins with a heading at the margin below an empty line; all else of it is indented. Every pattern is
possessive or looks at each byte a bounded number of times.
"""

import re
from enum import IntEnum
from typing import NamedTuple

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.ruby import frame_kind

# -- the results ------------------------------------------------------------------------------------------------------

# Progress: passed, failed, pending. They stand in one line, and what an example prints is glued to them.
LETTERS = b".F*"
PASSED, FAILED, PENDING = LETTERS

# Documentation: groups and examples, each two blanks deeper than what it belongs to. A failed example has the number of
# its account, a pending one its reason, a passed one nothing.
OUTLINE = re.compile(rb"(?P<indent>(?:  )++)(?P<name>\S[^\n]*+)")
FAILED_MARK = b" (FAILED - "
PENDING_MARK = b" (PENDING: "

# What the runner says of itself.
SEED = b"Randomized with seed "
INFORMATION = re.compile(
    rb"Randomized with seed [0-9]++|Run options: (?:include|exclude) \{[^\n]*+|Run options:"
    rb"|  (?:include|exclude) \{[^\n]*+|All examples were filtered out(?:; ignoring \{[^\n]*+)?+|No examples found\."
)

# Runs of names without a mark, at any depth. A mark ends its line, so most lines show at their end that they have none.
_MARK = rb"\((?:FAILED - |PENDING: )"
_NAME = rb"(?:  )++(?!(?:in|ex)clude \{)[^\s\x1b](?:%b*+(?:(?<![)\r])|(?<=[^)\r]\r))|(?!.*%b)%b*+)\n"
# A group at the margin, which has an empty line above it and a name below.
_GROUP = (
    rb"\r?+\n(?!(?:[.F*]++\r?+\n|Randomized with|Run options:|All examples|No examples|An error|RSpec is|Pending: "
    rb"|Failures:|Top [0-9]|Deprecation W|Finished in ))[^\s\x1b]%b*+\n(?=  \S)"
)
# Whether the block may hold escape sequences; its lines are read as such.
_ANY, _NO_ESCAPE = b".", rb"[\x00-\x09\x0b-\x1a\x1c-\xff]"
GROUPS, COLOURLESS_GROUPS = (
    re.compile(rb"(?:%b%b)(?:(?:%b)?+%b)*+" % (group, name, group, name))
    for group, name in ((_GROUP % text, _NAME % (text, _MARK, text)) for text in (_ANY, _NO_ESCAPE))
)
OUTLINES, COLOURLESS_OUTLINES = (
    re.compile(rb"(?:(?:%b)?+%b)++" % (_GROUP % text, _NAME % (text, _MARK, text))) for text in (_ANY, _NO_ESCAPE)
)
# Names that follow one another at one depth: their indentation, the first name, and the last if there are several.
LEVELS = re.compile(rb"\n( *+)(\S.*+)(?:\n\1(\S.*+))*+")

FRAME = b"# "

# -- the report -------------------------------------------------------------------------------------------------------


class Heading(IntEnum):
    """The sections, in their order; the slowest examples and the slowest groups stand in the same place."""

    PENDING = 1
    FAILURES = 2
    SLOWEST = 3
    DEPRECATIONS = 4
    FINISHED = 5


_DURATION = rb"(?:[0-9]++ minutes? )?+[0-9.]++(?:e-[0-9]++)?+ seconds?"
FINISHED = re.compile(rb"Finished in %b \(files took %b to load\)" % (_DURATION, _DURATION))
_SLOWEST = re.compile(rb"Top [0-9]++ slowest example(?:s \([^()\n]++\)| groups):")
HEADINGS = {
    b"Pending: (Failures listed here are expected and do not affect your suite's status)": Heading.PENDING,
    b"Failures:": Heading.FAILURES,
    b"Deprecation Warnings:": Heading.DEPRECATIONS,
}

# `  1) Shop adds up`, then lines that are indented by five blanks at least.
HEADER = re.compile(rb"  (?P<number>[1-9][0-9]{0,8}+)\) (?P<name>\S[^\n]*+)")
BODY = b"     "
FIXED = b" FIXED"
# In a pending example's account: the reason, what went wrong if it ran, and the last place. The place of one that did
# not run is its own; else it is a frame, which says what was called.
PLACE = re.compile(rb"# \S[^\n]*?:[0-9]++(?::in |\Z)")
CALLED = re.compile(rb":[0-9]++:in [`']")
NOT_YET = b"# Not yet implemented"

DEPRECATIONS_END = re.compile(rb"[0-9]++ deprecation warnings? total")

# `25 examples, 13 failures, 4 pending, 1 error occurred outside of examples`.
_N = rb"[0-9]{1,9}+"
TOTALS = re.compile(
    rb"(?P<examples>%b) examples?, (?P<failures>%b) failures?(?:, (?P<pending>%b) pending)?+"
    rb"(?:, (?P<errors>%b) errors? occurred outside of examples)?+" % (_N, _N, _N, _N)
)

RECAP_HEADING = b"Failed examples:"
RECAP = re.compile(rb"rspec (?P<place>\S++) # (?P<name>[^\n]++)")

OPENING = re.compile(
    rb"(?:  )++\S(?>[^\n]*? \((?:FAILED - (?=[0-9]{1,9}\)\Z)|PENDING: ))[^\n]*+(?<=\))\Z"
    rb"| {5,}+Failure/Error: \S"
    rb"|Finished in %b \(files took %b to load\)\Z"
    rb"|Pending: \(Failures listed here are expected and do not affect your suite's status\)\Z"
    rb"|Randomized with seed [0-9]++\Z|Run options: (?:include|exclude) \{"
    rb"|An error occurred (?:while loading [^\n]+?\.(?: - Did you mean\?)?|in an? `[^`\n]++` hook\.)\Z"
    % (_DURATION, _DURATION)
)


class Totals(NamedTuple):
    """The line of totals."""

    examples: int
    failures: int
    pending: int
    errors: int

    @property
    def passed(self) -> int:
        """Examples that neither failed nor are pending."""
        return self.examples - self.failures - self.pending


def heading(bare: bytes) -> Heading | None:
    """The section that a line begins."""
    if FINISHED.fullmatch(bare):
        return Heading.FINISHED
    return Heading.SLOWEST if _SLOWEST.fullmatch(bare) else HEADINGS.get(bare)


def totals(bare: bytes) -> Totals | None:
    """What a line of totals states; None if it is none, or counts more endings than examples."""
    found = TOTALS.fullmatch(bare)
    if found is None:
        return None
    stated = Totals(*(int(found[key] or 0) for key in ("examples", "failures", "pending", "errors")))
    return stated if stated.passed >= 0 else None


def marked(name: bytes) -> tuple[bytes, int | None, bool]:
    """An outline's name without its mark, the number of a failed example's account, and whether it is pending."""
    head, mark, number = name.rpartition(FAILED_MARK)
    if mark and number.endswith(b")") and number[:-1].isdigit() and len(number) <= 10:
        return head, int(number[:-1]), False
    head, mark, reason = name.partition(PENDING_MARK)
    if mark and reason.endswith(b")"):
        return head, None, True
    return name, None, False


def detail_kind(bare: bytes) -> Kind:
    """Kind of a line in an account: frames of installed libraries only orient."""
    text = bare.lstrip()
    if text.startswith((b"# ./", b"# /")):
        return frame_kind(text.removeprefix(FRAME))
    return classify_detail(bare)
