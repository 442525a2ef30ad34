"""Whether a second print of a run tells of the failures that the first one tells of.

Two reports of one run call a test by more or less of its names: its file, from here or from the root, its suites. Its
own name, the last one, they have in common.
"""

import re
from collections.abc import Iterable

from context_firewall.transcript.facts import Reading

# What parts the names in an identity.
_PARTS = re.compile(" › | > |::|/")


def are_named(identities: Iterable[str], told: Iterable[Reading]) -> bool:
    """Whether each failure of these identities has its own name among the names in the failures of other readings."""
    names = {name for part in told for failure in part.failures for name in _PARTS.split(failure.identity)}
    return all(_PARTS.split(identity)[-1] in names for identity in identities)
