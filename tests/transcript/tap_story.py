"""What a stream comes to, in a form that a table can hold."""

from dataclasses import dataclass

from context_firewall.reduction.verdict import Circumstances, judge_v3
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import read_streams


@dataclass(frozen=True)
class Story:
    """A transcript and its verdict."""

    transcript: Transcript
    verdict: str
    """passed, failed or indeterminate; with a question mark where the raw evidence is asked for."""

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Passed, failed, skipped, to do."""
        tally = self.transcript.tally
        return tally.passed, tally.failed, tally.skipped, tally.todo

    @property
    def failures(self) -> list[str]:
        """Identities."""
        return [failure.identity for failure in self.transcript.failures]

    @property
    def doubts(self) -> set[str]:
        """Reason codes that the reading itself gives."""
        return {str(doubt) for doubt in self.transcript.doubts}

    @property
    def unclassified(self) -> list[str]:
        """Texts of unclassified and contested lines."""
        return texts(self.transcript.unclassified)

    @property
    def details(self) -> list[list[str]]:
        """The lines below each failure's header."""
        return [texts(failure.details) for failure in self.transcript.failures]

    def suppressed(self, kind: Kind) -> int:
        """How many lines of a kind were only counted."""
        return self.transcript.suppressed.get(kind, 0)


def texts(lines: tuple[Line, ...]) -> list[str]:
    """Lines as text."""
    return [line.text for line in lines]


def told(
    text: str | bytes, exit_code: int | None = 0, *, stderr: str = "", dialect: str = "auto", size: int = 0
) -> Story:
    """Read a stream, in pieces of `size` bytes if one is given."""
    data = text.encode() if isinstance(text, str) else text
    step = size or max(1, len(data))
    chunks = [data[i : i + step] for i in range(0, len(data), step)]
    transcript = read_streams([("stdout", chunks), ("stderr", [stderr.encode()])], exit_code=exit_code, dialect=dialect)
    lines = sum(d.count(b"\n") + bool(d and not d.endswith(b"\n")) for d in (data, stderr.encode()))
    assert transcript.event_count == lines, "each line is counted once (P3)"
    judged = judge_v3(
        transcript,
        Circumstances(operation_id="op", source_id="suite", raw_evidence_ref="ref", exit_code=exit_code),
    )
    return Story(transcript, judged.status.value + ("?" if judged.reason_codes else ""))
