"""Tariffs. The surcharge of 2027 is not written yet."""

SURCHARGE_2026 = 1240
