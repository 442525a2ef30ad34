"""Tracebacks as pytest prints them, in any style: what of them says why a test failed, and what is there for context.

A traceback repeats much that is only there for orientation: the test's source from its `def` on, underlines,
separators, frames of pytest itself. Those lines are `failure_context`. What says why a test failed is not among them:
messages (`E`), the failing lines (`>`, or the one line below a frame), places, arguments, locals, and everything
captured.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.kinds import Kind

# `E   AssertionError: …`
MESSAGE = re.compile(rb"E(?:   | *\Z)")
# The place that ends a part of a long traceback (`tests/test_a.py:12: ValueError`) or begins one of a short traceback
# (`tests/test_a.py:12: in test_a`).
PLACE = re.compile(rb"(?P<file>(?:[A-Za-z]:)?[^\s:<>'\"(][^\n:<>'\"(]*+):[0-9]++: ?(?P<frame>in )?")
# A frame as Python itself prints it (`--tb=native`).
NATIVE = re.compile(rb"  File \"(?P<file>[^\"\n]++)\", line [0-9]++, in ")
FROZEN = re.compile(rb"<frozen [^\n>]++>:[0-9]++: in ")
# Packages of the runner's own.
RUNNER = re.compile(
    rb"[^\n]*?[/\\](?:site-packages[/\\](?:_pytest|pluggy|pytest|xdist)[/\\]|importlib[/\\]__init__\.py\Z)"
)
# Python 3.11 on underlines the failing expression.
UNDERLINE = re.compile(rb" ++[~^]++ *+")
SEPARATOR = re.compile(rb"_(?: _){3,}+ *+")
# A long traceback shows the function from its first line on.
SOURCE_BEGINS = re.compile(rb"    (?:def |async def |@|class )")
INDENTED = b"    "
# An argument of which only its type is known: `env = <app.Env object at 0x7f00>`.
OBJECT = re.compile(rb"[^\s=]++ = <[^\s]++ object at 0x[0-9a-f]++>|self = <[^\n]*+")
CAPTURED = re.compile(rb"-++ Captured [^\n]*+")
# xdist: `[gw0] linux -- Python 3.12.1 /srv/bin/python` below the header.
WORKER = re.compile(rb"\[gw[0-9]++\] [a-z0-9]++ -- Python [^\n]++")


class _Mode(Enum):
    """What an indented line would be."""

    TEXT = auto()
    SOURCE = auto()
    """A line of a function's source."""
    FRAME = auto()
    """The failing line of a frame."""
    RUNNER_FRAME = auto()
    CAPTURED = auto()


@dataclass(slots=True)
class Traceback:
    """One traceback while it is read."""

    place: bytes = b""
    """The file of its first place outside the runner."""
    _mode: _Mode = _Mode.TEXT

    @property
    def captured(self) -> bool:
        """Whether what comes now was captured, and is no traceback."""
        return self._mode is _Mode.CAPTURED

    def capture(self) -> None:
        """What comes now is no traceback."""
        self._mode = _Mode.CAPTURED

    def kind(self, text: bytes) -> Kind:
        """What the next line is that is not blank."""
        if self._mode is _Mode.CAPTURED:
            return classify_detail(text)
        if MESSAGE.match(text):
            return Kind.FAILURE_MESSAGE if text[1:].strip() else Kind.FAILURE_CONTEXT
        if text.startswith(INDENTED) and (known := self._indented(text)) is not None:
            return known
        frame = self._frame(text)
        if frame is not None:
            return frame
        if SEPARATOR.fullmatch(text) or OBJECT.fullmatch(text) or WORKER.fullmatch(text):
            self._mode = _Mode.TEXT
            return Kind.FAILURE_CONTEXT
        if CAPTURED.fullmatch(text):
            self._mode = _Mode.CAPTURED
        return classify_detail(text)

    def _indented(self, text: bytes) -> Kind | None:
        """Kind of an indented line, as far as what stands above it decides that."""
        if UNDERLINE.fullmatch(text):
            return Kind.FAILURE_CONTEXT
        if self._mode is _Mode.TEXT and SOURCE_BEGINS.match(text):
            self._mode = _Mode.SOURCE
        if self._mode in (_Mode.SOURCE, _Mode.RUNNER_FRAME):
            return Kind.FAILURE_CONTEXT
        return Kind.STACK_TRACE if self._mode is _Mode.FRAME else None

    def _frame(self, text: bytes) -> Kind | None:
        """Kind of a line that names a place; frames of the runner and of the import system are context."""
        if FROZEN.match(text):
            self._mode = _Mode.RUNNER_FRAME
            return Kind.FAILURE_CONTEXT
        place = PLACE.match(text)
        native = NATIVE.match(text) if place is None else None
        found = place or native
        if found is None:
            return None
        if (native or (place and place["frame"])) and RUNNER.match(found["file"]):
            self._mode = _Mode.RUNNER_FRAME
            return Kind.FAILURE_CONTEXT
        self._mode = _Mode.FRAME if native or found["frame"] else _Mode.TEXT
        self.place = self.place or (b"" if native else found["file"])
        return Kind.STACK_TRACE
