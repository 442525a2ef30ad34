"""Forty tests that would pass, beside a file that does not load."""

import pytest


@pytest.mark.parametrize("number", range(40))
def test_twice_is_the_sum(number):
    assert 2 * number == number + number
