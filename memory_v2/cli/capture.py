"""The verb that puts an observation down."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from memory_v2.cli.edge import USAGE
from memory_v2.cli.report import out_result
from memory_v2.cli.show import on_terminal, out, plain, style, tell
from memory_v2.cli.verb import Verb, given_text, json_option, option_for, with_memory
from memory_v2.memory_entries import Entries
from memory_v2.text.amounts import counted

if TYPE_CHECKING:
    from memory_v2.entries.capture import Captured
    from memory_v2.memory import Memory


@click.command(cls=Verb)
@click.argument("text", nargs=-1)
@click.option(
    "--file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Read the text from a file."
)
@click.option(
    "--batch",
    type=click.File("rb"),
    metavar="FILE",
    help='Capture each line of a file, or of standard input ("-"): {"text": …, "tags": […], …}.',
)
@option_for(Entries.capture, "agent", "--agent", metavar="NAME")
@option_for(Entries.capture, "tags", "--tag", "--tags", "tags", metavar="TAG", multiple=True)
@option_for(Entries.capture, "confidence", "--confidence", type=float, metavar="SHARE")
@option_for(Entries.capture, "importance", "--importance", type=float, metavar="SHARE")
@option_for(Entries.capture, "decay", "--decay", metavar="DECAY")
@option_for(Entries.capture, "kind", "--kind", metavar="KIND")
@option_for(Entries.capture, "home", "--home", metavar="HOME")
@option_for(Entries.capture, "source", "--source", metavar="NAME")
@option_for(Entries.capture, "channel", "--channel", metavar="NAME")
@option_for(Entries.capture, "session", "--session", metavar="NAME")
@option_for(Entries.capture, "location", "--location", metavar="PLACE")
@option_for(Entries.capture, "references", "--ref", "references", metavar="ENTRY", multiple=True)
@option_for(Entries.capture, "date", "--date", metavar="DAY")
@option_for(Entries.capture, "scope", "--scope")
@json_option
@with_memory
def capture(
    memory: Memory,
    /,
    text: tuple[str, ...],
    file: Path | None,
    batch: Any,
    as_json: bool,
    **given: Any,
) -> None:
    """Put down an observation at once.

    An entry is one Markdown file with its day, below entries/ in the memory's folder. No model is asked, and any number
    of processes may capture at the same time. The text is the argument, a file or standard input; on a terminal, a
    capture without a text asks for one line after the other. With --batch, the other options do not count: each line
    says all about its entry.

    \b
    Examples:
      silica memory capture "Insurance CTR dropped 12% this week" --tag ctr --confidence 0.82 --decay linear-30d
      silica memory capture --agent hawk --ref obs-2026-02-14-003 < note.md
      silica memory capture --batch observations.jsonl
    """
    if batch is not None:
        if text or file:
            raise click.UsageError("give a text or --batch, not both", click.get_current_context())
        _capture_batch(memory, batch, as_json)
        return
    is_asked = not text and file is None and not as_json and on_terminal(sys.stdin)
    for one in _typed() if is_asked else [given_text(text, file)]:
        captured = memory.entries.capture(one, **given)
        if as_json:
            out_result(captured)
        else:
            out(_told(captured))
        _tell_secrets(captured)


def _typed() -> Iterator[str]:
    """The lines that somebody types, until an empty one or the end."""
    tell("what was observed? one line for each; an empty line ends")
    with suppress(click.Abort):
        while line := click.prompt("", prompt_suffix="> ", default="", show_default=False, err=True).strip():
            yield line


def _capture_batch(memory: Memory, batch: Any, as_json: bool) -> None:
    lines = (line.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape") for line in cast("list[bytes]", batch))
    result = memory.entries.capture_batch(lines)
    if as_json:
        out_result(result)
    else:
        for captured in result.captured:
            out(_told(captured))
        new = sum(not captured.was_known for captured in result.captured)
        known = len(result.captured) - new
        out(f"captured {counted(new, 'text')}" + (f"; {known:,} were known" if known else ""))
    for captured in result.captured:
        _tell_secrets(captured)
    for bad in result.bad_lines:
        tell(f"{plain(batch.name)}:{bad.line}: {plain(bad.problem)}; this line was not captured")
    if result.bad_lines:
        click.get_current_context().exit(USAGE)


def _told(captured: Captured) -> str:
    name = style(plain(captured.id), fg="cyan")
    if captured.was_known:
        return f"{name} says so already"
    return f"{name} captured" + (f"; near {plain(captured.near)}" if captured.near else "")


def _tell_secrets(captured: Captured) -> None:
    for secret in captured.secrets:
        tell(f"{captured.id}, line {secret.line} of the text, seems to hold a secret ({secret.kind}: {secret.shown})")
