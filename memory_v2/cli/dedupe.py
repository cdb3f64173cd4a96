"""The verb that finds entries that say the same."""

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
@option_for(Entries.dedupe, "apply", "--apply")
@json_option
@with_memory
def dedupe(memory: Memory, apply: bool, as_json: bool) -> None:
    """Find the entries that say the same, and move all but one to the archive.

    The same text by the same agent of the same day counts as the same: a verified entry stays, else the oldest. The
    others are closed and name it. What is only near, or the same on other days or by other agents, is shown and left
    alone: "build 41 passed" and "build 42 passed" are two facts.

    \b
    Examples:
      silica memory dedupe
      silica memory dedupe --apply
    """
    with working("reading the entries"):
        plan = memory.entries.dedupe(apply)
    tell_plan(plan, as_json)
