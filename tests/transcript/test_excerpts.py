"""Excerpts of source: which rows lead up to the failing one."""

import pytest

from context_firewall.transcript.excerpts import lead_up

FAILING = b"    > 9 |   open(gate);"


@pytest.mark.parametrize(
    ("above", "count"),
    [
        ([], 0),
        ([b"      7 |   fill(lock);", b"      8 |   rise();"], 2),
        ([b"      7 |   fill(lock);", b"      8 | });"], 0),
        ([b"      7 | it('rises', () => {", b"      8 |   rise();"], 1),
        ([b"      7 |   fill(lock);", b"      8 |     deeper();"], 0),
        ([b"      7 |   fill(lock);", b"      8 |"], 0),
        ([b"      7 |   fill(lock);", b"        |   ^"], 0),
        ([b"  expect(gate).toBe(open)"], 0),
    ],
)
def test_rows_of_the_same_block_lead_up(above: list[bytes], count: int) -> None:
    assert lead_up(above, FAILING) == count


def test_the_forms_of_two_runners() -> None:
    assert lead_up([b"      4|   rise();"], b"      5|   open(gate);") == 1
    assert lead_up([b"      4 |   rise();"], b"    > 5 |   open(gate);") == 1


def test_a_failing_line_that_is_no_row_has_none() -> None:
    assert lead_up([b"      4 |   rise();"], b"    open(gate);") == 0
