"""mocha's doc reporter: its parts, and what must not be taken for them."""

import random

import pytest

from context_firewall import SourceStream, reduce_streams
from context_firewall.transcript.dialects.mocha_doc import DIALECT
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.reader import read_streams, trace_streams

FILE = "/srv/kiln.test.js"
ALWAYS = {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.COUNTS_UNCONFIRMED}


def passed(name: str, depth: int = 0, code: str = "fire()") -> str:
    margin = " " * (4 + 4 * depth)
    terms = "".join(f"{margin}<dt>{text}</dt>\n" for text in (name, FILE))
    return f"{terms}{margin}<dd><pre><code>{code}</code></pre></dd>\n"


def failed(name: str, depth: int = 0, message: str = "Error: cold", code: str = "fire()") -> str:
    margin = " " * (4 + 4 * depth)
    terms = "".join(f'{margin}<dt class="error">{text}</dt>\n' for text in (name, FILE))
    code = f'{margin}<dd class="error"><pre><code>{code}</code></pre></dd>\n'
    return f'{terms}{code}{margin}<dd class="error">{message}</dd>\n'


def suite(title: str, *inside: str, depth: int = 0) -> str:
    margin = " " * (4 + 4 * depth)
    head = f'{margin}<section class="suite">\n{margin}  <h1>{title}</h1>\n{margin}  <dl>\n'
    return head + "".join(inside) + f"{margin}  </dl>\n{margin}</section>\n"


GREEN = (
    passed("lights")
    + suite("kiln", passed("warms", 1), suite("door", passed("shuts", 2), depth=1))
    + suite("shelf", passed("holds", 1), passed("tilts", 1))
)
RED = (
    failed("cracks &#x3C;b&#x3E;")
    + passed("lights")
    + suite("kiln", failed("melts", 1, "Error: 7\n  &#x26; 8"), suite("door", failed("shuts\ntight", 2), depth=1))
    + suite("shelf", passed("holds", 1, "one()\n\ntwo()"))
)


def read(text: str, exit_code: int | None = 1) -> Transcript:
    return read_streams([("stdout", [text.encode()])], exit_code=exit_code)


def counts(transcript: Transcript) -> tuple[int, int]:
    return transcript.tally.passed, transcript.tally.failed


def identities(transcript: Transcript) -> list[str]:
    return [failure.identity for failure in transcript.failures]


def left(transcript: Transcript) -> list[str]:
    return [line.text for line in transcript.unclassified]


def proves(text: str, exit_code: int | None = 0) -> bool:
    data = text.encode()
    packet = reduce_streams(
        [SourceStream("stdout", len(data), [data])],
        exit_code=exit_code,
        operation_id="o",
        source_id="s",
        raw_evidence_ref="file:r",
    )
    evidence = packet["decision_evidence"]
    return evidence["status"] == "passed" or evidence["disposition"] == "SUFFICIENT"


def test_a_red_run() -> None:
    """MOCHA-9, MOCHA-10"""
    found = read(RED, 3)
    assert identities(found) == ["cracks <b>", "kiln melts", "kiln door shuts tight"]
    assert counts(found) == (2, 3)
    assert found.doubts == ALWAYS
    assert not found.unclassified
    details = [(line.kind, line.text.strip()) for line in found.failures[1].details]
    assert details == [
        (Kind.FAILURE_DETAIL, f'<dt class="error">{FILE}</dt>'),
        (Kind.FAILURE_CONTEXT, '<dd class="error"><pre><code>fire()</code></pre></dd>'),
        (Kind.FAILURE_MESSAGE, '<dd class="error">Error: 7'),
        (Kind.FAILURE_DETAIL, "&#x26; 8</dd>"),
    ]


def test_a_green_run_proves_nothing() -> None:
    """MOCHA-9: no totals, no end, and no word of pending tests."""
    found = read(GREEN, 0)
    assert counts(found) == (5, 0)
    assert found.doubts == ALWAYS
    assert not found.unclassified
    assert not proves(GREEN)
    assert not proves(GREEN, None)
    assert not proves(RED)


@pytest.mark.parametrize("whole", [GREEN, RED])
def test_a_run_that_is_torn_proves_nothing(whole: str) -> None:
    """MOCHA-9"""
    lines = whole.splitlines(keepends=True)
    named = set(identities(read(RED)))
    for at, line in enumerate(lines):
        for text in ("".join(lines[:at] + lines[at + 1 :]), "".join([*lines[:at], line, *lines[at:]])):
            assert not proves(text)
        cut = "".join(lines[:at])
        assert not proves(cut)
        assert set(identities(read(cut))) <= named
    for at in range(0, len(whole), 7):
        assert set(identities(read(whole[:at]))) <= named
        assert not proves(whole[:at])


def test_a_failure_that_breaks_off_is_one() -> None:
    """MOCHA-10: its name and file are known."""
    whole = failed("melts", message="Error: one\ntwo")
    assert identities(read(whole[: whole.index("two")])) == ["melts"]
    assert identities(read(whole[: whole.index("<dd")] + "    x\n")) == []
    assert identities(read(passed("lights") + whole[: whole.index("    <dd")])) == ["melts"]
    assert identities(read(passed("lights") + whole[: whole.index(FILE)])) == []


def test_a_failure_without_its_message_is_one() -> None:
    """MOCHA-9, MOCHA-10"""
    found = read(failed("melts").replace('    <dd class="error">Error: cold</dd>\n', "") + failed("cracks"))
    assert identities(found) == ["melts", "cracks"]
    assert Doubt.STRUCTURE_CONTRADICTION in found.doubts


def test_names_and_messages_with_markup() -> None:
    """MOCHA-9: they are escaped, so they end nothing."""
    text = failed("a &#x3C;/dt&#x3E; &#x1F600; &#x60;&#xD800;", message="Error: &#x3C;/dd&#x3E;\n\n    three\r\nfour")
    found = read(passed("lights") + text)
    assert identities(found) == ["a </dt> 😀 `&#xD800;"]
    assert found.doubts == ALWAYS
    assert len(found.failures[0].details) == 6


@pytest.mark.parametrize(
    "printed",
    [
        "    <dt>cold</dt>\n",
        '    <dt class="error">cold</dt>\n',
        "      <dt>cold</dt>\n        <dd>not here</dd>\n",
        "  </dl>\n</section>\n",
        "    </section>\n",
        '    <section class="suite">\n',
        '    <dt class="error">"cold"</dt>\n',
        '    <dd class="error">Error: cold</dd>\n',
        "<h1>x</h1>\n",
        "        </dl>\n      </section>\n",
        "x    <dt>cold</dt>\n",
        '    <dt class="error">cold</dt>\n    <dt class="error">colder\n',
        passed("cold").replace("    <", "      <"),
        passed("cold").replace("    <", "<"),
        passed("cold").replace("    <", "   <", 1),
        passed("cold").replace("    <", "\t\t\t\t<", 1),
        passed("cold").replace("    <", "x <", 1),
        passed("cold", 101),
    ],
)
def test_markup_that_a_test_prints(printed: str) -> None:
    """MOCHA-9: it is nobody's, and costs no failure."""
    places = ("    <dt>lights", '    <dt class="error">cracks', '        <dt class="error">melts')
    for at in map(RED.index, places):
        found = read(RED[:at] + printed + RED[at:])
        assert identities(found) == identities(read(RED))
        assert counts(found) == (2, 3)
        assert left(found) == printed.splitlines()
        assert found.doubts >= ALWAYS


def test_a_line_that_a_test_has_not_ended() -> None:
    """MOCHA-9: mocha's own stands behind it."""
    text = RED.replace("    <dt>lights", "glowing    <dt>lights").replace(
        "        <dt class", "hot        <dt class", 1
    )
    text = text.replace("      </dl>\n    </section>\n    <section", "out      </dl>\n    </section>\n    <section")
    found = read(text)
    assert identities(found) == identities(read(RED))
    assert counts(found) == (2, 3)
    assert left(found) == ["glowing    <dt>lights</dt>", "out      </dl>"]
    assert Doubt.STRUCTURE_CONTRADICTION not in found.doubts


def test_sections_that_are_lost() -> None:
    """MOCHA-9: how far in a test stands says where it is; what is around it is unknown."""
    without_head = RED.replace('    <section class="suite">\n      <h1>kiln</h1>\n      <dl>\n', "")
    found = read(without_head)
    assert identities(found) == ["cracks <b>", "melts", "door shuts tight"]
    assert Doubt.STRUCTURE_CONTRADICTION in found.doubts
    without_end = GREEN.replace("      </dl>\n    </section>\n", "", 1) + failed("cracks")
    found = read(without_end)
    assert identities(found) == ["cracks"]
    assert Doubt.STRUCTURE_CONTRADICTION in found.doubts


def test_what_opens_no_report() -> None:
    """MOCHA-9: a definition in HTML, and code with no name above it."""
    for text in (
        "    <dt>cold</dt>\n    <dd>not warm</dd>\n",
        "    <dd><pre><code>x</code></pre></dd>\n",
        "x\n    <dt>f</dt>\n\n    <dd><pre><code>x</code></pre></dd>\n",
        "x\n    <dt>f &amp; g</dt>\n    <dd><pre><code>x</code></pre></dd>\n",
        '<section class="suite">\n',
    ):
        assert not read(text).has_results
    section = read('    <section class="suite">\n      <h1>a</h1>\n      <dl>\n', 0)
    assert Doubt.NO_TEST_EVIDENCE in section.doubts
    assert not DIALECT.opens_anywhere(b"    <dd><pre><code>")


@pytest.mark.parametrize(
    ("above", "opens"),
    [(f"    <dt>{FILE}</dt>", True), (f"    <dt>{FILE}</dt>\n", False), ("    <dt>'f'</dt>", False), ("", False)],
)
def test_code_opens_a_report_below_a_file(above: str, opens: bool) -> None:
    """MOCHA-9"""
    kept = [Line("stdout", n, Kind.UNCLASSIFIED, raw.encode()) for n, raw in enumerate(above.split("\n"), 1) if raw]
    code = Line("stdout", above.count("\n") + 2, Kind.UNCLASSIFIED, b"    <dd><pre><code>a()</code></pre></dd>")
    assert DIALECT.opens_below(code.raw, code, kept, 0) is opens


def test_markers_between_tests() -> None:
    found = read(passed("lights") + "WARNING: low on wood\nTIMEOUT: later\n" + failed("melts"))
    assert [line.text for line in found.warnings] == ["WARNING: low on wood"]
    assert [line.text for line in found.timeouts] == ["TIMEOUT: later"]
    assert identities(found) == ["melts"]


def test_every_line_is_accounted_for_once() -> None:
    """P3"""
    rng = random.Random(4)  # noqa: S311 - a repeatable choice, no secret
    for _ in range(60):
        lines = (GREEN + RED).splitlines(keepends=True)
        for _ in range(rng.randrange(6)):
            at = rng.randrange(len(lines))
            lines[at : at + rng.randrange(3)] = rng.choices(
                [*lines, "x\n", "\n", "y    <dt>a</dt>\n"], k=rng.randrange(3)
            )
        data = "".join(lines).encode()
        whole = read_streams([("stdout", [data])], exit_code=1)
        one_by_one = read_streams([("stdout", [data[i : i + 1] for i in range(len(data))])], exit_code=1)
        traced, traces = trace_streams([("stdout", [data])], exit_code=1)
        assert whole == one_by_one == traced
        assert whole.event_count == data.count(b"\n") == len(traces)
