"""Writing: new text is worked into the tree, by a model's decision or, where asked, verbatim."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from memory_v2.agent.loop import Decision, Undecided, decide
from memory_v2.errors import InvalidSetting, InvalidText, NotAllowed, StorageConflict
from memory_v2.models.briefs import PageView, WriteBrief
from memory_v2.operations.commit import CONFLICTS, commit, stage_and_commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft, link_orphans, page_above
from memory_v2.operations.pending import noted
from memory_v2.operations.record import refresh
from memory_v2.operations.results import Change, WriteResult
from memory_v2.operations.settle import settle
from memory_v2.operations.write_task import WriteTask
from memory_v2.text.dates import leading_date, named_span
from memory_v2.text.plain import shorten
from memory_v2.text.words import normal
from memory_v2.tree.block import Block
from memory_v2.tree.edit import appended, new_blocks
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page, new_page
from memory_v2.tree.path import ROOT, page_path

Mode: TypeAlias = Literal["update", "append", "replace"]
MODES: tuple[Mode, ...] = ("update", "append", "replace")

logger = logging.getLogger(__name__)

PLACES = 12
LIKELY_PAGES = 2
MAX_OPENING = 100
"""Characters of a text that describe the page which is made for it, until somebody describes it better."""


def write(context: Context, text: str, path: str | None = None, mode: Mode = "update") -> WriteResult:
    """Works the text into the tree and splits what grows too large.

    With a `path` it goes to that page, which is made if it is not there. Without one it goes where it belongs. `append`
    puts it below all else and `replace` in the place of the page's body, both to the letter and without a model. Raises
    `InvalidText`, `InvalidPath`, `StorageError`; then nothing was changed.
    """
    blocks = checked_blocks(text)
    if path is not None:
        path = page_path(path)
    if mode not in MODES:
        raise InvalidSetting(f"a mode is one of {', '.join(MODES)}, not {mode!r}")
    with noted(context, text, path, mode):
        return write_noted(context, blocks, path, mode)


def write_noted(context: Context, blocks: tuple[Block, ...], path: str | None, mode: Mode) -> WriteResult:
    """Works the blocks of a text into the tree that is noted already; see `write`."""
    decided = mode == "update"
    written = _updated(context, blocks, path) if decided else _verbatim(context, blocks, path, mode)
    return _settled(context, written, blocks)


def _updated(context: Context, blocks: tuple[Block, ...], path: str | None) -> WriteResult:
    """The text where a model decided; below all else on its page if none could, or others kept changing the page."""
    for _ in range(CONFLICTS):
        try:
            draft, decision = _decide(context, blocks, path)
        except Undecided as error:
            logger.info("no model decided where a text goes, so it is appended: %s", error)
            degraded = str(error)
            break
        try:
            return _carried_out(draft, decision)
        except StorageConflict as conflict:
            context.operation.trace.add("conflict", error=str(conflict))
            degraded = "others kept changing the page"
    return _verbatim(context, blocks, path, "append", degraded)


def checked_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text that can be stored; raises `InvalidText`."""
    if not isinstance(text, str):
        raise InvalidText(f"a text is a string, not {type(text).__name__}")
    check_encodable(text)
    if all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in text):
        raise InvalidText("there is nothing to write: the text is empty")
    return new_blocks(text)


def check_encodable(text: str) -> None:
    """Raises `InvalidText` for a text that is not Unicode: half of a surrogate pair has no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidText(f"the text is not valid Unicode: character {error.start} is half of a pair") from error


def _decide(context: Context, blocks: tuple[Block, ...], path: str | None) -> tuple[Draft, Decision[WriteTask]]:
    refresh(context)
    draft = Draft(context)
    _ensure_page(draft, path, blocks)
    brief = write_brief(draft, blocks, path)
    return draft, decide(lambda: WriteTask(brief, draft), context.models, context.operation)


def _carried_out(draft: Draft, decision: Decision[WriteTask]) -> WriteResult:
    task = decision.task
    went = task.apply()
    revision = Change() if task.nothing_is_new else commit(draft)
    return WriteResult(
        path=went,
        revisions=(revision,) if revision else (),
        decided_by=decision.decided_by,
        degraded=decision.degraded,
        outcome="nothing new" if task.nothing_is_new else "written",
        said_in=tuple(sorted({p for paths in task.said_in.values() for p in paths})),
    )


def _verbatim(
    context: Context, blocks: tuple[Block, ...], path: str | None, mode: Mode, degraded: str = ""
) -> WriteResult:
    def stage(draft: Draft) -> None:
        page = _ensure_page(draft, path, blocks)
        if mode == "append":
            draft.put(appended(page, [blocks]))
        else:
            draft.put(new_page(page.path, page.title, [blocks]).with_sections_of(page))

    _, revision = stage_and_commit(context, stage)
    return WriteResult(path=path or ROOT, revisions=(revision,) if revision else (), degraded=degraded)


def _settled(context: Context, result: WriteResult, blocks: tuple[Block, ...]) -> WriteResult:
    """The result, after every page that has grown too large is split: the text may have moved on by that."""
    splits, problem = settle(context, [*result.changed_pages, *result.said_in])
    new_files = tuple(path for split in splits for path in split.new_files)
    page = _holder(context, blocks, [result.path, *new_files, *result.changed_pages])
    return replace(
        result.with_splits(splits, problem),
        path=page.path if page else result.path,
        size_bytes=page.size if page else 0,
        split_triggered=bool(splits),
        new_files=new_files,
    )


def _holder(context: Context, blocks: Sequence[Block], paths: Sequence[str]) -> Page | None:
    """The first of these pages on which the text, or else its first block, stands now."""
    draft = Draft(context)
    pages = [page for path in dict.fromkeys(paths) if (page := draft.find(path)) is not None]
    for text in ("".join(block.text for block in blocks).strip(), blocks[0].content):
        if found := next((page for page in pages if text in page.text), None):
            return found
    return pages[0] if pages else None


def _ensure_page(draft: Draft, path: str | None, blocks: Sequence[Block]) -> Page:
    """The page, made and linked from the nearest page above it if it is not there; so is the root. A text that begins
    with a title of its own brings it to the page that is made for it."""
    asked_for, path = path, path or ROOT
    titled = blocks[0].kind == "heading" and blocks[0].level == 1
    if draft.find(ROOT) is None:
        draft.put(Page(ROOT, "") if titled and asked_for == ROOT else new_page(ROOT, "Memory"))
        link_orphans(draft)
    if (page := draft.find(path)) is not None:
        if page.piece is not None:
            raise NotAllowed(f"{path!r} holds part of a block too large for one page; write to another page")
        if path in draft.graph().unreachable:
            above = draft.page(page_above(draft, path, {path}))
            draft.put(above.with_child(path, page.title))
        return page
    title = path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")
    title = title[:1].upper() + title[1:]
    parent = page_above(draft, path)
    page = Page(path, "") if titled else new_page(path, title)
    draft.put(page.stamped(draft.context.now(), split_from=parent))
    said = next((b.words for b in blocks if b.kind != "heading" and b.content.strip()), blocks[0].words)
    draft.put(draft.page(parent).with_child(path, shorten(said, MAX_OPENING)))
    return draft.page(path)


def write_brief(draft: Draft, blocks: tuple[Block, ...], path: str | None) -> WriteBrief:
    """What a model is shown of the tree to decide where these blocks go."""
    context = draft.context
    text = "".join(block.text for block in blocks)
    within = None if path is None else [path]
    places = context.index.search(text, PLACES, within=within)
    normals = {number: normal(block.content) for number, block in enumerate(blocks, 1)}
    same = context.index.same(n for n in normals.values() if n)
    known = {number: same[n] for number, n in normals.items() if n in same and (path is None or same[n][0] == path)}
    graph = draft.graph()
    if path is not None:
        shown = [path]
    else:
        likely = dict.fromkeys(hit.path for hit in places)
        ranked = sorted(likely, key=lambda p: -sum(hit.score for hit in places if hit.path == p))
        shown = [ROOT, *_of_its_day(draft, blocks, graph), *ranked[:LIKELY_PAGES]]
        shown += [page for page, _ in known.values()][:LIKELY_PAGES]
    reachable = {ROOT, *graph.parents} if path is None else {path}
    views = [
        PageView(page, graph.breadcrumb(p))
        for p in dict.fromkeys(shown)
        if p in reachable and (page := draft.find(p)) is not None
    ]
    return WriteBrief(blocks, path, views, places, known, context.threshold, context.now(), draft.block_count)


def _of_its_day(draft: Draft, blocks: Sequence[Block], graph: Graph) -> list[str]:
    """The page that was made for the time of which the text speaks, if there is one."""
    span = next((found for block in blocks if (found := leading_date(block.words))), None)
    if span is None:
        return []
    made_for = {
        path: made
        for path in graph.parents
        if (made := named_span(path.rsplit("/", 1)[-1])) and made.start <= span.start <= made.end
    }
    return sorted(made_for, key=lambda path: (made_for[path].end - made_for[path].start, path))[:1]
