"""How an output of a test run is marked: what of the run a reader would learn from it.

The marks are made by rule and without knowing whose output it is. What failed is known from elsewhere.
"""

import re
from enum import StrEnum
from typing import NamedTuple

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
FACT = re.compile(r"(?<![0-9])[0-9]{4,}(?![0-9])")


class Failure(NamedTuple):
    """A test that failed, and what its message compares: the numbers of four digits or more."""

    name: str
    facts: frozenset[str]


class Says(StrEnum):
    """What an output says of its run."""

    RED = "red"
    UNSURE = "unsure"
    GREEN = "green"
    NOTHING = "nothing"


class Status(StrEnum):
    """What became of the test command's exit status."""

    KEPT = "kept"
    CHANGED = "changed"
    """Another number, but not that of a success."""
    LOST = "lost"
    """The run failed, and the status is 0."""


# The first that is found counts: an output that speaks of a failure is not green for speaking of passes too.
WORDS = {
    Says.RED: re.compile(
        r"""\b[1-9][0-9]*(?:,[0-9]{3})*\ (?:\w+\ )?(?:fail(?:ed|ures?|ing)?|errors?)\b  # 9 failed, 1 error
        |\b(?:fail(?:ed|ures|ing)?|errors?)["\ :=(]+[1-9]  # FAILED (failures=4), # fail 6, "failed":9
        |\bfailed\ tests\b |"status":"failed"
        |(?-i:\bFAILED\b|^[^\w\n]*(?:FAIL|ERROR|not\ ok)\b)(?!\ \(?0)  # the result of one test; not: FAIL (0)
        |^\s*✖\ [^\n]
        |(?-i:^(?:\S+\.py\ )?[.sx]*[FE][.sxFE]*(?:\ +\[|$))  # a letter in pytest's or unittest's row of dots
        |\bexit(?:\ code|\ status)?[ =:]+[1-9] |\bsegmentation\ fault\b |\bkilled\b""",
        re.IGNORECASE | re.MULTILINE | re.VERBOSE,
    ),
    Says.UNSURE: re.compile(r"indeterminate|not sufficient|needs_raw_evidence|inconclusive", re.IGNORECASE),
    Says.GREEN: re.compile(
        r"""\b[1-9][0-9]*(?:,[0-9]{3})*\ (?:tests?\ )?pass(?:ed|ing)?\b |\bpass(?:ed)?["\ :=(]+[0-9]
        |\bfail(?:ed|ures)?["\ :=(]+0\b
        |^[^\w\n]*(?-i:PASSED|PASS|OK)\b |\[100%\]$""",
        re.IGNORECASE | re.MULTILINE | re.VERBOSE,
    ),
}


class Marks(NamedTuple):
    """What one output tells of one run. `hidden`: the run failed, and a reader learns neither that nor, where failures
    are left out, how many there are."""

    size: int
    says: Says
    named: int
    failures: int
    shown: int
    facts: int
    status: Status
    failed: bool
    hidden: bool


def says(text: str) -> Says:
    """What an output says, by the first words of WORDS that are in it."""
    return next((word for word, pattern in WORDS.items() if pattern.search(text)), Says.NOTHING)


def names(text: str, name: str) -> bool:
    """Whether a name is in a text, and not as a part of a longer one."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return True
        at = text.find(name, at + 1)
    return False


def counts(text: str, number: int) -> bool:
    """Whether a text says how many tests failed."""
    n = f"(?:{number}|{number:,})"
    before = rf"(?<![0-9,.]){n} (?:\w+ )?(?:fail|error)"
    after = rf"(?:fail\w*|errors?)[\"\s:=(]+{n}(?![0-9]|,[0-9])"
    return re.search(f"{before}|{after}", text, re.IGNORECASE) is not None


def marks(output: bytes, status: int, failures: list[Failure], raw: bytes, raw_status: int) -> Marks:
    """The marks of an output.

    :param output: all that was printed, on both channels
    :param status: the exit status that came with it
    :param failures: the tests that failed, by the runner's own report
    :param raw: what the runner prints by itself; a fact that is not in it is none
    :param raw_status: the runner's own exit status; not 0 means that the run failed
    """
    text, whole = (CONTROL.sub("", part.decode("utf-8", "replace")) for part in (output, raw))
    printed, there = set(FACT.findall(whole)), set(FACT.findall(text))
    facts = [fact for failure in failures for fact in failure.facts & printed]
    named = sum(names(text, failure.name) for failure in failures)
    told = says(text) in (Says.RED, Says.UNSURE) and (named == len(failures) or counts(text, len(failures)))
    return Marks(
        size=len(output),
        says=says(text),
        named=named,
        failures=len(failures),
        shown=sum(fact in there for fact in facts),
        facts=len(facts),
        status=Status.KEPT if status == raw_status else Status.CHANGED if status else Status.LOST,
        failed=raw_status != 0,
        hidden=raw_status != 0 and not told,
    )
