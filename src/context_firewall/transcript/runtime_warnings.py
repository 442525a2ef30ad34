"""Warnings that runtimes, package managers and runners print by themselves, each in a form that nothing else has.

They say something of the program, never of a test's result, so they are shown and leave no doubt. Whatever only looks
like one stays unclassified.

Sources: CPython's `warnings.formatwarning`, Node's `process.emitWarning`, Ruby's `rb_warn`, PHP's `php_error_cb`, bats'
`warnings.bash`, node-tap's `handle-reporter.js`.
"""

import re
from collections.abc import Sequence

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bares
from context_firewall.transcript.surroundings import may_stand

# What each first line of a warning holds, or begins with: most lines are none, and asked no more than this.
SIGN = b"arning"
BEGINNINGS = (b"PHP ", b"npm ", b"Could not load ")
_TOGETHER = 1000
"""So many lines are asked at a time."""

# CPython: `FILE:LINE: Category: message`, then the source line, if it can be read, two blanks in: a call, assignment,
# import or literal. A line that a runner might print there is none of these.
PYTHON = re.compile(
    rb"[^\s:][^:\n]*+:[0-9]++: [A-Za-z_][A-Za-z0-9_.]*+(?<=Warning): [^\n]*+"
    rb"|ResourceWarning: Enable tracemalloc [^\n]++"
)
PYTHON_SOURCE = re.compile(rb"  (?!(?:not )?+ok\b)(?=[^\n]*?(?:[(=\[\"']|import ))[A-Za-z_@(\[{\"'][^\n]*+")
# Node: `(node:PID) [CODE] Name: message`, then a hint once in a process, or with --trace-warnings the stack.
NODE = re.compile(rb"\(node:[0-9]++\) (?:\[[A-Z0-9_]++\] )?+[A-Za-z][A-Za-z0-9]*+(?<=Warning): [^\n]*+")
NODE_HINT = re.compile(
    rb"\(Use `[^` \n]++ --trace-(?:warnings|deprecation) \.\.\.` to show where the warning was created\)"
)
NODE_FRAME = re.compile(rb"    at \S[^\n]*+")
# Ruby: `FILE.rb:LINE: warning: message`.
RUBY = re.compile(rb"[^\s:][^:\n]*+(?<=\.rb):[0-9]++: warning: [^\n]++")
# PHP's log form: `PHP Warning:  message in FILE on line LINE`.
PHP = re.compile(rb"PHP (?:Deprecated|Notice|Warning):  [^\n]*? on line [0-9]++")
# bats, when all tests are over: how they were written, `BW02: …` and where.
BATS = re.compile(rb"The following warnings were encountered during tests:")
BATS_WARNING = re.compile(rb"BW[0-9]{2}: [^\n]++| {6,}+(?:\(| )?[^\n]++")
# node-tap, where the reporter that was asked for is not installed; its name is JSON.
NODE_TAP = re.compile(rb"Could not load \"[^\n\"]++\" reporter\. Displaying raw TAP\.")

# npm, and yarn 1 about what stands in a package.json.
NPM = re.compile(rb"npm (?:warn|WARN) [^\n]++|warning (?:[^\s:/]*+/)*+package\.json: [^\n]++")

SHAPES: tuple[tuple[re.Pattern[bytes], tuple[re.Pattern[bytes], ...]], ...] = (
    (NODE, (NODE_HINT, NODE_FRAME)),
    (RUBY, ()),
    (PHP, ()),
    (BATS, (BATS_WARNING,)),
    (NODE_TAP, ()),
    (NPM, ()),
)
"""A warning's first line, and what each further one must be."""

LONGEST = 12
"""A message of CPython's may have line ends: so many lines further down at most the warning ends, with the source line.
Behind more than one line that must be the call that warns, or it is any line that happens to be two blanks in."""
CALLS = b"warn"


def with_runtime_warnings(readings: list[Reading]) -> list[Reading]:
    """The readings, with the runtimes' warnings among their unclassified lines taken for what they are.

    Nothing is taken from a stretch with contested results: there it may be part of what contests them.
    """
    return [_sorted_out(part) if _may_warn(part.unclassified) else part for part in readings]


def _may_warn(lines: Sequence[Line]) -> bool:
    """Whether any line may be one: they are many, and asked together, unless a sequence may stand in what they say."""
    for start in range(0, len(lines), _TOGETHER):
        text = b"\n".join([b"", *(line.raw for line in lines[start : start + _TOGETHER])])
        if b"\x1b" in text or SIGN in text or any(b"\n" + beginning in text for beginning in BEGINNINGS):
            return True
    return False


def _sorted_out(part: Reading) -> Reading:
    lines = part.unclassified
    if any(line.kind is Kind.CONTESTED_TEST for line in lines):
        return part
    texts = [text if line.kind is Kind.UNCLASSIFIED else b"" for line, text in zip(lines, bares(lines), strict=True)]
    warnings, rest, at = list(part.warnings), list[Line](), 0
    while at < len(lines):
        size = _size(lines, texts, at)
        warnings += (line.as_kind(Kind.ABNORMAL_WARNING) for line in lines[at : at + size])
        rest += lines[at : at + 1] if not size else ()
        at += size or 1
    if len(rest) == len(lines):
        return part
    # A dialect may have said so too; the verdict says it again of the lines that are left.
    doubts = part.doubts - {Doubt.UNCLASSIFIED_EVIDENCE}
    warnings.sort(key=lambda line: line.number)
    return part._replace(warnings=tuple(warnings), unclassified=tuple(rest), doubts=doubts)


def _size(lines: Sequence[Line], texts: Sequence[bytes], at: int) -> int:
    """How many lines a warning that begins here has; 0 if none does."""
    text = texts[at]
    if SIGN not in text and not text.startswith(BEGINNINGS):
        return 0
    if PYTHON.fullmatch(text):
        return _size_of_python(lines, texts, at)
    for first, further in SHAPES:
        if first.fullmatch(text):
            end = at + 1
            while _follows(lines, end) and any(pattern.fullmatch(texts[end]) for pattern in further):
                end += 1
            return end - at
    return 0


def _size_of_python(lines: Sequence[Line], texts: Sequence[bytes], at: int) -> int:
    end = at + 1
    while _follows(lines, end) and end <= at + LONGEST:
        source = PYTHON_SOURCE.fullmatch(texts[end]) is not None and not may_stand(texts[end])
        if source and (end == at + 1 or CALLS in texts[end]):
            return end + 1 - at
        end += 1
    return 1


def _follows(lines: Sequence[Line], at: int) -> bool:
    """Whether there is such a line, right below the one before it or below one empty line."""
    return at < len(lines) and lines[at].number - lines[at - 1].number <= 2
