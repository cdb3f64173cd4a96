"""Importing: a batch of documents becomes pages, each whole and to the letter, in one change. The page of a document
that is followed is brought to the document's new state, unless the page has changed here too.

No model is asked where they go: a plan has said so. Pages that are too large are split afterwards, as always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from memory_v2.agent.operation import operation
from memory_v2.errors import InvalidText, NotAllowed, SilicaError, StorageError, UsageError
from memory_v2.models.offline.describing import describe_page, listed_title
from memory_v2.operations.commit import stage_and_commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft, link_orphans, turn_links
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.results import Result
from memory_v2.operations.write import write
from memory_v2.storage.history import IMPORT, Change, History, Revision
from memory_v2.storage.versioned import MAX_SUMMARY
from memory_v2.text.amounts import counted
from memory_v2.text.slug import slug
from memory_v2.text.words import plain, shorten
from memory_v2.tree.block import Block, line_end, new_blocks
from memory_v2.tree.edit import appended, is_bare
from memory_v2.tree.headings import REPEATED
from memory_v2.tree.page import MAX_DESCRIPTION, Page, new_page, own_title, page_source, read_page
from memory_v2.tree.path import ROOT, child_path, find_links, fold, is_page_path, link_key, prefixes, title_of_path
from memory_v2.tree.source import Source, is_source_line
from memory_v2.tree.source_lines import signed
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
        """How often each block is on them, however it was divided."""
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


Way: TypeAlias = Literal["create", "merge", "append", "follow"]
"""How a document is brought in. `create` makes the page; `append` puts the document at the end of the root; `follow`
brings its page to the document's new state; `merge` works it into the tree, as a write does."""

MAX_TAGS = 300
"""Limits the tags in the metadata of a page, in characters: a section of the program's is short."""
MAX_FOLDER_LINE = 110
"""Limits the line by which a folder's page is listed, in characters."""


@dataclass(frozen=True)
class Incoming:
    """A document to be brought in on the page `path`, as its `way` says. `related` are the pages of the documents that
    it refers to, with their titles. `left` is the revision after which the page was as the last import left it."""

    name: str
    text: str
    path: str
    way: Way = "create"
    title: str = ""
    description: str = ""
    source: Source = field(default_factory=Source)
    tags: tuple[str, ...] = ()
    related: tuple[tuple[str, str], ...] = ()
    left: str = ""

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the document."""
        return new_blocks(self.text)

    @property
    def runs(self) -> list[tuple[Block, ...]]:
        """The blocks of the document, and below them a paragraph of links to what it refers to and does not link."""
        blocks = self.blocks
        linked = {link.key for block in blocks for link in find_links(block)} if self.related else set()
        links = ", ".join(f"[[{path}|{_as_words(title)}]]" for path, title in self.related if fold(path) not in linked)
        return [blocks, (Block(f"Related: {links}{2 * line_end(self.text)}"),)] if links else [blocks]


@dataclass(frozen=True, slots=True)
class ImportBatch:
    """Documents that are brought in by one operation: one alone if it is merged.

    `origin` says for the history where they are from. `folders` are the title of each page that may have to be made for
    a folder, and titles of what it lists. Nothing is given a name in `reserved`, which others of the same plan will
    have. `record` makes of the page of each document what the history keeps of the import.
    """

    documents: Sequence[Incoming]
    origin: str
    record: Callable[[Mapping[str, str]], str]
    folders: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()

    @property
    def operation(self) -> str:
        """What the operation is called in the history."""
        return "write" if self._is_merge else "import"

    @property
    def arguments(self) -> dict[str, Any]:
        """What its trace and the history tell of it."""
        if not self._is_merge:
            names = [document.name for document in self.documents]
            shown = f"{counted(len(names), 'document')} from {self.origin}: {', '.join(names[:20])}"
            return {"about": shown, "documents": names}
        (document,) = self.documents
        said = {"source": document.source.name, "date": document.source.properties["date"]}
        return {"text": document.text, **{key: value for key, value in said.items() if value}}

    @property
    def _is_merge(self) -> bool:
        return self.documents[0].way == "merge"


@dataclass(frozen=True)
class ImportResult(Result):
    """The result of an import. `brought` is the page of each document that is in the memory now, by its name, and
    `refused` why one was left alone. `provider_failed` says that the model's provider did, and how. `operation` is its
    id in the history."""

    brought: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    provider_failed: str = ""
    operation: str = ""


@operation("import", changes="tree", recorded=True)
def import_batch(context: Context, batch: ImportBatch) -> ImportResult:
    """Brings in documents and splits what grows too large. A document that cannot be brought in is left alone, with the
    reason. Raises `StorageError`; then nothing was changed."""
    made = _merged(context, batch) if batch.operation == "write" else _created(context, batch)
    return replace(made, provider_failed=context.operation.abort_reason, operation=context.operation.id)


def _merged(context: Context, batch: ImportBatch) -> ImportResult:
    (document,) = batch.documents
    source = document.source
    try:
        written = write(context, document.text, None, "update", source.name or None, source.day)
    except UsageError as error:
        return ImportResult(ROOT, refused={document.name: str(error)})
    brought = {document.name: written.path}
    about = shorten(document.name, MAX_SUMMARY)
    revision = Revision(IMPORT, about, context.operation.id, when=context.now(), text=batch.record(brought))
    context.storage.commit(Change((), revision))
    return ImportResult(written.path, written.revisions, written.decided_by, written.degraded, brought=brought)


def _created(context: Context, batch: ImportBatch) -> ImportResult:
    refused: dict[str, str] = {}

    def stage(draft: Draft) -> dict[str, str]:
        refused.clear()
        brought = _Staging(draft, batch, refused).brought()
        context.operation.record = batch.record(brought) if brought else ""
        return brought

    brought, change = stage_and_commit(context, stage, look=True)
    context.operation.record = ""
    result = ImportResult(ROOT, (change,) if change else (), brought=brought, refused=refused)
    return result.with_splits(*split_overgrown(context))


class _Staging:
    """The documents of a batch on a draft, and the pages that list them."""

    def __init__(self, draft: Draft, batch: ImportBatch, refused: dict[str, str]) -> None:
        self._draft = draft
        self._batch = batch
        self._refused = refused
        self._there = set(draft.paths())
        self._taken = draft.graph().taken.with_paths(())
        self._listed: dict[str, dict[str, str]] = {}

    def brought(self) -> dict[str, str]:
        """Stages all; returns the page of each document that could be."""
        if not self._draft.exists(ROOT):
            self._draft.put(new_page(ROOT, "Memory"))
            link_orphans(self._draft)
            self._add(ROOT)
        brought: dict[str, str] = {}
        for document in self._batch.documents:
            if document.way == "append":
                continue
            try:
                follows = document.way == "follow"
                brought[document.name] = self._followed(document) if follows else self._made(document)
            except (SilicaError, Changed) as reason:
                if isinstance(reason, StorageError):
                    raise
                self._refused[document.name] = str(reason)
        for parent, lines in self._listed.items():
            self._draft.put(self._draft.page(parent).with_children(lines.items()))
        return brought | self._appended()

    def _made(self, document: Incoming) -> str:
        if not document.text.strip():
            raise InvalidText("it is empty")
        path = next(self._free(document))
        page = page_of(document, path)
        if (bare := self._draft.find(path)) is not None:
            page = page.with_sections_of(bare)
        self._draft.put(described(page, document, self._draft))
        if bare is None:
            self._list(path, listing_line(document))
            self._add(path)
        return path

    def _free(self, document: Incoming) -> Iterator[str]:
        own, exists = document.path, self._draft.exists  # asks the disk: a page may have been dropped there just now
        if can_take(self._draft.page(own)) if exists(own) else own not in self._taken:
            yield own
        for path in other_paths(own, document.title, document.source):
            if path not in self._taken and path not in self._batch.reserved and not exists(path):
                yield path

    def _list(self, path: str, line: str) -> None:
        """Lists a page on that of its folder, which is made if there is none."""
        parent = ROOT
        for folder in prefixes(path)[:-1]:
            if folder not in self._there:
                title, below = self._batch.folders.get(folder) or (title_of_path(folder), ())
                if not self._draft.exists(folder):
                    self._draft.put(new_page(folder, title).stamped(self._draft.context.now()))
                self._listed.setdefault(parent, {})[folder] = folder_line(title, below)
                self._add(folder)
            if self._draft.page(folder).piece is None:
                parent = folder
        self._listed.setdefault(parent, {})[path] = line

    def _add(self, path: str) -> None:
        self._there.add(path)
        self._taken.add(path)

    def _followed(self, document: Incoming) -> str:
        follow(self._draft, document.path, document.left, page_of(document, document.path))
        self._draft.put(described(self._draft.page(document.path), document, self._draft))
        return document.path

    def _appended(self) -> dict[str, str]:
        """Puts documents at the end of the root, each with a line that names its source."""
        documents = [document for document in self._batch.documents if document.way == "append"]
        if documents:
            self._draft.put(_with_texts(self._draft.page(ROOT), documents))
        return {document.name: ROOT for document in documents}


def _with_texts(root: Page, documents: Sequence[Incoming]) -> Page:
    """The root with the documents at its end. Each is signed on a page of its own, below the block that is above
    it: then signing takes as long as the documents are, whatever is on the root."""
    runs: list[Sequence[Block]] = []
    above = root.blocks[-1:]
    for document in documents:
        added = document.runs
        first = added[0][0]
        if not runs and is_bare(root) and first.kind == "heading" and first.content == root.blocks[-1].content:
            added[0] = added[0][1:]  # the root has this heading already
        page = appended(Page(ROOT, "").with_body([above]) if above else Page(ROOT, ""), added)
        run = signed(page, page.blocks[: len(above)], document.source).blocks[len(above) :]
        runs.append(run)
        above = run[-1:]
    return appended(root, runs)


def page_of(document: Incoming, path: str) -> Page:
    """The page of a document: its blocks, below its title unless they begin with one."""
    runs = document.runs
    if own_title(runs[0]):
        return Page(path, "").with_body(runs)
    return new_page(path, document.title or title_of_path(path), runs)


def described(page: Page, document: Incoming, draft: Draft) -> Page:
    """The page with the source, the day and the tags of its document in the metadata."""
    tags: list[str] = []
    for tag in document.tags:
        if tag not in document.text and len(", ".join([*tags, tag])) <= MAX_TAGS:
            tags.append(" ".join(tag.split()))
    return page.stamped(draft.context.now(), **document.source.properties, tags=", ".join(tags))


def listing_line(document: Incoming) -> str:
    """The line by which the page of a document is listed."""
    blocks = document.blocks
    title = own_title(blocks) or document.title or title_of_path(document.path)
    if not document.description:
        return describe_page(title, blocks)
    description, line = plain(document.description), listed_title(title)
    return shorten(description if description.startswith(line) else f"{line}: {description}", MAX_DESCRIPTION)


def folder_line(title: str, below: Sequence[str]) -> str:
    """The line by which the page of a folder is listed: what it is called, and what is in it."""
    line = title
    for number, one in enumerate(dict.fromkeys(below)):
        longer = f"{line}{', ' if number else ': '}{one}"
        if len(longer) > MAX_FOLDER_LINE:
            break
        line = longer
    return line


def can_take(page: Page) -> bool:
    """Whether a page has no text of its own yet, so that it can be the page of a document: that of a folder."""
    is_free = page.path != ROOT and page.piece is None and not page_source(page).name
    return is_free and is_bare(page) and "split_from" not in page.properties


def other_paths(path: str, title: str, source: Source) -> Iterator[str]:
    """The paths that a document may have if its own is taken, best first."""
    folder, _, name = path.rpartition("/")
    above = folder or ROOT
    names = [slug(title), f"{name}-{source.day}" if source.day else "", f"{name}-{folder.rpartition('/')[2]}"]
    names += [f"{name}-{number}" for number in range(2, 10_000)]
    for other in dict.fromkeys(filter(None, names)):
        if other != name and not other.endswith("-") and is_page_path(found := child_path(above, other)):
            yield found


def _as_words(title: str) -> str:
    """A title as the words of a link."""
    return " ".join(title.replace("[", "(").replace("]", ")").replace("|", "/").split()) or "page"
