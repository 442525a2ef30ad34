"""The suite of the example: a year of returns, and the days that are special."""

import unittest
from datetime import date, timedelta

from fines import fine

MONDAY = date(2026, 3, 2)


class Fines(unittest.TestCase):
    def test_on_time_costs_nothing(self):
        self.assertEqual(fine("ladder", MONDAY, MONDAY), 0)

    def test_a_day_late_costs_a_day(self):
        self.assertEqual(fine("ladder", MONDAY, MONDAY + timedelta(days=1)), 20)

    def test_sundays_are_free(self):
        self.assertEqual(fine("drill", MONDAY, date(2026, 5, 16)), 1300)


def on_time(number):
    def test(self):
        due = MONDAY + timedelta(days=number)
        self.assertEqual(fine(f"tool {number}", due, due), 0)

    return test


for number in range(1, 201):
    setattr(Fines, f"test_on_time_{number:03}", on_time(number))

if __name__ == "__main__":
    unittest.main()
