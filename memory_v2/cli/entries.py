"""The verbs that put down, list, show and retract entries, bring some in and write them out."""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from memory_v2.cli.edge import USAGE
from memory_v2.cli.output import (
    Column,
    on_terminal,
    out,
    out_result,
    plain,
    plain_lines,
    style,
    table,
    tell,
    tell_plan,
    tell_secrets,
    working,
)
from memory_v2.cli.verb import GroupOfVerbs, Verb, given_text, json_option, option_for, with_memory
from memory_v2.memory_entries import Entries
from memory_v2.serialize import document
from memory_v2.text.amounts import counted
from memory_v2.text.secrets import opening

if TYPE_CHECKING:
    from memory_v2.entries.capture import Captured
    from memory_v2.entries.entry import Entry, Reference
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
            out(_captured(captured))
        tell_secrets(captured.id, captured.secrets)


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
            out(_captured(captured))
        new = sum(not captured.was_known for captured in result.captured)
        known = len(result.captured) - new
        out(f"captured {counted(new, 'text')}" + (f"; {known:,} were known" if known else ""))
    for captured in result.captured:
        tell_secrets(captured.id, captured.secrets)
    for bad in result.bad_lines:
        tell(f"{plain(batch.name)}:{bad.line}: {plain(bad.problem)}; this line was not captured")
    if result.bad_lines:
        click.get_current_context().exit(USAGE)


def _captured(captured: Captured) -> str:
    name = style(plain(captured.id), fg="cyan")
    if captured.was_known:
        return f"{name} says so already"
    return f"{name} captured" + (f"; near {plain(captured.near)}" if captured.near else "")


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
@click.option("-n", "--limit", "most", metavar="COUNT", type=click.IntRange(1), help="The maximum number listed.")
@json_option
@with_memory
def ls(memory: Memory, agent: str | None, tag: str | None, archived: bool, most: int | None, as_json: bool) -> None:
    """List entries, newest first.

    A table on a terminal. In a pipe, one entry per line with tab-separated fields.

    \b
    Examples:
      silica memory entries ls --agent hawk
      silica memory entries ls --tag ctr --json
    """
    listed = memory.entries.list_entries(agent, tag, archived)[::-1][:most]
    if as_json:
        out_result({"entries": listed})
        return
    for line in table(COLUMNS, list(map(_cells, listed))):
        out(line)
    if not listed:
        tell('there is no such entry; begin with: silica memory capture "…"')


@entries.command("import")
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@option_for(Entries.import_files, "agent", "--agent", metavar="NAME")
@option_for(Entries.import_files, "apply", "--apply/--dry-run")
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
    given = {file.relative_to(folder.parent).as_posix(): file.read_bytes() for file in files if file.is_file()}
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
        "refers to": ", ".join(f"{reference.target} ({reference.relation})" for reference in entry.references),
        "referred to by": ", ".join(f"{one.target} ({one.relation})" for one in back),
        "derived from": ", ".join(entry.derived_from),
        "worked into": ", ".join(entry.consolidated_into),
        "promoted from": entry.promoted_from or "",
        "promoted to": ", ".join(entry.promoted_to),
    }
    return [(name, value) for name, value in facts.items() if value]
