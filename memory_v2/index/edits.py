"""Detecting external edits: pages whose stamps have changed are read again and compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.index.base import PageSource
from memory_v2.index.rows import IncomingPage, Known, page_digest
from memory_v2.storage.base import Stamp
from memory_v2.tree.page import Page, read_page

OnChange = Callable[[Collection[str]], bool]


@dataclass
class Edits:
    """Pages whose content has changed, pages that were removed, pages of which only the stamp has changed, and
    pages that cannot be read."""

    incoming: list[IncomingPage] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    touched: list[tuple[str, Known]] = field(default_factory=list)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

    @property
    def changed(self) -> set[str]:
        """The paths of the pages that have changed or were removed."""
        return {*(incoming.page.path for incoming in self.incoming), *self.removed}

    def unknown(self) -> Edits:
        """The same edits, put into the tables so that the next refresh notices them again."""
        return replace(self, incoming=[replace(incoming, mark="", is_known=False) for incoming in self.incoming])


def is_stale(known: Mapping[str, Known], stamp: Stamp) -> bool:
    """Whether a page may have changed since it was indexed."""
    seen = known.get(stamp.path)
    return seen is None or seen.mark != stamp.mark or seen.size != stamp.size


def read_edits(source: PageSource, known: Mapping[str, Known], stamps: Iterable[Stamp]) -> Edits:
    """Reads the pages with these stamps and compares them with what is known."""
    edits = Edits()
    for stamp in stamps:
        path, size, mark = stamp.path, stamp.size, stamp.mark
        try:
            data = source.read(path).data
            # The data is at least as new as the stamp; if it is newer, the next refresh reads the page once more.
            if path in known and known[path].digest == page_digest(data):
                edits.touched.append((path, Known(size, mark, known[path].digest)))
            else:
                page = read_page(path, data)
                edits.incoming.append(IncomingPage(page, size, mark, last_updated(source, page)))
        except PageNotFound:
            edits.removed.append(path)
        except Unreadable as error:
            edits.unreadable[path] = error
            edits.incoming += _empty(path, known)
    return edits


def _empty(path: str, known: Mapping[str, Known]) -> list[IncomingPage]:
    """A page that cannot be read, as the index has it: without text, and read again by each refresh."""
    page = read_page(path, b"")
    if path in known and known[path] == Known(0, "", page_digest(page.data)):
        return []
    return [IncomingPage(page, 0, "", datetime.fromtimestamp(0, UTC))]


def last_updated(source: PageSource, page: Page) -> datetime:
    """When a page was last changed, by its own metadata or else by the source."""
    try:
        return page.last_updated or source.get_modified_time(page.path)
    except PageNotFound:  # removed meanwhile, as the next refresh will find
        return datetime.fromtimestamp(0, UTC)
