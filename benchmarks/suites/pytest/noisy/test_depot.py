"""Tests of a service that logs as it goes, unchecked; two of forty fail amid twelve thousand lines."""

import pytest


def log(number, lines=300):
    for n in range(lines):
        print(f"2026-03-02T08:{n // 60:02}:{n % 60:02} depot[{number}]: retry {n % 5} of 5, errors so far: {n % 7}, ok")


@pytest.mark.parametrize("number", range(38))
def test_van(number):
    log(number)
    assert number >= 0


def test_load_of_the_day():
    log(38)
    assert sum(range(90)) == 4050


def test_vans_back_in_the_evening():
    log(39)
    vans = {"out": 1210, "back": 1190}
    assert vans["back"] == vans["out"]
