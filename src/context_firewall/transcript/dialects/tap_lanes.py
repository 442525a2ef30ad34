"""Runs of passing points, read many at a time: the patterns that prove a run, and the numbers that it must carry.

A lane never decides what `TapMachine.line` would decide otherwise. Its pattern proves the form of every line in the
run; what a pattern cannot prove (that numbers follow one another, that a plan says how many children there were) is
checked here, and a run that fails is refused and read line by line.
"""

import re
from functools import cache
from typing import NamedTuple

from context_firewall.transcript.dialects import tap_grammar as grammar
from context_firewall.transcript.lines import bare

# Points at column 0, all numbered or none of them: with a description or at least a blank, without the marks that may
# change what it means (machine.MARKS). A CR is the description's or the line's, and means nothing in either.
# Two patterns for one language: where no such mark stands none has to be looked for, which is three times as fast.
CAREFUL_RUN = re.compile(rb"(?:ok [0-9]++ [^\n#\\{\x1b]*+\n)++|(?:ok (?![0-9 \t])[^\n#\\{\x1b]*+\n)++")
PLAIN_RUN = re.compile(rb"(?:ok [0-9]++ [^\n]*+\n)++|(?:ok (?![0-9 \t])[^\n]*+\n)++")
_NUMBER = re.compile(rb"\nok ([0-9]++) ")
# Another point below a run: nothing more belongs to the run's last one.
POINT_BELOW = re.compile(rb"(?:not )?+ok [0-9]++ ")

# What grammar.POINT and PYTEST_NODE would find in such a line, from its start.
_PYTEST_POINT = re.compile(rb"(?m)^ok (?:[0-9]++ )?+[ \t]*+(?:-(?:[ \t]++|\r?$))?+[^ \n]*?\.py::")

# Suites inside suites that a Node lane reads at once, and the indentation up to which lanes are offered.
_NESTING = 3
INDENT_LIMIT = 64

# Points and plans of Node's tests, with their indentation. Nothing else in a run begins so.
_TOKEN = re.compile(rb"\n( *+(?:ok [0-9]++|1\.\.[0-9]++))")
SUITE = b"type: 'suite'\n"

_HUNDRED = b" ".join(b"@%02d" % n for n in range(100))


def consecutive(first: int, count: int) -> bytes:
    """The numbers from `first` on, between blanks; made by the hundred, since formatting each costs more."""
    last = first + count
    if first < 100:
        few = b" ".join([b"%d" % n for n in range(first, min(last, 100))])
        return few if last <= 100 else few + b" " + consecutive(100, last - 100)
    whole = b" ".join([_HUNDRED.replace(b"@", b"%d" % n) for n in range(first // 100, -(-last // 100))])
    # All numbers of a hundred are of one length: what is too much at either end is cut off.
    skipped, added = first % 100 * len(b"%d " % first), -last % 100 * len(b" %d" % last)
    return whole[skipped : len(whole) - added]


def numbers_in_order(block: bytes, start: int, stop: int, due: int) -> tuple[int, int]:
    """How many points of a plain run are numbered due, due + 1, ... (all, all but its last, or 0), and of how many."""
    if not block[start + 3 : start + 4].isdigit():
        count = block.count(b"\n", start, stop)
        return count, count  # without a number each is the next
    first = block[start + 3 : block.index(b" ", start + 3)]
    # Each number but the first has its newline before it in the run.
    numbers = [first, *_NUMBER.findall(block, start, stop)]
    count = len(numbers)
    found, asked = b" ".join(numbers), consecutive(due, count)
    if found == asked:
        return count, count
    return count - 1 if found.rpartition(b" ")[0] == asked.rpartition(b" ")[0] else 0, count


def has(block: bytes, text: bytes, rare: bytes, start: int, stop: int) -> bool:
    """Whether a text stands in a run; looking for its rarest byte first costs next to nothing."""
    return block.find(rare, start, stop) >= 0 and block.find(text, start, stop) >= 0


_SEPARATORS = (b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xc2\x85")


def hides(block: bytes, start: int, stop: int) -> bool:
    """Whether a line of the run holds TAP behind a byte that ends no line."""
    returns = block.find(b"\r", start, stop) >= 0
    lone = returns and block.count(b"\r", start, stop) != block.count(b"\r\n", start, stop)
    if not lone and not any(has(block, mark, mark[-1:], start, stop) for mark in _SEPARATORS):
        return False
    return any(grammar.HIDDEN.search(bare(raw)) for raw in block[start:stop].split(b"\n"))


def has_pytest_name(block: bytes, start: int, stop: int) -> bool:
    """Whether a point of a plain run is named by a pytest node id."""
    return has(block, b".py::", b":", start, stop) and _PYTEST_POINT.search(block[start:stop]) is not None


def names_with_path(block: bytes, start: int, stop: int) -> int:
    """How many points of a plain run have a name of several parts, `file > test`."""
    if not has(block, b" > ", b">", start, stop):
        return 0
    points = (grammar.POINT.fullmatch(bare(raw)) for raw in block[start:stop].split(b"\n") if b" > " in raw)
    return sum(b" > " in grammar.described(point[3] or b"").name for point in points if point)


@cache
def _node_number(indent: int) -> re.Pattern[bytes]:
    return re.compile(rb"\n%bok ([0-9]++) - " % (b" " * indent))


@cache
def _node_lane(indent: int) -> re.Pattern[bytes]:
    return re.compile(b"(?:%b)++" % _unit(indent, 0))


def node_lane(indent: int) -> re.Pattern[bytes] | None:
    """Runs of passing tests, and of suites in which all pass, as Node prints them at one indentation."""
    return _node_lane(indent) if indent <= INDENT_LIMIT else None


@cache
def node_goes_on(indent: int) -> re.Pattern[bytes]:
    """Another test below a run, or the plan of its frame: nothing more belongs to the run's last point."""
    return re.compile(rb"%b(?:# Subtest: |1\.\.[0-9]{1,9}+\r?+\n)" % (b" " * indent))


def _unit(indent: int, depth: int) -> bytes:
    i = b" " * indent
    children = b""
    if depth < _NESTING - 1:
        children = rb"(?:(?:%b)++%b    1\.\.[0-9]++\n)?+" % (_unit(indent + 4, depth + 1), i)
    return (
        rb"%b# Subtest: (?P<n%d>[^\n#\\{\x1b\r]*+)\n" % (i, depth)
        + children
        + rb"%bok [0-9]++ - (?P=n%d)\n%b  ---\n%b  duration_ms: [0-9.]++\n" % (i, depth, i, i)
        + rb"(?:%b  type: '(?:suite|test)'\n)?+%b  \.\.\.\n" % (i, i)
    )


# What a line of the first level may not begin with in a run: its end, and the keys that grammar.NODE_… read.
_KEYS = rb"(?:duration_ms|type|failureType|exitCode|signal):"
_READ = rb"\.\.\.|" + _KEYS


@cache
def _yaml_lane(indent: bytes) -> re.Pattern[bytes]:
    first_level = rb"(?!%b)[^\s\x1b][^\n\x1b]*+" % _READ
    return re.compile(rb"(?:(?:%b(?:[ -][^\n]*+|%b))?+\n)++" % (re.escape(indent), first_level))


def yaml_lane(indent: bytes) -> re.Pattern[bytes] | None:
    """Lines inside a YAML block that neither end it nor hold a key that is read, whatever else they say."""
    return _yaml_lane(indent) if len(indent) <= INDENT_LIMIT and not indent.strip(b" ") else None


# A whole YAML block, its first line and its last; by its indentation.
_YAML_BLOCK = (
    rb"(?P<margin> ++)---[ \t]*+\r?+\n"
    rb"(?:(?:(?P=margin)(?:[ -][^\n]*+|(?!\.\.\.)[^\s\x1b][^\n\x1b]*+))?+\n)*+"
    rb"(?P=margin)\.\.\.[ \t]*+\r?+\n"
)
YAML_OPEN = re.compile(rb"( ++)---")


@cache
def or_block(lane: re.Pattern[bytes] | None) -> re.Pattern[bytes]:
    """A lane, if there is one, or the YAML block of the point that is open."""
    return re.compile(_YAML_BLOCK if lane is None else rb"%b|%b" % (_YAML_BLOCK, lane.pattern))


@cache
def _key_line(indent: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\n%b(%b[^\n]*+)" % (indent, _KEYS))


def keys_read(block: bytes, start: int, stop: int, indent: bytes) -> list[bytes]:
    """The lines of a whole YAML block that hold a key that is read, bare and without their indentation."""
    return [bare(text) for text in _key_line(indent).findall(block, start, stop)]


class Units(NamedTuple):
    """What a run of Node's tests and suites amounts to, every level together."""

    top: int = 0
    """Points at the run's own indentation."""
    top_parents: int = 0
    """Those of them that have children."""
    points: int = 0
    parents: int = 0
    suites: int = 0
    children: int = 0
    """How many the last of the top points with children has."""


def units(block: bytes, start: int, stop: int, indent: int, due: int) -> Units | None:
    """Count a run that a Node lane matched; None if a number or a plan in it is not the one that is due."""
    margin = b" " * indent
    suites = block.count(SUITE, start, stop)
    if block.find(b"\n%b    1.." % margin, start, stop) < 0:
        numbers = _node_number(indent).findall(block, start, stop)
        if b" ".join(numbers) != consecutive(due, len(numbers)):
            return None
        return Units(top=len(numbers), points=len(numbers), suites=suites)
    tokens = _TOKEN.findall(block, start, stop)
    number, outer = due, list[int]()  # the number that is due here, and those due in the parents around
    parents = top_parents = children = 0
    for token in tokens:
        if token == b"%bok %d" % (margin, number):
            number += 1
        elif outer and token == b"%b1..%d" % (margin, number - 1):
            children, number, margin = number - 1, outer.pop(), margin[4:]
            parents += 1
            top_parents += not outer
        else:
            inner = token[: -len(b"ok 1")]
            if not token.endswith(b"ok 1") or len(inner) <= len(margin):
                return None
            # The first child, perhaps of a parent that is itself a first child.
            outer += (number, *(1 for _ in range(len(margin) + 4, len(inner), 4)))
            margin, number = inner, 2
    return Units(number - due, top_parents, len(tokens) - parents, parents, suites, children)
