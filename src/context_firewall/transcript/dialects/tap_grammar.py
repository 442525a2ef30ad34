"""The grammar of TAP 13 and 14, one pattern a line form, with the rule that it implements beside it.

Sources: the TAP 13 and TAP 14 specifications; where producers depart from them, the comment says who and how.
Patterns see a bare line (no ANSI, no CR, no newline) with the indentation of its own level taken off. All are
possessive, so linear. Letters are ASCII: `(?i)` on bytes patterns never folds beyond it.
"""

import re
from typing import NamedTuple

# "TAP version 13" / "TAP version 14" (14: must be the first line of its document). Trailing blanks: TAP::Parser
# and Node's consumers accept them, and nothing else could be meant.
VERSION = re.compile(rb"TAP version ([0-9]{1,9}+)[ \t]*+")

# Plan: "1..N", optionally " # reason". "1..0" skips the whole document, whatever the reason says.
PLAN = re.compile(rb"([0-9]{1,18}+)\.\.([0-9]{1,18}+)[ \t]*+(?:#[ \t]*+(.*+))?")

# Test point: "ok" or "not ok", case-sensitive, one space between; then optionally a number, then optionally " - ",
# then the description. 14: what follows "ok" is a space or the line's end, so "okay", "ok1" and "ok:" are no points.
# Two blanks and a tab after "ok" are the go command's word about a package.
POINT = re.compile(rb"(?!ok  \t)(not )?+ok(?:[ \t]++([0-9]++)(?=[ \t]|\Z))?+(?:[ \t]++(?:-(?:[ \t]++|\Z))?+(.*+))?+")

# "Bail out!" with a reason; case-insensitive in 14. Nothing after it can make the run pass.
BAIL_OUT = re.compile(rb"(?i)Bail out!(.*+)")

# A lone CR, NEL or U+2028/2029 ends no line, but a reader's eye and other parsers may think so: what looks like TAP
# behind one is not read, so the document is not trusted.
HIDDEN = re.compile(
    rb"(?:\r|\xc2\x85|\xe2\x80[\xa8\xa9]) *+(?:(?:not )?ok(?:[ \t\r]|\Z)|[0-9]++\.\.[0-9]|Bail out!|TAP version [0-9])"
)

# Pragma: "pragma +key" or "-key", nothing else on the line.
PRAGMA = re.compile(rb"pragma ([+-])([A-Za-z0-9_-]++)[ \t]*+")

# Comment: "#" and anything.
COMMENT = re.compile(rb"#(.*+)")

# "# Subtest: name" or "# Subtest" introduces the document that is indented by four below it.
SUBTEST = re.compile(rb"# Subtest(?::[ \t]?(.*+))?")

# YAML block: 14 wants exactly two blanks beyond its point, 13 any, vitest prints four. It ends at "..." with the
# opening's own indentation, so a "..." that a message holds deeper inside ends nothing.
YAML_OPEN = re.compile(rb"([ \t]++)---[ \t]*+")

# Trailer: totals as comments after the last point (Node, tape, ava, mocha; tape pads with two blanks).
AGGREGATE = re.compile(rb"# (tests|suites|pass|fail|cancelled|skipped|skip|todo)[ ]++([0-9]{1,15}+)[ \t]*+")
# tape leaves out a count of 0 failures and says this instead, last.
NONE_FAILED = re.compile(rb"# ok[ \t]*+")
DURATION = re.compile(rb"# duration_ms [0-9.]++[ \t]*+")
# node-tap's trailer: "# { total: 12, pass: 7, todo: 3, skip: 2 }".
OBJECT_TRAILER = re.compile(rb"# \{ ((?:(?:total|pass|fail|todo|skip): [0-9]{1,15}+(?:, )?+)++) \}")
OBJECT_PAIR = re.compile(rb"(total|pass|fail|todo|skip): ([0-9]++)")
# "# time=1.39ms" ends the description of node-tap's and vitest's points; no directive, a duration.
TIME_SUFFIX = re.compile(rb"# time=[0-9.]++m?s")

# Lines of a YAML block that say what kind of point it belongs to (Node's reporter; two blanks below the point).
NODE_DURATION = re.compile(rb"duration_ms: [0-9.]++")
NODE_TYPE = re.compile(rb"type: '(suite|test)'")
NODE_FAILURE_TYPE = re.compile(rb"failureType: '([A-Za-z]++)'")
NODE_EXIT = re.compile(rb"(?:exitCode: [0-9]++|signal: '[A-Z0-9]++')")

# Test::More names an unnamed point by its place, in the diagnostics below it.
UNNAMED_PLACE = re.compile(rb"# {2,3}(Failed (?:\(TODO\) )?test at [^\n]*+)")

# bats: the hook of a file that the report does not name; what failed stands in the comment or the message below.
FILE_HOOK = re.compile(rb"(setup|teardown)_file failed")
# Where a failing test of bats stands, first of all below its point. bats escapes no "#", so that a name may end like a
# directive; but of a test that was skipped it says no place.
BATS_PLACE = re.compile(rb"(?:# | *+)\((?:in (?:test )?file |from function )[^\n]*+")
FRAME_OF_MESSAGE = frozenset({b"", b"---", b"message: |", b"..."})

# bats, at the end of a run that did not do as its plan says: how many points there are, those that tests wrote to the
# report themselves among them, and how many were planned. In TAP 13 it stands in the last point's block.
EXECUTED = re.compile(rb"(?:#| +) ?bats warning: Executed ([0-9]{1,9}+) instead of expected ([0-9]{1,9}+) tests")
EXECUTED_START = b"bats warning: Executed "

# Test::More, at the end of a file in which tests failed that were not to be done.
LOOKS_FAILED = re.compile(rb"# Looks like you failed ([0-9]{1,9}+) tests? of [0-9]++(?: run)?\.")

# pytest-tap names its points by node id, and never shows an error in a teardown.
PYTEST_NODE = re.compile(rb"[^ ]*?\.py::")

# node-tap's block under a parent says where it stands and how it was started, never why it failed.
PARENT_KEYS = re.compile(
    rb"(?:at|source|exitCode|signal|command|args|cwd|env|file|stdio|timeout|externalID):(?: .*+)?+"
)

# What parents print about a failure that is only a child's. Where Test::More also names the place of the subtest, which
# the child does not, the parent stands for itself.
DERIVED_MESSAGES = (
    re.compile(rb'\{"message":"[0-9]++ test steps? failed\."[^\n]*+'),  # deno
    re.compile(rb"# {2,3}Failed test '[^\n]*+"),  # Test::More
    re.compile(rb"# Looks like you failed [^\n]*+"),
)

BACKSLASH = ord("\\")
ESCAPED = re.compile(rb"\\([\\#])")


class Description(NamedTuple):
    """A point's description, taken apart: the name with escapes undone, the directive, and how sure it is."""

    name: bytes
    directive: str  # "", "skip" or "todo"
    exact: bool
    """The directive is the bare word between blanks or at the end; looser spellings never excuse a `not ok`."""
    timed: bool
    buffered: bool
    """It ends with `{`: a buffered subtest (node-tap, vitest, Test2) may follow."""
    whole: bytes
    """The description with escapes undone and the directive left in."""


# Directive: the first unescaped "#" with a blank (or nothing) before it, then SKIP or TODO in any case.
# 14: `(SKIP|TODO)\S*`, then blank, then the reason; a blank between "#" and the word.
DIRECTIVE = re.compile(rb"(?i)#([ \t]*+)(skip|todo)([^ \t]*+)")
LATER_DIRECTIVE = re.compile(rb"(?i)(?<=[ \t])#([ \t])(skip|todo)()(?=[ \t]|\Z)")


def first_hash(text: bytes) -> int:
    """Offset of the first "#" that no backslash escapes and that a blank, an escaped backslash or the start precedes.

    -1 when there is none. `code.html#line12` has none; `x \\\\# todo` has one, as the specification's example says.
    """
    at = text.find(b"#")
    while at >= 0:
        slashes = 0
        while slashes < at and text[at - slashes - 1] == BACKSLASH:
            slashes += 1
        if slashes % 2 == 0 and (at == 0 or slashes or text[at - 1 : at] in (b" ", b"\t")):
            return at
        at = text.find(b"#", at + 1)
    return -1


def unescaped(text: bytes) -> bytes:
    r"""Undo `\\` and `\#`, scanning in pairs; a backslash before anything else is literal."""
    return ESCAPED.sub(rb"\1", text) if b"\\" in text else text


def described(text: bytes, *, ok: bool = False) -> Description:
    """Take a description apart by the specification's rules for directives and escapes.

    On an `ok` point a directive behind a first, unescaped `#` counts too: tape escapes nothing, and no failure hides.
    """
    buffered = text.endswith(b" {") or text == b"{"
    body = text[:-1].rstrip(b" \t") if buffered else text
    at = first_hash(body)
    if at < 0:
        name = unescaped(body.strip(b" \t"))
        return Description(name, "", False, False, buffered, name)
    whole = unescaped(body.strip(b" \t"))
    head, tail = unescaped(body[:at].strip(b" \t")), body[at:]
    if TIME_SUFFIX.fullmatch(tail.rstrip(b" \t")):
        if head.endswith(b" {"):
            head, buffered = head[:-2].rstrip(b" \t"), True
        return Description(head, "", False, True, buffered, head)
    directive = DIRECTIVE.match(tail)
    if directive is None and ok and (later := LATER_DIRECTIVE.search(tail)) is not None:
        head, directive = unescaped(body[: at + later.start()].strip(b" \t")), later
    if directive is None:
        return Description(whole, "", False, False, buffered, whole)
    blank, word, rest = directive.groups()
    exact = bool(blank) and not rest
    return Description(head, word.decode().lower(), exact, False, buffered, whole)
