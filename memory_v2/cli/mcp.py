"""The verb that serves the memory to agents: mcp."""

from __future__ import annotations

import os
import sys

import click

from memory_v2.cli.show import out_json, tell
from memory_v2.cli.verb import ChosenMemory, Verb, json_option
from memory_v2.mcp.options import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_WAIT, TOKEN, WAYS, Way, check_installed
from memory_v2.memory import Memory


@click.command(cls=Verb)
@click.option(
    "--decide",
    "way",
    type=click.Choice(WAYS),
    default="model",
    show_default=True,
    help="Who decides where texts go and how pages are divided.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=1, max=86_400),
    default=DEFAULT_WAIT,
    show_default=True,
    help="Seconds that a text waits for the agent's decision; then it is filed without.",
)
@click.option("--http", is_flag=True, help="Serve over HTTP instead of standard input and output.")
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=DEFAULT_PORT, show_default=True, help="The port; 0: any free one."
)
@click.option("--origin", "origins", multiple=True, metavar="URL", help="Also answer web pages of this origin.")
@json_option
@click.pass_obj
def mcp(
    chosen: ChosenMemory,
    way: Way,
    wait: float,
    http: bool,
    host: str,
    port: int,
    origins: tuple[str, ...],
    as_json: bool,
) -> None:
    """Serve the memory to agents by the Model Context Protocol.

    An agent's host starts this command and talks to it over standard input and output. With --http it serves any number
    of agents. It needs the extra: pip install 'silica-memory[mcp]'.

    \b
    Who decides (--decide):
      model     the model of the memory, as in all other commands (offline, if
                none is configured)
      planner   the offline planner, whatever is configured
      host      the connected agent: write_memory shows it the text and the
                pages, and it answers with decide_memory

    With --http --json, the document has the address, as soon as clients can connect.

    Other machines can connect only if SILICA_MEMORY_MCP_TOKEN is set to a long random string, which clients then send
    as 'Authorization: Bearer …'.

    \b
    Examples:
      silica memory mcp
      silica memory mcp --decide host
      silica memory --path ./notes mcp --http --port 8787
    """
    if as_json and not http:
        raise click.UsageError("--json goes with --http: standard output carries the protocol")
    check_installed()
    from memory_v2.mcp.calls import note_operation  # these need the extra
    from memory_v2.mcp.server import MemoryServer

    with Memory.open(chosen.path, "offline" if way == "planner" else chosen.model, on_event=note_operation) as memory:
        served = MemoryServer(memory, way, wait)
        if http:
            from memory_v2.mcp.http import serve as serve_http

            report = _print_address if as_json else _tell_address
            token = os.environ.get(TOKEN, "")
            serve_http(served, host=host, port=port, token=token, origins=origins, on_address=report)
            return
        from memory_v2.mcp.stdio import serve as serve_stdio

        if sys.stdin is not None and sys.stdin.isatty():
            tell("an agent's host starts this and talks to it; to try it by hand use --http. Ctrl-C ends it")
        serve_stdio(served)


def _tell_address(address: str) -> None:
    tell(f"serving {address} until Ctrl-C")


def _print_address(address: str) -> None:
    out_json({"address": address})
