"""Every decision at its source, with what it rested on: for people, and for programs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from context_firewall.canonical import canonical_bytes


@dataclass(frozen=True, slots=True)
class DecisionLogEntry:
    """One decision: of which type, from which inputs, with which output (both JSON-shaped), at which second."""

    decision_type: str
    inputs: Mapping[str, Any]
    output: Mapping[str, Any]
    timestamp: float = 0.0


class DecisionLog:
    """Decisions in their order. `clock` gives the seconds since 1970; without one, every decision is at second 0."""

    def __init__(self, *, clock: Callable[[], float] | None = None) -> None:
        self.entries: list[DecisionLogEntry] = []
        self._clock = clock

    def log(self, decision_type: str, inputs: Mapping[str, Any], output: Mapping[str, Any]) -> None:
        """Add a decision."""
        timestamp = self._clock() if self._clock is not None else 0.0
        self.entries.append(DecisionLogEntry(decision_type, dict(inputs), dict(output), timestamp))

    def to_human_readable(self) -> str:
        """One printable line a decision: time, type, output, inputs."""
        return "\n".join(
            f"[{entry.timestamp:.2f}] {_printed(entry.decision_type)}: {_pairs(entry.output)}"
            f" (inputs: {_pairs(entry.inputs)})"
            for entry in self.entries
        )

    def to_machine_readable(self) -> str:
        """The same as a JSON array, in canonical form."""
        return canonical_bytes(
            [
                {
                    "decision_type": entry.decision_type,
                    "inputs": entry.inputs,
                    "output": entry.output,
                    "timestamp": entry.timestamp,
                }
                for entry in self.entries
            ]
        ).decode()


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{_printed(key)}={_printed(value)}" for key, value in sorted(values.items()))


def _printed(value: Any) -> str:
    """A value on one line, without a character that a terminal could act on."""
    if isinstance(value, str) and value.isascii() and value.isprintable():
        return value
    return json.dumps(value, sort_keys=True).replace("\x7f", "\\u007f")
