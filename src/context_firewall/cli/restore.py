"""`context-firewall restore`: a compaction record and the originals in, the earlier view out, proven by its digests."""

import re
from collections.abc import Callable
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import click

from context_firewall.cli.channels import deliver, indicate
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.sources import open_source
from context_firewall.cli.stores import store_in_force, store_option
from context_firewall.cli.terminal import for_stdout
from context_firewall.errors import ContextFirewallError, EvidenceNotFound, InvalidInput

if TYPE_CHECKING:
    from context_firewall.documents.compaction_record import CompactionRecordKeys
    from context_firewall.store.evidence import EvidenceStore

Rebuilt = TypeVar("Rebuilt")

EPILOG = """\b
Exit status:
  0  the view was rebuilt, and its digest is the record's
  1  an original is nowhere, or the store does not hold the record, is damaged or cannot be read; nothing is printed
  2  the record does not hold, an original was altered, or wrong usage; nothing is printed

\b
The view is printed as the session has it: one item a line, or for chat messages a JSON list. To a terminal, control
characters are spelled out. A file that is called like a compaction in the store is named with its folder: ./latest
"""

_STORED = re.compile(r"latest(?:~[0-9]+)?|sha256:[0-9a-f]{1,64}")
HEAD = ("compaction", "time (UTC)", "session", "entries", "tokens")
NUMBERS = frozenset({3})


@click.command(epilog=EPILOG, short_help="Rebuild the view before a compaction, and prove it.")
@click.argument("record", metavar="RECORD|-", required=False)
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="PATH",
    help="A session that holds originals, for a record without them; may be given several times.",
)
@click.option("--after", is_flag=True, help="Rebuild the view after the compaction instead.")
@click.option("--entry", metavar="ID", help="Print the original of this entry alone, as it stood in the session.")
@click.option("--list", "listing", is_flag=True, help="List the compactions that the store holds, newest first.")
@store_option
@configuration_options
def restore(
    *,
    record: str | None,
    sources: tuple[str, ...],
    after: bool,
    entry: str | None,
    listing: bool,
    store_place: str | None,
    config_path: str | None,
    no_config: bool,
) -> int:
    """Rebuild the view that a compaction began with, byte for byte.

    RECORD is a file, or a compaction in the evidence store: latest, latest~1 (the one before), or the first digits of
    its record's digest, such as sha256:1f0c. The originals are those that the record holds itself, else those of the
    sessions that --from names, else those in the store. Each must have its digest, and the whole view the record's;
    otherwise nothing is printed.

    \b
    context-firewall restore latest
    context-firewall restore record.json
    context-firewall restore record.json --after
    context-firewall restore record.json --from session.jsonl
    context-firewall restore latest --entry 7
    """
    if (record is None) != listing:
        raise InvalidInput("give a record, or --list without one", option="RECORD", help="restore --help")
    if after and entry is not None:
        raise InvalidInput("--entry is of the view before, and --after asks for the other", option="--after")
    if sum(path == "-" for path in (record, *sources)) > 1:
        raise InvalidInput("standard input can be one file only", option="RECORD")

    @cache
    def store() -> "EvidenceStore":
        return store_in_force(store_place, configuration_in_force(config_path, no_config))

    if record is None:
        return _list(store())
    document = _record(record, store)
    originals = _Originals(document, sources, store)
    if entry is not None:
        return _print_entry(document, entry, originals)
    from context_firewall.compaction.restore import replayed_view, restored_view

    rebuild = replayed_view if after else restored_view
    view = originals.given_to(lambda: rebuild(document, originals.get))
    deliver(for_stdout(_printed(view, document["source_format"])))
    side = document["compacted" if after else "original"]
    which = "after" if after else "before"
    indicate(f"[Context Firewall] view {which} the compaction: {len(view)} entries, proven by {side['sha256']}")
    return 0


def _record(record: str, store: Callable[[], "EvidenceStore"]) -> "CompactionRecordKeys":
    from context_firewall.documents.compaction_record import parse_compaction_record

    if _STORED.fullmatch(record):
        from context_firewall.store.compactions import find_compaction, kept_record

        return kept_record(store(), find_compaction(store(), record))
    with closing(open_source("RECORD", record)) as source:
        return parse_compaction_record(source.read())


class _Originals:
    """Where originals are that a record does not hold itself: first the sessions that were named, then the store."""

    def __init__(
        self, record: "CompactionRecordKeys", paths: tuple[str, ...], store: Callable[[], "EvidenceStore"]
    ) -> None:
        self._record = record
        self._paths = paths
        self._store = store
        self._given = _items(record, paths)
        self._kept: dict[str, bytes] | None = None

    def get(self, digest: str) -> bytes | None:
        """The original of that digest; the store is asked once, and only if something is missing."""
        if digest in self._given:
            return self._given[digest]
        if self._kept is None:
            from context_firewall.store.compactions import originals_kept

            self._kept = dict(originals_kept(self._store(), self._record))
        return self._kept.get(digest)

    def given_to(self, rebuild: Callable[[], Rebuilt]) -> Rebuilt:
        """What comes of them; an error for what is missing says where it was looked for."""
        try:
            return rebuild()
        except EvidenceNotFound as problem:
            places = ["the record", *(["the sessions given"] if self._paths else []), self._store().location]
            raise EvidenceNotFound(
                f"{problem}; looked in {', '.join(places)}; a session that holds them can be given with --from",
                **problem.details,
                reference=self._record["original"]["sha256"],
                store=self._store().location,
            ) from None


def _items(record: "CompactionRecordKeys", paths: tuple[str, ...]) -> dict[str, bytes]:
    """The items of the sessions that the record names, by digest; each is read line by line, and no other is kept."""
    from context_firewall.canonical import sha256
    from context_firewall.conversation.reader import items_of

    wanted = {entry["sha256"] for entry in record["original"]["entries"]}
    lengths = {entry["byte_count"] for entry in record["original"]["entries"]}
    found: dict[str, bytes] = {}
    for path in paths:
        with closing(open_source("--from", path)) as source:
            for raw in items_of(source.chunks()):
                if len(raw) in lengths and (digest := sha256(raw)) in wanted:
                    found[digest] = raw
    return found


def _print_entry(record: "CompactionRecordKeys", entry: str, originals: _Originals) -> int:
    from context_firewall.compaction.restore import restored_original

    ids = {str(one["entry_id"]): one["entry_id"] for one in record["original"]["entries"]}
    original = originals.given_to(lambda: restored_original(record, ids.get(entry, entry), originals.get))
    deliver(for_stdout(original + b"\n"))
    indicate(f"[Context Firewall] entry {entry} of the view before: {len(original):,} B, proven by its digest")
    return 0


def _list(store: "EvidenceStore") -> int:
    """The compactions of a store, one a line; a record that cannot be read is named and left out."""
    from context_firewall.cli.stored_runs import short_digest, shown_time
    from context_firewall.cli.terminal import BOLD, Terminal, columns_of
    from context_firewall.documents.printable import safe
    from context_firewall.store.compactions import compactions, kept_record

    rows = [HEAD]
    damaged = []
    for name in compactions(store):
        try:
            record = kept_record(store, name)
        except ContextFirewallError as problem:
            damaged.append(f"damaged and left out: {problem}")
            continue
        before, after = record["original"], record["compacted"]
        counts = f"{len(before['entries']):,} -> {len(after['entries']):,}"
        tokens = f"{before['tokens']:,} -> {after['tokens']:,}"
        session = safe(record["source_format"] or "(a program)")
        rows.append((short_digest(name.reference), shown_time(name.recorded_at), session, counts, tokens))
    if len(rows) > 1:
        terminal = Terminal.of_stdout()
        lines = columns_of(rows, right=NUMBERS)
        table = [terminal.line(next(lines), BOLD), *map(terminal.line, lines)]
        deliver("".join(f"{line}\n" for line in table).encode())
    else:
        deliver(b"")
        indicate(f"[Context Firewall] the store {store.location} holds no compaction")
    for words in damaged:
        indicate(f"[Context Firewall] {safe(words)}")
    return 0


def _printed(view: list[bytes], source_format: str | None) -> bytes:
    if source_format == "chat":
        return b"[\n" + b",\n".join(view) + b"\n]\n" if view else b"[]\n"
    return b"".join(item + b"\n" for item in view)
