"""Bytes of a session to its items: one JSON object a line, or one JSON document that holds a list of messages.

Rules of this room:
- Only a newline byte ends a line. Lines are counted from 1; blank ones are passed over.
- What two readers could read differently is refused, with the line: bytes that are not UTF-8, a key given twice, NaN.
- No more than a line is held at a time, and a line has a limit. A list of messages is held whole.
- A session in Zstandard frames is read through the standard library where it can, or else through `zstandard`.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from context_firewall.errors import InvalidInput

LONGEST_LINE = 256 << 20
"""Bytes of a line, or of a list of messages; far above any session's."""

ZSTANDARD = b"\x28\xb5\x2f\xfd"
_BLANK = b" \t\r\n"
_MARK = b"\xef\xbb\xbf"

# Compressed bytes taken at once: 1 KiB of a hostile frame becomes 32 MiB at most.
_BITE = 1 << 10


class Item(NamedTuple):
    """One object of a session: its line, its place in a list (or -1), its text as it stands there, and its value."""

    line: int
    place: int
    raw: bytes
    value: dict[str, Any]

    def refusal(self, what: str, key: str = "") -> InvalidInput:
        """The error for an item that is not what its format says."""
        return InvalidInput(f"line {self.line}: {what}", line=self.line, key=key)

    def text(self, value: object, key: str) -> str:
        """Text that UTF-8 can hold; a lone surrogate becomes U+FFFD. Raises InvalidInput when it is no text."""
        if not isinstance(value, str):
            raise self.refusal(f"{key} must be text", key)
        return sound(value)

    def mapping(self, value: object, key: str) -> dict[str, Any]:
        """An object. Raises InvalidInput for anything else."""
        if not isinstance(value, dict):
            raise self.refusal(f"{key} must be an object", key)
        return value

    def number(self, value: object, key: str) -> int:
        """A whole number of zero or more. Raises InvalidInput for anything else."""
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.refusal(f"{key} must be a whole number of zero or more", key)
        return value


def sound(text: str) -> str:
    """The text with lone surrogates, which sessions hold where output was cut, as U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def lines_of(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its number. Raises InvalidInput for one that is too long."""
    number, pending, held = 0, list[bytes](), 0
    for chunk in decompressed(chunks):
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            number += 1
            if pending:
                piece = b"".join((*pending, piece))
                pending, held = [], 0
            if piece.strip(_BLANK):
                yield number, piece
        if rest:
            pending.append(rest)
            held += len(rest)
            if held > LONGEST_LINE:
                raise InvalidInput(f"line {number + 1}: longer than {LONGEST_LINE} bytes", line=number + 1)
    last = b"".join(pending)
    if last.strip(_BLANK):
        yield number + 1, last


def item_of(number: int, raw: bytes) -> Item:
    """The object on a line. Raises InvalidInput when there is none."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        problem = f"line {number}: not UTF-8 at byte {error.start} of the line"
        raise InvalidInput(problem, line=number) from None
    value = _parsed(number, _DECODER.decode, text)
    if not isinstance(value, dict):
        raise InvalidInput(f"line {number}: must be a JSON object", line=number)
    return Item(number, -1, bare(raw), value)


def bare(raw: bytes) -> bytes:
    """A line without the blanks around its object."""
    return raw.strip(_BLANK)


def items_of_list(text: str) -> Iterator[Item]:
    """The objects of a list, or of the list called `messages` in an object; each with its text as it stands there.

    Raises InvalidInput when that is not the document's shape.
    """
    document = _Document(text)
    if document.sign("["):
        yield from document.elements()
    elif document.sign("{"):
        yield from document.messages()
    else:
        raise document.refusal("must be a list of messages, or an object with a list called messages")
    if document.rest():
        raise document.refusal("something follows after the document's end")


class _Document:
    """A place in a JSON document, moving forward."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0
        self._skip()

    def refusal(self, what: str) -> InvalidInput:
        line = self._here()
        return InvalidInput(f"line {line}: {what}", line=line)

    def rest(self) -> bool:
        return self._at < len(self._text)

    def sign(self, sign: str) -> bool:
        """Step over a sign, if it is next."""
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        self._skip()
        return True

    def elements(self) -> Iterator[Item]:
        """The objects of a list whose bracket was stepped over."""
        place = 0
        while not self.sign("]"):
            if place and not self.sign(","):
                raise self.refusal("a comma or the list's end is missing")
            line, start = self._here(), self._at
            value, end = self._value()
            if not isinstance(value, dict):
                raise InvalidInput(f"line {line}: message {place} must be an object", line=line)
            yield Item(line, place, self._text[start:end].encode("utf-8", "surrogatepass"), value)
            place += 1

    def messages(self) -> Iterator[Item]:
        """The objects of the list called `messages` in an object whose bracket was stepped over."""
        keys = set[str]()
        while not self.sign("}"):
            if keys and not self.sign(","):
                raise self.refusal("a comma or the object's end is missing")
            key, _ = self._value()
            if not isinstance(key, str) or not self.sign(":"):
                raise self.refusal("a key is missing")
            if key in keys:
                raise self.refusal(f"the key {key} is given twice")
            keys.add(key)
            if key == "messages" and self.sign("["):
                yield from self.elements()
            else:
                self._value()
        if "messages" not in keys:
            raise self.refusal("the object has no list called messages")

    def _value(self) -> tuple[Any, int]:
        value, end = _parsed(self._here(), _DECODER.raw_decode, self._text, self._at)
        self._at = end
        self._skip()
        return value, end

    def _here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = max(self._at, self._counted)
        return self._line

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
            self._at += 1


def _parsed(line: int, parse: Any, *arguments: Any) -> Any:
    try:
        return parse(*arguments)
    except RecursionError:
        raise InvalidInput(f"line {line}: nested too deeply", line=line) from None
    except json.JSONDecodeError as error:
        at = line + error.lineno - 1 if len(arguments) == 1 else error.lineno
        problem = f"line {at}: not JSON at character {error.colno} ({error.msg})"
        raise InvalidInput(problem, line=at) from None
    except ValueError as error:
        raise InvalidInput(f"line {line}: not JSON ({error})", line=line) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen = set[str]()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {sound(repeated)!r} is given twice")
    return found


def _constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def decompressed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks, or what Zstandard frames in them hold; without a byte order mark before all of it.

    Raises InvalidInput for damaged frames.
    """
    waiting = iter(chunks)
    first = b""
    while len(first) < len(ZSTANDARD) and (chunk := next(waiting, None)) is not None:
        first += chunk
    whole = chain((first.removeprefix(_MARK),), waiting)
    return _frames(whole) if first.startswith(ZSTANDARD) else whole


def _frames(chunks: Iterable[bytes]) -> Iterator[bytes]:
    new, problem = _decompressor()
    frame = new()
    try:
        for bite in _bites(chunks):
            while bite:
                if frame.eof:
                    frame = new()
                yield frame.decompress(bite)
                bite = frame.unused_data if frame.eof else b""
    except problem as error:
        raise InvalidInput(f"the Zstandard frames are damaged: {error}") from None
    if not frame.eof:
        raise InvalidInput("the last Zstandard frame is cut off")


def _bites(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _BITE):
            yield chunk[start : start + _BITE]


def _decompressor() -> tuple[Any, Any]:
    """What makes a decompressor of one frame, and the error that it raises."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14 and later
    except ImportError:
        pass
    else:
        return zstd.ZstdDecompressor, zstd.ZstdError
    try:
        import zstandard
    except ImportError:
        hint = "install the package zstandard (the extra `zstd`), or write the session without compression"
        raise InvalidInput(f"the session is compressed with Zstandard; {hint}") from None
    return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
