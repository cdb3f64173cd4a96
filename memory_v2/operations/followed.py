"""Following a document: its page is brought to the document's new state, unless the page has changed here too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from memory_v2.errors import NotAllowed, StorageError
from memory_v2.operations.draft import Draft
from memory_v2.operations.follow import turn_links
from memory_v2.operations.write import describe_again
from memory_v2.storage.history import History
from memory_v2.tree.exact import is_bare
from memory_v2.tree.headings import REPEATED
from memory_v2.tree.link import link_key
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import fold
from memory_v2.tree.source import is_source_line, page_source
from memory_v2.tree.titles import RULES_BELOW, TITLE_LEVEL, repeated_headings, section_blocks

Find = Callable[[str], Page | None]


class Changed(Exception):
    """The page of a document was changed here since it was brought in."""


@dataclass(frozen=True, slots=True)
class Divided:
    """A page with the pages that were split off it. `groups` only list pages, and hold no text."""

    pages: tuple[Page, ...]
    groups: tuple[Page, ...] = ()

    @property
    def text(self) -> Counter[str]:
        """How often each block stands on them, however it was divided."""
        counted: Counter[str] = Counter()
        first = self.pages[0]
        for page in self.pages:
            blocks = [block for block in section_blocks(page) if not is_source_line(block)]
            if page is not first and page.top and TITLE_LEVEL not in page.properties:
                blocks.remove(page.blocks[page.top - 1])  # the split has made it
            counted.update(block.content for block in blocks)
            counted.subtract(block.content for block in repeated_headings(page))
        return +counted


def divided(path: str, find: Find) -> Divided | None:
    """The page with what was split off it, which has the same source; `None` if there is no such page."""
    if (first := find(path)) is None:
        return None
    source = page_source(first).name
    seen, queue = {fold(path): first}, [first]
    groups: list[Page] = []
    while queue:
        page = queue.pop(0)
        for link, is_child in page.found_links:
            if (key := link.key) is None or key in seen or (below := find(link.target.strip())) is None:
                continue
            split_off = "split_from" in below.properties and is_child
            is_group = split_off and is_bare(below)
            if is_group or _holds_pieces(below) or (split_off and page_source(below).name == source):
                seen[key] = below
                queue.append(below)
                groups += [below] if is_group else []
    kept = {fold(group.path) for group in groups}
    return Divided(tuple(page for key, page in seen.items() if key not in kept), tuple(groups))


def _holds_pieces(page: Page) -> bool:
    """Whether a page is a piece of a large block, or lists the pieces."""
    return page.piece is not None or any(child.target.startswith(f"{page.path}/part-") for child in page.children)


def at(history: History, revision: str) -> Find:
    """Finds pages as they were after a revision."""

    def find(path: str) -> Page | None:
        data = history.read(revision, path)
        return None if data is None else read_page(path, data)

    return find


def is_changed(path: str, now: Find, then: Find) -> bool:
    """Whether the text of a page, with what was split off it, is no longer what it was."""
    here, left = divided(path, now), divided(path, then)
    return here is None or left is None or here.text != left.text


def follow(draft: Draft, path: str, left: str, page: Page) -> None:
    """Stages the text of `page` in place of what the last import left on it, after the revision `left`, and on the
    pages that were split off it, which go. Raises `Changed` if the page is not as it was left."""
    history = draft.context.storage.history
    here = divided(path, draft.find)
    if here is None:
        raise Changed("its page was deleted meanwhile")
    try:
        if is_changed(path, draft.find, at(history, left)):
            raise Changed("its page was changed here meanwhile")
    except NotAllowed as error:
        raise StorageError(f"the history cannot tell how {path!r} was: {error}") from error
    old, *split_off = here.pages
    gone = {one.path for one in split_off}
    for group in reversed(here.groups):  # those below others first
        if all(link_key(child.target) in {fold(one) for one in gone} for child in group.children):
            gone.add(group.path)
    keys = {fold(one) for one in gone}
    listed = {link_key(child.target) for child in old.children}
    lines = [
        child.line
        for one in (*split_off, *here.groups)
        if one.path in gone
        for child in one.children
        if (key := link_key(child.target)) not in keys and key not in listed
    ]
    cleared = dict.fromkeys((REPEATED, TITLE_LEVEL, RULES_BELOW), "")
    made = page.with_sections_of(old).without_children(lambda child: link_key(child.target) in keys).with_lines(lines)
    draft.put(made.stamped(draft.context.now(), **cleared))
    for one in sorted(gone):
        draft.remove(one)
    turn_links(draft, dict.fromkeys(gone, path))
    describe_again(draft, old, draft.page(path).blocks)
