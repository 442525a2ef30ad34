"""Failures of mocha's doc reporter in a brief."""

from brief_lines import brief_lines

from context_firewall.documents.brief.html_report import html_told

NAME = '    <dt class="error">{}</dt>\n    <dt class="error">/srv/quay.js</dt>\n'
CODE = '    <dd class="error"><pre><code>moor()\n\ntie()</code></pre></dd>\n'
MESSAGE = '    <dd class="error">{}</dd>\n'


def test_what_a_failure_says_without_markup() -> None:
    """BRIEF-3"""
    text = (
        NAME.format("moors &#x3C;fast&#x3E;")
        + CODE
        + MESSAGE.format("Error: 3 &#x3C; 2\n  &#x26; more\n\n&#x1B;[1mend")
    )
    assert brief_lines(text)[1:5] == ["1) moors <fast> [stdout:1-9]", "| /srv/quay.js", "| Error: 3 < 2", "|   & more"]
    assert brief_lines(text)[5:9] == [
        "|",
        "| end",
        "~ 3 lines of context, not shown",
        "~ 1 region of mocha's HTML, decoded",
    ]


def test_a_reference_that_means_a_line_end() -> None:
    """BRIEF-2: it ends no line of the brief's."""
    lines = brief_lines(NAME.format("drifts") + CODE + MESSAGE.format("Error: a&#xA;1) forged&#x2028;2) more"))
    assert lines[1:5] == ["1) drifts [stdout:1-6]", "| /srv/quay.js", "| Error: a", "| 1) forged\\u20282) more"]


def test_what_a_test_printed_before() -> None:
    """BRIEF-3: what stands before mocha's own text is shown."""
    text = "wind 7" + NAME.format("drifts") + CODE + MESSAGE.format("Error: away")
    assert brief_lines(text)[2:5] == ["| wind 7", "| /srv/quay.js", "| Error: away"]


def test_a_failure_of_another_runner() -> None:
    """BRIEF-3: markup in its text stays."""
    term = {"text": '<dt class="error">a</dt>', "category": "failed_test"}
    other = {"text": '  <dt class="error">"b"', "category": "failure_detail"}
    context = {"text": '<dt class="error">a</dt>', "category": "failure_context"}
    for failure in (
        {"identity": "a", "header": term, "details": [other]},
        {"identity": "a", "header": term, "details": []},
        {"identity": "a", "header": other, "details": [term]},
        {"identity": "a", "header": term, "details": [context]},
        {"identity": "a", "header": {"line": 1}, "details": [term]},
        {"identity": "a", "header": None},
    ):
        assert html_told([failure], "failure_context") == {}
