"""Fines for tools that come back late: 20 cents a day, Sundays free."""

from datetime import date, timedelta

CENTS_A_DAY = 20
SUNDAY = 7


def fine(tool: str, due: date, returned: date) -> int:
    """The fine in cents."""
    late = [due + timedelta(days=n) for n in range(1, (returned - due).days + 1)]
    free = [day for day in late if day.weekday() == SUNDAY]
    cents = CENTS_A_DAY * (len(late) - len(free))
    print(f"{tool}: due {due}, back {returned}, {len(late)} days late, {len(free)} Sundays free, {cents} cents")
    return cents
