"""`context-firewall restore`: a compaction record and the originals in, the earlier view out, proven by its digests."""

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import click

from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.sources import open_source
from context_firewall.errors import InvalidInput

if TYPE_CHECKING:
    from context_firewall.documents.compaction_record import CompactionRecordKeys

EPILOG = """\b
Exit status:
  0  the view was rebuilt, and its digest is the record's
  1  something else went wrong, such as a closed pipe
  2  the record does not hold, or an original is missing or altered; nothing is printed

\b
The view is printed as the session has it: one item a line, or for chat messages a JSON list.
"""


@click.command(epilog=EPILOG, short_help="Rebuild the view before a compaction, and prove it.")
@click.argument("record", metavar="RECORD|-")
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="PATH",
    help="A session that holds the originals, for a record that does not; may be given several times.",
)
@click.option("--after", is_flag=True, help="Rebuild the view after the compaction instead.")
def restore(*, record: str, sources: tuple[str, ...], after: bool) -> int:
    """Rebuild the view that a compaction began with, byte for byte.

    The record holds the original items and their digests. One that was made without the originals needs the session
    that was compacted. Each item must have its digest, and the whole view the record's; otherwise nothing is printed.

    \b
    context-firewall restore record.json
    context-firewall restore record.json --after
    context-firewall restore record.json --from session.jsonl
    """
    if sum(path == "-" for path in (record, *sources)) > 1:
        raise InvalidInput("standard input can be one file only", option="RECORD")
    from context_firewall.compaction.restore import replayed_view, restored_view
    from context_firewall.documents.compaction_record import parse_compaction_record

    with closing(open_source("RECORD", record)) as source:
        document = parse_compaction_record(source.read())
    originals = _originals(document, sources)
    rebuild = replayed_view if after else restored_view
    view = rebuild(document, originals.get)
    deliver(_printed(view, document["source_format"]))
    side = document["compacted" if after else "original"]
    which = "after" if after else "before"
    indicate(f"[Context Firewall] view {which} the compaction: {len(view)} entries, proven by {side['sha256']}")
    return 0


def _originals(record: "CompactionRecordKeys", paths: tuple[str, ...]) -> dict[str, bytes]:
    """The items of the sessions that the record names, by digest; each is read line by line, and no other is kept."""
    from context_firewall.canonical import sha256
    from context_firewall.conversation.reader import items_of

    wanted = {entry["sha256"] for entry in record["original"]["entries"]}
    lengths = {entry["byte_count"] for entry in record["original"]["entries"]}
    found: dict[str, bytes] = {}
    with ExitStack() as opened:
        for path in paths:
            source = opened.enter_context(closing(open_source("--from", path)))
            for raw in items_of(source.chunks()):
                if len(raw) in lengths and (digest := sha256(raw)) in wanted:
                    found[digest] = raw
    return found


def _printed(view: list[bytes], source_format: str | None) -> bytes:
    if source_format == "chat":
        return b"[\n" + b",\n".join(view) + b"\n]\n" if view else b"[]\n"
    return b"".join(item + b"\n" for item in view)
