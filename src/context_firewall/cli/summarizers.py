"""Summaries for `compact`: the structural one, or what a command of the user's makes on standard input and output.

And what the compaction knows nothing of: the reducer by which a test run in a tool's result becomes the brief of its
packet, and the guard's eye for rules, by which a summary quotes the user's.
"""

import shlex
import subprocess
from collections.abc import Sequence

from context_firewall import reduce_streams, render_brief
from context_firewall.canonical import sha256
from context_firewall.compaction.reducing import Reduced
from context_firewall.compaction.structural import StructuralSummarizer
from context_firewall.conversation.formats.chat import written
from context_firewall.conversation.messages import SUMMARY_HEAD, Message, Role, Status
from context_firewall.errors import InvalidInput, SummarizerFailed
from context_firewall.guard.directives import find_statements
from context_firewall.reduction.pipeline import SourceStream

LONGEST_SUMMARY = 16 << 20

# Outputs shorter than this are left as they are: a brief of them would hardly be shorter.
SHORTEST_RUN = 400


class CommandSummarizer:
    """A summary that a command makes: it gets the messages as a JSON list of chat messages, and prints the summary."""

    version = ""

    def __init__(self, command: str, timeout: float) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as problem:
            raise InvalidInput(f"--summarizer is no command: {problem}", option="--summarizer") from None
        if not self._words:
            raise InvalidInput("--summarizer names no command", option="--summarizer")
        self._timeout = timeout
        self.name = f"command {self._words[0]}"

    def __call__(self, messages: list[Message]) -> Message:
        """The summary of those messages. Raises SummarizerFailed when the command does not make one."""
        text = self._printed(written(messages)).strip()
        if not text:
            raise self._failure("printed nothing")
        head = f"{SUMMARY_HEAD}: {self.name}.]"
        return Message(Role.USER, f"{head}\n{text}", compaction_status=Status.SUMMARIZED)

    def _printed(self, messages: bytes) -> str:
        try:
            done = subprocess.run(  # noqa: S603  the person at the command line names the command
                self._words, input=messages, stdout=subprocess.PIPE, timeout=self._timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise self._failure(f"took longer than {self._timeout:g} seconds") from None
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            raise self._failure(f"cannot be run: {reason}") from problem
        if done.returncode:
            raise self._failure(f"ended with status {done.returncode}", exit_code=done.returncode)
        if len(done.stdout) > LONGEST_SUMMARY:
            raise self._failure(f"printed more than {LONGEST_SUMMARY} bytes")
        try:
            return done.stdout.decode()
        except UnicodeDecodeError as problem:
            raise self._failure(f"printed what is not UTF-8, at byte {problem.start}") from None

    def _failure(self, what: str, **details: object) -> SummarizerFailed:
        return SummarizerFailed(f"the command of --summarizer {what}", command=self._words, **details)


class TestRunReducer:
    """A test run in a tool's result: its brief, with the hashes of the packet that the brief was made of."""

    __test__ = False  # the name starts with what pytest collects
    name = "test-run/brief"

    def __call__(self, output: str, exit_code: int | None) -> Reduced | None:
        """The brief of an output in which a dialect reads results; None for any other output."""
        if len(output) < SHORTEST_RUN:
            return None
        data = output.encode("utf-8", "surrogatepass")
        code = exit_code if exit_code is not None and 0 <= exit_code <= 255 else None
        packet = reduce_streams(
            [SourceStream("stdout", len(data), (data,))],
            operation_id="compaction",
            source_id="tool-result",
            raw_evidence_ref=sha256(data),
            exit_code=code,
        )
        evidence = packet["decision_evidence"]
        if not evidence["counts"]["total"] or "AMBIGUOUS_DIALECT" in evidence["reason_codes"]:
            return None
        receipt = {
            "disposition": evidence["disposition"],
            "input_hash": packet["receipt"]["input_hash"],
            "reason_codes": evidence["reason_codes"],
            "semantic_payload_hash": packet["receipt"]["semantic_payload_hash"],
            "status": evidence["status"],
        }
        return Reduced(render_brief(packet), receipt)


def structural() -> StructuralSummarizer:
    """The structural summarizer, with the guard's rules and the test runs of this package."""
    return StructuralSummarizer(directives=rules_in, reducers=reducers())


def rules_in(text: str) -> list[tuple[int, int]]:
    """Where the guard finds the rules of a text, and what takes rules back."""
    return [(found.start, found.end) for found in find_statements(text)]


def reducers() -> Sequence[TestRunReducer]:
    """What makes tool results shorter."""
    return (TestRunReducer(),)
