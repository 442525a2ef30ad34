"""Declared noise: the form of rules, what they take, what they never take, and proposals."""

from collections.abc import Sequence
from typing import Any

import pytest

from context_firewall import (
    NoiseRule,
    configuration_identity,
    reduce_streams,
    reduce_test_run,
    reduce_with_value_receipt,
)
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.test_run_input import PROTOCOL
from context_firewall.errors import InvalidInput
from context_firewall.reduction.pipeline import SourceStream
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line
from context_firewall.transcript.noise import declared_keys, parse_noise, suggest_noise

GREEN = "TAP version 13\nok 1 - a\n1..1\n# tests 1\n# pass 1\n# fail 0\n# skipped 0\n"


def packet(out: str = GREEN, err: str = "", *, exit_code: int = 0, noise: Any = (), **options: Any) -> EvidencePacket:
    """The packet of a run that is described completely."""
    streams = [SourceStream(n, len(t.encode()), [t.encode()]) for n, t in (("stdout", out), ("stderr", err))]
    return reduce_streams(
        streams,
        operation_id="op",
        source_id="suite",
        run_id="run",
        raw_evidence_ref="file:x",
        exit_code=exit_code,
        noise=noise,
        **options,
    )


def reasons(made: EvidencePacket) -> list[str]:
    return made["decision_evidence"]["reason_codes"]


def noise_count(made: EvidencePacket) -> int:
    return made["receipt"]["suppressed"]["categories"].get("declared_noise", 0)


# -- rules


@pytest.mark.parametrize(
    ("declared", "key"),
    [
        ("DEBUG", "noise"),
        ({"prefix": "x"}, "noise"),
        ([1], "noise[0]"),
        (["x", {}], "noise[1]"),
        ([{"prefix": "x", "regex": "y"}], "noise[0]"),
        ([{"prefix": "x", "sream": "stderr"}], "noise[0].sream"),
        ([{"prefix": 1}], "noise[0].prefix"),
        ([{"prefix": "x", "stream": "stdin"}], "noise[0].stream"),
        ([""], "noise[0].prefix"),
        (["a\nb"], "noise[0].prefix"),
        (["\x1b[31mred"], "noise[0].prefix"),
        (["\ud800"], "noise[0].prefix"),
        ([{"regex": "(a"}], "noise[0].regex"),
        ([{"regex": ".*"}], "noise[0].regex"),
    ],
)
def test_what_is_no_rule_is_refused_by_name(declared: Any, key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_noise(declared)
    assert caught.value.details["key"] == key
    assert str(caught.value).startswith(key)


def test_a_rule_by_itself_is_checked_too() -> None:
    for keys in ({}, {"prefix": "a", "regex": "b"}, {"prefix": ""}, {"regex": "a?"}, {"prefix": "a", "stream": "x"}):
        with pytest.raises(InvalidInput):
            NoiseRule(**keys)
    with pytest.raises(InvalidInput):
        NoiseRule(prefix=1)  # type: ignore[arg-type]


def test_the_canonical_form_forgets_order_spelling_and_repetition() -> None:
    one = parse_noise(["b", {"regex": "a.*b"}, {"prefix": "b"}, {"prefix": "b", "stream": "stderr"}])
    other = parse_noise([NoiseRule(prefix="b", stream="stderr"), NoiseRule(regex="a.*b"), NoiseRule(prefix="b")])
    assert one == other
    assert declared_keys(one) == [{"regex": "a.*b"}, {"prefix": "b"}, {"prefix": "b", "stream": "stderr"}]


# -- in force


def test_declared_lines_are_counted_and_the_run_suffices() -> None:
    out = "DEBUG up\n" + GREEN + "DEBUG down\r\n\x1b[2mDEBUG off\x1b[0m\n"
    assert reasons(packet(out)) == ["UNCLASSIFIED_EVIDENCE"]
    made = packet(out, noise=["DEBUG "])
    assert reasons(made) == []
    assert made["decision_evidence"]["disposition"] == "SUFFICIENT"
    assert noise_count(made) == 3
    assert not made["receipt"]["unclassified_evidence_present"]
    assert noise_count(packet(out, noise=[{"regex": "DEBUG (up|down|off)"}])) == 3


def test_what_is_left_still_escalates() -> None:
    made = packet(GREEN + "DEBUG x\nwhat is this\n", noise=["DEBUG"])
    assert reasons(made) == ["UNCLASSIFIED_EVIDENCE"]
    assert [line["line"] for line in made["decision_evidence"]["unclassified_evidence"]] == [9]


def test_a_rule_may_be_for_one_stream() -> None:
    rule = {"prefix": "DEBUG", "stream": "stderr"}
    assert noise_count(packet(GREEN + "DEBUG a\n", "DEBUG b\nDEBUG c\n", noise=[rule])) == 2


@pytest.mark.parametrize(
    "report",
    [
        "✔ a (1ms)\nDEBUG x\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\n"
        "ℹ duration_ms 3\n",
        "....\nDEBUG x\n",
        "DEBUG x\n=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.002s\n",
        f"{' test session starts ':=^80}\nplatform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0\n"
        f"rootdir: /srv\ncollected 1 item\n\n{'test_a.py .':<73} [100%]\n\n{' 1 passed in 0.02s ':=^80}\nDEBUG x\n",
    ],
)
def test_noise_in_the_middle_of_a_report(report: str) -> None:
    assert "UNCLASSIFIED_EVIDENCE" in reasons(packet(report))
    made = packet(report, noise=["DEBUG"])
    assert "UNCLASSIFIED_EVIDENCE" not in reasons(made)
    assert noise_count(made) == 1


@pytest.mark.parametrize(
    "line", ["FATAL: x", "TIMEOUT: x", "WARNING: x", "UNCAUGHT: x", "# pass 1", "1..1", "ok 2 - x"]
)
def test_what_other_rules_know_is_not_taken(line: str) -> None:
    out = GREEN + line + "\n"
    plain, declared = packet(out), packet(out, noise=[line[:3]])
    assert plain["decision_evidence"] == declared["decision_evidence"]
    assert noise_count(declared) == 0


def test_a_failures_region_is_not_taken() -> None:
    out = "TAP version 13\nnot ok 1 - a\n  ---\n  message: DEBUG\n  ...\n1..1\n"
    rules = ["  -", "  message", "not ok", "  ."]
    assert packet(out, exit_code=1)["decision_evidence"] == packet(out, exit_code=1, noise=rules)["decision_evidence"]


def test_contested_results_keep_everything_beside_them() -> None:
    out = "TAP version 13\nok 1 - a\nnot ok 7 - b\n  message: what\n1..1\n"
    plain = packet(out)
    assert "contested_test" in plain["receipt"]["retained"]["categories"]
    declared = packet(out, noise=["  message", "not ok", "  "])
    assert plain["decision_evidence"] == declared["decision_evidence"]


def test_a_stream_of_two_dialects_keeps_everything() -> None:
    out = "TAP version 13\nok 1 - a\n✖ b (1ms)\n  Error: x\n1..2\n"
    plain = packet(out, exit_code=1)
    assert "AMBIGUOUS_DIALECT" in reasons(plain)
    declared = packet(out, exit_code=1, noise=["✖", "  Error", "ok", "TAP"])
    assert plain["decision_evidence"] == declared["decision_evidence"]


CRASH = "/srv/a.js:3\nthrow new Error('x')\n^\n\nError: x\n    at a (/srv/a.js:3:1)\n"


def test_the_only_account_of_a_failed_process_is_kept_whole() -> None:
    plain = packet("", "DEBUG up\n" + CRASH, exit_code=1)
    declared = packet("", "DEBUG up\n" + CRASH, exit_code=1, noise=["DEBUG", "Error", "/srv"])
    assert len(plain["decision_evidence"]["failures"]) == 1
    assert plain["decision_evidence"] == declared["decision_evidence"]


def test_a_failed_process_is_found_below_declared_noise() -> None:
    err = "DEBUG tick\n" * 500 + CRASH
    assert packet("", err, exit_code=1)["decision_evidence"]["failures"] == []
    made = packet("", err, exit_code=1, noise=["DEBUG"])
    assert [failure["identity"] for failure in made["decision_evidence"]["failures"]] == ["/srv/a.js:3 Error: x"]
    assert noise_count(made) == 500


# -- receipts and doors


def test_the_declaration_is_in_the_identity_and_nowhere_else() -> None:
    plain, declared = packet(), packet(noise=["never seen"])
    assert plain["decision_evidence"] == declared["decision_evidence"]
    one = plain["receipt"]["configuration"].pop("identity")  # type: ignore[misc]
    other = declared["receipt"]["configuration"].pop("identity")  # type: ignore[misc]
    assert one != other
    assert plain == declared
    assert one == configuration_identity()
    assert other == configuration_identity(noise=[{"prefix": "never seen"}])


def test_v2_refuses_noise() -> None:
    for call in (packet, configuration_identity):
        with pytest.raises(InvalidInput) as caught:
            call(noise=["x"], policy="test-output-policy/v2")
        assert caught.value.details["key"] == "noise"
    packet(noise=[], policy="test-output-policy/v2")


def test_envelopes_take_noise_too() -> None:
    envelope = {
        "protocol_version": PROTOCOL,
        "operation_id": "op",
        "source": {"id": "suite", "run_id": "run", "raw_evidence_ref": "file:x"},
        "process": {"exit_code": 0, "duration_ms": None, "interrupted": False},
        "streams": [{"name": "stdout", "data": GREEN + "DEBUG\n"}],
    }
    made = reduce_test_run(envelope, noise=["DEBUG"])
    assert noise_count(made) == 1
    assert reduce_with_value_receipt(envelope, noise=["DEBUG"])["packet"] == made


# -- proposals


def lines(*texts: str, kind: Kind = Kind.UNCLASSIFIED) -> list[Line]:
    return [Line("stdout", number, kind, text.encode()) for number, text in enumerate(texts, 1)]


def proposed(texts: Sequence[str], others: Sequence[str] = ()) -> list[tuple[str, int]]:
    found = suggest_noise(lines(*texts), lines(*others, kind=Kind.ABNORMAL_WARNING))
    assert all(sum(one.rule.matches(text.encode(), "stdout") for text in texts) == one.line_count for one in found)
    assert not any(one.rule.matches(text.encode(), "stdout") for one in found for text in others)
    return [(one.rule.prefix or one.rule.regex or "", one.line_count) for one in found]


def test_proposals_go_as_far_as_the_words_do() -> None:
    assert proposed(["DEBUG connected to a", "DEBUG connected to b", "DEBUG connected to c"]) == [
        ("DEBUG connected to ", 3)
    ]
    assert proposed([f"worker-{n} is up" for n in range(4)]) == [("worker-", 4)]
    assert proposed(["ready"] * 3) == [("ready", 3)]


def test_proposals_for_stamped_lines_are_patterns() -> None:
    assert proposed([f"2031-04-0{n} 10:00:0{n} INFO tick {n} [x]" for n in range(1, 6)]) == [
        ("[0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+:[0-9]+ INFO tick .*", 5)
    ]
    assert proposed([f"[{n}] (GET) /{n}" for n in range(5)]) == [(r"\[[0-9]+\] \(GET\) /.*", 5)]


def test_no_proposal_takes_another_line_or_too_few() -> None:
    assert proposed(["DEBUG a", "DEBUG b"]) == []
    assert proposed(["WARN a", "WARN b", "WARN c"], ["WARN: disk full"]) == [("WARN ", 3)]
    assert proposed(["disk is a", "disk is b", "disk was c"], ["disk full"]) == []
    assert proposed(["disk is a", "disk is b", "disk is c", "disk was"], ["disk full"]) == [("disk is ", 3)]
    assert proposed(["- a", "- b", "- c", "", "  ", " "]) == []


def test_proposals_do_not_depend_on_order_and_come_largest_first() -> None:
    texts = [f"a-{n} x" for n in range(3)] + [f"GET /{n}" for n in range(7)] + ["same line"] * 5
    assert proposed(texts) == proposed(texts[::-1]) == [("GET /", 7), ("same line", 5)]
    texts = [text.replace("a-", "abc-") for text in texts]
    assert proposed(texts) == [("GET /", 7), ("same line", 5), ("abc-", 3)]


def test_proposals_for_odd_lines() -> None:
    odd = [
        Line("stdout", n, Kind.UNCLASSIFIED, raw)
        for n, raw in enumerate([b"\xff\xfe"] * 3 + [b"word " * 200_000] * 3, 1)
    ]
    found = suggest_noise(odd)
    assert [one.line_count for one in found] == [3]
    assert len(found[0].rule.prefix or "") <= 200
