"""What Ruby's runners have in common: where an error came from, and what SimpleCov and Ruby itself say."""

import re
from collections.abc import Callable

from context_firewall.transcript.facts import Reading
from context_firewall.transcript.interrupts import stopped_by
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare

# `Coverage report generated for RSpec to /srv/coverage. 10 / 12 LOC (83.33%) covered.`; later the path alone, then a
# line for each criterion.
COVERAGE = re.compile(
    rb"Coverage report generated for [^\n]++"
    rb"|(?:Line|Branch) [Cc]overage: [0-9.]++% \([0-9]++ / [0-9]++\)"
)

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
