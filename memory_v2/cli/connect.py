"""The verb that connects hosts: init."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import click

from memory_v2.cli.edge import STORAGE
from memory_v2.cli.output import (
    cut,
    is_asked,
    out,
    out_json,
    plain,
    style,
    tell,
)
from memory_v2.cli.verb import ChosenMemory, Verb, json_option
from memory_v2.configuration import OLDER, PATH
from memory_v2.errors import UsageError
from memory_v2.hosts.connect import apply, plan, undo
from memory_v2.hosts.files import FileChange
from memory_v2.hosts.host import Host, Launch, Place, installed_program
from memory_v2.hosts.known import HOSTS
from memory_v2.mcp.options import WAYS
from memory_v2.settings import Settings, configured

HOST_NAMES = tuple(host.name for host in HOSTS)
NAME, PROJECT_NAME = "silica-memory", "silica-project-memory"
"""What hosts call the server. A persona's name is added to the first."""
LINE_WIDTH = 160
"""Columns of a line of a diff that are shown: a file may be one line of a megabyte."""


@click.command(cls=Verb)
@click.option("--apply", "is_applied", is_flag=True, help="Write the changes.")
@click.option("--undo", "is_undone", is_flag=True, help="Take out what connects them to this memory.")
@click.option(
    "--host", "names", type=click.Choice(HOST_NAMES), multiple=True, help="Only this host; can be given several times."
)
@click.option(
    "--decide",
    type=click.Choice(WAYS),
    help="Who decides where texts go: see 'silica memory mcp --help'. With host, the connected agent does.",
)
@click.option(
    "--allow/--no-allow",
    "is_allowed",
    default=None,
    help="Let Claude Code, Gemini CLI and Qwen Code use the memory without asking; a terminal is asked.",
)
@json_option
@click.pass_context
def init(
    context: click.Context,
    is_applied: bool,
    is_undone: bool,
    names: tuple[str, ...],
    decide: str | None,
    is_allowed: bool | None,
    as_json: bool,
) -> None:
    """Connect the agents on this machine to the memory.

    Finds Claude Code, Claude Desktop, Codex, Cursor, VS Code, Gemini CLI, Copilot CLI, Qwen Code, opencode, Cline and
    Continue, and shows what would be added to their files: the MCP server; where the host has them, a hook that gives
    each session what the memory knows of the project, and a skill that says when to use the memory. Everything else in
    the files stays as it is, to the byte. A file that cannot be understood is left alone.

    With --project before the verb, the files of that project are changed, and the memory is the project's. Run it in
    each git worktree in which agents work: all of them share the memory.

    \b
    Examples:
      silica memory init                         (shows what would change)
      silica memory init --apply
      silica memory init --apply --allow         (agents need not ask)
      silica memory init --undo
      silica memory init --apply --decide host   (the agent decides: no key)
      silica memory --project . init --apply     (a memory of this project)
      silica memory --persona office init --apply  (a memory of a persona)
    """
    if is_applied and is_undone:
        raise UsageError("give --apply or --undo, not both")
    chosen: ChosenMemory = context.obj
    place = _place(chosen)
    if is_undone:
        undone = undo(place, _launch(chosen), [host for host in HOSTS if not names or host.name in names])
        _report(undone, as_json, {"undone": bool(undone)})
        if not undone:
            tell("there is nothing to take back: no host is connected to this memory")
        context.exit(STORAGE if _is_left_alone(undone) else 0)
    memory = Settings.from_configuration(configured(os.environ, chosen.path, chosen.model), os.environ)
    hosts = _hosts(place, names)
    model, serving = (("--model", chosen.model) if chosen.model else ()), (("--decide", decide) if decide else ())
    if is_allowed is None and is_applied and hosts and is_asked(yes=as_json):
        is_allowed = click.confirm("May agents use the memory without asking each time?", err=True)
    launch = replace(_launch(chosen), model=model, serving=serving, is_allowed=bool(is_allowed))
    changes = plan(place, launch, hosts)
    if is_applied:
        changes = apply(changes)
    server = [launch.server[0], *launch.server[1]]
    told = {"applied": is_applied, "hosts": [host.name for host in hosts], "path": str(memory.path), "server": server}
    _report(changes, as_json, told)
    _tell_what_next(changes, hosts, is_applied)
    context.exit(STORAGE if is_applied and _is_left_alone(changes) else 0)


def _place(chosen: ChosenMemory) -> Place:
    try:
        return Place(Path.home(), os.environ, sys.platform, chosen.checkout)
    except RuntimeError as error:
        raise UsageError("your home folder is not known: set HOME") from error


def _hosts(place: Place, names: Sequence[str]) -> list[Host]:
    return [host for host in HOSTS if (host.name in names if names else host.is_here(place))]


def _launch(chosen: ChosenMemory) -> Launch:
    """How hosts start the memory that was chosen. They do not see the variables of this shell: a folder that one of
    them names is told as an option."""
    if chosen.project:
        return Launch(installed_program(), ("--project", str(chosen.project)), PROJECT_NAME)
    if chosen.persona:
        return Launch(installed_program(), ("--persona", chosen.persona), f"{NAME}-{chosen.persona}")
    found = configured(os.environ, chosen.path, chosen.model)
    folder = found.find(PATH)
    if not folder.text.isprintable():  # also of bytes that are not UTF-8
        raise UsageError("the files of hosts cannot hold the name of this folder")
    is_told = folder.origin in ("--path", PATH.variable, *OLDER)
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
