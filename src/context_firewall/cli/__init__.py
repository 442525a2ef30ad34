"""The command line. Here live the paths, the terminal and the exit statuses that the rooms below know nothing of.

One file is one command. `channels` is what every command says to the world: the document on standard output, one
line or one error on standard error. `sources` is what comes in, `recognition` what sort of thing it is, `outputs`
the files that go out. A command is imported only when it is used, so that starting up stays cheap.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

# One row a command: its name, and where it is found. The rows' order is the order of the help text.
COMMANDS = {
    "init": "context_firewall.cli.init:init",
    "run": "context_firewall.cli.run:run",
    "reduce": "context_firewall.cli.reduce:reduce",
    "explain": "context_firewall.cli.explain:explain",
    "raw": "context_firewall.cli.raw:raw",
    "show": "context_firewall.cli.show:show",
    "runs": "context_firewall.cli.runs:runs",
    "diff": "context_firewall.cli.diff:diff",
    "stats": "context_firewall.cli.stats:stats",
    "gc": "context_firewall.cli.gc:gc",
    "verify": "context_firewall.cli.verify:verify",
    "compact": "context_firewall.cli.compact:compact",
    "restore": "context_firewall.cli.restore:restore",
    "guard": "context_firewall.cli.guard:guard",
    "mcp": "context_firewall.cli.mcp:mcp",
    "conformance": "context_firewall.cli.conformance:conformance",
    "hook": "context_firewall.cli.hook:hook",
}


class LazyGroup(click.Group):
    """A group that imports a command on first use and turns every failure into one canonical JSON error."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the table, in its order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of that name."""
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and exit with the command's status; with `standalone_mode` off, return it or raise."""

        def run() -> Any:
            return super(LazyGroup, self).main(
                args, prog_name, complete_var, standalone_mode=False, windows_expand_args=windows_expand_args, **extra
            )

        if not standalone_mode:
            return run()
        from context_firewall.cli.channels import status_of

        sys.exit(status_of(run))


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from context_firewall.version import __version__

        click.echo(f"context-firewall {__version__}")
        ctx.exit(0)


@click.group(
    cls=LazyGroup,
    name="context-firewall",
    # A missing command is a usage error like any other; help is shown when it is asked for.
    no_args_is_help=False,
    # A fixed width: the help text does not depend on the terminal.
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 96},
    epilog="Each command explains itself: context-firewall reduce --help",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def main() -> None:
    """Deterministic evidence packets of test runs: small, complete and checkable.

    \b
    context-firewall run -- npm test
    npm test 2>err.txt | context-firewall reduce --stderr err.txt --exit-code 0
    context-firewall reduce --input run.json
    context-firewall conformance
    """
