"""Strict markers that any program may print at the start of a line, outside a runner's own grammar.

Case-sensitive, at column 0, with their colon; the words anywhere else mean nothing.
"""

from context_firewall.transcript.kinds import Kind

MARKERS: tuple[tuple[tuple[bytes, ...], Kind], ...] = (
    ((b"FATAL:", b"RUNNER CRASH:", b"UNCAUGHT:"), Kind.FATAL_ERROR),
    ((b"TIMEOUT:",), Kind.TIMEOUT),
    ((b"WARNING:", b"WARN:"), Kind.ABNORMAL_WARNING),
)

SERVICE_MESSAGE = b"##teamcity["
"""How a message to a build server begins, whichever runner sends it."""


def marker_kind(bare: bytes) -> Kind | None:
    """Kind of a bare line that starts with a strict marker, else None."""
    for prefixes, kind in MARKERS:
        if bare.startswith(prefixes):
            return kind
    return None
