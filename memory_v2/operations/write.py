"""Writing: new text is worked into the tree by a model's decision, or added verbatim on request."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_v2.agent.loop import Decision, Undecided, decide
from memory_v2.agent.operation import operation
from memory_v2.errors import InvalidSetting, NotAllowed, StorageConflict
from memory_v2.models.base import Model
from memory_v2.models.briefs import BRIEF, LIKELY_PAGES, WHOLE, WriteBrief, found_on, hub_of, likely_pages, view_of
from memory_v2.operations.commit import commit, stage_and_commit
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.draft import Draft, follow_renamed, link_orphans, name_source, page_above
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.results import WriteResult
from memory_v2.operations.write_task import WriteTask
from memory_v2.storage.base import stored_page
from memory_v2.storage.history import Change
from memory_v2.storage.pending import MODES, Mode, PendingWrite
from memory_v2.text.dates import leading_date, named_span
from memory_v2.text.secrets import find_secrets
from memory_v2.text.words import normal
from memory_v2.tree.block import Block, decode
from memory_v2.tree.edit import appended
from memory_v2.tree.front_matter import read_front_matter
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page, new_page, opening, own_title, parse_page
from memory_v2.tree.path import ROOT, fold, link_key, new_page_path, title_of_path
from memory_v2.tree.source import DATE, Source
from memory_v2.tree.titles import noted_heading
from memory_v2.validate import checked_blocks, checked_source

logger = logging.getLogger(__name__)

MAX_DECISIONS = 2
"""How often one write asks its model for a decision, so N writers on one page ask 2 N times at most. It asks a second
time only if others have changed a page that the first decision changes."""
PLACES = 12
"""How many similar places of the tree a model is shown for a new text."""


@dataclass(frozen=True, slots=True)
class NewText:
    """The blocks of a text, the page that it must go to, if any, and where it came from."""

    blocks: tuple[Block, ...]
    path: str | None
    source: Source


@operation("write", changes="tree", recorded=True)
def write(
    context: Context,
    text: str,
    path: str | None = None,
    mode: Mode = "update",
    source: str | None = None,
    date: date | str | None = None,
) -> WriteResult:
    """Works the text into the tree and splits what grows too large.

    With a `path` it goes to that page, which is created if it does not exist. Without one it goes where it belongs.
    `append` puts it at the end of the page and `replace` replaces the page's body, both verbatim and without a model.
    `source` says where it came from, and `date` the day it was said; they are kept with it.
    Raises `InvalidText`, `InvalidPath`, `InvalidSetting`, `StorageError`; then nothing was changed.
    """
    blocks = checked_blocks(text)
    calendar = context.calendar
    said = checked_source(source, date, calendar)
    if said and said.day is None and (day := read_front_matter(text).date) and day <= calendar.today:
        said = replace(said, day=day)
    if path is not None:
        path = new_page_path(path)
    if mode not in MODES:
        raise InvalidSetting(f"a mode is one of {', '.join(MODES)}, not {mode!r}")
    if context.model is context.planner:  # nobody waits, so a crash loses nothing that was acknowledged
        return write_blocks(context, blocks, path, mode, said)
    replaced = stored_page(context.storage, path or ROOT) if mode == "replace" else None
    over = replaced.version if replaced else ""
    pending = PendingWrite(text, path, mode, context.now(), over, source=said.name, date=said.properties[DATE])
    with context.note.writing(pending, context.storage.history):
        return write_blocks(context, blocks, path, mode, said)


def write_blocks(
    context: Context, blocks: tuple[Block, ...], path: str | None, mode: Mode, source: Source
) -> WriteResult:
    """Works the blocks of a text into the tree. If a hosted model is asked, the text was noted as pending before."""
    if mode == "update" and path is None and _begins_the_memory(context, blocks):
        path, mode = ROOT, "replace"
    text = NewText(blocks, path, source)
    written = _updated(context, text) if mode == "update" else _verbatim(context, text, mode)
    return _with_splits(context, written, blocks)


def _begins_the_memory(context: Context, blocks: Sequence[Block]) -> bool:
    """Whether a text has the title of the root, and the root has nothing else: then it is the root."""
    if not (title := own_title(blocks)):
        return False
    stored = stored_page(context.storage, ROOT)
    root = parse_page(ROOT, decode(stored.data) if stored else "")
    return fold(title) == fold(root.title) and not (root.blocks[root.top :] or root.children)


def _updated(context: Context, text: NewText) -> WriteResult:
    """Puts the text where the model decides. If others change the same pages meanwhile, it decides again on the new
    pages; if they do so each time, the planner decides. If no model decides, the text goes to the end of its page."""
    try:
        for _ in range(MAX_DECISIONS):
            refresh(context)
            draft = Draft(context)
            try:
                decision = _decide(draft, text, context.models)
                draft.expect_unchanged(decision.task.said_on)
                went = _applied(decision, draft)
                return _result(decision, went, commit(draft))
            except StorageConflict as conflict:
                context.operation.trace.add("conflict", error=str(conflict))
        return _decided_at_once(context, text)
    except Undecided as error:
        logger.info("no model decided where a text goes, so it is appended: %s", error)
        return _verbatim(context, text, "append", str(error))


def _decide(draft: Draft, text: NewText, models: Sequence[Model]) -> Decision[WriteTask]:
    ensure_page(draft, text.path, text.blocks)
    brief = replace(write_brief(draft, text.blocks, text.path), source=text.source)
    return decide(lambda: WriteTask(brief, draft), models, draft.context.operation)


def _decided_at_once(context: Context, text: NewText) -> WriteResult:
    """Puts the text where the planner decides. The planner needs no request, so it can decide under the lock."""

    def stage(draft: Draft) -> tuple[Decision[WriteTask], str]:
        decision = _decide(draft, text, [context.planner])
        return decision, _applied(decision, draft)

    (decision, went), revision = stage_and_commit(context, stage)
    if context.model is not context.planner:
        decision = replace(decision, degraded="others kept changing the page")
    return _result(decision, went, revision)


def _applied(decision: Decision[WriteTask], draft: Draft) -> str:
    """Stages what was decided, with the source of the text; returns the path of the page with the first of it. If the
    planner has decided, the groups that list a new page are told again; a model has said what it wants told."""
    task = decision.task
    went = task.apply()
    if decision.decided_by == draft.context.planner.name and task.created:
        from memory_v2.operations.page_lines import tell_groups_again  # start-up again, as of splitting

        for made in task.created.values():
            tell_groups_again(draft, made.parent, made.title)
    name_source(draft, task.brief.source)
    return went


def _result(decision: Decision[WriteTask], path: str, revision: Change) -> WriteResult:
    return WriteResult(
        path=path,
        revisions=(revision,) if revision else (),
        decided_by=decision.decided_by,
        degraded=decision.degraded,
        outcome="nothing new" if decision.task.nothing_is_new else "written",
        said_in=tuple(sorted(decision.task.said_on)),
    )


def _verbatim(context: Context, text: NewText, mode: Mode, degraded: str = "") -> WriteResult:
    def stage(draft: Draft) -> None:
        page = ensure_page(draft, text.path or ROOT, text.blocks)
        if mode == "append":
            draft.put(appended(page, [_below_title(page, text.blocks)]))
            name_source(draft, text.source)
        else:
            titled = Page(page.path, "").with_body([text.blocks])
            sent = titled if _is_titled(text.blocks) else new_page(page.path, page.title, [text.blocks])
            draft.put(_replaced(page, sent))
            name_source(draft, text.source, replaced=page.path)

    _, revision = stage_and_commit(context, stage)
    return WriteResult(path=text.path or ROOT, revisions=(revision,) if revision else (), degraded=degraded)


def _replaced(page: Page, sent: Page) -> Page:
    """The page with the body that was sent. Whoever has read the page may send its links and metadata back with it:
    they are no text then, and its children are described as told there. Sections of another page are text."""
    read = parse_page(page.path, sent.body)
    listed = {link_key(child.target) for child in page.children}
    is_sent_back = {link_key(child.target) for child in read.children} <= listed and (
        read.properties.keys() <= page.properties.keys()
    )
    if not (is_sent_back and (read.children or read.properties)):
        return sent.with_sections_of(page)
    for child in read.children:
        page = page.with_description(child.target, child.description)
    return parse_page(page.path, read.body).with_sections_of(page)


def _below_title(page: Page, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks to be put at the end of the page: without the page's own title above them, if that is the heading
    there anyway, or if their next block is a heading."""
    if len(blocks) < 2 or (blocks[1].kind != "heading" and any(b.kind == "heading" for b in page.blocks[page.top :])):
        return blocks
    titles = (page.blocks[page.top - 1] if page.top else None, noted_heading(page))
    is_title = blocks[0].kind == "heading" and any(title and title.content == blocks[0].content for title in titles)
    return blocks[1:] if is_title else blocks


def _with_splits(context: Context, result: WriteResult, blocks: tuple[Block, ...]) -> WriteResult:
    """Splits overgrown pages; the result then names the page that has the text."""
    splits, problem = split_overgrown(context, result.said_in)
    result = result.with_splits(splits, problem)
    new_files = tuple(path for split in splits for path in split.new_files)
    path, size = _holder(context, blocks, result, new_files)
    secrets = tuple(find_secrets("".join(block.text for block in blocks)))
    return replace(
        result, path=path, size_bytes=size, secrets=secrets, split_triggered=bool(splits), new_files=new_files
    )


def _holder(
    context: Context, blocks: Sequence[Block], result: WriteResult, new_files: Sequence[str]
) -> tuple[str, int]:
    """The page that has the text, or else its first block, or else the first that is no heading, since a heading may be
    a title now; and its size. It is one that was changed, or the one that has had the text before."""
    pages = {change.path: change.after for revision in result.revisions for change in revision.pages}
    if result.path not in pages and (stored := stored_page(context.storage, result.path)):
        pages[result.path] = stored.data
    paths = [path for path in dict.fromkeys([result.path, *new_files, *pages]) if pages.get(path) is not None]
    below = next((block.content for block in blocks if block.kind != "heading"), blocks[0].content)
    for text in ("".join(block.text for block in blocks).strip(), blocks[0].content, below):
        for path in paths:
            if (data := pages[path]) and text in decode(data):
                return path, len(data)
    return (paths[0], len(pages[paths[0]] or b"")) if paths else (result.path, 0)


def ensure_page(draft: Draft, path: str | None, blocks: Sequence[Block]) -> Page:
    """Returns the page. If it does not exist, it is created and linked from the nearest page above it; so is the root.
    If the text begins with a title or a front matter, so does the new page."""
    titled = _is_titled(blocks)
    if not draft.exists(ROOT):
        draft.put(Page(ROOT, "") if titled and path == ROOT else new_page(ROOT, "Memory"))
        link_orphans(draft)
    path = path or ROOT
    follow_renamed(draft, path)
    if (page := draft.find(path)) is not None:
        if page.piece is not None:
            raise NotAllowed(f"{path!r} holds part of a block too large for one page; write to another page")
        if path in draft.unreachable():
            above = draft.page(page_above(draft, path, {path}))
            draft.put(above.with_child(path, page.title))
        return page
    parent = page_above(draft, path)
    title = title_of_path(path, "".join(block.text for block in blocks))
    page = Page(path, "") if titled else new_page(path, title)
    draft.put(page.stamped(draft.context.now(), split_from=parent))
    draft.put(draft.page(parent).with_child(path, opening(blocks)))
    return draft.page(path)


def _is_titled(blocks: Sequence[Block]) -> bool:
    """Whether a text begins with a title or a front matter."""
    return any(block.kind == "front matter" for block in blocks[:1]) or bool(own_title(blocks))


def write_brief(draft: Draft, blocks: tuple[Block, ...], path: str | None, also: Sequence[str] = ()) -> WriteBrief:
    """The part of the tree that a model is shown to decide where these blocks go, and `also` these pages."""
    context = draft.context
    text = "".join(block.text for block in blocks)
    within = None if path is None else [path]
    places = context.index.similar(text, PLACES, within=within)
    normals = {number: normal(block.content) for number, block in enumerate(blocks, 1)}
    same = context.index.same(n for n in normals.values() if n)
    known = {number: same[n] for number, n in normals.items() if n in same and (path is None or same[n][0] == path)}
    known = {n: place for n, place in known.items() if blocks[n - 1].kind != "front matter" or n + 1 in known}
    graph = draft.graph()
    likely = likely_pages(places, text)
    shown, hubs = [path or ROOT], list[str]()
    if path is None:
        copies = list(dict.fromkeys(page for page, _ in known.values()))
        shown += [*also, *_of_its_day(draft, blocks, graph), *likely, *copies[:LIKELY_PAGES]]
        hubs = [graph.parents[page] for page in likely[:1] if page in graph.parents]
    reachable = {ROOT, *graph.parents} if path is None else {path}
    pages = {p: page for p in dict.fromkeys(shown) if p in reachable and (page := draft.find(p)) is not None}
    near = {p: [*found_on(places, p), *(n for where, n in known.values() if where == p)] for p in pages}
    best = path or (likely[0] if likely else ROOT)
    views = [view_of(page, graph, near[p], text, WHOLE if p == best else BRIEF) for p, page in pages.items()]
    above = {p: page for p in hubs if p not in pages and (page := draft.find(p)) is not None}
    return WriteBrief(
        blocks=blocks,
        path=path,
        pages=views,
        places=places,
        known=known,
        threshold=context.threshold,
        now=context.now(),
        today=context.calendar.today,
        block_count=draft.block_count,
        hubs=[hub_of(page, graph, text) for page in above.values()],
        tree=graph,
    )


def _of_its_day(draft: Draft, blocks: Sequence[Block], graph: Graph) -> list[str]:
    """The page whose name is the time that the text is about, as a list; empty if there is none."""
    span = next((found for block in blocks if (found := leading_date(block.words))), None)
    if span is None:
        return []
    made_for = {
        path: made
        for path in graph.parents
        if (made := named_span(path.rsplit("/", 1)[-1])) and made.start <= span.start <= made.end
    }
    return sorted(made_for, key=lambda path: (made_for[path].end - made_for[path].start, path))[:1]
