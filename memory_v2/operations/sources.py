"""Naming where a text came from, on each page that gets some of it."""

from __future__ import annotations

from collections.abc import Callable

from memory_v2.operations.draft import Draft
from memory_v2.tree.block import Block
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT
from memory_v2.tree.source import NO_TEXT, Source, page_source
from memory_v2.tree.source_lines import gathered, of_one_source, signed, signed_each


def name_source(draft: Draft, source: Source, replaced: str = "") -> None:
    """Stages the source of a text on each staged page: in the metadata of a page that has nothing else, which is a new
    one or the one that is `replaced`; on the root, and on any other page, in a line behind the text. Text without a
    source gets the day on which it is written, if else it would seem to be from the source of its page."""
    now, calendar = draft.context.now(), draft.context.calendar
    for path, page in list(draft.staged.items()):
        if page is None:
            continue
        before = draft.before(path) if path != replaced else None
        if before is None and path != ROOT:
            if source or page_source(page):
                draft.put(page.stamped(now, **source.properties))
            continue
        told = source or (Source(day=calendar.day(now)) if page_source(page) else source)
        named = signed(page, before.blocks if before else page.blocks[: page.top], told)
        if named is not page:
            draft.put(named)


def name_sources(draft: Draft, source_of: Callable[[Block], Source]) -> None:
    """Stages a line behind each text that is new on a staged page, which names its source."""
    for path, page in list(draft.staged.items()):
        if page is None:
            continue
        before = draft.before(path)
        named = signed_each(page, before.blocks if before else page.blocks[: page.top], source_of)
        if named is not page:
            draft.put(named)


def keep_sources(draft: Draft, divided: Page) -> None:
    """Stages the sources of the text of a page that was divided, on each staged page that has some of it. A new page
    has the day of the page that was divided, which it may know from its front matter or its path."""
    now, source = draft.context.now(), Source(page_source(divided).name, divided.said_on)
    whole = divided.stamped(now, **source.properties) if source else divided
    for path, page in list(draft.staged.items()):
        if page is None:
            continue
        before = draft.before(path)
        if before is None:
            kept = page.stamped(now, **source.properties) if source else page
            if page.piece is None and _has_text(page):
                kept = of_one_source(gathered(kept, [whole]))
        elif page.piece is not None:
            continue
        else:
            kept = gathered(page, [divided] if path == divided.path else [before, divided])
        if kept is not draft.staged[path]:
            draft.put(kept)


def _has_text(page: Page) -> bool:
    """Whether a page has text of its own; one that only lists the pieces of a large block has none."""
    return any(block.kind not in NO_TEXT for block in page.blocks[page.top :])
