"""Regular expressions that cost one step a byte, whatever the pattern and whatever the line.

The accepted language is a subset of Python's, written the same way and meaning the same:

    abc  \\.  \\x1f  \\t   characters; a backslash before a punctuation mark or a blank takes it literally
    .                    any character
    \\d  \\w  \\s           an ASCII digit; a letter, digit or `_`; a blank; with a capital letter, any other character
    [a-z_ä]  [^"\\]]       one of a set, or of all others; ranges and negated sets name ASCII characters only
    (…)  (?:…)  x|y      groups, which capture nothing, and choices, none of them empty
    x?  x*  x+  x{3}  x{2,5}  x{2,}      repetitions, which may be nested

A pattern always covers a whole line, so it has no anchors; without capturing there is nothing to be lazy or possessive
about. What would need backtracking does not exist: back-references, lookaround, conditions. Flags do not exist either.

A pattern becomes a deterministic automaton over bytes before anything is read: positions of its characters, then the
sets of positions that can be reached together. A pattern that would need too many of either is refused, so matching is
a table look-up for each byte. `.`, `\\D`, `\\W`, `\\S` and negated sets take one character of UTF-8; where a line is
malformed they take nothing, so malformed lines only match patterns that do not look there.
"""

import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# A longer pattern is no description of a line; a deeper one no reader follows.
LONGEST_PATTERN = 1000
DEEPEST_GROUP = 30
# A count, the characters that a pattern comes to when its repetitions are written out, and the automaton's states.
LARGEST_COUNT = 255
MOST_POSITIONS = 1000
MOST_STATES = 1000

ASCII = (1 << 128) - 1
NEWLINE = 1 << 0x0A
LEADING = sum(1 << byte for byte in range(0xC0, 0x100))
CONTINUING = sum(1 << byte for byte in range(0x80, 0xC0))


def _mask(characters: str) -> int:
    """ASCII characters as a set of bytes: one bit a byte."""
    return sum(1 << ord(character) for character in characters)


CLASSES = {
    "d": _mask(string.digits),
    "w": _mask(string.digits + string.ascii_letters + "_"),
    "s": _mask(" \t\n\r\f\v"),
}
CONTROLS = {"t": "\t", "r": "\r", "f": "\f", "v": "\v"}
# How each refused construct opens behind "(?".
GROUPS = {
    "=": "lookaround",
    "!": "lookaround",
    "<": "lookaround or a named group",
    "P": "a named group or a back-reference",
    "#": "a comment",
    ">": "an atomic group",
    "(": "a condition",
}


class PatternError(ValueError):
    """A pattern outside the subset: what is wrong, and at which character, counted from 1, where it is a single one."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason if position is None else f"character {position}: {reason}")


# -- what a pattern says


@dataclass(frozen=True, slots=True)
class _Character:
    """One character: of these ASCII ones, or one of these others, or any that is not ASCII."""

    ascii: int
    literals: tuple[bytes, ...] = ()
    others: bool = False


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: "tuple[_Node, ...]"


@dataclass(frozen=True, slots=True)
class _Choice:
    branches: "tuple[_Node, ...]"


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: "_Node"
    least: int
    most: int | None


_Node = _Character | _Sequence | _Choice | _Repeat


class _Parser:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    def whole(self) -> _Node:
        """The pattern's only node."""
        if not self._pattern:
            raise PatternError("the pattern is empty")
        if len(self._pattern) > LONGEST_PATTERN:
            raise PatternError(f"the pattern has more than {LONGEST_PATTERN} characters")
        for at, character in enumerate(self._pattern):
            if "\ud800" <= character <= "\udfff":
                raise self._refusal("half of a character (a lone surrogate)", at)
        if "\n" in self._pattern:
            raise self._refusal("no line holds a newline", self._pattern.index("\n"))
        node = self._choice()
        if self._at < len(self._pattern):
            raise self._refusal("a ) closes nothing", self._at)
        return node

    def _refusal(self, reason: str, at: int) -> PatternError:
        return PatternError(reason, at + 1)

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _choice(self) -> _Node:
        branches = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else _Choice(tuple(branches))

    def _sequence(self) -> _Node:
        parts: list[_Node] = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._repeated())
        if not parts:
            raise self._refusal("a group or a choice has an empty branch (write ? behind what may be absent)", self._at)
        return _Sequence(tuple(parts))

    def _repeated(self) -> _Node:
        atom = self._atom()
        start = self._at
        counts = self._counts()
        if counts is None:
            return atom
        if self._next() in ("*", "+", "?", "{"):
            raise self._refusal("a repetition is repeated, or made lazy or possessive, which means nothing here", start)
        return _Repeat(atom, *counts)

    def _counts(self) -> tuple[int, int | None] | None:
        """What stands behind an atom: how often at least and at most; None where it stands once."""
        mark = self._next()
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if mark in simple:
            self._at += 1
            return simple[mark]
        if mark != "{":
            return None
        start = self._at
        end = self._pattern.find("}", start)
        least, comma, most = self._pattern[start + 1 : max(end, start)].partition(",")
        numbers = [text for text in (least, most) if text]
        if end < 0 or not least or any(not text.isascii() or not text.isdigit() for text in numbers):
            raise self._refusal("a { opens no count such as {3}, {2,5} or {2,} (write \\{ for the brace)", start)
        if any(len(text) > 3 or int(text) > LARGEST_COUNT for text in numbers):
            raise self._refusal(f"a count is larger than {LARGEST_COUNT}", start)
        self._at = end + 1
        low = int(least)
        high = low if not comma else int(most) if most else None
        if high == 0 or (high is not None and high < low):
            raise self._refusal("a count allows nothing", start)
        return low, high

    def _atom(self) -> _Node:
        character, start = self._next(), self._at
        self._at += 1
        match character:
            case "(":
                return self._group(start)
            case "[":
                return self._set(start)
            case ".":
                return _Character(ASCII & ~NEWLINE, others=True)
            case "\\":
                return self._escape(start)
            case "*" | "+" | "?":
                raise self._refusal("a repetition has nothing before it", start)
            case "{":
                raise self._refusal("a { has nothing before it (write \\{ for the brace)", start)
            case "^" | "$":
                raise self._refusal(
                    f"a pattern covers the whole line, so it has no anchors (write \\{character} for the mark)", start
                )
        return _literal(character)

    def _group(self, start: int) -> _Node:
        if self._next() == "?":
            kind = self._pattern[self._at + 1 : self._at + 2]
            if kind != ":":
                raise self._refusal(f"{GROUPS.get(kind, 'a flag')} is outside the subset", start)
            self._at += 2
        self._depth += 1
        if self._depth > DEEPEST_GROUP:
            raise self._refusal(f"groups are nested more than {DEEPEST_GROUP} deep", start)
        node = self._choice()
        if self._next() != ")":
            raise self._refusal("a ( is not closed", start)
        self._at += 1
        self._depth -= 1
        return node

    def _escape(self, start: int) -> _Character:
        """What a backslash means; the backslash is read."""
        character = self._next()
        self._at += 1
        if character.lower() in CLASSES:
            inside = CLASSES[character.lower()] & ~NEWLINE
            if character.islower():
                return _Character(inside)
            return _Character(ASCII & ~NEWLINE & ~inside, others=True)
        if character in CONTROLS:
            return _literal(CONTROLS[character])
        if character == "x":
            digits = self._pattern[self._at : self._at + 2]
            if len(digits) < 2 or any(digit not in string.hexdigits for digit in digits):
                raise self._refusal("\\x needs two hexadecimal digits", start)
            self._at += 2
            if int(digits, 16) > 0x7F or int(digits, 16) == 0x0A:
                raise self._refusal("\\x names an ASCII character other than newline; write others as they are", start)
            return _literal(chr(int(digits, 16)))
        if character and character in string.punctuation + " ":
            return _literal(character)
        if not character:
            raise self._refusal("a backslash ends the pattern", start)
        if character.isdigit():
            raise self._refusal("a back-reference is outside the subset", start)
        raise self._refusal(f"\\{character} is outside the subset", start)

    def _set(self, start: int) -> _Character:
        """A set in brackets; the opening one is read."""
        negated = self._next() == "^"
        self._at += negated
        ascii_mask, literals, others = 0, list[bytes](), False
        first = self._at
        while self._next() != "]" or self._at == first:
            at = self._at
            one = self._member(start)
            upto = self._pattern[self._at : self._at + 2]
            if upto.startswith("-") and upto not in ("-]", "-"):
                self._at += 1
                low, high = _single(one), _single(self._member(start))
                if low is None or high is None:
                    raise self._refusal("a range goes from one ASCII character to another", at)
                if low > high:
                    raise self._refusal("a range goes backwards", at)
                one = _Character(sum(1 << byte for byte in range(low, high + 1)) & ~NEWLINE)
            ascii_mask |= one.ascii
            literals += one.literals
            others |= one.others
        self._at += 1
        if not negated:
            return _Character(ascii_mask, tuple(dict.fromkeys(literals)), others)
        if literals:
            raise self._refusal("a negated set names ASCII characters only", start)
        inverse = ASCII & ~NEWLINE & ~ascii_mask
        if not inverse and others:
            raise self._refusal("a set allows nothing", start)
        return _Character(inverse, others=not others)

    def _member(self, start: int) -> _Character:
        character, at = self._next(), self._at
        self._at += 1
        if not character:
            raise self._refusal("a [ is not closed", start)
        if character == "[":
            raise self._refusal("a [ inside a set (write \\[ for the bracket)", at)
        return self._escape(at) if character == "\\" else _literal(character)


def _literal(character: str) -> _Character:
    if character.isascii():
        return _Character(1 << ord(character))
    return _Character(0, (character.encode(),))


def _single(node: _Character) -> int | None:
    """The one ASCII character that a node stands for."""
    if node.literals or node.others or node.ascii.bit_count() != 1:
        return None
    return node.ascii.bit_length() - 1


# -- the automaton


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A part of the automaton: the positions it may begin and end with, and whether it may be absent."""

    first: int
    last: int
    absent: bool


class _Builder:
    """Writes a pattern out as positions: the bytes that each one takes, and the positions that may follow it."""

    def __init__(self) -> None:
        self.takes: list[int] = []
        self.follow: list[int] = []

    def build(self, node: _Node) -> _Fragment:
        """The fragment of a node, with fresh positions."""
        match node:
            case _Character():
                return self._character(node)
            case _Sequence(parts):
                return self._sequence(self.build(part) for part in parts)
            case _Choice(branches):
                return self._choice([self.build(branch) for branch in branches])
            case _Repeat(part, least, most):
                return self._sequence(self._copies(part, least, most))

    def _copies(self, part: _Node, least: int, most: int | None) -> Iterator[_Fragment]:
        """What must be there, then what may be."""
        for _ in range(least if most is not None else max(least - 1, 0)):
            yield self.build(part)
        if most is None:
            copy = self.build(part)
            self._connect(copy.last, copy.first)
            yield _Fragment(copy.first, copy.last, copy.absent or least == 0)
            return
        for _ in range(most - least):
            copy = self.build(part)
            yield _Fragment(copy.first, copy.last, True)

    def _character(self, node: _Character) -> _Fragment:
        branches = []
        if node.ascii:
            branches.append(self._position(node.ascii))
        if node.others:
            leading, rest = self._position(LEADING), self._position(CONTINUING)
            self._connect(leading.last | rest.last, rest.first)
            branches.append(_Fragment(leading.first, rest.last, False))
        branches += [self._sequence(self._position(1 << byte) for byte in literal) for literal in node.literals]
        return self._choice(branches)

    def _position(self, takes: int) -> _Fragment:
        if len(self.takes) == MOST_POSITIONS:
            raise PatternError(f"the pattern comes to more than {MOST_POSITIONS} characters when written out")
        self.takes.append(takes)
        self.follow.append(0)
        place = 1 << (len(self.takes) - 1)
        return _Fragment(place, place, False)

    def _choice(self, branches: list[_Fragment]) -> _Fragment:
        first = last = 0
        for branch in branches:
            first |= branch.first
            last |= branch.last
        return _Fragment(first, last, any(branch.absent for branch in branches))

    def _sequence(self, parts: Iterator[_Fragment]) -> _Fragment:
        whole = _Fragment(0, 0, True)
        for part in parts:
            self._connect(whole.last, part.first)
            whole = _Fragment(
                whole.first | (part.first if whole.absent else 0),
                part.last | (whole.last if part.absent else 0),
                whole.absent and part.absent,
            )
        return whole

    def _connect(self, before: int, after: int) -> None:
        for place in _places(before):
            self.follow[place] |= after


def _places(positions: int) -> Iterator[int]:
    """The numbers in a set of positions."""
    while positions:
        lowest = positions & -positions
        yield lowest.bit_length() - 1
        positions ^= lowest


class LinearRegex:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        builder = _Builder()
        whole = builder.build(_Parser(pattern).whole())
        if whole.absent:
            raise PatternError("the pattern matches the empty line")
        by_takes: dict[int, int] = {}
        for place, takes in enumerate(builder.takes):
            by_takes[takes] = by_takes.get(takes, 0) | 1 << place
        # Bytes that the same positions take are one symbol of the automaton.
        symbols: dict[int, int] = {}
        symbol_of = bytearray(256)
        for byte in range(256):
            positions = sum(at for takes, at in by_takes.items() if takes >> byte & 1)
            symbol_of[byte] = symbols.setdefault(positions, len(symbols))
        self._symbol_of = bytes(symbol_of)
        self._width = len(symbols)
        self._table: list[int] = []
        self._accepts: list[bool] = []
        self._determine(builder, whole, list(symbols))
        if self._takes_everything():
            raise PatternError("the pattern matches every line")

    def _determine(self, builder: _Builder, whole: _Fragment, symbols: list[int]) -> None:
        """Fill the table: rows of states, each a set of positions, from the start on; -1 leads nowhere."""
        states: dict[int, int] = {}
        reached = [whole.first]
        self._accepts.append(False)
        for follow in reached:
            for positions in symbols:
                state = follow & positions
                if not state:
                    self._table.append(-1)
                    continue
                if state not in states:
                    states[state] = len(reached)
                    after = 0
                    for place in _places(state):
                        after |= builder.follow[place]
                    reached.append(after)
                    self._accepts.append(bool(state & whole.last))
                    if len(reached) > MOST_STATES:
                        raise PatternError(
                            f"the pattern has more than {MOST_STATES} states; use fewer wildcards or counts"
                        )
                self._table.append(states[state] * self._width)

    def _takes_everything(self) -> bool:
        """Whether no line of ASCII characters is refused but the empty one."""
        symbols = set(self._symbol_of[:10] + self._symbol_of[11:128])
        seen, waiting = {0}, [0]
        while waiting:
            state = waiting.pop()
            for symbol in symbols:
                after = self._table[state + symbol]
                if after < 0 or not self._accepts[after // self._width]:
                    return False
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        return True

    def fullmatch(self, line: bytes) -> bool:
        """Whether the pattern covers the whole line."""
        table, state = self._table, 0
        for symbol in line.translate(self._symbol_of):
            state = table[state + symbol]
            if state < 0:
                return False
        return self._accepts[state // self._width]


@lru_cache(maxsize=256)
def compiled(pattern: str) -> LinearRegex:
    """The automaton of a pattern. Raises PatternError."""
    return LinearRegex(pattern)
