"""Policy v2: the flat subset of TAP, Node's spec and dot reporters, read as published v2 packets were.

It is kept for those who hold such packets; its rules never change. Where it misreads a real runner it does so on
purpose (SPEC.md lists the cases), and policy v3 does not.

A line is tried against the rules in this order, the first match wins:

1. test point                      `ok`, `not ok`, or a glyph of Node's spec reporter
2. aggregate                       `# tests 3`, `ℹ fail 0`
3. detail                          whatever follows a failed point, except version, plan and `# Subtest:`
4. structure                       version, plan, `# Subtest:`, `---`, `...`
5. markers                         `FATAL:`, `TIMEOUT:`, `WARNING:` and their synonyms
6. information                     duration, notes, `> …`, `ℹ …`
7. progress, blank                 dots; nothing but space
8. unclassified                    anything else

A stream that is not UTF-8 throughout is not read at all: it becomes one unclassified_binary event, whose text is a
marker with the stream's length and digest.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from context_firewall.canonical import RunningHash
from context_firewall.transcript.details import SPACE, classify_detail
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally, Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded

_BOM = b"\xef\xbb\xbf"
_S = SPACE

# The word boundary after `ok` lets `ok, fine` through and keeps `okay` out. Number and dash are optional.
_POINT = re.compile(_S + rb"*+(not )?ok(?![0-9A-Za-z_])(?:" + _S + rb"++[0-9]++)?+(?:" + _S + rb"*+-" + _S + rb"*+)?+")
# ✔ ✖ ﹣, a space, and at least one more character.
_GLYPH = re.compile(_S + rb"*+(?:(\xe2\x9c\x94)|(\xe2\x9c\x96)|\xef\xb9\xa3)" + _S + rb"(?=.)", re.DOTALL)
# A directive has space before its sign; the space that the dash takes with it does not count.
_SKIP = re.compile(_S + rb"#" + _S + rb"*+(?i:skip)(?![0-9A-Za-z_])")
_TODO = re.compile(_S + rb"#" + _S + rb"*+(?i:todo)(?![0-9A-Za-z_])")
_ELAPSED = re.compile(rb"[0-9]++(?:\.[0-9]++)?+ms")

_SIGN = rb"(?:#|\xe2\x84\xb9)" + _S + rb"++"  # `# ` or `ℹ `
_AGGREGATE = re.compile(_SIGN + rb"(tests|pass|fail|skipped)" + _S + rb"++([0-9]++)" + _S + rb"*+\Z")
_OPENER = re.compile(_S + rb"*+(?:TAP version [0-9]++|1\.\.[0-9]++|# Subtest:)")
_FENCE = re.compile(_S + rb"*+(?:---|\.\.\.)" + _S + rb"*+\Z")
_MARK = rb"(?:#" + _S + rb"*+)?+"
_FATAL = re.compile(_MARK + rb"(?:FATAL|RUNNER CRASH|UNCAUGHT):")
_TIMEOUT = re.compile(_MARK + rb"TIMEOUT:")
_WARNING = re.compile(_MARK + rb"WARN(?:ING)?:")
_DURATION = re.compile(_SIGN + rb"duration_ms" + _S)
_NOTE = re.compile(_SIGN + rb"(?:(?:suites|cancelled|todo)" + _S + rb"++[0-9]++" + _S + rb"*+\Z|note:)")
_REMARK = re.compile(rb"(?:>|\xe2\x84\xb9)" + _S + rb"|Switched to ")
_PROGRESS = re.compile(_S + rb"*+[.X]++" + _S + rb"*+\Z")
_BLANK = re.compile(_S + rb"*+\Z")
_LEADING = re.compile(_S + rb"*+")
_LAST = re.compile(_S + rb"\Z")

# Runs of whole lines that are passed points, whatever stands before them: no directive, no escape sequence.
_PASSES = re.compile(rb"(?:(?:ok [0-9]++ - |\xe2\x9c\x94 (?=[!-~]))[^\n#\x1b]*+\n)++")


def read_flat(streams: Sequence[tuple[str, Iterable[bytes]]]) -> Transcript:
    """Read whole streams, each given as its name and its bytes in any chunks.

    Aggregates count over all streams together, the last of each name wins over what was observed, and any difference
    is a contradiction.
    """
    readers = [_StreamReader(name).read(chunks) for name, chunks in streams]
    transcript = combined(reader.reading() for reader in readers)
    aggregates: dict[bytes, int] = {}
    for reader in readers:
        aggregates.update(reader.aggregates)
    seen = transcript.tally
    stated = Tally(
        passed=aggregates.get(b"pass", seen.passed),
        failed=aggregates.get(b"fail", seen.failed),
        skipped=aggregates.get(b"skipped", seen.skipped),
        total=aggregates.get(b"tests", seen.total),
    )
    doubts = transcript.doubts
    if stated != seen:
        doubts |= {Doubt.AGGREGATE_CONTRADICTION}
    return transcript._replace(tally=stated, doubts=doubts)


class _StreamReader:
    """Reads one stream; holds the counts, the kept lines and the open failure region."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._number = 0
        self._suppressed: Counter[Kind] = Counter()
        self._failures: list[tuple[str, Line, list[Line]]] = []
        self._region: list[Line] | None = None
        self._kept: dict[Kind, list[Line]] = {
            Kind.FATAL_ERROR: [],
            Kind.TIMEOUT: [],
            Kind.ABNORMAL_WARNING: [],
            Kind.UNCLASSIFIED: [],
        }
        self._marker: str | None = None
        self.aggregates: dict[bytes, int] = {}

    def read(self, chunks: Iterable[bytes]) -> "_StreamReader":
        """Take the whole stream."""
        digest = RunningHash()
        decode = codecs.getincrementaldecoder("utf-8")().decode
        blocks = _whole_lines(chunks)
        try:
            for block in blocks:
                digest.update(block)
                decode(block)
                self._block(block)
            decode(b"", final=True)
        except UnicodeDecodeError:
            for block in blocks:
                digest.update(block)
            self.aggregates.clear()  # what was read before the bad byte is no longer evidence
            self._marker = f"[non-UTF-8 {digest.byte_count} bytes; {digest.digest()}]"
        return self

    def reading(self) -> Reading:
        """The facts of the stream."""
        if self._marker is not None:
            marker = Line(self._stream, 1, Kind.UNCLASSIFIED_BINARY, self._marker.encode())
            return Reading(unclassified=(marker,), doubts=frozenset({Doubt.MALFORMED_UTF8}))
        passed = self._suppressed[Kind.SUCCESSFUL_TEST]
        skipped = self._suppressed[Kind.SKIPPED_TEST]
        failed = len(self._failures)
        kept = {kind: tuple(lines) for kind, lines in self._kept.items()}
        return Reading(
            tally=Tally(passed=passed, failed=failed, skipped=skipped, total=passed + failed + skipped),
            failures=tuple(Failure(name, header, tuple(details)) for name, header, details in self._failures),
            fatal_errors=kept[Kind.FATAL_ERROR],
            timeouts=kept[Kind.TIMEOUT],
            warnings=kept[Kind.ABNORMAL_WARNING],
            unclassified=kept[Kind.UNCLASSIFIED],
            suppressed={kind: count for kind, count in self._suppressed.items() if count},
            has_results=bool(passed + failed + skipped),
        )

    def _block(self, block: bytes) -> None:
        """Take complete lines; only the last line of a stream may lack its newline."""
        at, end = 0, len(block)
        while at < end:
            run = _PASSES.match(block, at)
            if run is not None:
                count = block.count(b"\n", at, run.end())
                self._suppressed[Kind.SUCCESSFUL_TEST] += count
                self._number += count
                self._region = None
                at = run.end()
                continue
            stop = block.find(b"\n", at)
            if stop < 0:
                stop = end
            self._number += 1
            self._line(block[at:stop])
            at = stop + 1

    def _line(self, raw: bytes) -> None:
        seen = bare(raw)
        if self._number == 1 and seen.startswith(_BOM):
            seen = seen[len(_BOM) :]
        if self._point(seen, raw):
            return
        aggregate = _AGGREGATE.match(seen)
        if aggregate is not None:
            self.aggregates[aggregate[1]] = _whole_number(aggregate[2])
            self._suppressed[Kind.AGGREGATE_SOURCE] += 1
            self._region = None
            return
        opener = _OPENER.match(seen) is not None
        if self._region is not None and not opener:
            self._region.append(Line(self._stream, self._number, classify_detail(seen), raw))
            return
        self._region = None
        kind = Kind.STRUCTURE if opener else _outside(seen)
        kept = self._kept.get(kind)
        if kept is None:
            self._suppressed[kind] += 1
        else:
            kept.append(Line(self._stream, self._number, kind, raw))

    def _point(self, seen: bytes, raw: bytes) -> bool:
        """Take the line if it is a test point."""
        point = _POINT.match(seen)
        if point is not None:
            failed = point[1] is not None
            skipped = not failed and _SKIP.search(seen, point.end()) is not None
            if failed and _TODO.search(seen, point.end()) is not None:
                # Neither a failure nor a success, and nothing in this subset says what else it is.
                self._region = None
                self._kept[Kind.UNCLASSIFIED].append(Line(self._stream, self._number, Kind.UNCLASSIFIED, raw))
                return True
            name = seen[point.end() :]
        else:
            point = _GLYPH.match(seen)
            if point is None:
                return False
            failed = point[2] is not None
            skipped = not failed and (point[1] is None or _SKIP.search(seen, point.end()) is not None)
            name = _without_elapsed(seen[point.end() :])
        if failed:
            self._region = []
            header = Line(self._stream, self._number, Kind.FAILED_TEST, raw)
            self._failures.append((_identity(name), header, self._region))
        else:
            self._region = None
            self._suppressed[Kind.SKIPPED_TEST if skipped else Kind.SUCCESSFUL_TEST] += 1
        return True


def _outside(seen: bytes) -> Kind:
    """Kind of a line that is no point, no aggregate, no opener, and stands in no failure region."""
    if _FENCE.match(seen):
        return Kind.STRUCTURE
    if _FATAL.match(seen):
        return Kind.FATAL_ERROR
    if _TIMEOUT.match(seen):
        return Kind.TIMEOUT
    if _WARNING.match(seen):
        return Kind.ABNORMAL_WARNING
    if _DURATION.match(seen):
        return Kind.DURATION_SOURCE
    if _NOTE.match(seen) or _REMARK.match(seen):
        return Kind.INFORMATIONAL
    if _PROGRESS.match(seen):
        return Kind.PROGRESS
    if _BLANK.match(seen):
        return Kind.BLANK
    return Kind.UNCLASSIFIED


def _identity(name: bytes) -> str:
    """A failed test's name without surrounding space."""
    return decoded(_trimmed(name)) or "(unnamed test)"


def _trimmed(name: bytes) -> bytes:
    """Without leading and trailing space, in one pass from either end."""
    stop = len(name)
    lead = _LEADING.match(name)
    start = 0 if lead is None else lead.end()
    while stop > start:
        last = _LAST.search(name, max(start, stop - 3), stop)  # the longest space has three bytes
        if last is None:
            break
        stop = last.start()
    return name[start:stop]


def _without_elapsed(name: bytes) -> bytes:
    """A spec reporter's name without the `(1.5ms)` at its end."""
    trimmed = _trimmed(name)
    opening = trimmed.rfind(b"(")
    if opening > 0 and trimmed.endswith(b")") and _ELAPSED.fullmatch(trimmed, opening + 1, len(trimmed) - 1):
        named = _trimmed(trimmed[:opening])
        return named if len(named) < opening else trimmed
    return trimmed


def _whole_number(digits: bytes) -> int:
    """A count as stated; one too long to be a count is cut to what no run can reach."""
    return min(int(digits.lstrip(b"0")[:20] or b"0"), 2**53 - 1)


def _whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks that end at a newline, but for the last one."""
    pending: list[bytes] = []
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            pending.append(chunk)
            continue
        pending.append(chunk[:cut])
        yield b"".join(pending)
        pending = [chunk[cut:]] if cut < len(chunk) else []
    if pending:
        yield b"".join(pending)
