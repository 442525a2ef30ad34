"""Two hundred tests that pass."""

import pytest


@pytest.mark.parametrize("number", range(200))
def test_twice_is_the_sum(number):
    assert 2 * number == number + number
