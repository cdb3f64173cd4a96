"""The verbs that connect agents: mcp, init, context, config."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memory_v2.cli.edge import STORAGE
from memory_v2.cli.output import (
    Column,
    cut,
    on_terminal,
    out,
    out_json,
    out_result,
    plain,
    plain_lines,
    style,
    table,
    tell,
    tell_how_to_begin,
)
from memory_v2.cli.verb import ChosenMemory, Verb, json_option, option_for
from memory_v2.configuration import PATH, SETTINGS, user_file
from memory_v2.errors import SilicaError, UsageError
from memory_v2.locations import project_folder
from memory_v2.mcp.options import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_WAIT, TOKEN, WAYS, Way, check_installed
from memory_v2.memory import Memory
from memory_v2.settings import Settings, configured

if TYPE_CHECKING:
    from memory_v2.hosts.file_change import FileChange
    from memory_v2.hosts.host import Host
    from memory_v2.hosts.place import Launch, Place

HOST_NAMES = ("claude-code", "claude-desktop", "codex", "cursor", "vscode", "gemini-cli")
NAME, PROJECT_NAME = "silica-memory", "silica-project-memory"
"""What hosts call the server. A persona's name is added to the first."""
LINE_WIDTH = 160
"""Columns of a line of a diff that are shown: a file may be one line of a megabyte."""


@click.command(cls=Verb)
@click.option("--apply", "is_applied", is_flag=True, help="Write the changes.")
@click.option("--undo", "is_undone", is_flag=True, help="Take back the last --apply.")
@click.option(
    "--host", "names", type=click.Choice(HOST_NAMES), multiple=True, help="Only this host; can be given several times."
)
@click.option(
    "--decide",
    type=click.Choice(WAYS),
    help="Who decides where texts go: see 'silica memory mcp --help'. With host, the connected agent does.",
)
@json_option
@click.pass_context
def init(
    context: click.Context,
    is_applied: bool,
    is_undone: bool,
    names: tuple[str, ...],
    decide: str | None,
    as_json: bool,
) -> None:
    """Connect the agents on this machine to the memory.

    Finds Claude Code, Claude Desktop, Codex, Cursor, VS Code and Gemini CLI, and shows what would be added to their
    files: the MCP server; where the host has them, a hook that gives each session what the memory knows of the
    project, and a skill that says when to use the memory. Everything else in the files stays as it is, to the byte.
    A file that cannot be understood is left alone.

    With --project before the verb, the files of that project are changed, and the memory is the project's. Run it in
    each git worktree in which agents work: all of them share the memory.

    \b
    Examples:
      silica memory init                         (shows what would change)
      silica memory init --apply
      silica memory init --undo
      silica memory init --apply --decide host   (the agent decides: no key)
      silica memory --project . init --apply     (a memory of this project)
      silica memory --persona office init --apply  (a memory of a persona)
    """
    from memory_v2.hosts.connect import apply, plan, undo

    if is_applied and is_undone:
        raise UsageError("give --apply or --undo, not both")
    chosen: ChosenMemory = context.obj
    place = _place(chosen)
    if is_undone:
        undone = undo(place)
        _report(undone or [], as_json, {"undone": undone is not None})
        if undone is None:
            tell("there is nothing to take back: nothing was applied")
        context.exit(STORAGE if _is_left_alone(undone or []) else 0)
    memory = Settings.from_configuration(configured(os.environ, chosen.path, chosen.model), os.environ)
    hosts = _hosts(place, names)
    model, serving = (("--model", chosen.model) if chosen.model else ()), (("--decide", decide) if decide else ())
    launch = replace(_launch(chosen), model=model, serving=serving)
    changes = plan(place, launch, hosts)
    if is_applied:
        changes = apply(place, launch, hosts, changes)
    server = [launch.server[0], *launch.server[1]]
    told = {"applied": is_applied, "hosts": [host.name for host in hosts], "path": str(memory.path), "server": server}
    _report(changes, as_json, told)
    _tell_what_next(changes, hosts, is_applied)
    context.exit(STORAGE if is_applied and _is_left_alone(changes) else 0)


def _place(chosen: ChosenMemory) -> Place:
    from memory_v2.hosts.place import Place

    try:
        return Place(Path.home(), os.environ, sys.platform, chosen.checkout)
    except RuntimeError as error:
        raise UsageError("your home folder is not known: set HOME") from error


def _hosts(place: Place, names: Sequence[str]) -> list[Host]:
    from memory_v2.hosts.connect import HOSTS

    return [host for host in HOSTS if (host.name in names if names else host.is_here(place))]


def _launch(chosen: ChosenMemory) -> Launch:
    """How hosts start the memory that was chosen. They do not see the variables of this shell: a folder that one of
    them names is told as an option."""
    from memory_v2.hosts.place import Launch, installed_program

    if chosen.project:
        return Launch(installed_program(), ("--project", str(chosen.project)), PROJECT_NAME)
    if chosen.persona:
        return Launch(installed_program(), ("--persona", chosen.persona), f"{NAME}-{chosen.persona}")
    found = configured(os.environ, chosen.path, chosen.model)
    folder = found.find(PATH)
    if not folder.text.isprintable():  # also of bytes that are not UTF-8
        raise UsageError("the files of hosts cannot hold the name of this folder")
    is_told = folder.origin in ("--path", PATH.variable)
    path = ("--path", str(Path(folder.text).expanduser().absolute())) if is_told else ()
    return Launch(installed_program(), path, NAME)


def _is_left_alone(changes: Sequence[FileChange]) -> bool:
    return any(change.problem for change in changes)


def _report(changes: Sequence[FileChange], as_json: bool, told: dict[str, object]) -> None:
    """Tells what was done to each file, or would be: with the lines that come and go, unless they were taken back."""
    if as_json:
        out_json({**told, "files": [change.to_dict() for change in changes]})
        return
    shown: set[bytes | None] = set()
    for change in changes:
        what = f"{', '.join(change.hosts)}: " if change.hosts else ""
        done = "taken back" if "undone" in told else ""
        state = "left alone" if change.problem else done if change.is_change else "nothing to do"
        head = f"  {what}{', '.join(change.purposes)}" + (f" ({state})" if state else "")
        out(style(plain(str(change.file)), fg="cyan") + head)
        if change.problem:
            tell(f"{change.file} is left alone: {change.problem}")
        elif change.is_change and change.before is None and change.after in shown:  # the same skill for several hosts
            out("    the same text as above")
        elif not done:
            _show_lines(change.diff())
        shown.add(change.after)


def _show_lines(diff: Sequence[str]) -> None:
    for line in diff:
        colour = {"+": "green", "-": "red"}.get(line[0])
        out("    " + style(cut(plain(line), LINE_WIDTH), fg=colour))


def _tell_what_next(changes: Sequence[FileChange], hosts: Sequence[Host], is_applied: bool) -> None:
    if not hosts:
        tell(f"no host was found; name one with --host: {', '.join(HOST_NAMES)}")
        return
    if find_spec("mcp") is None:
        tell("the hosts cannot start the server yet: pip install 'silica-memory[mcp]'")
    if os.environ.get("SILICA_MEMORY_BACKEND"):
        tell("hosts do not see SILICA_MEMORY_BACKEND of this shell: set it in silica.toml ('silica memory config')")
    if not any(change.is_change for change in changes):
        return
    if not is_applied:
        tell("nothing was written; 'silica memory init --apply' writes it, and --undo takes it back")
        return
    for host in hosts:
        tell(f"{host.title}: {host.then}")


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

    model = "offline" if way == "planner" else chosen.model
    with chosen.opened(model=model, on_event=note_operation) as memory:
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


HOOKS = ("session-start", "cursor")
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
    help="Print it as a host's hook does: session-start for Claude Code, Codex, Gemini CLI and VS Code. Never fails.",
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
    if hook == "cursor":
        return {"additional_context": text}
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
