"""The verbs that read and change pages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from memory_v2.cli.show import (
    counted,
    named,
    on_terminal,
    out,
    out_json,
    plain,
    plain_lines,
    size,
    spent,
    style,
    tell,
    working,
)
from memory_v2.cli.verb import Verb, given_text, json_option, with_memory, word
from memory_v2.memory import Memory
from memory_v2.tree.path import ROOT, page_path

if TYPE_CHECKING:
    from memory_v2.agent.limits import Cost
    from memory_v2.operations.results import Result, SearchResults


@click.command(cls=Verb)
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=word)
@click.option("--to", metavar="PAGE", help="The page it goes to, made if it is not there. Else where it belongs.")
@click.option(
    "--mode",
    type=click.Choice(["update", "append", "replace"]),
    default="update",
    show_default=True,
    help="update works the text in; append puts it below all else; replace puts it in the place of the page's text.",
)
@click.option("--file", type=click.Path(path_type=Path), help="Take the text from this file ('-': standard input).")
@json_option
@with_memory
def write(
    memory: Memory,
    words: tuple[str, ...],
    to: str | None,
    mode: Literal["update", "append", "replace"],
    file: Path | None,
    as_json: bool,
) -> None:
    """Write a text: where it belongs, or on a page.

    The text is what the arguments say, joined by blanks; else a file; else standard input, in UTF-8. A page that grows
    too large is split.

    \b
    Examples:
      silica memory write "Silica uses pytest for testing"
      silica memory write --to projects/silica "- Release on Fridays"
      git log -5 | silica memory write --to log --mode append
      silica memory write --file notes.md
    """
    text = given_text(words, file)
    with working("writing"):
        result = memory.write(text, to, mode)
    if as_json:
        from memory_v2.cli.documents import write_document

        out_json(write_document(result))
    elif result.outcome == "nothing new":
        out(f"nothing new: it stands in {named(result.said_in or [result.path])}")
    else:
        way = " › ".join(plain(path) for path in memory.graph().breadcrumb(result.path))
        divided = f" · split into {named(result.new_files)}" if result.new_files else ""
        out(f"{style(way, fg='cyan')} · {size(result.size_bytes)}{divided}{price(result.cost)}")
    admit(result)


@click.command(cls=Verb)
@click.argument("page", default=ROOT)
@json_option
@with_memory
def read(memory: Memory, page: str, as_json: bool) -> None:
    """Print a page as it is stored.

    The root, if no page is named. In a pipe every byte of the page is printed, in UTF-8. On a terminal control
    characters are made visible.

    \b
    Examples:
      silica memory read
      silica memory read projects/silica
    """
    text = memory.read(page)
    if as_json:
        from memory_v2.tree.page import parse_page

        path = page_path(page or ROOT)
        title = parse_page(path, text).title
        out_json({"path": path, "title": title, "size_bytes": memory.storage.get_size(path), "text": text})
    else:
        shown = plain_lines(text) if on_terminal(sys.stdout) else text
        out(shown.encode(), newline=False)


@click.command(cls=Verb)
@click.argument("page", default=ROOT)
@json_option
@with_memory
def split(memory: Memory, page: str, as_json: bool) -> None:
    """Divide a page into a page and its children.

    The root, if no page is named. Pages that grow too large are split on their own; this is for one that you would
    rather have divided now.

    \b
    Examples:
      silica memory split
      silica memory split projects/silica
    """
    with working(f"splitting {plain(page)}"):
        result = memory.split(page)
    if as_json:
        from memory_v2.cli.documents import split_document

        out_json(split_document(result))
    elif result.new_files:
        way = f" by {result.strategy}" if result.strategy else ""
        out(f"{style(plain(result.path), fg='cyan')} split{way} into {named(result.new_files)}{price(result.cost)}")
    else:
        out(f"{style(plain(result.path), fg='cyan')} left whole: {plain(result.reason) or 'nothing to divide'}")
    admit(result)


@click.command(cls=Verb)
@click.argument("page")
@json_option
@with_memory
def merge(memory: Memory, page: str, as_json: bool) -> None:
    """Fold a page back into the page above it.

    Its text stays to the letter. What hung on it hangs on the page above from then on, and links to it lead there.

    \b
    Example:
      silica memory merge projects/silica/testing
    """
    with working(f"merging {plain(page)}"):
        result = memory.merge(page)
    _report(result, f"{plain(page)} is part of {style(plain(result.path), fg='cyan')} now", as_json)


@click.command(cls=Verb)
@click.argument("old")
@click.argument("new")
@json_option
@with_memory
def rename(memory: Memory, old: str, new: str, as_json: bool) -> None:
    """Give a page another path; all links follow.

    The pages below it move with it.

    \b
    Example:
      silica memory rename projects/silica work/silica
    """
    with working(f"renaming {plain(old)}"):
        result = memory.rename(old, new)
    _report(result, f"{plain(old)} is {style(plain(result.path), fg='cyan')} now", as_json)


@click.command(cls=Verb)
@click.argument("page")
@click.option("--yes", is_flag=True, help="Do not ask first. It is only asked on a terminal.")
@json_option
@with_memory
def delete(memory: Memory, page: str, yes: bool, as_json: bool) -> None:
    """Take a page away.

    What hung on it hangs on the page above from then on.

    \b
    Examples:
      silica memory delete drafts
      silica memory delete drafts --yes
    """
    path = page_path(page)
    below = memory.graph().children.get(path, [])
    if not yes and on_terminal(sys.stdin) and on_terminal(sys.stderr) and not _agreed(memory, path, below):
        tell("nothing was deleted")
        return
    result = memory.delete(page)
    parents = memory.graph().parents if below else {}
    moved = [{"path": child, "parent": parents.get(child)} for child in below]
    lines = [f"  {plain(str(m['path']))} hangs on {plain(str(m['parent']))} now" for m in moved]
    _report(result, "\n".join([f"{plain(result.path)} is deleted", *lines]), as_json, moved=moved)


def _agreed(memory: Memory, path: str, below: list[str]) -> bool:
    extent = size(len(memory.read(path).encode()))
    hanging = f", with {len(below)} hanging on it that will move up" if below else ""
    return click.confirm(f"Delete {plain(path)} ({extent}{hanging})?", err=True)


def _report(result: Result, sentence: str, as_json: bool, **more: object) -> None:
    if as_json:
        from memory_v2.cli.documents import result_document

        out_json({**result_document(result), **more})
    else:
        out(sentence)
    admit(result)


def admit(result: Result | SearchResults) -> None:
    """Says why, if another model decided than was asked, or something was left undone."""
    if result.degraded:
        tell(f"{result.degraded} (decided by {result.decided_by})")


def price(cost: Cost) -> str:
    """What it took, where a model was paid."""
    usage = cost.usage
    paid = spent(usage.input_tokens, usage.output_tokens, usage.cached_tokens, cost.money)
    return f" · {counted(cost.calls, 'call')}, {paid}" if paid else ""
