"""What a declaration of noise can never do, whatever is declared."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall import SourceStream, reduce_streams
from context_firewall.documents.evidence_packet import EvidencePacket

LINES = st.sampled_from(
    [
        "TAP version 13",
        "ok 1 - a",
        "ok 2 - b",
        "not ok 2 - b",
        "not ok 9 - z",
        "not ok 3 - c # TODO",
        "  ---",
        "  message: DEBUG m",
        "  ...",
        "1..2",
        "# tests 2",
        "# pass 2",
        "# fail 1",
        "✔ e (1ms)",
        "✖ f (1ms)",
        "▶ g",
        "ℹ tests 1",
        "FATAL: x",
        "TIMEOUT: y",
        "WARNING: z",
        "DEBUG up",
        "debug 12",
        "..X",
        "",
        "/srv/a.js:3",
        "throw x",
        "^",
        "Error: x",
        "    at a (/srv/a.js:3:1)",
        "(node:12) [DEP0040] DeprecationWarning: old",
        "(Use `node --trace-deprecation ...` to show where the warning was created)",
        "npm notice",
        "make: *** [Makefile:2: test] Error 1",
    ]
)
OUTPUTS = st.lists(LINES, max_size=14).map(lambda lines: "".join(line + "\n" for line in lines).encode())
RULES = st.lists(
    st.one_of(
        st.sampled_from(["DEBUG", "d", "n", "not ok", " ", "F", "W", "✖", "E", "/srv", "throw", "^", "o", "T"]),
        st.sampled_from(["(", "(node", "npm", "make"]),
        st.sampled_from([{"regex": r"[A-Z]+.*"}, {"regex": r" +.*"}, {"regex": "[^x]+x?"}]),
        st.sampled_from([{"prefix": "D", "stream": "stderr"}, {"regex": r"(not )?ok .*", "stream": "stdout"}]),
    ),
    max_size=6,
)


def reduced(out: bytes, err: bytes, exit_code: int | None, noise: Any = ()) -> EvidencePacket:
    """The packet of a run that is described completely."""
    return reduce_streams(
        [SourceStream("stdout", len(out), [out]), SourceStream("stderr", len(err), [err])],
        operation_id="op",
        source_id="suite",
        run_id="run",
        raw_evidence_ref="file:x",
        exit_code=exit_code,
        noise=noise,
    )


@settings(max_examples=400, deadline=None)
@given(out=OUTPUTS, err=OUTPUTS, exit_code=st.sampled_from([0, 1, None]), noise=RULES)
def test_noise_takes_unclassified_lines_only(out: bytes, err: bytes, exit_code: int | None, noise: Any) -> None:
    plain, declared = reduced(out, err, exit_code), reduced(out, err, exit_code, noise)
    before, after = plain["decision_evidence"], declared["decision_evidence"]

    assert {"failed": after["status"] == "failed"} == {"failed": before["status"] == "failed"}
    assert after["counts"]["passed"] == before["counts"]["passed"]
    for key in ("fatal_errors", "timeouts", "warnings"):
        assert after[key] == before[key]
    assert after.get("todo") == before.get("todo")

    # A failure may be found in what noise has buried; none is lost, and none loses a line.
    assert [failure for failure in before["failures"] if failure not in after["failures"]] == []
    gone = [line for line in before["unclassified_evidence"] if line not in after["unclassified_evidence"]]
    found = [failure for failure in after["failures"] if failure not in before["failures"]]
    assert all(line["category"] == "unclassified" for line in gone)
    taken = declared["receipt"]["suppressed"]["categories"].get("declared_noise", 0)
    assert len(gone) == taken + sum(len(failure.get("details", ())) + 1 for failure in found)
    assert [line for line in after["unclassified_evidence"] if line not in before["unclassified_evidence"]] == []

    # The only doubts that may go are that lines are unclassified, or that a failing exit is unexplained;
    # where a failure was found, also that nothing was recognised, or that more tests failed than there are failures.
    went = set(before["reason_codes"]) - set(after["reason_codes"])
    explained = {"NO_TEST_EVIDENCE", "FAILURES_UNNAMED"} if found else set()
    assert went <= {"UNCLASSIFIED_EVIDENCE", "NONZERO_EXIT_WITHOUT_RECOGNIZED_FAILURE"} | explained
    if after["disposition"] == "SUFFICIENT":
        assert set(before["reason_codes"]) <= {"UNCLASSIFIED_EVIDENCE"}
    for made in (plain, declared):
        receipt = made["receipt"]
        total = receipt["retained"]["event_count"] + receipt["suppressed"]["event_count"]
        assert total == receipt["measurements"]["original_event_count"]
