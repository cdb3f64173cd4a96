"""The commands: `silica`, and below it `silica memory` and `silica notes` with their verbs."""

from __future__ import annotations

from pathlib import Path

import click

from memory_v2 import __version__
from memory_v2.cli.edge import Program
from memory_v2.cli.verb import ChosenMemory, MemoryVerbs, loaded
from memory_v2.settings import DEFAULT_FOLDER, DEFAULT_MODEL

VERBS = {
    "Every day": {
        "write": "pages",
        "search": "search",
        "read": "pages",
        "tree": "overview",
        "edit": "pages",
        "capture": "entries",
        "history": "history",
        "undo": "history",
        "check": "overview",
        "init": "connect",
    },
    "More: pages": {
        "ls": "overview",
        "split": "pages",
        "merge": "pages",
        "rename": "pages",
        "delete": "pages",
        "graph": "overview",
    },
    "More: entries": {
        "entries": "entries",
        "route": "curate",
        "consolidate": "curate",
        "age": "curate",
        "verify": "curate",
        "promote": "curate",
        "dedupe": "curate",
        "status": "curate",
        "domains": "curate",
    },
    "More: what has changed": {
        "show": "history",
        "diff": "history",
        "blame": "history",
        "restore": "history",
        "checkpoint": "maintenance",
        "forget": "maintenance",
        "gc": "maintenance",
        "trace": "traces",
        "replay": "traces",
    },
    "More: in and out": {
        "import": "transfer:import_verb",
        "migrate": "transfer",
        "export": "transfer",
    },
    "More: agents and settings": {
        "mcp": "agents",
        "context": "agents",
        "config": "agents",
    },
}
"""The verbs of `silica memory` in the order of its help, by purpose: each with its module in this folder, and the
function there if that has another name."""

NOTES_VERBS = {
    "Verbs": {
        "index": "notes_reading",
        "status": "notes_reading",
        "search": "notes_reading",
        "extract": "notes_working",
        "digest": "notes_working",
        "audit": "notes_working",
        "graph": "notes_reading",
        "watch": "notes_changing",
        "archive": "notes_changing",
        "undo": "notes_changing",
    }
}
"""The verbs of `silica notes`, likewise."""


class Commands(Program):
    """The commands. `serve` is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """`memory` and `notes`, then `serve`."""
        return [*super().list_commands(ctx), "serve"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """As click does."""
        return loaded("serve", "serve") if cmd_name == "serve" else super().get_command(ctx, cmd_name)


@click.group(cls=Commands, invoke_without_command=True)
@click.version_option(__version__, prog_name="silica", message="%(prog)s %(version)s")
@click.pass_context
def silica(context: click.Context) -> None:
    """A memory for AI agents: one Markdown file that grows into a tree by itself.

    \b
    Examples:
      silica memory write "Silica uses pytest for testing"
      silica memory search "How is Silica tested?"
      silica memory tree

    \b
    Every day: silica memory write, search, read, tree, edit, capture, history,
    undo, check, init. More: silica memory --help
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


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
    cls=MemoryVerbs,
    sections=VERBS,
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
@click.option(
    "--persona",
    metavar="NAME",
    help="The memory of a persona, in ~/.silica/personas.",
)
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
        ctx.invoke(loaded("overview:summary"))


@silica.group(
    "notes", cls=MemoryVerbs, sections=NOTES_VERBS, invoke_without_command=True, subcommand_metavar="VERB [FOLDER] ..."
)
@click.pass_context
def notes(ctx: click.Context) -> None:
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
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
