"""Envelope or raw run: a table in both directions."""

import json
from collections.abc import Iterator

import pytest
from cli_process import GREEN, RED, envelope
from hypothesis import given
from hypothesis import strategies as st

from context_firewall.cli.recognition import HEAD_BYTES, meant_as_envelope

TEXT = json.dumps(envelope())
REVERSED = json.dumps(dict(reversed(envelope().items())))
PRETTY = json.dumps(envelope(), indent=2)

ENVELOPES = {
    "compact": TEXT,
    "pretty": PRETTY,
    "streams first": REVERSED,
    "white space before": " \r\n\t" + TEXT,
    "much white space before": " " * (3 * HEAD_BYTES) + TEXT,
    "byte order mark": "\ufeff" + TEXT,
    "trailing newline": TEXT + "\n",
    "trailing data": TEXT + " x",
    "two envelopes": TEXT + "\n" + TEXT,
    "cut in the data": TEXT[: TEXT.index("opens")],
    "cut, streams first": REVERSED[: REVERSED.index("opens")],
    "another version": TEXT.replace("test-run-input/v1", "test-run-input/v2"),
    "another document": '{"decision_evidence":{},"protocol_version":"opsle.context-firewall.evidence-packet/v1"}',
    "protocol of another type": json.dumps(envelope(protocol_version=1)),
    "no protocol": json.dumps({key: value for key, value in envelope().items() if key != "protocol_version"}),
    "no streams": json.dumps({"protocol_version": envelope()["protocol_version"]}),
    "empty streams, no protocol": '{"process":{},"streams":[]}',
    "a missing comma": TEXT.replace('"op-1",', '"op-1"'),
    "a trailing comma": TEXT[:-1] + ",}",
    "a bare word": TEXT.replace('"op-1"', "undefined"),
    "a comment": "{ // the run\n" + PRETTY[1:],
    "keys without quotes": "{" + TEXT[1:].replace('"protocol_version"', "protocol_version"),
    "a printed mapping": str(envelope()),
    "a newline in a string": TEXT.replace("op-1", "op\n1"),
    "NaN": TEXT.replace(": 3", ": NaN"),
    "an escaped key": TEXT.replace("protocol_version", "protocol\\u005fversion"),
    "an unknown key first": '{"note": "' + "y" * 200_000 + '", ' + TEXT[1:],
    "deep unknown first": '{"note": ' + "[" * 500 + "]" * 500 + ", " + TEXT[1:],
    "key order of canonical JSON": json.dumps(envelope(), sort_keys=True),
    "an opening brace alone": "{",
}

RAW = {
    "nothing": "",
    "blank": " \n\n",
    "TAP": GREEN.decode(),
    "an object without a sign": "{}",
    "go test -json": '{"Time":"2020-01-01T00:00:00Z","Action":"run"}\n{"Action":"pass","Test":"TestA"}\n',
    "go test -json, cut": '{"Time":"2020-01-01T00:00:00Z","Act',
    "a json reporter": '{\n  "numTotalTests": 2,\n  "testResults": [{"name": "a", "status": "passed"}]\n}\n',
    "a log line with a protocol version": '{"level":"info","protocol_version":3,"source":"queue"}\n' + GREEN.decode(),
    "a log line with an operation": '{"level":"info","operation_id":"x","msg":"hello"}\n' + GREEN.decode(),
    "a log line with source and process": '{"source":{"ip":"::1"},"process":{"pid":1},"message":"up"}\n',
    "a probe's streams": '{"streams":[{"index":0,"codec_name":"h264"}]}',
    "an envelope quoted in a runner's line": json.dumps({"Action": "output", "Output": TEXT}) + "\n",
    "an envelope inside an object": json.dumps({"Action": "output", "Value": envelope()}) + "\n",
    "an envelope on the second line": '{"Action":"start"}\n' + TEXT,
    "an envelope after prose": "the input was:\n" + TEXT,
    "an array": "[" + TEXT + "]",
    "a brace in prose": "{ braces } begin this run\n" + GREEN.decode(),
    "a brace in prose, and the name of the protocol": "{ok} opsle.context-firewall.test-run-input/v1\n" + RED.decode(),
    "an open quote": '{"he said:\n' + GREEN.decode(),
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_meant_as_an_envelope(name: str) -> None:
    assert meant_as_envelope([ENVELOPES[name].encode()])


@pytest.mark.parametrize("name", RAW)
def test_raw(name: str) -> None:
    assert not meant_as_envelope([RAW[name].encode()])


@pytest.mark.parametrize("text", [TEXT, PRETTY, REVERSED])
def test_an_envelope_cut_anywhere_is_still_meant_as_one(text: str) -> None:
    assert all(meant_as_envelope([text[:length].encode()]) for length in range(1, len(text)))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16(encoding: str) -> None:
    mark = b"" if encoding == "utf-16" else b"\xfe\xff"
    assert meant_as_envelope([mark + TEXT.encode(encoding)])
    assert not meant_as_envelope([mark + GREEN.decode().encode(encoding)])


@given(st.sampled_from(sorted(ENVELOPES | RAW)), st.integers(1, 40))
def test_chunks_do_not_matter(name: str, size: int) -> None:
    data = (ENVELOPES | RAW)[name].encode()
    size *= max(1, len(data) // 4000)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert meant_as_envelope(pieces) == (name in ENVELOPES)


@given(st.binary(max_size=300))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    meant_as_envelope([b"{" + data])
    assert not meant_as_envelope([b"ok 1 " + data])


def test_no_more_is_read_than_needed() -> None:
    read = 0

    def chunks(first: bytes) -> Iterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += HEAD_BYTES
            yield first.ljust(HEAD_BYTES, b"x")

    for first in (b"ok 1\n", b'{"Action":"run"}\n', b"{ prose\n", TEXT.encode()):
        read = 0
        meant_as_envelope(chunks(first))
        assert read <= 2 * HEAD_BYTES
