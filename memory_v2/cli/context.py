"""The verb that prints what a session begins with. Hosts run it in their hooks."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from memory_v2.cli.report import out_result, tell_how_to_begin
from memory_v2.cli.show import on_terminal, out, out_json, plain_lines, tell
from memory_v2.cli.verb import ChosenMemory, Verb, json_option, option_for
from memory_v2.errors import SilicaError
from memory_v2.memory import Memory
from memory_v2.scope import project_folder

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
