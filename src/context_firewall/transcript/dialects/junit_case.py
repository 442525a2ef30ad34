"""One test of JUnit XML: what its element and the elements in it say about how it ended."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from context_firewall.transcript.dialects import junit_grammar as grammar
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line

UNNAMED = "(unnamed test)"
PASSED, FAILED, SKIPPED, TODO = "passed", "failed", "skipped", "todo"
DERIVED = "derived"
"""It stands for a suite, and failed only because a test in it did."""


@dataclass(slots=True)
class Case:
    """One test, or what a suite itself says went wrong."""

    attributes: Mapping[str, str]
    first: int
    """The line on which it begins."""
    test: bool = True
    found: Counter[str] = field(default_factory=Counter)
    """Its children that say something about the result, by name."""
    unfinished: bool = False
    """It says that it was skipped as unfinished, or failed as expected."""
    forgiven: int = 0
    """How many of its failures and errors make no failure."""
    left_out: bool = True
    """What it says about being skipped is a reason to leave a test out."""
    derived: bool = False
    message: str = ""
    module: str = ""
    path: tuple[str, ...] = ()
    """The names of the suites around it."""
    lines: list[tuple[Line, Kind | None]] = field(default_factory=list)
    """Its lines, each with what it is if the test did not fail; None is the test's own line."""
    parts: list[int] = field(default_factory=list)
    """Where in its lines a second failure begins, and a third; one that begins within a line has the next."""
    size: int = 0
    lost: bool = False
    """Some of what it printed was too much to hold."""

    def says(self, element: str, attributes: Mapping[str, str]) -> None:
        """A child says something about the result."""
        if element not in grammar.PROBLEMS | grammar.RERUNS | {grammar.SKIPPED}:
            return
        self.found[element] += 1
        if element in grammar.RERUNS:
            return
        if element in grammar.PROBLEMS and self.found["failure"] + self.found["error"] > 1:
            self.parts.append(len(self.lines) + 1)
        kind, message = attributes.get("type", ""), attributes.get("message", "")
        if element == grammar.SKIPPED:
            self.unfinished |= kind in grammar.UNFINISHED
            by_ctest = self.word == grammar.NOT_RUN and len(set(self.key)) == 1
            self.left_out = not by_ctest or grammar.LEFT_OUT.fullmatch(message) is not None
        else:
            self.message = self.message or message
            by_node = self.unfinished and not self.found["error"] and "failure" in self.attributes
            by_phpunit = "assertions" in self.attributes and grammar.RISKY.fullmatch(kind) is not None
            self.forgiven += by_node or by_phpunit

    @property
    def word(self) -> str:
        """Its own word about the result."""
        return self.attributes.get("status", self.attributes.get("result", "")).lower()

    @property
    def outcome(self) -> str:
        """How it ended."""
        if self.derived:
            return DERIVED
        problems = self.found["failure"] + self.found["error"]
        if problems:
            return TODO if self.forgiven == problems else FAILED
        if self.found[grammar.SKIPPED]:
            return TODO if self.unfinished else SKIPPED if self.left_out else FAILED
        if self.word in grammar.FAILED_WORDS or "failure" in self.attributes:
            return FAILED
        return SKIPPED if self.word in grammar.SKIPPED_WORDS else PASSED

    @property
    def is_plain(self) -> bool:
        """Whether it passed without a word more."""
        return not self.found and self.attributes.keys().isdisjoint(grammar.WORDS)

    @property
    def consistent(self) -> bool:
        """Whether its own word is known, and is what its children say."""
        failing = bool(self.found["failure"] or self.found["error"])
        if (self.found["rerunFailure"] or self.found["rerunError"]) and not failing:
            return False
        if self.word in grammar.NEUTRAL_WORDS:
            return failing or "failure" not in self.attributes
        if self.word in grammar.FAILED_WORDS:
            return failing
        return not failing and self.word in (grammar.PASSED_WORDS | grammar.SKIPPED_WORDS)

    def identity(self, producer: grammar.Producer, *, by_node: bool) -> str:
        """What it is called: by its class and its name, or where there is no class, by its suite."""
        if not self.test:
            return " > ".join(self.path)
        name = self.attributes.get("name") or UNNAMED
        of = self.attributes.get("classname", self.attributes.get("class"))
        if self.module:
            return self.module
        if by_node or of == grammar.NODES_CLASS:
            # Node escapes a quotation mark twice.
            return " > ".join((*self.path, name)).replace("&quot;", '"')
        if of is None:
            of = self.path[-1] if self.path else ""
        return f"{of}{producer.separator}{name}" if of and not name.startswith(of) else name

    def reads(self, text: bytes) -> None:
        """Text of what went wrong. It tells which file pytest could not collect, and named like a module."""
        if self.message == grammar.COLLECTING and not self.module:
            path = self.attributes.get("name", "").replace(".", "/") + ".py"
            self.module = path if path.encode() in text else ""

    @property
    def key(self) -> tuple[str, str]:
        """What a producer calls one test."""
        return self.attributes.get("classname", ""), self.attributes.get("name", "")
