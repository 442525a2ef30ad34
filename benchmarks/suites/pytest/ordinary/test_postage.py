"""Sixty weights inside the steps, and nine at the edge, where postage is wrong."""

import pytest
from postage import STEPS, postage


@pytest.mark.parametrize("grams", range(10, 490, 8))
def test_letters(grams):
    assert postage(grams) == STEPS[500]


def test_half_a_kilo_is_the_first_step():
    assert postage(500) == 23500


def test_a_kilo_is_the_second_step():
    assert postage(1000) == 31000


def test_two_kilos_are_the_third_step():
    assert postage(2000) == 44500


def test_five_kilos_are_the_fourth_step():
    assert postage(5000) == 67000


def test_ten_books_of_200_grams():
    assert 3 * postage(10 * 200) == 133500


def test_two_parcels_of_a_kilo():
    assert [postage(1000), postage(1000) + 1] == [31000, 31001]


def test_returns_cost_half():
    costs = {"out": postage(500), "back": postage(500) // 2}
    assert costs == {"out": 23500, "back": 11750}


def test_receipt_of_a_kilo():
    assert f"1,000 g: {postage(1000)}" == "1,000 g: 31000"


def test_nothing_is_heavier_than_ten_kilos():
    with pytest.raises(StopIteration):
        postage(9999)
