"""XML line by line: what each line opens, closes and says, and whether the whole is well-formed.

The room's rules:

- Two look at the same bytes. The `Judge` is expat, without entities and document types: what it refuses is not
  well-formed, and the reading says so. The `Scanner` says where things stand, and goes on behind a place that the judge
  refuses, so that what can be read is read. It decides nothing that the judge would not have to agree to.
- In a well-formed document a `<` stands only where markup begins. So one inside a tag shows that the tag was none, and
  nothing swallows more than up to the next `<`.
- Nothing is expanded but the five entities that XML knows by itself, and numbers of characters.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple
from xml.parsers import expat

MOST_TAG = 1 << 20
"""The longest tag that is read, in bytes. Longer ones are text."""
_MOST_COMMENT = 1 << 10
"""A comment is read to here: those that say something are short."""
_MOST_MARKUP = 4 << 20
"""The judge refuses a tag, a comment or a declaration of more bytes."""

# XML 1.0, production 5 (names), as far as it matters here: a tag's name begins with a letter, `_`, `:` or beyond ASCII.
_MARKUP = re.compile(rb"<(?:!--|!\[CDATA\[|\?|!|/?+(?=[A-Za-z_:\x80-\xff]))")
# Production 41: name, `=`, a quoted value without `<`.
_ATTRIBUTE = re.compile(rb"(?<!\s)\s++([^\s=<>\"'/]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")
_NAME = re.compile(rb"/?+([^\s/>]++)")
# A tag that ends in its line: the common case, in one step.
_TAG = re.compile(rb"<(/?+[A-Za-z_:\x80-\xff](?:[^<>\"']++|\"[^<\"]*+\"|'[^<']*+')*+)>")
# Inside a tag: up to a quotation mark, its end, or another `<`.
_UNQUOTED = re.compile(rb"[^<>\"']*+")
_QUOTED = {b'"': re.compile(rb"[^<\"]*+"), b"'": re.compile(rb"[^<']*+")}
# Production 66 to 68.
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6})|(amp|lt|gt|quot|apos));")
_KNOWN = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_SPACES = str.maketrans("\t\n\r", "   ")


class What(Enum):
    """What a token is."""

    OPEN = auto()
    CLOSE = auto()
    EMPTY = auto()
    """An element that opens and closes in one tag."""
    TEXT = auto()
    COMMENT = auto()
    OTHER = auto()
    """A declaration or a processing instruction."""


class Token(NamedTuple):
    """A piece of a line, as it becomes known."""

    what: What
    body: bytes
    """The inside of a tag or a comment, or text."""
    end: int
    """The offset in the line behind it."""

    @property
    def name(self) -> str:
        """A tag's name."""
        found = _NAME.match(self.body)
        return "" if found is None else found[1].decode("utf-8", "replace")

    @property
    def attributes(self) -> dict[str, str]:
        """A tag's attributes, with their references resolved."""
        found = _ATTRIBUTE.findall(self.body)
        return {name.decode("utf-8", "replace"): _value(double or single) for name, double, single in found}


def _value(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace").replace("\r\n", " ").translate(_SPACES)
    return _REFERENCE.sub(_resolved, text) if "&" in text else text


def _resolved(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name = reference.groups()
    if name:
        return _KNOWN[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"


def unescaped(text: bytes) -> bytes:
    """Text with its references resolved."""
    if b"&" not in text:
        return text
    return _REFERENCE.sub(_resolved, text.decode("utf-8", "replace")).encode("utf-8", "replace")


class _Mode(Enum):
    TEXT = auto()
    TAG = auto()
    COMMENT = auto()
    CDATA = auto()
    INSTRUCTION = auto()
    DECLARATION = auto()


_BEGINS = {b"<!--": _Mode.COMMENT, b"<![CDATA[": _Mode.CDATA, b"<?": _Mode.INSTRUCTION, b"<!": _Mode.DECLARATION}
_ENDS = {
    _Mode.COMMENT: (b"-->", What.COMMENT),
    _Mode.INSTRUCTION: (b"?>", What.OTHER),
    _Mode.DECLARATION: (b">", What.OTHER),
}


class Scanner:
    """Says what stands in a document's lines."""

    def __init__(self) -> None:
        self._mode = _Mode.TEXT
        self._held: list[bytes] = []
        self._size = 0
        self._quote = b""

    @property
    def between(self) -> bool:
        """Whether no markup is open: the next line begins with text or with markup of its own."""
        return self._mode is _Mode.TEXT

    @property
    def in_tag(self) -> bool:
        """Whether a tag is open."""
        return self._mode is _Mode.TAG

    @property
    def inside(self) -> bool:
        """Whether a tag, a comment or a declaration is open."""
        return self._mode not in (_Mode.TEXT, _Mode.CDATA)

    def tokens(self, line: bytes, position: int) -> Iterator[Token]:
        """What a line with its newline holds, from an offset on."""
        while position < len(line):
            match self._mode:
                case _Mode.TEXT:
                    start = line.find(b"<", position)
                    whole = _TAG.match(line, start, start + MOST_TAG) if start >= 0 else None
                    found = _MARKUP.search(line, start) if start >= 0 and whole is None else whole
                    start = len(line) if found is None else found.start()
                    if start > position:
                        yield Token(What.TEXT, line[position:start], start)
                    if found is None:
                        return
                    if whole is not None:
                        position = whole.end()
                        yield self._whole(whole[1], position)
                        continue
                    self._mode = _BEGINS.get(found[0], _Mode.TAG)
                    position = start + 1 if self._mode is _Mode.TAG else found.end()
                case _Mode.TAG:
                    token, position = self._tag(line, position)
                    if token is not None:
                        yield token
                case _Mode.CDATA:
                    end = line.find(b"]]>", position)
                    stop = len(line) if end < 0 else end
                    if stop > position:
                        yield Token(What.TEXT, line[position:stop], stop)
                    if end < 0:
                        return
                    position = end + 3
                    self._mode = _Mode.TEXT
                case _:
                    mark, what = _ENDS[self._mode]
                    end = line.find(mark, position)
                    self._hold(line[position : len(line) if end < 0 else end], _MOST_COMMENT)
                    if end < 0:
                        return
                    position = end + len(mark)
                    yield Token(what, self._released(), position)

    def _tag(self, line: bytes, position: int) -> tuple[Token | None, int]:
        """The rest of a tag, as far as it stands in this line; text, if it turns out to be no tag."""
        start = position
        while position < len(line):
            inside = _QUOTED[self._quote] if self._quote else _UNQUOTED
            found = inside.match(line, position)
            position = position if found is None else found.end()
            mark = line[position : position + 1]
            if mark == b"<" or self._size + position - start > MOST_TAG:
                self._hold(line[start:position])
                self._quote = b""
                return Token(What.TEXT, b"<" + self._released(), position), position
            if mark == b">" and not self._quote:
                self._hold(line[start:position])
                return self._whole(self._released(), position + 1), position + 1
            if mark:
                self._quote = b"" if self._quote else mark
                position += 1
        self._hold(line[start:])
        return None, position

    @staticmethod
    def _whole(body: bytes, end: int) -> Token:
        if body.startswith(b"/"):
            return Token(What.CLOSE, body, end)
        return Token(What.EMPTY if body.endswith(b"/") else What.OPEN, body, end)

    def _hold(self, part: bytes, most: int = MOST_TAG) -> None:
        if self._size <= most:
            self._held.append(part)
            self._size += len(part)

    def _released(self) -> bytes:
        """What was held; text follows."""
        held = b"".join(self._held)
        self._held = []
        self._size = 0
        self._mode = _Mode.TEXT
        return held


class _Refused(Exception):
    """A document type: it could declare entities."""


class Judge:
    """Says whether a document's bytes are well-formed XML without a document type."""

    def __init__(self) -> None:
        self.refuses = False
        """Something was not well-formed."""
        self._waiting: list[bytes] = []
        self._size = 0
        self._parser: expat.XMLParserType | None = expat.ParserCreate("utf-8")
        self._parser.StartDoctypeDeclHandler = self._refuse

    def read(self, data: bytes, *, unfinished: bool = False) -> None:
        """The next bytes. `unfinished` is markup that goes on: expat would begin it again with each piece."""
        if self._parser is None:
            return
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _MOST_MARKUP and unfinished:
            self._stop()
        elif not unfinished:
            self._parse(last=False)

    def end(self) -> None:
        """No more bytes come."""
        self._parse(last=True)

    def _parse(self, *, last: bool) -> None:
        if self._parser is None:
            return
        data, self._waiting, self._size = b"".join(self._waiting), [], 0
        try:
            self._parser.Parse(data, last)
        except (expat.ExpatError, _Refused):
            self._stop()

    def _stop(self) -> None:
        self.refuses = True
        self._parser = None
        self._waiting = []

    def __deepcopy__(self, memo: object) -> "Judge":
        """Expat's state has no copy; one that is asked how a stretch stands so far refuses what is unfinished."""
        copied = Judge()
        copied._stop()
        return copied

    @staticmethod
    def _refuse(*_: object) -> None:
        raise _Refused
