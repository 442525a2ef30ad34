"""A file that does not load: what it imports is not there."""

from tariffs import SURCHARGE_2026, SURCHARGE_2027


def test_surcharge_grows():
    assert SURCHARGE_2027 > SURCHARGE_2026
