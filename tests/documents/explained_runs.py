"""Runs to explain: a plain one, one made to break out of whatever shows it, and a long one."""

from context_firewall import SourceStream
from context_firewall.documents.explanation import Explanation
from context_firewall.reduction.explanation import explain_streams

PLAIN = (
    b"TAP version 13\nok 1 - opens\nok 2 - rings\nnot ok 3 - shuts\n  ---\n  message: 'the gate stays shut'\n  ...\n"
    b"not ok 4 - shuts twice\n  ---\n  message: 'the gate stays shut'\n  ...\n"
    b"listening on 8080\nWARNING: the hinge is loose\n1..4\n# tests 4\n# pass 2\n# fail 2\n"
)

EVIL_NAMES = (
    "</script><script>window.broken = 1</script>",
    "<!-- <script> --!> \\u003c/script>",
    "<img src=x onerror=window.broken=1>",
    "{{script}} {{data}} $& $1 \\1",
    "\x1b[31mred\x1b[0m \x1b]8;;https://example.invalid\x07link\x1b]8;;\x07 \x1bc",
    "\u202egnp.exe \u2066isolated\u2069 zero\u200bwidth",
    "line\u2028separator and paragraph\u2029separator",
    "\u9023\u7dda\u6c60\u5df2\u8017\u76e1 \u05e9\u05dc\u05d5\u05dd \U0001f6aa \U000e0041tag",
    "\"quoted\" 'single' &amp; &#60;",
    "nul\x00 bell\x07 return\rback",
)
HOSTILE = (
    "TAP version 13\n"
    + "".join(f"not ok {n} - {name}\n  ---\n  message: {name}\n  ...\n" for n, name in enumerate(EVIL_NAMES, 1))
    + "".join(f"{name}\n" for name in EVIL_NAMES)
    + f"1..{len(EVIL_NAMES)}\n"
).encode() + b"\xff\xfe not UTF-8\n"


def long_run(size: int) -> bytes:
    """A run of about that many bytes, with a failure in every 2,500 tests and foreign lines here and there."""
    parts = ["TAP version 13\n"]
    made = number = failed = 0
    while made < size:
        number += 1
        bad = number % 2500 == 77
        failed += bad
        part = f"{'not ' if bad else ''}ok {number} - rates parcel {number} within the agreed window of days\n"
        part += f"  ---\n  duration_ms: {number % 97}.25\n  type: 'test'\n"
        part += "  error: 'Expected values to be strictly equal: 12 !== 13'\n  ...\n" if bad else "  ...\n"
        if number % 900 == 3:
            part += f"[worker {number}] pool drained \u9023\u7dda\u6c60 {'x' * 3000}\n"
        parts.append(part)
        made += len(part)
    parts.append(f"1..{number}\n# tests {number}\n# pass {number - failed}\n# fail {failed}\n")
    return "".join(parts).encode()


def explained(data: bytes, stderr: bytes | None = None, *, max_output_bytes: int | None = None) -> Explanation:
    """The explanation of a run that failed."""
    streams = [SourceStream("stdout", len(data), (data,))]
    if stderr is not None:
        streams.append(SourceStream("stderr", len(stderr), (stderr,)))
    return explain_streams(
        streams,
        exit_code=1,
        operation_id="op-1",
        source_id="gate",
        run_id="run-1",
        raw_evidence_ref="file:out.txt",
        max_output_bytes=max_output_bytes,
    )
