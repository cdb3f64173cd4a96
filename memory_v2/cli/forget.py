"""The verb that forgets for good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_v2.cli.output import confirmed, is_asked, named, out, out_result, plain, tell, working, yes_option
from memory_v2.cli.verb import Verb, given_text, json_option, option_for, with_memory, word
from memory_v2.memory import Memory
from memory_v2.text.amounts import counted

if TYPE_CHECKING:
    from memory_v2.operations.forget import Forgotten


@click.command(cls=Verb)
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=word)
@click.option("--file", type=click.Path(path_type=Path), help="Read the text from this file ('-': standard input).")
@option_for(Memory.forget, "path", "--page", "page", metavar="PAGE")
@option_for(Memory.forget, "lines", "--lines", metavar="3-5")
@click.option("--dry-run", is_flag=True, help="Only show where it stands.")
@yes_option
@json_option
@with_memory
def forget(
    memory: Memory,
    words: tuple[str, ...],
    file: Path | None,
    page: str | None,
    lines: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Take a text, a page or lines out of the memory and its past, for good.

    It goes from pages, history, traces, pending notes, index and old versions in a bucket; '(forgotten)' stands in its
    place. This cannot be undone, and needs --yes where nobody can be asked. The history says that something was
    forgotten, not what. What you pass as an argument stays in your shell's history: better use standard input.

    A text is found to the letter: other spellings, which are shown, stay. With --page the page goes, and each line that
    it has or had, unless the line also stands on another page. With --lines only these lines go, wherever they stand.

    \b
    Examples:
      silica memory forget --dry-run "KX-4711"
      silica memory forget --yes < secret.txt
      silica memory forget --page people/ada
      silica memory forget --page projects/silica --lines 3-5
    """
    if page is not None and (words or file is not None):
        raise click.UsageError("name a text or --page, not both", click.get_current_context())
    if not (dry_run or yes or is_asked(yes)):
        raise click.UsageError(
            "what is forgotten cannot be brought back: add --yes to do it, or --dry-run to see where it stands",
            click.get_current_context(),
        )
    text = None if page is not None else given_text(words, file)
    with working("searching the memory and its past"):
        found = memory.forget(text, page, lines)
    if found and not dry_run:
        if is_asked(yes):
            out("\n".join(_places(found)))
        if not confirmed("Forget this for good? It cannot be undone.", yes, "nothing was forgotten"):
            return
        with working("forgetting"):
            found = memory.forget(text, page, lines, apply=True)
    if as_json:
        out_result(found)
    else:
        out("\n".join([*_places(found), *([f"forgotten for good, recorded as {found.revision}"] * found.applied)]))
    for notice in _notices(found):
        tell(notice)


def _places(found: Forgotten) -> Iterator[str]:
    """Where it stands, a line for each kind of place."""
    if not found:
        yield "it stands nowhere in this memory"
        return
    if found.pages:
        yield f"{counted(len(found.pages), 'page')}: {named(found.pages)}"
    for count, noun, where in (
        (found.versions, "version", " of pages in the history"),
        (found.revisions, "revision", " of the history"),
        (len(found.traces), "trace", ", removed as a whole"),
        (len(found.notes), "pending note", ""),
        (len(found.leftovers), "leftover", ": temporary files, histories set aside, old versions in the bucket"),
    ):
        if count:
            yield counted(count, noun) + where


def _notices(found: Forgotten) -> Iterator[str]:
    if found.others:
        yield f"files that are not the memory's hold it too, and are left alone: {named(found.others)}"
    if found.similar:
        yield f"other spellings stay: {', '.join(map(plain, found.similar))}"
