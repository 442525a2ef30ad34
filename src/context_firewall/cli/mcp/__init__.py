"""`context-firewall mcp`: the commands as tools of a Model Context Protocol server, on standard input and output.

`server` declares tools and resources, `ourselves` runs the command that each of them stands for. The SDK takes half a
second to import: nothing here does so before the command is used.
"""

import os

import click

from context_firewall.cli.channels import shown_path
from context_firewall.cli.configuration import configuration_in_force, configuration_options
from context_firewall.cli.stores import store_option
from context_firewall.errors import InvalidInput

EPILOG = """\b
Exit status:
  0      the client has gone
  2      wrong usage, a configuration that is not one, or the extra [mcp] is missing
  128+n  signal n came; what was running was ended first, and its output kept

\b
Standard input and output carry the protocol, standard error what the SDK warns of.
"""


@click.command(epilog=EPILOG, short_help="Serve the commands to an agent, over the Model Context Protocol.")
@click.option("--folder", metavar="PATH", help="Work in this folder, as if started there.")
@store_option
@configuration_options
def mcp(*, folder: str | None, store_place: str | None, config_path: str | None, no_config: bool) -> int:
    """Serve the commands to an agent, over the Model Context Protocol.

    An agent's program starts this by itself and speaks with it over standard input and output. Tools are run_tests,
    raw, runs, explain, verify and guard; resources are the documents of stored runs. What may be run is listed under
    `commands` in the project's configuration; nothing else is run, and no shell reads it. The list is read once, at the
    start.

    \b
    pip install 'context-firewall[mcp]'
    claude mcp add context-firewall -- context-firewall mcp
    """
    if folder is not None:
        try:
            os.chdir(folder)
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            details = {"option": "--folder", "path": shown_path(folder)}
            raise InvalidInput(f"--folder cannot be used: {reason}", **details) from problem
    project = configuration_in_force(config_path, no_config)
    try:
        from context_firewall.cli.mcp.server import serve
    except ImportError as problem:
        raise InvalidInput(f"mcp needs its extra: pip install 'context-firewall[mcp]' ({problem})") from problem
    store = [] if store_place is None else [f"--store={store_place}"]
    configuration = ["--no-config"] * no_config if config_path is None else [f"--config={config_path}"]
    return serve(project.commands, store=store, configuration=configuration)
