"""Long runs of passing tests, taken at once: what they look like with -v and with -json.

A lane matches whole tests only, with everything that belongs to them; names and brackets that a pattern cannot check
are compared afterwards, and what does not fit is left to be read line by line.
"""

import re
from collections import Counter
from dataclasses import dataclass

_SECONDS = rb"\([0-9]++\.[0-9]++s\)"

# An outermost test: its banner; banners of its subtests and its logs; its result; the results of its subtests.
VERBOSE = re.compile(
    rb"(?:=== RUN   (?P<test>[^ \t\r\n/\x1b]++)\n"
    rb"(?:(?:=== (?:RUN   |PAUSE |CONT  |NAME  )(?P=test)(?:/[^ \t\r\n\x1b]++)?+|    (?! *+--- )[^\r\n\x1b]*+)\n)*+"
    rb"--- (?:PASS|SKIP): (?P=test) " + _SECONDS + rb"\n"
    rb"(?:    --- (?:PASS|SKIP): (?P=test)/[^ \t\r\n\x1b]++ " + _SECONDS + rb"\n)*+)++"
)
# A log that holds such a text makes the numbers differ, and the run is read line by line.
_BEGUN = re.compile(rb"=== RUN   ([^ \n]++)\n")
_BANNERS = re.compile(rb"=== (RUN   |PAUSE |CONT  |NAME  )([^ \n]++)\n")
_ENDED = re.compile(rb"--- (?:PASS|SKIP): ([^ \n]++) \(")
_SKIPPED = re.compile(rb"(?m)^(?:    )?--- SKIP: ")


@dataclass(frozen=True, slots=True)
class Green:
    """What a run of tests adds."""

    passed: int
    skipped: int
    lines: int
    banners: int


def verbose_run(block: bytes, start: int, stop: int) -> Green | None:
    """Count the tests of a run, or None if a test has no result or another's."""
    lines = block.count(b"\n", start, stop)
    outermost = block.count(b"\n--- PASS: ", start, stop)
    skipped = block.count(b"\n--- SKIP: ", start, stop)
    # Each test of the run has one result at the margin: more banners are of subtests.
    if 1 + block.count(b"\n=== ", start, stop) == outermost + skipped:
        alone = block.find(b"\n    --- ", start, stop) < 0
        return Green(outermost, skipped, lines, outermost + skipped) if alone else None
    begun = _BEGUN.findall(block, start, stop)
    if len(begun) != 1 + block.count(b"\n=== RUN   ", start, stop):
        return None
    ended = _ENDED.findall(block, start, stop)
    # Subtests mostly end in the order in which they began; parallel ones in any.
    if begun != ended and sorted(begun) != sorted(ended):
        return None
    named = block.count(b"\n=== ", start, stop) - block.count(b"\n=== RUN   ", start, stop)
    if (named or len(set(begun)) < len(begun)) and not _in_order(_BANNERS.findall(block, start, stop)):
        return None
    if block.find(b"    --- SKIP: ", start, stop) >= 0:
        skipped = len(_SKIPPED.findall(block, start, stop))
    return Green(len(begun) - skipped, skipped, lines, len(begun) + named)


def _in_order(banners: list[tuple[bytes, bytes]]) -> bool:
    """Whether each test begins once, in a test that is not paused, and is named only after it has begun."""
    begun: set[bytes] = set()
    paused = False
    for what, name in banners:
        outermost = b"/" not in name
        if what == b"RUN   ":
            if outermost:
                begun.clear()
            elif name in begun or paused:
                return False
            begun.add(name)
        elif name not in begun:
            return False
        if outermost:
            paused = what == b"PAUSE "
    return True


_STRING = rb'(?:[^"\\\n\r\x1b]++|\\.)'
_TIME = rb'\{"Time":"[^"\\\n]*+","Action":'
_OF = rb'"Package":"(?P=package)","Test":"(?P=test)"'
_OUTPUT = _TIME + rb'"output",' + _OF + rb',"Output":"'
_TYPE = rb'"(?:,"OutputType":"[a-z-]++")?+\}\n'

# A test by its events: it runs, says so, prints, says how it ended, and ended.
EVENTS = re.compile(
    rb"(?:" + _TIME + rb'"run","Package":"(?P<package>[^"\\\n]++)","Test":"(?P<test>' + _STRING + rb'++)"\}\n'
    + _OUTPUT + rb"=== RUN   (?P=test)\\n" + _TYPE
    + rb"(?:" + _OUTPUT + rb"(?! *+(?:---|===) )" + _STRING + rb"*+" + _TYPE + rb")*+"
    + _OUTPUT + rb" *+--- PASS: (?P=test) " + _SECONDS + rb"\\n" + _TYPE
    + _TIME + rb'"pass",' + _OF + rb',"Elapsed":[0-9.e-]++\}\n)++'
)  # fmt: skip
# A test's name that JSON writes otherwise than it is.
ESCAPED = re.compile(rb'"Test":"[^"\\\n]*+\\')
# The package of each event, and of each that ends a test; a quotation mark in an output has a backslash before it.
_PACKAGE = re.compile(rb'"Package":"([^"]++)"')
_PASSED = re.compile(rb',"Action":"pass","Package":"([^"]++)"')


def events_run(block: bytes, start: int, stop: int) -> dict[bytes, Green]:
    """What a run adds to each of its packages."""
    lines = block.count(b"\n", start, stop)
    first = _PACKAGE.search(block, start, stop)
    if first is not None and block.count(b"," + first[0] + b",", start, stop) == lines:
        passed = block.count(b',"Action":"pass",', start, stop)
        return {first[1]: Green(passed, 0, lines, 2 * passed)}
    passes = Counter(_PASSED.findall(block, start, stop))
    return {
        package: Green(passes[package], 0, count, 2 * passes[package])
        for package, count in Counter(_PACKAGE.findall(block, start, stop)).items()
    }
