"""Where lines and references of a packet stand in the run, and how much they are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Lines this close belong to one range; more ranges than this are given as one.
GAP = 2
RANGES_AT_MOST = 4


def lines_of(failure: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All lines and references of a failure."""
    single = [failure[key] for key in ("header", "region", "elsewhere") if key in failure]
    return [*single, *failure.get("details", ())]


def place_of(lines: Sequence[Mapping[str, Any]]) -> str:
    """Where lines stand: " [stdout:3-9,20]", with gaps of a line or two left out; empty for no lines."""
    spans: dict[str, list[str]] = {}
    found = spans_of(lines)
    for stream in dict.fromkeys(span["stream"] for span in found):
        own = [(span["line"], span["last_line"]) for span in found if span["stream"] == stream]
        if len(own) > RANGES_AT_MOST:
            own = [(own[0][0], own[-1][1])]
        spans[stream] = [str(a) if a == b else f"{a}-{b}" for a, b in own]
    streams = (f"{stream}:{','.join(ranges)}" for stream, ranges in spans.items())
    return f" [{' '.join(streams)}]" if spans else ""


def spans_of(lines: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Lines and references, or spans of them, as spans of adjacent lines; those of one stream in order."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for line in sorted(lines, key=lambda line: line["line"]):
        first = line["line"]
        last = line.get("last_line", first + line.get("line_count", 1) - 1)
        known = spans.setdefault(line["stream"], [])
        if known and first <= known[-1][1] + GAP:
            known[-1] = (known[-1][0], max(known[-1][1], last))
        else:
            known.append((first, last))
    return [
        {"stream": stream, "line": first, "last_line": last} for stream, known in spans.items() for first, last in known
    ]


def amount_of(lines: Sequence[Mapping[str, Any]]) -> str:
    count = sum(line.get("line_count", 1) for line in lines)
    size = sum(line["byte_count"] if "byte_count" in line else len(line["text"].encode()) for line in lines)
    return f"{count} {'line' if count == 1 else 'lines'}, {size} bytes"
