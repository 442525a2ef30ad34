"""Declared noise: lines that a project knows, so that they need no explanation in every run.

A rule is a literal prefix or a linear regular expression (`linear_regex`) over the bare line, perhaps for one stream.
It can only take lines that no other rule knows, that is of kind `unclassified` when warnings and what stands around a
run are told from them, and of those only what nobody else may need:

- a stretch with contested results keeps everything: what is unclassified in it may be the region of a denied failure;
- so does a stream that two dialects claim: what one reading calls unknown is another's failure;
- where standard error is the only account of a failed process, it is that failure's region and is kept whole;
- that a command failed may be said by no other line than the one that stands below the run.

What a rule takes is counted as `declared_noise`. Taking it away removes no doubt but that of unclassified evidence.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from context_firewall.errors import InvalidInput
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import ANSI, Line, bare

if TYPE_CHECKING:
    from context_firewall.transcript.linear_regex import LinearRegex

STREAMS = ("stdout", "stderr")


class NoiseRuleKeys(TypedDict, total=False):
    """A rule as JSON or TOML has it: `prefix` or `regex`, and perhaps `stream`."""

    prefix: str
    regex: str
    stream: str


def _compiled(regex: str) -> "LinearRegex":
    """The automaton of a rule's regex; its module is loaded when a rule needs it. Raises InvalidInput."""
    from context_firewall.transcript.linear_regex import PatternError, compiled

    try:
        return compiled(regex)
    except PatternError as refusal:
        raise InvalidInput(f"regex: {refusal}", key="regex") from None


@dataclass(frozen=True, slots=True)
class NoiseRule:
    """Lines that begin with `prefix`, or that `regex` covers wholly; in `stream` only, if that is given.

    Raises InvalidInput, naming the key, for a rule that is none.
    """

    prefix: str | None = None
    regex: str | None = None
    stream: str | None = None

    def __post_init__(self) -> None:
        for key, text in (("prefix", self.prefix), ("regex", self.regex), ("stream", self.stream)):
            if text is not None and not isinstance(text, str):
                raise InvalidInput(f"{key} must be a string", key=key)
        if (self.prefix is None) == (self.regex is None):
            raise InvalidInput("a rule has either a prefix or a regex", key="prefix")
        if self.stream is not None and self.stream not in STREAMS:
            raise InvalidInput("stream must be stdout or stderr", key="stream")
        if self.prefix is not None:
            _check_prefix(self.prefix)
        if self.regex is not None:
            _compiled(self.regex)

    def matches(self, line: bytes, stream: str) -> bool:
        """Whether a bare line of that stream is this rule's."""
        if self.stream not in (None, stream):
            return False
        if self.prefix is not None:
            return line.startswith(self.prefix.encode())
        return self.regex is not None and _compiled(self.regex).fullmatch(line)

    def keys(self) -> NoiseRuleKeys:
        """The rule as JSON has it, without what it does not say."""
        keys: NoiseRuleKeys = {}
        if self.prefix is not None:
            keys["prefix"] = self.prefix
        if self.regex is not None:
            keys["regex"] = self.regex
        if self.stream is not None:
            keys["stream"] = self.stream
        return keys


NoiseDeclaration = Sequence[NoiseRule | Mapping[str, str] | str]
"""Rules as callers may give them; a string is a prefix."""


def _check_prefix(prefix: str) -> None:
    if not prefix:
        raise InvalidInput("prefix must not be empty: it would be the prefix of every line", key="prefix")
    try:
        data = prefix.encode()
    except UnicodeEncodeError:
        raise InvalidInput("prefix holds half of a character (a lone surrogate)", key="prefix") from None
    if b"\n" in data or ANSI.search(data):
        reason = "no line holds a newline, and lines are matched without their ANSI sequences"
        raise InvalidInput(f"prefix can match nothing: {reason}", key="prefix")


def parse_noise(declared: object, key: str = "noise") -> tuple[NoiseRule, ...]:
    """The rules of a declaration in canonical form: each once, sorted, so that equal declarations are equal.

    `key` is what an error calls the declaration; it adds the rule's index, from 0, and the offending key.
    """
    if isinstance(declared, str | bytes) or not isinstance(declared, Sequence):
        raise InvalidInput(f"{key} must be a list of rules", key=key)
    rules = {_parsed(rule, f"{key}[{index}]") for index, rule in enumerate(declared)}
    return tuple(sorted(rules, key=lambda rule: (rule.prefix or "", rule.regex or "", rule.stream or "")))


def _parsed(rule: object, key: str) -> NoiseRule:
    if isinstance(rule, NoiseRule):
        return rule
    if isinstance(rule, str):
        rule = {"prefix": rule}
    if not isinstance(rule, Mapping):
        raise InvalidInput(f"{key} must be a prefix, or a table with prefix or regex", key=key)
    for name in rule:
        if name not in ("prefix", "regex", "stream"):
            raise InvalidInput(f"{key}.{name} is an unknown key; known are prefix, regex, stream", key=f"{key}.{name}")
    for name, text in rule.items():
        if not isinstance(text, str):
            raise InvalidInput(f"{key}.{name} must be a string", key=f"{key}.{name}")
    if ("prefix" in rule) == ("regex" in rule):
        raise InvalidInput(f"{key} must have either a prefix or a regex", key=key)
    try:
        return NoiseRule(**rule)
    except InvalidInput as refusal:
        raise InvalidInput(f"{key}.{refusal}", key=f"{key}.{refusal.details['key']}") from None


def declared_keys(rules: Iterable[NoiseRule]) -> list[NoiseRuleKeys]:
    """What enters the configuration identity: the rules of `parse_noise` as JSON."""
    return [rule.keys() for rule in rules]


# -- in force


class _Sieve:
    """Rules made ready for one stream."""

    def __init__(self, rules: Iterable[NoiseRule], stream: str) -> None:
        mine = [rule for rule in rules if rule.stream in (None, stream)]
        self._prefixes = tuple(rule.prefix.encode() for rule in mine if rule.prefix is not None)
        self._patterns = tuple(_compiled(rule.regex) for rule in mine if rule.regex is not None)

    def takes(self, line: Line) -> bool:
        text = bare(line.raw)
        return text.startswith(self._prefixes) or any(pattern.fullmatch(text) for pattern in self._patterns)


def without_noise(
    readings: Iterable[Reading],
    rules: Sequence[NoiseRule],
    spared: Collection[str] = (),
    witnesses: Collection[Line] = (),
) -> list[Reading]:
    """The readings without the unclassified lines that rules declare; those are counted.

    `spared` names streams of which nothing is taken, `witnesses` are lines that are not.
    """
    sieves = {stream: _Sieve(rules, stream) for stream in STREAMS if stream not in spared}

    def is_noise(line: Line) -> bool:
        if line.kind is not Kind.UNCLASSIFIED or line.stream not in sieves:
            return False
        return sieves[line.stream].takes(line) and line not in witnesses

    cleared = []
    for reading in readings:
        contested = any(line.kind is Kind.CONTESTED_TEST for line in reading.unclassified)
        rest = reading.unclassified if contested else tuple(x for x in reading.unclassified if not is_noise(x))
        before_rest = reading.unclassified
        taken = len(before_rest) - len(rest)
        if taken:
            before = reading.suppressed.get(Kind.DECLARED_NOISE, 0)
            suppressed = {**reading.suppressed, Kind.DECLARED_NOISE: before + taken}
            # A dialect may have said so too; the verdict says it again of the lines that are left.
            doubts = reading.doubts - {Doubt.UNCLASSIFIED_EVIDENCE}
            reading = reading._replace(unclassified=rest, suppressed=suppressed, doubts=doubts)
            if reading.fates is not None:
                left = {line.number for line in rest}
                gone = (line.number for line in before_rest if line.number not in left)
                reading = reading._replace(fates={**reading.fates, **dict.fromkeys(gone, Kind.DECLARED_NOISE)})
        cleared.append(reading)
    return cleared


# -- proposals

FEWEST_LINES = 3
"""A rule is proposed for no fewer lines."""
SHORTEST_PREFIX = 3
"""A prefix says at least this many characters that are not blank."""
MOST_PROPOSALS = 20
MOST_WORDS = 12
LONGEST_PREFIX = 200

# A word and the blanks behind it; a word that varies is cut before its first digit.
_WORD = re.compile(rb"[^\s0-9]++(?:\s++|(?=[0-9])|\Z)|\s++")
# A time, a date, a process number: at most three words at the line's start that begin with digits, perhaps in brackets.
_STAMP = re.compile(rb"(?:[(\[<]?+[0-9][!-~]*+[ \t]++){1,3}")
_DIGITS = re.compile(rb"[0-9]++")


class Proposal(NamedTuple):
    """A rule that a project might declare, and how many of the run's unclassified lines it would take."""

    rule: NoiseRule
    line_count: int


class _Words(NamedTuple):
    """A line taken apart: the pattern of its stamp, if it has one, and its words up to the first digit."""

    stamp: bytes
    words: tuple[bytes, ...]

    @classmethod
    def of(cls, text: bytes) -> "_Words":
        found = _STAMP.match(text)
        at = found.end() if found else 0
        stop = at + LONGEST_PREFIX
        words: list[bytes] = []
        while len(words) < MOST_WORDS and (word := _WORD.match(text, at)) is not None and word.end() <= stop:
            words.append(word[0])
            at = word.end()
        return cls(_DIGITS.sub(b"[0-9]+", _escaped(found[0])) if found else b"", tuple(words))


def suggest_noise(lines: Iterable[Line], others: Iterable[Line] = ()) -> tuple[Proposal, ...]:
    """Rules for a run's unclassified lines, those that take most lines first.

    Lines that begin with the same words are one rule, as long as the words go: up to the first digit, or to where the
    lines part. A time stamp before the words makes it a regex. `others` are the run's lines of other kinds: no rule is
    proposed that matches one of them, although it could not take it.
    """
    texts = [(line.stream, bare(line.raw)) for line in lines if line.kind is Kind.UNCLASSIFIED]
    foreign = [(line.stream, bare(line.raw)) for line in others]
    apart = sorted((_Words.of(text) for _, text in texts if _is_utf8(text)), key=lambda one: (one.stamp, one.words))
    avoid = {
        (one.stamp, one.words[:n]) for one in (_Words.of(t) for _, t in foreign) for n in range(len(one.words) + 1)
    }
    proposals = []
    for stamp, group in groupby(apart, key=lambda one: one.stamp):
        for words in _prefixes(stamp, [one.words for one in group], 0, avoid):
            rule = _rule(stamp, b"".join(words))
            if rule is None or any(rule.matches(text, stream) for stream, text in foreign):
                continue
            covered = sum(rule.matches(text, stream) for stream, text in texts)
            if covered >= FEWEST_LINES:
                proposals.append(Proposal(rule, covered))
    proposals.sort(key=lambda one: (-one.line_count, one.rule.prefix or "", one.rule.regex or ""))
    return tuple(proposals[:MOST_PROPOSALS])


def _prefixes(
    stamp: bytes, lines: Sequence[tuple[bytes, ...]], depth: int, avoid: Collection[tuple[bytes, tuple[bytes, ...]]]
) -> Iterator[tuple[bytes, ...]]:
    """The words that groups of sorted lines begin with; a group that says too little, or too much, is split."""
    waiting = [(lines, depth)]
    while waiting:
        group, depth = waiting.pop()
        parted = groupby((words for words in group if len(words) > depth), key=lambda words: words[depth])
        for _, members in parted:
            same = list(members)
            if len(same) < FEWEST_LINES:
                continue
            shared = _shared(same[0], same[-1])
            says = len(b"".join(b"".join(shared).split()))
            if says >= SHORTEST_PREFIX and (stamp, shared) not in avoid:
                yield shared
            else:
                waiting.append((same, len(shared)))


def _shared(one: tuple[bytes, ...], other: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The words that both begin with; of sorted lines, the first and the last share what all share."""
    count = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:count]


def _rule(stamp: bytes, prefix: bytes) -> NoiseRule | None:
    """The rule of a group, or None where it has no proper form."""
    try:
        if not stamp:
            return NoiseRule(prefix=prefix.decode())
        return NoiseRule(regex=(stamp + _escaped(prefix)).decode() + ".*")
    except InvalidInput:  # the words are too long for a pattern, or hold what no prefix may
        return None


def _escaped(text: bytes) -> bytes:
    """Text for a pattern."""
    return re.sub(rb"[\\.^$*+?{}\[\]|()]", rb"\\\g<0>", text)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
