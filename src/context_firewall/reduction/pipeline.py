"""Start reading here: a test run goes in, an evidence packet comes out.

    chunks of bytes -> transcript -> verdict -> plan -> packet

A policy is a row: how streams become a transcript, how a transcript becomes a verdict, and the ladder of plans that a
ceiling may force. Same bytes, same options, same policy: the same packet.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, NamedTuple, TypedDict, Unpack

from context_firewall.canonical import FramedHash
from context_firewall.documents import test_run_input
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.test_run_input import STREAM_NAMES, parse_test_run_input
from context_firewall.documents.value_receipt import ValueReceipt, value_receipt_for_packet
from context_firewall.errors import InvalidInput, PayloadCeilingTooSmall
from context_firewall.reduction.assembly import Configuration, Reduction, StreamMeasure, assemble
from context_firewall.reduction.retention import (
    LADDER,
    SEED_LADDER,
    RetentionPlan,
    Rung,
    least_ceiling,
    length_under,
)
from context_firewall.reduction.verdict import Circumstances, Disposition, Verdict, judge_v2, judge_v3
from context_firewall.reduction.weighing import Scale
from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.noise import NoiseDeclaration, parse_noise
from context_firewall.transcript.reader import read_streams

Streams = Sequence[tuple[str, Iterable[bytes]]]


@dataclass(frozen=True, slots=True)
class SourceStream:
    """One stream of a run, not yet read: `stdout` or `stderr`, its length in bytes, and its bytes in any chunks."""

    name: str
    byte_count: int
    chunks: Iterable[bytes]


Read = Callable[[Streams, int | None, Configuration], Transcript]


class Policy(NamedTuple):
    """A row of the table of policies."""

    revision: str
    dialects: bool
    """Whether a dialect may be named; otherwise `auto` is the only one."""
    noise: bool
    """Whether a project may declare noise."""
    read: Read
    """Streams and exit code to a transcript, by the dialect and the noise that are configured."""
    judge: Callable[[Transcript, Circumstances], Verdict]
    ladder: tuple[Rung, ...]
    steady: bool
    """Whether a packet fits a ceiling only if it fits every larger one, and a refusal names the smallest that will do.
    A packet holds its ceiling, so its length varies by a few bytes: published v2 packets fit as they are, and v2
    refusals name the length of the last rung's packet under the ceiling that was refused."""


class PacketAndReceipt(TypedDict):
    """A packet and the value receipt derived from it."""

    packet: EvidencePacket
    value_receipt: ValueReceipt


def _read_v2(streams: Streams, exit_code: int | None, configuration: Configuration) -> Transcript:
    from context_firewall.transcript.dialects.flat import read_flat  # few runs need it, and its patterns take time

    return read_flat(streams)


def _read_v3(streams: Streams, exit_code: int | None, configuration: Configuration) -> Transcript:
    return read_streams(streams, exit_code=exit_code, dialect=configuration.dialect, noise=configuration.noise)


POLICIES = (
    Policy(
        revision="test-output-policy/v2",
        dialects=False,
        noise=False,
        read=_read_v2,
        judge=judge_v2,
        ladder=SEED_LADDER,
        steady=False,
    ),
    Policy(
        revision="test-output-policy/v3",
        dialects=True,
        noise=True,
        read=_read_v3,
        judge=judge_v3,
        ladder=LADDER,
        steady=True,
    ),
)

DEFAULT_POLICY = "test-output-policy/v3"


def reduce_test_run(
    invocation: Mapping[str, Any] | str | bytes,
    *,
    max_output_bytes: int | None = None,
    policy: str = DEFAULT_POLICY,
    dialect: str = "auto",
    noise: NoiseDeclaration = (),
) -> EvidencePacket:
    """Reduce a run that is handed over in an envelope (`opsle.context-firewall.test-run-input/v1`).

    `invocation` is the envelope as a mapping, or as JSON text or bytes. `max_output_bytes` is a ceiling on the
    serialised packet with its final newline. `noise` are the lines that the project declares to be noise: rules, or
    mappings with `prefix` or `regex` and perhaps `stream`, or strings, which are prefixes. Raises InvalidInput for an
    envelope or an option that is not what its protocol asks for, PayloadCeilingTooSmall when not even the smallest
    packet fits.
    """
    run = parse_test_run_input(invocation)
    return reduce_streams(
        [SourceStream(stream.name, len(stream.data), (stream.data,)) for stream in run.streams],
        operation_id=run.operation_id,
        source_id=run.source_id,
        run_id=run.run_id,
        raw_evidence_ref=run.raw_evidence_ref,
        exit_code=run.process.exit_code,
        duration_ms=run.process.duration_ms,
        interrupted=run.process.interrupted,
        timed_out=run.process.timed_out,
        max_output_bytes=max_output_bytes,
        policy=policy,
        dialect=dialect,
        noise=noise,
    )


def reduce_with_value_receipt(
    invocation: Mapping[str, Any] | str | bytes,
    *,
    max_output_bytes: int | None = None,
    policy: str = DEFAULT_POLICY,
    dialect: str = "auto",
    noise: NoiseDeclaration = (),
    mechanism_revision: str | None = None,
) -> PacketAndReceipt:
    """`reduce_test_run`, and the value receipt beside it; `mechanism_revision` enters the receipt only."""
    packet = reduce_test_run(invocation, max_output_bytes=max_output_bytes, policy=policy, dialect=dialect, noise=noise)
    return {"packet": packet, "value_receipt": value_receipt_for_packet(packet, mechanism_revision=mechanism_revision)}


class RunOptions(TypedDict, total=False):
    """The keyword options of `reduce_streams`."""

    operation_id: str | None
    source_id: str | None
    run_id: str | None
    raw_evidence_ref: str | None
    exit_code: int | None
    duration_ms: float | None
    interrupted: bool
    timed_out: bool
    max_output_bytes: int | None
    policy: str
    dialect: str
    noise: NoiseDeclaration


def reduce_streams(streams: Sequence[SourceStream], **options: Unpack[RunOptions]) -> EvidencePacket:
    """Reduce a run straight from its streams, each read once, standard output first.

    Identities that are absent or empty become reasons not to rely on the packet alone. `duration_ms` is in
    milliseconds; a run that `timed_out` was `interrupted` because its time was up; `max_output_bytes` and `noise` are
    as in `reduce_test_run`. The same errors are raised, and InvalidInput too when a stream does not hold as many bytes
    as it was announced with.
    """
    row = policy_named(options.get("policy", DEFAULT_POLICY))
    return descend(row, reduction_of(streams, row.read, row, options))


def reduction_of(streams: Sequence[SourceStream], read: Read, row: Policy, options: RunOptions) -> Reduction:
    """Read a run's streams with a policy's configuration, hashing them on the way."""
    configuration = _configuration(
        row, options.get("max_output_bytes"), options.get("dialect", "auto"), options.get("noise", ())
    )
    timed_out = test_run_input.flag(options.get("timed_out", False), "timed_out")
    circumstances = Circumstances(
        operation_id=test_run_input.identity(options.get("operation_id"), "operation_id"),
        source_id=test_run_input.identity(options.get("source_id"), "source_id"),
        run_id=test_run_input.identity(options.get("run_id"), "run_id"),
        raw_evidence_ref=test_run_input.identity(options.get("raw_evidence_ref"), "raw_evidence_ref"),
        exit_code=test_run_input.exit_code(options.get("exit_code"), "exit_code"),
        duration_ms=test_run_input.duration_ms(options.get("duration_ms"), "duration_ms"),
        interrupted=test_run_input.flag(options.get("interrupted", False), "interrupted") or timed_out,
        timed_out=timed_out,
    )
    ordered = _in_order(streams)
    hashing = FramedHash()
    finished: list[str] = []
    handed = [(stream.name, _hashed(hashing, stream, finished)) for stream in ordered]
    transcript = read(handed, circumstances.exit_code, configuration)
    if finished != [stream.name for stream in ordered]:
        raise AssertionError("a reader left a stream unread, so its hash would be of something else")
    return Reduction(
        transcript=transcript,
        circumstances=circumstances,
        configuration=configuration,
        streams=tuple(StreamMeasure(stream.name, stream.byte_count) for stream in ordered),
        input_hash=hashing.digest(),
    )


def configuration_identity(
    *,
    max_output_bytes: int | None = None,
    policy: str = DEFAULT_POLICY,
    dialect: str = "auto",
    noise: NoiseDeclaration = (),
) -> str:
    """The `receipt.configuration.identity` of packets that this version makes with these options.

    Raises InvalidInput for options that `reduce_streams` would refuse.
    """
    return _configuration(policy_named(policy), max_output_bytes, dialect, noise).identity


class _Room(NamedTuple):
    """What fits below the ceiling, with one verdict."""

    scale: Scale
    verdict: Verdict
    fits: Callable[[int], bool]
    """Whether a weight fits."""

    def for_whole(self, plan_for: Callable[[int], RetentionPlan], limit: int) -> int | None:
        weights = islice(self.scale.weigh_whole(self.verdict, plan_for), limit + 1)
        return max((whole for whole, weight in enumerate(weights) if self.fits(weight)), default=None)

    def for_edges(self, plan: RetentionPlan, limit: int) -> int:
        fitting = takewhile(lambda found: self.fits(found[1]), self.scale.weigh_edges(self.verdict, plan, limit))
        return max((n for n, _ in fitting), default=0)

    def for_named(self, plan: RetentionPlan) -> int:
        return next((named for named, weight in self.scale.weigh_named(self.verdict, plan) if self.fits(weight)), 0)


def descend(row: Policy, reduction: Reduction) -> EvidencePacket:
    """Take the first rung whose packet fits below the ceiling."""
    ceiling = reduction.configuration.max_output_bytes
    verdict = row.judge(reduction.transcript, reduction.circumstances)

    scale = Scale(reduction)

    def fits(weight: int) -> bool:
        return ceiling is None or (least_ceiling(weight) if row.steady else length_under(ceiling, weight)) <= ceiling

    tried: list[tuple[Verdict, RetentionPlan]] = []
    for rung in row.ladder:
        marked = verdict.with_reason(rung.reason)
        plan = rung.plan(reduction.transcript, _Room(scale, marked, fits))
        if plan is None:
            continue
        if ceiling is None:
            return assemble(reduction, marked, plan)
        tried.append((marked, plan))
        if scale.exceeds(plan, ceiling):
            continue
        weight = scale.weigh(marked, plan)
        if fits(weight):
            packet = assemble(reduction, marked, plan)
            if packet["receipt"]["measurements"]["reduced_bytes"] != length_under(ceiling, weight):
                raise AssertionError("a packet has not the length that its plan was weighed at")
            return packet
    weights = [scale.weigh(marked, plan) for marked, plan in tried]
    smallest = min(map(least_ceiling, weights)) if row.steady else length_under(ceiling, weights[-1])
    raise PayloadCeilingTooSmall(
        f"the smallest safe packet has {smallest} bytes",
        disposition=Disposition.NEEDS_RAW_EVIDENCE.value,
        input_hash=reduction.input_hash,
        max_output_bytes=ceiling,
        minimum_safe_packet_bytes=smallest,
        raw_evidence_ref=reduction.circumstances.raw_evidence_ref,
        reason=PayloadCeilingTooSmall.code,
    )


def policy_named(revision: str) -> Policy:
    for row in POLICIES:
        if row.revision == revision:
            return row
    raise InvalidInput(f"policy must be one of {', '.join(row.revision for row in POLICIES)}", key="policy")


def _configuration(row: Policy, max_output_bytes: object, dialect: str, noise: NoiseDeclaration) -> Configuration:
    if not row.dialects and dialect != "auto":
        raise InvalidInput(f"{row.revision} has no dialects to choose from", key="dialect")
    rules = parse_noise(noise)
    if not row.noise and rules:
        raise InvalidInput(f"{row.revision} knows no declared noise", key="noise")
    return Configuration(row.revision, _ceiling(max_output_bytes), dialect, rules)


def _ceiling(max_output_bytes: object) -> int | None:
    if max_output_bytes is None:
        return None
    ceiling = test_run_input.whole_number(max_output_bytes, "max_output_bytes")
    if ceiling < 0:
        raise InvalidInput("max_output_bytes must not be negative", key="max_output_bytes")
    return ceiling


def _in_order(streams: Sequence[SourceStream]) -> tuple[SourceStream, ...]:
    found: dict[str, SourceStream] = {}
    for stream in streams:
        name = test_run_input.stream_name(stream.name, "streams.name")
        if name in found:
            raise InvalidInput(f"{name} is given twice", key="streams.name")
        found[name] = stream
    if not found:
        raise InvalidInput("there must be at least one stream", key="streams")
    return tuple(found[name] for name in STREAM_NAMES if name in found)


def _hashed(hashing: FramedHash, stream: SourceStream, finished: list[str]) -> Iterator[bytes]:
    """The stream's chunks, hashed on the way; its name goes to `finished` when all of them were taken."""
    try:
        yield from hashing.pass_through(stream.name, stream.byte_count, stream.chunks)
    except ValueError as error:
        raise InvalidInput(str(error), key=f"streams.{stream.name}") from None
    finished.append(stream.name)
