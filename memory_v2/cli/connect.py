"""The verb that connects hosts: init."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import click

from memory_v2.cli.chosen_memory import ChosenMemory
from memory_v2.cli.edge import NOT_FOUND, STORAGE
from memory_v2.cli.output import Notice, Output, is_asked
from memory_v2.cli.show import show
from memory_v2.cli.verb import Option, ended, verb
from memory_v2.configuration import OLDER, PATH
from memory_v2.errors import UsageError
from memory_v2.hosts.connect import apply, connection_plan, plan, undo
from memory_v2.hosts.files import FileChange
from memory_v2.hosts.host import Host, Launch, UserEnvironment, installed_program
from memory_v2.hosts.known import HOSTS
from memory_v2.mcp.options import Way
from memory_v2.settings import Settings, configured

HOST_NAMES = tuple(host.name for host in HOSTS)
NAME, PROJECT_NAME = "silica-memory", "silica-project-memory"
"""What hosts call the server. A persona's name is added to the first."""


@verb()
def init(
    chosen: ChosenMemory,
    is_applied: Annotated[bool, Option("Write the changes.", "--apply")],
    is_undone: Annotated[bool, Option("Take out what connects them to this memory.", "--undo")],
    names: Annotated[
        tuple[str, ...], Option("Only this host; can be given several times.", "--host", type=click.Choice(HOST_NAMES))
    ],
    decide: Annotated[
        Way | None, "Who decides where texts go: see 'silica memory mcp --help'. With host, the connected agent does."
    ],
    is_allowed: Annotated[
        bool | None,
        Option(
            "Let Claude Code, Gemini CLI and Qwen Code use the memory without asking, or not; a terminal is asked.",
            "--allow/--no-allow",
        ),
    ] = None,
    as_json: bool = False,
) -> Iterator[Output]:
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
    user = _user(chosen)
    if is_undone:
        meant = [host for host in HOSTS if not names or host.name in names]
        undone = undo(user, _launch(chosen), meant, [host for host in HOSTS if host not in meant])
        done = connection_plan(undone, is_applied=True, undone=bool(undone))
        yield from show(done)
        if not undone:
            yield Notice("there is nothing to take back: no host is connected to this memory")
    else:
        memory = Settings.from_configuration(configured(os.environ, chosen.path, chosen.model), os.environ)
        hosts = [host for host in HOSTS if (host.name in names if names else host.is_here(user))]
        model, serving = (("--model", chosen.model) if chosen.model else ()), (("--decide", decide) if decide else ())
        launch = replace(_launch(chosen), model=model, serving=serving, is_allowed=is_allowed)
        changes = plan(user, launch, hosts)
        allowing, forbidding = (plan(user, replace(launch, is_allowed=each), hosts) for each in (True, False))
        differ = (new for new, old in zip(allowing, changes, strict=True) if new.after != old.after)
        asking = ", ".join(dict.fromkeys(title for change in differ for title in change.hosts))
        if asking and is_allowed is None and is_applied and is_asked(yes=as_json):
            question = (
                f"May agents ({asking}) use all tools of the memory without asking each time? "
                "What a tool changes can be undone"
            )
            changes, asking = allowing if click.confirm(question, err=True) else forbidding, ""
        if is_applied:
            changes = apply(changes)
        server = [launch.server[0], *launch.server[1]]
        facts = {"hosts": [host.name for host in hosts], "path": str(memory.path), "server": server}
        done = connection_plan(changes, is_applied, **facts)
        yield from show(done)
        yield from _what_next(changes, hosts, is_applied, user, launch.name)
        if asking and is_allowed is None:
            yield Notice(
                f"{asking} will ask you before each tool, and use none where nobody can be asked; --allow lets it"
            )
        elif hosts and is_allowed is not None and allowing == forbidding:
            yield Notice("none of these hosts reads from a file whether agents must ask: say it in the host")
        if is_applied and not hosts:
            raise ended(NOT_FOUND)
    if done.warnings and (is_applied or is_undone):
        raise ended(STORAGE)


def _user(chosen: ChosenMemory) -> UserEnvironment:
    try:
        return UserEnvironment(Path.home(), os.environ, sys.platform, chosen.checkout)
    except RuntimeError as error:
        raise UsageError("your home folder is not known: set HOME") from error


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


def _what_next(
    changes: Sequence[FileChange], hosts: Sequence[Host], is_applied: bool, user: UserEnvironment, name: str
) -> Iterator[Notice]:
    if not hosts:
        looked = dict.fromkeys(str(user.path(template)) for host in HOSTS for template in host.here)
        yield Notice(
            "no agent is connected, for none was found on this machine: start your agent once, or name it: "
            f"silica memory init --apply --host {HOST_NAMES[0]} (or {', '.join(HOST_NAMES[1:])})"
        )
        yield Notice(f"looked for {', '.join(looked)}")
        return
    if find_spec("mcp") is None:
        yield Notice("the hosts cannot start the server yet: pip install 'silica-memory[mcp]'")
    if os.environ.get("SILICA_MEMORY_BACKEND"):
        yield Notice(
            "hosts do not see SILICA_MEMORY_BACKEND of this shell: set it in silica.toml ('silica memory config')"
        )
    has_files = {title for change in changes for title in change.hosts}
    is_alone = {title for change in changes if change.problem for title in change.hosts}
    is_change = any(change.is_change for change in changes)
    for host in hosts:
        if host.title not in has_files:
            yield Notice(f"{host.title} has no settings for a project: without --project, it is connected to yours")
        elif is_applied and is_change and host.title not in is_alone:
            then = (host.in_project if user.project else "") or host.then
            yield Notice(f"{host.title}: {then.replace('NAME', name)}")
    if is_change and not is_applied:
        yield Notice("the same command with --apply writes it, and with --undo takes it back")
