"""Replacing a page by the text that somebody has made of it in an editor."""

from __future__ import annotations

from memory_v2.errors import InvalidText, StorageConflict
from memory_v2.operations.commit import stage_and_commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft
from memory_v2.operations.operation import operation
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.results import Result
from memory_v2.tree.block import decode, encode
from memory_v2.tree.merged import tidied
from memory_v2.tree.page import parse_page
from memory_v2.tree.path import page_path


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
    splits, problem = split_overgrown(context)
    return Result(path, (change,) if change else ()).with_splits(splits, problem)
