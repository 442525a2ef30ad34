"""One family of errors: each has a code, the exit status of the command line, and JSON-shaped details.

The command line prints an error as one canonical JSON object on standard error (SPEC.md, section "Errors").
"""

from collections.abc import Mapping
from typing import Any


class ContextFirewallError(Exception):
    """Anything that this package refuses. `code` names the refusal; `details` says what was refused."""

    code = "INTERNAL_ERROR"
    exit_status = 1

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details: Mapping[str, Any] = details

    def as_document(self) -> dict[str, Any]:
        """The JSON object that the command line prints for this error."""
        return {"code": self.code, "message": str(self), **self.details}


class InvalidInput(ContextFirewallError):
    """The envelope, an option or a file does not have the shape that its protocol asks for.

    `details["key"]` names the offending place, as a dotted path from the document's root, where there is one.
    """

    code = "INVALID_INPUT"
    exit_status = 2


class PayloadCeilingTooSmall(ContextFirewallError):
    """Not even the smallest truthful packet fits below the ceiling.

    `details["minimum_safe_packet_bytes"]` is the smallest ceiling, in bytes, that this input can be reduced to.
    """

    code = "PAYLOAD_CEILING_TOO_SMALL"
    exit_status = 2

    def as_document(self) -> dict[str, Any]:
        """The seed's error object: code, disposition, hash, ceilings, reference and reason."""
        return {"code": self.code, **self.details}


class SummarizerFailed(ContextFirewallError):
    """The command that was to make a summary did not make one; nothing was changed."""

    code = "SUMMARIZER_FAILED"


class OutputNotWritten(ContextFirewallError):
    """A file that was asked for could not be written; nothing was left half-written."""

    code = "OUTPUT_NOT_WRITTEN"


class StoreUnavailable(ContextFirewallError):
    """An evidence store cannot be reached or read: no permission, no network, or the extra that it needs is missing.

    `details["store"]` names the store.
    """

    code = "STORE_UNAVAILABLE"


class StoreNotWritten(ContextFirewallError):
    """An evidence store did not take what it was given: the disk is full, it is read-only, the server refuses.

    `details["store"]` names the store. Nothing half-written has a name there.
    """

    code = "STORE_NOT_WRITTEN"


class EvidenceNotFound(ContextFirewallError):
    """No run, manifest or object in the store has the name that was asked for; `details["reference"]` says which."""

    code = "EVIDENCE_NOT_FOUND"


class EvidenceDamaged(ContextFirewallError):
    """What the store holds under a name is not what the name says: its digest differs, or it is no such document.

    `details["name"]` is the name in the store.
    """

    code = "EVIDENCE_DAMAGED"
