"""One failure that is told in two streams: its line on standard output, its account on standard error.

A runner that prints results and a compiler that prints its messages share no stream. Both accounts go by the same
identity, and the one on standard output is a header without details.
"""

from collections.abc import Sequence

from context_firewall.transcript.facts import Failure, Reading


def joined(readings: Sequence[Reading]) -> list[Reading]:
    """The readings of all streams, with each header on standard output given its account on standard error."""
    accounts: dict[str, Failure] = {}
    for failure in (failure for part in readings for failure in part.failures):
        if failure.header is not None and failure.header.stream == "stderr":
            accounts.setdefault(failure.identity, failure)
    if not accounts:
        return list(readings)
    told: set[str] = set()
    parts = [_with_accounts(part, accounts, told) for part in readings]
    if not told:
        return list(readings)
    return [_without(part, accounts, told) for part in parts]


def _with_accounts(part: Reading, accounts: dict[str, Failure], told: set[str]) -> Reading:
    failures: list[Failure] = []
    for failure in part.failures:
        account = accounts.get(failure.identity)
        bare = failure.header is not None and failure.header.stream == "stdout" and not failure.details
        if account is not None and bare and failure.identity not in told:
            told.add(failure.identity)
            failures.append(failure._replace(details=tuple(account.lines())))
        else:
            failures.append(failure)
    return part._replace(failures=tuple(failures))


def _without(part: Reading, accounts: dict[str, Failure], told: set[str]) -> Reading:
    rest = tuple(
        failure
        for failure in part.failures
        if failure.identity not in told or failure is not accounts[failure.identity]
    )
    return part._replace(failures=rest)
