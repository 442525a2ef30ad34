"""Three books of a thousand entries whose currency was changed: all fail, each with its own two numbers."""

import pytest


def converted(book, entry):
    return 100_000 + 7_000 * book + 7 * entry


@pytest.mark.parametrize("book", range(3))
@pytest.mark.parametrize("entry", range(1000))
def test_entry(book, entry):
    due = 500_000 + 7_000 * book + 7 * entry
    assert converted(book, entry) == due
