"""The registry: one row a dialect. Adding one is a module, a row here, its fixtures and its page in the docs."""

from context_firewall.transcript.dialects import (
    cargo,
    cargo_json,
    go,
    go_json,
    jest,
    node_dot,
    node_spec,
    pytest,
    tap,
    unittest,
    vitest,
)
from context_firewall.transcript.machine import Dialect

REGISTRY: tuple[Dialect, ...] = (
    tap.DIALECT,
    node_spec.DIALECT,
    node_dot.DIALECT,
    cargo.DIALECT,
    cargo_json.DIALECT,
    jest.DIALECT,
    pytest.DIALECT,
    go.DIALECT,
    go_json.DIALECT,
    unittest.DIALECT,
    vitest.DIALECT,
)
