"""Splitting: an overgrown page becomes a page and its children."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from memory_v2.agent.loop import Decision, decide
from memory_v2.errors import SilicaError, Unreadable
from memory_v2.models.base import Model
from memory_v2.models.briefs import PageView, SplitBrief
from memory_v2.operations.commit import commit
from memory_v2.operations.context import MAX_CHILDREN, Context, has_loose_links
from memory_v2.operations.draft import Draft
from memory_v2.operations.follow import follow_parent
from memory_v2.operations.freshness import refresh
from memory_v2.operations.pieces import cut_block, times_of, too_large
from memory_v2.operations.results import SplitResult
from memory_v2.operations.retold import tell_divided
from memory_v2.operations.sources import keep_sources
from memory_v2.operations.split_task import SplitTask
from memory_v2.text.plain import plain, shorten
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import content_words
from memory_v2.tree.block import Block, encode
from memory_v2.tree.page import Page
from memory_v2.tree.path import MAX_DEPTH, ROOT, TakenPaths, child_path, page_path
from memory_v2.tree.source import is_source_line
from memory_v2.tree.titles import repeated_headings, section_blocks

TARGET_SHARE = 0.6
"""The share of the threshold that a split may leave on the page, so that the page is not split again soon."""

MAX_ABOVE = 100
"""The longest path below which pieces are stored, in bytes. A longer one is shortened to leave room for their names."""


def split(context: Context, path: str, models: Sequence[Model] | None = None) -> SplitResult:
    """Splits one page by the decision of the first of these models that succeeds; by default, the context's. A page
    below the threshold may be left whole, with a reason. Raises `PageNotFound`, `InvalidPath`, `StorageConflict`,
    `StorageError`; then nothing was changed."""
    path = page_path(path)
    refresh(context)
    draft = Draft(context)
    made = _cut_large_blocks(draft, path)
    page = draft.page(path)
    if made and page.size <= context.threshold:
        keep_sources(draft, page)
        revision = commit(draft)
        return SplitResult(path=path, revisions=(revision,), strategy="size", new_files=tuple(made))
    loose = has_loose_links(page, draft.graph())
    brief = SplitBrief(
        view=PageView(page, draft.graph().breadcrumb(path)),
        threshold=context.threshold,
        target=context.threshold if loose else _target(page, context.threshold),
        taken=draft.graph().taken,
        crowded=loose or (page.size > context.threshold and len(encode(page.links)) > page.size / 2),
        most_children=MAX_CHILDREN,
        now=context.now(),
        today=context.calendar.today,
        is_piece=partial(_is_piece, draft),
        about=partial(_listed_page, draft),
    )
    decision: Decision[SplitTask] = decide(lambda: SplitTask(brief), models or context.models, context.operation)
    task = decision.task
    if not task.left_whole:
        cut = bool(made)  # the page has links in place of its large blocks, so they cannot be compared
        made += task.apply(draft)
        keep_sources(draft, page)
        if not cut:
            _check_lossless(draft, path)
        if decision.decided_by == context.planner.name:
            tell_divided(draft, page, [child.path for child in task.children if child.blocks])
        else:
            for child in task.children:
                follow_parent(draft, path, child.path, task.listed(child))
    revision = commit(draft)
    return SplitResult(
        path=path,
        revisions=(revision,) if revision else (),
        decided_by=decision.decided_by,
        degraded=decision.degraded,
        strategy=task.strategy,
        reason=task.left_whole,
        new_files=tuple(made),
    )


def _is_piece(draft: Draft, path: str) -> bool:
    child = draft.find(path)
    return child is not None and child.piece is not None


def _listed_page(draft: Draft, target: str) -> Page | None:
    """The page that a link leads to, if it can be read."""
    path = draft.context.index.graph().taken.page(target)
    try:
        return draft.find(path) if path else None
    except Unreadable:
        return None


def _check_lossless(draft: Draft, path: str) -> None:
    """Raises `SilicaError` if the split would lose a block: a last check, whatever went wrong before. A heading counts
    once, not where it is repeated."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for changed, page in draft.staged.items():
        for counted, one in ((before, draft.before(changed)), (after, page)):
            if one is not None:
                counted.update(
                    block.content
                    for block in section_blocks(one)
                    if block.kind != "piece" and not is_source_line(block)
                )
                counted.subtract(block.content for block in repeated_headings(one))
    if lost := before - after:
        first = next(iter(lost))[:60]
        raise SilicaError(f"{path!r} is left whole: dividing it would lose {len(lost)} blocks, such as {first!r}")


def _target(page: Page, threshold: int) -> int:
    """How many bytes may stay on the page. A piece of a large block always stays."""
    return threshold if page.piece else int(min(TARGET_SHARE * threshold, 0.8 * page.size))


def _cut_large_blocks(draft: Draft, path: str) -> list[str]:
    """Moves each block that is too large for a page to pages of its own, and leaves a link in its place."""
    page = draft.page(path)
    threshold = draft.context.threshold
    made: list[str] = []
    blocks = list(page.blocks)
    for position, block in enumerate(blocks):
        if block.kind == "piece" or not too_large(block, threshold):
            continue
        title = _title(page, blocks[:position], block)
        name = _free_name(draft, path, title)
        for part in cut_block(block, name, title, threshold):
            above = path if part.path == name else part.path.rpartition("/")[0]
            draft.put(part.stamped(draft.context.now(), split_from=above))
            made.append(part.path)
        blocks[position] = Block(f"[[{name}|{title}]]\n\n")
    if made:
        draft.put(page.with_body([(block,) for block in blocks]))
    return made


def _title(page: Page, above: Sequence[Block], block: Block) -> str:
    """The words of the heading above, if it is not the page's title, or else the times of the block, or its first words
    that say something."""
    heading = next((b.words for b in reversed(above[page.top :]) if b.kind == "heading"), "")
    said = dict.fromkeys(word for word in content_words(plain(block.content[:400])) if not word[0].isdigit())
    return shorten(heading or times_of(block, page.path) or " ".join(list(said)[:5]) or page.title, 80) or "Large block"


def _free_name(draft: Draft, path: str, title: str) -> str:
    """A free path for the page that lists the pieces, short enough for the paths below it."""
    stem = slug(title)
    if not stem or not is_meaningful(stem):
        stem = f"{slug(path.rsplit('/', 1)[-1]) or 'large'}-text"
    above = path.split("/")[: MAX_DEPTH - 3]
    while len("/".join(above).encode()) > MAX_ABOVE:
        above.pop()
    parent = "/".join(above) or ROOT
    taken = TakenPaths(draft.paths())
    number = 1
    while taken.below(name := child_path(parent, stem if number == 1 else f"{stem}-{number}")) or name in taken:
        number += 1
    return name
