"""JUnit XML: elements, what may stand in them, and what the attributes of a test and of a suite say.

There is no one standard. The rules are those that producers share (Ant's report, Jenkins' schema); where they part, a
table says how.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from context_firewall.transcript.kinds import Kind

# An XML declaration, and the root's start tag. A document may stand behind the end of another in one line.
DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?+<\?xml\s[^?\n]*+\?>\s*+")
OPENING = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+(?P<document>(?:<\?xml\s[^?\n]*+\?>\s*+)?+<testsuites?+(?=[\s/>]|\Z))")
# What may stand behind a document in its line, if no other does: nothing, or the declaration of one that follows.
REST = re.compile(rb"\s*+(?:<\?xml\s[^?\n]*+\?>\s*+)?+")

# A test that passed, and a run of such tests, each an empty element in one line or two, or one that holds only what was
# printed. What stands in the values does not matter; attributes that could say something else about the result are not
# among these.
_PLAIN = rb'testcase(?: (?:name|classname|class|file|time|timestamp|id|line|column|col|assertions)="[^"<\n]*+")++'
PLAIN = re.compile(_PLAIN + rb" ?+/")
# Text up to the end of its element, with no markup that a count of tests could take for its own.
_LITERAL = rb"<!\[CDATA\[(?:[^\]<]++|\](?!\]>)|<(?!/?(?:testcase|system-)))*+\]\]>"
_TEXT = rb"(?:[^<\]]++|\](?!\]>))*+"
_PRINTED = rb"(?:[ \t]*+<system-(?:out|err)>(?:%b|%b)</system-(?:out|err)>\r?+\n)*+" % (_LITERAL, _TEXT)
PASSED = re.compile(rb"(?:[ \t]*+<" + _PLAIN + rb" ?+(?:/|>\r?+\n" + _PRINTED + rb"[ \t]*+</testcase)>\r?+\n)++")
# In such a run: lines that only close an element, and blank ones.
CLOSING = re.compile(rb"\n[^\S\n]*+(?:\]\]>)?+</(?:testcase|system-)")
EMPTY = re.compile(rb"\n[^\S\n]*+(?=\n)")
PRINTS = b"<system-"
# A run of text: in an element, and in a CDATA section.
TEXT = re.compile(rb"(?:[^<\n]*+\n)++")
LITERAL = re.compile(rb"(?:[^\]\n]*+\n)++")
CASE = b"<testcase "

SUITES, SUITE, TEST = "testsuites", "testsuite", "testcase"
_OUTPUT = frozenset({"system-out", "system-err"})
RERUNS = frozenset({"flakyFailure", "flakyError", "rerunFailure", "rerunError"})
PROBLEMS = frozenset({"failure", "error"})
SKIPPED = "skipped"
_COMMON = _OUTPUT | {"properties"}

# What may stand in an element. A document's root is a list of suites, or one suite.
CHILDREN: Mapping[str, frozenset[str]] = {
    "": frozenset({SUITES, SUITE}),
    SUITES: _COMMON | {SUITE, TEST},
    SUITE: _COMMON | PROBLEMS | {SUITE, TEST},
    TEST: _COMMON | PROBLEMS | RERUNS | {SKIPPED},
    "properties": frozenset({"property"}),
    **dict.fromkeys(RERUNS, _OUTPUT | {"stackTrace"}),
}
NOTHING: frozenset[str] = frozenset()

# The elements that hold text, and what that is below a test that did not fail.
TEXTS: Mapping[str, Kind] = {
    **dict.fromkeys(PROBLEMS | RERUNS | {SKIPPED, "stackTrace"}, Kind.TEST_DETAIL),
    **dict.fromkeys(_OUTPUT, Kind.PROGRAM_OUTPUT),
    "property": Kind.INFORMATIONAL,
}

# What a suite may state about the tests in it.
STATED = ("tests", "failures", "errors", "skipped", "disabled")
NUMBER = re.compile(r"-?[0-9]{1,9}")

# A test's own word about its result, in attributes that some producers add (`status`, `result`).
WORDS = frozenset({"status", "result", "failure"})
NEUTRAL_WORDS = frozenset({"", "run", "completed"})
PASSED_WORDS = frozenset({"passed", "pass", "success", "successful", "ok"})
SKIPPED_WORDS = frozenset({"notrun", "disabled", "skipped", "ignored", "suppressed", "pending"})
FAILED_WORDS = frozenset({"fail", "failed", "failure", "error"})

# Types of `<skipped>` that mean unfinished or expected to fail: pytest, Node.
UNFINISHED = frozenset({"pytest.xfail", "todo"})
# PHPUnit's word for a test that checked nothing: an `<error>`, though the run does not fail by it.
RISKY = re.compile(r"PHPUnit\\Framework\\(?:\w+\\)*Risky\w*")
# ctest's reasons to leave a test out (there class and name are the same). With another one, ctest says it has failed.
NOT_RUN = "notrun"
LEFT_OUT = re.compile(r"SKIP_[A-Z_]+(?:=[0-9]+)?|Disabled|")

# pytest: an error that the report has beside the test's own result, and one of a file that does not load.
TEARDOWN = "failed on teardown with"
COLLECTING = "collection failure"

# mocha names a hook that failed, and its report lists it among the tests.
HOOK = re.compile(r"\"(?:before|after) (?:all|each)\" hook")
# How long a suite took, in seconds.
SECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")

# Node prints the run's totals as comments, these in this order, right before the end.
TOTAL = re.compile(rb" (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([0-9]{1,9})(?:\.[0-9]++)? ")
TOTALS = ("tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms")
NODES_CLASS = "test"
"""What Node writes as class of every test, up to version 25."""


@dataclass(frozen=True, slots=True)
class Producer:
    """What is peculiar to one producer."""

    name: str
    separator: str = " > "
    """Between a class and a test."""
    folds: bool = False
    """A test that is unfinished is written like one that is skipped."""
    steps: bool = False
    """A test's steps are written like tests, by the name `test > step`."""
    parents: bool = False
    """A suite stands once more, as a test of the suite around it."""
    silent: bool = False
    """An error outside of all tests is not told."""


PYTEST = Producer("pytest", "::")
MOCHA = Producer("mocha")
NODE_TAP = Producer("node-tap", parents=True)
PHPUNIT = Producer("PHPUnit", "::", folds=True)
"""Its root has no name; its suites and tests count assertions."""
OTHER = Producer("")
# By the name of the root, or of its first suite.
PRODUCERS: Mapping[str, Producer] = {
    "pytest": PYTEST,
    "pytest tests": PYTEST,
    "Mocha Tests": MOCHA,
    "TAP Tests": NODE_TAP,
    "jest tests": Producer("jest", folds=True),
    "vitest tests": Producer("Vitest", folds=True, silent=True),
    "deno test": Producer("Deno", steps=True),
}
ONE_SUITE = frozenset({PYTEST, PHPUNIT})
"""Those whose list of suites holds one, with all the rest in it."""
