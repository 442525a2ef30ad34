"""What RSpec's HTML formatter prints, pattern by pattern (html_printer.rb). Bare bytes in.

Each thing stands in lines of its own. What comes from the run (names, reasons, messages, frames) is escaped, so no test
writes a tag inside the report's own lines; it can print lines like them in between. Only the excerpt of a failure's
source is not escaped, and each of its lines begins with its number in a tag.
"""

import re
from html import unescape
from typing import NamedTuple

from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.ruby import frame_kind

# The page's head stands above its title: `<!DOCTYPE html>`, `<html lang='en'>`, `<head>`.
HEAD = re.compile(rb"<!DOCTYPE html>|<html lang='en'>|<head>")
OPENING = re.compile(rb"  <title>RSpec results</title>\Z")
RESULTS = b'<div class="results">'

# A group: its number, how deep it is (15 pixels a level), its name.
_N = rb"[0-9]{1,9}+"
GROUP = re.compile(rb'<div id="div_group_(?P<number>%b)" class="example_group passed">' % _N)
MARGIN = re.compile(rb'  <dl style="margin-left: (?P<pixels>%b)px;">' % _N)
GROUP_NAME = re.compile(rb'  <dt id="example_group_(?P<number>%b)" class="passed">(?P<name>[^\n]*)</dt>' % _N)

# Before each example's result stands how much of the run is over. What a test prints without a line end is glued to the
# first of the scripts.
_SCRIPT = rb'    <script type="text/javascript">'
PROGRESS = re.compile(
    rb"(?P<print>(?:(?!%b)[^\n])*+)%bmoveProgressBar\('(?P<percent>[0-9.]{1,6}+)'\);</script>" % ((_SCRIPT,) * 2)
)
COLOUR = re.compile(rb"(?P<print>(?:(?!%b)[^\n])*+)%bmake(?:Red|Yellow)\('[a-z0-9_-]++'\);</script>" % ((_SCRIPT,) * 2))

# Results of one line, and the first line of a failure's account; `pending_fixed` failed because it passed.
PASSED = re.compile(
    rb'    <dd class="example passed"><span class="passed_spec_name">[^\n]*</span>'
    rb"<span class='duration'>[0-9.]++s</span></dd>"
)
PENDING = (
    re.compile(  # what it ends with is looked at first: a name may hold many times what divides it from the reason
        rb"(?=[^\n]*+(?<=\)</span></dd>))"
        rb'    <dd class="example not_implemented"><span class="not_implemented_spec_name">'
        rb"(?P<name>[^\n]*) \(PENDING: (?P<reason>[^\n]*)\)</span></dd>"
    )
)
FAILED = re.compile(rb'    <dd class="example (?:failed|pending_fixed)">')
FAILED_NAME = re.compile(rb'      <span class="failed_spec_name">(?P<name>[^\n]*)</span>')
FAILURE = re.compile(rb'      <div class="failure" id="failure_(?P<number>%b)">' % _N)
FAILED_END = b"    </dd>"
NOT_YET = b"Not yet implemented"

# Runs of passed examples, each below its step. A name is escaped, so no script stands in it.
LANE = re.compile(
    rb"(?:%bmoveProgressBar\('[0-9.]{1,6}+'\);</script>\r?+\n"
    rb'    <dd class="example passed"><span class="passed_spec_name">[^<>\n\x1b]*+</span>'
    rb"<span class='duration'>[0-9.]++s</span></dd>\r?+\n)++" % _SCRIPT
)
STEP = re.compile(rb"%bmoveProgressBar\('([0-9.]++)'" % _SCRIPT)

# The end.
GROUP_END = b"  </dl>"
ENDS = frozenset({b"</div>", b"</body>"})
FINISHED = re.compile(
    rb"<script type=\"text/javascript\">document\.getElementById\('duration'\)\.innerHTML = "
    rb"\"Finished in <strong>[0-9.]++ seconds</strong>\";</script>"
)
TOTALS = re.compile(
    rb"<script type=\"text/javascript\">document\.getElementById\('totals'\)\.innerHTML = "
    rb"\"(?P<examples>%b) examples?, (?P<failures>%b) failures?(?:, (?P<pending>%b) pending)?+\";</script>"
    % (_N, _N, _N)
)
LAST = b"</html>"
ALL = b"100.0"
_TENTHS = [b"%.1f" % (n / 10) for n in range(1001)]
PIXELS = 15

# In an account: `        <div class="message"><pre>  Failure/Error: …`, up to `</pre></div>`; the frames; the excerpt.
_BACKTRACE = b'        <div class="backtrace"><pre>'
_MESSAGE = b'        <div class="message"><pre>'
_EXCERPT = (
    b'    <pre class="ruby"><code>',
    b'<span class="linenum">',
    b'<span class="offending"><span class="linenum">',
)
_DURATION = b'      <span class="duration">'
_MARKUP = frozenset({b"      </div>", FAILED_END})
_FRAME = re.compile(rb"  # (?P<place>[^\n]++)")


class Totals(NamedTuple):
    """What the page's end counts."""

    examples: int
    failures: int
    pending: int

    @property
    def passed(self) -> int:
        """Examples that neither failed nor are pending."""
        return self.examples - self.failures - self.pending


def totals(bare: bytes) -> Totals | None:
    """What a line of totals states; None if it is none, or counts more endings than examples."""
    found = TOTALS.fullmatch(bare)
    if found is None:
        return None
    stated = Totals(*(int(found[key] or 0) for key in ("examples", "failures", "pending")))
    return stated if stated.passed >= 0 else None


def percents(examples: int) -> list[bytes]:
    """What stands before the results of so many examples: tenths of a percent, cut off."""
    return [_TENTHS[int(n / examples * 1000)] for n in range(1, examples + 1)]


def plain(text: bytes) -> bytes:
    """Text without references to characters."""
    return (
        unescape(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") if b"&" in text else text
    )


def detail_kind(bare: bytes) -> Kind:
    """Kind of a line in an account: the frames stand in the message too, and the source in its file."""
    if bare in _MARKUP or bare.startswith((_BACKTRACE, _DURATION, *_EXCERPT)) or FAILURE.fullmatch(bare):
        return Kind.FAILURE_CONTEXT
    frame = _FRAME.fullmatch(bare)
    if frame is not None:
        return frame_kind(frame["place"])
    return classify_detail(plain(bare.removeprefix(_MESSAGE)))
