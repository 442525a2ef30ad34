"""`go test` without -json: the text of a run, and the compiler's messages on standard error.

Each package is a segment that its own line closes; `go_script` reads them. The room's rules:

- A failing run that was given packages ends with a bare `FAIL`. Without it (go test in a package's directory prints
  none) another package may be missing.
- A passing run has no last word: only its exit status says that no package is missing.
- Without -v a passing test leaves no trace, so its counts are not known.
- Messages of the compiler or of vet stand before or apart from the line of their package, mostly on standard error.
  They belong to the failure of that package.
"""

import re

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects.go_grammar import DIAGNOSTIC, EVENT, FAIL, SUMMARY, TEXT_OPENS
from context_firewall.transcript.dialects.go_lanes import VERBOSE, verbose_run
from context_firewall.transcript.dialects.go_package import Held
from context_firewall.transcript.dialects.go_script import Script
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded
from context_firewall.transcript.machine import Dialect


class GoText:
    """Reads one run."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._script = Script(stream)
        self._cut = False
        self._ended = False
        self._events_follow = False
        self._empty = False
        """The line before was empty."""

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        """Passing tests with -v."""
        return VERBOSE if self._script.in_step else None

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Take a run of passing tests but the last, whose result may yet turn out to be its own print."""
        last = block.rfind(b"\n=== RUN   ", start, stop)
        while last >= 0 and b"/" in block[last + 1 : block.index(b"\n", last + 1)]:
            last = block.rfind(b"\n=== RUN   ", start, last)
        green = verbose_run(block, start, last + 1) if last >= 0 else None
        if green is None:
            return 0
        self._script.green(green)
        number += green.lines
        rest = block[last + 1 : stop - 1].split(b"\n")
        for place, raw in enumerate(rest, number):
            self.line(raw, raw, place)
        return green.lines + len(rest)

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        """Take a line, unless the run is over and the line opens nothing of it."""
        script = self._script
        if self.complete and not TEXT_OPENS.match(bare) and not self._goes_on(bare):
            self._events_follow = EVENT.match(bare) is not None
            return False
        # gotestsum's summary stands behind an empty line.
        between, self._empty = self._empty or script.idle, not bare.strip()
        script.take(bare, Line(self._stream, number, Kind.UNCLASSIFIED, raw))
        self._ended = script.over
        return not (between and SUMMARY.fullmatch(bare))

    def adopt(self, bare: bytes, line: Line) -> bool:
        """What stands before the first line of the runner's may be the first package's: only a failure of it says."""
        if line.stream != "stdout":
            return False
        self._script.adopt(bare, line)
        return True

    def _goes_on(self, bare: bytes) -> bool:
        """Whether a line between packages may still be of the run."""
        if self._script.verbose and bare.startswith(b"    "):
            return True  # a log: then the package's end was a print of its test
        return bare in (b"PASS", FAIL) or not bare.strip() or bare.startswith((b"# ", b"\t"))

    def trace(self) -> None:
        """Remember which lines are suppressed."""
        self._script.trace()

    def cut(self) -> None:
        """The last line has no newline; the go command ends every line with one."""
        self._cut = True

    @property
    def complete(self) -> bool:
        """Between packages, and not waiting for the last word of a failing run."""
        script = self._script
        if not script.read or not script.idle:
            return False
        return not script.owes_last_word

    def close(self, exit_code: int | None) -> Reading:
        """Settle the account."""
        script = self._script
        ledger = script.ledger
        current = script.end()
        failures = list(ledger.failures)
        unclassified = list(ledger.unclassified)
        for package, messages in script.messages().items():
            self._unclaimed(package, messages, failures, unclassified, exit_code)
        doubts = set(ledger.doubts)
        results = bool(ledger.packages or ledger.totals().total)
        if self._cut:
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        alone = ledger.streamed and len(ledger.packages) == 1
        if ledger.broken and not (self._ended or self._events_follow or alone):
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if ledger.silent and not script.verbose:
            doubts.add(Doubt.COUNTS_UNCONFIRMED)
            if not ledger.broken:
                # A package that passed is one line: nothing says that the last one is the last.
                doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        if script.verbose and (ledger.unmarked or script.unbegun):
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if unclassified:
            doubts.add(Doubt.UNCLASSIFIED_EVIDENCE)
        return Reading(
            tally=ledger.totals(),
            failures=tuple(sorted(failures, key=_place)),
            fatal_errors=tuple(ledger.marked[Kind.FATAL_ERROR]),
            timeouts=tuple(ledger.marked[Kind.TIMEOUT]),
            warnings=tuple(ledger.marked[Kind.ABNORMAL_WARNING]),
            unclassified=tuple(sorted(unclassified, key=_number)),
            suppressed=ledger.suppressed.totals(),
            fates=ledger.suppressed.fates,
            doubts=frozenset(doubts),
            has_results=results,
            standing=(2 if doubts else 3) if ledger.packages and Doubt.COMPLETENESS_UNCONFIRMED not in doubts else 0,
            current_test=decoded(current),
        )

    def _unclaimed(
        self,
        package: bytes,
        messages: list[Held],
        failures: list[Failure],
        unclassified: list[Line],
        exit_code: int | None,
    ) -> None:
        """Messages about a package whose own line stands elsewhere, or nowhere."""
        header, *rest = messages
        if exit_code == 0 or not any(DIAGNOSTIC.match(text) or text[:1] != b"#" for text, _ in rest):
            unclassified += (line for _, line in messages)
            return
        details = tuple(line.as_kind(classify_detail(text)) for text, line in rest)
        failures.append(Failure(decoded(package), header[1].as_kind(Kind.FAILED_TEST), details))


def _place(failure: Failure) -> int:
    return min((line.number for line in failure.lines()), default=0)


def _number(line: Line) -> int:
    return line.number


DIALECT = Dialect(
    name="go",
    title="go test",
    checked="Go 1.19, 1.27",
    streams=frozenset({"stdout", "stderr"}),
    opening=TEXT_OPENS,
    begin=GoText,
)
