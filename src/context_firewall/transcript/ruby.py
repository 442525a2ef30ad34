"""What Ruby's runners have in common: where an error came from, and what SimpleCov and Ruby itself say.

And what RSpec says of errors outside of examples, in its reports for people and in its JSON.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from context_firewall.transcript.facts import Reading
from context_firewall.transcript.interrupts import stopped_by
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded

# `Coverage report generated for RSpec to /srv/coverage. 10 / 12 LOC (83.33%) covered.`; later the path alone, then a
# line for each criterion.
COVERAGE = re.compile(
    rb"Coverage report generated for [^\n]++"
    rb"|(?:Line|Branch) [Cc]overage: [0-9.]++% \([0-9]++ / [0-9]++\)"
)

# An error outside of examples, told where it occurred. The names of other files that were not loaded may follow.
ERROR_OUTSIDE = re.compile(
    rb"An error occurred (?:while loading (?P<file>[^\n]+?)\.(?: - Did you mean\?)?|in an? (?P<hook>`[^`\n]++`) hook\.)"
)
_EXCEPTION = re.compile(rb"[A-Z][A-Za-z0-9_:]*+(?<=:)")

# What RSpec says on standard error when it is told to stop; the report that follows is of what ran until then.
INTERRUPTED = b"RSpec is shutting down and will print the summary report... Interrupt again to force quit."

# Ruby's own warnings, where standard error is merged: `lib/oven.rb:9: warning: method redefined; discarding old bake`.
WARNING = re.compile(rb"(?:[^\s:()][^\n:()]*+|\([^\n:()]++\)):[0-9]++: warning: [^\n]++")


def settled_by(dialect: str, interrupted: bytes) -> Callable[[list[Reading]], list[Reading]]:
    """How readings of a dialect are settled: `interrupted` says that the run was stopped; Ruby's warnings are that."""
    stopped = stopped_by(interrupted)

    def settled(readings: list[Reading]) -> list[Reading]:
        if not any(part.dialect == dialect for part in readings):
            return stopped(readings)
        return [_warned(part) if part.stream == "stdout" else part for part in stopped(readings)]

    return settled


def _warned(part: Reading) -> Reading:
    warnings, rest = list[Line](), list[Line]()
    for line in part.unclassified:
        (warnings if WARNING.fullmatch(bare(line.raw)) else rest).append(line)
    warned = (*part.warnings, *(line.as_kind(Kind.ABNORMAL_WARNING) for line in warnings))
    return part._replace(unclassified=tuple(rest), warnings=warned) if warnings else part


def frame_kind(place: bytes) -> Kind:
    """Kind of a stack frame: those of installed libraries, and of a runner's own command, only orient."""
    if place.startswith(b"/") and (b"/gems/" in place or b"/bin/rspec:" in place):
        return Kind.FAILURE_CONTEXT
    return Kind.STACK_TRACE


def full_name(path: Sequence[bytes]) -> bytes:
    """An example's full name in RSpec: words apart, but for methods (`.new`, `#price`), which follow their class."""
    return path[0] + b"".join(name if name.startswith((b".", b"#")) else b" " + name for name in path[1:])


def error_place(bare: bytes) -> bytes | None:
    """The file or the hook of an error outside of examples that a line begins to tell of, or None."""
    found = ERROR_OUTSIDE.fullmatch(bare)
    return None if found is None else found["file"] or found["hook"] + b" hook"


def error_name(place: bytes, texts: Sequence[bytes]) -> tuple[str, bool]:
    """A file that did not load, or a hook and what it raised; and whether the account says so in one piece.

    `texts` are the account's lines below the one that tells the place.
    """
    if b"`" not in place:
        return decoded(place), True
    for text, below in pairwise([*texts, b""]):
        if _EXCEPTION.fullmatch(text):
            raised = b"%b %b" % (text, below.strip())
            return decoded(b"%b: %b" % (place, raised)), below.startswith(b"  ")
    # An expectation raises nothing that has a name: the message stands alone.
    messages = [below for text, below in pairwise(texts) if not text.strip() and below.startswith(b"  ")]
    return decoded(b": ".join((place, *(message.strip() for message in messages[:1])))), bool(messages)
