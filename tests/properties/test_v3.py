"""What holds for every input under policy v3.

The second half prints a made-up tree of tests as a producer would, checks that it is read exactly, then damages the
print and checks that a packet which calls itself sufficient still says what the tree says.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from key_order import check_key_order

from context_firewall import PayloadCeilingTooSmall, SourceStream, reduce_streams, serialize_packet
from context_firewall.documents.evidence_packet import EvidencePacket

V3 = "test-output-policy/v3"
SOURCES = Path(__file__).resolve().parents[2] / "src"

# Deterministic by default, so that a run on a busy machine is the run that was seen before.
FAST = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
SOAK = settings(
    max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)

NODE_YAML = ["  ---", "  duration_ms: 0.5", "  type: 'test'", "  type: 'suite'", "  ...", "    ---", "    ..."]
SPEC_COUNTS = [f"ℹ {key} 1" for key in ("tests", "suites", "pass", "fail", "cancelled", "skipped", "todo")]
TAP_LINES = [
    "TAP version 13",
    "TAP version 14",
    "1..1",
    "1..2",
    "1..3",
    "1..0 # SKIP nothing to do",
    "ok 1 - a",
    "ok 2 - b # SKIP",
    "ok 3 - c # TODO later",
    "ok",
    "not ok 1 - a",
    "not ok 2 - b",
    "not ok 3 - d # TODO",
    "not ok - e#skip",
    "not ok 4 - f \\# SKIP g",
    "# Subtest: a",
    "    # Subtest: b",
    "    ok 1 - inner",
    "    not ok 1 - inner",
    "    1..1",
    "        ok 1 - deep",
    "        1..1",
    "ok 1 - a # time=3ms {",
    "}",
    "    }",
    "    message: m",
    "    at f (x.js:1:2)",
    "# tests 1",
    "# pass 1",
    "# fail 1",
    "# { total: 1, pass: 1 }",
    "# duration_ms 3",
    "#   Failed test 'a'",
    "Bail out! no room",
    "pragma +strict",
    "FATAL: x",
    "TIMEOUT: y",
    "WARNING: z",
    "> shop@1.0.0 test",
    "",
    "    ",
    "\x1b[31mnot ok 4 - red\x1b[0m",
    "ok 1 - carriage\r",
    "ok 1 - a\rnot ok 2 - b",
    "ok 1 - a\u2028not ok 2 - b",
    "glued ok 2 - b",
    *NODE_YAML,
]
SPEC_LINES = [
    "✔ a (1ms)",
    "✖ b (2ms)",
    "✖ c",
    "﹣ d (1ms) # SKIP",
    "⚠ e (1ms) # TODO",
    "▶ s",
    "  ✔ a (1ms)",
    "  ✖ b (2ms)",
    "✔ s (3ms)",
    "✖ s (3ms)",
    "  'oops'",
    "  Error: oops",
    "",
    *SPEC_COUNTS,
    "ℹ duration_ms 3.5",
    "✖ failing tests:",
    "test at x.js:1:2",
    "ℹ FATAL: x",
    "....",
    "..X.",
    "Failed tests:",
]
LINES = st.one_of(
    st.sampled_from(TAP_LINES),
    st.sampled_from(SPEC_LINES),
    st.text(max_size=20).filter(lambda text: "\n" not in text),
)


def joined(lines: list[str], end: bytes, bad: bytes) -> bytes:
    """Lines as a stream's bytes, ended and spoiled as asked."""
    return "\n".join(lines).encode() + end + bad


OUTPUTS = st.one_of(
    st.builds(
        joined, st.lists(LINES, max_size=25), st.sampled_from([b"", b"\n"]), st.sampled_from([b"", b"", b"\xff"])
    ),
    st.binary(max_size=60),
)
RUNS = st.fixed_dictionaries(
    {
        "exit_code": st.sampled_from([0, 0, 1, None]),
        "interrupted": st.booleans(),
        "timed_out": st.sampled_from([False, False, True]),
        "operation_id": st.sampled_from(["op", "op", None]),
        "source_id": st.sampled_from(["suite", "suite", None]),
        "raw_evidence_ref": st.sampled_from(["ref", "ref", None]),
    }
)
SOUND = {"operation_id": "op", "source_id": "suite", "raw_evidence_ref": "ref"}


@pytest.fixture(autouse=True)
def _soak_only_when_asked(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("soak") and "soak" not in request.config.getoption("markexpr"):
        pytest.skip("a soak test: run with -m soak")


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data cut at these offsets (modulo its length); nothing is lost."""
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def reduced(
    out: bytes, err: bytes, run: dict[str, Any], ceiling: int | None = None, cuts: list[int] | None = None
) -> EvidencePacket:
    """A packet of both streams."""
    streams = [
        SourceStream("stdout", len(out), pieces(out, cuts or [])),
        SourceStream("stderr", len(err), pieces(err, cuts or [])),
    ]
    return reduce_streams(streams, run_id="r", max_output_bytes=ceiling, policy=V3, **run)


def texts(value: Any) -> Iterator[str]:
    """Every line's text in a packet."""
    if isinstance(value, dict):
        if "text" in value:
            yield value["text"]
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def line_count(data: bytes) -> int:
    """Lines of a stream; what stands after the last newline is one."""
    return data.count(b"\n") + bool(data and not data.endswith(b"\n"))


def verdict(packet: EvidencePacket) -> tuple[str, str]:
    """Status and disposition."""
    evidence = packet["decision_evidence"]
    return evidence["status"], evidence["disposition"]


# -- whatever comes in ------------------------------------------------------------------------------------------------


def check_accounts(out: bytes, err: bytes, run: dict[str, Any]) -> None:
    """P3 and the packet's own figures."""
    packet = reduced(out, err, run)
    evidence, receipt = packet["decision_evidence"], packet["receipt"]
    measured, suppressed = receipt["measurements"], receipt["suppressed"]
    assert measured["reduced_bytes"] == len(serialize_packet(packet))
    assert measured["original_event_count"] == line_count(out) + line_count(err)
    assert measured["retained_evidence_count"] == len(list(texts(evidence)))
    assert (
        measured["retained_evidence_count"] + measured["suppressed_evidence_count"] == measured["original_event_count"]
    )
    assert sum(suppressed["categories"].values()) == suppressed["event_count"] == measured["suppressed_evidence_count"]
    sufficient = evidence["disposition"] == "SUFFICIENT"
    assert sufficient is (not evidence["reason_codes"])
    assert sufficient is receipt["reduction_complete"] is (not receipt["raw_evidence"]["escalation_required"])
    assert min(v for v in evidence["counts"].values() if isinstance(v, int)) >= 0


@FAST
@given(OUTPUTS, OUTPUTS, RUNS)
def test_every_line_is_counted_once(out: bytes, err: bytes, run: dict[str, Any]) -> None:
    check_accounts(out, err, run)


@FAST
@given(OUTPUTS, OUTPUTS, RUNS, st.lists(st.integers(0, 2000), max_size=6))
def test_chunks_do_not_matter(out: bytes, err: bytes, run: dict[str, Any], cuts: list[int]) -> None:
    assert reduced(out, err, run, cuts=cuts) == reduced(out, err, run)


@FAST
@given(OUTPUTS, OUTPUTS, RUNS)
def test_single_bytes_do_not_matter(out: bytes, err: bytes, run: dict[str, Any]) -> None:
    assert reduced(out, err, run, cuts=list(range(2000))) == reduced(out, err, run)


@FAST
@given(OUTPUTS, OUTPUTS, RUNS, st.lists(st.integers(900, 8000), min_size=2, max_size=4))
def test_a_lower_ceiling_never_adds(out: bytes, err: bytes, run: dict[str, Any], ceilings: list[int]) -> None:
    shown: Counter[str] | None = None
    sufficient = True
    status = verdict(reduced(out, err, run))[0]
    for ceiling in [None, *sorted(ceilings, reverse=True)]:
        try:
            packet = reduced(out, err, run, ceiling)
        except PayloadCeilingTooSmall:
            shown, sufficient = Counter(), False
            continue
        assert ceiling is None or len(serialize_packet(packet)) <= ceiling
        now = Counter(texts(packet["decision_evidence"]))
        assert shown is None or now <= shown
        assert verdict(packet)[0] == status
        is_sufficient = verdict(packet)[1] == "SUFFICIENT"
        assert sufficient or not is_sufficient
        shown, sufficient = now, is_sufficient


# `not ok` that nothing excuses. Where a parent is still to do or skipped, its children are excused with it.
REFUSAL = re.compile(rb"^( *)not ok(?![^\n]*[ \t]#[ \t]*(?i:skip|todo))(?:[ \t]|\r?$)", re.MULTILINE)
EXCUSED = re.compile(rb"^ *(?:not )?ok\b[^\n]*#[ \t]*(?i:skip|todo)", re.MULTILINE)


def check_no_refusal(lines: list[str], exit_code: int | None) -> None:
    """P1: green and sufficient means that exit code and every visible point are."""
    out = "\n".join([*lines, ""]).encode()
    status, disposition = verdict(reduced(out, b"", {**SOUND, "exit_code": exit_code}))
    if (status, disposition) == ("passed", "SUFFICIENT"):
        assert exit_code == 0
        assert out.strip()
        assert EXCUSED.search(out) or not REFUSAL.search(out)


REFUSING_LINES = st.sampled_from([line for line in TAP_LINES if "---" not in line and "\x1b" not in line])


@FAST
@given(st.lists(REFUSING_LINES, max_size=12), st.sampled_from([0, 0, 0, 1, None]))
def test_green_means_that_nothing_says_not_ok(lines: list[str], exit_code: int | None) -> None:
    check_no_refusal(lines, exit_code)


@FAST
@given(st.lists(LINES, max_size=10), st.lists(LINES, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_keys_and_streams_does_not_matter(out: list[str], err: list[str], random: Random) -> None:
    check_key_order(out, err, random, V3)


IN_A_PROCESS = """
import sys
from context_firewall import SourceStream, reduce_streams, serialize_packet
for stream in sys.stdin.buffer.read().split(b"\\x00"):
    packet = reduce_streams(
        [SourceStream("stdout", len(stream), [stream])],
        operation_id="op", source_id="s", run_id="r", raw_evidence_ref="ref", exit_code=1,
    )
    sys.stdout.buffer.write(serialize_packet(packet))
"""


def test_hash_seed_and_locale_do_not_matter() -> None:
    streams = [
        "\n".join(TAP_LINES).encode(),
        "\n".join(SPEC_LINES).encode(),
        "\n".join(TAP_LINES + SPEC_LINES).encode(),
        b"1..2\nnot ok 1 - \xc4\xb0stanbul # s\xc4\xb1k\xc4\xb1p\nok 2 - \xff\n",
    ]
    outputs = set()
    for seed, locale in (("0", "C"), ("1", "C.UTF-8"), ("77", "tr_TR.UTF-8"), ("4242", "POSIX")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONPATH": str(SOURCES)}
        done = subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS],
            input=b"\0".join(streams),
            env=environment,
            capture_output=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1


# -- a model, its print, and damage to it -----------------------------------------------------------------------------

NAMES = st.one_of(
    st.sampled_from(
        [
            "pours the tea",
            "1..3",
            "ok 1 - pours",
            "not ok 2 - spills",
            "TAP version 13",
            "tests 3",
            "Bail out! now",
            "FATAL: kettle",
            "Subtest: cup",
            "a - b",
            "x (3ms)",
            "✖ cross",
            "ключ",
            "…",
        ]
    ),
    st.text("abcdefg hij'\"-.:,()", min_size=1, max_size=12).map(lambda text: text.strip(" -")).filter(bool),
)


@dataclass(frozen=True)
class Node:
    """A test, or a suite if it has children."""

    name: str
    outcome: str
    children: tuple["Node", ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it or anything below it fails."""
        return any(child.failed for child in self.children) if self.children else self.outcome == "failed"


OUTCOMES = st.sampled_from(["passed", "passed", "passed", "failed", "skipped", "todo", "todo failing"])
LEAVES = st.builds(Node, NAMES, OUTCOMES)
TREES = st.lists(
    st.one_of(
        LEAVES,
        LEAVES,
        st.builds(
            lambda name, children: Node(name, "suite", tuple(children)),
            NAMES,
            st.lists(
                st.one_of(
                    LEAVES,
                    st.builds(
                        lambda name, children: Node(name, "suite", tuple(children)),
                        NAMES,
                        st.lists(LEAVES, min_size=1, max_size=3),
                    ),
                ),
                min_size=1,
                max_size=4,
            ),
        ),
    ),
    min_size=1,
    max_size=6,
)


@dataclass(frozen=True)
class Print:
    """What a producer printed about a model, and what is true of it."""

    lines: list[str]
    exit_code: int
    counts: dict[str, int]
    names: list[str]


def leaves(tree: list[Node], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every test with its path."""
    for node in tree:
        if node.children:
            yield from leaves(list(node.children), (*path, node.name))
        else:
            yield (*path, node.name), node


def counted(nodes: list[Node]) -> dict[str, int]:
    """A packet's counts of these tests."""
    outcomes = Counter(node.outcome.split()[0] for node in nodes)
    counts = {key: outcomes[key] for key in ("passed", "failed", "skipped")} | {"total": len(nodes)}
    return counts | ({"todo": outcomes["todo"]} if outcomes["todo"] else {})


def failing(tree: list[Node]) -> list[str]:
    """The paths of the failing tests."""
    return sorted(" > ".join(path) for path, node in leaves(tree) if node.outcome == "failed")


WORD = {"skipped": " # SKIP", "todo": " # TODO", "todo failing": " # TODO"}


def point(node: Node, number: int, *, dash: str = "- ", escape: bool = True) -> str:
    """A test point."""
    refusal = "not " if node.failed or node.outcome == "todo failing" else ""
    name = node.name.replace("\\", "\\\\").replace("#", "\\#") if escape else node.name
    return f"{refusal}ok {number} {dash}{name}{WORD.get(node.outcome, '')}"


def node_tap(tree: list[Node]) -> Print:
    """Node 22's TAP reporter."""

    def printed(nodes: list[Node], indent: str) -> Iterator[str]:
        for number, node in enumerate(nodes, 1):
            yield f"{indent}# Subtest: {node.name}"
            if node.children:
                yield from printed(list(node.children), indent + "    ")
            yield indent + point(node, number)
            kind = "suite" if node.children else "test"
            yield from (f"{indent}  {line}" for line in ("---", "duration_ms: 0.25", f"type: '{kind}'"))
            if node.failed or node.outcome == "todo failing":
                why = "subtestsFailed" if node.children else "testCodeFailure"
                told = "1 subtest failed" if node.children else "spilled"
                yield from (f"{indent}  {line}" for line in (f"failureType: '{why}'", f"error: '{told}'"))
                if not node.children:
                    yield from (f"{indent}  {line}" for line in ("stack: |-", "  pour (tea.js:3:9)", "  ..."))
            yield f"{indent}  ..."
        yield f"{indent}1..{len(nodes)}"

    def suites(nodes: tuple[Node, ...]) -> int:
        return sum(1 + suites(node.children) for node in nodes if node.children)

    tests = [node for _, node in leaves(tree)]
    counts = counted(tests)
    totals = {
        "tests": counts["total"],
        "suites": suites(tuple(tree)),
        "pass": counts["passed"],
        "fail": counts["failed"],
        "cancelled": 0,
        "skipped": counts["skipped"],
        "todo": counts.get("todo", 0),
        "duration_ms": 12,
    }
    lines = ["TAP version 13", *printed(tree, ""), *(f"# {key} {count}" for key, count in totals.items())]
    return Print(lines, int(counts["failed"] > 0), counts, failing(tree))


def tape(tree: list[Node]) -> Print:
    """tape: flat, one comment before each test, nothing escaped, totals that count excused points as passed."""
    tests = [(path[-1], node) for path, node in leaves(tree)]
    lines = ["TAP version 13"]
    for number, (name, node) in enumerate(tests, 1):
        lines += [f"# {name}", point(node, number, dash="", escape=False)]
        if node.failed or node.outcome == "todo failing":
            lines += ["  ---", "    operator: equal", "    expected: 1", "    actual:   2", "    stack: |-"]
            lines += ["      Error: spilled", "          at pour (tea.js:3:9)", "  ..."]
    counts = counted([node for _, node in tests])
    lines += ["", f"1..{len(tests)}", f"# tests {len(tests)}", f"# pass  {len(tests) - counts['failed']}"]
    lines += [f"# fail  {counts['failed']}"] if counts["failed"] else ["", "# ok"]
    return Print([*lines, ""], int(counts["failed"] > 0), counts, sorted(n for n, t in tests if t.failed))


def test_more(tree: list[Node]) -> Print:
    """Test::More with its diagnostics on standard output: only points of the outermost level are counted."""

    def printed(nodes: list[Node], indent: str) -> Iterator[str]:
        for number, node in enumerate(nodes, 1):
            if node.children:
                yield f"{indent}# Subtest: {node.name}"
                yield from printed(list(node.children), indent + "    ")
            yield indent + point(node, number)
            if node.failed or node.outcome == "todo failing":
                yield f"{indent}#   Failed test '{node.name}'"
        yield f"{indent}1..{len(nodes)}"
        refused = sum(node.failed for node in nodes)
        if refused:
            yield f"{indent}# Looks like you failed {refused} test{'s' * (refused > 1)} of {len(nodes)}."

    top = [Node(node.name, "failed" if node.failed else "passed") if node.children else node for node in tree]
    counts = counted(top)
    return Print(list(printed(tree, "")), counts["failed"], counts, failing(tree))


test_more.__test__ = False  # type: ignore[attr-defined]

PRODUCERS = [pytest.param(node_tap, id="node"), pytest.param(tape, id="tape"), pytest.param(test_more, id="test-more")]


def packet_of(printed: Print, out: bytes) -> EvidencePacket:
    """The packet of a print, perhaps a damaged one."""
    return reduced(out, b"", {**SOUND, "exit_code": printed.exit_code})


def facts(packet: EvidencePacket) -> tuple[dict[str, int], list[str]]:
    """Counts and the names of failing tests."""
    evidence = packet["decision_evidence"]
    entries = [entry for failure in evidence["failures"] for entry in (failure, *failure.get("also", ()))]
    return {**evidence["counts"]}, sorted(str(entry["identity"]) for entry in entries)  # type: ignore[dict-item]


def check_model(producer: Any, tree: list[Node]) -> None:
    """An undamaged print is read exactly."""
    printed = producer(tree)
    packet = packet_of(printed, "\n".join([*printed.lines, ""]).encode())
    assert facts(packet) == (printed.counts, printed.names)
    assert verdict(packet) == ("failed" if printed.names else "passed", "SUFFICIENT")


@pytest.mark.parametrize("producer", PRODUCERS)
@FAST
@given(tree=TREES)
def test_a_model_is_read_exactly(producer: Any, tree: list[Node]) -> None:
    check_model(producer, tree)


DAMAGE = st.one_of(
    st.tuples(st.just("drop"), st.integers(0, 200)),
    st.tuples(st.just("drop more"), st.integers(0, 200)),
    st.tuples(st.just("repeat"), st.integers(0, 200)),
    st.tuples(st.just("swap"), st.integers(0, 200)),
    st.tuples(st.just("cut"), st.integers(0, 10_000)),
    st.tuples(st.just("glue"), st.integers(0, 200)),
    *(st.tuples(st.just(line), st.integers(0, 200)) for line in TAP_LINES),
)


def damaged(lines: list[str], injury: tuple[str, int]) -> bytes:
    """The lines with one injury; a word that is no deed is a line to insert."""
    deed, where = injury
    lines = list(lines)
    at = where % len(lines)
    if deed == "cut":
        whole = "\n".join([*lines, ""]).encode()
        return whole[: where % len(whole)]
    if deed == "drop":
        del lines[at]
    elif deed == "drop more":
        del lines[at : at + 3]
    elif deed == "repeat":
        lines.insert(at, lines[at])
    elif deed == "swap":
        lines[at : at + 2] = reversed(lines[at : at + 2])
    elif deed == "glue":
        lines[at : at + 2] = ["".join(lines[at : at + 2])]
    else:
        lines.insert(at, deed)
    return "\n".join([*lines, ""]).encode()


def check_damage(producer: Any, tree: list[Node], injury: tuple[str, int]) -> None:
    """P1 and P2: whatever happened to the print, a packet that suffices says what the model says.

    It may name a failing parent too: an injury to what the parent says can hide that it failed through a child only.
    """
    assume(not injury[0].startswith("ok 1"))  # a forged document: test_tap_documents has that
    printed = producer(tree)
    out = damaged(printed.lines, injury)
    assume(out.strip())
    packet = packet_of(printed, out)
    if verdict(packet)[1] == "SUFFICIENT":
        counts, names = facts(packet)
        assert counts == printed.counts
        if injury[0] == "glue":  # a name may have taken in the next line
            assert len(names) >= len(printed.names)
            return
        further, missing = Counter(names) - Counter(printed.names), Counter(printed.names) - Counter(names)
        if missing:  # a subtest shorter than its plan explains its parent's failure: test_tap_subtests has that
            assert producer is test_more
            assert all(any(lost.startswith(f"{name} > ") for name in further) for lost in missing)
        parents = {name[: at.start()] for name in printed.names for at in re.finditer(" > ", name)}
        assert further.keys() <= parents


@pytest.mark.parametrize("producer", PRODUCERS)
@FAST
@given(tree=TREES, injury=DAMAGE)
def test_damage_never_suffices_for_another_story(producer: Any, tree: list[Node], injury: tuple[str, int]) -> None:
    check_damage(producer, tree, injury)


# -- the same for longer ----------------------------------------------------------------------------------------------


@pytest.mark.soak
@SOAK
@given(OUTPUTS, OUTPUTS, RUNS)
def test_soak_accounts(out: bytes, err: bytes, run: dict[str, Any]) -> None:
    check_accounts(out, err, run)


@pytest.mark.soak
@SOAK
@given(st.lists(REFUSING_LINES, max_size=12), st.sampled_from([0, 0, 0, 1, None]))
def test_soak_green(lines: list[str], exit_code: int | None) -> None:
    check_no_refusal(lines, exit_code)


@pytest.mark.soak
@pytest.mark.parametrize("producer", PRODUCERS)
@SOAK
@given(tree=TREES, injury=DAMAGE)
def test_soak_damage(producer: Any, tree: list[Node], injury: tuple[str, int]) -> None:
    check_model(producer, tree)
    check_damage(producer, tree, injury)
