"""The verbs of `silica memory entries`: ls, show, retract, import, export."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_v2.cli.columns import Column, table
from memory_v2.cli.plans import tell_plan
from memory_v2.cli.report import out_result
from memory_v2.cli.show import on_terminal, out, plain, plain_lines, style, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import GroupOfVerbs, json_option, option_for, with_memory
from memory_v2.memory_entries import Entries
from memory_v2.serialize import document
from memory_v2.text.secrets import opening

if TYPE_CHECKING:
    from memory_v2.entries.entry import Entry, Reference
    from memory_v2.memory import Memory

COLUMNS = (
    Column("entry"),
    Column("observed"),
    Column("home", drop=2),
    Column("tags", drop=1),
    Column("text", is_long=True),
)


@click.group(cls=GroupOfVerbs, subcommand_metavar="VERB ...", invoke_without_command=True)
@click.pass_context
def entries(context: click.Context) -> None:
    """List, show and retract entries, bring some in, and write them out.

    Entries are what 'silica memory capture' puts down: short, dated observations. With --json, each verb prints one
    JSON document.

    \b
    Examples:
      silica memory entries ls --tag ctr --json
      silica memory entries show hawk/obs-2026-02-15-001
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@entries.command("ls")
@option_for(Entries.list_entries, "agent", "--agent", metavar="NAME")
@option_for(Entries.list_entries, "tag", "--tag", "--tags", "tag", metavar="TAG")
@option_for(Entries.list_entries, "archived", "--archived")
@json_option
@with_memory
def ls(memory: Memory, agent: str | None, tag: str | None, archived: bool, as_json: bool) -> None:
    """List entries, oldest first.

    A table on a terminal. In a pipe, one entry per line with tab-separated fields.

    \b
    Examples:
      silica memory entries ls --agent hawk
      silica memory entries ls --tag ctr --json
    """
    found = memory.entries.list_entries(agent, tag, archived)
    if as_json:
        out_result({"entries": found})
        return
    for line in table(COLUMNS, list(map(_cells, found))):
        out(line)
    if not found:
        tell('there is no such entry; begin with: silica memory capture "…"')


@entries.command("import")
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@option_for(Entries.import_files, "agent", "--agent", metavar="NAME")
@option_for(Entries.import_files, "apply", "--apply")
@json_option
@with_memory
def import_verb(memory: Memory, folder: Path, agent: str | None, apply: bool, as_json: bool) -> None:
    """Bring in the observations of Ocean's vaults and the transactions of DARYL's shards.

    A folder is looked through for agents/NAME/memory/vault/, archive/ and shared/observations/, and for shards as JSON.
    Observations come in to the byte. Nothing is guessed or overwritten: what can be read in two ways is told. The same
    import does nothing the second time.

    \b
    Examples:
      silica memory entries import ./ocean
      silica memory entries import ./memory/shards --agent daryl --apply
    """
    files = [folder] if folder.is_file() else sorted(one for one in folder.rglob("*") if one.suffix in (".md", ".json"))
    given = {one.relative_to(folder.parent).as_posix(): one.read_bytes() for one in files if one.is_file()}
    with working("reading the entries"):
        plan = memory.entries.import_files(given, agent, apply)
    tell_plan(plan, as_json)


@entries.command("export")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@json_option
@with_memory
def export_verb(memory: Memory, folder: Path, as_json: bool) -> None:
    """Write the domains as DARYL's shards: a JSON file each, and their summary.

    Files of these names in the folder are replaced. Ocean's vaults need no export: the folder entries/ of a memory has
    their layout.

    \b
    Examples:
      silica memory entries export ./shards
    """
    files = memory.entries.export_shards()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = json.dumps(document(content), ensure_ascii=False, indent=2)
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    if as_json:
        out_result(files)
    else:
        out("\n".join(plain(str(folder / name)) for name in files))


@entries.command("show")
@click.argument("id", metavar="ENTRY")
@json_option
@with_memory
def show(memory: Memory, id: str, as_json: bool) -> None:  # noqa: A002 - as it is called in the results
    """Show an entry: what is known of it, what refers to it, and its text.

    \b
    Examples:
      silica memory entries show hawk/obs-2026-02-15-001
      silica memory entries show obs-2026-02-15-001 --json
    """
    entry = memory.entries.read_entry(id)
    with working("reading the entries"):
        back = memory.entries.referred_to_by(entry.id)
    if as_json:
        out_result(entry, referred_to_by=back)
        return
    for name, value in _facts(entry, back):
        out(f"{style(name, dim=True)} {plain(value)}")
    out("")
    out(plain_lines(entry.text) if on_terminal(sys.stdout) else entry.text, newline=False)


@entries.command("retract")
@click.argument("id", metavar="ENTRY")
@option_for(Entries.retract, "why", "--why", metavar="TEXT")
@option_for(Entries.retract, "superseded_by", "--superseded-by", metavar="ENTRY")
@json_option
@with_memory
def retract(memory: Memory, id: str, why: str, superseded_by: str | None, as_json: bool) -> None:  # noqa: A002 - as above
    """Close an entry that turned out to be wrong or old.

    Its text stays, with the reason, and so do references to it. It is no longer routed or promoted. 'silica memory
    undo' takes it back.

    \b
    Examples:
      silica memory entries retract hawk/obs-2026-02-15-001 --why "the counter was broken"
      silica memory entries retract obs-2026-02-15-001 --why corrected --superseded-by obs-2026-02-16-002
    """
    done = memory.entries.retract(id, why, superseded_by)
    if as_json:
        out_result(done)
    else:
        name = style(plain(done.entry.id), fg="cyan")
        out(f"{name} retracted, recorded as {done.revision}" if done.revision else f"{name} is retracted already")


def _cells(entry: Entry) -> list[str]:
    tags = ", ".join(map(plain, entry.tags))
    observed = entry.observed_at.isoformat()
    text = plain(opening(" ".join(entry.text.split())))
    closed = f"({entry.status}{_by(entry)}) " if entry.status == "closed" else ""
    return [plain(entry.id), observed, plain(entry.home or ""), tags, closed + text]


def _by(entry: Entry) -> str:
    return f", superseded by {plain(entry.superseded_by)}" if entry.superseded_by else ""


def _facts(entry: Entry, back: Iterable[Reference]) -> list[tuple[str, str]]:
    source = entry.source
    facts = {
        "entry": entry.id + (" (archived)" if entry.archived else ""),
        "observed": entry.observed_at.isoformat(),
        "recorded": entry.recorded_at.isoformat() if entry.recorded_at else "",
        "kind": entry.kind,
        "home": entry.home or "inbox",
        "tags": ", ".join(entry.tags),
        "source": " · ".join(filter(None, (source.author, source.channel, source.session, source.location))),
        "confidence": "" if entry.confidence is None else f"{entry.confidence:g}",
        "importance": "" if entry.importance is None else f"{entry.importance:g}",
        "decay": str(entry.decay),
        "status": entry.status + _by(entry) + (f": {entry.retracted}" if entry.retracted else ""),
        "verified": ("yes" if entry.verified else "no") + "".join(f", by {name}" for name in entry.verified_by),
        "refers to": ", ".join(f"{one.target} ({one.relation})" for one in entry.references),
        "referred to by": ", ".join(f"{one.target} ({one.relation})" for one in back),
        "derived from": ", ".join(entry.derived_from),
        "worked into": ", ".join(entry.consolidated_into),
        "promoted from": entry.promoted_from or "",
        "promoted to": ", ".join(entry.promoted_to),
    }
    return [(name, value) for name, value in facts.items() if value]
