"""Four hundred rates, of which one in ten is off by a cent."""

import pytest


def rate(zone):
    return 20_000 + 11 * zone - (zone % 10 == 3)


@pytest.mark.parametrize("zone", range(400))
def test_rate(zone):
    due = 20_000 + 11 * zone
    assert rate(zone) == due
