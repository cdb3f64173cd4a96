"""The verbs for agents: mcp, context, config; and `silica serve`, with backup, restore and keys."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import click

from memory_v2.cli.chosen_memory import ChosenMemory
from memory_v2.cli.output import (
    Column,
    Document,
    Hint,
    Notice,
    Output,
    on_terminal,
    out,
    out_json,
    plain_lines,
    table,
    tell,
)
from memory_v2.cli.show import how_to_begin
from memory_v2.cli.verb import Option, misuse, verb
from memory_v2.configuration import PATH, SETTINGS, user_file
from memory_v2.errors import SilicaError
from memory_v2.index.dense.installed import HOW, missing
from memory_v2.locations import project_folder
from memory_v2.mcp.options import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_WAIT, TOKEN, Way, check_installed
from memory_v2.memory import Memory
from memory_v2.service.options import DATABASE_URL, REDIS_URL, SCOPES, USUAL_SCOPES, ServiceOptions
from memory_v2.service.options import DEFAULT_HOST as SERVICE_HOST
from memory_v2.service.options import DEFAULT_PORT as SERVICE_PORT
from memory_v2.service.options import check_installed as check_service
from memory_v2.settings import Settings, configured


@verb()
def mcp(
    chosen: ChosenMemory,
    way: Annotated[Way, Option("Who decides where texts go and how pages are divided.", "--decide")] = "model",
    wait: Annotated[
        float,
        Option(
            "Seconds that a text waits for the agent's decision; then it is filed without.",
            type=click.FloatRange(min=1, max=86_400),
        ),
    ] = DEFAULT_WAIT,
    http: Annotated[bool, "Serve over HTTP instead of standard input and output."] = False,
    host: Annotated[str, "The address to listen on."] = DEFAULT_HOST,
    port: Annotated[int, Option("The port; 0: any free one.", type=click.IntRange(0, 65_535))] = DEFAULT_PORT,
    structured: Annotated[bool, "Give each answer's facts as structured content too, for programs."] = False,
    origins: Annotated[tuple[str, ...], Option("Also answer web pages of this origin.", "--origin", "URL")] = (),
    as_json: bool = False,
) -> Iterator[Output]:
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
        raise misuse("--json goes with --http: standard output carries the protocol")
    check_installed()
    from memory_v2.mcp.calls import note_operation  # these need the extra
    from memory_v2.mcp.server import MemoryServer

    def report(address: str) -> None:
        if as_json:
            out_json({"address": address})
        else:
            tell(f"serving {address} until Ctrl-C")

    model = "offline" if way == "planner" else chosen.model
    with chosen.opened(model=model, on_event=note_operation) as memory:
        served = MemoryServer(memory, way, wait, chosen.name, is_structured=structured)
        if http:
            from memory_v2.mcp.http import serve as serve_http

            token = os.environ.get(TOKEN, "")
            serve_http(served, host=host, port=port, token=token, origins=origins, on_address=report)
            return
        from memory_v2.mcp.stdio import serve as serve_stdio

        if on_terminal(sys.stdin):
            yield Notice("an agent's host starts this and talks to it; to try it by hand use --http. Ctrl-C ends it")
        serve_stdio(served)


INPUT_SECONDS = 1.0
"""Seconds to wait for what a host says on standard input; hosts write it at once, and some leave it open."""
MOST_INPUT = 1_000_000
"""Bytes of it that are read."""


@verb(Memory.context, project="--for")
def context(
    chosen: ChosenMemory,
    max_tokens: int,
    project: Annotated[
        str | None, Option("The project's name. Default: that of the present folder.", metavar="NAME")
    ] = None,
    hook: Annotated[
        Literal["session-start", "cursor", "copilot"] | None,
        "Print it as a host's hook does: cursor, copilot for its CLI, session-start for all others. Never fails.",
    ] = None,
) -> Iterator[Output]:
    """Print what an agent's session begins with.

    The root page, then the pages about the present project, framed as data and cut to a limit of tokens. No model is
    asked and nothing is changed. 'silica memory init' has hosts run this at the start of each session.

    \b
    Examples:
      silica memory context
      silica memory context --max-tokens 500 --for silica
    """
    if hook:
        out_json(_hook_document(hook, _text_for_hook(chosen, max_tokens, project)))
        return
    with Memory.open(chosen.path, chosen.model) as memory:
        found = memory.context(max_tokens, project or _project(_present_folder()))
        yield Document(found)
        yield plain_lines(found.text).encode()
        if not found.text:
            yield from how_to_begin(memory)


def _text_for_hook(chosen: ChosenMemory, max_tokens: int, project: str | None) -> str:
    """What a hook adds to a session; nothing, with a notice, if the memory cannot be read: the session goes on."""
    try:
        with Memory.open(chosen.path, chosen.model) as memory:
            return memory.context(max_tokens, project or _project(_folder_of_session())).text
    except (SilicaError, OSError) as error:
        tell(f"{error}; the session begins without its memory")
        return ""


def _hook_document(hook: str, text: str) -> dict[str, Any]:
    if not text:
        return {}
    if hook != "session-start":
        return {"additional_context" if hook == "cursor" else "additionalContext": text}
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}


def _project(folder: Path | None) -> str | None:
    """The name of the project in a folder; a home folder and the root of the disk are none."""
    if folder is None:
        return None
    found = project_folder(folder)
    no_project = [Path(found.anchor)]
    with suppress(RuntimeError):  # the home folder is not known
        no_project.append(Path.home())
    return None if found in no_project else found.name


def _present_folder() -> Path | None:
    with suppress(OSError):  # it was deleted
        return Path.cwd()
    return None


def _folder_of_session() -> Path | None:
    """The folder that the host names on standard input, else the present one."""
    try:
        told = json.loads(_input())
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict):
        roots = told.get("workspace_roots")
        named = roots[0] if isinstance(roots, list) and roots else told.get("cwd")
        if isinstance(named, str) and Path(named).is_absolute() and "\0" not in named:
            return Path(named)
    return _present_folder()


def _input() -> bytes:
    if sys.stdin is None or on_terminal(sys.stdin):
        return b""
    parts: list[bytes] = []

    def receive() -> None:
        with suppress(OSError, ValueError):  # it is closed, or no file at all
            while sum(map(len, parts)) < MOST_INPUT and (part := os.read(sys.stdin.fileno(), 65_536)):
                parts.append(part)

    reader = threading.Thread(target=receive, daemon=True)
    reader.start()
    reader.join(INPUT_SECONDS)
    return b"".join(parts)


SETTING_COLUMNS = (Column("setting"), Column("value"), Column("from", is_long=True), Column("variable", drop=1))


@verb()
def config(chosen: ChosenMemory) -> Iterator[Output]:
    """Show each setting, its value and where it comes from.

    An option before the verb counts first, then the environment, then silica.toml in the memory's folder, then
    silica.toml in your configuration folder, then the default. The file in a memory can only set what describes that
    memory, size_threshold and timezone: never a model, an endpoint or a limit of cost.

    \b
    Your silica.toml can look like this:
      model = "anthropic:claude-sonnet-5-5"
      timezone = "Europe/Madrid"
      limits = { turns = 8, money = 0.05 }
      s3 = { bucket = "memories" }

    \b
    Examples:
      silica memory config
      silica memory --path ./notes config --json
    """
    found = configured(os.environ, chosen.path, chosen.model)
    settings = Settings.from_configuration(found, os.environ)  # a value that means nothing is told before any is shown
    own = user_file(os.environ)
    rows = []
    for setting in SETTINGS:
        given = found.find(setting)
        origin = chosen.option if setting is PATH and given.origin == "--path" else given.origin
        rows.append({"setting": setting.key, "value": given.text, "from": origin, "variable": setting.variable})
    files = [str(file) for file in found.files]
    yield Document(
        settings=rows,
        path=str(settings.path),
        user_file=str(own) if own else None,
        files_read=files,
        ignored=found.ignored,
    )
    yield from table(SETTING_COLUMNS, [list(row.values()) for row in rows])
    if settings.dense and missing():
        yield Hint(f"search goes by words alone: what it takes to search by meaning (dense) is not installed; {HOW}")


@click.group("serve", invoke_without_command=True)
@click.option(
    "--path", metavar="FOLDER", help="The memory's folder. Default: SILICA_MEMORY_PATH, else ~/.silica/memory_v2."
)
@click.option("--host", default=SERVICE_HOST, show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=SERVICE_PORT, show_default=True, help="The port; 0: any free one."
)
@click.option("--model", metavar="NAME", help="The model of the memory. Default: SILICA_MEMORY_MODEL, else offline.")
@click.option("--origin", "origins", metavar="URL", multiple=True, help="Also answer web pages of this origin.")
@click.pass_context
def serve(
    ctx: click.Context, path: str | None, host: str, port: int, model: str | None, origins: tuple[str, ...]
) -> None:
    """Serve the memory to many agents, over REST, WebSocket and SSE.

    All is kept in the memory's folder: the pages, and one SQLite file. The first start prints a key, once. It needs the
    extra: pip install 'silica-memory[service]'.

    \b
    Examples:
      silica serve
      silica serve --path ./shared --port 9000
      silica serve keys --source hawk
      silica serve backup shared.tar.gz

    \b
    Environment:
      DATABASE_URL   PostgreSQL, such as postgresql://user@host/name, for what
                     only the service has (one SQLite file)
      REDIS_URL      Redis or Valkey, such as redis://host:6379, with which the
                     service may run in several processes (one process)
      SILICA_MEMORY_BACKEND, SILICA_MEMORY_S3_…
                     a bucket for pages and entries (the folder)
    """
    settings = Settings.from_environment(os.environ, path, model)
    database, redis = (os.environ.get(name, "") for name in (DATABASE_URL, REDIS_URL))
    ctx.obj = ServiceOptions(settings.path, host, port, database, redis, model, settings.s3, origins)
    if ctx.invoked_subcommand is None:
        _service().serve(ctx.obj, _report)


def _service() -> ModuleType:
    """The module that starts the service. Raises `InvalidSetting` if the extra is missing."""
    check_service()
    from memory_v2.service import server

    return server


def _report(address: str, token: str | None) -> None:
    shown = token or "dm_…"
    said = f"key, shown this once: {token}" if token else "the key was shown by the first start; 'keys' makes another"
    curl = f"  curl -H 'Authorization: Bearer {shown}' -H 'Content-Type: application/json' \\\n"
    base = f"{address}/api/v1/memory"
    out(
        f"{said}\nserving {address} until Ctrl-C; store a text, and find it:\n"
        f"""{curl}    -d '{{"text": "Deploy on Mondays."}}' {base}/pages\n"""
        f"""{curl}    -d '{{"query": "When do we deploy?"}}' {base}/search\n"""
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
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    metavar="NAME",
    default=USUAL_SCOPES,
    show_default=True,
    help=f"What it may do, of {', '.join(SCOPES)}; can be given several times.",
)
@click.option("--tier", default="standard_tier", show_default=True, help="free_tier, standard_tier or unlimited_tier.")
@click.pass_obj
def keys(options: ServiceOptions, tenant: str, sources: tuple[str, ...], scopes: tuple[str, ...], tier: str) -> None:
    """Make a key and print it, once.

    Agents that share a memory have keys of one tenant. The service of another folder is named before the verb.

    \b
    Examples:
      silica serve keys --source hawk
      silica serve keys --source owl --scope memory:read --scope pages:read
      silica serve --path ./shared keys --source hawk
    """
    given = {"tenant": tenant, "sources": list(sources), "scopes": list(scopes), "tier": tier}
    token = _service().add_key(options, {name: value for name, value in given.items() if value})
    out(f"{token}\n")
    where = (options.database and "the database") or str(options.folder)
    tell(f"it is of the tenant {tenant} in {where}, and may {' and '.join(scopes)}")
