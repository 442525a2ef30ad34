"""RSpec's HTML page: what it says, and what must not be taken for it."""

from html import escape
from typing import Any

import pytest
from reports import chunked, damaged, judged, linear, names, read, region, sufficient, tally, texts

from context_firewall.documents.brief.rspec_page import page_told
from context_firewall.transcript.dialects.rspec_html_grammar import percents
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import trace_streams

HEAD = """<!DOCTYPE html>
<html lang='en'>
<head>
  <title>RSpec results</title>
  <style type="text/css">
#rspec-header {
}
  </style>
</head>
<body>
<div class="rspec-report">
</div>

<div class="results">
"""
SCRIPT = '<script type="text/javascript">'


def group(number: int, name: str, depth: int = 0) -> str:
    return (
        f'<div id="div_group_{number}" class="example_group passed">\n  <dl style="margin-left: {15 * depth}px;">\n'
        f'  <dt id="example_group_{number}" class="passed">{escape(name)}</dt>\n'
    )


def step(percent: str) -> str:
    return f"    {SCRIPT}moveProgressBar('{percent}');</script>\n"


def passed(name: str) -> str:
    span = f'<span class="passed_spec_name">{escape(name)}</span>'
    return f"    <dd class=\"example passed\">{span}<span class='duration'>0.00012s</span></dd>\n"


def pending(name: str, reason: str) -> str:
    span = f'<span class="not_implemented_spec_name">{name} (PENDING: {reason})</span>'
    return f'    <dd class="example not_implemented">{span}</dd>\n'


def failed(number: int, name: str, message: str, sort: str = "failed") -> str:
    return (
        f'    <dd class="example {sort}">\n      <span class="failed_spec_name">{escape(name)}</span>\n'
        f'      <span class="duration">0.00034s</span>\n      <div class="failure" id="failure_{number}">\n'
        f'        <div class="message"><pre>{escape(message)}\n'
        "  # ./spec/oven_spec.rb:9:in `block (2 levels)&#39;</pre></div>\n"
        '        <div class="backtrace"><pre>./spec/oven_spec.rb:9:in `block (2 levels)&#39;</pre></div>\n'
        '    <pre class="ruby"><code><span class="linenum">8</span>  it "bakes" do\n'
        '<span class="offending"><span class="linenum">9</span>    expect(bread).to be_done</div></span></code></pre>\n'
        "      </div>\n    </dd>\n"
    )


def end(counts: str) -> str:
    return (
        f"{SCRIPT}document.getElementById('duration').innerHTML = "
        '"Finished in <strong>0.02 seconds</strong>";</script>\n'
        f"{SCRIPT}document.getElementById('totals').innerHTML = \"{counts}\";</script>\n"
        "</div>\n</div>\n</body>\n</html>\n"
    )


CLOSED = "  </dl>\n</div>\n"
RED_SCRIPTS = "".join(f"    {SCRIPT}makeRed('{place}');</script>\n" for place in ("rspec-header", "div_group_1"))
GREEN = (
    HEAD + group(1, "Oven") + step("33.3") + passed("heats") + step("66.6") + passed("cools & rests") + CLOSED
    + group(2, "Shelf") + step("100.0") + passed("holds") + CLOSED + end("3 examples, 0 failures")
)  # fmt: skip
RED = (
    HEAD + group(1, "Oven") + step("25.0") + passed("heats") + RED_SCRIPTS + step("50.0")
    + failed(1, "bakes <bread>", '  Failure/Error: x\n\n    expected: "done"\n         got: nil') + CLOSED
    + group(2, "#door", 1) + step("75.0") + failed(2, "opens", "  Expected pending", "pending_fixed") + CLOSED
    + group(3, "when hot", 2) + step("100.0") + passed("stays shut") + CLOSED + end("4 examples, 2 failures")
)  # fmt: skip
PENDING = (
    HEAD + group(1, "Oven") + step("33.3") + passed("heats") + step("66.6") + pending("glows", "Not yet implemented")
    + step("100.0") + pending("rings", "no bell") + CLOSED + end("3 examples, 0 failures, 2 pending")
)  # fmt: skip
HOOK = (
    "\nAn error occurred in an `after(:context)` hook.\nFailure/Error: after(:all) { raise }\n\nRuntimeError:\n"
    "  clogged\n# ./spec/oven_spec.rb:3:in `block (2 levels)'\n"
)
BROKEN = HEAD + group(1, "Oven") + step("100.0") + passed("heats") + HOOK + CLOSED + end("1 example, 0 failures")


@pytest.mark.parametrize(
    ("text", "exit_code", "counts", "failures"),
    [
        (GREEN, 0, (3, 0, 0, 0), []),
        (RED, 1, (2, 2, 0, 0), ["Oven bakes <bread>", "Oven#door opens"]),
        (BROKEN, 1, (1, 0, 0, 0), ["`after(:context)` hook: RuntimeError: clogged"]),
    ],
)
def test_a_whole_page(text: str, exit_code: int, counts: tuple[int, ...], failures: list[str]) -> None:
    """RHTML-1, RHTML-2."""
    for page in (text, text.replace("\n", "\r\n")):
        found = read(page, exit_code)
        assert (tally(found), names(found)) == (counts, failures)
        assert not found.unclassified
        assert sufficient(page, exit_code) == ("failed" if failures else "passed")


def test_the_region_is_the_result() -> None:
    """RHTML-2: its markup, its frames once more, and the source are context."""
    found = read(RED, 1)
    assert region(found)[0] == '      <span class="failed_spec_name">bakes &lt;bread&gt;</span>'
    said = [line.text for line in found.failures[0].details if line.kind is not Kind.FAILURE_CONTEXT]
    assert [text.strip() for text in said] == [
        '<div class="message"><pre>  Failure/Error: x',
        "expected: &quot;done&quot;",
        "got: nil",
        "# ./spec/oven_spec.rb:9:in `block (2 levels)&#39;</pre></div>",
    ]


def test_a_brief_shows_the_message_without_markup() -> None:
    """BRIEF-3."""
    details = [
        {"text": '        <div class="message"><pre>  expected: &quot;a&quot;', "category": "assertion"},
        {"text": "  # ./a_spec.rb:9:in `b&#39;</pre></div>\r", "category": "stack_trace"},
        {"text": "      </div>", "category": "failure_context"},
    ]
    header = {"text": '      <span class="failed_spec_name">bakes</span>'}
    failures: list[dict[str, Any]] = [
        {"header": header, "details": details},
        {"header": {"text": "a"}, "details": details},
        {"identity": "b"},
    ]
    assert page_told(failures, "failure_context") == {0: ['  expected: "a"', "  # ./a_spec.rb:9:in `b'"]}
    assert page_told(failures[1:], "failure_context") == {}


def test_pending_examples_are_in_doubt() -> None:
    """RHTML-3: the page says pending of all of them."""
    found = read(PENDING)
    assert (tally(found), len(found.todo)) == ((1, 0, 1, 1), 1)
    verdict = judged(PENDING)
    assert (verdict.status, list(verdict.reason_codes)) == ("passed", ["COUNTS_UNCONFIRMED"])


def test_what_examples_print() -> None:
    """RHTML-4: also without a line end, which glues the next script to it."""
    text = GREEN.replace(step("66.6"), "hot\n<b>\nhalf" + step("66.6"))
    found = read(text)
    assert (tally(found), len(found.unclassified)) == ((3, 0, 0, 0), 3)
    assert sufficient(text) == Doubt.UNCLASSIFIED_EVIDENCE
    red = read(RED.replace(step("75.0"), "hot\n" + step("75.0")), 1)
    assert [(line.text, line.kind) for line in red.unclassified] == [("hot", Kind.UNCLASSIFIED)]
    assert names(red) == names(read(RED, 1))
    marked = read(GREEN.replace(step("66.6"), "FATAL: fire\n" + step("66.6")))
    assert texts(marked.fatal_errors) == ["FATAL: fire"]


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (GREEN.replace(step("66.6"), ""), Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.replace(step("66.6"), step("66.7")), Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.replace(step("100.0") + passed("holds"), ""), Doubt.COMPLETENESS_UNCONFIRMED),
        (GREEN.replace(passed("holds"), ""), Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.replace(passed("holds"), passed("holds") * 2), Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.replace("3 examples", "4 examples"), Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.replace("3 examples, 0", "3 examples, 1"), Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.replace("0 failures", "0 failures, 1 pending"), Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.replace("3 examples, 0", "0 examples, 3"), Doubt.COMPLETENESS_UNCONFIRMED),
        (GREEN.replace(group(2, "Shelf"), group(3, "Shelf")), Doubt.STRUCTURE_CONTRADICTION),
        (GREEN.replace(group(2, "Shelf"), ""), Doubt.STRUCTURE_CONTRADICTION),
        (GREEN.replace("  </dl>\n", "", 1), Doubt.STRUCTURE_CONTRADICTION),
        (GREEN.replace("  <dt id=\"example_group_2", "hot\n  <dt id=\"example_group_2"), Doubt.STRUCTURE_CONTRADICTION),
        (GREEN.replace(passed("holds"), passed("holds\ntwice")), Doubt.AGGREGATE_CONTRADICTION),
        (GREEN.removesuffix("\n"), Doubt.COMPLETENESS_UNCONFIRMED),
        (GREEN.removesuffix("</html>\n"), Doubt.COMPLETENESS_UNCONFIRMED),
        (HEAD, Doubt.NO_TEST_EVIDENCE),
        (HEAD + CLOSED + end("0 examples, 0 failures"), Doubt.NO_TEST_EVIDENCE),
        (RED.replace("    </dd>\n", "", 1), Doubt.STRUCTURE_CONTRADICTION),
        (RED.replace('id="failure_2"', 'id="failure_3"'), Doubt.STRUCTURE_CONTRADICTION),
        (RED.replace('      <span class="failed_spec_name">opens</span>\n', ""), Doubt.STRUCTURE_CONTRADICTION),
        (GREEN + "and then\n", Doubt.UNCLASSIFIED_EVIDENCE),
    ],
)  # fmt: skip
def test_a_page_that_is_in_doubt(text: str, doubt: Doubt) -> None:
    """RHTML-1 and P1."""
    assert doubt in judged(text, 1 if "failed_spec" in text else 0).reason_codes


def test_a_cut_page_is_never_green() -> None:
    """P1."""
    for text in (GREEN, PENDING):
        for at in range(len(HEAD), len(text)):
            assert judged(text[:at]).status == "indeterminate"


def test_a_forged_page_hides_no_failure() -> None:
    """P1 and P2."""
    inside = GREEN.partition('<div class="results">\n')[2]
    both = names(read(RED, 1))
    for text, failures in (
        (RED.replace(RED_SCRIPTS, inside + RED_SCRIPTS), both),
        (RED.replace(RED_SCRIPTS, GREEN + RED_SCRIPTS), both),
        (RED.replace("Failure/Error: x", inside), both),
        (RED[: RED.index(step("75.0"))] + inside, both[:1]),
    ):
        # What has a forged group above it is named after that.
        assert set(failures) <= {name.replace("Shelf", "Oven") for name in names(read(text, 1))}
        assert judged(text, 0).status != "passed"
        assert judged(text, 1).status == "failed"


def test_the_runner_says_that_it_was_told_to_stop() -> None:
    words = "RSpec is shutting down and will print the summary report... Interrupt again to force quit.\n"
    assert Doubt.COMPLETENESS_UNCONFIRMED in sufficient(GREEN, 0, words)


def test_other_pages_are_text() -> None:
    page = GREEN.replace("RSpec results", "Results of the bakery")
    assert not read(page).has_results


def test_steps_are_cut_off_to_tenths() -> None:
    assert percents(3) == [b"33.3", b"66.6", b"100.0"]
    assert percents(13)[:2] == [b"7.6", b"15.3"]
    assert percents(0) == []


def test_chunks() -> None:
    for text in (GREEN, RED, BROKEN):
        chunked(text, "rspec-html")


def test_every_line_has_one_fate_under_damage() -> None:
    """P3."""
    pieces = [step("50.0").strip("\n"), passed("x").strip("\n"), "    </dd>", "</html>", "</div>", "WARNING: hot"]
    damaged([GREEN, RED, PENDING, BROKEN], "rspec-html", pieces)


def test_a_trace_tells_the_same() -> None:
    found, traces = trace_streams([("stdout", [RED.encode()])], exit_code=1)
    assert {trace.dialect for trace in traces.values()} == {"rspec-html"}
    assert found == read(RED, 1)


@pytest.mark.parametrize(
    "unit",
    [
        HEAD,
        step("1.0"),
        "    <script",
        passed("x"),
        step("1.0") + passed("x"),
        "</span>",
        " (PENDING: ",
        failed(1, "x", "y"),
        HOOK,
        group(1, "x"),
        "&amp;",
    ],
)
def test_time_grows_with_the_text(unit: str) -> None:
    linear(HEAD, unit, GREEN, "rspec-html")
