"""Links that lead nowhere or to several notes, links to what was replaced, and notes that nothing links to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memory_v2.files.links import FileLink
from memory_v2.notes.audit.context import AuditContext, is_index, is_log
from memory_v2.notes.audit.findings import NoteFinding
from memory_v2.notes.languages import bare, pattern, says
from memory_v2.notes.links import file_names, links
from memory_v2.notes.note import Item, Note
from memory_v2.text.words import normal
from memory_v2.tree.front_matter import front_matter_length
from memory_v2.tree.path import fold

LINKED = 0.5
"""Which share of its lasting notes a folder links at least, for one that is not linked to be worth telling."""
FEWEST = 4
"""How many lasting notes there are at least, for the same."""


def linking(context: AuditContext) -> Iterator[NoteFinding]:
    """All that is wrong with links."""
    notes = {note.name: note for note in context.notes}
    is_replaced = cache(lambda name: _is_replaced(context, notes[name]))
    resolve = context.links.resolve
    led = [(*one, resolve(one[0].name, one[2].target, one[2].is_wiki)) for one in links(context.notes)]
    linked = {name for *_, found in led for name in found}
    has_wiki = any(link.is_wiki and found for *_, link, found in led)
    for note, item, link, found in led:
        if link.is_wiki and not has_wiki and "/" not in link.target:
            continue  # nobody links so here: it names a syntax
        first = notes.get(found[0]) if found else None
        code, message = "", ""
        if not found:
            code, message = "broken-link", f"{_written(link)} leads to no file"
        elif len(found) > 1:
            code, message = "ambiguous-link", f"{_written(link)} may be {' or '.join(found[:3])}"
        elif first and link.heading and not _has_heading(first, link.heading):
            code, message = "broken-link", f"{first.name} has no heading {link.heading!r}"
        elif first and _cites(note, item) and is_replaced(first.name) and not is_replaced(note.name):
            code, message = "superseded", f"{first.name} says that it was replaced"
        if code:
            yield NoteFinding(code, note.name, link.line, message, f"{item.id} {link.target}", tuple(found), item.day)
    yield from _orphans(context, linked)


def _cites(note: Note, item: Item) -> bool:
    """Whether a lasting note sends its reader there. `This page replaces …` does not, and a log tells what was so."""
    return not is_log(note) and not says(bare(item.text), "ageing", "replaces")


def _written(link: FileLink) -> str:
    return f"[[{link.target}]]" if link.is_wiki else link.written


def _has_heading(note: Note, heading: str) -> bool:
    wanted = normal(heading.rpartition("#")[2])
    return heading.startswith("^") or any(normal(section.heading) == wanted for section in note.sections)


def _is_replaced(context: AuditContext, note: Note) -> bool:
    """Whether a note says of itself that it was replaced: in its front matter, its title, or first of all."""
    lines = context.lines(note.name)
    front = "".join(lines[: front_matter_length([line.rstrip("\r\n") for line in lines[:200]])])
    told = re.findall(r"(?m)^(?:status|state):[ \t]*(.*)|^(superseded_by|replaced_by):[ \t]*\S", front.casefold())
    title = next((section.heading for section in note.sections if section.level == 1), "")
    first = next((item.text for item in note.items if item.is_prose or item.kind == "quote"), "")[:80]
    said = [*(status or "superseded" for status, _ in told), title, first]
    return any(pattern("ageing", "superseded").match(bare(one).lstrip("*_[(!⚠️ >~-")) for one in said)


def _orphans(context: AuditContext, linked: set[str]) -> Iterator[NoteFinding]:
    """Lasting notes that nothing links to or names, where a folder links its notes at all."""
    known = [note for note in context.lasting if not is_index(note)]
    named: dict[str, set[str]] = {}
    for name, text in context.texts.items():
        for found in file_names(text):
            named.setdefault(fold(found.rpartition("/")[2]), set()).add(name)
    orphans = [
        note
        for note in known
        if note.name not in linked and not named.get(fold(note.name.rpartition("/")[2]), set()) - {note.name}
    ]
    if len(known) >= FEWEST and len(known) - len(orphans) >= LINKED * len(known):
        for note in orphans:
            yield NoteFinding("orphan", note.name, 1, "no other note links to this one or names it", "", day=note.day)
