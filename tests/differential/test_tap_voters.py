"""tap.py as a second opinion: where it says that a run failed, ours never says that it passed and that this suffices.

The other way round there is no claim: it reads `okay` as a pass and never checks numbers. Where it fails a run that
the specification lets pass, the case is listed with the reason.
"""

import contextlib
import io
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tap.parser import Parser

from context_firewall import SourceStream, reduce_streams

LINES = [
    "TAP version 13",
    "1..1",
    "1..2",
    "1..3",
    "ok 1 - tea",
    "ok 2 - cup",
    "ok 3 - pot",
    "ok - plate",
    "not ok 1 - tea",
    "not ok 2 - cup",
    "not ok - plate",
    "not ok 2 - cup #skip",
    "not ok 2 - cup \\# SKIP",
    "ok 2 - cup # SKIP cold",
    "Bail out! no water",
    "# a remark",
    "1..0 # SKIP no tea",
]


def voted_failed(text: str) -> bool:
    """Whether tap.py finds what fails a run: a refusal without excuse, a bail-out, a plan that is not met."""
    plans, points, failed = [], 0, False
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in Parser().parse_text(text):
            if line.category == "test":
                points += 1
                failed |= not line.ok and not line.skip and not line.todo
            elif line.category == "plan":
                plans.append(line.expected_tests)
            elif line.category == "bail":
                failed = True
    return failed or len(plans) != 1 or plans[0] != points


def passed(text: str) -> bool:
    """Whether ours says passed, and that the packet suffices."""
    data = text.encode()
    evidence = reduce_streams(
        [SourceStream("stdout", len(data), [data])],
        operation_id="op",
        source_id="suite",
        raw_evidence_ref="ref",
        exit_code=0,
    )["decision_evidence"]
    return (evidence["status"], evidence["disposition"]) == ("passed", "SUFFICIENT")


CASES = [
    "1..2\nok 1 - tea\nnot ok 2 - cup\n",
    "1..2\nok 1 - tea\n",
    "1..1\nok 1 - tea\nok 2 - cup\n",
    "ok 1 - tea\n",
    "Bail out!\n",
    "1..1\nok 1 - tea\nBail out! late\n",
    "",
    "nothing of note\n",
    "ok 1 - tea\n1..1\nnot ok 2 - late\n",
    "1..2\nok 1 - tea\n1..2\nok 2 - cup\n",
]


@pytest.mark.parametrize("text", CASES)
def test_what_it_fails_never_passes(text: str) -> None:
    assert voted_failed(text)
    assert not passed(text)


@pytest.mark.parametrize("text", ["1..1\nok 1 - tea\n", "ok 1 - a\nok 2 - b\n1..2\n", "1..2\nok 1\nok 2 # SKIP cold\n"])
def test_what_both_pass(text: str) -> None:
    assert not voted_failed(text)
    assert passed(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1..1\nok 1 - tea\n1..1\nok 1 - cup\n", "two documents, each complete"),
        ("TAP version 13\n1..1\nok 1 - tea\nTAP version 13\n1..1\nok 1 - cup\n", "two documents with versions"),
    ],
)
def test_where_it_knows_less(text: str, reason: str) -> None:
    assert voted_failed(text), reason
    assert passed(text), reason


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from(LINES), max_size=7))
def test_no_stream_passes_that_it_fails(lines: list[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    several = sum(line.startswith("1..") for line in lines) > 1
    if voted_failed(text) and not several:
        assert not passed(text)
