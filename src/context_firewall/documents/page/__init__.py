"""The page: an explanation and the text of its run as one HTML file that asks nothing of anybody.

`page.html` is the template, `page.css` and `page.js` go into it; what stands in double braces is filled in here. Rules
of this room:

- The run's text stands in the page once, as JSON, with every character escaped that markup or a reader could trip over;
  the script turns it into text nodes and never into markup. Everything else that the run says (identities, names,
  references) is made printable and escaped.
- The page loads nothing and runs nothing but its own script and style: its policy names them by digest.
- Same explanation, same streams: same bytes. No date, no chance.
"""

import base64
import hashlib
import html
import json
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from context_firewall.documents.brief import render_brief
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.explanation import FATES, ExplainedStream, Explanation, line_counts
from context_firewall.documents.printable import UNSAFE, safe
from context_firewall.documents.reasons import ADVICE
from context_firewall.errors import InvalidInput

# More failures than this are reached with the keyboard and the map; a list of them would be slower than the log.
LISTED_FAILURES = 2000

SIGNS = {"failed": "✖", "passed": "✔", "indeterminate": "?"}
FATE_SIGNS = {"kept": "●", "referenced": "↪", "suppressed": "·"}
FATE_WORDS = {
    "kept": "word for word",
    "referenced": "by place only",
    "suppressed": "only counted",
}
# Reasons that single lines give, and the kinds of those lines.
KINDS_OF_REASONS = {
    "CONTESTED_RESULTS": ("contested_test",),
    "FAILURE_OUTSIDE_TESTS": ("process_failure", "failure_detail"),
    "UNCLASSIFIED_EVIDENCE": ("unclassified", "unclassified_binary"),
}

_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")
_MARKUP = re.compile("[<>&]")


def render_page(explanation: Explanation, streams: Mapping[str, bytes]) -> bytes:
    """The page of an explanation, as UTF-8; `streams` are the bytes that were explained, by name.

    Raises InvalidInput when those are not the bytes: another name, another length, another number of lines.
    """
    packet = explanation["packet"]
    status = packet["decision_evidence"]["status"]
    brief = render_brief(packet)
    word, _, verdict = safe(brief.partition("\n")[0]).partition(": ")
    style, script = _resource("page.css"), _resource("page.js")
    parts = {
        "bars": _bars(packet, len(brief.encode())),
        "data": _data(explanation, streams),
        "failures": _failures(packet),
        "fates": _choices("fate", "by fate", _counted_fates(explanation)) + _signs(),
        "kinds": _choices("kind", "by kind", _counted_kinds(explanation)),
        "reasons": _reasons(packet["decision_evidence"]["reason_codes"]),
        "receipt": _receipt(packet, len(brief.encode())),
        "script": script,
        "script_hash": _source_hash(script),
        "sign": SIGNS[status],
        "status": status,
        "status_word": word,
        "style": style,
        "style_hash": _source_hash(style),
        "title": _text(f"{word}: {verdict}"),
        "verdict": _text(verdict),
    }
    # One pass, so that what is filled in is never itself looked at for places to fill.
    return _PLACE.sub(lambda place: parts[place[1]], _resource("page.html")).encode()


def _resource(name: str) -> str:
    """A file of this folder; it is part of the program, like a module."""
    data = pkgutil.get_data(__name__, name)
    if data is None:
        raise FileNotFoundError(name)
    return data.decode().replace("\r\n", "\n")


def _source_hash(text: str) -> str:
    """How a content security policy names the text of a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(text: str) -> str:
    """Printable text for markup."""
    return html.escape(safe(text))


# -- the run ----------------------------------------------------------------------------------------------------------


def _data(explanation: Explanation, streams: Mapping[str, bytes]) -> str:
    """Lines, spans and failures as JSON: spans as pairs of last line and rule, because many lines share few rules."""
    if sorted(streams) != sorted(stream["name"] for stream in explanation["streams"]):
        raise InvalidInput("the streams are not those of the explanation", key="streams")
    rules: dict[tuple[Any, ...], int] = {}
    shown = []
    for stream in explanation["streams"]:
        text = streams[stream["name"]]
        if len(text) != stream["byte_count"] or line_count(text) != stream["line_count"]:
            raise InvalidInput("the bytes are not those of the explanation", key=f"streams.{stream['name']}")
        spans: list[int] = []
        for span in stream["spans"]:
            rule = (span["dialect"], span["kind"], span["fate"], safe(span["rule"]), span.get("failure", -1))
            spans += (span["last"], rules.setdefault(rule, len(rules)))
        shown.append(
            {
                "byte_count": len(text),
                "line_count": stream["line_count"],
                "name": stream["name"],
                "spans": spans,
                "text": text.decode("utf-8", "replace"),
            }
        )
    places = failure_places(explanation["packet"], explanation["streams"])
    return _json({"failures": places, "rules": [*rules], "streams": shown})


def line_count(data: bytes) -> int:
    """How many lines a stream has; what follows the last newline is one if it is not nothing."""
    return data.count(b"\n") + (0 if not data or data.endswith(b"\n") else 1)


def failure_places(packet: EvidencePacket, streams: Sequence[ExplainedStream]) -> list[tuple[int, int] | None]:
    """Where each failure of a packet begins: index of the stream, line. The header, or else the first line known."""
    names = [stream["name"] for stream in streams]
    first: dict[int, tuple[int, int]] = {}
    for index, stream in enumerate(streams):
        for span in stream["spans"]:
            if "failure" in span:
                first.setdefault(span["failure"], (index, span["first"]))
    places: list[tuple[int, int] | None] = []
    for index, failure in enumerate(packet["decision_evidence"]["failures"]):
        evidence = [failure.get("header"), failure.get("region"), failure.get("elsewhere"), *failure.get("details", ())]
        known = [(names.index(one["stream"]), one["line"]) for one in evidence if one and one["stream"] in names]
        places.append(known[0] if known else first.get(index))
    return places


def _json(value: object) -> str:
    """JSON that can stand in a script element and in an editor: nothing that ends it, nothing that turns its text."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return UNSAFE.sub(_escaped, _MARKUP.sub(_escaped, text))


def _escaped(match: re.Match[str]) -> str:
    data = match[0].encode("utf-16-be")
    return "".join(f"\\u{data[at]:02x}{data[at + 1]:02x}" for at in range(0, len(data), 2))


# -- the head ---------------------------------------------------------------------------------------------------------


def _bars(packet: EvidencePacket, brief_bytes: int) -> str:
    """Bytes seen and bytes made, each as a bar of a length that is true to the largest."""
    measures = packet["receipt"]["measurements"]
    raw = measures["original_bytes"]
    rows = (("raw", raw, ""), ("packet", measures["reduced_bytes"], "made"), ("brief", brief_bytes, "made"))
    largest = max(1, *(count for _, count, _ in rows))
    return "\n".join(
        f'<span>{name}</span><span class="{sort}">{_bar(name, count, largest)}</span>'
        f'<span class="amount">{count:,} B{_share(count, raw) if sort else ""}</span>'
        for name, count, sort in rows
    )


def _bar(name: str, count: int, largest: int) -> str:
    """A bar; one that is not nothing is never too thin to be seen."""
    width = max(3, count * 1000 // largest) if count else 0
    return (
        f'<svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="{name}: {count:,} bytes">'
        f'<rect width="{width}" height="10"/></svg>'
    )


def _share(count: int, raw: int) -> str:
    if not raw:
        return ""
    share = (2000 * count + raw) // (2 * raw)  # in thousandths, by integers
    return f" ({share // 10}.{share % 10} %)" if share or not count else " (&lt; 0.1 %)"


# -- the side ---------------------------------------------------------------------------------------------------------


def _section(name: str, title: str, number: str, body: str) -> str:
    count = f' <span class="number">{number}</span>' if number else ""
    return (
        f'<section class="{name}" aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{title}{count}</h2>\n{body}\n</section>'
    )


def _reasons(codes: Sequence[str]) -> str:
    if not codes:
        return _section("reasons", "Reasons", "", "<p>None: the packet suffices.</p>")
    items = []
    for code in codes:
        kinds = " ".join(KINDS_OF_REASONS.get(code, ()))
        button = f'<br><button type="button" data-kinds="{kinds}">Show those lines only</button>' if kinds else ""
        advice = _text(ADVICE.get(code, "see the specification"))
        items.append(f"<li><code>{_text(code)}</code><br>{advice}{button}</li>")
    return _section("reasons", "Reasons to look at the raw output", f"{len(codes)}", f"<ul>{''.join(items)}</ul>")


def _failures(packet: EvidencePacket) -> str:
    evidence = packet["decision_evidence"]
    failures = evidence["failures"]
    items = list(_failure_items(failures[:LISTED_FAILURES]))
    notes = []
    if len(failures) > LISTED_FAILURES:
        notes.append(f"{len(failures) - LISTED_FAILURES:,} more are not listed here; the keys j and k reach them.")
    omitted = evidence.get("omitted_failures")
    if omitted is not None:
        place = f"lines {omitted['first_line']:,} to {omitted['last_line']:,}"
        notes.append(f"{omitted['count']:,} more are not named in the packet: {place}.")
    if not failures and not notes:
        return _section("failures", "Failures", "", "<p>None is named.</p>")
    body = f"<ol>{''.join(items)}</ol>" + "".join(f"<p>{note}</p>" for note in notes)
    shared = sum(len(failure.get("also", ())) for failure in failures)
    return _section("failures", "Failures", f"{len(failures) + shared:,}", body)


def _failure_items(failures: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for index, failure in enumerate(failures):
        evidence = [
            one
            for one in (
                failure.get("header"),
                failure.get("region"),
                failure.get("elsewhere"),
                *failure.get("details", ()),
            )
            if one
        ]
        place = f"{evidence[0]['stream']} {evidence[0]['line']:,}" if evidence else ""
        yield (
            f'<li><button type="button" data-failure="{index}"><span class="sign" aria-hidden="true">✖</span>'
            f'<span class="name">{_text(failure["identity"])}</span><span class="place">{_text(place)}</span></button>'
        )
        stream = _text(evidence[0]["stream"]) if evidence else "stdout"
        for other in failure.get("also", ()):
            yield (
                f'<div class="also"><button type="button" data-stream="{stream}" data-line="{other["line"]}">'
                f'<span class="name">also {_text(other["identity"])}</span>'
                f'<span class="place">{stream} {other["line"]:,}</span></button></div>'
            )
        yield "</li>"


def _counted_fates(explanation: Explanation) -> list[tuple[str, int]]:
    counts = line_counts(explanation)
    return [(fate, sum(n for (_, one), n in counts.items() if one == fate)) for fate in FATES]


def _counted_kinds(explanation: Explanation) -> list[tuple[str, int]]:
    kinds: dict[str, int] = {}
    for (kind, _), count in line_counts(explanation).items():
        kinds[kind] = kinds.get(kind, 0) + count
    return sorted(kinds.items())


def _choices(group: str, legend: str, counts: Iterable[tuple[str, int]]) -> str:
    """A box to tick for each value, with how many lines have it."""
    rows = []
    for value, count in counts:
        key, words = "", ""
        if group == "fate":
            key = f'<span class="key {value}" aria-hidden="true">{FATE_SIGNS[value]}</span>'
            words = f" <small>{FATE_WORDS[value]}</small>"
        rows.append(
            f'<div class="choice"><label><input type="checkbox" checked data-group="{group}" value="{_text(value)}">'
            f'{key}<span class="name">{_text(value)}{words}</span><span class="number">{count:,}</span></label>'
            f'<button type="button" class="only" data-group="{group}" data-only="{_text(value)}"'
            f' aria-label="only {_text(value)}">only</button></div>'
        )
    return f"<fieldset><legend>{legend}</legend>{''.join(rows)}</fieldset>"


def _signs() -> str:
    """What else the signs beside lines mean."""
    return (
        '<p class="signs"><b class="failing">✖</b> a failure begins, <b class="failing">│</b> its lines; '
        '<b class="doubt">?</b> unknown, contested, or a warning</p>'
    )


def _receipt(packet: EvidencePacket, brief_bytes: int) -> str:
    receipt, evidence = packet["receipt"], packet["decision_evidence"]
    measures, counts, raw = receipt["measurements"], evidence["counts"], receipt["raw_evidence"]
    exit_code = evidence["process"]["exit_code"]
    rows = [
        ("evidence", evidence["disposition"], ""),
        ("tests", ", ".join(f"{n:,} {word}" for word, n in counts.items() if isinstance(n, int)), ""),
        ("exit code", "unknown" if exit_code is None else str(exit_code), ""),
        ("lines", f"{measures['original_event_count']:,} read", ""),
        ("", f"{measures['retained_evidence_count']:,} retained", ""),
        ("", f"{measures['suppressed_evidence_count']:,} suppressed", ""),
        ("bytes", f"{measures['original_bytes']:,} raw", ""),
        ("", f"{measures['reduced_bytes']:,} packet", ""),
        ("", f"{brief_bytes:,} brief", ""),
        ("operation", packet["operation_id"] or "not given", ""),
        ("source", receipt["source"]["id"] or "not given", ""),
        ("run", receipt["source"]["run_id"] or "not given", ""),
        ("policy", receipt["configuration"]["policy_revision"], ""),
        ("reducer", f"{receipt['reducer']['name']} {receipt['reducer']['version']}", ""),
        ("raw bytes", raw["reference"] or "no reference given", raw["reference"] or ""),
        ("input hash", receipt["input_hash"], receipt["input_hash"]),
        ("evidence hash", receipt["semantic_payload_hash"], receipt["semantic_payload_hash"]),
        ("configuration", receipt["configuration"]["identity"], receipt["configuration"]["identity"]),
    ]
    lines = []
    for name, text, copied in rows:
        button = ""
        if copied:
            button = f' <button type="button" data-copy="{html.escape(copied)}" aria-label="copy {name}">copy</button>'
        shown = f'<span class="mono">{_text(text)}</span>' if copied else _text(text)
        heading = f"<dt>{name}</dt>" if name else "<dt></dt>"
        lines.append(f"{heading}<dd>{shown}{button}</dd>")
    return _section("receipt", "Receipt", "", f"<dl>{''.join(lines)}</dl>")
