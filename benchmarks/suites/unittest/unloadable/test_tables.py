"""Tests that pass, beside a file that does not load."""

import unittest


class Tables(unittest.TestCase):
    def test_twice_is_the_sum(self):
        self.assertEqual([2 * number for number in range(40)], [number + number for number in range(40)])

    def test_half_of_twice_is_the_number(self):
        self.assertEqual([2 * number // 2 for number in range(40)], list(range(40)))
