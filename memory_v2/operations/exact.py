"""Changes to the character, without a model: of a page, a part of it or a folder, and what an editor made of a page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from memory_v2.agent.operation import operation
from memory_v2.errors import InvalidText, NotAllowed, PageExists, PageNotFound, StorageConflict
from memory_v2.operations.arrange import committed
from memory_v2.operations.commit import stage_and_commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft, follow_renamed, linking, move_pages, name_source, unlinked
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.results import Result
from memory_v2.operations.write import ensure_page
from memory_v2.tree.block import BYTE_ORDER_MARK, decode, encode, new_blocks
from memory_v2.tree.edit import inserted, is_bare, replaced, text_of, with_text
from memory_v2.tree.merged import tidied
from memory_v2.tree.page import Page, parse_page
from memory_v2.tree.path import ROOT, TakenPaths, fold, new_page_path, page_path
from memory_v2.tree.source import NO_SOURCE, Source, is_source_line
from memory_v2.validate import check_text, checked_source


@operation("create", changes="tree", recorded=True)
def create(context: Context, path: str, text: str) -> Result:
    """Creates a page with exactly this text, linked from the nearest page above it. A root without a text of its own
    may be created too. Raises `PageExists`, `InvalidText`."""
    path = new_page_path(path)
    check_text(text, "a text")
    text = text.removeprefix(BYTE_ORDER_MARK)

    def stage(draft: Draft) -> str:
        there = draft.find(path)
        if there is not None and not (path == ROOT and is_bare(there)):
            raise PageExists(f"there is a page {path!r} already")
        draft.put(with_text(ensure_page(draft, path, new_blocks(text)), text))
        return path

    return committed(context, stage)


@operation("insert", changes="tree", recorded=True)
def insert(context: Context, path: str, line: int, text: str) -> Result:
    """Inserts a text after so many lines of a page's text; 0 is the top. Raises `PageNotFound`, `NotAllowed`,
    `InvalidSetting`."""
    check_text(text, "a text")
    return _changed(context, path, lambda now: inserted(now, line, text))


@operation("replace_text", changes="tree", recorded=True)
def replace_text(
    context: Context, path: str, old: str, new: str, source: str | None = None, date: date | str | None = None
) -> Result:
    """Replaces a part of a page's text. `source` says where the new words came from, and `date` the day they were said.
    Raises `PageNotFound`, `InvalidSetting`, and `NotAllowed` unless the part occurs exactly once."""
    check_text(old, "a text")
    check_text(new, "a text")
    told = checked_source(source, date, context.calendar)
    return _changed(context, path, lambda now: replaced(now, old, new), told, _why_not(old))


@operation("delete_folder", changes="tree", recorded=True)
def delete_folder(context: Context, path: str) -> Result:
    """Deletes all pages below a path; the page of that path stays. Links to them become plain words. Raises
    `PageNotFound` if there are none."""
    path = page_path(path)

    def stage(draft: Draft) -> str:
        gone = _below(draft, path)
        keys = frozenset(fold(one) for one in gone)
        for source in linking(draft, gone) - gone:
            draft.put(unlinked(draft.page(source), keys))
        for one in sorted(gone):
            draft.remove(one)
        return path

    return committed(context, stage, look=True)


@operation("rename_folder", changes="tree", recorded=True)
def rename_folder(context: Context, old: str, new: str) -> Result:
    """Moves all pages below a path to another path; links follow. Raises `PageNotFound` if there are none, `PageExists`
    if there are pages below the other one, and `NotAllowed` if one path is below the other."""
    old, new = page_path(old), new_page_path(new)

    def stage(draft: Draft) -> str:
        if new.startswith(f"{old}/"):
            raise NotAllowed(f"the pages below {old!r} cannot move below themselves")
        moved = {path: page_path(new + path[len(old) :]) for path in sorted(_below(draft, old))}
        others = TakenPaths(draft.paths() - moved.keys())
        if taken := next((path for path in moved.values() if path in others), None):
            raise PageExists(f"there is a page {others.page(taken) or others.clash(taken)!r} already")
        if any(path.startswith(f"{new}/") for path in draft.paths()):
            raise PageExists(f"there are pages below {new!r} already")
        move_pages(draft, moved)
        return new

    return committed(context, stage, look=True)


def _below(draft: Draft, path: str) -> set[str]:
    found = {one for one in draft.paths() if one.startswith(f"{path}/")}
    if not found:
        raise PageNotFound(path)
    return found


def _why_not(old: str) -> Callable[[Page], None]:
    """Refuses to replace what stands only in the sections of a page that the program writes, and says what does."""

    def check(page: Page) -> None:
        if not old or old in page.body:
            return
        if link := next((link for link in page.children if old in link.line), None):
            raise NotAllowed(f"it stands in the line by which {link.target!r} is listed, which follows that page")
        if old in page.metadata:
            raise NotAllowed("it stands in the metadata, which the program writes")

    return check


def _names_other_sources(before: Page, after: Page) -> bool:
    """Whether the lines that name sources are as many as before, and say something else."""
    was, now = ([block.text for block in page.blocks if is_source_line(block)] for page in (before, after))
    return len(was) == len(now) and was != now


def _changed(
    context: Context,
    path: str,
    change: Callable[[str], str],
    source: Source = NO_SOURCE,
    check: Callable[[Page], None] = lambda page: None,
) -> Result:
    """The page with its text changed. What is new on it is from this source, and never from that of its page; if only
    another source is named, nothing is."""
    path = page_path(path)

    def stage(draft: Draft) -> str:
        follow_renamed(draft, path)
        page = draft.page(path)
        if page.piece is not None:
            raise NotAllowed(f"{path!r} holds part of a block too large for one page; it cannot be edited alone")
        check(page)
        changed = with_text(page, change(text_of(page)))
        draft.put(changed)
        if not _names_other_sources(page, changed):
            name_source(draft, source)
        return path

    return committed(context, stage)


@operation("edit", changes="tree", recorded=True)
def edit(context: Context, path: str, text: str, was: str) -> Result:
    """Replaces a page, as it is stored, by the text that an editor has made of it; `was` is what the editor was given.
    Pages that the text no longer links to are linked again, and the page is split if it has grown too large. Raises
    `PageNotFound`, `InvalidText`, and `StorageConflict` if the page is no longer what the editor was given; nothing was
    changed then."""
    path = page_path(path)
    if not text.strip():
        raise InvalidText(f"the edited text of {path!r} is empty; to remove the page, delete it")
    try:
        encode(text)
    except UnicodeEncodeError as error:
        raise InvalidText(f"the text is not valid Unicode: character {error.start} is half of a pair") from error

    def stage(draft: Draft) -> bool:
        draft.page(path)
        if (stored := draft.read[path]) is None or decode(stored.data) != was:
            return False
        if text != was:
            draft.put(tidied(parse_page(path, text)))
        return True

    is_same, change = stage_and_commit(context, stage)
    if not is_same:
        raise StorageConflict(f"the page {path!r} was changed while it was being edited; edit it again as it is now")
    return Result(path, (change,) if change else ()).with_splits(*split_overgrown(context))
