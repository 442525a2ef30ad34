"""An envelope says the same in whatever order its keys and streams stand."""

import json
from random import Random
from typing import Any

from context_firewall import reduce_test_run


def check_key_order(out: list[str], err: list[str], random: Random, policy: str) -> None:
    """Both orders of one run give one packet."""
    envelope = {
        "protocol_version": "opsle.context-firewall.test-run-input/v1",
        "operation_id": "op",
        "source": {"id": "s", "run_id": "r", "raw_evidence_ref": "ref"},
        "process": {"exit_code": 0, "duration_ms": 1.5, "interrupted": False},
        "streams": [{"name": "stdout", "data": "\n".join(out)}, {"name": "stderr", "data": "\n".join(err)}],
    }
    mixed = json.dumps(_shuffled(envelope, random))
    assert reduce_test_run(mixed, policy=policy) == reduce_test_run(envelope, policy=policy)


def _shuffled(value: Any, random: Random) -> Any:
    if isinstance(value, dict):
        items = list(value.items())
        random.shuffle(items)
        return {key: _shuffled(inner, random) for key, inner in items}
    if isinstance(value, list):
        return [_shuffled(inner, random) for inner in reversed(value)]
    return value
