"""The grammar of prove's report (TAP::Harness, TAP::Formatter::Console), one pattern a line form.

Patterns see a bare line (no ANSI, no final CR, no newline). All are possessive or anchored at both ends, so linear.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from context_firewall.transcript.lines import Line

# A file: with --timer "[14:13:32] ", its name, a blank, at least two dots (one column for all files), a blank; then
# nothing as long as it runs, its outcome, or on a terminal how far it is ("1/8 ") and what other processes print.
STAMP = re.compile(rb"\[[0-9]{2}:[0-9]{2}:[0-9]{2}\]")
DOTS = re.compile(rb" \.\.++ ")
PROGRESS = re.compile(rb"[0-9]++/(?:[0-9]++|\?) ")
# The outcome of a file: "ok", with --timer and the time that it took.
TIMES = rb" ++[0-9]++ ms(?: \([^()\n]*+\))?+"
PASSED = re.compile(rb"ok(?:%b)?+ *+" % TIMES)
SKIPPED = re.compile(rb"skipped(?:: .*+)?+")
DUBIOUS = re.compile(rb"Dubious, test returned [0-9]++ \(wstat [0-9]++, 0x[0-9a-f]++\)(?:%b)?+" % TIMES)
# Planned tests that did not run count as failed here, though not in the summary.
SUBTESTS = re.compile(rb"(?:Failed ([0-9]++)/([0-9]++) subtests|All ([0-9]++) subtests passed|No subtests run) *+")
LESS = re.compile(rb"\t\(less ([0-9]++) skipped subtests?: ([0-9]++) okay\)")
TODO_PASSED = re.compile(rb"\t\([0-9]++ TODO tests? unexpectedly succeeded\)")

# How the report ends: perhaps "All tests successful.", perhaps the summary of files that have something to tell, then
# two lines that always stand.
SUCCESSFUL = b"All tests successful."
SUMMARY = b"Test Summary Report"
RULER = b"-------------------"
TOTALS = re.compile(rb"Files=([0-9]{1,15}+), Tests=([0-9]{1,15}+), ++[0-9]++ wallclock secs \([^()\n]*+\)")
RESULT = re.compile(rb"Result: (PASS|FAIL|NOTESTS)")
# "t/02.t (Wstat: 2816 (exited 11) Tests: 15 Failed: 11)"; before 3.43 without what the wait status means.
ROW_START = b" (Wstat: "
ROW = re.compile(
    rb"(?:([0-9]++)|\(none\))(?: \((?:exited ([0-9]++)|(Signal: [^()]++))\))?+ Tests: ([0-9]{1,15}+)"
    rb" Failed: ([0-9]{1,15}+)\)"
)
DETAIL = re.compile(rb"  (Failed tests?|TODO passed|Non-zero exit status|Non-zero wait status|Parse errors): ++(.*+)")
MORE = re.compile(rb" {16}([^ \n].*+)")
ERRORS_LEFT_OUT = re.compile(rb"  (?:Displayed the first [0-9]++ of [0-9]++ TAP syntax errors\.|Re-run prove with .*+)")
OUT_OF_SEQUENCE = b"Tests out of sequence."

# On standard output, and when all is over on standard error.
BAILED = re.compile(rb"Bailout called\.  Further testing stopped: .*+")
STOPPED = re.compile(rb"FAILED--Further testing stopped(?:: .*+)?+")

# What opens the dialect: a file's line with its outcome or with nothing, one of the lines of the end, a bail-out; where
# the streams are merged, what Test::More says of a failing test before the harness has said anything.
OPENING = re.compile(
    rb"(?:\[[0-9]{2}:[0-9]{2}:[0-9]{2}\] )?+(?=[^ \n]*?[./])[^ \r\n\[][^ \r\n]*+ \.\.++ "
    rb"(?:\r|(?:ok(?:%b)?+ *+|skipped(?:: .*+)?+)?+\Z)"
    rb"|#   Failed test (?:'|at )"
    rb"|(?:All tests successful\.|Test Summary Report)\Z|Files=[0-9]++, Tests=[0-9]++, |Bailout called\.  " % TIMES
)


class Header(NamedTuple):
    """A file's line."""

    name: bytes
    rest: bytes


def header(text: bytes) -> Header | None:
    """Take a file's line apart; None if it has no dots."""
    stamp = STAMP.match(text)
    start = 0 if stamp is None else stamp.end() + 1
    dots = DOTS.search(text, start)
    if dots is None or dots.start() == start:
        return None
    return Header(text[start : dots.start()], text[dots.end() :])


def outcome(rest: bytes) -> bool:
    """Whether a file's line may go on so: with its outcome, or with nothing yet."""
    return not rest or any(form.fullmatch(rest) for form in (PASSED, SKIPPED, DUBIOUS, SUBTESTS))


@dataclass(slots=True)
class Row:
    """A file in the summary."""

    name: bytes
    exited: int
    killed: bool
    tests: int
    failed: int
    lines: list[Line]
    details: dict[bytes, list[bytes]] = field(default_factory=dict)
    strange: bool = False
    """A detail stands twice: a row between them is gone."""

    @property
    def bad(self) -> bool:
        """Whether the file failed; a row may also say that a todo passed."""
        return bool(self.failed or self.exited or self.killed or b"Parse errors" in self.details)

    @property
    def numbers(self) -> bytes:
        """The numbers of the failed tests, as printed."""
        return b" ".join(self.details.get(b"Failed test", []))

    @property
    def agrees(self) -> bool:
        """Whether the row's details are its own."""
        return not self.strange and sum(b - a + 1 for a, b in ranges(self.numbers)) == self.failed <= self.tests

    @property
    def explained(self) -> bool:
        """Whether its failed tests say all that there is to say: Test::More exits with their number."""
        exits = (0, 1, min(self.failed, 254))
        return self.failed > 0 and self.exited in exits and not self.killed and b"Parse errors" not in self.details

    def take(self, text: bytes, line: Line) -> bool:
        """Take a line below the row's first, if it is one of its details."""
        detail = DETAIL.fullmatch(text)
        more = None if detail is not None else MORE.fullmatch(text)
        if detail is not None:
            label = detail[1].replace(b"tests", b"test")
            self.strange |= label in self.details
            self.details[label] = [detail[2].rstrip()]
        elif more is not None and self.details:
            self.details[next(reversed(self.details))].append(more[1].rstrip())
        elif not ERRORS_LEFT_OUT.fullmatch(text):
            return False
        self.lines.append(line)
        return True


def ranges(numbers: bytes) -> list[tuple[int, int]]:
    """The ranges that a list of test numbers names: `2-10, 14` is 2 to 10 and 14 to 14."""
    found = []
    for part in numbers.replace(b",", b" ").split():
        first, _, last = part.partition(b"-")
        if first.isdigit() and len(part) < 32:
            found.append((int(first), int(last) if last.isdigit() else int(first)))
    return found


def row(text: bytes, line: Line) -> Row | None:
    """A file's row in the summary."""
    name, start, rest = text.rpartition(ROW_START)
    found = ROW.fullmatch(rest) if start else None
    if found is None or not name.strip():
        return None
    status, exited, signal, tests, failed = found.groups()
    code = int(exited) if exited and len(exited) < 6 else 0
    if status and not exited and not signal and len(status) < 9:
        code = int(status) >> 8
        signal = status if int(status) & 127 else None
    return Row(name.strip(), code, signal is not None, int(tests), int(failed), [line])
