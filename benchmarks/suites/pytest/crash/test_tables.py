"""Forty tests that pass, in a process that dies after its summary."""

import pytest


@pytest.mark.parametrize("number", range(40))
def test_twice_is_the_sum(number):
    assert 2 * number == number + number
