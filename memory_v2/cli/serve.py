"""The command that serves the memory to many agents: `silica serve`, with backup, restore and keys."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import click

from memory_v2.cli.output import out, tell
from memory_v2.service.options import (
    DATABASE_URL,
    DEFAULT_HOST,
    DEFAULT_PORT,
    REDIS_URL,
    ServiceOptions,
    check_installed,
)
from memory_v2.settings import Settings


@click.group("serve", invoke_without_command=True)
@click.option(
    "--path", metavar="FOLDER", help="The memory's folder. Default: SILICA_MEMORY_PATH, else ~/.silica/memory_v2."
)
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=DEFAULT_PORT, show_default=True, help="The port; 0: any free one."
)
@click.option("--model", metavar="NAME", help="The model of the memory. Default: SILICA_MEMORY_MODEL, else offline.")
@click.pass_context
def serve(ctx: click.Context, path: str | None, host: str, port: int, model: str | None) -> None:
    """Serve the memory to many agents, over REST, WebSocket and SSE.

    All is kept in the memory's folder: the pages, and one SQLite file. The first start prints a key, once. It needs the
    extra: pip install 'silica-memory[service]'.

    \b
    Examples:
      silica serve
      silica serve --path ./shared --port 9000
      silica serve keys --tenant acme --source hawk
      silica serve backup shared.tar.gz

    \b
    Environment:
      DATABASE_URL   PostgreSQL, such as postgresql://user@host/name, for what
                     only the service has (one SQLite file)
      REDIS_URL      Redis or Valkey, such as redis://host:6379, with which the
                     service may run in several processes (one process)
    """
    settings = Settings.from_environment(os.environ, path, model)
    databases = {name: os.environ.get(name, "") for name in (DATABASE_URL, REDIS_URL)}
    ctx.obj = ServiceOptions(settings.path, host, port, databases[DATABASE_URL], databases[REDIS_URL], model)
    if ctx.invoked_subcommand is None:
        _service().serve(ctx.obj, _report)


def _service() -> ModuleType:
    """The module that starts the service. Raises `InvalidSetting` if the extra is missing."""
    check_installed()
    from memory_v2.service import server

    return server


def _report(address: str, token: str | None) -> None:
    shown = token or "dm_…"
    if token:
        out(f"key, shown this once: {token}\n")
    out(
        f"serving {address} until Ctrl-C; try:\n"
        f"  curl -H 'Authorization: Bearer {shown}' -H 'Content-Type: application/json' \\\n"
        f"""    -d '{{"session_id": "CHAT-1"}}' {address}/api/v1/memory/context\n"""
    )


@serve.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_obj
def backup(options: ServiceOptions, file: Path) -> None:
    """Write everything into one FILE; the service may be running."""
    tell(f"{_service().back_up(options, file)} files are in {file}")


@serve.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.pass_obj
def restore(options: ServiceOptions, file: Path) -> None:
    """Restore a backup FILE into an empty folder, after checking it."""
    tell(f"{_service().restore(options, file)} files are in {options.folder}")


@serve.command()
@click.option("--tenant", default="default", show_default=True, help="The tenant; a new name makes a new tenant.")
@click.option("--source", "sources", multiple=True, metavar="NAME", help="An agent that it speaks for; any by default.")
@click.option("--scope", "scopes", multiple=True, metavar="NAME", help="memory:read and memory:write by default.")
@click.option("--tier", default="standard_tier", show_default=True, help="free_tier, standard_tier or unlimited_tier.")
@click.pass_obj
def keys(options: ServiceOptions, tenant: str, sources: tuple[str, ...], scopes: tuple[str, ...], tier: str) -> None:
    """Make a key and print it, once."""
    given = {"tenant": tenant, "sources": list(sources), "scopes": list(scopes), "tier": tier}
    token = _service().add_key(options, {name: value for name, value in given.items() if value})
    out(f"{token}\n")
