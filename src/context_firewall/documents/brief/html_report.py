"""Failures of mocha's `doc` reporter, as a brief shows them: the file and the message, without markup.

    <dt class="error">moors &#x3C;fast&#x3E;</dt>
    <dt class="error">/srv/quay.test.js</dt>
    <dd class="error"><pre><code>assert.ok(rope)</code></pre></dd>
    <dd class="error">Error: adrift</dd>

is shown as two lines of text: the name stands above them, and the test's own code is context.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from context_firewall.documents.brief.xml_report import unescaped

# What a test printed before, the term, and its text; nothing that mocha puts in holds a sign of markup or a quote.
_NAME = re.compile(r"(?P<before>.*)<dt class=\"error\">[^<>\"'`]*+(?:</dt>)?")
_FILE = re.compile(r" *+<dt class=\"error\">[^<>\"'`]*+</dt>\r?")
_TAGS = re.compile(r"^ *+<d[dt] class=\"error\">|</d[dt]>\r?$")


def html_told(failures: Sequence[Mapping[str, Any]], context: str) -> dict[int, list[str]]:
    """What the reporter says of failures, by position; `context` is the category of lines that are not shown."""
    return {at: list(_said(failure, context)) for at, failure in enumerate(failures) if _is_told(failure, context)}


def _is_told(failure: Mapping[str, Any], context: str) -> bool:
    shown = _shown(failure, context)
    return bool(shown) and bool(_NAME.fullmatch(_header(failure)) and _FILE.fullmatch(shown[0]))


def _header(failure: Mapping[str, Any]) -> str:
    text: str = (failure.get("header") or {}).get("text", "")
    return text.removesuffix("\r")


def _shown(failure: Mapping[str, Any], context: str) -> list[str]:
    return [line["text"] for line in failure.get("details", ()) if "text" in line and line["category"] != context]


def _said(failure: Mapping[str, Any], context: str) -> Iterator[str]:
    name = _NAME.fullmatch(_header(failure))
    if name is not None and name["before"].strip():
        yield name["before"].rstrip()
    for text in _shown(failure, context):
        yield from unescaped(_TAGS.sub("", text)).split("\n")
