"""The brief of a run that failed, given what it printed on standard output."""

from context_firewall import SourceStream, reduce_streams, render_brief


def brief_lines(text: str) -> list[str]:
    """Its lines, from the verdict to the receipt."""
    data = text.encode()
    packet = reduce_streams(
        [SourceStream("stdout", len(data), [data])],
        exit_code=1,
        operation_id="o",
        source_id="s",
        raw_evidence_ref="file:r",
    )
    return render_brief(packet).splitlines()
