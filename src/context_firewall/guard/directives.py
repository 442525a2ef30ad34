"""Which sentences of a user's text are standing rules, and which take one back.

A rule binds the agent beyond the next step: it forbids, demands, bounds, prefers or permits. A question, a report, a
guess, an idiom, what another said, pasted output and code, and a plain task are none. What a sentence is follows from
its operators and from where they stand: `never` before a verb in its plain form orders, before one in the past reports.
What cannot be told is not taken: a rule that is missed can be pinned; one that nobody gave would be an alarm for ever.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from context_firewall.guard.folding import Folded, fold
from context_firewall.guard.lexicon import Lexicon, Op, lexicon
from context_firewall.guard.sentences import Sentence, sentences
from context_firewall.guard.tokens import Sort, Token, tokens


class Kind(StrEnum):
    """What a rule does."""

    PROHIBITION = "prohibition"
    OBLIGATION = "obligation"
    LIMIT = "limit"
    PREFERENCE = "preference"
    PERMISSION = "permission"


class Directive(NamedTuple):
    """A rule in the user's words; `start` and `end` are offsets in characters of the text it was found in."""

    text: str
    start: int
    end: int
    kind: Kind
    language: str
    rule: str
    """What made it one, by name: the rules stand in SPEC.md."""


class Release(NamedTuple):
    """A sentence that takes a rule back, or allows what one forbade."""

    text: str
    start: int
    end: int


_FENCE = re.compile(r"[ \t]*+(?:```|~~~)")
_QUOTED_LINE = re.compile(r"[ \t]*+>|(?: {4}|\t)(?=\S)(?![-*•]|[0-9]+[.)] )")
_CHECKBOX = re.compile(r"[ \t]*+[-*+] \[[ xX]\]")
_LOG_LINE = re.compile(
    r"[ \t]*+(?:\[?(?:error|warning|warn|info|debug|fatal|trace|notice|critical|exception|failed|fail|fehler|ошибка|エラー|警告|报错|错误|오류)\]?(?:\[\w++\])?\s?[:：\]]"
    r"|[\w.]{0,60}?(?:error|exception|warning|panic):|traceback\b|\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[t ]|[0-9]{2}:[0-9]{2}:[0-9]{2}|at [\w.$<>]++\(|file \"|npm err!|e   |\$ |>>> |[\w./-]++:[0-9]++:|\w++\[[0-9]++\]:)"
)
_CODE_LINE = re.compile(
    r"[ \t]*+(?:assert\s|def |class |import |from [\w.]++ import|return\b|const |let \w++ =|var |function |public |private |if \(|for \(|while \(|#include|@[a-z]++$|[{}]|//|/\*|--\s|<[/a-z!])"
    r"|[^\n]*+(?<=[;{}])[ \t]*+$|[ \t]*+[\w.]++(?:\[[^\]\n]*+\])?\s?(?:=|:=|\+=)\s"
)
# What opens a sentence without saying anything in it.
_OPENERS = frozenset(
    """please also and but so now then ok okay fine right good great thanks note remember important hey hi well first finally additionally
    moreover however again btw ps one more thing just rule rules reminder remember to going forward from now on henceforth in general generally overall""".split()
)
# A verb here sets how work is done; most others name a piece of work to do once.
_STANDING = frozenset(
    """keep use prefer ask reply answer respond stick avoid call ensure follow respect limit maintain wait stay pin treat leave refrain name
    default write format retain preserve adhere favor favour confirm consult restrict cap mind speak assume obey honour honor comply""".split()
)
_WISHES = (
    "i want", "i'd like", "i would like", "i prefer", "i'd prefer", "i would prefer", "i need you to", "i expect", "we want", "i don't want",
    "i do not want", "we don't want", "we do not want", "i insist", "i'd rather", "i would rather", "we need you to", "we prefer", "i require",
)  # fmt: skip
_FROM_NOW_ON = ("from now on", "from here on", "going forward", "henceforth", "for the rest of this session", "in this session", "for this session")
_SPEAKER = frozenset({"i", "he", "she", "they", "someone", "somebody", "nobody", "we", "it", "that", "this", "there", "everyone"})
# After `must be`, these guess: the build must be broken.
_GUESSED = frozenset(
    """broken wrong missing stale outdated cached a an some something because due related caused corrupted confused mistaken tired that why how
    the it in on from old new fine ok okay true false kidding joking possible able having getting doing going coming using looking nice great
    hard difficult easy there here another what where misconfigured dead stuck down up slow flaky somewhere""".split()
)
# `no` before these forbids nothing.
_NOTHING = frozenset("idea doubt wonder problem problems way need longer one luck worries thanks rush hurry".split())
_DETERMINERS = frozenset("the a an this that these those my your our its his her their".split())
_IDIOMS = re.compile(
    r"\b(?:i must (?:say|admit|confess)|i have to (?:say|admit|go|run)|must (?:not )?have (?:been|had|got|gone|made|done|lost|[a-z]+ed)\b|never mind|no worries|no problem|do(?:n't| not) worry|can't wait"
    r"|never heard|i can only|you never know|i (?:think|guess|believe|suppose)$|i (?:think|guess|believe|suppose)[.,!]|should be able to|always nice|as always|no idea|no doubt|no wonder|don't (?:know|think|understand|see|mind|care|remember)"
    r"|do not (?:know|think|understand|see|mind|care|remember)|don't get (?:it|me wrong)|il ne faut pas s'inquiéter|pas de (?:problème|souci)|ne t'inquiète pas|no te preocupes"
    r"|no pasa nada|sem problema|keine ahnung|kein problem|keine sorge|не волнуй|не знаю|без проблем|no sé|não sei|je ne sais pas|need to know|used to be|that said|to be honest)"
    r"|我必须说|我不得不说|不得不说|必须承认|我必须承认|不得不承认|没问题|别担心|不用担心|不要紧|没关系|别客气|不客气|我不知道|不知道|大丈夫|걱정"
)  # fmt: skip
_CHINESE_HEARSAY = re.compile(r"(?:文档|手册|规范|注释|教程|说明|网上|博客|报告|日志|代码|readme|他们?|同事|老板|有人|书)[^,。]{0,6}(?:写着|写的是|说|提到|规定|要求|显示|建议)")
_PAST_RUSSIAN = re.compile(r"[\u0430-\u044f]{2,}(?:л|ла|ло|ли|лся|лась|лось|лись)")
_PAST_ROMANCE = re.compile(r"[^\W\d_]{2,}(?:ó|ió|aron|ieron|aba|aban|ía|ou|eu|iu|ava|avam|ait|aient|é|és|ée)")
_GERMAN_GUESS = re.compile(r"\b(?:das|es|er|da) (?:muss|müsste|sollte|kann) .{0,120}\bsein\b")


def extract_directives(text: str) -> tuple[Directive, ...]:
    """The standing rules in a text that a user wrote, in order."""
    return tuple(found for found in find_statements(text) if isinstance(found, Directive))


def extract_releases(text: str) -> tuple[Release, ...]:
    """The sentences of a user's text that take a rule back, or allow something."""
    return tuple(found for found in find_statements(text) if isinstance(found, Release))


def find_statements(text: str) -> list[Directive | Release]:
    """Rules and what takes them back, in the order of the text."""
    folded = fold(_own_words(text))
    found: list[Directive | Release] = []
    for sentence in sentences(folded, semicolons=False):
        words = folded.text[sentence.start : sentence.end]
        start, end = folded.span(sentence.start, sentence.end)
        known = lexicon(sentence.language)
        parts = tokens(folded, sentence.start, sentence.end, sentence.language)
        if found and isinstance(found[-1], Directive) and _only_stresses(parts) and not text[found[-1].end : start].strip():
            found[-1] = found[-1]._replace(text=text[found[-1].start : end], end=end)
            continue
        verdict = _verdict(sentence, words, parts, known, folded)
        if verdict == "release":
            found.append(Release(text[start:end], start, end))
        elif verdict is not None:
            kind, rule = verdict
            found.append(Directive(text[start:end], start, end, kind, sentence.language, rule))
    return found


def _own_words(text: str) -> str:
    """The text with what was pasted blanked out, character for character: fenced and quoted blocks, log lines, code."""
    lines = []
    fenced = False
    for line in text.split("\n"):
        folded = line.casefold()
        if _FENCE.match(line):
            fenced = not fenced
            lines.append(" " * len(line))
        elif fenced or any(
            pattern.match(folded) for pattern in (_QUOTED_LINE, _CHECKBOX, _LOG_LINE, _CODE_LINE)
        ):
            lines.append(" " * len(line))
        else:
            lines.append(line)
    return "\n".join(lines)


def _only_stresses(parts: list[Token]) -> bool:
    """`Ever.`, `Always.`, `No exceptions.`"""
    meant = [token for token in parts if token.sort is not Sort.POINT]
    return 0 < len(meant) <= 2 and all(token.op is not None or token.text == "ever" for token in meant)


def _verdict(sentence: Sentence, words: str, parts: list[Token], known: Lexicon, folded: Folded) -> tuple[Kind, str] | str | None:
    if sentence.asks or _IDIOMS.search(words) or (known.name == "chinese" and _CHINESE_HEARSAY.search(words)):
        return None
    operators = {token.op for token in parts if token.op is not None}
    if known.name == "english":
        return _english(words, parts, known)
    if known.name == "chinese":
        return _chinese(words, parts, operators)
    return _other(words, parts, known, operators)


def _clauses(parts: list[Token]) -> list[list[Token]]:
    clauses: list[list[Token]] = [[]]
    for token in parts:
        if token.sort is Sort.POINT and token.text not in "-'":
            clauses.append([])
        elif token.op is Op.CLAUSE and clauses[-1]:
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


class _Whole(NamedTuple):
    """What the clauses of a sentence need to know of all of it."""

    clauses: int
    tokens: int
    operators: frozenset[Op | None]
    repeats: bool
    past: bool


def _english(words: str, parts: list[Token], known: Lexicon) -> tuple[Kind, str] | str | None:
    clauses = _clauses(parts)
    if not clauses:
        return None
    first = clauses[0]
    doubts = any(token.op in (Op.HEDGE, Op.HEARSAY) for token in first) and not any(token.op is Op.IF for token in first)
    if doubts and not _orders(first, known):
        return None
    lifted = any(token.op is Op.LIFT or (token.op is Op.REVOKED and token.text != "ignore") for token in first)
    if lifted and not _orders(first, known):
        return "release"
    if words.startswith(_FROM_NOW_ON) and not any(token.op is Op.PAST for token in parts):
        return Kind.PROHIBITION if any(token.op is Op.NEG for token in parts) else Kind.OBLIGATION, "from now on"
    if words.startswith(_WISHES):
        negative = any(token.op is Op.NEG for token in first)
        soft = any(token.op is Op.SHOULD for token in first)
        return (Kind.PROHIBITION if negative else Kind.PREFERENCE if soft else Kind.OBLIGATION), "wish"
    ruled: list[tuple[Kind, str]] = []
    whole = _Whole(len(clauses), len(parts), frozenset(token.op for token in parts), _repeats(parts), any(one.text.endswith("ed") for one in parts))
    for place, clause in enumerate(clauses):
        found = _english_clause(clause, place, whole, known)
        if found is not None:
            ruled.append(found)
    if not ruled:
        return "release" if any(token.op is Op.MAY for token in first) and _says_you(first) else None
    return next((found for found in ruled if found[0] is Kind.PROHIBITION), ruled[0])


def _meant(clause: list[Token]) -> list[Token]:
    """A clause without what only opens it."""
    place = 0
    while place < len(clause) and (
        clause[place].text in _OPENERS
        or clause[place].op in (Op.SEQUENCE, Op.THEN, Op.CLAUSE)
        or (clause[place].op is Op.LIGHT and clause[place].text.split(" ")[0] not in known_verbs() and clause[place].text not in _DETERMINERS)
    ):
        place += 1
    return clause[place:]


def known_verbs() -> frozenset[str]:
    """English verbs that are light to the judge and begin an order all the same."""
    return lexicon("english").verbs


def _orders(clause: list[Token], known: Lexicon) -> bool:
    """Whether a clause begins with a verb in its plain form, as an order does."""
    meant = _meant(clause)
    if meant and meant[0].op is Op.AGENT and len(meant) > 1:
        return False
    while meant and meant[0].op in (Op.ONLY, Op.ALL, Op.MUST, Op.SHOULD) and meant[0].text in ("only", "always", "just", "exclusively", "ideally", "preferably"):
        meant = meant[1:]
    return bool(meant) and (meant[0].text in known.verbs or meant[0].text.split(" ")[0] in known.verbs)


def _says_you(clause: list[Token]) -> bool:
    return any(token.op is Op.AGENT for token in clause[:3])


_MARKS = frozenset({Op.ALL, Op.ONLY, Op.ATMOST, Op.ATLEAST, Op.NEG, Op.CONTRAST, Op.IF, Op.BEFORE, Op.AFTER, Op.UNTIL, Op.UNLESS, Op.WITHOUT, Op.EXCEPT, Op.ONLYIF, Op.MUST, Op.DURING})
_REPORTING = frozenset({Op.PAST, Op.REVOKED})
# Negations that only order when the agent, or nobody, is their subject.
_DESCRIBING = frozenset("does not|doesn't|is not|isn't|are not|aren't|cannot|can not|can't|will not|won't|am not|not|none|nobody|neither|nor|nothing|forbids|prohibits|bans|rejects|refuses|avoids|does not allow|doesn't allow|is never|are never|no way|does not want|doesn't want|never wants|by no means|opposed to|objects to".split("|"))
_FORBIDDEN = frozenset("frozen forbidden prohibited banned disallowed off|limits off-limits".split()) | {
    "off limits", "out of bounds", "not allowed", "not permitted", "never allowed", "never permitted", "is not allowed", "are not allowed",
    "is never allowed", "are never allowed", "is not permitted", "are not permitted", "is forbidden", "are forbidden", "is prohibited",
    "are prohibited", "is off limits", "are off limits", "is banned", "are banned", "hands off", "stay away from", "keep out of", "stay out of",
    "is frozen", "are frozen", "leave alone", "under no circumstances", "on no account", "unacceptable", "no longer allowed",
}  # fmt: skip


def _english_clause(clause: list[Token], place: int, whole: _Whole, known: Lexicon) -> tuple[Kind, str] | None:
    meant = _meant(clause)
    told = any(token.op in _REPORTING and token.text not in ("ignore", "previously", "pause", "reversed") for token in clause)
    if not meant or (told and not (_orders(clause, known) or meant[0].op is Op.NEG)):
        return None
    operators = {token.op for token in clause}
    everywhere = whole.operators
    subject = _subject(clause)
    for index, token in enumerate(clause):
        if token.op is Op.NEG:
            found = _english_negation(clause, index, subject, known)
            if found is not None:
                return found
        if token.op is Op.NEG and token.text in ("nothing", "nobody") and index + 1 < len(clause) and clause[index + 1].op in (Op.MAY, Op.MUST):
            return Kind.PROHIBITION, "prohibition"
        if token.op is Op.DOUBLE and subject in ("", "you"):
            return Kind.OBLIGATION, "double negation"
    if meant[0].op is Op.ALL and Op.REQUIRE in operators:
        return Kind.OBLIGATION, "duty"
    if any(token.op is Op.MUST for token in clause):
        index = next(index for index, token in enumerate(clause) if token.op is Op.MUST)
        if _deontic(clause, index, subject, known):
            return Kind.OBLIGATION, "duty"
    if _orders(clause, known):
        verb = next(token for token in _meant(clause) if token.text.split(" ")[0] in known.verbs)
        if Op.SHOULD in operators or verb.text in ("prefer", "favor", "favour"):
            return Kind.PREFERENCE, "order with a preference"
        if Op.ATMOST in operators or Op.ATLEAST in operators:
            return Kind.LIMIT, "order with a bound"
        if verb.text.split(" ")[0] in _STANDING and not (verb.text == "call" and len(meant) < 3):
            return Kind.OBLIGATION, "standing order"
        if everywhere & _MARKS and not (everywhere & _MARKS <= {Op.ALL} and not whole.repeats):
            return Kind.OBLIGATION, "order with a condition or an extent"
    if meant[0].op is Op.SHOULD and (len(meant) > 1 or place + 1 < whole.clauses):
        return Kind.PREFERENCE, "preference"
    if any(token.op is Op.SHOULD and token.text.startswith(("should", "ought")) for token in clause) and subject not in ("it", "that", "this", "i", "there", "he", "she", "they"):
        return Kind.PREFERENCE, "should"
    if Op.MAY in operators and (_says_you(clause) or meant[0].text in ("feel free to", "go ahead and")):
        return (Kind.LIMIT, "bounded permission") if operators & {Op.ONLY, Op.ATMOST} else (Kind.PERMISSION, "permission")
    if any(token.text in ("read-only", "readonly", "read only") for token in clause) and not subject_is_speaker(subject) and whole.clauses <= 3:
        return Kind.LIMIT, "read-only"
    if any(token.sort is Sort.QUANTITY for token in clause) and any(token.text in ("budget", "limit", "deadline", "maximum", "minimum", "cap", "quota", "ceiling") for token in clause):
        return Kind.LIMIT, "bound"
    if {Op.SEQUENCE, Op.THEN} <= everywhere and whole.tokens <= 10 and place == 0 and not whole.past:
        return Kind.OBLIGATION, "order of steps"
    return None


def subject_is_speaker(subject: str) -> bool:
    """Whether a clause is about the one who speaks."""
    return subject in _SPEAKER


def _repeats(parts: list[Token]) -> bool:
    """Whether `every` or `each` makes an order a standing one; `all` and `any` may only say how much."""
    return any(token.op is Op.ALL and token.text in ("every", "each", "whenever", "everywhere", "any", "all") for token in parts)


def _subject(clause: list[Token]) -> str:
    """The first word of a clause where a subject would stand: a pronoun, `you`, `…` for a noun, or nothing."""
    named = False
    for token in clause:
        named = named or token.text in _DETERMINERS
        if token.text in _SPEAKER:
            return token.text
        if token.op is Op.AGENT:
            return "you"
        if token.text in _OPENERS or (token.op in (Op.LIGHT, Op.CLAUSE, Op.ALL, Op.USER) and token.text not in ("it", "that", "this")):
            continue
        if token.op is None:
            return "…" if named or token.text not in lexicon("english").verbs else ""
        return ""
    return ""


def _english_negation(clause: list[Token], index: int, subject: str, known: Lexicon) -> tuple[Kind, str] | None:
    token = clause[index]
    after = [one for one in clause[index + 1 :] if one.text not in ("ever", "even", "directly", "the", "a", "any", "again")]
    following = after[0].text if after else ""
    if token.text in _FORBIDDEN:
        return (Kind.PROHIBITION, "forbidden") if not subject_is_speaker(subject) else None
    if token.text in _DESCRIBING:
        return None
    if subject in ("it", "that", "this", "there", "i", "he", "she", "they", "someone", "somebody", "nobody"):
        return None
    if token.text == "no":
        if index == 0 or all(one.op in (Op.LIGHT, Op.CLAUSE) for one in clause[:index]) or clause[0].text in known.verbs:
            return (Kind.PROHIBITION, "no such thing") if after and following not in _NOTHING else None
        return None
    if token.text in ("avoid", "avoiding", "refrain from"):
        return (Kind.PROHIBITION, "avoid") if subject in ("", "you") else None
    if token.text.startswith(("never", "do not", "don't", "dont", "not to", "at no time", "not ever", "stay", "keep", "steer", "in no case")) or token.text == "not to":
        if subject == "…" and not token.text.startswith("never"):
            return None
        if re.fullmatch(r"[a-z]+ed|ran|was|were|had|got|worked|came|went|did|saw|knew|made|wrote|failed", following):
            return None
        if subject == "…" and following.endswith("s") and not following.endswith("ss"):
            return None
        if subject == "…" and following not in known.verbs and following not in ("be", "go", "touch", "commit"):
            return None
        return Kind.PROHIBITION, "prohibition"
    if token.text.startswith(("must", "should", "may", "shall", "need")) or token.text in ("forbidden", "prohibited", "banned"):
        return Kind.PROHIBITION, "prohibition"
    return None


def _deontic(clause: list[Token], index: int, subject: str, known: Lexicon) -> bool:
    """Whether a duty binds the agent: `must` that guesses, and a duty that the speaker has, do not."""
    token = clause[index]
    after = [one for one in clause[index + 1 :] if one.text not in ("also", "the", "a", "an")]
    direct = clause[index + 1].text if index + 1 < len(clause) else ""
    if token.text in ("will", "wants", "want", "demands", "demand", "expects", "expect", "insists", "insist on", "is to", "are to", "will be", "wants to"):
        return False
    if subject in ("i", "he", "she", "they", "it", "that", "this", "there", "someone", "somebody"):
        return False
    if direct in _GUESSED or not after:
        return False
    if token.text in ("always", "strictly", "at all times", "every time"):
        if re.fullmatch(r"[a-z]+ed|was|were|had|got", direct):
            return False
        if subject == "…":
            return any(one.text in ("is", "are") for one in clause) or direct in known.verbs or direct in ("go", "goes", "be")
        return True
    if token.text in ("need to", "needs to", "have to", "has to") and subject == "we":
        return False
    return True


_CHINESE_ORDERS = frozenset("不要 不得 不许 不准 不可 不可以 不允许 不应 不应该 不应当 禁止 严禁 切勿 请勿 勿 别 千万别 千万不要 绝不 绝不能 绝不可 绝对不要 绝对不能 绝对不许 永远不要 永远不能 一律不 一律不得 避免 杜绝 禁用 都不许 都不要 都不能 不能 不想 不希望".split())
_CHINESE_GUESS = re.compile(r"(?:一定|应该|肯定|必)是|(?:一定|应该|肯定)(?:在|有|能|会|已|没)|(?:是|有)(?:问题|错)")


def _chinese(words: str, parts: list[Token], operators: set[Op]) -> tuple[Kind, str] | str | None:
    if operators & {Op.HEARSAY} or "?" in words or re.search(r"(?:吗|呢|为什么|为何|怎么|是不是|是否|要不要|能不能|可不可以|行不行)", words):
        return None
    if operators & {Op.LIFT, Op.REVOKED} and not any(token.text in _CHINESE_ORDERS for token in parts):
        return "release"
    past = any(token.op is Op.PAST and token.text in ("了", "过", "已", "已经", "曾", "刚", "刚刚", "昨天") for token in parts)
    if re.search(r"(?:之前|以前|过去|曾经)(?:都|总|一直|就)|从来(?:没|不)|没有?.{0,8}过|一直(?:没|不|在)|总是(?:失败|报错|出错|挂)", words) or _CHINESE_GUESS.search(words):
        return None
    for token in parts:
        if token.op is Op.NEG and token.text in _CHINESE_ORDERS:
            if token.text in ("不能", "不应该", "不可以") and (past or "我不能" in words or "能不能" in words):
                continue
            return Kind.PROHIBITION, "prohibition"
    if past and not re.search(r"(?:必须|务必|一定要|如果|若|只要|一旦)", words):
        return None
    if Op.SHOULD in operators:
        return Kind.PREFERENCE, "preference"
    if Op.MUST in operators and any(token.op is Op.MUST and token.text not in ("要求", "想要", "希望", "需", "要", "需要", "一直", "永远", "得先") for token in parts):
        return Kind.OBLIGATION, "duty"
    if operators & {Op.ATMOST, Op.ATLEAST} and any(token.sort is Sort.QUANTITY for token in parts):
        return Kind.LIMIT, "bound"
    if any(token.text in ("只能", "仅限", "只许", "只准", "只允许", "仅允许", "仅能", "只可", "仅可", "限于") for token in parts):
        return Kind.LIMIT, "only"
    if re.match(r"(?:请|你?只|仅)", words) and (Op.ONLY in operators or "请" in words):
        return Kind.OBLIGATION, "order"
    if re.search(r"请(?:用|使用|先|务必|勿|始终|保持|统一|一律|在|不|按|遵)", words) and not re.match(r"请(?:在|用)\S{0,4}(?:找|看)", words):
        return Kind.OBLIGATION, "order"
    if Op.SEQUENCE in operators and operators & {Op.THEN, Op.POST_BEFORE, Op.POST_AFTER}:
        return Kind.OBLIGATION, "order of steps"
    if operators & {Op.IF, Op.POST_IF, Op.UNLESS, Op.ONLYIF} and operators & {Op.END, Op.MUST, Op.NEG, Op.THEN, Op.SEQUENCE}:
        return Kind.OBLIGATION, "condition"
    if operators & {Op.ALL} and operators & {Op.MUST} and "都要" in words:
        return Kind.OBLIGATION, "duty"
    if operators & {Op.MUST} and re.search(r"(?:每次|所有|每个|任何|全部|一律|以后|今后|从现在起).{0,60}(?:要|需要|需)", words):
        return Kind.OBLIGATION, "duty"
    if re.match(r"(?:以后|今后|从现在起|接下来|用|使用|保持|统一|始终|一律)", words) and not re.search(r"(?:吧|一下|看看)", words) and not past:
        return Kind.OBLIGATION, "standing order"
    if re.search(r"(?:保持|设为|控制在|限制在)", words) and any(token.sort is Sort.QUANTITY for token in parts):
        return Kind.LIMIT, "bound"
    if "只读" in words or ("只用" in words and not past):
        return Kind.LIMIT, "only"
    if re.search(r"[前后](?:,)?(?:先|要|都|请)", words):
        return Kind.OBLIGATION, "order of steps"
    return "release" if Op.MAY in operators and "可以" in words and "直接" in words else None


def _other(words: str, parts: list[Token], known: Lexicon, operators: set[Op]) -> tuple[Kind, str] | str | None:
    if operators & {Op.PAST, Op.HEDGE, Op.HEARSAY}:
        return None
    if operators & {Op.LIFT, Op.REVOKED}:
        return "release"
    plain = [token.text for token in parts if token.op is None]
    if known.name == "russian" and any(_PAST_RUSSIAN.fullmatch(word) for word in plain):
        return None
    if known.name in ("spanish", "portuguese", "french") and any(_PAST_ROMANCE.fullmatch(word) for word in plain[:3]) and not operators & {Op.MUST}:
        return None
    if known.name == "german" and _GERMAN_GUESS.search(words):
        return None
    orders = bool(parts) and any(token.text in known.verbs for token in parts[:3])
    if Op.NEG in operators or Op.DOUBLE in operators:
        if known.name in ("japanese", "korean"):
            strong = any(token.op is Op.NEG and (len(token.text) > 2 or token.text in ("禁止", "厳禁", "不可", "금지")) for token in parts)
            return (Kind.PROHIBITION, "prohibition") if strong else None
        if known.name == "german" and parts[0].text in ("der", "die", "das", "es", "er", "sie", "ich", "wir") and not any(token.text.startswith(("darf", "dürf", "soll", "muss")) for token in parts):
            return None
        strong = orders or any(
            token.op is Op.NEG and token.text not in ("nicht", "no", "não", "ne", "pas", "не", "kein", "keine", "keinen", "nada", "nichts", "ни", "n'", "rien", "nem", "tampoco")
            for token in parts
        )
        begins = parts[0].op is Op.NEG or (len(parts) > 1 and parts[1].op is Op.NEG and parts[0].op in (Op.LIGHT, Op.MUST, None) and parts[0].text in known.verbs)
        return (Kind.PROHIBITION, "prohibition") if strong or begins else None
    if Op.MUST in operators:
        return Kind.OBLIGATION, "duty"
    if Op.SHOULD in operators:
        return Kind.PREFERENCE, "preference"
    if operators & {Op.ATMOST, Op.ATLEAST} and any(token.sort is Sort.QUANTITY for token in parts):
        return Kind.LIMIT, "bound"
    if Op.ONLY in operators and orders:
        return Kind.LIMIT, "only"
    if orders and operators & {Op.BEFORE, Op.AFTER, Op.ALL, Op.IF, Op.WITHOUT, Op.UNTIL, Op.EXCEPT, Op.CONTRAST}:
        return Kind.OBLIGATION, "order with a condition or an extent"
    return None
