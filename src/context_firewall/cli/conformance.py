"""`context-firewall conformance`: runs a corpus and reports; for authors, blesses one fixture."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from context_firewall.cli.channels import deliver, shown_path
from context_firewall.errors import InvalidInput

if TYPE_CHECKING:
    from context_firewall.conformance.runner import Fixture

EPILOG = """\b
Exit status:
  0  every fixture's packet is byte for byte the expected one
  1  at least one is not; the report says where
  2  the corpus cannot be read, a fixture is broken, or there is none; wrong usage
"""


@click.command(epilog=EPILOG, short_help="Run a corpus of fixtures and report on each.")
@click.argument("path", required=False, metavar="[PATH]")
@click.option("--json", "as_json", is_flag=True, help="Print the canonical JSON report. This is the default.")
@click.option("--tap", "as_tap", is_flag=True, help="Print TAP, one point a fixture, for a test harness.")
@click.option(
    "--bless",
    metavar="NAME",
    help="For authors: rewrite expected.json of the fixture with this name and print what changed.",
)
def conformance(*, path: str | None, as_json: bool, as_tap: bool, bless: str | None) -> int:
    """Run a corpus: reduce each fixture's input and compare with the expected packet, byte for byte.

    PATH is a folder of fixtures, or one fixture. Without it the corpus runs that came with this package.

    \b
    context-firewall conformance
    context-firewall conformance conformance/v2 --tap
    context-firewall conformance --bless v2/failure-one
    """
    if as_json and as_tap:
        raise InvalidInput("--json and --tap are two formats; give one", option="--tap")
    if bless is not None and (as_json or as_tap):
        raise InvalidInput("--bless prints what changed and takes no format", option="--bless")
    from context_firewall.conformance import runner

    fixtures = runner.find_fixtures(Path(path) if path is not None else runner.packaged_corpus())
    if bless is not None:
        return _bless(fixtures, bless)
    from context_firewall.conformance import report

    outcomes = [runner.run_fixture(fixture) for fixture in fixtures]
    deliver(report.tap_report(outcomes) if as_tap else report.serialize_report(report.report_on(outcomes)))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _bless(fixtures: "tuple[Fixture, ...]", name: str) -> int:
    """Rewrite one fixture's expectation; the difference is printed, to be read like a change of code."""
    from context_firewall.conformance import runner

    chosen = [fixture for fixture in fixtures if fixture.name == name]
    if not chosen:
        raise InvalidInput(f"the corpus has no fixture {shown_path(name)}", option="--bless")
    outcome = runner.run_fixture(chosen[0])
    if outcome.passed:
        deliver(f"{shown_path(name)}: nothing changed\n".encode())
        return 0
    runner.bless(chosen[0], outcome)
    lines = [f"{shown_path(name)}: expected.json rewritten", *(f"  {text}" for text in outcome.differences)]
    deliver(("\n".join(lines) + "\n").encode())
    return 0
