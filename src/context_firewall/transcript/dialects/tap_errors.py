"""What Test::More says about failing points: on standard error, while the points stand on standard output.

A block belongs to the failing point of the same names that has no details yet. If every block finds its point, what
Test::More says of the whole (`# Looks like you failed 1 test of 3.`) is a recap. Nothing else on standard error is
touched, but bats' warnings, which become what they are.
"""

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.facts import Failure, Reading

if TYPE_CHECKING:
    from context_firewall.transcript.dialects.test_more_diagnostics import Said

NAME = "tap"
UNNAMED = "(unnamed test)"
PLACE = "Failed test at "


def settle(readings: list[Reading]) -> list[Reading]:
    """Give each failing point without details its block."""
    wanting = any(not failure.details for part in readings if part.dialect == NAME for failure in part.failures)
    spoke = [
        i
        for i, part in enumerate(readings)
        if wanting and not part.dialect and part.stream == "stderr" and part.unclassified
    ]
    if not spoke:
        return readings
    from context_firewall.transcript.dialects.test_more_diagnostics import diagnosed  # most runs start faster without

    errors = {i: diagnosed(readings[i].unclassified) for i in spoke}
    if not any(said.blocks for said in errors.values()):
        return readings
    blocks: dict[str, deque[Failure]] = defaultdict(deque)
    for said in errors.values():
        for failure in (failure for block in said.blocks for failure in block.failures()):
            blocks[_pointed(failure.identity)].append(failure)
    result = [_told(part, blocks) if part.dialect == NAME else part for part in readings]
    left = {line.number for rest in blocks.values() for failure in rest for line in failure.lines()}
    return [_rest(part, errors[i], left) if i in errors else part for i, part in enumerate(result)]


def _pointed(identity: str) -> str:
    """What the points call a test: one without a name has no place there."""
    above, _, name = identity.rpartition(" > ")
    if not name.startswith(PLACE):
        return identity
    return f"{above} > {UNNAMED}" if above else UNNAMED


def _told(part: Reading, blocks: dict[str, deque[Failure]]) -> Reading:
    failures = []
    for failure in part.failures:
        found = blocks.get(failure.identity) if not failure.details else None
        if not found:
            failures.append(failure)
            continue
        block = found.popleft()
        place = block.identity.rpartition(" > ")[2]
        identity = f"{failure.identity} {place}" if place.startswith(PLACE) else failure.identity
        header = () if block.header is None else (block.header.as_kind(classify_detail(block.header.raw)),)
        lines = (*header, *block.details)
        failures.append(failure._replace(identity=identity, details=lines))
    return part._replace(failures=tuple(failures))


def _rest(part: Reading, said: "Said", left: set[int]) -> Reading:
    """Standard error without the blocks that have found their points."""
    kept = left | {line.number for line in said.rest}
    rest = [line for line in part.unclassified if line.number in kept]
    if left:
        rest += (line for line, _ in said.recaps)
        return part._replace(unclassified=tuple(sorted(rest, key=lambda line: line.number)))
    return part._replace(unclassified=tuple(rest)).with_suppressed(dict(said.recaps))
