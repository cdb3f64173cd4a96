"""The verbs that connect agents: mcp, context, config."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from memory_v2.cli.output import (
    Column,
    on_terminal,
    out,
    out_json,
    out_result,
    plain,
    plain_lines,
    table,
    tell,
    tell_how_to_begin,
)
from memory_v2.cli.verb import ChosenMemory, Verb, json_option, option_for
from memory_v2.configuration import PATH, SETTINGS, user_file
from memory_v2.errors import SilicaError
from memory_v2.locations import project_folder
from memory_v2.mcp.options import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_WAIT, TOKEN, WAYS, Way, check_installed
from memory_v2.memory import Memory
from memory_v2.settings import Settings, configured


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
@click.option("--structured", is_flag=True, help="Give each answer's facts as structured content too, for programs.")
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
    structured: bool,
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

    model = "offline" if way == "planner" else chosen.model
    with chosen.opened(model=model, on_event=note_operation) as memory:
        served = MemoryServer(memory, way, wait, chosen.name, is_structured=structured)
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


HOOKS = ("session-start", "cursor", "copilot")
INPUT_SECONDS = 1.0
"""Seconds to wait for what a host says on standard input; hosts write it at once, and some leave it open."""
MOST_INPUT = 1_000_000
"""Bytes of it that are read."""


@click.command(cls=Verb)
@option_for(Memory.context, "max_tokens", "--max-tokens", metavar="COUNT", type=int)
@click.option("--for", "project", metavar="NAME", help="The project's name. Default: that of the present folder.")
@click.option(
    "--hook",
    type=click.Choice(HOOKS),
    help="Print it as a host's hook does: cursor, copilot for its CLI, session-start for all others. Never fails.",
)
@json_option
@click.pass_obj
def context(chosen: ChosenMemory, max_tokens: int, project: str | None, hook: str | None, as_json: bool) -> None:
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
        if as_json:
            out_result(found)
        else:
            out(plain_lines(found.text), newline=False)
        if not found.text:
            tell_how_to_begin(memory)


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


@click.command(cls=Verb)
@json_option
@click.pass_obj
def config(chosen: ChosenMemory, as_json: bool) -> None:
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
    rows = [(setting, found.find(setting)) for setting in SETTINGS]
    if rows[0][1].origin == "--path":
        rows[0] = (PATH, replace(rows[0][1], origin=chosen.option))
    if as_json:
        values = [
            {"setting": setting.key, "value": given.text, "from": given.origin, "variable": setting.variable}
            for setting, given in rows
        ]
        where = {"user_file": str(own) if own else None, "files_read": [str(file) for file in found.files]}
        out_json({"settings": values, "path": str(settings.path), **where, "ignored": found.ignored})
        return
    cells = [[setting.key, plain(given.text), plain(given.origin), setting.variable] for setting, given in rows]
    for line in table(SETTING_COLUMNS, cells):
        out(line)
