"""Two hundred tests that pass."""

import unittest


class Tables(unittest.TestCase):
    pass


def twice(number):
    def test(self):
        self.assertEqual(2 * number, number + number)

    return test


for number in range(200):
    setattr(Tables, f"test_twice_{number}", twice(number))
