"""What `deno test` prints with its reporters pretty and dot, pattern by pattern. Bare bytes in, names and numbers out.

First the results, then the errors and a list of what failed, if anything did, then one line of totals. The names of a
test and its steps are joined by ` ... `. Every pattern here is possessive or looks at each byte a bounded number of
times.
"""

import re
from typing import NamedTuple

INDENT = b"  "
JOINT = b" ... "

# -- the results ------------------------------------------------------------------------------------------------------

RUNNING = re.compile(rb"running [0-9]{1,9}+ tests? from \S[^\n]*+")
# `NAME ... STATUS (DURATION)`, steps two blanks deeper for each level; with --parallel `FILE => ` before it, and all
# names on one line. A failure may give its reason instead of an account: `FAILED (due to 1 failed step) (2ms)`.
_DURATION = rb"\([0-9][0-9a-z.\xc2\xb5]*+\)"
RESULT = re.compile(
    rb"(?P<indent>(?:  )*+)(?:(?P<file>[^\s]++) => )?+(?P<name>\S[^\n]*) \.\.\. "
    rb"(?P<status>ok|ignored|cancelled|FAILED|INCOMPLETE)(?P<why> \(due to [^\n()]*+\))?+(?: " + _DURATION + rb")?+"
)
# What a step or a print interrupts: the name first, the result on a line of its own.
WAITING = re.compile(rb"(?P<indent>(?:  )*+)(?P<name>\S[^\n]*) \.\.\.")
UNCAUGHT = re.compile(rb"Uncaught error from (?P<file>\S[^\n]*) FAILED")
# `dot`: passed, ignored, failed; tests and steps alike.
SIGNS = re.compile(rb"[.,!]++")
# Passed tests without steps.
LANE = re.compile(rb"(?:(?! )(?:[^\n\x1b\r\t\v\f ]++| (?!\.\.\. ok \())++ \.\.\. ok " + _DURATION + rb"\n)++")

# What a test prints, or a file outside of its tests. The last line may lack its end.
OUTPUT = re.compile(rb"-------(?: (?:pre|post)-test)?+ output -------")
OUTPUT_ENDS = re.compile(rb"-----(?: (?:pre|post)-test)?+ output end -----\Z")

# -- the end ----------------------------------------------------------------------------------------------------------

# An empty line before and behind each. Under the first, for every failure its title, `error: `, and an empty line;
# under the second the titles again.
ERRORS = b" ERRORS "
FAILURES = b" FAILURES "
TITLE = re.compile(rb"(?P<name>\S[^\n]*) => [^\s]+:[0-9]++:[0-9]++|(?P<file>\S[^\n]*) \(uncaught error\)")
ERROR = b"error: "
_STEPS = rb"(?: \((?P<%b_steps>[0-9]{1,9}+) steps?\))?+"
TOTALS = re.compile(
    rb"(?P<word>ok|FAILED) \| (?P<passed>[0-9]{1,9}+) passed"
    + _STEPS % b"passed"
    + rb" \| (?P<failed>[0-9]{1,9}+) failed"
    + _STEPS % b"failed"
    + rb"(?: \| (?P<ignored>[0-9]{1,9}+) ignored"
    + _STEPS % b"ignored"
    + rb")?+(?: \| [0-9]{1,9}+ measured)?+(?: \| [0-9]{1,9}+ filtered out)?+ "
    + _DURATION
)

# On standard error, where the command itself speaks.
COMMANDS_OWN = re.compile(rb"error: Test failed|Check [^\n]++|Download [^\n]++|Stack backtrace:|   0: <unknown>|")

# -- the opening ------------------------------------------------------------------------------------------------------

OPENING = re.compile(
    rb"running [0-9]{1,9}+ tests? from \S|------- pre-test output -------\Z| ERRORS \Z"
    rb"|Uncaught error from \S[^\n]* FAILED\Z|\./[^\s]++ => \S[^\n]* \.\.\. (?:ok|ignored|FAILED) "
    + _DURATION
    + rb"\Z|(?:ok|FAILED) \| [0-9]{1,9}+ passed[ (]"
)


class Totals(NamedTuple):
    """The last line: tests and steps apart."""

    passed: int
    failed: int
    ignored: int
    steps: tuple[int, int, int]
    """Passed, failed and ignored steps."""


def totals(text: bytes) -> Totals | None:
    """The counts that a bare line states; None if it states none, or denies itself."""
    found = TOTALS.fullmatch(text)
    if found is None:
        return None
    passed, failed, ignored = (int(found[key] or 0) for key in ("passed", "failed", "ignored"))
    steps = tuple(int(found[f"{key}_steps"] or 0) for key in ("passed", "failed", "ignored"))
    stated = Totals(passed, failed, ignored, (steps[0], steps[1], steps[2]))
    return stated if (found["word"] == b"FAILED") == bool(failed) else None
