"""What cargo and the compiler print around the reports: statuses, diagnostics, which binaries failed.

The room's rules:

- A diagnostic begins with `error` or `warning` at the margin and ends at a blank line. Warnings are suppressed; cargo's
  own count of them is kept.
- `error: could not compile` ends the errors of one target. It says how many there were; if as many are open, they are
  its own. A target that does not compile is a failure even if all its errors were another target's, too.
- `error: test failed, to rerun pass` tells again what the binary's own report says, unless `Caused by:` follows: then
  the process broke off, and that is a failure.
- After the first binary has been started, whatever cargo does not print in these forms is the binaries' own. Panics
  among it are accounts: of a test that failed, or of one that was meant to panic.
"""

from dataclasses import dataclass, field

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import cargo_grammar as grammar
from context_firewall.transcript.dialects.cargo_block import Held, Ledger, panics, trimmed
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, decoded


@dataclass(slots=True)
class Trouble:
    """An error, with the lines that belong to it."""

    what: str
    lines: list[Held]
    place: str = ""
    target: str = ""
    """What could not be compiled because of it, if that is known."""
    caused: bool = False
    """Whether its cause follows."""
    told: bool = False
    """Whether it only tells that a binary failed."""

    @property
    def named(self) -> str:
        """Its identity."""
        if self.target:
            return f"{self.target}: {self.place or self.what}"
        return f"{self.place}: {self.what}" if self.place else self.what


@dataclass(slots=True)
class Build:
    """Reads the text of one stream that stands outside the reports."""

    ledger: Ledger
    ran: int = 0
    """Binaries and doc tests that cargo said it starts."""
    told: list[Line] = field(default_factory=list)
    """Lines that tell that a binary failed, and nothing more."""
    started: bool = False
    """Whether the last line says that a binary starts."""
    program: list[Held] = field(default_factory=list)
    """Lines of the binaries."""
    uncompiled: bool = False
    _open: list[Held] | None = None
    """The diagnostic that has not ended; a warning's, unless `_trouble` holds it."""
    _trouble: Trouble | None = None
    _pending: list[Trouble] = field(default_factory=list)
    """Errors of a target that has not been named yet."""
    _last: Trouble | None = None
    """The last of cargo's own errors, while more may follow."""
    _caused: bool = False
    _listing: bool = False
    _targets: int | None = None
    """How many targets failed, as cargo says at the end of a run that went on after a failure."""
    _listed: int = 0
    """How many of them it has not named."""
    _failed_at: int | None = None
    """How many binaries had been started when the first one failed."""
    _compiles: bool = False
    _no_target: bool = False
    """What is open is cargo's own word about a target that is not there: no compiler's text follows."""
    _telling: int = 0
    _errors: int = 0
    """Errors of the compiler so far."""
    _settled: list[Trouble] = field(default_factory=list)

    def take(self, text: bytes, line: Line) -> bool:
        """Take a line, if it is one of cargo's or the compiler's, or a binary's."""
        self.started = False
        if self._open is not None:
            if text and not self._begins(text) and (not self._no_target or grammar.NO_TARGET_MORE.match(text)):
                self._open.append((text, line))
                if self._trouble is not None and not self._trouble.place:
                    place = grammar.PLACE.fullmatch(text)
                    self._trouble.place = decoded(place["place"]) if place else ""
                return True
            self._end_diagnostic()
        if self._last is not None and self._goes_on(self._last, text, line):
            return True
        if self._listing and text.startswith(grammar.NAMED):
            self._listed -= 1
            self.ledger.suppressed.add(Kind.RECAP, line.number)
            return True
        self._listing = False
        if not text:
            if self.ran and self.program:
                self.program.append((text, line))
            else:
                self.ledger.suppressed.add(Kind.BLANK, line.number)
            return True
        return (
            self._status(text, line) or self._error(text, line) or self._compiler(text, line) or self._other(text, line)
        )

    def _begins(self, text: bytes) -> bool:
        """Whether a line begins something new although no blank line has come."""
        return (
            grammar.STATUS.fullmatch(text) is not None
            or grammar.ERROR.fullmatch(text) is not None
            or grammar.WARNING.fullmatch(text) is not None
            or grammar.EXPLAINS.fullmatch(text) is not None
        )

    def _status(self, text: bytes, line: Line) -> bool:
        status = grammar.STATUS.match(text)
        if status is None:
            if grammar.PROGRESS.fullmatch(text) or grammar.DOCTESTS_RAN.fullmatch(text):
                self.ledger.suppressed.add(Kind.PROGRESS, line.number)
                return True
            return False
        verb, rest = status["verb"], status["rest"]
        if verb == b"Running":
            command = rest.startswith(b"`")
            self.started = bool(grammar.BINARY_COMMAND.match(rest) if command else grammar.BINARY.fullmatch(rest))
        elif verb == b"Doc-tests":
            self.started = True
        self.ran += self.started
        self._compiles |= verb in (b"Compiling", b"Checking")
        self.ledger.suppressed.add(Kind.STRUCTURE, line.number)
        return True

    # -- cargo's own errors

    def _error(self, text: bytes, line: Line) -> bool:
        told = grammar.TOLD.fullmatch(text) or grammar.TOLD_OLD.fullmatch(text)
        if told is not None:
            self.tell(told["target"], b"", [(text, line)])
            return True
        targets = grammar.TARGETS.fullmatch(text)
        if targets is not None:
            self._listing = True
            self._targets = self._listed = int(targets["count"])
            self.ledger.suppressed.add(Kind.RECAP, line.number)
            return True
        uncompiled = grammar.UNCOMPILED.fullmatch(text)
        if uncompiled is not None:
            self._end_target(decoded(uncompiled["what"]), int(uncompiled["count"] or 0), (text, line))
            return True
        return False

    def tell(self, target: bytes, test: bytes, lines: list[Held]) -> None:
        """A binary failed, by the last of `lines`; `test` had the word, if that is known."""
        identity = " ".join(decoded(part) for part in (target, test) if part)
        self._settle_last()
        if self._failed_at is None:
            self._failed_at = self.ran
        self._telling += 1
        self._last = Trouble(identity, lines, told=True)
        self._caused = False

    def _goes_on(self, last: Trouble, text: bytes, line: Line) -> bool:
        """Whether a line belongs to cargo's last error."""
        if not text or text == grammar.CAUSED or grammar.ABNORMAL.fullmatch(text):
            last.lines.append((text, line))
            self._caused |= text == grammar.CAUSED
            last.caused |= self._caused
            return True
        if text.startswith(b"  ") and self._caused and grammar.STATUS.match(text) is None:
            last.lines.append((text, line))
            return True
        self._settle_last()
        return False

    def _settle_last(self) -> None:
        """Nothing more belongs to cargo's last error."""
        last, self._last = self._last, None
        if last is None or not last.told:
            return
        if self._caused:
            self._settled.append(last)
            self.ledger.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            return
        (_, line), *blanks = last.lines
        self.told.append(line)
        self.ledger.suppressed.add_lines(Kind.BLANK, (blank for _, blank in blanks))

    def _end_target(self, what: str, count: int, held: Held) -> None:
        """A target does not compile."""
        self._settle_last()
        self.uncompiled = True
        pending, self._pending = self._pending, []
        if count > self._errors:
            self.ledger.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        self._settled += pending
        if pending and len(pending) <= max(count, 1):
            for trouble in pending:
                trouble.target = what
            pending[-1].lines.append(held)
            self._last = pending[-1]
        else:
            self._last = Trouble(what, [held])
            self._settled.append(self._last)
        self._caused = False

    # -- the compiler

    def _compiler(self, text: bytes, line: Line) -> bool:
        if self.ran:
            return False
        if grammar.SUMMED_WARNINGS.fullmatch(text):
            again = grammar.SUMMED_WARNINGS.fullmatch(text)
            if again is not None and again["again"]:
                self.ledger.suppressed.add(Kind.RECAP, line.number)
            else:
                self.ledger.marked[Kind.ABNORMAL_WARNING].append(line.as_kind(Kind.ABNORMAL_WARNING))
            return True
        if text == grammar.WAITING or grammar.EXPLAINS.fullmatch(text):
            self.ledger.suppressed.add(Kind.INFORMATIONAL, line.number)
            return True
        error = grammar.ERROR.fullmatch(text)
        if error is not None:
            self._settle_last()
            no_target = grammar.NO_TARGET.match(error["text"])
            target = f"--{decoded(no_target['kind'])} {decoded(no_target['name'])}: " if no_target else ""
            self._no_target = no_target is not None
            self._errors += 1
            self._open = [(text, line)]
            self._trouble = Trouble(target + decoded(error["text"]), self._open)
            return True
        if grammar.WARNING.fullmatch(text):
            self._no_target = False
            self._open = [(text, line)]
            self._trouble = None
            return True
        return False

    def _end_diagnostic(self) -> None:
        lines, self._open = self._open or [], None
        trouble, self._trouble = self._trouble, None
        if trouble is None:
            self.ledger.suppressed.add_lines(Kind.INFORMATIONAL, (line for _, line in lines))
            return
        self._pending.append(trouble)
        self._last = trouble
        self._caused = False

    def _other(self, text: bytes, line: Line) -> bool:
        """A line of a binary, where nothing else can tell."""
        if not self.ran or self.ledger.closed or self.ledger.broken:
            return False
        self.program.append((text, line))
        return True

    # -- the end

    @property
    def idle(self) -> bool:
        """Whether nothing waits for more lines."""
        return self._open is None and self._last is None and not self._pending

    @property
    def ended(self) -> bool:
        """Whether cargo has said its last word about the binaries that failed, if any did."""
        if self._failed_at is None:
            return True
        if self._targets is not None:
            return self._targets == self._telling and self._listed == 0
        return self._telling == 1 and self._failed_at == self.ran

    def close(self, exit_code: int | None) -> None:
        """No more lines come."""
        if self._open is not None:
            self._end_diagnostic()
        self._settle_last()
        ledger = self.ledger
        if any(trouble.place or (self._compiles and not trouble.caused) for trouble in self._pending) or not self.ended:
            ledger.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        for trouble in (*self._settled, *self._pending):
            (_, header), *details = trouble.lines
            kept = trimmed(details, ledger.suppressed)
            kinds = tuple(line.as_kind(classify_detail(text)) for text, line in kept)
            ledger.failures.append(Failure(trouble.named, header.as_kind(Kind.FAILED_TEST), kinds))
        if self.told and exit_code == 0:
            ledger.unclassified += (line.as_kind(Kind.CONTESTED_TEST) for line in self.told)
            ledger.doubts.add(Doubt.CONTESTED_RESULTS)
        else:
            ledger.suppressed.add_lines(Kind.RECAP, self.told)
        if exit_code == 0:
            for text, line in self.program:
                ledger.suppressed.add(Kind.PROGRAM_OUTPUT if text else Kind.BLANK, line.number)
        else:
            accounts, others = panics(self.program, ledger.suppressed)
            ledger.accounts += accounts
            ledger.keep(others)
