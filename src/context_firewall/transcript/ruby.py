"""What Ruby's runners have in common: where an error came from, and what SimpleCov says behind their reports."""

import re

from context_firewall.transcript.kinds import Kind

# `Coverage report generated for RSpec to /srv/coverage. 10 / 12 LOC (83.33%) covered.`; later the path alone, then a
# line for each criterion.
COVERAGE = re.compile(
    rb"Coverage report generated for [^\n]++"
    rb"|(?:Line|Branch) [Cc]overage: [0-9.]++% \([0-9]++ / [0-9]++\)"
)


def frame_kind(place: bytes) -> Kind:
    """Kind of a stack frame: those of installed libraries, and of a runner's own command, only orient."""
    if place.startswith(b"/") and (b"/gems/" in place or b"/bin/rspec:" in place):
        return Kind.FAILURE_CONTEXT
    return Kind.STACK_TRACE
