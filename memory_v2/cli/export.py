"""The verb that takes a memory out."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from memory_v2 import migrate
from memory_v2.cli.edge import FINDINGS
from memory_v2.cli.report import tell_how_to_begin
from memory_v2.cli.show import out, out_json, plain, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import Verb, json_option, with_memory
from memory_v2.memory import Memory
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, counted_entries, size


@click.command(cls=Verb)
@click.argument("dest", metavar="DEST", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--form",
    type=click.Choice(["folder", "file", "jsonl"]),
    default="folder",
    show_default=True,
    help="A folder of Markdown files, one Markdown file, or one line of JSON for each page and entry.",
)
@click.option("--force", is_flag=True, help="Replace files of the same names. Other files at DEST stay.")
@json_option
@click.pass_context
@with_memory
def export(
    memory: Memory,
    context: click.Context,
    dest: Path,
    form: Literal["folder", "file", "jsonl"],
    force: bool,
    as_json: bool,
) -> None:
    """Export all pages and entries to plain files.

    The text of each page is exported to the letter, and in a folder each entry to the byte. DEST is a folder, or a file
    with --form file and --form jsonl, where '-' is standard output. 'silica memory import' and 'silica memory entries
    import' read the folder again.

    \b
    Examples:
      silica memory export ../notes
      silica memory export --form file memory-in-one.md
      silica memory export --form jsonl - | jq .path
    """
    if str(dest) == "-":
        if form == "folder" or as_json:
            option = "--json" if as_json else "--form folder"
            raise click.UsageError(f"standard output cannot be combined with {option}", context)
        with working("exporting"):
            data, left_out = migrate.export.exported_data(memory, form)
        out(data, newline=False)
    else:
        with working("exporting"):
            done = migrate.export.export(memory, dest, form, force)
        left_out = done.left_out
        if as_json:
            out_json(document(done))
        else:
            held = counted(done.pages, "page") + (f" and {counted_entries(done.entries)}" if done.entries else "")
            where = f"{plain(done.dest)} · {held}, {size(done.size_bytes)}"
            out(where if done.form == "folder" else f"{where} in {counted(done.files, 'file')}")
    tell_how_to_begin(memory)
    for page in left_out:
        tell(f"{page.name} is left out: {page.reason}")
    if left_out:
        context.exit(FINDINGS)
