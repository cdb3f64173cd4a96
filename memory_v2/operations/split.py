"""Splitting: an overgrown page becomes a page and its children, and a block that is too large for a page is cut into
pieces, which are its bytes in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from memory_v2.agent.loop import Decision, decide
from memory_v2.errors import SilicaError
from memory_v2.models.base import Model
from memory_v2.models.briefs import PageView, SplitBrief
from memory_v2.models.offline.describing import describe_page
from memory_v2.operations.commit import commit
from memory_v2.operations.context import MAX_CHILDREN, Context, has_loose_links, refresh
from memory_v2.operations.draft import Draft, follow_parent, keep_sources
from memory_v2.operations.page_lines import tell_divided, tell_extended
from memory_v2.operations.results import SplitResult
from memory_v2.operations.split_task import SplitTask
from memory_v2.text.days import DAY
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import content_words, plain, shorten
from memory_v2.tree.block import Block, decode, encode, split_lines
from memory_v2.tree.page import Page, Piece, new_page, piece_page
from memory_v2.tree.path import MAX_DEPTH, ROOT, TakenPaths, child_path, page_path
from memory_v2.tree.source import Source, is_source_line
from memory_v2.tree.source_lines import headed_days, one_day
from memory_v2.tree.titles import repeated_headings, section_blocks

TARGET_SHARE = 0.6
"""The share of the threshold that a split may leave on the page, so that the page is not split again soon. A piece of a
large block always stays."""

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
    target = int(min(TARGET_SHARE * context.threshold, 0.8 * page.size))
    brief = SplitBrief(
        view=PageView(page, draft.graph().breadcrumb(path)),
        threshold=context.threshold,
        target=context.threshold if loose or page.piece else target,
        taken=draft.graph().taken,
        crowded=loose or (page.size > context.threshold and len(encode(page.links)) > page.size / 2),
        most_children=MAX_CHILDREN,
        now=context.now(),
        today=context.calendar.today,
        is_piece=partial(_is_piece, draft),
        about=partial(_listed_page, draft),
        meaning=context.index.sentence_meaning,
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
            tell_extended(draft, path, {child.path: child.description for child in task.children if child.exists})
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
    return draft.find_readable(path) if path else None


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


def _cut_large_blocks(draft: Draft, path: str) -> list[str]:
    """Moves each block that is too large for a page to pages of its own, and leaves a link in its place."""
    page = draft.page(path)
    threshold = draft.context.threshold
    made: list[str] = []
    blocks = list(page.blocks)
    large = [n for n, block in enumerate(blocks) if block.kind != "piece" and block.size > threshold - ROOM]
    days = headed_days(blocks) if large else []
    for position in large:
        block = blocks[position]
        title = _title(page, blocks[:position], block)
        name = _free_name(draft, path, title)
        for part in cut_block(block, name, title, threshold):
            above = path if part.path == name else part.path.rpartition("/")[0]
            told = Source(day=one_day(days[position]) if part.piece else None)
            draft.put(part.stamped(draft.context.now(), split_from=above, **told.properties))
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


ROOM = 1_000
"""How many bytes of a page are kept free for the title and the metadata around a piece, which may hold a long path."""
GROUP = 24
"""How many pieces are listed on one page when there are more than `MAX_CHILDREN`, with room left below that limit."""
_TIMED = re.compile(rf"^[^\w\r\n]*+(?:({DAY})[T ])?([01]?\d|2[0-3]):([0-5]\d)(?!\d)", re.M)


def times_of(block: Block, path: str) -> str:
    """From when to when the lines of a block are, if most begin with a time; each with its day, unless the page is
    of that day. Empty otherwise."""
    text = decode(encode(block.content))
    found = sorted((day, f"{hour:0>2}:{minute}") for day, hour, minute in _TIMED.findall(text))
    if len(found) < 2 or 2 * len(found) < len(text.splitlines()):
        return ""
    days = {day for day, _ in found if day}
    is_known = not days or (len(days) == 1 and days <= set(path.split("/")))
    first, last = (clock if is_known else f"{day} {clock}".strip() for day, clock in (found[0], found[-1]))
    return f"{first} to {last} log"


def cut_block(block: Block, path: str, title: str, threshold: int) -> list[Page]:
    """Returns the pages for the block: the first, at `path`, lists the others, which hold its pieces in order."""
    data = list(_cut(encode(block.text), threshold - ROOM))
    digits = len(str(len(data)))
    pieces = [
        piece_page(f"{path}/part-{number:0{digits}}", f"{title} {number}/{len(data)}", part, piece)
        for number, part in enumerate(data, 1)
        for piece in [Piece(number, len(data), len(part), block.kind)]
    ]
    level = [
        (page, _told(number, len(data), part, path))
        for number, (page, part) in enumerate(zip(pieces, data, strict=True), 1)
    ]
    above: list[Page] = []
    while len(level) > MAX_CHILDREN:
        grouped = []
        for start in range(0, len(level), GROUP):
            members = level[start : start + GROUP]
            first, last = (page.path.rsplit("/part-", 1)[-1] for page, _ in (members[0], members[-1]))
            first, last = first.split("-to-")[0], last.split("-to-")[-1]
            page = _index(f"{path}/part-{first}-to-{last}", f"{title} {int(first)}-{int(last)}", members)
            grouped.append((page, f"parts {int(first)} to {int(last)} of {len(data)}"))
        above += [page for page, _ in grouped]
        level = grouped
    return [_index(path, title, level), *above, *pieces]


def _told(number: int, count: int, part: bytes, path: str) -> str:
    """The line of a piece: from when to when its lines are, and what they tell; or else how it begins."""
    text = decode(part)
    times = times_of(Block(text), path).removesuffix(" log")
    shown = f"part {number} of {count}"
    if not times:
        return f"{shown}: {shorten(text[:400], 60)}"
    return describe_page(f"{times}, {shown}", [Block(text)])


def _index(path: str, title: str, members: Iterable[tuple[Page, str]]) -> Page:
    return new_page(path, title).with_children((member.path, description) for member, description in members)


def _cut(data: bytes, limit: int) -> Iterable[bytes]:
    """The bytes in parts of at most `limit`, cut at line ends. A longer line is cut at a space, or else between
    characters."""
    part = b""
    for line in map(encode, split_lines(decode(data))):
        while len(part) + len(line) > limit:
            if part:
                yield part
                part = b""
                continue
            at = _cut_in_line(line, limit)
            yield line[:at]
            line = line[at:]
        part += line
    if part:
        yield part


def _cut_in_line(line: bytes, limit: int) -> int:
    blank = line.rfind(b" ", limit // 2, limit)
    if blank > 0:
        return blank + 1
    at = limit
    while at > limit - 4 and 0x80 <= line[at] < 0xC0:  # never inside a character
        at -= 1
    return at
