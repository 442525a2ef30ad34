"""Is this input an envelope or a raw run? Decided on its first JSON object, in one pass and in bounded memory.

An envelope is one JSON object with the protocol string. A runner may print JSON too (go test -json, a json reporter),
and a test may print anything, so neither an opening brace nor the protocol string somewhere in the text proves it.
And an envelope that arrives damaged must not pass as a raw run: its lines would be read as noise, or worse as results.

The input is *meant as an envelope* when its first byte after white space (and a byte order mark) is `{` and the
object that opens there shows one of these signs at its top level, whatever follows:

1. the key `protocol_version` with a string that begins `opsle.` (this protocol, another version, another document);
2. the key `streams` with a list whose first item is an object that begins with `name`, `encoding` or `data`;
3. both keys `process` and `streams`;
4. the text ends, or stops being JSON, inside that object, and all its keys so far are an envelope's.

Where the text stops being JSON, signs 1 and 2 are also looked for in the rest of the first 64 KiB, by their spelling
and without regard to nesting. A quote inside a JSON string is escaped, so a runner's JSON line that quotes an envelope
never shows a sign. UTF-16 with a byte order mark (some shells redirect so) is looked at by spelling alone.
"""

import json
import re
from collections.abc import Iterable
from enum import Enum
from itertools import chain

ENVELOPE_KEYS = frozenset({"protocol_version", "operation_id", "source", "process", "streams"})
STREAM_KEYS = frozenset({"name", "encoding", "data"})
OPENING = "opsle."
HEAD_BYTES = 1 << 16
# Longer than any key and any value that matters here; of a longer string only this much is held.
HELD_BYTES = 256

_BETWEEN = re.compile(rb"[ \t\r\n0-9eE+\-.aflnrstu]*+")
_STRING_PART = re.compile(rb'[^"\\]*+')
# Below the places that matter, whole strings and scalars are skipped in one go.
_BELOW = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
# Compiled only where it is asked for, which is rare.
_SPELLING = rb"""["']?\bprotocol_version["']?[ \t\r\n]*+[:=][ \t\r\n]*+["']?opsle\.
    |["']?\bstreams["']?[ \t\r\n]*+[:=][ \t\r\n]*+\[[ \t\r\n]*+\{[ \t\r\n]*+
     ["']?(?:name|encoding|data)["']?[ \t\r\n]*+[:=]
    """


class _Answer(Enum):
    ENVELOPE = "envelope"
    RAW = "raw"
    NOT_JSON = "not JSON"
    OPEN = "open"


class _FirstObject:
    """Reads the first object's brackets, keys and strings, chunk by chunk, until a sign appears or it closes."""

    def __init__(self) -> None:
        self._depth = 0
        self._keys: set[str] = set()
        self._key: str | None = None  # the top-level key whose value is being read
        self._last: str | None = None  # the last string of the current top-level member: its key, later its value
        self._in_string = False
        self._escaped = False
        self._held = bytearray()
        self._item_opens = False

    def feed(self, chunk: bytes) -> _Answer:
        """Read on; OPEN asks for more."""
        position = 0
        while position < len(chunk):
            if self._in_string:
                position = self._string_part(chunk, position)
                if not self._in_string and self._sign_in_string():
                    return _Answer.ENVELOPE
                continue
            below = self._depth > 1 and self._key != "streams"
            position = _end(_BELOW if below else _BETWEEN, chunk, position)
            if position < len(chunk):
                answer = self._mark(chunk[position : position + 1])
                if answer is not _Answer.OPEN:
                    return answer
                position += 1
        return _Answer.OPEN

    def _mark(self, mark: bytes) -> _Answer:
        """One of JSON's punctuation marks, or something else."""
        if mark == b'"':
            self._in_string = True
            self._held.clear()
        elif mark in b"{[":
            self._depth += 1
            self._item_opens = mark == b"{" and self._depth == 3 and self._key == "streams"
        elif mark in b"}]":
            self._depth -= 1
            if self._depth == 0:
                return _Answer.ENVELOPE if self._keys >= {"process", "streams"} else _Answer.RAW
        elif mark == b":":
            if self._depth == 1 and self._key is None:
                self._key = self._last or ""
                self._keys.add(self._key)
        elif mark == b",":
            if self._depth == 1:
                self._key = self._last = None
        else:
            return _Answer.NOT_JSON
        return _Answer.OPEN

    def _string_part(self, chunk: bytes, position: int) -> int:
        """Take the string's next part; with its closing quote it becomes `_last`."""
        if self._escaped:
            self._hold(chunk[position : position + 1])
            self._escaped = False
            return position + 1
        stop = _end(_STRING_PART, chunk, position)
        self._hold(chunk[position:stop])
        if stop == len(chunk):
            return stop
        if chunk[stop : stop + 1] == b"\\":
            self._hold(b"\\")
            self._escaped = True
        else:
            self._in_string = False
            self._last = _text(bytes(self._held))
        return stop + 1

    def _hold(self, part: bytes) -> None:
        self._held += part[: HELD_BYTES - len(self._held)]

    def _sign_in_string(self) -> bool:
        """Whether the string that has just ended is sign 1 or sign 2."""
        text = self._last or ""
        if self._depth == 1:
            return self._key == "protocol_version" and text.startswith(OPENING)
        opens, self._item_opens = self._item_opens, False
        return opens and text in STREAM_KEYS

    def broke_off_as_envelope(self, cut: bool) -> bool:
        """Sign 4: the text ended (`cut`) or stopped being JSON here; was it an envelope so far?"""
        keys = set(self._keys)
        if self._key is None and self._depth == 1:
            begun = _text(bytes(self._held)) if self._in_string else self._last
            if begun is not None:
                whole = self._in_string and cut
                keys.add(next((key for key in ENVELOPE_KEYS if whole and key.startswith(begun)), begun))
        return keys <= ENVELOPE_KEYS and (cut or bool(keys))


def _end(pattern: re.Pattern[bytes], chunk: bytes, position: int) -> int:
    """Where a pattern that matches everywhere, if only nothing, stops matching."""
    match = pattern.match(chunk, position)
    return match.end() if match else position


def _text(raw: bytes) -> str:
    """A string's text with its escapes resolved; what cannot be resolved is no key of ours."""
    if b"\\" in raw:
        try:
            return str(json.loads(b'"' + raw + b'"'))
        except ValueError:
            pass
    return raw.decode("utf-8", "replace")


def meant_as_envelope(chunks: Iterable[bytes]) -> bool:
    """Whether an input is meant as an envelope (see above); reads no further than it must."""
    rest = iter(chunks)
    start = bytearray()
    for chunk in rest:
        start += chunk
        if len(start) >= HEAD_BYTES:
            break
    head = bytes(start[:HEAD_BYTES])
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        spelled = head.decode("utf-16", "replace").encode("utf-8", "replace").lstrip()
        return spelled.startswith(b"{") and re.search(_SPELLING, spelled, re.VERBOSE) is not None

    reading = _FirstObject()
    begun = False
    answer = _Answer.OPEN
    for chunk in chain((bytes(start).removeprefix(b"\xef\xbb\xbf"),), rest):
        text = chunk if begun else chunk.lstrip(b" \t\r\n")
        if not begun and text and not text.startswith(b"{"):
            return False
        begun = begun or bool(text)
        answer = reading.feed(text)
        if answer is not _Answer.OPEN:
            break
    if not begun or answer is _Answer.RAW:
        return False
    if answer is _Answer.ENVELOPE or reading.broke_off_as_envelope(cut=answer is _Answer.OPEN):
        return True
    return re.search(_SPELLING, head, re.VERBOSE) is not None
