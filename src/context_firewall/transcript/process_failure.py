"""A failure that belongs to no test: the process ended badly, and standard error says why.

A file that does not load, an exception that nobody catches, a runner that finds nothing to run. What stands on standard
error is then the failure's region, and the failure goes by the place that it names: the file and line over a caret, the
file at the top of Node's require stack, the place before a compiler's error, the first stack frame outside the runner
(and outside Python's own files); else by the first line, unless standard output holds text too: then nothing says that
this is the account. The text's meaning is not judged, so such a packet always asks for the raw evidence.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded

# More than this is a log, not an account of one failure.
LINES_AT_MOST = 400

# V8's uncaught error: "FILE:LINE", the source line, a caret below it. Runners put their own words before the file.
PLACE = re.compile(rb"(?:[^\n]*?[: ] ?)??((?:file://)?/[^\s:]++:[0-9]++)")
CARET = re.compile(rb"\s*+\^++")
# Node's module loader names the file that asked first.
REQUIRE_STACK = re.compile(rb"Require stack:")
REQUIRED_BY = re.compile(rb"- ([^\n]++)")
# A stack frame: "at name (FILE:L:C)" or "at FILE:L:C".
FRAME = re.compile(rb"\s++at (?:[^\n(]*+\()?((?:file://)?/[^\s()]++)\)?+")
POSITION = re.compile(rb":[0-9]++:[0-9]++\Z")
# The error's own line.
HEADLINE = re.compile(rb"(?:[^\n]*?: )??((?:[A-Z][A-Za-z]*)?Error(?: \[[A-Z_]++\])?: [^\n]++)")

# A compiler's error, as GNU's coding standards have it: "FILE:LINE:COLUMN: error: what is wrong".
COMPILER = re.compile(rb"([^\s:]++(?::[0-9]++){1,2}+): ((?:fatal )?+error: [^\n]++)")

# CPython's fault handler: the fatal error, then each thread's frames, innermost first.
PYTHON_FATAL = re.compile(rb"Fatal Python error: [^\n]++")
PYTHON_FRAME = re.compile(rb"  File \"([^\"\n]++)\", line ([0-9]++),? in ([^\n]++)")
PYTHONS_OWN = (b"/site-packages/", b"/lib/python", b"<")

# bats 1.9 on: a file that it cannot read is a point of its own, on standard error; the comment says which and why.
UNREAD = re.compile(rb"not ok 1 (bats-gather-tests)")

# That a runner found nothing to run, in one line: mocha, tape --strict, deno.
NOTHING_TO_RUN = re.compile(
    rb"Error: No test files found: \"[^\"\n]*+\"|No test files found!|error: No test modules found"
)
# Results without the tests' names, as unittest prints them: no account of anything.
LETTERS = re.compile(rb"[.FEsxuR]++")

RUNNERS_OWN = (b"/node_modules/", b"node:", b"/deno/std")


def process_failure(lines: Sequence[Line], current_test: str, *, alone: bool) -> Failure | None:
    """The failure that standard error's unclassified lines amount to, or None when they are not one account.

    `lines` are in source order; `current_test` is what ran when the output broke off, if the runner said so; `alone`
    says that standard output holds nothing that nobody knows.
    """
    texts = [bare(line.raw) for line in lines]
    first = next((i for i, text in enumerate(texts) if text.strip()), None)
    if first is None or len(lines) > LINES_AT_MOST or all(LETTERS.fullmatch(text) for text in texts):
        return None
    place = place_in(texts)
    if place is not None and any(mark in place for mark in RUNNERS_OWN):
        return None  # the runner itself broke; that says nothing about any test
    fatal = next((text for text in texts if PYTHON_FATAL.fullmatch(text)), None)
    headline = (
        fatal or _unread(texts) or next((found[1] for text in texts if (found := HEADLINE.fullmatch(text))), None)
    )
    if place is None and headline is None:
        place, headline = next((found.groups() for text in texts if (found := COMPILER.fullmatch(text))), (None, None))
    if not (alone or place or headline or current_test):
        return None
    name = b" ".join(part for part in (place, headline) if part) or texts[first].strip(b"# \t")
    identity = " > ".join(part for part in (current_test, decoded(name)) if part)
    header = lines[first].as_kind(Kind.PROCESS_FAILURE)
    others = (pair for i, pair in enumerate(zip(lines, texts, strict=True)) if i != first)
    return Failure(identity, header, tuple(line.as_kind(classify_detail(text)) for line, text in others))


def ran_nothing(lines: Sequence[Line]) -> bool:
    """Whether the lines say that there was nothing to run, and no more than that."""
    return len(lines) == 1 and NOTHING_TO_RUN.fullmatch(bare(lines[0].raw)) is not None


def is_uncaught(lines: Sequence[Line]) -> bool:
    """Whether the lines hold an uncaught error as V8 prints it (place, source, caret), or a fatal one of CPython's."""
    texts = [bare(line.raw) for line in lines]
    if any(PYTHON_FATAL.fullmatch(text) for text in texts):
        return True
    return any(PLACE.fullmatch(text) and starts_uncaught(texts, i) for i, text in enumerate(texts))


def starts_uncaught(texts: Sequence[bytes], at: int) -> bool:
    """Whether a source line and a caret stand below a line, as below the place of an uncaught error of V8's."""
    return at + 2 < len(texts) and CARET.fullmatch(texts[at + 2]) is not None


def place_in(texts: Sequence[bytes]) -> bytes | None:
    """The place that an account names: a file, perhaps with a position."""
    for i, text in enumerate(texts):
        if (found := PLACE.fullmatch(text)) and starts_uncaught(texts, i):
            return found[1]
        if REQUIRE_STACK.fullmatch(text) and i + 1 < len(texts) and (by := REQUIRED_BY.fullmatch(texts[i + 1])):
            return by[1]
    if any(PYTHON_FATAL.fullmatch(text) for text in texts):
        stack = [found for text in texts if (found := PYTHON_FRAME.fullmatch(text))]
        return next((b"%b:%b in %b" % frame.groups() for frame in stack if not _is_pythons(frame[1])), None)
    frames = [found[1] for text in texts if (found := FRAME.fullmatch(text)) and POSITION.search(found[1])]
    own = [frame for frame in frames if not any(mark in frame for mark in RUNNERS_OWN)]
    return own[0] if own else frames[0] if frames else None


def _unread(texts: Sequence[bytes]) -> bytes | None:
    for point, comment in pairwise(texts):
        if found := UNREAD.fullmatch(point):
            return found[1] + b": " + comment.strip(b"# ")
    return None


def _is_pythons(file: bytes) -> bool:
    return any(mark in file for mark in PYTHONS_OWN)
