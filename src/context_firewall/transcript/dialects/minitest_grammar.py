"""What minitest's reporters print, pattern by pattern. Bare bytes in.

A run has a head, the results, a line that says how long it took, a numbered account of each failure, and the totals.
Every pattern is possessive or looks at each byte a bounded number of times.
"""

import re
from typing import NamedTuple

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.ruby import frame_kind

# -- the head ---------------------------------------------------------------------------------------------------------

# `Run options: --seed 42 -v`, an empty line, `# Running:`.
OPTIONS = re.compile(rb"Run options: (?:(?!--seed )\S++ )*+--seed [0-9]++(?: [^\n]*+)?+")
RUNNING = b"# Running:"
# Rails says more before it, and its totals stand right below the time.
IN_PROCESSES = re.compile(
    rb"Running [0-9]++ tests? in (?:a single process|parallel using [0-9]++ (?:processes|threads))"
    rb"(?: \(parallelization threshold is [0-9]++\))?+"
)

# -- the results ------------------------------------------------------------------------------------------------------

# Passed, failure, error, skipped: in one line, and what a test prints is glued to them.
LETTERS = b".FES"
PASSED, FAILURE, ERROR, SKIPPED = LETTERS

# -v: `Price#test_tea = `, then what the test prints, then `0.01 s = F`.
START = re.compile(rb"(?P<name>[^\s#=][^\n#]*+#(?:[^\n= ]| (?!= )|=)++) = ")
END = re.compile(rb"(?<![0-9])[0-9]++\.[0-9]{2} s = (?P<letter>[.FES])\Z")
BEHIND_NAME = b" = "
PASSED_LANE = re.compile(
    rb"(?:[^\s#=][^\n#\r\x1b]*+#[^\n= \r\x1b]++(?:(?: (?!= )|=)[^\n= \r\x1b]*+)*+ = [0-9]++\.[0-9]{2} s = \.\n)++"
)

# -- the report -------------------------------------------------------------------------------------------------------

# --pride says it its own way.
FINISHED = re.compile(rb"(?:Finished|Fabulous run) in [0-9.]++s, [0-9.]++ runs/s, [0-9.]++ assertions/s\.")

# Below an empty line: `  1) Failure:`, then `Price#test_tea [test/test_price.rb:9]:`, then the message. What goes wrong
# in a teardown as well follows under the same number: an empty line, `Error:`, the name once more. -v lists skips too.
# Numbers are three columns wide.
HEADER = re.compile(rb"(?P<number>  [1-9]| [1-9][0-9]|[1-9][0-9]{2,8}+)\) (?P<flavour>Failure|Error|Skipped):")
PLACE = re.compile(rb"[^\n\[\]]*?:[0-9]++\]")

_N = rb"[0-9]{1,9}+"
TOTALS = re.compile(
    rb"(?P<runs>%b) runs, %b assertions, (?P<failures>%b) failures, (?P<errors>%b) errors, (?P<skips>%b) skips"
    % ((_N,) * 5)
)
SKIPS_HIDDEN = b"You have skipped tests. Run with --verbose for details."
INTERRUPTED = b"Interrupted. Exiting..."

OPENING = re.compile(
    rb"Run options: (?:(?!--seed )\S++ )*+--seed [0-9]++(?: |\Z)|# Running:\Z"
    rb"|Running [0-9]++ tests? in (?:a single process|parallel using [0-9])"
    rb"|(?:Finished|Fabulous run) in [0-9.]++s, [0-9.]++ runs/s, [0-9.]++ assertions/s\.\Z"
)


class Totals(NamedTuple):
    """The line of totals."""

    runs: int
    failures: int
    errors: int
    skips: int

    @property
    def failed(self) -> int:
        """Failures and errors."""
        return self.failures + self.errors

    @property
    def passed(self) -> int:
        """All that ended in no other way."""
        return self.runs - self.failed - self.skips


def totals(bare: bytes) -> Totals | None:
    """What a line of totals states; None if it is none, or counts more endings than runs."""
    found = TOTALS.fullmatch(bare)
    if found is None:
        return None
    stated = Totals(*(int(found[key]) for key in ("runs", "failures", "errors", "skips")))
    return stated if stated.passed >= 0 else None


def named(bare: bytes) -> bytes | None:
    """The test that the second line of an account names."""
    if not bare.endswith(b":") or b"#" not in bare:
        return None
    name, _, place = bare[:-1].rpartition(b" [")
    return name if name and PLACE.fullmatch(place) else bare[:-1]


def detail_kind(bare: bytes) -> Kind:
    """Kind of a line in an account: frames of installed libraries only orient."""
    if bare.startswith(b"    ") and b":in " in bare:
        return frame_kind(bare.lstrip())
    return classify_detail(bare)
