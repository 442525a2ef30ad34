"""Labels of parcels, reported in colours; three of five are wrong."""

import pytest


def label(number, city):
    return f"Parcel {number}\nto {city}\n"


@pytest.mark.parametrize("city", ["Lyon", "Turin"])
def test_label_has_the_city(city):
    assert label(81, city).endswith(f"to {city}\n")


def test_label_of_a_large_number():
    assert label(4200417, "Graz") == "Parcel 4,200,417\nto Graz\n"


def test_label_of_a_returned_parcel():
    assert label(-4117, "Graz") == "Return 4117\nto Graz\n"


def test_labels_of_a_day():
    assert [label(n, "Graz")[:11] for n in (7001, 7002)] == ["Parcel 7001", "Parcel 7003"]
