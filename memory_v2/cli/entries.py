"""The verbs about entries: capture, those below `entries`, and those that keep entries in order."""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import click
from click.core import ParameterSource

from memory_v2.cli.edge import USAGE
from memory_v2.cli.output import (
    Column,
    Document,
    Hint,
    Notice,
    Output,
    on_terminal,
    plain,
    plain_lines,
    style,
    table,
    tell,
    working,
)
from memory_v2.cli.show import label, renders, show
from memory_v2.cli.verb import Option, TextFile, Words, ended, given_text, misuse, verb
from memory_v2.memory_entries import Entries
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, counted_entries, size
from memory_v2.text.secrets import opening

if TYPE_CHECKING:
    from memory_v2.entries.capture import Captured, CapturedBatch
    from memory_v2.entries.curation import ChangedEntry
    from memory_v2.entries.daryl import Summary
    from memory_v2.entries.entry import Entry, Reference
    from memory_v2.entries.routing import Routing
    from memory_v2.memory import Memory


@verb(Entries.capture)
def capture(
    memory: Memory,
    text: Words,
    file: TextFile = None,
    batch: Annotated[
        Any,
        Option(
            'Capture each line of a file, or of standard input ("-"): {"text": …, "tags": […], …}.',
            metavar="FILE",
            type=click.File("rb"),
        ),
    ] = None,
    as_json: bool = False,
    **given: Any,
) -> Iterator[Output]:
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
            raise misuse("give a text or --batch, not both")
        lines = (line.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape") for line in cast("list[bytes]", batch))
        result = memory.entries.capture_batch(lines)
        yield from show(result)
        for bad in result.bad_lines:
            yield Notice(f"{plain(batch.name)}:{bad.line}: {plain(bad.problem)}; this line was not captured")
        if result.bad_lines:
            raise ended(USAGE)
        return
    is_asked = not text and file is None and not as_json and on_terminal(sys.stdin)
    for one in _typed() if is_asked else [given_text(text, file)]:
        yield from show(memory.entries.capture(one, **given))


def _typed() -> Iterator[str]:
    """The lines that somebody types, until an empty one or the end."""
    tell("what was observed? one line for each; an empty line ends")
    with suppress(click.Abort):
        while line := click.prompt("", prompt_suffix="> ", default="", show_default=False, err=True).strip():
            yield line


@renders("CapturedBatch")
def _batch(batch: CapturedBatch) -> Iterator[Output]:
    for captured in batch.captured:
        yield from _captured(captured)
    new = sum(not captured.was_known for captured in batch.captured)
    known = len(batch.captured) - new
    yield f"captured {counted(new, 'text')}" + (f"; {known:,} were known" if known else "")


@renders("Captured")
def _captured(captured: Captured) -> Iterator[Output]:
    if captured.was_known:
        yield f"{label(captured.id)} says so already"
    else:
        yield f"{label(captured.id)} captured" + (f"; near {plain(captured.near)}" if captured.near else "")
    for secret in captured.secrets:
        yield Notice(f"{captured.id}: {secret}")


ENTRIES = (
    Column("entry"),
    Column("observed"),
    Column("home", drop=2),
    Column("tags", drop=1),
    Column("text", is_long=True),
)


@verb(Entries.list_entries)
def entries_ls(
    memory: Memory,
    agent: str | None,
    tag: str | None,
    archived: bool,
    domain: str | None,
    most: Annotated[int | None, Option("The maximum number listed.", "-n --limit", least=1)],
) -> Iterator[Output]:
    """List entries, newest first.

    A table on a terminal. In a pipe, one entry per line with tab-separated fields.

    \b
    Examples:
      silica memory entries ls --agent hawk
      silica memory entries ls --tag ctr --json
    """
    listed = memory.entries.list_entries(agent, tag, archived, domain)[::-1][:most]
    yield Document(entries=listed)
    yield from table(ENTRIES, map(_cells, listed))
    if not listed:
        yield Hint('there is no such entry; begin with: silica memory capture "…"')


def _cells(entry: Entry) -> list[str]:
    text = opening(" ".join(entry.text.split()))
    closed = f"({entry.status}{_by(entry)}) " if entry.status == "closed" else ""
    return [entry.id, entry.observed_at.isoformat(), entry.home or "", ", ".join(entry.tags), closed + text]


@verb(Entries.read_entry, "id", doing="reading the entries")
def entries_show(memory: Memory, id: str) -> Iterator[Output]:  # noqa: A002 - as it is called in the results
    """Show an entry: what is known of it, what refers to it, and its text.

    \b
    Examples:
      silica memory entries show hawk/obs-2026-02-15-001
      silica memory entries show obs-2026-02-15-001 --json
    """
    entry = memory.entries.read_entry(id)
    back = memory.entries.referred_to_by(entry.id)
    yield Document(entry, referred_to_by=back)
    for fact, value in _facts(entry, back):
        yield f"{style(fact, dim=True)} {plain(value)}"
    yield ""
    yield (plain_lines(entry.text) if on_terminal(sys.stdout) else entry.text).encode()


def _by(entry: Entry) -> str:
    return f", superseded by {entry.superseded_by}" if entry.superseded_by else ""


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


@verb(Entries.retract, "id")
def entries_retract(memory: Memory, **given: Any) -> Iterator[Output]:
    """Close an entry that turned out to be wrong or old.

    Its text stays, with the reason, and so do references to it. It is no longer routed or promoted. 'silica memory
    undo' takes it back.

    \b
    Examples:
      silica memory entries retract hawk/obs-2026-02-15-001 --why "the counter was broken"
      silica memory entries retract obs-2026-02-15-001 --why corrected --superseded-by obs-2026-02-16-002
    """
    done = memory.entries.retract(**given)
    yield Document(done)
    recorded = f"retracted, recorded as {done.revision}" if done.revision else "is retracted already"
    yield f"{label(done.entry.id)} {recorded}"


@verb(Entries.verify, "id")
def verify() -> None:
    """Mark an entry as verified, by another agent than its own or by a person.

    'silica memory promote --require-verified' shares verified entries only. 'silica memory undo' takes it back.

    \b
    Examples:
      silica memory verify hawk/obs-2026-02-15-001 --by shield
    """


@renders("ChangedEntry")
def _verified(done: ChangedEntry) -> Iterator[Output]:
    verifiers = ", ".join(map(plain, done.entry.verified_by))
    recorded = f", recorded as {done.revision}" if done.revision else " already"
    yield f"{label(done.entry.id)} verified by {verifiers}{recorded}"


@verb(Entries.import_files, "folder", doing="reading the entries")
def entries_import(memory: Memory, folder: Path, agent: str | None, apply: bool) -> Iterator[Output]:
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
    yield from show(memory.entries.import_files(given, agent, apply))


@verb(None, "folder")
def entries_export(memory: Memory, folder: Path) -> Iterator[Output]:
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
    yield Document(files)
    yield from (plain(str(folder / name)) for name in files)


@verb(Entries.route)
def route(memory: Memory, text: Words, apply: bool) -> Iterator[Output]:
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
    if text and apply:
        raise misuse("a text is only looked at: capture it, then route the inbox")
    if text:
        yield from show(memory.entries.route_text(given_text(text, None)))
        return
    with working("reading the entries"):
        plan = memory.entries.route(apply)
    yield from show(plan)


@renders("Routing")
def _routing(routing: Routing) -> Iterator[Output]:
    yield f"{label(routing.home or 'inbox')}: {plain(routing.reason)}"
    for one in routing.candidates:
        yield f"  {one.score:g} {plain(one.home)}: {', '.join(map(plain, one.reasons))}"


@verb(Entries.pack)
def age(
    memory: Memory,
    pack: Annotated[bool, Option("Instead, pack old entries of low importance in the archive.", "--pack")],
    older_than: int,
    importance: float,
    apply: bool,
) -> Iterator[Output]:
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
    for name in () if pack else ("older_than", "importance"):
        if click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise misuse(f"--{name.replace('_', '-')} says what --pack packs: give that too")
    with working("reading the entries"):
        plan = memory.entries.pack(older_than, importance, apply) if pack else memory.entries.age(apply)
    yield from show(plan)


@verb(Entries.promote, only="--entry --file", doing="reading the entries")
def promote(
    memory: Memory,
    threshold: float,
    require_verified: bool,
    only: str | None,
    agent: Annotated[str | None, "Whose entry it is that is named."],
    apply: bool,
) -> Iterator[Output]:
    """Find the entries that are sure enough to be shared, and copy them into the shared space.

    A copy says where it came from. What is shared already is not copied again, and a copy whose original has changed
    since is told.

    \b
    Examples:
      silica memory promote
      silica memory promote --threshold 0.7 --require-verified --apply
      silica memory promote --entry shield/obs-2026-02-15-001 --apply
    """
    if agent is not None and only is None:
        raise misuse("--agent says whose entry --entry is: name that too")
    entry = only if agent is None else f"{agent}/{only}"
    yield from show(memory.entries.promote(threshold, require_verified, entry, apply))


@verb(Entries.dedupe, doing="reading the entries")
def dedupe() -> None:
    """Find the entries that say the same, and move all but one to the archive.

    The same text by the same agent of the same day counts as the same: a verified entry stays, else the oldest. The
    others are closed and name it. What is only near, or the same on other days or by other agents, is shown and left
    alone: "build 41 passed" and "build 42 passed" are two facts.

    \b
    Examples:
      silica memory dedupe
      silica memory dedupe --apply
    """


@verb(Entries.consolidate, doing="working entries in")
def consolidate() -> None:
    """Work entries into the pages that they belong to.

    The entries of each home are read together. Each one is then on a page to the letter, or is told there in other
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


@verb(Entries.status, doing="reading the entries")
def status(memory: Memory) -> Iterator[Output]:
    """Count the pages, and the entries of each domain with their importance.

    With --json, the summary of DARYL's shards, with a shard for each domain, and the pages beside it.

    \b
    Examples:
      silica memory status
      silica memory status --json
    """
    pages, domains = memory.list_files(), memory.entries.status()
    held = sum(page.size_bytes for page in pages)
    yield Document(domains, pages=len(pages), page_bytes=held)
    yield Hint(f"{plain(memory.storage.where)}: {counted(len(pages), 'page')}, {size(held)}")
    yield from _status(domains)


STATUS = (
    Column("domain"),
    Column("title", drop=1),
    Column("entries", is_number=True),
    Column("importance", is_number=True),
    Column("last", drop=2),
)


def _status(summary: Summary) -> Iterator[Output]:
    homes = (*summary.homes, *summary.others)
    rows = [[one.home, one.title, f"{one.entries:,}", f"{one.importance:.2f}", one.last_updated or ""] for one in homes]
    yield from table(STATUS, rows)
    archived = f", {summary.archived:,} more in the archive" if summary.archived else ""
    yield Hint(f"{counted(len(summary.homes), 'domain')}, {counted_entries(summary.entries)}{archived}")


@verb(Entries.domains)
def domains(
    memory: Memory, file: Annotated[Path | None, Option("Store these domains ('-': standard input).")] = None
) -> Iterator[Output]:
    """Show the domains that entries are routed to, or store others.

    They are TOML: a table for each domain, with its keywords. Print them into a file, edit it, and store it. They stand
    in entries/domains.md, which can be edited there too.

    \b
    Examples:
      silica memory domains > domains.toml
      silica memory domains --file domains.toml
    """
    found = memory.entries.domains() if file is None else memory.entries.set_domains(given_text((), file))
    yield Document(found)
    if file is None:
        yield found.text.encode()
    else:
        for domain in found.domains:
            yield f"{label(domain.name)} {counted(len(domain.keywords), 'keyword')}"
