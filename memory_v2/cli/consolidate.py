"""The verb `consolidate`: entries are worked into pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_v2.cli.plans import tell_plan
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import Verb, json_option, option_for, with_memory
from memory_v2.memory_entries import Entries

if TYPE_CHECKING:
    from memory_v2.memory import Memory


@click.command(cls=Verb)
@option_for(Entries.consolidate, "home", "--home", metavar="HOME")
@option_for(Entries.consolidate, "agent", "--agent", metavar="NAME")
@option_for(Entries.consolidate, "since", "--since", metavar="DAY")
@option_for(Entries.consolidate, "until", "--until", metavar="DAY")
@option_for(Entries.consolidate, "apply", "--apply/--dry-run")
@json_option
@with_memory
def consolidate(
    memory: Memory,
    home: str | None,
    agent: str | None,
    since: str | None,
    until: str | None,
    apply: bool,
    as_json: bool,
) -> None:
    """Work entries into the pages that they belong to.

    The entries of each home are read together. Each one then stands on a page to the letter, or is told there in other
    words with all its facts, or is named as said already. It says which page that is, and each line on the page says
    which entry it came from. Entries in the inbox are left: route them first, or say --home inbox.

    The plan that is shown is kept: --apply carries it out to the letter, without asking a model again. If a page or an
    entry has changed since, nothing is changed. 'silica memory undo' takes it back.

    \b
    Examples:
      silica memory consolidate
      silica memory consolidate --apply
      silica memory consolidate --home projects/silica --since 2026-02-01
    """
    with working("working entries in"):
        plan = memory.entries.consolidate(home, agent, since, until, apply)
    tell_plan(plan, as_json)
