"""English: `never` before a plain verb orders, before a past one reports; an order begins with its verb."""

import re
from typing import NamedTuple

from context_firewall.guard.lexicon import Op
from context_firewall.guard.lexicon.english import VERBS
from context_firewall.guard.orders import BOUNDS, RELEASE, Found, Kind, has_quantity, operators_of
from context_firewall.guard.tokens import Sort, Token

# What opens a sentence without saying anything in it.
_OPENERS = frozenset(
    """please also and but so now then ok okay fine right good great thanks note remember important hey hi well
    first finally additionally moreover however again btw ps one more thing just rule rules reminder to going
    forward from on henceforth in general generally overall""".split()
)
# A verb here sets how work is done; most others name a piece of work to do once.
_STANDING = frozenset(
    """keep use prefer ask reply answer respond stick avoid call ensure follow respect limit maintain wait stay pin
    treat leave refrain name default write format retain preserve adhere favor favour confirm consult restrict
    cap mind speak assume obey honour honor comply indent anonymise anonymize quarantine""".split()
)
_WISHES = re.compile(
    r"(?:i|we) (?:want|prefer|expect|insist|require|would (?:like|prefer|rather)|need you to|do(?:n't| not) want)"
    r"|i'd (?:like|prefer|rather)"
)
_FROM_NOW_ON = re.compile(r"from (?:now|here) on|going forward|henceforth|(?:in|for|for the rest of) this session")
_THIRD = frozenset("he she they someone somebody something nobody it that this there".split())
_SPEAKER = _THIRD | {"i", "we", "everyone"}
_NOUN = "…"
# After `must be`, these guess: the build must be broken.
_GUESSED = frozenset(
    """broken wrong missing stale outdated cached a an some something because due related caused corrupted confused
    mistaken tired that why how the it old new fine ok okay true false kidding joking possible able
    having getting doing going coming using looking nice great hard difficult easy there here another what where
    misconfigured dead stuck down up slow flaky somewhere""".split()
)
# So do these before a certain place, or of a certain thing: the bug must be in the parser. `Names must be in English`
# does not.
_PLACED = frozenset({"in", "on", "from"})
# `no` before these forbids nothing.
_NOTHING = frozenset("idea doubt wonder problem problems way need longer one luck worries thanks rush hurry".split())
_DETERMINERS = frozenset("the a an this that these those my your our its his her their".split())
# Marks of an order that holds beyond its next step.
_MARKS = frozenset(
    {Op.ALL, Op.ONLY, Op.ATMOST, Op.ATLEAST, Op.NEG, Op.CONTRAST, Op.IF, Op.BEFORE, Op.AFTER, Op.UNTIL, Op.UNLESS}
    | {Op.WITHOUT, Op.EXCEPT, Op.ONLYIF, Op.MUST, Op.DURING}
)
_REPORTING = frozenset({Op.PAST, Op.REVOKED})
# Words of theirs that may stand in a rule: `ignore the cache`.
_NO_REPORT = frozenset({"ignore", "previously", "reversed"})
# Negations that describe: only `must not` and the like order when a thing is their subject.
_DESCRIBING = re.compile(
    r"(?:do|does)(?:n't| not) (?:allow|want)|doesn't|does not|(?:is|are|am|will|can) ?not|(?:is|are|wo|can)n't|can't"
    r"|(?:is|are) never|not|none|nobody|neither|nor|nothing|forbids|prohibits|bans|rejects|refuses|avoids|no way"
    r"|never wants|by no means|opposed to|objects to"
)
_FORBIDDEN = re.compile(
    r"(?:is |are )?(?:forbidden|prohibited|banned|disallowed|off[ -]limits|out of bounds)|unacceptable|hands off"
    r"|(?:is |are )?(?:not|never|no longer) (?:allowed|permitted)|(?:stay away|keep out|stay out) (?:of|from)"
    r"|leave alone|under no circumstances|on no account"
)
_PLAIN_NEGATION = re.compile(r"(?:never|do not|don't|dont|not to|not ever|at no time|in no case|stay|keep|steer)\b.*")
_PAST = re.compile(r"[a-z]+ed|ran|was|were|had|got|came|went|did|saw|knew|made|wrote")
_BOUNDED = frozenset("budget limit deadline maximum minimum cap quota ceiling".split())
_GATES = frozenset({Op.UNLESS, Op.WITHOUT, Op.UNTIL, Op.ONLYIF, Op.BEFORE})
_ADVERBS = frozenset("only always just exclusively ideally preferably".split())


class _Whole(NamedTuple):
    """What the clauses of a sentence need to know of all of it."""

    clauses: int
    tokens: int
    operators: frozenset[Op]
    repeats: bool
    past: bool


def judged(words: str, parts: list[Token]) -> Found | str | None:
    """What a sentence is."""
    clauses = _clauses(parts)
    if not clauses:
        return None
    first = operators_of(clauses[0])
    if not _orders(clauses[0]):
        if operators_of(_before_force(clauses[0])) & {Op.HEDGE, Op.HEARSAY} and Op.IF not in first:
            return None
        if any(token.op in (Op.LIFT, Op.REVOKED) and token.text != "ignore" for token in clauses[0]):
            return RELEASE
    everywhere = operators_of(parts)
    if _FROM_NOW_ON.match(words) and Op.PAST not in everywhere:
        return (Kind.PROHIBITION if Op.NEG in everywhere else Kind.OBLIGATION), "from now on"
    if _WISHES.match(words):
        soft = Kind.PREFERENCE if Op.SHOULD in first else Kind.OBLIGATION
        return (Kind.PROHIBITION if Op.NEG in first else soft), "wish"
    repeats = any(token.op is Op.ALL and token.text not in ("whole", "entire", "both") for token in parts)
    past = any(token.text.endswith("ed") for token in parts)
    whole = _Whole(len(clauses), len(parts), everywhere, repeats, past)
    found = [one for place, clause in enumerate(clauses) if (one := _clause(clause, place, whole)) is not None]
    if not found:
        return RELEASE if Op.MAY in first and _says_you(clauses[0]) else None
    return next((one for one in found if one[0] is Kind.PROHIBITION), found[0])


def _before_force(clause: list[Token]) -> list[Token]:
    """A clause up to what gives it force: what is behind `don't`, or behind a duty, is what the rule is about."""
    for index, token in enumerate(clause):
        if (token.op is Op.NEG and _PLAIN_NEGATION.fullmatch(token.text)) or token.op is Op.MUST:
            return [*clause[:index], *(one for one in clause[index:] if one.op is Op.HEDGE and token.op is Op.MUST)]
    return clause


def _clauses(parts: list[Token]) -> list[list[Token]]:
    clauses: list[list[Token]] = [[]]
    for token in parts:
        if (token.sort is Sort.POINT and token.text not in "-'") or (token.op is Op.CLAUSE and clauses[-1]):
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


def _clause(clause: list[Token], place: int, whole: _Whole) -> Found | None:
    """Whether a clause makes its sentence a rule."""
    meant = _meant(clause)
    told = any(token.op in _REPORTING and token.text not in _NO_REPORT for token in clause)
    if not meant or (told and not (_orders(clause) or meant[0].op is Op.NEG)):
        return None
    operators = operators_of(clause)
    subject = _subject(clause)
    for index, token in enumerate(clause):
        if token.op is Op.NEG and (found := _negation(clause, index, subject)) is not None:
            return found
        if token.op is Op.DOUBLE and subject in ("", "you"):
            return Kind.OBLIGATION, "double negation"
    if meant[0].op is Op.ALL and Op.REQUIRE in operators:
        return Kind.OBLIGATION, "duty"
    duty = next((index for index, token in enumerate(clause) if token.op is Op.MUST), None)
    if duty is not None and _binds(clause, duty, subject):
        return Kind.OBLIGATION, "duty"
    if _orders(clause) and (found := _order(meant, operators, whole)) is not None:
        return found
    return _statement(clause, meant, subject, place, whole)


def _order(meant: list[Token], operators: frozenset[Op], whole: _Whole) -> Found | None:
    """An order that holds beyond its next step; a plain task is none."""
    verb = next(token.text.split(" ")[0] for token in meant if token.text.split(" ")[0] in VERBS)
    if Op.SHOULD in operators or verb in ("prefer", "favor", "favour"):
        return Kind.PREFERENCE, "order with a preference"
    if operators & BOUNDS:
        return Kind.LIMIT, "order with a bound"
    if verb in _STANDING and not (verb == "call" and len(meant) < 3):
        return Kind.OBLIGATION, "standing order"
    marks = whole.operators & _MARKS
    if marks and (whole.repeats or marks != {Op.ALL}):
        return Kind.OBLIGATION, "order with a condition or an extent"
    return None


def _statement(clause: list[Token], meant: list[Token], subject: str, place: int, whole: _Whole) -> Found | None:
    """A rule that is no order: a preference, a permission, a bound that is stated, an order of steps."""
    operators = operators_of(clause)
    if meant[0].op is Op.SHOULD and (len(meant) > 1 or place + 1 < whole.clauses):
        return Kind.PREFERENCE, "preference"
    if any(token.op is Op.SHOULD and token.text.startswith(("should", "ought")) for token in clause):
        return (Kind.PREFERENCE, "should") if subject not in _THIRD | {"i"} else None
    if Op.MAY in operators and (_says_you(clause) or meant[0].text in ("feel free to", "go ahead and")):
        bounded = operators & {Op.ONLY, Op.ATMOST}
        return (Kind.LIMIT, "bounded permission") if bounded else (Kind.PERMISSION, "permission")
    if (
        any(token.text in ("read-only", "readonly", "read only", "frozen") for token in clause)
        and subject not in _SPEAKER
    ):
        return (Kind.LIMIT, "read-only") if whole.clauses <= 3 else None
    if has_quantity(clause) and (any(token.text in _BOUNDED for token in clause) or _is_bound(clause, meant, subject)):
        return Kind.LIMIT, "bound"
    if meant[0].text in ("nothing", "nobody", "no one") and operators & _GATES and not whole.past:
        return Kind.PROHIBITION, "nothing but under a condition"
    if [token.op for token in meant[:3]] == [Op.ONLY, Op.USER, Op.MAY]:
        return Kind.PROHIBITION, "the user's alone"
    if {Op.SEQUENCE, Op.THEN} <= whole.operators and whole.tokens <= 10 and place == 0 and not whole.past:
        return Kind.OBLIGATION, "order of steps"
    return None


def _is_bound(clause: list[Token], meant: list[Token], subject: str) -> bool:
    """Whether a quantity is a bound that is set: `lines must not exceed n`, `x may take at most n`, `max n retries`."""
    if subject in _THIRD | {"i", "we"}:
        return False
    bounds = [token for token in clause if token.op in BOUNDS]
    if meant[0].op in BOUNDS or any(token.text.startswith(("must", "shall", "may not")) for token in bounds):
        return True
    return bool(bounds) and any(token.op is Op.MAY and token.text == "may" for token in clause)


def _meant(clause: list[Token]) -> list[Token]:
    """A clause without what only opens it."""
    for place, token in enumerate(clause):
        light = token.op is Op.LIGHT and token.text.split(" ")[0] not in VERBS and token.text not in _DETERMINERS
        if not (light or token.text in _OPENERS or token.op in (Op.SEQUENCE, Op.THEN, Op.CLAUSE)):
            return clause[place:]
    return []


def _orders(clause: list[Token]) -> bool:
    """Whether a clause begins with a verb in its plain form, as an order does."""
    meant = _meant(clause)
    while meant and meant[0].text in _ADVERBS:
        meant = meant[1:]
    return bool(meant) and meant[0].text.split(" ")[0] in VERBS


def _says_you(clause: list[Token]) -> bool:
    return any(token.op is Op.AGENT for token in clause[:3])


def _subject(clause: list[Token]) -> str:
    """The first word of a clause where a subject would stand: a pronoun, `you`, `…` for a noun, or nothing."""
    named = False
    for token in clause:
        named = named or token.text in _DETERMINERS
        if token.text in _SPEAKER:
            return token.text
        if token.op is Op.AGENT:
            return "you"
        if token.op is None and token.text not in _OPENERS:
            return _NOUN if named or token.text not in VERBS else ""
        if token.text not in _OPENERS and token.op not in (Op.LIGHT, Op.CLAUSE, Op.ALL, Op.USER):
            return ""
    return ""


def _negation(clause: list[Token], index: int, subject: str) -> Found | None:
    """Whether a negation forbids."""
    token = clause[index]
    if token.text in ("nothing", "nobody") and operators_of(clause[index + 1 : index + 2]) & {Op.MAY, Op.MUST}:
        return Kind.PROHIBITION, "prohibition"
    if _FORBIDDEN.fullmatch(token.text):
        everywhere = token.text in ("under no circumstances", "on no account")
        return (Kind.PROHIBITION, "forbidden") if everywhere or subject not in _SPEAKER else None
    if subject in _THIRD | {"i"} or _DESCRIBING.fullmatch(token.text):
        return None
    skipped = ("ever", "even", "directly", "the", "a", "any", "again")
    following = next((one.text for one in clause[index + 1 :] if one.text not in skipped), "")
    if token.text == "no":
        opens = all(one.op in (Op.LIGHT, Op.CLAUSE) for one in clause[:index]) or clause[0].text in VERBS
        return (Kind.PROHIBITION, "no such thing") if opens and following and following not in _NOTHING else None
    if token.text in ("avoid", "avoiding", "refrain from"):
        return (Kind.PROHIBITION, "avoid") if subject in ("", "you") else None
    if _PLAIN_NEGATION.fullmatch(token.text):
        described = subject == _NOUN and (following not in VERBS | {"be", "go"} or not token.text.startswith("never"))
        return None if described or _PAST.fullmatch(following) else (Kind.PROHIBITION, "prohibition")
    return (Kind.PROHIBITION, "prohibition") if token.text.startswith(("must", "should", "may", "shall")) else None


_NOT_OURS = re.compile(r"will|will be|wants?|wants to|demands?|expects?|insists|insist on|is to|are to")


def _guesses(clause: list[Token], index: int) -> bool:
    """Whether what follows a duty's word says that it tells a guess."""
    direct = clause[index + 1].text
    if direct not in _PLACED:
        return direct in _GUESSED
    certain = any(token.text in _DETERMINERS for token in clause[:index])
    return certain or index + 2 >= len(clause) or clause[index + 2].text in _DETERMINERS


def _binds(clause: list[Token], index: int, subject: str) -> bool:
    """Whether a duty binds the agent: `must` that guesses, and a duty that the speaker has, do not."""
    token = clause[index]
    direct = clause[index + 1].text if index + 1 < len(clause) else ""
    if not direct or _guesses(clause, index) or subject in _THIRD | {"i"} or _NOT_OURS.fullmatch(token.text):
        return False
    if token.text in ("always", "strictly", "at all times", "every time"):
        if _PAST.fullmatch(direct):
            return False
        return (
            subject != _NOUN
            or direct in VERBS | {"be", "go", "goes"}
            or any(one.text in ("is", "are") for one in clause)
        )
    return not (subject == "we" and token.text in ("need to", "needs to", "have to", "has to"))
