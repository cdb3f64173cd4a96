"""The commands: `silica`, and below it `silica memory` and `silica notes` with their verbs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from memory_v2 import __version__
from memory_v2.cli.chosen_memory import ChosenMemory
from memory_v2.cli.edge import Program, VerbGroup
from memory_v2.cli.verb import WHICH_MEMORY, Verb, loaded
from memory_v2.settings import DEFAULT_FOLDER, DEFAULT_MODEL

SECTIONS = {
    "Every day": "pages.write overview.search pages.read overview.tree pages.edit entries.capture history.history "
    "history.undo overview.check view.view connect.init",
    "More: pages": "overview.ls pages.replace pages.split pages.merge pages.rename pages.delete overview.graph",
    "More: entries": "app.entries entries.route entries.consolidate entries.age entries.verify entries.promote "
    "entries.dedupe entries.status entries.domains",
    "More: what has changed": "history.show history.diff history.blame history.restore app.checkpoint history.forget "
    "history.gc traces.trace traces.replay",
    "More: in and out": "transfer.import transfer.migrate transfer.export",
    "More: agents and settings": "agents.mcp agents.context agents.config",
}
"""The verbs of `silica memory` by purpose, in the order of its help, each below the module of this folder that has it.
That of `show`, which means something else there, is `show_verb`."""
ENTRIES = {"Commands": "entries.ls entries.import entries.export entries.show entries.retract"}
CHECKPOINTS = {"Commands": "history.create history.list history.show history.export history.load history.restore"}
NOTES = {
    "Verbs": "notes.index notes.status notes.search notes_findings.extract notes_findings.digest notes_findings.audit "
    "notes.graph notes_findings.watch notes.archive notes.undo",
}


class Verbs(VerbGroup):
    """The verbs of a group, by purpose. The module of a verb is imported when it is asked for."""

    command_class = Verb

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, str],
        prefix: str = "",
        **extra: Any,
    ) -> None:
        super().__init__(*args, **extra)
        self._sections, self._prefix = {purpose: names.split() for purpose, names in sections.items()}, prefix
        named = (name.split(".") for names in self._sections.values() for name in names)
        self._modules = {verb: module for module, verb in named}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the sections, not by name."""
        return list(self._modules)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section for each purpose."""
        longest = max(map(len, self._modules))
        for purpose, names in self._sections.items():
            found = ((verb, self.get_command(ctx, verb)) for verb in (name.partition(".")[2] for name in names))
            room = formatter.width - longest - 6
            with formatter.section(purpose):
                formatter.write_dl([(f"{verb:{longest}}", c.get_short_help_str(room)) for verb, c in found if c])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """As click does; for a name that no verb has, all are imported, so that click can name those like it."""
        for name in (cmd_name,) if cmd_name in self._modules else self._modules:
            self.commands[name] = loaded(self._modules[name], f"{self._prefix}{name}", name)
        return self.commands.get(cmd_name)


@click.group(cls=Program)
@click.version_option(__version__, prog_name="silica", message="%(prog)s %(version)s")
@click.pass_context
def silica(context: click.Context) -> None:
    """A memory for AI agents: one Markdown file that grows into a tree by itself.

    \b
    Examples:
      silica memory write "Silica uses pytest for testing"
      silica memory search "How is Silica tested?"
      silica memory tree
      silica view

    \b
    Every day: silica memory write, search, read, tree, edit, capture, history,
    undo, check, view, init. More: silica memory --help
    """
    context.obj = ChosenMemory(None, None)


ENVIRONMENT = """
\b
Environment:
  SILICA_MEMORY_PATH             the folder, if no option chooses one
  SILICA_MEMORY_MODEL            the model, if --model is not given
  SILICA_MEMORY_SIZE_THRESHOLD   split a page above this many bytes (10240)
  SILICA_MEMORY_LIMITS           how much one operation may use of a model:
                                 turns=8,tokens=50000,seconds=60,money=0.05
  SILICA_MEMORY_TRACES           how many traces to keep (200; 0: none)
  SILICA_MEMORY_PRICES           a JSON file with your own prices
  SILICA_MEMORY_TIMEZONE         your time zone, such as Europe/Madrid (UTC)
  SILICA_MEMORY_AGENT            whose entries 'capture' makes (default)
  SILICA_MEMORY_DENSE            off: search by words only, not by meaning
  SILICA_MEMORY_BACKEND          local or s3, if --path is not given
  SILICA_MEMORY_S3_BUCKET        the bucket; boto3 finds the credentials
  SILICA_MEMORY_S3_PREFIX        the prefix of all keys (memory; /: none)
  SILICA_MEMORY_S3_REGION        the region of the bucket
  SILICA_MEMORY_S3_ENDPOINT      the address of another S3 server
  SILICA_MEMORY_S3_CACHE_TTL     seconds to use a cached page without asking
                                 the bucket (300; 0: always ask)
  SILICA_MEMORY_MCP_TOKEN        what clients of 'mcp --http' must send
  NO_COLOR                       no colours on a terminal

'silica memory config' shows which of them can stand in a file, silica.toml, and what each is now.

\b
Exit codes:
  0 success · 1 errors found by 'check --fail'; a replay that differs
  2 usage error · 3 not found, or conflict · 4 storage failed
  5 model failed
"""


@silica.group(
    "memory",
    cls=Verbs,
    sections=SECTIONS,
    epilog=ENVIRONMENT,
    invoke_without_command=True,
    options_metavar="[--path FOLDER] [--model NAME]",
    subcommand_metavar="VERB ...",
)
@click.option(
    "--path",
    metavar="FOLDER",
    help=f"The memory's folder, created by the first write. Default: SILICA_MEMORY_PATH, else {DEFAULT_FOLDER}.",
)
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="The memory of the project in this folder: .silica/memory in its git repository, whatever the worktree.",
)
@click.option("--persona", metavar="NAME", help="The memory of a persona, in ~/.silica/personas.")
@click.option(
    "--model",
    metavar="NAME",
    help=f"The model. Default: SILICA_MEMORY_MODEL, else '{DEFAULT_MODEL}', which needs no key and no network.",
)
@click.pass_context
def memory(ctx: click.Context, path: str | None, project: Path | None, persona: str | None, model: str | None) -> None:
    """Write, read, search and manage a memory: a tree of Markdown pages.

    The options below choose the memory and go before the verb; a verb's own options go after it. With --json, every
    verb prints exactly one JSON document.

    \b
    Examples:
      silica memory write "Silica uses pytest for testing"
      silica memory --path ./notes search "How is Silica tested?"
      silica memory ls --json
    """
    ctx.obj = ChosenMemory.from_options(path, model, project, persona)
    if ctx.invoked_subcommand is None:
        ctx.invoke(loaded("overview", "summary"))


@silica.group(
    "notes",
    cls=Verbs,
    sections=NOTES,
    subcommand_metavar="VERB [FOLDER] ...",
)
def notes() -> None:
    """Read any folder of Markdown: MEMORY.md and daily logs, a vault, a memory.

    Nothing in the folder is changed, except by 'archive --apply'. What is read is kept in your cache folder, so that
    the next run opens only what was touched. Without a FOLDER, it is the present one. With --json, every verb prints
    exactly one JSON document, and 'watch' one for each change.

    \b
    Examples:
      silica notes index ~/agent/memory
      silica notes search "post quality" ~/agent/memory
      silica notes extract ~/agent/memory --all --category decisions
      silica notes digest ~/agent/memory --days 7
      silica notes audit ~/agent/memory

    \b
    Environment:
      SILICA_MEMORY_TIMEZONE   your time zone, such as Europe/Madrid (UTC)

    \b
    Exit codes:
      0 success · 1 something found by 'audit --fail-on' · 2 usage error
      4 storage failed
    """


@click.group(
    cls=Verbs,
    sections=ENTRIES,
    prefix="entries_",
    epilog=WHICH_MEMORY.format(verb="entries"),
    subcommand_metavar="VERB ...",
)
def entries() -> None:
    """List, show and retract entries, bring some in, and write them out.

    Entries are what 'silica memory capture' puts down: short, dated observations. With --json, each verb prints one
    JSON document.

    \b
    Examples:
      silica memory entries ls --tag ctr --json
      silica memory entries show hawk/obs-2026-02-15-001
    """


@click.group(
    cls=Verbs,
    sections=CHECKPOINTS,
    prefix="checkpoint_",
    epilog=WHICH_MEMORY.format(verb="checkpoint"),
    subcommand_metavar="VERB ...",
)
def checkpoint() -> None:
    """Name a point of the history, export it, and go back to it.

    A checkpoint holds all pages and entries as they are when it is made. Exported, it is a file with a version and a
    checksum, which can be loaded into any memory. With --json, each verb prints one JSON document.

    \b
    Examples:
      silica memory checkpoint create before-the-move
      silica memory checkpoint export before-the-move backup.jsonl
      silica memory --path ./other checkpoint load backup.jsonl
    """
