"""The third level of verification: reduce the bytes again, and compare.

The first two levels read documents and live in `documents.verification`; this one calls the reducer. A packet records
what it was made under (policy, ceiling, names, process state), save dialect and declared noise, which only show in the
configuration identity: the dialect whose identity is the recorded one is taken; noise has to be declared again.

A packet that another reducer or version made is replayed by this one; who made it, the configuration identity and the
packet's length, which depend on that name, are then left to the first level. Under a ceiling the other's name, longer
or shorter, may have decided between two rungs.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from context_firewall.canonical import canonical_sha256
from context_firewall.documents.evidence_packet import EvidencePacket
from context_firewall.documents.test_run_input import STREAM_NAMES, parse_test_run_input
from context_firewall.documents.verification import FREE_FIELDS, Finding, Findings, check_packet, read_packet
from context_firewall.documents.verification.findings import differences
from context_firewall.errors import ContextFirewallError, InvalidInput
from context_firewall.reduction.pipeline import RunOptions, SourceStream, reduce_streams
from context_firewall.transcript.dialects import REGISTRY
from context_firewall.version import REDUCER_NAME, __version__


class NamedBytes(Protocol):
    """A stream as `SourceStream` has it: a name, and bytes in chunks."""

    @property
    def name(self) -> str: ...

    @property
    def chunks(self) -> Iterable[bytes]: ...


@dataclass(frozen=True, slots=True)
class Examination:
    """What came of verifying a packet."""

    findings: tuple[Finding, ...]
    levels: tuple[str, ...]
    """What was checked: `packet`, `raw_bytes`, `envelope`, `replay`."""
    unvouched: tuple[str, ...]
    """Fields whose words nothing that was given can vouch for."""


def verify_packet(
    packet: Mapping[str, Any] | str | bytes,
    *,
    streams: Mapping[str, bytes] | Sequence[NamedBytes] | None = None,
    envelope: Mapping[str, Any] | str | bytes | None = None,
    noise: Sequence[Any] = (),
) -> list[Finding]:
    """Check a packet; an empty list says that everything that could be checked holds.

    The packet is given as its bytes or text, whose canonical form is then checked too, or as a mapping. With `streams`
    (name to bytes, or objects like `SourceStream`) every digest and place is checked against the bytes, and the run is
    reduced again; with `envelope`, which has the streams in it, also what the caller said of the run. `noise` are the
    lines that may have been declared as noise: a packet holds only their digest. What a packet alone cannot vouch
    for is told in `documents.verification`.

    Raises InvalidInput when the packet is not a JSON object, the envelope is none, or both kinds of bytes are given.
    """
    return list(examine(packet, streams=streams, envelope=envelope, noise=noise).findings)


def examine(
    packet: Mapping[str, Any] | str | bytes,
    *,
    streams: Mapping[str, bytes] | Sequence[NamedBytes] | None = None,
    envelope: Mapping[str, Any] | str | bytes | None = None,
    noise: Sequence[Any] = (),
) -> Examination:
    """`verify_packet`, and how far it got."""
    if streams is not None and envelope is not None:
        raise InvalidInput("give streams or an envelope; an envelope has the streams in it", key="streams")
    run = None if envelope is None else parse_test_run_input(envelope)
    held = _held(streams) if run is None else {stream.name: stream.data for stream in run.streams}
    findings = Findings()
    read = read_packet(packet)
    options = known_options(noise)
    levels, unvouched = ["packet"], list(FREE_FIELDS)
    sound = check_packet(findings, read, streams=held, envelope=run, configurations=list(map(configured, options)))
    if sound and held is not None:
        levels.append("raw_bytes")
        unvouched.remove("receipt.input_hash")
        if run is not None:
            levels.append("envelope")
            unvouched.clear()
        if check_replay(findings, cast(EvidencePacket, read.value), held, options):
            levels.append("replay")
    return Examination(tuple(findings.as_list()), tuple(levels), tuple(unvouched))


def known_options(noise: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """The options beside policy and ceiling that a packet may have been made with, as the reducer takes them."""
    named: list[dict[str, Any]] = [{}, *({"dialect": dialect.name} for dialect in REGISTRY)]
    return [*named, *({**one, "noise": noise} for one in named)] if noise else named


def configured(options: Mapping[str, Any]) -> dict[str, Any]:
    """What of such options enters the configuration identity."""
    if "noise" not in options:
        return dict(options)
    from context_firewall.transcript.noise import declared_keys, parse_noise

    return {**options, "noise": declared_keys(parse_noise(options["noise"]))}


def _held(streams: Mapping[str, bytes] | Sequence[NamedBytes] | None) -> dict[str, bytes] | None:
    """The streams' bytes, standard output first."""
    if streams is None:
        return None
    if isinstance(streams, Mapping):
        pairs = [(name, bytes(raw)) for name, raw in streams.items()]
    else:
        pairs = [(stream.name, b"".join(stream.chunks)) for stream in streams]
    found: dict[str, bytes] = {}
    for name, raw in pairs:
        if name not in STREAM_NAMES or name in found:
            raise InvalidInput("streams are stdout and stderr, each once", key="streams.name")
        found[name] = raw
    if not found:
        raise InvalidInput("there must be at least one stream", key="streams")
    return {name: found[name] for name in STREAM_NAMES if name in found}


def check_replay(
    findings: Findings,
    packet: EvidencePacket,
    streams: Mapping[str, bytes],
    options: Sequence[Mapping[str, Any]],
) -> bool:
    """Reduce the streams as the packet records it, and name the first place in which the outcome differs.

    The packet must have its shape. `options` are those that it may have been made with; the configuration identity
    tells which. Nothing is replayed from other streams than the packet names; then the answer is False.
    """
    receipt = packet["receipt"]
    if {stream["name"] for stream in receipt["source"]["streams"]} != set(streams):
        return False
    try:
        again = _reduced(packet, streams, options)
    except ContextFirewallError as error:
        # A packet of this shape records options that are valid, so what remains is a ceiling that nothing fits below.
        findings.add("receipt.configuration.max_output_bytes", f"does not allow this reduction: {error}")
        return True
    expected = cast(dict[str, Any], again)
    if (receipt["reducer"]["name"], receipt["reducer"]["version"]) != (REDUCER_NAME, __version__):
        expected = _signed_as(again, packet)
    for field, problem in differences(packet, expected):
        findings.add(field, f"{problem}, as reducing the same bytes again gives it")
        break
    return True


def _recorded(packet: EvidencePacket, options: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The options whose identity the packet has; where none has it, which is a finding already, the first ones."""
    configuration = packet["receipt"]["configuration"]
    always = {
        "max_output_bytes": configuration["max_output_bytes"],
        "policy_revision": configuration["policy_revision"],
        "reducer_version": packet["receipt"]["reducer"]["version"],
    }
    identity = configuration["identity"]
    return next((one for one in options if canonical_sha256({**always, **configured(one)}) == identity), {})


def recorded_options(packet: EvidencePacket, options: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The keyword options of `reduce_streams` that a packet records.

    `options` are those beside policy and ceiling that it may have been made with, as `known_options` gives them; the
    configuration identity tells which.
    """
    evidence, receipt = packet["decision_evidence"], packet["receipt"]
    configuration, process = receipt["configuration"], evidence["process"]
    return {
        "operation_id": packet["operation_id"],
        "source_id": evidence["source"]["id"],
        "run_id": evidence["source"]["run_id"],
        "raw_evidence_ref": receipt["raw_evidence"]["reference"],
        "exit_code": process["exit_code"],
        "duration_ms": process["duration_ms"],
        "interrupted": process["interrupted"],
        "timed_out": "TIMEOUT" in evidence["reason_codes"],
        "max_output_bytes": configuration["max_output_bytes"],
        "policy": configuration["policy_revision"],
        **_recorded(packet, options),
    }


def _reduced(
    packet: EvidencePacket, streams: Mapping[str, bytes], options: Sequence[Mapping[str, Any]]
) -> EvidencePacket:
    sources = [SourceStream(name, len(raw), (raw,)) for name, raw in streams.items()]
    return reduce_streams(sources, **cast(RunOptions, recorded_options(packet, options)))


def _signed_as(again: EvidencePacket, packet: EvidencePacket) -> dict[str, Any]:
    """The replayed packet with what depends on the reducer's name and version taken from the recorded one."""
    signed: dict[str, Any] = copy.deepcopy(cast(dict[str, Any], again))
    receipt = packet["receipt"]
    signed["receipt"]["reducer"] = receipt["reducer"]
    signed["receipt"]["configuration"]["identity"] = receipt["configuration"]["identity"]
    signed["receipt"]["measurements"]["reduced_bytes"] = receipt["measurements"]["reduced_bytes"]
    return signed
