"""mocha's markdown reporter: it names what has passed, and nothing else."""

import random

import pytest

from context_firewall import SourceStream, reduce_streams
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import read_streams, trace_streams

ALWAYS = {Doubt.COMPLETENESS_UNCONFIRMED, Doubt.COUNTS_UNCONFIRMED, Doubt.ERRORS_UNREPORTABLE}


def passed(name: str, code: str = "fire()") -> str:
    return f"{name}.\n\n```js\n{code}\n```\n\n"


CONTENTS = "# TOC\n   - [kiln](#kiln)\n     - [door](#kiln-door)\n"
REPORT = (
    CONTENTS
    + '<a name=""></a>\n \n'
    + passed("lights")
    + '<a name="kiln"></a>\n# kiln\n'
    + passed("warms", "")
    + passed("cools", "a()\n\nb()")
    + '<a name="kiln-door"></a>\n## door\n'
    + passed("shuts")
)


def read(text: str, exit_code: int | None = 0) -> Transcript:
    return read_streams([("stdout", [text.encode()])], exit_code=exit_code)


def left(transcript: Transcript) -> list[str]:
    return [line.text for line in transcript.unclassified]


def test_a_report_proves_nothing() -> None:
    """MOCHA-11"""
    found = read(REPORT)
    assert found.tally.passed == found.tally.total == 4
    assert found.doubts == ALWAYS
    assert not found.unclassified
    assert found.suppressed[Kind.STRUCTURE] == 9
    data = REPORT.encode()
    for text, exit_code in ((data, 0), (data, None), (data[:90], 0), (data[:-60], 0), (data, 3)):
        packet = reduce_streams(
            [SourceStream("stdout", len(text), [text])],
            exit_code=exit_code,
            operation_id="o",
            source_id="s",
            raw_evidence_ref="file:r",
        )
        assert packet["decision_evidence"]["disposition"] != "SUFFICIENT"
        assert packet["decision_evidence"]["status"] == ("failed" if exit_code else "indeterminate")


def test_a_fence_in_the_code() -> None:
    """MOCHA-11: one without an empty line behind it ends nothing."""
    code = "a = `\n```\n```js\n```\n`"
    found = read(CONTENTS + '<a name=""></a>\n \n' + passed("lights", code) + passed("shuts"))
    assert found.tally.passed == 2
    assert not found.unclassified


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (REPORT.replace("warms.\n\n", "warms.\n"), ["warms.", "```js", "", "```"]),
        (REPORT.replace("warms.", "all\nwarms."), ["all"]),
        (REPORT.replace("# kiln\n", "kiln\n"), ["kiln"]),
        (REPORT.replace("# TOC\n", "# TOC\n# TOC\n", 1), ["# TOC"]),
        (REPORT.replace("[kiln]", "[kiln\nlarge]"), ["   - [kiln", "large](#kiln)"]),
        (REPORT + "3 cats\n", ["3 cats"]),
        (REPORT + "the end.\n", ["the end."]),
        ("# TOC\n\n1. Cups\n2. Bowls\n", ["# TOC", "1. Cups", "2. Bowls"]),
        ("# TOC\n - [Cups](#cups)\n\nText.\n", ["# TOC", " - [Cups](#cups)", "Text."]),
    ],
)
def test_what_is_not_of_the_report(text: str, kept: list[str]) -> None:
    """MOCHA-11"""
    assert left(read(text)) == [line for line in kept if line] or left(read(text)) == kept
    assert Doubt.UNCLASSIFIED_EVIDENCE in read(text).doubts or not read(text).has_results


def test_contents_without_tests() -> None:
    """MOCHA-11: they prove no report, and hide none."""
    assert read(CONTENTS + '<a name=""></a>\n \n').doubts == {Doubt.NO_TEST_EVIDENCE}
    found = read("# TOC\nTAP version 13\n1..1\nok 1 - cools\n")
    assert found.tally.passed == 1
    assert not found.doubts


def test_another_report_behind_it() -> None:
    """MOCHA-11: it is not hidden."""
    found = read(REPORT + "TAP version 13\nnot ok 1 - cracks\n1..1\n", 1)
    assert [failure.identity for failure in found.failures] == ["cracks"]
    assert Doubt.AMBIGUOUS_DIALECT in found.doubts


def test_every_line_is_accounted_for_once() -> None:
    """P3"""
    rng = random.Random(4)  # noqa: S311 - a repeatable choice, no secret
    for _ in range(60):
        lines = REPORT.splitlines(keepends=True)
        for _ in range(rng.randrange(6)):
            at = rng.randrange(len(lines))
            lines[at : at + rng.randrange(3)] = rng.choices([*lines, "x\n", "WARNING: y\n"], k=rng.randrange(3))
        data = "".join(lines).encode()
        whole = read_streams([("stdout", [data])], exit_code=1)
        one_by_one = read_streams([("stdout", [data[i : i + 1] for i in range(len(data))])], exit_code=1)
        traced, traces = trace_streams([("stdout", [data])], exit_code=1)
        assert whole == one_by_one == traced
        assert whole.event_count == data.count(b"\n") == len(traces)
