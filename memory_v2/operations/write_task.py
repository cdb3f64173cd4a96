"""The decision behind a write: where each new block goes, and which old blocks it replaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from memory_v2.agent.task import Task, TaskTool
from memory_v2.errors import ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import PageView, WriteBrief, listed_as
from memory_v2.operations import guard
from memory_v2.operations.draft import Draft, known_page
from memory_v2.operations.write_changes import (
    Account,
    CreatedPage,
    CreatePage,
    Describe,
    Described,
    InsertText,
    NothingNew,
    PageChanges,
    PlaceBlocks,
    ReadPages,
    Remove,
    Replace,
    RewritePage,
    SaidAlready,
    Seen,
    WriteCall,
    added_to,
    found_among,
    numbers_on,
    redescribed,
    taken_out,
    words_above,
)
from memory_v2.text.words import normal
from memory_v2.tree.block import Block, new_blocks, take_runs
from memory_v2.tree.edit import Numbers, Run, parse_numbers, show_numbers
from memory_v2.tree.page import Page, new_page, own_title
from memory_v2.tree.path import TakenPaths, find_links

FREE_REMOVAL = 1_000
"""How many bytes any write may remove in addition to twice the length of its text. More would be a deletion."""
TO_THE_LETTER, NOTHING_ELSE = "in the tree to the letter", "nothing else was changed"
"""What the history says of a text that was put into the tree as it was given, and that no older text was changed."""
PLACE_AT_END = ", or leave `after` out to place at its end"


class WriteTask(Task):
    """Collects what a model decides about new text; `apply` carries it out. `calls` are the accepted calls."""

    kind = "write"
    brief: WriteBrief
    reads_on = True

    def __init__(self, brief: WriteBrief, draft: Draft) -> None:
        self.brief = brief
        self.draft = draft
        self.calls: list[WriteCall] = []
        self.seen = Seen(brief, draft)
        self.changes: dict[str, PageChanges] = {}
        self.created: dict[str, CreatedPage] = {}
        self.described: dict[str, Described] = {}
        self.placed: dict[int, str] = {}
        self.repeated: set[tuple[int, str]] = set()
        self.left_out: dict[int, None] = {}
        self.own_words: list[str] = []
        self.own_blocks: list[tuple[str, str]] = []
        self.above_own: list[str] = []
        self.said: list[SaidAlready] = []
        self.said_blocks: set[tuple[str, int]] = set()

    @cached_property
    def tools(self) -> Sequence[TaskTool[Any]]:
        return (
            TaskTool("read_pages", ReadPages, self.read_pages, decides=False),
            TaskTool("place", PlaceBlocks, self.take),
            TaskTool("replace", Replace, self.take),
            TaskTool("insert", InsertText, self.take),
            TaskTool("remove", Remove, self.take),
            TaskTool("create_page", CreatePage, self.take),
            TaskTool("rewrite_page", RewritePage, self.take),
            TaskTool("describe", Describe, self.take),
            TaskTool("nothing_new", NothingNew, self.take),
        )

    def take(self, call: WriteCall) -> Prompt:
        """Adds a call to the decision. Raises `ToolProblem` or `InvalidPath`; then the decision has not changed."""
        acts: dict[type[WriteCall], Callable[[Any], Prompt]] = {
            PlaceBlocks: self._place,
            Replace: self._replace,
            InsertText: self._insert,
            Remove: self._remove,
            CreatePage: self._create_page,
            RewritePage: self._rewrite_page,
            NothingNew: self._nothing_new,
            Describe: self._describe,
        }
        done = acts[type(call)](call)
        self.calls.append(call)
        return done

    # what the model calls

    def read_pages(self, call: ReadPages) -> Prompt:
        graph = self.draft.graph()
        pages = [known_page(self.draft, asked) for asked in dict.fromkeys(call.paths)]
        self.seen.show(pages)
        views = [
            PageView(page, graph.breadcrumb(page.path), listed=listed_as(graph, page.path))
            for page in dict.fromkeys(pages)
        ]
        return Prompt("pages", {"views": views, "missing": []})

    def _place(self, call: PlaceBlocks) -> Prompt:
        if (made := self.created.get(call.page)) is not None and call.after is None:
            numbers = self._new(call.blocks, made.path)
            self.created[made.path] = replace(made, runs=[*made.runs, *take_runs(self.brief.blocks, numbers)])
            return self._note_placed(numbers, made.path)
        self._check_asked_for(call.page)
        seen = self.seen
        page = seen.known(call.page) if call.after is None else seen.behind(call.page, call.after, PLACE_AT_END)
        self._check_open(page)
        numbers = self._new(call.blocks, page.path)
        after = self._after(page, len(page.blocks) if call.after is None else call.after)
        self._put_in(page, after, take_runs(self.brief.blocks, numbers))
        return self._note_placed(numbers, page.path)

    def _replace(self, call: Replace) -> Prompt:
        page, old = self._old(call.page, call.blocks)
        if call.text is not None and (before := self._told_before(page, old)) is not None:
            return self._amend(before, call)
        if (call.new_blocks is None) == (call.text is None):
            raise ToolProblem("replace takes either new_blocks or text, and not both")
        if call.text is not None:
            own = self._own_words(call.text, page)
            self._take_out(page, old, call.reason)
            self._note_own(page, own, old[0])
            self._put_in(page, old[0], [own])
            return Prompt("done", {"what": f"blocks {show_numbers(old)} of {page.path} are replaced"})
        numbers = self._new(call.new_blocks or [], page.path)
        self._take_out(page, old, call.reason)
        self._put_in(page, old[0], take_runs(self.brief.blocks, numbers))
        return self._note_placed(numbers, page.path)

    def _told_before(self, page: Page, numbers: Sequence[int]) -> Replace | None:
        """The call by which just these blocks are replaced in words of the model's own already."""
        told = (call for call in self.calls if isinstance(call, Replace) and call.text is not None)
        return next((one for one in told if one.page == page.path and numbers_on(page, one.blocks) == numbers), None)

    def _amend(self, before: Replace, call: Replace) -> Prompt:
        """Puts a call in the place of an earlier one. Raises `ToolProblem`; then nothing has changed."""
        again = type(self)(self.brief, self.draft)
        again.seen = self.seen
        for other in self.calls:
            if other is not before:
                again.take(other)
        done = again._replace(call)
        self.__dict__.update(again.__dict__)
        return done

    def _insert(self, call: InsertText) -> Prompt:
        self._check_asked_for(call.page)
        page = self.seen.behind(call.page, call.after)
        self._check_open(page)
        after = self._after(page, call.after)
        blocks = self._own_words(call.text, page)
        self._note_own(page, blocks, after)
        self._put_in(page, after, [blocks])
        return Prompt("done", {"what": f"the text is inserted on {page.path}"})

    def _remove(self, call: Remove) -> Prompt:
        page, old = self._old(call.page, call.blocks)
        if title := [n for n in page.fixed.intersection(old) if page.blocks[n - 1].kind == "heading"]:
            raise ToolProblem(f"block {title[0]} is the title of {page.path} and stays; replace it if it is wrong")
        self._take_out(page, old, call.reason)
        return Prompt("done", {"what": f"blocks {show_numbers(old)} of {page.path} are removed"})

    def _create_page(self, call: CreatePage) -> Prompt:
        if self.brief.path is not None:
            raise ToolProblem(f"this text goes to the page {self.brief.path}; place it there")
        path = guard.check_child(call.path)
        parent = self.created[call.parent] if call.parent in self.created else self.seen.known(call.parent)
        if self.draft.is_taken(path) or path in TakenPaths(self.created):
            raise ToolProblem(f"there is a page {path!r} already; place the blocks there, or choose another path")
        numbers = self._new(call.blocks, path)
        runs = take_runs(self.brief.blocks, numbers)
        sources = [block.text for run in runs for block in run]
        own = own_title(runs[0])
        title = own or guard.check_title(call.title, [*sources, path])
        description = guard.check_description(call.description, [*sources, title, path, *self._around()])
        self.created[path] = CreatedPage(path, parent.path, title, description, runs)
        return self._note_placed(numbers, path)

    def _rewrite_page(self, call: RewritePage) -> Prompt:
        self._check_asked_for(call.page)
        page = self.seen.shown(call.page)
        self._check_open(page)
        self.seen.check(page, range(1, len(page.blocks) + 1))
        if page.path in self.changes:
            raise ToolProblem(f"{page.path} is changed already; rewrite it in one call, or change it block by block")
        new = new_blocks(call.text)
        dropped: dict[int, str] = {}
        for drop in call.dropped:
            dropped |= dict.fromkeys(numbers_on(page, drop.blocks), drop.reason)
        numbers, rest = found_among(self.brief.blocks, added_to(page, new, dropped))
        self._check_not_placed(numbers, page.path)
        own = self._own_words("\n\n".join(rest), page) if any(map(str.strip, rest)) else ()
        self._check_removal(page, dropped)
        top = [page.blocks[n] for n in range(page.top) if n + 1 not in dropped]
        if moved := next((block for at, block in enumerate(top) if new[at].content != block.content), None):
            what = "title" if moved.kind == "heading" else moved.kind
            raise ToolProblem(f"the {what} of {page.path} stays at the top")
        self.changes[page.path] = PageChanges(removed=dropped, rewritten=new)
        self._note_own(page, own)
        self.placed |= dict.fromkeys(numbers, page.path)
        return Prompt("done", {"what": f"{page.path} is rewritten"})

    def _nothing_new(self, call: NothingNew) -> Prompt:
        numbers = self._new(call.blocks)
        if not call.said_in:
            return self._leave_out(numbers)
        named: list[tuple[Page, int]] = []
        for said in call.said_in:
            page = self.seen.known(said.page)
            old = numbers_on(page, said.blocks)
            if gone := [n for n in old if n in self.changes.get(page.path, PageChanges()).removed]:
                raise ToolProblem(f"block {gone[0]} of {page.path} is being removed; place the new text instead")
            named += ((page, n) for n in old)
        word_for_word = {normal(page.blocks[n - 1].content) for page, n in named}
        retold = [number for number in numbers if self._normals[number - 1] not in word_for_word]
        for page, n in named if retold else ():
            self.seen.check(page, [n])
        text = "\n".join(page.blocks[n - 1].text for page, n in named)
        above = "\n".join(words_above(page, n) for page, n in named) if retold else ""
        for number in retold:
            block = self.brief.blocks[number - 1]
            if missing := guard.missing_from(block, text, above) or guard.denied_by(block, text):
                raise ToolProblem(f"n{number} says what those blocks do not ({', '.join(missing[:5])}); place it")
        self.placed |= dict.fromkeys(numbers, "")
        same = [number for number in numbers if number not in retold]
        self.said += (SaidAlready(some, named, some is retold) for some in (same, retold) if some)
        self.said_blocks |= {(page.path, n) for page, n in named}
        return Prompt("done", {"what": f"{show_numbers(numbers, 'n')} stand in the tree already"})

    def _leave_out(self, numbers: Sequence[int]) -> Prompt:
        if text := next((n for n in numbers if not guard.only_leads(self.brief.blocks[n - 1])), None):
            raise ToolProblem(f"n{text} is no heading; name the blocks that say it already under said_in, or place it")
        self.left_out |= dict.fromkeys(numbers)
        return Prompt("done", {"what": f"{show_numbers(numbers, 'n')} will be left out"})

    def _describe(self, call: Describe) -> Prompt:
        if (made := self.created.get(call.page)) is not None:
            sources = [block.text for run in made.runs for block in run]
            description = guard.check_description(call.description, [*sources, made.title, made.path, *self._around()])
            self.created[made.path] = replace(made, description=description)
        else:
            self._check_asked_for(call.page)
            page = self.seen.known(call.page)
            if not self._lines(page.path):
                raise ToolProblem(f"no page lists {page.path}, so it has no description; leave it")
            description = guard.check_description(call.description, [page.body, page.title, page.path, *self._around()])
            shown = next((view.listed for view in self.brief.views if view.page.path == page.path), {})
            self.described[page.path] = Described(shown or self._lines(page.path), description)
        return Prompt("done", {"what": f"{call.page} will be listed as: {description}"})

    # the guard

    def objections(self) -> list[str]:
        """The new blocks that are neither placed nor covered by what the model wrote in its own words."""
        written, above = "\n".join(self.own_words), "\n".join(self.above_own)
        written += f"\n{guard.words_told(written, self.brief.said_on, self.brief.text)}"
        found = []
        for number, block in enumerate(self.brief.blocks, 1):
            if number in self.left_out:
                found += guard.lost_with_heading(number, self.brief.blocks, self.placed, self.left_out)
            elif number not in self.placed and (missing := guard.missing_from(block, written, above)):
                found.append(f"n{number} is nowhere yet ({', '.join(missing[:5])}): place it, or say where it stands")
        if self.nothing_is_new and (made := [path for path in sorted(self.said_on) if not self.draft.before(path)]):
            found.append(f"the page {made[0]} is made for this text and says nothing yet: place the text there")
        return found

    def reminders(self) -> list[str]:
        """The lines by which changed pages are listed that say what was just taken out."""
        found = []
        for path, changes in self.changes.items():
            page = self.seen.pages[path]
            before = "\n".join(page.blocks[n - 1].content for n in changes.removed)
            for parent, line in self._lines(path).items() if before else ():
                told = self.described[path].description if path in self.described else line
                if stale := guard.stale_values(told, before, changes.written, changes.body(page).body):
                    found.append(
                        f"on {parent}, {path} is still listed with {', '.join(stale[:5])}: change that line with "
                        "describe, in words that stay true"
                    )
        return found

    def checked(self) -> list[str]:
        """Where the new text went, and what was removed."""
        numbers, account = range(1, len(self.brief.blocks) + 1), Account(self.brief.blocks)
        there = [n for n in numbers if self.placed.get(n)]
        told = [n for n in numbers if n not in self.placed and n not in self.left_out]
        return [
            *([f"{TO_THE_LETTER}: {show_numbers(there, 'n')}"] if there else ()),
            *map(account.said, self.said),
            *([account.retold(told)] if told else ()),
            *([account.left_out(list(self.left_out))] if self.left_out else ()),
            *(why for path, each in self.changes.items() for why in taken_out(self.seen.pages[path], each.removed)),
            *(redescribed(path, each.before, each.description) for path, each in self.described.items()),
            NOTHING_ELSE,
        ]

    # carrying it out

    def apply(self) -> str:
        """Stages the pages; returns the path of the page with the first of the text. If nothing is new, nothing is
        staged, not even a page that was created for the text."""
        if self.nothing_is_new:
            self.draft.staged.clear()
            return min(self.said_on)
        for path, changes in self.changes.items():
            self.draft.put(changes.body(self.draft.page(path)))
        for made in self.created.values():
            self.draft.put(new_page(made.path, made.title, made.runs).stamped(self.brief.now, split_from=made.parent))
            self.draft.put(self.draft.page(made.parent).with_child(made.path, made.description))
        for path, described in self.described.items():
            for parent in self._lines(path):
                self.draft.put(self.draft.page(parent).with_description(path, described.description))
        went = (path for _, path in sorted(self.placed.items()) if path)
        return next(went, "") or next(iter([*self.changes, *self.created, *self.described]))

    @property
    def said_on(self) -> frozenset[str]:
        """The pages that contain some of the text already."""
        return frozenset(path for path, _ in self.said_blocks)

    @property
    def nothing_is_new(self) -> bool:
        """Whether all of the text is in the tree already, according to the decision."""
        return not self.changes and not self.created and not self.described

    # helpers

    def _check_asked_for(self, path: str) -> None:
        """Raises `ToolProblem` if the text has to go to another page."""
        if self.brief.path is not None and path != self.brief.path:
            raise ToolProblem(f"this text goes to the page {self.brief.path}; change only that one")

    def _check_open(self, page: Page) -> None:
        """Raises `ToolProblem` if the page cannot be changed now."""
        if page.piece is not None:
            raise ToolProblem(f"{page.path} holds part of one large block; write on another page")
        if (changes := self.changes.get(page.path)) and changes.rewritten is not None:
            raise ToolProblem(f"{page.path} is rewritten already; leave it as it is")

    def _old(self, path: str, given: Numbers) -> tuple[Page, list[int]]:
        """A page that can be changed, and the numbers of its blocks that are to go."""
        self._check_asked_for(path)
        page, old = self.seen.blocks(path, given)
        self._check_open(page)
        return page, old

    def _lines(self, path: str) -> dict[str, str]:
        """How a page is described on the pages that list it and can be read, before this decision."""
        unreadable = self.draft.context.index.unreadable
        return {on: line for on, line in listed_as(self.draft.graph(), path).items() if on not in unreadable}

    def _around(self) -> list[str]:
        """The new text, and the titles and links that were shown: a description may use their words."""
        pages = self.seen.pages.values()
        return [self.brief.text, *(line for page in pages for line in (page.title, *(c.line for c in page.children)))]

    def _new(self, given: Numbers, path: str = "") -> list[int]:
        numbers = parse_numbers(given, len(self.brief.blocks), "n")
        self._check_not_placed(numbers, path)
        return numbers

    def _check_not_placed(self, numbers: Sequence[int], path: str) -> None:
        """Raises `ToolProblem` if one of these new blocks is placed already, or is in the model's own words. A
        heading may stand over its parts on each page that they go to."""
        for number in numbers:
            repeats_heading = len(numbers) > 1 and path and self.brief.blocks[number - 1].kind == "heading"
            is_free = self.placed.get(number) not in ("", path) and (number, path) not in self.repeated
            if number in self.placed and not (repeats_heading and is_free):
                where = self.placed[number] or "the tree already"
                raise ToolProblem(f"n{number} is in {where}; place each block once")
            told = self._normals[number - 1] if self.own_blocks else ""
            for own_path, own in self.own_blocks:
                if guard.repeats(own, told):
                    raise ToolProblem(
                        f"n{number} is in your own words on {own_path}; leave it out, and place the others"
                    )

    @cached_property
    def _normals(self) -> list[str]:
        return [normal(block.content) for block in self.brief.blocks]

    def _own_words(self, text: str, page: Page) -> tuple[Block, ...]:
        """The blocks of a model's own words for a page. Raises `ToolProblem` unless the new text, its source and day,
        and the page support them, and every link leads to a page."""
        moment = [self.brief.source.name, guard.dates_meant(self.brief.text, self.brief.said_on)]
        sources = [self.brief.text, page.body, page.title, page.path, *moment]
        blocks = new_blocks(guard.check_own_words(text, sources, "the text"))
        self._check_not_told(blocks)
        for link in (link for block in blocks for link in find_links(block)):
            if self.draft.spelled(link.target.strip()) is None and not any(f"[[{link.target}" in s for s in sources):
                raise ToolProblem(f"[[{link.target[:60]}]] leads nowhere; link to pages that are there")
        return blocks

    def _check_not_told(self, blocks: Sequence[Block]) -> None:
        """Raises `ToolProblem` if words of the model's own repeat a placed block, or what it has written before."""
        for own in (normal(block.content) for block in blocks if block.kind != "rule"):
            for number, where in self.placed.items():
                if self.brief.blocks[number - 1].kind != "heading" and guard.repeats(own, self._normals[number - 1]):
                    where = where or "the tree already"
                    raise ToolProblem(f"n{number} is in {where} to the letter; leave it out of your own words")
            for path, before in self.own_blocks:
                if guard.repeats(own, before) or guard.repeats(before, own):
                    raise ToolProblem(f"you have written this on {path} already; write it once")

    def _note_own(self, page: Page, blocks: Sequence[Block], after: int = 0) -> None:
        """Notes words of the model's own that go to a page, behind this block."""
        self.above_own.append(words_above(page, after))
        self.own_words += (block.text for block in blocks)
        self.own_blocks += ((page.path, normal(block.content)) for block in blocks if block.kind != "rule")

    def _after(self, page: Page, after: int) -> int:
        """The block behind which to put a text: below front matter and title if it is to go to the top of the page."""
        if after > len(page.blocks):
            raise ToolProblem(f"{page.path} has blocks 1 to {len(page.blocks)}; {after} is none of them")
        return max(after, page.top)

    def _put_in(self, page: Page, after: int, runs: Sequence[Run]) -> None:
        self.changes.setdefault(page.path, PageChanges()).inserted.setdefault(after, []).extend(runs)

    def _take_out(self, page: Page, numbers: Sequence[int], reason: str) -> None:
        changes = self.changes.get(page.path, PageChanges())
        for number in numbers:
            if number in changes.removed:
                raise ToolProblem(f"block {number} of {page.path} is removed already")
        self._check_removal(page, changes.removed | dict.fromkeys(numbers, reason))
        self.changes.setdefault(page.path, changes).removed.update(dict.fromkeys(numbers, reason))

    def _check_removal(self, page: Page, removed: dict[int, str]) -> None:
        if named := next((n for n in removed if (page.path, n) in self.said_blocks), None):
            raise ToolProblem(f"block {named} of {page.path} says what is nothing new; it has to stay")
        if page.blocks and page.blocks[0].kind == "front matter" and 1 in removed:
            raise ToolProblem(f"block 1 is the front matter of {page.path} and stays as it is")
        others = sum(
            guard.sizes(self.seen.pages[p].blocks, c.removed) for p, c in self.changes.items() if p != page.path
        )
        allowed = FREE_REMOVAL + 2 * sum(block.size for block in self.brief.blocks)
        if others + guard.sizes(page.blocks, removed) > allowed:
            raise ToolProblem(
                f"this would take out more than the {allowed:,} bytes that a text of this length may replace; "
                "take out only what the new text makes wrong"
            )

    def _note_placed(self, numbers: Sequence[int], path: str) -> Prompt:
        self.repeated |= {(number, path) for number in numbers if number in self.placed}
        self.placed = dict.fromkeys(numbers, path) | self.placed
        self.left_out = {number: None for number in self.left_out if number not in self.placed}
        return Prompt("done", {"what": f"{show_numbers(numbers, 'n')} will stand on {path}"})
