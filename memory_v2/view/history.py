"""The history: a timeline, each change with its differences, undoing a change, and restoring a page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby, takewhile

from memory_v2.entries.entry_paths import place_of
from memory_v2.errors import NotAllowed, PageNotFound, SilicaError
from memory_v2.operations.history import PastOperation
from memory_v2.storage.history import EDITED, PageChange
from memory_v2.text.amounts import counted
from memory_v2.text.days import iso_day
from memory_v2.text.words import shorten
from memory_v2.tree.block import decode, encode, readable
from memory_v2.tree.page import Page, page_source, parse_page
from memory_v2.tree.path import is_entry
from memory_v2.tree.source import told_sources
from memory_v2.view.pages import without_metadata
from memory_v2.view.visit import Visit
from memory_v2.view.web import Response, see

MOST_CHANGES = 40
"""Changes that the timeline shows at once."""
MOST_LINES = 300
"""Lines of the difference of a page that are shown at first."""
LONGEST_SUMMARY = 80
"""Characters of an entry in the timeline."""
MOST_BESIDE = 2
"""Words that are shown before and after those that were replaced."""
MOST_OTHERS = 3
"""Changes in the way of taking one back that are named."""
MOST_PAGES = 60
"""Pages of a change whose differences are shown at once."""


def timeline(visit: Visit) -> Response:
    """All changes, newest first, by day; of one page, or of one day, if that is asked for."""
    path, day = visit.asked("page"), iso_day(visit.asked("day"))
    operations = [past for past in visit.memory.history(path or None) if _is_seen(visit, past)]
    if day:
        operations = [past for past in operations if visit.calendar.day(past.when) == day]
    shown, place = visit.part(operations, MOST_CHANGES)
    days = [(when, list(group)) for when, group in groupby(shown, lambda past: visit.calendar.day(past.when))]
    known = {past.first.operation or past.first.id: past for past in operations}
    titles = {past.id: _title(visit, past, known.get(past.first.undoes)) for past in shown}
    return visit.show("history", days=days, path=path, day=day, titles=titles, **place)


def change(visit: Visit, revision: str, problem: str = "", status: int = 200) -> Response:
    """A change: what, why, by whom, and each page before and after."""
    past, changed = visit.memory.show(revision)
    if not _is_seen(visit, past):
        visit.require_entries()
    pages = [page for page in changed.pages if visit.sees_entries or not is_entry(page.path)]
    shown, place = visit.part(pages, MOST_PAGES)
    later = {page.path for page in shown if _is_other_now(visit, page)}
    in_the_way = {page.path for page in shown if page.path in later and not _is_of_links(page)}
    listed = [each for each in visit.memory.history() if _is_seen(visit, each)]
    newer = list(takewhile(lambda each: each.id != past.id, listed))
    others = _blocking(newer, in_the_way)
    return visit.show(
        "change",
        status,
        past=past,
        title=_title(visit, past, _undone(listed, past)),
        sources=_sources(shown),
        pages=[_without_metadata(page) for page in shown],
        **place,
        lines=1_000_000 if visit.asked("all") else MOST_LINES,
        traces=_traces(visit, past),
        later=later,
        in_the_way=in_the_way,
        others=[(each.id, _title(visit, each, None).rstrip(".")) for each in others[:MOST_OTHERS]],
        left_out=len(others[MOST_OTHERS:]),
        problem=problem,
        done=visit.asked("done"),
        adds_only=past.first.kind == "write" and not any(map(_takes_away, pages)),
        before=next(iter(listed[len(newer) + 1 :]), None),
        after=next(reversed(newer), None),
    )


def _title(visit: Visit, past: PastOperation, undone: PastOperation | None) -> str:
    """What a change was, for people: an undo is told by what it took back, a capture by how its entry begins, new words
    for old ones by both, and an edit by hand by its pages."""
    if undone:
        return f"took back: {_title(visit, undone, None)}"
    if past.first.kind == "replace_text" and (words := _replaced(visit, past)):
        return words
    entries = [place.id for place in map(place_of, past.paths) if place]
    if not entries or len(entries) < len(past.paths):
        return past.first.summary.removeprefix(EDITED)  # its kind says so already
    with suppress(SilicaError):
        begins = shorten(visit.memory.entries.read_entry(entries[0]).text, LONGEST_SUMMARY)
        others = len(entries) - 1
        return f"{begins.rstrip('.')}, and {counted(others, 'other')}" if others else begins
    return past.first.summary


def _replaced(visit: Visit, past: PastOperation) -> str:
    """The first words that a change replaced, and those that it put there; empty if no line took the place of one."""
    for page in visit.memory.show(past.id)[1].pages:
        lines = _without_metadata(page).diff.splitlines()[2:]
        old, new = (next((line[1:].split() for line in lines if line[:1] == sign), []) for sign in "-+")
        if old and new and old != new and not _is_of_links(page):
            parts = [part for part in SequenceMatcher(None, old, new, False).get_opcodes() if part[0] != "equal"]
            spans = (old, (parts[0][1], parts[-1][2])), (new, (parts[0][3], parts[-1][4]))
            shown = (" ".join(words[max(at - MOST_BESIDE, 0) : to + MOST_BESIDE]) for words, (at, to) in spans)
            return " → ".join(shorten(words, LONGEST_SUMMARY) for words in shown)
    return ""


def _undone(listed: Sequence[PastOperation], past: PastOperation) -> PastOperation | None:
    """The change, of those that are listed, that this one took back."""
    undoes = past.first.undoes
    return next((each for each in listed if undoes and undoes in (each.first.operation, each.first.id)), None)


def _blocking(newer: Sequence[PastOperation], paths: set[str]) -> list[PastOperation]:
    """The changes of these pages, of those that came after one, that still count: they are in its way."""
    names = {each.first.operation or each.first.id for each in newer}
    return [
        each
        for each in newer
        if not each.undone_by and each.first.undoes not in names and paths.intersection(each.paths)
    ]


def _sources(pages: Sequence[PageChange]) -> list[str]:
    """Where the text that a change brought came from."""
    had = {block.text for page in pages for block in _read(page.path, page.before).blocks}
    found = dict[str, None]()
    for page in pages:
        after = _read(page.path, page.after)
        sources = told_sources(after.blocks)
        news = [number for number, block in enumerate(after.blocks, 1) if block.text not in had]
        found |= dict.fromkeys(sources.get(number, page_source(after)).name for number in news)
    return [name for name in found if name]


def _without_metadata(page: PageChange) -> PageChange:
    """A change of a page as people look at it: its metadata changes each time."""
    before, after = (data and _own(_read(page.path, data)) for data in (page.before, page.after))
    return replace(page, before=before, after=after)


def _own(read: Page) -> bytes:
    """The bytes of a page without its metadata and the blank lines above them."""
    return encode(without_metadata(read).rstrip("\r\n") + "\n" if read.metadata else read.text)


def _read(path: str, data: bytes | None) -> Page:
    return parse_page(path, decode(data or b""))


def _is_other_now(visit: Visit, page: PageChange) -> bool:
    """Whether a page is not as a change left it, so that it can be put back."""
    if page.after is None or is_entry(page.path):
        return False
    try:
        return visit.memory.read(page.path) != readable(decode(page.after))
    except PageNotFound:
        return True


def _is_of_links(page: PageChange) -> bool:
    """Whether a change of a page was of its list of links alone: whatever came later, an undo takes that back."""
    if page.before is None or page.after is None:
        return False
    return _read(page.path, page.before).body == _read(page.path, page.after).body


def _takes_away(page: PageChange) -> bool:
    """Whether a change took lines of a page away, or changed some."""
    return not _is_of_links(page) and any(line[:1] == "-" for line in _without_metadata(page).diff.splitlines()[2:])


def _is_seen(visit: Visit, past: PastOperation) -> bool:
    """Whether a change is shown: to a visitor who may see pages only, none that is of entries alone."""
    return visit.sees_entries or not past.paths or not all(map(is_entry, past.paths))


def _traces(visit: Visit, past: PastOperation) -> list[str]:
    """The traces of a change: their names end in the id of its operation."""
    operation = past.first.operation if visit.sees_entries else ""
    return [name for name in visit.memory.traces() if operation and name.endswith(f"-{operation}")]


def undo(visit: Visit) -> Response:
    """Takes a change back; the change that does so is shown, and can be taken back too."""
    revision = visit.request.form.get("revision", "")
    if any(map(is_entry, visit.memory.show(revision)[0].paths)):
        visit.require_entries()
    try:
        result = visit.memory.undo(revision)
    except NotAllowed as error:
        return change(visit, revision, str(error), 409)
    return see(visit.at("history", result.revision, done="undone"), result.changed_pages)


def restore(visit: Visit) -> Response:
    """Puts a page back as it was after a change."""
    form = visit.request.form
    if not form.get("path") or is_entry(form["path"]):
        raise NotAllowed("one page is put back at a time: name it")
    result = visit.memory.restore(form.get("revision", ""), form["path"])
    if not result.revision:
        return see(visit.at("page", result.path))
    return see(visit.at("history", result.revision, done="restored"), result.changed_pages)


def compare(visit: Visit) -> Response:
    """What has changed between a change and another, or now."""
    old, new = visit.asked("old"), visit.asked("new")
    changed = visit.memory.diff(old, new or None)
    pages = [page for page in changed.pages if visit.sees_entries or not is_entry(page.path)]
    return visit.show(
        "compare",
        old=old,
        new=new,
        moments={revision: visit.memory.show(revision)[0].when for revision in (old, new) if revision},
        pages=[_without_metadata(page) for page in pages[:MOST_PAGES]],
        count=len(pages),
        lines=MOST_LINES,
    )
