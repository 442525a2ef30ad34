"""Runs of service messages about tests that pass: what they look like as runners write them.

The lane matches whole tests and suites only. What it cannot prove, that a suite of the run's flow is open, is checked
by who takes the run; messages in any other form are read line by line.
"""

import re
from functools import cache

# The text of a value, as the grammar has it, but on one line and with nothing in it that begins like a message.
_TEXT = rb"(?:[^'|#\n\r\x1b]++|\|[^#\n\r\x1b]|#(?!#))*+"
# The flow of a run's first message. What only looks like one, in a value, fits nowhere, and no run is found.
_FLOW = rb"(?=(?:(?! flowId=)[^\n])*+(?P<flow>(?: flowId='%b')?+))" % _TEXT
# Keys in the orders in which runners write them: PHPUnit and those of mocha and jest, teamcity-messages. None stands
# twice. An END has the NAME that its START has; the FLOW is the run's.
_NAME_FIRST = (
    rb" name='NAME'(?: captureStandardOutput='TEXT')?+(?: locationHint='TEXT')?+FLOW",
    rb" name='NAME'(?: duration='TEXT')?+FLOW",
)
_NAME_LAST = (
    rb" timestamp='TEXT'(?: captureStandardOutput='TEXT')?+FLOW name='NAME'",
    rb" timestamp='TEXT'(?: duration='TEXT')?+FLOW name='NAME'",
)
_NESTING = 2
"""Suites inside suites that a lane reads at once."""


def _units(keys: tuple[bytes, bytes], group: bytes, depth: int) -> bytes:
    """A test that starts and finishes with nothing between, or a suite of such; `group` begins the names of groups."""
    start, end = keys
    group += b"%d" % depth

    def pair(what: bytes, name: bytes, inside: bytes) -> bytes:
        begun, ended = start.replace(b"NAME", rb"(?P<%b>TEXT)" % name), end.replace(b"NAME", rb"(?P=%b)" % name)
        line = rb"##teamcity\[%b%b\]\r?+\n"
        return line % (what + b"Started", begun) + inside + line % (what + b"Finished", ended)

    units = pair(b"test", group, b"")
    if depth:
        units += b"|" + pair(b"testSuite", group + b"s", rb"(?:%b)*+" % _units(keys, group, depth - 1))
    return units.replace(b"FLOW", b"(?P=flow)").replace(b"TEXT", _TEXT)


@cache
def passed_lane() -> re.Pattern[bytes]:
    """Whole lines of such tests and suites, all of one flow."""
    first, last = _units(_NAME_FIRST, b"a", _NESTING), _units(_NAME_LAST, b"b", _NESTING)
    return re.compile(rb"%b(?:(?:%b)++|(?:%b)++)" % (_FLOW, first, last))
