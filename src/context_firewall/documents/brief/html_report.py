"""Failures of RSpec's HTML page, as a brief shows them: the message, without markup.

    <span class="failed_spec_name">bakes</span>
    <div class="message"><pre>  expected: &quot;bread&quot;
         got: nil</pre></div>

is shown as two lines of text. References are those that ERB writes for `& < > " '`, and any other of HTML's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_NAME = '      <span class="failed_spec_name">'
_MESSAGE, _END = '        <div class="message"><pre>', "</pre></div>"


def html_told(failures: Sequence[Mapping[str, Any]], context: str) -> dict[int, list[str]]:
    """What the page says of the failures in it, by position; `context` is the category of lines that are not shown."""
    told = [
        (at, [line["text"] for line in failure.get("details", ()) if "text" in line and line["category"] != context])
        for at, failure in enumerate(failures)
        if failure.get("header", {}).get("text", "").startswith(_NAME)
    ]
    if not told:
        return {}
    # Its table of names is large, and few briefs need it.
    from html import unescape

    return {
        at: [unescape(text.removesuffix("\r").removeprefix(_MESSAGE).removesuffix(_END)) for text in texts]
        for at, texts in told
    }
