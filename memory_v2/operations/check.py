"""Checking the tree, and repairing what can be repaired."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

from memory_v2.agent.operation import Cost
from memory_v2.errors import PageNotFound, StorageError, Unreadable
from memory_v2.operations.commit import stage_and_commit
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.draft import Draft, followed, link_orphans, renamed_by_hand
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.page_lines import described, outdated_lines
from memory_v2.operations.results import Finding, Result
from memory_v2.progress import with_progress
from memory_v2.storage.base import PENDING, MemoryStorage
from memory_v2.storage.history import HistoryDamaged
from memory_v2.text.words import shorten
from memory_v2.tree.block import Block
from memory_v2.tree.edit import appended
from memory_v2.tree.graph import Graph, build_graph
from memory_v2.tree.headings import Outline, digest, repeated_on
from memory_v2.tree.merged import Merged, conflicts, is_torn, merged_sections
from memory_v2.tree.page import ChildLink, Page, new_page, read_page
from memory_v2.tree.path import ROOT, SUFFIX, Link, fold, link_key
from memory_v2.tree.titles import section_blocks


@dataclass(frozen=True)
class Checkup:
    """The problems in the tree. After a repair, `findings` are those that remain of `found`, and `changes` is what the
    repair changed."""

    findings: tuple[Finding, ...]
    found: tuple[Finding, ...] = ()
    changes: Result | None = None

    def with_cost(self, cost: Cost, trace: str) -> Self:
        """The checkup with the cost of the repair and the name of its trace."""
        return replace(self, changes=self.changes and self.changes.with_cost(cost, trace))

    @property
    def mended(self) -> tuple[Finding, ...]:
        """The findings that were repaired. Lines may have moved, so they are compared by page and message."""
        remaining = {(finding.kind, finding.path, finding.message) for finding in self.findings}
        return tuple(f for f in self.found if f.mend and (f.kind, f.path, f.message) not in remaining)


def check(context: Context, apply: bool = False) -> Checkup:
    """Returns all findings, errors first. With `apply` it repairs what it can and returns the findings that remain."""
    refresh(context, even_if_fresh=True)
    findings = tuple(find_problems(context))
    if not apply or not any(finding.mend for finding in findings):
        return Checkup(findings, findings, Result(ROOT) if apply else None)
    changes = _mend(context)
    return Checkup(tuple(find_problems(context)), findings, changes)


def _mend(context: Context) -> Result:
    """Makes pages of files with decomposed names, settles conflicts in the program's sections, creates a missing root,
    follows pages that were renamed by hand, removes children that do not exist, links unreachable pages, replaces lines
    that are out of date, and splits overgrown pages."""
    if context.storage.decomposed_names(rename=True):  # in the history, that is an edit by hand
        refresh(context, even_if_fresh=True)
    settled = stage_and_commit(context, _stage_settled, exact=True)[1]
    paths, revision = stage_and_commit(context, _stage_repair, look=True)
    return Result(ROOT, tuple(filter(None, (settled, revision)))).with_splits(*split_overgrown(context, paths))


def _stage_settled(draft: Draft) -> None:
    """Settles conflicts in the program's sections as they are, so that whoever settles the same has the same bytes."""
    for path in draft.paths() - draft.context.index.unreadable.keys():
        draft.before(path)
        stored = draft.read[path]  # to the byte
        if stored and (merged := merged_sections(read_page(path, stored.data))) and merged.page:
            draft.put(merged.page)


def _stage_repair(draft: Draft) -> list[str]:
    """Stages the repair of all pages that can be read, and names them."""
    context = draft.context
    paths = sorted(draft.paths())
    read = ((path, draft.find(path)) for path in paths if path not in context.index.unreadable)
    pages = {path: page for path, page in read if page and not is_torn(page)}  # others may have removed some
    if paths and not draft.exists(ROOT):
        draft.put(new_page(ROOT, "Memory"))
    known = known_targets(draft.paths(), context.storage, context.storage.ignored_files())
    exists = context.storage.exists
    moved = moved_pages(context, pages, draft.graph(), known)
    for as_read in pages.values():
        # Gathered: text below the program's sections is moved above them.
        page = followed(as_read, moved, context.now())
        draft.put(page)
        # A page that was made after the list of all was read is listed by the newer page, and exists.
        broken = [child for child in page.children if link_key(child.target) not in known and not exists(child.target)]
        if broken:
            draft.put(_unlist(page, broken))
    link_orphans(draft)
    there = {path: draft.page(path) for path in pages}
    for path, lines in outdated_lines(context.storage.history, there, draft.graph()).items():
        for above, link in lines:
            told = described(draft, draft.page(path))
            draft.put(draft.page(above.path).with_description(link.target, told))
    return [*pages]


def _unlist(page: Page, broken: list[ChildLink]) -> Page:
    """Moves the lines of children that do not exist into the text, with the link as code, so that no word is lost."""
    lines = {child.line for child in broken}
    kept = page.without_children(lambda child: child.line in lines)
    texts = [Block(_as_code(child), "item") for child in broken]
    return appended(kept, [(block,) for block in texts])


def _as_code(child: ChildLink) -> str:
    start, end = child.line.index("[["), child.line.index("]]") + 2
    return f"{child.line[:start]}`{child.line[start:end]}`{child.line[end:]}"


MAX_QUOTED = 80
"""How much of a line is quoted in a finding, in characters."""
_COPY = re.compile(r"(?P<page>.+?)(?:\.sync-conflict-[\w-]+| ?\([^()]*conflicted copy[^()]*\))", re.IGNORECASE)
"""The name of a file that a program has put beside another version of it, as Syncthing and Dropbox name it."""


def find_problems(context: Context) -> list[Finding]:
    """All problems of the tree, errors first."""
    storage = context.storage
    pages, unread = _pages(storage)
    graph = build_graph(pages.values())
    ignored = storage.ignored_files()
    known = known_targets((*pages, *unread), storage, ignored)
    found = [
        *(Finding("unreadable", "error", path, 0, reason) for path, reason in unread.items()),
        *_whole(pages, graph, unread),
        *(f for page in pages.values() for f in _page(page, context.threshold)),
        *_copies(pages),
        *_links(pages, known, moved_pages(context, pages, graph, known)),
        *_outdated(context, pages, graph),
        *_orphaned_sections(pages),
        *(Finding("unindexed", "error", path, 0, problem) for path, problem in context.index.problems().items()),
        *_ignored_files(ignored, storage.decomposed_names() if ignored else {}),
        *_unfinished(storage),
        *_damaged_history(storage),
    ]
    return sorted(found, key=lambda f: (f.severity, f.path != ROOT, f.path, f.line))


def _pages(storage: MemoryStorage) -> tuple[dict[str, Page], dict[str, str]]:
    """All pages, and those pages and folders that cannot be read, each with the reason."""
    pages: dict[str, Page] = {}
    unread: dict[str, str] = {}
    for path in with_progress(storage.list_files(), "pages checked"):
        try:
            pages[path] = read_page(path, storage.read(path).data)
        except PageNotFound:  # removed meanwhile
            continue
        except Unreadable as error:
            unread[path] = str(error)
    return pages, unread | dict(storage.unlisted_folders())


@dataclass(frozen=True)
class LinkTargets:
    """The paths of all pages, folded, and the folders whose pages nobody can tell."""

    paths: AbstractSet[str]
    unlisted: tuple[str, ...]

    def __contains__(self, key: str | None) -> bool:
        return key is not None and (key in self.paths or key.startswith(self.unlisted))


def known_targets(paths: Iterable[str], storage: MemoryStorage, ignored: Iterable[tuple[str, str]]) -> LinkTargets:
    """What a link may lead to: also what is there and is no page, such as a folder that is a symbolic link. It is
    named as it is, and the links to it are a person's to mend."""
    strays = [name.removesuffix(SUFFIX) for name, _ in ignored]
    unlisted = (*storage.unlisted_folders(), *(f"{name}/" for name in strays))
    return LinkTargets({fold(path) for path in (*paths, *strays)}, tuple(map(fold, unlisted)))


def _whole(pages: dict[str, Page], graph: Graph, unread: dict[str, str]) -> Iterator[Finding]:
    """What is missing in the tree as a whole. Nobody can tell while a page cannot be read: it may be there."""
    if unread:
        return
    if pages and ROOT not in pages:
        yield Finding("no-root", "error", ROOT, 0, "there are pages, but no root that leads to them", "make the root")
    for path in graph.unreachable if ROOT in pages else ():
        message = "no link leads here from the root"
        yield Finding("unreachable", "error", path, 0, message, "link it from the page above")
    yield from _pieces(pages)


def _page(page: Page, threshold: int) -> Iterator[Finding]:
    if page.size > threshold:
        message = f"{page.size:,} bytes, more than the {threshold:,} of a page"
        yield Finding("too-large", "error", page.path, 0, message, "split it")
    if page.piece is not None and len(page.piece_data) != page.piece.size:
        message = f"holds {len(page.piece_data):,} bytes of its part of a large block, which has {page.piece.size:,}"
        yield Finding("damaged-piece", "error", page.path, 0, message)
    merged = merged_sections(page)
    if ((merged and merged.page) or page).is_misplaced:
        message = "there is text below ## Links or ## Metadata, so that the section has become text too"
        yield Finding("misplaced-section", "notice", page.path, 0, message, "move the text above it")
    yield from _conflicts(page, merged)
    if merged is None:  # else what is a heading is not yet clear
        yield from _empty_sections(page)
    yield from _not_utf8(page)


def _links(pages: Mapping[str, Page], known: LinkTargets, moved: Mapping[str, str]) -> Iterator[Finding]:
    for page, link, child in _leading_nowhere(pages, known):
        line = page.line_of(link.start)
        if new := moved.get(link.key or ""):
            message = f"[[{link.target}]] was renamed by hand: it is {new!r} now"
            yield Finding("broken-link", "error", page.path, line, message, "point the link to it")
        elif child:
            message = f"[[{link.target}]] is listed as a child, and there is no such page"
            yield Finding("broken-link", "error", page.path, line, message, "move the line into the text, as text")
        else:
            message = f"[[{link.target}]] names no page"
            yield Finding("dangling-link", "notice", page.path, line, message)


def _leading_nowhere(pages: Mapping[str, Page], known: LinkTargets) -> Iterator[tuple[Page, Link, bool]]:
    for page in pages.values():
        for link, child in page.found_links:
            if link.key not in known and (link.target or not link.heading):
                yield page, link, child


def moved_pages(context: Context, pages: Mapping[str, Page], graph: Graph, known: LinkTargets) -> dict[str, str]:
    """Where pages that were renamed by hand are now. The history is asked only if a page seems to be one."""
    is_listed = any(child for _, _, child in _leading_nowhere(pages, known))
    if not is_listed and not graph.unreachable:
        return {}
    moved = renamed_by_hand(context.storage.history, pages)
    return {key: path for key, path in moved.items() if key not in known}


def _outdated(context: Context, pages: Mapping[str, Page], graph: Graph) -> Iterator[Finding]:
    """Lines that quote what their pages said once and do not say now."""
    for path, lines in outdated_lines(context.storage.history, pages, graph).items():
        for above, link in lines:
            message = f"says of {path!r} what that page does not say now: {shorten(link.description, MAX_QUOTED)}"
            line = above.line_of(above.text.index(link.line))
            yield Finding("outdated-line", "notice", above.path, line, message, "describe the page again")


def _copies(pages: Mapping[str, Page]) -> Iterator[Finding]:
    """Pages that are another version of a page, which a program that keeps folders alike could not bring together."""
    for path in pages:
        if (found := _COPY.fullmatch(path)) and (page := found["page"]) in pages:
            message = f"another version of {page!r}, which changed in two places at once; keep there what counts"
            yield Finding("conflict-copy", "notice", path, 0, message)


def _conflicts(page: Page, merged: Merged | None) -> Iterator[Finding]:
    """Places at which a merge has left two versions. Those in code are examples."""
    if merged and merged.page:
        message = "a merge has left two versions of ## Links or ## Metadata here"
        yield Finding(
            "section-conflict", "notice", page.path, page.line_of(merged.places[0]), message, "bring them together"
        )
    places = [
        conflict.place
        for conflict in conflicts(page.text)
        if not (merged and merged.page and conflict.place in merged.gone)
    ]
    blocks = page.placed_blocks() if places else ()
    code = [range(at, at + len(one.text)) for at, one in blocks if one.kind in ("fence", "code")]
    for place in places:
        if not any(place in block for block in code):
            message = "a merge has left two versions here, between <<<<<<< and >>>>>>>; keep what counts"
            yield Finding("conflict", "notice", page.path, page.line_of(place), message)


def _empty_sections(page: Page) -> Iterator[Finding]:
    """Headings with nothing below them; a title may stand alone, and a heading above the list of children."""
    places = [place for place, _ in page.placed_blocks()]
    for number in Outline(page.blocks).empty:
        if number > 1 and not (page.children and number == len(page.blocks)):
            heading = page.blocks[number - 1]
            message = f"nothing stands below the heading {shorten(heading.words, 60)!r}"
            line = page.line_of(places[number - 1] + len(heading.text) - len(heading.text.lstrip()))
            yield Finding("empty-section", "notice", page.path, line, message)


def _orphaned_sections(pages: dict[str, Page]) -> Iterator[Finding]:
    """Headings that a split has repeated, and that now stand on no other page."""
    repeated = {path: keys for path, page in pages.items() if (keys := repeated_on(page))}
    if not repeated:
        return
    headings = {
        path: {digest(block): block.words for block in section_blocks(page) if block.kind == "heading"}
        for path, page in pages.items()
    }
    spread = Counter(key for keys in headings.values() for key in keys)
    for path, keys in repeated.items():
        for key in keys:
            if key in headings[path] and spread[key] == 1:
                message = f"the section {shorten(headings[path][key], 60)!r} is part of one that is on no other page"
                yield Finding("orphaned-section", "notice", path, 0, message)


def _pieces(pages: dict[str, Page]) -> Iterator[Finding]:
    """Large blocks of which parts are missing."""
    blocks: dict[tuple[str, int], dict[int, str]] = {}
    for path, page in pages.items():
        if page.piece is not None:
            key = (re.sub(r"\W*\d+/\d+\Z", "", page.title), page.piece.count)
            blocks.setdefault(key, {})[page.piece.number] = path
    for (title, count), parts in blocks.items():
        if missing := sorted(set(range(1, count + 1)) - parts.keys()):
            message = f"part {missing[0]} of {count} of {title!r} is on no page" + (
                f", nor are {len(missing) - 1} others" if len(missing) > 1 else ""
            )
            yield Finding("missing-piece", "notice", parts[min(parts)], 0, message)


def _not_utf8(page: Page) -> Iterator[Finding]:
    wrong = [place for place, c in enumerate(page.text) if 0xDC80 <= ord(c) <= 0xDCFF]
    if wrong:
        shown = " ".join(f"0x{ord(page.text[place]) - 0xDC00:02x}" for place in wrong[:6])
        message = (
            f"{len(wrong)} byte{'s are' if len(wrong) > 1 else ' is'} not UTF-8, here and below "
            f"({shown}{' …' if len(wrong) > 6 else ''}); kept, and shown as \ufffd"
        )
        yield Finding("not-utf8", "notice", page.path, page.line_of(wrong[0]), message)


def _ignored_files(ignored: Iterable[tuple[str, str]], decomposed: Mapping[str, str]) -> Iterator[Finding]:
    for name, reason in ignored:
        if name in decomposed:
            message = "its name is not in Unicode NFC, as a Mac may write it, so it is no page, and no search finds it"
            yield Finding("decomposed-name", "error", name, 0, message, "rename it to its NFC form")
            continue
        yield Finding("stray-file", "notice", name, 0, f"this file is no page: {reason}")


def _unfinished(storage: MemoryStorage) -> Iterator[Finding]:
    """Interrupted operations that recovery has not finished."""
    notes = storage.state
    try:
        revision, names = storage.interrupted(), notes.names(PENDING)
    except StorageError as error:
        yield Finding("unreadable", "error", ".metadata/", 0, str(error))
        return
    if revision:
        message = f"not all pages of revision {revision.id[:12]} are written; the next change completes it"
        yield Finding("unfinished", "error", ROOT, 0, message)
    for name in names:
        with suppress(StorageError), notes.claim(name) as is_free:  # a read-only disk has no claims
            if not is_free or notes.read(name) is None:
                continue
        message = "what is noted here was interrupted; the next change finishes it, or look into the note"
        yield Finding("unfinished", "error", f".metadata/{name}.json", 0, message)


def _damaged_history(storage: MemoryStorage) -> Iterator[Finding]:
    """A history of which the newest revision cannot be read, or is no longer named."""
    with suppress(StorageError):  # what cannot be read at all is told as unfinished work is looked for
        try:
            next(storage.history.revisions(), None)
            problem = storage.history.problem
        except HistoryDamaged as error:
            problem = str(error)
        if problem:
            yield Finding("damaged-history", "error", ".metadata/", 0, problem)
