"""The verbs that keep entries in order: route, age, verify, promote, dedupe, consolidate, status, domains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from memory_v2.cli.output import Column, out, out_result, plain, style, table, tell, tell_plan, working
from memory_v2.cli.verb import Verb, given_text, json_option, option_for, with_memory, word
from memory_v2.memory_entries import Entries
from memory_v2.text.amounts import counted, counted_entries

if TYPE_CHECKING:
    from memory_v2.entries.daryl import HomeStatus
    from memory_v2.entries.routing import Candidate, Routing
    from memory_v2.memory import Memory

COLUMNS = (
    Column("domain"),
    Column("title", drop=1),
    Column("entries", is_number=True),
    Column("importance", is_number=True),
    Column("last", drop=2),
)


@click.command(cls=Verb)
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=word)
@option_for(Entries.route, "apply", "--apply/--dry-run")
@json_option
@with_memory
def route(memory: Memory, words: tuple[str, ...], apply: bool, as_json: bool) -> None:
    """Find the home of each entry in the inbox, or of a text.

    What a text names wins over its words: 'see shard technical', 'shard:people', [[projects/silica]]. Then the keywords
    of the domains count, which 'silica memory domains' shows. What says nothing, or as much for two domains, stays in
    the inbox; with a model, it sorts those too, and --apply carries out what was shown. A text is only looked at, by
    the rules.

    \b
    Examples:
      silica memory route
      silica memory route --apply
      silica memory route "Lesson: test the restore, not the backup"
    """
    if words:
        if apply:
            raise click.UsageError("a text is only looked at: capture it, then route the inbox", _context())
        routing = memory.entries.route_text(given_text(words, None))
        if as_json:
            out_result(routing)
        else:
            out("\n".join(_routing(routing)))
        return
    with working("reading the entries"):
        plan = memory.entries.route(apply)
    tell_plan(plan, as_json)


@click.command(cls=Verb)
@click.option("--pack", is_flag=True, help="Instead, pack old entries of low importance in the archive.")
@option_for(Entries.pack, "older_than", "--older-than", type=int, metavar="DAYS")
@option_for(Entries.pack, "importance", "--importance", type=float, metavar="SHARE")
@option_for(Entries.age, "apply", "--apply/--dry-run")
@json_option
@with_memory
def age(memory: Memory, pack: bool, older_than: int, importance: float, apply: bool, as_json: bool) -> None:
    """Find the entries that have expired, and move them to the archive.

    How much an entry still counts follows from its day and its decay alone; no number is ever lowered in a file, so
    running this twice does nothing more. Archived entries are still found, references to them go on leading there, and
    'silica memory undo' brings them back.

    With --pack, old entries of low importance go into the archive, many in one file, each with its header to the byte.
    So do archived ones that say no importance. They are still found, shown and referred to.

    \b
    Examples:
      silica memory age
      silica memory age --apply
      silica memory age --pack --older-than 180 --apply
    """
    if pack:
        with working("reading the entries"):
            plan = memory.entries.pack(older_than, importance, apply)
        tell_plan(plan, as_json)
        return
    for name in ("older_than", "importance"):
        if _context().get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name.replace('_', '-')} says what --pack packs: give that too", _context())
    with working("reading the entries"):
        plan = memory.entries.age(apply)
    tell_plan(plan, as_json)


@click.command(cls=Verb)
@click.argument("id", metavar="ENTRY")
@option_for(Entries.verify, "by", "--by", metavar="NAME")
@json_option
@with_memory
def verify(memory: Memory, id: str, by: str | None, as_json: bool) -> None:  # noqa: A002 - as it is called in the results
    """Mark an entry as verified, by another agent than its own or by a person.

    'silica memory promote --require-verified' shares verified entries only. 'silica memory undo' takes it back.

    \b
    Examples:
      silica memory verify hawk/obs-2026-02-15-001 --by shield
    """
    done = memory.entries.verify(id, by)
    if as_json:
        out_result(done)
        return
    name, verifiers = style(plain(done.entry.id), fg="cyan"), ", ".join(map(plain, done.entry.verified_by))
    out(f"{name} verified by {verifiers}" + (f", recorded as {done.revision}" if done.revision else " already"))


@click.command(cls=Verb)
@option_for(Entries.promote, "threshold", "--threshold", type=float, metavar="SHARE")
@option_for(Entries.promote, "require_verified", "--require-verified")
@option_for(Entries.promote, "only", "--entry", "--file", "only", metavar="ENTRY")
@click.option("--agent", metavar="NAME", help="Whose entry it is that is named.")
@option_for(Entries.promote, "apply", "--apply/--dry-run")
@json_option
@with_memory
def promote(
    memory: Memory,
    threshold: float,
    require_verified: bool,
    only: str | None,
    agent: str | None,
    apply: bool,
    as_json: bool,
) -> None:
    """Find the entries that are sure enough to be shared, and copy them into the shared space.

    A copy says where it came from. What is shared already is not copied again, and a copy whose original has changed
    since is told.

    \b
    Examples:
      silica memory promote
      silica memory promote --threshold 0.7 --require-verified --apply
      silica memory promote --entry shield/obs-2026-02-15-001 --apply
    """
    if agent is not None:
        if only is None:
            raise click.UsageError("--agent says whose entry --entry is: name that too", _context())
        only = f"{agent}/{only}"
    with working("reading the entries"):
        plan = memory.entries.promote(threshold, require_verified, only, apply)
    tell_plan(plan, as_json)


@click.command(cls=Verb)
@option_for(Entries.dedupe, "apply", "--apply/--dry-run")
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


@click.command(cls=Verb)
@json_option
@with_memory
def status(memory: Memory, as_json: bool) -> None:
    """Count the entries of each domain, with their importance.

    With --json, the summary of DARYL's shards, with a shard for each domain.

    \b
    Examples:
      silica memory status
      silica memory status --json
    """
    with working("reading the entries"):
        summary = memory.entries.status()
    if as_json:
        out_result(summary)
        return
    for line in table(COLUMNS, [_status(home) for home in (*summary.homes, *summary.others)]):
        out(line)
    archived = f", {summary.archived:,} more in the archive" if summary.archived else ""
    tell(f"{counted(len(summary.homes), 'domain')}, {counted_entries(summary.entries)}{archived}")


@click.command(cls=Verb)
@click.option("--file", type=click.Path(path_type=Path), help="Store these domains ('-': standard input).")
@json_option
@with_memory
def domains(memory: Memory, file: Path | None, as_json: bool) -> None:
    """Show the domains that entries are routed to, or store others.

    They are TOML: a table for each domain, with its keywords. Print them into a file, edit it, and store it. They stand
    in entries/domains.md, which can be edited there too.

    \b
    Examples:
      silica memory domains > domains.toml
      silica memory domains --file domains.toml
    """
    found = memory.entries.domains() if file is None else memory.entries.set_domains(given_text((), file))
    if as_json:
        out_result(found)
    elif file is None:
        out(found.text, newline=False)
    else:
        for domain in found.domains:
            out(f"{style(plain(domain.name), fg='cyan')} {counted(len(domain.keywords), 'keyword')}")


def _context() -> click.Context:
    return click.get_current_context()


def _routing(routing: Routing) -> Iterator[str]:
    yield f"{style(plain(routing.home or 'inbox'), fg='cyan')}: {plain(routing.reason)}"
    yield from map(_candidate, routing.candidates)


def _candidate(candidate: Candidate) -> str:
    return f"  {candidate.score:g} {plain(candidate.home)}: {', '.join(map(plain, candidate.reasons))}"


def _status(home: HomeStatus) -> list[str]:
    return [plain(home.home), plain(home.title), f"{home.entries:,}", f"{home.importance:.2f}", home.last_updated or ""]
