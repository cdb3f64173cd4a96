"""The verb that draws who and what notes name, and how they link."""

from __future__ import annotations

from pathlib import Path

import click

from memory_v2.cli.notes import people_option, with_notes
from memory_v2.cli.show import out, out_json, plain_lines, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import json_option
from memory_v2.notes.graph import MOST
from memory_v2.notes.notes import Notes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted


@click.command()
@click.option("--mermaid", "form", flag_value="mermaid", help="As a Mermaid flow chart.")
@click.option("--dot", "form", flag_value="dot", help="As a GraphViz digraph.")
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=MOST,
    show_default=True,
    metavar="COUNT",
    help="So many nodes at most: those with most edges.",
)
@people_option
@json_option
@with_notes
@click.pass_context
def graph(ctx: click.Context, notes: Notes, form: str | None, most: int, people: Path | None, as_json: bool) -> None:
    """Print files, people and projects with their links and mentions, as JSON, Mermaid or GraphViz.

    \b
    Examples:
      silica notes graph ~/agent/memory
      silica notes graph ~/agent/memory --dot | dot -Tsvg > notes.svg
    """
    if as_json and form:
        raise click.UsageError(f"--json cannot be combined with --{form}", ctx)
    with working("reading the notes"):
        found = notes.graph(most, people)
    if form == "mermaid":
        out(plain_lines(found.to_mermaid()), newline=False)
    elif form == "dot":
        out(plain_lines(found.to_dot()), newline=False)
    else:
        out_json(document(found))
    if found.nodes_left_out:
        left_out = f"{counted(found.nodes_left_out, 'node')} and {counted(found.edges_left_out, 'edge')}"
        tell(f"{left_out} are left out; --most says how many nodes are shown")
