"""Which commands there are: `silica`, and below it `silica memory` with its verbs."""

from __future__ import annotations

import click

from memory_v2 import __version__
from memory_v2.cli import back, looking, pages, past, records
from memory_v2.cli.edge import Program
from memory_v2.cli.verb import ChosenMemory, MemoryVerbs
from memory_v2.settings import DEFAULT_FOLDER, DEFAULT_MODEL


@click.group(cls=Program, invoke_without_command=True)
@click.version_option(__version__, prog_name="silica", message="%(prog)s %(version)s")
@click.pass_context
def silica(context: click.Context) -> None:
    """A memory for AI agents: one Markdown file that grows into a tree by itself.

    \b
    Examples:
      silica memory write "Silica uses pytest for testing"
      silica memory search "How is Silica tested?"
      silica memory tree
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@silica.group(
    "memory",
    cls=MemoryVerbs,
    invoke_without_command=True,
    options_metavar="[--path FOLDER] [--model NAME]",
    subcommand_metavar="VERB ...",
)
@click.option(
    "--path",
    metavar="FOLDER",
    help=f"The folder of the memory, made by the first write. Else SILICA_MEMORY_PATH, else {DEFAULT_FOLDER}.",
)
@click.option(
    "--model",
    metavar="NAME",
    help=f"Who decides. Else SILICA_MEMORY_MODEL, else '{DEFAULT_MODEL}', which needs no key and no network.",
)
@click.pass_context
def memory(context: click.Context, path: str | None, model: str | None) -> None:
    """Write, read, search and tend a memory: a tree of Markdown pages.

    The options here choose the memory and stand before the verb; a verb's own options stand after it. Every verb takes
    --json, which prints exactly one JSON document.

    \b
    Examples:
      silica memory write "Silica uses pytest for testing"
      silica memory --path ./notes search "How is Silica tested?"
      silica memory ls --json

    \b
    Environment:
      SILICA_MEMORY_PATH             the folder, if --path is not given
      SILICA_MEMORY_MODEL            the model, if --model is not given
      SILICA_MEMORY_SIZE_THRESHOLD   bytes that a page may have before it is split
      SILICA_MEMORY_LIMITS           what one operation may take of a model:
                                     turns=8,tokens=50000,seconds=60,money=0.05
      SILICA_MEMORY_TRACES           how many traces are kept (200; 0: none)
      SILICA_MEMORY_PRICES           a JSON file with prices of your own
      SILICA_MEMORY_BACKEND          local or s3: a bucket, if --path is not given
      SILICA_MEMORY_S3_BUCKET        its name; credentials as boto3 finds them
      SILICA_MEMORY_S3_PREFIX        what its keys begin with (memory; /: none)
      SILICA_MEMORY_S3_REGION        where the bucket is
      SILICA_MEMORY_S3_ENDPOINT      the address of another S3 server
      SILICA_MEMORY_S3_CACHE_TTL     seconds for which a page is read from the
                                     cache unasked (300; 0: always asked)
      NO_COLOR                       no colours on a terminal

    \b
    Exit codes:
      0 done · 1 findings, where asked to fail on them; a replay that differs
      2 wrong use · 3 not found, or in conflict · 4 storage failed
      5 model failed
    """
    context.obj = ChosenMemory(path, model)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for verb in (
    pages.write,
    pages.read,
    looking.search,
    looking.ls,
    looking.tree,
    pages.split,
    pages.merge,
    pages.rename,
    pages.delete,
    past.history,
    past.show,
    past.diff,
    back.undo,
    back.restore,
    past.blame,
    past.gc,
    looking.check,
    records.trace,
    records.replay,
    looking.graph,
):
    memory.add_command(verb)
