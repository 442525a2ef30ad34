"""Uncaught errors on standard error, of files that are known to have failed.

A runner that starts a process a file, as node-tap does, says on standard output that the file failed; why, Node says on
standard error, once a file: the place of the error, its source line and a caret, the error with its stack, and `Node.js
vX` at the end. Such a block goes with the failure whose name is the file that it names.
"""

import re
from collections.abc import Iterator, Sequence

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading
from context_firewall.transcript.lines import Line, bare, decoded
from context_firewall.transcript.process_failure import PLACE, place_in, starts_uncaught

END = re.compile(rb"Node\.js v[0-9][^\n]*+")
# Where the module loader throws, the place is Node's own, and the stack of requests names the file.
_NODES_OWN = re.compile(rb"node:[a-z_/]++:[0-9]++")
_POSITION = re.compile(rb"(?::[0-9]++){1,2}+\Z")


def with_uncaught_errors(readings: list[Reading]) -> list[Reading]:
    """The readings with each such block given to its file's failure; any other line stays where it is."""
    if not any(part.failures for part in readings):
        return readings
    lines = [line for part in readings for line in part.unclassified if line.stream == "stderr"]
    files = {one.identity for part in readings for one in part.failures if one.header and one.header.stream == "stdout"}
    told: dict[str, list[Line]] = {}
    for block in _blocks(lines):
        named = decoded(_file(block))
        owners = [file for file in files if named.endswith(f"/{file}")]
        if len(owners) == 1:
            told.setdefault(owners[0], []).extend(block)
    if not told:
        return readings
    gone = {line for block in told.values() for line in block}
    return [_with(part, told, gone) for part in readings]


def _with(part: Reading, told: dict[str, list[Line]], gone: set[Line]) -> Reading:
    failures = []
    for one in part.failures:
        # The first of that name has it all.
        lines = told.pop(one.identity, ())
        more = tuple(line.as_kind(classify_detail(bare(line.raw))) for line in lines)
        failures.append(Failure(one.identity, one.header, (*one.details, *more)))
    left = tuple(line for line in part.unclassified if line not in gone)
    doubts = part.doubts if left else part.doubts - {Doubt.UNCLASSIFIED_EVIDENCE}
    return part._replace(failures=tuple(failures), unclassified=left, doubts=doubts)


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """From the place of an error to Node's version."""
    texts = [bare(line.raw) for line in lines]
    start: int | None = None
    for at, text in enumerate(texts):
        if starts_uncaught(texts, at) and (PLACE.fullmatch(text) or _NODES_OWN.fullmatch(text)):
            start = at
        elif END.fullmatch(text) and start is not None:
            yield list(lines[start : at + 1])
            start = None


def _file(block: Sequence[Line]) -> bytes:
    """The file that a block names, without its position."""
    return _POSITION.sub(b"", place_in([bare(line.raw) for line in block]) or b"")
