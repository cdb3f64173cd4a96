"""The verb that searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from memory_v2.cli.output import (
    admit,
    confidence,
    has_colours,
    out,
    out_result,
    plain,
    plain_lines,
    points,
    price,
    set_off,
    style,
    tell,
    tell_how_to_begin,
    working,
)
from memory_v2.cli.verb import Verb, json_option, option_for, with_memory, word
from memory_v2.memory import Memory
from memory_v2.operations.results import EntryResult
from memory_v2.serialize import document
from memory_v2.text.amounts import counted_entries

if TYPE_CHECKING:
    from memory_v2.operations.results import SearchResult


NEAREST = 3
"""How many places are shown if the memory does not answer."""


@click.command(cls=Verb)
@click.argument("words", metavar="QUERY...", nargs=-1, required=True, type=word)
@option_for(Memory.search, "max_results", "-n", "--limit", "most", metavar="COUNT", type=int)
@option_for(Memory.search, "max_tokens", "--max-tokens", metavar="COUNT", type=int)
@option_for(Memory.search, "under", "--under", metavar="PAGE")
@option_for(Memory.search, "since", "--since", metavar="DAY")
@option_for(Memory.search, "until", "--until", metavar="DAY")
@option_for(Memory.search, "source", "--source", metavar="NAME")
@option_for(Memory.search, "near", "--near", metavar="PAGE")
@option_for(Memory.search, "steps", "--steps", metavar="COUNT", type=int)
@option_for(Memory.search, "regex", "--regex")
@click.option("--pages", "only", flag_value="pages", help="Only pages.")
@click.option("--entries", "only", flag_value="entries", help="Only entries.")
@option_for(Memory.search, "agent", "--agent", metavar="NAME")
@option_for(Memory.search, "domain", "--domain", metavar="NAME")
@option_for(Memory.search, "tags", "--tags", "--tag", "tags", metavar="TAG", multiple=True)
@option_for(Memory.search, "min_confidence", "--min-confidence", metavar="NUMBER", type=float)
@option_for(Memory.search, "cross", "--cross")
@option_for(Memory.search, "archived", "--archived")
@click.option("--all", "show_all", is_flag=True, help="Show all places, also if the memory does not answer.")
@click.option("--explain", is_flag=True, help="Show what each answer was ranked by, with its points.")
@json_option
@with_memory
def search(
    memory: Memory,
    /,
    words: tuple[str, ...],
    most: int,
    max_tokens: int | None,
    show_all: bool,
    explain: bool,
    as_json: bool,
    **narrowed: Any,
) -> None:
    """Search the memory for an answer.

    The best answers of pages and entries come first, each verbatim, with its page, lines, source and the day on which
    it was said; "about" names other days that it speaks of. An entry counts by its confidence and its age. If the
    memory does not answer, the nearest places are shown.

    \b
    Examples:
      silica memory search "How is Silica tested?"
      silica memory search -n 3 pytest
      silica memory search --max-tokens 500 "How is Silica tested?"
      silica memory search --under projects --since 2026-02-01 pytest
      silica memory search --agent hawk --min-confidence 0.7 --explain CTR
      silica memory search --regex "v[0-9]+"
    """
    query = " ".join(words)
    with working("searching"):
        results = memory.search(query, most, max_tokens, **narrowed)
    if as_json:
        out_result({"query": query} | document(results))
    elif max_tokens is not None:
        out(plain_lines(results.text), newline=bool(results))
    else:
        shown = results if results.answered or show_all else results[:NEAREST]
        bold = "" if narrowed["regex"] else " ".join((query, *results.respelled.values()))
        for number, result in enumerate(shown):
            out(("\n" if number else "") + _hit(result, bold))
            if explain:
                out("\n".join(_signs(result)))
    if not as_json and (paid := price(results.cost)):
        tell(paid)
    if results.archived_left_out:
        tell(f"{counted_entries(results.archived_left_out)} of the archive left out (--archived shows them)")
    for typed, meant in results.respelled.items():
        tell(f"the memory does not have {typed!r}; {meant!r} was searched for")
    if not results and (any(memory.entries.store.places()) or not tell_how_to_begin(memory)):
        tell("nothing found")
    elif results and not results.answered:
        more = "" if as_json or show_all or len(results) <= NEAREST else " (--all shows more)"
        tell(f"the memory does not answer this; these are the nearest places{more}")
    admit(results)


def _hit(result: SearchResult, bold: str) -> str:
    if isinstance(result, EntryResult):
        place = style(f"entry {plain(result.entry)}", fg="cyan")
        above = "; ".join(_about(result))
    else:
        place = style(f"{plain(result.path)}:{result.lines[0]}-{result.lines[1]}", fg="cyan")
        above = " › ".join(map(plain, (*_way(result.breadcrumb), *result.headings)))
    head = [
        place,
        f"{result.date:%Y-%m-%d}" if result.date else "",
        f"about {result.speaks_of}" if result.speaks_of else "",
        f"{result.relevance_score:.2f}",
        style(above, dim=True),
        f"from {plain(result.source)}" if result.source else "",
    ]
    lines = plain_lines(result.excerpt).splitlines()
    if has_colours():
        lines = [set_off(line, bold) for line in lines]
    return "\n".join(["  ".join(filter(None, head)), *(f"    {line}".rstrip() for line in lines)])


def _way(breadcrumb: Sequence[str]) -> Iterator[str]:
    """The pages above a place, each by what its path has more than the one before it: the place tells all of it."""
    for above, path in pairwise(["", *breadcrumb]):
        yield path.removeprefix(f"{above}/")


def _about(result: EntryResult) -> Iterator[str]:
    if result.archived:
        yield "archived"
    if result.consolidated_into:
        yield f"worked into {plain(', '.join(result.consolidated_into))}"


def _signs(result: SearchResult) -> Iterator[str]:
    if isinstance(result, EntryResult):
        of = result.factors
        made = f"{of.answers:.2f} as an answer × {of.confidence:.2f} confidence × {of.weight:.2f} weight ({of.decay})"
        yield style(f"    {result.relevance_score:.2f} = {made}", dim=True)
        yield style(f"    {result.confidence:.2f} of the question told", dim=True)
    else:
        yield confidence(result.confidence)
    yield from points(result.signs)
