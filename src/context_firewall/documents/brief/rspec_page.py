"""Failures of RSpec's HTML page, as a brief shows them: the message, without markup.

    <span class="failed_spec_name">bakes</span>
    <div class="message"><pre>  expected: &quot;bread&quot;
         got: nil</pre></div>

is shown as two lines of text: the name stands above them, and the excerpt of the source is context.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from context_firewall.documents.brief.xml_report import unescaped

_NAME = '      <span class="failed_spec_name">'
_MESSAGE, _END = '        <div class="message"><pre>', "</pre></div>"


def page_told(failures: Sequence[Mapping[str, Any]], context: str) -> dict[int, list[str]]:
    """What the page says of the failures in it, by position; `context` is the category of lines that are not shown."""
    return {
        at: [
            unescaped(line["text"].removesuffix("\r").removeprefix(_MESSAGE).removesuffix(_END))
            for line in failure.get("details", ())
            if "text" in line and line["category"] != context
        ]
        for at, failure in enumerate(failures)
        if (failure.get("header") or {}).get("text", "").startswith(_NAME)
    }
