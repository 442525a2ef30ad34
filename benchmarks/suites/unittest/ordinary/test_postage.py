"""Sixty weights inside the steps, and four at the edge, where postage is wrong."""

import unittest

from postage import STEPS, postage


class Postage(unittest.TestCase):
    def test_half_a_kilo_is_the_first_step(self):
        self.assertEqual(postage(500), 23500)

    def test_a_kilo_is_the_second_step(self):
        self.assertEqual(postage(1000), 31000)

    def test_returns_cost_half(self):
        self.assertEqual({"out": postage(500), "back": postage(500) // 2}, {"out": 23500, "back": 11750})

    def test_a_week_of_parcels(self):
        self.assertEqual([postage(500 + day) for day in (0, 0, 1, 2)], [23500, 23500, 31000, 31000])


def letter(grams):
    def test(self):
        self.assertEqual(postage(grams), STEPS[500])

    return test


for grams in range(10, 490, 8):
    setattr(Postage, f"test_letter_of_{grams}_grams", letter(grams))
