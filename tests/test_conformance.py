"""One test a fixture of the corpus that comes with the package."""

from pathlib import Path

import pytest

from context_firewall import InvalidInput
from context_firewall.conformance.runner import Fixture, find_fixtures, run_fixture

CORPUS = Path(__file__).resolve().parents[1] / "conformance"


def fixtures() -> tuple[Fixture, ...]:
    """The corpus; empty only while there is none."""
    try:
        return find_fixtures(CORPUS)
    except InvalidInput:
        return ()


@pytest.mark.parametrize("fixture", [pytest.param(fixture, id=fixture.name) for fixture in fixtures()])
def test_fixture(fixture: Fixture) -> None:
    assert run_fixture(fixture).differences == ()
