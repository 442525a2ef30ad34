"""The envelope: what it says, and everything that it may not look like."""

import base64
import json
from typing import Any

import pytest

from context_firewall.documents.test_run_input import PROTOCOL, parse_test_run_input
from context_firewall.errors import InvalidInput


def envelope(**changes: Any) -> dict[str, Any]:
    """A sound envelope with some of its top-level keys replaced."""
    return {
        "protocol_version": PROTOCOL,
        "operation_id": "build-7",
        "source": {"id": "unit", "run_id": "r7", "raw_evidence_ref": "file:///tmp/r7"},
        "process": {"exit_code": 0, "duration_ms": 3.5, "interrupted": False},
        "streams": [{"name": "stdout", "data": "1..0\n"}],
        **changes,
    }


def process(**changes: Any) -> dict[str, Any]:
    """A sound process with some keys replaced."""
    return {"exit_code": 0, "duration_ms": 1, "interrupted": False, **changes}


def stream(**changes: Any) -> list[dict[str, Any]]:
    """One sound stream with some keys replaced."""
    return [{"name": "stdout", "encoding": "utf8", "data": "", **changes}]


def test_a_sound_envelope() -> None:
    run = parse_test_run_input(envelope())
    assert (run.operation_id, run.source_id, run.run_id) == ("build-7", "unit", "r7")
    assert run.raw_evidence_ref == "file:///tmp/r7"
    assert (run.process.exit_code, run.process.duration_ms, run.process.interrupted) == (0, 3.5, False)
    assert [(s.name, s.data) for s in run.streams] == [("stdout", b"1..0\n")]


def test_mapping_text_and_bytes_say_the_same() -> None:
    given = envelope(streams=[{"name": "stdout", "data": "✔ é\n"}])
    text = json.dumps(given, ensure_ascii=False)
    assert parse_test_run_input(given) == parse_test_run_input(text) == parse_test_run_input(text.encode())


def test_stdout_comes_first_whatever_the_order() -> None:
    given = envelope(streams=[{"name": "stderr", "data": "e"}, {"name": "stdout", "data": "o"}])
    assert [s.name for s in parse_test_run_input(given).streams] == ["stdout", "stderr"]


@pytest.mark.parametrize("absent", [None, "", "missing"])
def test_absent_and_empty_identities_are_none(absent: str | None) -> None:
    source = {"id": absent, "run_id": absent, "raw_evidence_ref": absent} if absent != "missing" else {}
    run = parse_test_run_input(envelope(operation_id=absent if absent != "missing" else None, source=source))
    assert (run.operation_id, run.source_id, run.run_id, run.raw_evidence_ref) == (None, None, None, None)


def test_a_missing_source_is_a_source_without_identities() -> None:
    given = envelope()
    del given["source"]
    del given["operation_id"]
    assert parse_test_run_input(given).source_id is None


def test_what_a_process_need_not_say() -> None:
    found = parse_test_run_input(envelope(process={})).process
    assert (found.exit_code, found.duration_ms, found.interrupted) == (None, None, False)


def test_a_run_that_ran_out_of_time_was_interrupted() -> None:
    found = parse_test_run_input(envelope(process=process(timed_out=True))).process
    assert (found.interrupted, found.timed_out) == (True, True)
    assert not parse_test_run_input(envelope(process=process(interrupted=True))).process.timed_out
    with pytest.raises(InvalidInput) as refusal:
        parse_test_run_input(envelope(process=process(timed_out="yes")))
    assert refusal.value.details["key"] == "process.timed_out"


def test_unknown_keys_are_ignored() -> None:
    extra = {"whatever": {"deep": [1, "x", None, True]}}
    assert parse_test_run_input(envelope(**extra)) == parse_test_run_input(envelope())


def test_a_whole_float_is_an_integer() -> None:
    code = parse_test_run_input(envelope(process=process(exit_code=1.0))).process.exit_code
    assert code == 1
    assert isinstance(code, int)


def test_base64_gives_exact_bytes() -> None:
    data = bytes(range(256))
    given = envelope(streams=stream(encoding="base64", data=base64.b64encode(data).decode()))
    assert parse_test_run_input(given).streams[0].data == data


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("protocol_version", {"protocol_version": PROTOCOL + "2"}),
    ("protocol_version", {"protocol_version": None}),
    ("operation_id", {"operation_id": 5}),
    ("operation_id", {"operation_id": "\ud800"}),
    ("source", {"source": []}),
    ("source.id", {"source": {"id": True}}),
    ("source.run_id", {"source": {"run_id": ["r"]}}),
    ("source.raw_evidence_ref", {"source": {"raw_evidence_ref": {}}}),
    ("process", {"process": None}),
    ("process.exit_code", {"process": process(exit_code=True)}),
    ("process.exit_code", {"process": process(exit_code=256)}),
    ("process.exit_code", {"process": process(exit_code=-1)}),
    ("process.exit_code", {"process": process(exit_code=1.5)}),
    ("process.exit_code", {"process": process(exit_code="0")}),
    ("process.duration_ms", {"process": process(duration_ms=-0.5)}),
    ("process.duration_ms", {"process": process(duration_ms=float("nan"))}),
    ("process.duration_ms", {"process": process(duration_ms=float("inf"))}),
    ("process.duration_ms", {"process": process(duration_ms=False)}),
    ("process.duration_ms", {"process": process(duration_ms=2**53)}),
    ("process.interrupted", {"process": process(interrupted=0)}),
    ("process.interrupted", {"process": process(interrupted=None)}),
    ("streams", {"streams": []}),
    ("streams", {"streams": "stdout"}),
    ("streams", {"streams": stream() * 3}),
    ("streams.0", {"streams": ["stdout"]}),
    ("streams.0.name", {"streams": stream(name="stdin")}),
    ("streams.0.name", {"streams": stream(name=None)}),
    ("streams.1.name", {"streams": stream() * 2}),
    ("streams.0.encoding", {"streams": stream(encoding="latin1")}),
    ("streams.0.encoding", {"streams": stream(encoding=None)}),
    ("streams.0.data", {"streams": stream(data=b"bytes")}),
    ("streams.0.data", {"streams": stream(data="lone \udfff")}),
    ("extra.0", {"extra": [2**53]}),
    ("extra.k", {"extra": {"k": float("-inf")}}),
    ("extra", {"extra": {"\ud800": 1}}),
]


@pytest.mark.parametrize(("key", "changes"), REFUSED)
def test_a_refusal_names_the_place(key: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_test_run_input(envelope(**changes))
    assert refusal.value.details["key"] == key


@pytest.mark.parametrize(
    "data", ["QQ", "QQ=", "Q===", "QQ==QQ==", "QQ==\n", "QQ-_", " QUJD", "QUJ\u00e9", "=", "QUJD="]
)
def test_base64_is_strict(data: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_test_run_input(envelope(streams=stream(encoding="base64", data=data)))
    assert refusal.value.details["key"] == "streams.0.data"


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ('"operation_id": "build-7"', '"operation_id": "a", "operation_id": "b"', "operation_id"),
        ('"exit_code": 0', '"exit_code": 1, "exit_code": 0', "process.exit_code"),
        ('"name": "stdout"', '"name": "stderr", "name": "stdout"', "streams.0.name"),
        ('"exit_code": 0', '"exit_code": 0, "x": {"a": 1, "a": 1}', "process.x.a"),
        ('"duration_ms": 3.5', '"duration_ms": NaN', "process.duration_ms"),
        ('"duration_ms": 3.5', '"duration_ms": Infinity', "process.duration_ms"),
        ('"duration_ms": 3.5', '"duration_ms": 1e999', "process.duration_ms"),
        ('"duration_ms": 3.5', '"duration_ms": 9007199254740992', "process.duration_ms"),
        ('"duration_ms": 3.5', '"duration_ms": ' + "9" * 6000, "process.duration_ms"),
        ('"build-7"', '"\\ud83d"', "operation_id"),
        ('"build-7"', "[" * 101 + "]" * 101, "operation_id" + ".0" * 99),
        ('"build-7"', "[" * 200_000 + "]" * 200_000, ""),
        ('"build-7"', "'build-7'", ""),
        ('"build-7"', '"tab\there"', ""),
    ],
)
def test_ambiguous_text_is_refused(before: str, after: str, key: str) -> None:
    text = json.dumps(envelope())
    assert before in text
    with pytest.raises(InvalidInput) as refusal:
        parse_test_run_input(text.replace(before, after))
    assert refusal.value.details["key"] == key


@pytest.mark.parametrize("text", [b"\xff{}", b"\xef\xbb\xbf{}", b"", b"[]", "[]", "null", '"text"', "{} {}"])
def test_what_is_no_envelope_at_all(text: str | bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_test_run_input(text)


def test_large_durations_are_numbers_like_any_other() -> None:
    run = parse_test_run_input(json.dumps(envelope()).replace("3.5", "1e16"))
    assert run.process.duration_ms == 1e16
