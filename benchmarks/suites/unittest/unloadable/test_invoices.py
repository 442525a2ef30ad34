"""A file that does not load: what it imports is not there."""

import unittest

from tariffs import SURCHARGE_2026, SURCHARGE_2027


class Invoices(unittest.TestCase):
    def test_surcharge_grows(self):
        self.assertGreater(SURCHARGE_2027, SURCHARGE_2026)
